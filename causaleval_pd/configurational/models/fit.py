"""How well a model fits data: consistency and coverage.

References
----------
.. [1] Ragin, C. C. (2006). Set relations in social research: Evaluating their consistency and coverage. Political
   Analysis 14. doi:10.1093/pan/mpj019
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..formulas.configurations import memberships
from ..formulas.formula import Model, literal_text
from ..formulas.reader import as_model

__all__ = ["fit_by_atom"]


def consistency_and_coverage(model: Model, data: pd.DataFrame) -> NDArray[np.float64]:
    """Compute the consistency and the coverage of each atom, (2, atoms); NaN for 0/0."""
    left, outcome = memberships(model, data)
    both = np.minimum(left, outcome).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.stack([both / left.sum(axis=1), both / outcome.sum(axis=1)])


def fit_by_atom(model: Model | str, data: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the consistency and the coverage of each atom.

    With P the membership of a case in the left-hand side and Y in the outcome, consistency is sum min(P, Y) / sum P and
    coverage sum min(P, Y) / sum Y [1]_. A model with several atoms has the smallest values of its atoms.

    Parameters
    ----------
    model : Model or str
        The model.
    data : DataFrame
        Cases in rows, a column a factor: crisp, multi-value or fuzzy.

    Returns
    -------
    DataFrame
        A row an atom: `atom`, `outcome`, `consistency`, `coverage`, `complexity`.

    Raises
    ------
    ValueError
        If a factor has no column, or a value is not valid.

    References
    ----------
    .. [1] Ragin, C. C. (2006). Political Analysis 14. doi:10.1093/pan/mpj019

    Examples
    --------
    >>> import pandas as pd
    >>> data = pd.DataFrame({"A": [1, 1, 1, 0, 0], "B": [1, 1, 0, 1, 0]})
    >>> fit_by_atom("A<->B", data)[["atom", "consistency", "coverage"]].round(3)
        atom  consistency  coverage
    0  A<->B        0.667     0.667
    """
    model = as_model(model)
    consistency, coverage = consistency_and_coverage(model, data)
    return pd.DataFrame(
        {
            "atom": [atom.text(multi_value=model.multi_value) for atom in model.atoms],
            "outcome": [literal_text(atom.outcome, multi_value=model.multi_value) for atom in model.atoms],
            "consistency": consistency,
            "coverage": coverage,
            "complexity": [atom.complexity for atom in model.atoms],
        }
    )
