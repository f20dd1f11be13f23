"""Read a cube: its strata, metrics and null models, and its controls summed or pooled by stratum."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.checks import check_known, check_type
from ..statistics.randomisation import randomisation_test
from .schema import NO_RUN


def strata_dims(cube: xr.Dataset) -> list[str]:
    """Return the strata that the cube still has, in order."""
    return [name for name in json.loads(_attr(cube, "strata")) if name in cube.dims]


def cube_metrics(cube: xr.Dataset, metrics: str | Sequence[str] | None = None) -> list[str]:
    """Return the cube's metrics, or check that the named ones are among them."""
    known = [name for name in json.loads(_attr(cube, "metrics")) if name in cube]
    if "replicate" not in cube.dims:
        raise ValueError("the cube has lost its dimension 'replicate'; select by a list, as in isel(replicate=[0])")
    if metrics is None:
        return known
    check_type(metrics, Iterable, "the names of metrics of the cube", "metrics")
    wanted = [metrics] if isinstance(metrics, str) else list(metrics)
    if not wanted:
        raise ValueError(f"metrics names no metric; the cube has {', '.join(map(repr, known))}")
    for name in wanted:
        check_known(name, known, "metric of this cube")
    return wanted


def _attr(cube: xr.Dataset, name: str) -> str:
    check_type(cube, xr.Dataset, "a Dataset made by cube()", "cube")
    if name not in cube.attrs:
        raise ValueError(f"this dataset has no attribute {name!r}: it was not made by cube(), or lost its attributes")
    return str(cube.attrs[name])


def null_stratum(cube: xr.Dataset) -> xr.Dataset:
    """Turn the null models of a cube, where it has several, into levels of a stratum `null`."""
    check_type(cube, xr.Dataset, "a Dataset made by cube()", "cube")
    if "null" not in cube.dims or "null" in strata_dims(cube):
        return cube
    alone = [name for name, variable in cube.data_vars.items() if "null" not in variable.dims]
    spread = cube.assign({name: cube[name].expand_dims(null=cube["null"]) for name in alone})
    return spread.assign_attrs(strata=json.dumps(["null", *strata_dims(cube)]))


def null_name(cube: xr.Dataset) -> str | None:
    """Return the name of the cube's null model, of the one that was selected, or of all."""
    if "null" in cube.coords and "null" not in cube.dims:
        return str(cube["null"].item())
    return cube.attrs.get("control_null")


def null_references(cube: xr.Dataset) -> list[str]:
    """Return the cube's null models that are points of reference rather than random guesses, and so give no test."""
    known = json.loads(cube.attrs.get("control_reference", "[]"))
    here = cube["null"].to_numpy().tolist() if "null" in cube.dims else [null_name(cube)]
    return [str(name) for name in here if name in known]


def _without_references(cube: xr.Dataset, p_value: xr.DataArray) -> xr.DataArray:
    """Forget p-values against points of reference."""
    references = null_references(cube)
    return p_value.where(~p_value["null"].isin(references) if "null" in p_value.dims else not references)


def has_controls(cube: xr.Dataset) -> bool:
    """Tell whether the cube was made with controls."""
    return int(_attr(cube, "n_draws")) > 0


def control_sums(cube: xr.Dataset, metric: str) -> tuple[xr.DataArray, xr.DataArray]:
    """Sum a stratum's controls draw by draw, over the rows where they are defined.

    Rows count by their control, not by their estimate: only so are the estimates and each draw exchangeable under
    random guessing where a metric can be undefined.

    Returns
    -------
    sums, counts : DataArray
        Over strata and `draw`: sum of the controls' scores (the metric, or its distance from the optimum where closest
        to zero is best), and the number of rows with a defined control.

    Raises
    ------
    ValueError
        If the cube has no controls, or was cut along `replicate` and has no raw draws.
    """
    _need_controls(cube)
    if f"{metric}_control" in cube:
        spec = cube[metric].attrs
        draws = cube[f"{metric}_control"]
        scores = abs(draws - spec["optimum"]) if spec["direction"] == "zero" else draws
        return scores.sum("replicate"), scores.notnull().sum("replicate")
    _whole(cube)
    return cube[f"{metric}_control_sum"], cube[f"{metric}_control_count"]


def control_values(cube: xr.Dataset, metric: str) -> tuple[xr.DataArray, xr.DataArray]:
    """Return all control values of each stratum and how often each occurred, over strata and `bin`."""
    _need_controls(cube)
    if f"{metric}_control" in cube:
        draws = cube[f"{metric}_control"]
        kept = [dim for dim in draws.dims if dim not in ("replicate", "draw")]
        array = draws.transpose(*kept, "replicate", "draw").to_numpy()
        pooled = array.reshape(*array.shape[:-2], array.shape[-2] * array.shape[-1])
        values = xr.DataArray(pooled, {dim: draws[dim] for dim in kept}, [*kept, "bin"])
        return values, values.notnull().astype(np.float64)
    _whole(cube)
    names = {f"{metric}_bin": "bin"}
    return cube[f"{metric}_control_value"].rename(names), cube[f"{metric}_control_weight"].rename(names)


def _need_controls(cube: xr.Dataset) -> None:
    if not has_controls(cube):
        raise ValueError("the cube has no controls; make it by cube(..., n_draws=1000)")


def _whole(cube: xr.Dataset) -> None:
    here = (cube["status"] != NO_RUN).sum("replicate")
    if not bool((here == cube["n_obs"]).all()):
        raise ValueError(
            "the cube was cut along 'replicate', but its controls are sums over all replicates of a stratum; make the "
            "cube from the rows you want, or with keep_draws=True"
        )


def randomisation(cube: xr.Dataset, metric: str) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray]:
    """Compare each stratum's mean with the same mean over the controls of draw r, r = 1 .. R.

    Returns
    -------
    statistic, p_value, n_draws : DataArray
        Mean over the defined rows; (1 + draws as good or better) / (R + 1), NaN for a null model of reference; draws R
        with a defined mean.

    Raises
    ------
    ValueError
        If rows share their draws.
    """
    if draws_shared(cube):
        raise ValueError(
            "the rows of this cube share their draws, so the mean of a stratum has no valid randomisation test; make "
            "the cube without share_draws=True, or use its p-values of single rows"
        )
    statistic, reference = control_means(cube, metric)
    side: Literal["greater", "less"] = "greater" if cube[metric].attrs["direction"] == "maximize" else "less"
    p_value = statistic.copy(data=randomisation_test(statistic, reference, alternative=side).p_value)
    return statistic, _without_references(cube, p_value), reference.notnull().sum("draw")


def control_means(cube: xr.Dataset, metric: str) -> tuple[xr.DataArray, xr.DataArray]:
    """Return the mean of the metric, or of its distance from the optimum, by stratum; and of its controls, by draw."""
    spec = cube[metric].attrs
    sums, counts = control_sums(cube, metric)
    drawn = (sums / counts.where(counts > 0)).transpose(..., "draw")
    observed = abs(cube[metric] - spec["optimum"]) if spec["direction"] == "zero" else cube[metric]
    return observed.mean("replicate").transpose(*drawn.dims[:-1]), drawn


def draws_shared(cube: xr.Dataset) -> bool:
    """Tell whether rows met the same controls."""
    return bool(cube.attrs.get("draws_shared", 0))


def losses(cube: xr.Dataset, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the distance of each run from the optimum and that expected of its controls, a row a stratum.

    NaN where either is undefined.
    """
    dims = strata_dims(cube)
    pairs = []
    for array in (abs(cube[name] - cube[name].attrs["optimum"]), cube[f"{name}_control_loss"]):
        values = array.transpose(*dims, "replicate").to_numpy()
        pairs.append(values.reshape(math.prod(values.shape[:-1]), values.shape[-1]))
    gone = np.isnan(pairs[0]) | np.isnan(pairs[1])
    return np.where(gone, np.nan, pairs[0]), np.where(gone, np.nan, pairs[1])


def strata_table(cube: xr.Dataset) -> pd.DataFrame:
    """Return the strata as a table, one row each, in the order of the cube's cells."""
    dims = strata_dims(cube)
    levels = [cube[dim].to_numpy() for dim in dims]
    if not levels:
        return pd.DataFrame(index=range(1))
    index = pd.MultiIndex.from_product([range(len(x)) for x in levels])
    table = {}
    for i, (dim, level) in enumerate(zip(dims, levels, strict=True)):
        column = pd.Series(level[index.get_level_values(i)])
        # words have one dtype, whether the cube was made or read
        table[dim] = column if level.dtype.kind in "iufbM" else column.astype("str")
    return pd.DataFrame(table)


def describe_cube(cube: xr.Dataset) -> str:
    """Describe a dataset in a line: its metrics, strata, runs and controls, or that it is not a cube."""
    if "strata" not in cube.attrs or "metrics" not in cube.attrs:
        return "a dataset that was not made by cube()"
    strata = ", ".join(f"{dim} ({cube.sizes[dim]})" for dim in strata_dims(cube))
    # those of a lazy cube are not counted for a repr
    runs = "" if cube["status"].chunks else f", {int((cube['status'] != NO_RUN).sum())} runs"
    n_draws = int(cube.attrs.get("n_draws", 0))
    controls = f"{n_draws} controls each ({null_name(cube)})" if n_draws else "without controls"
    return f"a cube of {', '.join(cube_metrics(cube))} by {strata}{runs}, {controls}"
