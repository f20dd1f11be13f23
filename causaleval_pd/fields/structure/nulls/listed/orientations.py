"""All random orientations of a skeleton, with their probabilities, where they are few."""

from __future__ import annotations

import math
from functools import cached_property, lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .....contract.relabelling import all_orders
from .....graphs.kernels import control_kernels, kernels
from .....graphs.kernels.planes import CPDAG, DIGRAPH, KINDS, arcs_from_planes, planes_from_arcs
from .....graphs.pairs import GraphBatch
from ..graph_controls import in_class
from .laws import Listed, merged

#: orientations of a skeleton up to which all are listed
MOST_ORIENTATIONS = 5_040
#: nodes, or else edges, of a connected part of a skeleton up to which its orientations are listed
MOST_NODES, MOST_EDGES = 7, 10

#: lists that are kept at a time
_KEPT = 256

Edges = tuple[tuple[int, int], ...]
#: directions of edges, (n, m): whether each runs from its lower to its higher node
Directions = NDArray[np.bool_]


class TooMany(Exception):
    """A skeleton has too many orientations to list."""


def _all_directions(n_edges: int) -> Directions:
    return np.asarray((np.arange(2**n_edges)[:, None] >> np.arange(n_edges)) & 1 == 1)


def _planes(n_nodes: int, edges: Edges, forward: Directions) -> NDArray[np.uint64]:
    low, high = np.array(edges, np.int64).reshape(-1, 2).T
    source, target = np.where(forward, low, high), np.where(forward, high, low)
    graph = np.repeat(np.arange(len(forward)), len(edges))
    return planes_from_arcs(len(forward), n_nodes, graph, source.reshape(-1), target.reshape(-1))


@lru_cache(maxsize=1024)
def directions(n_nodes: int, edges: Edges) -> tuple[Directions, NDArray[np.float64]]:
    """Return all acyclic directions of a connected skeleton, and the share of the orders of nodes that each suits."""
    if n_nodes <= MOST_NODES:
        places, (low, high) = all_orders(n_nodes), np.array(edges, np.int64).reshape(-1, 2).T
        forward = places[:, low] < places[:, high]
        _, first, counts = np.unique(
            forward @ (1 << np.arange(len(edges))[::-1]), return_index=True, return_counts=True
        )
        return forward[first], counts / len(places)
    if len(edges) > MOST_EDGES:
        raise TooMany
    forward = _all_directions(len(edges))
    planes = _planes(n_nodes, edges, forward)
    acyclic = kernels().is_acyclic(planes, n_nodes)
    orders = control_kernels().count_orders(planes[acyclic], n_nodes)
    return forward[acyclic], orders / math.factorial(n_nodes)


def connected_parts(edges: Edges) -> list[Edges]:
    """Return the edges of each connected part of a skeleton."""
    part: dict[int, set[int]] = {}
    for a, b in edges:
        joined = part.get(a, {a}) | part.get(b, {b})
        for node in joined:
            part[node] = joined
    parts = {id(nodes): nodes for nodes in part.values()}.values()
    return [tuple(edge for edge in edges if edge[0] in nodes) for nodes in sorted(parts, key=min)]


def all_orientations(n_nodes: int, edges: Edges, kind: int, *, by_order: bool) -> Listed:
    """Return the random orientations of a skeleton as graphs of a class, and the probability of each.

    Edges are directed along a random order of the nodes (`by_order`), or uniformly without cycles; those of digraphs by
    coins.
    """
    if kind == DIGRAPH:
        if 2 ** len(edges) > MOST_ORIENTATIONS:
            raise TooMany
        forward = _all_directions(len(edges))
        return _graphs(n_nodes, edges, forward, np.full(len(forward), 1 / len(forward)), kind)
    parts = connected_parts(edges)
    lists, n_graphs = [], 1
    for part in parts:
        nodes = sorted({node for edge in part for node in edge})
        here = {node: i for i, node in enumerate(nodes)}
        lists.append(directions(len(nodes), tuple((here[a], here[b]) for a, b in part)))
        n_graphs *= len(lists[-1][0])
        if n_graphs > MOST_ORIENTATIONS:
            raise TooMany
    places = np.indices([len(forward) for forward, _ in lists]).reshape(len(lists), n_graphs)
    forward = np.ones((n_graphs, len(edges)), bool)
    weights = np.full(n_graphs, 1 / n_graphs)
    if by_order:
        weights = np.ones(n_graphs)
        for (_, shares), place in zip(lists, places, strict=True):
            weights *= shares[place]
    position = {edge: i for i, edge in enumerate(edges)}
    for part, (found, _), place in zip(parts, lists, places, strict=True):
        forward[:, [position[edge] for edge in part]] = found[place]
    return _graphs(n_nodes, edges, forward, weights, kind)


def _graphs(n_nodes: int, edges: Edges, forward: Directions, weights: NDArray[np.float64], kind: int) -> Listed:
    """Make graphs of directed edges; classes that several stand for are listed once."""
    planes = _planes(n_nodes, edges, forward)
    if kind == CPDAG:
        classes = in_class(planes, n_nodes, np.array([CPDAG], np.uint8), len(planes))
        planes, weights = merged(classes.planes, weights)
    return GraphBatch(n_nodes, planes, np.full(len(planes), kind, np.uint8)), weights


def skeleton_edges(graphs: GraphBatch, number: int) -> Edges:
    """Return the edges of a graph, each from its lower to its higher node."""
    planes = graphs.planes[[number]]
    edges = planes[:, 0] | planes[:, 1]
    _, low, high = arcs_from_planes(np.stack([edges, np.zeros_like(edges)], axis=1), graphs.n_nodes)
    return tuple(zip(low.tolist(), high.tolist(), strict=True))


class Orientations:
    """The random orientations of the skeletons of a batch's rows, listed where they are few.

    `index` (n,) is the skeleton and `kinds` (n,) the class of controls of each row; `by_order` directs by random
    orders.
    """

    def __init__(
        self, skeletons: GraphBatch, index: NDArray[np.int64], kinds: NDArray[np.uint8], *, by_order: bool
    ) -> None:
        self.skeletons, self.by_order = skeletons, by_order
        #: (n,): number of the list of each row
        self.numbers: NDArray[np.int64] = index * len(KINDS) + kinds
        self.support = lru_cache(maxsize=_KEPT)(self._support)

    def _support(self, number: int) -> Listed:
        """Return the orientations of a skeleton in a class, and the probability of each."""
        skeleton, kind = divmod(number, len(KINDS))
        edges = skeleton_edges(self.skeletons, skeleton)
        return all_orientations(self.skeletons.n_nodes, edges, kind, by_order=self.by_order)

    @cached_property
    def listed(self) -> NDArray[np.bool_]:
        """Which rows have a list."""
        codes, numbers = pd.factorize(self.numbers)
        return np.array([self._are_few(number) for number in numbers.tolist()], bool)[codes]

    def _are_few(self, number: int) -> bool:
        # no skeleton of more edges has fewer acyclic orientations than the complete one over seven nodes
        if self.skeletons.edge_counts.edges[number // len(KINDS)] > MOST_NODES * (MOST_NODES - 1) // 2:
            return False
        try:
            self.support(number)
        except TooMany:
            return False
        return True
