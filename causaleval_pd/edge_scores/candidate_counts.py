"""Descriptions of the universe of candidates: its name, and how many candidates and true edges it has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contract.delegation import takes_settings_of
from ..contract.metric import metric
from ..contract.options import with_options
from .pairs import ScorePairs
from .ranking import NUMBER, OPTIONS, chosen_candidates
from .universe import UNIVERSES, Sources, Universe

__all__ = [
    "n_candidates",
    "n_true_candidates",
    "n_true_unscored",
    "score_universe",
]

Floats = NDArray[np.float64]


@metric(**NUMBER, long_name="candidates")
@with_options(OPTIONS)
@takes_settings_of(Universe.of)
def n_candidates(pairs: ScorePairs, **options: Any) -> Floats:
    """Return the number N of candidates, the pairs of nodes that are ranked.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cell = ce.score_column([[[0, 3, 1], [0, 0, 2], [0, 0, 0]]], encoding="row->column")[0]
    >>> ce.n_candidates("0 -> 1; 2 -> 1", cell)
    6.0
    """
    return chosen_candidates(pairs, **options).size.astype(np.float64)


@metric(**NUMBER, long_name="true edges among the candidates")
@with_options(OPTIONS)
@takes_settings_of(Universe.of)
def n_true_candidates(pairs: ScorePairs, **options: Any) -> Floats:
    """Return the number K of candidates that are true.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cell = ce.score_column([[[0, 3, 1], [0, 0, 2], [0, 0, 0]]], encoding="row->column")[0]
    >>> ce.n_true_candidates("0 -> 1; 2 -> 1", cell)
    2.0
    """
    return chosen_candidates(pairs, **options).n_true.astype(np.float64)


@metric(**NUMBER, long_name="true edges that are not candidates")
@with_options(OPTIONS)
@takes_settings_of(Universe.of)
def n_true_unscored(pairs: ScorePairs, **options: Any) -> Floats:
    """Return the number of true edges that are left out: without score, or outside the universe.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cell = ce.score_column([[[0, 3, 1], [0, 0, 2], [0, 0, 0]]], encoding="row->column")[0]
    >>> ce.n_true_unscored("0 -> 1; 2 -> 1", cell)
    0.0
    """
    return chosen_candidates(pairs, **options).n_true_unscored.astype(np.float64)


@metric(**{**NUMBER, "range": (0, len(UNIVERSES))}, long_name="universe of candidates", dtype=UNIVERSES)
@with_options(OPTIONS)
def score_universe(pairs: ScorePairs, *, universe: str | None = None, sources: Sources = None) -> Floats:
    """Return the universe that metrics of the scores take, by name.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cell = ce.score_column([[[0, 3, 1], [0, 0, 2], [0, 0, 0]]], encoding="row->column")[0]
    >>> ce.score_universe("0 -> 1; 2 -> 1", cell)
    0.0
    """
    words = Universe.of(universe=universe, sources=sources).words(pairs)
    return np.array([UNIVERSES.index(word) for word in words.tolist()], np.float64)
