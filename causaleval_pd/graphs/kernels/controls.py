"""Compiled random graphs of the further null models, those of other modules included.

Every draw has a stream of its own (see `draws`): draw r of a row starts at mix(mix(key + STEP) + (r + 1) STEP), and a
word gives two bounded numbers. Number 0 in place of r + 1 names the stream that the draws of a row share.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from .bits import ONE, ZERO, list_edges, members, popcount, read_edges, set_mark
from .dags import draw_dags, flip_coins, is_acyclic, mark_arcs
from .draws import STEP, shuffle, stream, switch_edges, unit
from .inputs import (
    GraphDraws,
    Ints,
    Words,
    checked_planes,
    edge_numbers,
    edge_room,
    graph_draws,
    linear_extension_law,
    read_only,
)

__all__ = [
    "count_orders", "draw_dags", "orient_graphs", "orient_uniformly", "relabel_graphs", "switch_edges",
    "undirect_edges",
]  # fmt: skip


@kernel
def _relabel(draws: GraphDraws, edges: Words, order: Words) -> None:
    """Draw relabelled graphs, the draws of a row together."""
    d = np.uint64(order.size)
    tail, head, undirected = edges[0], edges[1], edges[2]
    for row in range(draws.keys.size):
        n_edges, _ = read_edges(draws.graphs[draws.positions[row, 0]], d, tail, head, undirected)
        for column in range(draws.n_draws):
            shuffle(stream(draws.keys[row], draws.start + column), order)
            graph = draws.planes[row * draws.n_draws + column]
            for e in range(n_edges):
                set_mark(graph, order[tail[e]], order[head[e]], d, undirected[e])


def relabel_graphs(planes: ArrayLike, n_nodes: int, index: ArrayLike, keys: ArrayLike, start: int, count: int) -> Words:
    """Permute the nodes of graphs of any class: node i becomes place i of a shuffle; draws as in `draw_graphs`."""
    draws = graph_draws(planes, n_nodes, index, keys, start, count)
    _relabel(draws, edge_room(n_nodes, 3), np.empty(n_nodes, np.uint64))
    return draws.planes


@kernel
def _orient(draws: GraphDraws, edges: Words, rank: Words) -> None:
    """Draw orientations along random orders."""
    d = np.uint64(rank.size)
    low, high = edges[0], edges[1]
    n_edges = 0
    for row in range(draws.keys.size):
        for column in range(draws.n_draws):
            if column == 0 or draws.positions.shape[1] > 1:
                n_edges = list_edges(draws.graphs[draws.positions[row, column]], d, low, high)
            shuffle(stream(draws.keys[row], draws.start + column), rank)
            graph = draws.planes[row * draws.n_draws + column]
            for e in range(n_edges):
                a, b = low[e], high[e]
                if rank[a] > rank[b]:
                    a, b = b, a
                set_mark(graph, a, b, d, ZERO)


def orient_graphs(
    skeletons: ArrayLike, n_nodes: int, index: ArrayLike, keys: ArrayLike, start: int, count: int
) -> Words:
    """Direct edges along uniform orders: place i of a shuffle is the rank of node i; `index` is (n,) or (n, count)."""
    draws = graph_draws(skeletons, n_nodes, index, keys, start, count)
    _orient(draws, edge_room(n_nodes, 2), np.empty(n_nodes, np.uint64))
    return draws.planes


@kernel
def _undirect(shares: Ints, keys: Words, start: int, count: int, out: Words) -> None:
    """Pick edges by selection sampling: each of the edges left is taken with the same probability."""
    for row in range(keys.size):
        undirected, edges = shares[row, 0], shares[row, 1]
        for column in range(count):
            graph = out[row * count + column]
            left = 0
            for w in range(graph.shape[1]):
                left += popcount(graph[0, w] | graph[1, w])
            # the share of the graph's edges, rounded half up
            wanted = (2 * left * undirected + edges) // (2 * edges) if edges > 0 else 0
            state = stream(keys[row], start + column)
            for w in range(graph.shape[1]):
                for pair in members(ZERO, graph[0, w] | graph[1, w]):
                    state += STEP
                    if unit(state) * left < wanted:
                        graph[0, w] |= ONE << pair
                        graph[1, w] |= ONE << pair
                        wanted -= 1
                    left -= 1


def undirect_edges(
    planes: ArrayLike, n_nodes: int, shares: ArrayLike, keys: ArrayLike, start: int, count: int
) -> Words:
    """Undirect uniformly chosen edges of draws (n * count, 2, W): `shares` (n, 2) are how many of how many."""
    out, names = checked_planes(planes, n_nodes).copy(), read_only(keys, np.uint64)
    _undirect(read_only(shares, np.int64), names, start, count, out)
    return out


@kernel_part
def _linear_extensions(parents: Words, ways: NDArray[np.float64]) -> float:
    """Count the orders of the nodes in which parents come first, by subsets."""
    n_nodes = np.uint64(parents.size)
    ways[0] = 1.0
    for subset in range(ONE, ONE << n_nodes):
        total = 0.0
        within = ZERO
        for v in members(ZERO, subset):
            within |= parents[v]
        for v in members(ZERO, subset & ~within):  # the nodes without children in the subset: one of them is last
            total += ways[subset ^ (ONE << v)]
        ways[subset] = total
    return ways[(ONE << n_nodes) - ONE]


@kernel
def _count_orders(
    planes: Words, edges: Words, parents: Words, ways: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Count the orders that suit each DAG."""
    tail, head = edges[0], edges[1]
    for graph in range(out.size):
        n_edges, _ = read_edges(planes[graph], parents.size, tail, head, edges[2])
        parents[:] = ZERO
        for e in range(n_edges):
            parents[head[e]] |= ONE << tail[e]
        out[graph] = _linear_extensions(parents, ways)


def count_orders(planes: ArrayLike, n_nodes: int) -> NDArray[np.float64]:
    """Return the number of orders of the nodes that suit each DAG, for few nodes: it takes 2^d steps per graph."""
    graphs = checked_planes(planes, n_nodes)
    out = np.empty(len(graphs))
    _count_orders(graphs, edge_room(n_nodes, 3), np.empty(n_nodes, np.uint64), np.empty(1 << n_nodes), out)
    return out


@kernel_part
def _follow_order(state: np.uint64, n_edges: int, low: Words, high: Words, rank: Words, parents: Words) -> np.uint64:
    """Fill rows of parents by directing each edge along a random order; return the stream, moved on by a word."""
    state = shuffle(state, rank)
    parents[:] = ZERO
    for e in range(n_edges):
        a, b = low[e], high[e]
        if rank[a] > rank[b]:
            a, b = b, a
        parents[b] |= ONE << a
    return state + STEP


@kernel
def _orient_uniformly(
    draws: GraphDraws, by_order: NDArray[np.bool_], tries: int, edges: Words, nodes: Words, ways: NDArray[np.float64]
) -> int:
    """Draw uniform acyclic orientations; return the first row that runs out of tries, or -1."""
    low, high, parents, rank = edges[0], edges[1], nodes[0], nodes[1]
    d = np.uint64(rank.size)
    for row in range(draws.keys.size):
        m = list_edges(draws.graphs[draws.positions[row, 0]], d, low, high)
        for column in range(draws.n_draws):
            state = stream(draws.keys[row], draws.start + column)
            done = False
            for _ in range(tries):
                if by_order[row]:
                    state = _follow_order(state, m, low, high, rank, parents)
                    done = unit(state) * _linear_extensions(parents, ways) < 1.0
                else:
                    state = flip_coins(state, m, low, high, parents)
                    done = is_acyclic(parents)
                if done:
                    break
            if not done:
                return row
            mark_arcs(draws.planes[row * draws.n_draws + column], m, low, high, parents, d)
    return -1


def orient_uniformly(
    skeletons: ArrayLike, n_nodes: int, index: ArrayLike, keys: ArrayLike, start: int, count: int, tries: int
) -> tuple[Words, int]:
    """Draw acyclic orientations of skeletons uniformly, by rejection; return also the first row out of tries, or -1."""
    draws = graph_draws(skeletons, n_nodes, index, keys, start, count)
    by_order = linear_extension_law(n_nodes, edge_numbers(draws.graphs))[draws.positions[:, 0]]
    edges, nodes = edge_room(n_nodes, 2), np.empty((2, n_nodes), np.uint64)
    ways = np.empty(1 << n_nodes if by_order.any() else 1, np.float64)
    stuck = _orient_uniformly(draws, by_order, tries, edges, nodes, ways)
    return draws.planes, int(stuck)
