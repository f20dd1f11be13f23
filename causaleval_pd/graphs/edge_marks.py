"""Edges with a mark at both ends: their signs, and readers' collection of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

from ..contract.encoding import Edges, Ends
from .kernels.planes import ARROW, CIRCLE, TAIL

#: edges of tools as text, by the marks at their left and right end
SIGNS = {
    (TAIL, TAIL): "---",
    (TAIL, ARROW): "-->",
    (ARROW, TAIL): "<--",
    (ARROW, ARROW): "<->",
    (CIRCLE, ARROW): "o->",
    (ARROW, CIRCLE): "<-o",
    (CIRCLE, CIRCLE): "o-o",
    (CIRCLE, TAIL): "o--",
    (TAIL, CIRCLE): "--o",
}
#: the same in edge strings
SHORT_SIGNS = SIGNS | {(TAIL, TAIL): "--", (TAIL, ARROW): "->", (ARROW, TAIL): "<-"}
MARKS = {sign: marks for marks, sign in SIGNS.items()}
#: with the short ones, of two characters or one
MARKS_OF_SIGN = MARKS | {"->": (TAIL, ARROW), "<-": (ARROW, TAIL), "--": (TAIL, TAIL), "-": (TAIL, TAIL)}
#: words of tools for the mark at one end of an edge, and for the marks at both
MARK_OF_WORD = {"none": TAIL, "tail": TAIL, "arrow": ARROW, "circle": CIRCLE}
MARKS_OF_WORD = {"directed": (TAIL, ARROW), "undirected": (TAIL, TAIL), "bidirected": (ARROW, ARROW)}
#: flags of edges, and how they say that an edge is no arrow to its second node
_FLAGS: dict[str, tuple[str, ...]] = {"directed": ("false", "0", "no")}
_FLAGS |= dict.fromkeys(("undirected", "bidirected", "bidirectional", "reversed"), ("true", "1", "yes"))
#: words for the same in attributes that state a direction
_FLAGS |= dict.fromkeys(
    ("arrow", "arrows", "dir", "direction"),
    ("from", "back", "backward", "reverse", "reversed", "both", "none", "to, from", "from, to", "to;from"),
)
#: and marks at the first and at the second node that are not those of an arrow
_FLAGS |= dict.fromkeys(
    ("endpoint1", "sourceendpoint", "arrowtail", "sourcemark", "frommark"),
    ("arrow", "normal", "circle", "odot", "o", "<", ">"),
)
_FLAGS |= dict.fromkeys(
    ("endpoint2", "targetendpoint", "arrowhead", "targetmark", "tomark"), ("tail", "none", "circle", "odot", "o", "-")
)
#: marks of one character
MARK_OF_CHARACTER = {"-": TAIL, "<": ARROW, ">": ARROW, "o": CIRCLE}
_FORWARD = {(TAIL, TAIL), (TAIL, ARROW), (ARROW, ARROW), (CIRCLE, ARROW), (CIRCLE, CIRCLE), (CIRCLE, TAIL)}
_DOUBLES = ({(TAIL, ARROW), (ARROW, ARROW)}, {(ARROW, TAIL), (ARROW, ARROW)})


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
            raise ValueError(f"found an edge from {a!r} to itself; graphs have no self loops")
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
