"""Records of the field of graphs: columns of graphs, metrics, null models, closed forms."""

import math
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

import causaleval_pd as ce
from causaleval_pd.contract.metric import METRICS

from .store import add, record

NODES = ("A", "B", "C", "D", "E", "F")
NULLS = ("edges", "permutation", "orientation", "oracle_skeleton", "empty", "complete", "degree")
SOME = ["shd", "adjacency_f1", "orientation_precision", "directed_recall", "v_structure_tp", "sid_lower"]


def random_dags(n: int, seed: int, nodes: tuple[str, ...] = NODES, most: int = 9) -> list[str]:
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(len(nodes)) for j in range(i + 1, len(nodes))]
    texts = []
    for _ in range(n):
        order = rng.permutation(len(nodes))
        chosen = rng.choice(len(pairs), rng.integers(2, min(most, len(pairs)) + 1), replace=False)
        edges = [f"{nodes[order[pairs[k][0]]]} -> {nodes[order[pairs[k][1]]]}" for k in chosen]
        texts.append("; ".join([*edges, *nodes]))
    return texts


@cache
def table(truth: str = "dag", estimate: str = "dag", n: int = 16) -> pd.DataFrame:
    """Return random truths and estimates of the classes."""

    def column(kind: str, seed: int) -> pd.Series:
        found = ce.graph_column(random_dags(n, seed))
        if kind == "cpdag":
            return found.graph.cpdag()
        if kind == "pdag":
            half = [text.replace("->", "--", 2) for text in random_dags(n, seed)]
            return ce.graph_column(half, kind="pdag")
        return found

    return pd.DataFrame(
        {"run": [f"r{i}" for i in range(n)], "truth": column(truth, 1), "estimate": column(estimate, 2)}
    )


@cache
def runs() -> pd.DataFrame:
    """Return some shipped runs, two of them failed."""
    found = ce.datasets.runs().query("n == 100 and replicate < 3").reset_index(drop=True)
    found.loc[[4, 17], "estimate"] = None
    return found.assign(run=np.arange(len(found)) * 3)


def metric_names(truth: str, estimate: str, *, directed: bool = False) -> list[str]:
    known = ce.list_metrics("graph")
    known = known.loc[[name for name in METRICS if name in known.index]]
    known = known[[".structure." in ce.get_metric(name).__module__ for name in known.index]]
    of_truth = known["truth_kinds"].where(known["truth_kinds"].fillna("") != "", known["kinds"])
    fits = [truth in a.split(", ") and estimate in b.split(", ") for a, b in zip(of_truth, known["kinds"], strict=True)]
    aims = known["direction"].isin(["minimize", "maximize", "zero"]) if directed else True
    return list(known.index[np.array(fits) & aims])


def evaluate(truth: str, estimate: str, **settings: Any) -> pd.DataFrame:
    with ce.set_options(zero_division=settings.pop("zero_division", math.nan)):
        return ce.evaluate(table(truth, estimate), metric_names(truth, estimate), **settings)


for _truth, _estimate in (("dag", "dag"), ("dag", "cpdag"), ("cpdag", "cpdag"), ("cpdag", "pdag"), ("pdag", "pdag")):
    add(f"graph/evaluate/{_truth}/{_estimate}", evaluate, _truth, _estimate)
add("graph/evaluate/zero_division", evaluate, "dag", "cpdag", zero_division=0.0)


@record("graph/evaluate/runs")
def evaluate_runs() -> pd.DataFrame:
    return runs().ceval.evaluate(invalid="nan").drop(columns=["seconds"])


@record("graph/evaluate/invalid")
def evaluate_invalid() -> pd.DataFrame:
    return table("dag", "cpdag").ceval.evaluate(["sid", "shd"], invalid="nan")


@record("graph/tweak")
def tweaked() -> pd.DataFrame:
    metrics = ce.metric_set(
        "shd",
        ce.tweak("shd", reversal_cost=2, name="double"),
        ce.tweak("shd", undirected_cost=0.5, absent_undirected_cost=0.25, name="soft"),
        ce.tweak("adjacency_f_beta", beta=2.0, name="f2"),
        ce.tweak("top_order_divergence", undecided=0.5, normalised=True),
        ce.tweak("separation_parent", part="faithfulness"),
        ce.tweak("separation_zl", part="markov", normalised=True),
        ce.tweak("parent_aid", normalised=True),
        **{f"shd_{n}": ce.tweak("shd", normalised=n) for n in ("pairs", "ordered_pairs", "true_edges")},
    )
    return table("dag", "cpdag").ceval.evaluate(metrics)


@record("graph/metric_functions")
def called() -> dict[str, float]:
    truth, estimate = "A -> B; B -> C; C -> D; A -> D", "A -> B; C -> B; D"
    names = [name for name in metric_names("dag", "dag") if not ce.get_metric(name).dims]
    return {name: float(ce.get_metric(name)(truth, estimate)) for name in names}


@record("list_metrics")
def listed() -> pd.DataFrame:
    return ce.list_metrics()


def with_controls(
    metrics: Any = None, truth: str = "dag", estimate: str = "dag", rows: int = 10, **settings: Any
) -> Any:
    how = {"n_draws": 60, "rng": 7, "key": "run"} | settings
    return table(truth, estimate).head(rows).ceval.with_controls(metrics or SOME, **how, columns="full")


def every_metric(truth: str, estimate: str, **settings: Any) -> pd.DataFrame:
    return with_controls(metric_names(truth, estimate, directed=True), truth, estimate, 4, **settings)


for _null in ("edges", "permutation", "orientation"):
    add(f"graph/with_controls/every_metric/{_null}", every_metric, "dag", "dag", null=_null)
add("graph/with_controls/every_metric/cpdag", every_metric, "dag", "cpdag")
add("graph/with_controls/every_metric/simulate", every_metric, "dag", "dag", method="simulate")
for _null in NULLS:
    add(f"graph/null/{_null}/dag", with_controls, null=_null)
    add(f"graph/null/{_null}/cpdag", with_controls, estimate="cpdag", null=_null, control_kind="cpdag", rows=6)
    add(f"graph/null/{_null}/simulate", with_controls, ["shd", "sid"], null=_null, method="simulate", rows=6)


def chosen(name: str, **options: Any) -> pd.DataFrame:
    return with_controls(null=ce.null_model(name, **options), rows=6)


add("graph/null/orientation/uniform", chosen, "orientation", orientation_law="uniform")
add("graph/null/oracle_skeleton/uniform", chosen, "oracle_skeleton", orientation_law="uniform")
add("graph/null/degree/switches", chosen, "degree", switches=5)
add("graph/null/edges/named", chosen, "edges", permute=False)


@record("graph/null/knowledge")
def knowledge() -> pd.DataFrame:
    null = ce.null_model(
        "knowledge", tiers=[["A", "B"], ["C", "D", "E", "F"]], forbidden=[("A", "E")], required=[("A", "C")]
    )
    return with_controls(null=null)


def some_graph(estimate: ce.Graph, rng: np.random.Generator) -> str:
    [text] = random_dags(1, int(rng.integers(2**31)), tuple(estimate.nodes))
    return text


@record("graph/null/function")
def custom() -> pd.DataFrame:
    return with_controls(["shd", "v_structure_f1"], null=ce.null_model(some_graph, name="mine"), n_draws=20, rows=4)


@record("graph/null/function/cpdag")
def custom_cpdag() -> pd.DataFrame:
    return with_controls(["shd"], estimate="cpdag", null=some_graph, n_draws=20, rows=4, control_kind="cpdag")


@record("graph/null/small_graphs")
def enumerated() -> dict[str, pd.DataFrame]:
    nodes = ("A", "B", "C", "D")
    pairs = [ce.graph_column(random_dags(6, seed, nodes, 5)) for seed in (3, 4)]
    small = pd.DataFrame(dict(zip(("truth", "estimate"), pairs, strict=True)))
    return {"permutation": small.ceval.with_controls(SOME, null="permutation", rng=1, n_draws=50, columns="full")}


OPTIONS: dict[str, dict[str, Any]] = {
    "method/exact": {"metrics": ["adjacency_f1", "shd", "skeleton_hd"], "method": "exact"},
    "method/simulate": {"method": "simulate"},
    "permute": {"null": ce.null_model("edges", permute=False)},
    "level": {"level": 0.8},
    "many_draws": {"metrics": ["shd", "sid", "arrowhead_f1"], "n_draws": 1000, "rows": 4},
    "generator": {"metrics": ["shd"], "rng": np.random.default_rng},
    "key": {"metrics": ["sid"], "key": None},
}


def options(rng: Any = 7, **settings: Any) -> pd.DataFrame:
    """Call the verb with an option; a generator is made for the call."""
    return with_controls(rng=rng(3) if callable(rng) else rng, **settings)


for _name, _settings in OPTIONS.items():
    add(f"graph/with_controls/{_name}", options, **_settings)


@record("graph/with_controls/zero_division")
def zero_division() -> pd.DataFrame:
    with ce.set_options(zero_division=0.0):
        return options()


@record("graph/with_controls/runs")
def controls_of_runs() -> pd.DataFrame:
    found = runs().ceval.with_controls(
        ["shd", "adjacency_f1"], n_draws=50, rng=7, control_kind="kind", key="run", columns="full"
    )
    return found.drop(columns=["seconds"])


@record("graph/skeleton_test")
def skeleton() -> Any:
    return ce.skeleton_test([3, 0, 9, 5], [5, 5, 10, 8], [6, 5, 12, 8], [6, 6, 20, 10])


@record("graph/expected_metric")
def expected() -> dict[str, pd.DataFrame]:
    known = ce.list_metrics("graph")
    has_law = known.index[known["closed_form"].fillna("") == "hypergeometric"]
    names = [name for name in METRICS if name in has_law]
    how = {"n_nodes": [6, 6, 20], "true_edges": [5, 8, 30], "estimated_edges": [4, 0, 25]}
    with ce.set_options(zero_division=0.0):
        zero = ce.expected_metric(names, **how)
    found = {"defined": ce.expected_metric(names, **how), "zero": zero}
    published = ["adjacency_precision", "adjacency_recall", "adjacency_f1"]
    return found | {"published": ce.expected_metric(published, convention="published", level=0.9, **how)}


def distribution(**settings: Any) -> pd.DataFrame:
    how = {"n_edges": 6, "kind": "dag", "metrics": SOME, "n_draws": 80, "rng": 7} | settings
    return ce.control_distribution(random_dags(1, 5)[0], **how)


add("graph/control_distribution/dag", distribution)
add("graph/control_distribution/cpdag", distribution, kind="cpdag", observed={"shd": 3.0, "adjacency_f1": 0.8})
add("graph/control_distribution/simulate", distribution, method="simulate", level=0.8)
add("graph/control_distribution/order", distribution, permute=False, nodes=list("FEDCBA"))


def column_hashes(found: pd.Series) -> dict[str, Any]:
    """Return the bytes of a packed column and what its accessor tells."""
    knows = found.graph
    return {
        "cells": found,
        "text": knows.to_strings(),
        "nodes": [";".join(x) if isinstance(x, tuple) else None for x in knows.nodes],
        "numbers": pd.DataFrame(
            {
                "n_nodes": knows.n_nodes,
                "n_edges": knows.n_edges,
                "n_undirected": knows.n_undirected,
                "density": knows.density,
                "kind": knows.kind,
                "acyclic": knows.is_acyclic,
                "v": knows.v_structures(),
            }
        ),
        "skeleton": knows.skeleton(),
        "cpdag": knows.cpdag(),
    }


@record("graph_column/strings")
def of_strings() -> Any:
    texts = ["A -> B <- C", "A -- B; C", None, "B <- A; C -- D -- E", "'x, y' -> z", "{}", "X10 -> X2 -> X1"]
    return column_hashes(ce.graph_column(pd.Series(texts, index=list("abcdefg"), name="graphs")))


@record("graph_column/networkx")
def of_networkx() -> Any:
    both = nx.DiGraph([(1, 2), (2, 1), (2, 3)])
    typed = nx.DiGraph([("a", "b")])
    typed.add_edge("b", "c", type="undirected")
    found = ce.graph_column([both, typed, nx.DiGraph([("X", "Y")]), None], kind=["pdag", None, "dag", None])
    return found, ce.graph_column([both], rename={1: "one", 2: "two", 3: "three"}), found.dropna().graph.cpdag()


@record("graph_column/matrices")
def of_matrices() -> Any:
    rng = np.random.default_rng(4)
    stack = np.triu(rng.integers(0, 2, (5, 7, 7)), 1)
    one = ce.graph_column(stack, encoding="row->column")
    other = ce.graph_column(list(stack), encoding="column->row", nodes=list("gfedcba"))
    frame = ce.graph_column([pd.DataFrame(stack[0], list("abcdefg"), list("abcdefg"))], encoding="row->column")
    back = other.graph.to_numpy(nodes=list("gfedcba"), encoding="column->row")
    return {"one": column_hashes(one), "other": column_hashes(other), "frame": frame, "back": back}


@record("graph_column/classes")
def of_classes() -> Any:
    return {kind: column_hashes(table(kind, kind)["estimate"]) for kind in ("dag", "cpdag")}


@record("graph_column/large")
def of_large_graphs() -> Any:
    nodes = tuple(f"V{i:03d}" for i in range(130))
    found = ce.graph_column(random_dags(3, 6, nodes, 300))
    scored = pd.DataFrame({"truth": found, "estimate": found.iloc[[1, 2, 0]].to_numpy()})
    metrics = ["shd", "adjacency_f1", "sid", "parent_aid", "ancestor_aid", "oset_aid", "separation_parent"]
    return (
        column_hashes(found),
        scored.ceval.with_controls(metrics[:3], n_draws=5, rng=1, columns="full"),
        scored.ceval.evaluate(metrics),
    )


@record("graph/as_graph")
def single() -> list[Any]:
    found = [ce.as_graph(x) for x in ("A -> B <- C; D", [("a", "b"), ("b", "c")], nx.DiGraph([("x", "y")]))]
    return [[str(g), g.kind, g.to_bytes(), g.n_edges, g.cpdag().to_string(), g.skeleton().to_string()] for g in found]


@record("datasets")
def shipped() -> dict[str, Any]:
    from causaleval_pd import datasets

    return {"runs": datasets.runs(), "sachs": datasets.sachs(), "truths": [datasets.sachs_truth(n) for n in (20, 17)]}
