"""How far a run is, on standard error: a live bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lookalike.data import Progress

UNITS = {
    "shingling": "bytes",
    "sketching": "items",
    "crowding": "bands",
    "banding": "parts",
    "comparing": "candidates",
}
SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def shown(*, quiet: bool = False) -> Iterator[Progress]:
    """Give a function to tell progress to."""
    if quiet:
        yield lambda stage, done, total: None
    elif sys.stderr.isatty():
        yield from _bars()
    else:
        yield Lines()


def _amount(stage: str, value: float) -> str:
    """Return an amount of a stage's units.

    >>> _amount("shingling", 2_500_000), _amount("sketching", 2_500_000)
    ('2.5 MB', '2,500,000')
    """
    from lookalike.forecast import readable_bytes

    return readable_bytes(value) if UNITS[stage] == "bytes" else f"{value:,.0f}"


def _unit(stage: str) -> str:
    return "" if UNITS[stage] == "bytes" else f" {UNITS[stage]}"


def _memory() -> str:
    from lookalike.engines.running import anonymous_memory
    from lookalike.forecast import readable_bytes

    return f"{readable_bytes(anonymous_memory())} of memory"


def _bars() -> Iterator[Progress]:
    from rich import progress as rich
    from rich.console import Console

    columns = (
        rich.TextColumn("{task.description:<10}"),
        rich.BarColumn(bar_width=30),
        rich.TextColumn("{task.fields[done]}"),
        rich.TextColumn("{task.fields[rate]}", style="progress.data.speed"),
        rich.TimeRemainingColumn(),
        rich.TextColumn("{task.fields[memory]}"),
    )
    with rich.Progress(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, rich.TaskID] = {}

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total, done="", rate="", memory="")
            task = tasks[stage]
            bars.update(task, completed=done, total=total)
            speed = bars.tasks[list(tasks).index(stage)].speed
            bars.update(
                task,
                done=f"{_amount(stage, done)} of {_amount(stage, total)}{_unit(stage)}",
                rate=f"{_amount(stage, speed)}/s" if speed else "",
                memory=_memory() if done < total else "",
            )

        yield tell


class Lines:
    """One line when a stage ends, and one every few seconds while it goes on."""

    def __init__(self) -> None:
        self._began: dict[str, tuple[float, int]] = {}
        self._last = time.monotonic()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Tell how far a stage is.

        What was done when it is first heard of may be of an earlier process: it has no rate.
        """
        now = time.monotonic()
        began, before = self._began.setdefault(stage, (now, done))
        if done < total and now - self._last < SECONDS_BETWEEN_LINES:
            return
        self._last = now
        parts = [f"{stage}: {_amount(stage, done)} of {_amount(stage, total)}{_unit(stage)}"]
        rate = (done - before) / (now - began) if now - began > 0.05 else 0.0
        if rate > 0:
            parts.append(f"{_amount(stage, rate)}/s")
        if done < total:
            parts += [f"{(total - done) / rate:.0f} s left"] if rate > 0 else []
            parts.append(_memory())
        print(", ".join(parts), file=sys.stderr, flush=True)
