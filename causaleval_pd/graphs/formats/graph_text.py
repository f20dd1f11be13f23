"""Texts of graphs with braces as cells: dagitty's (`dag { A -> B }`) and DOT (`digraph { A -> B }`).

Both are chains of edges between names and groups of names, with attributes in brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...contract.encoding import Edges, Encoding, Ends, register_encoding
from ..edge_marks import ARROW, CIRCLE, TAIL, MarkedEdges, forward

Marks = tuple[int, int]
Attributes = dict[str, str]

#: edges that groups of names may make, and how deep groups may nest
_MOST_EDGES, _DEEPEST = 1_000_000, 50

_TOKEN = re.compile(
    r"""(?P<blank>[^\S\n]+|\n|//[^\n]*|\#[^\n]*|/\*(?s:.*?)\*/)"""
    r"""|(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<edge><->|->|<-|--|@->|<-@|@-@|@--|--@)"""
    r"""|(?P<mark>[{}\[\];,=:])|(?P<word>(?:(?!->|--|-@|@-|<-|/[/*])[^\s{}\[\];,="<>:#@])+)"""
)
_DAGITTY = re.compile(r"\s*+(dag|pdag|mag|pag)\b\s*+(?:(?:\"[^\"]*\"|\w++)\s*+)?\{")
_DOT = re.compile(
    r"\s*+(?>(?:(?://|#)[^\n]*\n\s*+)*)(?:strict\s++)?(digraph|graph)\b\s*+(?:(?:\"(?>(?:[^\"\\]|\\.)*)\"|\w++)\s*+)?\{",
    re.I,
)
_DAGITTY_MARKS: dict[str, Marks] = {
    "->": (TAIL, ARROW),
    "<-": (ARROW, TAIL),
    "<->": (ARROW, ARROW),
    "--": (TAIL, TAIL),
    "@->": (CIRCLE, ARROW),
    "<-@": (ARROW, CIRCLE),
    "@-@": (CIRCLE, CIRCLE),
    "@--": (CIRCLE, TAIL),
    "--@": (TAIL, CIRCLE),
}
_SHAPES = dict.fromkeys(("normal", "vee", "empty", "open", "onormal", "halfopen"), ARROW)
_SHAPES |= {"none": TAIL, "odot": CIRCLE, "dot": CIRCLE}


class Token(NamedTuple):
    """A part of a text: its kind (word, edge, mark or end), the text, the line, and whether it stood in quotes."""

    kind: str
    text: str
    line: int
    quoted: bool = False

    def is_word(self, *words: str) -> bool:
        """Return whether the part is one of these words, of any case; in quotes it is the name of a node."""
        return self.kind == "word" and not self.quoted and self.text.lower() in words


def tokens_of(text: str) -> Iterator[Token]:
    """Yield the words, marks and edges of a text, then an end; comments are left out."""
    at, line = 0, 1
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            raise ValueError(f"line {line}: cannot read {text[at : at + 20]!r}")
        if found.lastgroup == "quoted":
            yield Token("word", re.sub(r"\\(.)", r"\1", found.group()[1:-1]), line, True)
        elif found.lastgroup != "blank":
            yield Token(found.lastgroup, found.group(), line)
        line += found.group().count("\n")
        at = found.end()
    yield Token("end", "the end of the text", line)


class _Reader:
    """Reads statements of a text with braces into edges; `language` is "dagitty", or of DOT "digraph" or "graph"."""

    def __init__(self, text: str, language: str) -> None:
        self.tokens, self.language = tokens_of(text), language
        self.token = next(self.tokens)
        self.edges = MarkedEdges()
        self.labels: dict[str, str] = {}
        self.n_edges = 0

    def next(self) -> Token:
        found = self.token
        if found.kind != "end":
            self.token = next(self.tokens)
        return found

    def skip(self, text: str) -> bool:
        """Skip a mark if it comes next."""
        if self.token.kind == "mark" and self.token.text == text:
            self.next()
            return True
        return False

    def refuse(self, expected: str) -> ValueError:
        return ValueError(f"line {self.token.line}: found {self.token.text[:60]!r}, expected {expected}")

    def graph(self) -> Edges:
        while not self.skip("{"):
            self.next()
        self.statements(Attributes(), 0)
        if self.token.kind != "end":
            raise self.refuse("nothing after the closing brace")
        return self.edges.found()

    def statements(self, defaults: Attributes, depth: int) -> list[str]:
        """Read statements up to a closing brace; return the names in them."""
        if depth > _DEEPEST:
            raise self.refuse(f"groups that are nested at most {_DEEPEST} deep")
        defaults, inside = dict(defaults), dict[str, None]()
        while not self.skip("}"):
            if self.skip(";") or self.skip(","):
                continue
            if self.token.kind == "end":
                raise self.refuse("'}', which closes the graph")
            inside.update(dict.fromkeys(self.statement(defaults, depth)))
        return list(inside)

    def statement(self, defaults: Attributes, depth: int) -> list[str]:
        """Read a chain of edges, a node, or settings such as `edge [dir=none]` and `rankdir=LR`."""
        word = self.token
        groups = [self.operand(depth, defaults)]
        if groups[0] is None:
            if word.is_word("edge"):
                defaults.update(self.attributes())
            else:
                self.attributes()
            return []
        if self.skip("="):
            self.next()
            return []
        signs: list[Token] = []
        while self.token.kind == "edge":
            signs.append(self.next())
            groups.append(self.operand(depth, defaults))
        attributes = self.attributes()
        if not signs:
            self.node(word, groups[0], attributes)
        names = [group if group is not None else [] for group in groups]
        for left, sign, right in zip(names, signs, names[1:], strict=False):
            self.join(left, sign, right, defaults | attributes)
        return [name for group in names for name in group]

    def node(self, word: Token, group: list[str], attributes: Attributes) -> None:
        """Add a node that stands alone."""
        if word.kind == "mark" or (word.is_word("subgraph") and self.language != "dagitty"):
            return
        for name in group:
            self.edges.node(name)
            if "label" in attributes:
                self.labels[name] = attributes["label"]

    def operand(self, depth: int, defaults: Attributes) -> list[str] | None:
        """Read a name or a group of names; None if it is the word of settings."""
        if self.token.is_word("subgraph") and self.language != "dagitty":
            self.next()
            if self.token.kind == "word":
                self.next()
        if self.skip("{"):
            return self.statements(defaults, depth + 1)
        if self.token.kind != "word":
            raise self.refuse("the name of a node")
        word = self.next()
        name, settings = word.text, self.language != "dagitty" and word.is_word("edge", "node", "graph")
        if settings and self.token.kind == "mark" and self.token.text == "[":
            return None
        if self.token.text == "=" and self.token.kind == "mark":
            return [name]
        while self.language != "dagitty" and self.skip(":"):
            # a port, where the line of the edge ends in a drawing
            self.next()
        if self.token.kind == "mark" and self.token.text in ":":
            raise self.refuse("an edge, or quotes around a name that holds ':'")
        if not name:
            raise self.refuse("a name that is not empty")
        return [name]

    def attributes(self) -> Attributes:
        """Read attributes in brackets."""
        found: Attributes = {}
        while self.skip("["):
            while not self.skip("]"):
                if self.token.kind == "end":
                    raise self.refuse("']', which closes the attributes")
                key = self.next()
                if key.kind == "word" and self.skip("="):
                    found[key.text.lower()] = self.next().text
        return found

    def join(self, left: list[str], sign: Token, right: list[str], attributes: Attributes) -> None:
        """Add the edges between two groups."""
        self.n_edges += len(left) * len(right)
        if self.n_edges > _MOST_EDGES:
            raise ValueError(f"line {sign.line}: found groups of names that make more than {_MOST_EDGES} edges")
        try:
            marks = self.marks(sign.text, attributes)
            for a in left:
                for b in right:
                    self.edges.add(a, b, *marks)
        except ValueError as fault:
            raise ValueError(f"line {sign.line}: {fault}") from None

    def marks(self, sign: str, attributes: Attributes) -> Marks:
        """Return the marks of an edge: its sign, in DOT also dir, arrowtail and arrowhead."""
        if self.language == "dagitty":
            return _DAGITTY_MARKS[sign]
        if sign != {"digraph": "->", "graph": "--"}[self.language]:
            raise ValueError(
                f"found the edge {sign!r} in a {self.language}; in DOT '->' is of digraphs, '--' of graphs"
            )
        if attributes.get("style") == "invis":
            raise ValueError("found an invisible edge (style=invis); delete it, or its style where it is an edge")
        direction = attributes.get("dir", "forward" if sign == "->" else "none")
        if direction not in ("forward", "back", "both", "none"):
            raise ValueError(f"found dir={direction[:60]!r}, expected forward, back, both or none")
        tail = self.shape(attributes, "arrowtail") if direction in ("back", "both") else TAIL
        head = self.shape(attributes, "arrowhead") if direction in ("forward", "both") else TAIL
        return tail, head

    @staticmethod
    def shape(attributes: Attributes, key: str) -> int:
        shape = attributes.get(key, "normal")
        if shape not in _SHAPES:
            raise ValueError(f"found {key}={shape[:60]!r}, expected one of {', '.join(_SHAPES)}")
        return _SHAPES[shape]


def read_dagitty(text: str) -> Edges:
    """Read a graph of dagitty; positions, exposures, outcomes and latent nodes are nodes like others.

    The headings mag and pag name its class; dag and pdag are written for other graphs too.
    """
    found, heading = _Reader(text, "dagitty").graph(), _DAGITTY.match(text)
    return found._replace(kind=heading.group(1)) if heading and heading.group(1) in ("mag", "pag") else found


def read_dot(text: str) -> Edges:
    """Read a graph in DOT; labels name the nodes where all are numbers, as causal-learn writes them."""
    heading = _DOT.match(text)
    if heading is None:
        raise ValueError(f"line 1: found {text[:60]!r}, expected 'digraph {{' or 'graph {{'")
    reader = _Reader(text, heading.group(1).lower())
    found = reader.graph()
    names = found.labels or ()
    labels = tuple(reader.labels.get(str(name), "") for name in names)
    if names and all(str(name).isdecimal() for name in names) and all(labels) and len({*labels}) == len(labels):
        return found._replace(labels=labels)
    return found


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def write_dagitty(names: Sequence[str], ends: Ends) -> str:
    """Write a graph as dagitty does: a pag if it has circles, a pdag if it has undirected edges, else a dag."""
    odd = next((name for name in names if '"' in name or "\\" in name), None)
    if odd is not None:
        raise ValueError(f"dagitty's text cannot hold the node name {odd!r}; rename the node")
    marks = [edge[2:] for edge in ends]
    circles, undirected = any(CIRCLE in both for both in marks), (TAIL, TAIL) in marks
    signs = {both: sign for sign, both in _DAGITTY_MARKS.items()}
    written = [name if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) else f'"{name}"' for name in names]
    lines = [f"{written[i]} {signs[a, b]} {written[j]}" for i, j, a, b in sorted(map(forward, ends))]
    heading = "pag" if circles else "pdag" if undirected else "dag"
    return "\n".join([heading + " {", *written, *lines, "}"])


def write_dot(names: Sequence[str], ends: Ends) -> str:
    """Write a graph in DOT; marks other than '->' are arrowtail and arrowhead."""
    shapes = {TAIL: "none", ARROW: "normal", CIRCLE: "odot"}
    written = [_quoted(name) for name in names]
    lines = [f"  {name};" for name in written]
    for i, j, a, b in sorted(map(forward, ends)):
        style = "" if (a, b) == (TAIL, ARROW) else f" [dir=both, arrowtail={shapes[a]}, arrowhead={shapes[b]}]"
        lines.append(f"  {written[i]} -> {written[j]}{style};")
    return "\n".join(["digraph {", *lines, "}"])


DAGITTY = register_encoding(
    Encoding(
        name="dagitty",
        tool="dagitty",
        cells="dagitty text",
        meaning="-> directed, -- undirected, <-> bidirected, @->, @-@ and @-- with circles; {A B} -> C two edges",
        mark="an edge i -> j is the arrow between the names",
        example="'dag { A -> B <-> C }'",
        read=read_dagitty,
        types=(str,),
        recognise=lambda text: bool(_DAGITTY.match(text)),
        write_text=write_dagitty,
    )
)

DOT = register_encoding(
    Encoding(
        name="DOT",
        tool="Graphviz, Tetrad, causal-learn, DoWhy",
        cells="DOT",
        meaning="'->' directed, '--' undirected; arrowtail, arrowhead: none a tail, normal an arrow, odot a circle",
        mark="an edge i -> j is the arrow between the names",
        example="'digraph { A -> B; B -> C [dir=both, arrowtail=odot] }'",
        read=read_dot,
        types=(str,),
        recognise=lambda text: bool(_DOT.match(text)),
        write_text=write_dot,
    )
)
