"""Blocks of graphs and pairs of them."""

from __future__ import annotations

import numpy as np

from causaleval_pd.graphs import pairs


def test_distinct_rows_survive_equal_hashes(monkeypatch):
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 3, (200, 3)).astype(np.uint64)
    for _ in range(2):
        first, inverse = pairs.distinct_rows(cells)
        np.testing.assert_array_equal(cells[first][inverse], cells)
        assert len(first) == len(np.unique(cells, axis=0))
        monkeypatch.setattr(pairs.pd, "factorize", lambda hashed: (np.zeros(len(hashed), np.int64), hashed[:1]))
