"""Combine strata: combined p-values, and the mean skill of a random-effects model."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy
import xarray as xr

from ..contract.checks import check_known, check_type
from ..contract.history import call
from ..cubes.lazy_tables import tabulate
from ..cubes.reading import (
    control_sums,
    cube_metrics,
    losses,
    need_controls,
    null_name,
    null_stratum,
    strata_dims,
    strata_table,
    variable_of_cube,
)
from ..cubes.reshaped import read_cube
from ..cubes.schema import NO_RUN, declare_columns
from ..cubes.worst_case import cells
from ..statistics.arrays import Floats, moments, ratio, ratio_moments
from ..statistics.clusters import cluster_sums
from ..statistics.multiplicity import adjust as adjusted
from ..statistics.pooling import equal_skills, pool_skills
from ..statistics.skill import skill_interval
from .control_tests import stratum_p_values
from .result_tables import check_shares, in_order

Combine = Literal["fisher", "stouffer"]

#: columns of the result, after the strata
COLUMNS = declare_columns(
    "meta_analysis",
    (
        *("metric", "n_strata", "statistic", "p_value", "p_adjusted", "skill", "ci_low", "ci_high"),
        *("tau2", "heterogeneity", "heterogeneity_p", "n_effects", "n_runs", "null", "method", "note"),
    ),
)

#: columns of one metric that pooling gives
_POOLED = (
    *("n_strata", "statistic", "p_value", "skill", "ci_low", "ci_high", "tau2"),
    *("heterogeneity", "heterogeneity_p", "n_effects", "note"),
)
#: strata below which the interval is called approximate
_FEW = 5


def meta_analysis(
    cube: xr.Dataset,
    over: str | Sequence[str] | None = None,
    metrics: str | Sequence[str] | None = None,
    *,
    combine: Combine = "fisher",
    adjust: str | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Combine strata: test whether there is skill in any, and estimate their mean skill.

    Parameters
    ----------
    cube : Dataset
        Made by `cube` with controls.
    over : str or sequence of str
        Strata that are combined, such as "density"; the others keep their rows. The runs of strata that are combined
        must be on different truths.
    metrics : str or sequence of str, optional
        Which of its metrics; default all.
    combine : {"fisher", "stouffer"}
        How p-values are combined: Fisher's method is sensitive to a single small one, Stouffer's, weighted by the
        square roots of the numbers of runs, to many that are fairly small.
    adjust : {"holm", "bh", "by", "bonferroni", "none"} or None
        Multiplicity correction of the combined p-values over all rows returned.
    level : float
        Probability of the interval of the mean skill.

    Returns
    -------
    DataFrame
        A row a remaining stratum and metric: the strata, `metric`, `n_strata` (with a p-value), `statistic` and
        `p_value` of the combined randomisation tests, `p_adjusted`, `skill` with `ci_low` and `ci_high`, `tau2`
        (variance of skill between strata), `heterogeneity` and `heterogeneity_p` (Welch's F test that all strata have
        the same skill, approximate; missing where a stratum has fewer than 20 runs or no variation), `n_effects`
        (strata whose skill has information), `n_runs` (of all strata that are combined), `null`, `method`, `note`.

    Raises
    ------
    ValueError
        If a name is unknown, the cube has no controls or its rows share their draws, or combined strata share truths.

    Notes
    -----
    The combined p-value is about the hypothesis that no stratum beats random guessing. The mean skill is that of a
    random-effects model whose weights come from the controls: each stratum's skill counts by its variance under random
    guessing, plus Paule and Mandel's variance between strata. A stratum's own spread would be small where its skill is
    large, and 0 where all runs are perfect. Hartung and Knapp's interval has a factor of at least 1 and ends at skill
    1; two strata have none, and one stratum keeps its own skill and interval. Where losses are skewed, with few runs in
    each of fewer than five strata, intervals of .95 cover about .90. Strata whose controls are all alike (empty or
    complete graphs) have no information and are left out, which `note` counts.

    References
    ----------
    .. [1] Fisher, R. A. (1932). Statistical Methods for Research Workers, 4th edition, section 21.1.
    .. [2] Paule, R. C., Mandel, J. (1982). Consensus values and weighting factors. doi:10.6028/jres.087.022
    .. [3] IntHout, J., Ioannidis, J. P. A., Borm, G. F. (2014). The Hartung-Knapp-Sidik-Jonkman method for random
       effects meta-analysis. doi:10.1186/1471-2288-14-25

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("n == 100")
    >>> found = ce.cube(runs, ["shd"], by=["algorithm", "density"], n_draws=200, rng=7)
    >>> ce.meta_analysis(found, "density")[["algorithm", "n_strata", "skill"]].round(2)
      algorithm  n_strata  skill
    0       ges         3   0.40
    1    lingam         3   0.43
    2        pc         3   0.36
    """
    cube = read_cube(cube)
    names = cube_metrics(cube, metrics)
    need_controls(cube, names, "to measure skill against")
    check_shares(level=level)
    check_known(combine, ["fisher", "stouffer"], "method (combine)")
    cube = null_stratum(cube)
    dims = strata_dims(cube)
    wanted = _combined_dims(over, dims)

    def rows(part: xr.Dataset, name: str) -> pd.DataFrame:
        kept = [dim for dim in strata_dims(part) if dim not in wanted]
        part = part.transpose(*kept, *wanted, ...).assign_attrs(strata=json.dumps([*kept, *wanted]))
        _check_truths(part, kept, wanted)
        table = strata_table(part.isel(dict.fromkeys(wanted, 0), drop=True))
        if "null" not in kept:
            table["null"] = null_name(part, name)
        n_runs = (
            (cells(part["status"], kept, last=(*wanted, "replicate")) != NO_RUN).reshape(len(table), -1).sum(axis=1)
        )
        return table.assign(metric=name, n_runs=n_runs, **_pool(part, name, len(table), combine, level))

    def finish(parts: list[pd.DataFrame]) -> pd.DataFrame:
        result = pd.concat(parts, ignore_index=True)
        result = result[result["n_strata"] > 0].reset_index(drop=True)
        result = result.assign(method=combine, p_adjusted=adjusted(result["p_value"], adjust))
        return in_order(result, COLUMNS)

    settings = {"metrics": names, "over": wanted, "combine": combine, "adjust": adjust, "level": level}
    made = call("meta_analysis", settings)
    return tabulate(cube, names, rows, finish, strata=dims, whole=wanted, made=made)


def _combined_dims(over: str | Sequence[str] | None, dims: Sequence[str]) -> list[str]:
    """Return the dimensions that are combined, or refuse unknown ones and an empty list."""
    check_type(over, (str, Sequence, type(None)), "the name of a stratum or a list of them", "over")
    wanted = [over] if isinstance(over, str) else list(over or [])
    choice = [name for name in dims if name != "null"]
    if not wanted:
        raise ValueError(f"over= names no dimension; name the strata that are combined, of {choice}")
    for dim in wanted:
        check_known(dim, choice, "dimension (over)")
    return wanted


def _pool(cube: xr.Dataset, name: str, n_rows: int, combine: Combine, level: float) -> dict[str, Any]:
    """Return the columns of one metric, over `n_rows` remaining strata; see `meta_analysis`."""
    # a p-value of 1 has no normal quantile; the draws cannot tell it from the middle of the last step
    p = np.minimum(stratum_p_values(cube, name), 1 - 0.5 / (int(cube.attrs["n_draws"]) + 1)).reshape(n_rows, -1)
    loss, expected = losses(cube, name)
    n, _, _ = ratio_moments(loss, expected)
    own = skill_interval(*_by_truth(cube, loss, expected), level)
    variance = _guessing_variance(cube, name, expected)
    columns: dict[str, list[Any]] = {key: [] for key in _POOLED}
    for row in range(n_rows):
        part = slice(row * p.shape[1], (row + 1) * p.shape[1])
        used = ~np.isnan(p[row])
        statistic, combined = math.nan, math.nan
        if used.any():
            # only Stouffer's method has weights
            statistic, combined = scipy.stats.combine_pvalues(p[row][used], combine, weights=np.sqrt(n[part][used]))
        found = pool_skills(own.effect[part], variance[part], level)
        if found.n_effects == 1:
            [one] = np.flatnonzero(np.isfinite(own.effect[part]) & (variance[part] > 0))
            found = found._replace(low=own.low[part][one], high=own.high[part][one])
        blank = int((np.isfinite(own.effect[part]) & ~(variance[part] > 0)).sum())
        difference = equal_skills(loss[part], expected[part])
        note = _note(found.n_effects, blank, found.low)
        values = (int(used.sum()), statistic, combined, found.skill, found.low, found.high, found.tau2)
        for key, value in zip(_POOLED, (*values, *difference, found.n_effects, note), strict=True):
            columns[key].append(value)
    return columns | {"note": pd.array(columns["note"], dtype="str")}


def _by_truth(cube: xr.Dataset, loss: Floats, expected: Floats) -> tuple[Floats, Floats]:
    """Add up losses by truth."""
    identity = cells(variable_of_cube(cube, "truth_id"), strata_dims(cube))
    return cluster_sums(loss, identity)[0], cluster_sums(expected, identity)[0]


def _guessing_variance(cube: xr.Dataset, name: str, expected: Floats) -> Floats:
    """Return the variance of each stratum's skill under random guessing: that of its controls over the draws."""
    sums, counts = (cells(x, strata_dims(cube), last=("draw",)) for x in control_sums(cube, name))
    _, total, _ = moments(np.where(counts > 0, counts, np.nan))
    spread = moments(ratio(sums, counts))[2] * total
    return ratio(spread, np.where(np.isnan(expected), 0.0, expected).sum(axis=1)) ** 2


def _note(n_effects: int, blank: int, low: float) -> str | None:
    """Return why strata are left out or the mean has no interval."""
    words = [f"{blank} strata whose controls are all alike are left out"] if blank else []
    if n_effects == 2:
        words.append("no interval of two strata")
    elif n_effects == 1 and math.isnan(low):
        words.append("one stratum, and too few truths for its interval")
    elif 2 < n_effects < _FEW:
        words.append(f"approximate below {_FEW} strata")
    return "; ".join(words) or None


def _check_truths(cube: xr.Dataset, kept: Sequence[str], over: Sequence[str]) -> None:
    """Refuse to combine strata that share truths: neither their p-values nor their skills are independent."""
    status = cells(cube["status"], kept, last=(*over, "replicate"))
    identity = cells(variable_of_cube(cube, "truth_id"), kept, last=(*over, "replicate"))
    n_strata = math.prod(status.shape[1:-1])
    places = np.broadcast_to(np.arange(n_strata)[:, None], (len(status), n_strata, status.shape[-1]))
    rows = np.broadcast_to(np.arange(len(status))[:, None, None], places.shape)
    used = (status != NO_RUN).reshape(-1) & (identity != 0).reshape(-1)
    seen = pd.DataFrame({"row": rows.reshape(-1), "truth": identity.reshape(-1), "stratum": places.reshape(-1)})[used]
    shared = seen.groupby(["row", "truth"])["stratum"].nunique()
    n_shared = int((shared > 1).sum())
    if n_shared:
        raise ValueError(
            f"strata along {', '.join(map(repr, over))} have runs on the same truth ({n_shared} truths), so they are "
            "not independent; combine over a dimension whose levels have truths of their own, such as density, or "
            "choose one level of the others"
        )
