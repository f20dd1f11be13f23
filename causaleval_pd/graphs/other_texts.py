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
    arrow = _ARROW.search(bare)
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
