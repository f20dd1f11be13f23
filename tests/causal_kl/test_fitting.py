"""Networks fitted to data; estimates that are graphs, fitted to each row's data."""

import itertools

import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.causal_kl import from_data, from_joint, metastatic, metastatic_mutations, sample

from . import brute_force as brute

CASES = pd.DataFrame({"A": ["n", "n", "y", "y", "y"], "B": ["n", "y", "y", "y", "n"]})


@pytest.mark.parametrize(
    ("estimator", "rows"),
    [
        ("mle", [[1 / 2, 1 / 2], [1 / 3, 2 / 3]]),
        (0.5, [[1.5 / 3, 1.5 / 3], [1.5 / 4, 2.5 / 4]]),
        (1, [[2 / 4, 2 / 4], [2 / 5, 3 / 5]]),
    ],
)
def test_counts_become_probabilities(estimator, rows):
    np.testing.assert_allclose(from_data("A -> B", CASES, estimator).cpts["B"], rows)


def test_rows_never_seen_are_undefined_uniform_or_pseudo_counts():
    states = {"A": ["n", "y", "z"], "B": ["n", "y"]}
    rows = [from_data("A -> B", CASES, e, states=states).cpts["B"][2].tolist() for e in ("uniform rows", 0.5)]
    assert rows == [[0.5, 0.5], [0.5, 0.5]]
    assert np.isnan(from_data("A -> B", CASES, states=states).cpts["B"][2]).all()


def test_the_structure_brings_its_states(metastatic):
    few = sample(metastatic, 3, rng=1).astype(str)
    assert from_data(metastatic, few, 1.0).states == metastatic.states
    assert from_data(metastatic.graph, few, 1.0, states=metastatic) == from_data(metastatic, few, 1.0)


def test_much_data_recovers_the_network(metastatic):
    cases = sample(metastatic, 100_000, rng=2)
    found = from_data(metastatic, cases)
    for name in "MSBC":
        np.testing.assert_allclose(found.cpts[name], metastatic.cpts[name], atol=0.02)
    assert sample(metastatic, 50, rng=2).equals(sample(metastatic, 50, rng=2))


@pytest.mark.parametrize("seed", range(4))
def test_the_joint_law_gives_its_conditionals(seed):
    rng = np.random.default_rng(seed)
    truth = brute.random_network(rng, zeros=0.3)
    estimate = from_joint("A -> B; A -> C; B -> C", truth)
    law = brute.joint(truth)
    # a complete DAG has the whole joint law
    for x, p in law.items():
        parts = [brute.conditional(estimate, i, x) for i in range(3)]
        assert np.nan_to_num(np.prod(parts)) == pytest.approx(p)
    assert not np.isnan(from_joint("A -> B; A -> C; B -> C", truth, undefined="uniform").parameters).any()


def test_gaussian_regressions():
    truth = ce.GaussianNetwork({"A": [], "B": ["A"]}, {"A": [], "B": [2.0]}, {"A": 1, "B": 0.5}, {"A": 1, "B": -1})
    assert ce.kl(truth, from_joint("B -> A", truth)) == pytest.approx(0, abs=1e-12)
    cases = sample(truth, 50_000, rng=3)
    found = from_data("A -> B", cases)
    assert found.coefficients["B"][0] == pytest.approx(2, abs=0.02)
    assert (found.intercepts["B"], found.variances["B"]) == pytest.approx((-1, 0.5), abs=0.03)
    slope, intercept = np.polyfit(cases["A"], cases["B"], 1)
    assert (found.coefficients["B"][0], found.intercepts["B"]) == pytest.approx((slope, intercept))


def test_an_undefined_row_cannot_be_drawn_from():
    broken = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [0.5, 0.5], "B": [[1, 0], [np.nan] * 2]})
    with pytest.raises(ValueError, match="node 'B'.*undefined"):
        sample(broken, 100, rng=1)
    with pytest.raises(ValueError, match="undefined rows"):
        from_joint("B -> A", broken)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"data": CASES[["A"]]}, "lacks columns for the nodes \\['B'\\]"),
        ({"data": CASES.assign(C=1)}, r"has the columns \['C'\], which are not nodes; leave them out, as by data\["),
        ({"data": CASES.replace("y", None)}, "column 'A' has missing values"),
        ({"estimator": "bayes"}, "estimator must be 'mle'"),
        ({"estimator": 0}, "estimator must be 'mle'"),
        ({"estimator": True}, "estimator must be 'mle'"),
        ({"states": {"A": ["n"], "B": ["n", "y"]}}, "column 'A' has the value 'y' in row 2; known: \\['n'\\]"),
        ({"structure": "A -- B"}, "parameters need a DAG, found a graph of class cpdag"),
        ({"data": pd.DataFrame({"A": [0.1, 0.2], "B": [1.0, 2.0]}), "estimator": 0.5}, "take estimator='mle' alone"),
        ({"data": pd.DataFrame({"A": [0.1, 0.2], "B": [0.2, 0.4]})}, "node 'B' is a linear function"),
        # but for rounding
        ({"data": pd.DataFrame({"A": [0.1, 0.2, 0.4], "B": [0.2, 0.4, 0.8 + 2e-7]})}, "node 'B' is a linear function"),
    ],
)
def test_mistakes_are_named(change, words):
    given = {"structure": "A -> B", "data": CASES, "estimator": "mle"} | change
    with pytest.raises(ValueError, match=words):
        from_data(given["structure"], given["data"], given["estimator"], states=given.get("states"))


def test_other_mistakes(metastatic):
    with pytest.raises(ValueError, match="the structure has the nodes"):
        from_joint("A -> B", metastatic)
    with pytest.raises(ValueError, match="undefined must be"):
        from_joint(metastatic, metastatic, undefined="zero")
    with pytest.raises(ValueError, match="n must be"):
        sample(metastatic, -1)
    with pytest.raises(TypeError, match="data must be a DataFrame"):
        from_data("A -> B", CASES.to_numpy())


def test_structures_may_be_parents_by_node(metastatic):
    parents = {name: list(found) for name, found in metastatic.parents.items()}
    arcs = [(p, name) for name, found in parents.items() for p in found]
    assert from_joint(parents, metastatic) == from_joint(ce.as_graph(arcs), metastatic)
    assert ce.kl(metastatic, from_joint(parents, metastatic)) == pytest.approx(0, abs=1e-12)
    data = sample(metastatic, 50, rng=1)
    assert from_data(parents, data, 0.5) == from_data(ce.as_graph(arcs), data, 0.5)
    with pytest.raises(ValueError, match="cycle"):
        from_data({"M": ["C"], "S": [], "B": [], "C": ["M"]}, data, 0.5)
    with pytest.raises(ValueError, match=r"node 'S' has the parents \['X'\]"):
        from_joint({"M": [], "S": ["X"], "B": [], "C": []}, metastatic)


def test_gaussian_nodes_without_parents_need_no_coefficients():
    given = {"A": [], "B": ["A"]}, {"A": 1, "B": 0.75}
    assert ce.GaussianNetwork(given[0], {"B": [0.5]}, given[1]) == ce.GaussianNetwork(
        given[0], {"A": [], "B": [0.5]}, given[1]
    )
    with pytest.raises(ValueError, match=r"coefficients lacks the nodes \['B'\]"):
        ce.GaussianNetwork(given[0], {}, given[1])


LAWS = ("kl", "ckl1", "ckl2", "ckl3", "wed_3")
MEMBERS = [ce.tweak(name, over=over, name=f"{name}_{over}") for name in LAWS for over in ("mean", "best", "worst")]
JOINT = {"estimator": "joint"}


def extensions(graph) -> list:
    """Return the DAGs of a graph's class, by trying all directions of its undirected edges."""
    directed = [(a, b) for a, b in graph.to_networkx().edges if not graph.to_networkx().has_edge(b, a)]
    free = sorted({tuple(sorted(edge)) for edge in graph.to_networkx().edges} - {tuple(sorted(x)) for x in directed})
    found = []
    for flips in itertools.product((False, True), repeat=len(free)):
        arcs = directed + [(b, a) if flip else (a, b) for flip, (a, b) in zip(flips, free, strict=True)]
        if nx.is_directed_acyclic_graph(nx.DiGraph(arcs)):
            dag = ce.as_graph(arcs, nodes=graph.nodes, kind="dag")
            if dag.cpdag() == graph:
                found.append(dag)
    return found


CLASSES = ["B -> C; B -- M; M -- S; S -> C", "M -- S; M -- B; C", "M -- S; M -- B; S -- B; S -- C", "M; S; B; C"]


@pytest.mark.parametrize("text", CLASSES)
def test_values_are_those_of_the_members(text):
    truth, graph = metastatic(), ce.as_graph(text, kind="cpdag")
    cases = sample(truth, 300, rng=1)
    runs = pd.DataFrame({"truth": [truth], "estimate": [graph]})
    found = runs.ceval.evaluate(MEMBERS, context={"data": cases, "estimator": 0.5}).iloc[0]
    members = [from_data(dag, cases, 0.5, states=truth) for dag in extensions(graph)]
    assert members
    for name in LAWS:
        values = [getattr(ce, name)(truth, member) for member in members]
        expected = {"mean": np.mean(values), "best": min(values), "worst": max(values)}
        assert {over: found[f"{name}_{over}"] for over in expected} == pytest.approx(expected, abs=1e-12)


def test_linear_gaussian_classes():
    parents = {"A": [], "B": ["A"], "C": ["B"], "D": ["B", "C"]}
    truth = ce.GaussianNetwork(parents, {n: [0.8] * len(p) for n, p in parents.items()}, dict.fromkeys(parents, 1.0))
    cases, graph = sample(truth, 200, rng=2), truth.graph.cpdag()
    found = pd.DataFrame({"truth": [truth], "estimate": [graph]}).ceval.evaluate(
        MEMBERS, context={"data": cases, "estimator": "mle"}
    )
    members = [from_data(dag, cases, states=truth) for dag in extensions(graph)]
    for name in LAWS:
        values = [getattr(ce, name)(truth, member) for member in members]
        assert found[f"{name}_mean"][0] == pytest.approx(np.mean(values), abs=1e-12)
        assert found[f"{name}_worst"][0] == pytest.approx(max(values), abs=1e-12)


def test_pdags_with_background_knowledge_and_dags():
    truth = metastatic()
    cases = sample(truth, 300, rng=1)
    known = ce.as_graph("M -> S; M -- B; S -> C; B -> C", kind="pdag")
    runs = pd.DataFrame({"truth": [truth] * 2, "estimate": [known, truth.graph]})
    found = runs.ceval.evaluate([*MEMBERS, "shd"], context={"data": cases, "estimator": 0.5})
    values = [
        ce.ckl3(truth, from_data(f"M -> S; {arc}; S -> C; B -> C", cases, 0.5, states=truth))
        for arc in ("M -> B", "B -> M")
    ]
    # B -> M <- S would be a new v-structure, but M -> S is directed
    assert found["ckl3_mean"][0] == pytest.approx(np.mean(values), abs=1e-12)
    own = ce.ckl3(truth, from_data(truth.graph, cases, 0.5, states=truth))
    assert found.loc[1, ["ckl3_mean", "ckl3_best", "ckl3_worst"]].tolist() == pytest.approx([own] * 3, abs=1e-12)
    assert found["shd"].tolist() == [1, 0]


def test_infinite_and_undefined_members_show():
    copy = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [0.5, 0.5], "B": [[1, 0], [0, 1]]})
    runs = pd.DataFrame({"truth": [copy], "estimate": [ce.as_graph("A -- B")]})
    metrics = [ce.tweak("ckl3", over=over, name=over) for over in ("mean", "best", "worst")]
    assert runs.ceval.evaluate(metrics, context=JOINT).iloc[0, 2:].tolist() == [np.inf, 0, np.inf]
    few = pd.DataFrame({"A": ["0", "0"], "B": ["0", "1"]})
    found = runs.ceval.evaluate(metrics, context={"data": few, "estimator": "mle"})
    assert found.iloc[0, 2:].isna().all()


def test_what_is_no_class_is_refused_by_row():
    truth = metastatic()
    square = ce.as_graph("M -- S; S -- C; C -- B; B -- M")
    runs = pd.DataFrame({"truth": [truth] * 2, "estimate": [truth.graph, square]}, index=["x", "y"])
    with pytest.raises(ValueError, match=r"row 1 \(index 'y'\), where the estimate is a PDAG that no DAG extends"):
        runs.ceval.evaluate(["ckl3"], context=JOINT)
    found = runs.ceval.with_controls(["ckl3"], context=JOINT, invalid="nan", rng=1)
    assert found["ckl3"].isna().tolist() == [False, True] and found["ckl3_p"].isna().tolist() == [False, True]
    with pytest.raises(ValueError, match=r"row 0 \(index 'x'\): truth has nodes"):
        runs.assign(estimate=[ce.as_graph("A -> B"), square]).ceval.evaluate(["ckl3"], context=JOINT)
    with pytest.raises(ValueError, match=r"edit_distance applies to .*class of DAGs"):
        runs.assign(estimate=[truth.graph.cpdag()] * 2).ceval.evaluate(["edit_distance"], context=JOINT)


def test_a_forgotten_context_is_a_message():
    truth = metastatic()
    graphs = pd.DataFrame({"truth": [truth], "estimate": [truth.graph.cpdag()]})
    networks = graphs.assign(estimate=[metastatic_mutations()["rev.in.weak"]])
    for call in (
        lambda: graphs.ceval.evaluate(["ckl3"]),
        lambda: graphs.ceval.with_controls(["ckl3"]),
        lambda: networks.ceval.with_controls(["ckl3"]),
        lambda: networks.ceval.with_controls(["ckl3"], null="edges", context={}),
        lambda: networks.assign(arm="x").ceval.cube(["ckl3"], by=["arm"]),
    ):
        with pytest.raises(ValueError, match="context= is missing: .*'estimator': 'joint'"):
            call()
    assert networks.ceval.evaluate(["ckl3"])["ckl3"][0] > 0


@pytest.mark.slow
def test_controls_of_classes_are_classes():
    truth, mutations = metastatic(), metastatic_mutations()
    runs = pd.DataFrame(
        {"truth": [truth] * 2, "estimate": [truth.graph.cpdag(), mutations["del.strong"].graph.cpdag()]}
    )
    found = runs.ceval.with_controls(["kl", "ckl3"], context=JOINT, rng=1)
    assert found["control_kind"].tolist() == ["cpdag"] * 2 and found["ckl3_p_method"].tolist() == ["exact"] * 2
    # all DAGs with four arcs, each scored by its class
    from causaleval_pd.fields.causal_kl.nulls import bits, dags_with_arcs

    values = []
    for masks in dags_with_arcs(4, 4).tolist():
        arcs = [(truth.nodes[p], truth.nodes[i]) for i, mask in enumerate(masks) for p in bits(mask)]
        members = extensions(ce.as_graph(arcs, nodes=truth.nodes).cpdag())
        values.append(np.mean([ce.ckl3(truth, from_joint(dag, truth)) for dag in members]))
    assert found["ckl3_control_mean"][0] == pytest.approx(np.mean(values), abs=1e-12)
    assert found["ckl3_p"][0] == pytest.approx(np.mean(np.array(values) <= found["ckl3"][0] + 1e-12))
    drawn = runs.ceval.with_controls(["ckl3"], context=JOINT, rng=1, method="simulate", n_draws=400)
    assert drawn["ckl3_control_mean"].tolist() == pytest.approx(found["ckl3_control_mean"].tolist(), abs=0.03)


def test_graphs_without_undirected_edges_may_be_classes():
    truth = metastatic()
    alone = ce.as_graph("M -> C; S -> C; B -> C")
    runs = pd.DataFrame({"truth": [truth] * 2, "estimate": [alone, alone], "kind": ["cpdag", "dag"]})
    found = runs.ceval.with_controls(["ckl3"], context=JOINT, rng=1, control_kind="kind")
    assert found["control_kind"].tolist() == ["cpdag", "dag"]
    assert found["ckl3"][0] == pytest.approx(found["ckl3"][1])
    # the mean over a class is less extreme than its members
    assert found["ckl3_control_high"][0] < found["ckl3_control_high"][1] - 1e-3
    with pytest.raises(ValueError, match="row 0 .*is a DAG whose equivalence class has others"):
        runs.assign(estimate=[truth.graph] * 2).ceval.with_controls(["ckl3"], context=JOINT, control_kind="kind")
    with pytest.raises(ValueError, match="class dag or cpdag, found control_kind pdag"):
        runs.ceval.with_controls(["ckl3"], context=JOINT, control_kind="pdag")


@pytest.mark.slow
def test_lazy_tables():
    truth = metastatic()
    cases = {"a": sample(truth, 100, rng=1), "b": sample(truth, 100, rng=1)}
    estimate = ce.graph_column(["M -- S; M -- B; S -> C; B -> C"] * 2)
    runs = pd.DataFrame({"truth": ce.network_column([truth] * 2), "estimate": estimate, "sample": ["a", "b"]})
    how = {"context": {"data": ("sample", cases), "estimator": 0.5}}
    lazy = dd.from_pandas(runs, npartitions=2)
    for verb, more in (("evaluate", {}), ("with_controls", {"n_draws": 9, "rng": 1})):
        expected = getattr(runs.ceval, verb)(["ckl3", "shd"], **how, **more)
        found = getattr(lazy.ceval, verb)(["ckl3", "shd"], **how, **more).compute()
        assert found["ckl3"].equals(expected["ckl3"]) and found["shd"].equals(expected["shd"])


@pytest.mark.slow
def test_cubes_and_placebos_take_fitted_graphs():
    truth = metastatic()
    cases = {r: sample(truth, 200, rng=r) for r in range(3)}
    runs = pd.DataFrame({"truth": [truth] * 3, "estimate": [truth.graph.cpdag()] * 3, "data": list(cases), "arm": "x"})
    context = {"data": ("data", cases), "estimator": 0.5}
    cube = runs.ceval.cube(["ckl3", "shd"], by=["arm"], context=context, n_draws=20, rng=1, null="permutation")
    summary = cube.ceval.summary(columns="full").set_index("metric")
    assert summary["n_scored"].tolist() == [3, 3] and summary.loc["ckl3", "mean"] > 0
    placebo = runs.ceval.placebo(rng=1)
    assert placebo["estimate"].nunique() == 1 and not placebo["estimate"].equals(ce.graph_column(runs["estimate"]))
    assert placebo.ceval.evaluate(["ckl3"], context=context)["ckl3"].notna().all()
