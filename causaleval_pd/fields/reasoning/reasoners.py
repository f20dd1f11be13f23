"""Baseline reasoners to compare real ones with: perfect, random, constant, and wrong in typical ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_columns, check_known, check_number
from ...execution.random_streams import RNGLike, resolve_seed, row_keys, uniforms
from .tasks import Tasks, Worlds, cut_chains, known_noise, worlds_by_task
from .worlds import World
from .yes_counts import known_truths

__all__ = ["baselines"]

_KEYS = ["task", "sample", "replicate", "cause", "effect", "world"]


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
    worlds : Tasks, World or mapping of task to World, optional
        Needed by "adjacent_only"; "wrong_world" needs Tasks, for the noise.
    names : sequence of str, optional
        Which baselines; default all that `worlds` permits:

        - "perfect": every answer is right;
        - "noisy": right, but for independent errors with probability `error`;
        - "random": yes with probability `p_yes`, whatever the question;
        - "always_yes", "always_no": one answer to every question;
        - "majority": each question gets in every sample the answer that is true in most samples;
        - "ignores_do": what is true in fact, whatever the question supposes;
        - "parrots_do": the value that the cause is set to; right in fact;
        - "adjacent_only": right in fact and about neighbours in the cut tree, random about more distant causes;
        - "wrong_world": right for another world, with AND and OR exchanged: consistent, and invalid.
    error : float
        Share of wrong answers of "noisy".
    p_yes : float
        Share of yes of "random".
    rng : int, Generator or None
        Seed; the answer to a question does not depend on the order of rows.

    Returns
    -------
    DataFrame
        The questions once for each baseline, with model and answer.

    Raises
    ------
    ValueError
        If a name is unknown, or a baseline needs `worlds` or questions that are not there.

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks, reasoners
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=100, rng=1)
    >>> answers = reasoners.baselines(tasks.questionnaire(), tasks, names=["perfect", "parrots_do"], rng=1)
    >>> answers.groupby("model")["answer"].mean().round(2).to_dict()
    {'parrots_do': 0.55, 'perfect': 0.68}
    """
    check_columns(questions, {name: name for name in ("task", "sample", "cause", "effect", "world", "truth")})
    check_number(error, "error", "[0, 1]")
    check_number(p_yes, "p_yes", "[0, 1]")
    questions = questions.assign(truth=pd.array(known_truths(questions).astype(bool), dtype="boolean"))
    seed = resolve_seed(rng)
    asked = [questions[key] for key in ("task", "cause", "effect", "world")]
    makers: dict[str, Callable[[], Any]] = {
        "perfect": lambda: questions["truth"],
        "always_yes": lambda: np.ones(len(questions)),
        "always_no": lambda: np.zeros(len(questions)),
        "ignores_do": lambda: _ignores_do(questions),
        "parrots_do": lambda: questions["world"].map({"do1": True, "do0": False}).fillna(questions["truth"]),
        "majority": lambda: questions["truth"].astype("float64").groupby(asked, dropna=False).transform("mean") > 0.5,
        "noisy": lambda: questions["truth"].to_numpy(bool) ^ (_uniform(questions, seed, 0) < error),
        "random": lambda: _uniform(questions, seed, 1) < p_yes,
    }
    known = (*makers, "adjacent_only", "wrong_world")
    if worlds is not None:
        makers["adjacent_only"] = lambda: _adjacent_only(questions, worlds, seed)
    if isinstance(worlds, Tasks):
        makers["wrong_world"] = lambda: _wrong_world(questions, worlds)
    parts = []
    for name in makers if names is None else names:
        check_known(name, known, "baseline")
        if name not in makers:
            raise ValueError(f"the baseline {name!r} needs worlds=, the tasks that the questions come from")
        answer = pd.array(np.asarray(makers[name](), bool), dtype="boolean")
        parts.append(questions.assign(model=name, answer=answer))
    return pd.concat(parts, ignore_index=True).astype({"model": "str"})


def _uniform(questions: pd.DataFrame, seed: int, stream: int) -> NDArray[np.float64]:
    """Return one uniform number per question, seeded by its key, so that the order of rows does not matter."""
    keys = [key for key in _KEYS if key in questions.columns]
    return uniforms(row_keys(questions, keys, seed), stream, 1)[:, 0]


def _ignores_do(questions: pd.DataFrame) -> pd.Series:
    keys = ["task", "sample", "effect"]
    fact = questions.loc[questions["world"] == "fact", [*keys, "truth"]].drop_duplicates(keys)
    truths = questions[keys].reset_index(drop=True).merge(fact, how="left", on=keys)["truth"]
    if (unknown := truths.isna()).any():
        row = questions.iloc[int(unknown.to_numpy().argmax())][keys].to_dict()
        raise ValueError(f"the questions do not state what is true in fact for {row}; ask each effect in fact too")
    return truths


def _adjacent_only(questions: pd.DataFrame, worlds: Worlds, seed: int) -> NDArray[np.bool_]:
    known = worlds_by_task(worlds, questions["task"])
    chains = cut_chains(known, None, questions["task"])
    near = {(task, a, b) for task, chain in chains.items() for a, b in pairwise(chain)}
    keys = zip(questions["task"], questions["cause"], questions["effect"], strict=True)
    sure = np.array([key in near for key in keys], bool) | (questions["world"] == "fact").to_numpy(bool)
    return np.where(sure, questions["truth"].to_numpy(bool), _uniform(questions, seed, 2) < 0.5)


def _wrong_world(questions: pd.DataFrame, tasks: Tasks) -> NDArray[np.bool_]:
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
    return answers
