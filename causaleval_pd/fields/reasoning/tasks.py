"""Tasks: worlds described in words, with samples, questions and true answers as tables made on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice, product
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_known, check_type, check_whole
from ...execution.random_streams import RNGLike, resolve_seed, row_keys, uniforms
from .themes import Condition, Theme, get_theme
from .worlds import (
    EXACT_QUANTITIES,
    NOISE,
    Functions,
    Kind,
    World,
    compositions,
    n_compositions,
    read_sizes,
    sample_world,
)

__all__ = ["Tasks", "make_tasks"]

#: instructions of prompts, by name; all but "brief" ask for what `parse_answers` reads by default
INSTRUCTIONS = {
    "last_line": "Close with a line that reads 'Answer: yes' or 'Answer: no'.",
    "brief": "Begin with yes or no and keep the answer short.",
    "json": 'Reply with one JSON object and nothing else: {"answer": "yes"} or {"answer": "no"}.',
    "chain_of_thought": "Work through the rules in writing, one by one, and then decide. Close with a line "
    "that reads 'Answer: yes' or 'Answer: no'.",
    "chain_of_thought_json": "Work through the rules in writing, one by one, and then decide. Close with one JSON "
    'object on a line of its own: {"answer": "yes"} or {"answer": "no"}.',
}

_CONTEXT = ["task", "sample", "replicate"]

#: columns of each table
COLUMNS = {
    "worlds": ["task", "theme", "n_nodes", "n_edges", "text"],
    "nodes": ["task", "node", "function", "noise", "is_asked", "condition"],
    "edges": ["task", "parent", "child"],
    "quantities": ["task", "cause", "effect", *EXACT_QUANTITIES],
    "questions": ["task", "question", "cause", "effect", "world", "text"],
    "contexts": ["task", "sample", "replicate", "noise", "text"],
    "truths": ["task", "sample", "question", "truth"],
}


@dataclass(frozen=True)
class Task:
    """One world in the words of a theme, whose properties are its rows of the tables."""

    #: number within its tasks
    number: int
    #: the world, whose nodes have the names used in the text
    world: World
    theme: Theme
    #: meaning of each node's noise
    conditions: tuple[Condition, ...]
    #: seed of noise and texts
    seed: int
    #: pairs (cause, effect) of the questions
    pairs: tuple[tuple[str, str], ...]
    #: numbers of samples, and of texts of each
    n_samples: int
    replicates: int

    @property
    def worlds(self) -> pd.DataFrame:
        """The text of the world."""
        text = self.theme.tell_world(self.world, self.conditions)
        size = {"n_nodes": [len(self.world.nodes)], "n_edges": len(self.world.edges)}
        return pd.DataFrame({"task": self.number, "theme": self.theme.name, **size, "text": text})

    @property
    def nodes(self) -> pd.DataFrame:
        """Nodes in topological order."""
        world, asked = self.world, {node for pair in self.pairs for node in pair}
        table = pd.DataFrame({"task": self.number, "node": world.nodes})
        table["function"] = pd.array([world.functions.get(node) for node in world.nodes], dtype="str")
        table["noise"] = [world.noise[node] for node in world.nodes]
        table["is_asked"] = table["node"].isin(asked)
        table["condition"] = [condition.text for condition in self.conditions[: len(world.nodes)]]
        return table

    @property
    def edges(self) -> pd.DataFrame:
        """Edges of the world."""
        table = pd.DataFrame(self.world.edges, columns=["parent", "child"], dtype="str")
        table.insert(0, "task", self.number)
        return table

    @property
    def quantities(self) -> pd.DataFrame:
        """Exact quantities of the pairs."""
        table = self.world.truths(self.pairs)
        table.insert(0, "task", self.number)
        return table

    @cached_property
    def questions(self) -> pd.DataFrame:
        """Each effect in fact, then each pair under do(cause=1) and do(cause=0)."""
        effects = dict.fromkeys(effect for _, effect in self.pairs)
        rows: list[tuple[Any, ...]] = [(None, effect, "fact", self.theme.ask_fact(effect)) for effect in effects]
        for cause, effect in self.pairs:
            rows += [(cause, effect, f"do{v:d}", self.theme.ask_do(cause, effect, v)) for v in (True, False)]
        table = pd.DataFrame(rows, columns=["cause", "effect", "world", "text"]).astype("str")
        key = str(self.number) + "/" + (table["cause"] + ">").fillna("") + table["effect"] + "/" + table["world"]
        table.insert(0, "question", key)
        table.insert(0, "task", self.number)
        return table

    @property
    def truths(self) -> pd.DataFrame:
        """True answers, one row per sample and question."""
        n, bits = self.n_samples, self.world.answers(self.world.sample(self.n_samples, self.seed), self.pairs)
        first = pd.Series([effect for _, effect in self.pairs]).drop_duplicates().index
        true_answers = np.concatenate([bits[:, first, 0], bits[:, :, 1:].reshape(n, -1)], axis=1)
        keys = self.questions["question"].array
        places = np.tile(np.arange(len(keys)), n)
        table = pd.DataFrame({"task": self.number, "sample": np.repeat(np.arange(n), len(keys))})
        return table.assign(question=keys.take(places), truth=true_answers.ravel())

    @property
    def contexts(self) -> pd.DataFrame:
        """Texts of samples, one row per replicate of a sample; replicates vary fastest."""
        sample, replicate = np.divmod(np.arange(self.n_samples * self.replicates), self.replicates)
        bits = self.world.sample(self.n_samples, self.seed).to_numpy()[sample]
        # each row of booleans as a string of 0 and 1
        noise = np.ascontiguousarray(bits + np.uint8(ord("0"))).view(f"S{bits.shape[1]}").ravel().astype(str)

        # the noise uses `seed` with streams named by nodes, so texts use another seed
        def draw(labels: Sequence[str]) -> NDArray[np.float64]:
            keys = row_keys(pd.DataFrame({"label": pd.Series(list(labels), dtype="str")}), "label", self.seed + 1)
            return uniforms(keys, 0, len(sample))

        table = pd.DataFrame({"task": self.number, "sample": sample, "replicate": replicate})
        texts = self.theme.tell_samples(self.world, self.conditions, bits, draw)
        return table.assign(noise=pd.array(noise, dtype="str"), text=pd.array(texts, dtype="str"))


def _stored(name: str, text: str) -> Any:
    """Make the property of a table, which is made when it is read for the first time."""

    def read(tasks: Tasks) -> pd.DataFrame:
        table = tasks._tables[name]
        if not isinstance(table, pd.DataFrame):
            table = tasks._tables[name] = table()
        return table.copy(deep=False)

    return property(read, doc=text)


class Tasks:
    """Worlds in words, with samples, questions and true answers: each fact once, as tables made when they are read.

    `make_tasks` draws tasks, and `read_published` reads them.

    Parameters
    ----------
    tables : mapping of str to DataFrame or callable
        The seven tables by their names, or functions that make them.

    Attributes
    ----------
    worlds : DataFrame
        One row per task: task, theme, n_nodes, n_edges, text.
    nodes : DataFrame
        One row per task and node, in topological order: task, node, function, noise, is_asked, condition.
    edges : DataFrame
        One row per task and edge: task, parent, child.
    quantities : DataFrame
        Exact quantities, one row per task and pair: task and the columns of `World.truths`.
    questions : DataFrame
        One row per task and question: task, question (key), cause (missing in fact), effect, world, text.
    contexts : DataFrame
        One row per task, sample and replicate: task, sample, replicate, noise (0 or 1 by node), text. Replicates share
        noise and differ in irrelevant details.
    truths : DataFrame
        One row per task, sample and question: task, sample, question, truth.

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks
    >>> tasks = make_tasks("candy_party", [[3, 3]], n_samples=2, rng=1)
    >>> tasks.questionnaire()[["sample", "cause", "effect", "world"]].shape
    (16, 4)
    """

    def __init__(self, tables: Mapping[str, pd.DataFrame | Callable[[], pd.DataFrame]]) -> None:
        self._tables = dict(tables)

    def __repr__(self) -> str:
        return f"Tasks({len(self.worlds)} tasks)"

    worlds: pd.DataFrame = _stored("worlds", "One row per task.")
    nodes: pd.DataFrame = _stored("nodes", "One row per task and node.")
    edges: pd.DataFrame = _stored("edges", "One row per task and edge.")
    quantities: pd.DataFrame = _stored("quantities", "Exact quantities, one row per task and pair.")
    questions: pd.DataFrame = _stored("questions", "One row per task and question.")
    contexts: pd.DataFrame = _stored("contexts", "One row per task, sample and replicate.")
    truths: pd.DataFrame = _stored("truths", "One row per task, sample and question.")

    def world(self, task: int) -> World:
        """Return the world of a task."""
        check_known(task, self.nodes["task"].unique().tolist(), "task")
        nodes = self.nodes[self.nodes["task"] == task]
        edges = self.edges.loc[self.edges["task"] == task, ["parent", "child"]]
        stated = nodes.dropna(subset=["function"])
        functions = dict(zip(stated["node"].tolist(), stated["function"].tolist(), strict=True))
        noise = dict(zip(nodes["node"].tolist(), nodes["noise"].tolist(), strict=True))
        return World(edges.itertuples(index=False, name=None), functions, noise)

    def questionnaire(self) -> pd.DataFrame:
        """Return every question about every context, with its true answer.

        Returns
        -------
        DataFrame
            Columns task, sample, replicate, cause (missing in fact), effect, world ("fact", "do1", "do0"), truth
            (boolean), question (key of `questions`), in the order of contexts; an answered table also has `answer`.
        """
        known = self.questions[["question", "cause", "effect", "world"]]
        asked = self.contexts[_CONTEXT].merge(self.truths, on=["task", "sample"], how="inner")
        asked = asked.merge(known, on="question", how="left", validate="m:1")
        asked["truth"] = asked["truth"].astype("boolean")
        return asked[[*_CONTEXT, "cause", "effect", "world", "truth", "question"]]

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
        worlds, contexts, questions = self.worlds, self.contexts, self.questions
        last = instruction_text(instruction)
        known, keys = (pd.MultiIndex.from_frame(table[_CONTEXT]) for table in (contexts, rows))
        asked = known.get_indexer(keys)
        question = pd.Index(questions["question"]).get_indexer(rows["question"])
        world = pd.Index(worlds["task"]).get_indexer(rows["task"])
        lost = (asked < 0) | (question < 0) | (world < 0)
        if lost.any():
            row = int(lost.argmax())
            key = rows.iloc[row][[*_CONTEXT, "question"]].to_dict()
            raise ValueError(f"row {row} asks {key}, which has no text here")
        used, first, context = np.unique(asked, return_index=True, return_inverse=True)
        # where each context describes the world, the world's own text is empty
        intro = (worlds["text"] + "\n\n").where(worlds["text"] != "", "").array
        opening = intro.take(world[first]) + contexts["text"].array.take(used)
        asks = ("\n\n" + questions["text"] + last).array
        return pd.Series(opening.take(context) + asks.take(question), rows.index, dtype="str", name="prompt")


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

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks
    >>> tasks = make_tasks(["flu_vaccine", "flower_garden"], [[3, 3], [4, 4]], n_tasks=2, n_samples=10, rng=7)
    >>> tasks
    Tasks(8 tasks)
    >>> bool(tasks.quantities["pns"].between(0, 1).all())
    True
    """
    if (sizes is None) == (worlds is None):
        raise ValueError("give either sizes, to draw worlds, or worlds of your own")
    for name, value in (("n_tasks", n_tasks), ("n_samples", n_samples), ("replicates", replicates)):
        check_whole(value, name, 1)
    if worlds is not None:
        read_sizes(worlds, "worlds", "worlds of your own")
    if sizes is not None:
        expected = "one sequence of numbers of nodes per graph, as [[3, 3]]"
        read_sizes(sizes, "sizes", expected)
        if any(isinstance(size, (int, np.integer)) for size in sizes):
            raise ValueError(f"sizes holds one sequence per graph: for one graph give [{list(sizes)}]")
        for size in sizes:
            read_sizes(size, "sizes", expected, whole=True)
    themes = [theme] if isinstance(theme, (str, Theme)) else list(theme)
    origins: list[Any] = [o for o in (sizes if worlds is None else worlds) or [] for _ in range(n_tasks)]
    if not themes or not origins:
        raise ValueError("there is no task to make; give at least one theme, and one graph's sizes or one world")
    seed = resolve_seed(rng)
    tasks: list[Task] = []
    for words, origin in product([replace(get_theme(one), detail=detail) for one in themes], origins):
        stream = np.random.default_rng([seed, len(tasks)])
        world = origin
        if worlds is None:
            names = words.names(sum(origin) - len(origin) + 1, stream) if all(s >= 2 for s in origin) else None
            world = sample_world(
                origin, kind, functions, noise=noise, min_pns=min_pns, nodes=names, rng=int(stream.integers(2**62))
            )
        drawn, asked = words.conditions(world, stream), tuple(world.pairs(pairs))
        tasks.append(Task(len(tasks), world, words, drawn, int(stream.integers(2**62)), asked, n_samples, replicates))
    return Tasks({name: partial(_joined, tasks, name) for name in COLUMNS})


def _joined(tasks: Sequence[Task], name: str) -> pd.DataFrame:
    return pd.concat([getattr(task, name) for task in tasks], ignore_index=True)


def instruction_text(instruction: str | None) -> str:
    """Return what follows a question: a named instruction, a sentence of your own, or nothing for None."""
    if instruction is None:
        return ""
    check_type(instruction, str, "the name of an instruction, a sentence of your own, or None", "instruction")
    if " " not in instruction.strip():
        check_known(instruction, INSTRUCTIONS, "instruction (a sentence has spaces, None is no instruction):")
    return " " + INSTRUCTIONS.get(instruction, instruction)


#: largest number of compositions of a task that are made by default
MOST_COMPOSITIONS = 4096

#: where worlds come from: tasks, one world for all tasks, or a world by task
Worlds = Tasks | World | Mapping[Any, World]


def worlds_by_task(worlds: Worlds | None, tasks: pd.Series) -> dict[Any, World]:
    """Return the world of each task in the table."""
    names = tasks.unique().tolist()
    if worlds is None or isinstance(worlds, World):
        return {} if worlds is None else dict.fromkeys(names, worlds)
    check_type(worlds, (Tasks, Mapping), "the tasks, a World, or a mapping of tasks to worlds", "worlds")
    known = list(worlds.nodes["task"].unique() if isinstance(worlds, Tasks) else worlds)
    if lacking := [task for task in names if task not in known]:
        raise ValueError(f"worlds has no world for the tasks {lacking[:5]}; it has tasks {known[:10]}")
    return {task: worlds.world(task) if isinstance(worlds, Tasks) else worlds[task] for task in names}


def known_noise(tasks: Tasks, table: pd.DataFrame) -> Iterator[tuple[Any, World, pd.DataFrame]]:
    """Yield the tasks of a table with their worlds and the noise of their samples, one row per sample."""
    number: Any
    for number, samples in table.groupby("task", sort=False)["sample"]:
        world, contexts = tasks.world(number), tasks.contexts[tasks.contexts["task"] == number]
        noise = contexts.drop_duplicates("sample").set_index("sample")["noise"]
        wanted = pd.Index(np.sort(samples.unique()), name="sample")
        if not (known := wanted.isin(noise.index)).all():
            raise ValueError(f"task {number!r} has no sample {wanted[~known][0]}; pass the tasks of these questions")
        bits = np.array(noise.loc[wanted].tolist(), "S").view("S1").reshape(len(wanted), -1) == b"1"
        names = tasks.nodes.loc[tasks.nodes["task"] == number, "node"].tolist()
        yield number, world, pd.DataFrame(bits, wanted, names)


def cut_chains(
    worlds: Mapping[Any, World], cut_nodes: Mapping[Any, Sequence[str]] | None, tasks: pd.Series
) -> dict[Any, tuple[str, ...]]:
    """Return root, cut nodes and leaf of each task where they are known and unique."""
    cut_nodes = {} if cut_nodes is None else cut_nodes
    check_type(cut_nodes, Mapping, "a mapping of tasks to their cut nodes in order", "cut_nodes")
    chains = {task: tuple(cut_nodes[task]) for task in tasks.unique().tolist() if task in cut_nodes}
    for task, world in worlds.items():
        if task not in chains and len(world.roots) == len(world.leaves) == 1:
            chains[task] = world.cut_nodes
    return chains


def composition_paths(chain: tuple[str, ...], n: int | None, task: Any) -> Iterator[tuple[str, ...]]:
    """Yield the first n compositions, those with most factors first; all by default, up to `MOST_COMPOSITIONS`."""
    total = n_compositions(len(chain))
    if n is None and total > MOST_COMPOSITIONS:
        raise ValueError(
            f"task {task!r} has {total} compositions, more than {MOST_COMPOSITIONS}; limit them by n_compositions=, "
            "which takes those with most factors first"
        )
    return islice(compositions(chain), n)


def pair_complexity(worlds: Mapping[Any, World], result: pd.DataFrame) -> pd.DataFrame:
    """Count mediators (nodes on directed paths between cause and effect) and distance (components between them)."""
    import networkx as nx

    chains = cut_chains(worlds, None, result["task"])
    complexities: dict[tuple[Any, ...], tuple[int, int | None]] = {}
    keys = list(zip(result["task"], result["cause"], result["effect"], strict=True))
    for task, cause, effect in dict.fromkeys(keys):
        if task in worlds:
            graph, chain = worlds[task].graph, chains.get(task, ())
            between = nx.descendants(graph, cause) & nx.ancestors(graph, effect)
            steps = chain.index(effect) - chain.index(cause) if cause in chain and effect in chain else None
            complexities[task, cause, effect] = (len(between), steps)
    counts = [complexities.get(key, (None, None)) for key in keys]
    return pd.DataFrame(counts, columns=["mediators", "distance"], dtype="Int64")
