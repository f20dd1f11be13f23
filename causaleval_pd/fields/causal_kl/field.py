"""The network field: how the verbs coerce, align and match networks with parameters, and graphs that are fitted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import name_row
from ...contract.context import Context
from ...contract.field import Field, Relabelling, identify_cells, register_field
from ...contract.null import Controls, DrawnControls, Matching, Null, custom_draws, register_null
from ...contract.pairs import Batch
from ...graphs.column import as_graph, coerce_graphs, is_graph_column
from ...graphs.packing import group_rows
from ..structure.field import GRAPHS, forward_edges
from ..structure.field import perfect_estimates as perfect_graphs
from ..structure.field import relabelled_cells as graph_cells
from .cells import Network, Structure, contents
from .classes import fitted_batches
from .fitting import FamilyFits, Fits, fits_of_row, parameterise, parents_of
from .formats import as_network, is_network
from .pairs import (
    NetworkPairs,
    Networks,
    coerce_networks,
    differing,
    graphs_of_networks,
    is_network_column,
    network_column,
    numbered,
    pair,
    unpack_networks,
)

__all__ = ["FITTED_GRAPHS", "NETWORKS"]

DEFAULT_METRICS = ("edit_distance", "kl", "ckl1", "ckl2", "ckl3")


def batches(truth: pd.Series, estimate: pd.Series, context: Context | None = None) -> Iterator[Batch]:
    """Align two packed columns, one batch per set of variables with their states; graphs are fitted to data."""
    if is_graph_column(estimate) and not is_network_column(estimate):
        yield from fitted_batches(truth, estimate, context)
        return
    (truths, truth_codes), (estimates, estimate_codes) = (unpack_networks(cells) for cells in (truth, estimate))
    rows = np.flatnonzero((truth_codes >= 0) & (estimate_codes >= 0))
    if not len(rows):
        return
    # structures are few, so they are compared rather than rows
    left, right = truths.structure[truth_codes[rows]], estimates.structure[estimate_codes[rows]]
    for key in np.unique(left * len(estimates.structures) + right).tolist():
        a, b = divmod(key, len(estimates.structures))
        fault = differing(truths.structures[a], estimates.structures[b])
        if fault:
            row = int(rows[np.argmax((left == a) & (right == b))])
            raise ValueError(f"{name_row(row, truth.index)}: {fault}")
    variables = numbered((x.kind, x.nodes, x.states) for x in truths.structures)[1]
    for _, at in group_rows(variables[left]):
        yield Batch(rows[at], NetworkPairs(truths, estimates, truth_codes[rows[at]], estimate_codes[rows[at]]))


def identify(cells: pd.Series) -> NDArray[np.int64]:
    """Return one number per network, 0 where missing."""
    return identify_cells(cells, contents)


def labels(truths: pd.Series) -> NDArray[np.int64]:
    """Return one number per cell that stands for its variables and their states, 0 where missing."""
    networks, codes = unpack_networks(truths)
    words = [repr((x.kind, x.nodes, x.states)) for x in networks.structures]
    numbers = identify_cells(pd.Series(words, dtype=object))
    return np.append(numbers[networks.structure], 0)[codes]


def relabelled_cells(pairs: NetworkPairs, truths: pd.Series) -> pd.Series:
    """Pack the estimates of pairs."""
    cells = [pairs.estimate.network(i) for i in pairs.estimate_index.tolist()]
    return network_column(cells, index=truths.index)


def forward_arcs(truths: pd.Series) -> tuple[int, int]:
    """Count the arcs that point to a later variable, and all."""
    return forward_edges(graphs_of_networks(truths))


def table_bytes(pairs: NetworkPairs) -> int:
    """Return the bytes that a control takes while it is scored, roughly: its tables, their logarithms, and copies."""
    return 64 * max((structure.size for structure in pairs.estimate.structures), default=1)


def no_fits(matching: Matching) -> Fits:
    """Start the store of a table's fits, so that batches of rows with the same data share them."""
    return {}


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
                _checked(
                    control, estimate, fits[at], f"row {rows[at]}: null {name!r} returned {type(control).__name__}"
                )
                for at, estimate, control in custom_draws(function, estimates, keys, start, count)
            ]
            every = np.arange(len(networks), dtype=np.int64)
            return NetworkPairs(pairs.truth, Networks.of(networks), np.repeat(pairs.truth_index, count), every)

        return DrawnControls(pairs, "dag", drawn, cost=table_bytes(pairs), work=1e6)

    return Null(name, f"random networks drawn by the function {name}", controls, prepare=no_fits)


def _checked(found: Any, estimate: Network, fits: Callable[[], FamilyFits], what: str) -> Network:
    """Read the network or DAG that the function returned, and refuse one that does not match the estimate."""
    try:
        if is_network(found):
            control = as_network(found)
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


NETWORKS = register_field(
    Field(
        name="network",
        default_metrics=DEFAULT_METRICS,
        default_null="dags",
        holds=is_network_column,
        coerce=coerce_networks,
        identify=identify,
        batches=batches,
        pair=pair,
        views={"graph": graphs_of_networks},
        context=("data", "estimator"),
        custom_null=custom_null,
        labels=labels,
        relabelling=Relabelling(relabelled_cells, forward=forward_arcs),
    )
)


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
        # metrics with parameters are those of the field of networks, which fits the graphs
        batches=lambda truth, estimate, context: GRAPHS.batches(graphs_of_networks(truth), estimate, None),
        pair=_pair,
        identify=GRAPHS.identify,
        truth_field="network",
        views={"network": _as_they_are, "graph": _as_they_are},
        context=NETWORKS.context,
        labels=NETWORKS.labels,
        relabelling=Relabelling(
            lambda pairs, truths: graph_cells(pairs, graphs_of_networks(truths)), perfect_estimates, forward_arcs
        ),
    )
)
# of whole analyses (placebo); metrics have the null models of their own fields
register_null("fitted_graph", GRAPHS.nulls["permutation"])
