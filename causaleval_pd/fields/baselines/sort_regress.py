"""Sort-and-regress: order the variables by a score, and regress each on those before it by the adaptive lasso.

References
----------
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
from .lasso import lasso_by_bic
from .sortability import explained_share

Floats = NDArray[np.float64]


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
    found = read_data(data)
    return sort_regress(found, found.values.var(axis=0))


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
    found = read_data(data)
    return sort_regress(found, explained_share(correlations(found)))


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
    found = read_data(data)
    return sort_regress(found, np.random.default_rng(resolve_seed(rng)).permutation(len(found.names)))


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
    found = np.zeros((d, d))
    for k in range(1, d):
        before, node = order[:k], order[k]
        scale = np.abs(np.linalg.lstsq(centred[:, before], centred[:, node], rcond=None)[0])
        found[before, node] = scale * lasso_by_bic(centred[:, before] * scale, centred[:, node])
    return found
