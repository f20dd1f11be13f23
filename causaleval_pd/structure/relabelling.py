"""The null model `permutation`: the estimate with its nodes relabelled at random, and its exact moments.

A statistic that adds up over ordered pairs of nodes, sum over i != j of c(type of (i, j) in the truth, type in the
estimate), has an exact mean and variance under random relabelling whatever the costs c. One engine covers them all:
types are channels, matrices over ordered pairs, and a metric is a matrix of costs between channels.

References
----------
.. [1] Hubert, L., Schultz, J. (1976). Quadratic assignment as a general data analysis strategy.
   doi:10.1111/j.2044-8317.1976.tb00714.x
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..graphs.batch import GraphBatch, GraphPairs, control_kernels
from ..graphs.planes import marks_from_planes, planes_from_marks, row_chunks
from ..metric import Metric
from ..null import ClosedForm, Controls, Matcher, Matching
from .closed_forms import edge_weights, enumerated
from .drawn_graphs import DrawnGraphs

Floats = NDArray[np.float64]

#: nodes up to which all relabellings are listed (120), so that every metric has an exact distribution
MOST_LISTED = 5


class PairSums(NamedTuple):
    """What the moments need of one side: channels summed, and products of two channels summed by pattern.

    Attributes
    ----------
    totals : (N, K) float
        Sums of the channels over ordered pairs.
    products : (N, K, K, 7) float
        Sums over two ordered pairs of nodes that are the same, reversed, share their first node, their second node,
        the first is the other's second, the second the other's first, or are disjoint.
    """

    totals: Floats
    products: Floats


def pair_sums(channels: ArrayLike) -> PairSums:
    """Sum channels (N, K, d, d), matrices whose diagonals do not count, and products of two of them by pattern."""
    x = np.array(channels, np.float64)
    d = x.shape[-1]
    x[..., range(d), range(d)] = 0.0
    first, second = x.sum(axis=3), x.sum(axis=2)
    totals = first.sum(axis=2)
    flat = x.reshape(*x.shape[:2], d * d)
    turned = x.transpose(0, 1, 3, 2).reshape(flat.shape)

    def product(a: Floats, b: Floats) -> Floats:
        return np.asarray(a @ b.transpose(0, 2, 1))

    same, reverse = product(flat, flat), product(flat, turned)
    patterns = [same, reverse, product(first, first) - same, product(second, second) - same]
    patterns += [product(first, second) - reverse, product(second, first) - reverse]
    disjoint = totals[:, :, None] * totals[:, None, :] - sum(patterns)
    return PairSums(totals, np.stack([*patterns, disjoint], axis=-1))


def relabelling_moments(truth: PairSums, estimate: PairSums, costs: ArrayLike, n_nodes: int) -> tuple[Floats, Floats]:
    """Give mean and variance of sum over k, l of costs[k, l] truth_k(i, j) estimate_l(pi(i), pi(j)), pi random.

    Parameters
    ----------
    truth, estimate : PairSums
        Of n rows, with K and L channels.
    costs : (n, K, L) or (K, L) array_like
        Weight of each pair of channels.
    n_nodes : int
        Number of nodes d.

    Returns
    -------
    mean, variance : (n,) float
        Exact over all d! relabellings.

    Examples
    --------
    >>> chain = np.array([[[[0, 1, 0], [0, 0, 1], [0, 0, 0]]]])
    >>> mean, variance = relabelling_moments(pair_sums(chain), pair_sums(chain), [[1.0]], 3)
    >>> mean.round(3).tolist(), variance.round(3).tolist()
    ([0.667], [0.556])
    """
    d = n_nodes
    weight = np.broadcast_to(np.asarray(costs, np.float64), (len(truth.totals), *np.shape(costs)[-2:]))
    ways = np.array([d * (d - 1)] * 2 + [d * (d - 1) * (d - 2)] * 4 + [d * (d - 1) * (d - 2) * (d - 3)], np.float64)
    chance = np.divide(1.0, ways, out=np.zeros(7), where=ways > 0)
    mean = np.einsum("nk,nkl,nl->n", truth.totals, weight, estimate.totals) * chance[0]
    spread = np.einsum("nka,nklp,nlb->nabp", weight, truth.products, weight, optimize=True)
    square = np.einsum("nabp,nabp,p->n", spread, estimate.products, chance, optimize=True)
    variance = square - mean**2
    # what is rounding of the difference is no variance
    return mean, np.where(variance > 1e-9 * (1 + mean**2), variance, 0.0)


class Additive(NamedTuple):
    """How metrics of one kind add up: what is compared, the channels of either side, and the costs of a metric.

    `costs(metric, pairs)` returns a constant (n,) and costs (n, K, L), or None where a metric does not add up.
    """

    view: Callable[[GraphPairs], GraphPairs]
    truth: Callable[[GraphBatch], NDArray[Any]]
    estimate: Callable[[GraphBatch], NDArray[Any]]
    costs: Callable[[Metric, GraphPairs], tuple[Floats, Floats] | None]


def _arrows_and_lines(graphs: GraphBatch) -> NDArray[np.int8]:
    """Return the channels i -> j and i -- j."""
    marks = marks_from_planes(graphs.planes, graphs.n_nodes)
    lines = marks & marks.transpose(0, 2, 1)
    return np.stack([marks ^ lines, lines], axis=1)


def _arrows_both_ways_and_lines(graphs: GraphBatch) -> NDArray[np.int8]:
    """Return the channels i -> j, i <- j and i -- j."""
    arrows, lines = np.moveaxis(_arrows_and_lines(graphs), 1, 0)
    return np.stack([arrows, arrows.transpose(0, 2, 1), lines], axis=1)


def _edge_costs(metric: Metric, pairs: GraphPairs) -> tuple[Floats, Floats] | None:
    """Turn weights of shared edges into costs: a directed edge is one ordered pair, an undirected one is two."""
    weights = edge_weights(metric, pairs)
    if weights is None:
        return None
    costs = np.zeros((pairs.n, 2, 3))
    costs[:, 0, 0], costs[:, 0, 1], costs[:, 0, 2] = weights.same, weights.reversed, weights.lost
    costs[:, 1, 0], costs[:, 1, 2] = weights.added, weights.undirected / 2
    return weights.constant, costs


def _as_they_are(pairs: GraphPairs) -> GraphPairs:
    return pairs


def _as_cpdags(pairs: GraphPairs) -> GraphPairs:
    return pairs.cpdags


_EDGES = Additive(_as_they_are, _arrows_and_lines, _arrows_both_ways_and_lines, _edge_costs)

#: closed forms, by a metric's `null`, whose metrics add up over ordered pairs
ADDITIVE: dict[str, Additive] = {
    "hypergeometric": _EDGES,
    "linear": _EDGES,
    "cpdag_linear": _EDGES._replace(view=_as_cpdags),
}


def additive_moments(metric: Metric, pairs: GraphPairs) -> ClosedForm | None:
    """Give exact mean and variance of a pair-additive metric under random relabelling of the estimates.

    Parameters
    ----------
    metric : Metric
        Any metric of graphs.
    pairs : GraphPairs
        The rows.

    Returns
    -------
    ClosedForm or None
        None for a metric that does not add up over ordered pairs.
    """
    if metric.null == "v_structures":
        return _v_structure_mean(metric, pairs)
    rule = ADDITIVE.get(metric.null or "")
    if rule is None:
        return None
    compared = rule.view(pairs)
    found = rule.costs(metric, compared)
    if found is None:
        return None
    constant, costs = found
    sums = []
    for graphs, index, channels in (
        (compared.truth, compared.truth_index, rule.truth),
        (compared.estimate, compared.estimate_index, rule.estimate),
    ):
        used, place = np.unique(index, return_inverse=True)
        # 3 channels of float64, and their transposes
        parts = [pair_sums(channels(graphs.take(used[part]))) for part in row_chunks(len(used), 50 * graphs.n_nodes**2)]
        sums.append(PairSums(*(np.concatenate(both)[place] for both in zip(*parts, strict=True))))
    mean, variance = relabelling_moments(sums[0], sums[1], costs, pairs.n_nodes)
    unknown = np.isnan(constant) | pairs.refused(metric.kinds)
    return ClosedForm(np.where(unknown, np.nan, mean + constant), np.where(unknown, np.nan, variance))


def _v_structure_mean(metric: Metric, pairs: GraphPairs) -> ClosedForm:
    """Give the mean of a function that is affine in the shared v-structures at fixed numbers of them.

    A relabelled v-structure of the estimate falls on any of the d C(d - 1, 2) triples alike.
    """

    class Fixed(NamedTuple):
        v_structures: Any

    found = pairs.v_structures
    d = pairs.n_nodes
    triples = d * (d - 1) * (d - 2) / 2
    expected = found.true * found.estimated / triples if triples else np.zeros(pairs.n)
    values = metric.function(Fixed(found._replace(both=expected)), **metric.options)
    return ClosedForm(np.asarray(values, np.float64))


@cache
def _orders(n_nodes: int) -> NDArray[np.int64]:
    return np.array(list(itertools.permutations(range(n_nodes))), np.int64).reshape(math.factorial(n_nodes), n_nodes)


def all_relabellings(graphs: GraphBatch, number: int) -> GraphBatch:
    """Return a graph with its nodes in all orders."""
    orders = _orders(graphs.n_nodes)
    marks = marks_from_planes(graphs.planes[[number]], graphs.n_nodes)[0].astype(bool)
    moved = marks[orders[:, :, None], orders[:, None, :]]
    planes = planes_from_marks(moved, np.arange(graphs.n_nodes))
    return GraphBatch(graphs.n_nodes, planes, np.repeat(graphs.kinds[[number]], len(orders)))


def match_permutation(matching: Matching) -> Matcher:
    """Relabel every estimate: its class, degrees and directed and undirected edges stay."""

    def match(rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        d = pairs.n_nodes

        def planes(start: int, count: int) -> NDArray[np.uint64]:
            found = control_kernels().relabel_graphs(pairs.estimate.planes, d, pairs.estimate_index, keys, start, count)
            return np.asarray(found)

        @cache
        def support(number: int) -> tuple[GraphBatch, float]:
            return all_relabellings(pairs.estimate, number), 1 / math.factorial(d)

        def known(metric: Metric) -> ClosedForm | None:
            if d <= MOST_LISTED:
                return enumerated(metric, pairs, pairs.estimate_index, support)
            return additive_moments(metric, pairs)

        return DrawnGraphs(pairs, pairs.estimate.kinds[pairs.estimate_index], planes, known)

    return match
