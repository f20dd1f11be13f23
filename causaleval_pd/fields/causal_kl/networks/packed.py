"""Pack one network as canonical bytes: a line of text, header, structure, parameters.

A cell is a sequence of little-endian 64-bit words: equal networks have equal bytes.

========= =================================================================================================
words 0-5 text for readers of printed tables: kind, numbers of nodes and of arcs (`cell_text`)
word 6    byte 0 magic 0xCD, byte 1 version 2, bytes 2-3 zero, bytes 4-7 length of the structure's text in bytes
word 7    BLAKE2b digest (8 bytes) of that text
text      the structure as canonical JSON, UTF-8, filled up with spaces to whole words
rest      the parameters as float64, node after node
========= =================================================================================================
"""

from __future__ import annotations

import hashlib
import struct
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ....contract.cells import CellFormat, format_of, register_cell_format
from .structure import Structure

MAGIC, VERSION = 0xCD, 2
TEXT_BYTES = 48
_HEADER = struct.Struct("<BBHI8s")
FORMAT = register_cell_format(CellFormat("a packed network", MAGIC, TEXT_BYTES))


def cell_text(structure: Structure) -> bytes:
    """Return the text of a cell, filled up with blanks."""
    n, m = len(structure.nodes), len(structure.arcs)
    text = f"{structure.kind} network, {n} node{'s' * (n != 1)}, {m} arc{'s' * (m != 1)}"
    return text.encode().ljust(TEXT_BYTES)


def contents(cell: bytes) -> bytes:
    """Return the bytes by which a network is identified: without text, and with the version that they had before it."""
    return bytes([MAGIC, 1]) + cell[TEXT_BYTES + 2 :]


@lru_cache(maxsize=1024)
def _head(structure: Structure) -> bytes:
    text = structure.text.encode()
    digest = hashlib.blake2b(text, digest_size=8).digest()
    header = _HEADER.pack(MAGIC, VERSION, 0, len(text), digest)
    return cell_text(structure) + header + text + b" " * (-len(text) % 8)


@lru_cache(maxsize=1024)
def read_head(head: bytes) -> Structure:
    """Read the bytes before the parameters; raise a ValueError that names the fault."""
    _, version, zero, length, digest = _HEADER.unpack_from(head, TEXT_BYTES)
    if version != VERSION or zero:
        raise ValueError(f"found a packed network of format version {version}; this release reads version {VERSION}")
    start = TEXT_BYTES + _HEADER.size
    text = head[start : start + length]
    if hashlib.blake2b(text, digest_size=8).digest() != digest or head[start + length :].strip(b" "):
        raise ValueError("its description does not match its digest; the cell is damaged")
    try:
        found = Structure.from_text(text.decode())
    except UnicodeDecodeError:
        raise ValueError("its description is not UTF-8; the cell is damaged") from None
    if head[:TEXT_BYTES] != cell_text(found):
        raise ValueError(f"its first bytes {head[:TEXT_BYTES]!r} are not those of its contents; the cell is damaged")
    return found


def split_cell(cell: bytes) -> tuple[bytes, bytes]:
    """Split a cell into the header with the structure, and the parameters; raise a ValueError if it is not a cell."""
    if len(cell) < TEXT_BYTES + _HEADER.size or not FORMAT.holds(cell):
        other = format_of(cell)
        if other is not None and other is not FORMAT:
            raise ValueError(
                f"found {other.noun}, expected a network with parameters (network_column); list_metrics() names the "
                "metrics of graphs"
            )
        raise ValueError(
            f"{FORMAT.explain(cell)} (these start with a line such as 'discrete network, 3 nodes, 2 arcs')"
        )
    length = _HEADER.unpack_from(cell, TEXT_BYTES)[3]
    end = TEXT_BYTES + _HEADER.size + length + (-length % 8)
    return cell[:end], cell[end:]


def pack_cell(structure: Structure, parameters: NDArray[np.float64]) -> bytes:
    """Return the canonical bytes of a network."""
    return _head(structure) + parameters.astype("<f8").tobytes()


def unpack_cell(cell: bytes) -> tuple[Structure, NDArray[np.float64]]:
    """Read canonical bytes, checking everything but the values of the parameters."""
    if not isinstance(cell, bytes):
        raise TypeError(f"expected the bytes of a packed network, found {type(cell).__name__}")
    head, tail = split_cell(cell)
    structure = read_head(head)
    if len(tail) != 8 * structure.size:
        raise ValueError(f"found {len(tail)} bytes of parameters, expected {8 * structure.size}; the cell is damaged")
    return structure, np.frombuffer(tail, "<f8")
