"""Questions whose answer needs abduction: noise is hidden, and an observed cause and effect are evidence of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from ...contract.checks import check_type
from ...execution.random_streams import RNGLike, resolve_seed
from .task import Task
from .task_tables import instruction_text
from .tasks import Tasks

__all__ = ["hidden_noise_questions"]

#: thresholds in percent, and how far a probability keeps from them, so that rounding decides nothing
_THRESHOLDS = tuple(range(5, 100, 5))
_MARGIN = 2.5

_COLUMNS = [
    "task", "sample", "replicate", "cause", "effect", "world", "threshold", "probability", "without_evidence", "truth",
    "question", "text",
]  # fmt: skip


class _Kind(NamedTuple):
    """Kind of a question: what is observed, what is supposed, and the probability asked for."""

    #: whether cause and effect are observed to be true
    observed: bool
    #: column of the probability given the evidence, and of the one without it, in `World.truths`
    given: str
    without: str

    def probability(self, row: Any) -> float:
        """Return P(effect is true after the cause is set | evidence)."""
        return float(1 - row.pn if self.given == "pn" else row.ps)


_KINDS = {"pn": _Kind(True, "pn", "p_do0"), "ps": _Kind(False, "ps", "p_do1")}


def hidden_noise_questions(
    tasks: Tasks,
    *,
    pairs: Literal["cut", "all"] = "all",
    instruction: str | None = "last_line",
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Ask counterfactual questions about worlds of which only the rules and the rates of noise are told.

    The values of a cause and its effect are observed, the cause is set to its other value, and the question is whether
    the probability of the effect then exceeds a threshold. What was observed is evidence of the hidden noise: the
    answer needs abduction: it follows from the probability of necessity (PN) or of sufficiency (PS), which are exact.

    Parameters
    ----------
    tasks : Tasks
        Tasks of any theme, made by `make_tasks`; their samples do not matter.
    pairs : {"cut", "all"}
        Pairs (cause, effect) of the questions: of cut nodes, or every node with each of its descendants.
    instruction : str, optional
        As in `Tasks.prompts`.
    rng : int, Generator or None
        Seed of the thresholds.

    Returns
    -------
    DataFrame
        task, sample (number of the threshold), replicate, cause, effect, world ("pn": both observed true; "ps": both
        observed false), threshold (percent), probability (exact, of the effect after the cause is set, given the
        evidence: 1 - PN, or PS), without_evidence (the answer if what was observed is ignored), truth, question (key),
        text, prompt. Where the probability with and without the evidence differ enough, a threshold lies between them;
        another lies on the other side, so that neither answer is the usual one.

    Raises
    ------
    ValueError
        If the instruction is unknown.

    References
    ----------
    .. [1] Pearl, J. (1999). Probabilities of causation: three counterfactual interpretations and their identification.
       doi:10.1023/A:1005233831499

    Examples
    --------
    >>> from causaleval_pd.reasoning import hidden_noise_questions, make_tasks
    >>> tasks = make_tasks("candy_party", [[2]], n_samples=1, rng=1)
    >>> asked = hidden_noise_questions(tasks, rng=1)
    >>> asked[["world", "threshold", "truth"]].values.tolist()
    [['pn', 20, True], ['pn', 75, False], ['ps', 45, True]]
    >>> asked["text"][0].split("? ")[0][-58:]
    'Is the probability that Piri sings then greater than 20 %?'
    """
    check_type(tasks, Tasks, "the Tasks that make_tasks returns", "tasks")
    last = instruction_text(instruction)
    seed = resolve_seed(rng)
    rows = [row for task in tasks.tasks for row in _task_rows(task, pairs, seed)]
    table = pd.DataFrame(rows, columns=_COLUMNS)
    words = ["cause", "effect", "world", "question", "text"]
    table = table.astype(dict.fromkeys(words, "str") | {"truth": "boolean", "without_evidence": "boolean"})
    told = {task.number: _told(task) for task in tasks.tasks}
    prompts = [f"{told[task]}\n\n{text}{last}" for task, text in zip(table["task"], table["text"], strict=True)]
    return table.assign(prompt=pd.array(prompts, dtype="str"))


def _told(task: Task) -> str:
    """Return the text of a world whose noise is hidden: its rules, and the probability of each condition."""
    theme, world = task.theme, task.world
    chances = [
        f"{own.text}: {100 * world.noise[node]:.10g} %" for node, own in zip(world.nodes, task.conditions, strict=False)
    ]
    hidden = (
        "Which of the following hold is not known. Each holds with the probability given, independently of all others:"
    )
    return f"{theme.tell_world(world, task.conditions)}\n\n{hidden} {'; '.join(chances)}."


def _task_rows(task: Task, pairs: Literal["cut", "all"], seed: int) -> Iterator[tuple[Any, ...]]:
    theme = task.theme
    row: Any
    for place, row in enumerate(task.world.truths(pairs).itertuples()):
        for name, kind in _KINDS.items():
            probability, without = kind.probability(row), float(getattr(row, kind.without))
            if np.isnan(probability):  # what would be observed cannot happen
                continue
            generator = np.random.default_rng([seed, task.number, place, kind.observed])
            for sample, threshold in enumerate(_thresholds(100 * probability, 100 * without, generator)):
                known = f"known to be {'true' if kind.observed else 'false'}"
                text = (
                    f"These statements are {known}: {theme.say(row.cause)}; {theme.say(row.effect)}. All conditions "
                    f"stay as they are, known or not. {theme.setting(row.cause, not kind.observed)} Is the "
                    f"probability that {theme.say(row.effect)} then greater than {threshold} %?"
                )
                key = f"{task.number}/{row.cause}>{row.effect}/{name}/{threshold}"
                ignoring, truth = 100 * without > threshold, 100 * probability > threshold
                yield (
                    task.number, sample, 0, row.cause, row.effect, name, threshold, probability, ignoring, truth, key,
                    text,
                )  # fmt: skip


def _thresholds(probability: float, without: float, generator: np.random.Generator) -> list[int]:
    """Draw a threshold below the probability and one above it, where possible between it and that without evidence."""
    found = []
    for below in (True, False):
        side = [t for t in _THRESHOLDS if (probability - t if below else t - probability) >= _MARGIN]
        between = [t for t in side if min(abs(without - t), _MARGIN) >= _MARGIN and (t > without) == below]
        if between or side:
            found.append(int(generator.choice(between or side)))
    return found
