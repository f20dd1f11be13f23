"""The accessor ``series.lagged`` on packed columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...graphs.packing import is_packed
from . import views
from .cells import KINDS, LaggedGraph
from .column import Block, unpack_lagged
from .formats import write_tigramite

__all__ = ["SeriesLaggedAccessor"]


class SeriesLaggedAccessor:
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

    def __init__(self, series: pd.Series) -> None:
        if not is_packed(series):
            raise AttributeError(
                f"series.lagged needs a column of packed lagged graphs, found dtype {series.dtype}; make one with "
                "lagged_column"
            )
        self._obj = series

    def __repr__(self) -> str:
        known = ", ".join(name for name in dir(self) if not name.startswith("_"))
        return f"<properties and views of {len(self._obj)} lagged graphs: {known}>"

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
        return views.summary(self._obj, two_cycles)

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
        return views.contemporaneous(self._obj)

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
        return views.window(self._obj, max_lag, last=last)

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
        return views.lagged_cpdag(self._obj)

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
        different = next(
            (graph for graph in graphs if set(graph.nodes) != set(names) or len(names) != len(graph.nodes)), None
        )
        if different is not None:
            raise ValueError(f"found graphs with the variables {names[:10]} and {list(different.nodes)[:10]}")
        n_lags = max((graph.max_lag for graph in graphs), default=0) + 1
        stack = np.zeros((len(graphs), len(names), len(names), n_lags), "<U3")
        for row, graph in enumerate(graphs):
            order = [graph.nodes.index(name) for name in names]
            stack[row, :, :, : graph.max_lag + 1] = write_tigramite(
                graph.codes[:, order][:, :, order], lines=graph.kind == "ts_pag"
            )
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
        codes = self._counts(lambda block: block.kinds)
        words = [None if pd.isna(code) else KINDS[int(code)] for code in codes]
        return pd.Series(words, index=self._obj.index, dtype="str", name=self._obj.name)

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
        unpack_lagged(self._obj)
        codes, distinct = pd.factorize(self._obj)
        made = np.empty(len(distinct) + 1, object)
        for i, cell in enumerate(distinct.tolist()):
            made[i] = make(LaggedGraph.from_bytes(cell))
        made[-1] = None
        return pd.Series(made[codes], index=self._obj.index, dtype=dtype, name=self._obj.name)
