"""Divergence of linear-Gaussian networks, in closed form from first and second moments.

The logarithm of the estimate's density is quadratic, so that only means and covariances of the intervened truth enter,
though its law is a mixture of normal laws. KL and WED_P are published; CKL1 to CKL3 are an extension of ours.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from .layout import Layout
from .network import GaussianNetwork
from .pairs import row_sums

Floats = NDArray[np.float64]


class GaussianTruth:
    """Moments of a true linear-Gaussian network and of the laws of interventions on it."""

    def __init__(self, network: GaussianNetwork) -> None:
        layout = network.layout
        k = len(layout.nodes)
        self.network, self.order = network, layout.order
        self.intercepts, self.variances = np.empty(k), np.empty(k)
        self.weights = np.zeros((k, k))
        for i, parents in enumerate(layout.parents):
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
        """Add nodes in causal order; each but `free` is set to a value of its own law half of the time.

        With `twin` all values come from one draw of the joint law, else from independent draws.
        """
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
def prepare_gaussian(network: GaussianNetwork) -> GaussianTruth:
    """Return what is known of a true network, remembered over calls."""
    return GaussianTruth(network)


def gaussian_divergence(network: GaussianNetwork, layout: Layout, parameters: Floats, law: str) -> Floats:
    """Return the scaled divergence, in nats, of a stack of estimates with the same parent sets.

    Parameters
    ----------
    network : GaussianNetwork
        The truth.
    layout : Layout
        Layout of the estimates.
    parameters : (m, size) float
        Their parameters.
    law : {"kl", "ckl1", "ckl2", "ckl3"}
        Law of interventions.

    Returns
    -------
    (m,) ndarray
        One value an estimate.
    """
    truth = prepare_gaussian(network)
    total = np.zeros(len(parameters))
    for i, (parents, part) in enumerate(zip(layout.parents, layout.slices, strict=True)):
        values, at = parameters[:, part], list(parents)
        weights, variance = values[:, 1:-1], values[:, -1]
        shift = truth.means[i] - values[:, 0] - row_sums(weights * truth.means[at])
        if law == "ckl3":
            # the node follows from its true parents; all others have their joint law
            difference = np.tile(truth.weights[i], (len(values), 1))
            difference[:, at] -= weights
            spread = truth.variances[i] + _quadratic(difference, truth.covariance)
        else:
            used = [i, *at]
            difference = np.concatenate([np.ones((len(values), 1)), -weights], axis=1)
            spread = _quadratic(difference, truth.moments(law, i)[np.ix_(used, used)])
        total += (np.log(variance / truth.variances[i]) - 1 + (spread + shift**2) / variance) / 2
    return total


def _quadratic(rows: Floats, matrix: Floats) -> Floats:
    """Return r' M r for each row r, each summed on its own."""
    return row_sums(row_sums(rows[:, None, :] * matrix) * rows)


def path_coefficients(truth: GaussianTruth, layout: Layout) -> dict[tuple[int, int], float]:
    """Return the standardised coefficient of each arc when a DAG is fitted to the true covariance."""
    covariance = truth.covariance
    deviations = np.sqrt(np.diag(covariance))
    found = {}
    for i, parents in enumerate(layout.parents):
        if not parents:
            continue
        at = list(parents)
        weights = np.linalg.solve(covariance[np.ix_(at, at)], covariance[at, i])
        for p, weight in zip(at, weights * deviations[at] / deviations[i], strict=True):
            found[p, i] = float(weight)
    return found
