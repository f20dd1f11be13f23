"""What tables of tests share: their columns, checks of settings, adjusted p-values and their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from ..contract.checks import check_known, check_number, check_type
from ..statistics.multiplicity import adjust as adjusted

Missing = Literal["drop", "worst"]

#: columns of every table of tests, after the strata
TEST_COLUMNS = (
    *("metric", "comparison", "statistic", "p_value", "p_adjusted", "effect", "ci_low", "ci_high"),
    *("n_pairs", "n_clusters", "n_failed", "n_undefined", "null", "method", "alternative"),
)


def check_missing(missing: str) -> None:
    """Refuse an unknown treatment of failed runs."""
    check_known(missing, ["drop", "worst"], "value of missing")


def check_shares(**given: object) -> None:
    """Refuse probabilities and shares that do not lie between 0 and 1; the keyword names the setting."""
    for name, value in given.items():
        check_number(value, name, "(0, 1)")


def in_order(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return the strata, that is all columns that are not declared, and then the declared ones in their order."""
    return table[[*(name for name in table if name not in columns), *columns]]


def stack_tests(
    parts: list[pd.DataFrame],
    columns: Sequence[str],
    strata: Sequence[str],
    adjust: str | None,
    family: str | Sequence[str] | None,
) -> pd.DataFrame:
    """Stack the metrics' tables of tests and adjust their p-values within each `family` (None: all are one).

    A column `p_adjusted` is kept, where a test has made its own correction.
    """
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*strata, *columns])
    labels = None
    if family is not None:
        check_type(family, Iterable, "the name of a column or several", "family")
        within = [family] if isinstance(family, str) else list(family)
        if not within:
            raise ValueError("family names no column; leave it out to adjust all p-values together")
        for name in within:
            check_known(name, [c for c in [*strata, *columns] if c in table], "column (family)")
        labels = table.groupby(within, dropna=False, sort=False).ngroup().to_numpy()
    if "p_adjusted" not in table:
        table["p_adjusted"] = adjusted(table["p_value"].to_numpy(np.float64), adjust, labels)
    return in_order(table, columns)
