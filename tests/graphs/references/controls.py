"""Random graphs of the further null models in plain Python, a draw at a time.

Names, arguments and results are those of the compiled functions.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.graphs.kernels import inputs

from .comparison import pack, unpack
from .dags import draw_dags, flip_coins, is_acyclic
from .streams import Stream, streams

__all__ = ["draw_dags", "orient_graphs", "orient_uniformly", "relabel_graphs", "switch_edges", "undirect_edges"]

Marks = NDArray[np.bool_]
Edges = list[tuple[int, int]]


def _edges(marks: Marks) -> Edges:
    """List the edges i < j of one matrix of marks."""
    return [(int(i), int(j)) for i, j in np.argwhere(np.triu(marks | marks.T, 1))]


def _skeleton(edges: Edges, d: int) -> Marks:
    marks = np.zeros((d, d), np.bool_)
    for a, b in edges:
        marks[a, b] = marks[b, a] = True
    return marks


def _packed(drawn: list[Marks], d: int) -> inputs.Words:
    return pack(np.array(drawn, np.bool_).reshape(len(drawn), d, d))


def relabel_graphs(
    planes: ArrayLike, n_nodes: int, index: ArrayLike, keys: ArrayLike, start: int, count: int
) -> inputs.Words:
    draws = inputs.graph_draws(planes, n_nodes, index, keys, start, count)
    names, marks, chosen = draws.keys, unpack(draws.graphs, n_nodes), draws.positions[:, 0]
    drawn = []
    for row, stream in streams(names, start, count):
        order = stream.shuffle(n_nodes)
        graph = np.zeros((n_nodes, n_nodes), np.bool_)
        graph[np.ix_(order, order)] = marks[chosen[row]]
        drawn.append(graph)
    return _packed(drawn, n_nodes)


def orient_graphs(
    skeletons: ArrayLike, n_nodes: int, index: ArrayLike, keys: ArrayLike, start: int, count: int
) -> inputs.Words:
    draws = inputs.graph_draws(skeletons, n_nodes, index, keys, start, count)
    names, marks = draws.keys, unpack(draws.graphs, n_nodes)
    chosen = np.broadcast_to(draws.positions, (len(names), count)).ravel()
    drawn = []
    for graph, (_, stream) in zip(chosen, streams(names, start, count), strict=True):
        rank = np.array(stream.shuffle(n_nodes), np.int64)
        adjacent = marks[graph] | marks[graph].T
        drawn.append(np.asarray(adjacent & (rank[:, None] < rank[None, :])))
    return _packed(drawn, n_nodes)


def undirect_edges(
    planes: ArrayLike, n_nodes: int, shares: ArrayLike, keys: ArrayLike, start: int, count: int
) -> inputs.Words:
    """Take the directions of uniformly chosen edges away."""
    marks = unpack(inputs.checked_planes(planes, n_nodes), n_nodes)
    drawn = []
    for graph, (row, stream) in zip(marks, streams(inputs.read_only(keys, np.uint64), start, count), strict=True):
        edges = _edges(graph)
        some, of = np.asarray(shares)[row].tolist()
        wanted = math.floor(len(edges) * some / of + 0.5) if of else 0
        found = graph.copy()
        for place, (a, b) in enumerate(edges):
            if stream.uniform() * (len(edges) - place) < wanted:
                found[a, b] = found[b, a] = True
                wanted -= 1
        drawn.append(found)
    return _packed(drawn, n_nodes)


def _linear_extensions(arcs: Edges, d: int) -> float:
    """Count the orders of the nodes in which parents come first, by subsets."""
    parents = [0] * d
    for a, b in arcs:
        parents[b] |= 1 << a
    ways = [1.0] + [0.0] * (2**d - 1)
    for subset in range(1, 2**d):
        members = [v for v in range(d) if subset >> v & 1]
        ways[subset] = sum(ways[subset ^ 1 << v] for v in members if not any(parents[c] >> v & 1 for c in members))
    return ways[-1]


def orient_uniformly(
    skeletons: ArrayLike, n_nodes: int, index: ArrayLike, keys: ArrayLike, start: int, count: int, tries: int
) -> tuple[inputs.Words, int]:
    """Draw uniformly among the acyclic orientations of a skeleton, by rejection."""
    draws = inputs.graph_draws(skeletons, n_nodes, index, keys, start, count)
    names, graphs, chosen = draws.keys, draws.graphs, draws.positions[:, 0]
    by_order = inputs.linear_extension_law(n_nodes, inputs.edge_numbers(graphs))[chosen]
    marks = unpack(graphs, n_nodes)
    drawn: list[Marks] = []
    for row, stream in streams(names, start, count):
        pairs = _edges(marks[chosen[row]])
        for _ in range(tries):
            if by_order[row]:
                rank = stream.shuffle(n_nodes)
                arcs = [(a, b) if rank[a] < rank[b] else (b, a) for a, b in pairs]
                kept = stream.uniform() * _linear_extensions(arcs, n_nodes) < 1.0
            else:
                arcs = flip_coins(stream, pairs)
                kept = False
            graph = np.zeros((n_nodes, n_nodes), np.bool_)
            for a, b in arcs:
                graph[a, b] = True
            if kept or (not by_order[row] and is_acyclic(graph)):
                break
        else:
            rest = len(names) * count - len(drawn)
            return _packed([*drawn, *[np.zeros((n_nodes, n_nodes), np.bool_)] * rest], n_nodes), row
        drawn.append(graph)
    return _packed(drawn, n_nodes), -1


def switch_edges(
    planes: ArrayLike, n_nodes: int, index: ArrayLike, attempts: ArrayLike, keys: ArrayLike, start: int, count: int
) -> inputs.Words:
    """Draw skeletons with the same degrees by switching the ends of two edges again and again."""
    draws = inputs.graph_draws(planes, n_nodes, index, keys, start, count)
    names, marks, chosen = draws.keys, unpack(draws.graphs, n_nodes), draws.positions[:, 0]
    steps = inputs.read_only(attempts, np.int64)
    drawn = []
    for row, key in enumerate(names):
        hub = _switched(Stream(int(key), 0), int(steps[row]), _edges(marks[chosen[row]]))
        for r in range(start, start + count):
            drawn.append(_skeleton(_switched(Stream(int(key), r + 1), int(steps[row]), hub), n_nodes))
    return _packed(drawn, n_nodes)


def _switched(stream: Stream, attempts: int, edges: Edges) -> Edges:
    if len(edges) < 2:
        return edges
    edges = list(edges)
    present = {frozenset(edge) for edge in edges}
    for _ in range(attempts):
        a, f = stream.two_below(2 * len(edges), len(edges) - 1)
        e = a >> 1
        f += f >= e
        (p, q), (x, y) = edges[e], edges[f]
        if a & 1:
            x, y = y, x
        if p == y or x == q or {p, y} in present or {x, q} in present:
            continue
        present -= {frozenset((p, q)), frozenset((x, y))}
        present |= {frozenset((p, y)), frozenset((x, q))}
        edges[e], edges[f] = (p, y), (x, q)
    return edges
