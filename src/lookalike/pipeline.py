"""The stages in order: the definition of the right answer.

    corpus ─shingle─▶ sets ─collapse─▶ groups ─sketch─▶ band keys ─▶ candidates ─verify─▶ pairs

Every engine runs these stages and may only change where their data lies and when they run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from lookalike.data import Corpus, Groups, Pairs, Progress, Sets, silent
from lookalike.errors import UsageError
from lookalike.families import jaccard
from lookalike.kinds import text
from lookalike.planning import Plan, Sample, choose_plan, plan_by_hand
from lookalike.stages import banding, collapsing, sampling, sketching, verifying

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.config import Resources, Settings

MOST_PAIRS = 100_000_000
SAMPLE_SEED = 0


@dataclass(frozen=True)
class Counts:
    """How many of what a run met on its way."""

    items: int
    empty: int
    distinct: int
    elements: int
    candidates: int
    pairs: int


@dataclass(frozen=True)
class Found:
    """The pairs of a run, by position in the corpus, and how they came about."""

    pairs: Pairs
    plan: Plan
    sample: Sample
    counts: Counts
    sets: Sets


@dataclass(frozen=True)
class Prepared:
    """A corpus made ready: its sets, the groups of exact copies, and the plan for them."""

    sets: Sets
    groups: Groups
    sides: NDArray[np.uint8] | None
    sample: Sample
    plan: Plan


def prepare(
    corpus: Corpus, settings: Settings, resources: Resources, progress: Progress = silent
) -> Prepared:
    """Shingle and collapse a corpus and choose the plan for it: all but the search itself."""
    sets = text.shingle(corpus.contents, settings.shingling, resources, progress)
    groups = collapsing.collapse(sets, resources.workers)
    sides = collapsing.sides_of_groups(groups, corpus.split)
    sketch = _sketcher(sets, settings, resources, seed=SAMPLE_SEED)
    sample = sampling.sample(sets, groups, sides, sketch)
    return Prepared(sets, groups, sides, sample, make_plan(settings, sample))


def find(
    corpus: Corpus, settings: Settings, resources: Resources, progress: Progress = silent
) -> Found:
    """Find every pair of items whose similarity reaches the threshold."""
    ready = prepare(corpus, settings, resources, progress)
    sets, groups, threads = ready.sets, ready.groups, resources.workers
    sketch = _sketcher(sets, settings, resources, seed=settings.seed)
    compare = partial(jaccard.verify, sets, groups, threshold=settings.threshold, threads=threads)
    keys = sketching.band_keys(groups.firsts, ready.plan, sketch, threads, progress)
    met, verified = 0, []
    for band, candidates in enumerate(banding.candidates(keys, ready.sides, threads)):
        verified.append(verifying.verify(candidates, compare))
        met += len(candidates)
        progress("comparing", band + 1, ready.plan.bands)
    between = Pairs.joined(verified)
    _check_count(collapsing.count_expanded(groups, between, corpus.split))
    pairs = collapsing.expand(groups, between, corpus.split)
    counts = Counts(
        items=len(corpus),
        empty=int(sets.empty.sum()),
        distinct=len(groups),
        elements=len(sets.hashes),
        candidates=met,
        pairs=len(pairs),
    )
    return Found(pairs, ready.plan, ready.sample, counts, sets)


def make_plan(settings: Settings, sample: Sample) -> Plan:
    """Return the plan the settings ask for: by hand, or the cheapest that reaches the recall."""
    p = jaccard.collision_probability(float(settings.threshold))
    if settings.bands is not None and settings.rows is not None:
        return plan_by_hand(p, sample, bands=settings.bands, rows=settings.rows)
    return choose_plan(p, sample, recall=settings.recall)


def _sketcher(
    sets: Sets, settings: Settings, resources: Resources, *, seed: int
) -> sketching.Signatures:
    def sketch(items: NDArray[np.int32], slots: int) -> NDArray[np.uint64]:
        return jaccard.signatures(
            sets, items, slots=slots, seed=seed, scheme=settings.sketch, threads=resources.workers
        )

    return sketch


def _check_count(pairs: int) -> None:
    if pairs > MOST_PAIRS:
        raise UsageError(
            f"there are {pairs:,} pairs, more than the {MOST_PAIRS:,} that fit a result: "
            "raise the threshold, or remove exact copies first"
        )
