"""Compiled truth tables of one crisp model, and the minimal forms of an outcome on them.

A literal is one bit of a word: bit 2 f + v of factor f with value v. A conjunction is the word of its literals. A
literal's plane has a bit for each configuration of the free factors. Words are signed, because numba makes a float of a
signed and an unsigned number; none uses the sign but planes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causaleval_pd.execution.compilation import kernel_part
from causaleval_pd.graphs.kernels.bits import compact, lowest, popcount

from . import MAX_FREE

Ints = NDArray[np.int64]

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
    literals = 0
    for i in range(first[atom], first[atom + 1]):
        literals |= codes[i]
    return literals


@kernel_part
def sort_codes(codes: Ints, begin: int, end: int) -> None:
    """Sort some codes by insertion."""
    compact()
    for i in range(begin + 1, end):
        code, j = codes[i], i
        while j > begin and codes[j - 1] > code:
            codes[j] = codes[j - 1]
            j -= 1
        codes[j] = code


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
                    word = 0
                    for i in range(first[a], first[a + 1]):
                        word |= meet(codes[i], planes, w)
                    planes[at, w], planes[other, w] = word, everything & ~word
                known |= outcome[a] | negated(outcome[a])
                missing -= 1
        if missing == before:
            return 0
    return n_words


@kernel_part
def meet(code: int, planes: Ints, w: int) -> int:
    """Return word w of the plane of a conjunction."""
    compact()
    word, rest = planes[-1, w], code
    while rest:
        bit = rest & -rest
        rest ^= bit
        word &= planes[place(bit), w]
    return word


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


#: literals of a conjunction, conjunctions of a pool, and disjuncts of a candidate, of what the kernels take
MAX_LITERALS, MAX_POOL, MAX_DISJUNCTS = 12, 60, 512
_SLOTS, _CODES, _FORMS = 1024, 4096, 1024


class Forms(NamedTuple):
    """Formulas: the codes of form i are codes[ends[i] : ends[i + 1]], in order; counts[0] is their number."""

    codes: Ints
    ends: Ints
    counts: Ints


class Room(NamedTuple):
    """Memory of the search for the minimal forms of one outcome."""

    #: planes of all literals; the last has all rows
    planes: Ints
    #: planes and codes of the parts of a conjunction, and whether each is sufficient
    part_planes: Ints
    parts: Ints
    #: table of the conjunctions met: code, place of their minimal parts, how many; and these parts
    slots: Ints
    minimal: Ints
    #: planes of the pool, and of what is covered at each depth
    pool: Ints
    pool_planes: Ints
    covered: Ints
    stack: Ints
    #: partners of a matching: left and right ones, the queue, and by whom a right one was reached
    partners: Ints


def make_room() -> Room:
    """Allocate the memory of one search."""
    empty = np.zeros
    return Room(
        empty((64, MAX_WORDS), np.int64),
        empty((1 << MAX_LITERALS, MAX_WORDS), np.int64),
        empty((2, 1 << MAX_LITERALS), np.int64),
        empty((3, _SLOTS), np.int64),
        empty(_CODES, np.int64),
        empty(MAX_POOL + 2, np.int64),
        empty((MAX_POOL + 2, MAX_WORDS), np.int64),
        empty((MAX_POOL + 2, MAX_WORDS), np.int64),
        empty((3, MAX_POOL + 2), np.int64),
        empty((4, MAX_DISJUNCTS + MAX_POOL), np.int64),
    )


def make_forms(codes: int = _CODES * 4, forms: int = _FORMS) -> Forms:
    """Allocate room for formulas."""
    return Forms(np.zeros(codes, np.int64), np.zeros(forms + 1, np.int64), np.zeros(2, np.int64))


@kernel_part
def add_form(forms: Forms, codes: Ints, begin: int, end: int, since: int) -> bool:
    """Add a formula unless it is among those from `since` on; return False where there is no room."""
    compact()
    n, size = forms.counts[0], end - begin
    for i in range(since, n):
        if forms.ends[i + 1] - forms.ends[i] == size:
            same = True
            for k in range(size):
                if forms.codes[forms.ends[i] + k] != codes[begin + k]:
                    same = False
                    break
            if same:
                return True
    at = forms.ends[n]
    if n + 1 >= len(forms.ends) or at + size > len(forms.codes):
        return False
    for k in range(size):
        forms.codes[at + k] = codes[begin + k]
    forms.ends[n + 1] = at + size
    forms.counts[0] = n + 1
    return True


@kernel_part
def minimal_parts(code: int, outcome: int, n_words: int, room: Room, used: int) -> tuple[int, int, int]:
    """Find the minimally sufficient parts of a conjunction."""
    # Returns where they begin among `room.minimal`, how many they are, and how much of it is used; -1 for no room. A
    # part is minimally sufficient if it is satisfied, all rows that satisfy it have the outcome, and no part of it is
    # so.
    compact()
    slots, slot = room.slots, (code ^ (code >> 13) ^ (code >> 29)) & (_SLOTS - 1)
    tries = 0
    while slots[2, slot] >= 0 and slots[0, slot] != code:
        slot = (slot + 1) & (_SLOTS - 1)
        tries += 1
        if tries == _SLOTS - 1:
            return -1, 0, used
    if slots[2, slot] >= 0:
        return slots[1, slot], slots[2, slot], used
    begin, n, rest = used, 0, code
    planes, part_planes, parts = room.planes, room.part_planes, room.parts
    if popcount(np.uint64(code)) > MAX_LITERALS:
        return -1, 0, used
    parts[0, 0] = 0
    for w in range(n_words):
        part_planes[0, w] = planes[-1, w]
    total = 1
    while rest:
        # double the parts by one literal more
        bit = rest & -rest
        rest ^= bit
        at = place(bit)
        for i in range(total):
            parts[0, total + i] = parts[0, i] | bit
            for w in range(n_words):
                part_planes[total + i, w] = part_planes[i, w] & planes[at, w]
        total *= 2
    for i in range(1, total):
        satisfied, sufficient = False, True
        for w in range(n_words):
            satisfied = satisfied or part_planes[i, w] != 0
            sufficient = sufficient and part_planes[i, w] & ~planes[outcome, w] == 0
        parts[1, i] = sufficient
        left = i
        while left and satisfied and sufficient:
            low = left & -left
            left ^= low
            if i != low and parts[1, i ^ low]:
                satisfied = False
        if satisfied and sufficient:
            if begin + n == len(room.minimal):
                return -1, 0, used
            room.minimal[begin + n] = parts[0, i]
            n += 1
    slots[0, slot], slots[1, slot], slots[2, slot] = code, begin, n
    return begin, n, begin + n


@kernel_part
def injects(smaller: Ints, n: int, larger: Ints, begin: int, end: int, partners: Ints) -> bool:
    """Check whether conjunctions are contained in different conjunctions of a formula, by augmenting paths."""
    compact()
    of_left, of_right, queue, reached_by = partners[0], partners[1], partners[2], partners[3]
    m = end - begin
    if n > m:
        return False
    for j in range(m):
        of_right[j] = -1
    for i in range(n):
        for j in range(m):
            reached_by[j] = -1
        queue[0], head, tail, free = i, 0, 1, -1
        of_left[i] = -1
        while head < tail and free < 0:
            x = queue[head]
            head += 1
            for j in range(m):
                if reached_by[j] < 0 and smaller[x] & ~larger[begin + j] == 0:
                    reached_by[j] = x
                    if of_right[j] < 0:
                        free = j
                        break
                    queue[tail] = of_right[j]
                    tail += 1
        if free < 0:
            return False
        while free >= 0:
            x = reached_by[free]
            following = of_left[x]
            of_left[x], of_right[free] = free, x
            free = following if x != i else -1
    return True


@kernel_part
def covers(
    n_pool: int,
    outcome: int,
    n_words: int,
    caps: tuple[int, int, int],
    candidates: Forms,
    which: int,
    since: int,
    steps: int,
    room: Room,
    found: Forms,
) -> int:
    """Add the minimal covers of an outcome that fit a candidate; return the steps that are left, -1 for none."""
    compact()
    planes, pool, stack, covered = room.planes, room.pool, room.stack, room.covered
    begin, end = candidates.ends[which], candidates.ends[which + 1]
    chosen, codes = stack[2], room.parts[0]
    depth, entering = ZERO, True
    stack[0, 0] = (np.int64(1) << n_pool) - 1
    for w in range(n_words):
        covered[0, w] = 0
    while depth >= 0:
        steps -= 1
        if steps < 0:
            return -1
        if entering:
            entering = False
            stack[1, depth] = 0
            row_word, row = -1, np.int64(0)
            for w in range(n_words):
                missing = planes[outcome, w] & ~covered[depth, w]
                if missing:
                    row_word, row = w, missing & -missing
                    break
            if row_word < 0:
                size = 0
                for i in range(depth):
                    codes[i] = pool[chosen[i]]
                    size += popcount(np.uint64(codes[i]))
                if (
                    size <= caps[2]
                    and depth <= caps[1]
                    and injects(codes, depth, candidates.codes, begin, end, room.partners)
                ):
                    sort_codes(codes, ZERO, depth)
                    if not add_form(found, codes, ZERO, depth, since):
                        return -1
            elif depth < caps[1]:
                for k in range(n_pool):
                    if stack[0, depth] >> k & 1 and room.pool_planes[k, row_word] & row:
                        stack[1, depth] |= np.int64(1) << k
        if not stack[1, depth]:
            depth -= 1
            continue
        low = stack[1, depth] & -stack[1, depth]
        stack[1, depth] ^= low
        stack[0, depth] ^= low
        chosen[depth] = place(low)
        if _all_needed(chosen, depth + 1, n_words, room.pool_planes):
            stack[0, depth + 1] = stack[0, depth]
            for w in range(n_words):
                covered[depth + 1, w] = covered[depth, w] | room.pool_planes[chosen[depth], w]
            depth += 1
            entering = True
    return steps


@kernel_part
def _all_needed(chosen: Ints, n: int, n_words: int, planes: Ints) -> bool:
    """Check whether each of the chosen planes has a row of its own."""
    compact()
    for i in range(n):
        needed = False
        for w in range(n_words):
            others = 0
            for j in range(n):
                if j != i:
                    others |= planes[chosen[j], w]
            needed = needed or planes[chosen[i], w] & ~others != 0
        if not needed:
            return False
    return True


@kernel_part
def minimal_forms(
    outcome: int, n_words: int, caps: tuple[int, int, int], candidates: Forms, steps: int, room: Room, found: Forms
) -> int:
    """Add the minimal forms of the candidates; return the steps that are left, -1 for none."""
    compact()
    since, used = found.counts[0], ZERO
    room.slots[2, :] = -1
    for which in range(candidates.counts[0]):
        n = ZERO
        for k in range(candidates.ends[which], candidates.ends[which + 1]):
            begin, size, used = minimal_parts(candidates.codes[k], outcome, n_words, room, used)
            if begin < 0:
                return -1
            for i in range(begin, begin + size):
                code, new = room.minimal[i], True
                for j in range(n):
                    new = new and room.pool[j] != code
                if new and popcount(np.uint64(code)) <= caps[0]:
                    if n == MAX_POOL:
                        return -1
                    room.pool[n] = code
                    n += 1
        covering = True
        for w in range(n_words):
            together = 0
            for j in range(n):
                room.pool_planes[j, w] = meet(room.pool[j], room.planes, w)
                together |= room.pool_planes[j, w]
            covering = covering and together == room.planes[outcome, w]
        if covering:
            steps = covers(n, outcome, n_words, caps, candidates, which, since, steps, room, found)
            if steps < 0:
                return -1
    return steps
