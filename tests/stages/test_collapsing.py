"""Exact copies are collapsed first and expanded last."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lookalike import kernels
from lookalike.data import Groups, Pairs, Sets
from lookalike.stages.collapsing import (
    collapse,
    count_copies,
    expand,
    expand_compactly,
    pair_counts,
)


def sets_of(items: list[list[int]]) -> Sets:
    starts = np.concatenate([[0], np.cumsum([len(item) for item in items])]).astype(np.int64)
    return Sets.of(np.array([x for item in items for x in item], dtype=np.uint64), starts)


def groups_of(items: list[list[int]], split: int | None = None, parts: int = 1) -> Groups:
    sets = sets_of(items)
    return collapse(sets, kernels.fingerprint(sets.hashes, sets.starts), split, parts)


def test_copies_share_a_group_and_empty_items_have_none():
    for parts in (1, 2, 7):
        groups = groups_of([[1, 2], [], [3], [1, 2], [2, 1], [3], []], parts=parts)
        assert groups.firsts.tolist() == [0, 2, 4]
        assert groups.group_of.tolist() == [0, -1, 1, 0, 2, 1, -1]
        assert np.diff(groups.members[1]).tolist() == [2, 2, 1]
        assert groups.copies == 2


@given(
    st.lists(st.sampled_from([[1], [2], [3], [1, 2], []]), max_size=10),
    st.none() | st.integers(0, 10),
    st.data(),
)
def test_expanding_gives_every_pair_of_items_once(items, split, data):
    split = None if split is None else min(split, len(items))
    groups = groups_of(items, split)
    possible = list(combinations(range(len(groups)), 2))
    chosen = data.draw(st.lists(st.sampled_from(possible), unique=True)) if possible else []
    flat = np.array(chosen, dtype=np.int32).reshape(-1, 2)
    between = Pairs(flat[:, 0], flat[:, 1], np.full(len(flat), 0.5))

    similar = {frozenset(pair): 0.5 for pair in chosen}
    expected = []
    for a, b in combinations(range(len(items)), 2):
        pair = frozenset((int(groups.group_of[a]), int(groups.group_of[b])))
        similarity = 1.0 if len(pair) == 1 and -1 not in pair else similar.get(pair)
        if similarity and (split is None or a < split <= b):
            expected.append((a, b, similarity))

    found = expand(groups, between)
    rows = list(zip(found.left.tolist(), found.right.tolist(), found.similarity, strict=True))
    assert rows == expected
    counted = pair_counts(groups, between).sum() + count_copies(groups)
    assert counted == len(expected)


def test_compact_pairs_name_each_copy_once():
    groups = groups_of([[1], [2], [1], [1], [2], []])
    pair = Pairs(np.array([0], np.int32), np.array([1], np.int32), np.array([0.5]))
    found = expand_compactly(groups, pair)
    rows = list(zip(found.left.tolist(), found.right.tolist(), found.similarity, strict=True))
    assert rows == [(0, 1, 0.5), (0, 2, 1.0), (0, 3, 1.0), (1, 4, 1.0)]


def test_a_group_may_stand_on_both_sides():
    assert groups_of([[1], [2], [1], [3]], 2).sides.tolist() == [3, 1, 2]
    assert groups_of([[1], [2], [1], [3]]).sides is None
