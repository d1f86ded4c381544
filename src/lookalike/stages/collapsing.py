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
from lookalike.data import CHUNK, Groups, Pairs, Sets, chunks, empty, merged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


def collapse(
    sets: Sets, prints: NDArray[np.uint64], split: int | None, parts: int = 1, threads: int = 1
) -> Groups:
    """Return the groups of exact copies, in the order of their first items.

    Items that might be copies are looked for in some parts, one after the other.
    """
    group_of = empty(len(sets), np.int32)
    leaders = empty(len(sets), np.int32)  # of copies only
    for part in range(parts):
        copies, firsts = kernels.first_copies(
            sets.hashes, sets.starts, prints, part, parts, threads
        )
        leaders[copies] = firsts
        group_of[copies] = -2
    found: list[NDArray[np.int32]] = []
    count = 0
    for a, b in chunks(len(sets)):
        group = group_of[a:b]
        group[np.equal(sets.starts[a + 1 : b + 1], sets.starts[a:b])] = -1
        first = np.flatnonzero(group == 0)
        copy = np.flatnonzero(group == -2)
        group[first] = np.arange(count, count + len(first))
        group[copy] = group_of[leaders[a:b][copy]]
        found.append((first + a).astype(np.int32))
        count += len(first)
    firsts = empty(count, np.int32)
    for a, piece in zip(np.cumsum([0, *map(len, found)]).tolist(), found, strict=False):
        firsts[a : a + len(piece)] = piece
    return Groups(firsts, group_of, prints, split)


# ── Counting ──────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Ranges:
    """For each group the range of its members that may stand on one side of a pair."""

    begin: NDArray[np.int64]
    end: NDArray[np.int64]

    def sizes(self, groups: NDArray[np.integer]) -> NDArray[np.int64]:
        sizes: NDArray[np.int64] = self.end[groups] - self.begin[groups]
        return sizes


def _sides(groups: Groups) -> tuple[_Ranges, _Ranges]:
    """Return which members of each group may stand on the left and on the right."""
    starts = groups.members[1]
    begin, end = starts[:-1], starts[1:]
    if groups.split is None:
        return _Ranges(begin, end), _Ranges(begin, end)
    return _Ranges(begin, groups.middles), _Ranges(groups.middles, end)


def pair_counts(groups: Groups, pairs: Pairs) -> NDArray[np.int64]:
    """Return for each pair of groups how many pairs of items it stands for."""
    left, right = _sides(groups)
    counts = left.sizes(pairs.left) * right.sizes(pairs.right)
    if groups.split is not None:
        counts += left.sizes(pairs.right) * right.sizes(pairs.left)
    return counts


def count_pairs(groups: Groups, pairs: Pairs) -> int:
    """Return how many pairs of items some pairs of groups stand for."""
    return sum(int(pair_counts(groups, part).sum()) for part in pairs.parts())


def count_copies(groups: Groups) -> int:
    """Return how many pairs of items are exact copies of each other."""
    left, right = _sides(groups)
    total = 0
    for a, b in chunks(len(groups)):
        some = np.arange(a, b)
        counts = left.sizes(some)
        others = counts - 1 if groups.split is None else right.sizes(some)
        total += int((counts * others).sum())
    return total // 2 if groups.split is None else total


# ── Expanding ─────────────────────────────────────────────────────────────────────────────────


def expand(groups: Groups, pairs: Pairs) -> Pairs:
    """Return all pairs of items: those between groups, and those within them at similarity 1.

    With a split only the pairs of an item before it with one from it on. They are in the order of
    their left, then their right item.
    """
    left, right = _sides(groups)
    crossed = [_cross(groups, left, right, pairs), _cross(groups, left, right, _within(groups))]
    if groups.split is not None:
        turned = Pairs(pairs.right, pairs.left, pairs.similarity)
        crossed.append(_cross(groups, left, right, turned))
    return merged([part for parts in crossed for part in parts])


def expand_compactly(groups: Groups, pairs: Pairs) -> Pairs:
    """Return one pair of items for each pair of groups, and each copy with the first of its own."""
    firsts = groups.firsts
    parts = [
        Pairs(firsts[part.left], firsts[part.right], part.similarity) for part in pairs.parts()
    ]
    for a, b in chunks(len(groups.group_of)):
        group, items = groups.group_of[a:b], np.arange(a, b, dtype=np.int32)
        copies = (
            items[(group >= 0) & (firsts[np.maximum(group, 0)] != items)] if len(firsts) else []
        )
        its_first = firsts[groups.group_of[copies]]
        parts.append(Pairs(its_first, np.asarray(copies, np.int32), np.ones(len(copies))))
    return merged(parts)


def _within(groups: Groups) -> Pairs:
    """Return each group of several items, paired with itself."""
    starts = groups.members[1]
    several = [np.flatnonzero(np.diff(starts[a : b + 1]) > 1) + a for a, b in chunks(len(groups))]
    same = np.concatenate([np.empty(0, np.int64), *several]).astype(np.int32)
    return Pairs(same, same, np.ones(len(same)))


def _cross(groups: Groups, left: _Ranges, right: _Ranges, pairs: Pairs) -> Iterator[Pairs]:
    """Yield every pair of a left item of one group with a right item of the other, once."""
    members, _ = groups.members
    for part in pairs.parts():
        ends = np.cumsum(left.sizes(part.left) * right.sizes(part.right))
        for a in range(0, int(ends[-1]), CHUNK):
            number = np.arange(a, min(a + CHUNK, int(ends[-1])))
            pair = np.searchsorted(ends, number, side="right")
            number -= np.where(pair > 0, ends[pair - 1], 0)
            ones, others = part.left[pair], part.right[pair]
            width = right.sizes(others)
            one = members[left.begin[ones] + number // width]
            other = members[right.begin[others] + number % width]
            keep = (one < other) | (ones != others)
            crossed = Pairs(np.minimum(one, other), np.maximum(one, other), part.similarity[pair])
            yield crossed[keep]
