"""Exact laws of functions of skeletons, and moments of shared edges and directions, under random graphs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ....contract.checks import check_known, check_number, check_type, shown
from ....contract.law import ClosedForm, Distribution
from ....contract.metric import Metric, bind_zero_division, metric_set
from ....contract.null import Known, no_closed_form
from ....execution.options import get_options
from ....graphs.edge_types import BACKWARD, FORWARD, LINE, EdgeTypes
from ....graphs.kernels import kernels
from ....graphs.kernels.planes import CPDAG, DAG, PDAG, count_ones, planes_from_matrices
from ....graphs.pairs import GraphBatch, GraphPairs, distinct_rows
from ....statistics.arrays import SMALLEST_P
from ....statistics.tails import hypergeometric_weights
from .additive import Counts, affine, affine_units, count_types, shared_edges

__all__ = ["expected_metric", "skeleton_test"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: numbers that a table of tail probabilities may hold
MOST_CELLS = 4_000_000


def hypergeometric(metric: Metric, n_nodes: Any, true_edges: Any, estimated_edges: Any) -> ClosedForm:
    """Return the exact distribution of a function of the shared adjacencies under a uniformly random skeleton."""
    margins = (n_nodes, true_edges, estimated_edges)
    columns = np.broadcast_arrays(*(np.atleast_1d(np.asarray(x, np.int64)) for x in margins))
    first, codes = distinct_rows(np.column_stack(columns).view(np.uint64))
    d, mt, me = (x[first][:, None] for x in columns)
    support, weights = hypergeometric_weights(d * (d - 1) // 2, mt, me)
    counts = EdgeTypes.of_margins(d, {LINE: mt}, {LINE: me}, {(LINE, LINE): support})
    values = Counts(counts).value(metric)
    return ClosedForm.of(Distribution.of(codes, values, weights))


def tails_and_misfit(
    shared: ArrayLike, n_pairs: ArrayLike, true_edges: ArrayLike, estimated_edges: ArrayLike
) -> tuple[Floats, int]:
    """Return P(X >= shared) for X hypergeometric, at least 2e-308, and the first (flat) impossible place, or -1."""
    columns = np.broadcast_arrays(*(np.asarray(x, np.int64) for x in (shared, n_pairs, true_edges, estimated_edges)))
    x, m, mt, me = (column.ravel() for column in columns)
    result = np.empty(len(x))
    low, high = np.maximum(0, mt + me - m), np.minimum(mt, me)
    first, law = distinct_rows(np.column_stack([m, mt, me]).view(np.uint64))
    step = max(1, MOST_CELLS // (int((high - low).max(initial=0)) + 1))
    for start in range(0, len(first), step):
        of_laws = first[start : start + step]
        rows = np.flatnonzero((law >= start) & (law < start + step)) if step < len(first) else slice(None)
        _, weights = hypergeometric_weights(*(column[of_laws, None] for column in (m, mt, me)))
        tails = np.zeros((len(of_laws), weights.shape[1] + 1))
        tails[:, :-1] = np.minimum(np.cumsum(weights[:, ::-1], axis=1)[:, ::-1], 1.0)
        tails[:, 0] = 1.0
        result[rows] = tails[law[rows] - start, np.clip(x[rows] - low[rows], 0, weights.shape[1])]
    misfits = np.flatnonzero((x < low) | (x > high))
    return np.maximum(result, SMALLEST_P).reshape(columns[0].shape), int(misfits[0]) if len(misfits) else -1


def _chains_and_forks(degrees: NDArray[np.int32]) -> tuple[Floats, Floats]:
    """Count the pairs of directed edges that form a chain, and a fork or collider."""
    # along a uniform order both have their directions with probability 1/6 and 1/3, and 1/4 where they are disjoint
    inward, outward = degrees[..., 0].astype(np.float64), degrees[..., 1].astype(np.float64)
    forks = (outward * (outward - 1) / 2 + inward * (inward - 1) / 2).sum(axis=1)
    return (inward * outward).sum(axis=1), forks


def linear(
    metric: Metric,
    n_nodes: Any,
    directed: Floats,
    undirected: Floats,
    estimated_edges: NDArray[Any],
    degrees: NDArray[np.int32] | None,
    tossed: Bools | bool = False,
) -> ClosedForm:
    """Return mean and variance of a metric affine in shared edges under random DAGs; NaN where these are unknown."""
    n_pairs = np.asarray(n_nodes * (n_nodes - 1) / 2, np.float64)
    me = np.asarray(estimated_edges, np.float64)

    def at(*shared: float) -> Floats:
        true, estimated = {FORWARD: directed, LINE: undirected}, {FORWARD: me}
        cells = dict(zip(((FORWARD, BACKWARD), (FORWARD, FORWARD), (LINE, FORWARD)), shared, strict=True))
        return Counts(EdgeTypes.of_margins(n_nodes, true, estimated, cells)).value(metric)

    none, (present, present_and_same, present_undirected), evaluations = affine_units(at, 3)
    same = present_and_same - present
    # options may make a metric a ratio of random counts
    none = np.where(np.any([wrong for *_, wrong in evaluations], axis=0), np.nan, none)
    # a true edge is present with probability p1, two are with p2; a direction is right with probability 1/2
    p1 = np.divide(me, n_pairs, out=np.zeros_like(me), where=n_pairs > 0)
    mean = none + p1 * (directed * (present + same / 2) + undirected * present_undirected)
    if degrees is None:
        return ClosedForm(mean, np.full_like(mean, np.nan))
    p2 = np.divide(me * (me - 1), n_pairs * (n_pairs - 1), out=np.zeros_like(me), where=n_pairs > 1)
    chains, forks = _chains_and_forks(degrees)
    disjoint = directed * (directed - 1) / 2 - chains - forks
    square = (p1 * (present + same / 2)) ** 2

    def both(agree: float) -> Floats:
        return np.asarray(p2 * (present**2 + present * same + same**2 * np.where(tossed, 1 / 4, agree)) - square)

    single = p1 * (present**2 + (present + same) ** 2) / 2 - square
    variance = directed * single + 2 * (disjoint * both(1 / 4) + chains * both(1 / 6) + forks * both(1 / 3))
    variance = np.where(undirected > 0, np.nan, np.maximum(variance, 0.0))
    return ClosedForm(mean, variance)


def reversal(metric: Metric, n_nodes: int, directed: Floats, undirected: Floats, estimated_edges: Ints) -> ClosedForm:
    """Return the mean of a ratio of right directions under random DAGs: 1/2 given a shared edge, else its 0/0."""
    n_pairs = np.full((len(directed), 1), n_nodes * (n_nodes - 1) // 2)
    true_edges = (directed + undirected).astype(np.int64)[:, None]
    support, weights = hypergeometric_weights(n_pairs, true_edges, estimated_edges[:, None])
    nothing_shared = np.where(support == 0, weights, 0.0).sum(axis=1)
    undefined = Counts(EdgeTypes.of_margins(n_nodes, {LINE: directed}, {LINE: estimated_edges}, {})).value(metric)
    mean = (1 - nothing_shared) / 2 + nothing_shared * undefined
    mean = np.where(np.isnan(undefined), np.where(nothing_shared < 1, 0.5, np.nan), mean)
    return ClosedForm(np.where(undirected > 0, np.nan, mean))


def oriented(metric: Metric, pairs: GraphPairs, *, along_order: bool, tossed: Bools) -> ClosedForm | None:
    """Return mean and, for coins and uniform orders, variance of an additive metric under directions of a skeleton."""
    skeleton = pairs.estimate.edge_counts.edges[pairs.estimate_index]
    cells, counts = shared_edges(pairs.n_nodes, count_types(pairs.truth, pairs.truth_index), {FORWARD: skeleton})
    weights = affine(metric, counts, len(cells))
    if weights is None:
        return None
    constant, units = weights[0], dict(zip(cells, weights[1], strict=True))
    planes = pairs.truth.planes[pairs.truth_index]
    edges = pairs.estimate.planes[pairs.estimate_index]
    edges = (edges[:, 0] | edges[:, 1])[:, None]
    arrows = planes & edges & ~(planes[:, :1] & planes[:, 1:])
    lines = planes[:, 0] & planes[:, 1] & edges[:, 0]
    shared = count_ones(arrows).sum(axis=(1, 2), dtype=np.float64)
    added = count_ones(lines).sum(axis=1, dtype=np.float64)
    # a type that no truth has adds nothing
    right, wrong, undirected = (units.get(x, 0.0) for x in ((FORWARD, FORWARD), (FORWARD, BACKWARD), (LINE, FORWARD)))
    mean = constant + shared * (right + wrong) / 2 + added * undirected
    if not along_order and not tossed.any():
        return ClosedForm(mean)
    chains, forks = _chains_and_forks(kernels().degrees(arrows, pairs.n_nodes))
    ordered = 2 * (chains * (1 / 6 - 1 / 4) + forks * (1 / 3 - 1 / 4))
    spread = shared / 4 + np.where(tossed, 0.0, ordered if along_order else np.nan)
    return ClosedForm(mean, (right - wrong) ** 2 * np.maximum(spread, 0.0))


def half_of_shared(metric: Metric, pairs: GraphPairs) -> ClosedForm:
    """Return the mean of a ratio of right directions, where a control and its reversal are equally likely."""
    fully = pairs.truth.edge_counts.undirected[pairs.truth_index] == 0
    nothing = EdgeTypes(pairs.n_nodes, {(LINE, 0): np.ones(pairs.n), (0, LINE): np.ones(pairs.n)})
    undefined = Counts(nothing).value(metric)
    return ClosedForm(np.where(fully, np.where(pairs.counts.tp > 0, 0.5, undefined), np.nan))


def by_form(others: Known = no_closed_form, **forms: Known) -> Known:
    """Return what is known of metrics by the names of their closed forms, and what `others` knows of further ones."""
    return lambda metric: forms.get(metric.closed_form or "", others)(metric)


def of_dags(known: Known, kinds: NDArray[np.uint8]) -> Known:
    """Set moments that hold for DAGs and digraphs to NaN in rows of classes with undirected edges."""
    undirected = np.isin(kinds, (CPDAG, PDAG))

    def moments(metric: Metric) -> ClosedForm | None:
        form = None if undirected.all() else known(metric)
        if form is None:
            return None
        variance = np.nan if form.variance is None else form.variance
        return ClosedForm(np.where(undirected, np.nan, form.mean), np.where(undirected, np.nan, variance))

    return moments


#: nodes up to which the variance of a mean over edges is computed
MOST_NODES = 32


def mean_over_edges(metric: Metric, pairs: GraphPairs, n_edges: Ints, tossed: Bools) -> ClosedForm:
    """Return mean and variance of a metric that averages values of ordered pairs, NaN where one is undefined."""
    # under uniform skeletons every ordered pair is equally likely, so that the mean is that of all values
    d = pairs.n_nodes
    truths, inverse = np.unique(pairs.truth_index, return_inverse=True)
    small = 1 < d <= MOST_NODES
    # graphs of one arc each, of which the variance is made; else of all arcs from one node
    source, target = np.nonzero(~np.eye(d, dtype=bool))
    number = np.arange(len(source)) if small else source
    marks = np.zeros((len(source) if small else d, d, d), bool)
    marks[number, source, target] = True
    places = np.arange(len(marks), dtype=np.int64)
    batch = GraphBatch(d, planes_from_matrices(marks, np.arange(d)), np.full(len(marks), DAG, np.uint8))
    mean, parts = np.full(len(truths), np.nan), np.full((len(truths), 3), np.nan)
    for i, truth in enumerate(truths.tolist()):
        one = GraphPairs(pairs.truth, batch, np.full(len(marks), truth, np.int64), places)
        values = np.asarray(metric(one, zero_division=math.nan), np.float64)
        mean[i] = values.mean() if len(values) else math.nan
        if small:
            parts[i] = _parts_of_variance(values, d)
    mean, (among, along, shared) = mean[inverse.reshape(-1)], parts[inverse.reshape(-1)].T
    m = n_edges.astype(float)
    n_pairs = d * (d - 1) / 2
    chosen, twice = m / max(1.0, n_pairs), m * (m - 1) / max(1.0, n_pairs * (n_pairs - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = (among * (chosen - twice) + chosen * along + np.where(tossed, 0.0, twice * shared)) / m**2
    undefined = metric.options.get("zero_division", math.nan)
    known = ~np.isnan(mean)
    return ClosedForm(np.where(known & (m == 0), undefined, mean), np.where(known & (m == 0), 0.0, variance) + 0 * mean)


def _parts_of_variance(values: Floats, d: int) -> Floats:
    """Return sums of products of the values of ordered pairs: of unordered pairs, of directions, of shared nodes."""
    table = np.zeros((d, d))
    table[~np.eye(d, dtype=bool)] = values
    low, high = np.triu_indices(d, 1)
    middle, turn = (table[low, high] + table[high, low]) / 2, (table - table.T) / 2
    along = (turn[low, high] ** 2).sum()
    # two edges from one node lie on the same side of it with probability 2/3
    shared = ((turn.sum(axis=1) ** 2).sum() - (turn**2).sum()) / 3
    return np.array([((middle - middle.mean()) ** 2).sum(), along, shared])


#: of nodes and edges; the pairs of so many nodes are 64-bit integers
_LARGEST = 2**31 - 1
#: the paper's Table 3: means of the formulas, also where the metric is always 0/0
_PUBLISHED_MEANS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "adjacency_precision": lambda m, mt, me: mt / m,
    "adjacency_recall": lambda m, mt, me: me / m,
    "adjacency_f1": lambda m, mt, me: 2 * mt * me / (m * (mt + me)),
    "adjacency_npv": lambda m, mt, me: (m - mt) / m,
    "adjacency_specificity": lambda m, mt, me: (m - me) / m,
}


def expected_metric(
    metric: str | Metric | Sequence[str | Metric],
    *,
    n_nodes: ArrayLike,
    true_edges: ArrayLike,
    estimated_edges: ArrayLike,
    level: float = 0.95,
    convention: Literal["defined", "published"] = "defined",
) -> pd.DataFrame:
    """Return the exact null mean, median and interval of metrics under random graphs with a given number of edges.

    Parameters
    ----------
    metric : str, Metric or sequence of these
        Metrics of the skeletons (all outputs are exact), or metrics that are affine in shared edges and directions such
        as `shd` (the mean, for a DAG against a random DAG; the other outputs are NaN).
    n_nodes, true_edges, estimated_edges : array_like of int
        Numbers of nodes and edges, broadcast together; one row of the result each.
    level : float
        Probability between `low` and `high`.
    convention : {"defined", "published"}
        "defined" leaves the mean of a metric that is always 0/0 missing; "published" gives the mean that the source's
        formulas yield there (quantiles stay missing).

    Returns
    -------
    DataFrame
        Columns `metric`, `n_nodes`, `true_edges`, `estimated_edges`, `mean`, `median`, `low`, `high`. A quantile is the
        smallest value whose cumulative probability reaches it.

    Raises
    ------
    ValueError
        If a metric has no closed form, or numbers of edges do not fit the number of nodes.

    Notes
    -----
    With M = d (d - 1) / 2 node pairs, the shared adjacencies are hypergeometric (M, true edges, estimated edges). For a
    random DAG, E[SHD] = m_t + m_e - 1.5 m_t m_e / M.

    References
    ----------
    .. [1] Petersen, A. H. (2025). Are you doing better than random guessing? doi:10.48550/arXiv.2412.10039

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> found = ce.expected_metric("adjacency_precision", n_nodes=5, true_edges=8, estimated_edges=7)
    >>> found[["mean", "median", "low", "high"]].round(4)
       mean  median     low  high
    0   0.8  0.8571  0.7143   1.0
    """
    check_number(level, "level", "(0, 1)")
    check_known(convention, ("defined", "published"), "convention")
    margins = np.broadcast_arrays(*_margins(n_nodes, true_edges, estimated_edges))
    d, mt, me = (np.atleast_1d(side).ravel() for side in margins)
    metrics = [metric] if isinstance(metric, (str, Metric)) else metric
    check_type(metrics, Iterable, "a metric or several, by name or as Metric", "metrics")
    parts = []
    for unbound in metric_set(*metrics):
        chosen = bind_zero_division(unbound, get_options()["zero_division"])
        part = pd.DataFrame({"metric": chosen.name, "n_nodes": d, "true_edges": mt, "estimated_edges": me})
        parts.append(part.assign(**_expected(chosen, d, mt, me, level, convention)))
    if not parts:
        raise ValueError("metrics names no metric; list_metrics() shows all")
    return pd.concat(parts, ignore_index=True)


def _expected(metric: Metric, d: Ints, mt: Ints, me: Ints, level: float, convention: str) -> dict[str, Floats]:
    """Return the columns of `expected_metric` by name; quantiles are NaN where they have no closed form."""
    tail = (1 - level) / 2
    levels = {"median": 0.5, "low": tail, "high": 1 - tail}
    unknown = dict.fromkeys(levels, np.full(len(d), np.nan))
    if metric.closed_form == "linear":
        return {"mean": linear(metric, d, mt.astype(np.float64), np.zeros(len(d)), me, None).mean, **unknown}
    if metric.closed_form != "hypergeometric":
        raise ValueError(
            f"{metric.name} has no closed form under random graphs; simulate it for a true graph, by "
            f"ce.control_distribution(truth, n_edges={me.flat[0]}, kind='dag', metrics={metric.name!r})"
        )
    known = hypergeometric(metric, d, mt, me)
    mean, law = known.mean, known.distribution
    if convention == "published" and metric.name in _PUBLISHED_MEANS:
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = _PUBLISHED_MEANS[metric.name](d * (d - 1) / 2, mt, me)
    if law is None or not len(d):
        return {"mean": mean, **unknown}
    return {"mean": mean, **{name: law.quantile(q) for name, q in levels.items()}}


def _whole(given: ArrayLike, name: str) -> Ints:
    """Return whole numbers from 0, after checking them."""
    try:
        numbers = np.asarray(given)
        if numbers.dtype.kind not in "iu":
            numbers = np.asarray(given, np.float64)
            if not (np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all()):
                raise ValueError
        if numbers.size and not 0 <= numbers.min() <= numbers.max() <= _LARGEST:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must hold whole numbers from 0 to {_LARGEST:,}, found {shown(given)}") from None
    return numbers.astype(np.int64, copy=False)


def _margins(n_nodes: ArrayLike, true_edges: ArrayLike, estimated_edges: ArrayLike) -> list[Ints]:
    """Return the three as integers, after checking that they broadcast and fit graphs."""
    d, mt, me = (
        _whole(margin, name)
        for margin, name in ((n_nodes, "n_nodes"), (true_edges, "true_edges"), (estimated_edges, "estimated_edges"))
    )
    np.broadcast_shapes(d.shape, mt.shape, me.shape)
    n_pairs = d * (d - 1) // 2
    for name, edges in (("true_edges", mt), ("estimated_edges", me)):
        if not (edges.size and n_pairs.size) or edges.max() <= n_pairs.min():
            continue
        over = edges > n_pairs
        if over.any():
            nodes, number = (np.broadcast_to(x, over.shape)[over][0] for x in (d, edges))
            raise ValueError(f"{name} is {number}, but {nodes} nodes have only {nodes * (nodes - 1) // 2} pairs")
    return [d, mt, me]


def skeleton_test(tp: ArrayLike, true_edges: ArrayLike, estimated_edges: ArrayLike, n_nodes: ArrayLike) -> Any:
    """Test exactly whether an estimate shares more adjacencies with the truth than a random skeleton of its size.

    Parameters
    ----------
    tp : array_like of int
        Shared adjacencies.
    true_edges, estimated_edges : array_like of int
        Edges of truth and estimate.
    n_nodes : array_like of int
        Number of nodes.

    Returns
    -------
    float or ndarray
        P(shared adjacencies of a random skeleton >= tp), of the broadcast shape.

    Raises
    ------
    ValueError
        If the numbers fit no pair of graphs.

    References
    ----------
    .. [1] Petersen, A. H. (2025). Are you doing better than random guessing? doi:10.48550/arXiv.2412.10039

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> round(ce.skeleton_test(10, 30, 30, 22), 10)
    0.0015632446
    """
    d, mt, me = _margins(n_nodes, true_edges, estimated_edges)
    shared = np.asarray(tp)
    if shared.dtype.kind not in "iu":
        try:
            shared = np.asarray(tp, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"tp must hold whole numbers from 0, found {shown(tp)}") from None
    # a fraction is as impossible as a negative number
    whole = shared if shared.dtype.kind in "iu" else np.where(shared == np.floor(shared), shared, -1.0)
    p, misfit = tails_and_misfit(whole, d * (d - 1) // 2, mt, me)
    if misfit >= 0:
        overlap, true, estimated, nodes = (np.broadcast_to(x, p.shape).flat[misfit] for x in (shared, mt, me, d))
        raise ValueError(
            f"tp is {overlap:g}, impossible with {true} true and {estimated} estimated edges over {nodes} nodes "
            f"({nodes * (nodes - 1) // 2} pairs)"
        )
    return float(p) if p.ndim == 0 else p
