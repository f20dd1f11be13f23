"""Structural equations, and exact quantities of a cause and its effects.

Noise is summed out along a topological order, or enumerated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import networkx as nx

    from .worlds import World

#: (parent, child) of an edge; (cause, effect) of a question
Pair = tuple[str, str]

#: quantities of a pair (cause, effect)
EXACT_QUANTITIES = ("pns", "ate", "pn", "ps", "p_do1", "p_do0", "p_given1", "p_given0")

#: largest number of entries of the table over open nodes (nodes that later ones still need)
MAX_ENTRIES = 2**22

#: largest number of nodes whose noise is enumerated, where that takes less than the table over open nodes
MAX_ENUMERATED = 22

#: number of nodes whose noise vectors are evaluated at once
NOISE_BITS_AT_ONCE = 14

# for a table of more entries than this, this many further orders are tried
_WIDE, _RESTARTS = 2**14, 50

# Responses to do(cause) as two bits, yes under do(cause=0) and yes under do(cause=1), so that AND, OR and XOR of
# responses are those of their bits. Where all functions are increasing, no response is yes under 0 only.
_NEVER, _UNLESS, _IF, _ALWAYS = range(4)

_JOINS = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


def noise_by_node(nodes: Sequence[str], noise: pd.DataFrame | ArrayLike) -> dict[str, NDArray[np.bool_]]:
    """Return noise as one contiguous array of booleans a node; columns without names are in the order of the nodes."""
    if isinstance(noise, pd.DataFrame):
        missing = [node for node in nodes if node not in noise.columns]
        if missing:
            raise ValueError(f"noise lacks columns for nodes {missing}; its columns are {list(noise.columns)}")
        table: NDArray[Any] = noise[list(nodes)].to_numpy()
    else:
        table = np.asarray(noise)
    if table.ndim != 2 or table.shape[1] != len(nodes):
        raise ValueError(f"noise must have {len(nodes)} columns, one per node, found an array of {table.shape}")
    if table.dtype != np.bool_:
        if not all(value in (0, 1) for value in pd.unique(table.ravel())):
            raise ValueError("noise must be true or false, found other or missing values")
        table = table.astype(np.bool_)
    return dict(zip(nodes, np.ascontiguousarray(table.T), strict=True))


def evaluate(
    world: World,
    noise: Mapping[str, NDArray[np.bool_]],
    do: Mapping[str, bool],
    nodes: Sequence[str] | None = None,
    known: Mapping[str, NDArray[np.bool_]] | None = None,
) -> dict[str, NDArray[np.bool_]]:
    """Compute the values of nodes (default all) in topological order, given those before them in `known`."""
    values = dict(known or {})
    for node in world.nodes if nodes is None else nodes:
        value = noise[node]
        if node in do:
            values[node] = np.full_like(value, do[node])
            continue
        join = _JOINS[world.functions.get(node, "or")]
        for parent in world.parents[node]:
            value = join(value, values[parent])
        values[node] = value
    return values


def answers(world: World, noise: Mapping[str, NDArray[np.bool_]], pairs: Sequence[Pair]) -> NDArray[np.bool_]:
    """Compute the effect of each pair in fact, under do(cause=1) and do(cause=0); (samples, pairs, 3)."""
    effects = np.empty((len(pairs), 3, len(noise[world.nodes[0]])), np.bool_)
    fact = evaluate(world, noise, {})
    for cause in dict.fromkeys(cause for cause, _ in pairs):
        later = world.nodes[world.nodes.index(cause) :]
        three = fact, *(evaluate(world, noise, {cause: bit}, later, fact) for bit in (True, False))
        for i, (of, effect) in enumerate(pairs):
            if of == cause:
                effects[i] = [values[effect] for values in three]
    return effects.transpose(2, 0, 1)


def response_joints(world: World, cause: str, effects: Iterable[str]) -> dict[str, NDArray[np.float64]]:
    """Compute P(cause = c, response of effect = r) for each effect, as arrays of shape (2, 4)."""
    # Columns are never, only if the cause is set to 0, only if it is set to 1, always; a node that is not a descendant
    # of the cause does not respond. Refused if the table over open nodes would exceed `MAX_ENTRIES` and more than
    # `MAX_ENUMERATED` nodes have noise.
    import networkx as nx

    wanted = set(effects)
    needed = {cause, *wanted}  # and all their ancestors; other nodes sum to one
    for node in reversed(world.nodes):
        if node in needed:
            needed.update(world.parents[node])
    graph = world.graph.subgraph(needed).copy()
    affected = nx.descendants(graph, cause)
    responses = (_NEVER, _IF, _ALWAYS) if world.is_monotone else (_NEVER, _UNLESS, _IF, _ALWAYS)
    states = {
        node: np.array(responses if node in affected else (_NEVER, _ALWAYS)) for node in world.nodes if node in needed
    }
    # the cause stays open to the end, and so do effects that it does not affect
    order, largest = narrow_order(graph, states, {cause} | (wanted - affected))
    free = [node for node in states if 0 < world.noise[node] < 1]
    if len(free) <= MAX_ENUMERATED and len(free) * math.log(2) < largest:
        return _enumerate(world, list(states), free, cause, wanted)
    if largest > math.log(MAX_ENTRIES):
        raise ValueError(
            f"this world is too densely linked for exact quantities of {cause!r}: they need a table of about "
            f"2**{largest / math.log(2):.0f} entries, where {MAX_ENTRIES} are allowed, and depend on {len(free)} noise "
            f"terms, of which {MAX_ENUMERATED} can be enumerated; estimate from sampled answers, or drop edges"
        )
    # nodes are added to a table over open nodes (`axes`), and summed out once no later one needs them
    table, axes, joints = np.ones(()), list[str](), dict[str, NDArray[np.float64]]()
    pending = dict(graph.out_degree())
    for node in order:
        table, axes = table[..., None] * _factor(world, axes, node, cause, states), [*axes, node]
        for parent in world.parents[node]:
            pending[parent] -= 1
        for effect in (wanted - set(joints)) & set(axes) if cause in axes else ():
            i, j = axes.index(cause), axes.index(effect)
            rest = table.sum(axis=tuple(a for a in range(len(axes)) if a not in (i, j)))
            joints[effect] = np.zeros((2, 4))
            joints[effect][:, states[effect]] = rest if i < j else rest.T
        closed = [a for a in axes if not pending[a] and a != cause and (a in joints or a not in wanted)]
        table = table.sum(axis=tuple(axes.index(a) for a in closed))
        axes = [a for a in axes if a not in closed]
    return joints


def _factor(
    world: World, axes: list[str], node: str, cause: str, states: Mapping[str, NDArray[Any]]
) -> NDArray[np.float64]:
    """Return P(node | its parents) as an array over open nodes (`axes`) and, last, the states of the node."""
    p = world.noise[node]
    if not world.parents[node]:
        return np.where(states[node] == _ALWAYS, p, 1 - p)
    function = world.functions[node]
    joined = np.full((1,) * len(axes), _ALWAYS if function == "and" else _NEVER)
    for parent in world.parents[node]:
        # the children of the cause take its set value, whatever it is in fact
        levels = np.array(_IF) if parent == cause else states[parent]
        shape = [1] * len(axes)
        shape[axes.index(parent)] = levels.size
        joined = _JOINS[function](joined, levels.reshape(shape))
    # neutral noise leaves the value to the parents; other noise determines it, or turns it round
    neutral = p if function == "and" else 1 - p
    other = joined[..., None] ^ _ALWAYS if function == "xor" else _NEVER if function == "and" else _ALWAYS
    return neutral * (joined[..., None] == states[node]) + (1 - neutral) * (states[node] == other)


def _enumerate(
    world: World, nodes: list[str], free: list[str], cause: str, wanted: set[str]
) -> dict[str, NDArray[np.float64]]:
    """Enumerate all noise vectors; the noise of the last free nodes is constant within an evaluation."""
    inner = min(len(free), NOISE_BITS_AT_ONCE)
    low = np.arange(2**inner)
    pattern = {node: (low >> i & 1).astype(np.bool_) for i, node in enumerate(free[:inner])}
    noise: dict[str, Any] = {node: np.bool_(world.noise[node] == 1) for node in nodes} | pattern
    inner_weight = np.ones(2**inner)
    for node, plane in pattern.items():
        inner_weight = inner_weight * np.where(plane, world.noise[node], 1 - world.noise[node])
    joints = {effect: np.zeros((2, 4)) for effect in wanted}
    for outer in range(2 ** (len(free) - inner)):
        bits = {node: bool(outer >> i & 1) for i, node in enumerate(free[inner:])}
        weight = inner_weight * math.prod(world.noise[n] if bit else 1 - world.noise[n] for n, bit in bits.items())
        noise |= {node: np.bool_(bit) for node, bit in bits.items()}
        fact, one, zero = (evaluate(world, noise, do, nodes) for do in ({}, {cause: True}, {cause: False}))
        for effect in joints:
            code = np.int8(4) * fact[cause] + np.int8(2) * one[effect] + zero[effect]
            joints[effect] += np.bincount(np.broadcast_to(code, weight.shape), weight, minlength=8).reshape(2, 4)
    return joints


def narrow_order(graph: nx.DiGraph[Any], states: Mapping[str, NDArray[Any]], kept: set[str]) -> tuple[list[str], float]:
    """Order nodes so that few are open at once; return the order and the logarithm of the size of its largest table."""
    best = _greedy_order(graph, states, kept, dict.fromkeys(states, 0.0))
    generator = np.random.default_rng(0)
    for _ in range(_RESTARTS if best[1] > math.log(_WIDE) else 0):
        shift = dict(zip(states, generator.normal(0, 0.5, len(states)).tolist(), strict=True))
        best = min(best, _greedy_order(graph, states, kept, shift), key=lambda found: found[1])
    return best


def _greedy_order(
    graph: nx.DiGraph[Any], states: Mapping[str, NDArray[Any]], kept: set[str], shift: Mapping[str, float]
) -> tuple[list[str], float]:
    """Order nodes greedily: next comes the node that enlarges the table least, up to a shift."""
    place = {node: i for i, node in enumerate(states)}
    width = {node: math.log(len(levels)) for node, levels in states.items()}
    waiting = dict(graph.in_degree())
    pending = {node: count + (node in kept) for node, count in graph.out_degree()}
    ready = {node for node, count in waiting.items() if not count}
    order: list[str] = []
    size = largest = 0.0

    def growth(node: str) -> float:
        above = graph.predecessors(node)
        return (width[node] if pending[node] else 0.0) - sum(width[p] for p in above if pending[p] == 1)

    while ready:
        node = min(ready, key=lambda n: (growth(n) + shift[n], place[n]))
        ready.remove(node)
        order.append(node)
        largest = max(largest, size + width[node])
        size += growth(node)
        for parent in graph.predecessors(node):
            pending[parent] -= 1
        for child in graph.successors(node):
            waiting[child] -= 1
            if not waiting[child]:
                ready.add(child)
    return order, largest


def quantities_of(joint: NDArray[np.float64]) -> dict[str, float]:
    """Compute the quantities of a pair, by name, from P(cause = c, response of the effect); see `response_joints`."""
    # The factual effect is its response to the factual cause, so conditional quantities need no other joint. They are
    # NaN where the condition cannot happen.
    (never0, unless0, if0, always0), (never1, unless1, if1, always1) = joint.tolist()
    pns, always, reverse = if0 + if1, always0 + always1, unless0 + unless1
    return {
        "pns": pns,
        "ate": pns - reverse,
        "pn": ratio(if1, if1 + always1),
        "ps": ratio(if0, if0 + never0),
        "p_do1": pns + always,
        "p_do0": always + reverse,
        "p_given1": ratio(if1 + always1, never1 + if1 + always1 + unless1),
        "p_given0": ratio(always0 + unless0, never0 + if0 + always0 + unless0),
    }


def ratio(part: float, whole: float) -> float:
    """Return part / whole, NaN where the whole is 0."""
    return part / whole if whole > 0 else float("nan")
