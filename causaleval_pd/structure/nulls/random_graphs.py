"""Random graphs with a number of edges, and the null models `edges` and `stratum`.

References
----------
.. [1] Petersen, A. H. (2025). Are you doing better than random guessing? A call for using negative controls when
   evaluating causal discovery algorithms. UAI 2025.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.law import ClosedForm
from ...contract.metric import Metric
from ...contract.null import Conditional, Controls, Matching, Null, register_null
from ...execution.random_streams import uniforms
from ...graphs.kernels import kernels
from ...graphs.kernels.planes import CPDAG, DIGRAPH, KINDS, PDAG
from ...graphs.packing.packed import unpack_column
from ...graphs.pairs import GraphBatch, GraphPairs
from .edge_moments import linear, mean_over_edges, of_dags, reversal
from .graph_controls import (
    GraphControls,
    estimated_edges,
    lose_directions,
    matched_kinds,
    redirect,
    refuse_digraphs,
    warn_of_undirected,
)
from .hypergeometric import hypergeometric
from .latent.matching import BIDIRECTED, are_mixed, check_bidirected
from .latent.random_graphs import latent_edges
from .listed.laws import Listed, ListedLaws
from .listed.random_graphs import MOST_GRAPHS, all_random_graphs, are_listed
from .published import published_controls
from .walks import edges_walk

_ANY_ORDER = np.empty(0, np.int64)
#: options of null models of random graphs
PERMUTE = {"permute": True}


def _order(matching: Matching, d: int) -> NDArray[np.int64]:
    """Return the causal order of the nodes' positions, or none, so that every draw has a random one.

    With `permute=False` it is the order of the nodes' names, or the one that `published` was given.
    """
    if matching.options.get("permute", True):
        return _ANY_ORDER
    return np.asarray(matching.options.get("order", np.arange(d)), np.int64)


def random_graphs(
    matching: Matching,
    rows: NDArray[np.int64],
    pairs: GraphPairs,
    keys: NDArray[np.uint64],
    n_edges: NDArray[np.int64],
    numbers: Callable[[int, int], NDArray[np.int64]] | None = None,
    conditional: Conditional | None = None,
) -> Controls:
    """Match rows by random DAGs, uniform skeletons directed along an order, or by the CPDAGs of such DAGs.

    Rows of digraphs get such skeletons with independent random directions, those of PDAGs such DAGs of which random
    edges are undirected.
    Controls have `n_edges` (n,) edges, or `numbers(start, count)`, (n, count), which gives each draw its own number.
    Where `conditional` is given, p-values rest on it.
    """
    d = pairs.n_nodes
    kinds, order = matched_kinds(matching, rows, pairs), _order(matching, d)
    tossed, undirected = kinds == DIGRAPH, lose_directions(kinds)
    if len(order):
        refuse_digraphs(kinds, rows, "permute=False directs all edges along the order of the nodes")

    def graphs(start: int, count: int) -> GraphBatch:
        edges = n_edges[:, None] if numbers is None else numbers(start, count)
        planes = kernels().draw_graphs(d, edges, kinds == CPDAG, keys, start, count, order)
        return GraphBatch(d, redirect(planes, pairs, kinds, keys, start, count), np.repeat(kinds, count))

    fixed = tuple(order.tolist())
    few = [
        numbers is None and kind != PDAG and are_listed(d, m, kind, fixed=bool(fixed))
        for m, kind in zip(n_edges.tolist(), kinds.tolist(), strict=True)
    ]

    def support(number: int) -> Listed:
        m, kind = divmod(number, len(KINDS))
        return all_random_graphs(d, m, kind, fixed)

    listed = ListedLaws(pairs, n_edges * len(KINDS) + kinds, support, MOST_GRAPHS, np.array(few, bool))

    def known(metric: Metric) -> ClosedForm | None:
        hypergeometric_law = numbers is None and metric.closed_form == "hypergeometric"
        return moments(metric) if hypergeometric_law else listed.law(metric, moments)

    def moments(metric: Metric) -> ClosedForm | None:
        if numbers is not None or metric.closed_form is None:
            return None
        edges, truth = pairs.truth.edge_counts, pairs.truth_index
        if metric.closed_form == "hypergeometric":
            return hypergeometric(metric, d, edges.edges[truth], n_edges)
        if undirected.all() or len(order):
            return None
        arrows, lines = edges.directed[truth], edges.undirected[truth]
        if metric.closed_form == "linear":
            found = linear(metric, d, arrows, lines, n_edges, pairs.truth.degrees[truth], tossed)
        elif metric.closed_form == "reversal":
            found = reversal(metric, d, arrows, lines, n_edges)
        elif metric.closed_form == "mean_over_edges":
            found = mean_over_edges(metric, pairs, n_edges, tossed)
        else:
            return None
        return of_dags(found, undirected)

    walk = None if numbers is not None or len(order) else edges_walk(pairs, n_edges, kinds)
    return GraphControls(pairs, kinds, graphs, known, pace=6.0, conditional=conditional, walked=walk)


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


def _prepared(matching: Matching) -> str:
    """Return how bidirected edges are drawn; warn of undirected graphs."""
    warn_of_undirected(matching)
    return check_bidirected(matching)


register_null(
    "graph",
    Null(
        "edges",
        "random graphs with the estimate's class and number of edges",
        edges_controls,
        prepare=_prepared,
        published=published_controls,
        options=PERMUTE | BIDIRECTED,
        label_invariant=True,
    ),
)


def stratum_pools(matching: Matching) -> dict[Any, NDArray[np.int64]]:
    """Collect the edge numbers of each stratum's estimates; warn of undirected graphs."""
    warn_of_undirected(matching)
    strata = matching.stratum
    if strata is None:
        raise ValueError(
            "null='stratum' draws edge numbers from a stratum's estimates, so it needs strata: use cube(by=[...], "
            "null='stratum'), or null='edges' for rows"
        )
    unpacked = unpack_column(matching.estimate)
    batches = [GraphBatch(block.n_nodes, block.planes, block.kinds) for block in unpacked.blocks]
    n_edges = unpacked.scatter([batch.edge_counts.edges for batch in batches], -1, np.int64)
    n_nodes = unpacked.scatter([np.full(len(batch), batch.n_nodes) for batch in batches], -1, np.int64)
    known = ~unpacked.missing
    frame = pd.DataFrame({"stratum": strata[known], "edges": n_edges[known], "nodes": n_nodes[known]})
    mixed = frame.groupby("stratum")["nodes"].nunique()
    if (mixed > 1).any():
        number = mixed.index[mixed > 1][0]
        row = int(np.flatnonzero(known & (strata == number))[0])
        raise ValueError(
            f"null='stratum' needs graphs of one size a stratum; the stratum of row {row} has estimates over "
            f"{sorted(frame.nodes[frame.stratum == number].unique().tolist())} nodes; add the number of nodes to by="
        )
    # sorted pools do not depend on the order of the rows
    return {key: np.sort(group.to_numpy()) for key, group in frame.groupby("stratum")["edges"]}


def stratum_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Match controls to the estimate's class, their edge numbers drawn from all estimates of the stratum.

    Law: as `edges`, with a number of edges drawn for each control from those of the stratum's estimates, with
    replacement. Given: the stratum's numbers of edges as a pool, not which run has which.

    Rows have no p. It tests whether edge numbers follow those of the truths within the stratum, not whether their
    level is right, and is not valid where the runs of a stratum guess at different densities on purpose.
    """
    strata = cast(NDArray[np.int64], matching.stratum)[rows]
    mine = [matching.prepared[s] for s in strata]

    def numbers(start: int, count: int) -> NDArray[np.int64]:
        # from the row's pool, with replacement
        places = uniforms(keys, start, count)
        return np.stack([pool[(u * len(pool)).astype(np.int64)] for pool, u in zip(mine, places, strict=True)])

    return random_graphs(matching, rows, pairs, keys, estimated_edges(pairs), numbers)


register_null(
    "graph",
    Null(
        "stratum",
        "random graphs with the estimate's class and a number of edges drawn from its stratum's estimates",
        stratum_controls,
        prepare=stratum_pools,
        by_stratum=True,
        options=PERMUTE,
        label_invariant=True,
    ),
)
