"""Edge strings: ``"A -> B; B -- C; D"``, of mixed graphs ``"A o-> B; B <-> C; C o-o D"``.

Statements stand between semicolons or line ends; a statement is a node name, an edge or a chain of edges. Names are
quoted by ``"`` or ``'`` (a quote inside is doubled). A name may stand without quotes if it is made of letters, digits,
``_``, ``.``, and ``-`` and single blanks inside, and may end in a time (``X@-1``). It is quoted all the same

- alone, if it holds ``-`` or a blank: ``A-B`` and ``A B`` may be edges in another notation;
- between two arrows, or beside an arrow without blanks, if it holds a blank: ``A->B C->D`` may be two edges;
- if it has several words of which one is a number with a point or ends in one: ``B 0.5``, ``1. A``.

A circle is an ``o`` with a blank before and after the mark: ``Ao->B`` is an edge from the node ``Ao``. ``<->`` stands
between blanks: without them it may be a configurational model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ..contract.cells import explain_written
from ..contract.encoding import Edges, Ends
from .edge_marks import MARK_OF_CHARACTER, SHORT_SIGNS, MarkedEdges, forward, single_edges

ARROWS = "'->', '<-' and '--'"
CIRCLES = "'<->', 'o->', 'o-o' and 'o--'"

#: what makes columns of graphs, and what CSV may hold of one
MADE_BY = ("graph_column", "the text that its .graph.to_strings() returns")
# how cells read after dask, CSV or astype(str) have written them as text
TEXT_OF_OBJECT = re.compile(
    r"""\s*(?:b['"]|Graph\(|<\w[\w.]*[ ]|(?:Multi)?(?:Di)?Graph(?:\ named\ '[^']*')?\ with\ \d+\ nodes|\[[\[(]"""
    r"""|array\(|matrix\(|Graph\ Nodes:|(?:nan|NaN|None|<NA>|NaT)\s*$)""",
    re.VERBOSE,
)
_ARROW = re.compile(r"(?<=\s)o-+(?:>|o(?=\s|$))|<-+(?:>|o(?=\s))|(?<=\s)o--+|--+o(?=[ \t])|<-+|-+>|--+")
#: a mark with a circle inside, as in A <-o-> B, which is not a chain by way of a node o
_INNER = re.compile(r"o-+[>o-]")
#: letters of a name in a message
_MOST_SHOWN = 60
_BLANKS = r"[^\S\n\r]*+"
_WORD = r"(?=\.*+\w)[\w.]++(?>(?:-[\w.]++)*)"
#: a word among several: not the number 0.5 or 1., and not the start of o-> with a circle
_WORD_OF_SEVERAL = r"(?!\d*+\.)(?!o-(?:[->]|o(?:\s|$)))\w++(?>(?:(?:\.++|-)\w++)*)"
_SEVERAL_WORDS = rf"{_WORD_OF_SEVERAL}(?>(?: {_WORD_OF_SEVERAL})+)"
#: a time, as lagged graphs have it
_TIME = r"(?:@-?\d++)?"
_BARE = re.compile(rf"(?:{_SEVERAL_WORDS}(?![\w.])|{_WORD}){_TIME}")
_ALONE = re.compile(rf"[\w.]++{_TIME}")
_NAME = re.compile(
    rf"""{_BLANKS}(?:"(?P<double>(?>(?:[^"]|"")*))"|'(?P<single>(?>(?:[^']|'')*))'|(?P<bare>{_BARE.pattern})){_BLANKS}"""
)
#: where a name ends at the latest, for messages
_CHUNK = re.compile(rf"{_BLANKS}(?P<name>(?:(?!<-|->|--|(?<=\s)o-(?:[->]|o(?:\s|$)))[^;\n\r])*)")
_CHARACTERS = "expected letters, digits, '_', '.', '-' or single blanks inside, no number as 0.5 beside a word"
_STANDS_ALONE = "which alone may be an edge in another notation"
_MAY_BE_TWO = "which between two arrows, or beside one without blanks, may be two nodes"
#: what joins the factors of a configurational model
_FACTORS = re.compile(r"[+*]")
_IN_QUOTES = re.compile(r""""[^"]*"|'[^']*'""")

# ---- of texts that are no edge strings, for messages ----
#: letters of a text that are looked at
_MOST_READ = 2000
_PLAIN_ARROW = re.compile(r"<-+|-+>|--+")
_AS_EDGES = "edges are written as 'A -> B', with ';' or a line end between them"

#: kinds of texts with quotes, by how they begin
_BEGINNINGS = (
    (
        re.compile(r"\s*/knowledge\b"),
        "is a knowledge file of Tetrad, which is no graph; make it a truth by ce.Knowledge.from_tetrad(text), with the "
        "metrics required_recall, forbidden_violated and known_accuracy",
    ),
    (
        re.compile(r"""\s*\{\s*(?:"[^"]*"|'[^']*')\s*:"""),
        "is a mapping as text; pass json.loads(text), or ast.literal_eval(text), with encoding='children' if each node "
        "lists its children, with encoding='parents' if it lists its parents",
    ),
    (
        re.compile(r"\s*\[\s*(?:\"[^\"]*\"|'[^']*')\s*[,\]]"),
        "is a list of texts as text; join them, as by '; '.join(ast.literal_eval(text))",
    ),
)
_OTHER_ARROWS = {"\u2192": "->", "\u2190": "<-", "\u2194": "<->", "\u21d2": "->", "=>": "->"}
_REMARK = re.compile(
    r"\s*(?:\w*(?:error|exception|warning)\b\s*(?::|in\b)|traceback\b|[^\n]*\b(?:failed|timed out)\b|"
    r"(?:no|without|empty)\b[^\n;>]*\b(?:edges?|arcs?|graph|links?)\b)",
    re.I,
)


#: a text that is the name of a file of one of the formats that tools write
_FILE_NAME = re.compile(
    r"[^\s;\"']+\.(?:csv|tsv|txt|tab|json|xml|gml|graphml|xdsl|bif|dot|gv|net|npy|npz|pkl|parquet|xlsx?)(?:\.gz)?", re.I
)


class UnquotedNameError(ValueError):
    """A name is not read without quotes; `name` is this name."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def _read_name(text: str, at: int) -> tuple[str, bool, int]:
    """Return the name at a position, whether it is quoted, and where what follows it begins."""
    match = _NAME.match(text, at)
    end = at if match is None else match.end()
    is_read = end == len(text) or text[end] in ";\n\r" or _ARROW.match(text, end)
    if match is None or not (is_read or match["bare"] is None):
        raise _refuse(text, at)
    double, single, bare = match.groups()
    if bare is not None:
        return bare, False, end
    name = double.replace('""', '"') if double is not None else single.replace("''", "'")
    if not name:
        place = match.start(str(match.lastgroup)) - 1
        raise ValueError(f"cannot read {_near(text, place)}: found an empty name in quotes; a node needs a name")
    if not is_read:
        raise ValueError(f"cannot read {_near(text, end)}: expected an arrow or ';' after the quoted name {name!r}")
    return name, True, end


def _refuse(text: str, at: int) -> ValueError:
    """Return the error of a name at a position that is not read without quotes."""
    chunk = next(_CHUNK.finditer(text, at))
    name = chunk["name"].strip()
    if not name:
        place = _near(text, chunk.start("name"))
        return ValueError(f"cannot read {place}: an edge needs a node name at both ends of its arrow")
    if is_formula(text) and _FACTORS.search(name):
        return _formula(f"the name {name!r}")
    return _explain_name(text, name, _CHARACTERS)


def _explain_name(text: str, name: str, why: str) -> ValueError:
    kind = explain_other_text(text)
    if kind is not None:
        return ValueError(f"found {cut(text)!r}, which {kind}")
    if name[0] in "\"'":
        closed = _quote(cut(name[1:]) or "A")
        return ValueError(
            f"found {cut(name)!r}, whose quote is not closed; close it: {closed}, or quote a name that begins with "
            f"one: {_quote(cut(name))}"
        )
    return UnquotedNameError(
        name,
        f"found {cut(name)!r}, {why}; quote the name of a node: {_quote(cut(name))}; edges are written with "
        f"{ARROWS}, those of mixed graphs with {CIRCLES}, with ';' between them",
    )


def cut(text: str) -> str:
    """Return a name or a text for a message, its beginning if it is long."""
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 3] + "..."


def parse_edges(text: str) -> Edges:
    """Read an edge string, without nodes in ``{}`` and blank text; errors name the place, and callers add the row."""
    if text.lstrip()[:5] == "<?xml":
        raise ValueError(
            "found XML that is not GraphML; write the graph as GraphML, or read a network in XMLBIF or XDSL by "
            "pyagrum.loadBN(path) and pass ce.as_network(network).graph"
        )
    if TEXT_OF_OBJECT.match(text):
        raise ValueError(explain_text(text))
    if _FILE_NAME.fullmatch(text.strip()):
        raise ValueError(
            f"found {text.strip()!r}, the name of a file: a path is a pathlib.Path, and ce.read_graphs(path) reads "
            "files of graphs, so that ce.read_graphs(path).iloc[0] is such a cell; a node of this name is quoted"
        )
    edges = MarkedEdges()
    alone, linked, repeated = dict[str, None](), set[str](), None
    at = 0 if text.strip() != "{}" else len(text)
    while at < len(text):
        if text[at].isspace() or text[at] == ";":
            at += 1
            continue
        name, is_quoted, at = _read_name(text, at)
        arrow = _ARROW.match(text, at)
        if arrow is None:
            repeated = name if name in edges.position else repeated
            edges.node(name)
            if not (is_quoted or _ALONE.fullmatch(name)):
                alone[name] = None
            continue
        while arrow is not None:
            _check_arrow(text, arrow)
            before, was_quoted = name, is_quoted
            name, is_quoted, at = _read_name(text, arrow.end())
            following = _ARROW.match(text, at)
            if not was_quoted and " " in before and not text[arrow.start() - 1].isspace():
                raise _explain_name(text, before, _MAY_BE_TWO)
            if not is_quoted and " " in name and (following is not None or not text[arrow.end()].isspace()):
                raise _explain_name(text, name, _MAY_BE_TWO)
            sign = arrow.group()
            edges.add(before, name, MARK_OF_CHARACTER[sign[0]], MARK_OF_CHARACTER[sign[-1]])
            linked |= {before, name}
            arrow = following
    odd = next((name for name in alone if name not in linked), None)
    if odd is not None:
        raise _explain_name(text, odd, _STANDS_ALONE)
    if repeated is not None and not linked:
        raise ValueError(
            f"found {cut(text)!r}, which has no edge and {repeated!r} twice, as matrices and tables have; read it "
            "from its file by ce.read_graphs(path), or by pd.read_csv(path, sep=';'), with index_col=0 and encoding= "
            "for a matrix, and with the columns from and to for a table of edges"
        )
    graph = edges.found(is_open=True)
    return graph if graph.labels or text.strip() == "{}" else graph._replace(labels=None)


def _check_arrow(text: str, arrow: re.Match[str]) -> None:
    """Refuse <-o->, and <-> without blanks around it."""
    start, end = arrow.span()
    inner = _INNER.match(text, end)
    if inner is not None:
        raise ValueError(
            f"found the edge mark {arrow.group() + inner.group()!r}; edges are written with {ARROWS}, those of mixed "
            f"graphs with {CIRCLES}; write blanks around the arrows of a node 'o', or quote it"
        )
    is_bidirected = arrow.group()[0] == "<" and arrow.group()[-1] == ">"
    if is_bidirected and not (text[start - 1].isspace() and text[end : end + 1].isspace()):
        raise _formula(f"{_near(text, start)} without blanks around it")


def _formula(what: str) -> ValueError:
    """Return the error of a text that may be a configurational model, as A+B<->C."""
    return ValueError(
        f"found the edge mark '<->' and {what}; a configurational model ('A+B<->C') takes metrics of the field "
        "'formula', e.g. 'correctness'; a bidirected edge is written 'A <-> B', and names that hold + or * are quoted"
    )


def is_formula(text: str) -> bool:
    """Return whether a text is a configurational model, as `A+B <-> C`: `<->` and names that hold + or * unquoted."""
    bare = _IN_QUOTES.sub("", text) if "<->" in text else ""
    return "<->" in bare and _FACTORS.search(bare) is not None


def _near(text: str, at: int) -> str:
    return repr(text[max(0, at - 20) : at + 20])


def explain_text(cell: str) -> str:
    """Return a message for a cell that is the text of an object."""
    shown = cut(cell)
    if re.match(r"\[\s*\[\s*[-\d.]+\s*,", cell):  # nested lists, as JSON writes matrices
        return (
            f"found the text {shown!r}, which is a matrix written as text; read it first and state its direction: "
            "graph_column([None if pd.isna(x) else np.array(json.loads(x)) for x in column], encoding='row->column'), "
            "or 'column->row'"
        )
    if re.match(r"\[\s*\(\s*['\"]", cell):
        return (
            f"found the text {shown!r}, which is a list of edges written as text; read it first: "
            "graph_column([None if pd.isna(x) else ast.literal_eval(x) for x in column])"
        )
    return explain_written(cell, *MADE_BY)


@lru_cache(maxsize=4096)
def write_name(name: str) -> str:
    """Return a node name, quoted where it has to be."""
    return name if _BARE.fullmatch(name) and not TEXT_OF_OBJECT.match(name) else _quote(name)


def write_names(names: Iterable[str]) -> list[str]:
    """Return the names of a graph's nodes, quoted where they have to be."""
    return [write_name(name) for name in names]


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def write_edges(names: Sequence[str], ends: Iterable[tuple[int, int, int, int]]) -> list[str]:
    """Return edges of planes as strings like "A o-> B" between written names, by the positions of their nodes."""
    turned = [(j, i, b, a) if a == b and i > j else (i, j, a, b) for i, j, a, b in map(forward, single_edges(ends))]
    return [f"{names[i]} {SHORT_SIGNS[a, b]} {names[j]}" for i, j, a, b in sorted(turned)]


def write_graph(names: Sequence[str], ends: Ends) -> str:
    """Return the edge string of a graph: its edges, then its isolated nodes by name, ``{}`` without nodes."""
    linked = {node for edge in ends for node in edge[:2]}
    isolated = [
        name if name[0] == '"' or (_ALONE.fullmatch(name) and not _FILE_NAME.fullmatch(name)) else _quote(name)
        for i, name in enumerate(names)
        if i not in linked
    ]
    return "; ".join(write_edges(names, ends) + isolated) or "{}"


def explain_other_text(text: str) -> str | None:
    """Return what a text is or has that is no edge string, and how to mend it; None if its kind is not plain."""
    part = text[:_MOST_READ]
    what = next((what for pattern, what in _BEGINNINGS if pattern.match(part)), None)
    if what is not None:
        return what
    bare = _IN_QUOTES.sub("x", part)
    heading = bare.partition("\n")[0]
    other = next((other for other in _OTHER_ARROWS if other in heading), None)
    if other is not None:
        return f"has another arrow; replace it, as by text.replace('{other}', '{_OTHER_ARROWS[other]}')"
    arrow = _PLAIN_ARROW.search(bare)
    if arrow is not None:
        marks = {"words and ':' before its edges": re.search(r"\w:\s", bare[: arrow.start()])}
        marks |= {"commas": re.search(",", bare), "braces": re.search("[{}]", bare)}
        what = next((name for name, mark in marks.items() if mark is not None), None)
        return None if what is None else f"has {what}; {_AS_EDGES}, and a name that holds such a mark is quoted"
    return _explain_lines(bare)


def _explain_lines(text: str) -> str | None:
    """Return what a text without an arrow is."""
    if _REMARK.match(text):
        return (
            "is a remark or the message of a failed run; write a failed run as a missing value (None), and a graph "
            "without edges as its nodes ('A; B', or '{}' with nodes=)"
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    separator = next((x for x in ",\t " if all(len(line.split(x)) == 2 for line in lines)), None)
    if separator is not None and ";" not in text and (separator != " " or len(lines) > 1):
        read = f"pd.read_csv(io.StringIO(text), names=['from', 'to'], sep={separator!r})"
        return f"has pairs of nodes; if they are edges from the first node to the second, make them a table by {read}"
    if len(lines) > 1 or re.search("[,{}]", text):
        return f"has no edge; {_AS_EDGES}, and a node without edges is its name"
    return None
