"""Parameters for a DAG: estimated from data, or read off the joint law of another network.

Every node's parameters depend on its own parent set alone, so that fits are kept by family: thousands of DAGs over a
few variables share a few families.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, Protocol, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_type
from ...graphs.column import as_graph
from ...graphs.graph import Graph
from .gaussian import prepare_gaussian
from .inference import Scope
from .layout import Layout, sort_states
from .network import DiscreteNetwork, GaussianNetwork, Network, node_names, parent_positions
from .weights import prepare

Floats = NDArray[np.float64]
Estimator = float | Literal["mle", "uniform rows"]
ESTIMATORS = "'mle', 'uniform rows' or a positive pseudo-count"


class Families(Protocol):
    """Fits of families over the same variables."""

    @property
    def states(self) -> tuple[tuple[str, ...], ...] | None:
        """States of each node; None for linear-Gaussian fits."""

    def fit(self, node: int, parents: Scope) -> Floats:
        """Return the parameters of a node given its parents, in the shape of its layout."""


def from_data(
    structure: Any,
    data: pd.DataFrame,
    estimator: Estimator = "mle",
    *,
    states: Mapping[str, Sequence[Any]] | Network | None = None,
) -> Network:
    """Estimate the parameters of a DAG from data.

    Parameters
    ----------
    structure : graph, mapping or network
        The DAG: in any format of `as_graph`, or each node's parents, or a network, whose arcs and states are taken.
    data : DataFrame
        One case a row, one column a node. If all columns are floats the network is linear-Gaussian, else discrete.
    estimator : {"mle", "uniform rows"} or float
        "mle": relative frequencies; a row of parents' states that no case shows is undefined. "uniform rows": the same
        with such rows uniform. A number a: (n + a) / (N + a m) with m states of the child; 0.5 is the minimum message
        length estimate of the published tables. Linear-Gaussian networks know "mle" alone.
    states : mapping or DiscreteNetwork, optional
        States of each node, also those that the data do not show; default those of `structure`, else the categories of
        a categorical column, else the values found.

    Returns
    -------
    DiscreteNetwork or GaussianNetwork
        The network.

    Raises
    ------
    ValueError
        If columns and nodes differ, values are missing or no known states, or the structure is no DAG; names the node.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> cases = pd.DataFrame({"A": ["n", "n", "y", "y"], "B": ["n", "y", "y", "y"]})
    >>> ce.causal_kl.from_data("A -> B", cases, 0.5).table("B").round(3)
           n      y
    A
    n  0.500  0.500
    y  0.167  0.833
    """
    if not isinstance(data, pd.DataFrame):
        raise TypeError(f"data must be a DataFrame with one column a node, found {type(data).__name__}")
    nodes, parents, own = _structure(structure)
    known = states.layout.states if isinstance(states, Network) else states
    if isinstance(states, Network) and states.nodes != nodes:
        raise ValueError(f"states is a network over {list(states.nodes)}, the structure has the nodes {list(nodes)}")
    if known is None:
        known = own
    if known is not None and not isinstance(known, Mapping):
        known = dict(zip(nodes, known, strict=True))
    families = data_families(data, nodes, estimator, known, _is_gaussian(structure, states, data))
    return parameterise(Layout(nodes, families.states, parents), families)


def from_joint(structure: Any, network: Network, *, undefined: Literal["nan", "uniform"] = "nan") -> Network:
    """Give a DAG the conditional laws of a network, as from infinitely many data.

    Parameters
    ----------
    structure : graph, mapping or network
        The DAG: in any format of `as_graph`, or each node's parents, or a network, whose arcs are taken.
    network : DiscreteNetwork or GaussianNetwork
        Whose joint law is meant.
    undefined : {"nan", "uniform"}
        What rows of parents' states that have probability 0 become.

    Returns
    -------
    DiscreteNetwork or GaussianNetwork
        The network: truth(x_i | parents of i in the structure).

    Raises
    ------
    ValueError
        If nodes differ, the structure is no DAG, or a law is not defined; names the node.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[.9, .1], [.1, .9]]})
    >>> ce.causal_kl.from_joint("B -> A", truth).table("A")
         0    1
    B
    0  0.9  0.1
    1  0.1  0.9
    """
    check_type(network, Network, "a DiscreteNetwork or a GaussianNetwork; as_network reads other formats", "network")
    nodes, parents, _ = _structure(structure)
    if nodes != network.nodes:
        raise ValueError(f"the structure has the nodes {list(nodes)}, the network {list(network.nodes)}")
    families = joint_families(network, undefined)
    return parameterise(Layout(nodes, families.states, parents), families)


def parameterise(layout: Layout, families: Families) -> Network:
    """Make the network of a layout from its families' fits."""
    parts = [families.fit(i, parents).reshape(-1) for i, parents in enumerate(layout.parents)]
    parameters = np.concatenate(parts) if parts else np.empty(0)
    kind = GaussianNetwork if layout.states is None else DiscreteNetwork
    return kind._of_checked(layout, parameters)


def _structure(
    structure: Any,
) -> tuple[tuple[str, ...], tuple[Scope, ...], tuple[tuple[str, ...], ...] | None]:
    """Return nodes, parents and known states of a DAG."""
    if isinstance(structure, Network):
        return structure.nodes, structure.layout.parents, structure.layout.states
    if isinstance(structure, Mapping):
        names = node_names(structure, {})
        return names, parent_positions(names, structure), None
    graph = structure if isinstance(structure, Graph) else as_graph(structure)
    return graph.nodes, parents_of(graph), None


def parents_of(graph: Graph) -> tuple[Scope, ...]:
    """Return the positions of each node's parents in a DAG; ValueError for another graph."""
    if graph.kind != "dag":
        raise ValueError(f"parameters need a DAG, found a graph of class {graph.kind}: {graph!r}")
    parents: list[list[int]] = [[] for _ in graph.nodes]
    for source, target in graph._arcs():
        parents[target].append(source)
    return tuple(tuple(sorted(found)) for found in parents)


def _is_gaussian(structure: Any, states: Any, data: pd.DataFrame) -> bool:
    for given in (states, structure):
        if isinstance(given, Network):
            return given.kind == "gaussian"
    floats = [pd.api.types.is_float_dtype(dtype) for dtype in data.dtypes]
    return states is None and bool(floats) and all(floats)


def data_families(
    data: pd.DataFrame,
    nodes: tuple[str, ...],
    estimator: Estimator,
    states: Mapping[str, Sequence[Any]] | None,
    gaussian: bool,
) -> Families:
    """Return the fits that an estimator makes from data.

    Parameters
    ----------
    data : DataFrame
        One case a row.
    nodes : tuple of str
        The nodes in code-point order; the columns in any order.
    estimator : {"mle", "uniform rows"} or float
        As in `from_data`.
    states : mapping or None
        States of each node.
    gaussian : bool
        Whether to fit linear-Gaussian laws.

    Returns
    -------
    Families
        The fits, made when asked for.

    Raises
    ------
    ValueError
        If columns and nodes differ, values are missing, or an option is unknown.
    """
    if not isinstance(data, pd.DataFrame):
        raise TypeError(f"data must be a DataFrame with one column a node, found {type(data).__name__}")
    lacking, extra = sorted(set(nodes) - set(data.columns)), [c for c in data.columns if c not in nodes]
    if lacking or extra:
        raise ValueError(f"data lacks columns for the nodes {lacking} and has the columns {extra}, which are no nodes")
    if not data.columns.is_unique:
        raise ValueError("data has two columns of one name")
    if gaussian:
        if estimator != "mle":
            raise ValueError(f"linear-Gaussian networks know estimator='mle' alone, found {estimator!r}")
        values = data[list(nodes)].to_numpy(np.float64)
        for name, column in zip(nodes, values.T, strict=True):
            _refuse_missing(name, np.isnan(column))
        if not np.isfinite(values).all() or len(values) < 2:
            raise ValueError("linear-Gaussian networks need at least two cases, all finite")
        return MomentFamilies(nodes, values.mean(axis=0), np.cov(values, rowvar=False, ddof=0).reshape(len(nodes), -1))
    check_estimator(estimator)
    if states is not None and (lacking := [name for name in nodes if name not in states]):
        raise ValueError(f"states lacks the nodes {lacking}; give each node's states, or none")
    codes, found = [], []
    for name in nodes:
        of_column, names = _encode(name, data[name].array, None if states is None else states[name])
        codes.append(of_column)
        found.append(names)
    return CountFamilies(nodes, tuple(found), tuple(codes), estimator)


def check_estimator(estimator: Any) -> None:
    """Refuse what is no estimator."""
    if estimator in ("mle", "uniform rows") and isinstance(estimator, str):
        return
    number = isinstance(estimator, (int, float, np.number)) and not isinstance(estimator, bool)
    if not number or not 0 < estimator < math.inf:
        raise ValueError(f"estimator must be {ESTIMATORS}, found {estimator!r}")


def _refuse_missing(name: str, missing: NDArray[np.bool_]) -> None:
    if missing.any():
        raise ValueError(f"data column {name!r} has missing values; leave these cases out or impute them")


def _encode(name: str, cells: Any, states: Sequence[Any] | None) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the positions of a column's values among its states, and the states."""
    codes, values = (cells.codes, cells.categories) if isinstance(cells, pd.Categorical) else pd.factorize(cells)
    _refuse_missing(name, codes < 0)
    shown = [str(v) for v in values]
    known = sort_states([str(s) for s in (shown if states is None else states)])
    if len(set(shown)) < len(shown):
        raise ValueError(f"data column {name!r} has different values of one name: {shown}")
    at = {state: i for i, state in enumerate(known)}
    to = np.array([at.get(state, -1) for state in shown], np.int64)
    result = to[codes] if len(to) else np.empty(0, np.int64)
    if (result < 0).any():
        row = int(np.argmax(result < 0))
        raise ValueError(f"data column {name!r} has the value {shown[codes[row]]!r} in row {row}; known: {known}")
    return result, tuple(known)


class CountFamilies:
    """Fits from the counts of discrete data."""

    def __init__(
        self,
        nodes: tuple[str, ...],
        states: tuple[tuple[str, ...], ...] | None,
        codes: tuple[NDArray[np.int64], ...],
        estimator: Estimator,
    ) -> None:
        self.nodes, self.states, self.codes, self.estimator = nodes, states, codes, estimator
        self._found: dict[tuple[int, Scope], Floats] = {}

    def fit(self, node: int, parents: Scope) -> Floats:
        """Return the table of a node given its parents."""
        if (node, parents) not in self._found:
            axes = (*parents, node)
            states = cast(tuple[tuple[str, ...], ...], self.states)
            shape = tuple(len(states[v]) for v in axes)
            at = np.ravel_multi_index(tuple(self.codes[v] for v in axes), shape)
            counts = np.bincount(at, minlength=math.prod(shape)).reshape(shape).astype(np.float64)
            self._found[node, parents] = estimate(counts, self.estimator)
        return self._found[node, parents]


def estimate(counts: Floats, estimator: Estimator) -> Floats:
    """Turn counts (.., states of the child) into probabilities."""
    if not isinstance(estimator, str):
        counts = counts + float(estimator)
    total = counts.sum(axis=-1, keepdims=True)
    empty = 1.0 / counts.shape[-1] if estimator == "uniform rows" else np.nan
    return np.divide(counts, total, out=np.full_like(counts, empty), where=total > 0)


class JointFamilies:
    """Fits from the joint law of a discrete network."""

    def __init__(self, network: DiscreteNetwork, undefined: str) -> None:
        self.nodes, self.states, self.undefined = network.nodes, network.layout.states, undefined
        self._truth = prepare(network)
        self._found: dict[tuple[int, Scope], Floats] = {}

    def fit(self, node: int, parents: Scope) -> Floats:
        """Return the table of a node given its parents."""
        if (node, parents) not in self._found:
            joint = self._truth.joint((*parents, node))
            self._found[node, parents] = estimate(joint, "uniform rows" if self.undefined == "uniform" else "mle")
        return self._found[node, parents]


class MomentFamilies:
    """Linear regressions from means and covariances."""

    states = None

    def __init__(self, nodes: tuple[str, ...], means: Floats, covariance: Floats) -> None:
        self.nodes, self.means, self.covariance = nodes, means, covariance

    def fit(self, node: int, parents: Scope) -> Floats:
        """Return intercept, coefficients and variance of a node given its parents."""
        at, s = list(parents), self.covariance
        try:
            weights = np.linalg.solve(s[np.ix_(at, at)], s[at, node])
        except np.linalg.LinAlgError:
            weights = np.full(len(at), np.nan)
        variance = s[node, node] - weights @ s[at, node]
        if not variance > 1e-12 * s[node, node]:
            names = [self.nodes[p] for p in parents]
            raise ValueError(f"node {self.nodes[node]!r} is a linear function of {names}; its variance would be 0")
        return np.array([self.means[node] - weights @ self.means[at], *weights, variance])


@lru_cache(maxsize=64)
def joint_families(network: Network, undefined: str = "nan") -> Families:
    """Return the fits to the joint law of a network, remembered over calls."""
    if undefined not in ("nan", "uniform"):
        raise ValueError(f"undefined must be 'nan' or 'uniform', found {undefined!r}")
    if isinstance(network, DiscreteNetwork):
        if np.isnan(network.parameters).any():
            raise ValueError("the network has undefined rows, so that its joint law may be; fill them first")
        return JointFamilies(network, undefined)
    if isinstance(network, GaussianNetwork):
        truth = prepare_gaussian(network)
        return MomentFamilies(network.nodes, truth.means, truth.covariance)
    raise TypeError(f"expected a DiscreteNetwork or a GaussianNetwork, found {type(network).__name__}")
