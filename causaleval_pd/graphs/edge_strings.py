"""Edge strings: ``"A -> B; B -- C; D"``.

Statements stand between semicolons or line ends; a statement is a node name, an edge or a chain of edges. Names may be
quoted by ``"`` or ``'`` (a quote inside is doubled) and must be where they hold something that could be syntax.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

ARROWS = "'->', '<-' and '--'"

# how cells read after dask, CSV or astype(str) have written them as text
TEXT_OF_OBJECT = re.compile(
    r"""\s*(?:b['"]|Graph\(|<\w[\w.]*[ ]|(?:Multi)?(?:Di)?Graph(?:\ named\ '[^']*')?\ with\ \d+\ nodes|\[[\[(]"""
    r"""|array\(|matrix\(|Graph\ Nodes:|(?:nan|NaN|None|<NA>|NaT)\s*$)""",
    re.VERBOSE,
)
_ARROW = re.compile(r"<-+>|<-+|-+>|--+")
_BLANK = r"[^\S\n\r]*"
_QUOTED = re.compile(rf"""{_BLANK}(?:"((?:[^"]|"")*)"|'((?:[^']|'')*)'){_BLANK}""")
_SIMPLE = re.compile(r"[ ]*([\w.:()+*/^]+(?:-[\w.:()+*/^]+)*)[ ]*(?=[;\n\r]|<-|->|--|$)")
_BARE = re.compile(r"(?:(?!<-|->|--)[^;\n\r])*")
# what a bare name may not hold: syntax of other notations, which would silently become part of a name
_NOT_BARE = re.compile(r"""[,{}"\x00\t]|\s\s|\s(?:[-=~|<>]+|o-o)\s|=>|[→←↔⟶⟵⟷]|^'""")


def parse_edges(text: str) -> tuple[tuple[str, ...], list[tuple[int, int]]]:
    """Read an edge string: the nodes in order of appearance, and the marks (source, target) as positions among them.

    Statements are such as ``A -> B``, ``C <- B -- D`` or ``E``; an undirected edge has both marks. There are no nodes
    in ``{}`` and in blank text. An error names the place in the text, and the caller adds the row.

    Examples
    --------
    >>> parse_edges("A -> B -- C; D")
    (('A', 'B', 'C', 'D'), [(0, 1), (1, 2), (2, 1)])
    """
    if TEXT_OF_OBJECT.match(text):
        raise ValueError(explain_text(text))
    position: dict[str, int] = {}
    marks: dict[tuple[int, int], tuple[tuple[int, int], ...]] = {}
    if text.strip() == "{}":
        return (), []
    at = 0
    while at < len(text):
        if text[at] in ";\n\r" or text[at].isspace():
            at += 1
            continue
        name, at = _read_name(text, at)
        left = position.setdefault(name, len(position))
        while arrow := _ARROW.match(text, at):
            before = name
            name, at = _read_name(text, arrow.end())
            _refuse_mixed(text, before, arrow, name)
            right = position.setdefault(name, len(position))
            if left == right:
                raise ValueError(f"found an edge from {name!r} to itself; graphs have no self loops")
            source, target = (right, left) if arrow.group()[0] == "<" else (left, right)
            directed = "<" in arrow.group() or ">" in arrow.group()
            arcs = ((source, target),) if directed else ((left, right), (right, left))
            pair = (left, right) if left < right else (right, left)
            if set(marks.setdefault(pair, arcs)) != set(arcs):
                raise ValueError(
                    f"the edge between {before!r} and {name!r} is written twice with different marks; an undirected "
                    f"edge is {write_name(before)} -- {write_name(name)}"
                )
            left = right
        if at < len(text) and text[at] not in ";\n\r":
            raise ValueError(f"cannot read {_near(text, at)}: expected an arrow or ';' after the quoted name {name!r}")
    return tuple(position), [arc for arcs in marks.values() for arc in arcs]


def _read_name(text: str, at: int) -> tuple[str, int]:
    """Return the name that starts at a position, and where it ends."""
    simple = _SIMPLE.match(text, at)
    if simple:
        return simple.group(1), simple.end()
    quoted = _QUOTED.match(text, at)
    if quoted:
        double, single = quoted.groups()
        name = double.replace('""', '"') if double is not None else single.replace("''", "'")
        return name, quoted.end()
    bare = _BARE.match(text, at)
    name = bare.group().strip() if bare else ""
    if not name:
        raise ValueError(f"cannot read {_near(text, at)}: an edge needs a node name at both ends of its arrow")
    wrong = _NOT_BARE.search(name)
    if wrong:
        raise ValueError(
            f"found {wrong.group()!r} in the name {name!r}; edges are written with {ARROWS} and separated by ';', "
            "a name that holds other syntax is quoted"
        )
    return name, at + len(bare.group() if bare else "")


def _refuse_mixed(text: str, before: str, arrow: re.Match[str], after: str) -> None:
    """Refuse <-> and o-> and their like, whose o would be taken for the end of a name."""
    start, end = arrow.span()
    mark = arrow.group()
    if text[start - 1] == "o" and before[-2:-1].isspace():
        mark = "o" + mark
    if text[end] == "o" and after[1:2].isspace():
        mark += "o"
    if "o" in mark or (mark[0] == "<" and mark[-1] == ">"):
        raise ValueError(
            f"found the edge mark {mark!r}; mixed marks are not supported yet, only {ARROWS}; a configurational model "
            "('A+B<->C') takes metrics of the field 'formula', e.g. 'correctness'"
        )


def _near(text: str, at: int) -> str:
    return repr(text[max(0, at - 20) : at + 20])


def explain_text(cell: str) -> str:
    """Return a message for a cell that is the text of an object."""
    shown = cell if len(cell) <= 60 else cell[:57] + "..."
    return (
        f"found the text {shown!r}, which an object turned into when dask, CSV or astype(str) wrote it as text; "
        "make the column with graph_column before that, and store it as Parquet, not CSV"
    )


def write_name(name: str) -> str:
    """Return a node name, quoted where it has to be."""
    unsafe = (
        _NOT_BARE.search(name)
        or _ARROW.search(name)
        or TEXT_OF_OBJECT.match(name + " ")
        or any(c in name for c in ";\n\r")
        or name != name.strip()
        or name[0] in "->'"
        or name[-1] in "-<"
        or re.search(r"\so$|^o\s", name)
    )
    if not unsafe:
        return name
    return '"' + name.replace('"', '""') + '"'


def write_edges(names: Sequence[str], arcs: Iterable[tuple[int, int]]) -> list[str]:
    """Return the edges of a graph as strings like "A -> B", ordered by the positions of their nodes as written.

    `names` are as `write_name` returns them; `arcs` are marks (source, target), both for an undirected edge.
    """
    known = set(arcs)
    return [
        f"{names[s]} -- {names[t]}" if (t, s) in known else f"{names[s]} -> {names[t]}"
        for s, t in sorted(known)
        if s < t or (t, s) not in known
    ]


def write_graph(names: Sequence[str], arcs: Sequence[tuple[int, int]]) -> str:
    """Return the edge string of a graph: its edges, then its isolated nodes as bare names, ``{}`` without nodes."""
    linked = {node for arc in arcs for node in arc}
    isolated = [name for i, name in enumerate(names) if i not in linked]
    return "; ".join(write_edges(names, arcs) + isolated) or "{}"
