"""Figures of a report: which of them fit a cube, and their pictures with captions in words."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import xarray as xr

from ..contract.figure import FIGURES
from ..cubes.reading import has_controls, null_references, strata_dims
from ..inference.compared_values import On
from ..plot.critical_difference import critical_difference
from ..plot.distributions import distributions
from ..plot.facets import drawn_cube
from ..plot.forest import forest
from ..plot.strata import strata
from .level_comparison import LevelComparison, compare_in_blocks

#: most facets of a figure, levels along its x axis and by colour, so that it stays readable
_FACETS, _LEVELS, _COLOURS = 24, 40, 12
#: most rows of a forest
_ROWS = 30
#: least levels on a scale of numbers, and ratio of its ends from which on it is logarithmic
_FEW, _DECADE = 3, 10.0


class Picture(NamedTuple):
    """A drawn figure."""

    #: what it shows
    title: str
    #: what its marks are and what to conclude
    caption: str
    #: the file
    content: bytes
    #: width on a page, in CSS pixels
    width: int


class Omitted(NamedTuple):
    """A figure that was not drawn, and why."""

    reason: str


def pictures(
    cube: xr.Dataset,
    metric: str,
    over: str | None,
    *,
    level: float = 0.95,
    adjust: str | None = "holm",
    on: On = "metric",
    test: str | None = None,
    compared: LevelComparison | None = None,
) -> Iterator[Picture | Omitted]:
    """Draw the figures of one metric that fit the cube."""
    from matplotlib import rc_context

    # dollar signs in names do not start formulas
    with rc_context({"text.parse_math": False}):
        yield from _of_runs(cube, metric, over, level, adjust)
        # of columns that a cube carries there is no skill to compare
        if over is not None and (on == "metric" or has_controls(cube, metric)):
            how = {"on": on, "test": test, "adjust": adjust}
            yield from _of_levels(cube, metric, over, level, how, compared)


def _title(cube: xr.Dataset, metric: str) -> str:
    """Name a metric in titles."""
    label = str(cube[metric].attrs.get("long_name", metric))
    return label if label == metric.replace("_", " ") else f"{metric}, {label}"


def _of_runs(
    cube: xr.Dataset, metric: str, over: str | None, level: float, adjust: str | None
) -> Iterator[Picture | Omitted]:
    """Draw runs and controls of all strata, and their skill."""
    label, title = str(cube[metric].attrs.get("long_name", metric)), _title(cube, metric)
    references = null_references(cube)
    models = [str(x) for x in np.atleast_1d(cube["null"].to_numpy())] if "null" in cube.coords else references[:1]
    controls = _Controls(
        has_controls(cube, metric),
        bool(references),
        tested=not (references and set(models) <= set(references)),
    )
    drawn = drawn_cube(cube, metric)
    sizes = {dim: drawn.sizes[dim] for dim in strata_dims(drawn)}
    wide = {dim: size for dim, size in sizes.items() if size > 1}
    if sizes:
        uses = _uses(drawn, wide or dict([next(iter(sizes.items()))]), over)
        reason = _too_many(uses, sizes)
        if reason:
            yield Omitted(f"No figure of the strata of {label}: {reason}.")
        else:
            grid = strata(cube, metric, level=level, adjust=adjust, scale=_scale(drawn, uses["x"]), **uses)
            yield _picture("strata", title, grid, controls)
    if len(wide) < 2:
        hue = next((dim for dim, size in wide.items() if size <= _COLOURS), None)
        yield _picture("distributions", title, distributions(cube, metric, hue=hue), controls)


def _of_levels(
    cube: xr.Dataset,
    metric: str,
    over: str,
    level: float,
    how: dict[str, Any],
    compared: LevelComparison | None,
) -> Iterator[Picture | Omitted]:
    """Draw differences between the levels of a stratum, and their ranks."""
    title, drawn = _title(cube, metric), drawn_cube(cube, metric)
    wide = {dim: drawn.sizes[dim] for dim in strata_dims(drawn) if drawn.sizes[dim] > 1}
    if cube.sizes[over] < 2:
        return
    alone = set(wide) <= {over, "null"}
    # null models and the metric's own dimensions are not compared
    one_stratum = alone and {dim for dim in strata_dims(cube) if cube.sizes[dim] > 1} <= {over}
    if compared is None:
        compared = compare_in_blocks(cube, over, [metric], level=level, **how)
    label = cube[metric].attrs.get("long_name", metric)
    rows = compared.pooled[compared.pooled["metric"] == metric]
    if 0 < len(rows) <= _ROWS:
        yield _picture("forest", title, forest(rows))
    elif len(rows):
        yield Omitted(f"No figure of the differences of {label}: there are {len(rows)} pairs of levels.")
    if compared.strata is not None:
        rows = compared.strata[compared.strata["metric"] == metric]
        if 0 < len(rows) <= _ROWS:
            yield _picture("forest", f"{title} by stratum", forest(rows))
        elif len(rows):
            yield Omitted(f"No figure of the differences of {label} by stratum: there are {len(rows)} rows.")
    ranked = one_stratum and how["on"] == "metric" and cube[metric].attrs.get("direction") != "none"
    if ranked and 2 < cube.sizes[over] <= _LEVELS:
        yield _picture("critical_difference", title, critical_difference(cube, metric, over, level=level))


def _uses(cube: xr.Dataset, dims: dict[str, int], over: str | None) -> dict[str, Any]:
    """Return the strata along x, by colour, by column and by row of a figure; more than four have no place."""
    left = list(dims)
    uses: dict[str, Any] = {}
    if len(left) > 1:
        small = [dim for dim in left if dims[dim] <= _COLOURS and dim != "null"]
        uses["hue"] = over if over in small else next(iter(small), left[0])
        left.remove(uses["hue"])
    # an ordered stratum, such as the number of observations, runs along x
    ordered = [dim for dim in left if cube[dim].dtype.kind in "iufM"]
    uses["x"] = max(ordered or [dim for dim in left if dim != "null"] or left, key=lambda dim: dims[dim])
    left.remove(uses["x"])
    uses |= dict(zip(("col", "row"), left, strict=False))
    return uses if len(left) < 3 else uses | {"left": left[2:]}


def _scale(cube: xr.Dataset, x: str) -> Literal["log", "linear"] | None:
    """Return the scale of a stratum whose levels are numbers, None of one that is drawn level by level."""
    levels = cube[x].to_numpy()
    if levels.dtype.kind not in "iuf" or len(levels) < _FEW:
        return None
    return "log" if levels.min() > 0 and levels.max() >= _DECADE * levels.min() else "linear"


def _too_many(uses: dict[str, Any], sizes: dict[str, int]) -> str:
    """Return why a figure would not be readable, nothing if it would."""
    if "left" in uses:
        return f"more than four strata have several levels ({', '.join(d for d, n in sizes.items() if n > 1)})"
    for use, most in (("x", _LEVELS), ("hue", _COLOURS)):
        if use in uses and sizes[uses[use]] > most:
            return f"{uses[use]} has {sizes[uses[use]]} levels"
    facets = math.prod(sizes[uses[use]] for use in ("col", "row") if use in uses)
    return f"it would have {facets} facets" if facets > _FACETS else ""


class _Controls(NamedTuple):
    """What a figure of runs shows of controls."""

    drawn: bool = True
    #: whether some are points of reference, which are not tested
    reference: bool = False
    #: whether strata can be tested against any of them
    tested: bool = True


#: what figures show in a report, where they could show more
_TITLES = {"forest": "differences between levels with their intervals", "strata": "skill by stratum"}
#: what figures of runs without controls show
_ALONE = {
    "strata": ("mean of the runs by stratum", "how strata differ"),
    "distributions": ("distribution of the runs", "how runs vary"),
}


def _picture(name: str, label: str, drawn: Any, controls: _Controls | None = None) -> Picture:
    """Save a figure and close it; its caption becomes text beside it."""
    import matplotlib.pyplot as plt

    figure = drawn.figure
    try:
        words = []
        for artist in figure.findobj(lambda x: x.get_gid() == "caption"):
            # a line that was broken after a hyphen
            words.append(" ".join(re.sub(r"(?<=\w)-\n(?=\w)", "-", artist.get_text()).split()))
            artist.set_visible(False)
            artist.set_in_layout(False)
        file = io.BytesIO()
        width = round(96 * figure.get_figwidth())
        figure.savefig(file, format="png", dpi=150)
    finally:
        plt.close(figure)
    spec = FIGURES[name]
    title, shows = _TITLES.get(name, spec.long_name), spec.concludes
    if controls is not None and not controls.drawn:
        title, shows = _ALONE[name]
    if name == "strata" and controls is not None and controls.drawn:
        if controls.reference:
            words.append("Points of reference among the null models are not tested.")
        if not controls.tested:
            words.append("No stratum is tested, so that no point is filled.")
            shows = "how far strata are from their controls"
    return Picture(f"{label}: {title}", f"{' '.join(words)} It shows {shows}.", file.getvalue(), width)


def levels_share_truths(cube: xr.Dataset, dim: str) -> bool:
    """Return whether the levels of a stratum have runs on the same truths, replicate by replicate."""
    truths = cube["truth_id"].where(cube["status"] != 0).where(cube["truth_id"] != 0)
    several = truths.notnull().sum(dim) > 1
    same = truths.max(dim) == truths.min(dim)
    return bool(several.any()) and bool((same | ~several).all())
