"""Near-duplicates the way lectures teach them: shingling, min-hashing, banding, checking.

This module is for reading and for testing against. It is slow on purpose: every idea is one short
function over Python's own sets, tuples and fractions, so that a reader can check it by eye and a
test can use it as the oracle for faster code. Similarities are exact (`fractions.Fraction`).

Theory of operation
-------------------
1. *Shingling.* A document becomes the set of all runs of k consecutive tokens in it. Two documents
   are as similar as their sets: what they share, divided by what they have together (Jaccard).
2. *Min-hashing.* Write the sets as the columns of a 0/1 matrix and shuffle its rows. The first row
   in which a column has a 1 is its min-hash. Going down the shuffled rows, the first one in which
   either of two columns has a 1 is equally likely to be any of them, so the two min-hashes are
   equal with a probability that *is* the Jaccard similarity. Several shuffles give a signature, and
   the share of its places in which two signatures agree estimates the similarity. A hash of the
   row number stands in for the shuffle, and one pass over the rows is enough.
3. *Banding.* Cut the signatures into b bands of r rows. Items that are equal in all the rows of
   some band meet in a bucket and become a candidate pair. With similarity s this happens with
   probability 1 − (1 − s^r)^b: an AND over the rows of a band, then an OR over the bands.
4. *Checking.* Candidates that are not similar (false positives) go when the sets themselves are
   compared. Similar pairs that never met in a bucket (false negatives) stay lost.

Reading order
-------------
From top to bottom; each part uses only the parts above it: shingles, similarity, Boolean matrix,
min-hashing by permutation, min-hashing by row hashing, signatures, bands, the S-curve, cost, and
the whole pipeline in one function at the end.

Vocabulary
----------
item         what is compared; known by its position, counted from 0
shingle      k consecutive tokens (characters or words) of a text
similarity   Jaccard similarity of two sets, 0 to 1; the distance is 1 minus it
row          of the Boolean matrix: one shingle; of the signature matrix: one hash function
column       of either matrix: one item
permutation  for each row, top to bottom, its place (from 1) in the shuffled order
signature    an item's column of the signature matrix
band         r consecutive rows of the signature matrix
bucket       the items that agree in one band
pair         two items (i, j) with i < j
candidate    a pair that shares a bucket in at least one band

Empty items: a set without elements has similarity 0 to everything, empty sets included, and its
min-hash is ∞, which agrees with nothing. So an empty item is never a member of a pair.
"""

from __future__ import annotations

import math
import random
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, groupby, permutations
from typing import TypeVar

INFINITY = math.inf

T = TypeVar("T")
Element = TypeVar("Element", bound=Hashable)
Number = TypeVar("Number", float, Fraction)

Threshold = Fraction | float | str
Pair = tuple[int, int]
Column = Sequence[int]
Matrix = Sequence[Sequence[int]]
Permutation = Sequence[int]
RowHash = Callable[[int], int]
NumberedRow = tuple[int, Collection[int]]
Signature = tuple[float, ...]
SignatureMatrix = tuple[Signature, ...]


# --- Shingles -----------------------------------------------------------------------------------


def slide_window(tokens: Sequence[T], *, k: int) -> list[tuple[T, ...]]:
    """List the runs of k consecutive tokens, in order.

    Fewer than k tokens form one shorter run. By the letter of the definition they would form none,
    and a short document would not even be similar to its own copy.

    >>> slide_window("abcab", k=4)
    [('a', 'b', 'c', 'a'), ('b', 'c', 'a', 'b')]
    >>> slide_window("ab", k=4)
    [('a', 'b')]
    """
    if k < 1:
        raise ValueError(f"k is {k}; a shingle has at least 1 token")
    if len(tokens) < k:
        return [tuple(tokens)] if tokens else []
    return [tuple(tokens[start : start + k]) for start in range(len(tokens) - k + 1)]


def shingle_characters(text: str, *, k: int) -> set[str]:
    """Turn a text into its set of k-character shingles.

    >>> sorted(shingle_characters("abcab", k=2))
    ['ab', 'bc', 'ca']
    """
    return set(count_characters(text, k=k))


def shingle_words(text: str, *, k: int) -> set[tuple[str, ...]]:
    """Turn a text into its set of k-word shingles.

    >>> sorted(shingle_words("to be or not to be", k=2))
    [('be', 'or'), ('not', 'to'), ('or', 'not'), ('to', 'be')]
    """
    return set(count_words(text, k=k))


def count_characters(text: str, *, k: int) -> Counter[str]:
    """Turn a text into its bag of k-character shingles: each with how often it occurs.

    >>> count_characters("abcab", k=2)
    Counter({'ab': 2, 'bc': 1, 'ca': 1})
    """
    return Counter("".join(window) for window in slide_window(text, k=k))


def count_words(text: str, *, k: int) -> Counter[tuple[str, ...]]:
    """Turn a text into its bag of k-word shingles.

    >>> count_words("to be or not to be", k=2)[("to", "be")]
    2
    """
    return Counter(slide_window(text.split(), k=k))


def number_occurrences(bag: Mapping[Element, int]) -> set[tuple[Element, int]]:
    """Turn a bag into a set: the i-th occurrence of x becomes the element (x, i).

    >>> sorted(number_occurrences({"ab": 2, "bc": 1}))
    [('ab', 1), ('ab', 2), ('bc', 1)]
    """
    return {(element, i) for element, count in bag.items() for i in range(1, count + 1)}


def hash_to_four_bytes(shingle: str) -> int:
    """Hash a shingle to an integer below 2^32, the same on every machine.

    >>> hash_to_four_bytes("ab")
    2659403885
    """
    return zlib.crc32(shingle.encode())


def hash_shingles(
    shingles: Iterable[str], *, function: Callable[[str], int] = hash_to_four_bytes
) -> set[int]:
    """Replace shingles by integers; two shingles with one hash become one element.

    >>> sorted(hash_shingles({"ab", "bc", "ca"}, function=len))
    [2]
    """
    return {function(shingle) for shingle in shingles}


# --- Similarity ---------------------------------------------------------------------------------


def jaccard_similarity(left: AbstractSet[Element], right: AbstractSet[Element]) -> Fraction:
    """Divide the size of the intersection by the size of the union.

    >>> jaccard_similarity({1, 2, 3}, {2, 3, 4})
    Fraction(1, 2)
    """
    return divide(len(left & right), len(left | right))


def jaccard_distance(left: AbstractSet[Element], right: AbstractSet[Element]) -> Fraction:
    """Subtract the similarity from 1.

    >>> jaccard_distance({1, 2, 3}, {2, 3, 4, 5})
    Fraction(3, 5)
    """
    return 1 - jaccard_similarity(left, right)


def bag_similarity(left: Mapping[Element, int], right: Mapping[Element, int]) -> Fraction:
    """Divide the sum of the smaller counts by the sum of the larger counts.

    >>> bag_similarity(count_characters("abcab", k=2), count_characters("abc", k=2))
    Fraction(1, 2)
    """
    both, either = Counter(left) & Counter(right), Counter(left) | Counter(right)
    return divide(both.total(), either.total())


def divide(part: int, whole: int) -> Fraction:
    """Divide exactly; nothing out of nothing is 0, so that empty items match nothing.

    >>> divide(3, 6), divide(0, 0)
    (Fraction(1, 2), Fraction(0, 1))
    """
    return Fraction(part, whole) if whole else Fraction(0)


def list_pairs(items: Iterable[T]) -> list[tuple[T, T]]:
    """List every pair of items once.

    >>> list_pairs("abc")
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    return list(combinations(items, 2))


def read_threshold(threshold: Threshold) -> Fraction:
    """Read a threshold as the decimal number that was written, not as its nearest float.

    >>> read_threshold(0.8), read_threshold("2/3")
    (Fraction(4, 5), Fraction(2, 3))
    """
    exact = Fraction(str(threshold))
    if not 0 < exact <= 1:
        raise ValueError(f"threshold is {threshold}; give a similarity above 0 and at most 1")
    return exact


def brute_force_pairs(
    sets: Sequence[AbstractSet[Element]], threshold: Threshold
) -> dict[Pair, Fraction]:
    """Compare every pair of sets; keep those at or above the threshold, with their similarity.

    >>> brute_force_pairs([{1, 2, 3, 4}, {1, 2, 3, 4, 5}, {5, 6}], 0.8)
    {(0, 1): Fraction(4, 5)}
    """
    return check_pairs(list_pairs(range(len(sets))), sets, threshold)


def check_pairs(
    pairs: Iterable[Pair], sets: Sequence[AbstractSet[Element]], threshold: Threshold
) -> dict[Pair, Fraction]:
    """Compare the sets of the given pairs; keep those at or above the threshold.

    >>> check_pairs([(0, 2)], [{1, 2, 3, 4}, {1, 2, 3, 4, 5}, {5, 6}], 0.8)
    {}
    """
    least = read_threshold(threshold)
    measured = {(i, j): jaccard_similarity(sets[i], sets[j]) for i, j in sorted(pairs)}
    return {pair: similarity for pair, similarity in measured.items() if similarity >= least}


# --- Boolean matrix -----------------------------------------------------------------------------


def boolean_matrix(
    sets: Sequence[AbstractSet[Element]], *, elements: Iterable[Element]
) -> tuple[tuple[int, ...], ...]:
    """Write sets as columns: 1 in an element's row where the column's set has the element.

    >>> boolean_matrix([{"a", "d"}, {"c"}], elements="acd")
    ((1, 0), (0, 1), (1, 0))
    """
    return tuple(tuple(int(element in items) for items in sets) for element in elements)


def columns(matrix: Iterable[Sequence[T]]) -> tuple[tuple[T, ...], ...]:
    """List the columns of a matrix given as rows.

    >>> columns(((1, 0), (0, 1), (1, 0)))
    ((1, 0, 1), (0, 1, 0))
    """
    return tuple(zip(*matrix, strict=True))


def flatten(image: Iterable[Iterable[T]]) -> list[T]:
    """Write the pixels of an image one row after the other, as one vector.

    >>> flatten([[1, 2], [3, 4]])
    [1, 2, 3, 4]
    """
    return [pixel for line in image for pixel in line]


@dataclass(frozen=True)
class RowTypes:
    """How many rows of two columns read a: 1 1, b: 1 0, c: 0 1, d: 0 0."""

    a: int
    b: int
    c: int
    d: int


def count_row_types(left: Column, right: Column) -> RowTypes:
    """Count the four types of rows of two columns.

    >>> count_row_types((1, 1, 0, 0, 0), (1, 0, 1, 0, 0))
    RowTypes(a=1, b=1, c=1, d=2)
    """
    seen = Counter(zip(left, right, strict=True))
    return RowTypes(a=seen[1, 1], b=seen[1, 0], c=seen[0, 1], d=seen[0, 0])


def column_similarity(left: Column, right: Column) -> Fraction:
    """Compute the Jaccard similarity of two columns as a / (a + b + c); type d does not count.

    >>> column_similarity((1, 1, 0, 0, 0), (1, 0, 1, 0, 0))
    Fraction(1, 3)
    """
    rows = count_row_types(left, right)
    return divide(rows.a, rows.a + rows.b + rows.c)


def sample_rows(column: Column, *, rows: Iterable[int]) -> tuple[int, ...]:
    """Keep a column's bits in a few rows (from 1): the signature that does *not* work.

    Columns have few ones, so most samples are all zeros, and equal for columns with nothing shared.

    >>> sample_rows((1, 0, 0, 0, 0), rows=[2, 4]) == sample_rows((0, 0, 0, 0, 1), rows=[2, 4])
    True
    """
    return tuple(column[row - 1] for row in rows)


# --- Min-hashing by permutation -----------------------------------------------------------------


def minhash(column: Column, permutation: Permutation) -> float:
    """Find the place, in the permuted order, of the first row in which the column has a 1.

    >>> minhash((1, 0, 1), (3, 1, 2)), minhash((0, 0, 0), (3, 1, 2))
    (2, inf)
    """
    places = (place for place, bit in zip(permutation, column, strict=True) if bit)
    return min(places, default=INFINITY)


def minhash_row(column: Column, permutation: Permutation) -> float:
    """Find the same row as `minhash`, but give its original number (from 1).

    >>> minhash_row((1, 0, 1), (3, 1, 2)), minhash_row((0, 0, 0), (3, 1, 2))
    (3, inf)
    """
    ordered = (row for row in order_rows(permutation) if column[row - 1])
    return next(ordered, INFINITY)


def order_rows(permutation: Permutation) -> list[int]:
    """List the original row numbers (from 1) in the permuted order.

    >>> order_rows((3, 1, 2))
    [2, 3, 1]
    """
    return sorted(range(1, len(permutation) + 1), key=lambda row: permutation[row - 1])


def signature_matrix(
    matrix: Matrix,
    permutations: Iterable[Permutation],
    *,
    value: Callable[[Column, Permutation], float] = minhash,
) -> SignatureMatrix:
    """Min-hash every column with every permutation: one row per permutation, one column per item.

    >>> signature_matrix(((1, 0), (0, 1), (1, 1)), [(1, 2, 3), (3, 2, 1)])
    ((1, 2), (1, 1))
    """
    items = columns(matrix)
    return tuple(tuple(value(item, order) for item in items) for order in permutations)


def minhash_agreement(left: Column, right: Column) -> Fraction:
    """Count in how many of *all* permutations the min-hashes agree, as a share of them.

    >>> minhash_agreement((1, 1, 0, 0), (1, 0, 1, 0)) == column_similarity((1, 1, 0), (1, 0, 1))
    True
    """
    orders = list(permutations(range(1, len(left) + 1)))
    equal = sum(agree(minhash(left, order), minhash(right, order)) for order in orders)
    return Fraction(equal, len(orders))


def agree(left: float, right: float) -> bool:
    """Tell whether two min-hashes are equal; ∞ stands for no row at all and equals nothing.

    >>> agree(3, 3), agree(INFINITY, INFINITY)
    (True, False)
    """
    return left == right != INFINITY


# --- Min-hashing by row hashing -----------------------------------------------------------------


def universal_hash(a: int, b: int, *, prime: int, buckets: int) -> RowHash:
    """Make the hash function x ↦ ((a·x + b) mod prime) mod buckets.

    `prime` must be a prime number (not checked). Since a ≢ 0, different x below it do not collide
    before the second mod; they may after it, so the order is a permutation only approximately.

    >>> [universal_hash(2, 1, prime=13, buckets=5)(x) for x in range(1, 6)]
    [3, 0, 2, 4, 1]
    """
    if prime <= buckets:
        raise ValueError(f"prime is {prime}, buckets is {buckets}; take a larger prime")
    if a % prime == 0:
        raise ValueError(f"a is {a}, a multiple of the prime {prime}; all rows would hash alike")
    return lambda x: (a * x + b) % prime % buckets


def draw_hashes(
    count: int, *, seed: int, prime: int = 2**61 - 1, buckets: int = 2**32
) -> list[RowHash]:
    """Draw universal hash functions with random a and b.

    >>> [h(7) for h in draw_hashes(2, seed=1)] == [h(7) for h in draw_hashes(2, seed=1)]
    True
    """
    draw = random.Random(seed).randrange
    return [
        universal_hash(draw(1, prime), draw(prime), prime=prime, buckets=buckets)
        for _ in range(count)
    ]


def number_rows(matrix: Matrix, *, first: int) -> Iterator[NumberedRow]:
    """Give each row its number and the items that have a 1 in it.

    >>> list(number_rows(((1, 0, 1), (0, 1, 0)), first=1))
    [(1, [0, 2]), (2, [1])]
    """
    for row, bits in enumerate(matrix, start=first):
        yield row, [item for item, bit in enumerate(bits) if bit]


def sort_by_row(sets: Sequence[AbstractSet[int]]) -> Iterator[NumberedRow]:
    """Turn data stored item by item into rows: list all (row, item), sort once, group by row.

    >>> list(sort_by_row([{1, 5}, {5}]))
    [(1, [0]), (5, [0, 1])]
    """
    cells = sorted((row, item) for item, rows in enumerate(sets) for row in rows)
    for row, group in groupby(cells, key=lambda cell: cell[0]):
        yield row, [item for _, item in group]


def blank_signatures(*, hashes: int, items: int) -> list[list[float]]:
    """Make the slots for the min-hashes before any row is seen: ∞ everywhere.

    >>> blank_signatures(hashes=1, items=2)
    [[inf, inf]]
    """
    return [[INFINITY] * items for _ in range(hashes)]


def take_row(slots: list[list[float]], row: NumberedRow, hashes: Sequence[RowHash]) -> None:
    """Lower, in place, the slots of the items that have a 1 in this row.

    >>> slots = blank_signatures(hashes=1, items=2)
    >>> take_row(slots, (4, [1]), [lambda x: x % 3])
    >>> slots
    [[inf, 1]]
    """
    number, members = row
    for line, function in zip(slots, hashes, strict=True):
        value = function(number)  # once per row, not once per 1 in the row
        for item in members:
            line[item] = min(line[item], value)


def freeze(slots: Iterable[Iterable[float]]) -> SignatureMatrix:
    """Copy slots into a signature matrix.

    >>> freeze([[1, 2], [3, 4]])
    ((1, 2), (3, 4))
    """
    return tuple(tuple(line) for line in slots)


def trace_signatures(
    rows: Iterable[NumberedRow], hashes: Sequence[RowHash], *, items: int
) -> Iterator[SignatureMatrix]:
    """Scan the rows once and yield the signature matrix after each of them.

    >>> rows = number_rows(((1, 0), (1, 1)), first=1)
    >>> list(trace_signatures(rows, [lambda x: -x % 3], items=2))
    [((2, inf),), ((1, 1),)]
    """
    slots = blank_signatures(hashes=len(hashes), items=items)
    for row in rows:
        take_row(slots, row, hashes)
        yield freeze(slots)


def one_pass_signatures(
    rows: Iterable[NumberedRow], hashes: Sequence[RowHash], *, items: int
) -> SignatureMatrix:
    """Scan the rows once and give the signature matrix after the last of them.

    >>> one_pass_signatures(sort_by_row([{1, 2}, {2}]), [lambda x: -x % 3], items=2)
    ((1, 1),)
    """
    slots = blank_signatures(hashes=len(hashes), items=items)
    for row in rows:
        take_row(slots, row, hashes)
    return freeze(slots)


def sign(elements: Iterable[T], hashes: Iterable[Callable[[T], int]]) -> Signature:
    """Compute one set's signature without any matrix: hash all its elements, keep the least.

    >>> sign(["bb", "a", "ccc"], [len, lambda word: ord(word[0])])
    (1, 97)
    """
    members = list(elements)
    return tuple(min(map(function, members), default=INFINITY) for function in hashes)


# --- Signatures ---------------------------------------------------------------------------------


def signature_similarity(left: Signature, right: Signature) -> Fraction:
    """Compute the share of places in which two signatures agree.

    >>> signature_similarity((2, 2, 1), (2, 4, 1))
    Fraction(2, 3)
    """
    equal = sum(agree(x, y) for x, y in zip(left, right, strict=True))
    return divide(equal, len(left))


def similar_signatures(signatures: Sequence[Signature], threshold: Threshold) -> set[Pair]:
    """Compare every pair of signatures; keep those that agree in at least this share of places.

    >>> sorted(similar_signatures([(2, 2, 1), (2, 4, 1), (3, 4, 1)], "2/3"))
    [(0, 1), (1, 2)]
    """
    least = read_threshold(threshold)
    pairs = list_pairs(range(len(signatures)))
    return {(i, j) for i, j in pairs if signature_similarity(signatures[i], signatures[j]) >= least}


# --- Bands --------------------------------------------------------------------------------------


def split_into_bands(signature: Signature, *, bands: int, rows: int) -> list[Signature]:
    """Cut a signature into bands of equally many rows.

    >>> split_into_bands((2, 2, 1, 7), bands=2, rows=2)
    [(2, 2), (1, 7)]
    """
    if len(signature) != bands * rows:
        raise ValueError(
            f"signature has {len(signature)} rows; {bands} bands of {rows} need {bands * rows}"
        )
    return [signature[start : start + rows] for start in range(0, len(signature), rows)]


def choose_bucket(band: Signature, *, buckets: int | None) -> Hashable:
    """Give the bucket of one band: a hash of it, or the band itself if buckets are unlimited.

    With unlimited buckets, the same bucket means an identical band, as the analysis assumes.

    >>> choose_bucket((2, 1), buckets=None), choose_bucket((2, 1), buckets=1)
    ((2, 1), 0)
    """
    return band if buckets is None else zlib.crc32(repr(band).encode()) % buckets


def fill_buckets(
    signatures: Sequence[Signature], *, bands: int, rows: int, buckets: int | None = None
) -> list[dict[Hashable, list[int]]]:
    """Hash every band of every signature; each band has its own table of buckets.

    >>> fill_buckets([(2, 1), (2, 3)], bands=2, rows=1)
    [{(2,): [0, 1]}, {(1,): [0], (3,): [1]}]
    """
    tables: list[dict[Hashable, list[int]]] = [defaultdict(list) for _ in range(bands)]
    for item, signature in enumerate(signatures):
        pieces = split_into_bands(signature, bands=bands, rows=rows)
        for table, band in zip(tables, pieces, strict=True):
            if INFINITY not in band:
                table[choose_bucket(band, buckets=buckets)].append(item)
    return [dict(table) for table in tables]


def candidate_pairs(
    signatures: Sequence[Signature], *, bands: int, rows: int, buckets: int | None = None
) -> set[Pair]:
    """List the pairs that share a bucket in at least one band.

    >>> candidate_pairs([(2, 2, 1, 7), (2, 2, 5, 6), (3, 3, 5, 5)], bands=2, rows=2)
    {(0, 1)}
    """
    tables = fill_buckets(signatures, bands=bands, rows=rows, buckets=buckets)
    return {pair for table in tables for bucket in table.values() for pair in list_pairs(bucket)}


def false_positives(candidates: AbstractSet[Pair], similar: AbstractSet[Pair]) -> set[Pair]:
    """List the candidates that are not similar: work that the check throws away.

    >>> false_positives({(0, 1), (0, 2)}, {(0, 1), (1, 2)})
    {(0, 2)}
    """
    return set(candidates - similar)


def false_negatives(candidates: AbstractSet[Pair], similar: AbstractSet[Pair]) -> set[Pair]:
    """List the similar pairs that are not candidates: what is lost.

    >>> false_negatives({(0, 1), (0, 2)}, {(0, 1), (1, 2)})
    {(1, 2)}
    """
    return set(similar - candidates)


# --- The S-curve --------------------------------------------------------------------------------


def and_rows(probability: Number, *, rows: int) -> Number:
    """Compute the probability that all of r independent rows agree.

    >>> and_rows(0.5, rows=3)
    0.125
    """
    return probability**rows


def or_bands(probability: Number, *, bands: int) -> Number:
    """Compute the probability that at least one of b independent bands agrees.

    >>> or_bands(0.5, bands=3)
    0.875
    """
    return 1 - (1 - probability) ** bands


def s_curve(similarity: Number, *, bands: int, rows: int) -> Number:
    """Compute the probability 1 − (1 − s^r)^b that a pair of this similarity is a candidate.

    Exact for a `Fraction`; the false-negative probability is 1 minus the result.

    >>> round(s_curve(0.8, bands=20, rows=5), 4)
    0.9996
    >>> s_curve(Fraction(1, 2), bands=2, rows=1)
    Fraction(3, 4)
    """
    return or_bands(and_rows(similarity, rows=rows), bands=bands)


def estimate_threshold(*, bands: int, rows: int) -> float:
    """Estimate where the S-curve rises: (1/b)^(1/r), the point with 1 identical band expected.

    >>> estimate_threshold(bands=16, rows=4)
    0.5
    """
    return float((1 / bands) ** (1 / rows))


def halfway_similarity(*, bands: int, rows: int) -> float:
    """Compute the similarity at which a pair is a candidate with probability exactly ½.

    >>> round(s_curve(halfway_similarity(bands=20, rows=5), bands=20, rows=5), 12)
    0.5
    """
    return float((1 - 0.5 ** (1 / bands)) ** (1 / rows))


def false_positive_area(threshold: Threshold, *, bands: int, rows: int) -> Fraction:
    """Compute the area under the S-curve to the left of the threshold.

    >>> false_positive_area("1/2", bands=1, rows=1)
    Fraction(1, 8)
    """
    return integrate_s_curve(read_threshold(threshold), bands=bands, rows=rows)


def false_negative_area(threshold: Threshold, *, bands: int, rows: int) -> Fraction:
    """Compute the area above the S-curve to the right of the threshold.

    >>> false_negative_area("1/2", bands=1, rows=1)
    Fraction(1, 8)
    """
    start, whole = read_threshold(threshold), Fraction(1)
    under = integrate_s_curve(whole, bands=bands, rows=rows) - integrate_s_curve(
        start, bands=bands, rows=rows
    )
    return (whole - start) - under


def integrate_s_curve(end: Fraction, *, bands: int, rows: int) -> Fraction:
    """Integrate the S-curve from 0 to `end`, term by term of its binomial expansion.

    >>> integrate_s_curve(Fraction(1), bands=1, rows=3)
    Fraction(1, 4)
    """
    terms = (
        (-1) ** (j + 1) * math.comb(bands, j) * end ** (rows * j + 1) / (rows * j + 1)
        for j in range(1, bands + 1)
    )
    return sum(terms, start=Fraction(0))


# --- Cost ---------------------------------------------------------------------------------------


def count_pairs(items: int) -> int:
    """Count the pairs among so many items.

    >>> count_pairs(4)
    6
    """
    return items * (items - 1) // 2


def count_seconds(comparisons: int, *, per_second: int) -> Fraction:
    """Compute how long so many comparisons take.

    >>> count_seconds(10, per_second=4)
    Fraction(5, 2)
    """
    return Fraction(comparisons, per_second)


def count_signature_bytes(items: int, *, rows: int, integer_bytes: int = 4) -> int:
    """Compute the size of all signatures together.

    >>> count_signature_bytes(2, rows=100)
    800
    """
    return items * rows * integer_bytes


# --- The whole pipeline -------------------------------------------------------------------------


def find_pairs(
    texts: Sequence[str], threshold: Threshold, *, k: int, bands: int, rows: int, seed: int = 0
) -> dict[Pair, Fraction]:
    """Shingle, min-hash, band, check: similar pairs of texts, each with its exact similarity.

    All pairs reported are similar; a similar pair is missed with probability 1 − `s_curve`.

    >>> texts = ["the cat sat on the mat", "the cat sat on a mat", "colourless green ideas"]
    >>> find_pairs(texts, 0.5, k=3, bands=20, rows=2)
    {(0, 1): Fraction(7, 10)}
    """
    shingles = [shingle_characters(text, k=k) for text in texts]
    sets = [hash_shingles(items) for items in shingles]
    hashes = draw_hashes(bands * rows, seed=seed)
    signatures = columns(one_pass_signatures(sort_by_row(sets), hashes, items=len(sets)))
    return check_pairs(candidate_pairs(signatures, bands=bands, rows=rows), shingles, threshold)
