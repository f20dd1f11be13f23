"""Figure of the difference of two graphs: which edges are right, missing, extra, reversed or wrongly marked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.field import FIELDS
from ...contract.figure import figure
from ...drawing import (
    broken,
    colours,
    figure_of,
    inches,
    legend_of,
    place_to_draw,
    shortened,
    tone,
)
from ...drawing import (
    caption as write_caption,
)
from ...graphs.column import as_graph
from ...graphs.graph import Graph
from ...graphs.kernels.planes import ARROW, CIRCLE
from ...graphs.mixed.marks import marks_from_planes
from .field import different_nodes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Marks = NDArray[np.uint8]

#: what becomes of an edge, and how it is drawn
RIGHT, REVERSED, MARKED, MISSING, EXTRA = "right", "reversed", "wrong mark", "missing", "extra"
_LINES: dict[str, Any] = {
    RIGHT: "-",
    REVERSED: (0, (5, 1)),
    MARKED: (0, (5, 1, 1, 1)),
    MISSING: (0, (1, 1.5)),
    EXTRA: (0, (3, 2)),
}
#: inches from the centre of a node to the end of an edge, and points of its dot
_GAP, _DOT = 0.09, 5.0
#: nodes from which on names are in small print
_MANY = 16
#: letters of a name that are written
_LONGEST = 24
#: width of axes, in inches, below which names are on two lines
_NARROW = 3.2


class Difference(NamedTuple):
    """An edge of either graph: its nodes, the marks at both as they are drawn, and what became of it."""

    i: int
    j: int
    at_i: int
    at_j: int
    what: str


@figure(
    "difference of two graphs: edges that are right, missing, extra, reversed or wrongly marked",
    of="cells",
    field="graph",
    concludes="which true edges an estimate finds, and what it adds",
)
def difference(truth: Any, estimate: Any, *, ax: Axes | None = None, caption: bool = True) -> Axes:
    """Draw two graphs as one: edges by colour and line as right, missing, extra, reversed or wrongly marked.

    Parameters
    ----------
    truth, estimate : graph, or a network with a graph
        Two cells over the same nodes, in any form that metrics take; a DAG and a PAG may be compared.

    Returns
    -------
    Axes
        Missing edges have the marks of the truth, all others those of the estimate.

    Raises
    ------
    ValueError
        If a graph cannot be read, or their nodes differ.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import causaleval_pd as ce
    >>> ax = ce.plot.difference("A -> B; B -> C; C -> D", "A -> B; C -> B; A -- D")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['right: 1', 'reversed, as estimated: 1', 'missing: 1', 'extra: 1']
    """
    true, estimated = graph_of(truth), graph_of(estimate)
    if true.nodes != estimated.nodes:
        raise ValueError(different_nodes(list(true.nodes), list(estimated.nodes)))
    edges = differences(marks_of(true), marks_of(estimated))
    places = _layout(len(true.nodes), edges)
    side = min(9.0, 3.4 + 0.14 * len(true.nodes))
    own_figure = ax is None
    ax = place_to_draw(ax, side, side)
    shades = shades_of_edges()
    for edge in sorted(edges, key=lambda edge: edge.what == RIGHT):
        _draw(ax, edge, places, shades[edge.what])
    ax.scatter(places[:, 0], places[:, 1], s=_DOT**2, color=tone(0.9), zorder=3)
    _name_nodes(ax, true.nodes, places, edges)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.12)
    # without marks of axes, whose empty labels hold the place of the caption
    ax.set(xticks=[], yticks=[], frame_on=False)
    counts = {what: sum(edge.what == what for edge in edges) for what in _LINES}
    _explain(ax, counts, shades, own=own_figure)
    n_true = sum(counts[what] for what in (RIGHT, REVERSED, MARKED, MISSING))
    adjacent = counts[RIGHT] + counts[REVERSED] + counts[MARKED]
    if caption:
        words = (
            f"Edges of both graphs as estimated, missing ones as in the truth; {counts[RIGHT]} of {n_true} true edges "
            f"are right, {adjacent} have the right nodes, and {counts[EXTRA]} of {adjacent + counts[EXTRA]} estimated "
            "ones are between other nodes; no controls are drawn."
        )
        write_caption(ax, own_figure, words)
    figure = figure_of(ax)
    if own_figure and figure is not None:
        # equal axes move their names once they are laid out, and only a later layout has room for these
        for _ in range(2):
            figure.draw_without_rendering()
    return ax


def graph_of(cell: Any) -> Graph:
    """Return the graph of a cell, or of a cell of another field that has one."""
    if not isinstance(cell, (str, bytes, Graph)):
        column = pd.Series([cell], dtype=object)
        for field in FIELDS.values():
            if "graph" in field.views and field.holds(column):
                return Graph.from_bytes(field.views["graph"](field.coerce(column, "cell")).iloc[0])
    return as_graph(cell)


def marks_of(graph: Graph) -> Marks:
    """Return the marks of a graph, (d, d): in cell (i, j) that at j of the edge i - j, 0 without an edge."""
    marks = marks_from_planes(graph.planes[None], len(graph.nodes))[0]
    # of a pair with -> and <->, the tail has no mark of its own
    both = (marks == ARROW) & (marks.T == 0)
    return np.where(both.T, ARROW, marks).astype(np.uint8)


def differences(true: Marks, found: Marks) -> list[Difference]:
    """Compare the edges of two graphs pair by pair."""
    edges = []
    for i, j in zip(*np.nonzero(np.triu((true != 0) | (found != 0), 1)), strict=True):
        mine, theirs = (int(found[j, i]), int(found[i, j])), (int(true[j, i]), int(true[i, j]))
        if mine == theirs:
            what = RIGHT
        elif mine == (0, 0):
            what = MISSING
        elif theirs == (0, 0):
            what = EXTRA
        else:
            what = REVERSED if mine == theirs[::-1] else MARKED
        edges.append(Difference(int(i), int(j), *(theirs if what == MISSING else mine), what))
    return edges


def _layout(n_nodes: int, edges: list[Difference]) -> NDArray[np.float64]:
    """Place the nodes by the edges of both graphs: the largest component above, the others in rows below it."""
    import networkx as nx

    graph: Any = nx.Graph()
    graph.add_nodes_from(range(n_nodes))
    graph.add_edges_from((edge.i, edge.j) for edge in edges)
    places = np.zeros((n_nodes, 2))
    width = 1.3 * math.sqrt(n_nodes)
    x = y = row_height = 0.0
    for nodes in sorted(map(sorted, nx.connected_components(graph)), key=lambda nodes: (-len(nodes), nodes)):
        mine = _component(graph.subgraph(nodes), width)
        across, high = mine.max(axis=0) if len(nodes) > 1 else (0.0, 0.0)
        if x and x + across > width:
            x, y, row_height = 0.0, y - row_height - 1.0, 0.0
        places[nodes] = mine + np.array([x, y - high])
        x, row_height = x + across + 1.3, max(row_height, high)
    return places


def _component(graph: Any, width: float) -> NDArray[np.float64]:
    """Place connected nodes, from the origin to the right and up, within a width."""
    import networkx as nx

    n = graph.number_of_nodes()
    if n == 1:
        return np.zeros((1, 2))
    first = nx.kamada_kawai_layout(graph)
    # neighbours at their distances first; then nodes that lie close to each other are pushed apart
    layout = nx.spring_layout(graph, pos=first, k=1.6 / math.sqrt(n), iterations=40, seed=0) if n > 8 else first
    places = np.array([layout[node] for node in sorted(graph)])
    places -= places.min(axis=0)
    span = max(float(places.max()), 1e-9)
    return np.asarray(places * min(width, 1.3 * math.sqrt(n)) / span)


def shades_of_edges() -> dict[str, Any]:
    """Return the colour of each thing that becomes of an edge, which stay apart without red or green receptors."""
    palette = colours(10)
    return dict(zip(_LINES, (tone(0.75), palette[9], palette[2], palette[0], palette[1]), strict=True))


def _draw(ax: Axes, edge: Difference, places: NDArray[np.float64], colour: Any) -> None:
    """Draw an edge with its marks."""
    from matplotlib.patches import FancyArrowPatch

    heads = "<|" * (edge.at_i == ARROW) + "-" + "|>" * (edge.at_j == ARROW)
    start, end = places[edge.i], places[edge.j]
    ax.add_patch(
        FancyArrowPatch(
            tuple(start),
            tuple(end),
            arrowstyle=heads,
            mutation_scale=9,
            shrinkA=72 * _GAP * (1 + 0.6 * (edge.at_i == CIRCLE)),
            shrinkB=72 * _GAP * (1 + 0.6 * (edge.at_j == CIRCLE)),
            color=colour,
            linestyle="-",
            linewidth=0,
            zorder=2,
        )
    )
    line = FancyArrowPatch(
        tuple(start),
        tuple(end),
        arrowstyle="-",
        shrinkA=72 * _GAP * (1 + (edge.at_i == ARROW)),
        shrinkB=72 * _GAP * (1 + (edge.at_j == ARROW)),
        color=colour,
        linestyle=_LINES[edge.what],
        linewidth=1.5 if edge.what == RIGHT else 1.3,
        zorder=1,
        gid=edge.what,
    )
    ax.add_patch(line)
    for mark, here, there in ((edge.at_i, start, end), (edge.at_j, end, start)):
        if mark == CIRCLE:
            _circle(ax, here, there, colour)


def _circle(ax: Axes, here: NDArray[np.float64], there: NDArray[np.float64], colour: Any) -> None:
    """Draw a circle at the end of an edge, a fixed length from its node."""
    from matplotlib.transforms import ScaledTranslation

    apart = there - here
    step = 1.35 * _GAP * apart / max(float(np.hypot(*apart)), 1e-12)
    scale = getattr(ax.figure, "dpi_scale_trans", None)
    moved = ax.transData if scale is None else ax.transData + ScaledTranslation(float(step[0]), float(step[1]), scale)
    ax.plot(
        *here[:, None],
        "o",
        ms=4.5,
        mfc=tone(0.0),
        mec=colour,
        mew=1.2,
        zorder=2.5,
        transform=moved,
        scalex=False,
        scaley=False,
    )


def _name_nodes(ax: Axes, names: tuple[str, ...], places: NDArray[np.float64], edges: list[Difference]) -> None:
    """Write the names beside the nodes, where no edge leaves them, with a white rim where edges pass."""
    from matplotlib.patheffects import withStroke

    narrow = inches(ax) < _NARROW
    size = "x-small" if narrow or len(names) > _MANY else "small"
    labels = shortened(names, _LONGEST)
    if narrow:
        labels = [broken(label, _LONGEST // 2 + 2) for label in labels]
    for node, (label, place) in enumerate(zip(labels, places, strict=True)):
        others = [edge.j if edge.i == node else edge.i for edge in edges if node in (edge.i, edge.j)]
        x, y = _free_side(places[others] - place)
        across = "left" if x > 0.3 else "right" if x < -0.3 else "center"
        above = "bottom" if y > 0.3 else "top" if y < -0.3 else "center"
        text = ax.annotate(
            label, tuple(place), (6 * x, 6 * y), textcoords="offset points", ha=across, va=above, size=size, zorder=4
        )
        text.set_path_effects([withStroke(linewidth=2.5, foreground=tone(0.0))])


def _free_side(away: NDArray[np.float64]) -> tuple[float, float]:
    """Return the direction, of eight, that is farthest from those of a node's edges; above where all are equal."""
    ways = np.pi / 2 + np.arange(8) * np.pi / 4 * np.array([1, -1, 1, -1, 1, -1, 1, 1])
    angles = np.arctan2(away[:, 1], away[:, 0])
    apart = np.abs((ways[:, None] - angles + np.pi) % (2 * np.pi) - np.pi).min(axis=1, initial=np.pi)
    best = ways[int(np.argmax(np.round(apart, 6)))]
    return float(np.cos(best)), float(np.sin(best))


def _explain(ax: Axes, counts: dict[str, int], shades: dict[str, Any], *, own: bool) -> None:
    """Explain colours and lines of what there is, with counts."""
    from matplotlib.lines import Line2D

    style: dict[str, Any] = {"linewidth": 1.8}
    side = dict.fromkeys((REVERSED, MARKED), ", as estimated")
    handles = [
        Line2D([], [], color=shades[what], linestyle=_LINES[what], label=f"{what}{side.get(what, '')}: {n}", **style)
        for what, n in counts.items()
        if n
    ]
    legend_of(ax, handles, "edges", own=own)
