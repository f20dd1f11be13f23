"""Networks with parameters as values, their structures, which are everything but parameters, and their canonical bytes.

Networks are frozen, hashable, and equal if they have the same variables, arcs and numbers. The parameters of networks
with one structure are the rows of one array, so that thousands of re-estimated networks are scored as one stack. A cell
is a sequence of little-endian 64-bit words: equal networks have equal bytes.

========= =================================================================================================
words 0-5 text for readers of printed tables: kind, numbers of nodes and of arcs (`CellFormat.line`)
word 6    byte 0 magic 0xCD, byte 1 version 2, bytes 2-3 zero, bytes 4-7 length of the structure's text in bytes
word 7    BLAKE2b digest (8 bytes) of that text
text      the structure as canonical JSON, UTF-8, filled up with spaces to whole words
rest      the parameters as float64, node after node
========= =================================================================================================
"""

from __future__ import annotations

import graphlib
import hashlib
import itertools
import json
import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, Self, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.cells import CellFormat, format_of, register_cell_format
from ...contract.checks import alike, check_type, explain_alike, refuse_masked
from ...graphs.graph import Graph
from ...graphs.kernels.planes import planes_from_arcs
from ...graphs.packing import check_names

__all__ = ["DiscreteNetwork", "GaussianNetwork"]

T = TypeVar("T")
MAX_STATES = 10_000
#: entries of all tables of one network
MAX_PARAMETERS = 2**26
#: parents of a node with a table, which has an axis for each and one of its own: numpy 1 takes 31 arrays of positions
MAX_PARENTS = 30


def dag_planes(n_nodes: int, arcs: Sequence[Iterable[tuple[int, int]]]) -> NDArray[np.uint64]:
    """Return DAGs, given by their arcs, as pair planes (N, 2, W)."""
    rows = [(row, *arc) for row, of_dag in enumerate(arcs) for arc in of_dag]
    return planes_from_arcs(len(arcs), n_nodes, *np.array(rows, np.int64).reshape(-1, 3).T)


@dataclass(frozen=True)
class Structure:
    """Variables, states and parents in canonical order."""

    #: names in code-point order
    nodes: tuple[str, ...]
    #: states of each node; None for a linear-Gaussian network
    states: tuple[tuple[str, ...], ...] | None
    #: positions of each node's parents, ascending
    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        _check_variables(self.nodes, self.states)
        if len(self.parents) != len(self.nodes):
            raise ValueError(f"the network has {len(self.nodes)} nodes, but parents of {len(self.parents)}")
        for i, (name, parents) in enumerate(zip(self.nodes, self.parents, strict=True)):
            whole = all(type(p) is int and 0 <= p < len(self.nodes) for p in parents)
            if not whole or list(parents) != sorted(set(parents)):
                raise ValueError(f"node {name!r} has parents {parents}, expected distinct ascending positions of nodes")
            if self.states is not None:
                check_table(name, [len(self.states[p]) for p in (*parents, i)])
        try:
            _ = self.order
        except graphlib.CycleError as error:
            cycle = " -> ".join(self.nodes[i] for i in error.args[1])
            raise ValueError(f"the network has the directed cycle {cycle}; parents must form a DAG") from None
        if self.size > MAX_PARAMETERS:
            raise ValueError(f"the network has {self.size} parameters; at most {MAX_PARAMETERS} are supported")

    @property
    def kind(self) -> str:
        """Kind of the network: "discrete" or "gaussian"."""
        return "gaussian" if self.states is None else "discrete"

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each node."""
        return tuple(len(states) for states in self.states or ())

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shape of each node's parameters: a table (parents.., child), or (intercept, coefficients.., variance)."""
        if self.states is None:
            return tuple((len(parents) + 2,) for parents in self.parents)
        cards = self.cards
        return tuple((*(cards[p] for p in parents), cards[i]) for i, parents in enumerate(self.parents))

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """Slice of each node's parameters in a row of parameters."""
        ends = itertools.accumulate(map(math.prod, self.shapes), initial=0)
        return tuple(slice(*both) for both in itertools.pairwise(ends))

    @cached_property
    def size(self) -> int:
        """Number of parameters."""
        return sum(math.prod(shape) for shape in self.shapes)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Positions of the nodes, parents before children; raises `graphlib.CycleError` where parents form a cycle."""
        # nodes are added in ascending order first, which breaks ties by position
        sorter: graphlib.TopologicalSorter[int] = graphlib.TopologicalSorter({i: () for i in range(len(self.parents))})
        for i, causes in enumerate(self.parents):
            sorter.add(i, *causes)
        return tuple(sorter.static_order())

    @cached_property
    def arcs(self) -> frozenset[tuple[int, int]]:
        """Arcs (parent, child)."""
        return frozenset((p, i) for i, parents in enumerate(self.parents) for p in parents)

    @cached_property
    def graph(self) -> Graph:
        """The DAG."""
        return Graph(self.nodes, "dag", dag_planes(len(self.nodes), [self.arcs])[0])

    @classmethod
    def from_text(cls, text: str | bytes) -> Structure:
        """Read JSON; raise a ValueError that names the fault."""
        try:
            content: Any = json.loads(text)
            return cls(
                tuple(content["nodes"]),
                None if content["states"] is None else tuple(tuple(s) for s in content["states"]),
                tuple(tuple(p) for p in content["parents"]),
            )
        except (KeyError, TypeError, RecursionError, json.JSONDecodeError, UnicodeDecodeError):
            raise ValueError("its description is not that of a network; the cell is damaged") from None


@lru_cache(maxsize=1024)
def _check_variables(nodes: tuple[str, ...], states: tuple[tuple[str, ...], ...] | None) -> None:
    """Refuse names of nodes and their states that are not canonical; DAGs over the same variables share the answer."""
    fault = check_names(nodes)
    if fault:
        raise ValueError(f"the network {fault}")
    if states is not None and len(states) != len(nodes):
        raise ValueError(f"the network has {len(nodes)} nodes, but states of {len(states)}")
    for name, node_states in zip(nodes, states or (), strict=False):
        check_states(name, node_states)


def check_table(name: str, cards: Sequence[int]) -> None:
    """Refuse a table that is too large before it is made; `cards` are the numbers of states of its axes."""
    if len(cards) - 1 > MAX_PARENTS:
        raise ValueError(f"node {name!r} has {len(cards) - 1} parents; at most {MAX_PARENTS} are supported")
    if math.prod(cards) > MAX_PARAMETERS:
        raise ValueError(f"node {name!r} needs a table with {math.prod(cards)} entries; at most {MAX_PARAMETERS}")


def sort_states(states: Sequence[str]) -> list[str]:
    """Sort state names by code points, whole numbers by value."""
    if all(s.isascii() and s.isdecimal() for s in states):
        return sorted(states, key=lambda s: (len(s), s))
    return sorted(states)


def check_states(name: str, states: Sequence[str]) -> None:
    """Refuse states of a node that are too many, alike or out of order."""
    fault, pair = "", None
    if not all(isinstance(s, str) for s in states):
        fault = f"has the states {states}; state names are text"
    elif not 1 <= len(states) <= MAX_STATES:
        fault = f"has {len(states)} states, expected 1 to {MAX_STATES}"
    elif len(set(states)) < len(states):
        fault = f"has the states {states}; state names must differ"
    elif pair := alike(states):
        fault = f"has two states that may be one: {explain_alike(*pair)}; give them one name"
    elif list(states) != sort_states(states):
        fault = f"has its states out of order: {states}"
    if fault:
        raise ValueError(f"node {name!r} {fault}")


MAGIC, VERSION = 0xCD, 2
TEXT_BYTES = 48
_HEADER = struct.Struct("<BBHI8s")
FORMAT = register_cell_format(CellFormat("a packed network", MAGIC, TEXT_BYTES, "network_column"))


def contents(cell: bytes) -> bytes:
    """Return the bytes by which a network is identified: without text, and with the version that they had before it."""
    return bytes([MAGIC, 1]) + cell[TEXT_BYTES + 2 :]


@lru_cache(maxsize=1024)
def _head(structure: Structure) -> bytes:
    n, m = len(structure.nodes), len(structure.arcs)
    title = FORMAT.line(f"{structure.kind} network", f"{n} node{'s' * (n != 1)}", f"{m} arc{'s' * (m != 1)}")
    content = {"nodes": structure.nodes, "states": structure.states, "parents": structure.parents}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    header = _HEADER.pack(MAGIC, VERSION, 0, len(text), hashlib.blake2b(text, digest_size=8).digest())
    return title + header + text + b" " * (-len(text) % 8)


@lru_cache(maxsize=1024)
def read_head(head: bytes) -> Structure:
    """Read the bytes before the parameters; raise a ValueError that names the fault."""
    _, version, _, length, digest = _HEADER.unpack_from(head, TEXT_BYTES)
    if version != VERSION:
        raise ValueError(f"found a packed network of format version {version}; this release reads version {VERSION}")
    start = TEXT_BYTES + _HEADER.size
    text = head[start : start + length]
    structure = Structure.from_text(text) if hashlib.blake2b(text, digest_size=8).digest() == digest else None
    if structure is None or _head(structure) != head:
        raise ValueError("its first bytes or its digest are not those of its contents; the cell is damaged")
    return structure


def split_cell(cell: bytes) -> tuple[bytes, bytes]:
    """Split a cell into the header with the structure, and the parameters; raise a ValueError if it is not a cell."""
    if len(cell) < TEXT_BYTES + _HEADER.size or not FORMAT.holds(cell):
        other = format_of(cell)
        if other is not None and other is not FORMAT:
            raise ValueError(
                f"found {other.noun}, expected a network with parameters (network_column); list_metrics() names the "
                "metrics of graphs"
            )
        raise ValueError(
            f"{FORMAT.explain(cell)} (these start with a line such as 'discrete network, 3 nodes, 2 arcs')"
        )
    length = _HEADER.unpack_from(cell, TEXT_BYTES)[3]
    end = TEXT_BYTES + _HEADER.size + length + (-length % 8)
    return cell[:end], cell[end:]


def read_parameters(structure: Structure, tail: bytes) -> NDArray[np.float64]:
    """Read the bytes after the structure; the values are not checked."""
    if len(tail) != 8 * structure.size:
        raise ValueError(f"found {len(tail)} bytes of parameters, expected {8 * structure.size}; the cell is damaged")
    return np.frombuffer(tail, "<f8")


def pack_cell(structure: Structure, parameters: NDArray[np.float64]) -> bytes:
    """Return the canonical bytes of a network."""
    return _head(structure) + parameters.astype("<f8").tobytes()


Floats = NDArray[np.float64]

#: how far a row of probabilities may be from 1
ROW_TOLERANCE = 1e-8


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Network:
    """Base of discrete and linear-Gaussian networks: a structure and its parameters."""

    structure: Structure
    parameters: Floats

    def _freeze(self, structure: Structure, parameters: Floats) -> None:
        """Set structure and parameters, read-only; -0 becomes 0 and every NaN the same NaN."""
        numbers = np.where(np.isnan(parameters), np.nan, parameters + 0.0)
        numbers.flags.writeable = False
        object.__setattr__(self, "structure", structure)
        object.__setattr__(self, "parameters", numbers)

    def _by_node(self, values: Iterable[T]) -> Mapping[str, T]:
        return MappingProxyType(dict(zip(self.nodes, values, strict=True)))

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
        return self._by_node(tuple(self.nodes[p] for p in positions) for positions in self.structure.parents)

    @property
    def n_arcs(self) -> int:
        """Number of arcs."""
        return len(self.structure.arcs)

    @property
    def graph(self) -> Graph:
        """The DAG of the network."""
        return self.structure.graph

    def values_of(self, position: int) -> Floats:
        """Return the parameters of the node at a position, in their shape."""
        return self.parameters[self.structure.slices[position]].reshape(self.structure.shapes[position])

    @property
    def _values(self) -> Iterable[Floats]:
        return map(self.values_of, range(len(self.nodes)))

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
        if not isinstance(cell, bytes):
            raise TypeError(f"expected the bytes of a packed network, found {type(cell).__name__}")
        head, tail = split_cell(cell)
        structure = read_head(head)
        parameters = read_parameters(structure, tail)
        check_parameters(structure, parameters[None], lambda row: "the cell: ")
        found: Any = network_of(structure, parameters)
        if not isinstance(found, cls):
            raise ValueError(f"the cell holds a {structure.kind} network, not a {cls.__name__}")
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return self._cell == other._cell

    def __hash__(self) -> int:
        return hash(self._cell)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        text = self.graph.to_string()
        arcs = text if len(text) <= 90 else text[:87] + "..."
        return f"{type(self).__name__}({len(self.nodes)} nodes, {self.n_arcs} arcs: {arcs})"


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

    def __init__(
        self,
        parents: Mapping[str, Sequence[str]],
        cpts: Mapping[str, Any],
        states: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        names = node_names(parents)
        check_entries(names, cpts=cpts)
        tables = {name: np.atleast_1d(read_array(name, cpts[name], "table")) for name in names}
        if states is None:
            states = {name: range(table.shape[-1]) for name, table in tables.items()}
        check_entries(names, states=states)
        listed = {name: [str(state) for state in states[name]] for name in names}
        ordered = {name: sort_states(labels) for name, labels in listed.items()}
        structure = Structure(names, tuple(map(tuple, ordered.values())), parent_positions(names, parents))
        at = {name: [listed[name].index(state) for state in ordered[name]] for name in names}
        parts = [np.empty(0)]
        for name, table in tables.items():
            axes = [*parents[name], name]
            expected = tuple(len(listed[axis]) for axis in axes)
            if table.shape != expected:
                raise ValueError(
                    f"node {name!r}: its table has the shape {table.shape}, expected {expected}: the numbers of states "
                    f"of {axes}"
                )
            sorted_axes = [*sorted(parents[name]), name]
            turned = table.transpose([axes.index(axis) for axis in sorted_axes])
            parts.append(turned[np.ix_(*(at[axis] for axis in sorted_axes))].reshape(-1))
        parameters = np.concatenate(parts)
        check_parameters(structure, parameters[None])
        self._freeze(structure, parameters)

    @property
    def states(self) -> Mapping[str, tuple[str, ...]]:
        """Names of each node's states, in the order of the axes."""
        return self._by_node(self.structure.states or ())

    @property
    def cpts(self) -> Mapping[str, Floats]:
        """Table of each node, read-only: axes of the parents in code-point order, the child last."""
        return self._by_node(self._values)

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

    def __init__(
        self,
        parents: Mapping[str, Sequence[str]],
        coefficients: Mapping[str, Any],
        variances: Mapping[str, Any],
        intercepts: Mapping[str, Any] | None = None,
    ) -> None:
        names = node_names(parents)
        if isinstance(coefficients, Mapping):
            coefficients = {**{name: () for name in names if not parents[name]}, **coefficients}
        intercepts = dict.fromkeys(names, 0.0) if intercepts is None else intercepts
        check_entries(names, variances=variances, intercepts=intercepts, coefficients=coefficients)
        structure = Structure(names, None, parent_positions(names, parents))
        parts = [np.empty(0)]
        for name in names:
            weights = read_array(name, coefficients[name], "coefficients")
            if weights.shape != (len(parents[name]),):
                raise ValueError(
                    f"node {name!r} has {weights.size} coefficients, expected one for each of its parents "
                    f"{list(parents[name])}"
                )
            ends = [read_array(name, x[name], "intercept and variance").reshape(1) for x in (intercepts, variances)]
            order = np.argsort(np.array(parents[name], object)).astype(int)
            parts += [ends[0], weights[order], ends[1]]
        parameters = np.concatenate(parts)
        check_parameters(structure, parameters[None])
        self._freeze(structure, parameters)

    @property
    def intercepts(self) -> Mapping[str, float]:
        """Intercept of each node."""
        return self._by_node(float(values[0]) for values in self._values)

    @property
    def coefficients(self) -> Mapping[str, Floats]:
        """Weights of each node's parents, in code-point order of the parents, read-only."""
        return self._by_node(values[1:-1] for values in self._values)

    @property
    def variances(self) -> Mapping[str, float]:
        """Variance of each node's noise."""
        return self._by_node(float(values[-1]) for values in self._values)


def network_of(structure: Structure, parameters: Floats) -> Network:
    """Make a network from parts that have been checked."""
    made: Network = object.__new__(GaussianNetwork if structure.states is None else DiscreteNetwork)
    made._freeze(structure, parameters)
    return made


def check_parameters(structure: Structure, parameters: Floats, where: Any = lambda row: "") -> None:
    """Refuse parameters (m, size) that are not those of networks of a structure; `where(row)` begins the message."""
    for i, (name, part, shape) in enumerate(zip(structure.nodes, structure.slices, structure.shapes, strict=True)):
        values = parameters[:, part].reshape(len(parameters), *shape)
        if structure.states is None:
            fault = "intercept and coefficients must be finite and the variance positive"
            bad = ~np.isfinite(values).all(axis=-1) | ~(values[:, -1] > 0)
        else:
            fault = "probabilities must lie between 0 and 1 and sum to 1, or be NaN throughout the row"
            with np.errstate(over="ignore", invalid="ignore"):
                inside = ((values >= 0) & (values <= 1 + ROW_TOLERANCE)).all(axis=-1)
                whole = np.abs(values.sum(axis=-1) - 1) <= ROW_TOLERANCE
            bad = ~(inside & whole | np.isnan(values).all(axis=-1))
        if bad.any():
            row, *at = np.argwhere(bad)[0].tolist()
            states = [
                f"{structure.nodes[p]}={(structure.states or ())[p][state]}"
                for p, state in zip(structure.parents[i], at, strict=False)
            ]
            condition = f" given {', '.join(states)}" if states else ""
            shown = values[(row, *at)].tolist()
            raise ValueError(f"{where(row)}node {name!r}{condition}: {fault}, found {shown}")


def node_names(parents: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the node names, sorted; refuse parents that are not among them or stand twice."""
    check_type(parents, Mapping, "a mapping of node names to lists of node names", "parents")
    for name, node_parents in parents.items():
        listed = isinstance(node_parents, Iterable) and not isinstance(node_parents, str)
        if not isinstance(name, str) or not listed or not all(isinstance(p, str) for p in node_parents):
            raise TypeError(f"parents must map node names to lists of node names, found {name!r}: {node_parents!r}")
        unknown = sorted(set(node_parents) - set(parents))
        if unknown:
            raise ValueError(f"node {name!r} has the parents {unknown}, which are not among the nodes of `parents`")
        if len(set(node_parents)) < len(node_parents):
            raise ValueError(f"node {name!r} has a parent twice: {list(node_parents)}")
    return tuple(sorted(parents))


def check_entries(names: tuple[str, ...], **mappings: Mapping[str, Any]) -> None:
    """Refuse mappings that lack a node or have others."""
    for what, mapping in mappings.items():
        check_type(mapping, Mapping, "a mapping with one entry per node", what)
        missing, extra = sorted(set(names) - set(mapping)), sorted(set(mapping) - set(names), key=str)
        if missing or extra:
            raise ValueError(f"{what} lacks the nodes {missing} and has the unknown nodes {extra}")


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
