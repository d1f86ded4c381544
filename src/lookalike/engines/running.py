"""Beginning, resuming and ending a run: which engine, in which folder, within which budget."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lookalike import __version__, kernels
from lookalike.config import LEAST_MEMORY
from lookalike.engines import journal
from lookalike.engines.disk import Disk, Spent, working, writing
from lookalike.errors import LookalikeError, OutputError, UsageError
from lookalike.forecast import probe, readable_bytes
from lookalike.work import Limits, Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lookalike.config import Resources, Settings
    from lookalike.pipeline import Inputs
    from lookalike.work import Store

SUFFIX = ".lookalike"
FITS = 0.8  # of the budget: an estimate is not a promise
ENOUGH = 1.1  # times what would be held at a time now is no reason to cut the work anew
SMALL = 1 << 20  # bytes that fit any budget, whatever becomes of them
_ADVICE_IN_MEMORY = (
    "make room, allow more memory (--memory), or work on disk (--engine disk) at another place "
    "(--work-dir)"
)


@dataclass
class Running:
    """A run that has begun: where its columns lie and what it was begun with.

    `settings` are those that its columns are made for; `resumed` says that some were there, and
    `lasting` that they are to stay.
    """

    store: Store
    settings: Settings
    folder: Path | None = None
    resumed: bool = False
    spent: list[Spent] = field(default_factory=list)
    lasting: bool = False

    @property
    def engine(self) -> str:
        """The engine that was chosen."""
        return "memory" if self.folder is None else "disk"


@contextmanager
def running(
    inputs: Inputs,
    settings: Settings,
    resources: Resources,
    beside: Path | None = None,
    *,
    writes: int = 0,
    passing: bool = False,
) -> Iterator[Running]:
    """Begin a run, or resume it; when all went well, its work files are removed in the end.

    `beside` names what the run is for: the work files lie next to it unless a place is given.
    `writes` are the bytes it will write there besides. A passing look at a run that was there
    leaves it as it is.
    """
    folder = _folder(resources, beside)
    with _plain_pool(), _budget(resources, _scratch(folder)):
        if not _on_disk(inputs, settings, resources, folder):
            with working("keep scratch memory", _scratch(folder), _ADVICE_IN_MEMORY):
                yield Running(Memory(_limits(resources)), settings)
            return
        _check_apart(folder, beside, inputs)
        with _begun(inputs, settings, resources, folder, writes) as begun:
            yield begun
            if begun.resumed and passing:
                begun.lasting = True


@contextmanager
def _begun(
    inputs: Inputs, settings: Settings, resources: Resources, folder: Path | None, writes: int
) -> Iterator[Running]:
    """Work in a run directory; without one that is named, nobody could come back to it."""
    remove = folder is None
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="lookalike-"))
    with writing(folder):
        _check_ours(folder)
        lock = journal.Lock(folder)
    try:
        threshold, limits, resumed = _begin(folder, inputs, settings, resources, writes)
        with _budget(resources, folder), writing(folder):
            store = Disk(folder, journal.Journal(folder, writable=True), limits)
            began = time.monotonic()
            begun = Running(
                store, replace(settings, threshold=threshold), folder, resumed, store.spent
            )
            yield begun
            rest = time.monotonic() - began - sum(each.seconds for each in store.spent)
            store.spent.append(Spent("answering", rest))
        remove = not (resources.keep_work or begun.lasting)
    finally:
        if remove or not (folder / journal.RUN).exists():
            journal.remove(folder)
        lock.release()


# ── Which engine, and where ───────────────────────────────────────────────────────────────────


def _folder(resources: Resources, beside: Path | None) -> Path | None:
    if resources.work_dir is not None:
        return resources.work_dir
    return None if beside is None else beside.with_name(beside.name + SUFFIX)


def _on_disk(inputs: Inputs, settings: Settings, resources: Resources, folder: Path | None) -> bool:
    """Say whether a run works on disk: asked for, begun there, or too large for the budget."""
    if resources.engine != "auto":
        return resources.engine == "disk"
    begun = folder is not None and (folder / journal.RUN).exists()
    if begun or resources.keep_work:
        return True
    if sum(source.size for source in inputs.sources) < SMALL:
        return False
    return probe(inputs, settings).memory > FITS * resources.budget


def _begin(
    folder: Path, inputs: Inputs, settings: Settings, resources: Resources, writes: int
) -> tuple[Fraction, Limits, bool]:
    """Make or check a run directory; return its threshold and limits, and if it was there."""
    limits = _limits(resources)
    description = _description(inputs, settings)
    before = None if resources.restart else journal.read_description(folder)
    if before is not None:
        threshold = _check_same(folder, before, description)
        kept = _kept_limits(before, limits)
        if kept is None:
            with writing(folder):
                journal.write_description(folder, before | {"limits": asdict(limits)})
        return threshold, kept or limits, True
    journal.clear(folder)
    _check_room(folder, probe(inputs, settings).disk + writes)
    with writing(folder):
        journal.write_description(folder, description | {"limits": asdict(limits)})
    return settings.threshold, limits, False


def _check_ours(folder: Path) -> None:
    """Refuse a folder with anything else than a run in it."""
    strange = journal.stranger(folder)
    if strange is not None:
        raise OutputError(
            f"{folder} is not a run directory, and not empty ({strange!r} is in it): name another "
            "place with --work-dir"
        )


def _check_apart(folder: Path | None, output: Path | None, inputs: Inputs) -> None:
    """Refuse a run directory that would lie in the input or the output, or they in it."""
    if folder is None:
        return
    place = folder.resolve()
    for what, path in [("input", path) for path in inputs.paths] + [("output", output)]:
        other = None if path is None else path.resolve()
        if other is not None and (
            place == other or other in place.parents or place in other.parents
        ):
            raise UsageError(
                f"the work directory {folder} and the {what} {path} would lie in one another: name "
                "another place with --work-dir"
            )


def _check_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise OutputError(
            f"the run needs about {readable_bytes(needed)} of disk, and {folder.absolute()} "
            f"has {readable_bytes(free)} left: make room, or name another place with --work-dir"
        )


# ── What a run directory is for ───────────────────────────────────────────────────────────────


def _description(inputs: Inputs, settings: Settings) -> dict[str, Any]:
    asked = asdict(settings) | {"threshold": str(settings.threshold)}
    return {
        "format": journal.FORMAT,
        "lookalike": __version__,
        "settings": asked,
        "across": inputs.across,
        "inputs": inputs.fingerprints,
    }


def _check_same(folder: Path, before: dict[str, Any], now: dict[str, Any]) -> Fraction:
    """Refuse to resume another run; return the threshold that the run was begun with."""
    for name, what in (("format", "format"), ("lookalike", "version")):
        if before.get(name) != now[name]:
            raise UsageError(
                f"{folder} was made by lookalike {before.get('lookalike')} (format "
                f"{before.get('format')}), this is {now['lookalike']} (format {now['format']}): "
                f"finish it with that {what}, or begin anew with --restart"
            )
    begun, asked = (Fraction(each["settings"]["threshold"]) for each in (before, now))
    if asked >= begun:  # what was found for the lower threshold serves the higher one
        now = now | {"settings": now["settings"] | {"threshold": str(begun)}}
    found = journal.differences(before | {"limits": None}, now)  # they change no result
    if found:
        listed = "\n  ".join(found[:20])
        raise UsageError(
            f"{folder} holds a run that was begun otherwise:\n  {listed}\nGive the same input and "
            "options to resume it, --restart to begin anew, or another place with --work-dir"
        )
    return begun


# ── Budgets ───────────────────────────────────────────────────────────────────────────────────


def _limits(resources: Resources) -> Limits:
    """Cut the work so that what is held at a time fits the budget."""
    free = _free(resources.budget)
    default = Limits()
    return Limits(
        batch=min(resources.batch, max(free // 48, 1 << 18)),
        items=min(default.items, max(free // 4096, 1 << 13)),
        keys=max(free // 64, 1 << 16),
        listed=min(default.listed, max(free // 64, 1 << 16)),
        pairs=min(default.pairs, max(free // 512, 1 << 14)),
        elements=min(default.elements, max(free // 64, 1 << 18)),
    )


def _kept_limits(before: dict[str, Any], now: Limits) -> Limits | None:
    """Return the limits that a run was begun with, unless they are too large by now.

    Its finished units were cut by them, and units of another cut would be done again. What the
    interpreter takes of a budget is never quite the same twice.
    """
    try:
        kept = Limits(**before["limits"])
    except (KeyError, TypeError):
        return None
    fit = all(value <= ENOUGH * asdict(now)[name] for name, value in asdict(kept).items())
    return kept if fit else None


def _free(budget: int) -> int:
    """Return what of a budget is left beside the interpreter and its libraries."""
    return max(budget - anonymous_memory(), LEAST_MEMORY // 4)


def anonymous_memory() -> int:
    """Return the anonymous memory of this process, in bytes."""
    try:
        lines = Path("/proc/self/status").read_text("ascii").splitlines()
    except OSError:
        return 0
    values = (line.split()[1] for line in lines if line.startswith("RssAnon"))
    return 1024 * int(next(values, "0"))


@contextmanager
def _budget(resources: Resources, folder: Path) -> Iterator[None]:
    """Let scratch memory beyond a third of the budget lie in unnamed files of a folder."""
    allowance = _free(resources.budget) // 3
    kernels.set_scratch(str(folder), allowance)
    try:
        yield
    finally:
        # Questions may still be asked, when the folder is gone.
        kernels.set_scratch(tempfile.gettempdir(), allowance)


def _scratch(folder: Path | None) -> Path:
    """Return where scratch memory may lie: in the work directory, or in what is there above it."""
    if folder is None:
        return Path(tempfile.gettempdir())
    place = folder.absolute()
    there = next(each for each in (place, *place.parents) if each.is_dir())
    return there if os.access(there, os.W_OK) else Path(tempfile.gettempdir())


class _Pools:
    """How many runs are under way, and the memory pool of before the first of them."""

    lock = threading.Lock()
    runs = 0
    before: Any = None


@contextmanager
def _plain_pool() -> Iterator[None]:
    """Let pyarrow take memory from the system: its usual pool grows by copying, and keeps it."""
    with _Pools.lock:
        if not _Pools.runs:
            _Pools.before = pa.default_memory_pool()
            pa.set_memory_pool(pa.system_memory_pool())
        _Pools.runs += 1
    try:
        yield
    finally:
        with _Pools.lock:
            _Pools.runs -= 1
            if not _Pools.runs:
                pa.set_memory_pool(_Pools.before)


# ── Run directories, seen from outside ────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Found:
    """A run directory: what it is for, how far it is, who works in it."""

    folder: Path
    description: dict[str, Any] | None
    stages: dict[str, tuple[int, bool]]
    bytes: int
    trouble: str | None
    busy: bool

    @property
    def state(self) -> str:
        """How the run stands, in a few words."""
        if self.trouble:
            return "damaged"
        if self.busy:
            return "a process is working in it"
        exact = (self.description or {}).get("settings", {}).get("exact")
        _, finished = self.stages.get("shingling" if exact else "comparing", (0, False))
        return "all pairs found" if finished else "to be resumed"

    @property
    def inputs(self) -> str:
        """What is searched, in a few words."""
        sources = (self.description or {}).get("inputs", [])
        named = [str(file.get("path", file.get("kind"))) for source in sources for file in source]
        return ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")


def look(folder: Path) -> Found | None:
    """Return what a folder says of itself, or None if it is no run directory, gone, or closed."""
    try:
        return _look(folder)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None


def _look(folder: Path) -> Found | None:
    if not (folder / journal.RUN).exists() or journal.stranger(folder) is not None:
        return None
    trouble, description = None, None
    try:
        description = journal.read_description(folder)
    except LookalikeError as error:
        trouble = str(error)
    size = sum(map(_size, folder.iterdir()))
    stages = journal.Journal(folder).stages()
    return Found(folder, description, stages, size, trouble, journal.is_locked(folder))


def _size(file: Path) -> int:
    """Return the bytes of a file; one that its process has just removed or renamed has none."""
    with suppress(FileNotFoundError):
        return file.stat().st_size if file.is_file() else 0
    return 0


def look_around(folders: list[Path]) -> list[Found]:
    """Return the run directories among some folders and directly inside of them."""
    inside = [each for folder in folders for each in sorted(folder.iterdir())]
    found = [look(folder) for folder in dict.fromkeys([*folders, *inside])]
    return [each for each in found if each is not None]


def clean(found: Found) -> None:
    """Remove a run directory that nobody works in."""
    lock = journal.Lock(found.folder)
    try:
        journal.remove(found.folder)
    finally:
        lock.release()
