"""The tokens of real text, and of every character there is, are those of the naive definition."""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

import lookalike as la
from lookalike import kernels

from . import naive

if TYPE_CHECKING:
    from pathlib import Path


def tokens(texts: list[bytes], unit: str) -> list[list[str]]:
    """Return the tokens that the product makes of each text."""
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
    data = np.frombuffer(b"".join(texts), dtype=np.uint8)
    flat, bounds, starts = kernels.tokenise(data, offsets, unit, "standard")
    joined = flat.tobytes()
    cut = [joined[a:b].decode() for a, b in pairwise(bounds.tolist())]
    return [cut[a:b] for a, b in pairwise(starts.tolist())]


def naive_tokens(text: str, unit: str) -> list[str]:
    return naive.words(text) if unit == "words" else list(naive.characters(text))


def differing(texts: list[bytes], unit: str) -> list[tuple[str, list[str], list[str]]]:
    decoded = [text.decode("utf-8", errors="replace") for text in texts]
    rows = zip(decoded, tokens(texts, unit), strict=True)
    return [
        (text, found, naive_tokens(text, unit))
        for text, found in rows
        if found != naive_tokens(text, unit)
    ]


@pytest.mark.data
@pytest.mark.parametrize("unit", ["words", "chars"])
@pytest.mark.parametrize("name", ["reuters", "bbc", "licences", "debian", "pan"])
def test_tokens_of_documents_are_the_naive_ones(name, unit, documents):
    """Every document with a character beyond ASCII, and every tenth of the others."""
    texts = documents(name).texts
    chosen = [text for at, text in enumerate(texts) if at % 10 == 0 or not text.isascii()]
    assert not differing([text.encode() for text in chosen], unit)


@pytest.mark.data
@pytest.mark.parametrize("unit", ["words", "chars"])
@pytest.mark.parametrize(
    "file",
    [
        "short-text-pairs/quora/dev.tsv",
        "short-text-pairs/mrpc/msr-para-train.tsv",
        "uci-news-headlines/headlines.tsv",
    ],
)
def test_tokens_of_short_texts_are_the_naive_ones(file, unit, data: Path):
    lines = [line for line in (data / file).read_bytes().split(b"\n") if not line.isascii()]
    assert len(lines) > 50
    assert not differing(lines, unit)


@pytest.mark.parametrize("unit", ["words", "chars"])
@pytest.mark.parametrize("around", ["{}", "a{}b", "中{}\u0327\u0301x"])
def test_tokens_of_every_character_of_unicode_3_2_are_the_naive_ones(around, unit):
    """Python's Unicode changes with its version and the product's does not; what was there in
    version 3.2, which every Python knows, means the same to both.
    """
    known = [
        char
        for char in map(chr, range(0x110000))
        if unicodedata.ucd_3_2_0.category(char) not in {"Cn", "Cs"}
    ]
    assert len(known) > 90_000
    assert not differing([around.format(char).encode() for char in known], unit)


def test_texts_that_are_canonically_equivalent_are_equal():
    one, other = "\u1fb4", "\u1fb3\u0301"  # alpha with iota subscript and acute
    assert unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)
    assert la.similarity(one, other, shingle="chars:1") == 1
