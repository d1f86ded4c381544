"""Exact copies are collapsed into groups first and expanded last.

Two items are exact copies if their features are the same in the same order, which for texts means
that their normalised tokens are the same. Between the two ends of the pipeline only the first item
of each group is compared, so a million copies of one text cost no more than one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lookalike import kernels
from lookalike.data import Groups, Pairs, Sets

if TYPE_CHECKING:
    from numpy.typing import NDArray


def collapse(sets: Sets, threads: int = 1) -> Groups:
    """Return the groups of exact copies, in the order of their first items."""
    prints = kernels.fingerprint(sets.hashes, sets.starts, threads)
    copies, originals = kernels.first_copies(sets.hashes, sets.starts, prints, 0, 1, threads)
    is_first = ~sets.empty
    is_first[copies] = False
    firsts = np.flatnonzero(is_first).astype(np.int32)
    group_of = np.full(len(sets), -1, dtype=np.int32)
    group_of[firsts] = np.arange(len(firsts), dtype=np.int32)
    group_of[copies] = group_of[originals]
    return Groups(firsts, group_of, prints[firsts])


@dataclass(frozen=True)
class _Ranges:
    """For each group the range of its members that may stand on one side of a pair."""

    begin: NDArray[np.int64]
    end: NDArray[np.int64]

    def sizes(self, groups: NDArray[np.int32]) -> NDArray[np.int64]:
        return self.end[groups] - self.begin[groups]


def _sides(groups: Groups, split: int | None) -> tuple[_Ranges, _Ranges]:
    """Return which members of each group may stand on the left and on the right."""
    members, starts = groups.members
    begin, end = starts[:-1], starts[1:]
    if split is None:
        return _Ranges(begin, end), _Ranges(begin, end)
    before = np.concatenate([[0], np.cumsum(members < split)])
    middle = begin + before[end] - before[begin]
    return _Ranges(begin, middle), _Ranges(middle, end)


def sides_of_groups(groups: Groups, split: int | None) -> NDArray[np.uint8] | None:
    """Return for each group bit 0 if it has items on the left, bit 1 if on the right."""
    if split is None:
        return None
    every = np.arange(len(groups), dtype=np.int32)
    left, right = _sides(groups, split)
    return ((left.sizes(every) > 0) + 2 * (right.sizes(every) > 0)).astype(np.uint8)


def pair_counts(groups: Groups, pairs: Pairs, split: int | None = None) -> NDArray[np.int64]:
    """Return for each pair of groups how many pairs of items it stands for."""
    left, right = _sides(groups, split)
    counts = left.sizes(pairs.left) * right.sizes(pairs.right)
    if split is not None:
        counts += left.sizes(pairs.right) * right.sizes(pairs.left)
    return counts


def count_copies(groups: Groups, split: int | None = None) -> int:
    """Return how many pairs of items are exact copies of each other."""
    if split is None:
        return int((groups.counts * (groups.counts - 1) // 2).sum())
    every = np.arange(len(groups), dtype=np.int32)
    left, right = _sides(groups, split)
    return int((left.sizes(every) * right.sizes(every)).sum())


def expand(groups: Groups, pairs: Pairs, split: int | None = None) -> Pairs:
    """Return all pairs of items: those between groups, and those within them at similarity 1.

    With `split` only the pairs of an item before it with one from it on.
    """
    left, right = _sides(groups, split)
    within = np.flatnonzero(groups.counts > 1).astype(np.int32)
    parts = [
        _cross(groups, left, right, pairs),
        _cross(groups, left, right, Pairs(within, within, np.ones(len(within)))),
    ]
    if split is not None:
        parts.append(_cross(groups, left, right, Pairs(pairs.right, pairs.left, pairs.similarity)))
    return Pairs.joined(parts).sorted()


def expand_compactly(groups: Groups, pairs: Pairs) -> Pairs:
    """Return one pair of items for each pair of groups, and each copy with the first of its own."""
    firsts = groups.firsts
    between = Pairs(firsts[pairs.left], firsts[pairs.right], pairs.similarity)
    copies = np.flatnonzero(groups.group_of >= 0).astype(np.int32)
    copies = copies[firsts[groups.group_of[copies]] != copies]
    within = Pairs(firsts[groups.group_of[copies]], copies, np.ones(len(copies)))
    return Pairs.joined([between, within]).sorted()


def _cross(groups: Groups, left: _Ranges, right: _Ranges, pairs: Pairs) -> Pairs:
    """Return every pair of a left item of one group with a right item of the other, once."""
    members, _ = groups.members
    widths = right.sizes(pairs.right)
    counts = left.sizes(pairs.left) * widths
    pair = np.repeat(np.arange(len(pairs)), counts)
    number = np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts, counts)
    one = members[left.begin[pairs.left][pair] + number // widths[pair]]
    other = members[right.begin[pairs.right][pair] + number % widths[pair]]
    crossed = Pairs(np.minimum(one, other), np.maximum(one, other), pairs.similarity[pair])
    return crossed[(one < other) | (pairs.left != pairs.right)[pair]]
