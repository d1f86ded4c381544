"""Same rows, same bytes: whatever the threads, the batches and the format they come in."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.io.writers import write_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .conftest import Documents

pytestmark = pytest.mark.data

THREADS = (1, 2, 3, 8)
FORMATS = ("parquet", "jsonl", "csv")


def written(result: la.Result, folder: Path) -> dict[str, bytes]:
    """Return the bytes of the pairs in each format."""
    out = {}
    for format in FORMATS:
        path = folder / f"pairs.{format}"
        write_table(result.pairs, path, force=True)
        out[format] = path.read_bytes()
    return out


def write_rows(documents: Documents, folder: Path, format: str) -> Path:
    """Write a data set, without the help of the product."""
    path = folder / f"rows.{format}"
    rows = list(zip(documents.ids, documents.texts, strict=True))
    if format == "parquet":
        pq.write_table(documents.table, path, row_group_size=1000)
    elif format == "jsonl":
        lines = [json.dumps({"id": id, "text": text}) + "\n" for id, text in rows]
        path.write_text("".join(lines), "utf-8")
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "text"])
            writer.writerows(rows)
    return path


@pytest.mark.parametrize("shingle", ["words:5", "chars:9"])
@pytest.mark.parametrize("name", ["debian", "bbc"])
def test_the_number_of_threads_changes_no_byte(name, shingle, documents, tmp_path):
    given = documents(name)
    first, *others = (
        written(la.find(given.source, **given.options, shingle=shingle, threads=n), tmp_path)
        for n in THREADS
    )
    assert all(len(content) > 1000 for content in first.values())
    assert all(other == first for other in others)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shingle", ["words:5", "chars:9"])
def test_the_size_of_the_batches_changes_no_byte(shingle, threads, documents, tmp_path):
    given = documents("licences")
    options: dict[str, Any] = {**given.options, "shingle": shingle, "threads": threads}
    whole = written(la.find(given.source, **options), tmp_path)
    for batch in (1, 1000, 12_345, 1 << 20):
        assert written(la.find(given.source, batch=batch, **options), tmp_path) == whole


@pytest.mark.parametrize("bag", [False, True])
def test_tokens_bags_and_the_classic_sketch_too(bag, documents, tmp_path):
    given = documents("debian")
    table = pa.table({"id": given.ids, "tokens": [text.split() for text in given.texts]})
    first, *others = (
        written(
            la.find(
                table, shingle="tokens:2", bag=bag, sketch="classic", threads=threads, batch=batch
            ),
            tmp_path,
        )
        for threads, batch in ((1, 32 << 20), (2, 1), (3, 999), (8, 100_000))
    )
    assert all(other == first for other in others)


@pytest.mark.parametrize("name", ["debian", "licences"])
def test_parquet_jsonl_and_csv_of_the_same_rows_give_the_same_bytes(name, documents, tmp_path):
    given = documents(name)
    assert all(isinstance(id, str) for id in given.ids)
    expected = written(la.find(given.table), tmp_path)
    for format in FORMATS:
        assert written(la.find(write_rows(given, tmp_path, format)), tmp_path) == expected


def test_the_command_line_writes_the_same_bytes(documents, tmp_path):
    given = documents("debian")
    expected = written(la.find(given.source, **given.options), tmp_path)
    inputs = {format: write_rows(given, tmp_path, format) for format in FORMATS}
    runs = [(inputs["jsonl"], threads, "parquet") for threads in THREADS]
    runs += [(path, 2, "parquet") for path in inputs.values()]
    runs += [(inputs["parquet"], 3, format) for format in FORMATS]
    for path, threads, format in runs:
        target = tmp_path / f"found.{format}"
        command = [sys.executable, "-m", "lookalike", "find", path, "-o", target, "--force"]
        options = ["--threads", str(threads), "--quiet"]
        subprocess.run([*command, *options], check=True, capture_output=True)
        assert target.read_bytes() == expected[format]


def test_all_three_formats_of_the_output_hold_the_same_pairs(documents, tmp_path):
    given = documents("debian")
    pairs = la.find(given.source, **given.options, threshold="0.7").pairs
    written_pairs = [tuple(row.values()) for row in pairs.to_pylist()]
    for format in FORMATS:
        write_table(pairs, tmp_path / f"pairs.{format}")
    assert pq.read_table(tmp_path / "pairs.parquet").equals(pairs)
    with (tmp_path / "pairs.jsonl").open(encoding="utf-8") as file:
        assert [tuple(json.loads(line).values()) for line in file] == written_pairs
    with (tmp_path / "pairs.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["left", "right", "similarity"]
    assert [(left, right, float(similarity)) for left, right, similarity in rows] == written_pairs


@pytest.mark.parametrize("shingle", ["words:5", "chars:9"])
def test_the_order_of_the_rows_changes_only_the_order_of_the_pairs(
    shingle, documents: Callable[[str], Documents]
):
    given = documents("licences")
    shuffled = given.table.take(np.random.default_rng(0).permutation(len(given)))
    one, other = (
        {
            (frozenset((row["left"], row["right"])), row["similarity"])
            for row in la.find(rows, shingle=shingle, recall=0.9).pairs.to_pylist()
        }
        for rows in (given.table, shuffled)
    )
    assert one
    assert one == other
