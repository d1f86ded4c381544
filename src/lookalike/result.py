"""The answer: an object that can be questioned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow as pa

from lookalike import explaining, pipeline
from lookalike.config import PROFILES, Keep, exact_threshold
from lookalike.data import chunks, numbered, reaching
from lookalike.decisions import Clusters, Decisions
from lookalike.errors import UsageError
from lookalike.families import jaccard
from lookalike.naming import position
from lookalike.tables import Rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal
    from fractions import Fraction

    from lookalike.config import Shingling
    from lookalike.data import Check, Corpus, Pairs, Recall, Source
    from lookalike.explaining import Explanation
    from lookalike.pipeline import Search
    from lookalike.planning import Plan

Mode = Literal["components", "witnessed"]


@dataclass(frozen=True, repr=False)
class Result:
    """The verified pairs of a run, the settings and the plan they come from.

    >>> import lookalike as la
    >>> texts = ["the cat sat on the mat today", "The cat sat on the mat, today!", "else"]
    >>> la.find(texts, threshold=0.5).pairs.to_pylist()
    [{'left': 0, 'right': 1, 'similarity': 1.0}]
    """

    search: Search
    most_pairs: int = pipeline.MOST_PAIRS
    compact: bool = False
    narrowed: Fraction | None = None

    def __len__(self) -> int:
        return len(self._shown)

    def __repr__(self) -> str:
        return f"<lookalike.Result: {len(self):,} pairs, similarity ≥ {float(self.threshold):g}>"

    @property
    def corpus(self) -> Corpus:
        """The items that were searched."""
        return self.search.corpus

    @property
    def plan(self) -> Plan:
        """The bands and rows that were used."""
        return self.search.plan

    @property
    def threshold(self) -> Fraction:
        """The least similarity of the pairs shown: that of the run, or the one set by `at`."""
        return self.narrowed or self.search.settings.threshold

    @cached_property
    def _between(self) -> Pairs:
        return pipeline.pairs_of_groups(self.search, self.most_pairs, compact=self.compact)

    @cached_property
    def positions(self) -> Pairs:
        """All pairs of the run, by position in the input."""
        return pipeline.list_pairs(self.search, self._between, compact=self.compact)

    @cached_property
    def _shown(self) -> Pairs:
        return self._narrowed(self.positions)

    def _narrowed(self, pairs: Pairs) -> Pairs:
        """Return the pairs that reach the threshold set by `at`."""
        if self.narrowed is None:
            return pairs
        return pairs.where(lambda part: reaching(part.similarity, self.threshold))

    @property
    def rows(self) -> Rows:
        """The rows of `pairs`, to be made some at a time."""
        return self._rows(self._shown)

    def _rows(self, pairs: Pairs) -> Rows:
        """Return rows for some of the pairs shown, of the types that all of them have."""
        corpus, shown = self.corpus, self._shown
        kinds = {
            "left": corpus.kind_of_names(shown.left),
            "right": corpus.kind_of_names(shown.right),
            "similarity": pa.float64(),
        }

        def part(a: int, b: int) -> dict[str, Any]:
            return {
                "left": corpus.names(pairs.left[a:b], kinds["left"]),
                "right": corpus.names(pairs.right[a:b], kinds["right"]),
                "similarity": pairs.similarity[a:b],
            }

        return Rows(len(pairs), kinds, part)

    @cached_property
    def pairs(self) -> pa.Table:
        """All pairs: left, right (your ids, in input order) and their exact similarity."""
        return self.rows.table()

    def most_similar(self, n: int) -> pa.Table:
        """Return the n pairs of the highest similarity, equal ones in input order.

        Only these are made, however many `pairs` there are.
        """
        if n < 1:
            raise UsageError(f"the most similar pairs are at least 1, not {n}")
        similarity = self._shown.similarity
        best = np.empty(0, np.int64)
        for a, b in chunks(len(similarity)):
            least = similarity[best[-1]] if len(best) == n else -1.0
            better = a + np.flatnonzero(similarity[a:b] > least)
            best = np.concatenate([best, better])
            best = best[np.argsort(-similarity[best], kind="stable")[:n]]
        return self._rows(self._shown[best]).table()

    @cached_property
    def recall(self) -> Recall:
        """How much of what there was the run has found, estimated, with a 95 % interval."""
        return pipeline.estimate_recall(self.search, self._narrowed(self._between))

    def check(self, items: int) -> Check:
        """Compare some sampled items with all others by brute force, and count what was found.

        Exact copies are sampled once, and the pairs are those of the run's own threshold.
        """
        if items < 1:
            raise UsageError(f"a check samples at least 1 item, not {items}")
        return pipeline.check(self.search, self._between, items)

    def at(self, threshold: float | str | Decimal | Fraction) -> Result:
        """Return the same result with only the pairs of at least a higher similarity.

        The pairs are those of this run's plan. A run planned for the higher threshold may find a
        few others, since each plan misses its own.
        """
        narrowed, run = exact_threshold(threshold), self.search.settings.threshold
        if narrowed < run:
            raise UsageError(
                f"the run looked for pairs of similarity ≥ {float(run):g}: to see those from "
                f"{threshold} on, run again with that threshold"
            )
        return replace(self, narrowed=narrowed)

    def clusters(self, mode: Mode = "components", keep: str | Keep = "first") -> Clusters:
        """Return which items belong together.

        `components`: items connected by pairs, directly or through others. `witnessed`: each item
        with the kept item it is similar to (see `keep`).
        """
        return make_clusters(self._narrowed_search(), mode, keep, lambda: self.recall)

    def keep(self, policy: str | Keep = "first") -> Decisions:
        """Return which items to keep so that no two of them are similar, each removal witnessed.

        The policy says which one of similar items stays: first, longest, shortest, max:COLUMN,
        min:COLUMN or source:COLUMN=A,B,C; ties go to the first.
        """
        return make_decisions(self._narrowed_search(), policy, lambda: self.recall)

    def _narrowed_search(self) -> Search:
        """Return the search with only the pairs shown, the crowd's included."""
        if self.narrowed is None:
            return self.search
        nobody = self.search.crowd[:0]
        return replace(self.search, pairs=self._narrowed(self._between), crowd=nobody)

    def why(self, left: Any, right: Any) -> Explanation:
        """Explain the similarity of two items, named by their ids, and whether they were found."""
        corpus = self.corpus
        here = position(corpus.ids, left)
        if corpus.other_ids is None:
            there = position(corpus.ids, right)
        else:
            there = len(corpus.ids) + position(corpus.other_ids, right)
        explanation = explain_items(
            corpus, self.search.settings.shingling, (here, there), (left, right)
        )
        pairs = self._shown
        reported = (pairs.left == min(here, there)) & (pairs.right == max(here, there))
        p = jaccard.collision_probability(explanation.similarity)
        return replace(
            explanation,
            threshold=self.threshold,
            chance=self.plan.curve(p),
            reported=bool(reported.any()),
            bands=pipeline.shared_bands(self.search, here, there),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return what was asked, done and found, ready for JSON."""
        found = {"pairs": len(self), "threshold": float(self.threshold)}
        return describe(self.search) | found | recall_dict(self.recall)

    def summary(self) -> str:
        """Return what was asked, done and found, to be read by a person."""
        rows = [
            *asked_and_done(self.search),
            ("pairs", f"{len(self):,} with similarity ≥ {float(self.threshold):g}"),
            ("recall", recall_line(self.recall)),
        ]
        if self.narrowed is not None:
            run = float(self.search.settings.threshold)
            rows.append(
                ("note", f"narrowed from a run at {run:g}, whose plan decides what is here")
            )
        return lines(rows)


# ── Clusters and decisions ────────────────────────────────────────────────────────────────────


def check_mode(mode: str) -> None:
    """Refuse a mode that there is not."""
    if mode not in get_args(Mode):
        raise UsageError(f"unknown mode {mode!r}: components or witnessed")


def make_clusters(
    search: Search, mode: str, keep: str | Keep, recall: Callable[[], Recall] | None = None
) -> Clusters:
    """Return the clusters of a search; `recall` tells its recall if that is known."""
    check_mode(mode)
    recall = recall or partial(pipeline.estimate_recall, search)
    if mode == "components":
        return Clusters(search.corpus, pipeline.connect(search), mode, recall())
    decisions = make_decisions(search, keep, recall)
    labels = numbered(len(search.corpus))
    for a, b in chunks(len(labels)):
        witness = decisions.witnesses[a:b]
        labels[a:b] = np.where(witness < 0, labels[a:b], witness)
    return Clusters(search.corpus, labels, mode, decisions.recall)


def make_decisions(
    search: Search, keep: str | Keep, recall: Callable[[], Recall] | None = None
) -> Decisions:
    """Return what to keep of what a search found; `recall` tells its recall if that is known."""
    policy = Keep.parse(keep) if isinstance(keep, str) else keep
    recall = recall or partial(pipeline.estimate_recall, search)
    witnesses, similarities = pipeline.choose(search, policy)
    return Decisions(search.corpus, witnesses, similarities, policy, recall())


# ── Words for it ──────────────────────────────────────────────────────────────────────────────


def describe(search: Search) -> dict[str, Any]:
    """Return what was asked and done, ready for JSON."""
    settings, plan = search.settings, search.plan
    return {
        "items": len(search.corpus),
        "empty_items": search.sets.empty_items,
        "distinct_items": len(search.groups),
        "candidates": search.candidates,
        "crowded_items": 0 if plan.exact else len(search.crowd),
        "run_threshold": float(settings.threshold),
        "asked_recall": None if plan.exact or plan.by_hand else settings.recall,
        "recall_at_threshold": plan.recall_at_threshold,
        "exact": plan.exact,
        "bands": plan.bands,
        "rows": plan.rows,
        "planned_by_hand": plan.by_hand,
        "similarity": jaccard.NAME,
        "shingle": f"{settings.shingling.unit}:{settings.shingling.k}",
        "bag": settings.shingling.bag,
        "normalise": PROFILES[settings.shingling.normalise],
        "sketch": settings.sketch,
        "seed": settings.seed,
    }


def recall_dict(recall: Recall) -> dict[str, Any]:
    """Return a recall, ready for JSON."""
    return {
        "recall": recall.value,
        "recall_low": recall.low,
        "recall_high": recall.high,
        "recall_of_all_pairs": recall.of_all_pairs,
        "pairs_below_1_found": recall.found,
        "pairs_below_1_estimated": recall.total,
    }


def asked_and_done(search: Search) -> list[tuple[str, str]]:
    """Return what was asked and done, as names and values."""
    plan, settings = search.plan, search.settings
    empty, crowd = search.sets.empty_items, len(search.crowd)
    rows = [
        ("items", f"{len(search.corpus):,}"),
        ("distinct", f"{len(search.groups):,} (exact copies counted once)"),
    ]
    if empty:
        rows.append(("empty", f"{empty:,} (they match nothing)"))
    rows.append(("shingles", str(settings.shingling)))
    if plan.exact:
        rows.append(("plan", "exact join: nothing is missed"))
        return rows
    asked = "set by hand" if plan.by_hand else f"planned for recall {settings.recall:g}"
    if search.begun_at is not None:
        asked += f" at {float(search.begun_at):g}"
    chance = f"a pair is found with probability {plan.recall_at_threshold:.4f}"
    rows += [
        ("plan", f"{plan}, {asked}"),
        ("at the threshold", chance),
        ("candidates", f"{search.candidates:,} compared exactly"),
    ]
    if crowd:
        rows.append(("crowded", f"{crowd:,} distinct items in full buckets, joined exactly"))
    return rows


def recall_line(recall: Recall) -> str:
    """Return a recall in one line."""
    if recall.found == 0:
        return "nothing to estimate it from: no pair below similarity 1 was found"
    if recall.total == recall.found:
        return f"1 of {recall.found:,} pairs below similarity 1"
    missed = recall.total - recall.found
    return (
        f"{recall}: about {missed:,.1f} of {recall.total:,.0f} pairs below similarity 1 are missing"
    )


def lines(rows: list[tuple[str, str]]) -> str:
    """Return names and values, aligned."""
    return "\n".join(f"{name:<16}  {value}" for name, value in rows)


# ── Items by id ───────────────────────────────────────────────────────────────────────────────


def explain_items(
    items: Corpus | Source, shingling: Shingling, where: tuple[int, int], names: tuple[Any, Any]
) -> Explanation:
    """Explain the similarity of the items at two positions."""
    return explaining.explain(items.take(list(where)), shingling, names)
