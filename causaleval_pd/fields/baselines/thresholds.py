"""Graphs without an order: without edges, with all, and with an edge where a (partial) correlation is large."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_choice, check_number, check_whole
from ...execution.random_streams import RNGLike, resolve_seed
from ...graphs.graph import Graph
from .data_matrix import DataMatrix, check_regular, correlations, read_data


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


Floats = NDArray[np.float64]


def correlation_threshold(
    data: pd.DataFrame, rng: RNGLike = None, *, alpha: float = 0.05, n_edges: int | None = None
) -> Graph:
    """Join the pairs of variables that are correlated.

    Parameters
    ----------
    data : DataFrame
        One case per row, one variable per column; numbers.
    rng : int, Generator or None
        Not used.
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
    data : DataFrame
        One case per row, one variable per column; numbers.
    rng : int, Generator or None
        Not used.
    alpha, n_edges
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
        z = math.sqrt(freedom) * np.arctanh(np.minimum(strength, 0.999999))
        p = np.array([math.erfc(x / math.sqrt(2)) for x in z.tolist()])
        chosen = np.flatnonzero(p <= alpha)
    marks = np.zeros(matrix.shape, bool)
    marks[low[chosen], high[chosen]] = marks[high[chosen], low[chosen]] = True
    return data.graph(marks, "pdag")
