"""Laws of ranking metrics where the scores are shuffled over the candidates: Mann-Whitney's with ties, and others."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contract.law import ClosedForm, ClosedFormRule, Distribution, Tails, register_closed_form
from ...contract.metric import Metric
from ...contract.pairs import PairError
from ..structure.nulls.laws import hypergeometric_law
from .pairs import Candidates, ScorePairs, Universe, candidates, universe_options

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: steps of the program up to which a law is computed, and products of its size up to which one without ties is
_MOST_STEPS, _MOST_COUNTS = 600_000_000, 6_000_000
#: largest share of candidates that tie, and fewest true or other ones, for the normal law
_TIED, _FEWEST = 0.2, 10
#: true or other ones among the untied up to which a part of a mixture is exact whatever its size
_EXACT_PART = 6
#: products of true and other ones up to which tails are listed
_MOST_VALUES = 20_000_000
EXACT, MIXTURE, NORMAL = "exact", "mixture", "normal"


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


def ties_of(found: Candidates, rows: Ints) -> tuple[list[Ties], Ints]:
    """Return the distinct profiles of rows, and the number of each row's own."""
    known: dict[Ties, int] = {}
    index = np.empty(len(rows), np.int64)
    for at, row in enumerate(rows.tolist()):
        n, k = int(found.size[row]), int(found.n_true[row])
        sizes = np.unique(found.keys[row, :n], return_counts=True)[1][::-1]
        index[at] = known.setdefault(make_ties(n, k, sizes), len(known))
    return list(known), index


class RankSum(NamedTuple):
    """The law of 2 U, twice the number of (true, other) pairs in the right order, ties counting half."""

    #: how it was found
    method: str
    #: upper tails P(2 U >= 0), P(2 U >= 1), ..., the last one 0
    tails: Floats

    def above(self, twice_u: NDArray[np.int64]) -> Floats:
        """Return P(2 U >= each number)."""
        return self.tails[np.clip(twice_u, 0, len(self.tails) - 1)]

    def quantile(self, q: float) -> float:
        """Return the smallest 2 U whose probability of at most it is q or more."""
        return float(np.argmax(1 - self.tails[1:] >= q - 1e-12))


def variance(ties: Ties) -> float:
    """Return the variance of U."""
    n, k, sizes = ties.n, ties.k, ties.sizes.astype(np.float64)
    tied = float((sizes**3 - sizes).sum())
    return k * (n - k) / 12 * (n + 1 - tied / (n * (n - 1))) if n > 1 else 0.0


@lru_cache(maxsize=512)
def rank_sum(ties: Ties) -> RankSum | None:
    """Return the law of 2 U, or None where it must be simulated."""
    n, k = ties.n, ties.k
    few = min(k, n - k)
    if not ties.profile and few * few * (n - few) <= _MOST_COUNTS:
        return RankSum(EXACT, _tails_of(_untied(n, few)))
    # the classes may be exchanged, if the groups are reversed
    few_ties = ties if k <= n - k else make_ties(n, n - k, ties.sizes[::-1])
    steps = int(_transition_starts(few_ties)[-1])
    if ties.profile and steps * few * (n - few) <= _MOST_STEPS:
        return RankSum(EXACT, _tails_of(_tied(few_ties)))
    if ties.sizes.max(initial=0) <= _TIED * n and few >= _FEWEST and k * (n - k) <= _MOST_VALUES:
        return RankSum(NORMAL, _normal_tails(ties))
    return _mixture(ties)


def _tails_of(law: Floats) -> Floats:
    """Return upper tails, summed from the far end."""
    return np.minimum(np.append(np.cumsum(law[::-1])[::-1], 0.0), 1.0)


def _tied(ties: Ties) -> Floats:
    """Return the law of 2 U by the program over groups."""
    from .kernels import rank_sum_law, transitions

    sizes, starts, n, k = ties.sizes, _transition_starts(ties), ties.n, ties.k
    weights = np.empty(int(starts[-1]))
    transitions(sizes, n, k, starts, weights)
    state, moved = np.empty((2, k + 1, 2 * k * (n - k) + 1))
    rank_sum_law(sizes, n, k, starts, weights, state, moved)
    return state[k].copy()


def _transition_starts(ties: Ties) -> Ints:
    """Return where the chances of true ones in each group, after as many so far, start; the last is their number."""
    return np.append(0, np.cumsum((ties.k + 1) * (np.minimum(ties.sizes, ties.k) + 1)))


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
    first = np.array([count / total for count in counts])
    law[: 2 * half : 2] = first
    law[2 * most :: -2][:half] = first
    return law


def _normal_tails(ties: Ties) -> Floats:
    """Return tails of the normal law with the variance of U, corrected by half a step."""
    from scipy.special import ndtr

    step = 1 if ties.profile else 2  # of 2 U
    most = 2 * ties.k * (ties.n - ties.k)
    values = np.arange(most + 2, dtype=np.float64)
    reached = np.ceil(values / step) * step
    deviation = 2 * math.sqrt(variance(ties))
    tails = ndtr((most / 2 - (reached - step / 2)) / deviation)
    tails[0], tails[-1] = 1.0, 0.0
    return np.asarray(tails)


def _mixture(ties: Ties) -> RankSum | None:
    """Return the law as a mixture, where one large group stands at the end and the others are small."""
    sizes, n, k = ties.sizes, ties.n, ties.k
    m = n - int(sizes[-1])
    # 2 U as an array is bounded by memory
    if k * (n - k) > _MOST_VALUES or int(sizes[:-1].max(initial=0)) > max(1, _TIED * m):
        return None
    return RankSum(MIXTURE, mixture_tails(ties))


def mixture_tails(ties: Ties) -> Floats:
    """Return tails of 2 U as a mixture over the true ones above the last group, such as that of zeros."""
    sizes, n, k = ties.sizes, ties.n, ties.k
    m = n - int(sizes[-1])
    tails = np.zeros(2 * k * (n - k) + 2)
    low, high = max(0, k - (n - m)), min(k, m)
    chances = np.exp([_log_hypergeometric(n, k, m, h) for h in range(low, high + 1)])
    chances /= chances.sum()
    for h, chance in zip(range(low, high + 1), chances.tolist(), strict=True):
        others = n - m - (k - h)
        constant = (2 * h + k - h) * others
        part = _part(make_ties(m, h, sizes[:-1]))
        tails[:constant] += chance
        end = constant + len(part)
        tails[constant:end] += chance * part
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


def _log_hypergeometric(n: int, k: int, m: int, h: int) -> float:
    def choose(a: int, b: int) -> float:
        return math.lgamma(a + 1) - math.lgamma(b + 1) - math.lgamma(a - b + 1)

    return choose(m, h) + choose(n - m, k - h) - choose(n, k)


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
    options = universe_options(metric)
    if metric.closed_form == "early_precision":
        options["magnitude"] = True
    chosen = Universe(**options)
    try:
        candidate_set = candidates(pairs, chosen)
    except PairError:
        # scoring names the rows at fault
        return None
    same = (candidate_set.slots == slots).reshape(pairs.n, -1).all(axis=1)
    # symmetric scores have two slots per pair in an ordered universe
    same &= ~(pairs.symmetric & (chosen.codes(pairs) == 0))
    rows = np.flatnonzero(same)
    if not len(rows):
        return None
    ties, index = ties_of(candidate_set, rows)
    return _FORMS[metric.closed_form](Shuffled(rows, pairs.n, ties, index), metric, pairs)


def _spread(shuffled: Shuffled, values: Floats) -> Floats:
    """Lay values of the profiles out along all rows."""
    row_values = np.full(shuffled.n, np.nan)
    row_values[shuffled.rows] = values[shuffled.place]
    return row_values


def _stored(shuffled: Shuffled, laws: list[Law]) -> ClosedForm:
    """Return the form of rows whose profiles have these laws."""
    law = Distribution.pooled(shuffled.place, laws)
    rows = np.zeros(shuffled.n, np.bool_)
    rows[shuffled.rows] = True
    return ClosedForm.of(law).spread(rows)


def _precision(shuffled: Shuffled, metric: Metric, pairs: ScorePairs) -> ClosedForm:
    laws: list[Law] = []
    for ties in shuffled.ties:
        k = metric.options.get("k")
        first = ties.k if k is None else int(k)
        if not 0 < first <= ties.n:
            laws.append((np.array([np.nan]), np.ones(1)))
        else:
            # the candidates above the group in which the cut falls, and its size
            ends = np.cumsum(ties.sizes)
            group = int(np.searchsorted(ends, first))
            tied = int(ties.sizes[group])
            laws.append(precision_law(ties.n, ties.k, first, int(ends[group]) - tied, tied))
    return _stored(shuffled, laws)


def _brier(shuffled: Shuffled, metric: Metric, pairs: ScorePairs) -> ClosedForm:
    """Return mean and variance of the Brier score: only the sum of the true candidates' probabilities varies."""
    candidate_set = candidates(pairs, Universe(**universe_options(metric), magnitude=False))
    q = np.where(np.arange(candidate_set.keys.shape[1]) < candidate_set.size[:, None], candidate_set.keys, 0.0)
    n, k = np.maximum(candidate_set.size, 1).astype(np.float64), candidate_set.n_true.astype(np.float64)
    average = q.sum(axis=1) / n
    spread = np.maximum((q**2).sum(axis=1) / n - average**2, 0.0)
    mean = ((q**2).sum(axis=1) + k) / n - 2 * k * average / n
    variance = 4 / n**2 * k * (n - k) / np.maximum(n - 1, 1) * spread
    some = np.zeros(shuffled.n, np.bool_)
    some[shuffled.rows] = candidate_set.size[shuffled.rows] > 0
    mean, variance = (np.where(some, x, np.nan) for x in (mean, variance))
    return ClosedForm(mean, variance, tailed=np.zeros(shuffled.n, np.bool_))


def _early(shuffled: Shuffled, metric: Metric, pairs: ScorePairs) -> ClosedForm:
    """Return the law of the early precision ratio: the number of scores that it counts does not change."""
    from .metrics import early_precision_selected

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
            counts, chances = hypergeometric_law(n, k, m)
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
        row_tails = Tails.unknown(shuffled.n)
        for number, law in enumerate(sums):
            if law is None:
                continue
            at, product = shuffled.rows[shuffled.place == number], products[number]
            at = at[~np.isnan(observed[at])]
            twice = np.rint(2 * observed[at] * product).astype(np.int64)
            row_tails.p[at], row_tails.strict[at] = law.above(twice), law.above(twice + 1)
            for limits, q in ((row_tails.low, (1 - level) / 2), (row_tails.high, (1 + level) / 2)):
                limits[at] = law.quantile(q) / (2 * product)
            row_tails.method[at] = (EXACT, *_METHODS).index(law.method)
        return row_tails

    return ClosedForm(_spread(shuffled, mean), _spread(shuffled, squares), tails=tails, tailed=tailed)


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
def precision_law(n: int, k: int, first: int, above: int, tied: int) -> tuple[Floats, Floats]:
    """Return the law of the precision of the `first` candidates: `above` the cut, and a share of those `tied` there."""
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
