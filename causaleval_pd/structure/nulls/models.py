"""The null models of graph estimates, by name."""

from __future__ import annotations

from ...contract.null import Null, register_null
from .knowledge import knowledge_controls, knowledge_of_node_sets
from .oriented_skeletons import (
    check_law,
    check_rewiring,
    check_switches,
    degree_controls,
    oracle_skeleton_controls,
    orientation_controls,
    scale_free_controls,
    small_world_controls,
)
from .random_graphs import (
    complete_controls,
    edges_controls,
    empty_controls,
    erdos_renyi_controls,
    published_controls,
    stratum_controls,
    stratum_pools,
)
from .relabelling import permutation_controls
from .uniform_dags import dags_controls

_PERMUTE = {"permute": True}
_LAW = {"orientation_law": "order"}

_MODELS = (
    Null(
        "edges",
        "random graphs with the estimate's class and number of edges",
        edges_controls,
        published=published_controls,
        options=_PERMUTE,
    ),
    Null(
        "stratum",
        "random graphs with the estimate's class and a number of edges drawn from its stratum's estimates",
        stratum_controls,
        prepare=stratum_pools,
        by_stratum=True,
        options=_PERMUTE,
    ),
    Null("permutation", "the estimate with its nodes relabelled at random", permutation_controls),
    Null(
        "orientation",
        "the estimate's skeleton with random acyclic directions",
        orientation_controls,
        prepare=check_law,
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
        "dags",
        "uniformly random labelled DAGs with the estimate's number of edges",
        dags_controls,
        published=published_controls,
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
        "erdos_renyi",
        "random graphs whose pairs are adjacent independently, with the estimate's density",
        erdos_renyi_controls,
        published=published_controls,
        options=_PERMUTE,
    ),
    Null(
        "scale_free",
        "graphs grown by preferential attachment, with the estimate's number of edges",
        scale_free_controls,
        published=published_controls,
    ),
    Null(
        "small_world",
        "rewired rings with the estimate's number of edges",
        small_world_controls,
        prepare=check_rewiring,
        published=published_controls,
        options={"rewiring": 0.1},
    ),
    Null(
        "knowledge",
        "random graphs with the estimate's number of edges that respect background knowledge",
        knowledge_controls,
        prepare=knowledge_of_node_sets,
        options={"tiers": (), "forbidden": (), "required": ()},
    ),
)

for _model in _MODELS:
    register_null("graph", _model)
