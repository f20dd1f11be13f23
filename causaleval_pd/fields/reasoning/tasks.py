"""Tasks: worlds described in words, with samples, questions and true answers as tables made on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ...contract.checks import check_known, check_type, check_whole
from ...execution.random_streams import RNGLike, resolve_seed, row_keys, uniforms
from .exact_quantities import EXACT_QUANTITIES
from .themes import Condition, Theme, get_theme
from .worlds import NOISE, Functions, Kind, World, compositions, n_compositions, read_sizes, sample_world

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

#: columns of a questionnaire
QUESTIONNAIRE = [*_CONTEXT, "cause", "effect", "world", "truth", "question"]


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
    """One world in the words of a theme."""

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

    def truths(self, n: int) -> pa.Table:
        """Return the true answers of the first n samples, one row per sample and question."""
        bits = self.world.answers(self.world.sample(n, self.seed), self.pairs)
        first = {effect: i for i, (_, effect) in reversed(list(enumerate(self.pairs)))}
        effects = dict.fromkeys(effect for _, effect in self.pairs)
        fact = bits[:, [first[effect] for effect in effects], 0]
        true_answers = np.concatenate([fact, bits[:, :, 1:].reshape(n, -1)], axis=1)
        keys = pa.array(self.questions["question"].tolist())
        return pa.table(
            {
                "task": pa.array(np.full(true_answers.size, self.number)),
                "sample": pa.array(np.repeat(np.arange(n), len(keys))),
                "question": keys.take(pa.array(np.tile(np.arange(len(keys)), n))),
                "truth": pa.array(true_answers.ravel()),
            }
        )

    def contexts(self, n: int, replicates: int) -> pa.Table:
        """Return the texts of the first n samples, one row per replicate of a sample; replicates vary fastest."""
        sample, replicate = np.divmod(np.arange(n * replicates), replicates)
        bits = self.world.sample(n, self.seed).to_numpy()[sample]
        # each row of booleans as a string of 0 and 1
        offsets = np.arange(len(bits) + 1, dtype=np.int32) * bits.shape[1]
        letters = np.ascontiguousarray(bits.astype(np.uint8) + ord("0"))
        noise = pa.StringArray.from_buffers(len(bits), pa.py_buffer(offsets), pa.py_buffer(letters))

        # the noise uses `seed` with streams named by nodes, so texts use another seed
        def draw(labels: Sequence[str]) -> NDArray[np.float64]:
            keys = row_keys(pd.DataFrame({"label": pd.Series(list(labels), dtype="str")}), "label", self.seed + 1)
            return uniforms(keys, 0, len(sample))

        return pa.table(
            {
                "task": pa.array(np.full(len(sample), self.number)),
                "sample": pa.array(sample),
                "replicate": pa.array(replicate),
                "noise": noise,
                "text": self.theme.tell_samples(self.world, self.conditions, bits, draw),
            }
        )


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
    drawn : sequence, optional
        World, theme and seed of each task, where they were drawn.

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

    def __init__(
        self, tables: Mapping[str, pd.DataFrame | Callable[[], pd.DataFrame]], drawn: Sequence[Task] = ()
    ) -> None:
        self._tables = dict(tables)
        self.drawn = tuple(drawn)

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
        known = {drawn_task.number: drawn_task.world for drawn_task in self.drawn}
        if known:
            check_known(task, known, "task")
            return known[task]
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
        return asked[QUESTIONNAIRE]

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
        keys = contexts[_CONTEXT].assign(place=np.arange(len(contexts)))
        place = rows[_CONTEXT].merge(keys, how="left", on=_CONTEXT, validate="m:1")["place"]
        asked = place.fillna(-1).to_numpy(np.int64)
        question = pd.Index(questions["question"]).get_indexer(rows["question"])
        world = pd.Index(worlds["task"]).get_indexer(rows["task"])
        lost = (asked < 0) | (question < 0) | (world < 0)
        if lost.any():
            row = int(lost.argmax())
            key = rows.iloc[row][[*_CONTEXT, "question"]].to_dict()
            raise ValueError(f"row {row} asks {key}, which has no text here")
        used, first, context = np.unique(asked, return_index=True, return_inverse=True)
        # where each context describes the world, the world's own text is empty
        intro = (worlds["text"] + "\n\n").where(worlds["text"] != "", "")
        opening = _joined(_arrow(intro).take(pa.array(world[first])), _arrow(contexts["text"].take(used)), "")
        asks = _arrow(questions["text"] + last)
        prompts = _joined(opening.take(pa.array(context)), asks.take(pa.array(question)), "\n\n")
        return pd.Series(pd.array(prompts, dtype="str"), rows.index, name="prompt")


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
    Tasks(8 tasks)
    >>> bool(tasks.quantities["pns"].between(0, 1).all())
    True
    """
    if (sizes is None) == (worlds is None):
        raise ValueError("give either sizes, to draw worlds, or worlds of your own")
    for name, value in (("n_tasks", n_tasks), ("n_samples", n_samples), ("replicates", replicates)):
        check_whole(value, name, 1)
    if sizes is not None:
        expected = "one sequence of numbers of nodes per graph, as [[3, 3]]"
        read_sizes(sizes, "sizes", expected)
        if any(isinstance(size, (int, np.integer)) for size in sizes):
            raise ValueError(f"sizes holds one sequence per graph: for one graph give [{list(sizes)}]")
        for size in sizes:
            read_sizes(size, "sizes", expected, whole=True)
    if worlds is not None:
        read_sizes(worlds, "worlds", "worlds of your own")
    themes = [theme] if isinstance(theme, (str, Theme)) else list(theme)
    seed = resolve_seed(rng)
    tasks: list[Task] = []
    for own_theme in (replace(get_theme(one), detail=detail) for one in themes):
        for origin in [o for o in (sizes if worlds is None else worlds) or [] for _ in range(n_tasks)]:
            stream = np.random.default_rng([seed, len(tasks)])
            if isinstance(origin, World):
                world = origin
            else:
                n_nodes = sum(origin) - len(origin) + 1
                names = own_theme.names(n_nodes, stream) if all(s >= 2 for s in origin) else None
                world = sample_world(
                    origin, kind, functions, noise=noise, min_pns=min_pns, nodes=names, rng=int(stream.integers(2**62))
                )
            drawn = own_theme.conditions(world, stream)
            asked = tuple(world.pairs(pairs))
            tasks.append(Task(len(tasks), world, own_theme, drawn, int(stream.integers(2**62)), asked))
    made = {
        "worlds": _worlds,
        "nodes": _nodes,
        "edges": _edges,
        "quantities": _quantities,
        "questions": lambda drawn: pd.concat([t.questions for t in drawn], ignore_index=True),
        "contexts": lambda drawn: pa.concat_tables([t.contexts(n_samples, replicates) for t in drawn]).to_pandas(),
        "truths": lambda drawn: pa.concat_tables([t.truths(n_samples) for t in drawn]).to_pandas(),
    }
    return Tasks({name: partial(make, tasks) for name, make in made.items()}, tasks)


def _worlds(drawn: Sequence[Task]) -> pd.DataFrame:
    rows = [
        (t.number, t.theme.name, len(t.world.nodes), len(t.world.edges), t.theme.tell_world(t.world, t.conditions))
        for t in drawn
    ]
    return pd.DataFrame(rows, columns=COLUMNS["worlds"]).astype({"theme": "str", "text": "str"})


def _nodes(drawn: Sequence[Task]) -> pd.DataFrame:
    rows = []
    for t in drawn:
        asked = {node for pair in t.pairs for node in pair}
        rows += [
            (t.number, node, t.world.functions.get(node), t.world.noise[node], node in asked, condition.text)
            for node, condition in zip(t.world.nodes, t.conditions, strict=False)
        ]
    return pd.DataFrame(rows, columns=COLUMNS["nodes"]).astype(dict.fromkeys(("node", "function", "condition"), "str"))


def _edges(drawn: Sequence[Task]) -> pd.DataFrame:
    rows = [(t.number, parent, child) for t in drawn for parent, child in t.world.edges]
    return pd.DataFrame(rows, columns=COLUMNS["edges"]).astype({"parent": "str", "child": "str"})


def _quantities(drawn: Sequence[Task]) -> pd.DataFrame:
    tables = [t.world.truths(t.pairs).assign(task=t.number) for t in drawn]
    return pd.concat(tables, ignore_index=True)[COLUMNS["quantities"]]


def instruction_text(instruction: str | None) -> str:
    """Return what follows a question: a named instruction, a sentence of your own, or nothing for None."""
    if instruction is None:
        return ""
    check_type(instruction, str, "the name of an instruction, a sentence of your own, or None", "instruction")
    if " " not in instruction.strip():
        check_known(
            instruction, INSTRUCTIONS, "instruction (a sentence of your own has spaces, None is no instruction):"
        )
    return " " + INSTRUCTIONS.get(instruction, instruction)


def _joined(left: pa.Array, right: pa.Array, separator: str) -> pa.Array:
    return pc.binary_join_element_wise(left, right, pa.scalar(separator, pa.large_string()))


def _arrow(texts: pd.Series) -> pa.Array:
    arrow_array = pa.array(texts, pa.large_string())
    return arrow_array.combine_chunks() if isinstance(arrow_array, pa.ChunkedArray) else arrow_array


#: largest number of compositions of a task that are made by default
MOST_COMPOSITIONS = 4096

#: where worlds come from: tasks, one world for all tasks, or a world by task
Worlds = Tasks | World | Mapping[Any, World]


def worlds_by_task(worlds: Worlds | None, tasks: pd.Series) -> dict[Any, World]:
    """Return the world of each task in the table."""
    if worlds is None:
        return {}
    if isinstance(worlds, World):
        world_map: Mapping[Any, World] = dict.fromkeys(tasks.unique().tolist(), worlds)
    elif isinstance(worlds, Mapping):
        world_map = worlds
    else:
        check_type(worlds, Tasks, "the tasks, a World, or a mapping of tasks to worlds", "worlds")
        stored = {drawn_task.number for drawn_task in worlds.drawn} or set(worlds.nodes["task"].tolist())
        world_map = {task: worlds.world(task) for task in tasks.unique().tolist() if task in stored}
    if lacking := [task for task in tasks.unique().tolist() if task not in world_map]:
        raise ValueError(f"worlds has no world for the tasks {lacking[:5]}; it has tasks {list(world_map)[:10]}")
    return {task: world_map[task] for task in tasks.unique().tolist()}


def known_noise(tasks: Tasks, table: pd.DataFrame) -> Iterator[tuple[Any, World, pd.DataFrame]]:
    """Yield the tasks of a table with their worlds and the noise of their samples, one row per sample."""
    number: Any
    drawn = {task.number: task for task in tasks.drawn}
    for number, samples in table.groupby("task", sort=False)["sample"]:
        wanted, world = np.sort(samples.unique()), tasks.world(number)
        if number in drawn:
            yield number, world, world.sample(int(wanted[-1]) + 1, drawn[number].seed).iloc[wanted]
            continue
        names = tasks.nodes.loc[tasks.nodes["task"] == number, "node"].tolist()
        contexts = tasks.contexts[tasks.contexts["task"] == number].drop_duplicates("sample").set_index("sample")
        bits = np.array([list(text) for text in contexts["noise"].loc[wanted]]) == "1"
        yield number, world, pd.DataFrame(bits, index=pd.Index(wanted, name="sample"), columns=names)


def cut_chains(
    worlds: Mapping[Any, World], given: Mapping[Any, Sequence[str]] | None, tasks: pd.Series
) -> dict[Any, tuple[str, ...]]:
    """Return root, cut nodes and leaf of each task where they are known and unique."""
    if given is not None:
        check_type(given, Mapping, "a mapping of tasks to their cut nodes in order", "cut_nodes")
    chains = {task: tuple(nodes) for task, nodes in (given or {}).items() if task in set(tasks.unique().tolist())}
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


def pair_complexity(worlds: Mapping[Any, World], result: pd.DataFrame) -> dict[str, pd.Series]:
    """Count mediators (nodes on directed paths between cause and effect) and distance (components between them)."""
    import networkx as nx

    complexities: dict[tuple[Any, ...], tuple[int | None, int | None]] = {}
    graphs: dict[Any, nx.DiGraph[Any]] = {task: nx.DiGraph(list(world.edges)) for task, world in worlds.items()}
    chains = cut_chains(worlds, None, result["task"])
    keys = list(zip(result["task"], result["cause"], result["effect"], strict=True))
    for task, cause, effect in dict.fromkeys(keys):
        if task not in worlds:
            complexities[task, cause, effect] = (None, None)
            continue
        graph, chain = graphs[task], chains.get(task, ())
        between = (
            nx.descendants(graph, cause) & nx.ancestors(graph, effect) if cause in graph and effect in graph else ()
        )
        steps = chain.index(effect) - chain.index(cause) if cause in chain and effect in chain else None
        complexities[task, cause, effect] = (len(between), steps)
    names = ("mediators", "distance")
    return {name: pd.Series([complexities[key][i] for key in keys], dtype="Int64") for i, name in enumerate(names)}
