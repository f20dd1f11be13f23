"""The canonical bytes of one lagged graph: a line of text, header, names, planes.

A cell is a sequence of little-endian 64-bit words: equal graphs have equal bytes, different graphs never do.

========= ====================================================================================================
words 0-3 text for readers of printed tables: class, numbers of variables and of links (`cell_text`)
word 4    byte 0 magic 0xCC, byte 1 version 1, byte 2 class code, byte 3 number of planes, bytes 4-7 number of
          variables d
word 5    BLAKE2b digest (8 bytes) of the names
word 6    bytes 0-3 length of the names in bytes, bytes 4-5 largest searched lag L, bytes 6-7 smallest one
names     UTF-8 names in code-point order joined by NUL, filled up with zero bytes to whole words
planes    (L + 1) d d bits each, cell (lag, i, j) after cell (lag, i, j - 1), filled up with zeros to whole words
========= ====================================================================================================

The one plane of a graph without circles and bidirected links has the bit of a cell set if the link has a tail at i.
The four planes of another are the bits of its codes, the lowest first (`marks`).
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...contract.cells import CellFormat, register_cell_format
from ...contract.encoding import CellError
from ...graphs.mixed.marks import TAIL
from ...graphs.packing.header import HEADER_WORDS, TEXT_WORDS, check_names, names_header
from .marks import DIRECTED, KINDS, TS_PAG, Codes, codes_of_tails

MAGIC, VERSION = 0xCC, 1
_TEXT = 8 * TEXT_WORDS
_START = _TEXT + 8 * HEADER_WORDS
_HEADER = struct.Struct("<BBBBI8sIHH")
_FORMAT = register_cell_format(CellFormat("a packed lagged graph", MAGIC, _TEXT))


class Head(NamedTuple):
    """What a cell declares before its planes: names, lags, number of planes, and where the planes start."""

    nodes: tuple[str, ...]
    min_lag: int
    max_lag: int
    n_planes: int
    start: int

    @property
    def n_codes(self) -> int:
        """Number of cells of the array of codes."""
        return (self.max_lag + 1) * len(self.nodes) ** 2

    @property
    def plane_bytes(self) -> int:
        """Bytes of one plane."""
        return (self.n_codes + 63) // 64 * 8


def n_planes_of(kind: int) -> int:
    """Return the number of planes of a class."""
    return 4 if kind == TS_PAG else 1


def cell_text(kind: int, n_nodes: int, n_links: int) -> bytes:
    """Return the text of a cell, filled up with blanks; the number of links is left out where it does not fit."""
    graph = f"{KINDS[kind]}, {n_nodes} variable{'s' * (n_nodes != 1)}"
    whole = f"{graph}, {n_links} link{'s' * (n_links != 1)}"
    return (whole if len(whole) <= _TEXT else graph).encode().ljust(_TEXT)


def pack_cell(nodes: Sequence[str], codes: Codes, min_lag: int, kind: int) -> bytes:
    """Return the canonical bytes of one graph: names in code-point order, codes (L + 1, d, d)."""
    named = names_header(nodes).tobytes()
    n_bytes = int.from_bytes(named[16:20], "little")
    n_planes = n_planes_of(kind)
    header = _HEADER.pack(MAGIC, VERSION, kind, n_planes, len(nodes), named[8:16], n_bytes, codes.shape[0] - 1, min_lag)
    flat = codes.reshape(-1)
    bits = [(flat & 3) == TAIL] if n_planes == 1 else [(flat >> bit) & 1 for bit in range(4)]
    size = (flat.size + 63) // 64 * 8
    planes = b"".join(np.packbits(one, bitorder="little").tobytes().ljust(size, b"\0") for one in bits)
    n_links = int(np.count_nonzero(codes[1:]) + np.count_nonzero(codes[0]) // 2)
    return cell_text(kind, len(nodes), n_links) + header + named[8 * HEADER_WORDS :] + planes


def is_lagged_cell(raw: bytes) -> bool:
    """Return whether bytes begin as a packed lagged graph does."""
    return _FORMAT.holds(raw) and len(raw) >= _START


def kind_of(cell: bytes) -> int:
    """Return the class code that a cell declares."""
    return cell[_TEXT + 2]


def head_key(cell: bytes) -> bytes:
    """Return the bytes by which cells that can be decoded together agree."""
    n_bytes = int.from_bytes(cell[_TEXT + 16 : _TEXT + 20], "little")
    return cell[_TEXT : _TEXT + 2] + cell[_TEXT + 3 : _START + (n_bytes + 7) // 8 * 8]


def read_head(cell: bytes) -> Head:
    """Read what stands before the planes; raise a ValueError for a faulty cell."""
    if not is_lagged_cell(cell):
        raise ValueError(f"{_FORMAT.explain(cell)} (these start with a line such as 'ts_dag, 3 variables, 2 links')")
    if cell[_TEXT + 1] != VERSION:
        raise ValueError(f"found a lagged graph of format version {cell[_TEXT + 1]}; this release reads {VERSION}")
    if kind_of(cell) >= len(KINDS):
        raise ValueError(f"found class code {kind_of(cell)}; known are 0 to {len(KINDS) - 1} for {', '.join(KINDS)}")
    head = _read_named(head_key(cell))
    if head.n_planes != n_planes_of(kind_of(cell)):
        raise ValueError(f"found {head.n_planes} planes of marks in a {KINDS[kind_of(cell)]}; the cell is damaged")
    expected = head.start + head.n_planes * head.plane_bytes
    if len(cell) != expected:
        raise ValueError(
            f"found {len(cell)} bytes, but a lagged graph of {len(head.nodes)} variables and {head.max_lag} lags has "
            f"{expected}; the cell is damaged"
        )
    return head


@lru_cache(maxsize=1024)
def _read_named(key: bytes) -> Head:
    """Read header and names without the class code."""
    _, _, _, n_planes, n_nodes, digest, n_bytes, max_lag, min_lag = _HEADER.unpack_from(key[:2] + b"\0" + key[2:])
    padded = key[_HEADER.size - 1 :]
    blob = padded[:n_bytes]
    if len(blob) != n_bytes or padded[n_bytes:].strip(b"\0"):
        raise ValueError("its names are cut off; the cell is damaged")
    if hashlib.blake2b(blob, digest_size=8).digest() != digest:
        raise ValueError("its names do not match their digest; the cell is damaged")
    try:
        nodes = tuple(blob.decode().split("\0")) if n_nodes else ()
    except UnicodeDecodeError:
        raise ValueError("its names are not UTF-8; the cell is damaged") from None
    if len(nodes) != n_nodes or bool(n_nodes) != bool(blob):
        raise ValueError(f"has {n_nodes} variables but {len(nodes)} names; the cell is damaged")
    wrong = check_names(nodes)
    if wrong:
        raise ValueError(wrong)
    if min_lag > min(1, max_lag):
        raise ValueError(f"has the smallest lag {min_lag} and the largest {max_lag}; the cell is damaged")
    return Head(nodes, min_lag, max_lag, n_planes, _START + len(padded))


def read_codes(cells: Sequence[bytes], head: Head) -> Codes:
    """Decode the planes of cells that share a head, (n, L + 1, d, d); raise a ValueError for a faulty cell."""
    d = len(head.nodes)
    raw = np.frombuffer(b"".join(cells), np.uint8).reshape(len(cells), -1)[:, head.start :]
    planes = raw.reshape(len(cells), head.n_planes, head.plane_bytes)
    every = np.unpackbits(planes, axis=-1, bitorder="little")
    beyond = every[:, :, head.n_codes :].any(axis=(1, 2))
    if beyond.any():
        raise CellError(int(beyond.argmax()), "has bits set beyond its last cell; the cell is damaged")
    bits = every[:, :, : head.n_codes].reshape(len(cells), head.n_planes, head.max_lag + 1, d, d)
    if head.n_planes == 4:
        return np.asarray(bits[:, 0] + 2 * bits[:, 1] + 4 * bits[:, 2] + 8 * bits[:, 3], np.uint8)
    codes = bits[:, 0] * np.uint8(DIRECTED)
    codes[:, 0] = codes_of_tails(bits[:, 0, 0].astype(bool))
    return codes
