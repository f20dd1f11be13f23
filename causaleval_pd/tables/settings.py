"""Settings of the verbs as values: how cells are read, how controls are drawn, where the work is done."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..contract.checks import check_flag, check_known, check_number, check_whole, shown
from ..contract.context import describe_context
from ..contract.null import Nulls
from ..statistics.multiplicity import auto_draws
from .several_truths import Over, check_over

Invalid = Literal["raise", "nan"]
Method = Literal["auto", "exact", "simulate"]
PRule = Literal["add_one", "share", "mid"]
#: controls a row, or as many as the number of tests needs
NDraws = int | Literal["auto"]

#: draws of every row before the first look, where draws stop early
FIRST_DRAWS = 100


@dataclass(frozen=True)
class Cells:
    """Which columns hold the cells, of which field, and what 0/0 is; see `evaluate`."""

    truth: Hashable | list[Hashable] | None = "truth"
    estimate: Hashable = "estimate"
    field: str | None = None
    context: Mapping[str, Any] | None = None
    zero_division: float = math.nan
    over_truths: Over | None = None

    def __post_init__(self) -> None:
        check_over(self.truth, self.over_truths)
        number = isinstance(self.zero_division, (int, float, np.integer, np.floating))
        if not number or isinstance(self.zero_division, bool):
            raise ValueError(f"zero_division must be a number or NaN, found {shown(self.zero_division)}")

    def settings(self) -> dict[str, Any]:
        """Return the settings for the history of a result; the field that the verb settled on is not among them."""
        columns = {"truth": self.truth, "estimate": self.estimate}
        columns |= {} if self.over_truths is None else {"over_truths": self.over_truths}
        return columns | {"context": describe_context(self.context), "zero_division": float(self.zero_division)}

    @property
    def names(self) -> dict[str, Hashable]:
        """Columns by role, of several truths the first; the truth is left out where the call has none."""
        if self.truth is None:
            return {"estimate": self.estimate}
        return {"truth": self.truth[0] if isinstance(self.truth, list) else self.truth, "estimate": self.estimate}

    @property
    def further_truths(self) -> list[Hashable]:
        """Columns of truths after the first."""
        return self.truth[1:] if isinstance(self.truth, list) else []


@dataclass(frozen=True)
class Drawing:
    """How controls are drawn and summarised, the same for every row; see `with_controls`.

    The first `keep` draws are kept, and without `summarise` nothing else is made of them. With `stop_after`, a row's
    draws for p stop after this number of controls that are as good; `n_draws` is then their limit.

    Raises
    ------
    ValueError
        If a setting is invalid, or settings contradict one another.
    """

    n_draws: int
    method: Method = "auto"
    level: float = 0.95
    p_rule: PRule = "add_one"
    invalid: Invalid = "raise"
    stop_after: int | None = None
    keep: int = 0
    summarise: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_draws", check_whole(self.n_draws, "n_draws", 1, 2**31 - 1))
        check_number(self.level, "level", "(0, 1)")
        check_known(self.method, ("auto", "exact", "simulate"), "method")
        check_known(self.p_rule, ("add_one", "share", "mid"), "p_rule")
        if self.stop_after is not None:
            object.__setattr__(self, "stop_after", check_whole(self.stop_after, "stop_after", 1))
            if self.p_rule != "add_one":
                raise ValueError(
                    f"p_rule={self.p_rule!r} does not go with stop_after=, whose p is h / l or (b + 1) / (n + 1)"
                )

    def settings(self) -> dict[str, Any]:
        """Return the settings for the history of a result."""
        names = ("method", "level", "p_rule", "stop_after", "invalid")
        return {"n_draws": self.n_draws if self.draws else 0} | {name: getattr(self, name) for name in names}

    @property
    def n_first(self) -> int:
        """Draws that every row gets, whatever they show."""
        return self.n_draws if self.stop_after is None else min(self.n_draws, FIRST_DRAWS)

    @property
    def draws(self) -> bool:
        """Whether outputs without a closed form are simulated."""
        return self.method in ("auto", "simulate")


def settle_draws(how: Drawing, n_draws: NDraws, n_tests: int) -> Drawing:
    """Return the settings with as many draws as `n_tests` tests need, where `n_draws` is "auto"."""
    return replace(how, n_draws=auto_draws(n_tests)) if n_draws == "auto" else how


def first_draws(n_draws: NDraws) -> int:
    """Return the number of draws by which settings are checked before the number of tests is known."""
    if isinstance(n_draws, str):
        if n_draws != "auto":
            raise ValueError(f"n_draws must be a positive integer or 'auto', found {shown(n_draws)}")
        return 1
    return check_whole(n_draws, "n_draws", 1, 2**31 - 1)


@dataclass(frozen=True)
class NullChoice:
    """Which controls rows get: null models, random streams, classes; see `with_controls` and `cube`."""

    null: Nulls
    seed: int
    key: Hashable | Sequence[Hashable] | None = None
    control_kind: str | None = None
    permute: bool = True
    share_draws: bool = False
    best_of: Hashable | None = None

    def __post_init__(self) -> None:
        check_flag(self.permute, "permute")
        check_flag(self.share_draws, "share_draws")

    def settings(self) -> dict[str, Any]:
        """Return the settings for the history of a result; the null models that were found are not among them."""
        names = ("seed", "key", "control_kind", "permute", "share_draws")
        chosen = {} if self.best_of is None else {"best_of": self.best_of}
        return {name: getattr(self, name) for name in names} | chosen
