"""Worked examples about similarity and Boolean matrices (decks: see test_slides_shingling)."""

from fractions import Fraction

import pytest

from lookalike import textbook

# UW, UNSW, Masaryk, MMDS: shingles × documents
SEVEN_BY_FOUR = (
    (1, 1, 1, 0),
    (1, 1, 0, 1),
    (0, 1, 0, 1),
    (0, 0, 0, 1),
    (1, 0, 0, 1),
    (1, 1, 1, 0),
    (1, 0, 1, 0),
)

# NNS: shingles 1 to 8 × documents S, T, U, V, W
EIGHT_BY_FIVE = (
    (1, 1, 0, 1, 0),
    (1, 0, 1, 1, 0),
    (1, 0, 0, 1, 0),
    (0, 1, 0, 0, 1),
    (1, 0, 1, 0, 1),
    (1, 1, 0, 1, 1),
    (0, 1, 0, 1, 1),
    (0, 1, 0, 1, 0),
)

# UNSW: S1 to S4 over the elements a to e
FOUR_SETS = [{"a", "d"}, {"c"}, {"b", "d", "e"}, {"a", "c", "d"}]
FIVE_BY_FOUR = ((1, 0, 0, 1), (0, 0, 1, 0), (0, 1, 0, 1), (1, 0, 1, 1), (0, 0, 1, 0))

# UW, UNSW, Masaryk, MMDS: the two columns next to the min-hash property
SIX_ROWS = ((0, 0), (0, 0), (1, 1), (0, 0), (0, 1), (1, 0))


def test_three_shared_of_eight_elements_is_similarity_3_8_and_distance_5_8() -> None:
    # UW, UNSW, Masaryk, MMDS draw 8 points in two overlapping circles, 3 of them in both.
    left, right = {1, 2, 3, 4, 5}, {3, 4, 5, 6, 7, 8}
    assert textbook.jaccard_similarity(left, right) == Fraction(3, 8)
    assert textbook.jaccard_distance(left, right) == Fraction(5, 8)


def test_bit_vectors_10111_and_10011_have_similarity_3_4_and_distance_1_4() -> None:
    # UNSW, Masaryk, MMDS: intersection 3 by bitwise AND, union 4 by bitwise OR
    left, right = "10111", "10011"
    rows = textbook.count_row_types([*map(int, left)], [*map(int, right)])
    assert rows.a == (int(left, 2) & int(right, 2)).bit_count() == 3
    assert rows.a + rows.b + rows.c == (int(left, 2) | int(right, 2)).bit_count() == 4
    similarity = textbook.column_similarity([*map(int, left)], [*map(int, right)])
    assert (similarity, 1 - similarity) == (Fraction(3, 4), Fraction(1, 4))


def test_the_first_two_columns_of_the_boolean_matrix_share_3_of_6_rows() -> None:
    # UW, Masaryk, MMDS: similarity 3/6 and distance 3/6
    first, second, *_ = textbook.columns(SEVEN_BY_FOUR)
    assert textbook.count_row_types(first, second) == textbook.RowTypes(a=3, b=2, c=1, d=1)
    assert textbook.column_similarity(first, second) == Fraction(3, 6)
    assert 1 - textbook.column_similarity(first, second) == Fraction(3, 6)


def test_four_sets_over_a_to_e_make_the_boolean_matrix_of_the_slide() -> None:
    # UNSW
    assert textbook.boolean_matrix(FOUR_SETS, elements="abcde") == FIVE_BY_FOUR


def test_s1_and_s3_have_similarity_1_4() -> None:
    # UNSW: intersection 1, union 4
    assert textbook.jaccard_similarity(FOUR_SETS[0], FOUR_SETS[2]) == Fraction(1, 4)


def test_the_distance_3_4_is_that_of_s1_and_s3_not_of_s1_and_s2_as_the_slide_writes() -> None:
    # UNSW prints "d(S1, S2) = 3/4" under the example for S1 and S3. S1 and S2 share nothing.
    assert textbook.jaccard_distance(FOUR_SETS[0], FOUR_SETS[2]) == Fraction(3, 4)
    assert textbook.jaccard_distance(FOUR_SETS[0], FOUR_SETS[1]) == 1
    assert textbook.jaccard_distance(FOUR_SETS[0], FOUR_SETS[1]) != Fraction(3, 4)


def test_the_sets_s_to_w_make_the_matrix_of_the_slide_and_t_has_shingle_4() -> None:
    # NNS: row 4 stands for the shingle "Data_min"
    sets = [{1, 2, 3, 5, 6}, {1, 4, 6, 7, 8}, {2, 5}, {1, 2, 3, 6, 7, 8}, {4, 5, 6, 7}]
    assert textbook.boolean_matrix(sets, elements=range(1, 9)) == EIGHT_BY_FIVE
    assert textbook.columns(EIGHT_BY_FIVE)[1][4 - 1] == 1


@pytest.mark.parametrize("matrix", [SEVEN_BY_FOUR, EIGHT_BY_FIVE, FIVE_BY_FOUR, SIX_ROWS])
def test_column_similarity_is_the_jaccard_similarity_of_the_sets_of_rows(
    matrix: textbook.Matrix,
) -> None:
    # all decks: a column stands for the set of rows in which it has a 1
    for left, right in textbook.list_pairs(textbook.columns(matrix)):
        rows_left, rows_right = ({i for i, bit in enumerate(c) if bit} for c in (left, right))
        assert textbook.column_similarity(left, right) == textbook.jaccard_similarity(
            rows_left, rows_right
        )


def test_six_rows_with_two_shared_of_five_have_similarity_0_4() -> None:
    # MMDS
    left, right = textbook.columns(((0, 1), (1, 0), (1, 1), (0, 0), (1, 1), (0, 1)))
    assert textbook.count_row_types(left, right) == textbook.RowTypes(a=2, b=1, c=2, d=1)
    assert textbook.column_similarity(left, right) == Fraction(2, 5) == Fraction("0.4")


def test_a_seventh_row_of_zeros_leaves_the_similarity_at_40_percent() -> None:
    # NNS: the example above with one more row 0 0
    left, right = textbook.columns(((0, 1), (1, 0), (1, 1), (0, 0), (1, 1), (0, 1), (0, 0)))
    assert textbook.count_row_types(left, right) == textbook.RowTypes(a=2, b=1, c=2, d=2)
    assert textbook.column_similarity(left, right) == Fraction(40, 100)


@pytest.mark.parametrize(
    ("left", "right", "kind"), [(1, 1, "a"), (1, 0, "b"), (0, 1, "c"), (0, 0, "d")]
)
def test_a_row_has_the_type_of_the_slide(left: int, right: int, kind: str) -> None:
    # UW, UNSW, MMDS, NNS
    none = {"a": 0, "b": 0, "c": 0, "d": 0}
    assert textbook.count_row_types([left], [right]) == textbook.RowTypes(**none | {kind: 1})


def test_the_columns_beside_the_row_types_have_one_row_each_of_a_b_c_and_three_of_d() -> None:
    # UW, and in UNSW, Masaryk, MMDS beside the min-hash property
    left, right = textbook.columns(SIX_ROWS)
    assert textbook.count_row_types(left, right) == textbook.RowTypes(a=1, b=1, c=1, d=3)
    assert textbook.column_similarity(left, right) == Fraction(1, 3)


def test_bits_of_sampled_rows_are_equal_for_columns_that_share_nothing() -> None:
    # NNS, on the idea that does not work: 100 sampled rows of a sparse matrix
    left, right = ([int(i == one) for i in range(1, 1001)] for one in (301, 702))
    sample = range(10, 1001, 10)
    assert len(sample) == 100
    assert textbook.sample_rows(left, rows=sample) == (0,) * 100
    assert textbook.sample_rows(left, rows=sample) == textbook.sample_rows(right, rows=sample)
    assert textbook.column_similarity(left, right) == 0
    assert textbook.sample_rows(left, rows=[300, 301, 302]) == (0, 1, 0)


def test_a_basket_of_three_items_has_the_three_pairs_of_the_slide() -> None:
    # MMDS, looking back at frequent pairs
    assert textbook.list_pairs([1, 2, 3]) == [(1, 2), (1, 3), (2, 3)]
