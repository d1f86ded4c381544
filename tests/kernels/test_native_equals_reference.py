"""Every native kernel returns what its specification in plain Python returns, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels import _native as native
from lookalike.kernels import reference

THREADS = [1, 3]

# Letters of many scripts, marks, Hangul pieces, format characters, folding oddities, symbols.
TROUBLE = (
    "aAzZ09 \t\n\u00a0\u3000.,-_$+é\u0301\u0327\u0345\u0323ßẞİıſΣςσὈᾈΆ\ufb03\u00ad\u200d\ufe0f"
    "\u1100\u1161\u11a8\uac00\uac01한हिन्दी\u0915\u093c\u0958اللغة\u0640\ufdfa中文汉字"
    "\u304b\u3099がｶﾞー々ไทย\u0e33ລາວ😀👍🏽👨\u200d👩🇬🇷€≠①㎏\u0600\u034f\u2500\ue000\U000e0041"
)
texts = st.lists(
    st.text(alphabet=st.sampled_from(TROUBLE), max_size=30)
    | st.text(max_size=30)
    | st.from_regex(r"[a-zA-Z ,.]{0,60}", fullmatch=True),
    max_size=6,
).map(lambda texts: [text.encode("utf-8", "surrogatepass") for text in texts])
raw = st.lists(st.binary(max_size=24), max_size=6)


def flat(texts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
    return np.frombuffer(b"".join(texts), dtype=np.uint8), offsets


def ragged(items: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.concatenate([[0], np.cumsum([len(item) for item in items])]).astype(np.int64)
    return np.array([x for item in items for x in item], dtype=np.uint64), starts


def assert_same(one, other) -> None:
    for a, b in zip(one, other, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


hashes = st.integers(0, 2**64 - 1) | st.integers(0, 5)
collections = st.lists(st.lists(hashes, max_size=12), max_size=8)


@given(texts | raw, st.sampled_from(["words", "chars"]), st.sampled_from(["standard", "none"]))
@settings(max_examples=600)
def test_tokens_of_any_bytes(texts, unit, profile):
    data, offsets = flat(texts)
    assert_same(
        native.tokenise(data, offsets, unit, profile),
        reference.tokenise(data, offsets, unit, profile),
    )


@given(
    texts | raw,
    st.sampled_from(["words", "chars"]),
    st.integers(1, 12),
    st.sampled_from(["standard", "none"]),
    hashes,
    st.sampled_from(THREADS),
)
@settings(max_examples=300)
def test_shingles_of_any_bytes(texts, unit, k, profile, key, threads):
    data, offsets = flat(texts)
    assert_same(
        native.shingle_text(data, offsets, unit, k, profile, key, threads),
        reference.shingle_text(data, offsets, unit, k, profile, key),
    )


@given(st.lists(st.lists(st.binary(max_size=20), max_size=6), max_size=5), st.integers(1, 4))
def test_shingles_of_ready_made_tokens(lists, k):
    data, offsets = flat([token for tokens in lists for token in tokens])
    starts = np.concatenate([[0], np.cumsum([len(tokens) for tokens in lists])]).astype(np.int64)
    assert_same(
        native.shingle_tokens(data, offsets, starts, k, 7, 2),
        reference.shingle_tokens(data, offsets, starts, k, 7),
    )


@given(collections, st.sampled_from(THREADS))
def test_occurrences_fingerprints_and_copies(items, threads):
    (one, starts), (other, _) = ragged(items), ragged(items)
    np.testing.assert_array_equal(
        native.fingerprint(one, starts, threads), reference.fingerprint(one, starts)
    )
    for prints in (native.fingerprint(one, starts), np.zeros(len(items), np.uint64)):
        for part, parts in [(0, 1), (0, 3), (1, 3), (2, 3)]:
            assert_same(
                native.first_copies(one, starts, prints, part, parts, threads),
                reference.first_copies(one, starts, prints, part, parts),
            )
    native.number_occurrences(one, starts, threads)
    reference.number_occurrences(other, starts)
    np.testing.assert_array_equal(one, other)


@given(
    collections,
    st.sampled_from(["fast", "classic"]),
    st.integers(1, 40),
    hashes,
    st.sampled_from(THREADS),
)
def test_signatures(items, scheme, slots, seed, threads):
    values, starts = ragged(items)
    chosen = np.arange(len(items), dtype=np.int32)[::-1].copy()
    np.testing.assert_array_equal(
        native.sketch(scheme, values, starts, chosen, slots, seed, threads),
        reference.sketch(scheme, values, starts, chosen, slots, seed),
    )


@given(st.integers(0, 6), st.integers(1, 4), st.integers(1, 4), st.data())
def test_band_keys(items, bands, rows, data):
    values = data.draw(
        st.lists(hashes, min_size=items * bands * rows, max_size=items * bands * rows)
    )
    signatures = np.array(values, dtype=np.uint64).reshape(items, bands * rows)
    np.testing.assert_array_equal(
        native.band_keys(signatures, bands, rows, 2), reference.band_keys(signatures, bands, rows)
    )


@given(st.lists(st.integers(-1, 4), max_size=20))
def test_members_of_groups(group_of):
    group_of = np.array(group_of, dtype=np.int32)
    assert_same(native.members(group_of, 5), reference.members(group_of, 5))


few_keys = st.sampled_from([0, 1, 2**63, 2**64 - 1])


@given(st.lists(few_keys | hashes, max_size=30), st.integers(0, 8), st.sampled_from(THREADS))
def test_crowds_of_a_band(keys, cap, threads):
    keys = np.array(keys, dtype=np.uint64)
    assert_same([native.crowd(keys, cap, threads)], [reference.crowd(keys, cap)])


@pytest.mark.parametrize("threads", THREADS)
def test_crowds_among_many_items(threads):
    """One bucket just above the cap, one at the cap, and one cell that is full by chance."""
    keys = np.random.default_rng(1).integers(0, 2**64, 200_000, dtype=np.uint64)
    keys[500:70_000:1000] = 77 << 40  # 70 items
    keys[501:69_000:1000] = 77 << 40 | 1  # 69 items
    keys[70_000:70_500] = np.arange(500) + (99 << 40)
    np.testing.assert_array_equal(native.crowd(keys, 69, threads), np.arange(500, 70_000, 1000))


@given(
    st.lists(few_keys, max_size=14),
    st.sampled_from([1, 3, 100]),
    st.sampled_from([1, 2, 3, 7]),
    st.sampled_from([0, 1, 5, 10**6]),
    st.sampled_from(THREADS),
    st.data(),
)
def test_candidates(values, cap, parts, most, threads, data):
    keys, items = np.array(values, dtype=np.uint64), len(values)
    numbers = st.lists(st.integers(1, 3), min_size=items, max_size=items)
    sides, crowded = (
        np.array(data.draw(numbers), dtype=np.uint8) if data.draw(st.booleans()) else None
        for _ in range(2)
    )
    if crowded is not None:
        crowded >>= 1
    for part in range(parts):
        asked = (keys, sides, crowded, cap, part, parts, most)
        found, expected = native.candidates(*asked, threads), reference.candidates(*asked)
        assert (found is None) == (expected is None)
        if found is not None:
            assert_same((np.sort(found),), (expected,))


@pytest.mark.parametrize("parts", [1, 5])
@pytest.mark.parametrize("items", [1022, 5000, 40_000])
def test_candidates_of_a_band_that_is_split_into_partitions(items, parts):
    keys = np.random.default_rng(items).integers(0, 2**64, items, dtype=np.uint64)
    keys[items // 2 :] = keys[: items // 2]
    found = [
        native.candidates(keys, None, None, 10, part, parts, items, 3) for part in range(parts)
    ]
    left = np.arange(items // 2, dtype=np.uint64)
    expected = left << np.uint64(32) | (left + np.uint64(items // 2))
    np.testing.assert_array_equal(np.sort(np.concatenate(found)), expected)


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=12), min_size=1, max_size=8),
    st.integers(1, 20),
    st.integers(0, 19),
    st.sampled_from(THREADS),
)
def test_canonical_sets_and_exact_overlaps(items, denominator, lack, threads):
    numerator = max(denominator - lack, 1)
    (one, starts), (other, _) = ragged(items), ragged(items)
    everything = np.arange(len(items), dtype=np.int32)
    one_sizes, other_sizes = (np.full(len(items), -1, dtype=np.int32) for _ in range(2))
    native.canonicalise(one, starts, one_sizes, everything, threads)
    reference.canonicalise(other, starts, other_sizes, everything)
    np.testing.assert_array_equal(one_sizes, other_sizes)
    left, right = (a.astype(np.int32) for a in np.triu_indices(len(items)))
    np.testing.assert_array_equal(
        native.verify(one, starts, one_sizes, left, right, numerator, denominator, threads),
        reference.verify(other, starts, other_sizes, left, right, numerator, denominator),
    )
    for chosen in (left, everything[::-1].copy(), everything[:0]):
        assert_same(
            native.gather(one, starts, one_sizes, chosen, threads),
            reference.gather(other, starts, other_sizes, chosen),
        )


def canonical(items: list[list[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    values, starts = ragged(items)
    sizes = np.full(len(items), -1, dtype=np.int32)
    reference.canonicalise(values, starts, sizes, np.arange(len(items), dtype=np.int32))
    return values, starts, sizes


# Few elements, so that sets overlap; spread over the 64 bits, as hashes are.
spread = st.integers(0, 15).map(lambda x: x * 0x1111111111111111)
crowded = st.lists(st.lists(spread, min_size=1, max_size=14), min_size=1, max_size=12)
thresholds = st.sampled_from([(1, 1), (4, 5), (1, 2), (3, 10), (19, 20), (1, 100)])
maybe_sides = st.none() | st.lists(st.integers(1, 3), min_size=12, max_size=12)


def sides_for(drawn: list[int] | None, items: int) -> np.ndarray | None:
    return None if drawn is None else np.array(drawn[:items], dtype=np.uint8)


@given(crowded, thresholds, maybe_sides, st.sampled_from(THREADS))
@settings(max_examples=400)
def test_exact_joins(items, threshold, sides, threads):
    sets, chosen = canonical(items), np.arange(len(items), dtype=np.int32)[::-1].copy()
    sides = sides_for(sides, len(items))
    left, right, overlap = native.join(*sets, chosen, sides, *threshold, threads=threads)
    order = np.lexsort((right, left))
    expected = reference.join(*sets, chosen, sides, *threshold)
    by_pair = np.lexsort((expected[1], expected[0]))
    assert_same((left[order], right[order], overlap[order]), [each[by_pair] for each in expected])


@given(crowded, thresholds, maybe_sides)
@settings(max_examples=400)
def test_forests_connect_what_all_pairs_connect(items, threshold, sides):
    sets, chosen = canonical(items), np.arange(len(items), dtype=np.int32)
    sides = sides_for(sides, len(items))
    left, right = native.forest(*sets, chosen, sides, *threshold)
    expected = reference.forest(*sets, chosen, sides, *threshold)
    assert len(left) == len(expected[0])
    assert_same([connected(len(items), left, right)], [connected(len(items), *expected)])


def connected(n: int, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    labels = np.arange(n, dtype=np.int32)
    reference.components(labels, left, right)
    return labels


@given(crowded, thresholds, maybe_sides, st.data())
@settings(max_examples=400)
def test_the_greedy_choice(items, threshold, sides, data):
    sets, n = canonical(items), len(items)
    sides = sides_for(sides, n)
    everything = np.arange(n, dtype=np.int32)
    order = np.array(data.draw(st.permutations(range(n))), dtype=np.int32)
    protect = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)), np.uint8)
    crowd = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    joined = np.flatnonzero(crowd).astype(np.int32)
    # Pairs of two joined ones are not given; of the others some are.
    left, right, _ = reference.join(*sets, everything, sides, *threshold)
    known = ~(crowd[left] & crowd[right]) & (np.arange(len(left)) % 3 != 0)
    pairs = left[known], right[known]
    args = (*sets, everything, sides, order, protect, joined, *pairs, *threshold)
    np.testing.assert_array_equal(native.greedy(*args), reference.greedy(*args))


edges = st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=30)


@given(st.integers(1, 20), st.lists(edges, max_size=3))
def test_components_of_pairs_in_several_lists(n, lists):
    one, other = (np.arange(n, dtype=np.int32) for _ in range(2))
    for each in lists:
        flat = np.array(each, dtype=np.int32).reshape(-1, 2) % n
        left, right = flat[:, 0].copy(), flat[:, 1].copy()
        native.components(one, left, right)
        reference.components(other, left, right)
        assert_same([one], [other])


@given(st.data(), st.integers(1, 12))
def test_components_go_on_from_any_labels(data, n):
    labels = np.array([data.draw(st.integers(0, item)) for item in range(n)], dtype=np.int32)
    expected, nothing = labels.copy(), labels[:0]
    native.components(labels, nothing, nothing)
    reference.components(expected, nothing, nothing)
    assert_same([labels], [expected])


ranks = st.lists(st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1), max_size=20)


@given(ranks)
def test_orders_by_rank_are_stable(ranks):
    ranks = np.array(ranks, dtype=np.int64)
    assert_same([native.order_by(ranks)], [reference.order_by(ranks)])


@given(st.lists(st.integers(-1, 5), max_size=15), st.data())
def test_groups_in_the_order_of_their_first_items(group_of, data):
    order = np.array(data.draw(st.permutations(range(len(group_of)))), dtype=np.int32)
    order = order[: data.draw(st.integers(0, len(order)))].copy()
    asked = order, np.array(group_of, dtype=np.int32), 6
    assert_same(native.group_order(*asked), reference.group_order(*asked))


@given(st.binary(max_size=300), st.integers(0, 2400))
def test_checksums_show_every_flipped_bit(data, bit):
    bytes_ = np.frombuffer(data, dtype=np.uint8)
    assert native.checksum(bytes_) == reference.checksum(bytes_)
    longer = np.append(bytes_, np.uint8(0))
    assert native.checksum(longer) != native.checksum(bytes_)
    longer[bit % (8 * len(longer)) // 8] ^= 1 << bit % 8
    assert native.checksum(longer) != native.checksum(np.append(bytes_, np.uint8(0)))


def test_every_single_code_point_normalises_alike():
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    data, offsets = flat([chr(code).encode() for code in codes])
    assert_same(
        native.tokenise(data, offsets, "words", "standard"),
        reference.tokenise(data, offsets, "words", "standard"),
    )
