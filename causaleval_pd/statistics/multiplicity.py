"""Adjust p-values for the number of tests, family by family.

`statsmodels.stats.multitest.multipletests` gives the same numbers but collects garbage at each call of Holm's method:
5 minutes for 10,000 families, here 0.04 s.

References
----------
.. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. https://www.jstor.org/stable/4615733
.. [2] Benjamini, Y., Hochberg, Y. (1995). Controlling the false discovery rate. doi:10.1111/j.2517-6161.1995.tb02031.x
.. [3] Benjamini, Y., Yekutieli, D. (2001). The control of the false discovery rate in multiple testing under
   dependency. doi:10.1214/aos/1013699998
"""

from __future__ import annotations

import difflib
import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .arrays import Floats

#: names of multiplicity corrections, with statsmodels' names for them
CORRECTIONS = {"none": "none", "holm": "holm", "bonferroni": "bonferroni"}
CORRECTIONS |= {"bh": "bh", "fdr_bh": "bh", "by": "by", "fdr_by": "by"}


def adjust(p: ArrayLike, method: str | None = "holm", family: ArrayLike | None = None) -> Floats:
    """Correct p-values for multiplicity [1]_ [2]_ [3]_; undefined ones belong to no family and stay NaN.

    "bh" is for independent or positively dependent p-values, "by" for any dependence.
    """
    p = np.asarray(p, np.float64)
    name = "none" if method is None else method
    if not isinstance(name, str) or name not in CORRECTIONS:
        near = difflib.get_close_matches(str(name).casefold(), CORRECTIONS, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ValueError(
            f"unknown correction {method!r} (adjust=); {hint}known are {', '.join(map(repr, CORRECTIONS))}"
        )
    result = p.copy()
    rows = np.flatnonzero(~np.isnan(p))
    if CORRECTIONS[name] == "none" or not len(rows):
        return result
    labels = np.zeros(len(p), np.int64) if family is None else np.unique(np.asarray(family), return_inverse=True)[1]
    rows = rows[np.lexsort((p[rows], labels[rows]))]
    ordered = pd.DataFrame({"family": labels[rows], "p": p[rows]})
    groups = ordered.groupby("family")
    ordered["size"], ordered["rank"] = groups["p"].transform("size"), groups.cumcount() + 1
    result[rows] = np.minimum(_STEPS[CORRECTIONS[name]](ordered), 1.0)
    return result


def _step_down(ordered: pd.DataFrame) -> pd.Series:
    """Return Holm's p-values of families in ascending order."""
    ordered["p"] *= ordered["size"] - ordered["rank"] + 1
    return ordered.groupby("family")["p"].cummax()


def _step_up(ordered: pd.DataFrame) -> pd.Series:
    """Return Benjamini and Hochberg's p-values of families in ascending order."""
    ordered["p"] *= ordered["size"] / ordered["rank"]
    return ordered[::-1].groupby("family")["p"].cummin()[::-1]


def _step_up_dependent(ordered: pd.DataFrame) -> pd.Series:
    """Return Benjamini and Yekutieli's p-values of families in ascending order."""
    ordered["p"] *= (1 / ordered["rank"]).groupby(ordered["family"]).transform("sum")
    return _step_up(ordered)


_STEPS = {
    "bonferroni": lambda ordered: ordered["p"] * ordered["size"],
    "holm": _step_down,
    "bh": _step_up,
    "by": _step_up_dependent,
}


#: draws that `auto_draws` gives at most; beyond, small p-values are left to other methods
MOST_DRAWS, FEW_DRAWS = 100_000, 9_999


class Floor(NamedTuple):
    """A family whose simulated p-values are too coarse for their number."""

    #: p-values of the family
    n_tests: int
    #: smallest p-value that its draws can give, and what the correction makes of it
    least: float
    least_adjusted: float
    #: draws with which a test can pass
    draws_needed: int


def floors(
    p: ArrayLike, least: ArrayLike, method: str, alpha: float = 0.05, family: ArrayLike | None = None
) -> list[Floor]:
    """Return the families of which no simulated test can pass after correction, in the order of their labels.

    `least` is the smallest value that each p can take, 1 / (R + 1) for R draws; NaN where it does not rest on draws.
    """
    p, least = np.asarray(p, np.float64), np.asarray(least, np.float64)
    name = CORRECTIONS[method]
    labels = np.zeros(len(p), np.int64) if family is None else np.unique(np.asarray(family), return_inverse=True)[1]
    families = []
    for label in np.unique(labels):
        mine = (labels == label) & ~np.isnan(p)
        drawn = mine & ~np.isnan(least)
        if name == "none" or not drawn.any():
            continue
        size, floor = int(mine.sum()), float(least[drawn].min())
        before = int((p[mine] < floor * (1 - 1e-9)).sum())
        there = max(1, int((p[drawn] <= least[drawn] * (1 + 1e-9)).sum()))
        factor = {
            "holm": float(size - before),
            "bonferroni": float(size),
            "bh": size / (before + there),
            "by": size / (before + there) * float((1 / np.arange(1, size + 1)).sum()),
        }[name]
        if factor * floor > alpha * (1 + 1e-9):
            families.append(Floor(size, floor, min(1.0, factor * floor), math.ceil(factor / alpha - 1e-9) - 1))
    return families


def auto_draws(n_tests: int, alpha: float = 0.05) -> int:
    """Return the number of draws R for a family of tests under Holm's correction.

    R + 1 is ten times n_tests / alpha, rounded up to a multiple of 1,000: a p-value of half of what Holm's first step
    needs then passes it with a probability of .97. Where that is more than 100,000, R is 9,999, and p-values that no
    draw reached need another method.
    """
    wanted = 1000 * math.ceil(10 * max(1, n_tests) / alpha / 1000 - 1e-9)
    return wanted - 1 if wanted <= MOST_DRAWS else FEW_DRAWS
