"""Causal worlds: graphs of Boolean functions with independent noise, their exact quantities, random and published ones.

Quantities of a cause and its effects are exact: noise is summed out along a topological order, or enumerated.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, compress, pairwise, product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ...contract.checks import check_known, check_number, check_type, check_whole, shown
from ...execution.random_streams import RNGLike, resolve_seed, row_keys, uniforms

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["World", "example_world", "sample_world"]

#: (parent, child) of an edge; (cause, effect) of a question
Pair = tuple[str, str]

#: what a question supposes: nothing, do(cause=1), do(cause=0); the last axis of `World.answers`
WORLDS = ("fact", "do1", "do0")

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
FUNCTIONS = tuple(_JOINS)

# samples whose noise is drawn at once, so that their numbers stay in the processor's cache
_SAMPLES = 4096


class World:
    """Structural causal model of binary variables in which a node joins its own noise with its parents.

    Each node i has noise U_i, true with probability `noise[i]`, independent of all other noise. A node without parents
    is its noise; any other node is U_i AND all its parents, U_i OR any of its parents, or U_i XOR its parents: true if
    an odd number of these are. do(X=x) replaces the equation of X and keeps all noise, so the factual world, do(X=1)
    and do(X=0) are three readings of one noise vector. AND and OR are increasing, so no node is true under do(X=0) and
    false under do(X=1), hence ATE = PNS; with XOR the ATE is smaller.

    Parameters
    ----------
    edges : iterable of (str, str)
        Pairs (parent, child) of a directed acyclic graph.
    functions : mapping of str to {"and", "or", "xor"}
        Function by node; the function of a node without parents is not used and may be left out.
    noise : mapping of str to float
        P(U = 1) by node, in [0, 1]. Its keys are the nodes of the world.

    Raises
    ------
    ValueError
        If the edges repeat, name unknown nodes or form a cycle, or if a function or a probability is missing or wrong.

    Notes
    -----
    Quantities are exact: noise is summed out node by node along a topological order, in a table over the nodes that
    later ones still need, or enumerated where that is less work. A graph whose table would exceed 2**22 entries and
    that has more than 22 noise terms is refused.

    References
    ----------
    .. [1] Maasch, J. R. M. A., Hüyük, A., Xu, X., Nori, A. V., Gonzalez, J. (2025). Compositional causal reasoning
       evaluation in language models. ICML 2025. doi:10.48550/arXiv.2503.04556
    .. [2] Pearl, J. (1999). Probabilities of causation: three counterfactual interpretations and their identification.
       doi:10.1023/A:1005233831499

    Examples
    --------
    >>> from causaleval_pd.reasoning import World
    >>> world = World([("X", "M"), ("M", "Y")], {"M": "and", "Y": "or"}, {"X": 0.5, "M": 0.8, "Y": 0.4})
    >>> world.pns("X", "Y")
    0.48
    >>> world.cut_nodes
    ('X', 'M', 'Y')
    >>> list(world.compositions())
    [('X', 'M', 'Y')]
    """

    def __init__(
        self, edges: Iterable[Pair], functions: Mapping[str, Literal["and", "or", "xor"]], noise: Mapping[str, float]
    ) -> None:
        import networkx as nx

        check_type(noise, Mapping, "a mapping of every node to P(U = 1)", "noise")
        check_type(functions, Mapping, "a mapping of nodes with parents to 'and' or 'or'", "functions")
        self.noise: dict[str, float] = {
            str(node): check_number(p, f"noise of node {node!r}", "[0, 1]") for node, p in noise.items()
        }
        self.edges: tuple[Pair, ...] = _read_edges(edges, self.noise)
        graph: nx.DiGraph[Any] = nx.DiGraph(list(self.edges))
        graph.add_nodes_from(self.noise)
        if not nx.is_directed_acyclic_graph(graph):
            cycle = [parent for parent, _ in nx.find_cycle(graph)]
            raise ValueError(f"a world is acyclic, but its edges lead round {' -> '.join([*cycle, cycle[0]])}")
        place = {node: i for i, node in enumerate(self.noise)}
        # parents first, otherwise in the order of `noise`
        self.nodes: tuple[str, ...] = tuple(nx.lexicographical_topological_sort(graph, key=place.__getitem__))
        self.parents: dict[str, tuple[str, ...]] = {
            node: tuple(p for p in self.nodes if graph.has_edge(p, node)) for node in self.nodes
        }
        self.functions: dict[str, str] = _check_functions(functions, self.parents)
        self.graph = graph

    def __repr__(self) -> str:
        return f"World({len(self.nodes)} nodes, {len(self.edges)} edges)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, World):
            return NotImplemented
        same = set(self.edges) == set(other.edges) and self.noise == other.noise
        return same and all(self.functions.get(n) == other.functions.get(n) for n in self.nodes if self.parents[n])

    def __hash__(self) -> int:
        return hash((frozenset(self.edges), frozenset(self.noise.items())))

    @cached_property
    def _divorced(self) -> World:
        """The world of the same joint distribution in which no node has more than two parents."""
        # Nodes without noise of their own join the parents of a node one after another, so that a node of many parents
        # needs no table over all of them at once.
        if all(len(above) <= 2 for above in self.parents.values()):
            return self
        edges, functions, noise = list[Pair](), dict(self.functions), dict[str, float]()
        for node in self.nodes:
            *others, last = self.parents[node] or (None,)
            for i, parent in enumerate(others[1:]):
                between = f"{node}\0{i}"
                edges += [(str(others[0]), between), (str(parent), between)]
                functions[between], noise[between] = self.functions[node], float(self.functions[node] == "and")
                others[0] = between
            edges += [(parent, node) for parent in (*others[:1], last) if parent is not None]
            noise[node] = self.noise[node]
        return World(edges, functions, noise)  # type: ignore[arg-type]

    @property
    def roots(self) -> tuple[str, ...]:
        """Nodes without parents."""
        return tuple(node for node in self.nodes if not self.parents[node])

    @property
    def leaves(self) -> tuple[str, ...]:
        """Nodes without children."""
        return tuple(node for node in self.nodes if not self.graph.out_degree(node))

    @cached_property
    def cut_nodes(self) -> tuple[str, ...]:
        """Root, the nodes whose removal separates root from leaf, and leaf, in topological order.

        These are the nodes of the commutative cut tree, whose edges are all their ordered pairs.
        """
        import networkx as nx

        if len(self.roots) != 1 or len(self.leaves) != 1 or len(self.nodes) < 2:
            raise ValueError(
                f"a cut tree needs one root and one other leaf; this world has roots {list(self.roots)} and leaves "
                f"{list(self.leaves)}; name pairs of nodes instead"
            )
        cuts = {*self.roots, *self.leaves, *nx.articulation_points(self.graph.to_undirected())}
        return tuple(node for node in self.nodes if node in cuts)

    def compositions(self) -> Iterator[tuple[str, ...]]:
        """Yield, one at a time, the paths from root to leaf through cut nodes along which PNS multiplies.

        Refused in worlds with XOR, where it does not.
        """
        if not self.is_monotone:
            raise ValueError("the PNS multiplies along cut nodes where all functions are AND or OR; this world has XOR")
        return compositions(self.cut_nodes)

    @property
    def is_monotone(self) -> bool:
        """Whether all functions are AND or OR, so that ATE = PNS, and PNS multiplies along cut nodes."""
        return not any(self.functions.get(node) == "xor" for node in self.nodes if self.parents[node])

    def pairs(self, which: Literal["all", "cut"] = "all") -> list[Pair]:
        """List pairs (cause, effect) in topological order: nodes with each of their descendants, or of cut nodes."""
        import networkx as nx

        check_known(which, ("all", "cut"), "choice of pairs")
        if which == "cut":
            return list(combinations(self.cut_nodes, 2))
        below = {node: nx.descendants(self.graph, node) for node in self.nodes}
        return [(cause, effect) for cause in self.nodes for effect in self.nodes if effect in below[cause]]

    def pns(self, cause: str, effect: str) -> float:
        """Return P(effect is yes under do(cause=1) and no under do(cause=0)), exactly."""
        self._pairs_of([(cause, effect)])
        return quantities_of(response_joints(self._divorced, cause, [effect])[effect])["pns"]

    def truths(self, pairs: Literal["all", "cut"] | Iterable[Pair] = "all") -> pd.DataFrame:
        """Return the exact quantities of several pairs as a table.

        Parameters
        ----------
        pairs : {"all", "cut"} or iterable of (str, str)
            Every node with each of its descendants, pairs of cut nodes, or the pairs given.

        Returns
        -------
        DataFrame
            Columns cause, effect, pns, ate, pn, ps, p_do1, p_do0, p_given1, p_given0; one row per pair.

        Raises
        ------
        ValueError
            If a node is unknown, or the graph is too dense for exact quantities.

        Examples
        --------
        >>> from causaleval_pd.reasoning import World
        >>> world = World([("X", "Y")], {"Y": "or"}, {"X": 0.5, "Y": 0.4})
        >>> world.truths().round(3).to_dict("records")[0]["pns"]
        0.6
        """
        names = pd.DataFrame(self._pairs_of(pairs), columns=["cause", "effect"], dtype="str")
        by_cause = names.groupby("cause")["effect"]
        joints = {cause: response_joints(self._divorced, str(cause), effects) for cause, effects in by_cause}
        rows = [quantities_of(joints[cause][effect]) for cause, effect in names.itertuples(index=False)]
        return names.join(pd.DataFrame(rows, columns=list(EXACT_QUANTITIES), dtype="float64"))

    def _pairs_of(self, pairs: Literal["all", "cut"] | Iterable[Pair]) -> list[Pair]:
        if isinstance(pairs, str):
            return self.pairs(pairs)
        rows = [(str(cause), str(effect)) for cause, effect in pairs]
        for cause, effect in rows:
            for node in (cause, effect):
                check_known(node, self.nodes, "node")
            if cause == effect:
                raise ValueError(f"cause and effect of a pair must differ, found {cause!r} twice")
        return rows

    def sample(self, n: int, rng: RNGLike = None) -> pd.DataFrame:
        """Draw noise.

        Parameters
        ----------
        n : int
            Number of samples.
        rng : int, Generator or None
            Seed. Noise depends on (seed, node, sample) alone, so that a longer sample begins with a shorter one.

        Returns
        -------
        DataFrame
            One boolean column per node, one row per sample, indexed by the number of the sample.

        Examples
        --------
        >>> from causaleval_pd.reasoning import World
        >>> world = World([("X", "Y")], {"Y": "or"}, {"X": 0.5, "Y": 0.4})
        >>> world.sample(1000, rng=7).head(10).equals(world.sample(10, rng=7))
        True
        """
        if n < 0:
            raise ValueError(f"n must not be negative, found {n}")
        names = pd.DataFrame({"node": pd.Series(self.nodes, dtype="str")})
        keys = row_keys(names, "node", resolve_seed(rng))
        p = np.array([self.noise[node] for node in self.nodes])[:, None]
        drawn = np.empty((len(self.nodes), n), np.bool_)
        for first in range(0, n, _SAMPLES):
            count = min(_SAMPLES, n - first)
            np.less(uniforms(keys, first, count), p, out=drawn[:, first : first + count])
        index = pd.RangeIndex(n, name="sample")
        return pd.DataFrame(drawn.T, index=index, columns=pd.Index(self.nodes, dtype="str"), copy=False)

    def values(self, noise: pd.DataFrame | ArrayLike, do: Mapping[str, bool] | None = None) -> pd.DataFrame:
        """Compute all nodes from noise, factual or under an intervention.

        Parameters
        ----------
        noise : DataFrame or array
            One boolean column per node, by name, or an array whose columns are in the order of `nodes`.
        do : mapping of str to bool, optional
            Values that nodes are set to.

        Returns
        -------
        DataFrame
            Values in the layout of the noise.

        Raises
        ------
        ValueError
            If a node has no noise, or an intervention names an unknown node.
        """
        do = {} if do is None else dict(do)
        for node in do:
            check_known(node, self.nodes, "node")
        bits = np.stack(list(evaluate(self, noise_by_node(self.nodes, noise), do).values()))
        index = noise.index if isinstance(noise, pd.DataFrame) else None
        return pd.DataFrame(bits.T, index=index, columns=pd.Index(self.nodes, dtype="str"), copy=False)

    def answers(
        self, noise: pd.DataFrame | ArrayLike, pairs: Literal["all", "cut"] | Iterable[Pair]
    ) -> NDArray[np.bool_]:
        """Compute the true answers to all questions about pairs, over the same noise.

        Parameters
        ----------
        noise : DataFrame or array
            As in `values`.
        pairs : {"all", "cut"} or iterable of (str, str)
            As in `truths`.

        Returns
        -------
        array
            Booleans of shape (samples, pairs, 3): is the effect true in fact, under do(cause=1), under do(cause=0).

        Examples
        --------
        >>> from causaleval_pd.reasoning import World
        >>> world = World([("X", "Y")], {"Y": "or"}, {"X": 0.5, "Y": 0.4})
        >>> bits = world.answers(world.sample(100_000, rng=1), "all")
        >>> float((bits[:, 0, 1] & ~bits[:, 0, 2]).mean().round(2))
        0.6
        """
        rows, bits = self._pairs_of(pairs), noise_by_node(self.nodes, noise)
        effects = np.empty((len(rows), 3, len(bits[self.nodes[0]])), np.bool_)
        fact = evaluate(self, bits, {})
        for cause in dict.fromkeys(cause for cause, _ in rows):
            later = self.nodes[self.nodes.index(cause) :]
            three = fact, *(evaluate(self, bits, {cause: bit}, later, fact) for bit in (True, False))
            for i, (of, effect) in enumerate(rows):
                if of == cause:
                    effects[i] = [values[effect] for values in three]
        return effects.transpose(2, 0, 1)


def _read_edges(edges: Iterable[Pair], noise: Mapping[str, float]) -> tuple[Pair, ...]:
    """Return edges as pairs of strings; refuse anything but pairs, repeated pairs and unknown nodes."""
    if not noise:
        raise ValueError("a world needs nodes: noise maps each node to P(U = 1), found an empty mapping")
    read: list[Pair] = []
    for edge in edges if isinstance(edges, Iterable) and not isinstance(edges, str) else [edges]:
        if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) != 2:
            raise TypeError(f"edges must be a list of (parent, child) pairs, found {shown(edge)}")
        read.append((str(edge[0]), str(edge[1])))
        if unknown := [node for node in read[-1] if node not in noise]:
            raise ValueError(f"edge {read[-1]} names {unknown}, which `noise` does not; give P(U = 1) of every node")
    if repeated := [edge for edge, count in Counter(read).items() if count > 1]:
        raise ValueError(f"edges are given once, found more often {repeated}")
    return tuple(read)


def _check_functions(functions: Mapping[str, str], parents: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    if unknown := [node for node in functions if node not in parents]:
        raise ValueError(f"functions name {unknown}, which are not nodes; the nodes are the keys of noise")
    for node, above in parents.items():
        if above and node not in functions:
            raise ValueError(f"node {node!r} has parents but no function; give 'and', 'or' or 'xor'")
        if node in functions:
            check_known(functions[node], FUNCTIONS, f"function of node {node!r}:")
    return {node: functions[node] for node in parents if node in functions}


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


def narrow_order(
    graph: nx.DiGraph[Any], states: Mapping[str, NDArray[Any]], staying: set[str]
) -> tuple[list[str], float]:
    """Order nodes so that few are open at once; return the order and the logarithm of the size of its largest table."""
    best = _greedy_order(graph, states, staying, dict.fromkeys(states, 0.0))
    generator = np.random.default_rng(0)
    for _ in range(_RESTARTS if best[1] > math.log(_WIDE) else 0):
        shift = dict(zip(states, generator.normal(0, 0.5, len(states)).tolist(), strict=True))
        best = min(best, _greedy_order(graph, states, staying, shift), key=lambda way: way[1])
    return best


def _greedy_order(
    graph: nx.DiGraph[Any], states: Mapping[str, NDArray[Any]], staying: set[str], shift: Mapping[str, float]
) -> tuple[list[str], float]:
    """Order nodes greedily: next comes the node that enlarges the table least, up to a shift."""
    place = {node: i for i, node in enumerate(states)}
    width = {node: math.log(len(levels)) for node, levels in states.items()}
    waiting = dict(graph.in_degree())
    pending = {node: count + (node in staying) for node, count in graph.out_degree()}
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


def n_compositions(n_cut_nodes: int) -> int:
    """Count the paths of `compositions`: 2**(n - 2) - 1."""
    check_whole(n_cut_nodes, "n_cut_nodes (root and leaf included)", 2)
    return int(2 ** (n_cut_nodes - 2) - 1)


def compositions(cut_nodes: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield, one at a time, the paths from root to leaf of a cut tree that have at least two edges."""
    n_compositions(len(cut_nodes))
    root, *inner, leaf = cut_nodes
    for chosen in product((True, False), repeat=len(inner)):
        if any(chosen):
            yield (root, *compress(inner, chosen), leaf)


KINDS = ("cycle", "wheel")
Kind = Literal["cycle", "wheel", "mixed"]

#: largest number of nodes of a random world
MAX_NODES = 10_000

Functions = Literal["and", "or", "xor", "random", "mixed"]

#: noise rates of the published generator: uniform over this range, rounded to one decimal
NOISE = (0.4, 0.8)


# number of worlds drawn in search of one with the least PNS asked for
_TRIES = 2000


def sample_world(
    sizes: Sequence[int],
    kind: Kind | Sequence[Literal["cycle", "wheel"]] = "cycle",
    functions: Functions = "random",
    *,
    noise: float | tuple[float, float] = NOISE,
    min_pns: float = 0.0,
    nodes: Sequence[str] | None = None,
    rng: RNGLike = None,
) -> World:
    """Draw a world of components in a row; the last node of one is the first of the next.

    Parameters
    ----------
    sizes : sequence of int
        Number of nodes of each component, at least 2.
    kind : {"cycle", "wheel", "mixed"} or sequence of {"cycle", "wheel"}
        Kind of all components, a fair draw for each, or the kind of each.
    functions : {"and", "or", "xor", "random", "mixed"}
        Function of every node; "random" makes half of the nodes AND (rounded down), the rest OR, in random order;
        "mixed" a third of the nodes each AND, OR and XOR, with which PNS is not ATE.
    noise : float or (float, float)
        P(U = 1) of every node, or the range from which each node's is drawn uniformly and rounded to one decimal.
    min_pns : float
        Least PNS of (root, leaf): worlds are drawn until one reaches it. Without it half of the worlds have a PNS
        below .01, so that a thousand samples may not contain a single case.
    nodes : sequence of str, optional
        Names of the nodes in topological order; else V00, V01, ...
    rng : int, Generator or None
        Seed.

    Returns
    -------
    World
        One root, one leaf, sum(sizes) - len(sizes) + 1 nodes.

    Raises
    ------
    ValueError
        If a size, a range or a name is invalid, or no world with `min_pns` was found.

    Examples
    --------
    >>> from causaleval_pd.reasoning import sample_world
    >>> world = sample_world([4, 3, 4], "cycle", "random", min_pns=0.05, rng=7)
    >>> world.cut_nodes, world.pns("V00", "V08") >= 0.05
    (('V00', 'V03', 'V05', 'V08'), True)
    """
    read_sizes(sizes, "sizes", "the numbers of nodes of the components, as [3, 3]", whole=True)
    sizes = [int(size) for size in sizes]
    kinds = _component_kinds(kind, sizes)
    check_known(functions, (*FUNCTIONS, "random", "mixed"), "choice of functions")
    n_nodes = sum(sizes) - len(sizes) + 1
    width = max(2, len(str(n_nodes - 1)))
    names = [f"V{i:0{width}d}" for i in range(n_nodes)] if nodes is None else [str(node) for node in nodes]
    if len(set(names)) != n_nodes or len(names) != n_nodes:
        raise ValueError(f"nodes must be {n_nodes} different names, found {names}")
    check_number(min_pns, "min_pns", "[0, 1)")
    ends = [noise] * 2 if isinstance(noise, (int, float)) else noise
    if not isinstance(ends, (tuple, list)) or len(ends) != 2:
        raise ValueError(f"noise must be a range (low, high) in [0, 1], found {shown(noise)}")
    low = check_number(ends[0], "noise", "[0, 1]")
    high = check_number(ends[1], "noise", f"[{low:g}, 1]")
    n_and = {"and": n_nodes, "random": n_nodes // 2, "mixed": n_nodes // 3}.get(functions, 0)
    n_xor = {"xor": n_nodes, "mixed": n_nodes // 3}.get(functions, 0)
    every = ["and"] * n_and + ["xor"] * n_xor + ["or"] * (n_nodes - n_and - n_xor)
    generator = np.random.default_rng(resolve_seed(rng))
    best = 0.0
    for _ in range(_TRIES):
        drawn = [str(k) for k in generator.choice(KINDS, len(sizes))] if kinds is None else kinds
        edges, first = [], 0
        for size, shape in zip(sizes, drawn, strict=True):
            edges += [(names[first + i], names[first + j]) for i, j in component_edges(size, shape)]
            first += size - 1
        drawn_functions = dict(zip(names, generator.permutation(every).tolist(), strict=True))
        uniform = generator.uniform(low, high, n_nodes)
        # only drawn probabilities are rounded
        rates = [low] * n_nodes if math.isclose(low, high) else uniform.round(1).tolist()
        world = World(edges, drawn_functions, dict(zip(names, rates, strict=True)))
        best = max(best, world.pns(names[0], names[-1])) if min_pns else best
        if best >= min_pns:
            return world
    raise ValueError(
        f"none of {_TRIES} worlds of sizes {sizes} had a PNS of at least {min_pns} from root to leaf; the best had "
        f"{best:.3g}: ask for less, for fewer or smaller components, or for other functions or noise"
    )


def example_world(p: float = 0.4, function: Literal["and", "or"] = "or") -> World:
    """Return the example graph of the compositional causal reasoning paper.

    X and C are joined by two parallel arms, C and D by an edge, D and Y by two parallel arms; its cut nodes are X, C, D
    and Y.

    Parameters
    ----------
    p : float
        P(U = 1) of every node.
    function : {"and", "or"}
        Function of every node.

    Returns
    -------
    World
        Eight nodes.

    Examples
    --------
    >>> from causaleval_pd.reasoning import example_world
    >>> truths = example_world().truths("cut").set_index(["cause", "effect"])
    >>> truths["pns"].round(4).to_dict()
    {('X', 'C'): 0.216, ('X', 'D'): 0.1296, ('X', 'Y'): 0.028, ('C', 'D'): 0.6, ('C', 'Y'): 0.1296, ('D', 'Y'): 0.216}
    """
    edges = [(edge[0], edge[1]) for edge in ("XA", "XB", "AC", "BC", "CD", "DE", "DF", "EY", "FY")]
    nodes = "XABCDEFY"
    return World(edges, dict.fromkeys(nodes, function), dict.fromkeys(nodes, p))


def component_edges(size: int, kind: str) -> list[tuple[int, int]]:
    """Return the edges of one component over nodes 0 .. size - 1, from its only source 0 to its only sink size - 1."""
    # A "cycle" is a path with a shortcut from source to sink, a "wheel" a hub 0 that leads to such a path; two nodes
    # are one edge, three a triangle, whatever the kind.
    last = size - 1
    if size == 2:
        return [(0, 1)]
    if kind == "cycle":
        return [*pairwise(range(size)), (0, last)]
    return [*((0, i) for i in range(1, size)), *pairwise(range(1, size)), *([(1, last)] if size > 3 else [])]


def _component_kinds(kind: Any, sizes: list[int]) -> list[str] | None:
    """Check sizes and return the kind of each component, or None where they are drawn."""
    if not sizes:
        raise ValueError("sizes must name at least one component")
    if min(sizes) < 2:
        raise ValueError(f"a component has at least 2 nodes, found sizes {sizes}")
    if sum(sizes) > MAX_NODES:
        raise ValueError(f"a drawn world has at most {MAX_NODES} nodes, found {sum(sizes)} in all components")
    if kind == "mixed":
        return None
    kinds = [kind] * len(sizes) if isinstance(kind, str) else kind
    check_type(kinds, (tuple, list), f"one of {', '.join(map(repr, KINDS))} or 'mixed', or one a component", "kind")
    for one in kinds:
        check_known(one, (*KINDS, "mixed") if isinstance(kind, str) else KINDS, "kind of component")
    if len(kinds) != len(sizes):
        raise ValueError(f"kind must name one kind a component: {len(sizes)} sizes, {len(kinds)} kinds")
    return list(kinds)


def read_sizes(given: Any, name: str, expected: str, *, whole: bool = False) -> None:
    """Refuse anything but a sequence; with `whole`, anything but a sequence of integers."""
    if isinstance(given, (str, Mapping)) or not isinstance(given, (Sequence, np.ndarray)):
        raise TypeError(f"{name} must hold {expected}, found {shown(given)}")
    for size in given if whole else ():
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
            raise TypeError(f"{name} must hold {expected}, found {shown(given)}")
