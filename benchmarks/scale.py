"""What ten million documents cost in a fixed amount of memory, and whether the answer is right.

    python benchmarks/scale.py [--sizes 10k,…,10M] [--memory 2GB,512MB] [--verb find]
    python benchmarks/scale.py --compare [--sizes 100k] [--repeats 5]

Collections of real words with known near-duplicates (see corpora.py) are made once and kept in
`--data`. Each point of the curve is a fresh process of the command line. These must hold, or the
script ends with 1:

- anonymous memory of all processes together, looked at every 20 ms, never exceeds the budget;
- recall against the known pairs is at least 0.99, and everything reported is true;
- a document of the largest collection costs at most 1.3 times one of the collection of 100,000;
- with `--compare`: on data that fits, the disk engine takes at most 1.5 times as long as the memory
  engine, by the medians of runs that take turns.

The input is read once before the clock starts, so it is in the file cache as far as it fits there.
Numbers are kept in `--results` as scale.json, scale.md and scale.svg; points that were measured
before on the same machine with the same version stay there.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path

import corpora
import judging
import measuring
from corpora import Collection, Source

RESULTS = corpora.ROOT / "benchmarks" / "results"
SIZES = "10k,30k,100k,300k,1M,3M,10M"
MEMORY = "2GB,512MB"
LEAST_RECALL = 0.99
MOST_GROWTH = 1.3  # of the cost of a document, compared with the collection of this size:
YARDSTICK = 100_000
MOST_DISK = 1.5  # times the memory engine
SMALL = 300_000  # up to here a point is the median of several runs
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Setup:
    """How lookalike is run; an engine of "" and no memory leave the choice to it."""

    verb: str
    engine: str
    memory: str

    @property
    def name(self) -> str:
        """How the setup is called in tables."""
        parts = [self.verb, self.engine and f"--engine {self.engine}"]
        return " ".join(filter(None, [*parts, self.memory and f"--memory {self.memory}"]))

    @property
    def options(self) -> list[str]:
        """The options on the command line."""
        engine = ["--engine", self.engine] if self.engine else []
        return engine + (["--memory", self.memory] if self.memory else [])

    @property
    def budget(self) -> int | None:
        """The memory in bytes; a gigabyte is 10⁹ of them, the stricter reading."""
        return bytes_of(self.memory) if self.memory else None


@dataclass(frozen=True)
class Point:
    """One run, or the medians of several, with the greatest memory of all."""

    verb: str
    engine: str
    memory: str
    documents: int
    text_bytes: int
    runs: int
    seconds: float
    cpu_seconds: float
    anonymous: int
    resident: int
    work: int
    output: int
    true: int
    found: int
    reported: int
    wrong: int
    summary: dict[str, object] = field(repr=False)

    @property
    def setup(self) -> Setup:
        """How lookalike was run."""
        return Setup(self.verb, self.engine, self.memory)

    @property
    def microseconds(self) -> float:
        """The time for one document."""
        return 1e6 * self.seconds / self.documents

    @property
    def verdict(self) -> judging.Verdict:
        """How good the answer is."""
        return judging.Verdict(self.true, self.found, self.reported, self.wrong)


@dataclass(frozen=True)
class Comparison:
    """Runs of both engines that took turns, in seconds."""

    verb: str
    memory: str
    documents: int
    seconds: dict[str, list[float]]

    @property
    def ratio(self) -> float:
        """The median of the disk engine over that of the memory engine."""
        return statistics.median(self.seconds["disk"]) / statistics.median(self.seconds["memory"])


@dataclass(frozen=True)
class Claim:
    """Something that must hold."""

    text: str
    holds: bool
    on_all: bool = False  # it is about several points


def bytes_of(text: str) -> int:
    match = re.fullmatch(r"([0-9.]+) ?([KMGT]?)(i?)B?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no amount of memory; write 512MB or 2GB")
    base = 1024 if match[3] else 1000
    return int(float(match[1]) * base ** " KMGT".index(match[2] or " "))


def machine() -> dict[str, object]:
    """Return what the numbers depend on besides the code."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": models[0] if models else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory / 1e9, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "lookalike": version("lookalike"),
    }


# ---- running


def warm(path: Path) -> None:
    """Read a file once, so that it is in the file cache."""
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass


def run(setup: Setup, collection: Collection, scratch: Path) -> Point:
    """Run lookalike once on a collection, and judge its answer."""
    work, out = scratch / "work", scratch / "out"
    for folder in (work, out):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    answer, manifest = out / f"{setup.verb}.parquet", out / "manifest.parquet"
    program = Path(sys.executable).parent / "lookalike"
    command = [str(program), setup.verb, str(collection.corpus), "-o", str(answer)]
    command += [*setup.options, "--threshold", "0.8", "--recall", "0.99", "--json", "--quiet"]
    if setup.engine == "disk":
        command += ["--work-dir", str(work)]
    if setup.verb == "dedup":
        command += ["--manifest", str(manifest)]
    warm(collection.corpus)
    cost, printed = measuring.measure(command, work)
    output = measuring.space(out)
    if setup.verb == "find":
        verdict = judging.judge_find(collection, answer)
    elif setup.verb == "cluster":
        verdict = judging.judge_cluster(collection, answer)
    else:
        verdict = judging.judge_dedup(collection, answer, manifest)
    about = json.loads(collection.about.read_text())
    return Point(
        **asdict(setup),
        documents=collection.size,
        text_bytes=about["contents"]["text_bytes"],
        runs=1,
        **asdict(cost),
        output=output,
        **asdict(verdict),
        summary={k: v for k, v in json.loads(printed).items() if k not in {"output", "manifest"}},
    )


def together(points: list[Point]) -> Point:
    """Return the median times, the most memory and the worst answer of several runs."""
    worst = max(points, key=lambda point: (point.wrong, -point.found))
    merged: dict[str, object] = asdict(worst) | {"runs": len(points)}
    for name in ("seconds", "cpu_seconds"):
        merged[name] = statistics.median(getattr(point, name) for point in points)
    for name in ("anonymous", "resident", "work"):
        merged[name] = max(getattr(point, name) for point in points)
    return Point(**merged)  # type: ignore[arg-type]


def compare(setup: Setup, collection: Collection, repeats: int, scratch: Path) -> list[Point]:
    """Run the memory engine, which has no budget, and the disk engine in turns."""
    points = []
    for _ in range(repeats):
        for each in (Setup(setup.verb, "memory", ""), Setup(setup.verb, "disk", setup.memory)):
            points.append(run(each, collection, scratch))
            print(line(points[-1]), flush=True)
    return points


def comparison(setup: Setup, points: list[Point]) -> Comparison:
    """Return the seconds of each engine."""
    engines: dict[str, list[float]] = {"memory": [], "disk": []}
    for point in points:
        engines[point.engine].append(point.seconds)
    return Comparison(setup.verb, setup.memory, points[0].documents, engines)


# ---- what must hold


def claims(points: list[Point], comparisons: list[Comparison]) -> list[Claim]:
    """Return what must hold for these numbers, and whether it does."""
    return [claim for point in points for claim in claims_of(point)] + [
        *claims_of_curves(points),
        *(claim_of(each) for each in comparisons),
    ]


def claims_of_curves(points: list[Point]) -> list[Claim]:
    """Return what must hold for the points of each setup together."""
    result = []
    for setup in dict.fromkeys(point.setup for point in points):
        curve = {point.documents: point for point in points if point.setup == setup}
        largest = curve[max(curve)]
        if YARDSTICK in curve and largest.documents > YARDSTICK:
            growth = largest.microseconds / curve[YARDSTICK].microseconds
            text = (
                f"{setup.name}: a document of {largest.documents:,} costs {growth:.2f} times "
                f"one of {YARDSTICK:,} (at most {MOST_GROWTH}){beyond_start(curve)}"
            )
            result.append(Claim(text, growth <= MOST_GROWTH, on_all=True))
    return result


def claim_of(each: Comparison) -> Claim:
    """Return what must hold for both engines."""
    text = (
        f"{each.verb}, {each.documents:,} documents: the disk engine takes {each.ratio:.2f} "
        f"times as long as the memory engine (at most {MOST_DISK})"
    )
    return Claim(text, each.ratio <= MOST_DISK, on_all=True)


def beyond_start(curve: dict[int, Point]) -> str:
    """Say how the cost grows without the time of the smallest collection, mostly start-up."""
    least, most = curve[min(curve)], curve[max(curve)]
    if least.documents == YARDSTICK:
        return ""

    def cost(point: Point) -> float:
        return (point.seconds - least.seconds) / (point.documents - least.documents)

    growth = cost(most) / cost(curve[YARDSTICK])
    return f"; {growth:.2f} times beyond the first {least.documents:,}"


def claims_of(point: Point) -> list[Claim]:
    """Return what must hold for one point."""
    where, verdict = f"{point.setup.name}, {point.documents:,} documents", point.verdict
    found = f"recall {verdict.recall:.4f} (at least {LEAST_RECALL})"
    wrong = f"{verdict.wrong} of {verdict.reported:,} reported are wrong (none may be)"
    result = [
        Claim(f"{where}: {found}", verdict.recall >= LEAST_RECALL),
        Claim(f"{where}: {wrong}", verdict.wrong == 0),
    ]
    budget = point.setup.budget
    if budget:
        held = f"{megabytes(point.anonymous)} MB at most in memory (budget {megabytes(budget)})"
        result.append(Claim(f"{where}: {held}", point.anonymous <= budget))
    return result


# ---- showing


COLUMNS = (
    ("documents", 12),
    ("memory", 9),
    ("seconds", 10),
    ("µs/doc", 8),
    ("CPU µs/doc", 12),
    ("anon MB", 9),
    ("RSS MB", 8),
    ("work MB", 9),
    ("out MB", 8),
    ("recall", 9),
    ("precision", 11),
)


def megabytes(size: int) -> str:
    return f"{size / MEGABYTE:,.0f}"


def cells(point: Point) -> list[str]:
    """Return one row of the table."""
    return [
        f"{point.documents:,}",
        point.memory or "–",
        f"{point.seconds:,.2f}",
        f"{point.microseconds:.1f}",
        f"{1e6 * point.cpu_seconds / point.documents:.1f}",
        megabytes(point.anonymous),
        megabytes(point.resident),
        megabytes(point.work),
        megabytes(point.output),
        f"{point.verdict.recall:.5f}",
        "1" if point.wrong == 0 else f"{point.verdict.precision:.6f}",
    ]


def line(point: Point) -> str:
    padded = (cell.rjust(width) for cell, (_, width) in zip(cells(point), COLUMNS, strict=True))
    return f"{point.verb:<8}{point.engine or 'default':<8}{''.join(padded)}"


def header() -> str:
    return f"{'verb':<8}{'engine':<8}{''.join(name.rjust(width) for name, width in COLUMNS)}"


def told(claims: list[Claim]) -> list[str]:
    """Return lines on what holds; of single points only what fails, for the table has the rest."""
    shown = [claim for claim in claims if claim.on_all or not claim.holds]
    lines = [f"{'holds' if claim.holds else 'FAILS'}: {claim.text}" for claim in shown]
    holding = sum(claim.holds for claim in claims)
    return [*lines, f"{holding} of {len(claims)} claims on memory, recall, truth and cost hold"]


def as_markdown(about: dict[str, object], points: list[Point], more: list[Comparison]) -> str:
    """Return the numbers as a page."""
    names = ["engine", *(name for name, _ in COLUMNS)]
    rows = [[point.engine or "default", *cells(point)] for point in points]
    lines = [
        "# Cost at scale",
        "",
        f"lookalike {about['lookalike']}, Python {about['python']}, {about['cpu']}, "
        f"{about['cores']} cores, {about['memory_gb']} GB. Documents of about 500 bytes, three in "
        "ten of them near-duplicates; threshold 0.8, recall 0.99. The input is in the file cache "
        "as far as it fits. anon MB is the most that all processes held together in anonymous "
        "memory, RSS MB includes mapped files; megabytes are 10⁶ bytes. Collections of up to "
        f"{SMALL:,} documents: medians of several runs.",
    ]
    for verb in dict.fromkeys(point.verb for point in points):
        lines += ["", f"## {verb}", "", f"| {' | '.join(names)} |"]
        lines += [f"| --- |{' ---: |' * (len(names) - 1)}"]
        chosen = [row for row, point in zip(rows, points, strict=True) if point.verb == verb]
        lines += [f"| {' | '.join(row)} |" for row in chosen]
    if more:
        lines += ["", "## The disk engine on data that fits", ""]
        lines += ["| verb | documents | memory engine, s | disk engine, s | times |"]
        lines += ["| --- | ---: | ---: | ---: | ---: |"]
    for each in more:
        medians = [f"{statistics.median(each.seconds[name]):.2f}" for name in ("memory", "disk")]
        lines += [
            f"| {each.verb} | {each.documents:,} | {' | '.join(medians)} | {each.ratio:.2f} |"
        ]
    holds = [f"- {each}" for each in told(claims(points, more))]
    return "\n".join([*lines, "", "## What must hold", "", *holds, ""])


def plot(points: list[Point], path: Path) -> None:
    """Draw the time per document and the memory over the number of documents."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "scale"
    import matplotlib.pyplot as plt

    figure, (times, memory) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for number, setup in enumerate(dict.fromkeys(point.setup for point in points)):
        curve = sorted(
            (point for point in points if point.setup == setup), key=lambda point: point.documents
        )
        documents = [point.documents for point in curve]
        look = {"marker": "o", "color": f"C{number}", "label": setup.name}
        times.plot(documents, [point.microseconds for point in curve], **look)
        memory.plot(documents, [point.anonymous / MEGABYTE for point in curve], **look)
        if setup.budget:
            memory.axhline(setup.budget / MEGABYTE, color=f"C{number}", linestyle=":")
    times.set(title="Time for one document", xlabel="documents", ylabel="microseconds")
    times.set_ylim(bottom=0)
    memory.set(title="Most memory (dotted: budget)", xlabel="documents", ylabel="megabytes")
    memory.set_yscale("log")
    for axes in (times, memory):
        axes.set_xscale("log")
        axes.grid(alpha=0.3)
    times.legend()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


# ---- keeping


@dataclass
class Numbers:
    """All numbers of one machine and version."""

    about: dict[str, object]
    points: list[Point]
    comparisons: list[Comparison]

    def add(self, point: Point) -> None:
        """Put a point in the place of an earlier one like it."""
        kept = [p for p in self.points if (p.setup, p.documents) != (point.setup, point.documents)]
        self.points = sorted(
            [*kept, point], key=lambda p: (p.verb, p.engine, p.setup.budget or 0, p.documents)
        )

    def add_comparison(self, new: Comparison) -> None:
        """Put a comparison in the place of an earlier one like it."""
        same = (new.verb, new.documents)
        kept = [each for each in self.comparisons if (each.verb, each.documents) != same]
        self.comparisons = [*kept, new]

    def save(self, folder: Path) -> None:
        """Write the numbers, the page and the plot."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "scale.json").write_text(json.dumps(asdict(self), indent=2) + "\n")
        page = as_markdown(self.about, self.points, self.comparisons)
        (folder / "scale.md").write_text(page)
        if self.points:
            plot(self.points, folder / "scale.svg")


def load(folder: Path) -> Numbers:
    """Return the numbers in a folder if they are of this machine and version."""
    about = machine()
    path = folder / "scale.json"
    if path.is_file():
        known = json.loads(path.read_text())
        if known["about"] == about:
            points = [Point(**each) for each in known["points"]]
            return Numbers(about, points, [Comparison(**each) for each in known["comparisons"]])
    return Numbers(about, [], [])


# ---- the script


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    add = parser.add_argument
    add("--sizes", type=corpora.sizes, help=f"default: {SIZES}; 100k with --compare")
    add("--memory", help=f"budgets of the disk engine, default: {MEMORY}")
    add("--engine", choices=["disk", "memory", "default"], default="disk")
    add("--verb", choices=["find", "cluster", "dedup"], default="find")
    add("--compare", action="store_true", help="run both engines in turns")
    add("--repeats", type=int, help=f"runs of a point up to {SMALL:,}, default: 3; of --compare: 5")
    add("--data", type=Path, default=corpora.DATA, help="default: %(default)s")
    add("--results", type=Path, default=RESULTS, help="default: %(default)s")
    return parser.parse_args()


def prepared(source: Source, size: int, data: Path) -> Collection:
    """Return a collection, with a look at whether its truth is true."""
    start = time.monotonic()
    made = corpora.collection(source, size, data)
    judging.check_truth(made)
    if time.monotonic() - start > 10:
        print(f"{size:,} documents made in {time.monotonic() - start:.0f} s")
    return made


def measure_curve(
    given: argparse.Namespace, source: Source, numbers: Numbers, scratch: Path
) -> list[Claim]:
    """Measure all sizes and budgets, keep the numbers, and return what must hold for them."""
    engine = "" if given.engine == "default" else given.engine
    budgets = (given.memory or (MEMORY if engine == "disk" else "")).split(",")
    points = []
    for size in given.sizes or corpora.sizes(SIZES):
        collection = prepared(source, size, given.data)
        for memory in budgets:
            setup = Setup(given.verb, engine, memory)
            repeats = (given.repeats or 3) if size <= SMALL else 1
            points.append(together([run(setup, collection, scratch) for _ in range(repeats)]))
            print(line(points[-1]), flush=True)
            numbers.add(points[-1])
            numbers.save(given.results)
    return claims(points, [])


def measure_engines(
    given: argparse.Namespace, source: Source, numbers: Numbers, scratch: Path
) -> list[Claim]:
    """Compare both engines, keep the numbers, and return what must hold for them."""
    setup = Setup(given.verb, "disk", (given.memory or MEMORY).split(",")[0])
    results = []
    for size in given.sizes or [YARDSTICK]:
        collection = prepared(source, size, given.data)
        points = compare(setup, collection, given.repeats or 5, scratch)
        compared = comparison(setup, points)
        numbers.add_comparison(compared)
        numbers.save(given.results)
        results += claims(points, [compared])
    return results


def main() -> int:
    given = options()
    numbers = load(given.results)
    source = corpora.real_text()
    print(f"{source.name}; {', '.join(f'{k} {v}' for k, v in numbers.about.items())}")
    print(header(), flush=True)
    given.data.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="run-", dir=given.data))
    measure_all = measure_engines if given.compare else measure_curve
    try:
        results = measure_all(given, source, numbers, scratch)
    except measuring.CommandError as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(scratch)
    print("\n".join(told(results)))
    return 0 if all(claim.holds for claim in results) else 1


if __name__ == "__main__":
    sys.exit(main())
