"""Estimates beside their controls along a stratum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.figure import figure
from ..cubes.lazy_tables import computed
from ..cubes.reading import has_controls
from ..cubes.summary import summary
from ..drawing import caption_figure, colours, name_ticks, wrapped_label
from ..statistics.stratum_statistic import Statistic
from .facets import (
    HEIGHT,
    MARKERS,
    check_use,
    cube_caption,
    drawn_cube,
    facet_grid,
    facets,
    fill_uses,
    left_out,
    legend_right,
    level_words,
    longest_word,
    mark_empty,
    metric_label,
    tested_by,
    with_levels,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from seaborn import FacetGrid

__all__ = ["strata"]

#: width of a facet of strata, in inches; more levels share it
_WIDEST = 12.0


@figure(
    "mean of the runs and of their controls by stratum",
    of="cube",
    concludes="which strata are better than their controls",
)
def strata(
    cube: xr.Dataset,
    metric: str,
    *,
    x: str | None = None,
    hue: str | None = None,
    col: str | None = None,
    row: str | None = None,
    level: float = 0.95,
    interval: Literal["mean_ci", "quantile"] = "mean_ci",
    statistic: Statistic = "mean",
) -> FacetGrid:
    """Draw the mean of every stratum with its interval, and behind it the mean and the band of its controls.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`; without controls there are no bands.
    metric : str
        One of its metrics.
    x : str, optional
        Stratum along the x axis, its levels in the cube's order; default the last one whose levels are numbers, else
        the first one.
    hue, col, row : str, optional
        Strata by colour, and by column and row of the grid. Further dimensions of a metric are strata here. If neither
        these nor `x` are named, strata of several levels take these places in the cube's order.
    level : float
        Probability of intervals and bands.
    interval : {"mean_ci", "quantile"}
        As in `summary`: limits for the mean, or the middle share `level` of the runs and of their controls.
    statistic : {"mean", "rank"}
        What is tested, as in `test_controls`.

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
    cube = drawn_cube(cube, metric)
    uses = fill_uses(cube, {"x": x, "hue": hue, "col": col, "row": row}, needed=["x"])
    x, hue, col, row = uses["x"], uses.get("hue"), uses.get("col"), uses.get("row")
    check_use(cube, metric, {"x": x, "hue": hue, "col": col, "row": row}, alone=True)
    found = summary(cube, metric, level=level, interval=interval, statistic=statistic)
    table = with_levels(cube, computed(found))
    n_x, n_hue = cube.sizes[x], 1 if hue is None else cube.sizes[hue]
    width = min(_WIDEST, max(3.0, 0.8 + n_x * max(0.2 * (n_hue + 1), longest_word(cube, x, 1.0))))
    grid = facet_grid(cube, table, col, row, width)
    shades = colours(n_hue)
    slot, below, empty = 0.8 / n_hue, 0.0, []
    for ax, data in facets(grid):
        for h in range(n_hue):
            part = data if hue is None else data[data[hue].cat.codes == h]
            at = part[x].cat.codes.to_numpy(np.float64) + (h - (n_hue - 1) / 2) * slot
            _draw_controls(ax, at, part, slot, shades[h])
            _draw_means(ax, at, part, shades[h], MARKERS[h % len(MARKERS)], opened=has_controls(cube))
        ax.set_xlim(-0.6, n_x - 0.4)
        ax.margins(y=0.06)
        below = name_ticks(ax, "x", level_words(cube, x), width - 0.8)
        if data["mean"].isna().all():
            empty.append(ax)
    mark_empty(empty, grid, "y")
    grid.figure.set_figheight(grid.figure.get_figheight() + below)
    grid.set_axis_labels(x, wrapped_label(metric_label(cube, metric), HEIGHT - 0.6))
    legend_right(cube, grid, hue, shades, points=True)
    parts = [*describe_means(cube, level, interval, statistic), *left_out(cube, table, "mean")]
    caption_figure(grid.figure, cube_caption(cube, parts))
    return grid


def _draw_controls(ax: Axes, at: NDArray[Any], table: pd.DataFrame, slot: float, shade: Any) -> None:
    """Draw the mean of the controls of each stratum as dashes and their interval as a band."""
    mean, low, high = table[["control_mean", "control_low", "control_high"]].to_numpy(np.float64).T
    for patch in ax.bar(at, high - low, slot * 0.86, low, color=shade, alpha=0.22):
        patch.set_gid("band")
        patch.sticky_edges.y.clear()  # bands need not begin at 0, and points near their lower end are shown whole
    ax.hlines(mean, at - slot * 0.43, at + slot * 0.43, color=shade, alpha=0.7, linestyle="--", lw=1.2)


def _draw_means(ax: Axes, at: NDArray[Any], table: pd.DataFrame, shade: Any, marker: str, *, opened: bool) -> None:
    """Draw the mean and the interval of each stratum; with `opened`, points are open unless better than controls."""
    mean, low, high = table[["mean", "low", "high"]].to_numpy(np.float64).T
    ax.vlines(at, low, high, color=shade, lw=1.6)
    ax.plot(at, mean, marker, color=shade, markersize=5, gid="means")
    if opened:
        # drawn over the filled points, so that these stay one line a hue
        open_ = ~(table["p_value"].to_numpy(np.float64) <= 0.05)
        ax.plot(
            at[open_], mean[open_], marker, color=shade, markerfacecolor=ax.get_facecolor(), markersize=5, gid="open"
        )


def describe_means(cube: xr.Dataset, level: float, interval: str, statistic: str) -> list[str]:
    """Describe points, lines and bands of means, for a caption."""
    share = f"{100 * level:.4g} %"
    of_mean = interval == "mean_ci"
    parts = [
        f"Points and lines: mean of the runs and {f'its {share} t interval' if of_mean else f'their middle {share}'}"
    ]
    if has_controls(cube):
        kind = f"{share} reference interval of that mean" if of_mean else f"their middle {share}"
        parts.append(f"dashes and bands: mean of the controls and {kind}")
        parts.append(f"filled points: better than controls ({tested_by(cube, statistic)}, p at most .05, not adjusted)")
    return parts
