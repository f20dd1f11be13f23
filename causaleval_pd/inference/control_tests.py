"""Tests of estimates against their controls, a row a stratum and metric."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from ..contract.checks import check_number
from ..contract.history import call
from ..contract.statistical_test import StatisticalTest, find_test
from ..cubes.composite_nulls import MEMBER, has_composites, worst_members
from ..cubes.lazy_tables import tabulate
from ..cubes.reading import (
    control_means,
    cube_metrics,
    draws_shared,
    has_draws,
    need_controls,
    null_name,
    null_references,
    null_stratum,
    strata_dims,
    strata_table,
    variable,
)
from ..cubes.reshaped import read_cube
from ..cubes.schema import FAILED, NO_RUN, SCORED, declare_columns
from ..cubes.worst_case import cells, fill_failed
from ..statistics.arrays import Bools, Floats, mean_difference, moments, paired_difference
from ..statistics.direction import score
from ..statistics.paired_tests import Alternative
from .pairwise import cluster_count
from .result_tables import TEST_COLUMNS, Missing, check_missing, stack_tests
from .statistical_tests import RANDOMISATION

#: columns of the result, after the strata
COLUMNS = declare_columns(
    "test_controls",
    (
        *TEST_COLUMNS,
        *("n_runs", "superiority_share", "superiority_strict", "superiority_ties", "n_draws", "n_draws_undefined"),
    ),
)


def test_controls(
    cube: xr.Dataset,
    metrics: str | Sequence[str] | None = None,
    *,
    method: str = "randomisation",
    adjust: str | None = None,
    family: str | Sequence[str] | None = None,
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
    method : str
        "randomisation" compares the stratum's mean with the same mean over draw r of all controls, r = 1 .. R.
        "wilcoxon", "sign", "t" and others that `list_tests("test_controls")` names pair each estimate with its first
        control and need raw draws.
    adjust : {"holm", "bh", "by", "bonferroni", "none"} or None
        Multiplicity correction over metrics x strata, that is all rows returned.
    family : str or sequence of str, optional
        Columns of the result within whose values p-values are adjusted, such as "metric"; default all rows returned.
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
        minus expected control) with the t interval `ci_low`, `ci_high`, `n_pairs`, `n_clusters` (their truths),
        `n_failed` (failed runs), `n_undefined` (scored runs without a value or control), `null`, `method`,
        `alternative`, `n_runs`, `superiority_share` (share of controls at least as good, averaged over runs), and of it
        `superiority_strict` (better) and `superiority_ties`; `n_draws` and `n_draws_undefined`, the draws without any
        row whose metric is defined, which the randomisation test leaves out.

        Under a composite null model (`ce.worst_of`) a row is that of the member with the largest p, which the column
        `control_null` names; p-values are adjusted after that.

    Raises
    ------
    ValueError
        If a metric, method or correction is unknown, the cube has no controls, or it lacks the raw draws that `method`
        needs.

    Notes
    -----
    The randomisation p-value is (1 + #{draws at least as good}) / (R + 1); draws without a defined value are left out
    of R. It tests whether estimates are random guesses of the null model, and assumes that the guesses of the runs of a
    stratum are independent: an algorithm that repeats its guess on one truth is rejected far too often (compare
    `n_clusters` with `n_pairs`). Do not use it where edge numbers are themselves random as under "erdos_renyi", or
    drawn from the stratum's estimates as under "stratum", and the metric is not linear in them. Where runs are
    independent, estimate and first control are exchangeable under the other null models, so their difference is
    symmetric about 0 however skewed the metric is, and the sign and Wilcoxon tests are valid; they use one draw of R
    and so have less power. `superiority_share` is not a p-value. P-values of two algorithms against their controls do
    not compare the algorithms; `compare` does. A metric that is best at its optimum is tested by its distance from it.

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
    test = find_test(method, "test_controls", "method")
    check_number(level, "level", "(0, 1)")
    check_missing(missing)
    cube = null_stratum(read_cube(cube))
    dims, names = strata_dims(cube), cube_metrics(cube, metrics)
    need_controls(cube, names, "to test against")

    def rows(part: xr.Dataset, name: str) -> pd.DataFrame:
        return _against_controls(part, name, test, level, missing)

    def finish(parts: list[pd.DataFrame]) -> pd.DataFrame:
        parts, columns = [worst_members(cube, part) for part in parts], list(COLUMNS)
        if has_composites(cube):
            columns.insert(columns.index("null") + 1, MEMBER)
        return stack_tests(parts, columns, [dim for dim in dims if dim != "null"], adjust, family)

    names = cube_metrics(cube, metrics)
    settings = {"method": method, "adjust": adjust, "family": family, "level": level, "missing": missing}
    made = call("test_controls", {"metrics": names} | settings)
    return tabulate(cube, names, rows, finish, strata=dims, made=made)


# pytest collects what is called test_...
test_controls.__test__ = False  # type: ignore[attr-defined]


def _against_controls(
    cube: xr.Dataset, name: str, test: StatisticalTest, level: float, missing: Missing
) -> pd.DataFrame:
    """Return the rows of one metric, one a stratum; the parameters are those of `test_controls`."""
    _check_draws(cube, test)
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
    effect = mean_difference(pairs, level)
    alternative: Alternative = "greater" if direction == "maximize" else "less"
    means, means_of_draws = control_means(filled, name)
    observed, drawn = cells(means, dims, last=()), cells(means_of_draws, dims, last=("draw",))
    if test.design == "draws":
        outcome = test.function(observed, drawn, alternative=alternative)
    else:
        pairs = difference(_scored(cube, cells(_first_draw(cube, name, test.name), dims), name))
        outcome = test.function(pairs, alternative=alternative)
    statistic, p_value = outcome[:2]

    null = strata_table(cube)["null"] if "null" in dims else pd.Series([null_name(cube, name)] * len(own), dtype="str")
    used = ~np.isnan(pairs)
    table = strata_table(
        cube,
        null=null,
        metric=name,
        comparison="estimate vs control",
        statistic=statistic,
        # a point of reference is not a random guess, so there is nothing to test
        p_value=np.where(null.isin(null_references(cube, name)), np.nan, p_value),
        effect=effect.effect,
        ci_low=effect.low,
        ci_high=effect.high,
        n_pairs=used.sum(axis=1),
        n_clusters=cluster_count(pairs, cells(cube["truth_id"], dims)),
        n_runs=(status != NO_RUN).sum(axis=1),
        n_failed=(status == FAILED).sum(axis=1),
        n_undefined=((status == SCORED) & ~used).sum(axis=1),
        method=test.name,
        alternative=alternative,
        **_superiority(cube, name, failed & defined.any(axis=1, keepdims=True)),
        n_draws=int(cube.attrs["n_draws"]),
        n_draws_undefined=int(cube.attrs["n_draws"]) - (~np.isnan(drawn)).sum(axis=1),
    )
    return table[(status != NO_RUN).any(axis=1)]


def stratum_p_values(cube: xr.Dataset, name: str) -> Floats:
    """Return the p-value of each stratum's randomisation test; NaN where its null model is a point of reference."""
    test, dims = RANDOMISATION, strata_dims(cube)
    _check_draws(cube, test)
    means, drawn = control_means(cube, name)
    alternative: Alternative = "greater" if cube[name].attrs["direction"] == "maximize" else "less"
    found = test.function(cells(means, dims, last=()), cells(drawn, dims, last=("draw",)), alternative=alternative)
    nulls = strata_table(cube)["null"] if "null" in dims else pd.Series([null_name(cube, name)] * len(found[1]))
    return np.where(nulls.isin(null_references(cube, name)), np.nan, found[1])


def _check_draws(cube: xr.Dataset, test: StatisticalTest) -> None:
    """Refuse draws that rows share: neither means nor pairs are independent then."""
    if draws_shared(cube):
        lacking = "valid reference" if test.design == "draws" else "independent pairs"
        raise ValueError(
            f"the rows of this cube share their draws, so method={test.name!r} has no {lacking}; make the cube without "
            "share_draws=True, or use its p-values of single rows"
        )


def _scored(cube: xr.Dataset, values: Floats, name: str) -> Floats:
    """Return a metric's values, or their distance from the optimum where closest is best."""
    spec = cube[name].attrs
    return score(values, direction=spec["direction"], optimum=spec["optimum"])


def _superiority(cube: xr.Dataset, name: str, worst: Bools) -> dict[str, Floats]:
    """Return the mean shares of controls as good, better and equal; all are as good as runs counted as `worst`."""
    dims = strata_dims(cube)
    share, strict = (
        moments(np.where(worst, 1.0, cells(variable(cube, name, part), dims)))[1] for part in ("as_good", "better")
    )
    return {"superiority_share": share, "superiority_strict": strict, "superiority_ties": share - strict}


def _first_draw(cube: xr.Dataset, name: str, method: str) -> xr.DataArray:
    """Return the first control of every run."""
    if not has_draws(cube, name):
        raise ValueError(
            f"method={method!r} pairs each estimate with one of its controls, but the cube keeps no draws of {name}; "
            "make it by cube(..., keep_draws=True), or use method='randomisation'"
        )
    draws = variable(cube, name, "control")
    return draws.isel(draw=0) if "draw" in draws.dims else draws
