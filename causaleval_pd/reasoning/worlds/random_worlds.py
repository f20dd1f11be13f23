"""Example and random causal worlds: components in a row, random functions and noise; the published example."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ...contract.checks import check_known, check_number, check_type, check_whole, shown
from ...execution.random_streams import RNGLike, resolve_seed
from .world import FUNCTIONS, World

__all__ = ["example_world", "sample_world"]

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

    References
    ----------
    .. [1] Maasch et al. (2025), doi:10.48550/arXiv.2503.04556

    Examples
    --------
    >>> from causaleval_pd.reasoning import sample_world
    >>> world = sample_world([4, 3, 4], "cycle", "random", min_pns=0.05, rng=7)
    >>> world.cut_nodes, world.pns("V00", "V08") >= 0.05
    (('V00', 'V03', 'V05', 'V08'), True)
    """
    read_sizes(sizes, "sizes", "the numbers of nodes of the components, as [3, 3]", whole=True)
    sizes = [int(size) for size in sizes]
    kinds = component_kinds(kind, sizes)
    check_known(functions, (*FUNCTIONS, "random", "mixed"), "choice of functions")
    n_nodes = sum(sizes) - len(sizes) + 1
    width = max(2, len(str(n_nodes - 1)))
    names = [f"V{i:0{width}d}" for i in range(n_nodes)] if nodes is None else [str(node) for node in nodes]
    if len(set(names)) != n_nodes or len(names) != n_nodes:
        raise ValueError(f"nodes must be {n_nodes} different names, found {names}")
    check_number(min_pns, "min_pns", "[0, 1)")
    low, high = read_range((noise, noise) if isinstance(noise, (int, float)) else noise, "noise", "[0, 1]")
    generator = np.random.default_rng(resolve_seed(rng))
    best = 0.0
    for _ in range(_TRIES):
        drawn = [str(k) for k in generator.choice(KINDS, len(sizes))] if kinds is None else kinds
        world = World(
            join_components(sizes, drawn, names),
            _draw_functions(functions, names, generator),
            _draw_noise(low, high, names, generator),
        )
        if min_pns == 0:
            return world
        found = world.pns(names[0], names[-1])
        if found >= min_pns:
            return world
        best = max(best, found)
    raise ValueError(
        f"none of {_TRIES} worlds of sizes {sizes} had a PNS of at least {min_pns} from root to leaf; the best had "
        f"{best:.3g}: ask for less, for fewer or smaller components, or for other functions or noise"
    )


def read_range(given: Any, name: str, interval: str) -> tuple[float, float]:
    """Check a range (low, high) within an interval, and return its ends."""
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise ValueError(f"{name} must be a range (low, high) in {interval}, found {shown(given)}")
    low, high = (check_number(value, name, interval) for value in given)
    if low > high:
        raise ValueError(f"{name} must be a range (low, high), found {shown(given)}, whose low is the larger")
    return low, high


def _draw_functions(functions: str, names: Sequence[str], generator: np.random.Generator) -> dict[str, Any]:
    n = len(names)
    n_and = {"and": n, "random": n // 2, "mixed": n // 3}.get(functions, 0)
    n_xor = {"xor": n, "mixed": n // 3}.get(functions, 0)
    drawn = generator.permutation(["and"] * n_and + ["xor"] * n_xor + ["or"] * (n - n_and - n_xor))
    return dict(zip(names, drawn.tolist(), strict=True))


def _draw_noise(low: float, high: float, names: Sequence[str], generator: np.random.Generator) -> dict[str, float]:
    drawn = generator.uniform(low, high, len(names))
    # only drawn probabilities are rounded
    rates = [low] * len(names) if math.isclose(low, high) else drawn.round(1).tolist()
    return dict(zip(names, rates, strict=True))


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

    References
    ----------
    .. [1] Maasch et al. (2025), doi:10.48550/arXiv.2503.04556

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


def component_edges(size: int, kind: Literal["cycle", "wheel"]) -> list[tuple[int, int]]:
    """Return the edges of one component over nodes 0 .. size - 1, from its only source 0 to its only sink size - 1."""
    # A "cycle" is a path with a shortcut from source to sink, a "wheel" a hub 0 that leads to such a path; two nodes
    # are one edge, three a triangle, whatever the kind.
    check_known(kind, KINDS, "kind of component")
    size = check_whole(size, "size of a component", 2)
    last = size - 1
    if size == 2:
        return [(0, 1)]
    if kind == "cycle":
        return [*((i, i + 1) for i in range(last)), (0, last)]
    rim = [(i, i + 1) for i in range(1, last)]
    return [*((0, i) for i in range(1, size)), *rim, *([(1, last)] if size > 3 else [])]


def component_kinds(kind: Any, sizes: list[int]) -> list[str] | None:
    """Check sizes and return the kind of each component, or None where they are drawn."""
    if not sizes:
        raise ValueError("sizes must name at least one component")
    for size in sizes:
        if size < 2:
            raise ValueError(f"a component has at least 2 nodes, found sizes {sizes}")
    if sum(sizes) > MAX_NODES:
        raise ValueError(f"a drawn world has at most {MAX_NODES} nodes, found {sum(sizes)} in all components")
    if isinstance(kind, str):
        check_known(kind, (*KINDS, "mixed"), "kind of component")
        return None if kind == "mixed" else [kind] * len(sizes)
    check_type(kind, (tuple, list), f"one of {', '.join(map(repr, KINDS))} or 'mixed', or one a component", "kind")
    kinds = [str(k) for k in kind]
    for k in kinds:
        check_known(k, KINDS, "kind of component")
    if len(kinds) != len(sizes):
        raise ValueError(f"kind must name one kind a component: {len(sizes)} sizes, {len(kinds)} kinds")
    return kinds


def join_components(sizes: Sequence[int], kinds: Sequence[Any], names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the edges of components in a row, over names in topological order."""
    edges, first = [], 0
    for size, kind in zip(sizes, kinds, strict=True):
        edges += [(names[first + i], names[first + j]) for i, j in component_edges(size, kind)]
        first += size - 1
    return edges


def read_sizes(given: Any, name: str, expected: str, *, whole: bool = False) -> None:
    """Refuse anything but a sequence; with `whole`, anything but a sequence of integers."""
    if isinstance(given, (str, Mapping)) or not isinstance(given, (Sequence, np.ndarray)):
        raise TypeError(f"{name} must hold {expected}, found {shown(given)}")
    for size in given if whole else ():
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
            raise TypeError(f"{name} must hold {expected}, found {shown(given)}")
