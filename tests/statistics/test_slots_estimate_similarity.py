"""The fraction of agreeing slots estimates J without bias and with variance ≤ J(1 - J)/K.

Where the bounds come from
--------------------------
Let D be the number of agreeing slots of one trial, K slots each. *Classic*: the slots are
independent, D ~ Bin(K, J). *Fast*: fix which slots the union fills in which round. The winners of
the slots filled in one round are different elements, a uniform sample *without* replacement from
A ∪ B, so the agreeing ones among them are hypergeometric; rounds are independent. Hoeffding (1963,
theorem 4): a hypergeometric count lies below the binomial one of equal mean in convex order, and
sums of independent counts keep that. So for every convex f, for both schemes,

    E f(D) ≤ E f(Bin(K, J)).

* f(d) = d and -d: the estimate is unbiased. f(d) = (d/K - J)²: its variance is ≤ J(1 - J)/K.
* f(d) = exp(sd): the total of T trials obeys the Chernoff bound of Bin(TK, J). If m is its mean
  fraction, P(m as far from J as this, on this side) ≤ exp(-TK · KL(m, J)) with KL(m, J) =
  m ln(m/J) + (1-m) ln((1-m)/(1-J)). A check fails when 2 exp(…) ≤ `chance`.
* f(d) = exp(s (d/K - J)²): with M(s) = E exp(s (Bin(K, J)/K - J)²), the mean square error v of T
  trials obeys P(v as large as this) ≤ exp(-T · max_s (s v - ln M(s))), for any sequence of
  trials. M is summed from the binomial probabilities, so nothing is approximated.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from lookalike import kernels
from lookalike.kinds.text import KEY

SIMILARITIES = (0.1, 0.3, 0.5, 0.8, 0.95)
UNIONS = (2, 10, 20, 100, 1000, 10_000, 100_000)

# How hard to try: slots, seeds, pairs per seed. The classic scheme costs slots × elements.
EFFORT = {
    "fast": {2: (128, 20, 1000), 10_000: (128, 800, 1), 100_000: (128, 250, 1)},
    "classic": {2: (128, 20, 500), 1000: (128, 20, 50), 10_000: (64, 100, 1), 100_000: (16, 60, 1)},
}


def effort(scheme, union):
    return EFFORT[scheme][max(least for least in EFFORT[scheme] if least <= union)]


def surprise_of_mean(mean, similarity, draws):
    """Return -ln of the bound on the probability of a mean this far from J."""
    parts = ((mean, similarity), (1 - mean, 1 - similarity))
    divergence = sum(part * math.log(part / expected) for part, expected in parts if part > 0)
    return draws * divergence - math.log(2)


def surprise_of_variance(variance, similarity, slots, trials):
    """Return -ln of the bound on the probability of a mean square error this large."""
    counts = np.arange(slots + 1)
    logs = stats.binom.logpmf(counts, slots, similarity)
    squares = (counts / slots - similarity) ** 2
    scales = slots / (similarity * (1 - similarity)) * np.geomspace(0.001, 1, 60)
    rates = [s * variance - np.logaddexp.reduce(logs + s * squares) for s in scales]
    return trials * max(0.0, *rates)


def check(equal, similarity, chance):
    trials, slots = equal.shape
    estimates = equal.mean(axis=1)
    limit = -math.log(chance)
    assert surprise_of_mean(estimates.mean(), similarity, equal.size) < limit
    variance = ((estimates - similarity) ** 2).mean()
    assert surprise_of_variance(variance, similarity, slots, trials) < limit


@pytest.mark.parametrize("nested", [False, True], ids=["overlapping", "nested"])
@pytest.mark.parametrize("union", UNIONS)
@pytest.mark.parametrize("scheme", ["fast", "classic"])
def test_the_estimate_is_unbiased_and_no_noisier_than_independent_slots(
    agreements, chance, scheme, union, nested
):
    slots, seeds, pairs = effort(scheme, union)
    overlaps = {min(max(round(union * similarity), 1), union - 1) for similarity in SIMILARITIES}
    for shared in sorted(overlaps):
        equal = agreements(
            scheme, union, shared, slots=slots, seeds=seeds, pairs=pairs, nested=nested
        )
        check(equal, shared / union, chance)


@pytest.mark.parametrize("slots", [1, 2, 7, 1024])
@pytest.mark.parametrize("scheme", ["fast", "classic"])
def test_the_estimate_holds_for_short_and_long_signatures(agreements, chance, scheme, slots):
    for shared, union in [(1, 3), (8, 10), (25, 50)]:
        equal = agreements(scheme, union, shared, slots=slots, seeds=10, pairs=400)
        check(equal, shared / union, chance)


def agreements_by_seed(scheme, one, other, trials):
    """Return which of 128 slots of two sets agree, under as many seeds."""
    both = np.concatenate([one, other])
    starts = np.array([0, len(one), len(both)], dtype=np.int64)
    items = np.array([0, 1], dtype=np.int32)
    made = (kernels.sketch(scheme, both, starts, items, 128, seed) for seed in range(trials))
    return np.array([left == right for left, right in made])


def hashed_words(count):
    """Return the elements of w0, w1, w2, …, hashed as all features are."""
    tokens = [b"w%d" % i for i in range(count)]
    offsets = np.cumsum([0, *map(len, tokens)], dtype=np.int64)
    starts = np.arange(count + 1, dtype=np.int64)
    data = np.frombuffer(b"".join(tokens), dtype=np.uint8)
    return kernels.shingle_tokens(data, offsets, starts, 1, KEY)[0]


def repeated_word(count):
    """Return the elements of a bag that holds one word so many times."""
    elements = np.repeat(hashed_words(1), count)
    kernels.number_occurrences(elements, np.array([0, count], dtype=np.int64))
    return elements


@pytest.mark.parametrize(("scheme", "trials"), [("fast", 3000), ("classic", 300)])
@pytest.mark.parametrize(("shared", "union"), [(3, 10), (80, 100), (500, 1000)])
@pytest.mark.parametrize("elements", [hashed_words, repeated_word])
def test_the_estimate_holds_for_elements_that_are_far_from_random(
    chance, scheme, trials, shared, union, elements
):
    values = elements(union)
    first = shared + (union - shared) // 2
    other = np.concatenate([values[:shared], values[first:]])
    check(agreements_by_seed(scheme, values[:first], other, trials), shared / union, chance)


def test_these_checks_notice_a_small_bias_and_a_little_too_much_noise(chance):
    """The tests above could fail: a bias of 0.01 or slots that repeat once in four do it."""
    rng = np.random.default_rng(1)
    biased = rng.random((8000, 128)) < 0.51
    noisy = rng.random((8000, 128)) < 0.5
    noisy[:, :32] = noisy[:, 32:64]
    for equal in (biased, noisy):
        with pytest.raises(AssertionError):
            check(equal, 0.5, chance)
