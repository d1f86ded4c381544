"""Pairs → files, by extension: .parquet, .csv or .jsonl.

A file is written beside its target under another name and renamed when it is complete, so an
interrupted run leaves no half file. The bytes depend on the pairs and the settings alone.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from uuid import uuid4

from lookalike.errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pyarrow as pa

ROWS_PER_GROUP = 1 << 20
ROWS_PER_BATCH = 1 << 16


def check_target(path: Path, *, force: bool = False) -> None:
    """Refuse a target that could not be written, before any work is done for it."""
    if path.suffix.lower() not in _WRITERS:
        allowed = ", ".join(_WRITERS)
        raise UsageError(f"cannot tell the format of the output {path}: {allowed}")
    if not path.parent.is_dir():
        raise OutputError(f"the folder {path.parent} does not exist")
    if path.is_dir():
        raise OutputError(f"{path} is a folder: name a file")
    if path.exists() and not force:
        raise OutputError(f"{path} exists already: choose another name, or --force to replace it")
    if not os.access(path.parent, os.W_OK):
        raise OutputError(f"no permission to write into {path.parent.absolute()}")


def write_table(table: pa.Table, path: Path, *, force: bool = False) -> None:
    """Write a table; the extension says in which format."""
    check_target(path, force=force)
    with replacing(path) as beside:
        _WRITERS[path.suffix.lower()](table, beside)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to; rename it to `path` when all went well, remove it otherwise."""
    beside = path.with_name(f".{path.name}.{uuid4().hex[:8]}.part")
    try:
        yield beside
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            beside.unlink()


def _write_parquet(table: pa.Table, path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table, path, row_group_size=ROWS_PER_GROUP, compression="zstd")


def _write_csv(table: pa.Table, path: Path) -> None:
    from pyarrow import csv

    csv.write_csv(table, path, csv.WriteOptions(quoting_style="needed"))


def _write_jsonl(table: pa.Table, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for batch in table.to_batches(max_chunksize=ROWS_PER_BATCH):
            for row in batch.to_pylist():
                file.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")


_WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".jsonl": _write_jsonl,
}
