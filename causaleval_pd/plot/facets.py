"""Parts that figures of cubes share: levels in words, facets, the legend and the caption."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from ..contract.checks import check_known
from ..contract.field import FIELDS
from ..cubes.reading import (
    cluster_setting,
    cube_metrics,
    has_controls,
    null_name,
    null_references,
    null_stratum,
    strata_dims,
)
from ..cubes.reshaped import read_cube, read_metric
from ..cubes.schema import NO_RUN, stratum_name
from ..cubes.weights import WEIGHT
from ..drawing import LETTER, axis_label, broken, legend_room, opacity, tick_names, tone
from ..statistics import words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from seaborn import FacetGrid

MARKERS = "osD^vPX<>*"
#: height of a facet, in inches
HEIGHT = 2.9
#: columns of facets that are wider together, in inches, continue in further rows
_PAGE = 24.0


def drawn_cube(cube: xr.Dataset, metric: str, *, nulls: bool = True) -> xr.Dataset:
    """Return a cube whose strata to draw by include the metric's own dimensions and, with `nulls`, null models."""
    cube = read_cube(cube)
    cube_metrics(cube, [metric])
    if not has_controls(cube, metric):
        drawn = [name for name, x in cube.data_vars.items() if x.attrs.get("role") in ("control", "relabelled")]
        cube = cube.drop_vars(drawn).assign_attrs(n_draws=0)
    if nulls:
        cube = null_stratum(cube)
    cube = read_metric(cube, metric)
    empty = [dim for dim in (*strata_dims(cube), "replicate") if cube.sizes[dim] == 0]
    if empty:
        what = "no runs" if empty == ["replicate"] else f"no levels of {', '.join(map(repr, empty))}"
        raise ValueError(
            f"the cube has {what}, so that there is nothing to draw; select some of the cube that cube() made"
        )
    return cube


def strata_names(*names: str | None) -> list[str | None]:
    """Return what the strata that a figure shows are called in tables."""
    return [None if name is None else stratum_name(name) for name in names]


def check_use(cube: xr.Dataset, metric: str, uses: dict[str, str | None], *, alone: bool) -> None:
    """Refuse unknown names, dimensions used twice and, with `alone`, further strata of several levels."""
    dims = strata_dims(cube)
    used_dims = {use: dim for use, dim in uses.items() if dim is not None}
    for use, dim in used_dims.items():
        check_known(dim, dims, f"dimension ({use})" if use != "dim" else "dimension")
        others = [other for other, name in used_dims.items() if name == dim and other != use]
        if others:
            raise ValueError(f"dimension {dim!r} is used twice, as {use} and as {others[0]}")
    left = [dim for dim in dims if dim not in used_dims.values() and cube.sizes[dim] > 1]
    if alone and left:
        levels = ", ".join(f"{dim} ({cube.sizes[dim]} levels)" for dim in left)
        choice = {dim: cube[dim].to_numpy().tolist()[0] for dim in left}
        named = all(dim.isidentifier() for dim in left)
        select = ", ".join(f"{dim}={level!r}" for dim, level in choice.items()) if named else repr(choice)
        free = [use for use, dim in uses.items() if dim is None]
        facet = f", or show them by {', '.join(f'{use}=' for use in free)}" if free else ""
        raise ValueError(f"strata that the figure does not show: {levels}; choose one by cube.sel({select}){facet}")


def fill_uses(cube: xr.Dataset, uses: dict[str, str | None]) -> dict[str, str]:
    """Return which stratum each use has: those named, and for others the strata that are left, in their order.

    Along x, which every figure needs, goes the last stratum whose levels are numbers, if there is one. Others get a
    stratum only if none is named, and only one of several levels.
    """
    used_dims = {use: dim for use, dim in uses.items() if dim is not None}
    left = sorted(
        (dim for dim in strata_dims(cube) if dim not in used_dims.values()), key=lambda dim: cube.sizes[dim] == 1
    )
    for use in [use for use in uses if use == "x" or not used_dims]:
        if use in used_dims:
            continue
        free = left if use == "x" else [dim for dim in left if cube.sizes[dim] > 1]
        numbers = [dim for dim in free if cube[dim].dtype.kind in "iuf" and use == "x" and cube.sizes[dim] > 1]
        if not free and use == "x":
            raise ValueError(f"no stratum is left for x=; the strata of the cube are {strata_dims(cube)}")
        if free:
            used_dims[use] = (numbers or free[:1])[-1]
            left.remove(used_dims[use])
    return used_dims


def metric_label(cube: xr.Dataset, metric: str) -> str:
    """Return the label of a metric's axis."""
    spec = cube[metric].attrs
    return axis_label(spec.get("long_name", metric), spec["direction"])


def level_words(cube: xr.Dataset, dim: str) -> list[str]:
    """Return the names of a dimension's levels."""
    return words.level_words(cube[dim].to_numpy().reshape(-1))


def longest_word(names: Sequence[str], room: float) -> float:
    """Return the width, in inches, of names that are broken to about `room` inches."""
    lines = [line for name in tick_names(names, room) for line in name.split("\n")]
    return LETTER * (1 + max(map(len, lines)))


def with_levels(cube: xr.Dataset, table: pd.DataFrame | None) -> pd.DataFrame:
    """Add the strata with runs to their table, or make one, as categories in the cube's order."""
    dims = strata_dims(cube)
    if not dims:
        return pd.DataFrame(index=[0]) if table is None else table
    runs = (cube["status"] != NO_RUN).any("replicate").transpose(*dims).to_numpy()
    codes = np.nonzero(runs)
    labels = {
        dim: pd.Categorical.from_codes(code, pd.Index(level_words(cube, dim)))
        for dim, code in zip(dims, codes, strict=True)
    }
    if table is None:
        return pd.DataFrame(labels)
    return table.assign(**labels)


def left_out(cube: xr.Dataset, table: pd.DataFrame, column: str) -> list[str]:
    """Name the strata that a figure cannot place, for its caption: without runs, failed, undefined or infinite."""
    dims = strata_dims(cube)
    shape = tuple(cube.sizes[dim] for dim in dims) or (1,)
    value, failed, runs = np.full(shape, np.nan), np.zeros(shape, bool), np.zeros(shape, bool)
    at = tuple(table[dim].cat.codes.to_numpy(np.int64) for dim in dims) or (np.zeros(len(table), np.int64),)
    value[at], runs[at] = table[column], True
    failed[at] = table["n_failed"] == table["n_runs"]
    gone = np.isnan(value)
    reasons = {
        "no runs": ~runs,
        "all runs failed": runs & gone & failed,
        "undefined": runs & gone & ~failed,
        "infinite": np.isinf(value),
    }
    return [f"{reason}: {_some_strata(cube, np.argwhere(here))}" for reason, here in reasons.items() if here.any()]


def _some_strata(cube: xr.Dataset, places: Any) -> str:
    """Name up to three strata by their levels, and count the others."""
    wide = [(k, dim) for k, dim in enumerate(strata_dims(cube)) if cube.sizes[dim] > 1]
    names = [", ".join(level_words(cube, dim)[place[k]] for k, dim in wide) for place in places[:3]]
    if not wide:
        return "the only stratum"
    shown = ", ".join(f"({name})" if len(wide) > 1 else name for name in names)
    return shown + (f" and {len(places) - 3} more" if len(places) > 3 else "")


def facet_grid(
    cube: xr.Dataset, table: pd.DataFrame, col: str | None, row: str | None, width: float, height: float
) -> FacetGrid:
    """Make a grid of facets, titled with their levels, whose layout fits itself to its parts."""
    import seaborn as sns

    wrap = None
    if col is not None and row is None and cube.sizes[col] * width > _PAGE:
        wrap = max(1, int(_PAGE / width))
    shape: dict[str, Any] = {"height": height, "aspect": width / height, "col_wrap": wrap}
    grid = sns.FacetGrid(table, col=col, row=row, dropna=False, legend_out=False, **shape)
    grid.figure.set_layout_engine("constrained")
    for (i, j, _), _ in grid.facet_data():
        positions = [(dim, k) for dim, k in ((row, i), (col, j)) if dim is not None]
        letters = max(12, int((width - 0.3) / LETTER))
        title = "\n".join(broken(f"{dim} = {level_words(cube, dim)[k]}", letters) for dim, k in positions)
        _facet(grid, i, j).set_title(title, size="medium")
    return grid


def panels(grid: FacetGrid) -> list[tuple[Axes, pd.DataFrame]]:
    """Return the axes of a grid, each with its part of the table."""
    return [(_facet(grid, i, j), data) for (i, j, _), data in grid.facet_data()]


def _facet(grid: FacetGrid, i: int, j: int) -> Axes:
    # columns that are wrapped have one axis of axes
    panel: Axes = grid.axes[j] if grid.axes.ndim == 1 else grid.axes[i, j]
    return panel


def mark_empty(empty: Sequence[Axes], grid: FacetGrid, scales: str) -> None:
    """Write into facets that no value is finite; where all are empty, remove the ticks of these scales ("y", "xy")."""
    for ax in empty:
        ax.text(0.5, 0.6, "no finite value", transform=ax.transAxes, ha="center", color=tone(0.65, ax), gid="empty")
        if len(empty) == grid.axes.size:
            ax.set(**{f"{scale}ticks": [] for scale in scales})


def legend_right(
    cube: xr.Dataset,
    grid: FacetGrid,
    hue: str | None,
    shades: Sequence[Any],
    *,
    points: bool,
    n_open: int = 0,
    controls: bool = True,
) -> None:
    """Write the legend right of the facets: colours of the hue, runs (points, `n_open` of them open), controls."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    for h, word in enumerate([] if hue is None else level_words(cube, hue)):
        marker = MARKERS[h % len(MARKERS)] if points else ""
        handles.append(Line2D([], [], color=shades[h], marker=marker, label=broken(word, 26)))
    grey = tone(0.65) if hue is not None else shades[0]
    marks: list[Any] = []
    if points and has_controls(cube):
        marks.append(Line2D([], [], color=grey, marker="o", label="better"))
        others = "not better" + (" or no test" if null_references(cube) else "")
        marks += [Line2D([], [], color=grey, marker="o", markerfacecolor="none", label=others)] * bool(n_open)
    else:
        marks.append(Line2D([], [], color=grey, marker="o" if points else "", label="runs"))
    if controls and has_controls(cube):
        marks.append(Patch(facecolor=grey, alpha=opacity(0.25), label="controls"))
    if handles and marks:
        handles.append(Line2D([], [], linestyle="none", label=" "))
    handles += marks
    figure = grid.figure
    # the facets keep their size: legend and caption get room of their own
    labels = [str(handle.get_label()) for handle in handles]
    columns, width, height = legend_room(labels, hue or "", figure.get_figheight() - 0.1)
    figure.set_size_inches(figure.get_figwidth() + width, max(figure.get_figheight(), height + 0.1))
    figure.legend(handles=handles, title=hue, loc="outside right upper", frameon=False, ncols=columns)


def cube_caption(cube: xr.Dataset, parts: Sequence[str], *, controls: bool = True) -> str:
    """Join the parts of a caption, the null model and its draws, and the strata that the cube was cut to."""
    text = "; ".join(parts) + "."
    if controls and has_controls(cube):
        n = int(cube.attrs["n_draws"])
        text += f" Null model: {_null_words(cube)}, {n} draw{'s' if n != 1 else ''} per run."
    elif controls:
        text += " There are no controls."
    cut = [dim for dim in json.loads(cube.attrs["strata"]) if dim in cube.coords and cube[dim].size == 1]
    if cut:
        text += f" {', '.join(f'{dim} = {level_words(cube, dim)[0]}' for dim in cut)}."
    return text


def weighted_words(cube: xr.Dataset) -> list[str]:
    """Say in a caption that runs have weights, where they have."""
    return ["runs count by their weights"] if WEIGHT in cube.coords else []


def tested_by(cube: xr.Dataset, statistic: str) -> str:
    """Describe the randomisation test of strata: its statistic, and what its runs share that are not independent."""
    setting = cluster_setting(cube)
    unit = "each run by itself" if setting == "none" else f"runs of one {setting} together"
    return f"randomisation test of whether guesses reach the {words.STATISTICS[statistic]}, {unit}"


def _null_words(cube: xr.Dataset) -> str:
    """Return the name of the null model, and what it draws if it is one of the field's own."""
    name = str(null_name(cube))
    field = FIELDS.get(cube.attrs.get("field", ""))
    return name if field is None or name not in field.nulls else f"{name} ({field.nulls[name].long_name})"
