"""Figures of graphs: the difference of two or of many pairs, and expected metrics of random guessing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ... import drawing
from ...contract.cells import is_missing
from ...contract.checks import check_known, check_type, check_whole, counted, name_row
from ...contract.field import FIELDS
from ...contract.figure import figure
from ...contract.metric import Metric, get_metric
from ...graphs.column import as_graph
from ...graphs.graph import Graph
from ...graphs.kernels.planes import ARROW, CIRCLE
from ...graphs.mixed.marks import marks_from_planes
from .field import different_nodes
from .nulls.laws import expected_metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Marks = NDArray[np.uint8]
Floats = NDArray[np.float64]

#: what becomes of an edge, and how it is drawn
RIGHT, REVERSED, MARKED, MISSING, EXTRA = "right", "reversed", "wrong mark", "missing", "extra"
_LINES: dict[str, Any] = {
    RIGHT: "-",
    REVERSED: (0, (5, 1)),
    MARKED: (0, (5, 1, 1, 1)),
    MISSING: (0, (1, 1.5)),
    EXTRA: (0, (3, 2)),
}
#: the same in legends
_LABELS = {what: f"{what}, as estimated" if what in (REVERSED, MARKED) else what for what in _LINES}
#: inches from the centre of a node to the end of an edge, and points of its dot
_GAP, _DOT = 0.09, 5.0
#: nodes from which on names are in small print
_MANY = 16
#: letters of a name that are written
_LONGEST = 24
#: width of axes, in inches, below which names are on two lines
_NARROW = 3.2


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
    from matplotlib.lines import Line2D

    true, estimated = graph_of(truth), graph_of(estimate)
    if true.nodes != estimated.nodes:
        raise ValueError(different_nodes(list(true.nodes), list(estimated.nodes)))
    true_marks, marks = marks_of(true), marks_of(estimated)
    edges = {what: np.argwhere(np.triu(pairs)) for what, pairs in outcomes(true_marks, marks).items()}
    neighbours = (true_marks != 0) | (marks != 0)
    places = _layout(neighbours)
    side = min(9.0, 3.4 + 0.14 * len(true.nodes))
    own_figure = ax is None
    ax = drawing.place_to_draw(ax, side, side)
    shades = shades_of_edges()
    # right edges lie above others
    for what in (*list(_LINES)[1:], RIGHT):
        for pair in edges[what]:
            _draw(ax, what, places[pair], (true_marks if what == MISSING else marks)[pair[::-1], pair], shades[what])
    ax.scatter(places[:, 0], places[:, 1], s=_DOT**2, color=drawing.tone(0.9), zorder=3)
    _name_nodes(ax, true.nodes, places, neighbours)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.12)
    # without marks of axes, whose empty labels hold the place of the caption
    ax.set(xticks=[], yticks=[], frame_on=False)
    counts = {what: len(pairs) for what, pairs in edges.items()}
    handles = [
        Line2D([], [], color=shades[what], linestyle=_LINES[what], linewidth=1.8, label=f"{label}: {counts[what]}")
        for what, label in _LABELS.items()
        if counts[what]
    ]
    drawing.legend_of(ax, handles, "edges", own=own_figure)
    adjacent = counts[RIGHT] + counts[REVERSED] + counts[MARKED]
    n_true = adjacent + counts[MISSING]
    if caption:
        words = (
            f"Edges of both graphs as estimated, missing ones as in the truth; {counts[RIGHT]} of {n_true} true edges "
            f"are right, {adjacent} have the right nodes, and {counts[EXTRA]} of {adjacent + counts[EXTRA]} estimated "
            "ones are between other nodes; no controls are drawn."
        )
        drawing.caption(ax, own_figure, words)
    drawn = drawing.figure_of(ax)
    if own_figure and drawn is not None:
        # equal axes move their names once they are laid out, and only a later layout has room for these
        for _ in range(2):
            drawn.draw_without_rendering()
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


def outcomes(true: Marks, found: Marks) -> dict[str, NDArray[np.bool_]]:
    """Return which pairs of nodes have each outcome, (..., d, d), alike in both triangles."""
    theirs, mine = true != 0, found != 0
    same, turned = (x & x.swapaxes(-1, -2) for x in (true == found, true.swapaxes(-1, -2) == found))
    both = theirs & mine
    return {
        RIGHT: both & same,
        REVERSED: both & ~same & turned,
        MARKED: both & ~same & ~turned,
        MISSING: theirs & ~mine,
        EXTRA: mine & ~theirs,
    }


def _layout(neighbours: NDArray[np.bool_]) -> Floats:
    """Place the nodes by the edges of both graphs: the largest component above, the others in rows below it."""
    import networkx as nx

    graph: Any = nx.from_numpy_array(neighbours)
    places = np.zeros((len(neighbours), 2))
    width = 1.3 * math.sqrt(len(neighbours))
    x = y = row_height = 0.0
    for nodes in sorted(map(sorted, nx.connected_components(graph)), key=lambda nodes: (-len(nodes), nodes)):
        n, component = len(nodes), graph.subgraph(nodes)
        first = nx.kamada_kawai_layout(component)
        # neighbours at their distances first; then nodes that lie close to each other are pushed apart
        pushed = nx.spring_layout(component, pos=first, k=1.6 / math.sqrt(n), iterations=40, seed=0) if n > 8 else first
        mine = np.array([pushed[node] for node in nodes])
        mine -= mine.min(axis=0)
        mine = mine * (1.3 * math.sqrt(n)) / max(float(mine.max()), 1e-9)
        across, high = mine.max(axis=0)
        if x and x + across > width:
            x, y, row_height = 0.0, y - row_height - 1.0, 0.0
        places[nodes] = mine + np.array([x, y - high])
        x, row_height = x + across + 1.3, max(row_height, high)
    return places


def shades_of_edges() -> dict[str, Any]:
    """Return the colour of each thing that becomes of an edge, which stay apart without red or green receptors."""
    palette = drawing.colours(10)
    return dict(zip(_LINES, (drawing.tone(0.75), palette[9], palette[2], palette[0], palette[1]), strict=True))


def _draw(ax: Axes, what: str, ends: Floats, marks: Marks, colour: Any) -> None:
    """Draw an edge between two places with the marks at both."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.transforms import offset_copy

    def line(mark: int, share: float, **style: Any) -> FancyArrowPatch:
        # ends with this mark are shorter by this share of the gap
        gaps = 72 * _GAP * (1 + share * (marks == mark))
        return FancyArrowPatch(*ends, color=colour, shrinkA=gaps[0], shrinkB=gaps[1], **style)

    heads = ("<|-" if marks[0] == ARROW else "-") + ("|>" if marks[1] == ARROW else "")
    ax.add_patch(line(CIRCLE, 0.6, arrowstyle=heads, mutation_scale=9, linestyle="-", linewidth=0, zorder=2))
    width = 1.5 if what == RIGHT else 1.3
    ax.add_patch(line(ARROW, 1, arrowstyle="-", linestyle=_LINES[what], linewidth=width, zorder=1, gid=what))
    for here in np.flatnonzero(marks == CIRCLE):
        # a fixed length from its node
        apart = ends[1 - here] - ends[here]
        x, y = 1.35 * _GAP * apart / max(float(np.hypot(*apart)), 1e-12)
        style: dict[str, Any] = {"ms": 4.5, "mfc": drawing.tone(0.0), "mec": colour, "mew": 1.2, "zorder": 2.5}
        moved = offset_copy(ax.transData, drawing.figure_of(ax), x, y)
        ax.plot(*ends[here][:, None], "o", transform=moved, scalex=False, scaley=False, **style)


def _name_nodes(ax: Axes, names: tuple[str, ...], places: Floats, neighbours: NDArray[np.bool_]) -> None:
    """Write the names beside the nodes, where no edge leaves them, with a white rim where edges pass."""
    from matplotlib.patheffects import withStroke

    narrow = drawing.inches(ax) < _NARROW
    size = "x-small" if narrow or len(names) > _MANY else "small"
    labels = drawing.shortened(names, _LONGEST)
    if narrow:
        labels = [drawing.broken(label, _LONGEST // 2 + 2) for label in labels]
    for node, (label, place) in enumerate(zip(labels, places, strict=True)):
        x, y = _free_side(places[neighbours[node]] - place)
        across = "left" if x > 0.3 else "right" if x < -0.3 else "center"
        above = "bottom" if y > 0.3 else "top" if y < -0.3 else "center"
        text = ax.annotate(
            label, tuple(place), (6 * x, 6 * y), textcoords="offset points", ha=across, va=above, size=size, zorder=4
        )
        text.set_path_effects([withStroke(linewidth=2.5, foreground=drawing.tone(0.0))])


def _free_side(away: Floats) -> tuple[float, float]:
    """Return the direction, of eight, that is farthest from those of a node's edges; above where all are equal."""
    ways = np.pi / 2 + np.arange(8) * np.pi / 4 * np.array([1, -1, 1, -1, 1, -1, 1, 1])
    angles = np.arctan2(away[:, 1], away[:, 0])
    apart = np.abs((ways[:, None] - angles + np.pi) % (2 * np.pi) - np.pi).min(axis=1, initial=np.pi)
    best = ways[int(np.argmax(np.round(apart, 6)))]
    return float(np.cos(best)), float(np.sin(best))


#: width of a square of a new figure, in inches, and that from which on counts are written into it
_SQUARE, _WRITTEN = 0.62, 0.42


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
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    nodes, true, estimates = _marks_of_rows(table, truth, estimate)
    became = outcomes(true, estimates)
    shown = np.where(became[EXTRA], estimates, true)
    # an edge with an arrow at one end alone lies in one square
    here = (shown == ARROW) | (shown.swapaxes(1, 2) != ARROW)
    shares = {what: (pairs & here).mean(axis=0) for what, pairs in became.items()}
    n, d = len(true), len(nodes)
    side = min(max(2.4, _SQUARE * d), 7.0)
    own_figure = ax is None
    names = drawing.shortened(nodes, _LONGEST)
    room = min(1.8, 0.09 * max(map(len, names)))
    ax = drawing.place_to_draw(ax, side + room + 0.5, side + room + 0.5)
    if not own_figure:
        # names are in smaller print there, and a legend beside wide axes takes room too
        height = 1.25 * drawing.inches(ax, "height") - 0.75 * room - 1.6
        side = max(
            0.2 * drawing.inches(ax), min(0.7 * drawing.inches(ax), drawing.inner_width(ax, 0.75 * room + 0.35), height)
        )
    square = side / d
    shades = shades_of_edges()
    _fill(ax, shares, shades, n if square >= _WRITTEN else 0, square)
    one_truth = bool((true == true[:1]).all())
    if one_truth:
        corners = 0.48 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
        frames = list(corners + np.argwhere((true[0] != 0) & here[0])[:, None, ::-1])
        style: dict[str, Any] = {"facecolor": "none", "edgecolor": drawing.tone(1.0), "linewidth": 0.8, "gid": "frame"}
        ax.add_collection(PolyCollection(frames, clip_on=False, snap=False, **style), autolim=False)
    _name_sides(ax, names, room, square)
    means = {what: pairs.sum() / 2 / n for what, pairs in became.items() if pairs.any()}
    handles = [Patch(color=shades[what], label=f"{what}: {mean:.3g} per run") for what, mean in means.items()]
    drawing.legend_of(ax, handles, "edges", own=own_figure)
    shown_as = "Squares: edges from the row's to the column's node (both if undirected), by shares of"
    parts = [f"{shown_as} {counted(n, 'run')}", "reversed and wrongly marked ones stand where the true edge points"]
    parts += ["frames: true edges"] * one_truth + _most_often(became, nodes)
    if len(table) > n:
        parts.append(f"not drawn: {counted(len(table) - n, 'failed run')}")
    if caption:
        drawing.caption(ax, own_figure, f"{'; '.join(parts)}; no controls are drawn.")
    return ax


def _marks_of_rows(table: pd.DataFrame, truth: Hashable, estimate: Hashable) -> tuple[tuple[str, ...], Marks, Marks]:
    """Return the nodes, and the marks of true and estimated graphs, (n, d, d), without failed runs."""
    check_type(table, pd.DataFrame, "a table with one run per row", "table")
    for name in (truth, estimate):
        check_known(name, table.columns, "column")
    rows = [row for row, cell in enumerate(table[estimate]) if not is_missing(cell)]
    if not rows:
        raise ValueError(f"no row has an estimate to draw; {len(table)} of {len(table)} runs failed")
    nodes: tuple[str, ...] = ()
    first = ""
    marks: list[Marks] = []
    for row, name in itertools.product(rows, (truth, estimate)):
        here = name_row(row, table.index, name)
        try:
            graph = graph_of(table[name].iloc[row])
        except (TypeError, ValueError) as error:
            raise type(error)(f"{here}: {error}") from None
        if not marks:
            nodes, first = graph.nodes, here
        elif graph.nodes != nodes:
            what = different_nodes(list(nodes), list(graph.nodes)).partition(";")[0]
            what = what.replace("truth has", "the former has").replace("estimate", "the latter")
            raise ValueError(
                f"{first} and {here} differ in their nodes: {what}; draw rows with the same nodes, such as "
                "table.query('...'), or name them alike by ce.graph_column(..., rename=)"
            )
        marks.append(marks_of(graph))
    if len(nodes) < 2:
        raise ValueError(f"the graphs have {len(nodes)} node, expected at least two")
    return nodes, np.stack(marks[::2]), np.stack(marks[1::2])


def _fill(ax: Axes, shares: dict[str, Floats], shades: dict[str, Any], n: int, square: float) -> None:
    """Fill the squares from left to right by the shares of outcomes, with counts of `n` runs where they fit."""
    from matplotlib.collections import PolyCollection

    d = len(shares[RIGHT])
    ax.set(xlim=(-0.5, d - 0.5), ylim=(d - 0.5, -0.5))
    ax.set_facecolor(drawing.tone(0.0, ax))
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
                ax.text(
                    middle, i, number, ha="center", va="center", size="small", color=drawing.letters_on(shades[what])
                )
        left = right


def _name_sides(ax: Axes, names: list[str], room: float, square: float) -> None:
    """Name rows and columns, and mark the diagonal, where no edge is."""
    d = len(names)
    drawing.name_rows(ax, names, room, square * d)
    size = float(ax.get_yticklabels()[0].get_fontsize())
    upright = max(map(len, names)) * 0.085 * size / 10 > square
    ax.set_xticks(range(d), names, fontsize=size, rotation=90 if upright else 0)
    ax.set(xlabel="to", ylabel="from", aspect="equal")
    ax.grid(False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    for i in range(d + 1):
        ax.axhline(i - 0.5, color=drawing.tone(0.12, ax), lw=0.5, zorder=0)
        ax.axvline(i - 0.5, color=drawing.tone(0.12, ax), lw=0.5, zorder=0)
    ax.plot(range(d), range(d), "x", color=drawing.tone(0.25, ax), ms=min(5.0, 20 * square), gid="diagonal")


def _most_often(became: dict[str, NDArray[np.bool_]], nodes: tuple[str, ...]) -> list[str]:
    """Name the pairs of nodes whose edges are missing, reversed or extra in most runs."""
    parts = []
    for what in (MISSING, REVERSED, EXTRA):
        counts = np.triu(became[what].sum(axis=0))
        most = int(counts.max())
        if most:
            at = np.argwhere(counts == most)
            others = "" if len(at) == 1 else f" and {counted(len(at) - 1, 'more pair')}"
            pair = ", ".join(nodes[i] for i in at[0])
            parts.append(f"most often {what}: {pair}{others} ({most} of {len(became[what])})")
    return parts


#: numbers of edges at which a curve is computed; graphs with fewer pairs of nodes are drawn at every number
_POINTS = 201


@figure(
    "expected metric of random guessing by number of estimated edges",
    of="numbers",
    field="graph",
    concludes="which value random graphs reach by chance",
)
def expected_curves(
    metric: str | Metric,
    *,
    n_nodes: int,
    true_edges: int | Iterable[int],
    estimated_edges: Iterable[int] | None = None,
    level: float = 0.95,
    ax: Axes | None = None,
    caption: bool = True,
) -> Axes:
    """Draw the expected metric of random guessing over the number of estimated edges.

    Parameters
    ----------
    metric : str or Metric
        A metric with a closed form, see `expected_metric`.
    n_nodes : int
        Number of nodes.
    true_edges : int or iterable of int
        Numbers of true edges; one curve each.
    estimated_edges : iterable of int, optional
        Numbers of estimated edges along the axis; default all, or 201 of them where there are more.
    level : float
        Probability of the bands.

    Returns
    -------
    Axes
        Lines are expected values, bands the exact null intervals; a metric without known interval has no band.

    Raises
    ------
    ValueError
        If the metric is unknown or has no closed form, or numbers of edges do not fit the number of nodes.

    References
    ----------
    .. [1] Petersen, A. H. (2025). Are you doing better than random guessing? doi:10.48550/arXiv.2412.10039

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import causaleval_pd as ce
    >>> ax = ce.plot.expected_curves("adjacency_precision", n_nodes=5, true_edges=[2, 5, 8])
    >>> ax.get_ylabel()
    'adjacency precision (higher is better)'
    """
    chosen = get_metric(metric)
    edges = [true_edges] if isinstance(true_edges, (int, np.integer)) else true_edges
    check_type(edges, Iterable, "a number, or numbers, of true edges", "true_edges")
    edges = [check_whole(number, "true_edges") for number in edges]
    if not edges:
        raise ValueError("true_edges is empty; give one number of true edges for each curve")
    pairs = check_whole(n_nodes, "n_nodes") * (n_nodes - 1) // 2
    if estimated_edges is None:
        at = np.unique(np.linspace(0, pairs, min(pairs + 1, _POINTS)).round().astype(np.int64))
    else:
        check_type(estimated_edges, Iterable, "the numbers along the axis", "estimated_edges")
        at = np.unique(np.fromiter(estimated_edges, np.float64))
        if not len(at):
            raise ValueError("estimated_edges is empty; give the numbers along the axis")
    tables = [expected_metric(chosen, n_nodes=n_nodes, true_edges=m, estimated_edges=at, level=level) for m in edges]

    own_figure = ax is None
    ax = drawing.place_to_draw(ax, 6.4, 4.2)
    banded = any(bool(table["low"].notna().any()) for table in tables)
    for number, table, colour in zip(edges, tables, drawing.colours(len(edges)), strict=True):
        ax.fill_between(at, table["low"], table["high"], color=colour, alpha=drawing.opacity(0.15), linewidth=0)
        # a line needs two values
        marker = "o" if table["mean"].notna().sum() < 2 else None
        ax.plot(at, table["mean"], color=colour, marker=marker, label=str(number))
    ax.set_xlabel("number of estimated edges")
    ax.set_ylabel(drawing.wrapped_label(drawing.axis_label(chosen.long_name, chosen.direction), 3.4))
    ax.legend(title="true edges", loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False)
    band = f"bands: {100 * level:.4g} % of the graphs" if banded else "no bands, whose limits have no closed form"
    if caption:
        drawing.caption(
            ax, own_figure, f"Random graphs over {n_nodes} nodes with that many edges; exact values, no draws; {band}."
        )
    return ax
