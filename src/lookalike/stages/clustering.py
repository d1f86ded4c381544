"""Pairs → clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike import kernels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.data import Pairs


def components(items: int, pairs: Pairs) -> NDArray[np.int32]:
    """Return for each item the first item it is connected to by verified pairs."""
    return kernels.components(items, pairs.left, pairs.right)
