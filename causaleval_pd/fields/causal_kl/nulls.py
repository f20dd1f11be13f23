"""The null models of networks: laws of random DAGs with as many arcs as the estimate, or with its skeleton.

Parameters come from the same data, or from the true joint law, so that a control differs in its arcs alone: its
parameters are not random guesses. Controls of a class are the classes of such DAGs. Laws of metrics that are sums over
nodes are found term by term.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import name_row
from ...contract.closed_form import ClosedFormRule, Value, register_closed_form
from ...contract.null import Controls, MakeControls, Matching, Null, register_null
from .classes import ClassPairs
from .controls import (
    RandomClasses,
    RandomNetworks,
    Space,
    classes_of_dags,
    dags_with_arcs,
    no_fits,
    ordered_dags,
    own_orientations,
    relabellings,
    true_orientations,
    uniform_dags,
)
from .fitting import fits_of_row, fits_to_joint
from .networks.network import DiscreteNetwork, GaussianNetwork, Network
from .networks.pairs import NetworkPairs, Networks
from .networks.structure import Structure

#: what all of these null models keep
_FITTED = """A control's conditional probabilities are fitted to the data of its row, or come from the true joint
law, as those of the estimate do; only its arcs are random. Controls of estimated classes are the equivalence classes of
these DAGs."""


def drawn_from(make: Callable[[Structure, Structure], Space]) -> MakeControls:
    """Return the function that makes controls of DAGs from `make(truth, estimate)`, which documents their law."""

    def controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        fits, spaces = [], []
        made: dict[tuple[Structure, Structure], Space] = {}
        for row, t, e in zip(rows.tolist(), pairs.truth_index.tolist(), pairs.estimate_index.tolist(), strict=True):
            structures = (
                pairs.truth.structures[pairs.truth.structure[t]],
                pairs.estimate.structures[pairs.estimate.structure[e]],
            )
            if structures not in made:
                made[structures] = make(*structures)
            spaces.append(made[structures])
            try:
                fits.append(fits_of_row(matching.context, row, pairs.true_network(t), matching.prepared))
            except ValueError as error:
                if matching.context is None:
                    raise
                raise ValueError(f"{name_row(row, matching.estimate.index)}: {error}") from None
        of_classes = _of_classes(matching, rows, pairs)
        if of_classes.any() or isinstance(pairs, ClassPairs):
            return RandomClasses(pairs, spaces, fits, keys, of_classes)
        return RandomNetworks(pairs, spaces, fits, keys)

    controls.__doc__ = f"{inspect.getdoc(make)}\n\n{_FITTED}"
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
    if not isinstance(pairs, ClassPairs):
        for row, index in zip(rows[of_classes].tolist(), pairs.estimate_index[of_classes].tolist(), strict=True):
            _check_alone(pairs.estimate.structures[pairs.estimate.structure[index]], row, matching)
    return of_classes


def _check_alone(structure: Structure, row: int, matching: Matching) -> None:
    """Refuse a DAG that is not the CPDAG of its class, where controls are classes: it would be none of them."""
    dag = tuple(sum(1 << p for p in parents) for parents in structure.parents)
    if any(classes_of_dags([dag])[dag].undirected):
        raise ValueError(
            f"{name_row(row, matching.estimate.index)}: the estimate is a DAG whose equivalence class has others, "
            "so it is not comparable with classes (control_kind cpdag); give its CPDAG, by graph.cpdag()"
        )


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
            prepare=no_fits,
            reference=_name == "oracle_skeleton",
            label_invariant=_name in ("dags", "edges", "permutation"),
            joint=_name == "permutation",
        ),
    )


def additive(value: Value) -> str | None:
    """Check on all DAGs of three nodes that a metric sums functions of parents over nodes; return a contradiction.

    A metric of one kind of network is checked on that kind: on the other it must raise an error.
    """
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
    controls = RandomNetworks(pairs, [space], [fits_to_joint(truth)], zero.astype(np.uint64))

    def score(some: NetworkPairs) -> NDArray[np.float64]:
        return np.asarray(value(some), np.float64)

    masks = np.concatenate([dags_with_arcs(3, n_arcs) for n_arcs in range(4)])
    found = score(controls.pairs_with([(0, tuple(parents)) for parents in masks.tolist()]))
    expected = controls.add_terms(score, 0, masks)
    wrong = ~np.isclose(found, expected, rtol=1e-9, atol=1e-9, equal_nan=True)
    if not wrong.any():
        return None
    at = int(np.argmax(wrong))
    dag = controls.pairs_with([(0, tuple(masks[at].tolist()))]).estimate.network(0)
    return f"at {dag.graph.to_string()} it is {found[at]:g}, where adding up its nodes gives {expected[at]:g}"


register_closed_form(
    ClosedFormRule(
        "additive",
        "network",
        "A sum of terms, one per node, each a function of the node's parents in the estimate. Where all DAGs of a null "
        "model are listed, their values are then sums of terms that are computed once each; the law is the same.",
        additive,
    )
)
