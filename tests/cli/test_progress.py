"""How far a run is, told as it is: what an earlier process did takes no time."""

from __future__ import annotations

import pytest
from rich import progress as rich

from lookalike.cli import progress

GB = 10**9


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that goes on when it is told to."""

    class Clock:
        now = 100.0

        def monotonic(self) -> float:
            return self.now

    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    monkeypatch.setattr(progress, "_memory", lambda: "5 MB of memory")
    return clock


def told(clock, capsys, *steps: tuple[float, int]) -> list[str]:
    """Return the lines for a stage of 1000 GB: seconds that pass, and GB done then."""
    lines = progress.Lines()
    for seconds, done in steps:
        clock.now += seconds
        lines("shingling", done * GB, 1000 * GB)
    return capsys.readouterr().err.splitlines()


def test_work_of_an_earlier_process_does_not_count_as_fast(clock, capsys):
    assert told(clock, capsys, (1, 800), (10, 810), (10, 820), (180, 1000)) == [
        "shingling: 810.0 GB of 1.0 TB, 1.0 GB/s, 190 s left, 5 MB of memory",
        "shingling: 820.0 GB of 1.0 TB, 1.0 GB/s, 180 s left, 5 MB of memory",
        "shingling: 1.0 TB of 1.0 TB, 1.0 GB/s",
    ]


def test_a_rate_that_is_not_known_is_not_told(clock, capsys):
    assert told(clock, capsys, (60, 900), (60, 900), (60, 1000)) == [
        "shingling: 900.0 GB of 1.0 TB, 5 MB of memory",
        "shingling: 900.0 GB of 1.0 TB, 5 MB of memory",
        "shingling: 1.0 TB of 1.0 TB, 833.3 MB/s",
    ]
    assert told(clock, capsys, (60, 1000)) == ["shingling: 1.0 TB of 1.0 TB"]


def test_bars_count_from_where_they_begin(clock, monkeypatch):
    """The first sample of a bar says where it begins, and is not part of its speed."""
    made = []

    def bars(*columns: rich.ProgressColumn, **options: object) -> rich.Progress:
        made.append(rich_progress(*columns, get_time=clock.monotonic, disable=True))
        return made[0]

    rich_progress = rich.Progress
    monkeypatch.setattr(rich, "Progress", bars)
    for tell in progress._bars():
        for done in (800, 810, 820):
            clock.now += 10
            tell("shingling", done * GB, 1000 * GB)
    (task,) = made[0].tasks
    assert task.fields["rate"] == "1.0 GB/s"
    assert task.time_remaining == 180
