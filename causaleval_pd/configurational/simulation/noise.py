"""Noise: cases that contradict a model, and fuzzy memberships."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_number, check_type
from ...execution.random_streams import RNGLike
from ..formulas.configurations import allows, configurations, factor_columns
from ..formulas.formula import Model, literal_text
from ..formulas.reader import as_literal, as_model
from ..formulas.truth_table import data_values
from ..formulas.vocabulary import BINARY, Domains, read_domains
from .sampling import CASES, draw_rows, generator

__all__ = ["add_noise", "fuzzify"]


def add_noise(
    data: pd.DataFrame,
    model: Model | str,
    share: float,
    *,
    keep: tuple[str, int] | str | None = None,
    domains: Domains | None = None,
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Replace a share of the cases by configurations that contradict the model, each equally likely.

    Parameters
    ----------
    data : DataFrame
        Crisp or multi-value cases.
    model : Model or str
        The ground truth.
    share : float
        Share of the cases that is replaced; their number is rounded.
    keep : str or (str, int), optional
        Outcome literal, as `"E"`, that a replaced case has if and only if it had it before, so that its prevalence
        stays.
    domains : mapping, optional
        Values of multi-value factors; default those in the data.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    DataFrame
        As many cases as before, in their order.

    Raises
    ------
    ValueError
        If the share does not lie in [0, 1], the data are fuzzy, or the model contradicts no configuration.

    Examples
    --------
    >>> import pandas as pd
    >>> data = pd.DataFrame({"A": [0, 0, 1, 1], "B": [0, 0, 1, 1]})
    >>> noisy = add_noise(data, "A<->B", 0.5, rng=1)
    >>> int((noisy.A != noisy.B).sum())
    2
    """
    model = as_model(model)
    check_number(share, "share", "[0, 1]")
    check_type(data, pd.DataFrame, CASES, "data")
    values = read_domains(domains)
    columns = factor_columns(data, [str(name).upper() for name in data.columns])
    factor_columns(data, model.factors)
    fuzzy = [name for name, cells in columns.items() if (cells != np.floor(cells)).any()]
    if fuzzy:
        raise ValueError(
            f"noise is for crisp and multi-value data, but {fuzzy} are fuzzy; add noise first, then fuzzify"
        )
    known = data_values(data, columns) | {name: values[name] for name in columns.keys() & values.keys()}
    # other factors do not matter to the model, so a uniform contradicting configuration has uniform values there
    rows = configurations({name: known[name] for name in model.factors})
    wrong = rows[~allows(model, rows, model.factors)]
    random = generator(rng)
    cases = random.permutation(len(data))[: round(share * len(data))]
    chosen = np.empty(len(cases), np.int64)
    for of_cases, of_rows, word in _by_literal(keep, columns, cases, wrong, model):
        what = f"contradicting configurations{word}"
        chosen[of_cases] = draw_rows(np.flatnonzero(of_rows), int(of_cases.sum()), what, random)
    drawn = wrong[chosen]
    noisy = data.to_numpy(copy=True)
    for position, name in enumerate(columns):
        own = name in model.factors
        noisy[cases, position] = drawn[:, model.factors.index(name)] if own else random.choice(known[name], len(cases))
    return pd.DataFrame(noisy, index=data.index, columns=data.columns)


def _by_literal(
    keep: tuple[str, int] | str | None,
    columns: Mapping[str, NDArray[np.float64]],
    cases: NDArray[np.int64],
    wrong: NDArray[np.int8],
    model: Model,
) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_], str]]:
    """Pair the cases that have a literal with the configurations that have it, and the others; or all with all."""
    if keep is None:
        return [(np.ones(len(cases), bool), np.ones(len(wrong), bool), "")]
    name, value = as_literal(keep)
    if name not in model.factors:
        raise ValueError(f"keep must be an outcome of the model, but {name} is not one of its factors")
    has, having = columns[name][cases] == value, wrong[:, model.factors.index(name)] == value
    text = literal_text((name, value))
    return [(has, having, f" with {text}"), (~has, ~having, f" without {text}")]


def fuzzify(
    data: pd.DataFrame, spread: float, *, factors: Sequence[str] | None = None, rng: RNGLike = None
) -> pd.DataFrame:
    """Turn crisp data into fuzzy memberships: 0 becomes uniform on [0, spread), 1 uniform on (1 - spread, 1].

    Parameters
    ----------
    data : DataFrame
        Cases in rows.
    spread : float
        In (0, 0.5], so that rounding gives the crisp data back.
    factors : sequence of str, optional
        Columns that are made fuzzy, whose values are 0 or 1; default all. Others, such as those of multi-value factors,
        stay as they are.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    DataFrame
        Memberships in [0, 1].

    Raises
    ------
    ValueError
        If the data are not crisp, or the spread does not lie in (0, 0.5].

    Examples
    --------
    >>> import pandas as pd
    >>> crisp = pd.DataFrame({"A": [0, 1, 1], "B": [0, 0, 1]})
    >>> fuzzify(crisp, 0.4, rng=1).round().astype(int).equals(crisp)
    True
    """
    # memberships keep their side of 0.5
    check_number(spread, "spread", "(0, 0.5]")
    check_type(data, pd.DataFrame, CASES, "data")
    names = list(data.columns) if factors is None else [str(name).upper() for name in factors]
    columns = factor_columns(data, [str(name).upper() for name in names])
    others = [name for name, cells in columns.items() if not np.isin(cells, BINARY).all()]
    if others:
        raise ValueError(
            f"only crisp data can be made fuzzy; expected values 0 and 1, but {others} have others; name the crisp "
            "factors by factors="
        )
    away = generator(rng).random((len(data), len(columns))) * spread
    fuzzy = data.astype(np.float64)
    for position, name in enumerate(str(name).upper() for name in data.columns):
        if name in columns:
            fuzzy.isetitem(position, np.abs(columns[name] - away[:, list(columns).index(name)]))
    return fuzzy
