"""The canonical bytes of one graph: header, node names, planes.

A cell is a sequence of little-endian 64-bit words: equal graphs have equal bytes, different graphs never do.

====== ====================================================================================================
word 0 byte 0 magic 0xCE, byte 1 version 1, byte 2 class code, byte 3 number of planes, bytes 4-7 n_nodes
word 1 BLAKE2b digest (8 bytes) of the names
word 2 bytes 0-3 length of the names in bytes, bytes 4-7 zero
names  UTF-8 names in code-point order joined by NUL, filled up with zero bytes to whole words
planes the pair planes, two or four by class, bits of no pair being zero
====== ====================================================================================================
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .kernels.planes import KINDS, plane_words, planes_of_kind

MAGIC, VERSION, HEADER_WORDS = 0xCE, 1, 3
MAX_NODES = 20_000


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
    return None


def names_header(names: Sequence[str]) -> NDArray[np.uint64]:
    """Return the header words of a node set, class code and number of planes zero."""
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
    return words.tobytes()


def not_a_graph(raw: bytes) -> str:
    """Return a message for bytes that are not a packed graph."""
    return f"found {len(raw)} bytes starting with {raw[:8]!r}, not a packed graph"


def read_header(cell: NDArray[np.uint64]) -> tuple[tuple[str, ...], int]:
    """Return node names and number of words before the planes; raise a ValueError for a faulty cell."""
    raw = cell.tobytes()
    if raw[0] != MAGIC:
        raise ValueError(f"{not_a_graph(raw)} (these start with {bytes([MAGIC])!r})")
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
            f"found {len(raw)} bytes, but a graph of {n_nodes} nodes with {n_bytes} bytes of names has "
            f"{8 * (size + n_planes * plane_words(n_nodes))}; the cell is damaged"
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
    return names, size
