"""What truths of pairs bring along: graphs with latent nodes that they are projections of, and inputs of their rows.

A MAG or PAG is what data can show of such a graph; which nodes are ancestors of which, and which pairs are confounded,
is read in the graph itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..contract.context import Context
from .kernels.planes import ADMG, DAG, MAG, plane_words, planes_from_matrices, row_chunks
from .mixed.conversions import project
from .mixed.marks import bidirected, directed_part, is_mixed, lift, marks_from_planes
from .mixed.relations import DEFINITE, ancestors

Planes = NDArray[np.uint64]

#: planes of `Origins.relations`
ANCESTOR, DESCENDANT, CONFOUNDED, COMMON_ANCESTOR = range(4)


class Relations(NamedTuple):
    """Relations of ordered pairs of observed nodes, (N, d, d) each."""

    #: u is an ancestor of v
    ancestor: NDArray[np.bool_]
    #: u <-> v in the projection to an acyclic directed mixed graph
    confounded: NDArray[np.bool_]
    #: a latent node is an ancestor of u and v
    common_ancestor: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Inputs:
    """The inputs of rows besides their cells, such as data, with the names of the nodes by which they are aligned."""

    #: inputs, one graph each
    context: Context
    #: distinct node sets, names in code-point order
    node_sets: tuple[tuple[str, ...], ...]
    #: (N,): each graph's node set
    node_set: NDArray[np.int64]

    def take(self, positions: NDArray[Any]) -> Inputs:
        """Return the inputs of the graphs at `positions`."""
        return Inputs(self.context.take(positions), self.node_sets, self.node_set[positions])

    @property
    def numbers(self) -> NDArray[np.int64]:
        """What tells the inputs of graphs apart, (N, 2): numbers of the set of inputs and of the node set."""
        return np.stack([self.context.codes, self.node_set], axis=1)


@dataclass(frozen=True, eq=False)
class Origins:
    """The graphs that truths are projections of, one per truth."""

    #: number of nodes, latent ones included
    n_nodes: int
    #: (N, 2 or 4, W): DAGs, ADMGs or MAGs
    planes: Planes
    #: (N,): their classes
    kinds: NDArray[np.uint8]
    #: (N, d): which of their nodes the truths have, ascending
    observed: NDArray[np.int64]

    def take(self, positions: NDArray[Any]) -> Origins:
        """Return the graphs at `positions`."""
        return Origins(self.n_nodes, self.planes[positions], self.kinds[positions], self.observed[positions])

    @cached_property
    def relations(self) -> Relations:
        """What the graphs decide about their observed nodes; nothing of graphs of other classes."""
        n, d = self.observed.shape
        masks = Relations(*(np.zeros((n, d, d), bool) for _ in range(3)))
        known = np.flatnonzero(np.isin(self.kinds, (DAG, ADMG, MAG)))
        for part in row_chunks(len(known), 40 * self.n_nodes**2):
            rows = known[part]
            planes, observed = self.planes[rows], self.observed[rows]
            above = ancestors(lift(directed_part(planes)) if is_mixed(planes) else planes, self.n_nodes, "path")
            seen = (np.arange(len(rows))[:, None, None], observed[:, :, None], observed[:, None, :])
            masks.ancestor[rows] = (above == DEFINITE)[seen]
            masks.common_ancestor[rows] = _common(planes, above == DEFINITE, observed)[seen]
            marks = marks_from_planes(project(planes, self.n_nodes, observed, to_admg=True), d)
            heads = (marks == 2) & ((marks.transpose(0, 2, 1) == 2) | (marks.transpose(0, 2, 1) == 0))
            masks.confounded[rows] = heads | heads.transpose(0, 2, 1)
        return masks

    @cached_property
    def relation_planes(self) -> Planes:
        """The relations as pair planes (N, 4, W): ancestor forward and backward, confounded, with a common ancestor."""
        n, d = self.observed.shape
        planes = np.zeros((n, 4, plane_words(d)), np.uint64)
        order = np.arange(d, dtype=np.int64)
        planes[:, [ANCESTOR, DESCENDANT]] = planes_from_matrices(self.relations.ancestor, order)
        planes[:, CONFOUNDED] = planes_from_matrices(self.relations.confounded, order)[:, 0]
        planes[:, COMMON_ANCESTOR] = planes_from_matrices(self.relations.common_ancestor, order)[:, 0]
        return planes


def _common(planes: Planes, above: NDArray[np.bool_], observed: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which nodes have a latent ancestor in common, an edge <-> standing for a latent parent of both."""
    n, n_nodes = above.shape[:2]
    latent = np.ones((n, n_nodes), bool)
    np.put_along_axis(latent, observed, False, axis=1)
    reach = (above | np.eye(n_nodes, dtype=bool)).astype(np.float32)  # of nodes and their descendants
    hidden = above.astype(np.float32) * latent[:, :, None]
    shared = hidden.transpose(0, 2, 1) @ hidden
    if is_mixed(planes) and bidirected(planes).any():
        marks = marks_from_planes(planes, n_nodes)
        one = (marks == 2) & np.isin(marks.transpose(0, 2, 1), (0, 2))
        spouses = (one | one.transpose(0, 2, 1)).astype(np.float32)
        shared += reach.transpose(0, 2, 1) @ spouses @ reach
    mask = shared > 0
    mask[:, range(n_nodes), range(n_nodes)] = False
    return np.asarray(mask)
