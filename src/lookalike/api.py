"""The calls a program makes: find, plan, explain, similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike import explaining, pipeline
from lookalike.config import Resources, Settings, Shingling, exact_threshold
from lookalike.data import Corpus, Progress, silent
from lookalike.forecast import Forecast
from lookalike.io import readers
from lookalike.planning import typical_sample
from lookalike.result import Result

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction

    import pyarrow as pa

    from lookalike.config import Scheme
    from lookalike.explaining import Explanation

    Number = float | str | Decimal | Fraction


def make_settings(
    *,
    threshold: Number = 0.8,
    recall: float = 0.99,
    shingle: str = "words:5",
    bag: bool = False,
    normalise: str = "standard",
    sketch: Scheme = "fast",
    seed: int = 1,
    bands: int | None = None,
    rows: int | None = None,
) -> Settings:
    """Return the settings of a run, checked."""
    return Settings(
        threshold=exact_threshold(threshold),
        recall=recall,
        shingling=Shingling.parse(shingle, bag=bag, normalise=normalise),
        sketch=sketch,
        seed=seed,
        bands=bands,
        rows=rows,
    )


def find(
    data: Any,
    *,
    threshold: Number = 0.8,
    recall: float = 0.99,
    against: Any = None,
    text: str | None = None,
    id: str | None = None,
    shingle: str = "words:5",
    bag: bool = False,
    normalise: str = "standard",
    sketch: Scheme = "fast",
    seed: int = 1,
    bands: int | None = None,
    rows: int | None = None,
    threads: int = 0,
    batch: int = 32 << 20,
    progress: Progress = silent,
) -> Result:
    """Find every pair of similar items, and verify each exactly.

    Parameters
    ----------
    data
        A path, several `pathlib.Path` objects, a list of strings, or a table of pyarrow, pandas,
        polars, DuckDB or anything else with ``__arrow_c_stream__``.
    threshold
        The least similarity of a pair, above 0 and at most 1.
    recall
        The probability, below 1, with which a pair *at* the threshold is found; more similar pairs
        are found with a higher one.
    against
        A second collection of the same forms: only pairs of an item of `data` (left) with one of
        `against` (right) are looked for.
    text, id
        The columns that hold the contents and the ids. Guessed from their names if not given; with
        no id column the ids are row numbers.
    shingle
        ``"words:5"``, ``"chars:9"`` or ``"tokens"`` (a column of ready-made token lists).
    bag
        Count repeated shingles: the similarity is then Σ min / Σ max of their counts.
    normalise
        ``"standard"`` or ``"none"``.
    sketch
        ``"fast"`` or ``"classic"``, the textbook's one hash function per slot.
    seed
        Draws other hash functions: it may change which pairs are missed, never a similarity.
    bands, rows
        Set the plan by hand, both together.
    threads, batch, progress
        What the run may use (0 threads: all cores), and a function that is told how far it is.

    Returns
    -------
    Result
        With `pairs`, `summary()`, `why(a, b)` and `at(threshold)`.

    Examples
    --------
    >>> import lookalike as la
    >>> result = la.find(["a rose is a rose", "A rose is a rose.", "a lily"], threshold=0.9)
    >>> result.pairs.to_pylist()
    [{'left': 0, 'right': 1, 'similarity': 1.0}]
    """
    settings = make_settings(
        threshold=threshold,
        recall=recall,
        shingle=shingle,
        bag=bag,
        normalise=normalise,
        sketch=sketch,
        seed=seed,
        bands=bands,
        rows=rows,
    )
    resources = Resources(threads=threads, batch=batch)
    corpus = read_corpus(data, against, text=text, id=id, shingling=settings.shingling)
    return Result(corpus, settings, pipeline.find(corpus, settings, resources, progress))


def plan(
    data: Any = None,
    *,
    threshold: Number = 0.8,
    recall: float = 0.99,
    text: str | None = None,
    id: str | None = None,
    shingle: str = "words:5",
    bag: bool = False,
    normalise: str = "standard",
    bands: int | None = None,
    rows: int | None = None,
    threads: int = 0,
    progress: Progress = silent,
) -> Forecast:
    """Say what `find` would do with the same arguments; without data, for a typical corpus.

    >>> import lookalike as la
    >>> print(la.plan(threshold=0.8, recall=0.99).plan)
    16 bands × 6 rows
    """
    settings = make_settings(
        threshold=threshold,
        recall=recall,
        shingle=shingle,
        bag=bag,
        normalise=normalise,
        bands=bands,
        rows=rows,
    )
    if data is None:
        return forecast(settings)
    corpus = read_corpus(data, None, text=text, id=id, shingling=settings.shingling)
    return forecast(settings, corpus, Resources(threads=threads), progress)


def forecast(
    settings: Settings,
    corpus: Corpus | None = None,
    resources: Resources | None = None,
    progress: Progress = silent,
) -> Forecast:
    """Return the forecast for a corpus that was read, or for a typical one."""
    if corpus is None:
        sample = typical_sample()
        return Forecast(pipeline.make_plan(settings, sample), settings, sample, None)
    ready = pipeline.prepare(corpus, settings, resources or Resources(), progress)
    return Forecast(ready.plan, settings, ready.sample, corpus.contents.nbytes)


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


def _pair(left: Any, right: Any, shingling: Shingling) -> pa.ChunkedArray:
    return readers.read([left, right], unit=shingling.unit).corpus.contents


def read_corpus(
    data: Any, against: Any, *, text: str | None, id: str | None, shingling: Shingling
) -> Corpus:
    """Read one collection, or two side by side."""
    left = readers.read(data, text=text, id=id, unit=shingling.unit)
    if against is None:
        return left.corpus
    return readers.join(left, readers.read(against, text=text, id=id, unit=shingling.unit))
