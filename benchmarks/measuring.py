"""What a command costs: time, memory of all its processes, and space in its work directory."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

# A look takes 0.15 ms. Beside the kernel's own record, looks every 50 ms missed up to 10 of 800 MB,
# looks every 10 ms up to 5. (The peak itself differed more from run to run: 715 to 907 MB.)
SAMPLE_SECONDS = 0.02
WORK_SECONDS = 1.0
PROC = Path("/proc")


@dataclass(frozen=True)
class Cost:
    """What one run of a command took; sizes in bytes."""

    seconds: float
    cpu_seconds: float  # user and system, of all processes
    anonymous: int  # the most that all processes together held in private or shared memory
    resident: int  # the kernel's own record of each process, which includes mapped files
    work: int  # the most that the work directory held


class CommandError(Exception):
    """The command ended with an error."""


def processes(root: int) -> list[int]:
    """Return a process and all its descendants."""
    found = [root]
    for process in found:  # grows while it is read
        for children in PROC.glob(f"{process}/task/*/children"):
            try:
                found += map(int, children.read_text().split())
            except OSError:  # it has just ended
                continue
    return found


def memory(root: int) -> tuple[int, int]:
    """Return the anonymous memory of a process and its descendants, and their peaks of all kinds.

    The kernel keeps the peak (VmHWM) without gaps but with mapped files, which it can take back;
    anonymous memory alone has to be looked at.
    """
    anonymous = resident = 0
    for process in processes(root):
        try:
            lines = (PROC / str(process) / "status").read_text().splitlines()
        except OSError:
            continue
        fields = dict(line.split(":", 1) for line in lines if line.startswith(("Rss", "VmHWM")))
        sizes = {name: 1024 * int(field.split()[0]) for name, field in fields.items()}
        # Shared memory has no file behind it either: what is put there is not saved.
        anonymous += sizes.get("RssAnon", 0) + sizes.get("RssShmem", 0)
        resident += sizes.get("VmHWM", 0)
    return anonymous, resident


def space(folder: Path) -> int:
    """Return the space on disk that the files in a folder take."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += 512 * path.lstat().st_blocks
        except OSError:
            continue
    return total


def measure(command: list[str], work: Path) -> tuple[Cost, str]:
    """Run a command and return its cost and what it printed."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=err)
        anonymous = resident = disk = 0
        next_look = start
        while True:
            held = memory(process.pid)
            anonymous, resident = max(anonymous, held[0]), max(resident, held[1])
            if time.monotonic() >= next_look:
                disk = max(disk, space(work))
                next_look += WORK_SECONDS
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            if ended:
                break
            time.sleep(SAMPLE_SECONDS)
        seconds = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode:
            said = f"{out.read()}{err.read()}"[-2000:]
            raise CommandError(f"{' '.join(command)}\nended with {process.returncode}:\n{said}")
        cost = Cost(seconds, usage.ru_utime + usage.ru_stime, anonymous, resident, disk)
        return cost, out.read()
