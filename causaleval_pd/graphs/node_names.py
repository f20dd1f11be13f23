"""Node names of cells: the `nodes=` argument, labels as names, and the node sets of a column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..contract.cells import is_missing, one_per_row
from ..contract.checks import hint_alike
from ..contract.encoding import Labels
from .packing import check_names, is_packed, unpack_column

Nodes = tuple[str, ...]

#: what editors write before the text of a file
BYTE_ORDER_MARK = "\ufeff"
EXPLAIN_MARK = "the byte order mark '\\ufeff' is not part of a name: read the file with encoding='utf-8-sig'"


def short(labels: Sequence[Any]) -> str:
    """Write a list of labels for a message."""
    return repr(list(labels)) if len(labels) <= 6 else f"[{', '.join(map(repr, labels[:5]))}, ... {len(labels)} in all]"


def node_name(label: Hashable, mend: str = "make the labels strings") -> str:
    """Return a node label as a name; integers are written in decimals."""
    if isinstance(label, str):
        if label[:1] == BYTE_ORDER_MARK:
            raise ValueError(f"found the node {label!r}; {EXPLAIN_MARK}")
        return str(label)
    if isinstance(label, (int, np.integer)) and not isinstance(label, bool):
        return str(label)
    if is_missing(label):
        raise TypeError(f"found a node without a name ({label!r}); name it, or drop the edge")
    raise TypeError(f"found the node {label!r} of type {type(label).__name__}, expected a string; {mend}")


def names_per_row(
    given: Any, argument: str, n_rows: int, index: pd.Index | None, whose: str, expected: str, *, ordered: bool = False
) -> list[Nodes | None]:
    """Return the names that an argument lists for each row: one list for all, or one per row, None where missing."""

    def names_of(labels: Any, place: str) -> Nodes | None:
        if labels is None:
            return None
        if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
            raise TypeError(f"{place}: found {labels!r}, expected a list of node names as in the other rows")
        if ordered and isinstance(labels, (set, frozenset)):
            raise TypeError(
                f"{place}: found a {type(labels).__name__}, which has no order; pass a list, as in sorted(nodes)"
            )
        try:
            names = tuple(node_name(label) for label in labels)
        except (TypeError, ValueError) as fault:
            raise type(fault)(f"{place}: {fault}") from None
        if len(set(names)) < len(names):
            twice = next(name for name, number in Counter(names).items() if number > 1)
            raise ValueError(f"{place}: has the node name {twice!r} twice; names must be unique")
        return names

    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise TypeError(f"{argument} must be {expected}, found {given!r}")
    if isinstance(given, pd.Series):
        if any(isinstance(one, str) for one in given):
            graphs = ", or make it a packed column by graph_column(nodes) if they are graphs" if ordered else ""
            raise TypeError(
                f"{argument} is a Series of strings; pass list({argument}) if these are names for all rows{graphs}"
            )
    else:
        given = given if isinstance(given, (set, frozenset)) else list(given)
        if all(isinstance(one, (str, int, np.integer)) for one in given):
            return [names_of(given, argument)] * n_rows
    entries = one_per_row(given, n_rows, index, argument, whose)
    return [names_of(one, f"{argument}, row {row}") for row, one in enumerate(entries)]


def is_natural_order(names: Nodes) -> bool:
    """Return whether the names are in the order of counting: X1, X2, ... X10."""

    def counted(name: str) -> list[tuple[int, str]]:
        return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"([0-9]+)", name)]

    return list(names) == sorted(names, key=counted)


class NodeLists(NamedTuple):
    """The `nodes=` argument: the names for each row, in the order in which they were given, or None."""

    rows: list[Nodes | None]
    in_code_point_order: bool = False

    @classmethod
    def read(cls, nodes: Any, n_rows: int, index: pd.Index | None = None) -> NodeLists:
        """Read no names, the same names for all rows, names per row, or the nodes of packed graphs."""
        if nodes is None:
            return cls([None] * n_rows)
        if isinstance(nodes, pd.Series) and is_packed(nodes):
            column = unpack_column(nodes)
            node_sets = (column.node_sets[i] if i >= 0 else None for i in column.row_node_set.tolist())
            named = pd.Series(list(node_sets), nodes.index, dtype=object)
            return cls(one_per_row(named, n_rows, index, "nodes", "values"), True)
        expected = "a list of names, one list per row, or a packed column"
        return cls(names_per_row(nodes, "nodes", n_rows, index, "values", expected, ordered=True))


class Matched(NamedTuple):
    """A node set, and where in it each label stands."""

    node_set: int
    n_nodes: int
    rank: list[int]


class NodeSets:
    """The node sets of a column: labels become names, names are compared with `nodes=`, each list of labels once."""

    def __init__(self, rename: Mapping[Hashable, Hashable] | None) -> None:
        self._rename = rename
        self.known: dict[Nodes, int] = {}
        self._matched: dict[tuple[Labels, tuple[type, ...], Nodes | None, bool], Matched] = {}

    def match(self, labels: Labels, expected: Nodes | None, *, complete: bool = False) -> Matched:
        """Match the labels of a named object with the expected names, which `complete` lets add nodes."""
        # True and 1.0 are equal to 1, and no names
        key = (labels, tuple(map(type, labels)), expected, complete)
        if key in self._matched:
            return self._matched[key]
        if self._rename is not None:
            labels = tuple(self._rename.get(label, label) for label in labels)
        names = tuple(node_name(label, "relabel nodes by rename=") for label in labels)
        absent: list[str] = []
        if expected is not None:
            unknown, absent = sorted(set(names) - set(expected)), sorted(set(expected) - set(names))
            if unknown or (absent and not complete):
                parts = [f"{what} {short(part)}" for what, part in (("unknown", unknown), ("absent", absent)) if part]
                raise ValueError(
                    f"found the nodes {short(names)}, expected {short(expected)} (nodes=): {', '.join(parts)}"
                    f"{hint_alike(unknown, absent)}; relabel by rename=, or mend the graph's nodes"
                )
        self._matched[key] = self.place(names, absent)
        return self._matched[key]

    def place(self, names: Nodes, isolated: Sequence[str] = ()) -> Matched:
        """Return where each name stands in the node set that the names and further isolated nodes make up."""
        nodes = tuple(sorted([*names, *isolated]))
        fault = check_names(nodes)
        if fault:
            raise ValueError(f"the graph {fault}")
        position = {name: i for i, name in enumerate(nodes)}
        return Matched(self.known.setdefault(nodes, len(self.known)), len(nodes), [position[name] for name in names])
