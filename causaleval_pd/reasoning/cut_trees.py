"""Worlds and cut trees by task: exact truths, how far a cause is from its effect, which compositions there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

import networkx as nx
import pandas as pd

from .compositions import compositions, n_compositions
from .world import World

#: compositions of one task that are made without being asked for by number
MOST_COMPOSITIONS = 4096


class _Told(Protocol):
    """A task: a world and its number."""

    @property
    def number(self) -> int:
        """Number of the task."""

    @property
    def world(self) -> World:
        """World of the task."""


class HasTasks(Protocol):
    """What `make_tasks` returns, as far as it is needed here."""

    @property
    def tasks(self) -> Sequence[_Told]:
        """Tasks, each with its number and world."""


Worlds = HasTasks | World | Mapping[Any, World]


def worlds_by_task(worlds: Worlds | None, tasks: pd.Series) -> dict[Any, World]:
    """Return the world of each task in the table."""
    if worlds is None:
        return {}
    if isinstance(worlds, World):
        found: Mapping[Any, World] = dict.fromkeys(tasks.unique().tolist(), worlds)
    elif isinstance(worlds, Mapping):
        found = worlds
    else:
        found = {task.number: task.world for task in worlds.tasks}
    if lacking := [task for task in tasks.unique().tolist() if task not in found]:
        raise ValueError(f"worlds has no world for the tasks {lacking[:5]}; it has tasks {list(found)[:10]}")
    return {task: found[task] for task in tasks.unique().tolist()}


def cut_chains(
    worlds: Mapping[Any, World], given: Mapping[Any, Sequence[str]] | None, tasks: pd.Series
) -> dict[Any, tuple[str, ...]]:
    """Return root, cut nodes, leaf of each task of which they are known and unique."""
    chains = {task: tuple(nodes) for task, nodes in (given or {}).items() if task in set(tasks.unique().tolist())}
    for task, world in worlds.items():
        if task not in chains and len(world.roots) == len(world.leaves) == 1:
            chains[task] = world.cut_nodes
    return chains


def composition_paths(chain: tuple[str, ...], n: int | None, task: Any) -> Iterator[tuple[str, ...]]:
    """Yield the first n compositions, those of most factors first; more than a bound only if asked for by number."""
    total = n_compositions(len(chain))
    if n is None and total > MOST_COMPOSITIONS:
        raise ValueError(
            f"task {task!r} has {total} compositions, more than {MOST_COMPOSITIONS}; say by n_compositions= how many "
            "to make, those of most factors first"
        )
    return islice(compositions(chain), n)


def shapes(worlds: Mapping[Any, World], result: pd.DataFrame) -> dict[str, pd.Series]:
    """Count the nodes on directed paths strictly between cause and effect, and the components they span."""
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
