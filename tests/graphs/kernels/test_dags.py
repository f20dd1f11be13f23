"""Uniform DAGs: against their reference, and uniform among all."""

from __future__ import annotations

import numpy as np
import pytest
from references import dags as reference
from references.dag_counts import exact_numbers, numbers_of_edges
from scipy import stats

from causaleval_pd.graphs.dags import all_dags, parent_sets
from causaleval_pd.graphs.kernels import comparison as kernels
from causaleval_pd.graphs.kernels import dags as dag_kernels
from causaleval_pd.graphs.kernels.ones import count_ones

BOTH = (dag_kernels, reference)

KEYS = np.array([5, 2**63 + 11, 77], np.uint64)


def both_ways(monkeypatch, sparse):
    for module in BOTH:
        monkeypatch.setattr(module, "are_sparse", lambda d, m: np.full(m.shape, sparse or d < 2))


SIZES = (0, 1, 2, 3, 4, 7, 12, 63, 64, 65, 90)


# graphs of more than 64 nodes are not drawn by tosses
@pytest.mark.parametrize(
    ("d", "sparse"), [(d, sparse) for sparse in (None, False, True) for d in SIZES if d <= 64 or not sparse]
)
def test_compiled_and_plain_agree(d, sparse, monkeypatch):
    most = d * (d - 1) // 2
    if sparse is not None:
        both_ways(monkeypatch, sparse)
    few = [0, min(d // 2, most), min(d, most)]
    for edges in [few] if sparse else [few, [most // 3, max(0, most - 1), most]]:
        ours, plain = (module.draw_dags(d, edges, KEYS, 3, 4) for module in BOTH)
        np.testing.assert_array_equal(ours, plain)
        assert kernels.is_acyclic(ours, d).all()
        np.testing.assert_array_equal(count_ones(ours).sum(axis=(1, 2)), np.repeat(edges, 4))


@pytest.mark.slow
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("d", [3, 4])
def test_draws_are_uniform_over_all_dags(d, sparse, monkeypatch):
    both_ways(monkeypatch, sparse)
    each, counts = 200, []
    for m in numbers_of_edges(d):
        every = {tuple(graph): 0 for graph in all_dags(d, m).reshape(-1, 2).tolist()}
        drawn = dag_kernels.draw_dags(d, [m], [9], 0, each * len(every))
        for graph in map(tuple, drawn.reshape(-1, 2).tolist()):
            every[graph] += 1
        counts += every.values()
    assert len(counts) == {3: 25, 4: 543}[d]
    statistic = sum((count - each) ** 2 / each for count in counts)
    # one constraint a number of edges
    assert 0.001 < stats.chi2.sf(statistic, len(counts) - len(numbers_of_edges(d))) < 0.999


@pytest.mark.slow
def test_larger_draws_have_the_exact_numbers_of_roots():
    exact = exact_numbers(6)
    for m in (3, 9, 14):
        drawn = dag_kernels.draw_dags(6, [m], [4], 0, 20_000)
        roots = [sets.count(0) for sets in parent_sets(drawn, 6)]
        numbers = np.array([exact[6, s][m] for s in range(1, 7)], float)
        possible = numbers > 0
        expected = 20_000 * numbers[possible] / numbers.sum()
        observed = np.bincount(roots, minlength=7)[1:][possible]
        assert observed.sum() == 20_000
        assert stats.chisquare(observed, expected).pvalue > 0.001


def test_draws_depend_on_key_and_number_alone():
    edges = [3, 20, 40]
    whole = dag_kernels.draw_dags(12, edges, KEYS, 0, 10).reshape(3, 10, -1)
    parts = [dag_kernels.draw_dags(12, edges, KEYS, start, 5).reshape(3, 5, -1) for start in (0, 5)]
    np.testing.assert_array_equal(whole, np.concatenate(parts, axis=1))
    turned = dag_kernels.draw_dags(12, edges[::-1], KEYS[::-1], 0, 10).reshape(3, 10, -1)
    np.testing.assert_array_equal(whole, turned[::-1])


@pytest.mark.slow
def test_dense_and_large_dags_are_drawn():
    for d, m in ((30, 400), (100, 3000), (400, 800)):
        drawn = dag_kernels.draw_dags(d, [m], [1], 0, 3)
        assert kernels.is_acyclic(drawn, d).all()
        assert (count_ones(drawn).sum(axis=(1, 2)) == m).all()
