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

__all__ = ["redundancy_free"]


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
    """Check whether a disjunct or a literal of an atom can be deleted where the `others` hold."""
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
