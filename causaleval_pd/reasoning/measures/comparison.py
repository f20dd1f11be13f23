"""Compare reasoners or prompts by paired tests on the same questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd

from ...contract.checks import check_known, check_number, check_type, check_whole
from ...contract.statistical_test import StatisticalTest, find_test
from ...execution.random_streams import RNGLike, resolve_seed
from ...statistics.arrays import Estimate
from ...statistics.effects import EFFECTS
from ...statistics.interval_notes import interval_notes
from ...statistics.multiplicity import adjust as adjust_p
from .answer_table import check_answers

__all__ = ["compare_answers"]


def compare_answers(
    answers: pd.DataFrame,
    between: str,
    *,
    by: str | Sequence[str] | None = None,
    test: str = "sign_flip",
    adjust: str | None = "holm",
    missing: Literal["wrong", "drop"] = "wrong",
    level: float = 0.95,
    n_resamples: int = 9999,
    rng: RNGLike = None,
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
        "sign_flip" (default), "bootstrap" and "t" compare mean accuracies of samples, "wilcoxon" their ranks: questions
        about one sample share its noise, and count once. "mcnemar" compares single questions, and is refused where two
        questions share a sample; there "sign_flip" is the same test. `list_tests("compare_answers")` has what each
        assumes, and when not to use it.
    adjust : {"holm", "bonferroni", "bh", "none"}
        Correction over all rows returned.
    missing : {"wrong", "drop"}
        Whether a question without an answer counts as answered wrongly, or is left out for both.
    level : float
        Probability of the interval of the effect.
    n_resamples : int
        Random sign vectors or bootstrap samples, where a test draws them.
    rng : None, int or Generator
        Source of their randomness.

    Returns
    -------
    DataFrame
        A row a pair of levels and value of `by`: comparison ("a - b"), accuracy_a, accuracy_b (shares of questions),
        effect of a - b with ci_low, ci_high (those of the test), statistic and two-sided p_value (the same test as in
        `compare`), p_adjusted, n_pairs (questions), n_samples, n_failed, only_a, only_b (questions that one alone
        answered correctly), method, effect_size (what `effect` is), p_at_floor (no random sign vector or sample was as
        extreme, so that p_value is an upper bound), resampling_seed (missing where nothing is drawn), note (why there
        is no interval, or what it rests on). Levels that share no question with an answer have a row without p_value.

    Raises
    ------
    ValueError
        If a column is missing, there are fewer than two levels, no two of them share a question, or test="mcnemar"
        finds several questions of a sample.

    Notes
    -----
    Tests take samples as independent, and each sample counts once: where samples have unequal numbers of questions,
    the mean difference over samples ("mean_difference") is not accuracy_a - accuracy_b.

    References
    ----------
    .. [1] McNemar, Q. (1947). doi:10.1007/BF02295996
    .. [2] Fisher, R. A. (1935). The design of experiments. Edinburgh: Oliver and Boyd.

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
    check_whole(n_resamples, "n_resamples", 1, 2**31 - 1)
    options: dict[str, Any] = {"zero_method": "wilcox", "level": level, "n_resamples": n_resamples}
    options["rng"] = resolve_seed(rng) if chosen.resamples else None
    check_known(missing, ("wrong", "drop"), "missing")
    check_number(level, "level", "(0, 1)")
    check_type(between, str, "the name of the column that tells reasoners apart", "between")
    if by is not None:
        check_type(by, (str, list, tuple), "the name of a column or a list of names", "by")
    strata = [by] if isinstance(by, str) else list(by or [])
    if between in strata:
        raise ValueError(
            f"by and between both name {between!r}; levels are compared within the values of other columns"
        )
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
            rows.append(values | _compare(part.loc[both, [a, b]], a, b, chosen, missing, options))
    result = pd.DataFrame(rows)
    if (result["n_pairs"] == 0).all():
        raise ValueError(f"levels {levels} of column {between!r} have no question in common")
    result.insert(list(result.columns).index("p_value") + 1, "p_adjusted", adjust_p(result["p_value"], adjust))
    return result.astype({"p_at_floor": "boolean", "resampling_seed": "Int64", "note": "str"})


def _compare(
    pair: pd.DataFrame, a: object, b: object, test: StatisticalTest, missing: str, options: Mapping[str, Any]
) -> dict[str, object]:
    """Return the row of one pair of levels, from whether their answers are correct, a row a question (NaN: no answer).

    Differences of accuracy are averaged by sample, and compared between samples.
    """
    lost = pair.isna()
    used = pair[~lost.any(axis=1)] if missing == "drop" else pair.fillna(0.0)
    row: dict[str, object] = {"comparison": f"{a} - {b}"}
    if not len(used):
        undefined = ("accuracy_a", "accuracy_b", "effect", "ci_low", "ci_high", "statistic", "p_value")
        row |= dict.fromkeys(undefined, np.nan) | {"n_pairs": 0, "n_samples": 0, "n_failed": len(lost)}
        row |= {"only_a": 0, "only_b": 0, "method": test.name, "effect_size": test.effect}
        return row | {"p_at_floor": pd.NA, "resampling_seed": pd.NA, "note": "no question in common"}
    first, second = used[a].to_numpy(np.float64), used[b].to_numpy(np.float64)
    cluster = used.groupby(["task", "sample"], sort=False).ngroup().to_numpy()
    size = np.bincount(cluster)
    if test.binary and (size > 1).any():
        raise ValueError(
            f"test={test.name!r} takes independent questions, but {a!r} and {b!r} were asked {size.max()} questions "
            "about one sample, which share its noise; use test='sign_flip', which compares samples, or by= columns "
            "within which each sample has one question"
        )
    # tests take many samples at once, one a row
    apart = (np.bincount(cluster, weights=first - second) / size)[None]
    level = options["level"]
    statistic, p_value, *limits = test.function(apart, **{name: options[name] for name in test.options})
    effect = EFFECTS[test.effect].paired(apart, level)
    if test.interval:
        effect = Estimate(effect.effect, *limits[-2:])
    least = test.resamples and p_value[0] * (options["n_resamples"] + 1) <= 1 + 1e-9
    return row | {
        "accuracy_a": float(first.mean()),
        "accuracy_b": float(second.mean()),
        "effect": float(effect.effect[0]),
        "ci_low": float(effect.low[0]),
        "ci_high": float(effect.high[0]),
        "statistic": float(statistic[0]),
        "p_value": float(p_value[0]),
        "n_pairs": len(used),
        "n_samples": len(size),
        "n_failed": int(lost.any(axis=1).sum()),
        "only_a": int(((first == 1) & (second == 0)).sum()),
        "only_b": int(((first == 0) & (second == 1)).sum()),
        "method": test.name,
        "effect_size": test.effect,
        "p_at_floor": pd.NA if np.isnan(p_value[0]) else bool(least),
        "resampling_seed": pd.NA if options["rng"] is None else options["rng"],
        "note": interval_notes(effect, apart, level)[0],
    }
