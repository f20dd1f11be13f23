"""Networks with parameters as values: frozen, hashable, equal if they have the same variables, arcs and numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....contract.checks import check_type, refuse_masked
from ....graphs.column import as_graph
from ....graphs.graph import Graph
from .structure import Structure, pack_cell, sort_states, unpack_cell

__all__ = ["DiscreteNetwork", "GaussianNetwork"]

Floats = NDArray[np.float64]

#: how far a row of probabilities may be from 1
ROW_TOLERANCE = 1e-8


class Network:
    """Base of discrete and linear-Gaussian networks: a structure and its parameters."""

    structure: Structure
    parameters: Floats

    @classmethod
    def _of_checked(cls, structure: Structure, parameters: Floats) -> Self:
        """Make a network from parts that have been checked."""
        made = object.__new__(cls)
        made._freeze(structure, parameters)
        return made

    def _freeze(self, structure: Structure, parameters: Floats) -> None:
        """Set structure and parameters, read-only; -0 becomes 0 and every NaN the same NaN."""
        numbers = np.where(np.isnan(parameters), np.nan, parameters + 0.0)
        numbers.flags.writeable = False
        object.__setattr__(self, "structure", structure)
        object.__setattr__(self, "parameters", numbers)

    @property
    def kind(self) -> str:
        """Kind of the network: "discrete" or "gaussian"."""
        return self.structure.kind

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes in code-point order."""
        return self.structure.nodes

    @property
    def parents(self) -> Mapping[str, tuple[str, ...]]:
        """Names of each node's parents in code-point order, the order of axes and coefficients."""
        names = self.nodes
        return MappingProxyType(
            {
                name: tuple(names[p] for p in positions)
                for name, positions in zip(names, self.structure.parents, strict=True)
            }
        )

    @property
    def n_arcs(self) -> int:
        """Number of arcs."""
        return len(self.structure.arcs)

    @property
    def graph(self) -> Graph:
        """The DAG of the network."""
        return as_graph([(self.nodes[a], self.nodes[b]) for a, b in sorted(self.structure.arcs)], nodes=self.nodes)

    def values_of(self, position: int) -> Floats:
        """Return the parameters of the node at a position, in their shape."""
        return self.parameters[self.structure.slices[position]].reshape(self.structure.shapes[position])

    @cached_property
    def _cell(self) -> bytes:
        return pack_cell(self.structure, self.parameters)

    def to_bytes(self) -> bytes:
        """Return the canonical bytes: equal networks have equal bytes."""
        return self._cell

    @classmethod
    def from_bytes(cls, cell: bytes) -> Self:
        """Read canonical bytes.

        Parameters
        ----------
        cell : bytes
            The result of `to_bytes`, or a cell of a packed column.

        Returns
        -------
        DiscreteNetwork or GaussianNetwork
            The network.

        Raises
        ------
        ValueError
            If these are not the canonical bytes of a network.
        """
        structure, parameters = unpack_cell(cell)
        check_parameters(structure, parameters[None], lambda row: "the cell")
        kind: Any = DiscreteNetwork if structure.kind == "discrete" else GaussianNetwork
        if not issubclass(kind, cls):
            raise ValueError(f"the cell holds a {structure.kind} network, not a {cls.__name__}")
        return kind._of_checked(structure, parameters)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return self._cell == other._cell

    def __hash__(self) -> int:
        return hash(self._cell)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.nodes)} nodes, {self.n_arcs} arcs: {_shorten(self.graph.to_string())})"


@dataclass(frozen=True, eq=False, repr=False, init=False)
class DiscreteNetwork(Network):
    """A Bayesian network of discrete variables: a DAG with a conditional probability table per node.

    Nodes, parents and states are kept in code-point order (states that are whole numbers, by value), whatever order
    they were given in: networks are compared by names, never by positions. A row of a table that is NaN throughout is
    undefined, as is the row of parents' states that an estimator without pseudo-counts never saw.

    Parameters
    ----------
    parents : mapping
        Names of each node's parents, in the order of its table's axes.
    cpts : mapping
        Table of each node: one axis per parent in the listed order, the child last.
    states : mapping, optional
        Names of each node's states in the order of the axes; default "0", "1", ...

    Raises
    ------
    ValueError
        If names, shapes or probabilities do not fit, a row does not sum to 1, or there is a cycle; names the node.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> network = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.3, .7], "B": [[.9, .1], [.2, .8]]})
    >>> network
    DiscreteNetwork(2 nodes, 1 arcs: A -> B)
    >>> network.table("B")
         0    1
    A
    0  0.9  0.1
    1  0.2  0.8
    """

    structure: Structure
    parameters: Floats

    def __init__(
        self,
        parents: Mapping[str, Sequence[str]],
        cpts: Mapping[str, Any],
        states: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        names = node_names(parents, {"cpts": cpts} if states is None else {"cpts": cpts, "states": states})
        place = dict(zip(names, itertools.count()))
        arrays = {name: read_array(name, cpts[name], "table") for name in names}
        for name, array in arrays.items():
            if array.ndim != len(parents[name]) + 1:
                raise ValueError(
                    f"node {name!r}: its table has {array.ndim} axes, expected {len(parents[name]) + 1}: one for each "
                    f"of the parents {list(parents[name])}, the child's last"
                )
        listed = {
            name: [str(s) for s in (range(arrays[name].shape[-1]) if states is None else states[name])]
            for name in names
        }
        kept = {name: sort_states(labels) for name, labels in listed.items()}
        structure = Structure(names, tuple(tuple(kept[name]) for name in names), parent_positions(names, parents))
        parts = []
        for name in names:
            axes = [*parents[name], name]
            expected = tuple(len(listed[axis]) for axis in axes)
            if arrays[name].shape != expected:
                raise ValueError(
                    f"node {name!r}: its table has the shape {arrays[name].shape}, expected {expected}: the numbers of "
                    f"states of {axes}"
                )
            order = np.argsort([place[p] for p in parents[name]])
            array = arrays[name].transpose(*order, len(order))
            at = np.ix_(*([listed[a].index(s) for s in kept[a]] for a in (*(axes[i] for i in order), name)))
            parts.append(array[at].reshape(-1))
        parameters = np.concatenate(parts) if parts else np.empty(0)
        check_parameters(structure, parameters[None], lambda row: "")
        self._freeze(structure, parameters)

    @property
    def states(self) -> Mapping[str, tuple[str, ...]]:
        """Names of each node's states, in the order of the axes."""
        return MappingProxyType(dict(zip(self.nodes, self.structure.states or (), strict=True)))

    @property
    def cpts(self) -> Mapping[str, Floats]:
        """Table of each node, read-only: axes of the parents in code-point order, the child last."""
        return MappingProxyType({name: self.values_of(i) for i, name in enumerate(self.nodes)})

    def table(self, node: str) -> pd.DataFrame:
        """Return a node's table with its states as labels.

        Parameters
        ----------
        node : str
            Name of the node.

        Returns
        -------
        DataFrame
            One row per combination of the parents' states, one column per state.
        """
        cpt, parents = self.cpts[node], self.parents[node]
        index: pd.Index | None = None
        if len(parents) == 1:
            index = pd.Index(self.states[parents[0]], name=parents[0])
        elif parents:
            index = pd.MultiIndex.from_product([self.states[p] for p in parents], names=parents)
        return pd.DataFrame(cpt.reshape(-1, cpt.shape[-1]), index=index, columns=list(self.states[node]))


@dataclass(frozen=True, eq=False, repr=False, init=False)
class GaussianNetwork(Network):
    """A linear-Gaussian network: each node is an intercept plus weighted parents plus independent normal noise.

    Parameters
    ----------
    parents : mapping
        Names of each node's parents.
    coefficients : mapping
        Weights of each node's parents, in the listed order; nodes without parents may be left out.
    variances : mapping
        Variance of each node's noise, positive.
    intercepts : mapping, optional
        Intercept of each node; default 0.

    Raises
    ------
    ValueError
        If names or numbers do not fit, a variance is not positive, or there is a cycle; names the node.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.GaussianNetwork({"A": [], "B": ["A"]}, {"B": [.5]}, {"A": 1, "B": .75})
    GaussianNetwork(2 nodes, 1 arcs: A -> B)
    """

    structure: Structure
    parameters: Floats

    def __init__(
        self,
        parents: Mapping[str, Sequence[str]],
        coefficients: Mapping[str, Any],
        variances: Mapping[str, Any],
        intercepts: Mapping[str, Any] | None = None,
    ) -> None:
        mappings = {"variances": variances}
        names = node_names(parents, mappings if intercepts is None else {**mappings, "intercepts": intercepts})
        check_type(coefficients, Mapping, "a mapping with one entry per node that has parents", "coefficients")
        coefficients = {**{name: () for name in names if not parents[name]}, **coefficients}
        node_names(parents, {"coefficients": coefficients})
        structure = Structure(names, None, parent_positions(names, parents))
        place = dict(zip(names, itertools.count()))
        parts = []
        for name in names:
            weights = read_array(name, coefficients[name], "coefficients")
            if weights.shape != (len(parents[name]),):
                raise ValueError(
                    f"node {name!r} has {weights.size} coefficients, expected one for each of its parents "
                    f"{list(parents[name])}"
                )
            order = np.argsort([place[p] for p in parents[name]]).astype(int)
            ends = [
                read_array(name, x, "intercept and variance")
                for x in (0.0 if intercepts is None else intercepts[name], variances[name])
            ]
            parts.append(np.concatenate([ends[0].reshape(1), weights[order], ends[1].reshape(1)]))
        parameters = np.concatenate(parts) if parts else np.empty(0)
        check_parameters(structure, parameters[None], lambda row: "")
        self._freeze(structure, parameters)

    @property
    def intercepts(self) -> Mapping[str, float]:
        """Intercept of each node."""
        return MappingProxyType({name: float(self.values_of(i)[0]) for i, name in enumerate(self.nodes)})

    @property
    def coefficients(self) -> Mapping[str, Floats]:
        """Weights of each node's parents, in code-point order of the parents, read-only."""
        return MappingProxyType({name: self.values_of(i)[1:-1] for i, name in enumerate(self.nodes)})

    @property
    def variances(self) -> Mapping[str, float]:
        """Variance of each node's noise."""
        return MappingProxyType({name: float(self.values_of(i)[-1]) for i, name in enumerate(self.nodes)})


def check_parameters(structure: Structure, parameters: Floats, where: Any) -> None:
    """Refuse parameters (m, size) that are not those of networks of a structure; `where(row)` names one in messages."""
    for name, part, shape in zip(structure.nodes, structure.slices, structure.shapes, strict=True):
        values = parameters[:, part].reshape(len(parameters), *shape)
        fault, bad = _fault_gaussian(values) if structure.states is None else _fault_table(values)
        if not bad.any():
            continue
        row, *at = (int(x) for x in np.argwhere(bad)[0])
        prefix = where(row)
        shown = values[(row, *at)].tolist()
        condition = ""
        if structure.states is not None and at:
            i = structure.nodes.index(name)
            condition = " given " + ", ".join(
                f"{structure.nodes[p]}={structure.states[p][s]}" for p, s in zip(structure.parents[i], at, strict=True)
            )
        raise ValueError(f"{prefix}{': ' if prefix else ''}node {name!r}{condition}: {fault}, found {shown}")


def _fault_table(values: Floats) -> tuple[str, NDArray[np.bool_]]:
    """Return the fault and which rows of tables (m, parents.., child) have it."""
    undefined = np.isnan(values).all(axis=-1)
    with np.errstate(invalid="ignore"):
        outside = ~((values >= 0) & (values <= 1 + ROW_TOLERANCE)).all(axis=-1) & ~undefined
        if outside.any():
            return "probabilities must lie between 0 and 1, or be NaN throughout the row", np.asarray(outside)
        off = ~undefined & (np.abs(values.sum(axis=-1) - 1) > ROW_TOLERANCE)
    return "the probabilities must sum to 1", np.asarray(off)


def _fault_gaussian(values: Floats) -> tuple[str, NDArray[np.bool_]]:
    """Return the fault and which rows (intercept, coefficients.., variance) have it."""
    bad = ~np.all(np.isfinite(values), axis=-1, keepdims=True) | ~(values[..., -1:] > 0)
    return "intercept and coefficients must be finite and the variance positive", bad[..., 0]


def node_names(parents: Mapping[str, Sequence[str]], others: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the node names, sorted; refuse mappings that lack a node or have others."""
    if not isinstance(parents, Mapping):
        raise TypeError(f"parents must map node names to lists of node names, found {type(parents).__name__}")
    for name, node_parents in parents.items():
        listed = isinstance(node_parents, Iterable) and not isinstance(node_parents, str)
        if not isinstance(name, str) or not listed or not all(isinstance(p, str) for p in node_parents):
            raise TypeError(f"parents must map node names to lists of node names, found {name!r}: {node_parents!r}")
        unknown = sorted(p for p in set(node_parents) if p not in parents)
        if unknown:
            raise ValueError(f"node {name!r} has the parents {unknown}, which are not among the nodes of `parents`")
        if len(set(node_parents)) < len(node_parents):
            raise ValueError(f"node {name!r} has a parent twice: {list(node_parents)}")
    for what, mapping in others.items():
        check_type(mapping, Mapping, "a mapping with one entry per node", what)
        missing, extra = sorted(set(parents) - set(mapping)), sorted(set(mapping) - set(parents), key=str)
        if missing or extra:
            raise ValueError(f"{what} lacks the nodes {missing} and has the unknown nodes {extra}")
    return tuple(sorted(parents))


def parent_positions(names: tuple[str, ...], parents: Mapping[str, Sequence[str]]) -> tuple[tuple[int, ...], ...]:
    """Return the positions of each node's parents, ascending."""
    at = dict(zip(names, itertools.count()))
    return tuple(tuple(sorted(at[p] for p in parents[name])) for name in names)


def read_array(name: str, values: Any, what: str) -> Floats:
    """Return the numbers of a node as an array; `what` names them in messages."""
    try:
        refuse_masked(values, "a number", "table.filled(np.nan) where a row is undefined")
    except ValueError as error:
        raise ValueError(f"node {name!r}: its {what}: {error}") from None
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"node {name!r}: its {what} must be an array of numbers, found {values!r:.100}") from None


def _shorten(text: str) -> str:
    return text if len(text) <= 90 else text[:87] + "..."
