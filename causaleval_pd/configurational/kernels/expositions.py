"""Compiled causal expositions of crisp models on their ideal data; what is too large for them is left to Python."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causaleval_pd.execution.compilation import kernel_part
from causaleval_pd.graphs.kernels.bits import compact, popcount

from .forms import MAX_DISJUNCTS, Forms, Room, add_form, make_forms, minimal_forms
from .planes import MAX_ATOMS, ZERO, Ints, fill_planes, literals_of, negated, place

#: elementary steps after which a model is left to Python, and paths to all outcomes
MAX_STEPS, MAX_PATHS = 50_000, 1_000
#: bits that an element of a path takes; the outcome has the lowest ones
ELEMENT = 6
_FULL = (1 << ELEMENT) - 1


class Exposed(NamedTuple):
    """The causal expositions of truth and estimate, a row each, outcome by outcome."""

    #: outcomes and their causes, as words; the causes are -1 where the outcome is constant
    outcomes: Ints
    literals: Ints
    #: minimal formulas as in `Forms`
    codes: Ints
    ends: Ints
    n_forms: Ints
    #: conjunctions and paths, and where the formulas, conjunctions and paths of each outcome end
    conjunctions: Ints
    paths: Ints
    form_ends: Ints
    conjunction_ends: Ints
    path_ends: Ints
    #: number of atoms; literals, and literals in disjuncts, of those whose outcome is constant
    counts: Ints


class Expanding(NamedTuple):
    """Memory of the substitution of outcomes."""

    candidates: Forms
    #: the negated formula of each atom, and its size, -1 where it is not known yet
    negations: Ints
    sizes: Ints
    #: two lists of disjuncts
    lists: Ints


def make_exposed() -> Exposed:
    """Allocate room for two expositions."""
    n, forms = MAX_ATOMS + 1, make_forms()
    sizes = (n, n, len(forms.codes), len(forms.ends), 2, 2048, MAX_PATHS, n, n, n, 3)
    return Exposed(*(np.zeros((2, size), np.int64) for size in sizes))


def make_expanding() -> Expanding:
    """Allocate memory of substitution."""
    return Expanding(
        make_forms(1 << 15),
        np.zeros((MAX_ATOMS, MAX_DISJUNCTS), np.int64),
        np.zeros(MAX_ATOMS, np.int64),
        np.zeros((2, MAX_DISJUNCTS), np.int64),
    )


@kernel_part
def add_code(codes: Ints, n: int, code: int) -> int:
    """Add a code to a sorted list of `n` unless it is there; return the new length, -1 where there is no room."""
    compact()
    at = n
    while at and codes[at - 1] > code:
        at -= 1
    if at and codes[at - 1] == code:
        return n
    if n == len(codes):
        return -1
    for i in range(n, at, -1):
        codes[i] = codes[i - 1]
    codes[at] = code
    return n + 1


@kernel_part
def negate(first: Ints, codes: Ints, atom: int, into: Ints, room: Ints) -> int:
    """Multiply the negation of an atom's formula out, without contradictions; return its size, -1 for no room."""
    compact()
    into[0], n = ZERO, ZERO + 1
    for i in range(first[atom], first[atom + 1]):
        m = ZERO
        for k in range(n):
            rest = negated(codes[i])
            while rest:
                bit = rest & -rest
                rest ^= bit
                if not into[k] & negated(bit):
                    m = add_code(room, m, into[k] | bit)
                    if m < 0:
                        return -1
        for k in range(m):
            into[k] = room[k]
        n = m
    return n


@kernel_part
def expand(outcome: Ints, first: Ints, codes: Ints, start: int, stop: int, atom: int, x: Expanding) -> bool:
    """List the candidates of an atom: its formula, and what results from replacing outcomes in every order."""
    compact()
    found, lists = x.candidates, x.lists
    found.counts[0], found.ends[0], n = ZERO, ZERO, ZERO
    for i in range(first[atom], first[atom + 1]):
        n = add_code(lists[0], n, codes[i])
    add_form(found, lists[0], ZERO, n, ZERO)
    which = 0
    while which < found.counts[0]:
        begin, end = found.ends[which], found.ends[which + 1]
        literals = 0
        for k in range(begin, end):
            literals |= found.codes[k]
        for other in range(start, stop):
            positive, negative = outcome[other], negated(outcome[other])
            if not literals & (positive | negative):
                continue
            n = ZERO
            for k in range(begin, end):
                code = found.codes[k]
                if not code & positive:
                    n = add_code(lists[0], n, code)
                else:
                    for i in range(first[other], first[other + 1]):
                        n = add_code(lists[0], n, (code ^ positive) | codes[i])
                        if n < 0:
                            return False
                if n < 0:
                    return False
            now = 0
            if literals & negative:
                at = other - start
                if x.sizes[at] < 0:
                    x.sizes[at] = negate(first, codes, other, x.negations[at], lists[1])
                    if x.sizes[at] < 0:
                        return False
                m = ZERO
                for k in range(n):
                    code = lists[0, k]
                    if not code & negative:
                        m = add_code(lists[1], m, code)
                    else:
                        for i in range(x.sizes[at]):
                            m = add_code(lists[1], m, (code ^ negative) | x.negations[at, i])
                            if m < 0:
                                return False
                    if m < 0:
                        return False
                n, now = m, 1
            if n and not add_form(found, lists[now], ZERO, n, ZERO):
                return False
        which += 1
    return True


@kernel_part
def predecessors(outcome: Ints, first: Ints, codes: Ints, start: int, stop: int, literal: int) -> int:
    """Return the literals of the atom that explains a literal, negated where it explains the negation."""
    compact()
    for a in range(start, stop):
        if outcome[a] == literal:
            return literals_of(first, codes, a)
        if outcome[a] == negated(literal):
            return negated(literals_of(first, codes, a))
    return 0


@kernel_part
def add_paths(
    outcome: Ints,
    first: Ints,
    codes: Ints,
    start: int,
    stop: int,
    atom: int,
    allowed: int,
    paths: Ints,
    n: int,
    todo: Ints,
) -> int:
    """Add the paths from roots to an outcome through its causes; return how many there are now, -1 for no room."""
    compact()
    todo[0], left = place(outcome[atom]) + 1, 1
    while left:
        left -= 1
        path, length = todo[left], 0
        while path >> (ELEMENT * length) and length < MAX_ATOMS + 1:
            length += 1
        front = np.int64(1) << ((path >> (ELEMENT * (length - 1))) & _FULL) - 1
        rest = predecessors(outcome, first, codes, start, stop, front) & allowed
        while rest:
            bit = rest & -rest
            rest ^= bit
            longer = path | (place(bit) + 1) << (ELEMENT * length)
            if predecessors(outcome, first, codes, start, stop, bit):
                if left == len(todo):
                    return -1
                todo[left] = longer
                left += 1
            else:
                if n == len(paths):
                    return -1
                paths[n] = longer
                n += 1
    return n


@kernel_part
def expose(
    outcome: Ints,
    first: Ints,
    codes: Ints,
    start: int,
    stop: int,
    capped: bool,
    x: Expanding,
    room: Room,
    exposed: Exposed,
    side: int,
) -> bool:
    """Compute one side's exposition, of the atoms start .. stop - 1; return False where it is left to Python."""
    compact()
    if stop - start > MAX_ATOMS:
        return False
    n_words = fill_planes(outcome, first, codes, start, stop, room.planes)
    if not n_words:
        return False
    factors = 0
    for a in range(start, stop):
        factors |= literals_of(first, codes, a) | outcome[a]
    n = popcount(np.uint64(factors | negated(factors))) // 2 - (stop - start)
    caps = (n, 2 * n, 3 * n + 5) if capped else (64, 64, 1 << 20)
    x.sizes[:] = -1
    forms, steps = Forms(exposed.codes[side], exposed.ends[side], exposed.n_forms[side]), np.int64(MAX_STEPS)
    conjunctions, paths = exposed.conjunctions[side], exposed.paths[side]
    forms.counts[0] = forms.ends[0] = exposed.counts[side, 1] = exposed.counts[side, 2] = 0
    exposed.counts[side, 0] = stop - start
    n_conjunctions = n_paths = ZERO
    for a in range(start, stop):
        at = a - start
        exposed.outcomes[side, at] = outcome[a]
        some = every = False
        for w in range(n_words):
            plane = room.planes[place(outcome[a]), w]
            some, every = some or plane != 0, every or plane != room.planes[-1, w]
        if not some or not every:
            exposed.literals[side, at] = -1
            exposed.counts[side, 1] += popcount(np.uint64(literals_of(first, codes, a)))
            for i in range(first[a], first[a + 1]):
                exposed.counts[side, 2] += popcount(np.uint64(codes[i]))
        else:
            before = forms.counts[0]
            if not expand(outcome, first, codes, start, stop, a, x):
                return False
            steps = minimal_forms(place(outcome[a]), n_words, caps, x.candidates, steps, room, forms)
            if steps < 0:
                return False
            literals, begin, m = ZERO, n_conjunctions, ZERO
            for k in range(forms.ends[before], forms.ends[forms.counts[0]]):
                literals |= forms.codes[k]
                m = add_code(conjunctions[begin:], m, forms.codes[k])
                if m < 0:
                    return False
            n_conjunctions += m
            exposed.literals[side, at] = literals
            n_paths = add_paths(outcome, first, codes, start, stop, a, literals, paths, n_paths, room.parts[0])
            if n_paths < 0:
                return False
        exposed.form_ends[side, at + 1] = forms.counts[0]
        exposed.conjunction_ends[side, at + 1] = n_conjunctions
        exposed.path_ends[side, at + 1] = n_paths
    return True
