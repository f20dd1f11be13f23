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
    """Return all orders of n labels, (n!, n), in lexicographic order.

    Examples
    --------
    >>> all_orders(3).tolist()[:2]
    [[0, 1, 2], [0, 2, 1]]
    """
    return np.array(list(itertools.permutations(range(n))), np.int64).reshape(-1, n)


def _truths(truths: pd.Series, estimates: pd.Series, context: Context | None = None) -> pd.Series:
    return truths


@dataclass(frozen=True)
class Relabelling:
    """How a field writes estimates that its joint null model has relabelled.

    Attributes
    ----------
    cells : callable
        `cells(pairs, truths)` returns the estimates of pairs as canonical cells; `truths` are the canonical truths of
        the same rows, with their labels.
    perfect : callable
        `perfect(truths, estimates, context)` returns perfect estimates, each in the class of the row's estimate; by
        default the truths. `context` is that of the rows, or None.
    forward : callable or None
        `forward(truths)` returns how many relations of the truths point from an earlier to a later label, and how many
        there are. None where labels have no order or relations no direction.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> isinstance(ce.structure.GRAPHS.relabelling, Relabelling)
    True
    >>> ce.structure.GRAPHS.relabelling.forward(ce.graph_column(["X2 -> X10; X10 -> X1"]))
    (1, 2)
    """

    cells: Callable[[Any, pd.Series], pd.Series]
    perfect: Callable[[pd.Series, pd.Series, Context | None], pd.Series] = _truths
    forward: Callable[[pd.Series], tuple[int, int]] | None = None
