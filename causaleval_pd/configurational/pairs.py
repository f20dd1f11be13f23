"""Aligned pairs of a true model and the models that a method returned, with the counts that metrics share."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..contract.pairs import PairError, Pairs
from .formulas.formula import Model, set_text
from .formulas.reader import Cell
from .formulas.truth_table import Setting, evaluation_order
from .formulas.vocabulary import FormulaTooLargeError
from .models.exposition import Exposition, expose
from .models.quality import Convention, quality_counts

KINDS = ("acyclic", "cyclic")
#: expositions that are kept for one side of a table
MAX_KEPT = 10_000

T = TypeVar("T")


class TooLargePairsError(PairError, FormulaTooLargeError):
    """Pairs with models whose exact evaluation would take too long; the verbs name their rows."""


@dataclass(frozen=True, eq=False)
class FormulaCells:
    """Distinct cells of one side of a table, and what metrics compute once a model."""

    #: the models of each cell; a truth has one
    cells: tuple[Cell, ...]
    #: position of the cell that stands for a missing control, whose metrics are undefined; -1 if none is missing
    absent: int = -1
    _kept: dict[Any, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def kinds(self) -> NDArray[np.int64]:
        """Position of each cell's kind in `KINDS`."""
        return np.array([any(evaluation_order(model) is None for model in cell) for cell in self.cells], np.int64)

    def cached(self, key: Any, compute: Callable[[], T]) -> T:
        """Return the value stored under `key`, computed at the first request; an error is stored too."""
        if key not in self._kept:
            if len(self._kept) >= MAX_KEPT:
                self._kept.clear()
            try:
                self._kept[key] = compute()
            except FormulaTooLargeError as error:
                self._kept[key] = error
        found: T | FormulaTooLargeError = self._kept[key]
        if isinstance(found, FormulaTooLargeError):
            raise FormulaTooLargeError(*found.args)
        return found

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
    _computed: dict[Any, Any] = field(default_factory=dict, repr=False)

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

    @property
    def work(self) -> float:
        """Nanoseconds that a plain metric takes for one pair, roughly; a costly one takes a hundred times as long."""
        return 3e4

    def take(self, positions: NDArray[Any] | slice) -> FormulaPairs:
        """Return the pairs at `positions`, sharing the stored cells."""
        return self._replace(
            self.estimate, self.truth_index[positions], self.estimate_index[positions], self.setting_index[positions]
        )

    def with_estimates(
        self, cells: Sequence[Cell | None], positions: NDArray[np.int64], undrawn: str = ""
    ) -> FormulaPairs:
        """Pair other estimates (None: no control) with the truths and settings of the pairs at `positions`."""
        distinct = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
        index = np.array([distinct[cell] for cell in cells], np.int64)
        estimate = FormulaCells(tuple(cell or () for cell in distinct), distinct.get(None, -1))
        found = self._replace(estimate, self.truth_index[positions], index, self.setting_index[positions])
        return replace(found, undrawn=undrawn)

    def _replace(
        self,
        estimate: FormulaCells,
        truth_index: NDArray[np.int64],
        estimate_index: NDArray[np.int64],
        setting_index: NDArray[np.int64],
    ) -> FormulaPairs:
        return FormulaPairs(self.truth, estimate, truth_index, estimate_index, setting_index, self.settings)

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
        for side, cells, index in (
            ("truth", self.truth, self.truth_index),
            ("estimate", self.estimate, self.estimate_index),
        ):
            at = index[position]
            sides.append(f"{side} is {KINDS[cells.kinds[at]]}: {set_text(cells.cells[at])}")
        return " and ".join(sides)

    def by_model(self, compute: Callable[[int, Model], Any], key: Any) -> list[list[Any]]:
        """Compute something for each estimated model of every distinct pair, once for all metrics.

        `compute(position, model)` gets a pair and one of its estimated models; results are stored under `key`. A
        `TooLargePairsError` names the pairs that would take too long.
        """
        if key not in self._computed:
            first = self.distinct[0].tolist()
            found: list[list[Any]] = []
            refusals: dict[int, FormulaTooLargeError] = {}
            for number, position in enumerate(first):
                try:
                    found.append([compute(position, model) for model in self.estimated_models(position)])
                except FormulaTooLargeError as error:
                    refusals[number] = error
            if refusals:
                positions = np.flatnonzero(np.isin(self.distinct[1], list(refusals)))
                raise TooLargePairsError(positions, str(next(iter(refusals.values()))))
            self._computed[key] = found
        return list(self._computed[key])

    def spread(self, values: Sequence[float]) -> NDArray[np.float64]:
        """Return for every pair the value of its distinct pair, NaN where the control is missing."""
        absent = self.estimate_index == self.estimate.absent
        return np.where(absent, np.nan, np.asarray(values, np.float64)[self.distinct[1]])

    def quality(self, convention: Convention) -> list[list[NDArray[np.float64]]]:
        """Count shared and own complexity of each estimated model of every distinct pair.

        Each array (2, 2, 4) holds correctness and completeness, numerators and denominators, by component.
        """

        def count(position: int, model: Model) -> NDArray[np.float64]:
            setting = self.setting(position)
            truth = self.truth.exposition(self.true_model(position), setting, convention, relative=False)
            estimate = self.estimate.exposition(model, setting, convention, relative=True)
            sides = quality_counts(truth, estimate, setting.vocabulary, convention)
            return np.stack([np.sum(list(side.values()), axis=0) for side in sides])

        return self.by_model(count, ("quality", convention))
