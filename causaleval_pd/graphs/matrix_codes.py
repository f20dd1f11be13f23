"""Matrices of codes: what two numbers in the cells (i, j) and (j, i) are, as the marks at both ends of an edge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contract.encoding import CellError, Encoding, Ends, Pair
from .kernels.planes import ARROW, CIRCLE, TAIL
from .weights import explain_weights

#: marks at the column's and at the row's node of a pair that has two edges, `->` to the column's node and `<->`
INTO, OUT_OF = (5, 4), (4, 5)
_WORDS = {TAIL: "a tail", ARROW: "an arrow", CIRCLE: "a circle"}
_UNKNOWN = 255


def decode(encoding: Encoding, stack: NDArray[Any], names: Sequence[str]) -> NDArray[np.uint8]:
    """Return the marks at the columns' nodes of a stack (N, d, d), as the planes of graphs have them."""
    codes = _codes_of(encoding)
    numbers = sorted({0, *(number for pair in codes for number in pair)})
    place = np.full(stack.shape, len(numbers), np.uint8)
    for k, number in enumerate(numbers):
        place[stack == number] = k
    table = np.full((len(numbers) + 1, len(numbers) + 1), _UNKNOWN, np.uint8)
    for (here, there), (at_column, _) in ({(0, 0): (0, 0)} | dict(codes)).items():
        table[numbers.index(here), numbers.index(there)] = at_column
    marks = table.reshape(-1).take(place * np.uint8(len(numbers) + 1) + place.transpose(0, 2, 1))
    unknown = (marks == _UNKNOWN).any(axis=(1, 2))
    if unknown.any():
        at = int(unknown.argmax())
        raise CellError(at, _explain(encoding, stack[at], names))
    loops = np.argwhere(np.einsum("nii->ni", marks))
    if len(loops):
        raise CellError(int(loops[0, 0]), self_loop(names[loops[0, 1]]))
    if marks.max(initial=0) > CIRCLE:
        # the planes have no mark at the tail of a directed edge beside a bidirected one
        marks[marks == INTO[1]] = 0
        marks[marks == INTO[0]] = ARROW
    return np.asarray(marks)


def decode_sparse(encoding: Encoding, matrix: Any, names: Sequence[str]) -> Ends:
    """Return the edges of a sparse matrix of scipy."""
    codes = _codes_of(encoding)
    # duplicate entries are added up
    entries = matrix.tocsr().tocoo()
    cells = dict(zip(zip(entries.row.tolist(), entries.col.tolist(), strict=True), entries.data.tolist(), strict=True))
    ends = []
    for (i, j), here in cells.items():
        there = cells.get((j, i), 0)
        if here == there == 0 or (i > j and (j, i) in cells):
            continue
        marks = codes.get((here, there))
        if marks is None:
            raise ValueError(_explain(encoding, matrix.toarray(), names))
        if i == j:
            raise ValueError(self_loop(names[i]))
        at_j, at_i = marks
        if marks in (INTO, OUT_OF):
            ends.append((i, j, ARROW, ARROW))
            at_j, at_i = (ARROW, TAIL) if marks == INTO else (TAIL, ARROW)
        ends.append((i, j, at_i, at_j))
    return ends


def encode(encoding: Encoding, marks: NDArray[np.uint8]) -> NDArray[Any]:
    """Write a stack of marks, 4 and 5 at the ends of two edges, in the codes of an encoding; of several the first."""
    code: dict[Pair, int] = {}
    for (here, _), both in _codes_of(encoding).items():
        code.setdefault(both, here)
    other = marks.transpose(0, 2, 1)
    written, known = np.zeros(marks.shape, np.int8), marks == 0
    for (at_column, at_row), here in code.items():
        chosen = (marks == at_column) & (other == at_row)
        written[chosen] = here
        known |= chosen
    if not known.all():
        at, i, j = np.argwhere(~known)[0].tolist()
        edge = _edge(int(other[at, i, j]), int(marks[at, i, j]))
        raise CellError(at, f"the encoding {encoding.name!r} has no codes for {edge}")
    return written


def self_loop(label: Any) -> str:
    """Return the message for an edge from a node to itself."""
    return f"found an edge from {label!r} to itself; graphs have no self loops"


def explain_codes(codes: Mapping[Pair, Pair], meaning: str, matrix: NDArray[Any], names: Sequence[str]) -> str:
    """Describe the first pair of numbers without a meaning in a matrix."""
    cells = matrix.tolist()
    for i, j in np.ndindex(matrix.shape):
        here, there = cells[i][j], cells[j][i]
        if here == there == 0 or (here, there) in codes:
            continue
        if i == j:
            return f"found {here} in cell ({names[i]!r}, {names[i]!r}), {self_loop(names[i]).removeprefix('found ')}"
        return (
            f"found {here} in cell ({names[i]!r}, {names[j]!r}) and {there} in cell ({names[j]!r}, {names[i]!r}), "
            f"expected {meaning}{_explain_fractions(codes, matrix)}"
        )
    raise ValueError("all pairs of numbers have a meaning")


def _explain_fractions(codes: Mapping[Pair, Pair], matrix: NDArray[Any]) -> str:
    """Return how a matrix of weights is cut; its ones are directed edges in some encodings only."""
    if not (matrix != np.round(matrix)).any():
        return ""
    source, target = np.nonzero(matrix)
    mend = explain_weights(source, target, matrix[source, target])
    if codes.get((1, 0)) in ((ARROW, TAIL), (TAIL, ARROW)):
        return f"; {mend}"
    return f"; {mend}; name the encoding of the result, 'row->column' or 'column->row'"


def _explain(encoding: Encoding, matrix: NDArray[Any], names: Sequence[str]) -> str:
    if encoding.explain is not None:
        return encoding.explain(matrix, names)
    return explain_codes(_codes_of(encoding), encoding.meaning, matrix, names)


def _codes_of(encoding: Encoding) -> Mapping[Pair, Pair]:
    if encoding.codes is None:
        raise TypeError(f"the encoding {encoding.name!r} reads matrices and declares no codes=; add them")
    return encoding.codes


def _edge(at_row: int, at_column: int) -> str:
    if 4 in (at_row, at_column):
        return "a pair of nodes with '->' and '<->'"
    return f"an edge with {_WORDS[at_row]} and {_WORDS[at_column]}"
