"""The rows that are kept → files, unchanged.

`lookalike dedup` decides about items; here the decisions meet the files again. Nothing is parsed
that need not be, because what is parsed and printed again comes back changed: a number loses its
digits, a quote its style, a line its end.

- The inputs are files of rows, all of one format, or folders of texts; never both. Items are
  numbered as `readers.open_source` numbers them: input by input, file by file (`files_of`), row by
  row. `kept` has one entry for each, and that it has exactly as many is checked.
- An output with the extension of a table is one file with all kept rows; any other name is a folder
  with a file for each input file (of tables) or for each kept file (of texts).
- JSONL and CSV: rows (see `lines`) are copied byte for byte, a header first. Blank lines are not
  copied; a byte order mark stays in front.
- Parquet: rows are decoded, chosen and encoded again (see `parquet`).
- All or nothing: the output is written beside its target (".NAME.PROCESS-xxxxxxxx.part") and takes
  its name when it is complete. Until then an older output stays as it was.
- Blocks of some megabytes (or one row, if that is longer) are in memory at a time, and the bytes
  written depend on the bytes read and on `kept` alone.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from lookalike.errors import InputError, OutputError, UsageError
from lookalike.io import formats, lines, parquet, writers
from lookalike.io.files import FORMATS, TableFile, files_of, fingerprint, reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from lookalike.io.files import TextFile


def check_output(inputs: Sequence[Path], output: Path, *, force: bool = False) -> None:
    """Refuse an output that could not be written, before any work is done for it."""
    _plan(inputs, output, force=force)


def copy_rows(
    inputs: Sequence[Path],
    kept: NDArray[np.bool_],
    output: Path,
    *,
    force: bool = False,
    read: Sequence[Mapping[str, str | int]] | None = None,
) -> None:
    """Copy the rows of the inputs that are kept, in input order.

    `kept` has one entry per item, in the order in which `readers.open_source` numbers them. `read`
    is the fingerprint of the source that was read: where a file is not the same any more, `kept`
    may speak of other rows, even if there are as many.
    """
    plan = _plan(inputs, output, force=force)
    _check_unchanged(plan.paths, read)
    decisions = _Decisions(kept)
    if plan.one_file:
        with writers.replacing(output) as beside:
            _COPIERS[plan.format](plan.paths, decisions, beside)
            decisions.check_all_taken()
        return
    with _replacing_folder(output.resolve()) as beside:
        for path, name in zip(plan.paths, plan.names, strict=True):
            _copy_into(beside / name, path, decisions, plan.format)
        decisions.check_all_taken()


def _check_unchanged(paths: Sequence[Path], read: Sequence[Mapping[str, str | int]] | None) -> None:
    """Refuse files that are not what they were when they were read."""
    if read is None:
        return
    if len(paths) != len(read):
        raise InputError(
            f"there are {len(paths):,} files, but {len(read):,} were read: nothing was written"
        )
    for path, before in zip(paths, read, strict=True):
        if not fingerprint(path).items() <= before.items():
            raise InputError(f"{path} has changed since it was read: nothing was written")


class _Decisions:
    """The decisions about the items, handed out in input order."""

    def __init__(self, kept: NDArray[np.bool_]) -> None:
        self._kept = kept
        self._taken = 0

    def take(self, n: int, path: Path) -> NDArray[np.bool_]:
        """Return the decisions about the next `n` rows, which are in the file `path`."""
        if self._taken + n > len(self._kept):
            raise InputError(
                f"{path} has more rows than the {len(self._kept):,} that were read from the "
                f"inputs: {_WHY_COUNTS_DIFFER}"
            )
        self._taken += n
        return self._kept[self._taken - n : self._taken]

    def check_all_taken(self) -> None:
        if self._taken < len(self._kept):
            raise InputError(
                f"the inputs have {self._taken:,} rows, but {len(self._kept):,} were read from "
                f"them: {_WHY_COUNTS_DIFFER}"
            )


_WHY_COUNTS_DIFFER = (
    "a file has changed since, or is JSONL with several objects in a line or one object over "
    "several lines; nothing was written"
)


def _copy_into(target: Path, path: Path, decisions: _Decisions, format: str) -> None:
    """Copy what is kept of one file to a file in a new folder."""
    if format == "text" and not decisions.take(1, path)[0]:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if format == "text":
        _copy_text(path, target)
        return
    _COPIERS[format]([path], decisions, target)
    with target.open("rb") as file:
        os.fsync(file.fileno())


def _copy_text(path: Path, target: Path) -> None:
    with target.open("wb") as file:
        for block in _blocks(path):
            file.write(block)
    shutil.copystat(path, target)


# ── What is to be copied where ────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Plan:
    """The files to copy, their names in a folder of output, their format ("text" for texts)."""

    paths: Sequence[Path]
    names: Sequence[PurePosixPath]
    format: str
    one_file: bool


def _plan(inputs: Sequence[Path], output: Path, *, force: bool) -> _Plan:
    """Say what is to be copied where, and refuse what cannot work."""
    found = [(path, file) for path in inputs for file in files_of(path)]
    format = _format_of([file for _, file in found])
    paths = [file.path for _, file in found]
    names = [_name(path, file.path) for path, file in found]
    one_file = output.suffix.lower() in FORMATS
    check_apart([*inputs, *(path for path in paths if path.is_symlink())], output)
    if format == "parquet":
        parquet.check_types(paths)
    if one_file:
        _check_format(format, output, paths[0])
        _check_same_columns(paths, format)
    else:
        _check_names(names, paths)
    _check_place(output, one_file=one_file, force=force)
    return _Plan(paths, names, format, one_file)


def _format_of(files: Sequence[TableFile | TextFile]) -> str:
    """Return the one format that all files have."""
    first: dict[str, Path] = {}
    for file in files:
        first.setdefault(_format(file), file.path)
    if len(first) > 1:
        examples = ", ".join(f"{format} ({path})" for format, path in first.items())
        raise UsageError(
            f"the inputs are of different formats: {examples}; rows are copied unchanged, so give "
            "files of one format at a time"
        )
    if not first:
        raise UsageError("there are no inputs: name files or folders")
    return next(iter(first))


def _format(file: TableFile | TextFile) -> str:
    return file.format if isinstance(file, TableFile) else "text"


def _name(given: Path, file: Path) -> PurePosixPath:
    """Return the name of a file in a folder of output."""
    return PurePosixPath(file.name if given == file else file.relative_to(given).as_posix())


def check_apart(sources: Sequence[Path], output: Path, what: str = "output") -> None:
    """Refuse an output, or what else is written, that shares files with the inputs."""
    target = output.resolve()
    for source in sources:
        resolved = source.resolve()
        if target == resolved or resolved in target.parents:
            raise UsageError(
                f"the {what} {output} is the input {source} or inside it: inputs are not changed, "
                "so choose a place outside"
            )
        if target in resolved.parents:
            raise UsageError(
                f"the input {source} is inside the {what} {output}: choose another one"
            )


def _check_format(format: str, output: Path, example: Path) -> None:
    wanted = FORMATS[output.suffix.lower()]
    if format == "text":
        raise UsageError(f"the inputs are text files: name a folder for them instead of {output}")
    if wanted != format:
        raise UsageError(
            f"the output {output} is {wanted}, but the inputs are {format} ({example}): rows are "
            f"copied unchanged, so give the output the extension {example.suffix} or name a folder"
        )


def _check_same_columns(paths: Sequence[Path], format: str) -> None:
    """Refuse to put rows of different columns into one file; JSONL has no columns."""
    if format == "jsonl" or len(paths) == 1:
        return
    schemas = [formats.schema_of(TableFile(path, format)) for path in paths]
    for path, schema in zip(paths, schemas, strict=True):
        if schema is not None and not schema.equals(schemas[0]):
            raise InputError(
                f"{path} does not have the columns of {paths[0]}, so their rows do not fit one "
                f"file: name a folder as output ({_first_difference(schemas[0], schema)})"
            )


def _first_difference(expected: pa.Schema, schema: pa.Schema) -> str:
    for one, other in zip(expected, schema, strict=False):
        if not one.equals(other):
            return f"{other.name}: {other.type} instead of {one.name}: {one.type}"
    return f"{len(schema)} columns instead of {len(expected)}"


def _check_names(names: Sequence[PurePosixPath], paths: Sequence[Path]) -> None:
    """Refuse two files that would get one name, and a file that would be another one's folder."""
    owners: dict[PurePosixPath, Path] = {}
    for name, path in zip(names, paths, strict=True):
        if name in owners:
            raise UsageError(
                f"{owners[name]} and {path} would both be written to {name}: give them in one "
                "folder, or one at a time"
            )
        owners[name] = path
    for name, path in owners.items():
        for parent in name.parents:
            if parent in owners:
                raise UsageError(
                    f"{owners[parent]} and {path} would be written to {parent} and {name}, but "
                    f"{parent} cannot be a file and a folder: give them one at a time"
                )


def _check_place(output: Path, *, one_file: bool, force: bool) -> None:
    """Refuse a place where nothing can or may be written."""
    target = output.absolute() if one_file else output.resolve()
    if not target.parent.is_dir():
        raise OutputError(f"the folder {target.parent} does not exist")
    if one_file and target.is_dir():
        raise OutputError(f"{output} is a folder: name a file, or a folder without extension")
    if not one_file and target.exists() and not target.is_dir():
        extensions = ", ".join(FORMATS)
        raise OutputError(f"{output} is a file: name a folder, or a file with one of {extensions}")
    if not one_file and Path.cwd().is_relative_to(target):
        raise UsageError(f"the output {output} contains the current folder: name a new folder")
    if target.exists() and not force:
        raise OutputError(f"{output} exists already: choose another name, or --force to replace it")
    if not os.access(target.parent, os.W_OK):
        raise OutputError(f"no permission to write into {target.parent}")


# ── Reading and writing safely ────────────────────────────────────────────────────────────────


@contextmanager
def _replacing_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to write to; rename it to `folder` when all went well, remove it otherwise."""
    beside = writers.name_beside(folder)
    aside = beside.with_suffix(".old")
    try:
        beside.mkdir()
        yield beside
        if folder.exists():
            folder.rename(aside)
        beside.rename(folder)
    except OSError as error:
        raise writers.not_written(folder, error) from error
    finally:
        if aside.exists() and not folder.exists():
            aside.rename(folder)
        shutil.rmtree(beside, ignore_errors=True)
        shutil.rmtree(aside, ignore_errors=True)


def _blocks(path: Path) -> Iterator[bytes]:
    with reading(path), path.open("rb") as file:
        while block := file.read(lines.BLOCK):
            yield block


# ── Lines: JSONL and CSV ──────────────────────────────────────────────────────────────────────


def _copy_jsonl(paths: Sequence[Path], decisions: _Decisions, target: Path) -> None:
    _copy_lines(paths, decisions, target, lines.JSONL)


def _copy_csv(paths: Sequence[Path], decisions: _Decisions, target: Path) -> None:
    _copy_lines(paths, decisions, target, lines.CSV)


def _copy_lines(
    paths: Sequence[Path], decisions: _Decisions, target: Path, how: lines.Lines
) -> None:
    """Copy the kept records of all files; only a record that another one follows needs an end."""
    ended = True
    with target.open("wb") as file:
        file.write(lines.mark_of(paths[0]))
        for at, path in enumerate(paths):
            followed = at + 1 < len(paths)
            for piece in _kept_lines(path, decisions, how, first=at == 0, followed=followed):
                file.write(b"" if ended else b"\n")
                file.write(piece)
                ended = bytes(piece[-1:]) in how.ended


def _kept_lines(
    path: Path, decisions: _Decisions, how: lines.Lines, *, first: bool, followed: bool
) -> Iterator[memoryview]:
    """Yield the bytes of the kept records, and of the header if this is the first file."""
    header, block = how.has_header, None
    for block in lines.blocks(path, how):
        kept = how.rows_of(block, path)
        rows = np.flatnonzero(kept)
        if header and len(rows):
            kept[rows[0]], rows, header = first, rows[1:], False
        kept[rows] = decisions.take(len(rows), path)
        if kept.any():
            yield _chosen(block, kept)
    if followed and block and not how.closes(block.record(-1)):
        raise InputError(
            f"the last record of {path} opens a quote and never closes it, so that no row can "
            "follow it: close the quote, or name a folder as output"
        )


def _chosen(block: lines.Block, kept: NDArray[np.bool_]) -> memoryview:
    """Return the bytes of the kept records."""
    if kept.all():
        return block.data
    bytes_kept = np.repeat(kept, np.diff(block.ends, prepend=0))
    return np.frombuffer(block.data, np.uint8)[bytes_kept].data


def _copy_parquet(paths: Sequence[Path], decisions: _Decisions, target: Path) -> None:
    parquet.copy_parquet(paths, decisions.take, target)


_COPIERS: dict[str, Callable[[Sequence[Path], _Decisions, Path], None]] = {
    "parquet": _copy_parquet,
    "jsonl": _copy_jsonl,
    "csv": _copy_csv,
}
