"""Columns of graphs from cells in any encoding."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.cells import is_missing, one_per_row, rows_of
from ..contract.checks import check_type, name_row
from . import formats  # noqa: F401  registers the encodings
from .cells import Cells, Recogniser
from .classes import infer_kinds, not_in_class
from .edge_strings import is_formula
from .graph import Graph, graphs_of
from .kernels.planes import KINDS, MAG, MIXED, PAG, PLAIN_KINDS
from .mixed.marks import is_mixed, lift, lower
from .mixed.paths import check_size
from .node_names import NodeLists
from .packing import Block, UnpackedColumn, Where, as_packed, is_packed, join_by_key, pack_column, unpack_column

_FIRST_CELLS = 100


def graph_column(
    values: Any,
    *,
    nodes: Any = None,
    encoding: str | Iterable[str | None] | None = None,
    kind: Any = None,
    rename: Mapping[Hashable, Hashable] | None = None,
    index: Any = None,
) -> pd.Series:
    """Make a column of packed graphs.

    Parameters
    ----------
    values : Series, list, array or other sequence
        One graph per row, in any mix of formats: networkx graphs, numpy / scipy sparse / DataFrame adjacency matrices
        (also a stack of shape (N, d, d)), edge strings, lists of (source, target) tuples, causal-learn graphs, `Graph`,
        packed bytes. None, NaN and pd.NA stay missing.
    nodes : list of str, one list per row, or packed column, optional
        Node names. They name the rows and columns of matrices, in their order (default "0", "1", ...); add isolated
        nodes to edge strings and edge lists; and must be the nodes of all other graphs. A packed column stands for the
        nodes of its graphs.
    encoding : str or one per row, optional
        Name of the encoding of all cells that can be in it (see `list_encodings`); the others are recognised by type.
        Required for matrices: "row->column" if the edge i -> j is the 1 in cell (i, j), "column->row" if it is in cell
        (j, i). Both cells set is an undirected edge. A list or a column of names, such as ``runs["encoding"]``, names
        that of each row; in rows where it is missing, the encoding is recognised.
    kind : {"dag", "cpdag", "pdag", "digraph", "mag", "pag", "admg", "skeleton", "mixed"} or one per row, optional
        Graph class; default the narrowest one of the graph, except that packed graphs keep theirs.
    rename : mapping, optional
        New node names by old label, for graphs that bring their own labels.
    index : Index, optional
        Of the result; default that of `values`.

    Returns
    -------
    Series
        Canonical bytes, ``pd.ArrowDtype(pa.large_binary())``. Equal graphs have equal bytes, so ``==``, ``groupby``,
        ``merge``, ``factorize``, Parquet and dask work on the column.

    Raises
    ------
    AmbiguousEncodingError
        If there are matrices and no `encoding`, or matrices named by a packed column in an order that is unlikely.
    ValueError
        If a cell has a self loop, a non-square or non-binary matrix, repeated or other nodes than `nodes`, an unknown
        mark, or is not in its declared class; names the row.
    TypeError
        If a cell is not a graph in a known encoding; names the row.

    Notes
    -----
    An edge string declares its whole node set, isolated nodes as bare names; ``{}`` is the graph without nodes. Edges
    are ``A -> B``, ``B <- A``, ``A -- B``, chains ``A -> B -- C``, separated by semicolons or line ends. Names that
    hold other syntax, such as a comma, are quoted.

    Two opposite arcs of a networkx graph or an edge list are an undirected edge, as is an edge with the attribute type,
    kind or edge_type "undirected". A digraph is fully directed and has a directed cycle, or is declared one; a pdag is
    any graph of directed and undirected edges.

    Graphs with latent confounders have edges ``A <-> B``, ``A o-> B``, ``A o-o B`` and ``A o-- B``, written with blanks
    around the mark. With circles such a graph is a pag, or mixed where no equivalence class has this PAG
    (`series.graph.faults` returns the reason). Without circles it is a mag, else an admg, whose pairs of nodes may have
    ``->`` and ``<->``, else mixed. A declared kind is checked; "mixed" and "skeleton" hold what is declared so. The
    codes of "pcalg amat.pag" and the headings ``pag`` and ``mag`` of dagitty name the class: without circles too, a
    graph is a pag (mag), or mixed where it is not a legal one. Declare the kind of MAGs and CPDAGs in codes of PAGs.

    A bare name that stands alone must be a word: ``A-B`` and ``A B`` may be edges in another notation, and are refused
    unless they are quoted or in `nodes`. In edges such names are read, as in ``IL-6 -> blood pressure``. The text
    ``[A][B|A]`` is a model string of bnlearn.

    The bytes are not text: for CSV, JSON or a report, write ``column.graph.to_strings()``, which can be read back.

    Examples
    --------
    >>> import numpy as np
    >>> import causaleval_pd as ce
    >>> column = ce.graph_column(["A -> B; C", None, np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])],
    ...                          nodes=["A", "B", "C"], encoding="row->column")
    >>> column.graph.to_strings().tolist()
    ['A -> B; C', nan, 'A -- B; C']
    >>> column.graph.kind.tolist()
    ['dag', nan, 'cpdag']
    """
    series = rows_of(values, index, "graphs", dims=(2,))
    labels, name = series.index, series.name
    where = partial(name_row, index=labels, column=name)
    values_index = values.index if isinstance(values, pd.Series) else None
    if is_packed(series) and nodes is None and rename is None:
        kinds, column = _kind_codes(kind, len(labels), values_index), unpack_column(series, column=name)
        declared = column.scatter([block.kinds for block in column.blocks], -1, np.int16)
        column = _settle_kinds(column, np.where(kinds >= 0, kinds, declared), where)
    else:
        column = read_cells(series.tolist(), len(labels), where, nodes, encoding, kind, rename, values_index)
    return pack_column(column, index=labels, name=name)


def read_cells(
    cells: Iterable[Any],
    n_rows: int,
    where: Where,
    nodes: Any = None,
    encoding: Any = None,
    kind: Any = None,
    rename: Mapping[Hashable, Hashable] | None = None,
    index: pd.Index | None = None,
) -> UnpackedColumn:
    """Read cells as `graph_column`: messages name a row by `where`; a Series of other arguments has the `index`."""
    lists = NodeLists.read(nodes, n_rows, index)
    kinds = _kind_codes(kind, n_rows, index)
    if encoding is not None and not isinstance(encoding, str):
        check_type(encoding, Iterable, "the name of an encoding, or one per row", "encoding")
        encoding = one_per_row(encoding, n_rows, index, "encoding", "values")
    column, declared = Cells(where, lists, encoding, rename).read(cells, n_rows)
    return _settle_kinds(column, np.where(kinds >= 0, kinds, declared), where)


def as_graph(
    value: Any,
    *,
    nodes: Iterable[str] | None = None,
    encoding: str | None = None,
    kind: str | None = None,
    rename: Mapping[Hashable, Hashable] | None = None,
) -> Graph:
    """Make one graph from anything that `graph_column` takes as a cell.

    Parameters
    ----------
    value : graph
        A cell as in `graph_column`.
    nodes, encoding, kind, rename : optional
        As in `graph_column`.

    Returns
    -------
    Graph

    Raises
    ------
    ValueError, TypeError
        As in `graph_column`, also if `value` is missing.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.as_graph("A -> B <- C")
    Graph('A -> B; C -> B', kind='dag')
    """
    if isinstance(value, pd.Series):
        raise TypeError(
            "graph: found a column, expected one graph; pass a cell of it, as column.iloc[0], or score the rows of a "
            "table by df.ceval.evaluate([metric])"
        )
    if nodes is not None:
        check_type(nodes, Iterable, "a list of node names", "nodes")
        nodes = list(nodes)
    column = read_cells([value], 1, lambda row: "graph", nodes, encoding, kind, rename)
    if not column.blocks:
        raise ValueError(f"expected a graph, found {value!r}")
    return next(graphs_of(column))


def coerce_graphs(series: pd.Series, column: Hashable | None = None) -> pd.Series:
    """Return a column of a user's table as packed graphs, if its cells can be read in one way only."""
    if is_packed(series):
        return as_packed(series)
    where = partial(name_row, index=series.index, column=series.name if column is None else column)
    return pack_column(read_cells(series.tolist(), len(series), where), index=series.index, name=series.name)


def is_graph_column(series: pd.Series) -> bool:
    """Return whether a column looks like graphs, or their text, judged by its dtype and first cells."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.cat.categories.to_series()
    if is_packed(series):
        series = as_packed(series)
    elif not (series.dtype == object or pd.api.types.is_string_dtype(series.dtype)):
        return False
    cells = series.dropna().iloc[:_FIRST_CELLS].tolist()
    if not cells:
        return is_packed(series)
    recogniser = Recogniser()
    some = cells if isinstance(cells[0], str) else cells[:1]
    if any(isinstance(cell, str) and is_formula(cell) for cell in some):
        return False
    return any(recogniser.is_likely(cell) for cell in some if not is_missing(cell))


def _kind_codes(kind: Any, n_rows: int, index: pd.Index | None = None) -> NDArray[np.int16]:
    """Return a class code per row, -1 where none is declared."""
    if kind is None or isinstance(kind, str):
        kind = [kind] * n_rows
    check_type(kind, Iterable, f"one of {', '.join(map(repr, KINDS))}, or a list of these", "kind")
    codes = np.full(n_rows, -1, dtype=np.int16)
    for row, one in enumerate(one_per_row(kind, n_rows, index, "kind", "values")):
        if isinstance(one, str) and one in KINDS:
            codes[row] = KINDS.index(one)
        elif one is not None:
            raise ValueError(f"row {row}: unknown kind {one!r}; graph classes are {', '.join(KINDS)}")
    return codes


def _settle_kinds(column: UnpackedColumn, declared: NDArray[np.int16], where: Where) -> UnpackedColumn:
    """Infer the classes that are not declared, refuse graphs that are not in theirs, and give each its planes."""
    parts: list[Block] = []
    faults = []
    for block in column.blocks:
        codes = declared[block.rows]
        ancestral = (is_mixed(block.planes) & (codes < 0)) | np.isin(codes, (MAG, PAG))
        if ancestral.any():
            check_size(block.n_nodes, where(int(block.rows[ancestral.argmax()])))
        kinds, infer = np.maximum(codes, 0).astype(np.uint8), np.flatnonzero(codes < 0)
        kinds[infer] = infer_kinds(block.planes[infer], block.n_nodes)
        # a graph of any other class that is inferred is in it
        check = np.flatnonzero((codes >= 0) | (kinds == MIXED))
        wrong = check[not_in_class(block.planes[check], block.n_nodes, kinds[check])]
        if len(wrong):
            names = column.node_sets[block.node_set[wrong[0]]]
            faults.append((int(block.rows[wrong[0]]), block.planes[wrong[0]], names, int(kinds[wrong[0]])))
            continue
        four = kinds >= len(PLAIN_KINDS)
        for chosen, change in ((four, lift), (~four, lower)):
            if chosen.any():
                some = replace(block, kinds=kinds).take(np.flatnonzero(chosen))
                parts.append(replace(some, planes=change(some.planes)))
    if faults:
        from .faults import explain_kind

        row, planes, names, kind = min(faults, key=lambda fault: fault[0])
        raise ValueError(f"{where(row)}: the graph {explain_kind(planes, names, kind)}")
    return replace(column, blocks=join_by_key(parts))
