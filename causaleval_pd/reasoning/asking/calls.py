"""Calls of a reasoner: several at once, with retries and a cache of replies."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...contract.checks import check_type, check_whole, nearest, shown
from ...execution.random_streams import uniforms
from .answers import parse_answers

__all__ = ["CallFailed", "RetryLater", "ask"]

Reasoner = Callable[[str], Any]

_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL)"

#: seconds between writes of the cache to disk
_COMMIT_EVERY = 1.0


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
    """A call that failed and is not tried again; the column `error` holds its message.

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
    reply: str | None
    error: str | None


def ask(
    questions: pd.DataFrame,
    reasoner: Reasoner,
    *,
    prompt: str = "prompt",
    key: Sequence[str] = ("task", "sample", "replicate", "question"),
    name: str | None = None,
    cache: str | PathLike[str] | None = None,
    workers: int = 8,
    retries: int = 5,
    backoff: float = 1.0,
    longest_wait: float = 60.0,
    give_up_after: int = 20,
    progress: bool = False,
) -> pd.DataFrame:
    """Ask a reasoner every question and parse its replies.

    Parameters
    ----------
    questions : DataFrame
        A row a question, with its prompt and the key columns.
    reasoner : callable
        Function from the prompt to the reply (text, or True and False), such as an `Endpoint`. It is called from
        several threads. `TimeoutError`, `ConnectionError` and `RetryLater` are tried again; `CallFailed` is recorded;
        any other exception ends the call, and the cache keeps the replies so far.
    prompt : str
        Column of prompts.
    key : sequence of str
        Columns that identify a question.
    name : str, optional
        Name of the reasoner in the cache; default its `name`, or that of the function. Include everything that changes
        its replies: the model, its settings.
    cache : path, optional
        SQLite file of replies. Questions with a reply there are not asked again, so that an interrupted call continues
        where it stopped; failed questions are.
    workers : int
        Number of calls at once.
    retries : int
        Number of further tries of a failed call.
    backoff, longest_wait : float
        Seconds before the first retry, doubled each time up to the longest; at least what the reasoner requests.
    give_up_after : int
        Number of consecutive failed questions that ends the call.
    progress : bool
        Show a progress bar.

    Returns
    -------
    DataFrame
        The questions with reply (text), error (why a reply is missing) and answer (yes, no or missing, by
        `parse_answers`).

    Raises
    ------
    ValueError
        If columns are missing, keys repeat, the cache is not such a file, or too many calls fail in a row.

    Examples
    --------
    >>> from causaleval_pd.reasoning import ask, make_tasks
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=2, rng=1)
    >>> questions = tasks.questionnaire().assign(prompt=lambda q: tasks.prompts(q))
    >>> answered = ask(questions, lambda prompt: "Yes, certainly.")
    >>> answered["answer"].all()
    np.True_
    """
    check_type(questions, pd.DataFrame, "a DataFrame with a row a question", "questions")
    if not callable(reasoner):
        raise TypeError(f"reasoner must be a function from a prompt to a reply, found {shown(reasoner)}")
    key = [key] if isinstance(key, str) else key
    check_type(key, Iterable, "a list of column names", "key")
    if not list(key):
        raise ValueError("key names no column; name the columns that identify a question")
    _check(questions, [prompt, *key], list(key))
    for label, value, least in (("workers", workers, 1), ("retries", retries, 0), ("give_up_after", give_up_after, 1)):
        check_whole(value, label, least)
    keys = _keys(questions, prompt, list(key), _name(reasoner, name, needed=cache is not None))
    outcomes: list[_Outcome | None] = [None] * len(questions)
    waits = Waits(retries, backoff, longest_wait)
    with closing(_open(cache)) as store:
        for position, found in _stored(store, keys):
            outcomes[position] = _Outcome(found, None)
        todo = [i for i, outcome in enumerate(outcomes) if outcome is None]
        prompts = questions[prompt].tolist()
        calls = _calls(reasoner, [(i, prompts[i], keys[i]) for i in todo], waits, workers)
        _collect(calls, len(todo), outcomes, keys, store, give_up_after, progress)
    result = questions.copy(deep=False)
    result["reply"] = pd.array([outcome.reply if outcome else None for outcome in outcomes], dtype="str")
    result["error"] = pd.array([outcome.error if outcome else None for outcome in outcomes], dtype="str")
    result["answer"] = parse_answers(result["reply"])
    return result


def _check(questions: pd.DataFrame, needed: list[str], key: list[str]) -> None:
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
    columns = [questions[column].astype(str).tolist() for column in (*key, prompt)]
    texts = (json.dumps([name, *parts], ensure_ascii=False) for parts in zip(*columns, strict=True))
    return [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest() for text in texts]


def _open(cache: str | PathLike[str] | None) -> sqlite3.Connection:
    """Open the cache, or one in memory."""
    store = sqlite3.connect(":memory:" if cache is None else Path(cache), timeout=30.0)
    try:
        store.execute(_TABLE)
        store.execute("SELECT key, reply FROM replies LIMIT 1").fetchall()
    except sqlite3.DatabaseError as error:
        store.close()
        raise ValueError(f"{cache} is not a cache of replies ({error}); name a new file") from None
    return store


def _stored(store: sqlite3.Connection, keys: list[str]) -> Iterator[tuple[int, str]]:
    """Yield the positions of questions with a cached reply, and the replies."""
    places = {key: i for i, key in enumerate(keys)}
    names = list(places)
    for start in range(0, len(names), 500):
        part = names[start : start + 500]
        marks = ",".join("?" * len(part))
        for key, reply in store.execute(f"SELECT key, reply FROM replies WHERE key IN ({marks})", part):
            yield places[key], str(reply)


class Waits(NamedTuple):
    """Number of retries and the waits before them."""

    retries: int
    backoff: float
    longest: float

    def seconds(self, attempt: int, after: float, key: str) -> float:
        """Return the wait before retry `attempt`: doubled each time, and spread so that retries do not coincide."""
        stream = np.array([int(key[:16], 16)], np.uint64)
        spread = 0.5 + 0.5 * float(uniforms(stream, attempt, 1)[0, 0])
        return min(self.longest, max(after, self.backoff * 2.0**attempt * spread))


def _call(reasoner: Reasoner, prompt: str, key: str, waits: Waits) -> _Outcome:
    for attempt in range(waits.retries + 1):
        try:
            reply = reasoner(prompt)
        except CallFailed as error:
            return _Outcome(None, str(error))
        except (RetryLater, TimeoutError, ConnectionError) as error:
            problem = f"{type(error).__name__}: {error}" if not isinstance(error, RetryLater) else str(error)
            if attempt == waits.retries:
                return _Outcome(None, f"{problem} (after {attempt + 1} tries)")
            time.sleep(waits.seconds(attempt, getattr(error, "after", 0.0), key))
            continue
        if isinstance(reply, (bool, np.bool_)):
            return _Outcome("yes" if reply else "no", None)
        if isinstance(reply, str):
            return _Outcome(reply, None)
        raise TypeError(f"a reasoner returns text, True or False, found {type(reply).__name__}: {reply!r}")
    raise AssertionError("unreachable")  # pragma: no cover


def _calls(
    reasoner: Reasoner, todo: list[tuple[int, str, str]], waits: Waits, workers: int
) -> Generator[tuple[int, _Outcome]]:
    """Yield outcomes as they arrive; few calls are queued at once, so that an error or an interrupt ends soon.

    `todo` holds position, prompt and key of each question.
    """
    pool = ThreadPoolExecutor(workers, thread_name_prefix="ask")
    pending: dict[Future[_Outcome], int] = {}
    waiting = iter(todo)
    try:
        while True:
            while len(pending) < 2 * workers and (item := next(waiting, None)) is not None:
                position, prompt, key = item
                pending[pool.submit(_call, reasoner, prompt, key, waits)] = position
            if not pending:
                return
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                position = pending.pop(future)
                yield position, future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _collect(
    calls: Generator[tuple[int, _Outcome]],
    n: int,
    outcomes: list[_Outcome | None],
    keys: list[str],
    store: sqlite3.Connection,
    give_up_after: int,
    progress: bool,
) -> None:
    """Record outcomes and cache replies as they arrive, until `give_up_after` calls in a row have failed.

    `outcomes` are filled by position, and `keys` are those of the cache.
    """
    from tqdm.auto import tqdm

    failed, written = 0, time.monotonic()
    try:
        with closing(calls), tqdm(total=n, desc="questions", unit="question", disable=not progress) as bar:
            for position, outcome in calls:
                outcomes[position] = outcome
                bar.update()
                if outcome.reply is None:
                    failed += 1
                    if failed >= give_up_after:
                        raise ValueError(
                            f"{failed} questions in a row got no reply; the last: {outcome.error}. The cache, if any, "
                            "keeps the replies so far; call again to continue, or raise give_up_after="
                        )
                    continue
                failed = 0
                store.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (keys[position], outcome.reply))
                if time.monotonic() - written > _COMMIT_EVERY:
                    store.commit()
                    written = time.monotonic()
    finally:
        store.commit()
