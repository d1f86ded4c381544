"""Items by the names their users gave them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from lookalike.errors import UsageError

if TYPE_CHECKING:
    from lookalike.data import Source

BATCH = 8 << 20


def ids_of(source: Source) -> pa.ChunkedArray:
    """Return the ids of a source's items, which are row numbers where it names none."""
    batches = [(batch.ids, len(batch.contents)) for batch in source.batches(BATCH)]
    if not batches or batches[0][0] is None:
        return pa.chunked_array([pa.array(range(sum(count for _, count in batches)), pa.int64())])
    return pa.chunked_array([ids for ids, _ in batches])


def position(ids: pa.ChunkedArray, id: Any) -> int:
    """Return the position of the item with an id; an id typed as text fits numbers too."""
    kind = ids.type
    try:
        wanted = pa.scalar(id, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        try:
            wanted = pa.scalar(str(id), pa.string()).cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise UsageError(f"the id {id!r} is no {kind}, as the ids of the input are") from None
    found: int = pc.index(ids, wanted).as_py()
    if found < 0:
        example = ids[0].as_py() if len(ids) else None
        raise UsageError(f"no item has the id {id!r} (the first one's is {example!r})")
    return found
