"""Estimates beside their controls along a stratum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import xarray as xr

from ..cubes.lazy_tables import computed
from ..cubes.reading import has_controls, null_stratum
from ..cubes.summary import summary
from ..drawing import caption_figure, colours, name_ticks, wrapped_label
from .facets import (
    HEIGHT,
    MARKERS,
    check_use,
    cube_caption,
    facet_grid,
    facets,
    legend_right,
    level_words,
    longest_word,
    metric_label,
    say_empty,
    with_levels,
)

if TYPE_CHECKING:
    from seaborn import FacetGrid

#: width of a facet of strata, in inches; more levels share it
_WIDEST = 12.0


def strata(
    cube: xr.Dataset,
    metric: str,
    *,
    x: str,
    hue: str | None = None,
    col: str | None = None,
    row: str | None = None,
    level: float = 0.95,
    interval: Literal["mean_ci", "quantile"] = "mean_ci",
) -> FacetGrid:
    """Draw the mean of every stratum with its interval, and behind it the mean and the band of its controls.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`; without controls there are no bands.
    metric : str
        One of its metrics.
    x : str
        Stratum along the axis, its levels in the cube's order.
    hue, col, row : str, optional
        Strata by colour, and by column and row of the grid.
    level : float
        Probability of intervals and bands.
    interval : {"mean_ci", "quantile"}
        As in `summary`: limits for the mean, or the middle share `level` of the runs and of their controls.

    Returns
    -------
    FacetGrid
        Filled points are strata that are better than their controls: the one-sided p-value of `test_controls` is at
        most .05. Strata without runs, or with failed runs only, stay empty.

    Raises
    ------
    ValueError
        If a metric or stratum is unknown or used twice, or another stratum has more than one level.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({
    ...     "algorithm": ["x", "x", "y", "y"],
    ...     "truth": ["A -> B; B -> C", "A -> B; C"] * 2,
    ...     "estimate": ["A -> B; B -> C", "A; B; C", "C -> B; A", "A -> B; C"],
    ... })
    >>> found = ce.cube(runs, ["shd"], by=["algorithm"], n_draws=50, rng=7)
    >>> grid = ce.plot.strata(found, "shd", x="algorithm")
    >>> " ".join(grid.ax.get_ylabel().split())
    'structural Hamming distance (lower is better)'
    """
    cube = null_stratum(cube)
    check_use(cube, metric, {"x": x, "hue": hue, "col": col, "row": row}, alone=True)
    table = with_levels(cube, computed(summary(cube, metric, level=level, interval=interval)))
    n_x, n_hue = cube.sizes[x], 1 if hue is None else cube.sizes[hue]
    width = min(_WIDEST, max(3.0, 0.8 + n_x * max(0.2 * (n_hue + 1), longest_word(cube, x, 1.0))))
    grid = facet_grid(cube, table, col, row, width)
    shades = colours(n_hue)
    slot, below, empty = 0.8 / n_hue, 0.0, []
    for ax, data in facets(grid):
        for h in range(n_hue):
            part = data if hue is None else data[data[hue].cat.codes == h]
            at = part[x].cat.codes.to_numpy(np.float64) + (h - (n_hue - 1) / 2) * slot
            ends = part[["mean", "low", "high", "control_mean", "control_low", "control_high"]].to_numpy(np.float64)
            mean, low, high, control, control_low, control_high = ends.T
            band = ax.bar(at, control_high - control_low, slot * 0.86, control_low, color=shades[h], alpha=0.22)
            for patch in band:
                patch.set_gid("band")
            ax.hlines(control, at - slot * 0.43, at + slot * 0.43, color=shades[h], alpha=0.7, linestyle="--", lw=1.2)
            ax.vlines(at, low, high, color=shades[h], lw=1.6)
            marker = MARKERS[h % len(MARKERS)]
            ax.plot(at, mean, marker, color=shades[h], markersize=5, gid="means")
            if has_controls(cube):
                # drawn over the filled points, so that these stay one line a hue
                open_ = ~(part["p_value"].to_numpy(np.float64) <= 0.05)
                style = {"color": shades[h], "markerfacecolor": "white", "markersize": 5, "gid": "open"}
                ax.plot(at[open_], mean[open_], marker, **style)
        ax.set_xlim(-0.6, n_x - 0.4)
        ax.margins(y=0.06)
        below = name_ticks(ax, "x", level_words(cube, x), width - 0.8)
        if data["mean"].isna().all():
            empty.append(ax)
    say_empty(empty, grid, "y")
    grid.figure.set_figheight(grid.figure.get_figheight() + below)
    grid.set_axis_labels(x, wrapped_label(metric_label(cube, metric), HEIGHT - 0.6))
    share = f"{100 * level:.4g} %"
    kind = f"its {share} t interval" if interval == "mean_ci" else f"their middle {share}"
    parts = [f"Points and lines: mean of the runs and {kind}"]
    if has_controls(cube):
        kind = f"{share} reference interval of that mean" if interval == "mean_ci" else f"their middle {share}"
        parts.append(f"dashes and bands: mean of the controls and {kind}")
        parts.append("filled points: better than controls (randomisation test, one-sided, p at most .05)")
    legend_right(cube, grid, hue, shades, points=True)
    caption_figure(grid.figure, cube_caption(cube, parts))
    return grid
