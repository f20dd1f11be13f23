"""Answered tables, and answers by arm: for every pair and sample, the answer in arm 1 beside that in arm 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from ...contract.checks import check_known, check_type, name_row, nearest
from ..worlds.world import WORLDS
from .yes_counts import QUANTITIES, Floats, Integers, Terms, estimates

#: columns that an answered table must have; `replicate` is optional and then 0
ANSWER_COLUMNS = ("task", "sample", "cause", "effect", "world", "truth", "answer")


#: how a PNS is estimated: from answers to both arms of a sample, or as a difference of shares
Estimator = Literal["paired", "difference"]


def check_answers(answers: pd.DataFrame, by: Sequence[str] | str | None) -> tuple[pd.DataFrame, list[str]]:
    """Check an answered table; return its needed columns, answers as 1, 0 or NaN, and the names of the settings."""
    if not isinstance(answers, pd.DataFrame):
        raise TypeError(f"answers must be a pandas DataFrame, found {type(answers).__name__}")
    settings = setting_names(by)
    for name in (*ANSWER_COLUMNS, *settings):
        if name not in answers.columns:
            near = nearest(name, answers.columns)
            hint = "make it by ce.reasoning.ask or a baseline; " if name == "answer" else near
            columns = list(answers.columns)
            raise ValueError(f"the answered table has no column {name!r}; {hint}its columns are {columns}")
        if isinstance(answers[name], pd.DataFrame):
            raise ValueError(f"the answered table has several columns {name!r}; column names must be unique")
    if reserved := [name for name in settings if name in (*ANSWER_COLUMNS, "replicate")]:
        raise ValueError(
            f"by names {reserved}, which identify questions; name settings such as the model "
            "(answer_scores splits its rows by these columns with within=)"
        )
    table = answers[[*settings, *ANSWER_COLUMNS]].copy()
    table["replicate"] = answers["replicate"].to_numpy() if "replicate" in answers.columns else 0
    table["truth"], table["answer"] = known_truths(answers), as_bits(answers["answer"], "answer")
    for world in pd.unique(table["world"]):
        check_known(world, WORLDS, "world of a question:")
    if (missing := table["sample"].isna().to_numpy()).any():
        raise ValueError(f"{name_row(int(missing.argmax()), answers.index, 'sample')} is missing; number the samples")
    _check_keys(table, settings, answers.index)
    return table.reset_index(drop=True), settings


def setting_names(by: Sequence[str] | str | None) -> list[str]:
    """Return the names of settings as a list."""
    if by is not None:
        check_type(by, (str, list, tuple), "the name of a column or a list of names", "by")
    return [by] if isinstance(by, str) else list(by or [])


def known_truths(table: pd.DataFrame) -> Floats:
    """Return the true answers as 1 or 0; refuse missing ones."""
    found = as_bits(table["truth"], "truth")
    if np.isnan(found).any():
        row = int(np.isnan(found).argmax())
        raise ValueError(f"{name_row(row, table.index, 'truth')} is missing; every question has a true answer")
    return found


def as_bits(cells: pd.Series, name: str) -> Floats:
    """Return booleans as 1, 0 or NaN."""
    if isinstance(cells.dtype, (np.dtype, pd.BooleanDtype)) and cells.dtype in ("bool", "boolean"):
        return np.asarray(cells.astype("boolean").to_numpy(np.float64, na_value=np.nan))
    known = cells.dropna()
    if not known.isin([True, False]).all():
        odd = known[~known.isin([True, False])].iloc[0]
        raise ValueError(
            f"column {name!r} must hold True, False or missing, found {odd!r}; read texts by ce.reasoning.parse_answers"
        )
    return np.asarray(cells.astype("boolean").to_numpy(np.float64, na_value=np.nan))


def _check_keys(table: pd.DataFrame, settings: list[str], index: pd.Index) -> None:
    """Refuse two answers to one question of one unit, which would be pooled silently."""
    keys = [*settings, "task", "sample", "replicate", "cause", "effect", "world"]
    repeated = table.duplicated(keys, keep=False).to_numpy()
    if repeated.any():
        row = int(np.argmax(repeated))
        found = table.iloc[row][keys].to_dict()
        raise ValueError(
            f"{name_row(row, index)}: the question {found} is answered more than once; pass the columns of reasoners "
            "or prompts as by=, or number repeats in a column 'replicate'"
        )


@dataclass(frozen=True, eq=False)
class Arms:
    """Answers of two arms: under do(cause=1) and do(cause=0), or where the cause is true and where it is false."""

    #: a row a group of units: the settings, task, cause, effect
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
        """Sum a value a unit by group."""
        sums = np.bincount(self.group, weights=np.asarray(values, np.float64), minlength=len(self.groups))
        return np.asarray(sums, np.float64)

    @cached_property
    def n_samples(self) -> Floats:
        """Samples with an answer in either arm, by group."""
        known = ~np.isnan(self.answer).all(axis=1)
        shape = (int(self.sample.max(initial=-1)) + 1, len(self.groups))
        where = (self.sample[known], self.group[known])
        # entries of one place are summed, so that replicates of a sample count once
        seen = scipy.sparse.coo_array((np.ones(len(where[0])), where), shape=shape).tocsc()
        return np.diff(seen.indptr).astype(np.float64)

    def of_truth(self) -> Arms:
        """Return the same units with the true answers to the questions that were answered."""
        known = np.where(np.isnan(self.answer), np.nan, self.truth)
        return Arms(self.groups, self.group, self.sample, known, self.truth, self.asked)


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
        given = _check_root_values(root_values)
        values = pd.concat([values, given]).drop_duplicates(["task", "sample", "cause"])
    alone = fact["cause"].notna()
    shared = pairs.merge(fact[~alone].drop(columns="cause"), on=[*settings, "task", "effect"])
    own = pairs.merge(fact[alone], on=[*settings, "task", "cause", "effect"])
    known = pd.concat([shared, own], ignore_index=True).merge(values, on=["task", "sample", "cause"])
    arm = (known["value"] == 0).to_numpy(bool).astype(np.int64)
    return _arrange(known, [*settings, "task", "cause", "effect"], arm)


def _check_root_values(given: pd.DataFrame) -> pd.DataFrame:
    for name in ("task", "sample", "node", "value"):
        if name not in given.columns:
            raise ValueError(f"root_values has no column {name!r}; it needs task, sample, node, value")
    found = given[["task", "sample"]].copy()
    found["cause"] = given["node"].astype(object)
    found["value"] = as_bits(given["value"], "value")
    return found


def _arrange(rows: pd.DataFrame, names: list[str], arm: Integers) -> Arms:
    """Arrange the rows of both arms as one row a unit."""
    group, groups = _codes(rows[names])
    sample, _ = _codes(rows[["sample"]])
    unit, units = _codes(pd.DataFrame({"group": group, "sample": sample, "replicate": rows["replicate"].to_numpy()}))
    if len(np.unique(2 * unit + arm)) < len(unit):
        raise ValueError("a factual question is answered both for one pair and for all; keep one of these answers")
    shape = (len(units), 2)
    answer, truth, asked = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape, bool)
    answer[unit, arm] = rows["answer"]
    truth[unit, arm] = rows["truth"]
    asked[unit, arm] = True
    return Arms(groups, units["group"].to_numpy(np.int64), units["sample"].to_numpy(np.int64), answer, truth, asked)


def _codes(frame: pd.DataFrame) -> tuple[Integers, pd.DataFrame]:
    """Return a number for each distinct row of a frame, in order of first appearance, and these rows."""
    code = np.zeros(len(frame), np.int64)
    for name in frame.columns:
        own, distinct = pd.factorize(frame[name], use_na_sentinel=False)
        code = pd.factorize(code * max(1, len(distinct)) + own)[0].astype(np.int64)
    first = np.unique(code, return_index=True)[1]
    return code, frame.iloc[first].reset_index(drop=True)


def count_terms(arms: Arms, quantity: str, estimator: Estimator) -> Terms:
    """Count yes by arm; for paired quantities over the samples answered in both arms."""
    bits = arms.answer
    known = ~np.isnan(bits)
    paired = quantity == "monotonicity_violation" or (quantity == "pns" and estimator == "paired")
    if paired:
        known = known & known.all(axis=1, keepdims=True)
    yes = known & (bits == 1)
    n1, yes1, n0, yes0 = (arms.total(x).astype(np.int64) for x in (known[:, 0], yes[:, 0], known[:, 1], yes[:, 1]))
    both = arms.total(yes.all(axis=1)).astype(np.int64) if paired else np.full(len(arms.groups), -1, np.int64)
    return Terms(np.full(len(arms.groups), QUANTITIES.index(quantity), np.int64), n1, yes1, n0, yes0, both)


def missing_bounds(arms: Arms, quantity: str, estimator: Estimator) -> tuple[Floats, Floats]:
    """Return the least and the greatest estimate that the missing answers allow."""
    bounds = []
    for low in (True, False):
        # a large value has yes in arm 1 and no in arm 0; violations and shares of arm 0 the reverse
        fill = np.array([0.0, 1.0]) if low else np.array([1.0, 0.0])
        fill = fill[::-1] if quantity in ("monotonicity_violation", "p_do0", "p_given0") else fill
        filled = np.where(np.isnan(arms.answer) & arms.asked, fill, arms.answer)
        full = Arms(arms.groups, arms.group, arms.sample, filled, arms.truth, arms.asked)
        bounds.append(estimates(count_terms(full, quantity, estimator)))
    return bounds[0], bounds[1]
