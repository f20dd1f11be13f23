"""Submodels: relations between two models [1]_ [2]_, and all submodels of an atom [3]_.

References
----------
.. [1] Baumgartner, M. & Thiem, A. (2020). Often trusted but never (properly) tested: evaluating Qualitative Comparative
   Analysis. Sociological Methods & Research 49. doi:10.1177/0049124117701487
.. [2] Parkkinen, V.-P. & Baumgartner, M. (2023). Robustness and model selection in configurational causal modeling.
   Sociological Methods & Research 52. doi:10.1177/0049124120986200
.. [3] Arel-Bundock, V. (2022). The double bind of Qualitative Comparative Analysis. Sociological Methods & Research 51.
   doi:10.1177/0049124119882460
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Sequence

import pandas as pd

from ...contract.checks import check_type, shown
from ..formulas.formula import Atom, Conjunction, Model, literal_text, require_equivalences
from ..formulas.reader import as_model
from ..formulas.truth_table import Setting, evaluation_order, ideal_table
from ..formulas.vocabulary import Domains, FormulaTooLargeError, Vocabulary, Work, bits
from .exposition import Expansion
from .matching import has_injection, injects
from .minimisation import NO_CAPS, Form, Minimiser
from .redundancy import full_table, is_irredundant

__all__ = ["causal_submodel_of", "is_cyclic", "relation_matrix", "strict_submodel_of", "submodel_of", "submodels"]

MAX_NCR_COMPLEXITY = 16


def formula_within(smaller: Sequence[Conjunction], larger: Sequence[Conjunction]) -> bool:
    """Check whether the first formula results from the second by deleting literals and disjuncts.

    Every disjunct of the first must be contained in a different disjunct of the second.
    """
    if len(smaller) > len(larger):
        return False
    options = [sum(1 << i for i, y in enumerate(larger) if x <= y) for x in smaller]
    return all(options) and has_injection(options)


def submodel_of(model: Model | str, other: Model | str) -> bool:
    """Check whether a model results from another one by deleting literals, disjuncts and atoms.

    Parameters
    ----------
    model, other : Model or str
        The part and the whole.

    Returns
    -------
    bool
        Whether every atom of the model is within the atom of the same outcome.

    Examples
    --------
    >>> submodel_of("A+C<->E", "A*b+C<->E"), submodel_of("A+b<->E", "A*b+C<->E")
    (True, False)
    """
    model, other = as_model(model), as_model(other)
    return all(
        atom.outcome in other.by_outcome and formula_within(atom.disjuncts, other.by_outcome[atom.outcome].disjuncts)
        for atom in model.atoms
    )


def strict_submodel_of(model: Model | str, other: Model | str) -> bool:
    """Check whether a model is a submodel of another one and at least one of its atoms is smaller than its counterpart.

    Parameters
    ----------
    model, other : Model or str
        The part and the whole; having fewer atoms alone does not make a model a strict submodel.

    Returns
    -------
    bool
        Whether the model is a strict submodel.

    Examples
    --------
    >>> whole = "(A*b+C<->E)*(E<->F)"
    >>> strict_submodel_of("A+C<->E", whole), strict_submodel_of("A*b+C<->E", whole)
    (True, False)
    """
    model, other = as_model(model), as_model(other)
    return submodel_of(model, other) and any(atom != other.by_outcome[atom.outcome] for atom in model.atoms)


def causal_submodel_of(model: Model | str, other: Model | str, setting: Setting | None = None) -> bool:
    """Check whether another model entails all direct and indirect causes that a model ascribes.

    Every formula of the model, as written and with some intermediate outcomes substituted and minimised on its ideal
    data, must be within a formula of the other model in which the same outcomes are substituted, and perhaps some that
    the model does not mention at all.

    Parameters
    ----------
    model, other : Model or str
        The part and the whole, both acyclic.
    setting : Setting, optional
        Values of multi-value factors.

    Returns
    -------
    bool
        Whether the model is a causal submodel.

    Raises
    ------
    ValueError
        If a model is cyclic, or mentions values that a factor does not have.
    FormulaTooLargeError
        If the evaluation would take too long.

    Examples
    --------
    >>> chain = "(A+B<->C)*(C+D<->E)"
    >>> causal_submodel_of("A+D<->E", chain), submodel_of("A+D<->E", chain)
    (True, False)
    """
    model, other = as_model(model), as_model(other)
    require_equivalences(model)
    require_equivalences(other)
    if any(atom.outcome not in other.by_outcome for atom in model.atoms):
        return False
    words = (setting or Setting()).vocabulary
    own, others = Entailed(model, words), Entailed(other, words)
    omitted = frozenset(words.bit(outcome) for outcome in other.outcomes if outcome[0] not in model.factors)
    for outcome in own.atoms:
        for substituted, forms in own.forms(outcome).items():
            claims = [
                form for sub, found in others.forms(outcome).items() if sub <= substituted | omitted for form in found
            ]
            if not all(any(injects(list(form), list(claim)) for claim in claims) for form in forms):
                return False
    return True


class Entailed:
    """The minimal formulas that a model entails, by outcome and by the outcomes that were substituted."""

    def __init__(self, model: Model, words: Vocabulary) -> None:
        if evaluation_order(model) is None:
            raise ValueError(f"{model} is cyclic: chains of causes have no end, so indirect causes are not defined")
        self.atoms = {words.bit(a.outcome): frozenset(map(words.encode, a.disjuncts)) for a in model.atoms}
        self.work = Work()
        self.expansion = Expansion(self.atoms, words, self.work)
        self.table = ideal_table(model, words)
        self._forms: dict[int, dict[frozenset[int], set[Form]]] = {}

    def forms(self, outcome: int) -> dict[frozenset[int], set[Form]]:
        """Return the minimal formulas of an outcome by the set of substituted outcomes."""
        if outcome not in self._forms:
            minimiser = Minimiser(self.table, outcome, NO_CAPS, self.work)
            found: dict[frozenset[int], set[Form]] = {}
            for substituted, candidate in self.expansion.substitutions(self.atoms[outcome]):
                forms = minimiser.forms(candidate) if substituted else [candidate]
                found.setdefault(substituted, set()).update(forms)
            self._forms[outcome] = found
        return self._forms[outcome]


def atom_submodels(atom: Atom, vocabulary: Vocabulary) -> set[Form]:
    """Return the irredundant formulas that result from an atom's left-hand side by deleting literals and disjuncts.

    Deletions that make two disjuncts equal do not count. Atoms with more than 16 literals are refused, because every
    set of literals is a candidate.

    Examples
    --------
    >>> from causaleval_pd.configurational import parse
    >>> len(atom_submodels(parse("A*b+C<->E").atoms[0], Vocabulary()))
    7
    """
    if atom.complexity > MAX_NCR_COMPLEXITY:
        raise FormulaTooLargeError(
            f"{atom} has {atom.complexity} literals, so 2**{atom.complexity} candidates for submodels; "
            f"the limit is {MAX_NCR_COMPLEXITY} literals"
        )
    codes = [vocabulary.encode(one) for one in atom.disjuncts]
    table = full_table(codes, vocabulary)
    found = set()
    for parts in itertools.product(*map(_parts, codes)):
        kept = [part for part in parts if part]
        form = frozenset(kept)
        if kept and len(form) == len(kept) and form not in found and is_irredundant(kept, table):
            found.add(form)
    return found


def submodels(model: Model | str, truth: Model | str | None = None, *, domains: Domains | None = None) -> pd.DataFrame:
    """List the submodels of a model that have no redundant part: what `ncr` counts.

    A submodel is any formula that results from the left-hand side of an atom by deleting literals and disjuncts, if
    nothing more can be deleted without changing its truth function; deletions that make two disjuncts equal do not
    count. Defined for one atom; our extension to several lists the submodels of all atoms.

    Parameters
    ----------
    model : Model or str
        The model.
    truth : Model or str, optional
        A model whose submodels are looked for among them.
    domains : mapping, optional
        Values of multi-value factors.

    Returns
    -------
    DataFrame
        One row a submodel, by outcome, complexity and text: submodel, outcome, complexity, and with `truth` shared,
        whether it is a submodel of the truth too. The mean of shared is `ncr`.

    Raises
    ------
    FormulaTooLargeError
        If an atom has more than 16 literals.
    ValueError
        If a value occurs that a factor does not have.

    References
    ----------
    .. [1] Arel-Bundock, V. (2022). The double bind of Qualitative Comparative Analysis. Sociological Methods &
       Research 51. doi:10.1177/0049124119882460

    Examples
    --------
    >>> submodels("A*B+D<->E", truth="A*b+c*D<->E")
         submodel outcome  complexity  shared
    0       A<->E       E           1    True
    1       B<->E       E           1   False
    2       D<->E       E           1    True
    3     A*B<->E       E           2   False
    4     A+D<->E       E           2    True
    5     B+D<->E       E           2   False
    6   A*B+D<->E       E           3   False
    """
    model, words = as_model(model), Vocabulary(domains)
    other = None if truth is None else as_model(truth)
    rows: list[tuple[str, str, int, bool]] = []
    for atom in model.atoms:
        shared: set[Form] = set()
        if other is not None and atom.outcome in other.by_outcome:
            shared = atom_submodels(other.by_outcome[atom.outcome], words)
        texts = sorted(
            (sum(code.bit_count() for code in form), str(Atom(tuple(map(words.decode, form)), atom.outcome)), form)
            for form in atom_submodels(atom, words)
        )
        outcome = literal_text(atom.outcome, multi_value=words.multi_value)
        rows += [(text, outcome, complexity, form in shared) for complexity, text, form in texts]
    table = pd.DataFrame(rows, columns=["submodel", "outcome", "complexity", "shared"])
    return table if other is not None else table.drop(columns="shared")


def _parts(code: int) -> list[int]:
    """Return all subsets of a conjunction, the empty one included."""
    found = [0]
    for bit in bits(code):
        found += [part | bit for part in found]
    return found


def is_cyclic(model: Model | str) -> bool:
    """Check whether a factor is, directly or indirectly, among its own causes.

    Parameters
    ----------
    model : Model or str
        A model.

    Returns
    -------
    bool
        Whether the model has a cycle of factors.

    Examples
    --------
    >>> is_cyclic("(A+C<->B)*(B<->A)"), is_cyclic("(A+C<->B)*(B<->D)")
    (True, False)
    """
    return evaluation_order(as_model(model)) is None


def relation_matrix(
    models: Collection[Model | str], relation: Callable[[Model, Model], bool] = submodel_of
) -> pd.DataFrame:
    """Tabulate a relation between all pairs of models.

    Parameters
    ----------
    models : collection of Model or str
        Models; equal ones are listed once.
    relation : callable
        `relation(model, other)`, for example `submodel_of` or `causal_submodel_of`.

    Returns
    -------
    DataFrame
        True where the model of the row stands in the relation to the model of the column.

    Examples
    --------
    >>> relation_matrix(["A+C<->E", "A*b+C<->E"]).to_numpy().tolist()
    [[True, True], [False, True]]
    """
    check_type(models, Iterable, "a list of models", "models")
    if not callable(relation):
        raise TypeError(f"relation must be a function of two models, such as submodel_of, found {shown(relation)}")
    distinct = list(dict.fromkeys(map(as_model, models)))
    names = pd.Index(map(str, distinct), name="model")
    cells = [[relation(one, other) for other in distinct] for one in distinct]
    return pd.DataFrame(cells, index=names, columns=names.rename("other"), dtype=bool)
