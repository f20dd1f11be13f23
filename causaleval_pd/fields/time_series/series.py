"""The accessor ``series.lagged`` on packed columns: properties, views as graphs, the equivalence class, conversions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.cells import ColumnAccessor, packed_column, unpack_distinct
from ...contract.checks import check_choice, check_flag, check_whole, name_row
from ...graphs.kernels.planes import ARROW, CIRCLE, DAG, DIGRAPH, MIXED, PDAG, TAIL, planes_from_matrices
from ...graphs.mixed.marks import planes_from_marks
from ...graphs.packing import Block as GraphBlock
from ...graphs.packing import UnpackedColumn, is_packed, join_by_key, pack_column
from .cells import (
    BACKWARD,
    DIRECTED,
    KINDS,
    MAX_CELLS,
    TS_DAG,
    TS_PDAG,
    TURNED,
    UNDIRECTED,
    Codes,
    LaggedGraph,
    has_undirected,
    lag_0_planes,
    pack_cell,
)
from .column import Block, LaggedCells, unpack_lagged
from .formats import write_tigramite

__all__ = ["SeriesLaggedAccessor"]


Planes = NDArray[np.uint64]
#: names of nodes, planes and classes of the graphs of a block
View = tuple[tuple[str, ...], Planes, NDArray[np.uint8]]

#: classes of graphs by those of lagged graphs, where all links are kept
_KINDS = np.array([DAG, PDAG, MIXED], np.uint8)


class SeriesLaggedAccessor(ColumnAccessor):
    """Properties, views and conversions of a column of packed lagged graphs: ``series.lagged``.

    Every result is on the index of the column, and a missing graph gives a missing result.

    Parameters
    ----------
    series : Series
        Packed lagged graphs, made by `lagged_column`.

    Raises
    ------
    AttributeError
        If the column does not hold packed cells.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> column = ce.lagged_column(["X@-1 -> Y; Y@-2 -> X; X -> Z", None])
    >>> column.lagged.max_lag.tolist()
    [2, <NA>]
    >>> column.lagged.contemporaneous().graph.to_strings().tolist()
    ['X -> Z; Y', nan]
    """

    _name, _nouns, _maker = "lagged", "lagged graphs", "lagged_column"

    @staticmethod
    def _holds(series: pd.Series) -> bool:
        return is_packed(series)

    def show(self) -> pd.DataFrame:
        """Return a table in which the graphs can be read.

        Returns
        -------
        DataFrame
            On the index of the column: `kind`, `n_nodes`, `min_lag`, `max_lag`, `n_links` and `links`, the graph as
            text.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> ce.lagged_column(["X@-1 -> Y"]).lagged.show().loc[0, "links"]
        'lags 0..1: X@-1 -> Y'
        """
        parts = {name: getattr(self, name) for name in ("kind", "n_nodes", "min_lag", "max_lag", "n_links")}
        return pd.DataFrame(parts | {"links": self.to_strings()})

    def summary(self, *, two_cycles: str = "raise") -> pd.Series:
        """Return the summary graphs: i -> j if a link leads from i to j at any lag, 0 included.

        Links from a variable to itself are left out. Undirected links at lag 0 yield to lagged ones between the same
        variables. Graphs may have cycles: their class is digraph, so that metrics of acyclic graphs refuse them; pdag
        where an undirected link is left, and mixed of graphs with circles or bidirected links.

        Parameters
        ----------
        two_cycles : {"raise", "undirected"}
            What i -> j and j -> i at two lags are: an error, since an edge of a graph has one direction, or an
            undirected edge. Marks of graphs with circles that differ between lags become circles. The metrics
            `summary_...` of lagged graphs compare both directions as they are.

        Returns
        -------
        Series
            Packed graphs.

        Raises
        ------
        ValueError
            If the links between two variables have other directions at one lag than at another; names the row.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> column = ce.lagged_column(["X@-1 -> Y; X@-2 -> Y; Y -> Z; Z@-1 -> Z"])
        >>> column.lagged.summary().graph.to_strings()[0]
        'X -> Y; Y -> Z'
        """
        check_choice(two_cycles, ("raise", "undirected"), "two_cycles")

        def view(block: Block, where: Callable[[int], str]) -> View:
            marks = _summary(block.codes)
            both = _conflicts(marks)
            if both.any() and two_cycles == "raise":
                at, i, j = np.argwhere(both)[0].tolist()
                a, b = block.head.nodes[i], block.head.nodes[j]
                raise ValueError(
                    f"{where(at)}: the links between {a!r} and {b!r} have other marks at one lag than at another, as "
                    "'->' and '<-', which an edge of a graph cannot hold; metrics 'summary_...' compare such links as "
                    "they are, and two_cycles='undirected' makes them undirected"
                )
            joined = _joined(marks)
            if block.head.n_planes > 1:
                return block.head.nodes, planes_from_marks(joined), np.full(len(joined), MIXED, np.uint8)
            lines = (joined == TAIL) & (joined.transpose(0, 2, 1) == TAIL)
            tails = joined.transpose(0, 2, 1) == TAIL
            kinds = np.where(lines.any(axis=(1, 2)), PDAG, DIGRAPH).astype(np.uint8)
            return block.head.nodes, planes_from_matrices(tails, np.arange(len(block.head.nodes))), kinds

        return self._graphs(view)

    def contemporaneous(self) -> pd.Series:
        """Return the links at lag 0 as graphs.

        Their class is dag, digraph (cyclic), pdag or mixed. It is never cpdag: lagged links direct some links at lag
        0, so that they do not stand for a Markov equivalence class. `lagged_cpdag` returns the class of a directed
        graph.

        Returns
        -------
        Series
            Packed graphs.

        Raises
        ------
        ValueError
            If lag 0 was not searched; names the row.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> ce.lagged_column(["X@-1 -> Y; Y -- Z"]).lagged.contemporaneous().graph.kind[0]
        'pdag'
        """

        def view(block: Block, where: Callable[[int], str]) -> View:
            if block.head.min_lag:
                raise ValueError(
                    f"{where(0)}: lag 0 was not searched (min_lag is 1), which is not a graph without links at lag 0"
                )
            return block.head.nodes, lag_0_planes(block.codes, block.head.n_planes > 1), _classes(block)

        return self._graphs(view)

    def window(self, max_lag: int | None = None, *, last: bool = False) -> pd.Series:
        """Return the graphs over the variables at t, t - 1, ..., t - max_lag, whose nodes are ``X@0``, ``X@-1``, ...

        A link at lag k stands max_lag + 1 - k times in the window, so that a structural Hamming distance of windows
        weighs links at small lags more; `window_shd` counts each link once, as `last` does.

        Parameters
        ----------
        max_lag : int, optional
            Largest step back; default the largest searched lag of each graph.
        last : bool
            Keep only links that end at t.

        Returns
        -------
        Series
            Packed graphs.

        Raises
        ------
        ValueError
            If a graph has links beyond `max_lag`, or windows are too large; names the row.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> column = ce.lagged_column(["X@-1 -> X"])
        >>> column.lagged.window(2).graph.to_strings()[0]
        'X@-1 -> X@0; X@-2 -> X@-1'
        """
        asked = None if max_lag is None else check_whole(max_lag, "max_lag")
        check_flag(last, "last")

        def view(block: Block, where: Callable[[int], str]) -> View:
            steps = block.head.max_lag if asked is None else asked
            beyond = block.codes[:, steps + 1 :].any(axis=(1, 2, 3))
            if beyond.any():
                raise ValueError(f"{where(int(beyond.argmax()))}: has links at lags beyond max_lag={steps}")
            nodes = block.head.nodes
            d, size = len(nodes), (steps + 1) * len(nodes)
            if size**2 * len(block.codes) > MAX_CELLS:
                raise ValueError(
                    f"{where(0)}: windows of {size} nodes of {len(block.codes)} graphs have more than {MAX_CELLS:,} "
                    "cells; take fewer lags or rows at a time"
                )
            # node lag * d + i is variable i at t - lag
            wide = np.zeros((len(block.codes), size, size), np.uint8)
            for head in range(1 if last else steps + 1):
                for lag in range(min(steps - head, block.head.max_lag) + 1):
                    sources, targets = (slice(k * d, (k + 1) * d) for k in (head + lag, head))
                    wide[:, sources, targets] = block.codes[:, lag]
                    wide[:, targets, sources] = TURNED[block.codes[:, lag].transpose(0, 2, 1)]
            names = [f"{name}@{-lag}" for lag in range(steps + 1) for name in nodes]
            order = np.array(sorted(range(size), key=names.__getitem__), np.int64)
            planes = lag_0_planes(wide[:, None, order][:, :, :, order], block.head.n_planes > 1)
            return tuple(names[i] for i in order), planes, _classes(block)

        return self._graphs(view)

    def lagged_cpdag(self) -> pd.Series:
        """Return the lagged graphs that stand for all directed ones with the same independences.

        Lagged links are directed by time. A link at lag 0 is directed where colliders or Meek's rules over the lagged
        links direct it: X -> Y is if X has a lagged cause that Y lacks. This is what PCMCI+ can find at best, and not
        the CPDAG of the links at lag 0 alone.

        Returns
        -------
        Series
            Packed lagged graphs of class ts_dag or ts_pdag.

        Raises
        ------
        ValueError
            If a graph is not a ts_dag; names the row.

        References
        ----------
        .. [1] Runge, J. (2020). Discovering contemporaneous and lagged causal relations in autocorrelated nonlinear
           time series datasets. UAI 2020.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> column = ce.lagged_column(["X -> Y", "X@-1 -> X; X -> Y"])
        >>> column.lagged.lagged_cpdag().lagged.to_strings().tolist()
        ['lags 0..0: X -- Y', 'lags 0..1: X -> Y; X@-1 -> X']
        """
        cells = unpack_lagged(self._obj)
        block_cells = []
        for number, block in enumerate(cells.blocks):
            wrong = block.kinds != TS_DAG
            if wrong.any():
                at = int(wrong.argmax())
                word = KINDS[block.kinds[at]]
                raise ValueError(f"{self._where(cells, number, at)}: is a {word}, which has no equivalence class here")
            codes = block.codes.copy()
            codes[:, 0] = _class_at_lag_0(block.codes)
            kinds = np.where(has_undirected(codes), TS_PDAG, TS_DAG).tolist()
            packed_as = zip(codes, kinds, strict=True)
            block_cells.append([pack_cell(block.head.nodes, one, block.head.min_lag, kind) for one, kind in packed_as])
        places = zip(cells.block.tolist(), cells.place.tolist(), strict=True)
        packed = [None if block < 0 else block_cells[block][place] for block, place in places]
        return packed_column(packed, self._obj.index, self._obj.name)

    def to_strings(self) -> pd.Series:
        """Return the graphs as text, which `lagged_column` reads: ``"lags 0..2: X@-1 -> Y; Y -> Z"``."""
        return self._each(LaggedGraph.to_string, "str")

    def to_graphs(self) -> pd.Series:
        """Return the graphs as `LaggedGraph` values (an object column, for use in Python)."""
        return self._each(lambda graph: graph, object)

    def to_frame(self) -> pd.DataFrame:
        """Return the links of all graphs, one per row.

        Returns
        -------
        DataFrame
            Indexed by the labels of the column: source, target, lag, link.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> ce.lagged_column(["X@-1 -> Y", "Y@-2 -> Y"]).lagged.to_frame()["lag"].tolist()
        [1, 2]
        """
        graphs = self.to_graphs().dropna()
        parts = [graph.to_frame().set_axis([label] * graph.n_links) for label, graph in graphs.items()]
        if not parts:
            return LaggedGraph((), np.zeros((1, 0, 0), np.uint8), 0, "ts_dag").to_frame()
        return pd.concat(parts)

    def to_numpy(self, nodes: Sequence[str] | None = None) -> NDArray[Any]:
        """Return the graphs as arrays of strings of tigramite, (N, d, d, max_lag + 1).

        Parameters
        ----------
        nodes : sequence of str, optional
            Order of the variables; default code-point order.

        Returns
        -------
        (N, d, d, max_lag + 1) array of str
            `graph[n, i, j, lag]` is the link from i at t - lag to j at t. Lags beyond those of a graph are empty.
            Undirected links are "o-o", as PCMCI has them, in graphs without other circles.

        Raises
        ------
        ValueError
            If graphs are missing, or have different variables.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> ce.lagged_column(["X@-1 -> Y"]).lagged.to_numpy()[0, 0, 1].tolist()
        ['', '-->']
        """
        if self._obj.isna().any():
            raise ValueError(f"{int(self._obj.isna().sum())} graphs are missing; leave them out by dropna()")
        graphs = self.to_graphs().tolist()
        names = list(graphs[0].nodes if graphs else ()) if nodes is None else list(nodes)
        for graph in graphs:
            if sorted(names) != list(graph.nodes):
                raise ValueError(f"found graphs with the variables {names[:10]} and {list(graph.nodes)[:10]}")
        n_lags = max((graph.max_lag for graph in graphs), default=0) + 1
        stack = np.zeros((len(graphs), len(names), len(names), n_lags), "<U3")
        for row, graph in enumerate(graphs):
            order = [graph.nodes.index(name) for name in names]
            codes = graph.codes[:, order][:, :, order]
            stack[row, :, :, : graph.max_lag + 1] = write_tigramite(codes, lines=graph.kind == "ts_pag")
        return stack

    @property
    def nodes(self) -> pd.Series:
        """Names of the variables of each graph, a tuple in code-point order."""
        return self._each(lambda graph: graph.nodes, object)

    @property
    def n_nodes(self) -> pd.Series:
        """Number of variables."""
        return self._counts(lambda block: np.full(len(block.codes), len(block.head.nodes)))

    @property
    def n_links(self) -> pd.Series:
        """Number of links; one at lag 0 counts once."""
        return self._counts(
            lambda block: (block.codes[:, 1:] > 0).sum(axis=(1, 2, 3)) + (block.codes[:, 0] > 0).sum(axis=(1, 2)) // 2
        )

    @property
    def min_lag(self) -> pd.Series:
        """Smallest lag that was searched."""
        return self._counts(lambda block: np.full(len(block.codes), block.head.min_lag))

    @property
    def max_lag(self) -> pd.Series:
        """Largest lag that was searched."""
        return self._counts(lambda block: np.full(len(block.codes), block.head.max_lag))

    @property
    def kind(self) -> pd.Series:
        """Class: ts_dag, ts_pdag or ts_pag."""
        return self._counts(lambda block: block.kinds).map(dict(enumerate(KINDS)), na_action="ignore").astype("str")

    def _where(self, cells: LaggedCells, block: int, at: int) -> str:
        """Name the first row with a graph of a block."""
        row = int(np.argmax((cells.block == block) & (cells.place == at)))
        return name_row(row, self._obj.index, self._obj.name)

    def _counts(self, count: Callable[[Block], NDArray[Any]]) -> pd.Series:
        """Return one number per row."""
        cells = unpack_lagged(self._obj)
        values = np.zeros(len(self._obj), np.int64)
        for number, block in enumerate(cells.blocks):
            rows = cells.block == number
            values[rows] = count(block)[cells.place[rows]]
        counts = pd.arrays.IntegerArray(values, cells.block < 0)
        return pd.Series(counts, index=self._obj.index, name=self._obj.name)

    def _each(self, make: Callable[[LaggedGraph], Any], dtype: Any) -> pd.Series:
        """Return one value per row, made once of each distinct graph."""
        codes, graphs, _ = unpack_distinct(self._obj, LaggedGraph.from_bytes)
        made = np.empty(len(graphs) + 1, object)
        for i, graph in enumerate(graphs):
            made[i] = make(graph)
        return pd.Series(made[codes], index=self._obj.index, dtype=dtype, name=self._obj.name)

    def _graphs(self, view: Callable[[Block, Callable[[int], str]], View]) -> pd.Series:
        """Return a packed column of the views of the graphs; each distinct graph is viewed once."""
        cells = unpack_lagged(self._obj)
        blocks: list[GraphBlock] = []
        numbers: dict[tuple[str, ...], int] = {}
        for number, block in enumerate(cells.blocks):
            names, planes, kinds = view(block, partial(self._where, cells, number))
            rows = np.flatnonzero(cells.block == number).astype(np.int64)
            at = cells.place[rows]
            node_set = np.full(len(rows), numbers.setdefault(names, len(numbers)), np.int64)
            blocks.append(GraphBlock(len(names), rows, planes[at], kinds[at], node_set))
        unpacked = UnpackedColumn(len(self._obj), join_by_key(blocks), tuple(numbers))
        return pack_column(unpacked, index=self._obj.index, name=self._obj.name)


def _classes(block: Block) -> NDArray[np.uint8]:
    """Return the classes of graphs with all links: a directed one that is not a ts_dag has a cycle at lag 0."""
    cyclic = (block.kinds == TS_PDAG) & ~has_undirected(block.codes)
    return np.where(cyclic, DIGRAPH, _KINDS[block.kinds]).astype(np.uint8)


def _summary(codes: Codes) -> NDArray[np.uint8]:
    """Return the marks at j of the links between i and j at any lag as bits, 1 << mark, (n, d, d)."""
    at_target = np.where(codes > 0, np.left_shift(np.uint8(1), codes >> 2), 0).astype(np.uint8)
    at_source = np.where(codes > 0, np.left_shift(np.uint8(1), codes & 3), 0).astype(np.uint8)
    behind = np.bitwise_or.reduce(at_source[:, 1:], axis=1)
    lagged = np.bitwise_or.reduce(at_target[:, 1:], axis=1) | behind.transpose(0, 2, 1)
    # links at lag 0 that are not directed yield to lagged ones
    lag_0_mask = np.isin(codes[:, 0], (DIRECTED, BACKWARD)) | (lagged == 0)
    return np.asarray(lagged | np.where(lag_0_mask, at_target[:, 0], 0), np.uint8)


def _conflicts(marks: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which pairs have several marks at one end, without those of a variable on itself."""
    conflicts = (marks & (marks - 1)) != 0
    np.einsum("nii->ni", conflicts)[:] = False
    return np.asarray(conflicts & (marks > 0))


def _joined(marks: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return one mark an end: several are a tail beside an arrow in directed graphs, and else a circle."""
    several = _conflicts(marks)
    single = np.zeros(256, np.uint8)
    single[1 << TAIL], single[1 << ARROW], single[1 << CIRCLE] = TAIL, ARROW, CIRCLE
    bidirected = (marks == 1 << ARROW) & (marks.transpose(0, 2, 1) == 1 << ARROW)
    plain = not (marks & (1 << CIRCLE)).any() and not bidirected.any()
    joint_marks = np.where(several, TAIL if plain else CIRCLE, single[marks])
    np.einsum("nii->ni", joint_marks)[:] = 0
    return np.asarray(joint_marks, np.uint8)


def _class_at_lag_0(codes: Codes) -> Codes:
    """Return lag 0 of graphs (n, L + 1, d, d) with the directed links that all graphs of the class share.

    Colliders with nonadjacent causes, lagged or not, and Meek's rules direct links at lag 0; rules that need another
    undirected link concern lag 0 alone, since time directs lagged ones.
    """
    arcs = codes[:, 0] == DIRECTED
    adjacent = arcs | arcs.transpose(0, 2, 1)
    lagged = (codes[:, 1:] == DIRECTED).reshape(len(codes), -1, codes.shape[2]).astype(np.float32)
    # a lagged cause of one end only directs the link: as a collider, or away from the collider that is not there
    n_causes = lagged.sum(axis=1)
    shared = lagged.transpose(0, 2, 1) @ lagged
    same = (shared == n_causes[:, :, None]) & (shared == n_causes[:, None, :])
    apart = ~adjacent
    np.einsum("nii->ni", apart)[:] = False
    known = arcs & (~same | _product(apart, arcs))
    while True:
        lines = adjacent & ~known & ~known.transpose(0, 2, 1)
        directed = _product(known.transpose(0, 2, 1), apart) | _product(known, known)
        for graph in np.flatnonzero(lines.any(axis=(1, 2))).tolist():
            # i -- k -> j and i -- l -> j, where k and l are apart
            through = lines[graph][:, None, :] & known[graph].T[None, :, :]
            directed[graph] |= (through & _product(through, apart[graph])).any(axis=2)
        new = lines & directed
        if not new.any():
            break
        known |= new
    arrows = np.where(known, DIRECTED, np.where(known.transpose(0, 2, 1), BACKWARD, 0))
    return np.where(adjacent & (arrows == 0), UNDIRECTED, arrows).astype(np.uint8)


def _product(left: NDArray[np.bool_], right: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether there is a k with left (i, k) and right (k, j), (n, d, d)."""
    return np.asarray(left.astype(np.float32) @ right.astype(np.float32) > 0)
