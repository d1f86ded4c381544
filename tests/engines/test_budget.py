"""A budget of memory is kept, whatever the collection is like, and chooses the engine."""

from __future__ import annotations

import json
import random
import re
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import lookalike as la
from lookalike import api
from lookalike.engines import running
from lookalike.errors import UsageError
from lookalike.forecast import Needs

from .conftest import WORDS, command, environment, lookalike, rows_of, write_jsonl

if TYPE_CHECKING:
    from collections.abc import Iterator


def crowd(n: int) -> Iterator[str]:
    """Yield texts that share a boilerplate, each with three words of its own."""
    draw = random.Random(0)
    boilerplate = " ".join(WORDS[:40])
    for at in range(n):
        yield f"{boilerplate} {draw.choice(WORDS)} {draw.choice(WORDS)} {at}"


def ordinary(n: int) -> Iterator[str]:
    """Yield short texts, a tenth of them near-duplicates of the one before."""
    draw = random.Random(1)
    words = draw.choices(WORDS, k=40)
    for at in range(n):
        words = [*words[1:], str(at)] if at % 10 == 0 else draw.choices(WORDS, k=40)
        yield " ".join(words)


def one_large(size: int) -> Iterator[str]:
    """Yield a document of some size, and some ordinary ones."""
    draw = random.Random(2)
    page = " ".join(draw.choices(WORDS, k=20_000))
    pages = size // len(page) + 1
    yield " ".join(f"{page} {number}" for number in range(pages))
    yield from ordinary(1000)


def write(path: Path, texts: Iterator[str]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for at, text in enumerate(texts):
            file.write(json.dumps({"id": at, "text": text}) + "\n")
    return path


def peak(*args: object) -> int:
    """Run a command; return the most anonymous memory it had when it was looked at, in bytes."""
    with subprocess.Popen(
        command(*args),
        env=environment(),
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        most, status = 0, Path(f"/proc/{process.pid}/status")
        while process.poll() is None:
            found = re.search(r"RssAnon:\s+(\d+) kB", status.read_text("ascii"))
            most = max(most, 1024 * int(found[1]) if found else 0)
            time.sleep(0.005)
        assert process.stderr is not None
        assert process.returncode == 0, process.stderr.read()
    return most


COLLECTIONS = {
    "crowd": (lambda: crowd(100_000), ["dedup"], "300MB"),
    "ordinary": (lambda: ordinary(200_000), ["find", "--max-pairs", "10000000"], "300MB"),
    "large document": (lambda: one_large(50_000_000), ["find"], "512MB"),
}
LARGER = {
    "crowd": (lambda: crowd(1_000_000), ["dedup"], "512MB"),
    "crowd, clustered": (lambda: crowd(1_000_000), ["cluster"], "512MB"),
    "ordinary": (lambda: ordinary(2_000_000), ["find"], "512MB"),
    "large document": (lambda: one_large(500_000_000), ["find"], "2GB"),
}


def keeps_its_budget(texts: Iterator[str], verb: list[str], memory: str, folder: Path) -> None:
    rows = write(folder / "rows.jsonl", texts)
    target = folder / ("kept.jsonl" if verb[0] == "dedup" else "out.parquet")
    used = peak(*verb, rows, "-o", target, "--memory", memory, "--engine", "disk", "--quiet")
    assert target.stat().st_size > 100
    assert used <= la.config.parse_bytes(memory)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_anonymous_memory_stays_within_the_budget(name, tmp_path):
    make, verb, memory = COLLECTIONS[name]
    keeps_its_budget(make(), verb, memory, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("name", LARGER)
def test_anonymous_memory_stays_within_the_budget_of_larger_collections(name, tmp_path):
    make, verb, memory = LARGER[name]
    keeps_its_budget(make(), verb, memory, tmp_path)


def test_work_on_a_budget_gives_the_same_bytes(tmp_path):
    """Real units here: nothing is set to cut the work but the budget."""
    rows = write(tmp_path / "rows.jsonl", ordinary(60_000))
    written = []
    for engine in ("memory", "disk"):
        out = tmp_path / f"{engine}.parquet"
        ran = lookalike("find", rows, "-o", out, "--memory", "300MB", "--engine", engine)
        assert ran.returncode == 0, ran.stderr
        written.append(out.read_bytes())
    assert written[0] == written[1]
    units = re.findall(r"^(\w+) +[\d.]+ +[\d.]+ \w+ +(\d+)", ran.stderr, re.MULTILINE)
    assert int(dict(units)["shingling"]) > 1


# ── The choice of an engine ───────────────────────────────────────────────────────────────────


def engine_of(data: Any, **options: Any) -> str:
    run = api.Run.of(options)  # type: ignore[arg-type]
    with run.search(run.open(data)):
        assert run.running is not None
        return run.running.engine


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Return a file that is too large to be called small."""
    path = write(tmp_path / "large.jsonl", ordinary(8000))
    assert path.stat().st_size > running.SMALL
    return path


def test_a_small_input_is_held_in_memory_whatever_the_budget(rows):
    assert engine_of(rows, memory="300MB") == "memory"


def test_an_input_that_fits_the_budget_is_held_in_memory(large):
    assert engine_of(large, memory="1GB") == "memory"


@pytest.mark.parametrize(
    ("memory", "engine"), [(799_999_999, "memory"), (800_000_001, "disk"), (10**12, "disk")]
)
def test_an_estimate_beyond_four_fifths_of_the_budget_works_on_disk(
    memory, engine, large, monkeypatch
):
    monkeypatch.setattr(running, "probe", lambda inputs, settings: Needs(memory, 1000, 1.0))
    assert engine_of(large, memory="1GB") == engine
    assert engine_of(large, memory="1GB", engine="memory") == "memory"
    assert engine_of(large, memory="1GB", engine="disk") == "disk"


def test_a_large_input_with_a_small_budget_works_on_disk_by_itself(tmp_path):
    """No estimate is set here."""
    rows = write(tmp_path / "rows.jsonl", ordinary(260_000))
    assert engine_of(rows, memory="300MB") == "disk"
    assert engine_of(rows, memory="4GB") == "memory"


def test_the_estimate_of_the_memory_engine_is_about_right(tmp_path):
    """Within a factor of two of what it takes, since it decides between the engines."""
    rows = write(tmp_path / "rows.jsonl", ordinary(100_000))
    used = peak("find", rows, "--engine", "memory", "--memory", "8GB", "--quiet")
    assert used / 2 < la.plan(rows).needs.memory < 2 * used


def test_work_that_is_to_be_kept_or_was_begun_is_done_on_disk(rows, tmp_path):
    place = {"work_dir": tmp_path / "run"}
    assert engine_of(rows, **place) == "memory"
    assert not (tmp_path / "run").exists()
    assert engine_of(rows, **place, keep_work=True) == "disk"
    assert (tmp_path / "run" / "run.json").exists()
    assert engine_of(rows, **place) == "disk"
    assert not (tmp_path / "run").exists()


def test_every_command_takes_the_options_of_a_run(tmp_path):
    rows = write_jsonl(tmp_path / "rows.jsonl", rows_of(30))
    options = ["--engine", "disk", "--memory", "300MB", "--keep-work", "--work-dir"]
    for verb in ("find", "cluster", "dedup", "plan"):
        place = tmp_path / f"run-{verb}"
        more = ["--dry-run"] if verb == "dedup" else []
        ran = lookalike(verb, rows, *more, *options, place)
        assert ran.returncode == 0, ran.stderr
        assert (place / "run.json").exists()


def test_the_run_directory_is_beside_the_output_unless_it_is_named(tmp_path):
    rows = write_jsonl(tmp_path / "rows.jsonl", rows_of(30))
    out = tmp_path / "pairs.csv"
    ran = lookalike("find", rows, "-o", out, "--keep-work")
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "pairs.csv.lookalike" / "run.json").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"memory": "100MB"}, "at least 300 MB"),
        ({"memory": "much"}, "512MB, 2GB"),
        ({"engine": "cloud"}, "memory or disk"),
        ({"engine": "memory", "keep_work": True}, "no work files"),
        ({"engine": "memory", "restart": True}, "no work files"),
    ],
)
def test_resources_that_make_no_sense_are_refused(options, told, rows):
    with pytest.raises(UsageError, match=told):
        la.find(rows, **options)
