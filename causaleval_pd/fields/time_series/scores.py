"""Scores of links at lags: weights or p-values of other tools as columns of edge scores, at one lag or over all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.cells import is_missing, rows_of
from ...contract.checks import check_choice, check_flag, check_known, check_whole, name_row
from ...graphs.node_names import NodeLists
from ..edge_scores.cells import score_column
from .formats import WEIGHTS, check_masks, find_weights

__all__ = ["lagged_scores"]


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
    nodes : list of names, or one list per row, optional
        Names of the variables, in the order of arrays.
    encoding : str, optional
        "VARLiNGAM", "statsmodels VAR", "statsmodels coefs", "DYNOTEARS", "CausalRivers", or the axes of an array of
        numbers, such as "cause,effect,lag", with `first_lag`. Fitted models are recognised.
    first_lag : {0, 1}, optional
        Lag of the first slice of an array whose axes `encoding` names.
    min_lag : {0, 1}, optional
        1 where lag 0 was not searched although the array has it (`tau_min=1` of tigramite): it is then not scored.
    p_values : bool
        Numbers are p-values: a score is -log10(p), so that small ones rank first; p = 0 counts as the smallest float.
        Of results of a VAR the p-values are taken instead of the parameters.
    index : Index, optional
        Of the result; default that of `values`.

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
        try:
            if is_missing(cell):
                matrices.append(None)
                names.append(None)
                continue
            row_names = lists.rows[row]
            labels = None if row_names is None else list(row_names)
            check_masks(cell)
            read = WEIGHTS[encoding or find_weights(cell)](cell, labels, first_lag, p_values)
            scores = _scores(read.values, max(read.min_lag, min_lag or 0), p_values=p_values)
            matrices.append(_at(scores, steps) if steps is not None else _reduced(scores, str(reduce)))
            names.append(labels or read.names or [str(i) for i in range(scores.shape[1])])
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name_row(row, series.index, series.name)}: {error}") from None
    kind = "score" if p_values else "weight"
    column = score_column(matrices, nodes=names, encoding="row->column", kind=kind, index=series.index)
    column.name = series.name
    return column


def _scores(values: NDArray[Any], min_lag: int, *, p_values: bool) -> NDArray[np.float64]:
    """Return scores (L + 1, d, d), larger or of larger magnitude for likely links; NaN where they mean nothing."""
    if values.dtype.kind not in "biuf":
        raise TypeError(f"expected numbers, found dtype {values.dtype}")
    scores = values.astype(np.float64)
    if p_values:
        if ((scores < 0) | (scores > 1)).any():
            raise ValueError("p_values=True expects numbers between 0 and 1")
        scores = -np.log10(np.maximum(scores, np.nextafter(0, 1)))
    scores[:min_lag] = np.nan
    if len(scores):
        # of a variable on itself at the same time
        np.einsum("ii->i", scores[0])[:] = np.nan
    return scores


def _at(scores: NDArray[np.float64], lag: int) -> NDArray[np.float64]:
    if lag >= len(scores):
        raise ValueError(f"has the lags up to {len(scores) - 1}, not {lag}")
    if np.isnan(scores[lag]).all():
        raise ValueError(f"has no scores at lag {lag}")
    return scores[lag]


def _reduced(scores: NDArray[np.float64], reduce: str) -> NDArray[np.float64]:
    if len(scores) < 2:
        raise ValueError("has no lags from 1 to reduce; pass lag=0")
    magnitudes = np.abs(scores[1:])
    return np.asarray(magnitudes.max(axis=0) if reduce == "max" else magnitudes.mean(axis=0))
