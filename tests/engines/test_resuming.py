"""A run that was killed goes on when its command is given again, and ends with the same bytes."""

from __future__ import annotations

import ctypes
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import lookalike as la
from lookalike.engines import journal, running
from lookalike.engines.disk import Disk
from lookalike.errors import OutputError, UsageError
from lookalike.work import Limits

from .conftest import MANY, command, environment, lookalike, rows_of, texts_of, write_jsonl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.usefixtures("many_units")

VERBS = {
    "find": ["find", "rows.jsonl", "-o", "out/pairs.parquet", "--work-dir", "run"],
    "cluster": ["cluster", "rows.jsonl", "-o", "out/clusters.csv", "--mode", "witnessed"],
    "dedup": ["dedup", "rows.jsonl", "-o", "out/kept.jsonl", "--manifest", "out/gone.csv"],
    "dedup to a folder": ["dedup", "texts", "-o", "out/kept", "--keep", "longest"],
}
DISK = ["--engine", "disk", "--force", "--threads", "1"]


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    write_jsonl(folder / "rows.jsonl", rows_of(300))
    (folder / "texts").mkdir()
    for at, text in enumerate(texts_of(60)):
        (folder / "texts" / f"{at:03}.txt").write_text(text, "utf-8")
    return folder


class Work:
    """A folder with inputs, and a command that is run in it again and again."""

    def __init__(self, folder: Path, inputs: Path, verb: str = "find") -> None:
        self.folder = folder
        self.args = [*VERBS[verb], *DISK]
        self.out = folder / "out"
        for each in ("rows.jsonl", "texts"):
            (folder / each).symlink_to(inputs / each)
        self.out.mkdir()

    def run(self, *more: object, **variables: object) -> subprocess.CompletedProcess[str]:
        return lookalike(*self.args, *more, driven=True, variables=dict(variables), cwd=self.folder)

    def start(self, *more: object, **variables: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command(*self.args, *more, driven=True),
            env=environment(**variables),
            cwd=self.folder,
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def written(self) -> dict[str, bytes]:
        """Return what there is of the output; what a killed process has begun is hidden."""
        files = [file for file in sorted(self.out.rglob("*")) if file.is_file()]
        names = {file: file.relative_to(self.out).as_posix() for file in files}
        shown = [file for file in files if not names[file].startswith(".")]
        return {names[file]: file.read_bytes() for file in shown if not in_run(file)}


def in_run(file: Path) -> bool:
    return any(part.endswith(".lookalike") for part in file.parts)


@pytest.fixture
def work(tmp_path: Path, inputs: Path) -> Callable[[str], Work]:
    return lambda verb="find": Work(tmp_path, inputs, verb)


@pytest.fixture(scope="session")
def undisturbed(
    inputs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], tuple[dict[str, bytes], list[str], float]]:
    """Return a function that gives output, steps, and seconds of a whole run."""
    known: dict[str, tuple[dict[str, bytes], list[str], float]] = {}

    def of(verb: str) -> tuple[dict[str, bytes], list[str], float]:
        if verb not in known:
            work = Work(tmp_path_factory.mktemp("undisturbed"), inputs, verb)
            steps = work.folder / "steps"
            began = time.monotonic()
            ran = work.run(DRIVER_STEPS=steps)
            assert ran.returncode == 0, ran.stderr
            known[verb] = (
                work.written(),
                steps.read_text("utf-8").splitlines(),
                time.monotonic() - began,
            )
            assert not list(work.folder.rglob("run.json"))
        return known[verb]

    return of


def done_before(stderr: str) -> int:
    return sum(map(int, re.findall(r"(\d+) were done before", stderr)))


# ── Kill -9 ───────────────────────────────────────────────────────────────────────────────────


def kill_and_resume(work: Work, expected: dict[str, bytes], moments: Iterator[float]) -> int:
    """Kill a run at each moment, then let it end; return how many units it found done."""
    for moment in moments:
        process = work.start()
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    ran = work.run()
    assert ran.returncode == 0, ran.stderr
    assert work.written() == expected
    assert not list(work.folder.rglob("run.json"))
    return done_before(ran.stderr)


def random_moments(n: int, seconds: float) -> list[float]:
    draw = random.Random(20240)
    return [seconds * (0.3 + 0.7 * draw.random()) for _ in range(n)]


def test_a_run_killed_at_five_random_moments_ends_with_the_same_bytes(work, undisturbed):
    expected, _, seconds = undisturbed("find")
    kill_and_resume(work(), expected, iter(random_moments(5, seconds)))


@pytest.mark.soak
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("number", range(30))
def test_a_run_killed_at_any_of_thirty_moments_ends_with_the_same_bytes(
    number, verb, work, undisturbed
):
    expected, _, seconds = undisturbed(verb)
    kill_and_resume(work(verb), expected, iter(random_moments(30, seconds)[number : number + 1]))


@pytest.mark.soak
def test_a_run_killed_thirty_times_in_a_row_ends_with_the_same_bytes(work, undisturbed):
    expected, _, seconds = undisturbed("find")
    kill_and_resume(work(), expected, iter(random_moments(30, seconds)))


def steps_to_kill(steps: int, n: int) -> list[int]:
    """Return the first and last steps, and random ones between."""
    draw = random.Random(steps)
    edges = [1, 2, 3, steps - 2, steps - 1, steps]
    return sorted({*edges[: n // 2], *edges[-(n // 2) :], *draw.sample(range(4, steps - 2), n)})


def killed_at(step: int, work: Work, expected: dict[str, bytes]) -> int:
    killed = work.run(DRIVER_KILL_AT=step)
    assert killed.returncode in {-signal.SIGKILL, 0}, killed.stderr
    for name, content in work.written().items():
        assert content == expected[name]  # whatever has its name is whole
    ran = work.run()
    assert ran.returncode == 0, ran.stderr
    assert work.written() == expected
    assert not list(work.folder.rglob("run.json"))
    return done_before(ran.stderr)


def test_a_run_killed_at_some_steps_resumes_behind_its_last_unit(
    undisturbed, inputs, tmp_path_factory
):
    """Later kills leave more that is done: all of it is found, and nothing else is done again."""
    expected, steps, _ = undisturbed("find")
    found = [
        killed_at(step, Work(tmp_path_factory.mktemp("killed"), inputs), expected)
        for step in steps_to_kill(len(steps), 4)
    ]
    assert found[0] == 0
    assert max(found) > 30
    rising = found[: found.index(max(found)) + 1]
    assert rising == sorted(rising)


def test_a_dedup_killed_while_it_writes_resumes_without_force(
    undisturbed, inputs, tmp_path_factory
):
    expected, steps, _ = undisturbed("dedup")
    writing = [at for at, name in enumerate(steps, start=1) if "out/." in name]
    assert len(writing) >= 3
    for step in writing:
        job = Work(tmp_path_factory.mktemp("killed"), inputs, "dedup")
        job.args.remove("--force")
        assert job.run(DRIVER_KILL_AT=step).returncode == -signal.SIGKILL
        if "kept.jsonl" in job.written():  # the moment between two names
            continue
        assert not job.written()
        ran = job.run()
        assert ran.returncode == 0, ran.stderr
        assert "comparing" in ran.stderr
        assert done_before(ran.stderr) > 30
        assert job.written() == expected


@pytest.mark.soak
@pytest.mark.parametrize("verb", VERBS)
def test_a_run_killed_at_many_steps_ends_with_the_same_bytes(
    verb, undisturbed, inputs, tmp_path_factory
):
    expected, steps, _ = undisturbed(verb)
    for step in steps_to_kill(len(steps), 40):
        killed_at(step, Work(tmp_path_factory.mktemp("killed"), inputs, verb), expected)


def test_interrupting_is_as_good_as_killing(work, undisturbed):
    expected, steps, _ = undisturbed("find")
    job = work()
    process = job.start(DRIVER_HOLD_AT=len(steps) // 2)
    assert process.stderr is not None
    while "holding" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in said
    ran = job.run()
    assert done_before(ran.stderr) > 30
    assert job.written() == expected


def test_other_threads_and_more_memory_go_on_with_the_same_units(work, undisturbed):
    expected, steps, _ = undisturbed("find")
    job = work()
    assert job.run(DRIVER_KILL_AT=2 * len(steps) // 3).returncode == -signal.SIGKILL
    ran = job.run("--threads", 3, "--memory", "3GB")
    assert done_before(ran.stderr) > 30
    assert job.written() == expected


@pytest.fixture
def held(work, undisturbed):
    """Return work that a process is doing, and that process."""
    job = work()
    process = job.start(DRIVER_HOLD_AT=len(undisturbed("find")[1]) // 2)
    assert process.stderr is not None
    while "holding" not in process.stderr.readline():
        pass
    yield job, process
    process.kill()
    process.stderr.close()
    process.wait()


def test_a_second_process_is_refused_and_told_of_the_first(held, undisturbed):
    job, process = held
    before = contents(job.folder / "run")
    for more in ([], ["--restart"], ["--keep-work"]):
        ran = job.run(*more)
        assert ran.returncode == 2
        assert f"the process {process.pid} is working in run" in ran.stderr
    assert contents(job.folder / "run") == before
    process.kill()
    process.wait()
    assert job.run().returncode == 0
    assert job.written() == undisturbed("find")[0]


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_runs_are_listed_inspected_and_cleaned_but_not_busy_ones(held):
    job, process = held
    for name, texts in (("done", texts_of(40)), ("nothing", ["a", "b"])):
        la.find(texts, engine="disk", work_dir=job.folder / name, keep_work=True)
    (job.folder / "damaged").mkdir()
    la.find(["a"], engine="disk", work_dir=job.folder / "damaged", keep_work=True)
    (job.folder / "damaged" / "run.json").write_text("{}")
    (job.folder / "foreign").mkdir()
    (job.folder / "foreign" / "run.json").write_text("{}")
    listed = lookalike("runs", cwd=job.folder).stdout
    states = dict(re.findall(r"^(\w+) +[\d.]+ \w+ +(.*?)(?:  |$)", listed, re.MULTILINE))
    assert states["run"] == "a process is working in it"
    assert (states["done"], states["nothing"]) == ("all pairs found", "all pairs found")
    assert states["damaged"] == "damaged"
    assert "foreign" not in states
    shown = lookalike("runs", "run", cwd=job.folder).stdout
    assert "rows.jsonl" in shown
    assert "threshold 4/5" in shown
    assert re.search(r"shingling +\d+ +(begun|finished)", shown)
    told = json.loads(lookalike("runs", "--json", cwd=job.folder).stdout)
    by_name = {each["folder"]: each for each in told["runs"]}
    assert by_name["run"]["busy"]
    assert by_name["done"]["description"]["settings"]["threshold"] == "4/5"
    assert by_name["done"]["stages"]["comparing"][1] is True
    cleaned = lookalike("runs", "--clean", cwd=job.folder)
    assert cleaned.returncode == 0, cleaned.stderr
    left = {file.name for file in job.folder.iterdir() if file.is_dir()}
    assert left >= {"run", "foreign"}
    assert not left & {"done", "nothing", "damaged"}
    assert (job.folder / "foreign" / "run.json").read_text() == "{}"
    process.kill()
    process.wait()
    lookalike("runs", "--clean", cwd=job.folder)
    assert not (job.folder / "run").exists()
    assert "there are no run directories" in lookalike("runs", cwd=job.folder).stdout
    assert lookalike("runs", "nowhere", cwd=job.folder).returncode == 3


# ── What may change, and what may not ─────────────────────────────────────────────────────────


@pytest.fixture
def kept(rows, tmp_path) -> dict[str, Any]:
    """Return the options of a find that is done, and whose work is kept."""
    options: dict[str, Any] = {"engine": "disk", "work_dir": tmp_path / "run", "keep_work": True}
    la.find(rows, threshold=0.6, **options)
    return options


def units(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that will have the stage of each unit that is done from now on."""
    done: list[str] = []
    write = Disk._write

    def counted(self: Disk, work: Any, *rest: Any) -> Any:
        done.append(work.stage)
        return write(self, work, *rest)

    monkeypatch.setattr(Disk, "_write", counted)
    return done


def test_a_kept_run_is_not_done_again(kept, rows, monkeypatch):
    done = units(monkeypatch)
    again = la.find(rows, threshold=0.6, **kept)
    assert done == []
    assert again.pairs == la.find(rows, threshold=0.6).pairs


@pytest.mark.parametrize("threshold", ["0.6", "0.75", "9/10", "1"])
def test_a_raised_threshold_reuses_everything_and_equals_the_first_run_narrowed(
    threshold, kept, rows, monkeypatch
):
    from fractions import Fraction

    first = la.find(rows, threshold=0.6)
    done = units(monkeypatch)
    asked = Fraction(threshold)
    found = la.find(rows, threshold=asked, **kept)
    narrowed = first.at(asked)
    assert done == []
    assert found.pairs == narrowed.pairs
    assert found.threshold == asked
    decided = la.dedup(rows, threshold=asked, keep="longest", **kept)
    assert decided.removed == narrowed.keep("longest").removed
    for mode in ("components", "witnessed"):
        clusters = la.cluster(rows, threshold=asked, mode=mode, **kept)
        assert clusters.table == narrowed.clusters(mode).table
    assert done == []


def test_a_raised_threshold_narrows_exact_runs_and_crowds_too(tmp_path, monkeypatch):
    texts = [" ".join(["x"] * 9 + [f"y{each}", f"z{each % 40}"]) for each in range(400)]
    for exact in (False, True):
        options: dict[str, Any] = {"shingle": "words:1", "exact": exact}
        on_disk = {"engine": "disk", "work_dir": tmp_path / f"{exact}", "keep_work": True}
        first = la.find(texts, threshold=0.2, **options, **on_disk)
        assert exact or len(first.search.crowd)
        found = la.find(texts, threshold=0.5, **options, **on_disk)
        assert 0 < len(found) < len(first)
        assert found.pairs == first.at(0.5).pairs


def test_a_lowered_threshold_is_refused(kept, rows):
    with pytest.raises(UsageError, match=r"settings.threshold: \"3/5\" before, \"1/2\" now"):
        la.find(rows, threshold=0.5, **kept)


CHANGES = {
    "recall": ({"recall": 0.9}, "settings.recall: 0.99 before, 0.9 now"),
    "shingle": ({"shingle": "words:4"}, "settings.shingling.k: 5 before, 4 now"),
    "bag": ({"bag": True}, "settings.shingling.bag: false before, true now"),
    "normalise": ({"normalise": "none"}, 'normalise: "standard" before, "none" now'),
    "sketch": ({"sketch": "classic"}, 'settings.sketch: "fast" before, "classic" now'),
    "seed": ({"seed": 2}, "settings.seed: 1 before, 2 now"),
    "bands": ({"bands": 4, "rows": 4}, "settings.bands: null before, 4 now"),
    "exact": ({"exact": True}, "settings.exact: false before, true now"),
    "text": ({"text": "site"}, 'text column: "text" before, "site" now'),
    "id": ({"id": ""}, 'id column: "id" before, "" now'),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_option_is_refused_by_name(name, kept, rows):
    options, told = CHANGES[name]
    before = contents(kept["work_dir"])
    with pytest.raises(UsageError) as refused:
        la.find(rows, threshold=0.6, **kept, **options)
    assert told in str(refused.value)
    assert "--restart" in str(refused.value)
    assert contents(kept["work_dir"]).items() >= {**before, "lock": b"%d" % os.getpid()}.items()
    anew = la.find(rows, threshold=0.6, **kept, **options, restart=True)
    assert anew.pairs == la.find(rows, threshold=0.6, **options).pairs


def test_another_second_collection_is_refused(kept, rows):
    with pytest.raises(UsageError, match="across: false before, true now"):
        la.find(rows, against=rows, threshold=0.6, **kept)
    with pytest.raises(UsageError, match="inputs"):
        la.dedup(rows, protect=rows, threshold=0.6, **kept)


@pytest.mark.parametrize("change", ["content", "time", "size", "another file", "a file more"])
def test_a_changed_input_is_refused_by_name(change, rows, tmp_path):
    folder = tmp_path / "input"
    folder.mkdir()
    file = folder / "1.jsonl"
    rows.rename(file)
    options: dict[str, Any] = {"engine": "disk", "work_dir": tmp_path / "run", "keep_work": True}
    la.find(folder, **options)
    status, content = file.stat(), file.read_bytes()
    told = "mtime_ns"
    if change == "content":
        file.write_bytes(content.replace(b"al1", b"al2"))
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
        told = "hash"
    elif change == "time":
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + 1000))
    elif change == "size":
        file.write_bytes(content + b'{"id": "more", "text": "a"}\n')
        told = f"size: {len(content)} before"
    elif change == "another file":
        file.rename(folder / "2.jsonl")
        told = "2.jsonl"
    else:
        write_jsonl(folder / "2.jsonl", [{"id": "more", "text": "a"}])
        told = "2.jsonl"
    with pytest.raises(UsageError) as refused:
        la.find(folder, **options)
    assert told in str(refused.value)
    found = la.find(folder, **options | {"restart": True, "keep_work": False})
    assert found.pairs == la.find(folder).pairs
    assert not (tmp_path / "run").exists()


def test_the_same_texts_with_other_ids_are_refused_by_name(tmp_path):
    for at, text in enumerate(texts_of(20)):
        file = tmp_path / "a" / "bc"[at % 2] / f"{at}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    options: dict[str, Any] = {"engine": "disk", "work_dir": tmp_path / "run", "keep_work": True}
    la.find(tmp_path / "a", **options)
    with pytest.raises(UsageError, match=r'id: "b/0.txt" before, "0.txt" now'):
        la.find([tmp_path / "a" / "b", tmp_path / "a" / "c"], **options)


def test_an_input_may_be_named_from_another_folder(kept, rows, monkeypatch):
    done = units(monkeypatch)
    monkeypatch.chdir(rows.parent)
    found = la.find(Path(rows.name), threshold=0.6, **kept)
    assert done == []
    assert found.pairs == la.find(rows, threshold=0.6).pairs


@pytest.mark.parametrize("what", ["text", "id"])
def test_a_table_changed_in_its_middle_is_refused(what, tmp_path):
    """It has no time of change: all of it is looked at."""
    rows = rows_of(600)
    options: dict[str, Any] = {"engine": "disk", "work_dir": tmp_path / "run", "keep_work": True}
    la.find(pa.Table.from_pylist(rows), **options)
    la.find(pa.Table.from_pylist(rows[:250] + rows[250:]), **options)
    changed = rows[300]
    changed[what] = ("x" * len(changed[what])) if changed[what] else "x"
    with pytest.raises(UsageError, match="hash"):
        la.find(pa.Table.from_pylist(rows), **options)


def test_find_then_dedup_and_cluster_share_their_work(kept, rows, monkeypatch):
    done = units(monkeypatch)
    decided = la.dedup(rows, threshold=0.6, keep="max:score", **kept)
    clusters = la.cluster(rows, threshold=0.6, **kept)
    compact = la.find(rows, threshold=0.6, compact=True, **kept)
    assert done == []
    monkeypatch.undo()
    assert decided.removed == la.dedup(rows, threshold=0.6, keep="max:score").removed
    assert clusters.table == la.cluster(rows, threshold=0.6).table
    assert compact.pairs == la.find(rows, threshold=0.6, compact=True).pairs


def test_a_plan_leaves_features_for_the_search(rows, tmp_path, monkeypatch):
    options: dict[str, Any] = {"engine": "disk", "work_dir": tmp_path / "run", "keep_work": True}
    la.plan(rows, **options)
    done = units(monkeypatch)
    la.find(rows, **options)
    assert "shingling" not in done
    assert "comparing" in done


def test_what_was_stopped_by_too_many_pairs_goes_on_compactly(tmp_path):
    """The count so far is that of items; compact, pairs of groups are counted."""
    texts = [text for text in texts_of(120) if text for _ in range(20)]
    options: dict[str, Any] = {"engine": "disk", "work_dir": tmp_path / "run", "threshold": 0.6}
    compact = la.find(texts, compact=True, threshold=0.6)
    assert la.find(texts, threshold=0.6, max_pairs=10**6).pairs.num_rows > 4 * len(compact)
    with pytest.raises(UsageError, match="% of the candidates"):
        la.find(texts, max_pairs=len(compact) + 10, **options)
    assert (tmp_path / "run" / "run.json").exists()
    found = la.find(texts, max_pairs=len(compact) + 10, compact=True, **options)
    assert found.pairs == compact.pairs


def test_the_pairs_of_a_finished_run_are_counted_again(kept, rows):
    with pytest.raises(UsageError, match="there are more than 3 pairs"):
        la.find(rows, threshold=0.6, max_pairs=3, **kept)


@pytest.mark.parametrize(
    "smaller",
    [Limits(batch=500), Limits(batch=900, items=5), Limits(batch=900, items=23, keys=11, pairs=9)],
)
def test_work_cut_otherwise_is_done_again_where_it_has_to_be(smaller, kept, rows, cut):
    expected = la.find(rows, threshold=0.6)
    cut(smaller)
    assert la.find(rows, threshold=0.6, **kept).pairs == expected.pairs
    cut(MANY)
    assert la.find(rows, threshold=0.6, **kept).pairs == expected.pairs


def test_a_budget_is_cut_the_same_way_by_the_next_process(rows, tmp_path, monkeypatch):
    """What the interpreter takes of it differs, the units have to be the same."""
    monkeypatch.undo()
    options: dict[str, Any] = {"engine": "disk", "work_dir": tmp_path / "run", "keep_work": True}
    monkeypatch.setattr(running, "anonymous_memory", lambda: 60_000_000)
    la.find(rows, memory="300MB", **options)
    done = units(monkeypatch)
    for taken in (50_000_000, 61_234_567):
        monkeypatch.setattr(running, "anonymous_memory", lambda taken=taken: taken)
        la.find(rows, memory="300MB", **options)
    la.find(rows, memory="2GB", **options)
    assert done == []


# ── Places ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["thesis.tex", "run.json", "lock", "journal.jsonl", "a.uint8"])
@pytest.mark.parametrize("restart", [False, True])
def test_a_folder_with_something_else_is_refused_and_left_as_it_is(name, restart, rows, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / name).write_text("dear diary")
    before = contents(folder)
    with pytest.raises(OutputError, match=f"not a run directory, and not empty \\('{name}'"):
        la.find(rows, engine="disk", work_dir=folder, restart=restart)
    assert contents(folder) == before


def test_a_file_is_no_work_directory(rows, tmp_path):
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "inside"):
        with pytest.raises(OutputError, match="--work-dir"):
            la.find(rows, engine="disk", work_dir=place)
    assert (tmp_path / "file").read_text() == "x"


def test_what_others_put_into_a_run_directory_stays(kept, rows):
    (kept["work_dir"] / "notes.txt").write_text("mine")
    la.find(rows, threshold=0.6, **kept | {"keep_work": False})
    assert contents(kept["work_dir"]) == {"notes.txt": b"mine"}


def test_a_place_without_permission_is_refused(tmp_path):
    write_jsonl(tmp_path / "rows.jsonl", rows_of(20))
    (tmp_path / "closed").mkdir(mode=0o500)
    args = ["find", "rows.jsonl", "--engine", "disk", "--work-dir", "closed/run"]
    ran = lookalike(*args, cwd=tmp_path, preexec_fn=be_no_exception)
    if ran.returncode == 0:
        pytest.skip("this process may write anywhere")
    assert ran.returncode == 4, ran.stderr
    assert "cannot write the work files in closed/run: Permission denied" in ran.stderr
    assert not list((tmp_path / "closed").iterdir())


def be_no_exception() -> None:
    """Give up root's right to write anywhere (PR_CAPBSET_DROP of CAP_DAC_OVERRIDE)."""
    ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)


def test_a_call_without_a_place_leaves_nothing_behind(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    assert la.find(rows, engine="disk").pairs == la.find(rows).pairs
    assert not list((tmp_path / "tmp").iterdir())
    with pytest.raises(UsageError, match="more than 1 pairs"):
        la.find(rows, engine="disk", max_pairs=1)
    assert not list((tmp_path / "tmp").iterdir())


def test_a_run_killed_while_it_describes_itself_begins_anew(rows, tmp_path):
    folder = tmp_path / "run"
    for left in ([journal.LOCK], [journal.LOCK, f"{journal.RUN}.part"]):
        folder.mkdir()
        for name in left:
            (folder / name).write_text("123")
        assert la.find(rows, engine="disk", work_dir=folder).pairs == la.find(rows).pairs
        assert not folder.exists()


RACE = """
import sys, time
import lookalike as la
from lookalike.errors import UsageError

found, end = 0, time.monotonic() + 4
while time.monotonic() < end:
    try:
        found += len(la.find("rows.jsonl", engine="disk", work_dir="run")) == int(sys.argv[1])
    except UsageError as error:
        assert "is working in run" in str(error), error
print(found)
"""


def test_of_many_processes_at_once_one_works_and_the_others_are_refused(tmp_path):
    """Also at the moment when the run directory is removed, and made again by the next one."""
    rows = write_jsonl(tmp_path / "rows.jsonl", rows_of(20))
    args = [sys.executable, "-c", RACE, str(len(la.find(rows)))]
    processes = [
        subprocess.Popen(args, cwd=tmp_path, text=True, stdout=subprocess.PIPE) for _ in range(3)
    ]
    found = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert sum(map(int, found)) > 1
    assert {file.name for file in tmp_path.iterdir()} == {"rows.jsonl"}


@pytest.mark.parametrize("verb", ["find", "cluster", "dedup", "plan"])
def test_work_files_inside_of_the_input_are_refused(verb, tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("a")
    more = ["--dry-run"] if verb == "dedup" else []
    args = [verb, "texts", "--engine", "disk", "--work-dir", "texts/run", *more]
    ran = lookalike(*args, cwd=tmp_path)
    assert ran.returncode == 2
    assert "the work directory texts/run is the input texts or inside it" in ran.stderr
    assert not (tmp_path / "texts" / "run").exists()
