"""Closed forms of ranking metrics where the scores are shuffled over the candidates."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contract.closed_form import ClosedFormRule, register_closed_form
from ...contract.law import ClosedForm, Distribution, Tails
from ...contract.metric import Metric
from ...contract.pairs import PairError
from ...structure.nulls.hypergeometric import hypergeometric_weights
from ..pairs import ScorePairs
from ..universe import Universe, candidates, universe_options
from .rank_sum import EXACT, MIXTURE, NORMAL, RankSum, Ties, rank_sum, ties_of, variance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: how p-values of areas whose laws are not exact are found
_METHODS = (MIXTURE, NORMAL)


class Shuffled(NamedTuple):
    """Rows whose candidates are the slots over which scores are shuffled."""

    #: (m,): positions of the rows, among n
    rows: Ints
    n: int
    #: the distinct profiles, and the number of each row's own
    ties: list[Ties]
    place: Ints


_Form = Callable[[Shuffled, Metric, ScorePairs], ClosedForm]
#: values and their probabilities
Law = tuple[Floats, Floats]


def shuffled_law(metric: Metric, pairs: ScorePairs, slots: NDArray[np.bool_]) -> ClosedForm | None:
    """Return what is known of a metric where scores are shuffled over `slots`, (n, d, d), or None."""
    if metric.closed_form not in _FORMS:
        return None
    given = universe_options(metric)
    if metric.closed_form == "early_precision":
        given["magnitude"] = True
    chosen = Universe.of(**given)
    try:
        found = candidates(pairs, chosen)
    except PairError:
        # scoring names the rows at fault
        return None
    same = (found.slots == slots).reshape(pairs.n, -1).all(axis=1)
    # symmetric scores have two slots a pair in an ordered universe
    same &= ~(pairs.symmetric & (chosen.codes(pairs) == 0))
    rows = np.flatnonzero(same)
    if not len(rows):
        return None
    ties, index = ties_of(found, rows)
    return _FORMS[metric.closed_form](Shuffled(rows, pairs.n, ties, index), metric, pairs)


def _spread(shuffled: Shuffled, values: Floats) -> Floats:
    """Lay values of the profiles out along all rows."""
    found = np.full(shuffled.n, np.nan)
    found[shuffled.rows] = values[shuffled.place]
    return found


def _stored(shuffled: Shuffled, laws: list[Law]) -> ClosedForm:
    """Return the form of rows whose profiles have these laws."""
    law = Distribution.pooled(shuffled.place, laws)
    rows = np.zeros(shuffled.n, np.bool_)
    rows[shuffled.rows] = True
    return ClosedForm(*law.moments(), law).spread(rows)


def _precision(shuffled: Shuffled, metric: Metric, pairs: ScorePairs) -> ClosedForm:
    laws: list[Law] = []
    for ties in shuffled.ties:
        k = metric.options.get("k")
        first = ties.k if k is None else int(k)
        if not 0 < first <= ties.n:
            laws.append((np.array([np.nan]), np.ones(1)))
        else:
            laws.append(precision_law(ties.n, ties.k, first, *cut_at(ties, first)))
    return _stored(shuffled, laws)


def _brier(shuffled: Shuffled, metric: Metric, pairs: ScorePairs) -> ClosedForm:
    """Return mean and variance of the Brier score: only the sum of the true candidates' probabilities varies."""
    found = candidates(pairs, Universe.of(**universe_options(metric), magnitude=False))
    q = np.where(np.arange(found.keys.shape[1]) < found.size[:, None], found.keys, 0.0)
    n, k = np.maximum(found.size, 1).astype(np.float64), found.n_true.astype(np.float64)
    average = q.sum(axis=1) / n
    spread = np.maximum((q**2).sum(axis=1) / n - average**2, 0.0)
    mean = ((q**2).sum(axis=1) + k) / n - 2 * k * average / n
    variance = 4 / n**2 * k * (n - k) / np.maximum(n - 1, 1) * spread
    some = np.zeros(shuffled.n, np.bool_)
    some[shuffled.rows] = found.size[shuffled.rows] > 0
    mean, variance = (np.where(some, x, np.nan) for x in (mean, variance))
    return ClosedForm(mean, variance, tailed=np.zeros(shuffled.n, np.bool_))


def _early(shuffled: Shuffled, metric: Metric, pairs: ScorePairs) -> ClosedForm:
    """Return the law of the early precision ratio: the number of scores that it counts does not change."""
    from ..cuts import early_precision_selected

    # undefined without candidates
    selected = np.nan_to_num(early_precision_selected(pairs, **universe_options(metric)))[shuffled.rows].astype(
        np.int64
    )
    numbers = np.array([(ties.n, ties.k) for ties in shuffled.ties], np.int64)[shuffled.place]
    distinct, index = np.unique(np.column_stack([numbers, selected]), axis=0, return_inverse=True)
    laws: list[Law] = []
    for n, k, m in distinct.tolist():
        if k == 0 or m == 0:
            laws.append((np.array([np.nan if k == 0 else 0.0]), np.ones(1)))
        else:
            counts, chances = hypergeometric(n, k, m)
            laws.append((counts / m * (n / k), chances))
    return _stored(shuffled._replace(place=index.reshape(-1)), laws)


def _auroc(shuffled: Shuffled, metric: Metric, pairs: ScorePairs) -> ClosedForm:
    """Return the law of the area under the ROC curve: tails of twice the Mann-Whitney statistic."""
    both = np.array([0 < ties.k < ties.n for ties in shuffled.ties])
    sums = [rank_sum(ties) if able else None for ties, able in zip(shuffled.ties, both.tolist(), strict=True)]
    products = np.array([ties.k * (ties.n - ties.k) for ties in shuffled.ties], np.float64)
    mean = np.where(both, 0.5, np.nan)
    spread = [variance(ties) for ties in shuffled.ties]
    squares = np.divide(spread, products**2, out=np.full(len(products), np.nan), where=both)
    tailed = np.zeros(shuffled.n, np.bool_)
    tailed[shuffled.rows] = np.array([x is not None for x in sums])[shuffled.place] | ~both[shuffled.place]

    def tails(observed: Floats, level: float) -> Tails:
        found = Tails.unknown(shuffled.n)
        for number, law in enumerate(sums):
            if law is not None:
                at = shuffled.rows[shuffled.place == number]
                _fill(found, at[~np.isnan(observed[at])], observed, law, products[number], level)
        return found

    return ClosedForm(_spread(shuffled, mean), _spread(shuffled, squares), tails=tails, tailed=tailed)


def _fill(found: Tails, at: Ints, observed: Floats, law: RankSum, product: float, level: float) -> None:
    """Fill in the tails of rows with one law of 2 U."""
    twice = np.rint(2 * observed[at] * product).astype(np.int64)
    found.p[at], found.strict[at] = law.above(twice), law.above(twice + 1)
    for limits, q in ((found.low, (1 - level) / 2), (found.high, (1 + level) / 2)):
        limits[at] = law.quantile(q) / (2 * product)
    found.method[at] = (EXACT, *_METHODS).index(law.method)


def _average_precision(shuffled: Shuffled, metric: Metric, pairs: ScorePairs) -> ClosedForm:
    """Return the mean of the average precision; p-values are simulated."""
    mean = np.array([average_precision_mean(ties) for ties in shuffled.ties])
    return ClosedForm(_spread(shuffled, mean), tailed=np.zeros(shuffled.n, np.bool_))


def average_precision_mean(ties: Ties) -> float:
    """Return the mean of the average precision over all labels; NaN without true candidates."""
    if ties.k == 0:
        return math.nan
    ends = np.cumsum(ties.sizes)
    # a true candidate has each of the others that rank no lower beside it with the same chance
    others = (ends - 1) * (ties.k - 1) / max(ties.n - 1, 1)
    return float((ties.sizes * (1 + others) / ends).sum() / ties.n)


@lru_cache(maxsize=4096)
def hypergeometric(n: int, k: int, m: int) -> tuple[Ints, Floats]:
    """Return how many of m candidates may be true, of K among N, and the probabilities.

    Examples
    --------
    >>> counts, chances = hypergeometric(4, 2, 2)
    >>> counts.tolist(), chances.round(3).tolist()
    ([0, 1, 2], [0.167, 0.667, 0.167])
    """
    counts, chances = hypergeometric_weights(*(np.array([[x]], np.int64) for x in (n, k, m)))
    return counts[0], chances[0]


@lru_cache(maxsize=4096)
def precision_law(n: int, k: int, first: int, above: int, tied: int) -> tuple[Floats, Floats]:
    """Return values and probabilities of the precision of the `first` candidates.

    Of these, `above` rank above the group of `tied` candidates at the cut, of which a share counts.
    """
    share = (first - above) / tied
    if share == 1:
        counts, chances = hypergeometric(n, k, first)
        return counts / first, chances
    values, weights = [], []
    for right, chance in zip(*hypergeometric(n, k, above), strict=True):
        more, given = hypergeometric(n - above, k - int(right), tied)
        values.append((right + more * share) / first)
        weights.append(chance * given)
    return np.concatenate(values), np.concatenate(weights)


def cut_at(ties: Ties, first: int) -> tuple[int, int]:
    """Return how many candidates rank above the group in which the cut after `first` falls, and its size."""
    ends = np.cumsum(ties.sizes)
    group = int(np.searchsorted(ends, first))
    size = int(ties.sizes[group])
    return int(ends[group]) - size, size


_FORMS: dict[str, _Form] = {
    "auroc": _auroc,
    "average_precision": _average_precision,
    "precision_at_k": _precision,
    "brier": _brier,
    "early_precision": _early,
}


_RULES: dict[str, str] = {
    "auroc": "The Mann-Whitney statistic of the candidates' midranks. With shuffled scores its law is exact, ties "
    "included, a mixture over the true candidates above a large tie, or normal; with relabelled nodes mean and "
    "variance are exact.",
    "average_precision": "The average precision of the candidates. With shuffled scores and with relabelled nodes its "
    "mean is exact.",
    "precision_at_k": "The precision of the k largest scores. With shuffled scores its law is hypergeometric; with "
    "relabelled nodes mean and variance are exact.",
    "brier": "The Brier score of the candidates. With shuffled scores mean and variance are exact.",
    "calibration": "A distance between probabilities and shares, which is tested against calibrated probabilities.",
    "early_precision": "The early precision ratio. With shuffled scores its law is hypergeometric.",
}
for _name, _explanation in _RULES.items():
    register_closed_form(ClosedFormRule(_name, "scores", _explanation, methods=_METHODS if _name == "auroc" else ()))
