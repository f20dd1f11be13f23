"""Compiled draws of crisp models without redundancies, by rejection.

Every draw has a stream of its own, the counter-based generator of `graphs/kernels/draws.py` started at a hash of the
row's key and the number of the draw.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part
from causaleval_pd.graphs.kernels.bits import compact
from causaleval_pd.graphs.kernels.draws import STEP, mix, unit

from .forms import Ints, fill_planes, is_irredundant, negated, place, sort_codes

Words = NDArray[np.uint64]
_ONE = np.uint64(1)
#: sets of models that may have equal ones before a draw is given up
MAX_SETS = 1_000


@kernel_part
def propose(
    outcome: int,
    sizes: Ints,
    begin: int,
    end: int,
    n_factors: int,
    share: float,
    negative: int,
    state: np.uint64,
    codes: Ints,
) -> np.uint64:
    """Draw disjuncts begin .. end - 1: uniform subsets of the factors but the outcome's."""
    compact()
    outcome_factor, left = place(outcome) >> 1, 0
    for i in range(begin, end):
        left += sizes[i]
    for i in range(begin, end):
        code, chosen, missing = 0, np.int64(1) << outcome_factor, sizes[i]
        while missing:
            state += STEP
            f = np.int64(unit(state) * n_factors)
            if not chosen & (np.int64(1) << f):
                chosen |= np.int64(1) << f
                state += STEP
                value = np.int64(unit(state) >= share) if share >= 0 else np.int64(unit(state) * left >= negative)
                negative -= 1 - value
                left -= 1
                code |= np.int64(1) << (2 * f + value)
                missing -= 1
        codes[i] = code
    return state


@kernel_part
def is_cyclic(outcome: Ints, first: Ints, codes: Ints, start: int, stop: int) -> bool:
    """Check whether atoms start .. stop - 1 make a cycle of factors."""
    compact()
    left, done = stop - start, 0
    explained = 0
    for a in range(start, stop):
        explained |= outcome[a] | negated(outcome[a])
    while left:
        before = left
        for a in range(start, stop):
            causes = 0
            for i in range(first[a], first[a + 1]):
                causes |= codes[i] | negated(codes[i])
            if not done & outcome[a] and not causes & explained & ~done:
                done |= outcome[a] | negated(outcome[a])
                left -= 1
        if left == before:
            return True
    return False


@kernel
def draw_sets(
    key: np.uint64,
    begin: int,
    count: int,
    outcome: Ints,
    first: Ints,
    sizes: Ints,
    models: Ints,
    shapes: Ints,
    n_factors: int,
    share: float,
    negative: Ints,
    most: int,
    planes: Ints,
    drawn: Ints,
    proposed: Ints,
) -> None:
    """Draw sets of models for one row; draws begin .. begin + count - 1 of its key."""
    # Atoms have an `outcome`, a `first` disjunct and the `sizes` of their disjuncts; `models` are the first atoms,
    # `shapes` numbers that models of one shape share. `share` is the probability of a negative literal, or below 0 for
    # as many negative literals of every atom as `negative`. `drawn` receives the disjuncts, sorted within every atom,
    # `proposed` the number of proposed atoms, -1 where a model was given up after `most`.
    compact()
    for r in range(count):
        state = mix(mix(key + STEP) + (np.uint64(begin + r) + _ONE) * STEP)
        codes, proposed[r] = drawn[r], 0
        m = restarts = 0
        while m < len(shapes):
            start, stop, spent = models[m], models[m + 1], 0
            a = start
            while a < stop:
                spent += 1
                if spent > most:
                    break
                state = propose(outcome[a], sizes, first[a], first[a + 1], n_factors, share, negative[a], state, codes)
                n_words = fill_planes(outcome, first, codes, a, a + 1, planes)
                if not n_words or not is_irredundant(first, codes, a, planes, n_words):
                    continue
                a += 1
                if a - start > 1 and is_cyclic(outcome, first, codes, start, a):
                    a = start
                elif a == stop and stop - start > 1:
                    n_words = fill_planes(outcome, first, codes, start, stop, planes)
                    for b in range(start, stop):
                        if not n_words or not is_irredundant(first, codes, b, planes, n_words):
                            a = start
            proposed[r] += spent
            if spent > most:
                proposed[r] = -1
                break
            for b in range(start, stop):
                sort_codes(codes, first[b], first[b + 1])
            m += 1
            for other in range(m - 1):
                if shapes[other] == shapes[m - 1]:
                    shift, same = first[models[other]] - first[start], True
                    for i in range(first[start], first[stop]):
                        same = same and codes[i] == codes[i + shift]
                    if same:
                        # models of a set differ: all are drawn anew
                        m, restarts = 0, restarts + 1
                        break
            if restarts > MAX_SETS:
                proposed[r] = -1
                break
