"""A disk that is full: refused at the start where that can be known, and otherwise nothing lost."""

from __future__ import annotations

import errno
import re
import resource
import shutil
import signal
import subprocess
from collections import namedtuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import lookalike as la
from lookalike import data, kernels
from lookalike.engines import disk, journal, running
from lookalike.errors import OutputError

from .conftest import lookalike

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.usefixtures("many_units")

Usage = namedtuple("Usage", "total used free")  # as shutil has it


def full() -> OSError:
    return OSError(errno.ENOSPC, "No space left on device")


class FullFile:
    """A file on a disk that is full at its n-th write, of which half is written still."""

    def __init__(self, file: Any, take: Callable[[], bool]) -> None:
        self.file = file
        self.take = take

    def write(self, content: Any) -> None:
        if not self.take():
            self.file.write(content[: len(content) // 2])
            self.file.flush()
            raise full()
        self.file.write(content)

    def flush(self) -> None:
        self.file.flush()


def counter(n: int) -> Callable[[], bool]:
    """Return a function that says yes n times."""
    left = iter(range(n))
    return lambda: next(left, None) is not None


def fill_columns(patch: pytest.MonkeyPatch, n: int) -> None:
    take = counter(n)
    patch.setattr(disk, "_write_all", lambda file, data: FullFile(file, take).write(data.data))


def fill_journal(patch: pytest.MonkeyPatch, n: int) -> None:
    append, take = journal.Journal._append, counter(n)

    def full_append(self: journal.Journal, entry: dict[str, Any]) -> None:
        if not take():
            with self._path.open("ab") as file:
                FullFile(file, lambda: False).write(journal.sealed(entry))
        append(self, entry)

    patch.setattr(journal.Journal, "_append", full_append)


def fill_scratch(patch: pytest.MonkeyPatch, n: int) -> None:
    allocate, take = kernels.allocate, counter(n)

    def full_allocate(size: int) -> Any:
        if not take():
            raise full()
        return allocate(size)

    patch.setattr(data.kernels, "allocate", full_allocate)


def fill_description(patch: pytest.MonkeyPatch, n: int) -> None:
    write = Path.write_text

    def full_write(self: Path, text: str, *args: Any, **options: Any) -> int:
        if self.name.startswith(journal.RUN) and n < 2:
            write(self, text[: len(text) // 2], *args, **options)
            raise full()
        return write(self, text, *args, **options)

    patch.setattr(Path, "write_text", full_write)


FILLS = {
    "columns": (fill_columns, (0, 1, 7, 150, 260, 330)),
    "journal": (fill_journal, (0, 1, 20, 50, 70)),
    "scratch": (fill_scratch, (0, 1, 2, 5, 9)),
    "description": (fill_description, (0,)),
}


@pytest.mark.parametrize("verb", ["find", "dedup"])
@pytest.mark.parametrize(("fill", "n"), [(name, n) for name in FILLS for n in FILLS[name][1]])
def test_a_run_on_a_full_disk_says_so_and_goes_on_when_there_is_room(
    fill, n, verb, rows, tmp_path, monkeypatch
):
    options: dict[str, Any] = {"engine": "disk", "work_dir": tmp_path / "run", "threshold": 0.6}
    if verb == "find":
        ask = lambda **more: la.find(rows, **more).pairs  # noqa: E731
    else:
        ask = lambda **more: la.dedup(rows, **more).removed  # noqa: E731
    expected = ask(threshold=0.6)
    with monkeypatch.context() as patch:
        FILLS[fill][0](patch, n)
        for _ in range(2):  # trying again without making room changes nothing
            with pytest.raises(OutputError) as refused:
                ask(**options)
            FILLS[fill][0](patch, 0)
    assert "No space left on device" in str(refused.value)
    assert "make room" in str(refused.value)
    assert "run the same command again" in str(refused.value)
    assert ask(**options) == expected
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("n", [0, 3])
def test_scratch_memory_of_the_memory_engine_on_a_full_disk_is_a_clear_error(n, rows, monkeypatch):
    fill_scratch(monkeypatch, n)
    with pytest.raises(OutputError, match="cannot keep scratch memory"):
        la.find(rows, engine="memory")


def limited() -> None:
    """Let files grow to 4,000 bytes: the system refuses what is longer, as a full disk would."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, resource.RLIM_INFINITY))


def test_the_command_line_ends_with_a_message_and_resumes(rows, tmp_path):
    args = ["find", rows, "-o", tmp_path / "pairs.csv", "--engine", "disk", "-t", "0.6"]
    stopped = lookalike(*args, driven=True, preexec_fn=limited)
    assert stopped.returncode == 4, stopped.stderr
    assert "cannot write the work files" in stopped.stderr
    assert "run the same command again" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert not (tmp_path / "pairs.csv").exists()
    ran = lookalike(*args, driven=True)
    assert ran.returncode == 0, ran.stderr
    assert "were done before" in ran.stderr
    other = tmp_path / "other.csv"
    assert lookalike(*args[:3], other, "-t", "0.6", "--engine", "memory").returncode == 0
    assert (tmp_path / "pairs.csv").read_bytes() == other.read_bytes()
    assert not (tmp_path / "pairs.csv.lookalike").exists()


def test_an_output_that_does_not_fit_keeps_the_work(rows, tmp_path):
    """The work is small here and the output, with its long ids, is not."""
    content = rows.read_text("utf-8").replace('"id": "r', '"id": "' + "x" * 200)
    rows.write_text(content, "utf-8")
    args = ["find", rows, "-o", tmp_path / "pairs.jsonl", "--engine", "disk", "-t", "0.6"]
    room = 90_000

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))

    stopped = lookalike(*args, driven=True, preexec_fn=limit)
    assert stopped.returncode == 4, stopped.stderr
    assert "cannot write" in stopped.stderr
    assert "pairs.jsonl" in stopped.stderr
    left = {file.name for file in tmp_path.iterdir()}
    assert left == {"rows.jsonl", "pairs.jsonl.lookalike"}
    ran = lookalike(*args, driven=True)
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"comparing .*\d+ were done before", ran.stderr)
    assert re.search(r"all +[\d.]+ +0 bytes", ran.stderr)
    assert (tmp_path / "pairs.jsonl").stat().st_size > room


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Return a function that gives a disk of a size, or gives it another size."""
    place = tmp_path / "disk"
    place.mkdir()
    made = []

    def sized(size: str) -> Path:
        how = f"remount,size={size}" if made else f"size={size}"
        command = ["mount", "-t", "tmpfs", "-o", how, "tmpfs", str(place)]
        try:
            ran = subprocess.run(command, check=False, capture_output=True, text=True)
        except FileNotFoundError:
            pytest.skip("there is no mount here")
        if ran.returncode:
            pytest.skip(f"this process may not mount a small disk: {ran.stderr.strip()}")
        made.append(size)
        return place

    yield sized
    if made:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize("size", ["40k", "80k", "120k"])
def test_a_run_on_a_small_disk_goes_on_when_it_is_larger(size, rows, small_disk, monkeypatch):
    place = small_disk(size)
    options: dict[str, Any] = {"engine": "disk", "work_dir": place / "run", "threshold": 0.6}
    monkeypatch.setattr(running, "_check_room", lambda folder, needs: None)
    with pytest.raises(OutputError, match=r"No space left.*run the same command again"):
        la.find(rows, **options)
    small_disk("9m")
    assert la.find(rows, **options).pairs == la.find(rows, threshold=0.6).pairs
    assert not list(place.iterdir())


def test_a_run_that_cannot_fit_a_small_disk_is_refused_at_the_start(rows, small_disk):
    place = small_disk("40k")
    with pytest.raises(OutputError, match=r"needs about .* of disk, and .* has .* left"):
        la.find(rows, engine="disk", work_dir=place / "run")
    assert not list(place.iterdir())


def test_a_run_that_needs_more_than_there_is_is_refused_at_the_start(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**9, 10**9 - 5000, 5000))
    with pytest.raises(OutputError) as refused:
        la.find(rows, engine="disk", work_dir=tmp_path / "run")
    assert "has 5.0 kB left: make room, or name another place with --work-dir" in str(refused.value)
    assert not (tmp_path / "run").exists()
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**9, 0, 10**9))
    assert la.find(rows, engine="disk", work_dir=tmp_path / "run").pairs.num_rows


def test_the_need_for_disk_is_not_less_than_what_is_used(rows, tmp_path):
    needs = la.plan(rows).needs
    la.find(rows, engine="disk", work_dir=tmp_path / "run", keep_work=True, restart=True)
    columns = [file for file in (tmp_path / "run").iterdir() if ".json" not in file.name]
    assert sum(file.stat().st_size for file in columns) <= needs.disk
