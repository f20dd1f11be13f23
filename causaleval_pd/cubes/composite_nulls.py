"""Composite null models of strata: of each stratum and metric, the rows of the member with the largest p."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from ..tables.composite import largest_p
from .schema import declare_columns

#: attribute of a cube: the members of each null model of the call, by name
_ATTRIBUTE = "control_composites"
#: column that names the member that a row belongs to
[MEMBER] = declare_columns("worst_of", ("control_null",))
#: columns that describe the p-value of a row
_OF_P = ("p_value", "p_se", "p_at_floor", "p_method", "p_low", "p_high")


def composite_attrs(members: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the attribute of a cube whose null models include composite ones; `members` has all models in order."""
    return {_ATTRIBUTE: json.dumps({name: list(found) for name, found in members.items()})} if members else {}


def has_composites(cube: xr.Dataset) -> bool:
    """Return whether tables of a cube name the members of composite null models."""
    return _ATTRIBUTE in cube.attrs and "null" in cube.dims


def worst_members(cube: xr.Dataset, table: pd.DataFrame) -> pd.DataFrame:
    """Replace the rows of the members of a composite null model by those with the largest p.

    Parameters
    ----------
    cube : Dataset
        What the table was made of; a cube without composite null models leaves it as it is.
    table : DataFrame
        The rows of one metric, with columns `null`, `p_value` and the strata; each null model has the same strata, in
        the same order.

    Returns
    -------
    DataFrame
        `null` names the composite model, and `control_null`, the column after it, the member. Among equal p the first
        member counts. A row that lacks a p under one member has none, because that might be the largest; its columns
        that do not describe p are those of the first member. Members that the call named by themselves keep their rows;
        so do all where a member of the composite model was deselected.
    """
    if not has_composites(cube):
        return table
    by_null = dict(iter(table.groupby("null", sort=False)))
    asked = {
        name: members for name, members in json.loads(cube.attrs[_ATTRIBUTE]).items() if set(members) <= {*by_null}
    }
    used = {member for members in asked.values() for member in members}
    asked = {name: [name] for name in by_null if name not in used} | asked
    parts = [_worst([by_null[member] for member in members], name) for name, members in asked.items()]
    found = pd.concat(parts, ignore_index=True) if parts else table.assign(**{MEMBER: table["null"]})
    columns = [name for name in found if name != MEMBER]
    after = columns.index("null") + 1
    return found[[*columns[:after], MEMBER, *columns[after:]]]


def _worst(parts: Sequence[pd.DataFrame], name: str) -> pd.DataFrame:
    """Take each row from the part with the largest p."""
    worst, of_p = largest_p([part["p_value"].to_numpy(np.float64) for part in parts])
    every, rows = pd.concat(parts, ignore_index=True), np.arange(len(worst))
    found, tested = (every.iloc[member * len(rows) + rows].reset_index(drop=True) for member in (worst, of_p))
    found = found.assign(**tested[[column for column in _OF_P if column in found]])
    found[MEMBER] = found["null"]
    found["null"] = pd.Series(name, index=found.index, dtype=found["null"].dtype)
    return found
