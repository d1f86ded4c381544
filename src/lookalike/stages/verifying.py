"""Candidates → pairs: each is compared exactly, and only what reaches the threshold stays.

The candidates come in several sorted runs, one for each part of each band. They are taken in the
order of their left items, some at a time from all runs, so that each is compared once and the
features are read in their order. How two items are compared is the family's.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from lookalike.data import Candidates, Pairs, cuts
from lookalike.work import Pieces, Unit, Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from lookalike.data import Cursor

    Compare = Callable[[Candidates], Pairs]
    Count = Callable[[Pairs], int]

COLUMNS = {"left": np.int32, "right": np.int32, "similarity": np.float64}


def work(
    runs: list[NDArray[np.uint64]],
    compare: Compare,
    watch: Callable[[int, str], None],
    count: Count,
    *,
    size: int,
    compact: bool = False,
) -> Work:
    """Return the work of comparing candidates, about `size` of them at a time.

    A unit's cursor tells how many candidates, pairs of groups and (by `count`) pairs of items there
    were up to it; `watch(pairs, where)` may stop the work when these, or compact the former, are
    too many. Both are known, since a run may be taken up with the other in mind.
    """
    total = sum(map(len, runs))

    def units(cursor: Cursor | None) -> Iterator[Unit]:
        first, met, passed, expanded = cursor or (0, 0, 0, 0)
        for last, pieces in cuts(runs, size, first):
            candidates = Candidates.unpacked(_distinct(pieces))
            pairs = compare(candidates)
            met += len(candidates)
            passed += len(pairs)
            expanded += count(pairs)
            done = sum(int(np.searchsorted(run, np.uint64(last << 32))) for run in runs)
            watch(passed if compact else expanded, f"{100 * done // total} % of the candidates")
            columns: Pieces = {
                "left": pairs.left,
                "right": pairs.right,
                "similarity": pairs.similarity,
            }
            yield Unit(columns, (last, met, passed, expanded), done, total, met)

    return Work("comparing", COLUMNS, units, (size,))


def _distinct(pieces: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Return the numbers of some sorted pieces, ascending, each once."""
    packed = np.concatenate(pieces)
    packed.sort()
    first = np.ones(len(packed), np.bool_)
    first[1:] = packed[1:] != packed[:-1]
    return packed[first]


def in_order(
    candidates: Candidates,
    sizes: Callable[[NDArray[np.int32]], NDArray[np.int64]],
    most: int,
    compare: Callable[[NDArray[np.int32], Candidates], Pairs],
) -> Pairs:
    """Compare candidates in blocks whose items have about `most` elements in all.

    `compare(items, candidates)` gets the items of a block, ascending, and its candidates as places
    among them; it returns pairs of places.
    """
    needed = sizes(candidates.left) + sizes(candidates.right)
    block = np.cumsum(needed) // max(most, 1)
    bounds = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), len(candidates)]
    passed = []
    for a, b in pairwise(bounds):
        both = np.concatenate([candidates.left[a:b], candidates.right[a:b]])
        items, places = np.unique(both, return_inverse=True)
        left, right = np.split(places.astype(np.int32), 2)
        pairs = compare(items, Candidates(left, right))
        passed.append(Pairs(items[pairs.left], items[pairs.right], pairs.similarity))
    return Pairs.joined(passed)
