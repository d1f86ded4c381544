"""The whole pipeline gives the same result when the specification takes the kernels' place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import lookalike as la
from lookalike import kernels
from lookalike.kernels import reference

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .conftest import Documents

pytestmark = pytest.mark.data

STORAGE = {"UNICODE", "allocate", "set_scratch", "scratch_in_use", "checksum"}
FUNCTIONS = [name for name in kernels.__all__ if name not in STORAGE]
ALWAYS = {
    "band_keys",
    "candidates",
    "canonicalise",
    "crowd",
    "fingerprint",
    "first_copies",
    "gather",
    "join",
    "members",
    "sketch",
    "verify",
}


@pytest.fixture
def on_reference(monkeypatch) -> Callable[[], set[str]]:
    """Return a function that puts the specification in place and tells later what was called."""

    def switch() -> set[str]:
        called: set[str] = set()

        def put(name: str) -> None:
            def call(*arguments: Any) -> Any:
                called.add(name)
                return getattr(reference, name)(*arguments)

            monkeypatch.setattr(kernels, name, call)

        for name in FUNCTIONS:
            put(name)
        return called

    return switch


def baskets(data: Path, n: int) -> pa.Table:
    lines = (data / "sets/groceries/transactions.sets.tsv").read_text("utf-8").splitlines()[:n]
    rows = [line.split("\t") for line in lines]
    return pa.table({"id": [row[0] for row in rows], "tokens": [row[1].split(" ") for row in rows]})


def assert_same(native: la.Result, specified: la.Result) -> None:
    assert len(native) > 3
    assert specified.pairs.equals(native.pairs)
    assert specified.plan == native.plan
    assert specified.as_dict() == native.as_dict()


@pytest.mark.parametrize(
    "options",
    [
        {"shingle": "words:5"},
        {"shingle": "words:5", "threshold": "0.7", "recall": 0.9, "seed": 2**64 - 1},
        {"shingle": "chars:9"},
        {"shingle": "chars:5", "normalise": "none"},
        {"shingle": "words:1", "bag": True},
        {"shingle": "chars:2", "bag": True, "bands": 10, "rows": 3},
        {"shingle": "words:5", "sketch": "classic"},
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
@pytest.mark.parametrize("name", ["debian", "licences"])
def test_texts_give_the_same_pairs(
    name, options, documents: Callable[[str], Documents], on_reference
):
    alike = sorted(text for text in documents(name).texts if len(text) < 800)  # by their beginnings
    texts = [*alike[900:1000], "", "\u200b", "Straße", "STRASSE"]
    options = {"threshold": "0.5", **options}
    native = la.find(texts, **options, threads=2, batch=500)
    called = on_reference()
    assert_same(native, la.find(texts, **options))
    wanted = ALWAYS | {"shingle_text"} | ({"number_occurrences"} if options.get("bag") else set())
    assert called == wanted


def test_texts_that_are_not_utf_8_give_the_same_pairs(data: Path, on_reference, tmp_path):
    folder = data / "bbc-news" / "bbc" / "business"
    contents = [path.read_bytes() for path in sorted(folder.iterdir())]
    damaged = [text for text in contents if b"\xa3" in text][:12]
    for at, text in enumerate(damaged):
        (tmp_path / f"{at}.txt").write_bytes(text)
        (tmp_path / f"{at} again.txt").write_bytes(text[:1500])
    native = la.find(tmp_path, threshold="0.3")
    on_reference()
    assert_same(native, la.find(tmp_path, threshold="0.3"))


@pytest.mark.parametrize("bag", [False, True])
@pytest.mark.parametrize("sketch", ["fast", "classic"])
def test_lists_of_tokens_give_the_same_pairs(sketch, bag, data: Path, on_reference):
    table = baskets(data, 150)
    options: dict[str, Any] = {"shingle": "tokens", "threshold": "0.5", "sketch": sketch}
    native = la.find(table, bag=bag, threads=3, batch=7, **options)
    called = on_reference()
    assert_same(native, la.find(table, bag=bag, **options))
    assert "shingle_tokens" in called


@pytest.mark.parametrize("shingle", ["words:5", "chars:9"])
def test_one_collection_against_another_gives_the_same_pairs(shingle, documents, on_reference):
    given = documents("debian")
    old = [text for text, id in zip(given.texts, given.ids, strict=True) if id < "c"][:60]
    new = [text for text, id in zip(given.texts, given.ids, strict=True) if id > "t"][:60]
    native = la.find(old, against=new, shingle=shingle, threshold="0.5", threads=2)
    on_reference()
    assert_same(native, la.find(old, against=new, shingle=shingle, threshold="0.5"))


@pytest.mark.parametrize("exact", [False, True])
def test_clusters_and_decisions_are_the_same(exact, documents, on_reference):
    texts = sorted(text for text in documents("licences").texts if len(text) < 800)[900:1000]

    def answers() -> list[list[int]]:
        result = la.find(texts, threshold="0.3", shingle="words:2", exact=exact)
        return [result.clusters().labels.tolist(), result.keep("longest").witnesses.tolist()]

    native = answers()
    called = on_reference()
    assert answers() == native
    assert {"forest", "greedy", "components"} <= called


def test_explanations_read_the_same(documents, on_reference):
    one, other = documents("debian").texts[:2]
    native = str(la.explain(one, other)), la.similarity(one, other)
    called = on_reference()
    assert (str(la.explain(one, other)), la.similarity(one, other)) == native
    assert "tokenise" in called
