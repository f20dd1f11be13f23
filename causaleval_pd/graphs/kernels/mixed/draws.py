"""Compiled random MAGs and PAGs with given numbers of edges and of bidirected edges, by proposals and rejection.

A proposal has a uniform skeleton, or a given one, whose edges are directed along a uniform order of the nodes, except
for a uniform set of them that is bidirected. It is kept if it is a maximal ancestral graph (MAG) and, for PAGs, if its
PAG shows as many bidirected edges as asked for. Proposals are made and tested on ranks; nodes are named at the end.
R0-R4 find all heads of a PAG, so that bidirected edges are counted before R8-R10.

Every draw has a stream of its own, as in `draws` of the folder above.

References
----------
Ali, Richardson, Spirtes & Zhang (2005), Towards characterizing Markov equivalence classes for directed acyclic graphs
with latent variables, UAI, for the completeness of R0-R4 for heads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from .. import bits
from ..draws import STEP, draw_pairs, mix, shuffle, stream, two_below
from ..inputs import Ints, Words, checked_planes, read_only
from ..planes import N_MIXED_PLANES, N_PLANES, plane_words, row_words
from .classes import Scratch, begin, is_maximal, orient_heads, orient_tails, scratch_for
from .rows import Rows, clear, empty_rows, set_head, set_tail, write_marks

#: instead of the number of bidirected edges that a PAG shows
ANY = -1
#: instead of the number of bidirected edges of a draw, where no proposal was kept
_NONE_KEPT = -1


class DrawRoom(NamedTuple):
    """Memory for proposals."""

    mag: Rows
    pag: Rows
    #: (d, words): parents; ancestors
    parents: Words
    above: Words
    #: (d,): ranks of nodes, nodes of ranks
    ranks: Words
    names: Words
    #: (4, E): ends of edges as ranks; as nodes
    edges: Words
    scratch: Scratch


class MagLaws(NamedTuple):
    """What is drawn, one row each, (n,)."""

    #: number of edges, unless the skeleton is given
    n_edges: Ints
    #: number of bidirected edges of proposals; -1 - k for one that is drawn from 0 to k once per graph
    proposed: Ints
    #: number that the PAG shows, or `ANY`
    shown: Ints
    #: whether MAGs are mapped to their PAGs
    to_pag: NDArray[np.bool_]
    keys: Words


@kernel_part
def _choose_first(state: np.uint64, chosen: int, m: int, low: Words, high: Words) -> np.uint64:
    """Bring a uniform choice of edges to the front."""
    bits.compact()
    e = 0
    while e < chosen:
        state += STEP
        accepted, place, _ = two_below(mix(state), np.uint64(m - e), bits.ONE)
        if accepted:
            i = np.uint64(e) + place
            low[e], low[i] = low[i], low[e]
            high[e], high[i] = high[i], high[e]
            e += 1
    return state


@kernel_part
def _fill_mag(
    low: Words, high: Words, m: int, n_bidirected: int, parents: Words, above: Words, mag: Rows, rows: Words
) -> bool:
    """Fill the graph of the edges, the first of them bidirected, others up the ranks; return whether it is a MAG."""
    bits.compact()
    words = np.uint64(parents.shape[1])
    if n_bidirected:
        parents[:] = bits.ZERO
        for e in range(n_bidirected, m):
            bits.add(parents[high[e]], low[e])
        for y in range(np.uint64(parents.shape[0])):
            bits.copy_row(parents[y], above[y], parents.shape[1])
            for w in range(words):
                for x in bits.members(w, parents[y, w]):
                    for k in range(words):
                        above[y, k] |= above[x, k]
        for e in range(n_bidirected):
            if bits.has(above[high[e]], low[e]):
                return False
    clear(mag)
    for e in range(m):
        a, b = low[e], high[e]
        bits.add(mag.near[a], b)
        bits.add(mag.near[b], a)
        set_head(mag, b, a)
        if e < n_bidirected:
            set_head(mag, a, b)
        else:
            set_tail(mag, a, b)
    # an inducing path between nodes that are not adjacent has two bidirected edges at least
    return n_bidirected < 2 or is_maximal(mag, above, rows, False)


@kernel_part
def _count_bidirected(g: Rows) -> int:
    ends = 0
    for v in range(g.near.shape[0]):
        for w in range(g.near.shape[1]):
            ends += bits.popcount(g.head[v, w] & g.far_head[v, w])
    return ends >> 1


@kernel_part
def _rank(state: np.uint64, m: int, edges: Words, ranks: Words) -> np.uint64:
    """Draw an order of the nodes, and fill the ranks of the ends of given edges."""
    bits.compact()
    state = shuffle(state, ranks)
    for e in range(m):
        a, b = ranks[edges[2, e]], ranks[edges[3, e]]
        if a > b:
            a, b = b, a
        edges[0, e], edges[1, e] = a, b
    return state


@kernel
def _draw(
    skeletons: Words,
    index: Ints,
    laws: MagLaws,
    start: int,
    count: int,
    tries: int,
    room: DrawRoom,
    out: Words,
    shown: Ints,
) -> None:
    """Draw graphs, the draws of a row together; `shown` holds the numbers of bidirected edges that they show."""
    bits.compact()
    d, has_skeletons, low, high = np.uint64(room.ranks.size), len(index) > 0, room.edges[0], room.edges[1]
    for row in range(laws.keys.size):
        m = laws.n_edges[row]
        if has_skeletons:
            m = bits.list_edges(skeletons[index[row]], d, room.edges[2], room.edges[3])
        for column in range(count):
            state = stream(laws.keys[row], start + column)
            n_bidirected = laws.proposed[row]
            while n_bidirected < 0:
                state += STEP
                accepted, place, _ = two_below(mix(state), np.uint64(-n_bidirected), bits.ONE)
                if accepted:
                    n_bidirected = np.int64(place)
            n_bidirected = min(n_bidirected, m)
            at = row * count + column
            shown[at] = _NONE_KEPT
            for _ in range(tries):
                if has_skeletons:
                    state = _rank(state, m, room.edges, room.ranks)
                else:
                    state = draw_pairs(state, m, room.parents, low, high)
                state = _choose_first(state, n_bidirected, m, low, high)
                if not _fill_mag(low, high, m, n_bidirected, room.parents, room.above, room.mag, room.scratch.rows):
                    continue
                number = n_bidirected
                if laws.to_pag[row]:
                    begin(room.mag, room.pag)
                    orient_heads(room.mag, room.pag, room.scratch)
                    number = _count_bidirected(room.pag)
                if not laws.to_pag[row] or laws.shown[row] in (ANY, number):
                    shown[at] = number
                    break
            if shown[at] != _NONE_KEPT and len(out):
                if has_skeletons:
                    for v in range(d):
                        room.names[room.ranks[v]] = v
                else:
                    shuffle(state, room.names)
                if laws.to_pag[row]:
                    while orient_tails(room.pag, room.scratch):
                        orient_heads(room.mag, room.pag, room.scratch)
                    write_marks(room.pag, room.names, out[at])
                else:
                    write_marks(room.mag, room.names, out[at])


def draw_latent(
    n_nodes: int,
    n_edges: ArrayLike,
    proposed: ArrayLike,
    shown: ArrayLike,
    to_pag: ArrayLike,
    keys: ArrayLike,
    start: int,
    count: int,
    tries: int,
    *,
    skeletons: Words | None = None,
    index: ArrayLike = (),
    write: bool = True,
) -> tuple[Words, Ints]:
    """Draw random MAGs or PAGs, (n * count, 4, W), and their numbers of bidirected edges, -1 where none was kept."""
    # rows are those of `MagLaws`, each proposal one of at most as many `tries`; graphs are left out without `write`
    numbers = (read_only(x, np.int64) for x in (n_edges, proposed, shown))
    laws = MagLaws(*numbers, read_only(to_pag, np.bool_), read_only(keys, np.uint64))
    n, n_pairs = len(laws.keys), n_nodes * (n_nodes - 1) // 2
    chosen = read_only(index, np.int64)
    none = np.zeros((0, N_PLANES, plane_words(n_nodes)), np.uint64)
    planes = checked_planes(none if skeletons is None else skeletons, n_nodes)
    if skeletons is None and n and not 0 <= laws.n_edges.min() <= laws.n_edges.max() <= n_pairs:
        raise ValueError(f"a graph on {n_nodes} nodes has between 0 and {n_pairs} edges, found {laws.n_edges.tolist()}")
    if skeletons is not None and n and not (len(chosen) == n and 0 <= chosen.min() <= chosen.max() < len(planes)):
        raise IndexError(f"{n} rows need as many positions among {len(planes)} skeletons, found {chosen.tolist()}")
    if any(len(x) != n for x in laws) or start < 0 or count < 0 or abs(laws.proposed).max(initial=0) > n_pairs + 1:
        raise ValueError("every row needs a number of edges and two numbers of bidirected edges")
    parents, above = np.zeros((2, n_nodes, row_words(n_nodes)), np.uint64)
    ranks, nodes = np.empty((2, n_nodes), np.uint64)
    edges, scratch = np.empty((4, n_pairs + 1), np.uint64), scratch_for(n_nodes, n_pairs)
    room = DrawRoom(empty_rows(n_nodes), empty_rows(n_nodes), parents, above, ranks, nodes, edges, scratch)
    out = np.zeros((n * count if write else 0, N_MIXED_PLANES, plane_words(n_nodes)), np.uint64)
    n_bidirected = np.empty(n * count, np.int64)
    _draw(planes, chosen, laws, start, count, tries, room, out, n_bidirected)
    return out, n_bidirected
