"""Worked examples about shingles from five lecture decks.

The decks, as the comments below name them:

- UW: CSEP 590A, Machine Learning for Big Data (000_d2df3ef4)
- UNSW: COMP9313, Big Data Management (001_a178de0e)
- Masaryk: PA212, Advanced Search Techniques (002_3eb73b97)
- MMDS: Mining of Massive Datasets, chapter 3 (003_a42ed15f)
- NNS: Near-Neighbor Search, adapted from MMDS (004_a54cc5bd)
"""

import unicodedata
from fractions import Fraction

import pytest

from lookalike import textbook

WHICH = "The dog which chased the cat"
THAT = "The dog that chased the cat"

# The start of the Greek sentence on the NNS slides and the 5-shingles printed next to it.
GREEK = "Η χρησιμοποίηση δεδομένων στη λήψη σωστών, έγκυρων και έγκαιρων αποφάσεων"
GREEK_PRINTED = ["H_Χρη", "_Χρησ", "Χρησι", "ρησιμ", "ησιμο", "σιμοπ", "ιμοπο", "μοποι"]


def fold(text: str) -> str:
    """Drop accents and case, and take the slides' Latin H for the Greek Eta it looks like."""
    letters = unicodedata.normalize("NFD", text.replace("H", "Η").replace("_", " "))
    return "".join(c for c in letters if unicodedata.category(c) != "Mn").casefold()


def test_abcab_has_the_three_2_shingles_of_the_slide() -> None:
    # UW, UNSW, Masaryk, MMDS
    assert textbook.shingle_characters("abcab", k=2) == {"ab", "bc", "ca"}


def test_abcab_as_a_bag_counts_ab_twice() -> None:
    # UNSW, Masaryk, MMDS: the bag {ab, bc, ca, ab}
    bag = textbook.count_characters("abcab", k=2)
    assert sorted(bag.elements()) == sorted(["ab", "bc", "ca", "ab"])


def test_the_shingles_of_abcab_hash_to_1_5_7() -> None:
    # UW, UNSW, Masaryk, MMDS name the hash values, not the hash function: it is given as a table.
    table = {"ab": 1, "bc": 5, "ca": 7}
    shingles = textbook.shingle_characters("abcab", k=2)
    assert textbook.hash_shingles(shingles, function=table.__getitem__) == {1, 5, 7}


def test_a_hashed_shingle_takes_four_bytes() -> None:
    # UW, UNSW, Masaryk, MMDS: long shingles are compressed to 4 bytes.
    hashes = textbook.hash_shingles(textbook.shingle_characters(WHICH, k=9))
    assert len(hashes) == len(WHICH) - 8
    assert max(hashes) < 2**32
    assert max(hashes) >= 2**24


def test_documents_may_seem_to_share_a_shingle_when_only_its_hash_is_shared() -> None:
    # UNSW, Masaryk, MMDS warn of this; these two words have the same CRC-32.
    left, right = ({word} for word in ("plumless", "buckeroo"))
    assert textbook.jaccard_similarity(left, right) == 0
    assert (
        textbook.jaccard_similarity(textbook.hash_shingles(left), textbook.hash_shingles(right))
        == 1
    )


def test_which_for_that_replaces_exactly_the_seven_3_shingles_of_the_slide() -> None:
    # UNSW, MMDS; the slide prints a blank as "_".
    printed = ["g_w", "_wh", "whi", "hic", "ich", "ch_", "h_c"]
    lost = textbook.shingle_characters(WHICH, k=3) - textbook.shingle_characters(THAT, k=3)
    assert lost == {shingle.replace("_", " ") for shingle in printed}


def test_the_seven_are_replaced_by_five_because_one_of_six_was_there_before() -> None:
    # UNSW, MMDS do not list the new ones: g_t, tha, hat, at_, t_c, and _th, known from " the".
    before, after = (textbook.shingle_characters(text, k=3) for text in (WHICH, THAT))
    assert after - before == {"g t", "tha", "hat", "at ", "t c"}
    assert " th" in before & after
    assert textbook.jaccard_similarity(before, after) == Fraction(18, 30)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_changing_a_word_touches_only_windows_within_k_minus_1_of_it(k: int) -> None:
    # UW, UNSW, MMDS: so the 5 letters of "which" lie in 5 + (k - 1) windows.
    start = WHICH.index("which")
    marked = WHICH.replace("which", "#####")
    pairs = zip(textbook.slide_window(WHICH, k=k), textbook.slide_window(marked, k=k), strict=True)
    changed = [place for place, (old, new) in enumerate(pairs) if old != new]
    assert changed == list(range(start - (k - 1), start + len("which")))


def test_reordering_two_paragraphs_changes_2_times_k_minus_1_shingles_not_2k() -> None:
    # UNSW, MMDS say 2k. A cut lies inside k - 1 windows: k - 1 go and k - 1 come, 2k - 2 together.
    k, first, second = 4, "abcdefghij", "klmnopqrst"
    before = textbook.shingle_characters(first + second, k=k)
    after = textbook.shingle_characters(second + first, k=k)
    assert len(before - after) == len(after - before) == k - 1
    assert len(before ^ after) == 2 * (k - 1)
    assert len(before ^ after) != 2 * k


def test_reordering_inner_paragraphs_cuts_at_three_places_so_2k_is_not_even_a_bound() -> None:
    # UNSW, MMDS say 2k; swapping paragraphs 2 and 3 of 4 loses 3(k - 1) shingles.
    k, (one, two, three, four) = 4, ("abcdefg", "hijklmn", "opqrstu", "vwxyzAB")
    before = textbook.shingle_characters(one + two + three + four, k=k)
    after = textbook.shingle_characters(one + three + two + four, k=k)
    assert len(before - after) == 3 * (k - 1)
    assert len(before - after) > 2 * k


def test_a_small_k_makes_unrelated_texts_equal_and_a_larger_one_tells_them_apart() -> None:
    # UNSW: with k = 1 nearly all pages are similar. UNSW, Masaryk, MMDS, NNS: 5 suits short texts.
    left = "the quick brown fox jumps over the lazy dog"
    right = "pack my box with five dozen liquor jugs"
    similarity = {
        k: textbook.jaccard_similarity(
            textbook.shingle_characters(left, k=k), textbook.shingle_characters(right, k=k)
        )
        for k in (1, 5)
    }
    assert similarity == {1: 1, 5: 0}


def test_a_set_of_single_words_loses_their_order_and_word_shingles_keep_it() -> None:
    # Masaryk, MMDS ask why a set of words will not do.
    left, right = "dog bites man", "man bites dog"
    assert textbook.shingle_words(left, k=1) == textbook.shingle_words(right, k=1)
    assert textbook.shingle_words(left, k=2) == {("dog", "bites"), ("bites", "man")}
    assert textbook.shingle_words(right, k=2).isdisjoint(textbook.shingle_words(left, k=2))


def test_the_greek_sentence_gives_the_slides_5_shingles_up_to_case_and_accents() -> None:
    # NNS
    windows = ["".join(window) for window in textbook.slide_window(GREEK, k=5)]
    assert [fold(window) for window in windows[:8]] == [fold(shingle) for shingle in GREEK_PRINTED]


def test_four_of_the_eight_greek_shingles_on_the_slide_do_not_occur_in_its_sentence() -> None:
    # NNS prints a capital Χ for χ in the first three (and a Latin H for Η) and drops the accent
    # of the last. Taken literally, only the four between them are shingles of the sentence.
    printed = [shingle.replace("_", " ") for shingle in GREEK_PRINTED]
    true = ["Η χρη", " χρησ", "χρησι", "ρησιμ", "ησιμο", "σιμοπ", "ιμοπο", "μοποί"]
    shingles = textbook.shingle_characters(GREEK, k=5)
    assert set(true) <= shingles
    assert [shingle for shingle in printed if shingle in shingles] == true[3:7]


def test_the_shingle_named_on_the_matrix_slide_has_the_k_it_states() -> None:
    # NNS: "Data_min" with k = 8
    shingles = textbook.shingle_characters("Data mining", k=8)
    assert shingles == {"Data min", "ata mini", "ta minin", "a mining"}


def test_a_3_by_3_image_is_a_vector_of_its_nine_pixels() -> None:
    # UNSW, MMDS
    image = [[1, 2, 1], [0, 2, 1], [0, 1, 0]]
    assert textbook.flatten(image) == [1, 2, 1, 0, 2, 1, 0, 1, 0]
