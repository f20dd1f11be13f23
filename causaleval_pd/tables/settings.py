"""Settings of the verbs as value objects: what cells mean, how controls are drawn, where work runs."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..contract.null import Nulls
from ..execution.engines import Engine
from .row_summary import Method, PRule
from .scoring import Invalid


@dataclass(frozen=True)
class Cells:
    """Which columns hold the cells and the rows' keys, and how cells are scored."""

    truth: Hashable = "truth"
    estimate: Hashable = "estimate"
    field: str | None = None
    context: Mapping[str, Any] | None = None
    zero_division: float = math.nan
    invalid: Invalid = "raise"
    key: Hashable | Sequence[Hashable] | None = None


@dataclass(frozen=True)
class Drawing:
    """How controls are drawn and summarised."""

    n_draws: int
    null: Nulls
    seed: int
    control_kind: str | None = None
    permute: bool = True
    method: Method = "auto"
    level: float = 0.95
    p_rule: PRule = "add_one"
    stop_after: int | None = None
    share_draws: bool = False


@dataclass(frozen=True)
class Execution:
    """Where work runs, and whether it shows a progress bar."""

    engine: Engine = None
    n_jobs: int | None = None
    progress: bool = False
