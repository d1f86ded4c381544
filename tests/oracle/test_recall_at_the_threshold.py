"""A pair *at* the threshold is found with the probability that was asked for, also if it is small.

Real pairs mostly lie above the threshold and are found more often than asked. Here all pairs lie at
it, and their sets are the smallest that can, where slots of a sketch depend on each other the most.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from scipy import stats

import lookalike as la

PAIRS = 5000


def misses(threshold: str, recall: float, times: int, **options) -> int:
    """Return how many of 5000 pairs, each of a set and a part of it, are not found.

    The sets of different pairs have nothing in common, so pairs are found independently.
    """
    exact = Fraction(threshold)
    items = []
    for pair in range(PAIRS):
        whole = [f"{pair}.{element}" for element in range(exact.denominator * times)]
        items += [whole, whole[: exact.numerator * times]]
    result = la.find(items, threshold=threshold, recall=recall, shingle="tokens", **options)
    assert result.pairs["similarity"].unique().to_pylist() == [float(exact)]
    return PAIRS - len(result)


@pytest.mark.parametrize("sketch", ["fast", "classic"])
@pytest.mark.parametrize("times", [1, 10])
@pytest.mark.parametrize("recall", [0.9, 0.99, 0.999])
@pytest.mark.parametrize("threshold", ["0.5", "0.7", "0.8", "0.9", "0.95"])
def test_pairs_at_the_threshold_are_found_as_often_as_asked(threshold, recall, times, sketch):
    """No more misses than the 99.9 % quantile of Binomial(pairs, 1 - recall)."""
    found = misses(threshold, recall, times, sketch=sketch)
    assert found <= stats.binom.ppf(0.999, PAIRS, 1 - recall)


@pytest.mark.parametrize(("threshold", "recall"), [("0.8", 0.5), ("0.8", 0.64), ("0.9", 0.64)])
def test_pairs_of_small_sets_are_found_as_often_as_asked_when_little_is_asked(threshold, recall):
    assert misses(threshold, recall, 1) <= stats.binom.ppf(0.999, PAIRS, 1 - recall)
