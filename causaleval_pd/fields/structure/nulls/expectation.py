"""Exact expectations of random guessing from numbers of edges alone: expected metrics and the skeleton test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ....contract.checks import check_known, check_number, shown
from ....contract.metric import Metric
from ....contract.metric_sets import select_metrics, tweak
from ....execution.options import get_options
from .laws import hypergeometric, linear, tails_and_misfit

__all__ = ["expected_metric", "skeleton_test"]

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
    .. [1] Petersen, A. H. (2025). Are you doing better than random guessing? A call for using negative controls when
       evaluating causal discovery algorithms. UAI 2025.

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
    parts = []
    for one_metric in select_metrics(metric):
        fixed = "zero_division" in one_metric.options or not one_metric.zero_division
        chosen = one_metric if fixed else tweak(one_metric, zero_division=get_options()["zero_division"])
        part = pd.DataFrame({"metric": chosen.name, "n_nodes": d, "true_edges": mt, "estimated_edges": me})
        parts.append(part.assign(**_expected(chosen, d, mt, me, level, convention)))
    return pd.concat(parts, ignore_index=True)


def _expected(
    metric: Metric, d: NDArray[np.int64], mt: NDArray[np.int64], me: NDArray[np.int64], level: float, convention: str
) -> dict[str, NDArray[np.float64]]:
    nothing = np.full(len(d), np.nan)
    if metric.closed_form == "linear":
        none = np.zeros(len(d))
        mean = linear(metric, d, mt.astype(np.float64), none, me, None).mean
        return {"mean": mean, "median": nothing, "low": nothing, "high": nothing}
    if metric.closed_form != "hypergeometric":
        raise ValueError(
            f"{metric.name} has no closed form under random graphs; simulate it for a true graph, by "
            f"ce.control_distribution(truth, n_edges={me.flat[0]}, kind='dag', metrics={metric.name!r})"
        )
    known = hypergeometric(metric, d, mt, me)
    mean = known.mean
    if convention == "published" and metric.name in _PUBLISHED_MEANS:
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = _PUBLISHED_MEANS[metric.name](d * (d - 1) / 2, mt, me)
    if known.distribution is None or not len(d):
        return {"mean": mean, "median": nothing, "low": nothing, "high": nothing}
    tail = (1 - level) / 2
    median, low, high = (known.distribution.quantile(q) for q in (0.5, tail, 1 - tail))
    return {"mean": mean, "median": median, "low": low, "high": high}


def _whole(given: ArrayLike, name: str) -> NDArray[np.int64]:
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


def _margins(n_nodes: ArrayLike, true_edges: ArrayLike, estimated_edges: ArrayLike) -> list[NDArray[np.int64]]:
    """Return the three as integers, after checking that they broadcast and fit graphs."""
    d, mt, me = (
        _whole(margin, name)
        for margin, name in (
            (n_nodes, "n_nodes"),
            (true_edges, "true_edges"),
            (estimated_edges, "estimated_edges"),
        )
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
    .. [1] Petersen, A. H. (2025). Are you doing better than random guessing? A call for using negative controls when
       evaluating causal discovery algorithms. UAI 2025.

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
