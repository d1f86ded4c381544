"""Jaccard similarity |A ∩ B| / |A ∪ B|, by min-hashing.

A slot of a min-hash signature holds a random element of A ∪ B for both items, so two signatures
agree in a slot with probability |A ∩ B| / |A ∪ B|: the collision probability *is* the similarity.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from lookalike import kernels
from lookalike.data import Candidates, Groups, Pairs, Sets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.config import Scheme

NAME = "Jaccard similarity"
ANY = Fraction(1, 10**18)  # below every similarity that is not 0


def collision_probability(similarity: float) -> float:
    """Return the probability p(s) that a slot agrees for a pair of that similarity: s itself."""
    return similarity


def signatures(
    sets: Sets,
    items: NDArray[np.int32],
    *,
    slots: int,
    seed: int,
    scheme: Scheme = "fast",
    threads: int = 1,
) -> NDArray[np.uint64]:
    """Return the signatures of some items, one row each."""
    return kernels.sketch(scheme, sets.hashes, sets.starts, items, slots, seed, threads)


def verify(
    sets: Sets, groups: Groups, candidates: Candidates, threshold: Fraction, threads: int = 1
) -> Pairs:
    """Return the candidates that reach the threshold, with their exact similarity.

    The comparison is one of integers; the ratio is taken once, of two integers below 2^53, and so
    is the correctly rounded one.
    """
    left, right = groups.firsts[candidates.left], groups.firsts[candidates.right]
    _canonicalise(sets, np.unique(np.concatenate([left, right])), threads)
    overlap = kernels.verify(*_arrays(sets), left, right, *_ratio(threshold), threads)
    similar = overlap >= 0
    similarity = _similarity(sets, left[similar], right[similar], overlap[similar])
    return Pairs(candidates.left[similar], candidates.right[similar], similarity)


def measure(
    sets: Sets, left: NDArray[np.int32], right: NDArray[np.int32], threads: int = 1
) -> NDArray[np.float64]:
    """Return the exact similarity of pairs of items that are not empty."""
    _canonicalise(sets, np.unique(np.concatenate([left, right])), threads)
    overlap = kernels.verify(*_arrays(sets), left, right, *_ratio(ANY), threads)
    return _similarity(sets, left, right, np.maximum(overlap, 0))


def join(
    sets: Sets,
    groups: Groups,
    crowd: NDArray[np.int32],
    sides: NDArray[np.uint8] | None,
    threshold: Fraction,
    limit: int,
    threads: int = 1,
) -> Pairs:
    """Return every pair of the crowd that reaches the threshold; more than `limit` stop it."""
    items = groups.firsts[crowd]
    _canonicalise(sets, items, threads)
    left, right, overlap = kernels.join(
        *_arrays(sets), items, _of(sides, crowd), *_ratio(threshold), limit, threads
    )
    return Pairs(crowd[left], crowd[right], _similarity(sets, items[left], items[right], overlap))


def forest(
    sets: Sets,
    groups: Groups,
    crowd: NDArray[np.int32],
    sides: NDArray[np.uint8] | None,
    threshold: Fraction,
    threads: int = 1,
) -> Candidates:
    """Return pairs of the crowd that connect what all its similar pairs connect."""
    items = groups.firsts[crowd]
    _canonicalise(sets, items, threads)
    left, right = kernels.forest(
        *_arrays(sets), items, _of(sides, crowd), *_ratio(threshold), threads
    )
    return Candidates(crowd[left], crowd[right])


def greedy(
    sets: Sets,
    groups: Groups,
    crowd: NDArray[np.int32],
    sides: NDArray[np.uint8] | None,
    threshold: Fraction,
    pairs: Pairs,
    order: NDArray[np.int32],
    protect: NDArray[np.uint8],
    threads: int = 1,
) -> NDArray[np.int32]:
    """Return for each group its witness, the earliest kept group similar to it, or -1."""
    _canonicalise(sets, groups.firsts[crowd], threads)
    return kernels.greedy(
        *_arrays(sets),
        groups.firsts,
        sides,
        order,
        protect,
        crowd,
        pairs.left,
        pairs.right,
        *_ratio(threshold),
        threads,
    )


def _canonicalise(sets: Sets, items: NDArray[np.int32], threads: int) -> None:
    kernels.canonicalise(sets.hashes, sets.starts, sets.sizes, items, threads)


def _arrays(
    sets: Sets,
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int32]]:
    return sets.hashes, sets.starts, sets.sizes


def _ratio(threshold: Fraction) -> tuple[int, int]:
    return threshold.numerator, threshold.denominator


def _of(sides: NDArray[np.uint8] | None, crowd: NDArray[np.int32]) -> NDArray[np.uint8] | None:
    return None if sides is None else sides[crowd]


def _similarity(
    sets: Sets,
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    overlap: NDArray[np.int32],
) -> NDArray[np.float64]:
    shared = overlap.astype(np.int64)
    union = sets.sizes[left].astype(np.int64) + sets.sizes[right] - shared
    return shared / union
