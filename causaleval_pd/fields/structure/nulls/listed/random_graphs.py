"""All graphs that the null model `edges` may draw, with their probabilities, where they are few."""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .....graphs.kernels.planes import CPDAG, DIGRAPH, planes_from_arcs
from .....graphs.pairs import GraphBatch
from ..graph_controls import in_class
from .laws import Listed, merged

#: nodes up to which the graphs of all orders are listed: at most 7,960 over five
MOST_NODES = 5
#: graphs up to which digraphs, and DAGs along one order, are listed
MOST_GRAPHS = 8_100


@lru_cache(maxsize=4096)
def are_listed(n_nodes: int, n_edges: int, kind: int, *, fixed: bool) -> bool:
    """Return whether the graphs of a class with a number of edges are listed; with `fixed` those along one order."""
    skeletons = math.comb(n_nodes * (n_nodes - 1) // 2, n_edges)
    if fixed:
        return skeletons <= MOST_GRAPHS
    return skeletons * 2**n_edges <= MOST_GRAPHS if kind == DIGRAPH else n_nodes <= MOST_NODES


@lru_cache(maxsize=256)
def all_random_graphs(n_nodes: int, n_edges: int, kind: int, order: tuple[int, ...] = ()) -> Listed:
    """Return all graphs of a class with a number of edges, and the probability of each.

    Skeletons are equally likely. Edges are directed along an order of the nodes, each of which is equally likely unless
    one is given, or by coins in digraphs. Positions of nodes stand for the order.
    """
    pairs = np.array(list(itertools.combinations(range(n_nodes), 2)), np.int64).reshape(-1, 2)
    skeletons = list(itertools.combinations(range(len(pairs)), n_edges))
    chosen = np.array(skeletons, np.int64).reshape(len(skeletons), n_edges)
    if kind == DIGRAPH:
        # a coin for each edge
        forward = (np.arange(2**n_edges)[:, None] >> np.arange(n_edges)) & 1 == 1
    else:
        forward = _along_orders(pairs, n_nodes, order)
    skeleton, way, edge = np.indices((len(chosen), len(forward), n_edges)).reshape(3, -1)
    pair = chosen[skeleton, edge]
    ahead = forward[way, edge if kind == DIGRAPH else pair]
    low, high = pairs[pair].T
    source, target = np.where(ahead, low, high), np.where(ahead, high, low)
    n_graphs = len(chosen) * len(forward)
    planes = planes_from_arcs(n_graphs, n_nodes, skeleton * len(forward) + way, source, target)
    planes, weights = merged(planes, 1 / len(planes))
    if kind == CPDAG:
        classes = in_class(planes, n_nodes, np.array([CPDAG], np.uint8), len(planes))
        planes, weights = merged(classes.planes, weights)
    weights.flags.writeable = planes.flags.writeable = False
    return GraphBatch(n_nodes, planes, np.full(len(planes), kind, np.uint8)), weights


def _along_orders(pairs: NDArray[np.int64], n_nodes: int, order: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return which pairs run from the lower to the higher node along each order, or along the given one."""
    orders = [order] if order else list(itertools.permutations(range(n_nodes)))
    place = np.argsort(np.array(orders, np.int64).reshape(len(orders), n_nodes), axis=1)
    return np.asarray(place[:, pairs[:, 0]] < place[:, pairs[:, 1]])
