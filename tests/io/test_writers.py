"""A result is written whole or not at all."""

from __future__ import annotations

import errno
import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from lookalike.errors import InputError, OutputError, UsageError
from lookalike.io import writers
from lookalike.tables import Rows

TABLE = pa.table({"left": ["a", 'ü,"\n'], "right": ["b", "c"], "similarity": [1.0, 2 / 3]})


@pytest.mark.parametrize("name", ["pairs.parquet", "pairs.csv", "pairs.jsonl", "PAIRS.CSV"])
def test_each_format_gives_back_what_was_written(tmp_path, name):
    path = tmp_path / name
    writers.write_table(TABLE, path)
    if name.endswith("parquet"):
        assert pq.read_table(path).equals(TABLE)
    elif name.endswith("jsonl"):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert [json.loads(line) for line in lines] == TABLE.to_pylist()
    else:
        parse = csv.ParseOptions(newlines_in_values=True)
        assert csv.read_csv(path, parse_options=parse).to_pylist() == TABLE.to_pylist()


def test_an_existing_file_is_kept_unless_forced(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("mine")
    with pytest.raises(OutputError, match="--force"):
        writers.write_table(TABLE, path)
    assert path.read_text() == "mine"
    writers.write_table(TABLE, path, force=True)
    assert path.read_text() != "mine"


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file_and_no_half_one(tmp_path, monkeypatch, failure):
    path = tmp_path / "x.jsonl"
    path.write_text("old")

    def fail(schema, batches, target):
        target.write_text("half")
        raise failure

    monkeypatch.setitem(writers._WRITERS, ".jsonl", fail)
    expected = OutputError if isinstance(failure, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        writers.write_table(TABLE, path, force=True)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["x.jsonl"]


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_a_full_disk_is_said_and_leaves_nothing_behind(tmp_path, suffix):
    def batches():
        yield TABLE
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / f"x.{suffix}"
    with pytest.raises(OutputError, match=r"cannot write .*No space left.*free some space"):
        writers.write_batches(TABLE.schema, batches(), path)
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_whoever_makes_the_batches_keeps_its_words(tmp_path):
    def batches():
        yield TABLE
        raise InputError("the third row is odd")

    with pytest.raises(InputError, match=r"^the third row is odd$"):
        writers.write_batches(TABLE.schema, batches(), tmp_path / "x.csv")
    assert list(tmp_path.iterdir()) == []


def test_targets_that_cannot_work_are_refused_before_any_work(tmp_path):
    with pytest.raises(UsageError, match=r"\.parquet, \.csv, \.jsonl"):
        writers.check_target(tmp_path / "x.txt")
    with pytest.raises(OutputError, match="does not exist"):
        writers.check_target(tmp_path / "no" / "x.csv")
    (tmp_path / "dir.csv").mkdir()
    with pytest.raises(OutputError, match="is a folder"):
        writers.check_target(tmp_path / "dir.csv")


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_the_bytes_depend_on_the_rows_alone(tmp_path, monkeypatch, suffix):
    """However rows are batched, also when groups end inside of batches."""
    monkeypatch.setattr(writers, "ROWS_PER_GROUP", 7)
    monkeypatch.setattr(writers, "ROWS_PER_BATCH", 5)
    table = pa.concat_tables([TABLE] * 20)
    path = tmp_path / f"x.{suffix}"
    writers.write_table(table.combine_chunks(), path)
    expected = path.read_bytes()
    for n in (1, 2, 7, 13, 39, 40):
        batches = table.combine_chunks().to_batches(max_chunksize=n)
        writers.write_batches(table.schema, iter(batches), path, force=True)
        assert path.read_bytes() == expected
    writers.write_batches(table.schema, [table.slice(0, 0), table], path, force=True)
    assert path.read_bytes() == expected
    if suffix == "parquet":
        metadata = pq.read_metadata(path)
        assert [metadata.row_group(at).num_rows for at in range(6)] == [7, 7, 7, 7, 7, 5]


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_no_rows_make_a_file_without_rows(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    writers.write_batches(TABLE.schema, [], path)
    if suffix == "parquet":
        assert pq.read_table(path).equals(TABLE.slice(0, 0))
    else:
        assert path.read_text() == {"csv": '"left","right","similarity"\n', "jsonl": ""}[suffix]


def test_one_group_is_held_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(writers, "ROWS_PER_GROUP", 1000)
    made = []

    def batches():
        for at in range(200):
            made.append(at)
            yield pa.record_batch({"a": np.full(500, at)})
            assert pa.total_allocated_bytes() - before < 200_000

    schema, before = pa.schema([("a", pa.int64())]), pa.total_allocated_bytes()
    writers.write_batches(schema, batches(), tmp_path / "x.parquet")
    assert len(made) == 200
    assert pq.read_metadata(tmp_path / "x.parquet").num_row_groups == 100


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_long_ids_are_not_in_memory_all_at_once(tmp_path, suffix):
    """A group of 2^16 ids of 300 bytes takes 20 MB, a part 10 MB; all of them would take 79 MB."""
    name = "x" * 300
    rows = Rows(1 << 18, {"id": pa.string()}, lambda a, b: {"id": pa.array([name] * (b - a))})
    most = 0

    def watched():
        nonlocal most
        for batch in rows.batches():
            most = max(most, pa.total_allocated_bytes() - before)
            yield batch

    before = pa.total_allocated_bytes()
    writers.write_batches(rows.schema, watched(), tmp_path / f"x.{suffix}")
    assert 9e6 < most < 45e6


def test_what_killed_processes_left_beside_an_output_is_removed(tmp_path):
    gone, alive = tmp_path / ".x.csv.999999999-ab.part", tmp_path / f".x.csv.{os.getpid()}-ab.part"
    other = tmp_path / ".y.csv.999999999-ab.part"
    for path in (gone, alive, other):
        path.write_text("half")
    writers.write_table(pa.table({"a": [1]}), tmp_path / "x.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [alive.name, other.name, "x.csv"]
    )
