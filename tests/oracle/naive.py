"""What is right, computed in the most naive way, from the definitions alone.

Nothing of the product is used or copied here: a text is normalised with Python's own
`unicodedata`, a document is a Python set of tuples or strings, and all intersections come from one
product of a sparse matrix with its transpose.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

LOWEST = 2
"""Pairs are kept from similarity 1 / LOWEST on."""

# ── Text ──────────────────────────────────────────────────────────────────────────────────────

# Default_Ignorable_Code_Point of the Unicode standard, as far as it is not of category Cf:
# NFKC_Casefold drops them (joiners of graphemes, fillers, variation selectors).
IGNORABLE = {
    *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2065, 0x3164),
    *(*range(0xFE00, 0xFE10), 0xFFA0, *range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000)),
}
WHITE_SPACE = {*"\t\n\v\f\r\x85", *(chr(c) for c in range(0x3001) if chr(c).isspace())} - {
    *"\x1c\x1d\x1e\x1f"  # Python calls these four space, Unicode's White_Space does not
}
# The name of a letter begins with its script. These are the scripts written without spaces.
UNSPACED = (
    *(
        "CJK ",
        "IDEOGRAPHIC ITERATION ",
        "IDEOGRAPHIC NUMBER ",
        "VERTICAL IDEOGRAPHIC ",
        "HANGZHOU ",
    ),
    *("HIRAGANA ", "KATAKANA", "BOPOMOFO ", "YI ", "THAI ", "LAO ", "KHMER ", "MYANMAR ", "AHOM "),
    *("TAI LE ", "NEW TAI LUE ", "TAI THAM ", "TAI VIET ", "JAVANESE LETTER", "BALINESE "),
)


def _is_dropped(char: str) -> bool:
    return unicodedata.category(char) == "Cf" or ord(char) in IGNORABLE


@cache
def fold(char: str) -> str:
    """Return a character in NFKC, case folded, without format characters: until it stays."""
    text = char
    while True:
        folded = unicodedata.normalize("NFKC", text).casefold()
        kept = "".join(each for each in folded if not _is_dropped(each))
        clean = unicodedata.normalize("NFKC", kept)
        if clean == text:
            return text
        text = clean


def normalise(text: str) -> str:
    """Return the text with every character folded, in NFC.

    Unicode (definition 147) has the text brought into NFD before: the iota below, which folds to a
    letter, stands behind the other marks of its letter then, wherever it was typed.
    """
    if text.isascii():
        return text.lower()
    folded = "".join(fold(char) for char in unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", folded)


@cache
def kind_of(char: str) -> str:
    """Return "word", "alone", "mark" or "gap"."""
    code, category = ord(char), unicodedata.category(char)
    if category[0] == "M" or 0x1F3FB <= code <= 0x1F3FF:  # skin tones
        return "mark"
    if char == "\ufffd" or category == "Nd":  # what stands for unreadable bytes; digits
        return "word"
    if category[0] in "LN":
        return "alone" if unicodedata.name(char, "").startswith(UNSPACED) else "word"
    if category in {"So", "Sc"} or (category == "Sm" and not char.isascii()):
        return "gap" if 0x2500 <= code <= 0x259F else "alone"  # box drawing is decoration
    if category == "Cn":
        return "alone" if 0x20000 <= code < 0x40000 else "word"
    return "alone" if category == "Co" else "gap"


def words(text: str) -> list[str]:
    """Return the script-aware tokens of a text."""
    tokens: list[str] = []
    before = "gap"
    for char in normalise(text):
        kind = kind_of(char)
        if before != "gap" and (kind == "mark" or kind == before == "word"):
            tokens[-1] += char
        elif kind in {"gap", "mark"}:
            before = "gap"
        else:
            tokens.append(char)
            before = kind
    return tokens


def characters(text: str) -> str:
    """Return the characters of a text, white space collapsed and trimmed."""
    spaced = "".join(" " if char in WHITE_SPACE else char for char in normalise(text))
    return " ".join(part for part in spaced.split(" ") if part)


def shingles(tokens: Sequence[str], k: int) -> set[Hashable]:
    """Return every run of k tokens; fewer than k are one shingle, none are none."""
    runs = set(zip(*(tokens[i:] for i in range(k)), strict=False))
    return runs or ({tuple(tokens)} if tokens else set())


def substrings(text: str, k: int) -> set[Hashable]:
    """Return every substring of k characters; fewer than k are one shingle, none are none."""
    runs = {text[i : i + k] for i in range(len(text) - k + 1)}
    return runs or ({text} if text else set())


def set_of(text: str, shingle: str) -> set[Hashable]:
    """Return the set of a text for ``words:k`` or ``chars:k``."""
    unit, k = shingle.split(":")
    return (
        shingles(words(text), int(k)) if unit == "words" else substrings(characters(text), int(k))
    )


# ── All pairs ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Truth:
    """All pairs i < j with similarity ≥ 1/2, ordered, and the number of elements of each item."""

    sizes: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    shared: NDArray[np.int64]
    union: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.left)

    @cached_property
    def similarity(self) -> NDArray[np.float64]:
        """The ratios, which Python's division of integers rounds correctly."""
        ratios = zip(self.shared.tolist(), self.union.tolist(), strict=True)
        return np.array([shared / union for shared, union in ratios], dtype=np.float64)

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """One number per pair, ascending."""
        return self.left * len(self.sizes) + self.right

    @property
    def unequal(self) -> NDArray[np.bool_]:
        """Which pairs have a similarity below 1."""
        return self.shared < self.union

    def reaches(self, threshold: Fraction) -> NDArray[np.bool_]:
        """Say which pairs reach the threshold: a comparison of integers."""
        return self.shared * threshold.denominator >= threshold.numerator * self.union


def incidence(sets: Iterable[set[Hashable]]) -> tuple[sparse.csr_matrix, NDArray[np.int64]]:
    """Return the matrix of items × elements, one where it has it, and the items' sizes."""
    columns: dict[Hashable, int] = {}
    flat = [
        np.array([columns.setdefault(x, len(columns)) for x in elements], dtype=np.int32)
        for elements in sets
    ]
    sizes = np.array([len(each) for each in flat], dtype=np.int64)
    indices = np.concatenate([np.empty(0, np.int32), *flat])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    ones = np.ones(len(indices), dtype=np.int32)
    matrix = sparse.csr_matrix((ones, indices, starts), shape=(len(sizes), len(columns)))
    return matrix, sizes


def compare_all(sets: Iterable[set[Hashable]], block: int = 256) -> Truth:
    """Return every pair with similarity ≥ 1/2.

    Elements of one item only are left out of the product, which they cannot change. Rows go in
    order of size, a block at a time, and a block meets the rows behind its start that are at most
    twice as large as its largest: of two sets, one more than twice as large as the other, the
    similarity is below 1/2.
    """
    matrix, sizes = incidence(sets)
    order = np.argsort(sizes, kind="stable")
    shared_by_some = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]) > 1)
    matrix = matrix[:, shared_by_some][order]
    ordered = sizes[order]
    parts = []
    for first in range(0, len(sizes), block):
        rows = matrix[first : first + block]
        largest = ordered[first : first + block][-1]
        last = int(np.searchsorted(ordered, LOWEST * largest, side="right"))
        product = (rows @ matrix[first:last].T).tocoo()
        one, other = product.row + first, product.col + first
        union = ordered[one] + ordered[other] - product.data
        similar = (one < other) & (LOWEST * product.data >= union)
        parts.append(
            np.stack([order[one], order[other], product.data, union])[:, similar].astype(np.int64)
        )
    one, other, shared, union = np.concatenate([np.empty((4, 0), np.int64), *parts], axis=1)
    left, right = np.minimum(one, other), np.maximum(one, other)
    by_place = np.lexsort((right, left))
    return Truth(sizes, *(column[by_place] for column in (left, right, shared, union)))
