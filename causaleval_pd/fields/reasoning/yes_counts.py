"""Answers by arm: for every pair and sample, the answer in arm 1 beside that in arm 0, and their yes-counts.

Yes-counts stand in arrays, or as text in a column of a table, and have laws under null models.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from ...contract.checks import check_known, check_type, name_row, nearest
from ...statistics.arrays import ratio
from .worlds import WORLDS

__all__ = ["COUNTS"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: quantities estimated from answers, and the level of reasoning of each
QUANTITIES = ("p_given1", "p_given0", "p_do1", "p_do0", "ate", "pns", "monotonicity_violation")
LEVELS = ("association", "intervention", "counterfactual")
LEVEL = dict(
    zip(QUANTITIES, [LEVELS[0], LEVELS[0], LEVELS[1], LEVELS[1], LEVELS[1], LEVELS[2], LEVELS[2]], strict=True)
)

#: context of a table made by `quantities`: `table.ceval.with_controls(["rae"], context=COUNTS)`
COUNTS = {"counts": "counts"}

_TERM = re.compile(r"(\w+) (\d{1,15}) (\d{1,15}) (\d{1,15}) (\d{1,15}) (-1|\d{1,15})")
_MOST_TERMS = 64


class Terms(NamedTuple):
    """Yes-counts of many quantities, arrays of one shape."""

    #: position in `QUANTITIES`, or -1 for no quantity (padding)
    quantity: Integers
    #: n1, yes1, n0, yes0: known answers, and yes among them, in arm 1 and arm 0
    n1: Integers
    yes1: Integers
    n0: Integers
    yes0: Integers
    #: samples answered yes in both arms; -1 where the arms are not paired
    both: Integers

    def take(self, positions: Any) -> Terms:
        """Return the counts at positions of the first axis."""
        return Terms(*(values[positions] for values in self))

    def texts(self) -> list[str]:
        """Return the text of each quantity: its name, n and yes of arm 1, n and yes of arm 0, yes in both."""
        names = np.asarray(QUANTITIES, object)[self.quantity]
        columns = [values.tolist() for values in self[1:]]
        return [f"{name} {a} {b} {c} {d} {e}" for name, a, b, c, d, e in zip(names, *columns, strict=True)]


def parse_counts(texts: Sequence[str]) -> tuple[Terms, Integers]:
    """Parse counts written by `quantities`: terms of shape (rows, terms), and the numbers of factors."""
    # A text is a quantity, `a * b` for a product, or `c = a * b` for a quantity and a product that should equal it. The
    # compared quantity is column 0 (padding without one). Other texts and impossible counts are refused.
    rows = [_split(text, position) for position, text in enumerate(texts)]
    width = max((len(row) for row in rows), default=1)
    filled = np.zeros((len(rows), width, 6), np.int64)
    filled[:, :, 0] = -1
    for position, row in enumerate(rows):
        filled[position, : len(row)] = row
    terms = Terms(*np.moveaxis(filled, 2, 0))
    paired = terms.both >= 0
    least, most = np.maximum(0, terms.yes1 + terms.yes0 - terms.n1), np.minimum(terms.yes1, terms.yes0)
    wrong = (terms.yes1 > terms.n1) | (terms.yes0 > terms.n0)
    wrong |= paired & ((terms.n1 != terms.n0) | (terms.both > most) | (terms.both < least))
    if wrong.any():
        at = int(np.argmax(wrong.any(axis=-1)))
        raise ValueError(f"counts {at}: {texts[at][:80]!r} has impossible counts (more yes than answers)")
    return terms, np.array([len(row) - 1 for row in rows], np.int64)


def _split(text: str, position: int) -> list[tuple[int, ...]]:
    if not isinstance(text, str):
        raise ValueError(f"counts {position}: expected a text made by ce.reasoning.quantities, found {text!r}")
    whole, equals, product = text.rpartition(" = ")
    counts: list[tuple[int, ...]] = [(-1, 0, 0, 0, 0, 0)]
    parts = product.split(" * ")
    for part in [*([whole] if equals else []), *parts]:
        match = _TERM.fullmatch(part)
        if match is None or match[1] not in QUANTITIES or len(parts) > _MOST_TERMS:
            raise ValueError(
                f"counts {position}: expected 'pns 1000 717 1000 0 0' or products of such, found {text[:80]!r}; "
                "take the column that ce.reasoning.quantities makes"
            )
        counts.append((QUANTITIES.index(match[1]), *(int(x) for x in match.groups()[1:])))
    return counts[1:] if equals else counts


def estimates(terms: Terms) -> Floats:
    """Return the value of each quantity; NaN without a known answer."""
    p1, p0 = ratio(terms.yes1, terms.n1), ratio(terms.yes0, terms.n0)
    paired = terms.both >= 0
    only1, only0 = ratio(terms.yes1 - terms.both, terms.n1), ratio(terms.yes0 - terms.both, terms.n0)
    values = {
        "p_given1": p1,
        "p_do1": p1,
        "p_given0": p0,
        "p_do0": p0,
        "ate": p1 - p0,
        "pns": np.where(paired, only1, p1 - p0),
        "monotonicity_violation": np.where(paired, only0, np.nan),
    }
    return np.select([terms.quantity == i for i in range(len(QUANTITIES))], [values[q] for q in QUANTITIES], np.nan)


#: pseudo-observations, half of them yes, that keep the standard error of a share of 0 or 1 positive (Agresti, Coull)
_PSEUDO = 4.0


def share_variance(share: Floats, n: Floats) -> Floats:
    """Return the variance of a share of yes among n independent answers, smoothed so that it is positive."""
    p = (share * n + _PSEUDO / 2) / (n + _PSEUDO)
    return p * (1 - p) / n


FIXED = ("always_yes", "always_no")

#: support points further from the mean than this many standard deviations plus a margin have no weight in float64
_WIDTH = 10.0
_MARGIN = 40.0


class CountLaw(NamedTuple):
    """Laws of quantities base + step * count of a random count; arrays of one shape."""

    # Where `p` is NaN, the count is hypergeometric: the marked among `drawn` without replacement from `total`, of which
    # `marked` are marked. Elsewhere it is binomial, of `drawn` trials with probability `p`. A constant has `drawn` 0.

    base: Floats
    step: Floats
    total: Floats
    marked: Floats
    drawn: Floats
    p: Floats

    def take(self, positions: NDArray[Any]) -> CountLaw:
        """Return the laws at positions of the first axis."""
        return CountLaw(*(values[positions] for values in self))

    def support(self) -> tuple[Integers, Floats]:
        """Return counts (..., s) and their cumulative probabilities, both from the lowest count with weight on."""
        binomial = ~np.isnan(self.p)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(binomial, self.p, np.where(self.total > 0, self.marked / np.maximum(self.total, 1), 0.0))
            finite = np.where(binomial, 1.0, (self.total - self.drawn) / np.maximum(self.total - 1, 1))
        mean = self.drawn * share
        reach = _WIDTH * np.sqrt(np.maximum(mean * (1 - share) * finite, 0.0)) + _MARGIN
        least = np.where(binomial, 0.0, np.maximum(0.0, self.drawn + self.marked - self.total))
        most = np.where(binomial, self.drawn, np.minimum(self.drawn, self.marked))
        low = np.maximum(least, np.floor(mean - reach))
        high = np.minimum(most, np.ceil(mean + reach))
        counts = low[..., None] + np.arange(int((high - low).max(initial=0)) + 1)
        inside = counts <= high[..., None]
        weights = np.where(inside, np.exp(self._log_weights(np.where(inside, counts, low[..., None]))), 0.0)
        # sums from left to right do not depend on how far the support of other rows reaches
        cumulative = np.cumsum(weights, axis=-1)
        return np.where(inside, counts, high[..., None]).astype(np.int64), cumulative / cumulative[..., -1:]

    def _log_weights(self, counts: Floats) -> Floats:
        total, marked, drawn, p = (x[..., None] for x in (self.total, self.marked, self.drawn, self.p))
        with np.errstate(divide="ignore", invalid="ignore"):
            binomial = _log_choose(drawn, counts)
            binomial += np.where(counts > 0, counts * np.log(p), 0.0)
            binomial += np.where(drawn > counts, (drawn - counts) * np.log1p(-p), 0.0)
            without = _log_choose(marked, counts) + _log_choose(total - marked, drawn - counts)
            without -= _log_choose(total, drawn)
        return np.where(np.isnan(p), without, binomial)

    def values(self, counts: NDArray[Any]) -> Floats:
        """Return the quantity at counts, which have one more axis."""
        return self.base[..., None] + self.step[..., None] * counts

    def draw(self, uniform: Floats) -> Floats:
        """Return the quantity at uniform numbers (n, draws); the laws have shape (n,)."""
        counts, cumulative = self.support()
        drawn = np.empty(uniform.shape, np.int64)
        for row in range(len(uniform)):
            at = np.searchsorted(cumulative[row], uniform[row], side="right")
            drawn[row] = counts[row, np.minimum(at, counts.shape[1] - 1)]
        return self.values(drawn)


def _log_choose(n: Floats, k: Floats) -> Floats:
    return np.asarray(scipy.special.gammaln(n + 1) - scipy.special.gammaln(k + 1) - scipy.special.gammaln(n - k + 1))


def binomial_shares(n: Floats, p: Floats) -> CountLaw:
    """Return laws of the share of yes among n independent answers, each yes with probability p."""
    nothing = np.zeros(p.shape)
    return CountLaw(nothing, 1 / n, nothing, nothing, n, p)


def quantity_laws(null: str, terms: Terms) -> tuple[CountLaw, ...]:
    """Return the independent laws whose sum is each quantity under a null model; two where both arms are random."""
    of = {name: terms.quantity == i for i, name in enumerate(QUANTITIES)}
    paired, second = terms.both >= 0, of["p_do0"] | of["p_given0"]
    pns, violation = of["pns"] & paired, of["monotonicity_violation"] & paired
    joint, difference = pns | violation, of["ate"] | (of["pns"] & ~paired)
    n1, yes1, n0, yes0 = (values.astype(np.float64) for values in terms[1:5])
    n, yes, nothing = n1 + n0, yes1 + yes0, np.zeros(n1.shape)
    per1, per0 = ratio(nothing + 1, n1), ratio(nothing + 1, n0)
    per = np.where(second, per0, per1)

    def law(base: Floats, step: Floats, total: Any, marked: Any, drawn: Floats, p: Any) -> CountLaw:
        # always NaN where nothing was answered (the step is NaN)
        shaped = (np.broadcast_to(np.asarray(v, np.float64), n1.shape) for v in (total, marked, drawn, p))
        return CountLaw(np.where(np.isnan(step), np.nan, base), np.nan_to_num(step), *shaped)

    if null in FIXED or null == "majority_answers":
        # all answers of an arm are the same; the majority of a tie is no
        one, zero = np.full((2, *n1.shape), null == "always_yes") if null in FIXED else (2 * yes1 > n1, 2 * yes0 > n0)
        both = np.where(paired, terms.n1 * (one & zero), -1)
        values = estimates(terms._replace(yes1=terms.n1 * one, yes0=terms.n0 * zero, both=both))
        return (CountLaw(values, nothing, nothing, nothing, nothing, nothing + np.nan),)
    if null == "permute_answers":
        # over samples, within an arm or, in fact, whatever the cause
        keep = of["p_do1"] | of["p_do0"] | difference
        base, step = np.where(keep, estimates(terms), 0.0), np.where(keep, 0.0, per)
        marked = np.select([keep, pns, violation], [nothing, yes1, yes0], yes)
        drawn = np.select([keep, pns, violation, second], [nothing, n1 - yes0, n1 - yes1, n0], n1)
        return (law(base, step, np.select([keep, joint], [nothing, n1], n), marked, drawn, np.nan),)
    if null == "exchange_arms":
        # the two answers of each sample are exchanged at random; unpaired ones are dealt out anew
        base, step = np.where(difference, -yes * per0, 0.0), np.where(difference, per1 + per0, per)
        drawn = np.select([joint, second], [yes - 2 * np.where(paired, terms.both, 0), n0], n1)
        total, marked = np.where(joint, 0.0, n), np.where(joint, 0.0, yes)
        return (law(base, step, total, marked, drawn, np.where(joint, 0.5, np.nan)),)
    # every answer is yes with probability q
    q = nothing + 0.5 if null == "random_answers" else np.nan_to_num(ratio(yes, n))
    main = law(nothing, per, 0, 0, np.where(second, n0, n1), np.where(joint, q * (1 - q), q))
    return main, law(nothing, np.where(difference, -per0, 0.0), 0, 0, np.where(difference, n0, 0.0), q)


#: columns that an answered table must have; `replicate` is optional and then 0
ANSWER_COLUMNS = ("task", "sample", "cause", "effect", "world", "truth", "answer")


def check_answers(answers: pd.DataFrame, by: Sequence[str] | str | None) -> tuple[pd.DataFrame, list[str]]:
    """Check an answered table; return its needed columns, answers as 1, 0 or NaN, and the names of the settings."""
    check_type(answers, pd.DataFrame, "a DataFrame with one row per question", "answers")
    settings = setting_names(by)
    for name in (*ANSWER_COLUMNS, *settings):
        if name not in answers.columns:
            hint = nearest(name, answers.columns)
            hint = "make it by ce.reasoning.ask or a baseline; " if name == "answer" else hint
            raise ValueError(f"the answered table has no column {name!r}; {hint}its columns are {[*answers.columns]}")
        if isinstance(answers[name], pd.DataFrame):
            raise ValueError(f"the answered table has several columns {name!r}; column names must be unique")
    if reserved := [name for name in settings if name in (*ANSWER_COLUMNS, "replicate")]:
        raise ValueError(
            f"by names {reserved}, which identify questions; name settings such as the model "
            "(answer_scores splits its rows by these columns with within=)"
        )
    refuse_weights(answers.columns, settings)
    table = answers[[*settings, *ANSWER_COLUMNS]].copy()
    table["replicate"] = answers["replicate"].to_numpy() if "replicate" in answers.columns else 0
    table["truth"], table["answer"] = known_truths(answers), as_bits(answers["answer"], "answer")
    for world in pd.unique(table["world"]):
        check_known(world, WORLDS, "world of a question:")
    refuse_gaps(table["sample"])
    refuse_repeats(table, [*settings, "task", "sample", "replicate", "cause", "effect", "world"])
    return table.reset_index(drop=True), settings


def refuse_weights(columns: Iterable[Hashable], used: Iterable[Hashable]) -> None:
    """Refuse a column of weights of answers, which counts would ignore, unless its name is `used`."""
    if "weight" in list(columns) and "weight" not in list(used):
        raise ValueError(
            "column 'weight' would be ignored, since every answer counts alike here; the means of a cube are weighted "
            "by it, such as answers.ceval.cube(['answer_accuracy'], by=[], estimate='answer'); else drop the column, "
            "or name it in by= to score answers of each weight apart"
        )


def setting_names(by: Sequence[str] | str | None, what: str = "by") -> list[str]:
    """Return names, as those of settings, as a list."""
    if by is not None:
        check_type(by, (str, list, tuple), "a name or a list of names", what)
    return [by] if isinstance(by, str) else list(by or [])


def known_truths(table: pd.DataFrame) -> Floats:
    """Return the true answers as 1 or 0; refuse missing ones."""
    refuse_gaps(table["truth"])
    return as_bits(table["truth"], "truth")


def is_answer(cell: Any) -> bool:
    """Return whether a cell is True, False, 1 or 0, as columns of answers may hold."""
    return bool(pd.api.types.is_scalar(cell) and cell in (True, False))


def as_bits(cells: pd.Series, name: str) -> Floats:
    """Return booleans as 1, 0 or NaN."""
    is_boolean = isinstance(cells.dtype, (np.dtype, pd.BooleanDtype)) and cells.dtype in ("bool", "boolean")
    known = cells.iloc[:0] if is_boolean else cells.dropna()
    if len(odd := known[~known.isin([True, False])]):
        raise ValueError(
            f"column {name!r} must hold True, False or missing, found {odd.iloc[0]!r}; read replies of yes and no "
            "by ce.reasoning.parse_answers, and score other labels by ce.reasoning.label_scores"
        )
    return np.where(cells.isna(), np.nan, cells.isin([True]))


def refuse_gaps(cells: pd.Series) -> None:
    """Refuse a column with missing cells."""
    if (missing := cells.isna().to_numpy()).any():
        raise ValueError(f"{name_row(int(missing.argmax()), cells.index, cells.name)} is missing; each row needs one")


def refuse_repeats(answers: pd.DataFrame, keys: list[str]) -> None:
    """Refuse two answers to one question of one unit, which would be pooled silently."""
    if (repeated := answers.duplicated(keys, keep=False).to_numpy()).any():
        row = int(repeated.argmax())
        raise ValueError(
            f"{name_row(row, answers.index)}: the question {answers.iloc[row][keys].to_dict()} is answered more than "
            "once; pass the columns of reasoners or prompts as by=, or number repeats in a column 'replicate'"
        )


@dataclass(frozen=True, eq=False)
class Arms:
    """Answers of two arms: under do(cause=1) and do(cause=0), or where the cause is true and where it is false."""

    #: one row per group of units: the settings, task, cause, effect
    groups: pd.DataFrame
    #: group, sample, (u,): group and sample of each unit; a unit is a replicate of a sample
    group: Integers
    sample: Integers
    #: answer, truth, (u, 2): answers and true answers in arm 1 and arm 0: 1, 0, or NaN where unparsed or not asked
    answer: Floats
    truth: Floats
    #: (u, 2): whether the question was asked
    asked: NDArray[np.bool_]

    def total(self, values: NDArray[Any]) -> Floats:
        """Sum one value per unit by group."""
        sums = np.bincount(self.group, weights=np.asarray(values, np.float64), minlength=len(self.groups))
        return np.asarray(sums, np.float64)

    @cached_property
    def n_samples(self) -> Floats:
        """Samples with an answer in either arm, by group."""
        known, n = ~np.isnan(self.answer).all(axis=1), int(self.sample.max(initial=0)) + 1
        # replicates of a sample count once
        units = pd.unique(self.group[known] * n + self.sample[known])
        return np.bincount(units // n, minlength=len(self.groups)).astype(np.float64)

    def of_truth(self) -> Arms:
        """Return the same units with the true answers to the questions that were answered."""
        known = np.where(np.isnan(self.answer), np.nan, self.truth)
        return replace(self, answer=known)


def interventional_arms(table: pd.DataFrame, settings: list[str]) -> Arms:
    """Pair the answers under do(cause=1) and do(cause=0) over the same sample and replicate."""
    asked = table[table["world"].isin(["do1", "do0"])]
    names = [*settings, "task", "cause", "effect"]
    if asked["cause"].isna().any():
        row = asked.index[int(asked["cause"].isna().to_numpy().argmax())]
        raise ValueError(f"row {row}: a question about an intervention must name its cause")
    return _arrange(asked, names, (asked["world"] == "do0").to_numpy(bool).astype(np.int64))


def observational_arms(
    table: pd.DataFrame, settings: list[str], pairs: pd.DataFrame, root_values: pd.DataFrame | None
) -> Arms:
    """Split the factual answers to each effect by the true value of the cause."""
    # The table holds the true values of nodes that are asked about; `root_values` those of others, such as the root.
    # Samples in which the cause is unknown are left out. A factual question that names a cause counts for that pair
    # only.
    fact = table[table["world"] == "fact"]
    values = fact[["task", "sample", "effect", "truth"]].drop_duplicates(["task", "sample", "effect"])
    values = values.rename(columns={"effect": "cause", "truth": "value"})
    if root_values is not None:
        root_values = root_values.astype({"cause": object, "value": np.float64})
        values = pd.concat([values, root_values]).drop_duplicates(["task", "sample", "cause"])
    alone = fact["cause"].notna()
    shared = pairs.merge(fact[~alone].drop(columns="cause"), on=[*settings, "task", "effect"])
    pair_answers = pairs.merge(fact[alone], on=[*settings, "task", "cause", "effect"])
    known = pd.concat([shared, pair_answers], ignore_index=True).merge(values, on=["task", "sample", "cause"])
    arm = (known["value"] == 0).to_numpy(bool).astype(np.int64)
    return _arrange(known, [*settings, "task", "cause", "effect"], arm)


def _arrange(rows: pd.DataFrame, names: list[str], arm: Integers) -> Arms:
    """Arrange the rows of both arms as one row per unit."""
    group, groups = codes(rows[names])
    sample, _ = codes(rows[["sample"]])
    unit, units = codes(pd.DataFrame({"group": group, "sample": sample, "replicate": rows["replicate"].to_numpy()}))
    if np.bincount(2 * unit + arm).max(initial=0) > 1:
        raise ValueError("a factual question is answered both for one pair and for all; keep one of these answers")
    shape = (len(units), 2)
    answer, truth, asked = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape, bool)
    answer[unit, arm] = rows["answer"]
    truth[unit, arm] = rows["truth"]
    asked[unit, arm] = True
    return Arms(groups, units["group"].to_numpy(np.int64), units["sample"].to_numpy(np.int64), answer, truth, asked)


def codes(frame: pd.DataFrame) -> tuple[Integers, pd.DataFrame]:
    """Return a number for each distinct row of a frame, in order of first appearance, and these rows."""
    code = np.zeros(len(frame), np.int64)
    for name in frame.columns:
        column_codes, distinct = pd.factorize(frame[name], use_na_sentinel=False)
        code = pd.factorize(code * max(1, len(distinct)) + column_codes)[0].astype(np.int64)
    first = np.unique(code, return_index=True)[1]
    return code, frame.iloc[first].reset_index(drop=True)


def count_terms(arms: Arms, quantity: str) -> Terms:
    """Count yes by arm; for paired quantities over the samples answered in both arms."""
    bits = arms.answer
    known = ~np.isnan(bits)
    paired = quantity in ("pns", "monotonicity_violation")
    if paired:
        known = known & known.all(axis=1, keepdims=True)
    yes = known & (bits == 1)
    n1, yes1, n0, yes0 = (arms.total(x).astype(np.int64) for x in (known[:, 0], yes[:, 0], known[:, 1], yes[:, 1]))
    both = arms.total(yes.all(axis=1)).astype(np.int64) if paired else np.full(len(arms.groups), -1, np.int64)
    return Terms(np.full(len(arms.groups), QUANTITIES.index(quantity), np.int64), n1, yes1, n0, yes0, both)


def missing_bounds(arms: Arms, quantity: str) -> tuple[Floats, Floats]:
    """Return the least and the greatest estimate that the missing answers allow."""
    bounds = []
    for low in (True, False):
        # a large value has yes in arm 1 and no in arm 0; violations and shares of arm 0 the reverse
        fill = np.array([0.0, 1.0]) if low else np.array([1.0, 0.0])
        fill = fill[::-1] if quantity in ("monotonicity_violation", "p_do0", "p_given0") else fill
        filled = replace(arms, answer=np.where(np.isnan(arms.answer) & arms.asked, fill, arms.answer))
        bounds.append(estimates(count_terms(filled, quantity)))
    return bounds[0], bounds[1]
