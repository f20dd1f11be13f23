"""Four pair planes: the marks at both ends of the edges of a graph with tails, arrowheads and circles.

For a pair i < j, planes 0 and 1 are the low and the high bit of the code at i, planes 2 and 3 those at j. Codes are 0
none, 1 tail, 2 arrow, 3 circle: ``i -> j`` is (1, 2), ``i o-> j`` (3, 2), ``i <-> j`` (2, 2), ``i -- j`` (1, 1), and no
edge (0, 0). A pair with two edges has a code at one end only: ``i -> j`` with ``i <-> j`` is (0, 2), ``j -> i`` with
``i <-> j`` is (2, 0); only acyclic directed mixed graphs have such pairs. No pair is (0, 1), (1, 0), (0, 3) or (3, 0).

Two graphs differ in a pair iff they do in one of its four bits, and nodes are adjacent iff one is set.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..kernels.planes import ARROW, NONE, TAIL, count_ones, planes_from_arcs, planes_from_matrices, row_chunks

Planes = NDArray[np.uint64]
Words = NDArray[np.uint64]
Ints = NDArray[np.int64]
Edge = tuple[int, int, int, int]


def is_mixed(planes: Planes) -> bool:
    """Return whether a block (N, P, W) has four planes."""
    return planes.shape[1] == 4


def where(planes: Planes, at_low: int, at_high: int) -> Words:
    """Return the bits (N, W) of the pairs whose marks have these codes, padding included for (0, 0)."""
    bits = ~np.zeros_like(planes[:, 0])
    for plane, bit in enumerate((at_low & 1, at_low >> 1, at_high & 1, at_high >> 1)):
        bits &= planes[:, plane] if bit else ~planes[:, plane]
    return bits


def adjacencies(planes: Planes) -> Words:
    """Return the bits (N, W) of adjacent pairs, of any number of planes."""
    return np.asarray(np.bitwise_or.reduce(planes, axis=1))


def lift(planes: Planes) -> Planes:
    """Return graphs of two planes with four: ``->`` as tail and arrow, ``--`` as two tails."""
    if is_mixed(planes):
        return planes
    forward, backward = planes[:, 0], planes[:, 1]
    return np.stack([forward, backward & ~forward, backward, forward & ~backward], axis=1)


def lines(words: Words) -> Planes:
    """Return the graphs of four planes with tails at both ends of pairs (N, W), as skeletons have."""
    return lift(np.stack([words, words], axis=1))


def has_plain_marks(planes: Planes) -> NDArray[np.bool_]:
    """Return which graphs of four planes have only ``->`` and ``--``, which two planes hold."""
    plain = where(planes, TAIL, TAIL) | where(planes, TAIL, ARROW) | where(planes, ARROW, TAIL)
    return np.asarray((plain == adjacencies(planes)).all(axis=1))


def lower(planes: Planes) -> Planes:
    """Return graphs that have plain marks with two planes."""
    return np.ascontiguousarray(planes[:, [0, 2]]) if is_mixed(planes) else planes


def plane_halves(planes: Planes) -> list[Planes]:
    """Return the block, or its low and its high bits as blocks of two planes, permuted as graphs of arcs are."""
    return [planes] if not is_mixed(planes) else [np.ascontiguousarray(planes[:, bit::2]) for bit in (0, 1)]


def join_halves(halves: list[Planes]) -> Planes:
    """Return the block whose `plane_halves` are these."""
    if len(halves) == 1:
        return halves[0]
    low, high = halves
    return np.stack([low[:, 0], high[:, 0], low[:, 1], high[:, 1]], axis=1)


def directed_part(planes: Planes) -> Planes:
    """Return the ``->`` of graphs of four planes as graphs of two."""
    forward = where(planes, TAIL, ARROW) | where(planes, NONE, ARROW)
    backward = where(planes, ARROW, TAIL) | where(planes, ARROW, NONE)
    return np.stack([forward, backward], axis=1)


def types_of(planes: Planes) -> list[int]:
    """Return the types, from 1 to 15, of the edges of graphs of four planes, as `edge_types` codes them."""
    return [code for code in range(1, 16) if where(planes, code % 4, code // 4).any()]


def bidirected(planes: Planes) -> Words:
    """Return the bits (N, W) of pairs with ``<->``, beside ``->`` or not."""
    arrows = where(planes, ARROW, ARROW)
    return arrows | where(planes, NONE, ARROW) | where(planes, ARROW, NONE)


def doubles(planes: Planes) -> Words:
    """Return the bits (N, W) of pairs with a code at one end only."""
    low, high = planes[:, 0] | planes[:, 1], planes[:, 2] | planes[:, 3]
    return np.asarray(low ^ high)


def circles(planes: Planes) -> Words:
    """Return the bits (N, W) of pairs with a circle at one end or both."""
    return np.asarray((planes[:, 0] & planes[:, 1]) | (planes[:, 2] & planes[:, 3]))


def reserved(planes: Planes) -> NDArray[np.bool_]:
    """Return which graphs have a pair with a code at one end only that is not an arrow."""
    return np.asarray((doubles(planes) & (planes[:, 0] | planes[:, 2])).any(axis=1))


def count_bits(words: Words) -> Ints:
    """Count the bits of each row (N, W)."""
    return np.asarray(count_ones(words).sum(axis=1, dtype=np.int64))


def count_edges(planes: Planes) -> Ints:
    """Count the edges of each graph; a pair with ``->`` and ``<->`` has two."""
    return count_bits(adjacencies(planes)) + (count_bits(doubles(planes)) if is_mixed(planes) else 0)


def ends_from_planes(planes: Planes, n_nodes: int) -> Ints:
    """Return the edges of graphs of four planes, (5, N): row, nodes low < high, and the codes at both."""
    first = np.arange(n_nodes, dtype=np.int64)
    first = first * n_nodes - first * (first + 1) // 2
    edges = [np.zeros((5, 0), np.int64)]
    for part in row_chunks(len(planes), 256 * planes.shape[2]):
        bits = np.unpackbits(np.ascontiguousarray(planes[part]).view(np.uint8), axis=-1, bitorder="little")
        row, pair = np.nonzero(bits.any(axis=1))
        low = np.searchsorted(first, pair, side="right") - 1
        codes = bits[row, :, pair].astype(np.int64)
        at_low, at_high = codes[:, 0] + 2 * codes[:, 1], codes[:, 2] + 2 * codes[:, 3]
        edges.append(np.stack([row + part.start, low, pair - first[low] + low + 1, at_low, at_high]))
    return np.concatenate(edges, axis=1)


def edges_of(planes: Planes, n_nodes: int) -> list[list[Edge]]:
    """Return the edges of each graph, of any number of planes, as (low, high, code at low, code at high)."""
    row, *ends = ends_from_planes(lift(planes), n_nodes)
    edges = list(zip(*(x.tolist() for x in ends), strict=True))
    return [edges[a:b] for a, b in pairwise(np.searchsorted(row, np.arange(len(planes) + 1)).tolist())]


def planes_from_ends(n_rows: int, n_nodes: int, ends: Ints) -> Planes:
    """Set the codes of pairs, whose nodes may be in either order, in fresh planes."""
    row, a, b, at_a, at_b = ends
    # a mark stands in the planes as the arc from its node; of a pair named twice both add up: -> and <-> make (0, 2)
    row, node, other, code = (np.concatenate(x) for x in ((row, row), (a, b), (b, a), (at_a, at_b)))
    halves = [planes_from_arcs(n_rows, n_nodes, *(x[code & bit > 0] for x in (row, node, other))) for bit in (1, 2)]
    return join_halves(halves)


def marks_from_planes(planes: Planes, n_nodes: int) -> NDArray[np.uint8]:
    """Return (N, d, d) matrices with the code of the mark at j of the edge i - j in cell (i, j), as in the planes."""
    marks = np.zeros((len(planes), n_nodes, n_nodes), np.uint8)
    row, low, high, at_low, at_high = ends_from_planes(lift(planes), n_nodes)
    marks[row, low, high], marks[row, high, low] = at_high, at_low
    return marks


def spouses(planes: Planes, n_nodes: int) -> NDArray[np.bool_]:
    """Return which nodes an edge ``<->`` joins, beside ``->`` or not, (N, d, d)."""
    marks = marks_from_planes(planes, n_nodes)
    heads = (marks == ARROW) & np.isin(marks.transpose(0, 2, 1), (NONE, ARROW))
    return heads | heads.transpose(0, 2, 1)


def codes_from_planes(planes: Planes, n_nodes: int) -> NDArray[np.uint8]:
    """Return (N, d, d) matrices of codes as encodings have them: 5 and 4 at the ends of a pair with two edges."""
    marks = marks_from_planes(planes, n_nodes)
    double = (marks == ARROW) & (marks.transpose(0, 2, 1) == NONE)
    marks[double] = 5
    marks[double.transpose(0, 2, 1)] = 4
    return marks


def planes_from_marks(marks: NDArray[np.uint8]) -> Planes:
    """Pack (N, d, d) matrices of codes, those of `marks_from_planes`, in four planes."""
    order = np.arange(marks.shape[1])
    # of nodes i < j the code at i comes first, and that at j stands in cell (i, j)
    return join_halves([planes_from_matrices(marks & bit != 0, order)[:, ::-1] for bit in (1, 2)])
