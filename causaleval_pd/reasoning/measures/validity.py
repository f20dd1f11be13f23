"""Validity of quantities and consistency of compositions: published thresholds, and tests that account for noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from ...contract.checks import check_number, check_type, nearest
from .yes_counts import Floats

__all__ = ["judge"]

#: smallest truth in a tolerance: with delta = .1, probabilities below .1 may be wrong by .01
FLOOR = 0.1

#: decisions on a row, by relation
DECISIONS = ("valid", "invalid", "consistent", "inconsistent", "undecided")


def judge(
    quantities: pd.DataFrame,
    *,
    delta: float = 0.1,
    floor: float = FLOOR,
    level: float = 0.95,
    multiplier: float | None = 1.25,
) -> pd.DataFrame:
    """Decide whether each quantity is valid, and whether each composition is consistent.

    A decision has three values, since any reasoner may pass or fail by chance in small samples: a quantity is valid if
    its error is shown to lie within `delta x max(|truth|, floor)`, invalid if it is shown to lie beyond, and otherwise
    undecided. The published thresholds are applied as well.

    Parameters
    ----------
    quantities : DataFrame
        Table made by `quantities`.
    delta : float
        Largest tolerated relative error.
    floor : float
        Smallest truth in the tolerance; below it the tolerance is an absolute error, for rare events.
    level : float
        Confidence of the interval; each decision is wrong with probability at most 1 - level.
    multiplier : float, optional
        Factor of the published threshold of internal consistency, on the relative error of the product of the true
        answers in the same samples; None for the threshold delta, as on the project's page.

    Returns
    -------
    DataFrame
        The table with columns rae, passes (relative error of at most delta, against `truth`), threshold and
        passes_published (against the same-sample truth, internal rows by their own threshold), ci_low, ci_high
        (interval of the estimate: Wilson's for shares, with clustered effective n; see Notes), tolerance, excess (error
        as a multiple of the tolerance, without the sampling gap), p_beyond (test of "the error is within the
        tolerance"), p_within (test of "the error is beyond it"), decision.

    Raises
    ------
    ValueError
        If columns are missing, or a setting is out of range.

    Notes
    -----
    Shares judged against an exact truth are tested by the binomial law with the effective number of independent
    answers, twice the smaller tail; products, differences and same-sample truths by the normal law with the clustered
    standard error `se`. Equivalence is shown by two one-sided tests [2]_. Where samples were asked repeatedly, the
    effective number is smaller and `se` larger than in the table, by Student's quantile with one degree of freedom
    fewer than samples [4]_: five samples asked twenty times covered .83 of .95 without it.

    References
    ----------
    .. [1] Maasch et al. (2025), doi:10.48550/arXiv.2503.04556
    .. [2] Schuirmann, D. J. (1987). doi:10.1007/BF01068419
    .. [3] Wilson, E. B. (1927). doi:10.1080/01621459.1927.10502953
    .. [4] Korn, E. L., Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of
       positive counts estimated from survey data. Survey Methodology 24, 193-201.

    Examples
    --------
    >>> from causaleval_pd.reasoning import judge, make_tasks, quantities
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=3000, rng=1)
    >>> perfect = tasks.questionnaire().assign(answer=lambda q: q["truth"])
    >>> table = quantities(perfect, worlds=tasks, which=["pns"]).pipe(judge, delta=0.2)
    >>> bool(table["decision"].isin(["valid", "consistent", "undecided"]).all())
    True
    """
    check_quantities(quantities)
    for name, value in (("delta", delta), ("multiplier", multiplier), ("floor", floor)):
        if value is not None or name != "multiplier":
            check_number(value, name, "[0, inf)")
    check_number(level, "level", "(0, 1)")
    given = quantities
    truth, estimate = (quantities[name].to_numpy(np.float64) for name in ("truth", "estimate"))
    internal = (quantities["relation"] == "internal").to_numpy(bool)
    sample_truth = np.where(internal, truth, quantities["truth_sample"].to_numpy(np.float64))
    gap = relative_error(quantities["truth_sample"], quantities["truth_product"])
    threshold = np.where(internal, delta if multiplier is None else multiplier * gap, delta)
    rae, published = relative_error(truth, estimate), relative_error(sample_truth, estimate)
    quantities = _of_few_samples(quantities, level)
    low, high = _intervals(quantities, level)
    tolerance = delta * np.maximum(np.abs(truth), floor)
    gaps = quantities["sampling_gap"].to_numpy(np.float64) if "sampling_gap" in quantities.columns else 0.0
    beyond, within = _tests(quantities, truth, estimate - gaps, tolerance, internal)
    words = np.where(internal, "consistent", "valid"), np.where(internal, "inconsistent", "invalid")
    decision = np.select([within <= 1 - level, beyond <= 1 - level], list(words), "undecided")
    known = ~np.isnan(beyond)
    added = {
        "rae": rae,
        "passes": _flags(meets(rae, delta), ~np.isnan(truth - estimate)),
        "threshold": threshold,
        "passes_published": _flags(meets(published, threshold), ~np.isnan(sample_truth - estimate)),
        "ci_low": low,
        "ci_high": high,
        "tolerance": tolerance,
        "excess": np.abs(estimate - gaps - truth) / np.where(tolerance > 0, tolerance, np.nan),
        "p_beyond": beyond,
        "p_within": within,
        "decision": pd.Categorical(pd.Series(decision).where(known), categories=list(DECISIONS)),
    }
    return given.assign(**added)


def _of_few_samples(quantities: pd.DataFrame, level: float) -> pd.DataFrame:
    """Make n_effective smaller and se larger where samples were asked repeatedly: few samples show too little variance.

    By one sample fewer, and by Student's quantile in place of the normal one (Korn and Graubard 1998). Samples are
    independent, so that n_effective stays at least their number.
    """
    if not {"n", "n_samples"} <= set(quantities.columns):
        return quantities
    n, n_samples, effective, se = (
        quantities[name].to_numpy(np.float64, na_value=np.nan) for name in ("n", "n_samples", "n_effective", "se")
    )
    repeated = (n > n_samples) & (n_samples > 1)
    df, tail = np.where(repeated, n_samples - 1, 1.0), (1 - level) / 2
    factor = (scipy.stats.t.isf(tail, df) / scipy.stats.norm.isf(tail)) ** 2 * (df + 1) / df
    fewer = np.maximum(effective / factor, np.minimum(effective, n_samples))
    return quantities.assign(
        n_effective=np.where(repeated, fewer, effective), se=np.where(repeated, se * np.sqrt(factor), se)
    )


def check_quantities(table: pd.DataFrame) -> None:
    """Refuse a table without the columns of `quantities`."""
    check_type(table, pd.DataFrame, "a DataFrame made by ce.reasoning.quantities", "quantities")
    needed = (
        "task",
        "quantity",
        "kind",
        "relation",
        "truth",
        "estimate",
        "truth_exact",
        "truth_sample",
        "se",
        "counts",
    )
    for name in needed:
        if name not in table.columns:
            raise ValueError(
                f"the table has no column {name!r}; {nearest(name, table.columns)}make it by ce.reasoning.quantities"
            )


def _flags(values: NDArray[np.bool_], known: NDArray[np.bool_]) -> pd.arrays.BooleanArray:
    return pd.arrays.BooleanArray(np.asarray(values, bool), ~known)


def relative_error(truth: Any, estimate: Any, floor: float = 0.0) -> Floats:
    """Return |truth - estimate| / max(|truth|, floor); where that is 0, infinite or NaN, which meets no threshold."""
    true, found = np.asarray(truth, np.float64), np.asarray(estimate, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.abs(true - found) / np.maximum(np.abs(true), floor)


def meets(error: Floats, limit: Any) -> NDArray[np.bool_]:
    """Return where errors are at most the limit, ties included; 1e-12 absorbs rounding of the quotient."""
    return np.asarray(error <= limit + 1e-12)


def _is_share(quantities: pd.DataFrame) -> NDArray[np.bool_]:
    return (quantities["n_effective"].notna() & (quantities["kind"] != "composition")).to_numpy(bool)


def _intervals(quantities: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
    """Return Wilson's interval of shares, and a normal one of differences and products."""
    from statsmodels.stats.proportion import proportion_confint

    estimate, se = (quantities[name].to_numpy(np.float64) for name in ("estimate", "se"))
    reach = scipy.stats.norm.isf((1 - level) / 2) * se
    low, high = estimate - reach, estimate + reach
    share = _is_share(quantities) & ~np.isnan(estimate)
    if share.any():
        n = quantities["n_effective"].to_numpy(np.float64)[share]
        wilson = proportion_confint(estimate[share] * n, n, alpha=1 - level, method="wilson")
        low[share], high[share] = (np.clip(x, 0.0, 1.0) for x in wilson)
    return low, high


def _tests(
    quantities: pd.DataFrame, truth: Floats, estimate: Floats, tolerance: Floats, internal: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Return p-values of "within the tolerance" and of "beyond it".

    `internal` marks the rows that are compared with the reasoner's own estimate.
    """
    se, normal = quantities["se"].to_numpy(np.float64), scipy.stats.norm
    apart = estimate - truth
    with np.errstate(divide="ignore", invalid="ignore"):
        too_high, too_low = normal.sf((apart - tolerance) / se), normal.sf((-apart - tolerance) / se)
        above_low, below_high = normal.sf((apart + tolerance) / se), normal.sf((tolerance - apart) / se)
    beyond = np.minimum(1.0, 2 * np.minimum(too_high, too_low))
    within = np.maximum(above_low, below_high)
    exact, sampled = (quantities[name].to_numpy(np.float64) for name in ("truth_exact", "truth_sample"))
    # the two truths of a row may agree by chance, so that the table shows which of them it is judged by
    by_sample = bool(np.all(internal | np.isnan(truth) | (truth == sampled)))
    share = _is_share(quantities) & ~internal & (truth == exact) & (not by_sample)
    if share.any():
        n = quantities["n_effective"].to_numpy(np.float64)[share]
        beyond[share], within[share] = share_tests(estimate[share] * n, n, truth[share], tolerance[share])
    return beyond, within


def share_tests(yes: Floats, n: Any, truth: Floats, tolerance: Floats) -> tuple[Floats, Floats]:
    """Test a share of yes by the binomial law: p-values of "within the tolerance" and of "beyond it"."""
    top, bottom = truth + tolerance, truth - tolerance
    beyond = 2 * np.minimum(upper_tail(yes, n, top), lower_tail(yes, n, bottom))
    return np.minimum(1.0, beyond), np.maximum(upper_tail(yes, n, bottom), lower_tail(yes, n, top))


def upper_tail(yes: Floats, n: Any, p: Floats) -> Floats:
    """Return P(Binomial(n, p) >= yes), n and yes being any real numbers; p is clipped to [0, 1]."""
    p, yes = np.clip(p, 0.0, 1.0), np.asarray(yes, np.float64)
    inside = yes > 0
    tail = scipy.special.betainc(np.where(inside, yes, 1.0), np.maximum(n - yes, 0.0) + 1, p)
    return np.where(inside, tail, 1.0)


def lower_tail(yes: Floats, n: Any, p: Floats) -> Floats:
    """Return P(Binomial(n, p) <= yes)."""
    return upper_tail(n - yes, n, 1 - np.clip(p, 0.0, 1.0))
