"""Distributions of a metric and of its controls by stratum."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.figure import figure
from ..cubes.reading import control_values, has_controls, strata_dims
from ..cubes.schema import FAILED, NO_RUN
from ..drawing import caption_figure, colours, opacity, tone, wrapped_label
from ..statistics.arrays import quantiles, ratio
from . import facets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from seaborn import FacetGrid

__all__ = ["distributions"]

#: most unit bins of a metric that takes only whole numbers
_MAX_BINS = 200


@figure(
    "distribution of the runs and of their controls", of="cube", concludes="how far the runs lie from their controls"
)
def distributions(
    cube: xr.Dataset,
    metric: str,
    *,
    hue: str | None = None,
    col: str | None = None,
    row: str | None = None,
    height: float = facets.HEIGHT,
    aspect: float | None = None,
    caption: bool = True,
) -> FacetGrid:
    """Draw the distribution of the runs' scores against that of their controls.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`; raw draws are not needed.
    metric, hue, col, row, height, aspect, caption
        As in `strata`. Runs, and controls, of the other strata are pooled.

    Returns
    -------
    FacetGrid
        One density per group: outlines are runs, filled areas below the axis their controls, triangles their medians. A
        metric that takes only whole numbers has unit bins. Infinite values count in medians, have no place in a
        density, and are shares in the caption.

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
    cube = facets.drawn_cube(cube, metric)
    hue, col, row = facets.strata_names(hue, col, row)
    facets.check_use(cube, metric, {"hue": hue, "col": col, "row": row}, alone=False)
    dims = strata_dims(cube)
    values = cube[metric].transpose(*dims, "replicate").to_numpy()
    pool = control_values(cube, metric).transpose(*dims, "__value__").to_numpy() if has_controls(cube) else None
    edges = _bins(values, pool, cube[metric].attrs)
    n_hue = 1 if hue is None else cube.sizes[hue]
    shades, empty = colours(n_hue), []
    table = _counted(cube, values)
    width = 3.4 if aspect is None else aspect * height
    grid = facets.facet_grid(cube, table, col, row, width, height)
    for ax, data in facets.panels(grid):
        ax.axhline(0, color=tone(0.8, ax), lw=1.6, zorder=3)
        ax.yaxis.set_major_formatter(lambda value, _: f"{abs(value):.3g}")
        for h in range(n_hue):
            part = data if hue is None else data[data[hue].cat.codes == h]
            cells = tuple(part[dim].cat.codes.to_numpy(np.int64) for dim in dims)
            if pool is not None:
                heights = _density(pool[cells], edges)
                ax.stairs(-heights, edges, fill=True, color=shades[h], alpha=opacity(0.3), gid="controls")
                _mark_median(ax, pool[cells], shades[h], "controls")
            heights = _density(values[cells], edges)
            ax.stairs(heights, edges, color=shades[h], lw=1.6, zorder=2.5, gid="runs")
            _mark_median(ax, values[cells], shades[h], "runs")
        if not np.isfinite(values[tuple(data[dim].cat.codes.to_numpy(np.int64) for dim in dims)]).any():
            empty.append(ax)
    facets.mark_empty(empty, grid, "xy")
    grid.set_axis_labels(
        wrapped_label(facets.metric_label(cube, metric), 3.0), wrapped_label("probability density", 2.0)
    )
    facets.legend_right(cube, grid, hue, shades, points=False)
    parts = ["Outlines: runs", *(["filled, downwards: their controls"] if pool is not None else [])]
    shares = {"runs": _infinite_share(values), "controls": 0.0 if pool is None else _infinite_share(pool)}
    infinite = [f"{100 * share:.3g} % of {side}" for side, share in shares.items() if share]
    parts.append("triangles: medians" + (", none where these are infinite" if infinite else ""))
    if infinite:
        parts.append(f"infinite, and in no outline or area: {', '.join(infinite)}")
    pooled = [dim for dim in dims if dim not in (hue, col, row) and cube.sizes[dim] > 1]
    if pooled:
        parts.append(f"pooled over {', '.join(pooled)}")
    parts += facets.left_out(cube, table, "least")
    if caption:
        caption_figure(grid.figure, facets.cube_caption(cube, parts))
    return grid


def _counted(cube: xr.Dataset, values: NDArray[np.float64]) -> pd.DataFrame:
    """Return the strata that have runs, with their least absolute value and the numbers of runs and of failed ones."""
    dims = strata_dims(cube)
    table, status = facets.with_levels(cube, None), cube["status"].transpose(*dims, "replicate").to_numpy()
    at = tuple(table[dim].cat.codes.to_numpy(np.int64) for dim in dims)
    least = np.fmin.reduce(np.abs(values[at]), axis=-1, initial=np.nan)
    runs, failed = ((mask[at]).sum(axis=-1) for mask in (status != NO_RUN, status == FAILED))
    return table.assign(least=least, n_runs=runs, n_failed=failed)


def _bins(runs: NDArray[np.float64], pool: NDArray[np.float64] | None, spec: dict[str, Any]) -> NDArray[np.float64]:
    """Return edges of bins over runs and controls: unit bins about whole numbers, else 20 equal ones."""
    values = runs[np.isfinite(runs)]
    if pool is not None:
        values = np.concatenate([values, pool[np.isfinite(pool)]])
    if not len(values):
        return np.linspace(0, 1, 21)
    low, high = values.min(), values.max()
    if spec["valid_range"][1] > 1 and bool((values == np.round(values)).all()):
        step = math.ceil((high - low + 1) / _MAX_BINS)
        return np.arange(low - 0.5, high + step, step)
    return np.histogram_bin_edges([low, high], 20)


def _mark_median(ax: Axes, values: NDArray[Any], colour: Any, side: str) -> None:
    """Set a triangle on the zero line, upwards for runs and downwards for controls."""
    from matplotlib.markers import CARETDOWNBASE, CARETUPBASE

    median = quantiles(values.reshape(-1), [0.5])  # one that is infinite is not drawn
    marker = CARETUPBASE if side == "runs" else CARETDOWNBASE
    style: dict[str, Any] = {"markersize": 10, "markeredgecolor": tone(0.0, ax), "zorder": 4}
    ax.plot(median, [0.0], marker=marker, linestyle="none", color=colour, gid=f"median of {side}", **style)


def _infinite_share(values: NDArray[np.float64]) -> float:
    """Return the share of the defined values that is infinite."""
    return float(ratio(np.isinf(values).sum(), (~np.isnan(values)).sum(), empty=0.0))


def _density(values: NDArray[Any], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the density of the finite values in each bin."""
    counts = np.histogram(values[np.isfinite(values)], edges)[0].astype(np.float64)
    total = counts.sum()
    # a group without a value has no outline
    return counts / (total * np.diff(edges)) if total else np.full(len(counts), np.nan)
