"""Closed-form rules of formula metrics."""

from __future__ import annotations

from ...contract.closed_form import ClosedFormRule, register_closed_form

for _name, _divisor in (
    ("literal_correctness", "the literals of the estimate"),
    ("literal_completeness", "the literals of the truth"),
    ("literal_f_beta", "the weighted literals of both"),
):
    register_closed_form(
        ClosedFormRule(
            _name,
            "formula",
            f"Shared literals divided by {_divisor}. Mean and variance are exact under relabelling (Hoeffding).",
        )
    )
