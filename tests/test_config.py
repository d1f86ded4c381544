from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from lookalike.config import Resources, Settings, Shingling, exact_threshold
from lookalike.errors import UsageError


@pytest.mark.parametrize("written", [0.8, "0.8", "0.80", "8e-1", Decimal("0.8"), Fraction(4, 5)])
def test_a_threshold_is_the_number_that_was_written(written):
    assert exact_threshold(written) == Fraction(4, 5)


@pytest.mark.parametrize(
    "written", [0, -1, 1.0001, "nan", "inf", "eighty", "", None, "0." + "1" * 30]
)
def test_a_threshold_that_is_none_is_refused(written):
    with pytest.raises(UsageError, match="threshold"):
        exact_threshold(written)


@pytest.mark.parametrize(
    ("text", "unit", "k"),
    [
        ("words", "words", 5),
        ("chars", "chars", 9),
        ("tokens", "tokens", 1),
        ("chars:3", "chars", 3),
    ],
)
def test_shingles_are_read_from_a_word(text, unit, k):
    shingling = Shingling.parse(text)
    assert (shingling.unit, shingling.k) == (unit, k)


@pytest.mark.parametrize(
    "text", ["", "word", "words:", "words:x", "words:-1", "words:0", "words:257", "chars:1.5"]
)
def test_other_shingles_are_refused(text):
    with pytest.raises(UsageError):
        Shingling.parse(text)


@pytest.mark.parametrize(
    "wrong",
    [
        {"recall": 0},
        {"recall": 1},
        {"recall": 1.5},
        {"seed": -1},
        {"seed": 2**64},
        {"bands": 5},
        {"rows": 5},
        {"bands": 0, "rows": 5},
        {"bands": 103, "rows": 10},
        {"sketch": "quick"},
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(UsageError):
        Settings(**wrong)


def test_an_unknown_profile_names_the_known_ones():
    with pytest.raises(UsageError, match="standard or none"):
        Shingling(normalise="nfd")


def test_zero_threads_are_all_cores():
    assert Resources().workers >= 1
    assert Resources(threads=3).workers == 3
    with pytest.raises(UsageError):
        Resources(threads=-1)
    with pytest.raises(UsageError):
        Resources(batch=0)
