"""The stages in order: the definition of the right answer.

    sources ─shingle─▶ sets ─collapse─▶ groups ─sketch─▶ band keys ─▶ candidates ─verify─▶ pairs

`search` does all of this. Of what it found, three questions can be asked: all pairs (`list_pairs`),
what is connected (`connect`), and what to keep (`choose`); and how much was missed
(`estimate_recall`, `check`).

Every engine runs these stages. It may only change where their columns lie, how the work is cut into
units and whether a unit that was done before is done again: see `lookalike.work`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from lookalike import planning
from lookalike.data import (
    Candidates,
    Check,
    Corpus,
    Groups,
    Pairs,
    Progress,
    Recall,
    Sets,
    Source,
    chunks,
    empty,
    numbered,
    reaching,
    silent,
)
from lookalike.errors import UsageError
from lookalike.families import jaccard
from lookalike.kinds import text
from lookalike.stages import (
    banding,
    choosing,
    clustering,
    collapsing,
    estimating,
    reading,
    sampling,
    sketching,
    verifying,
)
from lookalike.work import Memory

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

    from numpy.typing import NDArray

    from lookalike.config import Keep, Settings
    from lookalike.planning import Plan, Sample
    from lookalike.work import Columns, Store

MOST_PAIRS = 100_000_000
SAMPLE_SEED = 0
SAMPLED_CROWD = 300


@dataclass(frozen=True)
class Inputs:
    """What is searched: one collection, or two; `across` asks for pairs of both only.

    `paths` are the files and folders they are read from, if they are.
    """

    sources: tuple[Source, ...]
    across: bool = False
    paths: tuple[Path, ...] = ()

    @cached_property
    def fingerprints(self) -> list[list[dict[str, str | int]]]:
        """What the sources are like when this is first asked, to see later if they change."""
        return [source.fingerprint() for source in self.sources]


@dataclass(frozen=True)
class Prepared:
    """A corpus that is ready to be searched: its sets, its exact copies, and the plan for it."""

    corpus: Corpus
    sets: Sets
    groups: Groups
    sample: Sample
    plan: Plan
    settings: Settings
    threads: int


@dataclass(frozen=True)
class Search(Prepared):
    """What a search has found, group by group, and all that is needed to ask more of it.

    `pairs` are the verified pairs of groups that met in a bucket. Those of two groups of the
    `crowd` are not among them: the crowd is joined exactly when a question needs it. `begun_at` is
    the threshold that the plan was made for, if that is another one than is asked for now.
    """

    pairs: Pairs
    crowd: NDArray[np.int32]
    candidates: int
    begun_at: Fraction | None = None


def search(
    inputs: Inputs,
    settings: Settings,
    threads: int,
    store: Store | None = None,
    progress: Progress = silent,
    *,
    most_pairs: int | None = None,
    compact: bool = False,
) -> Search:
    """Find the similar pairs of a corpus; with `most_pairs`, stop when there are more than that.

    Compact, a pair of groups counts once.
    """
    if compact and inputs.across:
        raise UsageError("compact pairs are of one collection: leave out either compact or against")
    store = store or Memory()
    ready = prepare(inputs, settings, threads, store, progress)
    bands, groups = ready.plan.bands, ready.groups
    if ready.plan.exact:
        return Search(
            **vars(ready), pairs=Pairs.empty(), crowd=numbered(len(ready.groups)), candidates=0
        )

    @cache
    def sketched() -> Columns:
        size = store.limits.items
        sketches = sketching.work(
            groups.firsts, ready.plan, _sketcher(ready), size=size, threads=threads
        )
        return store.collect(sketches, progress)

    def keys(band: int) -> NDArray[np.uint64]:
        return sketched()[sketching.column(band)]

    full = store.collect(banding.crowding(keys, bands, threads), progress)
    crowded = empty(len(groups), np.uint8)
    crowded[full["items"]] = 1
    listing = banding.work(
        keys,
        bands,
        crowded,
        groups.sides,
        parts=store.limits.parts(len(groups)),
        most=store.limits.listed,
        threads=threads,
    )
    met = store.collect(listing, progress)
    sketched.cache_clear()
    comparing = verifying.work(
        met.pieces("pairs"),
        partial(_compare, ready, store.limits.elements),
        partial(_check_count, most=most_pairs),
        partial(collapsing.count_pairs, groups),
        size=store.limits.pairs,
        compact=compact,
    )
    passed = store.collect(comparing, progress)
    return Search(
        **vars(ready),
        pairs=Pairs(passed["left"], passed["right"], passed["similarity"]),
        crowd=np.flatnonzero(crowded).astype(np.int32),
        candidates=passed.notes[-1] if passed.notes else 0,
    )


def prepare(
    inputs: Inputs,
    settings: Settings,
    threads: int,
    store: Store | None = None,
    progress: Progress = silent,
) -> Prepared:
    """Shingle and collapse a corpus and choose the plan for it: all but the search itself."""
    store = store or Memory()
    reads = reading.work(
        inputs.sources,
        partial(text.shingle, shingling=settings.shingling, threads=threads),
        size=store.limits.batch,
        canonical=store.durable,
        threads=threads,
    )
    read = store.collect(reads, progress)
    parts = store.limits.parts(2 * len(read["prints"]))
    corpus = reading.corpus_of(inputs.sources, read, across=inputs.across, parts=parts)
    sets = reading.sets_of(read, canonical=store.durable)
    groups = collapsing.collapse(sets, read["prints"], corpus.split, parts, threads)
    sketch = partial(_sketch, sets, settings, SAMPLE_SEED, threads)
    sample = sampling.sample(sets, groups, sketch)
    return Prepared(corpus, sets, groups, sample, make_plan(settings, sample), settings, threads)


def narrow(found: Search, threshold: Fraction) -> Search:
    """Return what a search at a lower threshold says of a higher one.

    The candidates are those of its own plan, which finds at least as much as one planned for the
    higher threshold would be asked to.
    """
    if threshold == found.settings.threshold:
        return found
    p = jaccard.collision_probability(float(threshold))
    return replace(
        found,
        settings=replace(found.settings, threshold=threshold),
        plan=replace(found.plan, recall_at_threshold=found.plan.curve(p)),
        pairs=found.pairs.where(lambda part: reaching(part.similarity, threshold)),
        begun_at=found.settings.threshold,
    )


def make_plan(settings: Settings, sample: Sample) -> Plan:
    """Return the plan the settings ask for: exact, by hand, or the cheapest that suffices."""
    p = jaccard.collision_probability(float(settings.threshold))
    if settings.exact:
        return planning.plan_exact(sample)
    if settings.bands is not None and settings.rows is not None:
        return planning.plan_by_hand(p, sample, bands=settings.bands, rows=settings.rows)
    return planning.choose_plan(p, sample, recall=settings.recall)


# ── Questions ─────────────────────────────────────────────────────────────────────────────────


def pairs_of_groups(found: Search, most_pairs: int = MOST_PAIRS, *, compact: bool = False) -> Pairs:
    """Return all pairs between groups, those of the crowd included.

    More than `most_pairs` pairs of items are refused; compact, exact copies do not multiply them.
    """
    copies = 0 if compact else collapsing.count_copies(found.groups)
    _check_count(copies, "exact copies alone", most=most_pairs)
    crowded = jaccard.join(
        found.sets,
        found.groups,
        found.crowd,
        found.settings.threshold,
        most_pairs,
        found.threads,
    )
    between = Pairs.joined([found.pairs, crowded])
    count = len(between) if compact else collapsing.count_pairs(found.groups, between)
    _check_count(copies + count, "the last candidate", most=most_pairs)
    return between


def list_pairs(found: Search, between: Pairs, *, compact: bool = False) -> Pairs:
    """Return all pairs of items, in input order.

    Compact: one pair for two groups, and each exact copy with the first of its group.
    """
    if compact:
        return collapsing.expand_compactly(found.groups, between)
    return collapsing.expand(found.groups, between)


def connect(found: Search) -> NDArray[np.int32]:
    """Return for each item the first item it is connected to by similar pairs."""
    bridges = jaccard.forest(
        found.sets,
        found.groups,
        found.crowd,
        found.settings.threshold,
        found.threads,
    )
    labels = clustering.components(len(found.groups), [found.pairs, bridges])
    for a, b in chunks(len(labels)):
        labels[a:b] = found.groups.firsts[labels[a:b]]
    return found.groups.of_items(labels, numbered(len(found.sets)))


def choose(found: Search, keep: Keep) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return for each item its witness, or -1 if it is kept, and the similarity of the two.

    Items of a second collection are protected: they are kept, and remove others.
    """
    corpus, groups = found.corpus, found.groups
    first = len(corpus.ids)
    order, leaders = choosing.group_order(groups, choosing.keep_order(corpus, keep))
    shielded = leaders >= first
    witness_of = jaccard.greedy(
        found.sets,
        groups,
        found.crowd,
        found.settings.threshold,
        found.pairs,
        order,
        shielded.view(np.uint8),
        found.threads,
    )
    del order
    witnesses, similarities = empty(len(corpus), np.int32), empty(len(corpus), np.float64)
    measured = _measured(found, witness_of)
    for a, b in chunks(len(corpus)):
        items, group = np.arange(a, b, dtype=np.int32), groups.group_of[a:b]
        grouped = group >= 0
        group = group[grouped]
        by = witness_of[group]
        # A group without a witness keeps its leader, and all others of it are copies of that one.
        witness = np.where(by >= 0, leaders[by], leaders[group])
        stays = (items[grouped] >= first) | (witness == items[grouped])
        if corpus.across:  # copies on one side are no pair: only a shielded group removes its own
            stays |= (by < 0) & ~shielded[group]
        chosen, score = np.full(b - a, -1, np.int32), np.full(b - a, np.nan)
        chosen[grouped] = np.where(stays, -1, witness)
        score[grouped] = np.where(stays, np.nan, measured[group])
        witnesses[a:b], similarities[a:b] = chosen, score
    return witnesses, similarities


def _measured(found: Search, witness_of: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the similarity of each group to its witness, 1 where it has none."""
    out, firsts = empty(len(witness_of), np.float64), found.groups.firsts
    for a, b in chunks(len(witness_of)):
        witness = witness_of[a:b]
        similar = np.flatnonzero(witness >= 0)
        score = np.ones(b - a)
        score[similar] = jaccard.measure(
            found.sets, firsts[similar + a], firsts[witness[similar]], found.threads
        )
        out[a:b] = score
    return out


def shared_bands(found: Search, one: int, other: int) -> tuple[int, ...]:
    """Return the numbers of the bands in which two items agree."""
    items = np.array([one, other], dtype=np.int32)
    if found.plan.exact or not found.sets.lengths(items).all():
        return ()
    keys = sketching.band_keys(items, found.plan, _sketcher(found))
    return tuple(np.flatnonzero(keys[:, 0] == keys[:, 1]).tolist())


# ── What was missed ───────────────────────────────────────────────────────────────────────────


def estimate_recall(found: Search, between: Pairs | None = None) -> Recall:
    """Return the recall of a search; `between` are all its pairs of groups, if they are known."""
    copies = collapsing.count_copies(found.groups)
    pairs, by_chance, share = between, len(between or ()), 1.0
    if pairs is None:
        by_chance = len(found.pairs)
        crowded, share = _some_of_the_crowd(found)
        pairs = Pairs.joined([found.pairs, crowded])
    weights = empty(len(pairs), np.float64)
    for a, b in chunks(len(pairs)):
        part = pairs[a:b]
        scale = np.where(np.arange(a, b) < by_chance, 1.0, share)
        weights[a:b] = scale * collapsing.pair_counts(found.groups, part) * (part.similarity < 1)
    count = round(float(weights.sum()))
    if found.plan.exact:
        return Recall(1.0, 1.0, 1.0, count, count, exact_copies=copies)
    if not count:
        return Recall(found.plan.recall_at_threshold, 0.0, 1.0, 0, 0.0, exact_copies=copies)
    mean_size = found.sample.elements / max(found.sample.items, 1)
    pair_cost = 2 * planning.sketch_cost(mean_size, found.plan.slots)
    recall = estimating.estimate(
        pairs,
        weights,
        lambda s: found.plan.curve(jaccard.collision_probability(s)),
        partial(_trying, found),
        sampled=estimating.affordable_pairs(found.plan.expected_seconds * 1e9, pair_cost),
        threads=found.threads,
    )
    return replace(recall, exact_copies=copies)


def _some_of_the_crowd(found: Search) -> tuple[Pairs, float]:
    """Return the pairs of a part of the crowd, and how many each stands for."""
    some = found.groups.smallest(SAMPLED_CROWD, found.crowd)
    pairs = jaccard.join(
        found.sets, found.groups, some, found.settings.threshold, MOST_PAIRS, found.threads
    )
    return pairs, (len(found.crowd) / max(len(some), 1)) ** 2


def _trying(found: Search, pairs: Pairs) -> estimating.Try:
    """Return a function that tells which pairs the plan would find under a fresh seed."""
    groups, place = np.unique(np.concatenate([pairs.left, pairs.right]), return_inverse=True)
    left, right = np.split(place, 2)
    sets = found.sets.take(found.groups.firsts[groups], found.threads)
    items = np.arange(len(groups), dtype=np.int32)

    def attempt(number: int) -> NDArray[np.bool_]:
        fresh = (found.settings.seed + 1 + number) * 0x9E3779B97F4A7C15 % 2**64
        # On one thread: many tries run side by side instead.
        keys = sketching.band_keys(
            items, found.plan, partial(_sketch, sets, found.settings, fresh, 1)
        )
        met: NDArray[np.bool_] = (keys[:, left] == keys[:, right]).any(axis=0)
        return met

    return attempt


def check(found: Search, between: Pairs, items: int) -> Check:
    """Compare some sampled items with all others, exactly, and count what the search has found."""
    groups, everyone = found.groups, numbered(len(found.groups))
    sampled = groups.smallest(items)
    sides = empty(len(groups), np.uint8)
    sides[:] = 2
    sides[sampled] = 3  # on both sides: a sampled item is paired with any other
    pairs = jaccard.join(
        found.sets, groups, everyone, found.settings.threshold, MOST_PAIRS, found.threads, sides
    )
    asked = pairs.similarity < 1
    asked &= collapsing.pair_counts(groups, pairs) > 0
    wanted = np.unique(Candidates(pairs.left[asked], pairs.right[asked]).packed())
    hits = 0
    for part in between.parts():
        hits += int(np.isin(Candidates(part.left, part.right).packed(), wanted).sum())
    return Check(len(sampled), len(wanted), hits)


# ── Helpers ───────────────────────────────────────────────────────────────────────────────────


def _sketch(
    sets: Sets, settings: Settings, seed: int, threads: int, items: NDArray[np.int32], slots: int
) -> NDArray[np.uint64]:
    return jaccard.signatures(
        sets, items, slots=slots, seed=seed, scheme=settings.sketch, threads=threads
    )


def _sketcher(ready: Prepared) -> sketching.Signatures:
    return partial(_sketch, ready.sets, ready.settings, ready.settings.seed, ready.threads)


def _compare(ready: Prepared, most_elements: int, candidates: Candidates) -> Pairs:
    """Compare pairs of groups; features that lie on disk are read in order, some at a time."""
    sets, firsts, threshold = ready.sets, ready.groups.firsts, ready.settings.threshold
    threads = ready.threads

    def compare_items(groups: NDArray[np.int32], pairs: Candidates) -> Pairs:
        return jaccard.verify(sets.take(firsts[groups], threads), pairs, threshold, threads)

    def sizes(groups: NDArray[np.int32]) -> NDArray[np.int64]:
        return sets.sizes[firsts[groups]].astype(np.int64)

    if sets.canonical:
        return verifying.in_order(candidates, sizes, most_elements, compare_items)
    of_items = Candidates(firsts[candidates.left], firsts[candidates.right])
    pairs = jaccard.verify(sets, of_items, threshold, threads)
    group_of = ready.groups.group_of
    return Pairs(group_of[pairs.left], group_of[pairs.right], pairs.similarity)


def _check_count(pairs: int, where: str, *, most: int | None) -> None:
    if most is not None and pairs > most:
        raise UsageError(
            f"there are more than {most:,} pairs ({pairs:,} after {where}): cluster or deduplicate "
            "instead of listing them (lookalike cluster, lookalike dedup), raise the threshold, "
            "list exact copies only once (--compact), or allow more (--max-pairs)"
        )
