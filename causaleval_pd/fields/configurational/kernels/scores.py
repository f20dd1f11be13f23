"""Compiled causal expositions of crisp models on their ideal data, and what two of them share.

What is too large for them is left to Python.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part
from causaleval_pd.graphs.kernels.bits import compact, popcount

from . import MAX_ATOMS, MAX_FACTORS, MAX_PARTS
from .forms import (
    MAX_DISJUNCTS,
    ZERO,
    Forms,
    Ints,
    Room,
    add_form,
    fill_planes,
    literals_of,
    make_forms,
    make_room,
    minimal_forms,
    negated,
    place,
)

#: elementary steps after which a model is left to Python, and paths to all outcomes
MAX_STEPS, MAX_PATHS = 50_000, 1_000
#: bits that an element of a path takes; the outcome has the lowest ones
ELEMENT = 6
_FULL = (1 << ELEMENT) - 1


class Exposed(NamedTuple):
    """The causal expositions of truth and estimate, one row each, outcome by outcome."""

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


class Local(NamedTuple):
    """Memory of the words of two models: the place of each factor, outcomes, first disjuncts and disjuncts."""

    factor: Ints
    outcome: Ints
    first: Ints
    codes: Ints


@kernel_part
def add_code(codes: Ints, n: int, code: int) -> int:
    """Add a code to a sorted list of `n` unless it is there; return the new length, -1 if room lacks or lacked."""
    compact()
    at = n
    while at > 0 and codes[at - 1] > code:
        at -= 1
    if n < 0 or (at and codes[at - 1] == code):
        return n
    if n == len(codes):
        return -1
    for i in range(n, at, -1):
        codes[i] = codes[i - 1]
    codes[at] = code
    return n + 1


@kernel_part
def negate(model: Local, atom: int, into: Ints, room: Ints) -> int:
    """Multiply the negation of an atom's formula out, without contradictions; return its size, -1 for no room."""
    compact()
    into[0], n = ZERO, ZERO + 1
    for i in range(model.first[atom], model.first[atom + 1]):
        m = ZERO
        for k in range(n):
            rest = negated(model.codes[i])
            while rest:
                bit = rest & -rest
                rest ^= bit
                if not into[k] & negated(bit):
                    m = add_code(room, m, into[k] | bit)
        for k in range(m):
            into[k] = room[k]
        n = m
        if n < 0:
            break
    return n


@kernel_part
def replaced(disjuncts: Ints, n: int, literal: int, causes: Ints, n_causes: int, into: Ints) -> int:
    """Replace a literal of `n` disjuncts by its causes; return how many disjuncts there are, -1 for no room."""
    compact()
    m = ZERO
    for k in range(n):
        if not disjuncts[k] & literal:
            m = add_code(into, m, disjuncts[k])
        else:
            for i in range(n_causes):
                m = add_code(into, m, (disjuncts[k] ^ literal) | causes[i])
    return m


@kernel_part
def expand(model: Local, n_atoms: int, atom: int, x: Expanding) -> bool:
    """List the candidates of an atom: its formula, and what results from replacing outcomes in every order."""
    compact()
    forms, lists, first = x.candidates, x.lists, model.first
    forms.counts[0], forms.ends[0], n = ZERO, ZERO, ZERO
    for i in range(first[atom], first[atom + 1]):
        n = add_code(lists[0], n, model.codes[i])
    add_form(forms, lists[0], ZERO, n, ZERO)
    which = 0
    while which < forms.counts[0]:
        begin, end = forms.ends[which], forms.ends[which + 1]
        literals = 0
        for k in range(begin, end):
            literals |= forms.codes[k]
        for other in range(n_atoms):
            positive, negative = model.outcome[other], negated(model.outcome[other])
            if not literals & (positive | negative):
                continue
            causes = model.codes[first[other] : first[other + 1]]
            n, now = replaced(forms.codes[begin:end], end - begin, positive, causes, len(causes), lists[0]), 0
            if n >= 0 and literals & negative:
                if x.sizes[other] < 0:
                    x.sizes[other] = negate(model, other, x.negations[other], lists[1])
                    if x.sizes[other] < 0:
                        return False
                n, now = replaced(lists[0], n, negative, x.negations[other], x.sizes[other], lists[1]), 1
            if n < 0 or (n and not add_form(forms, lists[now], ZERO, n, ZERO)):
                return False
        which += 1
    return True


@kernel_part
def predecessors(model: Local, n_atoms: int, literal: int) -> int:
    """Return the literals of the atom that explains a literal, negated where it explains the negation."""
    compact()
    for a in range(n_atoms):
        if model.outcome[a] == literal:
            return literals_of(model.first, model.codes, a)
        if model.outcome[a] == negated(literal):
            return negated(literals_of(model.first, model.codes, a))
    return 0


@kernel_part
def length_of(path: int) -> int:
    """Return the number of elements of a path."""
    n = 0
    while path >> (ELEMENT * n):
        n += 1
        if n == 10:
            break
    return n


@kernel_part
def add_paths(model: Local, n_atoms: int, atom: int, allowed: int, paths: Ints, n: int, todo: Ints) -> int:
    """Add the paths from roots to an outcome through its causes; return how many there are now, -1 for no room."""
    compact()
    todo[0], left = place(model.outcome[atom]) + 1, 1
    while left:
        left -= 1
        path, length = todo[left], length_of(todo[left])
        front = np.int64(1) << ((path >> (ELEMENT * (length - 1))) & _FULL) - 1
        rest = predecessors(model, n_atoms, front) & allowed
        while rest:
            bit = rest & -rest
            rest ^= bit
            longer = path | (place(bit) + 1) << (ELEMENT * length)
            if left == len(todo) or n == len(paths):
                return -1
            if predecessors(model, n_atoms, bit):
                todo[left] = longer
                left += 1
            else:
                paths[n] = longer
                n += 1
    return n


@kernel_part
def expose(model: Local, n_atoms: int, capped: bool, x: Expanding, room: Room, exposed: Exposed, side: int) -> bool:
    """Compute one side's exposition; return False where it is left to Python."""
    compact()
    outcome, first, codes = model.outcome, model.first, model.codes
    n_words = ZERO if n_atoms > MAX_ATOMS else fill_planes(outcome, first, codes, ZERO, n_atoms, room.planes)
    if not n_words:
        return False
    factors = 0
    for a in range(n_atoms):
        factors |= literals_of(first, codes, a) | outcome[a]
    n = popcount(np.uint64(factors | negated(factors))) // 2 - n_atoms
    caps = (n, 2 * n, 3 * n + 5) if capped else (64, 64, 1 << 20)
    x.sizes[:] = -1
    forms, steps = Forms(exposed.codes[side], exposed.ends[side], exposed.n_forms[side]), np.int64(MAX_STEPS)
    conjunctions, paths = exposed.conjunctions[side], exposed.paths[side]
    forms.counts[0] = forms.ends[0] = exposed.counts[side, 1] = exposed.counts[side, 2] = 0
    exposed.counts[side, 0] = n_atoms
    n_conjunctions = n_paths = ZERO
    for a in range(n_atoms):
        exposed.outcomes[side, a] = outcome[a]
        some = every = False
        for w in range(n_words):
            plane = room.planes[place(outcome[a]), w]
            some, every = some or plane != 0, every or plane != room.planes[-1, w]
        if not some or not every:
            exposed.literals[side, a] = -1
            exposed.counts[side, 1] += popcount(np.uint64(literals_of(first, codes, a)))
            for i in range(first[a], first[a + 1]):
                exposed.counts[side, 2] += popcount(np.uint64(codes[i]))
        else:
            before = forms.counts[0]
            if not expand(model, n_atoms, a, x):
                return False
            steps = minimal_forms(place(outcome[a]), n_words, caps, x.candidates, steps, room, forms)
            if steps < 0:
                return False
            literals, begin, m = ZERO, n_conjunctions, ZERO
            for k in range(forms.ends[before], forms.ends[forms.counts[0]]):
                literals |= forms.codes[k]
                m = add_code(conjunctions[begin:], m, forms.codes[k])
            n_paths = add_paths(model, n_atoms, a, literals, paths, n_paths, room.parts[0])
            if m < 0 or n_paths < 0:
                return False
            n_conjunctions += m
            exposed.literals[side, a] = literals
        exposed.form_ends[side, a + 1] = forms.counts[0]
        exposed.conjunction_ends[side, a + 1] = n_conjunctions
        exposed.path_ends[side, a + 1] = n_paths
    return True


#: sizes of the arrays of `Expanding`
_EXPANDING = ((MAX_ATOMS, MAX_DISJUNCTS), MAX_ATOMS, (2, MAX_DISJUNCTS))
_MAX_SIZE, _MAX_STEPS = 62, 100_000


class Models(NamedTuple):
    """Models as arrays; a literal is 2 f + v for value v of factor number f of a table."""

    #: (n + 1,): the first atom of each model
    atoms: Ints
    #: (a,), (a + 1,): outcome and first disjunct of each atom
    outcome: Ints
    disjuncts: Ints
    #: (d + 1,): the first literal of each disjunct
    ends: Ints
    literals: Ints


class Memory(NamedTuple):
    """Memory of the evaluation of a pair."""

    local: Local
    room: Room
    expanding: Expanding
    exposed: Exposed
    #: states of the search for an overlap; the last one of the first row counts the steps of a pair
    overlap: Ints


def make_memory(n_factors: int) -> Memory:
    """Allocate memory for tables with a given number of factors."""
    n, forms = MAX_ATOMS + 1, make_forms()
    sizes = (n, n, len(forms.codes), len(forms.ends), 2, 2048, MAX_PATHS, n, n, n, 3)
    return Memory(
        Local(np.full(n_factors + 1, -1, np.int64), *np.zeros((3, 512), np.int64)),
        make_room(),
        Expanding(make_forms(1 << 15), *(np.zeros(shape, np.int64) for shape in _EXPANDING)),
        Exposed(*(np.zeros((2, size), np.int64) for size in sizes)),
        np.zeros((4, 64), np.int64),
    )


@kernel_part
def localise(models: Models, which: int, n: int, local: Local) -> int:
    """Write a model as words of the pair's `n` factors so far; return how many they are then, -1 where it is left."""
    compact()
    start, stop = models.atoms[which], models.atoms[which + 1]
    d = 0
    if not 0 < stop - start <= 64:
        return -1
    for a in range(start, stop):
        local.first[a - start] = d
        for i in range(models.disjuncts[a], models.disjuncts[a + 1] + 1):
            code, last = 0, i == models.disjuncts[a + 1]
            begin, end = (0, 1) if last else (models.ends[i], models.ends[i + 1])
            for k in range(begin, end):
                literal = models.outcome[a] if last else models.literals[k]
                f = literal >> 1
                if local.factor[f] < 0:
                    if n == MAX_FACTORS:
                        return -1
                    local.factor[f] = n
                    n += 1
                code |= np.int64(1) << (2 * local.factor[f] + (literal & 1))
            if last:
                local.outcome[a - start] = code
            else:
                if d == len(local.codes):
                    return -1
                local.codes[d] = code
                d += 1
    local.first[stop - start] = d
    return n


@kernel_part
def forget(models: Models, which: int, local: Local) -> None:
    """Free the places of a model's factors."""
    compact()
    for a in range(models.atoms[which], models.atoms[which + 1]):
        local.factor[models.outcome[a] >> 1] = -1
        for k in range(models.ends[models.disjuncts[a]], models.ends[models.disjuncts[a + 1]]):
            local.factor[models.literals[k] >> 1] = -1


@kernel_part
def best_overlap(x: Exposed, side: int, a: int, b: int, disjuncts_first: bool, memory: Ints) -> int:
    """Return the best overlap of formula `a` of a side and `b` of the other, as 1024 literals + disjuncts."""
    # With `disjuncts_first` as 1024 disjuncts + literals; -1 where it takes too long.
    # Branch and bound over the partners of the disjuncts of `a`; equal intersections count once.
    compact()
    codes, others, start, begin = x.codes[side], x.codes[1 - side], x.ends[side, a], x.ends[1 - side, b]
    n, m = x.ends[side, a + 1] - start, x.ends[1 - side, b + 1] - begin
    if n > _MAX_SIZE or m > _MAX_SIZE:
        return -1
    bound, partner, both, score = memory[0], memory[1], memory[2], memory[3]
    bound[n], partner[0], score[0] = 0, -1, 0
    for i in range(n - 1, -1, -1):
        most = ZERO
        for j in range(m):
            size = popcount(np.uint64(codes[start + i] & others[begin + j]))
            most = size if size > most else most
        worth = 0
        if most:
            worth = 1024 + most if disjuncts_first else 1024 * most + 1
        bound[i] = bound[i + 1] + worth
    best, depth, used = 0, 0, np.int64(0)
    while depth >= 0:
        memory[0, 63] += 1
        if memory[0, 63] > _MAX_STEPS:
            return -1
        if depth == n or partner[depth] < 0:
            best = score[depth] if score[depth] > best else best
            if depth == n or score[depth] + bound[depth] <= best:
                depth -= 1
                if depth >= 0 and partner[depth] < m:
                    used &= ~(np.int64(1) << partner[depth])
                continue
        # the next partner of this disjunct; m stands for none
        j, overlap = partner[depth] + 1, np.int64(0)
        while j < m:
            overlap = codes[start + depth] & others[begin + j]
            if overlap and not used >> j & 1:
                new = True
                for i in range(depth):
                    new = new and both[i] != overlap
                if new:
                    break
            j += 1
        partner[depth] = j
        if j > m:
            depth -= 1
            if depth >= 0 and partner[depth] < m:
                used &= ~(np.int64(1) << partner[depth])
            continue
        worth = 0
        both[depth] = 0
        if j < m:
            size = popcount(np.uint64(overlap))
            worth = 1024 + size if disjuncts_first else 1024 * size + 1
            used |= np.int64(1) << j
            both[depth] = overlap
        score[depth + 1] = score[depth] + worth
        depth += 1
        partner[depth] = -1
    return best


@kernel_part
def shared_forms(x: Exposed, side: int, a: int, b: int, disjuncts_first: bool, memory: Ints) -> int:
    """Count the literals that the formulas of an outcome share with their best counterparts; -1 if left to Python."""
    compact()
    total, codes, others = ZERO, x.codes[side], x.codes[1 - side]
    for i in range(x.form_ends[side, a], x.form_ends[side, a + 1]):
        begin, end = x.ends[side, i], x.ends[side, i + 1]
        most_literals = most_disjuncts = most = ZERO
        equal = False
        for j in range(x.form_ends[1 - side, b], x.form_ends[1 - side, b + 1]):
            at = x.ends[1 - side, j]
            if not equal and x.ends[1 - side, j + 1] - at == end - begin:
                equal = True
                for k in range(end - begin):
                    equal = equal and codes[begin + k] == others[at + k]
        if equal:
            for k in range(begin, end):
                total += popcount(np.uint64(codes[k]))
            continue
        for j in range(x.form_ends[1 - side, b], x.form_ends[1 - side, b + 1]):
            overlap = best_overlap(x, side, i, j, disjuncts_first, memory)
            if overlap < 0:
                return -1
            most = overlap if overlap > most else most
            most_literals = overlap >> 10 if overlap >> 10 > most_literals else most_literals
            most_disjuncts = overlap & 1023 if overlap & 1023 > most_disjuncts else most_disjuncts
        if disjuncts_first:
            total += most & 1023
        else:
            # the published programs count one literal where no overlap has both maxima
            total += most_literals if most == most_literals << 10 | most_disjuncts else 1
    return total


@kernel_part
def shared_parts(x: Exposed, side: int, a: int, b: int) -> int:
    """Count the literals that the conjunctions of an outcome share with their best counterparts."""
    compact()
    total = ZERO
    for i in range(x.conjunction_ends[side, a], x.conjunction_ends[side, a + 1]):
        most = ZERO
        for j in range(x.conjunction_ends[1 - side, b], x.conjunction_ends[1 - side, b + 1]):
            size = popcount(np.uint64(x.conjunctions[side, i] & x.conjunctions[1 - side, j]))
            most = size if size > most else most
        total += most
    return total


@kernel_part
def shared_paths(x: Exposed, side: int, a: int, b: int, partial: bool, known: int) -> int:
    """Count the paths to an outcome that the other side has, in `MAX_PARTS` of one."""
    # Of an estimate (side 0), a path counts if it is an end of a path of the truth without the factors that are not
    # `known`; of a truth, by the share of the longest end that the estimate has, or only whole paths (not `partial`).
    compact()
    total = ZERO
    for i in range(x.path_ends[side, a], x.path_ends[side, a + 1]):
        path = x.paths[side, i]
        length, most = length_of(path), ZERO
        for j in range(x.path_ends[1 - side, b], x.path_ends[1 - side, b + 1]):
            rest, pruned, n = x.paths[1 - side, j], ZERO, ZERO
            while rest:
                element = rest & _FULL
                rest >>= ELEMENT
                if side == 1 or known >> (element - 1) & 1:
                    pruned |= element << (ELEMENT * n)
                    n += 1
            shorter = n if n < length else length
            wanted = n if side == 1 else length
            if shorter == wanted and wanted > most and (path ^ pruned) & ((np.int64(1) << (ELEMENT * wanted)) - 1) == 0:
                most = wanted
        if partial or side == 0:
            total += MAX_PARTS * most // length
        elif most == length:
            total += MAX_PARTS
    return total


@kernel_part
def count_side(x: Exposed, side: int, disjuncts_first: bool, partial: bool, memory: Ints, into: Ints) -> bool:
    """Count what one side shares with the other; return False where it is left to Python."""
    compact()
    other = 1 - side
    into[:] = 0
    known = ZERO
    for i in range(x.path_ends[side, x.counts[side, 0]]):
        rest = x.paths[side, i]
        while rest:
            bit = np.int64(1) << (rest & _FULL) - 1
            known |= bit | negated(bit)
            rest >>= ELEMENT
    into[9], into[10] = x.counts[side, 1], x.counts[side, 2]
    for a in range(x.counts[side, 0]):
        b = ZERO - 1
        for k in range(x.counts[other, 0]):
            if x.outcomes[other, k] == x.outcomes[side, a]:
                b = k
        literals = x.literals[side, a]
        shared = x.literals[other, b] if b >= 0 else ZERO
        if literals < 0 or shared < 0:
            into[8] += 1
        if literals < 0:
            continue
        into[4] += popcount(np.uint64(literals))
        for i in range(x.conjunction_ends[side, a], x.conjunction_ends[side, a + 1]):
            into[5] += popcount(np.uint64(x.conjunctions[side, i]))
        for k in range(x.ends[side, x.form_ends[side, a]], x.ends[side, x.form_ends[side, a + 1]]):
            into[6] += popcount(np.uint64(x.codes[side, k]))
        into[7] += x.path_ends[side, a + 1] - x.path_ends[side, a]
        if b >= 0 and shared >= 0:
            into[0] += popcount(np.uint64(literals & shared))
            into[1] += shared_parts(x, side, a, b)
            n_literals = shared_forms(x, side, a, b, disjuncts_first, memory)
            if n_literals < 0:
                return False
            into[2] += n_literals
            into[3] += shared_paths(x, side, a, b, partial, known)
    return True


@kernel
def count_pairs(
    truths: Models,
    estimates: Models,
    truth_index: Ints,
    estimate_index: Ints,
    capped: bool,
    disjuncts_first: bool,
    partial: bool,
    memory: Memory,
    counts: Ints,
    done: NDArray[np.bool_],
) -> None:
    """Count what the expositions of pairs of models share."""
    # `counts` receives by side - estimate, truth - the complexity of literals, conjunctions, formulas and paths that is
    # shared (paths in `MAX_PARTS`), the own complexity of each, the outcomes that are constant on either side, and the
    # literals, and literals in disjuncts, of the own ones; `done` whether a pair was counted: others are left to
    # Python.
    compact()
    before, local = np.int64(-1), memory.local
    for i in range(len(truth_index)):
        # the estimate has side 0, the truth side 1; its factors come first, so that its exposition stays
        fine, n = True, ZERO
        for side in range(1, -1, -1):
            which = truth_index[i] if side else estimate_index[i]
            models = truths if side else estimates
            n = localise(models, which, n, local) if fine else n
            fine = fine and n >= 0
            if fine and not (side and which == before):
                n_atoms = models.atoms[which + 1] - models.atoms[which]
                fine = expose(local, n_atoms, capped, memory.expanding, memory.room, memory.exposed, side)
            if side:
                before = which if fine else np.int64(-1)
        memory.overlap[0, 63] = 0
        for side in range(2):
            fine = fine and count_side(memory.exposed, side, disjuncts_first, partial, memory.overlap, counts[i, side])
            forget(truths if side else estimates, truth_index[i] if side else estimate_index[i], local)
        done[i] = fine
