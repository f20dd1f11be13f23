"""What relabelling leaves of shared literals: exact means and variances of literal scores.

References
----------
.. [1] Hoeffding, W. (1951). A combinatorial central limit theorem. doi:10.1214/aoms/1177729545
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...contract.metric import Metric
from ..formulas.formula import Literal
from ..formulas.vocabulary import Vocabulary, bits
from ..models.exposition import Exposition
from ..models.quality import Convention
from ..pairs import FormulaPairs

#: what the number of shared literals is divided by, from the literals of estimate and truth and the metric's beta
SCALES: dict[str, Callable[[int, int, float], float]] = {
    "literal_correctness": lambda estimate, truth, beta: estimate,
    "literal_completeness": lambda estimate, truth, beta: truth,
    "literal_f_beta": lambda estimate, truth, beta: (beta**2 * truth + estimate) / (1 + beta**2),
}


def relabel_moments(
    pairs: FormulaPairs, position: int, metric: Metric, groups: Sequence[Sequence[str]]
) -> tuple[float, float]:
    """Give mean and variance of a metric that is linear in the literals which truth and relabelled estimate share.

    Relabelling a model relabels its causal exposition on ideal data. The number of shared literals is then a sum of
    entries of a matrix - the outcomes for which the estimate has one literal and the truth the other - along a random
    matching of factors, and for each pair of factors along one of their values: with n crisp factors two literals of an
    outcome meet with probability 1 / (2 n). The variance of such sums is Hoeffding's [1]_.

    Parameters
    ----------
    pairs : FormulaPairs
        The observed pairs.
    position : int
        Which pair.
    metric : Metric
        One whose closed form is among `SCALES`.
    groups : sequence of sequences of str
        Factors that are exchanged among themselves.

    Returns
    -------
    (float, float)
        NaN with data, with several models or none, or where an outcome is constant.

    References
    ----------
    .. [1] Hoeffding, W. (1951). A combinatorial central limit theorem. doi:10.1214/aoms/1177729545
    """
    cell, setting = pairs.estimated_models(position), pairs.setting(position)
    if len(cell) != 1 or setting.data is not None:
        return np.nan, np.nan
    convention = Convention.of(metric.options.get("convention", "published"))
    truth = pairs.truth.exposition(pairs.true_model(position), setting, convention, relative=False)
    estimate = pairs.estimate.exposition(cell[0], setting, convention, relative=True)
    sides = [_literals(side, setting.vocabulary) for side in (estimate, truth)]
    sizes = [sum(map(len, side.values())) for side in sides]
    if len(sides[0]) < len(estimate) or len(sides[1]) < len(truth) or not all(sizes):
        return np.nan, np.nan
    mean, variance = _shared_moments(sides[0], sides[1], groups, setting.vocabulary)
    scale = SCALES[str(metric.closed_form)](sizes[0], sizes[1], float(metric.options.get("beta", 1.0)))
    return mean / scale, variance / scale**2


def _literals(exposition: Exposition, words: Vocabulary) -> dict[int, set[Literal]]:
    """Return the causes of each outcome that is not constant."""
    return {
        outcome: {words.literals[bit.bit_length() - 1] for bit in bits(found.literals)}
        for outcome, found in exposition.items()
        if found is not None
    }


def _shared_moments(
    estimate: Mapping[int, set[Literal]],
    truth: Mapping[int, set[Literal]],
    groups: Sequence[Sequence[str]],
    words: Vocabulary,
) -> tuple[float, float]:
    """Give mean and variance of the number of shared literals under relabelling."""
    moving = {(name, value) for names in groups for name in names for value in words.domain(name)}
    shared = [(estimate[outcome], truth[outcome]) for outcome in sorted(estimate.keys() & truth.keys())]
    mean, variance = float(sum(len((estimated & true) - moving) for estimated, true in shared)), 0.0
    for names in groups:
        place = {(name, value): (i, j) for i, name in enumerate(names) for j, value in enumerate(words.domain(name))}
        n, v = len(names), len(words.domain(names[0]))
        meets = np.zeros((n, n, v, v))
        for estimated, true in shared:
            for x in estimated & place.keys():
                for y in true & place.keys():
                    meets[place[x][0], place[y][0], place[x][1], place[y][1]] += 1
        inner_mean, inner_variance = _matching_moments(meets)
        outer_mean, outer_variance = _matching_moments(inner_mean)
        mean += float(outer_mean)
        variance += float(outer_variance) + float(inner_variance.sum()) / n
    return mean, variance


def _matching_moments(entries: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give mean and variance of sum_i entries[..., i, s(i)] for a uniformly random permutation s."""
    n = entries.shape[-1]
    centred = (
        entries
        - entries.mean(axis=-1, keepdims=True)
        - entries.mean(axis=-2, keepdims=True)
        + entries.mean(axis=(-1, -2), keepdims=True)
    )
    return entries.sum(axis=(-1, -2)) / n, np.square(centred).sum(axis=(-1, -2)) / max(n - 1, 1)
