"""Bounds of p without the truth hold over all random graphs; printed cases have the numbers of their specification."""

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
    share_at_least,
    shd_bounds,
    total_at_least,
)
from causaleval_pd.statistics.tails import tail_of_sum

NODES = "ABCD"
PAIRS = list(itertools.combinations(range(4), 2))


def ends(bounds) -> tuple[float, float]:
    return float(bounds.low), float(bounds.high)


def test_right_directions_are_at_most_the_shared_adjacencies():
    """Case 4."""
    assert ends(directed_bounds(6, 3, 3, 3)) == pytest.approx((0, 0.05))
    assert float(directed_bounds(6, 3, 3, 3, uniform_order=True).high) == pytest.approx(0.025)
    assert ends(directed_bounds(6, 3, 3, 0)) == (1, 1)


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
