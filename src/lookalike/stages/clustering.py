"""Pairs → clusters: whatever is connected by pairs, directly or through others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.data import Candidates, Pairs


def components(items: int, pairs: list[Pairs | Candidates]) -> NDArray[np.int32]:
    """Return for each item the first item it is connected to."""
    labels = np.arange(items, dtype=np.int32)
    for each in pairs:
        kernels.components(labels, each.left, each.right)
    return labels
