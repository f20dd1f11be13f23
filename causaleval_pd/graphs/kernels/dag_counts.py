"""Numbers of labelled DAGs by nodes and roots, arcs weighted: the laws from which uniform DAGs are drawn.

A DAG is peeled: its roots (nodes without parents) go first, then the roots of what is left, and so on. Each new root
has a parent among the s nodes that went before it, and all nodes that stay may have any of these s as parents. With a
weight w^m for a DAG of m arcs, the numbers Z(n) of DAGs over n nodes and Z(n) roots(n, s) of those with s roots follow

    Z(n) roots(n, s) = C(n, s) (1 + w)^(s (n - s)) Z(n - s) joined(s, n - s),
    joined(s, r) = sum over u of reach(s)^u roots(r, u),    reach(s) = 1 - (1 + w)^-s.

All terms are positive, so nothing cancels. DAGs with the same number of arcs have the same weight: whatever w is, those
drawn with m arcs are uniform among all such DAGs. The weight only changes how many draws have m arcs, and is chosen so
that many do (a saddle point, or Boltzmann sampling).

References
----------
.. [1] Robinson, R. W. (1977). Counting unlabeled acyclic digraphs. doi:10.1007/BFb0069178
.. [2] Kuipers, J., Moffa, G. (2015). Uniform random generation of large acyclic digraphs.
   doi:10.1007/s11222-013-9428-y
.. [3] Duchon, P., Flajolet, P., Louchard, G., Schaeffer, G. (2004). Boltzmann samplers for the random generation of
   combinatorial structures. doi:10.1017/S0963548304006315
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: nodes of DAGs that are counted; tables grow with the square, and the time to fill them with the cube
MOST_COUNTED = 400


def check_counted(n_nodes: int) -> None:
    """Refuse DAGs that take long to count."""
    if n_nodes > MOST_COUNTED:
        raise ValueError(
            f"uniform DAGs are drawn over at most {MOST_COUNTED} nodes, found {n_nodes}; null='edges' draws uniform "
            "skeletons in uniform orders, over any number of nodes"
        )


class Peeling(NamedTuple):
    """Laws of the layers of a DAG with weighted arcs."""

    #: logarithm of Z(n_nodes)
    log_total: float
    #: (n_nodes + 1, n_nodes + 1): [n, s] is the probability that a DAG over n nodes has s roots
    roots: Floats
    #: (n_nodes + 1, n_nodes + 1): [s, r] is the probability that each root of a DAG over r nodes has a parent among s
    #: others
    joined: Floats
    #: (n_nodes + 1,): [s] is the probability that a node has a parent among s others; 1 for s = 0, where none is needed
    reach: Floats


class Laws(NamedTuple):
    """The laws from which `draw_dags` draws: of layers, and cumulative ones of numbers of arcs."""

    roots: Floats
    joined: Floats
    reach: Floats
    #: [s, j] is the probability of at most j parents among s, given at least one
    parents: Floats
    #: arcs among 2^k pairs, at most 0 .. 2^k of them, from place 2^k + k - 1 on
    arcs: Floats


def peeling(n_nodes: int, log_weight: float) -> Peeling:
    """Return the laws of layers of DAGs over up to `n_nodes` nodes."""
    from scipy.special import gammaln

    size = n_nodes + 1
    log_both = math.log1p(math.exp(log_weight))  # no arc, or one
    reach = -np.expm1(-log_both * np.arange(size))
    reach[0] = 1.0
    powers = np.cumprod(np.repeat(reach[:, None], max(1, n_nodes), axis=1), axis=1)
    roots, joined, log_totals = np.zeros((size, size)), np.zeros((size, size)), np.zeros(size)
    roots[0, 0] = joined[:, 0] = 1.0
    for n in range(1, size):
        s = np.arange(1, n + 1)
        with np.errstate(divide="ignore"):
            logs = (
                gammaln(n + 1) - gammaln(s + 1) - gammaln(n - s + 1)
                + log_both * s * (n - s) + log_totals[n - s] + np.log(joined[s, n - s])
            )  # fmt: skip
        top = logs.max()
        terms = np.exp(logs - top)
        total = terms.sum()
        roots[n, 1 : n + 1] = terms / total
        log_totals[n] = top + math.log(total)
        # summed one by one, as the draws do
        joined[: size - n, n] = np.cumsum(powers[: size - n, :n] * roots[n, 1 : n + 1], axis=1)[:, -1]
    return Peeling(float(log_totals[-1]), roots, joined, reach)


def log_weights(n_nodes: int) -> Floats:
    """Return the weights to choose from, dense enough that one of them suits any number of arcs."""
    most = 2 * math.log(max(2, n_nodes)) + 1
    return np.linspace(-most, most, 1 + 2 * math.ceil(most * n_nodes / 3))


@lru_cache(maxsize=16_384)
def _log_total(n_nodes: int, step: int) -> float:
    return peeling(n_nodes, float(log_weights(n_nodes)[step])).log_total


@lru_cache(maxsize=65_536)
def best_weight(n_nodes: int, n_arcs: int) -> int:
    """Return the number of the weight with most DAGs of `n_arcs` arcs: the share w^m / Z is log-concave in log w."""
    logs = log_weights(n_nodes)
    low, high = 0, len(logs) - 1
    while low < high:
        middle = (low + high) // 2
        rise = _log_total(n_nodes, middle + 1) - _log_total(n_nodes, middle)
        low, high = (middle + 1, high) if rise < n_arcs * (logs[middle + 1] - logs[middle]) else (low, middle)
    return low


@lru_cache(maxsize=32)
def laws(n_nodes: int, step: int) -> Laws:
    """Return the laws under the weight of that number."""
    log_weight = float(log_weights(n_nodes)[step])
    layers = peeling(n_nodes, log_weight)
    parts = layers.roots, layers.joined, layers.reach, _parents(n_nodes, log_weight), _arcs(n_nodes, log_weight)
    for part in parts:
        part.flags.writeable = False  # kept for later draws
    return Laws(*parts)


def _parents(n_nodes: int, log_weight: float) -> Floats:
    from scipy.special import gammaln

    s, j = np.arange(n_nodes + 1)[:, None], np.arange(n_nodes + 1)
    logs = gammaln(s + 1) - gammaln(j + 1) - gammaln(np.maximum(s - j, 0) + 1) + log_weight * j
    logs = np.where((j > 0) & (j <= s), logs, -np.inf)
    with np.errstate(invalid="ignore"):
        terms = np.exp(logs - logs.max(axis=1, keepdims=True))
        chances = np.cumsum(terms, axis=1)
        chances /= chances[:, -1:]
    chances[0] = 1.0
    return np.where(j >= s, 1.0, chances)


def _arcs(n_nodes: int, log_weight: float) -> Floats:
    absent = 1 / (1 + math.exp(log_weight))
    slots = max(1, (n_nodes - 1) * (n_nodes - 2) // 2)
    parts = []
    for k in range(slots.bit_length()):
        n_arcs = np.arange(2**k)
        parts += [scipy.special.betainc(2**k - n_arcs, n_arcs + 1, absent), np.ones(1)]
    return np.concatenate(parts)
