"""Null models of configurational estimates made from a user's function that draws one control."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contract.checks import name_row
from ..contract.null import Controls, Matching, Null
from .formulas.formula import Model
from .formulas.reader import Cell, as_models
from .pairs import KINDS, FormulaPairs

#: draws one control for an estimate: a model, or the models of a set
DrawOne = Callable[[Any, np.random.Generator], Any]


def custom_null(function: DrawOne, name: str) -> Null:
    """Make a null model from a function that draws one control.

    `function(estimate, rng)` gets a `Model`, or a tuple of them where the estimate is a set, and returns a model
    as text or value, or several. It must draw from `rng` alone: draw r depends on the seed, the row's key and r.
    """

    def controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        return CustomModels(function, name, pairs, rows, keys)

    return Null(name, f"random models drawn by the function {name}", controls)


@dataclass(frozen=True, eq=False)
class CustomModels(Controls):
    """Controls of the rows of one batch, drawn one by one."""

    function: DrawOne
    name: str
    pairs: FormulaPairs
    rows: NDArray[np.int64]
    keys: NDArray[np.uint64]

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls, a word a row: that of the estimates."""
        return np.array(KINDS, object)[self.pairs.estimate.kinds[self.pairs.estimate_index]]

    @property
    def work(self) -> float:
        """Nanoseconds that drawing one control takes, roughly: it is a call of the user's function."""
        return 3e5

    def draw(self, start: int, count: int) -> FormulaPairs:
        """Return rows x count pairs, a row's draws together, whose estimates are draws start .. start + count - 1."""
        cells: list[Cell] = []
        for position, key in enumerate(self.keys.tolist()):
            models = self.pairs.estimated_models(position)
            estimate: Model | Cell = models[0] if len(models) == 1 else models
            for number in range(start, start + count):
                # a counter-based generator: draw r needs none of the draws before it
                rng = np.random.Generator(np.random.Philox(key=key + (number << 64)))
                cells.append(self._checked(self.function(estimate, rng), position))
        return self.pairs.with_estimates(cells, np.repeat(np.arange(self.pairs.n), count))

    def _checked(self, found: Any, position: int) -> Cell:
        """Read the models that the function returned, and refuse values and factors that the row's setting lacks."""
        try:
            cell = as_models(found)
            for model in cell:
                self.pairs.setting(position).check(model, relative=True)
        except (TypeError, ValueError) as error:
            where = name_row(int(self.rows[position]))
            raise ValueError(f"{where}: null {self.name!r} returned no model that can be scored: {error}") from error
        return cell
