"""Re-analysis: how far a method's models depend on its thresholds.

References
----------
.. [1] Parkkinen, V.-P., Baumgartner, M. (2023). Robustness and model selection in configurational causal modeling.
   Sociological Methods & Research 52. doi:10.1177/0049124120986200
.. [2] Oana, I.-E., Schneider, C. Q. (2024). A robustness test protocol for applied QCA: theory and R software
   application. Sociological Methods & Research 53. doi:10.1177/00491241211036158
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_number, check_type, check_whole, shown
from ..formulas.configurations import factor_columns, memberships
from ..formulas.formula import Model, set_text
from ..formulas.measures import of_memberships
from ..formulas.reader import Cell, as_literal, as_model, as_models
from ..formulas.truth_table import data_values
from .frscore import fit_robustness

__all__ = ["Reanalysis", "reanalyse", "robust_fit", "sensitivity_ranges"]

#: `method(data, consistency, coverage)` returns a model, several, or their text
Method = Callable[[pd.DataFrame, float, float], Any]
DEFAULT_THRESHOLDS = (1.0, 0.9, 0.8, 0.7)
_RELATIONS = ("submodel", "causal_submodel")


@dataclass(frozen=True)
class Reanalysis:
    """Results of `reanalyse`.

    Attributes
    ----------
    runs : DataFrame
        One row a pair of thresholds: consistency, coverage, estimate (a set of models as text), n_models.
    models : DataFrame
        One row a different model, best first: model, tokens (runs that returned it), complexity, consistency and
        coverage in the data, and the fit-robustness scores by both relations: score_submodel, normalised_submodel,
        score_causal_submodel, normalised_causal_submodel.

    Examples
    --------
    >>> from causaleval_pd.configurational import ideal_data, reanalyse
    >>> found = reanalyse(ideal_data("A<->B"), lambda *_: "A<->B", consistency=[1], coverage=[1, 0.9])
    >>> found.runs["estimate"].tolist(), found.models["tokens"].tolist()
    (['A<->B', 'A<->B'], [2])
    """

    runs: pd.DataFrame
    models: pd.DataFrame


def reanalyse(
    data: pd.DataFrame,
    method: Method,
    *,
    consistency: Iterable[float] = DEFAULT_THRESHOLDS,
    coverage: Iterable[float] = DEFAULT_THRESHOLDS,
) -> Reanalysis:
    """Run a method on data at every pair of thresholds, and score how far its models agree.

    A model's fit-robustness counts the models of all runs that are its submodels, or of which it is a submodel
    (`fit_robustness`). The relation matters: `submodel` compares formulas as they are written, `causal_submodel` the
    direct and indirect causes that they ascribe.

    Parameters
    ----------
    data : DataFrame
        Cases in rows, a column a factor.
    method : callable
        `method(data, consistency, coverage)` returns a model, several models, or their text; `"{}"` for none.
    consistency, coverage : iterable of float
        Thresholds in [0, 1]; all pairs are run.

    Returns
    -------
    Reanalysis
        The runs, and the different models with their scores. The scores by `causal_submodel` are missing where a model
        is cyclic, or there are more than 200 models.

    Raises
    ------
    ValueError
        If a threshold lies outside [0, 1], or none is given.
    TypeError
        If the method returns something else than models.

    References
    ----------
    .. [1] Parkkinen, V.-P., Baumgartner, M. (2023). doi:10.1177/0049124120986200

    Examples
    --------
    >>> from causaleval_pd.configurational import ideal_data, reanalyse
    >>> def method(data, consistency, coverage):
    ...     return "A+B<->C" if coverage > 0.8 else ["A<->C", "B<->C"]
    >>> found = reanalyse(ideal_data("A+B<->C"), method, consistency=[1, 0.9], coverage=[1, 0.6])
    >>> found.models[["model", "tokens", "score_submodel", "normalised_causal_submodel"]]
         model  tokens  score_submodel  normalised_causal_submodel
    0  A+B<->C       2               6                    1.000000
    1    A<->C       2               4                    0.666667
    2    B<->C       2               4                    0.666667
    """
    check_type(data, pd.DataFrame, "a DataFrame with a row a case and a column a factor", "data")
    _check_method(method)
    grid = list(itertools.product(_thresholds(consistency, "consistency"), _thresholds(coverage, "coverage")))
    outputs = [_run(method, data, *pair) for pair in grid]
    runs = pd.DataFrame(grid, columns=["consistency", "coverage"])
    runs["estimate"] = pd.Series([set_text(found) for found in outputs], dtype="str")
    runs["n_models"] = [len(found) for found in outputs]
    return Reanalysis(runs, _scored([model for found in outputs for model in found], data))


def _check_method(method: Any) -> None:
    """Refuse what cannot be called with data, consistency and coverage."""
    takes = callable(method)
    if takes:
        with suppress(ValueError):  # a function of compiled code has no signature
            try:
                inspect.signature(method).bind(None, 1.0, 1.0)
            except TypeError:
                takes = False
    if not takes:
        raise TypeError(f"method must be a function of data, consistency and coverage, found {shown(method)}")


def _thresholds(given: Iterable[float], name: str) -> list[float]:
    check_type(given, Iterable, "a list of thresholds, as [1, 0.9, 0.8]", name)
    values = [float(check_number(value, name, "[0, 1]")) for value in given]
    if not values:
        raise ValueError(f"{name} names no threshold; give at least one, as [1, 0.9, 0.8]")
    return values


def _run(method: Method, data: pd.DataFrame, consistency: float, coverage: float) -> Cell:
    """Run a method on a copy of the data, so that it cannot change them."""
    returned = method(data.copy(), consistency, coverage)
    try:
        return as_models(returned)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        where = f"what the method returned at consistency {consistency} and coverage {coverage}"
        raise kind(f"{where}: {error}") from None


def _scored(models: Sequence[Model], data: pd.DataFrame) -> pd.DataFrame:
    """Score the models of a series by both relations, and add their fit."""
    columns = ["model", "tokens", "complexity", "consistency", "coverage"]
    scores = [f"{part}_{relation}" for relation in _RELATIONS for part in ("score", "normalised")]
    if not models:
        return pd.DataFrame(columns=[*columns, *scores])
    domains = data_values(data, sorted({name for model in models for name in model.factors}))
    table = fit_robustness(models, relation="submodel", domains=domains)
    table = table.rename(columns={"score": scores[0], "normalised": scores[1]}).set_index("model", drop=False)
    try:
        causal = fit_robustness(models, relation="causal_submodel", domains=domains).set_index("model")
    except ValueError:
        # a cyclic model has no indirect causes, and too many models take too long
        table[scores[2]], table[scores[3]] = pd.array([pd.NA] * len(table), dtype="Int64"), np.nan
    else:
        table[scores[2]], table[scores[3]] = causal["score"].astype("Int64"), causal["normalised"]
    fit = [of_memberships(*memberships(as_model(text), data)).min(axis=0)[:2] for text in table["model"]]
    table[["consistency", "coverage"]] = np.array(fit)
    return table[[*columns, *scores]].reset_index(drop=True)


def robust_fit(
    initial: Model | str, tests: Iterable[Model | str], data: pd.DataFrame, *, outcome: str | None = None
) -> pd.Series:
    """Compare a model with those of test runs by their cases: robust core and robustness parameters.

    The robust core is what the initial model and all test models cover together: the least membership of a case in
    their left-hand sides.

    Parameters
    ----------
    initial : Model or str
        The model to be tested.
    tests : iterable of Model or str
        Models found with other settings, each with an atom for the outcome.
    data : DataFrame
        Cases in rows, a column a factor: crisp, multi-value or fuzzy.
    outcome : str, optional
        Outcome literal whose atoms are compared, as `"E"`; needed where the initial model has several.

    Returns
    -------
    Series
        core_consistency, core_coverage; robust_consistency: consistency of the initial model divided by that of the
        core; robust_coverage: coverage of the core divided by that of the initial model; coincidence_min and
        coincidence_max: sum of least, divided by sum of largest memberships of the initial model and the intersection,
        or the union, of the test models. All are 1 if the test models cover the same cases, and 0/0 is NaN.

    Raises
    ------
    ValueError
        If `tests` is empty, a model lacks the outcome, or a factor has no column.

    Notes
    -----
    The function `rob.fit` of the R package SetMethods 4.0 computes the coincidences from the first and the last of
    several test models only.

    References
    ----------
    .. [1] Oana, I.-E., Schneider, C. Q. (2024). doi:10.1177/00491241211036158

    Examples
    --------
    >>> import pandas as pd
    >>> data = pd.DataFrame({"A": [1, 1, 0, 0], "B": [0, 1, 1, 0], "C": [1, 1, 1, 0]})
    >>> robust_fit("A+B<->C", ["A<->C", "A+B<->C"], data).round(2).to_dict()  # doctest: +NORMALIZE_WHITESPACE
    {'core_consistency': 1.0, 'core_coverage': 0.67, 'robust_consistency': 1.0, 'robust_coverage': 0.67,
     'coincidence_min': 0.67, 'coincidence_max': 1.0}
    """
    first = as_model(initial)
    if outcome is None:
        if len(first.atoms) > 1:
            names = [str(atom).split("->")[-1] for atom in first.atoms]
            raise ValueError(f"{first} has the outcomes {names}; name one by outcome=")
        literal = first.atoms[0].outcome
    else:
        literal = as_literal(outcome)
    check_type(tests, Iterable, "a list of models", "tests")
    others = [as_model(model) for model in tests]
    if not others:
        raise ValueError("found no test model; run the method with other settings, and pass what it returns")
    own, y = _left_side(first, literal, data)
    tested = np.stack([_left_side(model, literal, data)[0] for model in others])
    core = np.minimum(own, tested.min(axis=0))
    fit, core_fit = (of_memberships(x, y)[:2] for x in (own, core))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = {
            "core_consistency": core_fit[0],
            "core_coverage": core_fit[1],
            "robust_consistency": fit[0] / core_fit[0],
            "robust_coverage": core_fit[1] / fit[1],
            "coincidence_min": _coincidence(own, tested.min(axis=0)),
            "coincidence_max": _coincidence(own, tested.max(axis=0)),
        }
    return pd.Series(found, name=str(first))


def _left_side(
    model: Model, outcome: tuple[str, int], data: pd.DataFrame
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the memberships of cases in the left-hand side of an outcome, and in the outcome."""
    if outcome not in model.by_outcome:
        raise ValueError(f"{model} has no atom for the outcome {outcome[0]}={outcome[1]}")
    left, right = memberships(Model((model.by_outcome[outcome],)), data)
    return left[0], right[0]


def _coincidence(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    return float(np.minimum(x, y).sum() / np.float64(np.maximum(x, y).sum()))


def sensitivity_ranges(
    data: pd.DataFrame,
    method: Method,
    *,
    consistency: float,
    coverage: float,
    step: float = 0.01,
    max_steps: int = 100,
) -> pd.DataFrame:
    """Find how far each threshold can be moved, the other fixed, until a method returns other models.

    Parameters
    ----------
    data : DataFrame
        Cases in rows, a column a factor.
    method : callable
        `method(data, consistency, coverage)` returns a model, several models, or their text.
    consistency, coverage : float
        The thresholds of the analysis.
    step : float
        By how much a threshold is moved at a time.
    max_steps : int
        Steps in each direction after which the search ends.

    Returns
    -------
    DataFrame
        A row a threshold: threshold, value, lower and upper (the outermost values tried that gave the same models),
        below and above (what the method returned one step further; missing at 0, at 1 and after `max_steps`).

    Raises
    ------
    ValueError
        If a threshold or step is invalid.

    References
    ----------
    .. [1] Oana, I.-E., Schneider, C. Q. (2024). doi:10.1177/00491241211036158

    Examples
    --------
    >>> from causaleval_pd.configurational import ideal_data, sensitivity_ranges
    >>> def method(data, consistency, coverage):
    ...     return "A+B<->C" if coverage > 0.8 else "A<->C"
    >>> found = sensitivity_ranges(ideal_data("A+B<->C"), method, consistency=1, coverage=0.9, step=0.05)
    >>> found[["threshold", "lower", "upper", "below"]]
         threshold  lower  upper  below
    0  consistency   0.00    1.0    NaN
    1     coverage   0.85    1.0  A<->C
    """
    values = {
        "consistency": float(check_number(consistency, "consistency", "[0, 1]")),
        "coverage": float(check_number(coverage, "coverage", "[0, 1]")),
    }
    check_number(step, "step", "(0, 1]")
    check_whole(max_steps, "max_steps", 1)
    _check_method(method)
    factor_columns(data, [])
    initial = _run(method, data, *values.values())
    rows = []
    for name, value in values.items():
        ends: list[tuple[float, str | None]] = []
        for direction in (-1, 1):
            last, other = value, None
            for number in range(1, max_steps + 1):
                moved = round(value + direction * number * step, 12)
                if not 0 <= moved <= 1:
                    break
                found = _run(method, data, *{**values, name: moved}.values())
                if found != initial:
                    other = set_text(found)
                    break
                last = moved
            ends.append((last, other))
        rows.append((name, value, ends[0][0], ends[1][0], ends[0][1], ends[1][1]))
    return pd.DataFrame(rows, columns=["threshold", "value", "lower", "upper", "below", "above"])
