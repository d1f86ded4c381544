"""Sets → signatures → band keys, a block of items at a time.

Only the keys are kept, eight bytes per band and item: nobody reads a signature again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike import kernels
from lookalike.work import Unit, Work, place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from lookalike.data import Cursor
    from lookalike.planning import Plan

    Signatures = Callable[[NDArray[np.int32], int], NDArray[np.uint64]]

BLOCK_ITEMS = 8192


def work(
    items: NDArray[np.int32], plan: Plan, signatures: Signatures, *, size: int, threads: int = 1
) -> Work:
    """Return the work of sketching some items, that many at a time; each band is a column."""

    def units(cursor: Cursor | None) -> Iterator[Unit]:
        for first in range(place(cursor), len(items), size):
            last = min(first + size, len(items))
            keys = band_keys(items[first:last], plan, signatures, threads)
            pieces = {column(band): keys[band] for band in range(plan.bands)}
            yield Unit(pieces, (last,), last, len(items))

    return Work(
        "sketching", {column(band): np.uint64 for band in range(plan.bands)}, units, (size,)
    )


def column(band: int) -> str:
    """Return the name of the column of a band's keys."""
    return f"band{band}"


def band_keys(
    items: NDArray[np.int32], plan: Plan, signatures: Signatures, threads: int = 1
) -> NDArray[np.uint64]:
    """Return the key of each item in each band; `signatures(items, slots)` sketches some items."""
    keys = np.empty((plan.bands, len(items)), dtype=np.uint64)
    for first in range(0, len(items), BLOCK_ITEMS):
        block = items[first : first + BLOCK_ITEMS]
        sketched = signatures(block, plan.slots)
        keys[:, first : first + len(block)] = kernels.band_keys(
            sketched, plan.bands, plan.rows, threads
        )
    return keys
