"""A metric along a numeric stratum, such as the number of observations, beside its controls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.checks import check_choice
from ..contract.figure import figure
from ..cubes.lazy_tables import computed
from ..cubes.reading import has_controls
from ..cubes.summary import summary
from ..drawing import LETTER, caption, colours, inches, legend_of, place_to_draw, tone, upright_room, wrapped_label
from ..statistics.stratum_statistic import Statistic
from .facets import (
    MARKERS,
    check_use,
    cube_caption,
    drawn_cube,
    fill_uses,
    left_out,
    level_words,
    metric_label,
    with_levels,
    without_interval,
)
from .strata import describe_means

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["trend"]

#: most levels by colour whose controls have a band each
_MOST_BANDS = 3
#: most levels by colour whose lines have intervals
_MOST_INTERVALS = 10
_LINES = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)))


@figure(
    "mean of the runs and of their controls along a numeric stratum",
    of="cube",
    concludes="whether a metric improves along the axis, and from where on it is better than guessing",
)
def trend(
    cube: xr.Dataset,
    metric: str,
    *,
    x: str | None = None,
    hue: str | None = None,
    scale: Literal["log", "linear"] = "log",
    level: float = 0.95,
    interval: Literal["mean_ci", "quantile"] = "mean_ci",
    statistic: Statistic = "mean",
    ax: Axes | None = None,
) -> Axes:
    """Draw a metric along a numeric stratum as lines with intervals, and behind them the bands of the controls.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`; without controls there are no bands.
    metric : str
        One of its metrics.
    x : str, optional
        Stratum along the x axis, whose levels are numbers, such as the number of observations; default the last one.
    hue : str, optional
        Stratum by colour; further strata must have one level. If neither is named, another stratum of several levels.
    scale : {"log", "linear"}
        Scale of the x axis.
    level, interval, statistic
        As in `summary`.
    ax : Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        Filled points are strata that are better than their controls: the one-sided p-value of `test_controls` is at
        most .05. With more than three levels of `hue`, one band covers the intervals of the controls of all; with more
        than ten, the lines have no intervals. Lines have a gap where no mean is defined, and the caption names these
        strata.

    Raises
    ------
    ValueError
        If a metric or stratum is unknown or used twice, another stratum has more than one level, the levels of `x` are
        no numbers, or `scale` is "log" and one of them is not positive.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("density == 0.2")
    >>> cube = runs.ceval.cube(["shd"], by=["algorithm", "n"], n_draws=50, rng=7)
    >>> ax = ce.plot.trend(cube, "shd", x="n", hue="algorithm")
    >>> ax.get_xscale(), [tick.get_text() for tick in ax.get_xticklabels()]
    ('log', ['100', '400', '1600'])
    """
    check_choice(scale, ("log", "linear"), "scale")
    cube = drawn_cube(cube, metric)
    uses = fill_uses(cube, {"x": x, "hue": hue}, needed=["x"])
    x, hue = uses["x"], uses.get("hue")
    check_use(cube, metric, {"x": x, "hue": hue}, alone=True)
    levels = _numbers(cube, x, scale)
    cube = cube.isel({x: np.argsort(levels, kind="stable")})
    levels = np.sort(levels)
    table = with_levels(cube, computed(summary(cube, metric, level=level, interval=interval, statistic=statistic)))
    n_hue = 1 if hue is None else cube.sizes[hue]
    own = ax is None
    ax = place_to_draw(ax, 5.4, 3.8)
    shades = colours(n_hue)
    ax.set_xscale(scale)
    _set_limits(ax, levels, scale)
    parts = [_along_x(cube, table if hue is None else table[table[hue].cat.codes == h], x) for h in range(n_hue)]
    if has_controls(cube):
        _draw_controls(ax, levels, parts, shades)
    for h, (part, shade) in enumerate(zip(parts, shades, strict=True)):
        at = _beside(levels, h, n_hue, scale)
        if n_hue <= _MOST_INTERVALS:
            ax.vlines(at, part["low"], part["high"], color=shade, lw=1.4, gid="intervals")
        _draw_line(ax, at, part, shade, h, opened=has_controls(cube))
    _name_numbers(ax, levels, level_words(cube, x), scale)
    ax.set(xlabel=x)
    ax.set_ylabel(wrapped_label(metric_label(cube, metric), upright_room(ax, own)))
    legend_of(ax, _handles(cube, hue, shades), hue or "", own=own)
    text = describe_means(cube, level, interval, statistic)
    if n_hue > _MOST_INTERVALS:
        text[0] = "Points: mean of the runs; too many lines to draw intervals"
    else:
        text[0] = "; ".join([text[0], *without_interval(table, "mean", "low")])
    if has_controls(cube):
        text[-1] += f", {int((table['p_value'] <= 0.05).sum())} of {len(table)} strata"
        if n_hue > _MOST_BANDS:
            text[1] += f" (band: over all levels of {hue})"
        # controls of runs without a value are missing with them
        gone = [words for words in left_out(cube, table, "control_mean") if words.startswith("infinite")]
        text += [f"mean of the controls {words}" for words in gone]
    caption(ax, own, cube_caption(cube, [*text, *left_out(cube, table, "mean")]))
    return ax


def _numbers(cube: xr.Dataset, x: str, scale: str) -> NDArray[np.float64]:
    """Return the levels of a stratum as numbers, or refuse them."""
    levels = cube[x].to_numpy()
    if levels.dtype.kind not in "iuf":
        raise ValueError(
            f"the levels of {x!r} are not numbers, such as {levels.tolist()[0]!r}; choose a numeric stratum as x, or "
            "draw levels by plot.strata"
        )
    if scale == "log" and (levels <= 0).any():
        raise ValueError(f"{x!r} has the level {levels.min():g}, which has no place on a log axis; use scale='linear'")
    return levels.astype(np.float64)


def _set_limits(ax: Axes, levels: NDArray[np.float64], scale: str) -> None:
    """Set limits of the axis about the levels, before anything is drawn: one level alone has no width of its own."""
    low, high = levels[0], levels[-1]
    if scale == "log":
        room = (high / low) ** 0.06 if high > low else 2.0
        ax.set_xlim(low / room, high * room)
    else:
        room = 0.06 * (high - low) or 1.0
        ax.set_xlim(low - room, high + room)


def _along_x(cube: xr.Dataset, part: pd.DataFrame, x: str) -> pd.DataFrame:
    """Return the means and intervals of a line at every level of x, missing where none is finite."""
    columns = ["mean", "low", "high", "control_mean", "control_low", "control_high", "p_value"]
    found = part.set_index(part[x].cat.codes)[columns].astype(np.float64).reindex(range(cube.sizes[x]))
    return found.where(np.isfinite(found))


def _beside(levels: NDArray[np.float64], h: int, n: int, scale: str) -> NDArray[np.float64]:
    """Return places beside each other of the points of several lines, within a fortieth of the axis."""
    step = (h - (n - 1) / 2) * min(0.012, 0.05 / n)
    if scale == "log":
        return np.asarray(levels * (levels[-1] / levels[0]) ** step)
    return np.asarray(levels + (levels[-1] - levels[0]) * step)


def _draw_controls(ax: Axes, at: NDArray[np.float64], parts: list[pd.DataFrame], shades: list[Any]) -> None:
    """Draw means of controls as dashes and their intervals as bands, one band where there are many lines."""
    if len(parts) <= _MOST_BANDS:
        for part, shade in zip(parts, shades, strict=True):
            _draw_band(ax, at, part, shade)
        return
    limits = [pd.concat([part[name] for part in parts], axis=1) for name in ("control_low", "control_high")]
    every = pd.DataFrame({"control_low": limits[0].min(axis=1), "control_high": limits[1].max(axis=1)})
    _draw_band(ax, at, every, tone(0.6, ax))
    for part, shade in zip(parts, shades, strict=True):
        ax.plot(at, part["control_mean"], color=shade, lw=0.9, ls="--", alpha=0.7)


def _draw_band(ax: Axes, at: NDArray[np.float64], part: pd.DataFrame, shade: Any) -> None:
    """Draw a band, as wide as a point where its neighbours are missing."""
    low, high = part["control_low"].to_numpy(), part["control_high"].to_numpy()
    ax.fill_between(at, low, high, color=shade, alpha=0.18, linewidth=0, gid="band")
    gone = np.isnan(np.r_[np.nan, low, np.nan])
    alone = ~gone[1:-1] & gone[:-2] & gone[2:]
    ax.vlines(at[alone], low[alone], high[alone], color=shade, alpha=0.18, lw=9)
    if "control_mean" in part:
        ax.plot(at, part["control_mean"], color=shade, lw=1.0, ls="--", alpha=0.8, gid="control means")


def _draw_line(ax: Axes, at: NDArray[np.float64], part: pd.DataFrame, shade: Any, h: int, *, opened: bool) -> None:
    """Draw the means of a line; with `opened`, points are open unless better than controls."""
    mean, marker = part["mean"].to_numpy(), MARKERS[h % len(MARKERS)]
    ax.plot(at, mean, color=shade, lw=1.5, ls=_LINES[h // len(MARKERS) % len(_LINES)], marker=marker, ms=5, gid="means")
    if opened:
        # drawn over the filled points, so that these stay one line a level
        open_ = ~(part["p_value"].to_numpy() <= 0.05)
        style: dict[str, Any] = {"mfc": ax.get_facecolor(), "ms": 5, "gid": "open", "zorder": 3}
        ax.plot(at[open_], mean[open_], marker, color=shade, **style)


def _name_numbers(ax: Axes, at: NDArray[np.float64], words: list[str], scale: str) -> None:
    """Set ticks at the levels, and name those that have room."""
    places = np.log(at) if scale == "log" else at
    span = float(places[-1] - places[0]) or 1.0
    least = LETTER * (1 + max(map(len, words))) / (0.8 * inches(ax))
    named, last = [], -np.inf
    for place, word in zip((places - places[0]) / span, words, strict=True):
        # a level without room keeps its tick
        named.append(word if place - last >= least else "")
        last = place if named[-1] else last
    ax.set_xticks(at, named)
    ax.set_xticks([], minor=True)


def _handles(cube: xr.Dataset, hue: str | None, shades: list[Any]) -> list[Any]:
    """Return the entries of the legend: levels by colour, then the meaning of points and bands."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    for h, word in enumerate([] if hue is None else level_words(cube, hue)):
        style = _LINES[h // len(MARKERS) % len(_LINES)]
        handles.append(Line2D([], [], color=shades[h], marker=MARKERS[h % len(MARKERS)], ms=5, ls=style, label=word))
    grey = tone(0.7) if hue is not None else shades[0]
    if not has_controls(cube):
        return handles
    handles.append(Line2D([], [], color=grey, marker="o", ls="", ms=5, label="p at most .05"))
    handles.append(Line2D([], [], color=grey, marker="o", ls="", ms=5, mfc="none", label="p above .05 or no test"))
    return [*handles, Patch(facecolor=grey, alpha=0.25, label="controls")]
