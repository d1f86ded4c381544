"""Types of the native kernels; their meaning is in `reference.py`."""

import numpy as np
from numpy.typing import NDArray

UNICODE: str

def tokenise(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], unit: str, profile: str
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]: ...
def shingle_text(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    unit: str,
    k: int,
    profile: str,
    key: int,
    threads: int = 1,
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]: ...
def shingle_tokens(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    starts: NDArray[np.int64],
    k: int,
    key: int,
    threads: int = 1,
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]: ...
def number_occurrences(
    hashes: NDArray[np.uint64], starts: NDArray[np.int64], threads: int = 1
) -> None: ...
def fingerprint(
    hashes: NDArray[np.uint64], starts: NDArray[np.int64], threads: int = 1
) -> NDArray[np.uint64]: ...
def first_copies(
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    prints: NDArray[np.uint64],
    threads: int = 1,
) -> NDArray[np.int32]: ...
def sketch(
    scheme: str,
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    items: NDArray[np.int32],
    slots: int,
    seed: int,
    threads: int = 1,
) -> NDArray[np.uint64]: ...
def band_keys(
    signatures: NDArray[np.uint64], bands: int, rows: int, threads: int = 1
) -> NDArray[np.uint64]: ...
def candidates(
    keys: NDArray[np.uint64],
    band: int,
    sides: NDArray[np.uint8] | None = None,
    cap: int = ...,
    threads: int = 1,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]: ...
def canonicalise(
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int32],
    items: NDArray[np.int32],
    threads: int = 1,
) -> None: ...
def verify(
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int32],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    numerator: int,
    denominator: int,
    threads: int = 1,
) -> NDArray[np.int32]: ...
def components(n: int, left: NDArray[np.int32], right: NDArray[np.int32]) -> NDArray[np.int32]: ...
def join(
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int32],
    items: NDArray[np.int32],
    sides: NDArray[np.uint8] | None,
    numerator: int,
    denominator: int,
    limit: int = ...,
    threads: int = 1,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]: ...
def forest(
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int32],
    items: NDArray[np.int32],
    sides: NDArray[np.uint8] | None,
    numerator: int,
    denominator: int,
    threads: int = 1,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
def greedy(
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int32],
    items: NDArray[np.int32],
    sides: NDArray[np.uint8] | None,
    order: NDArray[np.int32],
    protect: NDArray[np.uint8],
    joined: NDArray[np.int32],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    numerator: int,
    denominator: int,
    threads: int = 1,
) -> NDArray[np.int32]: ...
