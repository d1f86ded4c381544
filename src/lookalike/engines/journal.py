"""The run directory's own description: what is computed from what, and how far it is.

    run.json        version, settings, inputs: written once, when the run begins
    journal.jsonl   one line for every finished unit of work, with the checksums of its pieces
    lock            held by the process that works here

Every line, and run.json as a whole, carries a checksum of itself. A line that does not fit its
checksum does not count: a killed process may have left half of one. Then neither do the later units
of its stage, since each begins where the one before it ended; those of other stages do.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import IO, TYPE_CHECKING, Any
from zlib import crc32

from lookalike.errors import InputError, OutputError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = 1
RUN, JOURNAL, LOCK = "run.json", "journal.jsonl", "lock"
LOOKS, SECONDS_OF_A_LOOK = 10, 0.02


@dataclass(frozen=True)
class Done:
    """A finished unit: where the next one begins, and length and checksum of each piece."""

    cursor: tuple[int, ...]
    note: Any
    pieces: dict[str, tuple[int, int]]
    last: bool = False


class Lock:
    """The right to work in a run directory, held until the process ends or gives it back."""

    def __init__(self, folder: Path) -> None:
        while True:
            self._file = _opened(folder)
            if not self._hold():
                owner = self._owner()
                self._file.close()
                raise UsageError(
                    f"the process {owner} is working in {folder}: wait for it, stop it (what it "
                    "has done is kept), or name another place with --work-dir"
                )
            if _is_at(folder / LOCK, self._file):
                break
            self._file.close()  # its last owner has just removed it, and there may be another one
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()

    def _hold(self) -> bool:
        """Lock the file; who only looks at it (see `is_locked`) is gone at once."""
        for _ in range(LOOKS):
            if _hold(self._file, fcntl.LOCK_EX):
                return True
            time.sleep(SECONDS_OF_A_LOOK)
        return _hold(self._file, fcntl.LOCK_EX)

    def _owner(self) -> str:
        self._file.seek(0)
        return self._file.read().strip() or "of another user"

    def release(self) -> None:
        """Let others work here."""
        self._file.close()


def _opened(folder: Path) -> IO[str]:
    """Open the lock of a folder, which may be removed at any moment, and is made if need be."""
    for _ in range(100):
        with suppress(FileNotFoundError, FileExistsError):
            folder.mkdir(parents=True, exist_ok=True)
            return (folder / LOCK).open("a+")
    folder.mkdir(parents=True, exist_ok=True)
    return (folder / LOCK).open("a+")


def _is_at(path: Path, file: IO[str]) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _hold(file: IO[str], how: int) -> bool:
    """Lock a file; return whether nobody else has."""
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_locked(folder: Path) -> bool:
    """Say whether a process works in a run directory; many may look at the same time."""
    try:
        with (folder / LOCK).open() as file:
            return not _hold(file, fcntl.LOCK_SH)
    except OSError:
        return False


@dataclass
class _Stage:
    """The units of a stage that are done, for one cut, and whether these are all."""

    cut: tuple[int, ...]
    done: list[Done] = field(default_factory=list)
    finished: bool = False


class Journal:
    """What is known of the units of a run directory; who may write removes what does not count."""

    def __init__(self, folder: Path, *, writable: bool = False) -> None:
        self._path = folder / JOURNAL
        self._stages: dict[str, _Stage] = {}
        good, whole = [], True
        with suppress(FileNotFoundError), self._path.open("rb") as file:
            for line in file:
                entry = unsealed(line)
                if entry is not None and self._replay(entry):
                    good.append(line)
                else:
                    whole = False
        if writable and not whole:
            self._rewrite(good)

    def _rewrite(self, lines: list[bytes]) -> None:
        beside = self._path.with_name(f"{JOURNAL}.part")
        with beside.open("wb") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())  # what a crash would lose now was safe before
        beside.replace(self._path)

    def units(self, stage: str, cut: tuple[int, ...]) -> list[Done]:
        """Return the units of a stage that are done; those of another cut do not count."""
        known = self._stages.get(stage)
        return list(known.done) if known and known.cut == cut else []

    def finished(self, stage: str) -> list[Done]:
        """Return the units of a stage that is finished, whatever their cut; else none."""
        known = self._stages.get(stage)
        return list(known.done) if known and known.finished else []

    def record(
        self,
        stage: str,
        cut: tuple[int, ...],
        cursor: tuple[int, ...],
        note: Any,
        pieces: dict[str, tuple[int, int]],
    ) -> Done:
        """Say that the next unit of a stage is done."""
        known = self._stages.get(stage)
        entry = {
            "stage": stage,
            "cut": cut,
            "unit": len(known.done) if known and known.cut == cut else 0,
            "cursor": cursor,
            "note": note,
            "pieces": pieces,
            "time": round(time.time(), 3),
        }
        self._append(entry)
        return self._stages[stage].done[-1]

    def finish(self, stage: str, cut: tuple[int, ...], done: list[Done]) -> None:
        """Say that a stage is finished."""
        self._append({"stage": stage, "cut": cut, "unit": len(done), "finished": True})

    def stages(self) -> dict[str, tuple[int, bool]]:
        """Return for each stage how many units are done, and whether these are all."""
        return {name: (len(stage.done), stage.finished) for name, stage in self._stages.items()}

    def _append(self, entry: dict[str, Any]) -> None:
        line = sealed(entry)
        with self._path.open("ab") as file:
            file.write(line)
        self._replay(json.loads(json.dumps(entry)))

    def _replay(self, entry: dict[str, Any]) -> bool:
        """Take note of a line if it continues its stage, or begins it anew; return whether."""
        name, cut, finished = entry["stage"], tuple(entry["cut"]), "finished" in entry
        stage = self._stages.get(name)
        if stage is None or stage.cut != cut or (entry["unit"] == 0 and not finished):
            stage = _Stage(cut)
        if entry["unit"] != len(stage.done):  # one before it is missing
            return False
        if not finished:
            pieces = {name: (length, check) for name, (length, check) in entry["pieces"].items()}
            stage.done.append(Done(tuple(entry["cursor"]), entry["note"], pieces))
        elif stage.done:
            stage.done[-1] = replace(stage.done[-1], last=True)
        stage.finished = finished
        self._stages[name] = stage
        return True


def sealed(entry: dict[str, Any]) -> bytes:
    """Return a line of JSON with a checksum of itself.

    >>> unsealed(sealed({"a": 1}))["a"]
    1
    """
    body = json.dumps(entry, ensure_ascii=False)
    return f"{crc32(body.encode()):08x} {body}\n".encode()


def unsealed(line: bytes) -> dict[str, Any] | None:
    """Return what a line says, or None if it is damaged or not whole."""
    check, _, body = line.rstrip(b"\n").partition(b" ")
    if not line.endswith(b"\n") or check != b"%08x" % crc32(body):
        return None
    entry: dict[str, Any] = json.loads(body)
    return entry


# ── run.json ──────────────────────────────────────────────────────────────────────────────────


def write_description(folder: Path, description: dict[str, Any]) -> None:
    """Say what a run directory is for."""
    body = json.dumps(description, indent=2, ensure_ascii=False, sort_keys=True)
    text = f"{body}\n{crc32(body.encode()):08x}\n"
    beside = folder / f"{RUN}.part"
    beside.write_text(text, encoding="utf-8")
    beside.replace(folder / RUN)


def read_description(folder: Path) -> dict[str, Any] | None:
    """Return what a run directory is for, or None if there is none."""
    try:
        text = (folder / RUN).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot read {folder / RUN}: {error}; begin anew with --restart"
        ) from None
    body, _, check = text.rstrip("\n").rpartition("\n")
    if check != f"{crc32(body.encode()):08x}":
        raise InputError(f"{folder / RUN} is damaged: begin anew with --restart")
    description: dict[str, Any] = json.loads(body)
    return description


def differences(before: Any, now: Any, name: str = "") -> list[str]:
    """Say where two descriptions differ, each in one line.

    >>> differences({"seed": 1, "bag": True}, {"seed": 2, "bag": True})
    ['seed: 1 before, 2 now']
    """
    if isinstance(before, dict) and isinstance(now, dict):
        found = []
        for key in sorted({*before, *now}):
            inner = f"{name}.{key}" if name else key
            found += differences(before.get(key), now.get(key), inner)
        return found
    if isinstance(before, list) and isinstance(now, list):
        pairs = enumerate(zip_longest(before, now))
        return [line for at, (b, n) in pairs for line in differences(b, n, f"{name}[{at}]")]
    return [] if before == now else [f"{name}: {_shown(before)} before, {_shown(now)} now"]


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:200] + " …"


def stranger(folder: Path) -> str | None:
    """Return something that lookalike has not put into a folder, if it is no run directory.

    A sound description makes a run directory. Without one, as a run that was killed at once has
    left it or damage has, there has to be nothing but what lookalike would put there.
    """
    with suppress(InputError):
        if read_description(folder) is not None:
            return None
    try:
        names = sorted(file.name for file in folder.iterdir())
        strange = [
            each for each in names if each not in {LOCK, RUN} and not _is_work(folder / each)
        ]
        if not strange and names and not (LOCK in names and _is_lock(folder / LOCK)):
            strange = names
    except FileNotFoundError:  # a process that has finished removes it at this moment
        return None
    return strange[0] if strange else None


def _is_lock(file: Path) -> bool:
    """Say whether a file is a lock: it has a process id, or nothing yet."""
    if file.is_dir():
        return False
    content = file.read_bytes()
    return not content or content.isdigit()


def _is_work(file: Path) -> bool:
    """Say whether a file has the name of a column, STAGE.COLUMN.KIND, or of the journal."""
    *names, kind = file.name.split(".")
    column = len(names) == 2 and all(names) and kind in _KINDS
    known = column or file.name in {JOURNAL, f"{JOURNAL}.part", f"{RUN}.part"}
    return known and not file.is_dir()


def clear(folder: Path) -> None:
    """Remove the files of a run, but not the lock."""
    try:
        (folder / JOURNAL).unlink(missing_ok=True)  # first: it speaks of all others
        for file in sorted(folder.iterdir()):
            if _is_work(file):
                file.unlink()
        (folder / RUN).unlink(missing_ok=True)  # last: until then it is a run directory
    except OSError as error:
        raise OutputError(f"cannot remove {folder}: {error.strerror or error}") from error


def remove(folder: Path) -> None:
    """Remove a run directory, and nothing that lookalike has not put there."""
    clear(folder)
    with suppress(OSError):  # there is something else in it
        (folder / LOCK).unlink()
        folder.rmdir()


_KINDS = {"uint8", "int32", "int64", "uint64", "float64"}
