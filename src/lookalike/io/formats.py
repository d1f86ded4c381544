"""The file formats of rows and columns: Parquet, JSONL, CSV → pieces of a table.

`schema_of` tells a file's columns, `pieces` reads the contents and the ids from any place on,
`read_column` reads any one column whole. A piece is some consecutive rows, a few megabytes (or one
row, if that is longer), and tells where each of them begins.
"""

from __future__ import annotations

import csv as python_csv
import io
import json as python_json
import re
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lookalike.errors import InputError
from lookalike.io import lines
from lookalike.io.files import reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from lookalike.io.files import TableFile

    Fields = dict[str, pa.DataType]
    Parse = Callable[[lines.Block], pa.Table]
    Blame = Callable[[lines.Block], None]

Place = tuple[int, int]
"""Where a row begins: (byte, row) in files of lines, (row group, row in it) in Parquet."""

START: Place = (0, 0)
BYTES_PER_PIECE = 4 << 20
ROWS_PER_PIECE = 1 << 16
CSV_BLOCK = 256 << 10
LONGEST = 2**31 - 1  # pyarrow parses no longer row
MOST_THREADS = 4  # parse 1 GB a second; each has a block in memory
TYPED_ROWS = 1000  # how far to look for the first value of a column
JSON_TYPES = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}


@dataclass(frozen=True)
class LinePiece:
    """Rows of a file of lines; `starts` are the bytes at which they begin."""

    table: pa.Table
    first: int
    starts: lines.Places

    def place(self, row: int) -> Place:
        """Say where a row of the piece begins."""
        return int(self.starts[row]), self.first + row

    def read(self, row: int) -> int:
        """Return how many bytes of the file lie before a row of the piece."""
        return int(self.starts[row])


@dataclass(frozen=True)
class Group:
    """A row group: which one, the row and about the byte of the file where it begins."""

    at: int
    first: int
    start: float
    bytes_per_row: float


@dataclass(frozen=True)
class GroupPiece:
    """Rows of a row group, from its row `row` on."""

    table: pa.Table
    group: Group
    row: int

    @property
    def first(self) -> int:
        """The number of the first row in the file."""
        return self.group.first + self.row

    def place(self, row: int) -> Place:
        """Say where a row of the piece begins."""
        return self.group.at, self.row + row

    def read(self, row: int) -> int:
        """Return about how many bytes of the file lie before a row of the piece."""
        return int(self.group.start + (self.row + row) * self.group.bytes_per_row)


Piece = LinePiece | GroupPiece
"""Some consecutive rows; `first` is the number in the file of the first of them."""


def schema_of(file: TableFile) -> pa.Schema | None:
    """Return the columns of a file, or None if there is nothing in it that could tell them."""
    with reading(file.path):
        return _SCHEMAS[file.format](file.path)


@dataclass(frozen=True)
class Wanted:
    """What is read of a file: the column of the contents, lists of tokens or texts, and the ids'.

    A row of a file of lines is parsed as a whole; one of more than `longest` bytes is refused.
    """

    text: str
    id: str | None
    tokens: bool = False
    longest: int = LONGEST

    @property
    def columns(self) -> list[str]:
        """The names of the columns, each once."""
        return list(dict.fromkeys([self.text] if self.id is None else [self.text, self.id]))


def pieces(
    file: TableFile, schema: pa.Schema, wanted: Wanted, start: Place = START
) -> Iterator[Piece]:
    """Read the contents and, if there is one, the id column, from a place on."""
    with reading(file.path):
        yield from _PIECES[file.format](file.path, schema, wanted, start)


def read_column(file: TableFile, schema: pa.Schema, name: str) -> pa.ChunkedArray:
    """Read any one column, with the type its values have."""
    with reading(file.path):
        return _COLUMN_READERS[file.format](file.path, schema, name)


# ── Parquet ───────────────────────────────────────────────────────────────────────────────────


def open_parquet(path: Path, int96: str | None = None) -> Any:
    """Open a file to be read page by page, since a row group may be larger than memory."""
    import pyarrow.parquet as pq

    return pq.ParquetFile(
        path, buffer_size=lines.BLOCK, pre_buffer=False, coerce_int96_timestamp_unit=int96
    )


def group_batches(
    file: Any, at: int, size: int, columns: list[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield a row group in batches of about `size` bytes."""
    group = file.metadata.row_group(at)
    fitting = size * group.num_rows // max(_uncompressed(group, columns), 1)
    rows = max(1, min(ROWS_PER_PIECE, fitting))
    yield from file.iter_batches(batch_size=rows, row_groups=[at], columns=columns)


def _uncompressed(group: Any, columns: list[str] | None) -> int:
    """Return how many bytes some columns of a row group have, or all of them."""
    chunks = [group.column(at) for at in range(group.num_columns)]
    return sum(
        chunk.total_uncompressed_size
        for chunk in chunks
        if columns is None or f"{chunk.path_in_schema}.".startswith(tuple(f"{c}." for c in columns))
    )


def _parquet_schema(path: Path) -> pa.Schema:
    import pyarrow.parquet as pq

    return pq.read_schema(path)


def _parquet_pieces(path: Path, schema: pa.Schema, wanted: Wanted, start: Place) -> Iterator[Piece]:
    start_group, start_row = start
    with open_parquet(path) as file:
        for group in _groups(file, path):
            if group.at >= start_group:
                batches = group_batches(file, group.at, BYTES_PER_PIECE, wanted.columns)
                skipped = start_row if group.at == start_group else 0
                for row, batch in _from_row(batches, skipped):
                    yield GroupPiece(pa.Table.from_batches([batch]), group, row)


def _groups(file: Any, path: Path) -> Iterator[Group]:
    """Yield where the row groups lie in a file; its bytes are shared out among them by size."""
    groups = [file.metadata.row_group(at) for at in range(file.num_row_groups)]
    scale = path.stat().st_size / max(sum(group.total_byte_size for group in groups), 1)
    row, start = 0, 0.0
    for at, group in enumerate(groups):
        size = group.total_byte_size * scale
        yield Group(at, row, start, size / max(group.num_rows, 1))
        row, start = row + group.num_rows, start + size


def _from_row(
    batches: Iterable[pa.RecordBatch], start: int
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Leave out the rows before one; yield what remains of each batch, and its first row."""
    row = 0
    for batch in batches:
        skipped = max(start - row, 0)
        if skipped < len(batch):
            yield row + skipped, batch.slice(skipped)
        row += len(batch)


def _parquet_column(path: Path, schema: pa.Schema, name: str) -> pa.ChunkedArray:
    import pyarrow.parquet as pq

    return pq.ParquetFile(path).read(columns=[name])[name]


# ── Lines: JSONL and CSV ──────────────────────────────────────────────────────────────────────


def _line_pieces(
    path: Path,
    how: lines.Lines,
    parse: Parse,
    start: Place,
    blame: Blame | None = None,
    longest: int = LONGEST,
) -> Iterator[Piece]:
    """Parse blocks of records, several at a time, and say where each row begins.

    If a block cannot be parsed, `blame` may find better words for it.
    """
    offset, first = start
    if how.has_header and not offset:
        _, offset = lines.header(path, how)
    work = partial(_parsed, path, how, parse, blame)
    for future in _ahead(work, _of_rows_up_to(longest, path, lines.blocks(path, how, offset))):
        with _counting_rows_from(first):
            table, starts = future.result()
        if len(table):
            yield LinePiece(table, first, starts)
        first += len(table)


def _of_rows_up_to(
    longest: int, path: Path, blocks: Iterable[lines.Block]
) -> Iterator[lines.Block]:
    """Pass blocks on; a row that is too long to be parsed in the memory there is stops it."""
    longest = min(longest, LONGEST)
    for block in blocks:
        if len(block.data) > max(longest, lines.BLOCK):
            raise InputError(
                f"{path} has a row of {len(block.data):,} bytes at byte {block.start:,}, and at "
                f"most {longest:,} can be parsed: allow more memory (--memory, up to rows of "
                "2 GiB), or give such items as text files or as Parquet"
            )
        yield block


def _ahead(
    work: Callable[[lines.Block], Any], blocks: Iterable[lines.Block]
) -> Iterator[Future[Any]]:
    """Work on some blocks at a time, in threads; on a block of one long record alone."""
    threads = min(pa.cpu_count(), MOST_THREADS)
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Any]] = deque()
        for block in blocks:
            alone = len(block.data) > lines.BLOCK
            while len(waiting) > (0 if alone else threads):
                yield waiting.popleft()
            waiting.append(pool.submit(work, block))
            del block
            if alone:
                yield waiting.popleft()
        yield from waiting


def _parsed(
    path: Path, how: lines.Lines, parse: Parse, blame: Blame | None, block: lines.Block
) -> tuple[pa.Table, lines.Places]:
    """Return the rows of a block, and where in the file each begins."""
    try:
        table = parse(block)
        starts = block.starts[how.rows_of(block, path)] + block.start
        if len(table) != len(starts):
            raise InputError(
                f"{path} has {len(table):,} rows in {len(starts):,} lines from byte "
                f"{block.start:,} on: each row has to be one line"
            )
    except (pa.ArrowInvalid, InputError):
        if blame is not None:
            blame(block)
        raise
    return table, starts


@contextmanager
def _counting_rows_from(first: int) -> Iterator[None]:
    """Let an error that names a row of a block name the row of the file."""
    try:
        yield
    except pa.ArrowInvalid as error:
        counted = re.sub(
            r"Row #(\d+)", lambda found: f"row {first + int(found[1]) - 1}", str(error), count=1
        )
        raise pa.ArrowInvalid(counted) from error


# ── CSV ───────────────────────────────────────────────────────────────────────────────────────


def _csv_schema(path: Path) -> pa.Schema:
    first, _ = lines.header(path, lines.CSV)
    text = first.decode("utf-8", "replace")
    names = next(python_csv.reader(io.StringIO(text, newline="")), None)
    if not names:
        raise InputError(f"{path} is empty: a CSV file starts with the names of its columns")
    return pa.schema([(name, pa.string()) for name in names])


def _csv_pieces(path: Path, schema: pa.Schema, wanted: Wanted, start: Place) -> Iterator[Piece]:
    if wanted.tokens:
        raise InputError(f"{path} is CSV, which has no lists of tokens: use Parquet or JSONL")
    kinds = dict.fromkeys(wanted.columns, pa.string()) | {wanted.text: pa.large_binary()}
    parse = partial(_parse_csv, schema.names, kinds)
    yield from _line_pieces(path, lines.CSV, parse, start, longest=wanted.longest)


def _parse_csv(
    names: list[str], kinds: dict[str, pa.DataType | None], block: lines.Block
) -> pa.Table:
    """Parse the wanted columns; where no type is given, it is guessed.

    What comes last pyarrow parses three times as slowly as the blocks before it: so it is short.
    """
    from pyarrow import csv

    size = max(CSV_BLOCK, block.longest)
    return csv.read_csv(
        pa.BufferReader(block.data),
        csv.ReadOptions(use_threads=False, block_size=size, column_names=names),
        csv.ParseOptions(newlines_in_values=True),
        csv.ConvertOptions(
            column_types={name: kind for name, kind in kinds.items() if kind is not None},
            include_columns=list(kinds),
            strings_can_be_null=False,
        ),
    )


def _csv_column(path: Path, schema: pa.Schema, name: str) -> pa.ChunkedArray:
    """Read a column with the type that all its blocks have, or else as strings."""

    def read(kind: pa.DataType | None) -> pa.ChunkedArray:
        parse = partial(_parse_csv, schema.names, {name: kind})
        tables = [piece.table for piece in _line_pieces(path, lines.CSV, parse, START)]
        empty = pa.table({name: pa.nulls(0)})
        return pa.concat_tables([empty, *tables], promote_options="permissive")[name]

    try:
        return read(None)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return read(pa.string())


# ── JSONL ─────────────────────────────────────────────────────────────────────────────────────


def _jsonl_schema(path: Path) -> pa.Schema | None:
    """Tell the columns from the first rows, and their types from the first that have a value."""
    kinds: dict[str, pa.DataType] | None = None
    with path.open("rb") as file:
        rows = ((number, line) for number, line in enumerate(file, start=1) if line.strip())
        for number, line in islice(rows, TYPED_ROWS):
            kinds = kinds or {}
            for name, value in _parse_line(line, path, number).items():
                if kinds.get(name, pa.null()) == pa.null():
                    kinds[name] = _json_type(value)
            if pa.null() not in kinds.values():
                break
    return None if kinds is None else pa.schema(kinds)


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


def _jsonl_pieces(path: Path, schema: pa.Schema, wanted: Wanted, start: Place) -> Iterator[Piece]:
    fields = {name: schema.field(name).type for name in wanted.columns}
    if not wanted.tokens:
        fields[wanted.text] = pa.large_string()
    elif pa.types.is_null(fields[wanted.text]):
        fields[wanted.text] = pa.list_(pa.string())
    parse, blame = partial(_parse_json, fields), partial(_name_the_bad_line, path, fields)
    yield from _line_pieces(path, lines.JSONL, parse, start, blame, wanted.longest)


def _parse_json(fields: Fields, block: lines.Block) -> pa.Table:
    from pyarrow import json

    schema = pa.schema(fields)
    return json.read_json(
        pa.BufferReader(block.data),
        json.ReadOptions(use_threads=False, block_size=len(block.data)),
        json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
    )


def _name_the_bad_line(path: Path, fields: Fields, block: lines.Block) -> None:
    """Raise an error that names the first line that does not fit, if one can be found."""
    first = _line_number(path, block.start)
    for number, line in enumerate(io.BytesIO(block.data), start=first):
        if not line.strip() or line.strip() == b"null":
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


def _line_number(path: Path, place: int) -> int:
    """Return the number of the line, counted from 1, that begins at a byte of a file."""
    number = 1
    with path.open("rb") as file:
        while block := file.read(min(lines.BLOCK, place - file.tell())):
            number += block.count(b"\n")
    return number


def _jsonl_column(path: Path, schema: pa.Schema, name: str) -> pa.ChunkedArray:
    kind = schema.field(name).type

    def read(kind: pa.DataType) -> pa.ChunkedArray:
        parse = partial(_parse_json, {name: kind})
        tables = [piece.table for piece in _line_pieces(path, lines.JSONL, parse, START)]
        return pa.chunked_array([chunk for each in tables for chunk in each[name].chunks], kind)

    try:
        return read(kind)
    except pa.ArrowInvalid:
        if not pa.types.is_integer(kind):
            raise
        return read(pa.float64())  # 1, 2, 2.5


_SCHEMAS = {"parquet": _parquet_schema, "csv": _csv_schema, "jsonl": _jsonl_schema}
_PIECES = {"parquet": _parquet_pieces, "csv": _csv_pieces, "jsonl": _jsonl_pieces}
_COLUMN_READERS = {"parquet": _parquet_column, "csv": _csv_column, "jsonl": _jsonl_column}
