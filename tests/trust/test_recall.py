"""Every run tells what it missed, and is right about it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import lookalike as la
from lookalike.data import Check
from lookalike.io import readers

SEEDS = 60
COVERED = 54  # of 60 intervals at 95 %: fewer have a probability below 1 %


def table_of(path) -> pa.Table:
    (batch,) = readers.open_source(path).batches(1 << 30)
    return pa.table({"id": batch.ids, "text": batch.contents})


def bands_for(similarities: np.ndarray, recall: float) -> dict[str, int]:
    """Return bands and rows under which about that share of the pairs is found."""
    choices = [(bands, rows) for rows in range(1, 9) for bands in range(1, 40)]

    def distance(choice: tuple[int, int]) -> float:
        bands, rows = choice
        return abs(float(np.mean(1 - (1 - similarities**rows) ** bands)) - recall)

    bands, rows = min(choices, key=distance)
    return {"bands": bands, "rows": rows}


@pytest.mark.slow
@pytest.mark.parametrize("planned", [True, False], ids=["planned", "by-hand"])
@pytest.mark.parametrize("threshold", [0.5, 0.8])
@pytest.mark.parametrize("name", ["licences/scancode_every10th", "reuters-21578/reuters_first9000"])
def test_the_interval_covers_the_recall_of_the_run(data, name, threshold, planned):
    """The interval covers the realised recall in at least 54 of 60 seeds.

    With a true coverage of 95 % the number of hits is Binomial(60, 0.95), and fewer than 54 come up
    with probability 0.03; the intervals are made a little too wide for that.
    """
    table = table_of(data / f"{name}.jsonl")
    truth = la.find(table, threshold=threshold, exact=True)
    similarities = truth.positions.similarity
    similarities = similarities[similarities < 1]
    by_hand = {} if planned else bands_for(similarities, 0.7)
    covered = 0
    for seed in range(1, SEEDS + 1):
        result = la.find(table, threshold=threshold, seed=seed, **by_hand)
        realised = (result.positions.similarity < 1).sum() / len(similarities)
        covered += result.recall.low <= realised <= result.recall.high
    assert covered >= COVERED


def test_an_exact_run_misses_nothing_and_says_so():
    texts = [f"a b c d e f g h {at % 7} {at % 3}" for at in range(50)]
    recall = la.find(texts, threshold=0.3, shingle="words:2", exact=True).recall
    assert (recall.value, recall.low, recall.high) == (1, 1, 1)
    assert recall.found > 0


def test_bands_that_miss_much_are_said_to():
    rng = np.random.default_rng(3)
    texts = []
    for _ in range(400):
        words = rng.integers(0, 10**6, 60).astype(str).tolist()
        texts += [" ".join(words), " ".join([*words[:50], *rng.integers(0, 10**6, 10).astype(str)])]
    result = la.find(texts, threshold=0.5, shingle="words:1", bands=2, rows=3)
    truth = la.find(texts, threshold=0.5, shingle="words:1", exact=True)
    realised = len(result) / len(truth)
    assert realised < 0.8
    assert result.recall.low <= realised <= result.recall.high
    assert result.recall.high - result.recall.low < 0.3
    assert "are missing" in result.summary()


def test_without_pairs_there_is_nothing_to_estimate():
    result = la.find(["a b c", "x y z", "a b c"])
    assert "nothing to estimate" in result.summary()
    assert result.recall.of_all_pairs == 1


def test_the_recall_is_the_same_whatever_the_threads(data):
    path = data / "licences" / "scancode_every10th.jsonl"
    recalls = {la.find(path, threshold=0.6, threads=threads).recall for threads in (1, 3)}
    assert len(recalls) == 1


def test_a_check_by_brute_force_counts_what_was_found(data):
    path = data / "licences" / "scancode_every10th.jsonl"
    result = la.find(path, threshold=0.6, bands=3, rows=4)
    truth = la.find(path, threshold=0.6, exact=True)
    everything = result.check(10**6)
    below_1 = truth.search.groups and int((truth._between.similarity < 1).sum())
    assert everything.pairs == below_1
    assert everything.found == int((result._between.similarity < 1).sum())
    some = result.check(200)
    assert some.items == 200
    low, high = some.interval
    assert low <= some.recall <= high


def test_a_check_without_pairs_says_nothing():
    assert Check(10, 0, 0).interval == (0.0, 1.0)
