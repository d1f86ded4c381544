"""What a run would do: the plan, what it would find and miss, and what it would cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lookalike import pipeline
from lookalike.families import jaccard
from lookalike.kinds import text
from lookalike.planning import typical_sample

if TYPE_CHECKING:
    from lookalike.config import Settings
    from lookalike.pipeline import Inputs
    from lookalike.planning import Plan, Sample

STEPS = 20
PROBE = 1 << 20
MOST_PACKED = 10  # times the bytes of a file: texts are rarely packed better

# Bytes for each item: what is known of it (counts, fingerprints, lengths, groups), and on disk the
# candidates and pairs that a collection with many near-duplicates has.
ITEM_MEMORY, ITEM_DISK = 100, 250
PROGRAM_MEMORY = 150_000_000
READ_COST = 20.0  # nanoseconds for each byte of text: reading, shingling, ordering


@dataclass(frozen=True)
class Needs:
    """What a run will need, about: bytes in memory and on disk, and seconds on one core."""

    memory: int
    disk: int
    seconds: float

    @classmethod
    def of(cls, items: int, elements: int, text_bytes: int, plan: Plan) -> Needs:
        """Return what a collection of that many distinct items and hashes needs."""
        columns = 8 * elements + 8 * plan.bands * items
        return cls(
            memory=PROGRAM_MEMORY + columns + ITEM_MEMORY * items,
            disk=columns + ITEM_DISK * items,
            seconds=plan.expected_seconds + READ_COST * text_bytes / 1e9,
        )


def probe(inputs: Inputs, settings: Settings) -> Needs:
    """Return what a run needs, judged by the first megabyte of each source."""
    items = elements = text_bytes = 0.0
    for source in inputs.sources:
        batch = next(source.batches(PROBE), None)
        if batch is not None:
            share = source.size / max(min(batch.read, source.size), 1)
            some = _first_part(batch.contents)
            hashes, _ = text.shingle(some, settings.shingling)
            size = min(share * batch.contents.nbytes, MOST_PACKED * source.size)
            items += share * len(batch.contents)
            elements += size * len(hashes) / max(some.nbytes, 1)
            text_bytes += size
    count = round(items)
    sample = replace(
        typical_sample(), items=count, elements=round(elements), pairs=count * (count - 1) // 2
    )
    plan = pipeline.make_plan(settings, sample)
    return Needs.of(count, round(elements), round(text_bytes), plan)


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
    threads: int = 1

    def __repr__(self) -> str:
        return f"<lookalike.Forecast: {self.plan}>"

    @property
    def of_input(self) -> bool:
        """Whether the sample comes from an input."""
        return self.text_bytes is not None

    @property
    def needs(self) -> Needs:
        """What a run will need, in memory or on disk."""
        return Needs.of(self.sample.items, self.sample.elements, self.text_bytes or 0, self.plan)

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
            "expected_memory_bytes": self.needs.memory,
            "expected_disk_bytes": self.needs.disk,
            "expected_core_seconds": round(self.needs.seconds, 3),
            "curve": [{"similarity": s, "found": found} for s, found in self.table()],
        }

    def summary(self) -> str:
        """Return the plan and what to expect of it, to be read by a person."""
        plan, sample, t = self.plan, self.sample, float(self.settings.threshold)
        needs = self.needs
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
            ("memory", f"about {readable_bytes(needs.memory)} in the memory engine"),
            ("disk", f"about {readable_bytes(needs.disk)} in the disk engine"),
            ("time", f"about {readable_seconds(needs.seconds / self.threads)}"),
        ]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def _first_part(contents: pa.Array) -> pa.Array:
    """Return contents of some megabytes as they are, and of a longer text the beginning."""
    if contents.nbytes <= 4 * PROBE or not pa.types.is_large_binary(contents.type):
        return contents
    return pa.array([contents[0].as_buffer().slice(0, PROBE).to_pybytes()], contents.type)


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


def readable_seconds(seconds: float) -> str:
    """Return a time with a unit.

    >>> readable_seconds(90), readable_seconds(7200)
    ('90 s', '2.0 h')
    """
    if seconds < 100:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
