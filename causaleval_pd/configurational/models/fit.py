"""How well a model fits data: consistency and coverage in eight forms, coherence, exhaustiveness, faithfulness.

References
----------
.. [1] Ragin, C. C. (2006). Set relations in social research: Evaluating their consistency and coverage. Political
   Analysis 14. doi:10.1093/pan/mpj019
.. [2] De Souter, L. (2024). Evaluating Boolean relationships in Configurational Comparative Methods. Journal of
   Causal Inference 12. doi:10.1515/jci-2023-0014
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..formulas.configurations import allows, configurations, factor_columns, memberships
from ..formulas.formula import Model, literal_text
from ..formulas.measures import MEASURES, of_memberships
from ..formulas.reader import as_model
from ..formulas.truth_table import data_values
from .optima import best_beside

__all__ = ["coherence", "exhaustiveness", "faithfulness", "fit_by_atom", "fit_measures"]


def fit_by_atom(model: Model | str, data: pd.DataFrame, *, optima: bool = False) -> pd.DataFrame:
    """Tabulate the eight consistency and coverage measures of each atom.

    With P the membership in the left-hand side, Y in the outcome and M = sum min(P, 1-P, Y, 1-Y): a = sum min(P, Y),
    b = sum min(P, 1-Y) - M, c = sum min(1-P, Y) - M, d = sum min(1-P, 1-Y). Consistency is a / (a + b), coverage
    a / (a + c), their contrapositives d / (d + b) and d / (d + c) [2]_; the adjusted forms weigh b or c by the odds of
    the outcome (prevalence) or of the left-hand side (antecedent).

    Parameters
    ----------
    model : Model or str
        The model.
    data : DataFrame
        Cases in rows, a column a factor: crisp, multi-value or fuzzy.
    optima : bool
        Whether to add what is possible in the data (`con_cov_optima`), which must not be fuzzy.

    Returns
    -------
    DataFrame
        A row an atom: `atom`, `outcome`, the measures in `MEASURES`, `complexity`; with `optima` also
        `best_consistency`, the largest that a left-hand side with at least this coverage reaches, and `best_coverage`,
        the largest with at least this consistency.

    Raises
    ------
    ValueError
        If a factor has no column, or a value is not valid.

    References
    ----------
    .. [1] Ragin, C. C. (2006). Political Analysis 14. doi:10.1093/pan/mpj019
    .. [2] De Souter, L. (2024). Journal of Causal Inference 12. doi:10.1515/jci-2023-0014

    Examples
    --------
    >>> import pandas as pd
    >>> data = pd.DataFrame({"A": [1, 1, 1, 0, 0], "B": [1, 1, 0, 1, 0]})
    >>> fit_by_atom("A<->B", data)[["atom", "consistency", "coverage"]].round(3)
        atom  consistency  coverage
    0  A<->B        0.667     0.667
    """
    model = as_model(model)
    table = pd.DataFrame(of_memberships(*memberships(model, data)), columns=pd.Index(MEASURES))
    table.insert(0, "atom", [atom.text(multi_value=model.multi_value) for atom in model.atoms])
    outcomes = [literal_text(atom.outcome, multi_value=model.multi_value) for atom in model.atoms]
    table.insert(1, "outcome", outcomes)
    table["complexity"] = [atom.complexity for atom in model.atoms]
    if optima:
        fit = zip(model.outcomes, table["consistency"], table["coverage"], strict=True)
        best = np.array([best_beside(data, outcome, con, cov) for outcome, con, cov in fit])
        table["best_consistency"], table["best_coverage"] = best.T
    return table


def fit_measures(model: Model | str, data: pd.DataFrame) -> pd.Series:
    """Compute every measure of a model's fit to data; a complex model is as good as its worst atom.

    Parameters
    ----------
    model : Model or str
        The model.
    data : DataFrame
        Cases in rows, a column a factor: crisp, multi-value or fuzzy.

    Returns
    -------
    Series
        The measures in `MEASURES` (minimum over the atoms), coherence, exhaustiveness, faithfulness.

    Raises
    ------
    ValueError
        If a factor has no column, or a value is not valid.

    References
    ----------
    .. [1] Ragin, C. C. (2006). Political Analysis 14. doi:10.1093/pan/mpj019
    .. [2] De Souter, L. (2024). Journal of Causal Inference 12. doi:10.1515/jci-2023-0014

    Examples
    --------
    >>> import pandas as pd
    >>> data = pd.DataFrame({"A": [1, 1, 1, 0, 0], "B": [1, 1, 0, 1, 0]})
    >>> fit_measures("A<->B", data)[["consistency", "contrapositive_consistency", "faithfulness"]].round(3).to_dict()
    {'consistency': 0.667, 'contrapositive_consistency': 0.5, 'faithfulness': 0.5}
    """
    model = as_model(model)
    result = dict(zip(MEASURES, of_memberships(*memberships(model, data)).min(axis=0), strict=True))
    result |= {
        "coherence": coherence(model, data),
        "exhaustiveness": exhaustiveness(model, data),
        "faithfulness": faithfulness(model, data),
    }
    return pd.Series(result, name=str(model))


def coherence(model: Model | str, data: pd.DataFrame) -> float:
    """Compute how far the atoms of a complex model hold in the same cases.

    Of the atoms that share factors, the sum over cases of the worst fit `1 - |P - Y|` of an atom divided by the sum of
    the best; the minimum over groups of atoms that share no factor. 1 for a single atom.

    Parameters
    ----------
    model : Model or str
        The model.
    data : DataFrame
        Cases in rows, a column a factor: crisp, multi-value or fuzzy.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If a factor has no column, or a value is not valid.

    Examples
    --------
    >>> import pandas as pd
    >>> data = pd.DataFrame({"A": [1, 1, 0, 0], "B": [1, 1, 0, 0], "C": [1, 0, 0, 0]})
    >>> coherence("(A<->B)*(B<->C)", data)
    0.75
    """
    model = as_model(model)
    left, outcome = memberships(model, data)
    holds = 1 - np.abs(left - outcome)
    found = 1.0
    for group in _groups(model):
        if len(group) > 1:
            best = holds[group].max(axis=0).sum()
            found = min(found, float(holds[group].min(axis=0).sum() / best)) if best else np.nan
    return found


def _groups(model: Model) -> list[list[int]]:
    """Group atoms that share factors, directly or through others."""
    groups: list[tuple[set[str], list[int]]] = []
    for position, atom in enumerate(model.atoms):
        factors, members = {name for name, _ in (*atom.literals, atom.outcome)}, [position]
        apart = []
        for other, those in groups:
            if other & factors:
                factors, members = factors | other, members + those
            else:
                apart.append((other, those))
        groups = [*apart, (factors, members)]
    return [sorted(members) for _, members in groups]


def exhaustiveness(model: Model | str, data: pd.DataFrame) -> float:
    """Compute the share of the configurations compatible with a model that the data contain.

    Parameters
    ----------
    model : Model or str
        The model.
    data : DataFrame
        Cases in rows, a column a factor; fuzzy memberships are rounded, multi-value factors take the values observed.

    Returns
    -------
    float
        In [0, 1]; NaN if the model allows nothing.

    Raises
    ------
    ValueError
        If a factor has no column, a value is not valid, or the model's factors have more than 2**20 configurations.

    Examples
    --------
    >>> import pandas as pd
    >>> exhaustiveness("A+B<->C", pd.DataFrame({"A": [1, 0, 0], "B": [1, 0, 0], "C": [1, 0, 1]}))
    0.5
    """
    model = as_model(model)
    observed = _observed(model, data)
    possible = int(allows(model, configurations(data_values(data, model.factors)), model.factors).sum())
    return float(allows(model, observed, model.factors).sum() / possible) if possible else float("nan")


def faithfulness(model: Model | str, data: pd.DataFrame) -> float:
    """Compute the share of the configurations in the data that are compatible with a model.

    Parameters
    ----------
    model : Model or str
        The model.
    data : DataFrame
        Cases in rows, a column a factor; fuzzy memberships are rounded.

    Returns
    -------
    float
        In [0, 1]; NaN without cases.

    Raises
    ------
    ValueError
        If a factor has no column, or a value is not valid.

    Examples
    --------
    >>> import pandas as pd
    >>> faithfulness("A+B<->C", pd.DataFrame({"A": [1, 0, 0], "B": [1, 0, 0], "C": [1, 0, 1]})).__round__(3)
    0.667
    """
    model = as_model(model)
    observed = _observed(model, data)
    return float(allows(model, observed, model.factors).mean()) if len(observed) else float("nan")


def _observed(model: Model, data: pd.DataFrame) -> NDArray[np.int8]:
    """Return the distinct configurations of a model's factors in data."""
    columns = factor_columns(data, model.factors)
    rounded = np.stack([np.rint(columns[factor]) for factor in model.factors], axis=1)
    return np.unique(rounded.astype(np.int8), axis=0)
