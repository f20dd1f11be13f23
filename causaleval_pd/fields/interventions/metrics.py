"""Metrics of graphs by interventions: total effects of linear models, interventional classes, data under perturbations.

References
----------
Chevalley, Roohani, Mehrjou, Leskovec, Schwab (2022), CausalBench: a large-scale benchmark for network inference from
single-cell perturbation data, arXiv:2210.17283.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_choice, check_number, check_type, check_whole, nearest
from ...contract.confusion import Values, ratio
from ...contract.context import MissingInputError
from ...contract.metric import metric
from ...contract.options import with_example, with_options
from ...contract.pairs import PairError
from ...graphs.classes import pairs_apart, read_targets, to_icpdags
from ...graphs.kernels.planes import DAG, matrices_from_planes
from ...graphs.pairs import GraphBatch, GraphPairs
from ..baselines.rules import check_regular, complete_data, correlations, read_data
from ..causal_kl.cells import GaussianNetwork
from ..structure.distances import shd

__all__ = [
    "false_omission_rate", "mannwhitney_precision", "mean_wasserstein", "shd_icpdag", "total_effect_mae",
    "total_effect_rmse", "total_effect_scaled",
]  # fmt: skip

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def groups(
    pairs: GraphPairs, metric: str, names: Sequence[str], hint: str, function: Callable[..., Any]
) -> Iterator[tuple[NDArray[np.int64], Any]]:
    """Yield the pairs that share inputs and names of nodes, with what `function(inputs, nodes)` returns for them."""
    inputs = pairs.truth.inputs
    context = None if inputs is None else inputs.context
    lacking = [name for name in names if context is None or not context.gives([name])]
    if inputs is None or context is None or lacking:
        raise MissingInputError(f"{metric} needs {' and '.join(map(repr, lacking))} in the context: {hint}")
    numbers = inputs.numbers[pairs.truth_index]
    distinct, inverse = np.unique(numbers, axis=0, return_inverse=True)
    for i, (code, node_set) in enumerate(distinct.tolist()):
        rows = np.flatnonzero(inverse.reshape(-1) == i)
        values, nodes = dict(context.values[code]), inputs.node_sets[node_set]
        if "data" in names:
            values["data"] = complete_data(values, nodes)
        try:
            # once in each call of a verb
            computed = context.memory.remember((function, code, node_set), partial(function, values, nodes))
        except PairError:
            raise
        except (ValueError, TypeError) as error:
            raise PairError(rows, str(error)) from error
        yield rows, computed


def _marks(pairs: GraphPairs, rows: NDArray[np.int64]) -> Bools:
    """Return the marks of the estimates of some pairs, (n, d, d)."""
    return matrices_from_planes(pairs.estimate.planes[pairs.estimate_index[rows]], pairs.n_nodes).astype(bool)


#: how total effects are estimated with a graph
EffectEstimator = Literal["adjustment", "sem"]


def read_weights(given: Any, nodes: tuple[str, ...]) -> Floats:
    """Read the coefficients of a linear model, (d, d), the weight of i -> j in cell (i, j)."""
    import networkx as nx

    if isinstance(given, GaussianNetwork):
        coefficients: Mapping[str, Any] = given.coefficients
        table = pd.DataFrame(0.0, index=list(given.nodes), columns=list(given.nodes))
        for name, parents in given.parents.items():
            table.loc[sorted(parents), name] = coefficients[name]
    elif isinstance(given, pd.DataFrame):
        table = given
    else:
        raise TypeError(
            "coefficients must be a GaussianNetwork, or a DataFrame with sources as index and targets as columns; "
            f"found {type(given).__name__}"
        )
    for labels, side in ((table.index, "index"), (table.columns, "columns")):
        if sorted(labels.tolist(), key=str) != sorted(nodes):
            raise ValueError(
                f"the {side} of coefficients holds {labels.tolist()[:10]}, expected the nodes {list(nodes)[:10]}"
            )
    try:
        values = table.loc[list(nodes), list(nodes)].to_numpy(np.float64)
    except (TypeError, ValueError):
        raise ValueError("coefficients must be numbers, 0 where there is no edge") from None
    if not np.isfinite(values).all():
        raise ValueError("coefficients must be finite numbers, 0 where there is no edge")
    if not nx.is_directed_acyclic_graph(nx.DiGraph(values != 0)):
        raise ValueError("the arcs of coefficients have a directed cycle, so that total effects are not defined")
    return values


def effects_of_weights(weights: Floats) -> Floats:
    """Return the total effects (..., d, d) of linear models: (I - W)^-1 - I."""
    same = np.eye(weights.shape[-1])
    return np.asarray(np.linalg.inv(same - weights) - same)


def adjusted_effects(covariance: Floats, arcs: Bools) -> Floats:
    """Estimate total effects of i on j by regression of j on i and the parents of i; 0 if j is one of these."""
    d = len(covariance)
    effects = np.zeros(arcs.shape)
    for i in range(d):
        parents = arcs[:, :, i]
        for rows, chosen in _by_number(parents):
            regressors = np.hstack([np.full((len(rows), 1), i), chosen])
            inner = covariance[regressors[:, :, None], regressors[:, None, :]]
            first = np.zeros((len(rows), regressors.shape[1], 1))
            first[:, 0] = 1
            weights = np.linalg.solve(inner, first)[:, :, 0]
            effects[rows, i] = np.einsum("nk,nkd->nd", weights, covariance[regressors])
        effects[:, i][parents] = 0
        effects[:, i, i] = 0
    return effects


def fitted_effects(covariance: Floats, arcs: Bools) -> Floats:
    """Estimate total effects by path tracing in the linear model that is fitted to each DAG; as `adjusted_effects`."""
    weights = np.zeros(arcs.shape)
    for j in range(len(covariance)):
        for rows, chosen in _by_number(arcs[:, :, j]):
            if chosen.shape[1]:
                inner = covariance[chosen[:, :, None], chosen[:, None, :]]
                weights[rows[:, None], chosen, j] = np.linalg.solve(inner, covariance[chosen, j][:, :, None])[:, :, 0]
    return effects_of_weights(weights)


def _by_number(parents: Bools) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the rows that have the same number of parents, with the positions of these, (n, k)."""
    numbers = parents.sum(axis=1)
    groups = []
    for k in np.unique(numbers).tolist():
        rows = np.flatnonzero(numbers == k)
        groups.append((rows, np.nonzero(parents[rows])[1].reshape(len(rows), k)))
    return groups


_EFFECT_HINT = (
    "context={'data': frame, 'coefficients': weights}, where the weights are a GaussianNetwork, or a table with the "
    "sources as index and the targets as columns"
)
_COSTLY: dict[str, Any] = {"field": "graph", "direction": "minimize", "optimum": 0, "costly": True}
_ERROR: dict[str, Any] = {**_COSTLY, "kinds": ("dag",), "truth_kinds": (), "range": (0, math.inf)}
_EFFECT_OPTIONS = {
    "pairs": """pairs : GraphPairs
    Estimates with `context={"data": frame, "coefficients": weights}`.""",
    "estimator": """estimator : {"adjustment", "sem"}
    "adjustment" regresses j on i and the estimated parents of i, and takes 0 for these parents, as SID and the
    adjustment distances judge graphs; "sem" traces the paths of the linear model that is fitted to the graph.""",
}
_EFFECT_EXAMPLE = """>>> import pandas as pd
>>> import causaleval_pd as ce
>>> data = pd.DataFrame({{"A": [-1.0, 1, -1, 1], "B": {b}}})
>>> model = ce.GaussianNetwork({{"A": [], "B": ["A"]}}, {{"B": [{slope}]}}, {{"A": 1, "B": 1}})
>>> runs = pd.DataFrame({{"estimate": ["A -> B", "A; B", "B -> A"]}})
>>> context = {{"data": data, "coefficients": model}}
>>> ce.evaluate(runs, ["{name}"], truth=None, context=context)["{name}"].round(6).tolist()
{values}"""


@metric(**_ERROR, long_name="mean absolute error of total effects")
@with_options(_EFFECT_OPTIONS)
@with_example(_EFFECT_EXAMPLE, b=[-3.0, 1, -1, 3], slope=2, values="[0.0, 0.2, 1.2]")
def total_effect_mae(pairs: GraphPairs, *, estimator: EffectEstimator = "adjustment") -> Floats:
    """Average the absolute errors of the total effects over all ordered pairs of nodes.

    True effects are those of the linear model in the context, (I - W)^-1 - I; the estimate's are linear regressions on
    the data in the context.
    """
    return np.asarray(np.abs(_errors(pairs, "total_effect_mae", estimator)).mean(axis=1))


@metric(**_ERROR, long_name="root mean squared error of total effects")
@with_options(_EFFECT_OPTIONS)
@with_example(_EFFECT_EXAMPLE, b=[-3.0, 1, -1, 3], slope=2, values="[0.0, 0.282843, 1.442221]")
def total_effect_rmse(pairs: GraphPairs, *, estimator: EffectEstimator = "adjustment") -> Floats:
    """Take the root of the mean squared error of the total effects over all ordered pairs of nodes."""
    return np.asarray(np.sqrt((_errors(pairs, "total_effect_rmse", estimator) ** 2).mean(axis=1)))


@metric(**_ERROR, long_name="mean absolute error of standardised total effects")
@with_options(_EFFECT_OPTIONS)
@with_example(_EFFECT_EXAMPLE, b=[-30.0, 10, -10, 30], slope=20, values="[0.0, 0.447214, 0.894427]")
def total_effect_scaled(pairs: GraphPairs, *, estimator: EffectEstimator = "adjustment") -> Floats:
    """Average the absolute errors of the total effects of i on j in units of sd(j) / sd(i), which has no scale."""
    return np.asarray(np.abs(_errors(pairs, "total_effect_scaled", estimator, scaled=True)).mean(axis=1))


def _errors(pairs: GraphPairs, name: str, estimator: str, *, scaled: bool = False) -> Floats:
    """Return the errors of the total effects, (n, d (d - 1))."""
    check_choice(estimator, ("adjustment", "sem"), "estimator")
    d = pairs.n_nodes
    errors = np.full((pairs.n, max(1, d * (d - 1))), np.nan)
    if d < 2:
        return errors
    estimate = adjusted_effects if estimator == "adjustment" else fitted_effects
    off = ~np.eye(d, dtype=bool)
    for rows, (effects, covariance) in groups(pairs, name, ["data", "coefficients"], _EFFECT_HINT, _true_effects):
        error = estimate(covariance, _marks(pairs, rows)) - effects
        if scaled:
            sd = np.sqrt(np.diag(covariance))
            error = error * (sd[:, None] / sd[None, :])
        errors[rows] = error[:, off]
    return errors


def _true_effects(values: Mapping[str, Any], nodes: tuple[str, ...]) -> tuple[Floats, Floats]:
    """Return the true total effects and the covariance matrix of the data, (d, d) each."""
    matrix = read_data(values["data"], nodes)
    n, d = matrix.values.shape
    if n <= d:
        raise ValueError(f"data has {n} cases, too few for a regression on {d - 1} variables: it needs more than {d}")
    check_regular(correlations(matrix), nodes)
    return effects_of_weights(read_weights(values["coefficients"], nodes)), np.cov(matrix.values.T)


@metric(
    **_COSTLY,
    kinds=("dag", "cpdag", "pdag"),
    range=(0, math.inf),
    long_name="SHD of interventional classes",
    symmetric=True,
    reference="10.48550/arXiv.1104.2808",
)
def shd_icpdag(pairs: GraphPairs) -> Values:
    """Compare the I-CPDAGs of both graphs by the structural Hamming distance, any difference costing 1.

    A DAG is replaced by its I-CPDAG for the sets of targets in the context, `{"targets": "A; B,C"}` or the name of a
    column with such texts; a CPDAG or PDAG is taken for an I-CPDAG, and stays. The distance is 0 exactly for DAGs that
    observations and these interventions do not tell apart. Controls that are DAGs are mapped by the same targets, which
    relabelling does not move; for estimates that are I-CPDAGs use `control_kind="dag"` or `null="permutation"`.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"truth": ["A -> B; B -> C"] * 2, "estimate": ["C -> B; B -> A"] * 2, "targets": ["", "C"]})
    >>> ce.evaluate(runs, ["shd_icpdag"], context={"targets": "targets"})["shd_icpdag"].tolist()
    [0.0, 2.0]
    """
    distances = np.empty(pairs.n)
    hint = "context={'targets': 'A; B,C'}, or a column of such texts"
    for rows, apart in groups(pairs, "shd_icpdag", ["targets"], hint, _told_apart):
        some = pairs.take(rows)
        truths, true_index = np.unique(some.truth_index, return_inverse=True)
        estimates, index = np.unique(some.estimate_index, return_inverse=True)
        sides = (_mapped(pairs.truth.take(truths), apart), _mapped(pairs.estimate.take(estimates), apart))
        distances[rows] = shd.function(GraphPairs(*sides, true_index.reshape(-1), index.reshape(-1)))
    return distances


def _told_apart(values: Mapping[str, Any], nodes: tuple[str, ...]) -> Bools:
    """Return which pairs of nodes the targets in the context tell apart."""
    return pairs_apart(read_targets(values["targets"]), nodes)


def _mapped(graphs: GraphBatch, apart: NDArray[np.bool_]) -> GraphBatch:
    """Return the I-CPDAGs of DAGs, and other graphs as they are."""
    planes, kinds = graphs.planes.copy(), graphs.kinds.copy()
    dags = np.flatnonzero(kinds == DAG)
    separated = np.broadcast_to(apart, (len(dags), *apart.shape))
    planes[dags], kinds[dags] = to_icpdags(planes[dags], graphs.n_nodes, separated)
    return GraphBatch(graphs.n_nodes, planes, kinds)


def read_shifts(inputs: Mapping[str, Any], nodes: tuple[str, ...]) -> Floats:
    """Return Wasserstein-1 distances and Mann-Whitney p of nodes (columns) where others (rows) change, (2, d, d)."""
    data, label = inputs["data"], inputs["perturbed"]
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
    shifts = np.full((2, len(nodes), len(nodes)), np.nan)
    for i, name in enumerate(nodes):
        changed = values[labels == name]
        if len(changed):
            shifts[:, i] = wasserstein(base, changed), _mann_whitney(base, changed)
            shifts[:, i, i] = np.nan
    return shifts


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


_SHIFT_HINT = (
    "context={'data': frame, 'perturbed': column}, where the column of the data names the perturbed node of each case "
    "and is missing in observational ones"
)
_SHIFT_OPTIONS = {
    "pairs": """pairs : GraphPairs
    Estimates with their data, `context={"data": frame, "perturbed": column}`.""",
    "alpha": """alpha : float
    Level of the test.""",
    "zero_division": """zero_division : float
    Value without edges from perturbed nodes.""",
}
_SHIFT_EXAMPLE = """>>> import numpy as np
>>> import pandas as pd
>>> import causaleval_pd as ce
>>> data = pd.DataFrame({{"A": np.arange(40.0) % 20, "B": np.arange(40.0), "gene": [None] * 20 + ["A"] * 20}})
>>> runs = pd.DataFrame({{"estimate": ["{estimate}"]}})
>>> context = {{"data": data, "perturbed": "gene"}}
>>> ce.evaluate(runs, ["{name}"], truth=None, context=context)["{name}"].item()
{value}"""
_JUDGED: dict[str, Any] = {
    "field": "graph",
    "kinds": ("dag", "digraph", "cpdag", "pdag"),
    "truth_kinds": (),
    "reference": "10.48550/arXiv.2210.17283",
}
_MEAN: dict[str, Any] = {**_JUDGED, "direction": "maximize", "closed_form": "mean_over_edges"}


@metric(**_MEAN, range=(0, math.inf), optimum=math.inf, long_name="mean Wasserstein distance")
@with_options(_SHIFT_OPTIONS)
@with_example(_SHIFT_EXAMPLE, estimate="A -> B", value=20.0)
def mean_wasserstein(pairs: GraphPairs, *, zero_division: float = math.nan) -> Floats:
    """Average over the edges A -> B how far perturbing A moves the distribution of B.

    The Wasserstein-1 distance is that between the values of B in observational cases and where A is perturbed, in units
    of B. Edges from nodes that are never perturbed are left out; an undirected edge counts in both directions. It
    depends on the scale of the nodes, and any descendant of A moves, not its children alone.
    """
    return _averages(pairs, "mean_wasserstein", lambda distance, p: distance, zero_division)


@metric(**_MEAN, range=(0, 1), optimum=1, long_name="share of edges with an effect")
@with_options(_SHIFT_OPTIONS)
@with_example(_SHIFT_EXAMPLE, estimate="A -> B", value=1.0)
def mannwhitney_precision(pairs: GraphPairs, *, alpha: float = 0.05, zero_division: float = math.nan) -> Floats:
    """Divide the edges A -> B where perturbing A changes B by the edges from perturbed nodes.

    B changes if Mann and Whitney's two-sided test of its values, in observational cases and where A is perturbed, has
    p < alpha. Edges from nodes that are never perturbed are left out; an undirected edge counts in both directions.
    """
    return _averages(pairs, "mannwhitney_precision", _changes(alpha), zero_division)


@metric(**{**_JUDGED, **_COSTLY}, range=(0, 1), long_name="false omission rate")
@with_options(_SHIFT_OPTIONS)
@with_example(_SHIFT_EXAMPLE, estimate="A; B", value=1.0)
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
    changes, longest = _changes(alpha), check_whole(max_path_length, "max_path_length", -1)
    return _averages(pairs, "false_omission_rate", changes, zero_division, lambda marks: ~_reached(marks, longest))


def _changes(alpha: float) -> Callable[[Floats, Floats], Floats]:
    """Return the function of shifts to which of them a test finds, NaN where a node is not perturbed."""
    level = check_number(alpha, "alpha", "(0, 1)")
    return lambda distance, p: np.where(np.isnan(p), np.nan, p < level)


def _averages(
    pairs: GraphPairs,
    name: str,
    values: Callable[[Floats, Floats], Floats],
    zero_division: float,
    places: Callable[[Bools], Bools] = np.asarray,
) -> Floats:
    """Average values of ordered pairs from perturbed nodes over `places`, by default the edges."""
    averages = np.empty(pairs.n)
    for rows, shifts in groups(pairs, name, ["data", "perturbed"], _SHIFT_HINT, read_shifts):
        each = values(*shifts)
        known = places(_marks(pairs, rows)) & ~np.isnan(each)
        total = np.where(known, each, 0.0).sum(axis=(1, 2))
        averages[rows] = ratio(total, known.sum(axis=(1, 2)), zero_division)
    return averages


def _reached(marks: Bools, longest: int) -> Bools:
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
