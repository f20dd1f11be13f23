"""Fit-robustness: how far the models of a re-analysis series agree with one another.

References
----------
.. [1] Parkkinen, V.-P., Baumgartner, M. (2023). Robustness and model selection in configurational causal modeling.
   Sociological Methods & Research 52. doi:10.1177/0049124120986200
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal as OneOf

import numpy as np
import pandas as pd

from ...contract.checks import check_known, check_type
from ..formulas.formula import Model
from ..formulas.reader import as_model
from ..formulas.truth_table import Setting
from ..formulas.vocabulary import Domains, FormulaTooLargeError
from .submodel import causal_submodel_of, submodel_of

__all__ = ["fit_robustness"]

#: different models beyond which comparing all pairs would take minutes
MAX_TYPES = {"submodel": 2_000, "causal_submodel": 200}


def fit_robustness(
    models: Iterable[Model | str],
    *,
    relation: OneOf["submodel", "causal_submodel"] = "submodel",
    normalise: OneOf["truemax", "idealmax"] = "truemax",
    domains: Domains | None = None,
) -> pd.DataFrame:
    """Score the models of a re-analysis series by their agreement with the others of the series.

    Equal models are tokens of one type. A type's score is 2 (tokens - 1), plus the tokens of the types that are its
    proper submodels, plus the tokens of those it is a proper submodel of.

    Parameters
    ----------
    models : iterable of Model or str
        Every model returned, as often as it was returned.
    relation : {"submodel", "causal_submodel"}
        What makes one model agree with another.
    normalise : {"truemax", "idealmax"}
        Divide by the largest score found; or by the largest score possible with these numbers of models of each
        complexity (models of equal complexity are equal, less complex ones submodels of more complex ones).
    domains : mapping, optional
        Values of multi-value factors, for `causal_submodel`.

    Returns
    -------
    DataFrame
        A row a type, best first: `model`, `tokens`, `complexity`, `score`, `normalised` (NaN if no model agrees with
        another).

    Raises
    ------
    FormulaTooLargeError
        If there are more than 2000 types, or 200 for `causal_submodel`.
    ValueError
        If `models` is empty, or for `causal_submodel` one is cyclic.

    References
    ----------
    .. [1] Parkkinen, V.-P., Baumgartner, M. (2023). doi:10.1177/0049124120986200

    Examples
    --------
    >>> from causaleval_pd.configurational import fit_robustness
    >>> fit_robustness(["A<->C", "A+B<->C", "A+B<->C", "d<->C"])
         model  tokens  complexity  score  normalised
    0  A+B<->C       2           2      3    1.000000
    1    A<->C       1           1      2    0.666667
    2    d<->C       1           1      0    0.000000
    """
    check_known(relation, ("submodel", "causal_submodel"), "relation")
    check_known(normalise, ("truemax", "idealmax"), "normalisation")
    check_type(models, Iterable, "a list of models", "models")
    tokens = Counter(as_model(model) for model in models)
    if not tokens:
        raise ValueError("found no model to score")
    if len(tokens) > MAX_TYPES[relation]:
        raise FormulaTooLargeError(
            f"{len(tokens)} different models; {relation} compares all pairs of at most {MAX_TYPES[relation]}"
        )
    types = sorted(tokens, key=str)
    n_tokens = [tokens[model] for model in types]
    score = [2 * (n - 1) for n in n_tokens]
    setting = Setting(domains)
    for i, model in enumerate(types):
        for j, other in enumerate(types):
            if i != j and (
                submodel_of(model, other) if relation == "submodel" else causal_submodel_of(model, other, setting)
            ):
                score[i] += n_tokens[j]
                score[j] += n_tokens[i]
    by_size = Counter[int]()
    for model, n in tokens.items():
        by_size[model.complexity] += n
    # of N models, n_c with the complexity c: 2 (n_c - 1) + (N - n_c)
    largest = max(score) if normalise == "truemax" else tokens.total() + max(by_size.values()) - 2
    table = pd.DataFrame(
        {
            "model": pd.Series(list(map(str, types)), dtype="str"),
            "tokens": n_tokens,
            "complexity": [model.complexity for model in types],
            "score": score,
        }
    )
    table["normalised"] = table["score"] / largest if largest else np.nan
    return table.sort_values("score", ascending=False, kind="stable", ignore_index=True)
