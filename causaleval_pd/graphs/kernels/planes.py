"""Pair planes: two bits for each pair of nodes.

Nodes are in code-point order and numbered from 0. Pair ``k`` of ``i < j`` runs along the rows of the upper triangle,
``k = i*d - i*(i+1)//2 + j - i - 1``, and sits in bit ``k & 63`` of word ``k >> 6``. Plane 0 holds the mark ``i -> j``,
plane 1 the mark ``j -> i``; an undirected edge has both. An *arc* below is one such mark, written (source, target).

Graphs of the kinds in `MIXED_KINDS` have four planes instead, which `graphs.mixed.marks` explains.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

N_PLANES = 2
N_MIXED_PLANES = 4
#: kinds of two planes, and of four
PLAIN_KINDS = ("dag", "cpdag", "pdag", "digraph")
MIXED_KINDS = ("mag", "pag", "admg", "skeleton", "mixed")
KINDS = PLAIN_KINDS + MIXED_KINDS
#: classes of graphs whose edges have marks
MARKED_KINDS = tuple(kind for kind in KINDS if kind != "skeleton")
DAG, CPDAG, PDAG, DIGRAPH, MAG, PAG, ADMG, SKELETON, MIXED = range(len(KINDS))
#: marks at an end of an edge
NONE, TAIL, ARROW, CIRCLE = range(4)

#: counts of adjacencies of a pair of graphs: of both, of either only, of neither, and pairs of nodes that differ
N_ADJACENCY_COUNTS = 5

_CELLS_AT_ONCE = 1 << 24  # bounds the scratch memory of work that spreads bits to bytes


def a_kind(code: int | np.integer[Any]) -> str:
    """Return the name of a class after its article."""
    return "a mixed graph" if code == MIXED else f"{'an' if code == ADMG else 'a'} {KINDS[code]}"


def planes_of_kind(kind: int) -> int:
    """Return the number of planes of a class, by its code."""
    return N_PLANES if kind < len(PLAIN_KINDS) else N_MIXED_PLANES


def plane_words(n_nodes: int) -> int:
    """Return the number of 64-bit words in one plane of a graph on `n_nodes` nodes (at least one)."""
    return max(1, (n_nodes * (n_nodes - 1) // 2 + 63) // 64)


def row_words(n_nodes: int) -> int:
    """Return the number of 64-bit words in a row of bits, one per node (at least one)."""
    return max(1, -(-n_nodes // 64))


def padding_mask(n_nodes: int) -> np.uint64:
    """Return the bits of a plane's last word that belong to no pair."""
    used = n_nodes * (n_nodes - 1) // 2 - 64 * (plane_words(n_nodes) - 1)
    return np.uint64((1 << 64) - (1 << used))


def row_chunks(n_rows: int, bytes_per_row: int) -> Iterator[slice]:
    """Cut `n_rows` into slices, for work that needs `bytes_per_row` of scratch memory per row."""
    step = max(1, _CELLS_AT_ONCE // max(1, bytes_per_row))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def planes_from_arcs(
    n_rows: int, n_nodes: int, row: NDArray[np.int64], source: NDArray[np.int64], target: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Set the bits of the arcs (row, source, target), in any order and with repeats, in fresh planes."""
    words = plane_words(n_nodes)
    planes = np.zeros((n_rows, N_PLANES, words), dtype=np.uint64)
    low, high = np.minimum(source, target), np.maximum(source, target)
    pair = low * n_nodes - low * (low + 1) // 2 + high - low - 1
    word = (row * N_PLANES + (source > target)) * words + (pair >> 6)
    np.bitwise_or.at(planes.reshape(-1), word, np.left_shift(np.uint64(1), (pair & 63).astype(np.uint64)))
    return planes


def planes_from_matrices(marks: NDArray[np.bool_], order: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Pack (N, d, d) matrices with True in cell (i, j) for the mark ``i -> j``; node k stands at cell `order[k]`."""
    n_nodes = len(order)
    planes = np.zeros((len(marks), N_PLANES, plane_words(n_nodes)), dtype=np.uint64)
    low, high = (order[nodes] for nodes in np.triu_indices(n_nodes, 1))
    cells = np.concatenate([low * n_nodes + high, high * n_nodes + low])
    bits = marks.reshape(len(marks), n_nodes**2).take(cells, axis=1).reshape(len(marks), N_PLANES, len(low))
    packed = np.packbits(bits, axis=-1, bitorder="little")
    planes.view(np.uint8)[..., : packed.shape[-1]] = packed
    return planes


def arcs_from_planes(
    planes: NDArray[np.uint64], n_nodes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the arcs (row, source, target) of planes (N, 2, W), rows ascending, within a row by plane and pair."""
    if planes.shape[1] != N_PLANES:
        raise ValueError(f"graphs of {planes.shape[1]} planes have marks other than arcs; these are {MIXED_KINDS}")
    first_pair = np.arange(n_nodes, dtype=np.int64)
    first_pair = first_pair * n_nodes - first_pair * (first_pair + 1) // 2
    none = np.zeros(0, dtype=np.int64)
    arcs = [(none, none, none)]
    for part in row_chunks(len(planes), 128 * planes.shape[2]):
        chunk = np.ascontiguousarray(planes[part])
        bits = np.unpackbits(chunk.view(np.uint8), axis=-1, bitorder="little")
        row, plane, pair = np.nonzero(bits)
        low = np.searchsorted(first_pair, pair, side="right") - 1
        high = pair - first_pair[low] + low + 1
        forward = plane == 0
        arcs.append((row + part.start, np.where(forward, low, high), np.where(forward, high, low)))
    rows, sources, targets = (np.concatenate(arrays) for arrays in zip(*arcs, strict=True))
    return rows, sources, targets


def matrices_from_planes(planes: NDArray[np.uint64], n_nodes: int) -> NDArray[np.int8]:
    """Return (N, d, d) matrices with 1 in cell (i, j) for the mark ``i -> j``, in both cells for an undirected edge."""
    marks = np.zeros((len(planes), n_nodes, n_nodes), dtype=np.int8)
    marks[arcs_from_planes(planes, n_nodes)] = 1
    return marks


CLASS_BITS = np.uint64(0xFF << 16)


def _count_ones(words: NDArray[np.uint64]) -> NDArray[Any]:
    """Add neighbouring counts of 1, 2 and 4 bits, then the counts of the eight bytes by one product."""
    pairs, nibbles, octets = (np.uint64(mask) for mask in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F))
    one, two, four = np.uint64(1), np.uint64(2), np.uint64(4)
    words = words - ((words >> one) & pairs)
    words = (words & nibbles) + ((words >> two) & nibbles)
    words = (words + (words >> four)) & octets
    return ((words * np.uint64(0x0101010101010101)) >> np.uint64(56)).astype(np.uint8)


#: count the ones of words outside compiled code; numpy has its own function since 2.0
count_ones = getattr(np, "bitwise_count", _count_ones)
