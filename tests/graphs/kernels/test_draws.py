"""Random graphs: against the generator in plain Python, rejected words included, and their laws."""

import itertools

import numpy as np
import pytest
from references import comparison as reference
from references.streams import FIRST, SECOND, STEP, WORD, Stream, mix
from scipy import stats

from causaleval_pd.graphs.kernels import comparison as kernels


class Counting(Stream):
    """A stream that counts the words that it rejects."""

    rejected = 0

    def try_two(self, n, m):
        found = super().try_two(n, m)
        self.rejected += found is None
        return found


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


def planes_of(stream, d, m, order=None):
    pairs = stream.pairs(d, m)
    order = stream.shuffle(d) if order is None else order
    marks = np.zeros((1, d, d), bool)
    for x, y in pairs:
        marks[0, order[x], order[y]] = True
    return reference.pack(marks)[0]


def pack(marks):
    return reference.pack(np.asarray(marks, bool))


def test_mixing_can_be_undone():
    assert [unmix(mix(z)) for z in (0, 1, STEP, WORD)] == [0, 1, STEP, WORD]


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("d", [2, 3, 6, 7, 11, 63, 64, 65, 70])
def test_draws_are_those_of_the_documented_stream(d, fixed):
    n_pairs = d * (d - 1) // 2
    # a half of a word that is 0 is rejected wherever 2^32 is not a multiple of the bound
    keys = [key_of_first_word(word) for word in (0, 0xFFFFFFFF, 0xFFFFFFFF << 32, WORD)] + [7]
    order = np.random.default_rng(d).permutation(d).tolist() if fixed else None
    rejected = 0
    for m in sorted({0, 1, n_pairs // 2, n_pairs // 2 + 1, n_pairs - 1, n_pairs}):
        edges, mapped = np.full((len(keys), 1), m), np.zeros(len(keys), bool)
        drawn = kernels.draw_graphs(d, edges, mapped, np.array(keys, np.uint64), 0, 2, order or ())
        for row, (key, draw) in enumerate(itertools.product(keys, (0, 1))):
            stream = Counting(key, draw + 1)
            np.testing.assert_array_equal(drawn[row], planes_of(stream, d, m, order))
            rejected += stream.rejected
    assert rejected > 0 or d == 2  # 2^32 is a multiple of both bounds, 2 and 1


def test_skeletons_are_uniform_in_a_fixed_order():
    n, order = 4000, [2, 0, 3, 1]
    drawn = kernels.draw_graphs(4, [[2]], [False], [5], 0, n, order)
    _, counts = np.unique(drawn[:, 0] | drawn[:, 1], axis=0, return_counts=True)
    assert len(counts) == 15
    assert ((counts - n / 15) ** 2 / (n / 15)).sum() < 36.1  # chi-square, 14 degrees of freedom, p = .001


@pytest.mark.parametrize("d", [0, 1, 2])
def test_smallest_graphs(d):
    planes = kernels.draw_graphs(d, [[0]], [True], [3], 0, 4)
    assert planes.shape == (4, 2, 1)
    assert not planes.any()
    assert kernels.is_acyclic(planes, d).all()
    assert kernels.dag_to_cpdag(planes, d)[1].all()
    assert kernels.extend_to_dag(planes, d)[1].all()
    assert kernels.degrees(planes, d).shape == (4, d, 3)
    assert kernels.collider_counts(planes, planes, [0], [1], d).tolist() == [[0, 0, 0]]
    assert kernels.draw_graphs(d, [[0]], [True], [3], 0, 0).shape == (0, 2, 1)


@pytest.mark.parametrize("m", [2000, 249_751, 499_000])
def test_a_thousand_nodes(m):
    dags = kernels.draw_graphs(1000, [[m]], [False], [7], 0, 2)
    cpdags, acyclic = kernels.dag_to_cpdag(dags, 1000)
    assert acyclic.all()
    np.testing.assert_array_equal(cpdags, kernels.draw_graphs(1000, [[m]], [True], [7], 0, 2))
    extended, ok = kernels.extend_to_dag(cpdags, 1000)
    assert ok.all()
    np.testing.assert_array_equal(kernels.dag_to_cpdag(extended, 1000)[0], cpdags)
    tp, fp, fn, _, _ = kernels.adjacency_counts(dags, cpdags, [0, 1], [0, 1], 1000)
    assert (tp == m).all()
    assert not (fp + fn).any()


def test_draws_do_not_depend_on_chunks_or_company():
    keys = np.arange(20, dtype=np.uint64)
    edges, mapped = np.arange(20)[:, None], np.arange(20) < 10
    whole = kernels.draw_graphs(8, edges, mapped, keys, 0, 30).reshape(20, 30, 2, -1)
    late = kernels.draw_graphs(8, edges, mapped, keys, 11, 7).reshape(20, 7, 2, -1)
    np.testing.assert_array_equal(whole[:, 11:18], late)
    alone = kernels.draw_graphs(8, edges[5:6], mapped[5:6], keys[5:6], 0, 30)
    np.testing.assert_array_equal(whole[5], alone)
    by_draw = kernels.draw_graphs(8, np.repeat(edges, 30, axis=1), mapped, keys, 0, 30)
    np.testing.assert_array_equal(whole.reshape(by_draw.shape), by_draw)


@pytest.mark.parametrize(("d", "m"), [(3, 1), (3, 2), (3, 3), (4, 2), (4, 4), (4, 5)])
def test_draws_are_uniform_skeletons_in_uniform_order(d, m):
    n = 60_000
    drawn = kernels.draw_graphs(d, [[m]], [False], [99], 0, n)
    seen, counts = np.unique(drawn.reshape(n, 2), axis=0, return_counts=True)
    pairs = list(itertools.combinations(range(d), 2))
    law = {}
    for skeleton in itertools.combinations(pairs, m):
        for order in itertools.permutations(range(d)):
            marks = np.zeros((1, d, d), bool)
            for i, j in skeleton:
                marks[0][(i, j) if order[i] < order[j] else (j, i)] = True
            cell = tuple(pack(marks)[0, :, 0].tolist())
            law[cell] = law.get(cell, 0) + 1
    total = sum(law.values())
    assert {tuple(x) for x in seen.tolist()} == set(law)
    expected = np.array([law[tuple(x)] for x in seen.tolist()]) * n / total
    assert stats.chisquare(counts, expected).pvalue > 1e-4


def test_draws_with_a_fixed_order_follow_it():
    order = np.array([2, 0, 3, 1])
    drawn = reference.unpack(kernels.draw_graphs(4, [[4]], [False], [1], 0, 200, order), 4)
    rank = np.argsort(order)
    _, i, j = np.nonzero(drawn)
    assert (rank[i] < rank[j]).all()


def test_draws_check_their_numbers():
    with pytest.raises(ValueError, match="row 1: n_edges is 7, but a graph on 4 nodes has between 0 and 6 edges"):
        kernels.draw_graphs(4, [[3], [7]], [False, False], [1, 2], 0, 3)
    with pytest.raises(ValueError, match="order must be empty or hold each of"):
        kernels.draw_graphs(3, [[1]], [False], [1], 0, 1, [0, 0, 1])
    assert kernels.draw_graphs(4, np.empty((0, 1)), [], [], 0, 3).shape == (0, 2, 1)
