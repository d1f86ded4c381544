"""Paths → files, and what can be said of a file without knowing its format."""

from __future__ import annotations

import hashlib
import mmap
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from lookalike.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import FileIO
    from pathlib import Path

HUGE = 64 << 20  # what is longer is mapped: it need not be in memory as a whole
EDGE = 64 << 10


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


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Let what goes wrong with an input name it, apart from what goes wrong with the output."""
    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}: {_first_line(error)}") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or _first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def mapped(file: FileIO) -> memoryview:
    """Return the bytes of a whole file without reading them into memory."""
    if not os.fstat(file.fileno()).st_size:
        return memoryview(b"")
    return memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))


def size_of(path: Path) -> int:
    """Return the bytes of a file."""
    with reading(path):
        return path.stat().st_size


def fingerprint(path: Path) -> dict[str, str | int]:
    """Tell a file from what it may become: its place, size, time, and a hash of both its ends.

    The place is absolute: the same file may be named otherwise, or from another folder.
    """
    with reading(path), path.open("rb") as file:
        status = os.fstat(file.fileno())
        edges = hashlib.blake2b(file.read(EDGE), digest_size=16)
        file.seek(max(EDGE, status.st_size - EDGE))
        edges.update(file.read(EDGE))
    return {
        "path": str(path.absolute()),
        "size": status.st_size,
        "mtime_ns": status.st_mtime_ns,
        "hash": edges.hexdigest(),
    }
