"""Draws of random configurational models without redundancies, by rejection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from ..formulas.formula import Atom, Conjunction, Literal, Model, as_model, literal_text
from ..formulas.truth_table import free_planes
from ..formulas.vocabulary import Domains, Vocabulary, read_domains

#: proposals after which a draw is given up
MAX_PROPOSALS = 50_000
_BINARY = (0, 1)


class NoSuchModelError(ValueError):
    """No model of the asked-for shape was found; the message says which shape.

    Examples
    --------
    >>> from causaleval_pd.configurational import random_model
    >>> random_model(["A", "B", "C"], outcomes=1, disjuncts=3, conjuncts=1, rng=1)
    Traceback (most recent call last):
        ...
    causaleval_pd.configurational.simulation.draws.NoSuchModelError: 50000 proposals over the factors A, B, C held no
    model without redundancies with outcomes C (last tried: disjuncts of [1, 1, 1] literals); ask for fewer
    disjuncts or more factors
    """


@lru_cache(maxsize=64)
def _planes(domains: tuple[tuple[int, ...], ...]) -> tuple[int, tuple[dict[int, int], ...]]:
    """Return all configurations of factors with these values as a bit set, and those with each value by factor."""
    names = [str(i) for i in range(len(domains))]
    words = Vocabulary(dict(zip(names, domains, strict=True)))
    everything, planes = free_planes(names, words)
    by_factor = tuple(
        {value: planes[words.bit((name, value))] for value in domain}
        for name, domain in zip(names, domains, strict=True)
    )
    return everything, by_factor


def redundancy_free(model: Model | str, domains: Domains | None = None) -> bool:
    """Tell whether every part of a model makes a difference.

    No literal, disjunct or atom can be deleted without changing the set of configurations that the model allows, and no
    outcome is constant in that set. For a model with one atom this says that its left-hand side is INUS.

    Parameters
    ----------
    model : Model
        The model.
    domains : mapping, optional
        Values of multi-value factors.

    Returns
    -------
    bool
        Whether nothing can be deleted.

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
    return _redundancy_free(as_model(model), read_domains(domains))


def _redundancy_free(model: Model, domains: Domains) -> bool:
    everything, plane = _plane_of(model.factors, domains)
    cubes = [[_meet(one, plane, everything) for one in atom.disjuncts] for atom in model.atoms]
    left = [_join(found) for found in cubes]
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


def _plane_of(factors: Sequence[str], domains: Domains) -> tuple[int, dict[Literal, int]]:
    """Return all configurations of some factors, and those that have each literal."""
    everything, planes = _planes(tuple(tuple(domains.get(name, _BINARY)) for name in factors))
    plane = {(name, value): rows for name, own in zip(factors, planes, strict=True) for value, rows in own.items()}
    return everything, plane


def _irredundant(disjuncts: Sequence[Conjunction], domains: Domains) -> bool:
    """Tell whether a left-hand side by itself varies and has nothing that can be deleted."""
    everything, plane = _plane_of(sorted({name for one in disjuncts for name, _ in one}), domains)
    cubes = [_meet(one, plane, everything) for one in disjuncts]
    left = _join(cubes)
    return left not in (0, everything) and not _deletable(disjuncts, cubes, left, everything, plane, everything)


def _deletable(
    disjuncts: Sequence[Conjunction],
    cubes: list[int],
    left: int,
    others: int,
    plane: Mapping[Literal, int],
    everything: int,
) -> bool:
    """Tell whether a disjunct or a literal of an atom can be deleted where the other atoms hold."""
    for i, disjunct in enumerate(disjuncts):
        rest = _join(cubes[:i] + cubes[i + 1 :])
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


def _join(cubes: Sequence[int]) -> int:
    found = 0
    for cube in cubes:
        found |= cube
    return found


def stream(seed: int, number: int) -> Iterator[float]:
    """Yield uniform numbers in [0, 1) that depend on the seed and the number alone."""
    generator = np.random.Generator(np.random.Philox(key=np.array([seed, number], np.uint64)))
    while True:
        yield from generator.random(64).tolist()


def _choose(items: Sequence[str], size: int, uniforms: Iterator[float]) -> list[str]:
    """Draw `size` different items, each subset equally likely."""
    left = list(items)
    return [left.pop(int(next(uniforms) * len(left))) for _ in range(size)]


def propose(
    outcome: Literal,
    sizes: Sequence[int],
    factors: Sequence[str],
    domains: Domains,
    uniforms: Iterator[float],
    negated: float = 0.5,
) -> tuple[Conjunction, ...]:
    """Draw a left-hand side without regard to redundancies.

    Parameters
    ----------
    outcome : (str, int)
        The outcome.
    sizes : sequence of int
        Number of literals of each disjunct.
    factors : sequence of str
        Factors to draw from; the outcome's own is left out.
    domains : mapping
        Values of multi-value factors.
    uniforms : iterator of float
        Random numbers.
    negated : float
        Probability of value 0 of a binary factor; the values of others are equally likely.

    Returns
    -------
    tuple of frozensets of literals
        Every disjunct is a uniform subset of the factors of its size, its values independent.
    """
    eligible = [name for name in factors if name != outcome[0]]
    disjuncts = []
    for size in sizes:
        conjunction = []
        for name in _choose(eligible, size, uniforms):
            domain = domains.get(name, _BINARY)
            u = next(uniforms)
            value = int(u >= negated) if tuple(domain) == _BINARY else domain[int(u * len(domain))]
            conjunction.append((name, value))
        disjuncts.append(frozenset(conjunction))
    return tuple(disjuncts)


def draw_model(
    outcomes: Sequence[Literal],
    sizes: Callable[[Literal], Sequence[int]],
    factors: Sequence[str],
    domains: Domains,
    uniforms: Iterator[float],
    *,
    negated: float = 0.5,
    accept: Callable[[Model], bool] | None = None,
) -> tuple[Model, int]:
    """Draw a redundancy-free acyclic model by rejection.

    Each atom is proposed until it is redundancy-free by itself; all atoms are proposed anew until the model is acyclic,
    redundancy-free (`redundancy_free`) and accepted. As the first condition concerns the atoms one by one, this is the
    law
    of the proposals given that they meet all conditions; with `negated=0.5` and fixed sizes all such models are equally
    likely, because each is proposed in as many orders of its disjuncts as any other.

    Parameters
    ----------
    outcomes : sequence of literals
        Outcomes of the atoms.
    sizes : callable
        From an outcome to the numbers of literals of its disjuncts; called for every proposal.
    factors : sequence of str
        Factors to draw from.
    domains : mapping
        Values of multi-value factors.
    uniforms : iterator of float
        Random numbers.
    negated : float
        Probability of value 0 of a binary factor.
    accept : callable, optional
        A further condition.

    Returns
    -------
    model : Model
        The model.
    proposals : int
        How many atoms were proposed.

    Raises
    ------
    NoSuchModelError
        If none was found in 50000 proposals of atoms.

    Examples
    --------
    >>> model, proposals = draw_model([("D", 1)], lambda outcome: (1, 2), list("ABCD"), {}, stream(1, 0))
    >>> sorted(map(len, model.atoms[0].disjuncts)), proposals
    ([1, 2], 2)
    """
    room = min(len([name for name in factors if name != outcome[0]]) for outcome in outcomes)
    proposals = 0
    lefts: list[tuple[Conjunction, ...]] = []
    while True:
        outcome = outcomes[len(lefts)]
        wanted = tuple(sizes(outcome))
        proposals += 1
        if proposals > MAX_PROPOSALS:
            raise NoSuchModelError(_no_such_model(outcomes, wanted, factors))
        if max(wanted) > room:
            continue
        left = propose(outcome, wanted, factors, domains, uniforms, negated)
        if not _irredundant(left, domains):
            continue
        lefts.append(left)
        if _cyclic(lefts, outcomes):
            lefts = []
        elif len(lefts) == len(outcomes):
            model = Model(tuple(map(Atom, lefts, outcomes)))
            if (len(lefts) == 1 or _redundancy_free(model, domains)) and (accept is None or accept(model)):
                return model, proposals
            lefts = []


def _cyclic(lefts: Sequence[Sequence[Conjunction]], outcomes: Sequence[Literal]) -> bool:
    """Tell whether the atoms drawn so far make a cycle; the first `len(lefts)` outcomes have one."""
    effects = {name for name, _ in outcomes[: len(lefts)]}
    causes: dict[str, set[str]] = {}
    for (name, _), left in zip(outcomes, lefts, strict=False):
        causes.setdefault(name, set()).update(cause for one in left for cause, _ in one if cause in effects)
    while causes:
        roots = [name for name, own in causes.items() if not own & causes.keys()]
        if not roots:
            return True
        for name in roots:
            del causes[name]
    return False


def _no_such_model(outcomes: Sequence[Literal], sizes: Sequence[int], factors: Sequence[str]) -> str:
    names = ", ".join(map(literal_text, outcomes))
    return (
        f"{MAX_PROPOSALS} proposals over the factors {', '.join(factors)} held no model without redundancies with "
        f"outcomes {names} (last tried: disjuncts of {list(sizes)} literals); ask for fewer disjuncts or more factors"
    )
