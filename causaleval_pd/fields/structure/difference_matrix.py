"""Figure of the differences of many pairs of graphs: how often each edge is right, missing, extra or turned."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.cells import is_missing
from ...contract.checks import check_known, check_type, name_row
from ...contract.figure import figure
from ...drawing import (
    caption as write_caption,
)
from ...drawing import (
    inches,
    inner_width,
    legend_of,
    letters_on,
    name_rows,
    place_to_draw,
    shortened,
    tone,
)
from ...graphs.kernels.planes import ARROW
from .difference_plot import EXTRA, MARKED, MISSING, REVERSED, RIGHT, graph_of, marks_of, shades_of_edges
from .field import different_nodes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Shares = dict[str, NDArray[np.float64]]

#: width of a square of a new figure, in inches, and that from which on counts are written into it
_SQUARE, _WRITTEN = 0.62, 0.42
#: letters of a name that are written
_LONGEST = 24


@figure(
    "differences of many pairs of graphs: how often each edge is right, reversed, wrongly marked, missing or extra",
    of="table",
    field="graph",
    concludes="which edges the estimates miss, turn or add most often",
)
def difference_matrix(
    table: pd.DataFrame,
    *,
    truth: Hashable = "truth",
    estimate: Hashable = "estimate",
    ax: Axes | None = None,
    caption: bool = True,
) -> Axes:
    """Draw how often each edge is right, reversed, wrongly marked, missing or extra over the rows of a table.

    Parameters
    ----------
    table : DataFrame
        One run per row, such as the replicates of one stratum. All graphs have the same nodes.
    truth, estimate : hashable
        Names of its columns. A missing estimate is a failed run: it is counted in the caption and not drawn.

    Returns
    -------
    Axes
        A square for each ordered pair of nodes, the edge from the row's to the column's node, is filled in the shares
        of runs. Edges without direction fill both of their squares. The direction is that of the true edge, of extra
        edges that of the estimate. With one truth in all rows its edges have frames.

    Raises
    ------
    ValueError
        If a column is unknown, no row has both graphs, a graph cannot be read, or nodes differ between rows.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({
    ...     "truth": "A -> B; B -> C",
    ...     "estimate": ["A -> B; B -> C", "A -> B; C -> B", "A -> B; C"],
    ... })
    >>> ax = ce.plot.difference_matrix(runs)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['right: 1.33 per run', 'reversed: 0.333 per run', 'missing: 0.333 per run']
    """
    nodes, true, estimates, failed = _marks_of_rows(table, truth, estimate)
    outcomes = _outcomes(true, estimates)
    shares = _shares(outcomes, true, estimates)
    n, d = len(true), len(nodes)
    side = min(max(2.4, _SQUARE * d), 7.0)
    own_figure = ax is None
    names = shortened(nodes, _LONGEST)
    room = min(1.8, 0.09 * max(map(len, names)))
    ax = place_to_draw(ax, side + room + 0.5, side + room + 0.5)
    square = (side if own_figure else _given_side(ax, room)) / d
    shades = shades_of_edges()
    _fill(ax, shares, shades, n if square >= _WRITTEN else 0, square)
    one_truth = bool((true == true[:1]).all())
    if one_truth:
        _frame_true(ax, true[0])
    _name_sides(ax, names, room, square)
    _explain(ax, {what: float(x.sum() / 2 / n) for what, x in outcomes.items()}, shades, own=own_figure)
    parts = [f"Squares: edges from the row's to the column's node (both if undirected), by shares of {_runs(n)}"]
    parts += ["reversed and wrongly marked ones stand where the true edge points"]
    parts += ["frames: true edges"] * one_truth + _most_often(outcomes, nodes)
    if failed:
        parts.append(f"not drawn: {_runs(failed, 'failed ')}")
    if caption:
        write_caption(ax, own_figure, f"{'; '.join(parts)}; no controls are drawn.")
    return ax


def _marks_of_rows(
    table: pd.DataFrame, truth: Hashable, estimate: Hashable
) -> tuple[tuple[str, ...], NDArray[np.uint8], NDArray[np.uint8], int]:
    """Return the nodes, the marks of true and estimated graphs, (n, d, d), and the number of failed runs."""
    check_type(table, pd.DataFrame, "a table with one run per row", "table")
    for name in (truth, estimate):
        check_known(name, table.columns, "column")
    kept: list[list[NDArray[np.uint8]]] = [[], []]
    nodes: tuple[str, ...] | None = None
    first, failed = "", 0
    for row, cells in enumerate(zip(table[truth], table[estimate], strict=True)):
        if is_missing(cells[1]):
            failed += 1
            continue
        for name, cell, marks in zip((truth, estimate), cells, kept, strict=True):
            here = name_row(row, table.index, name)
            try:
                graph = graph_of(cell)
            except (TypeError, ValueError) as error:
                raise type(error)(f"{here}: {error}") from None
            if nodes is None:
                nodes, first = graph.nodes, here
            elif graph.nodes != nodes:
                what = different_nodes(list(nodes), list(graph.nodes)).partition(";")[0]
                what = what.replace("truth has", "the former has").replace("estimate", "the latter")
                raise ValueError(
                    f"{first} and {here} differ in their nodes: {what}; draw rows with the same nodes, such as "
                    "table.query('...'), or name them alike by ce.graph_column(..., rename=)"
                )
            marks.append(marks_of(graph))
    if nodes is None:
        raise ValueError(f"no row has an estimate to draw; {failed} of {len(table)} runs failed")
    if len(nodes) < 2:
        raise ValueError(f"the graphs have {len(nodes)} node, expected at least two")
    return nodes, np.stack(kept[0]), np.stack(kept[1]), failed


def _outcomes(true: NDArray[np.uint8], found: NDArray[np.uint8]) -> dict[str, NDArray[np.bool_]]:
    """Return in which rows each pair of nodes has each outcome, (n, d, d), alike in both triangles."""
    turned = true.transpose(0, 2, 1)
    theirs, mine = (true != 0) | (turned != 0), (found != 0) | (found.transpose(0, 2, 1) != 0)
    same, against = true == found, turned == found
    same, against = same & same.transpose(0, 2, 1), against & against.transpose(0, 2, 1)
    both = theirs & mine
    return {
        RIGHT: both & same,
        REVERSED: both & ~same & against,
        MARKED: both & ~same & ~against,
        MISSING: theirs & ~mine,
        EXTRA: mine & ~theirs,
    }


def _shares(outcomes: dict[str, NDArray[np.bool_]], true: NDArray[np.uint8], found: NDArray[np.uint8]) -> Shares:
    """Return the share of rows with each outcome by ordered pair of nodes."""
    shown = np.where(outcomes[EXTRA], found, true)
    # an edge with an arrow at one end alone lies in one square
    here = (shown == ARROW) | (shown.transpose(0, 2, 1) != ARROW)
    return {what: (rows & here).mean(axis=0) for what, rows in outcomes.items()}


def _fill(ax: Axes, shares: Shares, shades: dict[str, Any], n: int, square: float) -> None:
    """Fill the squares from left to right by the shares of outcomes, with counts of `n` runs where they fit."""
    from matplotlib.collections import PolyCollection

    d = len(shares[RIGHT])
    ax.set(xlim=(-0.5, d - 0.5), ylim=(d - 0.5, -0.5))
    ax.set_facecolor(tone(0.0, ax))
    left = np.full((d, d), -0.46)
    for what, share in shares.items():
        right = left + 0.92 * share
        at = np.argwhere(share > 0)
        ends = [(i, j + left[i, j], j + right[i, j]) for i, j in at.tolist()]
        corners = [[(a, i - 0.46), (b, i - 0.46), (b, i + 0.46), (a, i + 0.46)] for i, a, b in ends]
        ax.add_collection(
            PolyCollection(corners, facecolor=shades[what], linewidth=0, snap=False, gid=what), autolim=False
        )
        for i, j in at.tolist() if n else []:
            number = f"{n * share[i, j]:.0f}"
            if share[i, j] * square >= 0.05 + 0.08 * len(number):
                middle = j + (left[i, j] + right[i, j]) / 2
                ax.text(middle, i, number, ha="center", va="center", size="small", color=letters_on(shades[what]))
        left = right


def _frame_true(ax: Axes, marks: NDArray[np.uint8]) -> None:
    """Draw frames about the squares of true edges."""
    from matplotlib.collections import PolyCollection

    here = ((marks != 0) | (marks.T != 0)) & ((marks == ARROW) | (marks.T != ARROW))
    step = np.array([(-0.48, -0.48), (0.48, -0.48), (0.48, 0.48), (-0.48, 0.48)])
    corners = list(step + np.argwhere(here)[:, None, ::-1])
    style: dict[str, Any] = {"facecolor": "none", "edgecolor": tone(1.0), "linewidth": 0.8}
    ax.add_collection(PolyCollection(corners, clip_on=False, snap=False, gid="frame", **style), autolim=False)


def _given_side(ax: Axes, room: float) -> float:
    """Return the side in inches that names of `room` inches, legend and caption leave on given axes."""
    names = 0.75 * room  # they are in smaller print there
    height = 1.25 * inches(ax, "height") - names - 1.6
    # a legend beside wide axes takes room too
    return max(0.2 * inches(ax), min(0.7 * inches(ax), inner_width(ax, names + 0.35), height))


def _name_sides(ax: Axes, names: list[str], room: float, square: float) -> None:
    """Name rows and columns, and mark the diagonal, where no edge is."""
    d = len(names)
    name_rows(ax, names, room, square * d)
    size = float(ax.get_yticklabels()[0].get_fontsize())
    upright = max(map(len, names)) * 0.085 * size / 10 > square
    ax.set_xticks(range(d), names, fontsize=size, rotation=90 if upright else 0)
    ax.set(xlabel="to", ylabel="from", aspect="equal")
    ax.grid(False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    for i in range(d + 1):
        ax.axhline(i - 0.5, color=tone(0.12, ax), lw=0.5, zorder=0)
        ax.axvline(i - 0.5, color=tone(0.12, ax), lw=0.5, zorder=0)
    ax.plot(range(d), range(d), "x", color=tone(0.25, ax), ms=min(5.0, 20 * square), gid="diagonal")


def _explain(ax: Axes, means: dict[str, float], shades: dict[str, Any], *, own: bool) -> None:
    """Explain the colours of what there is, with mean numbers of edges."""
    from matplotlib.patches import Patch

    shown = [what for what, mean in means.items() if mean]
    legend_of(
        ax, [Patch(color=shades[what], label=f"{what}: {means[what]:.3g} per run") for what in shown], "edges", own=own
    )


def _runs(n: int, which: str = "") -> str:
    return f"{n} {which}run{'s' if n > 1 else ''}"


def _most_often(outcomes: dict[str, NDArray[np.bool_]], nodes: tuple[str, ...]) -> list[str]:
    """Name the pairs of nodes whose edges are missing, reversed or extra in most runs."""
    parts = []
    for what in (MISSING, REVERSED, EXTRA):
        counts = np.triu(outcomes[what].sum(axis=0))
        most = int(counts.max())
        if most:
            at = np.argwhere(counts == most)
            others = "" if len(at) == 1 else f" and {len(at) - 1} more pair{'s' if len(at) > 2 else ''}"
            pair = ", ".join(nodes[i] for i in at[0])
            parts.append(f"most often {what}: {pair}{others} ({most} of {len(outcomes[what])})")
    return parts
