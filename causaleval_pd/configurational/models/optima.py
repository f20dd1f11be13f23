"""Consistency-coverage optima: what no left-hand side can exceed in given data [1]_.

References
----------
.. [1] Baumgartner, M., Ambühl, M. (2021). Optimizing consistency and coverage in configurational causal modeling.
   Sociological Methods & Research 52. doi:10.1177/0049124121995554
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..formulas.configurations import factor_columns, membership, refuse_case_numbers
from ..formulas.formula import Literal
from ..formulas.reader import as_literal
from ..formulas.vocabulary import FormulaTooLargeError

__all__ = ["con_cov_optima"]

#: cases with and without the outcome, multiplied
MAX_PRODUCT = 50_000_000


def con_cov_optima(
    data: pd.DataFrame, outcome: str | tuple[str, int], factors: Sequence[str] | None = None
) -> pd.DataFrame:
    """Find the pairs of consistency and coverage that no left-hand side can improve upon in both.

    Cases that agree in all factors have one value of a left-hand side, so that cases with and without the outcome in
    one configuration bound what any model can reach. A left-hand side that is constant in the data is no model.

    Parameters
    ----------
    data : DataFrame
        Cases in rows, a column a factor: crisp or multi-value.
    outcome : str or (str, int)
        Literal, as `"E"`, `"e"` or `"E=2"`.
    factors : sequence of str, optional
        Factors that models may use; default all but the outcome's.

    Returns
    -------
    DataFrame
        A row an optimum, by falling consistency: consistency, coverage, n_cases (those with the left-hand side).

    Raises
    ------
    ValueError
        If data are fuzzy, a factor has no column, or the outcome is constant.
    FormulaTooLargeError
        If there are too many cases.

    References
    ----------
    .. [1] doi:10.1177/0049124121995554

    Examples
    --------
    >>> import pandas as pd
    >>> data = pd.DataFrame({"A": [1, 1, 0, 0, 0], "B": [1, 0, 1, 0, 0], "C": [1, 1, 1, 0, 1]})
    >>> con_cov_optima(data, "C")
       consistency  coverage  n_cases
    0          1.0      0.75        3
    """
    literal = as_literal(outcome)
    with_it, without = grouped(data, literal, factors)
    return _frontier(with_it, without)


def grouped(
    data: pd.DataFrame, outcome: Literal, factors: Sequence[str] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the cases with and without an outcome in each configuration of the factors."""
    names = [str(name).upper() for name in (data.columns if factors is None else factors)]
    columns = factor_columns(data, [*dict.fromkeys([*names, outcome[0]])])
    if factors is None:
        refuse_case_numbers(columns)
    fuzzy = [name for name, cells in columns.items() if (cells != np.floor(cells)).any()]
    if fuzzy:
        raise ValueError(
            f"optima exist for crisp and multi-value data, but {fuzzy} are fuzzy: bounds come from cases that "
            "agree in all factors, and fuzzy cases hardly ever do; give crisp columns, as data.gt(0.5).astype(int)"
        )
    has = membership(columns[outcome[0]], outcome) > 0
    if has.all() or not has.any():
        raise ValueError(f"the outcome {outcome[0]}={outcome[1]} is constant in the data, so nothing explains it")
    own = [columns[name] for name in dict.fromkeys(names) if name != outcome[0]]
    if not own:
        raise ValueError("a left-hand side needs a factor besides the outcome's")
    _, group = np.unique(np.stack(own, axis=1), axis=0, return_inverse=True)
    n = int(group.max()) + 1
    return np.bincount(group.ravel()[has], minlength=n), np.bincount(group.ravel()[~has], minlength=n)


def _frontier(with_it: NDArray[np.int64], without: NDArray[np.int64]) -> pd.DataFrame:
    """Return the optima of groups of cases that a left-hand side has or lacks together."""
    total, most = int(with_it.sum()), int(without.sum())
    if total * len(with_it) > MAX_PRODUCT:
        raise FormulaTooLargeError(f"{total} cases with the outcome in {len(with_it)} configurations are too many")
    # pure groups cost nothing; of the others, fewest cases without the outcome by the cases with it (a knapsack)
    pure = (without == 0) & (with_it > 0)
    mixed = np.flatnonzero((without > 0) & (with_it > 0))
    free = int(with_it[pure].sum())
    size = total - free
    fewest = np.full(size + 1, most + 1, np.int64)
    fewest[0] = 0
    for a, b in zip(with_it[mixed].tolist(), without[mixed].tolist(), strict=True):
        fewest[a:] = np.minimum(fewest[a:], fewest[: size + 1 - a] + b)
    if not (with_it == 0).any():
        fewest[size] = most + 1  # every case would have the left-hand side
    covered, wrong = np.arange(free, total + 1), fewest
    kept = (wrong <= most) & (covered > 0)
    table = pd.DataFrame({"covered": covered[kept], "wrong": wrong[kept]})
    table["consistency"] = table["covered"] / (table["covered"] + table["wrong"])
    table["coverage"] = table["covered"] / total
    table = table.sort_values(["coverage", "consistency"], ascending=False)
    table = table[table["consistency"] > table["consistency"].cummax().shift(fill_value=-1.0)]
    table = table.sort_values("consistency", ascending=False, ignore_index=True)
    table["n_cases"] = table["covered"] + table["wrong"]
    return table[["consistency", "coverage", "n_cases"]]


def best_beside(data: pd.DataFrame, outcome: Literal, consistency: float, coverage: float) -> tuple[float, float]:
    """Return the largest consistency with at least this coverage, and the largest coverage with this consistency.

    A model that is constant in the data has no bound: NaN.
    """
    optima = _frontier(*grouped(data, outcome, None))
    best = [
        optima.loc[optima["coverage"] >= coverage - 1e-12, "consistency"].max(),
        optima.loc[optima["consistency"] >= consistency - 1e-12, "coverage"].max(),
    ]
    return float(best[0]), float(best[1])
