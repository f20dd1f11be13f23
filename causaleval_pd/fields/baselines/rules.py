"""Baselines, rules that make a graph of the data: without edges, with all, by (partial) correlations, by sorting.

Data are numbers: one case per row, one variable per column, in the order of the variables' names. Sort-and-regress
orders the variables by a score and regresses each on those before it by the adaptive lasso, at the point of the lasso's
path with the least BIC.

References
----------
Efron, Hastie, Johnstone, Tibshirani (2004), Least angle regression, doi:10.1214/009053604000000067.
Zou, Hastie, Tibshirani (2007), On the degrees of freedom of the lasso, doi:10.1214/009053607000000127.
Reisach, Seiler, Weichwald (2021), Beware of the simulated DAG! Causal discovery benchmarks may be easy to game,
arXiv:2102.13647. Reisach, Tami, Seiler, Chambaz, Weichwald (2023), A scale-invariant sorting criterion to find a causal
order in additive noise models, arXiv:2303.18211.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract import data_sets
from ...contract.checks import check_choice, check_number, check_type, check_whole
from ...execution.random_streams import RNGLike, resolve_seed
from ...graphs.graph import Graph
from ...graphs.kernels.planes import planes_from_matrices
from ..against_data.ci_tests import fisher_z_p

Floats = NDArray[np.float64]


class DataMatrix(NamedTuple):
    """Names of the variables in code-point order, and their values, (n, d)."""

    names: tuple[str, ...]
    values: Floats

    def graph(self, marks: NDArray[np.bool_], kind: str) -> Graph:
        """Make a graph with the mark i -> j where `marks`, (d, d), is true."""
        return Graph(self.names, kind, planes_from_matrices(marks[None], np.arange(len(self.names)))[0])


def read_data(data: Any, nodes: Sequence[str] | None = None) -> DataMatrix:
    """Read the columns of a data set that are nodes, by default all."""
    check_type(data, pd.DataFrame, "a DataFrame with one case per row and one variable per column", "data")
    names = data.columns.tolist() if nodes is None else list(nodes)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"columns of data are names of nodes, which are texts; found {name!r}: rename it")
    if not names:
        raise ValueError("data has no columns")
    data_set = data_sets.read_data(data, sorted(dict.fromkeys(names)))
    return DataMatrix(data_set.names, data_set.numbers)


def complete_data(values: Mapping[str, Any], nodes: Sequence[str]) -> Any:
    """Return the data of a context, without rows that lack a value of a node where it asks for complete rows."""
    data, missing = values["data"], values.get("missing", "raise")
    check_choice(missing, ("raise", "drop"), "context 'missing'")
    if not isinstance(data, pd.DataFrame):
        return data
    data = data_sets.with_text_labels(data, nodes)
    return data.dropna(subset=[name for name in nodes if name in data.columns]) if missing == "drop" else data


def correlations(data: DataMatrix) -> Floats:
    """Return the correlation matrix, (d, d)."""
    centred = data.values - data.values.mean(axis=0)
    scaled = centred / np.sqrt((centred**2).sum(axis=0))
    return np.asarray(scaled.T @ scaled)


def explained_share(correlation: Floats) -> Floats:
    """Return the share of each variable's variance that a linear regression (of least norm) on all others explains."""
    d = len(correlation)
    if np.linalg.eigvalsh(correlation)[0] > 1e-12:
        return np.asarray(1 - 1 / np.diag(np.linalg.inv(correlation)))
    return np.array([share_of(correlation, j, [i for i in range(d) if i != j]) for j in range(d)])


def share_of(correlation: Floats, node: int, given: list[int]) -> float:
    """Return the share of a variable's variance that a linear regression on `given` explains; 0 for none."""
    if not given:
        return 0.0
    known, with_node = correlation[np.ix_(given, given)], correlation[given, node]
    return float(np.clip(with_node @ np.linalg.lstsq(known, with_node, rcond=None)[0], 0.0, 1.0))


def check_regular(matrix: Floats, names: Sequence[str]) -> None:
    """Refuse variables that are linear functions of others, named by the first that is."""
    for k in range(2, len(names) + 1):
        if np.linalg.eigvalsh(matrix[:k, :k])[0] < 1e-12:
            raise ValueError(
                f"column {names[k - 1]!r} of data is a linear function of {list(names[: k - 1])[:10]}, so that partial "
                "regression is not defined; leave one of them out"
            )


def empty(data: pd.DataFrame, rng: RNGLike = None) -> Graph:
    """Return the graph without edges.

    Parameters
    ----------
    data : DataFrame
        One case per row, one variable per column; numbers.
    rng : int, Generator or None
        Not used.

    Returns
    -------
    Graph
        A DAG.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.baselines.empty(ce.datasets.sachs()).n_edges
    0
    """
    sample = read_data(data)
    d = len(sample.names)
    return sample.graph(np.zeros((d, d), bool), "dag")


def complete(data: pd.DataFrame, rng: RNGLike = None, *, kind: str = "cpdag") -> Graph:
    """Return the graph with all edges.

    Parameters
    ----------
    data : DataFrame
        One case per row, one variable per column; numbers.
    rng : int, Generator or None
        Seed of the order, for `kind="dag"`.
    kind : {"cpdag", "dag"}
        All edges undirected, or all directed along a random order.

    Returns
    -------
    Graph
        A graph of that class.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.baselines.complete(ce.datasets.sachs()).n_edges
    55
    """
    check_choice(kind, ("cpdag", "dag"), "kind")
    sample = read_data(data)
    place = np.random.default_rng(resolve_seed(rng)).permutation(len(sample.names))
    marks = place[:, None] < place[None, :]
    return sample.graph(marks if kind == "dag" else marks | marks.T, kind)


def correlation_threshold(
    data: pd.DataFrame, rng: RNGLike = None, *, alpha: float = 0.05, n_edges: int | None = None
) -> Graph:
    """Join the pairs of variables that are correlated.

    Parameters
    ----------
    data, rng
        As in `empty`.
    alpha : float
        Level of Fisher's z test by which a pair is joined (p <= alpha), without adjustment for the number of pairs.
    n_edges : int, optional
        Join this number of pairs instead, those with the largest absolute correlation; equal ones by name.

    Returns
    -------
    Graph
        A PDAG whose edges are all undirected.

    Raises
    ------
    ValueError
        If a value is missing, a column is constant, there are fewer than four cases, or fewer pairs than `n_edges`.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.baselines.correlation_threshold(ce.datasets.sachs(), n_edges=2).edges
    ('mek -- raf', 'p38 -- pkc')
    """
    sample = read_data(data)
    return _joined(sample, correlations(sample), 0, alpha, n_edges)


def partial_correlation_threshold(
    data: pd.DataFrame, rng: RNGLike = None, *, alpha: float = 0.05, n_edges: int | None = None
) -> Graph:
    """Join the pairs of variables that are correlated given all other variables.

    Parameters
    ----------
    data, rng, alpha, n_edges
        As in `correlation_threshold`.

    Returns
    -------
    Graph
        A PDAG whose edges are all undirected.

    Raises
    ------
    ValueError
        As `correlation_threshold`; also if a column is a linear function of others, or there are no more cases than
        variables and one.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.baselines.partial_correlation_threshold(ce.datasets.sachs(), n_edges=3).n_edges
    3
    """
    sample = read_data(data)
    matrix = correlations(sample)
    check_regular(matrix, sample.names)
    precision = np.linalg.inv(matrix)
    scale = np.sqrt(np.diag(precision))
    return _joined(sample, -precision / np.outer(scale, scale), len(sample.names) - 2, alpha, n_edges)


def _joined(data: DataMatrix, matrix: Floats, n_given: int, alpha: float, n_edges: int | None) -> Graph:
    """Join pairs by their correlations given `n_given` variables."""
    check_number(alpha, "alpha", "(0, 1)")
    low, high = np.triu_indices(len(data.names), 1)
    strength = np.abs(matrix[low, high])
    if n_edges is not None:
        check_whole(n_edges, "n_edges", 0, len(low))
        chosen = np.argsort(-strength, kind="stable")[:n_edges]
    else:
        freedom = len(data.values) - max(0, n_given) - 3
        if freedom < 1:
            raise ValueError(f"data has {len(data.values)} cases, too few for Fisher's z given {n_given} variables")
        p = fisher_z_p(strength, freedom + 3, np.zeros(len(low), np.int64))
        chosen = np.flatnonzero(p <= alpha)
    marks = np.zeros(matrix.shape, bool)
    marks[low[chosen], high[chosen]] = marks[high[chosen], low[chosen]] = True
    return data.graph(marks, "pdag")


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

    BIC = n log(2 pi s2) + RSS / s2 + log(n) df: s2 is that of least squares, df counts coefficients that are not zero.
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
    data, rng
        As in `var_sort_regress`.

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
    return data.graph(sort_regress_weights(data, scores) != 0, "dag")


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
