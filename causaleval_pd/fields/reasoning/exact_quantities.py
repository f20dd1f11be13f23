"""Structural equations, and exact quantities of a cause and its effects.

Noise is summed out along a topological order, or enumerated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

#: (parent, child) of an edge; (cause, effect) of a question
Pair = tuple[str, str]

# booleans of one world that are computed at once
_CACHED_BITS = 2**18


_LOGIC = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


class Model(Protocol):
    """Nodes in topological order, their parents, functions and noise."""

    nodes: tuple[str, ...]
    parents: dict[str, tuple[str, ...]]
    functions: dict[str, str]
    noise: dict[str, float]


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
    model: Model,
    noise: Mapping[str, NDArray[np.bool_]],
    do: Mapping[str, bool],
    nodes: Sequence[str] | None = None,
    known: Mapping[str, NDArray[np.bool_]] | None = None,
) -> dict[str, NDArray[np.bool_]]:
    """Compute the values of nodes (default all) in topological order, given those before them in `known`."""
    values = dict(known or {})
    for node in model.nodes if nodes is None else nodes:
        value = noise[node]
        if node in do:
            values[node] = np.full_like(value, do[node])
            continue
        join = _LOGIC[model.functions.get(node, "or")]
        for parent in model.parents[node]:
            value = join(value, values[parent])
        values[node] = value
    return values


def answers(model: Model, noise: Mapping[str, NDArray[np.bool_]], pairs: Sequence[Pair]) -> NDArray[np.bool_]:
    """Compute the effect of each pair in fact, under do(cause=1) and do(cause=0); (samples, pairs, 3)."""
    n = len(noise[model.nodes[0]])
    effects = np.empty((len(pairs), 3, n), np.bool_)
    causes = list(dict.fromkeys(cause for cause, _ in pairs))
    place = {node: i for i, node in enumerate(model.nodes)}
    # few samples at a time stay in the processor's cache while every world is computed from them
    step = max(1, _CACHED_BITS // len(model.nodes))
    for first in range(0, n, step):
        samples = slice(first, first + step)
        noise_part = {node: bits[samples] for node, bits in noise.items()}
        fact = evaluate(model, noise_part, {})
        for cause in causes:
            later = model.nodes[place[cause] :]
            under = [evaluate(model, noise_part, {cause: bit}, later, fact) for bit in (True, False)]
            for i, (of, effect) in enumerate(pairs):
                if of == cause:
                    for world, values in enumerate((fact, *under)):
                        effects[i, world, samples] = values[effect]
    return effects.transpose(2, 0, 1)


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


@dataclass
class Divorced:
    """Model in which no node has more than two parents."""

    nodes: tuple[str, ...]
    parents: dict[str, tuple[str, ...]]
    functions: dict[str, str]
    noise: dict[str, float]
    #: responses to do(cause) that descendants of the cause may have
    responses: tuple[int, ...]


def divorce_parents(model: Model) -> Divorced:
    """Return a model with the same joint distribution in which no node has more than two parents."""
    # Nodes without noise of their own join the parents of a node one after another, so that a node of many parents
    # needs no table over all of them at once.
    responses = (_NEVER, _IF, _ALWAYS) if is_monotone(model) else (_NEVER, _UNLESS, _IF, _ALWAYS)
    divorced = Divorced((), {}, dict(model.functions), dict(model.noise), responses)
    order: list[str] = []
    for node in model.nodes:
        first, *others = model.parents[node] or (None,)
        joined = first
        for i, parent in enumerate(others[:-1]):
            between = f"{node}\0{i}"
            divorced.parents[between] = (str(joined), parent)
            divorced.functions[between] = model.functions[node]
            divorced.noise[between] = float(model.functions[node] == "and")
            order.append(between)
            joined = between
        divorced.parents[node] = tuple(p for p in (joined, *others[-1:]) if p is not None)
        order.append(node)
    divorced.nodes = tuple(order)
    return divorced


def response_joints(model: Divorced, cause: str, effects: Iterable[str]) -> dict[str, NDArray[np.float64]]:
    """Compute P(cause = c, response of effect = r) for each effect, as arrays of shape (2, 4)."""
    # Columns are never, only if the cause is set to 0, only if it is set to 1, always; a node that is not a descendant
    # of the cause does not respond. Refused if the table over open nodes would exceed `MAX_ENTRIES` and more than
    # `MAX_ENUMERATED` nodes have noise.
    import networkx as nx

    wanted = set(effects)
    children = _relevant_children(model, wanted | {cause})
    graph = nx.DiGraph([(node, child) for node, below in children.items() for child in below])
    affected = nx.descendants(graph, cause) if cause in graph else set()
    # the cause stays open to the end, and so do effects that it does not affect
    order, largest = narrow_order(model, children, affected, {cause} | (wanted - affected))
    free = [node for node in children if 0 < model.noise[node] < 1]
    if len(free) <= MAX_ENUMERATED and len(free) * math.log(2) < largest:
        return _enumerate(model, list(children), free, cause, wanted)
    if largest > math.log(MAX_ENTRIES):
        raise ValueError(
            f"this world is too densely linked for exact quantities of {cause!r}: they need a table of about "
            f"2**{largest / math.log(2):.0f} entries, where {MAX_ENTRIES} are allowed, and depend on {len(free)} noise "
            f"terms, of which {MAX_ENUMERATED} can be enumerated; estimate from sampled answers, or drop edges"
        )
    return _sum_out(model, children, order, cause, wanted, affected)


def _sum_out(
    model: Divorced,
    children: Mapping[str, list[str]],
    order: Iterable[str],
    cause: str,
    wanted: set[str],
    affected: set[str],
) -> dict[str, NDArray[np.float64]]:
    """Add one node after another to a table, in `order`, and sum out nodes that no later one needs."""
    table: NDArray[np.float64] = np.ones(())
    axes: list[str] = []
    pending = {node: len(below) for node, below in children.items()}
    joints: dict[str, NDArray[np.float64]] = {}
    for node in order:
        table, axes = _add(model, table, axes, node, cause, affected), [*axes, node]
        for parent in model.parents[node]:
            pending[parent] -= 1
        if cause in axes:
            for effect in (wanted - set(joints)) & set(axes):
                joints[effect] = _marginal(model, table, axes, cause, effect, affected)
        closed = [a for a in axes if not pending[a] and a != cause and (a in joints or a not in wanted)]
        table = table.sum(axis=tuple(axes.index(a) for a in closed))
        axes = [a for a in axes if a not in closed]
    return joints


def _enumerate(
    model: Divorced, nodes: list[str], free: list[str], cause: str, wanted: set[str]
) -> dict[str, NDArray[np.float64]]:
    """Enumerate all noise vectors; the noise of the last free nodes is constant within an evaluation."""
    inner = min(len(free), NOISE_BITS_AT_ONCE)
    low = np.arange(2**inner)
    pattern = {node: (low >> i & 1).astype(np.bool_) for i, node in enumerate(free[:inner])}
    noise: dict[str, Any] = {node: np.bool_(model.noise[node] == 1) for node in nodes} | pattern
    inner_weight = np.ones(2**inner)
    for node, plane in pattern.items():
        inner_weight = inner_weight * np.where(plane, model.noise[node], 1 - model.noise[node])
    joints = {effect: np.zeros((2, 4)) for effect in wanted}
    for outer in range(2 ** (len(free) - inner)):
        bits = {node: bool(outer >> i & 1) for i, node in enumerate(free[inner:])}
        weight = inner_weight * math.prod(model.noise[n] if bit else 1 - model.noise[n] for n, bit in bits.items())
        noise |= {node: np.bool_(bit) for node, bit in bits.items()}
        fact, one, zero = (evaluate(model, noise, do, nodes) for do in ({}, {cause: True}, {cause: False}))
        for effect in joints:
            code = np.int8(4) * fact[cause] + np.int8(2) * one[effect] + zero[effect]
            joints[effect] += np.bincount(np.broadcast_to(code, weight.shape), weight, minlength=8).reshape(2, 4)
    return joints


def _relevant_children(model: Divorced, targets: set[str]) -> dict[str, list[str]]:
    """Return the children of every ancestor of the targets among these ancestors; all other nodes sum to one."""
    kept = set(targets)
    for node in reversed(model.nodes):
        if node in kept:
            kept.update(model.parents[node])
    return {
        node: [c for c in model.nodes if c in kept and node in model.parents[c]] for node in model.nodes if node in kept
    }


def narrow_order(
    model: Divorced, children: Mapping[str, list[str]], affected: set[str], kept: set[str]
) -> tuple[list[str], float]:
    """Order nodes so that few are open at once; return the order and the logarithm of the size of its largest table."""
    best = _greedy_order(model, children, affected, kept, dict.fromkeys(children, 0.0))
    generator = np.random.default_rng(0)
    for _ in range(_RESTARTS if best[1] > math.log(_WIDE) else 0):
        shift = dict(zip(children, generator.normal(0, 0.5, len(children)).tolist(), strict=True))
        best = min(best, _greedy_order(model, children, affected, kept, shift), key=lambda found: found[1])
    return best


def _greedy_order(
    model: Divorced, children: Mapping[str, list[str]], affected: set[str], kept: set[str], shift: Mapping[str, float]
) -> tuple[list[str], float]:
    """Order nodes greedily: next comes the node that enlarges the table least, up to a shift."""
    place = {node: i for i, node in enumerate(children)}
    waiting = {node: len(model.parents[node]) for node in children}
    pending = {node: len(below) + (node in kept) for node, below in children.items()}
    states = len(model.responses)
    width = {node: math.log(states if node in affected else 2) for node in children}
    ready = [node for node, count in waiting.items() if not count]
    order: list[str] = []
    size = largest = 0.0

    def growth(node: str) -> float:
        return (width[node] if pending[node] else 0.0) - sum(width[p] for p in model.parents[node] if pending[p] == 1)

    while ready:
        node = min(ready, key=lambda n: (growth(n) + shift[n], place[n]))
        ready.remove(node)
        order.append(node)
        largest = max(largest, size + width[node])
        size += growth(node)
        for parent in model.parents[node]:
            pending[parent] -= 1
        for child in children[node]:
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    return order, largest


def is_monotone(model: Model) -> bool:
    """Return whether all functions are increasing, so that no effect is yes under do(cause=0) only."""
    return not any(model.functions.get(node) == "xor" for node in model.nodes if model.parents[node])


def _states(model: Divorced, node: str, affected: set[str]) -> tuple[int, ...]:
    return model.responses if node in affected else (_NEVER, _ALWAYS)


def _add(
    model: Divorced, table: NDArray[np.float64], axes: list[str], node: str, cause: str, affected: set[str]
) -> NDArray[np.float64]:
    """Multiply the table over open nodes (`axes`) by P(node | its parents), as a new last axis."""
    # Descendants of the cause (`affected`) have three states, or four in worlds with XOR, other nodes two.
    p = model.noise[node]
    states = np.array(_states(model, node, affected))
    parents = model.parents[node]
    if not parents:
        return table[..., None] * np.where(states == _ALWAYS, p, 1 - p)
    function = model.functions[node]
    joined = np.full((1,) * len(axes), _ALWAYS if function == "and" else _NEVER)
    for parent in parents:
        # the children of the cause take its set value, whatever it is in fact
        levels = np.array(_IF if parent == cause and node in affected else _states(model, parent, affected))
        shape = [1] * len(axes)
        shape[axes.index(parent)] = levels.size
        joined = _JOINS[function](joined, levels.reshape(shape))
    # neutral noise leaves the value to the parents; other noise determines it, or turns it round
    neutral = p if function == "and" else 1 - p
    other = joined[..., None] ^ _ALWAYS if function == "xor" else _NEVER if function == "and" else _ALWAYS
    factor = neutral * (joined[..., None] == states) + (1 - neutral) * (states == other)
    return table[..., None] * factor


def _marginal(
    model: Divorced, table: NDArray[np.float64], axes: list[str], cause: str, effect: str, affected: set[str]
) -> NDArray[np.float64]:
    """Sum the table down to (cause, effect), with all responses of the effect."""
    i, j = axes.index(cause), axes.index(effect)
    joint = np.zeros((2, 4))
    rest = table.sum(axis=tuple(a for a in range(len(axes)) if a not in (i, j)))
    joint[:, list(_states(model, effect, affected))] = rest if i < j else rest.T
    return joint


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
