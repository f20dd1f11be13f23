"""The field of graphs whose parameters are fitted to data, judged by true networks with parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from ..contract.context import Context
from ..contract.field import Field, register_field
from ..contract.null import register_null
from ..contract.pairs import Batch
from ..contract.relabelling import Relabelling
from ..graphs.column import coerce_graphs, is_graph_column
from ..structure.field import GRAPHS, identify
from ..structure.field import perfect_estimates as perfect_graphs
from ..structure.field import relabelled_cells as graph_cells
from .field import DEFAULT_METRICS, NETWORKS, forward_arcs
from .networks.column import graphs_of_networks

__all__ = ["FITTED_GRAPHS"]


def batches(truth: pd.Series, estimate: pd.Series, context: Context | None = None) -> Iterable[Batch]:
    """Align the graphs alone; metrics with parameters are those of the field of networks, which fits them."""
    return GRAPHS.batches(graphs_of_networks(truth), estimate, None)


def relabelled_cells(pairs: Any, truths: pd.Series) -> pd.Series:
    """Pack the relabelled estimates of pairs."""
    return graph_cells(pairs, graphs_of_networks(truths))


def perfect_estimates(truths: pd.Series, estimates: pd.Series, context: Context | None = None) -> pd.Series:
    """Return the graphs of the truths, or their CPDAGs where the estimate is a CPDAG."""
    return perfect_graphs(graphs_of_networks(truths), estimates, None)


def _as_they_are(cells: pd.Series) -> pd.Series:
    """Return the cells: the field of networks fits graphs to the data that `context=` names."""
    return cells


def _pair(truth: Any, estimate: Any) -> Any:
    raise TypeError(
        "a graph has no parameters: score a table by evaluate(context={'data': ..., 'estimator': ...}), or give the "
        "graph parameters by ce.causal_kl.from_data(graph, data)"
    )


FITTED_GRAPHS = register_field(
    Field(
        name="fitted_graph",
        default_metrics=tuple(name for name in DEFAULT_METRICS if name != "edit_distance"),
        default_null="permutation",
        holds=is_graph_column,
        coerce=coerce_graphs,
        batches=batches,
        pair=_pair,
        identify=identify,
        truth_field="network",
        views={"network": _as_they_are, "graph": _as_they_are},
        context=NETWORKS.context,
        labels=NETWORKS.labels,
        relabelling=Relabelling(relabelled_cells, perfect_estimates, forward_arcs),
    )
)
# of whole analyses (placebo); metrics have the null models of their own fields
register_null("fitted_graph", GRAPHS.nulls["permutation"])
