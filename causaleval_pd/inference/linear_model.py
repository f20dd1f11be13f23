"""A linear model of runs over their settings, with errors that allow for runs on one truth."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy
import xarray as xr
from numpy.typing import NDArray

from ..contract.checks import check_known, check_number, check_type, counted, nearest
from ..cubes.reading import cube_metrics, need_controls, null_name, strata_dims, strata_table
from ..cubes.reshaped import read_cube, read_metric
from ..cubes.schema import FAILED, NO_RUN, stratum_name, values_of
from ..cubes.weights import WEIGHT
from ..statistics.arrays import Floats
from ..statistics.clusters import clustered_fit
from ..statistics.direction import TOLERANCE
from ..statistics.monte_carlo import largest_variance
from ..tables.history import call, calls, remember
from .compared_values import ON, On, run_values, words_of_clusters

#: clusters below which no model is fitted
FEWEST_CLUSTERS = 5

#: columns of the result; it has none for strata, so that strata may have these names
COLUMNS = (
    *("metric", "response", "term", "n_runs", "n_scored", "n_failed", "n_undefined", "n_clusters", "null", "note"),
    *("se", "df", "statistic", "estimate", "ci_low", "ci_high", "p_value"),
)
_ALLOWED = "formulas take names of strata (in backquotes if need be), + * : - 1, C(name) and log(name)"
#: a stratum, as levels without an order or by its logarithm where that is said
_FACTOR = re.compile(r"(?:(C|log|np\.log)\(\s*)?(`[^`]+`|[^\W\d]\w*)(?(1)\s*\))")
_PRODUCT = r"\s*(?:[01]|x\d+(?:\s*[*:]\s*x\d+)*)\s*"
_TERMS = re.compile(rf"{_PRODUCT}(?:\+{_PRODUCT})*(?:-\s*1\s*)?")


def model(
    cube: xr.Dataset,
    formula: str,
    *,
    metric: str | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Fit a linear model of the runs over their strata, with errors that allow for runs on one truth.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`. One that is lazy is loaded, without its draws.
    formula : str
        Response and terms, such as ``"skill ~ algorithm * density + log(n)"``. The response is a metric of the cube, or
        a column that it carries; "skill", 1 - loss / loss expected of the run's controls; or "excess", the metric minus
        what is expected of the run's controls. Terms are strata: ``a + b``, ``a:b``, ``a * b``, ``- 1``, ``C(a)``,
        ``log(a)``, and names in backquotes; nothing else. Strata of words or truth values are levels; the first is the
        reference. Numbers are slopes unless ``C(a)`` makes them levels.
    metric : str, optional
        The metric of "skill" and "excess"; needed where the cube has several.
    level : float
        Probability of the intervals.

    Returns
    -------
    DataFrame
        One row per coefficient: `metric`, `response`, `term` (``algorithm[T.pc]`` is the difference of pc from the
        reference level), `estimate`, `se`, `df`, `statistic` (t), `p_value`, `ci_low`, `ci_high`, `n_runs`, of these
        `n_scored` (with a value), `n_failed` and `n_undefined`, `n_clusters`, `null` (of the controls), `note` (what it
        rests on).

    Raises
    ------
    ValueError
        If the formula has anything but the above, a name is unknown, a term has one level or cannot be told from the
        others, a value is infinite, all values are equal, the terms explain all values but for the Monte Carlo error of
        the controls, there are fewer than five clusters, or the cube has several null models.

    Notes
    -----
    Null hypothesis of a row: the coefficient is 0; two-sided. Coefficients are those of least squares. Errors come from
    leaving out one truth (cluster) at a time, so that they are valid however the runs on a truth depend on each other.
    Degrees of freedom are the effective number of clusters minus 1. The model assumes independent clusters, and effects
    that add up on the scale of the response. Do not use it for a metric that is mostly at its bound, nor with fewer
    than about ten clusters at each level of a stratum that differs between them. Mixed and Bayesian models take the
    rows of `runs`.

    The skill of a run is undefined where its controls have no loss, and weighs all runs alike; the skill that `summary`
    and `compare` report is a ratio of sums. P-values are not corrected for their number.

    References
    ----------
    Bell and McCaffrey (2002), Bias reduction in standard errors for linear regression with multi-stage samples.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cube = ce.datasets.runs().ceval.cube(["shd"], by=["algorithm", "density", "n"], n_draws=None)
    >>> effects = cube.ceval.model("shd ~ algorithm + density + log(n)")
    >>> effects["term"].tolist()
    ['Intercept', 'algorithm[T.lingam]', 'algorithm[T.pc]', 'density', 'log(n)']
    """
    check_number(level, "level", "(0, 1)")
    check_type(formula, str, "a formula such as 'skill ~ algorithm * density'", "formula")
    cube = read_cube(cube, controls=False)
    response, _, terms = formula.partition("~")
    response = response.strip().strip("`")
    if not response or not terms or "~" in terms:
        raise ValueError(f"the formula {formula!r} needs a response, as in 'skill ~ algorithm * density'")
    name, on = _response(cube, response, metric)
    if on != "metric":
        need_controls(cube, [name], f"for {on}")
        if "null" in cube.dims:
            raise ValueError(
                f"the cube has several null models; choose one by cube.sel(null={str(cube['null'][0].item())!r})"
            )
    part = read_metric(cube, name)
    if WEIGHT in part.coords:
        raise ValueError(
            "model takes no weights of runs; statsmodels' WLS takes the rows of cube.ceval.runs() and their column "
            f"{WEIGHT!r}"
        )
    terms, factors = read_terms(terms, formula, strata_dims(part))
    runs, counts = _runs(part, name, on)
    table = _fitted(runs, terms, factors, level).assign(
        metric=name,
        response=response,
        n_runs=len(runs.values) + sum(counts.values()),
        n_scored=len(runs.values),
        n_clusters=len(np.unique(runs.groups)),
        **counts,
        null=None if on == "metric" else null_name(part, name),
    )
    table = table.astype(dict.fromkeys(("metric", "response", "null", "note"), "str"))
    settings = {"formula": formula, "metric": name, "level": level}
    return remember(table[list(COLUMNS)], [*calls(cube.attrs), call("model", settings)])


def _response(cube: xr.Dataset, response: str, metric: str | None) -> tuple[str, On]:
    """Return the metric of the response, and what of it is explained."""
    on: On = next((x for x in ON if x == response), "metric")
    known = cube_metrics(cube)
    if metric is not None:
        check_type(metric, str, "the name of a metric of the cube", "metric")
    if on == "metric" or response in known:
        if "(" in response and response not in [*known, *values_of(cube)]:
            raise ValueError(
                f"the response {response!r} is not a name; carry a transformed column by cube(values=), and name it"
            )
        if response not in known:
            check_known(response, ["skill", "excess", *known, *values_of(cube)], "response")
        if metric not in (None, response):
            raise ValueError(f"the response {response!r} takes no further metric; leave out metric={metric!r}")
        return response, "metric"
    if metric is None and len(known) > 1:
        raise ValueError(f"the response {response!r} needs metric=, one of {', '.join(map(repr, known))}")
    return (known[0] if metric is None else cube_metrics(cube, metric)[0]), on


def read_terms(terms: str, formula: str, strata: Sequence[str]) -> tuple[str, dict[str, tuple[str, str]]]:
    """Return the terms with x0, x1, ... for their factors, and the form and stratum of each; nothing is evaluated."""
    names: dict[tuple[str, str], str] = {}

    def plain(factor: re.Match[str]) -> str:
        form, stratum = (factor[1] or "").removeprefix("np."), stratum_name(factor[2].strip("`"))
        check_known(stratum, list(strata), "stratum", f"it is in the formula {formula!r}; {nearest(stratum, strata)}")
        return names.setdefault((form, stratum), f"x{len(names)}")

    if "|" in terms:
        raise ValueError(
            f"'|' in the formula {formula!r} is not allowed: errors allow for clusters in every model; leave the term "
            "in brackets out"
        )
    read = _FACTOR.sub(plain, terms)
    if not _TERMS.fullmatch(read):
        raise ValueError(f"the formula {formula!r} cannot be read; {_ALLOWED}")
    if not names:
        raise ValueError(f"the formula {formula!r} has no term; name strata: {', '.join(strata)}")
    return read, {x: factor for factor, x in names.items()}


class _Runs(NamedTuple):
    """The runs with a value: their strata, values, Monte Carlo standard errors of these, and clusters."""

    strata: pd.DataFrame
    values: Floats
    errors: Floats
    groups: NDArray[np.int64]


def _runs(part: xr.Dataset, name: str, on: On) -> tuple[_Runs, dict[str, int]]:
    """Return the runs with a value, and how many failed or have none."""
    scored = run_values(part, name, on=on)
    dims = strata_dims(part)
    status, values, errors = (
        array.transpose(*dims, "replicate").to_numpy().reshape(-1)
        for array in (part["status"], scored.values, scored.errors)
    )
    groups: NDArray[Any] = np.arange(1, len(values) + 1)
    if scored.groups is not None:
        groups = scored.groups.transpose(*dims, "replicate").to_numpy().reshape(-1)
    strata = strata_table(part) if dims else pd.DataFrame(index=pd.RangeIndex(1))
    table = strata.loc[np.repeat(np.arange(len(strata)), part.sizes["replicate"])].reset_index(drop=True)
    run, failed = status != NO_RUN, status == FAILED
    infinite = int((run & ~failed & np.isinf(values)).sum())
    if infinite:
        raise ValueError(
            f"{counted(infinite, 'run')} with an infinite value, which a linear model cannot explain; take these runs "
            "out of the table, explain another metric, or compare ranks by compare(test='wilcoxon')"
        )
    known = run & ~failed & ~np.isnan(values)
    counts = {"n_failed": int(failed.sum()), "n_undefined": int((run & ~failed & ~known).sum())}
    runs = _Runs(table[known].reset_index(drop=True), values[known], errors[known], groups[known])
    n_groups = len(np.unique(runs.groups))
    if n_groups < FEWEST_CLUSTERS:
        raise ValueError(
            f"{len(runs.values)} runs with a value have {counted(n_groups, 'cluster')} "
            f"({words_of_clusters(part, 'runs')}); a model needs at least {FEWEST_CLUSTERS}"
        )
    if np.ptp(runs.values) <= TOLERANCE * max(1.0, float(np.abs(runs.values).max())):
        raise ValueError(f"all {len(runs.values)} runs have the value {runs.values[0]:g}; there is nothing to explain")
    return runs, counts


def _factor(column: pd.Series, form: str, label: str) -> pd.Series:
    """Return a stratum as numbers, logarithms or levels."""
    if column.nunique() < 2:
        raise ValueError(f"{column.name} has one level among the runs with a value, {column.iloc[0]}; leave it out")
    number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    if form == "log":
        if not number or not (column > 0).all():
            raise ValueError(f"{label} needs positive numbers, found {column.min() if number else column.iloc[0]}")
        return pd.Series(np.log(column.to_numpy(np.float64)))
    if number and form == "":
        return column.astype(np.float64)
    return pd.Series(pd.Categorical(column.astype(object), list(pd.unique(column))))


def _fitted(runs: _Runs, terms: str, factors: dict[str, tuple[str, str]], level: float) -> pd.DataFrame:
    """Return one row per coefficient."""
    # statsmodels is imported where it is used
    from statsmodels.regression.linear_model import OLS

    labels = {x: f"{form}({stratum})" if form else stratum for x, (form, stratum) in factors.items()}
    data = pd.DataFrame({"y": runs.values})
    for x, (form, stratum) in factors.items():
        data[x] = _factor(runs.strata[stratum], form, labels[x])
    # the formula that is evaluated has nothing but the names y, x0, x1, ...
    least_squares = OLS.from_formula(f"y ~ {terms}", data)
    design, response = np.asarray(least_squares.exog, np.float64), runs.values
    words = [re.sub(r"x\d+", lambda x: labels[x[0]], str(name)) for name in least_squares.exog_names]
    _check_rank(design, words)
    _check_error(design, response, runs.errors)
    fit = clustered_fit(design, response, runs.groups)
    error = np.where(fit.error > 0, fit.error, np.nan)
    t = fit.estimate / error
    half = scipy.special.stdtrit(fit.df, (1 + level) / 2) * error
    carried = "carried by one cluster: no error without it"
    return pd.DataFrame(
        {
            "term": pd.array(words, dtype="str"),
            "estimate": fit.estimate,
            "se": fit.error,
            "df": np.where(np.isnan(fit.error), np.nan, fit.df),
            "statistic": t,
            "p_value": 2 * scipy.special.stdtr(fit.df, -np.abs(t)),
            "ci_low": fit.estimate - half,
            "ci_high": fit.estimate + half,
            "note": [carried if np.isnan(e) else None if e > 0 else "no variation" for e in fit.error],
        }
    )


def _check_rank(design: Floats, words: list[str]) -> None:
    """Refuse terms that a combination of the terms before them equals, and more terms than runs."""
    length = np.sqrt((design**2).sum(axis=0))
    scaled = design / np.where(length > 0, length, 1.0)
    for k, word in enumerate(words, 1):
        if np.linalg.matrix_rank(scaled[:, :k], tol=1e-9) < k:
            raise ValueError(
                f"the term {word} cannot be told from the terms before it among the runs with a value: some levels do "
                "not occur together, or one stratum determines another; leave out a term"
            )
    if len(design) <= len(words):
        raise ValueError(f"{len(design)} runs with a value are too few for {len(words)} terms")


def _check_error(design: Floats, response: Floats, errors: Floats) -> None:
    """Refuse values that the terms explain exactly, or but for their Monte Carlo standard errors."""
    residual = response - design @ np.linalg.lstsq(design, response, rcond=None)[0]
    if errors.any() and (residual**2).sum() <= largest_variance(errors**2):
        raise ValueError(
            "the terms explain every value but for the Monte Carlo error of the controls, so that there is no error to "
            "compare them with; more draws make that error smaller"
        )
    if np.sqrt((residual**2).mean()) <= 1e-9 * response.std():
        raise ValueError("the terms explain every value exactly, so that there is no error to compare them with")
