"""The hash family `lookalike-1` is frozen: these inputs give these outputs, for ever.

A sketch or an index made today has to be readable by every later version, so the vectors in
``lookalike-1.json`` never change. Whoever changes what a hash, a signature or a band key is (or
what a normalisation profile does to one of these texts) makes another family: give it a new name
in `lookalike.kernels.reference.FAMILY`, and write its vectors beside the old ones:

    python tests/golden/test_hash_family_is_frozen.py --write

computes the vectors of the cases below with the specification and writes them to
``FAMILY.json``. It may add vectors to a file, and refuses to change or drop one.

In the file 64-bit words are sixteen hexadecimal digits, lists of them are separated by spaces, and
bytes are two digits each.
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from lookalike import kernels
from lookalike.kernels import reference

HERE = Path(__file__).parent
VECTORS = HERE / "lookalike-1.json"
KEY = 0x6C6F6F6B616C696B

# ── The cases ─────────────────────────────────────────────────────────────────────────────────

TOKENS = [
    b"",
    b"\0",
    b"a",
    b"rose",
    b"eightlet",
    b"nineletter",
    b"sixteen letters!",
    "Größe".encode(),
    "हिन्दी".encode(),
    "中".encode(),
    "👍🏽".encode(),
    bytes(range(256)),
]
TEXTS = [
    b"",
    b" \t\n",
    b"?!",
    b"rose",
    b"A rose is a rose is a ROSE.",
    "Straße, İstanbul; ﬁne \u00adsoft\u00ad hyphen\u200b & 100 % of ½ Ⅻ!".encode(),
    "Ὀδυσσεύς ΟΔΥΣΣΕΥΣ άνθρωπος \u03b1\u0301νθρωπος".encode(),
    "Съешь же ещё этих мягких французских булок".encode(),
    "हिन्दी क्‍ष क़लम \u0958लम".encode(),
    "السَّلَامُ عَلَيْكُمْ ﷺ ﻼ محـمد".encode(),
    "שָׁלוֹם עולם".encode(),
    "我能吞下玻璃而不伤身体。Unicode 与 ＡＢＣ１２３".encode(),
    "ガラス ｶﾞﾗｽ か\u3099らす コーヒー 人々".encode(),
    "한국어 \u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165".encode(),
    "น้ำแข็ง ภาษาไทย".encode(),
    "👍🏽 👨\u200d👩\u200d👧 🇬🇷 ❤\ufe0f 1\ufe0f\u20e3 €5 x≠y C++ a_b".encode(),
    b"caf\xe9 \xff\xfe \xf0\x9f\x91 \xed\xa0\x80 \xc0\x80 end\0nul",
    b"w" * 99 + b" tail",
]
SHINGLINGS = [("words", 1), ("words", 3), ("words", 5), ("chars", 4)]
TOKEN_LISTS = [[], [b"rose"], [b"a", b"rose", b"is", b"a", b"rose"], [b"", b"", "é".encode()]]
BAGS = [[], [7], [7, 7, 7], [3, 1, 3, 2**64 - 1, 1, 3, 0, 0]]
SETS = {
    "empty": [],
    "one": [0x0123456789ABCDEF],
    "three": [1, 2, 2**64 - 1],
    "large": [reference.draw(2024, number) for number in range(300)],
}
SKETCHES = [  # scheme, slots, seed
    ("fast", 1, 0),
    ("fast", 7, 1),
    ("fast", 96, 1),
    ("fast", 208, 2**64 - 1),
    ("classic", 1, 0),
    ("classic", 7, 1),
    ("classic", 96, 2**64 - 1),
]
PLANS = [(1, 1), (7, 1), (1, 7), (3, 2), (16, 6)]  # bands, rows; of the first slots of a signature


# ── From cases to vectors ─────────────────────────────────────────────────────────────────────


def words(values):
    return " ".join(f"{int(value):016x}" for value in values)


def numbers(text):
    return np.array([int(word, 16) for word in text.split()], dtype=np.uint64)


def flat(parts):
    offsets = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return np.frombuffer(b"".join(parts), dtype=np.uint8), offsets


def whole(values):
    return np.array([0, len(values)], dtype=np.int64)


def token(implementation, given):
    data, offsets = flat([bytes.fromhex(given["token"])])
    starts = np.array([0, 1], dtype=np.int64)
    hashes, _ = implementation.shingle_tokens(data, offsets, starts, 1, int(given["key"], 16))
    return {"shingle": words(hashes)}


def text(implementation, given):
    data, offsets = flat([bytes.fromhex(given["bytes"])])
    unit, k, profile = given["unit"], given["k"], given["profile"]
    tokens, bounds, _ = implementation.tokenise(data, offsets, unit, profile)
    split = [tokens.tobytes()[a:b].decode() for a, b in pairwise(bounds.tolist())]
    hashes, _ = implementation.shingle_text(data, offsets, unit, k, profile, KEY)
    return {"tokens": split, "shingles": words(hashes)}


def token_list(implementation, given):
    data, offsets = flat([bytes.fromhex(each) for each in given["tokens"]])
    starts = whole(given["tokens"])
    hashes, _ = implementation.shingle_tokens(data, offsets, starts, given["k"], KEY)
    return {"shingles": words(hashes)}


def bag(implementation, given):
    values = numbers(given["elements"])
    printed = implementation.fingerprint(values, whole(values))
    implementation.number_occurrences(values, whole(values))
    return {"fingerprint": words(printed), "numbered": words(values)}


def signatures(implementation, given):
    values = numbers(given["elements"])
    return [sketch(implementation, values, *how) for how in given["sketches"]]


def sketch(implementation, values, scheme, slots, seed):
    item = np.zeros(1, dtype=np.int32)
    made = implementation.sketch(scheme, values, whole(values), item, slots, int(seed, 16))
    keys = {
        f"{bands}x{rows}": words(implementation.band_keys(made, bands, rows)[:, 0])
        for bands, rows in PLANS
        if bands * rows <= slots
    }
    return {"signature": words(made[0]), "band_keys": keys}


COMPUTE = {
    "token": token,
    "text": text,
    "token_list": token_list,
    "bag": bag,
    "signatures": signatures,
}


def cases():
    """Yield the kind and the input of every vector."""
    for each in TOKENS:
        for key in (0, KEY, 2**64 - 1):
            yield "token", {"token": each.hex(), "key": words([key])}
    for each in TEXTS:
        for unit, k in SHINGLINGS:
            for profile in ("standard", "none"):
                yield "text", {"bytes": each.hex(), "unit": unit, "k": k, "profile": profile}
    for tokens in TOKEN_LISTS:
        for k in (1, 2, 5):
            yield "token_list", {"tokens": [each.hex() for each in tokens], "k": k}
    for elements in BAGS:
        yield "bag", {"elements": words(elements)}
    sketches = [[scheme, slots, words([seed])] for scheme, slots, seed in SKETCHES]
    for elements in SETS.values():
        yield "signatures", {"elements": words(elements), "sketches": sketches}


def vectors():
    """Return all vectors, by the specification."""
    return [
        {"kind": kind, "given": given, "expected": COMPUTE[kind](reference, given)}
        for kind, given in cases()
    ]


def write():
    """Write the vectors of the present family; refuse to change one that was written before."""
    path = HERE / f"{reference.FAMILY}.json"
    made = vectors()
    known = json.loads(path.read_text("utf-8"))["vectors"] if path.exists() else []
    if any(vector not in made for vector in known):
        raise SystemExit(
            f"{path.name} holds vectors that would change: hashes that differ are another family, "
            "so give it a new name in lookalike.kernels.reference.FAMILY"
        )
    lines = ",\n".join(json.dumps(vector, ensure_ascii=False) for vector in made)
    head = json.dumps({"family": reference.FAMILY, "unicode": reference.unicode().version})
    path.write_text(f'{head[:-1]}, "vectors": [\n{lines}\n]}}\n', "utf-8")


# ── The tests ─────────────────────────────────────────────────────────────────────────────────

FROZEN = json.loads(VECTORS.read_text("utf-8")) if VECTORS.exists() else {"vectors": []}


def test_the_family_and_the_unicode_version_are_those_of_the_vectors():
    assert FROZEN["family"] == reference.FAMILY
    assert FROZEN["unicode"] == reference.unicode().version == kernels.UNICODE


@pytest.mark.parametrize("kind", COMPUTE)
@pytest.mark.parametrize("implementation", [kernels, reference], ids=["native", "reference"])
def test_every_vector_comes_out_as_it_was_frozen(implementation, kind):
    frozen = [vector for vector in FROZEN["vectors"] if vector["kind"] == kind]
    assert frozen
    for vector in frozen:
        assert COMPUTE[kind](implementation, vector["given"]) == vector["expected"]


def test_every_case_has_a_vector():
    given = [[vector["kind"], vector["given"]] for vector in FROZEN["vectors"]]
    assert all([kind, case] in given for kind, case in cases())


def test_a_few_vectors_can_be_recomputed_with_nothing_but_integers():
    """hash_token and hash_shingle, worked out by hand, so that the specification is held as well.

    The hash of a token of up to eight bytes is mix(key ^ length · C0 ^ its bytes, C1), that of a
    shingle of one token t is mix(t ^ C0, C2), and mix xors the halves of the product.
    """
    word = 2**64 - 1
    c0, c1, c2 = 0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B
    token_hash = (KEY ^ 4 * c0 & word ^ int.from_bytes(b"rose", "little")) * c1
    token_hash = (token_hash ^ token_hash >> 64) & word
    shingle = (token_hash ^ c0) * c2
    shingle = (shingle ^ shingle >> 64) & word
    assert token_hash == reference.hash_token(b"rose", KEY)
    given = {"token": b"rose".hex(), "key": words([KEY])}
    assert token(kernels, given) == {"shingle": words([shingle])}


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        raise SystemExit(__doc__)
    write()
