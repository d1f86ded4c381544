"""The command line with work cut into many units, which may be killed or held at a given step.

Run as a script. A step is whatever changes the names or the sizes of files, and every line of the
journal has three: before it, half-written, behind it.

DRIVER_KILL_AT  the number of the step at which the process kills itself (SIGKILL)
DRIVER_HOLD_AT  the number of the step at which it waits for ever
DRIVER_STEPS    a file that gets a line for each step there was
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from lookalike.engines import journal, running
from lookalike.work import Limits

KILL_AT = int(os.environ.get("DRIVER_KILL_AT", "0"))
HOLD_AT = int(os.environ.get("DRIVER_HOLD_AT", "0"))
STEPS = os.environ.get("DRIVER_STEPS")
EVENTS = {"os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate"}


class Steps:
    """The steps of a process, counted from 1."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def step(self, name: str) -> None:
        self.names.append(name)
        if len(self.names) == KILL_AT:
            os.kill(os.getpid(), signal.SIGKILL)
        if len(self.names) == HOLD_AT:
            sys.stderr.write("holding\n")
            sys.stderr.flush()
            time.sleep(600)

    def watch(self, event: str, args: tuple[object, ...]) -> None:
        writes = event == "open" and isinstance(args[1], str) and args[1][:1] in "wax"
        if (event in EVENTS or writes) and str(args[0]) != STEPS:
            self.step(f"{event} {args[0]}")


def main() -> None:
    steps = Steps()
    append = journal.Journal._append

    def append_in_steps(self: journal.Journal, entry: dict[str, object]) -> None:
        line = journal.sealed(entry)
        with self._path.open("ab") as file:
            file.write(line[: len(line) // 2])
            file.flush()
            steps.step("half a line")
            file.truncate(file.tell() - len(line) // 2)
        append(self, entry)

    journal.Journal._append = append_in_steps  # type: ignore[method-assign]
    limits = Limits(batch=900, items=23, keys=37, pairs=40, elements=300)
    running._limits = lambda resources: limits
    from lookalike.cli.main import run

    sys.addaudithook(steps.watch)
    try:
        run()
    finally:
        if STEPS:
            Path(STEPS).write_text("\n".join(steps.names), "utf-8")


if __name__ == "__main__":
    main()
