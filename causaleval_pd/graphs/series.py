"""The accessor ``series.graph`` on packed columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import name_row
from . import classes
from .edge_marks import single_edges
from .graph import Graph, find_text_writer, matrices_of
from .interventional import icpdag_column
from .kernels import kernels
from .kernels.ones import count_ones
from .kernels.planes import CPDAG, KINDS, a_kind
from .mixed import marks as mixed
from .mixed import relations
from .mixed_series import MixedGraphMethods
from .packing import Block, is_packed, pack_column, unpack_column
from .results import check_classes, counts, stacked


class SeriesGraphAccessor(MixedGraphMethods):
    """Properties and conversions of a column of packed graphs: ``series.graph``.

    Every result is on the index of the column, and a missing graph gives a missing result.

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

    def __init__(self, series: pd.Series) -> None:
        if not is_packed(series):
            raise AttributeError(
                f"series.graph needs a column of packed graphs, found dtype {series.dtype}; make one with graph_column"
            )
        self._obj = series

    def __repr__(self) -> str:
        known = ", ".join(name for name in dir(self) if not name.startswith("_"))
        return f"<properties and conversions of {len(self._obj)} graphs: {known}>"

    def _repr_html_(self) -> str:
        """Show the first graphs as a table in a notebook."""
        n, shown = len(self._obj), 10
        head = _shown(self._obj.iloc[:shown]).to_html(max_rows=shown, notebook=True)
        return f"{head}<p>{n} graphs</p>" if n <= shown else f"{head}<p>{n} graphs, the first {shown} shown</p>"

    def show(self) -> pd.DataFrame:
        """Return a table in which the graphs can be read.

        Returns
        -------
        DataFrame
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
        return _shown(self._obj)

    def to_strings(self) -> pd.Series:
        """Return the graphs as edge strings, isolated nodes as bare names: ``"A -> B; B -- C; D"``."""
        return _to_text(self._obj, "edge string")

    def to_graphs(self) -> pd.Series:
        """Return the graphs as `Graph` values (an object column, for use in Python)."""
        return _each(self._obj, lambda graph: graph)

    def to_networkx(self) -> pd.Series:
        """Return the graphs as networkx DiGraphs (an object column), as `Graph.to_networkx` does."""
        return _each(self._obj, Graph.to_networkx)

    def to_numpy(self, nodes: Sequence[str] | None = None, encoding: str = "row->column") -> NDArray[Any]:
        """Return an (N, d, d) stack of adjacency matrices, for graphs on the same nodes.

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
        (N, d, d) array
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
        column = unpack_column(self._obj)
        return stacked(self._obj, column, lambda block: matrices_of(block.planes, block.n_nodes, encoding), nodes)

    def to_text(self, encoding: str = "edge string") -> pd.Series:
        """Return the graphs as text of another tool, which `graph_column(text, encoding=encoding)` reads.

        Parameters
        ----------
        encoding : str, default "edge string"
            "dagitty", "DOT", "GraphML", "JSON", "model string" or "Tetrad text" (see `list_encodings`).

        Returns
        -------
        Series of str
            Texts; missing where a graph is.

        Raises
        ------
        ValueError
            If the encoding cannot hold the marks or names of a graph; names the row.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> ce.graph_column(["A -> B <- C"]).graph.to_text("model string")[0]
        '[A][B|A:C][C]'
        """
        return _to_text(self._obj, encoding)

    @property
    def nodes(self) -> pd.Series:
        """Node names of each graph, a tuple in code-point order."""
        column = unpack_column(self._obj)
        found = np.full(column.n_rows, None, dtype=object)
        for row, node_set in enumerate(column.row_node_set.tolist()):
            if node_set >= 0:
                found[row] = column.node_sets[node_set]
        return pd.Series(found, index=self._obj.index, name=self._obj.name, dtype=object)

    @property
    def n_nodes(self) -> pd.Series:
        """Number of nodes."""
        return counts(self._obj, lambda block: np.full(len(block.rows), block.n_nodes))

    @property
    def n_edges(self) -> pd.Series:
        """Number of edges of any marks; two where a pair has a directed and a bidirected one."""
        return counts(self._obj, lambda block: mixed.count_edges(block.planes))

    @property
    def n_undirected(self) -> pd.Series:
        """Number of undirected edges."""
        return counts(self._obj, _n_undirected)

    @property
    def n_bidirected(self) -> pd.Series:
        """Number of bidirected edges."""
        return counts(self._obj, _n_bidirected)

    @property
    def density(self) -> pd.Series:
        """Share of the pairs of nodes that are adjacent, NaN for fewer than two nodes."""
        column = unpack_column(self._obj)
        values = []
        for block in column.blocks:
            edges, pairs = _n_bits(mixed.adjacencies(block.planes)), block.n_nodes * (block.n_nodes - 1) // 2
            values.append(edges / pairs if pairs else np.full(len(edges), np.nan))
        return pd.Series(column.scatter(values, np.nan, np.float64), index=self._obj.index, name=self._obj.name)

    @property
    def kind(self) -> pd.Series:
        """Graph class, a categorical over dag, cpdag, pdag, digraph, mag, pag, admg, skeleton, mixed."""
        return _kinds(self._obj)

    @property
    def is_acyclic(self) -> pd.Series:
        """Whether no directed cycle exists; edges of other marks are not walked."""
        column = unpack_column(self._obj)
        values = [classes.is_acyclic(block.planes, block.n_nodes) for block in column.blocks]
        data = pd.arrays.BooleanArray(column.scatter(values, False, np.bool_), column.missing)
        return pd.Series(data, index=self._obj.index, name=self._obj.name)

    def v_structures(self) -> pd.Series:
        """Return the number of v-structures, A -> B <- C with A and C not adjacent.

        Of mixed graphs it is the number of unshielded colliders, A *-> B <-* C.
        """
        return counts(self._obj, _n_v_structures)

    def skeleton(self) -> pd.Series:
        """Return the graphs with all edges undirected: a cpdag where that is one, else a pdag.

        Of mags, pags, admgs and mixed graphs it is a skeleton.
        """
        column = unpack_column(self._obj)
        blocks = []
        for block in column.blocks:
            planes, kinds = classes.to_skeletons(block.planes, block.n_nodes)
            blocks.append(replace(block, planes=planes, kinds=kinds))
        return pack_column(replace(column, blocks=tuple(blocks)), index=self._obj.index, name=self._obj.name)

    def cpdag(self) -> pd.Series:
        """Return the CPDAGs: of a dag its Markov equivalence class, of others that of their consistent extensions."""
        column = unpack_column(self._obj)
        check_classes(column, self._obj)
        blocks = []
        for block in column.blocks:
            if mixed.is_mixed(block.planes):
                where = name_row(int(block.rows[0]), self._obj.index, self._obj.name)
                raise ValueError(
                    f"{where}: the graph is {a_kind(block.kinds[0])}, which has no CPDAG; take .graph.pag()"
                )
            planes, none = classes.to_cpdags(block.planes, block.n_nodes, block.kinds)
            if none.any():
                row = int(block.rows[none.argmax()])
                raise ValueError(
                    f"{name_row(row, self._obj.index, self._obj.name)}: the graph has no CPDAG, because no DAG has its "
                    "skeleton, directed edges and v-structures; leave the row out"
                )
            blocks.append(replace(block, planes=planes, kinds=np.full(len(planes), CPDAG, np.uint8)))
        return pack_column(replace(column, blocks=tuple(blocks)), index=self._obj.index, name=self._obj.name)

    def icpdag(self, targets: Any) -> pd.Series:
        """Return the I-CPDAGs of dags: the directions that observations and interventions on `targets` determine.

        Parameters
        ----------
        targets : str, iterable of sets, or Series
            Sets of nodes, each intervened on in an experiment of its own: ``"A; B,C"`` or ``[["A"], ["B", "C"]]`` for
            all graphs, or a Series on the same index with one such family a row. Observational data are always there.

        Returns
        -------
        Series
            Packed graphs: a cpdag where the graph is one, else a dag where all edges are directed, else a pdag. Without
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
        return icpdag_column(self._obj, targets)


def _shown(series: pd.Series) -> pd.DataFrame:
    columns = {
        "kind": _kinds(series),
        "n_nodes": SeriesGraphAccessor(series).n_nodes,
        "n_edges": SeriesGraphAccessor(series).n_edges,
        "edges": _to_text(series, "edge string"),
    }
    return pd.DataFrame(columns, index=series.index)


def _n_bits(words: NDArray[np.uint64]) -> NDArray[Any]:
    return np.asarray(count_ones(words).sum(axis=1, dtype=np.int64))


def _n_undirected(block: Block) -> NDArray[Any]:
    if mixed.is_mixed(block.planes):
        return _n_bits(mixed.where(block.planes, mixed.TAIL, mixed.TAIL))
    return _n_bits(block.planes[:, 0] & block.planes[:, 1])


def _n_bidirected(block: Block) -> NDArray[Any]:
    if mixed.is_mixed(block.planes):
        return _n_bits(mixed.bidirected(block.planes))
    return np.zeros(len(block.rows), np.int64)


def _n_v_structures(block: Block) -> NDArray[Any]:
    if mixed.is_mixed(block.planes):
        return relations.unshielded_colliders(block.planes, block.n_nodes)
    index = np.arange(len(block.rows), dtype=np.int64)
    return np.asarray(kernels().v_structure_counts(block.planes, block.planes, index, index, block.n_nodes))[:, 0]


def _kinds(series: pd.Series) -> pd.Series:
    column = unpack_column(series)
    codes = column.scatter([block.kinds for block in column.blocks], -1, np.int8)
    return pd.Series(pd.Categorical.from_codes(codes, pd.Index(KINDS)), index=series.index, name=series.name)


def _each(series: pd.Series, make: Callable[[Graph], Any]) -> pd.Series:
    column = unpack_column(series)
    check_classes(column, series)
    found = np.full(column.n_rows, None, dtype=object)
    for block in column.blocks:
        for i, row in enumerate(block.rows.tolist()):
            nodes = column.node_sets[block.node_set[i]]
            found[row] = make(Graph._of_checked(nodes, KINDS[block.kinds[i]], block.planes[i]))
    return pd.Series(found, index=series.index, name=series.name, dtype=object)


def _to_text(series: pd.Series, encoding: str) -> pd.Series:
    column = unpack_column(series)
    write = find_text_writer(encoding)
    found = np.full(column.n_rows, None, dtype=object)
    for block in column.blocks:
        at, *parts = mixed.ends_from_planes(mixed.lift(block.planes), block.n_nodes)
        edges = list(zip(*(part.tolist() for part in parts), strict=True))
        bounds = np.searchsorted(at, np.arange(len(block.rows) + 1)).tolist()
        for i, row in enumerate(block.rows.tolist()):
            try:
                ends = single_edges(edges[bounds[i] : bounds[i + 1]])
                found[row] = write(column.node_sets[block.node_set[i]], ends)
            except ValueError as fault:
                raise ValueError(f"{name_row(row, series.index, series.name)}: {fault}") from None
    return pd.Series(found, index=series.index, name=series.name, dtype="str")
