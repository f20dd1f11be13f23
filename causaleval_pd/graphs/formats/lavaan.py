"""Model syntax of lavaan as cells: ``"Y ~ X1 + X2"``, ``"A ~~ B"``, ``"L =~ X1"``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...contract.encoding import Edges, Encoding, Ends, register_encoding
from ..edge_marks import ARROW, TAIL, MarkedEdges

_NAME = re.compile(r"[^\W\d]\w*(?:\.\w*)*$|\.[^\W\d][\w.]*$")
_OPERATOR = re.compile(r"=~|~~|:=|==|<~|~|<|>|\|")
#: constraints and definitions, which hold no edges
_OTHER = (":=", "==", "<", ">", "|")
_CONTINUES = re.compile(r"(?:[+*]|=~|~~|~)\s*$")
_NUMBER = re.compile(r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?$")
_LIKELY = re.compile(r"\s*+(?:[#!][^\n]*\n\s*+)*+[\w.+ \t]++(?:=~|~)")
_ARROW, _COMMENT = re.compile(r"->|<-|--|\so-o\s"), re.compile(r"[#!][^\n]*")
_MOST_EDGES = 1_000_000


def is_lavaan(text: str) -> bool:
    """Return whether a text begins as a formula; an edge string may have a ~ in a name."""
    return bool(_LIKELY.match(text)) and not _ARROW.search(_COMMENT.sub("", text))


def read_lavaan(text: str) -> Edges:
    """Read lavaan's model syntax: regressions, covariances and measurement; intercepts and constraints are left out.

    A covariance or effect that is fixed to zero, as in ``A ~~ 0*B``, is not an edge.
    """
    edges = MarkedEdges()
    n_edges = 0
    for line, statement in _statements(text):
        try:
            found = _OPERATOR.search(statement)
            if found is None:
                raise ValueError(f"found {statement[:60]!r}, expected a formula as 'Y ~ X1 + X2'")
            sign, after = found.group(), statement[found.end() :]
            if sign in _OTHER:
                continue
            if sign == "<~":
                raise ValueError("found a formative variable (<~), which has no edges here; write 'Y ~ X' for X -> Y")
            left = [_term(term)[0] for term in statement[: found.start()].split("+")]
            right = [_term(term) for term in _split(after)]
            n_edges += len(left) * len(right)
            if n_edges > _MOST_EDGES:
                raise ValueError(f"found terms that make more than {_MOST_EDGES} edges")
            for a in left:
                edges.node(a)
                for b, is_fixed in right:
                    _add(edges, a, sign, b, is_fixed)
        except ValueError as fault:
            raise ValueError(f"line {line}: {fault}") from None
    return edges.found(is_open=True)


def _add(edges: MarkedEdges, a: str, sign: str, b: str, is_fixed: bool) -> None:
    if b in ("0", "1"):
        # an intercept
        return
    edges.node(b)
    if a == b and sign == "~~":
        # a variance
        return
    if not is_fixed:
        edges.add(a, b, *{"~": (ARROW, TAIL), "~~": (ARROW, ARROW), "=~": (TAIL, ARROW)}[sign])


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield statements with their line; one that ends in an operator goes on in the next line."""
    parts: list[str] = []
    first = 0
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        for k, piece in enumerate(re.split(r"[#!]", line, maxsplit=1)[0].split(";")):
            if k and parts:
                yield first, " ".join(parts)
                parts = []
            if not piece.strip():
                continue
            if parts and not (_CONTINUES.search(parts[-1]) or piece.lstrip()[0] in "+*~"):
                yield first, " ".join(parts)
                parts = []
            if not parts:
                first = number
            parts.append(piece.strip())
    if parts:
        yield first, " ".join(parts)


def _split(text: str) -> list[str]:
    """Split terms at plus signs outside of parentheses."""
    terms, depth, start = [], 0, 0
    for at, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "+" and depth == 0:
            terms.append(text[start:at])
            start = at + 1
    return [*terms, text[start:]]


def _term(term: str) -> tuple[str, bool]:
    """Return the variable of a term, and whether its coefficient is fixed to zero."""
    modifier, star, name = term.rpartition("*")
    name = name.strip()
    if not (_NAME.match(name) or (not star and name in ("0", "1")) or (star and name == "1")):
        raise ValueError(f"found {term.strip()[:60]!r}, expected a variable; names are letters, digits, '.' and '_'")
    number = modifier.strip()
    return name, bool(star and _NUMBER.match(number) and float(number) == 0)


def write_lavaan(names: Sequence[str], ends: Ends) -> str:
    """Write a graph of directed and bidirected edges in lavaan's model syntax; a node alone as its variance."""
    odd = next((name for name in names if not _NAME.match(name)), None)
    if odd is not None:
        raise ValueError(f"lavaan's model syntax cannot hold the node name {odd!r}; rename the node")
    parents: dict[int, list[int]] = {}
    both, linked = [], set[int]()
    for i, j, at_i, at_j in ends:
        if (at_i, at_j) == (ARROW, ARROW):
            both.append((min(i, j), max(i, j)))
        elif sorted((at_i, at_j)) == [TAIL, ARROW]:
            source, target = (i, j) if at_i == TAIL else (j, i)
            parents.setdefault(target, []).append(source)
        else:
            raise ValueError("lavaan's model syntax holds '->' and '<->' only; write another text, such as 'dagitty'")
        linked |= {i, j}
    lines = [f"{names[j]} ~ {' + '.join(names[i] for i in sorted(listed))}" for j, listed in sorted(parents.items())]
    lines += [f"{names[i]} ~~ {names[j]}" for i, j in sorted(both)]
    lines += [f"{name} ~~ {name}" for i, name in enumerate(names) if i not in linked]
    return "\n".join(lines)


LAVAAN = register_encoding(
    Encoding(
        name="lavaan",
        tool="lavaan, semopy, Tetrad",
        cells="lavaan model",
        meaning="Y ~ X + Z the parents of Y, A ~~ B bidirected, L =~ X the children of L; 0*X no edge",
        mark="an edge i -> j is i on the right of j ~",
        example="'Y ~ X1 + X2\\nX1 ~~ X2'",
        read=read_lavaan,
        types=(str,),
        recognise=is_lavaan,
        # "y ~ x" in a table is a setting of a method more often than a graph
        is_likely=lambda text: False,
        write_text=write_lavaan,
    )
)
