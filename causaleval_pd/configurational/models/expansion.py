"""Chain expansion: what a model says of an outcome once intermediate outcomes are replaced by their causes."""

from __future__ import annotations

from collections.abc import Iterable

from ..formulas.limits import Work
from ..formulas.vocabulary import Vocabulary, bits
from .minimisation import Form


def negate(form: Iterable[int], vocabulary: Vocabulary, work: Work | None = None) -> Form:
    """Negate a disjunctive normal form by De Morgan's law, multiplied out; contradictions are dropped.

    Parameters
    ----------
    form : iterable of int
        Conjunctions.
    vocabulary : Vocabulary
        Which bit is which literal.
    work : Work, optional
        Steps that are left.

    Returns
    -------
    frozenset of int
        Conjunctions of the negation; no absorption.

    Raises
    ------
    FormulaTooLargeError
        If there are too many conjunctions.

    Examples
    --------
    >>> words = Vocabulary()
    >>> form = [words.encode([("A", 1), ("B", 1)]), words.encode([("A", 1), ("C", 0)])]
    >>> sorted(sorted(words.decode(code)) for code in negate(form, words))
    [[('A', 0)], [('A', 0), ('B', 0)], [('A', 0), ('C', 1)], [('B', 0), ('C', 1)]]
    """
    products, work = {0}, work or Work()
    for disjunct in form:
        negated = [other for bit in bits(disjunct) for other in vocabulary.negations(bit)]
        products = {p | other for p in products for other in negated if not p & vocabulary.others[other]}
        work.spend(1 + len(products) // 16)
    return frozenset(products)


class Expansion:
    """The candidates that substitution makes of a model's formulas.

    Parameters
    ----------
    atoms : dict
        Formula by the bit of its outcome; acyclic.
    vocabulary : Vocabulary
        Which bit is which literal.
    work : Work, optional
        Steps that are left.
    """

    def __init__(self, atoms: dict[int, Form], vocabulary: Vocabulary, work: Work | None = None) -> None:
        self.atoms, self.vocabulary, self.work = atoms, vocabulary, work or Work()
        self._negated: dict[int, Form] = {}

    def negated(self, outcome: int) -> Form:
        """Return the negation of an outcome's formula."""
        if outcome not in self._negated:
            self._negated[outcome] = negate(self.atoms[outcome], self.vocabulary, self.work)
        return self._negated[outcome]

    def substitute(self, form: Form, outcome: int) -> Form:
        """Replace every occurrence of an outcome, and of its negation, by what the model says of it."""
        for literal, positive in ((outcome, True), (self.vocabulary.negation(outcome), False)):
            if any(disjunct & literal for disjunct in form):
                causes = self.atoms[outcome] if positive else self.negated(outcome)
                form = frozenset(
                    (disjunct ^ literal) | cause if disjunct & literal else disjunct
                    for disjunct in form
                    for cause in (causes if disjunct & literal else (0,))
                )
                self.work.spend(1 + len(form) // 16)
        return form

    def candidates(self, form: Form) -> set[Form]:
        """Return a formula with outcomes replaced one after the other, in every order; every step is a candidate."""
        return {candidate for _, candidate in self.substitutions(form)}

    def substitutions(self, form: Form) -> set[tuple[frozenset[int], Form]]:
        """Return the candidates with the sets of outcomes that were replaced."""
        start = (frozenset[int](), form)
        found, todo = {start}, [start]
        while todo:
            replaced, current = todo.pop()
            literals = 0
            for disjunct in current:
                literals |= disjunct
            for outcome in self.atoms:
                if literals & (outcome | self.vocabulary.negation(outcome)):
                    new = (replaced | {outcome}, self.substitute(current, outcome))
                    if new[1] and new not in found:
                        found.add(new)
                        todo.append(new)
        return found
