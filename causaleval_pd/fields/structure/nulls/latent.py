"""Controls of graphs with latent confounders: of `edges`, `orientation`, `oracle_skeleton`, and `latent_dag`.

A MAG with b' bidirected edges shows fewer in its PAG, so that controls that show b are not PAGs of MAGs with b. They
are drawn from proposals with another number, and kept if they show b. Any number gives valid p-values, because it
depends on nothing but what the cell shows: nodes, edges (or the skeleton) and b. It is the number with most proposals
kept in a pilot, whose random stream these name. ADMGs and skeletons need no proposals.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....contract.checks import check_choice, check_number, check_whole
from ....contract.law import ClosedForm
from ....contract.metric import Metric
from ....contract.null import Controls, Matching
from ....execution.engines import stop_if_unwanted
from ....execution.random_streams import random_words
from ....graphs.kernels import kernels
from ....graphs.kernels.planes import ADMG, KINDS, MAG, MIXED, PAG, SKELETON
from ....graphs.mixed.marks import adjacencies, bidirected, count_bits, count_edges, doubles, is_mixed, lift, lines
from ....graphs.mixed.paths import check_size, mag_to_pag, project
from ....graphs.pairs import GraphBatch, GraphPairs
from .graph_controls import NEXT_WORD, Drawn, check_declared, constant, describe_cell, graph_controls
from .laws import hypergeometric

Planes = NDArray[np.uint64]
Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]
Kinds = NDArray[np.uint8]

#: proposals of a pilot for each number of bidirected edges, and where none of these was kept
PILOTS = (250, 2000)
#: numbers that are tried at most
_MOST_NUMBERS = 33
#: proposals that a control may take
MOST_PROPOSALS = 100_000


class Proposal(NamedTuple):
    """Bidirected edges of proposals (-1 - k for a random number from 0 to k), and the share of them that is kept."""

    n_bidirected: int
    kept: float


class Cell(NamedTuple):
    """What controls are matched to: nodes, edges, and the skeleton's two planes where it is kept (else empty)."""

    n_nodes: int
    n_edges: int
    skeleton: bytes = b""


def _tally(cell: Cell, numbers: list[int], n: int, *, to_pag: bool, shown: int, tries: int = 1) -> NDArray[np.float64]:
    """Return the share of draws that are kept, for each number of bidirected edges."""
    names = [hashlib.blake2b(repr((*cell, b, to_pag)).encode(), digest_size=8).digest() for b in numbers]
    keys, k = np.frombuffer(b"".join(names), np.uint64), len(numbers)
    arguments: dict[str, Any] = {"write": False}
    if cell.skeleton:
        arguments |= {
            "skeletons": np.frombuffer(cell.skeleton, np.uint64).reshape(1, 2, -1),
            "index": np.zeros(k, np.int64),
        }
    mixed = kernels("mixed")
    wanted = np.full(k, cell.n_edges), numbers, np.full(k, shown if to_pag else mixed.ANY), np.full(k, to_pag)
    _, n_bidirected = mixed.draw_latent(cell.n_nodes, *wanted, keys, 0, n, tries, **arguments)
    return np.asarray((n_bidirected >= 0).reshape(k, n).mean(axis=1))


@lru_cache(maxsize=1 << 16)
def best_proposal(cell: Cell, shown: int, *, to_pag: bool) -> Proposal | None:
    """Return the proposals of controls that show a number of bidirected edges, None if no control was found."""
    if not shown:
        return Proposal(0, 1.0)
    numbers = [shown]
    if to_pag:
        spaced = np.linspace(shown, cell.n_edges, min(_MOST_NUMBERS, cell.n_edges - shown + 1))
        numbers = np.unique(spaced.round().astype(int)).tolist()
    for n in PILOTS:
        kept = _tally(cell, numbers, n, to_pag=to_pag, shown=shown)
        if kept.any():
            return Proposal(numbers[int(kept.argmax())], float(kept.max()))
    [share] = _tally(cell, [shown], 1, to_pag=to_pag, shown=shown, tries=MOST_PROPOSALS)
    return Proposal(shown, 2 / MOST_PROPOSALS) if share else None


@lru_cache(maxsize=1 << 16)
def free_proposal(cell: Cell) -> Proposal:
    """Return proposals with any number of bidirected edges up to half of all edges at which MAGs are not rare."""
    least, most = 1.0, 0
    for number in range(1, cell.n_edges // 2 + 1):
        [kept] = _tally(cell, [number], PILOTS[0], to_pag=False, shown=number)
        if not kept:
            break
        least, most = float(kept), number
    return Proposal(-1 - most, least)


#: sets the streams of bidirected edges apart from those of directed ones
_BOTH = np.uint64(0xA24BAED4963EE407)


def random_skeletons(d: int, planes: Planes, keys: Keys, start: int, count: int) -> Planes:
    """Draw uniform skeletons with the numbers of edges of graphs."""
    return lines(_pairs(d, count_edges(planes), keys, start, count))


def _pairs(d: int, n_edges: Ints, keys: Keys, start: int, count: int) -> NDArray[np.uint64]:
    """Return the bits (n * count, W) of uniform sets of pairs."""
    drawn = kernels().draw_graphs(d, n_edges[:, None], np.zeros(len(keys), bool), keys, start, count)
    return np.asarray(drawn[:, 0] | drawn[:, 1])


def random_admgs(d: int, planes: Planes, keys: Keys, start: int, count: int) -> Planes:
    """Draw directed and bidirected edges independently, as many as graphs have."""
    n_both = count_bits(bidirected(planes))
    n_directed = count_edges(planes) - n_both
    arrows = kernels().draw_graphs(d, n_directed[:, None], np.zeros(len(keys), bool), keys, start, count)
    return _admgs(arrows, _pairs(d, n_both, keys ^ _BOTH, start, count))


def _admgs(arrows: Planes, both: NDArray[np.uint64]) -> Planes:
    """Join directed graphs (N, 2, W) and sets of bidirected pairs (N, W); a pair may have both edges."""
    forward, backward = arrows[:, 0], arrows[:, 1]
    alone = [forward & ~both, backward & ~both]
    return np.stack([alone[0], backward | (both & ~forward), alone[1], forward | (both & ~backward)], axis=1)


def assigned_admgs(d: int, planes: Planes, keys: Keys, start: int, count: int) -> Planes:
    """Draw which adjacent nodes have a directed edge, a bidirected one or both; directions follow random orders."""
    near = adjacencies(planes)
    n_pairs, n_both, n_double = (count_bits(x) for x in (near, bidirected(planes), doubles(planes)))
    index = np.arange(len(keys), dtype=np.int64)[:, None]
    directed = kernels("controls").orient_graphs(np.stack([near, near], axis=1), d, index, keys, start, count)
    alone, confounded = np.zeros((2, len(keys), count, planes.shape[2]), np.uint64)
    for i in range(len(keys)):
        places = np.flatnonzero(np.unpackbits(near[i].view(np.uint8), bitorder="little"))
        streams = (keys[i] ^ _BOTH) + np.arange(1, n_pairs[i] + 1, dtype=np.uint64) * NEXT_WORD
        order = places[np.argsort(random_words(streams, start, count), axis=0, kind="stable")]
        # first those that are bidirected alone, then those with both edges
        n_alone = int(n_both[i] - n_double[i])
        for chosen, into in ((order[:n_alone], alone), (order[: n_both[i]], confounded)):
            bits = np.zeros((count, 64 * planes.shape[2]), np.uint8)
            np.put_along_axis(bits, chosen.T, 1, axis=1)
            into[i] = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    words = planes.shape[2]
    return _admgs(directed & ~alone.reshape(-1, 1, words), confounded.reshape(-1, words))


#: bytes that a word of a plane takes besides: its graph has four planes, twice
_SCRATCH = 48

#: classes by which estimates of a class may be matched; the first is the default
_CLASSES = {MAG: (MAG, PAG), PAG: (PAG, MAG), ADMG: (ADMG,), SKELETON: (SKELETON,), MIXED: (PAG, MAG)}

#: option of null models that draw bidirected edges
BIDIRECTED = {"bidirected": "matched"}


def check_bidirected(matching: Matching) -> str:
    """Return how bidirected edges are drawn, after checking it."""
    word = matching.options.get("bidirected", "matched")
    check_choice(word, ("matched", "free"), "bidirected")
    return str(word)


def latent_kinds(matching: Matching, rows: NDArray[np.int64], pairs: GraphPairs) -> Kinds:
    """Return the class of each row's controls: MAG, PAG, ADMG or skeleton; mixed graphs need a `control_kind`."""
    check_declared(matching, rows, pairs)
    estimate_kinds = pairs.estimate.kinds[pairs.estimate_index]
    words = np.full(len(rows), None, object) if matching.control_kind is None else matching.control_kind[rows]
    control_kinds = np.empty(len(rows), np.uint8)
    for i, (row, kind, word) in enumerate(zip(rows.tolist(), estimate_kinds.tolist(), words, strict=True)):
        names = [KINDS[other] for other in _CLASSES[kind]]
        stated = not pd.isna(word)
        if kind == MIXED and not stated:
            raise ValueError(
                f"{describe_cell(matching, row, 'estimate', kind)}, not the PAG of any MAG; pass control_kind='pag' to "
                "match it by PAGs with its numbers of edges and of <->, or null='permutation', which keeps it as it is"
            )
        if stated and word not in names:
            raise ValueError(
                f"{describe_cell(matching, row, 'estimate', kind)}, and control_kind is {word!r}; controls of "
                f"{KINDS[kind]} estimates are {' or '.join(names)}: state one of these words, or a column that holds "
                "them"
            )
        control_kinds[i] = KINDS.index(word if stated else names[0])
    return control_kinds


#: nanoseconds that a proposal takes for each node and edge, roughly, and those that a call may take
_PACE, _AT_ONCE = 80.0, 2e8


def latent_graphs(
    matching: Matching, rows: Ints, pairs: GraphPairs, keys: Keys, planes: Planes, *, skeletons: bool
) -> Controls:
    """Match the numbers of edges of graphs as `edges_controls`, or their skeletons as `orientation_controls` states."""
    if not matching.options.get("permute", True):
        raise ValueError(
            "permute=False directs the edges of DAGs along the order of the nodes' names; graphs with latent "
            "confounders are drawn along random orders: leave permute out"
        )
    if matching.options.get("orientation_law", "order") != "order":
        raise ValueError(
            "orientation_law='uniform' directs the edges of DAGs; graphs with latent confounders are directed along "
            "random orders: leave orientation_law out"
        )
    kinds = latent_kinds(matching, rows, pairs)
    if skeletons and (kinds == SKELETON).any():
        where = matching.where(rows[(kinds == SKELETON).argmax()])
        raise ValueError(
            f"{where}: the estimate is a skeleton, whose edges have no direction to draw; take null='edges' or "
            "null='permutation'"
        )
    return _drawn_graphs(pairs, kinds, keys, lift(planes), skeletons, check_bidirected(matching) == "free")


def _drawn_graphs(pairs: GraphPairs, kinds: Kinds, keys: Keys, planes: Planes, skeletons: bool, free: bool) -> Controls:
    """Return the random graphs of a batch, matched to graphs in `planes`, one per row."""
    d, shape = pairs.n_nodes, planes.shape[1:]
    n_edges, shown, near = count_edges(planes), count_bits(bidirected(planes)), adjacencies(planes)
    kept, to_pag, ancestral = np.stack([near, near], axis=1), kinds == PAG, np.isin(kinds, (MAG, PAG))

    def proposal(i: int) -> Proposal | None:
        if not ancestral[i]:
            return Proposal(0, 1.0)
        cell = Cell(d, int(n_edges[i]), kept[i].tobytes() if skeletons else b"")
        return free_proposal(cell) if free else best_proposal(cell, int(shown[i]), to_pag=bool(to_pag[i]))

    proposals = [proposal(i) for i in range(pairs.n)]
    drawable = np.array([x is not None for x in proposals], bool)
    proposed = np.array([0 if x is None else x.n_bidirected for x in proposals], np.int64)
    size = _PACE * (d + n_edges)
    #: nanoseconds that a draw of each row takes
    paces = size * np.array([0.0 if x is None else 1 / x.kept for x in proposals])
    reasons = [
        ""
        if is_drawable
        else f"none with {m} edges, {b} of them <->, over {d} nodes among {MOST_PROPOSALS:,} proposals; take "
        "null='permutation', or bidirected='free'"
        for is_drawable, m, b in zip(drawable.tolist(), n_edges.tolist(), shown.tolist(), strict=True)
    ]

    def graphs(start: int, count: int) -> Drawn:
        out = np.zeros((pairs.n, count, *shape), np.uint64)
        lacking = np.repeat(~drawable[:, None], count, axis=1)
        mine = np.flatnonzero(ancestral & drawable)
        mixed = kernels("mixed")
        limits = np.full(len(mine), mixed.ANY) if free else shown[mine]
        wanted = (n_edges[mine], proposed[mine], limits, to_pag[mine], keys[mine])
        arguments = {"skeletons": kept[mine], "index": np.arange(len(mine))} if skeletons else {}
        # rare graphs take many proposals, and an interrupt is obeyed between calls
        step = max(1, int(_AT_ONCE / max(1.0, paces[mine].sum())))
        for first in range(0, count if len(mine) else 0, step):
            stop_if_unwanted()
            part = slice(first, min(first + step, count))
            n = part.stop - first
            drawn, n_bidirected = mixed.draw_latent(d, *wanted, start + first, n, MOST_PROPOSALS, **arguments)
            out[mine, part] = drawn.reshape(len(mine), n, *shape)
            lacking[mine, part] = n_bidirected.reshape(len(mine), n) < 0
        for kind, draw in ((ADMG, assigned_admgs if skeletons else random_admgs), (SKELETON, random_skeletons)):
            mine = np.flatnonzero(kinds == kind)
            if len(mine):
                out[mine] = draw(d, planes[mine], keys[mine], start, count).reshape(len(mine), count, *shape)
        batch = GraphBatch(d, out.reshape(-1, *shape), np.repeat(kinds, count))
        return batch, lacking.reshape(-1) if lacking.any() else None

    def known(metric: Metric) -> ClosedForm | None:
        """Return the exact law of functions of the skeleton where that is kept, or uniform as no proposal is lost."""
        if metric.closed_form != "hypergeometric":
            return None
        if skeletons:
            same = GraphBatch(d, planes, pairs.estimate.kinds[pairs.estimate_index])
            value = metric(replace(pairs, estimate=same, estimate_index=np.arange(pairs.n)))
            return constant(value[drawable]).spread(drawable)
        some = (kinds == SKELETON) | (ancestral & np.isin(proposed, (0, -1)))
        if not some.any():
            return None
        true = count_bits(adjacencies(pairs.truth.planes))[pairs.truth_index]
        return hypergeometric(metric, d, true[some], n_edges[some]).spread(some)

    work = float((paces + size / 4).mean()) if pairs.n else 0.0
    return graph_controls(pairs, kinds, graphs, known, scratch=_SCRATCH * planes.shape[2], work=work, reasons=reasons)


#: graphs by which the mean number of edges of a projection is found
_PILOT = 400
#: nanoseconds that a projected DAG takes for each of its nodes, squared
_PACE_OF_DAG = 100.0


def check_latents(matching: Matching) -> tuple[int, float | None]:
    """Return the number of latent nodes and the density of the DAGs, after checking them."""
    n_latents, density = matching.options["n_latents"], matching.options["density"]
    if n_latents is None:
        raise ValueError("null='latent_dag' needs the number of latent nodes: ce.null_model('latent_dag', n_latents=2)")
    number = check_whole(n_latents, "n_latents", 0)
    return number, None if density is None else check_number(density, "density", "[0, 1]")


def latent_dag_controls(matching: Matching, rows: Ints, pairs: Any, keys: Keys) -> Controls:
    """Draw DAGs over observed and latent nodes, and project them to the estimate's class."""
    if not is_mixed(pairs.estimate.planes):
        cell = describe_cell(matching, rows[0], "estimate", pairs.estimate.kinds[pairs.estimate_index[0]])
        raise ValueError(f"{cell}, and null='latent_dag' draws mag, pag, admg and skeleton; take null='edges'")
    kinds = latent_kinds(matching, rows, pairs)
    (n_latents, density), d = matching.prepared, pairs.n_nodes
    n = d + n_latents
    check_size(n)
    if density is None:
        wanted = count_edges(pairs.estimate.planes)[pairs.estimate_index]
        shown = zip(wanted.tolist(), kinds.tolist(), strict=True)
        n_edges = np.array([fitted_edges(d, n_latents, m, kind) for m, kind in shown], np.int64)
    else:
        n_edges = np.full(pairs.n, round(density * (n * (n - 1) // 2)), np.int64)

    def graphs(start: int, count: int) -> GraphBatch:
        every = np.repeat(kinds, count)
        planes = np.zeros((len(every), *pairs.estimate.planes.shape[1:]), np.uint64)
        for kind in np.unique(kinds).tolist():
            mine = kinds == kind
            planes[every == kind] = _project(d, n_latents, n_edges[mine], kind, keys[mine], start, count)
        return GraphBatch(d, planes, every)

    scratch = _SCRATCH * pairs.estimate.planes.shape[2]
    return graph_controls(pairs, kinds, graphs, scratch=scratch, work=_PACE_OF_DAG * n * n)


def _project(d: int, n_latents: int, n_edges: Ints, kind: int, keys: Keys, start: int, count: int) -> Planes:
    """Draw DAGs and project them onto the first d nodes; names are exchangeable, so that any nodes may be latent."""
    n = d + n_latents
    dags = kernels().draw_graphs(n, n_edges[:, None], np.zeros(len(keys), bool), keys, start, count)
    observed = np.tile(np.arange(d), (len(dags), 1))
    projections = project(dags, n, observed, to_admg=kind == ADMG)
    if kind == SKELETON:
        return lines(adjacencies(projections))
    return mag_to_pag(projections, d) if kind == PAG else projections


@lru_cache(maxsize=1 << 14)
def fitted_edges(d: int, n_latents: int, wanted: int, kind: int) -> int:
    """Return the number of edges of DAGs whose projections have as many edges as wanted, nearest in the mean."""
    n = d + n_latents
    name = np.frombuffer(hashlib.blake2b(f"{d} {n_latents}".encode(), digest_size=8).digest(), np.uint64)

    def mean(n_edges: int) -> float:
        # a PAG has the edges of its MAG
        made = _project(d, n_latents, np.array([n_edges]), ADMG if kind == ADMG else SKELETON, name, 0, _PILOT)
        return float(count_edges(made).mean())

    reached = bisect_left(range(n * (n - 1) // 2), float(wanted), key=mean)
    return reached - 1 if reached and wanted - mean(reached - 1) < mean(reached) - wanted else reached
