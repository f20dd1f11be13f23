"""Listed DAGs and ways to direct components against all orientations; I-CPDAGs against their definition."""

import functools
import itertools

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from references.dags import exact_numbers, numbers_of_edges
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.graphs.kernels import controls as dag_kernels
from causaleval_pd.graphs.orientations import (
    MOST_WAYS,
    Parts,
    TooManyWaysError,
    all_dags,
    all_orientations,
    close,
    direction_shares,
    parent_sets,
    ways,
)


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


def undirected(n: int, edges) -> tuple[int, ...]:
    near = [0] * n
    for a, b in edges:
        near[a] |= 1 << b
        near[b] |= 1 << a
    return tuple(near)


def members(n: int, edges, fixed=()) -> set[tuple[int, ...]]:
    """Try every orientation: those without cycles and v-structures, with the arcs that are fixed."""
    edges = list(edges)
    adjacent = {frozenset(edge) for edge in edges}
    found = set()
    for flips in itertools.product((False, True), repeat=len(edges)):
        arcs = [(b, a) if flip else (a, b) for flip, (a, b) in zip(flips, edges, strict=True)]
        parents = [[s for s, t in arcs if t == node] for node in range(n)]
        if (
            set(fixed) <= set(arcs)
            and nx.is_directed_acyclic_graph(nx.DiGraph(arcs))
            and all(frozenset(pair) in adjacent for own in parents for pair in itertools.combinations(own, 2))
        ):
            found.add(tuple(sum(1 << p for p in own) for own in parents))
    return found


def chordal(rng: np.random.Generator, n: int) -> list[tuple[int, int]]:
    """Return the edges of a random connected chordal graph: each node is joined to part of an earlier clique."""
    edges, cliques = [], [[0]]
    for node in range(1, n):
        clique = rng.permutation(cliques[rng.integers(len(cliques))]).tolist()
        own = clique[: int(rng.integers(1, len(clique) + 1))]
        edges += [(other, node) for other in own]
        cliques.append([*own, node])
    return edges


@pytest.mark.parametrize("seed", range(15))
def test_all_ways_are_listed_and_counted(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    edges = chordal(rng, n)[:10]
    expected = members(n, edges)
    found, listed = ways((0,) * n, undirected(n, edges))
    assert listed and len(found) == len(expected) and set(found) == expected
    assert Parts().count(undirected(n, edges)) == len(expected)
    shares = np.mean([[[way[b] >> a & 1 for b in range(n)] for a in range(n)] for way in expected], axis=0)
    np.testing.assert_allclose(direction_shares(undirected(n, edges)), shares, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_background_knowledge_leaves_the_members_that_have_it(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 6))
    edges = chordal(rng, n)
    a, b = edges[int(rng.integers(len(edges)))]
    parents = [0] * n
    parents[b] = 1 << a
    into, beside = close(parents, undirected(n, [edge for edge in edges if edge != (a, b)]))
    found, listed = ways(tuple(into), tuple(beside))
    assert listed and set(found) == members(n, edges, [(a, b)])


def test_large_components_are_drawn_from_uniformly():
    seven = undirected(7, itertools.combinations(range(7), 2))
    found, listed = ways((0,) * 7, seven)
    assert not listed and len(found) == MOST_WAYS
    assert ways((0,) * 7, seven) == (found, False) != ways((0,) * 7, seven, seed=1)
    # in a complete graph the parents of the last node of the order are all others
    last = [next(i for i, mask in enumerate(way) if mask.bit_count() == 6) for way in found]
    assert stats.chisquare(np.bincount(last, minlength=7)).pvalue > 0.001
    # two complete graphs that share four nodes: a member is uniform over all
    two = {*itertools.combinations(range(6), 2), *itertools.combinations(range(2, 8), 2)}
    some = undirected(8, two)
    total = Parts().count(some)
    found, listed = ways((0,) * 8, some)
    assert not listed and total > MOST_WAYS
    sources = np.bincount([next(i for i, mask in enumerate(way) if mask == 0) for way in found], minlength=8)
    shared = [
        Parts().count(undirected(7, [(a - (a > r), b - (b > r)) for a, b in two if r not in (a, b)])) for r in (2, 5)
    ]
    assert shared[0] == shared[1]
    # the roots 2 to 5 leave a graph of the same kind each
    assert stats.chisquare(sources[2:6]).pvalue > 0.001
    assert stats.binomtest(int(sources[2:6].sum()), MOST_WAYS, 4 * shared[0] / total).pvalue > 0.001


def test_large_components_with_directed_edges_are_refused():
    n = 8
    parents = [0] * n
    parents[1] = 1
    edges = [pair for pair in itertools.combinations(range(n), 2) if pair != (0, 1)]
    with pytest.raises(TooManyWaysError, match="8 nodes with directed edges has more than 1000 members"):
        ways(*map(tuple, close(parents, undirected(n, edges))))


@pytest.mark.slow
def test_work_is_bounded():
    """Long bands and dense graphs are drawn from in time, or refused."""
    band = undirected(40, [(i, j) for i in range(40) for j in range(i + 1, min(40, i + 5))])
    found, listed = ways((0,) * 40, band)
    assert not listed and len(found) == MOST_WAYS
    assert all(sum(mask == 0 for mask in way) == 1 for way in found), "one source each"
    clique = undirected(60, itertools.combinations(range(60), 2))
    assert len(ways((0,) * 60, clique)[0]) == MOST_WAYS
    dense = undirected(70, [pair for pair in itertools.combinations(range(70), 2) if pair != (0, 69)])
    for count in (lambda: ways((0,) * 70, dense), lambda: direction_shares(dense)):
        with pytest.raises(TooManyWaysError, match="70 nodes and 2414 undirected edges has too many members"):
            count()


def test_shares_of_components_are_apart_and_those_of_a_long_path_are_positions():
    two = undirected(7, [(0, 1), (1, 2), (3, 4), (4, 5), (3, 5)])
    shares = direction_shares(two)
    assert shares[0, 1] == pytest.approx(1 / 3) and shares[3, 4] == 0.5 and not shares[6].any()
    path = direction_shares(undirected(300, itertools.pairwise(range(300))))
    np.testing.assert_allclose(np.diag(path, 1), np.arange(1, 300) / 300)
    np.testing.assert_allclose(np.diag(path, -1), np.arange(299, 0, -1) / 300)


@functools.cache
def dags(d):
    """All DAGs over d nodes, as edge strings and 0/1 matrices."""
    names = "ABCDE"[:d]
    pairs = list(itertools.combinations(names, 2))
    texts = []
    for choice in itertools.product(range(3), repeat=len(pairs)):
        edges = ["{} -> {}".format(*(p if k == 1 else p[::-1])) for k, p in zip(choice, pairs, strict=True) if k]
        texts.append("; ".join(edges + list(names)))
    column = ce.graph_column(texts)
    column = column[column.graph.is_acyclic.astype(bool)].reset_index(drop=True)
    return column, np.stack([ce.as_graph(text).to_numpy() for text in column.graph.to_strings()]).astype(bool)


def class_key(arcs, families):
    """Skeletons and v-structures of a DAG, and of it without the edges into each set of targets."""
    key = []
    for targets in [(), *families]:
        cut = arcs.copy()
        cut[:, list(targets)] = False
        adjacent = cut | cut.T
        colliders = frozenset(
            (a, b, c)
            for b in range(len(arcs))
            for a, c in itertools.combinations(np.flatnonzero(cut[:, b]), 2)
            if not adjacent[a, c]
        )
        key.append((adjacent.tobytes(), colliders))
    return tuple(key)


@pytest.mark.parametrize(
    ("d", "targets", "n_classes"),
    [
        *[(3, targets, n) for targets, n in [("", 11), ("A", 20), ("A; B", 25), ("A,B", 20), ("A,B; C", 20)]],
        *[(4, targets, n) for targets, n in [("", 185), ("A", 345), ("A; B", 474), ("A,B", 412), ("A,B; C", 474)]],
        (3, "A; B; C", 25),
        (4, "A; B; C; D", 543),
    ],
)
def test_an_icpdag_is_the_union_of_its_class(d, targets, n_classes):
    column, matrices = dags(d)
    families = [["ABCDE".index(x) for x in part.strip().split(",")] for part in targets.split(";") if part]
    found = column.graph.icpdag(targets)
    assert found.nunique() == n_classes
    union = {}
    keys = [class_key(arcs, families) for arcs in matrices]
    for key, arcs in zip(keys, matrices, strict=True):
        union[key] = union.get(key, False) | arcs
    marks = found.graph.to_numpy().astype(bool)
    assert all((union[key] == mark).all() for key, mark in zip(keys, marks, strict=True))


def test_without_targets_it_is_the_cpdag():
    column, _ = dags(4)
    for none in ("", None, [], [[]]):
        pd.testing.assert_series_equal(column.graph.icpdag(none), column.graph.cpdag())


def test_families_are_one_for_all_or_one_a_row():
    column = ce.graph_column(["A -> B; B -> C", None, "A -> B; B -> C"], index=["x", "y", "z"])
    families = pd.Series(["C", None, [["A", "B"]]], index=column.index)
    found = column.graph.icpdag(families).graph.to_strings()
    assert found["x"] == "A -- B; B -> C"
    assert pd.isna(found["y"])
    assert found["z"] == "A -- B; B -> C"
    assert column.graph.icpdag([["A"], ["B"]]).graph.kind["x"] == "dag"


def test_many_nodes_keep_all_directions_that_any_rule_gives():
    # all nodes are targets one by one: every direction is known, over more nodes than a word has bits
    rng = np.random.default_rng(7)
    names = [f"n{i:02d}" for i in range(70)]
    edges = [f"{names[i]} -> {names[j]}" for i, j in itertools.combinations(range(70), 2) if rng.random() < 0.05]
    column = ce.graph_column(["; ".join(edges + names)])
    assert column.graph.icpdag([[name] for name in names]).tolist() == column.tolist()


@pytest.mark.parametrize(
    ("graph", "targets", "message"),
    [
        ("A -- B", "A", "row 0.*cpdag; an I-CPDAG is that of a dag"),
        ("A o-> B", "A", "row 0.*an I-CPDAG is that of a dag"),
        ("A -> B", "X", r"row 0 .*targets name 'X', which is not a node"),
        ("A -> B", 3, "targets must be a text such as"),
        ("A -> B", [3], "found 3 as a set"),
        ("A -> B", [[3]], "found the name 3"),
        ("A -> B", pd.Series(["A"], index=[9]), "targets is a Series whose index differs from that of the column"),
    ],
)
def test_wrong_targets_are_refused(graph, targets, message):
    with pytest.raises((ValueError, TypeError), match=message):
        ce.graph_column([graph]).graph.icpdag(targets)
