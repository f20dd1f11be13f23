"""Cut tree of a task with a reasoner's PNS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...contract.figure import figure
from ...drawing import caption, colour_bar, place_to_draw
from ..measures.validity import FLOOR, judge
from .marks import pns_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

__all__ = ["cut_tree"]

_LINES = {"valid": "-", "undecided": "--", "invalid": ":"}


@figure(
    "cut tree of one task with estimates and errors",
    of="table",
    field="quantity",
    concludes="which pairs of a task a reasoner gets right",
)
def cut_tree(quantities: pd.DataFrame, *, delta: float = 0.1, floor: float = FLOOR, ax: Axes | None = None) -> Axes:
    """Plot the cut tree of one task with a reasoner's PNS on its edges, coloured by error.

    Parameters
    ----------
    quantities : DataFrame
        Rows of one task and one reasoner of a table made by `quantities`.
    delta, floor : float
        As in `judge`, whose decision determines the style of a line.
    ax : Axes, optional
        Axes to draw on; default a new figure.

    Returns
    -------
    Axes
        Nodes from root to leaf, an arc a pair: its colour is estimate - truth, its line style the decision.

    Raises
    ------
    ValueError
        If the rows are of several tasks or reasoners.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from causaleval_pd.reasoning import make_tasks, plot, quantities, reasoners
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=200, rng=1)
    >>> answers = tasks.questionnaire().assign(answer=lambda q: reasoners.random(q, rng=1))
    >>> len(plot.cut_tree(quantities(answers, worlds=tasks)).patches)
    3
    """
    rows = pns_rows(quantities, None)
    rows = rows[(rows["kind"] != "composition")]
    if not len(rows) or rows.duplicated(["cause", "effect"]).any() or rows["task"].nunique() != 1:
        raise ValueError("a cut tree shows one task and one reasoner; select their rows first")
    rows = judge(rows, delta=delta, floor=floor)
    # the root is the cause of all other nodes, the next node of one less, and so on
    order = rows["cause"].value_counts().index.tolist()
    order += [effect for effect in rows["effect"] if effect not in order][:1]
    place = {node: i for i, node in enumerate(order)}
    own = ax is None
    ax = place_to_draw(ax, 1.6 * max(3, len(order)) + 1.4, max(2.6, 1.5 + 1.6 * _arc_height(len(order) - 1)))
    colouring = _draw_arcs(ax, rows, place)
    ax.scatter(range(len(order)), [0] * len(order), s=620, color="0.92", edgecolors="0.3", zorder=3)
    for node, i in place.items():
        ax.text(i, -0.17, node, ha="center", va="top", zorder=4)
    ax.set(xlim=(-0.5, len(order) - 0.5), ylim=(-0.45, _arc_height(len(order) - 1) + 0.25), aspect="equal")
    ax.axis("off")
    colour_bar(ax, colouring, "estimate - truth of the PNS")
    lines = "solid: shown to be valid, dashed: undecided, dotted: shown to be invalid"
    caption(ax, own, f"Estimated PNS (true value in brackets); {lines}, at a relative error of {delta:g}.")
    return ax


def _draw_arcs(ax: Axes, rows: pd.DataFrame, place: Mapping[Any, int]) -> ScalarMappable:
    """Draw an arc a pair with its estimated and true PNS, and return the colours of errors."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.patches import FancyArrowPatch

    error = (rows["estimate"] - rows["truth"]).to_numpy()
    reach = max(0.05, float(np.nanmax(np.abs(error), initial=0.0)))
    colouring = ScalarMappable(Normalize(-reach, reach), colormaps["coolwarm"])
    for row, wrong in zip(rows.itertuples(), error, strict=True):
        a, b = place[row.cause], place[row.effect]
        height = _arc_height(b - a)
        # the control point of an arc is twice as high as the arc
        ax.add_patch(
            FancyArrowPatch(
                (a, 0), (b, 0), connectionstyle=f"arc3,rad={-2 * height / (b - a):g}", arrowstyle="-|>",
                mutation_scale=14, shrinkA=13, shrinkB=13, lw=2.4, color=colouring.to_rgba(wrong),
                linestyle=_LINES.get(str(row.decision), "--"),
            )
        )  # fmt: skip
        ax.text(
            (a + b) / 2, height, f"{row.estimate:.3f}\n({row.truth:.3f})", ha="center", va="center", size="small",
            bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.9},
        )  # fmt: skip
    return colouring


def _arc_height(steps: int) -> float:
    """Return the height of an arc over a number of steps; an edge between neighbours is straight."""
    return 0.0 if steps == 1 else 0.42 * steps - 0.3
