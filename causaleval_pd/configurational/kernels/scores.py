"""Compiled counts of what the expositions of two crisp models share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part
from causaleval_pd.graphs.kernels.bits import popcount

from .expositions import ELEMENT, Expanding, Exposed, expose, make_expanding, make_exposed
from .forms import Forms, Room, make_room
from .planes import MAX_FACTORS, Ints, negated

#: shares of paths are counted in these parts, so that their sums are exact
PARTS = 720_720
_FULL = (1 << ELEMENT) - 1
_MAX_SIZE, _MAX_STEPS = 62, 20_000


class Models(NamedTuple):
    """Models as arrays: the atoms of each, the disjuncts of each atom and the literals of each disjunct, by their ends.

    A literal is 2 f + v for value v of factor number f of a table.
    """

    atoms: Ints
    outcome: Ints
    disjuncts: Ints
    ends: Ints
    literals: Ints


class Local(NamedTuple):
    """Memory of the words of two models: the place of each factor, outcomes, first disjuncts and disjuncts."""

    factor: Ints
    outcome: Ints
    first: Ints
    codes: Ints


class Memory(NamedTuple):
    """Memory of the evaluation of a pair."""

    local: Local
    room: Room
    expanding: Expanding
    truth: Exposed
    estimate: Exposed
    #: states of the search for an overlap
    overlap: Ints


def make_memory(n_factors: int) -> Memory:
    """Allocate memory for tables with so many factors."""
    return Memory(
        Local(np.full(n_factors + 1, -1, np.int64), *np.zeros((3, 512), np.int64)),
        make_room(),
        make_expanding(),
        make_exposed(),
        make_exposed(),
        np.zeros((4, 64), np.int64),
    )


@kernel_part
def localise(models: Models, which: int, n: int, local: Local) -> int:
    """Write a model as words of the pair's `n` factors so far; return how many they are then, -1 for too many."""
    start, stop = models.atoms[which], models.atoms[which + 1]
    d = 0
    if stop - start > 64:
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
    for a in range(models.atoms[which], models.atoms[which + 1]):
        local.factor[models.outcome[a] >> 1] = -1
        for k in range(models.ends[models.disjuncts[a]], models.ends[models.disjuncts[a + 1]]):
            local.factor[models.literals[k] >> 1] = -1


@kernel_part
def best_overlap(own: Forms, a: int, other: Forms, b: int, disjuncts_first: bool, memory: Ints) -> int:
    """Return the best overlap of two formulas as 1024 literals + disjuncts, or the other way round; -1 for too long.

    Branch and bound over the partners of the disjuncts of `a`; equal intersections count once.
    """
    start, n = own.ends[a], own.ends[a + 1] - own.ends[a]
    begin, m = other.ends[b], other.ends[b + 1] - other.ends[b]
    if n > _MAX_SIZE or m > _MAX_SIZE:
        return -1
    bound, partner, both, score = memory[0], memory[1], memory[2], memory[3]
    bound[n] = 0
    for i in range(n - 1, -1, -1):
        most = 0
        for j in range(m):
            size = popcount(np.uint64(own.codes[start + i] & other.codes[begin + j]))
            most = max(most, size)
        worth = 0
        if most:
            worth = 1024 + most if disjuncts_first else 1024 * most + 1
        bound[i] = bound[i + 1] + worth
    best, depth, steps, used = 0, 0, 0, np.int64(0)
    partner[0], score[0] = -1, 0
    while depth >= 0:
        steps += 1
        if steps > _MAX_STEPS:
            return -1
        if depth == n or partner[depth] < 0:
            best = max(best, score[depth])
            if depth == n or score[depth] + bound[depth] <= best:
                depth -= 1
                if depth >= 0 and partner[depth] < m:
                    used &= ~(np.int64(1) << partner[depth])
                continue
        # the next partner of this disjunct; m stands for none
        j, found = partner[depth] + 1, np.int64(0)
        while j < m:
            found = own.codes[start + depth] & other.codes[begin + j]
            if found and not used >> j & 1:
                new = True
                for i in range(depth):
                    new = new and both[i] != found
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
            size = popcount(np.uint64(found))
            worth = 1024 + size if disjuncts_first else 1024 * size + 1
            used |= np.int64(1) << j
            both[depth] = found
        score[depth + 1] = score[depth] + worth
        depth += 1
        partner[depth] = -1
    return best


@kernel_part
def shared_forms(own: Exposed, a: int, other: Exposed, b: int, disjuncts_first: bool, memory: Ints) -> int:
    """Count the literals that the formulas of an outcome share with their best counterparts; -1 where left to Python."""
    total, forms, others = 0, own.forms, other.forms
    for i in range(own.form_ends[a], own.form_ends[a + 1]):
        size = 0
        for k in range(forms.ends[i], forms.ends[i + 1]):
            size += popcount(np.uint64(forms.codes[k]))
        equal, most_literals, most_disjuncts, first = False, 0, 0, 0
        for j in range(other.form_ends[b], other.form_ends[b + 1]):
            if others.ends[j + 1] - others.ends[j] == forms.ends[i + 1] - forms.ends[i]:
                same = True
                for k in range(forms.ends[i + 1] - forms.ends[i]):
                    same = same and forms.codes[forms.ends[i] + k] == others.codes[others.ends[j] + k]
                equal = equal or same
        both = equal
        if not equal:
            for j in range(other.form_ends[b], other.form_ends[b + 1]):
                found = best_overlap(forms, i, others, j, disjuncts_first, memory)
                if found < 0:
                    return -1
                first = max(first, found)
                most_literals = max(most_literals, found >> 10)
                most_disjuncts = max(most_disjuncts, found & 1023)
                memory[0, 63] = 0
            if not disjuncts_first:
                both = most_literals << 10 | most_disjuncts == first
        if equal:
            total += size
        elif disjuncts_first:
            total += first & 1023
        else:
            total += most_literals if both else 1
    return total


@kernel_part
def shared_parts(own: Exposed, a: int, other: Exposed, b: int) -> int:
    """Count the literals that the conjunctions of an outcome share with their best counterparts."""
    total = 0
    for i in range(own.conjunction_ends[a], own.conjunction_ends[a + 1]):
        most = 0
        for j in range(other.conjunction_ends[b], other.conjunction_ends[b + 1]):
            most = max(most, popcount(np.uint64(own.conjunctions[i] & other.conjunctions[j])))
        total += most
    return total


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
def shared_paths(own: Exposed, a: int, other: Exposed, b: int, of_truth: bool, partial: bool, known: int) -> int:
    """Count the paths to an outcome that the other side has, in `PARTS` of one.

    Of an estimate, a path counts if it is an end of a path of the truth without the factors that are not `known`; of a
    truth, by the share of the longest end that the estimate has, or (`partial`) only whole paths.
    """
    total = 0
    for i in range(own.path_ends[a], own.path_ends[a + 1]):
        path = own.paths[i]
        length, most = length_of(path), 0
        for j in range(other.path_ends[b], other.path_ends[b + 1]):
            if of_truth:
                end = other.paths[j]
                n = length_of(end)
                if n <= length and path & ((np.int64(1) << (ELEMENT * n)) - 1) == end:
                    most = max(most, n)
            else:
                pruned, rest, n = np.int64(0), other.paths[j], 0
                while rest:
                    element = rest & _FULL
                    rest >>= ELEMENT
                    if known >> (element - 1) & 1:
                        pruned |= element << (ELEMENT * n)
                        n += 1
                if n >= length and pruned & ((np.int64(1) << (ELEMENT * length)) - 1) == path:
                    most = length
        total += PARTS * most // length if partial or not of_truth else PARTS * (most == length)
    return total


@kernel_part
def count_side(
    own: Exposed, other: Exposed, of_truth: bool, disjuncts_first: bool, partial: bool, memory: Ints, into: Ints
) -> bool:
    """Count what one side shares; return False where it is left to Python."""
    into[:] = 0
    known = 0
    for i in range(own.path_ends[own.counts[0]]):
        rest = own.paths[i]
        while rest:
            bit = np.int64(1) << (rest & _FULL) - 1
            known |= bit | negated(bit)
            rest >>= ELEMENT
    into[9] = own.counts[1]
    for a in range(own.counts[0]):
        b = -1
        for k in range(other.counts[0]):
            if other.outcomes[k] == own.outcomes[a]:
                b = k
        if own.literals[a] < 0 or (b >= 0 and other.literals[b] < 0):
            into[8] += 1
        if own.literals[a] < 0:
            continue
        into[4] += popcount(np.uint64(own.literals[a]))
        for i in range(own.conjunction_ends[a], own.conjunction_ends[a + 1]):
            into[5] += popcount(np.uint64(own.conjunctions[i]))
        for k in range(own.forms.ends[own.form_ends[a]], own.forms.ends[own.form_ends[a + 1]]):
            into[6] += popcount(np.uint64(own.forms.codes[k]))
        into[7] += own.path_ends[a + 1] - own.path_ends[a]
        if b >= 0 and other.literals[b] >= 0:
            into[0] += popcount(np.uint64(own.literals[a] & other.literals[b]))
            into[1] += shared_parts(own, a, other, b)
            found = shared_forms(own, a, other, b, disjuncts_first, memory)
            if found < 0:
                return False
            into[2] += found
            into[3] += shared_paths(own, a, other, b, of_truth, partial, known)
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
    """Count what the expositions of pairs of models share.

    Parameters
    ----------
    truths, estimates : Models
        The models.
    truth_index, estimate_index : (n,) arrays
        Which of them make up a pair.
    capped, disjuncts_first, partial : bool
        The published limits of the size of minimal forms, and the rules of counterparts and of paths.
    memory : Memory
        Room for one pair.
    counts : (n, 2, 10) array
        Receives by side - estimate, truth - the complexity of literals, conjunctions, formulas and paths that is shared
        (paths in `PARTS`), the own complexity of each, the outcomes that are constant on either side, and the literals
        as written of the own ones.
    done : (n,) array
        Receives whether a pair was counted; others are left to Python.
    """
    before = np.int64(-1)
    local = memory.local
    for i in range(len(truth_index)):
        t, e = truth_index[i], estimate_index[i]
        done[i] = False
        n = localise(truths, t, 0, local)
        n_atoms = truths.atoms[t + 1] - truths.atoms[t]
        known = n >= 0 and (
            t == before
            or expose(
                local.outcome, local.first, local.codes, 0, n_atoms, capped, memory.expanding, memory.room, memory.truth
            )
        )
        before = t if known else -1
        if known:
            n = localise(estimates, e, n, local)
            n_atoms = estimates.atoms[e + 1] - estimates.atoms[e]
            if n >= 0 and expose(
                local.outcome,
                local.first,
                local.codes,
                0,
                n_atoms,
                capped,
                memory.expanding,
                memory.room,
                memory.estimate,
            ):
                one, other = memory.estimate, memory.truth
                done[i] = count_side(
                    one, other, False, disjuncts_first, partial, memory.overlap, counts[i, 0]
                ) and count_side(other, one, True, disjuncts_first, partial, memory.overlap, counts[i, 1])
            forget(estimates, e, local)
        forget(truths, t, local)
