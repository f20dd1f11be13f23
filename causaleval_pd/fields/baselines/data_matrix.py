"""Read a data set as numbers: one case per row, one variable per column, in the order of the variables' names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_choice, check_type
from ...graphs.graph import Graph
from ...graphs.kernels.planes import planes_from_marks
from ..against_data import data_sets

Floats = NDArray[np.float64]


class DataMatrix(NamedTuple):
    """Names of the variables in code-point order, and their values, (n, d)."""

    names: tuple[str, ...]
    values: Floats

    def graph(self, marks: NDArray[np.bool_], kind: str) -> Graph:
        """Make a graph with the mark i -> j where `marks`, (d, d), is true."""
        return Graph(self.names, kind, planes_from_marks(marks[None], np.arange(len(self.names)))[0])


def read_data(data: Any, nodes: Sequence[str] | None = None) -> DataMatrix:
    """Read the columns of a data set that are nodes, by default all."""
    check_type(data, pd.DataFrame, "a DataFrame with one case per row and one variable per column", "data")
    names = data.columns.tolist() if nodes is None else list(nodes)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"columns of data are names of nodes, which are texts; found {name!r}: rename it")
    if not names:
        raise ValueError("data has no columns")
    data_set = data_sets.read_data(data, sorted(dict.fromkeys(names)))
    return DataMatrix(data_set.names, data_set.numbers)


def complete_data(values: Mapping[str, Any], nodes: Sequence[str]) -> Any:
    """Return the data of a context, without rows that lack a value of a node where it asks for complete rows."""
    data, missing = values["data"], values.get("missing", "raise")
    check_choice(missing, ("raise", "drop"), "context 'missing'")
    if not isinstance(data, pd.DataFrame):
        return data
    data = data_sets.with_text_labels(data, nodes)
    return data.dropna(subset=[name for name in nodes if name in data.columns]) if missing == "drop" else data


def correlations(data: DataMatrix) -> Floats:
    """Return the correlation matrix, (d, d)."""
    centred = data.values - data.values.mean(axis=0)
    scaled = centred / np.sqrt((centred**2).sum(axis=0))
    return np.asarray(scaled.T @ scaled)


def check_regular(matrix: Floats, names: Sequence[str]) -> None:
    """Refuse variables that are linear functions of others, named by the first that is."""
    for k in range(2, len(names) + 1):
        if np.linalg.eigvalsh(matrix[:k, :k])[0] < 1e-12:
            raise ValueError(
                f"column {names[k - 1]!r} of data is a linear function of {list(names[: k - 1])[:10]}, so that partial "
                "regression is not defined; leave one of them out"
            )
