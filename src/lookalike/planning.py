"""From "how similar, how complete" to bands and rows.

A pair whose two items get equal values in a slot with probability p agrees in all r rows of a band
with probability p^r, and in at least one of b bands with probability

    1 - (1 - p^r)^b                                                            (the S-curve)

For every r the least b that reaches the asked recall at the threshold follows; more rows cost more
slots and bands, fewer rows let more dissimilar pairs through. The planner takes the r with the
least expected cost on a sample of the corpus's own pairs.

Nothing here knows a kind of item or a family: a family gives its collision probability p at the
threshold. A plan depends on the data, the settings and the frozen constants below, and never on
threads, memory, batches or time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lookalike.config import MOST_SLOTS
from lookalike.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

# Nanoseconds, measured once on a 2021 server core. They weigh stages against each other; that
# other machines have other ones does not matter, that all use the same ones does.
HASH_COST = 2.0
BAND_COST = 60.0
PAIR_COST = 200.0
ELEMENT_COST = 1.5
JOIN_COST = 100.0  # per element of an item that is joined exactly
POSTING_COST = (
    0.05  # per pair of a crowd: a join meets few of them, but the more there are the more
)

JOINED_AT_EASE = 1 << 20
"""More items than this are joined at a cost that grows with their number: the tables of a join are
looked up in no order, and outgrow first the caches, then the memory."""

LEAST_BANDS, LEAST_RECALL = 2, 0.75
"""Plans below these are not made: the slots of the fast sketch repel each other a little, so that
one band agrees less often than p^r says. With two or more bands that reach 3/4 at the threshold, at
least one of them agrees *more* often than the formula says, whatever the sizes of the sets (derived
and tested in tests/statistics/test_plans_find_pairs.py)."""

CROWD = 128
"""A bucket of more items than this is a crowd: it is joined exactly instead of pair by pair."""


def candidate_probability(p: float, *, bands: int, rows: int) -> float:
    """Return the probability that a pair with slot collision probability p becomes a candidate.

    >>> round(candidate_probability(0.8, bands=20, rows=5), 5)
    0.99964
    """
    return -math.expm1(bands * math.log1p(-(p**rows))) if p < 1 else 1.0


def bands_needed(p: float, *, rows: int, recall: float) -> int:
    """Return the least number of bands that makes a pair a candidate with probability ≥ recall.

    >>> bands_needed(0.8, rows=8, recall=0.99)
    26
    """
    if p >= 1:
        return 1
    if p**rows < 1e-12:
        return MOST_SLOTS + 1
    return max(1, math.ceil(math.log1p(-recall) / math.log1p(-(p**rows)) - 1e-9))


@dataclass(frozen=True)
class Sample:
    """What the pairs of a corpus look like, judged by a sample of its items.

    `agreeing[c]` counts the sampled pairs that agree in c of `slots` slots. `items` and `elements`
    are those of the whole corpus (exact copies counted once), `pairs` is the number of pairs that
    are asked for.
    """

    agreeing: NDArray[np.int64]
    items: int
    elements: int
    pairs: int

    @property
    def slots(self) -> int:
        """The number of slots that were compared."""
        return len(self.agreeing) - 1

    def expected_candidates(self, *, bands: int, rows: int) -> float:
        """Return how many of all pairs will become candidates.

        With c of K slots equal, c(c-1)…(c-r+1) / K(K-1)…(K-r+1) estimates p^r without bias.
        """
        sampled = int(self.agreeing.sum())
        if not sampled:
            return 0.0
        expected = 0.0
        for agreeing, count in enumerate(self.agreeing.tolist()):
            if count and agreeing >= rows:
                band = math.prod((agreeing - h) / (self.slots - h) for h in range(rows))
                expected += count * (1 - (1 - band) ** bands)
        return expected / sampled * self.pairs


def typical_sample() -> Sample:
    """Return what stands in for a corpus nobody has shown us: a million texts of 300 shingles.

    Of a million random pairs most agree in none of 128 slots, and ten times fewer with every eight
    more.
    """
    agreeing = np.zeros(129, dtype=np.int64)
    for step, count in enumerate((900_000, 90_000, 9_000, 900, 90, 9)):
        agreeing[8 * step] = count
    items = 1_000_000
    return Sample(agreeing, items, 300 * items, items * (items - 1) // 2)


@dataclass(frozen=True)
class Plan:
    """How many bands of how many rows, why, and what to expect of them."""

    bands: int
    rows: int
    recall_at_threshold: float
    expected_candidates: float
    expected_seconds: float
    by_hand: bool = False

    @property
    def exact(self) -> bool:
        """Whether all pairs are found by an exact join, without bands."""
        return self.bands == 0

    @property
    def slots(self) -> int:
        """The length of a signature."""
        return self.bands * self.rows

    def curve(self, p: float) -> float:
        """Return the probability that a pair with collision probability p becomes a candidate."""
        return 1.0 if self.exact else candidate_probability(p, bands=self.bands, rows=self.rows)

    def __str__(self) -> str:
        return "exact join" if self.exact else f"{self.bands} bands × {self.rows} rows"


def sketch_cost(size: float, slots: int) -> float:
    """Return the expected nanoseconds of sketching one item of that many elements."""
    return HASH_COST * (size + slots * math.log(slots + 1))


def _cost(sample: Sample, bands: int, rows: int, candidates: float) -> float:
    """Return the expected nanoseconds of sketching, banding and verifying on one core."""
    mean_size = sample.elements / max(sample.items, 1)
    hashing = sample.items * sketch_cost(mean_size, bands * rows)
    banding = BAND_COST * sample.items * bands
    comparing = candidates * (PAIR_COST + ELEMENT_COST * mean_size)
    # However many candidates there are: past the crowd, an exact join is what they cost.
    joining = join_cost(sample) + POSTING_COST * candidates
    return hashing + banding + min(comparing, joining)


def join_cost(sample: Sample) -> float:
    """Return the expected nanoseconds of joining all items exactly."""
    return JOIN_COST * sample.elements * max(1.0, sample.items / JOINED_AT_EASE)


def plan_exact(sample: Sample) -> Plan:
    """Return the plan of an exact join: no bands, nothing missed."""
    return Plan(0, 0, 1.0, float(sample.pairs), join_cost(sample) / 1e9)


def plan_by_hand(p: float, sample: Sample, *, bands: int, rows: int, by_hand: bool = True) -> Plan:
    """Return the plan with the given bands and rows; it states the recall they give at p."""
    candidates = sample.expected_candidates(bands=bands, rows=rows)
    return Plan(
        bands=bands,
        rows=rows,
        recall_at_threshold=candidate_probability(p, bands=bands, rows=rows),
        expected_candidates=candidates,
        expected_seconds=_cost(sample, bands, rows, candidates) / 1e9,
        by_hand=by_hand,
    )


def alternatives(p: float, sample: Sample, *, recall: float) -> Iterator[Plan]:
    """Yield, for each number of rows that fits a signature, the plan that reaches the recall."""
    for rows in range(1, MOST_SLOTS + 1):
        bands = bands_needed(p, rows=rows, recall=max(recall, LEAST_RECALL))
        bands = max(bands, LEAST_BANDS) if p < 1 else bands
        if bands * rows > MOST_SLOTS:
            return
        yield plan_by_hand(p, sample, bands=bands, rows=rows, by_hand=False)


def choose_plan(p: float, sample: Sample, *, recall: float) -> Plan:
    """Return the plan with the least expected cost among those that reach the recall at p.

    >>> str(choose_plan(0.8, typical_sample(), recall=0.99))
    '16 bands × 6 rows'
    """
    plans = list(alternatives(p, sample, recall=recall))
    if not plans:
        raise UsageError(
            f"no {MOST_SLOTS} slots find a pair of similarity {p:g} with probability {recall:g}: "
            "raise the threshold or lower the recall"
        )
    return min(plans, key=lambda plan: plan.expected_seconds)
