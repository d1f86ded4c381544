"""One suite, every engine: where columns lie and how work is cut into units changes no answer.

Each case is a collection with options. All questions are asked of it in memory; the answers have to
be the same on disk, with work cut in several ways, to the last bit.
"""

from __future__ import annotations

import csv
import datetime
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import lookalike as la
from lookalike.cli.main import app
from lookalike.engines import running
from lookalike.planning import CROWD
from lookalike.work import Limits

from .conftest import MANY, WORDS, rows_of, texts_of, write_jsonl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CUTS = {
    "as the budget says": None,
    "many units": MANY,
    "one of everything": Limits(batch=1, items=1, keys=50, pairs=1, elements=1),
    "other units": Limits(batch=5000, items=64, keys=5, pairs=1000, elements=10),
}
LARGE_CUTS = {
    "as the budget says": None,
    "many units": Limits(batch=40_000, items=301, keys=700, pairs=2000, elements=5000),
}
POLICIES = ("first", "longest", "shortest")
COLUMN_POLICIES = ("max:score", "min:score", "source:site=b.org,a.org")


@dataclass(frozen=True)
class Case:
    """A collection, another one if there are two, and options."""

    data: Any
    other: Any = None
    options: dict[str, Any] = field(default_factory=dict)
    policies: tuple[str, ...] = ("longest",)


def table(n: int, seed: int = 0, **columns: Any) -> pa.Table:
    rows = pa.Table.from_pylist(rows_of(n, seed))
    for name, values in columns.items():
        rows = rows.drop_columns([name]).append_column(name, pa.array(values))
    return rows


def tokens(n: int) -> pa.Table:
    return pa.table(
        {"id": range(n), "tokens": [text.split() or None for text in texts_of(n, seed=5)]}
    )


def dates(n: int) -> list[datetime.date]:
    return [datetime.date(2000, 1, 1) + datetime.timedelta(days=each) for each in range(n)]


CASES = {
    "rows with columns": lambda: Case(table(60), policies=POLICIES + COLUMN_POLICIES),
    "whole numbers as ids": lambda: Case(table(60, id=range(1000, 1060))),
    "dates as ids": lambda: Case(table(60, id=dates(60))),
    "bytes as ids": lambda: Case(table(60, id=[b"\xff%d" % each for each in range(60)])),
    "two booleans as ids": lambda: Case(table(2, id=[True, False])),
    "row numbers": lambda: Case(texts_of(60)),
    "ids left out": lambda: Case(table(60), options={"id": ""}),
    "a low threshold": lambda: Case(table(60), options={"threshold": 0.3}),
    "a threshold of one": lambda: Case(table(60), options={"threshold": 1}),
    "another seed and recall": lambda: Case(table(60), options={"seed": 7, "recall": 0.8}),
    "bands by hand": lambda: Case(table(60), options={"bands": 12, "rows": 3}),
    "an exact join": lambda: Case(table(60), options={"exact": True}),
    "characters": lambda: Case(table(60), options={"shingle": "chars:7"}),
    "single words": lambda: Case(table(60), options={"shingle": "words:1"}),
    "texts as they are": lambda: Case(table(60), options={"normalise": "none"}),
    "bags": lambda: Case(table(60), options={"bag": True, "shingle": "words:1"}),
    "tokens": lambda: Case(tokens(60), options={"shingle": "tokens:2"}),
    "bags of tokens": lambda: Case(tokens(60), options={"shingle": "tokens", "bag": True}),
    "the classic sketch": lambda: Case(table(60), options={"sketch": "classic"}),
    "two collections": lambda: Case(table(40), table(50)),
    "two collections, exactly": lambda: Case(table(40), table(50), {"exact": True}),
    "ids of two types": lambda: Case(table(40), table(50, id=range(50))),
    "ids and row numbers": lambda: Case(table(60), texts_of(50)),
    "a second collection of nothing": lambda: Case(table(60), texts_of(0)),
    "a first collection of nothing": lambda: Case(texts_of(0), table(60)),
    "texts without any word": lambda: Case(["", "?!", " ", "", "..."]),
    "empty texts among others": lambda: Case(["", "a b c", "", "a b c", ""]),
    "nothing": lambda: Case(texts_of(0)),
    "nothing, exactly": lambda: Case(texts_of(0), options={"exact": True}),
    "one item": lambda: Case(["a rose is a rose is a rose"]),
    "one empty item": lambda: Case([""]),
    "nothing similar": lambda: Case([f"{each} " * 3 + "x" for each in WORDS[:50]]),
}


def answers(case: Case, **options: Any) -> dict[str, Any]:
    """Ask everything of a collection."""
    options = case.options | options
    out: dict[str, Any] = {}

    def result(name: str, found: la.Result) -> None:
        out[name] = table_of(found.pairs), found.as_dict(), asdict(found.recall), str(found.plan)

    def decisions(name: str, made: la.Decisions) -> None:
        removed, kept = table_of(made.removed), (str(made.kept.type), made.kept.to_pylist())
        out[name] = kept, removed, made.as_dict(), asdict(made.recall)

    if case.other is not None:
        result("against", la.find(case.data, against=case.other, **options))
        for policy in case.policies:
            each: dict[str, Any] = {"keep": policy, **options}
            decisions(f"protect {policy}", la.dedup(case.data, protect=case.other, **each))
            decisions(f"against {policy}", la.dedup(case.data, against=case.other, **each))
        return out
    found = la.find(case.data, **options)
    result("find", found)
    result("compact", la.find(case.data, compact=True, **options))
    result("narrowed", found.at(1))
    out["check"] = asdict(found.check(20)) if len(found.corpus) else None
    out["plan"] = la.plan(case.data, **options).as_dict()
    for mode in ("components", "witnessed"):
        clusters = la.cluster(case.data, mode=mode, **options)
        out[mode] = table_of(clusters.table), clusters.as_dict(), asdict(clusters.recall)
    for policy in case.policies:
        decisions(policy, la.dedup(case.data, keep=policy, **options))
        decisions(f"asked later: {policy}", found.keep(policy))
    return out


def table_of(rows: pa.Table) -> tuple[str, dict[str, list[Any]]]:
    return str(rows.schema), rows.to_pydict()


def on_disk(case: Case, limits: Limits | None, folder: Path, cut: Callable[[Limits], None]) -> Any:
    if limits is not None:
        cut(limits)
    out = answers(case, engine="disk", work_dir=folder / "run")
    assert not (folder / "run").exists()
    return out


@pytest.mark.parametrize("name", CASES)
def test_every_engine_gives_the_same_answers(name, cut, tmp_path):
    case = CASES[name]()
    expected = answers(case, engine="memory")
    chosen = list(CUTS.values())
    if name != "rows with columns":  # where all are tried
        chosen = [MANY, chosen[list(CASES).index(name) % len(chosen)]]
    for limits in chosen:
        assert on_disk(case, limits, tmp_path, cut) == expected
    assert answers(case, engine="memory") == expected  # with the same limits


def test_the_cases_are_not_all_trivial():
    found = answers(CASES["rows with columns"](), engine="memory")
    assert len(found["find"][0][1]["left"]) > 50
    assert len(found["narrowed"][0][1]["left"]) < len(found["find"][0][1]["left"])
    assert found["first"] != found["longest"] != found["max:score"] != found["min:score"]


@pytest.mark.parametrize("kind", ["copies", "crowd", "crowd across", "crowd of two sizes"])
def test_crowds_and_copies_are_the_same_too(kind, cut, tmp_path):
    boilerplate = " ".join(WORDS[:60])
    crowd = [f"{boilerplate} {WORDS[at % 1700]} {at}" for at in range(2000)]
    cases = {
        "copies": Case(["the same text for everyone who asks"] * 5000 + texts_of(50)),
        "crowd": Case(crowd + texts_of(200), options={"threshold": 0.9}, policies=("longest",)),
        "crowd across": Case(crowd[:800], crowd[800:1500], {"threshold": 0.9}, ("first",)),
        "crowd of two sizes": Case(
            [text + " more" * (at % 7) for at, text in enumerate(crowd[:1200])],
            options={"threshold": 0.95},
            policies=("shortest",),
        ),
    }
    case = cases[kind]
    ask = many_answers if kind in {"copies", "crowd"} else answers
    expected = ask(case, engine="memory")
    for limits in LARGE_CUTS.values():
        if limits is not None:
            cut(limits)
        assert ask(case, engine="disk", work_dir=tmp_path / "run") == expected
    if kind != "copies":
        assert len(crowd) > 2 * CROWD


def many_answers(case: Case, **options: Any) -> dict[str, Any]:
    """Ask what does not list millions of pairs."""
    options = case.options | options
    out: dict[str, Any] = {}
    compact = la.find(case.data, compact=True, max_pairs=10**7, **options)
    out["compact"] = compact.as_dict(), compact.rows.table().slice(0, 1000).to_pylist()
    for mode in ("components", "witnessed"):
        out[mode] = table_of(la.cluster(case.data, mode=mode, **options).table)
    for policy in case.policies:
        made = la.dedup(case.data, keep=policy, **options)
        out[policy] = made.kept.to_pylist(), table_of(made.removed), asdict(made.recall)
    return out


few_words = st.lists(st.sampled_from("abcd"), max_size=6).map(" ".join)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(few_words, max_size=14),
    st.one_of(st.none(), st.lists(few_words, max_size=8)),
    st.sampled_from(["words:1", "words:2", "chars:3"]),
    st.sampled_from(["1/10", "0.5", "2/3", "1"]),
    st.booleans(),
    st.builds(
        Limits,
        batch=st.integers(1, 100),
        items=st.integers(1, 20),
        keys=st.integers(1, 30),
        pairs=st.integers(1, 30),
        elements=st.integers(1, 30),
    ),
)
def test_any_small_collection_is_the_same_on_disk(
    tmp_path, first, second, shingle, threshold, exact, limits
):
    from fractions import Fraction

    options = {"shingle": shingle, "threshold": Fraction(threshold), "exact": exact}
    case = Case(pa.array(first, pa.string()), None, options, ("longest",))
    if second is not None:
        case = Case(case.data, pa.array(second, pa.string()), options, ("longest",))
    expected = answers(case, engine="memory")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "_limits", lambda resources: limits)
        assert answers(case, engine="disk", work_dir=tmp_path / "run") == expected


# ── Files in, files out ───────────────────────────────────────────────────────────────────────


def run(*args: object) -> str:
    ran = CliRunner().invoke(app, [*map(str, args), "--quiet"], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def inputs_of(kind: str, folder: Path) -> list[Path]:
    rows = rows_of(150)
    place = folder / f"in-{kind}"
    place.mkdir(exist_ok=True)
    if kind == "texts":
        for row in rows[:80]:
            (place / f"{row['id']}.txt").write_text(row["text"], "utf-8")
        return [place]
    if kind == "jsonl":
        halves = {"1.jsonl": rows[:50], "2.jsonl": [], "3.jsonl": rows[50:]}
        return [write_jsonl(place / name, half) for name, half in halves.items()]
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), place / "rows.parquet", row_group_size=40)
        return [place / "rows.parquet"]
    with (place / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return [place / "rows.csv"]


def files_in(folder: Path) -> dict[str, bytes]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl", "texts"])
def test_every_engine_writes_the_same_bytes(kind, cut, tmp_path):
    inputs = inputs_of(kind, tmp_path)
    written, told = {}, {}
    for engine, limits in (("memory", None), ("disk", None), ("disk", MANY)):
        if limits is not None:
            cut(limits)
        out = tmp_path / "out"
        out.mkdir()
        chosen = ["--engine", engine, "--json"]
        said = []
        for format in ("parquet", "csv", "jsonl"):
            said.append(run("find", *inputs, "-o", out / f"pairs.{format}", *chosen))
            said.append(run("cluster", *inputs, "-o", out / f"clusters.{format}", *chosen))
            manifest = ["--manifest", out / f"gone.{format}", "--keep", "longest"]
            said.append(run("dedup", *inputs, "-o", out / f"kept-{format}", *manifest, *chosen))
        other = out / "decontaminated"
        said.append(run("dedup", *inputs, "--against", inputs[0], "-o", other, *chosen))
        said.append(run("plan", *inputs, *chosen))
        written[engine, limits], told[engine, limits] = files_in(out), said
        out.rename(tmp_path / f"out-{len(written)}")
    first, *others = written.values()
    assert len(first) >= 10
    assert all(len(first[name]) > 100 for name in ("pairs.csv", "clusters.jsonl", "gone.parquet"))
    assert all(other == first for other in others)
    first_said, *others_said = told.values()
    assert all(said == first_said for said in others_said)
