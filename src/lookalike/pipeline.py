"""The stages in order: the definition of the right answer.

    corpus ─shingle─▶ sets ─collapse─▶ groups ─sketch─▶ band keys ─▶ candidates ─verify─▶ pairs

`search` does all of this. Of what it found, three questions can be asked: all pairs (`list_pairs`),
what is connected (`connect`), and what to keep (`choose`); and how much was missed
(`estimate_recall`, `check`).

Every engine runs these stages and may only change where their data lies and when they run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from lookalike import planning
from lookalike.data import Check, Corpus, Groups, Pairs, Progress, Recall, Sets, silent
from lookalike.errors import UsageError
from lookalike.families import jaccard
from lookalike.kinds import text
from lookalike.stages import (
    banding,
    choosing,
    clustering,
    collapsing,
    estimating,
    sampling,
    sketching,
    verifying,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.config import Keep, Resources, Settings
    from lookalike.planning import Plan, Sample

MOST_PAIRS = 100_000_000
SAMPLE_SEED = 0
SAMPLED_CROWD = 300


@dataclass(frozen=True)
class Search:
    """What a search has found, group by group, and all that is needed to ask more of it.

    `pairs` are the verified pairs of groups that met in a bucket. Those of two groups of the
    `crowd` are not among them: the crowd is joined exactly when a question needs it.
    """

    sets: Sets
    groups: Groups
    sides: NDArray[np.uint8] | None
    split: int | None
    sample: Sample
    plan: Plan
    settings: Settings
    resources: Resources
    pairs: Pairs
    crowd: NDArray[np.int32]
    candidates: int

    @property
    def threads(self) -> int:
        """The number of threads that may be used."""
        return self.resources.workers


def search(
    corpus: Corpus,
    settings: Settings,
    resources: Resources,
    progress: Progress = silent,
    *,
    most_pairs: int | None = None,
    compact: bool = False,
) -> Search:
    """Find the similar pairs of a corpus; with `most_pairs`, stop when there are more than that.

    Compact, a pair of groups counts once.
    """
    if compact and corpus.across:
        raise UsageError("compact pairs are of one collection: leave out either compact or against")
    ready = prepare(corpus, settings, resources, progress)
    if ready.plan.exact:
        everyone = np.arange(len(ready.groups), dtype=np.int32)
        return _with_found(ready, Pairs.joined([]), everyone, 0)
    threads, groups = ready.threads, ready.groups
    sketch = _sketcher(ready, settings.seed)
    compare = partial(
        jaccard.verify, ready.sets, groups, threshold=settings.threshold, threads=threads
    )
    keys = sketching.band_keys(groups.firsts, ready.plan, sketch, threads, progress)
    crowded = banding.crowded(keys, threads)
    verified: list[Pairs] = []
    met = count = 0
    for band, candidates in enumerate(banding.candidates(keys, ready.sides, crowded, threads)):
        verified.append(verifying.verify(candidates, compare))
        met += len(candidates)
        counts = collapsing.pair_counts(groups, verified[-1], corpus.split)
        count += len(counts) if compact else int(counts.sum())
        _check_count(count, most_pairs, f"band {band + 1} of {ready.plan.bands}")
        progress("comparing", band + 1, ready.plan.bands)
    crowd = np.flatnonzero(crowded).astype(np.int32)
    return _with_found(ready, Pairs.joined(verified).sorted(), crowd, met)


def prepare(
    corpus: Corpus, settings: Settings, resources: Resources, progress: Progress = silent
) -> Search:
    """Shingle and collapse a corpus and choose the plan for it: all but the search itself."""
    sets = text.shingle(corpus.contents, settings.shingling, resources, progress)
    groups = collapsing.collapse(sets, resources.workers)
    sides = collapsing.sides_of_groups(groups, corpus.split)
    sketch = partial(_sketch, sets, settings, resources, SAMPLE_SEED)
    sample = sampling.sample(sets, groups, sides, sketch)
    plan = make_plan(settings, sample)
    nobody = np.empty(0, dtype=np.int32)
    return Search(
        sets,
        groups,
        sides,
        corpus.split,
        sample,
        plan,
        settings,
        resources,
        Pairs.joined([]),
        nobody,
        0,
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
    copies = 0 if compact else collapsing.count_copies(found.groups, found.split)
    _check_count(copies, most_pairs, "exact copies alone")
    crowded = jaccard.join(
        found.sets,
        found.groups,
        found.crowd,
        found.sides,
        found.settings.threshold,
        most_pairs,
        found.threads,
    )
    between = Pairs.joined([found.pairs, crowded])
    weights = collapsing.pair_counts(found.groups, between, found.split)
    count = len(between) if compact else int(weights.sum())
    _check_count(copies + count, most_pairs, "the last band")
    return between


def list_pairs(found: Search, between: Pairs, *, compact: bool = False) -> Pairs:
    """Return all pairs of items, in input order.

    Compact: one pair for two groups, and each exact copy with the first of its group.
    """
    if compact:
        return collapsing.expand_compactly(found.groups, between)
    return collapsing.expand(found.groups, between, found.split)


def connect(found: Search) -> NDArray[np.int32]:
    """Return for each item the first item it is connected to by similar pairs."""
    bridges = jaccard.forest(
        found.sets,
        found.groups,
        found.crowd,
        found.sides,
        found.settings.threshold,
        found.threads,
    )
    labels = clustering.components(len(found.groups), [found.pairs, bridges])
    items = np.arange(len(found.sets), dtype=np.int32)
    return found.groups.of_items(found.groups.firsts[labels], items)


def choose(
    found: Search, corpus: Corpus, keep: Keep
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return for each item its witness, or -1 if it is kept, and the similarity of the two.

    Items of a second collection are protected: they are kept, and remove others.
    """
    groups = found.groups
    order, leaders = choosing.group_order(groups, choosing.keep_order(corpus, keep))
    protected = np.arange(len(corpus)) >= len(corpus.ids)
    shielded = protected[leaders]
    witness_group = jaccard.greedy(
        found.sets,
        groups,
        found.crowd,
        found.sides,
        found.settings.threshold,
        found.pairs,
        order,
        shielded.astype(np.uint8),
        found.threads,
    )
    similar = np.flatnonzero(witness_group >= 0).astype(np.int32)
    similarity = np.ones(len(groups))
    similarity[similar] = jaccard.measure(
        found.sets, groups.firsts[similar], groups.firsts[witness_group[similar]], found.threads
    )
    # A group without a witness keeps its leader, and all others of it are copies of that one.
    witness = np.where(witness_group >= 0, leaders[witness_group], leaders).astype(np.int32)
    items = np.arange(len(corpus), dtype=np.int32)
    its_witness = groups.of_items(witness, items)
    stays = protected | (its_witness == items)
    if corpus.across:  # copies on one side are no pair: only a shielded group removes its own
        stays |= groups.of_items((witness_group < 0) & ~shielded, np.ones(len(corpus), np.bool_))
    unlike = np.full(len(corpus), np.nan)
    chosen = np.where(stays, np.int32(-1), its_witness)
    return chosen, np.where(stays, np.nan, groups.of_items(similarity, unlike))


def shared_bands(found: Search, one: int, other: int) -> tuple[int, ...]:
    """Return the numbers of the bands in which two items agree."""
    items = np.array([one, other], dtype=np.int32)
    if found.plan.exact or found.sets.empty[items].any():
        return ()
    keys = sketching.band_keys(items, found.plan, _sketcher(found, found.settings.seed))
    return tuple(np.flatnonzero(keys[:, 0] == keys[:, 1]).tolist())


# ── What was missed ───────────────────────────────────────────────────────────────────────────


def estimate_recall(found: Search, between: Pairs | None = None) -> Recall:
    """Return the recall of a search; `between` are all its pairs of groups, if they are known."""
    copies = collapsing.count_copies(found.groups, found.split)
    if between is None:
        pairs, scale = _some_pairs(found)
    else:
        pairs, scale = between, np.ones(len(between))
    below = pairs.similarity < 1
    pairs = pairs[below]
    weights = scale[below] * collapsing.pair_counts(found.groups, pairs, found.split)
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


def _some_pairs(found: Search) -> tuple[Pairs, NDArray[np.float64]]:
    """Return the pairs by chance and those of a part of the crowd, and how many each stands for."""
    order = np.argsort(found.groups.prints[found.crowd], kind="stable")
    some = np.sort(found.crowd[order[:SAMPLED_CROWD]])
    crowded = jaccard.join(
        found.sets,
        found.groups,
        some,
        found.sides,
        found.settings.threshold,
        MOST_PAIRS,
        found.threads,
    )
    share = (len(found.crowd) / max(len(some), 1)) ** 2
    scale = np.concatenate([np.ones(len(found.pairs)), np.full(len(crowded), share)])
    return Pairs.joined([found.pairs, crowded]), scale


def _trying(found: Search, pairs: Pairs) -> estimating.Try:
    """Return a function that tells which pairs the plan would find under a fresh seed."""
    groups, place = np.unique(np.concatenate([pairs.left, pairs.right]), return_inverse=True)
    left, right = np.split(place, 2)
    items = found.groups.firsts[groups]
    alone = replace(found.resources, threads=1)  # many tries run side by side instead

    def attempt(number: int) -> NDArray[np.bool_]:
        fresh = (found.settings.seed + 1 + number) * 0x9E3779B97F4A7C15 % 2**64
        sketch = partial(_sketch, found.sets, found.settings, alone, fresh)
        keys = sketching.band_keys(items, found.plan, sketch)
        met: NDArray[np.bool_] = (keys[:, left] == keys[:, right]).any(axis=0)
        return met

    return attempt


def check(found: Search, between: Pairs, items: int) -> Check:
    """Compare some sampled items with all others, exactly, and count what the search has found."""
    groups, everyone = found.groups, np.arange(len(found.groups), dtype=np.int32)
    sampled = np.argsort(groups.prints, kind="stable")[:items]
    sides = np.full(len(groups), 2, dtype=np.uint8)
    sides[sampled] = 3  # on both sides: a sampled item is paired with any other
    pairs = jaccard.join(
        found.sets, groups, everyone, sides, found.settings.threshold, MOST_PAIRS, found.threads
    )
    asked = pairs.similarity < 1
    asked &= collapsing.pair_counts(groups, pairs, found.split) > 0
    known = between.left.astype(np.int64) * len(groups) + between.right
    there = pairs.left.astype(np.int64) * len(groups) + pairs.right
    hits = int(np.isin(there[asked], known).sum())
    return Check(len(sampled), int(asked.sum()), hits)


# ── Helpers ───────────────────────────────────────────────────────────────────────────────────


def _with_found(ready: Search, pairs: Pairs, crowd: NDArray[np.int32], candidates: int) -> Search:
    """Return a prepared search with what was found."""
    return replace(ready, pairs=pairs, crowd=crowd, candidates=candidates)


def _sketch(
    sets: Sets,
    settings: Settings,
    resources: Resources,
    seed: int,
    items: NDArray[np.int32],
    slots: int,
) -> NDArray[np.uint64]:
    return jaccard.signatures(
        sets, items, slots=slots, seed=seed, scheme=settings.sketch, threads=resources.workers
    )


def _sketcher(ready: Search, seed: int) -> sketching.Signatures:
    return partial(_sketch, ready.sets, ready.settings, ready.resources, seed)


def _check_count(pairs: int, most: int | None, where: str) -> None:
    if most is not None and pairs > most:
        raise UsageError(
            f"there are more than {most:,} pairs ({pairs:,} after {where}): cluster or deduplicate "
            "instead of listing them (lookalike cluster, lookalike dedup), raise the threshold, "
            "list exact copies only once (--compact), or allow more (--max-pairs)"
        )
