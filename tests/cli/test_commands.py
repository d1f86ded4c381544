"""The commands as a person runs them: a process, its two streams, its exit code, its files."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from lookalike.cli.main import app
from lookalike.engines import running
from lookalike.errors import OutputError

ROWS = [
    {"id": "n1", "body": "The quick brown fox jumps over the lazy dog, again and again and again."},
    {"id": "n2", "body": "the QUICK brown fox jumps over the lazy dog again and again and again"},
    {"id": "n3", "body": "The quick brown fox jumps over the lazy dog, again and again, at last."},
    {"id": "n4", "body": "Something else entirely: nobody jumps over anything in this sentence."},
    {"id": "n5", "body": ""},
]


def lookalike(*args: object, **options) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lookalike", *map(str, args)]
    environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1"}
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=120,
        **options,
    )


@pytest.fixture
def news(tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    return path


def test_find_writes_pairs_and_tells_about_them(news, tmp_path):
    out = tmp_path / "pairs.parquet"
    ran = lookalike("find", news, "-o", out, "--threshold", 0.6)
    assert ran.returncode == 0, ran.stderr
    pairs = pq.read_table(out)
    assert pairs.column_names == ["left", "right", "similarity"]
    assert pairs["left"].to_pylist() == ["n1", "n1", "n2"]
    assert pairs["right"].to_pylist() == ["n2", "n3", "n3"]
    assert "3 with similarity ≥ 0.6" in ran.stdout
    assert "1 (they match nothing)" in ran.stdout
    assert "contents from column 'body', ids from column 'id'" in ran.stderr
    assert "comparing:" in ran.stderr


def test_without_an_output_the_most_similar_pairs_are_shown(news):
    ran = lookalike("find", news, "-t", "0.6", "--quiet")
    assert "1.0000  n1" in ran.stdout
    assert "comparing" not in ran.stderr


def test_equal_pairs_are_shown_in_input_order_and_the_others_counted(tmp_path):
    rows = [{"id": f"i{at}", "text": "one two three four five six"} for at in range(6)]
    rows[1]["text"] = rows[3]["text"] = "one two three four five six seven"
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    ran = lookalike("find", path, "-t", "0.4", "-q")
    *shown, more = ran.stdout.splitlines()[-11:]
    ones = ["i0 i2", "i0 i4", "i0 i5", "i1 i3", "i2 i4", "i2 i5", "i4 i5"]
    expected = [f"1.0000 {pair}" for pair in ones]
    expected += [f"0.6667 {pair}" for pair in ("i0 i1", "i0 i3", "i1 i2")]
    assert [" ".join(line.split()) for line in shown] == expected
    assert more == "… and 5 more: write them with -o pairs.parquet"


def test_json_is_alone_on_standard_output(news, tmp_path):
    ran = lookalike("find", news, "-o", tmp_path / "p.csv", "--json", "-t", "0.6")
    summary = json.loads(ran.stdout)
    assert summary["pairs"] == 3
    assert summary["items"] == 5
    assert summary["empty_items"] == 1
    assert summary["threshold"] == 0.6
    assert summary["output"].endswith("p.csv")


def test_against_takes_all_paths_behind_it(news, tmp_path):
    for name in ("a", "b"):
        pq.write_table(
            pa.table({"id": [f"{name}1"], "body": [ROWS[0]["body"]]}), tmp_path / f"{name}.parquet"
        )
    out = tmp_path / "pairs.jsonl"
    args = ["find", news, "--against", tmp_path / "a.parquet", tmp_path / "b.parquet", "-o", out]
    ran = lookalike(*args, "-t", "0.9")
    assert ran.returncode == 0, ran.stderr
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["left"], row["right"]) for row in rows] == [
        ("n1", "a1"),
        ("n1", "b1"),
        ("n2", "a1"),
        ("n2", "b1"),
    ]


def test_bands_by_hand_are_said_to_be(news):
    ran = lookalike("find", news, "--bands", 20, "--rows", 5, "-q")
    assert "20 bands × 5 rows, set by hand" in ran.stdout
    assert "probability 0.9996" in ran.stdout


def test_explain_shows_the_shingles(news):
    ran = lookalike("explain", news, "n1", "n3", "--shingle", "words:3")
    assert ran.returncode == 0, ran.stderr
    assert "n1 ~ n3: similarity 0.7" in ran.stdout
    assert "the quick brown" in ran.stdout
    assert "only in n3 (2):" in ran.stdout
    whole = json.loads(lookalike("explain", news, "n1", "n3", "--json").stdout)
    assert whole["left"] == "n1"


@pytest.mark.parametrize("kind", ["png", "svg", "html"])
def test_plan_draws_the_curve(news, tmp_path, kind):
    picture = tmp_path / f"curve.{kind}"
    ran = lookalike("plan", news, "--plot", picture, "-t", "0.7", "-r", "0.95")
    assert ran.returncode == 0, ran.stderr
    assert "◀ threshold" in ran.stdout
    content = picture.read_bytes()
    start = {"png": b"\x89PNG", "svg": b"<?xml", "html": b"<!doctype html>"}[kind]
    assert content.startswith(start)
    if kind == "html":
        assert b"http://" not in content.replace(b"http://www.w3.org", b"").replace(
            b"http://purl.org", b""
        ).replace(b"http://creativecommons.org", b"")


def test_plan_without_input_is_for_a_typical_corpus():
    ran = lookalike("plan", "--json", "--bands", 20, "--rows", 5)
    forecast = json.loads(ran.stdout)
    assert not forecast["of_input"]
    table = {row["similarity"]: round(row["found"], 3) for row in forecast["curve"]}
    assert (table[0.2], table[0.4], table[0.6]) == (0.006, 0.186, 0.802)


@pytest.mark.slow
def test_demo_finds_the_tables_in_encodings(tmp_path):
    page = tmp_path / "demo.html"
    ran = lookalike("demo", "--page", page)
    assert ran.returncode == 0, ran.stderr
    assert "encodings/cp1252.py" in ran.stdout
    assert "encodings/cp1252.py" in page.read_text(encoding="utf-8")


FAILING = [
    (["find", "missing.csv"], 3, "missing.csv does not exist"),
    (["find", "news.jsonl", "--text", "nope"], 3, "no column 'nope'; its columns are 'id', 'body'"),
    (["find", "news.jsonl", "-t", "2"], 2, "above 0 and at most 1"),
    (["find", "news.jsonl", "-r", "1"], 2, "below 1"),
    (["find", "news.jsonl", "--bands", "9"], 2, "together"),
    (["find", "news.jsonl", "-o", "x.txt"], 2, ".parquet, .csv, .jsonl"),
    (["find", "news.jsonl", "-o", "no/x.csv"], 4, "does not exist"),
    (["find", "news.jsonl", "-o", "news.csv"], 4, "--force"),
    (["find", "news.jsonl", "--sketch", "slow"], 2, "fast or classic"),
    (["find", "news.jsonl", "--threads", "-2"], 2, "threads"),
    (["find"], 2, "Missing argument"),
    (["find", "news.jsonl", "--treshold", "1"], 2, "--threshold"),
    (["explain", "news.jsonl", "n1", "n9"], 2, "no item has the id 'n9'"),
    (["plan", "--plot", "x.pdf"], 2, ".png, .svg, .html"),
    (["plan", "-t", "0.0001"], 2, "raise the threshold"),
]


@pytest.mark.parametrize(("args", "code", "message"), FAILING, ids=lambda value: str(value)[:40])
def test_what_goes_wrong_is_said_in_a_line_with_its_exit_code(news, args, code, message):
    (news.parent / "news.csv").write_text("text\nmine\n")
    ran = lookalike(*args, cwd=news.parent)
    assert ran.returncode == code, ran.stderr
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr
    assert (news.parent / "news.csv").read_text() == "text\nmine\n"


def test_an_interrupted_run_leaves_no_file(tmp_path):
    texts = tmp_path / "many.parquet"
    words = " ".join(str(number) for number in range(20_000))
    pq.write_table(pa.table({"text": [f"{words} {at}" for at in range(1500)]}), texts)
    out = tmp_path / "pairs.csv"
    command = [sys.executable, "-m", "lookalike", "find", texts, "-o", out, "--threads", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert "interrupted" in stderr
    assert "Traceback" not in stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == ["many.parquet"]


@pytest.mark.parametrize("clean", [[], ["--clean"]])
def test_runs_that_cannot_be_looked_at_are_said_in_a_line(tmp_path, monkeypatch, clean):
    """As when a folder may not be read, or vanishes at that moment."""

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "closed/run.json")

    found = running.Found(tmp_path, None, {}, 0, None, busy=False)
    monkeypatch.setattr(running, "look_around", (lambda folders: [found]) if clean else refuse)
    monkeypatch.setattr(running, "clean", refuse)
    ran = CliRunner().invoke(app, ["runs", str(tmp_path), *clean])
    assert ran.exit_code == 3
    assert ran.output == "lookalike: cannot look at closed/run.json: Permission denied\n"


def test_a_run_that_cannot_be_removed_is_an_unwritable_output(tmp_path, monkeypatch):
    def refuse(*_: object) -> None:
        raise OutputError("cannot remove closed: Permission denied")

    found = running.Found(tmp_path, None, {}, 0, None, busy=False)
    monkeypatch.setattr(running, "look_around", lambda folders: [found])
    monkeypatch.setattr(running, "clean", refuse)
    assert CliRunner().invoke(app, ["runs", "--clean"]).exit_code == 4


def test_help_of_every_command_has_an_example():
    for command in ("find", "cluster", "dedup", "explain", "plan", "demo"):
        ran = lookalike(command, "--help")
        assert ran.returncode == 0
        assert f"lookalike {command}" in ran.stdout.split("Example")[1]


def test_the_version_is_told():
    assert lookalike("--version").stdout.startswith("lookalike 0.")


# ── Clusters and deduplication ────────────────────────────────────────────────────────────────


def test_cluster_writes_a_row_for_each_item(news, tmp_path):
    out = tmp_path / "clusters.csv"
    ran = lookalike("cluster", news, "-o", out, "-t", "0.6")
    assert ran.returncode == 0, ran.stderr
    assert out.read_text().splitlines() == [
        '"id","cluster","size"',
        '"n1","n1",3',
        '"n2","n1",3',
        '"n3","n1",3',
        '"n4","n4",1',
        '"n5","n5",1',
    ]
    assert "1 of more than one item (components)" in ran.stdout
    witnessed = lookalike("cluster", news, "--mode", "witnessed", "--json", "-t", "0.6")
    assert json.loads(witnessed.stdout)["mode"] == "witnessed"


def test_dedup_copies_kept_lines_and_names_witnesses(news, tmp_path):
    out, manifest = tmp_path / "clean.jsonl", tmp_path / "removed.jsonl"
    ran = lookalike("dedup", news, "-o", out, "--manifest", manifest, "-t", "0.6")
    assert ran.returncode == 0, ran.stderr
    lines = news.read_text().splitlines()
    assert out.read_text().splitlines() == [lines[0], lines[3], lines[4]]
    removed = [json.loads(line) for line in manifest.read_text().splitlines()]
    assert [(row["id"], row["witness"], row["reason"]) for row in removed] == [
        ("n2", "n1", "exact copy"),
        ("n3", "n1", "near-duplicate"),
    ]
    assert "3 of 5 items (first)" in ran.stdout
    assert "2, of which 1 are exact copies" in ran.stdout


def test_a_dry_run_writes_no_rows(news, tmp_path):
    ran = lookalike("dedup", news, "--dry-run", "-o", tmp_path / "no.jsonl", "--json")
    assert json.loads(ran.stdout)["output"] is None
    assert sorted(each.name for each in tmp_path.iterdir()) == ["news.jsonl"]


def test_protect_takes_all_paths_behind_it_and_keeps_them(news, tmp_path):
    shield = tmp_path / "shield.csv"
    shield.write_text(f'id,body\nn4,"{ROWS[3]["body"]}"\n')
    out, manifest = tmp_path / "clean.jsonl", tmp_path / "removed.csv"
    args = ["dedup", news, "-o", out, "--protect", shield, "--manifest", manifest, "-t", "0.9"]
    ran = lookalike(*args)
    assert ran.returncode == 0, ran.stderr
    kept = [json.loads(line)["id"] for line in out.read_text().splitlines()]
    assert kept == ["n1", "n3", "n5"]
    assert "exact copy of a protected item" in manifest.read_text()


def test_a_folder_of_texts_is_deduplicated_into_a_folder(tmp_path):
    folder = tmp_path / "texts"
    (folder / "sub").mkdir(parents=True)
    for name, text in (("a.txt", "one two three"), ("sub/b.txt", "One two three"), ("c.txt", "x")):
        (folder / name).write_text(text)
    out = tmp_path / "clean"
    ran = lookalike("dedup", folder, "-o", out)
    assert ran.returncode == 0, ran.stderr
    assert sorted(path.name for path in out.rglob("*.txt")) == ["a.txt", "c.txt"]


def test_an_exact_run_says_that_nothing_is_missed(news):
    ran = lookalike("find", news, "--exact", "-t", "0.3", "--check", "3", "-q")
    assert "exact join: nothing is missed" in ran.stdout
    assert "sampled items found: 1.0000" in ran.stdout


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["dedup", "news.jsonl"], 2, "-o OUT"),
        (["dedup", "news.jsonl", "-o", "x.csv"], 2, "csv"),
        (["dedup", "news.jsonl", "-o", "x.jsonl", "--keep", "best"], 2, "first, longest, shortest"),
        (["dedup", "news.jsonl", "-o", "x.jsonl", "--keep", "max:age"], 3, "no column 'age'"),
        (["cluster", "news.jsonl", "--mode", "star"], 2, "components or witnessed"),
        (["find", "news.jsonl", "--max-pairs", "1", "-t", "0.6"], 2, "lookalike cluster"),
        (["find", "news.jsonl", "--exact", "--bands", "2", "--rows", "2"], 2, "no bands"),
        (["find", "news.jsonl", "-r", "1"], 2, "--exact"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_clustered_or_kept_is_said_clearly(news, args, code, message):
    ran = lookalike(*args, cwd=news.parent)
    assert ran.returncode == code, ran.stderr
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr
    assert sorted(each.name for each in news.parent.iterdir()) == ["news.jsonl"]


@pytest.mark.parametrize(
    "args",
    [
        ["find", "news.jsonl", "-o", "news.jsonl", "--force"],
        ["cluster", "news.jsonl", "-o", "news.jsonl", "--force"],
        ["dedup", "news.jsonl", "-o", "news.jsonl", "--force"],
        ["dedup", "news.jsonl", "-o", "x.jsonl", "--manifest", "news.jsonl", "--force"],
        ["dedup", "news.jsonl", "-o", "x.jsonl", "--manifest", "x.jsonl", "--force"],
        [
            "dedup",
            "other.jsonl",
            "-o",
            "x.jsonl",
            "--protect",
            "news.jsonl",
            "--manifest",
            "news.jsonl",
            "--force",
        ],
    ],
    ids=" ".join,
)
def test_no_output_replaces_an_input_or_another_output(news, args):
    (news.parent / "other.jsonl").write_text(news.read_text())
    before = news.read_text()
    ran = lookalike(*args, cwd=news.parent)
    assert ran.returncode == 2, ran.stderr
    assert news.read_text() == before
    assert not (news.parent / "x.jsonl").exists()


@pytest.mark.parametrize("args", [["plan", "--plot", "no/a.html"], ["demo", "--page", "no/x.html"]])
def test_a_page_in_a_missing_folder_is_refused(news, args):
    ran = lookalike(*args, cwd=news.parent)
    assert ran.returncode == 4
    assert "does not exist" in ran.stderr


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_a_removal_is_explained_with_its_witness(news, tmp_path, suffix):
    manifest = tmp_path / f"removed.{suffix}"
    lookalike("dedup", news, "--dry-run", "--manifest", manifest, "-t", "0.6")
    ran = lookalike("explain", news, "n3", "--manifest", manifest)
    assert ran.returncode == 0, ran.stderr
    assert "n3 was removed: near-duplicate; its witness n1 stays" in ran.stdout
    assert "{+" in ran.stdout
    assert lookalike("explain", news, "n1", "--manifest", manifest).returncode == 2
    assert "--manifest" in lookalike("explain", news, "n1").stderr
