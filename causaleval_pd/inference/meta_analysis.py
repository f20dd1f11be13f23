"""Combine strata: combined p-values, and the mean skill of a random-effects model."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import scipy
import xarray as xr
from numpy.typing import NDArray

from ..contract.checks import check_known, check_type
from ..contract.history import call
from ..cubes.lazy_tables import tabulate
from ..cubes.p_values import stratum_p
from ..cubes.reading import (
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
from ..statistics.arrays import Floats, ratio_moments
from ..statistics.multiplicity import adjust as adjusted
from .result_tables import check_shares, in_order

Combine = Literal["fisher", "stouffer"]

#: columns of the result, after the strata
COLUMNS = declare_columns(
    "meta_analysis",
    (
        *("metric", "n_strata", "statistic", "p_value", "p_adjusted", "skill", "ci_low", "ci_high"),
        *("tau2", "i2", "q", "q_p_value", "n_effects", "n_runs", "null", "method"),
    ),
)


class PooledSkill(NamedTuple):
    """Mean skill over strata, its limits, and how the strata differ."""

    skill: float
    ci_low: float
    ci_high: float
    tau2: float
    i2: float
    q: float
    q_p_value: float
    n_effects: int


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
        (variance of skill between strata), `i2` (share of the variation that is not chance), `q` and `q_p_value`
        (Cochran's test that all strata have the same skill), `n_effects` (strata whose skill has a standard error),
        `n_runs` (of all strata that are combined), `null`, `method`.

    Raises
    ------
    ValueError
        If a name is unknown, the cube has no controls or its rows share their draws, or combined strata share truths.

    Notes
    -----
    The combined p-value is about the hypothesis that no stratum beats random guessing. The mean skill is that of a
    random-effects model with Paule and Mandel's variance between strata and Hartung and Knapp's interval, as of
    `statsmodels.stats.meta_analysis.combine_effects`; strata with one run, or whose runs all have the same skill, have
    no standard error and are left out of it (compare `n_effects` with `n_strata`). One stratum alone keeps its own
    skill and interval.

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


def pool_skill(skill: Floats, error: Floats, n: NDArray[np.int64], level: float) -> PooledSkill:
    """Pool the skills of strata (k,) by a random-effects model; strata without a standard error are left out.

    NaN without strata; one stratum keeps its t interval.
    """
    from statsmodels.stats.meta_analysis import combine_effects

    used = np.isfinite(skill) & (error > 0)
    k = int(used.sum())
    if k == 0:
        return PooledSkill(math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, 0)
    if k == 1:
        centre = float(skill[used][0])
        half = float(error[used][0] * scipy.special.stdtrit(n[used][0] - 1, (1 + level) / 2))
        return PooledSkill(centre, centre - half, centre + half, math.nan, math.nan, math.nan, math.nan, 1)
    found = combine_effects(skill[used], error[used] ** 2, method_re="iterated", use_t=True)
    low, high = found.conf_int(alpha=1 - level)[3]
    q = max(float(found.q), 0.0)
    i2 = max(0.0, 1 - (k - 1) / q) if q > 0 else 0.0
    p = scipy.stats.chi2.sf(q, k - 1)
    return PooledSkill(float(found.mean_effect_re), float(low), float(high), max(float(found.tau2), 0.0), i2, q, p, k)


def _pool(cube: xr.Dataset, name: str, n_rows: int, combine: Combine, level: float) -> dict[str, Any]:
    """Return the columns of one metric, over `n_rows` remaining strata; see `meta_analysis`."""
    p = stratum_p(cube, name).p.reshape(n_rows, -1)
    n, ratio, error = (x.reshape(n_rows, -1) for x in ratio_moments(*losses(cube, name)))
    statistic, combined = np.full(n_rows, np.nan), np.full(n_rows, np.nan)
    defined = ~np.isnan(p)
    for row in np.flatnonzero(defined.any(axis=1)):
        used = defined[row]
        # only Stouffer's method has weights
        found = scipy.stats.combine_pvalues(p[row][used], combine, weights=np.sqrt(n[row][used]))
        statistic[row], combined[row] = found.statistic, found.pvalue
    pooled = [pool_skill(1 - ratio[row], error[row], n[row], level) for row in range(n_rows)]
    columns: dict[str, Any] = {"n_strata": defined.sum(axis=1), "statistic": statistic, "p_value": combined}
    return columns | {key: [getattr(one, key) for one in pooled] for key in PooledSkill._fields}


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
