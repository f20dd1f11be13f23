"""Closed-form rules of answer and quantity metrics, with probes that refuse a metric that contradicts its rule."""

from __future__ import annotations

import numpy as np

from ..contract.closed_form import ClosedFormRule, Value, register_closed_form
from .measures.yes_counts import Floats, parse_counts
from .pairs import AnswerPairs, QuantityPairs

#: (truth, estimate) of answers, and of quantities, on which metrics are probed
_ANSWERS = ((False, False), (False, True), (True, False), (True, True))
_QUANTITIES = ((0.2, 0.3), (0.5, 0.1), (0.25, 0.25), (0.9, 0.4))
#: yes-counts beside these quantities
_COUNTS = ("pns 10 3 10 1 0", "pns 1000 717 1000 100 0", "ate 40 30 50 10 -1", "p_do1 7 3 9 0 -1")


def function_of_answers(value: Value) -> str | None:
    """Check that a metric is a function of one true and one given answer."""
    truth, answer = np.array(_ANSWERS).T
    return _not_pairwise(value, AnswerPairs(truth, answer))


def function_of_quantities(value: Value) -> str | None:
    """Check that a metric is a function of one true and one estimated quantity, whatever their counts."""
    truth, estimate = np.array(_QUANTITIES).T
    pairs = QuantityPairs(truth, estimate)
    terms, factors = parse_counts(_COUNTS)
    if not _same(value(QuantityPairs(truth, estimate, terms, factors)), value(pairs)):
        return "its value depends on yes-counts besides the truth and the estimate"
    return _not_pairwise(value, pairs)


def _not_pairwise(value: Value, pairs: AnswerPairs | QuantityPairs) -> str | None:
    """Return where the value of a pair depends on the other pairs, or None."""
    together = value(pairs)
    if together.shape != (pairs.n,):
        return f"it gives an array of shape {together.shape} for {pairs.n} pairs, where one value a pair is expected"
    for i in range(pairs.n):
        alone = value(pairs.take(np.array([i])))
        if not _same(alone, together[i : i + 1]):
            return f"where {pairs.describe(i)}, it is {alone.item():g} alone and {together[i]:g} among other pairs"
    return None


def _same(found: Floats, expected: Floats) -> bool:
    return found.shape == expected.shape and np.allclose(found, expected, rtol=1e-9, atol=1e-9, equal_nan=True)


ANSWER = register_closed_form(
    ClosedFormRule(
        "answer",
        "answer",
        "A function of one true and one given answer. A control answers yes or no, so its law has two values.",
        function_of_answers,
    )
)
COUNTED = register_closed_form(
    ClosedFormRule(
        "counts",
        "quantity",
        "A function of the true and the estimated quantity. Where one yes-count of the reasoner is random, the law is "
        "that of the count: hypergeometric, binomial or constant.",
        function_of_quantities,
    )
)
