"""Skill of own runs among the skill of published results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from ..contract.checks import check_known, check_type, name_row
from ..contract.figure import figure
from ..contract.metric import METRICS
from ..cubes.reading import null_name
from ..cubes.summary import full_summary
from ..cubes.summary_columns import Settings
from ..drawing import caption as write_caption
from ..drawing import colours, inches, name_rows, place_to_draw, rows_height, tone, wrapped_label
from ..statistics.words import BETTER
from . import facets

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["published"]

#: width of names beside rows of a new figure, at most, and of the plot itself, in inches
_NAMES, _PLOT = 2.8, 4.2
#: skills below are drawn at the edge
_LOWEST = -1.0


@figure(
    "skill of own runs among published results",
    of="cube",
    concludes="where own algorithms stand among published ones",
)
def published(
    cube: xr.Dataset,
    metric: str,
    results: pd.DataFrame,
    *,
    by: str,
    method: str = "method",
    ax: Axes | None = None,
    caption: bool = True,
) -> Axes:
    """Draw the skill of strata, a point each, among the skill of published results: 0 is guessing, 1 is perfect.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`.
    metric : str
        One of its metrics.
    results : DataFrame
        Result of `from_published` with the same metric; choose rows of the same kind of condition.
    by : str
        Stratum that names own algorithms; levels of further strata are points of its rows.
    method : str
        Column of `results` that names published algorithms.

    Returns
    -------
    Axes
        One row per algorithm, by its median skill, which is a bar; own ones are coloured. Filled points beat guessing.
        Skills below -1 are triangles at the edge.

    Raises
    ------
    TypeError
        If `results` is not a table.
    ValueError
        If it has no skill of the metric, or a stratum or column is unknown.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> cube = ce.datasets.runs().ceval.cube(["adjacency_f1"], by=["algorithm", "n"], n_draws=20, rng=7)
    >>> printed = pd.DataFrame({"method": ["GES", "BOSS"], "adjacency_f1": ["0.70", "0.85"], "n_nodes": 10,
    ...     "true_edges": 20, "estimated_edges": 20, "n_runs": 1})
    >>> ax = cube.ceval.plot.published("adjacency_f1", ce.from_published(printed), by="algorithm")
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['lingam', 'ges', 'BOSS (published)', 'pc', 'GES (published)']
    """
    check_type(results, pd.DataFrame, "a table of from_published", "results")
    for column in (f"{metric}_skill", f"{metric}_verdict", method):
        if column not in results:
            raise ValueError(f"results have no column {column!r}; judge them by ce.from_published(table, {metric!r})")
    unnamed = np.flatnonzero(results[method].isna())
    if len(unnamed):
        raise ValueError(f"{name_row(int(unnamed[0]), results.index)}: the column {method!r} is missing")
    cube = facets.drawn_cube(cube, metric)
    _check_comparable(cube, metric, results)
    (stratum,) = facets.strata_names(by)
    check_known(stratum, [str(x) for x in cube[metric].dims if x not in ("replicate", "draw")], "stratum of by")
    summary = full_summary(cube, metric, Settings("mean", level=0.95, interval="mean_ci"))
    points = pd.concat(
        [
            _points(summary, by, "skill", "verdict", is_own=True),
            _points(results, method, f"{metric}_skill", f"{metric}_verdict", is_own=False),
        ]
    )
    points = points[points["skill"].notna()]
    order = points.groupby("name", sort=False)["skill"].median().sort_values(ascending=False, kind="stable")
    names = order.index.tolist()
    is_new = ax is None
    room = min(_NAMES, 0.09 * max(map(len, names)))
    height = rows_height(names, room)
    ax = place_to_draw(ax, _PLOT + room, height + 1.0)
    if not is_new:
        height, room = 0.8 * inches(ax, "height"), 0.4 * inches(ax)
    ax.axvline(0, color=tone(0.7, ax), lw=1.0, zorder=0.5, gid="guessing")
    shades = dict(
        zip(
            points.loc[points["own"], "name"].unique(),
            colours(points.loc[points["own"], "name"].nunique()),
            strict=True,
        )
    )
    for row, name in enumerate(names):
        _draw_row(ax, row, points[points["name"] == name], shades.get(name, tone(0.45, ax)), float(order[name]))
    low = max(_LOWEST, min(0.0, float(points["skill"].min())))
    ax.set(xlim=(low - 0.06, 1.06), ylim=(len(names) - 0.4, -0.6))
    name_rows(ax, names, room, height)
    ax.grid(False, axis="y")
    long_name = METRICS[metric].long_name if metric in METRICS else metric
    ax.set_xlabel(wrapped_label(f"skill of {long_name}", _PLOT if is_new else inches(ax)))
    if caption:
        n_own, n_others = int(points["own"].sum()), int((~points["own"]).sum())
        counts = f"{n_own} own strata, {n_others} published results"
        write_caption(ax, is_new, f"0 is guessing, 1 is perfect; filled: beats guessing; bar: median; {counts}.")
    return ax


def _check_comparable(cube: xr.Dataset, metric: str, results: pd.DataFrame) -> None:
    """Refuse skills beside other guesses, and distances that are counted otherwise."""
    null, others = null_name(cube, metric), results.get("control_null", pd.Series(dtype="str")).dropna().unique()
    for other in others:
        if null is not None and null.split("(")[0] not in str(other).split(" and "):
            raise ValueError(
                f"own skill is beside the null model {null!r}, published skill beside {other!r}; make the cube with "
                f"null={str(other).split(' and ')[0]!r}"
            )
    counted = results.get("shd_convention", pd.Series(dtype="str")).dropna()
    if metric == "shd" and (counted != "any difference 1").any():
        raise ValueError("shd of own runs costs 1 per difference; keep the results whose shd_convention says so")


def _points(table: pd.DataFrame, name: str, skill: str, verdict: str, *, is_own: bool) -> pd.DataFrame:
    """Return a row per point: the algorithm's name, its skill, whether it beats guessing, whether it is an own one."""
    names = table[name].astype(str)
    return pd.DataFrame(
        {
            "name": names if is_own else names + " (published)",
            "skill": table[skill].astype(np.float64),
            "better": table[verdict].astype(str) == BETTER,
            "own": is_own,
        }
    )


def _draw_row(ax: Axes, row: int, points: pd.DataFrame, colour: Any, median: float) -> None:
    """Draw the points of one algorithm side by side, in the order of the table, and their median."""
    places = row + np.linspace(-0.22, 0.22, len(points)) if len(points) > 1 else np.array([float(row)])
    skill, better = points["skill"].to_numpy(), points["better"].to_numpy(bool)
    inside = skill >= _LOWEST
    for some, marker in ((inside, "o"), (~inside, "<")):
        face = [colour if x else "none" for x in better[some]]
        ax.scatter(
            np.maximum(skill[some], _LOWEST),
            places[some],
            s=16,
            marker=marker,
            facecolors=face,
            edgecolors=[colour],
            lw=0.9,
        )
    ax.plot([max(median, _LOWEST)] * 2, [row - 0.34, row + 0.34], color=colour, lw=2.2, solid_capstyle="butt")
