"""Redundancy: literals, disjuncts and atoms that can be deleted without changing what a model allows; INUS form [1]_.

References
----------
.. [1] Baumgartner, M. & Falk, C. (2023). Boolean difference-making: a modern regularity theory of causation. The
   British Journal for the Philosophy of Science 74. doi:10.1093/bjps/axz047
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from ..formulas.formula import Atom, Conjunction, Literal, Model, require_equivalences
from ..formulas.reader import as_model
from ..formulas.truth_table import TruthTable, free_planes, ideal_table
from ..formulas.vocabulary import (
    BINARY,
    MAX_FORMS,
    Domains,
    FormulaTooLargeError,
    Vocabulary,
    bits,
    read_domains,
    union,
)
from .minimisation import Caps, Minimiser

__all__ = ["is_inus", "minimal_models", "redundancy_free", "redundant_atoms"]


def full_table(form: Iterable[int], vocabulary: Vocabulary) -> TruthTable:
    """Return all configurations of the factors of a formula."""
    names = sorted({name for name, _ in vocabulary.decode(union(form))})
    return TruthTable(*free_planes(names, vocabulary))


def is_irredundant(form: Iterable[int], table: TruthTable) -> bool:
    """Check whether a formula varies on a table and changes its truth values with every deletion."""
    form = list(form)
    truth = table.disjunction(form)
    if not truth or truth == table.rows:
        return False
    for i, code in enumerate(form):
        rest = form[:i] + form[i + 1 :]
        others = table.disjunction(rest)
        if others == truth:
            return False
        if any(code != bit and table.conjunction(code ^ bit) | others == truth for bit in bits(code)):
            return False
    return True


def is_inus(model: Model | str, domains: Domains | None = None) -> bool:
    """Check whether no literal and no disjunct of a model can be deleted.

    Deleting one must change the truth values of the left-hand side on configurations that the other atoms allow, and
    the left-hand side must vary there.

    Parameters
    ----------
    model : Model or str
        The model.
    domains : mapping, optional
        Values of multi-value factors; a factor that is not mentioned may have one more value than the model gives it.

    Returns
    -------
    bool
        Whether every atom is in INUS form.

    Raises
    ------
    FormulaTooLargeError
        If there are too many configurations.

    Examples
    --------
    >>> is_inus("A*b+C<->E"), is_inus("A+A*B<->E"), is_inus("A*B+a*B<->E")
    (True, False, False)
    >>> is_inus("(D<->E)*(G+E*d<->K)")
    False
    """
    model = as_model(model)
    words = open_vocabulary(model, domains)
    forms = [[words.encode(one) for one in atom.disjuncts] for atom in model.atoms]
    table = full_table((*itertools.chain(*forms), *map(words.bit, model.outcomes)), words)
    allowed = allowed_rows(model, table, words)
    for i, form in enumerate(forms):
        rows = table.rows
        for other in allowed[:i] + allowed[i + 1 :]:
            rows &= other
        if not is_irredundant(form, TruthTable(rows, table.planes)):
            return False
    return True


def allowed_rows(model: Model, table: TruthTable, vocabulary: Vocabulary) -> list[int]:
    """Return the configurations of a table on which each atom of a model holds, one bit set an atom."""
    require_equivalences(model)
    return [
        table.rows & ~(table.disjunction(map(vocabulary.encode, a.disjuncts)) ^ table.planes[vocabulary.bit(a.outcome)])
        for a in model.atoms
    ]


def open_vocabulary(model: Model, domains: Domains | None = None) -> Vocabulary:
    """Return a vocabulary in which multi-value factors of unknown domain have one value more than the model mentions.

    Factors with the values 0 and 1 keep two.
    """
    values: dict[str, set[int]] = {}
    for atom in model.atoms:
        for name, value in (*atom.literals, atom.outcome):
            values.setdefault(name, {0, 1}).add(value)
    more = {name: [*found, max(found) + 1] for name, found in values.items() if max(found) > 1}
    return Vocabulary(more | {name: list(known) for name, known in read_domains(domains).items()})


def minimal_models(model: Model | str, domains: Domains | None = None) -> tuple[Model, ...]:
    """Return the models that remain when everything redundant on a model's ideal data is deleted.

    Parameters
    ----------
    model : Model or str
        The model.
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
    """Return the atoms that the other atoms entail: the model allows the same configurations without such an atom.

    Parameters
    ----------
    model : Model or str
        The model.
    domains : mapping, optional
        Values of each multi-value factor.

    Returns
    -------
    tuple of Atom
        Each of them is redundant by itself; once one is deleted, another may be needed.

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
    everything, plane = _plane_of(model.factors, domains)
    cubes = [[_meet(one, plane, everything) for one in atom.disjuncts] for atom in model.atoms]
    left = [union(found) for found in cubes]
    holds = [everything & ~(found ^ plane[atom.outcome]) for found, atom in zip(left, model.atoms, strict=True)]
    allowed = everything
    for one in holds:
        allowed &= one
    for i, atom in enumerate(model.atoms):
        others = everything
        for j, one in enumerate(holds):
            others &= one if j != i else everything
        outcome = plane[atom.outcome]
        if not allowed & outcome or not allowed & ~outcome or others & ~holds[i] == 0:
            return False
        if _deletable(atom.disjuncts, cubes[i], left[i], others, plane, everything):
            return False
    return True


@lru_cache(maxsize=64)
def _cached_planes(domains: tuple[tuple[int, ...], ...]) -> tuple[int, tuple[dict[int, int], ...]]:
    """Return all configurations of factors with these values as a bit set, and those with each value by factor."""
    names = [str(i) for i in range(len(domains))]
    words = Vocabulary(dict(zip(names, domains, strict=True)))
    everything, planes = free_planes(names, words)
    by_factor = tuple(
        {value: planes[words.bit((name, value))] for value in domain}
        for name, domain in zip(names, domains, strict=True)
    )
    return everything, by_factor


def _plane_of(factors: Sequence[str], domains: Domains) -> tuple[int, dict[Literal, int]]:
    """Return all configurations of some factors, and those that have each literal."""
    everything, planes = _cached_planes(tuple(tuple(domains.get(name, BINARY)) for name in factors))
    plane = {(name, value): rows for name, own in zip(factors, planes, strict=True) for value, rows in own.items()}
    return everything, plane


def is_irredundant_alone(disjuncts: Sequence[Conjunction], domains: Domains) -> bool:
    """Check whether a left-hand side by itself varies and has nothing that can be deleted."""
    everything, plane = _plane_of(sorted({name for one in disjuncts for name, _ in one}), domains)
    cubes = [_meet(one, plane, everything) for one in disjuncts]
    left = union(cubes)
    return left not in (0, everything) and not _deletable(disjuncts, cubes, left, everything, plane, everything)


def _deletable(
    disjuncts: Sequence[Conjunction],
    cubes: list[int],
    left: int,
    others: int,
    plane: Mapping[Literal, int],
    everything: int,
) -> bool:
    """Check whether a disjunct or a literal of an atom can be deleted where the other atoms hold.

    Parameters
    ----------
    disjuncts : sequence of frozensets of literals
        The left-hand side.
    cubes, left : list of int, int
        Configurations on which each disjunct, and on which the left-hand side, is true.
    others : int
        Configurations on which the other atoms hold.
    plane, everything : mapping, int
        Configurations that have each literal, and all of them.
    """
    for i, disjunct in enumerate(disjuncts):
        rest = union(cubes[:i] + cubes[i + 1 :])
        if len(cubes) > 1 and not others & (left ^ rest):
            return True
        if len(disjunct) > 1 and any(
            not others & (left ^ (rest | _meet(disjunct - {literal}, plane, everything))) for literal in disjunct
        ):
            return True
    return False


def _meet(literals: Conjunction, plane: Mapping[Literal, int], everything: int) -> int:
    for literal in literals:
        everything &= plane[literal]
    return everything
