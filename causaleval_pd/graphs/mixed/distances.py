"""What distances between mixed graphs compare: m-separations and adjustment sets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels import mixed_kernels
from ..kernels.inputs import read_only
from ..kernels.planes import ADMG, DAG, MAG, PAG
from .conversions import check_size, mag_to_pag, pag_to_mag, project
from .marks import lift

Planes = NDArray[np.uint64]
Kinds = NDArray[np.uint8]
Ints = NDArray[np.int64]


def _to_mags(planes: Planes, n_nodes: int) -> Planes:
    everything = np.tile(np.arange(n_nodes, dtype=np.int64), (len(planes), 1))
    return project(planes, n_nodes, everything)


def as_statements(planes: Planes, kinds: Kinds, n_nodes: int) -> Planes:
    """Return MAGs or PAGs with the m-separations of graphs: a MAG of an ADMG; a DAG, MAG or PAG itself."""
    check_size(n_nodes)
    found = lift(planes)
    some = np.flatnonzero(kinds == ADMG)
    if len(some):
        found = found.copy()
        found[some] = _to_mags(found[some], n_nodes)
    return read_only(found, np.uint64)


def as_models(planes: Planes, kinds: Kinds, n_nodes: int) -> Planes:
    """Return graphs of -> and <-> with the m-separations of graphs: a MAG of a PAG; a DAG, MAG or ADMG itself."""
    check_size(n_nodes)
    found = lift(planes)
    some = np.flatnonzero(kinds == PAG)
    if len(some):
        found = found.copy()
        found[some] = pag_to_mag(found[some], n_nodes)
    return read_only(found, np.uint64)


def as_targets(planes: Planes, n_nodes: int, kind: int) -> Planes:
    """Return the MAGs, PAGs or ADMGs (`kind`) of ADMGs."""
    check_size(n_nodes)
    if kind in (ADMG, DAG):
        return read_only(planes, np.uint64)
    mags = _to_mags(planes, n_nodes)
    return read_only(mags if kind == MAG else mag_to_pag(mags, n_nodes), np.uint64)


def separation_mistakes(
    truth: Planes, estimate: Planes, index: tuple[Ints, Ints], n_nodes: int, *, nearest: bool
) -> Ints:
    """Count the ordered pairs of nodes that estimates separate and truths do not.

    Parameters
    ----------
    truth : (N, 4, W) array
        By `as_models`.
    estimate : (K, 4, W) array
        By `as_statements`.
    index : pair of (n,) arrays
        Positions of the truth and the estimate of each pair.
    n_nodes : int
        Number of nodes.
    nearest : bool
        Whether estimates, which are then MAGs, separate by the minimal set nearest to the first node, instead of by all
        possible ancestors.
    """
    left, right = (read_only(x, np.int64) for x in index)
    found: Ints = mixed_kernels().mixed_separation_mistakes(truth, estimate, left, right, n_nodes, nearest)
    return found


def adjustment_mistakes(
    truth: Planes, estimates: tuple[Planes, Planes, Kinds], index: tuple[Ints, Ints], n_nodes: int
) -> Ints:
    """Count the ordered pairs of nodes (treatment, outcome) for which estimates answer wrongly.

    Parameters
    ----------
    truth : (N, 4, W) array
        ADMGs.
    estimates : tuple of (K, 4, W) array, (K, 4, W) array, (K,) array
        DAGs, MAGs, PAGs and ADMGs; their models by `as_models`; their classes.
    index : pair of (n,) arrays
        Positions of the truth and the estimate of each pair.
    n_nodes : int
        Number of nodes.
    """
    (left, right), (planes, models, kinds) = index, estimates
    found = np.zeros(len(left), np.int64)
    for kind in np.unique(kinds[right]).tolist():
        chosen = np.flatnonzero(kinds[right] == kind)
        used, true_index = np.unique(left[chosen], return_inverse=True)
        true = read_only(truth[used], np.uint64)
        target = as_targets(true, n_nodes, kind)
        found[chosen] = mixed_kernels().mixed_adjustment_mistakes(
            true,
            (target, as_models(target, np.full(len(used), kind, np.uint8), n_nodes)),
            (read_only(planes, np.uint64), read_only(models, np.uint64)),
            read_only(true_index.reshape(-1), np.int64),
            read_only(right[chosen], np.int64),
            n_nodes,
            kind in (ADMG, DAG),
        )
    return found
