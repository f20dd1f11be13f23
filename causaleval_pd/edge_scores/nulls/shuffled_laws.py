"""Closed forms of ranking metrics where the scores are shuffled over the candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contract.closed_form import ClosedFormRule, register_closed_form
from ...contract.law import ClosedForm, Distribution, Shape, Tails
from ...contract.metric import Metric
from ...contract.pairs import PairError
from ..pairs import ScorePairs
from ..universe import Universe, candidates
from .laws.average_precision import bracketed_tails, can_bracket, grid_quantile, listed_precisions, precision_moments
from .laws.mann_whitney import EXACT, MIXTURE, NORMAL, RankSum, rank_sum, variance
from .laws.precision import cut_at, hypergeometric, precision_law
from .laws.thresholds import can_cross, f1_law, f1_tails, hamming_law, hamming_tails
from .laws.ties import Ties, ties_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: how p-values of laws that are not stored are found
_METHODS = {"auroc": (MIXTURE, NORMAL), "average_precision": ("bracketed",)}


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
    given = {name: metric.options[name] for name in Universe.__dataclass_fields__ if name in metric.options}
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


def _stored(shuffled: Shuffled, laws: list[Law | None]) -> ClosedForm:
    """Return the form of rows whose profiles have these stored laws; None is simulated."""
    undefined = (np.array([np.nan]), np.ones(1))
    known = np.array([law is not None for law in laws])
    law = Distribution.pooled(shuffled.place, [undefined if law is None else law for law in laws])
    mean, spread = law.moments()
    listed = np.zeros(shuffled.n, np.bool_)
    listed[shuffled.rows] = known[shuffled.place]
    rows = np.zeros(shuffled.n, np.bool_)
    rows[shuffled.rows] = True
    found = ClosedForm(mean, spread, law).spread(rows)
    everywhere = bool(listed.all())
    return ClosedForm(found.mean, found.variance, found.distribution, None if everywhere else listed)


def _precision(shuffled: Shuffled, metric: Metric, pairs: ScorePairs) -> ClosedForm:
    laws: list[Law | None] = []
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
    given = {name: metric.options[name] for name in Universe.__dataclass_fields__ if name in metric.options}
    found = candidates(pairs, Universe.of(**given, magnitude=False))
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

    options = {name: metric.options[name] for name in Universe.__dataclass_fields__ if name in metric.options}
    # undefined without candidates
    selected = np.nan_to_num(early_precision_selected(pairs, **options))[shuffled.rows].astype(np.int64)
    numbers = np.array([(ties.n, ties.k) for ties in shuffled.ties], np.int64)[shuffled.place]
    distinct, index = np.unique(np.column_stack([numbers, selected]), axis=0, return_inverse=True)
    laws: list[Law | None] = []
    for n, k, m in distinct.tolist():
        if k == 0 or m == 0:
            laws.append((np.array([np.nan if k == 0 else 0.0]), np.ones(1)))
        else:
            counts, chances = hypergeometric(n, k, m)
            laws.append((counts / m * (n / k), chances))
    return _stored(shuffled._replace(place=index.reshape(-1)), laws)


def _thresholds(law: Callable[[Ties], Law | None], tail: Callable[[Ties, Floats], Floats], *, least: int) -> _Form:
    """Make the form of a best value over thresholds: the law, or where that takes long the observed values' tails."""

    def form(shuffled: Shuffled, metric: Metric, pairs: ScorePairs) -> ClosedForm:
        undefined = (np.array([np.nan]), np.ones(1))
        laws = [undefined if x.k < least or x.n == 0 else law(x) for x in shuffled.ties]
        open_ties = [number for number, one in enumerate(laws) if one is None and can_cross(shuffled.ties[number])]
        if not open_ties:
            return _stored(shuffled, laws)

        def tails(observed: Floats, level: float) -> Tails:
            # means and limits are simulated
            found = Tails.unknown(shuffled.n)
            step = 1e-9 if metric.direction == "maximize" else -1e-9
            for number in open_ties:
                at = shuffled.rows[shuffled.place == number]
                at = at[~np.isnan(observed[at])]
                found.p[at] = tail(shuffled.ties[number], observed[at])
                found.strict[at] = tail(shuffled.ties[number], observed[at] + step)
                found.method[at] = 0
            return found

        return replace(_stored(shuffled, laws), tails=tails)

    return form


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
    found.method[at] = (EXACT, *_METHODS["auroc"]).index(law.method)


def _average_precision(shuffled: Shuffled, metric: Metric, pairs: ScorePairs) -> ClosedForm:
    """Return moments, the law where it is short, and bracketed tails of the average precision."""
    moments = [precision_moments(ties) for ties in shuffled.ties]
    listed = [listed_precisions(ties) for ties in shuffled.ties]
    form = _stored(shuffled, listed)
    mean, spread, skewness = (_spread(shuffled, np.array(x)) for x in zip(*moments, strict=True))
    bracketed = np.array([x is None and can_bracket(ties) for x, ties in zip(listed, shuffled.ties, strict=True)])
    undefined = np.array([ties.k == 0 for ties in shuffled.ties])
    tailed = np.zeros(shuffled.n, np.bool_)
    tailed[shuffled.rows] = (bracketed | undefined)[shuffled.place]

    def tails(observed: Floats, level: float) -> Tails:
        found = Tails.unknown(shuffled.n)
        for number in np.flatnonzero(bracketed).tolist():
            ties = shuffled.ties[number]
            at = shuffled.rows[shuffled.place == number]
            at = at[~np.isnan(observed[at])]
            found.p[at] = bracketed_tails(ties, observed[at])
            found.strict[at] = found.p[at]
            found.low[at], found.high[at] = (grid_quantile(ties, q) for q in ((1 - level) / 2, (1 + level) / 2))
            found.method[at] = 1
        return found

    def shape() -> Shape:
        nothing = np.zeros(shuffled.n)
        return Shape(skewness, nothing, np.full(shuffled.n, 1e6), nothing)

    stored = form.distribution if any(law is not None for law in listed) else None
    rows = form.listed if stored is not None else None
    return ClosedForm(mean, spread, stored, rows, shape, tails, tailed)


_FORMS: dict[str, _Form] = {
    "auroc": _auroc,
    "average_precision": _average_precision,
    "precision_at_k": _precision,
    "brier": _brier,
    "early_precision": _early,
    "max_f1": _thresholds(f1_law, f1_tails, least=1),
    "min_hamming": _thresholds(hamming_law, hamming_tails, least=0),
}


_RULES: dict[str, str] = {
    "auroc": "The Mann-Whitney statistic of the candidates' midranks. With shuffled scores its law is exact, ties "
    "included, a mixture over the true candidates above a large tie, or normal; with relabelled nodes mean and "
    "variance are exact.",
    "average_precision": "The average precision of the candidates. With shuffled scores its moments are exact, its law "
    "where the orders of ties are few, and p-values have an upper bound else; with relabelled nodes the mean is exact.",
    "precision_at_k": "The precision of the k largest scores. With shuffled scores its law is hypergeometric; with "
    "relabelled nodes mean and variance are exact.",
    "brier": "The Brier score of the candidates. With shuffled scores mean and variance are exact.",
    "calibration": "A distance between probabilities and shares, which is tested against calibrated probabilities.",
    "early_precision": "The early precision ratio. With shuffled scores its law is hypergeometric.",
    "max_f1": "The largest F1 over thresholds. With shuffled scores its law is that of a path crossing a line.",
    "min_hamming": "The smallest Hamming distance over thresholds. With shuffled scores its law is that of a path "
    "crossing a line.",
}
for _name, _explanation in _RULES.items():
    register_closed_form(ClosedFormRule(_name, "scores", _explanation, methods=_METHODS.get(_name, ())))
