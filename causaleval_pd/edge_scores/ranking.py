"""Metrics of rankings: how far up the true edges stand when pairs of nodes are sorted by score."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contract.delegation import takes_settings_of
from ..contract.metric import metric
from ..contract.options import with_options
from ..graphs.kernels.planes import KINDS as CLASSES
from .cells.packed import KINDS
from .pairs import ScorePairs
from .universe import Candidates, Universe, candidates

__all__ = [
    "auroc",
    "average_precision",
]

Floats = NDArray[np.float64]

FIELD: dict[str, Any] = {"field": "scores", "kinds": KINDS, "truth_kinds": CLASSES}
SHARE: dict[str, Any] = {**FIELD, "direction": "maximize", "range": (0, 1), "optimum": 1}
NUMBER: dict[str, Any] = {**FIELD, "direction": None, "range": (0, np.inf)}

#: texts of the options of the universe, for docstrings
OPTIONS = {
    "universe": """universe : {"ordered", "unordered", "ordered_with_diagonal", "beeline", "beeline_sources"}, optional
    Which pairs of nodes are candidates. "ordered": i != j, true where the truth has i -> j. "unordered": i < j, true
    where the truth has an edge. "ordered_with_diagonal": also i = j. "beeline": ordered pairs of the nodes that have a
    true edge; "beeline_sources": those whose first node has an outgoing one; pairs without score have 0 there. Default
    "ordered", and "unordered" for symmetric scores.""",
    "sources": """sources : list of str, optional
    Nodes that may be the first of an ordered pair, such as known regulators.""",
    "undirected": """undirected : {"both", "none", "ignore"}
    What an undirected edge of the truth is for ordered pairs: both true, none true, or no candidates.""",
    "reduce": """reduce : {"max", "mean"}
    Score of an unordered pair whose directions have different scores.""",
    "unscored": """unscored : {"drop", "last"}
    Pairs whose score is NaN: no candidates, or tied below all others.""",
    "magnitude": """magnitude : bool, optional
    Rank by absolute values; default for weights only.""",
}


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


def ranked(pairs: ScorePairs, options: dict[str, Any], k: int | None = None) -> Floats:
    """Rank the candidates of pairs, as the kernel `rank` does; metrics with the same options share it."""
    found = chosen_candidates(pairs, **options)

    def compute() -> Floats:
        from . import kernels

        values = np.empty((pairs.n, kernels.N_RANKED))
        most = found.keys.shape[1]
        cut = found.n_true if k is None else np.full(pairs.n, k, np.int64)
        room = np.empty(most), np.empty(most, np.bool_)
        kernels.rank(found.keys, found.labels, found.size, found.n_true, cut, *room, values)
        return values

    return pairs.remember(("ranked", Universe.of(**options), k), compute)


@metric(
    **SHARE,
    long_name="area under the ROC curve",
    closed_form="auroc",
    reference="10.1016/j.patrec.2005.10.010",
)
@with_options(OPTIONS)
@takes_settings_of(Universe.of)
def auroc(pairs: ScorePairs, **options: Any) -> Floats:
    """Return the probability that a true edge has a larger score than a pair without edge, ties counting half.

    It is that of scikit-learn. Without true edges, or with nothing but these, it is undefined. The universe of
    candidates changes the number; `score_universe`, `n_candidates` and `n_true_candidates` return it.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cell = ce.score_column([[[0, 3, 1], [0, 0, 2], [0, 0, 0]]], encoding="row->column")[0]
    >>> ce.auroc("0 -> 1; 2 -> 1", cell)
    0.625
    """
    return ranked(pairs, options)[:, 0]


@metric(**SHARE, long_name="average precision", closed_form="average_precision")
@with_options(OPTIONS)
@takes_settings_of(Universe.of)
def average_precision(pairs: ScorePairs, **options: Any) -> Floats:
    """Average the precision at the scores of the true edges, ties taken together.

    It is that of scikit-learn, a step-wise area under the precision-recall curve. Its value under guessing depends on
    the number of true edges and on ties: a list with few scores above 0 has less to gain by chance. Undefined without
    true edges.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cell = ce.score_column([[[0, 3, 1], [0, 0, 2], [0, 0, 0]]], encoding="row->column")[0]
    >>> round(ce.average_precision("0 -> 1; 2 -> 1", cell), 3)
    0.667
    """
    return ranked(pairs, options)[:, 1]
