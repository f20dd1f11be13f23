"""Relations in blocks of mixed graphs: ancestors, visible edges, unshielded colliders."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..kernels import mixed_kernels
from .conversions import check_size, ready
from .marks import directed_part, doubles, lift

Planes = NDArray[np.uint64]

#: codes of ordered pairs (u, v): u is not an ancestor of v, a possible one, or one in every graph of the class
NOT, POSSIBLE, DEFINITE = range(3)


def ancestors(planes: Planes, n_nodes: int, definite: Literal["exact", "path"] = "exact") -> NDArray[np.uint8]:
    """Return whether u is an ancestor of v: (N, d, d) with 0 no, 1 possible, 2 definite in cell (u, v).

    A possible ancestor has a possibly directed path. A definite one has a directed path (`definite` "path"), or also
    two uncovered possibly directed paths whose first nodes are not adjacent ("exact"), which for PAGs is what all
    graphs of the class share.
    """
    lifted = lift(planes)
    if doubles(lifted).any():  # the bidirected edges of an admg add no ancestors
        lifted = lift(directed_part(lifted))
    given, most = ready(lifted, n_nodes)
    kernels = mixed_kernels()
    relation = {"exact": kernels.ANCESTORS, "path": kernels.DIRECTED_PATHS}[definite]
    found: NDArray[np.uint8] = kernels.relate(given, n_nodes, relation, most)
    return found


def visible_edges(planes: Planes, n_nodes: int) -> NDArray[np.bool_]:
    """Return the visible edges u -> v of MAGs or PAGs, (N, d, d): no latent node confounds them in any graph."""
    given, most = ready(planes, n_nodes)
    return np.asarray(mixed_kernels().relate(given, n_nodes, mixed_kernels().VISIBLE, most), bool)


def unshielded_colliders(planes: Planes, n_nodes: int) -> NDArray[np.int64]:
    """Count the triples A *-> B <-* C with A and C not adjacent."""
    every = np.arange(len(planes))
    return shared_colliders(planes, planes, every, every, n_nodes)[:, 0].astype(np.int64)


def shared_colliders(
    truth: Planes, estimate: Planes, truth_index: NDArray[np.int64], estimate_index: NDArray[np.int64], n_nodes: int
) -> NDArray[np.float64]:
    """Count the unshielded colliders of truth, estimate and both, (n, 3), of graphs of four planes."""
    check_size(n_nodes)
    found: NDArray[np.float64] = mixed_kernels().collider_counts(truth, estimate, truth_index, estimate_index, n_nodes)
    return found.T
