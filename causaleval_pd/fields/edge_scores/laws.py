"""Laws of ranking metrics where the scores are shuffled over the candidates: Mann-Whitney's with ties, and others."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contract.law import ClosedForm, ClosedFormRule, Distribution, Tails, register_closed_form
from ...contract.metric import Metric
from ...statistics.tails import hypergeometric_law
from .pairs import Candidates, ScorePairs, Universe, all_candidates, universe_options

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: values and their probabilities
Law = tuple[Floats, Floats]

#: steps of the program up to which a law is computed, and products of its size up to which one without ties is
_MOST_STEPS, _MOST_COUNTS = 600_000_000, 6_000_000
#: largest share of candidates that tie, and fewest true or other ones, for the normal law
_TIED, _FEWEST = 0.2, 10
#: true or other ones among the untied up to which a part of a mixture is exact whatever its size
_EXACT_PART = 6
#: products of true and other ones up to which tails are listed
_MOST_VALUES = 20_000_000
#: how laws of areas are found
METHODS = EXACT, MIXTURE, NORMAL = "exact", "mixture", "normal"


class Ties(NamedTuple):
    """K true ones among N candidates, in groups that tie."""

    #: number of candidates N, and of true ones K
    n: int
    k: int
    #: bytes of the sizes of the groups from the top down (int32); empty where nothing ties
    profile: bytes

    @property
    def sizes(self) -> Ints:
        """Sizes of the groups from the top down."""
        if not self.profile:
            return np.ones(self.n, np.int64)
        return np.frombuffer(self.profile, np.int32).astype(np.int64)


def make_ties(n: int, k: int, sizes: Ints) -> Ties:
    """Make a value that is equal for equal profiles."""
    untied = len(sizes) == n
    return Ties(int(n), int(k), b"" if untied else np.asarray(sizes, np.int32).tobytes())


class RankSum(NamedTuple):
    """The law of 2 U, twice the number of (true, other) pairs in the right order, ties counting half."""

    #: how it was found
    method: str
    #: upper tails P(2 U >= 0), P(2 U >= 1), ..., the last one 0
    tails: Floats

    def above(self, twice_u: Ints) -> Floats:
        """Return P(2 U >= each number)."""
        return self.tails[np.clip(twice_u, 0, len(self.tails) - 1)]


def variance(ties: Ties) -> float:
    """Return the variance of U."""
    n, k, sizes = ties.n, ties.k, ties.sizes.astype(np.float64)
    tied = float((sizes**3 - sizes).sum())
    return k * (n - k) / 12 * (n + 1 - tied / (n * (n - 1))) if n > 1 else 0.0


@lru_cache(maxsize=512)
def rank_sum(ties: Ties) -> RankSum | None:
    """Return the law of 2 U, or None where it must be simulated."""
    n, k, sizes = ties.n, ties.k, ties.sizes
    few = min(k, n - k)
    steps = int(((few + 1) * (np.minimum(sizes, few) + 1)).sum())
    if not ties.profile and few * few * (n - few) <= _MOST_COUNTS:
        return RankSum(EXACT, _tails_of(_untied(n, few)))
    if ties.profile and steps * few * (n - few) <= _MOST_STEPS:
        from .kernels import rank_sum_law

        state, moved = np.empty((2, few + 1, 2 * few * (n - few) + 1))
        # the classes may be exchanged, if the groups are reversed
        sizes = sizes if k == few else sizes[::-1].copy()
        rank_sum_law(sizes, n, few, np.empty(int(sizes.max()) + 2), state, moved)
        return RankSum(EXACT, _tails_of(state[few]))
    # 2 U as an array is bounded by memory
    if k * (n - k) > _MOST_VALUES:
        return None
    if sizes.max(initial=0) <= _TIED * n and few >= _FEWEST:
        return RankSum(NORMAL, _normal_tails(ties))
    # one large group stands at the end and the others are small
    small = int(sizes[:-1].max(initial=0)) <= max(1, _TIED * (n - int(sizes[-1])))
    return RankSum(MIXTURE, mixture_tails(ties)) if small else None


def _tails_of(law: Floats) -> Floats:
    """Return upper tails, summed from the far end."""
    return np.minimum(np.append(np.cumsum(law[::-1])[::-1], 0.0), 1.0)


@lru_cache(maxsize=256)
def _untied(n: int, k: int) -> Floats:
    """Return the law of 2 U without ties: counts of a Gaussian binomial coefficient, in whole numbers."""
    most = k * (n - k)
    half = most // 2 + 1  # the law is symmetric
    counts = [1] + [0] * (half - 1)
    for i in range(1, k + 1):
        factor = n - k + i
        for u in range(half - 1, factor - 1, -1):
            counts[u] -= counts[u - factor]
        for u in range(i, half):
            counts[u] += counts[u - i]
    total = math.comb(n, k)
    law = np.zeros(2 * most + 1)
    law[: 2 * half : 2] = law[::-2][:half] = [count / total for count in counts]
    return law


def _normal_tails(ties: Ties) -> Floats:
    """Return tails of the normal law with the variance of U, corrected by half a step."""
    from scipy.special import ndtr

    step = 1 if ties.profile else 2  # of 2 U
    most = 2 * ties.k * (ties.n - ties.k)
    reached = np.ceil(np.arange(most + 2, dtype=np.float64) / step) * step
    tails = ndtr((most / 2 - (reached - step / 2)) / (2 * math.sqrt(variance(ties))))
    tails[0], tails[-1] = 1.0, 0.0
    return np.asarray(tails)


def mixture_tails(ties: Ties) -> Floats:
    """Return tails of 2 U as a mixture over the true ones above the last group, such as that of zeros."""
    sizes, n, k = ties.sizes, ties.n, ties.k
    m = n - int(sizes[-1])
    tails = np.zeros(2 * k * (n - k) + 2)
    hits = range(max(0, k - (n - m)), min(k, m) + 1)
    chances = np.exp([_log_choose(m, h) + _log_choose(n - m, k - h) - _log_choose(n, k) for h in hits])
    chances /= chances.sum()
    for h, chance in zip(hits, chances.tolist(), strict=True):
        constant = (2 * h + k - h) * (n - m - (k - h))
        part = _part(make_ties(m, h, sizes[:-1]))
        tails[:constant] += chance
        tails[constant : constant + len(part)] += chance * part
    tails = np.minimum(tails, 1.0)
    tails[-1] = 0.0
    return tails


def _part(ties: Ties) -> Floats:
    """Return the tails of a part of a mixture, exact where it is small."""
    few = min(ties.k, ties.n - ties.k)
    if few == 0:
        return np.ones(1)
    exact = few <= _EXACT_PART or few * few * (ties.n - few) <= _MOST_COUNTS // 100
    if exact and not ties.profile:
        return _tails_of(_untied(ties.n, few))[:-1]
    return _normal_tails(ties)[:-1]


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


class Shuffled(NamedTuple):
    """Rows whose candidates are the slots over which scores are shuffled."""

    metric: Metric
    pairs: ScorePairs
    candidates: Candidates
    #: (m,): positions of the rows
    rows: Ints
    #: the distinct profiles, and (m,) the number of each row's own
    ties: list[Ties]
    place: Ints


def shuffled_law(
    metric: Metric, pairs: ScorePairs, slots: NDArray[np.bool_], shuffled: NDArray[np.bool_]
) -> ClosedForm | None:
    """Return what is known of a metric in the rows whose scores are shuffled over `slots`, (n, d, d), or None."""
    form, _ = _FORMS.get(metric.closed_form or "", (None, ""))
    if form is None:
        return None
    early = metric.closed_form == "early_precision"
    chosen = Universe(**universe_options(metric) | ({"magnitude": True} if early else {}))
    candidate_set = all_candidates(pairs, chosen)
    same = shuffled & ~candidate_set.faulty & (candidate_set.slots == slots).reshape(pairs.n, -1).all(axis=1)
    # symmetric scores have two slots per pair in an ordered universe
    same &= ~(pairs.symmetric & (chosen.codes(pairs) == 0))
    rows = np.flatnonzero(same)
    if not len(rows):
        return None
    numbers: dict[Ties, int] = {}
    place = np.empty(len(rows), np.int64)
    for at, row in enumerate(rows.tolist()):
        n, k = int(candidate_set.size[row]), int(candidate_set.n_true[row])
        sizes = np.unique(candidate_set.keys[row, :n], return_counts=True)[1][::-1]
        place[at] = numbers.setdefault(make_ties(n, k, sizes), len(numbers))
    known = form(Shuffled(metric, pairs, candidate_set, rows, list(numbers), place))
    tails_of_rows = known.tails
    if tails_of_rows is None:
        return known.spread(same)

    def tails(observed: Floats, level: float) -> Tails:
        every = Tails.unknown(pairs.n)
        parts: list[tuple[Any, Any]] = list(zip(every, tails_of_rows(observed[rows], level), strict=True))
        for values, part in parts:
            values[rows] = part
        return every

    tailed = np.zeros(pairs.n, np.bool_)
    tailed[rows] = known.tailed
    return replace(known.spread(same), tails=tails, tailed=tailed)


def _pooled(keys: Any, law: Callable[..., Law]) -> ClosedForm:
    """Return the form of rows whose laws have these parameters, (m, p)."""
    distinct, index = np.unique(keys, axis=0, return_inverse=True)
    return ClosedForm.of(Distribution.pooled(index.reshape(-1), (law(*key) for key in distinct.tolist())))


def _precision(shuffled: Shuffled) -> ClosedForm:
    keys = np.zeros((len(shuffled.ties), 5), np.int64)
    for number, ties in enumerate(shuffled.ties):
        k = shuffled.metric.options.get("k")
        first = ties.k if k is None else int(k)
        if 0 < first <= ties.n:
            # the candidates above the group in which the cut falls, and its size
            ends = np.cumsum(ties.sizes)
            group = int(np.searchsorted(ends, first))
            tied = int(ties.sizes[group])
            keys[number] = ties.n, ties.k, first, int(ends[group]) - tied, tied
    return _pooled(keys[shuffled.place], precision_law)


def _brier(shuffled: Shuffled) -> ClosedForm:
    """Return mean and variance of the Brier score: only the sum of the true candidates' probabilities varies."""
    found = shuffled.candidates
    q = np.where(np.arange(found.keys.shape[1]) < found.size[:, None], found.keys, 0.0)[shuffled.rows]
    size, k = (x[shuffled.rows].astype(np.float64) for x in (found.size, found.n_true))
    n = np.maximum(size, 1)
    average = q.sum(axis=1) / n
    spread = np.maximum((q**2).sum(axis=1) / n - average**2, 0.0)
    mean = ((q**2).sum(axis=1) + k) / n - 2 * k * average / n
    variance = 4 / n**2 * k * (n - k) / np.maximum(n - 1, 1) * spread
    mean, variance = (np.where(size > 0, x, np.nan) for x in (mean, variance))
    return ClosedForm(mean, variance)


def _early(shuffled: Shuffled) -> ClosedForm:
    """Return the law of the early precision ratio: the number of scores that it counts does not change."""
    from .metrics import early_precision_selected

    found, options = shuffled.candidates, universe_options(shuffled.metric)
    # undefined without candidates
    selected = np.nan_to_num(early_precision_selected(shuffled.pairs, **options)).astype(np.int64)
    return _pooled(np.column_stack([found.size, found.n_true, selected])[shuffled.rows], early_law)


def _auroc(shuffled: Shuffled) -> ClosedForm:
    """Return the law of the area under the ROC curve: tails of twice the Mann-Whitney statistic."""
    place = shuffled.place
    both = np.array([0 < ties.k < ties.n for ties in shuffled.ties])
    sums = [rank_sum(ties) if able else None for ties, able in zip(shuffled.ties, both.tolist(), strict=True)]
    products = np.array([ties.k * (ties.n - ties.k) for ties in shuffled.ties], np.float64)
    spread = [variance(ties) for ties in shuffled.ties]
    squares = np.divide(spread, products**2, out=np.full(len(products), np.nan), where=both)

    def tails(observed: Floats, level: float) -> Tails:
        row_tails = Tails.unknown(len(place))
        for number, law in enumerate(sums):
            if law is None:
                continue
            at = np.flatnonzero((place == number) & ~np.isnan(observed))
            twice = np.rint(2 * observed[at] * products[number]).astype(np.int64)
            row_tails.p[at], row_tails.strict[at] = law.above(twice), law.above(twice + 1)
            for limits, q in ((row_tails.low, (1 - level) / 2), (row_tails.high, (1 + level) / 2)):
                limits[at] = np.argmax(1 - law.tails[1:] >= q - 1e-12) / (2 * products[number])
            row_tails.method[at] = METHODS.index(law.method)
        return row_tails

    tailed = np.array([law is not None for law in sums]) | ~both
    return ClosedForm(np.where(both, 0.5, np.nan)[place], squares[place], tails=tails, tailed=tailed[place])


def average_precision_mean(ties: Ties) -> float:
    """Return the mean of the average precision over all labels; NaN without true candidates."""
    if ties.k == 0:
        return math.nan
    ends = np.cumsum(ties.sizes)
    # a true candidate has each of the others that rank no lower beside it with the same chance
    others = (ends - 1) * (ties.k - 1) / max(ties.n - 1, 1)
    return float((ties.sizes * (1 + others) / ends).sum() / ties.n)


def _average_precision(shuffled: Shuffled) -> ClosedForm:
    return ClosedForm(np.array([average_precision_mean(ties) for ties in shuffled.ties])[shuffled.place])


def early_law(n: int, k: int, selected: int) -> Law:
    """Return the law of the early precision ratio of as many candidates."""
    if k == 0 or selected == 0:
        return np.array([np.nan if k == 0 else 0.0]), np.ones(1)
    counts, chances = hypergeometric_law(n, k, selected)
    return counts / selected * (n / k), chances


@lru_cache(maxsize=4096)
def precision_law(n: int, k: int, first: int, above: int, tied: int) -> Law:
    """Return the law of the precision of the `first` candidates: `above` the cut, and a share of those `tied` there."""
    if not first:
        return np.array([np.nan]), np.ones(1)
    share = (first - above) / tied
    if share == 1:
        counts, chances = hypergeometric_law(n, k, first)
        return counts / first, chances
    values, weights = [], []
    for right, chance in zip(*hypergeometric_law(n, k, above), strict=True):
        more, conditionals = hypergeometric_law(n - above, k - int(right), tied)
        values.append((right + more * share) / first)
        weights.append(chance * conditionals)
    return np.concatenate(values), np.concatenate(weights)


#: what is known where scores are shuffled, and what list_closed_forms states
_FORMS: dict[str, tuple[Callable[[Shuffled], ClosedForm] | None, str]] = {
    "auroc": (
        _auroc,
        "The Mann-Whitney statistic of the candidates' midranks. With shuffled scores its law is exact, ties included, "
        "a mixture over the true candidates above a large tie, or normal; with relabelled nodes mean and variance are "
        "exact.",
    ),
    "average_precision": (
        _average_precision,
        "The average precision of the candidates. With shuffled scores and with relabelled nodes its mean is exact.",
    ),
    "precision_at_k": (
        _precision,
        "The precision of the k largest scores. With shuffled scores its law is hypergeometric; with relabelled nodes "
        "mean and variance are exact.",
    ),
    "brier": (_brier, "The Brier score of the candidates. With shuffled scores mean and variance are exact."),
    "calibration": (
        None,
        "A distance between probabilities and shares, which is tested against calibrated probabilities.",
    ),
    "early_precision": (_early, "The early precision ratio. With shuffled scores its law is hypergeometric."),
}
for _name, (_, _explanation) in _FORMS.items():
    _methods = METHODS[1:] if _name == "auroc" else ()
    register_closed_form(ClosedFormRule(_name, "scores", _explanation, methods=_methods))
