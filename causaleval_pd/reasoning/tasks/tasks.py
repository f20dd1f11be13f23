"""Tasks: worlds described in words, with samples, questions and true answers as tables made on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from ...contract.checks import check_known, check_whole
from ...execution.random_streams import RNGLike, resolve_seed
from ..worlds.components import Kind, read_sizes
from ..worlds.random_worlds import NOISE, Functions, sample_world
from ..worlds.world import World
from .built_in_themes import get_theme
from .task import Task
from .task_tables import TaskTables, join_prompts, join_questionnaire
from .theme import Theme

__all__ = ["Tasks", "make_tasks"]

#: rows of a chunk; affects memory, not results
CHUNK = 4096


@dataclass(frozen=True)
class Chunk:
    """Rows start .. stop - 1 of a table of one task, made on demand."""

    make: Callable[[int, int], pa.Table]
    start: int
    stop: int

    def table(self) -> pa.Table:
        """Make the rows."""
        return self.make(self.start, self.stop)


class Tasks:
    """Tasks of one call, from which all tables are made on demand; `make_tasks` draws them.

    Attributes
    ----------
    tasks : tuple of Task
        World, theme, conditions and seed of each task.
    n_samples, replicates : int
        Samples a task, and texts a sample: replicates share noise and differ in irrelevant details.

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks
    >>> tasks = make_tasks("candy_party", [[3, 3]], n_samples=2, rng=1)
    >>> tasks.questionnaire()[["sample", "cause", "effect", "world"]].shape
    (16, 4)
    """

    def __init__(self, tasks: Sequence[Task], n_samples: int, replicates: int) -> None:
        self.tasks = tuple(tasks)
        self.n_samples = n_samples
        self.replicates = replicates

    def __repr__(self) -> str:
        return f"Tasks({len(self.tasks)} tasks, {self.n_samples} samples, {self.replicates} replicates)"

    @property
    def worlds(self) -> pd.DataFrame:
        """A row a task: task, theme, n_nodes, n_edges, text."""
        rows = [
            (t.number, t.theme.name, len(t.world.nodes), len(t.world.edges), t.theme.tell_world(t.world, t.conditions))
            for t in self.tasks
        ]
        table = pd.DataFrame(rows, columns=["task", "theme", "n_nodes", "n_edges", "text"])
        return table.astype({"theme": "str", "text": "str"})

    @property
    def nodes(self) -> pd.DataFrame:
        """A row a task and node, in topological order: task, node, function, noise, is_asked, condition."""
        rows = []
        for t in self.tasks:
            asked = {node for pair in t.pairs for node in pair}
            rows += [
                (t.number, node, t.world.functions.get(node), t.world.noise[node], node in asked, own.text)
                for node, own in zip(t.world.nodes, t.conditions, strict=False)
            ]
        table = pd.DataFrame(rows, columns=["task", "node", "function", "noise", "is_asked", "condition"])
        return table.astype({"node": "str", "function": "str", "condition": "str"})

    @property
    def edges(self) -> pd.DataFrame:
        """A row a task and edge: task, parent, child."""
        rows = [(t.number, parent, child) for t in self.tasks for parent, child in t.world.edges]
        return pd.DataFrame(rows, columns=["task", "parent", "child"]).astype({"parent": "str", "child": "str"})

    @property
    def quantities(self) -> pd.DataFrame:
        """Exact quantities, a row a task and pair: task and the columns of `World.truths`."""
        tables = [t.world.truths(t.pairs).assign(task=t.number) for t in self.tasks]
        table = pd.concat(tables, ignore_index=True)
        return table[["task", *table.columns.drop("task")]]

    @property
    def questions(self) -> pd.DataFrame:
        """A row a task and question: task, question, cause (missing in fact), effect, world, text."""
        return pd.concat([t.questions for t in self.tasks], ignore_index=True)

    @property
    def contexts(self) -> pd.DataFrame:
        """A row a task, sample and replicate: task, sample, replicate, noise (0 or 1 by node), text."""
        return pa.concat_tables([chunk.table() for chunk in self.context_chunks()]).to_pandas()

    @cached_property
    def tables(self) -> TaskTables:
        """All tables at once, kept."""
        names = ("worlds", "nodes", "edges", "quantities", "questions", "contexts", "truths")
        return TaskTables(**{name: getattr(self, name) for name in names})

    @property
    def truths(self) -> pd.DataFrame:
        """A row a task, sample and question: task, sample, question, truth."""
        return pa.concat_tables([chunk.table() for chunk in self.truth_chunks()]).to_pandas()

    def world(self, task: int) -> World:
        """Return the world of a task."""
        return self._task(task).world

    def _task(self, task: int) -> Task:
        known = {t.number: t for t in self.tasks}
        check_known(task, known, "task")
        return known[task]

    def context_chunks(self) -> list[Chunk]:
        """Split `contexts` into chunks, for tables larger than memory."""
        rows = self.n_samples * self.replicates
        return [
            Chunk(partial(t.contexts, replicates=self.replicates), *part) for t in self.tasks for part in _cut(rows)
        ]

    def truth_chunks(self) -> list[Chunk]:
        """Split `truths` into chunks."""
        return [Chunk(t.truths, *part) for t in self.tasks for part in _cut(self.n_samples)]

    def questionnaire(self) -> pd.DataFrame:
        """Return every question about every context, with its true answer.

        Returns
        -------
        DataFrame
            Columns task, sample, replicate, cause (missing in fact), effect, world ("fact", "do1", "do0"), truth
            (boolean), question (key of `questions`); an answered table also has `answer`.
        """
        return join_questionnaire(self.truths, self.questions, self._context_keys())

    def _context_keys(self) -> pd.DataFrame:
        shape = (len(self.tasks), self.n_samples, self.replicates)
        task, sample, replicate = (part.ravel() for part in np.indices(shape))
        return pd.DataFrame({"task": task, "sample": sample, "replicate": replicate})

    def prompts(self, rows: pd.DataFrame | None = None, instruction: str | None = "last_line") -> pd.Series:
        """Return the prompts for rows of the questionnaire.

        Parameters
        ----------
        rows : DataFrame, optional
            Rows with task, sample, replicate, question; all rows of `questionnaire` if not given.
        instruction : str, optional
            "last_line", "json", "chain_of_thought", "chain_of_thought_json", "brief" (as published, "begin with yes or
            no"; read its replies by a function, `how=`), a sentence of your own, or None for no instruction.

        Returns
        -------
        Series
            Text of the world, the context, the question and the instruction, on the index of the rows.

        Raises
        ------
        ValueError
            If a row names an unknown task, sample or question, or the instruction is unknown.
        """
        rows = self.questionnaire() if rows is None else rows
        contexts = self._context_texts(rows[["task", "sample", "replicate"]].drop_duplicates())
        return join_prompts(rows, self.worlds, contexts, self.questions, instruction)

    def _context_texts(self, wanted: pd.DataFrame) -> pd.DataFrame:
        """Make only the chunks of the wanted contexts, and return their texts."""
        parts = []
        known = {t.number: t for t in self.tasks}
        place = wanted["sample"] * self.replicates + wanted["replicate"]
        rows = self.n_samples * self.replicates
        inside = place.between(0, rows - 1) & wanted["replicate"].between(0, self.replicates - 1)
        chunks = pd.DataFrame({"task": wanted["task"], "start": place // CHUNK * CHUNK})[inside].drop_duplicates()
        for task, start in chunks.itertuples(index=False, name=None):
            if task in known:
                made = known[task].contexts(start, min(start + CHUNK, rows), self.replicates)
                parts.append(made.select(["task", "sample", "replicate", "text"]))
        if not parts:
            return pd.DataFrame({"task": [], "sample": [], "replicate": [], "text": []}).astype({"text": "str"})
        return wanted.merge(pa.concat_tables(parts).to_pandas())


def make_tasks(
    theme: str | Theme | Sequence[str | Theme],
    sizes: Sequence[Sequence[int]] | None = None,
    kind: Kind = "cycle",
    functions: Functions = "random",
    *,
    worlds: Sequence[World] | None = None,
    n_tasks: int = 1,
    n_samples: int = 1000,
    replicates: int = 1,
    noise: float | tuple[float, float] = NOISE,
    min_pns: float = 0.0,
    pairs: Literal["cut", "all"] = "cut",
    detail: bool = True,
    rng: RNGLike = None,
) -> Tasks:
    """Draw tasks: worlds, the meaning of their noise, samples, questions.

    Parameters
    ----------
    theme : str, Theme or sequence of these
        "candy_party", "flower_garden", "flu_vaccine", "clinical_notes", "cell_biology", or your own; each of several
        themes has its own worlds.
    sizes : sequence of sequences of int
        Sizes of the components, one sequence a kind of graph: `[[4, 4], [6, 4, 6]]`.
    kind, functions, noise, min_pns
        As in `sample_world`.
    worlds : sequence of World, optional
        Worlds to use instead of random ones; texts use the names of their nodes.
    n_tasks : int
        Tasks for each theme and graph.
    n_samples : int
        Samples a task.
    replicates : int
        Texts a sample, which share its noise.
    pairs : {"cut", "all"}
        Pairs of the questions.
    detail : bool
        Whether texts include irrelevant details.
    rng : int, Generator or None
        Seed: one integer gives the same bytes in every process.

    Returns
    -------
    Tasks
        The tasks, which make their tables on demand.

    Raises
    ------
    ValueError
        If sizes and worlds are both given or both missing, or a number is out of range.

    References
    ----------
    .. [1] Maasch et al. (2025), doi:10.48550/arXiv.2503.04556

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks
    >>> tasks = make_tasks(["flu_vaccine", "flower_garden"], [[3, 3], [4, 4]], n_tasks=2, n_samples=10, rng=7)
    >>> tasks
    Tasks(8 tasks, 10 samples, 1 replicates)
    >>> bool(tasks.quantities["pns"].between(0, 1).all())
    True
    """
    if (sizes is None) == (worlds is None):
        raise ValueError("give either sizes, to draw worlds, or worlds of your own")
    for name, value in (("n_tasks", n_tasks), ("n_samples", n_samples), ("replicates", replicates)):
        check_whole(value, name, 1)
    if sizes is not None:
        _check_sizes(sizes)
    if worlds is not None:
        read_sizes(worlds, "worlds", "worlds of your own")
    themes = [theme] if isinstance(theme, (str, Theme)) else list(theme)
    seed = resolve_seed(rng)
    found: list[Task] = []
    for own_theme in (replace(get_theme(one), detail=detail) for one in themes):
        for origin in [o for o in (sizes if worlds is None else worlds) or [] for _ in range(n_tasks)]:
            own = np.random.default_rng([seed, len(found)])
            if isinstance(origin, World):
                world = origin
            else:
                n_nodes = sum(origin) - len(origin) + 1
                names = own_theme.names(n_nodes, own) if all(s >= 2 for s in origin) else None
                world = sample_world(
                    origin, kind, functions, noise=noise, min_pns=min_pns, nodes=names, rng=int(own.integers(2**62))
                )
            drawn = own_theme.conditions(world, own)
            asked = tuple(world.pairs(pairs))
            found.append(Task(len(found), world, own_theme, drawn, int(own.integers(2**62)), asked))
    return Tasks(found, n_samples, replicates)


def _check_sizes(sizes: Sequence[Sequence[int]]) -> None:
    """Refuse anything but one sequence of integers a graph."""
    expected = "one sequence of numbers of nodes a graph, as [[3, 3]]"
    read_sizes(sizes, "sizes", expected)
    if any(isinstance(size, (int, np.integer)) for size in sizes):
        raise ValueError(f"sizes holds one sequence a graph: for one graph give [{list(sizes)}]")
    for size in sizes:
        read_sizes(size, "sizes", expected, whole=True)


def _cut(rows: int) -> list[tuple[int, int]]:
    return [(start, min(start + CHUNK, rows)) for start in range(0, rows, CHUNK)]
