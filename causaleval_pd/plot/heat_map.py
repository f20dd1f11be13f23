"""Skill or p-values of strata as a heat map."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from .. import drawing
from ..contract.checks import check_choice
from ..contract.figure import figure
from ..cubes.reading import need_controls, strata_dims
from ..cubes.reshaped import read_cube
from ..cubes.schema import stratum_name
from ..cubes.summary import full_summary
from ..cubes.summary_columns import Settings
from ..statistics.stratum_statistic import Statistic
from ..statistics.words import BETTER, CORRECTIONS, MINUS, p_text
from . import facets

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["heat_map"]

#: width of names beside rows of a new figure, at most, in inches
_NAMES = 2.8
#: smaller skills, and smaller p-values, share a colour
_LEAST_SKILL, _LEAST_P = -1.0, 1e-5


@figure(
    "skill or p-values of strata",
    of="cube",
    concludes="in which strata estimates are better than guessing, and how far from perfect",
)
def heat_map(  # noqa: PLR0915
    cube: xr.Dataset,
    metric: str,
    *,
    value: Literal["skill", "p"] = "skill",
    x: str | Sequence[str] | None = None,
    y: str | Sequence[str] | None = None,
    adjust: str | None = None,
    statistic: Statistic = "mean",
    ax: Axes | None = None,
    caption: bool = True,
) -> Axes:
    """Draw the skill or the p-values of strata as a heat map, and hatch strata that are not better than guessing.

    Parameters
    ----------
    cube : Dataset
        Made by `cube` with controls.
    metric : str
        One of its metrics.
    value : {"skill", "p"}
        What the squares show.
    x, y : str or sequence of str, optional
        Strata along the axes, a column or row for each combination of their levels. By default the last stratum whose
        levels are numbers is along x, and the others are along y.
    adjust : str, optional
        Method that adjusts the p-values, as in `summary`.
    statistic : {"mean", "rank"}
        What is tested, as in `summary`.

    Returns
    -------
    Axes
        Of skill, blue squares are better than the mean of their controls and red ones worse; 1 is perfect and 0 is
        guessing. Hatched squares have another verdict in `summary` than "better", or none. Grey ones have no skill
        or no test.

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
    >>> ax = ce.plot.heat_map(cube, "shd")
    >>> [text.get_text() for text in ax.texts[:3]]
    ['.57', '.42', '.21']
    >>> ax = ce.plot.heat_map(cube, "shd", value="p")
    >>> ax.texts[0].get_text()
    '≤ 1e−5'
    """
    check_choice(value, ("skill", "p"), "value")
    need_controls(read_cube(cube), [metric], "for skill" if value == "skill" else "for tests")
    cube = facets.drawn_cube(cube, metric)
    columns, rows = _sides(cube, metric, x, y)
    table = facets.with_levels(cube, full_summary(cube, metric, Settings(statistic, adjust)))
    along, beside = _names(cube, columns), _names(cube, rows)
    shape, at = (len(beside), len(along)), (_places(cube, table, rows), _places(cube, table, columns))
    (skill, p), (least, better) = np.full((2, *shape), np.nan), np.zeros((2, *shape), bool)
    skill[at] = table["skill"]
    p[at], better[at] = table["p_adjusted"], (table["verdict"] == BETTER)
    least[at] = table["p_at_floor"].fillna(False)
    shown = skill if value == "skill" else p
    there = ~np.isnan(shown)

    new_figure = ax is None
    room = min(_NAMES, 0.09 * max(1, *map(len, beside)))
    width = max(2.4, drawing.squares_width(shape[1], 0.6, facets.longest_word(along, 0.8)))
    height = shape[0] * max(0.3, drawing.rows_height(beside, room) / shape[0])
    ax = drawing.place_to_draw(ax, width + room + 1.4, height + 1.0)
    if not new_figure:
        room = min(room, 0.45 * drawing.inches(ax))
        width, height = drawing.inner_width(ax, room + 1.7), 0.8 * drawing.inches(ax, "height")
    correction = CORRECTIONS.get(str(adjust))
    colours = _colour_skill(ax, skill) if value == "skill" else _colour_p(ax, p, "adjusted p" if correction else "p")
    _hatch(ax, there & ~better)
    places = np.argwhere(there).tolist()
    texts = [
        _short_skill(skill[i, j]) if value == "skill" else p_text(p[i, j], at_floor=bool(least[i, j]))
        for i, j in places
    ]
    size = drawing.square_size(texts, width / shape[1], height / shape[0])
    for (i, j), text in zip(places if size is not None else [], texts, strict=False):
        drawing.write_square(ax, ax.images[0], i, j, text, colours[i, j], size or 0)
    below = drawing.name_ticks(ax, "x", along, width)
    if new_figure:
        drawing.make_higher(ax, below - 0.3)
    drawing.name_rows(ax, beside, room, height)
    ax.set(xlabel=", ".join(columns), ylabel=", ".join(rows))
    ax.set_title(drawing.wrapped_label(facets.metric_label(cube, metric), width + 1.0), size="medium")

    test = facets.tested_by(cube, statistic)
    how = f"adjusted by {correction}" if correction else "not adjusted"
    weak = f"{int((there & ~better).sum())} of {int(there.sum())}"
    if value == "p":
        bounds = "; ≤: no draw was as extreme" if least.any() else ""
        parts = [f"Squares: p of the {test}, {how}{bounds}", f"hatched: not better than controls, {weak}"]
        parts += ["grey: no test"] * bool(not there.all())
    else:
        untested = ", or no test" if (there & np.isnan(p)).any() else ""
        parts = ["Squares: skill, 1 is perfect and 0 as good as guessing"]
        parts.append(
            f"hatched: not better than controls ({test}, p above .05, {how}, or the interval of the effect holds "
            f"0{untested}), {weak}"
        )
        # an infinite skill is a square with its number
        gone = [words for words in facets.left_out(cube, table, "skill") if not words.startswith("infinite")]
        parts += [f"grey: {words}" if k == 0 else words for k, words in enumerate(gone)]
    parts += facets.weighted_words(cube)
    if caption:
        drawing.caption(ax, new_figure, facets.cube_caption(cube, parts))
    return ax


def _sides(
    cube: xr.Dataset, metric: str, x: str | Sequence[str] | None, y: str | Sequence[str] | None
) -> tuple[list[str], list[str]]:
    """Return the strata along x and along y, those named and the others of several levels."""
    sides = ([side] if isinstance(side, str) else list(side or ()) for side in (x, y))
    columns, rows = ([stratum_name(dim) for dim in side] for side in sides)
    uses = {f"{side}[{k}]": dim for side, dims in (("x", columns), ("y", rows)) for k, dim in enumerate(dims)}
    facets.check_use(cube, metric, dict(uses), alone=x is not None and y is not None)
    left = [dim for dim in strata_dims(cube) if cube.sizes[dim] > 1 and dim not in uses.values()]
    if x is None and left:
        numbers = [dim for dim in left if cube[dim].dtype.kind in "iuf"]
        columns = [(numbers or left[:1])[-1]] if y is None else left
        left = [dim for dim in left if dim not in columns]
    return columns, rows if y is not None else left


def _names(cube: xr.Dataset, dims: Sequence[str]) -> list[str]:
    """Return the names of the combinations of levels, the last stratum changing fastest."""
    return [", ".join(words) for words in itertools.product(*(facets.level_words(cube, dim) for dim in dims))]


def _places(cube: xr.Dataset, table: pd.DataFrame, dims: Sequence[str]) -> NDArray[np.int64]:
    """Return the place of each row among the combinations of levels."""
    places = np.zeros(len(table), np.int64)
    for dim in dims:
        places = places * cube.sizes[dim] + table[dim].cat.codes.to_numpy(np.int64)
    return places


def _colour_skill(ax: Axes, skill: NDArray[np.float64]) -> NDArray[np.float64]:
    """Draw skills as colours about 0, with a bar down to the least one; return what the colours stand for."""
    shown = np.maximum(skill, _LEAST_SKILL)
    bar = _draw(ax, shown, "skill", "RdBu", vmin=-1, vmax=1)
    bar.ax.set_ylim(max(_LEAST_SKILL, min(-0.2, float(np.nanmin(skill, initial=0)))), 1)
    if (skill < _LEAST_SKILL).any():
        ticks = [-1, -0.5, 0, 0.5, 1]
        bar.set_ticks(ticks, labels=[f"≤ {t:g}" if t == _LEAST_SKILL else f"{t:g}" for t in ticks])
    drawing.mark_on_bar(bar, 0, is_dark=False)
    return shown


def _colour_p(ax: Axes, p: NDArray[np.float64], label: str) -> NDArray[np.float64]:
    """Draw p-values as colours on a logarithmic scale, with a bar that marks .05; return what the colours stand for."""
    from matplotlib.colors import LogNorm

    shown = np.maximum(p, _LEAST_P)
    lowest = min(0.01, float(np.nanmin(shown, initial=1.0)))
    bar = _draw(ax, shown, label, "cividis", norm=LogNorm(lowest, 1, clip=True))
    # .1 is too near to .05
    ticks = [1, 0.05, *10.0 ** np.arange(-2, math.log10(lowest) - 0.01, -1)]
    bar.set_ticks(
        ticks, labels=[f"{tick:.0e}".replace("e-0", f"e{MINUS}") if tick < 0.001 else f"{tick:g}" for tick in ticks]
    )
    bar.ax.minorticks_off()
    drawing.mark_on_bar(bar, 0.05, is_dark=True)
    return shown


def _draw(ax: Axes, shown: NDArray[np.float64], label: str, colours: str, **scale: Any) -> Any:
    """Draw squares and their colour bar, and return the bar."""
    image = ax.imshow(np.ma.masked_invalid(shown), cmap=drawing.colour_map(colours), aspect="auto", **scale)
    ax.grid(False)
    return drawing.colour_bar(ax, image, label)


def _hatch(ax: Axes, here: NDArray[np.bool_]) -> None:
    """Hatch squares."""
    from matplotlib.patches import Rectangle

    for i, j in np.argwhere(here).tolist():
        style: dict[str, Any] = {"fill": False, "hatch": "////", "edgecolor": (0.45, 0.45, 0.45, 0.6), "lw": 0}
        ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, gid="not better", **style))


def _short_skill(value: float) -> str:
    """Write a skill with two digits, without the leading zero."""
    if math.isinf(value):
        return "-∞"
    text = f"{value:.2f}" if value > -9.95 else f"{value:.0f}"
    return text.replace("-0.00", "0.00").replace("0.", ".", 1) if abs(value) < 0.995 else text
