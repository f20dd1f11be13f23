"""The DAGs that a null model draws from: listed where they are few, else drawn.

A DAG is a sequence of parent sets, one per node, as bits.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ....execution.random_streams import uniforms
from ....graphs.dags import MOST_DIRECTED, MOST_LISTED, all_dags, all_orientations, parent_sets
from ....graphs.kernels import control_kernels, kernels
from ....graphs.kernels.control_inputs import MOST_ORIENTED
from ....graphs.kernels.dag_counts import check_counted
from ....graphs.kernels.planes import planes_from_arcs
from ..networks.structure import Structure

#: DAGs as (n, k) parent sets
ParentSets = NDArray[np.int64]
Edges = tuple[tuple[int, int], ...]
#: draws start .. start + count - 1 of the stream named by a key (an array of one), as parent sets
Draw = Callable[[NDArray[np.uint64], int, int], list[list[int]]]

#: tries that a uniform orientation may take
MOST_TRIES = 200_000


@dataclass(frozen=True)
class Space:
    """DAGs that a row's controls are drawn from."""

    #: every DAG, where they are few
    all: ParentSets | None
    #: `draw(key, start, count)` returns draws start .. start + count - 1.
    draw: Draw


def uniform_dags(truth: Structure, estimate: Structure) -> Space:
    """Draw DAGs uniformly.

    Law: uniform among all DAGs over the nodes with the estimate's number of arcs. Given: nodes and number of arcs.
    """
    k, n_arcs = len(estimate.nodes), len(estimate.arcs)
    if k <= MOST_LISTED:
        return _listed(dags_with_arcs(k, n_arcs))
    check_counted(k)
    return Space(
        None, lambda key, start, count: parent_sets(control_kernels().draw_dags(k, [n_arcs], key, start, count), k)
    )


def ordered_dags(truth: Structure, estimate: Structure) -> Space:
    """Draw skeletons, and orders that direct them.

    Law: a skeleton uniform among those with the estimate's number of arcs, directed along a uniform order of the nodes.
    Given: nodes and number of arcs.
    """
    k, n_arcs = len(estimate.nodes), len(estimate.arcs)
    return Space(
        None,
        lambda key, start, count: parent_sets(kernels().draw_graphs(k, [[n_arcs]], [False], key, start, count), k),
    )


def own_orientations(truth: Structure, estimate: Structure) -> Space:
    """Draw directions of the estimate's adjacencies.

    Law: uniform among the acyclic orientations of the estimate's skeleton, which must not be too dense for that. Given:
    the skeleton.
    """
    return _orientations(estimate)


def true_orientations(truth: Structure, estimate: Structure) -> Space:
    """Draw directions of the true adjacencies.

    Law: uniform among the acyclic orientations of the true skeleton, which must not be too dense for that. Given: the
    true skeleton, so that there is no p.
    """
    return _orientations(truth)


def relabellings(truth: Structure, estimate: Structure) -> Space:
    """Draw names of the nodes.

    Law: a permutation of the nodes, uniform among all. Given: the shape of the estimate. Rows with one key are
    relabelled by the same permutation.
    """
    k, graph = len(estimate.nodes), _planes(estimate)
    listed = None
    if k <= MOST_LISTED:
        renamed = [
            [sum(1 << names[p] for p in estimate.parents[names.index(i)]) for i in range(k)]
            for names in itertools.permutations(range(k))
        ]
        listed = np.array(renamed, np.int64)
    # the permutation of a draw depends on key and number alone, so that rows with one key are relabelled jointly
    return Space(
        listed,
        lambda key, start, count: parent_sets(control_kernels().relabel_graphs(graph, k, [0], key, start, count), k),
    )


def _orientations(structure: Structure) -> Space:
    """Return the acyclic orientations of a structure's skeleton."""
    k = len(structure.nodes)
    edges: Edges = tuple(sorted((min(arc), max(arc)) for arc in structure.arcs))
    if len(edges) <= MOST_DIRECTED and k < 63:
        return _listed(orientations(k, edges))

    skeleton = _planes(structure)

    def draw(key: NDArray[np.uint64], start: int, count: int) -> list[list[int]]:
        stuck = 0
        if k <= MOST_ORIENTED:
            found, stuck = control_kernels().orient_uniformly(skeleton, k, [0], key, start, count, MOST_TRIES)
        if k > MOST_ORIENTED or stuck >= 0:
            raise ValueError(
                f"a skeleton of {k} nodes and {len(edges)} edges is too dense for uniform draws of its orientations; "
                "use null='permutation', or null='edges' for DAGs with as many edges"
            )
        return parent_sets(found, k)

    return Space(None, draw)


def _planes(structure: Structure) -> NDArray[np.uint64]:
    """Return a DAG as planes."""
    source, target = np.array(sorted(structure.arcs), np.int64).reshape(-1, 2).T
    return planes_from_arcs(1, len(structure.nodes), np.zeros(len(source), np.int64), source, target)


def _listed(masks: ParentSets) -> Space:
    """Make the space of listed DAGs, equally likely."""
    return Space(
        masks,
        lambda key, start, count: masks[(uniforms(key, start, count)[0] * len(masks)).astype(np.int64)].tolist(),
    )


@lru_cache(maxsize=128)
def dags_with_arcs(k: int, n_arcs: int) -> ParentSets:
    """Return every DAG over k nodes with this number of arcs, as (n, k) parent sets."""
    return np.array(parent_sets(all_dags(k, n_arcs), k), np.int64)


@lru_cache(maxsize=256)
def orientations(k: int, edges: Edges) -> ParentSets:
    """Return every acyclic orientation of a skeleton, as (n, k) parent sets."""
    return np.array(parent_sets(all_orientations(k, edges), k), np.int64)


def bits(mask: int) -> tuple[int, ...]:
    """Return the positions of the bits of a parent set, ascending."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return tuple(found)
