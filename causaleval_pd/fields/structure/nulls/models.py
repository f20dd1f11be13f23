"""The null models of graphs, in the order of `ce.list_nulls`: of edges, skeletons, degrees and knowledge, and others.

Directions of fixed or random adjacencies are acyclic, except that each edge of a digraph's control is directed by a
coin. Importing this module registers the null models.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....contract.checks import check_choice, check_known, check_whole, name_row, shown
from ....contract.law import ClosedForm
from ....contract.null import Controls, Listing, Matching, Null, no_closed_form, register_null
from ....graphs.column import as_graph
from ....graphs.kernels import kernels
from ....graphs.kernels.inputs import MOST_ORIENTED
from ....graphs.kernels.planes import CPDAG, DAG, DIGRAPH, KINDS, N_PLANES, PLAIN_KINDS, planes_from_matrices
from ....graphs.knowledge import Knowledge, arc_matrices
from ....graphs.mixed.marks import is_mixed, join_halves, plane_halves
from ....graphs.packing import unpack_column
from ....graphs.pairs import GraphBatch, GraphPairs
from .additive import additive_moments
from .graph_controls import (
    check_declared,
    constant,
    estimated_edges,
    graph_controls,
    in_class,
    matched_kinds,
    redirect,
    refuse_digraphs,
    several_numbers,
    warn_of_undirected,
)
from .latent import BIDIRECTED, check_bidirected, check_latents, latent_dag_controls, latent_graphs
from .laws import by_form, half_of_shared, hypergeometric, linear, mean_over_edges, of_dags, oriented, reversal
from .listed import KEPT, all_relabellings, orientation_laws, random_graph_laws, relabelling_laws

Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]


def random_graphs(matching: Matching, rows: Ints, pairs: GraphPairs, keys: Keys, n_edges: Ints) -> Controls:
    """Match rows by random graphs of their class with `n_edges` (n,) edges."""
    d = pairs.n_nodes
    kinds, order = matched_kinds(matching, rows, pairs), np.empty(0, np.int64)
    if not matching.options.get("permute", True):
        # the causal order of the nodes, by name or as `published` has it
        order = np.asarray(matching.options.get("order", np.arange(d)), np.int64)
    if len(order):
        refuse_digraphs(matching, kinds, rows, "permute=False directs all edges along the order of the nodes")

    def graphs(start: int, count: int) -> GraphBatch:
        planes = kernels().draw_graphs(d, n_edges[:, None], kinds == CPDAG, keys, start, count, order)
        return GraphBatch(d, redirect(planes, pairs, kinds, keys, start, count), np.repeat(kinds, count))

    edges, truth, tossed = pairs.truth.edge_counts, pairs.truth_index, kinds == DIGRAPH
    arrows, lines = edges.directed[truth], edges.undirected[truth]
    moments = by_form(
        linear=lambda metric: linear(metric, d, arrows, lines, n_edges, pairs.truth.degrees[truth], tossed),
        reversal=lambda metric: reversal(metric, d, arrows, lines, n_edges),
        mean_over_edges=lambda metric: mean_over_edges(metric, pairs, n_edges, tossed),
    )
    dags = of_dags(no_closed_form if len(order) else moments, kinds)
    known = by_form(
        random_graph_laws(pairs, n_edges, kinds, order, dags),
        hypergeometric=lambda metric: hypergeometric(metric, d, edges.edges[truth], n_edges),
    )
    return graph_controls(pairs, kinds, graphs, known, work=6.0 * pairs.work)


def edges_controls(matching: Matching, rows: Ints, pairs: Any, keys: Keys) -> Controls:
    """Match every control to its row's class and number of edges."""
    if is_mixed(pairs.estimate.planes):
        estimates = pairs.estimate.planes[pairs.estimate_index]
        return latent_graphs(matching, rows, pairs, keys, estimates, skeletons=False)
    return random_graphs(matching, rows, pairs, keys, estimated_edges(pairs))


def empty_controls(matching: Matching, rows: Ints, pairs: Any, keys: Keys) -> Controls:
    """Match every row by the graph without edges: a point of reference without randomness, and so without p."""
    return random_graphs(matching, rows, pairs, keys, np.zeros(pairs.n, np.int64))


def complete_controls(matching: Matching, rows: Ints, pairs: Any, keys: Keys) -> Controls:
    """Match every row by complete graphs of its class, directed along a random order."""
    n_edges = np.full(pairs.n, pairs.n_nodes * (pairs.n_nodes - 1) // 2, np.int64)
    return random_graphs(matching, rows, pairs, keys, n_edges)


#: set the streams of directions apart from those of switched and of drawn skeletons
_OF_SWITCHED, _OF_DRAWN = np.uint64(0xD1B54A32D192ED03), np.uint64(0x8CB92BA72F3D8DD7)


def degree_controls(matching: Matching, rows: Ints, pairs: Any, keys: Keys) -> Controls:
    """Keep the degrees of the estimate's skeleton by switching the ends of its edges."""
    # Besag and Clifford 1989, doi:10.1093/biomet/76.4.633
    switches, d = int(matching.prepared), pairs.n_nodes
    kinds, attempts = matched_kinds(matching, rows, pairs), switches * estimated_edges(pairs)

    def graphs(start: int, count: int) -> GraphBatch:
        estimates, index = pairs.estimate.contiguous, pairs.estimate_index
        skeletons = kernels("controls").switch_edges(estimates, d, index, attempts, keys, start, count)
        places = np.arange(len(skeletons), dtype=np.int64).reshape(-1, count)
        directed = kernels("controls").orient_graphs(skeletons, d, places, keys ^ _OF_SWITCHED, start, count)
        return in_class(directed, pairs, kinds, keys, start, count)

    return graph_controls(
        pairs, kinds, graphs, scratch=16 * pairs.truth.planes.shape[2], work=10 * switches * pairs.work
    )


#: orders drawn at most until one suits the required edges
_ROUNDS = 1000


#: background knowledge over d nodes in name order: the tier of each, -1 without one, so that no edge runs from a later
#: tier to an earlier one; which directed edges, (d, d), controls must not have; and which they must
Constraints = tuple[Ints, NDArray[np.bool_], NDArray[np.bool_]]


def knowledge_of_node_sets(matching: Matching) -> tuple[Ints, dict[int, Constraints]]:
    """Read each row's node set, and the knowledge by node set."""
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
        by_set[number] = np.array([tiers.get(name, -1) for name in nodes], np.int64), forbidden, required
    return column.row_node_set, by_set


def knowledge_controls(matching: Matching, rows: Ints, pairs: Any, keys: Keys) -> Controls:
    """Draw DAGs with the estimate's number of edges that respect the knowledge, mapped to the estimate's class."""
    row_node_set, by_set = matching.prepared
    kinds, n_edges = matched_kinds(matching, rows, pairs), estimated_edges(pairs)
    refuse_digraphs(matching, kinds, rows, "null='knowledge' draws DAGs")
    d = pairs.n_nodes
    sets = row_node_set[rows]

    def graphs(start: int, count: int) -> GraphBatch:
        drawn = np.zeros((len(rows), count, *pairs.estimate.planes.shape[1:]), np.uint64)
        for number in np.unique(sets).tolist():
            mine = np.flatnonzero(sets == number)
            drawn[mine] = _draw(by_set[number], n_edges[mine], keys[mine], start, count, matching, rows[mine])
        return in_class(drawn.reshape(-1, *drawn.shape[2:]), pairs, kinds, keys, start, count)

    return graph_controls(pairs, kinds, graphs, scratch=40 * d * d)


def _draw(
    known: Constraints, n_edges: Ints, keys: Keys, start: int, count: int, matching: Matching, rows: Ints
) -> NDArray[np.uint64]:
    """Draw the controls of rows with the same knowledge, (n, count, 2, W); `rows` are positions for messages."""
    tier, forbidden, required = known
    n, d = len(keys), len(tier)
    ahead = np.zeros((n * count, d, d), bool)
    edges, waiting = np.repeat(n_edges, count), np.arange(n * count)
    for attempt in range(_ROUNDS):
        if not len(waiting):
            break
        # a row's draws share the work of its numbers
        some = np.unique(waiting // count)
        numbers = several_numbers(keys[some], start, count, d, attempt)
        numbers = numbers[np.searchsorted(some, waiting // count), waiting % count]
        position = _orders(tier, numbers)
        precedence = position[:, :, None] < position[:, None, :]
        room = (precedence & ~forbidden).sum(axis=(1, 2))
        suits = (precedence | ~required).all(axis=(1, 2)) & (room >= edges[waiting])
        ahead[waiting[suits]] = precedence[suits]
        waiting = waiting[~suits]
    few = np.flatnonzero(edges < required.sum())
    if len(waiting) or len(few):
        place = int(np.append(waiting, few)[0]) // count
        raise ValueError(
            f"{matching.where(rows[place])}: no control with the estimate's {n_edges[place]} edges respects the "
            f"knowledge ({required.sum()} edges are required, {forbidden.sum()} forbidden; {_ROUNDS} orders were "
            "tried); change it, or leave these rows out"
        )
    chance = several_numbers(keys, start, count, d * d, _ROUNDS).reshape(n * count, d, d)
    scores = np.where(required, -1.0, np.where(ahead & ~forbidden, chance, 2.0)).reshape(n * count, d * d)
    rank = np.argsort(np.argsort(scores, axis=1, kind="stable"), axis=1)
    chosen = (rank < edges[:, None]).reshape(n * count, d, d)
    return planes_from_matrices(chosen, np.arange(d)).reshape(n, count, N_PLANES, -1)


def _orders(tier: Ints, numbers: NDArray[np.float64]) -> Ints:
    """Return the positions of nodes, (count, d), in uniformly random orders that respect the tiers."""
    position = np.argsort(np.argsort(numbers, axis=1), axis=1)
    tiered = np.flatnonzero(tier >= 0)
    places = np.sort(position[:, tiered], axis=1)
    ranks = np.argsort(np.argsort(numbers[:, tiered] + tier[tiered], axis=1), axis=1)
    position[:, tiered] = np.take_along_axis(places, ranks, axis=1)
    return position


#: nodes up to which joint relabellings of several estimates are listed (720)
MOST_JOINT = 6


def permutation_controls(matching: Matching, rows: Ints, pairs: Any, keys: Keys) -> Controls:
    """Relabel every estimate: its class, degrees and marks stay, also those of graphs in no class."""
    check_declared(matching, rows, pairs)
    d, kinds, graphs_of = pairs.n_nodes, pairs.estimate.kinds[pairs.estimate_index], plane_halves(pairs.estimate.planes)

    def graphs(start: int, count: int) -> GraphBatch:
        drawn = [kernels("controls").relabel_graphs(x, d, pairs.estimate_index, keys, start, count) for x in graphs_of]
        return GraphBatch(d, join_halves(drawn), np.repeat(kinds, count))

    moments = by_form(
        lambda metric: additive_moments(metric, pairs),
        # the estimate's shape decides the variance
        mean_over_edges=lambda metric: ClosedForm(
            mean_over_edges(metric, pairs, estimated_edges(pairs), np.zeros(pairs.n, bool)).mean
        ),
    )
    listing = Listing(math.factorial(d), _all_controls(pairs, kinds)) if d <= MOST_JOINT else None
    return graph_controls(pairs, kinds, graphs, relabelling_laws(pairs, moments), listing=listing)


def _all_controls(pairs: GraphPairs, kinds: NDArray[np.uint8]) -> Controls:
    """Return controls of which draw r is the r-th relabelling of every row."""
    relabelled = lru_cache(maxsize=KEPT)(lambda number: all_relabellings(pairs.estimate, number).planes)

    def graphs(start: int, count: int) -> GraphBatch:
        planes = [relabelled(number)[start : start + count] for number in pairs.estimate_index.tolist()]
        return GraphBatch(pairs.n_nodes, np.concatenate(planes), np.repeat(kinds, count))

    return graph_controls(pairs, kinds, graphs)


def check_same_nodes(matching: Matching) -> None:
    """Refuse estimates of one cluster and stratum over different nodes: one relabelling cannot serve both."""
    context, cluster = matching.context, matching.cluster
    # without strata nothing is added up over the rows
    if cluster is None or matching.stratum is None or context is None or not context.gives(["latents"]):
        return
    node_sets = unpack_column(matching.estimate, in_place=True).row_node_set
    first: dict[tuple[int, int], int] = {}
    for row in np.flatnonzero((node_sets >= 0) & (cluster != 0)).tolist():
        other = first.setdefault((int(matching.stratum[row]), int(cluster[row])), row)
        if node_sets[other] != node_sets[row]:
            index = matching.estimate.index
            raise ValueError(
                f"{name_row(other, index)} and {name_row(row, index)} are of one stratum and cluster, but their "
                "estimates have different observed nodes, so that one relabelling cannot serve both: put a column that "
                "tells their latents apart into by=, or use cluster=None where all runs are independent"
            )


#: tries that a uniform orientation may take
MOST_TRIES = 200_000


def check_law(matching: Matching) -> str:
    """Return the law of random directions, after checking it."""
    check_bidirected(matching)
    law = matching.options["orientation_law"]
    check_choice(law, ("order", "uniform"), "orientation_law")
    return str(law)


def oracle_skeleton_controls(matching: Matching, rows: Ints, pairs: Any, keys: Keys) -> Controls:
    """Take the truth's skeleton and direct it at random."""
    return orientation_controls(matching, rows, pairs, keys, of_truth=True)


def orientation_controls(matching: Matching, rows: Ints, pairs: Any, keys: Keys, *, of_truth: bool = False) -> Controls:
    """Keep the estimate's skeleton and direct it at random."""
    if of_truth and matching.truth is None:
        raise ValueError("null 'oracle_skeleton' keeps the truth's skeleton, and truth=None names no truth")
    source, index = (pairs.truth, pairs.truth_index) if of_truth else (pairs.estimate, pairs.estimate_index)
    if is_mixed(pairs.estimate.planes):
        return latent_graphs(matching, rows, pairs, keys, source.planes[index], skeletons=True)
    law, d = matching.prepared, pairs.n_nodes
    if law == "uniform" and d > MOST_ORIENTED:
        raise ValueError(
            f"orientation_law='uniform' draws over at most {MOST_ORIENTED} nodes, found {d}; use "
            "orientation_law='order'"
        )
    edges = source.planes[:, 0] | source.planes[:, 1]
    undirected = GraphBatch(d, np.stack([edges, edges], axis=1), source.kinds)
    skeletons = GraphPairs(pairs.truth, undirected, pairs.truth_index, index)
    kinds = matched_kinds(matching, rows, pairs)

    def graphs(start: int, count: int) -> GraphBatch:
        planes = undirected.contiguous
        if law == "order":
            drawn = kernels("controls").orient_graphs(planes, d, index[:, None], keys, start, count)
        else:
            acyclic = np.flatnonzero(kinds != DIGRAPH)
            oriented_dags, stuck = kernels("controls").orient_uniformly(
                planes, d, index[acyclic], keys[acyclic], start, count, MOST_TRIES
            )
            if stuck >= 0:
                raise ValueError(
                    f"{matching.where(rows[acyclic[stuck]])}: no acyclic graph was found in {MOST_TRIES:,} random "
                    f"directions of its edges over {d} nodes; skeletons this dense are not oriented uniformly: use "
                    "orientation_law='order'"
                )
            drawn = np.repeat(planes[index], count, axis=0)
            drawn[np.repeat(kinds != DIGRAPH, count)] = oriented_dags
        return in_class(drawn, pairs, kinds, keys, start, count)

    moments = by_form(
        reversal=lambda metric: half_of_shared(metric, skeletons),
        linear=lambda metric: oriented(metric, skeletons, along_order=law == "order", tossed=kinds == DIGRAPH),
    )
    laws = orientation_laws(pairs, undirected, index, kinds, of_dags(moments, kinds), by_order=law == "order")
    known = by_form(laws, hypergeometric=lambda metric: constant(metric(skeletons)))
    return graph_controls(pairs, kinds, graphs, known)


def check_shared(matching: Matching) -> None:
    """Refuse a number of shared adjacencies beside estimates; warn of undirected graphs."""
    if matching.options["shared"] is not None and len(matching.estimate):
        raise ValueError(
            "null='skeleton' counts the shared adjacencies of estimates; shared= is for published numbers, as in "
            "ce.control_distribution"
        )
    warn_of_undirected(matching)


def skeleton_controls(matching: Matching, rows: Ints, pairs: Any, keys: Keys) -> Controls:
    """Share as many adjacencies with the truth as the estimate does, and direct them at random."""
    kinds = matched_kinds(matching, rows, pairs)
    d, n_edges = pairs.n_nodes, estimated_edges(pairs)
    low, high = np.triu_indices(d, 1)
    in_truth = _adjacent(pairs.truth.planes, d)[pairs.truth_index]
    n_shared = (in_truth & _adjacent(pairs.estimate.planes, d)[pairs.estimate_index]).sum(axis=1)

    def graphs(start: int, count: int) -> GraphBatch:
        numbers = several_numbers(keys, start, count, len(low))
        chosen = np.zeros(numbers.shape, bool)
        for group, wanted in ((in_truth, n_shared), (~in_truth, n_edges - n_shared)):
            rank = np.argsort(np.argsort(np.where(group[:, None], numbers, 2.0), axis=-1), axis=-1)
            chosen |= group[:, None] & (rank < wanted[:, None, None])
        marks = np.zeros((len(keys) * count, d, d), bool)
        marks[:, low, high] = marks[:, high, low] = chosen.reshape(len(marks), -1)
        index = np.arange(len(marks)).reshape(len(keys), count)
        skeletons = planes_from_matrices(marks, np.arange(d))
        drawn = kernels("controls").orient_graphs(skeletons, d, index, keys ^ _OF_DRAWN, start, count)
        return in_class(drawn, pairs, kinds, keys, start, count)

    moments = by_form(reversal=lambda metric: half_of_shared(metric, pairs))
    arrows_only = (pairs.truth.edge_counts.undirected[pairs.truth_index] == 0).all()
    dags = of_dags(moments if arrows_only else no_closed_form, kinds)
    known = by_form(dags, hypergeometric=lambda metric: constant(metric(pairs)))
    return graph_controls(pairs, kinds, graphs, known, scratch=30 * d * d)


def _adjacent(planes: NDArray[np.uint64], d: int) -> NDArray[np.bool_]:
    """Return which pairs of nodes are adjacent in each graph, (graphs, pairs)."""
    words = np.ascontiguousarray(planes[:, 0] | planes[:, 1])
    return np.unpackbits(words.view(np.uint8), axis=-1, bitorder="little")[:, : d * (d - 1) // 2].astype(bool)


def published_controls(
    model: Null,
    truth: Any,
    key: Keys,
    *,
    n_edges: int,
    kind: str,
    nodes: Sequence[str] | None,
    options: Mapping[str, Any],
) -> Controls:
    """Return the controls of one truth from an estimate's class and number of edges, or also of shared adjacencies."""
    graph = as_graph(truth, nodes=nodes)
    d = graph.n_nodes
    # any DAG with these numbers stands for the estimate
    if "shared" in options:
        chosen = _sharing(_adjacent(graph.planes[None], d)[0], n_edges, options["shared"])
    else:
        check_whole(n_edges, f"n_edges of a graph of {d} nodes", 0, d * (d - 1) // 2)
        chosen = np.arange(int(n_edges))
    # a fixed causal order is that of `nodes` as given, not of their names
    unknown = [name for name in nodes or () if name not in graph.nodes]
    if unknown:
        raise ValueError(f"nodes must be names of nodes, found {unknown[0]!r}; the nodes are {list(graph.nodes)[:10]}")
    order = [graph.nodes.index(name) for name in nodes or graph.nodes]
    check_known(kind, PLAIN_KINDS, "kind of graph")
    ahead = np.zeros((1, d, d), bool)
    ahead[0][tuple(side[chosen] for side in np.triu_indices(d, 1))] = True
    estimate = GraphBatch(d, planes_from_matrices(ahead, np.arange(d)), np.array([DAG], np.uint8))
    batch = GraphBatch(d, graph.planes[None], np.array([KINDS.index(graph.kind)], np.uint8))
    empty = pd.Series([], dtype=object)
    # the number of undirected edges is unknown, so that PDAGs are matched by CPDAGs
    kinds = np.array(["cpdag" if kind == "pdag" else kind], object)
    matching = Matching(empty, empty, kinds, None, {**options, "order": order, "shared": None})
    first = np.zeros(1, np.int64)
    return model.match(matching)(first, GraphPairs(batch, estimate, first, first), key)


def _sharing(in_truth: NDArray[np.bool_], n_edges: int, shared: Any) -> Ints:
    """Return the pairs of nodes of an estimate that has so many of its edges in the truth."""
    true, others = np.flatnonzero(in_truth), np.flatnonzero(~in_truth)
    if shared is None:
        raise ValueError(
            "null='skeleton' needs the number of adjacencies that the estimate shares with the truth, as in "
            f"ce.null_model('skeleton', shared=3), found {shown(shared)}"
        )
    least, most = max(0, n_edges - len(others)), min(n_edges, len(true))
    check_whole(shared, f"shared of {n_edges} estimated and {len(true)} true edges", least, most)
    return np.concatenate([true[:shared], others[: n_edges - shared]])


def _warned(check: Callable[[Matching], Any]) -> Callable[[Matching], Any]:
    """Return what warns of undirected graphs before it checks the options of a null model."""

    def prepare(matching: Matching) -> Any:
        warn_of_undirected(matching)
        return check(matching)

    return prepare


_PERMUTE: dict[str, Any] = {"permute": True}
_LAW: dict[str, Any] = {"orientation_law": "order"} | BIDIRECTED

for _model in (
    Null(
        "edges",
        "random graphs with the estimate's class and number of edges",
        edges_controls,
        prepare=_warned(check_bidirected),
        published=published_controls,
        options=_PERMUTE | BIDIRECTED,
        label_invariant=True,
    ),
    Null(
        "permutation",
        "the estimate with its nodes relabelled at random",
        permutation_controls,
        prepare=check_same_nodes,
        label_invariant=True,
        joint=True,
    ),
    Null(
        "orientation",
        "the estimate's skeleton with random acyclic directions",
        orientation_controls,
        prepare=_warned(check_law),
        options=_LAW,
    ),
    Null(
        "oracle_skeleton",
        "the truth's skeleton with random acyclic directions, an upper reference",
        oracle_skeleton_controls,
        prepare=check_law,
        reference=True,
        options=_LAW,
    ),
    Null(
        "skeleton",
        "random graphs that share as many adjacencies with the truth as the estimate",
        skeleton_controls,
        prepare=check_shared,
        published=published_controls,
        options={"shared": None},
    ),
    Null("empty", "the graph without edges", empty_controls, reference=True, options=_PERMUTE),
    Null("complete", "complete graphs", complete_controls, reference=True, options=_PERMUTE),
    Null(
        "degree",
        "random graphs with the degrees of the estimate's skeleton",
        degree_controls,
        prepare=_warned(lambda matching: check_whole(matching.options["switches"], "switches", 1)),
        options={"switches": 20},
    ),
    Null(
        "knowledge",
        "random graphs with the estimate's number of edges that respect background knowledge",
        knowledge_controls,
        prepare=_warned(knowledge_of_node_sets),
        options={"tiers": (), "forbidden": (), "required": ()},
    ),
    Null(
        "latent_dag",
        "random DAGs with latent nodes, projected to the estimate's class",
        latent_dag_controls,
        prepare=check_latents,
        options={"n_latents": None, "density": None},
        label_invariant=True,
    ),
):
    register_null("graph", _model)
