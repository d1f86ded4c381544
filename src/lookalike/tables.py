"""Tables that are made some rows at a time, so that they can be larger than memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from lookalike.data import chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


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
        for first, last in chunks(self.count):
            part = self.part(first, last)
            columns = [pa.array(part[name], kind) for name, kind in self.kinds.items()]
            yield pa.record_batch(columns, schema=self.schema)

    def table(self) -> pa.Table:
        """Return all rows at once."""
        return pa.Table.from_batches(self.batches(), self.schema).combine_chunks()
