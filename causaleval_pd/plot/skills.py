"""Skill over two strata as a heat map, and skill of several metrics of one stratum as a profile."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..contract.figure import figure
from ..cubes.lazy_tables import computed
from ..cubes.reading import need_controls
from ..cubes.reshaped import read_cube
from ..cubes.summary import summary
from ..drawing import (
    caption,
    colour_bar,
    colour_map,
    inches,
    make_higher,
    name_rows,
    name_ticks,
    place_to_draw,
    rows_height,
    squares_width,
    wrapped_label,
    write_square,
)
from ..statistics.multiplicity import adjust as adjusted
from ..statistics.stratum_statistic import Statistic
from .facets import (
    check_use,
    cube_caption,
    drawn_cube,
    fill_uses,
    left_out,
    level_words,
    longest_word,
    metric_label,
    tested_by,
    with_levels,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["skills"]

#: width of names beside rows of a new figure, at most, and of the plot itself, in inches
_NAMES, _PLOT = 2.8, 4.2
#: rows from which on they lie closer
_FEW = 9
#: smaller skills have the same place and colour
_LEAST = -1.0


@figure(
    "skill by two strata",
    of="cube",
    concludes="in which strata estimates are better than guessing, and how far from perfect",
)
def skills(
    cube: xr.Dataset,
    metric: str,
    *,
    x: str | None = None,
    y: str | None = None,
    adjust: str | None = None,
    statistic: Statistic = "mean",
    ax: Axes | None = None,
) -> Axes:
    """Draw skill over two strata as a heat map, and mark strata that are not better than guessing.

    Parameters
    ----------
    cube : Dataset
        Made by `cube` with controls.
    metric : str
        One of its metrics.
    x, y : str, optional
        Strata along the axes; default those of several levels, the last one whose levels are numbers along x.
    adjust : str, optional
        Method that adjusts the p-values of the marks, as in `test_controls`.
    statistic : {"mean", "rank"}
        What is tested, as in `test_controls`.
    ax : Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        Blue squares are better than the mean of their controls and red ones worse; 1 is perfect and 0 is guessing.
        Hatched ones are not better by the test of `test_controls`, p above .05, or have no test. Grey ones have no
        skill, and the caption names them.

    Raises
    ------
    ValueError
        If a metric or stratum is unknown or used twice, another stratum has more than one level, or the cube has no
        controls.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("n == 100")
    >>> cube = runs.ceval.cube(["shd"], by=["algorithm", "density"], n_draws=50, rng=7)
    >>> ax = ce.plot.skills(cube, "shd", x="density", y="algorithm")
    >>> [text.get_text() for text in ax.texts[:3]]
    ['.57', '.42', '.21']
    """
    need_controls(read_cube(cube), [metric], "for skill")
    cube = drawn_cube(cube, metric)
    uses = fill_uses(cube, {"x": x, "y": y}, needed=["x", "y"])
    x, y = uses["x"], uses["y"]
    check_use(cube, metric, dict(uses), alone=True)
    table = with_levels(cube, computed(summary(cube, metric, statistic=statistic)))
    shape = cube.sizes[y], cube.sizes[x]
    skill, p = np.full(shape, np.nan), np.full(shape, np.nan)
    at = table[y].cat.codes, table[x].cat.codes
    skill[at] = table["skill"]
    p[at] = adjusted(table["p_value"].to_numpy(np.float64), adjust, None)
    own = ax is None
    rows = level_words(cube, y)
    room = min(_NAMES, 0.09 * max(map(len, rows)))
    width = max(2.4, squares_width(shape[1], 0.5, longest_word(cube, x, 0.8)))
    height = shape[0] * max(0.3, rows_height(rows, room) / shape[0])
    ax = place_to_draw(ax, width + room + 1.4, height + 1.0)
    if not own:
        width, height, room = 0.7 * inches(ax), 0.8 * inches(ax, "height"), min(room, 0.45 * inches(ax))
    image = _colour_skills(ax, skill)
    weak = ~np.isnan(skill) & ~(p <= 0.05)
    _hatch(ax, weak)
    if width / shape[1] >= 0.3 and height / shape[0] >= 0.15:
        for i, j in np.argwhere(~np.isnan(skill)).tolist():
            write_square(ax, image, i, j, short_skill(skill[i, j]), max(skill[i, j], _LEAST))
    below = name_ticks(ax, "x", level_words(cube, x), width)
    if own:
        make_higher(ax, below - 0.3)
    name_rows(ax, rows, room, height)
    ax.set(xlabel=x, ylabel=y)
    ax.set_title(wrapped_label(metric_label(cube, metric), width + 1.0), size="medium")
    parts = ["Squares: skill, 1 is perfect and 0 as good as guessing"]
    correction = ", not adjusted" if adjust in (None, "none") else f" after {adjust}"
    untested = ", or no test" if (~np.isnan(skill) & np.isnan(p)).any() else ""
    parts.append(f"hatched: not better than controls ({tested_by(cube, statistic)}, p above .05{correction}{untested})")
    parts[-1] += f", {int(weak.sum())} of {int((~np.isnan(skill)).sum())}"
    # an infinite skill is a square with its number
    gone = [words for words in left_out(cube, table, "skill") if not words.startswith("infinite")]
    parts += [f"grey: {words}" if k == 0 else words for k, words in enumerate(gone)]
    caption(ax, own, cube_caption(cube, parts))
    return ax


def _colour_skills(ax: Axes, skill: NDArray[np.float64]) -> Any:
    """Draw skills as colours about 0, with a bar down to the least one."""
    shown = np.ma.masked_invalid(np.maximum(skill, _LEAST))
    image = ax.imshow(shown, vmin=-1, vmax=1, cmap=colour_map("RdBu"), aspect="auto")
    ax.grid(False)
    below = bool((skill < _LEAST).any())
    bar = colour_bar(ax, image, "skill")
    bar.ax.set_ylim(max(_LEAST, min(-0.2, float(np.nanmin(skill, initial=0)))), 1)
    if below:
        bar.set_ticks(ticks := [-1, -0.5, 0, 0.5, 1], labels=[f"≤ {t:g}" if t == _LEAST else f"{t:g}" for t in ticks])
    bar.ax.axhline(0, color="black", lw=1)
    return image


def _hatch(ax: Axes, here: NDArray[np.bool_]) -> None:
    """Hatch squares."""
    from matplotlib.patches import Rectangle

    for i, j in np.argwhere(here).tolist():
        style: dict[str, Any] = {"fill": False, "hatch": "////", "edgecolor": (0.45, 0.45, 0.45, 0.6), "lw": 0}
        ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, gid="not better", **style))


def short_skill(value: float) -> str:
    """Write a skill with two digits, without the leading zero."""
    if math.isinf(value):
        return "-∞"
    text = f"{value:.2f}" if value > -9.95 else f"{value:.0f}"
    return text.replace("-0.00", "0.00").replace("0.", ".", 1) if abs(value) < 0.995 else text
