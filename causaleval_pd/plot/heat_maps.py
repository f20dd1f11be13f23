"""Heat maps of tests: estimates against controls over two strata, and the levels of one dimension pair by pair."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..contract.figure import figure
from ..cubes.lazy_tables import computed
from ..drawing import (
    caption,
    colour_bar,
    colour_map,
    frame_square,
    inches,
    inner_width,
    make_higher,
    name_rows,
    name_ticks,
    place_to_draw,
    square_size,
    squares_width,
    wrapped_label,
    write_square,
)
from ..inference.control_tests import test_controls
from ..statistics.stratum_statistic import Statistic
from .facets import (
    check_use,
    cube_caption,
    drawn_cube,
    fill_uses,
    level_words,
    longest_word,
    metric_label,
    tallest_word,
    tested_by,
    with_levels,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["p_values"]

#: smaller p-values share a colour
_LOWEST_P = 1e-5
#: size of texts in squares, in points, below which they are written in short
_READABLE = 6.0
#: share of given axes that names of rows take at most
_NAMES = 0.4
#: width of a square of given axes below which levels against each other are named along y alone, by numbers along x
_NUMBERED = 0.15


@figure(
    "p-values against controls by two strata",
    of="cube",
    concludes="which strata are better than their controls, and by which test",
)
def p_values(
    cube: xr.Dataset,
    metric: str,
    *,
    x: str | None = None,
    y: str | None = None,
    adjust: str | None = None,
    missing: Literal["drop", "worst"] = "drop",
    statistic: Statistic = "mean",
    ax: Axes | None = None,
) -> Axes:
    """Draw the p-values of the tests against controls as a heat map over two strata.

    Parameters
    ----------
    cube : Dataset
        Made by `cube` with controls.
    metric : str
        One of its metrics.
    x, y : str, optional
        Strata along the axes; default those of several levels, the last one whose levels are numbers along x.
    adjust, missing, statistic
        As in `test_controls`.
    ax : Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        Each field has its p-value and the number of runs; "≤" marks the smallest p-value that the draws can give.
        Frames mark p-values of at most .05, grey fields strata without a test.

    Raises
    ------
    ValueError
        As `test_controls`; also if another stratum has more than one level.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({
    ...     "algorithm": ["x", "x", "y", "y"],
    ...     "n": [100, 500] * 2,
    ...     "truth": ["A -> B; B -> C", "A -> B; C"] * 2,
    ...     "estimate": ["A -> B; B -> C", "A; B; C", "C -> B; A", "A -> B; C"],
    ... })
    >>> found = ce.cube(runs, ["shd"], by=["algorithm", "n"], n_draws=50, rng=7)
    >>> ax = ce.plot.p_values(found, "shd", x="n", y="algorithm")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('n', 'algorithm')
    """
    cube = drawn_cube(cube, metric)
    uses = fill_uses(cube, {"x": x, "y": y}, needed=["x", "y"])
    x, y = uses["x"], uses["y"]
    check_use(cube, metric, dict(uses), alone=True)
    tests = test_controls(cube, metric, adjust=adjust, missing=missing, statistic=statistic)
    table = with_levels(cube, computed(tests))
    shape = cube.sizes[y], cube.sizes[x]
    p, runs = np.full(shape, np.nan), np.zeros(shape, np.int64)
    at = table[y].cat.codes, table[x].cat.codes
    p[at], runs[at] = table["p_adjusted"], table["n_pairs"]
    least = np.zeros(shape, bool)
    least[at] = table["p_at_floor"].fillna(False)
    own = ax is None
    ax, square = _place_squares(cube, metric, x, y, ax, least=(0.8, 0.5), margins=(2.2, 1.8), room=1.0)
    ax.set(xlabel=x, ylabel=y)
    _colour_p_values(ax, p, "p-value" if adjust is None else f"p-value ({adjust})")

    def words(i: int, j: int, short: bool) -> str:
        sign = "" if not least[i, j] else "≤\n" if short else "≤ "
        return f"{sign}{_short_p(p[i, j]) if short else f'{p[i, j]:.2g}'}\nn {runs[i, j]}"

    written = _write_squares(ax, words, np.maximum(p, _LOWEST_P), ~np.isnan(p), square)
    for i, j in np.argwhere(p <= 0.05).tolist():
        frame_square(ax, i, j)
    grey = "; grey: no test" if np.isnan(p).any() else ""
    counted = tested_by(cube, statistic)
    counted += ", failed runs counted as worst" if missing == "worst" else ""
    floor = " (≤: least possible)" if least.any() else ""
    parts = [f"Test: {counted}" + (f"; fields: p{floor}, n runs" if written else "")]
    correction = ", not adjusted" if adjust in (None, "none") else ""
    parts.append(f"frames: better than controls, p at most .05{correction}{grey}")
    caption(ax, own, cube_caption(cube, parts))
    return ax


def _place_squares(
    cube: xr.Dataset,
    metric: str,
    x: str,
    y: str,
    ax: Axes | None,
    *,
    least: tuple[float, float],
    margins: tuple[float, float],
    room: float,
) -> tuple[Axes, tuple[float, float]]:
    """Return axes for a square for each pair of levels, with names of the levels and a title, and a square's size.

    In inches: `least` width and height of a square, `margins` of a new figure beyond its squares and the names along y,
    and `room` to which names along x are broken.
    """
    own, columns, rows = ax is None, cube.sizes[x], cube.sizes[y]
    names, along, beside = longest_word(cube, y, 1.6), level_words(cube, x), level_words(cube, y)
    if ax is None:
        width = squares_width(columns, least[0], longest_word(cube, x, room))
        height = rows * max(least[1], tallest_word(cube, y))
        ax = place_to_draw(ax, margins[0] + width + names, margins[1] + height)
        name_ticks(ax, "y", beside, math.inf)
        title = width + 1.0
    else:
        names, height, title = min(names, _NAMES * inches(ax)), 0.7 * inches(ax, "height"), inches(ax) + 1.0
        width = inner_width(ax, names + margins[0] - 1.1)
        if x == y and width / columns < _NUMBERED:
            beside = [f"{k}  {word}" for k, word in enumerate(beside, start=1)]
            along = [str(k + 1) for k in range(columns)]
        name_rows(ax, beside, names, height)
    ax.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    ax.grid(False)
    below = name_ticks(ax, "x", along, width)
    if own:
        make_higher(ax, below - 0.3)
    ax.set_title(wrapped_label(metric_label(cube, metric), title), size="medium")
    return ax, (width / columns, height / rows)


def _write_squares(
    ax: Axes,
    words: Callable[[int, int, bool], str],
    values: NDArray[np.float64],
    where: NDArray[np.bool_],
    square: tuple[float, float],
) -> bool:
    """Write into squares of this size in inches, in short where words would be tiny; return whether they fit."""
    places = np.argwhere(where).tolist()
    for short in (False, True):
        texts = [words(i, j, short) for i, j in places]
        size = square_size(texts, *square)
        if size is not None and size >= (0 if short else _READABLE):
            for (i, j), text in zip(places, texts, strict=True):
                write_square(ax, ax.images[0], i, j, text, values[i, j], size)
            return True
    return False


def _short_p(p: float) -> str:
    """Write a p-value in five letters, a small one rounded up to one digit."""
    if p < _LOWEST_P * (1 - 1e-9):
        return "<1e-5"
    if p >= 0.001:
        return f"{p:.2g}"
    power = math.floor(math.log10(p))
    return f"{math.ceil(p / 10.0**power - 1e-9) * 10.0**power:.0e}"


def _colour_p_values(ax: Axes, p: NDArray[np.float64], label: str) -> None:
    """Draw p-values as colours on a logarithmic scale, with a bar that marks .05."""
    from matplotlib.colors import LogNorm

    lowest = max(min(0.01, np.nanmin(p, initial=1.0)), _LOWEST_P)
    norm = LogNorm(lowest, 1, clip=True)
    image = ax.imshow(np.maximum(p, _LOWEST_P), norm=norm, cmap=colour_map("cividis"), aspect="auto")
    bar = colour_bar(ax, image, label)
    ends = np.arange(0, math.log10(lowest) - 0.01, -1)
    ticks = [0.05, *10.0 ** ends[:: 1 + len(ends) // 6]]
    bar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    bar.ax.minorticks_off()
    bar.ax.axhline(0.05, color="white", lw=2.5)
    bar.ax.axhline(0.05, color="black", lw=1)
