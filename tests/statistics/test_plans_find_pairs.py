"""A pair at the threshold becomes a candidate with the probability that was promised.

The exact law of the fast sketch
--------------------------------
Under ideal hashing the number of disagreeing slots of a pair with u = |A ∪ B| elements, s of them
shared, has a law that can be computed:

* A round throws u elements into K slots. The chance that o slots are hit is the occupancy law,
  and which ones they are is uniform, so of m slots that were still empty j are hit with
  probability T(m, j) = Σ_o occupancy(o) · hypergeometric(j; K, o, m).
* The winners of these j slots are a sample without replacement of A ∪ B: e of them belong to only
  one set, and so disagree, with hypergeometric probability H(j, e).
* What is empty after K rounds is filled slot by slot, each disagreeing with probability 1 - J.

Rounds are independent, so the generating function of the disagreements follows a chain over the
number of empty slots; evaluated at the roots of unity, a Fourier transform gives the law.
Given d disagreeing slots all placements are equally likely, and of C(K, d) of them those that hit
every band are the coefficient of x^d in ((1 + x)^r - 1)^b. Together: the exact probability that a
pair becomes a candidate. With the classic sketch it is 1 - (1 - J^r)^b.

Against the formula, the fast sketch
------------------------------------
Its slots agree less jointly than independent ones: P(one band) ≤ J^r. To first order in that
dependence the probability of a candidate exceeds 1 - (1 - J^r)^b exactly if b · J^r >
(r - 1) / (r - 1/b), so in every plan of two or more bands that reaches 3/4 at the threshold.
What one band of r rows gives can fall to 1 - r(1 - J), the bound of a union of events.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from lookalike.planning import (
    alternatives,
    candidate_probability,
    choose_plan,
    typical_sample,
)

THRESHOLDS = ("0.3", "0.5", "0.7", "0.8", "0.9", "0.95")
RECALLS = (0.9, 0.99, 0.999)
FEW_SLOTS = 48  # the exact law costs slots³


# ── The exact law ─────────────────────────────────────────────────────────────────────────────


@cache
def occupancy(balls, bins):
    """Return the probability of each number of bins hit."""
    hit = np.arange(bins + 1)
    law = np.zeros(bins + 1)
    law[0] = 1
    for _ in range(min(balls, 60 * bins)):  # beyond, all are hit but with probability e^-60
        grown = law * hit / bins
        grown[1:] += (law * (bins - hit) / bins)[:-1]
        law = grown
    return law


def log_choose(n, k):
    """Return ln C(n, k), and -∞ where there is no way."""
    possible = (k >= 0) & (k <= n)
    n, k = np.where(possible, n, 0), np.where(possible, k, 0)
    return np.where(possible, gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), -np.inf)


def hypergeometric(special, total, special_of_total, drawn):
    """Return the probability that so many of the drawn ones are special."""
    others = log_choose(total - special_of_total, drawn - special)
    ways = log_choose(special_of_total, special) + others
    return np.exp(ways - gammaln(total + 1) + gammaln(drawn + 1) + gammaln(total - drawn + 1))


@cache
def newly_filled(union, slots):
    """Return T: of m empty slots (rows), j are filled in one round (columns)."""
    counts = np.arange(slots + 1)
    empty, filled, hit = np.ix_(counts, counts, counts)
    return hypergeometric(filled, slots, hit, empty) @ occupancy(union, slots)


@cache
def disagreements(union, shared, slots):
    """Return the probability of each number of disagreeing slots of the fast sketch."""
    counts = np.arange(slots + 1)
    most = np.minimum(counts, union)[:, None]  # no round fills more slots than there are elements
    by_filled = hypergeometric(counts[None, :], union, union - shared, most)
    lost = 1 - shared / union
    steps = np.tril(counts[:, None] - counts[None, :])  # from m empty slots to fewer
    filling = np.tril(np.take_along_axis(newly_filled(union, slots), steps, axis=1))
    transform = []
    for at in counts[: (slots + 1) // 2 + 1]:
        root = np.exp(2j * np.pi * at / (slots + 1))
        step = filling * (by_filled @ root**counts)[steps]
        state = np.zeros(slots + 1, dtype=complex)
        state[slots] = 1
        for _ in range(slots):
            state = np.einsum("i,ij->j", state, step)  # no BLAS: its threads would cost more
            state[abs(state) < 1e-30] = 0  # subnormal numbers are slow, and these do not count
            if not state[1:].any():
                break
        transform.append(state @ (1 - lost + lost * root) ** counts)
    return np.clip(np.fft.irfft(np.conj(transform), slots + 1), 0, 1)


@cache
def missed(bands, rows):
    """Return, for each number of disagreeing slots, the probability that every band has one."""
    ways = np.array([math.comb(rows, hit) * (hit > 0) for hit in range(rows + 1)], dtype=object)
    total = np.array([1], dtype=object)
    for _ in range(bands):
        total = np.convolve(total, ways)
    return np.array([int(way) / math.comb(bands * rows, d) for d, way in enumerate(total)])


def exact_probability(union, shared, bands, rows):
    """Return the probability that the fast sketch makes the pair a candidate."""
    return 1 - float(disagreements(union, shared, bands * rows) @ missed(bands, rows))


# ── The kernels obey it ───────────────────────────────────────────────────────────────────────


def candidates(agreements, scheme, pair, plan, *, seeds, pairs):
    """Return how many of how many trials make the pair a candidate."""
    union, shared = pair
    bands, rows = plan
    equal = agreements(scheme, union, shared, slots=bands * rows, seeds=seeds, pairs=pairs)
    found = equal.reshape(-1, bands, rows).all(axis=2).any(axis=1)
    return int(found.sum()), len(found)


def surprise(found, trials, probability):
    """Return the probability of a binomial count at least this far out, on either side."""
    below = stats.binom.cdf(found, trials, probability)
    above = stats.binom.sf(found - 1, trials, probability)
    return 2 * min(below, above)


PLANS = [(16, 6), (20, 2), (1, 2), (2, 7), (5, 4), (30, 1), (3, 20)]
PAIRS = [(2, 1), (3, 2), (5, 4), (10, 8), (20, 19), (30, 15), (100, 80), (1000, 700)]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: "{}x{}".format(*plan))
def test_the_classic_sketch_follows_the_formula(agreements, chance, plan):
    for union, shared in PAIRS:
        pairs = 2000 if union <= 100 else 200
        found, trials = candidates(
            agreements, "classic", (union, shared), plan, seeds=10, pairs=pairs
        )
        formula = candidate_probability(shared / union, bands=plan[0], rows=plan[1])
        assert surprise(found, trials, formula) > chance


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: "{}x{}".format(*plan))
def test_the_fast_sketch_follows_its_exact_law(agreements, chance, plan):
    for union, shared in PAIRS:
        pairs = 5000 if union <= 100 else 1000
        found, trials = candidates(agreements, "fast", (union, shared), plan, seeds=10, pairs=pairs)
        assert surprise(found, trials, exact_probability(union, shared, *plan)) > chance


@pytest.mark.parametrize("slots", [5, 60])
@pytest.mark.parametrize(("union", "shared"), [(3, 1), (10, 8), (60, 30), (400, 380)])
def test_the_number_of_agreeing_slots_has_its_exact_law(agreements, chance, slots, union, shared):
    """By Massart's inequality P(sup |F_T - F| > x) ≤ 2 exp(-2 T x²), for any law F."""
    equal = agreements("fast", union, shared, slots=slots, seeds=10, pairs=5000)
    trials = len(equal)
    observed = np.bincount(slots - equal.sum(axis=1), minlength=slots + 1) / trials
    distance = abs(np.cumsum(observed - disagreements(union, shared, slots))).max()
    assert distance < math.sqrt(math.log(2 / chance) / (2 * trials))


def test_the_exact_law_is_one_of_probabilities_with_the_right_mean_and_less_variance():
    for union, shared, slots in [(12, 6, 60), (60, 48, 60), (600, 300, 60), (2, 1, 9)]:
        law, counts = disagreements(union, shared, slots), np.arange(slots + 1)
        lost = 1 - shared / union
        mean = law @ counts
        assert law.sum() == pytest.approx(1, abs=1e-12)
        assert mean == pytest.approx(slots * lost, abs=1e-9)
        assert law @ (counts - mean) ** 2 <= slots * lost * (1 - lost) + 1e-9


# ── The contract ──────────────────────────────────────────────────────────────────────────────


def pairs_at(threshold, *, largest):
    """Return (union, shared) of the pairs whose similarity is the threshold, small to large."""
    exact = Fraction(threshold)
    return [
        (times * exact.denominator, times * exact.numerator)
        for times in (1, 2, 3, 10, 30, 100, 300)
        if times * exact.denominator <= largest
    ]


@pytest.mark.parametrize("recall", RECALLS)
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_a_pair_at_the_threshold_is_a_candidate_with_the_recall_asked_for(threshold, recall):
    """By the exact law, with no chance in it, for every short plan the planner may choose."""
    plans = alternatives(float(threshold), typical_sample(), recall=recall)
    short = [plan for plan in plans if plan.slots <= FEW_SLOTS]
    assert short
    for plan in short:
        for union, shared in pairs_at(threshold, largest=4000):
            assert exact_probability(union, shared, plan.bands, plan.rows) >= recall - 1e-9


@pytest.mark.parametrize("scheme", ["fast", "classic"])
@pytest.mark.parametrize("recall", RECALLS)
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_a_pair_at_the_threshold_is_found_by_the_chosen_plan(
    agreements, chance, threshold, recall, scheme
):
    """By trial, for the plan chosen for a typical corpus, whatever its length.

    If the probability is at least the recall R, P(at most f of T trials) ≤ P(Bin(T, R) ≤ f).
    """
    plan = choose_plan(float(threshold), typical_sample(), recall=recall)
    for union, shared in pairs_at(threshold, largest=3000 if scheme == "fast" else 300):
        trials = max(50_000 // union, 500) if scheme == "fast" else 500
        found, trials = candidates(
            agreements,
            scheme,
            (union, shared),
            (plan.bands, plan.rows),
            seeds=5,
            pairs=trials // 5,
        )
        assert stats.binom.cdf(found, trials, recall) > chance


@pytest.mark.parametrize(("bands", "rows"), [(2, 7), (4, 6), (8, 4), (16, 2), (16, 3)])
def test_two_or_more_bands_never_find_less_than_the_formula_above_three_quarters(bands, rows):
    gains = []
    for union in (5, 10, 20, 40, 100, 400):
        for shared in range(1, union, max(union // 40, 1)):
            formula = candidate_probability(shared / union, bands=bands, rows=rows)
            if 0.75 <= formula < 0.9999:
                gains.append(exact_probability(union, shared, bands, rows) - formula)
    assert min(gains) >= 0
    assert max(gains) > 0.001


def test_no_plan_has_a_single_band():
    """One band of 21 rows at 0.995 would find 1 - 21 · 0.005 = 0.895 where 0.9 was asked for."""
    assert exact_probability(200, 199, 1, 21) < 0.9 < candidate_probability(0.995, bands=1, rows=21)
    plans = list(alternatives(0.995, typical_sample(), recall=0.9))
    assert min(plan.bands for plan in plans) > 1
    for plan in plans[:20]:
        assert exact_probability(200, 199, plan.bands, plan.rows) >= 0.9 - 1e-9


@pytest.mark.parametrize(("threshold", "recall"), [("0.9", 0.5), ("0.8", 0.5)])
def test_a_plan_for_a_low_recall_keeps_its_promise(threshold, recall):
    plan = choose_plan(float(threshold), typical_sample(), recall=recall)
    for union, shared in pairs_at(threshold, largest=1000):
        assert exact_probability(union, shared, plan.bands, plan.rows) >= recall - 1e-9
