"""Why two items are similar, or are not: the score, its shingles, and the two texts aligned."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lookalike.data import Sets
from lookalike.families import jaccard
from lookalike.kinds import text

if TYPE_CHECKING:
    from fractions import Fraction

    import pyarrow as pa

    from lookalike.config import Shingling

SHOWN = 5
MOST_WORDS = 3000  # aligning takes quadratic time at worst


@dataclass(frozen=True)
class Stretch:
    """Consecutive words that both texts have, or that stand at one place of one of them."""

    kind: Literal["both", "left", "right"]
    words: list[str]


@dataclass(frozen=True)
class Explanation:
    """The similarity of two items and the shingles behind it, in reading order.

    `alignment` has the two texts, word by word; `bands` the numbers of the bands in which the two
    met, if they come from a run.
    """

    left: Any
    right: Any
    similarity: float
    shingling: Shingling
    shared: list[str]
    only_left: list[str]
    only_right: list[str]
    alignment: list[Stretch]
    threshold: Fraction | None = None
    chance: float | None = None
    reported: bool | None = None
    bands: tuple[int, ...] = ()

    def __str__(self) -> str:
        return "\n".join([self.headline(), *self.verdict(), *self.shingles()])

    def headline(self) -> str:
        """Return the score in one line."""
        union = len(self.shared) + len(self.only_left) + len(self.only_right)
        return (
            f"{self.left} ~ {self.right}: similarity {self.similarity:.6g}"
            f" = {len(self.shared)} shared of {union} shingles ({self.shingling})"
        )

    def verdict(self) -> list[str]:
        """Return whether a run has reported the pair, and why."""
        if self.threshold is None or self.chance is None:
            return []
        if self.similarity < float(self.threshold):
            return [f"  below the threshold of {float(self.threshold):g}, so not reported"]
        outcome = "reported" if self.reported else "missed"
        lines = [f"  {outcome}: the plan finds such a pair with probability {self.chance:.4f}"]
        if self.bands:
            lines.append(f"  they met in band {', '.join(str(band + 1) for band in self.bands)}")
        return lines

    def shingles(self) -> list[str]:
        """Return the first few shingles that both have and that only one of them has."""
        lines = []
        for title, shingles in (
            ("shared", self.shared),
            (f"only in {self.left}", self.only_left),
            (f"only in {self.right}", self.only_right),
        ):
            lines += [f"  {title} ({len(shingles):,}):", *(f"    {s}" for s in shingles[:SHOWN])]
            if len(shingles) > SHOWN:
                lines.append(f"    … and {len(shingles) - SHOWN:,} more")
        return lines


def explain(
    pair: pa.Array, shingling: Shingling, names: tuple[Any, Any] = ("left", "right")
) -> Explanation:
    """Explain the similarity of two contents."""
    contents = [_plain(each) for each in pair]
    a, b = (_shingles(each, shingling) for each in contents)
    space = " " if shingling.unit != "chars" else ""
    return Explanation(
        left=names[0],
        right=names[1],
        similarity=similarity(pair, shingling),
        shingling=shingling,
        shared=_joined(a & b, space),
        only_left=_joined(a - b, space),
        only_right=_joined(b - a, space),
        alignment=align(*(_words(each) for each in contents)),
    )


def similarity(pair: pa.Array, shingling: Shingling) -> float:
    """Return the exact similarity of two contents; 0 if one is empty."""
    sets = Sets.of(*text.shingle(pair, shingling))
    left, right = np.zeros(1, np.int32), np.ones(1, np.int32)
    return 0.0 if sets.empty_items else float(jaccard.measure(sets, left, right)[0])


def align(left: list[str], right: list[str]) -> list[Stretch]:
    """Align two texts word by word; case does not matter, and very long texts are cut.

    >>> [(part.kind, part.words) for part in align("a b c".split(), "A x c".split())]
    [('both', ['a']), ('left', ['b']), ('right', ['x']), ('both', ['c'])]
    """
    left, right = left[:MOST_WORDS], right[:MOST_WORDS]
    matcher = SequenceMatcher(
        None, [w.casefold() for w in left], [w.casefold() for w in right], autojunk=False
    )
    stretches: list[Stretch] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            stretches.append(Stretch("both", left[a:b]))
            continue
        if a < b:
            stretches.append(Stretch("left", left[a:b]))
        if c < d:
            stretches.append(Stretch("right", right[c:d]))
    return stretches


def _plain(content: pa.Scalar) -> bytes | list[str]:
    value = content.as_py()
    if isinstance(value, list):
        return [(token or b"").decode(errors="replace") for token in value]
    return value or b""


def _words(content: bytes | list[str]) -> list[str]:
    return content if isinstance(content, list) else content.decode(errors="replace").split()


def _shingles(content: bytes | list[str], shingling: Shingling) -> Counter[tuple[str, ...]]:
    tokens, k = text.tokens(content, shingling), shingling.k
    windows = [tuple(tokens[at : at + k]) for at in range(max(len(tokens) - k, 0) + 1)]
    counted = Counter(windows if tokens else [])
    return counted if shingling.bag else Counter(counted.keys())


def _joined(shingles: Counter[tuple[str, ...]], space: str) -> list[str]:
    return [space.join(shingle) for shingle in shingles.elements()]
