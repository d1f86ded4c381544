"""How much of the truth a run found, and whether all it reported is true.

Nothing here calls lookalike. A reported pair that is not in the truth, or has another similarity
there, is decided by its two texts, with Python's own sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import corpora

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from corpora import Collection, Integers


@dataclass(frozen=True)
class Verdict:
    """What was to be found and what was reported.

    They are pairs for `find`. For `cluster` a true pair is found if it is in one cluster, and each
    item is reported together with the first one of its cluster. For `dedup` a true pair is found if
    not both were kept, and each removed item is reported together with its witness.
    """

    true: int
    found: int
    reported: int
    wrong: int

    @property
    def recall(self) -> float:
        """The share of the true pairs that was found."""
        return self.found / self.true if self.true else 1.0

    @property
    def precision(self) -> float:
        """The share of what was reported that is true."""
        return 1 - self.wrong / self.reported if self.reported else 1.0


@dataclass(frozen=True)
class Truth:
    """The true pairs of a collection in order, each as one number."""

    keys: Integers
    similarities: NDArray[np.float64]
    size: int

    @property
    def left(self) -> Integers:
        """The earlier document of each pair."""
        return self.keys // self.size

    @property
    def right(self) -> Integers:
        """The later document of each pair."""
        return self.keys % self.size


def read_pairs(
    path: Path, left: str, right: str, size: int
) -> tuple[Integers, NDArray[np.float64]]:
    """Return pairs in a file, ordered, as numbers, with their similarities."""
    table = pq.read_table(path, columns=[left, right, "similarity"])
    one, other = corpora.numbers(table[left]), corpora.numbers(table[right])
    keys = np.minimum(one, other) * size + np.maximum(one, other)
    order = np.argsort(keys, kind="stable")
    return keys[order], table["similarity"].to_numpy()[order]


def read_truth(collection: Collection) -> Truth:
    keys, similarities = read_pairs(collection.truth, "left", "right", collection.size)
    return Truth(keys, similarities, collection.size)


def overlap(text: str, other: str) -> tuple[int, int]:
    """Return how many shingles two texts share, and how many either has."""
    one, two = (set(shingles(each.split(" "))) for each in (text, other))
    return len(one & two), len(one | two)


def shingles(words: list[str], k: int = corpora.SHINGLE) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + k]) for at in range(max(1, len(words) - k + 1))]


def texts_of(collection: Collection, documents: Integers) -> dict[int, str]:
    """Return the texts of these documents, read one row group at a time."""
    wanted = np.unique(documents)
    found: dict[int, str] = {}
    with pq.ParquetFile(collection.corpus) as file:
        begin = 0
        for group in range(file.num_row_groups):
            end = begin + file.metadata.row_group(group).num_rows
            here = wanted[np.searchsorted(wanted, begin) : np.searchsorted(wanted, end)]
            if len(here):
                rows = file.read_row_group(group, columns=["text"])["text"].take(
                    pa.array(here - begin)
                )
                found.update(zip(here.tolist(), rows.to_pylist(), strict=True))
            begin = end
    return found


def wrong_by_text(collection: Collection, keys: Integers, stated: NDArray[np.float64]) -> int:
    """Return how many of these pairs are not as similar as stated, or not similar enough."""
    left, right = keys // collection.size, keys % collection.size
    texts = texts_of(collection, np.concatenate([left, right]))
    wrong = 0
    for one, other, similarity in zip(left.tolist(), right.tolist(), stated.tolist(), strict=True):
        shared, union = overlap(texts[one], texts[other])
        wrong += 5 * shared < 4 * union or shared / union != similarity
    return wrong


def check_truth(collection: Collection, at_most: int = 2000) -> None:
    """Compare the first true pairs within the first row group with what their texts say."""
    truth = read_truth(collection)
    chosen = np.flatnonzero(truth.right < corpora.ROW_GROUP)[:at_most]
    wrong = wrong_by_text(collection, truth.keys[chosen], truth.similarities[chosen])
    if wrong:
        raise AssertionError(f"{wrong} of {len(chosen)} pairs in {collection.truth} are wrong")


def wrong_pairs(
    collection: Collection, truth: Truth, keys: Integers, stated: NDArray[np.float64]
) -> int:
    """Return how many of these ordered pairs are not true, or are there for the second time."""
    if not len(truth.keys):
        return wrong_by_text(collection, keys, stated)
    at = np.minimum(np.searchsorted(truth.keys, keys), len(truth.keys) - 1)
    agreed = (truth.keys[at] == keys) & (truth.similarities[at] == stated)
    repeated = int(np.count_nonzero(keys[1:] == keys[:-1]))
    return repeated + wrong_by_text(collection, keys[~agreed], stated[~agreed])


def judge_find(collection: Collection, pairs: Path) -> Verdict:
    truth = read_truth(collection)
    keys, stated = read_pairs(pairs, "left", "right", collection.size)
    found = int(np.isin(truth.keys, keys).sum())
    wrong = wrong_pairs(collection, truth, keys, stated)
    return Verdict(len(truth.keys), found, len(keys), wrong)


def components(truth: Truth) -> Integers:
    """Return the first document that each is connected with by true pairs."""
    labels = np.arange(truth.size)
    left, right = truth.left, truth.right
    while True:  # families are small, so a few rounds are enough
        before = labels.copy()
        np.minimum.at(labels, right, labels[left])
        np.minimum.at(labels, left, labels[right])
        if np.array_equal(labels, before):
            return labels


def judge_cluster(collection: Collection, clusters: Path) -> Verdict:
    truth = read_truth(collection)
    table = pq.read_table(clusters, columns=["id", "cluster"])
    items, firsts = corpora.numbers(table["id"]), corpora.numbers(table["cluster"])
    labels = np.arange(collection.size)
    labels[items] = firsts
    connected = components(truth)
    reported = items != firsts
    wrong = connected[items[reported]] != connected[firsts[reported]]
    found = np.count_nonzero(labels[truth.left] == labels[truth.right])
    return Verdict(len(truth.keys), int(found), int(reported.sum()), int(wrong.sum()))


def judge_dedup(collection: Collection, kept: Path, manifest: Path) -> Verdict:
    truth = read_truth(collection)
    keys, stated = read_pairs(manifest, "id", "witness", collection.size)
    table = pq.read_table(manifest, columns=["id", "witness"])
    removed = np.zeros(collection.size, bool)
    removed[corpora.numbers(table["id"])] = True
    wrong = wrong_pairs(collection, truth, keys, stated)
    wrong += int(removed[corpora.numbers(table["witness"])].sum())  # a witness is kept
    wrong += abs(collection.size - int(removed.sum()) - pq.read_metadata(kept).num_rows)
    found = np.count_nonzero(removed[truth.left] | removed[truth.right])
    return Verdict(len(truth.keys), int(found), table.num_rows, wrong)
