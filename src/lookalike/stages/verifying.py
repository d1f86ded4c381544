"""Candidates → pairs: each is compared exactly, and only what reaches the threshold stays.

How two items are compared is the family's; this stage bounds how many are held at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike.data import Candidates, Pairs

if TYPE_CHECKING:
    from collections.abc import Callable

    Verify = Callable[[Candidates], Pairs]

BLOCK_PAIRS = 1 << 20


def verify(candidates: Candidates, compare: Verify) -> Pairs:
    """Return the candidates that `compare` lets pass, in their order."""
    blocks = (
        Candidates(
            candidates.left[first : first + BLOCK_PAIRS],
            candidates.right[first : first + BLOCK_PAIRS],
        )
        for first in range(0, len(candidates), BLOCK_PAIRS)
    )
    return Pairs.joined([compare(block) for block in blocks])
