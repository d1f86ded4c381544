"""Which items to keep.

Items are considered in keep order: protected ones first, then by the policy, ties by input order.
An item is kept unless an earlier *kept* item is similar to it; the earliest such item is its
witness. So every removed item is similar to one that stays, however long the chains are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike import kernels
from lookalike.data import empty
from lookalike.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.config import Keep
    from lookalike.data import Corpus, Groups


def keep_order(corpus: Corpus, keep: Keep) -> NDArray[np.int32]:
    """Return all items in the order in which they are considered."""
    first = len(corpus.ids)
    ranks = empty(len(corpus), np.int64)
    ranks[first:] = np.iinfo(np.int64).min
    _rank(corpus, keep, ranks[:first])
    return kernels.order_by(ranks)


def _rank(corpus: Corpus, keep: Keep, ranks: NDArray[np.int64]) -> None:
    """Write a number for each item of the first collection; smaller ones are kept rather."""
    if keep.policy in {"longest", "shortest"}:
        sign = -1 if keep.policy == "longest" else 1
        np.multiply(corpus.lengths[: len(ranks)], sign, out=ranks)
    elif keep.column is not None:
        values = corpus.sources[0].column(keep.column)
        if keep.policy == "source":
            _rank_sources(values, keep.values, ranks)
        else:
            _rank_values(values, keep, ranks)


def _rank_values(values: pa.ChunkedArray, keep: Keep, ranks: NDArray[np.int64]) -> None:
    direction = "descending" if keep.policy == "max" else "ascending"
    try:
        dense = pc.rank(values, sort_keys=direction, tiebreaker="dense")  # nulls come last
    except pa.ArrowNotImplementedError:
        raise UsageError(
            f"the column {keep.column!r} has no order to choose by: it is {values.type}"
        ) from None
    ranks[:] = dense.to_numpy()


def _rank_sources(
    values: pa.ChunkedArray, listed: tuple[str, ...], ranks: NDArray[np.int64]
) -> None:
    try:
        names = values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise UsageError(f"a source is named by a plain value, not by {values.type}") from None
    places = pc.index_in(names, value_set=pa.array(listed, pa.string()))
    ranks[:] = pc.fill_null(places, len(listed)).to_numpy()


def group_order(
    groups: Groups, order: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the groups in the order of their first items in `order`, and those first items."""
    return kernels.group_order(order, groups.group_of, len(groups))
