"""Random graphs with a number of edges: the null models `edges`, `empty` and `complete`.

References
----------
.. [1] Petersen, A. H. (2025). Are you doing better than random guessing? A call for using negative controls when
   evaluating causal discovery algorithms. UAI 2025.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....contract.law import ClosedForm
from ....contract.metric import Metric
from ....contract.null import Controls, Matching
from ....graphs.kernels import kernels
from ....graphs.kernels.planes import CPDAG, DIGRAPH, KINDS, PDAG
from ....graphs.pairs import GraphBatch, GraphPairs
from .edge_moments import linear, mean_over_edges, of_dags, reversal
from .graph_controls import (
    estimated_edges,
    graph_controls,
    lose_directions,
    matched_kinds,
    redirect,
    refuse_digraphs,
    warn_of_undirected,
)
from .hypergeometric import hypergeometric
from .latent import are_mixed, check_bidirected, latent_edges
from .listed import MOST_GRAPHS, Listed, ListedLaws, all_random_graphs, are_listed

_ANY_ORDER = np.empty(0, np.int64)


def _order(matching: Matching, d: int) -> NDArray[np.int64]:
    """Return the causal order of the nodes, by name or as `published` has it, or none for random ones."""
    if matching.options.get("permute", True):
        return _ANY_ORDER
    return np.asarray(matching.options.get("order", np.arange(d)), np.int64)


def random_graphs(
    matching: Matching,
    rows: NDArray[np.int64],
    pairs: GraphPairs,
    keys: NDArray[np.uint64],
    n_edges: NDArray[np.int64],
) -> Controls:
    """Match rows by DAGs with `n_edges` (n,) edges, uniform skeletons directed along an order, or by their CPDAGs.

    Rows of digraphs get such skeletons with independent random directions, those of PDAGs such DAGs of which random
    edges are undirected.
    """
    d = pairs.n_nodes
    kinds, order = matched_kinds(matching, rows, pairs), _order(matching, d)
    tossed, undirected = kinds == DIGRAPH, lose_directions(kinds)
    if len(order):
        refuse_digraphs(kinds, rows, "permute=False directs all edges along the order of the nodes")

    def graphs(start: int, count: int) -> GraphBatch:
        planes = kernels().draw_graphs(d, n_edges[:, None], kinds == CPDAG, keys, start, count, order)
        return GraphBatch(d, redirect(planes, pairs, kinds, keys, start, count), np.repeat(kinds, count))

    fixed = tuple(order.tolist())
    few = [
        kind != PDAG and are_listed(d, m, kind, fixed=bool(fixed))
        for m, kind in zip(n_edges.tolist(), kinds.tolist(), strict=True)
    ]

    def support(number: int) -> Listed:
        m, kind = divmod(number, len(KINDS))
        return all_random_graphs(d, m, kind, fixed)

    listed = ListedLaws(pairs, n_edges * len(KINDS) + kinds, support, MOST_GRAPHS, np.array(few, bool))

    def known(metric: Metric) -> ClosedForm | None:
        return moments(metric) if metric.closed_form == "hypergeometric" else listed.law(metric, moments)

    def moments(metric: Metric) -> ClosedForm | None:
        edges, truth = pairs.truth.edge_counts, pairs.truth_index
        if metric.closed_form == "hypergeometric":
            return hypergeometric(metric, d, edges.edges[truth], n_edges)
        if undirected.all() or len(order):
            return None
        arrows, lines = edges.directed[truth], edges.undirected[truth]
        if metric.closed_form == "linear":
            closed_form = linear(metric, d, arrows, lines, n_edges, pairs.truth.degrees[truth], tossed)
        elif metric.closed_form == "reversal":
            closed_form = reversal(metric, d, arrows, lines, n_edges)
        elif metric.closed_form == "mean_over_edges":
            closed_form = mean_over_edges(metric, pairs, n_edges, tossed)
        else:
            return None
        return of_dags(closed_form, undirected)

    return graph_controls(pairs, kinds, graphs, known, pace=6.0)


def edges_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Match every control to its row's class and number of edges.

    Law: a skeleton uniform among those with the estimate's number of edges, directed along a uniform order of the
    nodes (or their own order with `permute=False`). A CPDAG is that of such a DAG; a PDAG (`control_kind="pdag"`) is
    such a DAG of which a uniform set of edges is undirected, as many as in the estimate; the edges of a digraph are
    directed by coins. Given: nodes, class and number of edges. Up to five nodes all DAGs and CPDAGs are listed.

    Graphs with latent confounders keep their number of bidirected edges too. MAGs and PAGs: a skeleton and an order as
    above and a uniform set of bidirected edges, given that the graph is a MAG and that it, or its PAG, shows the
    estimate's number; of MAGs for PAGs this set is as large as makes most of them fit. ADMGs: the pairs with a
    bidirected edge are uniform, independently of the directed edges. Skeletons are uniform. With `bidirected="free"`
    MAGs and PAGs come from MAGs whose number of bidirected edges is uniform up to half of the edges.

    Not valid for guesses of another shape where the truth has that shape: guessed hubs meet true hubs more often than
    random edges do, and edges along the columns meet truths along the columns. `permutation` keeps the shape;
    shuffled columns mend the second.
    """
    if are_mixed(pairs):
        return latent_edges(matching, rows, pairs, keys)
    return random_graphs(matching, rows, pairs, keys, estimated_edges(pairs))


def prepare_edges(matching: Matching) -> str:
    """Return how bidirected edges are drawn; warn of undirected graphs."""
    warn_of_undirected(matching)
    return check_bidirected(matching)


def empty_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Match every row by the graph without edges: a point of reference without randomness, and so without p."""
    return random_graphs(matching, rows, pairs, keys, np.zeros(pairs.n, np.int64))


def complete_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Match every row by complete graphs of its class, directed along a random order.

    A point of reference: what claiming every adjacency scores. It is not a null hypothesis, and has no p.
    """
    n_edges = np.full(pairs.n, pairs.n_nodes * (pairs.n_nodes - 1) // 2, np.int64)
    return random_graphs(matching, rows, pairs, keys, n_edges)
