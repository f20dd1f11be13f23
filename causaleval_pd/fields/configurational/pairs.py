"""Aligned pairs of a true model and the models that a method returned, with the counts that metrics share.

Crisp models are kept as arrays: they are made into models only where asked for, and kernels count their quality. Pairs
that kernels do not take, and the first pairs of a process, are counted in Python, because kernels take seconds to
compile. The counts are the same bit by bit.
"""

from __future__ import annotations

import inspect
import itertools
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...contract.pairs import PairError, Pairs, Remark
from .formula import Atom, FormulaTooLargeError, Model, set_text
from .kernels import MAX_PARTS
from .quality import Convention, Exposition, expose, quality_counts
from .reader import Cell, as_models
from .truth_table import Setting, evaluation_order

if TYPE_CHECKING:
    from .kernels.scores import Models

Ints = NDArray[np.int64]


class Names:
    """Numbers of the factors of a table, which its units of work share, in threads too."""

    def __init__(self, numbers: Mapping[str, int] | None = None) -> None:
        self.numbers, self._lock = dict(numbers or {}), threading.Lock()

    def __reduce__(self) -> tuple[type[Names], tuple[dict[str, int]]]:
        return Names, (dict(self.numbers),)

    def number(self, name: str) -> int:
        """Return the number of a factor."""
        if name not in self.numbers:
            with self._lock:
                self.numbers.setdefault(name, len(self.numbers))
        return self.numbers[name]


class Sizes(NamedTuple):
    """The models of some cells by the sizes of their parts, so that those of several tables can be joined."""

    #: number of models of each cell, of atoms of each model, disjuncts of each atom, literals of each disjunct
    models: Any
    atoms: Any
    disjuncts: Any
    literals: Any
    #: outcomes and literals, as 2 f + v for value v of factor number f
    outcome: Any
    codes: Any

    @classmethod
    def of(cls, cells: Iterable[Cell], names: Names) -> Sizes:
        """Write models; those with other values than 0 and 1, or one-way arrows, are left without atoms."""
        sizes, number = cls(*(list[int]() for _ in cls._fields)), names.number
        for cell in cells:
            sizes.models.append(len(cell))
            for model in cell:
                atoms = () if model.multi_value or model.one_way else model.atoms
                sizes.atoms.append(len(atoms))
                for atom in atoms:
                    sizes.outcome.append(2 * number(atom.outcome[0]) + atom.outcome[1])
                    sizes.disjuncts.append(len(atom.disjuncts))
                    for one in atom.disjuncts:
                        sizes.literals.append(len(one))
                        sizes.codes.extend([2 * number(name) + value for name, value in one])
        return sizes


class CrispCells(NamedTuple):
    """The models of some cells as arrays that kernels take."""

    models: Models
    #: (cells + 1,): the first model of each cell
    first: Ints

    @classmethod
    def of(cls, *parts: Sizes) -> CrispCells:
        """Put the cells of several parts one after another."""
        from .kernels.scores import Models

        joined = [np.concatenate([np.asarray(x, np.int64) for x in sizes]) for sizes in zip(*parts, strict=True)]
        first, atoms, disjuncts, ends = (np.concatenate([[0], np.cumsum(sizes)]) for sizes in joined[:4])
        return cls(Models(atoms, joined[4], disjuncts, ends, joined[5]), first)


class DecodedCells(Sequence[Cell]):
    """Cells that are made from arrays when they are asked for, but for those that are known."""

    def __init__(self, packed: CrispCells, names: Names, known: Mapping[int, Cell]) -> None:
        self.packed, self.names, self._known = packed, names, dict(known)

    def __len__(self) -> int:
        return len(self.packed.first) - 1

    def __getitem__(self, at: int) -> Cell:  # type: ignore[override]
        at = int(at)
        if not 0 <= at < len(self):
            raise IndexError(at)
        if at not in self._known:
            models = range(*self.packed.first[at : at + 2].tolist())
            self._known[at] = tuple(sorted(map(self._model, models), key=str))
        return self._known[at]

    def _model(self, at: int) -> Model:
        m, words = self.packed.models, list(self.names.numbers)
        atoms = []
        for a in range(*m.atoms[at : at + 2].tolist()):
            ends = m.ends[m.disjuncts[a] : m.disjuncts[a + 1] + 1].tolist()
            codes = [m.outcome[a : a + 1], *(m.literals[i:j] for i, j in itertools.pairwise(ends))]
            [outcome], *left = [[(words[code >> 1], code & 1) for code in one.tolist()] for one in codes]
            atoms.append(Atom(tuple(map(frozenset, left)), outcome))
        return Model(tuple(atoms))


def count_quality(
    truths: CrispCells,
    estimates: CrispCells,
    truth_model: Ints,
    estimate_model: Ints,
    names: Names,
    convention: Convention,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Count shared and own complexity of pairs of crisp models on their ideal data."""
    # Returns correctness and completeness, numerators and denominators, by component, (n, 2, 2, 4), and which pairs
    # were counted; others are left to `quality_counts`.
    from .kernels.scores import count_pairs, make_memory

    n = len(truth_model)
    counts, done = np.zeros((n, 2, 11), np.int64), np.zeros(n, bool)
    rules = convention.size_caps, convention.tie_rule == "disjuncts_first", convention.partial_credit
    models, memory = (truths.models, estimates.models, truth_model, estimate_model), make_memory(len(names.numbers))
    count_pairs(*models, *rules, memory, counts, done)
    result = counts[:, :, :8].reshape(n, 2, 2, 4).astype(np.float64)
    result[:, :, 0, 3] /= MAX_PARTS
    if convention.constant_outcome == "penalise":
        # an atom of the estimate whose outcome is constant: literals, conjunctions, one formula, and one path per
        # literal
        result[:, 0, 1] += counts[:, 0][:, [9, 10, 10, 9]]
    elif convention.constant_outcome == "nan":
        result[counts[:, :, 8] > 0] = np.nan
    return result, done


KINDS = ("acyclic", "cyclic", "one-way")


def _kind(cell: Cell) -> int:
    """Return the position of a cell's kind in `KINDS`."""
    return 1 if any(evaluation_order(m) is None for m in cell) else 2 * any(m.one_way for m in cell)


#: correctness and completeness of models, numerators and denominators by component, (models, 2, 2, 4), and the number
#: of models of each pair, which stand together
Quality = tuple[NDArray[np.float64], NDArray[np.int64]]
#: expositions that are kept for one side of a table
MAX_KEPT = 10_000
#: pairs that this process meets before kernels count: fewer take Python less time than kernels take to compile
FEWEST_BY_KERNELS = 500
pairs_met = np.zeros(1, np.int64)

T = TypeVar("T")


class TooLargePairsError(PairError, FormulaTooLargeError):
    """Pairs with models whose exact evaluation would take too long; the verbs name their rows."""


class FormulaCells:
    """Distinct cells of one side of a table, and what metrics compute once per model."""

    def __init__(self, cells: Sequence[Cell], absent: int = -1, kinds: Ints | None = None) -> None:
        #: the models of each cell; a truth has one
        self.cells = cells
        #: position of the cell that stands for a missing control, whose metrics are undefined; -1 if none is missing
        self.absent = absent
        #: position of each cell's kind in `KINDS`
        self.kinds = np.array([*map(_kind, cells)], np.int64) if kinds is None else kinds
        self._kept: dict[Any, Any] = {}

    @property
    def n_models(self) -> Ints:
        """Number of models of each cell."""
        if isinstance(self.cells, DecodedCells):
            return np.diff(self.cells.packed.first)
        return np.array([*map(len, self.cells)], np.int64)

    def packed(self, names: Names) -> CrispCells:
        """Return the cells as arrays, with the numbers of a table's factors."""
        if isinstance(self.cells, DecodedCells):
            return self.cells.packed
        return self.cached("packed", lambda: CrispCells.of(Sizes.of(self.cells, names)))

    def as_equivalences(self) -> FormulaCells:
        """Return the cells with `=>` and `<=` read as `<->`."""
        if not (self.kinds == KINDS.index("one-way")).any():
            return self
        return FormulaCells(tuple(tuple(model.as_equivalence() for model in cell) for cell in self.cells), self.absent)

    def cached(self, key: Any, compute: Callable[[], T]) -> T:
        """Return the value stored under `key`, computed at the first request; an error is stored too."""
        if key not in self._kept:
            if len(self._kept) >= MAX_KEPT:
                self._kept.clear()
            try:
                self._kept[key] = compute()
            except FormulaTooLargeError as error:
                self._kept[key] = error
        entry: T | FormulaTooLargeError = self._kept[key]
        if isinstance(entry, FormulaTooLargeError):
            raise FormulaTooLargeError(*entry.args)
        return entry

    def exposition(self, model: Model, setting: Setting, convention: Convention, *, relative: bool) -> Exposition:
        """Return a model's causal exposition."""
        path_rule, size_caps = convention.path_rule, convention.size_caps
        return self.cached(
            ("exposition", model, id(setting), relative, path_rule, size_caps),
            lambda: expose(model, setting, relative=relative, path_rule=path_rule, size_caps=size_caps),
        )


@dataclass(frozen=True, eq=False)
class FormulaPairs(Pairs):
    """Aligned pairs of cells with formulas."""

    #: truth, estimate: stored cells; controls share their truth
    truth: FormulaCells
    estimate: FormulaCells
    #: truth_index, estimate_index, setting_index, (n,): which stored cells and which setting make up a pair
    truth_index: NDArray[np.int64]
    estimate_index: NDArray[np.int64]
    setting_index: NDArray[np.int64]
    #: values of factors and data that models are evaluated relative to
    settings: tuple[Setting, ...]
    #: why some pairs have no estimate, of drawn pairs
    undrawn: str = ""
    #: numbers of factors, which controls share
    names: Names = field(default_factory=Names)

    @classmethod
    def of(cls, truth: Cell, estimate: Cell, setting: Setting) -> FormulaPairs:
        """Return a single pair."""
        zero = np.zeros(1, np.int64)
        return cls(FormulaCells((truth,)), FormulaCells((estimate,)), zero, zero, zero, (setting,))

    @property
    def n(self) -> int:
        """Number of pairs."""
        return len(self.truth_index)

    def true_model(self, position: int) -> Model:
        """Return the true model of a pair."""
        return self.truth.cells[self.truth_index[position]][0]

    def estimated_models(self, position: int) -> Cell:
        """Return the estimated models of a pair."""
        return self.estimate.cells[self.estimate_index[position]]

    def setting(self, position: int) -> Setting:
        """Return the values of factors and data that a pair is evaluated relative to."""
        return self.settings[self.setting_index[position]]

    work = 3e4

    def take(self, positions: NDArray[Any] | slice) -> FormulaPairs:
        """Return the pairs at `positions`, sharing the stored cells."""
        return self.with_cells(self.estimate, self.estimate_index[positions], positions)

    def with_estimates(self, cells: Sequence[Cell | None], positions: NDArray[np.int64]) -> FormulaPairs:
        """Pair other estimates (None: no control) with the truths and settings of the pairs at `positions`."""
        distinct = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
        index = np.array([distinct[cell] for cell in cells], np.int64)
        estimate = FormulaCells(tuple(cell or () for cell in distinct), distinct.get(None, -1))
        return self.with_cells(estimate, index, positions)

    def with_cells(
        self, estimate: FormulaCells, index: NDArray[np.int64], positions: NDArray[Any] | slice, undrawn: str = ""
    ) -> FormulaPairs:
        """Pair other estimates, by the index of their cells, with the truths and settings of pairs at `positions`."""
        return replace(
            self,
            estimate=estimate,
            truth_index=self.truth_index[positions],
            estimate_index=index,
            setting_index=self.setting_index[positions],
            undrawn=undrawn,
        )

    @cached_property
    def distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First positions of the distinct pairs, and for each pair its number among them."""
        code = (self.truth_index * len(self.estimate.cells) + self.estimate_index) * len(self.settings)
        _, first, inverse = np.unique(code + self.setting_index, return_index=True, return_inverse=True)
        return first, inverse.astype(np.int64)

    def unique(self) -> tuple[FormulaPairs, NDArray[np.int64]]:
        """Return the distinct pairs, and for each pair the position of its equal among them."""
        first, inverse = self.distinct
        return self.take(first), inverse

    def refused(self, kinds: Container[str], truth_kinds: Container[str] | None = None) -> NDArray[np.bool_]:
        """Return which pairs have a cyclic model, where cyclic is not among `kinds`."""
        true, estimated = (
            np.array([kind in known for kind in KINDS])
            for known in (kinds if truth_kinds is None else truth_kinds, kinds)
        )
        fits = true[self.truth.kinds][self.truth_index] & estimated[self.estimate.kinds][self.estimate_index]
        return np.asarray(~fits)

    def describe(self, position: int) -> str:
        """Describe a pair for messages: whether truth and estimate are cyclic, and their models."""
        sides = []
        both = ("truth", self.truth, self.truth_index), ("estimate", self.estimate, self.estimate_index)
        for side, cells, index in both:
            at = index[position]
            kind = KINDS[cells.kinds[at]]
            more = " (=> states sufficiency and <= necessity alone)" if kind == "one-way" else ""
            sides.append(f"{side} is {kind}{more}: {set_text(cells.cells[at])}")
        return " and ".join(sides)

    def as_equivalences(self) -> FormulaPairs:
        """Return the pairs with `=>` and `<=` read as `<->`; pairs without them are returned as they are."""
        truth, estimate = self.truth.as_equivalences(), self.estimate.as_equivalences()
        if truth is self.truth and estimate is self.estimate:
            return self
        same: FormulaPairs = self.remember("equivalences", lambda: replace(self, truth=truth, estimate=estimate))
        return same

    def by_model(self, compute: Callable[[int, Model], Any], key: Any) -> list[list[Any]]:
        """Compute something for each estimated model of every distinct pair, once for all metrics."""

        def of_pair(position: int) -> list[Any]:
            return [compute(position, model) for model in self.estimated_models(position)]

        outputs: list[list[Any]] = self.remember(key, lambda: self._each(of_pair, self.distinct[0]))
        return outputs

    def _each(self, compute: Callable[..., T], positions: Ints, *further: Ints) -> list[T]:
        """Compute something for pairs, by position; those that would take too long are refused together."""
        outputs: list[T] = []
        refusals: dict[int, FormulaTooLargeError] = {}
        for position, *more in np.stack([positions, *further], axis=1).tolist():
            try:
                outputs.append(compute(position, *more))
            except FormulaTooLargeError as error:
                refusals[position] = error
        if refusals:
            distinct = self.distinct[1]
            equal = np.flatnonzero(np.isin(distinct, distinct[list(refusals)]))
            raise TooLargePairsError(equal, str(next(iter(refusals.values()))))
        return outputs

    def spread(self, values: Sequence[float]) -> NDArray[np.float64]:
        """Return for every pair the value of its distinct pair, NaN where the control is missing."""
        absent = self.estimate_index == self.estimate.absent
        return np.where(absent, np.nan, np.asarray(values, np.float64)[self.distinct[1]])

    def quality(self, convention: Convention) -> Quality:
        """Count shared and own complexity of each estimated model of every distinct pair."""
        counts: Quality = self.remember(("quality", convention), lambda: self._quality(convention))
        return counts

    def _quality(self, convention: Convention) -> Quality:
        first = self.distinct[0]
        n_models = self.estimate.n_models[self.estimate_index[first]]
        positions, start = first.repeat(n_models), np.cumsum(n_models) - n_models
        places = np.arange(len(positions)) - start.repeat(n_models)
        counts, done = np.zeros((len(places), 2, 2, 4)), np.zeros(len(places), bool)
        plain = all(setting.data is None and not setting.vocabulary.multi_value for setting in self.settings)
        if plain and convention.path_rule == "outcome" and _kernels_pay(len(places)):
            truths, estimates = (side.packed(self.names) for side in (self.truth, self.estimate))
            models = estimates.first[self.estimate_index[positions]] + places
            counts, done = count_quality(truths, estimates, self.truth_index[positions], models, self.names, convention)

        def counted(position: int, place: int) -> NDArray[np.float64]:
            setting, model = self.setting(position), self.estimated_models(position)[place]
            truth = self.truth.exposition(self.true_model(position), setting, convention, relative=False)
            estimate = self.estimate.exposition(model, setting, convention, relative=True)
            sides = quality_counts(truth, estimate, setting.vocabulary, convention)
            return np.stack([total(list(side.values())) for side in sides])

        if not done.all():
            counts[~done] = self._each(counted, positions[~done], places[~done])
        return counts, n_models

    def remarks(self, metrics: Sequence[Any]) -> Iterator[Remark]:
        """Yield the pairs whose estimates do not reach the thresholds of their data, by thresholds."""
        quality = next((m for m in metrics if "convention" in inspect.signature(m.function).parameters), None)
        if quality is None or all(setting.data is None for setting in self.settings):
            return
        convention = Convention.of(quality.options.get("convention", "corrected"))
        pairs = self.as_equivalences() if quality.options.get("arrows") == "equivalence" else self
        positions: dict[str, list[int]] = {}
        for number, position in enumerate(self.distinct[0].tolist()):
            setting, models = pairs.setting(position), pairs.estimated_models(position)
            if setting.data is not None and not all(pairs._reaches(model, setting, convention) for model in models):
                positions.setdefault(setting.thresholds, []).append(number)
        for thresholds, numbers in positions.items():
            yield Remark(
                np.flatnonzero(np.isin(self.distinct[1], numbers)),
                f"have atoms that do not reach {thresholds} in their data",
                "such atoms ascribe no causes, and the correctness of a model without others is 0/0, its completeness "
                "0; pass the thresholds of the search as 'con' and 'cov' in context=, or zero_division=0 to count such "
                "models as wrong",
            )

    def _reaches(self, model: Model, setting: Setting, convention: Convention) -> bool:
        """Check whether every atom whose outcome varies has a minimal form relative to data."""
        if model.one_way or evaluation_order(model) is None:
            return True
        try:
            exposition = self.estimate.exposition(model, setting, convention, relative=True)
        except FormulaTooLargeError:
            return True
        return all(ascribed.constant or ascribed.disjunctions for ascribed in exposition.values())


def _kernels_pay(n_pairs: int) -> bool:
    """Return whether kernels count the next pairs."""
    pairs_met[0] += n_pairs
    return bool(pairs_met[0] >= FEWEST_BY_KERNELS)


def total(counts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Add counts (2, 4) of outcomes up; shares of paths are added as fractions, so that the order does not matter."""
    added = np.sum(counts, axis=0)
    if np.isfinite(added).all():
        added[0, 3] = float(sum(Fraction(one[0, 3]).limit_denominator(MAX_PARTS) for one in counts))
    return added


def compile_kernels() -> None:
    """Compile the kernels that count the quality of many pairs."""
    names, zero = Names(), np.zeros(1, np.int64)
    texts = "(A*b+C<->D)*(D*E+a<->F)", "(A+C<->D)*(D*E<->F)"
    truth, estimate = (CrispCells.of(Sizes.of([as_models(text)], names)) for text in texts)
    count_quality(truth, estimate, zero, zero, names, Convention())
