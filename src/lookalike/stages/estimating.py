"""How much a run has missed: its recall, estimated from what it found.

A pair that the plan finds with probability π stands for 1/π pairs, found or not: their sum over the
found pairs estimates how many there are (Horvitz and Thompson). π comes from trying: the items of
the found pairs are sketched again under fresh seeds, and each seed either finds a pair or does not.
The same tries show by how much such an estimate errs, with all dependence between pairs that share
items, and give the interval for *this run's* recall.

Pairs of two crowded items are joined exactly, but who is crowded is a matter of chance too: they
are tried like all others, by whether they share a bucket, which can only make the estimate smaller.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from lookalike.data import Pairs, Recall, chunks, empty

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Try = Callable[[int], NDArray[np.bool_]]

SEEDS = 80
PRIOR = 20.0  # how many tries the formula's probability counts for
TAIL = 2  # of the 80 errors, the second smallest and second largest bound 95 %
LEAST_PAIRS, MOST_PAIRS = 200, 5000
SHARE = 0.08  # of the run's own cost


def estimate(
    pairs: Pairs,
    weights: NDArray[np.float64],
    expected: Callable[[float], float],
    trying: Callable[[Pairs], Try],
    *,
    sampled: int = LEAST_PAIRS,
    threads: int = 1,
) -> Recall:
    """Return the recall of a run that found some pairs with a similarity below 1.

    `weights` tells how many pairs of items each stands for (0: it does not count), `expected` with
    which probability the formula says a pair of some similarity is found; ``trying(pairs)`` gives a
    function that tells, for the number of a fresh seed, which of the pairs are found under it.
    """
    found = round(float(weights.sum()))
    chosen, share = _sample(weights, sampled)
    with ThreadPoolExecutor(threads) as pool:
        tries = np.stack(list(pool.map(trying(pairs[chosen]), range(SEEDS))))
    formula = np.array([expected(s) for s in pairs.similarity[chosen].tolist()])
    chance = (tries.sum(axis=0) + PRIOR * formula) / (SEEDS + PRIOR)
    total = max(float((share / chance).sum()), found)
    errors = np.sort(((tries / chance - 1) * (share / chance)).sum(axis=1))
    most = max(math.ceil(total - errors[TAIL - 1] - 1e-9), math.ceil(total - 1e-9))
    least = max(found, math.floor(total - errors[-TAIL] + 1e-9))
    return Recall(
        value=found / total,
        low=found / most,
        high=found / min(least, total),
        found=found,
        total=total,
        sampled=len(np.unique(chosen)),
    )


def _sample(
    weights: NDArray[np.float64], sampled: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return which pairs to try, and how many pairs of items each of them stands for."""
    counting = sum(int(np.count_nonzero(weights[a:b])) for a, b in chunks(len(weights)))
    if counting <= sampled:
        every = np.flatnonzero(weights)
        return every, weights[every]
    total = float(weights.sum())
    marks = (np.arange(sampled) + 0.5) * (total / sampled)
    sums = np.cumsum(weights, out=empty(len(weights), np.float64))
    chosen = np.searchsorted(sums, marks).clip(max=len(weights) - 1)
    return chosen, np.full(sampled, total / sampled)


def affordable_pairs(run_cost: float, pair_cost: float) -> int:
    """Return how many pairs can be tried under all seeds for a small share of the run's cost."""
    affordable = int(SHARE * run_cost / (SEEDS * max(pair_cost, 1.0)))
    return min(max(affordable, LEAST_PAIRS), MOST_PAIRS)
