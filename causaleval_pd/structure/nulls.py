"""Null models of graph estimates: random graphs matched to the estimate, and what is known of metrics under them.

References
----------
.. [1] Petersen, A. H. (2025). Are you doing better than random guessing? A call for using negative controls when
   evaluating causal discovery algorithms. UAI 2025.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..engine import uniforms
from ..graphs.batch import GraphBatch, GraphPairs, PairCounts, kernels
from ..graphs.column import as_graph
from ..graphs.packed import unpack_column
from ..graphs.planes import KINDS
from ..metric import Metric
from ..null import ClosedForm, Controls, Distribution, Matcher, Matching, Null

#: rough bytes of a drawn control besides its planes: counts and the values of a few metrics
_COUNT_BYTES = 200
_ANY_ORDER = np.empty(0, np.int64)


class Counts(NamedTuple):
    """Stands in for `GraphPairs` where a metric is a function of counts alone."""

    counts: PairCounts


@dataclass(frozen=True, eq=False)
class RandomGraphs:
    """Controls that are random graphs with given numbers of edges.

    Attributes
    ----------
    pairs : GraphPairs
        The observed pairs, one a row.
    n_edges : (n,) int64
        Number of edges of a row's controls.
    cpdag : (n,) bool
        Whether a row's controls are CPDAGs of random DAGs rather than the DAGs.
    keys : (n,) uint64
        Names of the rows' random streams.
    order : (0,) or (d,) int64
        Causal order of the nodes' positions; empty: a random one for every draw.
    pools : list of arrays, optional
        Edge numbers from which each draw takes its own, a pool a row, in place of `n_edges`.
    """

    pairs: GraphPairs
    n_edges: NDArray[np.int64]
    cpdag: NDArray[np.bool_]
    keys: NDArray[np.uint64]
    order: NDArray[np.int64]
    pools: list[NDArray[np.int64]] | None = None

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls, a word a row."""
        return np.where(self.cpdag, "cpdag", "dag").astype(object)

    @property
    def cost(self) -> int:
        """Bytes that one drawn control takes while it is scored."""
        return int(self.pairs.truth.planes[0].nbytes) + _COUNT_BYTES if len(self.pairs.truth) else _COUNT_BYTES

    def draw(self, start: int, count: int) -> GraphPairs:
        """Return rows x count pairs, a row's draws together, whose estimates are draws start .. start + count - 1."""
        d = self.pairs.n_nodes
        edges = self.n_edges[:, None] if self.pools is None else self._resample(start, count)
        planes = kernels().draw_graphs(d, edges, self.cpdag, self.keys, start, count, self.order)
        kinds = np.repeat(np.where(self.cpdag, KINDS.index("cpdag"), KINDS.index("dag")).astype(np.uint8), count)
        truth_index = np.repeat(self.pairs.truth_index, count)
        index = np.arange(len(truth_index), dtype=np.int64)
        return GraphPairs(self.pairs.truth, GraphBatch(d, planes, kinds), truth_index, index)

    def _resample(self, start: int, count: int) -> NDArray[np.int64]:
        """Draw each control's number of edges from its row's pool, with replacement."""
        uniform = uniforms(self.keys, start, count)
        edges = np.empty(uniform.shape, np.int64)
        for row, pool in enumerate(self.pools or []):
            edges[row] = pool[(uniform[row] * len(pool)).astype(np.int64)]
        return edges

    def closed_form(self, metric: Metric) -> ClosedForm | None:
        """Return what is known of the metric under random graphs with a fixed number of edges, or None."""
        if self.pools is not None or metric.null is None:
            return None
        edges = self.pairs.truth.edge_counts
        truth = self.pairs.truth_index
        d = self.pairs.n_nodes
        if metric.null == "hypergeometric":
            return hypergeometric(metric, d, edges.edges[truth], self.n_edges)
        if self.cpdag.all() or len(self.order):
            return None
        if metric.null == "linear":
            degrees = self.pairs.truth.degrees[truth]
            known = linear(metric, d, edges.directed[truth], edges.undirected[truth], self.n_edges, degrees)
        elif metric.null == "reversal":
            known = reversal(metric, d, edges.directed[truth], edges.undirected[truth], self.n_edges)
        else:
            return None
        variance = np.nan if known.variance is None else known.variance
        return ClosedForm(np.where(self.cpdag, np.nan, known.mean), np.where(self.cpdag, np.nan, variance))


def hypergeometric(metric: Metric, n_nodes: Any, true_edges: Any, estimated_edges: Any) -> ClosedForm:
    """Give the exact distribution of a function of the shared adjacencies under a uniformly random skeleton.

    With M node pairs, the number of shared adjacencies is hypergeometric (M, true edges, estimated edges); the metric
    is evaluated at every possible number.

    Parameters
    ----------
    metric : Metric
        A metric that depends on the skeletons only.
    n_nodes, true_edges, estimated_edges : array_like of int
        Margins, broadcast together to (n,).

    Returns
    -------
    ClosedForm
        Mean, variance and distribution, a row each.
    """
    given = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(x, np.int64)) for x in (n_nodes, true_edges, estimated_edges))
    )
    codes, distinct = pd.factorize(pd.MultiIndex.from_arrays(given))
    d, mt, me = (np.asarray(distinct.get_level_values(i), np.int64)[:, None] for i in range(3))
    support, weights = hypergeometric_weights(d * (d - 1) // 2, mt, me)
    counts = PairCounts(d, support, mt, me)
    values = np.asarray(metric.function(Counts(counts), **metric.options), np.float64)
    distribution = Distribution.of(codes.astype(np.int64), values, weights)
    mean = distribution.expectation(lambda x: x)
    deviation = distribution.expectation(np.square) - mean**2
    return ClosedForm(mean, np.maximum(deviation, 0.0), distribution)


def hypergeometric_weights(
    n_pairs: NDArray[np.int64], true_edges: NDArray[np.int64], estimated_edges: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return support (u, s) and probabilities (u, s) of hypergeometric laws given as (u, 1) margins.

    Ratios of neighbouring terms are summed as logarithms from the mode, which keeps every term to some 1e-14 relative.
    """
    low = np.maximum(0, true_edges + estimated_edges - n_pairs)
    high = np.minimum(true_edges, estimated_edges)
    steps = np.arange(int((high - low).max(initial=0)) + 1)
    support = np.minimum(low + steps, high)
    inside = low + steps <= high
    k = support.astype(np.float64)
    rising = np.log(np.maximum((true_edges - k) * (estimated_edges - k), 1.0))
    falling = np.log((k + 1) * np.maximum(n_pairs - true_edges - estimated_edges + k + 1, 1.0))
    logs = np.zeros(support.shape)
    logs[:, 1:] = np.cumsum((rising - falling)[:, :-1], axis=1)
    logs = np.where(inside, logs, -np.inf)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return support, weights / weights.sum(axis=1, keepdims=True)


def linear(
    metric: Metric,
    n_nodes: Any,
    directed: NDArray[np.float64],
    undirected: NDArray[np.float64],
    estimated_edges: NDArray[Any],
    degrees: NDArray[np.int32] | None,
) -> ClosedForm:
    """Give mean and variance of a metric that is affine in shared edges and shared directions, under random DAGs.

    The control is a DAG drawn as a uniform skeleton x a uniform order. A true edge is present with probability
    p1 = m_e / M and, if directed, has its direction with probability 1/2; two true edges are both present with
    p2 = m_e (m_e - 1) / (M (M - 1)) and both have their directions with probability 1/4 (disjoint), 1/6 (a chain) or
    1/3 (a fork or collider). The variance is known where the truth is fully directed.

    Parameters
    ----------
    metric : Metric
        Affine in `PairCounts.tp`, `same_direction`, `reversed` and `added_direction` at fixed margins.
    n_nodes : array_like of int
        Number of nodes.
    directed, undirected : (n,) float
        Directed and undirected edges of the truth.
    estimated_edges : (n,) int
        Edges of the control.
    degrees : (n, d, 3) int or None
        In-, out- and undirected degrees of the truth; None: no variance.

    Returns
    -------
    ClosedForm
        Mean and variance (NaN where unknown).
    """
    n_pairs = np.asarray(n_nodes * (n_nodes - 1) / 2, np.float64)
    me = np.asarray(estimated_edges, np.float64)

    def at(shared_directed: float, shared_undirected: float, same: float) -> NDArray[np.float64]:
        counts = PairCounts(
            n_nodes,
            shared_directed + shared_undirected,
            directed + undirected,
            me,
            same_direction=same,
            reversed=shared_directed - same,
            true_directed=directed,
            estimated_directed=me,
            added_direction=shared_undirected,
        )
        return np.asarray(metric.function(Counts(counts), **metric.options), np.float64)

    none = at(0, 0, 0)
    present, present_undirected, same = at(1, 0, 0) - none, at(0, 1, 0) - none, at(1, 0, 1) - at(1, 0, 0)
    p1 = np.divide(me, n_pairs, out=np.zeros_like(me), where=n_pairs > 0)
    mean = none + p1 * (directed * (present + same / 2) + undirected * present_undirected)
    if degrees is None:
        return ClosedForm(mean, np.full_like(mean, np.nan))
    p2 = np.divide(me * (me - 1), n_pairs * (n_pairs - 1), out=np.zeros_like(me), where=n_pairs > 1)
    inward, outward = degrees[..., 0].astype(np.float64), degrees[..., 1].astype(np.float64)
    chains = (inward * outward).sum(axis=1)
    forks = (outward * (outward - 1) / 2 + inward * (inward - 1) / 2).sum(axis=1)
    disjoint = directed * (directed - 1) / 2 - chains - forks
    square = (p1 * (present + same / 2)) ** 2

    def both(agree: float) -> NDArray[np.float64]:
        return np.asarray(p2 * (present**2 + present * same + same**2 * agree) - square)

    single = p1 * (present**2 + (present + same) ** 2) / 2 - square
    variance = directed * single + 2 * (disjoint * both(1 / 4) + chains * both(1 / 6) + forks * both(1 / 3))
    return ClosedForm(mean, np.where(undirected > 0, np.nan, np.maximum(variance, 0.0)))


def reversal(
    metric: Metric,
    n_nodes: int,
    directed: NDArray[np.float64],
    undirected: NDArray[np.float64],
    estimated_edges: NDArray[np.int64],
) -> ClosedForm:
    """Give the mean of a ratio of right directions to shared adjacencies, of a DAG against random DAGs.

    A random DAG and its reversal are equally likely, and where one has the share s of the shared edges right the other
    has 1 - s: the mean is 1/2 given a shared edge. Without one the metric is 0/0.

    Parameters
    ----------
    metric : Metric
        One that becomes 1 minus itself when the control is reversed.
    n_nodes : int
        Number of nodes.
    directed, undirected : (n,) float
        Directed and undirected edges of the truth.
    estimated_edges : (n,) int
        Edges of the control.

    Returns
    -------
    ClosedForm
        Mean; NaN for a truth with undirected edges.
    """
    n_pairs = np.full((len(directed), 1), n_nodes * (n_nodes - 1) // 2)
    true_edges = (directed + undirected).astype(np.int64)[:, None]
    support, weights = hypergeometric_weights(n_pairs, true_edges, estimated_edges[:, None])
    nothing_shared = np.where(support == 0, weights, 0.0).sum(axis=1)
    undefined = metric.function(Counts(PairCounts(n_nodes, 0, directed, estimated_edges)), **metric.options)
    mean = np.where(
        np.isnan(undefined),
        np.where(nothing_shared < 1, 0.5, np.nan),
        (1 - nothing_shared) / 2 + nothing_shared * undefined,
    )
    return ClosedForm(np.where(undirected > 0, np.nan, mean))


def _control_classes(matching: Matching, rows: NDArray[np.int64], pairs: GraphPairs) -> NDArray[np.bool_]:
    """Tell which rows are matched by CPDAGs: the user's word, else every estimate that is no DAG."""
    kinds = pairs.estimate.kinds[pairs.estimate_index]
    cpdag = np.asarray(kinds != KINDS.index("dag"))
    if matching.control_kind is None:
        return cpdag
    told = matching.control_kind[rows]
    for row, kind in zip(rows, told, strict=True):
        if not pd.isna(kind) and kind not in KINDS:
            raise ValueError(
                f"row {row}: control_kind is {kind!r}; expected one of {', '.join(KINDS)}, or the name of a column "
                "that holds these words"
            )
    stated = np.array([not pd.isna(kind) for kind in told], bool)
    return np.where(stated, told != "dag", cpdag)


def _order(matching: Matching, d: int) -> NDArray[np.int64]:
    """Turn `permute=False` into the order of the nodes' names; True draws a new order every time."""
    return _ANY_ORDER if matching.options.get("permute", True) else np.arange(d, dtype=np.int64)


def match_edges(matching: Matching) -> Matcher:
    """Match every control to its row's class and number of edges."""

    def match(rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        n_edges = pairs.estimate.edge_counts.edges[pairs.estimate_index].astype(np.int64)
        cpdag = _control_classes(matching, rows, pairs)
        return RandomGraphs(pairs, n_edges, cpdag, keys, _order(matching, pairs.n_nodes))

    return match


def match_stratum(matching: Matching) -> Matcher:
    """Match controls to the estimate's class, their edge numbers drawn from all estimates of the stratum."""
    strata = matching.stratum
    if strata is None:
        raise ValueError(
            "null='stratum' draws edge numbers from a stratum's estimates, so it needs strata: use cube(by=[...], "
            "null='stratum'), or null='edges' for rows"
        )
    unpacked = unpack_column(matching.estimate)
    batches = [GraphBatch(block.n_nodes, block.planes, block.kinds) for block in unpacked.blocks]
    n_edges = unpacked.scatter([batch.edge_counts.edges for batch in batches], -1, np.int64)
    n_nodes = unpacked.scatter([np.full(len(batch), batch.n_nodes) for batch in batches], -1, np.int64)
    known = ~unpacked.missing
    frame = pd.DataFrame({"stratum": strata[known], "edges": n_edges[known], "nodes": n_nodes[known]})
    mixed = frame.groupby("stratum")["nodes"].nunique()
    if (mixed > 1).any():
        number = mixed.index[mixed > 1][0]
        row = int(np.flatnonzero(known & (strata == number))[0])
        raise ValueError(
            f"null='stratum' needs graphs of one size a stratum; the stratum of row {row} has estimates over "
            f"{sorted(frame.nodes[frame.stratum == number].unique().tolist())} nodes; add the number of nodes to by="
        )
    # sorted pools do not depend on the order of the rows
    pools = {key: np.sort(group.to_numpy()) for key, group in frame.groupby("stratum")["edges"]}

    def match(rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        fixed = pairs.estimate.edge_counts.edges[pairs.estimate_index].astype(np.int64)
        cpdag = _control_classes(matching, rows, pairs)
        order = _order(matching, pairs.n_nodes)
        return RandomGraphs(pairs, fixed, cpdag, keys, order, [pools[s] for s in strata[rows]])

    return match


def published_edges(
    truth: Any, key: NDArray[np.uint64], *, n_edges: int, kind: str, permute: bool, nodes: Sequence[str] | None
) -> RandomGraphs:
    """Make controls for an estimate of which only the number of edges and the class are known."""
    graph = as_graph(truth, nodes=nodes)
    n_pairs = graph.n_nodes * (graph.n_nodes - 1) // 2
    if isinstance(n_edges, bool) or int(n_edges) != n_edges or not 0 <= n_edges <= n_pairs:
        raise ValueError(
            f"n_edges must be a whole number from 0 to {n_pairs} for {graph.n_nodes} nodes, found {n_edges!r}"
        )
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, found {kind!r}")
    batch = GraphBatch(graph.n_nodes, graph.planes[None], np.array([KINDS.index(graph.kind)], np.uint8))
    order = _ANY_ORDER
    if not permute:
        order = np.array([graph.nodes.index(name) for name in nodes or graph.nodes], np.int64)
    return RandomGraphs(
        GraphPairs.zip(batch, batch), np.array([n_edges], np.int64), np.array([kind != "dag"]), key, order
    )


NULLS = {
    "edges": Null(
        "edges", "random graphs with the estimate's class and number of edges", match_edges, published=published_edges
    ),
    "stratum": Null(
        "stratum",
        "random graphs with the estimate's class and a number of edges drawn from its stratum's estimates",
        match_stratum,
        by_stratum=True,
    ),
}
