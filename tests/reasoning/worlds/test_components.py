"""Compositions: all of them, once each, without holding them."""

from __future__ import annotations

from itertools import combinations, islice

import pytest

from causaleval_pd.reasoning import compositions, n_compositions


@pytest.mark.parametrize("n", range(2, 9))
def test_every_path_once(n):
    nodes = [f"c{i}" for i in range(n)]
    found = list(compositions(nodes))
    expected = {(nodes[0], *mid, nodes[-1]) for size in range(1, n - 1) for mid in combinations(nodes[1:-1], size)}
    assert len(found) == len(set(found)) == n_compositions(n)
    assert set(found) == expected
    assert found == sorted(found)


def test_a_long_chain_is_enumerated_lazily():
    nodes = [f"c{i:03d}" for i in range(200)]
    first = list(islice(compositions(nodes), 3))
    assert first[0] == tuple(nodes)
    assert first[1] == (*nodes[:198], nodes[199])
    assert sum(1 for _ in compositions(nodes[:16])) == n_compositions(16) == 2**14 - 1


def test_too_few_nodes_are_refused():
    with pytest.raises(ValueError, match="root and leaf included. must be an integer from 2, found"):
        list(compositions(["X"]))
