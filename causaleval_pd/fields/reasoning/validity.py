"""Validity of quantities, consistency of compositions and classes of reasoners; errors that chance makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray

from ...contract.checks import check_known, check_number, check_type, check_whole, nearest, shown
from ...contract.law import Distribution
from .yes_counts import Floats, binomial_shares, setting_names, share_variance

__all__ = ["judge", "perfect_reasoner", "random_reasoner", "required_samples", "taxonomy"]

#: smallest truth in a tolerance: with delta = .1, probabilities below .1 may be wrong by .01
FLOOR = 0.1

Convention = Literal["paper"] | None

#: columns of numbers that judgements read
_NUMBERS = (
    *("truth", "estimate", "truth_exact", "truth_sample", "truth_product", "sampling_gap"),
    *("n", "n_samples", "n_effective", "se"),
)


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
    standard error `se`. Equivalence is shown by two one-sided tests [1]_. Where samples were asked repeatedly, the
    effective number is smaller and `se` larger than in the table, by Student's quantile with one degree of freedom
    fewer than samples [3]_: five samples asked twenty times covered .83 of .95 without it.

    References
    ----------
    .. [1] Schuirmann, D. J. (1987). doi:10.1007/BF01068419
    .. [2] Wilson, E. B. (1927). doi:10.1080/01621459.1927.10502953
    .. [3] Korn, E. L., Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of
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
    for name, value in (("delta", delta), ("multiplier", 1.0 if multiplier is None else multiplier), ("floor", floor)):
        check_number(value, name, "[0, inf)")
    check_number(level, "level", "(0, 1)")
    numbers = {name: quantities[name].to_numpy(np.float64, na_value=np.nan) for name in _NUMBERS}
    truth, estimate, gap = numbers["truth"], numbers["estimate"], numbers["sampling_gap"]
    internal = (quantities["relation"] == "internal").to_numpy(bool)
    sample_truth = np.where(internal, truth, numbers["truth_sample"])
    inconsistency = relative_error(numbers["truth_sample"], numbers["truth_product"])
    threshold = np.where(internal, delta if multiplier is None else multiplier * inconsistency, delta)
    rae, published = relative_error(truth, estimate), relative_error(sample_truth, estimate)
    n_effective, se = _evidence(numbers, level)
    low, high = _intervals(estimate, n_effective, se, level)
    tolerance = delta * np.maximum(np.abs(truth), floor)
    # the two truths of a row may agree; its standard error then tells which of them it is judged by
    of_share = np.isclose(numbers["se"] ** 2, share_variance(estimate, numbers["n_effective"]), rtol=1e-9, atol=0.0)
    exact = ~internal & (truth == numbers["truth_exact"]) & ((truth != numbers["truth_sample"]) | of_share)
    beyond, within = _tests(truth, estimate - gap, tolerance, se, np.where(exact, n_effective, np.nan))
    words = np.where(internal, "consistent", "valid"), np.where(internal, "inconsistent", "invalid")
    decision = np.select([within <= 1 - level, beyond <= 1 - level], list(words), "undecided")
    known = ["valid", "invalid", "consistent", "inconsistent", "undecided"]
    added = {
        "rae": rae,
        "passes": _flags(meets(rae, delta), ~np.isnan(truth - estimate)),
        "threshold": threshold,
        "passes_published": _flags(meets(published, threshold), ~np.isnan(sample_truth - estimate)),
        "ci_low": low,
        "ci_high": high,
        "tolerance": tolerance,
        "excess": np.abs(estimate - gap - truth) / np.where(tolerance > 0, tolerance, np.nan),
        "p_beyond": beyond,
        "p_within": within,
        "decision": pd.Categorical(pd.Series(decision).where(~np.isnan(beyond)), categories=known),
    }
    return quantities.assign(**added)


def taxonomy(
    quantities: pd.DataFrame,
    *,
    by: str | Sequence[str] | None = None,
    convention: Convention = None,
    delta: float = 0.1,
    floor: float = FLOOR,
    level: float = 0.95,
    multiplier: float | None = 1.25,
) -> pd.DataFrame:
    """Classify each reasoner and task by whether all its PNS are valid and all its compositions consistent.

    Parameters
    ----------
    quantities : DataFrame
        Table made by `quantities`; its rows of the PNS are used.
    by : str or sequence of str, optional
        Settings, as given to `quantities`.
    convention : {"paper"}, optional
        By default noise is accounted for: valid if each PNS is shown to be valid, invalid if one is shown to be invalid
        (smallest p-value times their number, Holm's first step), else undecided. "paper": relative error against
        the same-sample truth of at most delta, and of a composition's product against the estimated whole of at most
        `multiplier` times the error of the true answers; a truth of 0 always fails, so that a perfect reasoner may.
    delta, floor, level
        As in `judge`; floor and level do not matter to the paper's rule.
    multiplier : float, optional
        As published in code; None for delta in place of that threshold, as on the project's page.

    Returns
    -------
    DataFrame
        One row per setting and task: n_external, n_internal, share_valid, share_consistent, valid ("yes", "no",
        "undecided"), consistent, class ("VC", "VI", "IC", "II"; missing where one side is undecided).

    Raises
    ------
    ValueError
        If the table has no rows of the PNS, or a setting is unknown.

    References
    ----------
    .. [1] Maasch et al. (2025), doi:10.48550/arXiv.2503.04556
    .. [2] Holm, S. (1979). https://www.jstor.org/stable/4615733

    Examples
    --------
    >>> import pandas as pd
    >>> from causaleval_pd.reasoning import make_tasks, quantities, taxonomy
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=1000, rng=1)
    >>> always = tasks.questionnaire().assign(answer=lambda q: q["world"] == "do1")
    >>> taxonomy(quantities(always, worlds=tasks))["class"].tolist()
    ['IC']
    """
    check_known(convention, (None, "paper"), "convention")
    check_quantities(quantities)
    names = [*setting_names(by), "task"]
    for name in names:
        check_known(name, quantities.columns, "column")
    table = quantities[quantities["quantity"] == "pns"]
    if not len(table):
        raise ValueError("the table has no rows of the PNS, needed for classes; call quantities with which=['pns']")
    judged = judged_by(convention, table, delta=delta, floor=floor, level=level, multiplier=multiplier)
    if convention is None:
        # p-values of "within the tolerance" are corrected for their number in a task and relation
        number = judged.groupby([*names, "relation"], sort=False, dropna=False)["p_beyond"].transform("count")
        decisions = [judged["p_within"] <= 1 - level, judged["p_beyond"] * number <= 1 - level]
        decided = np.select(decisions, ["yes", "no"], "undecided").astype(object)
    else:
        decided = np.where(judged["excess"] <= 1 + 1e-12, "yes", "no")
    return _classify(judged, decided, names)


def judged_by(convention: Convention, table: pd.DataFrame, **options: Any) -> pd.DataFrame:
    """Judge rows of the PNS; their `excess` is the error as a multiple of what the convention tolerates."""
    if convention is None:
        return judge(table, **options)
    # external rows against the same-sample truth, as published
    external = table["relation"] == "external"
    judged = judge(table.assign(truth=table["truth"].where(~external, table["truth_sample"])), **options)
    # what is undefined or infinite passes no threshold
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.where(judged["rae"] == 0, 0.0, judged["rae"] / judged["threshold"])
    passes = judged["passes_published"].fillna(False).to_numpy(bool)
    excess = np.where(passes, np.fmin(excess, 1.0), np.where(excess > 1, excess, np.inf))
    return judged.assign(excess=excess)


def _classify(judged: pd.DataFrame, decided: NDArray[Any], names: list[str]) -> pd.DataFrame:
    frame = judged[[*names, "relation"]].assign(yes=decided == "yes", no=decided == "no")
    sides = []
    for relation, label in (("external", "valid"), ("internal", "consistent")):
        grouped = frame[frame["relation"] == relation].groupby(names, sort=False, dropna=False)
        side = grouped.agg(**{f"n_{relation}": ("yes", "size"), f"share_{label}": ("yes", "mean")})
        side[label] = np.select([grouped["yes"].all(), grouped["no"].any()], ["yes", "no"], "undecided")
        sides.append(side)
    result = pd.concat([sides[0], sides[1].reindex(sides[0].index)], axis=1).reset_index()
    columns = [*names, "n_external", "n_internal", "share_valid", "share_consistent", "valid", "consistent"]
    result = result[columns].fillna({"n_internal": 0})
    result = result.astype({"n_internal": "int64", "share_consistent": "float64", "valid": "str", "consistent": "str"})
    code = np.where(result["valid"] == "yes", 0, 2) + np.where(result["consistent"] == "yes", 0, 1)
    settled = result["valid"].isin(["yes", "no"]) & result["consistent"].isin(["yes", "no"])
    result["class"] = pd.Categorical.from_codes(
        np.where(settled, code, -1), categories=pd.Index(["VC", "VI", "IC", "II"])
    )
    return result


def _evidence(numbers: Mapping[str, Floats], level: float) -> tuple[Floats, Floats]:
    """Return n_effective, NaN for what is no share, and se: less evidence where few samples were asked repeatedly."""
    # By one sample fewer, and by Student's quantile in place of the normal one (Korn and Graubard 1998). Samples are
    # independent, so that n_effective stays at least their number.
    n, n_samples, effective, se = (numbers[name] for name in ("n", "n_samples", "n_effective", "se"))
    repeated = (n > n_samples) & (n_samples > 1)
    df, tail = np.where(repeated, n_samples - 1, 1.0), (1 - level) / 2
    factor = (scipy.stats.t.isf(tail, df) / scipy.stats.norm.isf(tail)) ** 2 * (df + 1) / df
    fewer = np.maximum(effective / factor, np.minimum(effective, n_samples))
    return np.where(repeated, fewer, effective), np.where(repeated, se * np.sqrt(factor), se)


def check_quantities(table: pd.DataFrame) -> None:
    """Refuse a table without the columns of `quantities`."""
    check_type(table, pd.DataFrame, "a DataFrame made by ce.reasoning.quantities", "quantities")
    for name in ("task", "quantity", "kind", "relation", *_NUMBERS, "counts"):
        if name not in table.columns:
            raise ValueError(
                f"the table has no column {name!r}; {nearest(name, table.columns)}make it by ce.reasoning.quantities"
            )


def _flags(values: NDArray[np.bool_], known: NDArray[np.bool_]) -> pd.arrays.BooleanArray:
    return pd.arrays.BooleanArray(np.asarray(values, bool), ~known)


def relative_error(truth: Any, estimate: Any) -> Floats:
    """Return |truth - estimate| / |truth|; where the truth is 0, infinite or NaN, which meets no threshold."""
    true, estimated = np.asarray(truth, np.float64), np.asarray(estimate, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.abs(true - estimated) / np.abs(true)


def meets(error: Floats, limit: Any) -> NDArray[np.bool_]:
    """Return where errors are at most the limit, ties included; 1e-12 absorbs rounding of the quotient."""
    return np.asarray(error <= limit + 1e-12)


def _intervals(estimate: Floats, n_effective: Floats, se: Floats, level: float) -> tuple[Floats, Floats]:
    """Return Wilson's interval of shares, and a normal one of differences and products."""
    from statsmodels.stats.proportion import proportion_confint

    reach, share = scipy.stats.norm.isf((1 - level) / 2) * se, ~np.isnan(n_effective)
    low, high = estimate - reach, estimate + reach
    yes, n = estimate[share] * n_effective[share], n_effective[share]
    low[share], high[share] = np.clip(proportion_confint(yes, n, alpha=1 - level, method="wilson"), 0.0, 1.0)
    return low, high


def _tests(truth: Floats, estimate: Floats, tolerance: Floats, se: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Return p-values of "within the tolerance" and of "beyond it": normal, and binomial where n is known."""
    apart, normal = estimate - truth, scipy.stats.norm
    with np.errstate(divide="ignore", invalid="ignore"):
        too_high, too_low = normal.sf((apart - tolerance) / se), normal.sf((-apart - tolerance) / se)
        above_low, below_high = normal.sf((apart + tolerance) / se), normal.sf((tolerance - apart) / se)
    share = ~np.isnan(n)
    yes, n, top, bottom = (x[share] for x in (estimate * n, n, truth + tolerance, truth - tolerance))
    too_high[share], too_low[share] = upper_tail(yes, n, top), lower_tail(yes, n, bottom)
    above_low[share], below_high[share] = upper_tail(yes, n, bottom), lower_tail(yes, n, top)
    return np.minimum(1.0, 2 * np.minimum(too_high, too_low)), np.maximum(above_low, below_high)


def upper_tail(yes: Floats, n: Any, p: Floats) -> Floats:
    """Return P(Binomial(n, p) >= yes), n and yes being any real numbers; p is clipped to [0, 1]."""
    p, yes = np.clip(p, 0.0, 1.0), np.asarray(yes, np.float64)
    inside = yes > 0
    tail = scipy.special.betainc(np.where(inside, yes, 1.0), np.maximum(n - yes, 0.0) + 1, p)
    return np.where(inside, tail, 1.0)


def lower_tail(yes: Floats, n: Any, p: Floats) -> Floats:
    """Return P(Binomial(n, p) <= yes)."""
    return upper_tail(n - yes, n, 1 - np.clip(p, 0.0, 1.0))


def random_reasoner(truth: ArrayLike, n: int, *, p_yes: float = 0.5, delta: float = 0.1) -> pd.DataFrame:
    """Compute in closed form how random answers score on a PNS; the law does not depend on the truth.

    Answers are yes with probability q in both arms, so the estimated PNS of n samples is Binomial(n, q (1 - q)) / n.

    Parameters
    ----------
    truth : array_like of float
        True PNS.
    n : int
        Samples.
    p_yes : float
        Probability q of yes.
    delta : float
        Largest relative absolute error that counts as valid.

    Returns
    -------
    DataFrame
        One row per truth: truth, expected (mean of the estimated PNS), rae_low, rae_median, rae_high (5, 50 and 95 %
        quantiles of the relative absolute error), p_valid (probability of counting as valid by chance).

    Examples
    --------
    >>> from causaleval_pd.reasoning import random_reasoner
    >>> random_reasoner([0.05, 0.25], n=1000).round(3)
       truth  expected  rae_low  rae_median  rae_high  p_valid
    0   0.05      0.25    3.560       4.000     4.460    0.000
    1   0.25      0.25    0.004       0.036     0.108    0.938
    """
    check_number(p_yes, "p_yes", "[0, 1]")
    return _luck(truth, n, delta, p_yes * (1 - p_yes))


def perfect_reasoner(truth: ArrayLike, n: int, *, delta: float = 0.1) -> pd.DataFrame:
    """Compute in closed form how a reasoner without error scores on a PNS: its estimate is Binomial(n, truth) / n.

    Parameters
    ----------
    truth : array_like of float
        True PNS.
    n : int
        Samples.
    delta : float
        Largest relative absolute error that counts as valid.

    Returns
    -------
    DataFrame
        As for `random_reasoner`.

    Examples
    --------
    >>> from causaleval_pd.reasoning import perfect_reasoner
    >>> perfect_reasoner([0.01, 0.25], n=1000)["p_valid"].round(3).tolist()
    [0.366, 0.938]
    """
    return _luck(truth, n, delta)


def _probabilities(values: ArrayLike) -> Floats:
    try:
        chances = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        chances = np.array(np.nan)
    if not ((chances >= 0) & (chances <= 1)).all():
        raise ValueError(f"a PNS must be a probability from 0 to 1; found other values in {shown(values)}")
    return chances


def _luck(truth: ArrayLike, n: int, delta: float, share: float | None = None) -> pd.DataFrame:
    """Return how estimates that are shares of n answers, yes with probability `share`, by default the truth, score."""
    check_whole(n, "n", 1)
    check_number(delta, "delta", "[0, inf)")
    true = np.atleast_1d(_probabilities(truth))
    expected = true if share is None else np.full(len(true), share)
    law = error_law(true, expected, np.full(len(true), n), true)
    quantiles = {name: law.quantile(q) for name, q in (("rae_low", 0.05), ("rae_median", 0.5), ("rae_high", 0.95))}
    p_valid = (law.weights * meets(law.values, delta)).sum(axis=1)
    return pd.DataFrame({"truth": true, "expected": expected, **quantiles, "p_valid": p_valid})


def error_law(truth: Floats, share: Floats, n: NDArray[Any], scale: Floats) -> Distribution:
    """Return the law of |Binomial(n, share) / n - truth| / scale, for each row."""
    counts, cumulative = binomial_shares(n.astype(np.float64), share).support()
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.abs(counts / n[:, None] - truth[:, None]) / scale[:, None]
    return Distribution.of(np.arange(len(truth)), errors, np.diff(cumulative, prepend=0.0, axis=1))


def required_samples(pns: ArrayLike, relative_error: float = 0.1, *, level: float = 0.95) -> Any:
    """Compute the number of samples that estimate a PNS to a given relative error.

    n is the least integer with z * sqrt(PNS (1 - PNS) / n) <= relative_error * PNS.

    Parameters
    ----------
    pns : float or array
        True probability.
    relative_error : float
        Half-width of the interval as a share of the PNS.
    level : float
        Probability that the error stays within.

    Returns
    -------
    float or array
        Number of samples; infinite where PNS is 0.

    Examples
    --------
    >>> from causaleval_pd.reasoning import required_samples
    >>> required_samples([0.21, 0.027]).tolist()
    [1446.0, 13844.0]
    """
    p = _probabilities(pns)
    check_number(relative_error, "relative_error", "(0, inf)")
    check_number(level, "level", "(0, 1)")
    z = scipy.special.ndtri(0.5 + level / 2)
    with np.errstate(divide="ignore"):
        n = np.ceil((z / relative_error) ** 2 * (1 - p) / p)
    return n if n.ndim else float(n)
