"""Baseline reasoners to compare real ones with: perfect, random, constant, and wrong in typical ways.

Each takes a questionnaire and returns its answers on the same index; `baselines` returns the answers of several.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_known, check_number, nearest
from ..execution.random_streams import RNGLike, resolve_seed, row_keys, uniforms
from .tasks.task_tables import TaskTables
from .tasks.tasks import Tasks
from .tasks.worlds_by_task import Worlds, cut_chains, known_noise, worlds_by_task
from .worlds.world import World

__all__ = [
    "NAMES",
    "adjacent_only",
    "always_no",
    "always_yes",
    "baselines",
    "ignores_do",
    "majority",
    "noisy",
    "parrots_do",
    "perfect",
    "random",
    "wrong_world",
]

_KEYS = ["task", "sample", "replicate", "cause", "effect", "world"]


def _series(values: Any, questions: pd.DataFrame) -> pd.Series:
    return pd.Series(np.asarray(values, bool), index=questions.index, dtype="boolean", name="answer")


def _uniform(questions: pd.DataFrame, rng: RNGLike, stream: int) -> NDArray[np.float64]:
    """Return a uniform number a question, seeded by its key, so that the order of rows does not matter."""
    keys = [key for key in _KEYS if key in questions.columns]
    return uniforms(row_keys(questions, keys, resolve_seed(rng)), stream, 1)[:, 0]


def perfect(questions: pd.DataFrame) -> pd.Series:
    """Answer every question correctly.

    Parameters
    ----------
    questions : DataFrame
        A questionnaire with true answers, one question a row.

    Returns
    -------
    Series
        Answers, on the index of the questions.

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks, reasoners
    >>> questions = make_tasks("candy_party", [[2, 2]], n_samples=20, rng=1).questionnaire()
    >>> (reasoners.perfect(questions) == questions["truth"]).mean().round(2).item()
    1.0
    """
    return _series(questions["truth"], questions)


def noisy(questions: pd.DataFrame, error: float = 0.05, rng: RNGLike = None) -> pd.Series:
    """Answer correctly, except for independent errors with probability `error`.

    Parameters
    ----------
    questions : DataFrame
        A questionnaire with true answers, one question a row.
    error : float
        Probability of an error.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    Series
        Answers, on the index of the questions.

    Raises
    ------
    ValueError
        If `error` is not a probability.

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks, reasoners
    >>> questions = make_tasks("candy_party", [[2, 2]], n_samples=20, rng=1).questionnaire()
    >>> (reasoners.noisy(questions, 0.1, rng=1) == questions["truth"]).mean().round(2).item()
    0.88
    """
    check_number(error, "error", "[0, 1]")
    wrong = _uniform(questions, rng, 0) < error
    return _series(questions["truth"].to_numpy(bool) ^ wrong, questions)


def random(questions: pd.DataFrame, p_yes: float = 0.5, rng: RNGLike = None) -> pd.Series:
    """Answer yes with probability `p_yes`, whatever the question.

    Parameters
    ----------
    questions : DataFrame
        A questionnaire with true answers, one question a row.
    p_yes : float
        Probability of yes.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    Series
        Answers, on the index of the questions.

    Raises
    ------
    ValueError
        If `p_yes` is not a probability.

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks, reasoners
    >>> questions = make_tasks("candy_party", [[2, 2]], n_samples=20, rng=1).questionnaire()
    >>> reasoners.random(questions, rng=1).mean().round(2).item()
    0.52
    """
    check_number(p_yes, "p_yes", "[0, 1]")
    return _series(_uniform(questions, rng, 1) < p_yes, questions)


def always_yes(questions: pd.DataFrame) -> pd.Series:
    """Answer yes to every question.

    Parameters
    ----------
    questions : DataFrame
        A questionnaire with true answers, one question a row.

    Returns
    -------
    Series
        Answers, on the index of the questions.

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks, reasoners
    >>> questions = make_tasks("candy_party", [[2, 2]], n_samples=20, rng=1).questionnaire()
    >>> reasoners.always_yes(questions).mean().item()
    1.0
    """
    return _series(np.ones(len(questions)), questions)


def always_no(questions: pd.DataFrame) -> pd.Series:
    """Answer no to every question.

    Parameters
    ----------
    questions : DataFrame
        A questionnaire with true answers, one question a row.

    Returns
    -------
    Series
        Answers, on the index of the questions.

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks, reasoners
    >>> questions = make_tasks("candy_party", [[2, 2]], n_samples=20, rng=1).questionnaire()
    >>> reasoners.always_no(questions).mean().item()
    0.0
    """
    return _series(np.zeros(len(questions)), questions)


def ignores_do(questions: pd.DataFrame) -> pd.Series:
    """Answer by what is true in fact, ignoring interventions.

    Parameters
    ----------
    questions : DataFrame
        A questionnaire with true answers, one question a row.

    Returns
    -------
    Series
        Answers, on the index of the questions.

    Raises
    ------
    ValueError
        If no question asks for an effect in fact.

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks, reasoners
    >>> questions = make_tasks("candy_party", [[2, 2]], n_samples=20, rng=1).questionnaire()
    >>> (reasoners.ignores_do(questions) == questions["truth"]).mean().round(2).item()
    0.84
    """
    keys = ["task", "sample", "effect"]
    fact = questions.loc[questions["world"] == "fact", [*keys, "truth"]].drop_duplicates(keys)
    found = questions[keys].reset_index(drop=True).merge(fact, how="left", on=keys)["truth"]
    if (unknown := found.isna()).any():
        row = questions.iloc[int(unknown.to_numpy().argmax())][keys].to_dict()
        raise ValueError(f"the questions do not state what is true in fact for {row}; ask each effect in fact too")
    return _series(found, questions)


def parrots_do(questions: pd.DataFrame) -> pd.Series:
    """Answer with the value that the cause is set to; correctly in fact.

    Parameters
    ----------
    questions : DataFrame
        A questionnaire with true answers, one question a row.

    Returns
    -------
    Series
        Answers, on the index of the questions.

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks, reasoners
    >>> questions = make_tasks("candy_party", [[2, 2]], n_samples=20, rng=1).questionnaire()
    >>> (reasoners.parrots_do(questions) == questions["truth"]).mean().round(2).item()
    0.79
    """
    do = questions["world"].map({"do1": True, "do0": False})
    return _series(do.where(do.notna(), questions["truth"]), questions)


def majority(questions: pd.DataFrame) -> pd.Series:
    """Answer each question in every sample by what is true in most samples.

    Parameters
    ----------
    questions : DataFrame
        A questionnaire with true answers, one question a row.

    Returns
    -------
    Series
        Answers, on the index of the questions.

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks, reasoners
    >>> questions = make_tasks("candy_party", [[2, 2]], n_samples=20, rng=1).questionnaire()
    >>> (reasoners.majority(questions) == questions["truth"]).mean().round(2).item()
    0.83
    """
    keys = ["task", "cause", "effect", "world"]
    share = questions["truth"].astype("float64").groupby([questions[k] for k in keys], dropna=False).transform("mean")
    return _series(share > 0.5, questions)


def adjacent_only(questions: pd.DataFrame, worlds: Worlds, rng: RNGLike = None) -> pd.Series:
    """Answer correctly in fact and about neighbours in the cut tree, and at random about more distant causes.

    Parameters
    ----------
    questions : DataFrame
        A questionnaire with true answers, one question a row.
    worlds : Tasks, TaskTables, World or mapping of task to World
        The worlds that the questions ask about.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    Series
        Answers, on the index of the questions.

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks, reasoners
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=20, rng=1)
    >>> questions = tasks.questionnaire()
    >>> (reasoners.adjacent_only(questions, tasks, rng=1) == questions["truth"]).mean().round(2).item()
    0.85
    """
    known = worlds_by_task(worlds, questions["task"])
    chains = cut_chains(known, None, questions["task"])
    near = {(task, a, b) for task, chain in chains.items() for a, b in pairwise(chain)}
    keys = zip(questions["task"], questions["cause"], questions["effect"], strict=True)
    sure = np.array([key in near for key in keys], bool) | (questions["world"] == "fact").to_numpy(bool)
    return _series(np.where(sure, questions["truth"].to_numpy(bool), _uniform(questions, rng, 2) < 0.5), questions)


def wrong_world(questions: pd.DataFrame, tasks: Tasks | TaskTables) -> pd.Series:
    """Answer correctly for another world: the same noise and edges, with AND and OR exchanged.

    These answers are consistent by construction, and invalid.

    Parameters
    ----------
    questions : DataFrame
        A questionnaire with true answers, one question a row.
    tasks : Tasks or TaskTables
        The tasks that the questions come from, with the noise of their samples.

    Returns
    -------
    Series
        Answers, on the index of the questions.

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks, reasoners
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=20, rng=1)
    >>> questions = tasks.questionnaire()
    >>> (reasoners.wrong_world(questions, tasks) == questions["truth"]).mean().round(2).item()
    0.62
    """
    answers = np.zeros(len(questions), bool)
    rows = questions.reset_index(drop=True)
    for number, world, noise in known_noise(tasks, rows):
        swapped = {node: {"and": "or", "or": "and", "xor": "or"}[name] for node, name in world.functions.items()}
        other = World(world.edges, swapped, world.noise)  # type: ignore[arg-type]
        samples = noise.index.to_numpy()
        for (arm, cause), part in rows[rows["task"] == number].groupby(["world", "cause"], dropna=False):
            values = other.values(noise, None if arm == "fact" else {str(cause): arm == "do1"})
            column = values.columns.get_indexer(pd.Index(part["effect"]))
            answers[part.index.to_numpy()] = values.to_numpy()[np.searchsorted(samples, part["sample"]), column]
    return _series(answers, questions)


#: baselines that need only the questions, by name
_PLAIN: Mapping[str, Callable[[pd.DataFrame], pd.Series]] = {
    "perfect": perfect,
    "always_yes": always_yes,
    "always_no": always_no,
    "ignores_do": ignores_do,
    "parrots_do": parrots_do,
    "majority": majority,
}
NAMES = (*_PLAIN, "noisy", "random", "adjacent_only", "wrong_world")


def baselines(
    questions: pd.DataFrame,
    worlds: Worlds | None = None,
    *,
    names: Sequence[str] | None = None,
    error: float = 0.05,
    p_yes: float = 0.5,
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Return the answers of baseline reasoners as one table with a column `model`.

    Parameters
    ----------
    questions : DataFrame
        A questionnaire with true answers.
    worlds : Tasks, TaskTables, World or mapping of task to World, optional
        Needed by "adjacent_only"; "wrong_world" needs Tasks or TaskTables, for the noise.
    names : sequence of str, optional
        Which baselines: "perfect", "noisy", "random", "always_yes", "always_no", "ignores_do", "parrots_do",
        "majority", "adjacent_only", "wrong_world"; default all that `worlds` permits.
    error : float
        Share of wrong answers of "noisy".
    p_yes : float
        Share of yes of "random".
    rng : int, Generator or None
        Seed.

    Returns
    -------
    DataFrame
        The questions once for each baseline, with model and answer.

    Raises
    ------
    ValueError
        If a name is unknown, or a baseline needs `worlds`.

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks, reasoners
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=100, rng=1)
    >>> answers = reasoners.baselines(tasks.questionnaire(), tasks, names=["perfect", "parrots_do"], rng=1)
    >>> answers.groupby("model")["answer"].mean().round(2).to_dict()
    {'parrots_do': 0.55, 'perfect': 0.68}
    """
    for column in ("task", "sample", "cause", "effect", "world", "truth"):
        if column not in questions.columns:
            raise ValueError(f"questions has no column {column!r}; {nearest(column, questions.columns)}")
    has_noise = isinstance(worlds, (Tasks, TaskTables))
    able = [n for n in NAMES if (n != "adjacent_only" or worlds is not None) and (n != "wrong_world" or has_noise)]
    chosen = able if names is None else list(names)
    seed = resolve_seed(rng)
    parts = []
    for name in chosen:
        check_known(name, NAMES, "baseline")
        if name not in able:
            raise ValueError(f"the baseline {name!r} needs worlds=, the tasks that the questions come from")
        if name in _PLAIN:
            answer = _PLAIN[name](questions)
        elif name == "noisy":
            answer = noisy(questions, error, seed)
        elif name == "random":
            answer = random(questions, p_yes, seed)
        elif name == "adjacent_only" and worlds is not None:
            answer = adjacent_only(questions, worlds, seed)
        else:
            answer = wrong_world(questions, worlds)  # type: ignore[arg-type]
        parts.append(questions.assign(model=name, answer=answer))
    table = pd.concat(parts, ignore_index=True)
    return table.astype({"model": "str"})
