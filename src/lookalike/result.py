"""The answer: an object that can be questioned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from lookalike import explaining
from lookalike.config import PROFILES, exact_threshold
from lookalike.errors import UsageError
from lookalike.families import jaccard

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction

    import numpy as np
    from numpy.typing import NDArray

    from lookalike.config import Settings, Shingling
    from lookalike.data import Corpus
    from lookalike.explaining import Explanation
    from lookalike.pipeline import Found
    from lookalike.planning import Plan


@dataclass(frozen=True, repr=False)
class Result:
    """The verified pairs of a run, the settings and the plan they come from.

    >>> import lookalike as la
    >>> texts = ["the cat sat on the mat today", "The cat sat on the mat, today!", "else"]
    >>> la.find(texts, threshold=0.5).pairs.to_pylist()
    [{'left': 0, 'right': 1, 'similarity': 1.0}]
    """

    corpus: Corpus
    settings: Settings
    found: Found
    narrowed: Fraction | None = None

    def __len__(self) -> int:
        return int(self._chosen.sum())

    def __repr__(self) -> str:
        return f"<lookalike.Result: {len(self):,} pairs, similarity ≥ {float(self.threshold):g}>"

    @property
    def plan(self) -> Plan:
        """The bands and rows that were used."""
        return self.found.plan

    @property
    def threshold(self) -> Fraction:
        """The least similarity of the pairs shown: that of the run, or the one set by `at`."""
        return self.narrowed or self.settings.threshold

    @cached_property
    def _chosen(self) -> NDArray[np.bool_]:
        return self.found.pairs.similarity >= float(self.threshold)

    @cached_property
    def pairs(self) -> pa.Table:
        """All pairs: left, right (your ids, in input order) and their exact similarity."""
        pairs = self.found.pairs[self._chosen]
        return pa.table(
            {
                "left": self.corpus.left_names(pairs.left).combine_chunks(),
                "right": self.corpus.right_names(pairs.right).combine_chunks(),
                "similarity": pairs.similarity,
            }
        )

    def at(self, threshold: float | str | Decimal | Fraction) -> Result:
        """Return the same result with only the pairs of at least a higher similarity.

        The pairs are those of this run's plan. A run planned for the higher threshold may find a
        few others, since each plan misses its own.
        """
        narrowed = exact_threshold(threshold)
        if narrowed < self.settings.threshold:
            raise UsageError(
                f"the run looked for pairs of similarity ≥ {float(self.settings.threshold):g}: "
                f"to see those from {threshold} on, run again with that threshold"
            )
        return replace(self, narrowed=narrowed)

    def why(self, left: Any, right: Any) -> Explanation:
        """Explain the similarity of two items, named by their ids, and whether they were found."""
        corpus = self.corpus
        if corpus.right_ids is None:
            where = position(corpus.ids, left), position(corpus.ids, right)
        else:
            where = position(corpus.ids, left), len(corpus.ids) + position(corpus.right_ids, right)
        explanation = explain_items(corpus, self.settings.shingling, where, (left, right))
        pairs = self.found.pairs
        low, high = min(where), max(where)
        p = jaccard.collision_probability(explanation.similarity)
        return replace(
            explanation,
            threshold=self.settings.threshold,
            chance=self.plan.curve(p),
            reported=bool(((pairs.left == low) & (pairs.right == high)).any()),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return what was asked, done and found, ready for JSON."""
        counts, settings, plan = self.found.counts, self.settings, self.plan
        return {
            "items": counts.items,
            "empty_items": counts.empty,
            "distinct_items": counts.distinct,
            "candidates": counts.candidates,
            "pairs": len(self),
            "threshold": float(self.threshold),
            "recall": settings.recall,
            "recall_at_threshold": plan.recall_at_threshold,
            "bands": plan.bands,
            "rows": plan.rows,
            "planned_by_hand": plan.by_hand,
            "run_threshold": float(settings.threshold),
            "similarity": jaccard.NAME,
            "shingle": f"{settings.shingling.unit}:{settings.shingling.k}",
            "bag": settings.shingling.bag,
            "normalise": PROFILES[settings.shingling.normalise],
            "sketch": settings.sketch,
            "seed": settings.seed,
        }

    def summary(self) -> str:
        """Return what was asked, done and found, to be read by a person."""
        counts, plan = self.found.counts, self.plan
        asked = "set by hand" if plan.by_hand else f"planned for recall {self.settings.recall:g}"
        rows = [
            ("items", f"{counts.items:,}"),
            ("distinct", f"{counts.distinct:,} (exact copies counted once)"),
            ("empty", f"{counts.empty:,} (they match nothing)") if counts.empty else None,
            ("shingles", str(self.settings.shingling)),
            ("plan", f"{plan}, {asked}"),
            (
                "at the threshold",
                f"a pair is found with probability {plan.recall_at_threshold:.4f}",
            ),
            ("candidates", f"{counts.candidates:,} compared exactly"),
            ("pairs", f"{len(self):,} with similarity ≥ {float(self.threshold):g}"),
        ]
        if self.narrowed is not None:
            run = float(self.settings.threshold)
            rows.append(
                ("note", f"narrowed from a run at {run:g}, whose plan decides what is here")
            )
        width = max(len(row[0]) for row in rows if row)
        return "\n".join(f"{row[0]:<{width}}  {row[1]}" for row in rows if row)


def position(ids: pa.ChunkedArray, id: Any) -> int:
    """Return the position of the item with an id; an id typed as text fits numbers too."""
    kind = ids.type
    try:
        wanted = pa.scalar(id, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        try:
            wanted = pa.scalar(str(id), pa.string()).cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise UsageError(f"the id {id!r} is no {kind}, as the ids of the input are") from None
    found: int = pc.index(ids, wanted).as_py()
    if found < 0:
        example = ids[0].as_py() if len(ids) else None
        raise UsageError(f"no item has the id {id!r} (the first one's is {example!r})")
    return found


def explain_items(
    corpus: Corpus, shingling: Shingling, where: tuple[int, int], names: tuple[Any, Any]
) -> Explanation:
    """Explain the similarity of the items at two positions of a corpus."""
    return explaining.explain(corpus.contents.take(pa.array(where, pa.int64())), shingling, names)
