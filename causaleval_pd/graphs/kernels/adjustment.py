"""Compiled counts of wrong adjustments.

An estimate's strategy answers, for each ordered pair of a treatment t and an outcome y, one of

- t has no effect on y: y is a parent of t ("parent"), or not a possible descendant of t ("ancestor", "optimal");
- the effect cannot be found by adjustment: a possibly causal path from t to y begins with an undirected edge;
- adjust for a set: the parents of t, its ancestors, or the parents of the nodes on causal paths without those that are
  possible descendants of t.

The answer is wrong if in the truth y is a possible descendant of t; the effect can be found; or the set is not an
adjustment set, by the generalised adjustment criterion (Perkovic, Textor, Kalisch and Maathuis 2018,
doi:10.48550/arXiv.1606.06903). The counts are the adjustment identification distances of Henckel, Wuertzen and
Weichwald (2024, doi:10.48550/arXiv.2402.08616).

A comparison works with rows of words, one word per node. Rows 0 to 3 belong to `walk_open`, which leaves the invalid
outcomes in row 0; the others have names below.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from .bits import ONE, ZERO, compact, copy_row, members, popcount
from .inputs import STRATEGIES, Comparison, Ints, Words, checked_comparison
from .lanes import Arcs, Workspace, load_graph, spread, spread_back, walk_open, workspace

_PARENT, _ANCESTOR, _OPTIMAL = range(3)
_INVALID, _FORBIDDEN, _BAD = 0, 4, 5
_NOWHERE, _TREATMENT, _GIVEN, _DESCENDANT = 6, 7, 8, 9
_NO_EFFECT, _UNCLEAR, _TRULY_UNCLEAR = 10, 11, 12
# lanes of pairs (treatment, outcome), for sets that depend on the outcome
_ASKED, _OUTCOME, _REACHED, _CAUSE = 13, 14, 15, 16
_ROWS = 17


@kernel_part
def _fill_unclear(arcs: Arcs, treatment: Words, unclear: Words) -> None:
    """Find the nodes that a possibly causal path reaches whose first edge is undirected."""
    unclear[:] = ZERO
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
        bad[v], forbidden[v], descendant[v] = given[v], ZERO, treatment[v]
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
    adjustment[:] = ZERO
    if strategy == _PARENT:
        for a in range(arcs.size[0]):
            if not arcs.undirected[a]:
                adjustment[arcs.tail[a]] |= treatment[arcs.head[a]]
        copy_row(adjustment, no_effect, adjustment.size)
    else:
        copy_row(treatment, no_effect, adjustment.size)
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
    copy_row(treatment, reached, adjustment.size)
    copy_row(outcome, cause, adjustment.size)
    adjustment[:] = ZERO
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
        wrong += popcount(outcome[v] & rows[_INVALID, v])
        treatment[v] = outcome[v] = ZERO
    return wrong


@kernel_part
def _pair_mistakes(true: Arcs, arcs: Arcs, strategy: int, rows: Words) -> int:
    """Count the ordered pairs of nodes for which the estimate's strategy is wrong in the truth."""
    compact()
    n_nodes = rows.shape[1]
    treatment, descendant = rows[_TREATMENT], rows[_DESCENDANT]
    no_effect, unclear, truly_unclear = rows[_NO_EFFECT], rows[_UNCLEAR], rows[_TRULY_UNCLEAR]
    asked_of, outcome = rows[_ASKED], rows[_OUTCOME]
    asked_of[:] = ZERO
    outcome[:] = ZERO
    wrong = waiting = 0
    for first in range(0, n_nodes, 64):
        n_lanes = min(64, n_nodes - first)
        used = ~ZERO if n_lanes == 64 else (ONE << np.uint64(n_lanes)) - ONE
        treatment[:] = ZERO
        for t in range(n_lanes):
            treatment[first + t] = ONE << np.uint64(t)
        _fill_answers(arcs, strategy, rows)
        _fill_unclear(true, treatment, truly_unclear)
        if strategy == _OPTIMAL:
            copy_row(treatment, descendant, n_nodes)
            spread(true, descendant, rows[_NOWHERE])
        else:
            _fill_invalid(true, rows[_GIVEN], treatment, descendant, rows)
        for v in range(n_nodes):
            asked = used & ~treatment[v]
            claimed = ~no_effect[v] & ~unclear[v] & ~truly_unclear[v] & asked
            mistakes = (no_effect[v] & descendant[v]) | (~no_effect[v] & (unclear[v] ^ truly_unclear[v]))
            wrong += popcount(mistakes & asked)
            if strategy != _OPTIMAL:
                wrong += popcount(claimed & rows[_INVALID, v])
                continue
            for t in members(ZERO, claimed):
                asked_of[first + np.int64(t)] |= ONE << np.uint64(waiting)
                outcome[v] |= ONE << np.uint64(waiting)
                waiting += 1
                if waiting == 64:
                    wrong += _optimal_mistakes(true, arcs, rows)
                    waiting = 0
    if waiting > 0:
        wrong += _optimal_mistakes(true, arcs, rows)
    return wrong


@kernel
def _adjustment_mistakes(pairs: Comparison, strategy: int, work: Workspace, rows: Words, out: Ints) -> None:
    """Fill the mistakes of each pair; -1 where a graph has a cycle."""
    room, true, arcs = work
    compact()
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
