"""Worked examples about the S-curve (decks: see test_slides_shingling).

Similarities are fractions, so every probability here is exact until it is rounded for comparison
with the digits on a slide.
"""

from fractions import Fraction

import pytest

from lookalike import textbook

SIMILARITY_80 = Fraction("0.8")
SIMILARITY_30 = Fraction("0.3")
SIMILARITY_20 = Fraction("0.2")


def curve(similarity: Fraction, *, bands: int = 20, rows: int = 5) -> Fraction:
    """Give the S-curve of the slides' standing example unless told otherwise."""
    return textbook.s_curve(similarity, bands=bands, rows=rows)


@pytest.mark.parametrize(
    ("similarity", "printed"),
    [
        ("0.2", "0.006"),
        ("0.3", "0.047"),
        ("0.4", "0.186"),
        ("0.5", "0.470"),
        ("0.6", "0.802"),
        ("0.7", "0.975"),
        ("0.8", "0.9996"),
    ],
)
def test_the_table_for_20_bands_of_5_rows(similarity: str, printed: str) -> None:
    # UW, UNSW, Masaryk, MMDS, NNS: every entry is rounded correctly
    decimals = len(printed.partition(".")[2])
    assert round(curve(Fraction(similarity)), decimals) == Fraction(printed)


def test_an_80_percent_pair_is_identical_in_one_band_with_probability_0_328() -> None:
    # all decks
    assert textbook.and_rows(SIMILARITY_80, rows=5) == Fraction("0.32768")
    assert round(textbook.and_rows(SIMILARITY_80, rows=5), 3) == Fraction("0.328")


def test_the_slides_miss_of_0_00035_comes_from_the_rounded_0_328_and_the_exact_is_0_00036() -> None:
    # all decks: (1 - 0.328)^20 = 0.00035. With 0.8^5 = 0.32768 unrounded it is 0.000356.
    slide, exact = (1 - Fraction("0.328")) ** 20, 1 - curve(SIMILARITY_80)
    assert round(slide, 5) == Fraction("0.00035")
    assert round(exact, 5) == Fraction("0.00036")
    assert round(exact, 5) != Fraction("0.00035")
    assert round(exact, 6) == Fraction("0.000356")


def test_the_slides_find_99_965_percent_and_the_exact_share_rounds_to_99_964() -> None:
    # all decks, from the same rounding; the table's 0.9996 is right
    slide = 1 - (1 - Fraction("0.328")) ** 20
    assert round(100 * slide, 3) == Fraction("99.965")
    assert round(100 * curve(SIMILARITY_80), 3) == Fraction("99.964")
    assert round(100 * curve(SIMILARITY_80), 3) != Fraction("99.965")


def test_about_1_in_3000_of_the_80_percent_pairs_is_missed_or_nearer_1_in_2800() -> None:
    # all decks: "1/3000th" is right to one digit
    pairs_per_miss = 1 / (1 - curve(SIMILARITY_80))
    assert round(pairs_per_miss, -3) == 3000
    assert round(pairs_per_miss, -2) == 2800


def test_missing_means_no_band_identical_not_some_band_different() -> None:
    # UW, UNSW, Masaryk, MMDS: "not identical in all of the 20 bands" could be read as the second,
    # which is nearly certain; NNS has "not in any".
    none_identical = (1 - SIMILARITY_80**5) ** 20
    not_all_identical = 1 - (SIMILARITY_80**5) ** 20
    assert 1 - curve(SIMILARITY_80) == none_identical
    assert not_all_identical > Fraction("0.999999999")


def test_a_30_percent_pair_is_identical_in_one_band_with_probability_0_00243() -> None:
    # UW, UNSW, Masaryk, MMDS
    assert textbook.and_rows(SIMILARITY_30, rows=5) == Fraction("0.00243")


def test_the_slides_4_74_percent_is_cut_off_and_the_share_rounds_to_4_75() -> None:
    # UW, UNSW, Masaryk, MMDS: 0.0474 and 4.74 %; it is 0.047494. The table's 0.047 is right.
    probability = curve(SIMILARITY_30)
    assert round(probability, 6) == Fraction("0.047494")
    assert int(probability * 10_000) == 474
    assert round(probability, 4) == Fraction("0.0475")
    assert round(probability, 4) != Fraction("0.0474")


def test_the_4_74_percent_are_pairs_of_similarity_0_3_not_of_0_3_percent() -> None:
    # UNSW, Masaryk, MMDS write "similarity 0.3%"; such a pair would be a candidate 5 times in 10^12
    wrong = curve(Fraction("0.3") / 100)
    assert round(wrong * 10**12) == 5
    assert round(wrong, 4) == 0
    assert round(curve(Fraction(30, 100)), 3) == Fraction("0.047")


def test_a_20_percent_pair_is_a_candidate_with_probability_0_6_percent() -> None:
    # NNS: 0.2^5 = 0.00032, then 0.6 %
    assert textbook.and_rows(SIMILARITY_20, rows=5) == Fraction("0.00032")
    assert round(100 * curve(SIMILARITY_20), 1) == Fraction("0.6")


def test_far_below_20_percent_candidates_become_rarer_with_the_fifth_power() -> None:
    # NNS: half the similarity, about 1/32 of the candidates
    assert 31 < curve(SIMILARITY_20) / curve(SIMILARITY_20 / 2) < 32


@pytest.mark.parametrize(
    ("bands", "rows"),
    [
        pytest.param(15, 5, id="UNSW-Masaryk-MMDS-15-bands-of-5"),
        pytest.param(10, 10, id="UW-10-bands-of-10"),
    ],
)
def test_fewer_bands_mean_fewer_false_positives_and_more_false_negatives(
    bands: int, rows: int
) -> None:
    assert curve(SIMILARITY_30, bands=bands, rows=rows) < curve(SIMILARITY_30)
    assert 1 - curve(SIMILARITY_80, bands=bands, rows=rows) > 1 - curve(SIMILARITY_80)


@pytest.mark.parametrize(
    ("bands", "rows", "positives", "negatives"),
    [(20, 5, "0.0475", "0.0004"), (15, 5, "0.0358", "0.0026"), (10, 10, "0.0001", "0.3211")],
)
def test_how_much_the_choices_of_the_slides_differ(
    bands: int, rows: int, positives: str, negatives: str
) -> None:
    # The slides give directions only. UW's 10 bands of 10 would miss a third of the pairs at 0.8.
    assert round(curve(SIMILARITY_30, bands=bands, rows=rows), 4) == Fraction(positives)
    assert round(1 - curve(SIMILARITY_80, bands=bands, rows=rows), 4) == Fraction(negatives)


def test_fewer_and_longer_bands_of_100_rows_move_both_errors_one_way() -> None:
    # NNS: fewer than 20 bands, longer mini signatures
    plans = [(20, 5), (10, 10), (5, 20), (4, 25), (2, 50), (1, 100)]
    positives = [curve(SIMILARITY_30, bands=b, rows=r) for b, r in plans]
    negatives = [1 - curve(SIMILARITY_80, bands=b, rows=r) for b, r in plans]
    assert positives == sorted(positives, reverse=True)
    assert negatives == sorted(negatives)


@pytest.mark.parametrize("similarity", ["0", "0.3", "0.8", "1"])
def test_one_band_of_one_row_gives_the_similarity_itself(similarity: str) -> None:
    # all decks: the straight line
    assert curve(Fraction(similarity), bands=1, rows=1) == Fraction(similarity)


def test_the_curve_is_built_from_the_four_steps_of_the_slide() -> None:
    # UW, UNSW, Masaryk, MMDS: all rows equal, some row unequal, no band identical, at least one
    t, b, r = Fraction("0.6"), 20, 5
    all_rows = textbook.and_rows(t, rows=r)
    assert all_rows == t**5 == Fraction("0.07776")
    assert textbook.or_bands(all_rows, bands=b) == 1 - (1 - all_rows) ** b == curve(t)
    assert round((1 - all_rows) ** b, 3) == 1 - Fraction("0.802")


@pytest.mark.parametrize(
    ("bands", "rows", "estimate"),
    [
        pytest.param(20, 5, 0.549, id="20-bands-of-5"),
        pytest.param(10, 5, 0.631, id="50-hash-functions"),
    ],
)
def test_the_curve_rises_near_1_over_b_to_the_power_1_over_r(
    bands: int, rows: int, estimate: float
) -> None:
    # Masaryk gives the formula; UW, UNSW, Masaryk, MMDS draw the curve for 50 hash functions
    threshold = textbook.estimate_threshold(bands=bands, rows=rows)
    assert round(threshold, 3) == estimate
    at_estimate = textbook.s_curve(threshold, bands=bands, rows=rows)
    assert at_estimate == pytest.approx(1 - (1 - 1 / bands) ** bands)


def test_the_estimate_is_not_where_a_pair_is_found_half_of_the_time() -> None:
    # Masaryk marks s ~ (1/b)^(1/r) on the rise; there a pair is a candidate in 64 of 100 cases
    estimate = textbook.estimate_threshold(bands=20, rows=5)
    halfway = textbook.halfway_similarity(bands=20, rows=5)
    assert round(textbook.s_curve(estimate, bands=20, rows=5), 2) == 0.64
    assert round(halfway, 3) == 0.509
    assert textbook.s_curve(halfway, bands=20, rows=5) == pytest.approx(0.5)


def test_20_bands_of_5_rise_far_below_the_threshold_0_8_they_are_chosen_for() -> None:
    # all decks choose them for 0.8; by the table most pairs at 0.6 and 0.7 are false positives
    assert textbook.estimate_threshold(bands=20, rows=5) < 0.55
    assert curve(Fraction("0.6")) > Fraction("0.8")
    assert curve(Fraction("0.7")) > Fraction("0.97")


def test_more_rows_with_the_same_threshold_come_nearer_to_the_wanted_step() -> None:
    # all decks, what we want: 0 below the threshold, 1 above it. 400 bands of 10 rise where 20
    # bands of 5 do: (1/400)^(1/10) = (1/20)^(1/5).
    steep = {"bands": 400, "rows": 10}
    assert textbook.estimate_threshold(**steep) == pytest.approx(
        textbook.estimate_threshold(bands=20, rows=5)
    )
    assert curve(Fraction("0.4"), **steep) < curve(Fraction("0.4")) / 3
    assert 1 - curve(Fraction("0.7"), **steep) < (1 - curve(Fraction("0.7"))) / 100


@pytest.mark.parametrize("threshold", ["0.3", "0.5", "0.8"])
def test_the_straight_line_errs_by_two_triangles(threshold: str) -> None:
    # all decks draw both errors as areas; for one band of one row they are triangles
    s = Fraction(threshold)
    assert textbook.false_positive_area(s, bands=1, rows=1) == s**2 / 2
    assert textbook.false_negative_area(s, bands=1, rows=1) == (1 - s) ** 2 / 2


@pytest.mark.parametrize(("bands", "rows"), [(10, 5), (20, 5), (10, 10)])
@pytest.mark.parametrize("threshold", ["0.5", "0.8"])
def test_the_areas_equal_those_summed_under_the_curve_in_thin_strips(
    bands: int, rows: int, threshold: str
) -> None:
    # UW, UNSW, Masaryk, MMDS: r = 5, b = 10; NNS: b = 20, r = 5. The midpoint rule with 10,000
    # strips errs by at most max|f''| / 24 · 10^-8, far below 10^-6 for curves with |f''| < 100.
    strips, s = 10_000, float(Fraction(threshold))
    middles = [(i + 0.5) / strips for i in range(strips)]
    heights = {x: textbook.s_curve(x, bands=bands, rows=rows) for x in middles}
    below = sum(y for x, y in heights.items() if x < s) / strips
    above = sum(1 - y for x, y in heights.items() if x > s) / strips
    plan = {"bands": bands, "rows": rows}
    assert textbook.false_positive_area(threshold, **plan) == pytest.approx(below, abs=1e-6)
    assert textbook.false_negative_area(threshold, **plan) == pytest.approx(above, abs=1e-6)


def test_an_area_is_a_probability_only_if_all_similarities_are_equally_common() -> None:
    # NNS calls the areas probabilities, UW, UNSW, Masaryk and MMDS rates. Under that assumption
    # the rate among the dissimilar pairs is the area divided by the threshold. With the
    # similarities of a real collection, mostly near 0, it is much smaller: if all were 0.2, the
    # rate would be below a fortieth of the area.
    area = textbook.false_positive_area("0.8", bands=20, rows=5)
    rate_if_uniform = area / SIMILARITY_80
    assert round(area, 3) == Fraction("0.299")
    assert round(rate_if_uniform, 3) == Fraction("0.373")
    assert curve(SIMILARITY_20) < area / 40
