"""Compiled truth tables of one crisp model: a literal's plane has a bit for each configuration of the free factors.

A literal is one bit of a word: bit 2 f + v of factor f with value v. A conjunction is the word of its literals. Words
are signed, because numba makes a float of a signed and an unsigned number; none uses the sign but planes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causaleval_pd.execution.compilation import kernel_part
from causaleval_pd.graphs.kernels.bits import compact, lowest

Ints = NDArray[np.int64]

#: factors of a pair of models, atoms of a model, and factors that no atom determines, of what the kernels take
MAX_FACTORS, MAX_ATOMS, MAX_FREE = 30, 9, 12
MAX_WORDS = 1 << (MAX_FREE - 6)
_EVEN = np.int64(0x5555555555555555)
#: constants of one type: numba compiles a function anew for every literal number that it is called with
ZERO, ONE = np.int64(0), np.int64(1)
#: planes of the first six free factors
_PATTERNS = np.array(
    [
        0xAAAAAAAAAAAAAAAA,
        0xCCCCCCCCCCCCCCCC,
        0xF0F0F0F0F0F0F0F0,
        0xFF00FF00FF00FF00,
        0xFFFF0000FFFF0000,
        0xFFFFFFFF << 32,
    ],
    np.uint64,
).view(np.int64)


@kernel_part
def negated(code: int) -> int:
    """Exchange every literal of a word for its negation."""
    return ((code & _EVEN) << 1) | ((code >> 1) & _EVEN)


@kernel_part
def place(bit: int) -> int:
    """Return the position of a single bit."""
    return np.int64(lowest(np.uint64(bit)))


@kernel_part
def literals_of(first: Ints, codes: Ints, atom: int) -> int:
    """Return the literals of an atom's left-hand side as one word."""
    compact()
    found = 0
    for i in range(first[atom], first[atom + 1]):
        found |= codes[i]
    return found


@kernel_part
def fill_planes(outcome: Ints, first: Ints, codes: Ints, start: int, stop: int, planes: Ints) -> int:
    """Fill the planes of the literals of atoms start .. stop - 1; return the words of a plane, 0 where that fails."""
    # The free factors span the table and each outcome follows from its causes, so that every atom holds on every row.
    # It fails where two atoms explain one factor, there is a cycle, or too many factors are free. The last plane has
    # all rows.
    compact()
    left, explained = ZERO, ZERO
    for a in range(start, stop):
        both = outcome[a] | negated(outcome[a])
        if explained & both:
            return 0
        explained |= both
        left |= literals_of(first, codes, a)
    left |= negated(left)
    free = (left & ~explained) & _EVEN
    n_free, rest = 0, free
    while rest:
        rest &= rest - 1
        n_free += 1
    if n_free > MAX_FREE:
        return 0
    n_words = 1 if n_free <= 6 else 1 << (n_free - 6)
    everything = np.int64(-1) if n_free >= 6 else (np.int64(1) << (1 << n_free)) - 1
    for w in range(n_words):
        planes[-1, w] = everything
    rest, p = free, 0
    while rest:
        bit = rest & -rest
        rest ^= bit
        at = place(bit)
        for w in range(n_words):
            one = _PATTERNS[p] if p < 6 else -((w >> (p - 6)) & 1)
            planes[at + 1, w] = one & everything
            planes[at, w] = ~one & everything
        p += 1
    known, missing = free | negated(free), stop - start
    while missing:
        before = missing
        for a in range(start, stop):
            if not known & outcome[a] and not literals_of(first, codes, a) & ~known:
                at, other = place(outcome[a]), place(negated(outcome[a]))
                for w in range(n_words):
                    found = 0
                    for i in range(first[a], first[a + 1]):
                        found |= meet(codes[i], planes, w)
                    planes[at, w], planes[other, w] = found, everything & ~found
                known |= outcome[a] | negated(outcome[a])
                missing -= 1
        if missing == before:
            return 0
    return n_words


@kernel_part
def meet(code: int, planes: Ints, w: int) -> int:
    """Return word w of the plane of a conjunction."""
    compact()
    found, rest = planes[-1, w], code
    while rest:
        bit = rest & -rest
        rest ^= bit
        found &= planes[place(bit), w]
    return found


@kernel_part
def is_irredundant(first: Ints, codes: Ints, atom: int, planes: Ints, n_words: int) -> bool:
    """Check whether an atom varies on a table, and changes its truth values with every deletion."""
    compact()
    some = every = False
    for w in range(n_words):
        left = 0
        for i in range(first[atom], first[atom + 1]):
            left |= meet(codes[i], planes, w)
        some = some or left != 0
        every = every or left != planes[-1, w]
    if not some or not every:
        return False
    for i in range(first[atom], first[atom + 1]):
        # the configurations on which this disjunct matters decide on every deletion from it
        if first[atom + 1] - first[atom] > 1 and not _differs(first, codes, atom, i, ZERO, planes, n_words):
            return False
        rest = codes[i]
        if rest & (rest - 1):
            while rest:
                bit = rest & -rest
                rest ^= bit
                if not _differs(first, codes, atom, i, codes[i] ^ bit, planes, n_words):
                    return False
    return True


@kernel_part
def _differs(first: Ints, codes: Ints, atom: int, i: int, reduced: int, planes: Ints, n_words: int) -> bool:
    """Check whether an atom differs from itself with disjunct i `reduced` to some literals, or to nothing."""
    compact()
    for w in range(n_words):
        others = 0
        for j in range(first[atom], first[atom + 1]):
            if j != i:
                others |= meet(codes[j], planes, w)
        new = meet(reduced, planes, w) if reduced else 0
        if (others | new) != (others | meet(codes[i], planes, w)):
            return True
    return False
