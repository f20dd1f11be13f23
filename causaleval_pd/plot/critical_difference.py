"""The critical-difference diagram: mean ranks, and groups of levels without a detected difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.figure import figure
from ..cubes.schema import NO_RUN, stratum_name
from ..drawing import LETTER, broken, inches, place_to_draw, tone, wrapped_label
from ..drawing import caption as write_caption
from ..inference.compare import compare
from ..inference.compared_values import places_of_pairs, words_of_clusters
from ..inference.ranking import rank_test
from ..statistics.words import listed
from . import facets

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["critical_difference"]

#: inches of a unit of rank, of the whole axis at most, and of a line of names
_UNIT, _WIDEST, _LINE = 1.6, 6.5, 0.26

#: width of names beside the axis, at most, and of given axes from which on they have the usual size, in inches
_NAMES, _WIDE = 2.1, 4.0
#: smallest size of names beside given axes, in points
_SMALLEST = 5.0


@figure(
    "mean ranks of levels, and groups without a detected difference",
    of="cube",
    concludes="which levels differ, with one error probability for all pairs",
)
def critical_difference(
    cube: xr.Dataset,
    metric: str,
    dim: str,
    *,
    level: float = 0.95,
    missing: Literal["drop", "worst"] = "drop",
    ax: Axes | None = None,
    caption: bool = True,
) -> Axes:
    """Draw the mean ranks of the levels of a dimension; bars join levels for which no difference was detected.

    Parameters
    ----------
    cube, metric, dim
        A cube with this metric; the levels of `dim` are ranked, and compared in pairs by `compare(test="max_t")`, the
        largest t under sign flips.
    level : float
        1 minus the probability of detecting any difference between equal levels.
    missing : {"drop", "worst"}
        As in `rank_test`.

    Returns
    -------
    Axes
        Rank 1, the best, is on the left. Two levels without a detected difference that no bar can join, because another
        level between them differs, are joined by a thin line. Pairs with an infinite difference have no largest t, so
        that nothing joins them, and the caption names them; `compare(test="wilcoxon")` ranks such differences.

    Raises
    ------
    ValueError
        As `rank_test`; also if another stratum has more than one level, or no truth has a value of every level.

    References
    ----------
    Demšar (2006), https://jmlr.org/papers/v7/demsar06a.html.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("density == 0.2 and n == 400")
    >>> found = ce.cube(runs, ["shd"], by=["algorithm"], n_draws=None)
    >>> ax = ce.plot.critical_difference(found, "shd", "algorithm")
    >>> sorted(text.get_text() for text in ax.texts if text.get_gid() == "level")
    ['ges  2.20', 'lingam  1.18', 'pc  2.62']
    """
    cube, dim = facets.drawn_cube(cube, metric, nulls=False), stratum_name(dim)
    facets.check_use(cube, metric, {"dim": dim}, alone=True)
    table = rank_test(cube, dim, metric, level=level, missing=missing)
    ranks = table["mean_rank"].to_numpy(np.float64)
    if np.isnan(ranks).all():
        raise ValueError(f"no truth has a value of {metric} for every level of {dim!r}, so there are no ranks to draw")
    ran, every = _ran(cube, dim), np.array(facets.level_words(cube, dim), object)
    unranked = sorted({*every[~ran], *every[ran][np.isnan(ranks)]})
    order = np.argsort(ranks, kind="stable")
    order = order[~np.isnan(ranks[order])]
    comparison = compare(cube, dim, metric, test="max_t", missing=missing)
    p = _p_of_pairs(cube, dim, comparison)[np.ix_(ran, ran)][np.ix_(order, order)]
    apart = ~(p > 1 - level)
    groups, strays = alike_groups(apart), alike_pairs(apart)
    ranks, names = ranks[order], every[ran][order]
    uncompared = [f"{names[i]} and {names[j]}" for i, j in np.argwhere(np.triu(np.isnan(p)))]

    new_figure, k, width = ax is None, len(ranks), math.inf if ax is None else inches(ax)
    height = math.inf if ax is None else 0.7 * inches(ax, "height")
    named = [f"{name}  {rank:.2f}" for name, rank in zip(names, ranks, strict=True)]
    words, size, step, lines = _fitted(named, (len(groups) + len(strays)) * 0.5, width, height)
    room = LETTER * size / 10 * (1 + max(len(line) for word in words for line in word.split("\n"))) + 0.2
    ax = place_to_draw(ax, min(_WIDEST, max(3.2, (k - 1) * _UNIT)) + 2 * room, 1.5 + _LINE * lines)
    _draw_axis(ax, k, "small" if size >= 8 else size)
    _draw_groups(ax, ranks, groups, strays)
    _draw_levels(ax, ranks, words, -0.35 - 0.5 * (len(groups) + len(strays)), step, size)
    ax.set_ylim(-0.6 - lines, 1.0)
    ax.set_title(
        wrapped_label(facets.metric_label(cube, metric), 4.5 if new_figure else inches(ax) + 0.6), size="medium"
    )
    first = table.iloc[0]
    best = "the smallest value" if cube[metric].attrs["direction"] == "none" else "best"
    parts = [
        f"Mean ranks over {int(first['n_blocks'])} {words_of_clusters(cube, 'runs')}, 1 is {best}",
        f"Friedman's test of whether all levels are equal: p = {first['p_value']:.2g}",
        "bars join levels without a detected difference (largest t under sign flips: between equal levels any "
        f"difference is detected in {100 * (1 - level):.2g} % of studies)",
    ]
    if uncompared:
        parts.append(f"not compared, as values are infinite: {listed(uncompared, 3)}")
    if unranked:
        parts.append(f"without a value, and not ranked: {', '.join(unranked)}")
    if missing == "worst":
        parts.append("failed runs counted as worst")
    if caption:
        write_caption(ax, new_figure, facets.cube_caption(cube, parts, controls=False))
    return ax


def _fitted(names: Sequence[str], above: float, width: float, height: float) -> tuple[list[str], float, float, float]:
    """Break names beside an axis of this width, in smaller print where they are too many for its height, in inches.

    Returns the names, their size in points, the lines from one to the next, and all lines with those `above` them.
    """
    size, most = 10.0 if width >= _WIDE else 8.0, min(_NAMES, 0.35 * width)
    while True:
        words = [broken(name, int(most / (LETTER * size / 10))) for name in names]
        tallest = max(1 + word.count("\n") for word in words)
        step = max(1.0, 0.4 + 0.6 * tallest)
        lines = above + step * ((len(names) + 1) // 2)
        if size <= _SMALLEST or 1.25 * tallest * size / 72 <= step * height / (1.6 + lines):
            return words, size, step, lines
        size -= 0.5


def _ran(cube: xr.Dataset, dim: str) -> NDArray[np.bool_]:
    """Return which levels have runs; the others have no row in the table of ranks."""
    run = (cube["status"] != NO_RUN).any([name for name in cube["status"].dims if name != dim])
    return np.asarray(run.to_numpy(), bool)


def _p_of_pairs(cube: xr.Dataset, dim: str, pairs: pd.DataFrame) -> NDArray[np.float64]:
    """Return the p-values of the pairs of levels as a matrix, NaN without one; 1 for a level and itself."""
    place = places_of_pairs(cube[dim].to_numpy())
    p = np.where(np.eye(cube.sizes[dim], dtype=bool), 1.0, np.nan)
    for name, value in zip(pairs["comparison"], pairs["p_adjusted"], strict=True):
        i, j = place[name]
        p[i, j] = p[j, i] = value
    return p


def alike_groups(apart: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the longest runs of neighbours of which no two differ, from the first to the last of each."""
    k = len(apart)
    groups: list[tuple[int, int]] = []
    for low in range(k):
        high = low
        while high + 1 < k and not apart[low : high + 2, low : high + 2].any():
            high += 1
        if high > low and not (groups and groups[-1][1] >= high):
            groups.append((low, high))
    return groups


def alike_pairs(apart: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the pairs without a detected difference, but with a level between them that differs from one of them."""
    groups = alike_groups(apart)
    return [
        (i, j)
        for i in range(len(apart))
        for j in range(i + 2, len(apart))
        if not apart[i, j] and not any(low <= i and j <= high for low, high in groups)
    ]


def _draw_axis(ax: Axes, k: int, size: float | str) -> None:
    """Draw the line of ranks in place of the frame."""
    ax.set_axis_off()
    ax.set_xlim(0.6, k + 0.4)
    ax.plot([1, k], [0, 0], color=tone(1.0, ax), lw=1.2)
    for rank in range(1, k + 1):
        ax.plot([rank, rank], [0, 0.18], color=tone(1.0, ax), lw=1.2)
        ax.text(rank, 0.28, str(rank), ha="center", va="bottom", size=size)


def _draw_groups(
    ax: Axes, ranks: NDArray[np.float64], groups: list[tuple[int, int]], strays: list[tuple[int, int]]
) -> None:
    """Draw a bar under each other for every group, from its first to its last rank, and a line for every stray pair."""
    for i, (low, high) in enumerate(groups):
        y = -0.35 - 0.5 * i
        style: dict[str, Any] = {"color": tone(0.85, ax), "lw": 4, "solid_capstyle": "butt", "gid": "group"}
        ax.plot([ranks[low] - 0.04, ranks[high] + 0.04], [y, y], **style)
    for i, (one, other) in enumerate(strays, start=len(groups)):
        y = -0.35 - 0.5 * i
        ax.plot([ranks[one], ranks[other]], [y, y], color=tone(0.85, ax), lw=0.8, marker="o", ms=3, gid="pair")


def _draw_levels(
    ax: Axes, ranks: NDArray[np.float64], names: Sequence[str], top: float, step: float, size: float
) -> None:
    """Draw a line from each mean rank to its name, the better half on the left; names are `step` units apart."""
    k = len(ranks)
    half = (k + 1) // 2
    for i, (rank, words) in enumerate(zip(ranks, names, strict=True)):
        left = i < half
        y = top - 0.4 - step * (i if left else k - 1 - i)
        edge = 0.9 if left else k + 0.1
        ax.plot([rank, rank, edge], [0, y, y], color=tone(0.65, ax), lw=1.0, solid_joinstyle="miter")
        ax.annotate(
            words,
            xy=(edge, y),
            xytext=(-4 if left else 4, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
            annotation_clip=False,
            size=size,
            gid="level",
        )
