"""From cells of mixed formats to blocks of planes: node names are matched a node set at a time, marks set in bulk."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ...contract.checks import check_known
from ..edge_strings import parse_edges
from ..graph import ENCODINGS, Graph
from ..header import check_names
from ..kernels.planes import arcs_from_planes, planes_from_arcs, planes_from_marks, row_chunks
from ..packed import Block, UnpackedColumn, Where, is_packed, unpack_array, unpack_column
from .formats import (
    AmbiguousEncodingError,
    Arcs,
    Labels,
    causal_learn_fault,
    causal_learn_graph,
    cell_format,
    check_matrix,
    frame_matrix,
    matrix_fault,
    read_edge_list,
    read_networkx,
    short,
    sparse_arcs,
)

Ints = NDArray[np.int64]
Nodes = tuple[str, ...]


class NodeLists:
    """The `nodes=` argument: no names, the same names for all rows, or names a row."""

    def __init__(self, nodes: Any, n_rows: int, index: pd.Index | None) -> None:
        self.in_code_point_order = False
        self._all: Nodes | None = None
        self._rows: Sequence[Nodes | None] | None = None
        if nodes is None:
            return
        if isinstance(nodes, (str, bytes, Graph)) or not isinstance(nodes, Iterable):
            raise TypeError(f"nodes must be a list of names, one list a row, or a packed column, found {nodes!r}")
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
            given = list(nodes)
            if any(not isinstance(one, (str, int, np.integer)) for one in given):
                self._rows = [self._one_row(i, one) for i, one in enumerate(given)]
            else:
                self._all = tuple(node_name(label) for label in given)
                _refuse_twice(self._all, "nodes")
        if self._rows is not None and len(self._rows) != n_rows:
            raise ValueError(f"nodes has {len(self._rows)} rows, values has {n_rows}")

    @staticmethod
    def _one_row(row: int, labels: Any) -> Nodes | None:
        if labels is None or labels is pd.NA or (isinstance(labels, float) and np.isnan(labels)):
            return None
        if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
            raise TypeError(f"nodes, row {row}: found {labels!r}, expected a list of node names as in the other rows")
        names = tuple(node_name(label) for label in labels)
        _refuse_twice(names, f"nodes, row {row}")
        return names

    def __getitem__(self, row: int) -> Nodes | None:
        """Return the names for a row, in the order in which they were given."""
        return self._all if self._rows is None else self._rows[row]


def node_name(label: Hashable) -> str:
    """Return a node label as a name; integers are written in decimals."""
    if isinstance(label, str):
        return str(label)
    if isinstance(label, (int, np.integer)) and not isinstance(label, bool):
        return str(label)
    raise TypeError(
        f"found the node {label!r} of type {type(label).__name__}, expected a string; relabel nodes by rename="
    )


def _refuse_twice(names: Sequence[str], whose: str) -> None:
    if len(set(names)) < len(names):
        name = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"{whose}: has the node name {name!r} twice; names must be unique")


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
        self._matched: dict[tuple[Labels, Nodes | None, bool], Matched] = {}

    def match(self, labels: Labels, expected: Nodes | None, *, complete: bool = False) -> Matched:
        """Match the labels of a named object with the expected names, which `complete` lets add nodes."""
        key = (labels, expected, complete)
        found = self._matched.get(key)
        if found is None:
            found = self._matched[key] = self._match(labels, expected, complete)
        return found

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
                f"found the nodes {short(names)}, expected {short(expected)} (nodes=): {', '.join(differences)}; "
                "relabel by rename=, or mend the graph's nodes"
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


@dataclass
class _SameSize:
    """Graphs with as many nodes: one by one as arcs, `at` counting the graphs, and in blocks of planes."""

    rows: list[int] = field(default_factory=list)
    node_set: list[int] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    source: list[int] = field(default_factory=list)
    target: list[int] = field(default_factory=list)
    stacks: list[tuple[Ints, Ints, NDArray[np.uint64]]] = field(default_factory=list)

    def block(self, n_nodes: int) -> Block:
        at, source, target = (np.array(x, dtype=np.int64) for x in (self.at, self.source, self.target))
        single = planes_from_arcs(len(self.rows), n_nodes, at, source, target)
        parts = [(np.array(self.rows, np.int64), np.array(self.node_set, np.int64), single), *self.stacks]
        rows, node_set, planes = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        order = np.argsort(rows)
        return Block(n_nodes, rows[order], planes[order], np.zeros(len(rows), np.uint8), node_set[order])


class Collector:
    """Gathers the arcs of cells by number of nodes."""

    def __init__(self) -> None:
        self._sizes: defaultdict[int, _SameSize] = defaultdict(_SameSize)

    def add(self, row: int, matched: Matched, arcs: Arcs) -> None:
        """Add one graph whose arcs are positions in the matched labels."""
        size, rank = self._sizes[matched.n_nodes], matched.rank
        size.at.extend([len(size.rows)] * len(arcs))
        size.rows.append(row)
        size.node_set.append(matched.node_set)
        size.source.extend([rank[s] for s, _ in arcs])
        size.target.extend([rank[t] for _, t in arcs])

    def add_stack(self, rows: Ints, matched: Matched, marks: NDArray[np.bool_]) -> None:
        """Add graphs over the same labels, (N, d, d) with True in cell (i, j) for the mark i -> j."""
        node_set = np.full(len(rows), matched.node_set, dtype=np.int64)
        planes = planes_from_marks(marks, np.argsort(np.array(matched.rank, dtype=np.int64)))
        self._sizes[matched.n_nodes].stacks.append((rows, node_set, planes))

    def blocks(self) -> tuple[Block, ...]:
        """Return all graphs as blocks, rows ascending, their class still to be said."""
        return tuple(self._sizes[n_nodes].block(n_nodes) for n_nodes in sorted(self._sizes))


class Cells:
    """Reads cells one after another; matrices wait until they can be decoded as stacks."""

    def __init__(self, where: Where, nodes: NodeLists, encoding: str | None, rename: Any) -> None:
        if encoding is not None:
            check_known(encoding, ENCODINGS, "encoding")
        if rename is not None and not isinstance(rename, Mapping):
            raise TypeError(f"rename must be a mapping of labels to node names, found {type(rename).__name__}")
        self._where, self._nodes, self._encoding = where, nodes, encoding
        self._sets, self._collector = NodeSets(rename), Collector()
        self._parsed: dict[str, tuple[Nodes, Arcs]] = {}
        self._packed: list[tuple[int, bytes]] = []
        self._stacks: defaultdict[tuple[str, Labels, Nodes | None], list[tuple[int, NDArray[Any]]]] = defaultdict(list)

    def read(self, cells: Iterable[Any], n_rows: int) -> tuple[UnpackedColumn, NDArray[np.int16]]:
        """Return the graphs, and a row's class code where its cell declares one, else -1."""
        for row, cell in enumerate(cells):
            try:
                self._read_one(row, cell)
            except (ValueError, TypeError) as fault:
                raise self._at_row(row, fault) from fault
        declared = np.full(n_rows, -1, dtype=np.int16)
        self._read_packed(declared)
        self._read_stacks()
        blocks = self._collector.blocks()
        return UnpackedColumn(n_rows, blocks, tuple(self._sets.known)), declared

    def _at_row(self, row: int, fault: Exception) -> Exception:
        own = (kind for kind in (AmbiguousEncodingError, TypeError) if isinstance(fault, kind))
        return next(own, ValueError)(f"{self._where(row)}: {fault}")

    def _read_one(self, row: int, cell: Any) -> None:
        form = cell_format(cell)
        if form == "missing":
            return
        if form == "packed":
            self._packed.append((row, cell.to_bytes() if isinstance(cell, Graph) else cell))
            return
        expected = self._nodes[row]
        if form == "networkx":
            labels, arcs = read_networkx(cell)
            self._collector.add(row, self._sets.match(labels, expected), arcs)
        elif form in ("string", "edges"):
            labels, arcs = self._edge_string(cell) if form == "string" else read_edge_list(cell)
            if not labels and expected is None and (form == "edges" or cell.strip() != "{}"):
                raise ValueError(
                    f"found {cell!r}, which names no nodes; pass nodes=, write a graph without edges as bare names "
                    "('A; B'), one without nodes as '{}'"
                )
            self._collector.add(row, self._sets.match(labels, expected, complete=True), arcs)
        elif form == "causal-learn":
            found = causal_learn_graph(cell)
            if found is not None:
                labels, matrix = found
                check_matrix(matrix)
                _refuse_other_size(matrix, labels)
                self._stacks[form, labels, expected].append((row, matrix))
        elif form == "frame":
            self._refuse_no_encoding(cell)
            labels, matrix = frame_matrix(cell)
            check_matrix(matrix)
            self._stacks[form, labels, expected].append((row, matrix))
        else:
            check_matrix(cell)
            self._refuse_no_encoding(cell)
            names = self._matrix_names(cell, expected)
            _refuse_other_size(cell, names)
            if form == "sparse":
                arcs = sparse_arcs(cell, names)
                arcs = arcs if self._encoding == "row->column" else [(t, s) for s, t in arcs]
                self._collector.add(row, self._sets.place(names), arcs)
            else:
                self._stacks[form, names, None].append((row, cell))

    def _edge_string(self, text: str) -> tuple[Nodes, Arcs]:
        found = self._parsed.get(text)
        if found is None:
            found = self._parsed[text] = parse_edges(text)
        return found

    def _refuse_no_encoding(self, cell: Any) -> None:
        if self._encoding is None:
            raise AmbiguousEncodingError(
                f"found a {type(cell).__name__} of shape {cell.shape}, which can be read in two ways; make the column "
                "with graph_column(..., encoding='row->column') if an edge i -> j is the 1 in cell (i, j) (networkx, "
                "NOTEARS, gCastle), with encoding='column->row' if it is in cell (j, i) (LiNGAM, pcalg)"
            )

    def _matrix_names(self, cell: Any, expected: Nodes | None) -> Nodes:
        if expected is None:
            return tuple(str(i) for i in range(cell.shape[0]))
        if self._nodes.in_code_point_order and not _is_natural_order(expected):
            raise AmbiguousEncodingError(
                f"found a {type(cell).__name__}, and nodes is a packed column, which lists {short(expected)} in "
                "code-point order; the matrix is probably in another order, so pass the names in its order as a list"
            )
        return expected

    def _read_packed(self, declared: NDArray[np.int16]) -> None:
        if not self._packed:
            return
        rows = [row for row, _ in self._packed]
        array = pa.array([cell for _, cell in self._packed], type=pa.large_binary())
        column = unpack_array(array, lambda local: self._where(rows[local]))
        for block in column.blocks:
            at, source, target = arcs_from_planes(block.planes, block.n_nodes)
            arcs = list(zip(source.tolist(), target.tolist(), strict=True))
            bounds = np.searchsorted(at, np.arange(len(block.rows) + 1)).tolist()
            for i, local in enumerate(block.rows.tolist()):
                row, names = rows[local], column.node_sets[block.node_set[i]]
                try:
                    matched = self._sets.match(names, self._nodes[row])
                except (ValueError, TypeError) as fault:
                    raise self._at_row(row, fault) from fault
                self._collector.add(row, matched, arcs[bounds[i] : bounds[i + 1]])
                declared[row] = block.kinds[i]

    def _read_stacks(self) -> None:
        for (form, labels, expected), waiting in self._stacks.items():
            names = tuple(str(label) for label in labels)
            try:
                matched = self._sets.place(names) if form == "matrix" else self._sets.match(labels, expected)
            except (ValueError, TypeError) as error:
                raise self._at_row(waiting[0][0], error) from error
            for part in row_chunks(len(waiting), 8 * len(names) ** 2):
                rows = np.array([row for row, _ in waiting[part]], dtype=np.int64)
                stack = np.stack([matrix for _, matrix in waiting[part]])
                fault = causal_learn_fault(stack, names) if form == "causal-learn" else matrix_fault(stack, names)
                if fault is not None:
                    raise ValueError(f"{self._where(int(rows[fault[0]]))}: {fault[1]}")
                # a tail in causal-learn's matrix is what i -> j and i -- j have in common
                marks = stack == -1 if form == "causal-learn" else stack != 0
                if form != "causal-learn" and self._encoding == "column->row":
                    marks = marks.transpose(0, 2, 1)
                self._collector.add_stack(rows, matched, marks)


def _refuse_other_size(matrix: Any, names: Sequence[Hashable]) -> None:
    if matrix.shape[0] != len(names):
        raise ValueError(
            f"found a matrix of {matrix.shape[0]} nodes, expected {len(names)} as there are names {short(names)}"
        )


def _is_natural_order(names: Nodes) -> bool:
    """Tell whether a person counting X1, X2, ... X10 would list the names in the same order."""

    def counted(name: str) -> list[tuple[int, str]]:
        return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"([0-9]+)", name)]

    return list(names) == sorted(names, key=counted)
