"""What is to be done with the items: which belong together, which stay, which go and why."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.data import chunks, empty, kept
from lookalike.naming import position
from lookalike.tables import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.config import Keep
    from lookalike.data import Corpus, Recall

EXACT, NEAR = "exact copy", "near-duplicate"


@dataclass(frozen=True, repr=False)
class Clusters:
    """Which items belong together: each is labelled with one item of its cluster.

    >>> import lookalike as la
    >>> la.cluster(["a b c", "A b c!", "x y z"], threshold=0.5).table.to_pylist()[:2]
    [{'id': 0, 'cluster': 0, 'size': 2}, {'id': 1, 'cluster': 0, 'size': 2}]
    """

    corpus: Corpus
    labels: NDArray[np.int32]
    mode: str
    recall: Recall

    def __repr__(self) -> str:
        return f"<lookalike.Clusters: {len(self):,} clusters of more than one item ({self.mode})>"

    def __len__(self) -> int:
        return len(self._sizes)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The size of the cluster that each item is the label of."""
        counts = empty(len(self.labels), np.int64)
        for a, b in chunks(len(self.labels)):
            np.add.at(counts, self.labels[a:b], 1)
        return counts

    @property
    def rows(self) -> Rows:
        """The rows of `table`, to be made some at a time."""
        kind = self.corpus.kind_of_names(self.labels)

        def part(a: int, b: int) -> dict[str, Any]:
            items, labels = np.arange(a, b, dtype=np.int32), self.labels[a:b]
            return {
                "id": self.corpus.names(items, kind),
                "cluster": self.corpus.names(labels, kind),
                "size": self.counts[labels],
            }

        return Rows(len(self.labels), {"id": kind, "cluster": kind, "size": pa.int64()}, part)

    @cached_property
    def table(self) -> pa.Table:
        """One row for each item: id, cluster (the id of its label) and size."""
        return self.rows.table()

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        """The sizes of the clusters of more than one item."""
        counts = (self.counts[a:b] for a, b in chunks(len(self.counts)))
        return np.concatenate([np.empty(0, np.int64), *(part[part > 1] for part in counts)])

    def summary(self) -> str:
        """Return the clusters in numbers, to be read by a person."""
        clustered = self._sizes
        largest = ", ".join(f"{size:,}" for size in np.sort(clustered)[::-1][:5].tolist())
        rows = [
            ("clusters", f"{len(self):,} of more than one item ({self.mode})"),
            ("items in them", f"{int(clustered.sum()):,} of {len(self.labels):,}"),
            ("largest", largest or "none"),
        ]
        return "\n".join(f"{name:<16}  {value}" for name, value in rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the clusters in numbers, ready for JSON."""
        clustered = self._sizes
        return {
            "mode": self.mode,
            "clusters": len(self),
            "items_in_clusters": int(clustered.sum()),
            "largest_cluster": int(clustered.max(initial=0)),
        }


@dataclass(frozen=True, repr=False)
class Decisions:
    """Which items stay and which go; each that goes has a witness among those that stay.

    >>> import lookalike as la
    >>> decisions = la.dedup(["a b c", "A b c!", "x y z"], threshold=0.5)
    >>> decisions.kept.to_pylist()
    [0, 2]
    >>> decisions.removed.to_pylist()
    [{'id': 1, 'witness': 0, 'similarity': 1.0, 'reason': 'exact copy'}]
    """

    corpus: Corpus
    witnesses: NDArray[np.int32]
    similarities: NDArray[np.float64]
    policy: Keep
    recall: Recall

    def __repr__(self) -> str:
        count = int(self.stays.sum())
        return f"<lookalike.Decisions: {count:,} kept, {len(self.stays) - count:,} removed>"

    @cached_property
    def stays(self) -> NDArray[np.bool_]:
        """For each item of the input, in its order, whether it stays."""
        return self.witnesses[: len(self.corpus.ids)] < 0

    @cached_property
    def kept(self) -> pa.ChunkedArray:
        """The ids of the items that stay, in input order."""
        return pa.chunked_array([self.corpus.names(np.flatnonzero(self.stays).astype(np.int32))])

    @property
    def rows(self) -> Rows:
        """The rows of `removed`, to be made some at a time."""
        corpus, gone = self.corpus, np.flatnonzero(~self.stays).astype(np.int32)
        witnesses = kept(self.witnesses[gone])
        kinds = {
            "id": corpus.kind_of_names(gone),
            "witness": corpus.kind_of_names(witnesses),
            "similarity": pa.float64(),
            "reason": pa.string(),
        }

        def part(a: int, b: int) -> dict[str, Any]:
            similarity = self.similarities[gone[a:b]]
            return {
                "id": corpus.names(gone[a:b], kinds["id"]),
                "witness": corpus.names(witnesses[a:b], kinds["witness"]),
                "similarity": similarity,
                "reason": self._reasons(similarity, witnesses[a:b]),
            }

        return Rows(len(gone), kinds, part)

    def _reasons(self, similarities: NDArray[np.float64], witnesses: NDArray[np.int32]) -> pa.Array:
        whose = "an item of the other collection" if self.corpus.across else "a protected item"
        words = [f"{kind}{of}" for of in ("", f" of {whose}") for kind in (EXACT, NEAR)]
        which = (similarities < 1) + 2 * (witnesses >= len(self.corpus.ids))
        return pa.array(words, pa.string()).take(pa.array(which))

    @cached_property
    def removed(self) -> pa.Table:
        """The manifest: id, witness, similarity and reason of each item that goes."""
        return self.rows.table()

    def why(self, id: Any) -> str:
        """Say why an item stays or goes."""
        at = position(self.corpus.ids, id)
        if self.witnesses[at] < 0:
            other = "of the other collection" if self.corpus.across else "that is kept before it"
            return f"{id} is kept: no item {other} is similar to it"
        witness = self.corpus.names(self.witnesses[at : at + 1])[0].as_py()
        similar = self.similarities[at]
        kind = f"an {EXACT}" if similar == 1 else f"similar ({similar:.6g})"
        chosen = f"which is kept and comes first by the policy {self.policy}"
        if self.witnesses[at] >= len(self.corpus.ids):
            chosen = "of the other collection" if self.corpus.across else "which is protected"
        return f"{id} is removed: it is {kind} to {witness}, {chosen}"

    def summary(self) -> str:
        """Return the decisions in numbers, to be read by a person."""
        total, kept = len(self.stays), int(self.stays.sum())
        rows = [
            ("kept", f"{kept:,} of {total:,} items ({self.policy})"),
            ("removed", f"{total - kept:,}, of which {self._exact_copies:,} are exact copies"),
        ]
        return "\n".join(f"{name:<16}  {value}" for name, value in rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the decisions in numbers, ready for JSON."""
        kept = int(self.stays.sum())
        return {
            "keep": str(self.policy),
            "kept": kept,
            "removed": len(self.stays) - kept,
            "removed_exact_copies": self._exact_copies,
        }

    @property
    def _exact_copies(self) -> int:
        first = len(self.corpus.ids)  # what stays has no similarity
        return sum(int((self.similarities[a:b] == 1).sum()) for a, b in chunks(first))
