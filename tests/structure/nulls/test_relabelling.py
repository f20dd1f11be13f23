"""Exact moments under random relabelling, against all relabellings, for every metric that adds up."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.field import get_field
from causaleval_pd.fields.structure.nulls import additive
from causaleval_pd.fields.structure.nulls.additive import additive_moments, pair_sums, relabelling_moments
from causaleval_pd.fields.structure.nulls.listed import all_relabellings, different_relabellings
from causaleval_pd.graphs.edge_types import DOUBLE, EDGES, FORWARD, ONE_WAY, TYPES, EdgeTypes, reversed_type
from causaleval_pd.graphs.pairs import GraphPairs

#: metrics of mixed graphs alone are tested with them
NAMES = sorted(
    n
    for n in ce.list_metrics("graph").index
    if ce.get_metric(n).direction is not None
    and ".structure." in ce.get_metric(n).__module__
    and {"dag", "cpdag", "pdag"} & {*ce.get_metric(n).kinds}
)
#: random denominators, a nonlinear function of tp, or no sum over pairs at all
NOT_ADDITIVE = {
    "adjacency_jaccard",
    "skeleton_p",
    *(f"orientation_{x}" for x in ("precision", "recall", "f1", "npv", "specificity", "fdr", "for", "g1")),
}


def random_graphs(d, n, seed=0):
    """Graphs with directed and undirected edges of every class, over d nodes."""
    rng = np.random.default_rng(seed)
    names = [f"X{i}" for i in range(d)]
    dags, texts = [], []
    for _ in range(n):
        rank = rng.permutation(d)
        density = rng.random()
        edges = [(i, j) for i in range(d) for j in range(d) if rank[i] < rank[j] and rng.random() < density]
        dags.append("; ".join([f"X{i} -> X{j}" for i, j in edges] + names))
        texts.append("; ".join([f"X{i} {'--' if rng.random() < 0.4 else '->'} X{j}" for i, j in edges] + names))
    dags = ce.graph_column(dags)
    return pd.concat([dags, dags.graph.cpdag(), ce.graph_column(texts)], ignore_index=True)


def pairs_of(d, kinds, n=12, seed=0):
    """Aligned pairs whose graphs have the given classes."""
    graphs = random_graphs(d, n, seed)
    graphs = graphs[graphs.graph.kind.isin(kinds)]
    rng = np.random.default_rng(seed)
    truth = graphs.take(rng.permutation(len(graphs))).reset_index(drop=True)
    estimate = graphs.take(rng.permutation(len(graphs))).reset_index(drop=True)
    [(_, pairs)] = get_field("graph").batches(truth, estimate, None)
    return pairs


def enumerate_values(metric, pairs):
    """Score every relabelling of every estimate: (n, d!)."""
    values = []
    for t, e in zip(pairs.truth_index, pairs.estimate_index, strict=True):
        graphs = all_relabellings(pairs.estimate, e)
        every = np.arange(len(graphs))
        values.append(metric(GraphPairs(pairs.truth, graphs, np.full(len(graphs), t), every)))
    return np.array(values)


#: metrics without a zero division are tested once
CASES = [
    pytest.param(name, zero_division, d, marks=[pytest.mark.slow] * (d > 3))
    for name in NAMES
    for zero_division in (math.nan, 1.0)
    if math.isnan(zero_division) or ce.get_metric(name).zero_division
    for d in (2, 3, 4, 5)
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "zero_division", "d"), CASES)
def test_moments_are_those_of_all_relabellings(name, zero_division, d):
    metric = ce.get_metric(name)
    if metric.zero_division:
        metric = ce.tweak(metric, zero_division=zero_division)
    pairs = pairs_of(d, metric.kinds)
    known = additive_moments(metric, pairs)
    if known is None:
        assert name in NOT_ADDITIVE or metric.closed_form is None
        return
    values = enumerate_values(metric, pairs)
    np.testing.assert_allclose(known.mean, values.mean(axis=1), rtol=1e-10, atol=1e-12)
    if known.variance is not None:
        np.testing.assert_allclose(known.variance, values.var(axis=1), rtol=1e-9, atol=1e-10)
    else:
        assert name.startswith("v_structure")


@pytest.mark.slow
def test_every_additive_metric_is_covered():
    known = {name for name in NAMES if additive_moments(ce.get_metric(name), pairs_of(4, ("dag", "cpdag"))) is not None}
    assert known.isdisjoint(NOT_ADDITIVE)
    expected = {n for n in NAMES if n.startswith(("adjacency", "shd", "skeleton_hd", "directed", "arrowhead"))}
    assert expected - NOT_ADDITIVE <= known
    expected |= {n for n in NAMES if n.startswith(("ancestor_p", "ancestor_r", "ancestor_f", "markov_blanket"))}
    assert expected - NOT_ADDITIVE <= known
    assert {"orientation_tp", "v_structure_f1", "top_order_divergence"} <= known


@pytest.mark.parametrize(
    "options",
    [
        {"reversal_cost": 2},
        {"undirected_cost": 0},
        {"normalised": "true_edges"},
        {"reversal_cost": 1.7, "undirected_cost": 0.4, "absent_undirected_cost": 2.0, "normalised": True},
    ],
)
def test_any_variant_of_shd(options):
    metric = ce.tweak("shd", **options)
    pairs = pairs_of(5, metric.kinds, seed=1)
    known, values = additive_moments(metric, pairs), enumerate_values(metric, pairs)
    np.testing.assert_allclose(known.mean, values.mean(axis=1), atol=1e-10)
    np.testing.assert_allclose(known.variance, values.var(axis=1), atol=1e-10)


def permuted(x, p):
    return x[..., p, :][..., p]


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_squared_weight_errors_and_ancestors(d):
    """Matrices of any kind: moments are those of channels, whatever they mean."""
    rng = np.random.default_rng(d)
    a, b = rng.normal(size=(2, 3, d, d))
    off = ~np.eye(d, dtype=bool)
    every = [np.array(p) for p in itertools.permutations(range(d))]
    # (a - b)^2 = a^2 - 2 a b + b^2
    sums = pair_sums(np.stack([a**2, a, np.ones_like(a)], 1)), pair_sums(np.stack([b**2, b, np.ones_like(b)], 1))
    mean, variance = relabelling_moments(*sums, [[0, 0, 1], [0, -2, 0], [1, 0, 0]], d)
    values = np.array([((a - permuted(b, p)) ** 2)[:, off].sum(axis=1) for p in every])
    np.testing.assert_allclose(mean, values.mean(axis=0))
    np.testing.assert_allclose(variance, values.var(axis=0), atol=1e-8)

    def closure(x):
        reach = np.triu(x > 0, 1).astype(int)
        for _ in range(d):
            reach = ((reach + reach @ reach) > 0).astype(int)
        return reach

    a, b = closure(a), closure(b)
    mean, variance = relabelling_moments(pair_sums(a[:, None]), pair_sums(b[:, None]), [[1.0]], d)
    values = np.array([(a * permuted(b, p))[:, off].sum(axis=1) for p in every])
    np.testing.assert_allclose(mean, values.mean(axis=0))
    np.testing.assert_allclose(variance, values.var(axis=0), atol=1e-10)
    np.testing.assert_allclose(mean, a.sum(axis=(1, 2)) * b.sum(axis=(1, 2)) / (d * (d - 1)))


def test_ancestors_of_plain_graphs_are_not_limited_as_those_of_mixed_ones_are(monkeypatch):
    pairs = pairs_of(9, ["dag", "cpdag"])
    expected = additive_moments(ce.get_metric("ancestor_recall"), pairs)
    monkeypatch.setattr("causaleval_pd.graphs.mixed.paths.MOST_NODES", 8)
    moments = additive_moments(ce.get_metric("ancestor_recall"), pairs)
    np.testing.assert_array_equal(moments.mean, expected.mean)


def test_larger_graphs_against_draws():
    runs = pd.DataFrame({"truth": random_graphs(9, 3), "estimate": random_graphs(9, 3, 1)})
    names = ["shd", "adjacency_f1", "directed_tp", "orientation_tn", "v_structure_tp"]
    exact = ce.with_controls(runs, names, null="permutation", method="exact", rng=1, columns="full")
    drawn = ce.with_controls(runs, names, null="permutation", method="simulate", n_draws=4000, rng=1, columns="full")
    for name in names:
        assert (exact[f"{name}_mean_method"] == "exact").all()
        # estimates with few different relabellings have p as well
        assert 0 < exact[f"{name}_p"].isna().sum() < len(runs)
        error = drawn[f"{name}_control_mean_se"].to_numpy()
        apart = (exact[f"{name}_control_mean"] - drawn[f"{name}_control_mean"]).abs()
        assert (apart <= 4.5 * error + 1e-12).all()


def test_small_graphs_have_exact_p_values_for_every_metric():
    runs = pd.DataFrame({"truth": ["A -> B; B -> C; C -> D; E"], "estimate": ["A -> B; B -> C; C -> D; E"]})
    names = ["shd", "adjacency_jaccard", "v_structure_tp", "orientation_precision", "shd_cpdag"]
    found = ce.with_controls(runs, names, null="permutation", rng=1).iloc[0]
    assert (found[[f"{name}_p_method" for name in names]] == "exact").all()
    # one of the 120 relabellings gives the path back, two give its skeleton
    assert found["shd_p"] == pytest.approx(1 / 120)
    assert found["adjacency_jaccard_p"] == pytest.approx(2 / 120)


def test_blocks_do_not_change_the_moments(monkeypatch):
    pairs = pairs_of(6, ("dag", "cpdag", "pdag"))
    whole = additive_moments(ce.get_metric("shd"), pairs)
    monkeypatch.setattr(additive, "row_chunks", lambda n, size: (slice(i, i + 2) for i in range(0, n, 2)))
    np.testing.assert_array_equal(whole.variance, additive_moments(ce.get_metric("shd"), pairs).variance)


STAR = "; ".join(f"X0 -> X{i}" for i in range(1, 20))


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_few_different_relabellings_are_listed_whatever_the_number_of_nodes(method):
    """A star of 20 nodes has 20 relabellings: the share of perfect ones is 1 / 20."""
    runs = pd.DataFrame({"truth": [STAR], "estimate": [STAR]})
    found = ce.with_controls(runs, ["directed_tp", "shd", "sid"], null="permutation", method=method, rng=1).iloc[0]
    for name in ("directed_tp", "shd", "sid"):
        assert found[f"{name}_p"] == pytest.approx(0.05, rel=1e-12) and found[f"{name}_p_method"] == "exact"


@pytest.mark.slow
def test_listed_rows_stand_beside_others():
    """Rows with many relabellings keep exact means and are simulated; the order of rows is kept."""
    dense = "; ".join(f"X{i} -> X{j}" for i, j in itertools.combinations(range(20), 2) if (i * j) % 3 == 1)
    nodes = "; ".join(f"X{i}" for i in range(20))
    runs = pd.DataFrame({"truth": [STAR] * 3, "estimate": [f"{dense}; {nodes}", STAR, f"X3 -> X4; {nodes}"]})
    alone = ce.with_controls(runs, ["shd"], null="permutation", n_draws=99, rng=1, columns="full", method="simulate")
    found = ce.with_controls(runs, ["shd"], null="permutation", n_draws=99, rng=1, columns="full")
    assert found["shd_p_method"].tolist() == ["simulated", "exact", "exact"]
    assert (found["shd_mean_method"] == "exact").all()
    assert found["shd_p"].iloc[0] == alone["shd_p"].iloc[0]
    assert (found["shd_control_mean"] - alone["shd_control_mean"]).abs().max() < 1.5
    # the one edge is right in 1 of 20 x 19 places of the true star's 19
    assert found["shd_control_mean"].iloc[2] == pytest.approx(20 - 2 * 19 / 380 - 19 / 380)


@pytest.mark.parametrize("d", [3, 6, 7, 8])
def test_different_relabellings_are_all_and_equally_likely(d):
    [(_, pairs)] = get_field("graph").batches(
        *[ce.graph_column(["; ".join([f"X{i} -> X{i + 1}" for i in range(0, d - 1, 3)] + [f"X{i}" for i in range(d)])])]
        * 2,
        None,
    )
    found = different_relabellings(pairs.estimate, 0).planes.reshape(-1, 2)
    every, counts = np.unique(all_relabellings(pairs.estimate, 0).planes.reshape(-1, 2), axis=0, return_counts=True)
    np.testing.assert_array_equal(np.unique(found, axis=0), every)
    assert len(found) == len(every) and len(set(counts)) == 1


def edge(code):
    """Write an edge of A and B by its marks: 1 a tail, 2 an arrow, 3 a circle, and 0 with 2 an arrow beside <->."""
    a, b = code % 4, code // 4
    if 0 in (a, b):
        return "A -> B; A <-> B" if a == 0 else "B -> A; A <-> B"
    return f"A {' -<o'[a]}-{' ->o'[b]} B"


def test_numbers_of_edge_types_are_counted_as_graphs_with_these_edges_are():
    types = list(itertools.product(ONE_WAY, TYPES))
    truths, estimates = (ce.graph_column([edge(pair[side]) for pair in types]) for side in (0, 1))
    one, seen = np.ones(1), 0
    for rows, pairs in get_field("graph").batches(truths, estimates, None):
        for at, (s, t) in enumerate(types[row] for row in rows):
            margins = {s: one}, {t if t in ONE_WAY else reversed_type(t): one}
            numbers = EdgeTypes.of_margins(2, *margins, {(s, t): 1.0})
            for name in EDGES:
                assert getattr(numbers, name)[0] == getattr(pairs.edge_types, name)[at], (s, t, name)
                if hasattr(pairs.counts, name):
                    assert getattr(numbers, name)[0] == getattr(pairs.counts, name)[at], (s, t, name)
            seen += 1
    assert seen == 77


def marks(code):
    """Return the sets of marks at both ends of an edge, as a reader of graphs would write them."""
    double = {8: ({"-", ">"}, {">"}), 2: ({">"}, {"-", ">"})}
    return double.get(code) or tuple({" ->o"[x]} - {" "} for x in (code % 4, code // 4))


@pytest.mark.parametrize(("kind", "types"), [("mixed", TYPES[:9]), ("admg", (FORWARD, TYPES[4], DOUBLE))])
def test_counts_of_types_are_those_of_the_marks_at_the_ends_of_edges(kind, types):
    rng = np.random.default_rng(3)
    codes = rng.choice((0, 0, 0, *types), (2, 40, 10))
    names, pairs_of_nodes = "ABCDE", list(itertools.combinations(range(5), 2))

    def text(row):
        edges = [
            edge(int(c)).replace("A", "#").replace("B", names[j]).replace("#", names[i])
            for c, (i, j) in zip(row, pairs_of_nodes, strict=True)
            if c
        ]
        return "; ".join([*names, *edges])

    truths, estimates = (ce.graph_column([text(row) for row in side], kind=kind) for side in codes)
    for rows, pairs in get_field("graph").batches(truths, estimates, None):
        counted = pairs.edge_types
        for at, row in enumerate(rows):
            both = [(marks(s), marks(t)) for s, t in zip(codes[0, row], codes[1, row], strict=True)]
            ends = [(x, y) for s, t in both for x, y in zip(s, t, strict=True)]
            assert counted.tp[at] == sum(bool(s[0]) and bool(t[0]) for s, t in both)
            assert counted.different[at] == sum(s != t for s, t in both)
            assert counted.other_marks[at] == sum(x != y for x, y in ends if x and y)
            assert counted.one_circle[at] == sum(("o" in x) != ("o" in y) for x, y in ends if x and y)
            spouses = [tuple(">" in x[0] and ">" in x[1] for x in pair) for pair in both]
            assert counted.both_bidirected[at] == sum(s and t for s, t in spouses)
            for mark, name in (("-", "tails"), (">", "arrows"), ("o", "circles")):
                assert getattr(counted, f"true_{name}")[at] == sum(mark in x for x, _ in ends)
                assert getattr(counted, f"both_{name}")[at] == sum(mark in x and mark in y for x, y in ends)
                assert getattr(counted, f"estimated_{name}_on_shared")[at] == sum(mark in y for x, y in ends if x)
                assert getattr(counted, f"{name}_at_circle")[at] == sum("o" in x and mark in y for x, y in ends)
                assert getattr(counted, f"{name}_missed_by_circle")[at] == sum(mark in x and "o" in y for x, y in ends)


def test_mixed_graphs_without_edges_have_moments():
    names = "; ".join("ABCDEFGHIJ")
    empty = ce.graph_column([names] * 3, kind="mag")
    rng = np.random.default_rng(0)
    matrices = list(np.triu(rng.random((3, 10, 10)) < 0.4, 1).astype(int))
    dense = ce.graph_column(matrices, encoding="row->column", kind="dag", nodes=list("ABCDEFGHIJ")).graph.mag()
    for truth, estimate in ((empty, dense), (dense, empty)):
        runs = pd.DataFrame({"truth": truth, "estimate": estimate})
        scored = runs.ceval.with_controls(["shd", "arrowhead_tp"], null="permutation", n_draws=20, rng=1)
        assert (scored["shd_control_mean"] == scored["shd"]).all() and (scored["arrowhead_tp_control_mean"] == 0).all()


def test_a_row_that_a_metric_refuses_leaves_the_others_exact():
    truths = ["A -> B; B -> C; D; E", "A -> C; C -> D; B; E", "A -> E; C -> D; B"]
    estimates = ["A -> B; D -> C; E", "A <-> C; C -> D; B; E", "A -> E; E -> D; B; C"]
    runs = pd.DataFrame({"truth": ce.graph_column(truths), "estimate": ce.graph_column(estimates)})
    how = {"null": "permutation", "invalid": "nan", "rng": 1, "n_draws": 20, "columns": "full"}
    for metric in ("sid", "parent_aid", "v_structure_f1", "shd_cpdag"):
        together = runs.ceval.with_controls([metric], **how)
        alone = runs.drop(index=1).ceval.with_controls([metric], **how)
        pd.testing.assert_frame_equal(together.drop(index=1), alone)
        assert alone[f"{metric}_p_method"].eq("exact").all() and np.isnan(together[f"{metric}_p"][1])
