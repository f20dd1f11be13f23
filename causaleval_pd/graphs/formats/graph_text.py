"""Texts of graphs as cells: dagitty's and DOT, with braces, Tetrad's, and model strings of bnlearn.

`dag { A -> B }` and `digraph { A -> B }` are chains of edges between names and groups of names, with attributes in
brackets. Tetrad has a line of nodes, then a numbered edge per line; py-tetrad and causal-learn write it too. A model
string is `[A][B|A][C|A:B]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import product
from typing import NamedTuple

from ...contract.encoding import AmbiguousEncodingError, Edges, Encoding, Ends, Pair
from ..edge_marks import MARKS, MARKS_OF_DIR, SHORT_SIGNS, SIGNS, MarkedEdges, forward, refuse_names
from ..edge_strings import write_graph, write_names
from ..kernels.planes import ARROW, CIRCLE, TAIL
from ..weights import refuse_numbers

Attributes = dict[str, str]

#: edges that groups of names may make, and how deep groups may nest
_MOST_EDGES, _DEEPEST = 1_000_000, 50

_TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|\#[^\n]*|/\*(?s:.*?)\*/)"""
    r"""|(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<edge><->|->|<-|--|@->|<-@|@-@|@--|--@)"""
    r"""|(?P<mark>[{}\[\];,=:])|(?P<word>(?:(?!->|--|-@|@-|<-|/[/*])[^\s{}\[\];,="<>:#@])+)|(?P<other>.)"""
)
_DAGITTY = re.compile(r"\s*+(dag|pdag|mag|pag)\b\s*+(?:(?:\"[^\"]*\"|\w++)\s*+)?\{")
_DOT = re.compile(
    r"\s*+(?>(?:(?://|#)[^\n]*\n\s*+)*)(?:strict\s++)?(digraph|graph)\b\s*+(?:(?:\"(?>(?:[^\"\\]|\\.)*)\"|\w++)\s*+)?\{",
    re.I,
)
_DAGITTY_SIGNS = {marks: sign.replace("o", "@") for marks, sign in SHORT_SIGNS.items()}
_DAGITTY_MARKS = {sign: marks for marks, sign in _DAGITTY_SIGNS.items()}
_SHAPES = dict.fromkeys(("normal", "vee", "empty", "open", "onormal", "halfopen"), ARROW)
_SHAPES |= {"none": TAIL, "odot": CIRCLE, "dot": CIRCLE}


class Token(NamedTuple):
    """A part of a text: its kind (word, edge, end, or a mark itself), the text, the line, and whether it is quoted."""

    kind: str
    text: str
    line: int
    quoted: bool = False

    def is_word(self, *words: str) -> bool:
        """Return whether the part is one of these words, of any case; in quotes it is the name of a node."""
        return self.kind == "word" and not self.quoted and self.text.lower() in words


def tokens_of(text: str) -> Iterator[Token]:
    """Yield the words, marks and edges of a text, then an end; comments are left out."""
    line = 1
    for match in _TOKEN.finditer(text):
        kind, part = match.lastgroup, match.group()
        if kind == "other":
            raise ValueError(f"line {line}: cannot read {text[match.start() : match.start() + 20]!r}")
        if kind == "quoted":
            yield Token("word", re.sub(r"\\(.)", r"\1", part[1:-1]), line, True)
        elif kind != "blank":
            yield Token(part if kind == "mark" else str(kind), part, line)
        line += part.count("\n")
    yield Token("end", "the end of the text", line)


class _Reader:
    """Reads statements of a text with braces into edges; `language` is "dagitty", or of DOT "digraph" or "graph"."""

    def __init__(self, text: str, language: str) -> None:
        self.tokens, self.language, self.is_dot = tokens_of(text), language, language != "dagitty"
        self.token = next(self.tokens)
        self.edges = MarkedEdges()
        self.labels: dict[str, str] = {}
        #: of the edges, one a chain
        self.numbered: list[Attributes] = []
        self.n_edges = 0

    def next(self) -> Token:
        token = self.token
        self.token = next(self.tokens, token)
        return token

    def skip(self, mark: str) -> bool:
        """Skip a mark, or any word, if it comes next."""
        is_next = self.token.kind == mark
        if is_next:
            self.next()
        return is_next

    def refuse(self, expected: str) -> ValueError:
        return ValueError(f"line {self.token.line}: found {self.token.text[:60]!r}, expected {expected}")

    def graph(self) -> Edges:
        while not self.skip("{"):
            if self.token.kind == "end":
                raise self.refuse("'{', which opens the graph")
            self.next()
        self.statements(Attributes(), 0)
        if self.token.kind != "end":
            raise self.refuse("nothing after the closing brace")
        if self.is_dot:
            # a coefficient of dagitty (beta) belongs to an edge of the model
            refuse_numbers(self.numbered, ())
        return self.edges.found()

    def statements(self, defaults: Attributes, depth: int) -> list[str]:
        """Read statements up to a closing brace; return the names in them."""
        if depth > _DEEPEST:
            raise self.refuse(f"groups that are nested at most {_DEEPEST} deep")
        defaults, inside = dict(defaults), dict[str, None]()
        while not self.skip("}"):
            if self.token.kind == "end":
                raise self.refuse("'}', which closes the graph")
            if not (self.skip(";") or self.skip(",")):
                inside |= dict.fromkeys(self.statement(defaults, depth))
        return list(inside)

    def statement(self, defaults: Attributes, depth: int) -> list[str]:
        """Read a chain of edges, a node, or settings such as `edge [dir=none]` and `rankdir=LR`."""
        first = self.token
        groups, signs = [self.operand(depth, defaults)], list[Token]()
        if self.token.kind == "[" and self.is_dot and first.is_word("edge", "node", "graph"):
            attributes = self.attributes()
            if first.is_word("edge"):
                defaults.update(attributes)
            return []
        if self.skip("="):
            self.next()
            return []
        while self.token.kind == "edge":
            signs.append(self.next())
            groups.append(self.operand(depth, defaults))
        attributes = self.attributes()
        if signs:
            self.numbered.append(defaults | attributes)
        elif first.kind == "word" and not (self.is_dot and first.is_word("subgraph")):
            self.edges.node(first.text)
            if "label" in attributes:
                self.labels[first.text] = attributes["label"]
        for left, sign, right in zip(groups, signs, groups[1:], strict=False):
            self.join(left, sign, right, defaults | attributes)
        return [name for group in groups for name in group]

    def operand(self, depth: int, defaults: Attributes) -> list[str]:
        """Read a name or a group of names."""
        if self.is_dot and self.token.is_word("subgraph"):
            self.next()
            self.skip("word")
        if self.skip("{"):
            return self.statements(defaults, depth + 1)
        if self.token.kind != "word":
            raise self.refuse("the name of a node")
        name = self.next().text
        if self.token.kind != "=":
            while self.is_dot and self.skip(":"):
                # a port, where the line of the edge ends in a drawing
                self.next()
            if self.token.kind == ":":
                raise self.refuse("an edge, or quotes around a name that holds ':'")
            if not name:
                raise self.refuse("a name that is not empty")
        return [name]

    def attributes(self) -> Attributes:
        """Read attributes in brackets."""
        texts: Attributes = {}
        while self.skip("["):
            while not self.skip("]"):
                if self.token.kind == "end":
                    raise self.refuse("']', which closes the attributes")
                key = self.next()
                if key.kind == "word" and self.skip("="):
                    texts[key.text.lower()] = self.next().text
        return texts

    def join(self, left: list[str], sign: Token, right: list[str], attributes: Attributes) -> None:
        """Add the edges between two groups."""
        self.n_edges += len(left) * len(right)
        try:
            if self.n_edges > _MOST_EDGES:
                raise ValueError(f"found groups of names that make more than {_MOST_EDGES} edges")
            marks = self.dot_marks(sign.text, attributes) if self.is_dot else _DAGITTY_MARKS[sign.text]
            for a, b in product(left, right):
                self.edges.add(a, b, *marks)
        except ValueError as fault:
            raise ValueError(f"line {sign.line}: {fault}") from None

    def dot_marks(self, sign: str, attributes: Attributes) -> Pair:
        """Return the marks of an edge in DOT: by its sign, dir, arrowtail and arrowhead."""
        if sign != {"digraph": "->", "graph": "--"}[self.language]:
            raise ValueError(
                f"found the edge {sign!r} in a {self.language}; in DOT '->' is of digraphs, '--' of graphs"
            )
        if attributes.get("style") == "invis":
            raise ValueError("found an invisible edge (style=invis); delete it, or its style where it is an edge")
        direction = attributes.get("dir", "forward" if sign == "->" else "none")
        if direction not in MARKS_OF_DIR:
            raise ValueError(f"found dir={direction[:60]!r}, expected forward, back, both or none")
        marks = []
        for key, mark in zip(("arrowtail", "arrowhead"), MARKS_OF_DIR[direction], strict=True):
            shape = attributes.get(key, "normal") if mark == ARROW else "none"
            if shape not in _SHAPES:
                raise ValueError(f"found {key}={shape[:60]!r}, expected one of {', '.join(_SHAPES)}")
            marks.append(_SHAPES[shape])
        return marks[0], marks[1]


def read_dagitty(text: str) -> Edges:
    """Read a graph of dagitty, of the class mag or pag if its heading says so; latent and other nodes are alike."""
    edges, heading = _Reader(text, "dagitty").graph(), _DAGITTY.match(text)
    return edges._replace(kind=heading.group(1)) if heading and heading.group(1) in ("mag", "pag") else edges


def read_dot(text: str) -> Edges:
    """Read a graph in DOT; labels name the nodes where all are numbers, as causal-learn writes them."""
    heading = _DOT.match(text)
    if heading is None:
        raise ValueError(f"line 1: found {text[:60]!r}, expected 'digraph {{' or 'graph {{'")
    reader = _Reader(text, heading.group(1).lower())
    edges = reader.graph()
    names = edges.labels or ()
    labels = tuple(reader.labels.get(str(name), "") for name in names)
    if names and all(str(name).isdecimal() for name in names) and all(labels) and len({*labels}) == len(labels):
        return edges._replace(labels=labels)
    return edges


def write_dagitty(names: Sequence[str], ends: Ends) -> str:
    """Write a graph as dagitty does: a pag if it has circles, a pdag if it has undirected edges, else a dag."""
    refuse_names(names, re.compile(r'["\\]').search, "dagitty's text")
    marks = [edge[2:] for edge in ends]
    circles, undirected = any(CIRCLE in both for both in marks), (TAIL, TAIL) in marks
    written = [name if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) else f'"{name}"' for name in names]
    lines = [f"{written[i]} {_DAGITTY_SIGNS[a, b]} {written[j]}" for i, j, a, b in sorted(map(forward, ends))]
    heading = "pag" if circles else "pdag" if undirected else "dag"
    return "\n".join([heading + " {", *written, *lines, "}"])


def write_dot(names: Sequence[str], ends: Ends) -> str:
    """Write a graph in DOT; marks other than '->' are arrowtail and arrowhead."""
    shapes = {TAIL: "none", ARROW: "normal", CIRCLE: "odot"}
    written = ['"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"' for name in names]
    lines = [f"  {name};" for name in written]
    for i, j, a, b in sorted(map(forward, ends)):
        style = "" if (a, b) == (TAIL, ARROW) else f" [dir=both, arrowtail={shapes[a]}, arrowhead={shapes[b]}]"
        lines.append(f"  {written[i]} -> {written[j]}{style};")
    return "\n".join(["digraph {", *lines, "}"])


_NODES = re.compile(r"Graph Nodes:(.*)")
_EDGES = re.compile(r"Graph Edges:\s*$")
_HEADING = re.compile(r"^[^\S\n]*Graph (?:Nodes|Edges):", re.M)
_NUMBER = re.compile(r"\d+\.$")
#: [X --> Y]:0.9800
_SHARE = re.compile(r"\[(\S[^\[\]]*?) ([-<>o]{3}) ([^\[\]]*\S)\]:([01]?\.?\d+)")
_LATENT = re.compile(r"\([^()]+\)")
#: what follows the nodes of an edge: how certain it is, and shares of bootstrap samples
_ATTRIBUTE = re.compile(r"(?:dd|nl|pd|pl)$|\[|\S*:|-?\d")


def is_tetrad(text: str) -> bool:
    """Return whether a text has Tetrad's heading of nodes or edges, perhaps below others."""
    return _HEADING.search(text) is not None


def read_tetrad(text: str) -> Edges:
    """Read Tetrad's text, without attributes, other sections, and the parentheses of latent variables."""
    edges, section, names = MarkedEdges(), "", frozenset[str]()
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        heading = _NODES.match(line)
        if _EDGES.match(line):
            section, names = "edges", frozenset(map(str, edges.position))
        elif heading is not None or section == "nodes":
            section, listed = "nodes", (line if heading is None else heading.group(1)).strip()
            for name in re.split(r";" if ";" in listed else r",", listed.rstrip(";,")) if listed else ():
                node = _without_parentheses(name.strip())
                if node in edges.position:
                    raise ValueError(f"line {number}: found the node {node!r} twice")
                edges.node(node)
        elif section == "edges" and line:
            if ":" in line and not {*MARKS} & {*line.split()}:
                # attributes of the graph, ambiguous triples
                section = "other"
                continue
            try:
                _read_edge(line, edges, names)
            except ValueError as fault:
                raise ValueError(f"line {number}: {fault}") from None
    if not section:
        raise ValueError(f"found {text[:60]!r}, expected a line 'Graph Nodes:' or 'Graph Edges:'")
    if section == "nodes":
        raise ValueError("found no line 'Graph Edges:'; the text is cut off")
    return edges.found(is_open=not names)


def _without_parentheses(name: str) -> str:
    """Return the name of a variable, which is printed in parentheses where it is latent."""
    return name[1:-1] if _LATENT.fullmatch(name) else name


def _read_edge(line: str, edges: MarkedEdges, names: frozenset[str]) -> None:
    """Read an edge, as in `1. X o-> Y dd nl`."""
    words = line.split()
    if _NUMBER.match(words[0]) and len(words) > 1 and words[1] not in MARKS:
        words = words[1:]
    at = next((k for k, word in enumerate(words) if word in MARKS), None)
    if not at or at == len(words) - 1:
        raise ValueError(f"found {line[:60]!r}, expected an edge as '1. X --> Y', with one of {', '.join(MARKS)}")
    rest, longest = words[at + 1 :], 1 + max((name.count(" ") for name in names), default=0)
    # the longest name that is listed
    n_words = next((k for k in range(longest, 0, -1) if _without_parentheses(" ".join(rest[:k])) in names), 1)
    left, right = (_without_parentheses(" ".join(part)) for part in (words[:at], rest[:n_words]))
    if names and not {left, right} <= names:
        unknown = left if left not in names else right
        raise ValueError(f"found the node {unknown[:60]!r}, which 'Graph Nodes:' does not list")
    if len(rest) > n_words and not _ATTRIBUTE.match(rest[n_words]):
        raise ValueError(f"found {rest[n_words][:60]!r} after the edge {left} {words[at]} {right}")
    edges.add(left, right, *MARKS[words[at]])


def read_tetrad_shares(text: str) -> tuple[tuple[str, ...], list[tuple[int, int, int, int, float]]]:
    """Return the nodes of Tetrad's text, and types of edges (i, j, mark at i, at j, share of bootstrap samples)."""
    graph = read_tetrad(text)
    names = tuple(map(str, graph.labels or ()))
    position = {name: i for i, name in enumerate(names)}
    edges = []
    for number, line in enumerate(text.splitlines(), 1):
        for left, sign, right, share in _SHARE.findall(line):
            i, j = (position.get(_without_parentheses(name)) for name in (left, right))
            if sign not in MARKS or i is None or j is None:
                raise ValueError(f"line {number}: found '[{left} {sign} {right}]', expected an edge as '[X --> Y]'")
            edges.append((*forward((i, j, *MARKS[sign])), float(share)))
    if not edges:
        raise ValueError(
            "found a graph without shares of bootstrap samples, as '[X --> Y]:0.9800'; make it a column by graph_column"
        )
    return names, edges


def _write_tetrad(names: Sequence[str], ends: Ends) -> str:
    # names that hold a mark or a heading, or begin as the number of an edge, read otherwise
    headings = (_NODES.match, _EDGES.match, _LATENT.fullmatch, re.compile(r"[;,\n\r]").search)

    def is_odd(name: str) -> bool:
        words = name.split()
        return name != " ".join(words) or not {*MARKS}.isdisjoint(words) or any(reads(name) for reads in headings)

    refuse_names(names, is_odd, "Tetrad's text")
    lines = [
        f"{k}. {names[i]} {SIGNS[at_i, at_j]} {names[j]}"
        for k, (i, j, at_i, at_j) in enumerate(sorted(map(forward, ends)), 1)
    ]
    return "\n".join(["Graph Nodes:", ";".join(names), "", "Graph Edges:", *lines]) + "\n"


#: below this line bnlearn prints the model string of a network
_PRINTED = re.compile(r"^[^\S\n]*model:[^\S\n]*\n((?:[^\S\n]*\[.*(?:\n|$))+)", re.M)
_STRING = re.compile(r"\s*(?:\[[^\[\]]*\]){2,}\s*$")
_NAME = re.compile(r"""[^\s|,'"](?:[^|,'"]*[^\s|,'"])?$""")
_NODE = re.compile(r"\[([^\[\]]*)\]")
_ARROW = re.compile(r"<-|->|--|\so-o\s")


def read_model_string(text: str) -> Edges:
    """Read a model string, alone or as bnlearn prints it: each node in brackets, its parents after a bar."""
    printed = _PRINTED.search(text)
    if printed is not None:
        text = "".join(line.strip() for line in printed[1].splitlines())
    if printed is not None and "|" not in text and text.endswith(" graph]"):
        raise ValueError(f"found the model {text}, which has no model string; write the graph by write.dot of bnlearn")
    if not _STRING.match(text):
        raise ValueError(f"found {text[:60]!r}, expected a model string as '[A][B|A][C|A:B]'")
    parents: dict[str, list[str]] = {}
    for entry in _NODE.findall(text):
        name, bar, parent_text = entry.partition("|")
        listed = parent_text.split(":") if bar else []
        if ":" in name or any(not _NAME.match(one) for one in (name, *listed)):
            raise ValueError(f"cannot read [{entry}] in a model string; a node with two parents is [C|A:B]")
        if name in parents:
            raise ValueError(f"found the node {name!r} twice in a model string; write it once, with all its parents")
        if len(set(listed)) < len(listed):
            raise ValueError(f"found a parent twice in [{entry}]")
        parents[name] = listed
    absent = next(((name, x) for name, listed in parents.items() for x in listed if x not in parents), None)
    if absent is not None:
        raise ValueError(
            f"found the parent {absent[1]!r} of {absent[0]!r}, which has no entry [{absent[1]}] of its own"
        )
    try:
        TopologicalSorter(parents).prepare()
    except CycleError as fault:
        cycle = " -> ".join(fault.args[1])
        raise ValueError(f"found the directed cycle {cycle} in a model string, which describes a DAG") from None
    position = {name: i for i, name in enumerate(parents)}
    ends = [(position[p], position[name], TAIL, ARROW) for name, listed in parents.items() for p in listed]
    if _ARROW.search(text):
        model = write_graph(write_names(parents), ends)
        raise AmbiguousEncodingError(
            f"found {text[:60]!r}, which is a model string or an edge string; quote names that hold arrows or brackets "
            f'in an edge string: the model string is {model[:200]!r}, and an edge is as in \'"[A" -> "B]"\''
        )
    return Edges(tuple(parents), ends)


def _write_model_string(names: Sequence[str], ends: Ends) -> str:
    if len(names) < 2:
        raise ValueError("a model string cannot hold a graph of fewer than two nodes here; write an edge string")
    parents: list[list[str]] = [[] for _ in names]
    for i, j, *marks in map(forward, ends):
        if marks != [TAIL, ARROW]:
            raise ValueError("a model string holds directed edges only; write an edge string, by to_text()")
        parents[j].append(names[i])
    refuse_names(names, lambda name: re.search(r"[\[\]|:,'\"]", name) or not _NAME.match(name), "a model string")
    entries = zip(names, parents, strict=True)
    text = "".join(f"[{name}|{':'.join(listed)}]" if listed else f"[{name}]" for name, listed in entries)
    read_model_string(text)
    return text


ENCODINGS = (
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
    ),
    Encoding(
        name="DOT",
        tool="Graphviz, Tetrad, causal-learn, DoWhy",
        meaning="'->' directed, '--' undirected; arrowtail, arrowhead: none a tail, normal an arrow, odot a circle",
        mark="an edge i -> j is the arrow between the names",
        example="'digraph { A -> B; B -> C [dir=both, arrowtail=odot] }'",
        read=read_dot,
        types=(str,),
        recognise=lambda text: bool(_DOT.match(text)),
        write_text=write_dot,
    ),
    Encoding(
        name="Tetrad text",
        tool="Tetrad, py-tetrad, causal-learn",
        meaning="--> directed, --- undirected, <-> bidirected, o->, o-o and o-- with circles",
        mark="an edge i -> j is '1. i --> j' below 'Graph Edges:'",
        example="'Graph Nodes:\\nA;B\\n\\nGraph Edges:\\n1. A --> B'",
        read=read_tetrad,
        types=(str,),
        recognise=is_tetrad,
        write_text=_write_tetrad,
    ),
    Encoding(
        name="model string",
        tool="bnlearn",
        meaning="[C|A:B] the node C with the parents A and B",
        mark="an edge i -> j is the i behind the bar of j",
        example="'[A][B|A][C|A:B]'",
        read=read_model_string,
        types=(str,),
        recognise=lambda text: bool(_STRING.match(text) or _PRINTED.search(text)),
        write_text=_write_model_string,
    ),
)
