"""Candidates meet in a bucket, once, and pairs of two crowded items are left to the join."""

from __future__ import annotations

import numpy as np

from lookalike.planning import CROWD
from lookalike.stages.banding import candidates, crowded


def test_two_crowded_items_are_no_candidates_in_any_band():
    many = CROWD + 1
    keys = np.arange(2 * (many + 3), dtype=np.uint64).reshape(2, -1)
    keys[1, :many] = 7  # a crowd, known only from the second band
    keys[0, [0, 1, many]] = 2**63  # two of it meet each other and somebody else in the first
    keys[:, [many + 1, many + 2]] = 2**64 - 1  # and two others meet in both
    flags = crowded(keys)
    assert np.flatnonzero(flags).tolist() == list(range(many))
    first, second = candidates(keys, None, flags)
    pairs = sorted(zip(first.left.tolist(), first.right.tolist(), strict=True))
    assert pairs == [(0, many), (1, many), (many + 1, many + 2)]
    assert not len(second)
