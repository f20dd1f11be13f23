"""Bit planes against plain matrices; what kernels take at their border, and what they refuse."""

import importlib

import numpy as np
import pytest

from causaleval_pd.graphs.kernels import comparison as kernels
from causaleval_pd.graphs.kernels import planes
from causaleval_pd.graphs.kernels.planes import (
    arcs_from_planes,
    count_ones,
    matrices_from_planes,
    padding_mask,
    plane_words,
    planes_from_arcs,
    planes_from_matrices,
)


def test_words_are_counted_as_python_counts_them(monkeypatch):
    words = np.random.default_rng(0).integers(0, 2**64, (50, 3), np.uint64, endpoint=False)
    words[:4, 0] = [0, 1, 2**63, 2**64 - 1]
    expected = [[int(word).bit_count() for word in row] for row in words]
    assert planes.count_ones(words).tolist() == expected
    with monkeypatch.context() as patch:
        patch.delattr(np, "bitwise_count", raising=False)
        older = importlib.reload(planes).count_ones
    importlib.reload(planes)
    found = older(words)
    assert found.tolist() == expected
    assert found.dtype == np.uint8


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
    np.testing.assert_array_equal(matrices_from_planes(planes, n_nodes), marks)
    np.testing.assert_array_equal(planes_from_matrices(marks, np.arange(n_nodes)), planes)
    order = np.random.default_rng(0).permutation(n_nodes)
    shuffled = planes_from_matrices(marks, order)
    np.testing.assert_array_equal(matrices_from_planes(shuffled, n_nodes), marks[:, order[:, None], order])


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
    assert matrices_from_planes(twice, 2).sum() == 1


INDEX = np.arange(8)


def some_planes():
    return kernels.draw_graphs(10, [[15]], [False], [1], 0, 8)


def variants(planes):
    frozen = planes.copy()
    frozen.flags.writeable = False
    unaligned = np.frombuffer(b"x" + planes.tobytes(), np.uint8)[1:].view(np.uint64).reshape(planes.shape)
    assert not unaligned.flags.aligned
    return {
        "read-only": frozen,
        "unaligned": unaligned,
        "strided": np.repeat(planes, 2, axis=0)[::2],
        "Fortran": np.asfortranarray(planes),
        "nested lists": planes.tolist(),
    }


def test_any_layout_gives_the_same_numbers():
    planes = some_planes()
    for given in variants(planes).values():
        before = np.array(given)
        np.testing.assert_array_equal(
            kernels.direction_counts(given, planes, INDEX, INDEX),
            kernels.direction_counts(planes, planes, INDEX, INDEX),
        )
        np.testing.assert_array_equal(kernels.dag_to_cpdag(given, 10)[0], kernels.dag_to_cpdag(planes, 10)[0])
        np.testing.assert_array_equal(given, before)


def test_every_layout_meets_the_same_compiled_function():
    planes = some_planes()
    for given in [planes, *variants(planes).values()]:
        kernels.direction_counts(given, given, INDEX, INDEX.astype(np.int32))
        kernels.adjacency_counts(given, given, INDEX, INDEX.astype(np.int32), 10)
        kernels.collider_counts(given, given, INDEX, INDEX, 10)
        kernels.is_acyclic(given, 10)
    own = [f for f in vars(kernels).values() if getattr(f, "signatures", None) and f.__module__ == kernels.__name__]
    assert len(own) >= 4
    assert {f.__name__: len(f.signatures) for f in own} == {f.__name__: 1 for f in own}


def test_bits_of_no_pair_are_refused():
    planes = some_planes()
    planes[3, 1, 0] |= np.uint64(1 << 45)
    for name in ("is_acyclic", "dag_to_cpdag", "extend_to_dag", "degrees"):
        with pytest.raises(ValueError, match="row 3: planes have bits that belong to no pair of 10 nodes"):
            getattr(kernels, name)(planes, 10)
    with pytest.raises(ValueError, match="row 3: planes have bits"):
        kernels.collider_counts(planes, planes, INDEX, INDEX, 10)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        *(("adjacency_counts", (some_planes(), some_planes(), [0, 1], [0, position], 10),
           f"row 1: estimate_index is {position}, but there are 8 graphs") for position in (8, -1)),
        *(("adjacency_counts", (some_planes(), some_planes(), INDEX, INDEX, 10, out),
           "out must be 5 arrays of length 8") for out in ([np.empty(8)] * 4, [np.empty(8)] * 4 + [np.empty(7)])),
        ("adjacency_counts", (some_planes(), np.repeat(some_planes(), 2, axis=2), INDEX, INDEX, 10),
         r"must have the shapes .* found \(8, 2, 1\) and \(8, 2, 2\)"),
        ("adjacency_counts", (some_planes(), some_planes(), INDEX, INDEX[:3], 10),
         r"equally long, found the shapes \(8,\) and \(3,\)"),
        ("degrees", (some_planes(), 20), r"on 20 nodes must have the shape \(N, 2, 3\), found \(8, 2, 1\)"),
        ("draw_graphs", (4, [[-1]], [False], [1], 0, 3), "row 0: n_edges is -1, but .* has between 0 and 6 edges"),
        ("draw_graphs", (4, [[1, 2], [3, 7]], [False, True], [1, 2], 0, 2), "row 1: n_edges is 7, but"),
        ("draw_graphs", (4, [[1, 2]], [False, False], [1, 2], 0, 3), r"2 keys need one number of n_edges per row"),
        ("draw_graphs", (4, [[1]], [False], [1], -1, 3), "start and count must not be negative, found -1 and 3"),
        *(("type_counts", (np.zeros((1, 4, 1), np.uint64), np.zeros(shape, np.uint64), [0], [0], [9], [9]),
           "must have the shapes") for shape in ((1, 2, 2), (1, 3, 1), (2, 1))),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(name, arguments, message):
    with pytest.raises((ValueError, IndexError), match=message):
        getattr(kernels, name)(*arguments)
