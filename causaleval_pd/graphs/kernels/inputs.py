"""Checks of the arguments of kernels: shapes, indices, padding, numbers of edges; and choices between two ways to draw.

They keep compiled loops inside their arrays, whatever the caller passes.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .planes import N_PLANES, count_ones, padding_mask, plane_words

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]

#: how an estimate chooses the set that it adjusts for
STRATEGIES = ("parent", "ancestor", "optimal")
#: how a graph chooses the set that separates two nodes
SEPARATORS = ("parent", "ancestor", "nearest")


class Comparison(NamedTuple):
    """Two blocks of planes and the positions of the graphs to compare."""

    truth: Words
    estimate: Words
    truth_index: Ints
    estimate_index: Ints


class GraphDraws(NamedTuple):
    """Which draws to make of given graphs, one row each, and the planes to fill, (n * n_draws, 2, W)."""

    graphs: Words
    #: (n, 1) or (n, n_draws)
    positions: Ints
    keys: Words
    start: int
    n_draws: int
    planes: Words


def read_only(array: ArrayLike, dtype: Any) -> NDArray[Any]:
    """Return `array` aligned, C-contiguous and read-only, copied if need be: kernels meet one type, compiled once."""
    view = np.require(array, dtype, ["C", "A", "E"]).view()
    view.flags.writeable = False
    return view


def words_in_place(planes: Words) -> tuple[Words, int]:
    """Return the words that hold graphs (N, P, W), in place in packed cells, and how many words graphs are apart."""
    n, n_planes, words = planes.shape
    step = planes.strides[0] // 8
    even = planes.strides[1:] == (8 * words, 8) and planes.strides[0] % 8 == 0 and step >= n_planes * words
    if not n or not even or not planes.flags.aligned:
        return read_only(planes, np.uint64).reshape(-1), n_planes * words
    span = (n - 1) * step + n_planes * words
    return np.lib.stride_tricks.as_strided(planes, (span,), (8,), writeable=False), step


def checked_planes(planes: ArrayLike, n_nodes: int, n_planes: int = N_PLANES) -> Words:
    """Return `planes` ready for a kernel that walks the pairs of `n_nodes` nodes."""
    ready = read_only(planes, np.uint64)
    shape = (n_planes, plane_words(n_nodes))
    if ready.ndim != 3 or ready.shape[1:] != shape:
        raise ValueError(
            f"planes of graphs on {n_nodes} nodes must have the shape (N, {shape[0]}, {shape[1]}), found {ready.shape}"
        )
    mask = padding_mask(n_nodes)
    if mask and (ready[:, :, -1] & mask).any():
        row = int(np.flatnonzero((ready[:, :, -1] & mask).any(axis=1))[0])
        raise ValueError(f"row {row}: planes have bits that belong to no pair of {n_nodes} nodes; they must be zero")
    return ready


def checked_comparison(
    truth: ArrayLike,
    estimate: ArrayLike,
    truth_index: ArrayLike,
    estimate_index: ArrayLike,
    *,
    n_planes: tuple[int, ...] = (N_PLANES,),
    n_nodes: int | None = None,
) -> Comparison:
    """Return graphs and indices ready for a kernel; with `n_nodes` bits are checked, too, else graphs stay in place."""
    true, claimed = np.asarray(truth, np.uint64), np.asarray(estimate, np.uint64)
    if any(x.ndim != 3 or x.shape[1] not in n_planes or x.shape[2] != true.shape[2] for x in (true, claimed)):
        found = " or ".join(f"(N, {n}, W)" for n in n_planes)
        raise ValueError(f"truth and estimate must have the shapes {found}, found {true.shape} and {claimed.shape}")
    if n_nodes is not None:
        true, claimed = (checked_planes(x, n_nodes, x.shape[1]) for x in (true, claimed))
    left, right = read_only(truth_index, np.int64), read_only(estimate_index, np.int64)
    if left.ndim != 1 or left.shape != right.shape:
        raise ValueError(
            f"truth_index and estimate_index must be equally long, found the shapes {left.shape} and {right.shape}"
        )
    for side, index, block in (("truth", left, true), ("estimate", right, claimed)):
        # seen as unsigned, a negative index is larger than any length: one pass finds both kinds of error
        if index.size and index.view(np.uint64).max() >= len(block):
            row = int(np.flatnonzero((index < 0) | (index >= len(block)))[0])
            raise IndexError(f"row {row}: {side}_index is {index[row]}, but there are {len(block)} graphs")
    return Comparison(true, claimed, left, right)


def checked_draws(n_nodes: int, n_edges: ArrayLike, keys: ArrayLike, start: int, count: int) -> tuple[Ints, Words]:
    """Return numbers of edges, (n, 1) or (n, count), and keys, one per row."""
    names, edges = read_only(keys, np.uint64), read_only(n_edges, np.int64)
    _check_rows("n_edges", edges, names, start, count)
    most = n_nodes * (n_nodes - 1) // 2
    wrong = (edges < 0) | (edges > most)
    if wrong.any():
        row, column = (int(x) for x in np.argwhere(wrong)[0])
        raise ValueError(
            f"row {row}: n_edges is {edges[row, column]}, but a graph on {n_nodes} nodes has between 0 and {most} edges"
        )
    return edges, names


def graph_draws(
    planes: ArrayLike, n_nodes: int, index: ArrayLike, keys: ArrayLike, start: int, count: int
) -> GraphDraws:
    """Return the draws of given graphs ready for a kernel; `index` is that of each row, or (n, count) of each draw."""
    graphs, names, chosen = checked_planes(planes, n_nodes), read_only(keys, np.uint64), read_only(index, np.int64)
    chosen = chosen if chosen.ndim > 1 else chosen[:, None]
    _check_rows("index", chosen, names, start, count)
    if chosen.size and not 0 <= int(chosen.min()) <= int(chosen.max()) < len(graphs):
        raise IndexError(f"index runs from {chosen.min()} to {chosen.max()}, but there are {len(graphs)} graphs")
    out = np.zeros((len(names) * count, N_PLANES, plane_words(n_nodes)), np.uint64)
    return GraphDraws(graphs, chosen, names, start, count, out)


def _check_rows(name: str, numbers: Ints, keys: Words, start: int, count: int) -> None:
    if numbers.shape not in ((len(keys), 1), (len(keys), count)):
        raise ValueError(f"{len(keys)} keys need one number of {name} per row or draw, found {numbers.shape}")
    if start < 0 or count < 0:
        raise ValueError(f"start and count must not be negative, found {start} and {count}")


#: linear extensions are counted by subsets of the nodes: up to this many of them
_MOST_ORDERED = 12
#: nodes of sparse DAGs that are drawn by tosses, one word per node
_MOST_TOSSED = 64
#: nodes of DAGs that are counted; tables grow with the square, and the time to fill them with the cube
_MOST_COUNTED = 400
#: nodes of graphs whose skeletons are oriented uniformly
MOST_ORIENTED = 64


def check_counted(n_nodes: int) -> None:
    """Refuse DAGs that take long to count."""
    if n_nodes > _MOST_COUNTED:
        raise ValueError(
            f"uniform DAGs are drawn over at most {_MOST_COUNTED} nodes, found {n_nodes}; null='edges' draws uniform "
            "skeletons in uniform orders, over any number of nodes"
        )


def edge_numbers(graphs: Words) -> Ints:
    """Count the adjacent pairs of each graph, of any number of planes."""
    return np.asarray(count_ones(np.bitwise_or.reduce(graphs, axis=1)).sum(axis=1), np.int64)


def edge_room(n_nodes: int, lists: int) -> Words:
    """Return room for lists of one number per edge."""
    return np.empty((lists, n_nodes * (n_nodes - 1) // 2 + 1), np.uint64)


def are_sparse(n_nodes: int, n_edges: Ints) -> NDArray[np.bool_]:
    """Return which numbers of edges are so few that tosses end sooner than draws from counts."""
    # the share of tosses without a cycle falls with the edges per node; at these bounds both ways took as long
    bound = 1.5 if n_nodes <= 25 else 1.35
    return np.asarray((n_edges <= bound * n_nodes) & (n_nodes <= _MOST_TOSSED) | (n_nodes < 2))


def linear_extension_law(n_nodes: int, n_edges: Ints) -> NDArray[np.bool_]:
    """Return which numbers of edges are better drawn along a random order and thinned by the orders that fit."""
    # of A acyclic orientations A / d! tries along an order are kept, at some d 2^d steps each, or A / 2^m of tries by
    # coins, at 4 m + 16 d steps; a try along an order is kept with probability 1 / (number of orders that fit)
    if n_nodes > _MOST_ORDERED:
        return np.zeros(n_edges.shape, np.bool_)
    by_order = math.lgamma(n_nodes + 1) + math.log(max(1, n_nodes) * 2.0**n_nodes)
    by_coins = n_edges * math.log(2) + np.log(4.0 * n_edges + 16 * n_nodes + 1)
    return np.asarray(by_order < by_coins)
