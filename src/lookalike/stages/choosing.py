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
from lookalike.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.config import Keep
    from lookalike.data import Corpus, Groups


def keep_order(corpus: Corpus, keep: Keep) -> NDArray[np.int32]:
    """Return all items in the order in which they are considered."""
    first = len(corpus.ids)
    others = np.arange(first, len(corpus), dtype=np.int32)
    return np.concatenate([others, kernels.order_by(_ranks(corpus, keep))])


def _ranks(corpus: Corpus, keep: Keep) -> NDArray[np.int64]:
    """Return a number for each item of the first collection; smaller ones are kept rather."""
    first = len(corpus.ids)
    if keep.policy in {"longest", "shortest"}:
        lengths = _lengths(corpus.contents.slice(0, first))
        return -lengths if keep.policy == "longest" else lengths
    if keep.column is None:
        return np.zeros(first, dtype=np.int64)
    if corpus.column is None:
        raise UsageError(f"there is no column {keep.column!r} to choose by in this input")
    values = corpus.column(keep.column)
    if keep.policy == "source":
        return _source_ranks(values, keep.values)
    direction = "descending" if keep.policy == "max" else "ascending"
    try:
        ranks = pc.rank(values, sort_keys=direction, tiebreaker="dense")  # nulls come last
    except pa.ArrowNotImplementedError:
        raise UsageError(
            f"the column {keep.column!r} has no order to choose by: it is {values.type}"
        ) from None
    return np.asarray(ranks.to_numpy(), dtype=np.int64)


def _lengths(contents: pa.ChunkedArray) -> NDArray[np.int64]:
    is_text = pa.types.is_large_binary(contents.type)
    lengths = pc.binary_length(contents) if is_text else pc.list_value_length(contents)
    return np.asarray(pc.fill_null(lengths, 0).to_numpy(), dtype=np.int64)


def _source_ranks(values: pa.ChunkedArray, listed: tuple[str, ...]) -> NDArray[np.int64]:
    try:
        names = values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise UsageError(f"a source is named by a plain value, not by {values.type}") from None
    places = pc.index_in(names, value_set=pa.array(listed, pa.string()))
    return np.asarray(pc.fill_null(places, len(listed)).to_numpy(), dtype=np.int64)


def group_order(
    groups: Groups, order: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the groups in the order of their first items in `order`, and those first items."""
    return kernels.group_order(order, groups.group_of, len(groups))
