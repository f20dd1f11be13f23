"""What a column of graphs and a graph can be asked alike: facts, conversions, projections, classes, ancestors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_choice
from ..contract.encoding import ENCODINGS, CellError, Ends
from . import classes
from .classes import converted, icpdags, projected, read_latents, refuse
from .edge_marks import SHORT_SIGNS, encode, forward, single_edges
from .edge_strings import write_edges, write_names
from .kernels import kernels
from .kernels.planes import ADMG, CPDAG, KINDS, MAG, PAG, PDAG, SKELETON, TAIL
from .mixed import marks as mixed
from .mixed import paths
from .node_names import short
from .packing import Block, UnpackedColumn

if TYPE_CHECKING:
    import networkx as nx

#: makes one value or matrix per graph of a block
OfBlock = Callable[[Block], NDArray[Any]]

# what methods return: a Series with one of these per row, or the one of a graph
Graphs = TypeVar("Graphs")
Numbers = TypeVar("Numbers")
Shares = TypeVar("Shares")
Flags = TypeVar("Flags")
Texts = TypeVar("Texts")
Faults = TypeVar("Faults")
Edges = TypeVar("Edges")
Networks = TypeVar("Networks")
#: a DataFrame, or the row of a graph
Tables = TypeVar("Tables")


class GraphMethods(Generic[Graphs, Numbers, Shares, Flags, Texts, Faults, Edges, Networks, Tables]):
    """The methods of `series.graph` and of `Graph`, which is a column of one: its results are their only items."""

    __slots__ = ()

    @property
    @abstractmethod
    def _column(self) -> UnpackedColumn:
        """The graphs."""

    @property
    @abstractmethod
    def _index(self) -> pd.Index:
        """The labels of the graphs."""

    @abstractmethod
    def _where(self, row: int) -> str:
        """Name a graph in messages."""

    @abstractmethod
    def _graphs(self, column: UnpackedColumn) -> Graphs:
        """Return graphs."""

    @abstractmethod
    def _items(self, column: UnpackedColumn, parts: Sequence[NDArray[Any]], dtype: str) -> Any:
        """Return one value per graph, from those of each block."""

    def _rows(self, rows: Any) -> Any:
        """Return the rows of an array or a table, or that of a graph."""
        return rows

    def _checked(self) -> UnpackedColumn:
        """Return the graphs; refuse those that are not in the class that their cell declares."""
        column = self._column
        for block in column.blocks:
            wrong = classes.misdeclared(block.planes, block.n_nodes, block.kinds, column.checked)
            if wrong.any():
                at = int(wrong.argmax())
                names, where = column.node_sets[block.node_set[at]], self._where(int(block.rows[at]))
                from .faults import explain_kind

                reason = explain_kind(block.planes[at], names, int(block.kinds[at]))
                raise ValueError(f"{where}: the graph {reason}; {classes.MEND_CLASS}")
        return column

    def _per_block(self, values: OfBlock, dtype: str = "Int64", column: UnpackedColumn | None = None) -> Any:
        column = column or self._column
        return self._items(column, [values(block) for block in column.blocks], dtype)

    def _each(
        self, column: UnpackedColumn, make: Callable[[tuple[str, ...], Ends, bool], Any], dtype: str = "object"
    ) -> Any:
        """Return what a function makes of the nodes and edges of each graph, and of whether it has four planes."""
        parts = []
        for block in column.blocks:
            part, every = np.empty(len(block.rows), dtype=object), mixed.edges_of(block.planes, block.n_nodes)
            for i, (row, edges) in enumerate(zip(block.rows.tolist(), every, strict=True)):
                names = column.node_sets[block.node_set[i]]
                try:
                    part[i] = make(names, edges, mixed.is_mixed(block.planes))
                except ValueError as fault:
                    raise ValueError(f"{self._where(row)}: {fault}") from None
            parts.append(part)
        return self._items(column, parts, dtype)

    def _projected(self, latents: Any, target: int) -> Graphs:
        column = self._checked()
        rows = read_latents(latents, column.n_rows, self._index)
        return self._graphs(projected(column, rows, self._where, target))

    def _stacked(self, matrices: OfBlock, nodes: Sequence[str] | None, column: UnpackedColumn) -> NDArray[Any]:
        """Return one (d, d) matrix per row, made block by block, for graphs on the same nodes, in their order."""
        if not column.blocks:
            d = 0 if nodes is None else len(nodes)
            return self._rows(np.full((column.n_rows, d, d), np.nan))
        if len(column.node_sets) > 1:
            ids = column.row_node_set
            first, other = int((ids >= 0).argmax()), int(((ids >= 0) & (ids != ids[ids >= 0][0])).argmax())
            raise ValueError(
                f"{self._where(other)}: found the nodes {short(column.node_sets[ids[other]])}, "
                f"but row {first} has {short(column.node_sets[ids[first]])}; take the rows of one node set at a time"
            )
        rows, made = np.concatenate([block.rows for block in column.blocks]), []
        for block in column.blocks:
            try:
                made.append(matrices(block))
            except CellError as fault:
                raise ValueError(f"{self._where(int(block.rows[fault.position]))}: {fault}") from None
        marks, names = np.concatenate(made), list(column.node_sets[0])
        if nodes is not None:
            order = list(nodes)
            if sorted(order) != names:
                raise ValueError(f"nodes must hold the names {names} in any order, found {order}")
            position = {name: i for i, name in enumerate(names)}
            at = np.array([position[name] for name in order], dtype=np.int64)
            marks = np.ascontiguousarray(marks[:, at[:, None], at])
        if len(marks) == column.n_rows:
            return self._rows(marks if len(made) == 1 else marks[np.argsort(rows)])
        if marks.dtype.kind == "U":
            missing = int(np.setdiff1d(np.arange(column.n_rows), rows)[0])
            raise ValueError(
                f"{self._where(missing)}: the graph is missing, and arrays of strings have no missing values; take "
                "column.dropna()"
            )
        stack = np.full((column.n_rows, *marks.shape[1:]), np.nan)
        stack[rows] = marks
        return self._rows(stack)

    def show(self) -> Tables:
        """Return a table in which the graphs can be read.

        Returns
        -------
        DataFrame, or Series of a graph
            On the index of the column: `kind`, `n_nodes`, `n_edges` and `edges`, the graph as an edge string; missing
            for a missing graph.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> ce.graph_column(["A -> B; C", "A o-> B <-> C"]).graph.show()
            kind  n_nodes  n_edges            edges
        0    dag        3        1        A -> B; C
        1  mixed        3        2  A o-> B; B <-> C
        """
        columns = {name: getattr(self, name) for name in ("kind", "n_nodes", "n_edges")}
        return self._rows(pd.DataFrame(columns | {"edges": self.to_text()}, index=self._index))

    def to_numpy(self, nodes: Sequence[str] | None = None, encoding: str = "row->column") -> NDArray[Any]:
        """Return the adjacency matrix, of a column an (N, d, d) stack for graphs on the same nodes.

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
        (N, d, d) array, or (d, d) of a graph
            int8; float64 with NaN matrices if graphs are missing. Strings with "tigramite".

        Raises
        ------
        ValueError
            If the graphs have different nodes, or marks that the encoding cannot hold.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> ce.graph_column(["A o-> B"]).graph.to_numpy(encoding="pcalg amat.pag").tolist()
        [[[0, 2], [1, 0]]]
        """

        def matrices(block: Block) -> NDArray[Any]:
            # those of objects are read only
            written = [x for x in ENCODINGS.every() if x.codes is not None and (x.write is not None or x.by_name)]
            notation = ENCODINGS.find(encoding)
            if notation not in written:
                names = ", ".join(repr(known.name) for known in written)
                raise ValueError(f"the encoding {encoding!r} has no matrices; to_numpy writes {names}")
            if mixed.is_mixed(block.planes) and {number for pair in notation.codes or () for number in pair} == {0, 1}:
                raise CellError(
                    0,
                    "an adjacency matrix of zeros and ones cannot hold the marks of a graph with latent confounders; "
                    "name an encoding that does, as in to_numpy(encoding='pcalg amat.pag'), or write text, by "
                    "to_text()",
                )
            marks = mixed.codes_from_planes(block.planes, block.n_nodes)
            return encode(notation, marks) if notation.write is None else notation.write(marks)

        return self._stacked(matrices, nodes, self._column)

    def to_text(self, encoding: str = "edge string") -> Texts:
        r"""Return the graph as text of another tool, which `graph_column` and `as_graph` read by this encoding.

        Parameters
        ----------
        encoding : str, default "edge string"
            "dagitty", "DOT", "edge table" (CSV), "GraphML", "JSON", "model string" or "Tetrad text" (see
            `list_encodings`).

        Returns
        -------
        Series of str, or str
            Text; missing where a graph is.

        Raises
        ------
        ValueError
            If the encoding cannot hold the marks or names of a graph; names the row.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> ce.graph_column(["A -> B <- C"]).graph.to_text("model string")[0]
        '[A][B|A:C][C]'
        >>> ce.as_graph("A -> B; B <-> C; D").to_text("dagitty")
        'dag {\nA\nB\nC\nD\nA -> B\nB <-> C\n}'
        """
        write = ENCODINGS.find(encoding).write_text
        if write is None:
            names = ", ".join(repr(known.name) for known in ENCODINGS.every() if known.write_text)
            raise ValueError(f"the encoding {encoding!r} is not written as text; to_text writes {names}")
        return self._each(self._column, lambda names, ends, _: write(names, single_edges(ends)), "str")

    def to_networkx(self) -> Networks:
        """Return the graph as a networkx DiGraph, which `graph_column` and `as_graph` read.

        Returns
        -------
        Series of DiGraph, or DiGraph
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
        return self._each(self._checked(), _networkx)

    @property
    def edges(self) -> Edges:
        """The edges as strings, a tuple ordered by the names of their nodes."""
        return self._each(self._column, lambda names, ends, _: tuple(write_edges(write_names(names), ends)))

    @property
    def n_nodes(self) -> Numbers:
        """Number of nodes."""
        return self._per_block(lambda block: np.full(len(block.rows), block.n_nodes))

    @property
    def n_edges(self) -> Numbers:
        """Number of edges of any marks; two where a pair has a directed and a bidirected one."""
        return self._per_block(lambda block: mixed.count_edges(block.planes))

    @property
    def n_undirected(self) -> Numbers:
        """Number of undirected edges."""
        return self._per_block(lambda block: mixed.count_bits(mixed.where(mixed.lift(block.planes), TAIL, TAIL)))

    @property
    def n_bidirected(self) -> Numbers:
        """Number of bidirected edges."""
        return self._per_block(lambda block: mixed.count_bits(mixed.bidirected(mixed.lift(block.planes))))

    @property
    def density(self) -> Shares:
        """Share of the pairs of nodes that are adjacent, NaN for fewer than two nodes."""

        def share(block: Block) -> NDArray[Any]:
            edges, pairs = mixed.count_bits(mixed.adjacencies(block.planes)), block.n_nodes * (block.n_nodes - 1) // 2
            return edges / pairs if pairs else np.full(len(edges), np.nan)

        return self._per_block(share, "float64")

    @property
    def is_acyclic(self) -> Flags:
        """Whether no directed cycle exists; edges of other marks are not walked."""
        return self._per_block(lambda block: classes.is_acyclic(block.planes, block.n_nodes), "boolean")

    def v_structures(self) -> Numbers:
        """Return the number of v-structures, A -> B <- C with A and C not adjacent.

        Of mixed graphs it is the number of unshielded colliders, A *-> B <-* C.
        """

        def count(block: Block) -> NDArray[Any]:
            if mixed.is_mixed(block.planes):
                paths.check_size(block.n_nodes)
            every = np.arange(len(block.rows), dtype=np.int64)
            counts = kernels().collider_counts(block.planes, block.planes, every, every, block.n_nodes)
            return np.asarray(counts)[:, 0]

        return self._per_block(count)

    def skeleton(self) -> Graphs:
        """Return the graph with all edges undirected: a cpdag where that is one, else a pdag.

        Of mags, pags, admgs and mixed graphs it is a skeleton.
        """
        column = self._column
        return self._graphs(converted(column, lambda block: classes.to_skeletons(block.planes, block.n_nodes)))

    def cpdag(self) -> Graphs:
        """Return the CPDAGs: of a dag its Markov equivalence class, of others that of their consistent extensions."""

        def convert(block: Block) -> tuple[mixed.Planes, int]:
            without = np.full(len(block.rows), mixed.is_mixed(block.planes))
            refuse(block, without, self._where, ", which has no CPDAG; take its pag()")
            planes, none = classes.to_cpdags(block.planes, block.n_nodes, block.kinds)
            why = ", which has no CPDAG, because no DAG has its skeleton, arrows and v-structures; mend or drop it"
            refuse(block, none, self._where, why)
            return planes, CPDAG

        return self._graphs(converted(self._checked(), convert))

    def icpdag(self, targets: Any) -> Graphs:
        """Return the I-CPDAGs of dags: the directions that observations and interventions on `targets` determine.

        Parameters
        ----------
        targets : str, iterable of sets, or Series
            Sets of nodes, each intervened on in an experiment of its own: ``"A; B,C"`` or ``[["A"], ["B", "C"]]`` for
            all graphs, or a Series on the same index with one such family per row. Observational data are always there.

        Returns
        -------
        Series, or Graph
            A cpdag where the graph is one, else a dag where all edges are directed, else a pdag. Without
            targets it is the CPDAG.

        Raises
        ------
        ValueError
            If a graph is not a dag, or a target is not a node; names the row.

        References
        ----------
        Hauser & Buehlmann (2012), Characterization and greedy learning of interventional Markov equivalence classes of
        directed acyclic graphs, Journal of Machine Learning Research 13.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> chain = ce.graph_column(["A -> B; B -> C; C -> D"])
        >>> chain.graph.icpdag("C").graph.to_strings()[0]
        'A -- B; B -> C; C -> D'
        """
        return self._graphs(icpdags(self._checked(), self._index, self._where, targets))

    def mag(self, latents: Any = None) -> Graphs:
        """Return the maximal ancestral graphs over the observed nodes.

        Observed nodes are adjacent iff no set of observed nodes separates them, and A -> B iff A is an ancestor of B.

        Parameters
        ----------
        latents : list of str, or one list per row (list or Series), optional
            Latent nodes of dags, admgs and mags, by name; a missing list gives a missing graph. Default none.

        Returns
        -------
        Series, or Graph
            Mags. Of a pag it is a mag of its class with as few bidirected edges as any; which of these depends
            on the order of the node names.

        Raises
        ------
        ValueError
            If a latent is not a node, or a graph is of another class; names the row.

        References
        ----------
        Richardson & Spirtes (2002), Ancestral graph Markov models, Annals of Statistics 30, doi:10.1214/aos/1031689015.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> dags = ce.graph_column(["A -> B; L -> B; L -> C; C -> D", "A -> L -> B"])
        >>> dags.graph.mag(latents=["L"]).graph.to_strings().tolist()
        ['A -> B; B <-> C; C -> D', 'A -> B']
        """
        return self._projected(latents, MAG)

    def pag(self, latents: Any = None) -> Graphs:
        """Return the partial ancestral graphs: the marks that the Markov equivalence class over observed nodes shares.

        Two graphs are Markov equivalent over their observed nodes iff their PAGs are equal. There is no selection bias.

        Parameters
        ----------
        latents : list of str, or one list per row (list or Series), optional
            As in `mag`.

        Returns
        -------
        Series, or Graph
            Pags. Of a cpdag it is the pag of the dags of its class.

        Raises
        ------
        ValueError
            If a latent is not a node, or a graph is of another class; names the row.

        References
        ----------
        Zhang (2008), On the completeness of orientation rules for causal discovery in the presence of latent
        confounders and selection bias, Artificial Intelligence 172, doi:10.1016/j.artint.2008.08.001.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> dags = ce.graph_column(["A -> B; L -> B; L -> C; D -> C"] * 2)
        >>> dags.graph.pag(latents=[["L"], []]).graph.to_strings().tolist()
        ['A o-> B; B <-> C; D o-> C', 'A o-> B; D o-> C; L o-> B; L o-> C']
        """
        return self._projected(latents, PAG)

    def admg(self, latents: Any = None) -> Graphs:
        """Return the acyclic directed mixed graphs over the observed nodes.

        A -> B iff a directed path leads from A to B by latent nodes only. A <-> B iff such a path without colliders has
        arrowheads at both ends. A pair may have both edges.

        Parameters
        ----------
        latents : list of str, or one list per row (list or Series), optional
            As in `mag`.

        Returns
        -------
        Series, or Graph

        Raises
        ------
        ValueError
            As in `mag`.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> ce.graph_column(["A -> B; L -> A; L -> B"]).graph.admg(latents=["L"]).graph.to_strings().tolist()
        ['A -> B; A <-> B']
        """
        return self._projected(latents, ADMG)

    def maximal(self) -> Graphs:
        """Return the mags that complete ancestral graphs: A <-> B is added where an inducing path joins A and B.

        The graphs have the same m-separations.

        Returns
        -------
        Series, or Graph

        Raises
        ------
        ValueError
            If a graph is not ancestral; names the row and the reason.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> column = ce.graph_column(["A <-> B <-> C <-> D; B -> D; C -> A"])
        >>> column.graph.kind.tolist(), column.graph.maximal().graph.to_strings().tolist()
        (['admg'], ['A <-> B; A <-> D; B <-> C; B -> D; C -> A; C <-> D'])
        """
        from .faults import fault_of

        column = self._column

        def convert(block: Block) -> tuple[mixed.Planes, int]:
            planes = mixed.lift(block.planes)
            simple = ~paths.not_simple(planes)
            done, faults = paths.convert(planes[simple], block.n_nodes, "COMPLETE")
            wrong = ~simple
            wrong[simple] = faults
            if wrong.any():
                at = int(wrong.argmax())
                fault, _ = fault_of(planes[at], column.node_sets[block.node_set[at]], MAG) or ("", "")
                where = self._where(int(block.rows[at]))
                raise ValueError(f"{where}: the graph is not ancestral: it {fault}; mend the graph")
            return done, MAG

        return self._graphs(converted(column, convert))

    def faults(self, kind: str) -> Faults:
        """Return why each graph is not in a class, in words; missing where it is.

        Parameters
        ----------
        kind : {"dag", "cpdag", "pdag", "digraph", "mag", "pag", "admg", "skeleton", "mixed"}
            The class.

        Returns
        -------
        Series, or str or None
            The first reason, in the order of the definition of the class.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> column = ce.graph_column(["A o-> B <-o C", "A o-> B <-o C; B o-o D"])
        >>> column.graph.kind.tolist()
        ['pag', 'mixed']
        >>> column.graph.faults("pag").tolist()
        [nan, 'has B o-o D where the PAG of its equivalence class has B -> D']
        """
        check_choice(kind, KINDS, "kind")
        from .faults import fault_of

        column, code = self._column, KINDS.index(kind)

        def explain(block: Block) -> NDArray[Any]:
            part = np.full(len(block.rows), None, object)
            wrong = classes.not_in_class(block.planes, block.n_nodes, np.full(len(part), code, np.uint8))
            for i in np.flatnonzero(wrong).tolist():
                part[i], _ = fault_of(block.planes[i], column.node_sets[block.node_set[i]], code) or (None, "")
            return part

        return self._per_block(explain, "str", column)

    def ancestors(
        self, nodes: Sequence[str] | None = None, definite: Literal["exact", "path"] = "exact"
    ) -> NDArray[Any]:
        """Return which nodes are ancestors of which, as far as the marks determine it, for graphs on the same nodes.

        A possible ancestor of a node has a possibly directed path to it: no arrowhead points back, no tail points
        forward. In dags, digraphs, mags and admgs ancestors are definite. Of a mixed graph the paths are followed as in
        a pag, although no class of graphs shares its marks.

        Parameters
        ----------
        nodes : sequence of str, optional
            Order of rows and columns; default code-point order.
        definite : {"exact", "path"}, default "exact"
            What makes a definite ancestor in a pag: "exact" what all graphs of the class share, that is a directed path
            or two uncovered possibly directed paths whose first nodes are not adjacent; "path" a directed path only.

        Returns
        -------
        (N, d, d) array, or (d, d) of a graph
            In cell (u, v) 0 if u is not an ancestor of v, 1 if it is a possible one, 2 if a definite one. int8; float64
            with NaN matrices if graphs are missing.

        Raises
        ------
        ValueError
            If the graphs have different nodes, or one is a cpdag, pdag or skeleton, whose PAG may be taken first.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> ce.graph_column(["A o-> B; B -> C; D o-> B"]).graph.ancestors()[0].tolist()
        [[0, 1, 1, 0], [0, 0, 2, 0], [0, 0, 0, 0], [0, 1, 1, 0]]
        """
        check_choice(definite, ("exact", "path"), "definite")

        def matrices(block: Block) -> NDArray[Any]:
            why = (
                ", whose undirected edges are neither tails nor circles; take its pag(), or pass a dag, digraph, mag, "
                "pag, admg or mixed graph"
            )
            refuse(block, np.isin(block.kinds, (CPDAG, PDAG, SKELETON)), self._where, why)
            return paths.ancestors(block.planes, block.n_nodes, definite).astype(np.int8)

        return self._stacked(matrices, nodes, self._checked())

    def visible_edges(self) -> Numbers:
        """Return the number of visible edges of mags and pags: A -> B that no latent node confounds in any graph.

        References
        ----------
        Zhang (2008), Causal reasoning with ancestral graphs, Journal of Machine Learning Research 9.
        """

        def count(block: Block) -> NDArray[Any]:
            without = ~np.isin(block.kinds, (MAG, PAG))
            refuse(block, without, self._where, "; edges are visible in a mag or a pag, which mag() and pag() return")
            return paths.visible_edges(block.planes, block.n_nodes).sum(axis=(1, 2))

        return self._per_block(count, column=self._checked())


def _networkx(names: Sequence[str], ends: Ends, is_mixed: bool) -> nx.DiGraph[str]:
    """Return a graph as a networkx DiGraph, with signs of edges from kind "mag" on."""
    import networkx as nx

    if is_mixed:
        edges = [(names[i], names[j], {"type": SHORT_SIGNS[a, b]}) for i, j, a, b in map(forward, single_edges(ends))]
    else:
        edges = [(names[i], names[j], {}) for i, j, at_i, _ in ends if at_i == TAIL]
        edges += [(names[j], names[i], {}) for i, j, _, at_j in ends if at_j == TAIL]
    is_simple = len({edge[:2] for edge in edges}) == len(edges)
    graph: nx.DiGraph[str] = nx.DiGraph() if is_simple else nx.MultiDiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from(edges)
    return graph
