"""Edges with a mark at both ends: their signs, readers' collection of them, and their codes in matrices."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contract.encoding import CellError, Edges, Encoding, Ends, Pair
from .kernels.planes import ARROW, CIRCLE, NONE, TAIL
from .weights import explain_weights

#: marks of one character
MARK_OF_CHARACTER = {"-": TAIL, "<": ARROW, ">": ARROW, "o": CIRCLE}
#: edges of tools as text, with the marks at their left and right end
MARKS = {
    sign: (MARK_OF_CHARACTER[sign[0]], MARK_OF_CHARACTER[sign[2]])
    for sign in ("---", "-->", "<--", "<->", "o->", "<-o", "o-o", "o--", "--o")
}
SIGNS = {marks: sign for sign, marks in MARKS.items()}
#: the same in edge strings
SHORT_SIGNS = SIGNS | {(TAIL, TAIL): "--", (TAIL, ARROW): "->", (ARROW, TAIL): "<-"}
#: with the short ones, of two characters or one
MARKS_OF_SIGN = MARKS | {"->": (TAIL, ARROW), "<-": (ARROW, TAIL), "--": (TAIL, TAIL), "-": (TAIL, TAIL)}
#: words of tools for the mark at one end of an edge, and for the marks at both
MARK_OF_WORD = {"none": TAIL, "tail": TAIL, "arrow": ARROW, "circle": CIRCLE}
MARKS_OF_WORD = {"directed": (TAIL, ARROW), "undirected": (TAIL, TAIL), "bidirected": (ARROW, ARROW)}
MARKS_OF_NAME = MARKS_OF_SIGN | MARKS_OF_WORD
#: words of graphviz and readers of DOT for the arrows of an edge
MARKS_OF_DIR = {"forward": (TAIL, ARROW), "back": (ARROW, TAIL), "both": (ARROW, ARROW), "none": (TAIL, TAIL)}
#: attributes of edges, and their values that say that an edge is no arrow to its second node: flags, words for a
#: direction, and marks at the first and at the second node
_NO_ARROW = (
    ("directed", "false|0|no"),
    ("undirected|bidirected|bidirectional|reversed", "true|1|yes"),
    ("arrow|arrows|dir|direction", "from|back|backward|reverse|reversed|both|none|to, from|from, to|to;from"),
    ("endpoint1|sourceendpoint|arrowtail|sourcemark|frommark", "arrow|normal|circle|odot|o|<|>"),
    ("endpoint2|targetendpoint|arrowhead|targetmark|tomark", "tail|none|circle|odot|o|-"),
)
_FLAGS = {name: values.split("|") for names, values in _NO_ARROW for name in names.split("|")}
_FORWARD = {MARKS[sign] for sign in ("---", "-->", "<->", "o->", "o-o", "o--")}
_DOUBLES = ({(TAIL, ARROW), (ARROW, ARROW)}, {(ARROW, TAIL), (ARROW, ARROW)})
#: marks at the column's and at the row's node of a pair that has two edges, `->` to the column's node and `<->`
INTO, OUT_OF = (5, 4), (4, 5)
#: the same in the planes of graphs, which have no mark at the tail of such a directed edge
_IN_PLANES = {5: ARROW, 4: NONE}
_WORDS = {TAIL: "a tail", ARROW: "an arrow", CIRCLE: "a circle"}
_UNKNOWN = 255


def marks_of(sign: Any) -> tuple[int, int] | None:
    """Return the marks of an edge by its sign or the word for it, None for any other value."""
    if not isinstance(sign, str):
        return None
    plain = sign.strip()
    return MARKS_OF_SIGN.get(plain) or MARKS_OF_WORD.get(plain.lower())


def is_no_arrow(name: Any, value: Any) -> bool:
    """Return whether an attribute of an edge says that it is no arrow to its second node."""
    is_flagged = str(value).strip().lower() in _FLAGS.get(re.sub(r"[\W_]", "", str(name)).lower(), ())
    return is_flagged or marks_of(value) not in (None, (TAIL, ARROW))


def refuse_marks(attributes: Mapping[Any, Any], read: Collection[str], key: str) -> None:
    """Refuse attributes of an edge that say that it is no arrow, as which it is read; marks are read from a key."""
    for name, value in attributes.items():
        # a minus alone is the sign of an effect
        if name not in read and value != "-" and is_no_arrow(name, value):
            raise ValueError(
                f"found {value!r:.60} in the attribute {name!r:.60} of an edge, which is not read; write the marks of "
                f"the edge, as '---', in its {key!r}, or delete the attribute if the edge is an arrow"
            )


def single_edges(ends: Iterable[tuple[int, int, int, int]]) -> Ends:
    """Return edges of planes with a mark at both ends: no mark at one stands for ``->`` beside ``<->``."""
    edges = []
    for i, j, at_i, at_j in ends:
        if at_i and at_j:
            edges.append((i, j, at_i, at_j))
        else:
            edges += [(i, j, at_i or TAIL, at_j or TAIL), (i, j, ARROW, ARROW)]
    return edges


def forward(edge: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """Return an edge with its arrow on the right, or else its circle on the left."""
    i, j, at_i, at_j = edge
    return edge if (at_i, at_j) in _FORWARD else (j, i, at_j, at_i)


class MarkedEdges:
    """Edges that a reader finds, with marks at both ends, alike if found again, but for ``->`` beside ``<->``."""

    def __init__(self, labels: list[Hashable] | tuple[Hashable, ...] = ()) -> None:
        self.position: dict[Hashable, int] = {label: i for i, label in enumerate(labels)}
        self._pairs: dict[tuple[int, int], set[tuple[int, int]]] = {}

    def node(self, label: Hashable) -> int:
        """Return the position of a node, a new one if it is not known."""
        return self.position.setdefault(label, len(self.position))

    def add(self, a: Hashable, b: Hashable, at_a: int, at_b: int) -> None:
        """Add an edge by the labels of its nodes and the marks at both."""
        i, j = self.node(a), self.node(b)
        if i == j:
            raise ValueError(self_loop(a))
        pair, marks = ((i, j), (at_a, at_b)) if i < j else ((j, i), (at_b, at_a))
        known = self._pairs.setdefault(pair, set())
        known.add(marks)
        if len(known) > 1 and known not in _DOUBLES:
            first, second = (SIGNS[x if i < j else x[::-1]] for x in (min(known - {marks}), marks))
            raise ValueError(
                f"found the edges {a!r} {first} {b!r} and {a!r} {second} {b!r}, expected one edge between two nodes, "
                "or '->' and '<->'; lagged graphs keep two-cycles, as lagged_column(['A@-1 -> B; B@-1 -> A'])"
            )

    def found(self, *, is_open: bool = False) -> Edges:
        """Return the edges."""
        ends: Ends = [(*pair, *marks) for pair, every in self._pairs.items() for marks in sorted(every)]
        return Edges(tuple(self.position), ends, is_open)


def refuse_names(names: Iterable[str], is_odd: Callable[[str], object], notation: str) -> None:
    """Refuse node names that a notation cannot hold."""
    odd = next(filter(is_odd, names), None)
    if odd is not None:
        raise ValueError(f"{notation} cannot hold the node name {odd!r}; rename the node")


def decode(encoding: Encoding, stack: NDArray[Any], names: Sequence[str]) -> NDArray[np.uint8]:
    """Return the marks at the columns' nodes of a stack (N, d, d), as the planes of graphs have them."""
    codes = _codes_of(encoding)
    numbers = sorted({0, *(number for pair in codes for number in pair)})
    place = np.full(stack.shape, len(numbers), np.uint8)
    for k, number in enumerate(numbers):
        place[stack == number] = k
    table = np.full((len(numbers) + 1, len(numbers) + 1), _UNKNOWN, np.uint8)
    for (here, there), (at_column, _) in ({(0, 0): (0, 0)} | dict(codes)).items():
        table[numbers.index(here), numbers.index(there)] = _IN_PLANES.get(at_column, at_column)
    marks = table.reshape(-1).take(place * np.uint8(len(numbers) + 1) + place.transpose(0, 2, 1))
    unknown = (marks == _UNKNOWN).any(axis=(1, 2))
    if unknown.any():
        at = int(unknown.argmax())
        raise CellError(at, explain_matrix(encoding, stack[at], names))
    loops = np.argwhere(np.einsum("nii->ni", marks))
    if len(loops):
        raise CellError(int(loops[0, 0]), self_loop(names[loops[0, 1]]))
    return np.asarray(marks)


def decode_sparse(encoding: Encoding, matrix: Any, names: Sequence[str]) -> Ends:
    """Return the edges of a sparse matrix of scipy."""
    codes = _codes_of(encoding)
    rows = matrix.tocsr(copy=True)
    rows.sum_duplicates()
    entries = rows.tocoo()
    cells = dict(zip(zip(entries.row.tolist(), entries.col.tolist(), strict=True), entries.data.tolist(), strict=True))
    ends = []
    for (i, j), here in cells.items():
        there = cells.get((j, i), 0)
        if here == there == 0 or (i > j and (j, i) in cells):
            continue
        marks = codes.get((here, there))
        if marks is None:
            raise ValueError(explain_matrix(encoding, matrix.toarray(), names))
        if i == j:
            raise ValueError(self_loop(names[i]))
        at_j, at_i = (_IN_PLANES.get(mark, mark) for mark in marks)
        ends.append((i, j, at_i, at_j))
    return ends


def encode(encoding: Encoding, marks: NDArray[np.uint8]) -> NDArray[Any]:
    """Write a stack of marks, 4 and 5 at the ends of two edges, in the codes of an encoding; of several the first."""
    code = {both: here for (here, _), both in reversed([*_codes_of(encoding).items()])}
    other = marks.transpose(0, 2, 1)
    written, known = np.zeros(marks.shape, np.int8), marks == 0
    for (at_column, at_row), here in code.items():
        chosen = (marks == at_column) & (other == at_row)
        written[chosen] = here
        known |= chosen
    if not known.all():
        at, i, j = np.argwhere(~known)[0].tolist()
        at_row, at_column = int(other[at, i, j]), int(marks[at, i, j])
        edge = "a pair of nodes with '->' and '<->'"
        if 4 not in (at_row, at_column):
            edge = f"an edge with {_WORDS[at_row]} and {_WORDS[at_column]}"
        raise CellError(at, f"the encoding {encoding.name!r} has no codes for {edge}")
    return written


def self_loop(label: Any) -> str:
    """Return the message for an edge from a node to itself."""
    return f"found an edge from {label!r} to itself; graphs have no self loops"


def explain_matrix(encoding: Encoding, matrix: NDArray[Any], names: Sequence[str]) -> str:
    """Describe the first pair of numbers without a meaning in a matrix."""
    if encoding.explain is not None:
        return encoding.explain(matrix, names)
    codes = _codes_of(encoding)
    cells, known = matrix.tolist(), {(0, 0), *codes}
    i, j = next((i, j) for i, j in np.ndindex(matrix.shape) if (cells[i][j], cells[j][i]) not in known)
    found = f"found {cells[i][j]} in cell ({names[i]!r}, {names[j]!r})"
    if i == j:
        return f"{found}, {self_loop(names[i]).removeprefix('found ')}"
    message = f"{found} and {cells[j][i]} in cell ({names[j]!r}, {names[i]!r}), expected {encoding.meaning}"
    if (matrix != np.round(matrix)).any():
        source, target = np.nonzero(matrix)
        message += f"; {explain_weights(source, target, matrix[source, target])}"
        if codes.get((1, 0)) not in ((ARROW, TAIL), (TAIL, ARROW)):
            # its ones are not directed edges
            message += "; name the encoding of the result, 'row->column' or 'column->row'"
    return message


def _codes_of(encoding: Encoding) -> Mapping[Pair, Pair]:
    if encoding.codes is None:
        raise TypeError(f"the encoding {encoding.name!r} reads matrices and declares no codes=; add them")
    return encoding.codes
