"""Metrics of quality: correctness, completeness and their F-beta, over all or single components [1]_.

References
----------
.. [1] Baumgartner, M. & Falk, C. (2024). Quantifying the quality of configurational causal models. Journal of Causal
   Inference 12. doi:10.1515/jci-2023-0032
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from typing import Any
from typing import Literal as OneOf

import numpy as np
from numpy.typing import NDArray

from ...contract import convention as contract
from ...contract.checks import check_known, check_number
from ...contract.metric import Metric, metric
from ...contract.options import with_options
from ..models.exposition import COMPONENTS
from ..models.quality import ConstantRule, Convention
from ..pairs import FormulaPairs

__all__ = [
    "completeness",
    "completeness_conjunctive",
    "completeness_disjunctive",
    "completeness_literal",
    "completeness_sequential",
    "correctness",
    "correctness_conjunctive",
    "correctness_disjunctive",
    "correctness_literal",
    "correctness_sequential",
    "f_beta",
    "f_beta_conjunctive",
    "f_beta_disjunctive",
    "f_beta_literal",
    "f_beta_sequential",
]

Values = NDArray[np.float64]
Arrows = OneOf["as_written", "equivalence"]
SetRule = OneOf["max", "mean", "any", "all"]
SET_RULES = ("max", "mean", "any", "all")
#: places of the measures in counts of shared and own complexity
CORRECTNESS, COMPLETENESS = 0, 1

_QUALITY: dict[str, Any] = {
    "field": "formula",
    "kinds": ("acyclic",),
    "instead": ("lcr", "is_submodel", "submodel_completeness"),
    "direction": "maximize",
    "range": (0, 1),
    "optimum": 1,
    "reference": "10.1515/jci-2023-0032",
    "conventions": [contract.Convention("arrows", "equivalence", ("one-way",), "=> and <= are read as <->")],
}
#: entry of the docstrings of metrics whose models in one cell may be combined by any rule
MODELS = {
    "models": """models : {"max", "mean", "any", "all"}
    How the values of several models in one cell are combined: the best (a method is right if one of its models is),
    their mean, or whether some, or all, are 1.""",
}
_OPTIONS = {
    **MODELS,
    "beta": """beta : float
    How many times more completeness weighs than correctness.""",
    "convention": """convention : {"corrected", "paper", "text"} or Convention
    Rules of evaluation: the numbers of the paper's tables without artefacts, those of the published functions, or those
    of the paper's text.""",
    "constant_outcome": """constant_outcome : {"penalise", "drop", "nan"}, optional
    What an atom is whose outcome does not vary, as in `A+a<->C`: wrong in all of its parts, left out, or undefined;
    default that of the convention, "penalise" or by "paper" "drop".""",
    "arrows": """arrows : {"as_written", "equivalence"}
    Whether models with `=>` (also `->`) and `<=`, which state sufficiency or necessity alone, are refused or read as
    equivalences.""",
}


def combine(scores: Sequence[float], rule: SetRule, *, optimum: float, empty: float) -> float:
    """Combine the scores of the models in one cell, without those that are NaN; NaN if all are.

    A method returns several models when it cannot decide between them: it is right if one of them is, and free of error
    if all are; returning nothing is free of error but not right. "any" and "all" give 1 if some, or all, scores are the
    `optimum` and else 0; "max" and "mean" give `empty` without a model.

    Examples
    --------
    >>> [combine([1.0, 0.5], rule, optimum=1, empty=0) for rule in ("max", "mean", "any", "all")]
    [1.0, 0.75, 1.0, 0.0]
    >>> [combine([], rule, optimum=1, empty=0) for rule in ("max", "mean", "any", "all")]
    [0, 0, 0.0, 1.0]
    """
    check_known(rule, SET_RULES, "rule for sets of models")
    if scores:
        scores = [score for score in scores if not math.isnan(score)]
        if not scores:
            return math.nan
    if rule == "any":
        return float(any(score == optimum for score in scores))
    if rule == "all":
        return float(all(score == optimum for score in scores))
    if not scores:
        return empty
    return max(scores) if rule == "max" else sum(scores) / len(scores)


def _shares(counts: Values, component: str | None, zero_division: float) -> Values:
    """Divide shared by own complexity, (models, 2, 4), of one component or of all together."""
    part = slice(None) if component is None else slice(COMPONENTS.index(component), COMPONENTS.index(component) + 1)
    shared, own = counts[:, 0, part].sum(axis=1), counts[:, 1, part].sum(axis=1)
    return np.where(own == 0, zero_division, shared / np.where(own == 0, 1.0, own))


def _combined(pairs: FormulaPairs, scores: Values, n_models: NDArray[np.int64], rule: SetRule, empty: float) -> Values:
    """Combine the scores of the models of each distinct pair by `combine`, and return those of all pairs."""
    check_known(rule, SET_RULES, "rule for sets of models")
    values, start = np.full(len(n_models), np.nan), np.cumsum(n_models) - n_models
    alone = n_models == 1 if rule in ("max", "mean") else np.zeros(len(n_models), bool)
    values[alone] = scores[start[alone]]
    for i in np.flatnonzero(~alone).tolist():
        several = scores[start[i] : start[i] + n_models[i]].tolist()
        values[i] = combine(several, rule, optimum=1, empty=empty)
    return pairs.spread(values.tolist())


def _read(pairs: FormulaPairs, arrows: Arrows) -> FormulaPairs:
    """Return the pairs with arrows as they were written, or all as equivalences."""
    check_known(arrows, ("as_written", "equivalence"), "value of arrows")
    return pairs.as_equivalences() if arrows == "equivalence" else pairs


def _score(
    pairs: FormulaPairs,
    side: int,
    component: str | None,
    models: SetRule,
    convention: Convention,
    zero_division: float,
) -> Values:
    """Compute correctness or completeness of every pair, of one component or all together; see `correctness`."""
    # an output without models contains nothing incorrect, but it is incomplete
    empty = math.nan if side == CORRECTNESS else 0.0
    counts, n_models = pairs.quality(convention)
    return _combined(pairs, _shares(counts[:, side], component, zero_division), n_models, models, empty)


def _f_score(
    pairs: FormulaPairs,
    beta: float,
    component: str | None,
    models: SetRule,
    convention: Convention,
    zero_division: float,
) -> Values:
    """Combine correctness and completeness of every model; parameters as in `_score` and `f_beta`."""
    check_number(beta, "beta", "[0, inf)")
    counts, n_models = pairs.quality(convention)
    p, r = (_shares(counts[:, side], component, zero_division) for side in (CORRECTNESS, COMPLETENESS))
    # a mean with 0 is 0, also where the other part is undefined
    neither = (p == 0) | (r == 0)
    scores = np.where(neither, 0.0, (1 + beta**2) * p * r / np.where(neither, 1.0, beta**2 * p + r))
    return _combined(pairs, scores, n_models, models, 0.0)


@metric(**_QUALITY, long_name="correctness")
@with_options(_OPTIONS)
def correctness(
    pairs: FormulaPairs,
    *,
    models: SetRule = "max",
    convention: str | Convention = "corrected",
    constant_outcome: ConstantRule | None = None,
    arrows: Arrows = "as_written",
    zero_division: float = math.nan,
) -> Values:
    """Compute the share of the estimate's causal exposition that the truth shares.

    Shared over own complexity of the estimate's exposition, summed over outcomes and over literals, conjunctions,
    disjunctions and paths. NaN for an output without models.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.correctness("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)")
    0.75
    """
    return _score(
        _read(pairs, arrows), CORRECTNESS, None, models, Convention.of(convention, constant_outcome), zero_division
    )


@metric(**_QUALITY, long_name="completeness")
@with_options(_OPTIONS)
def completeness(
    pairs: FormulaPairs,
    *,
    models: SetRule = "max",
    convention: str | Convention = "corrected",
    constant_outcome: ConstantRule | None = None,
    arrows: Arrows = "as_written",
    zero_division: float = math.nan,
) -> Values:
    """Compute the share of the truth's causal exposition that the estimate shares.

    Shared over own complexity of the truth's exposition, summed over outcomes and over literals, conjunctions,
    disjunctions and paths. 0 for an output without models.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> round(ce.completeness("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)"), 3)
    0.49
    """
    return _score(
        _read(pairs, arrows), COMPLETENESS, None, models, Convention.of(convention, constant_outcome), zero_division
    )


@metric(**_QUALITY, long_name="F-beta of correctness and completeness")
@with_options(_OPTIONS)
def f_beta(
    pairs: FormulaPairs,
    *,
    beta: float = 1.0,
    models: SetRule = "max",
    convention: str | Convention = "corrected",
    constant_outcome: ConstantRule | None = None,
    arrows: Arrows = "as_written",
    zero_division: float = math.nan,
) -> Values:
    """Compute the weighted harmonic mean of correctness and completeness.

    (1 + b^2) P R / (b^2 P + R) of correctness P and completeness R, 0 where one of them is 0, and 0 for an output
    without models.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth, model = "(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)"
    >>> round(ce.f_beta(truth, model), 3), round(ce.f_beta(truth, model, beta=0.5), 3)
    (0.593, 0.678)
    """
    return _f_score(
        _read(pairs, arrows), beta, None, models, Convention.of(convention, constant_outcome), zero_division
    )


#: by component: the parts of an exposition that it counts, and their definition
_PARTS = {
    "literal": ("literals that are causes", "L(O), the literals in the expanded formulas of outcome O"),
    "conjunctive": (
        "joint causes",
        "C(O), the disjuncts of the expanded formulas of outcome O, each with its best counterpart by shared literals",
    ),
    "disjunctive": (
        "alternative causes",
        "D(O), the expanded formulas of outcome O, each with its best counterpart, disjuncts being paired one to one",
    ),
    "sequential": ("causal paths", "S(O), the paths from roots to outcome O through its causes"),
}
_PATH_RULES = {
    "correctness": " A path of the estimate counts if it is the end of a true path from which the factors that occur "
    "in no path of the estimate are deleted.",
    "completeness": " A true path counts by the share of its length that the longest path of the estimate which ends "
    "it has.",
}


def _register(
    function: Callable[..., Values],
    measure: str,
    component: str,
    *,
    long_name: str,
    summary: str,
    details: str,
    value: str,
) -> Metric:
    """Register the metric of one component.

    Parameters
    ----------
    function : callable
        A function of pairs; it gets the metric's name and docstring.
    measure, component : str
        The parts of the name.
    long_name : str
        Label of axes and tables.
    summary, details : str
        First sentence and further prose of the docstring.
    value : str
        Result of the docstring's example, rounded to three digits.
    """
    name = function.__name__ = function.__qualname__ = f"{measure}_{component}"
    function.__doc__ = f"""{textwrap.fill(summary, 118)}

{textwrap.fill(details, 118)}

Examples
--------
>>> import causaleval_pd as ce
>>> round(ce.{name}("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)"), 3)
{value}
"""
    closed_form = f"literal_{measure}" if component == "literal" else None
    return metric(**_QUALITY, long_name=long_name, closed_form=closed_form)(with_options(_OPTIONS)(function))


def _share_of(measure: OneOf["correctness", "completeness"], component: str, value: str) -> Metric:
    """Register correctness or completeness of one component; `value` is that of the docstring's example."""
    side, own, other = {
        "correctness": (CORRECTNESS, "estimate", "truth"),
        "completeness": (COMPLETENESS, "truth", "estimate"),
    }[measure]
    parts, definition = _PARTS[component]

    def function(
        pairs: FormulaPairs,
        *,
        models: SetRule = "max",
        convention: str | Convention = "corrected",
        constant_outcome: ConstantRule | None = None,
        arrows: Arrows = "as_written",
        zero_division: float = math.nan,
    ) -> Values:
        return _score(
            _read(pairs, arrows), side, component, models, Convention.of(convention, constant_outcome), zero_division
        )

    summary = f"Compute the share of the {own}'s {parts} that the {other} shares."
    details = f"Shared over own complexity of {definition}; summed over outcomes."
    details += _PATH_RULES[measure] if component == "sequential" else ""
    long_name = f"{component} {measure}"
    return _register(function, measure, component, long_name=long_name, summary=summary, details=details, value=value)


def _f_beta_of(component: str, value: str) -> Metric:
    """Register F-beta of one component; `value` is that of the docstring's example."""

    def function(
        pairs: FormulaPairs,
        *,
        beta: float = 1.0,
        models: SetRule = "max",
        convention: str | Convention = "corrected",
        constant_outcome: ConstantRule | None = None,
        arrows: Arrows = "as_written",
        zero_division: float = math.nan,
    ) -> Values:
        return _f_score(
            _read(pairs, arrows), beta, component, models, Convention.of(convention, constant_outcome), zero_division
        )

    p, r = f"{component} correctness", f"{component} completeness"
    summary = f"Compute the weighted harmonic mean of {p} and completeness."
    details = f"(1 + b^2) P R / (b^2 P + R) of {p} P and {r} R, 0 where one of them is 0."
    long_name = f"F-beta of {p} and completeness"
    return _register(function, "f_beta", component, long_name=long_name, summary=summary, details=details, value=value)


correctness_literal = _share_of("correctness", "literal", "1.0")
correctness_conjunctive = _share_of("correctness", "conjunctive", "0.571")
correctness_disjunctive = _share_of("correctness", "disjunctive", "0.556")
correctness_sequential = _share_of("correctness", "sequential", "1.0")
completeness_literal = _share_of("completeness", "literal", "0.545")
completeness_conjunctive = _share_of("completeness", "conjunctive", "0.545")
completeness_disjunctive = _share_of("completeness", "disjunctive", "0.471")
completeness_sequential = _share_of("completeness", "sequential", "0.4")
f_beta_literal = _f_beta_of("literal", "0.706")
f_beta_conjunctive = _f_beta_of("conjunctive", "0.558")
f_beta_disjunctive = _f_beta_of("disjunctive", "0.51")
f_beta_sequential = _f_beta_of("sequential", "0.571")
