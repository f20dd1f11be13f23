"""Networks fitted to cases or to a joint law: families, a node given its parents, whole networks, and examples.

The fit of a family depends on it alone and is kept: thousands of DAGs over a few variables share a few families.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery, with the example
   networks. doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_number, check_type
from ...contract.context import Context
from ...graphs.column import as_graph
from ...graphs.graph import Graph
from .cells import (
    DiscreteNetwork,
    GaussianNetwork,
    Network,
    Structure,
    network_of,
    node_names,
    parent_positions,
    sort_states,
)
from .laws import Scope, laws_of, moments_of

__all__ = ["from_data", "from_joint", "metastatic", "metastatic_mutations"]

Floats = NDArray[np.float64]
Estimator = float | Literal["mle", "uniform rows"]


@dataclass(frozen=True, eq=False)
class FamilyFits:
    """Fits of families over the same variables, each made on first use."""

    #: states of each node; None for linear-Gaussian fits
    states: tuple[tuple[str, ...], ...] | None
    #: `fit(node, parents)` returns the parameters of a node given its parents, in the shape of its structure
    fit: Callable[[int, Scope], Floats]


def fits_to_data(
    data: pd.DataFrame,
    nodes: tuple[str, ...],
    estimator: Estimator,
    states: Mapping[str, Sequence[Any]] | None,
    gaussian: bool | None,
) -> FamilyFits:
    """Check data and return the fits that an estimator, as in `from_data`, makes from them, each on first use."""
    if not isinstance(data, pd.DataFrame):
        raise TypeError(f"data must be a DataFrame with one column per node, found {type(data).__name__}")
    lacking, extra = sorted(set(nodes) - set(data.columns)), [c for c in data.columns if c not in nodes]
    if lacking:
        raise ValueError(f"data lacks columns for the nodes {lacking}; its columns: {list(data.columns)!r:.200}")
    if extra:
        raise ValueError(
            f"data has the columns {extra}, which are not nodes; leave them out, as by data[list(graph.nodes)], or "
            "name them as nodes without edges"
        )
    if not data.columns.is_unique:
        raise ValueError("data has two columns of one name")
    if gaussian is None:
        floats = [pd.api.types.is_float_dtype(dtype) for dtype in data.dtypes]
        gaussian = states is None and bool(floats) and all(floats)
    if gaussian:
        if estimator != "mle":
            raise ValueError(f"linear-Gaussian networks take estimator='mle' alone, found {estimator!r}")
        values = data[list(nodes)].to_numpy(np.float64)
        for name, column in zip(nodes, values.T, strict=True):
            _refuse_missing(name, np.isnan(column))
        if not np.isfinite(values).all() or len(values) < 2:
            raise ValueError("linear-Gaussian networks need at least two cases, all finite")
        covariance = np.cov(values, rowvar=False, ddof=0).reshape(len(nodes), -1)
        return FamilyFits(None, cache(partial(_fit_moments, nodes, values.mean(axis=0), covariance)))
    is_number = isinstance(estimator, (int, float, np.number)) and not isinstance(estimator, bool)
    if not (0 < estimator < math.inf if is_number else estimator in ("mle", "uniform rows")):  # type: ignore[operator]
        raise ValueError(f"estimator must be 'mle', 'uniform rows' or a positive pseudo-count, found {estimator!r}")
    if states is not None and (lacking := [name for name in nodes if name not in states]):
        raise ValueError(f"states lacks the nodes {lacking}; give each node's states, or none")
    columns = [_encode(name, data[name].array, None if states is None else states[name]) for name in nodes]
    state_names = tuple(names for _, names in columns)
    return FamilyFits(state_names, cache(partial(_fit_counts, [codes for codes, _ in columns], state_names, estimator)))


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
    result = to[codes]
    if (result < 0).any():
        row = int(np.argmax(result < 0))
        raise ValueError(f"data column {name!r} has the value {shown[codes[row]]!r} in row {row}; known: {known}")
    return result, tuple(known)


def _fit_counts(
    codes: Sequence[NDArray[np.int64]],
    states: tuple[tuple[str, ...], ...],
    estimator: Estimator,
    node: int,
    parents: Scope,
) -> Floats:
    """Return the table of a node given its parents, from the states of cases."""
    axes = (*parents, node)
    shape = tuple(len(states[v]) for v in axes)
    at = np.ravel_multi_index(tuple(codes[v] for v in axes), shape)
    counts = np.bincount(at, minlength=math.prod(shape)).reshape(shape).astype(np.float64)
    return estimate(counts, estimator)


def estimate(counts: Floats, estimator: Estimator) -> Floats:
    """Turn counts (.., states of the child) into probabilities."""
    if not isinstance(estimator, str):
        counts = counts + float(estimator)
    total = counts.sum(axis=-1, keepdims=True)
    empty = 1.0 / counts.shape[-1] if estimator == "uniform rows" else np.nan
    return np.divide(counts, total, out=np.full_like(counts, empty), where=total > 0)


def _fit_moments(nodes: tuple[str, ...], means: Floats, s: Floats, node: int, parents: Scope) -> Floats:
    """Return intercept, coefficients and variance of a node given its parents, from means and covariances."""
    at = list(parents)
    try:
        weights = np.linalg.solve(s[np.ix_(at, at)], s[at, node])
    except np.linalg.LinAlgError:
        weights = np.full(len(at), np.nan)
    variance = s[node, node] - weights @ s[at, node]
    if not variance > 1e-12 * s[node, node]:
        names = [nodes[p] for p in parents]
        raise ValueError(f"node {nodes[node]!r} is a linear function of {names}; its variance would be 0")
    return np.array([means[node] - weights @ means[at], *weights, variance])


@lru_cache(maxsize=64)
def fits_to_joint(network: Network, undefined: str = "nan") -> FamilyFits:
    """Return the fits to the joint law of a network; recent networks are kept."""
    if undefined not in ("nan", "uniform"):
        raise ValueError(f"undefined must be 'nan' or 'uniform', found {undefined!r}")
    if isinstance(network, DiscreteNetwork):
        if np.isnan(network.parameters).any():
            raise ValueError("the network has undefined rows, so its joint law may be undefined; fill them first")
        laws = laws_of(network)
        estimator: Estimator = "uniform rows" if undefined == "uniform" else "mle"
        return FamilyFits(
            network.structure.states, cache(lambda node, parents: estimate(laws.joint((*parents, node)), estimator))
        )
    if isinstance(network, GaussianNetwork):
        truth = moments_of(network)
        return FamilyFits(None, cache(partial(_fit_moments, network.nodes, truth.means, truth.covariance)))
    raise TypeError(f"expected a DiscreteNetwork or a GaussianNetwork, found {type(network).__name__}")


#: fits to data by the code of the row's data and the variables
Fits = dict[tuple[int, object], FamilyFits]


def fits_of_row(context: Context | None, row: int, truth: Network, fits: Fits) -> FamilyFits:
    """Return the fits of a row, kept in `fits`: to its data by its estimator, or to the true law if asked for."""
    code = -1 if context is None else int(context.codes[row])
    entries = {} if context is None else context.values[code]
    data, estimator = entries.get("data"), entries.get("estimator")
    if isinstance(estimator, str) and estimator == "joint":
        return fits_to_joint(truth)
    if data is None:
        lacking = "context= is missing" if estimator is None else f"estimator={estimator!r} needs data"
        raise ValueError(
            f"{lacking}: the parameters of controls, and of estimates that are graphs, are fitted as those of the "
            "estimates were; pass context={'data': ..., 'estimator': ...}, or context={'estimator': 'joint'} if they "
            "come from the true joint law, as from infinitely many data"
        )
    if estimator is None:
        raise ValueError(
            "data without an estimator: pass the one that parameterised the estimates, "
            "context={'data': ..., 'estimator': 'mle', 'uniform rows' or a pseudo-count}"
        )
    structure = truth.structure
    key = (code, (structure.nodes, structure.states))
    if key not in fits:
        states = None if structure.states is None else dict(zip(structure.nodes, structure.states, strict=True))
        fits[key] = fits_to_data(data, structure.nodes, estimator, states, structure.states is None)
    return fits[key]


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
        One case per row, one column per node. If all columns are floats the network is linear-Gaussian, else discrete.
    estimator : {"mle", "uniform rows"} or float
        "mle": relative frequencies; a row of parents' states that no case shows is undefined. "uniform rows": the same
        with such rows uniform. A number a: (n + a) / (N + a m) with m states of the child; 0.5 is the minimum message
        length estimate of the published tables. Linear-Gaussian networks take "mle" alone.
    states : mapping or DiscreteNetwork, optional
        States of each node, including those that the data do not show; default those of `structure`, else the
        categories of a categorical column, else the values found.

    Returns
    -------
    DiscreteNetwork or GaussianNetwork
        The network.

    Raises
    ------
    ValueError
        If columns and nodes differ, values are missing or unknown, or the structure is not a DAG; names the node.

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
    nodes, parents, state_lists = _structure(structure)
    known = states.structure.states if isinstance(states, Network) else states
    if isinstance(states, Network) and states.nodes != nodes:
        raise ValueError(f"states is a network over {list(states.nodes)}, the structure has the nodes {list(nodes)}")
    if known is None:
        known = state_lists
    if known is not None and not isinstance(known, Mapping):
        known = dict(zip(nodes, known, strict=True))
    kinds = [source.kind for source in (states, structure) if isinstance(source, Network)]
    fits = fits_to_data(data, nodes, estimator, known, kinds[0] == "gaussian" if kinds else None)
    return parameterise(Structure(nodes, fits.states, parents), fits)


def from_joint(structure: Any, network: Network, *, undefined: Literal["nan", "uniform"] = "nan") -> Network:
    """Give a DAG the conditional laws of a network, as infinitely many data would.

    Parameters
    ----------
    structure : graph, mapping or network
        The DAG: in any format of `as_graph`, or each node's parents, or a network, whose arcs are taken.
    network : DiscreteNetwork or GaussianNetwork
        Network whose joint law is used.
    undefined : {"nan", "uniform"}
        Value of rows of parents' states that have probability 0.

    Returns
    -------
    DiscreteNetwork or GaussianNetwork
        The network: truth(x_i | parents of i in the structure).

    Raises
    ------
    ValueError
        If nodes differ, the structure is not a DAG, or a law is undefined; names the node.

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
    fits = fits_to_joint(network, undefined)
    return parameterise(Structure(nodes, fits.states, parents), fits)


def parameterise(structure: Structure, fits: FamilyFits) -> Network:
    """Make the network of a structure from the fits of its families."""
    parts = (fits.fit(i, parents).reshape(-1) for i, parents in enumerate(structure.parents))
    return network_of(structure, np.concatenate([np.empty(0), *parts]))


def _structure(structure: Any) -> tuple[tuple[str, ...], tuple[Scope, ...], tuple[tuple[str, ...], ...] | None]:
    """Return nodes, parents and known states of a DAG."""
    if isinstance(structure, Network):
        return structure.nodes, structure.structure.parents, structure.structure.states
    if isinstance(structure, Mapping):
        names = node_names(structure)
        return names, parent_positions(names, structure), None
    graph = structure if isinstance(structure, Graph) else as_graph(structure)
    return graph.nodes, parents_of(graph), None


def parents_of(graph: Graph) -> tuple[Scope, ...]:
    """Return the positions of each node's parents in a DAG; refuse other graphs."""
    if graph.kind != "dag":
        raise ValueError(f"parameters need a DAG, found a graph of class {graph.kind}: {graph!r}")
    parents: list[list[int]] = [[] for _ in graph.nodes]
    for source, target in graph._arcs():
        parents[target].append(source)
    return tuple(tuple(sorted(positions)) for positions in parents)


#: arcs of the mutated structures, by the names of the published tables
MUTATED_ARCS = MappingProxyType(
    {
        "true": "M -> S; M -> B; S -> C; B -> C",
        "add.weak": "M -> S; M -> B; S -> C; B -> C; S -> B",
        "add.strong": "M -> S; M -> B; S -> C; B -> C; S -> B; M -> C",
        "del.weak": "M -> B; S -> C; B -> C",
        "del.strong": "M -> S; S -> C; B -> C",
        "rev.in.weak": "S -> M; M -> B; S -> C; B -> C",
        "rev.in.strong": "M -> S; B -> M; S -> C; B -> C",
        "rev.out.weak": "M -> S; M -> B; C -> S; B -> C",
        "rev.out.strong": "M -> S; M -> B; S -> C; C -> B",
    }
)


def metastatic(*, coma_given_serum: float = 0.8, coma_given_tumour: float = 0.8) -> DiscreteNetwork:
    """Return the network of metastatic cancer M, raised serum calcium S, brain tumour B and coma C.

    Parameters
    ----------
    coma_given_serum, coma_given_tumour : float
        P(C | S, not B) and P(C | B, not S). The published "weak" and "strong" tweaks set one of them to 0.75.

    Returns
    -------
    DiscreteNetwork
        The network, with states T and F.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.causal_kl.metastatic()
    DiscreteNetwork(4 nodes, 4 arcs: B -> C; M -> B; M -> S; S -> C)
    """
    by_s = check_number(coma_given_serum, "coma_given_serum", "[0, 1]")
    by_b = check_number(coma_given_tumour, "coma_given_tumour", "[0, 1]")
    return DiscreteNetwork(
        {"M": [], "S": ["M"], "B": ["M"], "C": ["S", "B"]},
        {
            "M": [0.9, 0.1],
            "S": [[0.2, 0.8], [0.05, 0.95]],
            "B": [[0.8, 0.2], [0.2, 0.8]],
            "C": [[[0.8, 0.2], [by_s, 1 - by_s]], [[by_b, 1 - by_b], [0.05, 0.95]]],
        },
        {node: ["T", "F"] for node in "MSBC"},
    )


def metastatic_mutations() -> dict[str, Network]:
    """Return the mutations of the published tables with infinite data.

    Returns
    -------
    dict
        Network by name: two tweaked ones, then structures with the conditional laws of the true joint law.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> mutations = ce.causal_kl.metastatic_mutations()
    >>> round(ce.ckl3(ce.causal_kl.metastatic(), mutations["rev.out.strong"]), 4)
    0.356
    """
    truth = metastatic()
    tweaked: dict[str, Network] = {
        "tweak.weak": metastatic(coma_given_serum=0.75),
        "tweak.strong": metastatic(coma_given_tumour=0.75),
    }
    return tweaked | {name: from_joint(arcs, truth) for name, arcs in MUTATED_ARCS.items()}
