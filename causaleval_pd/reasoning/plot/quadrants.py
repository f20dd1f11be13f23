"""Validity against consistency of reasoners, in the units of what is tolerated, so that quadrants are the classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ...contract.figure import figure
from ...drawing import caption, place_to_draw
from ..measures.classes import Convention, check_convention, judged_by, taxonomy
from ..measures.validity import FLOOR
from .marks import draw_legend, not_shown, pns_rows, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["quadrant"]

#: areas of the large points that coincide, in points squared: each smaller one is drawn upon the one before
_AREAS = (90, 230, 420, 660)


@figure(
    "validity against consistency of reasoners",
    of="table",
    field="quantity",
    concludes="which reasoners are valid, and which are consistent",
)
def quadrant(
    quantities: pd.DataFrame,
    *,
    by: str = "model",
    convention: Convention = None,
    delta: float = 0.1,
    floor: float = FLOOR,
    ax: Axes | None = None,
) -> Axes:
    """Plot validity against consistency of reasoners.

    Parameters
    ----------
    quantities : DataFrame
        Table made by `quantities`, with compositions.
    by : str
        Column of reasoners.
    convention : {"paper"}, optional
        Rule of the classes, as in `taxonomy`.
    delta, floor : float
        Tolerance, as in `taxonomy`.
    ax : Axes, optional
        Axes to draw on; default a new figure.

    Returns
    -------
    Axes
        A small point a task: its worst PNS and its worst composition, as multiples of what is tolerated, so that the
        quadrant of a point is the class that `taxonomy` gives; hollow where that is undecided. A large point a
        reasoner: medians over tasks. Large points that coincide have several sizes, and stand where they are.

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
    check_convention(convention)
    rows = pns_rows(quantities, by)
    if not (rows["relation"] == "internal").any():
        raise ValueError("the table has no compositions, so consistency is undefined; pass worlds= to quantities")
    judged = judged_by(convention, rows, delta=delta, floor=floor)
    judged["excess"] = judged["excess"].fillna(np.inf)
    points = judged.groupby([by, "task", "relation"], sort=False)["excess"].max().unstack("relation")
    classes = taxonomy(rows, by=by, convention=convention, delta=delta, floor=floor).set_index([by, "task"])["class"]
    decided = classes.notna().reindex(points.index, fill_value=False)
    own = ax is None
    ax = place_to_draw(ax, 5.6, 5.0)
    names = list(dict.fromkeys(rows[by]))
    largest = float(np.nanmax(points.to_numpy()[np.isfinite(points.to_numpy())], initial=1.0))
    top = 3 * max(10.0, largest)
    shown = points.clip(upper=top)
    _draw_borders(ax, top)
    middles = shown.groupby(level=0, sort=False).median().loc[names]
    areas = _areas(middles)
    for name, colour, marker in styles(names):
        mine, known = shown.loc[name], decided.loc[name]
        for part, face in ((mine[known], colour), (mine[~known], "none")):
            ax.scatter(
                part["external"], part["internal"], s=18, facecolors=face, edgecolors=colour, alpha=0.55,
                linewidths=0.9, clip_on=False,
            )  # fmt: skip
        middle = middles.loc[name]
        ax.scatter(
            [middle["external"]], [middle["internal"]], s=areas[name], color=colour, marker=marker, edgecolors="black",
            linewidths=0.8, zorder=3 - areas[name] / 10_000, label=str(name), clip_on=False,
        )  # fmt: skip
    ax.set_xlabel("worst error against the truth, in tolerances (lower is better)")
    ax.set_ylabel("worst error of own products against own whole,\nin tolerances (lower is better)")
    draw_legend(ax, by, own)
    for handle in ax.get_legend().legend_handles:  # type: ignore[union-attr]
        handle.set_sizes([60])  # type: ignore[union-attr]
    _write_caption(
        ax, own, convention, delta, floor, bool(np.isinf(points.to_numpy()).any()), not_shown(quantities, by, names)
    )
    return ax


def _write_caption(
    ax: Axes, own: bool, convention: Convention, delta: float, floor: float, infinite: bool, absent: str
) -> None:
    if convention is None:
        rule = f"Tolerance: {delta:g} x max(|truth|, {floor:g})"
    else:
        rule = f"The paper's rule: relative errors of at most {delta:g}, and of its threshold of consistency"
    edge = "; at the edge: infinite or undefined" if infinite else ""
    points = "small: a task, hollow where undecided; large: median of tasks, in several sizes where they coincide"
    caption(ax, own, f"{rule}. PNS; {points}{edge}{absent}.")


def _draw_borders(ax: Axes, top: float) -> None:
    """Draw the borders of the quadrants on axes that show 0, and name each quadrant in its corner."""
    for set_scale in (ax.set_xscale, ax.set_yscale):
        set_scale("symlog", linthresh=1.0, linscale=0.8)
    ax.set(xlim=(-0.08, top), ylim=(-0.08, top))
    ax.axvline(1, color="0.3", lw=1, ls="--")
    ax.axhline(1, color="0.3", lw=1, ls="--")
    corners = {
        "valid, consistent": (0.02, 0.04),
        "valid, inconsistent": (0.02, 0.98),
        "invalid, consistent": (0.98, 0.04),
        "invalid, inconsistent": (0.98, 0.98),
    }
    for words, (x, y) in corners.items():
        ax.text(
            x, y, words, transform=ax.transAxes, ha="left" if x < 0.5 else "right",
            va="bottom" if y < 0.5 else "top", color="0.35", size="small", zorder=4,
        )  # fmt: skip


def _areas(points: pd.DataFrame) -> dict[str, float]:
    """Return the area of each point; of points that coincide, the first is the largest, so that all can be seen."""
    same = points.round(9).groupby(["external", "internal"], sort=False, dropna=False)
    rank = same.cumcount(ascending=False).tolist()
    return {name: float(_AREAS[min(i, len(_AREAS) - 1)]) for name, i in zip(points.index, rank, strict=True)}
