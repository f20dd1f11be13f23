"""The null models of networks, by name."""

from __future__ import annotations

from ...contract.null import Null, register_null
from .random_networks import (
    drawn_from,
    no_fits,
    ordered_dags,
    own_orientations,
    relabellings,
    true_orientations,
    uniform_dags,
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
        Null(_name, _long_name, drawn_from(_space), prepare=no_fits, reference=_name == "oracle_skeleton"),
    )
