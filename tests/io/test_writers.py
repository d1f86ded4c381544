"""A result is written whole or not at all."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from lookalike.errors import OutputError, UsageError
from lookalike.io import writers

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

    def fail(table, target):
        target.write_text("half")
        raise failure

    monkeypatch.setitem(writers._WRITERS, ".jsonl", fail)
    expected = OutputError if isinstance(failure, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        writers.write_table(TABLE, path, force=True)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["x.jsonl"]


def test_targets_that_cannot_work_are_refused_before_any_work(tmp_path):
    with pytest.raises(UsageError, match=r"\.parquet, \.csv, \.jsonl"):
        writers.check_target(tmp_path / "x.txt")
    with pytest.raises(OutputError, match="does not exist"):
        writers.check_target(tmp_path / "no" / "x.csv")
    (tmp_path / "dir.csv").mkdir()
    with pytest.raises(OutputError, match="is a folder"):
        writers.check_target(tmp_path / "dir.csv")


def test_the_bytes_depend_on_the_rows_alone(tmp_path):
    chunked = pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)])
    for suffix in ("parquet", "csv", "jsonl"):
        writers.write_table(TABLE, tmp_path / f"one.{suffix}")
        writers.write_table(chunked, tmp_path / f"two.{suffix}")
        one, two = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in ("one", "two"))
        assert one == two
