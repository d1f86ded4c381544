"""Items by the names their users gave them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lookalike.errors import UsageError


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
