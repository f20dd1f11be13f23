"""Controls of one truth from an estimate's published numbers: its class and number of edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....contract.checks import check_known, check_whole
from ....contract.null import Controls, Matching, Null
from ....graphs.column import as_graph
from ....graphs.kernels.planes import KINDS, PLAIN_KINDS, planes_from_marks
from ....graphs.pairs import GraphBatch, GraphPairs


def published_controls(
    model: Null,
    truth: Any,
    key: NDArray[np.uint64],
    *,
    n_edges: int,
    kind: str,
    nodes: Sequence[str] | None,
    options: Mapping[str, Any],
) -> Controls:
    """Return the controls of one truth, for a null model that uses only an estimate's class and number of edges.

    Parameters
    ----------
    model : Null
        The null model.
    truth : graph
        The true graph.
    key : (1,) uint64
        Name of the random stream.
    n_edges, kind : int, str
        The estimate's number of edges and class.
    nodes : sequence of str or None
        All nodes of the truth, in the causal order where `permute=False`.
    options : mapping
        Options of the null model.
    """
    graph = as_graph(truth, nodes=nodes)
    d = graph.n_nodes
    check_whole(n_edges, f"n_edges of a graph of {d} nodes", 0, d * (d - 1) // 2)
    check_known(kind, PLAIN_KINDS, "kind of graph")
    # any DAG with that many edges stands for the estimate
    ahead = np.zeros((1, d, d), bool)
    sources, targets = (side[: int(n_edges)] for side in np.triu_indices(d, 1))
    ahead[0, sources, targets] = True
    stand_in = GraphBatch(d, planes_from_marks(ahead, np.arange(d)), np.array([KINDS.index("dag")], np.uint8))
    batch = GraphBatch(d, graph.planes[None], np.array([KINDS.index(graph.kind)], np.uint8))
    # a fixed causal order is that of `nodes` as given, not of their names
    unknown = [name for name in nodes or () if name not in graph.nodes]
    if unknown:
        raise ValueError(f"nodes must be names of nodes, found {unknown[0]!r}; the nodes are {list(graph.nodes)[:10]}")
    order = [graph.nodes.index(name) for name in nodes or graph.nodes]
    empty = pd.Series([], dtype=object)
    # the number of undirected edges is unknown, so that PDAGs are matched by CPDAGs
    kinds = np.array(["cpdag" if kind == "pdag" else kind], object)
    matching = Matching(empty, empty, kinds, None, {**options, "order": order})
    return model.match(matching)(np.zeros(1, np.int64), GraphPairs.zip(batch, stand_in), key)
