"""What shared edges add to a metric that is affine in their numbers by type: the metric is evaluated on counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....contract.metric import Metric
from ....graphs.edge_types import ONE_WAY, TYPES, EdgeTypes, reversed_type
from ....graphs.kernels.planes import ARROW, TAIL
from ....graphs.kernels.planes import marks_from_planes as plain_marks
from ....graphs.mixed.marks import count_bits, is_mixed, where
from ....graphs.mixed.marks import marks_from_planes as mixed_marks
from ....graphs.pairs import GraphBatch, GraphPairs

Floats = NDArray[np.float64]


class Counts(NamedTuple):
    """Stands in for `GraphPairs` where a metric is a function of counts alone, of CPDAGs where it compares these."""

    counts: EdgeTypes
    is_mixed: bool = False

    @property
    def edge_types(self) -> EdgeTypes:
        """The same counts."""
        return self.counts

    @property
    def cpdags(self) -> Counts:
        """The same."""
        return self

    def value(self, metric: Metric) -> Floats:
        """Return the metric's values."""
        return np.asarray(metric.function(self, **metric.options), np.float64)


def affine_units(at: Callable[..., Floats], n: int) -> tuple[Floats, list[Floats]]:
    """Return the value of `at` where all n counts are 0, and what one unit of each count adds."""
    none = at(*[0.0] * n)
    return none, [at(*unit) - none for unit in np.eye(n).tolist()]


def misfits(
    at: Callable[..., Floats], none: Floats, units: list[Floats]
) -> list[tuple[list[float], Floats, Floats, NDArray[np.bool_]]]:
    """Evaluate `at` at some counts; return these, the value, the sum of units, and where the two differ."""
    n, evaluations = len(units), []
    several = ([float(1 + i * step % 7) for i in range(n)] for step in (2, 5))
    for counts in ([2.0 * (i == 0) for i in range(n)], *several):
        value, total = at(*counts), none + sum(k * unit for k, unit in zip(counts, units, strict=True))
        evaluations.append((counts, value, total, ~np.isclose(value, total, rtol=1e-9, atol=1e-9, equal_nan=True)))
    return evaluations


def affine(at: Callable[..., Floats], n: int) -> tuple[Floats, list[Floats]] | None:
    """Return the units of `at`, or None if it is not affine in its n counts."""
    none, units = affine_units(at, n)
    return None if any(wrong.any() for *_, wrong in misfits(at, none, units)) else (none, units)


class Additive(NamedTuple):
    """How a metric adds up: the channels of either side, a constant (n,) and costs (n, K, L) of two channels."""

    truth: Callable[[GraphBatch], NDArray[Any]]
    estimate: Callable[[GraphBatch], NDArray[Any]]
    constant: Floats
    costs: Floats


class EdgeWeights(NamedTuple):
    """What shared edges add to a metric at its pairs' margins, one value per pair."""

    #: the metric without shared edges
    constant: Floats
    #: by the types of the true and of the estimated edge, what a shared edge adds
    units: Mapping[tuple[int, int], Floats]

    def of(self, true: int, estimated: int) -> Any:
        """Return what a shared edge of two types adds, 0 where no graph has these."""
        return self.units.get((true, estimated), 0.0)


def count_types(graphs: GraphBatch) -> dict[int, Floats]:
    """Count the edges of each graph by type, either way round."""
    numbers = {t: count_bits(where(graphs.lifted, t % 4, t // 4)).astype(np.float64) for t in graphs.types}
    either = {s: [numbers[t] for t in {s, reversed_type(s)} & numbers.keys()] for s in ONE_WAY}
    return {s: np.sum(parts, axis=0) for s, parts in either.items() if parts}


def margins(pairs: GraphPairs) -> tuple[dict[int, Floats], dict[int, Floats]]:
    """Return the numbers of edges by type of the truth and the estimate of each pair."""
    sides = (pairs.truth, pairs.truth_index), (pairs.estimate, pairs.estimate_index)
    true, estimated = ({s: k[index] for s, k in count_types(graphs).items()} for graphs, index in sides)
    return true, estimated


def edge_weights(
    metric: Metric, n_nodes: int, true: Mapping[int, Any], estimated: Mapping[int, Any], *, is_mixed: bool = False
) -> EdgeWeights | None:
    """Return the weights of a metric that is affine in the numbers of shared edges by both types, else None.

    `true` and `estimated` map types of `ONE_WAY` to the (n,) numbers of such edges, either way round.
    """
    cells = [(s, t) for s in true for t in TYPES if t in estimated or reversed_type(t) in estimated]

    def at(*shared: float) -> Floats:
        counts = EdgeTypes.of_margins(n_nodes, true, estimated, dict(zip(cells, shared, strict=True)))
        return Counts(counts, is_mixed).value(metric)

    coefficients = affine(at, len(cells))
    return (
        None if coefficients is None else EdgeWeights(coefficients[0], dict(zip(cells, coefficients[1], strict=True)))
    )


def mark_matrices(graphs: GraphBatch) -> NDArray[np.uint8]:
    """Return (N, d, d) matrices with the code of the mark at j of the edge i - j in cell (i, j)."""
    if is_mixed(graphs.planes):
        return mixed_marks(graphs.planes, graphs.n_nodes)
    arcs = plain_marks(graphs.planes, graphs.n_nodes)
    back = arcs.transpose(0, 2, 1)
    return np.where(back, TAIL, ARROW * arcs).astype(np.uint8)
