"""Files, texts and tables as sources: batches of items that can be read again from any place.

A source is read in pieces, as its format gives them; here pieces are put together and cut into
batches. A batch takes as many items as fit its size, so where it ends depends on the items and
the size alone, and a cursor is the place of the item that comes next.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lookalike.data import Batch
from lookalike.errors import InputError
from lookalike.io import formats
from lookalike.io.columns import Columns, content_type, contents_of, decoded, listed, plain_ids
from lookalike.io.files import HUGE, fingerprint, mapped, reading, size_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from lookalike.config import Unit
    from lookalike.data import Cursor
    from lookalike.io.files import TableFile, TextFile

    Held = tuple[pa.ChunkedArray, pa.ChunkedArray | None]

ROWS_PER_PIECE = 1 << 16
BYTES_PER_BATCH = 32 << 20
ITEM = 8  # what an item takes beside its bytes: without it, a batch of empty items had no end


@dataclass(frozen=True)
class Piece:
    """Some consecutive items; `where` gives the cursor of each, and the bytes read before it."""

    contents: pa.ChunkedArray
    ids: pa.ChunkedArray | None
    where: Callable[[int], tuple[Cursor, int]]


class ItemSource(ABC):
    """A source of items (see `lookalike.data.Source`), and the columns they are read from."""

    columns = Columns()
    unit: Unit

    @property
    @abstractmethod
    def size(self) -> int:
        """The bytes in all, of the files or of the contents in memory."""

    @abstractmethod
    def pieces(self, cursor: Cursor | None) -> Iterator[Piece]:
        """Read from a cursor on, in pieces of any size."""

    @property
    @abstractmethod
    def end(self) -> Cursor:
        """The cursor behind the last item."""

    @abstractmethod
    def fingerprint(self) -> list[dict[str, str | int]]:
        """Tell what was read so that a change of it can be seen."""

    @abstractmethod
    def column(self, name: str) -> pa.ChunkedArray:
        """Read any column by its name, one value for each item."""

    def batches(self, size: int, cursor: Cursor | None = None) -> Iterator[Batch]:
        """Read from a cursor on, in batches of about `size` bytes, one item at least."""
        held: list[Held] = []
        room = size
        for piece in self.pieces(cursor):
            at, starts = 0, _starts(piece.contents)
            while at < len(piece.contents):
                fitting = int(np.searchsorted(starts, starts[at] + room, side="right")) - 1
                last = max(fitting, at if held else at + 1)
                if last > at:
                    held.append(_sliced(piece, at, last))
                    room -= int(starts[last] - starts[at])
                if last < len(piece.contents):
                    yield _batch(held, *piece.where(last))
                    pa.default_memory_pool().release_unused()  # a third less at the peak
                    room = size
                at = last
            del piece, starts
        if held:
            yield _batch(held, self.end, self.size)

    def take(self, positions: list[int]) -> pa.Array:
        """Read the contents of some items."""
        wanted, order = np.unique(np.array(positions, np.int64), return_inverse=True)
        found, first, done = [pa.array([], content_type(self.unit))], 0, 0
        for batch in self.batches(BYTES_PER_BATCH) if len(wanted) else ():
            upto = int(np.searchsorted(wanted, first + len(batch.contents)))
            found.append(batch.contents.take(pa.array(wanted[done:upto] - first)))
            first, done = first + len(batch.contents), upto
            if done == len(wanted):
                break
        if done < len(wanted):
            raise InputError(f"there is no item {wanted[done]}: the input has {first:,} items")
        return pa.concat_arrays(found).take(pa.array(order))


def _starts(contents: pa.ChunkedArray) -> NDArray[np.int64]:
    """Return where items would begin if all lay one behind the other, each with its offset."""
    sizes = [np.zeros(1, np.int64), *(_sizes(chunk) for chunk in contents.chunks)]
    return np.concatenate(sizes).cumsum()


def _sizes(contents: pa.Array) -> NDArray[np.int64]:
    """Return the bytes of each text or list, with its offset and those of the tokens."""
    if pa.types.is_large_binary(contents.type):
        return np.diff(_offsets(contents)) + ITEM
    tokens = np.concatenate((np.zeros(1, np.int64), _sizes(contents.values).cumsum()))
    return np.diff(tokens[np.asarray(contents.offsets, np.int64)]) + ITEM


def _offsets(texts: pa.Array) -> NDArray[np.int64]:
    buffer = texts.buffers()[1]
    if buffer is None:
        return np.zeros(len(texts) + 1, np.int64)
    return np.frombuffer(buffer, np.int64)[texts.offset : texts.offset + len(texts) + 1]


def _sliced(piece: Piece, first: int, last: int) -> Held:
    ids = None if piece.ids is None else piece.ids.slice(first, last - first)
    return piece.contents.slice(first, last - first), ids


def _batch(held: list[Held], cursor: Cursor, read: int) -> Batch:
    """Join what is held, and hold it no longer."""
    contents = _joined([contents for contents, _ in held])
    ids = _joined([ids for _, ids in held if ids is not None]) if held[0][1] is not None else None
    held.clear()
    return Batch(contents, ids, cursor, read)


def _joined(columns: list[pa.ChunkedArray]) -> pa.Array:
    """Return one array of all values: a copy, unless they are one already."""
    chunks = [chunk for column in columns for chunk in column.chunks]
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)


# ── Files of rows ─────────────────────────────────────────────────────────────────────────────


class FileSource(ItemSource):
    """Files of rows, one behind the other. A cursor is (file, place in it)."""

    def __init__(
        self,
        files: Sequence[TableFile],
        schemas: Sequence[pa.Schema | None],
        columns: Columns,
        unit: Unit,
        longest: int = formats.LONGEST,
    ) -> None:
        self.files = files
        self.longest = longest
        self.schemas = schemas
        self.columns = columns
        self.unit = unit
        self.sizes = [size_of(file.path) for file in files]

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(self.sizes)

    @property
    def end(self) -> Cursor:
        """The start of a file that does not exist."""
        return len(self.files), *formats.START

    def pieces(self, cursor: Cursor | None) -> Iterator[Piece]:
        """Read the files from a cursor on."""
        first, *place = cursor or (0, *formats.START)
        for at in range(first, len(self.files)):
            start = (place[0], place[1]) if at == first else formats.START
            yield from self._pieces_of(at, start)

    def _pieces_of(self, at: int, start: formats.Place) -> Iterator[Piece]:
        file, schema, columns = self.files[at], self.schemas[at], self.columns
        if schema is None:
            return
        assert columns.text is not None
        where = str(file.path)
        wanted = formats.Wanted(columns.text, columns.id, self.unit == "tokens", self.longest)
        for piece in formats.pieces(file, schema, wanted, start):
            yield Piece(
                contents_of(piece.table[columns.text], self.unit, where),
                _ids(piece.table, columns, where, piece.first),
                partial(self._where, at, piece),
            )

    def _where(self, at: int, piece: formats.Piece, row: int) -> tuple[Cursor, int]:
        return (at, *piece.place(row)), sum(self.sizes[:at]) + piece.read(row)

    def fingerprint(self) -> list[dict[str, str | int]]:
        """Tell of each file where and how large it is, from when, a hash of its ends, columns."""
        text, id = self.columns.text or "", self.columns.id or ""
        return [
            {**fingerprint(file.path), "text column": text, "id column": id} for file in self.files
        ]

    def column(self, name: str) -> pa.ChunkedArray:
        """Read a column of all files."""
        known = [
            (file, schema)
            for file, schema in zip(self.files, self.schemas, strict=True)
            if schema is not None
        ]
        for file, schema in known:
            if name not in schema.names:
                has = listed(schema.names)
                raise InputError(f"{file.path} has no column {name!r}; its columns are {has}")
        columns = [formats.read_column(file, schema, name) for file, schema in known]
        kinds = {str(column.type) for column in columns}
        if len(kinds) > 1:
            found = ", ".join(sorted(kinds))
            raise InputError(f"the column {name!r} has different types in different files: {found}")
        return pa.chunked_array(
            [chunk for column in columns for chunk in column.chunks], columns[0].type
        )


def _ids(table: pa.Table, columns: Columns, where: str, first: int) -> pa.ChunkedArray | None:
    return columns.id and plain_ids(table[columns.id], columns.id, where, first)


# ── Text files ────────────────────────────────────────────────────────────────────────────────


class TextSource(ItemSource):
    """Files that are one item each, named by their paths. A cursor is the number of a file."""

    def __init__(self, files: Sequence[TextFile], unit: Unit) -> None:
        self.files = files
        self.unit = unit
        self._before = np.cumsum([0, *(size_of(file.path) for file in files)])

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return int(self._before[-1])

    @property
    def end(self) -> Cursor:
        """The number of files."""
        return (len(self.files),)

    def pieces(self, cursor: Cursor | None) -> Iterator[Piece]:
        """Read some small files at a time, or one large one."""
        (first,) = cursor or (0,)
        texts: list[bytes | memoryview] = []
        size = 0
        for at in range(first, len(self.files)):
            with reading(self.files[at].path), self.files[at].path.open("rb", buffering=0) as file:
                huge = self._before[at + 1] - self._before[at] > HUGE
                text = mapped(file) if huge else file.readall()
            if texts and size + len(text) > formats.BYTES_PER_PIECE:
                yield self._piece(at - len(texts), texts)
                texts, size = [], 0
            texts.append(text)
            size += len(text)
        if texts:
            yield self._piece(len(self.files) - len(texts), texts)

    def _piece(self, first: int, texts: list[bytes | memoryview]) -> Piece:
        contents = _one_text(texts[0]) if len(texts) == 1 else pa.array(texts, pa.large_binary())
        ids = pa.array([file.id for file in self.files[first : first + len(texts)]], pa.string())
        return Piece(
            pa.chunked_array([contents]), pa.chunked_array([ids]), partial(self._where, first)
        )

    def _where(self, first: int, row: int) -> tuple[Cursor, int]:
        return (first + row,), int(self._before[first + row])

    def fingerprint(self) -> list[dict[str, str | int]]:
        """Tell of each file where it is, how large, from when, a hash of its ends, and its id.

        The id depends on the folder that was given: the same files may have others.
        """
        return [{**fingerprint(file.path), "id": file.id} for file in self.files]

    def column(self, name: str) -> pa.ChunkedArray:
        """Refuse: texts have no columns."""
        raise InputError(f"text files have no columns, so there is no {name!r}")


def _one_text(text: bytes | memoryview) -> pa.Array:
    """Wrap the bytes of one text, without a copy."""
    offsets = pa.py_buffer(np.array([0, len(text)], np.int64))
    return pa.Array.from_buffers(pa.large_binary(), 1, [None, offsets, pa.py_buffer(text)])


# ── Tables in memory ──────────────────────────────────────────────────────────────────────────


class TableSource(ItemSource):
    """A table, or a single column, in memory. A cursor is the number of a row."""

    def __init__(self, table: pa.Table, columns: Columns, unit: Unit, where: str) -> None:
        self.table = table
        self.columns = columns
        self.unit = unit
        self.where = where

    @property
    def _column(self) -> pa.ChunkedArray:
        """The column with the contents: the named one, or the only one."""
        return self.table[self.columns.text or 0]

    @property
    def size(self) -> int:
        """The bytes of the contents."""
        return int(self._column.nbytes)

    @property
    def end(self) -> Cursor:
        """The number of rows."""
        return (len(self.table),)

    def pieces(self, cursor: Cursor | None) -> Iterator[Piece]:
        """Slice the table."""
        (start,) = cursor or (0,)
        for first in range(start, len(self.table), ROWS_PER_PIECE):
            rows = self.table.slice(first, ROWS_PER_PIECE)
            yield Piece(
                self._contents(first, ROWS_PER_PIECE),
                _ids(rows, self.columns, self.where, first),
                partial(self._where, first),
            )

    def _where(self, first: int, row: int) -> tuple[Cursor, int]:
        return (first + row,), self.size * (first + row) // len(self.table)

    def _contents(self, first: int, n: int) -> pa.ChunkedArray:
        return contents_of(self._column.slice(first, n), self.unit, self.where)

    def fingerprint(self) -> list[dict[str, str | int]]:
        """Tell how many rows and bytes there are, and a hash of all contents and ids.

        A table has no time of its last change that would tell of one in its middle.
        """
        hashed = hashlib.blake2b(digest_size=16)
        for piece in self.pieces(None):
            for column in (piece.contents, piece.ids):
                for chunk in column.chunks if column is not None else ():
                    _hash_values(chunk, hashed)
        return [
            {
                "kind": self.where,
                "rows": len(self.table),
                "size": self.size,
                "hash": hashed.hexdigest(),
            }
        ]

    def column(self, name: str) -> pa.ChunkedArray:
        """Return a column of the table."""
        if self.columns.text is None:
            raise InputError(f"{self.where} has no columns, so there is no {name!r}")
        if name not in self.table.column_names:
            known = listed(self.table.column_names)
            raise InputError(f"{self.where} has no column {name!r}; its columns are {known}")
        return decoded(self.table[name])

    def take(self, positions: list[int]) -> pa.Array:
        """Return the contents of some rows."""
        rows = self._column.take(pa.array(positions, pa.int64()))
        return contents_of(rows, self.unit, self.where).combine_chunks()


def _hash_values(values: pa.Array, hashed: hashlib.blake2b) -> None:
    """Add values to a hash, wherever they are cut into chunks."""
    for value in values.to_pylist():
        raw = value if isinstance(value, bytes) else repr(value).encode()
        hashed.update(b"%s %d\n" % (type(value).__name__.encode(), len(raw)))
        hashed.update(raw)
