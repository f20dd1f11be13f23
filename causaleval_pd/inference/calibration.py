"""How often the tests of a study reject random guessing, beside how often they find skill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.checks import check_known
from ..cubes.lazy_tables import tabulate
from ..cubes.reading import (
    cube_metrics,
    draws_shared,
    has_controls,
    losses,
    null_name,
    null_references,
    null_stratum,
    strata_dims,
    strata_table,
)
from ..cubes.worst_case import cells
from ..statistics.arrays import Floats, moments, paired_difference
from ..statistics.direction import as_good, score
from ..statistics.paired_tests import Alternative, Outcome
from .control_tests import PAIRED_TESTS, check_cube

Method = Literal["randomisation", "wilcoxon", "sign", "t"]

METHODS: tuple[Method, ...] = ("randomisation", "wilcoxon", "sign", "t")
#: comparisons of draws that are held at once
_BLOCK = 4_000_000


def size_and_power(
    cube: xr.Dataset,
    metrics: str | Sequence[str] | None = None,
    *,
    methods: Method | Sequence[Method] = METHODS,
    alpha: float = 0.05,
    skill: float = 0.2,
    n_tables: int = 1000,
) -> pd.DataFrame:
    """Tell how often each test against controls rejects random guessing in this study, and how often it finds a skill.

    Draws of the controls take the place of the estimates, one after the other: whatever is rejected then is rejected
    wrongly. The number of runs, their truths and their ties are those of the study.

    Parameters
    ----------
    cube : Dataset
        Made by `cube(..., keep_draws=True)`.
    metrics : str or sequence of str, optional
        Which of its metrics; default all.
    methods : str or sequence of str
        Methods of `test_controls`; default all.
    alpha : float
        Level of the tests.
    skill : float
        Skill whose detection is the power: the draws come nearer to the optimum by this share of the controls' mean
        distance from it.
    n_tables : int
        How many draws take the place of the estimates, at most all.

    Returns
    -------
    DataFrame
        A row a stratum, metric and method: the strata, `metric`, `method`, `n_pairs` (runs), `alpha`, `size` (share of
        rejections without skill), `size_low`, `size_high` (Wilson's 95 % limits), `calibration`, `skill`, `power`
        (share of rejections with it), `n_tables`, `null`. `calibration` is "too liberal" if `size_low` exceeds alpha,
        "conservative" if `size` is below a fifth of alpha or `size_high` below alpha, "calibrated" else, and missing
        where nothing can be tested.

    Raises
    ------
    ValueError
        If a name is unknown, a number is out of range, or the cube keeps no draws or has shared ones.

    Notes
    -----
    A test whose size is near 0 is not calibrated but blunt, mostly for want of runs or draws: with R draws the
    randomisation test has no p-value below 1 / (R + 1). Each table has one draw fewer to compare with than the study.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("density == 0.2 and n == 100 and algorithm == 'pc'")
    >>> found = ce.cube(runs, ["shd"], by=["algorithm"], n_draws=200, rng=7, keep_draws=True)
    >>> ce.size_and_power(found, methods=["randomisation", "wilcoxon"])[["method", "calibration"]].values.tolist()
    [['randomisation', 'calibrated'], ['wilcoxon', 'calibrated']]
    """
    chosen = [methods] if isinstance(methods, str) else list(methods)
    for method in chosen:
        check_known(method, METHODS, "method")
    for name, value in (("alpha", alpha), ("skill", skill)):
        if not 0 < value < 1:
            raise ValueError(f"{name} must lie between 0 and 1, found {value!r}")
    if isinstance(n_tables, bool) or int(n_tables) != n_tables or n_tables < 1:
        raise ValueError(f"n_tables must be a whole number of at least 1, found {n_tables!r}")
    check_cube(cube, 0.5, "drop")
    names = cube_metrics(cube, metrics)
    cube = null_stratum(cube)

    def rows(part: xr.Dataset, name: str) -> pd.DataFrame:
        tables = [_rates(part, name, method, alpha, skill, int(n_tables)) for method in chosen]
        # a stratum's methods side by side
        return pd.concat(tables).sort_index(kind="stable")

    def finish(parts: list[pd.DataFrame]) -> pd.DataFrame:
        result = pd.concat(parts, ignore_index=True)
        return result[[name for name in result if name != "null"] + ["null"]]

    return tabulate(cube, names, rows, finish, strata=strata_dims(cube))


def _rates(cube: xr.Dataset, name: str, method: str, alpha: float, skill: float, n_tables: int) -> pd.DataFrame:
    """Return the table of one metric and method."""
    dims, spec = strata_dims(cube), cube[name].attrs
    draws = _draws(cube, name)
    loss = moments(losses(cube, name)[1])[1]
    better = np.where(np.isfinite(loss), skill * loss, np.nan) * (1 if spec["direction"] == "maximize" else -1)
    alternative: Alternative = "greater" if spec["direction"] == "maximize" else "less"
    tables = min(n_tables, draws.shape[2])
    share, defined = {}, np.zeros(len(draws), np.int64)
    for what, shift in (("size", np.zeros(len(draws))), ("power", better)):
        if method == "randomisation":
            p = _randomisation(draws, shift, tables, alternative)
        else:
            p = _paired(draws, shift, tables, PAIRED_TESTS[method], alternative)
        tested = ~np.isnan(p)
        with np.errstate(invalid="ignore"):
            share[what] = np.where(tested.any(axis=1), (p <= alpha).sum(axis=1) / tested.sum(axis=1), np.nan)
        defined = tested.sum(axis=1) if what == "size" else defined
    table = strata_table(cube)
    table = table.assign(
        metric=name, method=method, n_pairs=(~np.isnan(cells(cube[name], dims))).sum(axis=1), alpha=alpha
    )
    if "null" not in dims:
        table["null"] = null_name(cube)
    reference = table["null"].isin(null_references(cube)).to_numpy(bool)
    size = np.where(reference, np.nan, share["size"])
    low, high = _limits(size, defined)
    words = np.select([low > alpha, (size < alpha / 5) | (high < alpha)], ["too liberal", "conservative"], "calibrated")
    table = table.assign(size=size, size_low=low, size_high=high, calibration=pd.Series(words, dtype="str"))
    table["calibration"] = table["calibration"].where(~np.isnan(size))
    table = table.assign(skill=skill, power=np.where(reference, np.nan, share["power"]), n_tables=tables)
    kept: pd.DataFrame = table[table["n_pairs"] > 0]
    return kept


def _draws(cube: xr.Dataset, name: str) -> Floats:
    """Return what is averaged of the kept draws, (strata, runs, draws); NaN where the run has no value."""
    if not has_controls(cube):
        raise ValueError("the cube has no controls; make it by cube(..., n_draws=1000, keep_draws=True)")
    if draws_shared(cube):
        raise ValueError("the rows of this cube share their draws, so no draw can stand for the estimates of a study")
    kept = f"{name}_control"
    if kept not in cube or "draw" not in cube[kept].dims or cube.sizes["draw"] < 2:
        raise ValueError(
            f"the cube keeps no draws of {name} that could stand for the estimates; make it by cube(..., "
            "keep_draws=True) with at least 2 draws"
        )
    dims = strata_dims(cube)
    values = cells(cube[kept], dims, last=("replicate", "draw"))
    defined = ~np.isnan(cells(cube[name], dims))
    found = score(values, direction=cube[name].attrs["direction"], optimum=cube[name].attrs["optimum"])
    return np.where(defined[:, :, None], found, np.nan)


def _randomisation(draws: Floats, shift: Floats, tables: int, alternative: Alternative) -> Floats:
    """Return p-values (strata, tables) of the means of draws among the means of all others."""
    mean = moments(np.moveaxis(draws, 2, 1))[1]
    direction = "maximize" if alternative == "greater" else "minimize"
    found = np.full((len(mean), tables), np.nan)
    others = (~np.isnan(mean)).sum(axis=1) - 1
    step = max(1, _BLOCK // max(1, mean.size))
    for start in range(0, tables, step):
        own = mean[:, start : min(start + step, tables)]
        hits = as_good(mean[:, None, :], (own + shift[:, None])[:, :, None], direction=direction, optimum=0.0)
        itself = np.arange(own.shape[1])
        hits[:, itself, start + itself] = False
        p = (1 + hits.sum(axis=2)) / (1 + np.maximum(others, 1))[:, None]
        found[:, start : start + own.shape[1]] = np.where(np.isnan(own) | (others < 1)[:, None], np.nan, p)
    return np.where(np.isnan(shift)[:, None], np.nan, found)


def _paired(
    draws: Floats, shift: Floats, tables: int, test: Callable[..., Outcome], alternative: Alternative
) -> Floats:
    """Return p-values (strata, tables) of draws, each paired with the draw that follows it."""
    n = draws.shape[2]
    own = draws[:, :, :tables] + shift[:, None, None]
    pairs = paired_difference(own, draws[:, :, (np.arange(tables) + 1) % n])
    flat = np.moveaxis(pairs, 2, 1).reshape(-1, pairs.shape[1])
    return np.asarray(test(flat, alternative=alternative)[1], np.float64).reshape(len(draws), tables)


def _limits(share: Floats, n: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return Wilson's 95 % limits of shares."""
    from statsmodels.stats.proportion import proportion_confint

    known = ~np.isnan(share)
    low, high = np.full(share.shape, np.nan), np.full(share.shape, np.nan)
    if known.any():
        low[known], high[known] = proportion_confint(share[known] * n[known], n[known], method="wilson")
    return low, high
