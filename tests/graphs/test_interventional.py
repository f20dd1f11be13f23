"""I-CPDAGs against their definition, over all small DAGs."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce


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
        ("A -> B", pd.Series(["A"], index=[9]), "targets must have the index of the graphs"),
    ],
)
def test_wrong_targets_are_refused(graph, targets, message):
    with pytest.raises((ValueError, TypeError), match=message):
        ce.graph_column([graph]).graph.icpdag(targets)
