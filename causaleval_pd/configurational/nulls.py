"""Null models of configurational estimates: random models of the estimate's shape, or its relabellings.

`complexity` draws from all models without redundancies that have the estimate's outcomes and as many literals in each
of their disjuncts. `relabel` keeps the estimate's very structure and exchanges the factors that neither side explains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..engine import RNGLike, resolve_seed
from ..messages import check_known, name_row
from ..metric import Metric
from ..null import ClosedForm, Controls, Matcher, Matching, Null
from .exposition import Exposition
from .formula import Atom, Literal, Model, parse, set_text
from .ground_truths import NoSuchModelError, draw_model, stream
from .pairs import KINDS, Cell, FormulaPairs
from .quality import Convention
from .vocabulary import Domains, Vocabulary, bits

#: rough bytes of a drawn control with its exposition while it is scored
_CONTROL_BYTES = 20_000
#: attempts at a set of different models before equal ones are refused
_MAX_SETS = 1_000

#: what the number of shared literals is divided by, from the literals of estimate and truth and the metric's beta
SCALES: dict[str, Callable[[int, int, float], float]] = {
    "literal_correctness": lambda estimate, truth, beta: estimate,
    "literal_completeness": lambda estimate, truth, beta: truth,
    "literal_f_beta": lambda estimate, truth, beta: (beta**2 * truth + estimate) / (1 + beta**2),
}


def known_factors(pairs: FormulaPairs, position: int) -> list[str]:
    """Return the factors a guess may use: the data's; without data those of truth, estimate and the stated domains."""
    setting = pairs.setting(position)
    if setting.names is not None:
        return list(setting.names)
    models = (pairs.true_model(position), *pairs.estimated_models(position))
    return sorted({name for model in models for name in model.factors} | set(setting.vocabulary.domains))


@dataclass(frozen=True, eq=False)
class DrawnModels:
    """Controls that are drawn model by model.

    Attributes
    ----------
    pairs : FormulaPairs
        The observed pairs, one a row.
    rows : (n,) int64
        Their positions in the table, for messages.
    keys : (n,) uint64
        Names of the rows' random streams.
    law : callable
        `law(pairs, position)` returns a function that draws a control cell from uniform numbers. An output without
        models has no controls: nothing is as complex as nothing, and its metrics are undefined.
    always_acyclic : bool
        Whether controls are acyclic whatever the estimate is.
    moments : callable, optional
        `moments(pairs, position, metric)` returns mean and variance of a metric, NaN where there is no form.
    """

    pairs: FormulaPairs
    rows: NDArray[np.int64]
    keys: NDArray[np.uint64]
    law: Callable[[FormulaPairs, int], Callable[[Iterator[float]], Cell]]
    always_acyclic: bool
    moments: Callable[[FormulaPairs, int, Metric], tuple[float, float]] | None = None

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls, a word a row."""
        kinds = np.array(KINDS, object)[self.pairs.estimate.kinds[self.pairs.estimate_index]]
        return np.full(self.pairs.n, KINDS[0], object) if self.always_acyclic else kinds

    @property
    def cost(self) -> int:
        """Bytes that one drawn control takes while it is scored."""
        return _CONTROL_BYTES

    def draw(self, start: int, count: int) -> FormulaPairs:
        """Return rows x count pairs, a row's draws together, whose estimates are draws start .. start + count - 1."""
        cells: list[Cell | None] = []
        for position in range(self.pairs.n):
            if not self.pairs.estimated_models(position):
                cells += [None] * count
                continue
            sample, key = self.law(self.pairs, position), int(self.keys[position])
            try:
                cells += [sample(stream(key, number)) for number in range(start, start + count)]
            except NoSuchModelError as error:
                raise NoSuchModelError(
                    f"{name_row(int(self.rows[position]))} has no control: {error}. It matches "
                    f"{set_text(self.pairs.estimated_models(position))}; leave the row out, or use null='relabel'"
                ) from None
        return self.pairs.with_estimates(cells, np.repeat(np.arange(self.pairs.n), count))

    def closed_form(self, metric: Metric) -> ClosedForm | None:
        """Return mean and variance of metrics of single literals under relabelling, None for others."""
        if self.moments is None or metric.null not in SCALES or metric.options.get("models", "max") in ("any", "all"):
            return None
        found = np.array([self.moments(self.pairs, i, metric) for i in range(self.pairs.n)], np.float64)
        return ClosedForm(*found.reshape(-1, 2).T)


def complexity_law(pairs: FormulaPairs, position: int) -> Callable[[Iterator[float]], Cell]:
    """Return a function that draws models of the shape of a pair's estimates.

    The law is uniform over the models without redundancies (`redundancy_free`) and cycles that have, over the known
    factors, the estimate's outcomes and the same numbers of literals in the disjuncts of each: proposals - a uniform
    subset of the factors for each disjunct, a uniform value for each - are rejected until one is such a model. A set of
    models is matched by a set of different ones, each of the shape of its counterpart. Per atom, 87 % of the proposals
    for `A*B+C*D<->E` are such models, 34 % of those for `A*B+C<->E` and 0.2 % of eight single causes of eight
    (`acceptance_rate`).

    Parameters
    ----------
    pairs : FormulaPairs
        The observed pairs.
    position : int
        Which pair.

    Returns
    -------
    callable
        From uniform numbers to a cell.
    """
    factors = known_factors(pairs, position)
    words = pairs.setting(position).vocabulary
    domains = {name: words.domain(name) for name in factors}
    shapes = [_shape(model) for model in pairs.estimated_models(position)]

    def sample(uniforms: Iterator[float]) -> Cell:
        for _ in range(_MAX_SETS):
            drawn = {draw_model(list(sizes), sizes.__getitem__, factors, domains, uniforms)[0] for sizes in shapes}
            if len(drawn) == len(shapes):
                return tuple(sorted(drawn, key=str))
        raise NoSuchModelError(f"{_MAX_SETS} sets of {len(shapes)} models all had equal ones")

    return sample


def _shape(model: Model) -> dict[Literal, tuple[int, ...]]:
    """Return the numbers of literals of the disjuncts of each outcome."""
    return {atom.outcome: tuple(sorted(map(len, atom.disjuncts))) for atom in model.atoms}


def acceptance_rate(
    estimate: Model | str,
    factors: int | list[str] | None = None,
    *,
    domains: Domains | None = None,
    n_draws: int = 200,
    rng: RNGLike = None,
) -> float:
    """Estimate the share of proposed atoms that end up in controls of null="complexity".

    Parameters
    ----------
    estimate : Model or str
        The model whose shape controls have.
    factors : list of str or int, optional
        Factors a guess may use, or how many there are; default the model's.
    domains : mapping, optional
        Values of multi-value factors.
    n_draws : int
        Controls to draw.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    float
        Atoms in the controls drawn, divided by atoms proposed.

    Raises
    ------
    NoSuchModelError
        If there is no such model.

    Examples
    --------
    >>> round(acceptance_rate("A*B+C<->E", list("ABCDE"), rng=1), 2)
    0.58
    """
    model = parse(estimate) if isinstance(estimate, str) else estimate
    names = list(model.factors)
    if isinstance(factors, int):
        names += [f"OTHER{i}" for i in range(factors - len(names))]
    elif factors is not None:
        names = sorted({*names, *map(str.upper, factors)})
    shape, seed = _shape(model), resolve_seed(rng)
    told = {name.upper(): tuple(values) for name, values in (domains or {}).items()}
    proposals = [draw_model(list(shape), shape.__getitem__, names, told, stream(seed, i))[1] for i in range(n_draws)]
    return n_draws * len(shape) / sum(proposals)


def exchangeable(pairs: FormulaPairs, position: int) -> list[list[str]]:
    """Group the factors that no model of a pair explains by their values: within a group names can be exchanged."""
    models = (pairs.true_model(position), *pairs.estimated_models(position))
    explained = {name for model in models for name, _ in model.outcomes}
    words = pairs.setting(position).vocabulary
    groups: dict[tuple[int, ...], list[str]] = {}
    for name in known_factors(pairs, position):
        if name not in explained:
            groups.setdefault(words.domain(name), []).append(name)
    return list(groups.values())


def relabel_law(pairs: FormulaPairs, position: int) -> Callable[[Iterator[float]], Cell]:
    """Return a function that relabels the exogenous factors of a pair's estimates.

    The law is uniform over the permutations of the known factors that are outcomes of neither truth nor estimate (of
    those with the same values among themselves), combined with a uniform permutation of the values of each: a crisp
    factor changes its polarity with probability 1/2. Outcomes stay what they are.

    Parameters
    ----------
    pairs : FormulaPairs
        The observed pairs.
    position : int
        Which pair.

    Returns
    -------
    callable
        From uniform numbers to a cell.
    """
    groups, words = exchangeable(pairs, position), pairs.setting(position).vocabulary
    cell = pairs.estimated_models(position)

    def sample(uniforms: Iterator[float]) -> Cell:
        renamed: dict[Literal, Literal] = {}
        for names in groups:
            for name, new in zip(names, _shuffle(names, uniforms), strict=True):
                values = words.domain(name)
                shuffled = _shuffle(values, uniforms)
                renamed |= {(name, old): (new, value) for old, value in zip(values, shuffled, strict=True)}
        return tuple(sorted((relabel(model, renamed) for model in cell), key=str))

    return sample


def _shuffle(items: Any, uniforms: Iterator[float]) -> list[Any]:
    left = list(items)
    return [left.pop(int(next(uniforms) * len(left))) for _ in items]


def relabel(model: Model, renamed: Mapping[Literal, Literal]) -> Model:
    """Exchange the literals of left-hand sides.

    Parameters
    ----------
    model : Model
        A model.
    renamed : mapping
        From literals to literals; others stay.

    Returns
    -------
    Model
        The relabelled model.

    Examples
    --------
    >>> relabel(parse("A*b+C<->D"), {("A", 1): ("B", 0), ("B", 0): ("A", 1)})
    Model('A*b+C<->D')
    """
    return Model(
        tuple(
            Atom(tuple(frozenset(renamed.get(x, x) for x in one) for one in atom.disjuncts), atom.outcome)
            for atom in model.atoms
        )
    )


def relabel_moments(pairs: FormulaPairs, position: int, metric: Metric) -> tuple[float, float]:
    """Give mean and variance of a metric that is linear in the literals which truth and relabelled estimate share.

    Relabelling a model relabels its causal exposition on ideal data. The number of shared literals is then a sum of
    entries of a matrix - the outcomes for which the estimate has one literal and the truth the other - along a random
    matching of factors, and for each pair of factors along one of their values: with n crisp factors two literals of an
    outcome meet with probability 1 / (2 n). The variance of such sums is Hoeffding's [1]_.

    Parameters
    ----------
    pairs : FormulaPairs
        The observed pairs.
    position : int
        Which pair.
    metric : Metric
        One whose closed form is among `SCALES`.

    Returns
    -------
    (float, float)
        NaN with data, with several models or none, or where an outcome is constant.

    References
    ----------
    .. [1] Hoeffding, W. (1951). A combinatorial central limit theorem. doi:10.1214/aoms/1177729545
    """
    cell, setting = pairs.estimated_models(position), pairs.setting(position)
    if len(cell) != 1 or setting.data is not None or pairs.refused(metric.kinds)[position]:
        return np.nan, np.nan
    convention = Convention.of(metric.options.get("convention", "published"))
    truth = pairs.truth.exposition(pairs.true_model(position), setting, convention, relative=False)
    estimate = pairs.estimate.exposition(cell[0], setting, convention, relative=True)
    sides = [_literals(side, setting.vocabulary) for side in (estimate, truth)]
    sizes = [sum(map(len, side.values())) for side in sides]
    if len(sides[0]) < len(estimate) or len(sides[1]) < len(truth) or not all(sizes):
        return np.nan, np.nan
    mean, variance = _shared_moments(sides[0], sides[1], exchangeable(pairs, position), setting.vocabulary)
    scale = SCALES[str(metric.null)](sizes[0], sizes[1], float(metric.options.get("beta", 1.0)))
    return mean / scale, variance / scale**2


def _literals(exposition: Exposition, words: Vocabulary) -> dict[int, set[Literal]]:
    """Return the causes of each outcome that is not constant."""
    return {
        outcome: {words.literals[bit.bit_length() - 1] for bit in bits(found.literals)}
        for outcome, found in exposition.items()
        if found is not None
    }


def _shared_moments(
    estimate: Mapping[int, set[Literal]], truth: Mapping[int, set[Literal]], groups: list[list[str]], words: Vocabulary
) -> tuple[float, float]:
    """Give mean and variance of the number of shared literals under relabelling."""
    moving = {(name, value) for names in groups for name in names for value in words.domain(name)}
    shared = [(estimate[outcome], truth[outcome]) for outcome in sorted(estimate.keys() & truth.keys())]
    mean, variance = float(sum(len((estimated & true) - moving) for estimated, true in shared)), 0.0
    for names in groups:
        place = {(name, value): (i, j) for i, name in enumerate(names) for j, value in enumerate(words.domain(name))}
        n, v = len(names), len(words.domain(names[0]))
        meets = np.zeros((n, n, v, v))
        for estimated, true in shared:
            for x in estimated & place.keys():
                for y in true & place.keys():
                    meets[place[x][0], place[y][0], place[x][1], place[y][1]] += 1
        inner_mean, inner_variance = _matching_moments(meets)
        outer_mean, outer_variance = _matching_moments(inner_mean)
        mean += float(outer_mean)
        variance += float(outer_variance) + float(inner_variance.sum()) / n
    return mean, variance


def _matching_moments(entries: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give mean and variance of sum_i entries[..., i, s(i)] for a uniformly random permutation s."""
    n = entries.shape[-1]
    centred = (
        entries
        - entries.mean(axis=-1, keepdims=True)
        - entries.mean(axis=-2, keepdims=True)
        + entries.mean(axis=(-1, -2), keepdims=True)
    )
    return entries.sum(axis=(-1, -2)) / n, np.square(centred).sum(axis=(-1, -2)) / max(n - 1, 1)


def match_complexity(matching: Matching) -> Matcher:
    """Match every control to its row's outcomes and sizes of disjuncts."""

    def match(rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        return DrawnModels(pairs, rows, keys, complexity_law, always_acyclic=True)

    return match


def match_relabel(matching: Matching) -> Matcher:
    """Match every control to its row's estimate up to the names of exogenous factors."""

    def match(rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        return DrawnModels(pairs, rows, keys, relabel_law, always_acyclic=False, moments=relabel_moments)

    return match


def guesses(pairs: FormulaPairs, null: str, n_draws: int, rng: RNGLike = None) -> FormulaPairs:
    """Draw controls of every pair.

    Parameters
    ----------
    pairs : FormulaPairs
        The observed pairs.
    null : str
        Name of a null model.
    n_draws : int
        Controls a pair.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    FormulaPairs
        The pairs with controls for estimates, a pair's draws together.

    Raises
    ------
    ValueError
        If the null model is unknown.
    NoSuchModelError
        If a pair has no control.
    """
    check_known(null, NULLS, "null")
    keys = np.random.default_rng(resolve_seed(rng)).integers(2**63, size=pairs.n).astype(np.uint64)
    nothing = pd.Series([], dtype="str")
    match = NULLS[null].match(Matching(nothing, nothing, None, None, {}))
    drawn: Any = match(np.arange(pairs.n), pairs, keys).draw(0, n_draws)
    return cast(FormulaPairs, drawn)


NULLS = {
    "complexity": Null(
        "complexity",
        "random models without redundancies that have the estimate's outcomes and sizes of disjuncts",
        match_complexity,
    ),
    "relabel": Null("relabel", "the estimate with its exogenous factors exchanged at random", match_relabel),
}
