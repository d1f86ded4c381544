"""Texts and lists of tokens → sets of hashed shingles.

Texts travel as Arrow buffers into the kernel, batch by batch; no Python loop touches a token. What
a token, a shingle and a normalisation profile are is defined in `lookalike.kernels.reference`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.config import Shingling

KEY = 0x6C6F6F6B616C696B
"""The key of all feature hashes: fixed, so that a text has the same features everywhere."""

Ragged = tuple["NDArray[np.uint64]", "NDArray[np.int64]"]


def shingle(contents: pa.Array, shingling: Shingling, threads: int = 1) -> Ragged:
    """Return the shingles of every text (or list of tokens); a null is an empty item."""
    hashes, starts = _shingle_array(contents, shingling, threads)
    if shingling.bag:
        kernels.number_occurrences(hashes, starts, threads)
    return hashes, starts


def tokens(text: bytes | list[str], shingling: Shingling) -> list[str]:
    """Return the normalised tokens of one text, or the list itself."""
    if isinstance(text, list):
        return text
    data = np.frombuffer(text, dtype=np.uint8)
    offsets = np.array([0, len(text)], dtype=np.int64)
    flat, bounds, _ = kernels.tokenise(data, offsets, shingling.unit, shingling.normalise)
    joined = flat.tobytes()
    return [joined[a:b].decode() for a, b in pairwise(bounds.tolist())]


def _shingle_array(batch: pa.Array, shingling: Shingling, threads: int) -> Ragged:
    if shingling.unit == "tokens":
        lists = pc.fill_null(batch, []) if batch.null_count else batch
        starts = _buffer(lists.offsets)
        flat = (
            lists.flatten() if not lists.values.null_count else pc.fill_null(lists.flatten(), b"")
        )
        data, offsets = _text_buffers(flat)
        return kernels.shingle_tokens(data, offsets, starts - starts[0], shingling.k, KEY, threads)
    texts = pc.fill_null(batch, b"") if batch.null_count else batch
    data, offsets = _text_buffers(texts)
    return kernels.shingle_text(
        data, offsets, shingling.unit, shingling.k, shingling.normalise, KEY, threads
    )


def _text_buffers(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the bytes and offsets of a large_binary array, without copying the bytes."""
    data = texts.buffers()[2]
    flat = np.empty(0, np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
    return flat, _offsets(texts)


def _offsets(texts: pa.Array) -> NDArray[np.int64]:
    buffer = texts.buffers()[1]
    if buffer is None or not len(texts):
        return np.zeros(1, np.int64)
    return np.frombuffer(buffer, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]


def _buffer(offsets: pa.Array) -> NDArray[np.int64]:
    return np.asarray(offsets.to_numpy(zero_copy_only=False), dtype=np.int64)
