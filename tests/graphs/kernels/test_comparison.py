"""Operations on blocks of graphs: against their references, brute force and networkx."""

import itertools

import networkx as nx
import numpy as np
import pytest
from references import comparison as reference

from causaleval_pd.graphs.kernels import comparison as kernels

SIZES = [
    (1, 0), (2, 0), (2, 1), (3, 2), (5, 9), (10, 15), (11, 55), (12, 60), (64, 100), (65, 120), (70, 2400), (130, 200),
]  # fmt: skip


def pack(marks):
    return reference.pack(np.asarray(marks, bool))


def random_pdags(rng, n, d, share=0.4):
    """Graphs with any marks."""
    marks = rng.random((n, d, d)) < share
    marks[:, np.arange(d), np.arange(d)] = False
    return marks


def all_marks(d):
    """Every graph with directed and undirected edges over d nodes."""
    pairs = list(itertools.combinations(range(d), 2))
    for choice in itertools.product(range(4), repeat=len(pairs)):
        marks = np.zeros((d, d), bool)
        for (i, j), c in zip(pairs, choice, strict=True):
            marks[i, j], marks[j, i] = bool(c & 1), bool(c & 2)
        yield marks


def all_dags(d):
    return [m for m in all_marks(d) if not (m & m.T).any() and nx.is_directed_acyclic_graph(nx.DiGraph(m.astype(int)))]


def colliders(marks):
    directed, d = marks & ~marks.T, len(marks)
    adjacent = marks | marks.T
    return frozenset(
        (i, k, j)
        for k in range(d)
        for i, j in itertools.combinations(range(d), 2)
        if directed[i, k] and directed[j, k] and not adjacent[i, j]
    )


def classes(d):
    """DAGs by equivalence class: skeleton and v-structures."""
    found = {}
    for dag in all_dags(d):
        found.setdefault(((dag | dag.T).tobytes(), colliders(dag)), []).append(dag)
    return found


@pytest.mark.parametrize("d", [1, 2, 5, 12, 64, 65, 70])
def test_counts_equal_a_loop(d):
    rng = np.random.default_rng(d)
    truth, estimate = random_pdags(rng, 7, d), random_pdags(rng, 9, d)
    left, right = rng.integers(0, 7, 30), rng.integers(0, 9, 30)
    given = pack(truth), pack(estimate), left, right
    found = np.array([*kernels.adjacency_counts(*given, d), *kernels.direction_counts(*given)])
    v = kernels.collider_counts(*given, d)
    for n in range(30 if d <= 12 else 6):
        t, e = truth[left[n]], estimate[right[n]]
        row = np.zeros(11, int)
        for i, j in itertools.combinations(range(d), 2):
            a, b = (bool(t[i, j]), bool(t[j, i])), (bool(e[i, j]), bool(e[j, i]))
            ta, ea = any(a), any(b)
            td, ed = a[0] != a[1], b[0] != b[1]
            row += [
                *(ta and ea, ea and not ta, ta and not ea, not ta and not ea, a != b),
                *(td and ed and a == b, td and ed and a != b, td, ed),
                *(td and ea and not ed, ed and ta and not td),
            ]
        np.testing.assert_array_equal(found[:, n], row)
        assert v[n].tolist() == [len(colliders(t)), len(colliders(e)), len(colliders(t) & colliders(e))]


@pytest.mark.parametrize("d", [1, 2, 6, 64, 66])
def test_degrees(d):
    marks = random_pdags(np.random.default_rng(d), 11, d)
    found = kernels.degrees(pack(marks), d)
    directed = marks & ~marks.transpose(0, 2, 1)
    np.testing.assert_array_equal(found[..., 0], directed.sum(axis=1))
    np.testing.assert_array_equal(found[..., 1], directed.sum(axis=2))
    np.testing.assert_array_equal(found[..., 2], (marks & marks.transpose(0, 2, 1)).sum(axis=1))


@pytest.mark.parametrize("share", [0.05, 0.15, 0.4])
@pytest.mark.parametrize("d", [2, 6, 20, 67])
def test_cycles_as_networkx_finds_them(d, share):
    marks = random_pdags(np.random.default_rng(d), 60, d, share / max(1, d / 6))
    found = kernels.is_acyclic(pack(marks), d)
    np.testing.assert_array_equal(found, reference.is_acyclic(pack(marks), d))
    directed = marks & ~marks.transpose(0, 2, 1)
    expected = [nx.is_directed_acyclic_graph(nx.DiGraph(m.astype(int))) for m in directed]
    assert found.tolist() == expected


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_cpdags_by_enumeration_of_their_classes(d):
    for members in classes(d).values():
        union = np.logical_or.reduce(members)
        cpdags, acyclic = kernels.dag_to_cpdag(pack(members), d)
        assert acyclic.all()
        np.testing.assert_array_equal(cpdags, np.repeat(pack(union[None]), len(members), axis=0))
        np.testing.assert_array_equal(reference.dag_to_cpdag(pack(members), d)[0], cpdags)


@pytest.mark.parametrize(("d", "m"), SIZES)
def test_cpdags_equal_their_reference_and_the_drawn_ones(d, m):
    keys = np.arange(5, dtype=np.uint64)
    dags = kernels.draw_graphs(d, np.full((5, 1), m), np.zeros(5, bool), keys, 0, 4)
    drawn = kernels.draw_graphs(d, np.full((5, 1), m), np.ones(5, bool), keys, 0, 4)
    for module in (kernels, reference):
        found, acyclic = module.dag_to_cpdag(dags, d)
        assert acyclic.all()
        np.testing.assert_array_equal(found, drawn)


def test_cyclic_graphs_have_no_cpdag():
    cycle = np.zeros((2, 3, 3), bool)
    cycle[0, [0, 1, 2], [1, 2, 0]] = True
    cycle[1, 0, 1] = True
    for module in (kernels, reference):
        found, acyclic = module.dag_to_cpdag(pack(cycle), 3)
        assert acyclic.tolist() == [False, True]
        assert not found[0].any()


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_extensions_exist_exactly_where_a_search_finds_one(d):
    graphs = list(all_marks(d))
    candidates = {}
    for dag in all_dags(d):
        candidates.setdefault((dag | dag.T).tobytes(), []).append((dag, colliders(dag)))
    found, ok = kernels.extend_to_dag(pack(graphs), d)
    expected, expected_ok = reference.extend_to_dag(pack(graphs), d)
    np.testing.assert_array_equal(ok, expected_ok)
    np.testing.assert_array_equal(found, expected)
    extended = reference.unpack(found, d)
    for marks, dag, possible in zip(graphs, extended, ok, strict=True):
        directed, mine = marks & ~marks.T, colliders(marks)
        able = [g for g, v in candidates[(marks | marks.T).tobytes()] if not (directed & ~g).any() and v == mine]
        assert possible == bool(able)
        if possible:
            assert any((dag == g).all() for g in able)


@pytest.mark.parametrize(("d", "m"), [(10, 15), (20, 60), (66, 130)])
def test_extensions_of_cpdags_stay_in_their_class(d, m):
    cpdags = kernels.draw_graphs(d, [[m]], [True], [3], 0, 40)
    dags, ok = kernels.extend_to_dag(cpdags, d)
    assert ok.all()
    np.testing.assert_array_equal(kernels.dag_to_cpdag(dags, d)[0], cpdags)
    np.testing.assert_array_equal(reference.extend_to_dag(cpdags, d)[0], dags)


def test_read_only_and_strided_input_is_taken_as_it_is():
    planes = kernels.draw_graphs(10, [[15]], [False], [1], 0, 8)
    wide = np.repeat(planes, 2, axis=0)[::2]
    wide.flags.writeable = False
    index = np.arange(8)
    expected = kernels.direction_counts(planes, planes, index, index)
    np.testing.assert_array_equal(kernels.direction_counts(wide, wide, index.astype(np.int32), index[::1]), expected)
    with pytest.raises(IndexError, match="row 2: truth_index is 8"):
        kernels.direction_counts(planes, planes, [0, 1, 8], [0, 1, 2])
    with pytest.raises(ValueError, match="must have the shape"):
        kernels.is_acyclic(planes, 20)


def test_nothing_in_nothing_out():
    empty = np.empty((0, 2, 1), np.uint64)
    none = np.empty(0, np.int64)
    assert [row.shape for row in kernels.adjacency_counts(empty, empty, none, none, 5)] == [(0,)] * 5
    assert kernels.direction_counts(empty, empty, none, none).shape == (6, 0)
    assert kernels.collider_counts(empty, empty, none, none, 5).shape == (0, 3)
    assert kernels.degrees(empty, 5).shape == (0, 5, 3)
    assert kernels.is_acyclic(empty, 5).shape == kernels.extend_to_dag(empty, 5)[1].shape == (0,)
    assert kernels.dag_to_cpdag(empty, 5)[0].shape == (0, 2, 1)


@pytest.mark.parametrize("d", [1, 4, 12, 70])
def test_cells_are_split(d):
    from causaleval_pd.graphs.kernels.planes import PDAG, padding_mask, plane_words
    from causaleval_pd.graphs.packing import TEXT_WORDS, Block, UnpackedColumn, pack_column, unpack_column

    marks = random_pdags(np.random.default_rng(d), 9, d)
    planes = pack(marks)
    names = tuple(sorted(f"X{i}" for i in range(d)))
    block = Block(d, np.arange(9), planes, np.full(9, PDAG, np.uint8), np.zeros(9, np.int64))
    column = pack_column(UnpackedColumn(9, (block,), (names,)))
    cells = np.stack([np.frombuffer(cell, np.uint64) for cell in column])
    words = plane_words(d)
    size = cells.shape[1] - 2 * words
    at = TEXT_WORDS
    faults = [(1, at + 1), (3, size - 1), (0, at)]
    if padding_mask(d):
        faults.append((5, size + words - 1))
    for fault in [None, *faults]:
        changed = cells.copy()
        if fault:
            changed[fault] ^= np.uint64(1 << 63) if fault[1] != at else np.uint64(1)
        if fault == (0, at):
            changed[4, at] &= ~np.uint64(0xFF << 16)  # a dag with undirected edges
        sizes = at, size, words, padding_mask(d)
        *found, right = kernels.split_cells(changed, *sizes)
        assert right == (fault is None)
        if right:
            np.testing.assert_array_equal(found[0], planes)
            np.testing.assert_array_equal(found[1], [PDAG] * 9)
    assert unpack_column(column).blocks[0].planes.tobytes() == planes.tobytes()
