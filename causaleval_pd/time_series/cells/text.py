"""Lagged graphs as text: ``"lags 0..2: X@-1 -> Y; X@-2 -> X; Y -> Z; U"``.

Links are those of edge strings of graphs; ``X@-1`` is the variable X at t - 1, and X, or X@0, is X at t. Links end at
t. The lags that were searched may stand before; else they are 0 to the largest that occurs, also in a name that stands
alone. Names that hold other syntax are quoted, with their lag: ``"blood, venous@-1"``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ...graphs.cells import refuse_blank
from ...graphs.edge_strings import parse_edges, write_graph, write_names
from ...graphs.mixed.marks import ARROW, TAIL
from .marks import TURNED, Codes, check_size, code

_LAGS = re.compile(r"\s*lags\s+(\d{1,5})\s*\.\.\s*(\d{1,5})\s*:")
_AT = re.compile(r"(.+)@(0|-[1-9]\d{0,4})", re.DOTALL)
#: names with a time as it is written elsewhere, or wrongly: X@1, X@-1.5, X(t-1), X_t-1, X_lag1, X.l1, L1.X
_OTHER_TIME = re.compile(
    r".*(?:@ ?[-+\u2212\u2013]? ?\d[\d.]*|[ (\[{_]t ?[-+\u2212\u2013] ?\d+[)\]}]{0,2}|[ ._][Ll]ag[ ._]?\d+|\.l\d+)"
    r"|L\d+\..+",
    re.DOTALL,
)
_HEADER = re.compile(r"\s*lags?\s*\d+\s*\.\.")
#: a time, in a message
_TIME = re.compile(r"@|\(t\b")


def is_lagged_text(text: str) -> bool:
    """Return whether a text begins with its searched lags, as that of a lagged graph does."""
    return bool(_LAGS.match(text))


def read_lagged_text(text: str) -> tuple[list[str], Codes, int]:
    """Return names in order of appearance, codes (L + 1, d, d), and the smallest searched lag."""
    refuse_blank(text)
    found = _LAGS.match(text)
    if found is None and _HEADER.match(text):
        raise ValueError(f"found {text!r:.60}; a text begins with its searched lags as in 'lags 0..2:'")
    try:
        read = parse_edges(text[found.end() :] if found else text)
    except ValueError as fault:
        hint = "; a variable at t - 1 is written with its time, as in 'X@-1'" if _TIME.search(str(fault)) else ""
        raise ValueError(f"{fault}{hint}") from None
    names = tuple(map(str, read.labels or ()))
    elsewhere = next((name for name in names if _OTHER_TIME.fullmatch(name) and not _AT.fullmatch(name)), None)
    if elsewhere is not None:
        raise ValueError(
            f"found {elsewhere!r}; a variable at t - 1 is written with its time, as in 'X@-1', and one with a time in "
            f"its name with another, as in '{elsewhere}@0'"
        )
    places = [_split(name) for name in names]
    position = {name: i for i, name in enumerate(dict.fromkeys(name for name, _ in places))}
    min_lag, max_lag = (int(found[1]), int(found[2])) if found else (0, max((lag for _, lag in places), default=0))
    beyond = next((name for name, lag in places if lag > max_lag), None)
    if beyond is not None:
        raise ValueError(f"found {beyond!r} at a lag beyond {max_lag}, the largest that the text declares")
    known = set(read.arcs)
    ends = read.ends or [
        (i, j, TAIL, TAIL if (j, i) in known else ARROW) for i, j in read.arcs if i < j or (j, i) not in known
    ]
    check_size((max_lag + 1, len(position), len(position)), len(position))
    codes = np.zeros((max_lag + 1, len(position), len(position)), np.uint8)
    for a, b, at_a, at_b in ends:
        (source, lag), (target, other) = places[a], places[b]
        number = code(at_a, at_b)
        if other > lag:
            source, target, lag, other, number = target, source, other, lag, int(TURNED[number])
        if other:
            raise ValueError(
                f"found a link between {names[a]!r} and {names[b]!r}; links end at t, as in "
                f"'{source}@{other - lag or -1} -> {target}'"
            )
        i, j = position[source], position[target]
        codes[lag, i, j] = number
        if not lag:
            codes[0, j, i] = TURNED[number]
    return list(position), codes, min_lag


def _split(name: str) -> tuple[str, int]:
    found = _AT.fullmatch(name)
    return (found[1], -int(found[2])) if found else (name, 0)


def write_lagged(nodes: Sequence[str], links: Sequence[tuple[int, int, int, str]], min_lag: int, max_lag: int) -> str:
    """Return a graph as text; `links` are (lag, source, target, sign), a lag 0 link once."""
    # a name that ends like a lag needs its own
    plain = [f"{name}@0" if _AT.fullmatch(name) or _OTHER_TIME.fullmatch(name) else name for name in nodes]
    used = sorted({(lag, i) for lag, i, _, _ in links if lag})
    written = write_names((*plain, *(f"{nodes[i]}@-{lag}" for lag, i in used)))
    at = {(lag, i): written[len(nodes) + k] for k, (lag, i) in enumerate(used)}
    statements = [
        f"{at[lag, i] if lag else written[i]} {sign} {written[j]}"
        for lag, i, j, sign in sorted(links, key=lambda x: (nodes[x[1]], x[0], nodes[x[2]]))
    ]
    linked = {i for _, source, target, _ in links for i in (source, target)}
    statements += [write_graph([written[i]], []) for i in range(len(nodes)) if i not in linked]
    return f"lags {min_lag}..{max_lag}: {'; '.join(statements)}"
