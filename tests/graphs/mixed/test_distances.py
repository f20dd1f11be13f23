"""Separation and adjustment distances of mixed graphs against enumerations of paths, and effects in linear models."""

import itertools

import numpy as np
import pytest
from references import mixed as reference
from references import mixed_distances as distances

from causaleval_pd.graphs import classes
from causaleval_pd.graphs.kernels.planes import ADMG, MAG, PAG
from causaleval_pd.graphs.mixed import marks, paths

KINDS = {"mag": MAG, "pag": PAG, "admg": ADMG}


def all_mags(d: int) -> np.ndarray:
    graphs = reference.all_directed_mixed(d)
    return graphs[classes.IN_CLASS[MAG](marks.planes_from_marks(graphs), d)]


def random_dags(n: int, d: int, rng: np.random.Generator, density: float = 0.5) -> np.ndarray:
    """Draw DAGs as codes, nodes in random causal order."""
    ahead = np.triu(rng.random((n, d, d)) < density, 1)
    codes = np.where(ahead, 2, np.where(ahead.transpose(0, 2, 1), 1, 0)).astype(np.uint8)
    order = np.argsort(rng.random((n, d)), axis=1)
    return np.asarray(np.take_along_axis(np.take_along_axis(codes, order[:, :, None], 1), order[:, None, :], 2))


def observed_part(dags: np.ndarray, n_observed: int, kind: str) -> np.ndarray:
    """Return the planes of the MAGs, PAGs or ADMGs of DAGs over their first nodes."""
    observed = np.tile(np.arange(n_observed), (len(dags), 1))
    found = paths.project(marks.planes_from_marks(dags), dags.shape[1], observed, to_admg=kind == "admg")
    return paths.mag_to_pag(found, n_observed) if kind == "pag" else found


def separation(truth: np.ndarray, estimate: np.ndarray, d: int, kind: int) -> np.ndarray:
    """Count mistakes of each estimate in each truth, both planes; the estimates have one class."""
    i, j = (x.ravel() for x in np.indices((len(truth), len(estimate))))
    statements = paths.as_statements(estimate, np.full(len(estimate), kind, np.uint8), d)
    return paths.separation_mistakes(truth, statements, i, j, d, nearest=False).reshape(len(truth), -1)


@pytest.mark.slow
def test_a_graph_separates_what_it_separates() -> None:
    """Every statement set is right in its own graph: of all MAGs of four nodes, and of the PAGs of their classes."""
    planes = marks.planes_from_marks(all_mags(4))
    same = (np.arange(len(planes)),) * 2
    pags = paths.mag_to_pag(planes, 4)
    assert not paths.separation_mistakes(planes, planes, *same, 4, nearest=False).any()
    assert not paths.separation_mistakes(planes, planes, *same, 4, nearest=True).any()
    assert not paths.separation_mistakes(planes, pags, *same, 4, nearest=False).any()


@pytest.mark.slow
def test_classes_of_five_nodes_separate_what_their_members_do() -> None:
    planes = marks.planes_from_marks(all_mags(5))
    pags = paths.mag_to_pag(planes, 5)
    distinct, first = np.unique(pags, axis=0, return_index=True)
    assert len(distinct) == 24_259
    same = (np.arange(len(distinct)),) * 2
    for estimate, nearest in ((planes[first], False), (planes[first], True), (distinct, False)):
        assert not paths.separation_mistakes(planes[first], estimate, *same, 5, nearest=nearest).any()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["mag", "pag"])
def test_separations_by_all_possible_ancestors(kind: str) -> None:
    rng = np.random.default_rng(5)
    truth = marks.planes_from_marks(rng.choice(all_mags(4), 12, replace=False))
    estimate = observed_part(random_dags(25, 7, rng, 0.4), 4, kind)
    found = separation(truth, estimate, 4, KINDS[kind])
    given = [marks.marks_from_planes(planes, 4) for planes in (truth, estimate)]
    expected = [[distances.separation(true, claimed) for claimed in given[1]] for true in given[0]]
    np.testing.assert_array_equal(found, expected)
    assert np.ptp(found) > 4


def block(planes: np.ndarray, kind: str, d: int) -> paths.EffectGraphs:
    kinds = np.full(len(planes), KINDS[kind], np.uint8)
    return paths.EffectGraphs(planes, paths.as_models(planes, kinds, d), kinds)


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(KINDS))
def test_adjustment_in_true_models(kind: str) -> None:
    rng = np.random.default_rng(7)
    dags, others = random_dags(25, 7, rng, 0.4), random_dags(25, 7, rng, 0.4)
    truth = block(observed_part(dags, 4, "admg"), "admg", 4)
    target = observed_part(dags, 4, kind)
    estimate = np.concatenate([observed_part(others, 4, kind), target])
    index = np.tile(np.arange(25), 2), np.arange(50)
    found = paths.adjustment_mistakes(truth, block(estimate, kind, 4), *index, 4)
    claimed, best = marks.marks_from_planes(estimate, 4), marks.marks_from_planes(target, 4)
    expected = [distances.adjustment(dags[i], 4, best[i], claimed[j], kind) for i, j in zip(*index, strict=True)]
    np.testing.assert_array_equal(found, expected)
    assert not found[25:].any()
    assert np.ptp(found) > 3


@pytest.mark.parametrize("kind", ["mag", "pag"])
def test_adjustment_in_true_classes(kind: str) -> None:
    rng = np.random.default_rng(8)
    planes = observed_part(random_dags(25, 7, rng, 0.4), 4, kind)
    index = np.arange(25), (np.arange(25) + 1) % 25
    found = paths.adjustment_mistakes(*[block(planes, kind, 4)] * 2, *index, 4)
    graphs = marks.marks_from_planes(planes, 4)
    expected = [distances.adjustment_in_class(graphs[i], graphs[j]) for i, j in zip(*index, strict=True)]
    np.testing.assert_array_equal(found, expected)
    assert np.ptp(found) > 3


def test_the_criterion_finds_the_sets_that_give_effects() -> None:
    """In a random linear model, a set is valid iff the regression that includes it has the effect as coefficient."""
    rng = np.random.default_rng(11)
    answers = []
    for dag in random_dags(6, 6, rng, 0.45):
        known, seen = distances.Paths(dag), np.ones((6, 6), bool)
        for t, y in itertools.permutations(range(4), 2):
            others = [v for v in range(4) if v not in (t, y)]
            for given in itertools.chain.from_iterable(itertools.combinations(others, size) for size in range(3)):
                effects_are_one = distances.identifies(dag, t, y, given, rng)
                answers.append((distances.is_valid(known, t, y, given, seen), effects_are_one))
    assert {a == b for a, b in answers} == {True}
    assert len(set(answers)) == 2
