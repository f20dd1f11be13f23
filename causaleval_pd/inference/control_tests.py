"""Tests of estimates against their controls, a row a stratum and metric."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from ..contract.checks import check_choice, check_number
from ..contract.history import call, calls, remember
from ..cubes.composite_nulls import MEMBER, has_composites, worst_members
from ..cubes.p_values import StratumP, of_draws
from ..cubes.reading import (
    as_good_shares,
    cluster_ids,
    cluster_setting,
    control_errors,
    cube_metrics,
    mean_score,
    need_controls,
    null_name,
    null_stratum,
    strata_dims,
    strata_table,
    tested,
    variable,
)
from ..cubes.reshaped import read_cube, read_metric
from ..cubes.schema import FAILED, NO_RUN, SCORED, declare_columns
from ..cubes.stratum_tests import stratum_tests
from ..cubes.worst_case import cells, fill_failed
from ..statistics.arrays import Bools, Floats, moments, paired_difference
from ..statistics.clusters import cluster_count, cluster_means, clustered_mean
from ..statistics.direction import better_side, score
from ..statistics.interval_notes import interval_notes, joined
from ..statistics.monte_carlo import NOISE_ALONE, noise_alone, without_noise
from ..statistics.stratum_statistic import COMBINATIONS, STATISTICS, Statistic
from .clusters import OF_CUBE, check_tested_cluster
from .result_tables import (
    RESULTS,
    TESTED,
    Missing,
    check_missing,
    check_own_draws,
    family_labels,
    stack_tests,
    warn_of_floors,
)
from .statistical_tests import RANDOMISATION

#: columns of the result, after the strata
COLUMNS = declare_columns(
    "test_controls",
    (
        *TESTED,
        *("n_runs", "n_draws", "n_draws_undefined", "test_statistic", "n_no_information"),
        *("p_method", "p_at_floor", "note"),
        *("superiority_share", "statistic", *RESULTS),
    ),
)


def test_controls(
    cube: xr.Dataset,
    metrics: str | Sequence[str] | None = None,
    *,
    adjust: str | None = None,
    family: str | Sequence[str] | None = None,
    level: float = 0.95,
    missing: Missing = "drop",
    statistic: Statistic = "mean",
    cluster: Hashable | None = OF_CUBE,
) -> pd.DataFrame:
    """Test in every stratum whether estimates are better than their controls.

    Parameters
    ----------
    cube : Dataset
        Made by `cube` with controls.
    metrics : str or sequence of str, optional
        Which of its metrics; default all.
    adjust : {"holm", "bh", "by", "bonferroni", "none"} or None
        Multiplicity correction over metrics x strata, that is all rows returned; default none, so that `p_adjusted` is
        `p_value`. Of many strata of guesses, 5 % then have a `p_adjusted` of at most .05.
    family : str or sequence of str, optional
        Columns of the result within whose values p-values are adjusted, such as "metric"; default all rows returned.
    level : float
        Probability of the interval of `effect`. Where the draws are too few for any p-value of a family to pass at
        1 - level after its correction, a warning names the number that it needs.
    missing : {"drop", "worst"}
        "worst" is a sensitivity analysis that counts failed runs as the worst value: the end of the metric's range away
        from the optimum where that is finite, else the worst value among the stratum's estimates and controls. The
        control of a failed run is the mean of the stratum's controls. In the randomisation test a failed run counts
        against the runs alone, not in the draws: in the mean by the excess of the worst value over the mean control, in
        the ranks as last; p then rests on draw r of all runs together.
    statistic : {"mean", "rank"}
        What the randomisation test compares. "mean": the sum over runs of their excess, the metric less the mean of the
        run and all of its draws, which tests the mean of the metric. "rank": the sum over clusters of the rank of their
        summed excess among its draws, which is blind to single strong runs, and to single disasters.
    cluster : hashable or None
        Which runs depend on each other is settled when the cube is made (`cube(cluster=)`); another setting is refused.

    Returns
    -------
    DataFrame
        A row a stratum and metric: the strata, `metric`, `comparison`, `statistic` (mean of the stratum, whatever is
        compared), `p_value` (one-sided, in the metric's direction), `p_adjusted`, `effect`
        (mean of estimate minus expected control) with the t interval `ci_low`, `ci_high`, `n_pairs`, `n_clusters`
        (clusters of runs that depend on each other), `n_failed` (failed runs), `n_undefined` (scored runs without a
        value or control), `null`, `method`, `alternative`, `n_runs`, `superiority_share` (share of controls at least as
        good, averaged over runs); `n_draws` and
        `n_draws_undefined`, the draws without any row whose metric is defined; `test_statistic`; `p_at_floor` (no draw
        and no combination of draws reached the statistic, so that `p_value` is an upper bound which more draws may make
        smaller); `p_method` ("simulated"; "relabelling by truth" or by a column; these followed by "combinations of
        draws"; "twice the mean p by truth" or by a column; or why there is no p);
        `n_no_information`, the runs which equal all their draws; and `note` (why `effect` has no interval or the test
        no p-value, how many runs lie outside all of their draws, which do not vary, and which p-values are the least
        possible).

        Under a composite null model (`ce.worst_of`) a row is that of the member with the largest p, which the column
        `control_null` names; p-values are adjusted after that.

    Raises
    ------
    ValueError
        If a metric or correction is unknown, or the cube has no controls.

    Notes
    -----
    Null hypothesis of the randomisation test: estimates are random guesses of the null model. Alternative: they are
    better, by the statistic. Under the null hypothesis a cluster's runs and draws are exchangeable and clusters
    independent, so that all (R + 1)^g combinations of one of them for each of g clusters are equally likely. The
    p-value of a stratum of several clusters is (1 + b) / 100,000, where b of 99,999 random combinations are at least as
    good as the runs: it is valid, and at least 1e-5. The seed of the draws and the scores of the stratum name the
    random stream, so that the order of rows changes no digit. A stratum of one cluster has the p-value
    (1 + #{draws at least as good}) / (R + 1), and so have strata under null models whose controls depend on
    the other runs. Of more than 16,384 clusters, 16,384 groups are combined.

    An undefined value counts as the mean of its row, that is as no excess; `n_undefined` counts these. An infinite
    value has the last rank, and leaves the mean without a p-value.

    Runs of different clusters are assumed independent; of runs of one cluster (the runs on one truth, unless the cube
    was made with another `cluster=`) nothing is assumed. A stratum that repeats a cluster is tested by relabelling:
    draw r exchanges the nodes of all estimates of a cluster in one random way. This is exact for every null model whose
    law does not depend on the names of nodes, whatever the dependence of a cluster's runs, their number and their edge
    numbers. Under other null models ("knowledge", "orientation", "degree", functions) p is Fisher's combination of
    twice the mean p of the runs of each cluster, which is valid and has little power.

    Do not use it where guesses are shared between truths that share labels, as where columns stand in causal order:
    shuffle the columns, or name one cluster for all truths. Do not read it as a test of one run, and not with few
    draws. `superiority_share` is not a p-value. P-values of two algorithms against their controls do not compare the
    algorithms; `compare` does. A metric that is best at its optimum is tested by its distance from it.

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
    0         x    shd        0.0  0.00071        6
    """
    check_number(level, "level", "(0, 1)")
    check_missing(missing)
    check_choice(statistic, STATISTICS, "statistic")
    cube = null_stratum(read_cube(cube))
    check_tested_cluster(cube, cluster)
    dims, names = strata_dims(cube), cube_metrics(cube, metrics)
    need_controls(cube, names, "to test against")

    parts = [_against_controls(read_metric(cube, name), name, level, missing, statistic) for name in names]
    parts, columns = [worst_members(cube, part) for part in parts], list(COLUMNS)
    if has_composites(cube):
        columns.insert(columns.index("null") + 1, MEMBER)
    strata = [dim for dim in dims if dim != "null"]
    table = stack_tests(parts, columns, strata, adjust, family)
    if len(table):
        warn_of_floors(table, adjust, family_labels(table, [*strata, *columns], family), 1 - level)
    settings = {"adjust": adjust, "family": family, "level": level, "missing": missing}
    settings["statistic"] = statistic
    return remember(table, [*calls(cube.attrs), call("test_controls", {"metrics": names} | settings)])


# pytest collects what is called test_...
test_controls.__test__ = False  # type: ignore[attr-defined]


def _against_controls(cube: xr.Dataset, name: str, level: float, missing: Missing, compared: Statistic) -> pd.DataFrame:
    """Return the rows of one metric, one a stratum; the parameters are those of `test_controls`."""
    check_own_draws(cube, "the randomisation test has no valid reference")
    dims, direction = strata_dims(cube), cube[name].attrs["direction"]
    status = cells(cube["status"], dims)
    defined = ~np.isnan(cells(cube[name], dims))
    failed = (status == FAILED) & (missing == "worst")
    filled = fill_failed(cube, name) if missing == "worst" else cube
    own = _scored(filled, cells(filled[name], dims), name)

    def difference(controls: Floats) -> Floats:
        """Return estimates minus controls; the control of a failed run is the mean of the stratum's."""
        mean = moments(np.where(defined, controls, np.nan))[1]
        return paired_difference(own, np.where(failed, mean[:, None], controls))

    expected = "control_loss" if direction == "zero" else "control_mean"
    pairs = difference(cells(variable(cube, name, expected), dims))
    clusters = cells(cluster_ids(cube), dims)
    # differences that the controls' Monte Carlo errors explain show no variation
    errors = cells(control_errors(cube, name), dims)
    differences, alone = without_noise(pairs, errors), noise_alone(pairs, errors)
    effect = clustered_mean(differences, clusters, level)._replace(effect=clustered_mean(pairs, clusters, level).effect)
    alternative = better_side(direction)
    able = tested(cube, name)
    found = stratum_tests(cube, name, compared, worst=missing == "worst")
    statistic = cells(mean_score(filled, name), dims, last=())
    of_strata = of_draws(found, found.p_values(direction, able), cluster_setting(cube), able)
    null = strata_table(cube)["null"] if "null" in dims else pd.Series([null_name(cube, name)] * len(own), dtype="str")
    used = ~np.isnan(pairs)
    n_clusters = cluster_count(pairs, clusters)
    notes = np.where(alone, NOISE_ALONE, interval_notes(effect, cluster_means(differences, clusters), level))
    table = strata_table(
        cube,
        null=null,
        metric=name,
        comparison="estimate vs control",
        statistic=statistic,
        p_value=of_strata.p,
        effect=effect.effect,
        ci_low=effect.low,
        ci_high=effect.high,
        n_pairs=used.sum(axis=1),
        n_clusters=n_clusters,
        n_runs=(status != NO_RUN).sum(axis=1),
        n_failed=(status == FAILED).sum(axis=1),
        n_undefined=((status == SCORED) & ~used).sum(axis=1),
        method=RANDOMISATION.name,
        alternative=alternative,
        superiority_share=_superiority(cube, name, failed & defined.any(axis=1, keepdims=True)),
        n_draws=cube.sizes["draw"],
        n_draws_undefined=(found.columns.defined[:, 1:] == 0).sum(axis=1),
        test_statistic=compared,
        p_at_floor=of_strata.floor_flags,
        p_method=of_strata.method,
        n_no_information=found.columns.n_no_information,
        note=joined(joined(notes, found.notes(able)), _floor_notes(of_strata)),
    )
    table = table.astype({"test_statistic": "str", "p_method": "str", "note": "str"})
    return table[(status != NO_RUN).any(axis=1)]


def _floor_notes(found: StratumP) -> list[str | None]:
    """Return for every p-value that no draw reached what finds smaller ones."""
    words = [
        f"p <= {p:.3g}, the least of {COMBINATIONS:,} combinations of draws"
        if "combinations" in str(method)
        else f"p <= {p:.3g}, the least that these draws give; n_draws='auto' of the cube resolves smaller p"
        for p, method in zip(found.p.tolist(), found.method.tolist(), strict=True)
    ]
    return [word if floor else None for word, floor in zip(words, found.at_floor.tolist(), strict=True)]


def _scored(cube: xr.Dataset, values: Floats, name: str) -> Floats:
    """Return a metric's values, or their distance from the optimum where closest is best."""
    spec = cube[name].attrs
    return score(values, direction=spec["direction"], optimum=spec["optimum"])


def _superiority(cube: xr.Dataset, name: str, worst: Bools) -> Floats:
    """Return the mean share of controls that are as good; all are as good as runs counted as `worst`."""
    return moments(np.where(worst, 1.0, as_good_shares(cube, name)))[1]
