"""Near-duplicates in real text that every machine has: the running Python's standard library.

Each module is an item, and so is each docstring of at least twenty words in it (shorter ones are
all alike). The tables in `encodings` alone are families of near-duplicates; copied docstrings and
backwards-compatible twins are others.
"""

from __future__ import annotations

import ast
import sysconfig
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lookalike import __version__, api
from lookalike.errors import OutputError
from lookalike.report.pages import render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lookalike.data import Progress
    from lookalike.result import Result

Documented = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
LEAST_WORDS = 20
THRESHOLD = 0.5
FAMILIES = 30
PAIRS = 25
SHOWN = 200


@dataclass(frozen=True)
class Family:
    """Items connected by pairs, with the least and the greatest similarity among the pairs."""

    members: list[str]
    least: float
    most: float

    @property
    def first(self) -> str:
        """The name of the first member."""
        return self.members[0]


def standard_library(folder: Path | None = None) -> pa.Table:
    """Return the sources and docstrings of the standard library: id and text."""
    folder = folder or Path(sysconfig.get_path("stdlib"))
    rows = [row for path in _sources(folder) for row in _items(path, folder)]
    return pa.table({"id": [id for id, _ in rows], "text": [text for _, text in rows]})


def _sources(folder: Path) -> list[Path]:
    skipped = {"site-packages", "dist-packages", "__pycache__", "test", "tests"}
    return sorted(
        path for path in folder.rglob("*.py") if skipped.isdisjoint(path.relative_to(folder).parts)
    )


def _items(path: Path, folder: Path) -> Iterator[tuple[str, str]]:
    name = path.relative_to(folder).as_posix()
    source = path.read_text(encoding="utf-8", errors="replace")
    yield name, source
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(source)
        except SyntaxError:  # lib2to3 keeps sources of older Pythons
            return
    for dotted, node in _documented(tree, ""):
        text = ast.get_docstring(node)
        if text and len(text.split()) >= LEAST_WORDS:
            yield f"{name}:{dotted}:{node.lineno}", text


def _documented(node: ast.AST, prefix: str) -> Iterator[tuple[str, Documented]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Documented):
            dotted = f"{prefix}{child.name}"
            yield dotted, child
            yield from _documented(child, f"{dotted}.")


def families_of(result: Result) -> list[Family]:
    """Return the families with more than one member, largest first."""
    pairs, corpus = result.positions, result.corpus
    labels = result.clusters().labels
    families = []
    family_of_pair = labels[pairs.left]
    for label in np.unique(family_of_pair).tolist():
        members = np.flatnonzero(labels == label).astype(np.int32)
        similarity = pairs.similarity[family_of_pair == label]
        names = corpus.names(members).to_pylist()
        families.append(Family(names, float(similarity.min()), float(similarity.max())))
    return sorted(families, key=lambda family: -len(family.members))


def run(page: Path, *, threads: int, progress: Progress) -> tuple[Result, list[Family]]:
    """Find the near-duplicates of the standard library and write a page of them."""
    if not page.parent.is_dir():
        raise OutputError(f"the folder {page.parent} does not exist")
    result = api.find(standard_library(), threshold=THRESHOLD, threads=threads, progress=progress)
    families = families_of(result)
    near = [row for row in result.pairs.to_pylist() if row["similarity"] < 1]
    facts = [tuple(line.split("  ", 1)) for line in result.summary().splitlines()]
    html = render(
        "families.html",
        title="Near-duplicates in Python's standard library",
        lead=f"Every module, and every docstring of at least {LEAST_WORDS} words, is an item. "
        "Pairs that may be alike were found by locality-sensitive hashing, then compared exactly.",
        facts=facts,
        threshold=float(result.threshold),
        families=families[:FAMILIES],
        shown=SHOWN,
        pairs=sorted(near, key=lambda row: -row["similarity"])[:PAIRS],
        version=__version__,
    )
    page.write_text(html, encoding="utf-8")
    return result, families
