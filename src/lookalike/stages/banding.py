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
from lookalike.planning import CROWD
from lookalike.work import Unit, Work, place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from lookalike.data import Cursor

    Keys = Callable[[int], NDArray[np.uint64]]

DEEPEST = 30


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
    most: int = 1 << 62,
    threads: int = 1,
) -> Work:
    """Return the work of listing candidates, one unit for each part of each band.

    A band is cut into that many parts of its keys, rounded up to a power of two; one with more than
    `most` pairs is cut in halves until it has fewer. The column has pairs as numbers, in ascending
    order within each unit. With `sides` only pairs across are candidates.
    """
    least = (parts - 1).bit_length()

    def units(cursor: Cursor | None) -> Iterator[Unit]:
        # Part `part` of 2^depth comes next.
        band, depth, part = cursor or (0, least, 0)
        while band < bands:
            cut = (part, 1 << depth)
            pairs = kernels.candidates(keys(band), sides, crowded, CROWD, *cut, most, threads)
            if pairs is None and depth < DEEPEST:
                depth, part = depth + 1, 2 * part
                continue
            if pairs is None:  # one bucket, or a few: it is small enough
                pairs = kernels.candidates(keys(band), sides, crowded, CROWD, *cut, threads=threads)
            assert pairs is not None
            pairs.sort()
            part += 1
            while depth > least and part % 2 == 0:
                depth, part = depth - 1, part // 2
            if part == 1 << depth:
                band, part = band + 1, 0
            done = (band << depth) + part
            yield Unit({"pairs": pairs}, (band, depth, part), done, bands << depth)

    return Work("banding", {"pairs": np.uint64}, units, (parts, most))
