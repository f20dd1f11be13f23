"""The null models of graph estimates, by name."""

from __future__ import annotations

from ...contract.null import Null
from .custom import custom_null
from .knowledge import match_knowledge
from .oriented_skeletons import (
    match_degree,
    match_oracle_skeleton,
    match_orientation,
    match_scale_free,
    match_small_world,
)
from .random_graphs import match_edges, match_erdos_renyi, match_fixed, match_stratum, published
from .relabelling import match_permutation
from .uniform_dags import match_dags

__all__ = ["NULLS", "custom_null"]

_PERMUTE = {"permute": True}
_LAW = {"orientation_law": "order"}

_MODELS = (
    Null(
        "edges",
        "random graphs with the estimate's class and number of edges",
        match_edges,
        published=published(match_edges),
        options=_PERMUTE,
    ),
    Null(
        "stratum",
        "random graphs with the estimate's class and a number of edges drawn from its stratum's estimates",
        match_stratum,
        by_stratum=True,
        options=_PERMUTE,
    ),
    Null("permutation", "the estimate with its nodes relabelled at random", match_permutation),
    Null("orientation", "the estimate's skeleton with random acyclic directions", match_orientation, options=_LAW),
    Null(
        "oracle_skeleton",
        "the truth's skeleton with random acyclic directions, an upper reference",
        match_oracle_skeleton,
        reference=True,
        options=_LAW,
    ),
    Null(
        "dags",
        "uniformly random labelled DAGs with the estimate's number of edges",
        match_dags,
        published=published(match_dags),
    ),
    Null("empty", "the graph without edges", match_fixed(0), reference=True, options=_PERMUTE),
    Null("complete", "complete graphs", match_fixed(1), reference=True, options=_PERMUTE),
    Null(
        "degree",
        "random graphs with the degrees of the estimate's skeleton",
        match_degree,
        options={"switches": 20},
    ),
    Null(
        "erdos_renyi",
        "random graphs whose pairs are adjacent independently, with the estimate's density",
        match_erdos_renyi,
        published=published(match_erdos_renyi),
        options=_PERMUTE,
    ),
    Null(
        "scale_free",
        "graphs grown by preferential attachment, with the estimate's number of edges",
        match_scale_free,
        published=published(match_scale_free),
    ),
    Null(
        "small_world",
        "rewired rings with the estimate's number of edges",
        match_small_world,
        published=published(match_small_world),
        options={"rewiring": 0.1},
    ),
    Null(
        "knowledge",
        "random graphs with the estimate's number of edges that respect background knowledge",
        match_knowledge,
        options={"tiers": (), "forbidden": (), "required": ()},
    ),
)

NULLS = {model.name: model for model in _MODELS}
