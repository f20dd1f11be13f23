"""Sizes and densities: descriptions of a row to stratify by, without better or worse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...contract.confusion import Values, ratio
from ...contract.metric import metric
from ...contract.options import with_call
from ...graphs.kernels.planes import KINDS, MARKED_KINDS
from ...graphs.pairs import GraphPairs

__all__ = [
    "estimated_density", "estimated_edges", "estimated_undirected", "n_nodes", "true_density", "true_edges",
    "true_undirected",
]  # fmt: skip

_SIZE: dict[str, Any] = {"field": "graph", "kinds": KINDS, "direction": None, "range": (0, math.inf)}
_SHARE: dict[str, Any] = {**_SIZE, "range": (0, 1)}


@metric(**_SIZE, long_name="nodes", of_truth=True)
@with_call('"A -> B; C", "A; B; C"', 3.0)
def n_nodes(pairs: GraphPairs) -> Values:
    """Count the nodes, which truth and estimate share."""
    return np.full(pairs.n, float(pairs.n_nodes))


@metric(**_SIZE, long_name="edges of the truth", of_truth=True)
@with_call('"A -> B; C", "A; B; C"', 1.0)
def true_edges(pairs: GraphPairs) -> Values:
    """Count the adjacencies of the truth; an undirected edge counts once."""
    return pairs.counts.true_edges


@metric(**_SIZE, long_name="edges of the estimate")
@with_call('"A -> B; C", "A -- B; B -> C"', 2.0)
def estimated_edges(pairs: GraphPairs) -> Values:
    """Count the adjacencies of the estimate; an undirected edge counts once."""
    return pairs.counts.estimated_edges


@metric(**{**_SIZE, "kinds": MARKED_KINDS}, long_name="undirected edges of the truth", of_truth=True)
@with_call('"A -- B; C", "A -> B; C"', 1.0)
def true_undirected(pairs: GraphPairs) -> Values:
    """Count the undirected edges of the truth; a DAG has none."""
    return pairs.truth.edge_counts.undirected[pairs.truth_index]


@metric(**{**_SIZE, "kinds": MARKED_KINDS}, long_name="undirected edges of the estimate")
@with_call('"A -> B; C", "A -- B; B -> C"', 1.0)
def estimated_undirected(pairs: GraphPairs) -> Values:
    """Count the undirected edges of the estimate; a DAG has none."""
    return pairs.estimate.edge_counts.undirected[pairs.estimate_index]


@metric(**_SHARE, long_name="density of the truth", of_truth=True)
@with_call('"A -> B; C", "A; B; C"', 0.3333333333333333)
def true_density(pairs: GraphPairs) -> Values:
    """Share of the pairs of nodes that are adjacent in the truth, edges / (d (d - 1) / 2); NaN for a single node."""
    return ratio(pairs.counts.true_edges, pairs.counts.n_pairs, math.nan)


@metric(**_SHARE, long_name="density of the estimate")
@with_call('"A -> B; C", "A -- B; B -> C"', 0.6666666666666666)
def estimated_density(pairs: GraphPairs) -> Values:
    """Share of the pairs of nodes that are adjacent in the estimate, edges / (d (d - 1) / 2); NaN for a single node."""
    return ratio(pairs.counts.estimated_edges, pairs.counts.n_pairs, math.nan)
