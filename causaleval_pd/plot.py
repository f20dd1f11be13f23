"""Figures of a cube; every function returns the Axes or FacetGrid that it drew."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from .blocks import computed
from .configurational.plot import hypergraph, model_difference, score_profile
from .critical_difference import critical_difference
from .engine import RNGLike
from .facets import (
    HEIGHT,
    MARKERS,
    check_use,
    cube_caption,
    facet_grid,
    facets,
    legend_right,
    level_words,
    longest_word,
    metric_label,
    say_empty,
    with_levels,
)
from .heat_maps import comparisons, p_values
from .labels import caption_figure, colours, name_ticks, wrapped_label
from .pairwise import Claim, Effect, Test
from .stats import weighted_quantile
from .structure.plot import adjacency_table, expected_curves
from .summary import control_values, has_controls, null_stratum, strata_dims, summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from seaborn import FacetGrid

__all__ = [
    "CubePlots",
    "adjacency_table",
    "comparisons",
    "critical_difference",
    "distributions",
    "expected_curves",
    "hypergraph",
    "model_difference",
    "p_values",
    "score_profile",
    "strata",
]

#: an integer metric has unit bins up to this many of them
_MAX_BINS = 200
#: width of a facet of strata, in inches; more levels share it
_WIDEST = 12.0


class CubePlots:
    """Figures of a cube, `cube.ceval.plot`.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import causaleval_pd as ce
    >>> cube = ce.datasets.runs().ceval.cube(["shd"], by=["algorithm", "n"], n_draws=20, rng=7)
    >>> grid = cube.ceval.plot.strata("shd", x="n", hue="algorithm")
    >>> type(grid).__name__
    'FacetGrid'
    """

    def __init__(self, cube: xr.Dataset) -> None:
        self._cube = cube

    def strata(
        self,
        metric: str,
        *,
        x: str,
        hue: str | None = None,
        col: str | None = None,
        row: str | None = None,
        level: float = 0.95,
        interval: Literal["mean_ci", "quantile"] = "mean_ci",
    ) -> FacetGrid:
        """Call :func:`causaleval_pd.plot.strata` on this cube."""
        return strata(self._cube, metric, x=x, hue=hue, col=col, row=row, level=level, interval=interval)

    def distributions(
        self, metric: str, *, hue: str | None = None, col: str | None = None, row: str | None = None
    ) -> FacetGrid:
        """Call :func:`causaleval_pd.plot.distributions` on this cube."""
        return distributions(self._cube, metric, hue=hue, col=col, row=row)

    def p_values(
        self,
        metric: str,
        *,
        x: str,
        y: str,
        method: Literal["randomisation", "wilcoxon", "sign", "t"] = "randomisation",
        adjust: str | None = None,
        missing: Literal["drop", "worst"] = "drop",
        ax: Axes | None = None,
    ) -> Axes:
        """Call :func:`causaleval_pd.plot.p_values` on this cube."""
        return p_values(self._cube, metric, x=x, y=y, method=method, adjust=adjust, missing=missing, ax=ax)

    def comparisons(
        self,
        metric: str,
        dim: str,
        *,
        test: Test = "wilcoxon",
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
        """Call :func:`causaleval_pd.plot.comparisons` on this cube."""
        return comparisons(
            self._cube,
            metric,
            dim,
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
            ax=ax,
        )

    def critical_difference(
        self,
        metric: str,
        dim: str,
        *,
        adjust: Literal["nemenyi", "holm"] = "nemenyi",
        level: float = 0.95,
        missing: Literal["drop", "worst"] = "drop",
        ax: Axes | None = None,
    ) -> Axes:
        """Call :func:`causaleval_pd.plot.critical_difference` on this cube."""
        return critical_difference(self._cube, metric, dim, adjust=adjust, level=level, missing=missing, ax=ax)


def strata(
    cube: xr.Dataset,
    metric: str,
    *,
    x: str,
    hue: str | None = None,
    col: str | None = None,
    row: str | None = None,
    level: float = 0.95,
    interval: Literal["mean_ci", "quantile"] = "mean_ci",
) -> FacetGrid:
    """Draw the mean of every stratum with its interval, and behind it the mean and the band of its controls.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`; without controls there are no bands.
    metric : str
        One of its metrics.
    x : str
        Stratum along the axis, its levels in the cube's order.
    hue, col, row : str, optional
        Strata by colour, and by column and row of the grid.
    level : float
        Probability of intervals and bands.
    interval : {"mean_ci", "quantile"}
        As in `summary`: limits for the mean, or the middle share `level` of the runs and of their controls.

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
    cube = null_stratum(cube)
    check_use(cube, metric, {"x": x, "hue": hue, "col": col, "row": row}, alone=True)
    table = with_levels(cube, computed(summary(cube, metric, level=level, interval=interval)))
    n_x, n_hue = cube.sizes[x], 1 if hue is None else cube.sizes[hue]
    width = min(_WIDEST, max(3.0, 0.8 + n_x * max(0.2 * (n_hue + 1), longest_word(cube, x, 1.0))))
    grid = facet_grid(cube, table, col, row, width)
    shades = colours(n_hue)
    slot, below, empty = 0.8 / n_hue, 0.0, []
    for ax, data in facets(grid):
        for h in range(n_hue):
            part = data if hue is None else data[data[hue].cat.codes == h]
            at = part[x].cat.codes.to_numpy(np.float64) + (h - (n_hue - 1) / 2) * slot
            ends = part[["mean", "low", "high", "control_mean", "control_low", "control_high"]].to_numpy(np.float64)
            mean, low, high, control, control_low, control_high = ends.T
            band = ax.bar(at, control_high - control_low, slot * 0.86, control_low, color=shades[h], alpha=0.22)
            for patch in band:
                patch.set_gid("band")
            ax.hlines(control, at - slot * 0.43, at + slot * 0.43, color=shades[h], alpha=0.7, linestyle="--", lw=1.2)
            ax.vlines(at, low, high, color=shades[h], lw=1.6)
            marker = MARKERS[h % len(MARKERS)]
            ax.plot(at, mean, marker, color=shades[h], markersize=5, gid="means")
            if has_controls(cube):
                # drawn over the filled points, so that these stay one line a hue
                open_ = ~(part["p_value"].to_numpy(np.float64) <= 0.05)
                style = {"color": shades[h], "markerfacecolor": "white", "markersize": 5, "gid": "open"}
                ax.plot(at[open_], mean[open_], marker, **style)
        ax.set_xlim(-0.6, n_x - 0.4)
        ax.margins(y=0.06)
        below = name_ticks(ax, "x", level_words(cube, x), width - 0.8)
        if data["mean"].isna().all():
            empty.append(ax)
    say_empty(empty, grid, "y")
    grid.figure.set_figheight(grid.figure.get_figheight() + below)
    grid.set_axis_labels(x, wrapped_label(metric_label(cube, metric), HEIGHT - 0.6))
    share = f"{100 * level:.4g} %"
    kind = f"its {share} t interval" if interval == "mean_ci" else f"their middle {share}"
    parts = [f"Points and lines: mean of the runs and {kind}"]
    if has_controls(cube):
        kind = f"{share} reference interval of that mean" if interval == "mean_ci" else f"their middle {share}"
        parts.append(f"dashes and bands: mean of the controls and {kind}")
        parts.append("filled points: better than controls (randomisation test, one-sided, p at most .05)")
    legend_right(cube, grid, hue, shades, points=True)
    caption_figure(grid.figure, cube_caption(cube, parts))
    return grid


def distributions(
    cube: xr.Dataset, metric: str, *, hue: str | None = None, col: str | None = None, row: str | None = None
) -> FacetGrid:
    """Draw the distribution of the runs' scores against that of their controls.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`; raw draws are not needed.
    metric : str
        One of its metrics.
    hue, col, row : str, optional
        Strata by colour, and by column and row of the grid. Runs, and controls, of the other strata are pooled.

    Returns
    -------
    FacetGrid
        Densities a group: outlines are runs, filled areas below them their controls, triangles their medians. A metric
        that only takes whole numbers has unit bins.

    Raises
    ------
    ValueError
        If a metric or stratum is unknown or used twice.

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
    >>> grid = ce.plot.distributions(found, "shd", hue="algorithm")
    >>> " ".join(grid.ax.get_xlabel().split())
    'structural Hamming distance (lower is better)'
    """
    cube = null_stratum(cube)
    check_use(cube, metric, {"hue": hue, "col": col, "row": row}, alone=False)
    dims = strata_dims(cube)
    values = cube[metric].transpose(*dims, "replicate").to_numpy()
    pool: tuple[NDArray[Any], NDArray[Any]] | None = None
    if has_controls(cube):
        found, weights = (array.transpose(*dims, "bin").to_numpy() for array in control_values(cube, metric))
        pool = found, np.where(np.isnan(found), 0, weights)
    edges = _bins(values, pool, cube[metric].attrs)
    n_hue = 1 if hue is None else cube.sizes[hue]
    shades, empty = colours(n_hue), []
    grid = facet_grid(cube, with_levels(cube, None), col, row, width=3.4)
    for ax, data in facets(grid):
        ax.axhline(0, color="0.2", lw=1.6, zorder=3)
        ax.yaxis.set_major_formatter(lambda value, _: f"{abs(value):.3g}")
        for h in range(n_hue):
            part = data if hue is None else data[data[hue].cat.codes == h]
            cells = tuple(part[dim].cat.codes.to_numpy(np.int64) for dim in dims)
            if pool is not None:
                heights = _density(pool[0][cells], pool[1][cells], edges)
                ax.stairs(-heights, edges, fill=True, color=shades[h], alpha=0.3, gid="controls")
                _mark_median(ax, pool[0][cells], pool[1][cells], shades[h], "controls")
            heights = _density(values[cells], np.ones(values[cells].shape), edges)
            ax.stairs(heights, edges, color=shades[h], lw=1.6, zorder=2.5, gid="runs")
            _mark_median(ax, values[cells], np.ones(values[cells].shape), shades[h], "runs")
        if np.isnan(values[tuple(data[dim].cat.codes.to_numpy(np.int64) for dim in dims)]).all():
            empty.append(ax)
    say_empty(empty, grid, "xy")
    grid.set_axis_labels(wrapped_label(metric_label(cube, metric), 3.0), "density")
    legend_right(cube, grid, hue, shades, points=False)
    parts = ["Outlines: runs", *(["filled, downwards: their controls"] if pool is not None else [])]
    parts.append("triangles: medians")
    pooled = [dim for dim in dims if dim not in (hue, col, row) and cube.sizes[dim] > 1]
    if pooled:
        parts.append(f"pooled over {', '.join(pooled)}")
    caption_figure(grid.figure, cube_caption(cube, parts))
    return grid


def _bins(
    runs: NDArray[np.float64], pool: tuple[NDArray[Any], NDArray[Any]] | None, spec: dict[str, Any]
) -> NDArray[np.float64]:
    """Return edges of bins over runs and controls: unit bins about whole numbers, else 20 equal ones."""
    values = runs[np.isfinite(runs)]
    if pool is not None:
        values = np.concatenate([values, pool[0][(pool[1] > 0) & np.isfinite(pool[0])]])
    if not len(values):
        return np.linspace(0, 1, 21)
    low, high = values.min(), values.max()
    if spec["valid_range"][1] > 1 and bool((values == np.round(values)).all()):
        step = math.ceil((high - low + 1) / _MAX_BINS)
        return np.arange(low - 0.5, high + step, step)
    return np.histogram_bin_edges([low, high], 20)


def _mark_median(ax: Axes, values: NDArray[Any], weights: NDArray[Any], colour: Any, side: str) -> None:
    """Set a triangle on the zero line, upwards for runs and downwards for controls."""
    from matplotlib.markers import CARETDOWNBASE, CARETUPBASE

    used = np.isfinite(values) & (weights > 0)
    median = weighted_quantile(values[used], weights[used], [0.5])
    marker = CARETUPBASE if side == "runs" else CARETDOWNBASE
    style: dict[str, Any] = {"markersize": 10, "markeredgecolor": "white", "zorder": 4}
    ax.plot(median, [0.0], marker=marker, linestyle="none", color=colour, gid=f"median of {side}", **style)


def _density(values: NDArray[Any], weights: NDArray[Any], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    used = np.isfinite(values) & (weights > 0)
    counts = np.histogram(values[used], edges, weights=weights[used])[0].astype(np.float64)
    total = counts.sum()
    # a group without a value has no outline
    return counts / (total * np.diff(edges)) if total else np.full(len(counts), np.nan)
