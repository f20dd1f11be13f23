"""Ensembles of graphs: pooled into probabilities of edges, a consensus graph, disagreement, and their figure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.cells import packed_column
from ...contract.checks import check_known
from ...contract.figure import figure
from ...contract.pairs import PairError
from ...drawing import caption as write_caption
from ...drawing import colour_bar, colour_map, frame_square, name_ticks, place_to_draw, write_square
from ...graphs.classes import is_cpdag
from ...graphs.column import as_graph, graph_column
from ...graphs.graph import Graph, SeriesGraphAccessor
from ...graphs.kernels.planes import ARROW, CIRCLE, DAG, KINDS, TAIL, a_kind
from ...graphs.mixed.marks import codes_from_planes, is_mixed, lift, planes_from_marks
from ...graphs.orientations import TooManyWaysError, direction_shares
from ...graphs.packing import UnpackedColumn, group_rows, pack_column, unpack_column
from .cells import score_column, type_cells
from .cells import unpack_column as unpack_scores
from .field import true_marks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RULES = ("threshold", "pairwise", "acyclic")
CYCLIC = ("missing", "break")
UNDIRECTED = ("half", "both", "none", "class")
CLASSES_OF_TRUTH = ("dag", "cpdag")
#: types of edge of an ordered pair (i, j) with i < j: none, i -> j, i <- j, i -- j, i <-> j
_NONE, _FORWARD, _BACKWARD, _LINE, _BOTH = range(5)
#: probabilities that differ by less are equal
_CLOSE = 1e-9
#: decimals of probabilities
_DIGITS = 12


class Types(NamedTuple):
    """Probabilities of the types of edge of one run, (d, d) each; other marks are of members with circles."""

    nodes: tuple[str, ...]
    directed: Floats
    undirected: Floats
    bidirected: Floats
    adjacent: Floats
    #: whether all members have the marks of DAGs, CPDAGs and MAGs
    plain: bool


def pool_graphs(
    graphs: pd.Series,
    runs: Ints,
    weights: Floats,
    n_runs: int,
    *,
    rule: str = "threshold",
    cyclic: str = "missing",
    undirected: str = "half",
) -> dict[str, Any]:
    """Pool the graphs of each run."""
    check_known(rule, RULES, "rule of a consensus")
    check_known(cyclic, CYCLIC, "value of cyclic")
    check_known(undirected, UNDIRECTED, "value of undirected")
    column = unpack_column(graphs)
    marks = [codes_from_planes(x.planes if is_mixed(x.planes) else lift(x.planes), x.n_nodes) for x in column.blocks]
    if undirected == "class":
        _check_cpdags(column, marks)
    of_row: dict[int, NDArray[np.uint8]] = {}
    for block, codes in zip(column.blocks, marks, strict=True):
        of_row |= dict(zip(block.rows.tolist(), codes, strict=True))
    node_sets, kind_of_row = column.row_node_set, column.scatter([x.kinds for x in column.blocks], DAG, np.uint8)
    estimates: list[bytes | None] = [None] * n_runs
    consensus: list[Graph | None] = [None] * n_runs
    gini, apart = np.full(n_runs, np.nan), np.full(n_runs, np.nan)
    kinds: list[str | None] = [None] * n_runs
    for run, rows in group_rows(runs):
        other = rows[node_sets[rows] != node_sets[rows[0]]]
        if len(other):
            raise ValueError(
                f"rows {graphs.index[rows[0]]!r} and {graphs.index[other[0]]!r} (index) are of one run, but their "
                "estimates have different nodes; give all members of a run the same nodes"
            )
        mine, w = np.stack([of_row[row] for row in rows.tolist()]), weights[rows]
        types = _types(column.node_sets[node_sets[rows[0]]], mine, w)
        by_class = _class_directions(mine, w, rows) if undirected == "class" else None
        estimates[run] = _cell(types, undirected, by_class)
        consensus[run] = _consensus(types, rule, cyclic)
        gini[run], apart[run] = _instability(types, mine, w)
        names, counts = np.unique(kind_of_row[rows], return_counts=True)
        kinds[run] = ", ".join(f"{KINDS[k]}: {n}" for k, n in zip(names.tolist(), counts.tolist(), strict=True))
    index = pd.RangeIndex(n_runs)
    return {
        "estimate": packed_column(estimates, index),
        "consensus": graph_column(consensus, index=index),
        "instability": gini,
        "adjacency_instability": apart,
        "member_kinds": pd.array(kinds, dtype="str"),
    }


def _types(nodes: tuple[str, ...], marks: NDArray[np.uint8], weights: Floats) -> Types:
    """Return the weighted shares of members by type of edge; `marks` (n, d, d) are codes, of the mark at the column."""
    turned = marks.transpose(0, 2, 1)

    def share(chosen: NDArray[np.bool_]) -> Floats:
        # rounded, as sums in another order of the members differ in their last digits
        return np.minimum(np.round(np.einsum("n,nij->ij", weights, chosen), _DIGITS), 1.0)

    return Types(
        nodes,
        share((marks == ARROW) & (turned == TAIL)),
        share((marks == TAIL) & (turned == TAIL)),
        share((marks == ARROW) & (turned == ARROW)),
        share(marks != 0),
        bool((marks < CIRCLE).all()),
    )


def _check_cpdags(column: UnpackedColumn, marks: list[NDArray[np.uint8]]) -> None:
    """Refuse graphs with undirected edges or circles that are not CPDAGs, and so not classes of DAGs."""
    wrong: dict[int, int] = {}
    for block, codes in zip(column.blocks, marks, strict=True):
        lines = ((codes == TAIL) & (codes.transpose(0, 2, 1) == TAIL)) | (codes == CIRCLE)
        some = np.flatnonzero(lines.any(axis=(1, 2)))
        if not is_mixed(block.planes):
            some = some[~is_cpdag(block.planes[some], block.n_nodes)]
        wrong |= dict(zip(block.rows[some].tolist(), block.kinds[some].tolist(), strict=True))
    if wrong:
        first = min(wrong)
        raise PairError(
            sorted(wrong),
            f"the estimate is {a_kind(wrong[first])} whose undirected edges are not those of a valid CPDAG, so "
            "undirected='class' has no class of DAGs to count; replace PDAGs by .graph.cpdag(), or pass "
            "undirected='half'",
        )


def _class_directions(marks: NDArray[np.uint8], weights: Floats, rows: Ints) -> Floats:
    """Return the weighted share of the DAGs of the members' classes that direct an undirected edge as i -> j."""
    shares = np.zeros(marks.shape[1:])
    lines = (marks == TAIL) & (marks.transpose(0, 2, 1) == TAIL)
    for plane, weight, row in zip(lines, weights.tolist(), rows.tolist(), strict=True):
        near = [sum(1 << j for j in np.flatnonzero(line).tolist()) for line in plane]
        try:
            shares += weight * direction_shares(near)
        except TooManyWaysError as error:
            raise PairError([row], f"{error}, as undirected='class' asks; pass undirected='half'") from None
    return shares


def _cell(types: Types, undirected: str, by_class: Floats | None) -> bytes:
    """Pack the probabilities; of members with circles only those of adjacencies."""
    if not types.plain:
        cells = score_column([types.adjacent], nodes=list(types.nodes), symmetric=True, kind="probability")
        return bytes(cells.iloc[0])
    if undirected in ("half", "class"):
        directed, lines = types.directed, types.undirected
        if by_class is not None:
            directed, lines = np.minimum(np.round(directed + by_class, _DIGITS), 1.0), np.zeros_like(lines)
        planes = [directed, lines] + [types.bidirected] * bool(types.bidirected.any())
        return type_cells(types.nodes, np.stack(planes))
    values = types.directed + (types.undirected if undirected == "both" else 0.0)
    values = np.minimum(values, 1.0)
    cells = score_column([values], nodes=list(types.nodes), encoding="row->column", symmetric=False, kind="probability")
    return bytes(cells.iloc[0])


def _consensus(types: Types, rule: str, cyclic: str) -> Graph | None:
    """Return the graph that a rule makes of the probabilities; of members with circles, their skeleton."""
    d = len(types.nodes)
    if not types.plain:
        marks = np.where(types.adjacent > 0.5 + _CLOSE, TAIL, 0).astype(np.uint8)
        return Graph(types.nodes, "skeleton", planes_from_marks(marks[None])[0])
    i, j = np.triu_indices(d, 1)
    planes = (1 - types.adjacent, types.directed, types.directed.T, types.undirected, types.bidirected)
    chances = np.stack([plane[i, j] for plane in planes])
    if rule == "acyclic":
        return _acyclic(types)
    chosen = _likeliest(chances, by_pair=rule == "pairwise")
    marks = np.zeros((d, d), np.uint8)
    ends = {_FORWARD: (TAIL, ARROW), _BACKWARD: (ARROW, TAIL), _LINE: (TAIL, TAIL), _BOTH: (ARROW, ARROW)}
    for code, (at_low, at_high) in ends.items():
        some = chosen == code
        marks[i[some], j[some]], marks[j[some], i[some]] = at_high, at_low
    graph = _graph(types.nodes, marks)
    if graph.kind != "digraph":
        return graph
    return None if cyclic == "missing" else _acyclic(types)


def _likeliest(chances: Floats, *, by_pair: bool) -> Ints:
    """Return the type of edge of each pair: none unless edges outweigh it; undirected where directions are equal."""
    edges = chances[1:]
    best = edges.max(axis=0, initial=0.0)
    tied = edges >= best - _CLOSE
    chosen = 1 + np.argmax(tied, axis=0)
    chosen = np.where(tied.sum(axis=0) > 1, _LINE, chosen)
    none = best <= chances[0] + _CLOSE if by_pair else chances[0] >= 0.5 - _CLOSE
    return np.asarray(np.where(none | (best <= 0), _NONE, chosen), np.int64)


def _acyclic(types: Types) -> Graph:
    """Add arcs of likely adjacencies by descending probability, without those that close a cycle."""
    d = len(types.nodes)
    likely = types.adjacent > 0.5 + _CLOSE
    arcs = types.directed + (types.undirected + types.bidirected) / 2
    i, j = np.nonzero(likely)
    reached = np.eye(d, dtype=bool)
    marks = np.zeros((d, d), np.uint8)
    for a in np.lexsort([j, i, -np.round(arcs[i, j], 12)]).tolist():
        u, v = int(i[a]), int(j[a])
        if marks[u, v] or reached[v, u]:
            continue
        marks[u, v], marks[v, u] = ARROW, TAIL
        reached |= np.outer(reached[:, u], reached[v])
    return _graph(types.nodes, marks)


def _graph(nodes: tuple[str, ...], marks: NDArray[np.uint8]) -> Graph:
    """Return the graph of marks in its narrowest class."""
    return as_graph(marks, nodes=list(nodes), encoding="bnmetrics")  # has the same codes


def _instability(types: Types, marks: NDArray[np.uint8], weights: Floats) -> tuple[float, float]:
    """Return how often two distinct members disagree about a pair: about its type of edge, and its adjacency."""
    n, d = marks.shape[:2]
    both = 1 - float((weights**2).sum())
    if n < 2 or d < 2 or both <= 0:
        return np.nan, np.nan
    i, j = np.triu_indices(d, 1)
    codes = marks[:, i, j].astype(np.int64) * 6 + marks[:, j, i]
    agree = sum(np.einsum("n,np->p", weights, codes == code) ** 2 for code in np.unique(codes).tolist())
    adjacent = types.adjacent[i, j]
    apart = 2 * adjacent * (1 - adjacent)
    return tuple(round(float(np.mean(x) / both), _DIGITS) for x in (1 - agree, apart))  # type: ignore[return-value]


def graphs_without_edges(graphs: pd.Series) -> pd.Series:
    """Return the graph without edges over the nodes of each packed graph."""
    column = unpack_column(graphs)
    blocks = []
    for block in column.blocks:
        planes = np.zeros_like(block.planes[:, :2])
        blocks.append(replace(block, planes=planes, kinds=np.full(len(planes), DAG, np.uint8)))
    return pack_column(replace(column, blocks=tuple(blocks)), index=graphs.index, name=graphs.name)


def truths_in_class(graphs: pd.Series, kind: str) -> pd.Series:
    """Return packed truths as DAGs or CPDAGs: "dag" refuses others, "cpdag" maps them to the CPDAG of their class."""
    check_known(kind, CLASSES_OF_TRUTH, "class_of_truth")
    if kind == "cpdag":
        return SeriesGraphAccessor(graphs).cpdag()
    column = unpack_column(graphs)
    kinds = column.scatter([block.kinds for block in column.blocks], DAG, np.uint8)
    others = np.flatnonzero(kinds != DAG)
    if len(others):
        raise PairError(
            others,
            f"the truth is {a_kind(int(kinds[others[0]]))}, and class_of_truth='dag' needs DAGs; pass 'cpdag', or "
            "leave it out",
        )
    return graphs


#: nodes up to which probabilities are written into the squares
_MOST_WRITTEN = 14


@figure(
    "probabilities of edges of an ensemble of graphs, with the true edges framed",
    of="cells",
    field="scores",
    concludes="which true edges the ensemble finds, and which others it believes in",
)
def edge_probabilities(estimate: Any, truth: Any = None, *, ax: Axes | None = None, caption: bool = True) -> Axes:
    """Draw the probabilities of edges of an ensemble as a matrix, and frame the true edges.

    Parameters
    ----------
    estimate : cell
        Probabilities of edges: a cell of the column `estimate` that `pool` makes, or another cell of `score_column`
        whose scores are probabilities. An undirected edge counts half in either direction.
    truth : graph, optional
        The true graph over the same nodes, in any form that metrics take; undirected edges are framed in both squares.

    Returns
    -------
    Axes
        One square per pair of nodes, from the node of the row to that of the column.

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
    column = unpack_scores(cells)
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
    new_figure = ax is None
    ax = place_to_draw(ax, width, width - 0.9)
    image = ax.imshow(np.ma.masked_invalid(values), vmin=0, vmax=1, cmap=colour_map("cividis"), aspect="equal")
    ax.grid(False)
    if d <= _MOST_WRITTEN:
        for i, j in np.argwhere(values > 0).tolist():
            text = f"{values[i, j]:.2f}".rstrip("0").rstrip(".").lstrip("0") or "0"
            write_square(ax, image, i, j, text, values[i, j])
    missed, beyond = _frame(ax, truth, nodes, values) if truth is not None else (0, 0)
    name_ticks(ax, "y", nodes, 1.6)
    name_ticks(ax, "x", nodes, width - 2.4)
    ax.set(xlabel="to", ylabel="from")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    colour_bar(ax, image, "probability of the edge")
    if caption:
        frames = ""
        if truth is not None:
            others = f"{beyond} other pair{'s' * (beyond != 1)} of nodes above one half"
            frames = f"; frames: true edges, {missed} of them below one half; {others}"
        squares = "share of members with the edge from the row's to the column's node, undirected edges half in either"
        write_caption(ax, new_figure, f"Squares: {squares} direction{frames}; no controls are drawn.")
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
