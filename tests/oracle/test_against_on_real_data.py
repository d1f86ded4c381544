"""One collection against another: all true pairs across, and nothing else.

Bands are set by hand, so many of so few rows that a pair at the threshold is missed with
probability 0.75^256 < 10^-31: whatever lacks is a defect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import lookalike as la

from . import naive

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import Documents

    Pairs = list[tuple[Any, Any, float]]

pytestmark = pytest.mark.data

ALL = {"threshold": "0.5", "bands": 256, "rows": 2}


def reported(result: la.Result) -> Pairs:
    return [tuple(row.values()) for row in result.pairs.to_pylist()]


def across(truth: naive.Truth, left: np.ndarray, right: np.ndarray) -> Pairs:
    """Return the true pairs of a left with a right item, by their places there, in order."""
    place = {int(item): at for at, item in enumerate(left)}
    other_place = {int(item): at for at, item in enumerate(right)}
    pairs = zip(truth.left.tolist(), truth.right.tolist(), truth.similarity.tolist(), strict=True)
    return sorted(
        (place[one], other_place[other], similarity)
        for i, j, similarity in pairs
        for one, other in ((i, j), (j, i))
        if one in place and other in other_place
    )


def halves(documents: Documents) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the older and of the newer release."""
    is_new = np.array([id.startswith("trixie/") for id in documents.ids])
    return np.flatnonzero(~is_new), np.flatnonzero(is_new)


@pytest.mark.parametrize("shingle", ["words:5", "chars:9"])
def test_an_old_release_against_a_new_one_gives_all_pairs_across(shingle, documents, truth):
    given = documents("debian")
    old, new = halves(given)
    result = la.find(given.table.take(old), against=given.table.take(new), shingle=shingle, **ALL)
    expected = across(truth("debian", shingle), old, new)
    copies = [pair for pair in expected if pair[2] == 1]
    assert len(copies) > 1000
    assert len(expected) - len(copies) > 1000
    assert reported(result) == [
        (given.ids[old[i]], given.ids[new[j]], similarity) for i, j, similarity in expected
    ]


@pytest.mark.parametrize("name", ["licences", "reuters"])
def test_every_second_item_against_the_others_gives_all_pairs_across(name, documents, truth):
    """Without ids: row numbers, which mean another item on the left than on the right."""
    texts = documents(name).texts
    even, odd = np.arange(0, len(texts), 2), np.arange(1, len(texts), 2)
    result = la.find(texts[::2], against=texts[1::2], **ALL)
    expected = across(truth(name, "words:5"), even, odd)
    assert len(expected) > 100
    assert reported(result) == expected


def test_the_other_way_round_gives_the_same_pairs_turned_round(documents):
    texts = documents("debian").texts
    forth = la.find(texts[:5000], against=texts[5000:], **ALL)
    back = la.find(texts[5000:], against=texts[:5000], **ALL)
    assert sorted((j, i, similarity) for i, j, similarity in reported(back)) == reported(forth)


def test_a_collection_against_itself_gives_every_pair_both_ways_and_each_item_with_itself(
    documents: Callable[[str], Documents],
):
    texts = documents("debian").texts[:1500]
    truth = naive.compare_all(naive.set_of(text, "words:5") for text in texts)
    every = np.arange(len(texts))
    expected = sorted(across(truth, every, every) + [(i, i, 1.0) for i in every.tolist()])
    assert reported(la.find(texts, against=texts, **ALL)) == expected


def test_planned_bands_find_as_much_across_as_within(documents, truth):
    """What is found across two halves is what one run over both finds across them, plan by plan."""
    given = documents("licences")
    even, odd = np.arange(0, len(given), 2), np.arange(1, len(given), 2)
    plan: dict[str, Any] = {"threshold": "0.7", "bands": 20, "rows": 5}
    crossed = la.find(given.table.take(even), against=given.table.take(odd), **plan)
    whole = la.find(given.table, **plan)
    side = {id: at % 2 for at, id in enumerate(given.ids)}
    expected = {
        (*sorted((left, right), key=side.__getitem__), similarity)
        for left, right, similarity in reported(whole)
        if side[left] != side[right]
    }
    assert len(expected) < (truth("licences", "words:5").similarity >= 0.7).sum()
    assert set(reported(crossed)) == expected
