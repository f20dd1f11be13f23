"""Metrics of scores that are cut: the k largest, the cut of BEELINE, the best threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contract.checks import check_flag, check_whole
from ..contract.delegation import takes_settings_of
from ..contract.metric import metric
from ..contract.options import with_options
from ..contract.pairs import PairError
from ..graphs.kernels.planes import PLAIN_KINDS
from .cells.packed import WEIGHT
from .pairs import ScorePairs
from .ranking import FIELD, NUMBER, OPTIONS, SHARE, chosen_candidates, ranked
from .universe import Universe

__all__ = [
    "best_shd",
    "early_precision_ratio",
    "early_precision_selected",
    "max_f1",
    "min_hamming",
    "precision_at_k",
]

Floats = NDArray[np.float64]


@metric(**SHARE, long_name="precision of the k largest scores", closed_form="precision_at_k")
@with_options(OPTIONS)
@takes_settings_of(Universe.of)
def precision_at_k(pairs: ScorePairs, *, k: int | None = None, **options: Any) -> Floats:
    """Return the share of true edges among the k largest scores; its mean over random orders of ties.

    Parameters
    ----------
    k : int, optional
        How many scores; default the number of true edges, by which precision and recall are equal. More than there are
        candidates is refused.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cell = ce.score_column([[[0, 3, 1], [0, 0, 2], [0, 0, 0]]], encoding="row->column")[0]
    >>> ce.precision_at_k("0 -> 1; 2 -> 1", cell)
    0.5
    """
    if k is not None:
        wanted = check_whole(k, "k", 1)
        size = chosen_candidates(pairs, **options).size
        few = np.flatnonzero(size < wanted)
        if len(few):
            raise PairError(few, f"k is {wanted}, but there are {size[few[0]]} candidates")
    return ranked(pairs, options, k)[:, 2]


@metric(
    **{**SHARE, "range": (0, np.inf), "optimum": np.inf},
    long_name="early precision ratio",
    closed_form="early_precision",
    reference="10.1038/s41592-019-0690-6",
)
@with_options(OPTIONS)
@takes_settings_of(Universe.of, without=("magnitude",))
def early_precision_ratio(pairs: ScorePairs, **options: Any) -> Floats:
    """Divide the precision of the largest scores by the share of true edges among the candidates, as BEELINE does.

    The largest scores are those from a cut on: the K-th largest for K true edges, or the smallest that is not 0 if that
    is larger. All that tie with the cut are taken; `early_precision_selected` returns how many. Absolute values rank.
    1 is random. Undefined without true edges.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cell = ce.score_column([[[0, 3, 1], [0, 0, 2], [0, 0, 0]]], encoding="row->column")[0]
    >>> ce.early_precision_ratio("0 -> 1; 2 -> 1", cell)
    1.5
    """
    return ranked(pairs, options | {"magnitude": True})[:, 3]


@metric(**NUMBER, long_name="scores that the early precision ratio counts")
@with_options(OPTIONS)
@takes_settings_of(Universe.of, without=("magnitude",))
def early_precision_selected(pairs: ScorePairs, **options: Any) -> Floats:
    """Return how many candidates `early_precision_ratio` counts.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cell = ce.score_column([[[0, 3, 1], [0, 0, 2], [0, 0, 0]]], encoding="row->column")[0]
    >>> ce.early_precision_selected("0 -> 1; 2 -> 1", cell)
    2.0
    """
    return ranked(pairs, options | {"magnitude": True})[:, 4]


@metric(**SHARE, long_name="largest F1 over thresholds")
@with_options(OPTIONS)
@takes_settings_of(Universe.of)
def max_f1(pairs: ScorePairs, **options: Any) -> Floats:
    """Return the largest F1 score of the candidates from a threshold on, over all thresholds.

    The threshold is chosen by the truth, so that the value under guessing is far above that of a fixed threshold; null
    models choose it anew in every control. Undefined without true edges.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cell = ce.score_column([[[0, 3, 1], [0, 0, 2], [0, 0, 0]]], encoding="row->column")[0]
    >>> round(ce.max_f1("0 -> 1; 2 -> 1", cell), 3)
    0.667
    """
    return ranked(pairs, options)[:, 5]


@metric(
    **{**SHARE, "direction": "minimize", "range": (0, np.inf), "optimum": 0},
    long_name="smallest Hamming distance over thresholds",
)
@with_options(OPTIONS)
@takes_settings_of(Universe.of)
def min_hamming(pairs: ScorePairs, **options: Any) -> Floats:
    """Return the smallest number of candidates that differ from the truth, over all thresholds.

    The candidates from a threshold on are compared with the true edges. No edge at all is one of the choices, so that
    the value is at most the number of true edges.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cell = ce.score_column([[[0, 3, 1], [0, 0, 2], [0, 0, 0]]], encoding="row->column")[0]
    >>> ce.min_hamming("0 -> 1; 2 -> 1", cell)
    1.0
    """
    return ranked(pairs, options)[:, 6]


@metric(
    **{**FIELD, "truth_kinds": PLAIN_KINDS},
    direction="minimize",
    range=(0, np.inf),
    optimum=0,
    long_name="smallest SHD over thresholds",
)
@with_options(OPTIONS)
def best_shd(pairs: ScorePairs, *, magnitude: bool | None = None) -> Floats:
    """Return the smallest structural Hamming distance of the graphs that thresholds make of the scores.

    A graph has i -> j where only this direction is above the threshold, and an undirected edge where both are, as
    `series.score.threshold` makes it. Null models choose the threshold anew in every control.

    Parameters
    ----------
    magnitude : bool, optional
        Rank by absolute values; default for weights only.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cell = ce.score_column([[[0, 3, 1], [0, 0, 2], [0, 0, 0]]], encoding="row->column")[0]
    >>> ce.best_shd("0 -> 1; 2 -> 1", cell)
    1.0
    """
    from .kernels import least_shd

    kinds, d = pairs.estimate.kinds[pairs.estimate_index], pairs.n_nodes
    by_size = kinds == WEIGHT if magnitude is None else np.full(pairs.n, check_flag(magnitude, "magnitude"))
    found = np.empty(pairs.n)
    cells = pairs.truth.marks, pairs.estimate.values, pairs.truth_index, pairs.estimate_index
    least_shd(*cells, by_size, np.empty(d * d), np.empty(d * d, np.int64), found)
    return found
