"""An exact run finds what the naive oracle finds, no more and no less, from 0.3 to 1."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import lookalike as la

from . import naive

pytestmark = pytest.mark.data

THRESHOLDS = ("0.3", "0.4", "0.5", "0.6", "0.75", "0.8", "0.9", "0.95", "1")


@pytest.mark.parametrize("shingle", ["words:5", "words:2"])
@pytest.mark.parametrize("name", ["reuters", "licences", "debian"])
def test_an_exact_run_equals_the_oracle_at_every_threshold(name, shingle, documents):
    given = documents(name)
    matrix, sizes = naive.incidence(naive.set_of(text, shingle) for text in given.texts)
    parts = []
    for first in range(0, len(sizes), 1000):  # a part of the product at a time
        product = (matrix[first : first + 1000] @ matrix.T).tocoo()
        left, right = product.row + first, product.col
        union = sizes[left] + sizes[right] - product.data
        near = (left < right) & (10 * product.data >= 3 * union)
        parts.append(np.stack([left, right, product.data, union])[:, near].astype(np.int64))
    left, right, shared, union = np.concatenate(parts, axis=1)
    order = np.lexsort((right, left))
    left, right, shared, union = (column[order] for column in (left, right, shared, union))
    for threshold in THRESHOLDS:
        exact = Fraction(threshold)
        true = shared * exact.denominator >= exact.numerator * union
        result = la.find(given.table, threshold=threshold, shingle=shingle, exact=True)
        np.testing.assert_array_equal(result.positions.left, left[true])
        np.testing.assert_array_equal(result.positions.right, right[true])
        np.testing.assert_array_equal(result.positions.similarity, shared[true] / union[true])
        assert result.recall.value == 1
