"""Controls of configurational estimates that are drawn model by model.

Judged relative to data, a control whose formulas do not reach the thresholds ascribes no causes: its completeness is 0,
its correctness 0/0. Such controls are left out of the correctness, which is then compared with guesses that fit the
data; with `zero_division=0` they count as wrong.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_known, name_row
from ...contract.context import Context
from ...contract.field import get_field
from ...contract.null import Controls, Matching
from ...execution.random_streams import RNGLike, resolve_seed
from ..formulas.formula import set_text
from ..formulas.reader import Cell
from ..formulas.vocabulary import FormulaTooLargeError
from ..pairs import KINDS, FormulaCells, FormulaPairs
from ..simulation.ground_truths import NoSuchModelError
from .crisp_draws import CodesLaw, DrawnCells

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


@dataclass(frozen=True, eq=False)
class DrawnModels(Controls):
    """Controls that are drawn model by model."""

    #: the observed pairs, one a row
    pairs: FormulaPairs
    #: (n,): their positions in the table, for messages
    rows: NDArray[np.int64]
    #: (n,): names of the rows' random streams
    keys: NDArray[np.uint64]
    #: `law(pairs, position)` returns the law of a pair's controls. An output without models has no controls: no model
    #: has its size, and its metrics are undefined.
    law: Callable[[FormulaPairs, int], ModelLaw]
    #: whether controls are acyclic whatever the estimate is
    always_acyclic: bool
    _laws: dict[int, ModelLaw] = field(default_factory=dict, repr=False)

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
        return _CONTROL_WORK

    def draw(self, start: int, count: int) -> FormulaPairs:
        """Return rows x count pairs, a row's draws together, whose estimates are draws start .. start + count - 1."""
        drawn = DrawnCells(self.pairs.names)
        undrawn = ""
        for position in range(self.pairs.n):
            if not self.pairs.estimated_models(position):
                drawn.add_missing(count)
                continue
            key = int(self.keys[position])
            kind = 0 if self.always_acyclic else int(self.pairs.estimate.kinds[self.pairs.estimate_index[position]])
            try:
                law = self._laws.get(position) or self._laws.setdefault(position, self.law(self.pairs, position))
                if law.arrays is not None:
                    drawn.add_codes(law.arrays.draw(key, start, count), law.arrays.shape, kind)
                else:
                    numbers = range(start, start + count)
                    drawn.add_models([law.sample(key, number) for number in numbers], kind)
            except (NoSuchModelError, FormulaTooLargeError) as error:
                drawn.add_missing(count)
                undrawn = undrawn or (
                    f"{name_row(int(self.rows[position]))} has no control: {error}. It matches "
                    f"{set_text(self.pairs.estimated_models(position))}; leave the row out, or use null='relabel'"
                )
        cells, index, absent = drawn.collected()
        estimate = FormulaCells(cells, absent)
        return self.pairs.with_cells(estimate, index, np.repeat(np.arange(self.pairs.n), count), undrawn)


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
