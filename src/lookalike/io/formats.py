"""The file formats: Parquet, JSONL, CSV, and folders of text files.

`files_of` turns a path into files, `schema_of` tells a file's columns, `read_table` reads two of
them, `read_texts` reads text files whole.
"""

from __future__ import annotations

import csv as python_csv
import json as python_json
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lookalike.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

FIRST_BLOCK = 16 << 20
TYPED_ROWS = 1000  # how far to look for the first value of a column
JSON_TYPES = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}


@dataclass(frozen=True)
class TableFile:
    """A file of rows and columns."""

    path: Path
    format: str


@dataclass(frozen=True)
class TextFile:
    """A file that is one item; its id is the path relative to the folder that was given."""

    path: Path
    id: str


FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
}


def files_of(path: Path) -> Sequence[TableFile | TextFile]:
    """Return the file itself, the tables of a folder, or the texts of a folder, sorted by path."""
    if not path.exists():
        raise InputError(f"{path} does not exist")
    if not path.is_dir():
        if path.suffix.lower() not in FORMATS:
            allowed = ", ".join(FORMATS)
            raise InputError(
                f"cannot tell the format of {path}: {allowed}, or a folder of text files"
            )
        return [TableFile(path, FORMATS[path.suffix.lower()])]
    inside = sorted(each for each in path.rglob("*") if each.is_file() and not _hidden(each, path))
    if inside and all(each.suffix.lower() in FORMATS for each in inside):
        return [TableFile(each, FORMATS[each.suffix.lower()]) for each in inside]
    if not inside:
        raise InputError(f"the folder {path} has no files")
    return [TextFile(each, each.relative_to(path).as_posix()) for each in inside]


def _hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(folder).parts)


def schema_of(file: TableFile | TextFile) -> pa.Schema:
    """Return the columns of a file of rows."""
    if isinstance(file, TextFile):
        raise InputError(f"{file.path} is a text file among files of rows: give them separately")
    return _guarded(file.path, _SCHEMAS[file.format])


def read_table(file: TableFile | TextFile, text: str, id: str | None, *, tokens: bool) -> pa.Table:
    """Read the contents and, if there is one, the id column."""
    assert isinstance(file, TableFile)
    return _guarded(file.path, lambda path: _READERS[file.format](path, text, id, tokens))


def read_column(file: TableFile | TextFile, name: str) -> pa.ChunkedArray:
    """Read any one column, with the type its values have."""
    assert isinstance(file, TableFile)
    return _guarded(file.path, lambda path: _COLUMN_READERS[file.format](path, name))


def read_texts(files: Sequence[TextFile | TableFile]) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """Read text files whole; return their ids and their bytes."""
    texts = [file for file in files if isinstance(file, TextFile)]
    contents = [_guarded(file.path, lambda path: path.read_bytes()) for file in texts]
    ids = pa.array([file.id for file in texts], pa.string())
    return pa.chunked_array([ids]), pa.chunked_array([pa.array(contents, pa.large_binary())])


def _guarded(path: Path, read: Callable[[Path], Any]) -> Any:
    """Run a reader; what goes wrong names the file."""
    try:
        return read(path)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}: {_first_line(error)}") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or _first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


# ── Parquet ───────────────────────────────────────────────────────────────────────────────────


def _parquet_schema(path: Path) -> pa.Schema:
    import pyarrow.parquet as pq

    return pq.read_schema(path)


def _read_parquet(path: Path, text: str, id: str | None, tokens: bool = False) -> pa.Table:
    import pyarrow.parquet as pq

    wanted = [text] if id is None else [text, id]
    return pq.ParquetFile(path).read(columns=list(dict.fromkeys(wanted)))


# ── CSV ───────────────────────────────────────────────────────────────────────────────────────


def _csv_schema(path: Path) -> pa.Schema:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        header = next(python_csv.reader(file), None)
    if not header:
        raise InputError(f"{path} is empty: a CSV file starts with the names of its columns")
    return pa.schema([(name, pa.string()) for name in header])


def _read_csv(path: Path, text: str, id: str | None, tokens: bool) -> pa.Table:
    from pyarrow import csv

    if tokens:
        raise InputError(f"{path} is CSV, which has no lists of tokens: use Parquet or JSONL")
    kinds = {text: pa.large_binary()} | ({} if id is None or id == text else {id: pa.string()})
    return _read_csv_columns(
        path,
        csv.ConvertOptions(
            column_types=kinds, include_columns=list(kinds), strings_can_be_null=False
        ),
    )


def _read_csv_columns(path: Path, convert: Any) -> pa.Table:
    from pyarrow import csv

    parse = csv.ParseOptions(newlines_in_values=True)
    return _in_growing_blocks(
        path,
        lambda block: csv.read_csv(
            path,
            read_options=csv.ReadOptions(block_size=block),
            parse_options=parse,
            convert_options=convert,
        ),
    )


# ── JSONL ─────────────────────────────────────────────────────────────────────────────────────


def _jsonl_schema(path: Path) -> pa.Schema:
    """Tell the columns from the first rows, and their types from the first that have a value."""
    kinds: dict[str, pa.DataType] = {}
    with path.open("rb") as file:
        rows = ((number, line) for number, line in enumerate(file, start=1) if line.strip())
        for number, line in islice(rows, TYPED_ROWS):
            for name, value in _parse_line(line, path, number).items():
                if kinds.get(name, pa.null()) == pa.null():
                    kinds[name] = _json_type(value)
            if pa.null() not in kinds.values():
                break
    if not kinds:
        raise InputError(f"{path} is empty: a JSONL file has one object in each line")
    return pa.schema(kinds)


def _json_type(value: Any) -> pa.DataType:
    if isinstance(value, list):
        return pa.list_(_json_type(value[0])) if value else pa.null()
    return JSON_TYPES.get(type(value), pa.null())


def _parse_line(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        row = python_json.loads(line)
    except ValueError as error:
        raise InputError(f"{path}, line {number}: this is not JSON ({error})") from None
    if not isinstance(row, dict):
        raise InputError(f"{path}, line {number}: a {type(row).__name__} instead of an object")
    return row


def _read_jsonl(path: Path, text: str, id: str | None, tokens: bool) -> pa.Table:
    schema = _jsonl_schema(path)
    tokens_type = schema.field(text).type
    if pa.types.is_null(tokens_type):
        tokens_type = pa.list_(pa.string())
    fields = {text: tokens_type if tokens else pa.large_string()}
    if id is not None and id != text:
        fields[id] = schema.field(id).type
    try:
        return _read_json_fields(path, fields)
    except pa.ArrowInvalid as error:
        _name_the_bad_line(path, fields)
        raise error


def _read_json_fields(path: Path, fields: dict[str, pa.DataType]) -> pa.Table:
    from pyarrow import json

    parse = json.ParseOptions(explicit_schema=pa.schema(fields), unexpected_field_behavior="ignore")
    return _in_growing_blocks(
        path,
        lambda block: json.read_json(
            path, read_options=json.ReadOptions(block_size=block), parse_options=parse
        ),
    )


def _name_the_bad_line(path: Path, fields: dict[str, pa.DataType]) -> None:
    """Raise an error that names the first line that does not fit, if one can be found."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            row = _parse_line(line, path, number)
            for name, kind in fields.items():
                value = row.get(name)
                if value is not None and _json_type(value) != kind and kind != pa.large_string():
                    raise InputError(
                        f"{path}, line {number}: {name!r} is {value!r}, but the lines before it "
                        f"have {kind}"
                    )
                if kind == pa.large_string() and value is not None and not isinstance(value, str):
                    raise InputError(f"{path}, line {number}: {name!r} is {value!r}, not a text")


def _in_growing_blocks(path: Path, read: Callable[[int], pa.Table]) -> pa.Table:
    """Read with larger and larger blocks until the longest row fits one."""
    size, block = path.stat().st_size, FIRST_BLOCK
    while True:
        try:
            return read(min(block, 2**31 - 1))
        except pa.ArrowInvalid as error:
            straddles = "straddl" in str(error)
            if not straddles or block > max(size, 1):
                raise
            block *= 4


def _parquet_column(path: Path, name: str) -> pa.ChunkedArray:
    return _read_parquet(path, name, None)[name]


def _csv_column(path: Path, name: str) -> pa.ChunkedArray:
    from pyarrow import csv

    return _read_csv_columns(path, csv.ConvertOptions(include_columns=[name]))[name]


def _jsonl_column(path: Path, name: str) -> pa.ChunkedArray:
    kind = _jsonl_schema(path).field(name).type
    try:
        return _read_json_fields(path, {name: kind})[name]
    except pa.ArrowInvalid:
        if not pa.types.is_integer(kind):
            raise
        return _read_json_fields(path, {name: pa.float64()})[name]  # 1, 2, 2.5


_COLUMN_READERS = {"parquet": _parquet_column, "csv": _csv_column, "jsonl": _jsonl_column}
_SCHEMAS = {"parquet": _parquet_schema, "csv": _csv_schema, "jsonl": _jsonl_schema}
_READERS = {"parquet": _read_parquet, "csv": _read_csv, "jsonl": _read_jsonl}
