"""Compiled counts over pairs of nodes, on which truth and estimate agree or differ; graphs are read in packed cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.execution.compilation import kernel

from .bits import popcount
from .inputs import Comparison, Ints, Words, checked_comparison, words_in_place
from .planes import N_ADJACENCY_COUNTS, N_MIXED_PLANES, N_PLANES

Row = NDArray[np.float64]

N_DIRECTION_COUNTS = 6


@kernel
def _adjacency_counts(
    truth: Words,
    truth_step: int,
    estimate: Words,
    estimate_step: int,
    words: np.uint64,
    left: Ints,
    right: Ints,
    mixed: bool,
    n_pairs: int,
    out: tuple[Row, ...],
) -> None:
    """Fill the counts of each pair, an array a count; graphs are that many words apart."""
    tp, fp, fn, tn, different = out
    for n in range(left.size):
        t, e = np.uint64(left[n] * truth_step), np.uint64(right[n] * estimate_step)
        shared = true = estimated = unlike = 0
        for w in range(words):
            tf, tb, ef, eb = truth[t + w], truth[t + w + words], estimate[e + w], estimate[e + w + words]
            near, claimed, differ = tf | tb, ef | eb, (tf ^ ef) | (tb ^ eb)
            if mixed:
                third, fourth = w + words + words, w + words + words + words
                near |= truth[t + third] | truth[t + fourth]
                claimed |= estimate[e + third] | estimate[e + fourth]
                differ |= (truth[t + third] ^ estimate[e + third]) | (truth[t + fourth] ^ estimate[e + fourth])
            shared += popcount(near & claimed)
            true += popcount(near)
            estimated += popcount(claimed)
            unlike += popcount(differ)
        tp[n], fp[n], fn[n], tn[n] = shared, estimated - shared, true - shared, n_pairs - true - estimated + shared
        different[n] = unlike


@kernel
def _direction_counts(
    truth: Words,
    truth_step: int,
    estimate: Words,
    estimate_step: int,
    words: np.uint64,
    left: Ints,
    right: Ints,
    out: NDArray[np.float64],
) -> None:
    """Fill the counts of each pair, a row a count; graphs are that many words apart."""
    for n in range(left.size):
        t, e = np.uint64(left[n] * truth_step), np.uint64(right[n] * estimate_step)
        same = opposite = directed = claimed = lost = added = 0
        for w in range(words):
            tf, tb, ef, eb = truth[t + w], truth[t + w + words], estimate[e + w], estimate[e + w + words]
            t_arrow, e_arrow = tf ^ tb, ef ^ eb
            both = t_arrow & e_arrow
            same += popcount(both & ~(tf ^ ef))
            opposite += popcount(both & (tf ^ ef))
            directed += popcount(t_arrow)
            claimed += popcount(e_arrow)
            lost += popcount(t_arrow & ef & eb)
            added += popcount(e_arrow & tf & tb)
        out[0, n], out[1, n], out[2, n] = same, opposite, directed
        out[3, n], out[4, n], out[5, n] = claimed, lost, added


def adjacency_counts(
    truth: ArrayLike,
    estimate: ArrayLike,
    truth_index: ArrayLike,
    estimate_index: ArrayLike,
    n_nodes: int,
    out: Sequence[Row] | None = None,
) -> tuple[Row, ...]:
    """Count the adjacencies that pairs of graphs share, and the pairs of nodes on which they differ.

    Parameters
    ----------
    truth, estimate : (N, P, W) and (K, P, W) array_like of uint64
        Two planes, or four of mixed graphs, of the graphs to compare; also in place in packed cells.
    truth_index, estimate_index : (n,) array_like of int
        Positions of each pair's graphs.
    n_nodes : int
        Number of nodes.
    out : sequence of 5 arrays (n,), optional
        What to fill; default new arrays.

    Returns
    -------
    tuple of 5 arrays (n,) of float64
        Adjacencies of both; of the estimate only; of the truth only; pairs of nodes adjacent in neither; pairs of nodes
        with another edge in the truth than in the estimate, none included.
    """
    mixed = np.shape(truth)[1:2] == (N_MIXED_PLANES,)
    n_planes = N_MIXED_PLANES if mixed else N_PLANES
    given = checked_comparison(truth, estimate, truth_index, estimate_index, in_place=True, n_planes=n_planes)
    n = len(given.truth_index)
    rows = tuple(np.empty(n) for _ in range(N_ADJACENCY_COUNTS)) if out is None else tuple(out)
    if len(rows) != N_ADJACENCY_COUNTS or any(row.shape != (n,) for row in rows):
        raise ValueError(f"out must be {N_ADJACENCY_COUNTS} arrays of length {n}")
    _adjacency_counts(*_in_place(given), mixed, n_nodes * (n_nodes - 1) // 2, rows)
    return rows


def direction_counts(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike
) -> NDArray[np.float64]:
    """Count directed edges of pairs of graphs, and the directions of the adjacencies that they share.

    Rows of the result (6, n): same direction; reversed; directed edges of the truth; of the estimate; shared edges that
    lost their direction; that gained one. Parameters are those of `adjacency_counts`.
    """
    given = checked_comparison(truth, estimate, truth_index, estimate_index, in_place=True)
    out = np.empty((N_DIRECTION_COUNTS, len(given.truth_index)))
    _direction_counts(*_in_place(given), out)
    return out


def _in_place(given: Comparison) -> tuple[Words, int, Words, int, np.uint64, Ints, Ints]:
    sides = *words_in_place(given.truth), *words_in_place(given.estimate)
    return *sides, np.uint64(given.truth.shape[2]), given.truth_index, given.estimate_index
