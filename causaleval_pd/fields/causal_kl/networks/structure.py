"""The structure of a network, which is everything but its parameters, and the canonical bytes of both.

The parameters of networks with one structure are the rows of one array, so that thousands of re-estimated networks are
scored as one stack. A cell is a sequence of little-endian 64-bit words: equal networks have equal bytes.

========= =================================================================================================
words 0-5 text for readers of printed tables: kind, numbers of nodes and of arcs (`cell_text`)
word 6    byte 0 magic 0xCD, byte 1 version 2, bytes 2-3 zero, bytes 4-7 length of the structure's text in bytes
word 7    BLAKE2b digest (8 bytes) of that text
text      the structure as canonical JSON, UTF-8, filled up with spaces to whole words
rest      the parameters as float64, node after node
========= =================================================================================================
"""

from __future__ import annotations

import graphlib
import hashlib
import json
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....contract.cells import CellFormat, format_of, register_cell_format
from ....contract.checks import alike, explain_alike
from ....graphs.packing import check_names

MAX_STATES = 10_000
#: entries of all tables of one network
MAX_PARAMETERS = 2**26
#: parents of a node with a table, which has an axis for each and one of its own: numpy 1 takes 31 arrays of positions
MAX_PARENTS = 30


@dataclass(frozen=True)
class Structure:
    """Variables, states and parents in canonical order."""

    #: names in code-point order
    nodes: tuple[str, ...]
    #: states of each node; None for a linear-Gaussian network
    states: tuple[tuple[str, ...], ...] | None
    #: positions of each node's parents, ascending
    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        fault = check_names(self.nodes)
        if fault:
            raise ValueError(f"the network {fault}")
        for what, entries in (("states", self.states), ("parents", self.parents)):
            if entries is not None and len(entries) != len(self.nodes):
                raise ValueError(f"the network has {len(self.nodes)} nodes, but {what} of {len(entries)}")
        for name, states in zip(self.nodes, self.states or (), strict=False):
            fault = _check_states(states)
            if fault:
                raise ValueError(f"node {name!r} {fault}")
        for name, parents in zip(self.nodes, self.parents, strict=True):
            whole = all(type(p) is int and 0 <= p < len(self.nodes) for p in parents)
            if not whole or list(parents) != sorted(set(parents)):
                raise ValueError(f"node {name!r} has parents {parents}, expected distinct ascending positions of nodes")
            if self.states is not None and len(parents) > MAX_PARENTS:
                raise ValueError(f"node {name!r} has {len(parents)} parents; at most {MAX_PARENTS} are supported")
        try:
            _ = self.order
        except graphlib.CycleError as error:
            cycle = " -> ".join(self.nodes[i] for i in error.args[1])
            raise ValueError(f"the network has the directed cycle {cycle}; parents must form a DAG") from None
        if self.size > MAX_PARAMETERS:
            largest = max(range(len(self.nodes)), key=lambda i: math.prod(self.shapes[i]))
            raise ValueError(
                f"the network has {self.size} parameters, most of them at node {self.nodes[largest]!r}; at most "
                f"{MAX_PARAMETERS} are supported"
            )

    @property
    def kind(self) -> str:
        """Kind of the network: "discrete" or "gaussian"."""
        return "gaussian" if self.states is None else "discrete"

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each node."""
        return tuple(len(states) for states in self.states or ())

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shape of each node's parameters: a table (parents.., child), or (intercept, coefficients.., variance)."""
        if self.states is None:
            return tuple((len(parents) + 2,) for parents in self.parents)
        cards = self.cards
        return tuple((*(cards[p] for p in parents), cards[i]) for i, parents in enumerate(self.parents))

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """Slice of each node's parameters in a row of parameters."""
        result, start = [], 0
        for shape in self.shapes:
            result.append(slice(start, start + math.prod(shape)))
            start = result[-1].stop
        return tuple(result)

    @cached_property
    def size(self) -> int:
        """Number of parameters."""
        return sum(math.prod(shape) for shape in self.shapes)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Positions of the nodes, parents before children."""
        return causal_order(self.parents)

    @cached_property
    def arcs(self) -> frozenset[tuple[int, int]]:
        """Arcs (parent, child)."""
        return frozenset((p, i) for i, parents in enumerate(self.parents) for p in parents)

    @cached_property
    def text(self) -> str:
        """Canonical JSON."""
        content = {"nodes": self.nodes, "states": self.states, "parents": self.parents}
        return json.dumps(content, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> Structure:
        """Read canonical JSON; raise a ValueError that names the fault."""
        try:
            content: Any = json.loads(text)
            made = cls(
                tuple(content["nodes"]),
                None if content["states"] is None else tuple(tuple(s) for s in content["states"]),
                tuple(tuple(p) for p in content["parents"]),
            )
        except (KeyError, TypeError, RecursionError, json.JSONDecodeError):
            raise ValueError("its description is not that of a network; the cell is damaged") from None
        if made.text != text:
            raise ValueError("its description is not canonical; the cell is damaged")
        return made


def check_table(name: str, cards: Sequence[int]) -> None:
    """Refuse a table that is too large before it is made; `cards` are the numbers of states of its axes."""
    if len(cards) - 1 > MAX_PARENTS:
        raise ValueError(f"node {name!r} has {len(cards) - 1} parents; at most {MAX_PARENTS} are supported")
    if math.prod(cards) > MAX_PARAMETERS:
        raise ValueError(f"node {name!r} needs a table with {math.prod(cards)} entries; at most {MAX_PARAMETERS}")


def sort_states(states: Sequence[str]) -> list[str]:
    """Sort state names by code points, whole numbers by value."""
    if all(s.isascii() and s.isdecimal() for s in states):
        return sorted(states, key=lambda s: (len(s), s))
    return sorted(states)


def _check_states(states: tuple[str, ...]) -> str | None:
    """Return what is wrong with the states of a node, or None."""
    if not all(isinstance(s, str) for s in states):
        return f"has the states {states}; state names are text"
    if not 1 <= len(states) <= MAX_STATES:
        return f"has {len(states)} states, expected 1 to {MAX_STATES}"
    if len(set(states)) < len(states):
        return f"has the states {states}; state names must differ"
    pair = alike(states)
    if pair is not None:
        return f"has two states that may be one: {explain_alike(*pair)}; give them one name"
    if list(states) != sort_states(states):
        return f"has its states out of order: {states}"
    return None


@lru_cache(maxsize=1024)
def causal_order(parents: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Return positions with parents before children; raise `graphlib.CycleError` if there is a directed cycle."""
    # nodes are added in ascending order first, which breaks ties by position
    sorter: graphlib.TopologicalSorter[int] = graphlib.TopologicalSorter({i: () for i in range(len(parents))})
    for i, causes in enumerate(parents):
        sorter.add(i, *causes)
    return tuple(sorter.static_order())


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
        structure = Structure.from_text(text.decode())
    except UnicodeDecodeError:
        raise ValueError("its description is not UTF-8; the cell is damaged") from None
    if head[:TEXT_BYTES] != cell_text(structure):
        raise ValueError(f"its first bytes {head[:TEXT_BYTES]!r} are not those of its contents; the cell is damaged")
    return structure


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
