"""Rows of Parquet files → a Parquet file that stores them as the first one did.

Rows are decoded, chosen and encoded again, with the schema, its metadata and the compression of the
input. A column whose type Arrow cannot give back is refused.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.errors import InputError
from lookalike.io import formats
from lookalike.io.files import reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Take = Callable[[int, Path], NDArray[np.bool_]]

ROWS_PER_BATCH = 1 << 16
BYTES_PER_BATCH = 8 << 20
BYTES_PER_GROUP = 64 << 20
# Signed integers of the two native widths mean the same with and without their annotation.
EQUIVALENT_TYPES = {("INT", "NONE")}


def copy_parquet(paths: Sequence[Path], take: Take, target: Path) -> None:
    """Copy the rows of all files that are kept; the first one says how they are stored."""
    import pyarrow.parquet as pq

    unit = _int96_unit(paths)
    with reading(paths[0]), formats.open_parquet(paths[0], unit) as file:
        schema, settings = file.schema_arrow, _settings(file)
        groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
        rows = max((group.num_rows for group in groups), default=1)
    with pq.ParquetWriter(target, schema, **settings) as writer:
        for group in _grouped(_kept_tables(paths, take, unit), rows):
            writer.write_table(group, row_group_size=len(group))


def _settings(file: Any) -> dict[str, Any]:
    """Return what makes a writer store columns as they are stored in a file."""
    int96 = any(physical == "INT96" for _, physical, _ in _types_of(file))
    settings: dict[str, Any] = {
        "use_deprecated_int96_timestamps": int96,
        "use_compliant_nested_type": False,  # the names in the schema are the file's own
    }
    if file.metadata.num_row_groups:
        group = file.metadata.row_group(0)
        columns = [group.column(at) for at in range(group.num_columns)]
        settings["compression"] = {
            column.path_in_schema: column.compression.replace("UNCOMPRESSED", "NONE")
            for column in columns
        }
    return settings


def _types_of(file: Any) -> list[tuple[str, str, str]]:
    """Return the path, the physical and the logical type of each column."""
    columns = [file.schema.column(at) for at in range(len(file.schema))]
    return [(each.path, each.physical_type, each.logical_type.type) for each in columns]


def _kept_tables(paths: Sequence[Path], take: Take, unit: str | None) -> Iterator[Any]:
    for path in paths:
        with reading(path), formats.open_parquet(path, unit) as file:
            for batch in _batches(file):
                kept = take(len(batch), path)
                if kept.any():
                    yield _filtered(pa.Table.from_batches([batch]), kept)


def _batches(file: Any) -> Iterator[Any]:
    """Yield batches of some megabytes, none from two row groups (nor can pyarrow read all such)."""
    for at in range(file.num_row_groups):
        yield from formats.group_batches(file, at, BYTES_PER_BATCH)


def _filtered(table: pa.Table, kept: NDArray[np.bool_]) -> pa.Table:
    if kept.all():
        return table
    try:
        return table.filter(pa.array(kept))
    except pa.ArrowNotImplementedError:  # views of strings (pyarrow 26): slices do for every type
        edges = np.flatnonzero(np.diff(kept, prepend=False, append=False)).tolist()
        runs = [table.slice(start, end - start) for start, end in list(pairwise(edges))[::2]]
        return pa.concat_tables(runs).combine_chunks()


def _grouped(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """Gather tables to row groups of about so many rows, as far as memory allows."""
    pending: list[pa.Table] = []
    for table in tables:
        pending.append(table)
        large = sum(each.nbytes for each in pending) >= BYTES_PER_GROUP
        if large or sum(map(len, pending)) >= rows:
            yield pa.concat_tables(pending).unify_dictionaries()
            pending = []
    if pending:
        yield pa.concat_tables(pending).unify_dictionaries()


def check_types(paths: Sequence[Path]) -> None:
    """Refuse columns whose type would be lost, such as Parquet's intervals: Arrow has bytes."""
    import pyarrow.parquet as pq

    for path in paths:
        with reading(path), formats.open_parquet(path) as file:
            sink = pa.BufferOutputStream()
            pq.ParquetWriter(sink, file.schema_arrow, **_settings(file)).close()
            copied = _types_of(pq.ParquetFile(pa.BufferReader(sink.getvalue())))
            for (name, _, old), (_, _, new) in zip(_types_of(file), copied, strict=True):
                if old != new and (old, new) not in EQUIVALENT_TYPES:
                    raise InputError(
                        f"the column {name!r} of {path} has a type that cannot be copied unchanged "
                        f"({old} would become {new}): convert or remove the column first"
                    )


def _int96_unit(paths: Sequence[Path]) -> str | None:
    """Choose the unit that holds all timestamps of the old INT96 kind exactly.

    Their days reach beyond what nanoseconds in 64 bits can (1677 to 2262, and pyarrow wraps around
    without a word), their fractions below microseconds. Spark writes them in microseconds.
    """
    fine, far = False, False
    for path in paths:
        for nanoseconds, microseconds in _int96_columns(path):
            scaled = microseconds.cast(nanoseconds.schema, safe=False)
            fine |= not scaled.equals(nanoseconds)
            far |= not _casts(microseconds, nanoseconds.schema)
            if fine and far:
                raise InputError(
                    f"{path} has INT96 timestamps that are both finer than microseconds and beyond "
                    "the years 1677 to 2262, which cannot be copied unchanged: convert them first"
                )
    return "us" if far else None


def _casts(table: pa.Table, schema: pa.Schema) -> bool:
    try:
        table.cast(schema)
    except pa.ArrowInvalid:
        return False
    return True


def _int96_columns(path: Path) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Yield the INT96 columns of a file twice: in nanoseconds and in microseconds."""
    with (
        reading(path),
        formats.open_parquet(path) as one,
        formats.open_parquet(path, "us") as other,
    ):
        columns = [name for name, physical, _ in _types_of(one) if physical == "INT96"]
        if columns:
            both = (file.iter_batches(ROWS_PER_BATCH, columns=columns) for file in (one, other))
            for batches in zip(*both, strict=True):
                fine, coarse = (pa.Table.from_batches([batch]) for batch in batches)
                yield fine, coarse
