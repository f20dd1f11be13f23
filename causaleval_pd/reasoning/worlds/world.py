"""Causal worlds of binary variables: exact quantities of every pair, sampled noise and true answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ...contract.checks import check_known, check_number, check_type, check_whole
from ...execution.random_streams import RNGLike, resolve_seed, row_keys, uniforms
from .exact_quantities import EXACT_QUANTITIES, Divorced, divorce_parents, is_monotone, quantities_of, response_joints
from .structural_equations import (
    Pair,
    acyclic_graph,
    answers,
    evaluate,
    noise_by_node,
    read_edges,
    topological_order,
)

__all__ = ["World"]

#: what a question supposes: nothing, do(cause=1), do(cause=0); the last axis of `World.answers`
WORLDS = ("fact", "do1", "do0")

FUNCTIONS = ("and", "or", "xor")

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
    Quantities are exact and need no samples: noise is summed out node by node along a topological order, in a table
    over the nodes that later ones still need, each with three states (yes under neither intervention, under do(X=1)
    only, under both; with XOR also under do(X=0) only). Where single nodes join components, that is a product of small
    tables, one a component. Noise is enumerated instead where that is less work; a graph whose table would exceed 2**22
    entries and that has more than 22 noise terms is refused.

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
        check_type(noise, Mapping, "a mapping of every node to P(U = 1)", "noise")
        check_type(functions, Mapping, "a mapping of nodes with parents to 'and' or 'or'", "functions")
        self.edges: tuple[Pair, ...] = read_edges(edges)
        self.noise: dict[str, float] = {
            str(node): check_number(p, f"noise of node {node!r}", "[0, 1]") for node, p in noise.items()
        }
        _check_edges(self.edges, self.noise)
        graph = acyclic_graph(self.edges, self.noise)
        self.nodes: tuple[str, ...] = topological_order(graph, self.noise)
        self.parents: dict[str, tuple[str, ...]] = {
            node: tuple(p for p in self.nodes if graph.has_edge(p, node)) for node in self.nodes
        }
        self.functions: dict[str, str] = _check_functions(functions, self.parents)
        self._graph = graph

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
    def _divorced(self) -> Divorced:
        return divorce_parents(self)

    @property
    def roots(self) -> tuple[str, ...]:
        """Nodes without parents."""
        return tuple(node for node in self.nodes if not self.parents[node])

    @property
    def leaves(self) -> tuple[str, ...]:
        """Nodes without children."""
        return tuple(node for node in self.nodes if not self._graph.out_degree(node))

    @cached_property
    def cut_nodes(self) -> tuple[str, ...]:
        """Root, the nodes whose removal separates root from leaf, and leaf, in topological order.

        These are the nodes of the commutative cut tree, whose edges are all their ordered pairs.
        """
        import networkx as nx

        roots, leaves = self.roots, self.leaves
        if len(roots) != 1 or len(leaves) != 1 or len(self.nodes) < 2:
            raise ValueError(
                f"a cut tree needs one root and one other leaf; this world has roots {list(roots)} and leaves "
                f"{list(leaves)}; name pairs of nodes instead"
            )
        cuts = set(nx.articulation_points(self._graph.to_undirected()))
        return tuple(node for node in self.nodes if node in cuts or node in (roots[0], leaves[0]))

    @cached_property
    def components(self) -> tuple[tuple[str, ...], ...]:
        """Biconnected components from root to leaf, each in topological order; neighbours share a cut node."""
        import networkx as nx

        place = {node: i for i, node in enumerate(self.nodes)}
        blocks = cast(Iterable[set[str]], nx.biconnected_components(self._graph.to_undirected()))
        return tuple(
            sorted((tuple(sorted(b, key=lambda node: place[node])) for b in blocks), key=lambda b: place[b[0]])
        )

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
        return is_monotone(self)

    def pairs(self, which: Literal["all", "cut"] = "all") -> list[Pair]:
        """List ordered pairs (cause, effect).

        Parameters
        ----------
        which : {"all", "cut"}
            Every node with each of its descendants, or pairs of cut nodes.

        Returns
        -------
        list of (str, str)
            In topological order of the causes, then of the effects.
        """
        import networkx as nx

        if which == "cut":
            cut = self.cut_nodes
            return [(cause, effect) for i, cause in enumerate(cut) for effect in cut[i + 1 :]]
        check_known(which, ("all", "cut"), "choice of pairs")
        below = {node: nx.descendants(self._graph, node) for node in self.nodes}
        return [(cause, effect) for cause in self.nodes for effect in self.nodes if effect in below[cause]]

    def pns(self, cause: str, effect: str) -> float:
        """Return P(effect is yes under do(cause=1) and no under do(cause=0)), exactly."""
        return self._quantity(cause, effect, "pns")

    def ate(self, cause: str, effect: str) -> float:
        """Return p(effect | do(cause=1)) - p(effect | do(cause=0)), exactly; without XOR it equals the PNS."""
        return self._quantity(cause, effect, "ate")

    def pn(self, cause: str, effect: str) -> float:
        """Return P(effect is no under do(cause=0) | cause=1, effect=1), exactly; NaN if that cannot happen."""
        return self._quantity(cause, effect, "pn")

    def ps(self, cause: str, effect: str) -> float:
        """Return P(effect is yes under do(cause=1) | cause=0, effect=0), exactly; NaN if that cannot happen."""
        return self._quantity(cause, effect, "ps")

    def p_do(self, cause: str, effect: str, value: bool = True) -> float:
        """Return p(effect=1 | do(cause=value)), exactly."""
        return self._quantity(cause, effect, "p_do1" if value else "p_do0")

    def p_given(self, cause: str, effect: str, value: bool = True) -> float:
        """Return p(effect=1 | cause=value), exactly; NaN if the cause cannot have that value."""
        return self._quantity(cause, effect, "p_given1" if value else "p_given0")

    def p(self, node: str) -> float:
        """Return P(node=1) in the factual world, exactly."""
        check_known(node, self.nodes, "node")
        return float(response_joints(self._divorced, node, [node])[node][1].sum())

    def truths(self, pairs: Literal["all", "cut"] | Iterable[Pair] = "all") -> pd.DataFrame:
        """Return the exact quantities of several pairs as a table.

        Parameters
        ----------
        pairs : {"all", "cut"} or iterable of (str, str)
            Every node with each of its descendants, pairs of cut nodes, or the pairs given.

        Returns
        -------
        DataFrame
            Columns cause, effect, pns, ate, pn, ps, p_do1, p_do0, p_given1, p_given0; a row a pair.

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
        rows = self._pairs_of(pairs)
        by_cause: dict[str, list[str]] = {}
        for cause, effect in rows:
            by_cause.setdefault(cause, []).append(effect)
        joints = {cause: response_joints(self._divorced, cause, effects) for cause, effects in by_cause.items()}
        found = [quantities_of(joints[cause][effect]) for cause, effect in rows]
        names = pd.DataFrame(rows, columns=["cause", "effect"], dtype="str")
        return names.join(pd.DataFrame(found, columns=list(EXACT_QUANTITIES), dtype="float64"))

    def _quantity(self, cause: str, effect: str, name: str) -> float:
        self._pairs_of([(cause, effect)])
        return quantities_of(response_joints(self._divorced, cause, [effect])[effect])[name]

    def _pairs_of(self, pairs: Literal["all", "cut"] | Iterable[Pair]) -> list[Pair]:
        rows = self.pairs(pairs) if isinstance(pairs, str) else [(str(c), str(e)) for c, e in pairs]
        for cause, effect in rows:
            check_known(cause, self.nodes, "node")
            check_known(effect, self.nodes, "node")
            if cause == effect:
                raise ValueError(f"cause and effect of a pair must differ, found {cause!r} twice")
        return rows

    def sample(self, n: int, rng: RNGLike = None, *, start: int = 0) -> pd.DataFrame:
        """Draw noise.

        Parameters
        ----------
        n : int
            Number of samples.
        rng : int, Generator or None
            Seed. Noise depends on (seed, node, sample) alone, so that any part of a long sample can be drawn by itself.
        start : int
            Number of the first sample.

        Returns
        -------
        DataFrame
            A boolean column a node, a row a sample, indexed by the number of the sample.

        Examples
        --------
        >>> from causaleval_pd.reasoning import World
        >>> world = World([("X", "Y")], {"Y": "or"}, {"X": 0.5, "Y": 0.4})
        >>> world.sample(1000, rng=7).iloc[990:].equals(world.sample(10, rng=7, start=990))
        True
        """
        if n < 0 or start < 0:
            raise ValueError(f"n and start must not be negative, found {n} and {start}")
        names = pd.DataFrame({"node": pd.Series(self.nodes, dtype="str")})
        keys = row_keys(names, "node", resolve_seed(rng))
        p = np.array([self.noise[node] for node in self.nodes])[:, None]
        drawn = np.empty((len(self.nodes), n), np.bool_)
        for first in range(0, n, _SAMPLES):
            count = min(_SAMPLES, n - first)
            np.less(uniforms(keys, start + first, count), p, out=drawn[:, first : first + count])
        index = pd.RangeIndex(start, start + n, name="sample")
        return pd.DataFrame(drawn.T, index=index, columns=pd.Index(self.nodes, dtype="str"), copy=False)

    def values(self, noise: pd.DataFrame | ArrayLike, do: Mapping[str, bool] | None = None) -> pd.DataFrame:
        """Compute all nodes from noise, factual or under an intervention.

        Parameters
        ----------
        noise : DataFrame or array
            A boolean column a node, by name, or an array whose columns are in the order of `nodes`.
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
        found = np.stack(list(evaluate(self, noise_by_node(self.nodes, noise), do).values()))
        index = noise.index if isinstance(noise, pd.DataFrame) else None
        return pd.DataFrame(found.T, index=index, columns=pd.Index(self.nodes, dtype="str"), copy=False)

    def answers(
        self, noise: pd.DataFrame | ArrayLike, pairs: Literal["all", "cut"] | Iterable[Pair]
    ) -> NDArray[np.bool_]:
        """Compute the true answers to all questions about pairs, over the same noise.

        Parameters
        ----------
        noise : DataFrame or array
            Noise drawn by `sample`.
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
        return answers(self, noise_by_node(self.nodes, noise), self._pairs_of(pairs))


def _check_edges(edges: Sequence[Pair], noise: Mapping[str, float]) -> None:
    if not noise:
        raise ValueError("a world needs nodes: noise maps each node to P(U = 1), found an empty mapping")
    for edge in edges:
        if unknown := [node for node in edge if node not in noise]:
            raise ValueError(f"edge {edge} names {unknown}, which `noise` does not; give P(U = 1) of every node")


def _check_functions(functions: Mapping[str, str], parents: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    if unknown := [node for node in functions if node not in parents]:
        raise ValueError(f"functions name {unknown}, which are not nodes; the nodes are the keys of noise")
    for node, above in parents.items():
        if above and node not in functions:
            raise ValueError(f"node {node!r} has parents but no function; give 'and', 'or' or 'xor'")
        if node in functions:
            check_known(functions[node], FUNCTIONS, f"function of node {node!r}:")
    return {node: functions[node] for node in parents if node in functions}


def n_compositions(n_cut_nodes: int) -> int:
    """Count the paths of `compositions`: 2**(n - 2) - 1."""
    check_whole(n_cut_nodes, "n_cut_nodes (root and leaf included)", 2)
    return int(2 ** (n_cut_nodes - 2) - 1)


def compositions(cut_nodes: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield, one at a time, the paths from root to leaf of a cut tree that have at least two edges."""
    n_compositions(len(cut_nodes))
    root, *inner, leaf = cut_nodes
    for chosen in range(2 ** len(inner) - 1, 0, -1):
        bits = format(chosen, f"0{len(inner)}b")
        yield (root, *(node for node, bit in zip(inner, bits, strict=True) if bit == "1"), leaf)
