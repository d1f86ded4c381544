"""Jaccard similarity |A ∩ B| / |A ∪ B|, by min-hashing.

A slot of a min-hash signature holds a random element of A ∪ B for both items, so two signatures
agree in a slot with probability |A ∩ B| / |A ∪ B|: the collision probability *is* the similarity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike import kernels
from lookalike.data import Candidates, Groups, Pairs, Sets

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from lookalike.config import Scheme

NAME = "Jaccard similarity"


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
    reached = np.unique(np.concatenate([left, right]))
    kernels.canonicalise(sets.hashes, sets.starts, sets.sizes, reached, threads)
    overlap = kernels.verify(
        sets.hashes,
        sets.starts,
        sets.sizes,
        left,
        right,
        threshold.numerator,
        threshold.denominator,
        threads,
    )
    similar = overlap >= 0
    shared = overlap[similar].astype(np.int64)
    union = sets.sizes[left[similar]].astype(np.int64) + sets.sizes[right[similar]] - shared
    return Pairs(candidates.left[similar], candidates.right[similar], shared / union)
