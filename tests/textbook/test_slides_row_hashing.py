"""Worked examples about one-pass min-hashing (decks: see test_slides_shingling)."""

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

from lookalike import textbook

INF = textbook.INFINITY

# UW, UNSW, MMDS, NNS: rows 1 to 5 of columns C1 and C2
TWO_COLUMNS = ((1, 0), (0, 1), (1, 1), (1, 0), (0, 1))

# UNSW: rows 0 to 4 of columns S1 to S4
FOUR_COLUMNS = ((1, 0, 0, 1), (0, 0, 1, 0), (0, 1, 0, 1), (1, 0, 1, 1), (0, 0, 1, 0))


def linear(a: int, b: int) -> textbook.RowHash:
    """Make (a·x + b) mod 5 as a universal hash: the prime is above every a·x + b used here."""
    return textbook.universal_hash(a, b, prime=101, buckets=5)


def trace_two(*hashes: textbook.RowHash) -> list[textbook.SignatureMatrix]:
    """Trace C1 and C2, whose rows are numbered from 1."""
    rows = textbook.number_rows(TWO_COLUMNS, first=1)
    return list(textbook.trace_signatures(rows, hashes, items=2))


def trace_four(*hashes: textbook.RowHash) -> list[textbook.SignatureMatrix]:
    """Trace S1 to S4, whose rows are numbered from 0."""
    rows = textbook.number_rows(FOUR_COLUMNS, first=0)
    return list(textbook.trace_signatures(rows, hashes, items=4))


@pytest.mark.parametrize(
    ("a", "b", "first", "printed"),
    [
        pytest.param(1, 0, 1, [1, 2, 3, 4, 0], id="h-UW-UNSW-MMDS-NNS"),
        pytest.param(2, 1, 1, [3, 0, 2, 4, 1], id="g-UW-UNSW-MMDS-NNS"),
        pytest.param(3, 1, 1, [4, 2, 0, 3, 1], id="z-NNS"),
        pytest.param(1, 1, 0, [1, 2, 3, 4, 0], id="h1-UNSW"),
        pytest.param(3, 1, 0, [1, 4, 2, 0, 3], id="h2-UNSW"),
    ],
)
def test_the_hash_functions_of_the_slides_have_their_values_on_five_rows(
    a: int, b: int, first: int, printed: list[int]
) -> None:
    function = linear(a, b)
    assert [function(x) for x in range(first, first + 5)] == printed


def test_the_trace_of_h_and_g_is_the_one_of_the_slide() -> None:
    # UW, UNSW, MMDS: h(x) = x mod 5, g(x) = (2x + 1) mod 5; per step (h of C1, C2), (g of C1, C2)
    assert trace_two(linear(1, 0), linear(2, 1)) == [
        ((1, INF), (3, INF)),
        ((1, 2), (3, 0)),
        ((1, 2), (2, 0)),
        ((1, 2), (2, 0)),
        ((1, 0), (2, 0)),
    ]


def test_the_trace_of_h_g_and_z_is_the_one_of_the_slide() -> None:
    # NNS: the third function is z(r) = (3r + 1) mod 5; the slide writes "-" for ∞
    assert trace_two(linear(1, 0), linear(2, 1), linear(3, 1)) == [
        ((1, INF), (3, INF), (4, INF)),
        ((1, 2), (3, 0), (4, 2)),
        ((1, 2), (2, 0), (0, 0)),
        ((1, 2), (2, 0), (0, 0)),
        ((1, 0), (2, 0), (0, 0)),
    ]


def test_the_estimate_from_h_g_and_z_is_1_3_where_the_similarity_is_1_5() -> None:
    # NNS
    c1, c2 = textbook.columns(trace_two(linear(1, 0), linear(2, 1), linear(3, 1))[-1])
    assert (c1, c2) == ((1, 2, 0), (0, 0, 0))
    assert textbook.signature_similarity(c1, c2) == Fraction(1, 3)
    assert textbook.column_similarity(*textbook.columns(TWO_COLUMNS)) == Fraction(1, 5)


def test_one_hash_function_puts_the_first_1_of_c1_at_2_and_of_c2_at_0() -> None:
    # NNS: h1(r) = (2r + 1) mod 5, by the one pass and by sorting the rows under h1
    assert trace_two(linear(2, 1))[-1] == ((2, 0),)
    order = [linear(2, 1)(row) + 1 for row in range(1, 6)]
    assert textbook.order_rows(order) == [2, 5, 3, 1, 4]
    assert textbook.signature_matrix(TWO_COLUMNS, [order]) == ((2 + 1, 0 + 1),)


def test_the_slots_start_at_infinity() -> None:
    # UNSW, step 0; UW and the text of MMDS
    assert textbook.blank_signatures(hashes=2, items=4) == [[INF] * 4, [INF] * 4]


def test_the_loop_needs_that_start_which_two_decks_leave_out_of_their_program() -> None:
    # MMDS and NNS print the loop without setting M(i, c) to ∞ first. Starting from 0, which is
    # what memory often holds, no min-hash could ever be seen.
    slots = [[0.0, 0.0]]
    for row in textbook.number_rows(TWO_COLUMNS, first=1):
        textbook.take_row(slots, row, [linear(2, 1)])
    assert slots == [[0, 0]]
    assert trace_two(linear(2, 1))[-1] == ((2, 0),)


def test_the_trace_of_four_columns_is_the_one_of_the_slide() -> None:
    # UNSW: h1(x) = (x + 1) mod 5, h2(x) = (3x + 1) mod 5
    assert trace_four(linear(1, 1), linear(3, 1)) == [
        ((1, INF, INF, 1), (1, INF, INF, 1)),
        ((1, INF, 2, 1), (1, INF, 4, 1)),
        ((1, 3, 2, 1), (1, 2, 4, 1)),
        ((1, 3, 2, 1), (0, 2, 0, 0)),
        ((1, 3, 0, 1), (0, 2, 0, 0)),
    ]


@pytest.mark.parametrize(("row", "printed"), [(3, (4, 0)), (4, (0, 3))])
def test_the_values_printed_as_those_of_row_2_belong_to_rows_3_and_4(
    row: int, printed: tuple[int, int]
) -> None:
    # UNSW writes "h1(2)" and "h2(2)" in the steps for rows 3 and 4; the values are right.
    h1, h2 = linear(1, 1), linear(3, 1)
    assert (h1(row), h2(row)) == printed
    assert (h1(2), h2(2)) == (3, 2) != printed


def test_s1_and_s4_look_equal_by_signature_where_the_similarity_is_2_3() -> None:
    # UNSW
    s1, _, _, s4 = textbook.columns(trace_four(linear(1, 1), linear(3, 1))[-1])
    assert textbook.signature_similarity(s1, s4) == 1
    first, _, _, fourth = textbook.columns(FOUR_COLUMNS)
    assert textbook.column_similarity(first, fourth) == Fraction(2, 3)


def test_the_minima_of_three_string_hashes_make_the_signature_5_25_412() -> None:
    # NNS prints the first hash values of eight Greek shingles and "..." for the rest, which can
    # only be larger than the minimum it marks.
    shingles = ["Η χρη", " χρησ", "χρησι", "ρησιμ", "ησιμο", "σιμοπ", "ιμοπο", "μοποί"]
    printed = (
        (175, 2816, 91771, 174, 5, 1882),
        (25, 216, 151, 317, 52, 84),
        (6521, 635, 9002, 412, 884),
    )
    tables = [dict(zip(shingles, values, strict=False)) for values in printed]
    hashes = [lambda shingle, table=table: table.get(shingle, 10**6) for table in tables]
    assert textbook.sign(shingles, hashes) == (5, 25, 412)
    assert textbook.sign(shingles[:1], hashes) == (175, 25, 6521)


def test_signing_a_set_alone_equals_the_one_pass_over_all_rows() -> None:
    # NNS: hash the elements of one set and keep the least, without a matrix
    hashes = [linear(1, 0), linear(2, 1), linear(3, 1)]
    sets = [{1, 3, 4}, {2, 3, 5}]
    assert [textbook.sign(rows, hashes) for rows in sets] == [(1, 2, 0), (0, 0, 0)]
    assert textbook.columns(trace_two(*hashes)[-1]) == ((1, 2, 0), (0, 0, 0))


def test_data_stored_by_column_gives_the_same_signatures_after_one_sort_by_row() -> None:
    # NNS: list (row, column) pairs and sort them once
    rows = list(textbook.sort_by_row([{1, 3, 4}, {2, 3, 5}]))
    assert rows == list(textbook.number_rows(TWO_COLUMNS, first=1))
    hashes = [linear(1, 0), linear(2, 1)]
    assert textbook.one_pass_signatures(rows, hashes, items=2) == ((1, 0), (2, 0))


def test_a_row_is_hashed_once_per_function_however_many_ones_it_has() -> None:
    # UW says so; NNS hashes inside the loop over columns, once for each 1
    calls: Counter[int] = Counter()

    def counting(row: int) -> int:
        calls[row] += 1
        return row

    trace_two(counting)
    assert calls == {1: 1, 2: 1, 3: 1, 4: 1, 5: 1}
    assert sum(map(sum, TWO_COLUMNS)) == 6


def test_a_prime_not_above_n_is_refused() -> None:
    # UW, UNSW, Masaryk, MMDS: p > N
    with pytest.raises(ValueError, match="larger prime"):
        textbook.universal_hash(2, 1, prime=5, buckets=5)


def test_a_multiplier_of_zero_is_refused_though_the_slides_allow_any_integer() -> None:
    # UW, UNSW, Masaryk, MMDS: "random integers" a and b; with a ≡ 0 every row has the hash b
    with pytest.raises(ValueError, match="hash alike"):
        textbook.universal_hash(14, 3, prime=7, buckets=5)


def test_a_row_hash_is_only_nearly_a_permutation_because_the_second_mod_makes_ties() -> None:
    # UW, UNSW, Masaryk, MMDS say that the order under a hash function is a random permutation
    # (MMDS and NNS also: a good approximation). Rows 0 and 4 are tied here, so that two sets
    # with nothing in common get equal min-hashes.
    function = textbook.universal_hash(3, 0, prime=7, buckets=5)
    assert [function(row) for row in range(5)] == [0, 3, 1, 2, 0]
    assert textbook.sign({0}, [function]) == textbook.sign({4}, [function])
    assert textbook.jaccard_similarity({0}, {4}) == 0


def test_over_the_whole_family_two_rows_collide_with_probability_2_21_and_not_0() -> None:
    # With p = 7 and N = 5, two rows go to each of the 42 ordered pairs of different residues
    # equally often; (0, 5), (5, 0), (1, 6), (6, 1) are equal mod 5. That is 4/42, below 1/N.
    family = [
        textbook.universal_hash(a, b, prime=7, buckets=5) for a, b in product(range(1, 7), range(7))
    ]
    ties = sum(function(0) == function(4) for function in family)
    assert Fraction(ties, len(family)) == Fraction(2, 21) < Fraction(1, 5)


def test_drawn_hashes_are_members_of_the_family_and_depend_on_the_seed_alone() -> None:
    # UW, UNSW, Masaryk, MMDS: K = 100 functions
    hashes = textbook.draw_hashes(100, seed=7, prime=101, buckets=50)
    values = [tuple(function(x) for x in range(101)) for function in hashes]
    family = {
        tuple((a * x + b) % 101 % 50 for x in range(101))
        for a, b in product(range(1, 101), range(101))
    }
    assert set(values) <= family
    assert len(set(values)) > 90
    again = textbook.draw_hashes(100, seed=7, prime=101, buckets=50)
    assert values == [tuple(function(x) for x in range(101)) for function in again]
