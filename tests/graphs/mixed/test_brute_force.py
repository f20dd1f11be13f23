"""Conversions and relations of mixed graphs against enumerations of all graphs on few nodes."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from networkx.generators.atlas import graph_atlas_g
from references import mixed as reference

from causaleval_pd.graphs.mixed import classes, conversions, marks, relations


def check_classes(mags: np.ndarray, separated: np.ndarray) -> int:
    """Compare PAGs, members, ancestors and tests of classes; return the number of classes."""
    d = mags.shape[1]
    groups = reference.classes(mags, separated)
    pags = np.stack([reference.shared_marks(mags[group]) for group in groups])
    number = np.empty(len(mags), int)
    for k, group in enumerate(groups):
        number[group] = k
    mag_planes, pag_planes = marks.planes_from_marks(mags), marks.planes_from_marks(pags)
    np.testing.assert_array_equal(conversions.mag_to_pag(mag_planes, d), pag_planes[number])
    assert classes.is_pag(pag_planes, d).all()

    chosen = conversions.pag_to_mag(pag_planes, d)
    position = {graph.tobytes(): k for k, graph in enumerate(mag_planes)}
    assert [number[position[graph.tobytes()]] for graph in chosen] == list(range(len(groups)))
    bidirected = marks.count_bits(marks.bidirected(mag_planes))
    np.testing.assert_array_equal(
        marks.count_bits(marks.bidirected(chosen)), [bidirected[group].min() for group in groups]
    )

    above = reference.ancestors(mags)
    expected = np.stack([above[g].any(axis=0).astype(int) + above[g].all(axis=0) for g in groups])
    np.testing.assert_array_equal(relations.ancestors(pag_planes, d), expected)
    by_path = relations.ancestors(pag_planes, d, "path")
    np.testing.assert_array_equal(by_path > 0, expected > 0)
    np.testing.assert_array_equal(by_path == 2, reference.ancestors(pags))
    return len(groups)


@pytest.mark.parametrize(
    ("d", "ancestral", "maximal", "n_classes", "with_dag"),
    [(2, 4, 4, 2, 2), (3, 56, 56, 11, 11), (4, 2504, 2492, 248, 185)],
)
def test_every_graph_of_few_nodes(d: int, ancestral: int, maximal: int, n_classes: int, with_dag: int) -> None:
    graphs = reference.all_directed_mixed(d)
    planes = marks.planes_from_marks(graphs)
    known = reference.is_ancestral(graphs)
    assert known.sum() == ancestral
    separated = reference.separations(graphs[known])
    known_mags = known.copy()
    known_mags[known] = reference.is_maximal(graphs[known], separated)
    found = classes.is_mag(planes, d)
    np.testing.assert_array_equal(found, known_mags)
    assert found.sum() == maximal

    completed, faults = conversions.complete(planes, d)
    np.testing.assert_array_equal(faults == 0, known)
    assert classes.is_mag(completed[known], d).all()
    np.testing.assert_array_equal(reference.separations(marks.marks_from_planes(completed[known], d)), separated)

    mags, statements = graphs[found], separated[found[known]]
    assert check_classes(mags, statements) == n_classes
    pags = np.unique(conversions.mag_to_pag(planes[found], d), axis=0)
    assert (marks.count_bits(marks.bidirected(pags)) == 0).sum() == with_dag
    visible = np.stack([reference.visible(graph) for graph in marks.marks_from_planes(pags, d)])
    np.testing.assert_array_equal(relations.visible_edges(pags, d), visible)


def test_only_the_pags_of_classes_are_pags() -> None:
    """Of the 1000 graphs of three nodes with any marks, eleven are PAGs."""
    d, kinds = 3, [(0, 0), *((a, b) for a in (1, 2, 3) for b in (1, 2, 3))]
    graphs = np.zeros((10**3, d, d), np.uint8)
    for k, (i, j) in enumerate(reference.pairs_of(d)):
        chosen = np.array(kinds, np.uint8)[np.arange(10**3) // 10**k % 10]
        graphs[:, j, i], graphs[:, i, j] = chosen.T
    planes = marks.planes_from_marks(graphs)
    mags = reference.all_directed_mixed(d)
    mags = mags[reference.is_ancestral(mags)]
    pags = [reference.shared_marks(mags[group]) for group in reference.classes(mags, reference.separations(mags))]
    known = {graph.tobytes() for graph in pags}
    assert classes.is_pag(planes, d).tolist() == [graph.tobytes() in known for graph in graphs]


@pytest.mark.slow
def test_every_class_of_five_nodes_up_to_names() -> None:
    skeletons = [graph for graph in graph_atlas_g() if graph.number_of_nodes() == 5]
    assert len(skeletons) == 34
    total = 0
    for skeleton in skeletons:
        graphs = reference.all_directed_mixed(5, list(skeleton.edges))
        mags = graphs[classes.is_mag(marks.planes_from_marks(graphs), 5)]
        copies = 120 // sum(1 for _ in nx.isomorphism.GraphMatcher(skeleton, skeleton).isomorphisms_iter())
        total += copies * check_classes(mags, reference.separations(mags))
    assert total == 24_259


@pytest.mark.slow
def test_numbers_of_graphs_of_five_nodes() -> None:
    planes = marks.planes_from_marks(reference.all_directed_mixed(5))
    _, faults = conversions.complete(planes, 5)
    assert (faults == 0).sum() == 336_064
    mags = planes[classes.is_mag(planes, 5)]
    assert len(mags) == 328_924
    pags = np.unique(conversions.mag_to_pag(mags, 5), axis=0)
    assert len(pags) == 24_259
    assert (marks.count_bits(marks.bidirected(pags)) == 0).sum() == 8_782
    assert classes.is_pag(pags, 5).all()
