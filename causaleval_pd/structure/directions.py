"""Directed edges and arrowheads over all ordered pairs of nodes, so that missing and extra adjacencies count.

For orientation given a shared adjacency see `orientation`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contract.metric import metric
from ..graphs.pairs import GraphPairs
from .orientation import Endpoints
from .ratio import f_score, ratio

Values = NDArray[np.float64]

_UNCONDITIONAL: dict[str, Any] = {
    "field": "graph",
    "kinds": ("dag", "cpdag", "pdag"),
    "closed_form": "linear",
}


def all_endpoints(pairs: GraphPairs) -> Endpoints:
    """Compare arrowheads over all ordered pairs of nodes."""
    c = pairs.counts
    tp, fp, fn = c.same_direction, c.estimated_directed - c.same_direction, c.true_directed - c.same_direction
    return Endpoints(tp, fp, fn, 2 * c.n_pairs - tp - fp - fn)


@metric(
    **_UNCONDITIONAL,
    long_name="right directed edges",
    direction="maximize",
    range=(0, math.inf),
    optimum=math.inf,
    symmetric=True,
)
def directed_tp(pairs: GraphPairs) -> Values:
    """Count the right directed edges.

    Unconditional, over ordered pairs of nodes: a directed edge counts where it stands, undirected edges never.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.directed_tp("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    1.0
    """
    return all_endpoints(pairs).tp


@metric(
    **_UNCONDITIONAL, long_name="wrong or extra directed edges", direction="minimize", range=(0, math.inf), optimum=0
)
def directed_fp(pairs: GraphPairs) -> Values:
    """Count the wrong or extra directed edges.

    Unconditional, over ordered pairs of nodes: a directed edge counts where it stands, undirected edges never.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.directed_fp("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    1.0
    """
    return all_endpoints(pairs).fp


@metric(**_UNCONDITIONAL, long_name="missed directed edges", direction="minimize", range=(0, math.inf), optimum=0)
def directed_fn(pairs: GraphPairs) -> Values:
    """Count the missed directed edges.

    Unconditional, over ordered pairs of nodes: a directed edge counts where it stands, undirected edges never.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.directed_fn("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    2.0
    """
    return all_endpoints(pairs).fn


@metric(**_UNCONDITIONAL, long_name="directed precision", direction="maximize", range=(0, 1), optimum=1)
def directed_precision(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the estimate's directed edges that the truth has.

    tp / (tp + fp).
    Unconditional, over ordered pairs of nodes: a directed edge counts where it stands, undirected edges never.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.directed_precision("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    0.5
    """
    ends = all_endpoints(pairs)
    return ratio(ends.tp, ends.tp + ends.fp, zero_division)


@metric(**_UNCONDITIONAL, long_name="directed recall", direction="maximize", range=(0, 1), optimum=1)
def directed_recall(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the truth's directed edges that the estimate has.

    tp / (tp + fn).
    Unconditional, over ordered pairs of nodes: a directed edge counts where it stands, undirected edges never.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.directed_recall("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    0.3333333333333333
    """
    ends = all_endpoints(pairs)
    return ratio(ends.tp, ends.tp + ends.fn, zero_division)


@metric(**_UNCONDITIONAL, long_name="directed F1", direction="maximize", range=(0, 1), optimum=1, symmetric=True)
def directed_f1(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Return the harmonic mean of directed precision and recall.

    2 tp / (2 tp + fp + fn).
    Unconditional, over ordered pairs of nodes: a directed edge counts where it stands, undirected edges never.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.directed_f1("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    0.4
    """
    ends = all_endpoints(pairs)
    return f_score(ends.tp, ends.fp, ends.fn, 1.0, zero_division)


@metric(
    **_UNCONDITIONAL,
    long_name="right arrowheads",
    direction="maximize",
    range=(0, math.inf),
    optimum=math.inf,
    symmetric=True,
)
def arrowhead_tp(pairs: GraphPairs) -> Values:
    """Count the right arrowheads.

    Unconditional, over the d (d - 1) endpoint slots. In graphs without bidirected edges arrowheads are the heads of
    directed edges.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.arrowhead_tp("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    1.0
    """
    return all_endpoints(pairs).tp


@metric(**_UNCONDITIONAL, long_name="wrong or extra arrowheads", direction="minimize", range=(0, math.inf), optimum=0)
def arrowhead_fp(pairs: GraphPairs) -> Values:
    """Count the wrong or extra arrowheads.

    Unconditional, over the d (d - 1) endpoint slots. In graphs without bidirected edges arrowheads are the heads of
    directed edges.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.arrowhead_fp("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    1.0
    """
    return all_endpoints(pairs).fp


@metric(**_UNCONDITIONAL, long_name="missed arrowheads", direction="minimize", range=(0, math.inf), optimum=0)
def arrowhead_fn(pairs: GraphPairs) -> Values:
    """Count the missed arrowheads.

    Unconditional, over the d (d - 1) endpoint slots. In graphs without bidirected edges arrowheads are the heads of
    directed edges.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.arrowhead_fn("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    2.0
    """
    return all_endpoints(pairs).fn


@metric(
    **_UNCONDITIONAL,
    long_name="slots without arrowhead in both",
    direction="maximize",
    range=(0, math.inf),
    optimum=math.inf,
    symmetric=True,
)
def arrowhead_tn(pairs: GraphPairs) -> Values:
    """Count the slots without arrowhead in both.

    Unconditional, over the d (d - 1) endpoint slots. In graphs without bidirected edges arrowheads are the heads of
    directed edges.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.arrowhead_tn("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    2.0
    """
    return all_endpoints(pairs).tn


@metric(**_UNCONDITIONAL, long_name="arrowhead precision", direction="maximize", range=(0, 1), optimum=1)
def arrowhead_precision(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the estimate's arrowheads that the truth has.

    tp / (tp + fp).
    Unconditional, over the d (d - 1) endpoint slots. In graphs without bidirected edges arrowheads are the heads of
    directed edges.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.arrowhead_precision("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    0.5
    """
    ends = all_endpoints(pairs)
    return ratio(ends.tp, ends.tp + ends.fp, zero_division)


@metric(**_UNCONDITIONAL, long_name="arrowhead recall", direction="maximize", range=(0, 1), optimum=1)
def arrowhead_recall(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the truth's arrowheads that the estimate has.

    tp / (tp + fn).
    Unconditional, over the d (d - 1) endpoint slots. In graphs without bidirected edges arrowheads are the heads of
    directed edges.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.arrowhead_recall("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    0.3333333333333333
    """
    ends = all_endpoints(pairs)
    return ratio(ends.tp, ends.tp + ends.fn, zero_division)


@metric(**_UNCONDITIONAL, long_name="arrowhead F1", direction="maximize", range=(0, 1), optimum=1, symmetric=True)
def arrowhead_f1(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Return the harmonic mean of arrowhead precision and recall.

    2 tp / (2 tp + fp + fn).
    Unconditional, over the d (d - 1) endpoint slots. In graphs without bidirected edges arrowheads are the heads of
    directed edges.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.arrowhead_f1("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    0.4
    """
    ends = all_endpoints(pairs)
    return f_score(ends.tp, ends.fp, ends.fn, 1.0, zero_division)
