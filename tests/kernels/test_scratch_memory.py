"""Large arrays lie in memory up to an allowance, and in files without names beyond it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from lookalike import kernels

MEGABYTE = 1 << 20
UNLIMITED = 2**64 - 1


@pytest.fixture
def scratch(tmp_path):
    """Return a function that sets an allowance for this test, with files in its own directory."""
    before = kernels.scratch_in_use()
    yield lambda allowance: kernels.set_scratch(str(tmp_path), allowance)
    kernels.set_scratch(None, UNLIMITED)
    assert kernels.scratch_in_use() == before, "an array was not freed"


def used_since(before: tuple[int, int]) -> tuple[int, int]:
    now = kernels.scratch_in_use()
    return now[0] - before[0], now[1] - before[1]


def test_arrays_beyond_the_allowance_are_files(scratch, tmp_path):
    before = kernels.scratch_in_use()
    scratch(before[0] + 3 * MEGABYTE)
    small, first, second = (kernels.allocate(size * MEGABYTE // 2) for size in (1, 4, 4))
    assert used_since(before) == (2 * MEGABYTE, 2 * MEGABYTE)
    assert not any(array.any() for array in (small, first, second))
    first[:], second[:] = 1, 2
    assert (int(first.sum()), int(second.sum())) == (len(first), 2 * len(second))
    assert not list(tmp_path.iterdir())
    del first
    third = kernels.allocate(2 * MEGABYTE)
    assert used_since(before) == (2 * MEGABYTE, 2 * MEGABYTE)
    assert not third.any()


def test_arrays_outlive_the_setting_they_were_made_under(scratch):
    before = kernels.scratch_in_use()
    scratch(0)
    filed = kernels.allocate(4 * MEGABYTE)
    kernels.set_scratch(None, 0)
    anonymous = kernels.allocate(2 * MEGABYTE)
    assert used_since(before) == (2 * MEGABYTE, 4 * MEGABYTE)
    filed[-1] = anonymous[-1] = 1
    del filed
    assert used_since(before) == (2 * MEGABYTE, 0)
    del anonymous
    assert used_since(before) == (0, 0)


def test_kernels_give_the_same_in_files(scratch):
    keys = np.random.default_rng(3).integers(0, 2**64, 300_000, dtype=np.uint64)
    keys[200_000:] = keys[:100_000]
    expected = np.sort(kernels.candidates(keys))
    scratch(0)
    before = kernels.scratch_in_use()
    order = kernels.order_by(np.arange(400_000, 0, -1))
    assert used_since(before) == (0, 4 * 400_000)
    np.testing.assert_array_equal(order, np.arange(400_000)[::-1])
    np.testing.assert_array_equal(np.sort(kernels.candidates(keys, threads=2)), expected)


def test_a_directory_that_is_not_there_is_an_error(scratch, tmp_path):
    nowhere = tmp_path / "nowhere"
    kernels.set_scratch(str(nowhere), 0)
    with pytest.raises(FileNotFoundError) as raised:
        kernels.allocate(MEGABYTE)
    assert raised.value.filename == str(nowhere)
    with pytest.raises(FileNotFoundError):
        kernels.order_by(np.arange(400_000, 0, -1))
    text, offsets = np.full(8 * MEGABYTE, ord("a"), np.uint8), np.array([0, 4, 8]) * MEGABYTE
    with pytest.raises(FileNotFoundError):  # from a thread
        kernels.shingle_text(text, offsets, "chars", 2, "none", 0, 2)


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no file system in memory")
def test_a_full_disk_is_an_error_and_not_a_signal(scratch):
    whole = os.statvfs("/dev/shm")
    kernels.set_scratch("/dev/shm", 0)
    with pytest.raises(OSError, match="/dev/shm") as raised:
        kernels.allocate(whole.f_frsize * whole.f_blocks + MEGABYTE)
    assert raised.value.errno == errno.ENOSPC
    assert raised.value.filename == "/dev/shm"


def anonymous_memory() -> int:
    status = Path("/proc/self/status").read_text("ascii").splitlines()
    return 1024 * int(next(line for line in status if line.startswith("RssAnon")).split()[1])


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="only Linux tells")
def test_files_are_not_anonymous_memory(scratch):
    scratch(0)
    before = anonymous_memory()
    filed = kernels.allocate(64 * MEGABYTE)
    filed[:] = 1
    assert anonymous_memory() - before < 16 * MEGABYTE
    kernels.set_scratch(None, 0)
    anonymous = kernels.allocate(64 * MEGABYTE)
    anonymous[:] = 1
    assert anonymous_memory() - before > 60 * MEGABYTE
    del anonymous
    assert anonymous_memory() - before < 16 * MEGABYTE  # given back at once


def test_read_only_memory_maps_are_not_copied(tmp_path):
    """The file is larger than any memory, and almost all of it is a hole."""
    hashes = 1 << 40 >> 3
    path = tmp_path / "hashes"
    with path.open("wb") as file:
        file.truncate(8 * hashes)
        file.seek(-24, os.SEEK_END)
        file.write(np.array([3, 4, 5], dtype=np.uint64).tobytes())
    mapped = np.memmap(path, dtype=np.uint64, mode="r")
    starts = np.array([0, hashes - 3, hashes], dtype=np.int64)
    starts.flags.writeable = False
    sizes, items = np.array([2, 3], dtype=np.int32), np.array([1, 0], dtype=np.int32)
    gathered, _, _ = kernels.gather(mapped, starts, sizes, items)
    assert gathered.tolist() == [3, 4, 5, 0, 0]
    with pytest.raises(TypeError):  # what is written to has to be writable
        kernels.canonicalise(mapped, starts, sizes, items)
