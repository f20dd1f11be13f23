"""Random worlds have the published structure, and sample sizes are those of the normal approximation."""

from __future__ import annotations

import pathlib
from itertools import combinations, islice

import numpy as np
import pandas as pd
import pytest

from causaleval_pd.reasoning import sample_world
from causaleval_pd.reasoning.worlds import component_edges, compositions, n_compositions

KNOWN = pathlib.Path(__file__).parents[1] / "known_answers"


def test_graphs_are_those_of_the_published_generator():
    edges = pd.read_csv(KNOWN / "reasoning_edges.csv.gz").groupby("task")
    for task, sizes, kinds, n_nodes, n_edges, _ in pd.read_csv(KNOWN / "reasoning_tasks.csv.gz").itertuples(
        index=False
    ):
        world = sample_world([int(size) for size in sizes.split("+")], kinds.split("+"), rng=0)
        expected = set(edges.get_group(task)[["parent", "child"]].itertuples(index=False, name=None))
        assert (len(world.nodes), len(world.edges)) == (n_nodes, n_edges)
        assert set(world.edges) == expected


@pytest.mark.parametrize("kind", ["cycle", "wheel"])
def test_small_components_are_the_same_for_both_kinds(kind):
    assert component_edges(2, kind) == [(0, 1)]
    assert set(component_edges(3, kind)) == {(0, 1), (0, 2), (1, 2)}
    for size in range(2, 9):
        sources, sinks = zip(*component_edges(size, kind), strict=True)
        assert set(range(size)) - set(sinks) == {0}
        assert set(range(size)) - set(sources) == {size - 1}


def test_functions_and_noise():
    world = sample_world([6, 6], functions="random", rng=1)
    assert sum(f == "and" for f in world.functions.values()) == 5  # of 11 nodes
    assert set(sample_world([6, 6], functions="or", rng=1).functions.values()) == {"or"}
    rates = np.array([p for seed in range(200) for p in sample_world([6, 6], rng=seed).noise.values()])
    values, counts = np.unique(rates, return_counts=True)
    assert values.tolist() == [0.4, 0.5, 0.6, 0.7, 0.8]
    np.testing.assert_allclose(counts / len(rates), [0.125, 0.25, 0.25, 0.25, 0.125], atol=0.04)
    assert set(sample_world([3, 3], noise=0.25, rng=0).noise.values()) == {0.25}


def test_one_seed_one_world():
    make = lambda seed: sample_world([4, 5, 3], "mixed", rng=seed)  # noqa: E731
    assert make(3) == make(3)
    assert len({make(seed) for seed in range(20)}) == 20
    assert {len(make(seed).edges) for seed in range(20)} > {len(make(0).edges)}, "kinds are drawn"


@pytest.mark.slow
def test_worlds_of_a_wanted_difficulty():
    for seed in range(5):
        world = sample_world([4, 4], "cycle", min_pns=0.1, rng=seed)
        assert world.pns(world.nodes[0], world.nodes[-1]) >= 0.1
        assert (world.roots, world.leaves) == (world.nodes[:1], world.nodes[-1:])
    with pytest.raises(ValueError, match="the best had"):
        sample_world([6, 6, 6], min_pns=0.5, rng=0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sizes": 4}, r"sizes must hold the numbers of nodes of the components, as \[3, 3\], found 4"),
        ({"sizes": []}, "at least one component"),
        ({"sizes": [4, 1]}, r"at least 2 nodes, found sizes \[4, 1\]"),
        ({"sizes": [10**9]}, "at most 10000 nodes"),
        ({"sizes": [4], "kind": "star"}, "unknown kind of component 'star'"),
        ({"sizes": [4, 4], "kind": ["cycle"]}, "2 sizes, 1 kinds"),
        ({"sizes": [4], "functions": "nor"}, "unknown choice of functions"),
        ({"sizes": [4], "noise": (0.8, 0.4)}, "noise must be a range"),
        ({"sizes": [4], "nodes": ["a", "b", "c", "c"]}, "4 different names"),
        ({"sizes": [4], "min_pns": 1.0}, "min_pns"),
    ],
)
def test_wrong_worlds_are_refused(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        sample_world(**arguments)


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
