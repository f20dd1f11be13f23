"""Linear-Gaussian worlds: effects are sums over paths of products of weights, and compose along cut nodes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from ...contract.checks import check_known, check_number, check_type
from ...execution.random_streams import RNGLike, resolve_seed, row_keys, uniforms
from .causal_graph import Pair, acyclic_graph, read_edges, topological_order
from .components import Kind, component_kinds, join_components, read_sizes
from .random_worlds import read_range

__all__ = ["LinearWorld", "sample_linear_world"]


class LinearWorld:
    """Linear structural causal model: a node is the weighted sum of its parents plus Gaussian noise of its own.

    Parameters
    ----------
    weights : mapping of (str, str) to float
        Weight by edge (parent, child) of a directed acyclic graph.
    noise : mapping of str to float
        Standard deviation of the noise by node; its keys are the nodes.
    intercepts : mapping of str to float, optional
        Constant by node; 0 where not given.

    Raises
    ------
    ValueError
        If an edge names an unknown node, the edges form a cycle, a number is not finite, or a deviation is negative.

    Notes
    -----
    The average effect of do(X=x+1) against do(X=x) on Y is the sum, over the directed paths from X to Y, of the
    products of weights along them [1]_. It multiplies along nodes that all those paths share, and adds over arms that
    share only their ends. The first rule holds for the PNS too, the second does not.

    References
    ----------
    .. [1] Wright, S. (1934). The method of path coefficients. doi:10.1214/aoms/1177732676
    .. [2] Maasch et al. (2025), doi:10.48550/arXiv.2503.04556

    Examples
    --------
    >>> from causaleval_pd.reasoning import LinearWorld
    >>> weights = {("X", "M"): 2.0, ("M", "Y"): 0.5, ("X", "Y"): -3.0}
    >>> world = LinearWorld(weights, {"X": 1.0, "M": 1.0, "Y": 1.0})
    >>> world.ate("X", "Y"), world.path_effect(["X", "M", "Y"])
    (-2.0, 1.0)
    """

    def __init__(
        self,
        weights: Mapping[Pair, float],
        noise: Mapping[str, float],
        intercepts: Mapping[str, float] | None = None,
    ) -> None:
        check_type(weights, Mapping, "a mapping of (parent, child) pairs to weights", "weights")
        check_type(noise, Mapping, "a mapping of every node to a standard deviation", "noise")
        if intercepts is not None:
            check_type(intercepts, Mapping, "a mapping of nodes to constants", "intercepts")
        read_edges(weights)
        self.weights: dict[Pair, float] = {(str(p), str(c)): float(w) for (p, c), w in weights.items()}
        self.noise: dict[str, float] = {str(node): float(sd) for node, sd in noise.items()}
        self.intercepts: dict[str, float] = dict.fromkeys(self.noise, 0.0)
        for edge in self.weights:
            for node in edge:
                check_known(node, self.noise, f"node of edge {edge}:")
        for node, constant in (intercepts or {}).items():
            check_known(node, self.noise, "node")
            self.intercepts[node] = float(constant)
        numbers = [*self.weights.values(), *self.noise.values(), *self.intercepts.values()]
        if not np.isfinite(numbers).all() or any(sd < 0 for sd in self.noise.values()):
            raise ValueError("weights, noise and intercepts must be finite numbers, and no standard deviation negative")
        self._graph = acyclic_graph(self.weights, self.noise)
        self.nodes: tuple[str, ...] = topological_order(self._graph, self.noise)

    def __repr__(self) -> str:
        return f"LinearWorld({len(self.nodes)} nodes, {len(self.weights)} edges)"

    @cached_property
    def _effects(self) -> NDArray[np.float64]:
        """Total effect of each node (row) on each node (column); 1 on itself."""
        place = {node: i for i, node in enumerate(self.nodes)}
        total = np.eye(len(self.nodes))
        for node in self.nodes:
            for parent in self._graph.predecessors(node):
                total[:, place[node]] += self.weights[parent, node] * total[:, place[parent]]
        return total

    def ate(self, cause: str, effect: str) -> float:
        """Return the effect of raising the cause by one on the mean of the effect; 0 without a path."""
        check_known(cause, self.nodes, "node")
        check_known(effect, self.nodes, "node")
        return float(self._effects[self.nodes.index(cause), self.nodes.index(effect)])

    def p_do(self, cause: str, effect: str, value: float, threshold: float) -> float:
        """Return P(effect > threshold | do(cause=value)), exactly; 0 or 1 where the effect has no variance."""
        mean, variance = self._moments(cause, effect, value)
        if variance == 0:
            return float(mean > threshold)
        return 0.5 * math.erfc((threshold - mean) / math.sqrt(2 * variance))

    def _moments(self, cause: str, effect: str, value: float) -> tuple[float, float]:
        """Return mean and variance of the effect under do(cause=value)."""
        total = self.ate(cause, effect)
        j, i = self.nodes.index(effect), self.nodes.index(cause)
        # effect of each node's noise along paths that avoid the cause; 0 for the cause itself
        around = self._effects[:, j] - self._effects[:, i] * total
        mean = value * total + sum(around[k] * self.intercepts[node] for k, node in enumerate(self.nodes))
        return float(mean), float(sum((around[k] * self.noise[node]) ** 2 for k, node in enumerate(self.nodes)))

    def paths(self, cause: str, effect: str) -> Iterator[tuple[str, ...]]:
        """Yield the directed paths from cause to effect, one at a time; their number may be exponential."""
        import networkx as nx

        check_known(cause, self.nodes, "node")
        check_known(effect, self.nodes, "node")
        yield from (tuple(path) for path in nx.all_simple_paths(self._graph, cause, effect))

    def path_effect(self, path: Sequence[str]) -> float:
        """Return the product of the weights along a directed path."""
        edges = list(pairwise(path))
        if missing := [edge for edge in edges if edge not in self.weights]:
            raise ValueError(f"this world has no edges {missing}, so {list(path)} is not a path")
        return math.prod(self.weights[edge] for edge in edges)

    def arms(self, cause: str, effect: str) -> pd.DataFrame:
        """Split an effect into arms that share only their ends, and each arm into factors.

        Parameters
        ----------
        cause, effect : str
            Ends of the arms.

        Returns
        -------
        DataFrame
            Columns arm (0 is the direct edge, if there is one), cause, effect, ate; a row a factor. The factors of an
            arm are the effects, within the arm, between neighbouring nodes that all its paths share. The sum over
            arms of the product of their factors is the whole effect.

        Examples
        --------
        >>> from causaleval_pd.reasoning import sample_linear_world
        >>> world = sample_linear_world([[3, 3], [2, 2]], rng=1)
        >>> arms = world.arms(world.nodes[0], world.nodes[-1])
        >>> total = arms.groupby("arm")["ate"].prod().sum()
        >>> bool(abs(total - world.ate(world.nodes[0], world.nodes[-1])) < 1e-12)
        True
        """
        import networkx as nx

        check_known(cause, self.nodes, "node")
        check_known(effect, self.nodes, "node")
        between = (nx.descendants(self._graph, cause) | {cause}) & (nx.ancestors(self._graph, effect) | {effect})
        graph = self._graph.subgraph(between)
        rows: list[tuple[int, str, str, float]] = []
        inner = graph.subgraph(between - {cause, effect})
        place = {node: i for i, node in enumerate(self.nodes)}
        arms = sorted(nx.weakly_connected_components(inner), key=lambda arm: min(place[node] for node in arm))
        if graph.has_edge(cause, effect):
            rows.append((0, cause, effect, self.weights[cause, effect]))
        for number, arm in enumerate(arms, start=len(rows)):
            rows += [(number, *factor) for factor in self._factors(cause, effect, set(arm), place)]
        table = pd.DataFrame(rows, columns=["arm", "cause", "effect", "ate"])
        return table.astype({"arm": "int64", "cause": "str", "effect": "str", "ate": "float64"})

    def _factors(
        self, cause: str, effect: str, arm: set[str], place: Mapping[str, int]
    ) -> Iterator[tuple[str, str, float]]:
        """Yield the effects between neighbouring cut nodes of one arm, within the arm."""
        import networkx as nx

        edges = [edge for edge in self.weights if set(edge) <= arm | {cause, effect} and edge != (cause, effect)]
        own = LinearWorld({edge: self.weights[edge] for edge in edges}, dict.fromkeys([cause, *arm, effect], 1.0))
        graph = nx.Graph(edges)
        cuts = sorted(set(nx.articulation_points(graph)) - {cause, effect}, key=lambda node: place[node])
        stops = [cause, *cuts, effect]
        yield from ((a, b, own.ate(a, b)) for a, b in pairwise(stops))

    def sample(self, n: int, rng: RNGLike = None, *, start: int = 0) -> pd.DataFrame:
        """Draw noise: a float column a node, a row a sample; seeded as in `World.sample`."""
        if n < 0 or start < 0:
            raise ValueError(f"n and start must not be negative, found {n} and {start}")
        names = pd.DataFrame({"node": pd.Series(self.nodes, dtype="str")})
        keys = row_keys(names, "node", resolve_seed(rng))
        sd = np.array([self.noise[node] for node in self.nodes])[:, None]
        # half a step from both ends of [0, 1), where the quantile would be infinite
        drawn = scipy.special.ndtri(uniforms(keys, start, n) * (1 - 2.0**-53) + 2.0**-54) * sd
        index = pd.RangeIndex(start, start + n, name="sample")
        return pd.DataFrame(drawn.T, index=index, columns=pd.Index(self.nodes, dtype="str"))

    def values(self, noise: pd.DataFrame, do: Mapping[str, float] | None = None) -> pd.DataFrame:
        """Compute all nodes from noise, factual or with the nodes in `do` set to numbers."""
        do = {} if do is None else dict(do)
        for node in do:
            check_known(node, self.nodes, "node")
        values: dict[str, NDArray[np.float64]] = {}
        for node in self.nodes:
            if node in do:
                values[node] = np.full(len(noise), float(do[node]))
                continue
            above = [self.weights[parent, node] * values[parent] for parent in self._graph.predecessors(node)]
            values[node] = sum(above, noise[node].to_numpy() + self.intercepts[node])
        return pd.DataFrame(values, index=noise.index)


def sample_linear_world(
    arms: Sequence[Sequence[int]],
    kind: Kind = "cycle",
    *,
    direct: bool = True,
    weights: tuple[float, float] = (0.5, 1.5),
    noise: float = 1.0,
    rng: RNGLike = None,
) -> LinearWorld:
    """Draw a linear world with arms of components from one root to one leaf.

    Parameters
    ----------
    arms : sequence of sequences of int
        Sizes of the components of each arm, as in `sample_world`; an arm has at least three nodes, ends included. The
        shortcut of an arm of one component is the direct edge.
    kind : {"cycle", "wheel", "mixed"}
        Kind of the components.
    direct : bool
        Whether an edge leads from root to leaf as well.
    weights : (float, float)
        Range of the absolute weights, drawn uniformly and rounded to two decimals; signs are equally likely.
    noise : float
        Standard deviation of every node's noise.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    LinearWorld
        Nodes V00 (root) to the last (leaf).

    Raises
    ------
    ValueError
        If an arm has no inner node, or a range is invalid.

    Examples
    --------
    >>> from causaleval_pd.reasoning import sample_linear_world
    >>> sample_linear_world([[3, 3], [2, 2]], rng=1)
    LinearWorld(6 nodes, 9 edges)
    """
    low, high = read_range(weights, "weights", "[0, inf)")
    check_number(noise, "noise", "[0, inf)")
    read_sizes(arms, "arms", "one sequence of sizes an arm, as [[3, 3], [2, 2]]")
    generator = np.random.default_rng(resolve_seed(rng))
    for sizes in arms:
        read_sizes(sizes, "arms", "one sequence of sizes an arm, as [[3, 3], [2, 2]]", whole=True)
        component_kinds(kind, list(sizes))
    inner = [sum(sizes) - len(sizes) - 1 for sizes in arms]
    if not arms or any(count < 1 for count in inner):
        raise ValueError(f"every arm needs at least one node between root and leaf, found arms {list(map(list, arms))}")
    width = max(2, len(str(sum(inner) + 1)))
    names = [f"V{i:0{width}d}" for i in range(sum(inner) + 2)]
    edges: list[Pair] = [(names[0], names[-1])] if direct else []
    first = 1
    for sizes, count in zip(arms, inner, strict=True):
        kinds = component_kinds(kind, list(sizes)) or [str(k) for k in generator.choice(["cycle", "wheel"], len(sizes))]
        edges += join_components(sizes, kinds, [names[0], *names[first : first + count], names[-1]])
        first += count
    # the shortcut of an arm of one component is the direct edge
    edges = list(dict.fromkeys(edges))
    size = generator.uniform(low, high, len(edges)).round(2) * generator.choice([-1.0, 1.0], len(edges))
    return LinearWorld(dict(zip(edges, size.tolist(), strict=True)), dict.fromkeys(names, noise))
