"""Classification scores of answers in fact and under interventions, beside the means of shuffled answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy

from ...contract.checks import check_known, check_number, check_type, name_row
from ...execution.random_streams import hash_rows
from ...statistics.clusters import jackknife_error
from .yes_counts import Floats, as_bits, check_answers, divide, known_truths, setting_names

__all__ = ["answer_scores", "score_questions"]

#: column of clusters of questions, where a table has it
CLUSTER = "cluster"


def answer_scores(
    answers: pd.DataFrame,
    *,
    by: str | Sequence[str] | None = None,
    within: str | Sequence[str] | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Score yes/no answers against the true ones: accuracy, precision, recall, F1, beside shuffled answers.

    Parameters
    ----------
    answers : DataFrame
        As for `quantities`; sample, truth and answer are enough. A column `question` tells questions on a sample apart
        where cause, effect and world do not.
    by : str or sequence of str, optional
        Columns of settings that distinguish reasoners.
    within : str or sequence of str, optional
        Further columns by which results are split: any of task, cause, effect, world; default world, where there is
        one. World "fact" is the level of association, "do1" and "do0" that of intervention.
    level : float
        Probability of the interval of the accuracy.

    Returns
    -------
    DataFrame
        One row per group: n, n_failed (without an answer), n_clusters (samples with an answer), of the failed
        n_refused, n_truncated and n_unread (missing where the table has no column `outcome`), tp, fp, fn, tn,
        accuracy, precision, recall, f1, specificity, mcc, kappa (yes is positive; 0/0 is NaN; missing answers count in
        n_failed only), accuracy_low, accuracy_high (all missing answers wrong, all right), ci_low, ci_high (Wilson's
        interval of the accuracy, clustered by sample), majority_accuracy (if the commoner true answer is always
        given), control_accuracy, control_f1 (means if answers to each question are shuffled over samples).

    Raises
    ------
    ValueError
        If columns are missing, a question is answered twice, or `within` names another column.

    Notes
    -----
    P-values, intervals of differences and tests between reasoners are those of a cube of the same table, with
    ``cluster="sample"`` and ``context={"group": ...}`` for the column that tells questions apart.

    The interval takes samples as independent: the effective number of answers has the variance of a jackknife over
    samples, Student's quantile with one degree of freedom fewer than Kish's effective number of samples [3]_, and is at
    least that number. With beta-distributed accuracies of samples it covers .93 or more of .95 for three to forty
    samples, .85 to .92 in places where most samples are answered all alike.

    References
    ----------
    .. [1] Cohen, J. (1960). doi:10.1177/001316446002000104
    .. [2] Matthews, B. W. (1975). doi:10.1016/0005-2795(75)90109-9
    .. [3] Korn, E. L., Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of
       positive counts estimated from survey data. Survey Methodology 24, 193-201.

    Examples
    --------
    >>> from causaleval_pd.reasoning import answer_scores, make_tasks
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=200, rng=1)
    >>> perfect = tasks.questionnaire().assign(answer=lambda q: q["truth"])
    >>> answer_scores(perfect)[["world", "accuracy", "f1"]].values.tolist()
    [['fact', 1.0, 1.0], ['do1', 1.0, 1.0], ['do0', 1.0, 1.0]]
    """
    check_number(level, "level", "(0, 1)")
    check_type(answers, pd.DataFrame, "a DataFrame with one row per question", "answers")
    if within is None:
        within = ["world"] if "world" in answers.columns else []
    within = [within] if isinstance(within, str) else within
    if odd := [name for name in within if name not in ("task", "cause", "effect", "world")]:
        raise ValueError(f"within takes task, cause, effect and world, found {odd}; pass settings as by=")
    for name in within:
        check_known(name, answers.columns, "column")
    effect = answers["question"] if "question" in answers.columns else None
    unsaid = {"task": 0, "cause": None, "effect": effect, "world": "fact"}
    given = answers.assign(**{name: value for name, value in unsaid.items() if name not in answers.columns})
    table, settings = check_answers(given, by)
    names = [*settings, *within]
    query = hash_rows([table[name] for name in (*settings, "task", "cause", "effect", "world")])
    table = table.assign(query=query, question=query, cluster=hash_rows([table["task"], table["sample"]]))
    if "outcome" in answers.columns:
        table["outcome"] = answers["outcome"].astype(object).to_numpy()
    return _scored(table, names, level)


def score_questions(
    answers: pd.DataFrame,
    *,
    by: str | Sequence[str] | None = None,
    within: str | Sequence[str] | None = None,
    shuffle_within: str | Sequence[str] | None = None,
    cluster: str | None = CLUSTER,
    level: float = 0.95,
) -> pd.DataFrame:
    """Score answers to any set of yes/no questions beside the same answers shuffled over questions of one kind.

    Parameters
    ----------
    answers : DataFrame
        Answered questions, as `ask` returns for the sets of `read_cladder` and `read_corr2cause`:
        question (key), truth, answer, and columns to split by. A column `replicate` (or `epoch`) numbers the answers to
        a repeated question.
    by : str or sequence of str, optional
        Columns of settings that distinguish reasoners.
    within : str or sequence of str, optional
        Columns by which results are split: rung, graph, query; default rung, where there is one.
    shuffle_within : str or sequence of str, optional
        Columns within which answers are shuffled, besides `by` and `within`; default query, where there is one. A
        reasoner that gives each kind of question its usual answer is no better than its shuffled answers.
    cluster : str or None
        Column of stories or other sources that questions share: the answers of a cluster depend on each other, and
        intervals are wider. Default: the column `cluster`, where there is one, as in tables that the readers make.
        None takes questions as independent.
    level : float
        Probability of the interval of the accuracy.

    Returns
    -------
    DataFrame
        As `answer_scores`.

    Raises
    ------
    ValueError
        If columns are missing, a question is answered twice by one reasoner, or has no truth, key or cluster.

    Examples
    --------
    >>> import pandas as pd
    >>> from causaleval_pd.reasoning import score_questions
    >>> answered = pd.DataFrame(
    ...     {"question": range(8), "rung": [1, 1, 1, 1, 2, 2, 2, 2], "truth": [True, False] * 4, "answer": [True] * 8}
    ... )
    >>> found = score_questions(answered)
    >>> found[["rung", "accuracy", "control_accuracy"]].values.tolist()
    [[1.0, 0.5, 0.5], [2.0, 0.5, 0.5]]
    """
    check_number(level, "level", "(0, 1)")
    check_type(answers, pd.DataFrame, "a DataFrame with one row per question", "answers")
    within, shuffled = (
        [name] * (name in answers.columns) if names is None else setting_names(names)
        for names, name in ((within, "rung"), (shuffle_within, "query"))
    )
    settings = setting_names(by)
    if cluster not in (None, CLUSTER):
        check_known(cluster, answers.columns, "column (cluster)")
    repeats = [name for name in ("replicate", "epoch") if name in answers.columns]
    for name in ("question", "truth", "answer", *settings, *within, *shuffled):
        check_known(name, answers.columns, "column")
    if (repeated := answers.duplicated(["question", *settings, *repeats]).to_numpy()).any():
        row = int(repeated.argmax())
        raise ValueError(
            f"{name_row(row, answers.index)}: question {answers['question'].iloc[row]!r} is answered more than once; "
            "pass the columns of reasoners as by=, or number repeats in a column 'replicate'"
        )
    names = list(dict.fromkeys([*settings, *within]))
    kind = list(dict.fromkeys([*names, *shuffled]))
    table = answers[kind].reset_index(drop=True)
    table["truth"], table["answer"] = known_truths(answers), as_bits(answers["answer"], "answer")
    unit = "question" if cluster is None or cluster not in answers.columns else cluster
    if (missing := answers[unit].isna().to_numpy()).any():
        raise ValueError(f"{name_row(int(missing.argmax()), answers.index, unit)} is missing; give each row a value")
    own = {"query": [table[name] for name in kind], "question": [answers["question"]], "cluster": [answers[unit]]}
    hashes = {name: hash_rows(columns) if columns else np.uint64(0) for name, columns in own.items()}
    if "outcome" in answers.columns:
        table["outcome"] = answers["outcome"].astype(object).to_numpy()
    keep = [*names, "truth", "answer", *(["outcome"] if "outcome" in table.columns else [])]
    plain = (
        table[keep].rename(columns={name: (f" {name}" if name in hashes else name) for name in names}).assign(**hashes)
    )
    found = _scored(plain, [f" {name}" if name in hashes else name for name in names], level)
    return found.rename(columns={f" {name}": name for name in names})


def _scored(table: pd.DataFrame, names: list[str], level: float) -> pd.DataFrame:
    """Return a row of scores a group."""
    grouped = table.groupby(names, sort=False, dropna=False) if names else [((), table)]
    rows = []
    for key, part in grouped:
        values = key if isinstance(key, tuple) else (key,)
        rows.append(dict(zip(names, values, strict=True)) | _score(part, level))
    return pd.DataFrame(rows, columns=None if rows else [*names, *_score(table.iloc[:0], level)])


def _score(part: pd.DataFrame, level: float) -> dict[str, float]:
    known = part[part["answer"].notna()]
    truth, answer = known["truth"].to_numpy(bool), known["answer"].to_numpy(bool)
    n, missing = len(known), len(part) - len(known)
    tp, fp = int((truth & answer).sum()), int((~truth & answer).sum())
    fn, tn = int((truth & ~answer).sum()), int((~truth & ~answer).sum())
    right = (truth == answer).astype(np.float64)
    low, high = clustered_wilson(right, known, level)
    expected = _shuffled_hits(known) if n else float("nan")
    by_chance = _ratio((tp + fn) * (tp + fp) + (tn + fp) * (tn + fn), n * n)
    accuracy = _ratio(tp + tn, n)
    scale = float(np.sqrt(float(tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))
    positive = _ratio(int(part["truth"].sum()), len(part))
    return {
        "n": n,
        "n_failed": missing,
        "n_clusters": known["cluster"].nunique(),
        **_outcomes(part),
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "tn": tn,
        "accuracy": accuracy,
        "precision": _ratio(tp, tp + fp),
        "recall": _ratio(tp, tp + fn),
        "f1": _ratio(2 * tp, 2 * tp + fp + fn),
        "specificity": _ratio(tn, tn + fp),
        "mcc": _ratio(tp * tn - fp * fn, scale),
        "kappa": _ratio(accuracy - by_chance, 1 - by_chance),
        "accuracy_low": _ratio(tp + tn, n + missing),
        "accuracy_high": _ratio(tp + tn + missing, n + missing),
        "ci_low": low,
        "ci_high": high,
        "majority_accuracy": max(positive, 1 - positive),
        # at fixed margins every score is a function of the number of true positives
        "control_accuracy": _ratio(n - (2 * tp + fp + fn) + 2 * expected, n),
        "control_f1": _ratio(2 * expected, 2 * tp + fp + fn),
    }


def _outcomes(part: pd.DataFrame) -> dict[str, float]:
    """Count the reasons of missing answers."""
    if "outcome" not in part.columns:
        return dict.fromkeys(("n_refused", "n_truncated", "n_unread"), float("nan"))
    return {f"n_{name}": int((part["outcome"] == name).sum()) for name in ("refused", "truncated", "unread")}


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def clustered_wilson(right: Floats, known: pd.DataFrame, level: float) -> tuple[float, float]:
    """Return Wilson's interval of a share, with the effective number of independent answers."""
    from statsmodels.stats.proportion import proportion_confint

    n = len(right)
    if not n:
        return float("nan"), float("nan")
    cluster = np.unique(known["cluster"].to_numpy(), return_inverse=True)[1]
    share, effective = float(right.mean()), float(n)
    if cluster.max() + 1 < n:
        error, number = (float(x) for x in jackknife_error(np.bincount(cluster, weights=right), np.bincount(cluster)))
        found = share * (1 - share) / error**2 if error > 0 else np.inf
        tail = (1 - level) / 2
        shrunk = (scipy.stats.norm.isf(tail) / scipy.stats.t.isf(tail, max(number - 1, 1.0))) ** 2
        # answers that all agree have no variance, which is no evidence that there are as many samples as answers
        effective = max(number, min(found, n) * shrunk) if 0 < share < 1 and cluster.any() else number
    low, high = proportion_confint(share * effective, effective, alpha=1 - level, method="wilson")
    # at shares of 0 and 1 the limit is the share, but for rounding
    return min(float(low), share), max(float(high), share)


def _shuffled_hits(known: pd.DataFrame) -> float:
    """Return the mean true positives if the answers to each question are shuffled over its samples."""
    query = np.unique(known["query"].to_numpy(), return_inverse=True)[1]
    weights = (None, known["truth"].to_numpy(np.float64), known["answer"].to_numpy(np.float64))
    n, true, yes = (np.bincount(query, weights=w) for w in weights)
    return float(divide(true * yes, n).sum())
