"""Writer of the published layout: CSV tables that repeat each context in every row."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...contract.checks import check_type
from .task import Task
from .tasks import CHUNK, Tasks

__all__ = ["write_published"]

_FILES = ("raw.csv", "factual.csv", "counterfactual.csv")

#: (column of the raw table, world)
_QUERIES = (
    ("Factual queries", "fact"),
    ("Interventional queries (cause = True)", "do1"),
    ("Interventional queries (cause = False)", "do0"),
)


def write_published(tasks: Tasks, path: str | PathLike[str]) -> Path:
    """Write tasks in the layout of the published data sets: raw.csv, factual.csv and counterfactual.csv.

    Programs made for the published tables can read them, and so does `read_published`. Rows are made in parts, so that
    memory does not grow with their number; each repeats its context, so that the files are large.

    Parameters
    ----------
    tasks : Tasks
        Tasks made by `make_tasks`.
    path : path
        Folder to create, or an empty one.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    FileExistsError
        If the folder holds one of the files.
    ValueError
        If a world has no single root and leaf, which the layout names.

    References
    ----------
    .. [1] Maasch et al. (2025), doi:10.48550/arXiv.2503.04556

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from causaleval_pd.reasoning import make_tasks, read_published, write_published
    >>> tasks = make_tasks("candy_party", [[3, 3]], n_samples=4, rng=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = write_published(tasks, pathlib.Path(folder) / "candy")
    ...     tables = read_published(*files.glob("*.csv"))
    >>> tables.world(0) == tasks.world(0)
    True
    """
    check_type(tasks, Tasks, "the Tasks that make_tasks returns", "tasks")
    chains = {task.number: task.world.cut_nodes for task in tasks.tasks}
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    if there := [name for name in _FILES if (folder / name).exists()]:
        raise FileExistsError(f"{folder} holds {there[0]}; give another folder")
    header = True
    for task in tasks.tasks:
        for rows in _parts(task, tasks.n_samples, tasks.replicates):
            tables = (_raw(task, rows, chains[task.number]), _factual(rows), _counterfactual(rows))
            for name, table in zip(_FILES, tables, strict=True):
                table.to_csv(folder / name, mode="w" if header else "a", header=header, index=False)
            header = False
    return folder


class _Rows:
    """Some replicates of the samples of a task, with the text and the true answers of every question."""

    def __init__(self, task: Task, start: int, stop: int, replicates: int) -> None:
        contexts = task.contexts(start, stop, replicates).to_pandas()
        first, last = int(contexts["sample"].min()), int(contexts["sample"].max())
        place = contexts["sample"].to_numpy() - first
        self.told = task.theme.tell_world(task.world, task.conditions)
        self.samples = contexts["text"].tolist()
        self.questions = task.questions
        self.truth = task.truth_bits(first, last + 1)[place]
        noise = task.world.sample(last + 1 - first, task.seed, start=first)
        self.noise, self.values = noise.iloc[place], task.world.values(noise).iloc[place]
        self.keys = pd.DataFrame(
            {
                "Task ID": [f"{task.number}.{s}.{r}" for s, r in contexts[["sample", "replicate"]].to_numpy()],
                "Context ID": task.number,
                "Sample ID": contexts["sample"].to_numpy(),
                "Replicate ID": contexts["replicate"].to_numpy(),
            }
        )
        self.keys["Nodes per BCC"] = str([len(block) for block in task.world.components])
        self.contexts = [f"{self.told} {text}" for text in self.samples]

    def repeated(self, n: int) -> pd.DataFrame:
        """Return keys and context of each replicate n times in a row."""
        return (
            self.keys.assign(Context=self.contexts).loc[np.repeat(np.arange(len(self.keys)), n)].reset_index(drop=True)
        )


def _parts(task: Task, n_samples: int, replicates: int) -> Iterator[_Rows]:
    for start in range(0, n_samples * replicates, CHUNK):
        yield _Rows(task, start, min(start + CHUNK, n_samples * replicates), replicates)


def _factual(rows: _Rows) -> pd.DataFrame:
    asked = rows.questions[rows.questions["world"] == "fact"]
    table = rows.repeated(len(asked))
    for name, column in (("Effect", "effect"), ("Question", "text")):
        table[name] = np.tile(asked[column].to_numpy(object), len(rows.keys))
    return table.assign(**{"True": rows.truth[:, asked.index].ravel()})


def _counterfactual(rows: _Rows) -> pd.DataFrame:
    arms = {value: rows.questions[rows.questions["world"] == f"do{value:d}"] for value in (True, False)}
    table = rows.repeated(len(arms[True]))
    for name in ("cause", "effect"):
        table[name.capitalize()] = np.tile(arms[True][name].to_numpy(object), len(rows.keys))
    pairs = zip(table["Cause"], table["Effect"], strict=True)
    table.insert(5, "Cause-effect pair", [str(pair) for pair in pairs])
    for value, asked in arms.items():
        table[f"Question (cause = {value})"] = np.tile(asked["text"].to_numpy(object), len(rows.keys))
        table[f"True (cause = {value})"] = rows.truth[:, asked.index].ravel()
    return table


def _raw(task: Task, rows: _Rows, chain: tuple[str, ...]) -> pd.DataFrame:
    world = task.world
    matrix = [[int((a, b) in world.edges) for b in world.nodes] for a in world.nodes]
    tree = [[int(i < j) for j in range(len(chain))] for i in range(len(chain))]
    local = [(a, b) for i, a in enumerate(chain) for b in chain[i + 1 :] if (a, b) != (chain[0], chain[-1])]
    table = rows.keys.assign(
        **{
            "DAG adjacency matrix": str(matrix),
            "DAG nodes": str(list(world.nodes)),
            "CCT adjacency matrix": str(tree),
            "CCT nodes": str(list(chain)),
            "Exogenous variables": str([f"U_{node}" for node in world.nodes]),
            "Bernoulli parameters": str([world.noise[node] for node in world.nodes]),
            "Global quantity": str((chain[0], chain[-1])),
            "Local quantities": str(local),
            "Causal context": rows.told,
            "Sample context": rows.samples,
        }
    )
    exogenous = [dict(zip(world.nodes, map(bool, bits), strict=True)) for bits in rows.noise.to_numpy()]
    fact = rows.values[list(world.nodes)].to_numpy()
    for column, name in _QUERIES:
        asked = rows.questions[rows.questions["world"] == name]
        cells = []
        for i in range(len(rows.keys)):
            endogenous = dict(zip(world.nodes, map(bool, fact[i]), strict=True))
            cells.append(str(_queries(asked, name, rows.truth[i], endogenous, exogenous[i])))
        table[column] = cells
    return table


def _queries(
    asked: pd.DataFrame, world: str, truth: Any, endogenous: dict[str, bool], exogenous: dict[str, bool]
) -> dict[Any, dict[str, Any]]:
    """Return the nested map of one cell; the values of all nodes stand with factual queries."""
    found: dict[Any, dict[str, Any]] = {}
    for place, cause, effect, text in zip(asked.index, asked["cause"], asked["effect"], asked["text"], strict=True):
        query: dict[str, Any] = {"Prompt": text}
        if world == "fact":
            query |= {"True endogenous": endogenous, "True exogenous": exogenous}
        found[effect if world == "fact" else (cause, effect)] = query | {"True response": bool(truth[place])}
    return found
