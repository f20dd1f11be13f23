"""Exact laws of all metrics by listed controls, against controls that are made one by one."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.fields.structure.nulls.listed import all_random_graphs, are_listed, oriented_graphs
from causaleval_pd.graphs.kernels import kernels
from causaleval_pd.graphs.kernels.planes import DAG, planes_from_arcs

METRICS = [ce.get_metric(name) for name in ce.list_metrics("graph").index]
NAMES = sorted(m.name for m in METRICS if m.direction is not None and ".structure." in m.__module__)
LAWS = {law: ce.null_model("orientation", orientation_law=law) for law in ("order", "uniform")}


def text(edges, nodes):
    return "; ".join([f"{a} -> {b}" for a, b in edges] + list(nodes))


def directed(skeleton, order):
    return sorted((a, b) if order.index(a) < order.index(b) else (b, a) for a, b in skeleton)


def random_dag(nodes, n_edges, rng):
    pairs = list(itertools.combinations(nodes, 2))
    chosen = [pairs[i] for i in rng.choice(len(pairs), n_edges, replace=False)]
    return directed(chosen, rng.permutation(nodes).tolist())


def by_hand(truth, estimate, controls, weights, names, kind, zero_division):
    """Score each control and weigh it: p, mean, limits and undefined share by metric."""
    cells = ce.graph_column([*controls, estimate])
    cells = cells.graph.cpdag() if kind == "cpdag" else cells
    table = pd.DataFrame({"truth": [truth] * len(cells), "estimate": cells})
    with ce.set_options(zero_division=zero_division):
        scores = ce.evaluate(table, names)
    found = {}
    for name in names:
        metric, values = ce.get_metric(name), scores[name].to_numpy(float)
        drawn, own = values[:-1], values[-1]
        known = ~np.isnan(drawn)
        share = np.where(known, weights, 0.0)
        total = share.sum()
        loss = {"minimize": 1, "maximize": -1}.get(metric.direction)
        side = (lambda x, o=metric.optimum: np.abs(x - o)) if loss is None else (lambda x, loss=loss: loss * x)
        good = side(np.where(known, drawn, 0)) <= side(own) + 1e-9
        order = np.argsort(np.where(known, drawn, np.inf))
        reached = np.cumsum(share[order]) / total if total else share
        limits = [drawn[order][min(np.searchsorted(reached, q - 1e-12), len(drawn) - 1)] for q in (0.025, 0.975)]
        found[name] = {
            "p": (share * good).sum() / total if total and not np.isnan(own) else np.nan,
            "control_mean": np.nansum(share * np.where(known, drawn, 0)) / total if total else np.nan,
            "control_low": limits[0] if total else np.nan,
            "control_high": limits[1] if total else np.nan,
            "control_undefined": 1 - total,
        }
    return found


def check_exact(truth, estimate, controls, weights, null, kind, zero_division=math.nan):
    runs = pd.DataFrame({"truth": [truth], "estimate": ce.graph_column([estimate])})
    if kind == "cpdag":
        runs["estimate"] = runs["estimate"].graph.cpdag()
    names = [n for n in NAMES if kind in ce.get_metric(n).kinds]
    with ce.set_options(zero_division=zero_division):
        scored = ce.with_controls(runs, names, null=null, rng=1, n_draws=1, columns="full", control_kind=kind)
    found = scored.iloc[0]
    expected = by_hand(truth, estimate, controls, weights, names, kind, zero_division)
    for name in names:
        for part, value in expected[name].items():
            np.testing.assert_allclose(found[f"{name}_{part}"], value, rtol=1e-12, atol=1e-12, err_msg=f"{name} {part}")
        assert found[f"{name}_p_method"] == "exact" or np.isnan(found[f"{name}_p"]), name
        assert found[f"{name}_mean_method"] == "exact" or np.isnan(found[f"{name}_control_mean"]), name
    return names


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dag", "cpdag"])
@pytest.mark.parametrize(("d", "m", "zero_division"), [(2, 1, 1.0), (3, 2, math.nan), (4, 0, 0.0), (4, 3, math.nan)])
def test_edges_of_few_nodes_have_the_law_of_all_skeletons_and_orders(d, m, zero_division, kind):
    rng, nodes = np.random.default_rng(d + m), list("ABCDE"[:d])
    skeletons = list(itertools.combinations(itertools.combinations(nodes, 2), m))
    graphs = [text(directed(s, list(order)), nodes) for s in skeletons for order in itertools.permutations(nodes)]
    truth, estimate = (text(random_dag(nodes, n, rng), nodes) for n in (min(3, d * (d - 1) // 2), m))
    weights = np.full(len(graphs), 1 / len(graphs))
    assert len(check_exact(truth, estimate, graphs, weights, "edges", kind, zero_division)) > 30


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dag", "cpdag"])
@pytest.mark.parametrize("m", [2, 8])
def test_edges_of_five_nodes(m, kind):
    rng, nodes = np.random.default_rng(m), list("ABCDE")
    skeletons = list(itertools.combinations(itertools.combinations(nodes, 2), m))
    graphs = [text(directed(s, list(order)), nodes) for s in skeletons for order in itertools.permutations(nodes)]
    distinct, counts = np.unique(graphs, return_counts=True)
    truth, estimate = (text(random_dag(nodes, n, rng), nodes) for n in (5, m))
    check_exact(truth, estimate, distinct.tolist(), counts / len(graphs), "edges", kind)


def test_graphs_along_one_order_are_listed():
    nodes = list("ABCD")
    graphs = [text(s, nodes) for s in itertools.combinations(itertools.combinations(nodes, 2), 3)]
    runs = pd.DataFrame({"truth": [text([("A", "B"), ("B", "C"), ("D", "C")], nodes)], "estimate": [graphs[3]]})
    found = ce.with_controls(runs, ["shd"], null=ce.null_model("edges", permute=False), rng=1).iloc[0]
    scores = ce.evaluate(pd.DataFrame({"truth": runs["truth"][0], "estimate": graphs}), ["shd"])["shd"]
    assert found["shd_p_method"] == "exact"
    assert found["shd_p"] == pytest.approx((scores <= scores[3]).mean(), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dag", "cpdag"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("m", [2, 4, 7])
def test_orientations_have_the_law_of_all_orders_or_orientations(m, law, kind):
    rng, nodes = np.random.default_rng(m), list("ABCDE")
    estimate, truth = random_dag(nodes, m, rng), text(random_dag(nodes, 5, rng), nodes)
    graphs = [text(directed(estimate, list(order)), nodes) for order in itertools.permutations(nodes)]
    distinct, counts = np.unique(graphs, return_counts=True)
    weights = counts / counts.sum() if law == "order" else np.full(len(counts), 1 / len(counts))
    check_exact(truth, text(estimate, nodes), distinct.tolist(), weights, LAWS[law], kind)


@pytest.mark.slow
def test_digraphs_have_the_law_of_coins():
    nodes = list("ABCD")
    estimate = [("A", "B"), ("B", "C"), ("C", "A")]
    truth = text([("A", "B"), ("B", "C"), ("D", "C")], nodes)
    for null, skeletons in (
        (LAWS["order"], [estimate]),
        ("edges", itertools.combinations(itertools.combinations(nodes, 2), 3)),
    ):
        graphs = [
            text([edge[::-1] if turn else edge for edge, turn in zip(s, turns, strict=True)], nodes)
            for s in skeletons
            for turns in itertools.product([False, True], repeat=3)
        ]
        check_exact(truth, text(estimate, nodes), graphs, np.full(len(graphs), 1 / len(graphs)), null, "digraph")


def test_strata_still_get_draws():
    nodes = list("ABCD")
    runs = pd.DataFrame(
        {"truth": [text([("A", "B"), ("B", "C")], nodes)] * 4, "estimate": [text([("A", "B")], nodes)] * 4}
    )
    for null in ("edges", LAWS["uniform"]):
        cube = runs.assign(s=0).ceval.cube(["shd"], by=["s"], null=null, n_draws=30, rng=1)
        assert cube["shd_control"].notnull().all() and len(np.unique(cube["shd_control"])) > 1
        assert cube["shd_p"].attrs["method"] == "exact"


def plane(edges, d):
    source, target = np.array(edges, np.int64).reshape(-1, 2).T
    return planes_from_arcs(1, d, np.zeros(len(edges), np.int64), source, target)


def test_orders_are_counted():
    """A chain has one order, a star (d - 1)!, a zigzag an Euler number."""
    chain = [(i, i + 1) for i in range(7)]
    zigzag = [(i, i + 1) if i % 2 else (i + 1, i) for i in range(7)]
    star = [(0, i) for i in range(1, 8)]
    graphs = np.concatenate([plane(edges, 8) for edges in (chain, zigzag, star, [])])
    counts = kernels("controls").count_orders(graphs, 8)
    assert counts.tolist() == [1, 1385, math.factorial(7), math.factorial(8)]


@pytest.mark.parametrize(
    "edges",
    [
        [(i, i + 1) for i in range(8)],  # a path of nine nodes
        [(0, i) for i in range(1, 9)] + [(1, 2), (3, 4)],
        [(0, 1), (1, 2), (4, 7), (5, 7), (6, 7), (4, 5)],  # two parts
    ],
)
def test_larger_skeletons_have_the_frequencies_of_draws(edges):
    d, n = 10, 20_000
    keys = np.array([5], np.uint64)
    for by_order in (True, False):
        graphs, chances = oriented_graphs(d, tuple(sorted(edges)), DAG, by_order=by_order)
        if by_order:
            drawn = kernels("controls").orient_graphs(plane(edges, d), d, [[0]], keys, 0, n)
        else:
            drawn, stuck = kernels("controls").orient_uniformly(plane(edges, d), d, [0], keys, 0, n, 10_000)
            assert stuck == -1
        number = {graph.tobytes(): i for i, graph in enumerate(graphs.planes)}
        counts = np.bincount([number[graph.tobytes()] for graph in drawn], minlength=len(graphs))
        assert chances.sum() == pytest.approx(1, rel=1e-12)
        # four standard deviations of chi-squared
        squared = ((counts - n * chances) ** 2 / (n * chances)).sum()
        assert abs(squared - len(graphs)) < 4 * math.sqrt((2 + (1 / (n * chances)).mean()) * len(graphs))


def test_large_skeletons_are_simulated():
    """Listed rows stand beside others; a part of 11 edges on 12 nodes is too large."""
    nodes = [f"X{i:02}" for i in range(12)]
    path = list(itertools.pairwise(nodes))
    runs = pd.DataFrame({"truth": [text(path, nodes)] * 2, "estimate": [text(path, nodes), text(path[:5], nodes)]})
    for null in LAWS.values():
        found = ce.with_controls(runs, ["shd", "ancestor_f1"], null=null, n_draws=50, rng=1)
        assert found["shd_p_method"].tolist() == ["simulated", "exact"] == found["ancestor_f1_p_method"].tolist()
    # the right directions of five edges in a chain: one of 6! orders, or of 2^5 orientations
    exact = [ce.with_controls(runs.tail(1), ["shd"], null=null, rng=1)["shd_p"].item() for null in LAWS.values()]
    assert exact == pytest.approx([1 / 720, 1 / 32], rel=1e-12)


@pytest.mark.slow
def test_what_is_listed():
    assert all(are_listed(5, m, DAG, fixed=False) for m in range(11)) and not are_listed(6, 3, DAG, fixed=False)
    assert max(len(all_random_graphs(5, m, DAG)[0]) for m in range(11)) == 7960
    assert [sum(len(all_random_graphs(d, m, DAG)[0]) for m in range(d * (d - 1) // 2 + 1)) for d in (1, 2, 3, 4)] == [
        1,
        3,
        25,
        543,
    ]
    assert oriented_graphs(14, tuple((i, i + 1) for i in range(13)), DAG, by_order=False) is None
