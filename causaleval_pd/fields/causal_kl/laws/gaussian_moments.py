"""Means and covariances of linear-Gaussian networks under interventions.

The logarithm of a linear-Gaussian density is quadratic, so a divergence depends on the intervened truth through its
means and covariances alone, though its law is a mixture of normal laws.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from ..networks.network import GaussianNetwork
from ..networks.structure import Structure

Floats = NDArray[np.float64]


class GaussianMoments:
    """Moments of a true linear-Gaussian network and of the laws of interventions on it."""

    def __init__(self, network: GaussianNetwork) -> None:
        structure = network.structure
        k = len(structure.nodes)
        self.network, self.order = network, structure.order
        self.intercepts, self.variances = np.empty(k), np.empty(k)
        self.weights = np.zeros((k, k))
        for i, parents in enumerate(structure.parents):
            values = network.values_of(i)
            self.intercepts[i], self.variances[i] = values[0], values[-1]
            self.weights[i, list(parents)] = values[1:-1]

    @cached_property
    def means(self) -> Floats:
        """Means, which interventions with values of the truth's own laws leave as they are."""
        means = np.zeros(len(self.order))
        for i in self.order:
            means[i] = self.intercepts[i] + self.weights[i] @ means
        return means

    @cached_property
    def covariance(self) -> Floats:
        """Covariance without interventions."""
        return self._covariance(None)

    @cached_property
    def _intervened(self) -> dict[tuple[str, int], Floats]:
        return {}

    def moments(self, law: str, node: int) -> Floats:
        """Return the covariance of all nodes, given that `node` is not intervened on."""
        if law == "kl":
            return self.covariance
        if (law, node) not in self._intervened:
            self._intervened[law, node] = self._covariance(node, twin=law == "ckl2")
        return self._intervened[law, node]

    def _covariance(self, free: int | None, *, twin: bool = False) -> Floats:
        """Add nodes in causal order; each but `free` is set to a value of its own law (`twin`: joint) half the time."""
        k = len(self.order)
        found, with_twin = np.zeros((k, k)), np.zeros((k, k))
        done = np.zeros(k, bool)
        for i in self.order:
            q = 0.0 if free is None or i == free else 0.5
            b = self.weights[i]
            if twin:
                with_twin[i] = q * self.covariance[i] + (1 - q) * (b @ with_twin)
            across = (1 - q) * (b @ found)
            if twin:
                across = across + q * with_twin[:, i]
            own = (1 - q) * (b @ found @ b + self.variances[i])
            if q:
                own += q * self.covariance[i, i]
            found[i, done] = found[done, i] = across[done]
            found[i, i] = own
            done[i] = True
        return found


@lru_cache(maxsize=256)
def moments_of(network: GaussianNetwork) -> GaussianMoments:
    """Return the moments of a true network; recent networks are kept."""
    return GaussianMoments(network)


def path_coefficients(truth: GaussianMoments, structure: Structure) -> dict[tuple[int, int], float]:
    """Return the standardised coefficient of each arc when a DAG is fitted to the true covariance."""
    covariance = truth.covariance
    deviations = np.sqrt(np.diag(covariance))
    found = {}
    for i, parents in enumerate(structure.parents):
        if not parents:
            continue
        at = list(parents)
        weights = np.linalg.solve(covariance[np.ix_(at, at)], covariance[at, i])
        for p, weight in zip(at, weights * deviations[at] / deviations[i], strict=True):
            found[p, i] = float(weight)
    return found
