"""The calls a program makes: find, cluster, dedup, plan, explain, similarity."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from lookalike import explaining, pipeline
from lookalike.config import Keep, Resources, Settings, Shingling, exact_threshold, parse_bytes
from lookalike.data import Progress, Source, silent
from lookalike.engines.running import Running, running
from lookalike.errors import InputError, UsageError
from lookalike.forecast import Forecast
from lookalike.io import readers
from lookalike.planning import typical_sample
from lookalike.result import Result, check_mode, make_clusters, make_decisions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from decimal import Decimal
    from fractions import Fraction

    import pyarrow as pa

    from lookalike.config import Engine, Scheme
    from lookalike.decisions import Clusters, Decisions
    from lookalike.explaining import Explanation
    from lookalike.result import Mode

    Number = float | str | Decimal | Fraction


ROWS_PER_BUDGET = 3  # a row of JSONL or CSV takes a little more than twice its size


class Options(TypedDict, total=False):
    """What every search can be told, beside its data.

    threshold (0.8)
        The least similarity of a pair, above 0 and at most 1.
    recall (0.99)
        The probability, below 1, with which a pair *at* the threshold is found; more similar pairs
        are found with a higher one.
    exact (False)
        Find every pair, by an exact join instead of hashing.
    text, id
        The columns that hold the contents and the ids. Guessed from their names if not given; with
        no id column, or ``id=""``, the ids are row numbers.
    shingle ("words:5")
        ``"words:5"``, ``"chars:9"`` or ``"tokens"`` (a column of ready-made token lists).
    bag (False)
        Count repeated shingles: the similarity is then Σ min / Σ max of their counts.
    normalise ("standard")
        ``"standard"`` or ``"none"``.
    sketch ("fast")
        ``"fast"`` or ``"classic"``, the textbook's one hash function per slot.
    seed (1)
        Draws other hash functions: it may change which pairs are missed, never a similarity.
    bands, rows
        Set the plan by hand, both together.
    threads (0), memory, batch, progress
        What the run may use: threads (0: all cores), memory (``"2GB"``, or a number of bytes; half
        of what is available), bytes of text per batch, and a function that is told how far it is.
    engine ("auto"), work_dir, keep_work (False), restart (False)
        ``"memory"``, ``"disk"``, or whichever fits the memory. The disk engine works in `work_dir`
        (a temporary folder): a call that was killed there goes on when it is made again, unless
        `restart` is set; the folder is removed in the end unless `keep_work` is.

    None of the last two groups changes a result.
    """

    threshold: Number
    recall: float
    exact: bool
    text: str | None
    id: str | None
    shingle: str
    bag: bool
    normalise: str
    sketch: Scheme
    seed: int
    bands: int | None
    rows: int | None
    threads: int
    batch: int
    progress: Progress
    memory: int | str | None
    engine: Engine
    work_dir: str | Path | None
    keep_work: bool
    restart: bool


def find(
    data: Any,
    *,
    against: Any = None,
    max_pairs: int = pipeline.MOST_PAIRS,
    compact: bool = False,
    **options: Unpack[Options],
) -> Result:
    """Find every pair of similar items, and verify each exactly.

    Parameters
    ----------
    data
        A path, several `pathlib.Path` objects, a list of strings, or a table of pyarrow, pandas,
        polars, DuckDB or anything else with ``__arrow_c_stream__``.
    against
        A second collection of the same forms: only pairs of an item of `data` (left) with one of
        `against` (right) are looked for.
    max_pairs
        Refuse to list more pairs than this.
    compact
        List each exact copy only with the first of its kind, and one pair for two such groups.
    **options
        See `Options`: threshold, recall, exact, text, id, shingle, bag, normalise, sketch, seed,
        bands, rows, threads, memory, batch, progress, engine, work_dir, keep_work, restart.

    Returns
    -------
    Result
        With `pairs`, `recall`, `summary()`, `why(a, b)`, `at(threshold)`, `clusters()`, `keep()`.

    Examples
    --------
    >>> import lookalike as la
    >>> result = la.find(["a rose is a rose", "A rose is a rose.", "a lily"], threshold=0.9)
    >>> result.pairs.to_pylist()
    [{'left': 0, 'right': 1, 'similarity': 1.0}]
    """
    if max_pairs < 1:
        raise UsageError(f"max_pairs is {max_pairs}, but has to be at least 1")
    run = Run.of(options)
    inputs = run.open(data, against, across=against is not None)
    with run.search(inputs, most_pairs=max_pairs, compact=compact) as found:
        result = Result(found, max_pairs, compact)
        _ = result.positions  # too many pairs are refused here, not when they are looked at
    return result


def cluster(
    data: Any, *, mode: Mode = "components", keep: str = "first", **options: Unpack[Options]
) -> Clusters:
    """Tell which items belong together, without listing all pairs.

    `components`: items connected by similar pairs, directly or through others. `witnessed`: each
    item with the kept item it is similar to, where `keep` says which one of similar items is kept
    (see `dedup`). The other options are those of `find` (see `Options`).

    >>> import lookalike as la
    >>> la.cluster(["a b c", "x y z", "A B C"]).labels.tolist()
    [0, 1, 0]
    """
    run, policy = Run.of(options), Keep.parse(keep)
    check_mode(mode)
    with run.search(run.open(data)) as found:
        return make_clusters(found, mode, policy)


def dedup(
    data: Any,
    *,
    keep: str = "first",
    protect: Any = None,
    against: Any = None,
    **options: Unpack[Options],
) -> Decisions:
    """Tell which items to keep so that no two of them are similar, each removal with a witness.

    Parameters
    ----------
    data
        As for `find`.
    keep
        Which one of similar items stays: ``"first"``, ``"longest"``, ``"shortest"`` (bytes of text,
        or tokens), ``"max:COLUMN"``, ``"min:COLUMN"``, or ``"source:COLUMN=A,B,C"`` for an order of
        preference. Ties go to the first.
    protect
        A second collection whose items are never removed, but remove others.
    against
        A second collection: remove from `data` only what is similar to an item of it.
    **options
        Those of `find`; see `Options`.

    Examples
    --------
    >>> import lookalike as la
    >>> la.dedup(["a b c", "A b c!", "x y z"], keep="longest").kept.to_pylist()
    [1, 2]
    """
    if protect is not None and against is not None:
        raise UsageError("give either protect (it also removes within the input) or against")
    run, policy = Run.of(options), Keep.parse(keep)
    other = protect if against is None else against
    with run.search(run.open(data, other, across=against is not None)) as found:
        return make_decisions(found, policy)


def plan(data: Any = None, **options: Unpack[Options]) -> Forecast:
    """Say what `find` would do with the same options; without data, for a typical corpus.

    >>> import lookalike as la
    >>> print(la.plan(threshold=0.8, recall=0.99).plan)
    16 bands × 6 rows
    """
    run = Run.of(options)
    return run.forecast(None if data is None else run.open(data))


def explain(
    left: Any,
    right: Any,
    *,
    shingle: str = "words:5",
    bag: bool = False,
    normalise: str = "standard",
) -> Explanation:
    """Explain the similarity of two texts (or two lists of tokens).

    >>> import lookalike as la
    >>> print(la.explain("to be or not to be", "to be or not to see", shingle="words:3"))
    left ~ right: similarity 0.6 = 3 shared of 5 shingles (words:3)
      shared (3):
        to be or
        be or not
        or not to
      only in left (1):
        not to be
      only in right (1):
        not to see
    """
    shingling = Shingling.parse(shingle, bag=bag, normalise=normalise)
    return explaining.explain(_pair(left, right, shingling), shingling)


def similarity(
    left: Any,
    right: Any,
    *,
    shingle: str = "words:5",
    bag: bool = False,
    normalise: str = "standard",
) -> float:
    """Return the exact similarity of two texts (or two lists of tokens); 0 if one is empty.

    >>> import lookalike as la
    >>> la.similarity("to be or not to be", "to be or not to see", shingle="words:3")
    0.6
    """
    shingling = Shingling.parse(shingle, bag=bag, normalise=normalise)
    return explaining.similarity(_pair(left, right, shingling), shingling)


def _pair(left: Any, right: Any, shingling: Shingling) -> pa.Array:
    return readers.open_source([left, right], unit=shingling.unit).take([0, 1])


# ── Runs ──────────────────────────────────────────────────────────────────────────────────────


class Run:
    """The options of a call, checked and sorted by what they are for."""

    def __init__(self, settings: Settings, resources: Resources, progress: Progress) -> None:
        self.settings = settings
        self.resources = resources
        self.progress = progress
        self.text: str | None = None
        self.id: str | None = None
        self.running: Running | None = None
        self.note: Callable[[str], None] = lambda message: None

    @classmethod
    def of(cls, options: Options) -> Run:
        """Check the options of a call."""
        unknown = set(options) - set(Options.__annotations__)
        if unknown:
            allowed = ", ".join(Options.__annotations__)
            raise UsageError(f"unknown option {min(unknown)!r}; there are {allowed}")
        run = cls(
            Settings(
                threshold=exact_threshold(options.get("threshold", 0.8)),
                recall=options.get("recall", 0.99),
                shingling=Shingling.parse(
                    options.get("shingle", "words:5"),
                    bag=options.get("bag", False),
                    normalise=options.get("normalise", "standard"),
                ),
                sketch=options.get("sketch", "fast"),
                seed=options.get("seed", 1),
                bands=options.get("bands"),
                rows=options.get("rows"),
                exact=options.get("exact", False),
            ),
            _resources(options),
            options.get("progress", silent),
        )
        run.text, run.id = options.get("text"), options.get("id")
        return run

    def open_source(self, data: Any) -> Source:
        """Open one collection."""
        return readers.open_source(
            data,
            text=self.text,
            id=self.id,
            unit=self.settings.shingling.unit,
            longest=self.resources.budget // ROWS_PER_BUDGET,
        )

    def open(self, data: Any, other: Any = None, *, across: bool = False) -> pipeline.Inputs:
        """Open one collection, or two."""
        given = [data] if other is None else [data, other]
        sources = tuple(self.open_source(each) for each in given)
        return pipeline.Inputs(
            sources, across, tuple(path for each in given for path in _paths(each))
        )

    @contextmanager
    def begin(
        self,
        inputs: pipeline.Inputs,
        beside: Path | None = None,
        *,
        writes: int = 0,
        passing: bool = False,
    ) -> Iterator[Running]:
        """Choose an engine and let it begin or resume; `beside` is what the run is to write."""
        with running(
            inputs, self.settings, self.resources, beside, writes=writes, passing=passing
        ) as begun:
            self.running = begun
            if begun.folder is not None:
                self.note(f"{'resuming the run' if begun.resumed else 'working'} in {begun.folder}")
            yield begun

    @contextmanager
    def search(
        self,
        inputs: pipeline.Inputs,
        beside: Path | None = None,
        *,
        writes: int = 0,
        most_pairs: int | None = None,
        compact: bool = False,
    ) -> Iterator[pipeline.Search]:
        """Search a corpus; the run is finished, and its work files go, behind the block."""
        before = inputs.fingerprints if inputs.paths else None  # what lies in memory stays as it is
        with self.begin(inputs, beside, writes=writes) as begun:
            found = pipeline.search(
                inputs,
                begun.settings,
                self.resources.workers,
                begun.store,
                self.progress,
                most_pairs=most_pairs,
                compact=compact,
            )
            if before and before != [source.fingerprint() for source in inputs.sources]:
                raise InputError("the input has changed while it was read: run it again")
            yield pipeline.narrow(found, self.settings.threshold)

    def forecast(self, inputs: pipeline.Inputs | None, beside: Path | None = None) -> Forecast:
        """Say what a search of a corpus would do; without one, for a typical corpus."""
        threads = self.resources.workers
        if inputs is None:
            sample = typical_sample()
            made = pipeline.make_plan(self.settings, sample)
            return Forecast(made, self.settings, sample, None, threads)
        with self.begin(inputs, beside, passing=True) as begun:
            ready = pipeline.prepare(inputs, begun.settings, threads, begun.store, self.progress)
            text_bytes = int(ready.corpus.lengths.sum())
        return Forecast(ready.plan, self.settings, ready.sample, text_bytes, threads)


def _paths(data: Any) -> list[Path]:
    """Return the paths that data are read from, if they are."""
    given = data if isinstance(data, list | tuple) else [data]
    if isinstance(data, str):
        return [Path(data)]
    return [each for each in given if isinstance(each, Path)]


def _resources(options: Options) -> Resources:
    memory, work_dir = options.get("memory"), options.get("work_dir")
    return Resources(
        threads=options.get("threads", 0),
        batch=options.get("batch", 32 << 20),
        memory=None if memory is None else parse_bytes(memory),
        engine=options.get("engine", "auto"),
        work_dir=None if work_dir is None else Path(work_dir),
        keep_work=options.get("keep_work", False),
        restart=options.get("restart", False),
    )
