"""Null models of configurational estimates: random models of the estimate's shape, or its relabellings.

`complexity` draws from all models without redundancies that have the estimate's outcomes and as many literals in each
of their disjuncts. `relabel` keeps the estimate's very structure and exchanges the factors that neither side explains.

Judged relative to data, a control whose formulas do not reach the thresholds says nothing: its completeness is 0, its
correctness 0/0. Such controls are left out of the correctness, which is then compared with guesses that fit the data;
by `zero_division=0` they count as wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_known, check_whole, name_row
from ...contract.field import FIELDS
from ...contract.law import ClosedForm
from ...contract.metric import Metric
from ...contract.null import Controls, Matching, Null, register_null
from ...execution.random_streams import RNGLike, resolve_seed
from ..formulas.formula import Atom, Literal, Model, as_model, set_text
from ..formulas.vocabulary import Domains, read_domains
from ..pairs import KINDS, Cell, FormulaPairs
from ..simulation.draws import NoSuchModelError, draw_model, stream
from .shared_literals import SCALES, relabel_moments

#: rough bytes of a drawn control with its exposition while it is scored
_CONTROL_BYTES = 20_000
#: attempts at a set of different models before equal ones are refused
_MAX_SETS = 1_000


def known_factors(pairs: FormulaPairs, position: int) -> list[str]:
    """Return the factors a guess may use: the data's; without data those of truth, estimate and the stated domains."""
    setting = pairs.setting(position)
    if setting.names is not None:
        return list(setting.names)
    models = (pairs.true_model(position), *pairs.estimated_models(position))
    return sorted({name for model in models for name in model.factors} | set(setting.vocabulary.domains))


@dataclass(frozen=True, eq=False)
class DrawnModels(Controls):
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
    relabels : bool
        Whether controls are relabellings, for which some metrics have closed forms.
    """

    pairs: FormulaPairs
    rows: NDArray[np.int64]
    keys: NDArray[np.uint64]
    law: Callable[[FormulaPairs, int], Callable[[Iterator[float]], Cell]]
    always_acyclic: bool
    relabels: bool = False

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls, a word a row."""
        kinds = np.array(KINDS, object)[self.pairs.estimate.kinds[self.pairs.estimate_index]]
        return np.full(self.pairs.n, KINDS[0], object) if self.always_acyclic else kinds

    @property
    def cost(self) -> int:
        """Bytes that one drawn control takes while it is scored."""
        return _CONTROL_BYTES

    @property
    def work(self) -> float:
        """Nanoseconds that drawing one control takes, roughly."""
        return 2e5

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
        pairs = self.pairs
        if (
            not self.relabels
            or metric.closed_form not in SCALES
            or metric.options.get("models", "max") in ("any", "all")
        ):
            return None
        found = np.full((pairs.n, 2), np.nan)
        for i in np.flatnonzero(~pairs.refused(metric.kinds)).tolist():
            found[i] = relabel_moments(pairs, i, metric, exchangeable(pairs, i))
        return ClosedForm(found[:, 0], found[:, 1])


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
    model = as_model(estimate)
    names = list(model.factors)
    if isinstance(factors, int):
        names += [f"OTHER{i}" for i in range(factors - len(names))]
    elif factors is not None:
        names = sorted({*names, *map(str.upper, factors)})
    check_whole(n_draws, "n_draws", 1)
    shape, seed = _shape(model), resolve_seed(rng)
    told = read_domains(domains)
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
    >>> from causaleval_pd.configurational import parse
    >>> relabel(parse("A*b+C<->D"), {("A", 1): ("B", 0), ("B", 0): ("A", 1)})
    Model('A*b+C<->D')
    """
    return Model(
        tuple(
            Atom(tuple(frozenset(renamed.get(x, x) for x in one) for one in atom.disjuncts), atom.outcome)
            for atom in model.atoms
        )
    )


def complexity_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Match every control to its row's outcomes and sizes of disjuncts."""
    return DrawnModels(pairs, rows, keys, complexity_law, always_acyclic=True)


def relabel_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Match every control to its row's estimate up to the names of exogenous factors."""
    return DrawnModels(pairs, rows, keys, relabel_law, always_acyclic=False, relabels=True)


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
    check_known(null, FIELDS["formula"].nulls, "null")
    keys = np.random.default_rng(resolve_seed(rng)).integers(2**63, size=pairs.n).astype(np.uint64)
    nothing = pd.Series([], dtype="str")
    match = FIELDS["formula"].nulls[null].match(Matching(nothing, nothing, None, None, {}))
    drawn: Any = match(np.arange(pairs.n), pairs, keys).draw(0, n_draws)
    return cast(FormulaPairs, drawn)


register_null(
    "formula",
    Null(
        "complexity",
        "random models without redundancies that have the estimate's outcomes and sizes of disjuncts",
        complexity_controls,
    ),
)
register_null(
    "formula",
    Null("relabel", "the estimate with its exogenous factors exchanged at random", relabel_controls),
)
