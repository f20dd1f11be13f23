"""Compiled walks over one graph that answer 64 questions at once, and counts of wrong adjustments.

A *lane* is a bit position of a word. The word of a node holds a bit for each of 64 questions (treatments, or pairs of a
treatment and an outcome): whether the node is in some set or state. One pass over the edges serves all questions. A
graph is a list of arcs (tail, head) in which every arc into a node stands before the arcs out of it. An undirected edge
is an arc too, directed as in one DAG of the graph's class, and marked.

An estimate's strategy answers, for each ordered pair of a treatment t and an outcome y, one of

- t has no effect on y: y is a parent of t ("parent"), or not a possible descendant of t ("ancestor", "optimal");
- the effect cannot be found by adjustment: a possibly causal path from t to y begins with an undirected edge;
- adjust for a set: the parents of t, its ancestors, or the parents of the nodes on causal paths without those that are
  possible descendants of t.

The answer is wrong if in the truth y is a possible descendant of t; the effect can be found; or the set is not an
adjustment set, by the generalised adjustment criterion (Perkovic, Textor, Kalisch and Maathuis 2018,
doi:10.48550/arXiv.1606.06903). The counts are the adjustment identification distances of Henckel, Wuertzen and
Weichwald (2024, doi:10.48550/arXiv.2402.08616).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from . import bits
from .inputs import STRATEGIES, Comparison, Ints, Words, checked_comparison, edge_numbers

Nodes = NDArray[np.uint16]
Bools = NDArray[np.bool_]


class Arcs(NamedTuple):
    """The arcs of a graph, those into a node before those out of it."""

    #: tail, head, (E,): ends of the arcs; the first `size[0]` count
    tail: Nodes
    head: Nodes
    #: (E,): whether the edge is undirected in the graph
    undirected: Bools
    #: (3,): numbers of arcs, -1 for a graph with a cycle; of undirected ones; of <-> in a mixed graph
    size: Ints


def empty_arcs(most: int) -> Arcs:
    """Return room for some arcs."""
    return Arcs(*np.empty((2, most), np.uint16), np.empty(most, np.bool_), np.zeros(3, np.int64))


#: rows of `GraphRoom.nodes`: where the edges out of each node begin in `listed`; numbers of edges into each node, of
#: all and of those whose tails are not yet in `ORDER`; nodes in a causal order; where the next edge of a node goes, in
#: a list that is being filled; rank and weight of a maximum cardinality search
FIRST, N_PARENTS, WAITING, ORDER, NEXT, RANK, WEIGHT, NODE_ROWS = range(8)


class GraphRoom(NamedTuple):
    """Scratch memory for reading one graph, in few arrays, as each takes time to compile wherever it is passed on."""

    #: (2, E): edges as they are read
    ends: Nodes
    #: (E,): which of them are undirected
    undirected: Bools
    #: (E,): edges by tail: those out of node v from `nodes[FIRST, v]` to `nodes[FIRST, v + 1]`
    listed: Ints
    #: (7, d + 1): numbers of nodes; the last column belongs to no node
    nodes: Ints


#: matrices over pairs of nodes are kept a few at a time; this many nodes make them 400 MB
MOST_NODES = 20_000
#: room for reading any graph of two blocks, and for the arcs of a truth and an estimate
Workspace = tuple[GraphRoom, Arcs, Arcs]


def workspace(n_nodes: int, *blocks: Words) -> Workspace:
    """Return room for the graphs of some blocks."""
    if n_nodes > MOST_NODES:
        raise ValueError(
            f"paths are compared in graphs of at most {MOST_NODES} nodes, found {n_nodes}; compare adjacencies, or "
            "parts of the graphs"
        )
    most = max([1, *(int(edge_numbers(planes).max(initial=0)) for planes in blocks)])
    ends, undirected, listed = np.empty((2, most), np.uint16), np.empty(most, np.bool_), np.empty(most, np.int64)
    room = GraphRoom(ends, undirected, listed, np.empty((NODE_ROWS, n_nodes + 1), np.int64))
    return room, empty_arcs(most), empty_arcs(most)


@kernel_part
def orient_undirected(room: GraphRoom, n_edges: int) -> None:
    """Direct the undirected edges by a maximum cardinality search, which makes no v-structure in a chordal graph."""
    bits.compact()
    undirected, rank, weight = room.undirected, room.nodes[RANK], room.nodes[WEIGHT]
    tail, head = room.ends[0], room.ends[1]
    n_nodes = rank.size - 1
    for v in range(n_nodes):
        rank[v], weight[v] = n_nodes, -1
    for a in range(n_edges):
        if undirected[a]:
            weight[tail[a]] = 0
            weight[head[a]] = 0
    for r in range(n_nodes):
        best, chosen = -1, -1
        for v in range(n_nodes):
            if rank[v] == n_nodes and weight[v] > best:
                best, chosen = weight[v], v
        if chosen < 0:
            break
        rank[chosen] = r
        for a in range(n_edges):
            if undirected[a]:
                if tail[a] == chosen:
                    weight[head[a]] += 1
                elif head[a] == chosen:
                    weight[tail[a]] += 1
    for a in range(n_edges):
        if undirected[a] and rank[tail[a]] > rank[head[a]]:
            tail[a], head[a] = head[a], tail[a]


@kernel_part
def sort_arcs(room: GraphRoom, n_arcs: int, tail: Nodes, head: Nodes, undirected: Bools) -> bool:
    """Fill (tail, head, undirected) with the arcs in `room`, by the heads' causal order; False if there is a cycle."""
    bits.compact()
    sources, targets, listed, nodes = room.ends[0], room.ends[1], room.listed, room.nodes
    first, order, following = nodes[FIRST], nodes[ORDER], nodes[NEXT]
    n_parents, waiting = nodes[N_PARENTS], nodes[WAITING]
    n_nodes = order.size - 1
    # edges by tail
    first[:] = 0
    n_parents[:] = 0
    for a in range(n_arcs):
        first[sources[a] + 1] += 1
        n_parents[targets[a]] += 1
    for v in range(n_nodes):
        first[v + 1] += first[v]
        following[v] = first[v]
    for a in range(n_arcs):
        u = sources[a]
        listed[following[u]] = a
        following[u] += 1
    # nodes in a causal order
    placed = done = 0
    for v in range(n_nodes):
        waiting[v] = n_parents[v]
        if waiting[v] == 0:
            order[placed] = v
            placed += 1
    while done < placed:
        u = order[done]
        done += 1
        for q in range(first[u], first[u + 1]):
            v = targets[listed[q]]
            waiting[v] -= 1
            if waiting[v] == 0:
                order[placed] = v
                placed += 1
    if placed < n_nodes:
        return False
    # arcs by the place of their head, then of their tail
    filled = 0
    for r in range(n_nodes):
        following[order[r]] = filled
        filled += n_parents[order[r]]
    for r in range(n_nodes):
        u = order[r]
        for q in range(first[u], first[u + 1]):
            a = listed[q]
            v = targets[a]
            here = following[v]
            tail[here], head[here], undirected[here] = u, v, room.undirected[a]
            following[v] += 1
    return True


@kernel_part
def load_graph(planes: Words, room: GraphRoom, arcs: Arcs) -> None:
    """Read a DAG or CPDAG into sorted arcs."""
    bits.compact()
    n, n_undirected = bits.read_edges(planes, room.nodes.shape[1] - 1, room.ends[0], room.ends[1], room.undirected)
    if n_undirected > 0:
        orient_undirected(room, n)
    acyclic = sort_arcs(room, n, arcs.tail, arcs.head, arcs.undirected)
    arcs.size[0], arcs.size[1] = n if acyclic else -1, n_undirected


@kernel_part
def spread(arcs: Arcs, reached: Words, barred: Words) -> None:
    """Extend `reached` along arcs, and undirected edges both ways, without entering a node in its barred lanes."""
    while True:
        for a in range(arcs.size[0]):
            u, v = arcs.tail[a], arcs.head[a]
            reached[v] |= reached[u] & ~barred[v]
        if arcs.size[1] == 0:
            return
        changed = bits.ZERO
        for a in range(arcs.size[0] - 1, -1, -1):
            if arcs.undirected[a]:
                u, v = arcs.tail[a], arcs.head[a]
                new = reached[v] & ~reached[u] & ~barred[u]
                reached[u] |= new
                changed |= new
        if changed == bits.ZERO:
            return


@kernel_part
def spread_back(arcs: Arcs, reached: Words, barred: Words) -> None:
    """Extend `reached` against arcs, and along undirected edges, without entering a node in its barred lanes."""
    while True:
        for a in range(arcs.size[0] - 1, -1, -1):
            u, v = arcs.tail[a], arcs.head[a]
            reached[u] |= reached[v] & ~barred[u]
        if arcs.size[1] == 0:
            return
        changed = bits.ZERO
        for a in range(arcs.size[0]):
            if arcs.undirected[a]:
                u, v = arcs.tail[a], arcs.head[a]
                new = reached[u] & ~reached[v] & ~barred[v]
                reached[v] |= new
                changed |= new
        if changed == bits.ZERO:
            return


@kernel_part
def walk_open(arcs: Arcs, given: Words, treatment: Words, descendant: Words, invalid: Words) -> None:
    """Find each treatment's descendants in a DAG, and in `invalid[0]` the nodes for which `given` does not adjust."""
    # invalid: in the set, behind a causal path that meets it, or at the end of an open path that is not causal
    # states: reached causally without meeting the set, or through it, in one pass; against an arc; along one after that
    free, blocked, up, down = invalid[0], invalid[1], invalid[2], invalid[3]
    descendant[:] = bits.ZERO
    invalid[:] = bits.ZERO
    for a in range(arcs.size[0]):
        u, v = arcs.tail[a], arcs.head[a]
        start = treatment[u]
        descendant[v] |= descendant[u] | start
        free[v] |= (free[u] & ~given[u]) | start
        blocked[v] |= blocked[u] | (free[u] & given[u])
    first = True
    while True:
        changed = bits.ZERO
        for a in range(arcs.size[0] - 1, -1, -1):
            u, v = arcs.tail[a], arcs.head[a]
            inside = given[v]
            source = ((up[v] & ~inside) | ((down[v] | free[v]) & inside) | treatment[v]) & ~treatment[u]
            changed |= source & ~up[u]
            up[u] |= source
        if changed == bits.ZERO and not first:
            break
        first = False
        changed = bits.ZERO
        for a in range(arcs.size[0]):
            u, v = arcs.tail[a], arcs.head[a]
            source = (up[u] | down[u]) & ~given[u] & ~treatment[v]
            changed |= source & ~down[v]
            down[v] |= source
        if changed == bits.ZERO:
            break
    for v in range(invalid.shape[1]):
        invalid[0, v] = given[v] | blocked[v] | up[v] | down[v]


_PARENT, _ANCESTOR, _OPTIMAL = range(3)
#: rows of words per node that a comparison works with; 0 to 3 belong to `walk_open`
_INVALID, _FORBIDDEN, _BAD = 0, 4, 5
_NOWHERE, _TREATMENT, _GIVEN, _DESCENDANT = 6, 7, 8, 9
_NO_EFFECT, _UNCLEAR, _TRULY_UNCLEAR = 10, 11, 12
# lanes of pairs (treatment, outcome), for sets that depend on the outcome
_ASKED, _OUTCOME, _REACHED, _CAUSE = 13, 14, 15, 16
_ROWS = 17


@kernel_part
def _fill_unclear(arcs: Arcs, treatment: Words, unclear: Words) -> None:
    """Find the nodes that a possibly causal path reaches whose first edge is undirected."""
    unclear[:] = bits.ZERO
    if arcs.size[1] == 0:
        return
    for a in range(arcs.size[0]):
        if arcs.undirected[a]:
            u, v = arcs.tail[a], arcs.head[a]
            unclear[v] |= treatment[u]
            unclear[u] |= treatment[v]
    spread(arcs, unclear, treatment)


@kernel_part
def _fill_invalid(true: Arcs, given: Words, treatment: Words, descendant: Words, rows: Words) -> None:
    """Find the outcomes for which `given` is not an adjustment set, and the descendants of the treatments."""
    walk_open(true, given, treatment, descendant, rows[0:4])
    if true.size[1] == 0:
        return
    # of a CPDAG one DAG of its class is checked; what is valid there is valid for the class unless it holds a possible
    # descendant of a node on a possibly causal path; those before it on the path have it too: the first suffices
    forbidden, bad = rows[_FORBIDDEN], rows[_BAD]
    for v in range(given.size):
        bad[v], forbidden[v], descendant[v] = given[v], bits.ZERO, treatment[v]
    spread(true, descendant, rows[_NOWHERE])
    spread_back(true, bad, rows[_NOWHERE])
    for a in range(true.size[0]):
        if not true.undirected[a]:
            forbidden[true.head[a]] |= bad[true.head[a]] & treatment[true.tail[a]]
    spread(true, forbidden, treatment)
    for v in range(given.size):
        rows[_INVALID, v] |= forbidden[v]


@kernel_part
def _fill_answers(arcs: Arcs, strategy: int, rows: Words) -> None:
    """Fill the answers for each treatment: outcomes without effect, unclear ones, and the set if it is not optimal."""
    treatment, adjustment, no_effect = rows[_TREATMENT], rows[_GIVEN], rows[_NO_EFFECT]
    adjustment[:] = bits.ZERO
    if strategy == _PARENT:
        for a in range(arcs.size[0]):
            if not arcs.undirected[a]:
                adjustment[arcs.tail[a]] |= treatment[arcs.head[a]]
        bits.copy_row(adjustment, no_effect, adjustment.size)
    else:
        bits.copy_row(treatment, no_effect, adjustment.size)
        spread(arcs, no_effect, rows[_NOWHERE])
        for v in range(adjustment.size):
            no_effect[v] = ~no_effect[v]
        if strategy == _ANCESTOR:
            for a in range(arcs.size[0] - 1, -1, -1):
                if not arcs.undirected[a]:
                    adjustment[arcs.tail[a]] |= adjustment[arcs.head[a]] | treatment[arcs.head[a]]
    _fill_unclear(arcs, treatment, rows[_UNCLEAR])


@kernel_part
def _optimal_mistakes(true: Arcs, arcs: Arcs, rows: Words) -> int:
    """Count the lanes, a treatment and an outcome each, whose optimal set is invalid, and clear them."""
    treatment, outcome, reached, cause = rows[_ASKED], rows[_OUTCOME], rows[_REACHED], rows[_CAUSE]
    adjustment = rows[_GIVEN]
    bits.copy_row(treatment, reached, adjustment.size)
    bits.copy_row(outcome, cause, adjustment.size)
    adjustment[:] = bits.ZERO
    spread(arcs, reached, rows[_NOWHERE])
    spread_back(arcs, cause, treatment)
    for a in range(arcs.size[0]):
        if not arcs.undirected[a]:
            u, v = arcs.tail[a], arcs.head[a]
            adjustment[u] |= cause[v] & reached[v] & ~treatment[v]
    for v in range(adjustment.size):
        adjustment[v] &= ~reached[v]
    _fill_invalid(true, adjustment, treatment, rows[_CAUSE], rows)
    wrong = 0
    for v in range(adjustment.size):
        wrong += bits.popcount(outcome[v] & rows[_INVALID, v])
        treatment[v] = outcome[v] = bits.ZERO
    return wrong


@kernel_part
def _pair_mistakes(true: Arcs, arcs: Arcs, strategy: int, rows: Words) -> int:
    """Count the ordered pairs of nodes for which the estimate's strategy is wrong in the truth."""
    bits.compact()
    n_nodes = rows.shape[1]
    treatment, descendant = rows[_TREATMENT], rows[_DESCENDANT]
    no_effect, unclear, truly_unclear = rows[_NO_EFFECT], rows[_UNCLEAR], rows[_TRULY_UNCLEAR]
    asked_of, outcome = rows[_ASKED], rows[_OUTCOME]
    asked_of[:] = bits.ZERO
    outcome[:] = bits.ZERO
    wrong = waiting = 0
    for first in range(0, n_nodes, 64):
        n_lanes = min(64, n_nodes - first)
        used = ~bits.ZERO if n_lanes == 64 else (bits.ONE << np.uint64(n_lanes)) - bits.ONE
        treatment[:] = bits.ZERO
        for t in range(n_lanes):
            treatment[first + t] = bits.ONE << np.uint64(t)
        _fill_answers(arcs, strategy, rows)
        _fill_unclear(true, treatment, truly_unclear)
        if strategy == _OPTIMAL:
            bits.copy_row(treatment, descendant, n_nodes)
            spread(true, descendant, rows[_NOWHERE])
        else:
            _fill_invalid(true, rows[_GIVEN], treatment, descendant, rows)
        for v in range(n_nodes):
            asked = used & ~treatment[v]
            claimed = ~no_effect[v] & ~unclear[v] & ~truly_unclear[v] & asked
            mistakes = (no_effect[v] & descendant[v]) | (~no_effect[v] & (unclear[v] ^ truly_unclear[v]))
            wrong += bits.popcount(mistakes & asked)
            if strategy != _OPTIMAL:
                wrong += bits.popcount(claimed & rows[_INVALID, v])
                continue
            for t in bits.members(bits.ZERO, claimed):
                asked_of[first + np.int64(t)] |= bits.ONE << np.uint64(waiting)
                outcome[v] |= bits.ONE << np.uint64(waiting)
                waiting += 1
                if waiting == 64:
                    wrong += _optimal_mistakes(true, arcs, rows)
                    waiting = 0
    if waiting > 0:
        wrong += _optimal_mistakes(true, arcs, rows)
    return wrong


@kernel
def _adjustment_mistakes(pairs: Comparison, strategy: int, work: Workspace, rows: Words, out: Ints) -> None:
    room, true, arcs = work
    bits.compact()
    for n in range(pairs.truth_index.size):
        if n == 0 or pairs.truth_index[n] != pairs.truth_index[n - 1]:  # controls of one row share their truth
            load_graph(pairs.truth[pairs.truth_index[n]], room, true)
        load_graph(pairs.estimate[pairs.estimate_index[n]], room, arcs)
        out[n] = _pair_mistakes(true, arcs, strategy, rows) if min(true.size[0], arcs.size[0]) >= 0 else -1


def adjustment_mistakes(
    truth: ArrayLike,
    estimate: ArrayLike,
    truth_index: ArrayLike,
    estimate_index: ArrayLike,
    n_nodes: int,
    strategy: str,
) -> NDArray[np.int64]:
    """Count the ordered pairs of nodes adjusted for wrongly by one of `STRATEGIES`; -1 where a graph has a cycle."""
    pairs = checked_comparison(truth, estimate, truth_index, estimate_index, n_nodes=n_nodes)
    out = np.empty(len(pairs.truth_index), np.int64)
    rows = np.zeros((_ROWS, n_nodes), np.uint64)
    _adjustment_mistakes(pairs, STRATEGIES.index(strategy), workspace(n_nodes, *pairs[:2]), rows, out)
    return out
