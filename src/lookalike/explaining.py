"""Why two items are similar, or are not: the score, and the shingles that make it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.config import Resources
from lookalike.data import Candidates, Groups
from lookalike.families import jaccard
from lookalike.kinds import text

if TYPE_CHECKING:
    import pyarrow as pa

    from lookalike.config import Shingling

SHOWN = 5
ANY = Fraction(1, 10**18)  # below every similarity that is not 0


@dataclass(frozen=True)
class Explanation:
    """The similarity of two items and the shingles behind it, in reading order."""

    left: Any
    right: Any
    similarity: float
    shingling: Shingling
    shared: list[str]
    only_left: list[str]
    only_right: list[str]
    threshold: Fraction | None = None
    chance: float | None = None
    reported: bool | None = None

    def __str__(self) -> str:
        union = len(self.shared) + len(self.only_left) + len(self.only_right)
        lines = [
            f"{self.left} ~ {self.right}: similarity {self.similarity:.6g}"
            f" = {len(self.shared)} shared of {union} shingles ({self.shingling})"
        ]
        lines += self._verdict()
        for title, shingles in (
            ("shared", self.shared),
            (f"only in {self.left}", self.only_left),
            (f"only in {self.right}", self.only_right),
        ):
            lines += [f"  {title} ({len(shingles):,}):", *(f"    {s}" for s in shingles[:SHOWN])]
            if len(shingles) > SHOWN:
                lines.append(f"    … and {len(shingles) - SHOWN:,} more")
        return "\n".join(lines)

    def _verdict(self) -> list[str]:
        if self.threshold is None or self.chance is None:
            return []
        if self.similarity < float(self.threshold):
            return [f"  below the threshold of {float(self.threshold):g}, so not reported"]
        outcome = "reported" if self.reported else "missed"
        return [f"  {outcome}: the plan finds such a pair with probability {self.chance:.4f}"]


def explain(
    pair: pa.ChunkedArray, shingling: Shingling, names: tuple[Any, Any] = ("left", "right")
) -> Explanation:
    """Explain the similarity of two contents."""
    a, b = (_shingles(_plain(each), shingling) for each in pair)
    show = " " if shingling.unit != "chars" else ""
    return Explanation(
        left=names[0],
        right=names[1],
        similarity=similarity(pair, shingling),
        shingling=shingling,
        shared=_joined(a & b, show),
        only_left=_joined(a - b, show),
        only_right=_joined(b - a, show),
    )


def similarity(pair: pa.ChunkedArray, shingling: Shingling) -> float:
    """Return the exact similarity of two contents; 0 if one is empty."""
    sets = text.shingle(pair, shingling, Resources(threads=1))
    if sets.empty.any():
        return 0.0
    both = np.arange(2, dtype=np.int32)
    groups = Groups(both, both, np.zeros(2, np.uint64))
    candidate = Candidates(both[:1], both[1:])
    found = jaccard.verify(sets, groups, candidate, threshold=ANY)
    return float(found.similarity[0]) if len(found) else 0.0


def _plain(content: pa.Scalar) -> bytes | list[str]:
    value = content.as_py()
    if isinstance(value, list):
        return [(token or b"").decode(errors="replace") for token in value]
    return value or b""


def _shingles(content: bytes | list[str], shingling: Shingling) -> Counter[tuple[str, ...]]:
    tokens, k = text.tokens(content, shingling), shingling.k
    windows = [tuple(tokens[at : at + k]) for at in range(max(len(tokens) - k, 0) + 1)]
    counted = Counter(windows if tokens else [])
    return counted if shingling.bag else Counter(counted.keys())


def _joined(shingles: Counter[tuple[str, ...]], space: str) -> list[str]:
    return [space.join(shingle) for shingle in shingles.elements()]
