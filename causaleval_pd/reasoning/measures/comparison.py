"""Compare reasoners or prompts by paired tests on the same questions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd

from ...contract.checks import check_known, check_number, check_type
from ...contract.statistical_test import StatisticalTest, find_test
from ...statistics.clusters import clustered_mean
from ...statistics.multiplicity import adjust as adjust_p
from .answer_table import check_answers

__all__ = ["compare_answers"]


def compare_answers(
    answers: pd.DataFrame,
    between: str,
    *,
    by: str | Sequence[str] | None = None,
    test: str = "wilcoxon",
    adjust: str | None = "holm",
    missing: Literal["wrong", "drop"] = "wrong",
    level: float = 0.95,
) -> pd.DataFrame:
    """Compare the accuracy of reasoners, or of prompts, on the questions that both were asked.

    Parameters
    ----------
    answers : DataFrame
        As for `quantities`.
    between : str
        Column whose levels are compared in pairs: model, prompt.
    by : str or sequence of str, optional
        Columns within whose values they are compared: other settings, or task, world.
    test : str
        "wilcoxon" and "t" compare accuracies sample by sample: questions about one sample share its noise, and count
        once. "mcnemar" is exact on single questions, and valid only where each sample is asked one question.
        `list_tests("compare_answers")` names all.
    adjust : {"holm", "bonferroni", "bh", "none"}
        Correction over all rows returned.
    missing : {"wrong", "drop"}
        Whether a question without an answer counts as answered wrongly, or is left out for both.
    level : float
        Probability of the interval of the effect, which takes samples as independent.

    Returns
    -------
    DataFrame
        A row a pair of levels and value of `by`: comparison ("a - b"), accuracy_a, accuracy_b, effect (difference over
        questions), ci_low, ci_high (its t interval, whatever the test), statistic and two-sided p_value of the test
        (the same test as in `compare`), p_adjusted, n_pairs (questions), n_samples, n_failed, only_a, only_b (questions
        that one alone answered correctly), method.

    Raises
    ------
    ValueError
        If a column is missing, there are fewer than two levels, or two levels share no question.

    References
    ----------
    .. [1] McNemar, Q. (1947). doi:10.1007/BF02295996
    .. [2] Wilcoxon, F. (1945). doi:10.2307/3001968

    Examples
    --------
    >>> from causaleval_pd.reasoning import compare_answers, make_tasks
    >>> from causaleval_pd.reasoning.reasoners import baselines
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=100, rng=1)
    >>> answers = baselines(tasks.questionnaire(), tasks, names=["perfect", "random"], rng=1)
    >>> compare_answers(answers, "model")[["comparison", "accuracy_a", "p_adjusted"]].round(3).values.tolist()
    [['perfect - random', 1.0, 0.0]]
    """
    chosen = find_test(test, "compare_answers")
    check_known(missing, ("wrong", "drop"), "missing")
    check_number(level, "level", "(0, 1)")
    check_type(between, str, "the name of the column that tells reasoners apart", "between")
    if by is not None:
        check_type(by, (str, list, tuple), "the name of a column or a list of names", "by")
    strata = [by] if isinstance(by, str) else list(by or [])
    own = [name for name in strata if name not in ("task", "cause", "effect", "world", "replicate")]
    table, _ = check_answers(answers, [between, *own])
    table["right"] = np.where(table["answer"].isna(), np.nan, table["answer"] == table["truth"])
    keys = list(dict.fromkeys([*own, "task", "sample", "replicate", "cause", "effect", "world"]))
    wide = table.set_index([*keys, between])["right"].unstack(between)
    asked = table.assign(asked=True).set_index([*keys, between])["asked"].unstack(between).eq(True)
    levels = [value for value in pd.unique(answers[between]) if value in wide.columns]
    if len(levels) < 2:
        raise ValueError(f"column {between!r} has one level, {levels}; a comparison needs two")
    rows = []
    groups = wide.groupby(strata, sort=False, dropna=False) if strata else [((), wide)]
    for key, part in groups:
        values = dict(zip(strata, key if isinstance(key, tuple) else (key,), strict=True))
        for a, b in combinations(levels, 2):
            both = asked.loc[part.index, a] & asked.loc[part.index, b]
            rows.append(values | _compare(part.loc[both, [a, b]], a, b, chosen, missing, level))
    result = pd.DataFrame(rows)
    result.insert(list(result.columns).index("p_value") + 1, "p_adjusted", adjust_p(result["p_value"], adjust))
    return result


def _compare(
    pair: pd.DataFrame, a: object, b: object, test: StatisticalTest, missing: str, level: float
) -> dict[str, object]:
    """Return the row of one pair of levels, from whether their answers are correct, a row a question (NaN: no answer).

    A test of 0/1 values compares questions, others compare samples.
    """
    lost = pair.isna()
    used = pair[~lost.any(axis=1)] if missing == "drop" else pair.fillna(0.0)
    if not len(used):
        raise ValueError(f"{a!r} and {b!r} have no question in common")
    first, second = used[a].to_numpy(np.float64), used[b].to_numpy(np.float64)
    cluster = used.groupby(["task", "sample"], sort=False).ngroup().to_numpy()
    size = np.bincount(cluster)
    apart = np.bincount(cluster, weights=first - second) / size
    only_a, only_b = int(((first == 1) & (second == 0)).sum()), int(((first == 0) & (second == 1)).sum())
    # tests take many samples at once, one a row
    statistic, p_value = (x[0] for x in test.function((first - second if test.binary else apart)[None])[:2])
    interval = clustered_mean(first - second, cluster, level)
    return {
        "comparison": f"{a} - {b}",
        "accuracy_a": float(first.mean()),
        "accuracy_b": float(second.mean()),
        "effect": float((first - second).mean()),
        "ci_low": float(interval.low),
        "ci_high": float(interval.high),
        "statistic": float(statistic),
        "p_value": float(p_value),
        "n_pairs": len(used),
        "n_samples": len(size),
        "n_failed": int(lost.any(axis=1).sum()),
        "only_a": only_a,
        "only_b": only_b,
        "method": test.name,
    }
