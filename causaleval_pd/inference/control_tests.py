"""Tables of tests by stratum, of estimates against their controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr

from ..contract.checks import check_known, check_type
from ..cubes.lazy_tables import tabulate
from ..cubes.reading import (
    cube_metrics,
    draws_shared,
    has_controls,
    null_name,
    null_references,
    null_stratum,
    randomisation,
    strata_dims,
    strata_table,
)
from ..cubes.schema import FAILED, NO_RUN, SCORED
from ..cubes.worst_case import cells, fill_failed
from ..statistics.arrays import Floats, mean_difference, moments, paired_difference
from ..statistics.direction import score
from ..statistics.multiplicity import adjust as adjusted
from ..statistics.paired_tests import Alternative, Outcome, paired_t, paired_wilcoxon, sign_test
from ..tables.matching import check_settings

Missing = Literal["drop", "worst"]

#: columns of every table of tests
COLUMNS = ["metric", "comparison", "statistic", "p_value", "p_adjusted", "effect", "ci_low", "ci_high"]
COLUMNS += ["n_pairs", "n_missing", "n_undefined", "null", "method", "alternative"]
_SHARES = ["superiority_share", "superiority_strict", "superiority_ties", "n_draws", "n_draws_undefined"]

#: tests of pairs of an estimate and one of its controls
PAIRED_TESTS: dict[str, Callable[..., Outcome]] = {"wilcoxon": paired_wilcoxon, "t": paired_t, "sign": sign_test}


def test_controls(
    cube: xr.Dataset,
    metrics: str | Sequence[str] | None = None,
    *,
    method: Literal["randomisation", "wilcoxon", "sign", "t"] = "randomisation",
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
    method : {"randomisation", "wilcoxon", "sign", "t"}
        "randomisation" compares the stratum's mean with the same mean over draw r of all controls, r = 1 .. R. The
        others pair each estimate with its first control and need raw draws.
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
        minus expected control) with the t interval `ci_low`, `ci_high`, `n_pairs`, `n_missing` (failed runs),
        `n_undefined` (scored runs without a value or control), `null`, `method`, `alternative`, `superiority_share`
        (share of controls at least as good, averaged over runs), and of it `superiority_strict` (better) and
        `superiority_ties`; `n_draws` and `n_draws_undefined`, the draws without any row whose metric is defined, which
        the randomisation test leaves out.

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
    power. `superiority_share` is no p-value. P-values of two algorithms against their controls do not compare the
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
    0         x    shd        0.0     0.01        6
    """
    check_known(method, ["randomisation", *PAIRED_TESTS], "method")
    check_cube(cube, level, missing)
    cube = null_stratum(cube)
    dims = strata_dims(cube)
    columns = [*(dim for dim in dims if dim != "null"), *COLUMNS, *_SHARES]

    def rows(part: xr.Dataset, name: str) -> pd.DataFrame:
        return _against_controls(part, name, method, level, missing)

    def finish(parts: list[pd.DataFrame]) -> pd.DataFrame:
        return stack_tests(parts, columns, adjust, family)

    return tabulate(cube, cube_metrics(cube, metrics), rows, finish, strata=dims)


# pytest collects what is called test_...
test_controls.__test__ = False  # type: ignore[attr-defined]


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
        statistic, p_value, drawn = (cells(x, dims, last=()) for x in randomisation(filled, name))
    else:
        if draws_shared(cube):
            raise ValueError(
                f"the rows of this cube share their draws, so method={method!r} has no independent pairs; make the "
                "cube without share_draws=True"
            )
        draws = _first_draw(cube, name, method)
        first = score(cells(draws, dims), direction=direction, optimum=optimum)
        pairs = paired_difference(own, controls_of(first))
        statistic, p_value = PAIRED_TESTS[method](pairs, alternative=alternative)
        drawn = cells(randomisation(cube, name)[2], dims, last=())

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
        null=table["null"] if "null" in dims else null_name(cube, name),
        method=method,
        alternative=alternative,
        superiority_share=share,
        superiority_strict=strict,
        superiority_ties=share - strict,
        n_draws=int(cube.attrs["n_draws"]),
        n_draws_undefined=int(cube.attrs["n_draws"]) - drawn,
    )
    # a point of reference is no random guess, so there is nothing to test
    table["p_value"] = table["p_value"].where(~table["null"].isin(null_references(cube)))
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


def check_cube(cube: xr.Dataset, level: float, missing: str) -> None:
    """Refuse settings that no test has, and cubes without replicates."""
    check_type(cube, xr.Dataset, "a Dataset made by cube()", "cube")
    check_settings(None, level, "auto", "add_one")
    check_known(missing, ["drop", "worst"], "value of missing")
    if "replicate" not in cube.dims:
        raise ValueError("the cube has no dimension 'replicate'; choose one replicate by a list, isel(replicate=[0])")


def stack_tests(
    parts: list[pd.DataFrame], columns: list[str], adjust: str | None, family: str | Sequence[str] | None
) -> pd.DataFrame:
    """Stack the metrics' tables and adjust their p-values, unless they have been."""
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
    labels = None
    if family is not None:
        within = [family] if isinstance(family, str) else list(family)
        for name in within:
            check_known(name, [c for c in columns if c in table], "column (family)")
        labels = table.groupby(within, dropna=False, sort=False).ngroup().to_numpy()
    if "p_adjusted" not in table:
        table["p_adjusted"] = adjusted(table["p_value"].to_numpy(np.float64), adjust, labels)
    return table[columns]
