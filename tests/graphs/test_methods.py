"""The methods that a graph and a column of graphs share: a graph is a column of one."""

from __future__ import annotations

import inspect
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.accessors import SeriesGraphAccessor

#: what columns keep in cells, and graphs in attributes; a graph is one text, a column many
OF_GRAPHS = {"from_bytes", "planes", "to_bytes", "to_string"}
OF_COLUMNS = {"to_graphs", "to_strings"}

TEXTS = {
    "dag": "A -> B <- C; B -> D",
    "cpdag": "A -- B; B -- C; D",
    "pdag": "A -- B -> C; D",
    "pag": "A o-> B; C o-> B; B -> D",
    "mag": "A -> B; B <-> C; C -> D",
    "admg": "A -> B; A <-> B; C; D",
}
CALLS: dict[str, list[dict[str, Any]]] = {
    "admg": [{}, {"latents": ["A"]}, {"latents": ["Z"]}],
    "ancestors": [{}, {"definite": "path"}, {"nodes": list("DCBA")}],
    "faults": [{"kind": kind} for kind in TEXTS],
    "icpdag": [{"targets": "A; B,C"}, {"targets": "Z"}, {"targets": pd.Series(["A"])}],
    "mag": [{}, {"latents": ["B"]}],
    "pag": [{}, {"latents": ["B"]}],
    "to_numpy": [{}, {"nodes": list("DCBA")}, {"encoding": "pcalg amat.pag"}, {"encoding": "tigramite"}],
    "to_text": [{}, {"encoding": "dagitty"}, {"encoding": "model string"}],
}


def public(owner: type) -> set[str]:
    return {name for name in dir(owner) if not name.startswith("_")}


def plain(value: Any) -> Any:
    """Return what compares by ==."""
    if isinstance(value, bytes):
        return ce.Graph.from_bytes(value)
    if isinstance(value, nx.DiGraph):
        return type(value), list(value), list(value.edges(data=True))
    if isinstance(value, np.ndarray):
        return value.dtype, value.tolist()
    if isinstance(value, pd.Series):
        return value.to_dict()
    return None if value is not None and pd.api.types.is_scalar(value) and pd.isna(value) else value


def test_names_are_the_same() -> None:
    graph, column = public(ce.Graph), public(SeriesGraphAccessor)
    assert graph - column == OF_GRAPHS
    assert column - graph == OF_COLUMNS
    for name in sorted(graph & column - {"nodes", "kind"}):
        assert inspect.getattr_static(ce.Graph, name) is inspect.getattr_static(SeriesGraphAccessor, name)


@pytest.mark.parametrize("name", sorted(public(ce.Graph) & public(SeriesGraphAccessor)))
@pytest.mark.parametrize("kind", TEXTS)
def test_results_are_the_only_items(kind: str, name: str) -> None:
    graph = ce.as_graph(TEXTS[kind], kind=kind)
    here, there = getattr(graph, name), getattr(ce.graph_column([graph]).graph, name)
    if not callable(here):
        assert plain(here) == plain(there.iloc[0])
        return
    for options in CALLS.get(name, [{}]):
        try:
            items = there(**options)
        except ValueError as fault:
            with pytest.raises(ValueError) as error:
                here(**options)
            assert str(error.value) == str(fault).replace("row 0 (index 0)", repr(graph))
        else:
            item = items[0] if isinstance(items, np.ndarray) else items.iloc[0]
            assert plain(here(**options)) == plain(item)


def test_results_are_values_of_python() -> None:
    graph = ce.as_graph("A -> B <- C")
    numbers = graph.n_edges, graph.v_structures(), graph.density, graph.is_acyclic
    assert numbers == (2, 1, 2 / 3, True)
    assert [type(x) for x in numbers] == [int, int, float, bool]
    assert graph.pag() == ce.as_graph("A o-> B <-o C")
    assert graph.faults("dag") is None
    assert graph.faults("digraph") is None
    assert graph.faults("skeleton") == "has the edge A -> B, which has marks; take its skeleton()"
    with pytest.raises(ValueError, match="^latents is missing, expected a list of node names$"):
        graph.mag(latents=[None])


def test_edges_of_a_column() -> None:
    edges = ce.graph_column(["B -> A; B -- C; D", None, "{}"]).graph.edges
    assert edges.dtype == object
    assert edges.tolist() == [("B -> A", "B -- C"), None, ()]
