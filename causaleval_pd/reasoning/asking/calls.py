"""Calls of a reasoner: several at once, with retries and a cache; every fault is the outcome of its question."""

from __future__ import annotations

import hashlib
import json
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import replace
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...contract.checks import check_number, check_type, check_whole, nearest, shown
from ...execution.engines import with_bar
from ...execution.random_streams import uniforms
from .answers import Reading, reader
from .replies import (
    DETAILS,
    REPLACEMENT,
    Reply,
    changed,
    check_reply,
    ending,
    outcome_column,
    valid_text,
)  # fmt: skip
from .reply_cache import ReplyCache
from .secrets import environment_redactor, without_secrets

__all__ = ["CallFailed", "RetryLater", "ask"]

#: columns that identify a question
KEY = ("task", "sample", "replicate", "question")

Reasoner = Callable[[str], Any]

#: characters of the longest reply
MOST_CHARACTERS = 4 * 2**20

#: kind of a failure that every further question would share
_STOPS = "stops"

#: characters of the longest text in the column `error`
_MOST_OF_AN_ERROR = 1000


class RetryLater(ValueError):
    """A call that failed and may be tried again.

    Parameters
    ----------
    reason : str
        What happened.
    after : float
        Seconds to wait before the next try, as requested by the reasoner.

    Examples
    --------
    >>> import pandas as pd
    >>> from causaleval_pd.reasoning import RetryLater, ask
    >>> calls = []
    >>> def busy_at_first(prompt):
    ...     calls.append(prompt)
    ...     if len(calls) == 1:
    ...         raise RetryLater("busy")
    ...     return "Yes."
    >>> questions = pd.DataFrame({"question": ["q"], "prompt": ["Is it?"]})
    >>> ask(questions, busy_at_first, key=["question"], backoff=0)["reply"].tolist(), len(calls)
    (['Yes.'], 2)
    """

    def __init__(self, reason: str, after: float = 0.0) -> None:
        super().__init__(reason)
        self.after = after


class CallFailed(ValueError):
    """A call that the server refused, which is not tried again; the column `error` holds its message.

    Examples
    --------
    >>> import pandas as pd
    >>> from causaleval_pd.reasoning import CallFailed, ask
    >>> def refuse(prompt):
    ...     raise CallFailed("refused by a filter")
    >>> questions = pd.DataFrame({"question": ["q"], "prompt": ["Is it?"]})
    >>> ask(questions, refuse, key=["question"])["error"].tolist()
    ['refused by a filter']
    """


class _Outcome(NamedTuple):
    #: None where the call failed
    reply: Reply | None
    #: {"refused", "failed", "not_asked"}, or "" with a reply
    kind: str
    error: str | None


def ask(
    questions: pd.DataFrame,
    reasoner: Reasoner,
    *,
    prompt: str = "prompt",
    key: Sequence[str] = KEY,
    name: str | None = None,
    cache: str | PathLike[str] | None = None,
    workers: int = 8,
    retries: int = 5,
    backoff: float = 1.0,
    longest_wait: float = 60.0,
    give_up_after: int = 20,
    how: Reading = "last_line",
) -> pd.DataFrame:
    r"""Ask a reasoner every question and read its replies.

    Whatever happens to a question is its outcome, and never ends the study.

    Parameters
    ----------
    questions : DataFrame
        A row a question, with its prompt and the key columns.
    reasoner : callable
        Function from the prompt to the reply (text, a `Reply`, or True and False), such as an `Endpoint`. It is called
        from several threads. `TimeoutError`, `ConnectionError` and `RetryLater` are tried again; `CallFailed` counts as
        a refusal, any other exception as a failed question.
    prompt : str
        Column of prompts.
    key : sequence of str
        Columns that identify a question.
    name : str, optional
        Name of the reasoner in the cache; default its `name`, or that of the function. Include everything that changes
        its replies: the model, its settings.
    cache : path, optional
        SQLite file of replies. Questions with a reply there are not asked again, so that an interrupted call continues
        where it stopped; questions without a reply are. Each reply is written when it arrives, and several processes
        may use the file at once.
    workers : int
        Number of calls at once.
    retries : int
        Number of further tries of a failed call.
    backoff, longest_wait : float
        Seconds before the first retry, doubled each time; at least what the reasoner requests, and never more than
        the longest (at most a day).
    give_up_after : int
        Number of consecutive failed questions after which no more are asked; refusals do not count. `PermissionError`
        (a wrong key or address) stops at once. A warning gives the reason.
    how : {"last_line", "prose"} or callable
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
        If columns are missing, keys repeat, or the cache is damaged or not such a file.

    Warns
    -----
    UserWarning
        If questions were not asked because too many failed in a row.

    Notes
    -----
    A reply of more than 4,194,304 characters counts as failed. Lone surrogates, which are not valid text, are replaced
    by U+FFFD. Values of environment variables whose names end with KEY, TOKEN, SECRET or PASSWORD are replaced by `***`
    in replies and errors. A truncated reply has no answer, whatever its last line. An interrupt ends the call as soon
    as the calls under way return; their replies are cached.

    Examples
    --------
    >>> from causaleval_pd.reasoning import ask, make_tasks
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=2, rng=1)
    >>> questions = tasks.questionnaire().assign(prompt=lambda q: tasks.prompts(q))
    >>> answered = ask(questions, lambda prompt: "All rules hold.\nAnswer: yes")
    >>> bool(answered["answer"].all())
    True
    """
    check_type(questions, pd.DataFrame, "a DataFrame with a row a question", "questions")
    if not callable(reasoner):
        raise TypeError(f"reasoner must be a function from a prompt to a reply, found {shown(reasoner)}")
    key = [key] if isinstance(key, str) else key
    check_type(key, Iterable, "a list of column names", "key")
    if not list(key):
        raise ValueError("key names no column; name the columns that identify a question")
    check_questions(questions, [prompt, *key], list(key))
    workers, give_up_after = check_whole(workers, "workers", 1), check_whole(give_up_after, "give_up_after", 1)
    waits = Waits(
        check_whole(retries, "retries"),
        check_number(backoff, "backoff", "[0, inf)"),
        check_number(longest_wait, "longest_wait", "[0, 86400]"),
    )
    read = reader(how)
    keys = _keys(questions, prompt, list(key), _name(reasoner, name, needed=cache is not None))
    outcomes: list[_Outcome | None] = [None] * len(questions)
    places = {key: i for i, key in enumerate(keys)}
    redact = environment_redactor()
    with ReplyCache(cache) as replies:
        for found, stored in replies.stored(keys):
            outcomes[places[found]] = _Outcome(stored, "", None)
        todo = [i for i, outcome in enumerate(outcomes) if outcome is None]
        prompts = questions[prompt].tolist()

        def answered(position: int, stop: threading.Event) -> _Outcome:
            outcome = _call(reasoner, prompts[position], keys[position], waits, stop)
            if outcome.reply is None:
                return outcome._replace(error=without_secrets(outcome.error or "", redact))
            reply = changed(outcome.reply, redact)
            replies.keep(keys[position], reply)
            return outcome._replace(reply=reply)

        _collect(_calls(answered, todo, workers), len(todo), outcomes, give_up_after)
    not_asked = _Outcome(None, "not_asked", None)
    return _with_replies(questions, [outcome or not_asked for outcome in outcomes], read)


def _with_replies(
    questions: pd.DataFrame, outcomes: list[_Outcome], read: Callable[[Any], bool | None]
) -> pd.DataFrame:
    result = questions.copy(deep=False)
    rows = [reply_row(outcome.reply, outcome.kind, outcome.error, read) for outcome in outcomes]
    return add_replies(result, rows)


def reply_row(reply: Reply | None, kind: str, error: str | None, read: Callable[[Any], bool | None]) -> dict[str, Any]:
    """Return the columns of one question: reply, outcome, error, answer, and details of the reply."""
    if reply is None:
        shown_error = None if error is None else valid_text(error)[:_MOST_OF_AN_ERROR]
        return {"outcome": kind, "error": shown_error}
    whole = changed(reply, valid_text)
    notes = []
    replaced = (whole.text or "").count(REPLACEMENT) - (reply.text or "").count(REPLACEMENT)
    if replaced:
        notes.append(f"{replaced} lone surrogates in the reply are replaced by U+FFFD")
    outcome = ending(whole)
    answer = None
    if outcome is None:
        try:
            answer = read(whole.text)
        except Exception as problem:
            notes.append(f"the function how= failed: {type(problem).__name__}: {problem}")
        outcome = "unread" if answer is None else "answered"
    elif whole.refusal:
        notes.append(whole.refusal)
    details = {name: getattr(whole, name) for name in DETAILS}
    note = "; ".join(notes)[:_MOST_OF_AN_ERROR] or None
    return {"reply": whole.text, "outcome": outcome, "error": note, "answer": answer, **details}


def add_replies(table: pd.DataFrame, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Add the columns that `reply_row` returns to a table, with their dtypes."""
    table["reply"] = pd.array([row.get("reply") for row in rows], dtype="str")
    table["outcome"] = outcome_column([row["outcome"] for row in rows])
    table["error"] = pd.array([row.get("error") for row in rows], dtype="str")
    table["answer"] = pd.array([row.get("answer") for row in rows], dtype="boolean")
    for name, dtype in DETAILS.items():
        table[name] = pd.Series([row.get(name) for row in rows], index=table.index, dtype=object).astype(dtype)
    return table


def check_questions(questions: pd.DataFrame, needed: list[str], key: list[str]) -> None:
    """Refuse questions that lack columns (the first is that of prompts) or prompts, or whose keys repeat."""
    for column in needed:
        if column not in questions.columns:
            raise ValueError(
                f"questions has no column {column!r}; {nearest(column, questions.columns)}make prompts by "
                "tasks.prompts(questions); name other keys by key="
            )
    if (missing := questions[needed[0]].isna().to_numpy()).any():
        raise ValueError(f"row {int(missing.argmax())} has no prompt")
    if (repeated := questions.duplicated(key).to_numpy()).any():
        found = questions.iloc[int(repeated.argmax())][key].to_dict()
        raise ValueError(f"two questions have the key {found}; name the columns that distinguish them by key=")


def _name(reasoner: Reasoner, name: str | None, *, needed: bool) -> str:
    found = name or getattr(reasoner, "name", None) or getattr(reasoner, "__qualname__", None)
    if needed and (not isinstance(found, str) or "<lambda>" in found):
        raise ValueError("a cache distinguishes reasoners by name: pass name=")
    return str(found)


def _keys(questions: pd.DataFrame, prompt: str, key: list[str], name: str) -> list[str]:
    """Return a key of each question from reasoner, key columns and prompt, so that a changed prompt is asked again."""
    columns = [_texts(questions[column]) for column in (*key, prompt)]
    texts = (json.dumps([name, *parts], ensure_ascii=False) for parts in zip(*columns, strict=True))
    return [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest() for text in texts]


def _texts(column: pd.Series) -> list[str]:
    try:
        return column.astype(str).tolist()
    except UnicodeEncodeError:  # a lone surrogate
        return [str(cell) for cell in column]


class Waits(NamedTuple):
    """Number of retries and the waits before them."""

    retries: int
    backoff: float
    longest: float

    def seconds(self, attempt: int, after: float, key: str) -> float:
        """Return the wait before retry `attempt`: doubled each time, and spread so that retries do not coincide."""
        stream = np.array([int(key[:16], 16)], np.uint64)
        spread = 0.5 + 0.5 * float(uniforms(stream, attempt, 1)[0, 0])
        wait = self.backoff * 2.0 ** min(attempt, 100) * spread
        # a request for NaN or negative seconds does not count
        return min(self.longest, max(after, wait) if after > 0 else wait)


def _call(reasoner: Reasoner, prompt: str, key: str, waits: Waits, stop: threading.Event) -> _Outcome:
    """Call the reasoner, with retries until `stop` is set; an exception is the outcome of the question."""
    problem = ""
    for attempt in range(waits.retries + 1):
        start = time.monotonic()
        try:
            reply = _as_reply(reasoner(prompt))
        except CallFailed as error:
            return _Outcome(None, "refused", str(error))
        except (RetryLater, TimeoutError, ConnectionError) as error:
            problem = f"{type(error).__name__}: {error}" if not isinstance(error, RetryLater) else str(error)
            problem = f"{problem} (after {attempt + 1} tries)"
            after = getattr(error, "after", 0.0)
            if attempt == waits.retries or stop.wait(waits.seconds(attempt, after, key)):
                break
            continue
        except PermissionError as error:
            return _Outcome(None, _STOPS, str(error))
        except Exception as error:
            return _Outcome(None, "failed", f"{type(error).__name__}: {error}")
        if len(reply.text or "") > MOST_CHARACTERS:
            found = f"the reply has {len(reply.text or '')} characters, more than {MOST_CHARACTERS}"
            return _Outcome(None, "failed", found)
        if reply.seconds is None:
            reply = replace(reply, seconds=round(time.monotonic() - start, 3))
        return _Outcome(reply, "", None)
    return _Outcome(None, "failed", problem)


def _as_reply(found: Any) -> Reply:
    """Return what a reasoner returned as a reply."""
    if isinstance(found, Reply):
        return check_reply(found)
    if isinstance(found, (bool, np.bool_)):
        return Reply("yes" if found else "no")
    if not isinstance(found, str):
        raise TypeError(
            f"a reasoner returns text, a Reply, True or False, found {type(found).__name__}: {shown(found)}"
        )
    return Reply(str(found))


def _calls(
    answered: Callable[[int, threading.Event], _Outcome], todo: list[int], workers: int
) -> Generator[tuple[int, _Outcome]]:
    """Yield positions and outcomes as they arrive; few calls are queued at once, so that an error ends soon.

    At an error or an interrupt no call is tried again, but those under way are waited for: their replies may be paid.
    """
    pool = ThreadPoolExecutor(workers, thread_name_prefix="ask")
    stop = threading.Event()
    pending: dict[Future[_Outcome], int] = {}
    waiting = iter(todo)
    try:
        while True:
            while len(pending) < 2 * workers and (position := next(waiting, None)) is not None:
                pending[pool.submit(answered, position, stop)] = position
            if not pending:
                return
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                position = pending.pop(future)
                yield position, future.result()
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _collect(
    calls: Generator[tuple[int, _Outcome]],
    n: int,
    outcomes: list[_Outcome | None],
    give_up_after: int,
) -> None:
    """Record outcomes by position as they arrive; stop asking after `give_up_after` failures in a row."""
    failed = 0
    with closing(calls):
        for position, found in with_bar(calls, [1] * n, "questions", "question"):
            stops = found.kind == _STOPS
            outcome = found._replace(kind="failed") if stops else found
            outcomes[position] = outcome
            failed = failed + 1 if outcome.kind == "failed" else 0
            if stops or failed >= give_up_after:
                # errors are redacted where they arise
                reason = "wrong settings" if stops else f"{failed} questions in a row failed"
                warnings.warn(
                    f"{reason}: {outcome.error}. The questions left were not asked; call again with the same cache to "
                    "continue, or raise give_up_after=",
                    stacklevel=3,
                )
                return
