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


def _bars() -> Iterator[Progress]:
    from rich import progress as rich
    from rich.console import Console

    columns = (
        rich.TextColumn("{task.description:<10}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TextColumn("{task.fields[unit]}"),
        rich.TextColumn("{task.fields[rate]}", style="progress.data.speed"),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, rich.TaskID] = {}

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total, unit=UNITS[stage], rate="")
            bars.update(tasks[stage], completed=done, total=total)
            speed = bars.tasks[tasks[stage]].speed
            bars.update(tasks[stage], rate=f"{speed:,.0f}/s" if speed else "")

        yield tell


class Lines:
    """One line when a stage ends, and one every few seconds while it goes on."""

    def __init__(self) -> None:
        self._began: dict[str, float] = {}
        self._last = time.monotonic()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Tell how far a stage is."""
        now = time.monotonic()
        began = self._began.setdefault(stage, now if done < total else self._last)
        if done < total and now - self._last < SECONDS_BETWEEN_LINES:
            return
        self._last = now
        rate = done / max(now - began, 1e-9)
        left = f", {(total - done) / rate:.0f} s left" if done < total else ""
        speed = f", {rate:,.0f}/s" if now - began > 0.05 else ""
        print(
            f"{stage}: {done:,} of {total:,} {UNITS[stage]}{speed}{left}",
            file=sys.stderr,
            flush=True,
        )
