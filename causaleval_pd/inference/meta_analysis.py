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
from ..cubes.composite_nulls import MEMBER, has_composites, worst_members
from ..cubes.lazy_tables import tabulate
from ..cubes.p_values import stratum_p
from ..cubes.reading import (
    cluster_setting,
    clusters_of_runs,
    cube_metrics,
    loss_errors,
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
from ..cubes.stratum_tests import draw_sums, stratum_tests
from ..cubes.worst_case import cells
from ..statistics.arrays import SMALLEST_P, Floats, moments, ratio
from ..statistics.clusters import cluster_columns
from ..statistics.interval_notes import counted
from ..statistics.multiplicity import adjust as adjusted
from ..statistics.pooling import equal_skills, pool_shared_skills, pool_skills
from ..statistics.skill import skill_interval, skill_notes
from ..tables.clusters import SINGLE
from .clusters import truths_mark_runs
from .result_tables import check_own_draws, check_shares, in_order

Combine = Literal["fisher", "stouffer"]

#: columns of the result, after the strata
COLUMNS = declare_columns(
    "meta_analysis",
    (
        *("metric", "n_strata", "n_effects", "n_runs", "null", "method", "tau2", "heterogeneity", "heterogeneity_p"),
        *("note", "statistic", "skill", "ci_low", "ci_high", "p_value", "p_adjusted"),
    ),
)

#: columns of one metric that pooling gives
_POOLED = (
    *("n_strata", "statistic", "p_value", "skill", "ci_low", "ci_high", "tau2"),
    *("heterogeneity", "heterogeneity_p", "n_effects", "method", "note"),
)
#: how the p-values of strata that share truths are combined
TWICE_THE_MEAN = "twice the mean"
#: note on strata that the cube takes as independent
INDEPENDENT = "strata have runs on the same truths, taken as independent (cluster=None)"
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
        Strata that are combined, such as "density"; the others keep their rows. At least one is needed.
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
        the same skill, approximate; missing where a stratum has fewer than 20 truths or no variation, and where strata
        share truths), `n_effects` (strata whose skill has information), `n_runs` (of all strata that are combined),
        `null`, `method` (`combine`, or "twice the mean" where strata share truths), `note`. Under a composite null
        model (`ce.worst_of`) a row is that of the member with the largest combined p, which `control_null` names.

    Raises
    ------
    ValueError
        If a name is unknown, the cube has no controls, or its rows share their draws.

    Notes
    -----
    Null hypothesis of the combined p-value: no stratum beats random guessing. Alternative: at least one does, which may
    be a single one. It assumes valid p-values, and independent strata unless they share truths. Do not use it to ask in
    which strata there is skill: `test_controls` with a correction does. The mean skill is that of a
    random-effects model whose weights come from the controls: each stratum's skill counts by its variance under random
    guessing, plus Paule and Mandel's variance between strata. A stratum's own spread would be small where its skill is
    large, and 0 where all runs are perfect. Hartung and Knapp's interval has a factor of at least 1 and ends at skill
    1. Its degrees of freedom are the number of strata less 1; where a few strata outweigh the others, so that Kish's
    effective number is below half of it, they are the effective number less 1, at least 1. Two strata have no interval,
    and one stratum keeps its own skill and interval. Where losses are skewed, with few runs in each of fewer than five
    strata, intervals of .95 cover about .90. Strata whose controls are all alike (empty or complete graphs) have no
    information and are left out, which `note` counts.

    Strata that share truths, such as algorithms on the same data, are not independent: the interval comes from a
    jackknife that leaves out one truth at a time in all strata and holds their weights, and the combined p-value is
    twice the mean of the strata's, valid under any dependence and with little power. Its `statistic` is that mean.
    `note` names the rows in which Bonferroni's correction finds skill in a stratum and twice the mean does not: a cube
    that is not divided by these strata tests all their runs together.
    Truths are shared by the clusters of the cube; one that was made with `cluster=None` takes all strata as
    independent, which `note` names where they have runs on the same truths. The hypothesis of a composite null model is
    that all strata combined guess by one and the same of its members.

    References
    ----------
    .. [1] Fisher, R. A. (1932). Statistical Methods for Research Workers, 4th edition, section 21.1.
    .. [2] Paule, R. C., Mandel, J. (1982). Consensus values and weighting factors. doi:10.6028/jres.087.022
    .. [3] IntHout, J., Ioannidis, J. P. A., Borm, G. F. (2014). The Hartung-Knapp-Sidik-Jonkman method for random
       effects meta-analysis. doi:10.1186/1471-2288-14-25
    .. [4] Vovk, V., Wang, R. (2020). Combining p-values via averaging. doi:10.1093/biomet/asaa027

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
    check_own_draws(cube, "strata have no p-values that could be combined")
    check_shares(level=level)
    check_known(combine, ["fisher", "stouffer"], "method (combine)")
    cube = null_stratum(cube)
    dims = strata_dims(cube)
    wanted = _combined_dims(over, dims)
    empty = [dim for dim in dims if cube.sizes[dim] == 0]
    if empty:
        raise ValueError(
            f"the cube has no levels of {', '.join(map(repr, empty))}, so that there is nothing to combine"
        )

    def rows(part: xr.Dataset, name: str) -> pd.DataFrame:
        kept = [dim for dim in strata_dims(part) if dim not in wanted]
        part = part.transpose(*kept, *wanted, ...).assign_attrs(strata=json.dumps([*kept, *wanted]))
        table = strata_table(part.isel(dict.fromkeys(wanted, 0), drop=True))
        if "null" not in kept:
            table["null"] = null_name(part, name)
        n_runs = (
            (cells(part["status"], kept, last=(*wanted, "replicate")) != NO_RUN).reshape(len(table), -1).sum(axis=1)
        )
        return table.assign(metric=name, n_runs=n_runs, **_pool(part, name, len(table), combine, level, wanted))

    def finish(parts: list[pd.DataFrame]) -> pd.DataFrame:
        result = pd.concat([worst_members(cube, part) for part in parts], ignore_index=True)
        result = result[result["n_strata"] > 0].reset_index(drop=True)
        result = result.assign(p_adjusted=adjusted(result["p_value"], adjust))
        columns = list(COLUMNS)
        if has_composites(cube):
            columns.insert(columns.index("null") + 1, MEMBER)
        return in_order(result, columns)

    settings = {"metrics": names, "over": wanted, "combine": combine, "adjust": adjust, "level": level}
    made = call("meta_analysis", settings)
    return tabulate(cube, names, rows, finish, strata=dims, whole=wanted, made=made)


def _combined_dims(over: str | Sequence[str] | None, dims: Sequence[str]) -> list[str]:
    """Return the dimensions that are combined, or refuse unknown ones and an empty list."""
    check_type(over, (str, Sequence, type(None)), "the name of a stratum or a list of them", "over")
    wanted = [over] if isinstance(over, str) else list(over or [])
    choice = [name for name in dims if name != "null"]
    if not wanted:
        raise ValueError(
            f"over= names no dimension; name the strata that are combined, such as over={choice[:1]}, of {choice}"
        )
    for dim in wanted:
        check_known(dim, choice, "dimension (over)")
    return wanted


class _Strata(NamedTuple):
    """The strata of one metric that are combined to one row: (k,), (k, n) for truths, (k, n) for runs."""

    p_value: Floats
    #: variance of skill under random guessing
    variance: Floats
    #: losses of the runs and expected ones, added up by truth; NaN where absent
    loss: Floats
    control_loss: Floats
    #: Monte Carlo standard errors of the latter
    error: Floats
    #: runs that count
    n_runs: NDArray[np.int64]
    #: whether strata have runs on the same truth
    share_truths: bool


def _pool(
    cube: xr.Dataset, name: str, n_rows: int, combine: Combine, level: float, over: Sequence[str]
) -> dict[str, Any]:
    """Return the columns of one metric, over `n_rows` remaining strata; see `meta_analysis`."""
    p = stratum_p(cube, name).p
    (loss, expected), errors = losses(cube, name), loss_errors(cube, name)
    scores = cells(cube[name], strata_dims(cube))
    variance, truths = _guessing_variance(cube, name, expected), clusters_of_runs(cube)
    runs = np.where(cells(cube["status"], strata_dims(cube)) != NO_RUN, 1.0, np.nan)
    unnamed = None
    if cluster_setting(cube) == SINGLE and truths_mark_runs(cube):
        unnamed = cells(variable_of_cube(cube, "truth_id"), strata_dims(cube))
    rows, k = [], len(p) // max(n_rows, 1)
    for row in range(n_rows):
        part = slice(row * k, (row + 1) * k)
        here, own, controls, error = (cluster_columns(x[part], truths[part]) for x in (runs, loss, expected, errors))
        shared = bool(((~np.isnan(here)).sum(axis=0) > 1).any())
        # counts without an optimum have values and no losses
        used = (~np.isnan(scores[part])).sum(axis=1)
        strata = _Strata(p[part], variance[part], own, controls, error, used, shared)
        found = _combine(strata, combine, int(cube.attrs["n_draws"])) | _pool_skills(strata, level)
        least = np.fmin.reduce(strata.p_value, initial=1.0) * found["n_strata"]
        if shared and least <= 1 - level < found["p_value"]:
            words = f"{TWICE_THE_MEAN} has little power: a cube without {', '.join(over)} tests all runs together"
            found["note"] = "; ".join(filter(None, [words, found["note"]]))
        if unnamed is not None and _repeats(np.where(np.isnan(runs[part]), 0, unnamed[part])):
            found["note"] = "; ".join(filter(None, [found["note"], INDEPENDENT]))
        rows.append(found)
    columns: dict[str, Any] = {key: [row[key] for row in rows] for key in _POOLED}
    return columns | {key: pd.array(columns[key], dtype="str") for key in ("method", "note")}


def _combine(strata: _Strata, combine: Combine, n_draws: int) -> dict[str, Any]:
    """Combine the p-values of strata."""
    used = ~np.isnan(strata.p_value)
    p, found = strata.p_value[used], {"n_strata": int(used.sum()), "method": str(combine)}
    if not used.any():
        return found | {"statistic": math.nan, "p_value": math.nan}
    if strata.share_truths:
        # valid under any dependence
        return found | {"statistic": p.mean(), "p_value": min(1.0, 2 * p.mean()), "method": TWICE_THE_MEAN}
    if combine == "stouffer":
        # a p-value of 1 has no normal quantile; draws cannot tell it from the middle of the last step
        p = np.minimum(p, 1 - 0.5 / (n_draws + 1))
    tested = scipy.stats.combine_pvalues(p, combine, weights=np.sqrt(strata.n_runs[used]))
    return found | {"statistic": tested.statistic, "p_value": np.maximum(tested.pvalue, SMALLEST_P)}


def _pool_skills(strata: _Strata, level: float) -> dict[str, Any]:
    """Return the mean skill of strata with its interval, and how they differ."""
    sums = strata.loss, strata.control_loss
    own = skill_interval(*sums, level, control_error=strata.error)
    known = np.isfinite(own.effect) & (strata.variance > 0)
    blank = int((np.isfinite(own.effect) & ~known).sum())
    note = [f"left out: {counted(blank, 'stratum', 'strata')} whose controls are all alike"] if blank else []
    infinite = int((np.isinf(strata.loss) | np.isinf(strata.control_loss)).any(axis=1).sum())
    note += [f"left out: {counted(infinite, 'stratum', 'strata')} with infinite losses"] if infinite else []
    if strata.share_truths:
        found = pool_shared_skills(*sums, strata.variance, level, control_error=strata.error)
        difference = math.nan, math.nan
    else:
        found, difference = pool_skills(own.effect, strata.variance, level), equal_skills(*sums, strata.error)
    if found.n_effects == 1:
        [one] = np.flatnonzero(known)
        found = found._replace(low=own.low[one], high=own.high[one])
    if found.n_effects == 1 or (found.n_effects > 1 and strata.share_truths):
        word = skill_notes(*(_add(x[known]) for x in sums), control_error=_add(strata.error[known])).item()
        note += [word] if word else []
    elif found.n_effects == 2:
        note.append("no interval: 2 strata")
    elif 2 < found.n_effects < _FEW:
        note.append(f"approximate: fewer than {_FEW} strata")
    return {
        "skill": found.skill,
        "ci_low": found.low,
        "ci_high": found.high,
        "tau2": found.tau2,
        "heterogeneity": difference[0],
        "heterogeneity_p": difference[1],
        "n_effects": found.n_effects,
        "note": "; ".join(note) or None,
    }


def _repeats(truths: NDArray[np.int64]) -> bool:
    """Check whether several strata (rows) have runs on one truth; 0 marks a missing truth."""
    own = [np.unique(row[row != 0]) for row in truths]
    return len(np.unique(np.concatenate(own))) < sum(map(len, own))


def _add(values: Floats) -> Floats:
    """Add up strata; NaN where no stratum has a value."""
    gone = np.isnan(values)
    return np.where(gone.all(axis=0), np.nan, np.where(gone, 0.0, values).sum(axis=0))


def _guessing_variance(cube: xr.Dataset, name: str, expected: Floats) -> Floats:
    """Return the variance of each stratum's skill under random guessing: that of its controls over the draws.

    Where a stratum repeats a cluster, draws relabel the estimates of a cluster alike.
    """
    n_runs = stratum_tests(cube, name, combine=False).columns.defined[:, 0]
    spread = moments(ratio(*draw_sums(cube, name)))[2] * n_runs
    return ratio(spread, np.where(np.isnan(expected), 0.0, expected).sum(axis=1)) ** 2
