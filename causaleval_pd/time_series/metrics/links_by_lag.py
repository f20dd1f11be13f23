"""Links by lag: the same measures at each lag, so that tables have a column and cubes a coordinate a lag."""

from __future__ import annotations

import math
from typing import Any

from ...contract.confusion import MEASURES, Values
from ...contract.metric import metric
from ..cells.marks import KINDS
from ..closed_forms import LINKS_BY_LAG
from ..pairs import LaggedPairs

__all__ = ["lagwise_f1", "lagwise_fn", "lagwise_fp", "lagwise_precision", "lagwise_recall", "lagwise_tp"]

_SPEC: dict[str, Any] = {
    "field": "lagged",
    "kinds": KINDS,
    "closed_form": LINKS_BY_LAG.name,
    "dims": {"lag": None},
}
_RATIO: dict[str, Any] = {**_SPEC, "direction": "maximize", "range": (0, 1), "optimum": 1}
_MISTAKES: dict[str, Any] = {**_SPEC, "direction": "minimize", "range": (0, math.inf), "optimum": 0}


@metric(
    **_SPEC,
    direction="maximize",
    range=(0, math.inf),
    optimum=math.inf,
    symmetric=True,
    long_name="shared links by lag",
)
def lagwise_tp(pairs: LaggedPairs) -> Values:
    """Count the links between two variables that both graphs have, by lag.

    At lag 0 adjacencies are counted, each once; undefined there where lag 0 was not searched. The number of lags is the
    largest of either graph.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.lagwise_tp("X -> Y; X@-1 -> Y; X@-2 -> Y", "Y -> X; X@-2 -> Y").tolist()
    [1.0, 0.0, 1.0]
    """
    return MEASURES["tp"].value(pairs.by_lag()) * 1.0


@metric(**_MISTAKES, long_name="extra links by lag")
def lagwise_fp(pairs: LaggedPairs) -> Values:
    """Count the links between two variables that the truth lacks, by lag; at lag 0 adjacencies.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.lagwise_fp("X -> Y; X@-1 -> Y", "X -> Y; X@-2 -> Y").tolist()
    [0.0, 0.0, 1.0]
    """
    return MEASURES["fp"].value(pairs.by_lag()) * 1.0


@metric(**_MISTAKES, long_name="missing links by lag")
def lagwise_fn(pairs: LaggedPairs) -> Values:
    """Count the links between two variables that the estimate lacks, by lag; at lag 0 adjacencies.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.lagwise_fn("X -> Y; X@-1 -> Y", "X -> Y; X@-2 -> Y").tolist()
    [0.0, 1.0, 0.0]
    """
    return MEASURES["fn"].value(pairs.by_lag()) * 1.0


@metric(**_RATIO, long_name="precision of links by lag")
def lagwise_precision(pairs: LaggedPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the estimate's links between two variables that the truth has, by lag; at lag 0 of adjacencies.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.lagwise_precision("X -> Y; X@-1 -> Y", "X -> Y; X@-1 -> Y; Y@-1 -> X").tolist()
    [1.0, 0.5]
    """
    return MEASURES["precision"].value(pairs.by_lag(), zero_division=zero_division)


@metric(**_RATIO, long_name="recall of links by lag")
def lagwise_recall(pairs: LaggedPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the truth's links between two variables that the estimate has, by lag; at lag 0 of adjacencies.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.lagwise_recall("X -> Y; X@-1 -> Y", "X@-1 -> Y; Y@-1 -> X").tolist()
    [0.0, 1.0]
    """
    return MEASURES["recall"].value(pairs.by_lag(), zero_division=zero_division)


@metric(**_RATIO, symmetric=True, long_name="F1 of links by lag")
def lagwise_f1(pairs: LaggedPairs, *, zero_division: float = math.nan) -> Values:
    """Return the harmonic mean of precision and recall of links between two variables, by lag; at lag 0 adjacencies.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.lagwise_f1("X -> Y; X@-1 -> Y", "X -> Y; X@-1 -> Y; Y@-1 -> X").round(3).tolist()
    [1.0, 0.667]
    """
    return MEASURES["f1"].value(pairs.by_lag(), zero_division=zero_division)
