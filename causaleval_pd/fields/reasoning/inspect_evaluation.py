"""Questions as a task of Inspect, and its logs as tables of answers; needs the extra `llm`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike, fspath
from typing import Any

import pandas as pd

from ...contract.checks import check_whole
from .asking import (
    KEY,
    Reading,
    Reply,
    add_replies,
    check_questions,
    failed_row,
    reader,
    refuse_repeats,
    reply_row,
    valid_text,
    warn_of_unread,
)
from .yes_counts import known_truths

__all__ = ["inspect_task", "read_inspect"]

#: name of the task in logs
_NAME = "causal_reasoning"

#: seconds of one request, after which Inspect tries again
_LONGEST_REQUEST = 300

#: tries of a request
_RETRIES = 5


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
    samples = [
        Sample(id=sample, input=text, target="yes" if truth else "no", metadata={"cluster": cluster})
        for sample, text, truth, cluster in zip(
            _ids(questions, keys),
            map(valid_text, questions["prompt"]),
            known_truths(questions),
            _ids(questions, clusters or keys),
            strict=True,
        )
    ]
    return Task(
        dataset=MemoryDataset(samples, name=_NAME),
        solver=generate(),
        scorer=_scorer(reader(how)),
        epochs=check_whole(epochs, "epochs", 1),
        config=GenerateConfig(**{"attempt_timeout": _LONGEST_REQUEST, "max_retries": _RETRIES} | config),
        fail_on_error=False,
        name=_NAME,
    )


def _ids(questions: pd.DataFrame, keys: list[str]) -> list[str]:
    columns = [questions[name].astype(object).tolist() for name in keys]
    return [
        json.dumps([valid_text(str(part)) for part in parts], ensure_ascii=False)
        for parts in zip(*columns, strict=True)
    ]


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
