"""Labelled DAGs: their numbers against published and exact ones, and draws that are uniform among them."""

from __future__ import annotations

import itertools
from math import comb

import numpy as np
import pytest
from references import dags as reference
from scipy import stats

from causaleval_pd.graphs.dags import all_dags, all_orientations, parent_sets
from causaleval_pd.graphs.kernels import comparison as kernels
from causaleval_pd.graphs.kernels import dags as dag_kernels
from causaleval_pd.graphs.kernels.dag_counts import best_weight, laws, log_weights, peeling

BOTH = (dag_kernels, reference)
KEYS = np.array([5, 2**63 + 11, 77], np.uint64)


def numbers_of_edges(d):
    return range(d * (d - 1) // 2 + 1)


def exact_numbers(n):
    """Numbers of DAGs by nodes, roots and arcs, in whole numbers: coefficients of Robinson's polynomials."""
    most = n * (n - 1) // 2
    found = {(0, 0): [1]}
    for k in range(1, n + 1):
        for s in range(1, k + 1):
            total = [0] * (most + 1)
            for u in range(1, k - s + 1) if s < k else [0]:
                one = [comb(s, j) if j else 0 for j in range(s + 1)]
                product = found[k - s, u]
                for factor in [one] * u + [[1, 1]] * (s * (k - s - u)):
                    product = [
                        sum(factor[j] * product[m - j] for j in range(len(factor)) if 0 <= m - j < len(product))
                        for m in range(most + 1)
                    ]
                total = [a + b for a, b in zip(total, product + [0] * most, strict=False)]
            found[k, s] = [comb(k, s) * x for x in total]
    return found


def test_listed_dags_are_all_there_are():
    # OEIS A003024
    found = [sum(len(all_dags(d, m)) for m in numbers_of_edges(d)) for d in range(1, 6)]
    assert found == [1, 3, 25, 543, 29281]
    for m in numbers_of_edges(4):
        graphs = all_dags(4, m)
        assert len(np.unique(graphs.reshape(len(graphs), -1), axis=0)) == len(graphs)
        assert len(graphs) == sum(exact_numbers(4)[4, s][m] for s in range(1, 5))
    with pytest.raises(ValueError, match="at most 5 nodes, found 6"):
        all_dags(6, 3)


def test_listed_orientations_are_the_dags_with_a_skeleton():
    every = all_dags(4, 5)
    skeletons, inverse = np.unique(every[:, 0] | every[:, 1], axis=0, return_inverse=True)
    pairs = list(itertools.combinations(range(4), 2))
    for number, skeleton in enumerate(skeletons[:, 0].tolist()):
        found = all_orientations(4, tuple(pair for k, pair in enumerate(pairs) if skeleton >> k & 1))
        assert set(map(tuple, found.reshape(-1, 2).tolist())) == set(
            map(tuple, every[inverse.reshape(-1) == number].reshape(-1, 2).tolist())
        )
    # a cycle of n edges has 2^n - 2
    ring = tuple((i, (i + 1) % 10) for i in range(10))
    assert len(all_orientations(10, ring)) == 1022
    assert len(all_orientations(3, ())) == 1
    with pytest.raises(ValueError, match="at most 14 edges, found 15"):
        all_orientations(6, tuple(itertools.combinations(range(6), 2)))


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


def both_ways(monkeypatch, sparse):
    for module in BOTH:
        monkeypatch.setattr(module, "are_sparse", lambda d, m: np.full(m.shape, sparse or d < 2))


@pytest.mark.parametrize("sparse", [None, False, True])
@pytest.mark.parametrize("d", [0, 1, 2, 3, 4, 7, 12, 63, 64, 65, 90])
def test_compiled_and_plain_agree(d, sparse, monkeypatch):
    most = d * (d - 1) // 2
    if sparse is not None:
        both_ways(monkeypatch, sparse)
    if sparse and d > 64:
        return
    few = [0, min(d // 2, most), min(d, most)]
    for edges in [few] if sparse else [few, [most // 3, max(0, most - 1), most]]:
        ours, plain = (module.draw_dags(d, edges, KEYS, 3, 4) for module in BOTH)
        np.testing.assert_array_equal(ours, plain)
        assert kernels.is_acyclic(ours, d).all()
        np.testing.assert_array_equal(np.bitwise_count(ours).sum(axis=(1, 2)), np.repeat(edges, 4))


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


def test_dense_and_large_dags_are_drawn():
    for d, m in ((30, 400), (100, 3000), (400, 800)):
        drawn = dag_kernels.draw_dags(d, [m], [1], 0, 3)
        assert kernels.is_acyclic(drawn, d).all()
        assert (np.bitwise_count(drawn).sum(axis=(1, 2)) == m).all()


def test_sets_of_parents():
    for sets in parent_sets(all_dags(3, 2), 3):
        assert sum(x.bit_count() for x in sets) == 2
    chain = parent_sets(dag_kernels.draw_dags(70, [70 * 69 // 2], [1], 0, 1), 70)[0]
    assert sorted(x.bit_count() for x in chain) == list(range(70))
    assert all((a & b) in (a, b) for a, b in itertools.combinations(chain, 2))
