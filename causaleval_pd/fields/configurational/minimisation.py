"""Minimal forms: what remains of a formula when everything that the data do not require is deleted.

Nothing is ever added or merged. A conjunction is minimally sufficient if no part of it is sufficient already, and a
minimal form is a set of minimally sufficient conjunctions, each needed, that are contained in different disjuncts of
the formula [1]_. A model without redundancies is in INUS form [2]_.

References
----------
.. [1] Baumgartner, M. & Falk, C. (2024). Quantifying the quality of configurational causal models. Journal of Causal
   Inference 12. doi:10.1515/jci-2023-0032
.. [2] Baumgartner, M. & Falk, C. (2023). Boolean difference-making: a modern regularity theory of causation. The
   British Journal for the Philosophy of Science 74. doi:10.1093/bjps/axz047
"""

from __future__ import annotations

import itertools
import math
import operator
import sys
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

from .formula import (
    BINARY,
    MAX_FORMS,
    Atom,
    Conjunction,
    Domains,
    FormulaTooLargeError,
    Literal,
    Model,
    Vocabulary,
    Work,
    bits,
    read_domains,
    require_equivalences,
    union,
)
from .reader import as_model
from .truth_table import TruthTable, free_planes, ideal_table

__all__ = ["redundancy_free"]


def injects(smaller: Sequence[Any], larger: Sequence[Any]) -> bool:
    """Check whether the conjunctions of one formula are contained in different conjunctions of the other."""
    # conjunctions are integers of a vocabulary, or sets of literals
    owner: dict[int, Any] = {}

    def augment(conjunction: Any, seen: set[int]) -> bool:
        for partner, other in enumerate(larger):
            if partner not in seen and conjunction & other == conjunction:
                seen.add(partner)
                if partner not in owner or augment(owner[partner], seen):
                    owner[partner] = conjunction
                    return True
        return False

    return len(smaller) <= len(larger) and all(augment(one, set()) for one in smaller)


def best_overlap(
    left: Sequence[int], right: Sequence[int], *, disjuncts_first: bool = False, work: Work | None = None
) -> tuple[int, int]:
    """Find the largest overlap of two formulas, in literals and disjuncts, whose disjuncts are paired one to one."""
    # The overlap of a pairing is the set of its non-empty intersections, so that equal ones count once.
    # `disjuncts_first` prefers, and returns first, the number of disjuncts.
    # Branch and bound over pairings; bounds are sums of the rows' largest intersections.
    budget = work or Work()
    rows = [sorted({(x & y, i) for i, y in enumerate(right) if x & y}, key=lambda r: -r[0].bit_count()) for x in left]
    rows = sorted(filter(None, rows), key=len)
    most = [row[0][0].bit_count() for row in rows]
    bounds = [sum(most[at:]) for at in range(len(rows) + 1)]
    best = (0, 0)

    def rank(literals: int, disjuncts: int) -> tuple[int, int]:
        return (disjuncts, literals) if disjuncts_first else (literals, disjuncts)

    def extend(at: int, used: int, overlap: frozenset[int], literals: int) -> None:
        nonlocal best
        budget.spend()
        best = max(best, rank(literals, len(overlap)))
        if at == len(rows) or rank(literals + bounds[at], len(overlap) + len(rows) - at) <= best:
            return
        for both, partner in rows[at]:
            if not used >> partner & 1 and both not in overlap:
                extend(at + 1, used | 1 << partner, overlap | {both}, literals + both.bit_count())
        extend(at + 1, used, overlap, literals)

    if len(rows) == 1:
        return rank(most[0], 1)
    if rows:
        extend(0, 0, frozenset(), 0)
    return best


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
        covers, known = set[Form](), self._sufficient
        new = {one for form in candidates for one in form} - known.keys()
        if not self._parts_by_exclusion(new):
            for one in new:
                self._parts_of(one)
        for candidate in candidates:
            disjuncts = list(candidate)
            for cover in self._minimal_covers(union(map(known.__getitem__, disjuncts))):
                if cover not in covers and (cover == candidate or injects(list(cover), disjuncts)):
                    covers.add(cover)
        return covers

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

    def _parts_of(self, conjunction: int) -> int:
        """Return the parts of a conjunction that are sufficient, satisfied, and have no sufficient part."""
        if conjunction in self._sufficient:
            return self._sufficient[conjunction]
        self.work.spend(self.cost + conjunction.bit_count())
        negative, plane = self.negative, self.table.conjunction
        satisfied, parts = plane(conjunction), 0
        if not satisfied & negative:  # else parts are satisfied more often, so none is sufficient
            shorter = [conjunction ^ bit for bit in bits(conjunction) if not plane(conjunction ^ bit) & negative]
            parts = union(map(self._parts_of, shorter))
            if satisfied and not shorter:
                if conjunction not in self._pool:
                    self._pool.append(conjunction)
                parts = 1 << self._pool.index(conjunction)
        self._sufficient[conjunction] = parts
        return parts

    def _minimal_covers(self, parts: int) -> list[Form]:
        """Return the sets of conjunctions that cover the outcome, each of which is needed."""
        covers = self._covers.get(parts)
        if covers is None:
            covers = []
            pool = [self._pool[bit.bit_length() - 1] for bit in bits(parts)]
            planes = {c: self.table.conjunction(c) for c in pool if c.bit_count() <= self.caps.conjuncts}
            if union(planes.values()) == self.positive:
                self._extend([], 0, planes, covers)
            self._covers[parts] = covers
        return covers

    def _extend(self, chosen: list[int], covered: int, left: dict[int, int], found: list[Form]) -> None:
        """Branch over the conjunctions that cover the first configuration that is not covered yet."""
        self.work.spend(self.cost + len(left) // 8)
        open_rows = self.positive & ~covered
        if not open_rows:
            once = twice = 0
            planes = [self.table.conjunction(c) for c in chosen]
            for plane in planes:
                once, twice = once | plane, twice | once & plane
            # each plane needs a row of its own
            if all(plane & once & ~twice for plane in planes) and self.caps.allow(chosen):
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
    minimal_sets = [0]
    for one in sorted(sets, key=int.bit_count):
        missed = [x for x in minimal_sets if not x & one]
        if missed:
            minimal_sets = [x for x in minimal_sets if x & one]
            longer = [x | element for element in bits(one) for x in missed]
            if len(minimal_sets) + len(longer) > MAX_HITTING_SETS:
                return None
            work.spend(len(longer) * (1 + len(minimal_sets) // 16) // 4)
            minimal_sets += [x for x in longer if not any([not smaller & ~x for smaller in minimal_sets])]
    return minimal_sets


class ThresholdMinimiser:
    """Minimal forms of an outcome on cases, with consistency and coverage above thresholds."""

    # Every disjunct and the form reach the consistency, the form the coverage. Neither is monotone, so parts are tried
    # by size: a form is kept if no part of it is admissible.

    def __init__(
        self,
        table: TruthTable,
        outcome: int,
        caps: Caps,
        *,
        consistency: float,
        coverage: float,
        work: Work | None = None,
    ) -> None:
        self.table, self.caps, self.work = table, caps, work or Work()
        self.outcome = table.planes[outcome]
        self.n_cases = table.size(table.rows)
        tolerance = self.n_cases * 2.2e-16
        self.consistency, self.coverage = consistency - tolerance, coverage - tolerance
        self.total = table.size(self.outcome)
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
        if conjunction not in self._sufficient:
            literals, parts = bits(conjunction), list[int]()
            for size in range(1, min(len(literals), self.caps.conjuncts) + 1):
                for part in map(sum, itertools.combinations(literals, size)):
                    self.work.spend()
                    if not any(smaller & part == smaller for smaller in parts):
                        if part not in self._consistent:
                            self._consistent[part] = self._is_consistent(self.table.conjunction(part))
                        if self._consistent[part]:
                            parts.append(part)
            self._sufficient[conjunction] = frozenset(parts)
        return self._sufficient[conjunction]

    def forms(self, *candidates: Form) -> set[Form]:
        """Return the minimal forms of some candidates."""
        return {one for candidate in candidates for one in self._forms_of(candidate)}

    def _forms_of(self, candidate: Form) -> list[Form]:
        disjuncts = list(candidate)
        pool = sorted(frozenset().union(*map(self.minimally_sufficient, candidate)))
        form_list: list[Form] = []
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
                    covered = self.table.disjunction(form)
                    covers = self.table.both(covered, self.outcome) >= self.coverage * self.total
                    if covers and self._is_consistent(covered):
                        form_list.append(frozenset(form))
                    else:
                        growing.append(form)
        return form_list


def full_table(form: Iterable[int], vocabulary: Vocabulary) -> TruthTable:
    """Return all configurations of the factors of a formula."""
    names = sorted({name for name, _ in vocabulary.decode(union(form))})
    return TruthTable(*free_planes(names, vocabulary))


def is_irredundant(form: Iterable[int], table: TruthTable) -> bool:
    """Check whether a formula varies on a table and changes its truth values with every deletion."""
    form = list(form)
    return table.disjunction(form) not in (0, table.rows) and not _deletable(form, table, table.rows)


def _deletable(form: Sequence[int], table: TruthTable, rows: int) -> bool:
    """Check whether a disjunct, or a literal of one, can be deleted without a change on some rows of a table."""
    truth = table.disjunction(form)
    for i, code in enumerate(form):
        others = table.disjunction([*form[:i], *form[i + 1 :]])
        if len(form) > 1 and not rows & (truth ^ others):
            return True
        if any(code != bit and not rows & (truth ^ (table.conjunction(code ^ bit) | others)) for bit in bits(code)):
            return True
    return False


def minimal_models(model: Model | str, domains: Domains | None = None) -> tuple[Model, ...]:
    """Return the models that remain when everything redundant on a model's ideal data is deleted."""
    model, words = as_model(model), Vocabulary(domains)
    atoms = [(atom.outcome, frozenset(map(words.encode, atom.disjuncts))) for atom in model.atoms]
    table = ideal_table(model, words)
    caps = Caps(len(model.factors), max(len(form) for _, form in atoms), model.complexity)
    choices = []
    for outcome, form in atoms:
        minimiser = Minimiser(table, words.bit(outcome), caps)
        forms = [] if minimiser.constant else minimiser.forms(form)
        choices.append([Atom(tuple(map(words.decode, one)), outcome) for one in forms])
    if math.prod(map(len, choices)) > MAX_FORMS:
        raise FormulaTooLargeError(f"{model} has more than {MAX_FORMS} minimal forms")
    return tuple(sorted((Model(chosen) for chosen in itertools.product(*choices)), key=str))


def redundancy_free(model: Model | str, domains: Domains | None = None) -> bool:
    """Check whether every part of a model makes a difference.

    No literal, disjunct or atom can be deleted without changing the set of configurations that the model allows, and no
    outcome is constant in that set. A model with one atom is redundancy-free if its left-hand side is in INUS form.

    Parameters
    ----------
    model : Model or str
        The model.
    domains : mapping, optional
        Values of multi-value factors.

    Returns
    -------
    bool
        Whether no part can be deleted.

    Raises
    ------
    FormulaTooLargeError
        If the model's factors have more than 2**20 configurations.

    Examples
    --------
    >>> from causaleval_pd.configurational import parse
    >>> [redundancy_free(parse(text)) for text in ("A*b+B<->C", "A+B*c<->D", "(A+B<->C)*(A*C<->D)")]
    [False, True, False]
    """
    return is_redundancy_free(as_model(model), read_domains(domains))


def is_redundancy_free(model: Model, domains: Domains) -> bool:
    """Check a model as `redundancy_free` does, with domains that `read_domains` returned."""
    require_equivalences(model)
    table, code = _table_of(model.factors, domains)
    forms = [[sum(map(code.__getitem__, one)) for one in atom.disjuncts] for atom in model.atoms]
    outcomes = [table.planes[code[atom.outcome]] for atom in model.atoms]
    holds = [table.rows & ~(table.disjunction(one) ^ y) for one, y in zip(forms, outcomes, strict=True)]
    for i, (form, outcome) in enumerate(zip(forms, outcomes, strict=True)):
        others = reduce(operator.and_, holds[:i] + holds[i + 1 :], table.rows)
        allowed = others & holds[i]
        varies = allowed & outcome and allowed & ~outcome
        if not varies or others == allowed or _deletable(form, table, others):
            return False
    return True


def is_irredundant_alone(disjuncts: Sequence[Conjunction], domains: Domains) -> bool:
    """Check whether a left-hand side by itself varies and has nothing that can be deleted."""
    table, code = _table_of(sorted({name for one in disjuncts for name, _ in one}), domains)
    return is_irredundant([sum(map(code.__getitem__, one)) for one in disjuncts], table)


def _table_of(factors: Sequence[str], domains: Domains) -> tuple[TruthTable, dict[Literal, int]]:
    """Return all configurations of some factors, and the bit of each literal."""
    values = tuple(tuple(domains.get(name, BINARY)) for name in factors)
    literals = [(name, value) for name, domain in zip(factors, values, strict=True) for value in domain]
    rows, planes, codes = _cached_planes(values)
    # a table keeps the conjunctions that it is asked for, so each model has its own
    return TruthTable(rows, planes), dict(zip(literals, codes, strict=True))


@lru_cache(maxsize=64)
def _cached_planes(domains: tuple[tuple[int, ...], ...]) -> tuple[int, dict[int, int], list[int]]:
    """Return all configurations of factors with these values, those with each literal, and the bits of the literals."""
    names = [str(i) for i in range(len(domains))]
    words = Vocabulary(dict(zip(names, domains, strict=True)))
    codes = [words.bit((name, value)) for name, domain in zip(names, domains, strict=True) for value in domain]
    return *free_planes(names, words), codes
