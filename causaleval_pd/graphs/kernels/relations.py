"""Compiled counts of the ancestors, Markov blankets and separations that two graphs share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from . import bits
from .inputs import SEPARATORS, Comparison, Ints, Words, checked_comparison, edge_numbers
from .lanes import Arcs, Bools, GraphRoom, Nodes, Workspace, empty_arcs, load_graph, sort_arcs, spread_back, workspace
from .planes import N_MIXED_PLANES, N_PLANES, row_words

#: how a graph chooses the set that separates two nodes
_PARENT, _ANCESTOR, _NEAREST = range(3)
#: rows of words per node that separations work with, five of scratch memory before them
_INSIDE, _NOWHERE, _X, _Y, _GIVEN, _ROWS = range(5, 11)


@kernel_part
def _read_directed(planes: Words, room: GraphRoom, arcs: Arcs) -> None:
    """Read the directed edges of any graph, in a causal order where there is one."""
    n_edges, _ = bits.read_edges(planes, room.nodes.shape[1] - 1, room.ends[0], room.ends[1], room.undirected)
    n = 0
    for a in range(n_edges):
        if not room.undirected[a]:
            room.ends[0, n], room.ends[1, n] = room.ends[0, a], room.ends[1, a]
            n += 1
    for a in range(n):
        room.undirected[a] = False
    if not sort_arcs(room, n, arcs.tail, arcs.head, arcs.undirected):
        bits.copy_row(room.ends[0], arcs.tail, n)
        bits.copy_row(room.ends[1], arcs.head, n)
    arcs.size[0], arcs.size[1] = n, 0


@kernel_part
def _fill_descendants(arcs: Arcs, first: int, n_lanes: int, reached: Words) -> None:
    """Set lane t of every node that has node first + t as an ancestor (on a cycle, itself)."""
    reached[:] = bits.ZERO
    changed = True
    while changed:
        changed = False
        for a in range(arcs.size[0]):
            u, v = np.int64(arcs.tail[a]), np.int64(arcs.head[a])
            new = reached[u]
            if first <= u < first + n_lanes:
                new |= bits.ONE << np.uint64(u - first)
            if new & ~reached[v]:
                reached[v] |= new
                changed = True


@kernel
def _ancestor_counts(pairs: Comparison, work: Workspace, below: Words, claimed: Words, out: Ints) -> None:
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
                other = ~bits.ZERO
                if first <= v < first + n_lanes:
                    other = ~(bits.ONE << np.uint64(v - first))
                out[0, n] += bits.popcount(below[v] & other)
                out[1, n] += bits.popcount(descendants[v] & other)
                out[2, n] += bits.popcount(below[v] & descendants[v] & other)
        for a in range(true.size[0]):
            u, v = np.uint64(true.tail[a]), np.uint64(true.head[a])
            agrees = (claimed[u >> bits.SIX, v] >> (u & bits.LAST)) & bits.ONE
            opposes = (claimed[v >> bits.SIX, u] >> (v & bits.LAST)) & bits.ONE
            out[3, n] += np.int64(agrees & ~opposes)
            out[4, n] += np.int64(opposes & ~agrees)


def ancestor_counts(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike, n_nodes: int
) -> NDArray[np.int64]:
    """Count pairs joined by a directed path in truth, estimate and both; true edges kept and reversed: (n, 5)."""
    # kept: the tail is an ancestor of the head in the estimate, and not the reverse
    pairs = checked_comparison(truth, estimate, truth_index, estimate_index, n_nodes=n_nodes)
    out = np.empty((5, len(pairs.truth_index)), np.int64)
    below, claimed = np.empty(n_nodes, np.uint64), np.empty((row_words(n_nodes), n_nodes), np.uint64)
    _ancestor_counts(pairs, workspace(n_nodes, *pairs[:2]), below, claimed, out)
    return out.T


@kernel_part
def _moral_rows(planes: Words, into: Words, out: Words, moral: Words) -> None:
    """Fill the rows of the moral graph: neighbours, and nodes with a child in common."""
    bits.mark_rows(planes, into, out)
    n_nodes, words = into.shape
    for v in range(n_nodes):
        for w in range(words):
            moral[v, w] = into[v, w] | out[v, w]
    for v in range(n_nodes):
        for w in range(np.uint64(words)):
            for child in bits.members(w, out[v, w] & ~into[v, w]):
                for k in range(words):
                    moral[v, k] |= into[child, k] & ~out[child, k]
    for v in range(np.uint64(n_nodes)):
        bits.drop(moral[v], v)


@kernel
def _blanket_counts(pairs: Comparison, rows: Words, out: Ints) -> None:
    into, away, true, estimated = rows[0], rows[1], rows[2], rows[3]
    for n in range(pairs.truth_index.size):
        if n == 0 or pairs.truth_index[n] != pairs.truth_index[n - 1]:  # controls of one row share their truth
            _moral_rows(pairs.truth[pairs.truth_index[n]], into, away, true)
        _moral_rows(pairs.estimate[pairs.estimate_index[n]], into, away, estimated)
        out[:, n] = 0
        for v in range(into.shape[0]):
            for w in range(into.shape[1]):
                out[0, n] += bits.popcount(true[v, w])
                out[1, n] += bits.popcount(estimated[v, w])
                out[2, n] += bits.popcount(true[v, w] & estimated[v, w])


def blanket_counts(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike, n_nodes: int
) -> NDArray[np.int64]:
    """Count members of Markov blankets, summed over nodes, in the truth, the estimate and both, (n, 3)."""
    pairs = checked_comparison(truth, estimate, truth_index, estimate_index, n_nodes=n_nodes)
    out = np.empty((3, len(pairs.truth_index)), np.int64)
    _blanket_counts(pairs, np.empty((4, n_nodes, row_words(n_nodes)), np.uint64), out)
    return out.T


@kernel_part
def _fill_heads(planes: Words, mixed: bool | None, heads: Words, near: Words) -> None:
    """Fill for each node the nodes on whose edge it has a head, and those adjacent to it."""
    if mixed is None:
        bits.mark_rows(planes, heads, near)
        for v in range(heads.shape[0]):
            for w in range(heads.shape[1]):
                into, out = heads[v, w], near[v, w]
                heads[v, w] = into & ~out
                near[v, w] = into | out
    else:
        bits.compact()
        heads[:] = bits.ZERO
        near[:] = bits.ZERO
        n_nodes = np.uint64(near.shape[0])
        i, end = bits.ZERO, n_nodes - bits.ONE
        for w in range(np.uint64(planes.shape[1])):
            for pair in bits.members(w, planes[0, w] | planes[1, w] | planes[2, w] | planes[3, w]):
                i, end = bits.row_of(pair, i, end, n_nodes)
                j = pair + n_nodes - end
                here, there = bits.marks_of(planes, w, pair)
                bits.add(near[i], j)
                bits.add(near[j], i)
                # a head beside a tail has no mark
                if here == bits.ARROW or (here == bits.NONE and there == bits.ARROW):
                    bits.add(heads[i], j)
                if there == bits.ARROW or (there == bits.NONE and here == bits.ARROW):
                    bits.add(heads[j], i)


@kernel
def _collider_counts(pairs: Comparison, mixed: bool | None, rows: Words, out: NDArray[np.int32]) -> None:
    """Fill the unshielded colliders of truth, estimate and both, one row each. Numba leaves out what is None."""
    if mixed is not None:
        bits.compact()
    heads, near, claimed, other = rows[0], rows[1], rows[2], rows[3]
    true = 0
    for n in range(pairs.truth_index.size):
        if n == 0 or pairs.truth_index[n] != pairs.truth_index[n - 1]:  # controls of one row share their truth
            _fill_heads(pairs.truth[pairs.truth_index[n]], mixed, heads, near)
            true = bits.count_colliders(heads, near)
        _fill_heads(pairs.estimate[pairs.estimate_index[n]], mixed, claimed, other)
        out[0, n], out[1, n] = true, bits.count_colliders(claimed, other)
        for v in range(heads.shape[0]):
            for w in range(heads.shape[1]):
                claimed[v, w] &= heads[v, w]
                other[v, w] |= near[v, w]
        out[2, n] = bits.count_colliders(claimed, other)


def collider_counts(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike, n_nodes: int
) -> NDArray[np.int32]:
    """Count unshielded colliders of the truth, the estimate and both, (n, 3); of plain graphs by directed edges."""
    n_planes = N_PLANES if np.shape(truth)[1] == N_PLANES else N_MIXED_PLANES
    pairs = checked_comparison(truth, estimate, truth_index, estimate_index, n_planes=(n_planes,), n_nodes=n_nodes)
    out, rows = np.empty((3, len(pairs.truth_index)), np.int32), np.empty((4, n_nodes, row_words(n_nodes)), np.uint64)
    _collider_counts(pairs, None if n_planes == N_PLANES else True, rows, out)
    return out.T


@kernel_part
def _read_mixed(planes: Words, arcs: Arcs, both: Nodes, adjacent: Bools) -> None:
    """Read four planes (4, W): arcs are the steps that a causal path takes or may take, in a PAG some both ways."""
    # of a pair with two edges, -> and <->, planes hold a mark at one end only
    bits.compact()
    n_arcs = n_both = 0
    n_nodes = np.uint64(adjacent.shape[0])
    i, end = bits.ZERO, n_nodes - bits.ONE
    adjacent[:] = False
    for w in range(np.uint64(planes.shape[1])):
        for pair in bits.members(w, planes[0, w] | planes[1, w] | planes[2, w] | planes[3, w]):
            i, end = bits.row_of(pair, i, end, n_nodes)
            j = pair + n_nodes - end
            adjacent[i, j] = adjacent[j, i] = True
            here, there = bits.marks_of(planes, w, pair)
            if here != bits.ARROW and there != bits.TAIL:
                arcs.tail[n_arcs], arcs.head[n_arcs] = i, j
                n_arcs += 1
            if there != bits.ARROW and here != bits.TAIL:
                arcs.tail[n_arcs], arcs.head[n_arcs] = j, i
                n_arcs += 1
            if (here == bits.ARROW and there != bits.TAIL) or (there == bits.ARROW and here != bits.TAIL):
                both[0, n_both], both[1, n_both] = i, j
                n_both += 1
    arcs.size[0], arcs.size[2] = n_arcs, n_both


@kernel_part
def _fill_ancestors(arcs: Arcs, both: Nodes | None, inside: Words, nowhere: Words) -> None:
    """Add the possible ancestors of the nodes of each lane; the sorted arcs of plain graphs need no second pass."""
    if both is None:
        spread_back(arcs, inside, nowhere)
        return
    changed = bits.ONE
    while changed != bits.ZERO:
        changed = bits.ZERO
        for a in range(arcs.size[0]):
            new = inside[arcs.head[a]] & ~inside[arcs.tail[a]]
            inside[arcs.tail[a]] |= new
            changed |= new


@kernel_part
def _moral_neighbours(
    arcs: Arcs, both: Nodes | None, members: Words, inside: Words, met: Words, neighbours: Words
) -> None:
    """Find the nodes that a path of colliders joins to `members`, all nodes of it in the ancestral sets `inside`."""
    if both is not None:
        bits.compact()
    met[:] = bits.ZERO
    neighbours[:] = bits.ZERO
    for a in range(arcs.size[0]):
        if both is not None or not arcs.undirected[a]:
            met[arcs.head[a]] |= members[arcs.tail[a]] & inside[arcs.head[a]]
    if both is not None:
        changed = bits.ONE
        while changed != bits.ZERO:
            changed = bits.ZERO
            for b in range(arcs.size[2]):
                u, v = both[0, b], both[1, b]
                here = (members[v] | met[v]) & inside[u] & ~met[u]
                there = (members[u] | met[u]) & inside[v] & ~met[v]
                met[u] |= here
                met[v] |= there
                changed |= here | there
        bits.copy_row(met, neighbours, met.size)
    for a in range(arcs.size[0]):
        u, v = arcs.tail[a], arcs.head[a]
        neighbours[v] |= members[u] & inside[v]
        neighbours[u] |= (members[v] | (bits.ZERO if both is None and arcs.undirected[a] else met[v])) & inside[u]


@kernel_part
def _fill_nearest(arcs: Arcs, both: Nodes | None, x: Words, y: Words, given: Words, rows: Words) -> None:
    """Fill the minimal separators nearest to x: its moral neighbours that y reaches without passing another one."""
    if both is not None:
        bits.compact()
    border, reached, walking, met, neighbours, inside = rows[0], rows[1], rows[2], rows[3], rows[4], rows[_INSIDE]
    _moral_neighbours(arcs, both, x, inside, met, border)
    for v in range(x.size):
        border[v] &= ~x[v]
        reached[v] = y[v]
    changed = bits.ONE
    while changed != bits.ZERO:
        changed = bits.ZERO
        for v in range(x.size):
            walking[v] = reached[v] & ~border[v]
        _moral_neighbours(arcs, both, walking, inside, met, neighbours)
        for v in range(x.size):
            changed |= neighbours[v] & ~reached[v]
            reached[v] |= neighbours[v]
    for v in range(x.size):
        given[v] = reached[v] & border[v]


@kernel_part
def _count_connected(true: Arcs, both: Nodes | None, x: Words, y: Words, given: Words, rows: Words) -> int:
    """Count the lanes whose nodes the truth connects, by walks whose colliders and no other inner nodes are given."""
    if both is not None:
        bits.compact()
    # how a walk arrives at a node: by its tail, by its head
    up, down = rows[0], rows[1]
    bits.copy_row(x, up, x.size)
    down[:] = bits.ZERO
    changed = bits.ONE
    while changed != bits.ZERO:
        changed = bits.ZERO
        for a in range(true.size[0]):
            u, v = true.tail[a], true.head[a]
            new = (up[u] | down[u]) & ~given[u] & ~down[v]
            down[v] |= new
            changed |= new
        if both is not None:
            for b in range(true.size[2]):
                u, v = both[0, b], both[1, b]
                new = ((up[u] & ~given[u]) | (down[u] & given[u])) & ~down[v]
                down[v] |= new
                changed |= new
                new = ((up[v] & ~given[v]) | (down[v] & given[v])) & ~down[u]
                down[u] |= new
                changed |= new
        for a in range(true.size[0] - 1, -1, -1):
            u, v = true.tail[a], true.head[a]
            new = ((up[v] & ~given[v]) | (down[v] & given[v])) & ~up[u]
            up[u] |= new
            changed |= new
    connected = 0
    for v in range(x.size):
        connected += bits.popcount(y[v] & (up[v] | down[v]))
    return connected


@kernel_part
def _count_mistakes(
    true: Arcs, true_both: Nodes | None, arcs: Arcs, both: Nodes | None, separator: int, rows: Words
) -> int:
    """Count the lanes that the estimate separates and the truth does not; empty the lanes."""
    bits.compact()
    x, y, given = rows[_X], rows[_Y], rows[_GIVEN]
    if both is None and separator == _PARENT:
        given[:] = bits.ZERO
        for a in range(arcs.size[0]):
            u, v = arcs.tail[a], arcs.head[a]
            given[u] |= x[v] | y[v]
            if arcs.undirected[a]:
                given[v] |= x[u] | y[u]
    else:
        for v in range(x.size):
            rows[_INSIDE, v] = x[v] | y[v]
        _fill_ancestors(arcs, both, rows[_INSIDE], rows[_NOWHERE])
        if separator == _ANCESTOR:
            bits.copy_row(rows[_INSIDE], given, x.size)
        else:
            _fill_nearest(arcs, both, x, y, given, rows)
    for v in range(x.size):
        given[v] &= ~(x[v] | y[v])
    wrong = _count_connected(true, true_both, x, y, given, rows)
    x[:] = bits.ZERO
    y[:] = bits.ZERO
    return wrong


@kernel
def _separation_mistakes(
    pairs: Comparison,
    separator: int,
    room: GraphRoom | None,
    true: Arcs,
    true_both: Nodes | None,
    arcs: Arcs,
    both: Nodes | None,
    adjacent: Bools,
    rows: Words,
    out: Ints,
) -> None:
    """Fill the mistakes of each pair; -1 where a graph has a cycle. Plain graphs need a `room`, mixed ones `both`."""
    bits.compact()
    x, y = rows[_X], rows[_Y]
    for n in range(pairs.truth_index.size):
        known = n > 0 and pairs.truth_index[n] == pairs.truth_index[n - 1]  # controls of one row share their truth
        truth, estimate = pairs.truth[pairs.truth_index[n]], pairs.estimate[pairs.estimate_index[n]]
        if both is not None:
            if not known:
                _read_mixed(truth, true, true_both, adjacent)
            _read_mixed(estimate, arcs, both, adjacent)
        if room is not None:
            if not known:
                load_graph(truth, room, true)
            load_graph(estimate, room, arcs)
            adjacent[:] = False
            for a in range(arcs.size[0]):
                adjacent[arcs.tail[a], arcs.head[a]] = adjacent[arcs.head[a], arcs.tail[a]] = True
        if min(true.size[0], arcs.size[0]) < 0:
            out[n] = -1
            continue
        waiting = wrong = 0
        for i in range(x.size):
            # the nearest separator depends on which node comes first, the others do not
            for j in range(0 if separator == _NEAREST else i + 1, x.size):
                if i != j and not adjacent[i, j]:
                    x[i] |= bits.ONE << np.uint64(waiting)
                    y[j] |= bits.ONE << np.uint64(waiting)
                    waiting += 1
                if waiting == 64:
                    wrong += _count_mistakes(true, true_both, arcs, both, separator, rows)
                    waiting = 0
        if waiting > 0:
            wrong += _count_mistakes(true, true_both, arcs, both, separator, rows)
        out[n] = wrong if separator == _NEAREST else 2 * wrong


def separation_mistakes(
    truth: ArrayLike,
    estimate: ArrayLike,
    truth_index: ArrayLike,
    estimate_index: ArrayLike,
    n_nodes: int,
    separator: str,
) -> NDArray[np.int64]:
    """Count ordered pairs of nodes that the estimate separates and the truth does not; -1 where a graph has a cycle."""
    pairs = checked_comparison(truth, estimate, truth_index, estimate_index, n_nodes=n_nodes)
    room, true, arcs = workspace(n_nodes, *pairs[:2])
    return _separations(pairs, n_nodes, SEPARATORS.index(separator), room, (true, None, arcs, None))


def mixed_separation_mistakes(
    truth: Words, estimate: Words, truth_index: Ints, estimate_index: Ints, n_nodes: int, nearest: bool
) -> NDArray[np.int64]:
    """Count the pairs that MAGs or PAGs separate by possible ancestors, or MAGs by the nearest set, truths do not."""
    # truths are MAGs or ADMGs; all have four planes
    most = max(1, *(int(edge_numbers(planes).max(initial=0)) for planes in (truth, estimate)))
    true_both, both = np.empty((2, 2, most), np.uint16)
    sides = empty_arcs(2 * most), true_both, empty_arcs(2 * most), both
    pairs = Comparison(truth, estimate, truth_index, estimate_index)
    return _separations(pairs, n_nodes, _NEAREST if nearest else _ANCESTOR, None, sides)


def _separations(
    pairs: Comparison,
    n_nodes: int,
    separator: int,
    room: GraphRoom | None,
    sides: tuple[Arcs, Nodes | None, Arcs, Nodes | None],
) -> NDArray[np.int64]:
    out = np.empty(len(pairs.truth_index), np.int64)
    adjacent, rows = np.zeros((n_nodes, n_nodes), np.bool_), np.zeros((_ROWS, n_nodes), np.uint64)
    _separation_mistakes(pairs, separator, room, *sides, adjacent, rows, out)
    return out
