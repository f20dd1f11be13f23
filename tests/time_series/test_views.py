"""Views of lagged graphs: summary, contemporaneous and window graphs, and equivalence classes by brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import causaleval_pd as ce

NAMES = ["X", "Y", "Z"]


def test_views_of_tigramite(run):
    column = ce.lagged_column([run["graph"], None], nodes=NAMES)
    at_lag_0 = column.lagged.contemporaneous()
    edges = [f"{a} {'--' if sign == 'o-o' else '->'} {b}" for a, sign, b in run["contemporaneous"]]
    isolated = [x for x in NAMES if not any(x in (a, b) for a, _, b in run["contemporaneous"])]
    assert at_lag_0.graph.to_strings()[0] == "; ".join([*edges, *isolated])
    assert at_lag_0.graph.kind[0] in ("dag", "pdag", "mixed") and at_lag_0.isna().tolist() == [False, True]
    arcs = {tuple(arc) for arc in run["summary_directed"]}
    if any((b, a) in arcs for a, b in arcs):
        with pytest.raises(ValueError, match=r"row 0.*'X' and 'Z' have other marks .* two_cycles='undirected'"):
            column.lagged.summary()
        joined = column.lagged.summary(two_cycles="undirected").graph
        assert joined.to_strings()[0] == "X -> Y; X -- Z; Y -> Z" and joined.kind[0] == "pdag"
    elif run["name"].startswith("run_lpcmci"):
        found = column.lagged.summary().graph
        assert found.to_strings()[0] == "X <-> Y; Y -> Z" and found.kind[0] == "mixed"
    else:
        found = column.lagged.summary().graph
        assert {tuple(edge.split(" -> ")) for edge in found.to_strings()[0].split("; ")} == arcs
        assert found.kind[0] == "digraph"
    confusion = [ce.summary_tp(column.lagged.to_graphs()[0], column.lagged.to_graphs()[0])]
    assert confusion == [len(arcs)]
    assert ce.lagged_tp(*[column.lagged.to_graphs()[0]] * 2, links="self") == len(run["self_links"])


def test_links_at_lag_0_yield_to_lagged_ones_in_the_summary():
    column = ce.lagged_column(["X -- Y; X@-1 -> Y; Y -- Z", "X o-o Y; Y@-1 -> X; Y o-o Z; X@-1 -> X"])
    assert column.lagged.summary().graph.to_strings().tolist() == ["X -> Y; Y -- Z", "Y -> X; Y o-o Z"]
    assert column.lagged.summary().graph.kind.tolist() == ["pdag", "mixed"]


def test_windows():
    column = ce.lagged_column(["X@-1 -> Y; X@-3 -> X; Y -- X", "X@-1 <-> Y; Y@-1 o-> X"])
    window = column.lagged.window()
    assert window.graph.n_nodes.tolist() == [8, 4]
    # a link at lag k stands max_lag + 1 - k times: 4 of lag 0, 3 of lag 1, 1 of lag 3
    assert window.graph.n_edges.tolist() == [8, 2] and window.graph.kind.tolist() == ["pdag", "mixed"]
    last = column.lagged.window(last=True)
    assert last.graph.n_edges.tolist() == [3, 2]
    assert "X@-3 -> X@0" in last.graph.to_strings()[0] and "X@-1 <-> Y@0" in last.graph.to_strings()[1]
    assert column.lagged.window(4).graph.n_edges.tolist() == [5 + 4 + 2, 8]
    with pytest.raises(ValueError, match="row 0.*beyond max_lag=2"):
        column.lagged.window(2)


def test_lag_0_that_was_not_searched_has_no_graph():
    column = ce.lagged_column(["X@-1 -> Y", "lags 1..1: X@-1 -> Y"])
    with pytest.raises(ValueError, match=r"row 1 .*lag 0 was not searched"):
        column.lagged.contemporaneous()
    assert column.lagged.summary().graph.to_strings().tolist() == ["X -> Y"] * 2


def directed_graphs(d, lagged):
    """List all directed graphs with these lagged links that are acyclic at lag 0."""
    pairs = list(itertools.combinations(NAMES[:d] if d <= 3 else "WXYZ", 2))
    for choice in itertools.product(range(3), repeat=len(pairs)):
        edges = [f"{a} -> {b}" if c == 1 else f"{b} -> {a}" for c, (a, b) in zip(choice, pairs, strict=True) if c]
        graph = ce.as_lagged("; ".join([*edges, lagged, *(NAMES[:d] if d <= 3 else "WXYZ")]))
        if graph.kind == "ts_dag":
            yield graph


@pytest.mark.parametrize(
    ("d", "lagged"),
    [
        (3, "X@-1"),
        (3, "X@-1 -> X"),
        (3, "X@-1 -> X; X@-1 -> Y"),
        (3, "X@-1 -> X; X@-1 -> Y; X@-1 -> Z"),
        (3, "Z@-2 -> Y"),
    ],
)
def test_equivalence_classes_by_brute_force(d, lagged):
    # classes of windows in which earlier times are fixed: same adjacencies and same colliders at t
    lagged = "lags" if lagged == "X@-1" else lagged
    graphs = list(directed_graphs(d, "X@-1 -> Y" if lagged == "lags" else lagged))

    def colliders(graph):
        window = ce.lagged_column([graph]).lagged.window(last=True)[0:1]
        matrix = window.graph.to_numpy()[0].astype(bool)
        adjacent = matrix | matrix.T
        triples = {
            (a, c, b)
            for c in range(len(matrix))
            for a, b in itertools.combinations(np.flatnonzero(matrix[:, c]).tolist(), 2)
            if not adjacent[a, b]
        }
        # two lagged causes meet in every member of the class
        return adjacent.tobytes(), frozenset(triples)

    classes = {}
    for graph in graphs:
        classes.setdefault(colliders(graph), []).append(graph)
    assert len(classes) < len(graphs)
    for members in classes.values():
        codes = np.stack([graph.codes for graph in members])
        shared = np.where((codes == codes[0]).all(axis=0), codes[0], 5)
        for graph in members:
            found = ce.lagged_column([graph]).lagged.lagged_cpdag().lagged.to_graphs()[0]
            np.testing.assert_array_equal(found.codes, shared)


def test_autocorrelation_directs_links_at_lag_0():
    column = ce.lagged_column(["X -> Y", "X@-1 -> X; X -> Y", "X@-1 -> X; X@-1 -> Y; X -> Y"])
    found = column.lagged.lagged_cpdag().lagged
    assert found.kind.tolist() == ["ts_pdag", "ts_dag", "ts_pdag"]
    with pytest.raises(ValueError, match="row 0.*is a ts_pdag"):
        ce.lagged_column(["X -- Y"]).lagged.lagged_cpdag()


def test_a_cycle_at_lag_0_is_a_digraph_in_views():
    column = ce.lagged_column(
        ["X -> Y; Y -> Z; Z -> X; X@-1 -> X", "X -> Y; Y -- Z; X@-1 -> X", "X -> Y; Z; X@-1 -> X"]
    )
    assert column.lagged.contemporaneous().graph.kind.tolist() == ["digraph", "pdag", "dag"]
    assert column.lagged.window().graph.kind.tolist() == ["digraph", "pdag", "dag"]
