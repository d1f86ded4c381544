"""What holds of every signature, with no chance in it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import kernels

EMPTY = 2**64 - 1

schemes = st.sampled_from(["fast", "classic"])
seeds = st.integers(0, 2**64 - 1)
slots = st.integers(1, 60)
elements = st.integers(0, 2**64 - 1) | st.integers(0, 20)


def sketch(scheme, sets, slots, seed):
    starts = np.cumsum([0, *map(len, sets)], dtype=np.int64)
    flat = np.array([x for each in sets for x in each], dtype=np.uint64)
    items = np.arange(len(sets), dtype=np.int32)
    return kernels.sketch(scheme, flat, starts, items, slots, seed, 2)


@given(schemes, st.lists(elements, max_size=40), st.lists(elements, max_size=40), slots, seeds)
def test_the_smaller_value_of_each_slot_is_the_signature_of_the_union(
    scheme, one, other, slots, seed
):
    a, b, union = sketch(scheme, [one, other, one + other], slots, seed)
    np.testing.assert_array_equal(np.minimum(a, b), union)


@pytest.mark.parametrize("scheme", ["fast", "classic"])
def test_the_union_of_large_sets_is_merged_as_well(scheme):
    values = np.random.default_rng(5).integers(0, 2**64, 30_000, dtype=np.uint64).tolist()
    parts = [values[:1000], values[900:20_000], values[19_000:]]
    *signatures, union = sketch(scheme, [*parts, values], 200, 9)
    np.testing.assert_array_equal(np.minimum.reduce(signatures), union)


@given(schemes, st.lists(elements, min_size=1, max_size=30), slots, seeds, st.randoms())
def test_order_and_repetition_do_not_matter(scheme, values, slots, seed, random):
    shuffled = values + random.choices(values, k=10)
    random.shuffle(shuffled)
    one, other = sketch(scheme, [values, shuffled], slots, seed)
    np.testing.assert_array_equal(one, other)


@given(schemes, slots, seeds)
def test_an_empty_set_has_a_signature_of_its_own(scheme, slots, seed):
    empty, one = sketch(scheme, [[], [7]], slots, seed)
    assert (empty == EMPTY).all()
    assert (one != EMPTY).all()


@given(st.lists(st.integers(0, 9), max_size=40), st.lists(st.integers(0, 9), max_size=40))
def test_numbered_occurrences_make_bag_similarity_a_set_similarity(one, other):
    """Σ min / Σ max of the counts is |A ∩ B| / |A ∪ B| of the numbered elements, exactly."""
    words = np.random.default_rng(2).integers(0, 2**64, 10, dtype=np.uint64)
    numbered = words[np.array(one + other, dtype=np.int64)]
    starts = np.array([0, len(one), len(one) + len(other)], dtype=np.int64)
    kernels.number_occurrences(numbered, starts)
    a, b = set(numbered[: len(one)].tolist()), set(numbered[len(one) :].tolist())
    least, most = Counter(one) & Counter(other), Counter(one) | Counter(other)
    assert (len(a), len(b)) == (len(one), len(other))
    assert (len(a & b), len(a | b)) == (least.total(), most.total())
    if most:
        assert Fraction(len(a & b), len(a | b)) == Fraction(least.total(), most.total())


def test_a_word_that_occurs_a_million_times_is_a_million_elements():
    numbered = np.full(1_000_000, 12345, dtype=np.uint64)
    kernels.number_occurrences(numbered, np.array([0, len(numbered)], dtype=np.int64))
    assert len(np.unique(numbered)) == len(numbered)
