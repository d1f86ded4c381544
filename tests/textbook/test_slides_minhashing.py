"""Worked examples about min-hashing by permutation (decks: see test_slides_shingling)."""

from fractions import Fraction
from itertools import permutations

import pytest

from lookalike import textbook

# UW, UNSW, Masaryk, MMDS: three permutations, left to right, and the matrix they permute
FIRST_ORDERS = ((2, 3, 7, 6, 1, 5, 4), (4, 2, 1, 3, 6, 7, 5), (3, 4, 7, 2, 6, 1, 5))
FIRST_MATRIX = (
    (1, 0, 1, 0),
    (1, 0, 0, 1),
    (0, 1, 0, 1),
    (0, 1, 0, 1),
    (0, 1, 0, 1),
    (1, 0, 1, 0),
    (1, 0, 1, 0),
)
FIRST_SIGNATURES = ((2, 1, 2, 1), (2, 1, 4, 1), (1, 2, 1, 2))
FIRST_SIGNATURES_AS_ROWS = ((1, 5, 1, 5), (2, 3, 1, 3), (6, 4, 6, 4))

# UNSW step by step, MMDS complete. The slides add each new permutation on the left, so the first
# row of the signature matrix belongs to the rightmost permutation; here they stand in time order.
SECOND_ORDERS = ((1, 2, 3, 4, 5, 6, 7), (7, 6, 5, 4, 3, 2, 1), (6, 3, 1, 7, 2, 5, 4))
SECOND_MATRIX = (
    (0, 1, 1, 0),
    (0, 0, 1, 1),
    (1, 0, 0, 0),
    (0, 1, 0, 1),
    (0, 0, 0, 1),
    (1, 1, 0, 0),
    (0, 0, 1, 0),
)
SECOND_SIGNATURES = ((3, 1, 1, 2), (2, 2, 1, 3), (1, 5, 3, 2))

# NNS; also drawn right to left. It differs from the first matrix in row 6.
THIRD_ORDERS = ((3, 4, 7, 6, 1, 2, 5), (4, 2, 1, 3, 6, 7, 5), (1, 3, 7, 6, 2, 5, 4))
THIRD_MATRIX = (*FIRST_MATRIX[:5], (1, 0, 0, 0), FIRST_MATRIX[6])
THIRD_SIGNATURES = ((2, 1, 3, 1), (2, 1, 4, 1), (1, 2, 1, 2))

EXAMPLES = [
    pytest.param(FIRST_MATRIX, FIRST_ORDERS, FIRST_SIGNATURES, id="UW-UNSW-Masaryk-MMDS"),
    pytest.param(SECOND_MATRIX, SECOND_ORDERS, SECOND_SIGNATURES, id="UNSW-MMDS"),
    pytest.param(THIRD_MATRIX, THIRD_ORDERS, THIRD_SIGNATURES, id="NNS"),
]

# UW, UNSW, Masaryk, MMDS: the columns beside the min-hash property
PROPERTY_COLUMNS = textbook.columns(((0, 0), (0, 0), (1, 1), (0, 0), (0, 1), (1, 0)))


@pytest.mark.parametrize(("matrix", "orders", "signatures"), EXAMPLES)
def test_the_permutations_of_the_slide_give_its_signature_matrix(
    matrix: textbook.Matrix,
    orders: tuple[textbook.Permutation, ...],
    signatures: textbook.SignatureMatrix,
) -> None:
    assert textbook.signature_matrix(matrix, orders) == signatures


@pytest.mark.parametrize("known", [1, 2, 3])
@pytest.mark.parametrize(("matrix", "orders", "signatures"), EXAMPLES)
def test_each_further_permutation_adds_one_row_as_the_slides_step_through_it(
    matrix: textbook.Matrix,
    orders: tuple[textbook.Permutation, ...],
    signatures: textbook.SignatureMatrix,
    known: int,
) -> None:
    # UW shows the matrix after 1, 2 and 3 permutations, as do UNSW and NNS.
    assert textbook.signature_matrix(matrix, orders[:known]) == signatures[:known]


@pytest.mark.parametrize(
    ("matrix", "orders", "signatures"),
    [
        pytest.param(SECOND_MATRIX, SECOND_ORDERS, SECOND_SIGNATURES, id="UNSW-MMDS"),
        pytest.param(THIRD_MATRIX, THIRD_ORDERS, THIRD_SIGNATURES, id="NNS"),
    ],
)
def test_two_of_the_slides_draw_permutations_right_to_left(
    matrix: textbook.Matrix,
    orders: tuple[textbook.Permutation, ...],
    signatures: textbook.SignatureMatrix,
) -> None:
    # Read left to right, as drawn, the permutations give the signature matrix upside down.
    drawn = orders[::-1]
    assert textbook.signature_matrix(matrix, drawn) == signatures[::-1]
    assert textbook.signature_matrix(matrix, drawn) != signatures


def test_storing_row_numbers_gives_the_other_signature_matrix_of_the_slide() -> None:
    # UNSW, Masaryk, MMDS
    by_row = textbook.signature_matrix(FIRST_MATRIX, FIRST_ORDERS, value=textbook.minhash_row)
    assert by_row == FIRST_SIGNATURES_AS_ROWS


def test_the_row_numbers_do_not_belong_to_the_example_that_comes_just_before_in_unsw() -> None:
    # UNSW shows the row numbers of the first example right after the second example.
    by_row = textbook.signature_matrix(SECOND_MATRIX, SECOND_ORDERS, value=textbook.minhash_row)
    assert by_row == ((3, 1, 1, 2), (6, 6, 7, 5), (3, 6, 2, 5))
    assert by_row != FIRST_SIGNATURES_AS_ROWS


def test_the_second_and_the_fourth_element_are_the_first_to_map_to_a_1() -> None:
    # Masaryk's captions: element 2 of permutation 1 for column 1, element 4 of permutation 2 for
    # column 3. The elements before them are rows with a 0.
    first, _, third, _ = textbook.columns(FIRST_MATRIX)
    down_first = [first[row - 1] for row in textbook.order_rows(FIRST_ORDERS[0])]
    down_third = [third[row - 1] for row in textbook.order_rows(FIRST_ORDERS[1])]
    assert (down_first[:2], down_third[:4]) == ([0, 1], [0, 0, 0, 1])
    assert FIRST_SIGNATURES[0][0] == 2
    assert FIRST_SIGNATURES[1][2] == 4


def test_the_first_second_and_third_row_are_rows_5_6_and_1() -> None:
    # NNS marks with arrows which rows come first under its first permutation.
    assert textbook.order_rows(THIRD_ORDERS[0])[:3] == [5, 6, 1]
    assert textbook.order_rows(THIRD_ORDERS[1])[0] == 3


def test_the_signature_of_s1_is_the_list_2_2_1() -> None:
    # NNS stresses that it is a list, not a set
    assert textbook.columns(THIRD_SIGNATURES)[0] == (2, 2, 1)
    matrix = textbook.signature_matrix(THIRD_MATRIX, THIRD_ORDERS)
    assert textbook.columns(matrix)[0] == (2, 2, 1)


@pytest.mark.parametrize(
    ("pair", "by_columns", "by_signatures"),
    [((1, 3), "0.75", "0.67"), ((2, 4), "0.75", "1.00"), ((1, 2), "0", "0"), ((3, 4), "0", "0")],
)
def test_the_similarity_table_of_the_first_example(
    pair: tuple[int, int], by_columns: str, by_signatures: str
) -> None:
    # UW, UNSW, Masaryk, MMDS
    check_similarities(FIRST_MATRIX, FIRST_ORDERS, pair, (by_columns, by_signatures))


@pytest.mark.parametrize(
    ("pair", "by_columns", "by_signatures"),
    [((1, 3), "0.50", "0.33"), ((2, 4), "0.75", "1.00"), ((1, 2), "0", "0"), ((3, 4), "0", "0")],
)
def test_the_similarity_table_of_the_near_neighbour_example(
    pair: tuple[int, int], by_columns: str, by_signatures: str
) -> None:
    # NNS
    check_similarities(THIRD_MATRIX, THIRD_ORDERS, pair, (by_columns, by_signatures))


def check_similarities(
    matrix: textbook.Matrix,
    orders: tuple[textbook.Permutation, ...],
    pair: tuple[int, int],
    printed: tuple[str, str],
) -> None:
    """Compare both similarities of a pair (columns from 1) with the two decimals of the slide."""
    i, j = (number - 1 for number in pair)
    items = textbook.columns(matrix)
    signatures = textbook.columns(textbook.signature_matrix(matrix, orders))
    similarities = (
        textbook.column_similarity(items[i], items[j]),
        textbook.signature_similarity(signatures[i], signatures[j]),
    )
    assert [round(value, 2) for value in similarities] == [Fraction(text) for text in printed]


def test_the_similarity_tables_leave_out_the_one_pair_whose_shared_row_no_min_hash_shows() -> None:
    # UW, UNSW, Masaryk, MMDS, NNS list four of six pairs. Columns 1 and 4 share row 2 of 7, and
    # no min-hash shows it; columns 2 and 3 share nothing, and no min-hash says otherwise.
    signatures = textbook.columns(textbook.signature_matrix(FIRST_MATRIX, FIRST_ORDERS))
    items = textbook.columns(FIRST_MATRIX)
    assert textbook.column_similarity(items[0], items[3]) == Fraction(1, 7)
    assert textbook.signature_similarity(signatures[0], signatures[3]) == 0
    assert textbook.column_similarity(items[1], items[2]) == 0
    assert textbook.signature_similarity(signatures[1], signatures[2]) == 0


def test_s1_and_s3_are_estimated_as_1_3() -> None:
    # NNS: they agree in the last of three rows only
    s1, _, s3, _ = textbook.columns(THIRD_SIGNATURES)
    assert [x == y for x, y in zip(s1, s3, strict=True)] == [False, False, True]
    assert textbook.signature_similarity(s1, s3) == Fraction(1, 3)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param(*PROPERTY_COLUMNS, id="property"),
        pytest.param((0, 1, 1, 0, 1, 0), (1, 0, 1, 0, 1, 1), id="MMDS-column-similarity"),
        pytest.param((1, 0, 1, 1, 0), (0, 1, 1, 0, 1), id="row-hashing-example"),
        pytest.param((1, 0, 1, 1, 1), (1, 0, 0, 1, 1), id="bit-vectors"),
        pytest.param((1, 0, 0, 1, 0), (0, 0, 1, 1, 1), id="UNSW-S1-S3"),
        pytest.param((1, 0, 0, 1, 0), (0, 0, 1, 0, 0), id="UNSW-S1-S2"),
    ],
)
def test_over_all_permutations_min_hashes_agree_exactly_as_often_as_the_similarity(
    left: textbook.Column, right: textbook.Column
) -> None:
    # all decks: Pr[h(C1) = h(C2)] = sim(C1, C2) = a / (a + b + c)
    assert textbook.minhash_agreement(left, right) == textbook.column_similarity(left, right)


def test_the_property_columns_agree_in_240_of_720_permutations() -> None:
    # UW, UNSW, Masaryk, MMDS: similarity 1/3
    assert textbook.minhash_agreement(*PROPERTY_COLUMNS) == Fraction(240, 720)


@pytest.mark.parametrize("column", [(0, 0, 1, 0, 0, 1), (1, 0, 1, 1, 0), (1, 1, 1, 1)])
def test_each_element_of_a_set_is_first_in_1_of_its_size_of_all_permutations(
    column: textbook.Column,
) -> None:
    # UW, UNSW, Masaryk, MMDS: Pr[π(z) = min π(X)] = 1 / |X|
    orders = list(permutations(range(1, len(column) + 1)))
    firsts = [textbook.minhash_row(column, order) for order in orders]
    members = [row for row, bit in enumerate(column, start=1) if bit]
    shares = [Fraction(firsts.count(row), len(orders)) for row in members]
    assert shares == [Fraction(1, len(members))] * len(members)


def test_look_down_to_the_first_1_and_a_type_a_row_means_equal_min_hashes() -> None:
    # UW, UNSW, MMDS, NNS: type a, equal; type b or c, not
    left, right = PROPERTY_COLUMNS
    for order in permutations(range(1, 7)):
        rows = [(left[row - 1], right[row - 1]) for row in textbook.order_rows(order)]
        first = next(row for row in rows if row != (0, 0))
        equal = textbook.minhash(left, order) == textbook.minhash(right, order)
        assert equal == (first == (1, 1))


@pytest.mark.parametrize("matrix", [FIRST_MATRIX, SECOND_MATRIX])
def test_row_numbers_and_places_agree_on_which_min_hashes_are_equal(
    matrix: textbook.Matrix,
) -> None:
    # UW, MMDS, on the subtle point: either will do, if used throughout
    pairs = textbook.list_pairs(textbook.columns(matrix))
    for order in list(permutations(range(1, 8)))[::7]:
        for left, right in pairs:
            by_place = textbook.minhash(left, order) == textbook.minhash(right, order)
            by_row = textbook.minhash_row(left, order) == textbook.minhash_row(right, order)
            assert by_place == by_row
