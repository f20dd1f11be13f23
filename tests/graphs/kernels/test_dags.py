"""Uniform DAGs: numbers against published and exact ones, draws against their reference, and uniform among all."""

from math import comb

import numpy as np
import pytest
from references import dags as reference
from references.dags import exact_numbers, numbers_of_edges
from scipy import stats

from causaleval_pd.graphs.kernels import comparison as kernels
from causaleval_pd.graphs.kernels import controls as dag_kernels
from causaleval_pd.graphs.kernels.controls import best_weight, laws, log_weights, peeling
from causaleval_pd.graphs.kernels.planes import count_ones
from causaleval_pd.graphs.orientations import all_dags, parent_sets


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
