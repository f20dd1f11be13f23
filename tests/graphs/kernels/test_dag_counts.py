"""Numbers of labelled DAGs: against published and exact ones."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from references.dag_counts import exact_numbers, numbers_of_edges

from causaleval_pd.graphs.kernels.dag_counts import best_weight, laws, log_weights, peeling


def test_numbers_of_dags_by_roots_are_the_published_ones():
    # OEIS A003024; A003025 are those with one root
    known = {1: [1], 2: [2, 1], 3: [15, 9, 1], 4: [316, 198, 28, 1], 5: [16885, 10710, 1610, 75, 1]}
    totals = {1: 1, 2: 3, 3: 25, 4: 543, 5: 29281, 6: 3781503, 7: 1138779265}
    for d, total in totals.items():
        found = peeling(d, 0.0)
        assert np.exp(found.log_total) == pytest.approx(total, rel=1e-13)
        np.testing.assert_allclose(total * found.roots[d, 1:], known.get(d, total * found.roots[d, 1:]), rtol=1e-13)
    roots = [total * peeling(d, 0.0).roots[d, 1] for d, total in totals.items()]
    np.testing.assert_allclose(roots[:6], [1, 2, 15, 316, 16885, 2174586], rtol=1e-13)


def test_weighted_numbers_are_those_of_whole_numbers():
    exact = exact_numbers(6)
    for weight in (0.01, 0.7, 30.0):
        found = peeling(6, np.log(weight))
        by_roots = [sum(x * weight**m for m, x in enumerate(exact[6, s])) for s in range(1, 7)]
        assert np.exp(found.log_total) == pytest.approx(sum(by_roots), rel=1e-13)
        np.testing.assert_allclose(found.roots[6, 1:], np.array(by_roots) / sum(by_roots), rtol=1e-12)


def test_large_numbers_keep_their_precision():
    """Forty nodes, against whole numbers of some 300 digits."""
    exact = [[1]]
    for n in range(1, 41):
        row = [0]
        for s in range(1, n + 1):
            ways = (
                (2**s - 1) ** u * 2 ** (s * (n - s - u)) * exact[n - s][u]
                for u in (range(1, n - s + 1) if s < n else [0])
            )
            row.append(comb(n, s) * sum(ways))
        exact.append(row)
    found = peeling(40, 0.0)
    shares = [exact[40][s] / sum(exact[40]) for s in range(1, 41)]
    np.testing.assert_allclose(found.roots[40, 1:], shares, rtol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("d", [5, 12, 30])
def test_a_weight_suits_every_number_of_arcs(d):
    """Tries end soon: the tables hold laws, and draws with m arcs are common."""
    for m in numbers_of_edges(d):
        found = laws(d, best_weight(d, m))
        for law in (found.roots, found.joined, found.reach, found.parents, found.arcs):
            assert np.isfinite(law).all() and (law >= 0).all() and (law <= 1 + 1e-12).all()
    if d == 5:
        exact = exact_numbers(d)
        number = np.array([sum(exact[d, s][m] for s in range(1, d + 1)) for m in numbers_of_edges(d)], float)
        for m in numbers_of_edges(d):
            weights = number * np.exp(log_weights(d)[best_weight(d, m)] * np.arange(len(number)))
            assert weights[m] > 0.15 * weights.sum()
