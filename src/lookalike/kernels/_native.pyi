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
    part: int = 0,
    parts: int = 1,
    threads: int = 1,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
def members(
    group_of: NDArray[np.int32], groups: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...
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
def crowd(keys: NDArray[np.uint64], cap: int, threads: int = 1) -> NDArray[np.int32]: ...
def candidates(
    keys: NDArray[np.uint64],
    sides: NDArray[np.uint8] | None = None,
    crowded: NDArray[np.uint8] | None = None,
    cap: int = ...,
    part: int = 0,
    parts: int = 1,
    most: int = ...,
    threads: int = 1,
) -> NDArray[np.uint64] | None: ...
def canonicalise(
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int32],
    items: NDArray[np.int32],
    threads: int = 1,
) -> None: ...
def gather(
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int32],
    items: NDArray[np.int32],
    threads: int = 1,
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int32]]: ...
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
def components(
    labels: NDArray[np.int32], left: NDArray[np.int32], right: NDArray[np.int32]
) -> None: ...
def order_by(ranks: NDArray[np.int64]) -> NDArray[np.int32]: ...
def group_order(
    order: NDArray[np.int32], group_of: NDArray[np.int32], groups: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
def checksum(data: NDArray[np.uint8]) -> int: ...
def set_scratch(directory: str | None, allowance: int) -> None: ...
def scratch_in_use() -> tuple[int, int]: ...
def allocate(nbytes: int) -> NDArray[np.uint8]: ...
