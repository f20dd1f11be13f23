"""What becomes of one score a model when a method returned several models, or none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal as OneOf

from ...contract.checks import check_known

SetRule = OneOf["max", "mean", "any", "all"]
SET_RULES = ("max", "mean", "any", "all")


def combine(scores: Sequence[float], rule: SetRule, *, optimum: float, empty: float) -> float:
    """Combine the scores of the models in one cell.

    A method returns several models when it cannot decide between them: it is right if one of them is, and free of error
    if all are; returning nothing is free of error but not right.

    Parameters
    ----------
    scores : sequence of float
        One score a model.
    rule : {"max", "mean", "any", "all"}
        Best score; mean score; 1 if some, or if all, of the scores are optimal and else 0.
    optimum : float
        The optimal score.
    empty : float
        What max and mean are where there is no model.

    Returns
    -------
    float
        NaN if a score is.

    Examples
    --------
    >>> [combine([1.0, 0.5], rule, optimum=1, empty=0) for rule in ("max", "mean", "any", "all")]
    [1.0, 0.75, 1.0, 0.0]
    >>> [combine([], rule, optimum=1, empty=0) for rule in ("max", "mean", "any", "all")]
    [0, 0, 0.0, 1.0]
    """
    check_known(rule, SET_RULES, "rule for sets of models")
    if any(math.isnan(score) for score in scores):
        return math.nan
    if rule == "any":
        return float(any(score == optimum for score in scores))
    if rule == "all":
        return float(all(score == optimum for score in scores))
    if not scores:
        return empty
    return max(scores) if rule == "max" else sum(scores) / len(scores)
