"""Compiled operations on blocks of graphs, those of other modules included.

Every function takes pair planes (N, 2, W): bit k of plane 0 (1) is the mark i -> j (j -> i) of pair k = (i < j),
numbered row by row. Kernels are serial and release the interpreter lock, so that threads can share the rows of a block.

Comparisons take blocks of truths and estimates, and for each of n pairs the positions of its graphs in these, (n,)
each. Counts of adjacencies, types and colliders are also of mixed graphs, four planes (see `mixed.marks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from . import bits
from .bounds import sid_bounds
from .draws import draw_graphs
from .inputs import Ints, Words, checked_comparison, checked_planes, read_only, words_in_place
from .lanes import adjustment_mistakes
from .planes import CLASS_BITS, DAG, DIGRAPH, N_ADJACENCY_COUNTS, N_MIXED_PLANES, N_PLANES, PLAIN_KINDS, row_words
from .relations import ancestor_counts, blanket_counts, collider_counts, separation_mistakes

__all__ = [
    "adjacency_counts", "adjustment_mistakes", "ancestor_counts", "blanket_counts", "collider_counts", "dag_to_cpdag",
    "degrees", "direction_counts", "draw_graphs", "extend_to_dag", "is_acyclic", "separation_mistakes", "sid_bounds",
    "split_cells", "type_counts",
]  # fmt: skip

_DAG, _DIGRAPH = np.uint64(DAG), np.uint64(DIGRAPH)
_CLASS_SHIFT, _BYTE = np.uint64(16), np.uint64(0xFF)
#: words of a short cell, and cells that stay in the cache
_SHORT, _CELLS = 16, 64


def _rows(n_nodes: int, relations: int) -> Words:
    """Return room for some relations of one graph as rows of bits."""
    return np.empty((relations, n_nodes, row_words(n_nodes)), np.uint64)


@kernel
def _dag_to_cpdag(
    planes: Words, rows: Words, waiting: Ints, order: Words, rank: Words, out: Words, acyclic: NDArray[np.bool_]
) -> None:
    parents, children, ranked, compelled = rows[0], rows[1], rows[2], rows[3]
    n_nodes = np.uint64(parents.shape[0])
    for n in range(planes.shape[0]):
        bits.mark_rows(planes[n], parents, children)
        acyclic[n] = bits.causal_order(parents, children, waiting, order)
        if not acyclic[n]:
            continue
        for r in range(n_nodes):
            rank[order[r]] = r
        ranked[:] = bits.ZERO
        for v in range(n_nodes):
            for w in range(np.uint64(parents.shape[1])):
                for u in bits.members(w, parents[v, w]):
                    bits.flip(ranked, rank[v], rank[u], bits.ONE)
        bits.fill_compelled(ranked, compelled)
        for v in range(n_nodes):
            for w in range(np.uint64(ranked.shape[1])):
                for u in bits.members(w, ranked[v, w]):
                    bits.set_mark(out[n], order[u], order[v], n_nodes, bits.ONE ^ bits.is_set(compelled, v, u))


def dag_to_cpdag(planes: ArrayLike, n_nodes: int) -> tuple[Words, NDArray[np.bool_]]:
    """Return the CPDAGs of DAGs, or zero for graphs with a cycle or an undirected edge, and which graphs were DAGs."""
    block = checked_planes(planes, n_nodes)
    out, acyclic = np.zeros(block.shape, np.uint64), np.zeros(len(block), np.bool_)
    order, rank = np.empty((2, n_nodes), np.uint64)
    if len(block):  # a kernel without work is not compiled
        _dag_to_cpdag(block, _rows(n_nodes, 4), np.empty(n_nodes, np.int64), order, rank, out, acyclic)
    return out, acyclic


@kernel
def _is_acyclic(planes: Words, rows: Words, waiting: Ints, order: Words, out: NDArray[np.bool_]) -> None:
    parents, children = rows[0], rows[1]
    for n in range(planes.shape[0]):
        bits.mark_rows(planes[n], parents, children)
        for v in range(parents.shape[0]):
            for w in range(parents.shape[1]):
                undirected = parents[v, w] & children[v, w]
                parents[v, w] ^= undirected
                children[v, w] ^= undirected
        out[n] = bits.causal_order(parents, children, waiting, order)


def is_acyclic(planes: ArrayLike, n_nodes: int) -> NDArray[np.bool_]:
    """Return which graphs have no cycle of directed edges; undirected edges are ignored."""
    block = checked_planes(planes, n_nodes)
    out = np.empty(len(block), np.bool_)
    if len(block):
        _is_acyclic(block, _rows(n_nodes, 2), np.empty(n_nodes, np.int64), np.empty(n_nodes, np.uint64), out)
    return out


@kernel_part
def _is_sink(into: Words, out: Words, alive: Words, x: np.uint64) -> bool:
    """Return whether a node has no child left, and undirected neighbours that are adjacent to all its others."""
    words = np.uint64(alive.size)
    for w in range(words):
        if out[x, w] & ~into[x, w] & alive[w]:
            return False
    for w in range(words):
        for y in bits.members(w, into[x, w] & out[x, w] & alive[w]):
            for k in range(words):
                others = (into[x, k] | out[x, k]) & alive[k]
                if k == y >> bits.SIX:
                    others &= ~bits.bit_of(y)
                if others & ~(into[y, k] | out[y, k]):
                    return False
    return True


@kernel
def _extend(planes: Words, rows: Words, extended: Words, ok: NDArray[np.bool_]) -> None:
    into, out, alive = rows[0], rows[1], rows[2, 0]
    n_nodes = np.uint64(into.shape[0])
    words = np.uint64(into.shape[1])
    for n in range(planes.shape[0]):
        bits.mark_rows(planes[n], into, out)
        alive[:] = bits.ZERO
        for v in range(n_nodes):
            bits.add(alive, v)
        left, progress = n_nodes, True
        while left > bits.ZERO and progress:
            progress = False
            for x in range(n_nodes):
                if bits.has(alive, x) and _is_sink(into, out, alive, x):
                    bits.drop(alive, x)
                    for w in range(words):
                        for y in bits.members(w, into[x, w] & alive[w]):
                            bits.set_mark(extended[n], y, x, n_nodes, bits.ZERO)
                    left -= bits.ONE
                    progress = True
        ok[n] = left == bits.ZERO
        if not ok[n]:
            extended[n, :, :] = bits.ZERO


def extend_to_dag(planes: ArrayLike, n_nodes: int) -> tuple[Words, NDArray[np.bool_]]:
    """Orient the undirected edges of PDAGs without new v-structures or cycles; return DAGs or zero, and which exist."""
    # Dor and Tarsi (1992), A simple algorithm to construct a consistent extension of a partially oriented graph
    block = checked_planes(planes, n_nodes)
    extended, ok = np.zeros(block.shape, np.uint64), np.ones(len(block), np.bool_)
    if len(block) and n_nodes:  # a graph without nodes is its own extension
        _extend(block, _rows(n_nodes, 3), extended, ok)
    return extended, ok


@kernel
def _degrees(planes: Words, rows: Words, counts: NDArray[np.int32]) -> None:
    into, out = rows[0], rows[1]
    for n in range(planes.shape[0]):
        bits.mark_rows(planes[n], into, out)
        for v in range(into.shape[0]):
            for w in range(into.shape[1]):
                counts[n, v, 0] += bits.popcount(into[v, w] & ~out[v, w])
                counts[n, v, 1] += bits.popcount(out[v, w] & ~into[v, w])
                counts[n, v, 2] += bits.popcount(into[v, w] & out[v, w])


def degrees(planes: ArrayLike, n_nodes: int) -> NDArray[np.int32]:
    """Count directed edges into and out of each node, and undirected ones, (N, d, 3)."""
    block = checked_planes(planes, n_nodes)
    counts = np.zeros((len(block), n_nodes, 3), np.int32)
    _degrees(block, _rows(n_nodes, 2), counts)
    return read_only(counts, np.int32)


@kernel
def _check_cells(
    cells: Words,
    before: np.uint64,
    size: np.uint64,
    words: np.uint64,
    padding: np.uint64,
    kinds: NDArray[np.uint8],
    n_kinds: np.uint64,
) -> bool:
    """Fill class codes; return whether no cell is faulty or unlike the first one."""
    forward_end = size + words
    differs = bits.ZERO
    # of short cells one word at a time is compared, for some cells: a loop over a few words takes long to begin
    along = before + bits.ONE if cells.shape[1] > _SHORT else size
    for first in range(0, cells.shape[0], _CELLS):
        last = min(first + _CELLS, cells.shape[0])
        for w in range(before + bits.ONE, along):
            for n in range(first, last):
                differs |= cells[n, w] ^ cells[0, w]
        for n in range(first, last):
            for w in range(along, size):
                differs |= cells[n, w] ^ cells[0, w]
            undirected = bits.ZERO
            for w in range(size, forward_end):
                undirected |= cells[n, w] & cells[n, w + words]
            differs |= (cells[n, forward_end - bits.ONE] | cells[n, forward_end + words - bits.ONE]) & padding
            differs |= (cells[n, before] ^ cells[0, before]) & ~CLASS_BITS
            kind = (cells[n, before] >> _CLASS_SHIFT) & _BYTE
            kinds[n] = kind
            if kind >= n_kinds or (undirected != bits.ZERO and kind in (_DAG, _DIGRAPH)):
                return False
    return differs == bits.ZERO


def split_cells(
    cells: ArrayLike, before: int, size: int, words: int, padding: np.uint64
) -> tuple[Words, NDArray[np.uint8], bool]:
    """Return the planes (N, 2, W) in place in packed cells (N, L), class codes, and whether cells fit the first one."""
    # words before the header, before the planes, of a plane; and the bits of a plane's last word that must be zero
    matrix = read_only(cells, np.uint64)
    planes, kinds = matrix[:, size:].reshape(len(matrix), N_PLANES, words), np.empty(len(matrix), np.uint8)
    sizes = map(np.uint64, (before, size, words, padding))
    alike = _check_cells(matrix, *sizes, kinds, np.uint64(len(PLAIN_KINDS)))
    return planes, kinds, bool(alike)


Row = NDArray[np.float64]


class Side(NamedTuple):
    """The graphs of one side of the pairs, where they stand."""

    #: all words, how many of them the graphs are apart, and how many a plane has
    words: Words
    step: int
    length: np.uint64
    #: whether graphs have four planes
    mixed: bool
    #: (n,): position of each pair's graph
    index: Ints


@kernel
def _adjacency_counts(true: Side, claimed: Side, n_pairs: int, out: tuple[Row, ...]) -> None:
    truth, estimate, words = true.words, claimed.words, true.length
    tp, fp, fn, tn, different = out
    for n in range(true.index.size):
        t, e = np.uint64(true.index[n] * true.step), np.uint64(claimed.index[n] * claimed.step)
        shared = n_true = n_claimed = unlike = 0
        for w in range(words):
            tf, tb, ef, eb = truth[t + w], truth[t + w + words], estimate[e + w], estimate[e + w + words]
            near, found, differ = tf | tb, ef | eb, (tf ^ ef) | (tb ^ eb)
            if true.mixed:
                third, fourth = w + words + words, w + words + words + words
                near |= truth[t + third] | truth[t + fourth]
                found |= estimate[e + third] | estimate[e + fourth]
                differ |= (truth[t + third] ^ estimate[e + third]) | (truth[t + fourth] ^ estimate[e + fourth])
            shared += bits.popcount(near & found)
            n_true += bits.popcount(near)
            n_claimed += bits.popcount(found)
            unlike += bits.popcount(differ)
        tp[n], fp[n], fn[n], tn[n] = shared, n_claimed - shared, n_true - shared, n_pairs - n_true - n_claimed + shared
        different[n] = unlike


@kernel
def _direction_counts(true: Side, claimed: Side, out: NDArray[np.float64]) -> None:
    truth, estimate, words = true.words, claimed.words, true.length
    for n in range(true.index.size):
        t, e = np.uint64(true.index[n] * true.step), np.uint64(claimed.index[n] * claimed.step)
        same = opposite = directed = oriented = lost = added = 0
        for w in range(words):
            tf, tb, ef, eb = truth[t + w], truth[t + w + words], estimate[e + w], estimate[e + w + words]
            t_arrow, e_arrow = tf ^ tb, ef ^ eb
            both = t_arrow & e_arrow
            same += bits.popcount(both & ~(tf ^ ef))
            opposite += bits.popcount(both & (tf ^ ef))
            directed += bits.popcount(t_arrow)
            oriented += bits.popcount(e_arrow)
            lost += bits.popcount(t_arrow & ef & eb)
            added += bits.popcount(e_arrow & tf & tb)
        out[0, n], out[1, n], out[2, n] = same, opposite, directed
        out[3, n], out[4, n], out[5, n] = oriented, lost, added


def adjacency_counts(
    truth: ArrayLike,
    estimate: ArrayLike,
    truth_index: ArrayLike,
    estimate_index: ArrayLike,
    n_nodes: int,
    out: Sequence[Row] | None = None,
) -> tuple[Row, ...]:
    """Count adjacencies of both, estimate only, truth only and neither, and pairs of nodes that differ; (n,) each."""
    # two planes or four on both sides, also in place in packed cells; `out` is where the counts go, if given
    n_planes = N_MIXED_PLANES if np.shape(truth)[1:2] == (N_MIXED_PLANES,) else N_PLANES
    comparison = checked_comparison(truth, estimate, truth_index, estimate_index, n_planes=(n_planes,))
    n = len(comparison.truth_index)
    rows = tuple(np.empty(n) for _ in range(N_ADJACENCY_COUNTS)) if out is None else tuple(out)
    if len(rows) != N_ADJACENCY_COUNTS or any(row.shape != (n,) for row in rows):
        raise ValueError(f"out must be {N_ADJACENCY_COUNTS} arrays of length {n}")
    _adjacency_counts(*_sides(*comparison), n_nodes * (n_nodes - 1) // 2, rows)
    return rows


def direction_counts(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike
) -> NDArray[np.float64]:
    """Count same, reversed, true, estimated directed edges; shared ones that lost or gained a direction: (6, n)."""
    comparison = checked_comparison(truth, estimate, truth_index, estimate_index)
    out = np.empty((6, len(comparison.truth_index)))
    _direction_counts(*_sides(*comparison), out)
    return out


def _sides(truth: Words, estimate: Words, left: Ints, right: Ints) -> tuple[Side, Side]:
    true, claimed = (
        Side(*words_in_place(planes), np.uint64(planes.shape[2]), planes.shape[1] == N_MIXED_PLANES, index)
        for planes, index in ((truth, left), (estimate, right))
    )
    return true, claimed


#: a word of ones
ALL = 2**64 - 1


@kernel_part
def _bits_of_types(planes: Words, at: np.uint64, words: np.uint64, lifted: bool, flips: Words, out: Words) -> None:
    """Fill the bits of the pairs with each type in a word, and at the end of those with any edge."""
    first, second = planes[at], planes[at + words]
    if lifted:
        third, fourth = planes[at + words + words], planes[at + words + words + words]
    else:
        third, fourth = second, first & ~second
        second = second & ~first
    n_types = flips.shape[0]
    for k in range(n_types):
        out[k] = (first ^ flips[k, 0]) & (second ^ flips[k, 1]) & (third ^ flips[k, 2]) & (fourth ^ flips[k, 3])
    out[n_types] = first | second | third | fourth


@kernel
def _type_counts(
    true: Side,
    claimed: Side,
    true_flips: Words,
    estimated_flips: Words,
    true_bits: Words,
    estimated_bits: Words,
    here: NDArray[np.int64],
    table: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    n_true, n_estimated, words = true_flips.shape[0], estimated_flips.shape[0], true.length
    for n in range(true.index.size):
        t, e = np.uint64(true.index[n] * true.step), np.uint64(claimed.index[n] * claimed.step)
        table[:] = 0
        for w in range(words):
            _bits_of_types(true.words, t + w, words, true.mixed, true_flips, true_bits)
            _bits_of_types(claimed.words, e + w, words, claimed.mixed, estimated_flips, estimated_bits)
            near, found, n_here = true_bits[n_true], estimated_bits[n_estimated], 0
            for j in range(n_estimated):
                if estimated_bits[j] != bits.ZERO:
                    table[0, j + 1] += bits.popcount(estimated_bits[j] & ~near)
                    here[n_here] = j
                    n_here += 1
            for i in range(n_true):
                if true_bits[i] != bits.ZERO:
                    table[i + 1, 0] += bits.popcount(true_bits[i] & ~found)
                    for k in range(n_here):
                        table[i + 1, here[k] + 1] += bits.popcount(true_bits[i] & estimated_bits[here[k]])
        for i in range(n_true + 1):
            for j in range(n_estimated + 1):
                out[i, j, n] = table[i, j]


def type_counts(
    truth: ArrayLike,
    estimate: ArrayLike,
    truth_index: ArrayLike,
    estimate_index: ArrayLike,
    true_types: Sequence[int],
    estimated_types: Sequence[int],
) -> NDArray[np.float64]:
    """Count the pairs of nodes by the types, from 1 to 15, of both edges, (I + 1, J + 1, n); no edge is first."""
    comparison = checked_comparison(truth, estimate, truth_index, estimate_index, n_planes=(N_PLANES, N_MIXED_PLANES))
    types = true_types, estimated_types
    # xor with these makes the planes of a type ones
    flips = [
        np.array([[0 if code >> plane & 1 else ALL for plane in range(4)] for code in side], np.uint64).reshape(-1, 4)
        for side in types
    ]
    table = np.empty((len(types[0]) + 1, len(types[1]) + 1), np.int64)
    out = np.empty((*table.shape, len(comparison.truth_index)))
    words = (np.empty(len(side) + 1, np.uint64) for side in types)
    _type_counts(*_sides(*comparison), *flips, *words, np.empty(len(types[1]), np.int64), table, out)
    return out
