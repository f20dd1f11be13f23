"""The canonical bytes of one graph: a line of text, header, node names, planes.

A cell is a sequence of little-endian 64-bit words: equal graphs have equal bytes, different graphs never do.

========= ====================================================================================================
words 0-3 text for readers of printed tables: class, numbers of nodes and of edges (`cell_text`)
word 4    byte 0 magic 0xCE, byte 1 version 2, byte 2 class code, byte 3 number of planes, bytes 4-7 n_nodes
word 5    BLAKE2b digest (8 bytes) of the names
word 6    bytes 0-3 length of the names in bytes, bytes 4-7 zero
names     UTF-8 names in code-point order joined by NUL, filled up with zero bytes to whole words
planes    the pair planes, two or four by class, bits of no pair being zero
========= ====================================================================================================
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.alike import alike, explain_alike, face
from ...contract.cells import CellFormat, format_of, register_cell_format
from ..kernels.planes import KINDS, plane_words, planes_of_kind
from ..mixed.marks import count_edges

MAGIC, VERSION, HEADER_WORDS = 0xCE, 2, 3
MAX_NODES = 20_000
#: how to make graphs of other packed cells
_AS_GRAPHS = {
    "a packed lagged graph": "; this is a lagged graph: take a view of it, as column.lagged.summary()",
    "packed scores": "; these are scores of edges: make graphs of them, as column.score.threshold(0.5), or use "
    "metrics of scores",
}
TEXT_WORDS = 4
FORMAT = register_cell_format(CellFormat("a packed graph", MAGIC, 8 * TEXT_WORDS))


def cell_text(kind: int, n_nodes: int, n_edges: int) -> bytes:
    """Return the text of one cell, filled up with blanks; the number of edges is left out where it does not fit."""
    graph = f"{KINDS[kind]}, {n_nodes} node{'s' * (n_nodes != 1)}"
    whole = f"{graph}, {n_edges} edge{'s' * (n_edges != 1)}"
    return (whole if len(whole) <= 8 * TEXT_WORDS else graph).encode().ljust(8 * TEXT_WORDS)


def cell_texts(kinds: NDArray[np.uint8], n_nodes: int, n_edges: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the texts of cells as words, (N, 4)."""
    code, distinct = pd.factorize(n_edges * len(KINDS) + kinds)
    graphs = zip((distinct % len(KINDS)).tolist(), (distinct // len(KINDS)).tolist(), strict=True)
    texts = b"".join(cell_text(kind, n_nodes, edges) for kind, edges in graphs)
    return np.frombuffer(texts, np.uint64).reshape(-1, TEXT_WORDS)[code]


def check_names(names: Sequence[str]) -> str | None:
    """Return the fault of node names, which must be valid and in code-point order, or None."""
    if len(names) > MAX_NODES:
        return f"has {len(names)} nodes; at most {MAX_NODES} are supported"
    text = "\0".join(names)
    if "" in names or text.count("\0") >= max(1, len(names)):
        return f"has the node name {next(x for x in names if not x or chr(0) in x)!r}; names are not empty, without NUL"
    if not all(map(operator.lt, names, names[1:])):
        name, following = next(pair for pair in pairwise(names) if not pair[0] < pair[1])
        if name == following:
            return f"has the node name {name!r} twice; names must be unique"
        return f"has its nodes out of code-point order ({name!r} before {following!r})"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"has a node name with {text[error.start]!r}, which is not valid Unicode text"
    return _unclear(names)


def _unclear(names: Sequence[str]) -> str | None:
    """Return the fault of names of which nothing shows, or two look alike."""
    hidden = next((name for name in names if not face(name)), None)
    if hidden is not None:
        return f"has the node name {hidden!a}, of which nothing shows; give it a name"
    pair = alike(names)
    if pair is not None:
        return f"has two nodes that may be one: {explain_alike(*pair)}; give them one name, or names that differ"
    return None


def names_header(names: Sequence[str]) -> NDArray[np.uint64]:
    """Return the header and name words of a node set, class code and number of planes zero."""
    blob = "\0".join(names).encode()
    words = np.zeros(HEADER_WORDS + (len(blob) + 7) // 8, dtype=np.uint64)
    words[0] = MAGIC | VERSION << 8 | len(names) << 32
    words[1] = int.from_bytes(_digest(blob), "little")
    words[2] = len(blob)
    words.view(np.uint8)[8 * HEADER_WORDS : 8 * HEADER_WORDS + len(blob)] = np.frombuffer(blob, dtype=np.uint8)
    return words


def _digest(blob: bytes) -> bytes:
    return hashlib.blake2b(blob, digest_size=8).digest()


def pack_cell(names: Sequence[str], kind: int, planes: NDArray[np.uint64]) -> bytes:
    """Return the canonical bytes of one graph: names in code-point order, class code, planes (2 or 4, W)."""
    words = np.concatenate([names_header(names), planes.reshape(-1)])
    words[0] |= np.uint64(kind << 16 | len(planes) << 24)
    return cell_text(kind, len(names), int(count_edges(planes[None])[0])) + words.tobytes()


def is_cell(raw: bytes) -> bool:
    """Return whether bytes begin as a packed graph does."""
    return FORMAT.holds(raw)


def contents(raw: bytes) -> bytes:
    """Return the bytes by which a graph is identified: without its text and version."""
    return bytes([MAGIC, 1]) + raw[8 * TEXT_WORDS + 2 :]


def not_a_graph(raw: bytes) -> str:
    """Return a message for bytes that are not a packed graph."""
    other = format_of(raw)
    mend = "" if other is None else _AS_GRAPHS.get(other.noun, "")
    return FORMAT.explain(raw) + mend


def read_header(whole: NDArray[np.uint64]) -> tuple[tuple[str, ...], int]:
    """Return node names and number of words before the planes; raise a ValueError for a faulty cell."""
    cell = whole[TEXT_WORDS:]
    raw = cell.tobytes()
    if len(cell) < HEADER_WORDS or raw[0] != MAGIC:
        raise ValueError(f"{not_a_graph(whole.tobytes())} (these start with a line such as 'dag, 3 nodes, 2 edges')")
    if raw[1] != VERSION:
        raise ValueError(f"found a packed graph of format version {raw[1]}; this release reads version {VERSION}")
    if raw[2] >= len(KINDS):
        raise ValueError(f"found class code {raw[2]}; known are 0 to {len(KINDS) - 1} for {', '.join(KINDS)}")
    n_planes = planes_of_kind(raw[2])
    if raw[3] != n_planes:
        raise ValueError(f"found {raw[3]} planes of marks; graphs of class {KINDS[raw[2]]} have {n_planes}")
    n_nodes, n_bytes = int(cell[0]) >> 32, int(cell[2])
    if n_nodes > MAX_NODES:
        raise ValueError(f"has {n_nodes} nodes; at most {MAX_NODES} are supported")
    size = HEADER_WORDS + (n_bytes + 7) // 8
    if len(cell) != size + n_planes * plane_words(n_nodes):
        raise ValueError(
            f"found {8 * len(whole)} bytes, but a graph of {n_nodes} nodes with {n_bytes} bytes of names has "
            f"{8 * (TEXT_WORDS + size + n_planes * plane_words(n_nodes))}; the cell is damaged"
        )
    filled = raw[8 * HEADER_WORDS : 8 * size]
    blob = filled[:n_bytes]
    if _digest(blob) != raw[8:16] or filled[n_bytes:].strip(b"\0"):
        raise ValueError("its node names do not match their digest; the cell is damaged")
    try:
        text = blob.decode()
    except UnicodeDecodeError:
        raise ValueError("its node names are not UTF-8; the cell is damaged") from None
    names = tuple(text.split("\0")) if n_nodes else ()
    if bool(n_nodes) != bool(blob):
        raise ValueError(f"has {n_nodes} nodes but {n_bytes} bytes of names; the cell is damaged")
    if len(names) != n_nodes:
        raise ValueError(f"has {n_nodes} nodes but {len(names)} names; the cell is damaged")
    fault = check_names(names)
    if fault:
        raise ValueError(fault)
    return names, TEXT_WORDS + size
