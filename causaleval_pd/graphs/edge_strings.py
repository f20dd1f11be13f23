"""Edge strings: ``"A -> B; B -- C; D"``, of mixed graphs ``"A o-> B; B <-> C; C o-o D"``.

Statements stand between semicolons or line ends; a statement is a node name, an edge or a chain of edges. Names may be
quoted by ``"`` or ``'`` (a quote inside is doubled) and must be where they hold something that could be syntax. A name
that stands alone, as ``A-B`` or ``A B``, may be an edge in another notation: it is doubtful unless it is quoted.

A circle is an ``o`` with a blank before and after the mark: ``Ao->B`` is an edge from the node ``Ao``, which is
doubtful where ``A`` is a node too. ``<->`` stands between blanks: without them it may be a configurational model.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

ARROWS = "'->', '<-' and '--'"
CIRCLES = "'<->', 'o->', 'o-o' and 'o--'"

# how cells read after dask, CSV or astype(str) have written them as text
TEXT_OF_OBJECT = re.compile(
    r"""\s*(?:b['"]|Graph\(|<\w[\w.]*[ ]|(?:Multi)?(?:Di)?Graph(?:\ named\ '[^']*')?\ with\ \d+\ nodes|\[[\[(]"""
    r"""|array\(|matrix\(|Graph\ Nodes:|(?:nan|NaN|None|<NA>|NaT)\s*$)""",
    re.VERBOSE,
)
_ARROW = re.compile(r"(?<=\s)o-+(?:>|o(?=\s|$))|<-+(?:>|o(?=\s))|(?<=\s)o--+|--+o(?=[ \t])|<-+|-+>|--+")
#: where a name ends at the latest
_STOP = r"<-|->|--|(?<=\s)o-(?:[->]|o(?=\s|$))"
_BLANK = r"[^\S\n\r]*"
_QUOTED = re.compile(rf"""{_BLANK}(?:"((?:[^"]|"")*)"|'((?:[^']|'')*)'){_BLANK}""")
_SIMPLE = re.compile(rf"[ ]*([\w.]+(?:[-:+*/^][\w.]+)*)[ ]*(?=[;\n\r]|{_STOP}|$)")
_BARE = re.compile(rf"(?:(?!{_STOP})[^;\n\r])*")
# what a bare name may not hold: syntax of other notations, which would silently become part of a name
_NOT_BARE = re.compile(
    r"""[,{}"\x00\t]|\s\s|\s[-=~|<>]+\s|=>|[\u2190-\u21ff\u27f0-\u27ff\u2900-\u297f\u2794\u2798-\u27be\u2b05-\u2b0d]"""
    r"""|^'|[\u2014\u2015\ufe58]|[\x85\u2028\u2029\u200b\ufeff]|&(?:lt|gt|amp|quot|nbsp|\#\w+)\b|\s[-\u2010-\u2013\u2212\ufe63\uff0d]|[-\u2010-\u2013\u2212\ufe63\uff0d]\s|^\W*$|^[<>|=~]|[<>|=~]$"""
    # quotes of other keyboards around a name, semicolons and commas of other scripts, tags of HTML
    r"""|^[\u201c-\u201f\u2018-\u201b\u00ab\u00bb\u2039\u203a`\u00b4]"""
    r"""|[\u00b6\uff1b\ufe54\u037e\u061b\uff0c\u3001\u3002\u060c]|</?[A-Za-z][^<>]*>"""
)
# what joins nodes in other notations: a name of such parts that stands alone is doubtful, in an edge it is not
_JOINS = r"\s\-\u2010-\u2013\u2212\ufe63\uff0d"
_DOUBTFUL = re.compile(rf"[{_JOINS}|~+*^=<>()\[\]/&!?\\]")
# a weight, a comment, a number in a list or another separator beside a node, unless the name is quoted or expected
_NOTE = re.compile(
    r"\s[\[(](?:[-+]?[\d.]+%?|[^()\[\]=]*=[^()\[\]]*)[\])]$|:\s|\s\||\s[-+]?\d*\.\d+$|\s#\s|\s//|\s[&+*/\\\u00b7\u2022]\s"
    r"|^(?:\d+[.)]|[*\u00b7\u2022\u2023\u25aa\u25cf])\s|^(\*+)[^*]+\1$"
)
#: what stands between two edges that are written in one line
_BETWEEN = re.compile(r"\s(?:and|or|then)\s|\.\s|\\[nr]")
_WORD = re.compile(r"\w")
#: words that begin a text of another notation; such a word alone is what is left of a file that was cut off
_HEADING = re.compile(r"(?:strict|graph|digraph|network|net|dag|pdag|mag|pag|Graph)$")
#: headings of Tetrad's text
_TETRAD = re.compile(r"Graph (?:Nodes|Edges):")
# marks of mixed graphs, as in A o-o B, A *-> B and A \u2194 B
_CIRCLES = "o*@\u2218\u25cb"
# marks of other tools, as in A ?-> B and A x-> B, unless the arrow has no blank on either side
_OTHER_MARK = re.compile(r"[^\w\s]|[xXO]")
_MIXED = re.compile(rf"\s([{_CIRCLES}]-+[{_CIRCLES}]?|-+[{_CIRCLES}])\s|([\u2194\u27f7])")
#: a mark with a circle inside, as in A <-o-> B, which is not a chain by way of a node o
_INNER = re.compile(r"(?<=\s)(?:<-+|-+>?)o-+[>o]?(?=\s)")
_PARTS = re.compile(rf"[{_JOINS}]+")


_BIDIRECTED = re.compile("<-+>$")
#: what joins the factors of a configurational model
_FACTORS = re.compile(r"[+*]")
_IN_QUOTES = re.compile(r""""[^"]*"|'[^']*'""")
#: marks by the character at their end: 1 a tail, 2 an arrow, 3 a circle
_CODES = {"-": 1, "<": 2, ">": 2, "o": 3}
#: how edges are written: an arrow on the right, else a tail
_SIGNS = {(1, 1): "--", (1, 2): "->", (2, 2): "<->", (3, 1): "o--", (3, 2): "o->", (3, 3): "o-o"}

Ends = tuple[int, int, int, int]


class EdgeText(NamedTuple):
    """An edge string as it was read.

    Attributes
    ----------
    nodes : tuple of str
        Node names in order of appearance.
    arcs : list of (int, int)
        Marks (source, target) as positions among the nodes; an undirected edge has both.
    doubtful : tuple of str
        Bare names that may be edges in another notation.
    ends : list of (int, int, int, int), optional
        If an edge has a circle or two arrowheads, all edges as (node, node, mark at the first, at the second); marks
        are 1 a tail, 2 an arrow, 3 a circle. There are no arcs then.
    """

    nodes: tuple[str, ...]
    arcs: list[tuple[int, int]]
    doubtful: tuple[str, ...] = ()
    ends: list[tuple[int, int, int, int]] | None = None


def parse_edges(text: str) -> EdgeText:
    """Read an edge string.

    Statements are such as ``A -> B``, ``C <- B -- D`` or ``E``. There are no nodes in ``{}`` and in blank text. An
    error names the place in the text, and the caller adds the row.

    Examples
    --------
    >>> parse_edges("A -> B -- C; D")
    EdgeText(nodes=('A', 'B', 'C', 'D'), arcs=[(0, 1), (1, 2), (2, 1)], doubtful=(), ends=None)
    >>> parse_edges("A-B; IL-6 -> CRP").doubtful
    ('A-B',)
    >>> parse_edges("A o-> B <-> C").ends
    [(0, 1, 3, 2), (1, 2, 2, 2)]
    """
    if TEXT_OF_OBJECT.match(text):
        raise ValueError(explain_text(text))
    position: dict[str, int] = {}
    pairs: dict[tuple[int, int], list[tuple[int, int]]] = {}
    if text.strip() == "{}":
        return EdgeText((), [])
    quoted: set[str] = set()
    glued: dict[str, str] = {}
    noted: set[str] = set()
    at = 0
    while at < len(text):
        if text[at] in ";\n\r" or text[at].isspace():
            at += 1
            continue
        name, at = _read_name(text, at, quoted)
        left = start = position.setdefault(name, len(position))
        end = at
        while arrow := _ARROW.match(text, at):
            before = name
            # A->B B->C are two edges for who writes arrows without blanks
            tight = left != start and not (text[end].isspace() or text[arrow.start() - 1].isspace())
            noted.update(_between_edges(name, tight) if left != start else ())
            end = arrow.end()
            name, at = _read_name(text, arrow.end(), quoted)
            _refuse_other_marks(text, arrow, before, name, quoted)
            glued.update(_without_circles(text, before, arrow, name))
            if _BIDIRECTED.match(arrow.group()):
                _refuse_formula(text, arrow, {before, name} - quoted)
            right = position.setdefault(name, len(position))
            if left == right:
                raise ValueError(f"found an edge from {name!r} to itself; graphs have no self loops")
            codes = _CODES[arrow.group()[0]], _CODES[arrow.group()[-1]]
            pair, codes = ((left, right), codes) if left < right else ((right, left), codes[::-1])
            known = pairs.setdefault(pair, [])
            if codes not in known:
                known.append(codes)
            if len(known) > 1 and (len(known) > 2 or (2, 2) not in known or not set(known) & {(1, 2), (2, 1)}):
                raise ValueError(
                    f"the edge between {before!r} and {name!r} is written twice with different marks; an undirected "
                    f"edge is {write_name(before)} -- {write_name(name)}, and only '->' and '<->' stand side by side"
                )
            left = right
        if at < len(text) and text[at] not in ";\n\r":
            raise ValueError(f"cannot read {_near(text, at)}: expected an arrow or ';' after the quoted name {name!r}")
    linked = {node for pair in pairs for node in pair}
    doubtful = [
        name
        for name, node in position.items()
        if name not in quoted
        and (
            name in noted
            or _is_noted(name)
            or glued.get(name) in position
            or (_joins_nodes(name, position) if node in linked else _DOUBTFUL.search(name))
        )
    ]
    if len(position) == 1 and _HEADING.match(name) and name not in quoted:
        doubtful = [name]
    edges = [(*pair, *codes) for pair, both in pairs.items() for codes in both]
    if any(3 in edge[2:] or edge[2:] == (2, 2) for edge in edges):
        return EdgeText(tuple(position), [], tuple(doubtful), edges)
    return EdgeText(tuple(position), [arc for edge in edges for arc in _arcs(edge)], tuple(doubtful))


def _between_edges(name: str, tight: bool) -> list[str]:
    """Return the name, between two arrows, if it seems to be the end of one edge and the start of another.

    Between `tight` arrows, which have no blanks around them, names with blanks seem so.
    """
    return [name] if _BETWEEN.search(name) or (tight and len(name.split()) > 1) else []


def _arcs(edge: Ends) -> list[tuple[int, int]]:
    """Return the arcs of an edge of tails and arrows: one from a tail to an arrow, both of two tails."""
    i, j, at_i, at_j = edge
    return [arc for arc, mark in (((i, j), at_i), ((j, i), at_j)) if mark == 1]


def _without_circles(text: str, before: str, arrow: re.Match[str], after: str) -> dict[str, str]:
    """Return the names at an arrow whose o may be a circle, and what is left of them without it."""
    found = {before: before[:-1]} if text[arrow.start() - 1] == "o" else {}
    return found | ({after: after[1:]} if text[arrow.end() : arrow.end() + 1] == "o" else {})


def _joins_nodes(name: str, nodes: Container[str]) -> bool:
    """Return whether a name, as A-B, joins the names of other nodes."""
    if not _PARTS.search(name):
        return False
    parts = _PARTS.split(name)
    return len(parts) > 1 and all(part in nodes for part in parts)


def explain_doubt(name: str) -> str:
    """Return a message for a doubtful name."""
    if _HEADING.match(name):
        return (
            f"found {name!r} alone, which begins a text in another notation that is cut off here; quote the name of a "
            f"node ({_quote(name)}), or list it in nodes="
        )
    if _NOTE.search(name) or _BETWEEN.search(name):
        return (
            f"found {name!r}, which may be more than the name of a node, such as two nodes, or a node and a weight; "
            f"write edges with {ARROWS} and ';' after each, and quote a name that holds other syntax "
            f"({_quote(name)}), or list it in nodes="
        )
    if not _DOUBTFUL.search(name):
        return (
            f"found the node {name!r} at an arrow and a node of this name without its 'o'; write a circle with blanks, "
            f"as in 'A o-> B', and blanks around the arrow of the node {name!r}, or list it in nodes="
        )
    return (
        f"found {name!r}, which may be a node or an edge in another notation; write edges with {ARROWS}, and quote a "
        f"name that holds other syntax ({_quote(name)}), or list it in nodes="
    )


def _read_name(text: str, at: int, quoted_names: set[str]) -> tuple[str, int]:
    """Return the name that starts at a position, and where it ends; remember a quoted one."""
    simple = _SIMPLE.match(text, at)
    if simple and _WORD.search(simple.group(1)):
        return simple.group(1), simple.end()
    quoted = _QUOTED.match(text, at)
    if quoted:
        double, single = quoted.groups()
        name = double.replace('""', '"') if double is not None else single.replace("''", "'")
        if not name:
            raise ValueError(f"cannot read {_near(text, at)}: found an empty name in quotes; a node needs a name")
        quoted_names.add(name)
        return name, quoted.end()
    bare = _BARE.match(text, at)
    name = bare.group().strip() if bare else ""
    if not name:
        raise ValueError(f"cannot read {_near(text, at)}: an edge needs a node name at both ends of its arrow")
    mixed = _MIXED.search(name)
    if mixed:
        raise ValueError(_explain_mark(mixed.group(1) or mixed.group(2)))
    wrong = _NOT_BARE.search(name)
    if wrong:
        raise ValueError(
            f"found {wrong.group()!r} in the name {name!r}; edges are written with {ARROWS} and separated by ';', "
            "a name that holds other syntax is quoted"
        )
    return name, at + len(bare.group() if bare else "")


def _refuse_other_marks(text: str, arrow: re.Match[str], before: str, after: str, quoted: Container[str]) -> None:
    """Refuse <-o->, and *->, @->, ?-> and their like, whose first character would be taken for the end of a name."""
    start, end = arrow.span()
    inner = _INNER.match(text, start)
    if inner:
        raise ValueError(f"{_explain_mark(inner.group())}; write blanks around the arrows of a node 'o', or quote it")
    left, right = text[start - 1], text[end : end + 1]
    ends = (
        (left, before, before[-2:-1], right, left + arrow.group()),
        (right, after, after[1:2], left, arrow.group() + right),
    )
    for mark, name, beside, opposite, found in ends:
        if name in quoted or not beside.isspace():
            continue
        if mark in _CIRCLES:
            raise ValueError(_explain_mark(found))
        if _OTHER_MARK.match(mark) and opposite.isspace():
            raise ValueError(
                f"{_explain_mark(found)}; if {mark!r} belongs to the node {name!r}, write blanks around the arrow"
            )


def _explain_mark(mark: str) -> str:
    """Return a message for a mark that edge strings do not have."""
    return f"found the edge mark {mark!r}; edges are written with {ARROWS}, those of mixed graphs with {CIRCLES}"


def is_formula(text: str) -> bool:
    """Return whether a text is a configurational model, as `A+B <-> C`: `<->` and names that hold + or * unquoted."""
    bare = _IN_QUOTES.sub("", text) if "<->" in text else ""
    return "<->" in bare and _FACTORS.search(bare) is not None


def _refuse_formula(text: str, arrow: re.Match[str], bare: set[str]) -> None:
    """Refuse <-> where the text may be a configurational model, as A+B<->C."""
    start, end = arrow.span()
    factors = next((name for name in sorted(bare) if _FACTORS.search(name)), None)
    if factors is not None or not (text[start - 1].isspace() and text[end : end + 1].isspace()):
        found = f"the name {factors!r}" if factors is not None else f"{_near(text, start)} without blanks around it"
        raise ValueError(
            f"found the edge mark {arrow.group()!r} and {found}; a configurational model ('A+B<->C') takes metrics of "
            "the field 'formula', e.g. 'correctness'; a bidirected edge is written 'A <-> B', and names that hold + or "
            "* are quoted"
        )


def _near(text: str, at: int) -> str:
    return repr(text[max(0, at - 20) : at + 20])


def explain_text(cell: str) -> str:
    """Return a message for a cell that is the text of an object."""
    shown = cell if len(cell) <= 60 else cell[:57] + "..."
    if re.match(r"\[\s*\[\s*[-\d.]+\s*,", cell):  # nested lists, as JSON writes matrices
        return (
            f"found the text {shown!r}, which is a matrix written as text; read it first and state its direction: "
            "graph_column([None if pd.isna(x) else np.array(json.loads(x)) for x in column], encoding='row->column'), "
            "or 'column->row'"
        )
    return (
        f"found the text {shown!r}, which an object turned into when dask, CSV or astype(str) wrote it as text; "
        "make the column with graph_column before that, and store it as Parquet, not CSV, or as the text that its "
        ".graph.to_strings() returns"
    )


def _is_noted(name: str) -> bool:
    """Return whether a name seems to hold more than a name, as `B (0.5)` and `(A`."""
    if name.isidentifier():
        return False
    return bool(_NOTE.search(name)) or name.count("(") != name.count(")")


def write_name(name: str) -> str:
    """Return a node name, quoted where it has to be."""
    unsafe = (
        _NOT_BARE.search(name)
        or _is_noted(name)
        or _ARROW.search(name)
        or TEXT_OF_OBJECT.match(name + " ")
        or _TETRAD.match(name)
        or any(c in name for c in ";\n\r")
        or name != name.strip()
        or name[0] in "->'["
        or name[-1] in "-<"
        or re.search(rf"\s[{_CIRCLES}]$|^[{_CIRCLES}]\s", name)
        or _MIXED.search(name)
    )
    return _quote(name) if unsafe else name


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def write_names(names: Sequence[str]) -> list[str]:
    """Return the names of a graph's nodes, quoted where they have to be beside one another."""
    known = set(names)
    return [_quote(name) if _joins_nodes(name, known) else write_name(name) for name in names]


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


def write_mixed_edges(names: Sequence[str], ends: Iterable[Ends]) -> list[str]:
    """Return the edges of a mixed graph as strings like "A o-> B", ordered by the positions of their nodes as written.

    `names` are as `write_name` returns them; `ends` are (node, node, mark at the first, at the second), where no mark
    at one end stands for a directed edge beside a bidirected one.
    """
    written = []
    for i, j, at_i, at_j in ends:
        edge = (i, j, at_i, at_j)
        if 0 in (at_i, at_j):
            written.append((min(i, j), max(i, j), 2, 2))
            edge = (i, j, at_i or 1, at_j or 1)
        backward = edge[2:] not in _SIGNS or (edge[2] == edge[3] and i > j)
        written.append((j, i, edge[3], edge[2]) if backward else edge)
    return [f"{names[i]} {_SIGNS[a, b]} {names[j]}" for i, j, a, b in sorted(written)]


def write_mixed_graph(names: Sequence[str], ends: Sequence[Ends]) -> str:
    """Return the edge string of a mixed graph, as `write_graph` does.

    Names that hold + or * are quoted, for a text with <-> may be a configurational model.
    """
    written = [_quote(name) if name[0] != '"' and _FACTORS.search(name) else name for name in names]
    linked = {node for edge in ends for node in edge[:2]}
    return "; ".join(write_mixed_edges(written, ends) + _write_isolated(written, linked)) or "{}"


def write_graph(names: Sequence[str], arcs: Sequence[tuple[int, int]]) -> str:
    """Return the edge string of a graph: its edges, then its isolated nodes by name, ``{}`` without nodes.

    `names` are as `write_names` returns them.
    """
    linked = {node for arc in arcs for node in arc}
    return "; ".join(write_edges(names, arcs) + _write_isolated(names, linked)) or "{}"


def _write_isolated(names: Sequence[str], linked: Container[int]) -> list[str]:
    """Return the names of nodes without edges, quoted where they may be edges in another notation."""
    return [
        name if name[0] == '"' or not (_DOUBTFUL.search(name) or _HEADING.match(name)) else _quote(name)
        for i, name in enumerate(names)
        if i not in linked
    ]
