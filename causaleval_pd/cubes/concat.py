"""Put cubes together along a stratum, replicates or null models, after checking that they were made alike."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ..contract.checks import check_type
from ..tables.clusters import SINGLE
from ..tables.history import HISTORY, Call, calls
from .reading import (
    cells,
    cluster_ids,
    cluster_setting,
    null_name,
    nulls_of,
    own_dims,
    seeds,
    strata_dims,
    strata_table,
    with_wide_identities,
)
from .reshaped import fills, read_cube
from .schema import (
    METRIC_SETTINGS,
    METRIC_VARIABLES,
    SCORED,
    SETTINGS,
    declared,
    metrics_of,
    stratum_name,
    values_of,
    with_own_names,
    write_nulls,
)

#: settings that may differ along a dimension of their name
_DIMENSIONS = ("control_seed", "zero_division", "causaleval_pd_version")
#: how differences are mended, by what differs
_MEND = {
    "seed": "make them with one rng=",
    "control_cluster": "make them with one cluster=",
    "null model": "put null models side by side by dim='null'",
    "n_draws": "make them with one n_draws=",
    "metrics": "leave metrics out by drop_vars",
    "variables": "make them with the same values=",
    "strata": "make them with the same by=, or add a dimension by expand_dims",
}


def concat(cubes: Iterable[xr.Dataset], dim: str | pd.Index) -> xr.Dataset:
    """Put cubes together along a dimension.

    Cubes must agree in their metrics, strata, null models, number of draws, conventions and version, in all but the
    dimension along which they are put together. Along a stratum they may have several seeds: each run keeps its own, in
    the coordinate `control_seed`. Missing strata and replicates are filled with cells without a run.

    Parameters
    ----------
    cubes : iterable of Dataset
        Made by `cube`, in memory or lazy.
    dim : str or Index
        A stratum, whose levels must differ from cube to cube; `"replicate"`, for further runs of the same strata;
        `"null"`, for other controls of the same runs; or a new stratum: an Index with a name and one label per cube. A
        convention that differs, or the seeds of several cubes of the same runs, is a new stratum of its name
        (`"zero_division"`, `"control_seed"`).

    Returns
    -------
    Dataset
        The levels of the other strata are those of all cubes. Along `replicate`, numbers that occur in several cubes
        are numbered on.

    Raises
    ------
    ValueError
        If no cube is given, cubes were made differently, labels repeat, or labels of a new dimension are missing.

    Notes
    -----
    `xarray.concat` serves along a stratum, too. It keeps the attributes of the first cube: verbs notice strata of other
    null models or numbers of draws, but not those of another `zero_division`. Runs are paired by their replicates:
    cubes whose levels are to be compared need the same truths under the same replicates, as `cube(..., replicate=)`
    gives them. Draws are keyed by seed and key: cubes put together along `replicate` need keys of their own (`key=`),
    as the rows of one table do.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("density == 0.2")
    >>> large, small = runs.query("n == 400"), runs.query("n == 100 and replicate < 8")
    >>> parts = [ce.cube(part, ["shd"], by=["algorithm", "n"], n_draws=50, rng=7) for part in (small, large)]
    >>> found = ce.concat(parts, "n")
    >>> found.ceval.summary()[["algorithm", "n", "n_runs"]].head(2)
      algorithm    n  n_runs
    0       ges  100       8
    1       ges  400      20
    """
    check_type(cubes, Iterable, "several cubes", "cubes")
    parts = [read_cube(one, load=False) for one in ([cubes] if isinstance(cubes, xr.Dataset) else cubes)]
    check_type(dim, (str, pd.Index), "a name or an Index with a name", "dim")
    name = dim if isinstance(dim, str) else dim.name
    if not parts:
        raise ValueError("found no cube to put together")
    if not isinstance(name, str) or name == "draw":
        raise ValueError(f"cubes cannot be put together along {name!r}; name a stratum, 'replicate' or 'null'")
    name = stratum_name(name)
    dim = name if isinstance(dim, str) else dim.rename(name)
    _check_alike(parts, name)
    if name == "replicate":
        _refuse_repeats(parts)
        _refuse_split_clusters(parts)
    if name == "null":
        parts = _along_null(parts)
    elif name != "replicate":
        parts = _along_stratum(parts, dim, name)
    aligned = _aligned(_with_optional(parts, name), name)
    whole = _joined(_numbered(aligned) if name == "replicate" else aligned, name)
    return with_own_names(_ordered(whole.assign_attrs(_attributes(parts, name)), parts, name))


def _check_alike(parts: Sequence[xr.Dataset], dim: str) -> None:
    """Refuse cubes that were made differently; the message names what differs and how to mend it."""
    wrong: dict[str, str] = {}

    def check(what: str, settings_of_parts: Sequence[Any], mend: str = "") -> None:
        words = [json.dumps(np.asarray(x).tolist()) for x in settings_of_parts]
        other = next((i for i, word in enumerate(words) if word != words[0]), None)
        if other is not None:
            wrong[f"{what} {words[0]} in the first cube, {words[other]} in cube {other}"] = mend or _MEND.get(what, "")

    check("metrics", [sorted(metrics_of(x)) for x in parts])
    check("strata", [sorted({*strata_dims(x), *_fixed(x)} - {dim}) for x in parts])
    for stratum in {name for x in parts for name in _fixed(x)} - {dim, "null"}:
        check(stratum, [_fixed(x).get(stratum) for x in parts], f"put levels together by dim={stratum!r}")
    for setting in (*SETTINGS, "causaleval_pd_version"):
        if setting != dim:
            check(setting, [x.coords.get(setting, x.attrs.get(setting)) for x in parts])
    if dim in ("replicate", "null"):  # strata may have seeds of their own
        check("seed", [seeds(x) for x in parts])
    if not wrong:
        check("variables", [sorted({*map(str, x.data_vars)} - _optional(x)) for x in parts])
        check("columns", [sorted(values_of(x)) for x in parts])
        for metric in metrics_of(parts[0]):
            for setting in METRIC_SETTINGS:
                check(f"{setting} of {metric}", [x[metric].attrs.get(setting) for x in parts])
            for own_dim in own_dims(parts[0], metric):
                check(f"labels of {own_dim}", [x[own_dim].to_numpy() for x in parts])
            if dim != "null":
                check("null model", [null_name(x, metric) for x in parts])
    if wrong:
        mends = "; ".join(dict.fromkeys(mend or "make them with the same settings" for mend in wrong.values()))
        raise ValueError(f"cubes that are put together along {dim!r} differ: {'; '.join(wrong)}; {mends}")


def _refuse_repeats(parts: Sequence[xr.Dataset]) -> None:
    """Refuse a cube that occurs twice, whose runs would count twice; lazy cubes are not loaded for this."""
    runs = [None if part.chunks else part.drop_vars("replicate", errors="ignore") for part in parts]
    for i, cube in enumerate(runs):
        for j, other in enumerate(runs[:i]):
            if cube is not None and other is not None and cube.equals(other):
                raise ValueError(
                    f"cube {i} has the same runs and controls as cube {j}, and would count them twice; leave it out"
                )


def _optional(cube: xr.Dataset) -> set[str]:
    """Return the variables that only some cubes have: relabelled estimates."""
    return {str(name) for name, v in declared(cube).items() if v.role == "relabelled"}


def _with_optional(parts: Sequence[xr.Dataset], dim: str) -> list[xr.Dataset]:
    """Give every cube the variables that another has, missing where it has none of its own."""
    first = {name: part[name] for part in reversed(parts) for name in _optional(part)}
    cubes = []
    for part in parts:
        lacking: dict[Hashable, Any] = {}
        for name, x in first.items():
            if name not in part and dim == "null":
                # relabelled estimates do not depend on the null model
                lacking[name] = x.variable
            elif name not in part:
                fill = METRIC_VARIABLES[x.attrs["part"]].fill
                lacking[name] = x.dims, np.full([part.sizes[dim] for dim in x.dims], fill, x.dtype), x.attrs
        cubes.append(part.assign(lacking))
    return cubes


def _refuse_split_clusters(parts: Sequence[xr.Dataset]) -> None:
    """Refuse further runs of a cluster and stratum, whose draws have to be joint ones."""
    if cluster_setting(parts[0]) == SINGLE or int(parts[0].attrs["n_draws"]) == 0:
        return
    seen: dict[tuple[Any, ...], int] = {}
    for i, part in enumerate(parts):
        dims = strata_dims(part)
        ids = cells(cluster_ids(part), dims)
        run = cells(part["status"], dims) == SCORED
        labels = strata_table(part).itertuples(index=False, name=None) if dims else [()]
        for label, clusters, known in zip(labels, ids, run, strict=True):
            for cluster in np.unique(clusters[known]).tolist():
                other = seen.setdefault((*label, cluster), i)
                if other != i:
                    raise ValueError(
                        f"cube {i} has further runs of a cluster ({cluster_setting(part)}) of cube {other} in the "
                        f"stratum {label}, so their controls were not drawn jointly; make one cube of all runs, or "
                        "cubes with cluster=None"
                    )


def _fixed(cube: xr.Dataset) -> dict[str, Any]:
    """Return the strata of which one level was selected."""
    return {x: cube[x].item() for x in json.loads(cube.attrs["strata"]) if x in cube.coords and cube[x].ndim == 0}


def _along_stratum(parts: Sequence[xr.Dataset], dim: str | pd.Index, name: str) -> list[xr.Dataset]:
    """Give every cube the dimension, with its labels."""
    if isinstance(dim, pd.Index):
        if len(dim) != len(parts) or any(name in x.dims for x in parts):
            raise ValueError(
                f"an Index of labels makes a new stratum, one label per cube; found {dim.tolist()} for {name!r}"
            )
        labels = dim.tolist()
    elif name in _DIMENSIONS and not any(name in x.dims for x in parts):
        labels = [seeds(x)[0] if name == "control_seed" else x.attrs.get(name) for x in parts]
    else:
        lacking = [i for i, x in enumerate(parts) if name not in x.coords]
        if lacking:
            raise ValueError(
                f"cube {lacking[0]} has no stratum {name!r}; give labels of a new one, one per cube, by "
                f"dim=pd.Index([...], name={name!r})"
            )
        labels = [None if name in x.dims else x[name].item() for x in parts]
    cubes = [
        x if name in x.dims else _expanded(x.drop_vars(name, errors="ignore"), name, label)
        for x, label in zip(parts, labels, strict=True)
    ]
    index = pd.Index([label for x in cubes for label in x.indexes[name]])
    if not index.is_unique:
        raise ValueError(
            f"the level {index[index.duplicated()][0]} of {name!r} occurs in several cubes; put further runs of the "
            "same strata together by dim='replicate', or drop_sel the level from one"
        )
    return cubes


def _expanded(cube: xr.Dataset, name: str, label: Any) -> xr.Dataset:
    """Give a cube, and what tells its runs apart, a new stratum of one level."""
    return with_wide_identities(cube.expand_dims({name: [label]}))


def _along_null(parts: Sequence[xr.Dataset]) -> list[xr.Dataset]:
    """Give the controls of every cube a dimension of null models; the runs must be the same."""
    cubes = []
    for i, part in enumerate(parts):
        drawn = [name for name, v in declared(part).items() if v.role == "control"]
        if not drawn:
            raise ValueError(f"cube {i} has no controls, so no null model to put beside others")
        for name in part.data_vars:
            if name in _optional(part) and name not in parts[0]:
                continue
            variable, first = (x[name].drop_vars(["null", "control_null"], errors="ignore") for x in (part, parts[0]))
            if name not in drawn and not variable.equals(first):
                raise ValueError(
                    f"{name} of cube {i} is not that of the first cube; null models are put side by side for the same "
                    "runs, in the same order of strata"
                )
        if "null" not in part.dims:
            label = ", ".join(dict.fromkeys(str(null_name(part, metric)) for metric in metrics_of(part)))
            alone = part.drop_vars(["null", "control_null"], errors="ignore")
            labels = np.array([label], object)
            cubes.append(alone.assign({name: alone[name].expand_dims({"null": labels}) for name in drawn}))
        else:
            cubes.append(part)
    index = pd.Index([label for part in cubes for label in part.indexes["null"]])
    if not index.is_unique:
        raise ValueError(f"the null model {index[index.duplicated()][0]!r} occurs in several cubes")
    return cubes


def _aligned(parts: Sequence[xr.Dataset], dim: str) -> list[xr.Dataset]:
    """Give all cubes the same labels along the other dimensions."""
    dims = [x for x in dict.fromkeys([*strata_dims(parts[0]), "replicate", "null"]) if x != dim and x in parts[0].dims]
    labels = {name: _union([part.indexes[name] for part in parts]) for name in dims}
    return [part.reindex(labels, fill_value=fills(part) | _of_all_cells(part)) for part in parts]


def _of_all_cells(cube: xr.Dataset) -> dict[Hashable, Any]:
    """Return what the draws of all runs have in common."""
    known = {name: cube[name].to_numpy() for name in ("control_seed", "control_draws", "control_null") if name in cube}
    return {name: x.flat[0] for name, x in known.items() if x.size and name not in cube.dims and (x == x.flat[0]).all()}


def _union(indexes: Sequence[pd.Index]) -> pd.Index:
    """Return all labels: ascending where they are so in every cube, else in the order in which they occur."""
    whole = reduce(pd.Index.append, indexes).unique()
    return whole.sort_values() if all(x.is_monotonic_increasing for x in indexes) else whole


def _joined(parts: Sequence[xr.Dataset], dim: str) -> xr.Dataset:
    """Put cubes together that have the dimension and agree in all others."""
    how: dict[str, Any] = {"data_vars": "minimal", "coords": "minimal", "compat": "no_conflicts", "join": "exact"}
    return xr.concat(parts, dim, combine_attrs="override", **how)


def _numbered(parts: Sequence[xr.Dataset]) -> Sequence[xr.Dataset]:
    """Give the replicates of several cubes numbers of their own, where they have the same."""
    index = reduce(pd.Index.append, [part.indexes["replicate"] for part in parts])
    if index.is_unique:
        return parts
    if not pd.api.types.is_integer_dtype(index.dtype):
        raise ValueError(
            f"the replicate {index[index.duplicated()][0]!r} occurs in several cubes; give labels of their own by "
            "assign_coords(replicate=...)"
        )
    stops = np.cumsum([part.sizes["replicate"] for part in parts])
    numbers = np.split(np.arange(stops[-1]), stops[:-1])
    return [part.assign_coords(replicate=replicates) for part, replicates in zip(parts, numbers, strict=True)]


def _attributes(parts: Sequence[xr.Dataset], dim: str) -> dict[str, Any]:
    """Return the attributes of a cube that was put together."""
    first, joined = dict(parts[0].attrs), {}
    named = json.loads(first["strata"])
    made: list[Call] = []
    for one in [one for x in parts for one in calls(x.attrs)]:
        if one not in made:
            made.append(one)
    joined[HISTORY] = json.dumps(made)
    if dim not in (*named, "replicate", "null"):
        joined["strata"] = json.dumps([dim, *named])
    kinds = [str(x.attrs["control_kind"]) for x in parts if "control_kind" in x.attrs]
    if kinds:
        words = kinds if dim == "null" else sorted({word for kind in kinds for word in kind.split(", ")})
        joined["control_kind"] = ("; " if dim == "null" else ", ").join(dict.fromkeys(words))
        for name in ("control_reference", "control_relabelled", "control_combined"):
            joined[name] = json.dumps(sorted({null for x in parts for null in json.loads(x.attrs.get(name, "[]"))}))
    if dim == "null" and all("control_null" in x.attrs for x in parts):
        joined["control_null"] = write_nulls([str(label) for x in parts for label in x.indexes["null"]])
    return joined


def _ordered(whole: xr.Dataset, parts: Sequence[xr.Dataset], dim: str) -> xr.Dataset:
    """Give variables the order of dimensions that `cube` gives them, and metrics the null models of all cubes."""
    order = ["null", *strata_dims(whole), "replicate"]
    variables = {name: x.transpose(*[d for d in order if d in x.dims], ...) for name, x in whole.data_vars.items()}
    for metric in metrics_of(whole):
        if any("control_null" in x[metric].attrs for x in parts):
            nulls = [null for x in parts for null in nulls_of(x, metric)]
            variables[metric].attrs["control_null"] = write_nulls(list(dict.fromkeys(nulls)))
        for variable in METRIC_VARIABLES.values():
            name = variable.name(metric)
            methods = [(x, str(x[name].attrs["method"])) for x in parts if name in x and "method" in x[name].attrs]
            if name in variables and methods:
                variables[name].attrs["method"] = _methods(methods, dim)
    made = whole.assign(variables)
    for name in {dim} & set(_DIMENSIONS) | ({"control_seed"} if len(seeds(made)) > 1 else set()):
        made.attrs.pop(name, None)
    return made


def _methods(methods: Sequence[tuple[xr.Dataset, str]], dim: str) -> str:
    """Return how the numbers of a variable were computed, in words."""
    if dim != "null":
        return ", ".join(sorted({word for _, method in methods for word in method.split(", ")}))
    words = []
    for cube, method in methods:
        labels = cube["null"].to_numpy().tolist()
        by_null = dict(word.split(": ") for word in method.split("; ")) if ": " in method else {labels[0]: method}
        words += [f"{label}: {by_null[label]}" for label in labels]
    return "; ".join(words)
