"""Ground truths of simulations: random atomic and complex models with controls on size, signs and switches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from ...contract.checks import check_number, check_whole, shown
from ...execution.random_streams import RNGLike, resolve_seed
from ..formulas.formula import Literal, Model, as_model, parse
from ..formulas.vocabulary import Domains, read_domains
from .draws import draw_model, stream

Range = int | tuple[int, int]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def switches(model: Model | str) -> int:
    """Count the factors that occur with more than one value on left-hand sides, as F in `(A+B*F<->D)*(C+B*f<->E)`.

    Parameters
    ----------
    model : Model or str
        The model.

    Returns
    -------
    int
        Number of such factors.

    Examples
    --------
    >>> switches("(A+B*F<->D)*(C+B*f<->E)"), switches("A+B<->C")
    (1, 0)
    """
    model = as_model(model)
    literals = {literal for atom in model.atoms for literal in atom.literals}
    return len(literals) - len({name for name, _ in literals})


def random_model(
    factors: int | Sequence[str],
    *,
    outcomes: int | Sequence[str] = 1,
    disjuncts: Range = (1, 3),
    conjuncts: Range = (1, 3),
    negated: float = 0.5,
    switch: Range | None = None,
    domains: Domains | None = None,
    rng: RNGLike = None,
) -> Model:
    """Draw an atomic or complex model without redundancies, as the ground truth of a simulation.

    The number of disjuncts of an atom and of literals of a disjunct are uniform in their ranges, a disjunct is a
    uniform subset of the factors, its values independent; proposals are rejected until the model is acyclic, has no
    redundant part (`redundancy_free`) and the wanted number of switches. Sizes that leave many models redundant are
    therefore rarer than their share of the range.

    Parameters
    ----------
    factors : int or sequence of str
        Names, or how many letters; the last ones are the outcomes if these are given as a number.
    outcomes : int or sequence of str
        How many, or their literals, as `["D", "e"]`.
    disjuncts, conjuncts : int or (int, int)
        Disjuncts an atom, literals a disjunct: a number, or the smallest and largest.
    negated : float
        Probability that a literal of a binary factor is negative.
    switch : int or (int, int), optional
        Number of factors that occur with more than one value; default any.
    domains : mapping, optional
        Values of multi-value factors by name.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    Model
        The model.

    Raises
    ------
    NoSuchModelError
        If no model of that shape was found.
    ValueError
        If a setting makes no sense.

    Examples
    --------
    >>> random_model(5, disjuncts=2, conjuncts=2, rng=1)
    Model('a*c+a*D<->E')
    >>> random_model(7, outcomes=2, disjuncts=2, conjuncts=(1, 2), switch=1, rng=1)
    Model('(A+B*c<->F)*(B*D+d*E<->G)')
    """
    return next(_random_models(1, factors, outcomes, disjuncts, conjuncts, negated, switch, domains, rng))


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
    """Draw models independently, as a column of truths.

    Parameters
    ----------
    n : int
        How many.
    factors, outcomes, disjuncts, conjuncts, negated, switch, domains
        As in `random_model`.
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
        If a setting makes no sense.

    Examples
    --------
    >>> random_models(3, 4, disjuncts=2, conjuncts=(1, 2), rng=5).tolist()
    ['A*B+C<->D', 'A+B*C<->D', 'a*C+B<->D']
    """
    drawn = _random_models(n, factors, outcomes, disjuncts, conjuncts, negated, switch, domains, rng)
    return pd.Series(list(map(str, drawn)), name="truth", dtype="str")


def _random_models(
    n: int,
    factors: int | Sequence[str],
    outcomes: int | Sequence[str],
    disjuncts: Range,
    conjuncts: Range,
    negated: float,
    switch: Range | None,
    domains: Domains | None,
    rng: RNGLike,
) -> Iterator[Model]:
    """Check the settings once, then yield models."""
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
        chosen = [parse(f"{one}<->{one}").atoms[0].outcome for one in outcomes]
        if not set(chosen) or not {name for name, _ in chosen} <= set(names):
            raise ValueError(f"outcomes must be literals of the factors {names}, found {list(outcomes)}")
    check_number(negated, "negated", "[0, 1]")
    told = read_domains(domains)
    ranges = [_range(disjuncts, "disjuncts", 1), _range(conjuncts, "conjuncts", 1)]
    wanted = None if switch is None else _range(switch, "switch", 0)
    seed = resolve_seed(rng)
    for number in range(check_whole(n, "n")):
        uniforms = stream(seed, number)

        def sizes(_: Literal, uniforms: Iterator[float] = uniforms) -> list[int]:
            return [_draw(ranges[1], uniforms) for _ in range(_draw(ranges[0], uniforms))]

        def accept(model: Model) -> bool:
            return wanted is None or wanted[0] <= switches(model) <= wanted[1]

        yield draw_model(chosen, sizes, names, told, uniforms, negated=negated, accept=accept)[0]


def _range(given: Range, name: str, low: int) -> tuple[int, int]:
    limits = (given, given) if isinstance(given, int) else given
    whole = isinstance(limits, (tuple, list)) and len(limits) == 2 and all(isinstance(x, int) for x in limits)
    if not whole or not low <= limits[0] <= limits[1]:
        raise ValueError(f"{name} must be a number from {low}, or (smallest, largest), found {shown(given)}")
    first, last = limits
    return first, last


def _draw(given: tuple[int, int], uniforms: Iterator[float]) -> int:
    return given[0] + int(next(uniforms) * (given[1] - given[0] + 1))
