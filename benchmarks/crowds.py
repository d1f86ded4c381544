"""Hostile collections beside harmless ones of the same size: boilerplate, near-copies, copies.

    python benchmarks/crowds.py [ITEMS]

Texts of 104 words, threshold 0.8. The last column compares with unrelated texts in the same run; it
should stay below 3. In the collections with boilerplate 1,000 true pairs are planted, and how many
of them were found is shown.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pyarrow as pa

import lookalike as la

SHINGLES = 100
PLANTED = 1000


def unrelated(n: int) -> list[str]:
    words = np.random.default_rng(1).integers(0, 10**9, (n, SHINGLES + 4))
    return [" ".join(map(str, row)) for row in words.tolist()]


def boilerplate(n: int, similarity: float) -> list[str]:
    """Return texts of which any two share just less than `similarity`, with pairs planted."""
    shared = int(2 * SHINGLES * similarity / (1 + similarity))
    head = " ".join(f"b{word}" for word in range(shared + 4))
    tails = np.random.default_rng(2).integers(0, 10**9, (n, SHINGLES - shared)).tolist()
    for at in range(0, 2 * PLANTED, 2):
        tails[at + 1] = [*tails[at][:-1], "changed"]
    return [f"{head} {' '.join(map(str, tail))}" for tail in tails]


def near_copies(n: int) -> list[str]:
    words = [f"w{at}" for at in range(SHINGLES + 4)]
    places = np.random.default_rng(3).integers(0, len(words), n).tolist()
    return [" ".join([*words[:p], f"x{at}", *words[p + 1 :]]) for at, p in enumerate(places)]


def seconds(texts: list[str]) -> tuple[float, float, la.Clusters]:
    table = pa.table({"text": texts})
    start = time.perf_counter()
    clusters = la.cluster(table, threshold=0.8)
    middle = time.perf_counter()
    la.dedup(table, threshold=0.8)
    return middle - start, time.perf_counter() - middle, clusters


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    print(f"{n:,} texts of {SHINGLES + 4} words; identical ones: {5 * n:,}")
    base = seconds(unrelated(n))
    print(f"{'collection':<18}{'cluster':>9}{'dedup':>9}{'times':>8}  planted")
    print(f"{'unrelated':<18}{base[0]:>8.2f}s{base[1]:>8.2f}s{1:>8.1f}")
    cases = {f"boilerplate {s}": boilerplate(n, s) for s in (0.5, 0.7, 0.79)}
    for name, texts in {**cases, "near-copies": near_copies(n)}.items():
        cluster, dedup, clusters = seconds(texts)
        worst = max(cluster / base[0], dedup / base[1])
        pairs = range(0, 2 * PLANTED, 2)
        found = sum(bool(clusters.labels[at] == clusters.labels[at + 1]) for at in pairs)
        planted = f"{found} of {PLANTED}" if name in cases else ""
        print(f"{name:<18}{cluster:>8.2f}s{dedup:>8.2f}s{worst:>8.1f}  {planted}")
    same = unrelated(1) * (5 * n)
    many = seconds(unrelated(5 * n))
    cluster, dedup, _ = seconds(same)
    worst = max(cluster / many[0], dedup / many[1])
    print(f"{'identical':<18}{cluster:>8.2f}s{dedup:>8.2f}s{worst:>8.1f}")


if __name__ == "__main__":
    main()
