"""Comparisons of what follows from edges: against their references, and in any order, chunk and thread."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from references import comparison as reference

from causaleval_pd.graphs.kernels import comparison as kernels
from causaleval_pd.graphs.kernels import lanes
from causaleval_pd.graphs.kernels.inputs import SEPARATORS, STRATEGIES
from causaleval_pd.graphs.kernels.planes import arcs_from_planes, planes_from_arcs

COMPARISONS = [("ancestor_counts",), ("blanket_counts",), ("sid_bounds", 100_000)]

COMPARISONS += [("adjustment_mistakes", s) for s in STRATEGIES] + [("separation_mistakes", s) for s in SEPARATORS]

NAMES = [" ".join(map(str, c)) for c in COMPARISONS]


def draw(n, d, m, seed, cpdag):
    keys = np.arange(n, dtype=np.uint64) + np.uint64(seed << 32)
    return kernels.draw_graphs(d, np.full((n, 1), m), np.full(n, cpdag), keys, 0, 1, [])


def drawn_pairs(n, d, m, *, truth_cpdag=False, cpdag=False):
    index = np.arange(n)
    return draw(n, d, m, 1, truth_cpdag), draw(n, d, min(m + 1, d * (d - 1) // 2), 2, cpdag), index, index, d


def any_planes(rng, n, d):
    """Graphs with any marks, cycles and all."""
    row, source, target = np.nonzero((rng.random((n, d, d)) < 0.3) & ~np.eye(d, dtype=bool))
    return planes_from_arcs(n, d, row, source, target)


def complete(d):
    """An undirected complete graph."""
    source, target = np.nonzero(~np.eye(d, dtype=bool))
    return planes_from_arcs(1, d, np.zeros(len(source), np.int64), source, target)


@pytest.mark.parametrize("comparison", COMPARISONS, ids=NAMES)
@pytest.mark.parametrize(("d", "m"), [(1, 0), (2, 1), (3, 2), (4, 4), (5, 6), (7, 9), (7, 18)])
def test_compiled_equals_its_reference(comparison, d, m):
    name, *options = comparison
    for truth_cpdag, cpdag in itertools.product((False, True), repeat=2):
        if truth_cpdag and name == "sid_bounds":
            continue  # its truth is a DAG
        given = drawn_pairs(20, d, m, truth_cpdag=truth_cpdag, cpdag=cpdag)
        found = getattr(kernels, name)(*given, *options)
        np.testing.assert_array_equal(found, getattr(reference, name)(*given, *options))


@pytest.mark.parametrize("name", ["ancestor_counts", "blanket_counts"])
def test_any_marks_can_be_counted(name):
    rng = np.random.default_rng(3)
    truth, estimate = any_planes(rng, 40, 6), any_planes(rng, 40, 6)
    given = truth, estimate, np.arange(40), np.arange(40), 6
    np.testing.assert_array_equal(getattr(kernels, name)(*given), getattr(reference, name)(*given))


@pytest.mark.parametrize("comparison", COMPARISONS, ids=NAMES)
@pytest.mark.parametrize("d", [64, 65, 130])
def test_more_than_one_word_of_nodes(comparison, d):
    """A graph beside isolated nodes compares as without them, wherever the nodes are."""
    name, *options = comparison
    small = 6
    rng = np.random.default_rng(d)
    place = np.sort(rng.choice(d, small, replace=False))
    given = drawn_pairs(10, small, 7, cpdag=True)
    wide = []
    for planes in given[:2]:
        row, source, target = arcs_from_planes(planes, small)
        wide.append(planes_from_arcs(10, d, row, place[source], place[target]))
    found = getattr(kernels, name)(*wide, *given[2:4], d, *options)
    expected = getattr(kernels, name)(*given, *options)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("comparison", COMPARISONS, ids=NAMES)
def test_the_same_in_any_order_chunk_and_thread(comparison):
    name, *options = comparison
    truth, estimate, _, _, d = drawn_pairs(30, 9, 12, cpdag=True)
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 30, (2, 200))
    compare = getattr(kernels, name)
    whole = compare(truth, estimate, left, right, d, *options)
    order = rng.permutation(200)
    np.testing.assert_array_equal(compare(truth, estimate, left[order], right[order], d, *options), whole[order])
    with ThreadPoolExecutor(2) as threads:
        cuts = [0, 1, 70, 71, 200]
        parts = [slice(a, b) for a, b in itertools.pairwise(cuts)]
        found = list(threads.map(lambda p: compare(truth, estimate, left[p], right[p], d, *options), parts))
    np.testing.assert_array_equal(np.concatenate(found), whole)


@pytest.mark.slow
def test_cycles_are_reported_and_do_no_harm():
    rng = np.random.default_rng(1)
    truth, estimate = draw(50, 6, 7, 1, False), any_planes(rng, 50, 6)
    index = np.arange(50)
    cyclic = ~kernels.is_acyclic(estimate, 6)
    assert cyclic.any()
    for name, *options in COMPARISONS:
        found = getattr(kernels, name)(truth, estimate, index, index, 6, *options)
        if name in ("adjustment_mistakes", "separation_mistakes"):
            assert (found[cyclic] == -1).all()
        if name == "sid_bounds":  # the parents of the estimate suffice, but the truth must be a DAG
            np.testing.assert_array_equal(found, reference.sid_bounds(truth, estimate, index, index, 6, *options))
            swapped = kernels.sid_bounds(estimate, truth, index, index, 6, *options)
            assert (swapped[cyclic, 2] == -1).all()


@pytest.mark.parametrize("limit", [1, 6, 31, 32, 100])
def test_the_limit_of_the_bounds(limit):
    """A complete component of 4 nodes takes 4 * 2^3 = 32 parent sets."""
    truth, index = draw(1, 4, 3, 5, False), np.zeros(1, np.int64)
    low, high, status = kernels.sid_bounds(truth, complete(4), index, index, 4, limit)[0]
    exact = kernels.sid_bounds(truth, complete(4), index, index, 4, 32)[0]
    assert status == (limit < 32)
    assert low <= exact[0] <= exact[1] <= high
    assert status or (low, high) == (exact[0], exact[1])
    assert limit > 1 or (low, high) == (0, 12)  # not even the empty set and one neighbour
    np.testing.assert_array_equal(
        reference.sid_bounds(truth, complete(4), index, index, 4, limit)[0], [low, high, status]
    )


def test_large_components():
    """Bounds of a path of 200 nodes: every parent set is one neighbour or none."""
    d = 200
    arcs = np.arange(d - 1)
    row = np.zeros(2 * d - 2, np.int64)
    path = planes_from_arcs(1, d, row, np.append(arcs, arcs + 1), np.append(arcs + 1, arcs))
    truth = planes_from_arcs(1, d, row[: d - 1], arcs, arcs + 1)
    index = np.zeros(1, np.int64)
    low, high, status = kernels.sid_bounds(truth, path, index, index, d, 3 * d - 2)[0]
    assert (low, status) == (0, 0)
    reverse = planes_from_arcs(1, d, row[: d - 1], arcs + 1, arcs)
    assert high == kernels.adjustment_mistakes(truth, reverse, index, index, d, "parent")[0]
    assert kernels.sid_bounds(truth, path, index, index, d, 3 * d - 3)[0, 2] == 1


@pytest.mark.slow
def test_a_thousand_nodes():
    index = np.zeros(1, np.int64)
    truth, estimate = draw(1, 1000, 2000, 1, False), draw(1, 1000, 2000, 2, True)
    low, high, status = kernels.sid_bounds(truth, estimate, index, index, 1000, 100_000)[0]
    assert 0 < low <= high < 1000 * 999
    assert status == 0
    for strategy in STRATEGIES[:2]:
        assert 0 < kernels.adjustment_mistakes(truth, estimate, index, index, 1000, strategy)[0] < 1000 * 999
        assert kernels.adjustment_mistakes(truth, truth, index, index, 1000, strategy)[0] == 0


def test_too_many_nodes_are_refused():
    with pytest.raises(ValueError, match="at most 20000 nodes, found 20001"):
        lanes.workspace(20_001)
