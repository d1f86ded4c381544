"""Paths, tables, data frames and lists → Corpus.

A source is read into two columns, ids and contents, and nothing else is kept. Which columns these
are is said by the user or guessed from their names; `Columns` tells what was taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from lookalike.data import Corpus
from lookalike.errors import InputError, UsageError
from lookalike.io import formats

if TYPE_CHECKING:
    from lookalike.config import Unit

TEXT_NAMES = ("text", "content", "body")
ID_NAMES = ("id", "key", "url")
TOKEN_NAMES = ("tokens", *TEXT_NAMES)


@dataclass(frozen=True)
class Columns:
    """Which columns hold the contents and the ids, and which of the two were guessed."""

    text: str | None = None
    id: str | None = None
    guessed: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = f"contents from column {self.text!r}" if self.text else "contents as given"
        id = f"ids from column {self.id!r}" if self.id else "row numbers as ids"
        return f"{text}, {id}"


@dataclass(frozen=True)
class Source:
    """A corpus together with the columns it was read from."""

    corpus: Corpus
    columns: Columns


def read(
    data: Any,
    *,
    text: str | None = None,
    id: str | None = None,
    unit: Unit = "words",
) -> Source:
    """Read a source: a path, several Path objects, a table of any library, or a list of texts.

    >>> read(["one text", "another"]).corpus.ids.to_pylist()
    [0, 1]
    """
    if isinstance(data, str | Path):
        data = [Path(data)]
    if isinstance(data, Sequence) and data and all(isinstance(each, Path) for each in data):
        return _read_paths(data, text, id, unit)
    if hasattr(data, "__arrow_c_stream__") or isinstance(data, pa.Array):
        return _read_arrow(data, text, id, unit)
    if isinstance(data, Iterable) and not isinstance(data, bytes | dict):
        return Source(_corpus_of_list(list(data), unit), Columns())
    raise UsageError(
        f"cannot read items from a {type(data).__name__}: give a path, a list of strings, or a "
        "table of pyarrow, pandas, polars or DuckDB"
    )


def join(first: Source, second: Source, *, across: bool) -> Corpus:
    """Put a second collection behind the first; with `across` only pairs of both are asked for."""
    chunks = first.corpus.contents.chunks + second.corpus.contents.chunks
    contents = pa.chunked_array(chunks, type=first.corpus.contents.type)
    return replace(first.corpus, contents=contents, other_ids=second.corpus.ids, across=across)


# ── Columns ───────────────────────────────────────────────────────────────────────────────────


def choose_columns(
    schema: pa.Schema, text: str | None, id: str | None, unit: Unit, where: str
) -> Columns:
    """Say which columns hold contents and ids: the named ones, or a guess from their names.

    The empty name for the ids means that none is wanted: they are row numbers.
    """
    names = schema.names
    for wanted in (text, id):
        if wanted and names.count(wanted) != 1:
            trouble = "has no column" if wanted not in names else "has more than one column"
            raise InputError(f"{where} {trouble} {wanted!r}; its columns are {_listed(names)}")
    guessed = []
    if id is None:
        id = next((name for name in ID_NAMES if names.count(name) == 1 and name != text), None)
        guessed += [id] if id else []
    if text is None:
        text = _guess_text(schema, unit, id, where)
        guessed.append(text)
    return Columns(text, id or None, tuple(guessed))


def _guess_text(schema: pa.Schema, unit: Unit, id: str | None, where: str) -> str:
    likely = TOKEN_NAMES if unit == "tokens" else TEXT_NAMES
    kind_fits = _is_list if unit == "tokens" else _is_text

    def fits(kind: pa.DataType) -> bool:
        return kind_fits(kind) or pa.types.is_null(kind)

    fitting: list[str] = [field.name for field in schema if fits(field.type) and field.name != id]
    for name in likely:
        if fitting.count(name) == 1:
            return name
    if len(fitting) == 1:
        return fitting[0]
    option, what = "text", "lists of tokens" if unit == "tokens" else "texts"
    raise InputError(
        f"cannot guess which column of {where} holds the {what}: say so with --{option} "
        f"({option}=... in Python); its columns are {_listed(schema.names)}"
    )


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:20])
    return shown + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    checks = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
    return any(getattr(pa.types, f"is_{name}")(kind) for name in checks)


def _is_list(kind: pa.DataType) -> bool:
    checks = ("list", "large_list", "fixed_size_list", "list_view", "large_list_view")
    return any(getattr(pa.types, f"is_{name}")(kind) for name in checks)


# ── Sources ───────────────────────────────────────────────────────────────────────────────────


def _read_paths(paths: Sequence[Path], text: str | None, id: str | None, unit: Unit) -> Source:
    files = [file for path in paths for file in formats.files_of(path)]
    if not files:
        raise InputError(f"there are no files to read in {', '.join(map(str, paths))}")
    if all(isinstance(file, formats.TextFile) for file in files):
        if unit == "tokens":
            raise UsageError("text files hold no lists of tokens: choose words or chars")
        return Source(_corpus(*formats.read_texts(files), unit, "the folder"), Columns())
    tables, columns = [], None
    for file in files:
        schema = formats.schema_of(file)
        found = choose_columns(schema, text, id, unit, str(file.path))
        if columns is not None and (found.text, found.id) != (columns.text, columns.id):
            raise InputError(
                f"{file.path} does not have the columns of the files before it ({columns})"
            )
        columns = columns or found
        assert columns.text is not None
        tables.append(formats.read_table(file, columns.text, columns.id, tokens=unit == "tokens"))
    assert columns is not None
    corpus = _corpus_of_tables(tables, columns, unit, str(files[0].path))
    return Source(replace(corpus, column=partial(_column_of_files, files)), columns)


def _column_of_files(
    files: list[formats.TableFile | formats.TextFile], name: str
) -> pa.ChunkedArray:
    for file in files:
        if name not in formats.schema_of(file).names:
            known = _listed(formats.schema_of(file).names)
            raise InputError(f"{file.path} has no column {name!r}; its columns are {known}")
    columns = [formats.read_column(file, name) for file in files]
    kinds = {str(column.type) for column in columns}
    if len(kinds) > 1:
        listed = ", ".join(sorted(kinds))
        raise InputError(f"the column {name!r} has different types in different files: {listed}")
    return pa.chunked_array([chunk for column in columns for chunk in column.chunks])


def _read_arrow(data: Any, text: str | None, id: str | None, unit: Unit) -> Source:
    if isinstance(data, pa.Array):
        data = pa.chunked_array([data])
    if isinstance(data, pa.ChunkedArray) or type(data).__name__ == "Series":
        return Source(_corpus(None, pa.chunked_array(data), unit, "the column"), Columns())
    table = data if isinstance(data, pa.Table) else pa.table(data)
    columns = choose_columns(table.schema, text, id, unit, "the table")
    corpus = _corpus_of_tables([table], columns, unit, "the table")
    return Source(replace(corpus, column=partial(_column_of_table, table)), columns)


def _column_of_table(table: pa.Table, name: str) -> pa.ChunkedArray:
    if name not in table.column_names:
        known = _listed(table.column_names)
        raise InputError(f"the table has no column {name!r}; its columns are {known}")
    return _decoded(table[name])


def _corpus_of_list(items: list[Any], unit: Unit) -> Corpus:
    wanted = "a list of strings" if unit == "tokens" else "a string"
    for at, item in enumerate(items):
        fits = isinstance(item, list | tuple) if unit == "tokens" else isinstance(item, str)
        if not fits and item is not None:
            raise InputError(f"item {at} is a {type(item).__name__}, not {wanted}")
    if unit == "tokens":
        items = [None if item is None else [_as_bytes(token) for token in item] for item in items]
        column = pa.array(items, type=_content_type(unit))
    else:
        column = _text_array(items)
    return _corpus(None, pa.chunked_array([column]), unit, "the list")


def _text_array(texts: list[str | None]) -> pa.Array:
    try:
        return pa.array(texts, type=pa.large_string())
    except UnicodeEncodeError:  # lone surrogates: no UTF-8 has them, the kernel replaces them
        return pa.array([None if text is None else _as_bytes(text) for text in texts])


def _as_bytes(token: Any) -> bytes:
    return token if isinstance(token, bytes) else str(token).encode("utf-8", "surrogatepass")


def _corpus_of_tables(tables: list[pa.Table], columns: Columns, unit: Unit, where: str) -> Corpus:
    contents = pa.chunked_array(
        [chunk for table in tables for chunk in _contents(table[columns.text], unit, where).chunks],
        type=_content_type(unit),
    )
    if columns.id is None:
        return _corpus(None, contents, unit, where)
    ids = [_plain_ids(table[columns.id], columns.id, where) for table in tables]
    kinds = {str(each.type) for each in ids}
    if len(kinds) > 1:
        raise InputError(
            f"the id column {columns.id!r} has different types in different files: "
            f"{', '.join(sorted(kinds))}"
        )
    joined = pa.chunked_array([chunk for each in ids for chunk in each.chunks], type=ids[0].type)
    return _corpus(joined, contents, unit, where)


def _corpus(
    ids: pa.ChunkedArray | None, contents: pa.ChunkedArray, unit: Unit, where: str
) -> Corpus:
    if len(contents) >= 2**31:
        raise InputError(f"there are {len(contents):,} items, more than the 2^31 that fit one run")
    if ids is None:
        ids = pa.chunked_array([pa.array(range(len(contents)), pa.int64())])
    else:
        _check_unique(ids)
    return Corpus(ids, _contents(contents, unit, where))


def _content_type(unit: Unit) -> pa.DataType:
    return pa.large_list(pa.large_binary()) if unit == "tokens" else pa.large_binary()


def _contents(column: pa.ChunkedArray, unit: Unit, where: str) -> pa.ChunkedArray:
    """Return texts as large_binary, or tokens as lists of it, sharing the bytes where possible."""
    fits = _is_list if unit == "tokens" else _is_text
    if column.type == _content_type(unit):
        return column
    if not fits(column.type) and not pa.types.is_null(column.type):
        wanted = "lists of tokens" if unit == "tokens" else "texts"
        hint = (
            "" if unit == "tokens" or not _is_list(column.type) else " (for lists: shingle tokens)"
        )
        raise InputError(f"the contents in {where} are {column.type}, not {wanted}{hint}")
    if unit == "tokens":
        try:
            return column.cast(_content_type(unit))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return _cast(column, pa.large_list(pa.large_string()), where).cast(_content_type(unit))
    column = _decoded(column)
    if pa.types.is_string(column.type) or pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    return column.cast(pa.large_binary())


def _cast(column: pa.ChunkedArray, kind: pa.DataType, where: str) -> pa.ChunkedArray:
    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"the contents in {where} are {column.type}: {error}") from None


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values of a dictionary-encoded column (a category), others as they are."""
    if not pa.types.is_dictionary(column.type):
        return column
    kind = pa.large_string() if _is_text(column.type) else column.type.value_type
    values = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks]
    return pa.chunked_array(values, type=kind)


def _plain_ids(column: pa.ChunkedArray, name: str, where: str) -> pa.ChunkedArray:
    """Return ids of a plain scalar type: strings of every kind as string, the rest as it is."""
    if pa.types.is_nested(column.type):
        raise InputError(f"the ids in column {name!r} of {where} are {column.type}, not scalars")
    if column.null_count:
        row = pc.index(pc.is_null(column), True).as_py()
        raise InputError(f"row {row} of {where} has no id in column {name!r} (rows count from 0)")
    column = _decoded(column)
    if pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
        column = column.cast(pa.string())
    return column


def _check_unique(ids: pa.ChunkedArray) -> None:
    try:
        distinct = pc.count_distinct(ids).as_py()
    except pa.ArrowNotImplementedError:
        raise InputError(
            f"ids of type {ids.type} are not supported: cast them to strings"
        ) from None
    if distinct == len(ids):
        return
    counts = pc.value_counts(ids)
    repeated = counts.filter(pc.greater(counts.field("counts"), 1))[0]
    raise InputError(
        f"the id {repeated['values'].as_py()!r} stands at {repeated['counts'].as_py()} rows: ids "
        "have to be unique; choose another id column, or row numbers (--id '', id='' in Python)"
    )
