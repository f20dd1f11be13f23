"""The runs of a cube as a table, one row each, for statsmodels, seaborn and others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from ..tables.history import call, calls, remember
from ..tables.row_summary import skill
from .reading import (
    cells,
    cluster_setting,
    cube_metrics,
    has_controls,
    null_stratum,
    strata_columns,
    strata_dims,
    strata_table,
)
from .reshaped import read_cube, read_metric
from .schema import FAILED, NO_RUN, declare_columns, values_of
from .weights import WEIGHT

__all__ = ["runs"]

declare_columns("runs", ("truth_id", "cluster_id", "run_weight", "failed"))
#: what a run's controls are told by, and what its skill rests on
_PARTS = ("control_mean", "control_low", "control_high", "p", "control_loss")


def runs(cube: xr.Dataset) -> pd.DataFrame:
    """Return the runs of a cube, one row each.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`.

    Returns
    -------
    DataFrame
        The strata, `replicate`, `truth_id` (runs on one truth depend on each other; text), `cluster_id` where the cube
        has the clusters of a column, `run_weight` where runs have weights, `failed`, and for each metric `m`: `m` and,
        with controls, `m_control_mean`, `m_control_low`, `m_control_high`, `m_p` and `m_skill`; then the columns that
        the cube carries. A run of several null models has a row for each, and one of a metric with dimensions of its
        own a row for each of their labels.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cube = ce.datasets.runs().ceval.cube(["shd"], by=["algorithm", "density", "n"], n_draws=100, rng=7)
    >>> rows = cube.ceval.runs()
    >>> rows.groupby("algorithm")["shd_skill"].median().round(2)
    algorithm
    ges       0.50
    lingam    0.83
    pc        0.43
    Name: shd_skill, dtype: float64
    """
    made = call("runs", {})
    history = [*calls(cube.attrs), made] if isinstance(cube, xr.Dataset) else []
    cube = null_stratum(read_cube(cube))
    names = list(dict.fromkeys([*cube_metrics(cube), *values_of(cube)]))
    keys = [*strata_columns(cube, names), "replicate"]
    table: pd.DataFrame | None = None
    for name in names:
        rows = _of_metric(read_metric(cube, name), name)
        if table is None:
            table = rows
            continue
        on = [key for key in (*keys, "truth_id", "cluster_id", WEIGHT) if key in rows and key in table]
        # a failed run with a value of a carried column counts with this value
        table = table.merge(rows.drop(columns="failed"), on=on, how="outer", sort=False)
    if table is None:  # pragma: no cover - cubes have metrics or carried columns
        raise ValueError("the cube has no metric")
    first = [key for key in (*keys, "truth_id", "cluster_id", WEIGHT, "failed") if key in table]
    return remember(table[[*first, *(name for name in table if name not in first)]], history)


def _of_metric(cube: xr.Dataset, name: str) -> pd.DataFrame:
    """Return the runs with the values of one metric."""
    dims = strata_dims(cube)
    status = cells(cube["status"], dims)
    stratum, place = np.nonzero(status != NO_RUN)
    table = strata_table(cube).iloc[stratum].reset_index(drop=True)
    table["replicate"] = cube["replicate"].to_numpy()[place]
    for key in ("truth_id", *(["cluster_id"] if cluster_setting(cube).startswith("column") else [])):
        if key in cube.coords:
            numbers = pd.Series(cells(cube[key], dims)[stratum, place])
            table[key] = numbers.astype("str").mask(numbers == 0)
    if WEIGHT in cube.coords:
        table[WEIGHT] = cells(cube[WEIGHT], dims)[stratum, place]
    table["failed"] = status[stratum, place] == FAILED
    spec = cube[name].attrs
    values = cells(cube[name], dims)[stratum, place]
    columns = {name: values}
    if has_controls(cube, name):
        parts = {part: cells(cube[f"{name}_{part}"], dims)[stratum, place] for part in _PARTS}
        columns |= {f"{name}_{part}": parts[part] for part in _PARTS if part != "control_loss"}
        columns[f"{name}_skill"] = skill(float(spec["optimum"]), values, parts["control_loss"])
    return table.assign(**columns)
