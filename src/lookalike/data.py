"""The nouns of the pipeline, as columns.

    Corpus ──▶ Sets ──▶ (signatures, band keys: plain arrays) ──▶ Candidates ──▶ Pairs
                 └────▶ Groups (which items are exact copies of each other)

An *item* is a row of the corpus, known below the surface by its position. Items that are exact
copies form a *group*; from sketching to verification only the first item of each group takes part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from lookalike import kernels
from lookalike.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import DTypeLike, NDArray

T = TypeVar("T", bound=np.generic)

Progress = Callable[[str, int, int], None]
"""Called with the name of a stage, the work done and the work in all, in any unit."""


def silent(stage: str, done: int, total: int) -> None:
    """Report no progress."""


Cursor = tuple[int, ...]
"""Where in a source a batch begins: understood by the source alone, kept by whoever reads it."""


@dataclass(frozen=True)
class Batch:
    """Some consecutive items of a source.

    `contents` holds texts (large_binary) or lists of tokens (large_list of large_binary), where a
    null is an empty item; `ids` the users' names, or None where items are known by row number.
    The next batch begins at `cursor`; `read` tells how many bytes of the source lie before it.
    """

    contents: pa.Array
    ids: pa.Array | None
    cursor: Cursor
    read: int


class Source(Protocol):
    """Where items come from: files, a table, a list. It can be read again, from any cursor on."""

    @property
    def size(self) -> int:
        """The bytes in all, of the files or of the contents in memory."""

    def batches(self, size: int, cursor: Cursor | None = None) -> Iterator[Batch]:
        """Read from a cursor on, in batches of about `size` bytes, one item at least.

        Where batches end depends on the source and on `size` alone.
        """

    def fingerprint(self) -> list[dict[str, str | int]]:
        """Tell what was read so that a change of it can be seen: one entry for each file."""

    def column(self, name: str) -> pa.ChunkedArray:
        """Read any column by its name, one value for each item."""

    def take(self, positions: list[int]) -> pa.Array:
        """Read the contents of some items."""


@dataclass(frozen=True)
class Corpus:
    """The items of a run: the users' names for them, and where their contents can be read again.

    A second collection may stand behind the first: its items are named by `other_ids`, which may
    repeat those of the first or be of another type. With `across`, only pairs of one item of each
    are asked for. `lengths` has the bytes of each text, or the number of its tokens.
    """

    sources: tuple[Source, ...]
    ids: pa.ChunkedArray
    lengths: NDArray[np.int64]
    other_ids: pa.ChunkedArray | None = None
    across: bool = False

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def split(self) -> int | None:
        """The position of the first item on the right, if only pairs across are asked for."""
        return len(self.ids) if self.across else None

    def kind_of_names(self, items: NDArray[np.int32]) -> pa.DataType:
        """Return the type of the ids of items; where two types of ids mix, they are strings."""
        kinds = [_shown_kind(each.type) for each in (self.ids, self.other_ids) if each is not None]
        if len(set(kinds)) == 1 or not len(items):
            return kinds[0]
        least, most = int(items.min()) < len(self.ids), int(items.max()) < len(self.ids)
        return pa.string() if least != most else kinds[0 if least else 1]

    def names(self, items: NDArray[np.int32], kind: pa.DataType | None = None) -> pa.Array:
        """Return the ids of items, as the type that `kind_of_names` tells of all that are shown."""
        kind = kind or self.kind_of_names(items)
        if self.other_ids is None:
            return _as_kind(self.ids.take(items), kind)
        is_first = items < len(self.ids)
        parts = [
            _as_kind(self.ids.take(items[is_first]), kind),
            _as_kind(self.other_ids.take(items[~is_first] - np.int32(len(self.ids))), kind),
        ]
        place = np.empty(len(items), dtype=np.int64)
        place[np.concatenate([np.flatnonzero(is_first), np.flatnonzero(~is_first)])] = np.arange(
            len(items)
        )
        return pa.concat_arrays(parts).take(pa.array(place))

    def take(self, items: list[int]) -> pa.Array:
        """Return the contents of some items, read again."""
        first = len(self.ids)
        found: dict[int, Any] = {}
        for source, begin, end in zip(self.sources, (0, first), (first, len(self)), strict=False):
            inside = sorted({item for item in items if begin <= item < end})
            if inside:
                contents = source.take([item - begin for item in inside])
                found.update(zip(inside, contents.to_pylist(), strict=True))
                kind = contents.type
        return pa.array([found[item] for item in items], kind)


def _shown_kind(kind: pa.DataType) -> pa.DataType:
    usual = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    return usual.get(kind, kind)


def _as_kind(ids: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    chunks = ids.cast(kind).chunks
    return pa.concat_arrays(chunks) if chunks else pa.array([], kind)


def repeated_id(id: Any, count: int) -> InputError:
    """Return the error for an id that several rows have."""
    return InputError(
        f"the id {id!r} stands at {count} rows: ids have to be unique; choose another id column, "
        "or row numbers (--id '', id='' in Python)"
    )


@dataclass(frozen=True)
class Sets:
    """One set of 64-bit hashes per item, as flat arrays.

    Item i owns ``hashes[starts[i]:starts[i + 1]]``, in any order and with repeats, until it is made
    canonical; from then on ``sizes[i]``, -1 before, says how many distinct, sorted hashes it has.
    `canonical` says that all of them are, and that nothing here is ever written again.
    """

    hashes: NDArray[np.uint64]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int32]
    canonical: bool = False

    @classmethod
    def of(cls, hashes: NDArray[np.uint64], starts: NDArray[np.int64]) -> Sets:
        """Wrap raw ragged arrays."""
        return cls(hashes, starts, np.full(len(starts) - 1, -1, dtype=np.int32))

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def empty_items(self) -> int:
        """How many items have no element at all."""
        return sum(
            int(np.equal(self.starts[a + 1 : b + 1], self.starts[a:b]).sum())
            for a, b in chunks(len(self))
        )

    def lengths(self, items: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the number of hashes that items own, repeats included."""
        return self.starts[items.astype(np.int64) + 1] - self.starts[items]

    def take(self, items: NDArray[np.int32], threads: int = 1) -> Sets:
        """Return the sets of some items, copied next to each other in that order."""
        if not self.canonical:
            kernels.canonicalise(self.hashes, self.starts, self.sizes, items, threads)
        taken = kernels.gather(self.hashes, self.starts, self.sizes, items, threads)
        return Sets(*taken, canonical=True)


@dataclass(frozen=True)
class Groups:
    """Which items are exact copies of each other; empty items belong to no group.

    `firsts` has the first item of each group, ascending; `group_of` the group of each item or -1;
    `prints` a fingerprint of each item's content. With `split`, only pairs of an item before it
    with one from it on are asked for.
    """

    firsts: NDArray[np.int32]
    group_of: NDArray[np.int32]
    prints: NDArray[np.uint64]
    split: int | None = None

    def __len__(self) -> int:
        return len(self.firsts)

    @cached_property
    def members(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The items of all groups, one group after the other, and where each group starts."""
        return kernels.members(self.group_of, len(self))

    @cached_property
    def middles(self) -> NDArray[np.int64]:
        """Where in `members` each group's items on the right begin."""
        assert self.split is not None
        order, starts = self.members
        middles = empty(len(self), np.int64)
        for a, b in chunks(len(self)):
            low, high = starts[a:b].copy(), starts[a + 1 : b + 1].copy()
            while (low < high).any():  # a binary search in all groups side by side
                middle = (low + high) // 2
                on_left = (low < high) & (order[np.minimum(middle, len(order) - 1)] < self.split)
                low, high = np.where(on_left, middle + 1, low), np.where(on_left, high, middle)
            middles[a:b] = low
        return middles

    @cached_property
    def sides(self) -> NDArray[np.uint8] | None:
        """For each group bit 0 if it has items on the left, bit 1 if on the right; or None."""
        if self.split is None:
            return None
        sides = empty(len(self), np.uint8)
        for a, b in chunks(len(self.group_of)):
            groups, items = self.group_of[a:b], np.arange(a, b)
            for bit, there in ((1, items < self.split), (2, items >= self.split)):
                touched = groups[there & (groups >= 0)]
                sides[touched] |= np.uint8(bit)
        return sides

    def smallest(self, n: int, among: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
        """Return the groups with the n smallest fingerprints, ascending: a sample by content."""
        total = len(self) if among is None else len(among)
        best = np.empty(0, np.int32)
        for a, b in chunks(total):
            some = np.arange(a, b, dtype=np.int32) if among is None else among[a:b]
            best = np.concatenate([best, some])
            best = best[np.argsort(self.prints[self.firsts[best]], kind="stable")[:n]]
        return np.sort(best)

    def of_items(self, values: NDArray[T], without: NDArray[T] | T) -> NDArray[T]:
        """Return for each item the value of its group, or its own of `without` if it has none."""
        out = empty(len(self.group_of), values.dtype)
        for a, b in chunks(len(out)):
            groups = self.group_of[a:b]
            own = without[a:b] if isinstance(without, np.ndarray) else without
            found = values[np.maximum(groups, 0)] if len(values) else own
            out[a:b] = np.where(groups >= 0, found, own)
        return out

    @property
    def copies(self) -> int:
        """How many items are copies of an earlier one."""
        return len(self.members[0]) - len(self)


@dataclass(frozen=True)
class Candidates:
    """Pairs of groups that met in a bucket and have not been verified."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.left)

    @classmethod
    def unpacked(cls, packed: NDArray[np.uint64]) -> Candidates:
        """Return the pairs of numbers (see `packed`)."""
        return cls((packed >> 32).astype(np.int32), packed.astype(np.int32))

    def packed(self) -> NDArray[np.uint64]:
        """Return each pair as one number: the left group above 32 bits of the right one."""
        return self.left.astype(np.uint64) << np.uint64(32) | self.right.astype(np.uint64)


@dataclass(frozen=True)
class Pairs:
    """Verified pairs, each with its exact similarity."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    similarity: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, chosen: slice | NDArray[np.bool_] | NDArray[np.intp]) -> Pairs:
        return Pairs(self.left[chosen], self.right[chosen], self.similarity[chosen])

    @classmethod
    def empty(cls, n: int = 0) -> Pairs:
        """Return room for n pairs."""
        return cls(empty(n, np.int32), empty(n, np.int32), empty(n, np.float64))

    @classmethod
    def joined(cls, parts: list[Pairs]) -> Pairs:
        """Return all pairs of all parts, in the order of the parts."""
        parts = [part for part in parts if len(part)]
        if len(parts) == 1:
            return parts[0]
        out, at = cls.empty(sum(map(len, parts))), 0
        for part in parts:
            out.put(at, part)
            at += len(part)
        return out

    def put(self, at: int, part: Pairs) -> None:
        """Write some pairs to a place."""
        self.left[at : at + len(part)] = part.left
        self.right[at : at + len(part)] = part.right
        self.similarity[at : at + len(part)] = part.similarity

    def where(self, chosen: Callable[[Pairs], NDArray[np.bool_]]) -> Pairs:
        """Return the pairs that are chosen, looking at some of them at a time."""
        out, at = Pairs.empty(sum(int(chosen(part).sum()) for part in self.parts())), 0
        for part in self.parts():
            passed = part[chosen(part)]
            out.put(at, passed)
            at += len(passed)
        return out

    def parts(self) -> Iterator[Pairs]:
        """Yield the pairs, some at a time."""
        for a, b in chunks(len(self)):
            yield self[a:b]


LARGEST_UNION = 2**26  # ratios of smaller integers are told apart by their nearest floats


def reaching(similarity: NDArray[np.float64], threshold: Fraction) -> NDArray[np.bool_]:
    """Return which similarities reach the threshold, as the ratios of integers that they are."""
    nearest = float(threshold)
    ratio = Fraction(nearest).limit_denominator(LARGEST_UNION)
    compare = np.greater_equal if ratio >= threshold else np.greater
    return np.asarray(compare(similarity, nearest))


@dataclass(frozen=True)
class Recall:
    """How much of what there was a run has found, with a 95 % interval.

    Counted are pairs of items with a similarity below 1: exact copies are found by construction.
    `found` is known, `total` is an estimate. With no such pair there is nothing to estimate from:
    the value is that of the plan at the threshold, and the interval says nothing.
    """

    value: float
    low: float
    high: float
    found: int
    total: float
    sampled: int = 0
    exact_copies: int = 0

    @property
    def of_all_pairs(self) -> float:
        """The recall over all pairs, exact copies included."""
        everything = self.total + self.exact_copies
        return (self.found + self.exact_copies) / everything if everything else 1.0

    def __str__(self) -> str:
        return f"{self.value:.4f} (95 % interval {self.low:.4f}–{self.high:.4f})"


@dataclass(frozen=True)
class Check:
    """What a brute-force check has counted: sampled items, their pairs below 1, those found."""

    items: int
    pairs: int
    found: int

    @property
    def recall(self) -> float:
        """The share of the pairs that was found."""
        return self.found / self.pairs if self.pairs else 1.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the recall (Wilson's)."""
        if not self.pairs:
            return 0.0, 1.0
        z, n, p = 1.959964, self.pairs, self.recall
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(0.0, centre - half), min(1.0, centre + half)

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.found:,} of the {self.pairs:,} pairs of {self.items:,} sampled items found: "
            f"{self.recall:.4f} (95 % interval {low:.4f}–{high:.4f})"
        )


# ── Arrays ────────────────────────────────────────────────────────────────────────────────────

CHUNK = 1 << 18
"""How many items or pairs are looked at in one step where all of them might not fit in memory."""


def chunks(n: int) -> Iterator[tuple[int, int]]:
    """Cut the range of n into consecutive ones of `CHUNK`.

    >>> list(chunks(3))
    [(0, 3)]
    """
    for first in range(0, n, CHUNK):
        yield first, min(first + CHUNK, n)


def cuts(
    runs: list[NDArray[np.uint64]], size: int, first: int = 0
) -> Iterator[tuple[int, list[NDArray[np.uint64]]]]:
    """Cut sorted runs of packed pairs into ranges of left items with about `size` pairs each.

    Yields where each range ends, and what every run has of it. A left item is never torn apart.

    >>> runs = [Candidates(np.array([0, 1, 5]), np.array([3, 4, 6])).packed()] * 2
    >>> [(last, sum(map(len, pieces))) for last, pieces in cuts(runs, 4)]
    [(5, 4), (6, 2)]
    """
    most = max((int(run[-1] >> np.uint64(32)) + 1 for run in runs if len(run)), default=0)

    def places(left: int) -> list[int]:
        return [int(np.searchsorted(run, np.uint64(left << 32))) for run in runs]

    while first < most:
        begin = places(first)
        low, high = first + 1, most  # the end of the range lies between the two
        while low < high:
            middle = (low + high + 1) // 2
            fits = sum(places(middle)) - sum(begin) <= size
            low, high = (middle, high) if fits else (low, middle - 1)
        pieces = [run[a:b] for run, a, b in zip(runs, begin, places(low), strict=True)]
        if any(map(len, pieces)):
            yield low, pieces
        first = low


def merged(runs: Iterable[Pairs]) -> Pairs:
    """Return the pairs of all runs in the order of their left, then their right item."""
    keys, similarities = [], []
    for run in _lengthened(runs):
        packed = Candidates(run.left, run.right).packed()
        order = np.argsort(packed, kind="stable")
        keys.append(kept(packed[order]))
        similarities.append(kept(run.similarity[order]))
    out, at = Pairs.empty(sum(map(len, keys))), 0
    first = 0
    for last, pieces in cuts(keys, CHUNK):
        begins = [int(np.searchsorted(run, np.uint64(first << 32))) for run in keys]
        packed = np.concatenate(pieces)
        similarity = np.concatenate(
            [s[a : a + len(p)] for s, a, p in zip(similarities, begins, pieces, strict=True)]
        )
        order = np.argsort(packed, kind="stable")
        block = Candidates.unpacked(packed[order])
        out.put(at, Pairs(block.left, block.right, similarity[order]))
        at, first = at + len(packed), last
    return out


def _lengthened(runs: Iterable[Pairs]) -> Iterator[Pairs]:
    """Join short runs: many small arrays are not kept in scratch memory."""
    waiting: list[Pairs] = []
    for run in runs:
        waiting.append(run)
        if sum(map(len, waiting)) >= CHUNK:
            yield Pairs.joined(waiting)
            waiting = []
    if waiting:
        yield Pairs.joined(waiting)


def kept(values: NDArray[T]) -> NDArray[T]:
    """Return a copy of an array in scratch memory."""
    out: NDArray[T] = empty(len(values), values.dtype)
    out[:] = values
    return out


def empty(n: int, kind: DTypeLike) -> NDArray[Any]:
    """Return an array of zeros for n values in scratch memory: on disk when it is large."""
    dtype = np.dtype(kind)
    return kernels.allocate(n * dtype.itemsize).view(dtype)


def numbered(n: int, kind: DTypeLike = np.int32) -> NDArray[Any]:
    """Return 0, 1, …, n - 1 in scratch memory."""
    out = empty(n, kind)
    for a, b in chunks(n):
        out[a:b] = np.arange(a, b)
    return out
