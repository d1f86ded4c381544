"""Worked examples about the cost of comparing (decks: see test_slides_shingling)."""

from fractions import Fraction

from lookalike import textbook

MICROSECOND_RATE = 10**6
MILLISECOND_RATE = 10**3
DAY = 24 * 60 * 60
SLIDE_DAY = 10**5


def test_a_million_documents_make_about_5_times_10_to_the_11_pairs() -> None:
    # UW, UNSW, MMDS, NNS
    pairs = textbook.count_pairs(10**6)
    assert pairs == 499_999_500_000
    assert round(pairs, -9) == 5 * 10**11


def test_they_take_5_of_the_slides_long_days_but_5_8_days_of_86400_seconds() -> None:
    # UW, UNSW, MMDS: a day of 10^5 seconds, 5 days. NNS: 6 days. A day has 86,400 seconds.
    seconds = textbook.count_seconds(textbook.count_pairs(10**6), per_second=MICROSECOND_RATE)
    assert round(seconds / SLIDE_DAY) == 5
    assert round(seconds / DAY, 1) == Fraction("5.8")
    assert round(seconds / DAY) == 6
    assert round(seconds / DAY) != 5


def test_ten_million_documents_take_more_than_a_year() -> None:
    # UW, UNSW, MMDS: true with either day
    seconds = textbook.count_seconds(textbook.count_pairs(10**7), per_second=MICROSECOND_RATE)
    assert round(seconds / SLIDE_DAY) == 500
    assert round(seconds / DAY) == 579
    assert min(seconds / SLIDE_DAY, seconds / DAY) > 365


def test_10000_documents_make_49995000_pairs_and_14_hours_of_milliseconds() -> None:
    # NNS
    pairs = textbook.count_pairs(10_000)
    assert pairs == 49_995_000
    assert round(textbook.count_seconds(pairs, per_second=MILLISECOND_RATE) / 3600) == 14


def test_100000_documents_make_4999950000_pairs_which_is_the_slides_5_billion() -> None:
    # NNS exactly, MMDS rounded to 5,000,000,000
    pairs = textbook.count_pairs(100_000)
    assert pairs == 4_999_950_000
    assert round(pairs, -6) == 5_000_000_000


def test_100000_signatures_of_100_integers_take_40_megabytes_not_40_megabits() -> None:
    # UW: 40MB. UNSW, Masaryk, MMDS, NNS: 40Mb, which is the sign for bits; it would be 320 Mb.
    size = textbook.count_signature_bytes(100_000, rows=100)
    assert size == 40 * 10**6
    bits = 8 * size
    assert bits == 320 * 10**6
    assert bits != 40 * 10**6


def test_a_signature_of_100_integers_takes_400_bytes_not_the_100_of_the_slide() -> None:
    # UNSW, MMDS: "~100 bytes" for 100 min-hashes, which contradicts their 40 MB for 100,000
    size = textbook.count_signature_bytes(1, rows=100)
    assert size == 400
    assert size != 100
    assert size * 100_000 == 40 * 10**6
    assert textbook.count_signature_bytes(1, rows=100, integer_bytes=1) == 100
