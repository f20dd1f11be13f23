"""Random graphs against the generator written out in plain Python, rejected words included."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from references import comparison as reference

from causaleval_pd.graphs.kernels import comparison as kernels

WORD = 2**64 - 1
STEP, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
EITHER = pytest.mark.parametrize("module", [kernels, reference])


def mix(z):
    z = ((z ^ (z >> 30)) * FIRST) & WORD
    z = ((z ^ (z >> 27)) * SECOND) & WORD
    return z ^ (z >> 31)


def unmix(z):
    def unshift(z, by):
        found = z
        for _ in range(64 // by + 1):
            found = z ^ (found >> by)
        return found

    z = unshift(unshift(z, 31) * pow(SECOND, -1, 2**64) & WORD, 27)
    return unshift(z * pow(FIRST, -1, 2**64) & WORD, 30)


def key_of_first_word(word):
    """Return the key whose draw 0 reads `word` first: chance would show a rejected word once in 2^32."""
    state = (unmix(word) - STEP) & WORD
    return (unmix((unmix(state) - STEP) & WORD) - STEP) & WORD


class Stream:
    """Two bounded numbers a word, as the documentation of the draws says."""

    def __init__(self, key, draw):
        self.state = mix((mix((key + STEP) & WORD) + (draw + 1) * STEP) & WORD)
        self.rejected = 0

    def two_below(self, n, m):
        while True:
            self.state = (self.state + STEP) & WORD
            word = mix(self.state)
            low, high = (word & 0xFFFFFFFF) * n, (word >> 32) * m
            if low % 2**32 >= 2**32 % n and high % 2**32 >= 2**32 % m:
                return low >> 32, high >> 32
            self.rejected += 1


def planes_of(stream, d, m, order=None):
    pairs = set(itertools.combinations(range(d), 2))
    sparse = 2 * m <= len(pairs)
    found = set()
    while len(found) < (m if sparse else len(pairs) - m):
        a, b = stream.two_below(d, d - 1)
        b += b >= a
        found.add((min(a, b), max(a, b)))
    if order is None:
        order = list(range(d))
        for last in range(d - 1, 0, -2):
            j, k = stream.two_below(last + 1, last)
            order[last], order[j] = order[j], order[last]
            order[last - 1], order[k] = order[k], order[last - 1]
    marks = np.zeros((1, d, d), bool)
    for x, y in found if sparse else pairs - found:
        marks[0, order[x], order[y]] = True
    return reference.pack(marks)[0]


def test_mixing_can_be_undone():
    assert [unmix(mix(z)) for z in (0, 1, STEP, WORD)] == [0, 1, STEP, WORD]


@EITHER
@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("d", [2, 3, 6, 7, 11, 63, 64, 65, 70])
def test_draws_are_those_of_the_documented_stream(module, d, fixed):
    n_pairs = d * (d - 1) // 2
    # a half of a word that is 0 is rejected wherever 2^32 is not a multiple of the bound
    keys = [key_of_first_word(word) for word in (0, 0xFFFFFFFF, 0xFFFFFFFF << 32, WORD)] + [7]
    order = np.random.default_rng(d).permutation(d).tolist() if fixed else None
    rejected = 0
    for m in sorted({0, 1, n_pairs // 2, n_pairs // 2 + 1, n_pairs - 1, n_pairs}):
        edges, mapped = np.full((len(keys), 1), m), np.zeros(len(keys), bool)
        drawn = module.draw_graphs(d, edges, mapped, np.array(keys, np.uint64), 0, 2, order or ())
        for row, (key, draw) in enumerate(itertools.product(keys, (0, 1))):
            stream = Stream(key, draw)
            np.testing.assert_array_equal(drawn[row], planes_of(stream, d, m, order))
            rejected += stream.rejected
    assert rejected > 0 or d == 2  # 2^32 is a multiple of both bounds, 2 and 1


@EITHER
def test_skeletons_are_uniform_in_a_fixed_order(module):
    n, order = 4000, [2, 0, 3, 1]
    drawn = module.draw_graphs(4, [[2]], [False], [5], 0, n, order)
    _, counts = np.unique(drawn[:, 0] | drawn[:, 1], axis=0, return_counts=True)
    assert len(counts) == 15
    assert ((counts - n / 15) ** 2 / (n / 15)).sum() < 36.1  # chi-square, 14 degrees of freedom, p = .001


@EITHER
@pytest.mark.parametrize("d", [0, 1, 2])
def test_smallest_graphs(module, d):
    planes = module.draw_graphs(d, [[0]], [True], [3], 0, 4)
    assert planes.shape == (4, 2, 1)
    assert not planes.any()
    assert module.is_acyclic(planes, d).all()
    assert module.dag_to_cpdag(planes, d)[1].all()
    assert module.extend_to_dag(planes, d)[1].all()
    assert module.degrees(planes, d).shape == (4, d, 3)
    assert module.v_structure_counts(planes, planes, [0], [1], d).tolist() == [[0, 0, 0]]
    assert module.draw_graphs(d, [[0]], [True], [3], 0, 0).shape == (0, 2, 1)


@pytest.mark.parametrize("m", [2000, 249_751, 499_000])
def test_a_thousand_nodes(m):
    dags = kernels.draw_graphs(1000, [[m]], [False], [7], 0, 2)
    cpdags, acyclic = kernels.dag_to_cpdag(dags, 1000)
    assert acyclic.all()
    np.testing.assert_array_equal(cpdags, kernels.draw_graphs(1000, [[m]], [True], [7], 0, 2))
    extended, ok = kernels.extend_to_dag(cpdags, 1000)
    assert ok.all()
    np.testing.assert_array_equal(kernels.dag_to_cpdag(extended, 1000)[0], cpdags)
    found = kernels.pair_counts(dags, cpdags, [0, 1], [0, 1])
    assert (found[:, :3] == m).all()
