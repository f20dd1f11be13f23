"""Cells of lagged graphs: codes of links, the value, its text, its canonical bytes.

A graph over d variables is an array (L + 1, d, d) of codes. The code in cell (lag, i, j) is that of the link from
variable i at t - lag to variable j at t, 0 for none: the mark at i plus four times the mark at j, where marks are 1 a
tail, 2 an arrow, 3 a circle. A link at lag 0 stands in both cells, seen from either end.

Its bytes are a sequence of little-endian 64-bit words: equal graphs have equal bytes, different graphs never do.

========= ====================================================================================================
words 0-3 text for readers of printed tables: class, numbers of variables and of links (`CellFormat.line`)
word 4    byte 0 magic 0xCC, byte 1 version 1, byte 2 class code, byte 3 number of planes, bytes 4-7 number of
          variables d
word 5    BLAKE2b digest (8 bytes) of the names
word 6    bytes 0-3 length of the names in bytes, bytes 4-5 largest searched lag L, bytes 6-7 smallest one
names     UTF-8 names in code-point order joined by NUL, filled up with zero bytes to whole words
planes    (L + 1) d d bits each, cell (lag, i, j) after cell (lag, i, j - 1), filled up with zeros to whole words
========= ====================================================================================================

The one plane of a graph without circles and bidirected links has the bit of a cell set if the link has a tail at i.
The four planes of another are the bits of its codes, the lowest first.

As text, ``"lags 0..2: X@-1 -> Y; X@-2 -> X; Y -> Z; U"``, links are those of edge strings of graphs; ``X@-1`` is the
variable X at t - 1, and X, or X@0, is X at t. Links end at t. The lags that were searched may stand before; else they
are 0 to the largest that occurs, also in a name that stands alone. Names that hold other syntax are quoted, with their
lag: ``"blood, venous@-1"``.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.cells import CellFormat, register_cell_format
from ...contract.encoding import CellError
from ...graphs.cells import refuse_blank
from ...graphs.edge_marks import SHORT_SIGNS
from ...graphs.edge_strings import UnquotedNameError, parse_edges, write_graph, write_name, write_names
from ...graphs.kernels.planes import ARROW, CIRCLE, TAIL, matrices_from_planes, planes_from_matrices
from ...graphs.mixed.marks import is_mixed, marks_from_planes, planes_from_marks
from ...graphs.node_names import node_name
from ...graphs.packing import HEADER_WORDS, TEXT_WORDS, check_names, names_header, read_names

Codes = NDArray[np.uint8]

#: largest lag, and number of codes of one graph
MAX_LAG, MAX_CELLS = 10_000, 100_000_000

#: classes of lagged graphs: directed and acyclic at lag 0; without circles and bidirected links; with any marks
KINDS = ("ts_dag", "ts_pdag", "ts_pag")
TS_DAG, TS_PDAG, TS_PAG = range(len(KINDS))


def code(at_source: int, at_target: int) -> int:
    """Return the code of a link with these marks."""
    return at_source + 4 * at_target


SIGN_OF_CODE = {code(*marks): sign for marks, sign in SHORT_SIGNS.items()}
CODE_OF_SIGN = {sign: number for number, sign in SIGN_OF_CODE.items()}
DIRECTED = code(TAIL, ARROW)
BACKWARD = code(ARROW, TAIL)
UNDIRECTED = code(TAIL, TAIL)
#: codes at lags from 1: an effect does not come before its cause, so that the target has an arrow
LAGGED = (DIRECTED, code(ARROW, ARROW), code(CIRCLE, ARROW))

#: the code of the same link, seen from its other end
TURNED = np.array([(number >> 2) | ((number & 3) << 2) for number in range(16)], np.uint8)


def check_size(shape: tuple[int, ...], n_nodes: int) -> None:
    """Refuse codes of another shape than (max_lag + 1, n_nodes, n_nodes), and more of them than a graph may have."""
    n_lags = shape[0] if shape else 0
    if shape != (n_lags, n_nodes, n_nodes) or not 1 <= n_lags <= MAX_LAG + 1 or n_lags * n_nodes**2 > MAX_CELLS:
        raise ValueError(
            f"found codes of shape {shape}, expected (max_lag + 1, {n_nodes}, {n_nodes}) with at most "
            f"{MAX_CELLS:,} cells and max_lag at most {MAX_LAG:,}"
        )


def is_plain(codes: Codes) -> bool:
    """Return whether a graph (L + 1, d, d) has no circles and no bidirected links."""
    return bool(np.isin(codes, (0, DIRECTED, BACKWARD, UNDIRECTED)).all())


def has_undirected(codes: Codes) -> NDArray[np.bool_]:
    """Return which graphs (n, L + 1, d, d) have an undirected link at lag 0."""
    return np.asarray((codes[:, 0] == UNDIRECTED).any(axis=(1, 2)))


def lag_0_planes(codes: Codes, is_pag: bool) -> NDArray[np.uint64]:
    """Return the links at lag 0 of graphs (n, L + 1, d, d) as planes of graphs, or of mixed graphs."""
    if is_pag:
        return planes_from_marks((codes[:, 0] >> 2).astype(np.uint8))
    return planes_from_matrices((codes[:, 0] & 3) == TAIL, np.arange(codes.shape[2], dtype=np.int64))


def codes_of_tails(tails: NDArray[np.bool_]) -> Codes:
    """Return the codes of links at lag 0 that have a tail at i in cell (i, j), (n, d, d)."""
    turned = tails.transpose(0, 2, 1)
    return np.select([tails & turned, tails, turned], [UNDIRECTED, DIRECTED, BACKWARD], default=0).astype(np.uint8)


def codes_of_planes(planes: NDArray[np.uint64], n_nodes: int) -> Codes:
    """Return the codes of the links at lag 0 that are the edges of graphs."""
    if not is_mixed(planes):
        return codes_of_tails(matrices_from_planes(planes, n_nodes).astype(bool))
    at_target = marks_from_planes(planes, n_nodes)
    return np.asarray(at_target.transpose(0, 2, 1) + 4 * at_target, np.uint8)


def has_cycle(arcs: NDArray[np.bool_]) -> bool:
    """Return whether a graph (d, d) has a directed cycle; without kernels, since graphs are read one by one."""
    left = np.ones(len(arcs), bool)
    while left.any():
        # nodes without a parent among those that are left go
        with_parent = left & arcs[left].any(axis=0)
        if (with_parent == left).all():
            return True
        left = with_parent
    return False


def infer_kind(codes: Codes) -> int:
    """Return the narrowest class of a graph (L + 1, d, d)."""
    if not is_plain(codes):
        return TS_PAG
    return TS_PDAG if (codes[0] == UNDIRECTED).any() or has_cycle(codes[0] == DIRECTED) else TS_DAG


def fault(codes: Codes, names: Sequence[str], kind: int) -> str | None:
    """Return what is wrong with a graph (L + 1, d, d) of a declared class, and how to mend it; None if nothing is."""
    diagonal = np.flatnonzero(np.einsum("ii->i", codes[0]))
    if len(diagonal):
        return (
            f"has a link at lag 0 from {names[diagonal[0]]!r} to itself; a variable may cause itself at lags from 1 "
            "only"
        )
    odd = np.argwhere(codes[0] != TURNED[codes[0].T])
    if len(odd):
        i, j = odd[0].tolist()
        one, other = (_written(codes[0], *cell) for cell in ((i, j), (j, i)))
        return (
            f"has {one} in the cell ({names[i]!r}, {names[j]!r}) of lag 0 and {other} in its mirror image; a link at "
            "lag 0 stands in both cells, as '->' and '<-'"
        )
    wrong = np.argwhere(~np.isin(codes[1:], (0, *LAGGED)))
    if len(wrong):
        lag, i, j = wrong[0].tolist()
        sign = _written(codes[lag + 1], i, j)
        return (
            f"has the link {names[i]!r} at lag {lag + 1} {sign} {names[j]!r}; an effect does not come before its "
            "cause, so that links at lags from 1 are '->', and '<->' or 'o->' where variables are latent"
        )
    narrowest = infer_kind(codes)
    if narrowest > kind:
        lines = "undirected links or a directed cycle at lag 0"
        why = "circles or bidirected links" if narrowest == TS_PAG else lines
        return f"is declared a {KINDS[kind]}, but has {why}; declare it a {KINDS[narrowest]}, or leave kind out"
    return None


def _written(codes: Codes, i: int, j: int) -> str:
    number = int(codes[i, j])
    return repr(SIGN_OF_CODE.get(number, "" if not number else f"code {number}"))


class Links(NamedTuple):
    """The links of one cell."""

    #: names of the variables; None where the cell has none
    names: list[str] | None
    #: (max_lag + 1, d, d): codes of links, variables in the order of `names`
    codes: Codes
    #: smallest lag that was searched
    min_lag: int = 0
    #: whether variables without links may be missing from the names
    is_open: bool = False


def collect(
    links: Iterable[tuple[Hashable, Hashable, int, int]],
    places: Iterable[tuple[Hashable, int]] = (),
    max_lag: int = 0,
    min_lag: int = 0,
) -> Links:
    """Collect links (source, target, lag, code), code 0 one that is not there, over these and other (variable, lag)."""
    position: dict[str, int] = {}
    known: dict[tuple[int, int, int], int] = {}
    for name, lag in places:
        position.setdefault(node_name(name), len(position))
        max_lag = max(max_lag, lag)
    for source, target, lag, number in links:
        i, j = (position.setdefault(node_name(name), len(position)) for name in (source, target))
        max_lag = max(max_lag, lag)
        if not number:
            continue
        marks = known.setdefault((lag, i, j), number)
        if not lag and {marks, number} == {DIRECTED, BACKWARD}:
            known[0, i, j] = UNDIRECTED
        elif marks != number:
            raise ValueError(
                f"found the links {SIGN_OF_CODE[marks]!r} and {SIGN_OF_CODE[number]!r} from {source!r} to {target!r} "
                f"at lag {lag}, expected one"
            )
        if not lag:
            known[0, j, i] = int(TURNED[known[0, i, j]])
    shape = max_lag + 1, len(position), len(position)
    check_size(shape, len(position))
    codes = np.zeros(shape, np.uint8)
    for place, number in known.items():
        codes[place] = number
    return Links(list(position), codes, min_lag, is_open=True)


def links_to_t(
    places: Sequence[tuple[Hashable, int]], ends: Iterable[tuple[int, int, int, int]], *, copies: bool = False
) -> Iterator[tuple[Hashable, Hashable, int, int]]:
    """Yield links of edges that end at t, of a graph over (variable, lag); others must be `copies`, or are refused."""
    at_t, earlier = set(), {}
    for a, b, at_a, at_b in ends:
        (source, lag), (target, other), number = places[a], places[b], code(at_a, at_b)
        if other > lag:
            source, target, lag, other, number = target, source, other, lag, int(TURNED[number])
        between = frozenset((source, target)) if lag == other else (source, target, lag - other)
        if not other:
            at_t.add(between)
            yield source, target, lag, number
        else:
            earlier[between] = source, lag, target, other
    for between, (source, lag, target, other) in earlier.items():
        if not copies or between not in at_t:
            cause = source if lag == other else f"{source}@{other - lag}"
            raise ValueError(
                f"found a link from {source!r} at lag {lag} to {target!r} at lag {other}"
                f"{' and no copy of it that ends at t' if copies else ''}; links end at t, as in '{cause} -> {target}'"
            )


MAGIC, VERSION = 0xCC, 1
_TEXT = 8 * TEXT_WORDS
_START = _TEXT + 8 * HEADER_WORDS
_HEADER = struct.Struct("<BBBBI8sIHH")
_AS_TEXT = "the text that its .lagged.to_strings() returns"
FORMAT = register_cell_format(CellFormat("a packed lagged graph", MAGIC, _TEXT, "lagged_column", _AS_TEXT))


class Head(NamedTuple):
    """What a cell declares before its planes: names, lags, number of planes; where these start, and where they end."""

    nodes: tuple[str, ...]
    min_lag: int
    max_lag: int
    n_planes: int
    start: int
    end: int


def pack_cell(nodes: Sequence[str], codes: Codes, min_lag: int, kind: int) -> bytes:
    """Return the canonical bytes of one graph: names in code-point order, codes (L + 1, d, d)."""
    named = names_header(nodes).tobytes()
    n_bytes = int.from_bytes(named[16:20], "little")
    flat = np.pad(codes.reshape(-1), (0, -codes.size % 64))
    planes = np.stack([flat >> bit & 1 for bit in range(4)] if kind == TS_PAG else [(flat & 3) == TAIL])
    lags = len(codes) - 1, min_lag
    header = _HEADER.pack(MAGIC, VERSION, kind, len(planes), len(nodes), named[8:16], n_bytes, *lags)
    d, links = len(nodes), count_links(codes)
    text = FORMAT.line(KINDS[kind], f"{d} variable{'s' * (d != 1)}", f"{links} link{'s' * (links != 1)}")
    return text + header + named[8 * HEADER_WORDS :] + np.packbits(planes, axis=1, bitorder="little").tobytes()


def count_links(codes: Codes) -> int:
    """Count the links of a graph (L + 1, d, d); one at lag 0 counts once."""
    return int(np.count_nonzero(codes[1:]) + np.count_nonzero(codes[0]) // 2)


def kind_of(cell: bytes) -> int:
    """Return the class code that a cell declares."""
    return cell[_TEXT + 2]


def read_head(cell: bytes) -> Head:
    """Read what stands before the planes; raise a ValueError for a faulty cell."""
    if not isinstance(cell, bytes):
        raise TypeError(f"expected the bytes of a packed lagged graph, found {type(cell).__name__}; use lagged_column")
    if not FORMAT.holds(cell) or len(cell) < _START:
        raise ValueError(f"{FORMAT.explain(cell)} (these start with a line such as 'ts_dag, 3 variables, 2 links')")
    n_bytes = int.from_bytes(cell[_TEXT + 16 : _TEXT + 20], "little")
    head = _read_head(cell[_TEXT : _START + (n_bytes + 7) // 8 * 8])
    if len(cell) != head.end:
        raise ValueError(
            f"found {len(cell)} bytes, but a lagged graph of {len(head.nodes)} variables and {head.max_lag} lags has "
            f"{head.end}; the cell is damaged"
        )
    return head


@lru_cache(maxsize=1024)
def _read_head(raw: bytes) -> Head:
    """Read header and names."""
    _, version, kind, n_planes, n_nodes, digest, n_bytes, max_lag, min_lag = _HEADER.unpack_from(raw)
    if version != VERSION:
        raise ValueError(f"found a lagged graph of format version {version}; this release reads {VERSION}")
    if kind >= len(KINDS):
        raise ValueError(f"found class code {kind}; known are 0 to {len(KINDS) - 1} for {', '.join(KINDS)}")
    padded = raw[_HEADER.size :]
    blob = padded[:n_bytes]
    if hashlib.blake2b(blob, digest_size=8).digest() != digest or padded[n_bytes:].strip(b"\0"):
        raise ValueError("its names do not match their digest; the cell is damaged")
    if min_lag > min(1, max_lag) or n_planes != (4 if kind == TS_PAG else 1):
        raise ValueError(
            f"is a {KINDS[kind]} with {n_planes} planes of marks, the smallest lag {min_lag} and the largest "
            f"{max_lag}; the cell is damaged"
        )
    start = _START + len(padded)
    plane_words = ((max_lag + 1) * n_nodes**2 + 63) // 64
    return Head(read_names(blob, n_nodes), min_lag, max_lag, n_planes, start, start + 8 * n_planes * plane_words)


def read_codes(cells: Sequence[bytes], head: Head) -> Codes:
    """Decode the planes of cells that share a head, (n, L + 1, d, d); raise a ValueError for a faulty cell."""
    shape = head.max_lag + 1, len(head.nodes), len(head.nodes)
    raw = np.frombuffer(b"".join(cells), np.uint8).reshape(len(cells), -1)[:, head.start :]
    every = np.unpackbits(raw.reshape(len(cells), head.n_planes, -1), axis=-1, bitorder="little")
    bits, beyond = np.split(every, [int(np.prod(shape))], axis=2)
    damaged = beyond.any(axis=(1, 2))
    if damaged.any():
        raise CellError(int(damaged.argmax()), "has bits set beyond its last cell; the cell is damaged")
    planes = bits.reshape(len(cells), head.n_planes, *shape)
    if head.n_planes == 4:
        return np.asarray(planes[:, 0] + 2 * planes[:, 1] + 4 * planes[:, 2] + 8 * planes[:, 3], np.uint8)
    codes = planes[:, 0] * np.uint8(DIRECTED)
    codes[:, 0] = codes_of_tails(planes[:, 0, 0] > 0)
    return codes


_LAGS = re.compile(r"\s*lags\s+(\d{1,5})\s*\.\.\s*(\d{1,5})\s*:")
_AT = re.compile(r"(.+)@(0|-[1-9]\d{0,4})", re.DOTALL)
#: names with a time as it is written elsewhere, or wrongly: X@1, X@-1.5, X@t-1, X(t-1), X(-1), X_t-1, X_lag1, X.l1, X:1
#: and L1.X
_OTHER_TIME = re.compile(
    r".*(?:@ ?(?:t ?)?[-+\u2212\u2013]? ?\d[\d.]*|(?:[ _]t|[(\[{][tT]) ?[-+\u2212\u2013] ?\d+[)\]}]{0,2}"
    r"|[(\[{][-\u2212\u2013] ?\d+[)\]}]|[ ._(\[{][Ll]ag ?[._=-]? ?\d+[)\]}]?|\.[lL]\d+|:\d+)"
    r"|L\d+\..+",
    re.DOTALL,
)
_HEADING = re.compile(r"\s*lags?\s*\d+\s*\.\.")
#: a time, in a message
_TIME = re.compile(r"@|[(\[{](?:[tT]\b|lag|-\d)|\w:\d")
_WITH_TIME = "a variable at t - 1 is written with its time, as in 'X@-1' or, in quotes, '\"S&P 500@-1\"'"


def read_lagged_text(text: str) -> Links:
    """Read a graph as text."""
    refuse_blank(text)
    header = _LAGS.match(text)
    if header is None and _HEADING.match(text):
        raise ValueError(f"found {text!r:.60}; a text begins with its searched lags as in 'lags 0..2:'")
    try:
        read = parse_edges(text[header.end() :] if header else text)
    except ValueError as fault:
        if isinstance(fault, UnquotedNameError):
            _refuse_other_times([fault.name])
        raise ValueError(f"{fault}; {_WITH_TIME}" if _TIME.search(str(fault)) else str(fault)) from None
    names = tuple(map(str, read.labels or ()))
    _refuse_other_times(names)
    parts = [_AT.fullmatch(name) for name in names]
    places = [(x[1], -int(x[2])) if x else (name, 0) for x, name in zip(parts, names, strict=True)]
    min_lag, max_lag = (int(header[1]), int(header[2])) if header else (0, MAX_LAG)
    beyond = next((name for name, (_, lag) in zip(names, places, strict=True) if lag > max_lag), None)
    if beyond is not None:
        raise ValueError(f"found {beyond!r} at a lag beyond {max_lag}, the largest that the text may have")
    return collect(links_to_t(places, read.ends), places, max_lag if header else 0, min_lag)


def _refuse_other_times(names: Iterable[str]) -> None:
    """Refuse names with a time as it is written elsewhere."""
    found = next((name for name in names if _OTHER_TIME.fullmatch(name) and not _AT.fullmatch(name)), None)
    if found is not None:
        named = write_graph([write_name(f"{found}@0")], [])
        raise ValueError(
            f"found {found!r}; {_WITH_TIME}, and one with a time in its name has another: {named}"
        ) from None


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


@dataclass(frozen=True, eq=False, repr=False)
class LaggedGraph:
    """A graph of a stationary time series: links from variables at t - lag to variables at t.

    Make one with `as_lagged`. Two graphs are equal if they have the same variables, searched lags, class and links.

    Attributes
    ----------
    nodes : tuple of str
        Names of the variables, in code-point order.
    codes : (max_lag + 1, d, d) uint8
        Marks of the link from variable i at t - lag to variable j at t in cell (lag, i, j): the mark at i plus four
        times that at j, where 1 is a tail, 2 an arrow and 3 a circle; 0 no link. Links at lag 0 stand in both cells.
    min_lag : int
        Smallest lag that was searched: 0, or 1 where links at lag 0 were not looked for.
    kind : {"ts_dag", "ts_pdag", "ts_pag"}
        Class: directed, and acyclic at lag 0; without circles and bidirected links; any.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> graph = ce.as_lagged("X@-1 -> Y; X@-2 -> X; Y -> Z")
    >>> graph.kind, graph.max_lag, graph.n_links
    ('ts_dag', 2, 3)
    >>> graph
    LaggedGraph('lags 0..2: X@-1 -> Y; X@-2 -> X; Y -> Z', kind='ts_dag')
    """

    nodes: tuple[str, ...]
    codes: Codes
    min_lag: int
    kind: str

    def __post_init__(self) -> None:
        wrong = check_names(self.nodes)
        if wrong:
            raise ValueError(f"the graph {wrong}")
        d = len(self.nodes)
        codes = np.array(self.codes, np.uint8)
        check_size(codes.shape, d)
        if self.kind not in KINDS:
            raise ValueError(f"unknown kind {self.kind!r}; classes of lagged graphs are {', '.join(KINDS)}")
        if self.min_lag not in (0, 1) or self.min_lag > len(codes) - 1:
            raise ValueError(
                f"min_lag must be 0, or 1 where max_lag is at least 1, found min_lag {self.min_lag!r} and max_lag "
                f"{len(codes) - 1}"
            )
        if self.min_lag and codes[0].any():
            raise ValueError("min_lag is 1, but the graph has links at lag 0, which then was searched; pass min_lag=0")
        wrong = fault(codes, self.nodes, KINDS.index(self.kind))
        if wrong:
            raise ValueError(f"the graph {wrong}")
        codes.flags.writeable = False
        object.__setattr__(self, "codes", codes)

    @classmethod
    def of(cls, names: Sequence[str], codes: NDArray[Any], min_lag: int, kind: str | None = None) -> Self:
        """Make a graph of codes whose variables are in any order; its class is the narrowest unless it is declared."""
        order = sorted(range(len(names)), key=names.__getitem__)
        codes = np.asarray(codes, np.uint8)[:, order][:, :, order]
        nodes = tuple(names[i] for i in order)
        return cls(nodes, codes, min_lag, KINDS[infer_kind(codes)] if kind is None else kind)

    @classmethod
    def from_bytes(cls, cell: bytes) -> Self:
        """Read the canonical bytes of a lagged graph, as cells of packed columns are.

        Parameters
        ----------
        cell : bytes
            A cell of a column made by `lagged_column`.

        Returns
        -------
        LaggedGraph
            The graph.

        Raises
        ------
        ValueError
            If these are not the canonical bytes of a lagged graph.
        """
        head = read_head(cell)
        return cls(head.nodes, read_codes([cell], head)[0], head.min_lag, KINDS[kind_of(cell)])

    def to_bytes(self) -> bytes:
        """Return the canonical bytes."""
        return pack_cell(self.nodes, self.codes, self.min_lag, KINDS.index(self.kind))

    @property
    def max_lag(self) -> int:
        """Largest lag that was searched."""
        return len(self.codes) - 1

    @property
    def n_links(self) -> int:
        """Number of links; one at lag 0 counts once."""
        return count_links(self.codes)

    def to_frame(self) -> pd.DataFrame:
        """Return the links, one per row.

        Returns
        -------
        DataFrame
            source, target, lag, and the link as text: "->", "--" (undirected), "<->", "o->" or "o-o". At lag 0 the
            source of a directed link is its cause.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> ce.as_lagged("X@-1 -> Y; X -- Y").to_frame()
          source target  lag link
        0      X      Y    0   --
        1      X      Y    1   ->
        """
        rows = [(self.nodes[i], self.nodes[j], lag, sign) for lag, i, j, sign in links_of(self.codes)]
        return pd.DataFrame(rows, columns=["source", "target", "lag", "link"]).astype(
            {"source": "str", "target": "str", "lag": "int64", "link": "str"}
        )

    def to_string(self) -> str:
        """Return the graph as text, which `as_lagged` reads: ``"lags 0..2: X@-1 -> Y; Y -> Z"``."""
        return write_lagged(self.nodes, links_of(self.codes), self.min_lag, self.max_lag)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LaggedGraph) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __repr__(self) -> str:
        return f"LaggedGraph({self.to_string()!r}, kind={self.kind!r})"


def links_of(codes: Codes) -> list[tuple[int, int, int, str]]:
    """Return the links of a graph (L + 1, d, d) as (lag, source, target, sign), sorted; one at lag 0 stands once."""
    links = []
    for lag, i, j in np.argwhere(codes).tolist():
        sign = SIGN_OF_CODE[int(codes[lag, i, j])]
        turned = sign[0] == "<" and sign != "<->"
        if lag == 0 and (turned or (i > j and (sign == sign[::-1] or sign == "<->")) or sign == "--o"):
            continue
        links.append((lag, i, j, sign))
    return links
