"""Figures of edge scores: ROC and precision-recall curves beside those of shuffled scores, and calibration."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_choice, check_columns, check_number, check_whole, shown
from ...contract.figure import figure
from ...drawing import caption as write_caption
from ...drawing import colours, legend_of, opacity, place_to_draw, tone
from ...statistics.tails import hypergeometric_law
from .cells import coerce_scores
from .field import SCORES, batches
from .metrics import STRATEGIES, bins_of, brier, chosen_candidates, forecasts
from .pairs import ScorePairs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["calibration_points", "curve_points"]

Floats = NDArray[np.float64]

KINDS = ("roc", "precision_recall")
#: depths at which curves are computed
_POINTS = 101


def curve_points(
    table: pd.DataFrame,
    kind: str = "roc",
    *,
    by: Hashable | None = None,
    truth: Hashable = "truth",
    estimate: Hashable = "estimate",
    level: float = 0.95,
    universe: str | None = None,
) -> pd.DataFrame:
    """Return the points of ROC or precision-recall curves by stratum, with the exact band of shuffled scores.

    Candidates of all runs of a stratum are taken to the same depth, the share of each run's candidates with the largest
    scores, and counted together. Ties are in random order: curves are means over such orders. At a depth the number of
    true ones under shuffled scores is a sum of hypergeometric numbers, whose law is exact by convolution.

    Parameters
    ----------
    table : DataFrame
        One run per row.
    kind : {"roc", "precision_recall"}
        Which curve.
    by : hashable, optional
        Column of the strata, where rows without a value are the stratum "missing"; default one stratum.
    truth, estimate : hashable
        Names of the columns of graphs and of scores.
    level : float
        Probability of the band at a depth.
    universe : str, optional
        As in `auroc`.

    Returns
    -------
    DataFrame
        One row per stratum and depth: `stratum`, `depth`, `x` and `y` of the curve (false and true positive rate, or
        recall and precision), and `low_x`, `low_y`, `high_x`, `high_y` of the band's limits.

    Raises
    ------
    ValueError
        If a column is missing, or no run of a stratum has both classes.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> scores = ce.score_column([[[0, 3, 1], [0, 0, 2], [0, 0, 0]]], encoding="row->column")
    >>> points = ce.edge_scores.curve_points(pd.DataFrame({"truth": ["0 -> 1; 2 -> 1"], "estimate": scores}))
    >>> points[["x", "y"]].iloc[[0, -1]].values.tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    """
    check_columns(table, {"truth": truth, "estimate": estimate} | ({} if by is None else {"by": by}))
    check_choice(kind, KINDS, "kind")
    check_number(level, "level", "(0, 1)")
    truths = SCORES.of_truth.coerce(table[truth], str(truth))
    scores = coerce_scores(table[estimate], estimate)
    strata = np.zeros(len(table), object)
    if by is not None:
        strata = table[by].astype(object).where(table[by].notna(), "missing").to_numpy(object)
    runs: dict[object, list[tuple[int, int, Floats]]] = {}
    for rows, pairs in batches(truths, scores):
        candidate_set = chosen_candidates(cast(ScorePairs, pairs), universe=universe)
        for at, row in enumerate(rows.tolist()):
            n, k = int(candidate_set.size[at]), int(candidate_set.n_true[at])
            if 0 < k < n:
                path = _path(candidate_set.keys[at, :n], candidate_set.labels[at, :n])
                runs.setdefault(strata[row], []).append((n, k, path))
    if not runs:
        raise ValueError("no run has true candidates and others, so that there is no curve")
    without = [stratum for stratum in dict.fromkeys(strata.tolist()) if stratum not in runs]
    if without:
        raise ValueError(
            f"no run of {by} = {shown(without[0])} has true candidates and others, so that it has no curve; leave its "
            "rows out"
        )
    return pd.concat([_points(stratum, some, kind, level) for stratum, some in runs.items()], ignore_index=True)


def _path(keys: Floats, labels: NDArray[np.bool_]) -> Floats:
    """Return the mean number of true ones among the first 0, 1, ..., N candidates, over random orders of ties."""
    order = np.argsort(-keys, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(keys[order])) + 1, len(keys))
    above = np.cumsum(labels[order])[ends - 1]
    return np.interp(np.arange(len(keys) + 1), np.append(0, ends), np.append(0, above))


def _points(stratum: object, runs: list[tuple[int, int, Floats]], kind: str, level: float) -> pd.DataFrame:
    """Return the points of one stratum."""
    depths = np.linspace(0, 1, _POINTS)
    total, true = sum(n for n, _, _ in runs), sum(k for _, k, _ in runs)
    taken = np.array([[round(depth * n) for n, _, _ in runs] for depth in depths.tolist()])
    right = np.array([sum(path[m] for m, (_, _, path) in zip(row, runs, strict=True)) for row in taken.tolist()])
    limits = np.array([_limits(row, runs, level) for row in taken.tolist()])
    n = taken.sum(axis=1).astype(np.float64)

    def place(a: Floats) -> tuple[Floats, Floats]:
        if kind == "roc":
            return (n - a) / (total - true), a / true
        return a / true, np.divide(a, n, out=np.full(len(n), np.nan), where=n > 0)

    (x, y), (low_x, low_y), (high_x, high_y) = (place(a) for a in (right, limits[:, 0], limits[:, 1]))
    columns = {"depth": depths, "x": x, "y": y, "low_x": low_x, "low_y": low_y, "high_x": high_x, "high_y": high_y}
    return pd.DataFrame({"stratum": [stratum] * len(depths), **columns})


def _limits(taken: list[int], runs: list[tuple[int, int, Floats]], level: float) -> tuple[float, float]:
    """Return quantiles of the number of true ones among those taken of all runs, scores shuffled in each."""
    law, least = np.ones(1), 0
    for m, (n, k, _) in zip(taken, runs, strict=True):
        counts, chances = hypergeometric_law(n, k, m)
        law, least = np.convolve(law, chances), least + int(counts[0])
    low, high = _quantiles(law, level)
    return least + low, least + high


def _quantiles(law: Floats, level: float) -> tuple[float, float]:
    """Return the limits of the middle part of a law of 0, 1, 2, ..."""
    tail = (1 - level) / 2
    low, high = (int(np.argmax(np.cumsum(law) >= q - 1e-12)) for q in (tail, 1 - tail))
    return float(low), float(high)


@figure(
    "ROC or precision-recall curves by stratum, with the band of shuffled scores",
    of="table",
    field="scores",
    concludes="at which depth scores rank true edges above others more than shuffled scores do",
)
def curves(
    table: pd.DataFrame,
    kind: str = "roc",
    *,
    by: Hashable | None = None,
    truth: Hashable = "truth",
    estimate: Hashable = "estimate",
    level: float = 0.95,
    universe: str | None = None,
    ax: Axes | None = None,
    caption: bool = True,
) -> Axes:
    """Draw ROC or precision-recall curves by stratum, with the exact band of shuffled scores.

    Within ties the line is a mean over random orders and the band that of one order, so that it is wider than needed.
    Weights of random DAGs vary more than shuffled scores: test these by `with_controls`, whose default relabels them.
    `ce.edge_scores.curve_points` returns the numbers, and has the parameters.

    Parameters
    ----------
    table : DataFrame
        One run per row.
    kind, by, truth, estimate, level, universe
        As in `curve_points`.

    Returns
    -------
    Axes
        A line per stratum and its band, which strata of the same truths share.

    Raises
    ------
    ValueError
        As `curve_points`.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> scores = ce.score_column([[[0, 3, 1], [0, 0, 2], [0, 0, 0]]], encoding="row->column")
    >>> axes = ce.plot.curves(pd.DataFrame({"truth": ["0 -> 1; 2 -> 1"], "estimate": scores}), "precision_recall")
    >>> axes.get_xlabel()
    'recall'
    """
    points = curve_points(table, kind, by=by, truth=truth, estimate=estimate, level=level, universe=universe)
    axes = place_to_draw(ax, 5.0, 4.6)
    strata = list(dict.fromkeys(points["stratum"]))
    shades = dict(zip(strata, colours(len(strata)), strict=True))
    # strata of the same truths share a band, whatever their scores
    of_band: dict[bytes, list[object]] = {}
    for stratum in strata:
        some = points[points["stratum"] == stratum]
        axes.plot(some["x"], some["y"], color=shades[stratum], label=None if by is None else str(stratum))
        limits = some[["low_x", "low_y"]].to_numpy(), some[["high_x", "high_y"]].to_numpy()[::-1]
        of_band.setdefault(np.concatenate(limits).tobytes(), []).append(stratum)
    for corners, sharing in of_band.items():
        band = np.frombuffer(corners).reshape(-1, 2)
        band = band[~np.isnan(band).any(axis=1)]
        colour = shades[sharing[0]] if len(sharing) == 1 else tone(0.5, axes)
        axes.fill(band[:, 0], band[:, 1], color=colour, alpha=opacity(0.18), linewidth=0)
    x, y = ("false positive rate", "true positive rate") if kind == "roc" else ("recall", "precision")
    axes.set(xlabel=x, ylabel=y, xlim=(0, 1), ylim=(0, 1.02))
    if by is not None:
        legend_of(axes, list(axes.lines), str(by), own=ax is None)
    if caption:
        grey = "; a grey band is that of several lines" if len(of_band) < len(strata) else ""
        words = (
            "Lines: edges are the largest scores, equally many in every run, ties in random order; bands: where "
            f"{100 * level:g} % of the lines of shuffled scores lie at a number of edges (exact; wider within ties"
            f"{grey}); a line outside its band ranks true edges better, or worse, than shuffled scores."
        )
        write_caption(axes, ax is None, words)
    return axes


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
        One run per row.
    truth, estimate : hashable
        Names of the columns of graphs and of probabilities.
    bins, strategy, universe
        As in `calibration_error`.
    level : float
        Probability of the band of a bin.

    Returns
    -------
    DataFrame
        One row per bin with candidates: `mean_probability`, `share_true`, `n_candidates`, and `low` and `high`, between
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
        low, high = _share_limits(q[mine], level)
        rows.append([q[mine].mean(), y[mine].mean(), int(mine.sum()), low, high])
    return pd.DataFrame(rows, columns=["mean_probability", "share_true", "n_candidates", "low", "high"])


def _candidates(
    table: pd.DataFrame, truth: Hashable, estimate: Hashable, universe: str | None
) -> tuple[Floats, NDArray[np.float64]]:
    """Return the probabilities of all candidates of all rows, and which are true."""
    truths = SCORES.of_truth.coerce(table[truth], str(truth))
    parts: list[tuple[Floats, Floats]] = [(np.empty(0), np.empty(0))]
    for rows, aligned in batches(truths, coerce_scores(table[estimate], estimate)):
        pairs = cast(ScorePairs, aligned)
        wrong = brier.refused(pairs)
        if wrong.any():
            at = int(wrong.argmax())
            raise ValueError(f"row {int(rows[at])}: calibration is of probabilities, but {pairs.describe(at)}")
        known, q, y = forecasts(pairs, universe, "both")
        parts.append((q[known], y[known]))
    return np.concatenate([q for q, _ in parts]), np.concatenate([y for _, y in parts])


def _share_limits(q: Floats, level: float) -> tuple[float, float]:
    """Return the quantiles of the share of true candidates with these probabilities, drawn independently."""
    n = len(q)
    if n > _MOST_EXACT:
        from scipy.special import ndtri

        half = float(-ndtri((1 - level) / 2) * np.sqrt((q * (1 - q)).sum()) / n)
        return max(0.0, float(q.mean()) - half), min(1.0, float(q.mean()) + half)
    law = np.ones(1)
    for chance in q.tolist():
        law = np.convolve(law, [1 - chance, chance])
    low, high = _quantiles(law, level)
    return low / n, high / n


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
    caption: bool = True,
) -> Axes:
    """Draw the share of true edges over the mean probability by bin, with the number of candidates of each.

    `ce.edge_scores.calibration_points` returns the numbers, and has the parameters.

    Parameters
    ----------
    table : DataFrame
        One run per row.
    truth, estimate, bins, strategy, level, universe
        As in `calibration_points`.

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
    axes.plot([0, 1], [0, 1], color=tone(0.4, axes), linewidth=1, zorder=1)
    shade = colours(1)[0]
    axes.vlines(points["mean_probability"], points["low"], points["high"], color=shade, alpha=opacity(0.3), linewidth=7)
    axes.plot(points["mean_probability"], points["share_true"], "o-", color=shade, zorder=3)
    for x, n in zip(points["mean_probability"], points["n_candidates"], strict=True):
        axes.annotate(f"{n:,}", (x, -0.11), ha="center", size="x-small", color=tone(0.6, axes))
    axes.set(xlabel="probability of the edge", ylabel="share of true edges", xlim=(-0.03, 1.03), ylim=(-0.14, 1.04))
    outside = int(((points["share_true"] < points["low"]) | (points["share_true"] > points["high"])).sum())
    rows = "one row" if len(table) == 1 else f"all {len(table)} rows"
    law = "exact" if points["n_candidates"].max() <= _MOST_EXACT else "exact, normal in bins of more than 5,000"
    if caption:
        words = (
            f"Points: bins of candidates of {rows}, with their number at the foot; bars: where {100 * level:g} % of "
            f"the points lie if probabilities are right and candidates independent ({law}); outside, probabilities "
            f"are too small or too large: {outside} of {len(points)} bins."
        )
        write_caption(axes, ax is None, words)
    return axes
