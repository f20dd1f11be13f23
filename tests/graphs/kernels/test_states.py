"""Graphs of the states of walks: against marks set one by one, and numbers out of range."""

from __future__ import annotations

import numpy as np
import pytest

from causaleval_pd.graphs.kernels.planes import marks_from_planes
from causaleval_pd.graphs.kernels.states import graphs_of_states


@pytest.mark.parametrize("d", [2, 5, 13])
@pytest.mark.parametrize("chosen", [False, True])
def test_states_stand_for_the_graphs_of_their_arcs(d, chosen):
    rng = np.random.default_rng(d)
    source, target = np.triu_indices(d, 1)
    k = len(source) if chosen else 0
    m = (len(source) + 1) // 2
    orders, arcs = np.tile(np.arange(d), (6, 1)), np.tile(np.arange(k), (6, 1))
    states = np.concatenate([rng.permuted(arcs, axis=1), rng.permuted(orders, axis=1)], axis=1).astype(np.int16)
    found = marks_from_planes(graphs_of_states(states, d, source, target, m), d)
    expected = np.zeros((6, d, d), np.int8)
    for i, state in enumerate(states):
        for e in range(m):
            arc = state[e] if chosen else e
            expected[i, state[k + source[arc]], state[k + target[arc]]] = 1
    np.testing.assert_array_equal(found, expected)


def test_numbers_out_of_range_are_refused():
    source, target = np.array([0, 1]), np.array([1, 2])
    nodes = np.array([[0, 1, 2]], np.int16)
    assert not graphs_of_states(nodes, 3, source, target, 0).any()
    for given, ends, m, message in (
        (nodes, (source, target), 3, "lists 2 arcs, and 3"),
        (nodes + 1, (source, target), 2, "nodes are numbers from 0 to 2, found 1 to 3"),
        (nodes, (source, target + 1), 2, "places are numbers from 0 to 2"),
        (np.array([[2, 0, 1, 2]], np.int16), (source, target), 1, "arcs are numbers from 0 to 1"),
    ):
        with pytest.raises(ValueError, match=message):
            graphs_of_states(given, 3, *ends, m)
