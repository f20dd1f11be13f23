"""Comparisons of the skill of levels, on arrays over strata x levels x replicates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..cubes.schema import FAILED, NO_RUN
from ..statistics.arrays import Bools, Floats
from ..statistics.clusters import cluster_count, cluster_sums
from ..statistics.monte_carlo import NOISE_ALONE
from ..statistics.paired_tests import Alternative, Outcome
from ..statistics.skill import FEWEST_CLUSTERS, skill_difference
from .pairwise import Comparison, Ints, Levels, claimed, clusters_of_pairs, of_levels

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
    found = skill_difference(a, b, level=how.level)
    n_clusters = cluster_count(np.where(gone, np.nan, 0.0), cluster)
    infinite = np.asarray(np.isinf(summed).any(axis=(0, 2)), bool)
    drawn = np.asarray((np.nan_to_num([a[2], b[2]]) > 0).any(axis=(0, 2)), bool)
    return {
        "statistic": statistic,
        "p_value": p_value,
        "effect": found.effect,
        "ci_low": found.low,
        "ci_high": found.high,
        "n_pairs": (~gone).sum(axis=1),
        "n_truths": n_clusters,
        "n_failed": failed.sum(axis=1),
        "n_undefined": (run & ~failed & gone).sum(axis=1),
        "test": how.test.name,
        "note": _notes(found.effect, found.low, found.largest_share, n_clusters, infinite, drawn),
    }


def paired_losses(losses: Losses, levels: Levels, first: Ints, second: Ints) -> tuple[list[Floats], Bools]:
    """Return losses, control losses and their errors of both levels, by cluster, and which pairs lack a value."""
    run = [of_levels(levels.status, place) != NO_RUN for place in (first, second)]
    given = [of_levels(x, place) for place in (first, second) for x in losses]
    gone = ~(run[0] & run[1]) | np.isnan(given).any(axis=0)
    cluster = clusters_of_pairs(levels.cluster, first, second)
    parts = [np.where(gone, np.nan, x) for x in given]
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
        "no variation": np.isnan(low) & ~few & ~drawn,
        NOISE_ALONE: np.isnan(low) & ~few & drawn,
        "carried by one cluster: it has more than half of the variance": share > _CARRIED,
    }
    notes = np.full(len(effect), None, object)
    for reason, rows in reversed(reasons.items()):
        notes[rows] = reason
    return notes
