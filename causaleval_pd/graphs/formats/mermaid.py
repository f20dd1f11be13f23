"""Flowcharts of Mermaid as cells: a line ``flowchart LR``, then edges such as ``A --> B``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...contract.encoding import Edges, Encoding, Ends, register_encoding
from ..edge_marks import ARROW, CIRCLE, TAIL, MarkedEdges, forward

_HEADER = re.compile(r"\s*+(?:%%[^\n]*\n\s*+)*+(?:flowchart|graph)[ \t]++(?:TB|TD|BT|LR|RL)\b[ \t]*+(?:$|[;\n\r]|%%)")
#: an edge: its end on the left, its line (solid, thick or dotted, of any length), its end on the right
_EDGE = re.compile(r"(?P<left>[<ox]?)(?:(?:--++|==++|-\.++-)(?P<right>[>ox])|(?:---++|===++|-\.++-)(?![-=.>]))")
#: the same with a label between its halves, as in ``-- yes -->``
_LABELLED = re.compile(
    r"(?P<left>[<ox]?)(?:--[ \t][^\n]*?[ \t]-|==[ \t][^\n]*?[ \t]=|-\.[ \t][^\n]*?[ \t]\.)[-=]++(?P<right>[>ox]?)"
)
_WORD = re.compile(r"[^\W_](?:\w|-(?![-.>]))*+|_\w*+")
_QUOTED = re.compile(r'"((?:[^"\\\n]|\\.)*+)"')
_LABEL = re.compile(r"\|[^|\n]*\|")
_BLANK = re.compile(r"[ \t]*+")
#: what closes the title of a node, by what opens it; longer ones first
_SHAPES = {"(((": ")))", "((": "))", "([": "])", "[[": "]]", "[(": ")]", "{{": "}}", "[": "]", "(": ")", "{": "}"}
#: statements that are only drawn
_OTHER = re.compile(
    r"(?:subgraph|end|direction|style|classDef|class|linkStyle|click|accTitle|accDescr)\b"
    r"(?![ \t]*+(?:[<ox]?[-=][-=.]|&))"
)
_MARKS = {"": TAIL, "<": ARROW, ">": ARROW, "o": CIRCLE}
_LEFT = {TAIL: "", ARROW: "<", CIRCLE: "o"}
_RIGHT = {TAIL: "-", ARROW: ">", CIRCLE: "o"}
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+$")
_MOST_EDGES = 1_000_000


def is_mermaid(text: str) -> bool:
    """Return whether a text begins as a flowchart."""
    return bool(_HEADER.match(text))


class _Line:
    """One statement that is being read from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.blank()

    def blank(self) -> None:
        found = _BLANK.match(self.text, self.at)
        self.at = self.at if found is None else found.end()

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
            self.blank()
        return found

    def skip(self, text: str) -> bool:
        if not self.text.startswith(text, self.at):
            return False
        self.at += len(text)
        self.blank()
        return True

    def refuse(self, expected: str) -> ValueError:
        return ValueError(f"found {self.text[self.at : self.at + 40]!r}, expected {expected}")

    def node(self) -> str:
        """Read the name of a node; a title in brackets is only what is drawn."""
        quoted = self.take(_QUOTED)
        if quoted is not None:
            return re.sub(r'\\(["\\])', r"\1", quoted.group(1))
        word = _WORD.match(self.text, self.at)
        if word is None:
            raise self.refuse("the name of a node")
        self.at = word.end()
        for opening, closing in _SHAPES.items():
            if self.text.startswith(opening, self.at):
                end = self.text.find(closing, self.at + len(opening))
                if end < 0:
                    raise self.refuse(f"a title that {closing!r} closes")
                self.at = end + len(closing)
                break
        self.blank()
        return word.group()

    def nodes(self) -> list[str]:
        """Read names of nodes that & joins."""
        found = [self.node()]
        while self.skip("&"):
            found.append(self.node())
        return found

    def edge(self) -> tuple[int, int]:
        """Read an edge and its label, if it has one."""
        start = self.at
        found = self.take(_EDGE) or self.take(_LABELLED)
        if found is None or "x" in found.group("left", "right"):
            self.at = start
            raise self.refuse("an edge: -->, ---, <-->, o-->, --o or o--o")
        self.take(_LABEL)
        return _MARKS[found["left"]], _MARKS[found["right"] or ""]


def read_mermaid(text: str) -> Edges:
    """Read a flowchart: nodes by their names, edges by their ends; subgraphs and styles are left out."""
    edges = MarkedEdges()
    n_edges = 0
    for number, statement in _statements(text):
        try:
            line = _Line(statement)
            before = line.nodes()
            for name in before:
                edges.node(name)
            while line.at < len(line.text):
                marks = line.edge()
                after = line.nodes()
                n_edges += len(before) * len(after)
                if n_edges > _MOST_EDGES:
                    raise ValueError(f"found groups that make more than {_MOST_EDGES} edges")
                for a in before:
                    for b in after:
                        edges.add(a, b, *marks)
                before = after
        except ValueError as fault:
            raise ValueError(f"line {number}: {fault}") from None
    return edges.found(is_open=True)


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield the statements after the header with their line, without comments and what is only drawn."""
    is_header = True
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        for piece in _pieces(line):
            if piece and not _OTHER.match(piece):
                if not is_header:
                    yield number, piece
                is_header = False


def _pieces(line: str) -> Iterator[str]:
    """Yield the parts of a line between semicolons, up to a comment; neither counts inside quotes."""
    start = at = 0
    while at < len(line):
        if line[at] == '"':
            quoted = _QUOTED.match(line, at)
            at = len(line) if quoted is None else quoted.end()
            continue
        if line.startswith("%%", at):
            break
        if line[at] == ";":
            yield line[start:at].strip()
            start = at + 1
        at += 1
    yield line[start:at].strip()


def write_mermaid(names: Sequence[str], ends: Ends) -> str:
    """Write a graph as a flowchart, nodes first."""
    odd = next((name for name in names if re.search(r"[\r\n]", name)), None)
    if odd is not None:
        raise ValueError(f"a flowchart cannot hold the node name {odd!r}; rename the node")
    ids = [_written(name) for name in names]
    lines = [f"  {name}" for name in ids]
    for i, j, at_i, at_j in sorted(map(forward, ends)):
        lines.append(f"  {ids[i]} {_LEFT[at_i]}--{_RIGHT[at_j]} {ids[j]}")
    return "\n".join(["flowchart TD", *lines])


def _written(name: str) -> str:
    if _PLAIN.match(name) and not _OTHER.match(name):
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


MERMAID = register_encoding(
    Encoding(
        name="Mermaid",
        tool="Mermaid, caugi",
        cells="Mermaid flowchart",
        meaning="-->, ---, <-->, o-->, --o, o--o; A & B --> C both; names, not titles in brackets, are the nodes",
        mark="an edge i -> j is i --> j",
        example="'flowchart TD\\n  A --> B\\n  B o--o C'",
        read=read_mermaid,
        types=(str,),
        recognise=is_mermaid,
        write_text=write_mermaid,
    )
)
