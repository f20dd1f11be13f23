"""The null model `permutation`: the estimate with its nodes relabelled at random."""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....contract.checks import name_row
from ....contract.field import all_orders
from ....contract.law import ClosedForm
from ....contract.metric import Metric
from ....contract.null import Controls, Known, Listing, Matching
from ....graphs.kernels import control_kernels
from ....graphs.kernels.planes import matrices_from_planes, planes_from_matrices
from ....graphs.mixed.marks import is_mixed, join_halves, plane_halves
from ....graphs.packing import unpack_column
from ....graphs.pairs import GraphBatch, GraphPairs, distinct_rows
from .additive import additive_moments
from .graph_controls import check_declared, estimated_edges, graph_controls
from .laws import mean_over_edges
from .listed import KEPT, Listed, have_lists, listed_laws

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Bools = NDArray[np.bool_]

#: nodes up to which all relabellings are listed (5,040), so that every metric has an exact distribution
MOST_LISTED = 7
#: different relabellings of an estimate up to which they are listed whatever its nodes, up to `MOST_NODES`
MOST_DIFFERENT, MOST_NODES = 5_040, 64
#: nodes up to which joint relabellings of several estimates are listed (720)
MOST_JOINT = 6
#: nodes up to which relabellings are listed as often as they occur
_REPEATED = 5


def _marks(graphs: GraphBatch, number: int) -> Bools:
    """Return the marks of a graph as matrices of bits that move with the nodes, (1 or 2, d, d)."""
    halves = plane_halves(graphs.planes[[number]])
    return np.stack([np.asarray(matrices_from_planes(half, graphs.n_nodes)[0], bool) for half in halves])


@cache
def _moved_marks(n_nodes: int) -> Words:
    """Return the bit each mark moves to under each order: of pair k, a < b, a -> b is bit k and b -> a bit 32 + k."""
    place = np.argsort(all_orders(n_nodes), axis=1)
    low, high = np.triu_indices(n_nodes, 1)
    number = np.zeros((n_nodes, n_nodes), np.int64)
    number[low, high] = number[high, low] = np.arange(len(low))
    a, b = place[:, low], place[:, high]
    forward, pair = a < b, number[a, b]
    bits = np.stack([np.where(forward, pair, pair + 32), np.where(forward, pair + 32, pair)])
    return np.left_shift(np.uint64(1), bits.transpose(0, 2, 1).reshape(2 * len(low), len(place)).astype(np.uint64))


def _moved(graphs: GraphBatch, number: int) -> Words:
    """Return a graph of few nodes in all orders, (d!, 1 or 2): a word holds a bit of both ends of each pair."""
    n_pairs = graphs.n_nodes * (graphs.n_nodes - 1) // 2
    words = []
    for half in plane_halves(graphs.planes[[number]]):
        marks = (half[0, :, :1] >> np.arange(n_pairs, dtype=np.uint64)) & np.uint64(1)
        chosen = _moved_marks(graphs.n_nodes)[np.flatnonzero(marks)]
        words.append(np.asarray(np.bitwise_or.reduce(chosen, axis=0), np.uint64))
    return np.stack(words, axis=1)


def _of_words(words: Words, graphs: GraphBatch, number: int) -> GraphBatch:
    planes = np.stack([words & np.uint64(2**32 - 1), words >> np.uint64(32)], axis=1)
    return _with_planes(planes.reshape(len(words), -1, 1), graphs, number)


def _with_planes(planes: Words, graphs: GraphBatch, number: int) -> GraphBatch:
    return GraphBatch(graphs.n_nodes, planes, np.repeat(graphs.kinds[[number]], len(planes)))


def all_relabellings(graphs: GraphBatch, number: int) -> GraphBatch:
    """Return a graph of at most `MOST_LISTED` nodes with its nodes in all orders."""
    return _of_words(_moved(graphs, number), graphs, number)


def different_relabellings(graphs: GraphBatch, number: int) -> GraphBatch | None:
    """Return the different graphs among all relabellings of a graph, each equally often; None where they are many."""
    d = graphs.n_nodes
    if d <= MOST_LISTED:
        every = _moved(graphs, number)
        return _of_words(every[np.sort(distinct_rows(every)[0])], graphs, number)
    if _are_many(graphs, number):
        return None
    new = _marks(graphs, number)[None]
    stacks, known = [new], {np.packbits(new).tobytes()}
    while len(new):
        # exchanges of neighbouring nodes reach every order
        fresh = []
        for i in range(d - 1):
            order = np.arange(d)
            order[[i, i + 1]] = i + 1, i
            moved = new[:, :, order][:, :, :, order]
            for marks, word in zip(moved, np.packbits(moved.reshape(len(moved), -1), axis=1), strict=True):
                if word.tobytes() not in known:
                    known.add(word.tobytes())
                    fresh.append(marks)
            if len(known) > MOST_DIFFERENT:
                return None
        new = np.array(fresh, bool).reshape(len(fresh), *new.shape[1:])
        stacks.append(new)
    halves = [planes_from_matrices(half, np.arange(d)) for half in np.moveaxis(np.concatenate(stacks), 1, 0)]
    return _with_planes(join_halves(halves), graphs, number)


def _are_many(graphs: GraphBatch, number: int) -> bool:
    """Return whether a graph surely has too many relabellings, before these are made."""
    alike, most = np.zeros(graphs.n_nodes, np.int64), math.log(MOST_DIFFERENT) + 1e-9
    if not is_mixed(graphs.planes):
        degrees = graphs.take(np.array([number])).degrees[0]
        alike = np.unique(degrees, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return _fewest_relabellings(alike) > most or _fewest_relabellings(_classes(_marks(graphs, number), alike)) > most


def _fewest_relabellings(alike: Ints) -> float:
    """Return the logarithm of a bound: at most nodes of the same class, (d,), may be exchanged without change."""
    counts = np.bincount(alike)
    return float(math.lgamma(len(alike) + 1) - sum(math.lgamma(n + 1) for n in counts.tolist()))


def _classes(marks: Bools, classes: Ints) -> Ints:
    """Refine classes of nodes, (d,), by how many marks (k, d, d) they have to and from each class."""
    while True:
        members = (classes[:, None] == np.arange(classes.max(initial=-1) + 1)).astype(np.int64)
        ends = [side @ members for half in marks for side in (half, half.T)]
        known = np.column_stack([classes, *ends])
        finer = np.unique(known, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
        if finer.max(initial=0) == classes.max(initial=0):
            return finer
        classes = finer


def _laws(pairs: GraphPairs) -> Known:
    """Return the function that finds the exact law of a metric where relabellings are listed, else its moments."""
    d, index = pairs.n_nodes, pairs.estimate_index

    @lru_cache(maxsize=KEPT)
    def support(number: int) -> Listed | None:
        if d <= _REPEATED:
            return all_relabellings(pairs.estimate, number), 1 / math.factorial(d)
        variants = different_relabellings(pairs.estimate, number)
        return None if variants is None else (variants, 1 / len(variants))

    @cache
    def laws() -> Known:
        if d <= MOST_LISTED:
            return listed_laws(pairs, index, support, math.factorial(d), np.ones(pairs.n, bool), moments)
        few = have_lists(index, support) if d <= MOST_NODES else np.zeros(pairs.n, bool)
        return listed_laws(pairs, index, support, MOST_DIFFERENT, few, moments)

    def moments(metric: Metric) -> ClosedForm | None:
        if metric.closed_form != "mean_over_edges":
            return additive_moments(metric, pairs)
        # the estimate's shape decides the variance
        return ClosedForm(mean_over_edges(metric, pairs, estimated_edges(pairs), np.zeros(pairs.n, bool)).mean)

    def known(metric: Metric) -> ClosedForm | None:
        return laws()(metric)

    return known


def permutation_controls(matching: Matching, rows: Ints, pairs: Any, keys: Words) -> Controls:
    """Relabel every estimate: its class, degrees and marks stay, also those of graphs in no class.

    Law: the estimate under a uniform permutation of its nodes' names. Given: the estimate up to names, that is all of
    its structure. Rows with one key are relabelled alike. Up to seven nodes, or 5,040 relabellings, all are listed.

    It is valid for every guesser that does not use the names, whatever the shape of its guesses, or where the truth's
    names are random. Not valid for guesses that share the truth's order of columns or other knowledge about names. A
    graph with many symmetries has few relabellings, so that its p cannot be small.
    """
    check_declared(rows, pairs)
    d, kinds, graphs_of = pairs.n_nodes, pairs.estimate.kinds[pairs.estimate_index], plane_halves(pairs.estimate.planes)

    def graphs(start: int, count: int) -> GraphBatch:
        drawn = [control_kernels().relabel_graphs(x, d, pairs.estimate_index, keys, start, count) for x in graphs_of]
        return GraphBatch(d, join_halves(drawn), np.repeat(kinds, count))

    listing = Listing(math.factorial(d), _all_controls(pairs, kinds)) if d <= MOST_JOINT else None
    return graph_controls(pairs, kinds, graphs, _laws(pairs), listing=listing)


def _all_controls(pairs: GraphPairs, kinds: NDArray[np.uint8]) -> Controls:
    """Return controls of which draw r is the r-th relabelling of every row."""
    relabelled = lru_cache(maxsize=KEPT)(lambda number: all_relabellings(pairs.estimate, number).planes)

    def graphs(start: int, count: int) -> GraphBatch:
        planes = [relabelled(number)[start : start + count] for number in pairs.estimate_index.tolist()]
        return GraphBatch(pairs.n_nodes, np.concatenate(planes), np.repeat(kinds, count))

    return graph_controls(pairs, kinds, graphs)


def check_same_nodes(matching: Matching) -> None:
    """Refuse estimates of one cluster and stratum over different nodes: one relabelling cannot serve both."""
    context, cluster = matching.context, matching.cluster
    # without strata nothing is added up over the rows
    if cluster is None or matching.stratum is None or context is None or not context.gives(["latents"]):
        return
    node_sets = unpack_column(matching.estimate, in_place=True).row_node_set
    first: dict[tuple[int, int], int] = {}
    for row in np.flatnonzero((node_sets >= 0) & (cluster != 0)).tolist():
        other = first.setdefault((int(matching.stratum[row]), int(cluster[row])), row)
        if node_sets[other] != node_sets[row]:
            index = matching.estimate.index
            raise ValueError(
                f"{name_row(other, index)} and {name_row(row, index)} are of one stratum and cluster, but their "
                "estimates have different observed nodes, so that one relabelling cannot serve both: put a column that "
                "tells their latents apart into by=, or use cluster=None where all runs are independent"
            )
