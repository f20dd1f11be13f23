"""Which runs of a comparison depend on each other: those of a cluster of the cube, or of a coarser variable."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, cast

import numpy as np
import pandas as pd
import xarray as xr

from ..contract.checks import check_column_name, check_known, nearest
from ..contract.field import FIELDS
from ..cubes.reading import cluster_ids, cluster_setting, identity, strata_dims
from ..cubes.schema import SCORED, values_of
from ..tables.clusters import BY_TRUTH, SINGLE

#: default of `cluster=` of verbs on a cube
OF_CUBE = "of the cube"


def settle_cluster(cube: xr.Dataset, cluster: Hashable | None) -> str | None:
    """Return what names the clusters of a comparison: "truth", a column or variable, or None for independent runs.

    Parameters
    ----------
    cube : Dataset
        Read by `read_cube`.
    cluster : hashable or None
        As in `compare`.

    Raises
    ------
    ValueError
        If the name is unknown, or None is asked of a cube whose runs depend on each other.
    """
    check_column_name(cluster, "cluster")
    # cubes of earlier versions do not name their clusters
    made = cube.attrs.get("control_cluster")
    if cluster == OF_CUBE:
        if made is None:
            return BY_TRUTH if truths_mark_runs(cube) else None
        return None if made == SINGLE else str(made).removeprefix("column ")
    if cluster is None:
        if made not in (None, SINGLE):
            raise ValueError(
                f"cluster=None cannot be asked of a cube that was made with the clusters {made!r}: its runs depend on "
                "each other; where they are independent, make it by cube(..., cluster=None)"
            )
        return None
    _check_truths(cube, cluster)
    own = [] if made in (None, SINGLE, BY_TRUTH) else [str(made).removeprefix("column ")]
    known = [BY_TRUTH, *own, *values_of(cube)]
    hint = nearest(str(cluster), known) or "carry a column of numbers by cube(values=); "
    check_known(str(cluster), known, "variable of this cube (cluster)", hint)
    return str(cluster)


def run_groups(cube: xr.Dataset, cluster: str | None) -> xr.DataArray | None:
    """Return the cluster of every run as a number, the same one for the whole cube; 0 for runs without a value.

    `cluster` comes from `settle_cluster`. Clusters that split those of the cube are refused.
    """
    if cluster is None:
        return None
    made = cluster_setting(cube)
    if cluster == BY_TRUTH or made == f"column {cluster}":
        found = identity(cube, "truth_id" if cluster == BY_TRUTH else "cluster_id").astype(np.int64)
    else:
        found = _numbered(cube, cluster)
    if made not in (SINGLE, BY_TRUTH if cluster == BY_TRUTH else f"column {cluster}"):
        _check_whole(cube, found, cluster)
    return cast(xr.DataArray, found)


def _numbered(cube: xr.Dataset, name: str) -> xr.DataArray:
    """Return the values of a carried column as numbers."""
    found = cube[name]
    lacking = found.isnull() & (cube["status"] == SCORED)
    if lacking.any():
        raise ValueError(
            f"cluster={name!r} has no value at {_place(lacking, 0)}; give every run a cluster of its own or one that "
            "it shares"
        )
    values = found.to_numpy().reshape(-1)
    codes = pd.util.hash_array(values if values.dtype.kind in "iufb" else values.astype(str).astype(object))
    groups = codes.view(np.int64).reshape(found.shape)
    return cast(xr.DataArray, found.copy(data=np.where(groups == 0, 1, groups)).where(found.notnull(), 0))


def _check_whole(cube: xr.Dataset, groups: xr.DataArray, cluster: str) -> None:
    """Refuse groups of runs that hold a part of a cluster of the cube."""
    dims = [*strata_dims(cube), "replicate"]
    scored = (cube["status"] == SCORED).transpose(*dims)
    here = scored.to_numpy().reshape(-1)
    own, asked = (x.transpose(*dims).to_numpy().reshape(-1)[here] for x in (cluster_ids(cube), groups))
    if not len(own):
        return
    _, first, of = np.unique(own, return_index=True, return_inverse=True)
    wrong = np.flatnonzero(asked != asked[first[of]])
    if len(wrong):
        run, other = (_place(scored, int(i)) for i in (wrong[0], first[of[wrong[0]]]))
        raise ValueError(
            f"cluster={cluster!r} splits the clusters {cluster_setting(cube)!r} by which the cube was made: the runs "
            f"at {other} and at {run} depend on each other; name a coarser variable, or leave cluster= out"
        )


def _place(marked: xr.DataArray, number: int) -> str:
    """Name the cell of the marked run of this number."""
    at = [int(i) for i in np.argwhere(marked.to_numpy())[number]]
    return ", ".join(
        f"{dim} {marked[dim].to_numpy()[i] if dim in marked.coords else i}"
        for dim, i in zip(marked.dims, at, strict=True)
    )


def truths_mark_runs(cube: xr.Dataset) -> bool:
    """Return whether equal truths mean that runs are on one data set, as for graphs but not for answers."""
    field = FIELDS.get(str(cube.attrs.get("field")))
    return field is None or field.truth_clusters


def _check_truths(cube: xr.Dataset, cluster: Any) -> None:
    """Refuse clusters by truth where equal truths belong to different questions."""
    if cluster == BY_TRUTH and not truths_mark_runs(cube):
        raise ValueError(
            f"cluster='truth': equal truths of field {cube.attrs['field']!r} belong to different questions, so they "
            "are not clusters; name the column of the questions by cube(..., cluster=)"
        )
