"""Relabelling of estimates: all orders of few labels, and how a field writes relabelled and perfect estimates."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .context import Context

#: labels up to which all relabellings are listed (720), so that every metric has an exact law
MOST_LISTED = 6


@cache
def all_orders(n: int) -> NDArray[np.int64]:
    """Return all orders of n labels, (n!, n), in lexicographic order."""
    return np.array(list(itertools.permutations(range(n))), np.int64).reshape(-1, n)


def _truths(truths: pd.Series, estimates: pd.Series, context: Context | None = None) -> pd.Series:
    return truths


@dataclass(frozen=True)
class Relabelling:
    """How a field writes estimates that its joint null model has relabelled."""

    #: from pairs and the canonical truths of the same rows to the pairs' estimates as canonical cells
    cells: Callable[[Any, pd.Series], pd.Series]
    #: from truths, estimates and the rows' context to perfect estimates in the classes of the estimates
    perfect: Callable[[pd.Series, pd.Series, Context | None], pd.Series] = _truths
    #: counts the truths' relations from an earlier to a later label, and all; None without order or direction
    forward: Callable[[pd.Series], tuple[int, int]] | None = None
