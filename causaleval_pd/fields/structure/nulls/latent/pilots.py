"""How many bidirected edges the proposals of random PAGs have, so that most are kept: found once by pilots.

A MAG with b' bidirected edges shows fewer in its PAG, so that controls that show b are not PAGs of MAGs with b. They
are drawn from proposals with another number, and kept if they show b. Any number gives valid p-values, because it
depends on nothing but what the cell shows: nodes, edges (or the skeleton) and b. It is the number with most proposals
kept in a pilot, whose random stream these name.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .....graphs.kernels import mixed_kernels

#: proposals of a pilot for each number of bidirected edges, and where none of these was kept
PILOTS = (250, 2000)
#: numbers that are tried at most
_MOST_NUMBERS = 33
#: proposals that a control may take
MOST_PROPOSALS = 100_000

#: skeletons of two planes, one graph
Skeleton = bytes


class Proposal(NamedTuple):
    """Bidirected edges of proposals (-1 - k for a random number from 0 to k), and the share of them that is kept."""

    n_bidirected: int
    kept: float


class Cell(NamedTuple):
    """What controls are matched to: nodes, edges, and the skeleton where it is kept (else empty)."""

    n_nodes: int
    n_edges: int
    skeleton: Skeleton = b""


def _tally(cell: Cell, numbers: list[int], n: int, *, to_pag: bool, shown: int, tries: int = 1) -> NDArray[np.float64]:
    """Return the share of draws that are kept, for each number of bidirected edges."""
    names = [hashlib.blake2b(repr((*cell, b, to_pag)).encode(), digest_size=8).digest() for b in numbers]
    kernels, k = mixed_kernels(), len(numbers)
    given = {}
    if cell.skeleton:
        planes = np.frombuffer(cell.skeleton, np.uint64).reshape(1, 2, -1)
        given = {"skeletons": planes, "index": np.zeros(k, np.int64)}
    _, found = kernels.draw_latent(
        cell.n_nodes,
        np.full(k, cell.n_edges),
        numbers,
        np.full(k, shown if to_pag else kernels.ANY),
        np.full(k, to_pag),
        np.frombuffer(b"".join(names), np.uint64),
        0,
        n,
        tries,
        **given,
        write=False,
    )
    return np.asarray((found >= 0).reshape(k, n).mean(axis=1))


@lru_cache(maxsize=1 << 16)
def best_proposal(cell: Cell, shown: int, *, to_pag: bool) -> Proposal | None:
    """Return the proposals of controls that show a number of bidirected edges, None if no control was found."""
    if not shown:
        return Proposal(0, 1.0)
    numbers = [shown]
    if to_pag:
        spaced = np.linspace(shown, cell.n_edges, min(_MOST_NUMBERS, cell.n_edges - shown + 1))
        numbers = np.unique(spaced.round().astype(int)).tolist()
    for n in PILOTS:
        kept = _tally(cell, numbers, n, to_pag=to_pag, shown=shown)
        if kept.any():
            return Proposal(numbers[int(kept.argmax())], float(kept.max()))
    [found] = _tally(cell, [shown], 1, to_pag=to_pag, shown=shown, tries=MOST_PROPOSALS)
    return Proposal(shown, 2 / MOST_PROPOSALS) if found else None


@lru_cache(maxsize=1 << 16)
def free_proposal(cell: Cell) -> Proposal:
    """Return proposals with any number of bidirected edges up to half of all edges at which MAGs are not rare."""
    least, most = 1.0, 0
    for number in range(1, cell.n_edges // 2 + 1):
        [kept] = _tally(cell, [number], PILOTS[0], to_pag=False, shown=number)
        if not kept:
            break
        least, most = float(kept), number
    return Proposal(-1 - most, least)
