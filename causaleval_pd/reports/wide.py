"""The table that papers print: a row per setting and a column per algorithm."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..contract.checks import check_flag, check_known, check_whole
from ..inference.result_tables import directions_of
from ..statistics.words import DASH, MINUS, level_words, p_text
from ..tables.history import call, calls, remember
from .style import at_floor, result_of, strata_of

__all__ = ["wide"]

#: limits of the columns of a summary that have an interval
_LIMITS = {"effect": ("ci_low", "ci_high"), "skill": ("skill_low", "skill_high")}


def wide(
    table: pd.DataFrame, columns: str, values: str = "mean", *, digits: int = 2, interval: bool = False
) -> pd.DataFrame:
    """Lay out a summary with a row per setting and a column per level of a stratum, as texts for a paper.

    Parameters
    ----------
    table : DataFrame
        Result of `summary`, or some of its rows.
    columns : str
        Stratum whose levels become columns, such as "algorithm".
    values : str
        Column of numbers to print. P-values at their bound are printed as bounds.
    digits : int
        Digits after the decimal point.
    interval : bool
        Write the limits of "effect" or "skill" behind the values; those of skill need `summary(columns="full")`.

    Returns
    -------
    DataFrame
        Texts, indexed by the other strata, and by the metric if there are several. A dash where a value is missing.
        `style` of it, or of some of its rows, sets the best of each row in bold, for a notebook or as LaTeX.

    Raises
    ------
    ValueError
        If the table is no summary, a name is unknown, there are no limits, or a setting has two rows.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("density == 0.2")
    >>> cube = runs.ceval.cube(["shd"], by=["algorithm", "n"], n_draws=50, rng=7)
    >>> ce.wide(cube.ceval.summary(), "algorithm", digits=1)
    algorithm  ges lingam   pc
    n
    100        6.8    7.0  6.5
    400        5.2    2.1  6.0
    1600       4.6    0.4  4.5
    >>> "textbf{0.4}" in ce.style(ce.wide(cube.ceval.summary(), "algorithm", digits=1), output="latex").to_latex()
    True
    """
    check_flag(interval, "interval")
    check_whole(digits, "digits", most=15)
    if result_of(table) != "summary":
        raise ValueError("wide lays out the result of summary(); give it one, or some of its rows")
    strata = strata_of(table, "summary")
    check_known(columns, strata, "stratum (columns)")
    numbers = [name for name in table.select_dtypes("number") if name not in strata]
    check_known(values, numbers, "column of numbers (values)")
    keys = [name for name in strata if name != columns]
    if table["metric"].nunique() > 1 or not keys:
        keys.insert(0, "metric")
    twice = table.duplicated([*keys, columns])
    if twice.any():
        row = table.loc[twice, [*keys, columns]].iloc[0].to_dict()
        raise ValueError(f"two rows have {row}; select one of them")
    raw_numbers = table[values].to_numpy(np.float64, na_value=np.nan)
    texts = [_fixed(x, digits) for x in raw_numbers]
    if values in ("p_value", "p_adjusted"):
        texts = [
            p_text(p, at_floor=bool(least)) for p, least in zip(raw_numbers, at_floor(table, "summary"), strict=True)
        ]
    if interval:
        limits = _LIMITS.get(values, ())
        if not limits or not set(limits) <= set(table.columns):
            raise ValueError(
                f"the table has no limits of {values!r}; those of 'effect' are in a summary, and those of 'skill' in "
                "summary(columns='full')"
            )
        low, high = (table[name].to_numpy(np.float64, na_value=np.nan) for name in limits)
        texts = [
            text if np.isnan(a) else f"{text} [{_fixed(a, digits)}, {_fixed(b, digits)}]"
            for text, a, b in zip(texts, low, high, strict=True)
        ]
    levels = {name: pd.Categorical(words := level_words(table[name]), list(dict.fromkeys(words))) for name in strata}
    laid = pd.DataFrame({**levels, "metric": table["metric"].to_numpy(), "__text__": texts})
    laid["metric"] = pd.Categorical(laid["metric"], list(dict.fromkeys(laid["metric"])))
    layout = laid.set_index([*keys, columns])["__text__"].unstack(columns, fill_value=DASH)
    order = laid[columns].cat.categories
    layout = layout.sort_index()[list(order)]
    layout = layout.set_axis(pd.Index(order.astype(str), name=columns), axis=1)
    aims = dict(zip(table["metric"].astype(str), directions_of(table, {}), strict=True))
    made = call("wide", {"columns": columns, "values": values, "aims": aims})
    return remember(layout, [*calls(table.attrs), made])


def _fixed(x: float, digits: int) -> str:
    return DASH if np.isnan(x) else f"{x:.{digits}f}".replace("-", MINUS)
