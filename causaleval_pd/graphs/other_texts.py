"""Texts that are no edge strings, and what a message says about each kind of them."""

from __future__ import annotations

import re

#: letters of a text that are looked at
_MOST_READ = 2000
_IN_QUOTES = re.compile(r""""[^"]*"|'[^']*'""")
_ARROW = re.compile(r"<-+|-+>|--+")
_AS_EDGES = "edges are written as 'A -> B', with ';' or a line end between them"

#: kinds of texts with quotes, by how they begin
_BEGINNINGS = (
    (
        re.compile(r"\s*/knowledge\b"),
        "is a knowledge file of Tetrad, which is no graph; make it a truth by ce.Knowledge.from_tetrad(text), with the "
        "metrics required_recall, forbidden_violated and known_accuracy",
    ),
    (
        re.compile(r'\s*\{\s*"[^"]*"\s*:'),
        "is a mapping in JSON; pass json.loads(text) with encoding='children' if each node lists its children, with "
        "encoding='parents' if it lists its parents",
    ),
    (
        re.compile(r"\s*\{\s*'[^']*'\s*:"),
        "is a mapping as Python prints it; pass ast.literal_eval(text) with encoding='children' if each node lists its "
        "children, with encoding='parents' if it lists its parents",
    ),
    (
        re.compile(r"\s*\[\s*(?:\"[^\"]*\"|'[^']*')\s*[,\]]"),
        "is a list of texts as text; join them, as by '; '.join(ast.literal_eval(text))",
    ),
    (
        re.compile(r"#[^\n]*\n#\s*GMT\b"),
        "is an adjacency list of networkx; read it by nx.read_adjlist(path, create_using=nx.DiGraph), or nx.Graph "
        "where edges have no direction",
    ),
)

_OTHER_ARROWS = {"\u2192": "->", "\u2190": "<-", "\u2194": "<->", "\u21d2": "->", "=>": "->"}
#: kinds of texts without their quotes, by what stands in them, in the order in which they are looked for
_CONTENTS = (
    (
        re.compile(r"\s*(?:graph|flowchart)[ \t]+(?:TD|TB|LR|RL|BT)\b"),
        "is Mermaid; keep its lines of edges alone, between the names of nodes, as 'A --> B'",
    ),
    *(
        (re.compile(rf"[^\n]*{other}"), f"has another arrow; replace it, as by text.replace('{other}', '{arrow}')")
        for other, arrow in _OTHER_ARROWS.items()
    ),
    (re.compile(r"[^\n]* causes "), "has a word as arrow; replace it, as by text.replace(' causes ', ' -> ')"),
    (
        re.compile(r"[^\n]*~"),
        "is a formula of a regression; write the effect 'Y ~ X' as 'X -> Y', 'Y ~~ X' as 'X <-> Y'",
    ),
)
#: kinds of texts without an arrow
_REMARKS = (
    (
        re.compile(
            r"\s*(?:\w*(?:error|exception|warning)\b\s*(?::|in\b)|traceback\b|"
            r"[^\n]*\b(?:failed|timed out)\b)",
            re.I,
        ),
        "is the message of a failed run; write a failed run as a missing value (None)",
    ),
    (
        re.compile(r"\s*(?:no|without|empty)\b[^\n;>]*\b(?:edges?|arcs?|graph|links?)\b", re.I),
        "is a remark; write a graph without edges as its nodes ('A; B', or '{}' with nodes=), and a failed run as a "
        "missing value (None)",
    ),
)
_BULLET = re.compile(r"\s*(?:[-*\u2022]|\d+[.)])\s")
_ROW_OF_EDGE_LIST = re.compile(r"\s*\S+ \S+ \{.*\}\s*$")
_PAIRS = {
    ",": "add the line 'from,to' above",
    "\t": "read them by pd.read_csv(path, sep='\\t', names=['from', 'to'])",
    " ": "read them by pd.read_csv(path, sep=' ', names=['from', 'to'])",
}


def explain_other_text(text: str) -> str | None:
    """Return what a text is or has that is no edge string, and how to mend it; None if its kind is not plain."""
    part = text[:_MOST_READ]
    bare = _IN_QUOTES.sub("x", part)
    for kinds, where in ((_BEGINNINGS, part), (_CONTENTS, bare)):
        for pattern, what in kinds:
            if pattern.match(where):
                return what
    arrow = _ARROW.search(bare)
    return _explain_lines(bare) if arrow is None else _explain_edges(bare, arrow.start())


def _explain_edges(text: str, first: int) -> str | None:
    """Return what stands beside the edges of a text, of which the first has its arrow there."""
    if all(_BULLET.match(line) for line in text.splitlines() if line.strip()):
        return f"has a mark before each edge, as a list has; delete the marks: {_AS_EDGES}"
    marks = {"words and ':' before its edges": re.search(r"\w:\s", text[:first])}
    marks |= {"commas": re.search(",", text), "braces": re.search("[{}]", text)}
    what = next((name for name, mark in marks.items() if mark is not None), None)
    return None if what is None else f"has {what}; {_AS_EDGES}, and a name that holds such a mark is quoted"


def _explain_lines(text: str) -> str | None:
    """Return what a text without an arrow is."""
    what = next((what for pattern, what in _REMARKS if pattern.match(text)), None)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    separator = next((x for x in _PAIRS if all(len(line.split(x)) == 2 for line in lines)), None)
    if what is not None:
        return what
    if all(map(_ROW_OF_EDGE_LIST.match, lines)):
        return (
            "is an edge list of networkx; read it by nx.read_edgelist(path, create_using=nx.DiGraph), or nx.Graph "
            "where edges have no direction"
        )
    if separator is not None and ";" not in text and (separator != " " or len(lines) > 1):
        return f"has pairs of nodes; {_PAIRS[separator]} if they are edges from the first node to the second"
    if len(lines) > 1 or re.search("[,{}]", text):
        return f"has no edge; {_AS_EDGES}, and a node without edges is its name"
    return None
