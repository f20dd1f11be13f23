"""DAGs that controls are drawn from: listed and drawn ones have the same law."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.causal_kl.nulls.dag_spaces import (
    dags_with_arcs,
    ordered_dags,
    own_orientations,
    relabellings,
    uniform_dags,
)

from .. import brute_force as brute


@pytest.mark.parametrize("n_arcs", range(7))
def test_all_dags_are_listed(n_arcs):
    listed = [tuple(parents) for parents in dags_with_arcs(4, n_arcs).tolist()]
    expected = {
        tuple(sum(1 << a for a, b in arcs if b == i) for i in range(4)) for arcs in brute.dags(range(4), n_arcs)
    }
    assert set(listed) == expected and len(listed) == len(expected)


def structure(k, arcs):
    names = [f"n{i:03}" for i in range(k)]
    parents = {names[i]: [names[a] for a, b in arcs if b == i] for i in range(k)}
    network = ce.GaussianNetwork(parents, {n: [0.5] * len(p) for n, p in parents.items()}, dict.fromkeys(names, 1.0))
    return network.structure


ARCS = [(0, 1), (1, 2), (0, 2), (3, 2)]


@pytest.mark.parametrize("space_of", [uniform_dags, ordered_dags, relabellings])
def test_listed_and_drawn_dags_have_the_same_law(space_of, monkeypatch):
    space = space_of(structure(4, ARCS), structure(4, ARCS))
    monkeypatch.setattr("causaleval_pd.causal_kl.nulls.dag_spaces.MOST_LISTED", 3)
    drawn = space_of(structure(4, ARCS), structure(4, ARCS))
    assert drawn.all is None
    found = Counter(map(tuple, drawn.draw(np.array([7], np.uint64), 0, 8000)))
    if space_of is ordered_dags:
        # uniform skeletons, each directed along every order
        law = Counter(
            tuple(sum(1 << a for a in order[: order.index(b)] if {a, b} in skeleton) for b in range(4))
            for skeleton in itertools.combinations([{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}], 4)
            for order in itertools.permutations(range(4))
        )
        assert set(found) == set(law) == set(map(tuple, dags_with_arcs(4, 4).tolist()))
        assert stats.chisquare([found[x] for x in law], [8000 * n / law.total() for n in law.values()]).pvalue > 1e-3
        return
    expected = Counter(map(tuple, space.all.tolist()))
    assert set(found) == set(expected)
    counts = np.array([[found[dag], expected[dag]] for dag in expected])
    assert stats.chisquare(counts[:, 0], counts[:, 1] * 8000 / counts[:, 1].sum()).pvalue > 1e-3
    listed = Counter(map(tuple, space.draw(np.array([7], np.uint64), 0, 8000)))
    assert stats.chisquare([listed[dag] for dag in expected], counts[:, 1] * 8000 / counts[:, 1].sum()).pvalue > 1e-3


@pytest.mark.parametrize("space_of", [uniform_dags, ordered_dags, relabellings])
def test_large_dags_are_drawn_with_their_number_of_arcs(space_of):
    arcs = [(i, i + 1 + j) for i in range(70) for j in range(2)]
    space = space_of(structure(72, arcs), structure(72, arcs))
    for parents in space.draw(np.array([3], np.uint64), 5, 3):
        assert sum(p.bit_count() for p in parents) == len(arcs)
        structure(72, [(a, i) for i, p in enumerate(parents) for a in range(72) if p >> a & 1])  # refuses cycles
    if space_of is relabellings:
        assert sorted(p.bit_count() for p in parents) == sorted(Counter(b for _, b in arcs)[i] for i in range(72))


@pytest.mark.slow
def test_orientations_of_many_edges_are_uniform():
    """The 720 orders of six nodes."""
    complete = structure(6, [(a, b) for b in range(6) for a in range(b)])
    space = own_orientations(complete, complete)
    assert space.all is None
    key = np.array([8], np.uint64)
    drawn = Counter(map(tuple, space.draw(key, 0, 7200)))
    assert all(sorted(p.bit_count() for p in parents) == [0, 1, 2, 3, 4, 5] for parents in drawn)
    assert len(drawn) == 720 and stats.chisquare(list(drawn.values())).pvalue > 1e-3
    assert space.draw(key, 0, 3)[2] == space.draw(key, 2, 1)[0]


def test_skeletons_too_dense_for_uniform_draws_are_refused(monkeypatch):
    monkeypatch.setattr("causaleval_pd.causal_kl.nulls.dag_spaces.MOST_TRIES", 0)
    complete = structure(6, [(a, b) for b in range(6) for a in range(b)])
    with pytest.raises(ValueError, match="6 nodes and 15 edges is too dense .* null='permutation'"):
        own_orientations(complete, complete).draw(np.array([8], np.uint64), 0, 1)
