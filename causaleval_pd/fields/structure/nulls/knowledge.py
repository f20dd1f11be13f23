"""The null model `knowledge`: random DAGs that respect background knowledge - tiers, forbidden and required edges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....contract.null import Controls, Matching
from ....graphs.kernels.planes import N_PLANES, plane_words, planes_from_marks
from ....graphs.knowledge import Knowledge, arc_matrices
from ....graphs.packing import unpack_column
from ....graphs.pairs import GraphBatch
from .graph_controls import (
    estimated_edges,
    graph_controls,
    in_class,
    matched_kinds,
    redirect,
    refuse_digraphs,
    several_numbers,
    warn_of_undirected,
)

Planes = NDArray[np.uint64]

#: orders drawn at most until one suits the required edges
_ROUNDS = 1000


class Constraints(NamedTuple):
    """Background knowledge of the edges over d nodes in name order."""

    #: (d,): tier of a node, -1 without one: no edge runs from a later tier to an earlier one
    tier: NDArray[np.int64]
    #: forbidden, required, (d, d): directed edges that controls must not, or must have
    forbidden: NDArray[np.bool_]
    required: NDArray[np.bool_]


def knowledge_of_node_sets(matching: Matching) -> tuple[NDArray[np.int64], dict[int, Constraints]]:
    """Read each row's node set, and the knowledge by node set; warn of undirected graphs."""
    warn_of_undirected(matching)
    options = {name: matching.options[name] for name in ("tiers", "forbidden", "required")}
    for what, part in options.items():
        if isinstance(part, Knowledge):
            parts = ", ".join(f"{name}=known.{name}" for name in options)
            raise TypeError(f"null='knowledge': {what} must hold a part of what is known, found {part!r}; pass {parts}")
    known = Knowledge(**options)
    if not known.nodes:
        raise ValueError(
            "null='knowledge' needs tiers=, forbidden= or required=, as in "
            "ce.null_model('knowledge', tiers=[['A', 'B'], ['C']])"
        )
    column = unpack_column(matching.estimate)
    by_set = {}
    for number in np.unique(column.row_node_set[~column.missing]).tolist():
        nodes = column.node_sets[number]
        forbidden, required = arc_matrices(known, nodes, known.forbidden, known.required)
        tiers = {name: i for i, group in enumerate(known.tiers) for name in group}
        by_set[number] = Constraints(np.array([tiers.get(name, -1) for name in nodes], np.int64), forbidden, required)
    return column.row_node_set, by_set


def knowledge_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Draw DAGs with the estimate's number of edges that respect the knowledge, mapped to the estimate's class.

    Law: an order of the nodes is drawn, uniform among those that suit tiers and required edges and along which enough
    edges are allowed; then the edges that are not required are chosen uniformly among those that run along the order
    and are not forbidden. Given: the knowledge, class and number of edges. CPDAGs are those of such DAGs.

    It is valid for guessers of this law, which use the knowledge and nothing else. Not valid for one that uses more,
    or, as `edges`, for guesses of another shape where the truth has that shape. Orders of unequal numbers of allowed
    edges are equally likely, so that it is not uniform over DAGs. Digraphs are refused.
    """
    row_node_set, by_set = matching.prepared
    kinds, n_edges = matched_kinds(matching, rows, pairs), estimated_edges(pairs)
    refuse_digraphs(kinds, rows, "null='knowledge' draws DAGs")
    d = pairs.n_nodes
    sets = row_node_set[rows]

    def graphs(start: int, count: int) -> GraphBatch:
        drawn = np.zeros((len(rows), count, N_PLANES, plane_words(d)), np.uint64)
        for number in np.unique(sets).tolist():
            mine = np.flatnonzero(sets == number)
            drawn[mine] = _draw(by_set[number], n_edges[mine], keys[mine], start, count, rows[mine])
        planes = redirect(drawn.reshape(-1, *drawn.shape[2:]), pairs, kinds, keys, start, count)
        return in_class(planes, d, kinds, count)

    return graph_controls(pairs, kinds, graphs, scratch=40 * d * d)


def _draw(
    known: Constraints,
    n_edges: NDArray[np.int64],
    keys: NDArray[np.uint64],
    start: int,
    count: int,
    rows: NDArray[np.int64],
) -> Planes:
    """Draw the controls of rows with the same knowledge, (n, count, 2, W); `rows` are positions for messages."""
    n, d = len(keys), len(known.tier)
    ahead = np.zeros((n * count, d, d), bool)
    edges, waiting = np.repeat(n_edges, count), np.arange(n * count)
    for attempt in range(_ROUNDS):
        if not len(waiting):
            break
        # a row's draws share the work of its numbers
        some = np.unique(waiting // count)
        numbers = several_numbers(keys[some], start, count, d, attempt)
        numbers = numbers[np.searchsorted(some, waiting // count), waiting % count]
        position = _orders(known.tier, numbers)
        precedence = position[:, :, None] < position[:, None, :]
        room = (precedence & ~known.forbidden).sum(axis=(1, 2))
        suits = (precedence | ~known.required).all(axis=(1, 2)) & (room >= edges[waiting])
        ahead[waiting[suits]] = precedence[suits]
        waiting = waiting[~suits]
    few = np.flatnonzero(edges < known.required.sum())
    if len(waiting) or len(few):
        place = int(np.append(waiting, few)[0]) // count
        raise ValueError(
            f"row {rows[place]}: no control with the estimate's {n_edges[place]} edges respects the knowledge "
            f"({known.required.sum()} edges are required, {known.forbidden.sum()} forbidden; {_ROUNDS} orders were "
            "tried); change it, or leave these rows out"
        )
    chance = several_numbers(keys, start, count, d * d, _ROUNDS).reshape(n * count, d, d)
    scores = np.where(known.required, -1.0, np.where(ahead & ~known.forbidden, chance, 2.0)).reshape(n * count, d * d)
    rank = np.argsort(np.argsort(scores, axis=1, kind="stable"), axis=1)
    chosen = (rank < edges[:, None]).reshape(n * count, d, d)
    return planes_from_marks(chosen, np.arange(d)).reshape(n, count, N_PLANES, -1)


def _orders(tier: NDArray[np.int64], numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return each node's position in a uniformly random order that respects the tiers, (count, d).

    A random order gives the nodes that are in tiers their places; there they stand tier by tier.
    """
    position = np.argsort(np.argsort(numbers, axis=1), axis=1)
    tiered = np.flatnonzero(tier >= 0)
    places = np.sort(position[:, tiered], axis=1)
    ranks = np.argsort(np.argsort(numbers[:, tiered] + tier[tiered], axis=1), axis=1)
    position[:, tiered] = np.take_along_axis(places, ranks, axis=1)
    return position
