"""Pack one network as canonical bytes: header, structure, parameters.

A cell is a sequence of little-endian 64-bit words; its first byte distinguishes it from a packed graph.

====== ====================================================================================================
word 0 byte 0 magic 0xCD, byte 1 version 1, bytes 2-3 zero, bytes 4-7 length of the structure's text in bytes
word 1 BLAKE2b digest (8 bytes) of the text
text   the structure as canonical JSON, UTF-8, filled up with spaces to whole words
rest   the parameters as float64, node after node
====== ====================================================================================================
"""

from __future__ import annotations

import hashlib
import struct
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...graphs.packing.header import is_cell
from .structure import Structure

MAGIC, VERSION = 0xCD, 1
_HEADER = struct.Struct("<BBHI8s")


@lru_cache(maxsize=1024)
def _head(structure: Structure) -> bytes:
    text = structure.text.encode()
    digest = hashlib.blake2b(text, digest_size=8).digest()
    return _HEADER.pack(MAGIC, VERSION, 0, len(text), digest) + text + b" " * (-len(text) % 8)


@lru_cache(maxsize=1024)
def read_head(head: bytes) -> Structure:
    """Read the bytes before the parameters; raise a ValueError that names the fault."""
    _, version, zero, length, digest = _HEADER.unpack_from(head)
    if version != VERSION or zero:
        raise ValueError(f"found a packed network of format version {version}; this release reads version {VERSION}")
    text = head[_HEADER.size : _HEADER.size + length]
    if hashlib.blake2b(text, digest_size=8).digest() != digest or head[_HEADER.size + length :].strip(b" "):
        raise ValueError("its description does not match its digest; the cell is damaged")
    try:
        return Structure.from_text(text.decode())
    except UnicodeDecodeError:
        raise ValueError("its description is not UTF-8; the cell is damaged") from None


def split_cell(cell: bytes) -> tuple[bytes, bytes]:
    """Split a cell into the header with the structure, and the parameters; raise a ValueError if it is not a cell."""
    if len(cell) < _HEADER.size or cell[0] != MAGIC:
        if is_cell(cell):
            raise ValueError(
                "found a packed graph, expected a network with parameters (network_column); list_metrics() names the "
                "metrics of graphs"
            )
        raise ValueError(
            f"found {len(cell)} bytes starting with {cell[:8]!r}, not a packed network (these start with "
            f"{bytes([MAGIC])!r})"
        )
    length = _HEADER.unpack_from(cell)[3]
    end = _HEADER.size + length + (-length % 8)
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
