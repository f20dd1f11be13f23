"""The accessor ``series.graph`` on packed columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.cells import ColumnAccessor
from ..contract.checks import name_row
from .graph import graphs_of
from .kernels.planes import KINDS
from .methods import GraphMethods
from .packing import UnpackedColumn, is_packed, pack_column, unpack_column


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

    def _rows(self, rows: Any) -> Any:
        return rows

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
        column = unpack_column(self._obj)
        names = np.full(column.n_rows, None, dtype=object)
        for row, node_set in enumerate(column.row_node_set.tolist()):
            if node_set >= 0:
                names[row] = column.node_sets[node_set]
        return pd.Series(names, index=self._obj.index, name=self._obj.name, dtype=object)

    @property
    def kind(self) -> pd.Series:
        """Graph class, a categorical over dag, cpdag, pdag, digraph, mag, pag, admg, skeleton, mixed."""
        column = unpack_column(self._obj)
        codes = column.scatter([block.kinds for block in column.blocks], -1, np.int8)
        kinds = pd.Categorical.from_codes(codes, pd.Index(KINDS))
        return pd.Series(kinds, index=self._obj.index, name=self._obj.name)
