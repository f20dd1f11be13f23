"""Samples of cases: those that fit a model, limited diversity, prevalence and imbalance of factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_number, check_type, check_whole
from ...execution.random_streams import RNGLike, resolve_seed
from ..formulas.configurations import allows, factor_columns, membership, memberships
from ..formulas.formula import Model, literal_text
from ..formulas.reader import as_literal, as_model
from ..formulas.truth_table import data_values
from ..formulas.vocabulary import BINARY

__all__ = ["fragment", "sample_cases", "select_cases"]

CASES = "a DataFrame with a row a case and a column a factor"


def select_cases(
    model: Model | str,
    data: pd.DataFrame,
    *,
    consistency: float = 1.0,
    coverage: float = 1.0,
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Keep the cases compatible with a model, and as many others as thresholds allow.

    A case is compatible if every atom has the truth value of its outcome (fuzzy memberships are rounded). The others
    are tried in random order and kept while consistency and coverage of every atom stay at or above the thresholds.

    Parameters
    ----------
    model : Model or str
        The model.
    data : DataFrame
        Cases in rows, a column a factor.
    consistency, coverage : float
        Thresholds in [0, 1].
    rng : int, Generator or None
        Seed.

    Returns
    -------
    DataFrame
        The kept rows, in their order.

    Raises
    ------
    ValueError
        If a threshold lies outside [0, 1], or the data lack a factor.

    Examples
    --------
    >>> import itertools, pandas as pd
    >>> space = pd.DataFrame(list(itertools.product([0, 1], repeat=3)), columns=list("ABC"))
    >>> len(select_cases("A+B<->C", space)), len(select_cases("A+B<->C", space, consistency=0.75, rng=1))
    (4, 5)
    """
    model = as_model(model)
    check_number(consistency, "consistency", "[0, 1]")
    check_number(coverage, "coverage", "[0, 1]")
    columns = factor_columns(data, model.factors)
    rounded = np.stack([np.rint(columns[factor]) for factor in model.factors], axis=1).astype(np.int8)
    kept = allows(model, rounded, model.factors)
    p, y = memberships(model, data)
    common = np.minimum(np.minimum(p, 1 - p), np.minimum(y, 1 - y))
    # the cells of the measures of fit, case by case: rows a, b, c
    cells = np.stack([np.minimum(p, y), np.minimum(p, 1 - y) - common, np.minimum(1 - p, y) - common])
    total = cells[:, :, kept].sum(axis=2)
    for case in generator(rng).permutation(np.flatnonzero(~kept)):
        a, b, c = new = total + cells[:, :, case]
        if (a >= consistency * (a + b) - 1e-12).all() and (a >= coverage * (a + c) - 1e-12).all():
            kept[case], total = True, new
    return data[kept]


def fragment(data: pd.DataFrame, share: float, *, rng: RNGLike = None) -> pd.DataFrame:
    """Drop a share of the distinct configurations, with all their cases: limited diversity.

    Parameters
    ----------
    data : DataFrame
        Cases in rows.
    share : float
        Share of the distinct rows that is dropped; their number is rounded.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    DataFrame
        The remaining rows, in their order.

    Raises
    ------
    ValueError
        If the share does not lie in [0, 1).

    Examples
    --------
    >>> import pandas as pd
    >>> len(fragment(pd.DataFrame({"A": [0, 0, 1, 1], "B": [0, 1, 0, 1]}), 0.5, rng=1))
    2
    """
    check_number(share, "share", "[0, 1]")
    check_type(data, pd.DataFrame, CASES, "data")
    codes = data.groupby(list(data.columns), sort=True).ngroup().to_numpy()
    n = int(codes.max(initial=-1)) + 1
    gone = generator(rng).permutation(n)[: round(share * n)]
    if len(gone) == n:
        raise ValueError(f"a share of {share} leaves none of the {n} configurations; take a smaller one")
    return data[~np.isin(codes, gone)]


def sample_cases(
    data: pd.DataFrame,
    n_cases: int,
    *,
    outcome: tuple[str, int] | str | None = None,
    prevalence: float | None = None,
    imbalance: Mapping[str, float | Sequence[float]] | None = None,
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Draw cases with replacement, each equally likely, or so that factors and an outcome have given shares.

    Parameters
    ----------
    data : DataFrame
        Cases in rows.
    n_cases : int
        How many to draw.
    outcome : str or (str, int), optional
        Literal, as `"E"` or `"e"`.
    prevalence : float, optional
        Share of cases that have the outcome; their number is rounded.
    imbalance : mapping, optional
        By factor the probability of 1, or the probabilities of its values in order. A case is drawn with a probability
        proportional to the product over these factors, each divided by the number of cases that share the value, so
        that factors which are independent in `data` have the given probabilities in the sample.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    DataFrame
        The drawn cases, numbered from 0.

    Raises
    ------
    ValueError
        If no cases are left to draw from, or only one of `outcome` and `prevalence` is given.

    Examples
    --------
    >>> import pandas as pd
    >>> data = pd.DataFrame({"A": [0, 1, 1, 1], "E": [0, 1, 1, 1]})
    >>> sample_cases(data, 100, outcome="E", prevalence=0.2, rng=1)["E"].mean()
    np.float64(0.2)
    """
    check_whole(n_cases, "n_cases", 1)
    check_type(data, pd.DataFrame, CASES, "data")
    if (outcome is None) != (prevalence is None):
        raise ValueError("outcome and prevalence belong together; give both or neither")
    random, weights = generator(rng), _weights(data, imbalance)
    if outcome is None or prevalence is None:
        rows = draw_rows(np.arange(len(data)), n_cases, "cases", random, weights)
        return data.iloc[rows].reset_index(drop=True)
    check_number(prevalence, "prevalence", "[0, 1]")
    literal = as_literal(outcome)
    has = membership(factor_columns(data, [literal[0]])[literal[0]], literal) > 0.5
    n_with = round(prevalence * n_cases)
    with_it, without = (
        draw_rows(np.flatnonzero(rows), n, f"cases {word} outcome {literal_text(literal)}", random, weights)
        for rows, n, word in ((has, n_with, "with"), (~has, n_cases - n_with, "without"))
    )
    return data.iloc[random.permutation(np.concatenate([with_it, without]))].reset_index(drop=True)


def _weights(data: pd.DataFrame, imbalance: Mapping[str, float | Sequence[float]] | None) -> NDArray[np.float64] | None:
    """Return the weights of cases by the shares of factors' values."""
    if imbalance is None:
        return None
    check_type(imbalance, Mapping, "a mapping of factors to probabilities, as {'A': 0.9}", "imbalance")
    weights = np.ones(len(data))
    for name, cells in factor_columns(data, [str(name).upper() for name in imbalance]).items():
        given = next(share for key, share in imbalance.items() if str(key).upper() == name)
        values = data_values(data, [name])[name]
        if isinstance(given, Sequence) and not isinstance(given, str):
            shares = [check_number(one, f"imbalance of {name}", "[0, 1]") for one in given]
            if len(shares) != len(values) or abs(sum(shares) - 1) > 1e-9:
                raise ValueError(
                    f"imbalance of {name} must be {len(values)} probabilities that sum to 1, for its values "
                    f"{list(values)}, found {list(given)}"
                )
        else:
            share = check_number(given, f"imbalance of {name}", "[0, 1]")
            if values != BINARY:
                raise ValueError(f"{name} has the values {list(values)}; give each a probability, as [0.5, 0.3, 0.2]")
            shares = [1 - share, share]
        for value, share in zip(values, shares, strict=True):
            rows = cells == value
            weights[rows] *= share / max(1, rows.sum())
    return weights


def draw_rows(
    rows: NDArray[np.int64],
    n: int,
    what: str,
    random: np.random.Generator,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """Draw n of the rows with replacement, each equally likely or by the weights of all rows."""
    if not n:
        return np.empty(0, np.int64)
    chances = np.ones(len(rows)) if weights is None else weights[rows]
    if not chances.sum():
        raise ValueError(f"found no {what} to draw {n} from")
    return random.choice(rows, n) if weights is None else random.choice(rows, n, p=chances / chances.sum())


def generator(rng: RNGLike) -> np.random.Generator:
    """Return a generator: the given one, or one of the seed."""
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(resolve_seed(rng))
