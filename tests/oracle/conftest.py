"""The real data sets, and what the naive oracle says about them.

A truth takes seconds to compute and is needed by several tests, which may run in several processes:
it is computed once per test run and kept in a folder that all of them see.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from . import naive

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True)
class Documents:
    """A data set: as files with the options to read them, as ids and texts, as a table of these."""

    source: Path | list[Path]
    options: dict[str, str]
    ids: list[Any]
    texts: list[str]

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def table(self) -> pa.Table:
        return pa.table({"id": self.ids, "text": self.texts})


def _rows(path: Path) -> Documents:
    with path.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    texts = [row["text"] for row in rows]
    return Documents(path, {"text": "text", "id": "id"}, [row["id"] for row in rows], texts)


def _files(*folders: Path) -> Documents:
    paths = [(file, folder) for folder in folders for file in sorted(folder.rglob("*"))]
    files = [(file, folder) for file, folder in paths if file.is_file()]
    ids = [file.relative_to(folder).as_posix() for file, folder in files]
    texts = [file.read_bytes().decode("utf-8", errors="replace") for file, _ in files]
    return Documents(list(folders), {}, ids, texts)


READERS: dict[str, Callable[[Path], Documents]] = {
    "reuters": lambda data: _rows(data / "reuters-21578" / "reuters_first9000.jsonl"),
    "bbc": lambda data: _files(data / "bbc-news" / "bbc"),
    "licences": lambda data: _rows(data / "licences" / "scancode_every10th.jsonl"),
    "debian": lambda data: _rows(data / "debian-descriptions" / "lib_python_a-d.jsonl"),
    "pan": lambda data: _files(data / "pan13-dev" / "src", data / "pan13-dev" / "susp"),
}


@pytest.fixture(scope="session")
def documents(data: Path) -> Callable[[str], Documents]:
    """Return a function that reads a data set by name."""
    return cache(lambda name: READERS[name](data))


@pytest.fixture(scope="session")
def computed_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that gives the file `name`, written by `write` in the first process."""
    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def file_of(name: str, write: Callable[[Path], None]) -> Path:
        path = folder / name
        with (folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                beside = path.with_name(f"unfinished-{name}")
                write(beside)
                beside.rename(path)
        return path

    return file_of


@pytest.fixture(scope="session")
def truth(
    documents: Callable[[str], Documents], computed_once: Callable[..., Path]
) -> Callable[[str, str], naive.Truth]:
    """Return a function that gives all similar pairs of a data set for a shingle."""

    def compute(name: str, shingle: str, path: Path) -> None:
        found = naive.compare_all(naive.set_of(text, shingle) for text in documents(name).texts)
        np.savez(path, **asdict(found))

    @cache
    def truth_of(name: str, shingle: str) -> naive.Truth:
        file = f"truth-{name}-{shingle.replace(':', '-')}.npz"
        path = computed_once(file, lambda beside: compute(name, shingle, beside))
        with np.load(path) as columns:
            return naive.Truth(**columns)

    return truth_of
