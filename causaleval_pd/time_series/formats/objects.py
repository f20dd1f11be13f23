"""Objects of other tools: VARLiNGAM, VAR of statsmodels, networkx graphs of lagged nodes, DYNOTEARS, CausalRivers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from ...graphs.mixed.marks import ARROW, CIRCLE, TAIL
from ..cells.marks import SIGNS
from .links import (
    Collector,
    Links,
    Presence,
    Weights,
    array_of_lags,
    as_array,
    as_numbers,
    check_lag,
    from_lag_1,
)

_LAGGED_ROW = re.compile(r"L(\d+)\.(.+)", re.DOTALL)
_LAG_NODE = re.compile(r"(.+)_lag(\d+)", re.DOTALL)


def is_varlingam(value: Any) -> bool:
    """Return whether a cell is a fitted VARLiNGAM."""
    return hasattr(value, "adjacency_matrices_")


def varlingam_weights(value: Any, names: list[str] | None) -> Weights:
    """Read `adjacency_matrices_`, (lags + 1, d, d), whose cell (lag, effect, cause) is a weight."""
    stack = array_of_lags(getattr(value, "adjacency_matrices_", value), "(lags + 1, d, d), adjacency_matrices_")
    return Weights(names, stack.transpose(0, 2, 1))


def is_var(value: Any) -> bool:
    """Return whether a cell is a result of statsmodels' VAR, or its table of parameters or p-values."""
    if isinstance(value, pd.DataFrame):
        return any(_LAGGED_ROW.fullmatch(str(label)) for label in value.index)
    return all(hasattr(value, name) for name in ("k_ar", "names", "params", "pvalues"))


def var_weights(value: Any, *, p_values: bool) -> Weights:
    """Read parameters or p-values of a VAR: a row "L2.X" is the cause X at t - 2, a column the effect."""
    if not isinstance(value, pd.DataFrame):
        if not is_var(value):
            raise TypeError(
                f"found {type(value).__name__}, expected the result of statsmodels' VAR(...).fit(), or its params or "
                "pvalues as a table with named rows; read coefs by encoding='statsmodels coefs'"
            )
        numbers = value.pvalues if p_values else value.params
        value = pd.DataFrame(np.asarray(numbers), index=_row_names(value), columns=list(value.names))
    columns = [str(name) for name in value.columns]
    places = {_split_row(str(label), columns): i for i, label in enumerate(value.index)}
    rows = {place: i for place, i in places.items() if place is not None}
    lags = sorted({lag for lag, _ in rows})
    lacking = [f"L{lag}.{name}" for lag in range(1, max(lags, default=0) + 1) for name in columns]
    lacking = [label for label in lacking if _split_row(label, columns) not in rows]
    if not rows or lacking:
        raise ValueError(
            f"the rows of a VAR are named 'L1.{columns[0] if columns else 'X'}' and so on for every variable; "
            f"lacking: {', '.join(lacking[:5]) or 'all'}"
        )
    found = np.full((max(lags) + 1, len(columns), len(columns)), np.nan)
    numbers = np.stack([as_numbers(value.iloc[:, i], f"column {name!r}") for i, name in enumerate(columns)], axis=1)
    for (lag, cause), row in rows.items():
        found[lag, columns.index(cause)] = numbers[row]
    return Weights(columns, found, 1)


def read_var(value: Any, presence: Presence) -> Links:
    """Read the links of a VAR whose parameters or p-values are large or small enough."""
    if presence == Presence() and not isinstance(value, pd.DataFrame) and is_var(value):
        raise ValueError("a VAR has every link; pass alpha= to keep p-values up to it, or threshold= for weights")
    return var_weights(value, p_values=presence.alpha is not None).links(presence)


def _row_names(result: Any) -> list[str]:
    """Return the names of the rows of a result's arrays."""
    names = list(result.names)
    n_trend = np.shape(result.params)[0] - result.k_ar * len(names)
    return [f"trend {i}" for i in range(n_trend)] + [
        f"L{lag}.{name}" for lag in range(1, result.k_ar + 1) for name in names
    ]


def _split_row(label: str, columns: list[str]) -> tuple[int, str] | None:
    """Return lag and cause of a row, None for a constant or a trend."""
    found = _LAGGED_ROW.fullmatch(label)
    return (int(found[1]), found[2]) if found and found[2] in columns else None


def coefs_weights(value: Any, names: list[str] | None) -> Weights:
    """Read `coefs` of a VAR of statsmodels, (lags, d, d): cell (lag - 1, effect, cause)."""
    return from_lag_1(array_of_lags(value, "(lags, d, d), coefs of statsmodels' VAR").transpose(0, 2, 1), names)


def causal_rivers_weights(value: Any, names: list[str] | None) -> Weights:
    """Read predictions of CausalRivers, (d, d, lags): cell (effect, cause, lag - 1)."""
    stack = array_of_lags(value, "(d, d, lags) of CausalRivers; its labels (d, d) have no lags: read them as graphs")
    return from_lag_1(stack.transpose(2, 1, 0), names)


def dynotears_weights(value: Any, names: list[str] | None) -> Weights:
    """Read the matrices (W, A) of DYNOTEARS: W (d, d) and A (lags d, d) below one another have (cause, effect)."""
    if not (isinstance(value, (tuple, list)) and len(value) == 2):
        raise ValueError("expected the pair (W, A): contemporaneous weights (d, d), lagged ones (lags * d, d)")
    within, lagged = (np.atleast_2d(as_array(one)) for one in value)
    d = len(within)
    if within.shape != (d, d) or not d or lagged.shape[1:] != (d,) or len(lagged) % d:
        raise ValueError(
            f"found W of shape {within.shape} and A of shape {lagged.shape}, expected (d, d), (lags * d, d)"
        )
    return Weights(names, np.concatenate([within[None], lagged.reshape(-1, d, d)]))


def has_edges(value: Any) -> bool:
    """Return whether a cell is a graph object with nodes, and edges with attributes as those of networkx."""
    return bool(_nodes(value)) and hasattr(value, "get_edge_data")


def is_lagged_networkx(value: Any) -> bool:
    """Return whether a cell is a networkx graph whose nodes are called X_lag1, as those of causalnex are."""
    nodes = _nodes(value)
    return bool(nodes) and all(isinstance(node, str) and _LAG_NODE.fullmatch(node) for node in nodes)


def read_causalnex(value: Any, presence: Presence) -> Links:
    """Read a networkx graph with edges X_lag1 -> Y_lag0; the name ends at the last `_lag`."""
    found, places = Collector(), {}
    for node in _nodes(value):
        parts = _LAG_NODE.fullmatch(node) if isinstance(node, str) else None
        if parts is None:
            raise ValueError(f"found the node {node!r}, expected names such as 'X_lag1'")
        found.place(parts[1])
        places[node] = parts[1], check_lag(int(parts[2]), f"node {node!r}")
    for source, target, data in value.edges(data=True):
        (cause, lag), (effect, at) = places[source], places[target]
        if at:
            raise ValueError(f"found the edge {source!r} -> {target!r}; edges end at lag 0")
        if presence == Presence() or bool(presence.of([data.get("weight", np.nan)])[0]):
            found.add(cause, effect, lag, "->")
    return found.found(max((lag for _, lag in places.values()), default=0))


def is_stationary_graph(value: Any) -> bool:
    """Return whether a cell is a graph whose nodes are (name, -lag), as those of pywhy-graphs are."""
    nodes = _nodes(value)
    return bool(nodes) and all(
        isinstance(node, tuple) and len(node) == 2 and isinstance(node[1], (int, np.integer)) and node[1] <= 0
        for node in nodes
    )


#: marks at the source and the target of an edge by its type
_MARKS = {"directed": (TAIL, ARROW), "undirected": (TAIL, TAIL), "bidirected": (ARROW, ARROW)}


def read_stationary(value: Any) -> Links:
    """Read a graph over nodes (name, -lag) that repeats its edges at all times: those that end at time 0 are links.

    Edges of the type "circle" are circles at their target, beside other marks, as in PAGs of pywhy-graphs.
    """
    if not is_stationary_graph(value):
        raise ValueError("expected a graph whose nodes are (name, -lag), with lags from 0")
    found = Collector()
    nodes = _nodes(value)
    for name, _ in nodes:
        found.place(name)
    edges = value.edges() if callable(value.edges) else value.edges
    by_type = edges if isinstance(edges, dict) else {"directed" if value.is_directed() else "undirected": edges}
    unknown = [kind for kind, some in by_type.items() if kind not in (*_MARKS, "circle") and len(some)]
    if unknown:
        raise ValueError(f"found {unknown[0]} edges, expected {', '.join(_MARKS)} and circle")
    # marks at the second node of (first, second)
    marks: dict[tuple[Any, Any], int] = {}
    for kind, (at_a, at_b) in _MARKS.items():
        for a, b in by_type.get(kind, ()):
            marks[a, b], marks[b, a] = at_b, marks.get((b, a), at_a) if kind == "directed" else at_a
    for a, b in by_type.get("circle", ()):
        marks[a, b] = CIRCLE
        marks.setdefault((b, a), CIRCLE)
    for (a, b), at_b in marks.items():
        # copies at earlier times are left out
        if b[1] == 0 and a[1] <= 0:
            found.add(a[0], b[0], int(-a[1]), SIGNS[marks[b, a], at_b])
    return found.found(int(max(-step for _, step in nodes)))


def _nodes(value: Any) -> list[Any]:
    """Return the nodes of a graph object, none where the cell is not one."""
    nodes = getattr(value, "nodes", None)
    if nodes is None or not hasattr(value, "edges") or isinstance(value, (pd.DataFrame, np.ndarray)):
        return []
    found = nodes() if callable(nodes) else nodes
    return list(found) if isinstance(found, Iterable) else []
