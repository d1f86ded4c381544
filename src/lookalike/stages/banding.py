"""Band keys → candidates, one band at a time.

A pair is a candidate of the *first* band in which its items share a bucket. So every pair turns up
once, and no set of pairs seen so far has to be kept.

A bucket of more than `CROWD` items is not listed pair by pair: its items join the crowd, whose
pairs among each other are left to an exact join, whatever buckets they share. That finds at least
what the buckets would have, at a cost that stays near linear when a million texts share a
boilerplate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike import kernels
from lookalike.data import Candidates
from lookalike.planning import CROWD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


def crowded(keys: NDArray[np.uint64], threads: int = 1) -> NDArray[np.uint8]:
    """Return for each item whether it is of the crowd, 1 or 0."""
    flags = np.zeros(keys.shape[1], dtype=np.uint8)
    for band in keys:
        flags[kernels.crowd(band, CROWD, threads)] = 1
    return flags


def candidates(
    keys: NDArray[np.uint64],
    sides: NDArray[np.uint8] | None,
    flags: NDArray[np.uint8],
    threads: int = 1,
) -> Iterator[Candidates]:
    """Yield the candidates of each band, those of two crowded items left out.

    With `sides` only those across.
    """
    for band in range(len(keys)):
        yield Candidates(*kernels.candidates(keys, band, sides, flags, CROWD, 0, 1, threads))
