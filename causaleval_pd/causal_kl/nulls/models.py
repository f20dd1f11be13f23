"""The null models of networks: laws of random DAGs with as many arcs as the estimate, or with its skeleton.

Parameters come from the same data, or from the true joint law, so that a control differs in its arcs alone: its
parameters are not random guesses. Controls of a class are the classes of such DAGs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import name_row
from ...contract.null import Controls, MakeControls, Matching, Null, register_null
from ..classes.class_pairs import ClassPairs
from ..context_fits import fits_of_row
from ..networks.pairs import NetworkPairs
from ..networks.structure import Structure
from .dag_spaces import Space, ordered_dags, own_orientations, relabellings, true_orientations, uniform_dags
from .fitted_controls import no_fits
from .random_classes import RandomClasses, classes_of_dags
from .random_networks import RandomNetworks

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
