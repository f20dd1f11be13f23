"""Listed DAGs and orientations, and sets of parents."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from references.dag_counts import exact_numbers, numbers_of_edges

from causaleval_pd.graphs.dags import all_dags, all_orientations, parent_sets
from causaleval_pd.graphs.kernels import dags as dag_kernels


def test_listed_dags_are_all_there_are():
    # OEIS A003024
    found = [sum(len(all_dags(d, m)) for m in numbers_of_edges(d)) for d in range(1, 6)]
    assert found == [1, 3, 25, 543, 29281]
    for m in numbers_of_edges(4):
        graphs = all_dags(4, m)
        assert len(np.unique(graphs.reshape(len(graphs), -1), axis=0)) == len(graphs)
        assert len(graphs) == sum(exact_numbers(4)[4, s][m] for s in range(1, 5))
    with pytest.raises(ValueError, match="at most 5 nodes, found 6"):
        all_dags(6, 3)


def test_listed_orientations_are_the_dags_with_a_skeleton():
    every = all_dags(4, 5)
    skeletons, inverse = np.unique(every[:, 0] | every[:, 1], axis=0, return_inverse=True)
    pairs = list(itertools.combinations(range(4), 2))
    for number, skeleton in enumerate(skeletons[:, 0].tolist()):
        found = all_orientations(4, tuple(pair for k, pair in enumerate(pairs) if skeleton >> k & 1))
        assert set(map(tuple, found.reshape(-1, 2).tolist())) == set(
            map(tuple, every[inverse.reshape(-1) == number].reshape(-1, 2).tolist())
        )
    # a cycle of n edges has 2^n - 2
    ring = tuple((i, (i + 1) % 10) for i in range(10))
    assert len(all_orientations(10, ring)) == 1022
    assert len(all_orientations(3, ())) == 1
    with pytest.raises(ValueError, match="at most 14 edges, found 15"):
        all_orientations(6, tuple(itertools.combinations(range(6), 2)))


def test_sets_of_parents():
    for sets in parent_sets(all_dags(3, 2), 3):
        assert sum(x.bit_count() for x in sets) == 2
    chain = parent_sets(dag_kernels.draw_dags(70, [70 * 69 // 2], [1], 0, 1), 70)[0]
    assert sorted(x.bit_count() for x in chain) == list(range(70))
    assert all((a & b) in (a, b) for a, b in itertools.combinations(chain, 2))
