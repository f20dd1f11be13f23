"""Random rankings: closed forms against every ranking."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from causaleval_pd.structure.nulls.random_ranking import auroc_moments, expected_average_precision, tie_sum


def average_precision(ranked):
    hits = np.cumsum(ranked)
    return np.mean([hits[i] / (i + 1) for i in range(len(ranked)) if ranked[i]])


def auroc(scores, true):
    pairs = [(a > b) + (a == b) / 2 for a in scores[true] for b in scores[~true]]
    return np.mean(pairs)


@pytest.mark.parametrize(("k", "n"), [(1, 1), (1, 2), (2, 2), (1, 5), (3, 7), (4, 10), (9, 10)])
def test_average_precision_over_all_rankings(k, n):
    values = [
        average_precision(np.isin(np.arange(n), chosen).astype(int)) for chosen in itertools.combinations(range(n), k)
    ]
    assert float(expected_average_precision(k, n)) == pytest.approx(np.mean(values), abs=1e-13)


@pytest.mark.parametrize("scores", [[1, 2, 3, 4, 5, 6], [1, 1, 2, 3, 3, 3], [1, 1, 1, 1, 2, 2], [5, 5, 5, 5, 5, 5]])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_auroc_over_all_rankings(scores, k):
    scores = np.array(scores, float)
    values = [auroc(scores, np.isin(np.arange(6), chosen)) for chosen in itertools.combinations(range(6), k)]
    found = auroc_moments(k, 6, tie_sum(scores))
    assert float(found.mean) == pytest.approx(np.mean(values))
    assert float(found.variance) == pytest.approx(np.var(values), abs=1e-14)


def test_edge_cases_and_checks():
    assert np.isnan(expected_average_precision(0, 5)) and float(expected_average_precision(5, 5)) == 1
    assert np.isnan(auroc_moments([0, 5], 5).mean).all() and np.isnan(auroc_moments([0, 5], 5).variance).all()
    with pytest.raises(ValueError, match="true_edges must be whole numbers from 0 to candidates, found 6 of 5"):
        expected_average_precision([1, 6], 5)
    with pytest.raises(ValueError, match="found -1 of 5"):
        auroc_moments(-1, 5)
