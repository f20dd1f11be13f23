"""Symmetry of a graph: how small a p-value by relabelling its nodes can be."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ....contract.confusion import Values
from ....contract.metric import metric
from ....graphs.classes import class_cpdag
from ....graphs.kernels.planes import CPDAG, PLAIN_KINDS, marks_from_planes
from ....graphs.mixed.conversions import mag_to_pag
from ....graphs.mixed.marks import codes_from_planes, is_mixed, lower
from ....graphs.mixed.relations import as_mags
from ....graphs.pairs import GraphPairs
from .independences import OF_ESTIMATE, SEPARATED

__all__ = ["p_floor"]


@metric(
    **OF_ESTIMATE,
    kinds=SEPARATED,
    direction=None,
    range=(0, 1),
    long_name="smallest p-value by relabelling",
    reference="10.48550/arXiv.2305.09565",
)
def p_floor(pairs: GraphPairs) -> Values:
    """Share of the relabellings of the estimate's nodes that give an equivalent graph.

    The number of automorphisms of its CPDAG, or of the PAG of a MAG or ADMG, divided by d! It is the smallest p-value
    that a metric which is the same for equivalent graphs can reach under the null model "permutation": where it is
    above alpha, no data can show that the graph is better than its relabellings. Metrics that differ between equivalent
    graphs, such as `lmc_share`, can go below it. It needs no data.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> [round(ce.p_floor(None, graph), 3) for graph in ("A -> B; B -> C", "A -> B; C -> B; B -> D", "A; B; C")]
    [0.333, 0.083, 1.0]
    """
    used, place = np.unique(pairs.estimate_index, return_inverse=True)
    planes, kinds = pairs.estimate.planes[used], pairs.estimate.kinds[used]
    plain, d = kinds < len(PLAIN_KINDS), pairs.n_nodes
    codes, exists = np.zeros((len(used), d, d), np.uint8), np.ones(len(used), bool)
    if plain.any():
        some = lower(planes[plain]) if is_mixed(planes) else planes[plain].copy()
        others = np.flatnonzero(kinds[plain] != CPDAG)
        if len(others):
            some[others], exists[np.flatnonzero(plain)[others]] = class_cpdag(some[others], d)
        codes[plain] = marks_from_planes(some, d)
    if not plain.all():
        codes[~plain] = codes_from_planes(mag_to_pag(as_mags(planes[~plain], kinds[~plain], d), d), d)
    logs = np.array([log_automorphisms(one) for one in codes]).reshape(-1)
    shares = np.exp(logs - math.lgamma(d + 1))
    return np.where(exists, np.minimum(shares, 1.0), np.nan)[place.reshape(-1)]


def log_automorphisms(marks: NDArray[np.uint8]) -> float:
    """Return the logarithm of the number of relabellings that leave a graph as it is: (d, d) codes of marks.

    Nodes are fixed one by one; the number is the product of how many nodes each can be exchanged for while those before
    it stay.
    """
    d = len(marks)
    colours, total = _refined(marks, np.zeros(d, np.int64)), 0.0
    while True:
        counts = np.bincount(colours)
        if counts.max(initial=1) == 1:
            return total
        node = int(np.flatnonzero(counts[colours] > 1)[0])
        alike = np.flatnonzero(colours == colours[node]).tolist()
        fixed = _with_own_colour(marks, colours, node)
        orbit = sum(
            _exchangeable(marks, node, other) or _maps(marks, fixed, _with_own_colour(marks, colours, other))
            for other in alike
        )
        total += math.log(orbit)
        colours = fixed


def _exchangeable(marks: NDArray[np.uint8], node: int, other: int) -> bool:
    """Return whether two nodes alone can be exchanged."""
    order = np.arange(len(marks))
    order[[node, other]] = other, node
    return np.array_equal(marks, marks[np.ix_(order, order)])


def _with_own_colour(marks: NDArray[np.uint8], colours: NDArray[np.int64], node: int) -> NDArray[np.int64]:
    """Refine classes of nodes after a node was put into a class of its own, the last."""
    own = colours.copy()
    own[node] = colours.max() + 1
    return _refined(marks, own)


def _refined(marks: NDArray[np.uint8], colours: NDArray[np.int64]) -> NDArray[np.int64]:
    """Refine classes of nodes by how many marks they have to and from each class; equal graphs get equal classes."""
    while True:
        members = (colours[:, None] == np.arange(colours.max(initial=0) + 1)).astype(np.int64)
        ends = [marks == code for code in range(1, int(marks.max(initial=0)) + 1)]
        known = np.column_stack([colours, *(side @ members for end in ends for side in (end, end.T))])
        finer = np.unique(known, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
        if finer.max(initial=0) == colours.max(initial=0):
            return finer
        colours = finer


def _maps(marks: NDArray[np.uint8], one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    """Return whether a relabelling that keeps the graph takes the classes of nodes `one` to the classes `other`."""
    counts = np.bincount(one)
    if not np.array_equal(counts, np.bincount(other)):
        return False
    if counts.max(initial=1) == 1:
        to = np.argsort(other)[one]
        return np.array_equal(marks, marks[np.ix_(to, to)])
    node = int(np.flatnonzero(counts[one] > 1)[0])
    fixed = _with_own_colour(marks, one, node)
    alike = np.flatnonzero(other == one[node]).tolist()
    return any(_maps(marks, fixed, _with_own_colour(marks, other, candidate)) for candidate in alike)
