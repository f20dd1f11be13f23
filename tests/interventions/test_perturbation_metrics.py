"""Metrics of perturbation data against scipy, pair by pair, and their laws under random graphs."""

import itertools

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.fields.structure.nulls.laws import mean_over_edges
from causaleval_pd.tables.context import resolve_context

NAMES = ["mean_wasserstein", "mannwhitney_precision", "false_omission_rate"]
TRUTH = "A -> B; B -> C; A -> D; E -> D; D -> F"
CONTEXT = {"perturbed": "gene"}


def score(estimates, data, names=NAMES, **settings):
    runs = pd.DataFrame({"estimate": estimates})
    return runs.ceval.evaluate(names, truth=None, context={"data": data, "perturbed": "gene"}, **settings)


def by_hand(graph, data, longest=3):
    """Loop over ordered pairs with functions of scipy and networkx."""
    graph = ce.as_graph(graph).to_networkx()
    base = data[data["gene"].isna()]
    distance, changed, omitted = [], [], []
    for a, b in itertools.permutations("ABCDEF", 2):
        cases = data[data["gene"] == a]
        if not len(cases):
            continue
        p = stats.mannwhitneyu(base[b], cases[b]).pvalue
        if graph.has_edge(a, b):
            distance.append(stats.wasserstein_distance(base[b], cases[b]))
            changed.append(p < 0.05)
        if b not in nx.single_source_shortest_path_length(graph, a, cutoff=longest):
            omitted.append(p < 0.05)
    return [np.mean(x) if len(x) else np.nan for x in (distance, changed, omitted)]


@pytest.mark.slow
def test_values_are_those_of_scipy(perturbed):
    estimates = [TRUTH, "F -> D; C -> B; A; E", "A -> B -> C -> D -> E -> F"]
    found = score(estimates, perturbed)
    for row, estimate in zip(found[NAMES].to_numpy(float), estimates, strict=True):
        np.testing.assert_allclose(row, by_hand(estimate, perturbed), rtol=1e-12)
    true, wrong = found.iloc[0], found.iloc[1]
    assert true["mean_wasserstein"] > 3 * wrong["mean_wasserstein"]
    assert true["false_omission_rate"] < wrong["false_omission_rate"]


def test_edges_from_nodes_that_are_not_perturbed_are_left_out(perturbed):
    some = perturbed[perturbed["gene"].isna() | perturbed["gene"].isin(["A", "B"])]
    [row] = score([TRUTH], some)[NAMES].to_numpy(float)
    np.testing.assert_allclose(row, by_hand(TRUTH, some), rtol=1e-12)
    assert score(["E -> D -> F; A; B; C"], some).loc[0, NAMES].isna().tolist() == [True, True, False]
    zero = score(["A; B; C; D; E; F"], some, [ce.tweak("mean_wasserstein", zero_division=0.0)])
    assert zero["mean_wasserstein"].tolist() == [0.0]


@pytest.mark.slow
def test_paths_end_omissions_up_to_a_length(perturbed):
    chain = "A -> B -> C -> D -> E -> F"
    rates = [ce.tweak("false_omission_rate", max_path_length=k, name=f"f{k + 1}") for k in (-1, 0, 1, 3, 5)]
    found = score([chain], perturbed, rates).iloc[0]
    assert found["f2"] == pytest.approx(by_hand(chain, perturbed, 1)[2])
    assert found["f4"] == pytest.approx(by_hand(chain, perturbed, 3)[2])
    assert found["f0"] == found["f6"] == pytest.approx(by_hand(chain, perturbed, 9)[2])
    assert found["f1"] == pytest.approx(by_hand("A; B; C; D; E; F", perturbed)[2])


def test_an_undirected_edge_counts_in_both_directions(perturbed):
    found = score(["A -- B; C; D; E; F", "A -> B; C; D; E; F", "B -> A; C; D; E; F"], perturbed)
    one, forward, backward = found["mean_wasserstein"]
    assert one == pytest.approx((forward + backward) / 2)


@pytest.mark.parametrize("null", ["edges", "permutation"])
@pytest.mark.parametrize("estimate", [TRUTH, "A -> B -> C -> A; D -> E; F"])
def test_the_mean_under_random_graphs_is_exact(perturbed, null, estimate):
    """Of more than seven nodes no graphs are listed: two nodes without edges are added."""
    rng = np.random.default_rng(3)
    data = perturbed.assign(G=rng.normal(size=len(perturbed)), H=rng.normal(size=len(perturbed)))
    more = [data.iloc[:40].assign(gene=node, **{node: 5.0}) for node in "GH"]
    data = pd.concat([data, *more], ignore_index=True)
    runs = pd.DataFrame({"estimate": [f"{estimate}; G; H"]})
    settings = {"truth": None, "context": {"data": data, "perturbed": "gene"}, "null": null, "rng": 7}
    names = ["mean_wasserstein", "mannwhitney_precision"]
    exact = runs.ceval.with_controls(names, n_draws=2000, columns="full", **settings)
    drawn = runs.ceval.with_controls(names, n_draws=2000, method="simulate", columns="full", **settings)
    for name in names:
        assert exact[f"{name}_mean_method"][0] == "exact"
        gap = abs(exact[f"{name}_control_mean"][0] - drawn[f"{name}_control_mean"][0])
        assert gap < 4 * drawn[f"{name}_control_mean_se"][0]


@pytest.mark.parametrize("tossed", [False, True])
def test_mean_and_variance_over_all_random_graphs(perturbed, tossed):
    """All skeletons of a number of edges, directed along all orders or in all ways."""
    nodes, m = list("ABCD"), 3
    data = perturbed[perturbed["gene"].isna() | perturbed["gene"].isin(nodes)]
    runs = pd.DataFrame({"estimate": ce.graph_column(["A -> B; B -> C; C -> D"])})
    context = resolve_context(runs, {"data": data, "perturbed": "gene"}, {"graph": ("data", "perturbed")})
    [batch] = ce.structure.GRAPHS.batches(None, runs["estimate"], context)
    metric = ce.get_metric("mean_wasserstein")
    found = mean_over_edges(metric, batch.pairs, np.array([m]), np.array([tossed]))
    texts = []
    for skeleton in itertools.combinations(list(itertools.combinations(nodes, 2)), m):
        if tossed:
            ways = [
                [e if k else e[::-1] for e, k in zip(skeleton, x, strict=True)]
                for x in itertools.product((0, 1), repeat=m)
            ]
        else:
            ways = [[sorted(e, key=order.index) for e in skeleton] for order in itertools.permutations(nodes)]
        texts += ["; ".join([*(f"{a} -> {b}" for a, b in way), *nodes]) for way in ways]
    values = score(texts, data, ["mean_wasserstein"])["mean_wasserstein"]
    assert found.mean[0] == pytest.approx(values.mean())
    assert found.variance[0] == pytest.approx(values.var(ddof=0))


def test_controls_judge_the_true_graph_better_than_guesses(perturbed):
    runs = pd.DataFrame(
        {"algorithm": ["truth", "turned"], "estimate": [TRUTH, "F -> D; D -> E; D -> A; C -> B; B -> A"]}
    )
    context = {"data": perturbed, "perturbed": "gene"}
    found = runs.ceval.with_controls(
        ["mean_wasserstein", "false_omission_rate"], truth=None, context=context, n_draws=200, rng=7
    )
    assert found["mean_wasserstein_p"][0] < 0.02
    assert found["false_omission_rate_p"][0] < 0.1
    assert found["mean_wasserstein_p"][1] > 0.5


@pytest.mark.parametrize(
    ("data", "context", "message"),
    [
        (lambda x: x, {}, "mean_wasserstein needs 'perturbed' in the context"),
        (lambda x: x, {"perturbed": "guide"}, "row 0 .*perturbed='guide' is not a column of the data"),
        (lambda x: x, {"perturbed": "A"}, "perturbed='A' is a node"),
        (lambda x: x, {"perturbed": 3}, "perturbed must be the name of a column"),
        (lambda x: x.fillna({"gene": "none"}), CONTEXT, "holds 'none', which is not a node .200 cases"),
        (lambda x: x.dropna(subset="gene"), CONTEXT, "so that no case is observational"),
        (lambda x: x.drop(columns="F"), CONTEXT, "the data have no columns for the nodes \\['F'\\]"),
        (lambda x: x["A"], CONTEXT, "data must be a DataFrame"),
        (lambda x: x.assign(A=np.nan), CONTEXT, "missing values, by column"),
    ],
)
def test_unsuited_data_are_refused(perturbed, data, context, message):
    runs = pd.DataFrame({"estimate": [TRUTH]})
    with pytest.raises((ValueError, TypeError), match=message):
        runs.ceval.evaluate(["mean_wasserstein"], truth=None, context={"data": data(perturbed)} | context)


@pytest.mark.parametrize("option", [{"alpha": 0}, {"max_path_length": -2}, {"max_path_length": 1.5}])
def test_wrong_options_are_refused(perturbed, option):
    with pytest.raises(ValueError, match=next(iter(option))):
        score([TRUTH], perturbed, [ce.tweak("false_omission_rate", **option)])


def test_ties_in_one_node_leave_p_values_of_others_exact():
    free = pd.DataFrame({"A": np.arange(9.0), "B": [0, 1, 2, 1.5, 3, 4, 5, 6, 7], "C": np.arange(9.0)[::-1]})
    free["gene"] = [None] * 3 + ["A"] * 6
    # exact p is .048; the approximation, which ties need, .053
    for data in (free, free.assign(C=[0.0, 0, 1, 2, 3, 4, 5, 6, 7])):
        assert score(["A -> B; C"], data, ["mannwhitney_precision"])["mannwhitney_precision"].tolist() == [1.0]
