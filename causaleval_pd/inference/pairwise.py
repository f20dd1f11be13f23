"""How two levels are compared, on arrays over strata x pairs of levels x replicates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..cubes.reading import strata_dims
from ..cubes.schema import FAILED, NO_RUN
from ..cubes.worst_case import cells
from ..statistics.arrays import Estimate, Floats, mean_difference, paired_difference
from ..statistics.effects import cliffs_delta, cohen_dz, paired_cliffs_delta, rank_biserial, welch_difference
from ..statistics.friedman import rank_differences
from ..statistics.paired_tests import (
    Alternative,
    Outcome,
    mann_whitney,
    mcnemar,
    paired_t,
    paired_wilcoxon,
    sign_test,
    welch_t,
)
from ..statistics.ranks import ZeroMethod
from ..statistics.resampling import bootstrap_mean, sign_flip

Test = Literal["wilcoxon", "t", "sign", "sign_flip", "bootstrap", "mcnemar", "friedman"]
Effect = Literal["mean_difference", "rank_biserial", "cliffs_delta", "cohen_dz"]
Claim = Literal["two-sided", "less", "greater", "equivalent", "non_inferior"]

TESTS: tuple[Test, ...] = ("wilcoxon", "t", "sign", "sign_flip", "bootstrap", "mcnemar", "friedman")
CLAIMS: tuple[Claim, ...] = ("two-sided", "less", "greater", "equivalent", "non_inferior")
EFFECTS: tuple[Effect, ...] = ("mean_difference", "rank_biserial", "cliffs_delta", "cohen_dz")
_MEND = (
    "give runs on one truth the same replicate by cube(..., replicate=), or compare independent samples by "
    "paired=False, which does not pair them"
)
#: claims about a margin
_SHIFTED = ("equivalent", "non_inferior")
#: tests that draw random numbers, and can resample groups of pairs
RESAMPLED = ("sign_flip", "bootstrap")
#: tests whose pairs have no size that a margin could be compared with
_NO_MARGIN = ("mcnemar", "friedman")

_PAIRED: dict[str, Callable[..., Outcome]] = {"t": paired_t, "sign": sign_test, "mcnemar": mcnemar}
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
    "cliffs_delta": cliffs_delta,
}


class Comparison(NamedTuple):
    """How levels are compared; the same for every metric."""

    test: Test
    paired: bool
    claim: Claim
    effect: Effect
    level: float
    zero_method: ZeroMethod
    nemenyi: bool
    n_resamples: int
    seed: int


class Levels(NamedTuple):
    """One metric's scores over strata x levels x replicates, and what else a comparison of its levels needs."""

    scores: Floats
    status: NDArray[np.int8]
    direction: str
    margin: float
    cluster: NDArray[np.int64] | None


def check_comparison(how: Comparison, *, reference: bool, margin: bool, cluster: bool) -> None:
    """Refuse combinations of settings that have no meaning."""
    claims = how.claim in _SHIFTED
    if not how.paired and (how.test not in _UNPAIRED or how.effect not in _UNPAIRED_EFFECTS):
        what = f"test={how.test!r}" if how.test not in _UNPAIRED else f"effect={how.effect!r}"
        raise ValueError(
            f"{what} needs pairs; with paired=False use test='wilcoxon' (Mann-Whitney) or 't' (Welch) and "
            "effect='mean_difference' or 'rank_biserial' (Cliff's delta)"
        )
    if claims and not margin:
        raise ValueError(f"alternative={how.claim!r} needs margin=, the largest difference that does not matter")
    if margin and not claims:
        raise ValueError(f"margin= goes with alternative='equivalent' or 'non_inferior', found {how.claim!r}")
    if claims and how.test in _NO_MARGIN:
        raise ValueError(f"test={how.test!r} knows no margin; use 't', 'wilcoxon', 'sign', 'sign_flip' or 'bootstrap'")
    if how.nemenyi and (how.test != "friedman" or reference or how.claim != "two-sided"):
        raise ValueError(
            "adjust='nemenyi' corrects the two-sided comparison of all pairs of levels by test='friedman'; with a "
            "reference, another test or another alternative use adjust='holm'"
        )
    if cluster and how.test not in RESAMPLED:
        raise ValueError(f"cluster= goes with test='bootstrap' or 'sign_flip', found test={how.test!r}")
    if cluster and how.effect != "mean_difference":
        raise ValueError(f"cluster= goes with effect='mean_difference': {how.effect!r} takes pairs as independent")


def compare_levels(
    levels: Levels, first: NDArray[np.int64], second: NDArray[np.int64], how: Comparison
) -> dict[str, NDArray[Any] | str]:
    """Test the levels `first` against `second`, as columns over strata x pairs of levels."""
    a, b = (levels.scores[:, place].reshape(-1, levels.scores.shape[-1]) for place in (first, second))
    status_a, status_b = (levels.status[:, place].reshape(a.shape) for place in (first, second))
    if not how.paired:
        return _independent(a, b, status_a, status_b, levels, how)
    shared = (status_a != NO_RUN) & (status_b != NO_RUN)
    failed = shared & ((status_a == FAILED) | (status_b == FAILED))
    value = np.where(shared, paired_difference(a, b), np.nan)
    extra: dict[str, NDArray[Any] | str] = {}
    if how.test == "friedman":
        value = np.where(_complete(levels, len(first)), value, np.nan)
        statistic, p_value, nemenyi = _rank_differences(levels, first, second, how)
        if how.nemenyi:
            extra["p_adjusted"] = nemenyi
        found = None
    else:
        cluster = None if levels.cluster is None else _clusters_of_pairs(levels.cluster, first, second)
        statistic, p_value, found = _test(value, levels, cluster, how)
    if how.effect == "cliffs_delta":
        gone = np.isnan(value)
        found = paired_cliffs_delta(np.where(gone, np.nan, a), np.where(gone, np.nan, b), how.level)
    elif found is None or how.effect != "mean_difference":
        found = _EFFECTS[how.effect](value, how.level)
    pratt = how.test == "wilcoxon" and how.zero_method == "pratt"
    return {
        "statistic": statistic,
        "p_value": p_value,
        "effect": found.effect,
        "ci_low": found.low,
        "ci_high": found.high,
        "n_pairs": (~np.isnan(value)).sum(axis=1),
        "n_missing": failed.sum(axis=1),
        "n_undefined": (shared & ~failed & np.isnan(value)).sum(axis=1),
        "method": "wilcoxon_pratt" if pratt else how.test,
        **extra,
    }


def _independent(
    a: Floats, b: Floats, status_a: NDArray[np.int8], status_b: NDArray[np.int8], levels: Levels, how: Comparison
) -> dict[str, NDArray[Any] | str]:
    """Test independent samples."""
    test = _UNPAIRED[how.test]
    statistic, p_value = _claimed(lambda shift, side: test(a - shift, b, alternative=side), levels, how.claim)
    found = _UNPAIRED_EFFECTS[how.effect](a, b, how.level)
    value, status = np.concatenate([a, b], axis=1), np.concatenate([status_a, status_b], axis=1)
    failed = status == FAILED
    return {
        "statistic": statistic,
        "p_value": p_value,
        "effect": found.effect,
        "ci_low": found.low,
        "ci_high": found.high,
        "n_pairs": (~np.isnan(value)).sum(axis=1),
        "n_missing": failed.sum(axis=1),
        "n_undefined": ((status != NO_RUN) & ~failed & np.isnan(value)).sum(axis=1),
        "method": _UNPAIRED_NAMES[how.test],
    }


def _test(
    value: Floats, levels: Levels, cluster: NDArray[np.int64] | None, how: Comparison
) -> tuple[Floats, Floats, Estimate | None]:
    """Test differences; where pairs are resampled or grouped, the bootstrap gives the interval of their mean."""
    resampling: dict[str, Any] = {"n_resamples": how.n_resamples, "cluster": cluster, "rng": how.seed}

    def test(shift: float, side: Alternative) -> Outcome:
        moved = value - shift
        if how.test == "bootstrap":
            boot = bootstrap_mean(moved, alternative=side, level=how.level, **resampling)
            return Outcome(boot.statistic, boot.p_value)
        if how.test == "sign_flip":
            return sign_flip(moved, alternative=side, **resampling)
        if how.test == "wilcoxon":
            return paired_wilcoxon(moved, alternative=side, zero_method=how.zero_method)
        return _PAIRED[how.test](moved, alternative=side)

    if how.test != "bootstrap" and cluster is None:
        return *_claimed(test, levels, how.claim), None
    boot = bootstrap_mean(value, alternative=_side(how.claim), level=how.level, **resampling)
    found = Estimate(boot.statistic, boot.low, boot.high)
    if how.test != "bootstrap" or how.claim in _SHIFTED:
        return *_claimed(test, levels, how.claim), found
    return boot.statistic, boot.p_value, found


def _side(claim: Claim) -> Alternative:
    """Return the side that a claim without a margin is about."""
    return "less" if claim == "less" else "greater" if claim == "greater" else "two-sided"


def _claimed(test: Callable[[float, Alternative], Outcome], levels: Levels, claim: Claim) -> Outcome:
    """Test a claim by tests of shifted differences: both ends of the margin, or the end that is worse."""
    if claim == "equivalent":
        above, below = test(-levels.margin, "greater"), test(levels.margin, "less")
        worse = above.p_value >= below.p_value
        return Outcome(*(np.where(worse, x, y) for x, y in zip(above, below, strict=True)))
    if claim == "non_inferior":
        if levels.direction == "maximize":
            return test(-levels.margin, "greater")
        return test(levels.margin, "less")
    return test(0.0, _side(claim))


def complete_blocks(levels: Levels) -> Floats:
    """Return the scores over strata x replicates x levels, of replicates that every level of the stratum was run on."""
    run = levels.status != NO_RUN
    absent = ~run.any(axis=2, keepdims=True)
    whole = (run | absent).all(axis=1, keepdims=True)
    return np.where(whole & run, levels.scores, np.nan).transpose(0, 2, 1)


def _complete(levels: Levels, n_pairs: int) -> NDArray[np.bool_]:
    """Tell which replicates are blocks of Friedman's test, for every stratum and pair."""
    blocks = complete_blocks(levels)
    here = ~np.isnan(blocks)
    there = np.any(here, axis=1, keepdims=True)
    whole = np.all(here | ~there, axis=2) & np.any(there, axis=2)
    return np.repeat(whole, n_pairs, axis=0)


def _rank_differences(
    levels: Levels, first: NDArray[np.int64], second: NDArray[np.int64], how: Comparison
) -> tuple[Floats, Floats, Floats]:
    found = rank_differences(complete_blocks(levels), first, second, alternative=_side(how.claim))
    return found[0].reshape(-1), found[1].reshape(-1), found[2].reshape(-1)


def _clusters_of_pairs(
    cluster: NDArray[np.int64], first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the group of each pair, that of its first run, or of its second where the first has none."""
    a, b = (cluster[:, place].reshape(-1, cluster.shape[-1]) for place in (first, second))
    return np.where(a == 0, b, a)


def check_truths(
    cube: xr.Dataset,
    dim: str,
    status: NDArray[np.int8],
    strata: pd.DataFrame,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> None:
    """Refuse pairs of runs on different truths."""
    others = [name for name in strata_dims(cube) if name != dim]
    identity = cells(cube["truth_id"], others, last=(dim, "replicate"))
    run = status != NO_RUN
    shared = run[:, first] & run[:, second]
    # 0: the truth itself is missing, so the run counts as failed
    known = (identity[:, first] != 0) & (identity[:, second] != 0)
    wrong = shared & known & (identity[:, first] != identity[:, second])
    levels = cube[dim].to_numpy()
    if wrong.any():
        s, p, r = np.argwhere(wrong)[0]
        place = "".join(f"{name} {strata[name].iloc[s]}, " for name in others)
        raise ValueError(
            f"at {place}replicate {cube['replicate'].to_numpy()[r]}, {dim} {levels[first[p]]} and {levels[second[p]]} "
            f"have different truths ({int(wrong.sum())} such pairs), so they are no pairs; {_MEND}"
        )


def refuse_unpaired(dim: str) -> NoReturn:
    """Refuse levels that share no replicate in any stratum."""
    raise ValueError(f"the levels of {dim!r} have no replicate in common; {_MEND}")
