"""Skill along a stratum, or runs beside their controls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.checks import check_choice, counted
from ..contract.figure import figure
from ..cubes.reading import has_controls
from ..cubes.stratum_tests import guessing_limits
from ..cubes.summary import full_summary
from ..cubes.summary_columns import Settings
from ..cubes.weights import weighted
from ..drawing import LETTER, caption_figure, colours, name_ticks, opacity, tone, wrapped_label
from ..statistics.stratum_statistic import STATISTICS, Statistic
from ..statistics.words import BETTER, CORRECTIONS, MINUS
from . import facets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from seaborn import FacetGrid

__all__ = ["strata"]

#: width of a facet whose levels are side by side, at most, and of one whose levels are numbers on a scale, in inches
_WIDEST, _SCALE = 12.0, 4.2
#: least skill on the axis: a single disaster would leave no room for the rest
_LEAST_SKILL = -1.0
#: columns of a summary that are drawn as points and their intervals
_DRAWN = {"skill": ["skill", "skill_low", "skill_high"], "raw": ["mean", "low", "high"]}
_CONTROLS = ["control_mean", "control_low", "control_high"]


@figure(
    "skill by stratum, or means of runs and controls",
    of="cube",
    concludes="which strata are better than their controls",
)
def strata(  # noqa: PLR0915
    cube: xr.Dataset,
    metric: str,
    *,
    x: str | None = None,
    hue: str | None = None,
    col: str | None = None,
    row: str | None = None,
    values: Literal["skill", "raw"] = "skill",
    scale: Literal["log", "linear"] | None = None,
    level: float = 0.95,
    statistic: Statistic = "mean",
    adjust: str | None = None,
    height: float = facets.HEIGHT,
    aspect: float | None = None,
    caption: bool = True,
) -> FacetGrid:
    """Draw the skill of every stratum with its interval: 0 is guessing, 1 is perfect.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`.
    metric : str
        One of its metrics.
    x : str, optional
        Stratum along the x axis, its levels in the cube's order; default the last one whose levels are numbers, else
        the first one.
    hue, col, row : str, optional
        Strata by colour, and by column and row of the grid. Further dimensions of a metric are strata here. If neither
        these nor `x` are named, strata of several levels take these places in the cube's order.
    values : {"skill", "raw"}
        "raw" draws the mean of the runs in the metric's own unit and, behind it, the mean and the band of the controls:
        a mean has a p of at most 1 - `level` beyond the band, and its bar is clear of the controls' mean where the
        interval of `effect` is clear of 0. So does "skill" where no stratum has one: without controls, or for a metric
        without an optimum. Skills below -1 are marked at the edge.
    scale : {"log", "linear"}, optional
        Scale of the x axis, on which the levels of `x` are numbers, such as the number of observations; lines join the
        points. Default is none, levels side by side.
    level : float
        Probability of intervals and bands.
    statistic : {"mean", "rank"}
        What is tested, as in `summary`.
    adjust : str, optional
        Method that adjusts the p-values, as in `summary`.
    height, aspect : float
        Height of a facet in inches, and its width as a multiple of that; default as wide as the levels need.

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
    'skill of structural Hamming distance'
    >>> grid = ce.plot.strata(found, "shd", x="algorithm", values="raw", height=2, caption=False)
    >>> " ".join(grid.ax.get_ylabel().split())
    'structural Hamming distance (lower is better)'
    >>> cube = ce.datasets.runs().query("density == 0.2").ceval.cube(["shd"], by=["algorithm", "n"], n_draws=50, rng=7)
    >>> grid = cube.ceval.plot.strata("shd", x="n", hue="algorithm", scale="log")
    >>> [tick.get_text() for tick in grid.ax.get_xticklabels()]
    ['100', '400', '1600']
    """
    check_choice(scale, ("log", "linear", None), "scale")
    check_choice(values, ("skill", "raw"), "values")
    check_choice(statistic, STATISTICS, "statistic")
    cube = facets.drawn_cube(cube, metric)
    x, hue, col, row = facets.strata_names(x, hue, col, row)
    uses = facets.fill_uses(cube, {"x": x, "hue": hue, "col": col, "row": row})
    x, hue, col, row = uses["x"], uses.get("hue"), uses.get("col"), uses.get("row")
    facets.check_use(cube, metric, {"x": x, "hue": hue, "col": col, "row": row}, alone=True)
    n_x, n_hue = cube.sizes[x], 1 if hue is None else cube.sizes[hue]
    places = np.arange(n_x, dtype=np.float64)
    if scale is not None:
        places = _numbers(cube, x, scale)
        cube, places = cube.isel({x: np.argsort(places, kind="stable")}), np.sort(places)
    how = Settings(statistic, adjust, level=level, interval="mean_ci")
    table = facets.with_levels(cube, _with_limits(cube, metric, full_summary(cube, metric, how), level))
    skilled = values == "skill" and bool(np.isfinite(table["skill"].to_numpy(np.float64, na_value=np.nan)).any())
    drawn = _DRAWN["skill" if skilled else "raw"]
    joined = scale is not None or (skilled and cube[x].dtype.kind in "iuf")
    slot = min(0.1, 0.5 / n_hue) if joined else 0.8 / n_hue
    if scale is not None:
        slot = min(0.012, 0.05 / n_hue) * (places[-1] - places[0])
    width = _width(cube, x, n_hue, scale) if aspect is None else aspect * height
    grid = facets.facet_grid(cube, table, col, row, width, height)
    shades, opened = colours(n_hue), has_controls(cube)
    below, empty, shown = 0.0, [], [*drawn, *_CONTROLS, "verdict"]
    for ax, data in facets.panels(grid):
        for h in range(n_hue):
            part = data if hue is None else data[data[hue].cat.codes == h]
            # strata without runs are gaps
            part = part.set_index(part[x].cat.codes)[shown].reindex(range(n_x))
            at, marker = places + (h - (n_hue - 1) / 2) * slot, facets.MARKERS[h % len(facets.MARKERS)]
            points = part[drawn].to_numpy(np.float64, na_value=np.nan).T
            points = _cut_skills(ax, at, points, shades[h]) if skilled else points
            if not skilled and scale is None:
                _draw_controls(ax, at, part, slot, shades[h])
            elif not skilled:
                _draw_band(ax, places, part, shades[h])
            if joined:
                ax.plot(at, points[0], color=shades[h], lw=1.2, gid="line")
            _draw_points(ax, at, points, shades[h], marker, (part["verdict"] != BETTER).to_numpy() if opened else None)
        ax.margins(y=0.06)
        if scale is None:
            ax.set_xlim(-0.6, n_x - 0.4)
            below = name_ticks(ax, "x", facets.level_words(cube, x), width - 0.8)
        else:
            _name_numbers(ax, places, facets.level_words(cube, x), width - 0.8)
        if not np.isfinite(data[drawn[0]].to_numpy(np.float64, na_value=np.nan)).any():
            empty.append(ax)
    if skilled:
        _draw_guessing(grid)
    facets.mark_empty(empty, grid, "y")
    grid.figure.set_figheight(grid.figure.get_figheight() + below)
    skill = f"skill of {cube[metric].attrs.get('long_name', metric)}"
    label = skill if skilled else facets.metric_label(cube, metric)
    grid.set_axis_labels(x, wrapped_label(label, height - 0.6))
    n_open = int((opened & (table["verdict"] != BETTER) & table[drawn[0]].notna()).sum())
    facets.legend_right(cube, grid, hue, shades, points=True, n_open=n_open, controls=not skilled)
    if caption:
        parts = [*_described(cube, table, how, skilled), *(_beyond(table) if skilled else [])]
        parts += [*facets.weighted_words(cube), *_without_bar(table[drawn])]
        parts += facets.left_out(cube, table, drawn[0])
        caption_figure(grid.figure, facets.cube_caption(cube, parts))
    return grid


def _with_limits(cube: xr.Dataset, metric: str, table: pd.DataFrame, level: float) -> pd.DataFrame:
    """Replace the limits of means by those that the verdict rests on, which are paired with each run's own controls."""
    if not has_controls(cube, metric) or str(cube[metric].attrs["direction"]) not in ("minimize", "maximize"):
        return table
    of_controls = table["control_mean"]
    low, high = guessing_limits(weighted(cube, metric), metric, 1 - level)
    return table.assign(
        low=of_controls + table["ci_low"],
        high=of_controls + table["ci_high"],
        control_low=table["mean"] - low,
        control_high=table["mean"] - high,
    )


def _width(cube: xr.Dataset, x: str, n_hue: int, scale: str | None) -> float:
    """Return the width of a facet, as its levels need."""
    if scale is not None:
        return _SCALE
    longest = facets.longest_word(facets.level_words(cube, x), 1.0)
    return min(_WIDEST, max(3.0, 0.8 + cube.sizes[x] * max(0.2 * (n_hue + 1), longest)))


def _cut_skills(ax: Axes, at: NDArray[Any], points: NDArray[np.float64], shade: Any) -> NDArray[np.float64]:
    """Mark skills below the axis by triangles at its edge, and return points and limits without what lies below."""
    skill, low, high = points
    below = (skill < _LEAST_SKILL) & np.isfinite(skill)
    if below.any():
        edge = {"ls": "", "color": shade, "markerfacecolor": ax.get_facecolor(), "markersize": 6, "clip_on": False}
        ax.plot(at[below], np.full(int(below.sum()), _LEAST_SKILL), marker="v", gid="below", zorder=3, **edge)
    low, high = np.maximum(low, _LEAST_SKILL), np.where(high < _LEAST_SKILL, np.nan, high)
    return np.array([np.where(below, np.nan, skill), low, high])


def _beyond(table: pd.DataFrame) -> list[str]:
    """Describe skills and bars that lie below the axis, and bars of filled points that hold 0, for a caption."""
    skills, low, high = table[_DRAWN["skill"]].to_numpy(np.float64, na_value=np.nan).T
    below = skills[(skills < _LEAST_SKILL) & np.isfinite(skills)]
    words = []
    if len(below):
        words.append(f"triangles: {counted(len(below), 'skill')} below {_LEAST_SKILL:g}, the least {below.min():.2g}")
    if ((low < _LEAST_SKILL) & (high >= _LEAST_SKILL)).any():
        words.append(f"bars that reach below {_LEAST_SKILL:g} end there")
    if ((table["verdict"] == BETTER) & (low <= 0)).any():
        words.append("bars of filled points may hold 0: the test asks about the effect, a bar shows skill")
    return [word.replace("-", MINUS) for word in words]


def _without_bar(drawn: pd.DataFrame) -> list[str]:
    """Describe points whose interval is not defined, for a caption."""
    value, low, high = drawn.to_numpy(np.float64, na_value=np.nan).T
    lacking = int((np.isfinite(value) & (np.isnan(low) | np.isnan(high))).sum())
    return [f"{counted(lacking, 'point')} without bar: interval not defined"] if lacking else []


def _draw_guessing(grid: FacetGrid) -> None:
    """Draw the line of guessing, and name it and perfection on the axis of skill."""
    from matplotlib.ticker import MultipleLocator

    axes = [ax for ax, _ in facets.panels(grid)]
    low, high = axes[0].get_ylim()
    low, high = max(min(low, -0.1), _LEAST_SKILL - 0.06), max(high, 1.06)
    names = {0.0: "guessing  0", 1.0: "perfect  1"}
    for ax in axes:
        ax.axhline(0, color=tone(0.6, ax), lw=1.0, ls="--", zorder=0.5, gid="guessing")
        ax.set_ylim(low, high)
        if high - low < 3:
            ax.yaxis.set_major_locator(MultipleLocator(0.5))
        ax.yaxis.set_major_formatter(lambda skill, _: names.get(round(skill, 9), f"{skill:g}".replace("-", MINUS)))


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
    ax.fill_between(at, low, high, color=shade, alpha=opacity(0.18), linewidth=0, gid="band")
    gap = np.isnan([np.nan, *low, np.nan])
    alone = gap[:-2] & gap[2:]
    ax.vlines(at[alone], low[alone], high[alone], color=shade, alpha=opacity(0.18), lw=5, gid="lone band")
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
    for patch in ax.bar(at, high - low, slot * 0.86, low, color=shade, alpha=opacity(0.22)):
        patch.set_gid("band")
        patch.sticky_edges.y.clear()  # bands need not begin at 0, and points near their lower end are shown whole
    ax.hlines(mean, at - slot * 0.43, at + slot * 0.43, color=shade, alpha=0.7, linestyle="--", lw=1.2)


def _draw_points(
    ax: Axes, at: NDArray[Any], points: NDArray[np.float64], shade: Any, marker: str, opened: NDArray[np.bool_] | None
) -> None:
    """Draw the value of each stratum and its interval; points of `opened` are hollow."""
    value, low, high = points
    ax.vlines(at, low, high, color=shade, lw=1.6)
    ax.plot(at, value, ls="", marker=marker, color=shade, markersize=5, gid="means")
    # drawn over the filled points, so that these stay one line per hue
    hollow: dict[str, Any] = {"ls": "", "color": shade, "markerfacecolor": ax.get_facecolor(), "markersize": 5}
    if opened is not None:
        ax.plot(at[opened], value[opened], marker=marker, gid="open", **hollow)


def _described(cube: xr.Dataset, table: pd.DataFrame, how: Settings, skilled: bool) -> list[str]:
    """Describe points, lines and bands, for a caption."""
    share, alpha, correction = f"{100 * how.level:.4g} %", f"{1 - how.level:.2g}", CORRECTIONS.get(str(how.adjust))
    if skilled:
        parts = [f"Points and bars: skill and its {share} interval; 0 is as good as guessing, 1 is perfect"]
    else:
        parts = ["Points: mean of the runs"]
    if not has_controls(cube):
        return parts if skilled else [f"Points and bars: mean of the runs and its {share} t interval"]
    if not skilled:
        parts.append(f"bars: {share} interval of their difference from the controls")
        unlike = [*(["by the mean"] * (how.statistic != "mean")), *(["before adjustment"] * (correction is not None))]
        reached = " ".join([f"what guesses reach with p above {alpha}", *unlike])
        parts.append(f"dashes and bands: mean of the controls, and {reached}")
        weak = int(table["p_method"].str.startswith("twice the mean").fillna(False).sum())
        if weak:
            parts.append(f"of {counted(weak, 'point')} p is twice the mean p of runs, a bound that bands do not show")
    adjusted = f"adjusted by {correction}" if correction else "not adjusted"
    parts.append(
        f"filled points: better than controls ({facets.tested_by(cube, how.statistic)}, p at most {alpha}, "
        f"{adjusted}, and the interval of the effect without 0)"
    )
    return parts
