"""Likelihoods of data by families of a node and its parents: linear-Gaussian for numbers, multinomial for levels."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .ci_tests import Bools, Floats, Ints, Kept, PartialCorrelations, check_cells, strata
from .data_sets import SINGULAR, DataError, DataSet

#: added to the count of every level where rows that were left out are predicted
SMOOTHING = 0.5


class Likelihoods:
    """Log-likelihoods of families in data, each computed once: multinomial with `levels`, else linear-Gaussian.

    `gaussian` returns the partial correlations of the data.
    """

    def __init__(self, data: DataSet, gaussian: Callable[[], PartialCorrelations], *, levels: bool) -> None:
        self.data, self._gaussian, self._of_levels = data, gaussian, levels
        self._counted = Kept(self._multinomial)
        self._left_out: dict[int, Kept] = {}

    def of_families(self, nodes: Ints, given: Bools, folds: int | None = None) -> Floats:
        """Return log-likelihoods of nodes (m,) given parents (m, d), NaN for few rows; of `folds` by the others."""
        if folds is not None:
            if folds not in self._left_out:
                self._left_out[folds] = Kept(self._predicted(folds))
            return self._left_out[folds].find(nodes, nodes, given)
        if self._of_levels:
            return self._counted.find(nodes, nodes, given)
        n = self.data.n
        variances = np.log(self.data.variances)[nodes] + self._gaussian().log_variances(nodes, given)
        densities = -n / 2 * (math.log(2 * math.pi) + variances + 1)
        return np.where(given.sum(axis=1) + 1 < n, densities, np.nan)

    def n_parameters(self, arcs: NDArray[np.bool_]) -> Floats:
        """Count the parameters of DAGs, (N, d, d): coefficients, intercept and variance a node, or free chances."""
        if not self._of_levels:
            return (arcs.sum(axis=1) + 2.0).sum(axis=1)
        _, sizes = self.data.coded
        rows = np.exp(np.log(sizes) @ arcs.astype(np.float64))
        return np.round(rows * (sizes - 1)).sum(axis=1)

    def _counts(self, node: int, parents: tuple[int, ...], rows: Bools | None = None) -> tuple[Ints, Floats]:
        """Return the stratum of each row by its parents' levels, and counts of the node's levels in the strata."""
        levels, sizes = self.data.coded
        number, n_strata = strata(levels, sizes, parents)
        check_cells(n_strata, int(sizes[node]))
        at = number * sizes[node] + levels[:, node]
        counts = np.bincount(at if rows is None else at[rows], minlength=n_strata * int(sizes[node]))
        return at, counts.reshape(n_strata, -1).astype(np.float64)

    def _multinomial(self, nodes: Ints, _: Ints, given: Bools) -> Floats:
        likelihoods = np.empty(len(nodes))
        for row, (node, parents) in enumerate(zip(nodes.tolist(), given, strict=True)):
            _, counts = self._counts(node, tuple(np.flatnonzero(parents).tolist()))
            total = np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape)
            seen = counts > 0
            likelihoods[row] = (counts[seen] * np.log(counts[seen] / total[seen])).sum()
        return likelihoods

    def _predicted(self, folds: int) -> Callable[[Ints, Ints, Bools], Floats]:
        """Return the function that predicts rows left out."""
        fold = self.data.folds(folds)
        if self._of_levels:
            return lambda nodes, _, given: np.array(
                [
                    self._predicted_levels(node, tuple(np.flatnonzero(parents).tolist()), fold)
                    for node, parents in zip(nodes.tolist(), given, strict=True)
                ]
            )
        moments = [_fold_moments(self.data.numbers, fold == k) for k in range(folds)]
        return lambda nodes, _, given: np.array(
            [
                sum(self._predicted_numbers(node, np.flatnonzero(parents), *part) for part in moments)
                for node, parents in zip(nodes.tolist(), given, strict=True)
            ]
        )

    def _predicted_levels(self, node: int, parents: tuple[int, ...], fold: Ints) -> float:
        total = 0.0
        for k in range(int(fold.max()) + 1):
            at, counts = self._counts(node, parents, fold != k)
            chances = (counts + SMOOTHING) / (counts.sum(axis=1, keepdims=True) + SMOOTHING * counts.shape[1])
            total += float(np.log(chances.reshape(-1)[at[fold == k]]).sum())
        return total

    def _predicted_numbers(
        self, node: int, parents: Ints, n_kept: int, n_rest: int, covariances: Floats, squares: Floats
    ) -> float:
        """Return the log-density of rows left out, by the regression of a node on its parents in the others."""
        if len(parents) + 1 >= n_kept:
            return math.nan
        family = [*parents.tolist(), node]
        scale = np.sqrt(np.diag(covariances)[family])
        scale[scale == 0] = 1.0
        correlations = covariances[np.ix_(family, family)] / np.outer(scale, scale)
        if np.linalg.eigvalsh(correlations)[0] < SINGULAR:
            raise DataError(
                f"the columns {[self.data.names[i] for i in family]} are constant or linearly dependent in the "
                f"{n_kept} rows that remain when a fold is left out; leave one out of the graph, or use other folds"
            )
        weights = np.zeros(len(covariances))
        weights[parents] = -np.linalg.solve(covariances[np.ix_(parents, parents)], covariances[parents, node])
        weights[node] = 1.0
        variance = float(weights @ covariances @ weights)
        return -(n_rest * math.log(2 * math.pi * variance) + float(weights @ squares @ weights) / variance) / 2


def _fold_moments(values: Floats, left_out: Bools) -> tuple[int, int, Floats, Floats]:
    """Return numbers of rows kept and left out, covariances of the former, squares of the latter about their mean."""
    kept, rest = values[~left_out], values[left_out]
    mean = kept.mean(axis=0)
    # of a constant column exactly 0
    deviations = np.where(np.ptp(kept, axis=0) > 0, kept - mean, 0.0)
    return len(kept), len(rest), deviations.T @ deviations / len(kept), (rest - mean).T @ (rest - mean)
