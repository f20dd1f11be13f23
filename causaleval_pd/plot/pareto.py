"""Skill against run time or another cost, with the levels that no other one beats in both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.checks import check_choice
from ..contract.figure import figure
from ..cubes.lazy_tables import computed
from ..cubes.reading import cube_metrics, need_controls
from ..cubes.reshaped import read_cube
from ..cubes.summary import summary
from ..drawing import caption, colours, legend_of, place_to_draw, tone, upright_room, wrapped_label
from ..statistics.stratum_statistic import Statistic
from .facets import (
    MARKERS,
    check_use,
    cube_caption,
    drawn_cube,
    left_out,
    level_words,
    tested_by,
    with_levels,
    without_interval,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

__all__ = ["pareto"]

#: smaller skills are drawn at the lower edge
_LEAST = -1.0
#: why neither skill nor cost has a place
_NO_RUNS = ("no runs", "all runs failed")
#: ratio of the ends of a log axis below which it is short
_FEW_DECADES = 100.0
#: points this near each other, in points of print, share their number
_NEAR = 9.0


@figure(
    "skill by run time or another cost",
    of="cube",
    concludes="which levels no other one beats in both skill and cost",
)
def pareto(
    cube: xr.Dataset,
    metric: str,
    cost: str = "seconds",
    *,
    dim: str,
    hue: str | None = None,
    scale: Literal["log", "linear"] = "log",
    level: float = 0.95,
    statistic: Statistic = "mean",
    ax: Axes | None = None,
) -> Axes:
    """Draw skill against run time or another cost, with the front of levels that no other one beats in both.

    Parameters
    ----------
    cube : Dataset
        Made by `cube` with controls.
    metric : str
        One of its metrics.
    cost : str
        A column that the cube carries, such as seconds, whose direction is known: `cube(values={"seconds":
        "minimize"})`. Another metric will do.
    dim : str
        The stratum whose levels are the points.
    hue : str, optional
        Stratum by colour, each of its levels with a front of its own; further strata must have one level.
    scale : {"log", "linear"}
        Scale of the cost.
    level : float
        Probability of the intervals.
    statistic : {"mean", "rank"}
        What is tested, as in `test_controls`.
    ax : Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        Points are mean costs and skills, with the middle share `level` of the costs and the interval of skill. Filled
        points are better than their controls, p at most .05. Skills below -1 are triangles at the lower edge. Points
        have numbers where there are more than ten or some lie together; the legend names them. A failed run that has a
        cost counts with it.

    Raises
    ------
    ValueError
        If a name is unknown or used twice, another stratum has more than one level, the cube has no controls, the
        direction of the cost is not known, or `scale` is "log" and a mean cost is not positive.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("n == 100 and density == 0.2")
    >>> cube = runs.ceval.cube(["shd"], by=["algorithm"], n_draws=50, rng=7, values={"seconds": "minimize"})
    >>> ax = ce.plot.pareto(cube, "shd", "seconds", dim="algorithm")
    >>> ax.get_xlabel(), ax.get_xscale()
    ('seconds (lower is better)', 'log')
    """
    check_choice(scale, ("log", "linear"), "scale")
    need_controls(read_cube(cube), [metric], "for skill")
    cube = drawn_cube(cube, metric)
    check_use(cube, metric, {"dim": dim, "hue": hue}, alone=True)
    aim = _direction(cube, metric, cost)
    both = computed(summary(cube, [metric, cost], level=level, statistic=statistic))
    mine, theirs = (with_levels(cube, both[both["metric"] == name].reset_index(drop=True)) for name in (metric, cost))
    # means and limits are those of the cost
    points = mine.assign(**{name: theirs[name] for name in ("mean", "low", "high")})
    if scale == "log" and (points["mean"] <= 0).any():
        raise ValueError(f"a mean of {cost!r} is not positive, which has no place on a log axis; use scale='linear'")
    own = ax is None
    ax = place_to_draw(ax, 5.0, 3.9)
    ax.set_xscale(scale)
    shades = colours(cube.sizes[hue or dim])
    floor = _floor(points)
    _draw_points(ax, points, dim, hue or dim, shades, floor)
    best = _draw_fronts(ax, points, hue, shades, aim, floor)
    ax.axhline(0, color=tone(0.7, ax), lw=1.0, zorder=0.5)
    ax.set(xlabel=f"{cost} ({'lower' if aim == 'minimize' else 'higher'} is better)", ylim=(floor, 1.06))
    label = f"skill, {cube[metric].attrs.get('long_name', metric)} (0: guessing, 1: perfect)"
    ax.set_ylabel(wrapped_label(label, upright_room(ax, own)))
    if scale == "log":
        _name_short_axis(ax)
    numbered = _number_points(ax, points, dim, floor, always=cube.sizes[dim] > len(MARKERS))
    legend_of(ax, _handles(cube, dim, hue, shades, numbered=numbered), dim if hue is None else "", own=own)
    parts = [f"Points: mean {cost} and skill of the runs; lines: middle {100 * level:.4g} % of {cost}"]
    parts[0] += f" and {100 * level:.4g} % interval of skill"
    parts += [f"skill {words}" for words in without_interval(points, "skill", "skill_low")]
    parts.append(f"filled: better than controls ({tested_by(cube, statistic)}, p at most .05, not adjusted)")
    parts.append(f"front that no other level beats in both: {_names_of(cube, points[best], dim, hue)}")
    if (points["skill"] < _LEAST).any():
        parts.append("triangles at the edge: skill below -1")
    gone = left_out(cube, points, "skill")
    parts += [words if words.startswith(_NO_RUNS) else f"skill {words}" for words in gone]
    parts += [f"{cost} {words}" for words in left_out(cube, points, "mean") if not words.startswith(_NO_RUNS)]
    caption(ax, own, cube_caption(cube, parts))
    return ax


def _direction(cube: xr.Dataset, metric: str, cost: str) -> str:
    """Return which direction of the cost is better, or refuse it."""
    cube_metrics(cube, [cost])
    if cost == metric:
        raise ValueError(f"metric and cost are both {cost!r}; name a column that the cube carries as cost")
    aim = str(cube[cost].attrs["direction"])
    if aim == "zero":
        raise ValueError(
            f"{cost!r} is best at its optimum, and a cost is best at one end; carry its distance from there"
        )
    if aim not in ("minimize", "maximize"):
        raise ValueError(
            f"which direction of {cost!r} is better is not known; make the cube with values={{{cost!r}: 'minimize'}}"
        )
    return aim


def _floor(points: pd.DataFrame) -> float:
    """Return the lower end of the axis of skill."""
    return max(_LEAST, min(0.0, float(points[["skill", "skill_low"]].min().min()))) - 0.06


def _name_short_axis(ax: Axes) -> None:
    """Name 1, 2 and 5 of each decade of a log axis of few decades, which has too few names, or too many, otherwise."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = ax.get_xlim()
    if high < _FEW_DECADES * low:
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())


def _places(points: pd.DataFrame) -> tuple[Floats, Floats]:
    """Return costs and skills, missing where one of them has no place on its axis."""
    cost, skill = points["mean"].to_numpy(np.float64), points["skill"].to_numpy(np.float64)
    gone = ~np.isfinite(cost) | np.isnan(skill)
    return np.where(gone, np.nan, cost), np.where(gone, np.nan, skill)


def _draw_points(ax: Axes, points: pd.DataFrame, dim: str, by: str, shades: list[Any], floor: float) -> None:
    """Draw the points with their intervals, open unless better than controls."""
    costs, skills = _places(points)
    limits = points[["low", "high", "skill_low", "skill_high", "p_value"]].to_numpy(np.float64)
    levels, colour = points[dim].cat.codes.to_numpy(), points[by].cat.codes.to_numpy()
    for i in np.flatnonzero(~np.isnan(costs)):
        cost, skill, (left, right, low, high, p) = costs[i], skills[i], limits[i]
        shade = shades[colour[i]]
        ax.hlines(max(skill, floor), left, right, color=shade, lw=1.0, alpha=0.7)
        ax.vlines(cost, max(low, floor), max(high, floor), color=shade, lw=1.0, alpha=0.7)
        below = skill < _LEAST
        marker = "v" if below else MARKERS[levels[i] % len(MARKERS)]
        face = shade if p <= 0.05 else ax.get_facecolor()
        style: dict[str, Any] = {"color": shade, "mfc": face, "ms": 6, "zorder": 3, "clip_on": not below}
        ax.plot(cost, max(skill, floor), marker, gid="below" if below else "point", **style)


def on_front(cost: Floats, skill: Floats) -> NDArray[np.bool_]:
    """Return which points no other one beats: none is at least as cheap and as skilful, and better in one of both."""
    cheap, good = cost[:, None] <= cost, skill[:, None] >= skill
    strictly = (cost[:, None] < cost) | (skill[:, None] > skill)
    return np.asarray(~np.isnan(cost + skill) & ~(cheap & good & strictly).any(axis=0))


def _draw_fronts(
    ax: Axes, points: pd.DataFrame, hue: str | None, shades: list[Any], aim: str, floor: float
) -> NDArray[np.bool_]:
    """Draw a front, one for each level by colour, and return which points are on one."""
    best = np.zeros(len(points), bool)
    # wide and pale, since intervals lie on it
    style: dict[str, Any] = {"lw": 4.0, "alpha": 0.35, "zorder": 0.8}
    sign = 1.0 if aim == "minimize" else -1.0
    codes = np.zeros(len(points)) if hue is None else points[hue].cat.codes.to_numpy()
    for code in np.unique(codes).astype(int):
        mine = np.flatnonzero(codes == code)
        cost, skill = (values[mine] for values in _places(points))
        front = on_front(sign * cost, skill)
        best[mine[front]] = True
        order = np.argsort(sign * cost[front], kind="stable")
        shade = tone(0.6, ax) if hue is None else shades[code]
        heights = np.maximum(skill[front][order], floor)
        ax.plot(cost[front][order], heights, color=shade, drawstyle="steps-post", gid="front", **style)
    return best


def _number_points(ax: Axes, points: pd.DataFrame, dim: str, floor: float, *, always: bool) -> bool:
    """Write numbers of levels at the points, one text where several lie together, unless markers are enough."""
    costs, skills = _places(points)
    shown = np.flatnonzero(~np.isnan(costs))
    at = np.column_stack([costs, np.maximum(skills, floor)])[shown]
    numbers = points[dim].cat.codes.to_numpy()[shown] + 1
    places = ax.transData.transform(at.reshape(-1, 2))
    figure = ax.figure
    places = places * 72 / (100.0 if figure is None else figure.dpi)
    groups: list[list[int]] = []
    for i, place in enumerate(places):
        near = [group for group in groups if np.abs(places[group[0]] - place).max() < _NEAR]
        near[0].append(i) if near else groups.append([i])
    if not always and len(groups) == len(shown):
        return False
    style: dict[str, Any] = {"textcoords": "offset points", "size": "x-small", "zorder": 4, "gid": "number"}
    for group in groups:
        ax.annotate(", ".join(str(numbers[i]) for i in group), tuple(at[group[0]]), (4, 4), **style)
    return True


def _handles(cube: xr.Dataset, dim: str, hue: str | None, shades: list[Any], *, numbered: bool) -> list[Any]:
    """Return the entries of the legend: levels by marker and number, colours, the front."""
    from matplotlib.lines import Line2D

    handles: list[Any] = []
    for k, word in enumerate(level_words(cube, dim)):
        shade = shades[k] if hue is None else tone(0.7)
        label = f"{k + 1}  {word}" if numbered else word
        handles.append(Line2D([], [], color=shade, marker=MARKERS[k % len(MARKERS)], ls="", ms=6, label=label))
    for k, word in enumerate([] if hue is None else level_words(cube, hue)):
        handles.append(Line2D([], [], color=shades[k], lw=3, label=f"{hue} {word}"))
    grey: dict[str, Any] = {"color": tone(0.6)}
    handles.append(Line2D([], [], marker="o", mfc="none", ls="", ms=6, label="p above .05 or no test", **grey))
    return [*handles, Line2D([], [], lw=4.0, alpha=0.35, label="Pareto front", **grey)]


def _names_of(cube: xr.Dataset, front: pd.DataFrame, dim: str, hue: str | None) -> str:
    """Name the levels on the front, or count them."""
    names = [str(row[dim]) if hue is None else f"{row[dim]} ({row[hue]})" for _, row in front.iterrows()]
    if len(names) > 6:
        return f"{len(names)} of {cube.sizes[dim] * (1 if hue is None else cube.sizes[hue])} points"
    return ", ".join(names) or "none"
