"""Metrics of fit: the consistency and coverage of estimated models in the data of their context."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.metric import metric
from ...contract.options import with_options
from ..formulas.configurations import memberships
from ..formulas.formula import Model
from ..formulas.measures import MEASURES, of_memberships, read_measure
from ..pairs import KINDS, FormulaPairs
from .quality import MODELS, SetRule, combine

__all__ = ["fit_consistency", "fit_coverage"]

_FIT: dict[str, Any] = {
    "field": "formula",
    "kinds": KINDS,
    "direction": "maximize",
    "range": (0, 1),
    "optimum": 1,
    "reference": "10.1515/jci-2023-0014",
}


def _score(pairs: FormulaPairs, measure: str, models: SetRule, family: str) -> NDArray[np.float64]:
    """Score the estimates of every pair on the data of its context by a measure of the family."""
    measure = read_measure(measure, family)

    def measures(position: int, model: Model) -> NDArray[np.float64]:
        data = pairs.setting(position).data
        if data is None:
            raise ValueError(f"fit_{family} needs the data of the estimates: pass context={{'data': frame}}")
        return np.asarray(of_memberships(*memberships(model, data)).min(axis=0))

    found = pairs.by_model(measures, "fit")
    place = MEASURES.index(measure)
    return pairs.spread([combine([one[place] for one in cell], models, optimum=1, empty=math.nan) for cell in found])


@metric(**_FIT, long_name="consistency in the data")
@with_options(MODELS)
def fit_consistency(
    pairs: FormulaPairs, *, measure: str = "consistency", models: SetRule = "max"
) -> NDArray[np.float64]:
    """Compute the consistency of the estimate in the data: how far its left-hand sides suffice for their outcomes.

    The smallest consistency of an atom, from `context={"data": frame}`. The truth plays no part. NaN for an output
    without models.

    Parameters
    ----------
    measure : str
        One of the four forms of consistency, by its full or short name: "consistency" ("con"),
        "contrapositive_consistency" ("Ccon"), "prevalence_adjusted_consistency" ("PAcon"),
        "antecedent_adjusted_contrapositive_consistency" ("AACcon").

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"truth": ["A+B<->C"], "estimate": ["A<->C"]})
    >>> data = pd.DataFrame({"A": [1, 1, 0, 0], "B": [1, 0, 1, 0], "C": [1, 0, 1, 0]})
    >>> ce.evaluate(runs, ["fit_consistency", "fit_coverage"], context={"data": data})["fit_consistency"].tolist()
    [0.5]
    """
    return _score(pairs, measure, models, "consistency")


@metric(**_FIT, long_name="coverage in the data")
@with_options(MODELS)
def fit_coverage(pairs: FormulaPairs, *, measure: str = "coverage", models: SetRule = "max") -> NDArray[np.float64]:
    """Compute the coverage of the estimate in the data: how far its left-hand sides are necessary for their outcomes.

    The smallest coverage of an atom, from `context={"data": frame}`. The truth plays no part. NaN for an output
    without models.

    Parameters
    ----------
    measure : str
        One of the four forms of coverage, by its full or short name: "coverage" ("cov"), "contrapositive_coverage"
        ("Ccov"), "antecedent_adjusted_coverage" ("AAcov"), "prevalence_adjusted_contrapositive_coverage" ("PACcov").

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"truth": ["A+B<->C"], "estimate": ["A*B<->C"]})
    >>> data = pd.DataFrame({"A": [1, 1, 0, 0], "B": [1, 0, 1, 0], "C": [1, 1, 1, 0]})
    >>> ce.evaluate(runs, ["fit_coverage"], context={"data": data})["fit_coverage"].round(3).tolist()
    [0.333]
    """
    return _score(pairs, measure, models, "coverage")
