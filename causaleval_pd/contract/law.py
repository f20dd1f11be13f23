"""Laws of a metric under a null model, whole distributions or moments, without drawing.

A closed-form rule states what must hold for a metric so that null models compute them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..statistics.arrays import padded_sum
from ..statistics.direction import as_good, better
from .registry import Registry

#: `value(stand_in)`: the metric's function, its options bound, on chosen counts in place of pairs
Value = Callable[[Any], NDArray[Any]]


@dataclass(frozen=True)
class ClosedFormRule:
    """A named property of metrics that null models of a field use to avoid simulation.

    Attributes
    ----------
    name : str
        What a metric names by `closed_form=`.
    field : str
        Field whose metrics may name it.
    explanation : str
        What must hold for the metric, and what null models then compute.
    probe : callable or None
        `probe(value)` evaluates the metric's function on a few chosen inputs and returns what contradicts the rule, or
        None. It runs when a metric is registered.
    methods : tuple of str
        Words for how p-values of laws that are not stored are found, where `ClosedForm.tails` returns them.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.ClosedFormRule("symmetric", "graph", "Its null mean is 0 by symmetry.").probe is None
    True
    """

    name: str
    field: str
    explanation: str
    probe: Callable[[Value], str | None] | None = None
    methods: tuple[str, ...] = ()


CLOSED_FORMS: Registry[ClosedFormRule] = Registry("closed form", "causaleval_pd.closed_forms")


def register_closed_form(rule: ClosedFormRule) -> ClosedFormRule:
    """Register a closed-form rule and return it, so that metrics may name it.

    Parameters
    ----------
    rule : ClosedFormRule
        The rule; null models look its name up in `Metric.closed_form`.

    Raises
    ------
    ValueError
        If other code has taken the name; code that runs again replaces what it registered.

    Examples
    --------
    >>> from causaleval_pd.contract.law import CLOSED_FORMS, ClosedFormRule, register_closed_form
    >>> rule = register_closed_form(ClosedFormRule("mean_only", "graph", "The null mean is known by symmetry."))
    >>> del CLOSED_FORMS[rule.name]
    """
    return CLOSED_FORMS.add(rule.name, rule)


def list_closed_forms() -> pd.DataFrame:
    """Return the closed-form rules that metrics may name, one per row.

    Returns
    -------
    DataFrame
        Indexed by name: field, explanation.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.list_closed_forms().loc["hypergeometric", "field"]
    'graph'
    """
    return CLOSED_FORMS.table("field", "explanation")


#: rows x support points handled at once when tail probabilities are summed
TAIL_BLOCK = 4_000_000


@dataclass(frozen=True)
class Distribution:
    """Exact null distributions of a metric, one per row, stored once per distinct parameter set."""

    #: (n,): which stored distribution belongs to a row
    index: NDArray[np.int64]
    #: (u, s): support points in ascending order
    values: NDArray[np.float64]
    #: (u, s): probabilities of defined values, padded by 0; rows sum to 1, to 0 where never defined
    weights: NDArray[np.float64]
    #: (u,): probability that the metric is undefined
    undefined: NDArray[np.float64]

    @classmethod
    def of(cls, index: NDArray[np.int64], values: NDArray[np.float64], weights: NDArray[np.float64]) -> Distribution:
        """Sort the support of each row and set aside the undefined values."""
        defined = ~np.isnan(values) & (weights > 0)
        undefined = padded_sum(np.where(np.isnan(values), weights, 0.0))
        values = np.where(defined, values, np.inf)
        weights = np.where(defined, weights, 0.0)
        total = padded_sum(weights)[:, None]
        weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
        order = np.argsort(values, axis=1, kind="stable")
        values = np.take_along_axis(values, order, axis=1)
        weights = np.take_along_axis(weights, order, axis=1)
        # pad by the largest defined value, so that no infinity enters a product
        last = np.maximum((weights > 0).sum(axis=1) - 1, 0)
        top = values[np.arange(len(values)), last]
        values = np.where(np.isinf(values) & (weights == 0), top[:, None], values)
        values[total[:, 0] == 0] = np.nan
        return cls(index, values, weights, undefined)

    @classmethod
    def pooled(
        cls, index: NDArray[np.int64], samples: Iterable[tuple[NDArray[np.float64], NDArray[np.float64]]]
    ) -> Distribution:
        """Store laws given one by one as (values, weights), equal values pooled."""
        laws = []
        for values, weights in samples:
            distinct, inverse = np.unique(values, return_inverse=True)
            laws.append((distinct, np.bincount(inverse, weights, len(distinct))))
        width = max((len(values) for values, _ in laws), default=1)
        table = np.zeros((2, len(laws), width))
        for row, law in enumerate(laws):
            table[:, row, : len(law[0])] = law
        return cls.of(index, table[0], table[1])

    def expectation(self, function: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the mean of `function` of the metric by row: NaN where never defined, infinite where it can be."""
        with np.errstate(invalid="ignore"):  # infinities of both signs, deviations from an infinite mean
            values = function(self.values)
            total = padded_sum(np.multiply(values, self.weights, out=np.zeros_like(values), where=self.weights > 0))
        defined = (self.weights > 0).any(axis=1)
        return np.asarray(np.where(defined, total, np.nan)[self.index])

    def moments(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return mean and variance by row; an infinite mean has no variance (NaN)."""
        mean = self.expectation(lambda x: x)
        with np.errstate(invalid="ignore"):  # infinity less infinity
            return mean, np.maximum(self.expectation(np.square) - mean**2, 0.0)

    def quantile(self, q: float) -> NDArray[np.float64]:
        """Return inf{x : P(metric <= x) >= q}, one value per row (NaN where never defined)."""
        cumulative = np.cumsum(self.weights, axis=1)
        # 1e-12 absorbs the rounding of the sum: a cumulative probability that is q mathematically must count
        reached = (cumulative >= q - 1e-12) & (self.weights > 0)
        first = np.argmax(reached, axis=1)
        return np.asarray(self.values[np.arange(len(self.values)), first][self.index])

    def probability(
        self, observed: NDArray[np.float64], *, direction: str | None, optimum: float, strict: bool = False
    ) -> NDArray[np.float64]:
        """Return P(control as good as, or with `strict` better than, the observed value); NaN where undefined."""
        compare = better if strict else as_good
        result = np.full(len(observed), np.nan)
        step = max(1, TAIL_BLOCK // max(1, self.values.shape[1]))
        for start in range(0, len(observed), step):
            rows = slice(start, start + step)
            chosen = self.index[rows]
            hit = compare(self.values[chosen], observed[rows, None], direction=direction, optimum=optimum)
            result[rows] = padded_sum(self.weights[chosen] * hit)
        result[np.isnan(observed) | (self.undefined[self.index] >= 1)] = np.nan
        return np.minimum(result, 1.0)


class Tails(NamedTuple):
    """Tails of laws that are not stored, at the observed values, (n,) each; NaN where they are not known."""

    #: probability of a control as good as the observed value
    p: NDArray[np.float64]
    #: that of a better one
    strict: NDArray[np.float64]
    #: limits of the law
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    #: int8: 0 exact, from 1 on the number of a word among the `methods` of the closed-form rule, -1 without p
    method: NDArray[np.int8]

    @classmethod
    def unknown(cls, n: int) -> Tails:
        """Return the tails of n rows of which nothing is known."""
        p, strict, low, high = np.full((4, n), np.nan)
        return cls(p, strict, low, high, np.full(n, -1, np.int8))


@dataclass(frozen=True)
class ClosedForm:
    """What is known without drawing: means, perhaps variances, perhaps the whole distribution."""

    #: (n,): null mean of the metric
    mean: NDArray[np.float64]
    #: (n,): null variance, NaN where no form is known
    variance: NDArray[np.float64] | None = None
    #: the exact distribution, where there is one
    distribution: Distribution | None = None
    #: (n,): rows that have the distribution, where not all have
    listed: NDArray[np.bool_] | None = None
    #: `tails(observed, level)` returns the `Tails` of rows without a stored distribution
    tails: Callable[[NDArray[np.float64], float], Tails] | None = None
    #: (n,): rows whose p-values `tails` returns; these need no draws
    tailed: NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, law: Distribution) -> ClosedForm:
        """Return a law with its mean and variance."""
        return cls(*law.moments(), law)

    @property
    def drawn(self) -> bool:
        """Whether some row has neither a distribution nor tails, so that its p-value must be simulated."""
        if self.distribution is not None and self.listed is None:
            return False
        known = np.zeros(len(self.mean), np.bool_)
        for rows in (None if self.distribution is None else self.listed, self.tailed):
            known |= False if rows is None else rows
        return not known.all()

    def spread(self, rows: NDArray[np.bool_]) -> ClosedForm:
        """Return the form of more rows, of which `rows` are those of this one and nothing is known of the others."""
        if rows.all():
            return self

        def among(values: NDArray[np.float64]) -> NDArray[np.float64]:
            filled = np.full(len(rows), np.nan)
            filled[rows] = values
            return filled

        law = self.distribution
        if law is not None:
            index = np.zeros(len(rows), np.int64)
            index[rows] = law.index
            law = replace(law, index=index)
        variance = None if self.variance is None else among(self.variance)
        return ClosedForm(among(self.mean), variance, law, rows)
