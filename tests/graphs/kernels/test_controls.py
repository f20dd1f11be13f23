"""Random graphs of the further null models: compiled and plain agree bit for bit, and follow their laws."""

import itertools
from collections import Counter

import numpy as np
import pytest
from references import controls as reference
from references.comparison import pack

from causaleval_pd.graphs.kernels import comparison as kernels
from causaleval_pd.graphs.kernels import controls as control_kernels

BOTH = (control_kernels, reference)
KEYS = np.array([5, 2**63 + 11, 77], np.uint64)


def skeletons(d, seed=0, share=0.5, n=3):
    upper = np.triu(np.random.default_rng(seed).random((n, d, d)) < share, 1)
    return pack(upper | upper.transpose(0, 2, 1))


def mixed(d, seed=0, n=3):
    """Graphs with every kind of mark."""
    marks = np.random.default_rng(seed).random((n, d, d)) < 0.4
    marks[:, range(d), range(d)] = False
    return pack(marks)


def same(name, *args):
    ours, plain = (getattr(module, name)(*args) for module in BOTH)
    if name == "orient_uniformly":
        assert ours[1] == plain[1]
        ours, plain = ours[0], plain[0]
    np.testing.assert_array_equal(ours, plain)
    return ours


@pytest.mark.parametrize("d", [0, 1, 2, 3, 5, 8, 12, 13, 63, 64, 65, 70])
def test_compiled_and_plain_agree(d):
    graphs, index = mixed(d), np.array([2, 0, 2])
    many = np.random.default_rng(1).integers(0, 3, (3, 4))
    same("relabel_graphs", graphs, d, index, KEYS, 3, 4)
    same("orient_graphs", graphs, d, index[:, None], KEYS, 3, 4)
    same("orient_graphs", graphs, d, many, KEYS, 3, 4)
    same("undirect_edges", np.repeat(graphs, 4, axis=0), d, [[0, 3], [2, 7], [5, 5]], KEYS, 3, 4)
    same("switch_edges", graphs, d, index, [0, 7, 40], KEYS, 3, 4)


@pytest.mark.parametrize("d", [0, 1, 2, 3, 4, 6, 7, 30, 64])
def test_uniform_orientations_agree(d):
    sparse = skeletons(d, share=min(1, 2 / max(1, d)))
    same("orient_uniformly", sparse, d, [2, 0, 2], KEYS, 1, 2, 10_000)


def test_uniform_orientations_of_complete_graphs_agree():
    same("orient_uniformly", skeletons(6, share=1), 6, [0, 1, 2], KEYS, 1, 2, 10_000)


def test_running_out_of_tries_is_told():
    dense = np.concatenate([skeletons(30, share=0), skeletons(30, share=0.9)])
    assert same("orient_uniformly", dense, 30, [0, 3, 3], KEYS, 0, 2, 5).shape == (6, 2, 7)
    assert control_kernels.orient_uniformly(dense, 30, [0, 3, 3], KEYS, 0, 2, 5)[1] == 1


def chi_square(planes, expected):
    """Compare how often graphs were drawn with their probabilities, in standard deviations of the statistic."""
    keys, found = np.unique(planes.reshape(len(planes), -1), axis=0, return_counts=True)
    observed = {tuple(k): c for k, c in zip(keys.tolist(), found.tolist(), strict=True)}
    assert set(observed) <= set(expected)
    total = sum(expected.values())
    want = {k: len(planes) * v / total for k, v in expected.items()}
    statistic = sum((observed.get(k, 0) - w) ** 2 / w for k, w in want.items())
    return (statistic - (len(want) - 1)) / np.sqrt(2 * max(1, len(want) - 1))


def key(arcs, d):
    marks = np.zeros((1, d, d), bool)
    for a, b in arcs:
        marks[0, a, b] = True
    return tuple(pack(marks).reshape(-1).tolist())


def acyclic_orientations(pairs, d):
    """Every acyclic orientation, with the number of orders that fit it."""
    found = Counter()
    for order in itertools.permutations(range(d)):
        found[key([(a, b) if order[a] < order[b] else (b, a) for a, b in pairs], d)] += 1
    return found


CYCLE = [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)]


def test_relabellings_are_uniform():
    graph = np.array([key([(0, 1), (1, 2), (2, 1)], 4)], np.uint64).reshape(1, 2, 1)
    expected = Counter(key([(p[0], p[1]), (p[1], p[2]), (p[2], p[1])], 4) for p in itertools.permutations(range(4)))
    assert abs(chi_square(control_kernels.relabel_graphs(graph, 4, [0], [9], 0, 20_000), expected)) < 4


def test_orientations_follow_the_orders():
    skeleton = np.array([key(CYCLE + [(b, a) for a, b in CYCLE], 4)], np.uint64).reshape(1, 2, 1)
    expected = acyclic_orientations(CYCLE, 4)
    assert abs(chi_square(control_kernels.orient_graphs(skeleton, 4, [[0]], [9], 0, 20_000), expected)) < 4


def test_undirected_edges_are_a_uniform_choice():
    """Two of five edges lose their direction: each of the ten choices is as likely."""
    graph = np.array([key(CYCLE, 4)], np.uint64).reshape(1, 2, 1)
    choices = itertools.combinations(CYCLE, 2)
    expected = Counter(key(CYCLE + [(b, a) for a, b in some], 4) for some in choices)
    drawn = control_kernels.undirect_edges(np.repeat(graph, 20_000, axis=0), 4, [[2, 5]], [9], 0, 20_000)
    assert len(expected) == 10 and abs(chi_square(drawn, expected)) < 4
    alone = control_kernels.undirect_edges(np.repeat(graph, 5, axis=0), 4, [[2, 5]], [9], 40, 5)
    np.testing.assert_array_equal(alone, drawn[40:45])


@pytest.mark.parametrize("pairs", [CYCLE, list(itertools.combinations(range(4), 2)), CYCLE[:4]])
def test_uniform_orientations_are_uniform(pairs):
    skeleton = np.array([key(pairs + [(b, a) for a, b in pairs], 4)], np.uint64).reshape(1, 2, 1)
    expected = dict.fromkeys(acyclic_orientations(pairs, 4), 1)
    drawn, stuck = control_kernels.orient_uniformly(skeleton, 4, [0], [9], 0, 20_000, 1000)
    assert stuck == -1
    assert abs(chi_square(drawn, expected)) < 4


def test_both_ways_to_uniform_orientations_have_the_same_law(monkeypatch):
    expected = dict.fromkeys(acyclic_orientations(CYCLE, 4), 1)
    skeleton = np.array([key(CYCLE + [(b, a) for a, b in CYCLE], 4)], np.uint64).reshape(1, 2, 1)
    for way in (False, True):
        monkeypatch.setattr(control_kernels, "linear_extension_law", lambda d, m, way=way: np.full(m.shape, way))
        monkeypatch.setattr(reference.inputs, "linear_extension_law", lambda d, m, way=way: np.full(m.shape, way))
        drawn = control_kernels.orient_uniformly(skeleton, 4, [0], [9], 0, 20_000, 1000)[0]
        assert abs(chi_square(drawn, expected)) < 4
        plain = reference.orient_uniformly(skeleton, 4, [0], [9], 0, 50, 1000)[0]
        np.testing.assert_array_equal(drawn[:50], plain)


def test_switches_keep_degrees_and_become_uniform():
    # 2-regular graphs on 5 nodes: the 12 pentagons
    ring = [(i, (i + 1) % 5) for i in range(5)]
    graph = np.array([key(ring + [(b, a) for a, b in ring], 5)], np.uint64).reshape(1, 2, 1)
    drawn = control_kernels.switch_edges(graph, 5, [0], [60], [9], 0, 20_000)
    assert (kernels.degrees(drawn, 5)[:, :, 2] == 2).all()
    expected = {}
    for p in itertools.permutations(range(5)):
        other = [(p[i], p[(i + 1) % 5]) for i in range(5)]
        expected[key(other + [(b, a) for a, b in other], 5)] = 1
    assert len(expected) == 12
    assert abs(chi_square(drawn, expected)) < 4
    np.testing.assert_array_equal(control_kernels.switch_edges(graph, 5, [0], [0], [9], 0, 3), np.repeat(graph, 3, 0))


@pytest.mark.parametrize("module", BOTH)
def test_arguments_are_checked(module):
    graphs = mixed(5)
    with pytest.raises(ValueError, match=r"3 keys need one number of index per row or draw, found \(2, 1\)"):
        module.relabel_graphs(graphs, 5, [0, 1], KEYS, 0, 1)
    with pytest.raises(IndexError, match="index runs from 0 to 3, but there are 3 graphs"):
        module.relabel_graphs(graphs, 5, [0, 1, 3], KEYS, 0, 1)
    with pytest.raises(ValueError, match="start and count must not be negative"):
        module.orient_graphs(graphs, 5, [[0], [1], [2]], KEYS, -1, 1)
    with pytest.raises(ValueError, match="between 0 and 10 edges"):
        module.draw_dags(5, [0, 11, 2], KEYS, 0, 1)
    with pytest.raises(ValueError, match="at most 400 nodes, found 401"):
        module.draw_dags(401, [0, 1, 2], KEYS, 0, 1)
    with pytest.raises(ValueError, match="3 keys need one number of n_edges per row"):
        module.draw_dags(5, [0, 1], KEYS, 0, 1)
