"""Controls that are listed rather than drawn, where they are few, and the exact laws of any metric under them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....contract.field import all_orders
from ....contract.law import ClosedForm, Distribution
from ....contract.metric import Metric
from ....contract.null import Known
from ....graphs.kernels import kernels
from ....graphs.kernels.planes import (
    CPDAG,
    DIGRAPH,
    KINDS,
    PDAG,
    arcs_from_planes,
    matrices_from_planes,
    planes_from_arcs,
    planes_from_matrices,
)
from ....graphs.mixed.marks import join_halves, plane_halves
from ....graphs.orientations import components
from ....graphs.pairs import GraphBatch, GraphPairs, distinct_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Kinds = NDArray[np.uint8]
Planes = NDArray[np.uint64]
#: edges by lower and higher node; their directions are (n, m): whether each runs from the lower to the higher one
NodePairs = tuple[tuple[int, int], ...]

#: the controls of a list, and their probabilities: one for all, or one each
Listed = tuple[GraphBatch, Any]
#: returns a list by its number, None where it is too long
Support = Callable[[int], Listed | None]

#: listed controls that are scored at once, and blocks of them that metrics share
_GRAPHS, _BLOCKS = 30_000, 8
#: lists that are kept at a time
KEPT = 256


def merged(planes: Planes, weights: Any) -> tuple[Planes, Floats]:
    """Return the different graphs among listed ones, (n, 2, W), with the sums of their weights."""
    distinct, inverse = np.unique(planes.reshape(len(planes), -1), axis=0, return_inverse=True)
    each = np.broadcast_to(np.asarray(weights, np.float64), len(planes))
    summed = np.bincount(inverse.reshape(-1), each, len(distinct)).astype(np.float64)
    return np.ascontiguousarray(distinct.reshape(-1, *planes.shape[1:])), summed


def have_lists(numbers: Ints, support: Support) -> Bools:
    """Return which rows have few enough controls for `support` to list them, by the number of each row's list."""
    codes, distinct = pd.factorize(numbers)
    return np.array([support(number) is not None for number in distinct.tolist()], bool)[codes]


def listed_laws(
    pairs: GraphPairs, numbers: Ints, support: Support, longest: int, listed: Bools, others: Known
) -> Known:
    """Return the laws of metrics where `support` lists controls by number, and what `others` knows elsewhere."""
    rows = np.flatnonzero(listed)
    # rows with the same list side by side: its graphs are then scored as one batch
    keys = np.stack([numbers[rows], pairs.truth_index[rows]], axis=1)
    distinct, index = np.unique(keys, axis=0, return_inverse=True)
    index_of_law = index.reshape(-1).astype(np.int64)
    blocks = np.array_split(distinct, max(1, -(-len(distinct) * longest // _GRAPHS))) if len(rows) else []

    @lru_cache(maxsize=_BLOCKS)
    def block(number: int) -> tuple[GraphPairs, list[Any]]:
        """Pair the truths of a block with the graphs of their lists; return also the probabilities of each list."""
        which, place = np.unique(blocks[number][:, 0], return_inverse=True)
        lists: list[Any] = [support(n) for n in which.tolist()]
        sizes = np.array([len(graphs) for graphs, _ in lists])
        starts = np.cumsum(sizes) - sizes
        graphs = lists[0][0]
        if len(lists) > 1:
            planes, kinds = (np.concatenate([getattr(graphs, x) for graphs, _ in lists]) for x in ("planes", "kinds"))
            graphs = GraphBatch(pairs.n_nodes, planes, kinds)
        places = place.reshape(-1).tolist()
        estimate = np.concatenate([np.arange(starts[i], starts[i] + sizes[i], dtype=np.int64) for i in places])
        truth = np.repeat(blocks[number][:, 1], sizes[places])
        chances = [np.broadcast_to(lists[i][1], sizes[i]) for i in places]
        return GraphPairs(pairs.truth, graphs, truth, estimate), chances

    def exact(metric: Metric) -> ClosedForm | None:
        """Return the exact law of a metric for the listed rows whose controls it takes, or None if there is none."""
        samples: list[tuple[Floats, Floats]] = []
        taken_lists: list[Bools] = []
        for number in range(len(blocks)):
            controls, chances = block(number)
            values, taken = metric.of_taken(controls)
            starts = np.cumsum([0, *map(len, chances)])[:-1]
            samples += zip(np.split(values, starts[1:]), chances, strict=True)
            taken_lists.append(np.logical_and.reduceat(taken, starts))
        known = np.concatenate([np.zeros(0, bool), *taken_lists])[index_of_law]
        if not known.any():
            return None
        rows = listed.copy()
        rows[rows] = known
        return ClosedForm.of(Distribution.pooled(index_of_law[known], samples)).spread(rows)

    def law(metric: Metric) -> ClosedForm | None:
        form = exact(metric)
        if form is None or form.listed is None:
            return form or others(metric)
        other = others(metric)
        if other is None:
            return form
        variance = other.variance
        if variance is not None and form.variance is not None:
            variance = np.where(form.listed, form.variance, variance)
        return replace(form, mean=np.where(form.listed, form.mean, other.mean), variance=variance)

    return law


#: nodes up to which the graphs of all orders are listed: at most 7,960 over five
MOST_ORDERED = 5
#: graphs up to which digraphs, and DAGs along one order, are listed
MOST_GRAPHS = 8_100


@lru_cache(maxsize=4096)
def are_listed(n_nodes: int, n_edges: int, kind: int, *, fixed: bool) -> bool:
    """Return whether the graphs of a class with a number of edges are listed; with `fixed` those along one order."""
    skeletons = math.comb(n_nodes * (n_nodes - 1) // 2, n_edges)
    if fixed:
        return skeletons <= MOST_GRAPHS
    return skeletons * 2**n_edges <= MOST_GRAPHS if kind == DIGRAPH else n_nodes <= MOST_ORDERED


@lru_cache(maxsize=256)
def all_random_graphs(n_nodes: int, n_edges: int, kind: int, order: tuple[int, ...] = ()) -> Listed:
    """Return all graphs of a class with a number of edges, directed along all orders or one, and its chance."""
    edges = tuple(itertools.combinations(range(n_nodes), 2))
    low, high = np.array(edges, np.int64).reshape(-1, 2).T
    place = np.argsort(np.array([order]) if order else all_orders(n_nodes), axis=1)
    along, coins = place[:, low] < place[:, high], _all_directions(n_edges if kind == DIGRAPH else 0)
    planes = np.concatenate(
        [
            _planes(n_nodes, tuple(edges[k] for k in chosen), coins if kind == DIGRAPH else along[:, chosen])
            for chosen in itertools.combinations(range(len(edges)), n_edges)
        ]
    )
    return _listed(n_nodes, *merged(planes, 1 / len(planes)), kind)


def random_graph_laws(pairs: GraphPairs, n_edges: Ints, kinds: Kinds, order: Ints, others: Known) -> Known:
    """Return the laws of metrics under random graphs, directed along all orders or one, listed where they are few."""
    d, fixed = pairs.n_nodes, tuple(order.tolist())
    few = [
        kind != PDAG and are_listed(d, m, kind, fixed=bool(fixed))
        for m, kind in zip(n_edges.tolist(), kinds.tolist(), strict=True)
    ]

    def support(number: int) -> Listed:
        return all_random_graphs(d, *divmod(number, len(KINDS)), fixed)

    return listed_laws(pairs, n_edges * len(KINDS) + kinds, support, MOST_GRAPHS, np.array(few, bool), others)


def _listed(n_nodes: int, planes: Planes, weights: Floats, kind: int) -> Listed:
    """Make read-only graphs of a class of directed ones; classes that several stand for are listed once."""
    if kind == CPDAG:
        planes, weights = merged(kernels().dag_to_cpdag(planes, n_nodes)[0], weights)
    weights.flags.writeable = planes.flags.writeable = False
    return GraphBatch(n_nodes, planes, np.full(len(planes), kind, np.uint8)), weights


#: orientations of a skeleton up to which all are listed
MOST_ORIENTATIONS = 5_040
#: nodes, or else edges, of a connected part of a skeleton up to which its orientations are listed
MOST_NODES, MOST_EDGES = 7, 10


def _all_directions(n_edges: int) -> Bools:
    return np.asarray((np.arange(2**n_edges)[:, None] >> np.arange(n_edges)) & 1 == 1)


def _planes(n_nodes: int, edges: NodePairs, forward: Bools) -> Planes:
    low, high = np.array(edges, np.int64).reshape(-1, 2).T
    source, target = np.where(forward, low, high), np.where(forward, high, low)
    graph = np.repeat(np.arange(len(forward)), len(edges))
    return planes_from_arcs(len(forward), n_nodes, graph, source.reshape(-1), target.reshape(-1))


@lru_cache(maxsize=1024)
def directions(n_nodes: int, edges: NodePairs) -> tuple[Bools, Floats] | None:
    """Return all acyclic directions of a connected skeleton, and the share of the orders of nodes that each suits."""
    if n_nodes <= MOST_NODES:
        places, (low, high) = all_orders(n_nodes), np.array(edges, np.int64).reshape(-1, 2).T
        forward = places[:, low] < places[:, high]
        codes = forward @ (1 << np.arange(len(edges))[::-1])
        _, first, counts = np.unique(codes, return_index=True, return_counts=True)
        return forward[first], counts / len(places)
    if len(edges) > MOST_EDGES:
        return None
    forward = _all_directions(len(edges))
    planes = _planes(n_nodes, edges, forward)
    acyclic = kernels().is_acyclic(planes, n_nodes)
    orders = kernels("controls").count_orders(planes[acyclic], n_nodes)
    return forward[acyclic], orders / math.factorial(n_nodes)


def oriented_graphs(n_nodes: int, edges: NodePairs, kind: int, *, by_order: bool) -> Listed | None:
    """Return all orientations of a skeleton as graphs of a class, and the probability of each; None if too many."""
    # what is directed independently: the edges of a digraph, else the connected parts
    parts: list[NodePairs] = [(edge,) for edge in edges]
    if kind != DIGRAPH:
        near = [0] * n_nodes
        for a, b in edges:
            near[a], near[b] = near[a] | 1 << b, near[b] | 1 << a
        parts = [tuple(edge for edge in edges if nodes >> edge[0] & 1) for nodes in components(near)]
    lists, n_graphs = [], 1
    for part in parts:
        here = {node: i for i, node in enumerate(sorted({*itertools.chain(*part)}))}
        listed_part = directions(len(here), tuple((here[a], here[b]) for a, b in part))
        if listed_part is None or n_graphs * len(listed_part[0]) > MOST_ORIENTATIONS:
            return None
        lists.append(listed_part)
        n_graphs *= len(listed_part[0])
    places = np.indices([len(ways) for ways, _ in lists]).reshape(len(lists), n_graphs)
    forward, weights = np.ones((n_graphs, len(edges)), bool), np.ones(n_graphs)
    for part, (ways, shares), place in zip(parts, lists, places, strict=True):
        forward[:, [edges.index(edge) for edge in part]] = ways[place]
        weights *= shares[place]
    if not by_order:
        weights = np.full(n_graphs, 1 / n_graphs)
    return _listed(n_nodes, _planes(n_nodes, edges, forward), weights, kind)


def orientation_laws(
    pairs: GraphPairs, skeletons: GraphBatch, index: Ints, kinds: Kinds, others: Known, *, by_order: bool
) -> Known:
    """Return the laws of metrics where rows keep their skeletons, whose directions are listed where they are few."""

    @lru_cache(maxsize=KEPT)
    def support(number: int) -> Listed | None:
        skeleton, kind = divmod(number, len(KINDS))
        # no skeleton of more edges has fewer acyclic orientations than the complete one over seven nodes
        if skeletons.edge_counts.edges[skeleton] > MOST_NODES * (MOST_NODES - 1) // 2:
            return None
        d, near = skeletons.n_nodes, skeletons.planes[[skeleton], 0]
        _, low, high = arcs_from_planes(np.stack([near, np.zeros_like(near)], axis=1), d)
        edges = tuple(zip(low.tolist(), high.tolist(), strict=True))
        return oriented_graphs(d, edges, kind, by_order=by_order)

    numbers = index * len(KINDS) + kinds
    listed = have_lists(numbers, support) & (kinds != PDAG)
    return listed_laws(pairs, numbers, support, MOST_ORIENTATIONS, listed, others)


#: nodes up to which all relabellings are listed (5,040), so that every metric has an exact distribution
MOST_LISTED = 7
#: different relabellings of an estimate up to which they are listed whatever its nodes, up to `MOST_RELABELLED`
MOST_DIFFERENT, MOST_RELABELLED = 5_040, 64
#: nodes up to which relabellings are listed as often as they occur
_REPEATED = 5


@cache
def _moved_marks(n_nodes: int) -> Planes:
    """Return the bit each mark moves to under each order: of pair k, a < b, a -> b is bit k and b -> a bit 32 + k."""
    place = np.argsort(all_orders(n_nodes), axis=1)
    low, high = np.triu_indices(n_nodes, 1)
    number = np.zeros((n_nodes, n_nodes), np.int64)
    number[low, high] = number[high, low] = np.arange(len(low))
    a, b = place[:, low], place[:, high]
    forward, pair = a < b, number[a, b]
    bits = np.stack([np.where(forward, pair, pair + 32), np.where(forward, pair + 32, pair)])
    return np.left_shift(np.uint64(1), bits.transpose(0, 2, 1).reshape(2 * len(low), len(place)).astype(np.uint64))


def all_relabellings(graphs: GraphBatch, number: int, *, different: bool = False) -> GraphBatch:
    """Return a graph of at most `MOST_LISTED` nodes with its nodes in all orders, or the different ones of these."""
    n_pairs = graphs.n_nodes * (graphs.n_nodes - 1) // 2
    halves = []
    for half in plane_halves(graphs.planes[[number]]):
        marks = (half[0, :, :1] >> np.arange(n_pairs, dtype=np.uint64)) & np.uint64(1)
        chosen = _moved_marks(graphs.n_nodes)[np.flatnonzero(marks)]
        halves.append(np.asarray(np.bitwise_or.reduce(chosen, axis=0), np.uint64))
    # a word holds a bit of both ends of each pair
    words = np.stack(halves, axis=1)
    if different:
        words = words[np.sort(distinct_rows(words)[0])]
    planes = np.stack([words & np.uint64(2**32 - 1), words >> np.uint64(32)], axis=1)
    return _with_planes(planes.reshape(len(words), -1, 1), graphs, number)


def _with_planes(planes: Planes, graphs: GraphBatch, number: int) -> GraphBatch:
    return GraphBatch(graphs.n_nodes, planes, np.repeat(graphs.kinds[[number]], len(planes)))


def different_relabellings(graphs: GraphBatch, number: int) -> GraphBatch | None:
    """Return the different graphs among all relabellings of a graph, each equally often; None where they are many."""
    d = graphs.n_nodes
    if d <= MOST_LISTED:
        return all_relabellings(graphs, number, different=True)
    # the marks as matrices of bits that move with the nodes, (1, 1 or 2, d, d)
    halves = plane_halves(graphs.planes[[number]])
    new = np.stack([np.asarray(matrices_from_planes(half, d), bool) for half in halves], axis=1)
    if _are_many(new[0]):
        return None
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


def _are_many(marks: Bools) -> bool:
    """Return whether a graph, whose marks are (k, d, d), surely has too many different relabellings."""
    # at most nodes of one class change places without change: classes are refined by marks to and from each class
    d = marks.shape[1]
    classes, n_classes = np.zeros(d, np.int64), 0
    while classes.max(initial=-1) >= n_classes:
        n_classes = int(classes.max()) + 1
        members = (classes[:, None] == np.arange(n_classes)).astype(np.int64)
        ends = [side @ members for half in marks for side in (half, half.T)]
        numbers: dict[bytes, int] = {}
        known = np.column_stack([classes, *ends])
        classes = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in known], np.int64)
        alike = sum(math.lgamma(n + 1) for n in np.bincount(classes).tolist())
        if math.lgamma(d + 1) - alike > math.log(MOST_DIFFERENT) + 1e-9:
            return True
    return False


def relabelling_laws(pairs: GraphPairs, others: Known) -> Known:
    """Return the laws of metrics under relabelling of the estimates, where different relabellings are few."""
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
            return listed_laws(pairs, index, support, math.factorial(d), np.ones(pairs.n, bool), others)
        few = have_lists(index, support) if d <= MOST_RELABELLED else np.zeros(pairs.n, bool)
        return listed_laws(pairs, index, support, MOST_DIFFERENT, few, others)

    def known(metric: Metric) -> ClosedForm | None:
        return laws()(metric)

    return known
