"""Standard errors of quantities, clustered by sample, and compositions: products of PNS beside the PNS of the whole."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy

from ..tasks.worlds_by_task import composition_paths
from .answer_arms import Arms, Estimator, count_terms, missing_bounds
from .yes_counts import Floats, Integers, divide, equation_text, estimates, product_text

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


def composition_rows(
    pns: StandardErrors,
    settings: list[str],
    chains: Mapping[Any, tuple[str, ...]],
    exact: pd.DataFrame | None,
    n: int | None,
) -> pd.DataFrame:
    """Return two rows a composition: against the world, and against the reasoner's own global PNS."""
    groups = pns.arms.groups
    factors = _PairPNS.of(pns, exact)
    rows: list[dict[str, Any]] = []
    names = [*settings, "task"]
    for key, indices in groups.groupby(names, sort=False, dropna=False).indices.items():
        labels = dict(zip(names, key if isinstance(key, tuple) else (key,), strict=True))
        task = labels["task"]
        if task not in chains:
            continue
        members: Integers = np.asarray(indices, np.int64)
        pairs = zip(groups["cause"].iloc[members], groups["effect"].iloc[members], strict=True)
        position = {pair: i for i, pair in enumerate(pairs)}
        chain = chains[task]
        covariances = _covariances(pns, members)
        for path in composition_paths(chain, n, task):
            local = [_place(pair, position, task) for pair in pairwise(path)]
            whole = _place((chain[0], chain[-1]), position, task)
            common = labels | {"cause": chain[0], "effect": chain[-1], "path": " > ".join(path)}
            rows += [common | row for row in factors.rows(members, local, whole, covariances)]
    table = pd.DataFrame(rows)
    return table.assign(quantity="pns", kind="composition") if len(table) else table


@dataclass(frozen=True, eq=False)
class _PairPNS:
    """What compositions need of the PNS of every pair; arrays by pair."""

    error: StandardErrors
    #: the same of the true answers
    true: StandardErrors
    counts: list[str]
    exact: Floats
    sample_truth: Floats
    smooth: Floats
    smooth_truth: Floats
    n_failed: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, pns: StandardErrors, exact: pd.DataFrame | None) -> _PairPNS:
        """Compute the values of all pairs."""
        arms = pns.arms
        missing = arms.asked & np.isnan(arms.answer)
        true = replace(pns, arms=arms.of_truth(), against="exact")
        return cls(
            pns,
            true,
            count_terms(arms, "pns", pns.estimator).texts(),
            np.full(len(arms.groups), np.nan) if exact is None else exact["pns"].to_numpy(np.float64),
            estimates(count_terms(true.arms, "pns", pns.estimator)),
            _smooth(pns),
            _smooth(true),
            arms.total(missing[:, 0]) + arms.total(missing[:, 1]),
            *missing_bounds(arms, "pns", pns.estimator),
        )

    def rows(
        self, members: Integers, local: list[int], whole: int, covariances: tuple[Floats, Floats]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return one composition against the world, and against the whole."""
        pns, factors, top = self.error, members[local], members[whole]
        gradient = np.zeros(len(members))
        gradient[local] = product_gradient(pns.estimate[factors], self.smooth[factors])
        text = product_text(self.counts[i] for i in factors)
        n_failed = int(self.n_failed[factors].sum())
        common = {
            "estimate": float(np.prod(pns.estimate[factors])),
            "n": int(pns.n_known[factors].min()),
            "n_samples": int(pns.arms.n_samples[factors].min()),
            "missing_low": float(np.prod(self.low[factors].clip(min=0.0))),
            "missing_high": float(np.prod(self.high[factors])),
            "truth_product": float(np.prod(self.sample_truth[factors])),
        }
        of_world = {
            "relation": "external",
            "truth_exact": float(np.prod(self.exact[factors])),
            "truth_sample": common["truth_product"],
            "n_failed": n_failed,
            "counts": text,
            "se": _error(covariances[0], gradient),
        }
        of_world["truth"] = of_world["truth_exact" if pns.against == "exact" else "truth_sample"]
        gradient[whole] -= 1.0
        gap, internal_error = self._unexplained(members, local, whole, gradient, covariances[1])
        of_self = {
            "relation": "internal",
            "truth": float(pns.estimate[top]),
            "truth_exact": float(self.exact[top]),
            "truth_sample": float(self.sample_truth[top]),
            "n_failed": n_failed + int(self.n_failed[top]),
            "counts": equation_text(self.counts[top], text),
            "se": internal_error,
            "sampling_gap": gap,
        }
        return common | of_world, common | of_self

    def _unexplained(
        self, members: Integers, local: list[int], whole: int, gradient: Floats, covariance: Floats
    ) -> tuple[float, float]:
        """Return what samples explain of a product's distance from the whole, and the rest's standard error."""
        # The true answers to the same questions have such a distance too, whose expectation is 0: a control variate.
        if self.error.against == "exact":
            return 0.0, _error(covariance, gradient)
        factors, top = members[local], members[whole]
        slope = np.zeros(len(members))
        slope[local] = product_gradient(self.true.estimate[factors], self.smooth_truth[factors])
        slope[whole] -= 1.0
        own, true = (error.moves[:, members] @ by for error, by in ((self.error.alone, gradient), (self.true, slope)))
        share = float(own @ true) / float(true @ true) if true.any() else 0.0
        rest = own - share * true
        n = self.error.n_effective[members]
        # a pseudo-disagreement in each direction, as for pairs
        variance = float(rest @ rest) + float(
            (gradient**2 * 2 / np.where(n > 0, n, np.nan) ** 2)[[*local, whole]].sum()
        )
        gap = float(np.prod(self.true.estimate[factors])) - float(self.true.estimate[top])
        return share * gap, math.sqrt(variance)


def _smooth(pns: StandardErrors) -> Floats:
    """Return estimates a little away from 0 and 1, where the derivative of a product is taken."""
    return np.asarray((np.clip(pns.estimate, 0, 1) * pns.n_effective + 2) / (pns.n_effective + 4))


def _covariances(pns: StandardErrors, members: Integers) -> tuple[Floats, Floats]:
    """Return the covariances of the estimates' distances from the truth, and of the estimates themselves."""
    covariance = pns.covariance(members)
    return covariance, covariance if pns.against == "exact" else pns.alone.covariance(members)


def _error(covariance: Floats, gradient: Floats) -> float:
    return math.sqrt(max(float(gradient @ covariance @ gradient), 0.0))


def _place(pair: tuple[str, str], position: Mapping[tuple[Any, Any], int], task: Any) -> int:
    if pair not in position:
        raise ValueError(
            f"task {task!r}: the composition needs the pair {pair}, about which no answers are in the table; ask about "
            "all pairs of cut nodes, or leave compositions out by n_compositions=0"
        )
    return position[pair]
