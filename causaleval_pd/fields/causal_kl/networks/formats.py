"""Read networks of other programs: objects of pgmpy and pyagrum, bnlearn as dicts, paths of files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bif import normalise_rows, read_file
from .network import DiscreteNetwork, GaussianNetwork, Network, read_array


def is_network(cell: Any) -> bool:
    """Check whether a cell, neither text nor bytes, is a network of a known program."""
    if isinstance(cell, Network):
        return True
    if isinstance(cell, Mapping):
        return bool(cell) and all(isinstance(node, Mapping) and "parents" in node for node in cell.values())
    return _program(cell) in ("pgmpy", "pyagrum")


def read_network(cell: Any) -> Network:
    """Read one network in any known format; raise a TypeError for anything else."""
    if isinstance(cell, Network):
        return cell
    if isinstance(cell, bytes):
        return Network.from_bytes(cell)
    if isinstance(cell, (str, Path)):
        return read_file(cell)
    if isinstance(cell, Mapping) and is_network(cell):
        return from_bnlearn(cell)
    program = _program(cell)
    if program == "pyagrum" and hasattr(cell, "cpt"):
        return from_pyagrum(cell)
    if program == "pgmpy" and hasattr(cell, "get_cpds"):
        return from_pgmpy(cell)
    raise TypeError(
        f"expected a DiscreteNetwork, a GaussianNetwork, a network of pgmpy or pyagrum, a dict of nodes with parents "
        f"and prob, or the path of a BIF file, found {type(cell).__name__}"
    )


def _program(cell: Any) -> str:
    """Return the name of the package that defines a cell's class, or ""."""
    for kind in type(cell).__mro__:
        package = kind.__module__.partition(".")[0].lower()
        if package in ("pgmpy", "pyagrum"):
            return package
    return ""


def from_pgmpy(model: Any) -> Network:
    """Read a discrete or linear-Gaussian network of pgmpy."""
    cpds = {str(cpd.variable): cpd for cpd in model.get_cpds()}
    missing = sorted({str(node) for node in model.nodes()} - set(cpds))
    if missing:
        raise ValueError(f"the nodes {missing} have no CPD; fit the network first")
    if all(hasattr(cpd, "beta") for cpd in cpds.values()):
        parents = {name: [str(e) for e in cpd.evidence or []] for name, cpd in cpds.items()}
        betas = {name: np.asarray(cpd.beta, np.float64) for name, cpd in cpds.items()}
        return GaussianNetwork(
            parents,
            {name: beta[1:] for name, beta in betas.items()},
            {name: float(cpd.std) ** 2 for name, cpd in cpds.items()},
            {name: beta[0] for name, beta in betas.items()},
        )
    tables, parents, states = {}, {}, {}
    for name, cpd in cpds.items():
        if not hasattr(cpd, "state_names"):
            raise TypeError(f"node {name!r} has a {type(cpd).__name__}; only tables and linear-Gaussian CPDs are read")
        axes = [str(v) for v in cpd.variables]  # the child first
        table = np.moveaxis(np.asarray(cpd.values, np.float64), 0, -1)
        parents[name], states[name] = axes[1:], [str(s) for s in cpd.state_names[cpd.variables[0]]]
        tables[name] = (normalise_rows(table, name), {str(v): [str(s) for s in x] for v, x in cpd.state_names.items()})
    return _by_state_names(parents, tables, states)


def _by_state_names(
    parents: Mapping[str, list[str]],
    tables: Mapping[str, tuple[NDArray[np.float64], Mapping[str, list[str]]]],
    states: Mapping[str, list[str]],
) -> DiscreteNetwork:
    """Put every axis into the order of its variable's own states."""
    arranged = {}
    for name, (table, named) in tables.items():
        at: list[list[int]] = []
        for axis in [*parents[name], name]:
            if sorted(named[axis]) != sorted(states[axis]):
                raise ValueError(
                    f"node {name!r}: its table has the states {named[axis]} of {axis!r}, which has {states[axis]}"
                )
            at.append([named[axis].index(s) for s in states[axis]])
        arranged[name] = table[np.ix_(*at)]
    return DiscreteNetwork(parents, arranged, states)


def from_pyagrum(model: Any) -> DiscreteNetwork:
    """Read a discrete network of pyagrum."""
    parents: dict[str, list[str]] = {}
    tables, states = {}, {}
    for node in model.nodes():
        cpt = model.cpt(node)
        # the axes of the array are the variables from the last to the first, which is the child
        axes = [str(name) for name in cpt.names]
        name = axes[0]
        parents[name] = axes[:0:-1]
        states[name] = [str(s) for s in model.variable(node).labels()]
        tables[name] = normalise_rows(np.asarray(cpt.toarray(), np.float64), name)
    return DiscreteNetwork(parents, tables, states)


def from_bnlearn(nodes: Mapping[str, Mapping[str, Any]]) -> Network:
    """Read a fitted network of bnlearn written as dicts: `prob` has the child first, as in bnlearn."""
    parents = {}
    for name, node in nodes.items():
        found = node["parents"]
        parents[name] = [found] if isinstance(found, str) else list(found)
    if all("coefficients" in node for node in nodes.values()):
        return _gaussian_bnlearn(nodes, parents)
    lacking = [name for name, node in nodes.items() if "prob" not in node]
    if lacking:
        raise ValueError(f"the nodes {lacking} have no `prob` (or not all nodes have `coefficients` and `sd`)")
    tables = {}
    for name, node in nodes.items():
        table = read_array(name, node["prob"], "prob")
        tables[name] = normalise_rows(np.moveaxis(table, 0, -1), name) if table.ndim else table
    with_states = [name for name, node in nodes.items() if "states" in node]
    if with_states and len(with_states) < len(nodes):
        raise ValueError(f"the nodes {sorted(set(nodes) - set(with_states))} have no `states`, others have")
    return DiscreteNetwork(parents, tables, {n: nodes[n]["states"] for n in nodes} if with_states else None)


def _gaussian_bnlearn(nodes: Mapping[str, Mapping[str, Any]], parents: Mapping[str, list[str]]) -> GaussianNetwork:
    coefficients: dict[str, Any] = {}
    intercepts: dict[str, Any] = {}
    variances: dict[str, Any] = {}
    for name, node in nodes.items():
        given = node["coefficients"]
        if isinstance(given, Mapping):
            unknown = sorted(set(given) - {"(Intercept)", *parents[name]})
            lacking = sorted(set(parents[name]) - set(given))
            if unknown or lacking:
                raise ValueError(f"node {name!r}: its coefficients lack {lacking} and have the unknown {unknown}")
            intercepts[name] = given.get("(Intercept)", 0.0)
            coefficients[name] = [given[p] for p in parents[name]]
        else:
            values = np.atleast_1d(read_array(name, given, "coefficients"))
            if values.shape != (len(parents[name]) + 1,):
                raise ValueError(
                    f"node {name!r} has {values.size} coefficients, expected the intercept and one for each of the "
                    f"parents {parents[name]}"
                )
            intercepts[name], coefficients[name] = values[0], values[1:]
        sd = read_array(name, node.get("sd", np.nan), "sd")
        if sd.size != 1 or (sd <= 0).any():
            raise ValueError(f"node {name!r}: its sd must be one positive number, found {node.get('sd')!r:.60}")
        variances[name] = sd**2
    return GaussianNetwork(parents, coefficients, variances, intercepts)
