"""Sets → signatures → band keys, a block of items at a time.

Only the keys are kept, eight bytes per band and item: nobody reads a signature again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike import kernels
from lookalike.data import Progress, silent

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from lookalike.planning import Plan

    Signatures = Callable[[NDArray[np.int32], int], NDArray[np.uint64]]

BLOCK_ITEMS = 8192


def band_keys(
    items: NDArray[np.int32],
    plan: Plan,
    signatures: Signatures,
    threads: int = 1,
    progress: Progress = silent,
) -> NDArray[np.uint64]:
    """Return the key of each item in each band; `signatures(items, slots)` sketches some items."""
    keys = np.empty((plan.bands, len(items)), dtype=np.uint64)
    for first in range(0, len(items), BLOCK_ITEMS):
        block = items[first : first + BLOCK_ITEMS]
        sketched = signatures(block, plan.slots)
        keys[:, first : first + len(block)] = kernels.band_keys(
            sketched, plan.bands, plan.rows, threads
        )
        progress("sketching", first + len(block), len(items))
    return keys
