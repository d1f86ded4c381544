"""What once went wrong stays right."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import lookalike as la
from lookalike import data
from lookalike.errors import InputError, UsageError

A = "the cat sat on the mat and looked at the dog in the garden"
B = A.replace("garden", "yard")


def test_the_recall_of_a_crowd_is_estimated_too():
    """Who is crowded is a matter of chance: the interval covers what an exact run finds."""
    rng = np.random.default_rng(5)
    head = " ".join(f"b{at}" for at in range(60))
    texts = [
        f"{head} {' '.join(rng.integers(0, 10**6, rng.integers(3, 16)).astype(str))}"
        for _ in range(500)
    ]
    truth = la.find(texts, threshold=0.7, exact=True)
    covered = 0
    for seed in range(1, 13):
        result = la.find(texts, threshold=0.7, seed=seed)
        assert result.as_dict()["crowded_items"] > 128
        covered += result.recall.low <= len(result) / len(truth) <= result.recall.high
    assert covered >= 10
    clusters = la.cluster(texts, threshold=0.7)
    assert clusters.recall.found > 0.5 * len(truth)
    assert clusters.recall.low <= clusters.recall.value <= clusters.recall.high


def test_an_estimate_lies_in_its_interval():
    for texts in ([A, B], [A, B, A, B], [A] * 3 + [B]):
        recall = la.find(texts, threshold=0.7).recall
        assert 0 < recall.low <= recall.value <= recall.high <= 1


def test_without_pairs_the_interval_says_nothing():
    recall = la.find(["a", "b"], threshold=0.9, recall=0.8).recall
    assert (recall.low, recall.high, recall.found) == (0, 1, 0)


def test_compact_pairs_are_counted_compactly():
    texts = [A] * 100 + [B] * 100
    assert len(la.find(texts, threshold=0.7, compact=True, max_pairs=1000)) == 199


def test_a_narrowed_result_compares_exactly():
    result = la.find(["a b", "b c"], threshold="0.3", shingle="words:1", exact=True)
    assert len(result.at("0.333333333333333")) == 1
    assert len(result.at("0.333333333333333334")) == 0
    assert result.at("0.333333333333333334").keep().stays.all()


@pytest.mark.parametrize("n", [1, 2, 10, 1000])
@pytest.mark.parametrize("chunk", [1, 7, 1 << 18])
def test_the_most_similar_pairs_are_those_of_all_pairs_sorted(n, chunk, monkeypatch):
    words = [str(at) for at in range(30)]
    texts = [" ".join(words[at % 3 :] + words[: at % 5]) for at in range(25)]
    for result in (
        la.find(texts, threshold=0.3),
        la.find(texts, threshold=0.3).at(0.9),
        la.find(["alone"]),
        la.find(texts, against=texts, threshold=0.3),
    ):
        table = result.pairs
        monkeypatch.setattr(data, "CHUNK", chunk)
        order = np.argsort(-table["similarity"].to_numpy(), kind="stable")[:n]
        assert result.most_similar(n) == table.take(order)
        monkeypatch.undo()


def test_no_most_similar_pairs_cannot_be_asked_for():
    with pytest.raises(UsageError, match="at least 1, not 0"):
        la.find(["a", "a"]).most_similar(0)


def test_a_narrowed_result_explains_and_estimates_what_it_shows():
    narrowed = la.find([A, B, A], threshold=0.7).at(0.9)
    assert "below the threshold of 0.9" in str(narrowed.why(0, 1))
    assert narrowed.recall.found == 0


def test_against_is_worded_as_such():
    decisions = la.dedup([A, A, B], against=["zz", B], threshold=0.9)
    assert decisions.why(1) == "1 is kept: no item of the other collection is similar to it"
    assert decisions.removed["reason"].to_pylist() == [
        "exact copy of an item of the other collection"
    ]


@pytest.mark.parametrize("rows", [[None, A, B], [A, None, B]])
def test_a_null_in_the_first_row_hides_no_column(tmp_path, rows):
    path = tmp_path / "x.jsonl"
    lines = [json.dumps({"id": at, "text": text}) for at, text in enumerate(rows)]
    path.write_text("\n".join(lines))
    assert len(la.find(path, threshold=0.7)) == 1


def test_a_policy_needs_only_its_own_column_to_be_regular(tmp_path):
    path = tmp_path / "x.jsonl"
    rows = [{"text": A, "x": 1, "n": 1}, {"text": A, "x": "s", "n": 2.5}, {"text": "b", "n": None}]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert la.dedup(path, keep="max:n").kept.to_pylist() == [1, 2]


def test_tokens_may_be_numbers_or_damaged():
    assert len(la.find([[1, 2], [1, 2], ["a"]], shingle="tokens")) == 1
    assert len(la.find([["\ud800"], ["a"]], shingle="tokens")) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: la.find([A], max_pairs=0),
        lambda: la.find([A]).check(0),
        lambda: la.cluster([A], mode="bogus"),
        lambda: la.cluster([A], keep="bogus"),
        lambda: la.find([A], against=[B], compact=True),
    ],
)
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(UsageError):
        wrong()


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([b"a", b"b"], pa.binary_view()),
        pa.array([b"a", b"b"], pa.binary()),
        pa.array(["a", "b"], pa.string_view()),
        pa.array([1.5, 2.5]),
        pa.array([True, False]),
        pa.array([1, 2], pa.timestamp("us")),
        pa.array([b"xx", b"yy"], pa.binary(2)),
        pa.array([1, 2], pa.decimal128(5, 2)),
    ],
    ids=lambda ids: str(ids.type),
)
def test_ids_of_every_plain_type_come_back_as_they_were(ids):
    pairs = la.find(pa.table({"id": ids, "text": ["one text", "One text"]})).pairs
    assert pairs["left"].to_pylist() + pairs["right"].to_pylist() == ids.to_pylist()
    with pytest.raises(InputError, match="stands at 2 rows"):
        la.find(pa.table({"id": pa.array([ids[0].as_py()] * 2, ids.type), "text": ["a", "b"]}))
