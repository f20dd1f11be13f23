"""Controls of configurational estimates that are drawn: crisp ones many at a time, others model by model.

Judged relative to data, a control whose formulas do not reach the thresholds ascribes no causes: its completeness is 0,
its correctness 0/0. Such controls are left out of the correctness, which is then compared with guesses that fit the
data; with `zero_division=0` they count as wrong.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_known, name_row
from ...contract.context import Context
from ...contract.field import get_field
from ...contract.law import ClosedForm
from ...contract.metric import Metric
from ...contract.null import Controls, DrawnControls, Matching, no_closed_form
from ...execution.random_streams import RNGLike, random_words, resolve_seed, uniforms
from .formula import BINARY, Domains, FormulaTooLargeError, Model, set_text
from .kernels import MAX_ATOMS, MAX_FACTORS, MAX_FREE
from .pairs import KINDS, CrispCells, DecodedCells, FormulaCells, FormulaPairs, Names, encode
from .reader import Cell
from .simulation import MAX_PROPOSALS, NoSuchModelError, no_such_model

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
        literals = model.complexity
        explained = {name for name, _ in model.outcomes}
        if len(explained) < len(model.atoms) or min(n - 1, literals) > MAX_FREE:
            return None
    if any(one[-1] >= n for one in sizes):
        return None
    negative = np.array([sum(value == 0 for one in a.disjuncts for _, value in one) for a in atoms], np.int64)
    shapes = [(model.outcomes, [sorted(map(len, atom.disjuncts)) for atom in model.atoms]) for model in models]
    same = [shapes.index(one) for one in shapes]
    chance = -1.0 if share is None else share

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
            chance,
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
    found = []
    for names in groups:
        n = len(names)
        found.append((np.argsort(numbers[used : used + n], axis=0, kind="stable"), numbers[used + n : used + 2 * n]))
        used += 2 * n
    return found


def permuted(values: Sequence[int], number: float) -> list[int]:
    """Return the permutation of some values that a number in [0, 1) stands for."""
    left, rank = list(values), int(number * math.factorial(len(values)))
    found = []
    for n in range(len(left) - 1, -1, -1):
        place, rank = divmod(rank, math.factorial(n))
        found.append(left.pop(place))
    return found


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
    found: list[tuple[Ints, Ints]] = []
    sizes = np.zeros(len(left), np.int64)
    at = np.arange(len(left))
    while len(at):
        low = left[at] & -left[at]
        found.append((at, of_bit[np.log2(low.astype(np.float64)).astype(np.int64)]))
        left[at] ^= low
        sizes[at] += 1
        at = at[left[at] != 0]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    literals = np.empty(ends[-1], np.int64)
    for k, (places, known) in enumerate(found):
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
        warnings.warn(
            "controls use only the factors of truth and estimate, because no others are stated; if the method chose "
            "among more, p-values are too large and skills too small. Name all factors of its data: "
            "context={'factors': ['A', 'B', ...]}",
            UserWarning,
            stacklevel=2,
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
        found, undrawn = DrawnCells(pairs.names), ""
        for position in range(pairs.n):
            if not pairs.estimated_models(position):
                found.add_missing(count)
                continue
            key, kind = int(keys[position]), int(kinds[position])
            try:
                own = laws.get(position) or laws.setdefault(position, law(pairs, position))
                if own.arrays is not None:
                    found.add_codes(own.arrays.draw(key, start, count), own.arrays.shape, kind)
                else:
                    found.add_models([own.sample(key, number) for number in range(start, start + count)], kind)
            except (NoSuchModelError, FormulaTooLargeError) as error:
                found.add_missing(count)
                undrawn = undrawn or (
                    f"{name_row(int(rows[position]))} has no control: {error}. It matches "
                    f"{set_text(pairs.estimated_models(position))}; leave the row out, or use null='relabel'"
                )
        cells, index, absent = found.collected()
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
