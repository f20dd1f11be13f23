"""What paths decide in blocks of mixed graphs: projections, MAGs, PAGs, ancestors, separations, adjustment sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import kernels
from ..kernels.inputs import checked_planes, read_only
from ..kernels.planes import ADMG, DAG, N_MIXED_PLANES, PAG, plane_words
from .marks import Ints, Planes, circles, count_edges, directed_part, doubles, lift

Kinds = NDArray[np.uint8]
Convert = Callable[[Planes, int], Planes]

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
    converted, faults = kernels("mixed").convert(array, n_nodes, goal, most)
    return converted, faults


def mag_to_pag(planes: Planes, n_nodes: int) -> Planes:
    """Return the PAGs of MAGs: the marks that all MAGs of the Markov equivalence class share."""
    return convert(planes, n_nodes, "MAG_TO_PAG")[0]


def pag_to_mag(planes: Planes, n_nodes: int) -> Planes:
    """Return a MAG of each PAG's class, that with the fewest bidirected edges; ties are broken by the nodes' order."""
    return convert(planes, n_nodes, "PAG_TO_MAG")[0]


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
        kernels("mixed").project(array, n_nodes, kept, to_admg, out)
    return out


#: codes of ordered pairs (u, v): u is not an ancestor of v, a possible one, or one in every graph of the class
NOT, POSSIBLE, DEFINITE = range(3)


def ancestors(planes: Planes, n_nodes: int, definite: Literal["exact", "path"] = "exact") -> NDArray[np.uint8]:
    """Return (N, d, d) codes NOT, POSSIBLE or DEFINITE: whether u is an ancestor of v, as `GraphMethods.ancestors`."""
    lifted = lift(planes)
    if doubles(lifted).any():  # the bidirected edges of an admg add no ancestors
        lifted = lift(directed_part(lifted))
    blocks, most = ready(lifted, n_nodes)
    compiled = kernels("mixed")
    relation = {"exact": compiled.ANCESTORS, "path": compiled.DIRECTED_PATHS}[definite]
    ancestry: NDArray[np.uint8] = compiled.relate(blocks, n_nodes, relation, most)
    return ancestry


def visible_edges(planes: Planes, n_nodes: int) -> NDArray[np.bool_]:
    """Return the visible edges u -> v of MAGs or PAGs, (N, d, d): no latent node confounds them in any graph."""
    blocks, most = ready(planes, n_nodes)
    compiled = kernels("mixed")
    return np.asarray(compiled.relate(blocks, n_nodes, compiled.VISIBLE, most), bool)


#: classes whose graphs are models: each latent node has edges of its own, so that no further node confounds an edge
_MODELS = (DAG, ADMG)


def _to_mags(planes: Planes, n_nodes: int) -> Planes:
    everything = np.tile(np.arange(n_nodes, dtype=np.int64), (len(planes), 1))
    return project(planes, n_nodes, everything)


def _converted(planes: Planes, kinds: Kinds, n_nodes: int, by_kind: Mapping[int, Convert]) -> Planes:
    """Return graphs with four planes, those of some classes converted."""
    check_size(n_nodes)
    graphs = lift(planes)
    for kind, conversion in by_kind.items():
        some = np.flatnonzero(kinds == kind)
        if len(some):
            graphs = graphs.copy()
            graphs[some] = conversion(graphs[some], n_nodes)
    return read_only(graphs, np.uint64)


def as_statements(planes: Planes, kinds: Kinds, n_nodes: int) -> Planes:
    """Return MAGs or PAGs with the m-separations of graphs: a MAG of an ADMG; a DAG, MAG or PAG itself."""
    return _converted(planes, kinds, n_nodes, {ADMG: _to_mags})


def as_mags(planes: Planes, kinds: Kinds, n_nodes: int) -> Planes:
    """Return MAGs with the m-separations of graphs: of a PAG one of its class; a DAG or MAG itself."""
    return _converted(planes, kinds, n_nodes, {ADMG: _to_mags, PAG: pag_to_mag})


def as_models(planes: Planes, kinds: Kinds, n_nodes: int) -> Planes:
    """Return graphs of -> and <-> with the m-separations of graphs: a MAG of a PAG; a DAG, MAG or ADMG itself."""
    return _converted(planes, kinds, n_nodes, {PAG: pag_to_mag})


def separation_mistakes(
    truth: Planes, estimate: Planes, truth_index: Ints, estimate_index: Ints, n_nodes: int, *, nearest: bool
) -> Ints:
    """Count ordered pairs of nodes that estimates, by `as_statements`, separate and truths, by `as_models`, do not."""
    index = (read_only(x, np.int64) for x in (truth_index, estimate_index))
    mistakes: Ints = kernels("mixed").mixed_separation_mistakes(truth, estimate, *index, n_nodes, nearest)
    return mistakes


class EffectGraphs(NamedTuple):
    """DAGs, MAGs, PAGs and ADMGs on the same number of nodes, (N, 4, W), their models by `as_models`, their classes."""

    planes: Planes
    models: Planes
    kinds: Kinds


def adjustment_mistakes(truth: EffectGraphs, estimate: EffectGraphs, left: Ints, right: Ints, n_nodes: int) -> Ints:
    """Count the ordered pairs (treatment, outcome) that estimates at `right` answer wrongly, by truths at `left`."""
    mistakes = np.zeros(len(left), np.int64)
    known, kinds = np.isin(truth.kinds[left], _MODELS), estimate.kinds[right]
    for kind, of_model in product(np.unique(kinds).tolist(), (True, False)):
        chosen = np.flatnonzero((kinds == kind) & (known == of_model))
        if not len(chosen):
            continue
        used, positions = np.unique(left[chosen], return_inverse=True)
        true = target = _graphs(truth.planes[used], truth.models[used], of_model)
        if of_model:
            # what a graph of the estimate's class could find of ADMGs: their MAGs or PAGs, or the ADMGs themselves
            planes = true.planes if kind in _MODELS else _to_mags(true.planes, n_nodes)
            planes = mag_to_pag(planes, n_nodes) if kind == PAG else planes
            models = as_models(planes, np.full(len(used), kind, np.uint8), n_nodes)
            target = _graphs(planes, models, kind in _MODELS)
        answering = _graphs(estimate.planes, estimate.models, kind in _MODELS)
        places = (read_only(x, np.int64) for x in (positions.reshape(-1), right[chosen]))
        mistakes[chosen] = kernels("mixed").mixed_adjustment_mistakes(true, target, answering, *places, n_nodes)
    return mistakes


def _graphs(planes: Planes, models: Planes, are_models: bool) -> Any:
    return kernels("mixed").Graphs(read_only(planes, np.uint64), read_only(models, np.uint64), are_models)
