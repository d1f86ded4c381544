"""Collections with known troubles, limits that cut work into many units, and the command line."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lookalike.engines import running
from lookalike.work import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

MANY = Limits(batch=900, items=23, keys=37, pairs=40, elements=300)
DRIVER = Path(__file__).with_name("driver.py")
WORDS = [f"{a}{b}" for a in ("al", "be", "co", "du", "ex", "fo") for b in range(300)]


def texts_of(n: int, seed: int = 0, length: int = 30) -> list[str]:
    """Return texts of which two thirds are near-duplicates or copies of another, some empty."""
    draw = random.Random(seed)
    texts: list[list[str]] = []
    for at in range(n):
        kind = draw.random()
        if at < 3 or kind < 0.3:
            words = draw.choices(WORDS, k=draw.randint(1, 2 * length))
        elif kind < 0.35:
            words = []
        else:
            words = list(draw.choice(texts))
            for _ in range(draw.choice((0, 1, 1, 2)) if words else 0):
                last = len(words) - 1  # most changes are near the end, where they change little
                words[draw.choice((0, last, last, last // 2))] = draw.choice(WORDS)
        texts.append(words)
    return [" ".join(words) for words in texts]


def rows_of(n: int, seed: int = 0) -> list[dict[str, Any]]:
    """Return rows with an id, a text, and columns to choose by."""
    draw = random.Random(seed + 1)
    return [
        {
            "id": f"r{at}",
            "text": text,
            "score": draw.choice([None, 1.5, 2.5, draw.random()]),
            "site": draw.choice(["a.org", "b.org", "c.org"]),
        }
        for at, text in enumerate(texts_of(n, seed))
    ]


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> Callable[[Limits], None]:
    """Return a function that sets how work is cut into units."""
    return lambda limits: monkeypatch.setattr(running, "_limits", lambda resources: limits)


@pytest.fixture
def many_units(cut: Callable[[Limits], None]) -> None:
    """Cut work into many units."""
    cut(MANY)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Return a file of 240 rows."""
    return write_jsonl(tmp_path / "rows.jsonl", rows_of(240))


def command(*args: object, driven: bool = False) -> list[str]:
    """Return a command line; driven, with work in many units (see `driver`)."""
    program = [str(DRIVER)] if driven else ["-m", "lookalike"]
    return [sys.executable, *program, *map(str, args)]


def environment(**values: object) -> dict[str, str]:
    known = {name: value for name, value in os.environ.items() if not name.startswith("DRIVER_")}
    return known | {"COLUMNS": "150", "NO_COLOR": "1"} | {k: str(v) for k, v in values.items()}


def lookalike(
    *args: object, driven: bool = False, variables: dict[str, object] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        command(*args, driven=driven),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=environment(**(variables or {})),
        **options,
    )
