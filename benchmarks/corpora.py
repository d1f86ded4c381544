"""Collections of any size from real text, with every near-duplicate in them known.

    python benchmarks/corpora.py SIZE... [--data DIR]

A *fresh* document strings together short stretches (3–12 words) from random places of real text:
the words and their frequencies are real, but two fresh documents share hardly a shingle. Three
documents in ten are edited copies of an earlier fresh one, which may stand anywhere before them. A
fresh document and its copies are a *family*; most have 2–5 members.

Document number i is a function of the seed and i alone. So a collection is written batch by batch
in little memory, a smaller one is the beginning of a larger one, with the same share of copies, and
the truth is computed by making the families once more. Texts consist of [a-z0-9]+ words with single
spaces between them: what a word is needs no definition.

Each collection is a folder: `corpus.parquet` (id, text), `truth.parquet` (left, right, similarity:
all pairs in families whose sets of five-word shingles have a Jaccard similarity of 0.8 or more) and
`about.json`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Hashes = NDArray[np.uint64]

ROOT = Path(__file__).resolve().parent.parent
PUBLIC = Path(os.environ.get("LOOKALIKE_DATA", ROOT.parent / "shared" / "data"))
DATA = Path("/tmp/lookalike-scale")

SEED = 1
COPIES = 0.3
EXACT_COPIES = 0.1  # of the copies; a small edit of a short text can come to nothing as well
LEAST_SIMILARITY = 0.75  # aimed at, of a copy with its original
FEWEST_STRETCHES, MOST_STRETCHES = 3, 32
SHORTEST_STRETCH, LONGEST_STRETCH = 3, 12
SHINGLE = 5
ROW_GROUP = 50_000
ID_DIGITS = 8

# What a random number is drawn for: each purpose has its own stream of them.
FRESH, ORIGINAL, STRETCHES, EDITS, PLACES, NEW_WORDS = range(6)


@dataclass(frozen=True)
class Source:
    """Real text as numbers of words, one after the other."""

    name: str
    vocabulary: pa.Array
    words: NDArray[np.int32]


@dataclass(frozen=True)
class Documents:
    """Documents as numbers of words: those of document i are `words[starts[i] : starts[i + 1]]`."""

    words: NDArray[np.int32]
    starts: Integers

    @property
    def lengths(self) -> Integers:
        """The number of words in each."""
        return np.diff(self.starts)


@dataclass(frozen=True)
class Pairs:
    """Pairs of documents with the number of shingles they share and of those either has."""

    left: Integers
    right: Integers
    shared: Integers
    union: Integers

    @property
    def true(self) -> NDArray[np.bool_]:
        """Whether the similarity is at least 0.8, in whole numbers."""
        return 5 * self.shared >= 4 * self.union


# ---- real text


def real_text() -> Source:
    """Return the public news collections where they are present, else Python's own library."""
    reuters = PUBLIC / "reuters-21578" / "reuters_first9000.jsonl"
    if reuters.is_file():
        with reuters.open(encoding="utf-8") as lines:
            texts = [json.loads(line)["text"] for line in lines]
        news = sorted((PUBLIC / "bbc-news").glob("bbc/*/*.txt"))
        texts += [path.read_text(encoding="cp1252", errors="replace") for path in news]
        name = "Reuters-21578 and BBC news" if news else "Reuters-21578"
    else:
        from lookalike import demo

        texts = demo.standard_library()["text"].to_pylist()
        name = f"Python's standard library (no public data sets at {PUBLIC}; set LOOKALIKE_DATA)"
    words = [word for text in texts for word in re.findall("[a-z0-9]+", text.lower())]
    codes = pa.array(words).dictionary_encode()
    return Source(name, codes.dictionary, codes.indices.to_numpy())


# ---- random numbers that depend on nothing but their place


def mix(values: Hashes) -> Hashes:
    """Scatter whole numbers over 64 bits (the finaliser of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def draw(purpose: int, documents: Integers, at: Integers | int = 0) -> Hashes:
    """Return a random number for each document and place in it."""
    stream = mix(np.array([SEED << 8 | purpose], np.uint64))
    keys = mix(documents.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + stream)
    return mix(keys + np.asarray(at).astype(np.uint64) * np.uint64(0xD1342543DE82EF95))


def fraction(hashes: Hashes) -> NDArray[np.float64]:
    """Turn random numbers into fractions from 0 to just below 1."""
    return (hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53


def below(hashes: Hashes, bound: Integers | int) -> Integers:
    """Turn random numbers into whole numbers below `bound`."""
    return np.floor(fraction(hashes) * bound).astype(np.int64)


def places_within(counts: Integers) -> tuple[Integers, Integers]:
    """Return the group of each element, and its place in the group, for groups of these sizes."""
    groups = np.repeat(np.arange(len(counts)), counts)
    return groups, np.arange(len(groups)) - np.repeat(np.cumsum(counts) - counts, counts)


def starts_of(lengths: Integers) -> Integers:
    return np.concatenate([[0], np.cumsum(lengths)])


# ---- documents


def is_fresh(documents: Integers) -> NDArray[np.bool_]:
    return np.asarray((fraction(draw(FRESH, documents)) >= COPIES) | (documents == 0))


def originals(documents: Integers) -> Integers:
    """Return the fresh document that each one is a copy of, or the document itself."""
    result = documents.copy()
    left = np.flatnonzero(~is_fresh(documents))
    attempt = 0
    while len(left):  # any earlier document that is fresh: try until one is met
        copies = documents[left]
        result[left] = below(draw(ORIGINAL, copies, attempt), copies)
        left = left[~is_fresh(result[left])]
        attempt += 1
    return result


def fresh(source: Source, documents: Integers) -> Documents:
    """Make fresh documents out of stretches of real text."""
    ratio = MOST_STRETCHES / FEWEST_STRETCHES
    counts = np.floor(FEWEST_STRETCHES * ratio ** fraction(draw(STRETCHES, documents)))
    groups, places = places_within(counts.astype(np.int64))
    owners = documents[groups]
    begins = below(draw(PLACES, owners, 2 * places), len(source.words) - LONGEST_STRETCH)
    choices = LONGEST_STRETCH - SHORTEST_STRETCH + 1
    lengths = SHORTEST_STRETCH + below(draw(PLACES, owners, 2 * places + 1), choices)
    stretches, offsets = places_within(lengths)
    sizes = np.bincount(groups, weights=lengths, minlength=len(documents)).astype(np.int64)
    return Documents(source.words[begins[stretches] + offsets], starts_of(sizes))


def edits(documents: Integers, lengths: Integers) -> tuple[Integers, ...]:
    """Choose how copies of these lengths are edited: document, place, words out, words in.

    A similarity is drawn from 0.75 to 1, which says how many shingles are to be lost. A word
    changed inside a text costs five of them; the rest is made up for at the beginning or the end,
    where each word costs one. At each place words are replaced, inserted or deleted.
    """

    def number(at: Integers | int, of: Integers | slice = slice(None)) -> Hashes:
        return draw(EDITS, documents[of], at)

    similarity = LEAST_SIMILARITY + (1 - LEAST_SIMILARITY) * fraction(number(0))
    shingles = lengths - SHINGLE + 1
    lost = np.round(shingles * (1 - similarity) / (1 + similarity)).astype(np.int64)
    lost[is_fresh(documents) | (fraction(number(1)) < EXACT_COPIES)] = 0
    inside = below(number(2), lost // SHINGLE + 1)
    outside = lost - SHINGLE * inside

    groups, places = places_within(inside)
    position = below(number(16 + 2 * places, groups), lengths[groups])
    kind = below(number(17 + 2 * places, groups), 3)
    one = np.ones_like(groups)

    ends = np.flatnonzero(outside)
    size = outside[ends]
    end_kind = below(number(3, ends), 3)
    at_the_end = below(number(4, ends), 2) == 1
    end_position = np.where(at_the_end, lengths[ends] - np.where(end_kind == 1, 0, size), 0)

    kinds = np.concatenate([kind, end_kind])  # 0 replaces, 1 inserts, 2 deletes
    sizes = np.concatenate([one, size])
    return (
        np.concatenate([groups, ends]),
        np.concatenate([position, end_position]),
        np.where(kinds == 1, 0, sizes),
        np.where(kinds == 2, 0, sizes),
    )


def make(source: Source, documents: Integers) -> Documents:
    """Return these documents, fresh ones and edited copies."""
    base = fresh(source, originals(documents))
    which, position, taken, added = edits(documents, base.lengths)
    # One place more for each document, behind its last word, where words can be added.
    slots = starts_of(base.lengths + 1)
    keep = np.ones(slots[-1], np.int64)
    keep[slots[1:] - 1] = 0
    words = np.zeros(slots[-1], np.int32)
    words[keep == 1] = base.words
    at = slots[which] + position
    begun = np.bincount(at, weights=taken > 0, minlength=len(keep) + 1)
    ended = np.bincount(at + taken, weights=taken > 0, minlength=len(keep) + 1)
    keep[np.cumsum(begun - ended)[:-1] > 0] = 0
    new = np.bincount(at, weights=added, minlength=len(keep)).astype(np.int64)

    slot, place = places_within(keep + new)
    words = words[slot]
    lengths = np.add.reduceat(keep + new, slots[:-1])
    inserted = np.flatnonzero(place < new[slot])
    owners = np.searchsorted(slots, slot[inserted], side="right") - 1
    numbers = draw(NEW_WORDS, documents[owners], inserted - starts_of(lengths)[owners])
    words[inserted] = source.words[below(numbers, len(source.words))]
    return Documents(words, starts_of(lengths))


def ids(documents: Integers) -> pa.Array:
    return pc.utf8_lpad(pa.array(documents).cast(pa.string()), ID_DIGITS, "0")


def numbers(ids: pa.ChunkedArray | pa.Array) -> Integers:
    """Return the numbers of the documents with these ids."""
    return np.asarray(ids.cast(pa.int64()).to_numpy())


def texts(source: Source, documents: Documents) -> pa.Array:
    words = source.vocabulary.take(pa.array(documents.words))
    starts = pa.array(documents.starts.astype(np.int32))
    return pc.binary_join(pa.ListArray.from_arrays(starts, words), " ")


# ---- the truth


def shingle_hashes(documents: Documents) -> Documents:
    """Return 53-bit hashes of the five-word shingles, each as often as it occurs."""
    assert documents.lengths.min() >= SHINGLE
    codes = mix(documents.words.astype(np.uint64) + np.uint64(1))
    hashes = np.zeros(len(codes) - SHINGLE + 1, np.uint64)
    for at in range(SHINGLE):
        hashes = hashes * np.uint64(0x9E3779B97F4A7C15) + codes[at : at + len(hashes)]
    groups, places = places_within(documents.lengths - SHINGLE + 1)
    return Documents(
        (mix(hashes) >> np.uint64(11))[documents.starts[groups] + places],
        starts_of(documents.lengths - SHINGLE + 1),
    )


def overlaps(sets: Documents, left: Integers, right: Integers) -> tuple[Integers, Integers]:
    """Return how many shingles each pair shares, and how many there are in both together.

    The hashes of a pair are sorted behind its number (10 bits) and before the side they come from.
    Equal hashes of unequal shingles matter within one pair only, where they are as rare as 160² of
    2⁵³: about one pair in 10¹¹.
    """
    shared, union = [], []
    for begin in range(0, len(left), 1024):
        sides = []
        for side, chosen in enumerate((left, right)):
            members = chosen[begin : begin + 1024]
            pairs, places = places_within(sets.lengths[members])
            hashes = sets.words[sets.starts[members][pairs] + places]
            sides.append(pairs.astype(np.uint64) << np.uint64(54) | hashes << np.uint64(1) | side)
        keys = np.sort(np.concatenate(sides))
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
        first = np.concatenate([[True], keys[1:] >> np.uint64(1) != keys[:-1] >> np.uint64(1)])
        pairs = (keys >> np.uint64(54)).astype(np.int64)
        union.append(np.bincount(pairs[first]))
        shared.append(np.bincount(pairs[~first], minlength=len(union[-1])))
    none = np.zeros(0, np.int64)
    return np.concatenate([none, *shared]), np.concatenate([none, *union])


def families(size: int) -> tuple[Integers, Integers]:
    """Return the members of all families, one family after the other, and where each begins."""
    copies, heads = [], []
    for begin in range(0, size, 1_000_000):
        documents = np.arange(begin, min(size, begin + 1_000_000))
        found = originals(documents)
        copies.append(documents[found != documents])
        heads.append(found[found != documents])
    different, copies_of_each = np.unique(np.concatenate(heads), return_counts=True)
    members = np.concatenate([different, *copies])
    order = np.lexsort([members, np.concatenate([different, *heads])])
    return members[order], starts_of(1 + copies_of_each)


def pairs_of(sizes: Integers) -> tuple[Integers, Integers]:
    """Return all pairs (as places in the list of members) within families of these sizes."""
    starts = starts_of(sizes)
    groups, places = places_within(sizes)
    partners = sizes[groups] - 1 - places
    left, later = places_within(partners)
    return left, starts[groups[left]] + places[left] + 1 + later


def family_pairs(source: Source, size: int, at_once: int = 10_000) -> Iterator[Pairs]:
    """Yield all pairs of members of a family with their exact overlap, some families at a time."""
    members, starts = families(size)
    for begin in range(0, len(starts) - 1, at_once):
        some = starts[begin : begin + at_once + 1]
        documents = members[some[0] : some[-1]]
        left, right = pairs_of(np.diff(some))
        shared, union = overlaps(shingle_hashes(make(source, documents)), left, right)
        yield Pairs(documents[left], documents[right], shared, union)


def chance_similarity(source: Source, sample: int = 1000) -> float:
    """Return the greatest similarity of two documents of different families in a sample."""
    documents = np.arange(sample)
    family = originals(documents)
    left, right = np.triu_indices(sample, 1)
    unrelated = family[left] != family[right]
    left, right = left[unrelated], right[unrelated]
    shared, union = overlaps(shingle_hashes(make(source, documents)), left, right)
    return float((shared / union).max())


# ---- a collection on disk


@dataclass(frozen=True)
class Collection:
    """A generated collection in its folder."""

    folder: Path
    size: int

    @property
    def corpus(self) -> Path:
        """The documents: id, text."""
        return self.folder / "corpus.parquet"

    @property
    def truth(self) -> Path:
        """The true pairs: left, right, similarity."""
        return self.folder / "truth.parquet"

    @property
    def about(self) -> Path:
        """How it was made, and what is in it; written last."""
        return self.folder / "about.json"


@dataclass(frozen=True)
class Recipe:
    """All that a collection depends on."""

    documents: int
    source: str
    first_texts: str  # their digest, which changes with the source, the seed and this module


def collection(source: Source, size: int, data: Path = DATA) -> Collection:
    """Return the collection of this size, made now if it is not there yet."""
    result = Collection(data / f"{size:0{ID_DIGITS}d}", size)
    first = "\n".join(texts(source, make(source, np.arange(1000))).to_pylist())
    recipe = asdict(Recipe(size, source.name, hashlib.sha256(first.encode()).hexdigest()))
    if result.about.is_file() and json.loads(result.about.read_text())["recipe"] == recipe:
        return result
    result.folder.mkdir(parents=True, exist_ok=True)
    result.about.unlink(missing_ok=True)
    start = time.monotonic()
    text_bytes = write_corpus(source, result)
    middle = time.monotonic()
    contents = {"text_bytes": text_bytes, **write_truth(source, result)}
    seconds = {"corpus": middle - start, "truth": time.monotonic() - middle}
    about = {"recipe": recipe, "contents": contents, "seconds": seconds}
    result.about.write_text(json.dumps(about, indent=2) + "\n")
    return result


def write_corpus(source: Source, target: Collection) -> int:
    """Write the documents and return the size of their texts in bytes."""
    schema = pa.schema({"id": pa.string(), "text": pa.string()})
    text_bytes = 0
    with pq.ParquetWriter(
        target.corpus, schema, compression="zstd", compression_level=1, use_dictionary=False
    ) as writer:
        for begin in range(0, target.size, ROW_GROUP):
            documents = np.arange(begin, min(target.size, begin + ROW_GROUP))
            column = texts(source, make(source, documents))
            text_bytes += pc.sum(pc.binary_length(column)).as_py()
            writer.write_table(pa.table([ids(documents), column], schema), ROW_GROUP)
    return text_bytes


def write_truth(source: Source, target: Collection) -> dict[str, object]:
    """Write the true pairs and return what the families look like."""
    schema = pa.schema({"left": pa.string(), "right": pa.string(), "similarity": pa.float64()})
    histogram = np.zeros(21, np.int64)  # of similarities, in steps of 0.05; the last is exactly 1
    true_pairs = 0
    with pq.ParquetWriter(target.truth, schema, compression="zstd") as writer:
        for pairs in family_pairs(source, target.size):
            histogram += np.bincount(20 * pairs.shared // pairs.union, minlength=21)
            left, right = pairs.left[pairs.true], pairs.right[pairs.true]
            similarity = pairs.shared[pairs.true] / pairs.union[pairs.true]
            writer.write_table(pa.table([ids(left), ids(right), similarity], schema))
            true_pairs += len(left)
    members, starts = families(target.size)
    sizes = np.bincount(np.diff(starts))
    return {
        "copies": len(members) - len(starts) + 1,
        "families_of_size": {n: int(count) for n, count in enumerate(sizes) if count},
        "family_pairs": int(histogram.sum()),
        "family_pairs_of_similarity": {
            f"{step / 20:.2f}": int(count) for step, count in enumerate(histogram) if count
        },
        "true_pairs": true_pairs,
    }


def sizes(text: str) -> list[int]:
    """Read sizes such as ``10k,1M``."""
    units = {"k": 1_000, "M": 1_000_000}
    return [int(float(part.rstrip("kM")) * units.get(part[-1], 1)) for part in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("sizes", type=sizes, help="such as 10k,1M")
    parser.add_argument("--data", type=Path, default=DATA, help="default: %(default)s")
    options = parser.parse_args()
    source = real_text()
    print(f"{source.name}: {len(source.words):,} words, {len(source.vocabulary):,} different")
    print(f"similarity of unrelated documents at most {chance_similarity(source):.2f} in a sample")
    for size in options.sizes:
        made = collection(source, size, options.data)
        about = json.loads(made.about.read_text())
        print(made.folder, json.dumps({**about["contents"], **about["seconds"]}), flush=True)


if __name__ == "__main__":
    main()
