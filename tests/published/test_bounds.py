"""Bounds of p without the truth hold over all random graphs, and give the numbers of their specification."""

import itertools

import numpy as np
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.published.bounds import (
    CONVENTIONS,
    directed_bounds,
    expected_shd,
    largest_shd,
    mean_directed_bound,
    mean_shd_bound,
    share_at_least,
    shared_of,
    shd_bounds,
    total_at_least,
)
from causaleval_pd.statistics.tails import tail_of_sum

NODES = "ABCD"
PAIRS = list(itertools.combinations(range(4), 2))


def ends(bounds) -> tuple[float, float]:
    return float(bounds.low), float(bounds.high)


@pytest.mark.parametrize(
    ("estimated", "shd", "high", "half"), [(3, 1, 0.05, 0.025), (3, 2, 0.5, 0.275), (4, 2, 0.2, 0.1)]
)
def test_a_chain_of_four_nodes(estimated, shd, high, half):
    """Cases 1 to 3."""
    assert float(shd_bounds(6, 3, estimated, shd).high) == pytest.approx(high)
    assert float(shd_bounds(6, 3, estimated, shd, uniform_order=True).high) == pytest.approx(half)
    if shd == 2 and estimated == 3:
        assert float(shd_bounds(6, 3, 3, 2, uniform_order=True).low) == pytest.approx(0.025)


def test_right_directions_are_at_most_the_shared_adjacencies():
    """Case 4."""
    assert ends(directed_bounds(6, 3, 3, 3)) == pytest.approx((0, 0.05))
    assert float(directed_bounds(6, 3, 3, 3, uniform_order=True).high) == pytest.approx(0.025)
    assert ends(directed_bounds(6, 3, 3, 0)) == (1, 1)


@pytest.mark.parametrize(
    ("estimated", "shd", "order", "low", "high"),
    [
        (16, 22, True, 0.0061, 0.1730), (16, 22, False, 7.9e-7, 0.3338), (24, 23, False, 0, 0.1582),
        (33, 30, True, 0.0105, 0.3176), (32, 35, False, 0.0022, 0.9625),
    ],
)  # fmt: skip
def test_estimates_of_the_sachs_network(estimated, shd, order, low, high):
    """Cases 6 and 7: eleven nodes, twenty true edges."""
    found = ends(shd_bounds(55, 20, estimated, shd, uniform_order=order))
    assert found == pytest.approx((low, high), abs=6e-5) and found[0] == pytest.approx(low, rel=0.02, abs=6e-5)


@pytest.mark.parametrize(("estimated", "right", "shd", "p"), [(26, 23, 8, 9.4e-22), (60, 5, 78, 0.9765)])
def test_twenty_nodes(estimated, right, shd, p):
    """Case 8."""
    assert float(directed_bounds(190, 28, estimated, right).high) == pytest.approx(p, rel=0.01)
    assert float(shd_bounds(190, 28, estimated, shd).high) == pytest.approx(p, rel=0.01)


def equal_split(n_pairs: int, true: int, total: int, n_runs: int, shared: float) -> float:
    """Return P(shared adjacencies of all runs >= shared) if the runs have equal numbers of edges, but for one."""
    sizes = [total // n_runs + (i < total % n_runs) for i in range(n_runs)]
    values = np.arange(true + 1.0)
    laws = [(values, stats.hypergeom.pmf(values, n_pairs, true, size)) for size in sizes]
    tail = tail_of_sum(laws, shared)
    assert tail is not None
    return tail.upper


@pytest.mark.parametrize(
    ("n_pairs", "true", "mean", "n_runs", "shd", "binomial", "split"),
    [
        (45, 15, 12.0, 10, 16.0, 0.00297, 0.00068),
        (45, 15, 12.0, 10, 17.5, 0.0746, 0.0475),
        (190, 20, 22.4, 5, 30.2, 3.5e-7, 3.4e-8),
    ],
)
def test_mean_distances(n_pairs, true, mean, n_runs, shd, binomial, split):
    """Cases 9 to 11: the bound is above the law of an equal split."""
    total, largest = round(n_runs * mean), round(n_runs * shd)
    shared = -(-(n_runs * true + total - largest) // 2)
    assert equal_split(n_pairs, true, total, n_runs, shared) == pytest.approx(split, rel=0.02)
    assert mean_shd_bound(n_pairs, true, (mean, 0.05), n_runs, (shd, 0.05)) == pytest.approx(binomial, rel=0.02)


def test_a_thousand_runs():
    """Case 12: the smallest number, and a mean on the wrong side."""
    assert 0 < mean_shd_bound(45, 15, (11.44, 0.005), 1000, (10.085, 0.0005)) < 1e-300
    assert mean_shd_bound(45, 30, (13.37, 0.005), 1000, (27.333, 0.0005)) == 1


def orders(n_edges: int) -> list[dict[tuple[int, int], int]]:
    """Return every skeleton along every order of four nodes, as directions of pairs (1 along their names)."""
    return [
        {tuple(sorted((order[i], order[j]))): 1 if order[i] < order[j] else -1 for i, j in chosen}
        for order in itertools.permutations(range(4))
        for chosen in itertools.combinations(PAIRS, n_edges)
    ]


def distances(truth: dict[tuple[int, int], int], graphs, convention: str) -> np.ndarray:
    """Return distances of DAGs; Tetrad charges 2 for an absent directed edge, cdt 1 as no entry is mirrored."""
    absent = 2 if convention == "tetrad" else 1
    reversed_ = {"any difference 1": 1, "reversal 2": 2, "cdt": 2, "tetrad": 1, "skeleton": 0}[convention]
    return np.array(
        [
            sum(
                absent if (pair in truth) != (pair in graph) else reversed_ * (truth.get(pair) != graph.get(pair))
                for pair in PAIRS
            )
            for graph in graphs
        ]
    )


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("truth", [{(0, 1): 1, (1, 2): 1, (2, 3): 1}, {(0, 1): 1, (0, 2): -1, (1, 3): 1, (2, 3): 1}])
def test_bounds_hold_over_all_dags(convention, truth):
    for n_edges in range(7):
        graphs = orders(n_edges)
        values = distances(truth, graphs, convention)
        low, high = expected_shd(6, len(truth), n_edges, convention)
        assert low - 1e-9 <= values.mean() <= high + 1e-9
        shared = np.array([len(truth.keys() & graph.keys()) for graph in graphs])
        assert (values <= largest_shd(len(truth), n_edges, shared, convention)).all()
        for value in range(15):
            p = (values <= value).mean()
            for half in (False, True):
                least, most = ends(shd_bounds(6, len(truth), n_edges, value, convention, uniform_order=half))
                assert least - 1e-9 <= p <= most + 1e-9
        right = np.array([sum(truth.get(pair) == x for pair, x in graph.items()) for graph in graphs])
        for value in range(5):
            for half in (False, True):
                least, most = ends(directed_bounds(6, len(truth), n_edges, value, uniform_order=half))
                assert least - 1e-9 <= (right >= value).mean() <= most + 1e-9
        if convention == "any difference 1":
            np.testing.assert_array_equal(shared_of(len(truth), n_edges, values, right), shared)


def test_bounds_hold_over_classes():
    """Case 5: CPDAGs of a collider are nearer than those of a chain, within the same bound."""
    truth = ce.graph_column(["A -> B; C -> B; D -> B"], nodes=list(NODES)).iloc[0]
    found = ce.control_distribution(
        truth, n_edges=3, kind="cpdag", metrics=["shd"], observed={"shd": 2}, n_draws=20_000, rng=7
    ).iloc[0]
    least, most = ends(shd_bounds(6, 3, 3, 2))
    assert most == pytest.approx(0.5) and least <= found["p"] <= most
    assert found["p"] == pytest.approx(0.125, abs=0.012)


def test_the_total_of_edges_bounds_every_split():
    n_pairs, true = 10, 4
    for split in [(5, 5, 5), (10, 5, 0), (7, 6, 2), (1, 4, 10)]:
        values = np.arange(true + 1.0)
        laws = [(values, stats.hypergeom.pmf(values, n_pairs, true, size)) for size in split]
        for shared in range(13):
            tail = tail_of_sum(laws, shared)
            assert tail is not None and tail.upper <= total_at_least(n_pairs, true, 15, shared) + 1e-12


def test_mean_directions_are_bounded_as_well():
    """A single run has the hypergeometric tail, which the binomial bound exceeds."""
    exact = float(share_at_least(45, 15, 12, 9))
    assert exact < mean_directed_bound(45, 15, (12, 0), 1, (9, 0)) < 6 * exact
    assert mean_directed_bound(45, 15, (12, 0), 1, (4, 0)) == 1
