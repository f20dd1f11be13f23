"""Tables of tests by stratum: estimates against their controls, and the levels of a dimension against each other."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from .controls import check_settings
from .cube import FAILED, NO_RUN, SCORED
from .engine import RNGLike, resolve_seed
from .failed_runs import cells, fill_failed
from .messages import check_known
from .resampling import bootstrap_mean, sign_flip
from .significance import Alternative, Outcome, mann_whitney, paired_t, paired_wilcoxon, sign_test, welch_t
from .stats import (
    Estimate,
    Floats,
    cliffs_delta,
    cohen_dz,
    mean_difference,
    moments,
    paired_difference,
    rank_biserial,
    score,
    welch_difference,
)
from .stats import adjust as adjusted
from .summary import (
    cube_metrics,
    draws_shared,
    has_controls,
    null_name,
    null_stratum,
    randomisation,
    strata_dims,
    strata_table,
)

Missing = Literal["drop", "worst"]

_COLUMNS = ["metric", "comparison", "statistic", "p_value", "p_adjusted", "effect", "ci_low", "ci_high"]
_COLUMNS += ["n_pairs", "n_missing", "n_undefined", "null", "method", "alternative"]
_SHARES = ["superiority_share", "superiority_strict", "superiority_ties"]

_PAIRED: dict[str, Callable[..., Outcome]] = {"wilcoxon": paired_wilcoxon, "t": paired_t, "sign": sign_test}
_UNPAIRED: dict[str, Callable[..., Outcome]] = {"wilcoxon": mann_whitney, "t": welch_t}
_UNPAIRED_NAMES = {"wilcoxon": "mann_whitney", "t": "welch_t"}
_EFFECTS: dict[str, Callable[..., Estimate]] = {
    "mean_difference": mean_difference,
    "rank_biserial": rank_biserial,
    "cohen_dz": cohen_dz,
}
_UNPAIRED_EFFECTS: dict[str, Callable[..., Estimate]] = {
    "mean_difference": welch_difference,
    "rank_biserial": cliffs_delta,
}


def test_controls(
    cube: xr.Dataset,
    metrics: str | Sequence[str] | None = None,
    *,
    method: Literal["randomisation", "wilcoxon", "sign", "t"] = "randomisation",
    adjust: str | None = None,
    level: float = 0.95,
    missing: Missing = "drop",
) -> pd.DataFrame:
    """Test in every stratum whether estimates are better than their controls.

    Parameters
    ----------
    cube : Dataset
        Made by `cube` with controls.
    metrics : str or sequence of str, optional
        Which of its metrics; default all.
    method : {"randomisation", "wilcoxon", "sign", "t"}
        "randomisation" compares the stratum's mean with the same mean over draw r of all controls, r = 1 .. R. The
        others pair each estimate with its first control and need raw draws.
    adjust : {"holm", "bh", "bonferroni", "none"} or None
        Multiplicity correction over all rows returned.
    level : float
        Probability of the interval of `effect`.
    missing : {"drop", "worst"}
        "worst" is a sensitivity analysis that counts failed runs as the worst value: the end of the metric's range away
        from the optimum where that is finite, else the worst value among the stratum's estimates and controls. The
        control of a failed run is the mean of the stratum's controls.

    Returns
    -------
    DataFrame
        A row a stratum and metric: the strata, `metric`, `comparison`, `statistic` (mean of the stratum, or that of
        the paired test), `p_value` (one-sided, in the metric's direction), `p_adjusted`, `effect` (mean of estimate
        minus expected control) with the t interval `ci_low`, `ci_high`, `n_pairs`, `n_missing` (failed runs),
        `n_undefined` (scored runs without a value or control), `null`, `method`, `alternative`, `superiority_share`
        (share of controls at least as good, averaged over runs), and of it `superiority_strict` (better) and
        `superiority_ties`.

    Raises
    ------
    ValueError
        If a metric, method or correction is unknown, the cube has no controls, or it lacks the raw draws that `method`
        needs.

    Notes
    -----
    The randomisation p-value is (1 + #{draws at least as good}) / (R + 1); draws without a defined value are left out
    of R. Estimate and first control are exchangeable under the null model, so their difference is symmetric about 0
    however skewed the metric is, and the sign and Wilcoxon tests are valid; they use one draw of R and so have less
    power. `superiority_share` is no p-value. A metric that is best at its optimum is tested by its distance from it.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({
    ...     "algorithm": ["x"] * 6,
    ...     "truth": ["A -> B; B -> C; D", "A -> B; C -> D", "B -> D; C; A"] * 2,
    ...     "estimate": ["A -> B; B -> C; D", "A -> B; C -> D", "B -> D; C; A"] * 2,
    ... })
    >>> found = ce.cube(runs, ["shd"], by=["algorithm"], n_draws=99, rng=7)
    >>> ce.test_controls(found)[["algorithm", "metric", "statistic", "p_value", "n_pairs"]]
      algorithm metric  statistic  p_value  n_pairs
    0         x    shd        0.0     0.01        6
    """
    check_known(method, ["randomisation", *_PAIRED], "method")
    _check(cube, level, missing)
    cube = null_stratum(cube)
    parts = [_against_controls(cube, name, method, level, missing) for name in cube_metrics(cube, metrics)]
    strata = [dim for dim in strata_dims(cube) if dim != "null"]
    return _finish(parts, [*strata, *_COLUMNS, *_SHARES], adjust, None)


def _against_controls(cube: xr.Dataset, name: str, method: str, level: float, missing: Missing) -> pd.DataFrame:
    if not has_controls(cube):
        raise ValueError("the cube has no controls to test against; make it by cube(..., n_draws=1000)")
    dims = strata_dims(cube)
    direction, optimum = cube[name].attrs["direction"], cube[name].attrs["optimum"]
    status = cells(cube["status"], dims)
    failed = (status == FAILED) & (missing == "worst")
    filled = fill_failed(cube, name) if missing == "worst" else cube
    own = score(cells(filled[name], dims), direction=direction, optimum=optimum)
    defined = ~np.isnan(cells(cube[name], dims))

    def controls_of(values: Floats) -> Floats:
        """Give failed runs the mean of the stratum's controls."""
        mean = moments(np.where(defined, values, np.nan))[1]
        return np.where(failed, mean[:, None], values)

    expected = "control_loss" if direction == "zero" else "control_mean"
    pairs = paired_difference(own, controls_of(cells(cube[f"{name}_{expected}"], dims)))
    effect = mean_difference(pairs, level)
    alternative: Alternative = "greater" if direction == "maximize" else "less"
    if method == "randomisation":
        statistic, p_value = (cells(x, dims, last=()) for x in randomisation(filled, name)[:2])
    else:
        if draws_shared(cube):
            raise ValueError(
                f"the rows of this cube share their draws, so method={method!r} has no independent pairs; make the "
                "cube without share_draws=True"
            )
        draws = _first_draw(cube, name, method)
        first = score(cells(draws, dims), direction=direction, optimum=optimum)
        pairs = paired_difference(own, controls_of(first))
        statistic, p_value = _PAIRED[method](pairs, alternative=alternative)

    some = failed & defined.any(axis=1, keepdims=True)
    shares = [np.where(some, 1.0, cells(cube[f"{name}_{x}"], dims)) for x in ("as_good", "better")]
    share, strict = (moments(x)[1] for x in shares)
    used = ~np.isnan(pairs)
    table = strata_table(cube)
    table = table.assign(
        metric=name,
        comparison="estimate vs control",
        statistic=statistic,
        p_value=p_value,
        effect=effect.effect,
        ci_low=effect.low,
        ci_high=effect.high,
        n_pairs=used.sum(axis=1),
        n_missing=(status == FAILED).sum(axis=1),
        n_undefined=((status == SCORED) & ~used).sum(axis=1),
        null=table["null"] if "null" in dims else null_name(cube),
        method=method,
        alternative=alternative,
        superiority_share=share,
        superiority_strict=strict,
        superiority_ties=share - strict,
    )
    kept: pd.DataFrame = table[(status != NO_RUN).any(axis=1)]
    return kept


def _first_draw(cube: xr.Dataset, name: str, method: str) -> xr.DataArray:
    if f"{name}_control" not in cube:
        raise ValueError(
            f"method={method!r} pairs each estimate with one of its controls, but the cube keeps no draws of {name}; "
            "make it by cube(..., keep_draws=True), or use method='randomisation'"
        )
    draws = cube[f"{name}_control"]
    return draws.isel(draw=0) if "draw" in draws.dims else draws


def compare(
    cube: xr.Dataset,
    dim: str,
    *,
    metrics: str | Sequence[str] | None = None,
    test: Literal["wilcoxon", "t", "sign", "sign_flip", "bootstrap"] = "wilcoxon",
    adjust: str | None = "holm",
    reference: Hashable | None = None,
    paired: bool = True,
    missing: Missing = "drop",
    alternative: Alternative = "two-sided",
    family: str | Sequence[str] | None = None,
    effect: Literal["mean_difference", "rank_biserial", "cohen_dz"] = "mean_difference",
    level: float = 0.95,
    n_resamples: int = 9999,
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Compare the levels of one dimension, pair by pair, in every stratum of the others.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`.
    dim : str
        The stratum whose levels are compared, such as "algorithm".
    metrics : str or sequence of str, optional
        Which of its metrics; default all.
    test : {"wilcoxon", "t", "sign", "sign_flip", "bootstrap"}
        Paired test of the differences; "sign_flip" is the permutation test of their mean. Unpaired, "wilcoxon" is Mann
        and Whitney's test and "t" is Welch's; the others need pairs.
    adjust : {"holm", "bh", "bonferroni", "none"} or None
        Multiplicity correction.
    reference : hashable, optional
        Level that all others are compared with, as "other - reference"; default all pairs of levels.
    paired : bool
        Compare runs of the same replicate, that is on the same truth. A dimension whose levels share no truths
        (density, number of nodes) needs False.
    missing : {"drop", "worst"}
        "worst" is a sensitivity analysis that counts failed runs as the worst value: the end of the metric's range away
        from the optimum where that is finite, else the worst value among estimates and controls of all levels of `dim`
        in the stratum.
    alternative : {"two-sided", "less", "greater"}
        Side of 0 on which a - b is expected.
    family : str or sequence of str, optional
        Columns of the result within whose values p-values are adjusted, such as "metric"; default all rows returned.
    effect : {"mean_difference", "rank_biserial", "cohen_dz"}
        Effect size. Unpaired, "rank_biserial" is Cliff's delta, and there is no "cohen_dz".
    level : float
        Probability of the interval of the effect.
    n_resamples : int
        Random sign vectors or bootstrap samples.
    rng : None, int or Generator
        Source of their randomness.

    Returns
    -------
    DataFrame
        A row a stratum, metric and pair of levels: the other strata, `metric`, `comparison` ("a - b"), `statistic`,
        `p_value`, `p_adjusted`, `effect` of a - b with `ci_low`, `ci_high` (t interval, BCa for the bootstrap,
        noncentral t for `cohen_dz`, Fisher's z for `rank_biserial`), `n_pairs`, `n_missing` (pairs with a failed
        run), `n_undefined` (other pairs without a value), `null` (missing here), `method`, `alternative`. Unpaired,
        numbers count runs.

    Raises
    ------
    ValueError
        If a name is unknown, `dim` has fewer than two levels, two runs of a pair have different truths, or a test needs
        pairs that there are not.

    Notes
    -----
    A metric that is best at its optimum is compared by its distance from it. A p-value is NaN without pairs, and for
    "t" and "bootstrap" with one pair or differences that do not vary. P-values of "sign_flip" and "bootstrap" share
    their resamples between strata: each is valid by itself.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> truths = ["A -> B; B -> C", "A -> B; C", "B -> C; A", "A -> C; B"]
    >>> runs = pd.DataFrame({
    ...     "algorithm": ["x"] * 4 + ["y"] * 4,
    ...     "truth": truths * 2,
    ...     "estimate": truths + ["A; B; C"] * 4,
    ... })
    >>> found = ce.cube(runs, ["shd"], by=["algorithm"], n_draws=None)
    >>> ce.compare(found, "algorithm")[["comparison", "statistic", "p_value", "effect", "n_pairs"]]
      comparison  statistic  p_value  effect  n_pairs
    0      x - y        0.0    0.125   -1.25        4
    """
    names = cube_metrics(cube, metrics)
    dims = strata_dims(cube)
    check_known(dim, dims, "dimension")
    check_known(test, [*_PAIRED, "sign_flip", "bootstrap"], "test")
    check_known(effect, list(_EFFECTS), "effect")
    check_known(alternative, ["two-sided", "less", "greater"], "alternative")
    _check(cube, level, missing)
    if int(n_resamples) != n_resamples or n_resamples < 1:
        raise ValueError(f"n_resamples must be a positive integer, found {n_resamples!r}")
    if not paired and (test not in _UNPAIRED or effect not in _UNPAIRED_EFFECTS):
        what = f"test={test!r}" if test not in _UNPAIRED else f"effect={effect!r}"
        raise ValueError(
            f"{what} needs pairs; with paired=False use test='wilcoxon' (Mann-Whitney) or 't' (Welch) and "
            "effect='mean_difference' or 'rank_biserial' (Cliff's delta)"
        )
    how = _Comparison(test, paired, alternative, effect, level, n_resamples, resolve_seed(rng))
    others = [name for name in dims if name != dim]
    levels = cube[dim].to_numpy()
    first, second = _level_pairs(levels, dim, reference)
    strata = strata_table(cube.isel({dim: 0}, drop=True))
    status = cells(cube["status"], others, last=(dim, "replicate"))
    if paired:
        _check_pairs(cube, dim, status, first, second, strata)
    labels = np.array([f"{levels[a]} - {levels[b]}" for a, b in zip(first, second, strict=True)], dtype=object)
    here = (status != NO_RUN).any(axis=2)
    here = (here[:, first] & here[:, second]).reshape(-1)
    no_null = pd.array([None] * len(here), dtype="str")
    parts = []
    for name in names:
        filled = fill_failed(cube, name, [dim]) if missing == "worst" else cube
        spec = cube[name].attrs
        values = cells(filled[name], others, last=(dim, "replicate"))
        values = score(values, direction=spec["direction"], optimum=spec["optimum"])
        table = strata.loc[np.repeat(np.arange(len(strata)), len(first))].reset_index(drop=True)
        table = table.assign(metric=name, comparison=np.tile(labels, len(strata)))
        found = _compare(values[:, first], values[:, second], status[:, first], status[:, second], how)
        parts.append(table.assign(**found, null=no_null, alternative=alternative)[here])
    return _finish(parts, [*others, *_COLUMNS], adjust, family)


class _Comparison(NamedTuple):
    """How levels are compared; the same for every metric."""

    test: str
    paired: bool
    alternative: Alternative
    effect: str
    level: float
    n_resamples: int
    seed: int


def _compare(
    a: Floats, b: Floats, status_a: NDArray[Any], status_b: NDArray[Any], how: _Comparison
) -> dict[str, NDArray[Any] | str]:
    """Test a against b, arrays over strata x pairs of levels x replicates, as columns."""
    a, b, status_a, status_b = (x.reshape(-1, x.shape[-1]) for x in (a, b, status_a, status_b))
    if not how.paired:
        statistic, p_value = _UNPAIRED[how.test](a, b, alternative=how.alternative)
        found = _UNPAIRED_EFFECTS[how.effect](a, b, how.level)
        value, status = np.concatenate([a, b], axis=1), np.concatenate([status_a, status_b], axis=1)
        failed, shared = status == FAILED, status != NO_RUN
    else:
        shared = (status_a != NO_RUN) & (status_b != NO_RUN)
        failed = shared & ((status_a == FAILED) | (status_b == FAILED))
        value = np.where(shared, paired_difference(a, b), np.nan)
        found = _EFFECTS[how.effect](value, how.level)
        n, seed, side = how.n_resamples, how.seed, how.alternative
        if how.test == "bootstrap":
            boot = bootstrap_mean(value, alternative=side, n_resamples=n, level=how.level, rng=seed)
            statistic, p_value = boot.statistic, boot.p_value
            if how.effect == "mean_difference":
                found = Estimate(boot.statistic, boot.low, boot.high)
        elif how.test == "sign_flip":
            statistic, p_value = sign_flip(value, alternative=side, n_resamples=n, rng=seed)
        else:
            statistic, p_value = _PAIRED[how.test](value, alternative=side)
    return {
        "statistic": statistic,
        "p_value": p_value,
        "effect": found.effect,
        "ci_low": found.low,
        "ci_high": found.high,
        "n_pairs": (~np.isnan(value)).sum(axis=1),
        "n_missing": failed.sum(axis=1),
        "n_undefined": (shared & ~failed & np.isnan(value)).sum(axis=1),
        "method": how.test if how.paired else _UNPAIRED_NAMES[how.test],
    }


def _level_pairs(
    levels: NDArray[Any], dim: str, reference: Hashable | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return positions of the levels a and b of every comparison a - b."""
    if len(levels) < 2:
        raise ValueError(f"{dim!r} has {len(levels)} level, and a comparison needs two")
    if reference is None:
        pairs = list(itertools.combinations(range(len(levels)), 2))
    else:
        words = [str(x) for x in levels]
        check_known(str(reference), words, f"level of {dim!r} (reference)")
        pairs = [(i, words.index(str(reference))) for i in range(len(levels)) if words[i] != str(reference)]
    first, second = np.array(pairs, np.int64).T
    return first, second


def _check_pairs(
    cube: xr.Dataset,
    dim: str,
    status: NDArray[Any],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    strata: pd.DataFrame,
) -> None:
    """Refuse pairs of runs on different truths, and levels that share no replicate at all."""
    others = [name for name in strata_dims(cube) if name != dim]
    identity = cells(cube["truth_id"], others, last=(dim, "replicate"))
    run = status != NO_RUN
    shared = run[:, first] & run[:, second]
    # 0: the truth itself is missing, so the run counts as failed
    known = (identity[:, first] != 0) & (identity[:, second] != 0)
    wrong = shared & known & (identity[:, first] != identity[:, second])
    mend = (
        "give runs on one truth the same replicate by cube(..., replicate=), or compare independent samples with "
        "paired=False"
    )
    levels = cube[dim].to_numpy()
    if wrong.any():
        s, p, r = np.argwhere(wrong)[0]
        place = "".join(f"{name} {strata[name].iloc[s]}, " for name in others)
        raise ValueError(
            f"at {place}replicate {cube['replicate'].to_numpy()[r]}, {dim} {levels[first[p]]} and {levels[second[p]]} "
            f"have different truths ({int(wrong.sum())} such pairs), so they are no pairs; {mend}"
        )
    both = run.any(axis=2)
    if (both[:, first] & both[:, second]).any() and not shared.any():
        raise ValueError(f"the levels of {dim!r} have no replicate in common; {mend}")


def _check(cube: xr.Dataset, level: float, missing: str) -> None:
    check_settings(None, level, "auto", "add_one")
    check_known(missing, ["drop", "worst"], "value of missing")
    if "replicate" not in cube.dims:
        raise ValueError("the cube has no dimension 'replicate'; choose one replicate by a list, isel(replicate=[0])")


def _finish(
    parts: list[pd.DataFrame], columns: list[str], adjust: str | None, family: str | Sequence[str] | None
) -> pd.DataFrame:
    """Stack the metrics' tables and adjust their p-values."""
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
    labels = None
    if family is not None:
        within = [family] if isinstance(family, str) else list(family)
        for name in within:
            check_known(name, [c for c in columns if c in table], "column (family)")
        labels = table.groupby(within, dropna=False, sort=False).ngroup().to_numpy()
    table["p_adjusted"] = adjusted(table["p_value"].to_numpy(np.float64), adjust, labels)
    return table[columns]
