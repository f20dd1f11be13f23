"""Metrics of quality: correctness, completeness and their harmonic mean, over all or single components [1]_.

References
----------
.. [1] Baumgartner, M. & Falk, C. (2024). Quantifying the quality of configurational causal models. Journal of Causal
   Inference 12. doi:10.1515/jci-2023-0032
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_number
from ...contract.metric import metric
from ...contract.options import with_options
from ..models.exposition import COMPONENTS
from ..models.quality import Convention
from ..pairs import FormulaPairs
from .sets import SetRule, combine

Values = NDArray[np.float64]

QUALITY: dict[str, Any] = {
    "field": "formula",
    "kinds": ("acyclic",),
    "direction": "maximize",
    "range": (0, 1),
    "optimum": 1,
    "reference": "10.1515/jci-2023-0032",
}
OPTIONS = {
    "pairs": """pairs : pairs of field 'formula', or a cell
    Aligned pairs; or the true cell, followed by the estimated one.""",
    "beta": """beta : float
    How many times more completeness weighs than correctness.""",
    "models": """models : {"max", "mean", "any", "all"}
    What becomes of the scores of several models in one cell: the best (a method is right if one of its models is),
    their mean, or whether some, or all, are 1.""",
    "convention": """convention : {"published", "paper"} or Convention
    The numbers of the paper's tables, or what its text says.""",
    "zero_division": """zero_division : float
    What 0/0 is; default NaN.""",
}
CORRECTNESS, COMPLETENESS = 0, 1


def share(counts: NDArray[np.float64], component: str | None, zero_division: float) -> float:
    """Divide shared by own complexity, of one component or of all together."""
    part = slice(None) if component is None else COMPONENTS.index(component)
    shared, own = float(counts[0, part].sum()), float(counts[1, part].sum())
    return shared / own if own else zero_division


def score(
    pairs: FormulaPairs,
    side: int,
    component: str | None,
    models: SetRule,
    convention: str | Convention,
    zero_division: float,
) -> Values:
    """Score every pair: what it returned nothing for is not incorrect, but incomplete."""
    empty = math.nan if side == CORRECTNESS else 0.0
    values = [
        combine([share(one[side], component, zero_division) for one in counts], models, optimum=1, empty=empty)
        for counts in pairs.quality(Convention.of(convention))
    ]
    return pairs.spread(values)


def f_score(
    pairs: FormulaPairs,
    beta: float,
    component: str | None,
    models: SetRule,
    convention: str | Convention,
    zero_division: float,
) -> Values:
    """Combine correctness and completeness of every model; what returned nothing has 0, for it is incomplete."""
    check_number(beta, "beta", "[0, inf)")
    values = []
    for counts in pairs.quality(Convention.of(convention)):
        scores = []
        for one in counts:
            p, r = (share(side, component, zero_division) for side in one)
            scores.append((1 + beta**2) * p * r / (beta**2 * p + r) if p or r else 0.0)
        values.append(combine(scores, models, optimum=1, empty=0.0))
    return pairs.spread(values)


@metric(**QUALITY, long_name="correctness")
@with_options(OPTIONS)
def correctness(
    pairs: FormulaPairs,
    *,
    models: SetRule = "max",
    convention: str | Convention = "published",
    zero_division: float = math.nan,
) -> Values:
    """Compute the share of what the estimate says that the truth says too.

    Shared over own complexity of the estimate's causal exposition, summed over outcomes and over literals,
    conjunctions, disjunctions and paths. An output without models has none (NaN); so has a model with a constant
    outcome.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.correctness("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)")
    0.75
    """
    return score(pairs, CORRECTNESS, None, models, convention, zero_division)


@metric(**QUALITY, long_name="completeness")
@with_options(OPTIONS)
def completeness(
    pairs: FormulaPairs,
    *,
    models: SetRule = "max",
    convention: str | Convention = "published",
    zero_division: float = math.nan,
) -> Values:
    """Compute the share of what the truth says that the estimate says too.

    Shared over own complexity of the truth's causal exposition, summed over outcomes and over literals,
    conjunctions, disjunctions and paths. An output without models has 0.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> round(ce.completeness("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)"), 3)
    0.49
    """
    return score(pairs, COMPLETENESS, None, models, convention, zero_division)


@metric(**QUALITY, long_name="F-beta of correctness and completeness")
@with_options(OPTIONS)
def f_beta(
    pairs: FormulaPairs,
    *,
    beta: float = 1.0,
    models: SetRule = "max",
    convention: str | Convention = "published",
    zero_division: float = math.nan,
) -> Values:
    """Compute the weighted harmonic mean of correctness and completeness.

    (1 + b^2) P R / (b^2 P + R) of correctness P and completeness R, 0 where both are 0, and 0 for an output without
    models.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth, model = "(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)"
    >>> round(ce.f_beta(truth, model), 3), round(ce.f_beta(truth, model, beta=0.5), 3)
    (0.593, 0.678)
    """
    return f_score(pairs, beta, None, models, convention, zero_division)
