"""Comparisons of pairs of levels, of their values or skill, on arrays over strata x levels x replicates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.checks import check_known, check_number, counted, enumerated
from ..cubes.reading import cells, strata_dims
from ..cubes.reading import identity as identity_of
from ..cubes.schema import FAILED, NO_RUN
from ..statistics.arrays import (
    Bools,
    Estimate,
    Floats,
    mean_difference,
    paired_difference,
    ratio,
    welch_difference,
)
from ..statistics.clusters import cluster_count, cluster_means, cluster_sums
from ..statistics.interval_notes import NO_VARIATION, interval_notes, joined, sample_notes
from ..statistics.monte_carlo import NOISE_ALONE, noise_alone, without_noise
from ..statistics.paired_tests import Alternative, Outcome, hodges_lehmann
from ..statistics.skill import FEWEST_CLUSTERS, skill_difference
from ..statistics.words import level_words
from ..tables.history import calls
from .statistical_test import StatisticalTest
from .statistical_tests import comparing

Claim = Literal["two-sided", "less", "greater", "equivalent"]
Ints = NDArray[np.int64]

#: seed of random sign vectors, the same for every comparison
SIGN_SEED = 0
CLAIMS: tuple[Claim, ...] = ("two-sided", "less", "greater", "equivalent")
#: note of a shift that can only be 0, a half or 1
BINARY = "values of 0 and 1, so that the shift is coarse; test='t' compares their means"
_MEND = (
    "give runs on one truth the same replicate by cube(..., replicate=), or compare independent samples by "
    "test='welch_t', which does not pair them"
)


class Comparison(NamedTuple):
    """How levels are compared; the same for every metric."""

    test: StatisticalTest
    claim: Claim
    level: float
    adjust: str | None

    @property
    def paired(self) -> bool:
        """Whether runs of the same replicate are compared."""
        return self.test.design != "independent"

    @property
    def jointly(self) -> bool:
        """Whether all rows of a family are corrected together by their largest t."""
        return self.adjust == "max_t"

    @property
    def alpha(self) -> float:
        """Largest p-value that agrees with an interval which leaves out 0, or lies within the margin."""
        return round((1 - self.level) / (2 if self.claim == "equivalent" else 1), 12)

    @property
    def side(self) -> Alternative:
        """Side that a claim without a margin is about."""
        return "less" if self.claim == "less" else "greater" if self.claim == "greater" else "two-sided"

    @property
    def options(self) -> dict[str, Any]:
        """Keywords that the test's function takes."""
        known: dict[str, Any] = {"level": self.level, "rng": SIGN_SEED}
        return {name: known[name] for name in self.test.options}


class Levels(NamedTuple):
    """One metric's scores over strata x levels x replicates, and what else a comparison of its levels needs."""

    scores: Floats
    status: NDArray[np.int8]
    direction: str
    margin: float
    cluster: Ints | None
    #: Monte Carlo standard errors of the scores, where they are simulated in part
    errors: Floats | None = None
    #: number of pooled strata whose replicates lie side by side
    n_pooled: int = 1
    #: how much each run counts; None where all count alike
    weight: Floats | None = None


class _Tested(NamedTuple):
    """Outcome of a test, and the limits of its effect where the test has them."""

    statistic: Floats
    p_value: Floats
    limits: tuple[Floats, Floats] | None = None


def check_comparison(how: Comparison, *, margin: bool) -> None:
    """Refuse unknown settings, and combinations without a meaning; `margin` is whether the user gave one."""
    check_known(how.claim, CLAIMS, "alternative")
    check_number(how.level, "level", "(0, 1)")
    equivalence = how.claim == "equivalent"
    if equivalence and not margin:
        raise ValueError("alternative='equivalent' needs margin=, the largest difference that does not matter")
    if margin and not equivalence:
        raise ValueError(f"margin= goes with alternative='equivalent', found {how.claim!r}")
    if equivalence and not how.test.margin:
        others = [repr(x.name) for x in comparing() if x.margin and x.design == "paired"]
        raise ValueError(f"test={how.test.name!r} takes no margin; use {enumerated(others, 'or')}")
    if how.jointly and how.test.name != "max_t":
        raise ValueError("adjust='max_t' is the correction of test='max_t'; use adjust='holm'")


def compare_levels(levels: Levels, first: Ints, second: Ints, how: Comparison) -> dict[str, NDArray[Any] | str]:
    """Compare the levels at positions `first` (c,) with those at `second`; columns over strata x comparisons."""
    a, b = (of_levels(levels.scores, place) for place in (first, second))
    status_a, status_b = (of_levels(levels.status, place) for place in (first, second))
    cluster = clusters_of_pairs(levels.cluster, first, second)
    if how.paired:
        run = (status_a != NO_RUN) & (status_b != NO_RUN)
        failed = run & ((status_a == FAILED) | (status_b == FAILED))
        value = paired_values(levels, first, second)
        if how.test.design == "blocks":
            value = complete_values(levels, first, second)
            tested = _test_blocks(complete_blocks(levels), levels.cluster, first, second, how)
        else:
            tested = _test_pairs(value, cluster, levels, how)
        effect = _paired_effect(value, cluster, tested, how)
        n_clusters = cluster_count(value, cluster)
        notes = interval_notes(effect, cluster_means(value, cluster), how.level)
        if how.test.effect == "hodges_lehmann":
            coarse = _binary(a) & _binary(b) & (n_clusters == (~np.isnan(value)).sum(axis=1))
            notes = np.array(joined(notes, [BINARY if one else None for one in coarse]), object)
        measured, errors = _measured(levels, first, second)
        if (alone := noise_alone(measured, errors)).any():
            whole = _paired_effect(measured, cluster, tested, how).effect
            limits = (np.where(alone, np.nan, x) for x in (effect.low, effect.high))
            effect = Estimate(np.where(alone, whole, effect.effect), *limits)
            notes[alone] = NOISE_ALONE
        notes = np.array(joined(notes, _unpaired_notes(status_a, status_b)), object)
        blocks_only = how.test.design == "blocks"
        lacking = "no block has a value of every level" if blocks_only else "no pair has both values"
        empty = np.isnan(value).all(axis=1)
    else:
        if levels.weight is not None:
            raise ValueError(f"test={how.test.name!r} takes no weights of runs; use a test of pairs, such as test='t'")
        absent = _without_the_other(status_a, status_b, levels.n_pooled)
        a, b = (np.where(absent, np.nan, x) for x in (a, b))
        status = np.concatenate([np.where(absent, NO_RUN, x) for x in (status_a, status_b)], axis=1)
        run, failed, value = status != NO_RUN, status == FAILED, np.concatenate([a, b], axis=1)
        if levels.cluster is not None:
            of_a, of_b = (of_levels(levels.cluster, place) for place in (first, second))
            n_clusters = cluster_count(a, of_a) + cluster_count(b, of_b)
            a, b = cluster_means(a, of_a), cluster_means(b, of_b)
        else:
            n_clusters = cluster_count(value, None)
        tested = _test_samples(a, b, levels, how)
        effect = welch_difference(a, b, how.level)
        notes = sample_notes(effect, a, b)
        lacking = "a level has no value" if levels.n_pooled < 2 else "no stratum has a value of both levels"
        empty = np.isnan(a).all(axis=1) | np.isnan(b).all(axis=1)
    undefined = np.isnan(value)
    return {
        "statistic": tested.statistic,
        "p_value": tested.p_value,
        "effect": effect.effect,
        "ci_low": effect.low,
        "ci_high": effect.high,
        "n_pairs": (~undefined).sum(axis=1),
        "n_truths": n_clusters,
        "n_failed": failed.sum(axis=1),
        "n_undefined": (run & ~failed & undefined).sum(axis=1),
        "test": how.test.name,
        "note": np.where(empty, lacking, notes),
    }


def _binary(values: Floats) -> Bools:
    """Return which rows hold values of 0 and 1, both, and no others."""
    other = ~((values == 0) | (values == 1) | np.isnan(values))
    return np.asarray(~other.any(axis=1) & (values == 0).any(axis=1) & (values == 1).any(axis=1), np.bool_)


def paired_values(levels: Levels, first: Ints, second: Ints) -> Floats:
    """Return differences of paired runs, a row per stratum and pair, alike if by noise alone; NaN without both."""
    return without_noise(*_measured(levels, first, second))


def complete_values(levels: Levels, first: Ints, second: Ints) -> Floats:
    """Return the differences of `paired_values` in replicates that every level of the stratum was run on."""
    complete = np.repeat(_complete(complete_blocks(levels)), len(first), axis=0)
    return np.where(complete, paired_values(levels, first, second), np.nan)


def _unpaired_notes(status_a: NDArray[np.int8], status_b: NDArray[np.int8]) -> list[str | None]:
    """Return for every row how many runs of one level have no run of the other beside them."""
    n_alone = ((status_a != NO_RUN) != (status_b != NO_RUN)).sum(axis=1)
    return [f"{counted(n, 'run')} without a partner left out" if n else None for n in n_alone.tolist()]


def _without_the_other(status_a: NDArray[np.int8], status_b: NDArray[np.int8], n_pooled: int) -> Bools:
    """Return which places lie in a pooled stratum where one of two levels has no run."""
    shape = (len(status_a), n_pooled, status_a.shape[1] // n_pooled if n_pooled else 0)
    run = [(x.reshape(shape) != NO_RUN).any(axis=2, keepdims=True) for x in (status_a, status_b)]
    return np.broadcast_to(~(run[0] & run[1]), shape).reshape(status_a.shape)


def _measured(levels: Levels, first: Ints, second: Ints) -> tuple[Floats, Floats]:
    """Return the differences of paired runs, and their Monte Carlo standard errors."""
    a, b = (of_levels(levels.scores, place) for place in (first, second))
    run = [of_levels(levels.status, place) != NO_RUN for place in (first, second)]
    values = np.where(run[0] & run[1], paired_difference(a, b), np.nan)
    errors = np.zeros(values.shape)
    if levels.errors is not None:
        errors = np.hypot(*(of_levels(levels.errors, place) for place in (first, second)))
    if levels.weight is None:
        return values, errors
    weight = np.add(*(of_levels(levels.weight, place) for place in (first, second)))
    weight = _with_mean_1(np.where(np.isnan(values), np.nan, weight))
    return weight * values, weight * errors


def _with_mean_1(weights: Floats) -> Floats:
    """Return weights (..., n) that have the mean 1 over those that are not missing."""
    n, total = (~np.isnan(weights)).sum(axis=-1, keepdims=True), np.nansum(weights, axis=-1, keepdims=True)
    return np.asarray(weights * ratio(n, total), np.float64)


def _test_samples(a: Floats, b: Floats, levels: Levels, how: Comparison) -> _Tested:
    """Test independent samples."""

    def shifted(shift: float, side: Alternative) -> Outcome:
        return Outcome(*how.test.function(a - shift, b, alternative=side, **how.options)[:2])

    return _Tested(*claimed(shifted, levels, how))


def _test_blocks(blocks: Floats, cluster: Ints | None, first: Ints, second: Ints, how: Comparison) -> _Tested:
    """Test levels among all levels of their stratum, in complete blocks (strata x replicates x levels)."""
    outcome = how.test.function(blocks_of_clusters(blocks, cluster), first, second, alternative=how.side, **how.options)
    statistic, p_value, *extras = (np.asarray(x).reshape(-1) for x in outcome)
    return _Tested(statistic, p_value, (extras[-2], extras[-1]) if how.test.interval else None)


def _test_pairs(value: Floats, cluster: Ints | None, levels: Levels, how: Comparison) -> _Tested:
    """Test differences, averaged by cluster."""
    value = cluster_means(value, cluster)

    def test(shift: float, side: Alternative) -> Any:
        return how.test.function(value - shift, alternative=side, **how.options)

    limits = test(0.0, how.side)[2:] if how.test.interval else None
    return _Tested(*claimed(lambda shift, side: Outcome(*test(shift, side)[:2]), levels, how), limits)


def _paired_effect(value: Floats, cluster: Ints | None, tested: _Tested, how: Comparison) -> Estimate:
    """Return the effect of pairs, with the limits of the test where it has them."""
    size = hodges_lehmann if how.test.effect == "hodges_lehmann" else mean_difference
    estimate = size(cluster_means(value, cluster), how.level)
    return Estimate(estimate.effect, *tested.limits) if tested.limits else estimate


def claimed(test: Callable[[float, Alternative], Outcome], levels: Levels, how: Comparison) -> Outcome:
    """Test a claim by tests of shifted differences, equivalence at both ends of the margin."""
    if how.claim == "equivalent":
        above, below = test(-levels.margin, "greater"), test(levels.margin, "less")
        worse = above.p_value >= below.p_value
        return Outcome(*(np.where(worse, x, y) for x, y in zip(above, below, strict=True)))
    return test(0.0, how.side)


def complete_blocks(levels: Levels) -> Floats:
    """Return the scores over strata x replicates x levels, of replicates that every level of the stratum was run on."""
    run = levels.status != NO_RUN
    absent = ~run.any(axis=2, keepdims=True)
    whole = (run | absent).all(axis=1, keepdims=True)
    scores = np.where(whole & run, levels.scores, np.nan)
    if levels.weight is not None:
        weight = np.where(whole & run, levels.weight, 0.0).max(axis=1, keepdims=True)
        scores = scores * _with_mean_1(np.where(weight > 0, weight, np.nan))
    return scores.transpose(0, 2, 1)


def blocks_of_clusters(blocks: Floats, cluster: Ints | None) -> Floats:
    """Return one block per cluster, the mean of its complete blocks (strata x replicates x levels)."""
    if cluster is None:
        return blocks
    # only complete blocks stay side by side when clusters are gathered; levels of a block have the same truth
    blocks = np.where(_complete(blocks)[..., None], blocks, np.nan)
    of_block = np.broadcast_to(cluster.max(axis=1, keepdims=True), cluster.shape)
    return cluster_means(blocks.transpose(0, 2, 1), of_block).transpose(0, 2, 1)


def _complete(blocks: Floats) -> NDArray[np.bool_]:
    """Return which replicates are complete, for every stratum."""
    here = ~np.isnan(blocks)
    there = np.any(here, axis=1, keepdims=True)
    return np.asarray(np.all(here | ~there, axis=2) & np.any(there, axis=2))


def of_levels(values: NDArray[Any], places: Ints) -> NDArray[Any]:
    """Return values over strata x levels x replicates at some levels, one row per stratum and level."""
    # -1 cannot be inferred for a cube without replicates
    return values[:, places].reshape(len(values) * len(places), values.shape[-1])


def clusters_of_pairs(cluster: Ints | None, first: Ints, second: Ints) -> Ints | None:
    """Return the group of each pair: that of its first run, or of its second where the first has no group."""
    if cluster is None:
        return None
    a, b = (of_levels(cluster, place) for place in (first, second))
    return np.where(a == 0, b, a)


def check_binary(name: str, levels: Levels, test: str, pooled: Sequence[str]) -> None:
    """Refuse values other than 0 and 1 for tests of such values, and several of a cluster."""
    values = levels.scores
    other = ~np.isnan(values) & ~np.isin(values, (0.0, 1.0))
    if other.any():
        raise ValueError(
            f"test={test!r} compares metrics that are 0 or 1, but {name} is {values[other][0]:g} in a run; choose "
            "such metrics by metrics=, or another test"
        )
    if levels.cluster is not None and (cluster_sums(values, levels.cluster)[1] > 1).any():
        place = f"over the strata {', '.join(pooled)}; keep these by by='all'," if pooled else "in a stratum;"
        raise ValueError(
            f"test={test!r} takes independent pairs, but truths repeat {place} use test='t', or "
            "make the cube with cluster=None where repeated runs are independent"
        )


def check_truths(
    cube: xr.Dataset, dim: str, status: NDArray[np.int8], strata: pd.DataFrame, first: Ints, second: Ints
) -> None:
    """Refuse pairs, at positions (c,), of runs on different truths; `status` is over strata x levels x replicates."""
    others = [name for name in strata_dims(cube) if name != dim]
    identity = cells(identity_of(cube, "truth_id"), others, last=(dim, "replicate"))
    run = status != NO_RUN
    shared = run[:, first] & run[:, second]
    # 0: the truth itself is missing, so the run counts as failed
    known = (identity[:, first] != 0) & (identity[:, second] != 0)
    wrong = shared & known & (identity[:, first] != identity[:, second])
    if wrong.any():
        s, p, r = np.argwhere(wrong)[0]
        # without truths runs are paired by what stands for them
        without = any(made.get("verb") == "cube" and made.get("truth", "") is None for made in calls(cube.attrs))
        what = "data set" if without else "truth"
        place = "".join(f"{name} {strata[name].iloc[s]}, " for name in others)
        words = level_words(cube[dim].to_numpy()[[first[p], second[p]]])
        raise ValueError(
            f"at {place}replicate {cube['replicate'].to_numpy()[r]}, {dim} {words[0]} and {words[1]} "
            f"have different {what}s ({int(wrong.sum())} such pairs), so they are not pairs; "
            f"{_MEND.replace('truth', what)}"
        )


def refuse_unpaired(dim: str) -> NoReturn:
    """Refuse levels that share no replicate in any stratum."""
    raise ValueError(f"the levels of {dim!r} have no replicate in common; {_MEND}")


#: share of the jackknife variance from which on a result is carried by one cluster
_CARRIED = 0.5


class Losses(NamedTuple):
    """One metric's losses over strata x levels x replicates, those expected of the runs' controls, and their errors."""

    own: Floats
    expected: Floats
    errors: Floats


def check_skill_test(how: Comparison) -> None:
    """Refuse tests that do not compare skills."""
    if how.test.design != "skill":
        raise ValueError(f"on='skill' takes test='jackknife', found test={how.test.name!r}")


def compare_skills(
    losses: Losses, levels: Levels, first: Ints, second: Ints, how: Comparison
) -> dict[str, NDArray[Any] | str]:
    """Compare the skills, of losses by cluster, of levels as `compare_levels`; pairs without both runs are left out."""
    status_a, status_b = (of_levels(levels.status, place) for place in (first, second))
    run = (status_a != NO_RUN) & (status_b != NO_RUN)
    failed = run & ((status_a == FAILED) | (status_b == FAILED))
    cluster = clusters_of_pairs(levels.cluster, first, second)
    summed, gone = paired_losses(losses, levels, first, second)
    a, b = tuple(summed[:3]), tuple(summed[3:])

    def shifted(shift: float, side: Alternative) -> Outcome:
        return Outcome(*how.test.function(a, b, alternative=side, shift=shift, **how.options)[:2])

    statistic, p_value = claimed(shifted, levels, how)
    skills = skill_difference(a, b, level=how.level)
    n_clusters = cluster_count(np.where(gone, np.nan, 0.0), cluster)
    infinite = np.asarray(np.isinf(summed).any(axis=(0, 2)), bool)
    drawn = np.asarray((np.nan_to_num([a[2], b[2]]) > 0).any(axis=(0, 2)), bool)
    notes = _notes(skills.effect, skills.low, skills.largest_share, n_clusters, infinite, drawn)
    return {
        "statistic": statistic,
        "p_value": p_value,
        "effect": skills.effect,
        "ci_low": skills.low,
        "ci_high": skills.high,
        "n_pairs": (~gone).sum(axis=1),
        "n_truths": n_clusters,
        "n_failed": failed.sum(axis=1),
        "n_undefined": (run & ~failed & gone).sum(axis=1),
        "test": how.test.name,
        "note": np.array(joined(notes, _unpaired_notes(status_a, status_b)), object),
    }


def paired_losses(losses: Losses, levels: Levels, first: Ints, second: Ints) -> tuple[list[Floats], Bools]:
    """Return losses, control losses and their errors of both levels, by cluster, and which pairs lack a value."""
    run = [of_levels(levels.status, place) != NO_RUN for place in (first, second)]
    weight = 1.0 if levels.weight is None else levels.weight
    level_losses = [of_levels(weight * x, place) for place in (first, second) for x in losses]
    gone = ~(run[0] & run[1]) | np.isnan(level_losses).any(axis=0)
    cluster = clusters_of_pairs(levels.cluster, first, second)
    parts = [np.where(gone, np.nan, x) for x in level_losses]
    return (parts if cluster is None else [cluster_sums(x, cluster)[0] for x in parts]), gone


def _notes(
    effect: Floats, low: Floats, share: Floats, n_clusters: Ints, infinite: Bools, drawn: Bools
) -> NDArray[np.object_]:
    """Return why there is no result, or that one cluster carries it; `drawn` are rows whose controls are."""
    few = n_clusters < FEWEST_CLUSTERS
    reasons = {
        "no run of both levels": n_clusters == 0,
        "no result: infinite losses": infinite,
        "controls without a loss": np.isnan(effect),
        f"fewer than {FEWEST_CLUSTERS} clusters": few,
        NO_VARIATION: np.isnan(low) & ~few & ~drawn,
        NOISE_ALONE: np.isnan(low) & ~few & drawn,
        "carried by one cluster: it has more than half of the variance": share > _CARRIED,
    }
    notes = np.full(len(effect), None, object)
    for reason, rows in reversed(reasons.items()):
        notes[rows] = reason
    return notes
