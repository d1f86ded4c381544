"""The nouns of the pipeline, as columns.

    Corpus ──▶ Sets ──▶ (signatures, band keys: plain arrays) ──▶ Candidates ──▶ Pairs
                 └────▶ Groups (which items are exact copies of each other)

An *item* is a row of the corpus, known below the surface by its position. Items that are exact
copies form a *group*; from sketching to verification only the first item of each group takes part.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from lookalike.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

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
    """The items of a run and the user's names for them.

    `contents` holds texts (large_binary) or lists of tokens. A second collection may stand behind
    the first: its items are named by `other_ids`, which may repeat those of the first or be of
    another type. With `across`, only pairs of one item of each are asked for. `column` reads any
    other column of the first collection by its name.
    """

    ids: pa.ChunkedArray
    contents: pa.ChunkedArray
    other_ids: pa.ChunkedArray | None = None
    across: bool = False
    column: Callable[[str], pa.ChunkedArray] | None = None

    def __len__(self) -> int:
        return len(self.contents)

    @property
    def split(self) -> int | None:
        """The position of the first item on the right, if only pairs across are asked for."""
        return len(self.ids) if self.across else None

    def names(self, items: NDArray[np.int32]) -> pa.ChunkedArray:
        """Return the ids of items; where the two collections' ids mix, they are strings."""
        first = len(self.ids)
        if self.other_ids is None or (items < first).all():
            return self.ids.take(items)
        if (items >= first).all():
            return self.other_ids.take(items - np.int32(first))
        ids, others = self.ids, self.other_ids
        if ids.type != others.type:
            ids, others = ids.cast("string"), others.cast("string")
        return pa.chunked_array(ids.chunks + others.chunks, type=ids.type).take(items)


def repeated_id(id: object, count: int) -> InputError:
    """Word the refusal of an id that several rows have."""
    return InputError(
        f"the id {id!r} stands at {count} rows: ids have to be unique; choose another id column, "
        "or row numbers (--id '', id='' in Python)"
    )


@dataclass(frozen=True)
class Sets:
    """One set of 64-bit hashes per item, as flat arrays.

    Item i owns ``hashes[starts[i]:starts[i + 1]]``, in any order and with repeats, until it is made
    canonical; from then on ``sizes[i]``, -1 before, says how many distinct, sorted hashes it has.
    """

    hashes: NDArray[np.uint64]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int32]

    @classmethod
    def of(cls, hashes: NDArray[np.uint64], starts: NDArray[np.int64]) -> Sets:
        """Wrap raw ragged arrays."""
        return cls(hashes, starts, np.full(len(starts) - 1, -1, dtype=np.int32))

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Which items have no element at all."""
        return np.equal(self.starts[1:], self.starts[:-1])


@dataclass(frozen=True)
class Groups:
    """Which items are exact copies of each other; empty items belong to no group.

    `firsts` has the first item of each group, ascending; `group_of` the group of each item or -1;
    `prints` a fingerprint of each group's content.
    """

    firsts: NDArray[np.int32]
    group_of: NDArray[np.int32]
    prints: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.firsts)

    @cached_property
    def members(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The items of all groups, one group after the other, and where each group starts."""
        order = np.argsort(self.group_of, kind="stable").astype(np.int32)
        starts = np.searchsorted(self.group_of[order], np.arange(len(self) + 1)).astype(np.int64)
        return order, starts

    def of_items(self, values: NDArray[T], without: NDArray[T]) -> NDArray[T]:
        """Return for each item the value of its group, or its own of `without` if it has none."""
        out = without.copy()
        grouped = self.group_of >= 0
        out[grouped] = values[self.group_of[grouped]]
        return out

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The number of items in each group."""
        return np.diff(self.members[1])


@dataclass(frozen=True)
class Candidates:
    """Pairs of groups that met in a bucket and have not been verified.

    `crowd` has the groups of buckets so full that their pairs are not listed.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    crowd: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.left)


@dataclass(frozen=True)
class Pairs:
    """Verified pairs, each with its exact similarity."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    similarity: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> Pairs:
        return Pairs(self.left[chosen], self.right[chosen], self.similarity[chosen])

    @classmethod
    def joined(cls, parts: list[Pairs]) -> Pairs:
        """Return all pairs of all parts, in the order of the parts."""
        return cls(
            np.concatenate([np.empty(0, np.int32), *(part.left for part in parts)]),
            np.concatenate([np.empty(0, np.int32), *(part.right for part in parts)]),
            np.concatenate([np.empty(0, np.float64), *(part.similarity for part in parts)]),
        )

    def sorted(self) -> Pairs:
        """Return the pairs in the order of their left, then their right item."""
        return self[np.lexsort((self.right, self.left))]


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


def batches(starts: NDArray[np.int64], size: int) -> Iterator[tuple[int, int]]:
    """Cut items into consecutive ranges of about `size` units each, one item at least.

    >>> list(batches(np.array([0, 4, 8, 30, 31]), 8))
    [(0, 2), (2, 3), (3, 4)]
    """
    first, n = 0, len(starts) - 1
    while first < n:
        last = int(np.searchsorted(starts, starts[first] + size, side="right")) - 1
        last = min(max(last, first + 1), n)
        yield first, last
        first = last
