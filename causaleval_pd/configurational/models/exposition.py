"""Causal expositions: all causes that a model ascribes to each outcome, directly and along chains [1]_.

References
----------
.. [1] Baumgartner, M. & Falk, C. (2024). Quantifying the quality of configurational causal models. Journal of Causal
   Inference 12. doi:10.1515/jci-2023-0032
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal as OneOf

import pandas as pd

from ..formulas.formula import Model, conjunction_text, dnf_text, require_equivalences
from ..formulas.reader import as_model
from ..formulas.truth_table import Setting, evaluation_order, ideal_table
from ..formulas.vocabulary import MAX_PATHS, FormulaTooLargeError, Vocabulary, Work, bits, union
from .minimisation import NO_CAPS, Caps, Form, Minimiser, ThresholdMinimiser
from .redundancy import full_table, is_irredundant

__all__ = ["exposition_table"]

PathRule = OneOf["outcome", "pairwise"]
#: literals of a disjunct, disjuncts and literals of a minimal form relative to data, in the published functions
PUBLISHED_SIZES = (3, 4, 10)
COMPONENTS = ("literal", "conjunctive", "disjunctive", "sequential")


@dataclass(frozen=True)
class Ascriptions:
    """The causes that a model ascribes to one outcome, as ints of a vocabulary."""

    #: literals that are causes
    literals: int
    #: conjunctions that are causes
    conjunctions: tuple[int, ...]
    #: expanded minimal formulas
    disjunctions: tuple[Form, ...]
    #: causal paths to the outcome, which stands last
    sequences: tuple[tuple[int, ...], ...]
    #: whether the outcome does not vary in the data, so that nothing is its cause; the parts are then as written
    constant: bool = False

    @cached_property
    def complexities(self) -> tuple[int, int, int, int]:
        """Number of literals, literals in conjunctions, literals in disjunctions, and paths."""
        return (
            self.literals.bit_count(),
            sum(code.bit_count() for code in self.conjunctions),
            sum(code.bit_count() for form in self.disjunctions for code in form),
            len(self.sequences),
        )


#: ascriptions by the bit of the outcome
Exposition = dict[int, Ascriptions]


def as_written(outcome: int, form: Form) -> Ascriptions:
    """Return the parts of an atom whose outcome is constant: each literal is a path of its own."""
    literals = union(form)
    paths = tuple((literal, outcome) for literal in bits(literals))
    return Ascriptions(literals, tuple(sorted(form)), (form,), paths, constant=True)


def negate(form: Iterable[int], vocabulary: Vocabulary, work: Work | None = None) -> Form:
    """Negate a disjunctive normal form by De Morgan's law, multiplied out without absorption; no contradictions."""
    products, work = {0}, work or Work()
    for disjunct in form:
        negated = [other for bit in bits(disjunct) for other in vocabulary.negations(bit)]
        products = {p | other for p in products for other in negated if not p & vocabulary.others[other]}
        work.spend(1 + len(products) // 16)
    return frozenset(products)


class Expansion:
    """The formulas that follow from those of acyclic `atoms` when outcomes are replaced by their causes."""

    def __init__(self, atoms: dict[int, Form], vocabulary: Vocabulary, work: Work | None = None) -> None:
        self.atoms, self.vocabulary, self.work = atoms, vocabulary, work or Work()
        self._negated: dict[int, Form] = {}
        self._replaced: dict[int, _Replaced] = {}

    def negated(self, outcome: int) -> Form:
        """Return the negation of an outcome's formula."""
        if outcome not in self._negated:
            self._negated[outcome] = negate(self.atoms[outcome], self.vocabulary, self.work)
        return self._negated[outcome]

    def substitute(self, form: Form, outcome: int) -> Form:
        """Replace every occurrence of an outcome by its formula, and of its negation by the negated formula."""
        replaced = self._replaced.get(outcome)
        if replaced is None:
            replaced = self._replaced[outcome] = _Replaced(self, outcome)
        found = frozenset(itertools.chain.from_iterable(map(replaced.__getitem__, form)))
        self.work.spend(1 + len(found) // 16)
        return found

    def candidates(self, form: Form) -> set[Form]:
        """Return a formula with outcomes replaced one after the other, in every order; every step is a candidate."""
        found, todo = {form}, [form]
        while todo:
            for _, new in self._steps(todo.pop()):
                if new and new not in found:
                    found.add(new)
                    todo.append(new)
        return found

    def _steps(self, form: Form) -> list[tuple[int, Form]]:
        """Return the formulas in which one outcome more is replaced, each with that outcome."""
        literals = union(form)
        return [
            (outcome, self.substitute(form, outcome))
            for outcome in self.atoms
            if literals & (outcome | self.vocabulary.negation(outcome))
        ]

    def substitutions(self, form: Form) -> set[tuple[frozenset[int], Form]]:
        """Return the candidates with the sets of outcomes that were replaced."""
        start = (frozenset[int](), form)
        found, todo = {start}, [start]
        while todo:
            replaced, current = todo.pop()
            for outcome, longer in self._steps(current):
                new = (replaced | {outcome}, longer)
                if longer and new not in found:
                    found.add(new)
                    todo.append(new)
        return found


class _Replaced(dict[int, list[int]]):
    """Disjuncts after an outcome is replaced; each is computed once, as candidates share disjuncts."""

    def __init__(self, expansion: Expansion, outcome: int) -> None:
        self.expansion, self.outcome = expansion, outcome

    def __missing__(self, disjunct: int) -> list[int]:
        expansion, outcome = self.expansion, self.outcome
        negation, found = expansion.vocabulary.negation(outcome), [disjunct]
        if disjunct & outcome:
            found = [disjunct ^ outcome | cause for cause in expansion.atoms[outcome]]
        if disjunct & negation:
            found = [one ^ negation | cause for one in found for cause in expansion.negated(outcome)]
        self[disjunct] = found
        return found


def expose(
    model: Model,
    setting: Setting | None = None,
    *,
    relative: bool = False,
    path_rule: PathRule = "outcome",
    size_caps: bool = False,
) -> Exposition:
    """Compute the causal exposition of an acyclic model in the vocabulary of a setting."""
    setting = setting or Setting()
    require_equivalences(model)
    if evaluation_order(model) is None:
        raise ValueError(f"{model} is cyclic: chains of causes have no end, so its quality is not defined")
    setting.check(model, relative=relative)
    try:
        return _Expositor(model, setting, relative, path_rule, size_caps).exposition()
    except FormulaTooLargeError as error:
        text = str(model)
        raise FormulaTooLargeError(f"{text if len(text) <= 80 else text[:77] + '...'}: {error}") from None


class _Expositor:
    """Everything that the expositions of one model's outcomes share."""

    def __init__(self, model: Model, setting: Setting, relative: bool, path_rule: PathRule, size_caps: bool) -> None:
        words = self.vocabulary = setting.vocabulary
        self.pairwise = path_rule == "pairwise"
        self.atoms = {words.bit(a.outcome): frozenset(map(words.encode, a.disjuncts)) for a in model.atoms}
        work = Work()
        self.expansion = Expansion(self.atoms, words, work)
        self.relative = relative and setting.data is not None
        self.minimiser: Callable[[int], Minimiser | ThresholdMinimiser]
        if self.relative:
            sizes = setting.max_size or (PUBLISHED_SIZES if size_caps else None)
            caps = NO_CAPS if sizes is None else Caps(*sizes)
            self.minimiser = lambda outcome: ThresholdMinimiser(
                setting.cases,
                outcome,
                caps,
                consistency=setting.con,
                coverage=setting.cov,
                work=work,
            )
        else:
            table = ideal_table(model, words)
            caps = Caps.ideal(len(model.factors), len(self.atoms)) if size_caps else NO_CAPS
            self.minimiser = lambda outcome: Minimiser(table, outcome, caps, work)
        self.causes: dict[int, int] = {}

    def exposition(self) -> Exposition:
        found: Exposition = {}
        for outcome, form in self.atoms.items():
            minimal = self.minimal_forms(outcome, form)
            if minimal is None:
                found[outcome], self.causes[outcome] = as_written(outcome, form), 0
                continue
            literals = self.causes[outcome] = _literals(minimal)
            conjunctions = tuple(sorted({code for one in minimal for code in one}))
            found[outcome] = Ascriptions(literals, conjunctions, minimal, ())
        return {
            outcome: known if known.constant else replace(known, sequences=self.sequences(outcome, known.literals))
            for outcome, known in found.items()
        }

    def minimal_forms(self, outcome: int, form: Form) -> tuple[Form, ...] | None:
        """Return the minimal forms of all candidates, None if the outcome is constant."""
        minimiser = self.minimiser(outcome)
        if minimiser.constant:
            return None
        found = minimiser.forms(*self.expansion.candidates(form))
        if self.relative:
            words = self.vocabulary
            found = {one for one in found if is_irredundant(one, full_table(one, words))}
        return tuple(sorted(found, key=sorted))

    def predecessors(self, literal: int) -> list[int]:
        """Return the literals of the atom that explains a literal, negated where it explains the negation."""
        if literal in self.atoms:
            return bits(_literals([self.atoms[literal]]))
        negation = self.vocabulary.negation(literal)
        if negation in self.atoms:
            own = bits(_literals([self.atoms[negation]]))
            return sorted({other for bit in own for other in self.vocabulary.negations(bit)})
        return []

    def sequences(self, outcome: int, allowed: int) -> tuple[tuple[int, ...], ...]:
        """Return the paths from root literals to the outcome through literals that are its causes."""
        found: list[tuple[int, ...]] = []
        todo: list[tuple[int, ...]] = [(outcome,)]
        while todo:
            path = todo.pop()
            for literal in self.predecessors(path[0]):
                if literal & allowed and (not self.pairwise or self.causes_all(literal, path)):
                    longer = (literal, *path)
                    (todo if self.predecessors(literal) else found).append(longer)
            if len(found) + len(todo) > MAX_PATHS:
                raise FormulaTooLargeError(f"an outcome has more than {MAX_PATHS} causal paths")
        return tuple(sorted(found))

    def causes_all(self, literal: int, path: tuple[int, ...]) -> bool:
        """Check whether a literal is a cause of every later element of a path but its outcome."""
        return all(literal & self.causes_of(later) for later in path[:-1])

    def causes_of(self, literal: int) -> int:
        """Return the causes of an outcome or of the negation of one."""
        if literal not in self.causes:
            negated = self.expansion.negated(self.vocabulary.negation(literal))
            self.causes[literal] = _literals(self.minimal_forms(literal, negated) or ())
        return self.causes[literal]


def _literals(forms: Iterable[Form]) -> int:
    """Return the literals that occur in some formulas."""
    return union(map(union, forms))


def exposition_table(
    model: Model | str, setting: Setting | None = None, *, relative: bool = True, size_caps: bool = False
) -> pd.DataFrame:
    """List all causes that a model ascribes to each outcome.

    Parameters
    ----------
    model : Model or str
        An acyclic model.
    setting : Setting, optional
        Values of multi-value factors; data that the model is minimised relative to.
    relative : bool
        Use the setting's data, where it has any.
    size_caps : bool
        Whether minimal forms may only have the published sizes.

    Returns
    -------
    DataFrame
        One row an ascription: outcome, component (literal, conjunctive, disjunctive, sequential), item, complexity.

    Raises
    ------
    ValueError
        If the model is cyclic, or mentions values that a factor does not have.
    FormulaTooLargeError
        If the evaluation would take too long.

    Examples
    --------
    >>> exposition_table("(A<->B)*(B+C<->D)").query("outcome == 'D'")["item"].tolist()
    ['A', 'B', 'C', 'A', 'B', 'C', 'A+C', 'B+C', 'A->B->D', 'C->D']
    """
    setting = setting or Setting()
    known = expose(as_model(model), setting, relative=relative, size_caps=size_caps)
    words = setting.vocabulary
    multi_value = words.multi_value
    text = partial(_text, words=words)
    rows: list[tuple[str, str, str, int]] = []
    for outcome, ascribed in known.items():
        if ascribed.constant:
            continue
        effect = text(outcome)
        rows += [(effect, "literal", text(bit), 1) for bit in bits(ascribed.literals)]
        rows += [(effect, "conjunctive", text(code), code.bit_count()) for code in ascribed.conjunctions]
        rows += [
            (
                effect,
                "disjunctive",
                dnf_text(map(words.decode, form), multi_value=multi_value),
                sum(code.bit_count() for code in form),
            )
            for form in ascribed.disjunctions
        ]
        rows += [(effect, "sequential", "->".join(map(text, path)), 1) for path in ascribed.sequences]
    table = pd.DataFrame(rows, columns=["outcome", "component", "item", "complexity"])
    order = table["component"].map({name: i for i, name in enumerate(COMPONENTS)})
    return table.assign(order=order).sort_values(["outcome", "order", "item"], ignore_index=True).drop(columns="order")


def _text(code: int, words: Vocabulary) -> str:
    return conjunction_text(words.decode(code), multi_value=words.multi_value)
