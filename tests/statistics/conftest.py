"""What the statistical tests share: pairs of random sets of known overlap, sketched.

Seeds are fixed, so these tests do not flicker; the bounds say how surprising a failure would have
been with seeds drawn at random. Each single check fails by chance with probability at most
`CHANCE`, there are fewer than a thousand of them, so all of them together fail by chance with
probability below 1e-6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from lookalike import kernels

if TYPE_CHECKING:
    from collections.abc import Callable

CHANCE = 1e-9
THREADS = 2


@pytest.fixture(scope="session")
def chance() -> float:
    """Return the probability with which a single check may fail although all is well."""
    return CHANCE


@pytest.fixture(scope="session")
def agreements() -> Callable[..., np.ndarray]:
    """Return the function that sketches random pairs and says in which slots they agree."""
    return _agreements


def _agreements(scheme, union, shared, *, slots, seeds, pairs=1, nested=False):
    """Return, for seeds × pairs independent trials, which slots agree (trials × slots).

    Every pair has `shared` common elements and `union` in all; the others are divided between the
    two sets, or all belong to the second (`nested`).
    """
    rng = np.random.default_rng([union, shared, slots, nested])
    first = shared if nested else shared + (union - shared) // 2
    out = []
    for _ in range(seeds):
        elements = rng.integers(0, 2**64, (pairs, union), dtype=np.uint64)
        seed = int(rng.integers(0, 2**64, dtype=np.uint64))
        one = elements[:, :first]
        other = np.hstack([elements[:, :shared], elements[:, shared if nested else first :]])
        out.append(_sketch(scheme, one, slots, seed) == _sketch(scheme, other, slots, seed))
    return np.concatenate(out)


def _sketch(scheme, sets, slots, seed):
    count, size = sets.shape
    starts = np.arange(count + 1, dtype=np.int64) * size
    items = np.arange(count, dtype=np.int32)
    return kernels.sketch(scheme, sets.ravel(), starts, items, slots, seed, THREADS)
