"""Random models without redundancies, and data from them.

An inverse search draws ground truths (`random_models`) and data from it (`simulate_data`), and checks whether a method
recovers the truth [1]_, over the axes on which such studies differ [2]_.

References
----------
.. [1] Baumgartner, M., Falk, C. (2024). Quantifying the quality of configurational causal models. Journal of Causal
   Inference 12. doi:10.1515/jci-2023-0032
.. [2] Swiatczak, M. D., Baumgartner, M. (2024). Data imbalances in coincidence analysis: a simulation study.
   Sociological Methods & Research. doi:10.1177/00491241241227039
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_number, check_whole, shown
from ...contract.null import draw_stream
from ...execution.random_streams import RNGLike, resolve_seed
from .formula import BINARY, Atom, Conjunction, Domains, Literal, Model, Vocabulary, literal_text, read_domains
from .minimisation import is_irredundant_alone, is_redundancy_free
from .reader import as_literal, as_model
from .truth_table import contradictions, data_values, ideal_data, topological_order

__all__ = ["NoSuchModelError", "random_models", "simulate_data"]

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
    causaleval_pd.fields.configurational.simulation.NoSuchModelError: 50000 proposals over the factors A, B, C
    held no model without redundancies with outcomes C (last tried: disjuncts of [1, 1, 1] literals); ask for fewer
    disjuncts or more factors
    """


def switches(model: Model) -> int:
    """Count the factors that occur with more than one value on left-hand sides, as F in `(A+B*F<->D)*(C+B*f<->E)`."""
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
    for name, argument in (("factors", factors), ("outcomes", outcomes)):
        if not isinstance(argument, int) and (isinstance(argument, str) or not isinstance(argument, Sequence)):
            raise TypeError(f"{name} must be a number or a list of names, found {shown(argument)}")
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

        model = draw_model(chosen, sizes, names, values, uniforms, negated=negated, switch=wanted)
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
    generator = draw_stream(seed, number)
    while True:
        yield from generator.random(64).tolist()


def draw_model(
    outcomes: Sequence[Literal],
    sizes: Callable[[Literal], Sequence[int]],
    factors: Sequence[str],
    domains: Domains,
    uniforms: Iterator[float],
    *,
    negated: float = 0.5,
    values: Mapping[Literal, Sequence[int]] | None = None,
    switch: tuple[int, int] | None = None,
) -> Model:
    """Draw a redundancy-free acyclic model by rejection."""
    # Each atom is proposed until it is redundancy-free by itself, with disjuncts of the `sizes` of its outcome, drawn
    # for every proposal; all atoms are proposed anew until the model is acyclic, redundancy-free (`redundancy_free`)
    # and has as many switches as wanted. As the first condition concerns the atoms one by one, this is the law of the
    # proposals given that they meet all conditions. With the `values` of each outcome's literals in random places, or
    # with `negated=0.5` if all factors are binary, and fixed sizes all such models are equally likely, because each is
    # proposed in as many orders of its disjuncts as any other.
    # A `NoSuchModelError` ends the search after 50000 proposals of atoms.
    room = min(len([name for name in factors if name != outcome[0]]) for outcome in outcomes)
    lefts: list[tuple[Conjunction, ...]] = []
    for proposal in itertools.count(1):
        outcome = outcomes[len(lefts)]
        wanted = tuple(sizes(outcome))
        if proposal > MAX_PROPOSALS:
            break
        if max(wanted) > room:
            continue
        eligible = [name for name in factors if name != outcome[0]]
        left = propose(wanted, eligible, domains, uniforms, negated, None if values is None else [*values[outcome]])
        if left is None or not is_irredundant_alone(left, domains):
            continue
        lefts.append(left)
        causes: dict[str, set[str]] = {}
        for (name, _), one in zip(outcomes, lefts, strict=False):
            causes.setdefault(name, set()).update(*({cause for cause, _ in conjunction} for conjunction in one))
        if topological_order(causes) is None:
            lefts = []
        elif len(lefts) == len(outcomes):
            model = Model(tuple(map(Atom, lefts, outcomes)))
            switched = switch is None or switch[0] <= switches(model) <= switch[1]
            if switched and (len(lefts) == 1 or is_redundancy_free(model, domains)):
                return model
            lefts = []
    raise NoSuchModelError(no_such_model(outcomes, wanted, factors))


def propose(
    sizes: Sequence[int],
    eligible: Sequence[str],
    domains: Domains,
    uniforms: Iterator[float],
    negated: float,
    values: list[int] | None,
) -> tuple[Conjunction, ...] | None:
    """Draw a left-hand side with disjuncts of given `sizes`, without regard to redundancies."""
    disjuncts = []
    for size in sizes:
        conjunction, names = [], list(eligible)
        for name in [names.pop(int(next(uniforms) * len(names))) for _ in range(size)]:
            domain, u = domains.get(name, BINARY), next(uniforms)
            if values is not None:
                value = values.pop(int(u * len(values)))
            else:
                value = int(u >= negated) if tuple(domain) == BINARY else domain[int(u * len(domain))]
            if value not in domain:
                return None
            conjunction.append((name, value))
        disjuncts.append(frozenset(conjunction))
    return tuple(disjuncts)


def no_such_model(outcomes: Sequence[Literal], sizes: Sequence[int], factors: Sequence[str]) -> str:
    """Describe a shape of which no model was found."""
    names = ", ".join(map(literal_text, outcomes))
    return (
        f"{MAX_PROPOSALS} proposals over the factors {', '.join(factors)} held no model without redundancies with "
        f"outcomes {names} (last tried: disjuncts of {list(sizes)} literals); ask for fewer disjuncts or more factors"
    )


#: share of cases with the value 1 of all exogenous factors, or by factor; or shares of all values of a factor
Imbalance = float | Mapping[str, float | Sequence[float]]


def simulate_data(
    model: Model | str,
    n_cases: int | None = None,
    *,
    fragmentation: float = 0.0,
    noise: float = 0.0,
    prevalence: float | None = None,
    imbalance: Imbalance | None = None,
    fuzziness: float = 0.0,
    domains: Domains | None = None,
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Simulate data of a known model: ideal data, fragmented, sampled, made noisy and fuzzy, in this order.

    Parameters
    ----------
    model : Model or str
        The ground truth.
    n_cases : int, optional
        Number of cases, drawn with replacement; default every configuration once.
    fragmentation : float
        Share of the configurations that are never observed.
    noise : float
        Share of cases that contradict the model.
    prevalence : float, optional
        Share of cases that have the model's last outcome, which noise keeps.
    imbalance : float or mapping, optional
        Share of cases in which exogenous factors are 1: of all, or by factor. Given `prevalence` too,
        it holds within the cases with and without the outcome only as far as the model allows. Cases that noise
        replaces do not keep it: they are uniform over the configurations that contradict the model.
    fuzziness : float
        Largest distance of a membership from 0 or 1, 0 for crisp data; factors with other values than 0
        and 1 stay crisp.
    domains : mapping, optional
        Values of multi-value factors, and of factors that the model does not mention: the data have their columns too.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    DataFrame
        Cases in rows, one column per factor.

    Raises
    ------
    ValueError
        If a setting is invalid, or no cases are left to draw from.

    Examples
    --------
    >>> data = simulate_data("A*b+C<->D", 100, noise=0.1, fragmentation=0.25, rng=1)
    >>> len(data), int(((data.A & (1 - data.B) | data.C) != data.D).sum())
    (100, 10)
    """
    model = as_model(model)
    for name, value in (("fragmentation", fragmentation), ("noise", noise)):
        check_number(value, name, "[0, 1]")
    check_number(fuzziness, "fuzziness", "[0, 0.5]")
    random = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(resolve_seed(rng))
    data, known = ideal_data(model, domains), read_domains(domains)
    if fragmentation:
        data = fragment(data, fragmentation, random)
    outcome = None if prevalence is None else model.outcomes[-1]
    if n_cases is not None or prevalence is not None or imbalance is not None:
        size = check_whole(len(data) if n_cases is None else n_cases, "n_cases", 1)
        data = sample_cases(data, size, outcome, prevalence, _weights(imbalance, model, data), random)
    if noise:
        data = add_noise(data, model, noise, outcome, known, random)
    if fuzziness:
        binary = [name for name in data.columns if tuple(known.get(name, BINARY)) == BINARY]
        data = fuzzify(data, fuzziness, binary, random)
    return data


def _weights(imbalance: Imbalance | None, model: Model, data: pd.DataFrame) -> NDArray[np.float64] | None:
    """Return the weights of cases by the shares of factors' values."""
    # A case is drawn with a probability proportional to the product of the shares of its values, each divided by the
    # number of cases that have the value, so that factors which are independent in `data` have these shares in the
    # sample.
    if imbalance is None:
        return None
    explained = {name for name, _ in model.outcomes}
    if isinstance(imbalance, Mapping):
        entries = {str(name).upper(): share for name, share in imbalance.items()}
        if effects := [name for name in imbalance if str(name).upper() in explained]:
            raise ValueError(f"imbalance is for exogenous factors, but the model explains {effects}; use prevalence=")
    else:
        # one number is meant for all binary factors that no atom explains
        free = [name for name in data.columns if name not in explained and data[name].max() <= 1]
        entries = dict.fromkeys(free, imbalance)
    weights = np.ones(len(data))
    for name, values in data_values(data, entries).items():
        entry = entries[name]
        several = isinstance(entry, Sequence) and not isinstance(entry, str)
        probabilities: list[Any] = list(entry) if several else [entry]  # type: ignore[arg-type]
        shares = [check_number(one, f"imbalance of {name}", "[0, 1]") for one in probabilities]
        if not several:
            if values != BINARY:
                raise ValueError(f"{name} has the values {list(values)}; give each a probability, as [0.5, 0.3, 0.2]")
            shares.insert(0, 1 - shares[0])
        elif len(shares) != len(values) or abs(sum(shares) - 1) > 1e-9:
            raise ValueError(
                f"imbalance of {name} must be {len(values)} probabilities that sum to 1, for its values "
                f"{list(values)}, found {probabilities}"
            )
        for value, share in zip(values, shares, strict=True):
            rows = (data[name] == value).to_numpy()
            weights[rows] *= share / max(1, rows.sum())
    return weights


def fragment(data: pd.DataFrame, share: float, random: np.random.Generator) -> pd.DataFrame:
    """Drop a share of the distinct configurations, with all their cases: limited diversity."""
    codes = data.groupby(list(data.columns), sort=True).ngroup().to_numpy()
    n = int(codes.max(initial=-1)) + 1
    gone = random.permutation(n)[: round(share * n)]
    if len(gone) == n:
        raise ValueError(f"a share of {share} leaves none of the {n} configurations; take a smaller one")
    return data[~np.isin(codes, gone)]


def sample_cases(
    data: pd.DataFrame,
    n_cases: int,
    outcome: Literal | None,
    prevalence: float | None,
    weights: NDArray[np.float64] | None,
    random: np.random.Generator,
) -> pd.DataFrame:
    """Draw cases with replacement, each equally likely or by weights, and so that an outcome has a given share."""
    if outcome is None or prevalence is None:
        rows = draw_rows(np.arange(len(data)), n_cases, "cases", random, weights)
        return data.iloc[rows].reset_index(drop=True)
    check_number(prevalence, "prevalence", "[0, 1]")
    has = (data[outcome[0]] == outcome[1]).to_numpy()
    n_with = round(prevalence * n_cases)
    with_it, without = (
        draw_rows(np.flatnonzero(rows), n, f"cases {word} outcome {literal_text(outcome)}", random, weights)
        for rows, n, word in ((has, n_with, "with"), (~has, n_cases - n_with, "without"))
    )
    return data.iloc[random.permutation(np.concatenate([with_it, without]))].reset_index(drop=True)


def draw_rows(
    rows: NDArray[np.int64], n: int, what: str, random: np.random.Generator, weights: NDArray[np.float64] | None = None
) -> NDArray[np.int64]:
    """Draw n of the rows with replacement, each equally likely or by the weights of all rows."""
    if not n:
        return np.empty(0, np.int64)
    chances = np.ones(len(rows)) if weights is None else weights[rows]
    if not chances.sum():
        raise ValueError(f"found no {what} to draw {n} from")
    return random.choice(rows, n) if weights is None else random.choice(rows, n, p=chances / chances.sum())


def add_noise(
    data: pd.DataFrame, model: Model, share: float, keep: Literal | None, domains: Domains, random: np.random.Generator
) -> pd.DataFrame:
    """Replace a share of the cases by configurations that contradict the model, each equally likely."""
    # other factors do not matter to the model, so a uniform contradicting configuration has uniform values there
    vocabulary = Vocabulary(domains)
    wrong = contradictions(model, vocabulary)
    cases = random.permutation(len(data))[: round(share * len(data))]
    parts = [(np.ones(len(cases), bool), np.ones(len(wrong), bool), "")]
    if keep is not None:
        has = (data[keep[0]] == keep[1]).to_numpy()[cases]
        having, text = (wrong[keep[0]] == keep[1]).to_numpy(), literal_text(keep)
        parts = [(has, having, f" with {text}"), (~has, ~having, f" without {text}")]
    chosen = np.empty(len(cases), np.int64)
    for of_cases, of_rows, word in parts:
        what = f"contradicting configurations{word}"
        chosen[of_cases] = draw_rows(np.flatnonzero(of_rows), int(of_cases.sum()), what, random)
    noisy = data.to_numpy(copy=True)
    for position, name in enumerate(data.columns):
        noisy[cases, position] = (
            wrong[name].to_numpy()[chosen] if name in wrong else random.choice(vocabulary.domain(name), len(cases))
        )
    return pd.DataFrame(noisy, index=data.index, columns=data.columns)


def fuzzify(data: pd.DataFrame, spread: float, names: Sequence[str], random: np.random.Generator) -> pd.DataFrame:
    """Turn crisp data into fuzzy memberships: 0 becomes uniform on [0, spread), 1 uniform on (1 - spread, 1]."""
    away = random.random((len(data), len(names))) * spread
    fuzzy = data.astype(np.float64)
    fuzzy[list(names)] = np.abs(fuzzy[list(names)].to_numpy() - away)
    return fuzzy
