"""Figure of the probabilities of edges of a pooled ensemble, with the true edges framed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..contract.figure import figure
from ..drawing import caption, colour_bar, colour_map, frame_square, name_ticks, place_to_draw, write_square
from ..graphs.column import as_graph
from .cells.column import score_column
from .cells.packed import unpack_column
from .field import true_marks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: nodes up to which probabilities are written into the squares
_MOST_WRITTEN = 14


@figure(
    "probabilities of edges of an ensemble of graphs, with the true edges framed",
    of="cells",
    field="scores",
    concludes="which true edges the ensemble finds, and which others it believes in",
)
def edge_probabilities(estimate: Any, truth: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw the probabilities of edges of an ensemble as a matrix, and frame the true edges.

    Parameters
    ----------
    estimate : cell
        Probabilities of edges: a cell of the column `estimate` that `pool` makes, or another cell of `score_column`
        whose scores are probabilities. An undirected edge counts half in either direction.
    truth : graph, optional
        The true graph over the same nodes, in any form that metrics take; undirected edges are framed in both squares.
    ax : Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        A square a pair of nodes, from the node of the row to that of the column.

    Raises
    ------
    TypeError
        If `estimate` is a column.
    ValueError
        If the cell holds no probabilities, or the nodes of the truth differ.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> members = pd.DataFrame({"run": 1, "truth": "A -> B; B -> C", "estimate": ["A -> B; B -> C", "A -> B; C"]})
    >>> pooled = members.ceval.pool("run")
    >>> ax = ce.plot.edge_probabilities(pooled["estimate"][0], pooled["truth"][0])
    >>> sorted(text.get_text() for text in ax.texts)[-2:]
    ['.5', '1']
    """
    if isinstance(estimate, pd.Series):
        raise TypeError("estimate is a column, and this figure shows one cell; pass one, as column.iloc[0]")
    cells = score_column([estimate])
    column = unpack_column(cells)
    [block] = column.blocks
    nodes, d = column.node_sets[0], block.scores.n_nodes
    values = np.array(block.scores.values[0])
    values[np.arange(d), np.arange(d)] = np.nan
    if cells.score.kind.iloc[0] not in ("probability", "types"):
        raise ValueError(
            f"the cell holds {cells.score.kind.iloc[0]}s, expected probabilities; pool an ensemble, or declare "
            "score_column(..., kind='probability')"
        )
    width = min(max(3.6, 0.42 * d + 2.4), 9.0)
    own = ax is None
    ax = place_to_draw(ax, width, width - 0.9)
    image = ax.imshow(np.ma.masked_invalid(values), vmin=0, vmax=1, cmap=colour_map("cividis"), aspect="equal")
    ax.grid(False)
    if d <= _MOST_WRITTEN:
        for i, j in np.argwhere(values > 0).tolist():
            write_square(ax, image, i, j, _short(values[i, j]), values[i, j])
    missed, beyond = _frame(ax, truth, nodes, values) if truth is not None else (0, 0)
    name_ticks(ax, "y", nodes, 1.6)
    name_ticks(ax, "x", nodes, width - 2.4)
    ax.set(xlabel="to", ylabel="from")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    colour_bar(ax, image, "probability of the edge")
    text = (
        "Squares: share of members with the edge from the row's to the column's node, undirected edges half in either"
    )
    text += " direction"
    if truth is not None:
        other = "other pair" if beyond == 1 else "other pairs"
        text += f"; frames: true edges, {missed} of them below one half; {beyond} {other} of nodes above one half"
    caption(ax, own, f"{text}; no controls are drawn.")
    return ax


def _frame(ax: Axes, truth: Any, nodes: tuple[str, ...], values: Any) -> tuple[int, int]:
    """Frame the true edges; count those that are less likely than not, and other adjacencies that are likelier."""
    graph = as_graph(truth)
    if graph.nodes != nodes:
        raise ValueError(f"the truth has the nodes {list(graph.nodes)[:10]}, the estimate {list(nodes)[:10]}")
    marks = true_marks(graph.planes[None], len(nodes))[0]
    for i, j in np.argwhere(marks).tolist():
        frame_square(ax, i, j)
    joined = np.nan_to_num(values) + np.nan_to_num(values).T
    both = marks | marks.T
    likely = np.where(marks & marks.T, joined, np.nan_to_num(values))
    edges = marks & ~(marks.T & np.tri(len(nodes), dtype=bool))
    return int((edges & (likely < 0.5)).sum()), int((np.triu(~both, 1) & (joined > 0.5)).sum())


def _short(value: float) -> str:
    """Write a probability with two digits at most, without the leading zero."""
    return f"{value:.2f}".rstrip("0").rstrip(".").lstrip("0") or "0"
