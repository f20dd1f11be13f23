"""The figure of ROC and precision-recall curves by stratum, beside those of shuffled scores."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_choice, check_columns, check_number, shown
from ..contract.figure import figure
from ..drawing import caption, colours, legend_of, place_to_draw
from .cells.column import coerce_scores
from .field import SCORES, batches
from .nulls.shuffled_laws import hypergeometric
from .pairs import ScorePairs
from .ranking import chosen_candidates

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["curve_points", "curves"]

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
        One run a row.
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
        A row a stratum and depth: `stratum`, `depth`, `x` and `y` of the curve (false and true positive rate, or recall
        and precision), and `low_x`, `low_y`, `high_x`, `high_y` of the band's limits.

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
        found = chosen_candidates(cast(ScorePairs, pairs), universe=universe)
        for at, row in enumerate(rows.tolist()):
            n, k = int(found.size[at]), int(found.n_true[at])
            if 0 < k < n:
                path = _path(found.keys[at, :n], found.labels[at, :n])
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
    ordered = keys[order]
    ends = np.append(np.flatnonzero(np.diff(ordered)) + 1, len(keys))
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
        counts, chances = hypergeometric(n, k, m)
        law, least = np.convolve(law, chances), least + int(counts[0])
    cumulative = np.cumsum(law)
    tail = (1 - level) / 2
    low, high = (int(np.argmax(cumulative >= q - 1e-12)) for q in (tail, 1 - tail))
    return float(least + low), float(least + high)


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
) -> Axes:
    """Draw ROC or precision-recall curves by stratum, with the exact band of shuffled scores.

    Within ties the line is a mean over random orders and the band that of one order, so that it is wider than needed.
    Weights of random DAGs vary more than shuffled scores: test these by `with_controls`, whose default relabels them.
    `ce.edge_scores.curve_points` returns the numbers.

    Parameters
    ----------
    table : DataFrame
        One run a row.
    kind : {"roc", "precision_recall"}
        Which curve.
    by : hashable, optional
        Column of the strata, a curve each; default one curve.
    truth, estimate : hashable
        Names of the columns of graphs and of scores.
    level : float
        Probability of the band at a depth.
    universe : str, optional
        As in `auroc`.
    ax : Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        A line and a band a stratum.

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
    for colour, stratum in zip(colours(len(strata)), strata, strict=True):
        some = points[points["stratum"] == stratum]
        axes.plot(some["x"], some["y"], color=colour, label=None if by is None else str(stratum))
        limits = [some[["low_x", "low_y"]].to_numpy(), some[["high_x", "high_y"]].to_numpy()[::-1]]
        band = np.concatenate(limits)
        band = band[~np.isnan(band).any(axis=1)]
        axes.fill(band[:, 0], band[:, 1], color=colour, alpha=0.18, linewidth=0)
    x, y = ("false positive rate", "true positive rate") if kind == "roc" else ("recall", "precision")
    axes.set(xlabel=x, ylabel=y, xlim=(0, 1), ylim=(0, 1.02))
    if by is not None:
        legend_of(axes, list(axes.lines), str(by), own=ax is None)
    share = f"{100 * level:g} %"
    caption(
        axes,
        ax is None,
        f"Lines count the largest scores of all runs to the same depth, ties in random order; bands hold {share} of "
        "shuffled scores at a depth (exact; wider within ties); a line outside its band ranks true edges better, or "
        "worse, than shuffled scores.",
    )
    return axes
