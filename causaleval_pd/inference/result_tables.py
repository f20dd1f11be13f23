"""What tables of tests share: their columns, checks of settings, adjusted p-values and their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_known, check_type
from ..contract.history import calls
from ..contract.metric import METRICS
from ..statistics.multiplicity import adjust as adjusted

Missing = Literal["drop", "worst"]

#: columns of every table of tests: after the strata what is tested, at the end results, which printed tables show there
TESTED = (*("metric", "comparison", "n_pairs", "n_truths", "n_failed", "n_undefined", "null", "test", "alternative"),)
RESULTS = ("effect", "ci_low", "ci_high", "p_value", "p_adjusted")


def check_missing(missing: str) -> None:
    """Refuse an unknown treatment of failed runs."""
    check_known(missing, ["drop", "worst"], "value of missing")


def directions_of(table: pd.DataFrame, given: Mapping[str, str]) -> list[str]:
    """Return the direction of every row's metric, or of skill; of carried columns that in the history, else "none"."""
    check_type(given, Mapping, "a mapping of metrics to directions", "directions")
    for aim in given.values():
        check_known(aim, ["minimize", "maximize", "zero", "none"], "direction")
    names = table["metric"].astype(str) if "metric" in table else [""] * len(table)
    known: dict[str, str | None] = {name: METRICS[name].direction for name in set(names) if name in METRICS}
    for values in (one.get("values") for one in calls(table.attrs)):
        if isinstance(values, Mapping):
            known |= {name: aim for name, aim in values.items() if aim is not None}
    skills = of_skill(table)
    return [
        "maximize" if skill else str(given.get(name, known.get(name, "none")))
        for name, skill in zip(names, skills, strict=True)
    ]


def of_skill(table: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which rows hold differences or effects of skill, which is better when larger, whatever the metric."""
    named = [table[name].astype(str) == "skill" for name in ("on", "response") if name in table]
    made = calls(table.attrs)[-1:]
    of_all = [one.get("on") == "skill" for one in made if one["verb"] == "compare"]
    return np.asarray(named[0], bool) if named else np.full(len(table), any(of_all))


def in_order(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return the strata, that is all columns that are not declared, and then the declared ones in their order."""
    return table[[*(name for name in table if name not in columns), *columns]]


def families(table: pd.DataFrame) -> NDArray[np.int64]:
    """Return the number of each row's metric, within which p-values are adjusted."""
    return np.asarray(table.groupby("metric", dropna=False, sort=False).ngroup(), np.int64)


def stack_tests(
    parts: list[pd.DataFrame], columns: Sequence[str], strata: Sequence[str], adjust: str | None
) -> pd.DataFrame:
    """Stack the metrics' tables of tests and adjust p-values by metric, but for a test's own `p_adjusted`."""
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*strata, *columns])
    if "p_adjusted" not in table:
        table["p_adjusted"] = adjusted(table["p_value"].to_numpy(np.float64), adjust, families(table))
    return in_order(table, columns)
