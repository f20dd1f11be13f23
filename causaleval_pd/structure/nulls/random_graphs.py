"""Null models of random graphs with a number of edges: the estimate's, its stratum's, none, all, or a random one.

References
----------
.. [1] Petersen, A. H. (2025). Are you doing better than random guessing? A call for using negative controls when
   evaluating causal discovery algorithms. UAI 2025.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binom

from ...contract.checks import check_known, check_whole
from ...contract.law import ClosedForm
from ...contract.metric import Metric
from ...contract.null import Controls, Matcher, Matching
from ...execution.random_streams import uniforms
from ...graphs.column import as_graph
from ...graphs.kernels import kernels
from ...graphs.kernels.planes import KINDS, planes_from_marks
from ...graphs.packed import unpack_column
from ...graphs.pairs import GraphBatch, GraphPairs
from .closed_forms import linear, reversal
from .hypergeometric import hypergeometric

#: rough bytes of a drawn control besides its planes: counts and the values of a few metrics
_COUNT_BYTES = 200
_ANY_ORDER = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class RandomGraphs:
    """Controls that are random graphs with given numbers of edges.

    Attributes
    ----------
    pairs : GraphPairs
        The observed pairs, one a row.
    n_edges : (n,) int64
        Number of edges of a row's controls.
    cpdag : (n,) bool
        Whether a row's controls are CPDAGs of random DAGs rather than the DAGs.
    keys : (n,) uint64
        Names of the rows' random streams.
    order : (0,) or (d,) int64
        Causal order of the nodes' positions; empty: a random one for every draw.
    numbers : callable, optional
        `numbers(start, count)` gives each draw its own number of edges, (n, count), in place of `n_edges`.
    """

    pairs: GraphPairs
    n_edges: NDArray[np.int64]
    cpdag: NDArray[np.bool_]
    keys: NDArray[np.uint64]
    order: NDArray[np.int64]
    numbers: Callable[[int, int], NDArray[np.int64]] | None = None

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls, a word a row."""
        return np.where(self.cpdag, "cpdag", "dag").astype(object)

    @property
    def cost(self) -> int:
        """Bytes that one drawn control takes while it is scored."""
        return int(self.pairs.truth.planes[0].nbytes) + _COUNT_BYTES if len(self.pairs.truth) else _COUNT_BYTES

    @property
    def work(self) -> float:
        """Nanoseconds that drawing one control takes, roughly: the mean over the rows."""
        return 6 * self.pairs.size

    def draw(self, start: int, count: int) -> GraphPairs:
        """Return rows x count pairs, a row's draws together, whose estimates are draws start .. start + count - 1."""
        d = self.pairs.n_nodes
        edges = self.n_edges[:, None] if self.numbers is None else self.numbers(start, count)
        planes = kernels().draw_graphs(d, edges, self.cpdag, self.keys, start, count, self.order)
        kinds = np.repeat(np.where(self.cpdag, KINDS.index("cpdag"), KINDS.index("dag")).astype(np.uint8), count)
        truth_index = np.repeat(self.pairs.truth_index, count)
        index = np.arange(len(truth_index), dtype=np.int64)
        return GraphPairs(self.pairs.truth, GraphBatch(d, planes, kinds), truth_index, index)

    def closed_form(self, metric: Metric) -> ClosedForm | None:
        """Return what is known of the metric under random graphs with a fixed number of edges, or None."""
        if self.numbers is not None or metric.null is None:
            return None
        edges = self.pairs.truth.edge_counts
        truth = self.pairs.truth_index
        d = self.pairs.n_nodes
        if metric.null == "hypergeometric":
            return hypergeometric(metric, d, edges.edges[truth], self.n_edges)
        if self.cpdag.all() or len(self.order):
            return None
        if metric.null == "linear":
            degrees = self.pairs.truth.degrees[truth]
            known = linear(metric, d, edges.directed[truth], edges.undirected[truth], self.n_edges, degrees)
        elif metric.null == "reversal":
            known = reversal(metric, d, edges.directed[truth], edges.undirected[truth], self.n_edges)
        else:
            return None
        variance = np.nan if known.variance is None else known.variance
        return ClosedForm(np.where(self.cpdag, np.nan, known.mean), np.where(self.cpdag, np.nan, variance))


def control_classes(matching: Matching, rows: NDArray[np.int64], pairs: GraphPairs) -> NDArray[np.bool_]:
    """Tell which rows are matched by CPDAGs: the user's word, else every estimate that is no DAG."""
    kinds = pairs.estimate.kinds[pairs.estimate_index]
    cpdag = np.asarray(kinds != KINDS.index("dag"))
    if matching.control_kind is None:
        return cpdag
    told = matching.control_kind[rows]
    for row, kind in zip(rows, told, strict=True):
        if not pd.isna(kind) and kind not in KINDS:
            raise ValueError(
                f"row {row}: control_kind is {kind!r}; expected one of {', '.join(KINDS)}, or the name of a column "
                "that holds these words"
            )
    stated = np.array([not pd.isna(kind) for kind in told], bool)
    return np.where(stated, told != "dag", cpdag)


def _order(matching: Matching, d: int) -> NDArray[np.int64]:
    """Turn `permute=False` into the order of the nodes' names; True draws a new order every time."""
    return _ANY_ORDER if matching.options.get("permute", True) else np.arange(d, dtype=np.int64)


def match_edges(matching: Matching) -> Matcher:
    """Match every control to its row's class and number of edges."""

    def match(rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        n_edges = estimated_edges(pairs)
        cpdag = control_classes(matching, rows, pairs)
        return RandomGraphs(pairs, n_edges, cpdag, keys, _order(matching, pairs.n_nodes))

    return match


def match_stratum(matching: Matching) -> Matcher:
    """Match controls to the estimate's class, their edge numbers drawn from all estimates of the stratum."""
    strata = matching.stratum
    if strata is None:
        raise ValueError(
            "null='stratum' draws edge numbers from a stratum's estimates, so it needs strata: use cube(by=[...], "
            "null='stratum'), or null='edges' for rows"
        )
    unpacked = unpack_column(matching.estimate)
    batches = [GraphBatch(block.n_nodes, block.planes, block.kinds) for block in unpacked.blocks]
    n_edges = unpacked.scatter([batch.edge_counts.edges for batch in batches], -1, np.int64)
    n_nodes = unpacked.scatter([np.full(len(batch), batch.n_nodes) for batch in batches], -1, np.int64)
    known = ~unpacked.missing
    frame = pd.DataFrame({"stratum": strata[known], "edges": n_edges[known], "nodes": n_nodes[known]})
    mixed = frame.groupby("stratum")["nodes"].nunique()
    if (mixed > 1).any():
        number = mixed.index[mixed > 1][0]
        row = int(np.flatnonzero(known & (strata == number))[0])
        raise ValueError(
            f"null='stratum' needs graphs of one size a stratum; the stratum of row {row} has estimates over "
            f"{sorted(frame.nodes[frame.stratum == number].unique().tolist())} nodes; add the number of nodes to by="
        )
    # sorted pools do not depend on the order of the rows
    pools = {key: np.sort(group.to_numpy()) for key, group in frame.groupby("stratum")["edges"]}

    def match(rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        mine = [pools[s] for s in strata[rows]]

        def numbers(start: int, count: int) -> NDArray[np.int64]:
            """Draw each control's number of edges from its row's pool, with replacement."""
            places = uniforms(keys, start, count)
            return np.stack([pool[(u * len(pool)).astype(np.int64)] for pool, u in zip(mine, places, strict=True)])

        cpdag = control_classes(matching, rows, pairs)
        return RandomGraphs(pairs, estimated_edges(pairs), cpdag, keys, _order(matching, pairs.n_nodes), numbers)

    return match


def match_erdos_renyi(matching: Matching) -> Matcher:
    """Match controls to the estimate's class and density: each pair is adjacent with the same probability."""

    def match(rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        n_edges, n_pairs = estimated_edges(pairs), pairs.n_nodes * (pairs.n_nodes - 1) // 2

        def numbers(start: int, count: int) -> NDArray[np.int64]:
            chance = n_edges[:, None] / max(1, n_pairs)
            return np.asarray(binom.ppf(uniforms(keys, start, count), n_pairs, chance), np.int64)

        cpdag = control_classes(matching, rows, pairs)
        return RandomGraphs(pairs, n_edges, cpdag, keys, _order(matching, pairs.n_nodes), numbers)

    return match


def match_fixed(share: int) -> Callable[[Matching], Matcher]:
    """Make the matcher of a baseline without edges (0) or with all of them (1), of the estimate's class."""

    def matcher(matching: Matching) -> Matcher:
        def match(rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
            n_edges = np.full(pairs.n, share * (pairs.n_nodes * (pairs.n_nodes - 1) // 2), np.int64)
            return RandomGraphs(
                pairs, n_edges, control_classes(matching, rows, pairs), keys, _order(matching, pairs.n_nodes)
            )

        return match

    return matcher


def estimated_edges(pairs: GraphPairs) -> NDArray[np.int64]:
    """Return the number of edges of each pair's estimate."""
    return pairs.estimate.edge_counts.edges[pairs.estimate_index].astype(np.int64)


def published(match: Callable[[Matching], Matcher]) -> Callable[..., Controls]:
    """Make a null model that heeds only an estimate's class and number of edges draw controls from these numbers."""

    def controls(
        truth: Any,
        key: NDArray[np.uint64],
        *,
        n_edges: int,
        kind: str,
        nodes: Sequence[str] | None,
        options: Mapping[str, Any],
    ) -> Controls:
        graph = as_graph(truth, nodes=nodes)
        d = graph.n_nodes
        n_pairs = d * (d - 1) // 2
        check_whole(n_edges, f"n_edges of a graph of {d} nodes", 0, n_pairs)
        check_known(kind, KINDS, "kind of graph")
        # any DAG with so many edges stands for the estimate
        ahead = np.zeros((1, d, d), bool)
        some = np.arange(int(n_edges))
        ahead[0, np.triu_indices(d, 1)[0][some], np.triu_indices(d, 1)[1][some]] = True
        stand_in = GraphBatch(d, planes_from_marks(ahead, np.arange(d)), np.array([KINDS.index("dag")], np.uint8))
        batch = GraphBatch(d, graph.planes[None], np.array([KINDS.index(graph.kind)], np.uint8))
        empty = pd.Series([], dtype=object)
        matching = Matching(empty, empty, np.array([kind], object), None, options)
        found = match(matching)(np.zeros(1, np.int64), GraphPairs.zip(batch, stand_in), key)
        if isinstance(found, RandomGraphs) and not options.get("permute", True):
            # the causal order is that of `nodes` as told, not of their names
            order = np.array([graph.nodes.index(name) for name in nodes or graph.nodes], np.int64)
            return replace(found, order=order)
        return found

    return controls
