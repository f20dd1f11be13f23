"""Compiled counts of the ancestors, Markov blankets and separations that two graphs share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from .bits import LAST, ONE, SIX, ZERO, compact, copy_row, drop, mark_rows, members, popcount
from .inputs import SEPARATORS, Comparison, Ints, Words, checked_comparison
from .lanes import Arcs, Flags, GraphRoom, Workspace, load_graph, read_edges, sort_arcs, spread_back, workspace
from .planes import row_words

_PARENT, _ANCESTOR, _NEAREST = range(3)


@kernel_part
def _read_directed(planes: Words, room: GraphRoom, arcs: Arcs) -> None:
    """Read the directed edges of any graph, in a causal order where there is one."""
    n_edges, _ = read_edges(planes, room.nodes.shape[1] - 1, room.ends, room.undirected)
    n = 0
    for a in range(n_edges):
        if not room.undirected[a]:
            room.ends[0, n], room.ends[1, n] = room.ends[0, a], room.ends[1, a]
            n += 1
    for a in range(n):
        room.undirected[a] = False
    if not sort_arcs(room, n, arcs.tail, arcs.head, arcs.undirected):
        copy_row(room.ends[0], arcs.tail, n)
        copy_row(room.ends[1], arcs.head, n)
    arcs.size[0], arcs.size[1] = n, 0


@kernel_part
def _fill_descendants(arcs: Arcs, first: int, n_lanes: int, reached: Words) -> None:
    """Set lane t of every node that has node first + t as an ancestor (on a cycle, itself)."""
    reached[:] = ZERO
    changed = True
    while changed:
        changed = False
        for a in range(arcs.size[0]):
            u, v = np.int64(arcs.tail[a]), np.int64(arcs.head[a])
            new = reached[u]
            if first <= u < first + n_lanes:
                new |= ONE << np.uint64(u - first)
            if new & ~reached[v]:
                reached[v] |= new
                changed = True


@kernel
def _ancestor_counts(pairs: Comparison, work: Workspace, below: Words, claimed: Words, out: Ints) -> None:
    """Fill the counts of each pair, a row per count."""
    room, true, arcs = work
    n_nodes = room.nodes.shape[1] - 1
    for n in range(pairs.truth_index.size):
        if n == 0 or pairs.truth_index[n] != pairs.truth_index[n - 1]:  # controls of one row share their truth
            _read_directed(pairs.truth[pairs.truth_index[n]], room, true)
        _read_directed(pairs.estimate[pairs.estimate_index[n]], room, arcs)
        out[:, n] = 0
        for first in range(0, n_nodes, 64):
            n_lanes = min(64, n_nodes - first)
            _fill_descendants(true, first, n_lanes, below)
            descendants = claimed[first // 64]
            _fill_descendants(arcs, first, n_lanes, descendants)
            for v in range(n_nodes):
                other = ~ZERO
                if first <= v < first + n_lanes:
                    other = ~(ONE << np.uint64(v - first))
                out[0, n] += popcount(below[v] & other)
                out[1, n] += popcount(descendants[v] & other)
                out[2, n] += popcount(below[v] & descendants[v] & other)
        for a in range(true.size[0]):
            u, v = np.uint64(true.tail[a]), np.uint64(true.head[a])
            agrees = (claimed[u >> SIX, v] >> (u & LAST)) & ONE
            opposes = (claimed[v >> SIX, u] >> (v & LAST)) & ONE
            out[3, n] += np.int64(agrees & ~opposes)
            out[4, n] += np.int64(opposes & ~agrees)


def ancestor_counts(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike, n_nodes: int
) -> NDArray[np.int64]:
    """Count ordered pairs of nodes joined by a directed path, of directed edges; parameters as in `adjacency_counts`.

    Columns of the result (n, 5): pairs (ancestor, descendant) of the truth; of the estimate; of both; true directed
    edges whose tail is an ancestor of the head in the estimate, and not the reverse; whose head is one of the tail, and
    not the reverse.
    """
    pairs = checked_comparison(truth, estimate, truth_index, estimate_index, n_nodes=n_nodes)
    out = np.empty((5, len(pairs.truth_index)), np.int64)
    below, claimed = np.empty(n_nodes, np.uint64), np.empty((row_words(n_nodes), n_nodes), np.uint64)
    _ancestor_counts(pairs, workspace(n_nodes, *pairs[:2]), below, claimed, out)
    return out.T


@kernel_part
def _moral_rows(planes: Words, into: Words, out: Words, moral: Words) -> None:
    """Fill the rows of the moral graph: neighbours, and nodes with a child in common."""
    mark_rows(planes, into, out)
    n_nodes, words = into.shape
    for v in range(n_nodes):
        for w in range(words):
            moral[v, w] = into[v, w] | out[v, w]
    for v in range(n_nodes):
        for w in range(np.uint64(words)):
            for child in members(w, out[v, w] & ~into[v, w]):
                for k in range(words):
                    moral[v, k] |= into[child, k] & ~out[child, k]
    for v in range(np.uint64(n_nodes)):
        drop(moral[v], v)


@kernel
def _blanket_counts(pairs: Comparison, rows: Words, out: Ints) -> None:
    """Fill the counts of each pair, a row per count."""
    into, away, true, estimated = rows[0], rows[1], rows[2], rows[3]
    for n in range(pairs.truth_index.size):
        if n == 0 or pairs.truth_index[n] != pairs.truth_index[n - 1]:  # controls of one row share their truth
            _moral_rows(pairs.truth[pairs.truth_index[n]], into, away, true)
        _moral_rows(pairs.estimate[pairs.estimate_index[n]], into, away, estimated)
        out[:, n] = 0
        for v in range(into.shape[0]):
            for w in range(into.shape[1]):
                out[0, n] += popcount(true[v, w])
                out[1, n] += popcount(estimated[v, w])
                out[2, n] += popcount(true[v, w] & estimated[v, w])


def blanket_counts(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike, n_nodes: int
) -> NDArray[np.int64]:
    """Count members of Markov blankets in the truth, the estimate and both; parameters as in `adjacency_counts`.

    Members are neighbours and parents of a common child, summed over nodes.
    """
    pairs = checked_comparison(truth, estimate, truth_index, estimate_index, n_nodes=n_nodes)
    out = np.empty((3, len(pairs.truth_index)), np.int64)
    _blanket_counts(pairs, np.empty((4, n_nodes, row_words(n_nodes)), np.uint64), out)
    return out.T


@kernel_part
def _moral_neighbours(arcs: Arcs, members: Words, inside: Words, met: Words, neighbours: Words) -> None:
    """Find the neighbours of `members` in the moral graph of the ancestral sets `inside`."""
    met[:] = ZERO
    neighbours[:] = ZERO
    for a in range(arcs.size[0]):
        if not arcs.undirected[a]:
            met[arcs.head[a]] |= members[arcs.tail[a]] & inside[arcs.head[a]]
    for a in range(arcs.size[0]):
        u, v = arcs.tail[a], arcs.head[a]
        neighbours[v] |= members[u] & inside[v]
        neighbours[u] |= (members[v] | (ZERO if arcs.undirected[a] else met[v])) & inside[u]


@kernel_part
def _fill_nearest(arcs: Arcs, x: Words, y: Words, inside: Words, given: Words, rows: Words) -> None:
    """Fill the minimal separators nearest to x: its moral neighbours that y reaches without passing another one."""
    border, reached, walking, met, neighbours = rows[0], rows[1], rows[2], rows[3], rows[4]
    _moral_neighbours(arcs, x, inside, met, border)
    for v in range(x.size):
        border[v] &= ~x[v]
        reached[v] = y[v]
    changed = True
    while changed:
        for v in range(x.size):
            walking[v] = reached[v] & ~border[v]
        _moral_neighbours(arcs, walking, inside, met, neighbours)
        changed = False
        for v in range(x.size):
            changed = changed or (neighbours[v] & ~reached[v]) != ZERO
            reached[v] |= neighbours[v]
    for v in range(x.size):
        given[v] = reached[v] & border[v]


@kernel_part
def _fill_separators(arcs: Arcs, separator: int, x: Words, y: Words, given: Words, rows: Words) -> None:
    """Fill the sets by which the estimate separates x and y, one lane per pair."""
    given[:] = ZERO
    if separator == _PARENT:
        for a in range(arcs.size[0]):
            u, v = arcs.tail[a], arcs.head[a]
            given[u] |= x[v] | y[v]
            if arcs.undirected[a]:
                given[v] |= x[u] | y[u]
    else:
        inside, nowhere = rows[5], rows[6]
        nowhere[:] = ZERO
        for v in range(x.size):
            inside[v] = x[v] | y[v]
        spread_back(arcs, inside, nowhere)
        if separator == _ANCESTOR:
            copy_row(inside, given, x.size)
        else:
            _fill_nearest(arcs, x, y, inside, given, rows)
    for v in range(x.size):
        given[v] &= ~(x[v] | y[v])


@kernel_part
def _count_connected(true: Arcs, x: Words, y: Words, given: Words, rows: Words) -> int:
    """Count the lanes whose nodes the truth, a DAG, connects: y is reached from x along or against arcs."""
    up, down = rows[0], rows[1]
    copy_row(x, up, x.size)
    down[:] = ZERO
    changed = ONE
    while changed != ZERO:
        changed = ZERO
        for a in range(true.size[0]):
            u, v = true.tail[a], true.head[a]
            new = (up[u] | down[u]) & ~given[u] & ~down[v]
            down[v] |= new
            changed |= new
        for a in range(true.size[0] - 1, -1, -1):
            u, v = true.tail[a], true.head[a]
            new = ((up[v] & ~given[v]) | (down[v] & given[v])) & ~up[u]
            up[u] |= new
            changed |= new
    connected = 0
    for v in range(x.size):
        connected += popcount(y[v] & (up[v] | down[v]))
    return connected


@kernel_part
def _pair_separations(true: Arcs, arcs: Arcs, separator: int, adjacent: Flags, rows: Words) -> int:
    """Count the ordered pairs that the estimate separates and the truth does not."""
    compact()
    n_nodes = rows.shape[1]
    x, y, separators = rows[7], rows[8], rows[9]
    adjacent[:] = False
    for a in range(arcs.size[0]):
        adjacent[arcs.tail[a], arcs.head[a]] = True
        adjacent[arcs.head[a], arcs.tail[a]] = True
    x[:] = ZERO
    y[:] = ZERO
    waiting = wrong = 0
    for i in range(n_nodes):
        # the nearest separator depends on which node comes first, the others do not
        for j in range(0 if separator == _NEAREST else i + 1, n_nodes):
            if i != j and not adjacent[i, j]:
                x[i] |= ONE << np.uint64(waiting)
                y[j] |= ONE << np.uint64(waiting)
                waiting += 1
            if waiting == 64:
                _fill_separators(arcs, separator, x, y, separators, rows)
                wrong += _count_connected(true, x, y, separators, rows)
                x[:] = ZERO
                y[:] = ZERO
                waiting = 0
    if waiting > 0:
        _fill_separators(arcs, separator, x, y, separators, rows)
        wrong += _count_connected(true, x, y, separators, rows)
    return wrong if separator == _NEAREST else 2 * wrong


@kernel
def _separation_mistakes(
    pairs: Comparison, separator: int, work: Workspace, adjacent: Flags, rows: Words, out: Ints
) -> None:
    """Fill the mistakes of each pair; -1 where a graph has a cycle."""
    room, true, arcs = work
    compact()
    for n in range(pairs.truth_index.size):
        if n == 0 or pairs.truth_index[n] != pairs.truth_index[n - 1]:  # controls of one row share their truth
            load_graph(pairs.truth[pairs.truth_index[n]], room, true)
        load_graph(pairs.estimate[pairs.estimate_index[n]], room, arcs)
        out[n] = (
            _pair_separations(true, arcs, separator, adjacent, rows) if min(true.size[0], arcs.size[0]) >= 0 else -1
        )


def separation_mistakes(
    truth: ArrayLike,
    estimate: ArrayLike,
    truth_index: ArrayLike,
    estimate_index: ArrayLike,
    n_nodes: int,
    separator: str,
) -> NDArray[np.int64]:
    """Count ordered pairs of nodes that the estimate separates and the truth does not; -1 where a graph has a cycle.

    The separator "parent", "ancestor" or "nearest" chooses the set; other parameters as in `adjacency_counts`.
    """
    pairs = checked_comparison(truth, estimate, truth_index, estimate_index, n_nodes=n_nodes)
    out = np.empty(len(pairs.truth_index), np.int64)
    adjacent, rows = np.zeros((n_nodes, n_nodes), np.bool_), np.zeros((10, n_nodes), np.uint64)
    _separation_mistakes(pairs, SEPARATORS.index(separator), workspace(n_nodes, *pairs[:2]), adjacent, rows, out)
    return out
