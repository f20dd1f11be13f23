"""Minimal forms: what remains of a formula when everything that the data do not require is deleted.

Nothing is ever added or merged. A conjunction is minimally sufficient if no part of it is sufficient already, and a
minimal form is a set of minimally sufficient conjunctions, each needed, that are contained in different disjuncts of
the formula [1]_.

References
----------
.. [1] Baumgartner, M. & Falk, C. (2024). Quantifying the quality of configurational causal models. Journal of Causal
   Inference 12. doi:10.1515/jci-2023-0032
"""

from __future__ import annotations

import itertools
import sys
from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from ..formulas.truth_table import FuzzyTable, TruthTable
from ..formulas.vocabulary import Work, bits, union
from .matching import injects

#: a formula of a vocabulary: conjunctions as integers
Form = frozenset[int]


@dataclass(frozen=True)
class Caps:
    """Size that a minimal form may have."""

    #: literals of one disjunct
    conjuncts: int
    #: number of disjuncts
    disjuncts: int
    #: literals of all disjuncts
    complexity: int

    @classmethod
    def ideal(cls, n_factors: int, n_outcomes: int) -> Caps:
        """Caps of the published evaluation on ideal data."""
        n = n_factors - n_outcomes
        complexity = 3 * n + 5
        return cls(min(n, complexity), min(2 * n, complexity), complexity)

    def allow(self, form: Collection[int]) -> bool:
        """Check whether a form is within the caps on disjuncts and complexity."""
        return len(form) <= self.disjuncts and sum(code.bit_count() for code in form) <= self.complexity


#: conjunctions from which on their parts are found at once
FEWEST_AT_ONCE = 32
#: configurations without the outcome, and hitting sets of the literals that these lack, up to which that is done
MAX_NEGATIVE, MAX_HITTING_SETS = 64, 4096

NO_CAPS = Caps(sys.maxsize, sys.maxsize, sys.maxsize)


class Minimiser:
    """Minimal forms of an outcome on a truth table, with perfect consistency and coverage."""

    def __init__(self, table: TruthTable, outcome: int, caps: Caps, work: Work | None = None) -> None:
        self.table, self.caps, self.work = table, caps, work or Work()
        #: operations on long planes take longer
        self.cost = 1 + (table.rows.bit_length() >> 14)
        self.positive = table.rows & table.planes[outcome]
        self.negative = table.rows & ~self.positive
        #: minimally sufficient conjunctions in order of discovery; a set of them is an integer
        self._pool: list[int] = []
        self._sufficient: dict[int, int] = {}
        self._covers: dict[int, list[Form]] = {}

    @property
    def constant(self) -> bool:
        """Whether the outcome does not vary, so that its causes are undefined."""
        return not self.positive or not self.negative

    def forms(self, *candidates: Form) -> set[Form]:
        """Return the minimal forms of some candidates."""
        found, known = set[Form](), self._sufficient
        new = {one for form in candidates for one in form} - known.keys()
        if not self._parts_by_exclusion(new):
            for one in new:
                self._parts_of(one)
        for candidate in candidates:
            disjuncts = list(candidate)
            for cover in self._minimal_covers(union(map(known.__getitem__, disjuncts))):
                if cover not in found and (cover == candidate or injects(list(cover), disjuncts)):
                    found.add(cover)
        return found

    def _parts_of(self, conjunction: int) -> int:
        """Return the parts of a conjunction that are sufficient, satisfied, and have no sufficient part."""
        found = self._sufficient.get(conjunction)
        if found is None:
            found = self._sufficient[conjunction] = self._reduce(conjunction)
        return found

    def _parts_by_exclusion(self, conjunctions: set[int]) -> bool:
        """Find the parts of many conjunctions at once; return whether that was done, as it is for small tables."""
        # A conjunction is sufficient if it has one of the literals that each configuration without the outcome lacks.
        if self._pool or len(conjunctions) < FEWEST_AT_ONCE or self.negative.bit_count() > MAX_NEGATIVE:
            return False
        used = union(conjunctions)
        planes = [(bit, plane) for bit, plane in self.table.planes.items() if bit & used]
        lacked = {union([bit for bit, plane in planes if not plane & row]) for row in bits(self.negative)}
        sufficient = hitting_sets(lacked, self.work)
        if sufficient is None:
            return False
        self._pool = [one for one in sufficient if self.table.conjunction(one)]
        self.work.spend(len(conjunctions) * (self.cost + len(self._pool) // 16))
        numbered = [(1 << i, part) for i, part in enumerate(self._pool)]
        for one in conjunctions:
            self._sufficient[one] = sum([number for number, part in numbered if not part & ~one])
        return True

    def _reduce(self, conjunction: int) -> int:
        self.work.spend(self.cost + conjunction.bit_count())
        negative, plane = self.negative, self.table.conjunction
        satisfied = plane(conjunction)
        if satisfied & negative:  # parts are satisfied more often, so none is sufficient
            return 0
        parts, rest = list[int](), conjunction
        while rest:
            low = rest & -rest
            rest ^= low
            if not plane(conjunction ^ low) & negative:
                parts.append(conjunction ^ low)
        if parts:
            return union(map(self._parts_of, parts))
        return self._number(conjunction) if satisfied else 0

    def _number(self, conjunction: int) -> int:
        """Return a minimally sufficient conjunction as a bit."""
        if conjunction not in self._pool:
            self._pool.append(conjunction)
        return 1 << self._pool.index(conjunction)

    def _minimal_covers(self, parts: int) -> list[Form]:
        """Return the sets of conjunctions that cover the outcome, each of which is needed."""
        found = self._covers.get(parts)
        if found is None:
            found = []
            pool = [self._pool[bit.bit_length() - 1] for bit in bits(parts)]
            planes = {c: self.table.conjunction(c) for c in pool if c.bit_count() <= self.caps.conjuncts}
            if union(planes.values()) == self.positive:
                self._extend([], 0, planes, found)
            self._covers[parts] = found
        return found

    def _extend(self, chosen: list[int], covered: int, left: dict[int, int], found: list[Form]) -> None:
        """Branch over the conjunctions that cover the first configuration that is not covered yet."""
        self.work.spend(self.cost + len(left) // 8)
        open_rows = self.positive & ~covered
        if not open_rows:
            if _irredundant([self.table.conjunction(c) for c in chosen]) and self.caps.allow(chosen):
                found.append(frozenset(chosen))
            return
        if len(chosen) == self.caps.disjuncts:
            return
        row = open_rows & -open_rows
        left = {c: plane for c, plane in left.items() if plane & open_rows}
        for code in [c for c, plane in left.items() if plane & row]:
            plane = left.pop(code)  # later branches leave it out, so no cover is found twice
            self._extend([*chosen, code], covered | plane, left, found)


def hitting_sets(sets: Collection[int], work: Work) -> list[int] | None:
    """Return the minimal sets that share an element with each of some sets, or None if they are too many."""
    found = [0]
    for one in sorted(sets, key=int.bit_count):
        missed = [x for x in found if not x & one]
        if missed:
            found = [x for x in found if x & one]
            longer = [x | element for element in bits(one) for x in missed]
            if len(found) + len(longer) > MAX_HITTING_SETS:
                return None
            work.spend(len(longer) * (1 + len(found) // 16) // 4)
            found += [x for x in longer if not any([not smaller & ~x for smaller in found])] if found else longer
    return found


def _irredundant(planes: list[int]) -> bool:
    """Check whether every plane has a row of its own."""
    once = twice = 0
    for plane in planes:
        twice |= once & plane
        once |= plane
    alone = once & ~twice
    return all(plane & alone for plane in planes)


class ThresholdMinimiser:
    """Minimal forms of an outcome on cases, with consistency and coverage above thresholds."""

    # Every disjunct and the form reach the consistency, the form the coverage. Neither is monotone, so parts are tried
    # by size: a form is kept if no part of it is admissible.

    def __init__(
        self,
        table: TruthTable | FuzzyTable,
        outcome: int,
        caps: Caps,
        *,
        consistency: float,
        coverage: float,
        work: Work | None = None,
    ) -> None:
        cases: Any = table  # the two sorts of table have different sorts of planes
        self.table, self.caps, self.work = cases, caps, work or Work()
        self.outcome = cases.planes[outcome]
        self.n_cases = cases.size(cases.rows)
        tolerance = self.n_cases * 2.2e-16
        self.consistency, self.coverage = consistency - tolerance, coverage - tolerance
        self.total = cases.size(self.outcome)
        self._sufficient: dict[int, Form] = {}
        self._consistent: dict[int, bool] = {}

    @property
    def constant(self) -> bool:
        """Whether the outcome does not vary."""
        return self.total in (0, self.n_cases)

    def _is_consistent(self, cases: Any) -> bool:
        size = self.table.size(cases)
        return bool(size > 0 and self.table.both(cases, self.outcome) >= self.consistency * size)

    def minimally_sufficient(self, conjunction: int) -> Form:
        """Return the parts of a conjunction that reach the consistency and have no part that does."""
        found = self._sufficient.get(conjunction)
        if found is None:
            literals, kept = bits(conjunction), list[int]()
            for size in range(1, min(len(literals), self.caps.conjuncts) + 1):
                for part in map(sum, itertools.combinations(literals, size)):
                    self.work.spend()
                    if not any(smaller & part == smaller for smaller in kept) and self._consistent_part(part):
                        kept.append(part)
            found = self._sufficient[conjunction] = frozenset(kept)
        return found

    def _consistent_part(self, part: int) -> bool:
        known = self._consistent.get(part)
        if known is None:
            known = self._consistent[part] = self._is_consistent(self.table.conjunction(part))
        return known

    def forms(self, *candidates: Form) -> set[Form]:
        """Return the minimal forms of some candidates."""
        return {one for candidate in candidates for one in self._forms_of(candidate)}

    def _forms_of(self, candidate: Form) -> list[Form]:
        disjuncts = list(candidate)
        pool = sorted(frozenset().union(*map(self.minimally_sufficient, candidate)))
        found: list[Form] = []
        # a form may grow as long as none of its parts is admissible, and it fits into the candidate
        growing: list[tuple[int, ...]] = [()]
        for size in range(1, min(len(pool), len(disjuncts), self.caps.disjuncts) + 1):
            parts, growing = set(growing), []
            for part in sorted(parts):
                for code in pool[bisect_right(pool, part[-1]) if part else 0 :]:
                    form = (*part, code)
                    self.work.spend(size + len(disjuncts) // 4)
                    if not all(form[:i] + form[i + 1 :] in parts for i in range(size)):
                        continue
                    if not self.caps.allow(form) or not injects(form, disjuncts):
                        continue
                    if self._admissible(form):
                        found.append(frozenset(form))
                    else:
                        growing.append(form)
        return found

    def _admissible(self, form: Collection[int]) -> bool:
        cases = self.table.disjunction(form)
        return bool(self.table.both(cases, self.outcome) >= self.coverage * self.total) and self._is_consistent(cases)
