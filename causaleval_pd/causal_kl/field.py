"""The network field: how the verbs coerce, align, identify and match networks with parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from ..contract.checks import name_row
from ..contract.context import Context
from ..contract.field import Field, register_field
from ..contract.pairs import Batch
from .networks.align import align, differing
from .networks.column import coerce_networks, graphs_of_networks, is_network_column, unpack_networks
from .networks.layout import Layout
from .networks.pairs import NetworkPairs, Networks
from .nulls.custom import custom_null

DEFAULT_METRICS = ("edit_distance", "kl", "ckl1", "ckl2", "ckl3")


def batches(truth: pd.Series, estimate: pd.Series, context: Context | None = None) -> Iterator[Batch]:
    """Align two packed columns, one batch a set of variables with their states."""
    (truths, truth_codes), (estimates, estimate_codes) = (unpack_networks(cells) for cells in (truth, estimate))
    rows = np.flatnonzero((truth_codes >= 0) & (estimate_codes >= 0))
    if not len(rows):
        return
    # rows are compared by layouts, of which there are few
    left, right = truths.layout[truth_codes[rows]], estimates.layout[estimate_codes[rows]]
    for key in np.unique(left * len(estimates.layouts) + right).tolist():
        a, b = divmod(key, len(estimates.layouts))
        fault = differing(truths.layouts[a], estimates.layouts[b])
        if fault:
            row = int(rows[np.argmax((left == a) & (right == b))])
            raise ValueError(f"{name_row(row, truth.index)}: {fault}")
    signatures: dict[object, int] = {}
    of_layout = np.array([signatures.setdefault(signature(x), len(signatures)) for x in truths.layouts])
    for number in range(len(signatures)):
        some = rows[of_layout[left] == number]
        if len(some):
            yield Batch(some, NetworkPairs(truths, estimates, truth_codes[some], estimate_codes[some]))


def signature(layout: Layout) -> object:
    """Return what networks of one batch share: kind, variables, states."""
    return layout.kind, layout.nodes, layout.states


def pair(truth: Any, estimate: Any) -> NetworkPairs:
    """Align two single networks."""
    left, right = align(truth, estimate)
    zero = np.zeros(1, np.int64)
    return NetworkPairs(Networks.of([left]), Networks.of([right]), zero, zero)


NETWORKS = register_field(
    Field(
        name="network",
        default_metrics=DEFAULT_METRICS,
        default_null="dags",
        holds=is_network_column,
        coerce=coerce_networks,
        batches=batches,
        pair=pair,
        views={"graph": graphs_of_networks},
        context=("data", "estimator"),
        custom_null=custom_null,
    )
)
