"""Lists of (source, target) tuples as cells."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Any

import numpy as np

from ...contract.encoding import Edges, Encoding, register_encoding


def read_edge_list(cell: Collection[Any]) -> Edges:
    """Read (source, target) tuples; both directions make an undirected edge."""
    position: dict[tuple[type, Hashable], int] = {}
    arcs = []
    for edge in cell:
        if not isinstance(edge, tuple) or len(edge) != 2:
            mend = (
                "write edges as one text, as 'A -> B; B -> C'"
                if isinstance(edge, str)
                else "make nested lists a numpy array and name its encoding="
            )
            raise TypeError(f"found {edge!r} in a {type(cell).__name__}, expected (source, target) tuples; {mend}")
        source = position.setdefault(_distinct(edge[0]), len(position))
        arcs.append((source, position.setdefault(_distinct(edge[1]), len(position))))
    return Edges(tuple(label for _, label in position) or None, arcs, is_open=True)


def _distinct(label: Any) -> tuple[type, Hashable]:
    """Return a label with its type, so that True and 1.0 are not taken for 1."""
    if not isinstance(label, Hashable):
        raise TypeError(f"found the node {label!r} of type {type(label).__name__}, expected a string")
    if isinstance(label, np.generic):
        label = label.item()
    return type(label), label


def _is_likely(cell: Collection[Any]) -> bool:
    return bool(cell) and all(isinstance(edge, tuple) and len(edge) == 2 for edge in cell)


EDGE_LIST = register_encoding(
    Encoding(
        name="edge list",
        tool="Python",
        cells="edge list",
        meaning="(A, B) directed, (A, B) and (B, A) undirected",
        mark="an edge i -> j is the tuple (i, j)",
        example="[('A', 'B'), ('B', 'C'), ('C', 'B')]",
        read=read_edge_list,
        types=(list, tuple, set, frozenset),
        is_likely=_is_likely,
    )
)
