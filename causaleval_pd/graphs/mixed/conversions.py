"""Conversions of blocks of mixed graphs: projections of acyclic graphs with latent nodes, MAGs, PAGs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels import mixed_kernels
from ..kernels.inputs import checked_planes, read_only
from ..kernels.planes import N_MIXED_PLANES, plane_words
from .marks import circles, count_edges, doubles, lift

Planes = NDArray[np.uint64]
Ints = NDArray[np.int64]

#: nodes up to which paths of mixed graphs are followed, which takes time with the cube of their number
MOST_NODES = 2000


def check_size(n_nodes: int, row: str = "") -> None:
    """Refuse graphs of more nodes than paths are followed in; `row` names the first of them."""
    if n_nodes > MOST_NODES:
        raise ValueError(
            f"{row}{': ' if row else ''}found graphs of {n_nodes} nodes with latent confounders; classes, conversions, "
            f"ancestors and distances along paths are computed for at most {MOST_NODES} nodes; declare such graphs "
            "kind='mixed' or kind='skeleton'"
        )


def not_simple(planes: Planes) -> NDArray[np.bool_]:
    """Return which graphs have a circle, or two edges between the same nodes."""
    return np.asarray(((circles(planes) | doubles(planes)) != 0).any(axis=1))


def ready(planes: Planes, n_nodes: int) -> tuple[Planes, int]:
    """Return blocks (N, 4, W) without double edges ready for a kernel, and the largest number of their edges."""
    check_size(n_nodes)
    array = checked_planes(planes, n_nodes, N_MIXED_PLANES)
    if doubles(array).any():
        raise ValueError("graphs with two edges between the same nodes are not of this class; project them to MAGs")
    return array, int(count_edges(array).max(initial=0))


def convert(planes: Planes, n_nodes: int, goal: str) -> tuple[Planes, NDArray[np.bool_]]:
    """Convert or check graphs by the kernel for a goal of its own; return the results, and which graphs do not fit."""
    array, most = ready(planes, n_nodes)
    converted, faults = mixed_kernels().convert(array, n_nodes, goal, most)
    return converted, faults


def mag_to_pag(planes: Planes, n_nodes: int) -> Planes:
    """Return the PAGs of MAGs: the marks that all MAGs of the Markov equivalence class share."""
    return convert(planes, n_nodes, "MAG_TO_PAG")[0]


def pag_to_mag(planes: Planes, n_nodes: int) -> Planes:
    """Return a MAG of each PAG's class, that with the fewest bidirected edges; ties are broken by the nodes' order."""
    return convert(planes, n_nodes, "PAG_TO_MAG")[0]


def complete(planes: Planes, n_nodes: int) -> tuple[Planes, NDArray[np.bool_]]:
    """Return ancestral graphs with <-> where an inducing path joins two nodes, and which graphs are not ancestral."""
    return convert(planes, n_nodes, "COMPLETE")


def project(planes: Planes, n_nodes: int, observed: Ints, *, to_admg: bool = False) -> Planes:
    """Project DAGs, MAGs or ADMGs onto their observed nodes (N, p), ascending: (N, 4, V) planes of MAGs or ADMGs."""
    check_size(n_nodes)
    array, kept = checked_planes(lift(planes), n_nodes, N_MIXED_PLANES), read_only(observed, np.int64)
    if kept.ndim != 2 or len(kept) != len(array):
        raise ValueError(f"observed must have the shape ({len(array)}, p), found {kept.shape}")
    if kept.size and (kept.min() < 0 or kept.max() >= n_nodes or (np.diff(kept, axis=1) <= 0).any()):
        raise ValueError(f"observed must hold ascending nodes from 0 to {n_nodes - 1}")
    out = np.zeros((len(array), N_MIXED_PLANES, plane_words(kept.shape[1])), np.uint64)
    if n_nodes and len(array):
        mixed_kernels().project(array, n_nodes, kept, to_admg, out)
    return out
