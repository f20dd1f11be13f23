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
from ....graphs.graph import Graph
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
    """Return the controls of one truth, for a null model that uses only an estimate's class and number of edges."""
    graph = as_graph(truth, nodes=nodes)
    d = graph.n_nodes
    check_whole(n_edges, f"n_edges of a graph of {d} nodes", 0, d * (d - 1) // 2)
    # a fixed causal order is that of `nodes` as given, not of their names
    unknown = [name for name in nodes or () if name not in graph.nodes]
    if unknown:
        raise ValueError(f"nodes must be names of nodes, found {unknown[0]!r}; the nodes are {list(graph.nodes)[:10]}")
    order = [graph.nodes.index(name) for name in nodes or graph.nodes]
    # any DAG with that many edges stands for the estimate
    low, high = (side[: int(n_edges)] for side in np.triu_indices(d, 1))
    return controls_of_edges(model, graph, key, low, high, kind=kind, options={**options, "order": order})


def controls_of_edges(
    model: Null,
    truth: Graph,
    key: NDArray[np.uint64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    *,
    kind: str,
    options: Mapping[str, Any],
) -> Controls:
    """Return the controls of one truth beside the DAG with edges from `low` to `high`, as if it were of a class."""
    check_known(kind, PLAIN_KINDS, "kind of graph")
    d = truth.n_nodes
    ahead = np.zeros((1, d, d), bool)
    ahead[0, low, high] = True
    stand_in = GraphBatch(d, planes_from_marks(ahead, np.arange(d)), np.array([KINDS.index("dag")], np.uint8))
    batch = GraphBatch(d, truth.planes[None], np.array([KINDS.index(truth.kind)], np.uint8))
    empty = pd.Series([], dtype=object)
    # the number of undirected edges is unknown, so that PDAGs are matched by CPDAGs
    kinds = np.array(["cpdag" if kind == "pdag" else kind], object)
    matching = Matching(empty, empty, kinds, None, dict(options))
    return model.match(matching)(np.zeros(1, np.int64), GraphPairs.zip(batch, stand_in), key)
