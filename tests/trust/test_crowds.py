"""Hostile collections: boilerplate, near-copies and copies without end."""

from __future__ import annotations

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import UsageError
from lookalike.planning import CROWD

SHINGLES = 100


def boilerplate(n: int, similarity: float) -> tuple[list[str], list[tuple[int, int]]]:
    """Return texts that share just less than `similarity`, and which of them are planted pairs."""
    shared = int(2 * SHINGLES * similarity / (1 + similarity))
    assert shared / (2 * SHINGLES - shared) <= similarity
    rng = np.random.default_rng(7)
    head = " ".join(f"b{word}" for word in range(shared + 4))
    tails = rng.integers(0, 10**9, (n, SHINGLES - shared)).astype(str)
    planted = [(at, at + 1) for at in range(0, n // 10, 2)]
    for one, other in planted:
        tails[other] = tails[one]
        tails[other, -1] = "changed"
    return [f"{head} {' '.join(tail)}" for tail in tails], planted


@pytest.mark.parametrize("similarity", [0.5, 0.7, 0.79])
def test_what_shares_a_boilerplate_is_told_apart(similarity):
    texts, planted = boilerplate(3000, similarity)
    result = la.find(texts, threshold=0.8)
    exact = la.find(texts, threshold=0.8, exact=True)
    assert result.pairs.equals(exact.pairs)
    assert len(exact) == len(planted)
    labels = la.cluster(texts, threshold=0.8).labels
    assert all(labels[one] == labels[other] for one, other in planted)
    assert int((~la.dedup(texts, threshold=0.8).stays).sum()) == len(planted)


def near_copies(n: int) -> list[str]:
    """Return copies of one text of 104 words, each with another word changed."""
    words = [f"w{at}" for at in range(SHINGLES + 4)]
    texts = []
    for at in range(n):
        place = (at * 37) % len(words)
        texts.append(" ".join([*words[:place], f"x{at}", *words[place + 1 :]]))
    return texts


def test_a_crowd_of_near_copies_is_one_cluster_with_one_survivor():
    texts = near_copies(4 * CROWD)
    result = la.find(texts, threshold=0.8)
    assert result.as_dict()["crowded_items"] > CROWD
    exact = la.find(texts, threshold=0.8, exact=True)
    assert result.pairs.equals(exact.pairs)
    assert len(la.cluster(texts, threshold=0.8)) == 1
    decisions = la.dedup(texts, threshold=0.8)
    assert decisions.witnesses.tolist() == exact.keep().witnesses.tolist()


def test_a_crowd_on_one_side_is_compared_with_the_other_only():
    texts = near_copies(3 * CROWD)
    other = [texts[0] + " and more", "something else"]
    found = la.find(texts, against=other, threshold=0.8)
    exact = la.find(texts, against=other, threshold=0.8, exact=True)
    assert found.pairs.equals(exact.pairs)
    removed = la.dedup(texts, against=other, threshold=0.8)
    assert int((~removed.stays).sum()) == len(exact)


def test_a_million_copies_are_clustered_and_deduplicated():
    texts = ["all of these are the very same text"] * 1_000_000
    assert la.cluster(texts).counts.max() == 1_000_000
    assert int(la.dedup(texts).stays.sum()) == 1


def test_too_many_pairs_are_refused_with_the_ways_on():
    texts = ["one and the same text"] * 1000
    with pytest.raises(
        UsageError, match=r"more than 1,000 pairs .499,500 after exact copies"
    ) as refused:
        la.find(texts, max_pairs=1000)
    for way in ("cluster", "dedup", "raise the threshold", "--compact", "--max-pairs"):
        assert way in str(refused.value)
    assert len(la.find(texts, max_pairs=1000, compact=True)) == 999
    assert len(la.find(texts, max_pairs=500_000)) == 499_500


def test_too_many_pairs_of_a_crowd_are_refused_too():
    texts = near_copies(3 * CROWD)
    with pytest.raises(UsageError, match="more than 5,000 pairs"):
        la.find(texts, threshold=0.8, max_pairs=5000)
    with pytest.raises(UsageError, match="more than 5,000 pairs"):
        la.find(texts, threshold=0.8, max_pairs=5000, exact=True)


def test_compact_pairs_lead_to_every_copy():
    texts = ["a b c d e f", "A b c d e f", "a b c d e g", "a b c d e f!", "a b c d e g."]
    result = la.find(texts, threshold=0.3, shingle="words:2", compact=True)
    pairs = [(row["left"], row["right"]) for row in result.pairs.to_pylist()]
    assert pairs == [(0, 1), (0, 2), (0, 3), (2, 4)]
    with pytest.raises(UsageError, match="compact"):
        la.find(texts, against=texts, compact=True)
