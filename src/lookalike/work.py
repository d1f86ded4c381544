"""Stages as units of work, and the columns they fill.

A stage gives some columns, piece by piece: each unit of work gives one piece of every column, and
the work can be taken up again behind any unit. Where the columns lie, in memory or in files, and
whether a unit that was done before is done again is the business of a store: an engine *is* its
store and the limits it works in. No result depends on either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from lookalike.data import Cursor, empty

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from lookalike.data import Progress

Pieces = Mapping[str, "NDArray[Any]"]


@dataclass(frozen=True)
class Limits:
    """How much is held at a time.

    Bytes of text, items that are sketched, keys of a band that are sorted and candidates that are
    listed in one go, candidates that are compared, and hashes of the items they have.
    """

    batch: int = 32 << 20
    items: int = 1 << 17
    keys: int = 1 << 62
    listed: int = 1 << 27
    pairs: int = 1 << 20
    elements: int = 1 << 26

    def parts(self, items: int) -> int:
        """Return in how many parts the keys of that many items have to be sorted."""
        return max(1, -(-items // self.keys))


@dataclass(frozen=True)
class Unit:
    """A finished unit of work: a piece of each column, and where the next unit begins.

    `note` is what else has to be known of it later; `done` of `total` is the progress so far.
    """

    pieces: Pieces
    cursor: Cursor
    done: int
    total: int
    note: Any = None


@dataclass(frozen=True)
class Work:
    """A stage: its columns, and its units from a cursor on.

    `cut` tells how the work is cut into units: what was begun with another cut is begun anew.
    """

    stage: str
    columns: Mapping[str, DTypeLike]
    units: Callable[[Cursor | None], Iterator[Unit]]
    cut: tuple[int, ...] = ()


def place(cursor: Cursor | None) -> int:
    """Return a cursor that is one number; work that has not begun is at 0."""
    return cursor[0] if cursor else 0


@dataclass(frozen=True)
class Columns:
    """The columns of a finished stage, where each unit's piece ends in them, and the notes."""

    values: Mapping[str, NDArray[Any]]
    ends: Mapping[str, list[int]]
    notes: list[Any] = field(default_factory=list)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.values[name]

    def pieces(self, name: str) -> list[NDArray[Any]]:
        """Return a column as the pieces of its units."""
        ends = self.ends[name]
        starts = [0, *ends[:-1]]
        return [self.values[name][a:b] for a, b in zip(starts, ends, strict=True)]


class Store(Protocol):
    """Where columns lie."""

    limits: Limits
    durable: bool
    """Whether columns are written once, and read from files in any order at a price."""

    def collect(self, work: Work, progress: Progress) -> Columns:
        """Do the work of a stage, or what is left of it, and return its columns."""


class Memory:
    """A store in memory: what outgrows the allowance of scratch memory lies in unnamed files."""

    durable = False

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()

    def collect(self, work: Work, progress: Progress) -> Columns:
        """Do the work of a stage and return its columns."""
        pieces: dict[str, list[NDArray[Any]]] = {name: [] for name in work.columns}
        notes = []
        for unit in work.units(None):
            for name, piece in unit.pieces.items():
                pieces[name].append(piece)
            notes.append(unit.note)
            progress(work.stage, unit.done, unit.total)
        ends = {name: np.cumsum([len(each) for each in pieces[name]]).tolist() for name in pieces}
        kinds = work.columns.items()
        return Columns({name: _joined(pieces[name], kind) for name, kind in kinds}, ends, notes)


def _joined(pieces: list[NDArray[Any]], kind: DTypeLike) -> NDArray[Any]:
    """Return one array of all pieces; each is given back as soon as it is copied."""
    if len(pieces) == 1:
        return pieces.pop()
    out = empty(sum(map(len, pieces)), kind)
    at = len(out)
    while pieces:
        piece = pieces.pop()
        out[at - len(piece) : at] = piece
        at -= len(piece)
    return out
