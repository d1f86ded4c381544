"""Tables that are made some rows at a time, so that they can be larger than memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ROWS_PER_PART = 1 << 15  # fewer than are looked at elsewhere: ids may have hundreds of bytes each


@dataclass(frozen=True)
class Rows:
    """The rows of a table: how many there are, their columns, and how some of them are made."""

    count: int
    kinds: Mapping[str, pa.DataType]
    part: Callable[[int, int], Mapping[str, pa.Array]]

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        return pa.schema(dict(self.kinds))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows, some at a time."""
        for first in range(0, self.count, ROWS_PER_PART):
            part = self.part(first, min(first + ROWS_PER_PART, self.count))
            columns = [pa.array(part[name], kind) for name, kind in self.kinds.items()]
            yield pa.record_batch(columns, schema=self.schema)

    def table(self) -> pa.Table:
        """Return all rows at once."""
        return pa.Table.from_batches(self.batches(), self.schema).combine_chunks()
