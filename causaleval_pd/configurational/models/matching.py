"""Pairings of the disjuncts of two formulas; a conjunction is an int whose bits are its literals."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ..formulas.vocabulary import Work


def has_injection(options: Sequence[int]) -> bool:
    """Check whether every element has a partner of its own, given the bit set of each element's partners."""
    taken = 0
    for option in options:  # most often everyone can have the first partner that is left
        free = option & ~taken
        if not free:
            break
        taken |= free & -free
    else:
        return True
    owner: dict[int, int] = {}

    def augment(element: int, seen: set[int]) -> bool:
        rest = options[element]
        while rest:
            partner = rest & -rest
            rest ^= partner
            if partner not in seen:
                seen.add(partner)
                if partner not in owner or augment(owner[partner], seen):
                    owner[partner] = element
                    return True
        return False

    return all(augment(element, set()) for element in range(len(options)))


def injects(smaller: Sequence[int], larger: Sequence[int]) -> bool:
    """Check whether the conjunctions of one formula are contained in different conjunctions of the other."""
    n = len(smaller)
    if n > len(larger):
        return False
    used = set[int]()
    for x in smaller:  # most often everyone can have the first partner that is left
        for i, y in enumerate(larger):
            if not x & ~y and i not in used:
                used.add(i)
                break
        else:
            break
    else:
        return True
    options = []
    for x in smaller:
        # an element with n partners finds one that the others leave, so no more are needed
        partners = list(itertools.islice((i for i, y in enumerate(larger) if not x & ~y), n))
        if not partners:
            return False
        options.append(sum(1 << i for i in partners))
    return has_injection(options)


def best_overlap(
    left: Sequence[int], right: Sequence[int], *, disjuncts_first: bool = False, work: Work | None = None
) -> tuple[int, int]:
    """Find the largest overlap of two formulas, in literals and disjuncts, whose disjuncts are paired one to one."""
    # The overlap of a pairing is the set of its non-empty intersections, so that equal ones count once.
    # `disjuncts_first` prefers, and returns first, the number of disjuncts.
    rows = []
    for x in left:
        row = sorted({(both, i) for i, y in enumerate(right) if (both := x & y)}, key=lambda r: -r[0].bit_count())
        if row:
            rows.append(row)
    if len(rows) == 1:
        return (1, rows[0][0][0].bit_count()) if disjuncts_first else (rows[0][0][0].bit_count(), 1)
    if not rows:
        return (0, 0)
    rows.sort(key=len)
    return _Pairing(rows, disjuncts_first, work or Work()).best


class _Pairing:
    """Branch and bound over pairings; bounds are sums of the rows' largest intersections."""

    def __init__(self, rows: list[list[tuple[int, int]]], disjuncts_first: bool, work: Work) -> None:
        self.rows, self.disjuncts_first, self.work = rows, disjuncts_first, work
        self.bound = [(0, 0)]
        for row in reversed(rows):
            literals, disjuncts = self.bound[-1]
            self.bound.append((literals + row[0][0].bit_count(), disjuncts + 1))
        self.bound.reverse()
        self.best = (0, 0)
        self._extend(0, 0, frozenset(), 0)

    def _rank(self, literals: int, disjuncts: int) -> tuple[int, int]:
        return (disjuncts, literals) if self.disjuncts_first else (literals, disjuncts)

    def _extend(self, at: int, used: int, overlap: frozenset[int], literals: int) -> None:
        self.work.spend()
        self.best = max(self.best, self._rank(literals, len(overlap)))
        more_literals, more_disjuncts = self.bound[at]
        if at == len(self.rows) or self._rank(literals + more_literals, len(overlap) + more_disjuncts) <= self.best:
            return
        for both, partner in self.rows[at]:
            if not used >> partner & 1 and both not in overlap:
                self._extend(at + 1, used | 1 << partner, overlap | {both}, literals + both.bit_count())
        self._extend(at + 1, used, overlap, literals)
