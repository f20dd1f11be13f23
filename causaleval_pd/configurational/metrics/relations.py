"""Metrics of a model as a whole: submodel relations and NCR [1]_, and fit to the data of the context [2]_.

References
----------
.. [1] Baumgartner, M. & Falk, C. (2024). Quantifying the quality of configurational causal models. Journal of Causal
   Inference 12. doi:10.1515/jci-2023-0032
.. [2] Ragin, C. C. (2006). Set relations in social research: Evaluating their consistency and coverage. Political
   Analysis 14. doi:10.1093/pan/mpj019
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
from ..formulas.configurations import consistency_and_coverage
from ..formulas.formula import Model
from ..models.submodel import atom_submodels, submodel_of
from ..pairs import KINDS, FormulaPairs
from .quality import MODELS, SetRule, combine

__all__ = ["fit_consistency", "fit_coverage", "is_submodel", "lcr", "ncr", "submodel_completeness"]

Values = NDArray[np.float64]
YesNoRule = OneOf["any", "all"]

_WHOLE: dict[str, Any] = {"field": "formula", "kinds": KINDS, "direction": "maximize", "range": (0, 1), "optimum": 1}
_RELATION: dict[str, Any] = {**_WHOLE, "reference": "10.1515/jci-2023-0032"}
_FIT: dict[str, Any] = {**_WHOLE, "reference": "10.1093/pan/mpj019"}
_YES_NO_MODELS = {
    "models": """models : {"any", "all"}
    Whether some or all of several models in one cell must fulfil it.""",
}


def _combined(
    pairs: FormulaPairs, compute: Callable[[int, Model], float], key: Any, models: SetRule, empty: float
) -> Values:
    """Combine the scores `compute(position, model)` of the models in each cell, `empty` for none; `key` stores them."""
    scores = pairs.by_model(compute, key)
    return pairs.spread([combine(one, models, optimum=1, empty=empty) for one in scores])


def _is_submodel(pairs: FormulaPairs, models: SetRule, empty: float) -> Values:
    def judge(position: int, model: Model) -> float:
        return float(submodel_of(model, pairs.true_model(position)))

    return _combined(pairs, judge, "submodel_of", models, empty)


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

    return _combined(pairs, share, "submodel_completeness", models, 0.0)


def _fit(pairs: FormulaPairs, measure: int, models: SetRule) -> Values:
    """Score the estimates of every pair on the data of its context: 0 is consistency, 1 coverage."""

    def fit(position: int, model: Model) -> Values:
        data = pairs.setting(position).data
        if data is None:
            name = ("fit_consistency", "fit_coverage")[measure]
            raise ValueError(f"{name} needs the data of the estimates: pass context={{'data': frame}}")
        return np.asarray(consistency_and_coverage(model, data).min(axis=1))

    found = pairs.by_model(fit, "fit")
    return pairs.spread([combine([one[measure] for one in cell], models, optimum=1, empty=math.nan) for cell in found])


@metric(**_FIT, long_name="consistency in the data")
@with_options(MODELS)
def fit_consistency(pairs: FormulaPairs, *, models: SetRule = "max") -> Values:
    """Compute the consistency of the estimate in the data: how far its left-hand sides suffice for their outcomes.

    The smallest consistency of an atom, from `context={"data": frame}`. The truth plays no part. NaN for an output
    without models.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"truth": ["A+B<->C"], "estimate": ["A<->C"]})
    >>> data = pd.DataFrame({"A": [1, 1, 0, 0], "B": [1, 0, 1, 0], "C": [1, 0, 1, 0]})
    >>> ce.evaluate(runs, ["fit_consistency", "fit_coverage"], context={"data": data})["fit_consistency"].tolist()
    [0.5]
    """
    return _fit(pairs, 0, models)


@metric(**_FIT, long_name="coverage in the data")
@with_options(MODELS)
def fit_coverage(pairs: FormulaPairs, *, models: SetRule = "max") -> Values:
    """Compute the coverage of the estimate in the data: how far its left-hand sides are necessary for their outcomes.

    The smallest coverage of an atom, from `context={"data": frame}`. The truth plays no part. NaN for an output
    without models.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"truth": ["A+B<->C"], "estimate": ["A*B<->C"]})
    >>> data = pd.DataFrame({"A": [1, 1, 0, 0], "B": [1, 0, 1, 0], "C": [1, 1, 1, 0]})
    >>> ce.evaluate(runs, ["fit_coverage"], context={"data": data})["fit_coverage"].round(3).tolist()
    [0.333]
    """
    return _fit(pairs, 1, models)
