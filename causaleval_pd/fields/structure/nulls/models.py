"""The null models of graphs, in the order of `ce.list_nulls`; importing this module registers them."""

from __future__ import annotations

from typing import Any

from ....contract.null import Null, register_null
from .graph_controls import published_controls
from .latent import BIDIRECTED, check_latents, latent_dag_controls
from .random_graphs import (
    check_switches,
    complete_controls,
    degree_controls,
    edges_controls,
    empty_controls,
    knowledge_controls,
    knowledge_of_node_sets,
    prepare_edges,
)
from .relabelling import check_same_nodes, permutation_controls
from .skeletons import (
    check_law,
    check_shared,
    oracle_skeleton_controls,
    orientation_controls,
    prepare_orientation,
    published_skeleton,
    skeleton_controls,
)

_PERMUTE: dict[str, Any] = {"permute": True}
_LAW: dict[str, Any] = {"orientation_law": "order"} | BIDIRECTED

for _model in (
    Null(
        "edges",
        "random graphs with the estimate's class and number of edges",
        edges_controls,
        prepare=prepare_edges,
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
        prepare=prepare_orientation,
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
        published=published_skeleton,
        options={"shared": None},
    ),
    Null("empty", "the graph without edges", empty_controls, reference=True, options=_PERMUTE),
    Null("complete", "complete graphs", complete_controls, reference=True, options=_PERMUTE),
    Null(
        "degree",
        "random graphs with the degrees of the estimate's skeleton",
        degree_controls,
        prepare=check_switches,
        options={"switches": 20},
    ),
    Null(
        "knowledge",
        "random graphs with the estimate's number of edges that respect background knowledge",
        knowledge_controls,
        prepare=knowledge_of_node_sets,
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
