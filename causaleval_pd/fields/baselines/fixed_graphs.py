"""Graphs that take nothing but the names from the data: without edges, and with all."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...contract.checks import check_choice
from ...execution.random_streams import RNGLike, resolve_seed
from ...graphs.graph import Graph
from .data_matrix import read_data


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
    found = read_data(data)
    d = len(found.names)
    return found.graph(np.zeros((d, d), bool), "dag")


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
    found = read_data(data)
    place = np.random.default_rng(resolve_seed(rng)).permutation(len(found.names))
    marks = place[:, None] < place[None, :]
    return found.graph(marks if kind == "dag" else marks | marks.T, kind)
