"""From threshold and recall to bands and rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike import textbook
from lookalike.config import MOST_SLOTS
from lookalike.errors import UsageError
from lookalike.planning import (
    Sample,
    alternatives,
    bands_needed,
    candidate_probability,
    choose_plan,
    plan_by_hand,
    typical_sample,
)

SLIDES_TABLE = {0.2: 0.006, 0.3: 0.047, 0.4: 0.186, 0.5: 0.470, 0.6: 0.802, 0.7: 0.975, 0.8: 0.9996}


@pytest.mark.parametrize(("similarity", "found"), SLIDES_TABLE.items())
def test_the_table_of_the_slides_for_20_bands_of_5_rows(similarity, found):
    digits = 4 if similarity == 0.8 else 3
    assert round(candidate_probability(similarity, bands=20, rows=5), digits) == found


def test_the_two_examples_of_the_slides_up_to_their_rounding():
    # The slides say 99.965 % and 4.74 %; both are rounded on the way (exactly: 99.964 %, 4.75 %).
    assert candidate_probability(0.8, bands=20, rows=5) == pytest.approx(0.99965, abs=2e-5)
    assert candidate_probability(0.3, bands=20, rows=5) == pytest.approx(0.0474, abs=1e-4)


@given(st.floats(0.01, 1), st.integers(1, 60), st.integers(1, 20))
def test_the_curve_is_that_of_the_textbook(p, bands, rows):
    expected = textbook.s_curve(p, rows=rows, bands=bands)
    assert candidate_probability(p, bands=bands, rows=rows) == pytest.approx(expected, abs=1e-12)


@given(st.floats(0.05, 0.999), st.integers(1, 12), st.floats(0.5, 0.9999))
def test_the_bands_needed_suffice_and_one_less_does_not(p, rows, recall):
    bands = bands_needed(p, rows=rows, recall=recall)
    if bands > MOST_SLOTS:
        return
    assert candidate_probability(p, bands=bands, rows=rows) >= recall - 1e-9
    if bands > 1:
        assert candidate_probability(p, bands=bands - 1, rows=rows) < recall + 1e-9


@pytest.mark.parametrize(
    ("threshold", "recall", "rows", "bands"), [(0.8, 0.95, 8, 17), (0.8, 0.99, 8, 26)]
)
def test_bands_for_known_cases(threshold, recall, rows, bands):
    assert bands_needed(threshold, rows=rows, recall=recall) == bands


@given(st.floats(0.1, 1), st.floats(0.5, 0.999))
def test_a_plan_reaches_the_recall_within_the_signature(p, recall):
    plan = choose_plan(p, typical_sample(), recall=recall)
    assert plan.recall_at_threshold >= recall - 1e-9
    assert plan.slots <= MOST_SLOTS


def test_a_threshold_too_low_for_any_signature_is_refused():
    with pytest.raises(UsageError, match="raise the threshold"):
        choose_plan(0.001, typical_sample(), recall=0.99)


def test_a_corpus_full_of_half_similar_pairs_gets_more_rows():
    def corpus(agreeing_slots: int) -> Sample:
        agreeing = np.zeros(129, dtype=np.int64)
        agreeing[agreeing_slots] = 1000
        return Sample(agreeing, 100_000, 30_000_000, 5_000_000_000)

    unrelated = choose_plan(0.8, corpus(0), recall=0.99)
    related = choose_plan(0.8, corpus(64), recall=0.99)
    assert related.rows > unrelated.rows + 2
    others = [plan.expected_seconds for plan in alternatives(0.8, corpus(64), recall=0.99)]
    assert related.expected_seconds == min(others)


def test_expected_candidates_are_those_of_the_curve():
    agreeing = np.zeros(129, dtype=np.int64)
    agreeing[64], agreeing[0] = 10, 90
    sample = Sample(agreeing, 1000, 100_000, 499_500)
    plan = plan_by_hand(0.8, sample, bands=20, rows=1)
    assert plan.expected_candidates == pytest.approx(0.1 * 499_500, rel=1e-4)


def test_bands_by_hand_state_the_recall_they_give():
    forecast = la.plan(threshold=0.8, bands=20, rows=5)
    assert forecast.plan.by_hand
    assert forecast.plan.recall_at_threshold == pytest.approx(0.99964, abs=1e-5)
    assert "set by hand" in forecast.summary()


def test_the_plan_depends_on_the_texts_and_not_on_their_order_batches_or_threads():
    rng = np.random.default_rng(5)
    texts = [" ".join(map(str, rng.integers(0, 60, 40))) for _ in range(1500)]
    plans = {
        str(la.find(order, shingle="words:1", threshold=0.6, threads=threads, batch=batch).plan)
        for order in (texts, texts[::-1])
        for threads, batch in ((1, 100), (3, 1 << 20))
    }
    assert len(plans) == 1
