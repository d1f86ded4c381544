"""Band keys → candidates, one band at a time.

Items with the same key in a band share a bucket, and two that share one are a candidate. What is
found twice, in two bands, is found out later, when the candidates of all bands are put in order.

A bucket of more than `CROWD` items is not listed pair by pair: its items form the crowd, which is
joined exactly afterwards. That finds at least what the bucket would have, at a cost that stays near
linear when a million texts share a boilerplate. A pair of two crowded items is no candidate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike import kernels
from lookalike.data import Candidates
from lookalike.planning import CROWD
from lookalike.work import Unit, Work, place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from lookalike.data import Cursor

    Keys = Callable[[int], NDArray[np.uint64]]


def crowding(keys: Keys, bands: int, threads: int = 1) -> Work:
    """Return the work of finding the crowd; `keys(band)` are those of one band."""

    def units(cursor: Cursor | None) -> Iterator[Unit]:
        for band in range(place(cursor), bands):
            crowd = kernels.crowd(keys(band), CROWD, threads)
            yield Unit({"items": crowd}, (band + 1,), band + 1, bands)

    return Work("crowding", {"items": np.int32}, units)


def work(
    keys: Keys,
    bands: int,
    crowded: NDArray[np.uint8],
    sides: NDArray[np.uint8] | None,
    *,
    parts: int = 1,
    threads: int = 1,
) -> Work:
    """Return the work of listing candidates, one unit for each part of each band.

    The column has pairs as numbers, in ascending order within each unit. With `sides` only pairs
    across are candidates.
    """

    def units(cursor: Cursor | None) -> Iterator[Unit]:
        for unit in range(place(cursor), bands * parts):
            band, part = divmod(unit, parts)
            found = kernels.candidates(keys(band), sides, crowded, CROWD, part, parts, threads)
            packed = Candidates(*found).packed()
            packed.sort()
            yield Unit({"pairs": packed}, (unit + 1,), unit + 1, bands * parts)

    return Work("banding", {"pairs": np.uint64}, units, (parts,))
