"""The nouns of the pipeline, as columns.

    Corpus ──▶ Sets ──▶ (signatures, band keys: plain arrays) ──▶ Candidates ──▶ Pairs
                 └────▶ Groups (which items are exact copies of each other)

An *item* is a row of the corpus, known below the surface by its position. Items that are exact
copies form a *group*; from sketching to verification only the first item of each group takes part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

Progress = Callable[[str, int, int], None]
"""Called with the name of a stage, the work done and the work in all, in any unit."""


def silent(stage: str, done: int, total: int) -> None:
    """Report no progress."""


@dataclass(frozen=True)
class Corpus:
    """The items of a run and the user's names for them.

    `contents` holds texts (large_binary) or lists of tokens. With `right_ids` there are two sides:
    the items behind the first ``len(ids)`` stand on the right and are named by `right_ids`, and
    only pairs across are asked for. The two sides may use the same ids, or ids of different types.
    """

    ids: pa.ChunkedArray
    contents: pa.ChunkedArray
    right_ids: pa.ChunkedArray | None = None

    def __len__(self) -> int:
        return len(self.contents)

    @property
    def split(self) -> int | None:
        """The position of the first item on the right, if there are two sides."""
        return None if self.right_ids is None else len(self.ids)

    def left_names(self, items: NDArray[np.int32]) -> pa.ChunkedArray:
        """Return the ids of items that stand on the left of a pair."""
        return self.ids.take(items)

    def right_names(self, items: NDArray[np.int32]) -> pa.ChunkedArray:
        """Return the ids of items that stand on the right of a pair."""
        if self.right_ids is None:
            return self.ids.take(items)
        return self.right_ids.take(items - np.int32(len(self.ids)))


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

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The number of items in each group."""
        return np.diff(self.members[1])


@dataclass(frozen=True)
class Candidates:
    """Pairs of groups that met in a bucket and have not been verified."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]

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
