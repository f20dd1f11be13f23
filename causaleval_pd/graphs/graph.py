"""The Graph value: node names, a class, and the marks of its edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..contract.encoding import ENCODINGS, CellError, Encoding, Ends
from . import classes
from .edge_marks import SHORT_SIGNS, forward, single_edges
from .edge_strings import write_edges, write_graph, write_names
from .kernels.ones import count_ones
from .kernels.planes import (
    KINDS,
    a_kind,
    arcs_from_planes,
    padding_mask,
    plane_words,
    planes_of_kind,
)
from .matrix_codes import encode
from .mixed.marks import (
    bidirected,
    codes_from_planes,
    count_bits,
    count_edges,
    ends_from_planes,
    is_mixed,
    lift,
    reserved,
    where,
)
from .packing import check_names, pack_cell, unpack_array

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Graph:
    """An immutable, hashable graph over named nodes.

    Two graphs are equal if they have the same nodes, class and edges, that is, the same canonical bytes. Make one with
    `as_graph`, a column of them with `graph_column`.

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
    """

    nodes: tuple[str, ...]
    kind: str
    planes: NDArray[np.uint64]

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
            raise ValueError(f"the graph {classes.explain_kind(planes, self.nodes, code)}")
        planes.flags.writeable = False
        object.__setattr__(self, "planes", planes)

    @classmethod
    def _of_checked(cls, nodes: tuple[str, ...], kind: str, planes: NDArray[np.uint64]) -> Self:
        """Make a graph of parts that are checked already."""
        graph = object.__new__(cls)
        own = planes.copy()
        own.flags.writeable = False
        for name, value in (("nodes", nodes), ("kind", kind), ("planes", own)):
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
            The graph.

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
        _, source, target = arcs_from_planes(self.planes[None], self.n_nodes)
        return list(zip(source.tolist(), target.tolist(), strict=True))

    def _ends(self) -> list[tuple[int, int, int, int]]:
        _, *ends = ends_from_planes(lift(self.planes[None]), self.n_nodes)
        return list(zip(*(x.tolist() for x in ends), strict=True))

    @property
    def _is_mixed(self) -> bool:
        return is_mixed(self.planes[None])

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.nodes)

    @property
    def n_edges(self) -> int:
        """Number of edges, of any mark; two where a pair has a directed and a bidirected one."""
        return int(count_edges(self.planes[None])[0])

    @property
    def n_undirected(self) -> int:
        """Number of undirected edges."""
        if self._is_mixed:
            return int(count_bits(where(self.planes[None], 1, 1))[0])
        return int(count_ones(self.planes[0] & self.planes[1]).sum())

    @property
    def n_bidirected(self) -> int:
        """Number of bidirected edges."""
        return int(count_bits(bidirected(self.planes[None]))[0]) if self._is_mixed else 0

    @property
    def edges(self) -> tuple[str, ...]:
        """The edges as strings, ordered by the names of their nodes."""
        return tuple(write_edges(write_names(self.nodes), self._ends()))

    @property
    def is_acyclic(self) -> bool:
        """Whether no directed cycle exists; edges of other marks are not walked."""
        return bool(classes.is_acyclic(self.planes[None], self.n_nodes)[0])

    def to_string(self) -> str:
        """Return the edge string, isolated nodes as bare names: ``"A -> B; B -- C; D"``."""
        return write_graph(write_names(self.nodes), self._ends())

    def to_numpy(self, nodes: Sequence[str] | None = None, encoding: str = "row->column") -> NDArray[np.int8]:
        """Return the adjacency matrix.

        Parameters
        ----------
        nodes : sequence of str, optional
            Order of rows and columns; default code-point order.
        encoding : str, default "row->column"
            Encoding of the result (see `list_encodings`): the edge i -> j is the 1 in cell (i, j), or with
            "column->row" in cell (j, i), and an undirected edge sets both. Others, such as "pcalg amat.pag", hold the
            marks at both ends of an edge.

        Returns
        -------
        (d, d) array of int8
            Zeros and ones, or the codes of the encoding (strings of "tigramite").

        Raises
        ------
        ValueError
            If the encoding cannot hold the marks of the graph.
        """
        try:
            matrices = matrices_of(self.planes[None], self.n_nodes, encoding)
        except CellError as fault:
            raise ValueError(str(fault)) from None
        return np.asarray(in_order(matrices, self.nodes, nodes)[0])

    def to_text(self, encoding: str = "edge string") -> str:
        r"""Return the graph as text of another tool.

        Parameters
        ----------
        encoding : str, default "edge string"
            "dagitty", "DOT", "edge table" (CSV), "GraphML", "JSON", "model string" or "Tetrad text" (see
            `list_encodings`).

        Returns
        -------
        str
            Text that `as_graph(text, encoding=encoding)` reads.

        Raises
        ------
        ValueError
            If the encoding cannot hold the graph's marks or names.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> ce.as_graph("A -> B; B <-> C; D").to_text("dagitty")
        'dag {\nA\nB\nC\nD\nA -> B\nB <-> C\n}'
        """
        _, *ends = ends_from_planes(lift(self.planes[None]), self.n_nodes)
        edges = single_edges(list(zip(*(x.tolist() for x in ends), strict=True)))
        return find_text_writer(encoding)(self.nodes, edges)

    def to_networkx(self) -> nx.DiGraph[str]:
        """Return a networkx DiGraph, which `as_graph` reads.

        Returns
        -------
        DiGraph
            An undirected edge is two arcs. From kind "mag" on an edge is one arc whose attribute type is its sign:
            "->", "<->", "o->", "o-o", "--" or "o--", the mark at the source on the left. Where two nodes have both
            ``->`` and ``<->``, it is a MultiDiGraph.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> graph = ce.as_graph("A o-> B; B <-> C")
        >>> list(graph.to_networkx().edges.data("type"))
        [('A', 'B', 'o->'), ('B', 'C', '<->')]
        >>> ce.as_graph(graph.to_networkx()) == graph
        True
        """
        import networkx as nx

        if not self._is_mixed:
            plain: nx.DiGraph[str] = nx.DiGraph()
            plain.add_nodes_from(self.nodes)
            plain.add_edges_from((self.nodes[s], self.nodes[t]) for s, t in self._arcs())
            return plain
        edges = [(self.nodes[i], self.nodes[j], (a, b)) for i, j, a, b in map(forward, single_edges(self._ends()))]
        marked: nx.DiGraph[str] = nx.DiGraph() if len({edge[:2] for edge in edges}) == len(edges) else nx.MultiDiGraph()
        marked.add_nodes_from(self.nodes)
        for source, target, marks in edges:
            marked.add_edge(source, target, type=SHORT_SIGNS[marks])
        return marked

    def skeleton(self) -> Graph:
        """Return the graph with all edges undirected: a cpdag if that is one, else a pdag.

        From kind "mag" on it is a skeleton.
        """
        planes, kinds = classes.to_skeletons(self.planes[None], self.n_nodes)
        return self._of_checked(self.nodes, KINDS[kinds[0]], planes[0])

    def cpdag(self) -> Graph:
        """Return the CPDAG: of a dag its Markov equivalence class, of a pdag that of its consistent extensions.

        Raises
        ------
        ValueError
            If a pdag or digraph has no consistent extension, as where it has a directed cycle.
        """
        kinds = np.array([KINDS.index(self.kind)], dtype=np.uint8)
        planes, none = classes.to_cpdags(self.planes[None], self.n_nodes, kinds)
        if none[0]:
            raise ValueError(f"{self!r} has no CPDAG: no DAG has its skeleton, directed edges and v-structures")
        return self._of_checked(self.nodes, "cpdag", planes[0])


def in_order(matrices: NDArray[Any], names: Sequence[str], nodes: Sequence[str] | None) -> NDArray[Any]:
    """Rearrange (N, d, d) matrices over `names` to the order of `nodes`."""
    if nodes is None:
        return matrices
    order = list(nodes)
    if sorted(order) != list(names):
        raise ValueError(f"nodes must hold the names {list(names)} in any order, found {order}")
    position = {name: i for i, name in enumerate(names)}
    at = np.array([position[name] for name in order], dtype=np.int64)
    return np.ascontiguousarray(matrices[:, at[:, None], at])


def matrices_of(planes: NDArray[np.uint64], n_nodes: int, encoding: str) -> NDArray[Any]:
    """Write graphs as (N, d, d) matrices in an encoding."""
    found = ENCODINGS.find(encoding)
    if not _is_written(found):
        names = ", ".join(repr(known.name) for known in ENCODINGS.every() if _is_written(known))
        raise ValueError(f"the encoding {encoding!r} has no matrices; to_numpy writes {names}")
    if is_mixed(planes) and {number for pair in found.codes or () for number in pair} == {0, 1}:
        raise CellError(
            0,
            "an adjacency matrix of zeros and ones cannot hold the marks of a graph with latent confounders; name an "
            "encoding that does, as in to_numpy(encoding='pcalg amat.pag'), or write text, by to_text()",
        )
    marks = codes_from_planes(planes, n_nodes)
    return encode(found, marks) if found.write is None else found.write(marks)


def _is_written(encoding: Encoding) -> bool:
    """Return whether arrays are written in an encoding: those of objects are read only."""
    return encoding.codes is not None and (encoding.write is not None or encoding.by_name)


def find_text_writer(encoding: str) -> Callable[[Sequence[str], Ends], str]:
    """Return the function that writes graphs as text in an encoding."""
    found = ENCODINGS.find(encoding)
    if found.write_text is None:
        names = ", ".join(repr(known.name) for known in ENCODINGS.every() if known.write_text)
        raise ValueError(f"the encoding {encoding!r} is not written as text; to_text writes {names}")
    return found.write_text
