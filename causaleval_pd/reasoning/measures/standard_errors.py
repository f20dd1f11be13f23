"""Standard errors of quantities: clustered by sample, replicates nested, with covariances between pairs of nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import scipy

from .answer_arms import Arms, Estimator
from .yes_counts import Floats, Integers, divide

#: pseudo-observations, half of them yes, that keep the standard error of a share of 0 or 1 positive (Agresti, Coull)
_PSEUDO = 4.0


def unit_values(arms: Arms, quantity: str, estimator: Estimator, bits: Floats) -> tuple[Floats, Floats]:
    """Return a quantity of each group, and the influence of each unit on it (summing to 0 by group)."""
    one, zero = bits[:, 0], bits[:, 1]
    if quantity in ("pns", "monotonicity_violation") and not (quantity == "pns" and estimator == "difference"):
        yes, no = (one, zero) if quantity == "pns" else (zero, one)
        return _mean(arms, np.where(np.isnan(one) | np.isnan(zero), np.nan, yes * (1 - no)))
    if quantity in ("p_do1", "p_given1"):
        return _mean(arms, one)
    if quantity in ("p_do0", "p_given0"):
        return _mean(arms, zero)
    (mean1, move1), (mean0, move0) = _mean(arms, one), _mean(arms, zero)
    return mean1 - mean0, move1 - move0


def _mean(arms: Arms, values: Floats) -> tuple[Floats, Floats]:
    known = ~np.isnan(values)
    n = arms.total(known)
    mean = divide(arms.total(np.where(known, values, 0.0)), n)
    moved = divide(np.where(known, values - mean[arms.group], 0.0), n[arms.group])
    return mean, np.where(known, moved, 0.0)


@dataclass(frozen=True, eq=False)
class StandardErrors:
    """Estimates of one quantity in every group, with their standard errors."""

    #: the answers
    arms: Arms
    #: quantity, estimator: what is estimated
    quantity: str
    estimator: Estimator
    #: {"exact", "sample"}: whether it is compared with a constant, or with the truth in the same samples, which shares
    #: their error
    against: Literal["exact", "sample"]

    @cached_property
    def estimate(self) -> Floats:
        """The quantity computed from the reasoner's answers."""
        return unit_values(self.arms, self.quantity, self.estimator, self.arms.answer)[0]

    @cached_property
    def alone(self) -> StandardErrors:
        """The same estimates compared with a constant."""
        return self if self.against == "exact" else replace(self, against="exact")

    @cached_property
    def moves(self) -> scipy.sparse.csc_array:
        """Influence of each sample (row) on each group's estimate, or on its distance from the same-sample truth."""
        arms = self.arms
        moved = unit_values(arms, self.quantity, self.estimator, arms.answer)[1]
        if self.against == "sample":
            true = arms.of_truth()
            moved = moved - unit_values(true, self.quantity, self.estimator, true.answer)[1]
        shape = (int(arms.sample.max(initial=-1)) + 1, len(arms.groups))
        return scipy.sparse.csc_array(scipy.sparse.coo_array((moved, (arms.sample, arms.group)), shape=shape))

    def covariance(self, groups: Integers) -> Floats:
        """Return the covariance matrix of the estimates of groups that share their samples."""
        moves = self.moves[:, groups]
        plain = np.asarray((moves.T @ moves).toarray())
        own, smooth = np.diag(plain), self.variance[groups]
        if self.against == "sample":
            return plain + np.diag(smooth - own)
        scale = np.sqrt(np.divide(smooth, own, out=np.ones(len(own)), where=own > 0))
        return np.where(np.eye(len(own), dtype=bool), smooth, plain * np.outer(scale, scale))

    @cached_property
    def plain_variance(self) -> Floats:
        """Cluster-robust variance of each group's estimate."""
        return np.asarray(self.moves.multiply(self.moves).sum(axis=0)).ravel()

    @cached_property
    def n_effective(self) -> Floats:
        """Number of independent answers of the same precision, for estimates that are proportions."""
        p, n = self.estimate, self.n_known
        inside = (p > 0) & (p < 1)
        found = np.divide(p * (1 - p), self.alone.plain_variance, out=self.arms.n_samples.copy(), where=inside)
        return np.where(n > 0, np.clip(found, np.minimum(1, n), n), np.nan)

    @cached_property
    def n_known(self) -> Floats:
        """Number of units in the estimate, by group."""
        known = ~np.isnan(self.arms.answer)
        one, zero = (self.arms.total(known[:, i]) for i in (0, 1))
        if self.quantity in ("p_do1", "p_given1"):
            return one
        if self.quantity in ("p_do0", "p_given0"):
            return zero
        if self.quantity == "ate" or self.estimator == "difference":
            return np.minimum(one, zero)
        return self.arms.total(np.asarray(known.all(axis=1)))

    @cached_property
    def variance(self) -> Floats:
        """Variance of each group's estimate, smoothed so that it is positive where all answers agree."""
        if self.quantity == "ate" or self.estimator == "difference":
            n = np.where(self.n_known > 0, np.minimum(self.n_known, self.arms.n_samples), np.nan)
            return self.plain_variance + 2 / n**2
        n = np.where(self.n_effective > 0, self.n_effective, np.nan)
        if self.against == "sample":
            # a pseudo-disagreement in each direction
            return self.plain_variance + 2 / n**2
        p = (self.estimate * n + _PSEUDO / 2) / (n + _PSEUDO)
        return p * (1 - p) / n


def product_gradient(factors: Floats, smooth: Floats) -> Floats:
    """Return the derivatives of a product by its factors at smoothed values, so that two zeros keep a variance."""
    return np.array([np.prod(np.where(np.arange(len(factors)) == j, 1.0, smooth)) for j in range(len(factors))])
