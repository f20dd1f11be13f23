"""Encoding: what the graphs of a tool look like in a cell and how they are read; the registry and the list of all."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .registry import Registry

Labels = tuple[Hashable, ...]
Pair = tuple[int, int]
Ends = list[tuple[int, int, int, int]]


class AmbiguousEncodingError(ValueError):
    """A cell can be read in more than one way, and no encoding was named.

    Examples
    --------
    >>> import numpy as np
    >>> import causaleval_pd as ce
    >>> matrix = np.array([[0, 1], [0, 0]])
    >>> try:
    ...     ce.as_graph(matrix)
    ... except ce.AmbiguousEncodingError:
    ...     print(ce.as_graph(matrix, encoding="row->column"))
    Graph('0 -> 1', kind='dag')
    """


class CellError(ValueError):
    """The cell at a position of a stack cannot be decoded; the caller adds the row to the message."""

    def __init__(self, position: int, message: str) -> None:
        super().__init__(message)
        self.position = position


class Edges(NamedTuple):
    """A cell read as edges.

    Attributes
    ----------
    labels : tuple of hashable, or None
        Labels of the nodes; None if the cell names no nodes.
    ends : list of (int, int, int, int)
        Edges as (node, node, mark at the first, mark at the second): nodes are positions in `labels`, and marks are 1 a
        tail, 2 an arrow and 3 a circle. ``->`` and ``<->`` may join the same nodes.
    is_open : bool
        Whether `nodes=` may add isolated nodes; else it must list the same nodes.
    kind : {"mag", "pag", "admg"}, optional
        Class that the cell names. A graph that is not in it is "mixed".
    """

    labels: Labels | None
    ends: Ends
    is_open: bool = False
    kind: str | None = None

    @classmethod
    def from_arcs(cls, labels: Labels | None, arcs: Iterable[Pair], is_open: bool = False) -> Edges:
        """Make edges of arcs (source, target); both directions of a pair are an undirected edge.

        Examples
        --------
        >>> Edges.from_arcs(("A", "B", "C"), [(0, 1), (1, 2), (2, 1)]).ends
        [(0, 1, 1, 2), (1, 2, 1, 1)]
        """
        known = dict.fromkeys(arcs)
        ends = [(i, j, 1, 1 if (j, i) in known else 2) for i, j in known if i <= j or (j, i) not in known]
        return cls(labels, ends, is_open)


class Matrix(NamedTuple):
    """A cell read as a square matrix, which is decoded together with others."""

    #: of rows and columns; None if they are named by `nodes=`
    labels: Labels | None
    #: (d, d) array or scipy sparse matrix of numbers
    values: Any
    #: as that of `Edges`
    kind: str | None = None


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Encoding:
    """What a graph looks like in a cell, and how it is read.

    A cell is first read by itself (`read`). Matrices over the same labels then wait and are decoded as one stack
    (`codes`), and so are canonical bytes; names of nodes, `nodes=`, `rename=`, self loops and shapes are handled for
    all encodings alike. Readers raise errors without the row, which the caller adds.

    Attributes
    ----------
    name : str
        Name for `encoding=`.
    tool : str
        Tools that write it.
    cells : str, optional
        What a cell is, in a few words, for messages; default the name.
    meaning : str
        Meaning of its codes or marks.
    mark : str
        Where the mark of an edge i -> j stands.
    example : str
        A graph in this encoding.
    read : callable
        From a cell to `Edges`, to a `Matrix`, or to the canonical bytes of a graph.
    types : tuple of types
        Types of the cells; narrow types are tried before `object`.
    recognise : callable, optional
        Whether a cell of these types is in this encoding; default all of them are, if no other one recognises them.
    by_name : bool
        Whether the encoding is used only where `encoding=` names it, because its cells can be read in other ways too.
    is_likely : callable, optional
        Whether a cell of an undeclared column is probably a graph; default yes, unless the encoding is used by name.
    codes : mapping, optional
        What numbers in the cells (i, j) and (j, i) of a matrix are: the marks at j and at i of the edge i - j, where 1
        is a tail, 2 an arrow, 3 a circle, and (5, 4) stands for ``i -> j`` with ``i <-> j``. Two zeros are no edge.
        Required if `read` returns matrices; `to_numpy` writes them by it.
    explain : callable, optional
        From a matrix with other numbers, and the names of its nodes, to what is wrong with it; by default a pair of
        numbers that `codes` lacks, and the `meaning` of the others.
    write : callable, optional
        From (N, d, d) codes of the marks at the nodes of the columns to what `to_numpy` returns; by default numbers.
    write_text : callable, optional
        From the names of a graph's nodes and its edges as in `Edges.ends` to text, for `to_text`.

    Examples
    --------
    >>> from causaleval_pd.contract.encoding import ENCODINGS
    >>> ENCODINGS.find("column->row").tool
    'LiNGAM, pcalg'
    """

    name: str
    tool: str
    meaning: str
    mark: str
    example: str
    read: Callable[[Any], Edges | Matrix | bytes]
    cells: str = ""
    types: tuple[type, ...] = (object,)
    recognise: Callable[[Any], bool] | None = None
    by_name: bool = False
    is_likely: Callable[[Any], bool] | None = None
    codes: Mapping[Pair, Pair] | None = None
    explain: Callable[[NDArray[Any], Sequence[str]], str] | None = None
    write: Callable[[NDArray[np.uint8]], NDArray[Any]] | None = None
    write_text: Callable[[Sequence[str], Ends], str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", self.cells or self.name)
        for (here, there), marks in (self.codes or {}).items():
            if (self.codes or {}).get((there, here)) != marks[::-1]:
                raise ValueError(f"codes of {self.name!r} have no mirror image of {(here, there)}: {marks}; add it")

    def takes(self, cell: Any) -> bool:
        """Return whether a cell can be in this encoding."""
        return isinstance(cell, self.types) and (self.recognise is None or self.recognise(cell))


ENCODINGS: Registry[Encoding] = Registry("encoding", "causaleval_pd.encodings")


def register_encoding(encoding: Encoding) -> Encoding:
    """Register an encoding and return it, so that `graph_column` reads it.

    Parameters
    ----------
    encoding : Encoding
        The encoding.

    Raises
    ------
    ValueError
        If other code has taken the name; code that runs again replaces what it registered.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> from causaleval_pd.contract.encoding import ENCODINGS
    >>> ce.register_encoding(ENCODINGS["edge list"])
    Traceback (most recent call last):
        ...
    ValueError: an encoding called 'edge list' is already registered; choose another name
    """
    return ENCODINGS.add(encoding.name, encoding)


def list_encodings() -> pd.DataFrame:
    """Return the encodings of graphs that `graph_column` reads, one per row.

    Returns
    -------
    DataFrame
        Indexed by name: tool, cells, meaning (of codes), mark (where that of an edge i -> j stands), example, by_name
        (whether `encoding=` must name it).

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.list_encodings().loc[["row->column", "column->row"], "mark"].tolist()
    ['an edge i -> j is the 1 in cell (i, j)', 'an edge i -> j is the 1 in cell (j, i)']
    """
    return ENCODINGS.table("tool", "cells", "meaning", "mark", "example", "by_name").sort_index()


_COMMENT = re.compile(r"[ \t]*+#+>?[ \t]?", re.M)


def without_comment_marks(text: str) -> str:
    """Return printed output without the `#`, `##` or `#>` before each of its lines, as knitr and scripts have them."""
    if text.lstrip()[:1] != "#":
        return text
    lines = text.splitlines()
    if any(line.strip() and line.lstrip()[0] != "#" for line in lines):
        return text
    return "\n".join(_COMMENT.sub("", line, count=1) for line in lines)
