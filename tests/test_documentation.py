"""What the README and the docs say is what lookalike does."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer.main

from lookalike.cli.main import app

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return FENCE.findall(page.read_text(encoding="utf-8"))


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if any(kind == language for kind, _ in blocks(page))]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", pages_with("python"), ids=name)
def test_python_blocks_run_and_print_what_stands_behind_them(page):
    namespace: dict[str, object] = {}
    printed = ""
    for kind, code in blocks(page):
        if kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(code, str(page), "exec"), namespace)
            printed = out.getvalue()
        elif not kind:
            assert printed.startswith(code), f"{name(page)} says\n{code}\nbut it prints\n{printed}"


@pytest.fixture
def workplace(tmp_path):
    """A folder with the files that the documentation speaks of."""
    rows = [
        {"id": at, "text": f"some words that make a text {at % 3} of a few"} for at in range(20)
    ]
    (tmp_path / "news.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for file in ("train.parquet", "test.parquet"):
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / file)
    return tmp_path


@pytest.mark.parametrize("page", pages_with("console"), ids=name)
def test_commands_in_the_documentation_work(page, workplace):
    lines = [line for kind, code in blocks(page) if kind == "console" for line in code.splitlines()]
    commands = [shlex.split(line[2:]) for line in lines if line.startswith("$ ")]
    assert commands
    for command, *args in commands:
        if command == "make":
            targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
            assert args[0] in targets
            continue
        assert command == "lookalike"
        run = [sys.executable, "-m", "lookalike", *args]
        ran = subprocess.run(run, cwd=workplace, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        for output in args:
            if output.endswith((".parquet", ".html")):
                assert (workplace / output).exists()


def test_every_command_and_option_is_in_the_reference():
    reference = (ROOT / "docs/reference/command-line.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", reference, re.MULTILINE | re.DOTALL))
    common = sections["Options of every search"]
    for command, details in typer.main.get_command(app).commands.items():
        section = sections[f"lookalike {command}"]
        if command in {"find", "cluster", "dedup", "plan"}:
            section += common
        options = [option for each in details.params for option in each.opts]
        for option in options:
            if option.startswith("--") and option != "--help":
                assert re.search(rf"{option}[ `\]]", section), f"{command} {option}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{name(page)} links to {target}"


def test_every_make_target_named_in_the_documentation_exists():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md"]:
        for target in re.findall(r"make ([a-z-]+)\b", page.read_text(encoding="utf-8")):
            if target in {"a", "no", "sense", "it"}:  # English
                continue
            assert target in targets, f"{name(page)} names make {target}"


def test_the_modules_that_the_architecture_names_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for path in re.findall(r"`((?:src|native|tests|tools|docs)/[\w/.-]+)`", text):
        assert (ROOT / path).exists(), path
