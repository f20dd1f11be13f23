"""Cells of any mix of formats: each is read as its encoding declares, then all are decoded in bulk."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, lru_cache
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ..contract.cells import is_missing
from ..contract.checks import check_type, refuse_masked, shown
from ..contract.encoding import (
    ENCODINGS,
    AmbiguousEncodingError,
    CellError,
    Edges,
    Encoding,
    Ends,
    Labels,
    Matrix,
    Pair,
    without_comment_marks,
)
from .classes import not_in_class
from .edge_marks import decode, decode_sparse, self_loop
from .edge_strings import cut, write_graph, write_names
from .kernels.planes import ADMG, KINDS, MIXED, row_chunks
from .mixed import marks as mixed
from .mixed.paths import MOST_NODES
from .node_names import BYTE_ORDER_MARK, EXPLAIN_MARK, Matched, NodeLists, Nodes, NodeSets, is_natural_order, short
from .packing import MAX_NODES, Block, UnpackedColumn, Where, join_by_key, unpack_array

Ints = NDArray[np.int64]
_Marks = dict[tuple[int, int], Pair]


def _blocks(n_nodes: int, rows: Ints, planes: NDArray[np.uint64], node_set: Ints) -> Iterator[Block]:
    """Yield graphs of four planes as blocks: those that have plain marks with two planes."""
    plain = mixed.has_plain_marks(planes)
    for some, change in ((plain, mixed.lower), (~plain, np.asarray)):
        if some.any():
            kinds = np.zeros(int(some.sum()), np.uint8)
            yield Block(n_nodes, rows[some], change(planes[some]), kinds, node_set[some])


def _blocks_of_edges(graphs: Iterable[tuple[int, Matched, _Marks]]) -> Iterator[Block]:
    """Yield graphs as blocks: of each its row, and its marks by pairs of positions in the matched labels."""
    by_size = defaultdict(list)
    for graph in graphs:
        by_size[graph[1].n_nodes].append(graph)
    for n_nodes, some in by_size.items():
        edges = (
            (at, matched.rank[i], matched.rank[j], *codes)
            for at, (_, matched, marks) in enumerate(some)
            for (i, j), codes in marks.items()
        )
        ends = np.fromiter(chain.from_iterable(edges), np.int64).reshape(-1, 5).T
        planes = mixed.planes_from_ends(len(some), n_nodes, ends)
        rows, node_set = np.array([(row, matched.node_set) for row, matched, _ in some], np.int64).T
        yield from _blocks(n_nodes, rows, planes, node_set)


def _one_a_pair(ends: Ends) -> _Marks:
    """Return the marks by pair of nodes: `->` beside `<->` has no mark at its tail, as in the planes."""
    marks: _Marks = {}
    for i, j, at_i, at_j in ends:
        pair, codes = ((i, j), (at_i, at_j)) if i < j else ((j, i), (at_j, at_i))
        if not (codes in ((0, 2), (2, 0)) or {*codes} <= {1, 2, 3}):
            raise ValueError(f"found an edge with the marks {codes}, expected 1 a tail, 2 an arrow or 3 a circle")
        known = marks.get(pair, codes)
        if known != codes:
            both = {known, codes}
            if both not in ({(1, 2), (2, 2)}, {(2, 1), (2, 2)}):
                raise ValueError("found two edges between the same nodes other than one directed and one bidirected")
            codes = (0, 2) if (1, 2) in both else (2, 0)
        marks[pair] = codes
    return marks


_Read = tuple[Encoding, Edges | Matrix | bytes]
#: texts that are kept to be found again
_MOST_TEXTS = 1 << 14


def refuse_blank(text: str) -> None:
    """Refuse a text in which nothing but ends of statements stands: a failed run must not count as a graph."""
    if not text.replace(";", "").strip():
        raise ValueError(
            f"found the blank text {text!r:.20}, which may be a graph without edges or a failed run; write a graph "
            "without edges as its nodes ('A; B', or '{}' with nodes=), and a failed run as a missing value (None)"
        )


def _read_cell(cell: Any, recogniser: Recogniser) -> _Read:
    """Return the encoding of a cell, and what it holds."""
    # before an encoding compares values with its codes
    of_marks = isinstance(cell, np.ndarray) and cell.dtype.kind == "U"
    fill, expected = ("''", "a mark") if of_marks else ("0", "0 or 1")
    refuse_masked(cell, expected, f"matrix.filled({fill}) where no edge is meant")
    if isinstance(cell, str) and cell[:1] == BYTE_ORDER_MARK:
        raise ValueError(f"found {BYTE_ORDER_MARK!r} in the name or heading that begins the text; {EXPLAIN_MARK}")
    encoding = recogniser.find(cell)
    content = encoding.read(cell)
    if isinstance(content, Edges) and content.labels is not None:
        for i, j, *_ in content.ends:
            if i == j:
                raise ValueError(self_loop(content.labels[i]))
    return encoding, content


class Cells:
    """Reads cells one after another; matrices and packed graphs wait until they can be decoded in bulk."""

    def __init__(
        self,
        where: Where,
        nodes: NodeLists,
        encoding: str | list[str | None] | None = None,
        rename: Mapping[Hashable, Hashable] | None = None,
    ) -> None:
        if rename is not None and not isinstance(rename, Mapping):
            raise TypeError(f"rename must be a mapping of labels to node names, found {type(rename).__name__}")
        self._where, self._nodes, self._encoding = where, nodes, encoding
        self._recogniser_of = cache(Recogniser)
        if not isinstance(encoding, list):
            self._recogniser(0)  # refuses an unknown name
        self._sets = NodeSets(rename)
        #: reads a text once, however often it stands in the column; of many different texts it keeps the last ones
        self._read_text = lru_cache(_MOST_TEXTS)(_read_cell)
        self._packed: list[tuple[int, bytes]] = []
        #: the class, as a code, that the cell of a row names
        self._named: dict[int, int] = {}
        #: matrices that are decoded together, of one encoding, shape and kind of number: their names, and rows
        self._stacks: dict[tuple[Any, ...], tuple[list[str], Matched, list[tuple[int, NDArray[Any]]]]] = {}
        self._graphs: list[tuple[int, Matched, _Marks]] = []

    def read(self, cells: Iterable[Any], n_rows: int) -> tuple[UnpackedColumn, NDArray[np.int16]]:
        """Return the graphs, and a row's class code where its cell declares one, else -1."""
        for row, cell in enumerate(cells):
            with self._naming(row, cell):
                if not is_missing(cell):
                    self._add(row, cell)
        declared = np.full(n_rows, -1, dtype=np.int16)
        self._decode_packed(declared)
        blocks = join_by_key(chain(self._decode_stacks(), _blocks_of_edges(self._graphs)))
        self._settle_named(blocks, declared)
        return UnpackedColumn(n_rows, blocks, tuple(self._sets.known)), declared

    def _recogniser(self, row: int) -> Recogniser:
        """Return what finds the encoding of a row's cell."""
        return self._recogniser_of(self._encoding[row] if isinstance(self._encoding, list) else self._encoding)

    @contextmanager
    def _naming(self, row: int, cell: Any) -> Iterator[None]:
        """Name the row of a cell in errors."""
        try:
            yield
        except (ValueError, TypeError) as fault:
            error_types = (kind for kind in (AmbiguousEncodingError, TypeError) if isinstance(fault, kind))
            raise next(error_types, ValueError)(f"{self._where(row)}: {fault}") from fault
        except Exception as fault:  # an attribute or method of an object of another library failed
            what = f"cannot read this {type(cell).__name__}: {type(fault).__name__}: {fault}"
            raise ValueError(f"{self._where(row)}: {what}") from fault

    def _add(self, row: int, cell: Any) -> None:
        if isinstance(cell, str):
            refuse_blank(cell)
            cell = without_comment_marks(cell)
        read = self._read_text if isinstance(cell, str) else _read_cell
        encoding, content = read(cell, self._recogniser(row))
        if isinstance(content, bytes):
            self._packed.append((row, content))
            return
        if content.kind is not None:
            self._named[row] = KINDS.index(content.kind)
        if isinstance(content, Edges):
            labels, expected = content.labels, self._nodes.rows[row]
            if labels is None and expected is None:
                found_cell = "a table without edges" if isinstance(cell, pd.DataFrame) else repr(cell)
                raise ValueError(
                    f"found {found_cell}, which names no nodes; pass nodes=, write a graph without edges as bare names "
                    "('A; B'), one without nodes as '{}'"
                )
            matched = self._sets.match(labels or (), expected, complete=content.is_open)
            self._graphs.append((row, matched, _one_a_pair(content.ends)))
        else:
            self._add_matrix(row, cell, encoding, content)

    def _add_matrix(self, row: int, cell: Any, encoding: Encoding, matrix: Matrix) -> None:
        values, expected = matrix.values, self._nodes.rows[row]
        if isinstance(values, np.ndarray):  # subclasses too
            values = np.asarray(values)
        types = None if matrix.labels is None else tuple(map(type, matrix.labels))  # True and 1.0 are equal to 1
        kind = (encoding, type(values), values.shape, values.dtype.kind, matrix.labels, types, expected)
        stack = self._stacks.get(kind)
        if stack is None:  # matrices of one kind are checked once
            _check_matrix(values, matrix.labels)
            labels = matrix.labels if matrix.labels is not None else self._matrix_names(cell, values, expected)
            if len(labels) != values.shape[0]:
                expectation = f"expected {len(labels)} as there are names {short(labels)}"
                raise ValueError(f"found a matrix of {values.shape[0]} nodes, {expectation}")
            names = [str(label) for label in labels]
            ends = decode_sparse(encoding, values, names) if hasattr(values, "tocoo") else None
            # names given by `nodes=` are taken as they are
            matched = self._sets.place(tuple(names)) if matrix.labels is None else self._sets.match(labels, expected)
            if ends is not None:
                self._graphs.append((row, matched, _one_a_pair(ends)))
                return
            stack = self._stacks[kind] = names, matched, []
        stack[-1].append((row, values))

    def _matrix_names(self, cell: Any, values: Any, expected: Nodes | None) -> Nodes:
        """Return the names of a matrix that brings none: those of `nodes=`, else numbers."""
        if expected is None:
            return tuple(str(i) for i in range(values.shape[0]))
        if self._nodes.in_code_point_order and not is_natural_order(expected):
            raise AmbiguousEncodingError(
                f"found a {type(cell).__name__}, and nodes is a packed column, which lists {short(expected)} in "
                "code-point order; the matrix is probably in another order, so pass the names in its order as a list"
            )
        return expected

    def _decode_packed(self, declared: NDArray[np.int16]) -> None:
        if not self._packed:
            return
        rows = [row for row, _ in self._packed]
        array = pa.array([cell for _, cell in self._packed], type=pa.large_binary())
        column = unpack_array(array, lambda local: self._where(rows[local]))
        for block in column.blocks:
            every = mixed.edges_of(block.planes, block.n_nodes)
            for i, (local, edges) in enumerate(zip(block.rows.tolist(), every, strict=True)):
                row, names = rows[local], column.node_sets[block.node_set[i]]
                with self._naming(row, names):
                    matched = self._sets.match(names, self._nodes.rows[row])
                self._graphs.append((row, matched, _one_a_pair(edges)))
                declared[row] = block.kinds[i]

    def _settle_named(self, blocks: Iterable[Block], declared: NDArray[np.int16]) -> None:
        """Declare the classes that cells name: a graph that is not in the one it names is mixed."""
        for block in blocks if self._named else ():
            codes = np.array([self._named.get(row, -1) for row in block.rows.tolist()])
            named = np.flatnonzero(codes >= 0)
            declared[block.rows[named]] = codes[named]
            # larger graphs are refused by name later, unless another class is declared
            checked = named[(codes[named] == ADMG) | (block.n_nodes <= MOST_NODES)]
            wrong = checked[not_in_class(block.planes[checked], block.n_nodes, codes[checked].astype(np.uint8))]
            # two edges between two nodes are of an admg only, so that such a graph names no class
            two_a_pair = mixed.doubles(mixed.lift(block.planes[wrong])).any(axis=1)
            declared[block.rows[wrong]] = np.where(two_a_pair, -1, MIXED)

    def _decode_stacks(self) -> Iterator[Block]:
        for (encoding, *_), (names, matched, cells) in self._stacks.items():
            order = np.argsort(matched.rank)
            for part in row_chunks(len(cells), 8 * len(names) ** 2):
                rows = np.array([row for row, _ in cells[part]], dtype=np.int64)
                try:
                    marks = decode(encoding, np.stack([matrix for _, matrix in cells[part]]), names)
                except CellError as fault:
                    raise ValueError(f"{self._where(int(rows[fault.position]))}: {fault}") from fault
                planes = mixed.planes_from_marks(marks[:, order[:, None], order])
                yield from _blocks(matched.n_nodes, rows, planes, np.full(len(rows), matched.node_set))


class Recogniser:
    """Finds the encoding of each cell of a column: the chosen one where it can be, else by type and content."""

    def __init__(self, chosen: str | None = None) -> None:
        if chosen is not None:
            check_type(chosen, str, "the name of an encoding", "encoding")
        self.chosen = None if chosen is None else ENCODINGS.find(chosen)
        # entry points are loaded once
        self._every = list(ENCODINGS.every())
        self._by_type: dict[type, list[Encoding]] = {}

    def find(self, cell: Any) -> Encoding:
        """Return the encoding of a cell, or raise an error that names the ones it could be in."""
        chosen = self.chosen
        # what is wrong with a text, the message of a reader of texts names
        if chosen and (chosen.takes(cell) or (isinstance(cell, str) and str in chosen.types)):
            return chosen
        for encoding in self._candidates(cell):
            if not encoding.by_name and (encoding.recognise is None or encoding.recognise(cell)):
                return encoding
        raise self._unknown(cell)

    def is_likely(self, cell: Any) -> bool:
        """Return whether a cell of an undeclared column is probably a graph."""
        possible = (x for x in self._candidates(cell) if x.recognise is None or x.recognise(cell))
        return any(not x.by_name if x.is_likely is None else x.is_likely(cell) for x in possible)

    def _candidates(self, cell: Any) -> list[Encoding]:
        """Return the encodings for a cell's type: narrow types first, then those that recognise content."""
        if type(cell) not in self._by_type:
            encodings = [x for x in self._every if isinstance(cell, x.types)]
            self._by_type[type(cell)] = sorted(encodings, key=lambda x: (object in x.types, x.recognise is None))
        return self._by_type[type(cell)]

    def _unknown(self, cell: Any) -> Exception:
        name = type(cell).__name__
        if isinstance(cell, os.PathLike):
            return TypeError(f"found the path {os.fspath(cell)!r}, expected a graph, as ce.read_graphs(path).iloc[0]")
        possible = [encoding for encoding in self._candidates(cell) if encoding.takes(cell)]
        if not possible:
            every = ", ".join(dict.fromkeys(encoding.cells for encoding in self._every))
            found = f"{type(cell).__module__}.{type(cell).__qualname__}"
            return TypeError(f"found {found}, expected a graph: {every}, or missing")
        article = "an" if name[:1].lower() in "aeio" or name.startswith("nd") else "a"
        shape = f" of shape {cell.shape}" if hasattr(cell, "shape") else ""
        start = f"found {article} {name}{shape}, which can be read"
        readings: dict[str, list[Encoding]] = {}
        for encoding in possible:
            graph = _reading(encoding, cell)
            if graph is not None:
                readings.setdefault(graph, []).append(encoding)
        if not readings:
            names = ", ".join(repr(encoding.name) for encoding in possible)
            columns = list(getattr(cell, "columns", []))
            table = f"; in a table of edges the columns {columns!r:.80} are called 'from' and 'to'" if columns else ""
            return AmbiguousEncodingError(
                f"{start} only if its encoding is named: make the column with graph_column(..., encoding=), one of "
                f"{names}; list_encodings() shows what their codes mean{table}"
            )
        ways = "only if its encoding is named" if len(readings) == 1 else f"in {len(readings)} ways"
        parts = []
        for graph, (first, *others) in readings.items():
            also = f", as with {', '.join(repr(other.name) for other in others)}" if others else ""
            by = f"with graph_column(..., encoding={first.name!r})"
            parts.append(f"{by} if {first.mark} ({first.tool}), which reads {graph}{also}")
        return AmbiguousEncodingError(f"{start} {ways}; make the column {'; '.join(parts)}")


def _reading(encoding: Encoding, cell: Any) -> str | None:
    """Return the graph that a matrix is in an encoding, for messages, or None if it is not a graph in it."""
    try:
        column, _ = Cells(lambda row: "", NodeLists.read(None, 1), encoding.name).read([cell], 1)
    except (ValueError, TypeError):
        return None
    block = column.blocks[0]
    [edges] = mixed.edges_of(block.planes, block.n_nodes)
    return repr(cut(write_graph(write_names(column.node_sets[0]), edges)))


def _check_matrix(matrix: Any, labels: Labels | None) -> None:
    """Refuse matrices that are not square or not of numbers."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"found an array of shape {matrix.shape}, expected a square adjacency matrix")
    if matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"found a matrix of dtype {matrix.dtype}, expected zeros and ones (bool, integer or float)"
            f"{_explain_objects(matrix, labels) if matrix.dtype.kind in 'OU' else ''}"
        )
    if matrix.shape[0] > MAX_NODES:
        raise ValueError(f"found a matrix of {matrix.shape[0]} nodes; at most {MAX_NODES} are supported")


def _explain_objects(matrix: NDArray[Any], labels: Labels | None) -> str:
    """Name the first cell of a matrix of objects or texts that is not a number, and how to mend it."""
    for (i, j), value in np.ndenumerate(matrix):
        if not isinstance(value, (int, float, np.number)) or is_missing(value):
            place = (i, j) if labels is None else (labels[i], labels[j])
            mend = "write 1 for an edge, 0 for none"
            if isinstance(value, str) and re.fullmatch(r"\s*[-+]?[\d.,]+\s*", value):
                mend = "read texts as numbers, as in matrix.astype(float), with decimal=',' where a file has commas"
            return f"; cell {place} holds {shown(value)}: {mend}"
    return "; its cells are numbers: pass matrix.astype(float)"
