"""Columns of packed lagged graphs: made from cells of any known format, checked, unpacked."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.cells import is_missing, pack_rows, rows_of, unpack_distinct
from ...contract.checks import check_choice, check_flag, check_known, check_whole, name_row
from ...contract.encoding import CellError
from ...graphs.node_names import NodeLists
from ...graphs.packing import as_packed, coerce_cells, holds_cells, is_packed
from ..edge_scores.cells import score_column
from .cells import FORMAT, Codes, Head, LaggedGraph, Links, kind_of, read_codes, read_head
from .formats import WEIGHTS, Reading, Weights, read, read_weights

__all__ = ["as_lagged", "lagged_column", "lagged_scores"]


def lagged_column(
    values: Any,
    *,
    nodes: Any = None,
    encoding: str | None = None,
    kind: str | None = None,
    min_lag: int | None = None,
    max_lag: int | None = None,
    first_lag: int | None = None,
    threshold: float | None = None,
    alpha: float | None = None,
    conflict: str = "raise",
    index: Any = None,
) -> pd.Series:
    """Make a column of packed lagged graphs.

    Parameters
    ----------
    values : Series, list or other sequence
        One graph per row: `LaggedGraph`, packed bytes, text such as ``"X@-1 -> Y; Y -> Z"``, or one of the formats
        below. None, NaN and pd.NA stay missing.
    nodes : list of names, or one list per row, optional
        Names of the variables, in the order of arrays; all variables, where a format names only those with links.
    encoding : str, optional
        Name of a format. Objects and arrays of strings are recognised; arrays of numbers are not, since their axes
        differ from tool to tool.
    kind : {"ts_dag", "ts_pdag", "ts_pag"}, optional
        Class; default the narrowest of each graph, and that of a graph that is packed already. With "ts_pag" circles at
        lag 0 in arrays of tigramite stay circles.
    min_lag : {0, 1}, optional
        Smallest lag that was searched; 1 where links at lag 0 were not looked for. Default that of the format. Like
        `max_lag` and `kind`, it may be stated of a packed column too.
    max_lag : int, optional
        Largest lag that was searched; default the largest of the array, or of the links.
    first_lag : {0, 1}, optional
        Lag of the first slice of an array: needed where `encoding` names axes, else default that of the tool.
    threshold : float, optional
        Links are weights whose absolute value is larger; 0 keeps every weight that is not 0.
    alpha : float, optional
        Links are p-values up to this level. Columns and formats whose names tell weights from p-values are read by the
        option that fits, and refused with the other.
    conflict : {"raise", "circle"}
        Whether marks ``x`` of tigramite, orientations that conflict, are refused or read as circles.
    index : Index, optional
        Of the result; default that of `values`.

    Returns
    -------
    Series
        Canonical bytes, ``pd.ArrowDtype(pa.large_binary())``. Equal graphs have equal bytes, so ``==``, ``groupby``,
        ``merge``, Parquet and dask work on the column.

    Raises
    ------
    AmbiguousEncodingError
        If a cell is an array of numbers and no encoding is named.
    ValueError
        If a cell is not a lagged graph: links from a variable to itself at lag 0, effects before their causes, links
        beyond `max_lag`, conflicting marks, other variables than `nodes`; names the row.
    TypeError
        If the format of a cell is unknown; names the row.

    Notes
    -----
    ========================  =============================================================================
    encoding                  cell
    ========================  =============================================================================
    ``tigramite``             strings (d, d, lags + 1): `graph[i, j, lag]` from i at t - lag to j at t
    ``tigramite links``       ``{effect: [((cause, -lag), coefficient, function), ...]}``, or parents
                              ``{effect: [(cause, -lag), ...]}``
    ``VARLiNGAM``             a fitted model, or its `adjacency_matrices_`: (lag, effect, cause)
    ``statsmodels VAR``       a fitted model, or `params` or `pvalues` as a table: rows "L1.X", columns effects
    ``statsmodels coefs``     `coefs` (lags, d, d): (lag - 1, effect, cause)
    ``causalnex``             a networkx graph with edges ``X_lag1 -> Y_lag0``
    ``DYNOTEARS``             the pair (W, A), causes in rows, lags of A below one another
    ``pywhy-graphs``          a graph over nodes (name, -lag)
    ``CausalRivers``          (d, d, lags): (effect, cause, lag - 1)
    ``Tetrad text``           Tetrad's text of a graph over nodes X, X:1, ...; X:1 is X at t - 1
    ``link table``            a DataFrame, a mapping of columns, or the path of a CSV file: source (from, cause), target
                              (to, effect), lag, and link ("->"), weight or p (pvalue, p_value); other columns are
                              refused where they hold numbers, signs or marks, or divide the table, as runs and tools
                              do
    ``cause,effect,lag``      an array of numbers with these axes, as `p_matrix` of tigramite; also
                              ``effect,cause,lag``, ``lag,cause,effect``, ``lag,effect,cause``; with `first_lag`
    ========================  =============================================================================

    At lag 0, `o-o` of tigramite is an undirected link (PCMCI, PCMCI+) where the graph has no other circle and no
    bidirected link, and a circle otherwise (LPCMCI). Two opposite directed links at lag 0 are an undirected link.

    Examples
    --------
    >>> import numpy as np
    >>> import causaleval_pd as ce
    >>> graph = np.array([[["", "-->"], ["", "-->"]], [["", ""], ["", ""]]])
    >>> column = ce.lagged_column([graph, None], nodes=["X", "Y"])
    >>> column.lagged.to_strings().tolist()
    ['lags 0..1: X@-1 -> X; X@-1 -> Y', nan]
    >>> weights = np.array([[[0, 0], [0.4, 0]], [[0.5, 0], [0, 0.01]]])  # of VARLiNGAM
    >>> weighted = ce.lagged_column([weights], nodes=["X", "Y"], encoding="VARLiNGAM", threshold=0.1)
    >>> weighted.lagged.to_strings()[0]
    'lags 0..1: X -> Y; X@-1 -> X'
    """
    series = rows_of(values, index, "lagged graphs", dims=(2, 3))
    reading = Reading(encoding, kind, min_lag, max_lag, first_lag, threshold, alpha, conflict)
    if is_packed(series) and nodes is None and not reading.changes_graphs:
        unpack_lagged(series)
        return as_packed(series)
    lists = NodeLists.read(nodes, len(series), values.index if isinstance(values, pd.Series) else None)
    return pack_rows(series, lambda row, cell: _read(cell, lists.rows[row], reading).to_bytes())


def as_lagged(
    value: Any,
    *,
    nodes: Iterable[str] | None = None,
    encoding: str | None = None,
    kind: str | None = None,
    min_lag: int | None = None,
    max_lag: int | None = None,
    first_lag: int | None = None,
    threshold: float | None = None,
    alpha: float | None = None,
    conflict: str = "raise",
) -> LaggedGraph:
    """Read one lagged graph in any format of `lagged_column`.

    Parameters
    ----------
    value : lagged graph
        A cell as in `lagged_column`.
    nodes, encoding, kind, min_lag, max_lag, first_lag, threshold, alpha, conflict : optional
        As in `lagged_column`.

    Returns
    -------
    LaggedGraph
        The graph.

    Raises
    ------
    ValueError, TypeError
        As in `lagged_column`, also if `value` is missing.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.as_lagged({"source": ["X"], "target": ["Y"], "lag": [2]}, nodes=["X", "Y", "Z"])
    LaggedGraph('lags 0..2: X@-2 -> Y; Z', kind='ts_dag')
    """
    if isinstance(value, pd.Series):
        raise TypeError("found a column, expected one lagged graph; pass a cell of it, as column.iloc[0]")
    if is_missing(value):
        raise ValueError(f"expected a lagged graph, found {value!r}")
    lists = NodeLists.read(None if nodes is None else list(nodes), 1)
    reading = Reading(encoding, kind, min_lag, max_lag, first_lag, threshold, alpha, conflict)
    return _read(value, lists.rows[0], reading)


def _read(cell: Any, names: Iterable[str] | None, reading: Reading) -> LaggedGraph:
    """Read one cell that is not missing."""
    if isinstance(cell, bytes):
        cell = LaggedGraph.from_bytes(cell)
    nodes = None if names is None else list(names)
    if isinstance(cell, LaggedGraph):
        if nodes is None and not reading.changes_graphs:
            return cell
        known, wanted = set(cell.nodes), set(nodes or ())
        if known < wanted:
            raise ValueError(
                f"has the variables {list(cell.nodes)[:10]}, but nodes= has also {min(wanted - known)!r}; to add "
                "variables without links read the graph as text, as by graph.to_string() or column.lagged.to_strings()"
            )
        links = Links(list(cell.nodes), cell.codes, cell.min_lag)
        return replace(reading, kind=reading.kind or cell.kind).graph(links, nodes)
    return reading.graph(read(cell, nodes, reading), nodes)


def coerce_lagged(series: pd.Series, column: Hashable | None = None) -> pd.Series:
    """Return a column of a user's table as packed lagged graphs; messages call it `column`."""
    return coerce_cells(series, lambda _, cell: _read(cell, None, Reading()).to_bytes(), column)


def is_lagged_column(series: pd.Series) -> bool:
    """Return whether a column looks like lagged graphs, judged by its first cell: packed ones, or `LaggedGraph`."""
    return holds_cells(series, FORMAT, lambda cell: isinstance(cell, LaggedGraph))


@dataclass(frozen=True, eq=False)
class Block:
    """Distinct graphs with the same variables, lags and number of planes."""

    #: names, lags and number of planes
    head: Head
    #: (n, L + 1, d, d): codes
    codes: Codes
    #: (n,): position of each graph's class in `KINDS`
    kinds: NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class LaggedCells:
    """A decoded column: its distinct graphs in blocks, and which of them stands in a row."""

    blocks: tuple[Block, ...]
    #: (n_rows,): position of each row's block, -1 for a missing row
    block: NDArray[np.int64]
    #: (n_rows,): position of each row's graph in its block
    place: NDArray[np.int64]


def unpack_lagged(series: pd.Series) -> LaggedCells:
    """Decode the distinct cells of a column of canonical bytes; an error names the row."""
    codes, cells, where = unpack_distinct(series, lambda cell: (cell, read_head(cell)))
    groups: dict[Head, list[int]] = {}
    for number, (_, head) in enumerate(cells):
        groups.setdefault(head, []).append(number)
    block, place = np.full(len(cells) + 1, -1, np.int64), np.zeros(len(cells) + 1, np.int64)
    blocks: list[Block] = []
    for head, members in groups.items():
        some = [cells[i][0] for i in members]
        try:
            block_codes = read_codes(some, head)
        except CellError as error:
            raise ValueError(f"{where(members[error.position])}: {error}") from None
        block[members], place[members] = len(blocks), np.arange(len(members))
        blocks.append(Block(head, block_codes, np.array([kind_of(cell) for cell in some], np.uint8)))
    return LaggedCells(tuple(blocks), block[codes], place[codes])


def lagged_scores(
    values: Any,
    *,
    lag: int | None = None,
    reduce: str | None = None,
    nodes: Any = None,
    encoding: str | None = None,
    first_lag: int | None = None,
    min_lag: int | None = None,
    p_values: bool = False,
    index: Any = None,
) -> pd.Series:
    """Make a column of edge scores of weights or p-values at lags, for metrics such as `auroc`.

    Compare scores at one lag or over all lags with graphs: `truth.lagged.summary(two_cycles="undirected")`, whose
    undirected edges are true in both directions, or `truth.lagged.contemporaneous()` for lag 0.

    Parameters
    ----------
    values : sequence
        One array or object a row, as in `lagged_column`: `val_matrix` or `p_matrix` of tigramite, a fitted VARLiNGAM,
        a result of statsmodels' VAR. None and NaN stay missing.
    lag : int, optional
        Take the scores at this lag.
    reduce : {"max", "mean"}, optional
        Or the largest, or the mean magnitude over all lags from 1. One of `lag` and `reduce` is needed.
    nodes, first_lag, index : optional
        As in `lagged_column`.
    encoding : str, optional
        "VARLiNGAM", "statsmodels VAR", "statsmodels coefs", "DYNOTEARS", "CausalRivers", or the axes of an array of
        numbers, such as "cause,effect,lag", with `first_lag`. Fitted models are recognised.
    min_lag : {0, 1}, optional
        1 where lag 0 was not searched although the array has it (`tau_min=1` of tigramite): it is then not scored.
    p_values : bool
        Numbers are p-values: a score is -log10(p), so that small ones rank first; p = 0 counts as the smallest float.
        Of results of a VAR the p-values are taken instead of the parameters.

    Returns
    -------
    Series
        Packed scores, as of `score_column`. Scores at lag 0 are symmetric where the array is, as those of tigramite,
        which score pairs there. The diagonal is not scored at lag 0.

    Raises
    ------
    ValueError, TypeError
        If a cell is not in the format, lacks the lag, or holds p-values outside [0, 1]; names the row.

    Examples
    --------
    >>> import numpy as np
    >>> import causaleval_pd as ce
    >>> weights = np.array([[[0, 0], [0.4, 0]], [[0.5, 0.2], [0, 0.1]]])  # of VARLiNGAM: (lag, effect, cause)
    >>> scores = ce.lagged_scores([weights], lag=1, nodes=["X", "Y"], encoding="VARLiNGAM")
    >>> truth = ce.lagged_column(["Y@-1 -> X"]).lagged.summary()
    >>> ce.auroc(truth[0], scores[0])
    1.0
    """
    if (lag is None) == (reduce is None):
        raise ValueError("pass lag= for the scores at one lag, or reduce='max' or 'mean' for those over all lags")
    check_choice(reduce, ("max", "mean", None), "reduce")
    check_flag(p_values, "p_values")
    steps = None if lag is None else check_whole(lag, "lag")
    for name, value in (("first_lag", first_lag), ("min_lag", min_lag)):
        if value is not None:
            check_whole(value, name, 0, 1)
    if encoding is not None:
        check_known(encoding, WEIGHTS, "encoding of scores at lags")
    series = rows_of(values, index, "numbers of lagged links", dims=(2, 3))
    lists = NodeLists.read(nodes, len(series), values.index if isinstance(values, pd.Series) else None)
    matrices: list[Any] = []
    names: list[Any] = []
    for row, cell in enumerate(series.tolist()):
        matrix = labels = None
        if not is_missing(cell):
            try:
                numbers = read_weights(cell, encoding, first_lag, p_values=p_values)
                matrix = _scores(numbers, steps, reduce, min_lag, p_values=p_values)
            except (TypeError, ValueError) as error:
                raise type(error)(f"{name_row(row, series.index, series.name)}: {error}") from None
            labels = lists.rows[row] or numbers.names or [str(i) for i in range(len(matrix))]
        matrices.append(matrix)
        names.append(labels)
    kind = "score" if p_values else "weight"
    column = score_column(matrices, nodes=names, encoding="row->column", kind=kind, index=series.index)
    column.name = series.name
    return column


def _scores(
    numbers: Weights, lag: int | None, reduce: str | None, min_lag: int | None, *, p_values: bool
) -> NDArray[np.float64]:
    """Return scores (d, d) at a lag or over those from 1, larger or of larger magnitude for likely links."""
    # NaN where numbers mean nothing: at lags that were not searched, and of a variable on itself at the same time
    scores = np.full((numbers.min_lag + len(numbers.values), *numbers.values.shape[1:]), np.nan)
    scores[numbers.min_lag :] = numbers.values
    if p_values:
        if ((scores < 0) | (scores > 1)).any():
            raise ValueError("p_values=True expects numbers between 0 and 1")
        scores = -np.log10(np.maximum(scores, np.nextafter(0, 1)))
    scores[: min_lag or 0] = np.nan
    scores[:1, np.eye(scores.shape[1], dtype=bool)] = np.nan
    if lag is None:
        if len(scores) < 2:
            raise ValueError("has no lags from 1 to reduce; pass lag=0")
        magnitudes = np.abs(scores[1:])
        return np.asarray(magnitudes.max(axis=0) if reduce == "max" else magnitudes.mean(axis=0))
    if lag >= len(scores):
        raise ValueError(f"has the lags up to {len(scores) - 1}, not {lag}")
    if np.isnan(scores[lag]).all():
        raise ValueError(f"has no scores at lag {lag}")
    return scores[lag]
