"""Checks of the arguments of the kernels of further null models, and choices between two ways to draw."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .inputs import Ints, Words, read_only
from .ones import count_ones

#: linear extensions are counted by subsets of the nodes: up to this many of them
_MOST_COUNTED = 12
#: nodes of sparse DAGs that are drawn by tosses, one word per node
_MOST_TOSSED = 64
#: nodes of graphs whose skeletons are oriented uniformly
MOST_ORIENTED = 64


def check_index(index: ArrayLike, n_graphs: int, shape: tuple[int, ...], start: int, count: int) -> Ints:
    """Return the positions of the rows' graphs: one per row, or (n, 1) or (n, count) of them."""
    chosen = read_only(index, np.int64)
    fits = chosen.shape == shape or (len(shape) == 2 and chosen.shape == (shape[0], count))
    if not fits:
        raise ValueError(f"index must have the shape {shape}, found {chosen.shape}")
    if chosen.size and not 0 <= int(chosen.min()) <= int(chosen.max()) < n_graphs:
        raise IndexError(f"index runs from {chosen.min()} to {chosen.max()}, but there are {n_graphs} graphs")
    _check_draws(start, count)
    return chosen


def check_edges(n_nodes: int, n_edges: ArrayLike, keys: ArrayLike, start: int, count: int) -> tuple[Ints, Words]:
    """Return numbers of edges and keys, one per row."""
    names, edges = read_only(keys, np.uint64), read_only(n_edges, np.int64)
    if edges.shape != names.shape or names.ndim != 1:
        raise ValueError(f"{len(names)} keys need as many numbers of edges, found {edges.shape}")
    most = n_nodes * (n_nodes - 1) // 2
    if edges.size and not 0 <= int(edges.min()) <= int(edges.max()) <= most:
        raise ValueError(f"a graph on {n_nodes} nodes has between 0 and {most} edges, found {edges.tolist()[:5]}")
    _check_draws(start, count)
    return edges, names


def edge_numbers(graphs: Words) -> Ints:
    """Count the edges of each graph."""
    return np.asarray(count_ones(graphs[:, 0] | graphs[:, 1]).sum(axis=1), np.int64)


def _check_draws(start: int, count: int) -> None:
    if start < 0 or count < 0:
        raise ValueError(f"start and count must not be negative, found {start} and {count}")


def edge_room(n_nodes: int, lists: int) -> Words:
    """Return room for lists of one number per edge."""
    return np.empty((lists, n_nodes * (n_nodes - 1) // 2 + 1), np.uint64)


def check_oriented(n_nodes: int) -> None:
    """Refuse graphs whose rows need more than a word."""
    if n_nodes > MOST_ORIENTED:
        raise ValueError(f"skeletons are oriented uniformly over at most {MOST_ORIENTED} nodes, found {n_nodes}")


def check_counted_orders(n_nodes: int) -> None:
    """Refuse graphs of so many nodes that counting their orders takes long."""
    if n_nodes > _MOST_COUNTED:
        raise ValueError(f"orders are counted over at most {_MOST_COUNTED} nodes, found {n_nodes}")


def are_sparse(n_nodes: int, n_edges: Ints) -> NDArray[np.bool_]:
    """Return which numbers of edges are so few that tosses end sooner than draws from counts.

    The share of tosses without a cycle falls with the edges per node, and the faster the more nodes there are; at these
    bounds both ways were measured to take as long.
    """
    bound = 1.5 if n_nodes <= 25 else 1.35
    return np.asarray((n_edges <= bound * n_nodes) & (n_nodes <= _MOST_TOSSED) | (n_nodes < 2))


def linear_extension_law(n_nodes: int, n_edges: Ints) -> NDArray[np.bool_]:
    """Return which numbers of edges are better drawn along a random order and thinned by the orders that fit.

    A draw along an order is kept with probability 1 / (number of orders that fit), a draw by coins if it is acyclic;
    both leave a uniform DAG. With A acyclic orientations, A / d! of the former and A / 2^m of the latter are kept, and
    a try costs some d 2^d and 4 m + 16 d steps.
    """
    if n_nodes > _MOST_COUNTED:
        return np.zeros(n_edges.shape, np.bool_)
    by_order = math.lgamma(n_nodes + 1) + math.log(max(1, n_nodes) * 2.0**n_nodes)
    by_coins = n_edges * math.log(2) + np.log(4.0 * n_edges + 16 * n_nodes + 1)
    return np.asarray(by_order < by_coins)
