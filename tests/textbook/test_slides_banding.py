"""Worked examples about candidate pairs and bands (decks: see test_slides_shingling)."""

from fractions import Fraction

import pytest

from lookalike import textbook

# UW, UNSW, Masaryk, MMDS: the small matrix in the corner of the LSH slides
CORNER = ((2, 1, 4, 1), (1, 2, 1, 2), (2, 1, 2, 1))
CORNER_SIGNATURES = textbook.columns(CORNER)

# The figures with four bands are not in the text of the slides; these columns, four bands of two
# rows, are ours and fit what the slides say about theirs.
SEVEN_SIGNATURES = textbook.columns(
    (
        (1, 0, 3, 5, 2, 0, 4),
        (2, 2, 0, 1, 2, 2, 1),
        (7, 1, 6, 2, 4, 3, 5),
        (5, 6, 5, 6, 5, 5, 6),
        (2, 3, 9, 8, 2, 1, 7),
        (6, 4, 2, 3, 6, 5, 1),
        (9, 8, 7, 6, 5, 4, 3),
        (1, 1, 1, 1, 1, 1, 1),
    )
)


def test_the_matrix_in_the_corner_is_the_min_hash_example_with_its_rows_rearranged() -> None:
    # UW, UNSW, Masaryk, MMDS: rows 2, 3, 1 of the example, so all similarities are the same
    example = ((2, 1, 2, 1), (2, 1, 4, 1), (1, 2, 1, 2))
    assert (example[1], example[2], example[0]) == CORNER
    for i, j in textbook.list_pairs(range(4)):
        items = textbook.columns(example)
        assert textbook.signature_similarity(
            CORNER_SIGNATURES[i], CORNER_SIGNATURES[j]
        ) == textbook.signature_similarity(items[i], items[j])


@pytest.mark.parametrize(
    ("threshold", "pairs"), [("0.8", {(1, 3)}), ("2/3", {(0, 2), (1, 3)}), ("0.67", {(1, 3)})]
)
def test_candidates_by_threshold_agree_in_at_least_that_share_of_the_rows(
    threshold: str, pairs: set[textbook.Pair]
) -> None:
    # UW, UNSW, Masaryk, MMDS, NNS with the example threshold 0.8; the slides' 0.67 is above 2/3
    assert textbook.similar_signatures(CORNER_SIGNATURES, threshold) == pairs


@pytest.mark.parametrize(("bands", "rows", "pairs"), [(3, 1, {(0, 2), (1, 3)}), (1, 3, {(1, 3)})])
def test_candidates_by_bands_need_one_identical_band(
    bands: int, rows: int, pairs: set[textbook.Pair]
) -> None:
    assert textbook.candidate_pairs(CORNER_SIGNATURES, bands=bands, rows=rows) == pairs


def test_the_two_definitions_of_a_candidate_pair_are_not_the_same() -> None:
    # UW, UNSW, Masaryk, MMDS, NNS define it twice: by share of equal rows, then by bands.
    by_share = textbook.similar_signatures(CORNER_SIGNATURES, "0.8")
    by_bands = textbook.candidate_pairs(CORNER_SIGNATURES, bands=3, rows=1)
    assert by_bands - by_share == {(0, 2)}
    assert textbook.signature_similarity(*CORNER_SIGNATURES[0:3:2]) == Fraction(2, 3)


def test_a_signature_matrix_of_b_times_r_rows_falls_into_b_bands_of_r() -> None:
    # UW: M = b · r; all decks: 100 = 20 · 5
    bands = textbook.split_into_bands(tuple(range(100)), bands=20, rows=5)
    assert [len(band) for band in bands] == [5] * 20
    assert bands[19] == (95, 96, 97, 98, 99)


def test_a_signature_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="signature has 99 rows"):
        textbook.split_into_bands(tuple(range(99)), bands=20, rows=5)


def test_columns_2_and_6_share_a_bucket_and_columns_6_and_7_do_not() -> None:
    # Masaryk's captions on hashing one band
    first = textbook.fill_buckets(SEVEN_SIGNATURES, bands=4, rows=2)[0]
    shared = [bucket for bucket in first.values() if len(bucket) > 1]
    assert shared == [[2 - 1, 6 - 1]]


def test_a_pair_equal_in_band_1_is_a_candidate_whatever_the_other_three_bands_hold() -> None:
    # UNSW
    two, six = SEVEN_SIGNATURES[2 - 1], SEVEN_SIGNATURES[6 - 1]
    bands = [textbook.split_into_bands(item, bands=4, rows=2) for item in (two, six)]
    assert [x == y for x, y in zip(*bands, strict=True)] == [True, False, False, False]
    assert (2 - 1, 6 - 1) in textbook.candidate_pairs(SEVEN_SIGNATURES, bands=4, rows=2)


def test_a_pair_not_equal_in_band_1_has_three_more_chances() -> None:
    # UNSW: columns 1 and 5 differ in bands 1, 2 and 4 and meet in band 3
    tables = textbook.fill_buckets(SEVEN_SIGNATURES, bands=4, rows=2)
    meets = [any({0, 4} <= set(bucket) for bucket in table.values()) for table in tables]
    assert meets == [False, False, True, False]
    assert textbook.candidate_pairs(SEVEN_SIGNATURES, bands=4, rows=2) == {(0, 4), (1, 5)}


@pytest.mark.parametrize("buckets", [1, 2, 3, 10, 1000])
def test_different_buckets_mean_different_bands(buckets: int) -> None:
    # Masaryk: in different buckets "surely different"; so few buckets only ever add candidates
    exact = textbook.candidate_pairs(SEVEN_SIGNATURES, bands=4, rows=2)
    assert exact <= textbook.candidate_pairs(SEVEN_SIGNATURES, bands=4, rows=2, buckets=buckets)


def test_the_same_bucket_means_only_probably_identical_when_buckets_are_few() -> None:
    # Masaryk: "probably identical". Seven columns with six different bands into five buckets.
    exact = textbook.candidate_pairs(SEVEN_SIGNATURES, bands=4, rows=2)
    few = textbook.candidate_pairs(SEVEN_SIGNATURES, bands=4, rows=2, buckets=5)
    assert few > exact


def test_columns_are_not_mixed_between_bands() -> None:
    # UNSW, MMDS: each band has its own table; equal values in different bands do not meet
    signatures = [(1, 2, 3, 4), (3, 4, 1, 2)]
    assert textbook.candidate_pairs(signatures, bands=2, rows=2) == set()


def test_checking_signatures_then_sets_removes_what_only_seemed_similar() -> None:
    # all decks, summary: candidates, then similar signatures, then (optional) similar sets.
    # UNSW's S1 to S4 with its signatures: S1, S3, S4 meet in the second row, S1 and S4 in both.
    sets = [{"a", "d"}, {"c"}, {"b", "d", "e"}, {"a", "c", "d"}]
    signatures = textbook.columns(((1, 3, 0, 1), (0, 2, 0, 0)))
    candidates = textbook.candidate_pairs(signatures, bands=2, rows=1)
    assert candidates == {(0, 2), (0, 3), (2, 3)}
    assert textbook.similar_signatures(signatures, "0.6") == {(0, 3)}
    assert textbook.check_pairs(candidates, sets, "0.6") == {(0, 3): Fraction(2, 3)}
    similar = textbook.brute_force_pairs(sets, "0.3").keys()
    assert similar == {(0, 3), (1, 3)}
    assert textbook.false_positives(candidates, similar) == {(0, 2), (2, 3)}
    assert textbook.false_negatives(candidates, similar) == {(1, 3)}
