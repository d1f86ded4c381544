"""What the pairs of this corpus look like, judged by a sample of its items.

The sample is drawn by content: the groups with the smallest fingerprints. So it depends on nothing
but the texts, and the same plan is chosen in whatever order and batches they come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.data import chunks
from lookalike.planning import Sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from lookalike.data import Groups, Sets

    Signatures = Callable[[NDArray[np.int32], int], NDArray[np.uint64]]

SAMPLE_ITEMS = 1000
SAMPLE_SLOTS = 128


def sample(sets: Sets, groups: Groups, signatures: Signatures) -> Sample:
    """Return the sample; `signatures(items, slots)` sketches some items with that many slots."""
    items = groups.firsts[groups.smallest(SAMPLE_ITEMS)]
    sketched = signatures(items, SAMPLE_SLOTS).astype(np.uint16)  # the low bits are the random ones
    agreeing = np.zeros(SAMPLE_SLOTS + 1, dtype=np.int64)
    for at in range(len(items) - 1):
        equal = np.count_nonzero(sketched[at + 1 :] == sketched[at], axis=1)
        agreeing += np.bincount(equal, minlength=SAMPLE_SLOTS + 1)
    elements = sum(int(sets.lengths(groups.firsts[a:b]).sum()) for a, b in chunks(len(groups)))
    return Sample(agreeing, len(groups), elements, _pairs_asked_for(groups))


def _pairs_asked_for(groups: Groups) -> int:
    if groups.sides is None:
        return len(groups) * (len(groups) - 1) // 2
    left_only, right_only, both = (int((groups.sides == side).sum()) for side in (1, 2, 3))
    return left_only * (right_only + both) + right_only * both + both * (both - 1) // 2
