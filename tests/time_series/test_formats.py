"""Lagged graphs of other tools: arrays as their documentation defines them, and what the tools return."""

from pathlib import Path
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

NAMES = ["X", "Y", "Z"]
ASKED = "found weights or p-values; links are those .* above threshold="
TRUE = "lags 0..2: X@-1 -> X; X@-1 -> Y; X@-2 -> Z; Y -> Z; Y@-1 -> Y"


def text(cell, **options):
    return ce.as_lagged(cell, **options).to_string()


def test_strings_of_tigramite(run):
    graph = ce.as_lagged(run["graph"], nodes=NAMES)
    found = [tuple(row) for row in graph.to_frame()[["source", "link", "target", "lag"]].to_numpy().tolist()]
    # o-o at lag 0 is an undirected link
    signs = {"-->": "->", "<->": "<->", "o-o": "--"}
    assert sorted(found) == sorted((a, signs[sign], b, lag) for a, sign, b, lag in run["links"])
    at_lag_0 = graph.to_frame().query("lag == 0")
    assert len(at_lag_0) == run["n_contemporaneous"] and graph.n_links - len(at_lag_0) == run["n_lagged"]
    column = ce.lagged_column([run["graph"]], nodes=NAMES)
    np.testing.assert_array_equal(column.lagged.to_numpy(NAMES)[0], run["graph"])
    assert ce.as_lagged(column.lagged.to_numpy(NAMES)[0], nodes=NAMES) == graph


def test_variables_may_have_any_order(run):
    order = [2, 0, 1]
    moved = run["graph"][order][:, order]
    assert ce.as_lagged(moved, nodes=[NAMES[i] for i in order]) == ce.as_lagged(run["graph"], nodes=NAMES)


def test_p_values_of_tigramite_are_symmetric_at_lag_0(run):
    graph = ce.as_lagged(run["p_matrix"], nodes=NAMES, encoding="cause,effect,lag", first_lag=0, alpha=1e-30)
    links = graph.to_frame()
    present = np.argwhere(run["p_matrix"] <= 1e-30)
    lagged = {(NAMES[i], NAMES[j], lag) for i, j, lag in present.tolist() if lag}
    assert {tuple(x) for x in links.query("lag > 0")[["source", "target", "lag"]].to_numpy().tolist()} == lagged
    # p = 0 of a variable on itself at lag 0 means nothing
    assert (links.query("lag == 0")["link"] == "--").all()
    assert not (links.query("lag == 0")["source"] == links.query("lag == 0")["target"]).any()


def test_circles_and_conflicts_of_tigramite():
    graph = np.zeros((2, 2, 2), "<U3")
    graph[0, 1, 0], graph[1, 0, 0] = "o-o", "o-o"
    assert text(graph) == "lags 0..1: 0 -- 1"
    assert text(graph, kind="ts_pag") == "lags 0..1: 0 o-o 1"
    graph[0, 1, 1] = "o->"
    assert text(graph) == "lags 0..1: 0 o-o 1; 0@-1 o-> 1"
    graph[0, 1, 0], graph[1, 0, 0] = "x-x", "x-x"
    with pytest.raises(ValueError, match="orientations of this link conflict: pass conflict='circle'"):
        ce.as_lagged(graph)
    assert text(graph, conflict="circle") == "lags 0..1: 0 o-o 1; 0@-1 o-> 1"
    graph[0, 1, 0], graph[1, 0, 0] = "x->", "<-x"
    assert text(graph, conflict="circle") == "lags 0..1: 0 o-> 1; 0@-1 o-> 1"
    itself = np.zeros((2, 2, 2), "<U3")
    itself[0, 0, 1] = "-->"
    assert text(itself) == "lags 0..1: 0@-1 -> 0; 1"


@pytest.mark.parametrize(
    ("cell", "sign", "message"),
    [
        ((0, 1, 0), "-->", "mirror"),
        ((0, 1, 1), "<--", "an effect does not come before its cause"),
        ((0, 1, 1), "o-o", "an effect does not come before its cause"),
        ((0, 0, 0), "-->", "itself"),
        ((0, 1, 1), "+->", "two links"),
        ((0, 1, 1), "-?>", "expected '' or one of"),
    ],
)
def test_arrays_of_strings_that_are_no_graph(cell, sign, message):
    graph = np.zeros((2, 2, 2), "<U3")
    graph[cell] = sign
    with pytest.raises(ValueError, match=f"row 1.*{message}"):
        ce.lagged_column([None, graph])


def test_lags_that_were_not_searched():
    graph = np.zeros((2, 2, 2), "<U3")
    graph[0, 1, 1] = "-->"
    searched, not_searched = ce.as_lagged(graph), ce.as_lagged(graph, min_lag=1)
    assert searched != not_searched and not_searched.to_string() == "lags 1..1: 0@-1 -> 1"
    assert ce.as_lagged(graph, max_lag=4).max_lag == 4
    graph[0, 1, 0], graph[1, 0, 0] = "-->", "<--"
    with pytest.raises(ValueError, match="min_lag is 1, but the graph has links at lag 0"):
        ce.as_lagged(graph, min_lag=1)
    with pytest.raises(ValueError, match="at lag 1, beyond max_lag=0"):
        ce.as_lagged(graph, max_lag=0)


def test_graph_columns_point_to_lagged_ones(run):
    with pytest.raises(ValueError, match="read graphs of time series by ce.lagged_column"):
        ce.graph_column([run["graph"]], nodes=NAMES)
    with pytest.raises(ValueError, match="this is a lagged graph: take a view of it"):
        ce.lagged_column([run["graph"]], nodes=NAMES).graph.n_edges  # noqa: B018


@pytest.mark.parametrize(
    ("axes", "order"),
    [
        ("cause,effect,lag", (1, 2, 0)),
        ("effect,cause,lag", (2, 1, 0)),
        ("lag,cause,effect", (0, 1, 2)),
        ("lag,effect,cause", (0, 2, 1)),
    ],
)
@pytest.mark.parametrize("first", [0, 1])
def test_named_axes(axes, order, first):
    stack = np.zeros((3, 3, 3))
    for lag, i, j in [(1, 0, 0), (1, 0, 1), (2, 0, 2), (0, 1, 2), (1, 1, 1)]:
        stack[lag, i, j] = 0.4
    expected = TRUE if not first else TRUE.replace("0..2", "1..2").replace(" Y -> Z;", "")
    cell = stack[first:].transpose(order)
    assert text(cell, nodes=NAMES, encoding=axes, first_lag=first, threshold=0.1) == expected


_WEIGHTS = np.array([[[0, 0, 0], [0, 0, 0.6], [0, 0, 0]], [[0.5, 0.3, 0], [0, 0, 0], [0, 0, 0]]])
_OF_VAR = pd.DataFrame([[0.5, 0.3, 0], [0, 0, 0], [0, 0, 0]], index=[f"L1.{x}" for x in NAMES], columns=NAMES)
_OF_CAUSALNEX = nx.DiGraph([("X_lag1", "Y_lag0", {"weight": 0.3}), ("Y_lag1", "Y_lag0", {"weight": 0.01})])
WEIGHTS_OF_TOOLS = {
    "VARLiNGAM": (_WEIGHTS.transpose(0, 2, 1), {"encoding": "VARLiNGAM", "nodes": NAMES}),
    "statsmodels coefs": (_WEIGHTS[1:].transpose(0, 2, 1), {"encoding": "statsmodels coefs", "nodes": NAMES}),
    "statsmodels params": (_OF_VAR, {}),
    "DYNOTEARS": ((_WEIGHTS[0], _WEIGHTS[1]), {"encoding": "DYNOTEARS", "nodes": NAMES}),
    "CausalRivers": (_WEIGHTS[1:].transpose(2, 1, 0), {"encoding": "CausalRivers", "nodes": NAMES}),
    "causalnex": (_OF_CAUSALNEX, {}),
    "table": (pd.DataFrame({"source": ["X"], "target": ["Y"], "lag": [1], "weight": [0.3]}), {"nodes": NAMES}),
    "axes": (_WEIGHTS, {"encoding": "lag,cause,effect", "first_lag": 0, "nodes": NAMES}),
}
MODEL = SimpleNamespace(adjacency_matrices_=_WEIGHTS.transpose(0, 2, 1))


@pytest.mark.parametrize(
    ("encoding", "order"), [("VARLiNGAM", (0, 2, 1)), ("statsmodels coefs", (0, 2, 1)), ("CausalRivers", (2, 1, 0))]
)
@pytest.mark.parametrize("first", [0, 1])
def test_first_lag_of_arrays_of_tools(encoding, order, first):
    cell = _WEIGHTS[first:].transpose(order)
    how = {"nodes": NAMES, "encoding": encoding, "first_lag": first}
    expected = "lags 1..1: X@-1 -> X; X@-1 -> Y; Z" if first else "lags 0..1: X@-1 -> X; X@-1 -> Y; Y -> Z"
    assert text(cell, threshold=0, **how) == expected
    assert ce.lagged_scores([cell], lag=1, **how).score.to_numpy()[0][0, 1] == 0.3


def test_first_lag_of_strings():
    graph = np.zeros((2, 2, 2), "<U3")
    graph[0, 1, 1] = "-->"
    assert text(graph, first_lag=0) == "lags 0..1: 0@-1 -> 1"
    assert text(graph[:, :, 1:], first_lag=1) == "lags 1..1: 0@-1 -> 1"


@pytest.mark.parametrize(
    "cell",
    [
        "X@-1 -> Y", _OF_VAR, (_WEIGHTS[0], _WEIGHTS[1]), _OF_CAUSALNEX, {0: [(0, -1)]}, "Graph Nodes:\nX;X:1\n",
        pd.DataFrame({"source": ["X"], "target": ["Y"], "lag": [1]}), MODEL,
    ],
)  # fmt: skip
def test_first_lag_is_refused_where_lags_are_named(cell):
    how = {"encoding": "DYNOTEARS"} if isinstance(cell, tuple) else {}
    with pytest.raises(ValueError, match="row 1 .*found first_lag=1.*names its lags; leave out first_lag="):
        ce.lagged_column([None, cell], first_lag=1, threshold=0, **how)
    if cell is MODEL or isinstance(cell, tuple) or cell is _OF_VAR:
        with pytest.raises(ValueError, match="row 1 .*found first_lag=1"):
            ce.lagged_scores([None, cell], lag=1, first_lag=1, **how)


@pytest.mark.slow
def test_varlingam_of_causal_learn(series):
    from causallearn.search.FCMBased.lingam import VARLiNGAM

    model = VARLiNGAM(lags=2, criterion=None, prune=True)
    model.fit(series)
    column = ce.lagged_column(
        [model, np.array(model.adjacency_matrices_)], nodes=NAMES, encoding="VARLiNGAM", threshold=0.2
    )
    assert column.lagged.to_strings().tolist() == [TRUE, TRUE]
    assert ce.as_lagged(model, nodes=NAMES, threshold=0.2).to_string() == TRUE
    with pytest.raises(ValueError, match="found weights or p-values"):
        ce.as_lagged(model, nodes=NAMES)


@pytest.mark.parametrize("tool", WEIGHTS_OF_TOOLS)
def test_weights_of_every_tool_ask_for_a_threshold(tool):
    """No weight is a link without being asked; the threshold that the message names is then obeyed."""
    cell, how = WEIGHTS_OF_TOOLS[tool]
    with pytest.raises(ValueError, match="row 0 .*threshold="):
        ce.lagged_column([cell], **how)
    [found] = ce.lagged_column([cell], threshold=0.25, **how).lagged.to_strings()
    assert "X@-1 -> Y" in found
    [none] = ce.lagged_column([cell], threshold=0.9, **how).lagged.to_strings()
    assert "->" not in none


P_VALUES = {
    name: pd.DataFrame({"source": ["X", "Y"], "target": ["Y", "X"], "lag": [1, 1], name: [0.001, 0.9]})
    for name in ("p", "pvalue", "p_value")
}
#: numbers that are weights by the name of their column, attribute or format
NAMED_WEIGHTS = {tool: case for tool, case in WEIGHTS_OF_TOOLS.items() if tool not in ("statsmodels params", "axes")}
NAMED_WEIGHTS["tigramite links"] = ({0: [((1, -1), 0.3, None)], 1: []}, {})
NAMED_WEIGHTS["VARLiNGAM model"] = (MODEL, {"nodes": NAMES})


@pytest.mark.parametrize("tool", NAMED_WEIGHTS)
def test_named_weights_are_not_cut_as_p_values(tool):
    cell, how = NAMED_WEIGHTS[tool]
    with pytest.raises(ValueError, match="row 1 .*found .*, which are weights.*pass threshold=, not alpha="):
        ce.lagged_column([None, cell], alpha=0.05, **how)


@pytest.mark.parametrize("name", P_VALUES)
@pytest.mark.parametrize("form", [lambda table: table, lambda table: table.to_dict("list")])
def test_named_p_values_are_not_cut_as_weights(name, form):
    table = P_VALUES[name]
    asked = f"row 1 .*found the column '{name}' of a table of links, which are p-values.*pass alpha=, not threshold="
    for how in ({"threshold": 0.05}, {"threshold": 0}, {}):
        with pytest.raises(ValueError, match=asked):
            ce.lagged_column([None, form(table)], **how)
    # 1 is no link, though it looks like one
    with pytest.raises(ValueError, match=asked):
        ce.lagged_column([None, form(table.assign(**{name: [0, 1]}))])
    assert text(form(table), alpha=0.05) == "lags 0..1: X@-1 -> Y"


def test_scores_of_named_weights_are_no_p_values():
    for tool in ("VARLiNGAM", "VARLiNGAM model", "statsmodels coefs", "DYNOTEARS", "CausalRivers"):
        cell, how = NAMED_WEIGHTS[tool]
        with pytest.raises(ValueError, match="row 1 .*which are weights; .*leave out p_values=True"):
            ce.lagged_scores([None, cell], lag=1, p_values=True, **how)


def test_varlingam_of_lingam():
    # lingam 1.13.0 on the same process, 1500 steps: adjacency_matrices_, pruned
    found = [
        [[0, 0, 0], [0, 0, 0], [0, 0.5558, 0]],
        [[0.4863, 0, 0], [0.5111, 0.3955, 0], [0, 0, 0]],
        [[0, 0, 0], [0, 0, 0], [0.4495, 0, 0]],
    ]
    assert text(np.array(found), nodes=NAMES, encoding="VARLiNGAM", threshold=0) == TRUE
    # a model with fewer lags than were searched
    assert text(np.array(found), nodes=NAMES, encoding="VARLiNGAM", threshold=0, max_lag=5).startswith("lags 0..5: ")


@pytest.mark.parametrize("trend", ["n", "c", "ct"])
@pytest.mark.parametrize("named", [True, False])
def test_var_of_statsmodels(series, trend, named):
    from statsmodels.tsa.api import VAR

    names = NAMES if named else ["y1", "y2", "y3"]
    fitted = VAR(pd.DataFrame(series, columns=NAMES) if named else series).fit(2, trend=trend)
    by_name = ce.as_lagged(fitted, alpha=1e-6)
    # without a lag 0 the effect of Y on Z passes through the past
    assert by_name.min_lag == 1 and by_name.max_lag == 2
    strong = {(a, b, lag) for a, b, lag in by_name.to_frame()[["source", "target", "lag"]].to_numpy().tolist()}
    expected = {(names[0], names[0], 1), (names[0], names[1], 1), (names[1], names[1], 1), (names[0], names[2], 2)}
    assert strong >= expected
    for lag, i, j in [(1, 0, 1), (1, 1, 0), (2, 0, 2), (2, 2, 0)]:
        assert fitted.coefs[lag - 1][j, i] == np.asarray(fitted.params)[len(fitted.params) - 6 + 3 * (lag - 1) + i, j]
    weights = ce.as_lagged(fitted, threshold=0.25)
    assert weights == ce.as_lagged(fitted.coefs, nodes=names, encoding="statsmodels coefs", threshold=0.25)
    if named:
        assert ce.as_lagged(fitted.pvalues, alpha=1e-6) == by_name
        assert ce.as_lagged(fitted.params, threshold=0.25) == weights
        assert ce.as_lagged(fitted.params.iloc[::-1], threshold=0.25) == weights
    with pytest.raises(ValueError, match="pass alpha= to keep p-values"):
        ce.as_lagged(fitted)


def test_networkx_graphs_of_causalnex():
    graph = nx.DiGraph()
    graph.add_nodes_from(f"{name}_lag{lag}" for name in ("X", "Y_lag", "Z") for lag in range(3))
    graph.add_edge("X_lag1", "Y_lag_lag0", weight=0.5)
    graph.add_edge("X_lag2", "Z_lag0", weight=-0.05)
    graph.add_edge("Y_lag_lag0", "Z_lag0", weight=-0.7)
    with pytest.raises(ValueError, match=ASKED):
        ce.as_lagged(graph)
    assert text(graph, threshold=0) == "lags 0..2: X@-1 -> Y_lag; X@-2 -> Z; Y_lag -> Z"
    assert text(graph, threshold=0.1) == "lags 0..2: X@-1 -> Y_lag; Y_lag -> Z"
    graph.add_edge("X_lag2", "Z_lag1", weight=0.5)
    with pytest.raises(ValueError, match="'X' at lag 2 to 'Z' at lag 1; links end at t"):
        ce.as_lagged(graph, threshold=0)


def test_matrices_of_dynotears():
    within = np.array([[0, 0, 0], [0, 0, 0.6], [0, 0, 0]])
    lag_1 = np.array([[0.5, 0.5, 0], [0, 0.4, 0], [0, 0, 0]])
    lag_2 = np.array([[0, 0, 0.4], [0, 0, 0], [0, 0, 0]])
    cell = (within, np.vstack([lag_1, lag_2]))
    assert text(cell, nodes=NAMES, encoding="DYNOTEARS", threshold=0) == TRUE
    with pytest.raises(ValueError, match=r"expected \(d, d\), \(lags \* d, d\)"):
        ce.as_lagged((within, np.zeros((4, 3))), encoding="DYNOTEARS", threshold=0)


def test_predictions_of_causal_rivers():
    stack = np.zeros((3, 3, 2))
    for lag, i, j in [(1, 0, 0), (1, 0, 1), (2, 0, 2), (1, 1, 1)]:
        stack[j, i, lag - 1] = 0.9
    expected = TRUE.replace("0..2", "1..2").replace(" Y -> Z;", "")
    assert text(stack, nodes=NAMES, encoding="CausalRivers", threshold=0.5) == expected
    with pytest.raises(ValueError, match="labels .* have no lags"):
        ce.as_lagged(np.zeros((3, 3)), encoding="CausalRivers")


def test_stationary_graphs_of_pywhy():
    # nodes and edges as pywhy-graphs 0.1.0 returns them, copies at earlier times included
    graph = nx.DiGraph([(("x", -1), ("x", 0)), (("x", -1), ("y", -1)), (("x", 0), ("y", 0))])
    graph.add_edges_from([(("x", -2), ("x", -1)), (("x", -2), ("y", -2)), (("x", -2), ("y", 0))])
    assert text(graph) == "lags 0..2: x -> y; x@-1 -> x; x@-2 -> y"
    cpdag = SimpleNamespace(
        nodes=[("x", -1), ("x", 0), ("y", 0), ("y", -1), ("z", 0), ("z", -1)],
        edges=lambda: {
            "directed": [(("x", -1), ("y", 0))],
            "undirected": [(("x", -1), ("z", -1)), (("x", 0), ("z", 0))],
        },
    )
    assert text(cpdag) == "lags 0..1: x -- z; x@-1 -> y"
    pag = SimpleNamespace(
        nodes=[("x", -1), ("x", 0), ("y", 0), ("z", 0)],
        edges=lambda: {
            "directed": [(("x", -1), ("y", 0))],
            "circle": [(("y", 0), ("x", -1)), (("x", 0), ("y", 0)), (("y", 0), ("x", 0))],
            "undirected": [],
            "bidirected": [(("x", -1), ("z", 0))],
        },
    )
    assert text(pag) == "lags 0..1: x o-o y; x@-1 o-> y; x@-1 <-> z"
    weighted = nx.DiGraph()
    weighted.add_weighted_edges_from([(("A", -1), ("A", 0), 0.01), (("B", -1), ("A", 0), 0.9)])
    with pytest.raises(ValueError, match=ASKED):
        ce.as_lagged(weighted)
    assert text(weighted, threshold=0.1) == "lags 0..1: B@-1 -> A"


def test_tables_of_links(tmp_path):
    rows = [("X", "X", 1), ("X", "Y", 1), ("Y", "Y", 1), ("X", "Z", 2), ("Y", "Z", 0)]
    table = pd.DataFrame(rows, columns=["source", "target", "lag"])
    assert text(table) == TRUE
    assert text(dict(table.items())) == TRUE
    path = tmp_path / "links.csv"
    table.assign(weight=[0.5, 0.5, 0.4, -0.4, 0.6]).to_csv(path, index=False)
    with pytest.raises(ValueError, match=ASKED):
        ce.as_lagged(Path(path))
    assert text(Path(path), threshold=0) == TRUE
    assert text(table.rename(columns={"source": "Cause", "target": "Effect"})) == TRUE
    assert text(path, threshold=0.45) == "lags 0..2: X@-1 -> X; X@-1 -> Y; Y -> Z"
    assert text(table.assign(p=[0.01, 0.2, 0.01, 0.2, 0.01]), alpha=0.05) == "lags 0..2: X@-1 -> X; Y -> Z; Y@-1 -> Y"
    assert text(table, nodes=[*NAMES, "U"]) == TRUE.replace("X@-1", "U; X@-1", 0) + "; U"
    assert text(table.assign(link=["->", "<->", "->", "o->", "--"])).endswith("X@-2 o-> Z; Y -- Z; Y@-1 -> Y")
    marks = table.assign(link=["-->", "bidirected", "directed", "o->", "undirected"])
    assert text(marks).endswith("X@-1 <-> Y; X@-2 o-> Z; Y -- Z; Y@-1 -> Y")
    with pytest.raises(ValueError, match="nodes= has no 'X'"):
        ce.as_lagged(table, nodes=["Y", "Z", "U"])


def links(*rows, names=("source", "target", "lag", "p")):
    return pd.DataFrame(rows, columns=list(names))


MARKED = ("source", "target", "lag", "p", "link")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (links(("X", "Y", 1, 0.001), ("X", "Y", 1, 0.9)), "link 1: found X -> Y at lag 1 twice, with p 0.001 and 0.9"),
        (links(("X", "Y", 1, 0.9), ("Z", "Y", 1, 0.1), ("X", "Y", 1, 0.001)), "link 2: found X -> Y at lag 1 twice"),
        # links that are cut, and one name as number and text
        (links((1, "Y", 1, 0.9), ("1", "Y", 1, 0.8)), "link 1: found 1 -> Y at lag 1 twice, with p 0.9 and 0.8"),
        (links(("X", "Y", 1, 0.001, "->"), ("X", "Y", 1, 0.9, "-->"), names=MARKED), "link 1: found X --> Y .* twice"),
        # one link, seen from its other end
        (links(("X", "Y", 0, 0.001, "->"), ("Y", "X", 0, 0.9, "<-"), names=MARKED), "link 1: found Y <- X .* twice"),
        (links(("X", "Y", 0, 0.001, "--"), ("Y", "X", 0, 0.9, "--"), names=MARKED), "link 1: found Y -- X .* twice"),
    ],
)
def test_links_that_differ_from_themselves_are_refused(table, message):
    for cell in (table, table.to_dict("list")):
        with pytest.raises(ValueError, match=f"row 1 .*{message}"):
            ce.lagged_column([None, cell], alpha=0.05)
    with pytest.raises(ValueError, match=message.replace("with p", "with weight")):
        ce.as_lagged(table.rename(columns={"p": "weight"}), threshold=0.5)


def test_links_that_stand_twice_alike_are_one():
    assert text(links(("X", "Y", 1, 0.001), ("X", "Y", 1, 0.001)), alpha=0.05) == "lags 0..1: X@-1 -> Y"
    assert text(links(("X", "Y", 1), ("X", "Y", 1), names=MARKED[:3])) == "lags 0..1: X@-1 -> Y"
    # both directions at lag 0 are two candidates
    both = links(("X", "Y", 0, 0.001), ("Y", "X", 0, 0.9))
    assert text(both, alpha=0.05) == "lags 0..0: X -> Y"
    assert text(both, alpha=0.95) == "lags 0..0: X -- Y"
    marked = links(("X", "Y", 0, 0.001, "->"), ("X", "Y", 0, 0.9, "<-"), names=MARKED)
    assert text(marked, alpha=0.05) == "lags 0..0: X -> Y"
    assert text(links(("X", "Y", 1, 0.001), ("X", "Y", 2, 0.9)), alpha=0.05) == "lags 0..2: X@-1 -> Y"


def test_links_of_tigramite():
    def linear(x):
        return x

    links = {0: [((0, -1), 0.5, linear)], 1: [((0, -1), 0.5, linear), ((1, -1), 0.4, linear)]}
    links[2] = [((0, -2), 0.4, linear), ((1, 0), 0.6, linear)]
    assert text(links, nodes=NAMES) == TRUE
    assert text({0: [(0, -1)], 1: [(1, -1), (0, -2)]}) == "lags 0..2: 0@-1 -> 0; 0@-2 -> 1; 1@-1 -> 1"
    assumed = {0: {(0, -1): "-->"}, 1: {(0, -1): "-->", (1, -1): "-->", (2, 0): "<--"}}
    assumed[2] = {(0, -2): "-->", (1, 0): "-->", (0, -1): ""}
    assert text(assumed, nodes=NAMES) == TRUE
    with pytest.raises(ValueError, match="has the step 1, expected 0, -1"):
        ce.as_lagged({0: [((1, 1), 0.5, linear)]})


@pytest.mark.parametrize("settings", [{}, {"nodes": ["X", "Y"]}])
def test_nothing_is_no_lagged_graph(settings, tmp_path):
    for blank in ("", " \n"):
        with pytest.raises(ValueError, match="row 1 .*found the blank text .* failed run as a missing value"):
            ce.lagged_column(["X@-1 -> Y", blank], **settings)
        path = tmp_path / "links.csv"
        path.write_text(blank, encoding="utf-8")
        message = r"row 1 .*the file '.*links.csv' is empty; .* failed run as a missing value"
        with pytest.raises(ValueError, match=message):
            ce.lagged_column(["X@-1 -> Y", path], **settings)


@pytest.mark.parametrize(
    ("nodes", "edges"),
    [
        ("X;X:1;Y;Y:1", ["X:1 --> X", "X:1 --> Y", "Y o-> X"]),
        ("X;(Y);X:1;Y:1", ["X <-- X:1", "(Y) <-- X:1", "X <-o (Y)"]),
    ],
)
def test_lagged_graphs_of_tetrad(nodes, edges):
    lines = "\n".join(f"{k}. {edge}" for k, edge in enumerate(edges, 1))
    cell = f"Search result:\n\nGraph Nodes:\n{nodes}\n\nGraph Edges:\n{lines}\n"
    assert text(cell) == "lags 0..1: X@-1 -> X; X@-1 -> Y; Y o-> X"
    assert text(cell, encoding="Tetrad text") == text(cell)
    # links at earlier times are copies of those that end at t
    assert text("Graph Nodes:\nX;X:1;X:2\n\nGraph Edges:\n1. X:1 --> X\n2. X:2 --> X:1\n") == "lags 0..2: X@-1 -> X"
    alone = "found a link from '[AX]' at lag 2 to '[BX]' at lag 1 and no copy of it that ends at t; links end at t"
    with pytest.raises(ValueError, match=alone):
        text("Graph Nodes:\nX;X:1;X:2\n\nGraph Edges:\n1. X:2 --> X:1\n")
    with pytest.raises(ValueError, match=alone):
        text(nx.DiGraph([(("A", -2), ("B", -1)), (("B", -1), ("A", 0))]))


def test_opposite_arrows_over_time_are_refused():
    with pytest.raises(ValueError, match="found the links '->' and '<-' from 'A' to 'B' at lag 1, expected one"):
        text(nx.DiGraph([(("A", -1), ("B", 0)), (("B", 0), ("A", -1))]))


WEIGHTS = np.array([[[0, 0.2], [0, 0]]])
FROM_0 = {"encoding": "lag,cause,effect", "first_lag": 0}
PARAMS = pd.DataFrame(np.zeros((3, 2)), index=["const", "L1.X", "L1.Z"], columns=["X", "Y"])


@pytest.mark.parametrize(
    ("cell", "settings", "message"),
    [
        (np.zeros((2, 2, 2)), {}, "the axes of arrays differ from tool to tool"),
        (np.zeros((2, 2, 2)), {"encoding": "lag,effect,cause"}, "first_lag=0 if the first slice"),
        (WEIGHTS, FROM_0, "found weights or p-values"),
        (10 * WEIGHTS, FROM_0 | {"first_lag": 1, "alpha": 0.1}, "p-values between 0 and 1"),
        (np.where(WEIGHTS, np.nan, 0), FROM_0 | {"threshold": 0}, r"found nan in cell \(0, 0, 1\)"),
        (np.zeros((4, 2)), {}, "encoding"),
        (np.zeros((4, 2)), {"encoding": "statsmodels VAR", "alpha": 0.1}, "encoding='statsmodels coefs'"),
        (PARAMS, {"threshold": 0.1}, "lacking: L1.Y"),
        (3, {}, "found int, which is not a lagged graph"),
        (np.zeros((3, 3, 2)), {"encoding": "cause,effect,lag", "first_lag": 0, "nodes": ["A", "B"]},
         "nodes= has 2 names"),
        *((np.ones(shape), {"encoding": name, "threshold": 0}, r"found an array of shape .*, expected \(")
          for name, shape in (("VARLiNGAM", (3, 3, 2)), ("statsmodels coefs", (3, 3, 2)), ("CausalRivers", (2, 3, 3)))),
        (pd.DataFrame({"a": [1]}), {}, r"the columns \['a'\], expected a table of links with source, target and lag"),
        ({"graph": np.array([[[""]]]), "p_matrix": np.ones((1, 1, 1))}, {}, r"pass results\['graph'\]"),
        *(({"source": ["X"], "target": ["Y"], "lag": [1]} | change, {}, message) for change, message in (
            ({"lag": [-1]}, "link 0: a lag is a whole number from 0"),
            ({"lag": [1.5]}, "link 0: a lag is a whole number"),
            ({"source": ["Y"], "lag": [0]}, "from 'Y' to itself"), ({"weight": [float("nan")]}, "found nan in cell"),
            ({"probability": [0.3]}, "found numbers in the column 'probability' of a table of links"),
            ({"x": [10**400]}, "found numbers in the column 'x' of a table of links"),
            ({"source": [None]}, "link 0: the source or the target is missing"),
            ({"link": ["=>"]}, "found the link '=>'"),
            ({"edge": ["<->"]}, "found '<->' in the column 'edge', which is not read; rename the column to 'link'"),
            ({"directed": [False]}, "found False in the column 'directed'.* in the column 'link'"),
        )),
    ],
)  # fmt: skip
def test_what_is_no_lagged_graph_is_refused_with_its_row(cell, settings, message):
    with pytest.raises((ValueError, TypeError), match=f"row 1.*{message}"):
        ce.lagged_column([None, cell], **settings)
    with pytest.raises((ValueError, TypeError), match=message):
        ce.as_lagged(cell, **settings)


def test_settings_and_columns_of_lagged_graphs_are_checked():
    with pytest.raises(ValueError, match="threshold= for weights or alpha= for p-values, not both"):
        ce.as_lagged(WEIGHTS, **FROM_0, threshold=0, alpha=0.1)
    with pytest.raises(ValueError, match="unknown encoding of lagged graphs 'tigramit'; did you mean 'tigramite'"):
        ce.lagged_column(["X"], encoding="tigramit")
    with pytest.raises(TypeError, match="one array of shape"):
        ce.lagged_column(np.zeros((2, 2, 2)), encoding="lag,effect,cause")
    with pytest.raises(TypeError, match="wrap one in a list"):
        ce.lagged_column("X@-1 -> Y")
    with pytest.raises(ce.AmbiguousEncodingError, match="row 0"):
        ce.lagged_column([np.zeros((2, 2, 2))])


ODD_NAMES = {
    "table": lambda x: ([pd.DataFrame({"source": ["Y", x], "target": ["X", "Y"], "lag": [1, 1]}, dtype=object)], {}),
    "link dict": lambda x: ([{"Y": [(x, -1)]}], {}),
    "networkx": lambda x: ([nx.DiGraph([((x, -1), ("Y", 0))])], {}),
    "nodes": lambda x: (["X@-1 -> Y"], {"nodes": [["X", x]]}),
}


@pytest.mark.parametrize("place", ODD_NAMES)
@pytest.mark.parametrize("name", [0.5, True])
def test_names_that_are_no_text(place, name):
    cells, how = ODD_NAMES[place](name)
    with pytest.raises(
        TypeError, match="row 0.*found the node .* of type .*, expected a string; write names as text"
    ) as error:
        ce.lagged_column(cells, **how)
    assert "rename=" not in str(error.value)


@pytest.mark.parametrize("place", ODD_NAMES)
@pytest.mark.parametrize("name", [None, float("nan"), pd.NA])
def test_names_that_are_missing(place, name):
    cells, how = ODD_NAMES[place](name)
    with pytest.raises((TypeError, ValueError), match="row 0.*(found a missing name|link 1: .* is missing)"):
        ce.lagged_column(cells, **how)
