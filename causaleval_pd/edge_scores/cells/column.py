"""Columns of edge scores from matrices: names aligned, direction and symmetry checked."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_known, check_type, name_row, refuse_masked, shown
from ...contract.encoding import AmbiguousEncodingError
from ...graphs.cells import is_missing
from ...graphs.node_names import NodeLists, node_name
from ...graphs.packing.header import check_names
from ...graphs.packing.packed import as_packed, is_packed
from .packed import (
    FORMAT,
    KINDS,
    PROBABILITY,
    SINGLE,
    SYMMETRIC,
    TYPE_PLANES,
    TYPES,
    WEIGHT,
    Floats,
    is_score_cell,
    is_score_column,
    pack_scores,
    score_cells,
    unpack_column,
)

__all__ = ["score_column"]

ENCODINGS = ("row->column", "column->row")
#: kinds of cells that a user may declare
_DECLARED = KINDS[:TYPES]


def score_column(
    values: Any,
    *,
    nodes: Any = None,
    encoding: str | None = None,
    symmetric: bool | None = None,
    kind: str | None = None,
    index: Any = None,
) -> pd.Series:
    """Make a column of edge scores, a matrix of weights, probabilities or other scores a row.

    Parameters
    ----------
    values : sequence
        One square matrix a row: numpy or scipy sparse (its zeros are scores of 0), a DataFrame whose index and columns
        name the nodes, or packed scores; also a stack of shape (N, d, d). NaN in a matrix means that the pair is not
        scored, 0 is a score. None, NaN and pd.NA as a row stay missing (a failed run).
    nodes : list of str, one list a row, or packed column of graphs, optional
        Node names of rows and columns, in their order; default "0", "1", ..., and the labels of DataFrames.
    encoding : {"row->column", "column->row"}, optional
        Where the score of the edge i -> j stands: in cell (i, j), or in cell (j, i). Required for matrices that are not
        symmetric.
    symmetric : bool, optional
        True: scores are of unordered pairs; a matrix that differs from its transpose is refused. False: scores are of
        ordered pairs, even where a matrix is symmetric. Default: as found, off the diagonal, NaN equal to NaN; constant
        scores, as of no edge, are of ordered pairs where an `encoding` is given.
    kind : {"weight", "probability", "score"}, optional
        "weight": the magnitude ranks edges, and the sign is kept. "probability": in [0, 1]. "score": larger is more
        likely an edge, also below 0. Default "probability" where all scores are in [0, 1], else "weight"; scores below
        0 without any above 0 (logarithms?) need it. P-values are not recognised: small ones are likely edges, so turn
        them, into -p with "score" or 1 - p, of which those below 1e-16 tie.
    index : Index, optional
        Of the result; default that of `values`.

    Returns
    -------
    Series
        Packed scores, ``pd.ArrowDtype(pa.large_binary())``, which `series.score` reads. Equal scores are equal cells.

    Raises
    ------
    AmbiguousEncodingError
        If a matrix is not symmetric and no `encoding` is given, or its scores are negative and no `kind` is.
    ValueError
        If a matrix is not square, holds an infinite score, is not symmetric where this is declared, or holds
        probabilities outside [0, 1]; names the row and the pair.
    TypeError
        If a cell is not a matrix of numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import causaleval_pd as ce
    >>> weights = np.array([[0, 1.5, 0], [0, 0, -0.7], [0, 0, 0]])
    >>> column = ce.score_column([weights, None], nodes=["A", "B", "C"], encoding="row->column")
    >>> column.score.threshold(0.5).graph.to_strings().tolist()
    ['A -> B; B -> C', nan]
    """
    if encoding is not None:
        check_known(encoding, ENCODINGS, "encoding of scores")
    if kind is not None:
        check_known(kind, _DECLARED, "kind of scores")
    if symmetric is not None:
        check_type(symmetric, (bool, np.bool_), "True, False or None", "symmetric")
    cells, labels, name = _rows(values, index)
    lists = NodeLists(nodes, len(labels), values.index if isinstance(values, pd.Series) else None)
    packed: list[bytes | None] = []
    for row, cell in enumerate(cells):
        try:
            packed.append(None if is_missing(cell) else _read(cell, lists[row], encoding, symmetric, kind))
        except (ValueError, TypeError) as fault:
            kinds = (AmbiguousEncodingError, TypeError)
            own = next((error for error in kinds if isinstance(fault, error)), ValueError)
            raise own(f"{name_row(row, labels, name)}: {fault}") from fault
    return score_cells(packed, labels, name)


def type_cells(nodes: Sequence[str], planes: Floats) -> bytes:
    """Pack probabilities of types of edge: planes (2 or 3, d, d) of p(i -> j), p(i -- j) and p(i <-> j).

    Names are in the order of rows and columns. Diagonals are not scored.
    """
    names, order = _ordered(tuple(nodes))
    found = np.array(planes, np.float64)
    if found.ndim != 3 or found.shape[1:] != (len(names),) * 2 or len(found) not in (2, 3):
        raise ValueError(f"expected planes of shape (2 or 3, {len(names)}, {len(names)}), found {found.shape}")
    found = found[:, order][:, :, order]
    found[:, range(len(names)), range(len(names))] = np.nan
    for plane, name in zip(found, TYPE_PLANES, strict=False):
        _check_finite(plane, names)
        _check_probabilities(plane, names)
        if name != "directed":
            _check_symmetric(plane, names)
    both = bool(_is_symmetric(found[0]))
    return pack_scores(names, found, TYPES, SYMMETRIC * both)


def coerce_scores(cells: pd.Series, column: Hashable | None = None) -> pd.Series:
    """Return a column of packed scores, or of DataFrames that name their nodes and are symmetric, as packed scores."""
    if is_packed(cells):
        return as_packed(cells)
    found = score_column(cells)
    found.name = cells.name
    return found


def holds_scores(cells: pd.Series) -> bool:
    """Return whether a column looks like packed scores."""
    return is_score_column(cells)


def _rows(values: Any, index: Any) -> tuple[Iterable[Any], pd.Index, Hashable | None]:
    """Return the cells, the index of the result and its name."""
    if isinstance(values, pd.Series):
        labels = values.index if index is None else _index(index)
        cells: Any = values.tolist()
        name: Hashable | None = values.name
    else:
        if isinstance(values, (str, bytes, pd.DataFrame)) or not hasattr(values, "__len__"):
            raise TypeError(
                f"values must hold one matrix a row, found {shown(values)}; put a single matrix into a list"
            )
        if isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype != object:
            raise ValueError(
                f"values must be a stack of matrices (N, d, d) or a list of them, found an array of shape "
                f"{values.shape}; put a single matrix into a list"
            )
        cells, name = list(values), None
        labels = pd.RangeIndex(len(cells)) if index is None else _index(index)
    if len(labels) != len(cells):
        raise ValueError(f"index has {len(labels)} labels, values has {len(cells)} rows")
    return cells, labels, name


def _index(labels: Any) -> pd.Index:
    try:
        return pd.Index(labels)
    except (TypeError, ValueError):
        raise TypeError(f"index must hold one label a row, found {shown(labels)}") from None


def _read(
    cell: Any, names: tuple[str, ...] | None, encoding: str | None, symmetric: bool | None, kind: str | None
) -> bytes:
    """Read one matrix as packed scores."""
    if isinstance(cell, bytes):
        if not is_score_cell(cell):
            raise ValueError(
                f"{FORMAT.explain(cell)}; make scores of matrices of weights or probabilities with score_column"
            )
        unpack_column(pd.Series([cell], dtype=object))
        return cell
    matrix, names = _matrix(cell, names)
    nodes, order = _ordered(names)
    values = np.asarray(matrix[np.ix_(order, order)], np.float64)
    _check_finite(values, nodes)
    found = _is_symmetric(values)
    if symmetric:
        _check_symmetric(values, nodes)
    if not found and encoding is None:
        i, j = _first_difference(values)
        raise AmbiguousEncodingError(
            f"the scores of {nodes[i]!r} and {nodes[j]!r} differ by direction, so it must be known which is which; "
            'pass encoding="row->column" if cell (i, j) scores the edge i -> j, or encoding="column->row"'
        )
    if encoding == "column->row":
        values = np.ascontiguousarray(values.T)
    if symmetric is None:
        # an empty estimate among directed ones is not of another kind
        symmetric = found and (encoding is None or not _is_constant(values))
    flags = SYMMETRIC * bool(symmetric) | SINGLE * (matrix.dtype == np.float32)
    return pack_scores(nodes, values[None], _kind(values, kind, nodes), int(flags))


def _matrix(cell: Any, names: tuple[str, ...] | None) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Return the numbers of a cell, and the names of its rows and columns."""
    if isinstance(cell, pd.DataFrame):
        cell, names = _of_frame(cell, names)
    elif hasattr(cell, "toarray"):
        cell = cell.toarray()
    elif isinstance(cell, (str, dict)) or not hasattr(cell, "__len__"):
        raise TypeError(f"expected a matrix of scores, found {type(cell).__name__}: {shown(cell)}")
    matrix = _numbers(cell)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"expected a square matrix, found shape {matrix.shape}")
    if names is None:
        names = tuple(map(str, range(len(matrix))))
    if len(names) != len(matrix):
        raise ValueError(f"the matrix has {len(matrix)} rows, but there are {len(names)} nodes: {list(names)[:10]}")
    return matrix, names


def _of_frame(cell: pd.DataFrame, names: tuple[str, ...] | None) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Return the numbers of a DataFrame with its columns in the order of its index, and the names of both."""
    rows, columns = ([node_name(x) for x in labels] for labels in (cell.index, cell.columns))
    if sorted(rows) != sorted(columns):
        raise ValueError(f"the index {rows[:10]} and the columns {columns[:10]} must name the same nodes")
    if len(set(rows)) < len(rows):
        raise ValueError(f"the index {rows[:10]} names a node twice; names must be unique")
    if names is not None and sorted(names) != sorted(rows):
        raise ValueError(f"the DataFrame has the nodes {rows[:10]}, expected {list(names)[:10]} (nodes=)")
    return cell.iloc[:, [columns.index(name) for name in rows]].to_numpy(), tuple(rows)


def _numbers(cell: Any) -> NDArray[Any]:
    """Return an array of numbers, and refuse other objects."""
    refuse_masked(cell, "a score", "matrix.filled(np.nan) where a pair is not scored")
    try:
        matrix = np.asarray(cell)
    except ValueError as fault:
        raise ValueError(f"expected a square matrix, found lists of unequal length ({fault})") from None
    if matrix.dtype == object:
        try:
            matrix = matrix.astype(np.float64)
        except (TypeError, ValueError):
            raise TypeError("expected a matrix of numbers, found other objects in it") from None
    if matrix.dtype.kind not in "biuf":
        raise TypeError(f"expected a matrix of numbers, found dtype {matrix.dtype}")
    return matrix


def _ordered(names: tuple[str, ...]) -> tuple[tuple[str, ...], list[int]]:
    """Return names in code-point order, and the place of each among those given."""
    order = sorted(range(len(names)), key=names.__getitem__)
    nodes = tuple(names[i] for i in order)
    if fault := check_names(nodes):
        raise ValueError(f"the matrix {fault}")
    return nodes, order


def _is_symmetric(values: Floats) -> bool:
    return not _differs(values).any()


def _differs(values: Floats) -> NDArray[np.bool_]:
    turned = values.T
    return np.asarray((values != turned) & ~(np.isnan(values) & np.isnan(turned)))


def _is_constant(values: Floats) -> bool:
    """Return whether all scores off the diagonal are equal, as in an estimate without edges."""
    others = values[~np.eye(len(values), dtype=bool)]
    return bool((np.isnan(others) | (others == others[:1])).all())


def _first_difference(values: Floats) -> tuple[int, int]:
    i, j = np.argwhere(_differs(values))[0].tolist()
    return i, j


def _check_symmetric(values: Floats, nodes: tuple[str, ...]) -> None:
    if not _is_symmetric(values):
        i, j = _first_difference(values)
        raise ValueError(
            f"the matrix is not symmetric: {values[i, j]:.17g} from {nodes[i]!r} to {nodes[j]!r}, {values[j, i]:.17g} "
            "back; pass (S + S.T) / 2 if this is rounding (as in np.corrcoef), or leave symmetric=True out"
        )


def _refuse(wrong: NDArray[np.bool_], values: Floats, nodes: tuple[str, ...], what: Callable[[str], str]) -> None:
    """Raise an error that names the first wrong pair, if there is one."""
    if wrong.any():
        i, j = np.argwhere(wrong)[0].tolist()
        raise ValueError(what(f"{values[i, j]:g} in the pair ({nodes[i]!r}, {nodes[j]!r})"))


def _check_finite(values: Floats, nodes: tuple[str, ...]) -> None:
    _refuse(
        np.isinf(values), values, nodes, lambda where: f"has the score {where}; scores are finite, NaN is not scored"
    )


def _check_probabilities(values: Floats, nodes: tuple[str, ...]) -> None:
    wrong = (values < 0) | (values > 1)
    _refuse(wrong, values, nodes, lambda where: f"has the probability {where}; probabilities lie in [0, 1]")


def _kind(values: Floats, kind: str | None, nodes: tuple[str, ...]) -> int:
    """Return the kind of a matrix as declared, or the one that its numbers have."""
    if kind == KINDS[PROBABILITY]:
        _check_probabilities(values, nodes)
    if kind is not None:
        return KINDS.index(kind)
    others = values[~np.eye(len(values), dtype=bool)]
    if (others < 0).any() and not (others > 0).any():
        raise AmbiguousEncodingError(
            "has negative scores and no positive ones, as logarithms have; pass kind='score' if larger scores are "
            "likelier edges, or kind='weight' if the magnitude ranks them"
        )
    return WEIGHT if ((values < 0) | (values > 1)).any() else PROBABILITY
