"""Read a data set as numbers: one case a row, one variable a column, in the order of the variables' names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_type, name_row
from ..graphs.graph import Graph
from ..graphs.kernels.planes import planes_from_marks

Floats = NDArray[np.float64]


class DataMatrix(NamedTuple):
    """Names of the variables in code-point order, and their values, (n, d)."""

    names: tuple[str, ...]
    values: Floats

    def graph(self, marks: NDArray[np.bool_], kind: str) -> Graph:
        """Make a graph with the mark i -> j where `marks`, (d, d), is true."""
        return Graph(self.names, kind, planes_from_marks(marks[None], np.arange(len(self.names)))[0])


def read_data(data: pd.DataFrame, nodes: Sequence[str] | None = None, *, varying: bool = True) -> DataMatrix:
    """Read the columns of a data set that are nodes, by default all.

    Parameters
    ----------
    data : DataFrame
        One case a row; numbers without gaps.
    nodes : sequence of str, optional
        The variables; further columns are not read.
    varying : bool
        Refuse constant columns.

    Returns
    -------
    DataMatrix
        The values.

    Raises
    ------
    TypeError
        If `data` is not a DataFrame, or a column does not hold numbers.
    ValueError
        If a node has no column, a name repeats, a value is missing or infinite, or a column is constant.
    """
    check_type(data, pd.DataFrame, "a DataFrame with one case a row and one variable a column", "data")
    names = sorted(data.columns.tolist(), key=str) if nodes is None else sorted(nodes)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"columns of data are names of nodes, which are texts; found {name!r}: rename it")
        found = int((data.columns == name).sum())
        if found != 1:
            known = data.columns.tolist()[:10]
            what = "has no column" if not found else f"has {found} columns called"
            raise ValueError(f"data {what} {name!r}, which is a node; its columns are {known}")
        if not pd.api.types.is_numeric_dtype(data[name].dtype) or pd.api.types.is_complex_dtype(data[name].dtype):
            raise TypeError(f"column {name!r} of data holds {data[name].dtype}; these baselines need numbers")
    if not names:
        raise ValueError("data has no columns")
    values = np.column_stack([data[name].to_numpy(np.float64, na_value=np.nan) for name in names])
    for name, column in zip(names, values.T, strict=True):
        wrong = ~np.isfinite(column)
        if wrong.any():
            where = name_row(int(wrong.argmax()), data.index, name)
            raise ValueError(
                f"data: {where}: the value is missing or infinite ({wrong.sum()} of {len(column)}); drop it"
            )
        if varying and (len(column) < 2 or (column == column[0]).all()):
            raise ValueError(f"column {name!r} of data is constant, or has fewer than two cases; leave the node out")
    return DataMatrix(tuple(names), values)


def correlations(data: DataMatrix) -> Floats:
    """Return the correlation matrix, (d, d)."""
    centred = data.values - data.values.mean(axis=0)
    scaled = centred / np.sqrt((centred**2).sum(axis=0))
    return np.asarray(scaled.T @ scaled)


def check_regular(matrix: Floats, names: Sequence[str]) -> None:
    """Refuse variables that are linear functions of others, named by the first that is.

    Raises
    ------
    ValueError
        If the correlation matrix is singular to working precision.
    """
    for k in range(2, len(names) + 1):
        if np.linalg.eigvalsh(matrix[:k, :k])[0] < 1e-12:
            raise ValueError(
                f"column {names[k - 1]!r} of data is a linear function of {list(names[: k - 1])[:10]}, so that partial "
                "regression is not defined; leave one of them out"
            )
