"""Validity against consistency of reasoners."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ...contract.figure import figure
from ...drawing import caption, place_to_draw
from .marks import draw_legend, not_shown, pns_rows, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["quadrant"]


@figure(
    "validity against consistency of reasoners",
    of="table",
    field="quantity",
    concludes="which reasoners are valid, and which are consistent",
)
def quadrant(
    quantities: pd.DataFrame, *, by: str = "model", delta: float = 0.1, floor: float = 0.01, ax: Axes | None = None
) -> Axes:
    """Plot validity against consistency of reasoners.

    Parameters
    ----------
    quantities : DataFrame
        Table made by `quantities`, with compositions.
    by : str
        Column of reasoners.
    delta : float
        Relative error at the borders of the quadrants.
    floor : float
        Smallest denominator of a relative error.
    ax : Axes, optional
        Axes to draw on; default a new figure.

    Returns
    -------
    Axes
        A small point a task, a large one a reasoner (medians); errors below `delta` / 100 are drawn at the edge.

    Raises
    ------
    ValueError
        If a column is missing or the table has no compositions.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from causaleval_pd.reasoning import make_tasks, plot, quantities, reasoners
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=200, rng=1)
    >>> answers = reasoners.baselines(tasks.questionnaire(), tasks, names=["perfect", "random"], rng=1)
    >>> ax = plot.quadrant(quantities(answers, by="model", worlds=tasks))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['perfect', 'random']
    """
    rows = pns_rows(quantities, by)
    if not (rows["relation"] == "internal").any():
        raise ValueError("the table has no compositions, so consistency is undefined; pass worlds= to quantities")
    scale = np.maximum(rows["truth"].abs(), floor)
    rows = rows.assign(error=(rows["estimate"] - rows["truth"]).abs() / scale)
    least = delta / 100
    points = rows.groupby([by, "task", "relation"], sort=False)["error"].median().unstack("relation").clip(lower=least)
    own = ax is None
    ax = place_to_draw(ax, 5.4, 4.8)
    names = list(dict.fromkeys(rows[by]))
    middles = _apart(points.groupby(level=0, sort=False).median().loc[names])
    for name, colour, marker in styles(names):
        mine = points.loc[name]
        ax.scatter(mine["external"], mine["internal"], s=14, color=colour, alpha=0.4, linewidths=0)
        middle = middles.loc[name]
        ax.scatter(
            [middle["external"]], [middle["internal"]], s=90, color=colour, marker=marker, edgecolors="black",
            linewidths=0.8, zorder=3, label=str(name),
        )  # fmt: skip
    ax.set(xscale="log", yscale="log")
    top = 2 * max(10 * delta, float(np.nanmax(points.to_numpy())))
    ax.set(xlim=(least / 1.5, top), ylim=(least / 4, top))
    _draw_borders(ax, delta)
    ax.set_xlabel("relative error against the truth (lower is better)")
    ax.set_ylabel("relative error of own products\nagainst own whole (lower is better)")
    draw_legend(ax, by, own)
    points_are = "PNS; large: median over tasks (moved apart where they coincide), small: median of a task"
    floors = f"errors below {least:g} stand there; truths below {floor:g} count as {floor:g}"
    caption(ax, own, f"{points_are}; lines: {delta:g}; {floors}{not_shown(quantities, by, names)}.")
    return ax


def _draw_borders(ax: Axes, delta: float) -> None:
    """Draw the borders of the quadrants, and name each in its corner."""
    ax.axvline(delta, color="0.3", lw=1, ls="--")
    ax.axhline(delta, color="0.3", lw=1, ls="--")
    corners = {
        "valid, consistent": (0.02, 0.02),
        "valid, inconsistent": (0.02, 0.98),
        "invalid, consistent": (0.98, 0.02),
        "invalid, inconsistent": (0.98, 0.98),
    }
    for words, (x, y) in corners.items():
        ax.text(
            x, y, words, transform=ax.transAxes, ha="left" if x < 0.5 else "right",
            va="bottom" if y < 0.5 else "top", color="0.35", size="small", zorder=4,
        )  # fmt: skip


def _apart(points: pd.DataFrame) -> pd.DataFrame:
    """Shift coinciding points a little along the x axis, so that all are visible."""
    same = points.round(9).groupby(["external", "internal"], sort=False, dropna=False)
    place = same.cumcount() - (same["external"].transform("size") - 1) / 2
    return points.assign(external=points["external"] * 1.35**place)
