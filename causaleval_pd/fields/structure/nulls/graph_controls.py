"""Controls that are graphs: which class and number of edges they match, and how they are drawn, also by users."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ....contract.checks import warn
from ....contract.law import ClosedForm, Distribution
from ....contract.null import (
    Controls,
    DrawnControls,
    Known,
    Listing,
    Matching,
    Null,
    custom_draws,
    draw_stream,
    no_closed_form,
)
from ....execution.random_streams import random_words, uniforms
from ....graphs.classes import MEND_CLASS, is_acyclic, is_digraph
from ....graphs.column import as_graph
from ....graphs.graph import Graph
from ....graphs.kernels import kernels
from ....graphs.kernels.planes import CPDAG, DAG, DIGRAPH, KINDS, MIXED_KINDS, PDAG, PLAIN_KINDS, a_kind
from ....graphs.mixed.marks import is_mixed
from ....graphs.packing import unpack_column
from ....graphs.pairs import GraphBatch, GraphPairs

Ints = NDArray[np.int64]
Kinds = NDArray[np.uint8]
Words = NDArray[np.uint64]

#: rough bytes of a drawn control besides its planes: counts and the values of a few metrics
_COUNT_BYTES = 200

#: undirected estimates that are no classes, beside others with arrows, from which on there is a warning
_SEVERAL = 5

#: sets the stream of changed directions apart from that of skeletons, and the words of a graph from one another
_TOSSES, NEXT_WORD = np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x9E3779B97F4A7C15)


def constant(values: ArrayLike) -> ClosedForm:
    """Return the law of a metric that has the same value for all controls of a row, as functions of a kept skeleton."""
    value = np.asarray(values, np.float64)
    law = Distribution.of(np.arange(len(value), dtype=np.int64), value[:, None], np.ones((len(value), 1)))
    return ClosedForm(value, np.where(np.isnan(value), np.nan, 0.0), law)


#: drawn graphs, and which of them could not be drawn (and have no edges), or None
Drawn = tuple[GraphBatch, NDArray[np.bool_] | None]


def graph_controls(
    pairs: GraphPairs,
    kinds: Kinds,
    graphs: Callable[[int, int], GraphBatch | Drawn],
    known: Known = no_closed_form,
    *,
    scratch: int = 0,
    work: float | None = None,
    listing: Listing | None = None,
    reasons: Sequence[str] = (),
) -> DrawnControls:
    """Return controls that `graphs(start, count)` draws; `reasons` state why rows have none."""
    words = np.array(KINDS, object)[kinds]
    estimates = pairs.estimate.kinds[pairs.estimate_index]
    # no control can equal these estimates
    for row in np.flatnonzero(np.isin(estimates, (PDAG, DIGRAPH)) & np.isin(kinds, (DAG, CPDAG))):
        words[row] += f" for a {KINDS[estimates[row]]} (approximate)"
    for place, why in enumerate(reasons):
        words[place] += f": {why}" if why else ""

    def drawn(start: int, count: int) -> GraphPairs:
        drawing = graphs(start, count)
        batch, lacking = (drawing, None) if isinstance(drawing, GraphBatch) else drawing
        truth_index = np.repeat(pairs.truth_index, count)
        index = np.arange(len(truth_index), dtype=np.int64)
        controls = GraphPairs(pairs.truth, batch, truth_index, index)
        vars(controls).update(lacking=lacking)  # of these pairs alone: take and replace do not hand it on
        return controls

    # a control takes so many bytes, and nanoseconds: by default 20 for each node and edge
    cost = 16 * pairs.truth.planes.shape[2] + _COUNT_BYTES + scratch
    return DrawnControls(pairs, words, drawn, known, cost, 20.0 * pairs.work if work is None else work, listing)


def estimated_edges(pairs: GraphPairs) -> Ints:
    """Return the number of edges of each pair's estimate."""
    return pairs.estimate.edge_counts.edges[pairs.estimate_index].astype(np.int64)


def describe_cell(matching: Matching, row: int, side: str, kind: int) -> str:
    """Begin a message on a cell: its row, its class, and the class `kind` that it is compared as, where it differs."""
    declared, compared = KINDS.index(Graph.from_bytes(getattr(matching, side).iloc[row]).kind), ""
    if declared != kind:
        by_context = matching.context is not None and matching.context.gives(["target"])
        cause = "context 'target'" if by_context else "the class of the estimate"
        compared = f", compared as {a_kind(kind)} by {cause}"
    return f"{matching.where(row, side)}: the {side} is {a_kind(declared)}{compared}"


def check_declared(matching: Matching, rows: Ints, pairs: GraphPairs) -> None:
    """Refuse estimates that are not in the class that they declare."""
    wrong = pairs.estimate.misdeclared[pairs.estimate_index]
    if wrong.any():
        at = int(wrong.argmax())
        kind = KINDS[pairs.estimate.kinds[pairs.estimate_index[at]]]
        where = matching.where(rows[at])
        raise ValueError(f"{where}: the estimate is declared a {kind}, which it is not; {MEND_CLASS}")


def matched_kinds(matching: Matching, rows: Ints, pairs: GraphPairs) -> Kinds:
    """Return the class of each row's controls, that of `control_kind` or of its estimate; refuse mixed graphs."""
    sides = ("truth", pairs.truth, pairs.truth_index), ("estimate", pairs.estimate, pairs.estimate_index)
    for side, batch, index in sides:
        mixed = batch.kinds[index] >= len(PLAIN_KINDS)
        if mixed.any():
            at = int(mixed.argmax())
            cell = describe_cell(matching, rows[at], side, batch.kinds[index[at]])
            raise ValueError(f"{cell}, and this null model draws controls for {', '.join(PLAIN_KINDS)} only")
    check_declared(matching, rows, pairs)
    kinds = _kinds_of_controls(pairs.estimate)[pairs.estimate_index]
    if matching.control_kind is None:
        return kinds
    choices = matching.control_kind[rows]
    for i, (row, kind) in enumerate(zip(rows, choices, strict=True)):
        if not pd.isna(kind) and kind not in PLAIN_KINDS:
            words = f"; for controls of this class declare estimates by graph_column(..., kind={kind!r})"
            undirected = "; 'pdag' keeps the number of undirected edges" if kind == "undirected" else ""
            raise ValueError(
                f"{matching.where(row)}: control_kind is {kind!r}; expected one of {', '.join(PLAIN_KINDS)}, or the "
                f"name of a column that holds these words{words if kind in MIXED_KINDS else undirected}"
            )
        if kind in PLAIN_KINDS:
            kinds[i] = KINDS.index(kind)
    return kinds


def warn_of_undirected(matching: Matching) -> None:
    """Warn of undirected estimates, skeletons rather than classes, that are matched by CPDAGs, which have arrows."""
    directed = [m.name for m in matching.metrics if "skeleton" not in m.kinds]
    if matching.control_kind is not None or not directed:
        return
    estimates = _plain_graphs(matching.estimate)
    arrows = any(x.edge_counts.directed.any() for x in estimates)
    count = sum(int(((x.kinds == PDAG) & (x.edge_counts.directed == 0)).sum()) for x in estimates)
    if count >= (_SEVERAL if arrows else 1):
        subject, other = f"{count} of the estimates are undirected graphs, but the CPDAG of no DAG; they", ""
    # the class of a DAG with one edge has no arrow
    elif not arrows and any((x.edge_counts.edges > 1).any() for x in estimates) and _are_undirected(matching.truth):
        subject = "all truths and estimates are undirected graphs; the estimates"
        other = ", or control_kind='cpdag' if they are equivalence classes"
    else:
        return
    warn(
        f"{subject} are matched by CPDAGs, which have arrows: {', '.join(directed)} of guesses may be better or worse "
        f"than those of controls. Pass control_kind='pdag' or null='permutation'{other}, or declare the estimates by "
        "ce.graph_column(..., kind='skeleton') and compare adjacencies"
    )


def _plain_graphs(column: pd.Series) -> list[GraphBatch]:
    """Return the graphs of a column that are not mixed."""
    unpacked = unpack_column(column, in_place=True)
    return [GraphBatch(x.n_nodes, x.planes, x.kinds) for x in unpacked.blocks if not is_mixed(x.planes)]


def _are_undirected(column: pd.Series) -> bool:
    """Return whether the graphs of a column have edges, all of them undirected."""
    counts = [x.edge_counts for x in _plain_graphs(column)]
    return any(x.edges.any() for x in counts) and not any(x.directed.any() for x in counts)


def _kinds_of_controls(graphs: GraphBatch) -> Kinds:
    """Return the class of controls that suits each graph."""
    kinds = np.where(graphs.kinds == PDAG, CPDAG, graphs.kinds).astype(np.uint8)
    pdags = np.flatnonzero(graphs.kinds == PDAG)
    directed = pdags[is_digraph(graphs.planes[pdags], graphs.n_nodes)]
    kinds[directed[~is_acyclic(graphs.planes[directed], graphs.n_nodes)]] = DIGRAPH
    return kinds


def refuse_digraphs(matching: Matching, kinds: Kinds, rows: Ints, what: str) -> None:
    """Refuse rows that are matched by digraphs, where the null model draws acyclic graphs."""
    if (kinds == DIGRAPH).any():
        where = matching.where(rows[(kinds == DIGRAPH).argmax()])
        raise ValueError(
            f"{where}: the estimate is a digraph, which may have cycles, but {what}; pass control_kind='dag' (or a "
            "column of classes) to match it by DAGs, or take null='edges' or null='permutation'"
        )


def in_class(planes: Words, pairs: GraphPairs, kinds: Kinds, keys: Words, start: int, count: int) -> GraphBatch:
    """Make graphs of drawn DAGs, (n * count, 2, W): in rows of CPDAGs those of their classes, else as `redirect`."""
    planes, every = redirect(planes, pairs, kinds, keys, start, count), np.repeat(kinds, count)
    mapped = every == CPDAG
    if mapped.any():
        planes = planes.copy()
        planes[mapped] = kernels().dag_to_cpdag(planes[mapped], pairs.n_nodes)[0]
    return GraphBatch(pairs.n_nodes, planes, every)


def redirect(planes: Words, pairs: GraphPairs, kinds: Kinds, keys: Words, start: int, count: int) -> Words:
    """Direct drawn DAGs by coins in rows of digraphs; in those of PDAGs undirect the estimate's share of edges."""
    tossed, mixed = kinds == DIGRAPH, kinds == PDAG
    if not (tossed.any() or mixed.any()):
        return planes
    graphs = planes.copy()
    if tossed.any():
        here = np.repeat(tossed, count)
        edges = planes[here, 0] | planes[here, 1]
        places = np.arange(1, edges.shape[1] + 1, dtype=np.uint64) * NEXT_WORD
        streams = (keys[tossed, None] ^ _TOSSES) + places
        coins = random_words(streams.reshape(-1), start, count).reshape(-1, edges.shape[1], count)
        forward = edges & coins.transpose(0, 2, 1).reshape(edges.shape)
        graphs[here] = np.stack([forward, edges ^ forward], axis=1)
    if mixed.any():
        here, estimates = np.repeat(mixed, count), pairs.estimate.edge_counts
        shares = np.stack([estimates.undirected, estimates.edges], axis=1)[pairs.estimate_index[mixed]]
        streams = keys[mixed] ^ _TOSSES
        graphs[here] = kernels("controls").undirect_edges(graphs[here], pairs.n_nodes, shares, streams, start, count)
    return graphs


def several_numbers(keys: Words, start: int, count: int, width: int, salt: int = 0) -> NDArray[np.float64]:
    """Return `width` numbers in [0, 1) for each draw of each row, (n, count, width), other ones for each salt."""
    places = np.arange(1, width + 1, dtype=np.uint64) + np.uint64(salt) * np.uint64(2**32)
    streams = keys[:, None] + places * NEXT_WORD
    drawn = uniforms(streams.reshape(-1), start, count).reshape(len(keys), width, count)
    return np.ascontiguousarray(drawn.transpose(0, 2, 1))


def custom_null(function: Callable[[Graph, np.random.Generator], Any], name: str) -> Null:
    """Make a null model of a function that draws one control; DAGs are mapped to the class of the row's controls."""

    def controls(matching: Matching, rows: Ints, pairs: Any, keys: Words) -> Controls:
        matched = matched_kinds(matching, rows, pairs)
        cells, partly = matching.estimate.iloc[rows], matched == PDAG

        def graphs(start: int, count: int) -> GraphBatch:
            drawn: list[Graph] = []
            for at, estimate, found in custom_draws(function, map(Graph.from_bytes, cells), keys, start, count):
                where = partial(matching.where, rows[at])
                control = _read(found, estimate, name, where)
                again = None if drawn else function(estimate, draw_stream(int(keys[0]), start))
                if not drawn and _read(again, estimate, name, where) != control:
                    raise ValueError(
                        f"{where()}: null {name!r} drew two graphs from generators of one seed; draw from its "
                        "argument rng alone, not from np.random or random, so that a seed gives the same controls"
                    )
                drawn.append(control.cpdag() if matched[at] == CPDAG and control.kind == "dag" else control)
            kinds = np.array([KINDS.index(graph.kind) for graph in drawn], np.uint8)
            planes = np.stack([graph.planes for graph in drawn])
            mine = (kinds == DAG) & np.repeat(partly, count)
            if mine.any():
                classes = np.where(partly, PDAG, DAG).astype(np.uint8)
                planes[mine] = redirect(planes, pairs, classes, keys, start, count)[mine]
                kinds[mine] = PDAG
            return GraphBatch(pairs.n_nodes, planes, kinds)

        # a call of the user's function may take a third of a millisecond
        return graph_controls(pairs, matched, graphs, work=3e5)

    return Null(name, f"random graphs drawn by the function {name}", controls)


def _read(found: Any, estimate: Graph, name: str, where: Callable[[], str]) -> Graph:
    """Read what the user's function returned for the estimate of a row."""
    matrix = isinstance(found, np.ndarray)
    try:
        control = as_graph(
            found,
            nodes=estimate.nodes if matrix or isinstance(found, (str, list, tuple, set)) else None,
            encoding="row->column" if matrix else None,
        )
    except (TypeError, ValueError) as error:
        returned = "None" if found is None else f"an object of type {type(found).__name__}"
        raise ValueError(
            f"{where()}: null {name!r} returned {returned}, expected a graph over the nodes of the estimate: "
            f"{str(error).removeprefix('graph: ')}"
        ) from error
    if control.kind not in PLAIN_KINDS:
        raise ValueError(f"{where()}: null {name!r} returned a {control.kind}, expected {' or '.join(PLAIN_KINDS)}")
    if control.nodes != estimate.nodes:
        raise ValueError(
            f"{where()}: null {name!r} returned a graph over {list(control.nodes)[:10]}; a control has the "
            f"nodes of the estimate, {list(estimate.nodes)[:10]}"
        )
    return control
