"""The figure of calibration: shares of true edges over their probabilities, with the band of calibrated ones."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_choice, check_columns, check_number, check_whole
from ..contract.figure import figure
from ..drawing import caption, colours, place_to_draw
from .cells.column import coerce_scores
from .field import SCORES, batches
from .forecasts import STRATEGIES, bins_of, brier, forecasts
from .pairs import ScorePairs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["calibration_points"]

Floats = NDArray[np.float64]

#: candidates of a bin up to which the law of its true ones is computed; sums of more are taken as normal
_MOST_EXACT = 5_000


def calibration_points(
    table: pd.DataFrame,
    *,
    truth: Hashable = "truth",
    estimate: Hashable = "estimate",
    bins: int = 10,
    strategy: str = "width",
    level: float = 0.95,
    universe: str | None = None,
) -> pd.DataFrame:
    """Return the share of true edges by bins of their probability, over all rows of a table.

    Parameters
    ----------
    table : DataFrame
        One run a row.
    truth, estimate : hashable
        Names of the columns of graphs and of probabilities.
    bins : int
        Number of bins.
    strategy : {"width", "quantile"}
        Bins of equal width, or with about as many candidates each.
    level : float
        Probability of the band of a bin.
    universe : str, optional
        As in `auroc`.

    Returns
    -------
    DataFrame
        A row a bin with candidates: `mean_probability`, `share_true`, `n_candidates`, and `low` and `high`, between
        which calibrated probabilities have their share of true edges, candidates being independent.

    Raises
    ------
    ValueError
        If a column is missing, or cells hold no probabilities.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> cells = ce.score_column([[[0, 0.9], [0.2, 0]]], nodes=["A", "B"], encoding="row->column")
    >>> points = ce.edge_scores.calibration_points(pd.DataFrame({"truth": ["A -> B"], "estimate": cells}))
    >>> points[["mean_probability", "share_true", "n_candidates"]].values.tolist()
    [[0.2, 0.0, 1.0], [0.9, 1.0, 1.0]]
    """
    check_columns(table, {"truth": truth, "estimate": estimate})
    check_choice(strategy, STRATEGIES, "strategy")
    check_number(level, "level", "(0, 1)")
    bins = check_whole(bins, "bins", 1, 10_000)
    q, y = _candidates(table, truth, estimate, universe)
    [place] = bins_of(q[None], np.ones((1, len(q)), np.bool_), bins, strategy)
    rows = []
    for number in np.unique(place).tolist():
        mine = place == number
        low, high = _limits(q[mine], level)
        rows.append([q[mine].mean(), y[mine].mean(), int(mine.sum()), low, high])
    return pd.DataFrame(rows, columns=["mean_probability", "share_true", "n_candidates", "low", "high"])


def _candidates(
    table: pd.DataFrame, truth: Hashable, estimate: Hashable, universe: str | None
) -> tuple[Floats, NDArray[np.float64]]:
    """Return the probabilities of all candidates of all rows, and which are true."""
    truths = SCORES.of_truth.coerce(table[truth], str(truth))
    found: list[tuple[Floats, Floats]] = [(np.empty(0), np.empty(0))]
    for rows, aligned in batches(truths, coerce_scores(table[estimate], estimate)):
        pairs = cast(ScorePairs, aligned)
        wrong = brier.refused(pairs)
        if wrong.any():
            at = int(wrong.argmax())
            raise ValueError(f"row {int(rows[at])}: calibration is of probabilities, but {pairs.describe(at)}")
        known, q, y = forecasts(pairs, universe, "both")
        found.append((q[known], y[known]))
    return np.concatenate([q for q, _ in found]), np.concatenate([y for _, y in found])


def _limits(q: Floats, level: float) -> tuple[float, float]:
    """Return the quantiles of the share of true candidates with these probabilities, drawn independently."""
    n, tail = len(q), (1 - level) / 2
    if n > _MOST_EXACT:
        from scipy.special import ndtri

        half = float(-ndtri(tail) * np.sqrt((q * (1 - q)).sum()) / n)
        return max(0.0, float(q.mean()) - half), min(1.0, float(q.mean()) + half)
    law = np.ones(1)
    for chance in q.tolist():
        law = np.convolve(law, [1 - chance, chance])
    below = np.cumsum(law)
    low, high = (np.searchsorted(below, share - 1e-12) for share in (tail, 1 - tail))
    return float(low) / n, float(min(int(high), n)) / n


@figure(
    "share of true edges over their probabilities, with the band of calibrated ones",
    of="table",
    field="scores",
    concludes="whether probabilities of edges are too large or too small",
)
def calibration(
    table: pd.DataFrame,
    *,
    truth: Hashable = "truth",
    estimate: Hashable = "estimate",
    bins: int = 10,
    strategy: str = "width",
    level: float = 0.95,
    universe: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the share of true edges over the mean probability by bin, with the number of candidates of each.

    `ce.edge_scores.calibration_points` returns the numbers, and has the parameters.

    Parameters
    ----------
    table : DataFrame
        One run a row.
    truth, estimate, bins, strategy, level, universe
        As in `calibration_points`.
    ax : Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        Points are bins, a bar is the band of calibrated probabilities; numbers are candidates.

    Raises
    ------
    ValueError
        As `calibration_points`.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> cells = ce.score_column([[[0, 0.9], [0.2, 0]]], nodes=["A", "B"], encoding="row->column")
    >>> ax = ce.plot.calibration(pd.DataFrame({"truth": ["A -> B"], "estimate": cells}))
    >>> ax.get_xlabel()
    'probability of the edge'
    """
    how = {"truth": truth, "estimate": estimate, "bins": bins, "strategy": strategy, "level": level}
    points = calibration_points(table, **how, universe=universe)  # type: ignore[arg-type]
    if points.empty:
        raise ValueError("no row has candidates with a probability, so that there is nothing to draw")
    axes = place_to_draw(ax, 5.0, 4.6)
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=1, zorder=1)
    shade = colours(1)[0]
    axes.vlines(points["mean_probability"], points["low"], points["high"], color=shade, alpha=0.3, linewidth=7)
    axes.plot(points["mean_probability"], points["share_true"], "o-", color=shade, zorder=3)
    for x, n in zip(points["mean_probability"], points["n_candidates"], strict=True):
        axes.annotate(f"{n:,}", (x, -0.11), ha="center", size="x-small", color="0.4")
    axes.set(xlabel="probability of the edge", ylabel="share of true edges", xlim=(-0.03, 1.03), ylim=(-0.14, 1.04))
    outside = int(((points["share_true"] < points["low"]) | (points["share_true"] > points["high"])).sum())
    rows = "one row" if len(table) == 1 else f"all {len(table)} rows"
    law = "exact" if points["n_candidates"].max() <= _MOST_EXACT else "exact, normal in bins of more than 5,000"
    caption(
        axes,
        ax is None,
        f"Points: bins of candidates of {rows}, with their number at the foot; bars: {100 * level:g} % "
        f"of calibrated probabilities, whose candidates are independent ({law}); {outside} of {len(points)} bins lie "
        "outside.",
    )
    return axes
