"""Worlds, noise and cut nodes by task: for exact truths, mediators and compositions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from ...contract.checks import check_type
from ..worlds.world import World, compositions, n_compositions
from .tasks import Tasks

#: largest number of compositions of a task that are made by default
MOST_COMPOSITIONS = 4096

#: where worlds come from: tasks, one world for all tasks, or a world by task
Worlds = Tasks | World | Mapping[Any, World]


def worlds_by_task(worlds: Worlds | None, tasks: pd.Series) -> dict[Any, World]:
    """Return the world of each task in the table."""
    if worlds is None:
        return {}
    if isinstance(worlds, World):
        found: Mapping[Any, World] = dict.fromkeys(tasks.unique().tolist(), worlds)
    elif isinstance(worlds, Mapping):
        found = worlds
    else:
        check_type(worlds, Tasks, "the tasks, a World, or a mapping of tasks to worlds", "worlds")
        stored = {own.number for own in worlds.drawn} or set(worlds.nodes["task"].tolist())
        found = {task: worlds.world(task) for task in tasks.unique().tolist() if task in stored}
    if lacking := [task for task in tasks.unique().tolist() if task not in found]:
        raise ValueError(f"worlds has no world for the tasks {lacking[:5]}; it has tasks {list(found)[:10]}")
    return {task: found[task] for task in tasks.unique().tolist()}


def known_noise(tasks: Tasks, table: pd.DataFrame) -> Iterator[tuple[Any, World, pd.DataFrame]]:
    """Yield the tasks of a table with their worlds and the noise of their samples, a row a sample."""
    number: Any
    drawn = {own.number: own for own in tasks.drawn}
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


def multiplicative(chains: Mapping[Any, tuple[str, ...]], worlds: Mapping[Any, World]) -> dict[Any, tuple[str, ...]]:
    """Return the chains along which the PNS multiplies: all but those of worlds with XOR."""
    return {task: chain for task, chain in chains.items() if task not in worlds or worlds[task].is_monotone}


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

    found: dict[tuple[Any, ...], tuple[int | None, int | None]] = {}
    graphs: dict[Any, nx.DiGraph[Any]] = {task: nx.DiGraph(list(world.edges)) for task, world in worlds.items()}
    keys = list(zip(result["task"], result["cause"], result["effect"], strict=True))
    for task, cause, effect in dict.fromkeys(keys):
        graph = graphs.get(task)
        if graph is None:
            found[task, cause, effect] = (None, None)
            continue
        between = (
            nx.descendants(graph, cause) & nx.ancestors(graph, effect) if cause in graph and effect in graph else ()
        )
        world = worlds[task]
        single = len(world.roots) == len(world.leaves) == 1
        chain = world.cut_nodes if single else ()
        steps = chain.index(effect) - chain.index(cause) if cause in chain and effect in chain else None
        found[task, cause, effect] = (len(between), steps)
    names = ("mediators", "distance")
    return {name: pd.Series([found[key][i] for key in keys], dtype="Int64") for i, name in enumerate(names)}
