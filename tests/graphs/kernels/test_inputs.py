"""What kernels take at their border, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from references import comparison as reference

from causaleval_pd.graphs.kernels import comparison as kernels
from causaleval_pd.graphs.kernels import pair_counts

EITHER = pytest.mark.parametrize("module", [kernels, reference])
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


@EITHER
def test_any_layout_gives_the_same_numbers(module):
    planes = some_planes()
    for given in variants(planes).values():
        before = np.array(given)
        np.testing.assert_array_equal(
            module.direction_counts(given, planes, INDEX, INDEX), module.direction_counts(planes, planes, INDEX, INDEX)
        )
        np.testing.assert_array_equal(module.dag_to_cpdag(given, 10)[0], module.dag_to_cpdag(planes, 10)[0])
        np.testing.assert_array_equal(given, before)


def test_every_layout_meets_the_same_compiled_function():
    planes = some_planes()
    for given in [planes, *variants(planes).values()]:
        kernels.direction_counts(given, given, INDEX, INDEX.astype(np.int32))
        kernels.adjacency_counts(given, given, INDEX, INDEX.astype(np.int32), 10)
        kernels.v_structure_counts(given, given, INDEX, INDEX, 10)
        kernels.is_acyclic(given, 10)
    every = [*vars(kernels).values(), *vars(pair_counts).values()]
    modules = kernels.__name__, pair_counts.__name__
    own = [f for f in every if getattr(f, "signatures", None) and f.__module__ in modules]
    assert len(own) >= 4
    assert {f.__name__: len(f.signatures) for f in own} == {f.__name__: 1 for f in own}


@EITHER
def test_bits_of_no_pair_are_refused(module):
    planes = some_planes()
    planes[3, 1, 0] |= np.uint64(1 << 45)
    for name in ("is_acyclic", "dag_to_cpdag", "extend_to_dag", "degrees"):
        with pytest.raises(ValueError, match="row 3: planes have bits that belong to no pair of 10 nodes"):
            getattr(module, name)(planes, 10)
    with pytest.raises(ValueError, match="row 3: planes have bits"):
        module.v_structure_counts(planes, planes, INDEX, INDEX, 10)


@EITHER
@pytest.mark.parametrize(("position", "found"), [(8, "8"), (-1, "-1")])
def test_positions_outside_the_block_are_refused(module, position, found):
    planes = some_planes()
    with pytest.raises(IndexError, match=f"row 1: estimate_index is {found}, but there are 8 graphs"):
        module.adjacency_counts(planes, planes, [0, 1], [0, position], 10)


@pytest.mark.parametrize("out", [[np.empty(8)] * 4, [np.empty(8)] * 4 + [np.empty(7)]])
def test_room_that_does_not_fit_is_refused(out):
    planes = some_planes()
    with pytest.raises(ValueError, match="out must be 5 arrays of length 8"):
        kernels.adjacency_counts(planes, planes, INDEX, INDEX, 10, out)


@EITHER
def test_shapes_that_do_not_fit_are_refused(module):
    planes = some_planes()
    with pytest.raises(ValueError, match=r"must have the shapes .* found \(8, 2, 1\) and \(8, 2, 2\)"):
        module.adjacency_counts(planes, np.repeat(planes, 2, axis=2), INDEX, INDEX, 10)
    with pytest.raises(ValueError, match=r"equally long, found the shapes \(8,\) and \(3,\)"):
        module.adjacency_counts(planes, planes, INDEX, INDEX[:3], 10)
    with pytest.raises(ValueError, match=r"on 20 nodes must have the shape \(N, 2, 3\), found \(8, 2, 1\)"):
        module.degrees(planes, 20)


@EITHER
def test_draws_that_cannot_be_made_are_refused(module):
    with pytest.raises(ValueError, match="row 0: n_edges is -1, but a graph on 4 nodes has between 0 and 6 edges"):
        module.draw_graphs(4, [[-1]], [False], [1], 0, 3)
    with pytest.raises(ValueError, match="row 1: n_edges is 7, but"):
        module.draw_graphs(4, [[1, 2], [3, 7]], [False, True], [1, 2], 0, 2)
    with pytest.raises(ValueError, match=r"2 keys need n_edges of shape \(2, 1\) or \(2, 3\)"):
        module.draw_graphs(4, [[1, 2]], [False, False], [1, 2], 0, 3)
    with pytest.raises(ValueError, match="start and count must not be negative, found -1 and 3"):
        module.draw_graphs(4, [[1]], [False], [1], -1, 3)
