"""The hashes of structured tokens behave like random 64-bit words.

All bounds are for ideal hashing and hold for any number of tokens n:

* A bit that is 1 with probability 1/2 shows a mean further than x from 1/2 with probability at
  most 2 exp(-2 n x²) (Hoeffding).
* Of n words that fall into m places, let c be those that fall where another lies already. Word i
  does with probability at most (i - 1)/m whatever happened before, so c is at most a sum of
  independent trials of mean λ = n(n - 1)/2m, and P(c ≥ x) ≤ exp(-(x ln(x/λ) - x + λ)) (Chernoff);
  the same bound holds below λ, where the c ≪ n places already doubled change λ by less than 1e-3
  of itself.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from lookalike import kernels
from lookalike.kernels import reference
from lookalike.kinds.text import KEY

N = 1_000_000
FAMILIES = {
    "words with numbers": lambda i: b"w%d" % i,
    "eight digits": lambda i: b"%08d" % i,
    "a long common beginning": lambda i: b"the quick brown fox jumps over %d" % i,
    "binary": lambda i: i.to_bytes(8, "big"),
}


def hashes(tokens, *, k=1, lists=None):
    """Return the hashed shingles of some lists of tokens, by default of one token each."""
    offsets = np.cumsum([0, *map(len, tokens)], dtype=np.int64)
    starts = np.arange(0, len(tokens) + 1, lists or 1, dtype=np.int64)
    data = np.frombuffer(b"".join(tokens), dtype=np.uint8)
    return kernels.shingle_tokens(data, offsets, starts, k, KEY, 2)[0]


def bias(words):
    """Return how far from 1/2 the share of ones is in the most biased of the 64 bits."""
    shares = [(words >> np.uint64(bit) & np.uint64(1)).mean() for bit in range(64)]
    return max(abs(share - 0.5) for share in shares)


def surprise_of_collisions(found, expected):
    """Return -ln of the bound on the probability of so many, or so few, collisions."""
    return (found * math.log(found / expected) if found else 0) - found + expected


@pytest.mark.parametrize("family", FAMILIES)
def test_hashes_of_consecutive_words_are_spread_evenly(family, chance):
    words = hashes([FAMILIES[family](i) for i in range(N)])
    assert len(np.unique(words)) == N  # 64 bits: expected 2.7e-8 collisions

    assert bias(words) < math.sqrt(math.log(2 / chance) / (2 * N))

    expected = N * (N - 1) / 2**33
    for shift in (0, 16, 32):
        part = (words >> np.uint64(shift)).astype(np.uint32)
        collisions = N - len(np.unique(part))
        assert surprise_of_collisions(collisions, expected) < math.log(2 / chance)


def test_one_changed_bit_of_a_token_changes_half_of_the_hash(chance):
    """Each of 64 × 64 pairs of an input and an output bit is one check; so each has chance/4096."""
    n = 6000
    tokens = np.random.default_rng(8).integers(0, 2**64, n, dtype=np.uint64)
    before = hashes([token.tobytes() for token in tokens])
    bound = math.sqrt(math.log(2 * 64 * 64 / chance) / (2 * n))
    for bit in range(64):
        flipped = tokens ^ np.uint64(1 << bit)
        after = hashes([token.tobytes() for token in flipped])
        assert bias(before ^ after) < bound


def test_the_order_of_tokens_matters():
    words = [b"to", b"be", b"or", b"not", b"that", b"is"]
    permuted = list(itertools.permutations(words))
    assert len(permuted) == 720
    flat = [token for tokens in permuted for token in tokens]
    assert len(np.unique(hashes(flat, k=6, lists=6))) == 720


def test_sequences_of_few_distinct_tokens_do_not_collide():
    for length, alphabet in [
        (8, [b"a", b"b", b"c"]),
        (16, [b"0", b"1"]),
        (4, [b"%d" % i for i in range(12)]),
    ]:
        sequences = list(itertools.product(alphabet, repeat=length))
        flat = [token for tokens in sequences for token in tokens]
        assert len(np.unique(hashes(flat, k=length, lists=length))) == len(sequences)


def test_sequences_that_defeat_polynomials_modulo_a_power_of_two_do_not_collide():
    """A Thue-Morse word and its complement differ by Π (base^2^i - 1): many factors of two."""
    for length in (8, 16, 32, 64, 128):
        word = [bin(i).count("1") % 2 for i in range(length)]
        one, other = (
            [b"ab"[bit : bit + 1] for bit in side] for side in (word, [1 - b for b in word])
        )
        assert len(np.unique(hashes([*one, *other], k=length, lists=length))) == 2


def test_a_token_is_not_the_same_as_its_padding_or_its_parts():
    tokens = [b"", b"\0", b"\0\0", b"a", b"a\0", b"a" * 8, b"a" * 8 + b"\0", b"a" * 9, b"a" * 16]
    assert len(np.unique(hashes(tokens))) == len(tokens)
    assert hashes([b"ab", b"c"], k=2, lists=2) != hashes([b"a", b"bc"], k=2, lists=2)
    assert hashes([b"ab", b""], k=2, lists=2) != hashes([b"ab"], k=2)


@pytest.mark.parametrize("k", [1, 2, 5, 9, 31, 500])
def test_the_rolling_hash_equals_its_definition_far_into_a_text(k):
    rng = np.random.default_rng(k)
    words = [b"w%d" % i for i in rng.integers(0, 300, 3000)]
    text = b" ".join(words)
    data, offsets = np.frombuffer(text, dtype=np.uint8), np.array([0, len(text)], dtype=np.int64)
    rolled, starts = kernels.shingle_text(data, offsets, "words", k, "standard", KEY)
    hashed = [reference.hash_token(word, KEY) for word in words]
    defined = [reference.hash_shingle(hashed[at : at + k]) for at in range(len(words) - k + 1)]
    assert starts.tolist() == [0, len(defined)]
    assert rolled.tolist() == defined


def test_the_key_changes_every_hash():
    token, starts = np.frombuffer(b"word", dtype=np.uint8), np.array([0, 1], dtype=np.int64)
    offsets = np.array([0, 4], dtype=np.int64)
    seen = {int(kernels.shingle_tokens(token, offsets, starts, 1, k)[0][0]) for k in range(10_000)}
    assert len(seen) == 10_000
