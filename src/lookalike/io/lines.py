r"""Files of lines (JSONL, CSV) → blocks of whole records.

Reading and copying both cut files here, so that they agree on what a row is.

- JSONL: a row is a line that is not blank.
- CSV: a row is a record as pyarrow's reader sees it, and the first one is the header. Empty lines
  are no rows.
- A byte order mark in front belongs to no row.

How CSV records are told apart
    A quote opens a field only at the field's start, `""` inside a quoted field is a quote, and
    after the closing quote the rest of the field is plain. So what counts is a run of adjacent
    quotes. An even run changes nothing (inside: quotes that are data; outside: an empty field, or
    data). An odd run closes a quoted field; outside of one it opens one if it stands at the start
    of a field, and is data elsewhere. Hence, over the odd runs: one after a comma or a line end
    toggles, any other leaves us outside; and "inside" is the parity of the toggles since the last
    of the others. This is a cumulative sum: no loop over bytes or records is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lookalike.errors import InputError
from lookalike.io.files import HUGE, mapped, reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import FileIO
    from pathlib import Path

    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Places = NDArray[np.intp]

BLOCK = 4 << 20
SCANNED = 256 << 10  # fits the caches: 10 times as fast as a whole block, and no copy of it
MARK = b"\xef\xbb\xbf"
QUOTE, COMMA, RETURN, NEWLINE, OPEN, CLOSE = b'",\r\n{}'
JSON_BLANKS = b" \t\r\n"


@dataclass(frozen=True)
class Block:
    """Whole records: their bytes, where in them each one ends, and where in the file they begin."""

    data: memoryview
    ends: Places
    start: int

    @property
    def starts(self) -> Places:
        """Where in the bytes each record begins."""
        return np.concatenate((np.zeros(1, np.intp), self.ends[:-1]))

    def record(self, at: int) -> bytes:
        """Return the bytes of one record."""
        return bytes(self.data[self.starts[at] : self.ends[at]])

    @property
    def longest(self) -> int:
        """The bytes of the longest record."""
        return int(np.diff(self.ends, prepend=0).max())


@dataclass(frozen=True)
class Lines:
    """How a format of lines is told apart.

    `ends_of` finds where records end in bytes that begin with one; `rows_of` says which records
    are rows; `ended` are the bytes after which a new record can start.
    """

    ends_of: Callable[[Bytes], Places]
    rows_of: Callable[[Block, Path], NDArray[np.bool_]]
    has_header: bool
    ended: tuple[bytes, ...]

    def closes(self, record: bytes) -> bool:
        """Say whether a record, the last of its file, ends where a line does: no quote is open."""
        return len(self.ends_of(np.frombuffer(record + b"\n", np.uint8))) > 0


def blocks(path: Path, lines: Lines, start: int = 0, size: int | None = None) -> Iterator[Block]:
    """Yield blocks of whole records from a place on; a record longer than a block comes alone."""
    with reading(path), path.open("rb", buffering=0) as file:
        at = max(start, len(_mark(file)))
        while block := _block(file, at, lines, size or BLOCK):
            yield block
            at += len(block.data)


def _block(file: FileIO, at: int, lines: Lines, size: int) -> Block | None:
    """Read one block. A long record is read again as a whole, not put together from its parts."""
    wanted = size
    while True:
        if not (data := _bytes(file, at, wanted)):
            return None
        ends = lines.ends_of(np.frombuffer(data, np.uint8))
        if len(ends) or len(data) < wanted:
            break
        wanted *= 2
    if len(data) < wanted and not (len(ends) and ends[-1] == len(data)):
        ends = np.append(ends, len(data))  # the file ends without a line end
    if wanted > size:
        ends, data = ends[:1], b""
        data = _bytes(file, at, int(ends[0]))
    return Block(memoryview(data)[: ends[-1]], ends, at)


def _bytes(file: FileIO, at: int, size: int) -> bytes | memoryview:
    """Read so many bytes, or all there are; the system may give less at a time (2 GiB)."""
    if size > HUGE:
        return mapped(file)[at : at + size]
    file.seek(at)
    data = file.read(size)
    while len(data) < size and (more := file.read(size - len(data))):
        data += more
    return data


def header(path: Path, lines: Lines) -> tuple[bytes, int]:
    """Return the first row of a file and where in the file it ends."""
    for block in blocks(path, lines, size=SCANNED):
        rows = np.flatnonzero(lines.rows_of(block, path))
        if len(rows):
            return block.record(rows[0]), block.start + int(block.ends[rows[0]])
    return b"", 0


def mark_of(path: Path) -> bytes:
    """Return the byte order mark that a file starts with, if it does."""
    with reading(path), path.open("rb", buffering=0) as file:
        return _mark(file)


def _mark(file: FileIO) -> bytes:
    return MARK if file.read(len(MARK)) == MARK else b""


def _where(data: Bytes, *wanted: int) -> Places:
    """Return the places of some bytes."""
    found = [np.zeros(0, np.intp)]
    for first in range(0, len(data), SCANNED):
        part = data[first : first + SCANNED]
        hits = part == wanted[0]
        for each in wanted[1:]:
            hits |= part == each
        found.append(np.flatnonzero(hits) + first)
    return np.concatenate(found)


# ── JSONL ─────────────────────────────────────────────────────────────────────────────────────


def _jsonl_ends(data: Bytes) -> Places:
    return _where(data, NEWLINE) + 1


def _jsonl_rows(block: Block, path: Path) -> NDArray[np.bool_]:
    """Say which lines are rows: those that are not blank.

    A line that begins with { and ends with } holds whole objects, since what can follow a } inside
    of an object does not begin with {. So if there are as many lines as rows were read, then each
    line is one row.
    """
    view, starts = np.frombuffer(block.data, np.uint8), block.starts
    rows: NDArray[np.bool_] = (view[starts] == OPEN) & (view[block.ends - 2] == CLOSE)
    for at in np.flatnonzero(~rows).tolist():
        rows[at] = _is_row(bytes(block.data[starts[at] : block.ends[at]]).strip(JSON_BLANKS), path)
    return rows


def _is_row(line: bytes, path: Path) -> bool:
    """Say whether a line has anything in it; refuse half objects. pyarrow reads null as a row."""
    if line and line != b"null" and not (line[0] == OPEN and line[-1] == CLOSE):
        start = line[:60].decode("utf-8", "replace")
        raise InputError(f"{path} has a line that is not an object: {start!r}")
    return bool(line)


# ── CSV ───────────────────────────────────────────────────────────────────────────────────────


def _csv_ends(data: Bytes) -> Places:
    """Find where CSV records end (see the head of this module).

    A carriage return in the last place is no end yet: a newline may follow.
    """
    marks = _where(data, NEWLINE, RETURN, QUOTE)
    quoting = data[marks] == QUOTE
    ends = marks[~quoting] + 1
    ends = ends[(data[ends - 1] == NEWLINE) | (ends < len(data))]
    halves = (data[ends - 1] == RETURN) & (data[np.minimum(ends, len(data) - 1)] == NEWLINE)
    ends = ends[~halves]
    runs, inside = _quoting(data, marks[quoting])
    outside: Places = ends[~np.concatenate(([False], inside))[np.searchsorted(runs, ends)]]
    return outside


def _quoting(data: Bytes, quotes: Places) -> tuple[Places, NDArray[np.bool_]]:
    """Find the odd runs of quotes, and whether we are inside a quoted field after each."""
    firsts = np.flatnonzero(np.diff(quotes, prepend=-2) > 1)
    odd = (np.diff(firsts, append=len(quotes)) & 1).astype(np.bool_)
    runs = quotes[firsts[odd]]
    before = data[runs - 1]
    toggles = (runs == 0) | (before == COMMA) | (before == NEWLINE) | (before == RETURN)
    count = np.cumsum(toggles)
    reset = np.maximum.accumulate(np.where(toggles, 0, count))
    return runs, ((count - reset) & 1).astype(np.bool_)


def _csv_rows(block: Block, path: Path) -> NDArray[np.bool_]:
    """Say which records are rows: those that are not an empty line."""
    first = np.frombuffer(block.data, np.uint8)[block.starts]
    rows: NDArray[np.bool_] = (first != NEWLINE) & (first != RETURN)
    return rows


JSONL = Lines(_jsonl_ends, _jsonl_rows, has_header=False, ended=(b"\n",))
CSV = Lines(_csv_ends, _csv_rows, has_header=True, ended=(b"\n", b"\r"))
