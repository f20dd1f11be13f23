"""Null models of formulas: `complexity`, random models of the estimate's shape, and `relabel`, its factors exchanged.

Crisp controls are drawn many at a time, others model by model. Metrics of single literals have exact moments under
`relabel` [1]_.

Judged relative to data, a control whose formulas do not reach the thresholds ascribes no causes: its completeness is 0,
its correctness 0/0. Such controls are left out of the correctness, which is then compared with guesses that fit the
data; with `zero_division=0` they count as wrong.

References
----------
.. [1] Hoeffding, W. (1951). A combinatorial central limit theorem. doi:10.1214/aoms/1177729545
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_flag, check_known, check_number, name_row, warn
from ...contract.context import Context
from ...contract.field import get_field
from ...contract.law import ClosedForm, ClosedFormRule, Value, register_closed_form
from ...contract.metric import Metric
from ...contract.null import Controls, DrawnControls, Matching, Null, no_closed_form, register_null
from ...execution.random_streams import RNGLike, random_words, resolve_seed, uniforms
from .field import FORMULAS, pair
from .formula import BINARY, Atom, Domains, FormulaTooLargeError, Literal, Model, Vocabulary, bits, set_text
from .kernels import MAX_ATOMS, MAX_FACTORS, MAX_FREE
from .minimisation import is_redundancy_free, minimal_models
from .pairs import KINDS, CrispCells, DecodedCells, FormulaCells, FormulaPairs, Names, encode
from .quality import Convention, Exposition
from .reader import Cell
from .simulation import MAX_PROPOSALS, NoSuchModelError, draw_model, no_such_model, stream

Ints = NDArray[np.int64]
#: numbers of draws from which on the words of a key name streams
_STREAMS = 1 << 40


@dataclass(frozen=True, eq=False)
class Shape:
    """Where the parts of a set of crisp models stand; bit 2 f + v is value v of factor number f of the names."""

    names: Sequence[str]
    #: (a,), (a + 1,): outcome and first disjunct of every atom; (k + 1,): first atom of every model
    outcome: Ints
    first: Ints
    models: Ints

    @classmethod
    def of(cls, models: Sequence[Model], names: Sequence[str], domains: Domains) -> Shape | None:
        """Return the shape of models over the known factors, or None where the kernels do not take them."""
        crisp = all(tuple(domains.get(name, BINARY)) == BINARY for name in names)
        atoms = [atom for model in models for atom in model.atoms]
        crisp = crisp and not any(model.one_way for model in models)
        if not crisp or len(names) > MAX_FACTORS or any(len(model.atoms) > MAX_ATOMS for model in models):
            return None
        number = {name: 2 * i for i, name in enumerate(names)}
        return cls(
            names,
            np.array([1 << (number[a.outcome[0]] + a.outcome[1]) for a in atoms], np.int64),
            np.cumsum([0, *(len(atom.disjuncts) for atom in atoms)], dtype=np.int64),
            np.cumsum([0, *(len(model.atoms) for model in models)], dtype=np.int64),
        )

    def sorted(self, codes: Ints) -> Ints:
        """Sort the disjuncts of every atom, (n, m)."""
        for begin, end in zip(self.first[:-1], self.first[1:], strict=True):
            codes[:, begin:end].sort(axis=1)
        return codes


class CodesLaw(NamedTuple):
    """How crisp controls are drawn as arrays."""

    shape: Shape
    #: `draw(key, start, count)` returns the disjuncts of draws start .. start + count - 1 of a key, (count, m)
    draw: Callable[[int, int, int], Ints]


def complexity_codes(
    models: Sequence[Model], names: Sequence[str], domains: Domains, share: float | None
) -> CodesLaw | None:
    """Return the law of models of the shape of others, or None where kernels do not take them."""
    shape = Shape.of(models, names, domains)
    if shape is None:
        return None
    atoms = [atom for model in models for atom in model.atoms]
    sizes = [sorted(map(len, atom.disjuncts)) for atom in atoms]
    n = len(shape.names)
    for model in models:
        explained = {name for name, _ in model.outcomes}
        if len(explained) < len(model.atoms) or min(n - 1, model.complexity) > MAX_FREE:
            return None
    if any(one[-1] >= n for one in sizes):
        return None
    negative = np.array([sum(value == 0 for one in a.disjuncts for _, value in one) for a in atoms], np.int64)
    shapes = [(model.outcomes, [sorted(map(len, atom.disjuncts)) for atom in model.atoms]) for model in models]
    same = [shapes.index(one) for one in shapes]

    def draw(key: int, start: int, count: int) -> Ints:
        from .kernels.draws import draw_sets
        from .kernels.forms import MAX_WORDS

        drawn, proposed = np.zeros((count, shape.first[-1]), np.int64), np.zeros(count, np.int64)
        draw_sets(
            np.uint64(key),
            start,
            count,
            shape.outcome,
            shape.first,
            np.array([size for one in sizes for size in one], np.int64),
            shape.models,
            np.array(same, np.int64),
            n,
            -1.0 if share is None else share,
            negative,
            MAX_PROPOSALS,
            np.zeros((2 * MAX_FACTORS + 1, MAX_WORDS), np.int64),
            drawn,
            proposed,
        )
        if (proposed < 0).any():
            raise NoSuchModelError(no_such_model(models[0].outcomes, sizes[0], shape.names))
        return drawn

    return CodesLaw(shape, draw)


def exchanges(
    groups: Sequence[Sequence[str]], key: int, start: int, count: int
) -> list[tuple[Ints, NDArray[np.float64]]]:
    """Return for each group of factors random orders, (n, count), and a random number for each factor's values."""
    # They depend on the key, the number of the draw and the sizes of the groups alone.
    streams = random_words(np.array([key], np.uint64), _STREAMS, 2 * sum(map(len, groups)))[0]
    numbers, used = uniforms(streams, start, count), 0
    orders = []
    for names in groups:
        n = len(names)
        orders.append((np.argsort(numbers[used : used + n], axis=0, kind="stable"), numbers[used + n : used + 2 * n]))
        used += 2 * n
    return orders


def permuted(values: Sequence[int], number: float) -> list[int]:
    """Return the permutation of some values that a number in [0, 1) stands for."""
    left, rank = list(values), int(number * math.factorial(len(values)))
    permutation = []
    for n in range(len(left) - 1, -1, -1):
        place, rank = divmod(rank, math.factorial(n))
        permutation.append(left.pop(place))
    return permutation


def relabelled_codes(
    models: Sequence[Model], groups: Sequence[Sequence[str]], domains: Domains, *, flip: bool
) -> CodesLaw | None:
    """Return the law that exchanges the factors of each group, and flips their values where `flip`."""
    shape = Shape.of(models, list(domains), domains)
    if shape is None:
        return None
    number = {name: 2 * i for i, name in enumerate(shape.names)}
    disjuncts = [one for model in models for atom in model.atoms for one in atom.disjuncts]
    literals = [np.array([number[name] + value for name, value in one], np.int64) for one in disjuncts]
    moving = [np.array([number[name] for name in names], np.int64) for names in groups]

    def draw(key: int, start: int, count: int) -> Ints:
        new = np.tile(np.arange(2 * len(shape.names)), (count, 1))
        for places, (order, values) in zip(moving, exchanges(groups, key, start, count), strict=True):
            flips = (values.T >= 0.5) & flip
            for value in (0, 1):
                new[:, places + value] = places[order.T] + np.where(flips, 1 - value, value)
        bits = np.left_shift(np.int64(1), new)
        return shape.sorted(np.stack([bits[:, one].sum(axis=1) for one in literals], axis=1))

    return CodesLaw(shape, draw)


def crisp_cells(codes: Ints, shape: Shape, names: Names) -> CrispCells:
    """Write drawn disjuncts, (n, m), as arrays of n cells with the numbers of a table's factors."""
    from .kernels.scores import Models

    n, (n_atoms, n_models) = len(codes), (len(shape.outcome), len(shape.models) - 1)
    numbers = np.array([names.number(name) for name in shape.names], np.int64)
    of_bit = (2 * numbers[:, None] + np.arange(2)).ravel()
    left = codes.ravel().copy()
    literal_lists: list[tuple[Ints, Ints]] = []
    sizes = np.zeros(len(left), np.int64)
    at = np.arange(len(left))
    while len(at):
        low = left[at] & -left[at]
        literal_lists.append((at, of_bit[np.log2(low.astype(np.float64)).astype(np.int64)]))
        left[at] ^= low
        sizes[at] += 1
        at = at[left[at] != 0]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    literals = np.empty(ends[-1], np.int64)
    for k, (places, known) in enumerate(literal_lists):
        literals[ends[places] + k] = known
    each = np.arange(n)[:, None]
    bits = of_bit[np.log2(shape.outcome.astype(np.float64)).astype(np.int64)]
    models = Models(
        np.append((each * n_atoms + shape.models[:-1]).ravel(), n * n_atoms),
        np.tile(bits, n),
        np.append((each * shape.first[-1] + shape.first[:-1]).ravel(), n * shape.first[-1]),
        ends,
        literals,
    )
    return CrispCells(models, np.arange(n + 1) * n_models, np.ones(n * n_models, bool))


def joined(parts: Sequence[CrispCells]) -> CrispCells:
    """Put the cells of several parts one after another."""
    from .kernels.scores import Models

    def ends(arrays: Sequence[Ints], sizes: Sequence[int]) -> Ints:
        shifts = np.cumsum([0, *sizes])
        return np.concatenate([[0], *(x[1:] + shift for x, shift in zip(arrays, shifts[:-1], strict=True))])

    m = [part.models for part in parts]
    models = Models(
        ends([x.atoms for x in m], [len(x.outcome) for x in m]),
        np.concatenate([x.outcome for x in m]),
        ends([x.disjuncts for x in m], [len(x.ends) - 1 for x in m]),
        ends([x.ends for x in m], [len(x.literals) for x in m]),
        np.concatenate([x.literals for x in m]),
    )
    crisp = np.concatenate([part.crisp for part in parts])
    return CrispCells(models, ends([part.first for part in parts], [len(part.crisp) for part in parts]), crisp)


class DrawnCells:
    """Collects the controls of rows, drawn as arrays or as models; equal ones of a row are kept once."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self._parts: list[CrispCells] = []
        self._given: dict[int, Cell] = {}
        self._index: list[Ints] = []
        self._kinds: list[Ints] = []
        self._n = 0

    def add_codes(self, codes: Ints, shape: Shape, kind: int) -> None:
        """Add controls that were drawn as arrays, with the number of their kind."""
        kept, index = np.unique(codes, axis=0, return_inverse=True)
        self._add(crisp_cells(kept, shape, self.names), index.ravel(), kind)

    def add_models(self, cells: Sequence[Cell], kind: int) -> None:
        """Add controls that were drawn as models, with the number of their kind."""
        distinct = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
        self._given |= {self._n + i: cell for cell, i in distinct.items()}
        self._add(encode(distinct, self.names), np.array([distinct[cell] for cell in cells], np.int64), kind)

    def add_missing(self, count: int) -> None:
        """Add controls that do not exist."""
        self._index.append(np.full(count, -1, np.int64))

    def _add(self, part: CrispCells, index: Ints, kind: int) -> None:
        self._parts.append(part)
        self._index.append(index + self._n)
        self._kinds.append(np.full(len(part.first) - 1, kind, np.int64))
        self._n += len(part.first) - 1

    def collected(self) -> tuple[DecodedCells, Ints, int]:
        """Return the distinct cells, the place of each control's, and that of missing ones, -1 if none is."""
        index = np.concatenate([*self._index, np.empty(0, np.int64)])
        absent = -1
        if (index < 0).any() or not self._parts:
            absent = self._n
            index[index < 0] = absent
            self._given[absent] = ()
            self._parts.append(encode([()], self.names))
            self._kinds.append(np.zeros(1, np.int64))
        cells = DecodedCells(joined(self._parts), self.names, self._given, np.concatenate(self._kinds))
        return cells, index, absent


#: rough bytes of a drawn control while it is scored
_CONTROL_BYTES = 2_000
#: rough nanoseconds that drawing a control takes
_CONTROL_WORK = 3e4


#: inputs of `context=`, one of which names the factors that guesses range over
STATES_FACTORS = ("factors", "data", "domains")


def known_factors(pairs: FormulaPairs, position: int) -> list[str]:
    """Return the factors a guess may use: the stated ones and the estimate's, else all of the data."""
    setting = pairs.setting(position)
    if setting.names is not None and setting.factors is None:
        return list(setting.names)
    models = [*pairs.estimated_models(position), *([] if setting.names is not None else [pairs.true_model(position)])]
    known = {name for model in models for name in model.factors} | set(setting.factors or ())
    return sorted(known if setting.names is not None else known | set(setting.vocabulary.domains))


def warn_unstated_factors(matching: Matching) -> None:
    """Warn where no input of the context names the factors that a method could use."""
    context = matching.context
    if context is None or not any(name in values for values in context.values[:1] for name in STATES_FACTORS):
        warn(
            "controls use only the factors of truth and estimate, because no others are stated; if the method chose "
            "among more, p-values are too large and skills too small. Name all factors of its data: "
            "context={'factors': ['A', 'B', ...]}",
        )


class ModelLaw(NamedTuple):
    """How the controls of a pair are drawn."""

    #: draws a control by the row's key and the number of the draw
    sample: Callable[[int, int], Cell]
    #: draws many crisp controls at a time instead
    arrays: CodesLaw | None


def drawn_models(
    pairs: FormulaPairs,
    rows: Ints,
    keys: NDArray[np.uint64],
    law: Callable[[FormulaPairs, int], ModelLaw],
    known: Callable[[Metric], ClosedForm | None] = no_closed_form,
    *,
    always_acyclic: bool,
) -> Controls:
    """Make controls that are drawn model by model, by `law(pairs, position)`; `rows` are their places in the table."""
    # An output without models has no controls: no model has its size, and its metrics are undefined.
    kinds = np.zeros(pairs.n, np.int64) if always_acyclic else pairs.estimate.kinds[pairs.estimate_index]
    laws: dict[int, ModelLaw] = {}

    def drawn(start: int, count: int) -> FormulaPairs:
        collection, undrawn = DrawnCells(pairs.names), ""
        for position in range(pairs.n):
            if not pairs.estimated_models(position):
                collection.add_missing(count)
                continue
            key, kind = int(keys[position]), int(kinds[position])
            try:
                model_law = laws.get(position) or laws.setdefault(position, law(pairs, position))
                if model_law.arrays is not None:
                    collection.add_codes(model_law.arrays.draw(key, start, count), model_law.arrays.shape, kind)
                else:
                    collection.add_models(
                        [model_law.sample(key, number) for number in range(start, start + count)], kind
                    )
            except (NoSuchModelError, FormulaTooLargeError) as error:
                collection.add_missing(count)
                undrawn = undrawn or (
                    f"{name_row(int(rows[position]))} has no control: {error}. It matches "
                    f"{set_text(pairs.estimated_models(position))}; leave the row out, or use null='relabel'"
                )
        cells, index, absent = collection.collected()
        return pairs.with_cells(FormulaCells(cells, absent), index, np.repeat(np.arange(pairs.n), count), undrawn)

    words = np.array(KINDS, object)[kinds]
    return DrawnControls(pairs, words, drawn, known, _CONTROL_BYTES, _CONTROL_WORK)


def guesses(pairs: FormulaPairs, null: str, n_draws: int, rng: RNGLike = None) -> FormulaPairs:
    """Pair every truth with `n_draws` controls of a null model, a pair's draws together."""
    nulls = get_field("formula").nulls
    check_known(null, nulls, "null")
    keys = np.random.default_rng(resolve_seed(rng)).integers(2**63, size=pairs.n).astype(np.uint64)
    nothing = pd.Series([], dtype="str")
    chosen = nulls[null]
    # the factors of a pair's figure are its own
    stated = Context(({"factors": ()},), np.zeros(0, np.int64))
    match = chosen.match(Matching(nothing, nothing, None, None, chosen.options, stated))
    drawn = cast(FormulaPairs, match(np.arange(pairs.n), pairs, keys).draw(0, n_draws))
    if drawn.undrawn:
        raise NoSuchModelError(drawn.undrawn)
    return drawn


#: attempts at a set of different models before the row is refused
_MAX_SETS = 1_000


#: "estimate", "free" or a share of negative literals
Signs = str | float


def complexity_law(pairs: FormulaPairs, position: int, signs: Signs = "estimate") -> ModelLaw:
    """Return the law of models of the shape of a pair's estimates, which `complexity_controls` states."""
    factors = known_factors(pairs, position)
    words = pairs.setting(position).vocabulary
    domains = {name: words.domain(name) for name in factors}
    models = [_without_redundancy(model, domains) for model in pairs.estimated_models(position)]
    sizes = [{a.outcome: tuple(sorted(map(len, a.disjuncts))) for a in model.atoms} for model in models]
    values = [
        {a.outcome: sorted(value for one in a.disjuncts for _, value in one) for a in model.atoms} for model in models
    ]
    negated = 0.5 if isinstance(signs, str) else signs

    def sample(key: int, number: int) -> Cell:
        uniforms = stream(key, number)

        def draw(shape: dict[Literal, tuple[int, ...]], signed: dict[Literal, list[int]]) -> Model:
            like = signed.__getitem__ if signs == "estimate" else None
            return draw_model(list(shape), shape.__getitem__, factors, domains, uniforms, negated=negated, values=like)

        for _ in range(_MAX_SETS):
            drawn = set(map(draw, sizes, values))
            if len(drawn) == len(models):
                return tuple(sorted(drawn, key=str))
        raise NoSuchModelError(f"{_MAX_SETS} sets of {len(models)} models all had equal ones")

    return ModelLaw(sample, complexity_codes(models, factors, domains, None if signs == "estimate" else negated))


def _without_redundancy(model: Model, domains: Domains) -> Model:
    """Return a model, or its first minimal form if it has redundant parts and a minimal form."""
    model = model.as_equivalence()
    if is_redundancy_free(model, domains):
        return model
    return next(iter(minimal_models(model, domains)), model)


def prepare_complexity(matching: Matching) -> Signs:
    """Check the options of a table's controls."""
    warn_unstated_factors(matching)
    signs = matching.options.get("signs", "estimate")
    if not isinstance(signs, str):
        return check_number(signs, "signs", "[0, 1]")
    check_known(signs, ("estimate", "free"), "value of signs")
    return signs


def complexity_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Match every control to its row's outcomes, sizes of disjuncts and signs.

    Law: proposals are rejected until one is a model without redundancies (`redundancy_free`) and cycles. A proposal has
    the estimate's outcomes and, for each disjunct, a uniform subset of the known factors of the same size. With
    `signs="estimate"` the literals of an outcome have the estimate's values in random places, and all such models are
    equally likely: a guesser whose literals are mostly positive is compared with guesses that are too. With "free" the
    values of literals are independent, those of a factor equally likely: all models are then equally likely if all
    factors have as many values, and models that use factors of few values more likely if not. With one number per
    literal of a binary factor is negative with this probability. Given: outcomes, sizes of disjuncts, and with
    "estimate" the values.

    A set of models is matched by a set of different ones, each of the shape of its counterpart, and an estimate with
    redundant parts by the shape of its first minimal form.
    """
    law = partial(complexity_law, signs=matching.prepared)
    return drawn_models(pairs, rows, keys, law, always_acyclic=True)


register_null(
    FORMULAS.name,
    Null(
        "complexity",
        "random models without redundancies that have the estimate's outcomes, sizes of disjuncts and signs",
        complexity_controls,
        prepare=prepare_complexity,
        options={"signs": "estimate"},
        label_invariant=True,
    ),
)


#: by rule: the divisor of the shared literals, from the literals of estimate and truth and the metric's beta
SCALES: dict[str, Callable[[int, int, float], float]] = {
    "literal_correctness": lambda estimate, truth, beta: estimate,
    "literal_completeness": lambda estimate, truth, beta: truth,
    "literal_f_beta": lambda estimate, truth, beta: (beta**2 * truth + estimate) / (1 + beta**2),
}


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


def relabel_law(
    pairs: FormulaPairs, position: int, groups: Sequence[Sequence[str]] | None = None, *, flip: bool = False
) -> ModelLaw:
    """Return the law of relabellings of the exogenous factors of a pair's estimates, or of those of `groups`."""
    words = pairs.setting(position).vocabulary
    groups = exchangeable(pairs, position) if groups is None else groups
    cell = pairs.estimated_models(position)
    names = {name for model in cell for name in model.factors} | {name for one in groups for name in one}
    domains = {name: words.domain(name) for name in sorted(names)}

    def sample(key: int, number: int) -> Cell:
        renamed: dict[Literal, Literal] = {}
        for one, (order, values) in zip(groups, exchanges(groups, key, number, 1), strict=True):
            for i, name in enumerate(one):
                old = domains[name]
                new = permuted(old, float(values[i, 0])) if flip else old
                renamed |= {(name, x): (one[order[i, 0]], y) for x, y in zip(old, new, strict=True)}
        return tuple(sorted((relabel(model, renamed) for model in cell), key=str))

    return ModelLaw(sample, relabelled_codes(cell, groups, domains, flip=flip))


def relabel(model: Model, renamed: Mapping[Literal, Literal]) -> Model:
    """Exchange the literals of left-hand sides; literals that the mapping lacks stay."""
    return Model(
        tuple(
            Atom(tuple(frozenset(renamed.get(x, x) for x in one) for one in atom.disjuncts), atom.outcome, atom.arrow)
            for atom in model.atoms
        )
    )


def relabelled_form(metric: Metric, pairs: FormulaPairs, *, flip: bool) -> ClosedForm | None:
    """Return mean and variance of metrics of single literals, None for others."""
    if metric.closed_form not in SCALES or metric.options.get("models", "max") in ("any", "all"):
        return None
    moments = np.full((pairs.n, 2), np.nan)
    for i in np.flatnonzero(~pairs.refused(metric.kinds)).tolist():
        with suppress(FormulaTooLargeError):  # such a row has no score either
            moments[i] = relabel_moments(pairs, i, metric, exchangeable(pairs, i), flip=flip)
    return ClosedForm(moments[:, 0], moments[:, 1])


def relabel_moments(
    pairs: FormulaPairs, position: int, metric: Metric, groups: Sequence[Sequence[str]], *, flip: bool
) -> tuple[float, float]:
    """Return mean and variance of a metric that is linear in the literals which truth and relabelled estimate share."""
    # Its closed form is among `SCALES`, and the factors of a group are exchanged among themselves. NaN with data, with
    # several models or no model, or where neither has causes.
    # Relabelling a model relabels its causal exposition on ideal data. The number of shared literals is then a sum of
    # entries of a matrix - the outcomes for which the estimate has one literal and the truth the other - along a random
    # matching of factors, and with `flip` for each pair of factors along one of their values. With n crisp factors two
    # literals of an outcome meet with probability 1 / (2 n); without `flip` with probability 1 / n if they have one
    # value, else never. The variance of such sums is Hoeffding's [1]_.
    cell, setting = pairs.estimated_models(position), pairs.setting(position)
    if len(cell) != 1 or setting.data is not None:
        return np.nan, np.nan
    convention = Convention.of(metric.options.get("convention", "corrected"), metric.options.get("constant_outcome"))
    truth = pairs.truth.exposition(pairs.true_model(position), setting, convention, relative=False)
    estimate = pairs.estimate.exposition(cell[0], setting, convention, relative=True)
    sides = [_literals(side, setting.vocabulary) for side in (estimate, truth)]
    sizes = [sum(map(len, side.values())) for side in sides]
    rule = convention.constant_outcome
    if rule == "nan" and any(ascription.constant for side in (estimate, truth) for ascription in side.values()):
        return np.nan, np.nan
    if rule == "penalise":  # a relabelled outcome stays constant
        sizes[0] += sum(ascription.literals.bit_count() for ascription in estimate.values() if ascription.constant)
    if not all(sizes):
        return np.nan, np.nan
    mean, variance = _shared_moments(sides[0], sides[1], groups, setting.vocabulary, flip=flip)
    scale = SCALES[str(metric.closed_form)](sizes[0], sizes[1], float(metric.options.get("beta", 1.0)))
    return mean / scale, variance / scale**2


def _literals(exposition: Exposition, words: Vocabulary) -> dict[int, set[Literal]]:
    """Return the causes of each outcome that is not constant."""
    return {
        outcome: {words.literals[bit.bit_length() - 1] for bit in bits(ascription.literals)}
        for outcome, ascription in exposition.items()
        if not ascription.constant
    }


def _shared_moments(
    estimate: Mapping[int, set[Literal]],
    truth: Mapping[int, set[Literal]],
    groups: Sequence[Sequence[str]],
    words: Vocabulary,
    *,
    flip: bool,
) -> tuple[float, float]:
    """Return mean and variance of the number of shared literals under relabelling, from the causes of each outcome."""
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
        if flip:
            inner_mean, inner_variance = _matching_moments(meets)
        else:
            inner_mean, inner_variance = np.trace(meets, axis1=2, axis2=3), np.zeros((n, n))
        outer_mean, outer_variance = _matching_moments(inner_mean)
        mean += float(outer_mean)
        variance += float(outer_variance) + float(inner_variance.sum()) / n
    return mean, variance


def _matching_moments(entries: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and variance of sum_i entries[..., i, s(i)] for a uniformly random permutation s."""
    n = entries.shape[-1]
    centred = (
        entries
        - entries.mean(axis=-1, keepdims=True)
        - entries.mean(axis=-2, keepdims=True)
        + entries.mean(axis=(-1, -2), keepdims=True)
    )
    return entries.sum(axis=(-1, -2)) / n, np.square(centred).sum(axis=(-1, -2)) / max(n - 1, 1)


class SharedFactors(NamedTuple):
    """The factors that are exchanged jointly: those that no model of a cluster in a stratum explains."""

    #: (n,): position of each row's groups, -1 for a row without models
    of_row: NDArray[np.int64]
    #: groups of factors with the same values
    groups: list[list[list[str]]]


def prepare_relabelling(matching: Matching) -> SharedFactors | None:
    """Check the options; find the factors that a cluster's rows can exchange, None where rows are relabelled singly."""
    check_flag(matching.options.get("flip", False), "flip")
    warn_unstated_factors(matching)
    if matching.cluster is None:
        return None
    stratum = np.zeros(len(matching.cluster), np.int64) if matching.stratum is None else matching.stratum
    number = pd.factorize(pd.MultiIndex.from_arrays([stratum, matching.cluster]))[0].astype(np.int64)
    of_row = np.full(len(number), -1, np.int64)
    explained: dict[int, set[str]] = {}
    domains: dict[int, list[dict[str, tuple[int, ...]]]] = {}
    limits: dict[int, list[set[str]]] = {}
    for batch in FORMULAS.batches(matching.truth, matching.estimate, matching.context):
        pairs: Any = batch.pairs
        seen: set[tuple[int, ...]] = set()
        of_row[batch.rows] = number[batch.rows]
        for position, row in enumerate(batch.rows.tolist()):
            index = (pairs.truth_index, pairs.estimate_index, pairs.setting_index)
            key = (int(number[row]), *(int(x[position]) for x in index))
            if key in seen:
                continue
            seen.add(key)
            models, setting = (pairs.true_model(position), *pairs.estimated_models(position)), pairs.setting(position)
            explained.setdefault(key[0], set()).update(name for model in models for name, _ in model.outcomes)
            if setting.names is not None:
                limits.setdefault(key[0], []).append(set(setting.names))
            known = {name: setting.vocabulary.domain(name) for name in known_factors(pairs, position)}
            domains.setdefault(key[0], []).append(known)
    groups: list[list[list[str]]] = [[] for _ in range(int(number.max(initial=-1)) + 1)]
    for which, row_domains in domains.items():
        names = {name: values for known in row_domains for name, values in known.items()}
        for data in limits.get(which, []):
            # a model cannot have factors that a row's data lack
            names = {name: values for name, values in names.items() if name in data}
        for values in sorted({values for name, values in names.items() if name not in explained[which]}):
            groups[which].append(sorted(x for x in names if names[x] == values and x not in explained[which]))
    return SharedFactors(of_row, groups)


def relabel_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Match every control to its row's estimate up to the names of exogenous factors.

    Law: uniform over the permutations of the known factors that are outcomes of neither truth nor estimate, of those
    with the same values among themselves. With `flip=True` the values of each of these factors are permuted uniformly
    too: a binary factor changes its polarity with probability 1/2. Given: the outcomes, and the estimate up to the
    names (and with `flip` the values) of these factors. Rows of one cluster that share a key exchange the same factors
    in the same way: those that are outcomes in none of them.
    """
    shared: SharedFactors | None = matching.prepared
    flip = bool(matching.options.get("flip", False))
    if shared is None:
        known = partial(relabelled_form, pairs=pairs, flip=flip)
        return drawn_models(pairs, rows, keys, partial(relabel_law, flip=flip), known, always_acyclic=False)
    groups, of_row = shared.groups, shared.of_row[rows]

    def law(pairs: FormulaPairs, position: int) -> ModelLaw:
        return relabel_law(pairs, position, groups[of_row[position]], flip=flip)

    return drawn_models(pairs, rows, keys, law, always_acyclic=False)


register_null(
    FORMULAS.name,
    Null(
        "relabel",
        "the estimate with its exogenous factors exchanged at random",
        relabel_controls,
        prepare=prepare_relabelling,
        options={"flip": False},
        label_invariant=True,
        joint=True,
    ),
)

#: truths and estimates with the numbers of literals that they share, of the estimate, and of the truth
_PROBES = (
    ("A*b+C<->E", "A*c+D<->E", 1, 3, 3),
    ("A*b+C<->E", "A<->E", 1, 1, 3),
    ("A<->E", "A*b+C<->E", 1, 3, 1),
    ("A*b+C<->E", "a<->E", 0, 1, 3),
    # joint and alternative causes, and paths, are shared less than literals
    ("A*b+C<->E", "A*C+b<->E", 3, 3, 3),
    ("(A+B<->C)*(C+D<->E)", "(B<->C)*(A+C<->E)", 4, 4, 6),
)


def share_of_literals(value: Value, rule: str) -> str | None:
    """Check that a metric is the number of shared literals, divided as the rule states."""
    for truth, estimate, shared, of_estimate, of_truth in _PROBES:
        expected = shared / SCALES[rule](of_estimate, of_truth, 1.0)
        score = value(pair(truth, estimate))
        if not np.allclose(score, expected, rtol=1e-9, atol=1e-9):
            return f"for truth {truth} and estimate {estimate} it is {score.item():g}, not {expected:g}"
    return None


for _rule, _divisor in (
    ("literal_correctness", "the literals of the estimate"),
    ("literal_completeness", "the literals of the truth"),
    ("literal_f_beta", "the weighted literals of both"),
):
    register_closed_form(
        ClosedFormRule(
            _rule,
            FORMULAS.name,
            f"Shared literals divided by {_divisor}. Mean and variance are exact under relabelling (Hoeffding).",
            partial(share_of_literals, rule=_rule),
        )
    )
