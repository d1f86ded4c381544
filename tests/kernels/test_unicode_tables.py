"""The frozen Unicode tables against Python's own `unicodedata`, where both know a character.

Python's tables change with the interpreter; what is assigned never loses its normalisation. So
characters are taken from the frozen tables, as far as this Python has them too, and all others
only if this Python knows none that the tables do not.
"""

from __future__ import annotations

import random
import unicodedata
from itertools import pairwise

import numpy as np
import pytest

from lookalike import kernels
from lookalike.kernels import reference

TABLES = reference.unicode()
FORMS = ("NFC", "NFD", "NFKC", "NFKD")
SYLLABLES = range(0xAC00, 0xD7A4)
UNASSIGNED = {"Cn", "Co", "Cs"}  # reserved, for private use, surrogates
IOTA_BELOW = "\u0345"

# Default_Ignorable_Code_Point, other than format characters (category Cf).
IGNORABLE = {
    *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0),
    *range(0x180B, 0x1810),
    *range(0xFE00, 0xFE10),
    *range(0xE0100, 0xE01F0),
}


def version(text):
    return tuple(map(int, text.split(".")))


def known(codes):
    """Return those that are assigned in this Python's version of Unicode, in order."""
    assigned = (code for code in codes if unicodedata.category(chr(code)) not in UNASSIGNED)
    return sorted(set(assigned))


DECOMPOSABLE = known(TABLES.decompose)
COMBINING = known(TABLES.combining)
FOLDED = known(TABLES.fold)
FIRSTS, SECONDS = (known(pair[side] for pair in TABLES.compose) for side in (0, 1))
PYTHON_IS_OLDER = version(unicodedata.unidata_version) <= version(TABLES.version)
EVERYTHING = (
    known(range(0x110000))
    if PYTHON_IS_OLDER
    else known([*range(0x250), *SYLLABLES, *DECOMPOSABLE, *COMBINING, *FOLDED])
)


def random_texts(count, *, seed, longest=6):
    """Return short texts of characters that interact: marks, jamo, composites, what is folded."""
    pools = [
        *(EVERYTHING, DECOMPOSABLE, COMBINING, FOLDED, FIRSTS, SECONDS),
        range(0x1100, 0x1200),
        SYLLABLES,
        [ord(char) for char in "aAΑαι\u0301\u0323\u0327\u0338"],
        [ord(char) for char in " \u00ad\u200d\u034f\ufe0f\u3000"],
    ]
    rng = random.Random(seed)
    return [
        "".join(chr(rng.choice(rng.choice(pools))) for _ in range(rng.randint(1, longest)))
        for _ in range(count)
    ]


def nfc(text):
    return "".join(map(chr, reference.nfc([ord(char) for char in text])))


def standard(text):
    return reference.normalised(text.encode(), "standard")


def by_python(text):
    """Return NFKC_Casefold by Python's own tables, format and ignorable characters dropped."""
    text = unicodedata.normalize("NFD", text)
    for _ in range(2):  # folding may undo NFKC, and NFKC may bring what is to be folded
        text = unicodedata.normalize("NFKC", text.casefold())
    kept = (c for c in text if unicodedata.category(c) != "Cf" and ord(c) not in IGNORABLE)
    return "".join(kept)


def native_characters(texts, profile):
    """Return the characters of each text as the native kernel normalises it."""
    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    data = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    flat, bounds, starts = kernels.tokenise(data, offsets, "chars", profile)
    joined, cuts = flat.tobytes(), bounds.tolist()
    return [joined[cuts[a] : cuts[b]].decode() for a, b in pairwise(starts.tolist())]


def differing(texts, one, other):
    """Return the code points of the texts that two functions do not treat alike."""
    return [[f"{ord(char):04X}" for char in text] for text in texts if one(text) != other(text)]


def python_nfc(text):
    return unicodedata.normalize("NFC", text)


def test_both_implementations_have_the_same_version():
    assert kernels.UNICODE == TABLES.version == "15.0.0"


def test_every_character_composes_as_in_python():
    assert not differing(map(chr, EVERYTHING), nfc, python_nfc)


def test_every_composite_with_a_mark_composes_as_in_python():
    """The marks: all that compose with something, and one of every combining class."""
    by_class = {TABLES.combining[code]: code for code in COMBINING}
    marks = sorted({code for code in SECONDS if code < 0x1100} | set(by_class.values()))
    assert len(marks) > 100
    texts = (chr(code) + chr(mark) for code in DECOMPOSABLE for mark in marks)
    assert not differing(texts, nfc, python_nfc)


def test_random_sequences_compose_as_in_python():
    assert not differing(random_texts(20_000, seed=1), nfc, python_nfc)


def test_every_hangul_syllable_is_composed_from_its_parts():
    parts = (unicodedata.normalize("NFD", chr(code)) for code in SYLLABLES)
    assert [nfc(text) for text in parts] == [chr(code) for code in SYLLABLES]


def test_every_character_is_folded_as_by_python_less_what_is_ignorable():
    assert not differing(map(chr, EVERYTHING), standard, by_python)


def test_random_sequences_are_folded_as_by_python_less_what_is_ignorable():
    """What is ignored is left out beforehand: Python drops it after it has kept marks apart."""

    def is_ignored(char):
        return unicodedata.category(char) == "Cf" or ord(char) in IGNORABLE

    drawn = random_texts(20_000, seed=2)
    texts = ["".join(c for c in text if not is_ignored(c)) for text in drawn]
    assert not differing(without_iota_below(texts), standard, by_python)


def without_iota_below(texts):
    return [text for text in texts if IOTA_BELOW not in unicodedata.normalize("NFD", text)]


def test_normalising_twice_changes_nothing():
    texts = [*map(chr, FOLDED), *random_texts(20_000, seed=3)]
    assert not differing(map(standard, texts), standard, str)


@pytest.mark.parametrize("form", FORMS)
def test_equivalent_texts_normalise_alike(form):
    """Whatever Unicode holds for the same text, canonically or by compatibility, is the same."""
    texts = [*map(chr, EVERYTHING), *without_iota_below(random_texts(20_000, seed=4))]
    unlike = [text for text in texts if not unicodedata.is_normalized(form, text)]
    assert len(unlike) > 1000

    def normalised_first(text):
        return standard(unicodedata.normalize(form, text))

    assert not differing(unlike, standard, normalised_first)


def test_polytonic_greek_normalises_alike_in_all_four_forms():
    text = "ᾍδης, τῷ λόγῳ τῆς ᾠδῆς· ΤΩΙ ᾼΔΗΙ ᾄδει ᾖσεν ᾧτινι"
    forms = {standard(unicodedata.normalize(form, text)) for form in FORMS}
    assert len(forms) == 1


# A letter with iota below: marks typed last, marks unordered, the dot of an uncertain reading.
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("\u1fb3\u0301", "\u1fb4"),
        ("α\u0345\u0301", "α\u0301\u0345"),
        ("\u1fb3\u0323", "α\u0323\u0345"),
    ],
)
def test_greek_with_iota_below_and_other_marks_normalises_alike(one, other):
    assert unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)
    assert standard(one) == standard(other)


@pytest.mark.parametrize("profile", ["standard", "none"])
def test_the_native_tables_give_what_the_specification_gives(profile):
    texts = [*map(chr, EVERYTHING), *random_texts(30_000, seed=5, longest=12)]
    expected = (
        "".join(reference.characters(reference.normalised(text.encode(), profile), profile))
        for text in texts
    )
    found = native_characters(texts, profile)
    pairs = zip(texts, found, expected, strict=True)
    assert not [(text, one, other) for text, one, other in pairs if one != other]


def test_text_without_normalisation_is_left_as_it_is():
    texts = random_texts(2000, seed=6)
    assert native_characters(texts, "none") == texts
