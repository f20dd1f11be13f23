"""Node names of cells: the `nodes=` argument, labels as names, and the node sets of a column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..contract.cells import is_missing
from ..contract.checks import BYTE_ORDER_MARK, EXPLAIN_MARK, hint_alike
from ..contract.encoding import Labels
from .packing import check_names, is_packed, unpack_column

Nodes = tuple[str, ...]


def short(labels: Sequence[Any]) -> str:
    """Write a list of labels for a message."""
    return repr(list(labels)) if len(labels) <= 6 else f"[{', '.join(map(repr, labels[:5]))}, ... {len(labels)} in all]"


def node_name(label: Hashable) -> str:
    """Return a node label as a name; integers are written in decimals."""
    if isinstance(label, str):
        if label[:1] == BYTE_ORDER_MARK:
            raise ValueError(f"found the node {label!r}; {EXPLAIN_MARK}")
        return str(label)
    if isinstance(label, (int, np.integer)) and not isinstance(label, bool):
        return str(label)
    raise TypeError(
        f"found the node {label!r} of type {type(label).__name__}, expected a string; relabel nodes by rename="
    )


def _refuse_twice(names: Sequence[str], whose: str) -> None:
    if len(set(names)) < len(names):
        name = next(name for name, number in Counter(names).items() if number > 1)
        raise ValueError(f"{whose}: has the node name {name!r} twice; names must be unique")


def _given_names(labels: Iterable[Any], whose: str) -> Nodes:
    """Return the names that `nodes=` lists."""
    try:
        names = tuple(node_name(label) for label in labels)
    except (TypeError, ValueError) as fault:
        raise type(fault)(f"{whose}: {fault}") from None
    _refuse_twice(names, whose)
    return names


def is_natural_order(names: Nodes) -> bool:
    """Return whether the names are in the order of counting: X1, X2, ... X10."""

    def counted(name: str) -> list[tuple[int, str]]:
        return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"([0-9]+)", name)]

    return list(names) == sorted(names, key=counted)


class NodeLists:
    """The `nodes=` argument: no names, the same names for all rows, or names a row."""

    def __init__(self, nodes: Any, n_rows: int, index: pd.Index | None) -> None:
        self.in_code_point_order = False
        self._all: Nodes | None = None
        self._rows: Sequence[Nodes | None] | None = None
        if nodes is None:
            return
        if isinstance(nodes, (str, bytes)) or not isinstance(nodes, Iterable):
            raise TypeError(f"nodes must be a list of names, one list per row, or a packed column, found {nodes!r}")
        if isinstance(nodes, (set, frozenset)):
            raise TypeError(f"nodes is a {type(nodes).__name__}, which has no order; pass a list, as in sorted(nodes)")
        if isinstance(nodes, pd.Series) and any(isinstance(one, str) for one in nodes.head(50)):
            raise TypeError(
                "nodes is a Series of strings; pass list(nodes) if these are node names, or make it a packed column by "
                "graph_column(nodes) if they are graphs"
            )
        if (
            isinstance(nodes, pd.Series)
            and index is not None
            and len(nodes) == n_rows
            and not nodes.index.equals(index)
        ):
            raise ValueError("nodes is a Series whose index differs from that of values; bring them into one order")
        if isinstance(nodes, pd.Series) and is_packed(nodes):
            column = unpack_column(nodes)
            self.in_code_point_order = True
            self._rows = [column.node_sets[i] if i >= 0 else None for i in column.row_node_set.tolist()]
        else:
            entries = list(nodes)
            if any(not isinstance(one, (str, int, np.integer)) for one in entries):
                self._rows = [self._one_row(i, one) for i, one in enumerate(entries)]
            else:
                self._all = _given_names(entries, "nodes")
        if self._rows is not None and len(self._rows) != n_rows:
            raise ValueError(f"nodes has {len(self._rows)} rows, values has {n_rows}")

    @staticmethod
    def _one_row(row: int, labels: Any) -> Nodes | None:
        if is_missing(labels):
            return None
        if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
            raise TypeError(f"nodes, row {row}: found {labels!r}, expected a list of node names as in the other rows")
        if isinstance(labels, (set, frozenset)):
            raise TypeError(f"nodes, row {row}: found a {type(labels).__name__}, which has no order; pass a list")
        return _given_names(labels, f"nodes, row {row}")

    def __getitem__(self, row: int) -> Nodes | None:
        """Return the names for a row, in the order in which they were given."""
        return self._all if self._rows is None else self._rows[row]


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
        pairing = self._matched.get(key)
        if pairing is None:
            pairing = self._matched[key] = self._match(labels, expected, complete)
        return pairing

    def _match(self, labels: Labels, expected: Nodes | None, complete: bool) -> Matched:
        if self._rename is not None:
            labels = tuple(self._rename.get(label, label) for label in labels)
        names = tuple(node_name(label) for label in labels)
        if expected is None:
            return self.place(names)
        unknown, absent = sorted(set(names) - set(expected)), sorted(set(expected) - set(names))
        if unknown or (absent and not complete):
            differences = [f"{what} {short(part)}" for what, part in (("unknown", unknown), ("absent", absent)) if part]
            raise ValueError(
                f"found the nodes {short(names)}, expected {short(expected)} (nodes=): {', '.join(differences)}"
                f"{hint_alike(unknown, absent)}; relabel by rename=, or mend the graph's nodes"
            )
        return self.place(names, absent)

    def place(self, names: Nodes, isolated: Sequence[str] = ()) -> Matched:
        """Return where each name stands in the node set that the names and further isolated nodes make up."""
        nodes = tuple(sorted([*names, *isolated]))
        fault = check_names(nodes)
        if fault:
            raise ValueError(f"the graph {fault}")
        position = {name: i for i, name in enumerate(nodes)}
        return Matched(self.known.setdefault(nodes, len(self.known)), len(nodes), [position[name] for name in names])
