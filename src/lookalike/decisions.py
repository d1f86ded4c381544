"""What is to be done with the items: which belong together, which stay, which go and why."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.naming import position

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
        return int((self.counts > 1).sum())

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The size of the cluster that each item is the label of."""
        return np.bincount(self.labels, minlength=len(self.labels)).astype(np.int64)

    @cached_property
    def table(self) -> pa.Table:
        """One row for each item: id, cluster (the id of its label) and size."""
        items = np.arange(len(self.labels), dtype=np.int32)
        return pa.table(
            {
                "id": self.corpus.names(items).combine_chunks(),
                "cluster": self.corpus.names(self.labels).combine_chunks(),
                "size": self.counts[self.labels],
            }
        )

    def summary(self) -> str:
        """Return the clusters in numbers, to be read by a person."""
        clustered = self.counts[self.counts > 1]
        largest = ", ".join(f"{size:,}" for size in np.sort(clustered)[::-1][:5].tolist())
        rows = [
            ("clusters", f"{len(self):,} of more than one item ({self.mode})"),
            ("items in them", f"{int(clustered.sum()):,} of {len(self.labels):,}"),
            ("largest", largest or "none"),
        ]
        return "\n".join(f"{name:<16}  {value}" for name, value in rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the clusters in numbers, ready for JSON."""
        clustered = self.counts[self.counts > 1]
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
        return self.corpus.ids.filter(pa.array(self.stays))

    @cached_property
    def removed(self) -> pa.Table:
        """The manifest: id, witness, similarity and reason of each item that goes."""
        gone = np.flatnonzero(~self.stays).astype(np.int32)
        witnesses = self.witnesses[gone]
        protected = witnesses >= len(self.corpus.ids)
        reason = np.where(self.similarities[gone] == 1, EXACT, NEAR).astype(object)
        whose = "an item of the other collection" if self.corpus.across else "a protected item"
        reason[protected] = reason[protected] + f" of {whose}"
        return pa.table(
            {
                "id": self.corpus.names(gone).combine_chunks(),
                "witness": self.corpus.names(witnesses).combine_chunks(),
                "similarity": self.similarities[gone],
                "reason": pa.array(reason.tolist(), pa.string()),
            }
        )

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
        gone = ~self.stays
        exact = int((self.similarities[: len(gone)][gone] == 1).sum())
        rows = [
            ("kept", f"{int(self.stays.sum()):,} of {len(gone):,} items ({self.policy})"),
            ("removed", f"{int(gone.sum()):,}, of which {exact:,} are exact copies"),
        ]
        return "\n".join(f"{name:<16}  {value}" for name, value in rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the decisions in numbers, ready for JSON."""
        gone = ~self.stays
        exact = int((self.similarities[: len(gone)][gone] == 1).sum())
        return {
            "keep": str(self.policy),
            "kept": int(self.stays.sum()),
            "removed": int(gone.sum()),
            "removed_exact_copies": exact,
        }
