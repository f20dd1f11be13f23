"""Tasks: causal worlds told in words, with samples, questions and true answers, as tables in normal form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ...contract.checks import check_known, check_whole
from ...execution.random_streams import RNGLike, resolve_seed, row_keys, uniforms
from ..worlds.random_worlds import NOISE, Functions, Kind, read_sizes, sample_world
from ..worlds.world import World
from .built_in_themes import get_theme
from .task_tables import TaskTables, join_prompts, join_questionnaire
from .theme import Condition, Theme

#: contexts that are told at once; part of no result, only of what memory holds
CHUNK = 4096


@dataclass(frozen=True)
class Task:
    """One world told in the words of a theme.

    Parameters
    ----------
    number : int
        Number within its tasks.
    world : World
        The world; its nodes bear the names that the text uses.
    theme : Theme
        The theme.
    conditions : tuple of Condition
        What each node's noise stands for.
    seed : int
        Seed of noise and texts.
    pairs : tuple of (str, str)
        Pairs (cause, effect) that are asked about.

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks
    >>> [task] = make_tasks("candy_party", [[2, 2]], n_samples=1, rng=1).tasks
    >>> task.pairs
    (('Piri', 'Nuden'), ('Piri', 'Zema'), ('Nuden', 'Zema'))
    >>> task.questions["text"].iloc[0]
    'Does Nuden sing?'
    """

    number: int
    world: World
    theme: Theme
    conditions: tuple[Condition, ...]
    seed: int
    pairs: tuple[tuple[str, str], ...]

    @cached_property
    def questions(self) -> pd.DataFrame:
        """Return the questions: each effect in fact, then each pair under do(cause=1) and do(cause=0)."""
        effects = dict.fromkeys(effect for _, effect in self.pairs)
        rows: list[tuple[Any, ...]] = [(None, effect, "fact", self.theme.ask_fact(effect)) for effect in effects]
        for cause, effect in self.pairs:
            rows += [(cause, effect, f"do{v:d}", self.theme.ask_do(cause, effect, v)) for v in (True, False)]
        table = pd.DataFrame(rows, columns=["cause", "effect", "world", "text"]).astype("str")
        key = str(self.number) + "/" + (table["cause"] + ">").fillna("") + table["effect"] + "/" + table["world"]
        table.insert(0, "question", key)
        table.insert(0, "task", self.number)
        return table

    def truth_bits(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Compute the true answers of samples start .. stop - 1 to all questions, a column a question."""
        noise = self.world.sample(stop - start, self.seed, start=start)
        bits = self.world.answers(noise, self.pairs)
        first = {effect: i for i, (_, effect) in reversed(list(enumerate(self.pairs)))}
        effects = dict.fromkeys(effect for _, effect in self.pairs)
        fact = bits[:, [first[effect] for effect in effects], 0]
        return np.concatenate([fact, bits[:, :, 1:].reshape(stop - start, -1)], axis=1)

    def truths(self, start: int, stop: int) -> pa.Table:
        """Return the true answers of samples start .. stop - 1 as a table, a row a sample and question."""
        bits = self.truth_bits(start, stop)
        keys = pa.array(self.questions["question"].tolist())
        return pa.table(
            {
                "task": pa.array(np.full(bits.size, self.number)),
                "sample": pa.array(np.repeat(np.arange(start, stop), len(keys))),
                "question": keys.take(pa.array(np.tile(np.arange(len(keys)), stop - start))),
                "truth": pa.array(bits.ravel()),
            }
        )

    def contexts(self, start: int, stop: int, replicates: int) -> pa.Table:
        """Tell rows start .. stop - 1 of the contexts; a row is a replicate of a sample, samples being the slower."""
        rows = np.arange(start, stop)
        sample, replicate = np.divmod(rows, replicates)
        first = start // replicates
        noise = self.world.sample(int(sample[-1]) + 1 - first if len(rows) else 0, self.seed, start=first)
        bits = noise.to_numpy()[sample - first]

        # another seed than that of the noise, whose streams bear the nodes' names
        def draw(labels: Sequence[str]) -> NDArray[np.float64]:
            keys = row_keys(pd.DataFrame({"label": pd.Series(list(labels), dtype="str")}), "label", self.seed + 1)
            return uniforms(keys, start, stop - start)

        return pa.table(
            {
                "task": pa.array(np.full(len(rows), self.number)),
                "sample": pa.array(sample),
                "replicate": pa.array(replicate),
                "noise": _bit_strings(bits),
                "text": self.theme.tell_samples(self.world, self.conditions, bits, draw),
            }
        )


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
        Samples a task, and texts a sample: replicates share noise and differ in what does not matter.

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
        """Cut `contexts` into chunks, for tables that memory does not hold."""
        rows = self.n_samples * self.replicates
        return [
            Chunk(partial(t.contexts, replicates=self.replicates), *part) for t in self.tasks for part in _cut(rows)
        ]

    def truth_chunks(self) -> list[Chunk]:
        """Cut `truths` into chunks."""
        return [Chunk(t.truths, *part) for t in self.tasks for part in _cut(self.n_samples)]

    def questionnaire(self) -> pd.DataFrame:
        """Return every question about every context, with its true answer.

        Returns
        -------
        DataFrame
            Columns task, sample, replicate, cause (missing in fact), effect, world ("fact", "do1", "do0"), truth
            (boolean), question (key of `questions`); an answered table has an `answer` besides.
        """
        return join_questionnaire(self.truths, self.questions, self._context_keys())

    def _context_keys(self) -> pd.DataFrame:
        shape = (len(self.tasks), self.n_samples, self.replicates)
        task, sample, replicate = (part.ravel() for part in np.indices(shape))
        return pd.DataFrame({"task": task, "sample": sample, "replicate": replicate})

    def prompts(self, rows: pd.DataFrame | None = None, instruction: str = "brief") -> pd.Series:
        """Return the text to be sent to a reasoner for rows of the questionnaire.

        Parameters
        ----------
        rows : DataFrame, optional
            Rows with task, sample, replicate, question; all rows of `questionnaire` if not given.
        instruction : str
            "brief", "last_line", "json", "chain_of_thought", "chain_of_thought_json", or a sentence of your own.

        Returns
        -------
        Series
            Text of the world, the context, the question and the instruction, on the index of the rows.

        Raises
        ------
        ValueError
            If a row names a task, sample or question that there is not, or the instruction is no known name.
        """
        rows = self.questionnaire() if rows is None else rows
        contexts = self._context_texts(rows[["task", "sample", "replicate"]].drop_duplicates())
        return join_prompts(rows, self.worlds, contexts, self.questions, instruction)

    def _context_texts(self, wanted: pd.DataFrame) -> pd.DataFrame:
        """Tell only the chunks in which contexts are wanted."""
        parts = []
        known = {t.number: t for t in self.tasks}
        place = wanted["sample"] * self.replicates + wanted["replicate"]
        rows = self.n_samples * self.replicates
        inside = place.between(0, rows - 1) & wanted["replicate"].between(0, self.replicates - 1)
        chunks = pd.DataFrame({"task": wanted["task"], "start": place // CHUNK * CHUNK})[inside].drop_duplicates()
        for task, start in chunks.itertuples(index=False, name=None):
            if task in known:
                told = known[task].contexts(start, min(start + CHUNK, rows), self.replicates)
                parts.append(told.select(["task", "sample", "replicate", "text"]))
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
    """Draw tasks: worlds, what their noise stands for, samples, questions.

    Parameters
    ----------
    theme : str, Theme or sequence of these
        "candy_party", "flower_garden", "flu_vaccine", "clinical_notes", "cell_biology", or your own; each of several
        themes tells worlds of its own.
    sizes : sequence of sequences of int
        Sizes of the components, one sequence a kind of graph: `[[4, 4], [6, 4, 6]]`.
    kind, functions, noise, min_pns
        As in `sample_world`.
    worlds : sequence of World, optional
        Worlds to tell instead of drawn ones; their nodes' names stand in the texts.
    n_tasks : int
        Tasks for each theme and graph.
    n_samples : int
        Samples a task.
    replicates : int
        Texts a sample, which share the noise.
    pairs : {"cut", "all"}
        Pairs asked about.
    detail : bool
        Whether texts tell extraneous details.
    rng : int, Generator or None
        Seed: one integer gives the same bytes in every process.

    Returns
    -------
    Tasks
        From which the tables are made.

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
    >>> tasks.quantities["pns"].between(0, 1).all()
    np.True_
    """
    if (sizes is None) == (worlds is None):
        raise ValueError("give either sizes, to draw worlds, or worlds of your own")
    for name, value in (("n_tasks", n_tasks), ("n_samples", n_samples), ("replicates", replicates)):
        check_whole(value, name, 1)
    for listed, name, expected in (
        (sizes, "sizes", "one sequence of numbers of nodes a graph, as [[3, 3]]"),
        (worlds, "worlds", "worlds of your own"),
    ):
        if listed is not None:
            read_sizes(listed, name, expected)
    if any(isinstance(size, (int, np.integer)) for size in sizes or []):
        raise ValueError(f"sizes holds one sequence a graph: for one graph give [{list(sizes or [])}]")
    for size in sizes or []:
        read_sizes(size, "sizes", "one sequence of numbers of nodes a graph, as [[3, 3]]", whole=True)
    themes = [theme] if isinstance(theme, (str, Theme)) else list(theme)
    seed = resolve_seed(rng)
    found: list[Task] = []
    for told in (replace(get_theme(one), detail=detail) for one in themes):
        for origin in [o for o in (sizes if worlds is None else worlds) or [] for _ in range(n_tasks)]:
            own = np.random.default_rng([seed, len(found)])
            if isinstance(origin, World):
                world = origin
            else:
                names = told.names(sum(origin) - len(origin) + 1, own) if all(s >= 2 for s in origin) else None
                world = sample_world(
                    origin, kind, functions, noise=noise, min_pns=min_pns, nodes=names, rng=int(own.integers(2**62))
                )
            drawn = told.conditions(world, own)
            asked = tuple(world.pairs(pairs))
            found.append(Task(len(found), world, told, drawn, int(own.integers(2**62)), asked))
    return Tasks(found, n_samples, replicates)


def _bit_strings(bits: NDArray[np.bool_]) -> pa.Array:
    """Write each row of booleans as a string of 0 and 1."""
    n, width = bits.shape
    offsets = np.arange(n + 1, dtype=np.int32) * width
    letters = np.ascontiguousarray(bits.astype(np.uint8) + ord("0"))
    return pa.StringArray.from_buffers(n, pa.py_buffer(offsets), pa.py_buffer(letters))


def _cut(rows: int) -> list[tuple[int, int]]:
    return [(start, min(start + CHUNK, rows)) for start in range(0, rows, CHUNK)]
