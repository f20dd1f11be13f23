"""Lists of (source, target) tuples and tables of edges as cells."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...contract.cells import is_missing
from ...contract.encoding import Edges, Encoding, Ends
from ..edge_marks import MARKS, SIGNS, MarkedEdges, forward, is_no_arrow, marks_of, refuse_names
from ..kernels.planes import ARROW, TAIL
from ..weights import as_floats, explain_numbers, explain_weights, refuse_groups, unread_numbers


def read_edge_list(cell: Collection[Any]) -> Edges:
    """Read (source, target) tuples; both directions make an undirected edge."""
    position: dict[tuple[type, Hashable], int] = {}
    arcs = []
    for edge in cell:
        if not isinstance(edge, tuple) or len(edge) != 2:
            raise TypeError(
                f"found {edge!r} in a {type(cell).__name__}, expected (source, target) tuples; make edges tuples, or "
                "write edges as one text, as 'A -> B; B -> C'; of others make a table, as pd.DataFrame(edges, "
                "columns=['from', 'to', 'weight']), with 'edge' for marks, and of nested lists of numbers an array"
            )
        source = position.setdefault(_distinct(edge[0]), len(position))
        arcs.append((source, position.setdefault(_distinct(edge[1]), len(position))))
    return Edges.from_arcs(tuple(label for _, label in position) or None, arcs, is_open=True)


def _distinct(label: Any) -> tuple[type, Hashable]:
    """Return a label with its type, so that True and 1.0 are not taken for 1."""
    if not isinstance(label, Hashable):
        raise TypeError(f"found the node {label!r} of type {type(label).__name__}, expected a string")
    if isinstance(label, np.generic):
        label = label.item()
    return type(label), label


#: columns of the two nodes and the mark of an edge, by tool, in lower case
EDGE_COLUMNS = (
    ("from", "to", "edge"),
    ("source", "target", "type"),
    ("variable 1", "variable 2", "dependency"),
    ("node1", "node2", "edge"),
    ("cause", "effect", "edge"),
    ("parent", "child", "edge"),
    ("tf", "target", "edge"),
    ("regulatorygene", "targetgene", "edge"),
    ("gene1", "gene2", "edge"),
)
_LONGEST_HEADING = 10_000
#: returns a message for columns of numbers in a table of which other columns are read
Explain = Callable[[pd.DataFrame, Sequence[Hashable], Sequence[Hashable]], str]


def edge_columns(columns: Iterable[Any]) -> tuple[str, str, str] | None:
    """Return the columns of the nodes and marks of a table of edges, None for another table."""
    known = {str(name).strip().lower(): name for name in reversed(list(columns)) if isinstance(name, str)}
    names = next((names for names in EDGE_COLUMNS if {*names[:2]} <= {*known}), None)
    if names is None:
        return None
    first, second, mark = (known.get(name, name) for name in names)
    return first, second, mark


def columns_of(cell: Any) -> tuple[str, str, str] | None:
    """Return the names of the columns of a table of edges, None for any other object."""
    if not isinstance(cell, pd.DataFrame) or set(cell.columns) == set(cell.index):
        return None
    return edge_columns(cell.columns)


def is_edge_table(cell: Any) -> bool:
    """Return whether a cell is a table of edges, or such a table as CSV."""
    if isinstance(cell, str):
        line = cell.lstrip("\r\n").partition("\n")[0].partition("\r")[0]
        # a name that holds a comma is one field
        heading = [x.strip() for x in next(csv.reader([line[:_LONGEST_HEADING]], skipinitialspace=True), [])]
        return edge_columns(heading) is not None
    return columns_of(cell) is not None


def read_table(text: str, separator: str | None = ",") -> pd.DataFrame:
    """Read a table of edges as CSV, or without a separator between blanks, as R prints it."""
    if separator is None:
        lines = [(number, [x.strip('"') for x in line.split()]) for number, line in enumerate(text.splitlines(), 1)]
    else:
        reader = csv.reader(io.StringIO(text), delimiter=separator, strict=True)
        try:
            lines = [(reader.line_num, [field.strip() for field in fields]) for fields in reader]
        except csv.Error as fault:
            raise ValueError(f"line {reader.line_num}: found no table: {fault}") from None
    (_, names), *rows = [(number, fields) for number, fields in lines if any(fields)] or [(1, [])]
    # R prints the numbers of rows before them
    widths = (len(names), len(names) + (separator is None))
    for number, fields in rows:
        if len(fields) not in widths:
            raise ValueError(f"line {number}: found {len(fields)} fields, the header has {len(names)}")
    table = pd.DataFrame([fields[-len(names) :] for _, fields in rows], columns=names, dtype=object)
    for name in {"weight", "lag"} & {*names}:
        numbers = pd.to_numeric(table[name], errors="coerce")
        for (number, _), field in zip(rows, table[name].where(numbers.isna()), strict=True):
            if isinstance(field, str):
                is_comma = re.fullmatch(r"[-+]?\d*,\d+", field)
                mend = "write a point for the decimal comma" if is_comma else f"write a {name}"
                what = f"{field[:60]!r} in the column {name!r}"
                raise ValueError(f"line {number}: found {what}, expected a number; {mend}")
        table[name] = numbers
    return table


def write_csv(names: Sequence[str], ends: Ends) -> str:
    """Write a graph as a table of edges in CSV; a row without an edge is an isolated node."""
    refuse_names(names, lambda name: name != name.strip() or re.search(r"[\r\n]", name), "a table in CSV")
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(["from", "edge", "to"])
    edges = sorted(map(forward, ends))
    writer.writerows([names[i], SIGNS[a, b], names[j]] for i, j, a, b in edges)
    joined = {node for edge in edges for node in edge[:2]}
    writer.writerows([name, "", ""] for node, name in enumerate(names) if node not in joined)
    return written.getvalue()


def read_edge_table(cell: pd.DataFrame | str) -> Edges:
    """Read a table with an edge or isolated node per row; both directions of a pair without marks are undirected."""
    if isinstance(cell, str):
        cell = read_table(cell)
    names = columns_of(cell)
    if names is None or not cell.columns.is_unique:
        raise ValueError(f"found a table with the columns {list(cell.columns)!r:.80}, expected from, edge and to")
    if "weight" in cell.columns and not (cell["weight"] == 1).all():
        weights = as_floats(cell["weight"])
        source, target = pd.factorize(pd.concat([cell[x] for x in names[:2]]).astype(str))[0].reshape(2, -1)
        raise ValueError(f"found weights of edges, expected 1; {explain_weights(source, target, weights, 'weight')}")
    if "lag" in cell.columns and not (cell["lag"] == 0).all():
        raise ValueError("found edges with a lag; a cell is a graph of contemporaneous edges: take one column per lag")
    refuse_unread(cell, names, ["weight", "lag"])
    first, second = (cell[name].tolist() for name in names[:2])
    for number, node in enumerate(first, 1):
        if _is_blank(node):
            raise ValueError(f"edge {number}: found the node {node!r} in the column {names[0]!r}, expected a name")
    if names[2] not in cell.columns:
        listing = read_edge_list([(a, b) for a, b in zip(first, second, strict=True) if not _is_blank(b)])
        alone = [_distinct(a)[1] for a, b in zip(first, second, strict=True) if _is_blank(b)]
        return listing._replace(labels=tuple(dict.fromkeys([*(listing.labels or ()), *alone])) or None)
    edges = MarkedEdges()
    for number, (a, sign, b) in enumerate(zip(first, cell[names[2]].tolist(), second, strict=True), 1):
        if _is_blank(b) and _is_blank(sign):
            edges.node(_distinct(a)[1])
            continue
        marks = marks_of(sign)
        if marks is None:
            raise ValueError(f"edge {number}: found {sign!r:.60}, expected one of {', '.join(MARKS)}")
        try:
            edges.add(_distinct(a)[1], _distinct(b)[1], *marks)
        except ValueError as fault:
            raise ValueError(f"edge {number}: {fault}") from None
    return edges.found(is_open=True)


def refuse_unread(
    table: pd.DataFrame, names: tuple[str, str, str], others: Sequence[str], *, explain: Explain = explain_numbers
) -> None:
    """Refuse columns beside nodes, marks and `others` that change or divide the graph: signs, marks, runs, numbers."""
    mark, others_of_nodes = names[2], table.columns.difference(list(names[:2]), sort=False)
    for column in others_of_nodes:
        values = {value.strip() for value in table[column] if isinstance(value, str) and value.strip()}
        if values <= {"+", "-"} and ("+" in values or (values and str(column).strip().lower() == "sign")):
            signs = sorted(values)
            raise ValueError(
                f"found the signs {', '.join(map(repr, signs))} in the column {column!r:.60}, which a graph does not "
                "keep; drop the column, or keep the edges of one sign, as "
                f"table[table[{column!r}] == {signs[0]!r}].drop(columns={column!r})"
            )
    if mark in table.columns and len(table) and {*map(str, table[mark])} <= {"0", "1", "True", "False"}:
        raise ValueError(
            f"found {table[mark].iloc[0]!s} in the column {mark!r}, expected marks, as '->'; where 1 is an edge and "
            f"0 none, keep the rows with 1, as table[table[{mark!r}] == 1].drop(columns={mark!r}), and pass nodes= if "
            "some nodes have no edge"
        )
    # without marks edges are read as directed
    for column in others_of_nodes if mark not in table.columns else ():
        numbered = enumerate(table[column].tolist(), 1)
        number, sign = next((pair for pair in numbered if is_no_arrow(column, pair[1])), (0, None))
        if number:
            mend = f"rename the column to {mark!r}"
            if marks_of(sign) is None:
                mend = f"write the marks of all edges, as '-->' and '---', in the column {mark!r}"
            raise ValueError(f"edge {number}: found {sign!r} in the column {column!r:.60}, which is not read; {mend}")
    directed = [name for name in table.columns if {*map(marks_of, table[name].dropna())} == {(TAIL, ARROW)}]
    refuse_groups(table, [*names, *directed])
    numbers = unread_numbers(table, [*names, *others])
    if numbers:
        raise ValueError(explain(table, numbers, [name for name in names if name in table.columns]))


def _is_blank(value: Any) -> bool:
    return is_missing(value) or value == ""


ENCODINGS = (
    Encoding(
        name="edge list",
        tool="Python",
        meaning="(A, B) directed, (A, B) and (B, A) undirected",
        mark="an edge i -> j is the tuple (i, j)",
        example="[('A', 'B'), ('B', 'C'), ('C', 'B')]",
        read=read_edge_list,
        types=(list, tuple, set, frozenset),
        is_likely=lambda cell: bool(cell) and all(isinstance(edge, tuple) and len(edge) == 2 for edge in cell),
    ),
    Encoding(
        name="edge table",
        tool="caugi, causalDisco, bnlearn (arcs), Bayesys",
        cells="edge table or CSV",
        meaning="from, edge (-->, ---, <->, o->, o-o, o--) and to; source, target; Variable 1, Dependency, Variable 2",
        mark="an edge i -> j is the row from i to j",
        example="pd.DataFrame({'from': ['A'], 'edge': ['o->'], 'to': ['B']})",
        read=read_edge_table,
        types=(pd.DataFrame, str),
        recognise=is_edge_table,
        write_text=write_csv,
    ),
)
