"""Answers: yes, no or missing parsed from replies, and joined to their questions by key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...contract.checks import check_type, nearest, shown

__all__ = ["join_answers", "parse_answers"]

YES = ("yes", "true")
NO = ("no", "false")

#: longer replies are parsed at both ends only
_MOST_CHARACTERS = 100_000

# A reply may be hostile, so each pattern takes linear time: no two neighbouring repeats match the same characters, and
# repeats that are followed by anything else are possessive.
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[a-z]*+\n?+(.*?)```", re.DOTALL | re.IGNORECASE)
_OBJECT = re.compile(r"\{[^{}]{0,2000}\}")
_KEYS = re.compile(r"^(final|short|the)?[ _-]*(answer|response|result|verdict|conclusion)$", re.IGNORECASE)
_MARKUP = re.compile(r"[*_`#>~\"'\u2018\u2019\u201c\u201d«»\[\]()\\$]+")
_QUOTES = re.compile(r"[*_`\"'\u201c\u201d\[\]()$]+")
_TAG = re.compile(r"<(/?)(\w+)>")
_SPACE = re.compile(r"\s+")
_BOXED = re.compile(r"\\boxed\s*+\{\s*+(?:\\text\s*+\{)?([^{}]*+)\}")
# words that make a leading "no" part of a phrase rather than an answer
_NOT_A_REPLY = ("one", "doubt", "matter", "other", "more", "need", "reason", "information", "such", "idea", "longer")


def parse_answers(replies: Iterable[Any] | pd.Series, *, yes: Sequence[str] = YES, no: Sequence[str] = NO) -> pd.Series:
    """Parse replies as yes or no; ambiguous replies are missing.

    In this order: a JSON object with an answer ("answer", "final_answer", "response" ...), also fenced or at the end
    of a text; a stated final answer ("Answer: yes", "the final answer is **No**", a boxed one), of several the last;
    the first word; the last line. Case, markdown, quotes and hidden reasoning (`<think>`) do not matter. If the
    first word and the last line contradict each other, the answer is missing.

    Parameters
    ----------
    replies : Series or iterable
        Texts; booleans pass through, and missing values (failed calls) stay missing.
    yes, no : sequence of str
        Words that mean yes and no, for other languages.

    Returns
    -------
    Series
        Nullable booleans on the index of `replies`. `quantities` and `answer_scores` count missing answers and bound
        their effect.

    Raises
    ------
    ValueError
        If a word means both, or one side has no words.

    Examples
    --------
    >>> from causaleval_pd.reasoning import parse_answers
    >>> texts = ["**Yes**, she is.", "First, 3 < 5. So no one ... Final answer: NO.", '{"answer": true}', "Perhaps."]
    >>> parse_answers(texts).tolist()
    [True, False, True, <NA>]
    """
    words = _words("yes", yes, True)
    against = _words("no", no, False)
    if not words or not against or words.keys() & against.keys():
        raise ValueError(f"yes= and no= must each have words, none in both; found {shown(yes)} and {shown(no)}")
    if isinstance(replies, (str, bytes, Mapping, pd.DataFrame)):
        raise TypeError(f"replies must be a column or a list of texts, found {shown(replies)}")
    reader = _Reader(words | against)
    cells = replies if isinstance(replies, pd.Series) else pd.Series(list(replies), dtype=object)
    found = [reader.read(value) for value in cells.astype(object)]
    return pd.Series(found, index=cells.index, dtype="boolean", name="answer")


def _words(side: str, given: Sequence[str], meaning: bool) -> dict[str, bool]:
    """Return the words of one side in the form in which replies are searched."""
    found = {}
    for word in [given] if isinstance(given, str) else given:
        check_type(word, str, "words", side)
        if not (plain := " ".join(word.casefold().split())):
            raise ValueError(f"{side}= has an empty word; found {shown(given)}")
        found[plain] = meaning
    return found


class _Reader:
    """Parser of replies, with the patterns for one pair of word lists; they match texts in lower case."""

    def __init__(self, words: dict[str, bool]) -> None:
        self.words = words
        either = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
        nouns = r"(?:answer|response|verdict|conclusion)"
        copulas = rf"(?>(?:(?!(?:{either})(?!\w))(?:is|[:=\-\u2013]))+)"
        # for texts whose runs of white space are one character each
        self.stated = re.compile(
            rf"(?:<{nouns}>|\b(?:final\s)?{nouns}(?:\s(?:to|for)\s[^.:\n]{{0,80}})?\s?{copulas})"
            rf"[\s:]*+({either})(?!\w)"
        )
        self.first = re.compile(rf"({either})(?!\w)[\s,]*+(\w*)")
        self.last = re.compile(
            r"(?:(?:so|thus|hence|therefore|then|finally|in conclusion|conclusion)\s*+[,:]?+\s*+)?"
            rf"({either})\W*"
        )
        self.echo = re.compile(rf"({either})\s*+(?:or|/|\|)\s*+({either})(?!\w)")

    def read(self, reply: Any) -> bool | None:
        """Return the answer in a reply, or None."""
        if isinstance(reply, (bool, np.bool_)):
            return bool(reply)
        if not isinstance(reply, str):
            return None
        if len(reply) > _MOST_CHARACTERS:
            half = _MOST_CHARACTERS // 2
            reply = f"{reply[:half]}\n\n{reply[-half:]}"
        text = _THOUGHT.sub(" ", reply).strip()
        found = self._json(text)
        if found is None:
            found = self._boxed(text)
        return self._words(text) if found is None else found

    def _json(self, text: str) -> bool | None:
        """Parse the last JSON object that holds an answer."""
        candidates = [text, *_FENCE.findall(text), *_OBJECT.findall(text)]
        for candidate in reversed(candidates):
            if "{" not in candidate:
                continue
            try:
                value = json.loads(candidate)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                for key in reversed(list(value)):
                    if isinstance(key, str) and _KEYS.match(key.strip()):
                        return self._value(value[key])
        return None

    def _value(self, value: Any) -> bool | None:
        if isinstance(value, bool):
            return value
        return self._words(value) if isinstance(value, str) else None

    def _boxed(self, text: str) -> bool | None:
        found = [_SPACE.sub(" ", inner).strip().casefold() for inner in _BOXED.findall(text)]
        return next((self.words[word] for word in reversed(found) if word in self.words), None)

    def _words(self, text: str) -> bool | None:
        text = text.casefold()
        stated = self.stated.findall(_SPACE.sub(_one_space, self.echo.sub(" ", _QUOTES.sub(" ", text))))
        if stated:
            return self.words[stated[-1]]
        plain = self.echo.sub(" ", _MARKUP.sub(" ", _TAG.sub(r" <\2> ", text)))
        plain = re.sub(r"[ \t]+", " ", plain).strip()
        plain = re.sub(r"^(?:<\w+>|[\s:,.;-])+", "", plain)
        lines = [line.strip(" :,.;!-") for line in plain.splitlines() if line.strip(" :,.;!-")]
        if not lines:
            return None
        first = self.first.match(lines[0])
        opening = None
        if first and first[2] not in _NOT_A_REPLY:
            opening = self.words[first[1]]
        ends = re.split(r"(?<=[.!?])\s+", lines[-1])[-1]
        last = self.last.fullmatch(ends)
        closing = self.words[last[1]] if last else None
        if opening is not None and closing is not None and opening != closing:
            return None
        return opening if opening is not None else closing


def _one_space(run: re.Match[str]) -> str:
    return "\n" if "\n" in run[0] else " "


def join_answers(
    questions: pd.DataFrame,
    answers: pd.DataFrame,
    *,
    on: Sequence[str] = ("task", "sample", "replicate", "question"),
) -> pd.DataFrame:
    """Join answers to their questions by key, never by the order of rows.

    Parameters
    ----------
    questions : DataFrame
        A row a question (`Tasks.questionnaire`).
    answers : DataFrame
        The key columns, `answer` or `reply` (parsed by `parse_answers`), and settings such as the model.
    on : sequence of str
        Columns that identify a question.

    Returns
    -------
    DataFrame
        The questions' columns, then those of the answers. With settings in `answers`, every question appears once for
        each of their combinations; a question without an answer stays, with a missing one.

    Raises
    ------
    ValueError
        If keys are missing, an answer belongs to no question, or a question is answered twice by one reasoner.

    Examples
    --------
    >>> import pandas as pd
    >>> from causaleval_pd.reasoning import join_answers
    >>> questions = pd.DataFrame({"question": ["a", "b"], "truth": [True, False]})
    >>> replies = pd.DataFrame({"question": ["b"], "model": "m", "reply": ["No."]})
    >>> join_answers(questions, replies, on=["question"])[["question", "model", "answer"]].values.tolist()
    [['a', 'm', <NA>], ['b', 'm', False]]
    """
    keys = [on] if isinstance(on, str) else list(on)
    if not keys:
        raise ValueError("on names no column; name the columns that identify a question")
    for name, table in (("questions", questions), ("answers", answers)):
        check_type(table, pd.DataFrame, "a DataFrame", name)
        for key in keys:
            if key not in table.columns:
                raise ValueError(
                    f"{name} has no column {key!r}; {nearest(key, table.columns)}name the columns that identify a "
                    "question by on="
                )
    found = answers
    if "answer" not in found.columns:
        if "reply" not in found.columns:
            raise ValueError("answers needs a column 'answer' (True, False, missing) or 'reply' (text)")
        found = found.assign(answer=parse_answers(found["reply"]))
    settings = [c for c in found.columns if c not in (*keys, *questions.columns, "answer", "reply", "error")]
    for name, table, by in (("question", questions, keys), ("answer", found, [*keys, *settings])):
        if (repeated := table.duplicated(by)).any():
            raise ValueError(f"two {name}s share the key {table.loc[repeated.to_numpy(), by].iloc[0].to_dict()}")
    strange = found[keys].merge(questions[keys], how="left", on=keys, indicator=True)["_merge"] == "left_only"
    if strange.any():
        row = found.loc[strange.to_numpy(), keys].iloc[0].to_dict()
        raise ValueError(f"{int(strange.sum())} answers belong to no question, the first to {row}")
    asked = questions.drop(columns=[c for c in ("answer", "reply", "error") if c in questions.columns])
    if settings:
        asked = asked.merge(found[settings].drop_duplicates(), how="cross")
    more = [c for c in ("answer", "reply", "error") if c in found.columns]
    return asked.merge(found[[*keys, *settings, *more]], how="left", on=[*keys, *settings], validate="1:1")
