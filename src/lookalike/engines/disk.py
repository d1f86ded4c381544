"""The disk engine: columns are files, every finished unit of work is recorded, nothing is lost.

A unit's pieces are appended to the files of their columns, then one line in the journal says that
the unit is done, how long each piece is and what its checksum is. So a run that was killed goes on
behind the last line: what a killed unit has written beyond that is cut off. Nothing has to be
flushed to the device for this: whatever a crash of the machine has lost or damaged is found by its
checksum when the run is taken up again, and the unit is done again.
"""

from __future__ import annotations

import mmap
import os
import time
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike import kernels
from lookalike.errors import InputError, LookalikeError, OutputError
from lookalike.work import Columns, Limits, Unit, Work

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO
    from pathlib import Path

    from numpy.typing import NDArray

    from lookalike.data import Progress
    from lookalike.engines.journal import Done, Journal


@dataclass
class Spent:
    """What a stage has cost: seconds, bytes written, units done, found done, and done again."""

    stage: str
    seconds: float = 0.0
    bytes: int = 0
    done: int = 0
    resumed: int = 0
    repaired: int = 0


class Disk:
    """A store of files in a run directory."""

    durable = True

    def __init__(self, folder: Path, journal: Journal, limits: Limits) -> None:
        self.folder = folder
        self.limits = limits
        self.spent: list[Spent] = []
        self._journal = journal

    def collect(self, work: Work, progress: Progress) -> Columns:
        """Do what is left of the work of a stage, and return its columns."""
        began, spent = time.monotonic(), Spent(work.stage)
        self.spent.append(spent)
        within = sum(each.seconds for each in self.spent)
        done, damaged = self._known(work)
        with writing(self.folder):
            self._repair(work, done, damaged, spent)
            spent.resumed = len(done)
            if not (done and done[-1].last):
                self._go_on(work, done, spent, progress)
        # A stage may have had another one done on its way: its time is not this one's.
        inside = sum(each.seconds for each in self.spent) - within
        spent.seconds = time.monotonic() - began - inside
        return self._columns(work, done)

    # ── Doing ─────────────────────────────────────────────────────────────────────────────────

    def _go_on(self, work: Work, done: list[Done], spent: Spent, progress: Progress) -> None:
        """Do the units behind those that are done."""
        cursor = done[-1].cursor if done else None
        for name, end in self._ends(work, done).items():
            path, size = self._path(work, name), end * np.dtype(work.columns[name]).itemsize
            if not size:
                path.unlink(missing_ok=True)  # others may still look at the old one
                path.touch()
            elif path.stat().st_size > size:
                os.truncate(path, size)
        for unit in work.units(cursor):
            done.append(self._write(work, unit, spent))
            progress(work.stage, unit.done, unit.total)
        self._journal.finish(work.stage, work.cut, done)

    def _write(self, work: Work, unit: Unit, spent: Spent) -> Done:
        pieces = {}
        for name, view, pieces[name] in _sealed(work, unit):
            with self._path(work, name).open("ab", buffering=0) as file:
                _write_all(file, view)
            spent.bytes += len(view)
        spent.done += 1
        return self._journal.record(work.stage, work.cut, unit.cursor, unit.note, pieces)

    # ── Repairing ─────────────────────────────────────────────────────────────────────────────

    def _known(self, work: Work) -> tuple[list[Done], list[int]]:
        """Return the units that earlier processes have done, and which of them are damaged.

        A finished stage counts however it was cut into units, if nothing of it is damaged.
        """
        done = self._journal.units(work.stage, work.cut)
        if done:
            return done, self._damaged(work, done)
        whole = self._journal.finished(work.stage)
        return ([] if self._damaged(work, whole) else whole), []

    def _repair(self, work: Work, done: list[Done], damaged: list[int], spent: Spent) -> None:
        """Do the damaged units again."""
        for number in damaged:
            cursor = done[number - 1].cursor if number else None
            unit = next(work.units(cursor), None)
            if unit is None or self._again(work, unit, done, number) != done[number].pieces:
                raise InputError(
                    f"the work files in {self.folder} are damaged, and the input does not give "
                    "what was read from it before: begin anew with --restart"
                )
            spent.repaired += 1

    def _damaged(self, work: Work, done: list[Done]) -> list[int]:
        """Compare what lies in the files with its checksums; return the numbers of bad units."""
        bad = set()
        for name, kind in work.columns.items():
            size = np.dtype(kind).itemsize
            values = mapped(self._path(work, name), np.dtype(np.uint8))
            at = 0
            for number, unit in enumerate(done):
                count, checksum = unit.pieces[name]
                piece = values[at : at + count * size]
                if len(piece) < count * size or kernels.checksum(piece) != checksum:
                    bad.add(number)
                at += count * size
        return sorted(bad)

    def _again(
        self, work: Work, unit: Unit, done: list[Done], number: int
    ) -> dict[str, tuple[int, int]]:
        """Write a unit's pieces to their old places; return their lengths and checksums."""
        starts = self._ends(work, done[:number])
        pieces = {}
        for name, view, pieces[name] in _sealed(work, unit):
            if pieces[name] == done[number].pieces[name]:
                path = self._path(work, name)
                with path.open("r+b" if path.exists() else "w+b") as file:
                    file.seek(starts[name] * np.dtype(work.columns[name]).itemsize)
                    file.write(view.data)
        return pieces

    # ── Files ─────────────────────────────────────────────────────────────────────────────────

    def _path(self, work: Work, column: str) -> Path:
        return self.folder / f"{work.stage}.{column}.{np.dtype(work.columns[column]).name}"

    def _ends(self, work: Work, done: list[Done]) -> dict[str, int]:
        return {name: sum(unit.pieces[name][0] for unit in done) for name in work.columns}

    def _columns(self, work: Work, done: list[Done]) -> Columns:
        known = self._ends(work, done)  # whatever lies behind that is nobody's
        values = {
            name: mapped(self._path(work, name), np.dtype(kind))[: known[name]]
            for name, kind in work.columns.items()
        }
        ends = {
            name: list(accumulate(unit.pieces[name][0] for unit in done)) for name in work.columns
        }
        return Columns(values, ends, [unit.note for unit in done])


def _sealed(work: Work, unit: Unit) -> Iterator[tuple[str, NDArray[np.uint8], tuple[int, int]]]:
    """Yield the name of each column, a unit's piece of it as bytes, and its length and checksum."""
    for name, kind in work.columns.items():
        piece = np.ascontiguousarray(unit.pieces[name], dtype=kind)
        view = piece.view(np.uint8)
        yield name, view, (len(piece), kernels.checksum(view))


def _write_all(file: FileIO, data: NDArray[np.uint8]) -> None:
    """Write all bytes; the system may take less at a time (2 GiB)."""
    at = 0
    while at < len(data):
        at += file.write(data[at:].data) or 0


def mapped(path: Path, kind: np.dtype[Any]) -> NDArray[Any]:
    """Return a file's values without reading them; a file that is not there has none."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size // kind.itemsize
        if size:
            view = mmap.mmap(file.fileno(), size * kind.itemsize, prot=mmap.PROT_READ)
            return np.frombuffer(view, dtype=kind)
    return np.empty(0, dtype=kind)


@contextmanager
def working(doing: str, folder: Path, advice: str) -> Iterator[None]:
    """Let what goes wrong in a folder say what was done there, and what to do."""
    try:
        yield
    except LookalikeError:
        raise
    except OSError as error:
        why = error.strerror or error
        raise OutputError(f"cannot {doing} in {folder}: {why}. {advice}") from error


def writing(folder: Path) -> AbstractContextManager[None]:
    """Let what goes wrong with the work files say so, and what to do."""
    return working(
        "write the work files",
        folder,
        "What is done is kept: make room or give the permission (or name another place with "
        "--work-dir) and run the same command again, it goes on where it stopped",
    )
