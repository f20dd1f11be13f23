"""Compiled relations in mixed graphs: ancestors as far as marks determine them, visible edges, unshielded colliders.

In a PAG a node u may be an ancestor of v iff a possibly directed path leads from u to v. It is one in every MAG of the
class iff a directed path does, or two uncovered possibly directed paths whose first nodes differ and are not adjacent.

References
----------
Zhang (2008), Causal reasoning with ancestral graphs, JMLR 9, for possibly directed paths and visible edges.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from ..bits import compact, has, is_empty, members
from ..inputs import Words
from .classes import Scratch, fill_by_first_step, fill_discriminating, fill_first_steps, scratch_for
from .rows import Rows, close, empty_rows, read_marks

#: which relation to find
ANCESTORS, DIRECTED_PATHS, VISIBLE = range(3)
#: codes of ordered pairs (u, v): u is not an ancestor of v, a possible one, one in every graph of the class
NOT, POSSIBLE, DEFINITE = range(3)


@kernel_part
def _paths(g: Rows, certain: Words, possible: Words) -> None:
    """Fill the nodes to which directed, and possibly directed, paths lead from each node."""
    compact()
    for v in range(np.uint64(g.near.shape[0])):
        for w in range(g.near.shape[1]):
            certain[v, w] = g.tail[v, w] & g.far_head[v, w]
        fill_first_steps(g, v, possible[v])
    close(certain)
    close(possible)


@kernel_part
def _second_paths(g: Rows, certain: Words, possible: Words, scratch: Scratch) -> None:
    """Add the nodes to which two uncovered possibly directed paths lead whose first nodes are not adjacent."""
    compact()
    first, ends = scratch.rows[0], scratch.rows[1]
    words = np.uint64(g.near.shape[1])
    for u in range(np.uint64(g.near.shape[0])):
        for w in range(words):
            ends[w] = possible[u, w] & ~certain[u, w]
        if is_empty(ends):
            continue
        fill_first_steps(g, u, first)
        fill_by_first_step(g, u, first, ends, scratch)
        for w in range(words):
            for f in members(w, first[w]):
                for k in range(words):
                    for h in members(k, first[k] & ~g.near[f, k]):
                        if h != f:
                            for at in range(words):
                                certain[u, at] |= scratch.reached[f, at] & scratch.reached[h, at]


@kernel
def _relate(
    planes: Words, relation: int, g: Rows, certain: Words, possible: Words, scratch: Scratch, out: NDArray[np.uint8]
) -> None:
    """Fill the codes of ordered pairs of each graph."""
    compact()
    n_nodes = np.uint64(g.near.shape[0])
    for n in range(planes.shape[0]):
        read_marks(planes[n], g)
        if relation == VISIBLE:
            for c in range(n_nodes):
                if not is_empty(g.head[c]):
                    fill_discriminating(g, c, scratch.rows[0], scratch.rows[1])
                    for a in range(n_nodes):
                        out[n, a, c] = has(scratch.rows[0], a)
            continue
        _paths(g, certain, possible)
        if relation == ANCESTORS:
            _second_paths(g, certain, possible, scratch)
        for u in range(n_nodes):
            for v in range(n_nodes):
                if u != v:
                    out[n, u, v] = DEFINITE if has(certain[u], v) else POSSIBLE if has(possible[u], v) else NOT


def relate(planes: Words, n_nodes: int, relation: int, most_edges: int) -> NDArray[np.uint8]:
    """Return (N, d, d) codes of ordered pairs (u, v) of graphs (N, 4, W) without double edges."""
    out = np.zeros((len(planes), n_nodes, n_nodes), np.uint8)
    rows = empty_rows(n_nodes)
    certain, possible = np.zeros_like(rows.near), np.zeros_like(rows.near)
    _relate(planes, relation, rows, certain, possible, scratch_for(n_nodes, most_edges), out)
    return out
