"""Closed-form rules of answer and quantity metrics."""

from __future__ import annotations

from ..contract.closed_form import ClosedFormRule, register_closed_form

register_closed_form(
    ClosedFormRule(
        "answer",
        "answer",
        "A function of one true and one given answer. A control answers yes or no, so its law has two values.",
    )
)
register_closed_form(
    ClosedFormRule(
        "counts",
        "quantity",
        "A function of the true and the estimated quantity. Where one yes-count of the reasoner is random, the law is "
        "that of the count: hypergeometric, binomial or constant.",
    )
)
