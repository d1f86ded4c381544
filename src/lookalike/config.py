"""What a user asks for, as frozen data.

`Shingling` says how an item becomes a set, `Settings` says how similar and how complete the answer
shall be, and both are stored with every result. `Resources` says what the run may use; nothing in
it can change a result.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Literal, get_args

from lookalike.errors import UsageError

Unit = Literal["words", "chars", "tokens"]
Scheme = Literal["fast", "classic"]

DEFAULT_K = {"words": 5, "chars": 9, "tokens": 1}
PROFILES = {
    "standard": "standard-1, Unicode 15.0: NFKC, case folded, format characters dropped, "
    "white space collapsed",
    "none": "none: the text as it is",
}
MOST_SLOTS = 1024
LONGEST_SHINGLE = 256  # longer ones of two alternating tokens could share a polynomial hash
LARGEST_DENOMINATOR = 10**18


@dataclass(frozen=True, kw_only=True)
class Shingling:
    """How a text becomes a set of shingles.

    >>> Shingling.parse("chars:7")
    Shingling(unit='chars', k=7, bag=False, normalise='standard')
    """

    unit: Unit = "words"
    k: int = 5
    bag: bool = False
    normalise: str = "standard"

    def __post_init__(self) -> None:
        if self.unit not in get_args(Unit):
            raise UsageError(f"unknown shingle unit {self.unit!r}: words, chars or tokens")
        if not 1 <= self.k <= LONGEST_SHINGLE:
            raise UsageError(f"a shingle has 1 to {LONGEST_SHINGLE} tokens, not {self.k}")
        if self.normalise not in PROFILES:
            allowed = " or ".join(PROFILES)
            raise UsageError(f"unknown normalisation profile {self.normalise!r}: {allowed}")

    @classmethod
    def parse(cls, text: str, *, bag: bool = False, normalise: str = "standard") -> Shingling:
        """Read ``words:5``, ``chars:9`` or ``tokens``; the number may be left out."""
        unit, colon, k = text.partition(":")
        if unit not in get_args(Unit) or (colon and not k.isdecimal()):
            raise UsageError(f"cannot read shingles {text!r}: words:5, chars:9 or tokens")
        size = int(k) if colon else DEFAULT_K[unit]
        return cls(unit=unit, k=size, bag=bag, normalise=normalise)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return f"{self.unit}:{self.k}" + (" (bags)" if self.bag else "")


def exact_threshold(value: float | str | Decimal | Fraction) -> Fraction:
    """Return the threshold a person wrote, as a fraction: 0.8 is 4/5 and not its nearest float.

    >>> exact_threshold(0.8)
    Fraction(4, 5)
    """
    try:
        exact = value if isinstance(value, Fraction) else Fraction(Decimal(str(value)))
    except (InvalidOperation, ValueError, OverflowError):
        raise UsageError(f"cannot read the threshold {value!r}: a number like 0.8") from None
    if not 0 < exact <= 1:
        raise UsageError(f"the threshold is {value}, but has to be above 0 and at most 1")
    if exact.denominator > LARGEST_DENOMINATOR:
        raise UsageError(
            f"the threshold {value} has too many digits: at most 18 are compared exactly"
        )
    return exact


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How similar, how complete, and how: all that decides a result besides the data."""

    threshold: Fraction = Fraction(4, 5)
    recall: float = 0.99
    shingling: Shingling = field(default_factory=Shingling)
    sketch: Scheme = "fast"
    seed: int = 1
    bands: int | None = None
    rows: int | None = None
    exact: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.recall < 1:
            raise UsageError(
                f"the recall is {self.recall}, but has to be above 0 and below 1; to miss nothing "
                "at all, ask for an exact run (--exact, exact=True in Python)"
            )
        if self.sketch not in get_args(Scheme):
            raise UsageError(f"unknown sketch {self.sketch!r}: fast or classic")
        if not 0 <= self.seed < 2**64:
            raise UsageError(f"the seed is {self.seed}, but has to be at least 0 and below 2^64")
        if (self.bands is None) != (self.rows is None):
            raise UsageError("bands and rows are given together, or both left to the planner")
        if self.exact and self.bands is not None:
            raise UsageError("an exact run has no bands: leave out either exact or bands and rows")
        if self.bands is not None and self.rows is not None:
            _check_bands(self.bands, self.rows)


def _check_bands(bands: int, rows: int) -> None:
    if bands < 1 or rows < 1:
        raise UsageError(f"{bands} bands of {rows} rows make no signature: at least 1 of each")
    if bands * rows > MOST_SLOTS:
        raise UsageError(
            f"{bands} bands of {rows} rows need {bands * rows} slots, but a signature has at most "
            f"{MOST_SLOTS}"
        )


@dataclass(frozen=True)
class Keep:
    """Which of several similar items to keep: the order in which they are considered.

    >>> Keep.parse("source:site=gov.uk,bbc.co.uk")
    Keep(policy='source', column='site', values=('gov.uk', 'bbc.co.uk'))
    """

    policy: Literal["first", "longest", "shortest", "max", "min", "source"] = "first"
    column: str | None = None
    values: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Keep:
        """Read first, longest, shortest, max:COLUMN, min:COLUMN or source:COLUMN=A,B,C."""
        policy, _, rest = text.partition(":")
        column, equals, values = rest.partition("=")
        listed = tuple(value.strip() for value in values.split(",") if value.strip())
        if policy in {"first", "longest", "shortest"} and not rest:
            return cls(policy)  # type: ignore[arg-type]
        if policy in {"max", "min"} and column and not equals:
            return cls(policy, column)  # type: ignore[arg-type]
        if policy == "source" and column and listed:
            return cls("source", column, listed)
        raise UsageError(
            f"cannot read what to keep from {text!r}: first, longest, shortest, max:COLUMN, "
            "min:COLUMN or source:COLUMN=A,B,C"
        )

    def __str__(self) -> str:
        column = f":{self.column}" if self.column else ""
        return self.policy + column + (f"={','.join(self.values)}" if self.values else "")


Engine = Literal["auto", "memory", "disk"]
LEAST_MEMORY = 300_000_000
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {f"{unit}i": 2 ** (10 * power) for power, unit in enumerate("kmgt", start=1)}


def parse_bytes(text: str | int) -> int:
    """Return a number of bytes written with a unit.

    >>> parse_bytes("2GB"), parse_bytes("1.5 GiB")
    (2000000000, 1610612736)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*?)b?\s*", str(text).lower())
    if not found or found[2] not in _UNITS:
        raise UsageError(f"cannot read an amount of memory from {text!r}: 512MB, 2GB or 1.5GiB")
    return int(Decimal(found[1]) * _UNITS[found[2]])


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a run may use and where it works. No result depends on it.

    `memory` is a budget in bytes, None for half of what is available; `work_dir` is where the disk
    engine works, None for a place beside the output. A finished run leaves its work files there
    with `keep_work`; `restart` removes what is there of an earlier one.
    """

    threads: int = 0
    batch: int = 32 << 20
    memory: int | None = None
    engine: Engine = "auto"
    work_dir: Path | None = None
    keep_work: bool = False
    restart: bool = False

    def __post_init__(self) -> None:
        if self.threads < 0:
            raise UsageError(f"{self.threads} threads cannot work: 1 or more, or 0 for all cores")
        if self.batch < 1:
            raise UsageError(f"a batch has at least 1 byte, not {self.batch}")
        if self.memory is not None and self.memory < LEAST_MEMORY:
            raise UsageError(
                f"a run needs at least {LEAST_MEMORY // 10**6} MB of memory, not {self.memory:,} "
                "bytes"
            )
        if self.engine not in get_args(Engine):
            raise UsageError(f"unknown engine {self.engine!r}: memory or disk (or auto)")
        if self.engine == "memory" and (self.keep_work or self.restart):
            raise UsageError("the memory engine has no work files to keep or to begin anew")

    @property
    def workers(self) -> int:
        """The number of threads, with 0 read as every core this process may use."""
        return self.threads or len(os.sched_getaffinity(0))

    @property
    def budget(self) -> int:
        """The memory that may be used: what was given, or half of what is available."""
        return self.memory or max(available_memory() // 2, LEAST_MEMORY)


def available_memory() -> int:
    """Return the bytes that this process could get, by the system and by its control group."""
    found = [8 * 10**9]  # where nothing is known
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        line = next(line for line in lines if line.startswith("MemAvailable"))
        found = [1024 * int(line.split()[1])]
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ):
        with suppress(OSError, ValueError):
            most, now = (int(Path(each).read_text("ascii")) for each in (limit, used))
            found.append(max(most - now, 0))
    return min(found)
