"""Metrics of rankings: how far up the true edges stand when pairs of nodes are sorted by score."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contract.checks import check_flag, check_number, check_whole
from ..contract.metric import metric
from ..contract.pairs import PairError
from ..graphs.kernels.planes import KINDS as CLASSES
from ..graphs.kernels.planes import PLAIN_KINDS
from .cells.packed import KINDS, WEIGHT
from .pairs import ScorePairs
from .universe import UNIVERSES, Candidates, Universe, candidates

__all__ = [
    "auprc_trapezoid",
    "auroc",
    "average_precision",
    "best_shd",
    "early_precision_ratio",
    "early_precision_selected",
    "max_f1",
    "min_hamming",
    "n_candidates",
    "n_true_candidates",
    "n_true_unscored",
    "partial_auc",
    "precision_at_k",
    "score_universe",
]

Floats = NDArray[np.float64]
Sources = Iterable[str] | None

_FIELD: dict[str, Any] = {"field": "scores", "kinds": KINDS, "truth_kinds": CLASSES}
_SHARE: dict[str, Any] = {**_FIELD, "direction": "maximize", "range": (0, 1), "optimum": 1}
_NUMBER: dict[str, Any] = {**_FIELD, "direction": None, "range": (0, np.inf)}


def chosen_candidates(pairs: ScorePairs, **options: Any) -> Candidates:
    """Return the candidates of pairs by the options of a metric."""
    chosen = Universe.of(**options)
    if chosen.universe in ("ordered", "ordered_with_diagonal") and pairs.symmetric.any():
        warnings.warn(
            f"symmetric scores cannot show directions, so that the best value in universe={chosen.universe!r} is below "
            "the optimum; use universe='unordered'",
            stacklevel=2,
        )
    return candidates(pairs, chosen)


def ranked(pairs: ScorePairs, options: dict[str, Any], k: int | None = None, max_fpr: float = 1.0) -> Floats:
    """Rank the candidates of pairs, as the kernel `rank` does; metrics with the same options share it."""
    found = chosen_candidates(pairs, **options)

    def compute() -> Floats:
        from . import kernels

        values = np.empty((pairs.n, kernels.N_RANKED))
        most = found.keys.shape[1]
        cut = found.n_true if k is None else np.full(pairs.n, k, np.int64)
        room = np.empty(most), np.empty(most, np.bool_)
        kernels.rank(found.keys, found.labels, found.size, found.n_true, cut, max_fpr, *room, values)
        return values

    return pairs.remember(("ranked", Universe.of(**options), k, max_fpr), compute)


@metric(
    **_SHARE,
    long_name="area under the ROC curve",
    closed_form="auroc",
    reference="10.1016/j.patrec.2005.10.010",
)
def auroc(
    pairs: ScorePairs,
    *,
    universe: str | None = None,
    sources: Sources = None,
    undirected: str = "both",
    reduce: str = "max",
    unscored: str = "drop",
    magnitude: bool | None = None,
) -> Floats:
    """Return the probability that a true edge has a larger score than a pair without edge, ties counting half.

    It is that of scikit-learn. Without true edges, or with nothing but these, it is undefined. The universe of
    candidates changes the number; `score_universe`, `n_candidates` and `n_true_candidates` return it.

    Parameters
    ----------
    universe : {"ordered", "unordered", "ordered_with_diagonal", "beeline", "beeline_sources"}, optional
        Which pairs of nodes are candidates. "ordered": i != j, true where the truth has i -> j. "unordered": i < j,
        true where the truth has an edge. "ordered_with_diagonal": also i = j. "beeline": ordered pairs of the nodes
        that have a true edge; "beeline_sources": those whose first node has an outgoing one; pairs without score have
        0 there. Default "ordered", and "unordered" for symmetric scores.
    sources : list of str, optional
        Nodes that may be the first of an ordered pair, such as known regulators.
    undirected : {"both", "none", "ignore"}
        What an undirected edge of the truth is for ordered pairs: both true, none true, or no candidates.
    reduce : {"max", "mean"}
        Score of an unordered pair whose directions have different scores.
    unscored : {"drop", "last"}
        Pairs whose score is NaN: no candidates, or tied below all others.
    magnitude : bool, optional
        Rank by absolute values; default for weights only.
    """
    return ranked(pairs, _options(locals()))[:, 0]


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of the universe among the arguments of a metric."""
    return {name: given[name] for name in Universe.__dataclass_fields__ if name in given}


@metric(**_SHARE, long_name="average precision", closed_form="average_precision")
def average_precision(
    pairs: ScorePairs,
    *,
    universe: str | None = None,
    sources: Sources = None,
    undirected: str = "both",
    reduce: str = "max",
    unscored: str = "drop",
    magnitude: bool | None = None,
) -> Floats:
    """Average the precision at the scores of the true edges, ties taken together.

    It is that of scikit-learn, a step-wise area under the precision-recall curve. Its value under guessing depends on
    the number of true edges and on ties: a list with few scores above 0 has less to gain by chance. Undefined without
    true edges.

    Parameters
    ----------
    universe, sources, undirected, reduce, unscored, magnitude
        As in `auroc`.
    """
    return ranked(pairs, _options(locals()))[:, 1]


@metric(**_SHARE, long_name="area under the precision-recall curve (trapezoid)")
def auprc_trapezoid(
    pairs: ScorePairs,
    *,
    universe: str | None = None,
    sources: Sources = None,
    undirected: str = "both",
    reduce: str = "max",
    unscored: str = "drop",
    magnitude: bool | None = None,
) -> Floats:
    """Return the area under the precision-recall curve with straight lines between its points.

    The lines are too optimistic (Davis and Goadrich 2006); `average_precision` has steps in their place. Undefined
    without true edges.

    Parameters
    ----------
    universe, sources, undirected, reduce, unscored, magnitude
        As in `auroc`.
    """
    return ranked(pairs, _options(locals()))[:, 2]


@metric(**_SHARE, long_name="precision of the k largest scores", closed_form="precision_at_k")
def precision_at_k(
    pairs: ScorePairs,
    *,
    k: int | None = None,
    universe: str | None = None,
    sources: Sources = None,
    undirected: str = "both",
    reduce: str = "max",
    unscored: str = "drop",
    magnitude: bool | None = None,
) -> Floats:
    """Return the share of true edges among the k largest scores; its mean over random orders of ties.

    Parameters
    ----------
    k : int, optional
        How many scores; default the number of true edges, by which precision and recall are equal. More than there are
        candidates is refused.
    universe, sources, undirected, reduce, unscored, magnitude
        As in `auroc`.
    """
    if k is not None:
        wanted = check_whole(k, "k", 1)
        few = chosen_candidates(pairs, **_options(locals())).size < wanted
        if few.any():
            size = chosen_candidates(pairs, **_options(locals())).size[few][0]
            raise PairError(np.flatnonzero(few), f"k is {wanted}, but there are {size} candidates")
    return ranked(pairs, _options(locals()), k)[:, 3]


@metric(
    **{**_SHARE, "range": (0, np.inf), "optimum": np.inf},
    long_name="early precision ratio",
    closed_form="early_precision",
    reference="10.1038/s41592-019-0690-6",
)
def early_precision_ratio(
    pairs: ScorePairs,
    *,
    universe: str | None = None,
    sources: Sources = None,
    undirected: str = "both",
    reduce: str = "max",
    unscored: str = "drop",
) -> Floats:
    """Divide the precision of the largest scores by the share of true edges among the candidates, as BEELINE does.

    The largest scores are those from a cut on: the K-th largest for K true edges, or the smallest that is not 0 if that
    is larger. All that tie with the cut are taken; `early_precision_selected` returns how many. Absolute values rank.
    1 is random. Undefined without true edges.

    Parameters
    ----------
    universe, sources, undirected, reduce, unscored
        As in `auroc`.
    """
    return ranked(pairs, _options(locals()) | {"magnitude": True})[:, 4]


@metric(**_NUMBER, long_name="scores that the early precision ratio counts")
def early_precision_selected(
    pairs: ScorePairs,
    *,
    universe: str | None = None,
    sources: Sources = None,
    undirected: str = "both",
    reduce: str = "max",
    unscored: str = "drop",
) -> Floats:
    """Return how many candidates `early_precision_ratio` counts.

    Parameters
    ----------
    universe, sources, undirected, reduce, unscored
        As in `auroc`.
    """
    return ranked(pairs, _options(locals()) | {"magnitude": True})[:, 5]


@metric(**_SHARE, long_name="largest F1 over thresholds", closed_form="max_f1")
def max_f1(
    pairs: ScorePairs,
    *,
    universe: str | None = None,
    sources: Sources = None,
    undirected: str = "both",
    reduce: str = "max",
    unscored: str = "drop",
    magnitude: bool | None = None,
) -> Floats:
    """Return the largest F1 score of the candidates from a threshold on, over all thresholds.

    The threshold is chosen by the truth, so that the value under guessing is far above that of a fixed threshold; null
    models choose it anew in every control. Undefined without true edges.

    Parameters
    ----------
    universe, sources, undirected, reduce, unscored, magnitude
        As in `auroc`.
    """
    return ranked(pairs, _options(locals()))[:, 6]


@metric(
    **{**_SHARE, "direction": "minimize", "range": (0, np.inf), "optimum": 0},
    long_name="smallest Hamming distance over thresholds",
    closed_form="min_hamming",
)
def min_hamming(
    pairs: ScorePairs,
    *,
    universe: str | None = None,
    sources: Sources = None,
    undirected: str = "both",
    reduce: str = "max",
    unscored: str = "drop",
    magnitude: bool | None = None,
) -> Floats:
    """Return the smallest number of candidates that differ from the truth, over all thresholds.

    The candidates from a threshold on are compared with the true edges. No edge at all is one of the choices, so that
    the value is at most the number of true edges.

    Parameters
    ----------
    universe, sources, undirected, reduce, unscored, magnitude
        As in `auroc`.
    """
    return ranked(pairs, _options(locals()))[:, 7]


@metric(**_SHARE, long_name="partial area under the ROC curve")
def partial_auc(
    pairs: ScorePairs,
    *,
    max_fpr: float = 0.1,
    standardized: bool = True,
    universe: str | None = None,
    sources: Sources = None,
    undirected: str = "both",
    reduce: str = "max",
    unscored: str = "drop",
    magnitude: bool | None = None,
) -> Floats:
    """Return the area under the ROC curve up to a false positive rate.

    With `standardized` it is that of McClish (1989), as in scikit-learn: 0.5 is random and 1 perfect. Undefined without
    true edges, or with nothing but these.

    Parameters
    ----------
    max_fpr : float
        Largest false positive rate, in (0, 1].
    standardized : bool
        Rescale the area, or return it as it is.
    universe, sources, undirected, reduce, unscored, magnitude
        As in `auroc`.
    """
    check_number(max_fpr, "max_fpr", "(0, 1]")
    check_flag(standardized, "standardized")
    raw = ranked(pairs, _options(locals()), max_fpr=float(max_fpr))[:, 8]
    if not standardized:
        return raw
    least = max_fpr**2 / 2
    return np.asarray(0.5 * (1 + (raw - least) / (max_fpr - least)))


@metric(
    **{**_FIELD, "truth_kinds": PLAIN_KINDS},
    direction="minimize",
    range=(0, np.inf),
    optimum=0,
    long_name="smallest SHD over thresholds",
)
def best_shd(pairs: ScorePairs, *, magnitude: bool | None = None) -> Floats:
    """Return the smallest structural Hamming distance of the graphs that thresholds make of the scores.

    A graph has i -> j where only this direction is above the threshold, and an undirected edge where both are, as
    `series.score.threshold` makes it. Null models choose the threshold anew in every control.

    Parameters
    ----------
    magnitude : bool, optional
        Rank by absolute values; default for weights only.
    """
    from .kernels import least_shd

    kinds, d = pairs.estimate.kinds[pairs.estimate_index], pairs.n_nodes
    by_size = kinds == WEIGHT if magnitude is None else np.full(pairs.n, check_flag(magnitude, "magnitude"))
    found = np.empty(pairs.n)
    cells = pairs.truth.marks, pairs.estimate.values, pairs.truth_index, pairs.estimate_index
    least_shd(*cells, by_size, np.empty(d * d), np.empty(d * d, np.int64), found)
    return found


@metric(**_NUMBER, long_name="candidates")
def n_candidates(
    pairs: ScorePairs,
    *,
    universe: str | None = None,
    sources: Sources = None,
    undirected: str = "both",
    reduce: str = "max",
    unscored: str = "drop",
    magnitude: bool | None = None,
) -> Floats:
    """Return the number N of candidates, the pairs of nodes that are ranked.

    Parameters
    ----------
    universe, sources, undirected, reduce, unscored, magnitude
        As in `auroc`.
    """
    return chosen_candidates(pairs, **_options(locals())).size.astype(np.float64)


@metric(**_NUMBER, long_name="true edges among the candidates")
def n_true_candidates(
    pairs: ScorePairs,
    *,
    universe: str | None = None,
    sources: Sources = None,
    undirected: str = "both",
    reduce: str = "max",
    unscored: str = "drop",
    magnitude: bool | None = None,
) -> Floats:
    """Return the number K of candidates that are true.

    Parameters
    ----------
    universe, sources, undirected, reduce, unscored, magnitude
        As in `auroc`.
    """
    return chosen_candidates(pairs, **_options(locals())).n_true.astype(np.float64)


@metric(**_NUMBER, long_name="true edges that are no candidates")
def n_true_unscored(
    pairs: ScorePairs,
    *,
    universe: str | None = None,
    sources: Sources = None,
    undirected: str = "both",
    reduce: str = "max",
    unscored: str = "drop",
    magnitude: bool | None = None,
) -> Floats:
    """Return the number of true edges that are left out: without score, or outside the universe.

    Parameters
    ----------
    universe, sources, undirected, reduce, unscored, magnitude
        As in `auroc`.
    """
    return chosen_candidates(pairs, **_options(locals())).n_true_unscored.astype(np.float64)


@metric(**{**_NUMBER, "range": (0, len(UNIVERSES))}, long_name="universe of candidates", dtype=UNIVERSES)
def score_universe(pairs: ScorePairs, *, universe: str | None = None, sources: Sources = None) -> Floats:
    """Return the universe that metrics of the scores take, by name.

    Parameters
    ----------
    universe, sources
        As in `auroc`.
    """
    words = Universe.of(universe=universe, sources=sources).words(pairs)
    return np.array([UNIVERSES.index(word) for word in words.tolist()], np.float64)
