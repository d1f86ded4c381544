"""Pairs → clusters: whatever is connected by pairs, directly or through others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike import kernels
from lookalike.data import numbered

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.data import Candidates, Pairs


def components(items: int, pairs: list[Pairs | Candidates]) -> NDArray[np.int32]:
    """Return for each item the first item it is connected to."""
    labels = numbered(items)
    for each in pairs:
        kernels.components(labels, each.left, each.right)
    return labels
