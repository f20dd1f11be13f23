"""Compiled random graphs of the further null models, those of other modules included.

Every draw has a stream of its own (see `draws`): draw r of a row starts at mix(mix(key + STEP) + (r + 1) STEP), and a
word gives two bounded numbers. Number 0 in place of r + 1 names the stream that the draws of a row share.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from causaleval_pd.execution.compilation import kernel

from .bits import list_edges, set_mark
from .dags import draw_dags
from .draws import STEP, mix, shuffle, switch_edges
from .inputs import Ints, Words, check_index, checked_planes, edge_room, read_only
from .orientations import count_orders, orient_graphs, orient_uniformly, undirect_edges
from .planes import N_PLANES, plane_words

__all__ = [
    "count_orders", "draw_dags", "orient_graphs", "orient_uniformly", "relabel_graphs", "switch_edges",
    "undirect_edges",
]  # fmt: skip


@kernel
def _relabel(
    planes: Words, index: Ints, keys: Words, start: int, count: int, edges: Words, order: Words, out: Words
) -> None:
    """Draw relabelled graphs, the draws of a row together."""
    d = np.uint64(order.size)
    low, high, mark = edges[0], edges[1], edges[2]
    for row in range(keys.size):
        base = mix(keys[row] + STEP)
        n_edges = list_edges(planes[index[row]], d, low, high, mark)
        for column in range(count):
            shuffle(mix(base + np.uint64(start + column + 1) * STEP), order)
            graph = out[row * count + column]
            for e in range(n_edges):
                a, b = order[low[e]], order[high[e]]
                if mark[e] == np.uint64(2):
                    a, b = b, a
                set_mark(graph, a, b, d, np.uint64(mark[e] == np.uint64(3)))


def relabel_graphs(planes: ArrayLike, n_nodes: int, index: ArrayLike, keys: ArrayLike, start: int, count: int) -> Words:
    """Permute the nodes of graphs (N, 2, W) of any class: node i becomes place i of a Fisher-Yates shuffle.

    `index` (n,) is the graph of each row; keys, draws and the result are as those of `draw_graphs`.
    """
    graphs, names = checked_planes(planes, n_nodes), read_only(keys, np.uint64)
    chosen = check_index(index, len(graphs), (len(names),), start, count)
    out = np.zeros((len(names) * count, N_PLANES, plane_words(n_nodes)), np.uint64)
    _relabel(graphs, chosen, names, start, count, edge_room(n_nodes, 3), np.empty(n_nodes, np.uint64), out)
    return out
