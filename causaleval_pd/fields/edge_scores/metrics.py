"""Metrics of edge scores: rankings, scores that are cut, the universe of candidates, and probabilities of edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_choice, check_flag, check_number, check_whole, warn
from ...contract.metric import Metric, metric
from ...contract.options import takes_settings_of, with_example, with_options
from ...contract.pairs import PairError
from ...graphs.kernels.planes import KINDS as CLASSES
from ...graphs.kernels.planes import PLAIN_KINDS
from ...statistics.arrays import ratio
from .cells import KINDS
from .field import SCORES
from .pairs import UNIVERSES, Candidates, ScorePairs, Sources, Universe, candidates

__all__ = [
    "auroc",
    "average_precision",
    "best_shd",
    "brier",
    "brier_parts",
    "calibration_error",
    "early_precision_ratio",
    "early_precision_selected",
    "log_loss",
    "max_f1",
    "min_hamming",
    "n_candidates",
    "n_true_candidates",
    "n_true_unscored",
    "precision_at_k",
    "score_universe",
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


EXAMPLE = """>>> import causaleval_pd as ce
>>> cell = ce.score_column([[[0, 3, 1], [0, 0, 2], [0, 0, 0]]], encoding="row->column")[0]
>>> round(ce.{name}("0 -> 1; 2 -> 1", cell), 3)
{gives}"""
FORECAST = """>>> import causaleval_pd as ce
>>> cell = ce.score_column([[[0, 0.9, 0.4], [0.2, 0, 0.5], [0, 0, 0]]], encoding="row->column")[0]
>>> round(ce.{name}("0 -> 1; 2", cell), 3)
{gives}"""


def chosen_candidates(pairs: ScorePairs, **options: Any) -> Candidates:
    """Return the candidates of pairs by the options of a metric."""
    chosen = Universe(**options)
    if chosen.universe in ("ordered", "ordered_with_diagonal") and pairs.symmetric.any():
        warn(
            f"symmetric scores cannot show directions, so that the best value in universe={chosen.universe!r} is below "
            "the optimum; use universe='unordered'"
        )
    return candidates(pairs, chosen)


def ranked(pairs: ScorePairs, options: dict[str, Any], k: int | None = None) -> Floats:
    """Rank the candidates of pairs, as the kernel `rank` does; metrics with the same options share it."""
    candidate_set = chosen_candidates(pairs, **options)

    def compute() -> Floats:
        from . import kernels

        values = np.empty((pairs.n, kernels.N_RANKED))
        most = candidate_set.keys.shape[1]
        cut = candidate_set.n_true if k is None else np.full(pairs.n, k, np.int64)
        room = np.empty(most), np.empty(most, np.bool_)
        kernels.rank(
            candidate_set.keys, candidate_set.labels, candidate_set.size, candidate_set.n_true, cut, *room, values
        )
        return values

    return pairs.remember(("ranked", Universe(**options), k), compute)


def _ranking(
    *, gives: float, without: Sequence[str] = (), **declared: Any
) -> Callable[[Callable[..., Floats]], Metric]:
    """Declare a metric that takes the options of the universe, `without` some of them; the example `gives` a value."""

    def declare(function: Callable[..., Floats]) -> Metric:
        shown = with_example(EXAMPLE, gives=gives)(takes_settings_of(Universe, without=without)(function))
        return metric(**declared)(with_options(OPTIONS)(shown))

    return declare


@_ranking(
    gives=0.625,
    **SHARE,
    long_name="area under the ROC curve",
    closed_form="auroc",
    reference="10.1016/j.patrec.2005.10.010",
)
def auroc(pairs: ScorePairs, **options: Any) -> Floats:
    """Return the probability that a true edge has a larger score than a pair without edge, ties counting half.

    It is that of scikit-learn. Without true edges, or with nothing but these, it is undefined. The universe of
    candidates changes the number; `score_universe`, `n_candidates` and `n_true_candidates` return it.
    """
    return ranked(pairs, options)[:, 0]


@_ranking(gives=0.667, **SHARE, long_name="average precision", closed_form="average_precision")
def average_precision(pairs: ScorePairs, **options: Any) -> Floats:
    """Average the precision at the scores of the true edges, ties taken together.

    It is that of scikit-learn, a step-wise area under the precision-recall curve. Its value under guessing depends on
    the number of true edges and on ties: a list with few scores above 0 has less to gain by chance. Undefined without
    true edges.
    """
    return ranked(pairs, options)[:, 1]


@_ranking(gives=0.5, **SHARE, long_name="precision of the k largest scores", closed_form="precision_at_k")
def precision_at_k(pairs: ScorePairs, *, k: int | None = None, **options: Any) -> Floats:
    """Return the share of true edges among the k largest scores; its mean over random orders of ties.

    Parameters
    ----------
    k : int, optional
        How many scores; default the number of true edges, by which precision and recall are equal. More than there are
        candidates is refused.
    """
    if k is not None:
        wanted = check_whole(k, "k", 1)
        size = chosen_candidates(pairs, **options).size
        few = np.flatnonzero(size < wanted)
        if len(few):
            raise PairError(few, f"k is {wanted}, but there are {size[few[0]]} candidates")
    return ranked(pairs, options, k)[:, 2]


@_ranking(
    gives=1.5,
    without=("magnitude",),
    **{**SHARE, "range": (0, np.inf), "optimum": np.inf},
    long_name="early precision ratio",
    closed_form="early_precision",
    reference="10.1038/s41592-019-0690-6",
)
def early_precision_ratio(pairs: ScorePairs, **options: Any) -> Floats:
    """Divide the precision of the largest scores by the share of true edges among the candidates, as BEELINE does.

    The largest scores are those from a cut on: the K-th largest for K true edges, or the smallest that is not 0 if that
    is larger. All that tie with the cut are taken; `early_precision_selected` returns how many. Absolute values rank.
    1 is random. Undefined without true edges.
    """
    return ranked(pairs, options | {"magnitude": True})[:, 3]


@_ranking(gives=2.0, without=("magnitude",), **NUMBER, long_name="scores that the early precision ratio counts")
def early_precision_selected(pairs: ScorePairs, **options: Any) -> Floats:
    """Return how many candidates `early_precision_ratio` counts."""
    return ranked(pairs, options | {"magnitude": True})[:, 4]


@_ranking(gives=0.667, **SHARE, long_name="largest F1 over thresholds")
def max_f1(pairs: ScorePairs, **options: Any) -> Floats:
    """Return the largest F1 score of the candidates from a threshold on, over all thresholds.

    The threshold is chosen by the truth, so that the value under guessing is far above that of a fixed threshold; null
    models choose it anew in every control. Undefined without true edges.
    """
    return ranked(pairs, options)[:, 5]


@_ranking(
    gives=1.0,
    **{**SHARE, "direction": "minimize", "range": (0, np.inf), "optimum": 0},
    long_name="smallest Hamming distance over thresholds",
)
def min_hamming(pairs: ScorePairs, **options: Any) -> Floats:
    """Return the smallest number of candidates that differ from the truth, over all thresholds.

    The candidates from a threshold on are compared with the true edges. No edge at all is one of the choices, so that
    the value is at most the number of true edges.
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
@with_example(EXAMPLE, gives=1.0)
def best_shd(pairs: ScorePairs, *, magnitude: bool | None = None) -> Floats:
    """Return the smallest structural Hamming distance of the graphs that thresholds make of the scores.

    A graph has i -> j where only this direction is above the threshold, and an undirected edge where both are, as
    `series.score.threshold` makes it. Null models choose the threshold anew in every control.
    """
    from .kernels import least_shd

    by_size = pairs.by_size(None if magnitude is None else check_flag(magnitude, "magnitude"))
    distances, n_cells = np.empty(pairs.n), pairs.n_nodes**2
    least_shd(pairs.stored, by_size, np.empty(n_cells), np.empty(n_cells, np.int64), distances)
    return distances


@_ranking(gives=6.0, **NUMBER, long_name="candidates")
def n_candidates(pairs: ScorePairs, **options: Any) -> Floats:
    """Return the number N of candidates, the pairs of nodes that are ranked."""
    return chosen_candidates(pairs, **options).size.astype(np.float64)


@_ranking(gives=2.0, **NUMBER, long_name="true edges among the candidates")
def n_true_candidates(pairs: ScorePairs, **options: Any) -> Floats:
    """Return the number K of candidates that are true."""
    return chosen_candidates(pairs, **options).n_true.astype(np.float64)


@_ranking(gives=0.0, **NUMBER, long_name="true edges that are not candidates")
def n_true_unscored(pairs: ScorePairs, **options: Any) -> Floats:
    """Return the number of true edges that are left out: without score, or outside the universe."""
    return chosen_candidates(pairs, **options).n_true_unscored.astype(np.float64)


@metric(**{**NUMBER, "range": (0, len(UNIVERSES))}, long_name="universe of candidates", dtype=UNIVERSES)
@with_options(OPTIONS)
@with_example(EXAMPLE, gives=0.0)
def score_universe(pairs: ScorePairs, *, universe: str | None = None, sources: Sources = None) -> Floats:
    """Return the universe that metrics of the scores take, by name."""
    words = Universe(universe=universe, sources=sources).words(pairs)
    return np.array([UNIVERSES.index(word) for word in words.tolist()], np.float64)


Ints = NDArray[np.int64]

_FIELD: dict[str, Any] = {
    "field": "scores",
    "kinds": ("probability", "types"),
    "truth_kinds": CLASSES,
    "direction": "minimize",
    "optimum": 0,
}
STRATEGIES = ("width", "quantile")


class Forecasts(NamedTuple):
    """Probabilities of candidates, (n, most) each: which cells hold one, the probability, and whether it is true."""

    known: NDArray[np.bool_]
    q: Floats
    y: Floats


def forecasts(pairs: ScorePairs, universe: str | None, undirected: str) -> Forecasts:
    """Return the probabilities of the candidates that have one."""
    candidate_set = chosen_candidates(pairs, universe=universe, undirected=undirected, magnitude=False)
    known = np.arange(candidate_set.keys.shape[1]) < candidate_set.size[:, None]
    return Forecasts(known, np.where(known, candidate_set.keys, 0.0), (candidate_set.labels & known).astype(np.float64))


def _mean(values: Floats, known: NDArray[np.bool_]) -> Floats:
    """Return the mean of each row's known values, NaN without any."""
    return ratio(np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1))


@metric(
    **_FIELD,
    range=(0, 1),
    long_name="Brier score",
    closed_form="brier",
    reference="10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2",
)
@with_options(OPTIONS)
@with_example(FORECAST, gives=0.077)
def brier(pairs: ScorePairs, *, universe: str | None = None, undirected: str = "both") -> Floats:
    """Return the mean squared difference between probabilities and edges (1 true, 0 not)."""
    known, q, y = forecasts(pairs, universe, undirected)
    return _mean((q - y) ** 2, known)


@metric(**_FIELD, range=(0, np.inf), long_name="logarithmic loss")
@with_options(OPTIONS)
@with_example(FORECAST, gives=0.255)
def log_loss(pairs: ScorePairs, *, clip: float = 0.0, universe: str | None = None, undirected: str = "both") -> Floats:
    """Return minus the mean logarithm of the probability given to what is true.

    Parameters
    ----------
    clip : float
        Probabilities are moved into [clip, 1 - clip], in [0, 0.5). With 0 a false certainty makes the loss infinite.
    """
    check_number(clip, "clip", "[0, 0.5)")
    known, q, y = forecasts(pairs, universe, undirected)
    chances = np.where(y > 0, q, 1 - q)
    chances = np.clip(chances, clip, 1 - clip) if clip else chances
    logs = np.full(chances.shape, np.inf)
    np.negative(np.log(chances, out=np.full(chances.shape, -np.inf), where=chances > 0), out=logs)
    return _mean(logs, known)


def bins_of(q: Floats, known: NDArray[np.bool_], bins: int, strategy: str) -> Ints:
    """Return the bin of each probability; the last is closed. Equal probabilities are in one bin."""
    if strategy == "width":
        # the limits as numbers, so that probabilities such as .29 are not below them by rounding
        return np.searchsorted(np.arange(1, bins) / bins, q, side="right")
    bin_numbers = np.zeros(q.shape, np.int64)
    for row in range(len(q)):
        values = q[row][known[row]]
        if len(values):
            edges = np.quantile(values, np.arange(1, bins) / bins)
            bin_numbers[row] = np.searchsorted(np.unique(edges), q[row], side="right")
    return bin_numbers


class _Binned(NamedTuple):
    """Of each bin, (n, bins): candidates, sum of probabilities, of true ones, of squares, and of products."""

    n: Floats
    q: Floats
    y: Floats
    qq: Floats
    qy: Floats


def _binned(pairs: ScorePairs, bins: int | None, strategy: str, universe: str | None, undirected: str) -> _Binned:
    """Sum over the candidates of bins; without a number of bins, over those of one pair with equal probabilities."""
    check_choice(strategy, STRATEGIES, "strategy")
    known, q, y = forecasts(pairs, universe, undirected)
    row, slot = np.nonzero(known)
    values = q[row, slot], y[row, slot]
    if bins is None:
        groups = np.unique(values[0], return_inverse=True)[1].reshape(-1)
        bins = 1 + int(groups.max(initial=0))
    else:
        bins = check_whole(bins, "bins", 1, 10_000)
        groups = bins_of(q, known, bins, strategy)[row, slot]

    def total(weights: Floats) -> Floats:
        return np.bincount(row * bins + groups, weights, pairs.n * bins).reshape(pairs.n, bins).astype(np.float64)

    ones = np.ones(len(row))
    return _Binned(*(total(x) for x in (ones, values[0], values[1], values[0] ** 2, values[0] * values[1])))


@metric(**_FIELD, range=(0, 1), long_name="expected calibration error", closed_form="calibration")
@with_options(OPTIONS)
@with_example(FORECAST, gives=0.2)
def calibration_error(
    pairs: ScorePairs, *, bins: int = 10, strategy: str = "width", universe: str | None = None, undirected: str = "both"
) -> Floats:
    """Return the mean distance, over bins, between the mean probability and the share of true edges.

    It is biased upwards: perfectly calibrated probabilities have an error above 0, the larger the fewer candidates
    there are, and a constant share of true edges has none. `null="calibrated"` draws edges from the probabilities, so
    that its p-value is small where the error is larger than that of calibrated probabilities. Shuffled scores are no
    test of calibration.

    Parameters
    ----------
    bins : int
        Number of bins.
    strategy : {"width", "quantile"}
        Bins of equal width, or with about as many candidates each.
    """
    bin_sums = _binned(pairs, bins, strategy, universe, undirected)
    return ratio(np.abs(bin_sums.q - bin_sums.y).sum(axis=1), bin_sums.n.sum(axis=1))


def brier_parts(
    truth: Any, estimate: Any, *, bins: int | None = None, strategy: str = "width", universe: str | None = None
) -> pd.Series:
    """Split the Brier score as Murphy (1973) does, with the two further terms that bins need.

    The score is reliability - resolution + uncertainty + within_variance - 2 within_covariance. The last two are 0
    where groups are of equal probabilities.

    Parameters
    ----------
    truth : graph
        The true graph.
    estimate : score cell
        Probabilities, one cell of `score_column`.
    bins : int, optional
        Number of bins; default groups of equal probabilities.
    strategy, universe
        As in `calibration_error`.

    Returns
    -------
    Series
        `brier` and its five parts.

    Raises
    ------
    ValueError
        If the scores are not probabilities.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cell = ce.score_column([[[0, 0.9], [0.2, 0]]], nodes=["A", "B"], encoding="row->column")[0]
    >>> ce.edge_scores.brier_parts("A -> B", cell).round(3).to_dict()["uncertainty"]
    0.25
    """
    pairs: Any = SCORES.pair(truth, estimate)
    if brier.refused(pairs).any():
        raise ValueError(f"calibration is of probabilities, but {pairs.describe(0)}")
    sums = _binned(pairs, bins, strategy, universe, "both")
    n, q, y, qq, qy = (x[0][sums.n[0] > 0] for x in sums)
    # parts of no candidates are NaN
    total = n.sum() or np.nan
    base = y.sum() / total
    mean, share = q / n, y / n
    return pd.Series(
        {
            "brier": float((qq.sum() - 2 * qy.sum() + y.sum()) / total),
            "reliability": float((n * (mean - share) ** 2).sum() / total),
            "resolution": float((n * (share - base) ** 2).sum() / total),
            "uncertainty": float(base * (1 - base)),
            "within_variance": float((qq - n * mean**2).sum() / total),
            "within_covariance": float((qy - n * mean * share).sum() / total),
        }
    )
