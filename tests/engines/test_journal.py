"""The journal keeps what is whole, and who only looks at a run stands in nobody's way."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from lookalike.engines import journal
from lookalike.engines.journal import Journal, Lock
from lookalike.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

CUT = (7,)


def write(folder: Path, stage: str, units: int, cut: tuple[int, ...] = CUT) -> None:
    """Do and finish a stage of so many units."""
    written = Journal(folder, writable=True)
    done = [written.record(stage, cut, (at,), None, {"a": (at, 1)}) for at in range(units)]
    written.finish(stage, cut, done)


def damage(folder: Path, *numbers: int) -> None:
    """Change a byte in the middle of some lines."""
    file = folder / journal.JOURNAL
    lines = file.read_bytes().splitlines(keepends=True)
    for number in numbers:
        line = lines[number]
        lines[number] = line[: len(line) // 2] + b"\0" + line[len(line) // 2 + 1 :]
    file.write_bytes(b"".join(lines))


def test_a_damaged_line_costs_only_what_its_stage_has_behind_it(tmp_path):
    for stage in ("one", "two", "three"):
        write(tmp_path, stage, 5)
    damage(tmp_path, 6 + 2)
    expected = {"one": (5, True), "two": (2, False), "three": (5, True)}
    before = (tmp_path / journal.JOURNAL).read_bytes()
    assert Journal(tmp_path).stages() == expected
    assert (tmp_path / journal.JOURNAL).read_bytes() == before  # who only looks changes nothing
    found = Journal(tmp_path, writable=True)
    assert found.stages() == expected
    lines = before.splitlines(keepends=True)
    assert (tmp_path / journal.JOURNAL).read_bytes() == b"".join(lines[:8] + lines[12:])
    assert [unit.cursor for unit in found.units("two", CUT)] == [(0,), (1,)]
    assert not found.units("two", CUT)[-1].last
    assert found.units("three", CUT)[-1].last
    found.record("two", CUT, (2,), None, {})
    assert Journal(tmp_path).stages() == {**expected, "two": (3, False)}
    assert not (tmp_path / f"{journal.JOURNAL}.part").exists()


@pytest.mark.parametrize(
    ("line", "expected"),
    [(0, (0, False)), (1, (1, False)), (2, (2, False)), (3, (3, False)), (None, (3, True))],
)
def test_units_count_up_to_the_first_that_is_missing(line, expected, tmp_path):
    write(tmp_path, "one", 3)
    damage(tmp_path, *(() if line is None else (line,)))
    assert Journal(tmp_path).stages().get("one", (0, False)) == expected


def test_units_of_another_cut_begin_anew(tmp_path):
    write(tmp_path, "one", 5)
    write(tmp_path, "one", 2, (8,))
    assert Journal(tmp_path).stages() == {"one": (2, True)}
    assert Journal(tmp_path).units("one", CUT) == []
    damage(tmp_path, 7)
    assert Journal(tmp_path).stages() == {"one": (1, False)}
    damage(tmp_path, 6)
    assert Journal(tmp_path, writable=True).units("one", (8,)) == []


def test_a_stage_without_units_is_finished(tmp_path):
    write(tmp_path, "one", 0)
    assert Journal(tmp_path).stages() == {"one": (0, True)}


def test_half_a_line_and_foreign_bytes_do_not_count(tmp_path):
    write(tmp_path, "one", 3)
    file = tmp_path / journal.JOURNAL
    whole = file.read_bytes()
    file.write_bytes(b"\r\n\xff\n" + whole + whole[:20])
    assert Journal(tmp_path, writable=True).stages() == {"one": (3, True)}
    assert file.read_bytes() == whole


def test_a_unit_costs_the_same_however_many_there_are(tmp_path, monkeypatch):
    """Lists were copied for every unit: 16,000 of them took seconds."""
    monkeypatch.setattr(Journal, "_append", lambda self, entry: self._replay(entry))
    written = Journal(tmp_path)

    def seconds(n: int) -> float:
        began = time.process_time()
        for _ in range(n):
            written.record("one", CUT, (0,), None, {})
        return time.process_time() - began

    first = seconds(4000)
    seconds(40_000)
    assert seconds(4000) < 10 * first + 0.05


def test_only_columns_are_removed(tmp_path):
    mine = ["model.int64", "a.b.c.int64", "..int64", "one.two.float16", "one.two.uint8.bak"]
    ours = ["one.two.int64", journal.JOURNAL, f"{journal.JOURNAL}.part", f"{journal.RUN}.part"]
    for name in [*mine, *ours, journal.RUN, journal.LOCK]:
        (tmp_path / name).write_text("x")
    journal.clear(tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {*mine, journal.LOCK}


def test_a_look_stands_in_nobodys_way_but_work_does(tmp_path, monkeypatch):
    Lock(tmp_path).release()
    looking = (tmp_path / journal.LOCK).open()
    assert journal._hold(looking, journal.fcntl.LOCK_SH)
    assert not journal.is_locked(tmp_path)
    monkeypatch.setattr(journal.time, "sleep", lambda seconds: looking.close())
    lock = Lock(tmp_path)
    assert journal.is_locked(tmp_path)
    with pytest.raises(UsageError, match="is working in"):
        Lock(tmp_path)
    lock.release()
    assert not journal.is_locked(tmp_path)
