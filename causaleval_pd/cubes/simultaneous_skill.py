"""The level at which the intervals of skill of a summary hold all true values together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from ..statistics.clusters import cluster_columns, cluster_sums
from ..statistics.simultaneous import MOST_NUMBERS, sidak_level, single_level
from ..statistics.skill import skill_influence
from ..tables.clusters import SINGLE
from .lazy_tables import is_lazy
from .reading import cluster_setting, clusters_of_runs, has_controls, loss_errors, losses, metric_strata
from .reshaped import check_metric


def simultaneous_level(cube: xr.Dataset, names: Sequence[str], level: float, seed: int) -> float:
    """Return the level of each interval of skill, of all strata and metrics that have one.

    Parameters
    ----------
    cube : Dataset
        In memory, its null models turned into strata.
    names : sequence of str
        Metrics; those without controls have no skill.
    level : float
        Probability that all intervals hold their true values.
    seed : int
        Seed of the random multipliers.

    Raises
    ------
    ValueError
        If the cube is lazy.

    Notes
    -----
    Strata are correlated by the clusters that they share. Where every run is a cluster, or memory does not hold strata
    times clusters, it is Šidák's level, which always suffices.
    """
    if is_lazy(cube):
        raise ValueError(
            "simultaneous=True looks at all strata together, but this cube is lazy; load it by cube.compute()"
        )
    single = cluster_setting(cube) == SINGLE
    parts = []
    for name in names:
        if has_controls(cube, name):
            part = check_metric(metric_strata(cube, name), name)
            parts.append((*losses(part, name), loss_errors(part, name), clusters_of_runs(part)))
    if not parts:
        return level
    own, expected, errors, clusters = (np.concatenate(x) for x in zip(*parts, strict=True))
    if single or len(own) * len(np.unique(clusters)) > MOST_NUMBERS:
        alone = skill_influence(
            *(cluster_sums(x, clusters)[0] for x in (own, expected)), control_error=cluster_sums(errors, clusters)[0]
        )
        return sidak_level(level, int((~np.isnan(alone)).any(axis=1).sum()))
    columns = [cluster_columns(x, clusters) for x in (own, expected, errors)]
    return single_level(skill_influence(*columns[:2], control_error=columns[2]), level, rng=seed)
