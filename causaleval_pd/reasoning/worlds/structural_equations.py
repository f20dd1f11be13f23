"""Structural equations: checked graphs, and values of nodes from noise in fact and under interventions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ...contract.checks import shown

if TYPE_CHECKING:
    import networkx as nx

#: (parent, child) of an edge; (cause, effect) of a question
Pair = tuple[str, str]

# booleans of one world that are computed at once
_CACHED_BITS = 2**18


_JOINS = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


class Model(Protocol):
    """Nodes in topological order, their parents, functions and noise."""

    nodes: tuple[str, ...]
    parents: dict[str, tuple[str, ...]]
    functions: dict[str, str]
    noise: dict[str, float]


def noise_by_node(nodes: Sequence[str], noise: pd.DataFrame | ArrayLike) -> dict[str, NDArray[np.bool_]]:
    """Return noise as one contiguous array of booleans a node; columns without names are in the order of the nodes."""
    if isinstance(noise, pd.DataFrame):
        missing = [node for node in nodes if node not in noise.columns]
        if missing:
            raise ValueError(f"noise lacks columns for nodes {missing}; its columns are {list(noise.columns)}")
        table: NDArray[Any] = noise[list(nodes)].to_numpy()
    else:
        table = np.asarray(noise)
    if table.ndim != 2 or table.shape[1] != len(nodes):
        raise ValueError(f"noise must have {len(nodes)} columns, one a node, found an array of {table.shape}")
    if table.dtype != np.bool_:
        if not all(value in (0, 1) for value in pd.unique(table.ravel())):
            raise ValueError("noise must be true or false, found other or missing values")
        table = table.astype(np.bool_)
    return dict(zip(nodes, np.ascontiguousarray(table.T), strict=True))


def evaluate(
    model: Model,
    noise: Mapping[str, NDArray[np.bool_]],
    do: Mapping[str, bool],
    nodes: Sequence[str] | None = None,
    known: Mapping[str, NDArray[np.bool_]] | None = None,
) -> dict[str, NDArray[np.bool_]]:
    """Compute the values of nodes (default all) in topological order, given those before them in `known`."""
    values = dict(known or {})
    for node in model.nodes if nodes is None else nodes:
        value = noise[node]
        if node in do:
            values[node] = np.full_like(value, do[node])
            continue
        join = _JOINS[model.functions.get(node, "or")]
        for parent in model.parents[node]:
            value = join(value, values[parent])
        values[node] = value
    return values


def answers(model: Model, noise: Mapping[str, NDArray[np.bool_]], pairs: Sequence[Pair]) -> NDArray[np.bool_]:
    """Compute the effect of each pair in fact, under do(cause=1) and do(cause=0); (samples, pairs, 3)."""
    n = len(noise[model.nodes[0]])
    found = np.empty((len(pairs), 3, n), np.bool_)
    causes = list(dict.fromkeys(cause for cause, _ in pairs))
    place = {node: i for i, node in enumerate(model.nodes)}
    # few samples at a time stay in the processor's cache while every world is computed from them
    step = max(1, _CACHED_BITS // len(model.nodes))
    for first in range(0, n, step):
        samples = slice(first, first + step)
        own = {node: bits[samples] for node, bits in noise.items()}
        fact = evaluate(model, own, {})
        for cause in causes:
            later = model.nodes[place[cause] :]
            under = [evaluate(model, own, {cause: bit}, later, fact) for bit in (True, False)]
            for i, (of, effect) in enumerate(pairs):
                if of == cause:
                    for world, values in enumerate((fact, *under)):
                        found[i, world, samples] = values[effect]
    return found.transpose(2, 0, 1)


def read_edges(edges: Iterable[Pair]) -> tuple[Pair, ...]:
    """Return edges as pairs of strings; refuse anything but pairs, and repeated pairs."""
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise TypeError(f"edges must be a list of (parent, child) pairs, found {shown(edges)}")
    listed = list(edges)
    for edge in listed:
        if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) != 2:
            raise TypeError(f"edges must be a list of (parent, child) pairs, found {shown(edge)} in it")
    read = tuple((str(parent), str(child)) for parent, child in listed)
    if repeated := [edge for edge, count in Counter(read).items() if count > 1]:
        raise ValueError(f"edges are given once, found more often {repeated}")
    return read


def acyclic_graph(edges: Iterable[Pair], nodes: Iterable[str]) -> nx.DiGraph[str]:
    """Return the graph of these edges and nodes; refuse a cycle."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph(list(edges))
    graph.add_nodes_from(nodes)
    if not nx.is_directed_acyclic_graph(graph):
        cycle = [parent for parent, _ in nx.find_cycle(graph)]
        raise ValueError(f"a world is acyclic, but its edges lead round {' -> '.join([*cycle, cycle[0]])}")
    return graph


def topological_order(graph: nx.DiGraph[str], nodes: Iterable[str]) -> tuple[str, ...]:
    """Return the nodes with parents first, otherwise in their given order."""
    import networkx as nx

    place = {node: i for i, node in enumerate(nodes)}
    return tuple(nx.lexicographical_topological_sort(graph, key=lambda node: place[node]))
