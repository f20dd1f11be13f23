"""Bit planes against plain matrices."""

from __future__ import annotations

import numpy as np
import pytest

from causaleval_pd.graphs.kernels.ones import count_ones
from causaleval_pd.graphs.kernels.planes import (
    arcs_from_planes,
    marks_from_planes,
    padding_mask,
    plane_words,
    planes_from_arcs,
    planes_from_marks,
)


@pytest.mark.parametrize(
    ("n_nodes", "words"), [(0, 1), (1, 1), (2, 1), (11, 1), (12, 2), (16, 2), (17, 3), (1000, 7805)]
)
def test_plane_words(n_nodes: int, words: int) -> None:
    assert plane_words(n_nodes) == words


@pytest.mark.parametrize("n_nodes", [1, 2, 3, 11, 12, 16, 17, 40])
def test_marks_round_trip(n_nodes: int) -> None:
    marks = np.random.default_rng(n_nodes).random((7, n_nodes, n_nodes)) < 0.4
    marks &= ~np.eye(n_nodes, dtype=bool)
    planes = planes_from_arcs(7, n_nodes, *np.nonzero(marks))
    assert planes.shape == (7, 2, plane_words(n_nodes))
    assert not (planes[:, :, -1] & padding_mask(n_nodes)).any()
    np.testing.assert_array_equal(marks_from_planes(planes, n_nodes), marks)
    np.testing.assert_array_equal(planes_from_marks(marks, np.arange(n_nodes)), planes)
    order = np.random.default_rng(0).permutation(n_nodes)
    shuffled = planes_from_marks(marks, order)
    np.testing.assert_array_equal(marks_from_planes(shuffled, n_nodes), marks[:, order[:, None], order])


def test_pairs_are_numbered_along_the_rows_of_the_upper_triangle() -> None:
    i, j = np.triu_indices(13, 1)
    for k in range(len(i)):
        forward = planes_from_arcs(1, 13, np.array([0]), i[k : k + 1], j[k : k + 1])
        backward = planes_from_arcs(1, 13, np.array([0]), j[k : k + 1], i[k : k + 1])
        assert forward[0, 0, k >> 6] == backward[0, 1, k >> 6] == np.uint64(1) << np.uint64(k & 63)
        assert count_ones(forward).sum() == count_ones(backward).sum() == 1


def test_arcs_come_row_by_row() -> None:
    row, source, target = arcs_from_planes(
        planes_from_arcs(3, 4, np.array([2, 0, 2]), np.array([3, 1, 0]), np.array([1, 0, 2])), 4
    )
    assert list(zip(row.tolist(), source.tolist(), target.tolist(), strict=True)) == [(0, 1, 0), (2, 0, 2), (2, 3, 1)]
    assert [len(x) for x in arcs_from_planes(np.zeros((0, 2, 1), np.uint64), 4)] == [0, 0, 0]


def test_repeated_arcs_count_once() -> None:
    twice = planes_from_arcs(1, 2, np.array([0, 0]), np.array([0, 0]), np.array([1, 1]))
    assert marks_from_planes(twice, 2).sum() == 1
