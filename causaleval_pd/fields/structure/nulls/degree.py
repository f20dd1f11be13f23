"""The null model `degree`: random graphs with the degrees of the estimate's skeleton.

References
----------
.. [1] Besag, J., Clifford, P. (1989). Generalized Monte Carlo significance tests. doi:10.1093/biomet/76.4.633
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....contract.checks import check_whole
from ....contract.null import Controls, Matching
from ....graphs.kernels import control_kernels
from ....graphs.kernels.planes import plane_words
from ....graphs.pairs import GraphBatch
from .graph_controls import estimated_edges, graph_controls, in_class, matched_kinds, redirect, warn_of_undirected

#: sets the stream of directions apart from that of skeletons
_DIRECTIONS = np.uint64(0xD1B54A32D192ED03)


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
    switches, d = int(matching.prepared), pairs.n_nodes
    kinds, attempts = matched_kinds(matching, rows, pairs), switches * estimated_edges(pairs)

    def graphs(start: int, count: int) -> GraphBatch:
        estimates, index = pairs.estimate.contiguous, pairs.estimate_index
        skeletons = control_kernels().switch_edges(estimates, d, index, attempts, keys, start, count)
        places = np.arange(len(skeletons), dtype=np.int64).reshape(-1, count)
        directed = control_kernels().orient_graphs(skeletons, d, places, keys ^ _DIRECTIONS, start, count)
        return in_class(redirect(directed, pairs, kinds, keys, start, count), d, kinds, count)

    return graph_controls(pairs, kinds, graphs, scratch=16 * plane_words(d), pace=10 * switches)
