"""Whatever happens to a work file is found, and only what was in it is done again."""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import lookalike as la
from lookalike.engines import journal, running
from lookalike.engines.disk import Disk
from lookalike.errors import InputError, UsageError

from .conftest import MANY, WORDS, lookalike, rows_of, write_jsonl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("many_units")

STAGES = ("shingling", "sketching", "crowding", "banding", "comparing")
COLUMNS = {
    "shingling.hashes.uint64",
    "shingling.counts.int32",
    "shingling.sizes.int32",
    "shingling.prints.uint64",
    "shingling.lengths.int64",
    "shingling.ids.uint8",
    "shingling.id_lengths.int32",
    "shingling.id_prints.uint64",
    "sketching.band0.uint64",
    "sketching.band2.uint64",
    "crowding.items.int32",
    "banding.pairs.uint64",
    "comparing.left.int32",
    "comparing.right.int32",
    "comparing.similarity.float64",
}


class Kept:
    """A run whose work files are kept, what it found, and what is done in it from now on."""

    def __init__(self, rows: Path, folder: Path, found: dict[str, Any]) -> None:
        self.rows = rows
        self.folder = folder
        self.found = found
        self.done: Counter[str] = Counter()
        self.repaired: Counter[str] = Counter()

    def find(self, **options: Any) -> dict[str, Any]:
        kept = {"engine": "disk", "work_dir": self.folder, "keep_work": True}
        found = la.find(self.rows, threshold=0.6, **kept | options)
        return {"pairs": found.pairs.to_pydict(), "told": found.as_dict()}

    def forget(self, stage: str) -> None:
        """Cut the journal behind a stage, as if the run had been killed then."""
        file = self.folder / journal.JOURNAL
        lines = file.read_bytes().splitlines(keepends=True)
        stages = [(journal.unsealed(line) or {})["stage"] for line in lines]
        last = len(stages) - stages[::-1].index(stage)
        file.write_bytes(b"".join(lines[:last]))


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, dict[str, Any]]:
    place = tmp_path_factory.mktemp("kept")
    rows = rows_of(100)
    boilerplate = " ".join(WORDS[:40])
    rows += [{"id": f"c{at}", "text": f"{boilerplate} {at}"} for at in range(150)]
    file = write_jsonl(place / "rows.jsonl", rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "_limits", lambda resources: MANY)
        found = Kept(file, place / "run", {}).find()
    assert found["pairs"] == la.find(file, threshold=0.6).pairs.to_pydict()
    return file, place / "run", found


@pytest.fixture
def kept(original: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    """Return a copy of a kept run, and count what is done in it."""
    rows, folder, found = original
    run = Kept(rows, tmp_path / "run", found)
    shutil.copytree(folder, run.folder)
    write, again = Disk._write, Disk._again

    def counted_write(self: Disk, work: Any, *rest: Any) -> Any:
        run.done[work.stage] += 1
        return write(self, work, *rest)

    def counted_again(self: Disk, work: Any, *rest: Any) -> Any:
        run.repaired[work.stage] += 1
        return again(self, work, *rest)

    monkeypatch.setattr(Disk, "_write", counted_write)
    monkeypatch.setattr(Disk, "_again", counted_again)
    return run


def flip(file: Path, draw: random.Random) -> None:
    content = bytearray(file.read_bytes())
    content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    file.write_bytes(content)


def truncate(file: Path, draw: random.Random) -> None:
    os.truncate(file, draw.randrange(file.stat().st_size))


def delete(file: Path, draw: random.Random) -> None:
    file.unlink()


def append(file: Path, draw: random.Random) -> None:
    file.write_bytes(file.read_bytes() + draw.randbytes(1 + draw.randrange(100)))


def zero(file: Path, draw: random.Random) -> None:
    """Leave a hole, as a crash of the machine may."""
    content = bytearray(file.read_bytes())
    at = draw.randrange(len(content))
    while not any(content[at : at + 64]):
        at = draw.randrange(len(content))
    content[at : at + 64] = bytes(len(content[at : at + 64]))
    file.write_bytes(content)


def test_every_kind_of_work_file_is_damaged_here(original):
    _, folder, _ = original
    names = {file.name for file in folder.iterdir()}
    assert names - {f"sketching.band{n}.uint64" for n in range(100)} == (
        {name for name in COLUMNS if "sketching" not in name}
        | {journal.RUN, journal.JOURNAL, journal.LOCK}
    )
    assert names > COLUMNS
    assert all((folder / name).stat().st_size for name in COLUMNS)


@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_a_flipped_bit_costs_one_unit(name, kept):
    stage = name.partition(".")[0]
    if stage == "sketching":  # whose files are not read again when all bands are done
        kept.forget("sketching")
    flip(kept.folder / name, random.Random(name))
    assert kept.find() == kept.found
    assert kept.repaired == {stage: 1}
    assert stage not in kept.done
    kept.repaired.clear()
    assert kept.find() == kept.found
    assert not kept.repaired


@pytest.mark.parametrize("damage", [truncate, delete, append, zero])
@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_other_damage_is_found_too_and_costs_no_other_stage(name, damage, kept):
    stage = name.partition(".")[0]
    if stage == "sketching":
        kept.forget("sketching")
    damage(kept.folder / name, random.Random(name))
    assert kept.find() == kept.found
    assert (len(kept.repaired) == 0) == (damage is append)
    assert set(kept.repaired) <= {stage}
    assert stage not in kept.done
    kept.repaired.clear()
    assert kept.find() == kept.found
    assert not kept.repaired


@pytest.mark.parametrize("stage", STAGES[:-1])
def test_damage_of_a_run_that_was_killed_is_found_too(stage, kept):
    """And what lies in the files behind the last unit that is known does not count."""
    kept.forget(stage)
    draw = random.Random(stage)
    files = sorted(kept.folder.glob(f"{stage}.*"))
    for file in draw.sample(files, min(len(files), 3)):
        flip(file, draw)
    assert kept.find() == kept.found
    assert 1 <= kept.repaired[stage] <= 3
    assert stage not in kept.done
    assert kept.done["comparing"] > 10


@pytest.mark.parametrize("damage", [flip, truncate, delete, append, zero])
@pytest.mark.parametrize("seed", range(3))
def test_a_damaged_journal_costs_what_a_stage_has_behind_it(seed, damage, kept):
    draw = random.Random(seed)
    damage(kept.folder / journal.JOURNAL, draw)
    assert kept.find() == kept.found
    assert not kept.repaired
    assert bool(kept.done) == (damage is not append)
    kept.done.clear()
    assert kept.find() == kept.found
    assert not kept.done


@pytest.mark.parametrize("stage", STAGES)
def test_half_a_line_costs_one_unit(stage, kept):
    kept.forget(stage)
    file = kept.folder / journal.JOURNAL
    *_, unit, _ = file.read_bytes().splitlines(keepends=True)
    whole = file.read_bytes()
    file.write_bytes(whole[: whole.rindex(unit) + len(unit) // 2])
    assert kept.find() == kept.found
    assert kept.done[stage] == 1
    assert not kept.repaired


@pytest.mark.parametrize("damage", [flip, truncate, append, zero])
def test_a_damaged_description_is_refused_until_the_run_begins_anew(damage, kept):
    damage(kept.folder / journal.RUN, random.Random(0))
    with pytest.raises(InputError, match=r"run\.json.*--restart"):
        kept.find()
    args = ["find", kept.rows, "--engine", "disk", "--work-dir", kept.folder, "-t", "0.6"]
    ran = lookalike(*args)
    assert ran.returncode == 3
    assert "run.json" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert kept.find(restart=True) == kept.found
    assert set(kept.done) == set(STAGES)


def test_a_lost_description_means_to_begin_anew(kept):
    (kept.folder / journal.RUN).unlink()
    assert kept.find() == kept.found
    assert set(kept.done) == set(STAGES)


def test_a_lost_lock_is_no_damage(kept):
    (kept.folder / journal.LOCK).unlink()
    assert kept.find() == kept.found
    assert not kept.done


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"lookalike": "9.9.9"}, "made by lookalike 9.9.9 (format 1), this is"),
        ({"format": 2}, "(format 2), this is"),
        ({"format": None}, "(format None), this is"),
    ],
)
def test_a_run_of_another_version_is_refused(change, told, kept):
    description = journal.read_description(kept.folder)
    assert description is not None
    journal.write_description(kept.folder, description | change)
    before = {file.name: file.read_bytes() for file in kept.folder.iterdir()}
    ran = lookalike("find", kept.rows, "--engine", "disk", "--work-dir", kept.folder, "-t", "0.6")
    assert ran.returncode == 2
    assert told in ran.stderr
    assert "--restart" in ran.stderr
    after = {file.name: file.read_bytes() for file in kept.folder.iterdir()}
    assert {**before, journal.LOCK: b""} == {**after, journal.LOCK: b""}
    with pytest.raises(UsageError, match="--restart"):
        kept.find()
    assert kept.find(restart=True) == kept.found


def test_damage_that_the_input_cannot_mend_is_refused(tmp_path, monkeypatch):
    """The middle of a large file has changed, unseen: its ends, its size and its time have not."""
    file = write_jsonl(tmp_path / "rows.jsonl", rows_of(2500))
    options: dict[str, Any] = {"engine": "disk", "work_dir": tmp_path / "run", "keep_work": True}
    monkeypatch.undo()
    la.plan(file, batch=1 << 17, **options)
    status, content = file.stat(), bytearray(file.read_bytes())
    middle = content.index(b"al1", len(content) // 2)
    assert middle > 70_000
    content[middle : middle + 3] = b"al2"
    file.write_bytes(content)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    hashes = tmp_path / "run" / "shingling.hashes.uint64"
    hashes.write_bytes(bytes(hashes.stat().st_size))
    with pytest.raises(InputError, match=r"does not give what was read.*--restart"):
        la.plan(file, batch=1 << 17, **options)
    la.plan(file, batch=1 << 17, restart=True, **options)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(200))
def test_any_damage_of_any_files_changes_no_answer(seed, kept):
    draw = random.Random(seed)
    if draw.random() < 0.7:
        kept.forget(draw.choice(STAGES))
    damages: list[Callable[[Path, random.Random], None]] = [flip, truncate, delete, append, zero]
    files = sorted(file for file in kept.folder.iterdir() if file.stat().st_size)
    for file in draw.sample(files, draw.randint(1, 4)):
        if file.name not in {journal.RUN, journal.LOCK}:
            draw.choice(damages)(file, draw)
    assert kept.find() == kept.found
    assert kept.find() == kept.found


@pytest.mark.parametrize("place", [0, -1])
def test_a_finished_stage_of_another_cut_is_done_again_if_any_unit_of_it_is_damaged(
    place, tmp_path
):
    texts = [f"some words that make a text {at % 50} of a few more" for at in range(400)]
    options: dict[str, Any] = {"engine": "disk", "work_dir": tmp_path / "run", "keep_work": True}
    before = la.find(texts, batch=5000, **options)
    file = tmp_path / "run" / "shingling.hashes.uint64"
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    assert la.find(texts, batch=2000, **options).pairs.equals(before.pairs)
