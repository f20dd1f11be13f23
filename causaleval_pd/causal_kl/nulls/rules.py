"""Closed-form rule of network metrics."""

from __future__ import annotations

from ...contract.closed_form import ClosedFormRule, register_closed_form

register_closed_form(
    ClosedFormRule(
        "additive",
        "network",
        "A sum of terms, one a node, each a function of the node's parents in the estimate. Where all DAGs of a null "
        "model are listed, their values are then sums of terms that are computed once each; the law is the same.",
    )
)
