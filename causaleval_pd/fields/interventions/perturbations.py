"""Graphs against data under perturbations, without a truth: how the values of a node change where another is perturbed.

References
----------
Chevalley, Roohani, Mehrjou, Leskovec, Schwab (2022), CausalBench: a large-scale benchmark for network inference from
single-cell perturbation data, arXiv:2210.17283.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_number, check_type, check_whole, nearest
from ...contract.metric import metric
from ...contract.options import with_example, with_options
from ...graphs.kernels.planes import matrices_from_planes
from ...graphs.pairs import GraphPairs
from ..baselines.rules import complete_data, read_data
from .row_inputs import groups

__all__ = ["false_omission_rate", "mannwhitney_precision", "mean_wasserstein"]

Marks = NDArray[np.bool_]
Floats = NDArray[np.float64]


class Shifts(NamedTuple):
    """Changes of each node (column) under perturbation of each other one (row), NaN where a node is not perturbed."""

    #: (d, d): Wasserstein-1 distance between observational values of the node and those under perturbation
    distance: Floats
    #: (d, d): two-sided p-value of Mann and Whitney's test of the same samples
    p: Floats


def read_shifts(data: Any, label: Any, nodes: tuple[str, ...]) -> Shifts:
    """Compare the cases of each perturbation with the observational ones."""
    check_type(data, pd.DataFrame, "a DataFrame with one case per row", "data")
    check_type(label, str, "the name of a column of the data", "perturbed")
    if label not in data.columns or label in nodes:
        what = "is a node" if label in nodes else "is not a column of the data"
        raise ValueError(
            f"perturbed={label!r} {what}; {nearest(label, data.columns)}name the column of the data that "
            "names the perturbed node of each case"
        )
    values = read_data(data, nodes).values
    labels = data[label].astype(object).where(data[label].notna(), "").to_numpy()
    other = [x for x in dict.fromkeys(labels.tolist()) if x != "" and x not in nodes]
    if other:
        raise ValueError(
            f"column {label!r} of data holds {other[0]!r}, which is not a node ({(labels == other[0]).sum()} cases); "
            "make the label of observational cases missing, and leave out cases in which other nodes are perturbed"
        )
    base = values[labels == ""]
    if not len(base):
        raise ValueError(f"column {label!r} of data is missing in no case, so that no case is observational")
    d = len(nodes)
    distance, p = np.full((d, d), np.nan), np.full((d, d), np.nan)
    for i, name in enumerate(nodes):
        changed = values[labels == name]
        if len(changed):
            distance[i], p[i] = wasserstein(base, changed), _mann_whitney(base, changed)
    np.fill_diagonal(distance, np.nan)
    np.fill_diagonal(p, np.nan)
    return Shifts(distance, p)


def wasserstein(one: Floats, other: Floats) -> Floats:
    """Return the Wasserstein-1 distance between the samples in each column."""
    values = np.concatenate([one, other])
    order = np.argsort(values, axis=0, kind="stable")
    gaps = np.diff(np.take_along_axis(values, order, axis=0), axis=0)
    first = np.cumsum(order < len(one), axis=0)[:-1]
    rank = np.arange(1, len(values))[:, None]
    return np.asarray((np.abs(first / len(one) - (rank - first) / len(other)) * gaps).sum(axis=0))


def _mann_whitney(one: Floats, other: Floats) -> Floats:
    # scipy.stats is imported where it is used
    from scipy import stats

    values = np.sort(np.concatenate([one, other]), axis=0)
    tied = (values[1:] == values[:-1]).any(axis=0)
    p_values = np.ones(values.shape[1])
    # columns with and without ties apart: a tie in any column of a call makes scipy approximate the p-values of all
    for columns in (tied, ~tied):
        if columns.any():
            with np.errstate(divide="ignore", invalid="ignore"):
                p_values[columns] = stats.mannwhitneyu(one[:, columns], other[:, columns], axis=0).pvalue
    # equal constants differ in nothing
    return np.where(np.isnan(p_values), 1.0, p_values)


_HINT = (
    "context={'data': frame, 'perturbed': column}, where the column of the data names the perturbed node of each case "
    "and is missing in observational ones"
)
_OPTIONS = {
    "pairs": """pairs : GraphPairs
    Estimates with their data, `context={"data": frame, "perturbed": column}`.""",
    "alpha": """alpha : float
    Level of the test.""",
}
_EXAMPLE = """>>> import numpy as np
>>> import pandas as pd
>>> import causaleval_pd as ce
>>> data = pd.DataFrame({{"A": np.arange(40.0) % 20, "B": np.arange(40.0), "gene": [None] * 20 + ["A"] * 20}})
>>> runs = pd.DataFrame({{"estimate": ["{estimate}"]}})
>>> context = {{"data": data, "perturbed": "gene"}}
>>> ce.evaluate(runs, ["{name}"], truth=None, context=context)["{name}"].item()
1.0"""
_JUDGED: dict[str, Any] = {
    "field": "graph",
    "kinds": ("dag", "digraph", "cpdag", "pdag"),
    "truth_kinds": (),
    "reference": "10.48550/arXiv.2210.17283",
}


@metric(
    **_JUDGED,
    direction="maximize",
    range=(0, math.inf),
    optimum=math.inf,
    long_name="mean Wasserstein distance",
    closed_form="mean_over_edges",
)
@with_options(_OPTIONS)
def mean_wasserstein(pairs: GraphPairs, *, zero_division: float = math.nan) -> Floats:
    """Average over the edges A -> B how far perturbing A moves the distribution of B.

    The Wasserstein-1 distance is that between the values of B in observational cases and where A is perturbed, in units
    of B. Edges from nodes that are never perturbed are left out; an undirected edge counts in both directions. It
    depends on the scale of the nodes, and any descendant of A moves, not its children alone.

    Parameters
    ----------
    zero_division : float
        Value without edges from perturbed nodes.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> data = pd.DataFrame({"A": [0.0, 1, 5, 6], "B": [0.0, 1, 3, 4], "gene": [None, None, "A", "A"]})
    >>> runs = pd.DataFrame({"estimate": ["A -> B"]})
    >>> context = {"data": data, "perturbed": "gene"}
    >>> ce.evaluate(runs, ["mean_wasserstein"], truth=None, context=context)["mean_wasserstein"].item()
    3.0
    """
    return _over_edges(pairs, "mean_wasserstein", lambda shifts: shifts.distance, zero_division)


@metric(
    **_JUDGED,
    direction="maximize",
    range=(0, 1),
    optimum=1,
    long_name="share of edges with an effect",
    closed_form="mean_over_edges",
)
@with_options(_OPTIONS)
@with_example(_EXAMPLE, estimate="A -> B")
def mannwhitney_precision(pairs: GraphPairs, *, alpha: float = 0.05, zero_division: float = math.nan) -> Floats:
    """Divide the edges A -> B where perturbing A changes B by the edges from perturbed nodes.

    B changes if Mann and Whitney's two-sided test of its values, in observational cases and where A is perturbed, has
    p < alpha. Edges from nodes that are never perturbed are left out; an undirected edge counts in both directions.

    Parameters
    ----------
    zero_division : float
        Value without edges from perturbed nodes.
    """
    level = check_number(alpha, "alpha", "(0, 1)")
    return _over_edges(
        pairs,
        "mannwhitney_precision",
        lambda shifts: np.where(np.isnan(shifts.p), np.nan, shifts.p < level),
        zero_division,
    )


@metric(**_JUDGED, direction="minimize", range=(0, 1), optimum=0, long_name="false omission rate", costly=True)
@with_options(_OPTIONS)
@with_example(_EXAMPLE, estimate="A; B")
def false_omission_rate(
    pairs: GraphPairs, *, alpha: float = 0.05, max_path_length: int = 3, zero_division: float = math.nan
) -> Floats:
    """Divide the pairs without a directed path where perturbing A changes B by all pairs without one.

    These are all ordered pairs of a perturbed node A and another one B that the estimate does not join by a directed
    path of at most `max_path_length` edges, not a sample of them. B changes as for `mannwhitney_precision`.

    Parameters
    ----------
    max_path_length : int
        Number of edges of a path at most; -1 for any.
    zero_division : float
        Value without such pairs.
    """
    level = check_number(alpha, "alpha", "(0, 1)")
    longest = check_whole(max_path_length, "max_path_length", -1)

    def value(shifts: Shifts, marks: Marks) -> tuple[Floats, Floats]:
        omitted = ~_reached(marks, longest) & ~np.isnan(shifts.p)
        return (omitted & (shifts.p < level)).sum(axis=(1, 2)), omitted.sum(axis=(1, 2))

    return _divided(pairs, "false_omission_rate", value, zero_division)


def _over_edges(pairs: GraphPairs, name: str, values: Callable[[Shifts], Floats], zero_division: float) -> Floats:
    """Average values of ordered pairs over the edges from perturbed nodes."""

    def value(shifts: Shifts, marks: Marks) -> tuple[Floats, Floats]:
        each = values(shifts)
        known = marks & ~np.isnan(each)
        return np.where(known, each, 0.0).sum(axis=(1, 2)), known.sum(axis=(1, 2))

    return _divided(pairs, name, value, zero_division)


def _divided(
    pairs: GraphPairs, name: str, value: Callable[[Shifts, Marks], tuple[Floats, Floats]], zero_division: float
) -> Floats:
    """Divide what `value` returns for the marks of graphs on the same data."""
    ratios = np.empty(pairs.n)
    for group in groups(pairs, name, ["data", "perturbed"], _HINT):
        inputs = complete_data(group.values, group.nodes), group.values["perturbed"], group.nodes
        shifts = group.compute("shifts", partial(read_shifts, *inputs))
        marks = matrices_from_planes(pairs.estimate.planes[pairs.estimate_index[group.rows]], pairs.n_nodes).astype(
            bool
        )
        above, below = value(shifts, marks)
        ratios[group.rows] = np.where(below > 0, above / np.maximum(below, 1), zero_division)
    return ratios


def _reached(marks: Marks, longest: int) -> Marks:
    """Return which nodes are reached by directed edges, at most `longest` of them, -1 for any number."""
    directed = marks & ~marks.transpose(0, 2, 1)
    steps = directed.astype(np.float32)
    reach, limit = directed, max(1, marks.shape[1] - 1) if longest < 0 else longest
    for _ in range(limit - 1):
        more = reach | ((reach.astype(np.float32) @ steps) > 0)
        if (more == reach).all():
            break
        reach = more
    return np.asarray(reach if limit else np.zeros_like(reach))
