"""Random models without redundancies, drawn by rejection: ground truths with stated sizes, signs and switches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from ...contract.checks import check_number, check_whole, shown
from ...execution.random_streams import RNGLike, resolve_seed
from ..formulas.formula import Atom, Conjunction, Literal, Model, literal_text
from ..formulas.reader import as_literal, as_model
from ..formulas.truth_table import topological_order
from ..formulas.vocabulary import BINARY, Domains, read_domains
from ..models.redundancy import is_irredundant_alone, is_redundancy_free

__all__ = ["NoSuchModelError", "random_models"]

Range = int | tuple[int, int]

#: proposals after which a draw is given up
MAX_PROPOSALS = 50_000
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class NoSuchModelError(ValueError):
    """No model of the requested shape was found; the message names the shape.

    Examples
    --------
    >>> from causaleval_pd.configurational import random_models
    >>> random_models(1, ["A", "B", "C"], outcomes=1, disjuncts=3, conjuncts=1, rng=1)
    Traceback (most recent call last):
        ...
    causaleval_pd.configurational.simulation.ground_truths.NoSuchModelError: 50000 proposals over the factors A, B, C
    held no model without redundancies with outcomes C (last tried: disjuncts of [1, 1, 1] literals); ask for fewer
    disjuncts or more factors
    """


def switches(model: Model | str) -> int:
    """Count the factors that occur with more than one value on left-hand sides, as F in `(A+B*F<->D)*(C+B*f<->E)`."""
    model = as_model(model)
    literals = {literal for atom in model.atoms for literal in atom.literals}
    return len(literals) - len({name for name, _ in literals})


def random_models(
    n: int,
    factors: int | Sequence[str],
    *,
    outcomes: int | Sequence[str] = 1,
    disjuncts: Range = (1, 3),
    conjuncts: Range = (1, 3),
    negated: float = 0.5,
    switch: Range | None = None,
    domains: Domains | None = None,
    rng: RNGLike = None,
) -> pd.Series:
    """Draw atomic or complex models without redundancies, as the ground truths of a simulation.

    The number of disjuncts of an atom and of literals of a disjunct are uniform in their ranges, a disjunct is a
    uniform subset of the factors, its values independent; proposals are rejected until the model is acyclic, has no
    redundant part (`redundancy_free`) and the wanted number of switches. Sizes that leave many models redundant are
    therefore rarer than their share of the range.

    Parameters
    ----------
    n : int
        How many.
    factors : int or sequence of str
        Names, or how many letters; the last ones are the outcomes if these are given as a number.
    outcomes : int or sequence of str
        How many, or their literals, as `["D", "e"]`.
    disjuncts, conjuncts : int or (int, int)
        Disjuncts an atom, literals a disjunct: a number, or the smallest and largest.
    negated : float
        Probability that a literal of a binary factor is negative.
    switch : int or (int, int), optional
        Number of factors that occur with more than one value, as F in `(A+B*F<->D)*(C+B*f<->E)`; default any.
    domains : mapping, optional
        Values of multi-value factors by name.
    rng : int, Generator or None
        Seed; the first models do not depend on `n`.

    Returns
    -------
    Series
        Formulas, named `truth`.

    Raises
    ------
    NoSuchModelError
        If no model of that shape was found.
    ValueError
        If a setting is invalid.

    Examples
    --------
    >>> random_models(3, 4, disjuncts=2, conjuncts=(1, 2), rng=5).tolist()
    ['A*B+C<->D', 'A+B*C<->D', 'a*C+B<->D']
    """
    for name, given in (("factors", factors), ("outcomes", outcomes)):
        if not isinstance(given, int) and (isinstance(given, str) or not isinstance(given, Sequence)):
            raise TypeError(f"{name} must be a number or a list of names, found {shown(given)}")
    if isinstance(factors, int) and not 2 <= factors <= len(_LETTERS):
        raise ValueError(f"factors must be 2 to {len(_LETTERS)}, found {factors}; give names for more")
    names = list(_LETTERS[:factors]) if isinstance(factors, int) else [name.upper() for name in factors]
    if isinstance(outcomes, int):
        if not 1 <= outcomes < len(names):
            raise ValueError(f"outcomes must be 1 to {len(names) - 1} for {len(names)} factors, found {outcomes}")
        chosen: list[Literal] = [(name, 1) for name in names[-outcomes:]]
    else:
        chosen = [as_literal(one) for one in outcomes]
        if not set(chosen) or not {name for name, _ in chosen} <= set(names):
            raise ValueError(f"outcomes must be literals of the factors {names}, found {list(outcomes)}")
    check_number(negated, "negated", "[0, 1]")
    values = read_domains(domains)
    ranges = [_range(disjuncts, "disjuncts", 1), _range(conjuncts, "conjuncts", 1)]
    wanted = None if switch is None else _range(switch, "switch", 0)
    seed, drawn = resolve_seed(rng), list[str]()
    for number in range(check_whole(n, "n")):
        uniforms = stream(seed, number)

        def sizes(_: Literal, uniforms: Iterator[float] = uniforms) -> list[int]:
            return [_draw(ranges[1], uniforms) for _ in range(_draw(ranges[0], uniforms))]

        def accept(model: Model) -> bool:
            return wanted is None or wanted[0] <= switches(model) <= wanted[1]

        model = draw_model(chosen, sizes, names, values, uniforms, negated=negated, accept=accept)
        drawn.append(str(model))
    return pd.Series(drawn, name="truth", dtype="str")


def _range(given: Range, name: str, low: int) -> tuple[int, int]:
    limits = (given, given) if isinstance(given, int) else given
    whole = isinstance(limits, (tuple, list)) and len(limits) == 2 and all(isinstance(x, int) for x in limits)
    if not whole or not low <= limits[0] <= limits[1]:
        raise ValueError(f"{name} must be a number from {low}, or (smallest, largest), found {shown(given)}")
    first, last = limits
    return first, last


def _draw(given: tuple[int, int], uniforms: Iterator[float]) -> int:
    return given[0] + int(next(uniforms) * (given[1] - given[0] + 1))


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
    values: Sequence[int] | None = None,
) -> tuple[Conjunction, ...] | None:
    """Draw a left-hand side with disjuncts of given `sizes`, without regard to redundancies."""
    eligible = [name for name in factors if name != outcome[0]]
    left = [] if values is None else list(values)
    disjuncts = []
    for size in sizes:
        conjunction = []
        for name in _choose(eligible, size, uniforms):
            domain = domains.get(name, BINARY)
            u = next(uniforms)
            if values is not None:
                value = left.pop(int(u * len(left)))
                if value not in domain:
                    return None
                conjunction.append((name, value))
                continue
            value = int(u >= negated) if tuple(domain) == BINARY else domain[int(u * len(domain))]
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
    values: Callable[[Literal], Sequence[int]] | None = None,
    accept: Callable[[Model], bool] | None = None,
) -> Model:
    """Draw a redundancy-free acyclic model by rejection."""
    # Each atom is proposed until it is redundancy-free by itself, with disjuncts of the `sizes` of its outcome, drawn
    # for every proposal; all atoms are proposed anew until the model is acyclic, redundancy-free (`redundancy_free`)
    # and accepted. As the first condition concerns the atoms one by one, this is the law of the proposals given that
    # they meet all conditions. With the `values` of each outcome's literals (see `propose`), or with `negated=0.5` if
    # all factors are binary, and fixed sizes all such models are equally likely, because each is proposed in as many
    # orders of its disjuncts as any other.
    # A `NoSuchModelError` ends the search after 50000 proposals of atoms.
    room = min(len([name for name in factors if name != outcome[0]]) for outcome in outcomes)
    proposals = 0
    lefts: list[tuple[Conjunction, ...]] = []
    while True:
        outcome = outcomes[len(lefts)]
        wanted = tuple(sizes(outcome))
        proposals += 1
        if proposals > MAX_PROPOSALS:
            raise NoSuchModelError(no_such_model(outcomes, wanted, factors))
        if max(wanted) > room:
            continue
        left = propose(
            outcome, wanted, factors, domains, uniforms, negated, None if values is None else values(outcome)
        )
        if left is None or not is_irredundant_alone(left, domains):
            continue
        lefts.append(left)
        if _cyclic(lefts, outcomes):
            lefts = []
        elif len(lefts) == len(outcomes):
            model = Model(tuple(map(Atom, lefts, outcomes)))
            if (len(lefts) == 1 or is_redundancy_free(model, domains)) and (accept is None or accept(model)):
                return model
            lefts = []


def _cyclic(lefts: Sequence[Sequence[Conjunction]], outcomes: Sequence[Literal]) -> bool:
    """Check whether the atoms drawn so far, which have the first `len(lefts)` outcomes, make a cycle."""
    if len(lefts) == 1:
        # no factor is among its own causes
        return False
    causes: dict[str, set[str]] = {}
    for (name, _), left in zip(outcomes, lefts, strict=False):
        causes.setdefault(name, set()).update(cause for one in left for cause, _ in one)
    return topological_order(causes) is None


def no_such_model(outcomes: Sequence[Literal], sizes: Sequence[int], factors: Sequence[str]) -> str:
    """Describe a shape of which no model was found."""
    names = ", ".join(map(literal_text, outcomes))
    return (
        f"{MAX_PROPOSALS} proposals over the factors {', '.join(factors)} held no model without redundancies with "
        f"outcomes {names} (last tried: disjuncts of {list(sizes)} literals); ask for fewer disjuncts or more factors"
    )
