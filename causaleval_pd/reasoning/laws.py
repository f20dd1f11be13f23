"""Laws of yes-counts under null models: a constant, a binomial or a hypergeometric count, mapped to a quantity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from .counts import QUANTITIES, Floats, Integers, Terms, divide, estimates

NULLS = ("permute_answers", "random_answers", "biased_answers", "exchange_arms", "majority_answers")
FIXED = ("always_yes", "always_no")

#: support points beyond this many standard deviations (and some) from the mean have no weight in double precision
_WIDTH = 10.0
_MARGIN = 40.0


@dataclass(frozen=True, eq=False)
class Law:
    """base + step * count for each quantity, the count being random; arrays of one shape.

    A count is hypergeometric (`drawn` without replacement from `total`, of which `marked` count) where `p` is NaN, else
    binomial (`drawn` times with probability `p`). A constant has `drawn` 0.
    """

    base: Floats
    step: Floats
    total: Floats
    marked: Floats
    drawn: Floats
    p: Floats

    def take(self, positions: NDArray[Any]) -> Law:
        """Return the laws at positions of the first axis."""
        return Law(*(getattr(self, name)[positions] for name in _FIELDS))

    def support(self) -> tuple[Integers, Floats]:
        """Return counts (..., s) and their cumulative probabilities, both from the lowest count that has weight."""
        binomial = ~np.isnan(self.p)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(binomial, self.p, np.where(self.total > 0, self.marked / np.maximum(self.total, 1), 0.0))
            finite = np.where(binomial, 1.0, (self.total - self.drawn) / np.maximum(self.total - 1, 1))
        mean = self.drawn * share
        reach = _WIDTH * np.sqrt(np.maximum(mean * (1 - share) * finite, 0.0)) + _MARGIN
        least = np.where(binomial, 0.0, np.maximum(0.0, self.drawn + self.marked - self.total))
        most = np.where(binomial, self.drawn, np.minimum(self.drawn, self.marked))
        low = np.maximum(least, np.floor(mean - reach))
        high = np.minimum(most, np.ceil(mean + reach))
        counts = low[..., None] + np.arange(int((high - low).max(initial=0)) + 1)
        inside = counts <= high[..., None]
        weights = np.where(inside, np.exp(self._log_weights(np.where(inside, counts, low[..., None]))), 0.0)
        # sums from left to right do not depend on how far the support of other rows reaches
        cumulative = np.cumsum(weights, axis=-1)
        return np.where(inside, counts, high[..., None]).astype(np.int64), cumulative / cumulative[..., -1:]

    def _log_weights(self, counts: Floats) -> Floats:
        total, marked, drawn, p = (x[..., None] for x in (self.total, self.marked, self.drawn, self.p))
        with np.errstate(divide="ignore", invalid="ignore"):
            binomial = _log_choose(drawn, counts)
            binomial += np.where(counts > 0, counts * np.log(p), 0.0)
            binomial += np.where(drawn > counts, (drawn - counts) * np.log1p(-p), 0.0)
            without = _log_choose(marked, counts) + _log_choose(total - marked, drawn - counts)
            without -= _log_choose(total, drawn)
        return np.where(np.isnan(p), without, binomial)

    def values(self, counts: NDArray[Any]) -> Floats:
        """Return the quantity at counts of one more axis."""
        return self.base[..., None] + self.step[..., None] * counts

    def draw(self, uniform: Floats) -> Floats:
        """Return the quantity at uniform numbers (n, draws); the laws have shape (n,)."""
        counts, cumulative = self.support()
        drawn = np.empty(uniform.shape, np.int64)
        for row in range(len(uniform)):
            at = np.searchsorted(cumulative[row], uniform[row], side="right")
            drawn[row] = counts[row, np.minimum(at, counts.shape[1] - 1)]
        return self.values(drawn)


_FIELDS = ("base", "step", "total", "marked", "drawn", "p")


def _log_choose(n: Floats, k: Floats) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def constant(values: Floats) -> Law:
    """Return laws that are always `values`."""
    nothing = np.zeros(values.shape)
    return Law(values, nothing, nothing, nothing, nothing, np.full(values.shape, np.nan))


def quantity_laws(null: str, terms: Terms) -> tuple[Law, ...]:
    """Return the laws whose sum is each quantity under a null model; two where both arms are random.

    Parameters
    ----------
    null : str
        One of `NULLS` and `FIXED`.
    terms : Terms
        Observed counts.

    Returns
    -------
    tuple of Law
        Independent summands.
    """
    names = np.asarray(QUANTITIES, object)
    is_of = {name: terms.quantity == i for i, name in enumerate(names)}
    paired = terms.both >= 0
    first = is_of["p_do1"] | is_of["p_given1"]
    second = is_of["p_do0"] | is_of["p_given0"]
    pns, violation = is_of["pns"] & paired, is_of["monotonicity_violation"] & paired
    difference = is_of["ate"] | (is_of["pns"] & ~paired)
    if null in FIXED or null == "majority_answers":
        return (constant(_fixed_values(null, terms, first, second, pns, violation, difference)),)
    n1, n0 = terms.n1.astype(np.float64), terms.n0.astype(np.float64)
    yes1, yes0 = terms.yes1.astype(np.float64), terms.yes0.astype(np.float64)
    per1, per0 = divide(np.ones(n1.shape), n1), divide(np.ones(n0.shape), n0)
    nothing, unset = np.zeros(n1.shape), np.full(n1.shape, np.nan)
    if null in ("random_answers", "biased_answers"):
        q = np.full(n1.shape, 0.5) if null == "random_answers" else divide(yes1 + yes0, n1 + n0)
        one = pns | violation
        step = np.select([second], [per0], per1)
        main = Law(
            np.where(np.isnan(step), np.nan, 0.0), step, nothing, nothing, np.where(second, n0, n1),
            np.nan_to_num(np.where(one, q * (1 - q), q)),
        )  # fmt: skip
        other = Law(nothing, np.where(difference, -per0, 0.0), nothing, nothing, np.where(difference, n0, 0.0), q)
        return main, other
    if null == "permute_answers":
        keep = is_of["p_do1"] | is_of["p_do0"] | difference
        total, drawn = n1 + n0, np.select([pns, violation, second], [n1 - yes0, n1 - yes1, n0], n1)
        marked = np.select([pns, violation], [yes1, yes0], yes1 + yes0)
        total = np.where(pns | violation, n1, total)
        step = np.where(second, per0, per1)
        fixed = estimates(terms)
        return (
            Law(
                np.where(keep, fixed, np.where(np.isnan(step), np.nan, 0.0)), np.where(keep, 0.0, np.nan_to_num(step)),
                np.where(keep, 0.0, total), np.where(keep, 0.0, marked), np.where(keep, 0.0, drawn), unset,
            ),
        )  # fmt: skip
    # exchange_arms: each sample's two answers change places at random; unpaired answers are dealt out anew
    apart = yes1 + yes0 - 2 * np.where(paired, terms.both, 0)
    step = np.select([second, difference], [per0, per1 + per0], per1)
    base = np.where(difference, -(yes1 + yes0) * per0, np.where(np.isnan(step), np.nan, 0.0))
    one = pns | violation
    return (
        Law(
            base, np.nan_to_num(step), np.where(one, 0.0, n1 + n0), np.where(one, 0.0, yes1 + yes0),
            np.select([one, second], [apart, n0], n1), np.where(one, 0.5, np.nan),
        ),
    )  # fmt: skip


def _fixed_values(
    null: str,
    terms: Terms,
    first: NDArray[np.bool_],
    second: NDArray[np.bool_],
    pns: NDArray[np.bool_],
    violation: NDArray[np.bool_],
    difference: NDArray[np.bool_],
) -> Floats:
    """Return each quantity if every answer of an arm is the same; a tie has the majority no."""
    if null in FIXED:
        one = zero = np.full(terms.n1.shape, null == "always_yes")
    else:
        one, zero = 2 * terms.yes1 > terms.n1, 2 * terms.yes0 > terms.n0
    values = [one, zero, one & ~zero, zero & ~one, one.astype(int) - zero.astype(int)]
    return np.select([first, second, pns, violation, difference], [np.asarray(v, np.float64) for v in values], np.nan)
