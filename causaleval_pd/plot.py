"""Figures of a cube; every function returns the Axes or FacetGrid that it drew."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from .compare import _choose, compare, test_controls
from .cube import NO_RUN
from .labels import (
    axis_label,
    caption_below,
    caption_figure,
    colour_map,
    colours,
    frame_field,
    inches,
    name_ticks,
    place_to_draw,
    tick_names,
    wrapped,
    wrapped_label,
    write_field,
)
from .structure.plot import adjacency_table, expected_curves
from .summary import control_values, cube_metrics, has_controls, strata_dims, summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from seaborn import FacetGrid

__all__ = ["CubePlots", "adjacency_table", "comparisons", "distributions", "expected_curves", "p_values", "strata"]

_MARKERS = "osD^vPX<>*"
#: an integer metric has unit bins up to this many of them
_MAX_BINS = 200
#: height of a facet, in inches
_HEIGHT = 2.9


class CubePlots:
    """Figures of a cube, `cube.ceval.plot`.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`.
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
        ax: Axes | None = None,
    ) -> Axes:
        """Call :func:`causaleval_pd.plot.p_values` on this cube."""
        return p_values(self._cube, metric, x=x, y=y, method=method, adjust=adjust, ax=ax)

    def comparisons(self, metric: str, dim: str, *, ax: Axes | None = None, **options: Any) -> Axes:
        """Call :func:`causaleval_pd.plot.comparisons` on this cube."""
        return comparisons(self._cube, metric, dim, ax=ax, **options)


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
        Strata without runs, or with failed runs only, stay empty.

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
    _check(cube, metric, {"x": x, "hue": hue, "col": col, "row": row}, alone=True)
    table = _labelled(cube, summary(cube, metric, level=level, interval=interval))
    n_x, n_hue = cube.sizes[x], 1 if hue is None else cube.sizes[hue]
    width = max(3.0, 0.8 + 0.2 * n_x * (n_hue + 1))
    grid = _grid(cube, table, col, row, width)
    shades = colours(n_hue)
    slot, below = 0.8 / n_hue, 0.0
    for ax, data in _facets(grid):
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
            ax.plot(at, mean, _MARKERS[h % len(_MARKERS)], color=shades[h], markersize=5, gid="means")

        ax.set_xlim(-0.6, n_x - 0.4)
        ax.margins(y=0.06)
        below = name_ticks(ax, "x", _words(cube, x), width - 0.8)
    grid.figure.set_figheight(grid.figure.get_figheight() + below)
    grid.set_axis_labels(x, wrapped_label(_label(cube, metric), _HEIGHT - 0.6))
    share = f"{100 * level:.4g} %"
    kind = f"its {share} t interval" if interval == "mean_ci" else f"their middle {share}"
    parts = [f"Points and lines: mean of the runs and {kind}"]
    if has_controls(cube):
        kind = f"{share} reference interval of that mean" if interval == "mean_ci" else f"their middle {share}"
        parts.append(f"dashes and bands: mean of the controls and {kind}")
    _legend(cube, grid, hue, shades, points=True)
    caption_figure(grid.figure, _caption(cube, parts))
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
        Densities a group: outlines are runs, filled areas below them their controls. A metric that only takes whole numbers has unit
        bins.

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
    _check(cube, metric, {"hue": hue, "col": col, "row": row}, alone=False)
    dims = strata_dims(cube)
    values = cube[metric].transpose(*dims, "replicate").to_numpy()
    pool: tuple[NDArray[Any], NDArray[Any]] | None = None
    if has_controls(cube):
        found, weights = (array.transpose(*dims, "bin").to_numpy() for array in control_values(cube, metric))
        pool = found, np.where(np.isnan(found), 0, weights)
    edges = _bins(values, pool, cube[metric].attrs)
    n_hue = 1 if hue is None else cube.sizes[hue]
    shades = colours(n_hue)
    grid = _grid(cube, _labelled(cube, None), col, row, width=3.4)
    for ax, data in _facets(grid):
        for h in range(n_hue):
            part = data if hue is None else data[data[hue].cat.codes == h]
            cells = tuple(part[dim].cat.codes.to_numpy(np.int64) for dim in dims)
            if pool is not None:
                heights = _density(pool[0][cells], pool[1][cells], edges)
                ax.stairs(-heights, edges, fill=True, color=shades[h], alpha=0.3, gid="controls")
            heights = _density(values[cells], np.ones(values[cells].shape), edges)
            ax.stairs(heights, edges, color=shades[h], lw=1.6, gid="runs")
        ax.axhline(0, color="0.2", lw=0.8)
        ax.yaxis.set_major_formatter(lambda value, _: f"{abs(value):.3g}")
    grid.set_axis_labels(wrapped_label(_label(cube, metric), 3.0), "density")
    _legend(cube, grid, hue, shades, points=False)
    parts = ["Outlines: runs", *(["filled, downwards: their controls"] if pool is not None else [])]
    pooled = [dim for dim in dims if dim not in (hue, col, row) and cube.sizes[dim] > 1]
    if pooled:
        parts.append(f"pooled over {', '.join(pooled)}")
    caption_figure(grid.figure, _caption(cube, parts))
    return grid


def p_values(
    cube: xr.Dataset,
    metric: str,
    *,
    x: str,
    y: str,
    method: Literal["randomisation", "wilcoxon", "sign", "t"] = "randomisation",
    adjust: str | None = None,
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
    method, adjust
        As in `test_controls`.
    ax : Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
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
    from matplotlib.colors import LogNorm

    _check(cube, metric, {"x": x, "y": y}, alone=True)
    table = _labelled(cube, test_controls(cube, metric, method=method, adjust=adjust))
    shape = cube.sizes[y], cube.sizes[x]
    p = np.full(shape, np.nan)
    p[table[y].cat.codes, table[x].cat.codes] = table["p_adjusted"]
    ax = place_to_draw(ax, 2.2 + 0.8 * shape[1] + _longest(cube, y), 1.8 + 0.5 * shape[0])
    lowest = min(0.01, np.nanmin(p, initial=1.0))
    image = ax.imshow(
        np.ma.masked_invalid(p), norm=LogNorm(max(lowest, 1e-16), 1), cmap=colour_map("cividis"), aspect="auto"
    )
    for i, j in zip(*np.nonzero(~np.isnan(p)), strict=True):
        write_field(ax, image, i, j, f"{p[i, j]:.2g}", p[i, j])
        if p[i, j] <= 0.05:
            frame_field(ax, i, j)
    name_ticks(ax, "x", _words(cube, x), inches(ax) - _longest(cube, y) - 1.0)
    name_ticks(ax, "y", _words(cube, y), math.inf)
    ax.set(xlabel=x, ylabel=y)
    ax.set_title(wrapped_label(_label(cube, metric), inches(ax)), size="medium")
    bar = ax.get_figure(root=True).colorbar(image, ax=ax, label="p-value" if adjust is None else f"p-value ({adjust})")
    powers = 10.0 ** np.arange(math.floor(math.log10(image.norm.vmin or 1)), 1)[::-1]
    bar.set_ticks(
        ticks := [0.05, *powers[powers >= 0.99 * lowest][:: 1 + len(powers) // 6]], labels=map("{:g}".format, ticks)
    )
    bar.ax.minorticks_off()
    bar.ax.axhline(0.05, color="white", lw=2.5)
    bar.ax.axhline(0.05, color="black", lw=1)
    grey = "; grey: no test" if np.isnan(p).any() else ""
    caption_below(ax, _caption(cube, [f"Test: {method}, one-sided", f"frames: p at most .05{grey}"]))
    return ax


def comparisons(cube: xr.Dataset, metric: str, dim: str, *, ax: Axes | None = None, **options: Any) -> Axes:
    """Draw the comparisons of all pairs of levels of one dimension as a matrix.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`; besides `dim`, every stratum must have one level.
    metric : str
        One of its metrics.
    dim : str
        The stratum whose levels are compared.
    ax : Axes, optional
        Where to draw; default a new figure.
    **options
        Passed to `compare`.

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
    ['-1.25\\np 0.12', '1.25\\np 0.12']
    """
    _check(cube, metric, {"dim": dim}, alone=True)
    table = compare(cube, dim, metrics=metric, **options)
    levels = cube[dim].to_numpy()
    n = len(levels)
    cell = {f"{levels[i]} - {levels[j]}": (i, j) for i in range(n) for j in range(n) if i != j}
    effect, p = np.full((n, n), np.nan), np.full((n, n), np.nan)
    for name, value, adjusted, side in table[["comparison", "effect", "p_adjusted", "alternative"]].itertuples(
        index=False
    ):
        i, j = cell[name]
        effect[i, j], p[i, j] = value, adjusted
        if side == "two-sided":
            effect[j, i], p[j, i] = -value, adjusted
    ax = place_to_draw(ax, 2.4 + 1.0 * n + _longest(cube, dim), 2.0 + 0.62 * n)
    direction = cube[metric].attrs["direction"]
    higher = direction == "maximize"
    bound = np.nanmax(np.abs(effect), initial=0.0) or 1.0
    shading = colour_map("RdBu" if higher else "RdBu_r")
    image = ax.imshow(np.ma.masked_invalid(effect), vmin=-bound, vmax=bound, cmap=shading, aspect="auto")
    for i, j in zip(*np.nonzero(~np.isnan(effect)), strict=True):
        words = "no p" if np.isnan(p[i, j]) else f"p {p[i, j]:.2g}"
        write_field(ax, image, i, j, f"{effect[i, j] + 0.0:.3g}\n{words}", effect[i, j])
    name_ticks(ax, "x", _words(cube, dim), n * 1.0)
    name_ticks(ax, "y", _words(cube, dim), math.inf)
    ax.set(xlabel=f"{dim} (column)", ylabel=f"{dim} (row)")
    ax.set_title(wrapped_label(_label(cube, metric), inches(ax)), size="medium")
    size = str(options.get("effect", "mean_difference")).replace("_", " ")
    aim = "" if direction == "none" else f"\n({'above' if higher else 'below'} 0, blue: the row is better)"
    bar = ax.get_figure(root=True).colorbar(image, ax=ax)
    bar.set_label(f"{size}, row - column{aim}")
    method = ", ".join(sorted(set(table["method"])))
    parts = [
        f"Test: {method}, {options.get('alternative', 'two-sided')}",
        f"p adjusted: {options.get('adjust', 'holm')}",
    ]
    caption_below(ax, _caption(cube, parts, controls=False))
    return ax


def _check(cube: xr.Dataset, metric: str, uses: dict[str, str | None], *, alone: bool) -> None:
    """Refuse unknown names, dimensions used twice and, with `alone`, further strata of several levels."""
    _choose(metric, cube_metrics(cube), "metric")
    dims = strata_dims(cube)
    if "replicate" not in cube.dims:
        raise ValueError("the cube has no dimension 'replicate'; choose one replicate by a list, isel(replicate=[0])")
    given = {use: dim for use, dim in uses.items() if dim is not None}
    for use, dim in given.items():
        _choose(dim, dims, f"dimension ({use})" if use != "dim" else "dimension")
        others = [other for other, name in given.items() if name == dim and other != use]
        if others:
            raise ValueError(f"dimension {dim!r} is used twice, as {use} and as {others[0]}")
    left = [dim for dim in dims if dim not in given.values() and cube.sizes[dim] > 1]
    if alone and left:
        levels = ", ".join(f"{dim} ({cube.sizes[dim]} levels)" for dim in left)
        select = ", ".join(f"{dim}={cube[dim].to_numpy()[0].item()!r}" for dim in left)
        free = [use for use, dim in uses.items() if dim is None]
        facet = f", or show them by {', '.join(f'{use}=' for use in free)}" if free else ""
        raise ValueError(f"strata that the figure does not show: {levels}; choose one by cube.sel({select}){facet}")


def _label(cube: xr.Dataset, metric: str) -> str:
    spec = cube[metric].attrs
    return axis_label(spec.get("long_name", metric), spec["direction"])


def _words(cube: xr.Dataset, dim: str) -> list[str]:
    """Return the names of a dimension's levels; numbers in short form where that keeps them apart."""
    levels = cube[dim].to_numpy().reshape(-1)
    words = [f"{x:g}" if isinstance(x, (float, np.floating)) else str(x) for x in levels]
    return words if len(set(words)) == len(words) else [str(x) for x in levels]


def _longest(cube: xr.Dataset, dim: str) -> float:
    """Return the inches that the names of a dimension's levels take."""
    return 0.085 * max(len(line) for word in tick_names(_words(cube, dim), 1.6) for line in word.split("\n"))


def _labelled(cube: xr.Dataset, table: pd.DataFrame | None) -> pd.DataFrame:
    """Give a table of the strata with runs its strata as categories in the cube's order."""
    dims = strata_dims(cube)
    runs = (cube["status"] != NO_RUN).any("replicate").transpose(*dims).to_numpy()
    codes = np.nonzero(runs)
    labels = {dim: pd.Categorical.from_codes(code, _words(cube, dim)) for dim, code in zip(dims, codes, strict=True)}
    if table is None:
        return pd.DataFrame(labels)
    return table.assign(**labels)


def _grid(cube: xr.Dataset, table: pd.DataFrame, col: str | None, row: str | None, width: float) -> FacetGrid:
    """Make a grid of facets, titled with their levels, that lays itself out."""
    import seaborn as sns

    grid = sns.FacetGrid(
        table, col=col, row=row, height=_HEIGHT, aspect=width / _HEIGHT, dropna=False, legend_out=False
    )
    grid.figure.set_layout_engine("constrained")
    for i, j in np.ndindex(*grid.axes.shape):
        given = [(dim, k) for dim, k in ((row, i), (col, j)) if dim is not None]
        title = "\n".join(wrapped(f"{dim} = {_words(cube, dim)[k]}", width) for dim, k in given)
        grid.axes[i, j].set_title(title, size="medium")
    return grid


def _facets(grid: FacetGrid) -> list[tuple[Axes, pd.DataFrame]]:
    return [(grid.axes[i, j], data) for (i, j, _), data in grid.facet_data()]


def _legend(cube: xr.Dataset, grid: FacetGrid, hue: str | None, shades: Sequence[Any], *, points: bool) -> None:
    """Write the legend right of the facets: the colours of the hue, then runs and controls."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    for h, word in enumerate([] if hue is None else _words(cube, hue)):
        marker = _MARKERS[h % len(_MARKERS)] if points else ""
        handles.append(Line2D([], [], color=shades[h], marker=marker, label=wrapped(word, 1.8)))
    if handles:
        handles.append(Line2D([], [], linestyle="none", label=" "))
    grey = "0.35" if hue is not None else shades[0]
    handles.append(Line2D([], [], color=grey, marker="o" if points else "", label="runs"))
    if has_controls(cube):
        handles.append(Patch(facecolor=grey, alpha=0.25, label="controls"))
    figure = grid.figure
    longest = max(len(line) for handle in handles for line in [*handle.get_label().split("\n"), hue or ""])
    # the facets keep their size: legend and caption get room of their own
    figure.set_size_inches(figure.get_figwidth() + 0.8 + 0.085 * longest, figure.get_figheight())
    figure.legend(handles=handles, title=hue, loc="outside right upper", frameon=False)


def _caption(cube: xr.Dataset, parts: Sequence[str], *, controls: bool = True) -> str:
    """Join what a figure shows, its null model and draws, and the strata that the cube was cut to."""
    said = "; ".join(parts) + "."
    if controls and has_controls(cube):
        n = int(cube.attrs["n_draws"])
        said += f" Null model: {cube.attrs['control_null']}, {n} draw{'s' if n != 1 else ''} a run."
    elif controls:
        said += " The cube has no controls."
    cut = [dim for dim in json.loads(cube.attrs["strata"]) if dim in cube.coords and cube[dim].size == 1]
    if cut:
        said += f" {', '.join(f'{dim} = {_words(cube, dim)[0]}' for dim in cut)}."
    return said


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


def _density(values: NDArray[Any], weights: NDArray[Any], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    used = np.isfinite(values) & (weights > 0)
    counts = np.histogram(values[used], edges, weights=weights[used])[0].astype(np.float64)
    total = counts.sum()
    # a group without a value has no outline
    return counts / (total * np.diff(edges)) if total else np.full(len(counts), np.nan)
