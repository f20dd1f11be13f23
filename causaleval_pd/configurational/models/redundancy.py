"""What can be deleted from a model without changing the configurations that it allows."""

from __future__ import annotations

import itertools
import math

from ..formulas.formula import Atom, Model, as_model
from ..formulas.limits import MAX_FORMS, FormulaTooLargeError
from ..formulas.truth_table import TruthTable, free_planes, ideal_table
from ..formulas.vocabulary import Domains, Vocabulary
from .inus import allowed_rows
from .minimisation import Caps, Minimiser


def minimal_models(model: Model | str, domains: Domains | None = None) -> tuple[Model, ...]:
    """Return the models that are left when all that is redundant on a model's ideal data has been deleted.

    Parameters
    ----------
    model : Model or str
        A model.
    domains : mapping, optional
        Values of each multi-value factor.

    Returns
    -------
    tuple of Model
        All combinations of minimal left-hand sides; empty if an outcome is constant.

    Raises
    ------
    FormulaTooLargeError
        If there are too many, or finding them would take too long.
    ValueError
        If a value occurs that the factor does not have.

    Examples
    --------
    >>> minimal_models("A*B+a*B+A*C<->D")
    (Model('A*C+B<->D'),)
    """
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


def redundant_atoms(model: Model | str, domains: Domains | None = None) -> tuple[Atom, ...]:
    """Return the atoms that the other atoms entail: without such an atom the model allows the same configurations.

    Parameters
    ----------
    model : Model or str
        A model.
    domains : mapping, optional
        Values of each multi-value factor.

    Returns
    -------
    tuple of Atom
        Each of them is redundant; without one of them another may be needed.

    Raises
    ------
    FormulaTooLargeError
        If there are too many configurations.
    ValueError
        If a value occurs that the factor does not have.

    Examples
    --------
    >>> redundant_atoms("(A<->B)*(a<->b)")
    (Atom('a<->b'), Atom('A<->B'))
    >>> redundant_atoms("(A+B<->C)*(C+D<->E)")
    ()
    """
    model, words = as_model(model), Vocabulary(domains)
    for atom in model.atoms:
        words.encode((*atom.literals, atom.outcome))
    table = TruthTable(*free_planes(model.factors, words))
    allowed = allowed_rows(model, table, words)
    found = []
    for i, atom in enumerate(model.atoms):
        others = table.rows
        for rows in allowed[:i] + allowed[i + 1 :]:
            others &= rows
        if not others & ~allowed[i]:
            found.append(atom)
    return tuple(found)
