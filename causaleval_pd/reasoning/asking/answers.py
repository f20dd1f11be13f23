"""Answers: yes, no or missing read from replies, and joined to their questions by key."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, Literal

import numpy as np
import pandas as pd

from ...contract.checks import check_known, check_type, name_row, nearest, shown
from .prose import ProseReader

__all__ = ["example_replies", "join_answers", "parse_answers"]

#: how replies are read: their last line or JSON, prose, or a function of the text
Reading = Literal["last_line", "prose"] | Callable[[str], Any]

YES = ("yes", "true")
NO = ("no", "false")

#: longer replies are read at both ends only
_MOST_CHARACTERS = 100_000

# these patterns take linear time, since a reply may be hostile
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_MARKUP = re.compile(r"[*_`#>~\"'\u2018\u2019\u201c\u201d\[\]()$]+|</?answer>", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
_ANSWER_KEYS = ("answer", "final_answer", "final answer")


def parse_answers(
    replies: Iterable[Any] | pd.Series,
    *,
    how: Reading = "last_line",
    yes: Sequence[str] = YES,
    no: Sequence[str] = NO,
) -> pd.Series:
    r"""Read replies as yes or no; what cannot be read with certainty is missing.

    By default the answer is the last line, "Answer: yes", "Final answer: no" or the word alone, or a JSON object at the
    end with one key "answer", as the instructions of `Tasks.prompts` ask for. Case, markdown and hidden reasoning
    (`<think>`) do not matter. Anything else is missing, and never guessed.

    Parameters
    ----------
    replies : Series or iterable
        Texts; booleans pass through, and missing values (failed calls) stay missing.
    how : {"last_line", "prose"} or callable
        "prose" also reads first words ("Yes, she does."), statements ("the answer is no") and conclusions ("so yes,
        ..."), and is wrong now and then: of the 126 replies of `example_replies` it misreads 2 and leaves 16 unread
        that have an answer, where "last_line" misreads none. A function takes a text and returns True, False or None.
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
        If a word means both, one side has no words, `how` is unknown, or a function fails or returns anything else;
        names the row.

    Examples
    --------
    >>> from causaleval_pd.reasoning import parse_answers
    >>> texts = ["5 is at least 3.\nAnswer: **yes**", '{"answer": "no"}', "Yes, she sings.", "Perhaps."]
    >>> parse_answers(texts).tolist()
    [True, False, <NA>, <NA>]
    >>> parse_answers(texts, how="prose").tolist()
    [True, False, True, <NA>]
    """
    read = reader(how, yes, no)
    if isinstance(replies, (str, bytes, Mapping, pd.DataFrame)):
        raise TypeError(f"replies must be a column or a list of texts, found {shown(replies)}")
    cells = replies if isinstance(replies, pd.Series) else pd.Series(list(replies), dtype=object)
    found: list[bool | None] = []
    for row, reply in enumerate(cells.astype(object)):
        try:
            found.append(read(reply))
        except Exception as error:
            raise ValueError(f"{name_row(row, cells.index)}: the function how= failed: {_named(error)}") from error
    return pd.Series(found, index=cells.index, dtype="boolean", name="answer")


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def reader(how: Reading, yes: Sequence[str] = YES, no: Sequence[str] = NO) -> Callable[[Any], bool | None]:
    """Return a function from a reply to True, False or None."""
    words = _words("yes", yes, True)
    against = _words("no", no, False)
    if not words or not against or words.keys() & against.keys():
        raise ValueError(f"yes= and no= must each have words, none in both; found {shown(yes)} and {shown(no)}")
    meanings = words | against
    if callable(how):
        return lambda reply: _own(how, reply)
    check_known(how, ("last_line", "prose"), "way of reading, or pass a function: how=")
    strict = _LastLine(meanings)
    prose = ProseReader(meanings) if how == "prose" else None

    def read(reply: Any) -> bool | None:
        if isinstance(reply, (bool, np.bool_)):
            return bool(reply)
        if not isinstance(reply, str):
            return None
        if len(reply) > _MOST_CHARACTERS:
            half = _MOST_CHARACTERS // 2
            reply = f"{reply[:half]}\n\n{reply[-half:]}"
        text = _THOUGHT.sub(" ", reply).strip()
        found = strict.read(text)
        return prose.read(text) if found is None and prose is not None else found

    return read


def _own(how: Callable[[str], Any], reply: Any) -> bool | None:
    """Read a reply by a function of the user."""
    if isinstance(reply, (bool, np.bool_)):
        return bool(reply)
    found = how(reply) if isinstance(reply, str) else None
    if found is None or found is pd.NA:
        return None
    if not isinstance(found, (bool, np.bool_)):
        raise TypeError(f"it must return True, False or None, found {shown(found)}")
    return bool(found)


def _words(side: str, given: Sequence[str], meaning: bool) -> dict[str, bool]:
    """Return the words of one side in the form in which replies are searched."""
    found = {}
    for word in [given] if isinstance(given, str) else given:
        check_type(word, str, "words", side)
        if not (plain := " ".join(word.casefold().split())):
            raise ValueError(f"{side}= has an empty word; found {shown(given)}")
        found[plain] = meaning
    return found


class _LastLine:
    """Reader of the last line, or of a JSON object at the end."""

    def __init__(self, words: dict[str, bool]) -> None:
        self.words = words
        either = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
        self.line = re.compile(rf"(?:(?:the )?(?:final )?answer ?[:=\-\u2013] ?)?({either})")

    def read(self, text: str) -> bool | None:
        """Return the answer at the end of a text, or None."""
        end = text.removesuffix("```").rstrip()
        if end.endswith("}"):
            return self._json(end)
        line = _MARKUP.sub(" ", text.rpartition("\n")[2])
        match = self.line.fullmatch(_SPACE.sub(" ", line).strip(" .,;!").casefold())
        return self.words[match[1]] if match else None

    def _json(self, text: str) -> bool | None:
        """Read a JSON object without inner objects, which must have one answer."""
        try:
            pairs = json.loads(text[text.rfind("{") :], object_pairs_hook=list)
        except (ValueError, RecursionError):
            return None
        answers = [value for key, value in pairs if key.strip().casefold() in _ANSWER_KEYS]
        if len(answers) != 1:
            return None
        [value] = answers
        if isinstance(value, str):
            return self.words.get(" ".join(value.casefold().split()).strip(" ."))
        return value if isinstance(value, bool) else None


def example_replies() -> pd.DataFrame:
    """Return 126 replies with their meaning, on which ways of reading are measured.

    Returns
    -------
    DataFrame
        style, reply, meaning (yes, no, or missing where the reply has no answer).

    Notes
    -----
    The replies were written for this purpose, in the styles in which language models reply; they are not a sample of
    the replies of any model. Read some of yours by eye before you trust a reading of prose.

    Examples
    --------
    >>> from causaleval_pd.reasoning import example_replies, parse_answers
    >>> table = example_replies()
    >>> read = parse_answers(table["reply"])
    >>> bool((read == table["meaning"])[read.notna()].all())
    True
    """
    table = pd.read_csv(str(files("causaleval_pd") / "data" / "replies.csv"), keep_default_na=False, dtype="str")
    return table.assign(meaning=table["meaning"].map({"yes": True, "no": False}).astype("boolean"))


def join_answers(
    questions: pd.DataFrame,
    answers: pd.DataFrame,
    *,
    on: Sequence[str] = ("task", "sample", "replicate", "question"),
    how: Reading = "last_line",
) -> pd.DataFrame:
    """Join answers to their questions by key, never by the order of rows.

    Parameters
    ----------
    questions : DataFrame
        A row a question (`Tasks.questionnaire`).
    answers : DataFrame
        The key columns, `answer` or `reply` (read by `parse_answers`), and settings such as the model.
    on : sequence of str
        Columns that identify a question.
    how : {"last_line", "prose"} or callable
        How replies are read, as in `parse_answers`.

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
        found = found.assign(answer=parse_answers(found["reply"], how=how))
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
