"""The field of weights: metrics of estimated weights against true ones, both cells of scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.cells import is_missing, packed_column
from ...contract.checks import check_choice
from ...contract.context import Context
from ...contract.field import Field, register_field
from ...contract.law import ClosedForm, ClosedFormRule, register_closed_form
from ...contract.metric import Metric, metric
from ...contract.null import Controls, Matching, Null, register_null
from ...contract.options import with_example
from ...contract.pairs import Batch, StoredPairs
from ...statistics.arrays import ratio
from ..structure.nulls.additive import pair_sums, relabelling_moments
from .cells import KINDS, ScoreBatch, coerce_scores, is_score_column, score_column, unpack_column
from .field import aligned
from .nulls import moved_controls
from .series import SeriesScoreAccessor

__all__ = ["WEIGHTS", "mean_squared_weight_error", "relative_frobenius", "sign_accuracy", "weight_cosine"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WeightPairs(StoredPairs):
    """Aligned pairs of true and estimated weights over as many nodes."""

    kinds_of_sides = (KINDS, KINDS)
    truth: ScoreBatch
    estimate: ScoreBatch

    def describe(self, position: int) -> str:
        """Name the kinds of both cells at `position`."""
        words = [KINDS[side.kinds[at[position]]] for side, at in self.sides]
        return f"the truth holds {words[0]} and the estimate {words[1]}"

    @property
    def n_nodes(self) -> int:
        """Number of nodes of every cell."""
        return self.truth.n_nodes

    @property
    def sides(self) -> tuple[tuple[ScoreBatch, NDArray[np.int64]], ...]:
        """The stored cells of truth and estimate, each with their positions."""
        return (self.truth, self.truth_index), (self.estimate, self.estimate_index)

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which ordered pairs of different nodes have a true and an estimated weight, (n, d d)."""
        lacking = [np.isnan(side.values[at]) | np.eye(self.n_nodes, dtype=bool) for side, at in self.sides]
        return ~np.logical_or(*lacking).reshape(self.n, -1)

    @property
    def weights(self) -> tuple[Floats, Floats]:
        """True and estimated weights of ordered pairs of nodes, (n, d d) each; 0 where either is not scored."""
        known = self.known
        true, estimated = (side.values[at].reshape(self.n, -1) for side, at in self.sides)
        return np.where(known, true, 0.0), np.where(known, estimated, 0.0)


def batches(truth: pd.Series, estimate: pd.Series, context: Context | None = None) -> Iterator[Batch]:
    """Align two columns of scores by node names."""
    true, estimated = (unpack_column(cells) for cells in (truth, estimate))
    yield from aligned(true, estimated, estimate.index, WeightPairs)


def pair(truth: Any, estimate: Any) -> WeightPairs:
    """Align two score cells."""
    if is_missing(truth) or is_missing(estimate):
        raise TypeError("a metric of weights needs a truth and an estimate, found a missing cell")
    columns = (score_column([x], kind=None if isinstance(x, bytes) else "weight") for x in (truth, estimate))
    true, estimated = (packed_column([column[0]]) for column in columns)
    aligned: list[Any] = [batch.pairs for batch in batches(true, estimated)]
    return aligned[0]


def support(cells: pd.Series) -> pd.Series:
    """Return the graphs of weights other than 0."""
    return SeriesScoreAccessor(cells).threshold(0.0, magnitude=True)


register_closed_form(
    ClosedFormRule(
        "products",
        "edge_weights",
        "The mean squared error or the cosine: affine in the sum of the products of true and estimated weights, whose "
        "mean and variance are exact under relabelling.",
    )
)
WEIGHTS = register_field(
    Field(
        name="edge_weights",
        default_metrics=("relative_frobenius", "sign_accuracy"),
        default_null="permutation",
        holds=is_score_column,
        coerce=partial(coerce_scores, kind="weight"),
        batches=batches,
        pair=pair,
        views={"scores": lambda cells: cells, "graph": support},
    )
)

_FIELD: dict[str, Any] = {"field": "edge_weights", "kinds": KINDS[:3]}


_EXAMPLE = """>>> import causaleval_pd as ce
>>> matrices = [[[0, 2, 0], [0, 0, -1], [0, 0, 0]], [[0, 1, 0], [0, 0, 0], [0, 0, 0]]]
>>> true, found = ce.score_column(matrices, encoding="row->column", kind="weight")
>>> round(ce.{name}(true, found), 3)
{gives}"""


@metric(
    **_FIELD, direction="minimize", range=(0, np.inf), optimum=0, long_name="relative Frobenius distance of weights"
)
@with_example(_EXAMPLE, gives=0.632)
def relative_frobenius(pairs: WeightPairs) -> Floats:
    """Divide the Frobenius norm of the weights' differences by that of the true weights; NaN where these are all 0.

    The diagonal and pairs without weight do not count.
    """
    true, estimated = pairs.weights
    return np.sqrt(ratio(((estimated - true) ** 2).sum(axis=1), (true**2).sum(axis=1)))


@metric(
    **_FIELD,
    direction="minimize",
    range=(0, np.inf),
    optimum=0,
    long_name="mean squared error of weights",
    closed_form="products",
)
@with_example(_EXAMPLE, gives=0.333)
def mean_squared_weight_error(pairs: WeightPairs) -> Floats:
    """Return the mean squared difference of weights over ordered pairs of different nodes.

    Pairs without a weight in either do not count; without any others it is undefined.
    """
    true, estimated = pairs.weights
    return ratio(((estimated - true) ** 2).sum(axis=1), pairs.known.sum(axis=1))


@metric(**_FIELD, direction="maximize", range=(0, 1), optimum=1, long_name="share of right signs")
@with_example(_EXAMPLE, gives=0.5)
def sign_accuracy(pairs: WeightPairs, *, zero: str = "wrong") -> Floats:
    """Return the share of true weights other than 0 whose sign the estimate has; NaN without any.

    Parameters
    ----------
    zero : {"wrong", "drop"}
        What an estimate of 0 is: a wrong sign, or left out.
    """
    check_choice(zero, ("wrong", "drop"), "zero")
    true, estimated = pairs.weights
    counted = (true != 0) & ((estimated != 0) | (zero == "wrong"))
    right = counted & (np.sign(true) == np.sign(estimated))
    return ratio(right.sum(axis=1).astype(np.float64), counted.sum(axis=1).astype(np.float64))


@metric(
    **_FIELD,
    direction="maximize",
    range=(-1, 1),
    optimum=1,
    long_name="cosine similarity of weights",
    closed_form="products",
)
@with_example(_EXAMPLE, gives=0.894)
def weight_cosine(pairs: WeightPairs) -> Floats:
    """Return the cosine of the angle between true and estimated weights; NaN where either are all 0."""
    true, estimated = pairs.weights
    norms = np.sqrt((true**2).sum(axis=1) * (estimated**2).sum(axis=1))
    return ratio((true * estimated).sum(axis=1), norms)


def _moments(metric: Metric, pairs: WeightPairs) -> ClosedForm | None:
    """Return mean and variance of metrics that are affine in the sum of products of weights."""
    if metric.closed_form != "products":
        return None
    d, n = pairs.n_nodes, pairs.n
    off = ~np.eye(d, dtype=bool)
    sides = [side.values[at] for side, at in pairs.sides]
    # weights that are lacking move with the names, so that the squares of the others vary
    whole = ~np.logical_or.reduce([(np.isnan(x) & off).any(axis=(1, 2)) for x in sides])
    true, estimated = (pair_sums(np.nan_to_num(x)[:, None]) for x in sides)
    mean, variance = relabelling_moments(true, estimated, [[1.0]], d)
    squares = [np.where(off, x**2, 0.0).sum(axis=(1, 2)) for x in sides]
    if metric.function is mean_squared_weight_error.function:
        slots = max(1, d * (d - 1))
        start, slope = (squares[0] + squares[1]) / slots, np.full(n, -2.0 / slots)
        whole &= d > 1
    else:
        norms = np.sqrt(squares[0] * squares[1])
        start, slope = np.zeros(n), ratio(np.ones(n), norms)
    mean, variance = start + slope * mean, slope**2 * variance
    return ClosedForm(np.where(whole, mean, np.nan), np.where(whole, variance, np.nan))


def relabelled_weights(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Relabel the nodes of every estimate: its weights and their pattern stay."""
    return moved_controls(pairs, "relabelled", keys, known=lambda metric: _moments(metric, pairs))


register_null(
    "edge_weights",
    Null(
        "permutation",
        "the estimate's weights with its nodes relabelled at random",
        relabelled_weights,
        label_invariant=True,
        joint=True,
    ),
)
