"""Metrics of a model as a whole: submodel relations, NCR, and earlier criteria of correctness [1]_ [2]_.

References
----------
.. [1] Baumgartner, M. & Falk, C. (2024). Quantifying the quality of configurational causal models. Journal of Causal
   Inference 12. doi:10.1515/jci-2023-0032
.. [2] Dușa, A. (2022). Critical tension: sufficiency and parsimony in QCA. Sociological Methods & Research 51.
   doi:10.1177/0049124119882456
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any
from typing import Literal as OneOf

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_known
from ...contract.metric import metric
from ...contract.options import with_options
from ..formulas.formula import Model
from ..models.submodel import atom_submodels, causal_submodel_of, strict_submodel_of, submodel_of
from ..pairs import KINDS, FormulaPairs
from .quality import MODELS, SetRule, combine

__all__ = [
    "has_complete_disjuncts",
    "is_causal_submodel",
    "is_identical",
    "is_strict_submodel",
    "is_submodel",
    "lcr",
    "ncr",
    "submodel_completeness",
]

Values = NDArray[np.float64]
YesNoRule = OneOf["any", "all"]

_RELATION: dict[str, Any] = {
    "field": "formula",
    "kinds": KINDS,
    "direction": "maximize",
    "range": (0, 1),
    "optimum": 1,
    "reference": "10.1515/jci-2023-0032",
}
_YES_NO: dict[str, Any] = {**_RELATION, "dtype": "boolean"}
_YES_NO_MODELS = {
    "models": """models : {"any", "all"}
    Whether some or all of several models in one cell must fulfil it.""",
}


def _judge(pairs: FormulaPairs, relation: Callable[[Model, Model], bool], models: YesNoRule) -> Values:
    """Check whether some, or all, of the estimated models stand in a relation to the truth."""
    check_known(models, ("any", "all"), "rule for sets of models")
    return _combined(
        pairs, lambda i, model: float(relation(model, pairs.true_model(i))), relation.__name__, models, 0.0
    )


def _combined(
    pairs: FormulaPairs, compute: Callable[[int, Model], float], key: Any, models: SetRule, empty: float
) -> Values:
    """Score every estimated model by `compute(position, model)`, and combine the scores of the models in each cell.

    Scores are stored for other metrics under `key`; `empty` is the value of a cell without models.
    """
    scores = pairs.by_model(compute, key)
    return pairs.spread([combine(one, models, optimum=1, empty=empty) for one in scores])


@metric(**_YES_NO, long_name="submodel of the truth")
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
    return _judge(pairs, submodel_of, models)


@metric(**_YES_NO, long_name="strict submodel of the truth")
@with_options(_YES_NO_MODELS)
def is_strict_submodel(pairs: FormulaPairs, *, models: YesNoRule = "any") -> Values:
    """Check whether the estimate is a submodel, and at least one of its atoms is smaller than the truth's.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.is_strict_submodel("A*b+C<->E", "A+C<->E"), ce.is_strict_submodel("A*b+C<->E", "A*b+C<->E")
    (1.0, 0.0)
    """
    return _judge(pairs, strict_submodel_of, models)


def _equal(model: Model, other: Model) -> bool:
    return model == other


@metric(**_YES_NO, long_name="identical to the truth", symmetric=True)
@with_options(_YES_NO_MODELS)
def is_identical(pairs: FormulaPairs, *, models: YesNoRule = "any") -> Values:
    """Check whether the estimate is the truth, up to the order of atoms, disjuncts and conjuncts.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.is_identical("A*b+C<->E", "C + b*A <-> E")
    1.0
    """
    return _judge(pairs, _equal, models)


@metric(
    **{**_YES_NO, "kinds": ("acyclic",), "reference": "10.1177/0049124120986200", "instead": ("is_submodel",)},
    long_name="causal submodel",
)
@with_options(_YES_NO_MODELS)
def is_causal_submodel(pairs: FormulaPairs, *, models: YesNoRule = "any") -> Values:
    """Check whether the truth entails all direct and indirect causes that the estimate ascribes.

    A formula of the estimate, as written or with intermediate outcomes substituted, must be within one of the truth
    with the same outcomes substituted, and perhaps some that the estimate does not mention.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.is_causal_submodel("(A+B<->C)*(C+D<->E)", "A+D<->E"), ce.is_submodel("(A+B<->C)*(C+D<->E)", "A+D<->E")
    (1.0, 0.0)
    """

    def judge(position: int, model: Model) -> float:
        return float(causal_submodel_of(model, pairs.true_model(position), pairs.setting(position)))

    check_known(models, ("any", "all"), "rule for sets of models")
    return _combined(pairs, judge, "causal_submodel_of", models, 0.0)


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

    def judge(position: int, model: Model) -> float:
        return float(submodel_of(model, pairs.true_model(position)))

    return _combined(pairs, judge, "submodel_of", models, math.nan)


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
        own = shared = 0
        for atom in model.atoms:
            found = pairs.estimate.cached(("ncr", atom, id(words)), partial(atom_submodels, atom, words))
            own += len(found)
            if (other := truth.by_outcome.get(atom.outcome)) is not None:
                shared += len(
                    found & pairs.truth.cached(("ncr", other, id(words)), partial(atom_submodels, other, words))
                )
        return shared / own if own else math.nan

    return _combined(pairs, share, "ncr", models, math.nan)


def _has_complete_disjuncts(model: Model, truth: Model) -> bool:
    """Check whether every disjunct of a model is a whole disjunct of the truth."""
    return all(
        atom.outcome in truth.by_outcome and set(atom.disjuncts) <= set(truth.by_outcome[atom.outcome].disjuncts)
        for atom in model.atoms
    )


@metric(**{**_YES_NO, "reference": "10.1177/0049124119882456"}, long_name="correct in Dușa's sense")
@with_options(_YES_NO_MODELS)
def has_complete_disjuncts(pairs: FormulaPairs, *, models: YesNoRule = "any") -> Values:
    """Check whether every disjunct of the estimate is a whole disjunct of the truth, as Dușa's criterion requires.

    Stricter than `is_submodel`: a disjunct that lacks a conjunct of the truth counts as wrong.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.has_complete_disjuncts("A*b+C<->E", "A*b<->E"), ce.has_complete_disjuncts("A*b+C<->E", "A<->E")
    (1.0, 0.0)
    """
    return _judge(pairs, _has_complete_disjuncts, models)


@metric(**_RELATION, long_name="completeness of submodels")
@with_options(MODELS)
def submodel_completeness(pairs: FormulaPairs, *, models: SetRule = "max") -> Values:
    """Compute the complexity of the estimate relative to the truth's if it is a submodel, else 0.

    The completeness criterion in use before `completeness`: it covers only correct models and direct causes. 0 by
    default for an output without models.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.submodel_completeness("A*b+c*D<->E", "A+D<->E"), ce.submodel_completeness("A*b+c*D<->E", "B+D<->E")
    (0.5, 0.0)
    """

    def share(position: int, model: Model) -> float:
        truth = pairs.true_model(position)
        return model.complexity / truth.complexity if submodel_of(model, truth) else 0.0

    return _combined(pairs, share, "submodel_completeness", models, 0.0)
