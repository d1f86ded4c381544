"""The specification of every kernel, in plain Python.

This module *is* the definition of the right answer: the native kernels (`native/*.cpp`) must return
the same arrays, bit for bit, for every input. It is written to be read, so it is naive on purpose:
one loop, one idea, no caches that matter. The order is that of the pipeline:

    normalise → tokenise → shingle → (number occurrences) → fingerprint → first copies → members
             → sketch → band keys → crowd → candidates → canonicalise → gather → verify
             → join → forest → greedy → components → order by → group order

and at the end, what serves them all: checksum, scratch memory.

Conventions
-----------
Ragged data is flat: `values` and `starts`, where item i owns ``values[starts[i]:starts[i + 1]]``.
All hashing is modulo 2**64. `threads` is accepted everywhere and never changes a result. What is
sorted by a 64-bit key can be asked for in parts: `part` is one of `parts` equal ranges of all keys.

The hash family
---------------
Everything is built from one keyed step, ``mix(a, b)``: the 128-bit product of a and b, its two
halves xor-ed together. The constants below, `mix`, and the way they are combined are frozen under
the name ``lookalike-1``; the golden vectors in the tests hold them still.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Hashes = NDArray[np.uint64]
    Starts = NDArray[np.int64]
    Items = NDArray[np.int32]

FAMILY = "lookalike-1"
MASK = 2**64 - 1
EMPTY = MASK

# The first 64 fractional bits of √2, √3, √5 and √7, made odd.
C0, C1, C2, C3 = 0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1
POLYNOMIAL = 0xD1B54A32D192ED03
GOLDEN = 0x9E3779B97F4A7C15

GAP, WORD, ALONE, MARK = range(4)


def mix(a: int, b: int) -> int:
    """Return the two halves of the 128-bit product, xor-ed."""
    product = a * b
    return (product ^ (product >> 64)) & MASK


def draw(seed: int, number: int) -> int:
    """Return the `number`-th random word of a seed (SplitMix64)."""
    z = (seed + (number + 1) * GOLDEN) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


# ── Unicode ───────────────────────────────────────────────────────────────────────────────────


class Unicode:
    """The frozen Unicode facts (see tools/unicode_tables.py)."""

    def __init__(self) -> None:
        facts = json.loads(files(__package__).joinpath("unicode-15.0.json").read_text("ascii"))
        self.version: str = facts["version"]
        self.classes = dict(_spread(facts["classes"]))
        self.combining = dict(_spread(facts["combining"]))
        self.whitespace = set(facts["whitespace"])
        self.fold: dict[int, list[int]] = {
            int(code): mapped for code, mapped in facts["fold"].items()
        }
        self.decompose: dict[int, list[int]] = {
            int(code): mapped for code, mapped in facts["decompose"].items()
        }
        self.compose = {(a, b): composite for a, b, composite in facts["compose"]}


def _spread(ranges: list[list[int]]) -> Iterator[tuple[int, int]]:
    return ((code, value) for first, last, value in ranges for code in range(first, last + 1))


@cache
def unicode() -> Unicode:
    """Return the tables, read once."""
    return Unicode()


_S, _L, _V, _T = 0xAC00, 0x1100, 0x1161, 0x11A7  # Hangul is composed by arithmetic
_L_COUNT, _V_COUNT, _T_COUNT = 19, 21, 28


def decomposed(code: int) -> list[int]:
    """Return the full canonical decomposition of one code point."""
    syllable = code - _S
    if 0 <= syllable < _L_COUNT * _V_COUNT * _T_COUNT:
        lead, rest = divmod(syllable, _V_COUNT * _T_COUNT)
        vowel, tail = divmod(rest, _T_COUNT)
        return [_L + lead, _V + vowel] + ([_T + tail] if tail else [])
    return unicode().decompose.get(code, [code])


def composed(first: int, second: int) -> int | None:
    """Return the canonical composite of two code points, if there is one."""
    if 0 <= first - _L < _L_COUNT and 0 <= second - _V < _V_COUNT:
        return _S + ((first - _L) * _V_COUNT + second - _V) * _T_COUNT
    is_open_syllable = 0 <= first - _S < _L_COUNT * _V_COUNT * _T_COUNT and not (
        (first - _S) % _T_COUNT
    )
    if is_open_syllable and 0 < second - _T < _T_COUNT:
        return first + second - _T
    return unicode().compose.get((first, second))


def ordered(codes: Iterable[int]) -> list[int]:
    """Return the canonical decomposition: every code point in pieces, marks in their order."""
    combining = unicode().combining
    flat = [part for code in codes for part in decomposed(code)]
    start = 0
    for end in range(len(flat) + 1):
        if end == len(flat) or not combining.get(flat[end], 0):
            flat[start:end] = sorted(flat[start:end], key=lambda code: combining.get(code, 0))
            start = end
    return flat


def nfc(codes: list[int]) -> list[int]:
    """Return the canonical composition of code points."""
    tables = unicode()
    flat = ordered(codes)
    out: list[int] = []
    starter = -1  # position in `out` of the last starter
    last_class = 0  # combining class of the last code point kept after it
    for code in flat:
        its_class = tables.combining.get(code, 0)
        blocked = starter >= 0 and starter != len(out) - 1 and last_class >= its_class
        composite = None if starter < 0 or blocked else composed(out[starter], code)
        if composite is not None:
            out[starter] = composite
            continue
        if not its_class:
            starter = len(out)
        last_class = its_class
        out.append(code)
    return out


def normalised(text: bytes, profile: str) -> str:
    """Return one text under a normalisation profile; bytes that are not UTF-8 become U+FFFD.

    Marks are put in order before folding: one of them, the iota below, folds to a letter, and the
    marks around it must not depend on which side of it they were typed.
    """
    raw = text.decode("utf-8", errors="replace")
    if profile == "none":
        return raw
    fold = unicode().fold
    folded = [part for code in ordered(map(ord, raw)) for part in fold.get(code, [code])]
    return "".join(map(chr, nfc(folded)))


def words(text: str) -> list[str]:
    """Split a normalised text into script-aware tokens."""
    classes = unicode().classes
    tokens: list[str] = []
    open_class = GAP  # the class of the token that could still grow
    for char in text:
        its_class = classes.get(ord(char), GAP)
        grows = (its_class == MARK and open_class != GAP) or (its_class == open_class == WORD)
        if grows:
            tokens[-1] += char
        elif its_class in (WORD, ALONE):
            tokens.append(char)
            open_class = its_class
        else:  # a mark that follows no token has nothing to mark
            open_class = GAP
    return tokens


def characters(text: str, profile: str) -> list[str]:
    """Split a normalised text into characters, runs of white space as one space, ends trimmed."""
    if profile == "none":
        return list(text)
    out: list[str] = []
    for char in text:
        if ord(char) not in unicode().whitespace:
            out.append(char)
        elif out and out[-1] != " ":
            out.append(" ")
    return out[:-1] if out and out[-1] == " " else out


def tokens_of(text: bytes, unit: str, profile: str) -> list[bytes]:
    """Return the tokens of one text, as UTF-8."""
    clean = normalised(text, profile)
    parts = words(clean) if unit == "words" else characters(clean, profile)
    return [part.encode() for part in parts]


# ── Shingling ─────────────────────────────────────────────────────────────────────────────────


def hash_token(token: bytes, key: int) -> int:
    """Hash a token, eight little-endian bytes at a time, the last ones padded with zeros."""
    state = key ^ (len(token) * C0 & MASK)
    for at in range(0, len(token), 8):
        state = mix(state ^ int.from_bytes(token[at : at + 8], "little"), C1)
    return state


def hash_shingle(tokens: Sequence[int]) -> int:
    """Hash a sequence of token hashes: a polynomial, so that it can roll, then one more mix.

    The base is 3 modulo 8: the differences of its powers then carry few factors of two, and two
    shingles with swapped tokens collide no more often than others.
    """
    value = 0
    for token in tokens:
        value = (value * POLYNOMIAL + token) & MASK
    return mix(value ^ (len(tokens) * C0 & MASK), C2)


def shingles_of(tokens: Sequence[int], k: int) -> list[int]:
    """Return every run of k tokens, hashed; fewer than k tokens are one shingle, none are none."""
    if not tokens:
        return []
    last = max(len(tokens) - k, 0)
    return [hash_shingle(tokens[at : at + k]) for at in range(last + 1)]


def tokenise(data: Bytes, offsets: Starts, unit: str, profile: str) -> tuple[Bytes, Starts, Starts]:
    """Return the normalised tokens of each text: bytes, token offsets, first token of each text."""
    tokens = [tokens_of(text, unit, profile) for text in _texts(data, offsets)]
    flat = [token for each in tokens for token in each]
    joined = np.frombuffer(b"".join(flat), dtype=np.uint8)
    return joined, _starts([len(token) for token in flat]), _starts([len(each) for each in tokens])


def shingle_text(
    data: Bytes, offsets: Starts, unit: str, k: int, profile: str, key: int, threads: int = 1
) -> tuple[Hashes, Starts]:
    """Return the hashed k-shingles of each text in reading order, repeats included."""
    return _ragged(
        shingles_of([hash_token(token, key) for token in tokens_of(text, unit, profile)], k)
        for text in _texts(data, offsets)
    )


def shingle_tokens(
    data: Bytes, offsets: Starts, starts: Starts, k: int, key: int, threads: int = 1
) -> tuple[Hashes, Starts]:
    """Return the hashed k-shingles of lists of ready-made tokens, which are taken as they are."""
    hashed = [hash_token(token, key) for token in _texts(data, offsets)]
    return _ragged(shingles_of(each, k) for each in _lists(hashed, starts))


def number_occurrences(hashes: Hashes, starts: Starts, threads: int = 1) -> None:
    """Turn bags into sets, in place: the i-th occurrence of x becomes the element (x, i).

    The first occurrence stays x. An item's elements end up sorted by x, then by occurrence.
    """
    for item in range(len(starts) - 1):
        seen: dict[int, int] = {}
        out = []
        for x in sorted(hashes[starts[item] : starts[item + 1]].tolist()):
            i = seen[x] = seen.get(x, -1) + 1
            out.append(mix((x + i * C0) & MASK, C3) if i else x)
        hashes[starts[item] : starts[item + 1]] = out


def fingerprint(hashes: Hashes, starts: Starts, threads: int = 1) -> Hashes:
    """Return one hash per item of its elements in their present order."""
    out = []
    for elements in _lists(hashes.tolist(), starts):
        state = len(elements) * C0 & MASK
        for x in elements:
            state = mix(state ^ x, C1)
        out.append(state)
    return np.array(out, dtype=np.uint64)


def in_part(key: int, part: int, parts: int) -> bool:
    """Tell whether a key is in the part."""
    return key * parts >> 64 == part


def first_copies(
    hashes: Hashes, starts: Starts, prints: Hashes, part: int = 0, parts: int = 1, threads: int = 1
) -> tuple[Items, Items]:
    """Return every item with the same elements in the same order as an earlier one, and the first.

    `prints` are the items' fingerprints: a help to find copies, not what decides. Only items with a
    fingerprint in the part are looked at. Empty items are no copies.
    """
    seen: dict[tuple[int, ...], int] = {}
    pairs = []
    for item, elements in enumerate(_lists(hashes.tolist(), starts)):
        if elements and in_part(int(prints[item]), part, parts):
            first = seen.setdefault(tuple(elements), item)
            if first != item:
                pairs.append((item, first))
    return _columns(pairs)


def members(group_of: Items, groups: int) -> tuple[Items, Starts]:
    """Return the items of all groups, one group after the other, and where each group starts.

    Items of no group (-1) are left out.
    """
    lists = [np.flatnonzero(group_of == group) for group in range(groups)]
    order = np.concatenate([np.empty(0, np.int32), *lists]).astype(np.int32)
    return order, _starts([len(each) for each in lists])


# ── Sketching ─────────────────────────────────────────────────────────────────────────────────


def sketch_fast(elements: Sequence[int], slots: int, seed: int) -> list[int]:
    """Return the Fast Similarity Sketch (Dahlgaard, Knudsen, Thorup 2017) of one set.

    In round i < slots every element falls into a random slot with a random value; in round
    slots + j every element falls into slot j. A slot keeps its minimum, and a value of an earlier
    round is smaller than any of a later one. Once every slot is filled no later round can change
    anything, so the rounds may stop there; the sketch itself is a plain minimum over all rounds,
    free of order and repetition, and the slot-wise minimum of two sketches is that of the union.
    """
    signature = [EMPTY] * slots
    if not elements:
        return signature
    for i in range(2 * slots):
        a, b = draw(seed, 2 * i), draw(seed, 2 * i + 1) | 1
        for x in elements:
            g = mix(x ^ a, b)
            slot, fraction = divmod(g * slots, 2**64) if i < slots else (i - slots, g)
            signature[slot] = min(signature[slot], i << 52 | fraction >> 12)
        if EMPTY not in signature:
            break
    return signature


def sketch_classic(elements: Sequence[int], slots: int, seed: int) -> list[int]:
    """Return the textbook signature: the minimum under one independent hash per slot."""
    signature = []
    for i in range(slots):
        a, b = draw(seed, 2 * i), draw(seed, 2 * i + 1) | 1
        signature.append(min((mix(x ^ a, b) for x in elements), default=EMPTY))
    return signature


def sketch(
    scheme: str,
    hashes: Hashes,
    starts: Starts,
    items: Items,
    slots: int,
    seed: int,
    threads: int = 1,
) -> Hashes:
    """Return the signatures of the named items, one row each."""
    one = {"fast": sketch_fast, "classic": sketch_classic}[scheme]
    elements = [hashes[starts[item] : starts[item + 1]].tolist() for item in items.tolist()]
    rows = [one(each, slots, seed) for each in elements]
    return np.array(rows, dtype=np.uint64).reshape(len(rows), slots)


# ── Banding ───────────────────────────────────────────────────────────────────────────────────


def band_keys(signatures: Hashes, bands: int, rows: int, threads: int = 1) -> Hashes:
    """Return one key per band (first axis) and item: the hash of the band's rows."""
    keys = np.empty((bands, len(signatures)), dtype=np.uint64)
    for item, signature in enumerate(signatures.tolist()):
        for band in range(bands):
            key = (band + 1) * C0 & MASK
            for value in signature[band * rows : (band + 1) * rows]:
                key = mix(key ^ value, C1)
            keys[band, item] = key
    return keys


def buckets(keys: Hashes) -> dict[int, list[int]]:
    """Return the items of each key of one band."""
    out: dict[int, list[int]] = {}
    for item, key in enumerate(keys.tolist()):
        out.setdefault(key, []).append(item)
    return out


def crowd(keys: Hashes, cap: int, threads: int = 1) -> Items:
    """Return the items, ascending, of all buckets of one band that have more than `cap` items."""
    full = [bucket for bucket in buckets(keys).values() if len(bucket) > cap]
    return np.array(sorted(item for bucket in full for item in bucket), dtype=np.int32)


def candidates(
    keys: Hashes,
    sides: Bytes | None = None,
    crowded: Bytes | None = None,
    cap: int = MASK,
    part: int = 0,
    parts: int = 1,
    most: int = MASK,
    threads: int = 1,
) -> Hashes | None:
    """Return the pairs i < j with equal keys, each as i * 2^32 + j, in no particular order.

    Only buckets with a key in the part and of at most `cap` items are looked at; if these have more
    than `most` pairs, None is returned. With `sides` (bit 0: the item stands on the left, bit 1: on
    the right) only pairs that have one item on each side count, and with `crowded` (0 or 1) only
    those with an item that is not.
    """
    looked_at = [
        bucket
        for key, bucket in buckets(keys).items()
        if len(bucket) <= cap and in_part(key, part, parts)
    ]
    if sum(len(bucket) * (len(bucket) - 1) // 2 for bucket in looked_at) > most:
        return None
    pairs = [
        i << 32 | j
        for bucket in looked_at
        for at, i in enumerate(bucket)
        for j in bucket[at + 1 :]
        if _across(sides, i, j) and not (crowded is not None and crowded[i] and crowded[j])
    ]
    return np.array(sorted(pairs), dtype=np.uint64)


def _across(sides: Bytes | None, i: int, j: int) -> bool:
    return sides is None or bool((sides[i] & 1 and sides[j] & 2) or (sides[i] & 2 and sides[j] & 1))


# ── Verifying ─────────────────────────────────────────────────────────────────────────────────


def canonicalise(
    hashes: Hashes, starts: Starts, sizes: Items, items: Items, threads: int = 1
) -> None:
    """Sort the named items' elements and drop repeats, in place, once.

    ``sizes[item]`` is -1 before and the number of distinct elements after; what stands behind
    them, up to the item's end, has no meaning any more.
    """
    for item in items.tolist():
        if sizes[item] < 0:
            distinct = sorted(set(hashes[starts[item] : starts[item + 1]].tolist()))
            hashes[starts[item] : starts[item] + len(distinct)] = distinct
            sizes[item] = len(distinct)


def gather(
    hashes: Hashes, starts: Starts, sizes: Items, items: Items, threads: int = 1
) -> tuple[Hashes, Starts, Items]:
    """Return canonical sets of their own: those of the named items, in that order."""
    elements = (hashes[starts[i] : starts[i] + sizes[i]].tolist() for i in items.tolist())
    return *_ragged(elements), sizes[items]


def verify(
    hashes: Hashes,
    starts: Starts,
    sizes: Items,
    left: Items,
    right: Items,
    numerator: int,
    denominator: int,
    threads: int = 1,
) -> Items:
    """Return the overlap |A ∩ B| of each pair, or -1 where |A ∩ B| / |A ∪ B| < the threshold.

    The threshold is numerator / denominator, and the comparison is one of integers. The items have
    to be canonical, and no pair may consist of two empty ones.
    """
    out = []
    for a, b in zip(left.tolist(), right.tolist(), strict=True):
        one = set(hashes[starts[a] : starts[a] + sizes[a]].tolist())
        other = set(hashes[starts[b] : starts[b] + sizes[b]].tolist())
        overlap = len(one & other)
        similar = overlap * denominator >= numerator * len(one | other)
        out.append(overlap if similar else -1)
    return np.array(out, dtype=np.int32)


# ── Joining ───────────────────────────────────────────────────────────────────────────────────


def join(
    hashes: Hashes,
    starts: Starts,
    sizes: Items,
    items: Items,
    sides: Bytes | None,
    numerator: int,
    denominator: int,
    limit: int = MASK,
    threads: int = 1,
) -> tuple[Items, Items, Items]:
    """Return every pair of `items` that reaches the threshold, with its overlap, in any order.

    Pairs are of positions in `items`, and so are `sides`. With more than `limit` pairs, more than
    `limit` of them are returned, but not all.
    """
    every = [(i, j) for i in range(len(items)) for j in range(i) if _across(sides, i, j)]
    flat = np.array(every, dtype=np.int32).reshape(-1, 2)
    left, right = flat[:, 1].copy(), flat[:, 0].copy()
    overlaps = verify(hashes, starts, sizes, items[left], items[right], numerator, denominator)
    found = overlaps >= 0
    return left[found], right[found], overlaps[found]


def forest(
    hashes: Hashes,
    starts: Starts,
    sizes: Items,
    items: Items,
    sides: Bytes | None,
    numerator: int,
    denominator: int,
    threads: int = 1,
) -> tuple[Items, Items]:
    """Return pairs that reach the threshold and connect what all such pairs connect, no more.

    Which of them is left open: only the components count.
    """
    left, right, _ = join(hashes, starts, sizes, items, sides, numerator, denominator)
    labels = np.arange(len(items), dtype=np.int32)
    components(labels, left, right)
    chosen = []
    joined = np.arange(len(items), dtype=np.int32)
    for pair, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        if joined[a] != joined[b]:
            joined[joined == joined[a]] = joined[b]
            chosen.append(pair)
    assert len(chosen) == len(items) - len(set(labels.tolist()))
    return left[chosen], right[chosen]


def greedy(
    hashes: Hashes,
    starts: Starts,
    sizes: Items,
    items: Items,
    sides: Bytes | None,
    order: Items,
    protect: Bytes,
    joined: Items,
    left: Items,
    right: Items,
    numerator: int,
    denominator: int,
    threads: int = 1,
) -> Items:
    """Return for each item its witness: the earliest kept item that is similar to it, or -1.

    The items are considered in `order`, and an item is kept if it has no witness or is protected.
    Similar are the given pairs, and any two of the `joined` that reach the threshold.
    """
    among = None if sides is None else sides[joined]
    found = join(hashes, starts, sizes, items[joined], among, numerator, denominator)
    pairs = [*zip(left, right, strict=True), *zip(joined[found[0]], joined[found[1]], strict=True)]
    similar = {frozenset((int(a), int(b))) for a, b in pairs}
    witnesses = np.full(len(items), -1, dtype=np.int32)
    kept: list[int] = []
    for item in order.tolist():
        witnesses[item] = next((each for each in kept if {each, item} in similar), -1)
        if witnesses[item] < 0 or protect[item]:
            kept.append(item)
    return witnesses


# ── Clustering ────────────────────────────────────────────────────────────────────────────────


def components(labels: Items, left: Items, right: Items) -> None:
    """Make ``labels[i]`` the smallest item that i is connected to, in place.

    Connected are the pairs, and each item with the one that its label names before: itself at
    first, and never a later one. So pairs may come in several lists.
    """
    items = range(len(labels))
    pairs = [*zip(items, labels.tolist(), strict=True)]
    pairs += zip(left.tolist(), right.tolist(), strict=True)
    labels[:] = items
    changed = True
    while changed:
        changed = False
        for a, b in pairs:
            low = min(labels[a], labels[b])
            changed |= bool(labels[a] != low or labels[b] != low)
            labels[a] = labels[b] = low


# ── Choosing ──────────────────────────────────────────────────────────────────────────────────


def order_by(ranks: Starts) -> Items:
    """Return the items by rank, ascending, those of one rank as they come."""
    return np.array(sorted(range(len(ranks)), key=ranks.tolist().__getitem__), dtype=np.int32)


def group_order(order: Items, group_of: Items, groups: int) -> tuple[Items, Items]:
    """Return the groups in the order of their first items in `order`, and those first items.

    The second array has one entry per group, -1 if none of its items is in `order`.
    """
    leaders: dict[int, int] = {}
    for item in order.tolist():
        if group_of[item] >= 0:
            leaders.setdefault(int(group_of[item]), item)
    firsts = [leaders.get(group, -1) for group in range(groups)]
    return np.array(list(leaders), dtype=np.int32), np.array(firsts, dtype=np.int32)


# ── Files and memory ──────────────────────────────────────────────────────────────────────────

LANES = 8


def checksum(data: Bytes) -> int:
    """Return a hash of bytes that shows damage: a change goes unseen once in 2**64.

    The bytes are read as 64-bit little-endian words, the last ones padded with zeros, and dealt out
    to lanes that do not wait for each other.
    """
    padded = data.tobytes() + bytes(-len(data) % (8 * LANES))
    lanes = [(lane + 1) * C0 & MASK for lane in range(LANES)]
    for at in range(0, len(padded), 8):
        lane = at // 8 % LANES
        lanes[lane] = mix(lanes[lane] ^ int.from_bytes(padded[at : at + 8], "little"), C1)
    state = len(data) * C0 & MASK
    for value in lanes:
        state = mix(state ^ value, C1)
    return state


def set_scratch(directory: str | None, allowance: int) -> None:
    """Say where large arrays lie from now on: in memory up to `allowance` bytes, then in files.

    Without a directory all are in memory. The files have no names and go with their arrays; where
    one cannot be had, the kernel that needs it raises an `OSError`. None of this changes a result,
    so there is nothing to do here.
    """


def scratch_in_use() -> tuple[int, int]:
    """Return the bytes of large arrays that are alive, in memory and in files."""
    return 0, 0


def allocate(nbytes: int) -> Bytes:
    """Return zeros in scratch memory."""
    return np.zeros(nbytes, dtype=np.uint8)


# ── Flat arrays ───────────────────────────────────────────────────────────────────────────────


def _lists(values: list[Any], starts: Starts) -> Iterator[list[Any]]:
    return (values[a:b] for a, b in pairwise(starts.tolist()))


def _texts(data: Bytes, offsets: Starts) -> Iterator[bytes]:
    whole = data.tobytes()
    return (whole[a:b] for a, b in pairwise(offsets.tolist()))


def _starts(lengths: list[int]) -> Starts:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _columns(pairs: list[tuple[int, int]]) -> tuple[Items, Items]:
    flat = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    return flat[:, 0].copy(), flat[:, 1].copy()


def _ragged(items: Iterator[list[int]]) -> tuple[Hashes, Starts]:
    lists = list(items)
    flat = np.array([x for each in lists for x in each], dtype=np.uint64)
    return flat, _starts([len(each) for each in lists])
