"""Which columns hold the contents and the ids, and what they become.

Which ones is said by the user or guessed from their names; `Columns` tells what was taken.
Contents become large_binary (or lists of it), ids of every kind of string become string.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from lookalike.errors import InputError

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
            raise InputError(f"{where} {trouble} {wanted!r}; its columns are {listed(names)}")
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
        f"({option}=... in Python); its columns are {listed(schema.names)}"
    )


def listed(names: list[str]) -> str:
    """Return the names of columns for a message."""
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


# ── Values ────────────────────────────────────────────────────────────────────────────────────


def content_type(unit: Unit) -> pa.DataType:
    """Return the type that contents have: texts, or lists of tokens."""
    return pa.large_list(pa.large_binary()) if unit == "tokens" else pa.large_binary()


def contents_of(column: pa.ChunkedArray, unit: Unit, where: str) -> pa.ChunkedArray:
    """Return texts as large_binary, or tokens as lists of it, sharing the bytes where possible."""
    fits = _is_list if unit == "tokens" else _is_text
    if column.type == content_type(unit):
        return column
    if not fits(column.type) and not pa.types.is_null(column.type):
        wanted = "lists of tokens" if unit == "tokens" else "texts"
        hint = (
            "" if unit == "tokens" or not _is_list(column.type) else " (for lists: shingle tokens)"
        )
        raise InputError(f"the contents in {where} are {column.type}, not {wanted}{hint}")
    if unit == "tokens":
        try:
            return column.cast(content_type(unit))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return _cast(column, pa.large_list(pa.large_string()), where).cast(content_type(unit))
    column = decoded(column)
    if pa.types.is_string(column.type) or pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    return column.cast(pa.large_binary())


def _cast(column: pa.ChunkedArray, kind: pa.DataType, where: str) -> pa.ChunkedArray:
    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"the contents in {where} are {column.type}: {error}") from None


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values of a dictionary-encoded column (a category), others as they are."""
    if not pa.types.is_dictionary(column.type):
        return column
    kind = pa.large_string() if _is_text(column.type) else column.type.value_type
    values = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks]
    return pa.chunked_array(values, type=kind)


def plain_ids(column: pa.ChunkedArray, name: str, where: str, first: int = 0) -> pa.ChunkedArray:
    """Return ids of a plain scalar type: strings of every kind as string, the rest as it is.

    `first` is the number of the row that the column begins with.
    """
    if pa.types.is_nested(column.type):
        raise InputError(f"the ids in column {name!r} of {where} are {column.type}, not scalars")
    if column.null_count:
        row = first + pc.index(pc.is_null(column), True).as_py()
        raise InputError(f"row {row} of {where} has no id in column {name!r} (rows count from 0)")
    column = decoded(column)
    if pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
        column = column.cast(pa.string())
    return column
