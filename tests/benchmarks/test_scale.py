"""The benchmark of scale is only worth something if its collections, truth and judges are right."""

from __future__ import annotations

import sys
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import corpora
import judging
import measuring
import scale

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 700


@pytest.fixture(scope="module")
def source() -> corpora.Source:
    """Return a text of 50,000 words, of which a few are frequent."""
    vocabulary = pa.array([f"w{word}" for word in range(2000)])
    words = np.random.default_rng(1).zipf(1.3, 50_000) % 2000
    return corpora.Source("numbered words", vocabulary, words.astype(np.int32))


@pytest.fixture(scope="module")
def collection(
    source: corpora.Source, tmp_path_factory: pytest.TempPathFactory
) -> corpora.Collection:
    return corpora.collection(source, SIZE, tmp_path_factory.mktemp("collections"))


@pytest.fixture(scope="module")
def truth(collection: corpora.Collection) -> pa.Table:
    return pq.read_table(collection.truth)


def texts(collection: corpora.Collection) -> list[str]:
    return pq.read_table(collection.corpus)["text"].to_pylist()


def written(path: Path, **columns: object) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_truth_is_what_comparing_all_texts_gives(
    collection: corpora.Collection, truth: pa.Table
) -> None:
    sets = [set(judging.shingles(text.split())) for text in texts(collection)]
    expected = {}
    for left, right in combinations(range(SIZE), 2):
        shared = len(sets[left] & sets[right])
        union = len(sets[left]) + len(sets[right]) - shared
        if 5 * shared >= 4 * union:
            expected[f"{left:08d}", f"{right:08d}"] = shared / union
    pairs = zip(truth["left"].to_pylist(), truth["right"].to_pylist(), strict=True)
    assert dict(zip(pairs, truth["similarity"].to_pylist(), strict=True)) == expected
    assert len(expected) > 200
    assert 1.0 in expected.values()


def test_smaller_collection_is_the_beginning_of_a_larger(
    source: corpora.Source, collection: corpora.Collection, tmp_path: Path
) -> None:
    smaller = corpora.collection(source, 200, tmp_path)
    assert texts(smaller) == texts(collection)[:200]


def test_three_documents_in_ten_are_copies_of_earlier_ones() -> None:
    documents = np.arange(100_000)
    originals = corpora.originals(documents)
    copies = originals != documents
    # 30,000 are expected with a standard deviation of √(100,000 · 0.3 · 0.7) = 145.
    assert abs(int(copies.sum()) - 30_000) < 5 * 145
    assert (originals[copies] < documents[copies]).all()
    assert corpora.is_fresh(originals).all()


def test_collection_is_made_once_for_each_recipe(
    source: corpora.Source, collection: corpora.Collection
) -> None:
    before = collection.corpus.stat().st_mtime_ns
    data = collection.folder.parent
    assert corpora.collection(source, SIZE, data) == collection
    assert collection.corpus.stat().st_mtime_ns == before


def test_judge_counts_missing_false_and_misstated_pairs(
    collection: corpora.Collection, truth: pa.Table, tmp_path: Path
) -> None:
    total = truth.num_rows
    judged = judging.judge_find(collection, collection.truth)
    assert judged == judging.Verdict(total, total, total, 0)

    pq.write_table(truth.slice(3), tmp_path / "missing.parquet")
    judged = judging.judge_find(collection, tmp_path / "missing.parquet")
    assert judged == judging.Verdict(total, total - 3, total - 3, 0)

    false = pa.table({"left": ["00000000"], "right": ["00000001"], "similarity": [0.9]})
    pq.write_table(pa.concat_tables([truth, false]), tmp_path / "false.parquet")
    judged = judging.judge_find(collection, tmp_path / "false.parquet")
    assert judged == judging.Verdict(total, total, total + 1, 1)

    pq.write_table(pa.concat_tables([truth, truth.slice(0, 2)]), tmp_path / "twice.parquet")
    assert judging.judge_find(collection, tmp_path / "twice.parquet").wrong == 2

    stated = truth["similarity"].to_numpy().copy()
    stated[5] = 0.81234
    off = truth.set_column(2, "similarity", pa.array(stated))
    pq.write_table(off, tmp_path / "misstated.parquet")
    assert judging.judge_find(collection, tmp_path / "misstated.parquet").wrong == 1


def test_judge_trusts_texts_more_than_the_planted_pairs(
    collection: corpora.Collection, truth: pa.Table, tmp_path: Path
) -> None:
    (tmp_path / collection.folder.name).mkdir()
    poorer = corpora.Collection(tmp_path / collection.folder.name, SIZE)
    poorer.corpus.symlink_to(collection.corpus)
    pq.write_table(truth.slice(1), poorer.truth)
    assert judging.judge_find(poorer, collection.truth).wrong == 0


def test_judge_of_clusters_sees_split_and_foreign_items(
    collection: corpora.Collection, tmp_path: Path
) -> None:
    connected = judging.components(judging.read_truth(collection))
    documents = np.arange(SIZE)

    def judged(labels: np.ndarray) -> judging.Verdict:
        path = tmp_path / "clusters.parquet"
        written(path, id=corpora.ids(documents), cluster=corpora.ids(labels))
        return judging.judge_cluster(collection, path)

    assert judged(connected).recall == 1
    assert judged(connected).wrong == 0
    assert judged(documents).recall == 0
    assert judged(np.zeros_like(documents)).wrong == int((connected != 0).sum())


def test_judge_of_removals_wants_witnesses_that_are_kept(
    collection: corpora.Collection, tmp_path: Path
) -> None:
    truth = judging.read_truth(collection)
    connected = judging.components(truth)
    chain = np.flatnonzero(np.isin(truth.left, truth.right))[0]  # its witness is a copy itself
    inner = np.flatnonzero(truth.right == truth.left[chain])[0]
    rows = np.array([chain, inner])
    manifest = written(
        tmp_path / "manifest.parquet",
        id=corpora.ids(truth.right[rows]),
        witness=corpora.ids(truth.left[rows]),
        similarity=truth.similarities[rows],
    )
    kept = written(tmp_path / "kept.parquet", id=corpora.ids(np.arange(SIZE - 2)))
    assert connected[truth.right[chain]] == connected[truth.left[inner]]
    verdict = judging.judge_dedup(collection, kept, manifest)
    assert (verdict.reported, verdict.wrong) == (2, 1)
    short = written(tmp_path / "short.parquet", id=corpora.ids(np.arange(SIZE - 3)))
    assert judging.judge_dedup(collection, short, manifest).wrong == 2


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_and_space_of_all_processes_are_seen(tmp_path: Path) -> None:
    """The script and its child hold 60 MB each while the child waits; 10 MB lie in the folder."""
    held = "import time; held = bytearray(b'x') * 60_000_000; time.sleep(1.5)"
    (tmp_path / "file").write_bytes(b"x" * 10_000_000)
    script = (
        "import subprocess, sys; held = bytearray(b'x') * 60_000_000;"
        f"subprocess.run([sys.executable, '-c', {held!r}]); print('done')"
    )
    cost, printed = measuring.measure([sys.executable, "-c", script], tmp_path)
    assert printed == "done\n"
    assert 120_000_000 < cost.anonymous < 170_000_000
    assert cost.work >= 10_000_000
    assert cost.seconds > 1.5


def test_failing_command_is_told_with_what_it_said(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "raise SystemExit('no space left')"]
    with pytest.raises(measuring.CommandError, match="ended with 1:\nno space left"):
        measuring.measure(command, tmp_path)


def point(documents: int, **changes: object) -> scale.Point:
    usual = {
        "verb": "find", "engine": "disk", "memory": "512MB", "documents": documents,
        "text_bytes": 500 * documents, "runs": 1, "seconds": 20e-6 * documents,
        "cpu_seconds": 30e-6 * documents, "anonymous": 512_000_000, "resident": 600_000_000,
        "work": 0, "output": 0, "true": 1000, "found": 990, "reported": 990, "wrong": 0,
        "summary": {},
    }  # fmt: skip
    return scale.Point(**(usual | changes))  # type: ignore[arg-type]


def failures(*points: scale.Point) -> list[str]:
    return [claim.text for claim in scale.claims(list(points), []) if not claim.holds]


def test_claims_hold_at_their_limits_and_not_beyond() -> None:
    assert failures(point(10_000), point(100_000), point(1_000_000, seconds=26.0)) == []
    assert "costs 1.35 times" in failures(point(100_000), point(1_000_000, seconds=27.0))[0]
    assert "(budget 512)" in failures(point(10_000, anonymous=512_000_001))[0]
    assert "recall 0.9890" in failures(point(10_000, found=989))[0]
    assert "1 of 990 reported are wrong" in failures(point(10_000, wrong=1))[0]
    slow = scale.Comparison("find", "2GB", 100_000, {"memory": [1, 2, 9], "disk": [3.1, 3.1, 1]})
    assert [claim.holds for claim in scale.claims([], [slow])] == [False]


def test_repeated_runs_keep_the_median_time_and_the_worst_of_the_rest() -> None:
    runs = [
        point(10, seconds=s, anonymous=a, found=f) for s, a, f in [(3, 1, 9), (1, 7, 8), (2, 2, 9)]
    ]
    merged = scale.together(runs)
    assert (merged.seconds, merged.anonymous, merged.found, merged.runs) == (2, 7, 8, 3)


def test_numbers_of_the_same_machine_are_kept_and_renewed(tmp_path: Path) -> None:
    numbers = scale.load(tmp_path)
    numbers.add(point(10_000))
    numbers.add(point(100_000))
    numbers.save(tmp_path)
    again = scale.load(tmp_path)
    again.add(point(10_000, seconds=9.0))
    again.save(tmp_path)
    assert [p.seconds for p in scale.load(tmp_path).points] == [9.0, 2.0]
    assert "| disk | 10,000 | 512MB | 9.00 |" in (tmp_path / "scale.md").read_text()
    assert (tmp_path / "scale.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("text", "size"), [("2GB", 2_000_000_000), ("512MB", 512_000_000), ("1GiB", 2**30), ("9", 9)]
)
def test_amounts_of_memory(text: str, size: int) -> None:
    assert scale.bytes_of(text) == size
