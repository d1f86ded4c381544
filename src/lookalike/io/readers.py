"""Paths, tables, data frames and lists → sources of items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lookalike.errors import InputError, UsageError
from lookalike.io import formats
from lookalike.io.columns import Columns, choose_columns, content_type, plain_ids
from lookalike.io.files import TableFile, TextFile, files_of
from lookalike.io.sources import FileSource, ItemSource, TableSource, TextSource

if TYPE_CHECKING:
    from lookalike.config import Unit


def open_source(
    data: Any,
    *,
    text: str | None = None,
    id: str | None = None,
    unit: Unit = "words",
    longest: int = formats.LONGEST,
) -> ItemSource:
    """Open a source: a path, several Path objects, a table of any library, or a list of texts.

    Columns are chosen, and those of several files compared; rows are not read yet. A row of JSONL
    or CSV of more than `longest` bytes will be refused.

    >>> [batch.contents.to_pylist() for batch in open_source(["one text", "another"]).batches(20)]
    [[b'one text'], [b'another']]
    """
    if isinstance(data, str | Path):
        data = [Path(data)]
    if isinstance(data, Sequence) and data and all(isinstance(each, Path) for each in data):
        return _of_paths(data, text, id, unit, longest)
    if hasattr(data, "__arrow_c_stream__") or isinstance(data, pa.Array):
        return _of_arrow(data, text, id, unit)
    if isinstance(data, Iterable) and not isinstance(data, bytes | dict):
        return _of_column(_column_of_list(list(data), unit), unit, "the list")
    raise UsageError(
        f"cannot read items from a {type(data).__name__}: give a path, a list of strings, or a "
        "table of pyarrow, pandas, polars or DuckDB"
    )


# ── Files ─────────────────────────────────────────────────────────────────────────────────────


def _of_paths(
    paths: Sequence[Path], text: str | None, id: str | None, unit: Unit, longest: int
) -> ItemSource:
    files = [file for path in paths for file in files_of(path)]
    texts = [file for file in files if isinstance(file, TextFile)]
    tables = [file for file in files if isinstance(file, TableFile)]
    if tables and texts:
        raise InputError(
            f"{texts[0].path} is a text file among files of rows: give them separately"
        )
    if tables:
        schemas = [formats.schema_of(file) for file in tables]
        columns = _common_columns(tables, schemas, text, id, unit)
        return FileSource(tables, schemas, columns, unit, longest)
    if unit == "tokens":
        raise UsageError("text files hold no lists of tokens: choose words or chars")
    return TextSource(texts, unit)


def _common_columns(
    files: Sequence[TableFile],
    schemas: Sequence[pa.Schema | None],
    text: str | None,
    id: str | None,
    unit: Unit,
) -> Columns:
    """Choose the columns of files; all that have any have to agree about them."""
    first: Columns | None = None
    kinds: dict[str, Path] = {}
    for file, schema in zip(files, schemas, strict=True):
        if schema is None:
            continue
        found = choose_columns(schema, text, id, unit, str(file.path))
        first = first or found
        if (found.text, found.id) != (first.text, first.id):
            raise InputError(
                f"{file.path} does not have the columns of the files before it ({first})"
            )
        if first.id is not None:
            ids = pa.chunked_array([], schema.field(first.id).type)
            kinds.setdefault(str(plain_ids(ids, first.id, str(file.path)).type), file.path)
    if first is None:
        raise InputError(f"{files[0].path} is empty: a JSONL file has one object in each line")
    if len(kinds) > 1:
        examples = ", ".join(f"{kind} ({path})" for kind, path in kinds.items())
        raise InputError(
            f"the id column {first.id!r} has different types in different files: {examples}"
        )
    return first


# ── Data in memory ────────────────────────────────────────────────────────────────────────────


def _of_arrow(data: Any, text: str | None, id: str | None, unit: Unit) -> ItemSource:
    if isinstance(data, pa.Array):
        data = pa.chunked_array([data])
    if isinstance(data, pa.ChunkedArray) or type(data).__name__ == "Series":
        return _of_column(pa.chunked_array(data), unit, "the column")
    table = data if isinstance(data, pa.Table) else pa.table(data)
    columns = choose_columns(table.schema, text, id, unit, "the table")
    return TableSource(table, columns, unit, "the table")


def _of_column(column: pa.ChunkedArray, unit: Unit, where: str) -> ItemSource:
    return TableSource(pa.Table.from_arrays([column], [""]), Columns(), unit, where)


def _column_of_list(items: list[Any], unit: Unit) -> pa.ChunkedArray:
    wanted = "a list of strings" if unit == "tokens" else "a string"
    for at, item in enumerate(items):
        fits = isinstance(item, list | tuple) if unit == "tokens" else isinstance(item, str)
        if not fits and item is not None:
            raise InputError(f"item {at} is a {type(item).__name__}, not {wanted}")
    if unit == "tokens":
        items = [None if item is None else [_as_bytes(token) for token in item] for item in items]
        return pa.chunked_array([pa.array(items, type=content_type(unit))])
    return pa.chunked_array([_text_array(items)])


def _text_array(texts: list[str | None]) -> pa.Array:
    try:
        return pa.array(texts, type=pa.large_string())
    except UnicodeEncodeError:  # lone surrogates: no UTF-8 has them, the kernel replaces them
        return pa.array([None if text is None else _as_bytes(text) for text in texts])


def _as_bytes(token: Any) -> bytes:
    return token if isinstance(token, bytes) else str(token).encode("utf-8", "surrogatepass")
