"""Compositions: the ways in which a whole effect is a product of effects along cut nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...contract.checks import check_whole


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

    PNS of (root, leaf) is the product of PNS along each of them. Their number doubles with each cut node, so they are
    never all held: take the first ones by `itertools.islice`. They come in lexicographic order of the nodes' places, so
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
