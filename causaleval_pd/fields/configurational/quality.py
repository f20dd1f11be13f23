"""Causal expositions, and the quality of an estimated model: what its exposition and the truth's share [1]_.

An exposition has all causes that a model ascribes to each outcome, directly and along chains. Correctness is the share
of the estimate's exposition that the truth shares, completeness the share of the truth's that the estimate shares. Both
are sums of shared complexity over sums of complexity.

References
----------
.. [1] Baumgartner, M. & Falk, C. (2024). Quantifying the quality of configurational causal models. Journal of Causal
   Inference 12. doi:10.1515/jci-2023-0032
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Container, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any, TypeVar
from typing import Literal as OneOf

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_known, name_row
from .formula import (
    MAX_PATHS,
    FormulaTooLargeError,
    Model,
    Vocabulary,
    Work,
    bits,
    conjunction_text,
    dnf_text,
    require_equivalences,
    union,
)
from .minimisation import NO_CAPS, Caps, Form, Minimiser, ThresholdMinimiser, best_overlap, full_table, is_irredundant
from .reader import Cell, as_model, as_models
from .truth_table import Setting, evaluation_order, ideal_table

__all__ = ["Convention", "exposition_table", "quality_table"]

PathRule = OneOf["outcome", "pairwise"]
#: literals of a disjunct, disjuncts and literals of a minimal form relative to data, in the published functions
PUBLISHED_SIZES = (3, 4, 10)
T = TypeVar("T")
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
        self._replaced: dict[int, dict[int, list[int]]] = {}

    def negated(self, outcome: int) -> Form:
        """Return the negation of an outcome's formula."""
        if outcome not in self._negated:
            self._negated[outcome] = negate(self.atoms[outcome], self.vocabulary, self.work)
        return self._negated[outcome]

    def substitute(self, form: Form, outcome: int) -> Form:
        """Replace every occurrence of an outcome by its formula, and of its negation by the negated formula."""
        # each disjunct is replaced once, as candidates share disjuncts
        replaced, negation = self._replaced.setdefault(outcome, {}), self.vocabulary.negation(outcome)
        for disjunct in form - replaced.keys():
            longer = [disjunct]
            if disjunct & outcome:
                longer = [disjunct ^ outcome | cause for cause in self.atoms[outcome]]
            if disjunct & negation:
                longer = [one ^ negation | cause for one in longer for cause in self.negated(outcome)]
            replaced[disjunct] = longer
        disjuncts = frozenset(itertools.chain.from_iterable(map(replaced.__getitem__, form)))
        self.work.spend(1 + len(disjuncts) // 16)
        return disjuncts

    def steps(self, form: Form) -> list[tuple[int, Form]]:
        """Return the formulas in which one outcome more is replaced, each with that outcome."""
        literals = union(form)
        mentioned = [one for one in self.atoms if literals & (one | self.vocabulary.negation(one))]
        return [(one, new) for one in mentioned if (new := self.substitute(form, one))]

    def candidates(self, form: Form) -> set[Form]:
        """Return a formula with outcomes replaced one after the other, in every order; every step is a candidate."""
        return reached(form, lambda current: [new for _, new in self.steps(current)])


def reached(start: T, following: Callable[[T], Iterable[T]]) -> set[T]:
    """Return everything that can be reached in any number of steps."""
    known, todo = {start}, [start]
    while todo:
        new = set(following(todo.pop())) - known
        known |= new
        todo += new
    return known


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
                setting.cases, outcome, caps, consistency=setting.con, coverage=setting.cov, work=work
            )
        else:
            table = ideal_table(model, words)
            n = len(model.factors) - len(self.atoms)
            caps = Caps(min(n, 3 * n + 5), min(2 * n, 3 * n + 5), 3 * n + 5) if size_caps else NO_CAPS
            self.minimiser = lambda outcome: Minimiser(table, outcome, caps, work)
        self._forms: dict[int, tuple[Form, ...] | None] = {}

    def exposition(self) -> Exposition:
        return {outcome: self.ascribed(outcome, form) for outcome, form in self.atoms.items()}

    def ascribed(self, outcome: int, form: Form) -> Ascriptions:
        """Return the causes of an outcome; those of one that is constant as written, each literal a path of its own."""
        minimal = self.minimal_forms(outcome)
        if minimal is None:
            literals = union(form)
            paths = tuple((literal, outcome) for literal in bits(literals))
            return Ascriptions(literals, tuple(sorted(form)), (form,), paths, constant=True)
        conjunctions = tuple(sorted({code for one in minimal for code in one}))
        return Ascriptions(union(conjunctions), conjunctions, minimal, self.sequences(outcome))

    def minimal_forms(self, literal: int) -> tuple[Form, ...] | None:
        """Return the minimal forms of all candidates of an outcome or the negation of one, None if it is constant."""
        if literal not in self._forms:
            minimiser, self._forms[literal] = self.minimiser(literal), None
            if not minimiser.constant:
                form = self.atoms.get(literal) or self.expansion.negated(self.vocabulary.negation(literal))
                forms = minimiser.forms(*self.expansion.candidates(form))
                if self.relative:
                    forms = {one for one in forms if is_irredundant(one, full_table(one, self.vocabulary))}
                self._forms[literal] = tuple(sorted(forms, key=sorted))
        return self._forms[literal]

    def causes(self, literal: int) -> int:
        """Return the causes of an outcome or of the negation of one."""
        return union(map(union, self.minimal_forms(literal) or ()))

    def predecessors(self, literal: int) -> list[int]:
        """Return the literals of the atom that explains a literal, negated where it explains the negation."""
        if literal in self.atoms:
            return bits(union(self.atoms[literal]))
        negation = self.vocabulary.negation(literal)
        if negation not in self.atoms:
            return []
        atom_literals = bits(union(self.atoms[negation]))
        return sorted({other for bit in atom_literals for other in self.vocabulary.negations(bit)})

    def sequences(self, outcome: int) -> tuple[tuple[int, ...], ...]:
        """Return the paths from root literals to the outcome through its causes; if pairwise, each of every later."""
        allowed = self.causes(outcome)
        paths: list[tuple[int, ...]] = []
        todo: list[tuple[int, ...]] = [(outcome,)]
        while todo:
            path = todo.pop()
            for literal in self.predecessors(path[0]):
                if literal & allowed and (
                    not self.pairwise or all(literal & self.causes(later) for later in path[:-1])
                ):
                    (todo if self.predecessors(literal) else paths).append((literal, *path))
            if len(paths) + len(todo) > MAX_PATHS:
                raise FormulaTooLargeError(f"an outcome has more than {MAX_PATHS} causal paths")
        return tuple(sorted(paths))


def exposition_table(model: Model | str, setting: Setting | None = None) -> pd.DataFrame:
    """List all causes that a model ascribes to each outcome.

    Parameters
    ----------
    model : Model or str
        An acyclic model.
    setting : Setting, optional
        Values of multi-value factors; data that the model is minimised relative to.

    Returns
    -------
    DataFrame
        One row per ascription: outcome, component (literal, conjunctive, disjunctive, sequential), item, complexity.

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
    known = expose(as_model(model), setting, relative=True)
    words = setting.vocabulary
    text = partial(_text, words=words)
    rows: list[tuple[str, str, str, int]] = []
    for outcome, ascribed in known.items():
        if ascribed.constant:
            continue
        for form in ascribed.disjunctions:
            written = dnf_text(map(words.decode, form), multi_value=words.multi_value)
            rows.append((text(outcome), "disjunctive", written, sum(map(int.bit_count, form))))
        rows += [(text(outcome), "literal", text(bit), 1) for bit in bits(ascribed.literals)]
        rows += [(text(outcome), "conjunctive", text(code), code.bit_count()) for code in ascribed.conjunctions]
        rows += [(text(outcome), "sequential", "->".join(map(text, path)), 1) for path in ascribed.sequences]
    rows.sort(key=lambda row: (row[0], COMPONENTS.index(row[1]), row[2]))
    return pd.DataFrame(rows, columns=["outcome", "component", "item", "complexity"])


def _text(code: int, words: Vocabulary) -> str:
    return conjunction_text(words.decode(code), multi_value=words.multi_value)


TieRule = OneOf["published", "disjuncts_first"]
ConstantRule = OneOf["penalise", "drop", "nan"]
CONSTANT_RULES = ("penalise", "drop", "nan")
Column = Model | str | Sequence[Model | str] | pd.Series


@dataclass(frozen=True)
class Convention:
    """Choices in which evaluations of quality differ: the default ones, the published functions', and the paper's text.

    Parameters
    ----------
    partial_credit : bool
        A true path of which the estimate has only the end counts by the share of its length; else only whole paths.
    path_rule : {"outcome", "pairwise"}
        The elements of a path must be causes of its outcome, or also of every later element.
    tie_rule : {"disjuncts_first", "published"}
        The best counterpart of a formula has most disjuncts, and among these most literals; or it must have most of
        both at once, and one literal is counted if none has.
    size_caps : bool
        Ignore large minimal forms, as the published functions do: on ideal data those with more than n literals a
        disjunct, 2n disjuncts or 3n + 5 literals, n being the number of factors that are not outcomes; relative to data
        those with more than 3, 4 or 10. Models with larger forms then have no causes.
    constant_outcome : {"penalise", "drop", "nan"}
        What an atom is whose outcome does not vary in the data, as in `A+a<->C`: wrong, so that its parts as written
        count in the denominator of correctness; left out, as if it had not been written; or undefined, and the model
        with it.

    Examples
    --------
    >>> Convention.of("paper")
    Convention(partial_credit=True, path_rule='outcome', tie_rule='published', size_caps=True, constant_outcome='drop')
    """

    partial_credit: bool = True
    path_rule: PathRule = "outcome"
    tie_rule: TieRule = "disjuncts_first"
    size_caps: bool = False
    constant_outcome: ConstantRule = "penalise"

    def __post_init__(self) -> None:
        check_known(self.path_rule, ("outcome", "pairwise"), "path_rule")
        check_known(self.tie_rule, ("published", "disjuncts_first"), "tie_rule")
        check_known(self.constant_outcome, CONSTANT_RULES, "constant_outcome")

    @classmethod
    def of(cls, convention: str | Convention, constant_outcome: ConstantRule | None = None) -> Convention:
        """Return a convention by its name, with another rule for constant outcomes if one is given.

        "corrected" gives the numbers of the paper's tables and true values beyond them, "paper" those of the functions
        published with it, their artefacts included, "text" follows the paper's text where the two differ.
        """
        if not isinstance(convention, Convention):
            check_known(convention, CONVENTIONS, "convention")
            convention = CONVENTIONS[convention]
        return convention if constant_outcome is None else replace(convention, constant_outcome=constant_outcome)


CONVENTIONS = {
    "corrected": Convention(),
    "paper": Convention(tie_rule="published", size_caps=True, constant_outcome="drop"),
    "text": Convention(partial_credit=False, path_rule="pairwise"),
}


def shared_disjunctions(own: Form, others: tuple[Form, ...], tie_rule: TieRule, work: Work) -> int:
    """Count the literals that a formula of the scored side shares with its best counterpart on the other side."""
    if own in others:
        return sum(code.bit_count() for code in own)
    disjuncts_first = tie_rule == "disjuncts_first"
    work.spend(2 * len(others))
    overlaps = [best_overlap(list(own), list(other), disjuncts_first=disjuncts_first, work=work) for other in others]
    if disjuncts_first:
        return max(overlaps, default=(0, 0))[1]
    most = (max((o[0] for o in overlaps), default=0), max((o[1] for o in overlaps), default=0))
    return most[0] if most in overlaps or not overlaps else 1


def shared_by_outcome(own: Ascriptions, other: Ascriptions, tie_rule: TieRule, work: Work) -> tuple[int, int, int]:
    """Count the literals that the scored side (`own`) shares: in an outcome's literals, conjunctions, disjunctions."""
    work.spend(len(own.conjunctions) * len(other.conjunctions) // 8)
    conjunctive = sum(max(((a & b).bit_count() for b in other.conjunctions), default=0) for a in own.conjunctions)
    disjunctive = sum(shared_disjunctions(a, other.disjunctions, tie_rule, work) for a in own.disjunctions)
    return (own.literals & other.literals).bit_count(), conjunctive, disjunctive


def prune(truth: Exposition, estimate: Exposition, vocabulary: Vocabulary) -> dict[int, set[tuple[int, ...]]]:
    """Delete from the truth's paths the factors that occur in no path of the estimate."""
    known = 0
    for ascribed in estimate.values():
        for path in () if ascribed.constant else ascribed.sequences:
            for bit in path:
                known |= bit | vocabulary.others[bit]
    ends: dict[int, set[tuple[int, ...]]] = {}
    for outcome, ascribed in truth.items():
        suffixes = ends[outcome] = set()
        for path in () if ascribed.constant else ascribed.sequences:
            kept = tuple(bit for bit in path if bit & known)
            suffixes.update(kept[start:] for start in range(len(kept) - 1))
    return ends


def longest_end(path: tuple[int, ...], others: Container[tuple[int, ...]]) -> int:
    """Return the length of the longest of the other paths that is an end of this path, 0 if none is."""
    return next((len(path) - start for start in range(len(path)) if path[start:] in others), 0)


def quality_counts(
    truth: Exposition, estimate: Exposition, vocabulary: Vocabulary, convention: Convention
) -> tuple[dict[int, NDArray[np.float64]], dict[int, NDArray[np.float64]]]:
    """Count shared and own complexity of expositions by outcome."""
    # Returns correctness by outcome of the estimate and completeness by outcome of the truth: arrays (2, 4) are
    # numerators and denominators of the four components. An atom of the estimate whose outcome is constant shares
    # nothing and counts as `constant_outcome` states; one of the truth has no causes to be found.
    ends, work = prune(truth, estimate, vocabulary), Work()

    def correct_paths(own: Ascriptions, outcome: int, other: Ascriptions) -> float:
        return sum(path in ends[outcome] for path in own.sequences)

    def complete_paths(own: Ascriptions, outcome: int, other: Ascriptions) -> float:
        known = set(other.sequences)
        lengths = [(len(path), longest_end(path, known)) for path in own.sequences]
        if not convention.partial_credit:
            return sum(end_length == length for length, end_length in lengths)
        # whole numbers, so that the sum does not depend on the order
        parts = math.lcm(*(length for length, _ in lengths))
        return sum(parts * end_length // length for length, end_length in lengths) / parts

    sides: list[dict[int, NDArray[np.float64]]] = []
    for own, others, paths in ((estimate, truth, correct_paths), (truth, estimate, complete_paths)):
        counts = {}
        for outcome, ascribed in own.items():
            other = others.get(outcome)
            constant = ascribed.constant or (other is not None and other.constant)
            counts[outcome] = np.zeros((2, 4))
            if constant and convention.constant_outcome == "nan":
                counts[outcome][:] = np.nan
            elif not ascribed.constant or (own is estimate and convention.constant_outcome == "penalise"):
                counts[outcome][1] = ascribed.complexities
                if other is not None and not constant:
                    literals = shared_by_outcome(ascribed, other, convention.tie_rule, work)
                    counts[outcome][0] = *literals, paths(ascribed, outcome, other)
        sides.append(counts)
    return sides[0], sides[1]


def quality_table(
    truth: Column, estimate: Column, *, convention: str | Convention = "corrected", setting: Setting | None = None
) -> pd.DataFrame:
    """Break the quality of a model, or of a column of models, down by outcome and component.

    Parameters
    ----------
    truth, estimate : Model, str, or sequence of these
        The true and the estimated models, all acyclic. Two columns are paired row by row, one model with every row.
    convention : {"corrected", "paper", "text"} or Convention
        Rules of evaluation: the numbers of the paper's tables without artefacts, those of the published functions, or
        those of the paper's text.
    setting : Setting, optional
        Values of multi-value factors; data that the estimates are minimised relative to.

    Returns
    -------
    DataFrame
        One row per measure, outcome and component: shared, complexity, score = shared / complexity. Of columns, each
        row begins with row (the index label), truth, estimate; a cell with several models has the rows of each.

    Raises
    ------
    ValueError
        If a model is cyclic or mentions values that a factor does not have, a cell holds no model, or the columns have
        different rows.
    FormulaTooLargeError
        If the evaluation would take too long.

    References
    ----------
    .. [1] doi:10.1515/jci-2023-0032

    Examples
    --------
    >>> truth = "(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)"
    >>> found = quality_table(truth, "(A*B<->D)*(D+B*C<->G)")
    >>> found.query("measure == 'correctness'").groupby("component", sort=False)[["shared", "complexity"]].sum()
                 shared  complexity
    component
    literal         6.0         6.0
    conjunctive     4.0         7.0
    disjunctive     5.0         9.0
    sequential      6.0         6.0
    >>> quality_table(truth, ["A+B<->G", "A+B+E<->G"]).groupby("row")["shared"].sum().round(2).tolist()
    [17.0, 26.33]
    """
    setting, chosen = setting or Setting(), Convention.of(convention)

    @cache
    def exposed(model: Model, *, relative: bool) -> Exposition:
        return expose(model, setting, relative=relative, path_rule=chosen.path_rule, size_caps=chosen.size_caps)

    rows: list[tuple[Any, ...]] = []
    for label, [true], estimated in _paired(truth, estimate):
        for model in estimated:
            sides = exposed(true, relative=False), exposed(model, relative=True)
            counted = quality_counts(*sides, setting.vocabulary, chosen)
            for measure, counts in zip(("correctness", "completeness"), counted, strict=True):
                head = (label, str(true), str(model), measure)
                for outcome, count in counts.items():
                    effect = _text(outcome, setting.vocabulary)
                    rows += [(*head, effect, name, *count[:, i].tolist()) for i, name in enumerate(COMPONENTS)]
    names = ["row", "truth", "estimate", "measure", "outcome", "component", "shared", "complexity"]
    table = pd.DataFrame(rows, columns=names)
    table["score"] = table["shared"] / table["complexity"].where(table["complexity"] != 0)
    is_one = not (_is_column(truth) or _is_column(estimate))
    return table.drop(columns=names[:3]) if is_one else table


def _is_column(cells: Column) -> bool:
    return cells is not None and not isinstance(cells, (Model, str))


def _paired(truth: Column, estimate: Column) -> list[tuple[Hashable, Cell, Cell]]:
    """Pair the models of two columns, or of a column and one cell, with the label of each row."""
    sides = {"truth": truth, "estimate": estimate}
    columns = {name: pd.Series(cells) for name, cells in sides.items() if _is_column(cells)}
    index = next((cells.index for cells in columns.values()), pd.RangeIndex(1))
    if not all(cells.index.equals(index) for cells in columns.values()):
        raise ValueError(
            f"truth has {len(columns['truth'])} rows and estimate {len(columns['estimate'])}, or their "
            "index labels differ; give columns of one table, or one model for all rows"
        )
    read = [
        [_cell(cell, name, i, index) for i, cell in enumerate(columns[name])]
        if name in columns
        else [_cell(cells, name, None, index)] * len(index)
        for name, cells in sides.items()
    ]
    return list(zip(index.tolist(), *read, strict=True))


def _cell(cell: Any, name: str, row: int | None, index: pd.Index) -> Cell:
    where = name if row is None else name_row(row, index, name)
    if cell is None or (pd.api.types.is_scalar(cell) and pd.isna(cell)):
        raise ValueError(f"{where} is missing; leave failed runs out")
    models = as_models(cell)
    if not models or (name == "truth" and len(models) > 1):
        raise ValueError(f"{where}: expected {'one model' if name == 'truth' else 'a model'}, found {len(models)}")
    return models
