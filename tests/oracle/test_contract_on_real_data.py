"""The contract on real data: all that is reported is exact, and no more is missed than was said.

Each data set is searched at every threshold, recall and seed below and compared with the truth.
What was missed is written down per data set and then pooled.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from scipy import stats

import lookalike as la

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from . import naive
    from .conftest import Documents

    DocumentsOf = Callable[[str], Documents]
    TruthOf = Callable[[str, str], naive.Truth]

NAMES = ("reuters", "bbc", "licences", "debian", "pan")
SHINGLES = ("words:5", "chars:9")
THRESHOLDS = ("0.5", "0.7", "0.8", "0.9", "0.95")
RECALLS = (0.9, 0.99, 0.999)

pytestmark = pytest.mark.data


def seeds(name: str) -> range:
    """Return the seeds for a data set: fewer where long texts take long and hold few pairs."""
    return range(1, 3) if name in {"reuters", "bbc", "pan"} else range(1, 6)


def search(documents: Documents, **options: Any) -> la.Result:
    return la.find(documents.table, threads=1, **options)


def positions(column: pa.ChunkedArray, ids: list[Any]) -> NDArray[np.int64]:
    found = pc.index_in(column, value_set=pa.array(ids, column.type))
    assert not found.null_count, "an id is reported that is not in the data"
    return found.to_numpy().astype(np.int64)


def missed(result: la.Result, documents: Documents, truth: naive.Truth) -> NDArray[np.bool_]:
    """Return which true pairs with similarity below 1 are not in the result.

    On the way it is asserted that everything in the result is right: each pair stands there once,
    in input order, is a true one and has its exact similarity; and no pair with similarity 1 lacks.
    """
    left = positions(result.pairs["left"], documents.ids)
    right = positions(result.pairs["right"], documents.ids)
    assert (left < right).all()
    keys = left * len(documents) + right
    assert (np.diff(keys) > 0).all(), "pairs are repeated, or not in input order"
    wanted = np.flatnonzero(truth.reaches(result.threshold))
    at = np.searchsorted(truth.keys[wanted], keys)
    assert np.array_equal(truth.keys[wanted][np.minimum(at, len(wanted) - 1)], keys), "a false pair"
    assert np.array_equal(result.pairs["similarity"].to_numpy(), truth.similarity[wanted][at])
    lacking = np.zeros(len(truth), dtype=np.bool_)
    lacking[wanted] = True
    lacking[wanted[at]] = False
    assert not (lacking & ~truth.unequal).any(), "a pair with similarity 1 is missed"
    return lacking


def distinct_elements(result: la.Result) -> NDArray[np.int64]:
    """Return the number of distinct hashes of each item."""
    sets = result.search.sets
    counted = [
        size if size >= 0 else len(np.unique(sets.hashes[start:end]))
        for size, start, end in zip(
            sets.sizes.tolist(), sets.starts[:-1].tolist(), sets.starts[1:].tolist(), strict=True
        )
    ]
    return np.array(counted, dtype=np.int64)


def record(
    documents: Documents, truth: naive.Truth, shingle: str, seeds: range
) -> dict[str, dict[str, int]]:
    """Search with every threshold, recall and seed; return what there was and what was missed."""
    counts = {}
    for threshold, recall in product(THRESHOLDS, RECALLS):
        pairs = int((truth.reaches(Fraction(threshold)) & truth.unequal).sum())
        misses = 0
        for seed in seeds:
            result = search(
                documents, threshold=threshold, recall=recall, shingle=shingle, seed=seed
            )
            misses += int(missed(result, documents, truth).sum())
        counts[f"{threshold} {recall}"] = {"pairs": pairs * len(seeds), "misses": misses}
    return counts


@pytest.fixture(scope="session")
def recorded(
    documents: DocumentsOf, truth: TruthOf, computed_once: Callable[..., Path]
) -> Callable[[str, str], dict[str, Any]]:
    def recorded_for(name: str, shingle: str) -> dict[str, Any]:
        def write(path: Path) -> None:
            counts = record(documents(name), truth(name, shingle), shingle, seeds(name))
            path.write_text(json.dumps(counts), "ascii")

        file = f"record-{name}-{shingle.replace(':', '-')}.json"
        return json.loads(computed_once(file, write).read_text("ascii"))

    return recorded_for


@pytest.mark.parametrize("shingle", SHINGLES)
@pytest.mark.parametrize("name", NAMES)
def test_every_reported_pair_is_true_and_exact_and_every_equal_pair_is_found(
    name, shingle, recorded
):
    assert len(recorded(name, shingle)) == len(THRESHOLDS) * len(RECALLS)


@pytest.mark.parametrize("shingle", SHINGLES)
@pytest.mark.parametrize("name", NAMES)
def test_the_files_give_the_same_pairs_and_no_two_shingles_of_an_item_share_a_hash(
    name, shingle, documents, truth
):
    given, true = documents(name), truth(name, shingle)
    result = la.find(given.source, **given.options, shingle=shingle, threads=1)
    missed(result, given, true)
    assert result.pairs.equals(search(given, shingle=shingle).pairs)
    assert np.array_equal(distinct_elements(result), true.sizes)


@pytest.mark.parametrize("threshold", ["0.5", "0.8"])
@pytest.mark.parametrize(
    ("name", "shingle"),
    [("bbc", "words:5"), ("pan", "words:5"), ("licences", "chars:9"), ("debian", "chars:9")],
)
def test_an_exact_run_misses_nothing(name, shingle, threshold, documents, truth):
    result = search(documents(name), shingle=shingle, threshold=threshold, exact=True)
    assert not missed(result, documents(name), truth(name, shingle)).any()


@pytest.fixture(scope="session")
def pooled(recorded: Callable[[str, str], dict[str, Any]]) -> Callable[..., tuple[int, int]]:
    """Return a function that gives the pairs and misses of all data sets and seeds together."""

    def pooled_for(shingle: str, threshold: str, recall: float) -> tuple[int, int]:
        # Backwards: a process that comes here first works towards the one that began above.
        counts = [recorded(name, shingle)[f"{threshold} {recall}"] for name in reversed(NAMES)]
        return sum(count["pairs"] for count in counts), sum(count["misses"] for count in counts)

    return pooled_for


@pytest.mark.parametrize("recall", RECALLS)
@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("shingle", SHINGLES)
def test_no_more_pairs_are_missed_than_was_asked_for(shingle, threshold, recall, pooled):
    """If each pair is found with probability ≥ recall, all data sets and seeds together miss more
    than the 99.9 % quantile of Binomial(pairs × seeds, 1 - recall) once in a thousand times.
    """
    pairs, misses = pooled(shingle, threshold, recall)
    assert misses <= stats.binom.ppf(0.999, pairs, 1 - recall)


@pytest.mark.parametrize("shingle", SHINGLES)
def test_there_are_pairs_enough_to_judge_the_recall_by(shingle, pooled):
    """If twice as many pairs were missed as is allowed on average, the test above would fail.

    Of n pairs 2n(1 - R) would be missed, and its bound is near n(1 - R) + 3√(n(1 - R)): the two are
    apart where n(1 - R) > 9, and nearly so where it is 7.
    """
    for threshold in THRESHOLDS:
        pairs, _ = pooled(shingle, threshold, 0.9)
        assert pairs * (1 - 0.9) > 9
        if threshold != "0.95":  # few pairs are that similar, too few to judge a recall of 0.999
            assert pairs * (1 - 0.999) > 7


@dataclass(frozen=True)
class Tally:
    """The misses of each of many seeds, and the mean that the S-curve of the plan predicts."""

    misses: NDArray[np.float64]
    predicted: float

    @property
    def excess(self) -> float:
        """By how many standard errors the mean is above what was predicted.

        Pairs with an item in common are missed together, so no formula for independent pairs gives
        the spread; that of independent seeds does. With 30 seeds this has a t distribution of 29
        degrees of freedom, which is above 5 with probability 0.000013.
        """
        error = self.misses.std(ddof=1) / np.sqrt(len(self.misses))
        return float((self.misses.mean() - self.predicted) / error)


def tally(documents: Documents, truth: naive.Truth, **options: Any) -> Tally:
    misses, curves = [], set()
    wanted = truth.reaches(Fraction(options["threshold"])) & truth.unequal
    for seed in range(100, 130):
        result = search(documents, seed=seed, **options)
        misses.append(float(missed(result, documents, truth).sum()))
        curves.add(result.plan)
    (plan,) = curves  # a seed changes what is missed and never the plan
    predicted = sum(1 - plan.curve(s) for s in truth.similarity[wanted].tolist())
    assert predicted > 10
    return Tally(np.array(misses), predicted)


@pytest.mark.parametrize(
    ("name", "shingle", "threshold"),
    [
        ("licences", "words:5", "0.5"),
        ("licences", "words:5", "0.8"),
        ("licences", "chars:9", "0.8"),
        ("debian", "words:5", "0.5"),
        ("debian", "words:5", "0.8"),
    ],
)
def test_no_more_is_missed_than_the_curve_of_the_plan_predicts(
    name, shingle, threshold, documents, truth
):
    """One-sided, since the slots of the fast sketch repel each other: it finds a little more."""
    found = tally(
        documents(name), truth(name, shingle), shingle=shingle, threshold=threshold, recall=0.9
    )
    assert found.excess < 5


@pytest.mark.parametrize("threshold", ["0.5", "0.8"])
def test_the_classic_sketch_misses_just_what_the_curve_of_the_plan_predicts(
    threshold, documents, truth
):
    """Two-sided: its slots are independent, and the curve is exact."""
    found = tally(
        documents("licences"),
        truth("licences", "words:5"),
        shingle="words:5",
        threshold=threshold,
        recall=0.9,
        sketch="classic",
    )
    assert abs(found.excess) < 5
