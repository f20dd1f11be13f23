"""Random MAGs and PAGs for the null models `edges`, `orientation` and `oracle_skeleton`; ADMGs and skeletons."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ....contract.null import Controls, Matching
from ....execution.engines import stop_if_unwanted
from ....execution.random_streams import random_words
from ....graphs.kernels import control_kernels, kernels, mixed_kernels
from ....graphs.kernels.planes import ADMG, MAG, PAG, SKELETON
from ....graphs.mixed.marks import adjacencies, bidirected, count_bits, count_edges, directed_part, lift, lines
from ....graphs.pairs import GraphBatch, GraphPairs
from .matching import Drawn, LatentControls, check_bidirected, latent_kinds, refuse_fixed_order
from .pilots import MOST_PROPOSALS, Cell, Proposal, best_proposal, free_proposal

Planes = NDArray[np.uint64]
Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]

#: nanoseconds that a proposal takes for each node and edge, roughly, and proposals that are made at once
_PACE, _AT_ONCE = 80.0, 2e8
#: sets the streams of bidirected edges of ADMGs apart from those of directed ones
_BIDIRECTED, _NEXT = np.uint64(0xA24BAED4963EE407), np.uint64(0x9E3779B97F4A7C15)


def latent_edges(matching: Matching, rows: Ints, pairs: GraphPairs, keys: Keys) -> Controls:
    """Match every control to its row's class, number of edges and number of bidirected edges.

    MAGs, and PAGs of MAGs: a uniform skeleton, directed along a uniform order except for a uniform set of bidirected
    edges, given that it is a MAG and that it, or its PAG, shows the numbers of the estimate. ADMGs: a uniform skeleton
    directed along a uniform order, and independently a uniform set of pairs that are bidirected. Skeletons: uniform.
    """
    refuse_fixed_order(matching)
    return _by_class(matching, rows, pairs, keys, pairs.estimate, pairs.estimate_index, skeletons=False)


def latent_orientation(
    matching: Matching, rows: Ints, pairs: GraphPairs, keys: Keys, *, of_truth: bool = False
) -> Controls:
    """Keep the skeleton of the estimate, or of the truth, and its number of bidirected edges.

    The law is that of `latent_edges` given the skeleton. ADMGs keep their numbers of directed and of bidirected edges:
    which adjacent nodes have which, or both, is uniform, and directions follow a uniform order.
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
    d, free = pairs.n_nodes, check_bidirected(matching) == "free"
    planes = lift(graphs.planes[index])
    shown, n_edges = count_bits(bidirected(planes)), count_edges(planes)
    both = adjacencies(planes)
    kept = np.stack([both, both], axis=1)
    ancestral = np.isin(kinds, (MAG, PAG))
    proposals: list[Proposal | None] = [Proposal(0, 1.0)] * pairs.n
    for i in np.flatnonzero(ancestral).tolist():
        cell = Cell(d, int(n_edges[i]), kept[i].tobytes() if skeletons else b"")
        proposals[i] = free_proposal(cell) if free else best_proposal(cell, int(shown[i]), to_pag=bool(kinds[i] == PAG))
    reasons = np.array(
        [_reason(d, m, b) if x is None else "" for x, m, b in zip(proposals, n_edges, shown, strict=True)], object
    )
    drawable = np.array([x is not None for x in proposals], bool)
    number = np.array([0 if x is None else x.n_bidirected for x in proposals], np.int64)
    per_draw = np.array([0.0 if x is None else 1 / x.kept for x in proposals]) * _PACE * (d + n_edges)

    def draw_ancestral(mine: Ints, start: int, count: int) -> tuple[Planes, Ints]:
        wanted = np.full(len(mine), mixed_kernels().ANY) if free else shown[mine]
        given = {"skeletons": kept[mine], "index": np.arange(len(mine))} if skeletons else {}
        found: tuple[Planes, Ints] = mixed_kernels().draw_latent(
            d,
            n_edges[mine],
            number[mine],
            wanted,
            kinds[mine] == PAG,
            keys[mine],
            start,
            count,
            MOST_PROPOSALS,
            **given,
        )
        return found

    def drawn(start: int, count: int) -> Drawn:
        out = np.zeros((pairs.n, count, *planes.shape[1:]), np.uint64)
        lacking = np.repeat(~drawable[:, None], count, axis=1)
        mine = np.flatnonzero(ancestral & drawable)
        # rare graphs take many proposals, and an interrupt is obeyed between calls
        step = max(1, int(_AT_ONCE / max(1.0, per_draw[mine].sum())))
        for first, last in pairwise([*range(0, count, step), count] if len(mine) else []):
            stop_if_unwanted()
            some, found = draw_ancestral(mine, start + first, last - first)
            out[mine, first:last] = some.reshape(len(mine), last - first, *planes.shape[1:])
            lacking[mine, first:last] = found.reshape(len(mine), -1) < 0
        for kind, draw in ((ADMG, _assigned_admgs if skeletons else _random_admgs), (SKELETON, _random_skeletons)):
            mine = np.flatnonzero(kinds == kind)
            if len(mine):
                out[mine] = draw(d, planes[mine], keys[mine], start, count).reshape(len(mine), count, *planes.shape[1:])
        batch = GraphBatch(d, out.reshape(-1, *planes.shape[1:]), np.repeat(kinds, count))
        return Drawn(batch, lacking.reshape(-1) if lacking.any() else None)

    each = float((per_draw + 20.0 * (d + n_edges)).mean()) if pairs.n else 0.0
    return LatentControls(
        pairs, kinds, lambda start, count: drawn(start, count).graphs, drawn=drawn, each=each, reasons=reasons
    )


def _reason(n_nodes: int, n_edges: int, shown: int) -> str:
    return (
        f"none with {n_edges} edges, {shown} of them <->, over {n_nodes} nodes among {MOST_PROPOSALS:,} proposals; "
        "take null='permutation', or bidirected='free'"
    )


def _random_skeletons(d: int, planes: Planes, keys: Keys, start: int, count: int) -> Planes:
    """Draw uniform skeletons with the numbers of edges of graphs."""
    return lines(_pairs(d, count_edges(planes), keys, start, count))


def _pairs(d: int, n_edges: Ints, keys: Keys, start: int, count: int) -> NDArray[np.uint64]:
    """Return the bits (n * count, W) of uniform sets of pairs."""
    drawn = kernels().draw_graphs(d, n_edges[:, None], np.zeros(len(keys), bool), keys, start, count)
    return np.asarray(drawn[:, 0] | drawn[:, 1])


def _random_admgs(d: int, planes: Planes, keys: Keys, start: int, count: int) -> Planes:
    """Draw directed and bidirected edges independently, as many as graphs have."""
    n_both = count_bits(bidirected(planes))
    n_directed = count_edges(planes) - n_both
    arrows = kernels().draw_graphs(d, n_directed[:, None], np.zeros(len(keys), bool), keys, start, count)
    return _admgs(arrows, _pairs(d, n_both, keys ^ _BIDIRECTED, start, count))


def _admgs(arrows: Planes, both: NDArray[np.uint64]) -> Planes:
    """Join directed graphs (N, 2, W) and sets of bidirected pairs (N, W); a pair may have both edges."""
    forward, backward = arrows[:, 0], arrows[:, 1]
    alone = [forward & ~both, backward & ~both]
    return np.stack([alone[0], backward | (both & ~forward), alone[1], forward | (both & ~backward)], axis=1)


def _assigned_admgs(d: int, planes: Planes, keys: Keys, start: int, count: int) -> Planes:
    """Draw which adjacent nodes have a directed edge, a bidirected one or both; directions follow random orders."""
    near, both = adjacencies(planes), bidirected(planes)
    arrows = directed_part(planes)
    n_pairs, n_both = count_bits(near), count_bits(both)
    n_double = count_bits(both & (arrows[:, 0] | arrows[:, 1]))
    index = np.arange(len(keys), dtype=np.int64)[:, None]
    directed = control_kernels().orient_graphs(np.stack([near, near], axis=1), d, index, keys, start, count)
    alone, confounded = np.zeros((2, len(keys), count, planes.shape[2]), np.uint64)
    for i in range(len(keys)):
        places = np.flatnonzero(np.unpackbits(near[i].view(np.uint8), bitorder="little"))
        streams = (keys[i] ^ _BIDIRECTED) + np.arange(1, n_pairs[i] + 1, dtype=np.uint64) * _NEXT
        order = places[np.argsort(random_words(streams, start, count), axis=0, kind="stable")]
        # first those that are bidirected alone, then those with both edges
        n_alone = int(n_both[i] - n_double[i])
        for chosen, into in ((order[:n_alone], alone), (order[: n_both[i]], confounded)):
            bits = np.zeros((count, 64 * planes.shape[2]), np.uint8)
            np.put_along_axis(bits, chosen.T, 1, axis=1)
            into[i] = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    words = planes.shape[2]
    return _admgs(directed & ~alone.reshape(-1, 1, words), confounded.reshape(-1, words))
