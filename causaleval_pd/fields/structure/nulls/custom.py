"""Null models made of a user's function that draws one control."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....contract.null import Controls, Matching, Null, draw_stream
from ....graphs.column import as_graph
from ....graphs.graph import Graph
from ....graphs.kernels.planes import CPDAG, DAG, KINDS, PDAG, PLAIN_KINDS
from ....graphs.pairs import GraphBatch
from .graph_controls import graph_controls, matched_kinds, redirect

#: draws one control for an estimate
DrawOne = Callable[[Graph, np.random.Generator], Any]

#: nanoseconds that a call of the user's function may take
_CALL = 3e5


def custom_null(function: DrawOne, name: str) -> Null:
    """Make a null model of a function that draws one control.

    `function(estimate, rng)` returns a graph over the estimate's nodes: a `Graph`, a networkx graph, an edge string, or
    a matrix (row -> column) in the order of `estimate.nodes`. It must draw from `rng` alone: draw r depends on the
    seed, the row's key and r. Where the row is matched by CPDAGs, a DAG is replaced by its CPDAG; where it is matched
    by PDAGs, a DAG loses the directions of uniformly chosen edges, in the estimate's share of undirected ones.
    """

    def controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        matched = matched_kinds(matching, rows, pairs)
        cells, partly = matching.estimate.iloc[rows], matched == PDAG

        def graphs(start: int, count: int) -> GraphBatch:
            drawn: list[Graph] = []
            for row, cell, key, mapped in zip(rows, cells, keys, matched == CPDAG, strict=True):
                estimate = Graph.from_bytes(cell)

                def draw(r: int, estimate: Graph = estimate, key: int = int(key), row: int = int(row)) -> Graph:
                    return _read(function(estimate, draw_stream(key, r)), estimate, name, row)

                for r in range(start, start + count):
                    control = draw(r)
                    if not drawn and draw(r) != control:
                        raise ValueError(
                            f"row {row}: null {name!r} drew two graphs from generators of one seed; draw from its "
                            "argument rng alone, not from np.random or random, so that a seed gives the same controls"
                        )
                    drawn.append(control.cpdag() if mapped and control.kind == "dag" else control)
            kinds = np.array([KINDS.index(graph.kind) for graph in drawn], np.uint8)
            planes = np.stack([graph.planes for graph in drawn])
            mine = (kinds == DAG) & np.repeat(partly, count)
            if mine.any():
                classes = np.where(partly, PDAG, DAG).astype(np.uint8)
                planes[mine] = redirect(planes, pairs, classes, keys, start, count)[mine]
                kinds[mine] = PDAG
            return GraphBatch(pairs.n_nodes, planes, kinds)

        return graph_controls(pairs, matched, graphs, pace=_CALL / max(1.0, pairs.size))

    return Null(name, f"random graphs drawn by the function {name}", controls)


def _read(found: Any, estimate: Graph, name: str, row: int) -> Graph:
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
            f"row {row}: null {name!r} returned {returned}, expected a graph over the nodes of the estimate: "
            f"{str(error).removeprefix('graph: ')}"
        ) from error
    if control.kind not in PLAIN_KINDS:
        raise ValueError(f"row {row}: null {name!r} returned a {control.kind}, expected {' or '.join(PLAIN_KINDS)}")
    if control.nodes != estimate.nodes:
        raise ValueError(
            f"row {row}: null {name!r} returned a graph over {list(control.nodes)[:10]}; a control has the "
            f"nodes of the estimate, {list(estimate.nodes)[:10]}"
        )
    return control
