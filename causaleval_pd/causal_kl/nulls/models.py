"""Null models of networks: random DAGs that are parameterised as the estimate was.

Parameters come from the same data, or from the true joint law, so that a control differs in its arcs alone: it is no
random guess of parameters. Against a complete or equivalent DAG the KL divergence is uninformative by construction.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.context import Context
from ...contract.law import ClosedForm, Distribution
from ...contract.metric import Metric
from ...contract.null import Matcher, Matching, Null
from ...execution.random_streams import uniforms
from ...graphs.dags import MOST_DIRECTED, MOST_LISTED, parent_sets
from ...graphs.kernels import control_kernels, kernels
from ...graphs.kernels.control_inputs import MOST_ORIENTED
from ...graphs.kernels.dag_counts import check_counted
from ...graphs.kernels.planes import planes_from_arcs
from ..networks.fitting import Families, data_families, joint_families, parameterise
from ..networks.layout import Layout
from ..networks.network import Network
from ..networks.pairs import NetworkPairs, Networks
from .random_dags import Masks, bits, dags_with, draw_orientation, orientations

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Edges = tuple[tuple[int, int], ...]


#: tries that a uniform orientation may take
_TRIES = 20_000

#: draws start .. start + count - 1 of the stream named by a key (an array of one), as parent sets
Draw = Callable[[NDArray[np.uint64], int, int], list[list[int]]]


@dataclass(frozen=True)
class Space:
    """DAGs that a row's controls are drawn from.

    Attributes
    ----------
    all : Masks or None
        Every DAG, where they are few enough.
    draw : callable
        `draw(key, start, count)` gives draws start .. start + count - 1.
    """

    all: Masks | None
    draw: Draw


def uniform_dags(truth: Layout, estimate: Layout) -> Space:
    """Return all DAGs with the estimate's number of arcs, equally likely."""
    k, n_arcs = len(estimate.nodes), len(estimate.arcs)
    if k <= MOST_LISTED:
        return _enumerated(dags_with(k, n_arcs))
    check_counted(k)
    return Space(
        None, lambda key, start, count: parent_sets(control_kernels().draw_dags(k, [n_arcs], key, start, count), k)
    )


def ordered_dags(truth: Layout, estimate: Layout) -> Space:
    """Return DAGs with the estimate's number of arcs as uniform skeletons in uniform orders."""
    k, n_arcs = len(estimate.nodes), len(estimate.arcs)
    return Space(
        None,
        lambda key, start, count: parent_sets(kernels().draw_graphs(k, [[n_arcs]], [False], key, start, count), k),
    )


def own_orientations(truth: Layout, estimate: Layout) -> Space:
    """Return the acyclic orientations of the estimate's skeleton."""
    return _orientations(estimate)


def true_orientations(truth: Layout, estimate: Layout) -> Space:
    """Return the acyclic orientations of the true skeleton."""
    return _orientations(truth)


def relabellings(truth: Layout, estimate: Layout) -> Space:
    """Return the estimate's DAG with its nodes' names exchanged."""
    k = len(estimate.nodes)
    if k <= MOST_LISTED:
        renamed = [
            [sum(1 << names[p] for p in estimate.parents[names.index(i)]) for i in range(k)]
            for names in itertools.permutations(range(k))
        ]
        return _enumerated(np.array(renamed, np.int64))
    graph = _planes(estimate)
    return Space(
        None,
        lambda key, start, count: parent_sets(control_kernels().relabel_graphs(graph, k, [0], key, start, count), k),
    )


def _orientations(layout: Layout) -> Space:
    k = len(layout.nodes)
    edges: Edges = tuple(sorted((min(arc), max(arc)) for arc in layout.arcs))
    if len(edges) <= MOST_DIRECTED and k < 63:
        return _enumerated(orientations(k, edges))

    skeleton = _planes(layout)

    def draw(key: NDArray[np.uint64], start: int, count: int) -> list[list[int]]:
        return [_draw_orientation(skeleton, k, edges, key, number) for number in range(start, start + count)]

    return Space(None, draw)


def _draw_orientation(
    skeleton: NDArray[np.uint64], k: int, edges: Edges, key: NDArray[np.uint64], number: int
) -> list[int]:
    """Draw an orientation uniformly, or nearly so where the skeleton is too dense for that."""
    if k <= MOST_ORIENTED:
        found, stuck = control_kernels().orient_uniformly(skeleton, k, [0], key, number, 1, _TRIES)
        if stuck < 0:
            return parent_sets(found, k)[0]
    seed = int(uniforms(key, number, 1)[0, 0] * 2.0**53)
    return draw_orientation(k, edges, np.random.default_rng(seed))


def _planes(layout: Layout) -> NDArray[np.uint64]:
    """Return a DAG as planes."""
    source, target = np.array(sorted(layout.arcs), np.int64).reshape(-1, 2).T
    return planes_from_arcs(1, len(layout.nodes), np.zeros(len(source), np.int64), source, target)


def _enumerated(masks: Masks) -> Space:
    return Space(
        masks,
        lambda key, start, count: masks[(uniforms(key, start, count)[0] * len(masks)).astype(np.int64)].tolist(),
    )


@dataclass(frozen=True, eq=False)
class RandomNetworks:
    """Controls that are random DAGs with parameters fitted as the estimate's were.

    Attributes
    ----------
    pairs : NetworkPairs
        The observed pairs, one a row.
    spaces : list of Space
        DAGs of each row's controls.
    families : list of Families
        Fits of each row.
    keys : (n,) uint64
        Names of the rows' random streams.
    """

    pairs: NetworkPairs
    spaces: list[Space]
    families: list[Families]
    keys: NDArray[np.uint64]

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls: DAGs."""
        return np.full(self.pairs.n, "dag", object)

    @property
    def cost(self) -> int:
        """Bytes that one drawn control takes while it is scored, roughly."""
        return control_bytes(self.pairs)

    @property
    def work(self) -> float:
        """Nanoseconds that drawing one control takes, roughly."""
        return 1e5

    def draw(self, start: int, count: int) -> NetworkPairs:
        """Return rows x count pairs, a row's draws together, whose estimates are draws start .. start + count - 1."""
        wanted = [
            (row, tuple(parents))
            for row, space in enumerate(self.spaces)
            for parents in space.draw(self.keys[row : row + 1], start, count)
        ]
        return self._score_with(wanted)

    def _score_with(self, wanted: list[tuple[int, tuple[int, ...]]]) -> NetworkPairs:
        """Return pairs of the rows' truths with DAGs (parent sets as bits), each distinct network made once."""
        known: dict[tuple[int, tuple[int, ...]], int] = {}
        networks: list[Network] = []
        index = np.empty(len(wanted), np.int64)
        layouts: dict[tuple[int, ...], Layout] = {}
        for at, (row, parents) in enumerate(wanted):
            key = (id(self.families[row]), parents)
            if key not in known:
                if parents not in layouts:
                    own = self.pairs.layout
                    layouts[parents] = Layout(own.nodes, own.states, tuple(bits(int(p)) for p in parents))
                known[key] = len(networks)
                networks.append(parameterise(layouts[parents], self.families[row]))
            index[at] = known[key]
        rows = np.array([row for row, _ in wanted], np.int64)
        return NetworkPairs(self.pairs.truth, Networks.of(networks), self.pairs.truth_index[rows], index)

    def closed_form(self, metric: Metric) -> ClosedForm | None:
        """Return the exact law of a metric for rows whose DAGs are enumerated, or None."""
        enumerated = {row: masks for row, space in enumerate(self.spaces) if (masks := space.all) is not None}
        if not enumerated:
            return None
        keys: dict[tuple[int, int, int], int] = {}
        index, laws = [], []
        for row, masks in enumerated.items():
            key = (int(self.pairs.truth_index[row]), id(self.families[row]), id(masks))
            if key not in keys:
                keys[key] = len(keys)
                laws.append(self._values(metric, row, masks))
            index.append(keys[key])
        values = np.full((len(laws), max(map(len, laws), default=0)), np.nan)
        weights = np.zeros_like(values)
        for at, law in enumerate(laws):
            values[at, : len(law)], weights[at, : len(law)] = law, 1 / len(law)
        distribution = Distribution.of(np.array(index, np.int64), values, weights)
        return ClosedForm(distribution.expectation(lambda x: x), None, distribution).spread(
            np.isin(np.arange(self.pairs.n), list(enumerated))
        )

    def _values(self, metric: Metric, row: int, masks: Masks) -> Floats:
        """Score every DAG of a row's space."""
        if metric.null == "additive":
            found = self._additive(metric, row, masks)
            if np.isfinite(found).all():
                return found
        pairs = self._score_with([(row, tuple(parents)) for parents in masks.tolist()])
        return np.asarray(metric.function(pairs, **metric.options), np.float64)

    def _additive(self, metric: Metric, row: int, masks: Masks) -> Floats:
        """Score DAGs by a metric that is a sum over nodes, from networks in which one node alone has parents."""
        k = masks.shape[1]
        distinct = [(i, mask) for i in range(k) for mask in np.unique(masks[:, i]).tolist()]
        wanted = [(row, tuple(mask if j == i else 0 for j in range(k))) for i, mask in distinct]
        pairs = self._score_with([(row, (0,) * k), *wanted])
        values = np.asarray(metric.function(pairs, **metric.options), np.float64)
        with np.errstate(invalid="ignore"):
            terms = dict(zip(distinct, values[1:] - values[0], strict=True))
        total = np.full(len(masks), values[0])
        for i in range(k):
            own, inverse = np.unique(masks[:, i], return_inverse=True)
            total += np.array([terms[i, mask] for mask in own.tolist()])[inverse]
        return np.where(np.abs(total) < 1e-12, 0.0, total)


def control_bytes(pairs: NetworkPairs) -> int:
    """Return roughly how many bytes a control takes while it is scored: its tables, their logarithms, and copies."""
    return 64 * max((layout.size for layout in pairs.estimate.layouts), default=1)


def _matched(make: Callable[[Layout, Layout], Space]) -> Callable[[Matching], Matcher]:
    """Make the `match` of a null model from its space of DAGs."""

    def match(matching: Matching) -> Matcher:
        fits: dict[tuple[int, object], Families] = {}

        def of(rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> RandomNetworks:
            families, spaces = [], []
            made: dict[tuple[Layout, Layout], Space] = {}
            for row, t, e in zip(rows.tolist(), pairs.truth_index.tolist(), pairs.estimate_index.tolist(), strict=True):
                layouts = (
                    pairs.truth.layouts[pairs.truth.layout[t]],
                    pairs.estimate.layouts[pairs.estimate.layout[e]],
                )
                if layouts not in made:
                    made[layouts] = make(*layouts)
                spaces.append(made[layouts])
                families.append(families_of_row(matching.context, row, pairs.true_network(t), fits))
            return RandomNetworks(pairs, spaces, families, keys)

        return of

    return match


def families_of_row(
    context: Context | None, row: int, truth: Network, fits: dict[tuple[int, object], Families]
) -> Families:
    """Return the fits of a row: from its data by its estimator, else from the true joint law."""
    code = -1 if context is None else int(context.codes[row])
    given = {} if context is None else context.values[code]
    return row_families(truth, given.get("data"), given.get("estimator"), fits, code)


def row_families(
    truth: Network, data: Any, estimator: Any, fits: dict[tuple[int, object], Families], code: int
) -> Families:
    """Return fits to data by an estimator, or to the true joint law; those to data are kept in `fits`."""
    if isinstance(estimator, str) and estimator == "joint":
        return joint_families(truth)
    if data is None:
        if estimator is not None:
            raise ValueError(
                f"estimator={estimator!r} needs data: pass context={{'data': ..., 'estimator': ...}}, or "
                "estimator='joint' for parameters from the true joint law"
            )
        return joint_families(truth)
    if estimator is None:
        raise ValueError(
            "data without an estimator: pass the one that parameterised the estimates, "
            "context={'data': ..., 'estimator': 'mle', 'uniform rows' or a pseudo-count}"
        )
    layout = truth.layout
    key = (code, (layout.nodes, layout.states))
    if key not in fits:
        states = None if layout.states is None else dict(zip(layout.nodes, layout.states, strict=True))
        fits[key] = data_families(data, layout.nodes, estimator, states, layout.states is None)
    return fits[key]


NULLS = {
    "dags": Null("dags", "uniformly random DAGs with the estimate's number of arcs", _matched(uniform_dags)),
    "edges": Null(
        "edges",
        "random DAGs (uniform skeleton, uniform order) with the estimate's number of arcs",
        _matched(ordered_dags),
    ),
    "permutation": Null(
        "permutation", "the estimate's DAG with its nodes relabelled at random", _matched(relabellings)
    ),
    "orientation": Null(
        "orientation", "random acyclic orientations of the estimate's skeleton", _matched(own_orientations)
    ),
    "oracle_skeleton": Null(
        "oracle_skeleton",
        "random acyclic orientations of the true skeleton",
        _matched(true_orientations),
        reference=True,
    ),
}
