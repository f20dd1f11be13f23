"""Metrics of single answers, and of quantities estimated from answers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...contract.metric import METRICS, metric
from ...contract.options import with_example
from .field import ANSWER, COUNTED, NUMBER, AnswerPairs, QuantityPairs
from .yes_counts import QUANTITIES, Floats

__all__ = [
    "answer_accuracy",
    "answer_false_no",
    "answer_false_yes",
    "ate_error",
    "log_error",
    "pns_error",
    "quantity_bias",
    "quantity_error",
    "rae",
]

_ANSWER: dict[str, Any] = {"field": "answer", "kinds": ("answer",), "range": (0, 1), "closed_form": ANSWER.name}
_MISTAKE: dict[str, Any] = {**_ANSWER, "direction": "minimize", "optimum": 0}
_QUANTITY: dict[str, Any] = {
    "field": "quantity",
    "kinds": (*QUANTITIES, NUMBER),
    "range": (0, math.inf),
    "direction": "minimize",
    "optimum": 0,
    "closed_form": COUNTED.name,
    "reference": "10.48550/arXiv.2503.04556",
}
_OF_ONE: dict[str, Any] = {**_QUANTITY, "symmetric": True, "instead": ("quantity_error",)}

_EXAMPLE = """>>> import causaleval_pd as ce
>>> round(ce.{name}({cells}), 6)
{gives}"""


@metric(**_ANSWER, direction="maximize", optimum=1, symmetric=True, long_name="share of right answers")
@with_example(_EXAMPLE, cells="True, False", gives=0.0)
def answer_accuracy(pairs: AnswerPairs) -> Floats:
    """Mark right answers: 1 where the answer is the true one, else 0.

    The mean over rows is the accuracy.
    """
    return (pairs.truth == pairs.estimate).astype(np.float64)


@metric(**_MISTAKE, long_name="share of false yes")
@with_example(_EXAMPLE, cells="False, True", gives=1.0)
def answer_false_yes(pairs: AnswerPairs) -> Floats:
    """Mark false yes: 1 where the answer is yes and the truth is no, else 0."""
    return (~pairs.truth & pairs.estimate).astype(np.float64)


@metric(**_MISTAKE, long_name="share of false no")
@with_example(_EXAMPLE, cells="True, False", gives=1.0)
def answer_false_no(pairs: AnswerPairs) -> Floats:
    """Mark false no: 1 where the answer is no and the truth is yes, else 0."""
    return (pairs.truth & ~pairs.estimate).astype(np.float64)


@metric(**_QUANTITY, long_name="relative absolute error")
@with_example(_EXAMPLE, cells="0.0, 0.25, floor=0.01", gives=25.0)
def rae(pairs: QuantityPairs, zero_division: float = math.nan, floor: float = 0.0) -> Floats:
    """Compute the error of a quantity relative to its truth.

    `|truth - estimate| / max(|truth|, floor)`. With the published floor of 0 it is undefined for a truth of 0, whatever
    the estimate; a positive floor allows truths of 0 and bounds the weight of rare events.

    Parameters
    ----------
    floor : float
        Smallest denominator.
    """
    if not (np.isfinite(floor) and floor >= 0):
        raise ValueError(f"floor must be a number of at least 0, found {floor!r}")
    error = np.abs(pairs.truth - pairs.estimate)
    scale = np.maximum(np.abs(pairs.truth), floor)
    return np.divide(error, scale, out=np.full(error.shape, float(zero_division)), where=scale > 0)


@metric(**_QUANTITY, symmetric=True, long_name="absolute error")
@with_example(_EXAMPLE, cells="0.2, 0.25", gives=0.05)
def quantity_error(pairs: QuantityPairs) -> Floats:
    """Compute the distance of a quantity from its truth.

    `|truth - estimate|`, whatever the quantity; defined for every truth.
    """
    return np.abs(pairs.truth - pairs.estimate)


@metric(**_QUANTITY, symmetric=True, long_name="absolute log ratio")
@with_example(_EXAMPLE, cells="0.2, 0.1", gives=0.693147)
def log_error(pairs: QuantityPairs, floor: float = 0.01) -> Floats:
    """Compute the absolute log ratio of a quantity and its truth.

    `|log(max(estimate, floor) / max(truth, floor))|`: twice too large and twice too small have the same error, and
    numbers below the floor count as the floor.

    Parameters
    ----------
    floor : float
        Smallest truth and estimate; a positive number.
    """
    if not (np.isfinite(floor) and floor > 0):
        raise ValueError(f"floor must be a positive number, found {floor!r}")
    return np.abs(np.log(np.maximum(pairs.estimate, floor)) - np.log(np.maximum(pairs.truth, floor)))


@metric(**{**_QUANTITY, "direction": "zero", "range": (-math.inf, math.inf)}, long_name="estimate - truth")
@with_example(_EXAMPLE, cells="0.2, 0.25", gives=0.05)
def quantity_bias(pairs: QuantityPairs) -> Floats:
    """Compute the signed error of a quantity.

    estimate - truth: positive where the reasoner overestimates the effect.
    """
    return pairs.estimate - pairs.truth


@metric(**_OF_ONE | {"kinds": ("pns", NUMBER)}, long_name="error of the PNS")
@with_example(_EXAMPLE, cells="0.2, 0.25", gives=0.05)
def pns_error(pairs: QuantityPairs) -> Floats:
    """Compute the absolute error of a probability of necessity and sufficiency.

    `|truth - estimate|` of rows that hold a PNS or a product of these; other quantities are refused.
    """
    return np.abs(pairs.truth - pairs.estimate)


@metric(**_OF_ONE | {"kinds": ("ate", NUMBER)}, long_name="error of the ATE")
@with_example(_EXAMPLE, cells="0.2, -0.1", gives=0.3)
def ate_error(pairs: QuantityPairs) -> Floats:
    """Compute the absolute error of an average treatment effect.

    `|truth - estimate|` of rows that hold `p(y | do(x)) - p(y | do(not x))`; other quantities are refused.
    """
    return np.abs(pairs.truth - pairs.estimate)


METRICS.other_names(
    {
        "mae": ["quantity_error"],
        "absolute_error": ["quantity_error"],
        "relative_error": ["rae"],
        "relative_absolute_error": ["rae"],
        "pns": ["pns_error"],
        "ate": ["ate_error"],
        "bias": ["quantity_bias"],
    }
)
