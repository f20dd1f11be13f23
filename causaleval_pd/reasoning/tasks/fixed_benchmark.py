"""A fixed benchmark by version: the same questions, byte by byte, on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pandas as pd

from ...contract.checks import check_known
from .built_in_themes import THEMES
from .hidden_noise import hidden_noise_questions
from .task import Task
from .tasks import Tasks, make_tasks

__all__ = ["BENCHMARKS", "Benchmark", "benchmark"]

#: versions, and the SHA-256 of each one's keys, prompts and true answers
BENCHMARKS = {"v1": "6ce5ab6f15d0f131ec45e70bbb525dcdc7d173a5bc5653ebb47f762e642a2406"}


@dataclass(frozen=True, eq=False)
class Benchmark:
    """Questions of a fixed version, and the tasks that they belong to.

    Parameters
    ----------
    version : str
        Its name.
    tasks : Tasks
        Worlds, for `quantities(..., worlds=benchmark.tasks)`.
    questions : DataFrame
        A row a question with its prompt and true answer, as for `ask`.

    Examples
    --------
    >>> from causaleval_pd.reasoning import benchmark
    >>> benchmark("v1").questions["world"].value_counts().to_dict()
    {'do1': 3000, 'do0': 3000, 'fact': 1750, 'pn': 353, 'ps': 351}
    """

    version: str
    tasks: Tasks
    questions: pd.DataFrame

    def __repr__(self) -> str:
        return f"Benchmark({self.version!r}, {len(self.tasks.tasks)} tasks, {len(self.questions)} questions)"


def benchmark(version: str) -> Benchmark:
    """Return a fixed, versioned benchmark: five themes, AND, OR and XOR, all rungs, hidden noise.

    Its questions never change: results on one version can be compared across machines, releases and papers. Random
    tasks (`make_tasks`) remain for questions that no model can have seen.

    Parameters
    ----------
    version : {"v1"}
        Which benchmark. "v1": for each theme two worlds of AND and OR and one with XOR, 50 samples each, asked about in
        fact and under interventions at cut nodes, and counterfactual questions with hidden noise about all pairs.

    Returns
    -------
    Benchmark
        Tasks and questions.

    Raises
    ------
    ValueError
        If the version is unknown, or this installation makes other questions.

    Examples
    --------
    >>> from causaleval_pd.reasoning import answer_scores, benchmark
    >>> questions = benchmark("v1").questions
    >>> answered = questions.assign(answer=questions["truth"])  # or ask(questions, model)
    >>> answer_scores(answered)["accuracy"].tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    check_known(version, BENCHMARKS, "version of the benchmark")
    tasks = Tasks(list(_tasks_v1()), 50, 1)
    rows = tasks.questionnaire()
    asked = rows.assign(prompt=tasks.prompts(rows))
    hidden = hidden_noise_questions(tasks, rng=3).drop(columns="text")
    questions = pd.concat([asked, hidden], ignore_index=True).astype({"threshold": "Int64"})
    if (found := content_hash(questions)) != BENCHMARKS[version]:
        raise ValueError(
            f"this installation makes other questions than benchmark {version!r} (SHA-256 {found[:12]}... in place of "
            f"{BENCHMARKS[version][:12]}...): another release of numpy or pyarrow draws other numbers"
        )
    return Benchmark(version, tasks, questions)


def _tasks_v1() -> Iterator[Task]:
    """Yield tasks of both families of functions, numbered through."""
    themes = list(THEMES)
    increasing = make_tasks(themes, [[3, 3], [3, 4, 3]], "mixed", min_pns=0.05, n_samples=1, rng=1)
    with_xor = make_tasks(themes, [[3, 3]], "cycle", "mixed", n_samples=1, min_pns=0.05, rng=2)
    for number, task in enumerate([*increasing.tasks, *with_xor.tasks]):
        yield replace(task, number=number)


def content_hash(questions: pd.DataFrame) -> str:
    """Return the SHA-256 of keys, prompts and true answers, in order."""
    digest = hashlib.sha256()
    keys = ["task", "sample", "question", "prompt", "truth"]
    for row in questions[keys].itertuples(index=False, name=None):
        digest.update(("\x1f".join(map(str, row)) + "\n").encode())
    return digest.hexdigest()
