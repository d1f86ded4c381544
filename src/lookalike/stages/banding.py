"""Band keys → candidates, one band at a time.

A pair is a candidate of the *first* band in which its items share a bucket. So every pair turns up
once, and no set of pairs seen so far has to be kept.

A bucket of more than `CROWD` items is not listed pair by pair: its items form the crowd, which is
joined exactly afterwards. That finds at least what the bucket would have, at a cost that stays near
linear when a million texts share a boilerplate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike import kernels
from lookalike.data import Candidates
from lookalike.planning import CROWD

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray


def candidates(
    keys: NDArray[np.uint64], sides: NDArray[np.uint8] | None = None, threads: int = 1
) -> Iterator[Candidates]:
    """Yield the candidates of each band; with `sides` only those across."""
    for band in range(len(keys)):
        yield Candidates(*kernels.candidates(keys, band, sides, CROWD, threads))
