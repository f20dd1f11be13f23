"""The null models of networks: random DAGs, their classes, or relabelled ones, parameterised as the estimate was.

A DAG is a sequence of parent sets, one per node, as bits; the DAGs of a null model are listed where they are few, else
drawn. Parameters come from the same data as the estimate's, or from the true joint law, so that a control differs in
its arcs alone: its parameters are not random guesses. Against a complete or equivalent DAG the KL divergence is
uninformative by construction. Controls of a class are the classes of such DAGs. Laws of metrics that are sums over
nodes are found term by term.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import name_row
from ...contract.law import ClosedForm, ClosedFormRule, Distribution, Value, register_closed_form
from ...contract.metric import Metric
from ...contract.null import Controls, MakeControls, Matching, Null, register_null
from ...execution.random_streams import uniforms
from ...graphs.kernels import kernels
from ...graphs.kernels.inputs import MOST_ORIENTED, check_counted
from ...graphs.kernels.planes import arcs_from_planes
from ...graphs.orientations import MOST_DIRECTED, MOST_LISTED, all_dags, all_orientations, bits, parent_sets
from .cells import DiscreteNetwork, GaussianNetwork, Network, Structure, dag_planes
from .field import Classes, ClassPairs, DagClass, class_of_arcs, table_bytes
from .fitting import FamilyFits, fits_of_row, fits_to_joint, parameterise
from .pairs import NetworkPairs, Networks, numbered

Floats = NDArray[np.float64]
#: the parents of each node as bits
Dag = tuple[int, ...]
#: DAGs as (n, k) parent sets
ParentSets = NDArray[np.int64]
NodePairs = tuple[tuple[int, int], ...]
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
    """Draw DAGs uniformly."""
    k, n_arcs = len(estimate.nodes), len(estimate.arcs)
    if k <= MOST_LISTED:
        return _listed(dags_with_arcs(k, n_arcs))
    check_counted(k)
    return Space(
        None, lambda key, start, count: parent_sets(kernels("controls").draw_dags(k, [n_arcs], key, start, count), k)
    )


def ordered_dags(truth: Structure, estimate: Structure) -> Space:
    """Draw skeletons, and orders that direct them."""
    k, n_arcs = len(estimate.nodes), len(estimate.arcs)
    return Space(
        None, lambda key, start, count: parent_sets(kernels().draw_graphs(k, [[n_arcs]], [False], key, start, count), k)
    )


def relabellings(truth: Structure, estimate: Structure) -> Space:
    """Draw names of the nodes."""
    k, graph = len(estimate.nodes), estimate.graph.planes[None]
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
        lambda key, start, count: parent_sets(kernels("controls").relabel_graphs(graph, k, [0], key, start, count), k),
    )


def own_orientations(truth: Structure, estimate: Structure) -> Space:
    """Draw directions of the estimate's adjacencies."""
    return _orientations(estimate)


def true_orientations(truth: Structure, estimate: Structure) -> Space:
    """Draw directions of the true adjacencies."""
    return _orientations(truth)


def _orientations(structure: Structure) -> Space:
    """Return the acyclic orientations of a structure's skeleton."""
    k = len(structure.nodes)
    edges: NodePairs = tuple(sorted((min(arc), max(arc)) for arc in structure.arcs))
    if len(edges) <= MOST_DIRECTED and k < 63:
        return _listed(orientations(k, edges))
    skeleton = structure.graph.planes[None]

    def draw(key: NDArray[np.uint64], start: int, count: int) -> list[list[int]]:
        stuck = 0
        if k <= MOST_ORIENTED:
            graphs, stuck = kernels("controls").orient_uniformly(skeleton, k, [0], key, start, count, MOST_TRIES)
        if k > MOST_ORIENTED or stuck >= 0:
            raise ValueError(
                f"a skeleton of {k} nodes and {len(edges)} edges is too dense for uniform draws of its orientations; "
                "use null='permutation', or null='edges' for DAGs with as many edges"
            )
        return parent_sets(graphs, k)

    return Space(None, draw)


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
def orientations(k: int, edges: NodePairs) -> ParentSets:
    """Return every acyclic orientation of a skeleton, as (n, k) parent sets."""
    return np.array(parent_sets(all_orientations(k, edges), k), np.int64)


@dataclass(frozen=True, eq=False)
class RandomNetworks(Controls):
    """Controls that are random DAGs with parameters fitted as the estimate's were, or their equivalence classes."""

    #: the observed pairs, one per row
    pairs: NetworkPairs
    #: DAGs of each row's controls
    spaces: list[Space]
    #: fits of each row
    fits: list[FamilyFits]
    #: (n,): names of the rows' random streams
    keys: NDArray[np.uint64]
    #: (n,): rows whose controls are classes
    of_classes: NDArray[np.bool_]
    #: name of a row, for messages
    name: Callable[[int], str] = str

    work = 1e5

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls."""
        return np.where(self.of_classes, "cpdag", "dag").astype(object)

    @property
    def cost(self) -> int:  # type: ignore[override]
        """Bytes of one control."""
        return table_bytes(self.pairs)

    @property
    def among_classes(self) -> bool:
        """Whether controls or estimates are classes."""
        return bool(self.of_classes.any()) or isinstance(self.pairs, ClassPairs)

    def draw(self, start: int, count: int) -> NetworkPairs:
        """Return rows x count pairs, a row's draws together, whose estimates are draws start .. start + count - 1."""
        wanted = [
            (row, tuple(parents))
            for row, space in enumerate(self.spaces)
            for parents in space.draw(self.keys[row : row + 1], start, count)
        ]
        return self.pairs_with(wanted)

    def pairs_with(self, wanted: list[tuple[int, Dag]]) -> NetworkPairs:
        """Return pairs of the rows' truths with DAGs (parent sets as bits) or their classes, each made once."""
        truth_index = self.pairs.truth_index[np.array([row for row, _ in wanted], np.int64)]
        like = self.pairs.structure
        if self.among_classes:
            completed = classes_of_dags(list({dag for row, dag in wanted if self.of_classes[row]}))
            members, index = numbered(
                (completed[dag] if self.of_classes[row] else DagClass(dag, (0,) * len(dag)), self.fits[row])
                for row, dag in wanted
            )
            return ClassPairs(self.pairs.truth, Classes(members, like), truth_index, index)
        distinct, index = numbered((dag, self.fits[row]) for row, dag in wanted)
        parents = {dag: tuple(tuple(bits(int(p))) for p in dag) for dag, _ in distinct}
        structures = {dag: Structure(like.nodes, like.states, parents[dag]) for dag in parents}
        networks = []
        for number, (dag, fits) in enumerate(distinct):
            try:
                networks.append(parameterise(structures[dag], fits))
            except ValueError as error:
                row = wanted[int(np.argmax(index == number))][0]
                raise ValueError(
                    f"{self.name(row)}: a control gets no parameters: {error}; fit them to cases "
                    "(context={'data': ..., 'estimator': ...}), or leave the row out"
                ) from None
        return NetworkPairs(self.pairs.truth, Networks.of(networks), truth_index, index)

    def closed_form(self, metric: Metric) -> ClosedForm | None:
        """Return the exact law of a metric for rows whose DAGs are enumerated and that it takes, or None."""
        listed = {row: masks for row, space in enumerate(self.spaces) if (masks := space.all) is not None}
        if not listed:
            return None
        known = np.zeros(self.pairs.n, np.bool_)
        no_arcs = (0,) * len(self.pairs.structure.nodes)
        refused = metric.refused(self.pairs_with([(row, no_arcs) for row in listed]))
        truths, kinds = self.pairs.truth_index.tolist(), self.kind.tolist()
        laws: list[Floats] = []
        numbers: dict[Any, int] = {}
        index = []
        for (row, masks), is_refused in zip(listed.items(), refused.tolist(), strict=True):
            if is_refused:
                continue
            key = truths[row], self.fits[row], id(masks), kinds[row]
            if key not in numbers:
                try:
                    laws.append(self._values(metric, row, masks))
                except ValueError:
                    # drawing names the row at fault, or leaves its controls without a value
                    continue
                numbers[key] = len(laws) - 1
            known[row] = True
            index.append(numbers[key])
        if not laws:
            return None
        lengths = np.array([len(law) for law in laws])
        inside = np.arange(lengths.max()) < lengths[:, None]
        values = np.full(inside.shape, np.nan)
        values[inside] = np.concatenate(laws)
        distribution = Distribution.of(np.array(index), values, np.where(inside, 1 / lengths[:, None], 0.0))
        return ClosedForm(distribution.expectation(lambda x: x), None, distribution).spread(known)

    def _values(self, metric: Metric, row: int, masks: ParentSets) -> Floats:
        """Score every DAG of a row's space, or its class, each class once."""
        if metric.closed_form == "additive" and not self.among_classes:
            scores = self.add_terms(metric, row, masks)
            if np.isfinite(scores).all():
                return scores
        distinct, inverse = self.pairs_with([(row, tuple(parents)) for parents in masks.tolist()]).unique()
        return np.asarray(metric(distinct), np.float64)[inverse]

    def add_terms(self, score: Callable[[NetworkPairs], Any], row: int, masks: ParentSets) -> Floats:
        """Score DAGs as sums over nodes, whose terms are scores of networks in which one node alone has parents."""
        k = masks.shape[1]
        distinct = [(i, mask) for i in range(k) for mask in np.unique(masks[:, i]).tolist()]
        wanted = [(row, tuple(mask if j == i else 0 for j in range(k))) for i, mask in distinct]
        values = np.asarray(score(self.pairs_with([(row, (0,) * k), *wanted])), np.float64)
        with np.errstate(invalid="ignore"):
            terms = dict(zip(distinct, values[1:] - values[0], strict=True))
        total = np.full(len(masks), values[0])
        for i in range(k):
            node_masks, inverse = np.unique(masks[:, i], return_inverse=True)
            total += np.array([terms[i, mask] for mask in node_masks.tolist()])[inverse]
        return np.where(np.abs(total) < 1e-12, 0.0, total)


def classes_of_dags(dags: list[Dag]) -> dict[Dag, DagClass]:
    """Return the Markov equivalence class of each DAG, given by the parents of its nodes as bits."""
    if not dags:
        return {}
    k = len(dags[0])
    arcs = [[(p, i) for i, mask in enumerate(dag) for p in bits(mask)] for dag in dags]
    completed, _ = kernels().dag_to_cpdag(dag_planes(k, arcs), k)
    arc_sets: list[set[tuple[int, int]]] = [set() for _ in dags]
    for row, source, target in zip(*(x.tolist() for x in arcs_from_planes(completed, k)), strict=True):
        arc_sets[row].add((source, target))
    return {dag: class_of_arcs(k, frozenset(arc_set)) for dag, arc_set in zip(dags, arc_sets, strict=True)}


def drawn_from(make: Callable[[Structure, Structure], Space]) -> MakeControls:
    """Return the function that makes controls of DAGs from `make(truth, estimate)`."""

    def controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        fits, spaces, space = [], [], cache(make)
        for row, t, e in zip(rows.tolist(), pairs.truth_index.tolist(), pairs.estimate_index.tolist(), strict=True):
            spaces.append(space(pairs.truth.structure_of(t), pairs.estimate.structure_of(e)))
            try:
                fits.append(fits_of_row(matching.context, row, pairs.true_network(t), matching.prepared))
            except ValueError as error:
                if matching.context is None:
                    raise
                raise ValueError(f"{name_row(row, matching.estimate.index)}: {error}") from None

        def name(position: int) -> str:
            return name_row(int(rows[position]), matching.estimate.index)

        return RandomNetworks(pairs, spaces, fits, keys, _of_classes(matching, rows, pairs), name)

    return controls


def _of_classes(matching: Matching, rows: NDArray[np.int64], pairs: NetworkPairs) -> NDArray[np.bool_]:
    """Return which rows have classes as controls: those the user asked that for, else those of estimated classes."""
    if matching.control_kind is None:
        return np.full(len(rows), isinstance(pairs, ClassPairs))
    kinds = matching.control_kind[rows]
    unknown = sorted({str(kind) for kind in kinds} - {"dag", "cpdag"})
    if unknown:
        raise ValueError(f"controls of networks are of class dag or cpdag, found control_kind {', '.join(unknown)}")
    of_classes = np.asarray(kinds == "cpdag", bool)
    for at in () if isinstance(pairs, ClassPairs) else np.flatnonzero(of_classes).tolist():
        # a DAG whose class has other members is not among the controls
        structure = pairs.estimate.structure_of(pairs.estimate_index[at])
        dag = tuple(sum(1 << p for p in parents) for parents in structure.parents)
        if any(classes_of_dags([dag])[dag].undirected):
            raise ValueError(
                f"{name_row(int(rows[at]), matching.estimate.index)}: the estimate is a DAG whose equivalence class "
                "has others, so it is not comparable with classes (control_kind cpdag); give its CPDAG, by "
                "graph.cpdag()"
            )
    return of_classes


for _name, _long_name, _space in (
    ("dags", "uniformly random DAGs with the estimate's number of arcs", uniform_dags),
    ("edges", "random DAGs (uniform skeleton, uniform order) with the estimate's number of arcs", ordered_dags),
    ("permutation", "the estimate's DAG with its nodes relabelled at random", relabellings),
    ("orientation", "random acyclic orientations of the estimate's skeleton", own_orientations),
    ("oracle_skeleton", "random acyclic orientations of the true skeleton", true_orientations),
):
    register_null(
        "network",
        Null(
            _name,
            _long_name,
            drawn_from(_space),
            prepare=lambda matching: {},
            reference=_name == "oracle_skeleton",
            label_invariant=_name in ("dags", "edges", "permutation"),
            joint=_name == "permutation",
        ),
    )


def additive(value: Value) -> str | None:
    """Check on DAGs of three nodes that a metric sums functions of parents over nodes; of one kind it may raise."""
    errors = []
    for truth in _probed():
        try:
            fault = _not_additive(value, truth)
        except Exception as error:
            errors.append(f"on {truth.kind} networks it raises {type(error).__name__}: {error}")
            continue
        if fault:
            return fault
    return " and ".join(errors) if len(errors) == len(_probed()) else None


def _probed() -> tuple[Network, Network]:
    """Return a discrete and a linear-Gaussian truth, in which no two arcs are equally strong."""
    parents = {"A": [], "B": ["A"], "C": ["A", "B"]}
    tables = {
        "A": [0.3, 0.7],
        "B": [[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]],
        "C": [[[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]], [[0.7, 0.3], [0.4, 0.6], [0.1, 0.9]]],
    }
    coefficients = {"B": [0.8], "C": [-0.5, 1.1]}
    variances = {"A": 1.0, "B": 0.6, "C": 0.9}
    return DiscreteNetwork(parents, tables), GaussianNetwork(parents, coefficients, variances)


def _not_additive(value: Value, truth: Network) -> str | None:
    """Return where a metric differs from the sum of its terms, or None."""
    networks, zero = Networks.of([truth]), np.zeros(1, np.int64)
    space = Space(None, lambda key, start, count: [])
    pairs = NetworkPairs(networks, networks, zero, zero)
    controls = RandomNetworks(pairs, [space], [fits_to_joint(truth)], zero.astype(np.uint64), zero.astype(bool))

    def score(some: NetworkPairs) -> NDArray[np.float64]:
        return np.asarray(value(some), np.float64)

    masks = np.concatenate([dags_with_arcs(3, n_arcs) for n_arcs in range(4)])
    scores = score(controls.pairs_with([(0, tuple(parents)) for parents in masks.tolist()]))
    expected = controls.add_terms(score, 0, masks)
    wrong = ~np.isclose(scores, expected, rtol=1e-9, atol=1e-9, equal_nan=True)
    if not wrong.any():
        return None
    at = int(np.argmax(wrong))
    dag = controls.pairs_with([(0, tuple(masks[at].tolist()))]).estimate.network(0)
    return f"at {dag.graph.to_string()} it is {scores[at]:g}, where adding up its nodes gives {expected[at]:g}"


register_closed_form(
    ClosedFormRule(
        "additive",
        "network",
        "A sum of terms, one per node, each a function of the node's parents in the estimate. Where all DAGs of a null "
        "model are listed, their values are then sums of terms that are computed once each; the law is the same.",
        additive,
    )
)
