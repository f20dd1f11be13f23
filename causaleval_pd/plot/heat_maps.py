"""Heat maps of tests: estimates against controls over two strata, and the levels of one dimension pair by pair."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Literal

import numpy as np
import xarray as xr

from ..cubes.lazy_tables import computed
from ..cubes.reading import null_stratum
from ..drawing import (
    caption,
    colour_bar,
    colour_map,
    frame_field,
    inches,
    name_ticks,
    place_to_draw,
    wrapped_label,
    write_field,
)
from ..execution.random_streams import RNGLike
from ..inference.compare import compare
from ..inference.control_tests import test_controls
from ..inference.pairwise import Claim, Effect
from .facets import check_use, cube_caption, level_words, longest_word, metric_label, tallest_word, with_levels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: smaller p-values share a colour
_LOWEST_P = 1e-16


def p_values(
    cube: xr.Dataset,
    metric: str,
    *,
    x: str,
    y: str,
    method: str = "randomisation",
    adjust: str | None = None,
    missing: Literal["drop", "worst"] = "drop",
    ax: Axes | None = None,
) -> Axes:
    """Draw the p-values of the tests against controls as a heat map over two strata.

    Parameters
    ----------
    cube : Dataset
        Made by `cube` with controls.
    metric : str
        One of its metrics.
    x, y : str
        Strata along the axes.
    method, adjust, missing
        As in `test_controls`.
    ax : Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        Each field has its p-value and the number of runs. Frames mark p-values of at most .05, grey fields strata
        without a test.

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
    from matplotlib.colors import LogNorm

    cube = null_stratum(cube)
    check_use(cube, metric, {"x": x, "y": y}, alone=True)
    tests = test_controls(cube, metric, method=method, adjust=adjust, missing=missing)
    table = with_levels(cube, computed(tests))
    shape = cube.sizes[y], cube.sizes[x]
    p, runs = np.full(shape, np.nan), np.zeros(shape, np.int64)
    at = table[y].cat.codes, table[x].cat.codes
    p[at], runs[at] = table["p_adjusted"], table["n_pairs"]
    width = shape[1] * max(0.8, longest_word(cube, x, 1.0)) if ax is None else inches(ax)
    own = ax is None
    height = shape[0] * max(0.5, tallest_word(cube, y))
    ax = place_to_draw(ax, 2.2 + width + longest_word(cube, y, 1.6), 1.8 + height)
    lowest = min(0.01, np.nanmin(p, initial=1.0))
    norm = LogNorm(max(lowest, _LOWEST_P), 1, clip=True)
    image = ax.imshow(np.maximum(p, _LOWEST_P), norm=norm, cmap=colour_map("cividis"), aspect="auto")
    for i, j in zip(*np.nonzero(~np.isnan(p)), strict=True):
        write_field(ax, image, i, j, f"{p[i, j]:.2g}\nn {runs[i, j]}", max(p[i, j], _LOWEST_P))
        if p[i, j] <= 0.05:
            frame_field(ax, i, j)
    name_ticks(ax, "x", level_words(cube, x), width)
    name_ticks(ax, "y", level_words(cube, y), math.inf)
    ax.set(xlabel=x, ylabel=y)
    ax.set_title(wrapped_label(metric_label(cube, metric), width + 1.0), size="medium")
    bar = colour_bar(ax, image, "p-value" if adjust is None else f"p-value ({adjust})")
    ends = np.arange(0, math.log10(max(lowest, _LOWEST_P)) - 0.01, -1)
    ticks = [0.05, *10.0 ** ends[:: 1 + len(ends) // 6]]
    bar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    bar.ax.minorticks_off()
    bar.ax.axhline(0.05, color="white", lw=2.5)
    bar.ax.axhline(0.05, color="black", lw=1)
    grey = "; grey: no test" if np.isnan(p).any() else ""
    counted = f"{method}, one-sided" + (", failed runs counted as worst" if missing == "worst" else "")
    parts = [f"Test: {counted}; fields: p, n runs", f"frames: better than controls, p at most .05{grey}"]
    caption(ax, own, cube_caption(cube, parts))
    return ax


def comparisons(
    cube: xr.Dataset,
    metric: str,
    dim: str,
    *,
    test: str = "wilcoxon",
    adjust: str | None = "holm",
    reference: Hashable | None = None,
    paired: bool = True,
    missing: Literal["drop", "worst"] = "drop",
    alternative: Claim = "two-sided",
    margin: float | None = None,
    minus_controls: bool = False,
    effect: Effect = "mean_difference",
    n_resamples: int = 9999,
    rng: RNGLike = None,
    ax: Axes | None = None,
) -> Axes:
    r"""Draw the comparisons of all pairs of levels of one dimension as a matrix.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`; besides `dim`, every stratum must have one level.
    metric : str
        One of its metrics.
    dim : str
        The stratum whose levels are compared.
    test, adjust, reference, paired, missing, alternative, margin, minus_controls, effect, n_resamples, rng
        As in `compare`.
    ax : Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        Effects of row minus column with adjusted p-values. Blue fields are those whose row is better. One-sided tests
        fill only the side that was tested.

    Raises
    ------
    ValueError
        As `compare`; also if another stratum has more than one level.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> truths = ["A -> B; B -> C", "A -> B; C", "B -> C; A", "A -> C; B"]
    >>> runs = pd.DataFrame({
    ...     "algorithm": ["x"] * 4 + ["y"] * 4,
    ...     "truth": truths * 2,
    ...     "estimate": truths + ["A; B; C"] * 4,
    ... })
    >>> found = ce.cube(runs, ["shd"], by=["algorithm"], n_draws=None)
    >>> ax = ce.plot.comparisons(found, "shd", "algorithm")
    >>> [cell.get_text() for cell in ax.texts[:2]]
    ['-1.25\np 0.12', '1.25\np 0.12']
    """
    check_use(cube, metric, {"dim": dim}, alone=True)
    found = compare(
        cube,
        dim,
        metrics=metric,
        test=test,
        adjust=adjust,
        reference=reference,
        paired=paired,
        missing=missing,
        alternative=alternative,
        margin=margin,
        minus_controls=minus_controls,
        effect=effect,
        n_resamples=n_resamples,
        rng=rng,
    )
    table = computed(found)
    levels = cube[dim].to_numpy()
    n = len(levels)
    cell = {f"{levels[i]} - {levels[j]}": (i, j) for i in range(n) for j in range(n) if i != j}
    size, p = np.full((n, n), np.nan), np.full((n, n), np.nan)
    for name, value, adjusted, side in table[["comparison", "effect", "p_adjusted", "alternative"]].itertuples(
        index=False
    ):
        i, j = cell[name]
        size[i, j], p[i, j] = value, adjusted
        if side in ("two-sided", "equivalent"):
            size[j, i], p[j, i] = -value, adjusted
    width = n * max(1.0, longest_word(cube, dim, 1.2)) if ax is None else inches(ax)
    own = ax is None
    height = n * max(0.62, tallest_word(cube, dim))
    ax = place_to_draw(ax, 2.4 + width + longest_word(cube, dim, 1.6), 2.0 + height)
    direction = cube[metric].attrs["direction"]
    higher = direction == "maximize"
    bound = np.nanmax(np.abs(size), initial=0.0) or 1.0
    shading = colour_map("RdBu" if higher else "RdBu_r")
    image = ax.imshow(np.ma.masked_invalid(size), vmin=-bound, vmax=bound, cmap=shading, aspect="auto")
    for i, j in zip(*np.nonzero(~np.isnan(size)), strict=True):
        words = "no p" if np.isnan(p[i, j]) else f"p {p[i, j]:.2g}"
        write_field(ax, image, i, j, f"{size[i, j] + 0.0:.3g}\n{words}", size[i, j])
    name_ticks(ax, "x", level_words(cube, dim), width)
    name_ticks(ax, "y", level_words(cube, dim), math.inf)
    ax.set(xlabel=f"{dim} (column)", ylabel=f"{dim} (row)")
    ax.set_title(wrapped_label(metric_label(cube, metric), width + 1.0), size="medium")
    aim = "" if direction == "none" else f"\n({'above' if higher else 'below'} 0, blue: the row is better)"
    colour_bar(ax, image, f"{effect.replace('_', ' ')}, row - column{aim}")
    method = ", ".join(sorted(set(table["method"])))
    counted = ", failed runs counted as worst" if missing == "worst" else ""
    within = "" if margin is None else f" (margin {margin:g})"
    parts = [f"Test: {method}, {alternative.replace('_', '-')}{within}{counted}", f"p adjusted: {adjust or 'no'}"]
    if np.isnan(size[~np.eye(n, dtype=bool)]).any():
        parts.append("grey: not compared")
    if minus_controls:
        parts.append("each run less the mean of its controls")
    caption(ax, own, cube_caption(cube, parts, controls=minus_controls))
    return ax
