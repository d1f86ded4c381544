"""What a run would do: the plan, what it would find and miss, and what it would cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike.families import jaccard

if TYPE_CHECKING:
    from lookalike.config import Settings
    from lookalike.planning import Plan, Sample

STEPS = 20


@dataclass(frozen=True, repr=False)
class Forecast:
    """A plan and its consequences; `sample` is that of the corpus, or a typical one.

    >>> import lookalike as la
    >>> la.plan(threshold=0.8, recall=0.99).plan.bands
    16
    """

    plan: Plan
    settings: Settings
    sample: Sample
    text_bytes: int | None

    def __repr__(self) -> str:
        return f"<lookalike.Forecast: {self.plan}>"

    @property
    def of_input(self) -> bool:
        """Whether the sample comes from an input."""
        return self.text_bytes is not None

    @property
    def memory(self) -> int:
        """The bytes a run needs at its peak: texts, features (twice, when joined), band keys."""
        features = 2 * 8 * self.sample.elements
        keys = 8 * self.plan.bands * self.sample.items
        return (self.text_bytes or 0) + features + keys

    def table(self) -> list[tuple[float, float]]:
        """Return similarity and probability of being found, in steps of 1/20.

        >>> import lookalike as la
        >>> forecast = la.plan(threshold=0.8, bands=20, rows=5)
        >>> [round(found, 3) for s, found in forecast.table() if s in (0.2, 0.5, 0.8)]
        [0.006, 0.47, 1.0]
        """
        steps = [step / STEPS for step in range(1, STEPS + 1)]
        return [(s, self.plan.curve(jaccard.collision_probability(s))) for s in steps]

    def as_dict(self) -> dict[str, Any]:
        """Return the forecast, ready for JSON."""
        plan = self.plan
        return {
            "threshold": float(self.settings.threshold),
            "recall": self.settings.recall,
            "bands": plan.bands,
            "rows": plan.rows,
            "slots": plan.slots,
            "planned_by_hand": plan.by_hand,
            "recall_at_threshold": plan.recall_at_threshold,
            "of_input": self.of_input,
            "items": self.sample.items,
            "pairs": self.sample.pairs,
            "expected_candidates": round(plan.expected_candidates),
            "expected_memory_bytes": self.memory,
            "curve": [{"similarity": s, "found": found} for s, found in self.table()],
        }

    def summary(self) -> str:
        """Return the plan and what to expect of it, to be read by a person."""
        plan, sample, t = self.plan, self.sample, float(self.settings.threshold)
        whose = "distinct items" if self.of_input else "texts, as no input was given"
        asked = "set by hand" if plan.by_hand else f"for recall ≥ {self.settings.recall:g}"
        rows = [
            ("plan", f"{plan} ({plan.slots} slots), {asked} at similarity {t:g}"),
            (
                "at the threshold",
                f"a pair is found with probability {plan.recall_at_threshold:.4f}",
            ),
            ("expected for", f"{sample.items:,} {whose}"),
            ("candidates", f"about {plan.expected_candidates:,.0f} of {sample.pairs:,} pairs"),
            ("memory", f"about {readable_bytes(self.memory)}"),
        ]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def readable_bytes(count: float) -> str:
    """Return a number of bytes with a unit.

    >>> readable_bytes(2_500_000)
    '2.5 MB'
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
