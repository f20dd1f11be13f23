"""Metrics of probabilities of edges: Brier score and its parts, logarithmic loss, calibration."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_choice, check_number, check_whole
from ..contract.metric import metric
from ..contract.options import with_options
from ..graphs.kernels.planes import KINDS as CLASSES
from .field import SCORES
from .pairs import ScorePairs
from .ranking import OPTIONS, chosen_candidates

__all__ = ["brier", "brier_parts", "calibration_curve", "calibration_error", "log_loss"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FIELD: dict[str, Any] = {
    "field": "scores",
    "kinds": ("probability", "types"),
    "truth_kinds": CLASSES,
    "direction": "minimize",
    "optimum": 0,
}
STRATEGIES = ("width", "quantile")


class Forecasts(NamedTuple):
    """Probabilities of candidates, (n, most) each: which cells hold one, the probability, and whether it is true."""

    known: NDArray[np.bool_]
    q: Floats
    y: Floats


def forecasts(pairs: ScorePairs, universe: str | None, undirected: str) -> Forecasts:
    """Return the probabilities of the candidates that have one."""
    found = chosen_candidates(pairs, universe=universe, undirected=undirected, magnitude=False)
    known = np.arange(found.keys.shape[1]) < found.size[:, None]
    return Forecasts(known, np.where(known, found.keys, 0.0), (found.labels & known).astype(np.float64))


def _mean(values: Floats, known: NDArray[np.bool_]) -> Floats:
    """Return the mean of each row's known values, NaN without any."""
    n = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    return np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)


@metric(
    **_FIELD,
    range=(0, 1),
    long_name="Brier score",
    closed_form="brier",
    reference="10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2",
)
@with_options(OPTIONS)
def brier(pairs: ScorePairs, *, universe: str | None = None, undirected: str = "both") -> Floats:
    """Return the mean squared difference between probabilities and edges (1 true, 0 not).

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cell = ce.score_column([[[0, 0.9, 0.4], [0.2, 0, 0.5], [0, 0, 0]]], encoding="row->column")[0]
    >>> round(ce.brier("0 -> 1; 2", cell), 3)
    0.077
    """
    known, q, y = forecasts(pairs, universe, undirected)
    return _mean((q - y) ** 2, known)


@metric(**_FIELD, range=(0, np.inf), long_name="logarithmic loss")
@with_options(OPTIONS)
def log_loss(pairs: ScorePairs, *, clip: float = 0.0, universe: str | None = None, undirected: str = "both") -> Floats:
    """Return minus the mean logarithm of the probability given to what is true.

    Parameters
    ----------
    clip : float
        Probabilities are moved into [clip, 1 - clip], in [0, 0.5). With 0 a false certainty makes the loss infinite.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cell = ce.score_column([[[0, 0.9, 0.4], [0.2, 0, 0.5], [0, 0, 0]]], encoding="row->column")[0]
    >>> round(ce.log_loss("0 -> 1; 2", cell), 3)
    0.255
    """
    check_number(clip, "clip", "[0, 0.5)")
    known, q, y = forecasts(pairs, universe, undirected)
    given = np.where(y > 0, q, 1 - q)
    given = np.clip(given, clip, 1 - clip) if clip else given
    logs = np.full(given.shape, np.inf)
    np.negative(np.log(given, out=np.full(given.shape, -np.inf), where=given > 0), out=logs)
    return _mean(logs, known)


def bins_of(q: Floats, known: NDArray[np.bool_], bins: int, strategy: str) -> Ints:
    """Return the bin of each probability; the last is closed. Equal probabilities are in one bin."""
    if strategy == "width":
        # the limits as numbers, so that probabilities such as .29 are not below them by rounding
        return np.searchsorted(np.arange(1, bins) / bins, q, side="right")
    found = np.zeros(q.shape, np.int64)
    for row in range(len(q)):
        values = q[row][known[row]]
        if len(values):
            edges = np.quantile(values, np.arange(1, bins) / bins)
            found[row] = np.searchsorted(np.unique(edges), q[row], side="right")
    return found


class _Binned(NamedTuple):
    """Of each bin, (n, bins): candidates, sum of probabilities, of true ones, of squares, and of products."""

    n: Floats
    q: Floats
    y: Floats
    qq: Floats
    qy: Floats


def _binned(pairs: ScorePairs, bins: int, strategy: str, universe: str | None, undirected: str) -> _Binned:
    bins = check_whole(bins, "bins", 1, 10_000)
    check_choice(strategy, STRATEGIES, "strategy")
    known, q, y = forecasts(pairs, universe, undirected)
    row, slot = np.nonzero(known)
    cell = row * bins + bins_of(q, known, bins, strategy)[row, slot]
    values = q[row, slot], y[row, slot]

    def total(weights: Floats) -> Floats:
        return np.bincount(cell, weights, pairs.n * bins).reshape(pairs.n, bins).astype(np.float64)

    ones = np.ones(len(row))
    return _Binned(*(total(x) for x in (ones, values[0], values[1], values[0] ** 2, values[0] * values[1])))


@metric(**_FIELD, range=(0, 1), long_name="expected calibration error", closed_form="calibration")
@with_options(OPTIONS)
def calibration_error(
    pairs: ScorePairs,
    *,
    bins: int = 10,
    strategy: str = "width",
    universe: str | None = None,
    undirected: str = "both",
) -> Floats:
    """Return the mean distance, over bins, between the mean probability and the share of true edges.

    It is biased upwards: perfectly calibrated probabilities have an error above 0, the larger the fewer candidates
    there are, and a constant share of true edges has none. `null="calibrated"` draws edges from the probabilities, so
    that its p-value is small where the error is larger than that of calibrated probabilities. Shuffled scores are no
    test of calibration.

    Parameters
    ----------
    bins : int
        Number of bins.
    strategy : {"width", "quantile"}
        Bins of equal width, or with about as many candidates each.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cell = ce.score_column([[[0, 0.9, 0.4], [0.2, 0, 0.5], [0, 0, 0]]], encoding="row->column")[0]
    >>> round(ce.calibration_error("0 -> 1; 2", cell), 3)
    0.2
    """
    found = _binned(pairs, bins, strategy, universe, undirected)
    n = found.n.sum(axis=1)
    gap = np.abs(found.q - found.y).sum(axis=1)
    return np.divide(gap, n, out=np.full(pairs.n, np.nan), where=n > 0)


def calibration_curve(
    truth: Any, estimate: Any, *, bins: int = 10, strategy: str = "width", universe: str | None = None
) -> pd.DataFrame:
    """Return the bins behind `calibration_error`.

    Parameters
    ----------
    truth : graph
        The true graph.
    estimate : score cell
        Probabilities, one cell of `score_column`.
    bins, strategy, universe
        As in `calibration_error`.

    Returns
    -------
    DataFrame
        One bin with candidates a row: `mean_probability`, `share_true` and `n_candidates`.

    Raises
    ------
    ValueError
        If the scores are not probabilities.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cell = ce.score_column([[[0, 0.9], [0.2, 0]]], nodes=["A", "B"], encoding="row->column")[0]
    >>> ce.edge_scores.calibration_curve("A -> B", cell).values.tolist()
    [[0.2, 0.0, 1.0], [0.9, 1.0, 1.0]]
    """
    found = _binned(_pair(truth, estimate), bins, strategy, universe, "both")
    some = found.n[0] > 0
    n = found.n[0][some]
    return pd.DataFrame(
        {"mean_probability": found.q[0][some] / n, "share_true": found.y[0][some] / n, "n_candidates": n}
    )


def brier_parts(
    truth: Any, estimate: Any, *, bins: int | None = None, strategy: str = "width", universe: str | None = None
) -> pd.Series:
    """Split the Brier score as Murphy (1973) does, with the two further terms that bins need.

    The score is reliability - resolution + uncertainty + within_variance - 2 within_covariance. The last two are 0
    where groups are of equal probabilities.

    Parameters
    ----------
    truth : graph
        The true graph.
    estimate : score cell
        Probabilities, one cell of `score_column`.
    bins : int, optional
        Number of bins; default groups of equal probabilities.
    strategy, universe
        As in `calibration_error`.

    Returns
    -------
    Series
        `brier` and its five parts.

    Raises
    ------
    ValueError
        If the scores are not probabilities.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cell = ce.score_column([[[0, 0.9], [0.2, 0]]], nodes=["A", "B"], encoding="row->column")[0]
    >>> ce.edge_scores.brier_parts("A -> B", cell).round(3).to_dict()["uncertainty"]
    0.25
    """
    pairs = _pair(truth, estimate)
    if bins is None:
        known, q, y = forecasts(pairs, universe, "both")
        group = np.unique(q[0][known[0]], return_inverse=True)[1].reshape(-1)
        values = [np.ones(len(group)), q[0][known[0]], y[0][known[0]]]
        values += [values[1] ** 2, values[1] * values[2]]
        sums = _Binned(*(np.bincount(group, x)[None].astype(np.float64) for x in values))
    else:
        sums = _binned(pairs, bins, strategy, universe, "both")
    n, q, y, qq, qy = (x[0][sums.n[0] > 0] for x in sums)
    # parts of no candidates are NaN
    total = n.sum() or np.nan
    base = y.sum() / total
    mean, share = q / n, y / n
    return pd.Series(
        {
            "brier": float((qq.sum() - 2 * qy.sum() + y.sum()) / total),
            "reliability": float((n * (mean - share) ** 2).sum() / total),
            "resolution": float((n * (share - base) ** 2).sum() / total),
            "uncertainty": float(base * (1 - base)),
            "within_variance": float((qq - n * mean**2).sum() / total),
            "within_covariance": float((qy - n * mean * share).sum() / total),
        }
    )


def _pair(truth: Any, estimate: Any) -> ScorePairs:
    """Align two cells, and refuse scores that are not probabilities."""
    pairs: Any = SCORES.pair(truth, estimate)
    if brier.refused(pairs).any():
        raise ValueError(f"calibration is of probabilities, but {pairs.describe(0)}")
    return pairs
