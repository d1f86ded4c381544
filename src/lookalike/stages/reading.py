"""Sources → sets of hashes, ids, lengths: everything that is ever needed of the contents.

The contents themselves are not kept. Ids are kept as bytes, and that no two are equal is checked
once all are known.
"""

from __future__ import annotations

import base64
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike import kernels
from lookalike.data import Batch, Corpus, Cursor, Sets, Source, empty, numbered, repeated_id
from lookalike.errors import InputError
from lookalike.work import Columns, Pieces, Unit, Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Featurise = Callable[[pa.Array], tuple[NDArray[np.uint64], NDArray[np.int64]]]

MOST_ITEMS = MOST_ELEMENTS = 2**31 - 1
ID_KEY = 0x6964656E74696679
COLUMNS = {
    "hashes": np.uint64,
    "counts": np.int32,
    "sizes": np.int32,
    "prints": np.uint64,
    "lengths": np.int64,
    "ids": np.uint8,
    "id_lengths": np.int32,
    "id_prints": np.uint64,
}


def work(
    sources: tuple[Source, ...],
    featurise: Featurise,
    *,
    size: int,
    canonical: bool,
    threads: int = 1,
) -> Work:
    """Return the work of reading all sources in batches of that size; `featurise` makes sets."""
    total = sum(source.size for source in sources)

    def units(cursor: Cursor | None) -> Iterator[Unit]:
        first, *inside = cursor or (0,)
        for number, source in enumerate(sources[first:], start=first):
            before = sum(each.size for each in sources[:number])
            for batch in source.batches(size, tuple(inside) or None):
                hashes, starts = featurise(batch.contents)
                features = _features(hashes, starts, canonical=canonical, threads=threads)
                yield Unit(
                    {**features, "lengths": _lengths(batch.contents), **_packed_ids(batch)},
                    (number, *batch.cursor),
                    before + batch.read,
                    total,
                    (number, _written_kind(batch.ids)),
                )
            inside = []

    return Work("shingling", COLUMNS, units, (size,))


def _features(
    hashes: NDArray[np.uint64], starts: NDArray[np.int64], *, canonical: bool, threads: int
) -> Pieces:
    """Return sets and their fingerprints, which are those of the order that hashes came in."""
    counts = np.diff(starts)
    if len(counts) and counts.max() > MOST_ELEMENTS:
        raise InputError(
            f"an item has {counts.max():,} shingles, more than the 2^31 that fit: cut it into parts"
        )
    prints = kernels.fingerprint(hashes, starts, threads)
    sets = Sets.of(hashes, starts)
    if canonical:
        everyone = np.arange(len(sets), dtype=np.int32)
        kernels.canonicalise(sets.hashes, sets.starts, sets.sizes, everyone, threads)
    return {
        "hashes": hashes,
        "counts": counts.astype(np.int32),
        "sizes": sets.sizes,
        "prints": prints,
    }


def _lengths(contents: pa.Array) -> NDArray[np.int64]:
    bounds = np.frombuffer(contents.buffers()[1], dtype=np.int64)
    lengths = np.diff(bounds[contents.offset : contents.offset + len(contents) + 1])
    if contents.null_count:
        lengths[contents.is_null().to_numpy(zero_copy_only=False)] = 0
    return lengths


def sets_of(read: Columns, *, canonical: bool) -> Sets:
    """Return the sets of all items."""
    return Sets(read["hashes"], starts_of(read["counts"]), read["sizes"], canonical)


def starts_of(counts: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return where each of some consecutive pieces starts, and where the last one ends."""
    starts: NDArray[np.int64] = empty(len(counts) + 1, np.int64)
    np.cumsum(counts, dtype=np.int64, out=starts[1:])
    return starts


def corpus_of(sources: tuple[Source, ...], read: Columns, *, across: bool, parts: int) -> Corpus:
    """Return the corpus that was read; ids that are not unique are refused."""
    items = len(read["lengths"])
    if items > MOST_ITEMS:
        raise InputError(f"there are {items:,} items, more than the 2^31 that fit one run")
    ends = [0]
    for number in range(len(sources)):
        mine = [end for end, note in _units(read, "lengths") if note[0] <= number]
        ends.append(max(mine, default=0))
    ids = [_ids(read, number, *where, parts) for number, where in enumerate(pairwise(ends))]
    return Corpus(sources, ids[0], read["lengths"], ids[1] if len(ids) > 1 else None, across)


def _units(read: Columns, column: str) -> Iterator[tuple[int, Any]]:
    return zip(read.ends[column], read.notes, strict=True)


# ── Ids ───────────────────────────────────────────────────────────────────────────────────────


def _packed_ids(batch: Batch) -> Pieces:
    """Return ids as bytes, their lengths where these differ, and a hash of each."""
    ids = batch.ids
    if ids is None:
        nothing = np.empty(0, np.uint8)
        return {"ids": nothing, "id_lengths": nothing.astype(np.int32), "id_prints": nothing}
    if pa.types.is_boolean(ids.type):
        ids = ids.cast(pa.uint8())
    if _is_ragged(ids.type):
        plain = ids.cast(pa.large_binary())
        flat = np.frombuffer(plain.buffers()[2] or b"", dtype=np.uint8)
        bounds = np.frombuffer(plain.buffers()[1], dtype=np.int64)
        bounds = bounds[plain.offset : plain.offset + len(plain) + 1]
        data, bounds = flat[bounds[0] : bounds[-1]], bounds - bounds[0]
        lengths = np.diff(bounds).astype(np.int32)
    else:
        width = ids.type.bit_width // 8
        flat = np.frombuffer(ids.buffers()[1], dtype=np.uint8)
        data = flat[ids.offset * width : (ids.offset + len(ids)) * width]
        bounds, lengths = np.arange(len(ids) + 1) * width, np.empty(0, np.int32)
    each = np.arange(len(ids) + 1)
    prints, _ = kernels.shingle_tokens(data, bounds, each, 1, ID_KEY)
    return {"ids": data.copy(), "id_lengths": lengths, "id_prints": prints}


def _ids(read: Columns, number: int, first: int, last: int, parts: int) -> pa.ChunkedArray:
    """Return the ids of a source's items, which stand from `first` to `last`."""
    kinds = [note[1] for note in read.notes if note[0] == number]
    if not kinds or kinds[0] is None:
        rows = pa.py_buffer(numbered(last - first, np.int64))
        return pa.chunked_array([pa.Array.from_buffers(pa.int64(), last - first, [None, rows])])
    ends = [end for end, note in _units(read, "ids") if note[0] <= number]
    begins = [end for end, note in _units(read, "ids") if note[0] < number]
    data = read["ids"][max(begins, default=0) : max(ends, default=0)]
    kind = _read_kind(kinds[0])
    where = [end for end, note in _units(read, "id_lengths") if note[0] < number]
    lengths = read["id_lengths"][max(where, default=0) :][: last - first]
    before = [end for end, note in _units(read, "id_prints") if note[0] < number]
    prints = read["id_prints"][max(before, default=0) :][: last - first]
    ids = pa.chunked_array([_unpacked(kind, last - first, data, lengths)])
    _check_unique(ids, prints, parts)
    return ids


def _unpacked(
    kind: pa.DataType, n: int, data: NDArray[np.uint8], lengths: NDArray[np.int32]
) -> pa.Array:
    if pa.types.is_boolean(kind):
        return _unpacked(pa.uint8(), n, data, lengths).cast(kind)
    if not _is_ragged(kind):
        return pa.Array.from_buffers(kind, n, [None, pa.py_buffer(data)])
    large = pa.large_string() if pa.types.is_string(kind) else pa.large_binary()
    buffers = [None, pa.py_buffer(starts_of(lengths)), pa.py_buffer(data)]
    return pa.Array.from_buffers(large, n, buffers)


def _is_ragged(kind: pa.DataType) -> bool:
    named = ("string", "binary", "large_string", "large_binary", "string_view", "binary_view")
    return any(getattr(pa.types, f"is_{name}")(kind) for name in named)


def _written_kind(ids: pa.Array | None) -> str | None:
    if ids is None:
        return None
    schema = pa.schema([("id", ids.type)])
    return base64.b64encode(schema.serialize().to_pybytes()).decode()


def _read_kind(text: str) -> pa.DataType:
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text))).field("id").type


def _check_unique(ids: pa.ChunkedArray, prints: NDArray[np.uint64], parts: int) -> None:
    """Refuse ids that repeat; their hashes tell which ones might."""
    each = numbered(len(prints) + 1, np.int64)
    for part in range(parts):
        copies, firsts = kernels.first_copies(prints, each, prints, part, parts, 1)
        for some in range(0, len(copies), 1000):
            one = ids.take(copies[some : some + 1000]).to_pylist()
            other = ids.take(firsts[some : some + 1000]).to_pylist()
            for place, (a, b) in enumerate(zip(one, other, strict=True)):
                if a == b:
                    first = firsts[some + place]
                    raise repeated_id(a, 1 + int((firsts == first).sum()))
