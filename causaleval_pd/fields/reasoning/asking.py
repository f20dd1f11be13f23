"""Asking a function, or a model by Inspect (extra `llm`): replies, their reading, outcomes, answers joined by key."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike, fspath
from typing import Any, Literal

import numpy as np
import pandas as pd

from ...contract.cells import is_missing
from ...contract.checks import check_known, check_type, check_whole, name_row, nearest, shown, warn
from ...execution.options import get_options
from .yes_counts import is_answer, known_truths

__all__ = ["Reply", "ask", "inspect_task", "join_answers", "parse_answers", "read_inspect"]

#: columns that identify a question
KEY = ("task", "sample", "replicate", "question")

#: what became of a question: a reply with an answer, one without a readable answer, a refusal, a reply that was cut
#: off, no reply, and a question that was never asked
OUTCOMES = ("answered", "unread", "refused", "truncated", "failed", "not_asked")

#: finish reasons, in the words of several providers
_CUT = {"length", "max_tokens", "model_length"}
_FILTERED = {"content_filter", "refusal", "safety"}

#: characters of the longest text in the column `error`
_MOST_OF_AN_ERROR = 1000

#: how replies are read: their last line or JSON, or a function of the text
Reading = Literal["last_line"] | Callable[[str], Any]

#: words of answers, and what they mean
_WORDS = {"yes": True, "true": True, "no": False, "false": False}

#: share of unread replies from which on they are warned of
MOST_UNREAD = 0.05

#: what prompts ask for
YES_OR_NO = "a last line 'Answer: yes' or 'Answer: no', as tasks.prompts does"

#: longer replies are read at both ends only
_MOST_CHARACTERS = 100_000

# these patterns take linear time, since a reply may be hostile
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_MARKUP = re.compile(r"[*_`#>\"'\u2018\u2019\u201c\u201d\[\]()$]+|</?answer>", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
_BEFORE = re.compile(r"(?:the )?(?:final )?answer ?[:=\-\u2013] ?")
_ANSWER_KEYS = ("answer", "final_answer", "final answer")


#: name of the task in logs
_NAME = "causal_reasoning"

#: seconds of one request, after which Inspect tries again, and tries of a request
_REQUESTS = {"attempt_timeout": 300, "max_retries": 5}


@dataclass(frozen=True)
class Reply:
    """One reply of a reasoner, and what is known about it.

    Parameters
    ----------
    text : str or None
        The text; None where the reasoner returned none, as with a refusal.
    refusal : str, optional
        Text of a refusal.
    finish_reason : str, optional
        Why the reply ended: "stop", "length", "content_filter".
    model_version : str, optional
        Name of the model that replied, as its server gives it.
    input_tokens, output_tokens : int, optional
        Number of tokens of the prompt and of the reply.
    seconds : float, optional
        Duration of the call.

    Examples
    --------
    >>> import pandas as pd
    >>> from causaleval_pd.reasoning import Reply, ask
    >>> questions = pd.DataFrame({"question": ["a", "b"], "prompt": ["Is it?", "Was it?"]})
    >>> def model(prompt):
    ...     if "Was" in prompt:
    ...         return Reply(None, refusal="I would rather not.")
    ...     return Reply("Answer: yes", output_tokens=3)
    >>> ask(questions, model, key=["question"])["outcome"].tolist()
    ['answered', 'refused']
    """

    text: str | None
    refusal: str | None = None
    finish_reason: str | None = None
    model_version: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    seconds: float | None = None


#: fields of a reply that are columns of their own, and all columns that replies add, with their dtypes
DETAILS = ("finish_reason", "model_version", "input_tokens", "output_tokens", "seconds")
_ADDED: dict[str, Any] = {
    **{"reply": "str", "outcome": pd.CategoricalDtype(list(OUTCOMES)), "error": "str", "answer": "boolean"},
    **dict(zip(DETAILS, ("str", "str", "Int64", "Int64", "Float64"), strict=True)),
}


def ask(
    questions: pd.DataFrame,
    reasoner: Callable[[str], Any],
    *,
    prompt: str = "prompt",
    key: Sequence[str] = KEY,
    workers: int = 8,
    give_up_after: int = 20,
    how: Reading = "last_line",
) -> pd.DataFrame:
    r"""Ask a function every question and read its replies.

    Whatever happens to a question is its outcome, and never ends the study.

    Parameters
    ----------
    questions : DataFrame
        One row per question, with its prompt and the key columns.
    reasoner : callable
        Function from the prompt to the reply: text, a `Reply`, or True and False. It is called from several threads; an
        exception counts as a failed question.
    prompt : str
        Column of prompts.
    key : sequence of str
        Columns that identify a question.
    workers : int
        Number of calls at once.
    give_up_after : int
        Number of consecutive failed questions after which no more are asked, with a warning.
    how : "last_line" or callable
        How replies are read, as in `parse_answers`.

    Returns
    -------
    DataFrame
        The questions with reply (text), outcome ("answered", "unread", "refused", "truncated", "failed", "not_asked"),
        error (why there is no reply or no answer), answer (yes, no or missing), finish_reason, model_version,
        input_tokens, output_tokens and seconds; `value_counts()` of the outcomes lists all six.

    Raises
    ------
    ValueError
        If columns are missing or keys repeat.

    Warns
    -----
    UserWarning
        If questions were not asked because too many failed in a row, or if 5 % of the replies or more are unread.

    Notes
    -----
    A truncated reply has no answer, whatever its last line. Lone surrogates, which are not valid text, are replaced by
    U+FFFD. An interrupt ends the call as soon as the calls under way return.

    Examples
    --------
    >>> from causaleval_pd.reasoning import ask, make_tasks
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=2, rng=1)
    >>> questions = tasks.questionnaire().assign(prompt=lambda q: tasks.prompts(q))
    >>> answered = ask(questions, lambda prompt: "All rules hold.\nAnswer: yes")
    >>> bool(answered["answer"].all())
    True
    """
    if not callable(reasoner):
        raise TypeError(f"reasoner must be a function from a prompt to a reply, found {shown(reasoner)}")
    check_questions(questions, key, [prompt])
    workers, give_up_after = check_whole(workers, "workers", 1), check_whole(give_up_after, "give_up_after", 1)
    read = reader(how)
    rows = _asked(reasoner, questions[prompt].tolist(), read, workers, give_up_after)
    warn_of_unread([(row["reply"], row["answer"]) for row in rows if row["outcome"] in ("answered", "unread")])
    return add_replies(questions, rows)


def check_questions(questions: pd.DataFrame, key: Sequence[str], needed: list[str]) -> list[str]:
    """Return the key columns; refuse questions that lack columns (the first is that of prompts), or repeat keys."""
    keys = _check_keys(questions, key, "questions", "key", needed)
    if (missing := questions[needed[0]].isna().to_numpy()).any():
        raise ValueError(f"row {int(missing.argmax())} has no prompt")
    refuse_repeats(questions, keys, "questions", "name the columns that distinguish them by key=")
    return keys


def _check_keys(
    table: pd.DataFrame, key: Sequence[str], what: str, option: str, needed: Sequence[str] = ()
) -> list[str]:
    """Return the key columns; refuse tables that lack these or others that are needed."""
    check_type(table, pd.DataFrame, "a DataFrame with one row per question", what)
    check_type(key, Iterable, "a list of column names", option)
    keys = [key] if isinstance(key, str) else list(key)
    if not keys:
        raise ValueError(f"{option} names no column; name the columns that identify a question")
    for column in (*needed, *keys):
        if column not in table.columns:
            raise ValueError(
                f"{what} has no column {column!r}; {nearest(column, table.columns)}make prompts by "
                f"tasks.prompts(questions); name the columns that identify a question by {option}="
            )
    return keys


def refuse_repeats(table: pd.DataFrame, keys: list[str], what: str, mend: str) -> None:
    """Refuse two rows of one key."""
    if (repeated := table.duplicated(keys).to_numpy()).any():
        key = table.iloc[int(repeated.argmax())][keys].to_dict()
        raise ValueError(f"two {what} have the key {key}; {mend}")


def _asked(
    reasoner: Callable[[str], Any],
    prompts: list[str],
    read: Callable[[Any], bool | None],
    workers: int,
    give_up_after: int,
) -> list[dict[str, Any]]:
    """Return the columns of each question; few calls are queued at once, so that the last ones end soon."""
    from tqdm.auto import tqdm

    rows: list[dict[str, Any]] = [{"outcome": "not_asked"} for _ in prompts]
    pool = ThreadPoolExecutor(workers, thread_name_prefix="ask")
    pending: dict[Future[Reply], int] = {}
    waiting, failed = iter(range(len(prompts))), 0
    try:
        with tqdm(total=len(prompts), desc="questions", unit="question", disable=not get_options()["progress"]) as bar:
            while True:
                while len(pending) < 2 * workers and (place := next(waiting, None)) is not None:
                    pending[pool.submit(_call, reasoner, prompts[place])] = place
                if not pending:
                    return rows
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    place, error = pending.pop(future), future.exception()
                    if error is not None and not isinstance(error, Exception):
                        raise error
                    rows[place] = failed_row(error) if error is not None else reply_row(future.result(), read)
                    failed = 0 if error is None else failed + 1
                    bar.update()
                    if failed >= give_up_after:
                        warn(
                            f"{failed} questions in a row failed: {rows[place]['error']}. The questions left were not "
                            "asked; mend the function and ask them again, or raise give_up_after="
                        )
                        return rows
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _call(reasoner: Callable[[str], Any], prompt: str) -> Reply:
    """Call the reasoner, and return a reply that knows how long it took."""
    start = time.monotonic()
    reply = reasoner(prompt)
    if isinstance(reply, (bool, np.bool_)):
        reply = "yes" if reply else "no"
    if isinstance(reply, str):
        reply = Reply(str(reply))
    if not isinstance(reply, Reply):
        raise TypeError(
            f"a reasoner returns text, a Reply, True or False, found {type(reply).__name__}: {shown(reply)}"
        )
    for name in ("text", "refusal", "finish_reason", "model_version"):
        check_type(getattr(reply, name), (str, type(None)), "text or None", f"{name} of a Reply")
    for name in ("input_tokens", "output_tokens", "seconds"):
        check_type(getattr(reply, name), (int, float, type(None)), "a number or None", f"{name} of a Reply")
    return reply if reply.seconds is not None else replace(reply, seconds=round(time.monotonic() - start, 3))


def failed_row(error: BaseException | str) -> dict[str, Any]:
    """Return the columns of a question without a reply."""
    text = error if isinstance(error, str) else _named(error)
    return {"outcome": "failed", "error": valid_text(text)[:_MOST_OF_AN_ERROR]}


def reply_row(reply: Reply, read: Callable[[Any], bool | None]) -> dict[str, Any]:
    """Return the columns of one question: reply, outcome, error, answer, and details of the reply."""
    text = None if reply.text is None else valid_text(reply.text)
    reason = (reply.finish_reason or "").casefold()
    notes = []
    answer = None
    if reply.refusal or reason in _FILTERED:
        outcome = "refused"
        notes += [valid_text(reply.refusal)] if reply.refusal else []
    elif reason in _CUT:
        outcome = "truncated"
    else:
        try:
            answer = read(text)
        except Exception as problem:
            notes.append(f"the function how= failed: {_named(problem)}")
        outcome = "unread" if answer is None else "answered"
    note = "; ".join(notes)[:_MOST_OF_AN_ERROR] or None
    details = {name: getattr(reply, name) for name in DETAILS}
    return {"reply": text, "outcome": outcome, "error": note, "answer": answer, **details}


def add_replies(table: pd.DataFrame, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Add the columns that `reply_row` returns to a table, with their dtypes."""
    replies = pd.DataFrame(rows, index=table.index, columns=list(_ADDED), dtype=object).astype(_ADDED)
    return table.assign(**{str(name): column for name, column in replies.items()})


def valid_text(text: str) -> str:
    """Join surrogate pairs, and replace lone surrogates by U+FFFD, since no column of text can hold them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def parse_answers(replies: Iterable[Any] | pd.Series, *, how: Reading = "last_line") -> pd.Series:
    r"""Read replies as yes or no; what cannot be read with certainty is missing.

    By default the answer is the last line, "Answer: yes", "Final answer: no" or the word alone, or a JSON object at the
    end with one key "answer", as the instructions of `Tasks.prompts` ask for. Case, markdown and hidden reasoning
    (`<think>`) do not matter. Anything else is missing, and never guessed: `~~yes~~`, which is struck out, and `!yes`.

    Parameters
    ----------
    replies : Series or iterable
        Texts; True, False, 1 and 0 are answers as in a column `answer`, and missing values (failed calls) stay missing.
    how : "last_line" or callable
        A function takes a text and returns True, False or None.

    Returns
    -------
    Series
        Nullable booleans on the index of `replies`. `quantities` and `answer_scores` count missing answers and bound
        their effect.

    Raises
    ------
    ValueError
        If `how` is unknown, a reply is another object, or a function fails or returns anything else; names the row.

    Warns
    -----
    UserWarning
        If 5 % of the texts or more are unread.

    Examples
    --------
    >>> from causaleval_pd.reasoning import parse_answers
    >>> parse_answers(["5 is at least 3.\nAnswer: **yes**", '{"answer": "no"}', None]).tolist()
    [True, False, <NA>]
    >>> parse_answers(["Yes, she sings.", "No."], how=lambda text: text.startswith("Yes")).tolist()
    [True, False]
    """
    index, answers = read_replies(replies, lambda cell: bool(cell) if is_answer(cell) else None, reader(how), YES_OR_NO)
    return pd.Series(answers, index=index, dtype="boolean", name="answer")


def read_replies(
    replies: Any, given: Callable[[Any], str | bool | None], read: Callable[[Any], Any], wanted: str
) -> tuple[pd.Index, list[Any]]:
    """Return the index of replies and what a function reads in each; warn where it reads nothing in many texts."""
    # `given` returns what cells that are neither texts nor missing stand for, and None for those that are refused
    if isinstance(replies, (str, bytes, Mapping, pd.DataFrame)):
        raise TypeError(f"replies must be a column or a list of texts, found {shown(replies)}")
    cells = replies if isinstance(replies, pd.Series) else pd.Series(list(replies), dtype=object)
    answers: list[Any] = []
    texts: list[tuple[str, Any]] = []
    for row, cell in enumerate(cells.astype(object)):
        missing = not isinstance(cell, str) and is_missing(cell)
        reply = cell if isinstance(cell, str) else None if missing else given(cell)
        if reply is None and not missing:
            raise ValueError(
                f"{name_row(row, cells.index)}: a reply is a text, found {shown(cell)}; write a text or pd.NA"
            )
        try:
            answers.append(read(reply))
        except Exception as error:
            raise ValueError(f"{name_row(row, cells.index)}: the function how= failed: {_named(error)}") from error
        if isinstance(reply, str):
            texts.append((reply, answers[-1]))
    warn_of_unread(texts, wanted)
    return cells.index, answers


def warn_of_unread(replies: Sequence[tuple[Any, Any]], wanted: str = YES_OR_NO) -> None:
    """Warn where many of the replies, each with what was read in it, have no readable answer, and ask for `wanted`."""
    unread = [reply for reply, answer in replies if answer is None]
    if unread and len(unread) >= MOST_UNREAD * len(replies):
        share = f"{len(unread)} of {len(replies)} replies ({len(unread) / len(replies):.0%})"
        warn(
            f"{share} have no answer that could be read, the first {shown(unread[0])}; ask for {wanted}, or read such "
            "replies by a function, how="
        )


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def reader(how: Reading) -> Callable[[Any], bool | None]:
    """Return a function from a reply to True, False or None."""
    if not callable(how):
        check_known(how, ("last_line",), "way of reading, or pass a function: how=")
    return partial(_read, how if callable(how) else _last_line)


def _read(how: Callable[[str], Any], reply: Any) -> bool | None:
    """Read a reply: booleans are answers, and a function reads texts."""
    if isinstance(reply, (bool, np.bool_)):
        return bool(reply)
    answer = how(reply) if isinstance(reply, str) else None
    if answer is None or answer is pd.NA:
        return None
    if not isinstance(answer, (bool, np.bool_)):
        raise TypeError(f"it must return True, False or None, found {shown(answer)}")
    return bool(answer)


def _last_line(text: str) -> bool | None:
    """Return the answer in the last line of a text, or in a JSON object at its end."""
    ending = last_words(text)
    return ending if isinstance(ending, bool) else _WORDS.get(ending or "")


def last_words(text: str) -> str | bool | None:
    """Return what stands as answer in the last line of a text, in small letters, or in a JSON object at its end."""
    if len(text) > _MOST_CHARACTERS:
        half = _MOST_CHARACTERS // 2
        text = f"{text[:half]}\n\n{text[-half:]}"
    text = _THOUGHT.sub(" ", text).strip()
    end = text.removesuffix("```").rstrip()
    if end.endswith("}"):
        return _json_answer(end)
    line = _MARKUP.sub(" ", text.rpartition("\n")[2])
    # marks before a word, such as ~ and !, may negate it
    line = _SPACE.sub(" ", line).lstrip(" .,;").rstrip(" .,;!").casefold()
    before = _BEFORE.match(line)
    return line[before.end() :] if before else line


def _json_answer(text: str) -> str | bool | None:
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
        return " ".join(value.casefold().split()).strip(" .")
    return value if isinstance(value, bool) else None


def join_answers(
    questions: pd.DataFrame, answers: pd.DataFrame, *, on: Sequence[str] = KEY, how: Reading = "last_line"
) -> pd.DataFrame:
    """Join answers to their questions by key, never by the order of rows.

    Parameters
    ----------
    questions : DataFrame
        One row per question (`Tasks.questionnaire`).
    answers : DataFrame
        The key columns, `answer` or `reply` (read by `parse_answers`), and settings such as the model. The columns that
        `ask` adds, such as `outcome`, belong to a reply and are no settings.
    on : sequence of str
        Columns that identify a question.
    how : "last_line" or callable
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
    keys = _check_keys(questions, on, "questions", "on")
    _check_keys(answers, keys, "answers", "on")
    replies = answers
    if "answer" not in replies.columns:
        if "reply" not in replies.columns:
            raise ValueError("answers needs a column 'answer' (True, False, missing) or 'reply' (text)")
        replies = replies.assign(answer=parse_answers(replies["reply"], how=how))
    replied = ("answer", "reply", "error", *(("outcome", *DETAILS, "asked_at") if "outcome" in replies.columns else ()))
    settings = [c for c in replies.columns if c not in (*keys, *questions.columns, *replied)]
    mend = "name the columns that distinguish them by on="
    refuse_repeats(questions, keys, "questions", mend)
    refuse_repeats(replies, [*keys, *settings], "answers", mend)
    strange = replies[keys].merge(questions[keys], how="left", on=keys, indicator=True)["_merge"] == "left_only"
    if strange.any():
        row = replies.loc[strange.to_numpy(), keys].iloc[0].to_dict()
        raise ValueError(f"{int(strange.sum())} answers belong to no question, the first to {row}")
    asked = questions.drop(columns=[c for c in replied if c in questions.columns])
    if settings:
        asked = asked.merge(replies[settings].drop_duplicates(), how="cross")
    more = [c for c in replied if c in replies.columns]
    return asked.merge(replies[[*keys, *settings, *more]], how="left", on=[*keys, *settings], validate="1:1")


def inspect_task(
    questions: pd.DataFrame, *, key: Sequence[str] = KEY, epochs: int = 1, how: Reading = "last_line", **config: Any
) -> Any:
    """Make a task of Inspect from questions, with a scorer that reads replies as `ask` does.

    Inspect (https://inspect.aisi.org.uk) brings the models of many providers, their batches, limits of cost, repeated
    samples and a viewer of logs: `inspect_ai.eval(task, model="openai/gpt-4o-mini")`.

    Parameters
    ----------
    questions : DataFrame
        One row per question, with its `prompt`, its true answer `truth` and the key columns.
    key : sequence of str
        Columns that identify a question.
    epochs : int
        Number of replies to each question.
    how : "last_line" or callable
        How replies are read, as in `parse_answers`.
    **config
        Settings of generation, as `inspect_ai.model.GenerateConfig` takes them: temperature, max_tokens, seed ... A
        request that takes more than 300 seconds is tried again, 5 times at most, unless they say otherwise.

    Returns
    -------
    inspect_ai.Task
        One sample per question. A fault is an error of its sample, and does not end the evaluation.

    Raises
    ------
    ImportError
        If the extra `llm` is not installed.
    ValueError
        If columns are missing or keys repeat.

    Examples
    --------
    >>> from causaleval_pd.reasoning import inspect_task, make_tasks
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=2, rng=1)
    >>> questions = tasks.questionnaire().assign(prompt=lambda q: tasks.prompts(q))
    >>> try:
    ...     n_samples = len(inspect_task(questions, temperature=0.0).dataset)
    ... except ImportError:  # without the extra "llm"
    ...     n_samples = len(questions)
    >>> n_samples
    16
    """
    keys = check_questions(questions, key, ["prompt", "truth"])
    try:
        from inspect_ai import Task
        from inspect_ai.dataset import MemoryDataset, Sample
        from inspect_ai.model import GenerateConfig
        from inspect_ai.solver import generate
    except ImportError:
        raise ImportError("inspect_task needs inspect_ai: pip install 'causaleval_pd[llm]'") from None
    clusters = [name for name in ("task", "sample") if name in questions.columns]
    ids, prompts, truths = _ids(questions, keys), map(valid_text, questions["prompt"]), known_truths(questions)
    rows = zip(ids, prompts, truths, _ids(questions, clusters or keys), strict=True)
    samples = [
        Sample(id=sample, input=text, target="yes" if truth else "no", metadata={"cluster": cluster})
        for sample, text, truth, cluster in rows
    ]
    return Task(
        dataset=MemoryDataset(samples, name=_NAME),
        solver=generate(),
        scorer=_scorer(reader(how)),
        epochs=check_whole(epochs, "epochs", 1),
        config=GenerateConfig(**_REQUESTS | config),
        fail_on_error=False,
        name=_NAME,
    )


def _ids(questions: pd.DataFrame, keys: list[str]) -> list[str]:
    rows = zip(*(questions[name].astype(object).tolist() for name in keys), strict=True)
    return [json.dumps([valid_text(str(part)) for part in parts], ensure_ascii=False) for parts in rows]


def _scorer(read: Callable[[Any], bool | None]) -> Any:
    """Return a scorer of Inspect: right, wrong, or no answer."""
    from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, Score, accuracy, scorer, stderr

    def yes_or_no() -> Any:
        async def score(state: Any, target: Any) -> Any:
            row = reply_row(_reply(state.output, None), read)
            outcome = {"outcome": row["outcome"]}
            if row["answer"] is None:
                return Score(value=NOANSWER, explanation=row["error"] or row["outcome"], metadata=outcome)
            word = "yes" if row["answer"] else "no"
            return Score(value=CORRECT if word == target.text else INCORRECT, answer=word, metadata=outcome)

        return score

    return scorer(metrics=[accuracy(), stderr(cluster="cluster")], name="yes_or_no")(yes_or_no)()


def read_inspect(
    logs: Any, questions: pd.DataFrame, *, key: Sequence[str] = KEY, how: Reading = "last_line"
) -> pd.DataFrame:
    """Read logs of Inspect into the table of answers that `ask` returns, one row per question, model and epoch.

    Parameters
    ----------
    logs : EvalLog, path, or list of these
        What `inspect_ai.eval` returned, or its log files.
    questions : DataFrame
        The questions of `inspect_task`.
    key : sequence of str
        Columns that identify a question.
    how : "last_line" or callable
        How replies are read, as in `parse_answers`; a log can be read again in another way.

    Returns
    -------
    DataFrame
        The questions with model, epoch, the columns of `ask` (reply, outcome, error, answer, finish_reason,
        model_version, input_tokens, output_tokens, seconds), and asked_at. Questions that a log lacks are "not_asked".
        With several epochs, `replicate` counts the replies to each sample, so that `quantities` nests them in it.

    Raises
    ------
    ImportError
        If the extra `llm` is not installed.
    ValueError
        If a log holds no samples, belongs to other questions or prompts, or two logs hold the same replies.

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks, read_inspect
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=2, rng=1)
    >>> questions = tasks.questionnaire().assign(prompt=lambda q: tasks.prompts(q))
    >>> read_inspect([], questions)
    Traceback (most recent call last):
        ...
    ValueError: logs names no log; pass what inspect_ai.eval returned, or its files
    """
    keys = check_questions(questions, key, ["prompt"])
    parts = [_answers(log, questions, _ids(questions, keys), reader(how)) for log in _logs(logs)]
    if not parts:
        raise ValueError("logs names no log; pass what inspect_ai.eval returned, or its files")
    table = pd.concat(parts, ignore_index=True)
    replied = table[table["outcome"].isin(["answered", "unread"])]
    answers = replied["answer"].astype(object).where(replied["answer"].notna(), None)
    warn_of_unread(list(zip(replied["reply"], answers, strict=True)))
    refuse_repeats(table, ["model", "epoch", *keys], "replies", "pass one of the logs that hold them")
    if "replicate" in table.columns and (table["epoch"] > 1).any():
        table["replicate"] += (table["epoch"] - 1) * (questions["replicate"].max() + 1)
    return table


def _logs(logs: Any) -> Iterator[Any]:
    """Yield logs; read those that are given by their paths."""
    listed = [logs] if isinstance(logs, (str, PathLike)) or not isinstance(logs, Iterable) or _is_log(logs) else logs
    for log in listed:
        if not isinstance(log, (str, PathLike)):
            if not _is_log(log):
                raise TypeError(f"logs must be logs of Inspect or their paths, found {type(log).__name__}")
            yield log
            continue
        try:
            from inspect_ai.log import read_eval_log
        except ImportError:
            raise ImportError("read_inspect needs inspect_ai: pip install 'causaleval_pd[llm]'") from None
        try:
            yield read_eval_log(fspath(log))
        except FileNotFoundError:
            raise
        except Exception as error:  # any of many, of a damaged file
            raise ValueError(f"{log} is not a log of Inspect, or is damaged: {type(error).__name__}") from None


def _is_log(log: Any) -> bool:
    return hasattr(log, "samples") and hasattr(log, "eval")


def _answers(log: Any, questions: pd.DataFrame, ids: list[str], read: Callable[[Any], bool | None]) -> pd.DataFrame:
    """Return the answers of one log."""
    if not log.samples:
        raise ValueError(f"the log of {log.eval.model} holds no samples; read it with its samples")
    place = {identifier: i for i, identifier in enumerate(ids)}
    prompts = [valid_text(text) for text in questions["prompt"]]
    replies: dict[tuple[int, int], dict[str, Any]] = {}
    for sample in log.samples:
        position = place.get(str(sample.id))
        if position is None or sample.input != prompts[position]:
            what = "is not among the questions" if position is None else "was asked with another prompt"
            raise ValueError(f"sample {sample.id} of the log of {log.eval.model} {what}")
        if sample.error is not None or not sample.output.choices:
            row = failed_row(sample.error.message if sample.error is not None else "no reply")
        else:
            row = reply_row(_reply(sample.output, sample.working_time), read)
        replies[sample.epoch, position] = row | {"asked_at": sample.started_at}
    epochs = range(1, max(epoch for epoch, _ in replies) + 1)
    rows = [replies.get((e, i), {"outcome": "not_asked"}) for e in epochs for i in range(len(questions))]
    table = pd.concat([questions.assign(model=str(log.eval.model), epoch=epoch) for epoch in epochs], ignore_index=True)
    asked_at = pd.Series([row.get("asked_at") for row in rows], dtype=object)
    return add_replies(table, rows).assign(asked_at=pd.to_datetime(asked_at, utc=True, format="ISO8601"))


def _reply(output: Any, seconds: float | None) -> Reply:
    """Return the reply in an output of Inspect."""
    if not output.choices:
        return Reply(None)
    usage = output.usage
    return Reply(
        output.completion,
        finish_reason=str(output.stop_reason),
        model_version=output.model or None,
        input_tokens=None if usage is None else usage.input_tokens,
        output_tokens=None if usage is None else usage.output_tokens,
        seconds=output.time if output.time is not None else seconds,
    )
