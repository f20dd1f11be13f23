"""Classification scores of answers in fact and under interventions, and of labels, beside those of shuffled answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from ...contract.checks import check_known, check_number, check_type
from ...execution.random_streams import hash_rows
from ...statistics.clusters import jackknife_error
from ...statistics.coincidences import coincidence_tail
from .labels import check_labels, coerce_labels
from .worlds import ratio
from .yes_counts import as_bits, check_answers, known_truths, refuse_gaps, refuse_repeats, refuse_weights, setting_names

__all__ = ["answer_scores", "confusion", "label_scores", "score_questions"]

#: column of clusters of questions, where a table has it
CLUSTER = "cluster"

_OUTCOMES = ("n_refused", "n_truncated", "n_unread")
_YES_NO = (
    *("n", "n_failed", "n_clusters", *_OUTCOMES, "tp", "fp", "fn", "tn"),
    *("accuracy", "precision", "recall", "f1", "specificity", "mcc", "kappa"),
    *("accuracy_low", "accuracy_high", "ci_low", "ci_high"),
    *("majority_accuracy", "control_accuracy", "control_f1"),
)
_LABELS = (
    *("n", "n_failed", "n_samples", "n_labels", "accuracy", "ci_low", "ci_high", "accuracy_low", "accuracy_high"),
    *("macro_f1", "majority_accuracy", "control_accuracy", "control_macro_f1", "p_value", "note"),
)


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
        n_refused, n_truncated and n_unread (by the column `outcome`; without one, failed questions with a reply are
        unread), tp, fp, fn, tn, accuracy, precision, recall, f1, specificity, mcc, kappa (yes is positive; 0/0 is NaN;
        missing answers count in n_failed only), accuracy_low, accuracy_high (all missing answers wrong, all right),
        ci_low, ci_high (Wilson's interval of the accuracy, clustered by sample), majority_accuracy (if the commoner
        true answer is always given), control_accuracy, control_f1 (means if answers to each question are shuffled over
        samples).

    Raises
    ------
    ValueError
        If columns are missing, a question is answered twice, `within` names another column, or there is a column
        `weight`, which would be ignored.

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
    full = answers.assign(**{name: value for name, value in unsaid.items() if name not in answers.columns})
    table, settings = check_answers(full, by)
    decks = [table[name] for name in (*settings, "task", "cause", "effect", "world")]
    answered = _answered(table, decks, [table["task"], table["sample"]], answers)
    return _scored(table[[*settings, *within]], answered, level)


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
    refuse_weights(answers.columns, [*settings, *within, *shuffled])
    refuse_repeats(answers, ["question", *settings, *repeats])
    names = list(dict.fromkeys([*settings, *within]))
    bits = {"truth": known_truths(answers), "answer": as_bits(answers["answer"], "answer")}
    unit = "question" if cluster is None or cluster not in answers.columns else cluster
    refuse_gaps(answers[unit])
    decks = [answers[name] for name in dict.fromkeys([*names, *shuffled])]
    return _scored(answers[names], _answered(bits, decks, [answers[unit]], answers), level)


def confusion(answers: pd.DataFrame, *, by: str | Sequence[str] | None = None) -> pd.DataFrame:
    """Count given labels by true label.

    Parameters
    ----------
    answers : DataFrame
        One row per answer, with columns truth and answer.
    by : str or sequence of str, optional
        Columns of settings that distinguish reasoners.

    Returns
    -------
    DataFrame
        One row per setting and true label (index), one column per given label, with numbers of answers; missing answers
        are the last column, "(missing)", where there are any.

    Raises
    ------
    ValueError
        If columns are missing or cells are no labels.

    Examples
    --------
    >>> import pandas as pd
    >>> from causaleval_pd.reasoning import confusion
    >>> answers = pd.DataFrame({"sample": range(4), "truth": list("aabc"), "answer": list("abbc")})
    >>> confusion(answers)
    answer  a  b  c
    truth
    a       1  1  0
    b       0  1  0
    c       0  0  1
    """
    settings, answered, labels = _labelled(answers, by)
    names = np.append(labels, "(missing)")  # which the code -1 stands for
    truth, answer = (pd.Series(names[answered[side]], name=side) for side in ("truth", "answer"))
    counts = pd.crosstab([*(settings[name].reset_index(drop=True) for name in settings.columns), truth], answer)
    columns = [*labels, *(["(missing)"] if (answered["answer"] < 0).any() else [])]
    return counts.reindex(columns=pd.Index(columns, name="answer"), fill_value=0)


def label_scores(
    answers: pd.DataFrame,
    *,
    by: str | Sequence[str] | None = None,
    within: str | Sequence[str] | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Score answers with three and more labels: accuracy, macro F1, beside shuffled answers.

    Parameters
    ----------
    answers : DataFrame
        One row per answer: sample, truth, answer. Labels are texts, whole numbers or truth values.
    by : str or sequence of str, optional
        Columns of settings that distinguish reasoners.
    within : str or sequence of str, optional
        Columns of tasks, within which answers are shuffled; default the column `task`, where there is one.
    level : float
        Probability of the interval of the accuracy.

    Returns
    -------
    DataFrame
        One row per setting: n, n_failed (without an answer), n_samples (with an answer), n_labels (that truths have),
        accuracy, ci_low, ci_high (Wilson's interval, clustered by sample), accuracy_low, accuracy_high (all missing
        answers wrong, all right), macro_f1 (mean over the labels that truths or answers have), majority_accuracy (if
        the commonest true label is always given), control_accuracy, control_macro_f1 (means of shuffled answers),
        p_value (probability that shuffled answers have at least as many right ones; see Notes). A column `note` is
        there if a sample has several answers, so that p_value is missing, or answers have labels that no truth has.

    Raises
    ------
    ValueError
        If columns are missing, cells are no labels, or a label differs from one of the truths by case only.

    Notes
    -----
    With r truths and c answers of each label among n samples, the number H of right answers of a shuffling has
    E C(H, m) = (n - m)! / n! [x^m] prod_labels sum_j C(r, j) C(c, j) j! x^j, from which its law follows in whole
    numbers for tasks of at most 300 samples [1]_; with larger ones p is that of the normal law of the same mean and
    variance, half a step below. Where a sample has several answers, as of several models or repeats, p is missing,
    since they depend on each other: name the models in `by`, or make a cube of `label_accuracy` with
    ``cluster="sample"``.

    A label that no truth has, such as "refused", is a wrong answer, and one more label with an F1 of 0 in the mean, as
    in scikit-learn's `f1_score`: make it missing, which counts in n_failed, accuracy_low and accuracy_high only.

    References
    ----------
    .. [1] Riordan, J. (1958). An introduction to combinatorial analysis, chapter 7. Wiley.

    Examples
    --------
    >>> import pandas as pd
    >>> from causaleval_pd.reasoning import label_scores
    >>> answers = pd.DataFrame({"sample": range(6), "truth": list("aabbcc"), "answer": list("aabbcc")})
    >>> label_scores(answers)[["accuracy", "macro_f1", "control_accuracy"]].round(3).values.tolist()
    [[1.0, 1.0, 0.333]]
    >>> round(1 / label_scores(answers)["p_value"].item())  # of 6! / (2! 2! 2!) orders one is all right
    90
    """
    tasks = [name for name in ["task"] if name in answers] if within is None else setting_names(within)
    settings, answered, labels = _labelled(answers, by, tasks)
    scores = _scored(settings, answered, level, labels)
    scores["note"] = scores["note"].astype("str")
    return scores if scores["note"].notna().any() else scores.drop(columns="note")


def _labelled(
    answers: pd.DataFrame, by: str | Sequence[str] | None, tasks: Sequence[str] = ()
) -> tuple[pd.DataFrame, pd.DataFrame, NDArray[np.object_]]:
    """Read a table of answers with labels; return the settings, the answers, and the labels in alphabetical order."""
    check_type(answers, pd.DataFrame, "a DataFrame with one row per answer", "answers")
    settings = setting_names(by)
    for name in ("truth", "answer", *settings, *tasks):
        check_known(name, answers.columns, "column")
    refuse_weights(answers.columns, [*settings, *tasks])
    truth, answer = (coerce_labels(answers[name], name) for name in ("truth", "answer"))
    refuse_gaps(truth)
    check_labels(truth, answer)
    sample = answers["sample"] if "sample" in answers else pd.Series(np.arange(len(answers)), answers.index)
    refuse_gaps(sample)
    numbers, labels = pd.factorize(np.concatenate([truth.to_numpy(object), answer.to_numpy(object)]), sort=True)
    sides = dict(zip(("truth", "answer"), np.split(numbers, 2), strict=True))
    decks = [answers[name] for name in tasks]
    return answers[settings], _answered(sides, decks, [*decks, sample], answers), np.asarray(labels, object)


def _answered(sides: Any, decks: list[pd.Series], clusters: list[pd.Series], answers: pd.DataFrame) -> pd.DataFrame:
    """Return what scores need: numbers of labels, -1 for a missing answer, and numbers of decks, clusters, outcomes."""
    # Answers of one deck are shuffled together, and those of one cluster depend on each other. Without a column
    # `outcome`, replies without an answer are unread.
    table = pd.DataFrame({side: np.asarray(sides[side], np.float64) for side in ("truth", "answer")})
    table = table.fillna(-1).astype("int64").assign(deck=hash_rows(decks) if decks else 0, cluster=hash_rows(clusters))
    table[list(_OUTCOMES)] = np.nan
    if "outcome" in answers.columns:
        for name in _OUTCOMES:
            table[name] = (answers["outcome"].astype(object) == name.removeprefix("n_")).to_numpy(np.float64)
    elif "reply" in answers.columns:
        table["n_unread"] = (answers["reply"].notna() & answers["answer"].isna()).to_numpy(np.float64)
    return table


def _scored(
    settings: pd.DataFrame, answered: pd.DataFrame, level: float, labels: NDArray[np.object_] | None = None
) -> pd.DataFrame:
    """Return a row of scores per combination of settings, in order of first appearance; without labels, of yes/no."""
    check_number(level, "level", "(0, 1)")
    parts, groups = [answered], pd.DataFrame(index=[0])  # one row, also of no answers
    if names := list(settings.columns):
        number = settings.groupby(names, sort=False, dropna=False).ngroup().to_numpy()
        parts = [part for _, part in answered.groupby(number)]
        groups = settings.drop_duplicates().reset_index(drop=True)
    rows = [_score(part, level, labels) for part in parts]
    return pd.concat([groups, pd.DataFrame(rows, columns=list(_YES_NO if labels is None else _LABELS))], axis=1)


def _score(part: pd.DataFrame, level: float, labels: NDArray[np.object_] | None) -> dict[str, Any]:
    """Return the scores of some answers, as `_LABELS`, or without labels as `_YES_NO`."""
    known, total = part[part["answer"] >= 0], len(part)
    truth, answer, deck, cluster = (known[name].to_numpy() for name in ("truth", "answer", "deck", "cluster"))
    n, missing, n_clusters = len(truth), total - len(truth), len(np.unique(cluster))
    number = np.unique(deck, return_inverse=True)[1]
    shape = (max(2, 1 + int(max(truth.max(initial=0), answer.max(initial=0)))), int(number.max(initial=0)) + 1)
    true, replied = (
        np.bincount(label * shape[1] + number, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)
        for label in (truth, answer)
    )
    right = truth == answer
    hits = np.bincount(truth[right], minlength=shape[0])
    # at fixed margins every score is a function of the numbers of right answers of each label
    expected = (true * replied / np.maximum(true.sum(axis=0), 1)).sum(axis=1)
    low, high = _clustered_wilson(right.astype(np.float64), cluster, level)
    accuracy = ratio(int(hits.sum()), n)
    scores: dict[str, Any] = {
        "n": n,
        "n_failed": missing,
        "accuracy": accuracy,
        "accuracy_low": ratio(int(hits.sum()), total),
        "accuracy_high": ratio(int(hits.sum()) + missing, total),
        "ci_low": low,
        "ci_high": high,
        "majority_accuracy": ratio(int(np.bincount(part["truth"]).max(initial=0)), total),
        "control_accuracy": ratio(expected.sum(), n),
    }
    if labels is not None:
        size = true.sum(axis=1) + replied.sum(axis=1)
        seen = size > 0
        f1, control_f1 = (float(np.mean(2 * x[seen] / size[seen])) if n else float("nan") for x in (hits, expected))
        p = coincidence_tail(int(hits.sum()), true[seen].T, replied[seen].T) if n_clusters == n > 0 else float("nan")
        more = {"n_samples": n_clusters, "n_labels": part["truth"].nunique(), "p_value": p}
        notes = _label_notes(labels[np.setdiff1d(answer, part["truth"])], n_clusters < n)
        return scores | more | {"macro_f1": f1, "control_macro_f1": control_f1, "note": notes}
    tn, tp = hits.tolist()
    fn, fp = int(true[1].sum()) - tp, int(replied[1].sum()) - tp
    by_chance = ratio((tp + fn) * (tp + fp) + (tn + fp) * (tn + fn), n * n)
    scale = float(np.sqrt(float(tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))
    return scores | {
        "n_clusters": n_clusters,
        **{name: int(x) if (x := part[name].sum(skipna=False)) == x else x for name in _OUTCOMES},
        **{"tp": tp, "fp": fp, "fn": fn, "tn": tn},
        "precision": ratio(tp, tp + fp),
        "recall": ratio(tp, tp + fn),
        "f1": ratio(2 * tp, 2 * tp + fp + fn),
        "specificity": ratio(tn, tn + fp),
        "mcc": ratio(tp * tn - fp * fn, scale),
        "kappa": ratio(accuracy - by_chance, 1 - by_chance),
        "control_f1": ratio(2 * expected[1], 2 * tp + fp + fn),
    }


def _label_notes(wrong: NDArray[np.object_], are_repeated: bool) -> str | None:
    """Describe labels of answers that no truth has, and why there is no p-value."""
    notes = []
    if len(wrong):
        named = ", ".join(map(repr, wrong[:3].tolist())) + ", ..." * (len(wrong) > 3)
        notes.append(f"no truth has {named}: wrong, and an F1 of 0 each in macro_f1; make refusals missing, as pd.NA")
    if are_repeated:
        notes.append("no p: samples have several answers; name models in by=, or make a cube with cluster='sample'")
    return "; ".join(notes) or None


def _clustered_wilson(right: NDArray[np.float64], cluster: NDArray[Any], level: float) -> tuple[float, float]:
    """Return Wilson's interval of a share, with the effective number of independent answers."""
    from statsmodels.stats.proportion import proportion_confint

    n = len(right)
    if not n:
        return float("nan"), float("nan")
    cluster = np.unique(cluster, return_inverse=True)[1]
    share, effective = float(right.mean()), float(n)
    if cluster.max() + 1 < n:
        error, number = (float(x) for x in jackknife_error(np.bincount(cluster, weights=right), np.bincount(cluster)))
        sample_size = share * (1 - share) / error**2 if error > 0 else np.inf
        tail = (1 - level) / 2
        shrunk = (scipy.stats.norm.isf(tail) / scipy.stats.t.isf(tail, max(number - 1, 1.0))) ** 2
        # answers that all agree have no variance, which is no evidence that there are as many samples as answers
        effective = max(number, min(sample_size, n) * shrunk) if 0 < share < 1 and cluster.any() else number
    low, high = proportion_confint(share * effective, effective, alpha=1 - level, method="wilson")
    # at shares of 0 and 1 the limit is the share, but for rounding
    return min(float(low), share), max(float(high), share)
