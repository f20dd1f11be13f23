"""Null models of random skeletons: `degree`, `erdos_renyi`, `scale_free` and `small_world`, with random directions.

References
----------
.. [1] Besag, J., Clifford, P. (1989). Generalized Monte Carlo significance tests. doi:10.1093/biomet/76.4.633
.. [2] Barabasi, A.-L., Albert, R. (1999). Emergence of scaling in random networks. doi:10.1126/science.286.5439.509
.. [3] Watts, D. J., Strogatz, S. H. (1998). Collective dynamics of small-world networks. doi:10.1038/30918
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from ...contract.checks import check_number, check_whole
from ...contract.law import ClosedForm
from ...contract.metric import Metric
from ...contract.null import Conditional, Controls, Matching, Null, register_null
from ...execution.random_streams import uniforms
from ...graphs.kernels import control_kernels
from ...graphs.kernels.planes import plane_words
from ...graphs.pairs import GraphBatch, GraphPairs
from .edge_moments import exchangeable
from .graph_controls import (
    GraphControls,
    estimated_edges,
    in_class,
    lose_directions,
    matched_kinds,
    redirect,
    warn_of_undirected,
)
from .published import published_controls
from .random_graphs import PERMUTE, random_graphs

Planes = NDArray[np.uint64]

#: sets the stream of directions apart from that of skeletons
_DIRECTIONS = np.uint64(0xD1B54A32D192ED03)
#: `skeletons(pairs, keys, start, count)` draws skeletons, (n * count, 2, W)
Skeletons = Callable[[GraphPairs, NDArray[np.uint64], int, int], Planes]


def _drawn_skeletons(
    matching: Matching,
    rows: NDArray[np.int64],
    pairs: Any,
    keys: NDArray[np.uint64],
    skeletons: Skeletons,
    *,
    alike: bool,
    pace: float = 30,
) -> Controls:
    """Draw skeletons, direct them along random orders, and map them to the estimate's class.

    Nodes that are `alike` under the model have means in closed form. Drawing takes about `pace` nanoseconds for each
    node and edge.
    """
    kinds = matched_kinds(matching, rows, pairs)
    d = pairs.n_nodes

    def graphs(start: int, count: int) -> GraphBatch:
        drawn = skeletons(pairs, keys, start, count)
        index = np.arange(len(drawn), dtype=np.int64).reshape(-1, count)
        directed = control_kernels().orient_graphs(drawn, d, index, keys ^ _DIRECTIONS, start, count)
        return in_class(redirect(directed, pairs, kinds, keys, start, count), d, kinds, count)

    def known(metric: Metric) -> ClosedForm | None:
        return exchangeable(metric, pairs, lose_directions(kinds)) if alike else None

    return GraphControls(pairs, kinds, graphs, known, 16 * plane_words(d), pace)


def check_switches(matching: Matching) -> int:
    """Return the number of switches for each edge, after checking it; warn of undirected graphs."""
    warn_of_undirected(matching)
    return check_whole(matching.options["switches"], "switches", 1)


def degree_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Keep the degrees of the estimate's skeleton by switching the ends of its edges.

    Law: nearly uniform among the skeletons in which every node has its degree; edges are directed along a random
    order. `switches` random exchanges of ends an edge, some of which change nothing, lead from the estimate's skeleton
    to another one, and as many from that to each control [1]_: if the estimate is uniform given its degrees, p is valid
    however few they are. Given: the degree of each *named* node, so that hubs stay where they are.

    It asks whether more than the degrees is right, since right hubs are part of the controls. Not valid for guessers
    whose skeletons are not uniform given their degrees, such as trees or rings. With few switches, or degrees that few
    skeletons have, controls stay close to the estimate and p is large.
    """
    switches = int(matching.prepared)

    def skeletons(pairs: GraphPairs, keys: NDArray[np.uint64], start: int, count: int) -> Planes:
        attempts = switches * estimated_edges(pairs)
        drawn = control_kernels().switch_edges(
            pairs.estimate.contiguous, pairs.n_nodes, pairs.estimate_index, attempts, keys, start, count
        )
        return np.asarray(drawn)

    return _drawn_skeletons(matching, rows, pairs, keys, skeletons, alike=False, pace=10 * switches)


register_null(
    "graph",
    Null(
        "degree",
        "random graphs with the degrees of the estimate's skeleton",
        degree_controls,
        prepare=check_switches,
        options={"switches": 20},
    ),
)


def erdos_renyi_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Match controls to the estimate's class and density: each pair is adjacent with the same probability.

    Law: pairs are adjacent independently with the estimate's share of adjacent pairs, directed along a random order.
    Given: that share for means and skill; the number of edges for p. With their number of edges given, such graphs are
    the controls of `edges` whatever the density, so that number is sufficient for the unknown density. Empty and
    complete skeletons then have no p. Not valid where `edges` is not.
    """
    n_edges, n_pairs = estimated_edges(pairs), pairs.n_nodes * (pairs.n_nodes - 1) // 2

    def numbers(start: int, count: int) -> NDArray[np.int64]:
        chance = n_edges[:, None] / max(1, n_pairs)
        return np.asarray(scipy.stats.binom.ppf(uniforms(keys, start, count), n_pairs, chance), np.int64)

    given = Conditional(random_graphs(matching, rows, pairs, keys, n_edges), (n_edges > 0) & (n_edges < n_pairs))
    return random_graphs(matching, rows, pairs, keys, n_edges, numbers, given)


register_null(
    "graph",
    Null(
        "erdos_renyi",
        "random graphs whose pairs are adjacent independently, with the estimate's density",
        erdos_renyi_controls,
        prepare=warn_of_undirected,
        published=published_controls,
        options=PERMUTE,
        p_given="the number of edges",
        label_invariant=True,
    ),
)


def scale_free_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Draw skeletons by preferential attachment with the estimate's number of edges.

    Law: edges join one by one, both ends of each in proportion to 1 + the degree of a node, as in [2]_ but among all
    nodes from the start; loops and repeats are drawn anew. Edges are directed along a random order. Given: nodes, class
    and number of edges.

    Not valid for guessers of other shapes, such as uniform skeletons or trees, where truths have their shape.
    """

    def skeletons(pairs: GraphPairs, keys: NDArray[np.uint64], start: int, count: int) -> Planes:
        return np.asarray(control_kernels().scale_free(pairs.n_nodes, estimated_edges(pairs), keys, start, count))

    return _drawn_skeletons(matching, rows, pairs, keys, skeletons, alike=True)


register_null(
    "graph",
    Null(
        "scale_free",
        "graphs grown by preferential attachment, with the estimate's number of edges",
        scale_free_controls,
        prepare=warn_of_undirected,
        published=published_controls,
        label_invariant=True,
    ),
)


def check_rewiring(matching: Matching) -> float:
    """Return the share of rewired edges, after checking it; warn of undirected graphs."""
    warn_of_undirected(matching)
    return check_number(matching.options["rewiring"], "rewiring", "[0, 1]")


def small_world_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Draw rewired rings with the estimate's number of edges.

    Law: the nodes stand in a ring in random order. Edges lead from each node to the next, then to the next but one, and
    so on until there are as many as in the estimate; the last of these rounds may be incomplete. Then, one by one, each
    edge keeps the node that it leads from and with probability `rewiring` moves its other end to a node drawn uniformly
    among those without an edge to the first [3]_. Edges are directed along another random order. Given: nodes, class
    and number of edges.

    Not valid for guessers of other shapes where truths have their shape: paths and rings are close to rewired rings.
    """

    def skeletons(pairs: GraphPairs, keys: NDArray[np.uint64], start: int, count: int) -> Planes:
        edges = estimated_edges(pairs)
        return np.asarray(control_kernels().small_world(pairs.n_nodes, edges, matching.prepared, keys, start, count))

    return _drawn_skeletons(matching, rows, pairs, keys, skeletons, alike=True)


register_null(
    "graph",
    Null(
        "small_world",
        "rewired rings with the estimate's number of edges",
        small_world_controls,
        prepare=check_rewiring,
        published=published_controls,
        options={"rewiring": 0.1},
        label_invariant=True,
    ),
)
