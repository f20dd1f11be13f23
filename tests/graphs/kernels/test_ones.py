"""Ones are counted alike with and without numpy's own function."""

from __future__ import annotations

import importlib

import numpy as np

from causaleval_pd.graphs.kernels import ones


def test_words_are_counted_as_python_counts_them(monkeypatch):
    words = np.random.default_rng(0).integers(0, 2**64, (50, 3), np.uint64, endpoint=False)
    words[:4, 0] = [0, 1, 2**63, 2**64 - 1]
    expected = [[int(word).bit_count() for word in row] for row in words]
    assert ones.count_ones(words).tolist() == expected
    with monkeypatch.context() as patch:
        patch.delattr(np, "bitwise_count", raising=False)
        older = importlib.reload(ones).count_ones
    importlib.reload(ones)
    found = older(words)
    assert found.tolist() == expected
    assert found.dtype == np.uint8
