"""Distances of interventional equivalence classes."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...contract.metric import metric
from ...graphs.interventional import pairs_apart, read_targets, to_icpdags
from ...graphs.kernels.planes import DAG
from ...graphs.pairs import GraphBatch, GraphPairs
from ..structure.distances import shd
from .row_inputs import groups

__all__ = ["shd_icpdag"]

Values = NDArray[np.float64]


@metric(
    field="graph",
    kinds=("dag", "cpdag", "pdag"),
    direction="minimize",
    range=(0, math.inf),
    optimum=0,
    long_name="SHD of interventional classes",
    symmetric=True,
    costly=True,
    reference="10.48550/arXiv.1104.2808",
)
def shd_icpdag(pairs: GraphPairs) -> Values:
    """Compare the I-CPDAGs of both graphs by the structural Hamming distance, any difference costing 1.

    A DAG is replaced by its I-CPDAG for the sets of targets in the context, `{"targets": "A; B,C"}` or the name of a
    column with such texts; a CPDAG or PDAG is taken for an I-CPDAG, and stays. The distance is 0 exactly for DAGs that
    observations and these interventions do not tell apart. Controls that are DAGs are mapped by the same targets, which
    relabelling does not move; for estimates that are I-CPDAGs use `control_kind="dag"` or `null="permutation"`.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"truth": ["A -> B; B -> C"] * 2, "estimate": ["C -> B; B -> A"] * 2, "targets": ["", "C"]})
    >>> ce.evaluate(runs, ["shd_icpdag"], context={"targets": "targets"})["shd_icpdag"].tolist()
    [0.0, 2.0]
    """
    distances = np.empty(pairs.n)
    for group in groups(pairs, "shd_icpdag", ["targets"], "context={'targets': 'A; B,C'}, or a column of such texts"):
        targets, nodes = group.values["targets"], group.nodes
        apart = group.compute("targets", partial(_apart, targets, nodes))
        some = pairs.take(group.rows)
        truths, true_index = np.unique(some.truth_index, return_inverse=True)
        estimates, index = np.unique(some.estimate_index, return_inverse=True)
        sides = (_mapped(pairs.truth.take(truths), apart), _mapped(pairs.estimate.take(estimates), apart))
        distances[group.rows] = shd.function(GraphPairs(*sides, true_index.reshape(-1), index.reshape(-1)))
    return distances


def _apart(targets: object, nodes: tuple[str, ...]) -> NDArray[np.bool_]:
    return pairs_apart(read_targets(targets), nodes)


def _mapped(graphs: GraphBatch, apart: NDArray[np.bool_]) -> GraphBatch:
    """Return the I-CPDAGs of DAGs, and other graphs as they are."""
    planes, kinds = graphs.planes.copy(), graphs.kinds.copy()
    dags = np.flatnonzero(kinds == DAG)
    separated = np.broadcast_to(apart, (len(dags), *apart.shape))
    planes[dags], kinds[dags] = to_icpdags(planes[dags], graphs.n_nodes, separated)
    return GraphBatch(graphs.n_nodes, planes, kinds)
