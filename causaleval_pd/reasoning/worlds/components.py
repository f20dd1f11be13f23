"""Components in a row: their edges, and the compositions of effects along the cut nodes between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ...contract.checks import check_known, check_type, check_whole, shown

__all__ = ["component_edges", "compositions", "n_compositions"]

KINDS = ("cycle", "wheel")
Kind = Literal["cycle", "wheel", "mixed"]

#: largest number of nodes of a random world
MAX_NODES = 10_000


def n_compositions(n_cut_nodes: int) -> int:
    """Count the paths from root to leaf of a cut tree that have at least two edges.

    Parameters
    ----------
    n_cut_nodes : int
        Number of cut nodes, root and leaf among them.

    Returns
    -------
    int
        2**(n - 2) - 1.

    Examples
    --------
    >>> from causaleval_pd.reasoning import n_compositions
    >>> n_compositions(21)
    524287
    """
    check_whole(n_cut_nodes, "n_cut_nodes (root and leaf included)", 2)
    return int(2 ** (n_cut_nodes - 2) - 1)


def compositions(cut_nodes: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield, one at a time, the paths from root to leaf of a cut tree that have at least two edges.

    The PNS of (root, leaf) is the product of the PNS along each path. The number of paths doubles with each cut node;
    take the first ones by `itertools.islice`. They come in lexicographic order of the nodes' positions, so
    the path over all cut nodes, whose factors are single components, is the first.

    Parameters
    ----------
    cut_nodes : sequence of str
        Root, cut nodes, leaf, in order.

    Yields
    ------
    tuple of str
        Nodes of a path.

    References
    ----------
    .. [1] Maasch et al. (2025), doi:10.48550/arXiv.2503.04556

    Examples
    --------
    >>> from causaleval_pd.reasoning import compositions
    >>> list(compositions(["X", "C", "D", "Y"]))
    [('X', 'C', 'D', 'Y'), ('X', 'C', 'Y'), ('X', 'D', 'Y')]
    """
    n_compositions(len(cut_nodes))
    root, *inner, leaf = cut_nodes
    for chosen in range(2 ** len(inner) - 1, 0, -1):
        bits = format(chosen, f"0{len(inner)}b")
        yield (root, *(node for node, bit in zip(inner, bits, strict=True) if bit == "1"), leaf)


def component_edges(size: int, kind: Literal["cycle", "wheel"]) -> list[tuple[int, int]]:
    """Return the edges of one component over nodes 0 .. size - 1, from its only source 0 to its only sink size - 1.

    Parameters
    ----------
    size : int
        Number of nodes, at least 2. Two nodes are one edge, three are a triangle, whatever the kind.
    kind : {"cycle", "wheel"}
        A path with a shortcut from source to sink; or a hub 0 that leads to a path with a shortcut.

    Returns
    -------
    list of (int, int)
        Edges (parent, child).

    Examples
    --------
    >>> from causaleval_pd.reasoning import component_edges
    >>> component_edges(4, "cycle")
    [(0, 1), (1, 2), (2, 3), (0, 3)]
    >>> component_edges(4, "wheel")
    [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3), (1, 3)]
    """
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
