"""The null model `latent_dag`: random DAGs with latent nodes, projected onto the observed ones."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....contract.checks import check_number, check_whole
from ....contract.null import Controls, Matching, no_closed_form
from ....graphs.kernels import kernels
from ....graphs.kernels.planes import ADMG, KINDS, PAG, SKELETON
from ....graphs.mixed.conversions import check_size, mag_to_pag, project
from ....graphs.mixed.marks import adjacencies, count_edges, lines
from ....graphs.pairs import GraphBatch
from .latent import Drawn, are_mixed, latent_controls, latent_kinds

Planes = NDArray[np.uint64]
Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]

#: graphs by which the mean number of edges of a projection is found
_PILOT = 400
#: nanoseconds that a control takes for each node of the DAG, squared
_PACE = 100.0


def check_latents(matching: Matching) -> tuple[int, float | None]:
    """Return the number of latent nodes and the density of the DAGs, after checking them."""
    n_latents, density = matching.options["n_latents"], matching.options["density"]
    if n_latents is None:
        raise ValueError("null='latent_dag' needs the number of latent nodes: ce.null_model('latent_dag', n_latents=2)")
    return check_whole(n_latents, "n_latents", 0), None if density is None else check_number(
        density, "density", "[0, 1]"
    )


def latent_dag_controls(matching: Matching, rows: Ints, pairs: Any, keys: Keys) -> Controls:
    """Draw DAGs over observed and latent nodes, and project them to the estimate's class.

    Law: a uniform skeleton over the observed and `n_latents` latent nodes, directed along a uniform order, projected
    to its MAG, PAG, ADMG or skeleton. With `density` (share of adjacent pairs of the DAG) nothing of the estimate is
    matched but its class. Without it, the number of edges of the DAG is that at which projections have as many edges as
    the estimate, in the mean of a pilot; p-values are then approximate, because numbers of edges vary around it.

    Numbers of edges and of bidirected edges vary. It is for studies that know by which law graphs were made.
    """
    if not are_mixed(pairs):
        kind = KINDS[pairs.estimate.kinds[pairs.estimate_index[0]]] if pairs.n else "dag"
        raise ValueError(
            f"row {rows[0] if len(rows) else 0}: the estimate is a {kind}, and null='latent_dag' draws mag, pag, admg "
            "and skeleton; take null='edges'"
        )
    kinds = latent_kinds(matching, rows, pairs)
    (n_latents, density), d = matching.prepared, pairs.n_nodes
    n = d + n_latents
    check_size(n)
    if density is None:
        wanted = count_edges(pairs.estimate.planes)[pairs.estimate_index]
        known = {
            key: fitted_edges(d, n_latents, *key) for key in set(zip(wanted.tolist(), kinds.tolist(), strict=True))
        }
        n_edges = np.array([known[key] for key in zip(wanted.tolist(), kinds.tolist(), strict=True)], np.int64)
    else:
        n_edges = np.full(pairs.n, round(density * (n * (n - 1) // 2)), np.int64)

    def drawn(start: int, count: int) -> Drawn:
        every = np.repeat(kinds, count)
        planes = np.zeros((len(every), *pairs.estimate.planes.shape[1:]), np.uint64)
        for kind in np.unique(kinds).tolist():
            mine = kinds == kind
            planes[every == kind] = _project(d, n_latents, n_edges[mine], kind, keys[mine], start, count)
        return GraphBatch(d, planes, every), None

    return latent_controls(pairs, kinds, no_closed_form, _PACE * n * n, drawn)


def _project(d: int, n_latents: int, n_edges: Ints, kind: int, keys: Keys, start: int, count: int) -> Planes:
    """Draw DAGs and project them onto the first d nodes; names are exchangeable, so that any nodes may be latent."""
    n = d + n_latents
    dags = kernels().draw_graphs(n, n_edges[:, None], np.zeros(len(keys), bool), keys, start, count)
    observed = np.tile(np.arange(d), (len(dags), 1))
    found = project(dags, n, observed, to_admg=kind == ADMG)
    if kind == SKELETON:
        return lines(adjacencies(found))
    return mag_to_pag(found, d) if kind == PAG else found


@lru_cache(maxsize=1 << 14)
def fitted_edges(d: int, n_latents: int, wanted: int, kind: int) -> int:
    """Return the number of edges of DAGs whose projections have as many edges as wanted, nearest in the mean."""
    n = d + n_latents
    name = np.frombuffer(hashlib.blake2b(f"{d} {n_latents}".encode(), digest_size=8).digest(), np.uint64)

    def mean(n_edges: int) -> float:
        # a PAG has the edges of its MAG
        made = _project(d, n_latents, np.array([n_edges]), ADMG if kind == ADMG else SKELETON, name, 0, _PILOT)
        return float(count_edges(made).mean())

    low, high = 0, n * (n - 1) // 2
    while low < high:  # the first number that reaches it
        middle = (low + high) // 2
        if mean(middle) >= wanted:
            high = middle
        else:
            low = middle + 1
    return low - 1 if low and wanted - mean(low - 1) < mean(low) - wanted else low
