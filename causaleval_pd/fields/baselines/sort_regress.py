"""Sort-and-regress: order the variables by a score, and regress each on those before it by the adaptive lasso.

The lasso is computed along its whole path; the point of the path with the least BIC is chosen.

References
----------
Efron, Hastie, Johnstone, Tibshirani (2004), Least angle regression, doi:10.1214/009053604000000067.
Zou, Hastie, Tibshirani (2007), On the degrees of freedom of the lasso, doi:10.1214/009053607000000127.
Reisach, Seiler, Weichwald (2021), Beware of the simulated DAG! Causal discovery benchmarks may be easy to game,
arXiv:2102.13647. Reisach, Tami, Seiler, Chambaz, Weichwald (2023), A scale-invariant sorting criterion to find a causal
order in additive noise models, arXiv:2303.18211.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...execution.random_streams import RNGLike, resolve_seed
from ...graphs.graph import Graph
from .data_matrix import DataMatrix, check_regular, correlations, read_data
from .sortability import explained_share

Floats = NDArray[np.float64]

#: moves along the path that are shorter than this share of the rest are rounding
_ROUNDING = 1e-12


def lasso_path(gram: Floats, product: Floats) -> Floats:
    """Return the coefficients of the lasso at each corner of its path, from none to least squares."""
    p = len(product)
    coefficients, left = np.zeros(p), product.copy()
    path, active, dropped = [coefficients.copy()], np.zeros(p, bool), False
    for _ in range(64 * (p + 1)):
        largest = np.abs(left[active]).max() if active.any() else np.abs(left).max(initial=0.0)
        if largest <= _ROUNDING * np.abs(product).max(initial=0.0):
            break
        if not dropped and not active.all():
            active[np.argmax(np.where(active, -1.0, np.abs(left)))] = True
            largest = np.abs(left[active]).max()
        chosen = np.flatnonzero(active)
        step = np.linalg.solve(gram[np.ix_(chosen, chosen)], np.sign(left[chosen]))
        slopes = gram[:, chosen] @ step
        length, leaves = largest, -1
        # until another predictor has as large an inner product with the residuals
        for j in np.flatnonzero(~active).tolist():
            for side in (1.0, -1.0):
                pace = 1.0 - side * slopes[j]
                gap = (largest - side * left[j]) / pace if pace > _ROUNDING else np.inf
                length = gap if _ROUNDING * largest < gap < length else length
        # or a coefficient is zero again
        for place, j in enumerate(chosen.tolist()):
            zero = -coefficients[j] / step[place] if step[place] else np.inf
            if _ROUNDING * largest < zero < length:
                length, leaves = zero, j
        coefficients[chosen] += length * step
        left = left - length * slopes
        dropped = leaves >= 0
        if dropped:
            coefficients[leaves], active[leaves] = 0.0, False
        path.append(coefficients.copy())
        if length == largest:
            break
    return np.array(path)


def lasso_by_bic(predictors: Floats, response: Floats) -> Floats:
    """Return the coefficients at the corner of the lasso's path with the least BIC.

    BIC = n log(2 pi s2) + RSS / s2 + log(n) df, with s2 the residual variance of least squares on all predictors and an
    intercept, RSS / (n - p - 1), and df the number of coefficients that are not zero.
    """
    n, p = predictors.shape
    if n <= p + 1:
        raise ValueError(f"{n} cases are too few for a regression on {p} variables: it needs more than {p + 1}")
    x, y = predictors - predictors.mean(axis=0), response - response.mean()
    path = lasso_path(x.T @ x, x.T @ y)
    rest = ((y[:, None] - x @ path.T) ** 2).sum(axis=0)
    least = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    variance = (least**2).sum() / (n - p - 1)
    if variance <= 0:
        return np.asarray(path[-1])
    bic = rest / variance + np.log(n) * (path != 0).sum(axis=1)
    return np.asarray(path[np.argmin(bic)])


def var_sort_regress(data: pd.DataFrame, rng: RNGLike = None) -> Graph:
    """Order the variables by their variance, and regress each on those before it.

    It beats chance, and many algorithms, where variances grow along the causal order, as they do in many simulated data
    sets; it uses nothing but the scale of the variables.

    Parameters
    ----------
    data : DataFrame
        One case per row, one variable per column; numbers.
    rng : int, Generator or None
        Not used.

    Returns
    -------
    Graph
        A DAG: an edge for each coefficient of the adaptive lasso (weights by least squares, penalty by BIC) that is not
        zero. Variables with equal variances are ordered by name.

    Raises
    ------
    ValueError
        If a value is missing, a column is constant or a linear function of others, or there are too few cases.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> noise = np.random.default_rng(7).normal(size=(500, 3))
    >>> x = noise[:, 0]
    >>> y = 2 * x + noise[:, 1]
    >>> ce.baselines.var_sort_regress(pd.DataFrame({"x": x, "y": y, "z": 2 * y + noise[:, 2]}))
    Graph('x -> y; y -> z', kind='dag')
    """
    sample = read_data(data)
    return sort_regress(sample, sample.values.var(axis=0))


def r2_sort_regress(data: pd.DataFrame, rng: RNGLike = None) -> Graph:
    """Order the variables by the share of variance that all others explain, and regress each on those before it.

    This share does not change where variables are rescaled.

    Parameters
    ----------
    data : DataFrame
        One case per row, one variable per column; numbers.
    rng : int, Generator or None
        Not used.

    Returns
    -------
    Graph
        A DAG, as of `var_sort_regress`.

    Raises
    ------
    ValueError
        As `var_sort_regress`.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.baselines.r2_sort_regress(ce.datasets.sachs()).n_nodes
    11
    """
    sample = read_data(data)
    return sort_regress(sample, explained_share(correlations(sample)))


def random_sort_regress(data: pd.DataFrame, rng: RNGLike = None) -> Graph:
    """Order the variables at random, and regress each on those before it.

    Parameters
    ----------
    data : DataFrame
        One case per row, one variable per column; numbers.
    rng : int, Generator or None
        Seed of the order.

    Returns
    -------
    Graph
        A DAG, as of `var_sort_regress`.

    Raises
    ------
    ValueError
        As `var_sort_regress`.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.baselines.random_sort_regress(ce.datasets.sachs(), rng=7).kind
    'dag'
    """
    sample = read_data(data)
    return sort_regress(sample, np.random.default_rng(resolve_seed(rng)).permutation(len(sample.names)))


def sort_regress(data: DataMatrix, scores: NDArray[np.generic]) -> Graph:
    """Regress each variable on those with smaller scores; equal scores are ordered by name."""
    weights = sort_regress_weights(data, scores)
    return data.graph(weights != 0, "dag")


def sort_regress_weights(data: DataMatrix, scores: NDArray[np.generic]) -> Floats:
    """Return the coefficients, (d, d), of each variable (column) on those before it (rows)."""
    n, d = data.values.shape
    if n <= d:
        raise ValueError(f"data has {n} cases, too few for a regression on {d - 1} variables: it needs more than {d}")
    order = np.argsort(scores, kind="stable")
    check_regular(correlations(data)[np.ix_(order, order)], [data.names[i] for i in order.tolist()])
    centred = data.values - data.values.mean(axis=0)
    weights = np.zeros((d, d))
    for k in range(1, d):
        before, node = order[:k], order[k]
        scale = np.abs(np.linalg.lstsq(centred[:, before], centred[:, node], rcond=None)[0])
        weights[before, node] = scale * lasso_by_bic(centred[:, before] * scale, centred[:, node])
    return weights
