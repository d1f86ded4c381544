"""The textbook as an oracle: exact at the threshold, sound at the edges, documented by examples."""

import doctest
import inspect
from fractions import Fraction
from math import sqrt

import pytest

from lookalike import textbook

TEXTS = [
    "a rose is a rose is a rose",
    "a rose is a rose is a tulip",
    "a nose is a nose is a nose",
    "call me ishmael some years ago never mind how long",
    "call me ishmael some years ago never mind how long ago",
    "",
    "",
]


def test_every_example_in_the_docstrings_runs_and_holds() -> None:
    result = doctest.testmod(textbook)
    assert result.attempted > 50
    assert result.failed == 0


def test_every_function_of_the_textbook_has_an_example() -> None:
    functions = dict(inspect.getmembers(textbook, inspect.isfunction))
    own = {name for name, function in functions.items() if function.__module__ == textbook.__name__}
    silent = {name for name in own if ">>> " not in (functions[name].__doc__ or "")}
    assert len(own) > 40
    assert silent == set()


def test_a_pair_exactly_at_the_threshold_is_kept_though_the_float_is_above_it() -> None:
    # the float nearest to 0.8 is larger than 4/5; read as a decimal the threshold is 4/5
    sets = [set(range(35)), set(range(28))]
    assert Fraction(28, 35) < Fraction(0.8)
    for threshold in (0.8, "0.8", "4/5", Fraction(4, 5)):
        assert textbook.brute_force_pairs(sets, threshold) == {(0, 1): Fraction(4, 5)}


def test_a_pair_just_below_the_threshold_is_not_kept() -> None:
    assert textbook.brute_force_pairs([set(range(35)), set(range(27))], 0.8) == {}


def test_brute_force_keeps_all_pairs_at_or_above_the_threshold_in_order() -> None:
    sets = [{1, 2}, {1, 2, 3}, {3}, {1, 2}]
    assert list(textbook.brute_force_pairs(sets, "2/3").items()) == [
        ((0, 1), Fraction(2, 3)),
        ((0, 3), Fraction(1)),
        ((1, 3), Fraction(2, 3)),
    ]


@pytest.mark.parametrize("threshold", [0, -0.5, 1.01, "3/2"])
def test_a_threshold_that_is_no_similarity_is_refused(threshold: textbook.Threshold) -> None:
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        textbook.brute_force_pairs([{1}, {1}], threshold)


def test_a_k_below_1_is_refused() -> None:
    with pytest.raises(ValueError, match="k is 0"):
        textbook.shingle_characters("abc", k=0)


def test_a_text_shorter_than_k_is_one_shingle_and_similar_to_its_copy() -> None:
    assert textbook.shingle_words("so it goes", k=5) == {("so", "it", "goes")}
    assert textbook.find_pairs(["so", "so"], 1, k=5, bands=1, rows=1) == {(0, 1): 1}


def test_empty_items_match_nothing_at_any_step() -> None:
    hashes = textbook.draw_hashes(4, seed=1)
    signatures = [textbook.sign(items, hashes) for items in (set(), set(), {1}, {1})]
    assert signatures[0] == (textbook.INFINITY,) * 4
    assert textbook.brute_force_pairs([set(), set(), {1}, {1}], 1) == {(2, 3): 1}
    assert textbook.similar_signatures(signatures, 1) == {(2, 3)}
    assert textbook.candidate_pairs(signatures, bands=2, rows=2) == {(2, 3)}
    assert textbook.candidate_pairs(signatures, bands=2, rows=2, buckets=1) == {(2, 3)}
    assert textbook.minhash_agreement((0, 0), (0, 0)) == 0


@pytest.mark.parametrize(
    ("left", "right"), [("abcab", "abc"), ("banana", "bandana"), ("aaaa", "aa"), ("", "a")]
)
def test_bag_similarity_is_set_similarity_of_numbered_occurrences(left: str, right: str) -> None:
    bags = [textbook.count_characters(text, k=2) for text in (left, right)]
    sets = [textbook.number_occurrences(bag) for bag in bags]
    assert textbook.bag_similarity(*bags) == textbook.jaccard_similarity(*sets)


def test_bags_tell_apart_what_sets_do_not() -> None:
    left, right = (textbook.count_characters(text, k=1) for text in ("aab", "abb"))
    assert textbook.jaccard_similarity(set(left), set(right)) == 1
    assert textbook.bag_similarity(left, right) == Fraction(2, 4)


@pytest.mark.parametrize("threshold", ["0.3", "0.5", "0.8"])
def test_the_pipeline_finds_what_brute_force_finds_when_bands_are_many(threshold: str) -> None:
    # the least similar pair kept, at 0.3, is missed with probability (1 - 0.3)^200 < 10^-30
    shingles = [textbook.shingle_characters(text, k=3) for text in TEXTS]
    expected = textbook.brute_force_pairs(shingles, threshold)
    assert textbook.find_pairs(TEXTS, threshold, k=3, bands=200, rows=1) == expected
    assert expected.keys() >= {(3, 4)}


def test_the_pipeline_reports_only_true_pairs_when_bands_are_few() -> None:
    shingles = [textbook.shingle_characters(text, k=3) for text in TEXTS]
    expected = textbook.brute_force_pairs(shingles, "0.3")
    found = [
        textbook.find_pairs(TEXTS, "0.3", k=3, bands=1, rows=3, seed=seed) for seed in range(20)
    ]
    assert all(pairs.items() <= expected.items() for pairs in found)
    assert any(pairs.keys() < expected.keys() for pairs in found)


def test_a_pair_becomes_a_candidate_as_often_as_the_s_curve_says() -> None:
    # Similarity 1/2, 5 bands of 2 rows: probability 1 - (3/4)^5 = 0.763. Over 1,000 seeds the
    # share has standard deviation sqrt(p(1 - p) / 1000) = 0.0135; the bound is four of them.
    words = [textbook.hash_to_four_bytes(str(number)) for number in range(40)]
    sets, runs = [set(words[:30]), set(words[10:])], 1000
    similarity = textbook.jaccard_similarity(*sets)
    met = 0
    for seed in range(runs):
        hashes = textbook.draw_hashes(10, seed=seed)
        signatures = [textbook.sign(items, hashes) for items in sets]
        met += len(textbook.candidate_pairs(signatures, bands=5, rows=2))
    expected = float(textbook.s_curve(similarity, bands=5, rows=2))
    assert similarity == Fraction(1, 2)
    assert abs(met / runs - expected) < 4 * sqrt(expected * (1 - expected) / runs)
