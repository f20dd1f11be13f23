"""Parameterise a DAG: estimate its parameters from data, or take them from the joint law of another network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_type
from ...graphs.column import as_graph
from ...graphs.graph import Graph
from .family_fits import Estimator, FamilyFits, fits_to_data, fits_to_joint
from .laws import Scope
from .networks.network import DiscreteNetwork, GaussianNetwork, Network, node_names, parent_positions
from .networks.structure import Structure

__all__ = ["from_data", "from_joint"]

Floats = NDArray[np.float64]


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
    if not isinstance(data, pd.DataFrame):
        raise TypeError(f"data must be a DataFrame with one column per node, found {type(data).__name__}")
    nodes, parents, own = _structure(structure)
    known = states.structure.states if isinstance(states, Network) else states
    if isinstance(states, Network) and states.nodes != nodes:
        raise ValueError(f"states is a network over {list(states.nodes)}, the structure has the nodes {list(nodes)}")
    if known is None:
        known = own
    if known is not None and not isinstance(known, Mapping):
        known = dict(zip(nodes, known, strict=True))
    fits = fits_to_data(data, nodes, estimator, known, _is_gaussian(structure, states, data))
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
    parts = [fits.fit(i, parents).reshape(-1) for i, parents in enumerate(structure.parents)]
    parameters = np.concatenate(parts) if parts else np.empty(0)
    kind = GaussianNetwork if structure.states is None else DiscreteNetwork
    return kind._of_checked(structure, parameters)


def _structure(structure: Any) -> tuple[tuple[str, ...], tuple[Scope, ...], tuple[tuple[str, ...], ...] | None]:
    """Return nodes, parents and known states of a DAG."""
    if isinstance(structure, Network):
        return structure.nodes, structure.structure.parents, structure.structure.states
    if isinstance(structure, Mapping):
        names = node_names(structure, {})
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
    return tuple(tuple(sorted(found)) for found in parents)


def _is_gaussian(structure: Any, states: Any, data: pd.DataFrame) -> bool:
    for given in (states, structure):
        if isinstance(given, Network):
            return given.kind == "gaussian"
    floats = [pd.api.types.is_float_dtype(dtype) for dtype in data.dtypes]
    return states is None and bool(floats) and all(floats)
