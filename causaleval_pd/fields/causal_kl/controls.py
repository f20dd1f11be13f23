"""Controls of networks, parameterised as the estimate was: random DAGs, their classes, or a user's function.

A DAG is a sequence of parent sets, one per node, as bits; the DAGs of a null model are listed where they are few, else
drawn. Parameters come from the same data as the estimate's, or from the true joint law, so that a control differs in
its arcs alone: its parameters are not random guesses. Against a complete or equivalent DAG the KL divergence is
uninformative by construction.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.law import ClosedForm, Distribution
from ...contract.metric import Metric
from ...contract.null import Controls, DrawnControls, Matching, Null, custom_draws
from ...execution.random_streams import uniforms
from ...graphs.column import as_graph
from ...graphs.dags import MOST_DIRECTED, MOST_LISTED, all_dags, all_orientations, parent_sets
from ...graphs.kernels import control_kernels, kernels
from ...graphs.kernels.dag_counts import check_counted
from ...graphs.kernels.inputs import MOST_ORIENTED
from ...graphs.kernels.planes import arcs_from_planes, planes_from_arcs
from .classes import Classes, ClassPairs, DagClass, class_of_arcs
from .fitting import FamilyFits, Fits, fits_of_row, parameterise, parents_of
from .networks.formats import is_network, read_network
from .networks.network import Network
from .networks.pairs import NetworkPairs, Networks, differing
from .networks.structure import Structure

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Dag = tuple[int, ...]

#: DAGs as (n, k) parent sets
ParentSets = NDArray[np.int64]
Edges = tuple[tuple[int, int], ...]
#: draws start .. start + count - 1 of the stream named by a key (an array of one), as parent sets
Draw = Callable[[NDArray[np.uint64], int, int], list[list[int]]]

#: tries that a uniform orientation may take
MOST_TRIES = 200_000


@dataclass(frozen=True)
class Space:
    """DAGs that a row's controls are drawn from."""

    #: every DAG, where they are few
    all: ParentSets | None
    #: `draw(key, start, count)` returns draws start .. start + count - 1.
    draw: Draw


def uniform_dags(truth: Structure, estimate: Structure) -> Space:
    """Draw DAGs uniformly.

    Law: uniform among all DAGs over the nodes with the estimate's number of arcs. Given: nodes and number of arcs.
    """
    k, n_arcs = len(estimate.nodes), len(estimate.arcs)
    if k <= MOST_LISTED:
        return _listed(dags_with_arcs(k, n_arcs))
    check_counted(k)
    return Space(
        None, lambda key, start, count: parent_sets(control_kernels().draw_dags(k, [n_arcs], key, start, count), k)
    )


def ordered_dags(truth: Structure, estimate: Structure) -> Space:
    """Draw skeletons, and orders that direct them.

    Law: a skeleton uniform among those with the estimate's number of arcs, directed along a uniform order of the nodes.
    Given: nodes and number of arcs.
    """
    k, n_arcs = len(estimate.nodes), len(estimate.arcs)
    return Space(
        None, lambda key, start, count: parent_sets(kernels().draw_graphs(k, [[n_arcs]], [False], key, start, count), k)
    )


def own_orientations(truth: Structure, estimate: Structure) -> Space:
    """Draw directions of the estimate's adjacencies.

    Law: uniform among the acyclic orientations of the estimate's skeleton, which must not be too dense for that. Given:
    the skeleton.
    """
    return _orientations(estimate)


def true_orientations(truth: Structure, estimate: Structure) -> Space:
    """Draw directions of the true adjacencies.

    Law: uniform among the acyclic orientations of the true skeleton, which must not be too dense for that. Given: the
    true skeleton, so that there is no p.
    """
    return _orientations(truth)


def relabellings(truth: Structure, estimate: Structure) -> Space:
    """Draw names of the nodes.

    Law: a permutation of the nodes, uniform among all. Given: the shape of the estimate. Rows with one key are
    relabelled by the same permutation.
    """
    k, graph = len(estimate.nodes), _planes(estimate)
    listed = None
    if k <= MOST_LISTED:
        renamed = [
            [sum(1 << names[p] for p in estimate.parents[names.index(i)]) for i in range(k)]
            for names in itertools.permutations(range(k))
        ]
        listed = np.array(renamed, np.int64)
    # the permutation of a draw depends on key and number alone, so that rows with one key are relabelled jointly
    return Space(
        listed,
        lambda key, start, count: parent_sets(control_kernels().relabel_graphs(graph, k, [0], key, start, count), k),
    )


def _orientations(structure: Structure) -> Space:
    """Return the acyclic orientations of a structure's skeleton."""
    k = len(structure.nodes)
    edges: Edges = tuple(sorted((min(arc), max(arc)) for arc in structure.arcs))
    if len(edges) <= MOST_DIRECTED and k < 63:
        return _listed(orientations(k, edges))

    skeleton = _planes(structure)

    def draw(key: NDArray[np.uint64], start: int, count: int) -> list[list[int]]:
        stuck = 0
        if k <= MOST_ORIENTED:
            found, stuck = control_kernels().orient_uniformly(skeleton, k, [0], key, start, count, MOST_TRIES)
        if k > MOST_ORIENTED or stuck >= 0:
            raise ValueError(
                f"a skeleton of {k} nodes and {len(edges)} edges is too dense for uniform draws of its orientations; "
                "use null='permutation', or null='edges' for DAGs with as many edges"
            )
        return parent_sets(found, k)

    return Space(None, draw)


def _planes(structure: Structure) -> NDArray[np.uint64]:
    """Return a DAG as planes."""
    source, target = np.array(sorted(structure.arcs), np.int64).reshape(-1, 2).T
    return planes_from_arcs(1, len(structure.nodes), np.zeros(len(source), np.int64), source, target)


def _listed(masks: ParentSets) -> Space:
    """Make the space of listed DAGs, equally likely."""
    return Space(
        masks, lambda key, start, count: masks[(uniforms(key, start, count)[0] * len(masks)).astype(np.int64)].tolist()
    )


@lru_cache(maxsize=128)
def dags_with_arcs(k: int, n_arcs: int) -> ParentSets:
    """Return every DAG over k nodes with this number of arcs, as (n, k) parent sets."""
    return np.array(parent_sets(all_dags(k, n_arcs), k), np.int64)


@lru_cache(maxsize=256)
def orientations(k: int, edges: Edges) -> ParentSets:
    """Return every acyclic orientation of a skeleton, as (n, k) parent sets."""
    return np.array(parent_sets(all_orientations(k, edges), k), np.int64)


def bits(mask: int) -> tuple[int, ...]:
    """Return the positions of the bits of a parent set, ascending."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return tuple(found)


def _table_bytes(pairs: NetworkPairs) -> int:
    """Return the bytes that a control takes while it is scored, roughly: its tables, their logarithms, and copies."""
    return 64 * max((structure.size for structure in pairs.estimate.structures), default=1)


def no_fits(matching: Matching) -> Fits:
    """Start the store of a table's fits, so that batches of rows with the same data share them."""
    return {}


@dataclass(frozen=True, eq=False)
class RandomNetworks(Controls):
    """Controls that are random DAGs with parameters fitted as the estimate's were."""

    #: the observed pairs, one per row
    pairs: NetworkPairs
    #: DAGs of each row's controls
    spaces: list[Space]
    #: fits of each row
    fits: list[FamilyFits]
    #: (n,): names of the rows' random streams
    keys: NDArray[np.uint64]

    work = 1e5

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls: DAGs."""
        return np.full(self.pairs.n, "dag", object)

    @property
    def cost(self) -> int:
        """Bytes of one control."""
        return _table_bytes(self.pairs)

    def draw(self, start: int, count: int) -> NetworkPairs:
        """Return rows x count pairs, a row's draws together, whose estimates are draws start .. start + count - 1."""
        wanted = [
            (row, tuple(parents))
            for row, space in enumerate(self.spaces)
            for parents in space.draw(self.keys[row : row + 1], start, count)
        ]
        return self.pairs_with(wanted)

    def pairs_with(self, wanted: list[tuple[int, tuple[int, ...]]]) -> NetworkPairs:
        """Return pairs of the rows' truths with DAGs (parent sets as bits), each distinct network made once."""
        known: dict[tuple[int, tuple[int, ...]], int] = {}
        networks: list[Network] = []
        index = np.empty(len(wanted), np.int64)
        structures: dict[tuple[int, ...], Structure] = {}
        for at, (row, parents) in enumerate(wanted):
            key = (id(self.fits[row]), parents)
            if key not in known:
                if parents not in structures:
                    own = self.pairs.structure
                    structures[parents] = Structure(own.nodes, own.states, tuple(bits(int(p)) for p in parents))
                known[key] = len(networks)
                networks.append(parameterise(structures[parents], self.fits[row]))
            index[at] = known[key]
        rows = np.array([row for row, _ in wanted], np.int64)
        return NetworkPairs(self.pairs.truth, Networks.of(networks), self.pairs.truth_index[rows], index)

    def closed_form(self, metric: Metric) -> ClosedForm | None:
        """Return the exact law of a metric for rows whose DAGs are enumerated, or None."""
        enumerated = {row: masks for row, space in enumerate(self.spaces) if (masks := space.all) is not None}
        if not enumerated:
            return None
        keys: dict[tuple[int, int, int, str], int] = {}
        index, laws, kinds = [], [], self.kind.tolist()
        for row, masks in enumerated.items():
            key = (int(self.pairs.truth_index[row]), id(self.fits[row]), id(masks), kinds[row])
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

    def _values(self, metric: Metric, row: int, masks: ParentSets) -> Floats:
        """Score every DAG of a row's space."""

        def score(pairs: NetworkPairs) -> Floats:
            return np.asarray(metric.function(pairs, **metric.options), np.float64)

        if metric.closed_form == "additive":
            found = self.add_terms(score, row, masks)
            if np.isfinite(found).all():
                return found
        return score(self.pairs_with([(row, tuple(parents)) for parents in masks.tolist()]))

    def add_terms(self, score: Callable[[NetworkPairs], Floats], row: int, masks: ParentSets) -> Floats:
        """Score DAGs as sums over nodes, whose terms are scores of networks in which one node alone has parents."""
        k = masks.shape[1]
        distinct = [(i, mask) for i in range(k) for mask in np.unique(masks[:, i]).tolist()]
        wanted = [(row, tuple(mask if j == i else 0 for j in range(k))) for i, mask in distinct]
        values = score(self.pairs_with([(row, (0,) * k), *wanted]))
        with np.errstate(invalid="ignore"):
            terms = dict(zip(distinct, values[1:] - values[0], strict=True))
        total = np.full(len(masks), values[0])
        for i in range(k):
            own, inverse = np.unique(masks[:, i], return_inverse=True)
            total += np.array([terms[i, mask] for mask in own.tolist()])[inverse]
        return np.where(np.abs(total) < 1e-12, 0.0, total)


@dataclass(frozen=True, eq=False)
class RandomClasses(RandomNetworks):
    """Controls that are the Markov equivalence classes of random DAGs, or where a row asks for that the DAGs."""

    #: rows whose controls are classes
    of_classes: NDArray[np.bool_]

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls."""
        return np.where(self.of_classes, np.array("cpdag", object), np.array("dag", object))

    def pairs_with(self, wanted: list[tuple[int, Dag]]) -> ClassPairs:
        """Return pairs of the rows' truths with the classes of DAGs (parent sets as bits)."""
        completed = classes_of_dags(list({parents for row, parents in wanted if self.of_classes[row]}))
        number: dict[tuple[DagClass, int], int] = {}
        found: list[tuple[DagClass, FamilyFits]] = []
        index = np.empty(len(wanted), np.int64)
        for at, (row, parents) in enumerate(wanted):
            one = completed[parents] if self.of_classes[row] else DagClass(parents, (0,) * len(parents))
            key = (one, id(self.fits[row]))
            if key not in number:
                number[key] = len(found)
                found.append((one, self.fits[row]))
            index[at] = number[key]
        rows = np.array([row for row, _ in wanted], np.int64)
        some = Classes.of(found, self.pairs.structure)
        return ClassPairs(self.pairs.truth, some, self.pairs.truth_index[rows], index)

    def _values(self, metric: Metric, row: int, masks: ParentSets) -> Floats:
        """Score the class of every DAG of a row's space, each class once."""
        pairs = self.pairs_with([(row, tuple(parents)) for parents in masks.tolist()])
        distinct, inverse = pairs.unique()
        return np.asarray(metric.function(distinct, **metric.options), np.float64)[inverse]


def classes_of_dags(dags: list[Dag]) -> dict[Dag, DagClass]:
    """Return the Markov equivalence class of each DAG, given by the parents of its nodes as bits."""
    if not dags:
        return {}
    k = len(dags[0])
    arcs = [(row, p, i) for row, dag in enumerate(dags) for i, mask in enumerate(dag) for p in bits(mask)]
    columns = np.array(arcs, np.int64).reshape(-1, 3).T
    completed, _ = kernels().dag_to_cpdag(planes_from_arcs(len(dags), k, *columns), k)
    found: list[set[tuple[int, int]]] = [set() for _ in dags]
    for row, source, target in zip(*(x.tolist() for x in arcs_from_planes(completed, k)), strict=True):
        found[row].add((source, target))
    return {dag: class_of_arcs(k, frozenset(own)) for dag, own in zip(dags, found, strict=True)}


#: draws one control for an estimate
DrawOne = Callable[[Network, np.random.Generator], Any]


def custom_null(function: DrawOne, name: str) -> Null:
    """Make a null model from a function that draws one control.

    `function(estimate, rng)` returns a DAG over the estimate's nodes in any format of `as_graph`, which gets its
    parameters as those of the other null models, or a whole network. It must draw from `rng` alone: draw r depends on
    the seed, the row's key and r.
    """

    def controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        fits: list[Callable[[], FamilyFits]] = [
            partial(fits_of_row, matching.context, row, pairs.true_network(t), matching.prepared)
            for row, t in zip(rows.tolist(), pairs.truth_index.tolist(), strict=True)
        ]

        def drawn(start: int, count: int) -> NetworkPairs:
            estimates = map(pairs.estimate.network, pairs.estimate_index.tolist())
            networks = [
                _checked(found, estimate, fits[at], f"row {rows[at]}: null {name!r} returned {type(found).__name__}")
                for at, estimate, found in custom_draws(function, estimates, keys, start, count)
            ]
            every = np.arange(len(networks), dtype=np.int64)
            return NetworkPairs(pairs.truth, Networks.of(networks), np.repeat(pairs.truth_index, count), every)

        return DrawnControls(pairs, "dag", drawn, size=_table_bytes(pairs), pace=1e6)

    return Null(name, f"random networks drawn by the function {name}", controls, prepare=no_fits)


def _checked(found: Any, estimate: Network, fits: Callable[[], FamilyFits], what: str) -> Network:
    """Read the network or DAG that the function returned, and refuse one that does not match the estimate."""
    try:
        if is_network(found):
            control = read_network(found)
        else:
            graph = as_graph(found, nodes=estimate.nodes if isinstance(found, str) else None)
            structure = Structure(graph.nodes, estimate.structure.states, parents_of(graph))
            control = parameterise(structure, fits())
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what}, which is not a DAG or network over the estimate's nodes: {error}") from error
    fault = differing(estimate.structure, control.structure, ("estimate", "control"))
    if fault:
        raise ValueError(f"{what}, which does not match the estimate: {fault}")
    return control
