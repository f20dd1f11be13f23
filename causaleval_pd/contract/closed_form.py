"""Closed-form rules: what must hold for a metric so that null models compute its moments or law without drawing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .registry import Registry

#: `value(stand_in)`: the metric's function, its options bound, on chosen counts in place of pairs
Value = Callable[[Any], NDArray[Any]]


@dataclass(frozen=True)
class ClosedFormRule:
    """A named property of metrics that null models of a field use to avoid simulation.

    Attributes
    ----------
    name : str
        What a metric names by `closed_form=`.
    field : str
        Field whose metrics may name it.
    explanation : str
        What must hold for the metric, and what null models then compute.
    probe : callable or None
        `probe(value)` evaluates the metric's function on a few chosen inputs and returns what contradicts the rule, or
        None. It runs when a metric is registered.
    methods : tuple of str
        Words for how p-values of laws that are not stored are found, where `ClosedForm.tails` returns them.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.ClosedFormRule("symmetric", "graph", "Its null mean is 0 by symmetry.").probe is None
    True
    """

    name: str
    field: str
    explanation: str
    probe: Callable[[Value], str | None] | None = None
    methods: tuple[str, ...] = ()

    def contradiction(self, function: Callable[..., NDArray[Any]]) -> str | None:
        """Return what in a metric's function contradicts the rule, or None."""
        if self.probe is None:
            return None
        try:
            return self.probe(lambda stand_in: np.asarray(function(stand_in), np.float64))
        except AttributeError as error:
            return f"its function reads {error.name!r}, which the counts of this rule do not have"


CLOSED_FORMS: Registry[ClosedFormRule] = Registry("closed form", "causaleval_pd.closed_forms")


def register_closed_form(rule: ClosedFormRule) -> ClosedFormRule:
    """Register a closed-form rule, so that metrics may name it.

    Parameters
    ----------
    rule : ClosedFormRule
        The rule; null models look its name up in `Metric.closed_form`.

    Returns
    -------
    ClosedFormRule
        The same rule.

    Raises
    ------
    ValueError
        If other code has taken the name; code that runs again replaces what it registered.

    Examples
    --------
    >>> from causaleval_pd.contract.closed_form import CLOSED_FORMS, ClosedFormRule, register_closed_form
    >>> rule = register_closed_form(ClosedFormRule("mean_only", "graph", "The null mean is known by symmetry."))
    >>> del CLOSED_FORMS[rule.name]
    """
    return CLOSED_FORMS.add(rule.name, rule)


def list_closed_forms() -> pd.DataFrame:
    """Return the closed-form rules that metrics may name, one per row.

    Third parties add theirs by entry points in the group ``causaleval_pd.closed_forms``.

    Returns
    -------
    DataFrame
        Indexed by name: field, explanation.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.list_closed_forms().loc["hypergeometric", "field"]
    'graph'
    """
    return CLOSED_FORMS.table("field", "explanation")
