"""Random MAGs and PAGs for the null models `edges`, `orientation` and `oracle_skeleton`; ADMGs and skeletons."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .....contract.law import ClosedForm
from .....contract.metric import Metric
from .....contract.null import Controls, Matching
from .....execution.engines import stop_if_unwanted
from .....graphs.kernels import mixed_kernels
from .....graphs.kernels.planes import ADMG, MAG, PAG, SKELETON
from .....graphs.mixed.marks import adjacencies, bidirected, count_bits, count_edges, lift
from .....graphs.pairs import GraphBatch, GraphPairs
from ..graph_controls import constant
from ..hypergeometric import hypergeometric
from .admgs import assigned_admgs, random_admgs, random_skeletons
from .matching import Drawn, LatentControls, check_bidirected, latent_kinds, refuse_fixed_order
from .pilots import MOST_PROPOSALS, Cell, Proposal, best_proposal, free_proposal

Planes = NDArray[np.uint64]
Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]

#: nanoseconds that a proposal takes for each node and edge, roughly, and those that a call may take
_PACE, _AT_ONCE = 80.0, 2e8


def latent_edges(matching: Matching, rows: Ints, pairs: GraphPairs, keys: Keys) -> Controls:
    """Match controls to their rows' classes, numbers of edges and of bidirected edges, as `edges_controls` states."""
    refuse_fixed_order(matching)
    return _by_class(matching, rows, pairs, keys, pairs.estimate, pairs.estimate_index, skeletons=False)


def latent_orientation(
    matching: Matching, rows: Ints, pairs: GraphPairs, keys: Keys, *, of_truth: bool = False
) -> Controls:
    """Keep the skeleton of estimate or truth and the number of bidirected edges, by the law of `latent_edges`.

    ADMGs keep their numbers of directed and of bidirected edges: which adjacent nodes have which, or both, is uniform,
    and directions follow a uniform order.
    """
    if matching.options.get("orientation_law", "order") != "order":
        raise ValueError(
            "orientation_law='uniform' directs the edges of DAGs; graphs with latent confounders are directed along "
            "random orders: leave orientation_law out"
        )
    source = (pairs.truth, pairs.truth_index) if of_truth else (pairs.estimate, pairs.estimate_index)
    return _by_class(matching, rows, pairs, keys, *source, skeletons=True)


def _by_class(
    matching: Matching, rows: Ints, pairs: GraphPairs, keys: Keys, graphs: GraphBatch, index: Ints, *, skeletons: bool
) -> Controls:
    """Draw MAGs and PAGs, ADMGs, and skeletons, each by its law; rows of all classes may stand side by side."""
    kinds = latent_kinds(matching, rows, pairs)
    if skeletons and (kinds == SKELETON).any():
        row = rows[(kinds == SKELETON).argmax()]
        raise ValueError(
            f"row {row}: the estimate is a skeleton, whose edges have no direction to draw; take null='edges' or "
            "null='permutation'"
        )
    made = _Graphs(pairs, kinds, keys, lift(graphs.planes[index]), skeletons, check_bidirected(matching) == "free")
    return LatentControls(pairs, kinds, made.known, made.pace, made.reasons, made.draw)


class _Graphs:
    """The random graphs of a batch, matched to graphs in `planes`, one per row."""

    def __init__(
        self, pairs: GraphPairs, kinds: NDArray[np.uint8], keys: Keys, planes: Planes, skeletons: bool, free: bool
    ) -> None:
        self._pairs, self._kinds, self._keys, self._planes = pairs, kinds, keys, planes
        self._skeletons, self._free = skeletons, free
        self._n_edges, self._shown = count_edges(planes), count_bits(bidirected(planes))
        near = adjacencies(planes)
        self._kept = np.stack([near, near], axis=1)
        self._ancestral = np.isin(kinds, (MAG, PAG))
        proposals = [self._proposal(i) if found else Proposal(0, 1.0) for i, found in enumerate(self._ancestral)]
        self._drawable = np.array([x is not None for x in proposals], bool)
        self._proposed = np.array([0 if x is None else x.n_bidirected for x in proposals], np.int64)
        size = _PACE * (pairs.n_nodes + self._n_edges)
        #: nanoseconds that a draw of each row takes
        self._paces = size * np.array([0.0 if x is None else 1 / x.kept for x in proposals])
        self.pace = float((self._paces + size / 4).mean()) if pairs.n else 0.0

    def _proposal(self, i: int) -> Proposal | None:
        skeleton = self._kept[i].tobytes() if self._skeletons else b""
        cell = Cell(self._pairs.n_nodes, int(self._n_edges[i]), skeleton)
        if self._free:
            return free_proposal(cell)
        return best_proposal(cell, int(self._shown[i]), to_pag=bool(self._kinds[i] == PAG))

    @property
    def reasons(self) -> NDArray[np.object_]:
        """Why rows have no controls, or ""."""
        found = zip(self._drawable.tolist(), self._n_edges.tolist(), self._shown.tolist(), strict=True)
        return np.array([_reason(self._pairs.n_nodes, m, b) if not able else "" for able, m, b in found], object)

    def draw(self, start: int, count: int) -> Drawn:
        """Draw graphs of every row, the draws of a row together."""
        d, shape = self._pairs.n_nodes, self._planes.shape[1:]
        out = np.zeros((self._pairs.n, count, *shape), np.uint64)
        lacking = np.repeat(~self._drawable[:, None], count, axis=1)
        mine = np.flatnonzero(self._ancestral & self._drawable)
        # rare graphs take many proposals, and an interrupt is obeyed between calls
        step = max(1, int(_AT_ONCE / max(1.0, self._paces[mine].sum())))
        for first, last in pairwise([*range(0, count, step), count] if len(mine) else []):
            stop_if_unwanted()
            planes, found = self._draw_ancestral(mine, start + first, last - first)
            out[mine, first:last] = planes.reshape(len(mine), last - first, *shape)
            lacking[mine, first:last] = found.reshape(len(mine), -1) < 0
        for kind, draw in ((ADMG, assigned_admgs if self._skeletons else random_admgs), (SKELETON, random_skeletons)):
            mine = np.flatnonzero(self._kinds == kind)
            if len(mine):
                planes = draw(d, self._planes[mine], self._keys[mine], start, count)
                out[mine] = planes.reshape(len(mine), count, *shape)
        batch = GraphBatch(d, out.reshape(-1, *shape), np.repeat(self._kinds, count))
        return Drawn(batch, lacking.reshape(-1) if lacking.any() else None)

    def _draw_ancestral(self, mine: Ints, start: int, count: int) -> tuple[Planes, Ints]:
        """Draw MAGs and PAGs; return also the numbers of bidirected edges, negative where none was found."""
        shown = np.full(len(mine), mixed_kernels().ANY) if self._free else self._shown[mine]
        given = {"skeletons": self._kept[mine], "index": np.arange(len(mine))} if self._skeletons else {}
        numbers = (self._n_edges[mine], self._proposed[mine], shown, self._kinds[mine] == PAG)
        found: tuple[Planes, Ints] = mixed_kernels().draw_latent(
            self._pairs.n_nodes, *numbers, self._keys[mine], start, count, MOST_PROPOSALS, **given
        )
        return found

    def known(self, metric: Metric) -> ClosedForm | None:
        """Return the exact law of functions of the skeleton where that is kept, or uniform as no proposal is lost."""
        if metric.closed_form != "hypergeometric":
            return None
        pairs = self._pairs
        if self._skeletons:
            kept = GraphBatch(pairs.n_nodes, self._planes, pairs.estimate.kinds[pairs.estimate_index])
            value = metric(replace(pairs, estimate=kept, estimate_index=np.arange(pairs.n), room=()))
            return constant(value[self._drawable]).spread(self._drawable)
        some = (self._kinds == SKELETON) | (self._ancestral & np.isin(self._proposed, (0, -1)))
        if not some.any():
            return None
        true = count_bits(adjacencies(pairs.truth.planes))[pairs.truth_index]
        return hypergeometric(metric, pairs.n_nodes, true[some], self._n_edges[some]).spread(some)


def _reason(n_nodes: int, n_edges: int, shown: int) -> str:
    return (
        f"none with {n_edges} edges, {shown} of them <->, over {n_nodes} nodes among {MOST_PROPOSALS:,} proposals; "
        "take null='permutation', or bidirected='free'"
    )
