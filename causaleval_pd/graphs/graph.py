"""The Graph value (node names, a class, the marks of its edges), and the accessor ``series.graph`` of columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ..contract.cells import ColumnAccessor
from ..contract.checks import name_row
from . import classes
from .kernels.planes import KINDS, a_kind, arcs_from_planes, padding_mask, plane_words, planes_of_kind
from .methods import GraphMethods
from .mixed.marks import is_mixed, reserved
from .packing import Block, UnpackedColumn, check_names, is_packed, pack_cell, pack_column, unpack_array, unpack_column

if TYPE_CHECKING:
    import networkx as nx

Network: TypeAlias = "nx.DiGraph[str]"


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Graph(GraphMethods["Graph", int, float, bool, str, "str | None", tuple[str, ...], Network, pd.Series]):
    """An immutable, hashable graph over named nodes.

    Two graphs are equal if they have the same nodes, class and edges, that is, the same canonical bytes. Make one with
    `as_graph`, a column of them with `graph_column`, whose `series.graph` has the same methods.

    Attributes
    ----------
    nodes : tuple of str
        Node names in code-point order.
    kind : {"dag", "cpdag", "pdag", "digraph", "mag", "pag", "admg", "skeleton", "mixed"}
        Graph class.
    planes : (2, W) uint64, (4, W) from kind "mag" on
        Marks of the edges as bit planes, read-only.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> graph = ce.as_graph("A -> B; B -- C; D")
    >>> graph
    Graph('A -> B; B -- C; D', kind='pdag')
    >>> graph.n_edges, graph.edges
    (2, ('A -> B', 'B -- C'))
    >>> graph == ce.as_graph("C -- B; D; B <- A")
    True
    >>> graph.cpdag()
    Graph('A -- B; B -- C; D', kind='cpdag')
    """

    nodes: tuple[str, ...]
    kind: str
    planes: NDArray[np.uint64]
    _index = pd.RangeIndex(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(self.nodes))
        fault = check_names(self.nodes)
        if fault:
            raise ValueError(f"the graph {fault}")
        if self.kind not in KINDS:
            raise ValueError(f"unknown kind {self.kind!r}; graph classes are {', '.join(KINDS)}")
        planes = np.array(self.planes, dtype=np.uint64, order="C")
        code = KINDS.index(self.kind)
        shape = (planes_of_kind(code), plane_words(len(self.nodes)))
        if planes.shape != shape:
            raise ValueError(
                f"planes of {a_kind(code)} of {len(self.nodes)} nodes have the shape {shape}, found {planes.shape}"
            )
        if (planes[:, -1] & padding_mask(len(self.nodes))).any():
            raise ValueError(f"planes of {len(self.nodes)} nodes have bits set beyond the last pair")
        if is_mixed(planes[None]) and reserved(planes[None])[0]:
            raise ValueError("planes have an edge with a mark at one end only")
        if classes.not_in_class(planes[None], len(self.nodes), np.array([code], dtype=np.uint8))[0]:
            from .faults import explain_kind

            raise ValueError(f"the graph {explain_kind(planes, self.nodes, code)}")
        planes.flags.writeable = False
        object.__setattr__(self, "planes", planes)

    @classmethod
    def _of_checked(cls, nodes: tuple[str, ...], kind: str, planes: NDArray[np.uint64]) -> Self:
        """Make a graph of parts that are checked already."""
        graph = object.__new__(cls)
        copy = planes.copy()
        copy.flags.writeable = False
        for name, value in (("nodes", nodes), ("kind", kind), ("planes", copy)):
            object.__setattr__(graph, name, value)
        return graph

    @classmethod
    def from_bytes(cls, cell: bytes) -> Self:
        """Read canonical bytes.

        Parameters
        ----------
        cell : bytes
            Canonical bytes, from `to_bytes` or a packed column.

        Returns
        -------
        Graph

        Raises
        ------
        ValueError
            If these are not the canonical bytes of a graph, or the graph is not in the class that it declares.
        """
        if not isinstance(cell, bytes):
            raise TypeError(f"expected the bytes of a packed graph, found {type(cell).__name__}")
        column = unpack_array(pa.array([cell], type=pa.large_binary()), lambda row: "cell")
        block = column.blocks[0]
        return cls(column.node_sets[0], KINDS[block.kinds[0]], block.planes[0])

    def to_bytes(self) -> bytes:
        """Return the canonical bytes: equal graphs have equal bytes."""
        return pack_cell(self.nodes, KINDS.index(self.kind), self.planes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self.kind == other.kind and self.nodes == other.nodes and self.planes.tobytes() == other.planes.tobytes()

    def __hash__(self) -> int:
        return hash((self.kind, self.nodes, self.planes.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        text = self.to_string()
        return f"Graph({text if len(text) <= 90 else text[:87] + '...'!r}, kind={self.kind!r})"

    def _arcs(self) -> list[tuple[int, int]]:
        _, source, target = arcs_from_planes(self.planes[None], len(self.nodes))
        return list(zip(source.tolist(), target.tolist(), strict=True))

    @property
    def _column(self) -> UnpackedColumn:
        first, kinds = np.zeros(1, np.int64), np.array([KINDS.index(self.kind)], np.uint8)
        return UnpackedColumn(1, (Block(len(self.nodes), first, self.planes[None], kinds, first),), (self.nodes,))

    def _where(self, row: int) -> str:
        return repr(self)

    def _graphs(self, column: UnpackedColumn) -> Graph:
        if not column.blocks:
            raise ValueError("latents is missing, expected a list of node names")
        return next(graphs_of(column))

    def _items(self, column: UnpackedColumn, parts: Sequence[NDArray[Any]], dtype: str) -> Any:
        return parts[0].tolist()[0]

    def _rows(self, rows: Any) -> Any:
        return rows.iloc[0] if isinstance(rows, pd.DataFrame) else rows[0]

    def to_string(self) -> str:
        """Return the edge string, isolated nodes as bare names: ``"A -> B; B -- C; D"``."""
        return self.to_text()


def graphs_of(column: UnpackedColumn) -> Iterator[Graph]:
    """Yield the graphs of a decoded column, block after block."""
    for block in column.blocks:
        for i, planes in enumerate(block.planes):
            yield Graph._of_checked(column.node_sets[block.node_set[i]], KINDS[block.kinds[i]], planes)


class SeriesGraphAccessor(
    ColumnAccessor,
    GraphMethods[pd.Series, pd.Series, pd.Series, pd.Series, pd.Series, pd.Series, pd.Series, pd.Series, pd.DataFrame],
):
    """Properties and conversions of a column of packed graphs: ``series.graph``.

    Every result is on the index of the column, and a missing graph gives a missing result. A `Graph` has the same
    methods.

    Parameters
    ----------
    series : Series
        Packed graphs, made by `graph_column`.

    Raises
    ------
    AttributeError
        If the column does not hold packed graphs.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> column = ce.graph_column(["A -> B <- C", "A -- B; C", None])
    >>> column.graph.n_edges.tolist()
    [2, 1, <NA>]
    >>> column.graph.cpdag().graph.to_strings().tolist()
    ['A -> B; C -> B', 'A -- B; C', nan]
    """

    _name, _nouns, _maker = "graph", "graphs", "graph_column"

    @staticmethod
    def _holds(series: pd.Series) -> bool:
        return is_packed(series)

    def _repr_html_(self) -> str:
        """Show the first graphs as a table in a notebook."""
        n, shown = len(self._obj), 10
        head = type(self)(self._obj.iloc[:shown]).show().to_html(max_rows=shown, notebook=True)
        return f"{head}<p>{n} graphs</p>" if n <= shown else f"{head}<p>{n} graphs, the first {shown} shown</p>"

    @property
    def _column(self) -> UnpackedColumn:
        return unpack_column(self._obj)

    @property
    def _index(self) -> pd.Index:
        return self._obj.index

    def _where(self, row: int) -> str:
        return name_row(row, self._obj.index, self._obj.name)

    def _graphs(self, column: UnpackedColumn) -> pd.Series:
        return pack_column(column, index=self._obj.index, name=self._obj.name)

    def _items(self, column: UnpackedColumn, parts: Sequence[NDArray[Any]], dtype: str) -> pd.Series:
        fill = {"Int64": 0, "boolean": False, "float64": np.nan}.get(dtype)
        values = column.scatter(parts, fill, np.asarray(fill).dtype)
        masked = {"Int64": pd.arrays.IntegerArray, "boolean": pd.arrays.BooleanArray}.get(dtype)
        data = values if masked is None else masked(values, column.missing)
        return pd.Series(data, index=self._obj.index, name=self._obj.name, dtype=dtype)

    def to_strings(self) -> pd.Series:
        """Return the graphs as edge strings, isolated nodes as bare names: ``"A -> B; B -- C; D"``."""
        return self.to_text()

    def to_graphs(self) -> pd.Series:
        """Return the graphs as `Graph` values (an object column, for use in Python)."""
        column = self._checked()
        graphs = np.full(column.n_rows, None, dtype=object)
        graphs[[row for block in column.blocks for row in block.rows.tolist()]] = list(graphs_of(column))
        return pd.Series(graphs, index=self._obj.index, name=self._obj.name, dtype=object)

    @property
    def nodes(self) -> pd.Series:
        """Node names of each graph, a tuple in code-point order."""
        column = self._column
        names = np.full(len(column.node_sets) + 1, None, dtype=object)
        for i, node_set in enumerate(column.node_sets):
            names[i] = node_set
        # that of a missing graph is the last
        return pd.Series(names[column.row_node_set], index=self._obj.index, name=self._obj.name, dtype=object)

    @property
    def kind(self) -> pd.Series:
        """Graph class, a categorical over dag, cpdag, pdag, digraph, mag, pag, admg, skeleton, mixed."""
        column = self._column
        codes = column.scatter([block.kinds for block in column.blocks], -1, np.int8)
        kinds = pd.Categorical.from_codes(codes, pd.Index(KINDS))
        return pd.Series(kinds, index=self._obj.index, name=self._obj.name)
