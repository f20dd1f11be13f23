"""Compiled relations in mixed graphs: ancestors as far as marks determine them, visible edges, adjustment sets.

In a PAG a node u may be an ancestor of v iff a possibly directed path leads from u to v. It is one in every MAG of the
class iff a directed path does, or two uncovered possibly directed paths whose first nodes differ and are not adjacent.

For a treatment t and an outcome y a graph answers: no effect, if no possibly directed path leads from t to y;
adjustment, if each such path begins with a visible edge, for the possible ancestors of both except the possible
descendants of the paths' nodes, where this set blocks the other paths; else that adjustment does not identify the
effect. If any set is valid for a graph, this one is (the generalised adjustment criterion).

References
----------
Zhang (2008), Causal reasoning with ancestral graphs, JMLR 9, for possibly directed paths and visible edges.
Perkovic, Textor, Kalisch & Maathuis (2018), Complete graphical characterization and construction of adjustment sets in
Markov equivalence classes of ancestral graphs, JMLR 18(220), doi:10.48550/arXiv.1606.06903.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from .. import bits
from ..inputs import Ints, Words
from .classes import Scratch, fill_by_first_step, fill_discriminating, fill_first_steps, scratch_for
from .rows import Rows, close, empty_rows, read_marks
from .separation import N_ROWS, Model, add_rows, connects, empty_model, fill_model

#: which relation to find
ANCESTORS, DIRECTED_PATHS, VISIBLE = range(3)
#: codes of ordered pairs (u, v): u is not an ancestor of v, a possible one, one in every graph of the class
NOT, POSSIBLE, DEFINITE = range(3)


@kernel_part
def _second_paths(g: Rows, certain: Words, possible: Words, scratch: Scratch) -> None:
    """Add the nodes to which two uncovered possibly directed paths lead whose first nodes are not adjacent."""
    bits.compact()
    first, ends = scratch.rows[0], scratch.rows[1]
    words = np.uint64(g.near.shape[1])
    for u in range(np.uint64(g.near.shape[0])):
        for w in range(words):
            ends[w] = possible[u, w] & ~certain[u, w]
        if bits.is_empty(ends):
            continue
        fill_first_steps(g, u, first)
        fill_by_first_step(g, u, first, ends, scratch)
        for w in range(words):
            for f in bits.members(w, first[w]):
                for k in range(words):
                    for h in bits.members(k, first[k] & ~g.near[f, k]):
                        if h != f:
                            for at in range(words):
                                certain[u, at] |= scratch.reached[f, at] & scratch.reached[h, at]


@kernel
def _relate(
    planes: Words, relation: int, g: Rows, certain: Words, possible: Words, scratch: Scratch, out: NDArray[np.uint8]
) -> None:
    bits.compact()
    n_nodes = np.uint64(g.near.shape[0])
    for n in range(planes.shape[0]):
        read_marks(planes[n], g)
        if relation == VISIBLE:
            for c in range(n_nodes):
                if not bits.is_empty(g.head[c]):
                    fill_discriminating(g, c, scratch.rows[0], scratch.rows[1])
                    for a in range(n_nodes):
                        out[n, a, c] = bits.has(scratch.rows[0], a)
            continue
        for v in range(n_nodes):
            for w in range(g.near.shape[1]):
                certain[v, w] = g.tail[v, w] & g.far_head[v, w]
            fill_first_steps(g, v, possible[v])
        close(certain)
        close(possible)
        if relation == ANCESTORS:
            _second_paths(g, certain, possible, scratch)
        for u in range(n_nodes):
            for v in range(n_nodes):
                if u != v:
                    unsure = POSSIBLE if bits.has(possible[u], v) else NOT
                    out[n, u, v] = DEFINITE if bits.has(certain[u], v) else unsure


def relate(planes: Words, n_nodes: int, relation: int, most_edges: int) -> NDArray[np.uint8]:
    """Return (N, d, d) codes of ordered pairs (u, v) of graphs (N, 4, W) without double edges."""
    out = np.zeros((len(planes), n_nodes, n_nodes), np.uint8)
    rows = empty_rows(n_nodes)
    certain, possible = np.zeros_like(rows.near), np.zeros_like(rows.near)
    _relate(planes, relation, rows, certain, possible, scratch_for(n_nodes, most_edges), out)
    return out


#: what a graph answers about an effect
NO_EFFECT, ADJUST, UNIDENTIFIED, _UNKNOWN = range(4)
_GIVEN, _FIRST, _SPREAD = N_ROWS, N_ROWS + 1, N_ROWS + 2


class Graphs(NamedTuple):
    """Graphs (N, 4, W): DAGs and ADMGs, each a model where latent nodes have edges of their own; or MAGs and PAGs."""

    planes: Words
    #: for each a graph of -> and <-> with the same m-separations
    models: Words
    #: whether they are DAGs and ADMGs
    are_models: bool


class Causes(NamedTuple):
    """What a graph, or a class of graphs, leaves possible, each (d, words)."""

    #: nodes to which, and from which, a possibly directed edge leads
    forward: Words
    backward: Words
    #: nodes that are joined by possibly directed paths; a node is its own ancestor and descendant
    above: Words
    below: Words
    #: children by edges that no latent node confounds
    visible: Words
    #: a graph of the class
    model: Model


def _empty_causes(n_nodes: int) -> Causes:
    model = empty_model(n_nodes)
    return Causes(*(np.zeros_like(model.above) for _ in Causes._fields[:-1]), model)


@kernel_part
def _fill_causes(graphs: Graphs, n: int, g: Rows, c: Causes, rows: Words) -> None:
    """Read one graph, and the graph of -> and <-> of its class."""
    bits.compact()
    read_marks(graphs.models[n], g)
    fill_model(g, c.model)
    read_marks(graphs.planes[n], g)
    for v in range(g.near.shape[0]):
        for w in range(g.near.shape[1]):
            # no head at the start of a possibly directed edge, no tail at its end
            c.forward[v, w] = c.below[v, w] = g.near[v, w] & ~g.head[v, w] & ~g.far_tail[v, w]
            c.backward[v, w] = c.above[v, w] = g.near[v, w] & ~g.far_head[v, w] & ~g.tail[v, w]
            c.visible[v, w] = c.forward[v, w] if graphs.are_models else bits.ZERO
    close(c.above)
    close(c.below)
    for v in range(np.uint64(g.near.shape[0])):
        bits.add(c.above[v], v)
        bits.add(c.below[v], v)
        if not graphs.are_models and not bits.is_empty(g.head[v]) and fill_discriminating(g, v, rows[0], rows[1]):
            for w in range(np.uint64(g.near.shape[1])):
                for parent in bits.members(w, rows[0, w]):
                    bits.add(c.visible[parent], v)


@kernel_part
def _fill_paths(c: Causes, t: np.uint64, y: np.uint64, first: Words, spread: Words) -> bool:
    """Fill the second nodes of possibly directed paths and what they may affect; return if first edges are visible."""
    bits.compact()
    todo = spread
    first[:] = bits.ZERO
    todo[:] = bits.ZERO
    if bits.has(c.below[t], y):
        bits.add(first, y)
        bits.add(todo, y)
    while True:
        v = bits.take_lowest(todo)
        if v == bits.NO_NODE:
            break
        for w in range(first.size):
            new = c.backward[v, w] & ~first[w]
            first[w] |= new
            todo[w] |= new
        bits.drop(todo, t)
    hidden = bits.ZERO
    for w in range(first.size):
        first[w] &= c.forward[t, w]
        hidden |= first[w] & ~c.visible[t, w]
    add_rows(c.below, first, spread)
    return hidden == bits.ZERO


@kernel_part
def _answer(c: Causes, t: np.uint64, y: np.uint64, rows: Words) -> int:
    """Return what a graph answers about the effect of t on y; where that is to adjust, fill the row of the set."""
    bits.compact()
    adjustment, first, spread = rows[_GIVEN], rows[_FIRST], rows[_SPREAD]
    visible = _fill_paths(c, t, y, first, spread)
    if bits.is_empty(first):
        return NO_EFFECT
    if not visible:
        return UNIDENTIFIED
    for w in range(first.size):
        adjustment[w] = (c.above[t, w] | c.above[y, w]) & ~spread[w]
    bits.drop(adjustment, t)
    return UNIDENTIFIED if connects(c.model, t, y, adjustment, first, rows) else ADJUST


@kernel_part
def _is_valid(true: Causes, t: np.uint64, y: np.uint64, rows: Words) -> bool:
    """Return whether adjusting for the row of the set gives the effect of t on y."""
    bits.compact()
    adjustment, first, spread = rows[_GIVEN], rows[_FIRST], rows[_SPREAD]
    if not _fill_paths(true, t, y, first, spread):
        return False
    for w in range(first.size):
        if spread[w] & adjustment[w]:
            return False
    return not connects(true.model, t, y, adjustment, first, rows)


@kernel
def _adjustment_mistakes(
    graphs: tuple[Graphs, Graphs, Graphs],
    left: Ints,
    right: Ints,
    g: Rows,
    causes: tuple[Causes, Causes, Causes],
    answers: NDArray[np.uint8],
    rows: Words,
    out: Ints,
) -> None:
    bits.compact()
    truth, target, estimate = graphs
    true, best, claimed = causes
    n_nodes = np.uint64(g.near.shape[0])
    for n in range(left.size):
        if n == 0 or left[n] != left[n - 1]:  # controls of one row share their truth
            _fill_causes(truth, left[n], g, true, rows)
            _fill_causes(target, left[n], g, best, rows)
            answers[:] = _UNKNOWN
        _fill_causes(estimate, right[n], g, claimed, rows)
        wrong = 0
        for t in range(n_nodes):
            for y in range(n_nodes):
                if t == y:
                    continue
                answer = _answer(claimed, t, y, rows)
                if answer == NO_EFFECT:
                    wrong += np.int64(bits.has(true.below[t], y))
                elif answer == ADJUST:
                    wrong += 0 if _is_valid(true, t, y, rows) else 1
                else:
                    if answers[t, y] == _UNKNOWN:
                        answers[t, y] = _answer(best, t, y, rows)
                    wrong += 1 if answers[t, y] != UNIDENTIFIED else 0
        out[n] = wrong


def mixed_adjustment_mistakes(
    truth: Graphs, target: Graphs, estimate: Graphs, truth_index: Ints, estimate_index: Ints, n_nodes: int
) -> NDArray[np.int64]:
    """Count wrong answers about ordered pairs; `target` is what graphs of the estimate's class can find of truths."""
    out = np.zeros(len(truth_index), np.int64)
    g = empty_rows(n_nodes)
    causes = _empty_causes(n_nodes), _empty_causes(n_nodes), _empty_causes(n_nodes)
    answers, rows = np.zeros((n_nodes, n_nodes), np.uint8), np.zeros((N_ROWS + 3, g.near.shape[1]), np.uint64)
    _adjustment_mistakes((truth, target, estimate), truth_index, estimate_index, g, causes, answers, rows, out)
    return out
