"""The null models `empty` and `complete`: points of reference without random edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....contract.null import Controls, Matching, Null, register_null
from .random_graphs import PERMUTE, random_graphs


def empty_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Match every row by the graph without edges: a point of reference without randomness, and so without p."""
    return random_graphs(matching, rows, pairs, keys, np.zeros(pairs.n, np.int64))


register_null("graph", Null("empty", "the graph without edges", empty_controls, reference=True, options=PERMUTE))


def complete_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Match every row by complete graphs of its class, directed along a random order.

    A point of reference: what claiming every adjacency scores. It is not a null hypothesis, and has no p.
    """
    n_edges = np.full(pairs.n, pairs.n_nodes * (pairs.n_nodes - 1) // 2, np.int64)
    return random_graphs(matching, rows, pairs, keys, n_edges)


register_null("graph", Null("complete", "complete graphs", complete_controls, reference=True, options=PERMUTE))
