"""The law of the area under the ROC curve where labels are shuffled: Mann-Whitney's, with ties."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..universe import Candidates

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

    @property
    def largest(self) -> int:
        """Size of the largest group."""
        return int(self.sizes.max(initial=0))


class Table(NamedTuple):
    """The chances of true ones in each group, for the compiled programs."""

    sizes: Ints
    starts: Ints
    weights: Floats


@lru_cache(maxsize=64)
def transition_table(ties: Ties) -> Table:
    """Return the chances of a true ones in a group after c so far."""
    from ..kernels import transitions

    sizes = ties.sizes
    lengths = (ties.k + 1) * (np.minimum(sizes, ties.k) + 1)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    weights = np.empty(int(starts[-1]))
    transitions(sizes, ties.n, ties.k, starts, weights)
    return Table(sizes, starts, weights)


def steps(ties: Ties) -> int:
    """Return how many transitions there are between states, for estimates of work."""
    sizes, k = ties.sizes, ties.k
    return int((np.minimum(sizes, k) + 1).sum()) * (k + 1)


def make_ties(n: int, k: int, sizes: Ints) -> Ties:
    """Make a value that is equal for equal profiles."""
    untied = len(sizes) == n
    return Ties(int(n), int(k), b"" if untied else np.asarray(sizes, np.int32).tobytes())


def ties_of(found: Candidates, rows: Ints) -> tuple[list[Ties], Ints]:
    """Return the distinct profiles of rows, and the number of each row's own."""
    from ..kernels import tie_profiles

    most = found.keys.shape[1]
    sizes, n_groups = np.zeros((len(rows), most), np.int64), np.zeros(len(rows), np.int64)
    size, n_true = found.size[rows], found.n_true[rows]
    tie_profiles(found.keys[rows], size, np.empty(most), np.empty(most, np.bool_), sizes, n_groups)
    known: dict[Ties, int] = {}
    index = np.empty(len(rows), np.int64)
    for row, (n, k, groups) in enumerate(zip(size.tolist(), n_true.tolist(), n_groups.tolist(), strict=True)):
        profile = b"" if groups == n else sizes[row, :groups].astype(np.int32).tobytes()
        index[row] = known.setdefault(Ties(n, k, profile), len(known))
    return list(known), index


class RankSum(NamedTuple):
    """The law of 2 U, twice the number of (true, other) pairs in the right order, ties counting half.

    Examples
    --------
    >>> law = rank_sum(make_ties(4, 2, np.array([1, 1, 2])))
    >>> law.method, law.above(np.array([8, 7])).round(3).tolist()
    ('exact', [0.167, 0.167])
    """

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
    own = ties if k <= n - k else make_ties(n, n - k, ties.sizes[::-1])
    if ties.profile and steps(own) * own.k * (n - own.k) <= _MOST_STEPS:
        return RankSum(EXACT, _tails_of(_tied(own)))
    if ties.largest <= _TIED * n and few >= _FEWEST and k * (n - k) <= _MOST_VALUES:
        return RankSum(NORMAL, _normal_tails(ties))
    return _mixture(ties)


def _tails_of(law: Floats) -> Floats:
    """Return upper tails, summed from the far end."""
    return np.minimum(np.append(np.cumsum(law[::-1])[::-1], 0.0), 1.0)


def _tied(ties: Ties) -> Floats:
    """Return the law of 2 U by the program over groups."""
    from ..kernels import rank_sum_law

    table = transition_table(ties)
    shape = ties.k + 1, 2 * ties.k * (ties.n - ties.k) + 1
    state, moved = np.empty(shape), np.empty(shape)
    rank_sum_law(table.sizes, ties.n, ties.k, table.starts, table.weights, state, moved)
    return state[ties.k].copy()


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
    """Return tails of 2 U as a mixture over the true ones above the last group, such as that of zeros.

    The parts are exact where few true or other ones are above, and normal else.
    """
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
