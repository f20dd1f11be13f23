"""Metrics of configurational models: quality [1]_, submodel relations [1]_, and fit to the context's data [2]_.

References
----------
.. [1] Baumgartner, M. & Falk, C. (2024). Quantifying the quality of configurational causal models. Journal of Causal
   Inference 12. doi:10.1515/jci-2023-0032
.. [2] Ragin, C. C. (2006). Set relations in social research: Evaluating their consistency and coverage. Political
   Analysis 14. doi:10.1093/pan/mpj019
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from typing import Any
from typing import Literal as OneOf

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_known, check_number
from ...contract.metric import Metric, metric
from ...contract.options import Convention as ReadAs
from ...contract.options import with_options
from .formula import Atom, Model
from .minimisation import Form
from .pairs import KINDS, FormulaCells, FormulaPairs
from .quality import COMPONENTS, ConstantRule, Convention
from .submodel import atom_submodels, submodel_of
from .truth_table import consistency_and_coverage

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
    "fit_consistency",
    "fit_coverage",
    "is_submodel",
    "lcr",
    "ncr",
    "submodel_completeness",
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
    "conventions": [ReadAs("arrows", "equivalence", ("one-way",), "=> and <= are read as <->")],
}
#: entry of the docstrings of metrics whose models in one cell may be combined by any rule
MODELS = {
    "models": """models : {"max", "mean", "any", "all"}
    How the values of several models in one cell are combined: the best (a method is right if one of its models is),
    their mean, or whether some, or all, are 1."""
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


def combine(scores: Sequence[float], rule: SetRule, *, empty: float) -> float:
    """Combine the scores of the models in one cell, without those that are NaN; NaN if all are."""
    # A method returns several models when it cannot decide between them: it is right if one of them is, and free of
    # error if all are; returning nothing is free of error but not right. "any" and "all" give 1 if some, or all, scores
    # are 1 and else 0; "max" and "mean" give `empty` without a model.
    check_known(rule, SET_RULES, "rule for sets of models")
    defined = [score for score in scores if not math.isnan(score)]
    if len(scores) and not defined:
        return math.nan
    if rule in ("any", "all"):
        return float((any if rule == "any" else all)(score == 1 for score in defined))
    if not defined:
        return empty
    return max(defined) if rule == "max" else sum(defined) / len(defined)


def _shares(counts: Values, component: str | None, zero_division: float) -> Values:
    """Divide shared by own complexity, (models, 2, 4), of one component or of all together."""
    part = slice(None) if component is None else slice(COMPONENTS.index(component), COMPONENTS.index(component) + 1)
    shared, complexity = counts[:, 0, part].sum(axis=1), counts[:, 1, part].sum(axis=1)
    return np.where(complexity == 0, zero_division, shared / np.where(complexity == 0, 1.0, complexity))


def _quality(
    pairs: FormulaPairs,
    score: Callable[[Values], Values],
    empty: float,
    models: SetRule,
    convention: str | Convention,
    constant_outcome: ConstantRule | None,
    arrows: Arrows,
) -> Values:
    """Combine what `score` makes of the counts of the models of each pair; `empty` is that of none."""
    check_known(arrows, ("as_written", "equivalence"), "value of arrows")
    read = pairs.as_equivalences() if arrows == "equivalence" else pairs
    counts, n_models = read.quality(Convention.of(convention, constant_outcome))
    check_known(models, SET_RULES, "rule for sets of models")
    scores, ends = score(counts), np.cumsum(n_models)
    values = np.full(len(n_models), np.nan)
    alone = (n_models == 1) & (models in ("max", "mean"))
    values[alone] = scores[ends[alone] - 1]
    for i in np.flatnonzero(~alone).tolist():
        values[i] = combine(scores[ends[i] - n_models[i] : ends[i]].tolist(), models, empty=empty)
    return read.spread(values.tolist())


def _share_function(side: int, component: str | None) -> Callable[..., Values]:
    """Return the metric of correctness or completeness, of one component or all together."""

    def share(
        pairs: FormulaPairs,
        *,
        models: SetRule = "max",
        convention: str | Convention = "corrected",
        constant_outcome: ConstantRule | None = None,
        arrows: Arrows = "as_written",
        zero_division: float = math.nan,
    ) -> Values:
        def score(counts: Values) -> Values:
            return _shares(counts[:, side], component, zero_division)

        # an output without models contains nothing incorrect, but it is incomplete
        empty = math.nan if side == CORRECTNESS else 0.0
        return _quality(pairs, score, empty, models, convention, constant_outcome, arrows)

    return share


def _f_function(component: str | None) -> Callable[..., Values]:
    """Return the metric of F-beta, of one component or all together."""

    def f_score(
        pairs: FormulaPairs,
        *,
        beta: float = 1.0,
        models: SetRule = "max",
        convention: str | Convention = "corrected",
        constant_outcome: ConstantRule | None = None,
        arrows: Arrows = "as_written",
        zero_division: float = math.nan,
    ) -> Values:
        def score(counts: Values) -> Values:
            p, r = (_shares(counts[:, side], component, zero_division) for side in (CORRECTNESS, COMPLETENESS))
            # a mean with 0 is 0, also where the other part is undefined
            neither = (p == 0) | (r == 0)
            return np.where(neither, 0.0, (1 + beta**2) * p * r / np.where(neither, 1.0, beta**2 * p + r))

        check_number(beta, "beta", "[0, inf)")
        return _quality(pairs, score, 0.0, models, convention, constant_outcome, arrows)

    return f_score


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


def _texts(measure: str, component: str | None) -> tuple[str, str]:
    """Return the first sentence of a metric's docstring, and what follows it."""
    kind = "" if component is None else f"{component} "
    if measure == "f_beta":
        none = ", and 0 for an output without models" if component is None else ""
        return (
            f"Compute the weighted harmonic mean of {kind}correctness and completeness.",
            f"(1 + b^2) P R / (b^2 P + R) of {kind}correctness P and completeness R, 0 where one of them is 0{none}.",
        )
    side, other = ("estimate", "truth") if measure == "correctness" else ("truth", "estimate")
    if component is None:
        none = "NaN" if measure == "correctness" else "0"
        return (
            f"Compute the share of the {side}'s causal exposition that the {other} shares.",
            f"Shared over own complexity of the {side}'s exposition, summed over outcomes and over literals, "
            f"conjunctions, disjunctions and paths. {none} for an output without models.",
        )
    parts, definition = _PARTS[component]
    details = f"Shared over own complexity of {definition}; summed over outcomes."
    details += _PATH_RULES[measure] if component == "sequential" else ""
    return f"Compute the share of the {side}'s {parts} that the {other} shares.", details


def _quality_of(measure: str, component: str | None, value: float) -> Metric:
    """Register the metric of a measure, of one component or all together; `value` is that of its example."""
    sides = {"correctness": CORRECTNESS, "completeness": COMPLETENESS}
    function = _f_function(component) if measure == "f_beta" else _share_function(sides[measure], component)
    name = function.__name__ = function.__qualname__ = measure if component is None else f"{measure}_{component}"
    summary, details = (textwrap.fill(text, 116) for text in _texts(measure, component))
    function.__doc__ = f"""{summary}

{details}

Examples
--------
>>> import causaleval_pd as ce
>>> round(ce.{name}("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)"), 3)
{value}
"""
    kind = "" if component is None else f"{component} "
    long_name = f"F-beta of {kind}correctness and completeness" if measure == "f_beta" else f"{kind}{measure}"
    closed_form = f"literal_{measure}" if component == "literal" else None
    return metric(**_QUALITY, long_name=long_name, closed_form=closed_form)(with_options(_OPTIONS)(function))


correctness = _quality_of("correctness", None, 0.75)
completeness = _quality_of("completeness", None, 0.49)
f_beta = _quality_of("f_beta", None, 0.593)
correctness_literal = _quality_of("correctness", "literal", 1.0)
correctness_conjunctive = _quality_of("correctness", "conjunctive", 0.571)
correctness_disjunctive = _quality_of("correctness", "disjunctive", 0.556)
correctness_sequential = _quality_of("correctness", "sequential", 1.0)
completeness_literal = _quality_of("completeness", "literal", 0.545)
completeness_conjunctive = _quality_of("completeness", "conjunctive", 0.545)
completeness_disjunctive = _quality_of("completeness", "disjunctive", 0.471)
completeness_sequential = _quality_of("completeness", "sequential", 0.4)
f_beta_literal = _quality_of("f_beta", "literal", 0.706)
f_beta_conjunctive = _quality_of("f_beta", "conjunctive", 0.558)
f_beta_disjunctive = _quality_of("f_beta", "disjunctive", 0.51)
f_beta_sequential = _quality_of("f_beta", "sequential", 0.571)


YesNoRule = OneOf["any", "all"]

_WHOLE: dict[str, Any] = {"field": "formula", "kinds": KINDS, "direction": "maximize", "range": (0, 1), "optimum": 1}
_RELATION: dict[str, Any] = {**_WHOLE, "reference": "10.1515/jci-2023-0032"}
_FIT: dict[str, Any] = {**_WHOLE, "reference": "10.1093/pan/mpj019"}
_YES_NO_MODELS = {
    "models": """models : {"any", "all"}
    Whether some or all of several models in one cell must fulfil it."""
}


def _by_model(
    pairs: FormulaPairs, compute: Callable[[int, Model], float], key: Any, models: SetRule, empty: float
) -> Values:
    """Combine the scores `compute(position, model)` of the models in each cell, `empty` for none; `key` stores them."""
    return pairs.spread([combine(one, models, empty=empty) for one in pairs.by_model(compute, key)])


def _is_submodel(pairs: FormulaPairs, models: SetRule, empty: float) -> Values:
    def judge(position: int, model: Model) -> float:
        return submodel_of(model, pairs.true_model(position))

    return _by_model(pairs, judge, "submodel_of", models, empty)


@metric(**_RELATION, dtype="boolean", long_name="submodel of the truth")
@with_options(_YES_NO_MODELS)
def is_submodel(pairs: FormulaPairs, *, models: YesNoRule = "any") -> Values:
    """Check whether the estimate results from the truth by deleting literals, disjuncts and atoms.

    The truth needs an atom with the same outcome literal for every atom of the estimate, and different disjuncts of it
    must contain the disjuncts of the estimate's atom.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.is_submodel("A*b+c*D<->E", "A+D<->E"), ce.is_submodel("A*b+c*D<->E", "A*B+D<->E")
    (1.0, 0.0)
    """
    check_known(models, ("any", "all"), "rule for sets of models")
    return _is_submodel(pairs, models, 0.0)


@metric(**_RELATION, long_name="correctness by submodel relation (LCR)")
@with_options(MODELS)
def lcr(pairs: FormulaPairs, *, models: SetRule = "max") -> Values:
    """Compute the share of estimated models that are submodels of the truth, or by default whether there is one.

    As `is_submodel`, as a number. NaN by default for an output without models.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> two = "A+D<->E; A*B+D<->E"
    >>> ce.lcr("A*b+c*D<->E", two), ce.lcr("A*b+c*D<->E", two, models="mean")
    (1.0, 0.5)
    """
    return _is_submodel(pairs, models, math.nan)


@metric(**{**_RELATION, "reference": "10.1177/0049124119882460"}, long_name="normalised correctness ratio (NCR)")
@with_options(MODELS)
def ncr(pairs: FormulaPairs, *, models: SetRule = "max") -> Values:
    """Compute the share of the estimate's irredundant submodels that are submodels of the truth.

    A submodel is any formula that results from a left-hand side by deleting literals and disjuncts, if nothing more can
    be deleted without changing its truth function. Defined for one atom; our extension to several pools the submodels
    of all atoms by outcome.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> round(ce.ncr("A*b+c*D<->E", "A*B+D<->E"), 3)
    0.429
    """

    def share(position: int, model: Model) -> float:
        words, truth = pairs.setting(position).vocabulary, pairs.true_model(position)

        def submodels(side: FormulaCells, atom: Atom) -> set[Form]:
            return side.cached(("ncr", atom, id(words)), lambda: atom_submodels(atom, words))

        n_submodels = shared = 0
        for atom in model.atoms:
            of_atom, other = submodels(pairs.estimate, atom), truth.by_outcome.get(atom.outcome)
            n_submodels += len(of_atom)
            shared += 0 if other is None else len(of_atom & submodels(pairs.truth, other))
        return shared / n_submodels if n_submodels else math.nan

    return _by_model(pairs, share, "ncr", models, math.nan)


@metric(**_RELATION, long_name="completeness of submodels")
@with_options(MODELS)
def submodel_completeness(pairs: FormulaPairs, *, models: SetRule = "max") -> Values:
    """Compute the complexity of the estimate relative to the truth's if it is a submodel, else 0.

    The completeness criterion in use before `completeness`: it covers only correct models and direct causes. 1 if the
    estimate is the truth, up to the order of its parts. 0 by default for an output without models.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.submodel_completeness("A*b+c*D<->E", "A+D<->E"), ce.submodel_completeness("A*b+c*D<->E", "B+D<->E")
    (0.5, 0.0)
    """

    def share(position: int, model: Model) -> float:
        truth = pairs.true_model(position)
        return model.complexity / truth.complexity if submodel_of(model, truth) else 0.0

    return _by_model(pairs, share, "submodel_completeness", models, 0.0)


def _fit_metric(measure: str, meaning: str, estimate: str, value: float) -> Metric:
    """Register the metric of the smallest consistency or coverage of an atom; `value` is that of its example."""

    def score(pairs: FormulaPairs, *, models: SetRule = "max") -> Values:
        def fit(position: int, model: Model) -> Values:
            data = pairs.setting(position).data
            if data is None:
                raise ValueError(f"fit_{measure} needs the data of the estimates: pass context={{'data': frame}}")
            return np.asarray(consistency_and_coverage(model, data).min(axis=1))

        place = ("consistency", "coverage").index(measure)
        fits = pairs.by_model(fit, "fit")
        return pairs.spread([combine([one[place] for one in cell], models, empty=math.nan) for cell in fits])

    score.__name__ = score.__qualname__ = f"fit_{measure}"
    score.__doc__ = f"""Compute the {measure} of the estimate in the data: how far {meaning} their outcomes.

The smallest {measure} of an atom, from `context={{"data": frame}}`. The truth plays no part. NaN for an output
without models.

Examples
--------
>>> import pandas as pd
>>> import causaleval_pd as ce
>>> runs = pd.DataFrame({{"truth": ["A+B<->C"], "estimate": ["{estimate}"]}})
>>> data = pd.DataFrame({{"A": [1, 1, 0, 0], "B": [1, 0, 1, 0], "C": [1, 0, 1, 0]}})
>>> ce.evaluate(runs, ["fit_{measure}"], context={{"data": data}})["fit_{measure}"].tolist()
[{value}]
"""
    return metric(**_FIT, long_name=f"{measure} in the data")(with_options(MODELS)(score))


fit_consistency = _fit_metric("consistency", "its left-hand sides suffice for", "A<->C", 0.5)
fit_coverage = _fit_metric("coverage", "its left-hand sides are necessary for", "A*B<->C", 0.5)
