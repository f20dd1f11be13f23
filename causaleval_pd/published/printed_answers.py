"""Printed accuracies of answered questions: what is known of the questions, and their random guesses."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..contract.checks import name_row
from ..statistics.coincidences import MOST_EXACT, coincidence_moments, coincidence_tail
from .guesses import Guesses, Printed, more_digits
from .laws import RightAnswers, coin_tail, questions_of, right_answers, shuffled_mean, shuffled_range, shuffled_tail
from .printed_numbers import read_counts, read_number

#: columns that describe questions
ANSWER_COLUMNS = ("n_questions", "true_yes", "answered_yes", "class_counts", "answered_counts", "accuracy_se")
_YES = "the yes counts (columns 'true_yes', 'answered_yes')"
_CLASSES = "the numbers of questions of each class (column 'class_counts')"
_YES_ANSWERED = "how many answers are yes (column 'answered_yes')"


class Questions(NamedTuple):
    """Numbers of each label (two: yes and no) of a row's true and given answers; None where not known."""

    name: str
    n: int | None
    true: tuple[int, ...] | None
    answered: tuple[int, ...] | None


def read_questions(table: pd.DataFrame) -> list[Questions]:
    """Read and check what each row states of its questions."""
    return [_read(table, i) for i in range(len(table))]


def _read(table: pd.DataFrame, i: int) -> Questions:
    name = name_row(i, table.index)

    def cell(column: Hashable) -> Any:
        return table[column].iloc[i] if column in table else None

    def counts(column: str, least: int = 0) -> tuple[int, ...] | None:
        return read_counts(cell(column), f"{name}: {column}", least)

    def one(column: str, least: int = 0) -> int | None:
        numbers = counts(column, least)
        if numbers is not None and len(numbers) > 1:
            raise ValueError(f"{name}: {column} is one number, found {len(numbers)}")
        return None if numbers is None else numbers[0]

    runs = one("n_runs", 1)
    if runs is not None and runs > 1:
        raise ValueError(
            f"{name}: n_runs is {runs}; if each run had questions of its own, n_questions is the number of all answers "
            "and n_runs is 1; runs on the same questions are not independent: judge one of them"
        )
    n, true_yes, answered_yes = one("n_questions", 1), one("true_yes"), one("answered_yes")
    sides = {"true": counts("class_counts"), "answered": counts("answered_counts")}
    for column, labels in (("class_counts", sides["true"]), ("answered_counts", sides["answered"])):
        if labels is None:
            continue
        if len(labels) < 2:
            raise ValueError(f"{name}: {column} has one number per class, such as '60, 30, 30'")
        if column == "answered_counts" and n is None:
            continue
        if n is not None and (sum(labels) > n or (column == "class_counts" and sum(labels) < n)):
            raise ValueError(f"{name}: {column} has the sum {sum(labels)}, but n_questions is {n}")
        n = sum(labels) if n is None else n
    if n is None:
        n = _of_error(cell("accuracy"), cell("accuracy_se"), name)
    for column, yes in (("true_yes", true_yes), ("answered_yes", answered_yes)):
        if yes is not None and n is not None and yes > n:
            raise ValueError(f"{name}: {column} is {yes}, but n_questions is {n}")
    if n is not None and true_yes is not None:
        sides["true"] = (true_yes, n - true_yes)
    if n is not None and answered_yes is not None:
        sides["answered"] = (answered_yes, n - answered_yes)
    if sides["true"] and sides["answered"] and len(sides["true"]) != len(sides["answered"]):
        raise ValueError(f"{name}: class_counts and answered_counts have one number per class, in the same order")
    return Questions(name, n, sides["true"], sides["answered"])


def _of_error(accuracy: Any, error: Any, name: str) -> int | None:
    """Return the number of questions that a printed standard error implies, None if it is not clear."""
    share, se = read_number(accuracy, f"{name}: accuracy").value, read_number(error, f"{name}: accuracy_se").value
    if not (0 < share < 1 and se > 0):
        return None
    for sample in (True, False):
        n = questions_of(share, se, sample=sample)
        # a number of questions with whole numbers of right answers, as far as the printed digits tell
        if abs(n - round(n)) < 1e-3 and right_answers(share, 1e-6, round(n)) is not None:
            return round(n)
    return None


def answer_guesses(questions: Questions, printed: Printed) -> Guesses:
    """Return the random guesses of a row's answers, which are shuffled among the questions."""
    n = questions.n
    if n is None:
        return Guesses(needed=("n_questions (column 'n_questions')",))
    guesses = Guesses(p_se=0.0)
    if questions.true is not None and questions.answered is not None:
        if len(questions.true) == 2 and sum(questions.answered) == n:
            mean = shuffled_mean(n, questions.true[0], questions.answered[0])
        else:
            mean = coincidence_moments(*_with_refusals(questions))[0] / n
        guesses = guesses._replace(mean=mean, mean_method="exact")
    if math.isnan(printed.value):
        return guesses
    right = right_answers(printed.value, printed.slack, n)
    if right is None:
        near = math.floor(n * printed.value)
        raise ValueError(
            f"{questions.name}: accuracy is {printed.value:g}, but of {n} questions the nearest are "
            f"{near / n:.6g} and {(near + 1) / n:.6g}; digits= states how many decimals were printed"
        )
    if questions.true is None:
        return _coins(questions, guesses, right)
    perfect = _p_perfect(questions.true)
    if questions.answered is None:
        if len(questions.true) > 2:
            return guesses._replace(needed=("the numbers of each answer (column 'answered_counts')",))
        yes = questions.true[0]
        # limits fall with the right answers, among even and among odd numbers of them
        ends = {right.least, min(right.least + 1, right.most), max(right.most - 1, right.least), right.most}
        limits = [shuffled_range(n, yes, x) for x in sorted(ends)]
        means = (yes / n, 1 - yes / n)
        return guesses._replace(
            p_low=min(x.low for x in limits),
            p_high=max(x.high for x in limits),
            p_perfect=perfect,
            easiest_mean=min(means),
            p_method="bound",
            needed=(_YES_ANSWERED,),
        )
    if len(questions.true) == 2 and sum(questions.answered) == n:
        (yes, _), (said, _) = questions.true, questions.answered
        possible = [x for x in range(right.least, right.most + 1) if (x - n + yes + said) % 2 == 0]
        possible = [x for x in possible if max(0, yes + said - n) <= (x - n + yes + said) // 2 <= min(yes, said)]
        if not possible:
            raise ValueError(
                f"{questions.name}: accuracy is {printed.value:g}, impossible with {yes} true and {said} answered yes "
                f"of {n} questions"
            )
        p, least = (shuffled_tail(n, yes, said, x) for x in (possible[0], possible[-1]))
        method = "exact"
    else:
        _check_reachable(questions, printed, right)
        decks = [[side] for side in _with_refusals(questions)]
        p, least = (coincidence_tail(x, *decks) for x in (right.least, right.most))
        method = "exact" if n <= MOST_EXACT else "normal"
    needed = more_digits("accuracy", least, p)
    return guesses._replace(p=p, p_low=least, p_high=p, p_perfect=perfect, p_method=method, needed=needed)


def _coins(questions: Questions, guesses: Guesses, right: RightAnswers) -> Guesses:
    """Return coins as the guesses of answers whose true labels are not counted, unless these are of several classes."""
    if questions.n is None or len(questions.answered or ()) > 2:
        return guesses._replace(needed=(_CLASSES,))
    p, least = coin_tail(questions.n, right.least), coin_tail(questions.n, right.most)
    return guesses._replace(
        mean=0.5,
        mean_method="exact",
        p=p,
        p_low=least,
        p_high=p,
        p_perfect=coin_tail(questions.n, questions.n),
        p_method="coin",
        needed=(*more_digits("accuracy", least, p), _YES),
    )


def _check_reachable(questions: Questions, printed: Printed, right: RightAnswers) -> None:
    """Refuse more right answers than the numbers of each label allow, and all but one where labels agree."""
    true, answered = questions.true or (), questions.answered or ()
    most = sum(min(pair) for pair in zip(true, answered, strict=True))
    # one wrong answer takes the place of another label, which then is wrong as well
    possible = most - 1 if true == answered and right.least == right.most == most - 1 else most
    if right.least > most or possible < most:
        raise ValueError(
            f"{questions.name}: accuracy is {printed.value:g}, impossible with {', '.join(map(str, true))} true and "
            f"{', '.join(map(str, answered))} given answers of each class, of which {most} can be right"
            + " and not one less"
            * (right.least <= most)
        )


def _with_refusals(questions: Questions) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of each label, answers that are none of them being one that is never right."""
    true, answered = questions.true or (), questions.answered or ()
    return (*true, 0), (*answered, (questions.n or 0) - sum(answered))


def _p_perfect(counts: tuple[int, ...]) -> float:
    """Return the probability that shuffled right answers are all right: one over the multinomial coefficient."""
    n = sum(counts)
    return float(np.exp(sum(math.lgamma(x + 1) for x in counts) - math.lgamma(n + 1)))
