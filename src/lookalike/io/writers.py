"""Rows → files, by extension: .parquet, .csv or .jsonl.

A file is written beside its target under another name and renamed when it is complete, so an
interrupted run leaves no half file. Rows may come in any batches and are gathered to groups of one
size: one group is in memory at a time, and the bytes depend on the rows alone.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from contextlib import contextmanager, suppress
from glob import escape
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa

from lookalike.errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    Batches = Iterable[pa.RecordBatch | pa.Table]

ROWS_PER_GROUP = 1 << 16  # so many ids of 300 bytes take 20 MB, and several copies are made of them
ROWS_PER_BATCH = 1 << 13  # for JSONL they become Python's objects, which take several times as much


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


def write_batches(schema: pa.Schema, batches: Batches, path: Path, *, force: bool = False) -> None:
    """Write batches as they come; the extension says in which format."""
    with written(schema, batches, path, force=force):
        pass


@contextmanager
def written(
    schema: pa.Schema, batches: Batches, path: Path, *, force: bool = False
) -> Iterator[None]:
    """Write batches first of all, but let the file have its name only behind the block."""
    check_target(path, force=force)
    with replacing(path) as beside:
        _WRITERS[path.suffix.lower()](schema, batches, beside)
        yield


def write_table(table: pa.Table, path: Path, *, force: bool = False) -> None:
    """Write a table; the extension says in which format."""
    write_batches(table.schema, [table], path, force=force)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to; rename it to `path` when all went well, remove it otherwise."""
    beside = name_beside(path)
    try:
        yield beside
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise not_written(path, error) from error
    finally:
        with suppress(OSError):
            beside.unlink()


def name_beside(path: Path) -> Path:
    """Return a name to write to until all is there; what killed processes have left is removed."""
    for left in path.parent.glob(f".{escape(path.name)}.*-*.part"):
        process = left.name.removeprefix(f".{path.name}.").partition("-")[0]
        if process.isdecimal() and not _is_alive(int(process)):
            shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink()
    return path.with_name(f".{path.name}.{os.getpid()}-{uuid4().hex[:8]}.part")


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # it is somebody else's
    return True


def not_written(path: Path, error: OSError) -> OSError:
    """Word what the system refused; what lookalike refused already has its words."""
    if isinstance(error, OutputError):
        return error
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    hint = "; free some space or choose another disk: nothing was written" if full else ""
    return OutputError(f"cannot write {path}: {error.strerror or error}{hint}")


def _gathered(schema: pa.Schema, batches: Batches, rows: int) -> Iterator[pa.Table]:
    """Gather batches to tables of exactly so many rows, the last one of those that remain."""
    held = [schema.empty_table()]
    room = rows
    for batch in batches:
        table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
        while len(table) >= room:
            held.append(table.slice(0, room))
            table, room = table.slice(room), rows
            yield _joined(held)
        held.append(table)
        room -= len(table)
    if room < rows:
        yield _joined(held)


def _joined(held: list[pa.Table]) -> pa.Table:
    """Return all rows that are held as one table, and hold them no longer."""
    whole = pa.concat_tables(held).combine_chunks()
    del held[1:]
    return whole


def _write_parquet(schema: pa.Schema, batches: Batches, path: Path) -> None:
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for table in _gathered(schema, batches, ROWS_PER_GROUP):
            writer.write_table(table, row_group_size=ROWS_PER_GROUP)
            del table  # or it is held while the next one is gathered


def _write_csv(schema: pa.Schema, batches: Batches, path: Path) -> None:
    from pyarrow import csv

    options = csv.WriteOptions(quoting_style="needed")
    with csv.CSVWriter(path, schema, write_options=options) as writer:
        for table in _gathered(schema, batches, ROWS_PER_BATCH):
            writer.write_table(table)


def _write_jsonl(schema: pa.Schema, batches: Batches, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for table in _gathered(schema, batches, ROWS_PER_BATCH):
            for row in table.to_pylist():
                file.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")


_WRITERS: dict[str, Callable[[pa.Schema, Batches, Path], None]] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".jsonl": _write_jsonl,
}
