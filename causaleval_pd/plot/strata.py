"""Estimates beside their controls along a stratum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.checks import check_choice
from ..contract.figure import figure
from ..contract.words import BETTER
from ..cubes.reading import has_controls
from ..cubes.summary import full_summary
from ..cubes.summary_columns import Settings
from ..drawing import LETTER, caption_figure, colours, name_ticks, wrapped_label
from ..statistics.stratum_statistic import STATISTICS, Statistic
from . import facets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from seaborn import FacetGrid

__all__ = ["strata"]

#: width of a facet whose levels are side by side, at most, and of one whose levels are numbers on a scale, in inches
_WIDEST, _SCALE = 12.0, 4.2
#: what is drawn of the summary
_DRAWN = ["mean", "low", "high", "control_mean", "control_low", "control_high", "verdict"]


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
    scale: Literal["log", "linear"] | None = None,
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
    scale : {"log", "linear"}, optional
        Scale of the x axis, on which the levels of `x` are numbers, such as the number of observations; lines join the
        means. Default is none, levels side by side.
    level : float
        Probability of intervals and bands.
    interval : {"mean_ci", "quantile"}
        As in `summary`: limits for the mean, or the middle share `level` of the runs and of their controls.
    statistic : {"mean", "rank"}
        What is tested, as in `summary`.

    Returns
    -------
    FacetGrid
        Filled points are strata whose verdict in `summary` is "better". Strata without runs, or with failed runs
        only, stay empty.

    Raises
    ------
    ValueError
        If a metric or stratum is unknown or used twice, another stratum has more than one level, or levels of `x` have
        no place on the scale.

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
    >>> cube = ce.datasets.runs().query("density == 0.2").ceval.cube(["shd"], by=["algorithm", "n"], n_draws=50, rng=7)
    >>> grid = cube.ceval.plot.strata("shd", x="n", hue="algorithm", scale="log")
    >>> [tick.get_text() for tick in grid.ax.get_xticklabels()]
    ['100', '400', '1600']
    """
    check_choice(scale, ("log", "linear", None), "scale")
    check_choice(interval, ("quantile", "mean_ci"), "interval")
    check_choice(statistic, STATISTICS, "statistic")
    cube = facets.drawn_cube(cube, metric)
    uses = facets.fill_uses(cube, {"x": x, "hue": hue, "col": col, "row": row})
    x, hue, col, row = uses["x"], uses.get("hue"), uses.get("col"), uses.get("row")
    facets.check_use(cube, metric, {"x": x, "hue": hue, "col": col, "row": row}, alone=True)
    n_x, n_hue = cube.sizes[x], 1 if hue is None else cube.sizes[hue]
    places, slot = np.arange(n_x, dtype=np.float64), 0.8 / n_hue
    if scale is not None:
        places = _numbers(cube, x, scale)
        cube, places = cube.isel({x: np.argsort(places, kind="stable")}), np.sort(places)
        slot = min(0.012, 0.05 / n_hue) * (places[-1] - places[0])
    table = facets.with_levels(cube, full_summary(cube, metric, Settings(statistic, level=level, interval=interval)))
    longest = facets.longest_word(facets.level_words(cube, x), 1.0)
    width = min(_WIDEST, max(3.0, 0.8 + n_x * max(0.2 * (n_hue + 1), longest))) if scale is None else _SCALE
    grid = facets.facet_grid(cube, table, col, row, width)
    shades = colours(n_hue)
    below, empty = 0.0, []
    for ax, data in facets.panels(grid):
        for h in range(n_hue):
            part = data if hue is None else data[data[hue].cat.codes == h]
            # strata without runs are gaps
            part = part.set_index(part[x].cat.codes)[_DRAWN].reindex(range(n_x))
            at, marker = places + (h - (n_hue - 1) / 2) * slot, facets.MARKERS[h % len(facets.MARKERS)]
            if scale is None:
                _draw_controls(ax, at, part, slot, shades[h])
            else:
                _draw_band(ax, places, part, shades[h])
                ax.plot(at, part["mean"], color=shades[h], lw=1.2, gid="line")
            _draw_means(ax, at, part, shades[h], marker, opened=has_controls(cube))
        ax.margins(y=0.06)
        if scale is None:
            ax.set_xlim(-0.6, n_x - 0.4)
            below = name_ticks(ax, "x", facets.level_words(cube, x), width - 0.8)
        else:
            _name_numbers(ax, places, facets.level_words(cube, x), width - 0.8)
        if data["mean"].isna().all():
            empty.append(ax)
    facets.mark_empty(empty, grid, "y")
    grid.figure.set_figheight(grid.figure.get_figheight() + below)
    grid.set_axis_labels(x, wrapped_label(facets.metric_label(cube, metric), facets.HEIGHT - 0.6))
    facets.legend_right(cube, grid, hue, shades, points=True)
    parts = [*_described(cube, level, interval, statistic), *facets.left_out(cube, table, "mean")]
    caption_figure(grid.figure, facets.cube_caption(cube, parts))
    return grid


def _numbers(cube: xr.Dataset, x: str, scale: str) -> NDArray[np.float64]:
    """Return the places of a stratum's levels on a scale, or refuse them."""
    levels = cube[x].to_numpy()
    if levels.dtype.kind not in "iuf":
        raise ValueError(
            f"the levels of {x!r} are not numbers, such as {levels.tolist()[0]!r}; choose a numeric stratum as x, or "
            "draw levels side by side by scale=None"
        )
    if scale == "log" and (levels <= 0).any():
        raise ValueError(f"{x!r} has the level {levels.min():g}, which has no place on a log axis; use scale='linear'")
    return np.log10(levels) if scale == "log" else levels.astype(np.float64)


def _draw_band(ax: Axes, at: NDArray[np.float64], table: pd.DataFrame, shade: Any) -> None:
    """Draw the mean of the controls along a scale as a dashed line and their interval as a band."""
    low, high = table["control_low"].to_numpy(), table["control_high"].to_numpy()
    ax.fill_between(at, low, high, color=shade, alpha=0.18, linewidth=0, gid="band")
    gap = np.isnan([np.nan, *low, np.nan])
    alone = gap[:-2] & gap[2:]
    ax.vlines(at[alone], low[alone], high[alone], color=shade, alpha=0.18, lw=5, gid="lone band")
    ax.plot(at, table["control_mean"], color=shade, lw=1.0, ls="--", alpha=0.8, gid="control means")


def _name_numbers(ax: Axes, places: NDArray[np.float64], words: list[str], room: float) -> None:
    """Set limits about the places of levels and ticks at them, and name those that have room."""
    span = float(places[-1] - places[0]) or 1.0
    ax.set_xlim(places[0] - 0.06 * span, places[-1] + 0.06 * span)
    least = LETTER * (1 + max(map(len, words))) / room
    named, last = [], -np.inf
    for place, word in zip((places - places[0]) / span, words, strict=True):
        named.append(word if place - last >= least else "")
        last = place if named[-1] else last
    ax.set_xticks(places, named)


def _draw_controls(ax: Axes, at: NDArray[Any], table: pd.DataFrame, slot: float, shade: Any) -> None:
    """Draw the mean of the controls of each stratum as dashes and their interval as a band."""
    mean, low, high = table[["control_mean", "control_low", "control_high"]].to_numpy().T
    for patch in ax.bar(at, high - low, slot * 0.86, low, color=shade, alpha=0.22):
        patch.set_gid("band")
        patch.sticky_edges.y.clear()  # bands need not begin at 0, and points near their lower end are shown whole
    ax.hlines(mean, at - slot * 0.43, at + slot * 0.43, color=shade, alpha=0.7, linestyle="--", lw=1.2)


def _draw_means(ax: Axes, at: NDArray[Any], table: pd.DataFrame, shade: Any, marker: str, *, opened: bool) -> None:
    """Draw the mean and the interval of each stratum; with `opened`, points are open unless better than controls."""
    mean, low, high = table[["mean", "low", "high"]].to_numpy().T
    ax.vlines(at, low, high, color=shade, lw=1.6)
    ax.plot(at, mean, marker, color=shade, markersize=5, gid="means")
    if opened:
        # drawn over the filled points, so that these stay one line per hue
        open_ = (table["verdict"] != BETTER).to_numpy()
        ax.plot(
            at[open_], mean[open_], marker, color=shade, markerfacecolor=ax.get_facecolor(), markersize=5, gid="open"
        )


def _described(cube: xr.Dataset, level: float, interval: str, statistic: str) -> list[str]:
    """Describe points, lines and bands of means, for a caption."""
    share = f"{100 * level:.4g} %"
    of_mean = interval == "mean_ci"
    parts = [
        f"Points and lines: mean of the runs and {f'its {share} t interval' if of_mean else f'their middle {share}'}"
    ]
    if has_controls(cube):
        kind = f"{share} reference interval of that mean" if of_mean else f"their middle {share}"
        parts.append(f"dashes and bands: mean of the controls and {kind}")
        parts.append(
            f"filled points: better than controls ({facets.tested_by(cube, statistic)}, p at most {1 - level:.2g}, "
            "not adjusted, and the interval of the effect without 0)"
        )
    return parts
