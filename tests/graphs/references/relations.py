"""Ancestors, Markov blankets and separations that two graphs share, in plain numpy."""

import itertools

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.graphs.kernels.inputs import SEPARATORS

from .adjustment import Marks, Relations, closure, connected, moral, relation_pairs


def ancestor_counts(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike, n_nodes: int
) -> NDArray[np.int64]:
    """Count ordered pairs of nodes joined by a directed path, of directed edges only."""
    rows = []
    for true, estimated in relation_pairs(truth, estimate, truth_index, estimate_index, n_nodes):
        other = ~np.eye(n_nodes, dtype=bool)
        above, claimed = closure(true.directed) & other, closure(estimated.directed) & other
        edges = true.directed
        counts = (above, claimed, above & claimed, edges & claimed & ~claimed.T, edges & claimed.T & ~claimed)
        rows.append([int(c.sum()) for c in counts])
    return np.array(rows, np.int64).reshape(-1, 5)


def blanket_counts(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike, n_nodes: int
) -> NDArray[np.int64]:
    """Count members of Markov blankets: neighbours, and parents of a common child, summed over nodes."""
    rows = []
    for true, estimated in relation_pairs(truth, estimate, truth_index, estimate_index, n_nodes):
        blankets = moral(true.marks), moral(estimated.marks)
        rows.append([int(b.sum()) for b in (*blankets, blankets[0] & blankets[1])])
    return np.array(rows, np.int64).reshape(-1, 3)


def separator_of(graph: Relations, x: int, y: int, separator: str) -> Marks:
    """Return the set by which a graph separates two nodes that are not adjacent.

    Possible parents and possible ancestors stand for parents and ancestors, so that the sets are the same for all DAGs
    of a class.
    """
    if separator == "parent":
        given = graph.marks[:, x] | graph.marks[:, y]
    else:
        given = graph.possible[:, x] | graph.possible[:, y]
        if separator == "nearest":
            near = moral(graph.marks & given[:, None] & given[None, :])
            border = near[x].copy()
            border[x] = False
            walk = near & ~border[:, None]
            given = border & closure(walk)[y]
    given[[x, y]] = False
    return given


def separation_mistakes(
    truth: ArrayLike,
    estimate: ArrayLike,
    truth_index: ArrayLike,
    estimate_index: ArrayLike,
    n_nodes: int,
    separator: str,
) -> NDArray[np.int64]:
    """Count ordered pairs of nodes that the estimate separates by a set and the truth does not."""
    if separator not in SEPARATORS:
        raise ValueError(f"separator must be one of {', '.join(SEPARATORS)}, found {separator!r}")
    found = []
    for true, estimated in relation_pairs(truth, estimate, truth_index, estimate_index, n_nodes):
        if true.dag is None or estimated.dag is None:
            found.append(-1)
            continue
        wrong = 0
        for x, y in itertools.permutations(range(n_nodes), 2):
            if not (estimated.marks[x, y] or estimated.marks[y, x]):
                wrong += connected(true.dag, x, y, separator_of(estimated, x, y, separator))
        found.append(wrong)
    return np.array(found, np.int64)
