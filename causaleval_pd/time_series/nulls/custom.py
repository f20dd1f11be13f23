"""Null models made of a user's function that draws one control."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.null import Controls, Matching, Null
from ..cells.lagged_graph import LaggedGraph
from ..cells.marks import KINDS
from ..column import as_lagged
from .controls import LaggedControls, refuse_control_kind

#: draws one control for an estimate
DrawOne = Callable[[LaggedGraph, np.random.Generator], Any]


def custom_null(function: DrawOne, name: str) -> Null:
    """Make a null model of a function that draws one control.

    `function(estimate, rng)` returns a lagged graph over the estimate's variables, in a form that `as_lagged` reads
    without options, with the estimate's searched lags and class. It must draw from `rng` alone: draw r depends on the
    seed, the row's key and r.
    """

    def controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        refuse_control_kind(matching)
        cells = matching.estimate.iloc[rows]

        def codes(start: int, count: int) -> NDArray[np.uint8]:
            drawn = []
            for row, cell, key in zip(rows, cells, keys, strict=True):
                estimate = LaggedGraph.from_bytes(cell)
                for r in range(start, start + count):
                    # a counter-based generator: draw r needs none of the draws before it
                    rng = np.random.Generator(np.random.Philox(key=int(key) + (r << 64)))
                    drawn.append(_read(function(estimate, rng), estimate, name, int(row)))
            return np.stack(drawn)

        return LaggedControls(pairs, codes, lambda metric: None, pace=3000.0)

    return Null(name, f"random lagged graphs drawn by the function {name}", controls)


def _read(found: Any, estimate: LaggedGraph, name: str, row: int) -> NDArray[np.uint8]:
    """Read what the user's function returned for the estimate of a row."""
    try:
        control = as_lagged(found)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"row {row}: null {name!r} returned {type(found).__name__}, which is not a lagged graph: {error}"
        ) from error
    if control.nodes != estimate.nodes or control.max_lag > estimate.max_lag or control.min_lag < estimate.min_lag:
        raise ValueError(
            f"row {row}: null {name!r} returned {control.to_string()!r}; a control has the variables and the lags of "
            f"the estimate, {list(estimate.nodes)[:10]} and {estimate.min_lag}..{estimate.max_lag}"
        )
    if KINDS.index(control.kind) > KINDS.index(estimate.kind):
        raise ValueError(f"row {row}: null {name!r} returned a {control.kind}, expected a {estimate.kind}")
    codes = np.zeros_like(estimate.codes)
    codes[: control.max_lag + 1] = control.codes
    return codes
