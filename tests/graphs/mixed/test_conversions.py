"""Projections of graphs with latent nodes and their PAGs: recorded ones, fixtures of single rules, many nodes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from references import mixed as reference

import causaleval_pd as ce
from causaleval_pd.graphs.mixed import classes, conversions, marks, relations

KNOWN = Path(__file__).parents[2] / "known_answers" / "latent_projections.csv"

#: MAGs whose PAG needs the rule R8, which no MAG of five nodes does; the PAGs are by enumeration of their classes
RULE_8 = [
    (
        "X0 <-- X1; X0 <-- X2; X0 <-- X4; X0 --> X6; X1 <-- X5; X1 --> X6; X2 --> X5; X2 --> X6; X3 --> X4; X3 --> X5;"
        "X3 --> X6; X5 --> X6",
        "X0 <-- X1; X0 <-- X2; X0 <-- X4; X0 --> X6; X1 <-- X5; X1 --> X6; X2 o-> X5; X2 --> X6; X3 o-o X4; X3 o-> X5;"
        "X3 --> X6; X5 --> X6",
    ),
    (
        "X0 --> X2; X0 <-> X3; X0 <-- X5; X1 --> X2; X1 <-> X4; X1 --> X5; X1 <-> X6; X2 <-- X4; X2 <-- X5; X2 <-- X6;"
        "X3 <-- X6",
        "X0 --> X2; X0 <-> X3; X0 <-- X5; X1 --> X2; X1 <-o X4; X1 --> X5; X1 <-o X6; X2 <-o X4; X2 <-- X5; X2 <-o X6;"
        "X3 <-o X6",
    ),
]


@pytest.fixture(scope="module")
def recorded() -> pd.DataFrame:
    return pd.read_csv(KNOWN, keep_default_na=False)


@pytest.mark.slow
def test_recorded_projections_row_by_row(recorded: pd.DataFrame) -> None:
    dags = ce.graph_column(recorded["dag"])
    latents = recorded["latents"].str.split()
    mags, pags = dags.graph.mag(latents=latents), dags.graph.pag(latents=latents)
    pd.testing.assert_series_equal(mags, ce.graph_column(recorded["mag"], kind="mag"), check_names=False)
    pd.testing.assert_series_equal(pags, ce.graph_column(recorded["pag"], kind="pag"), check_names=False)
    pd.testing.assert_series_equal(mags.graph.pag(), pags)
    pd.testing.assert_series_equal(pags.graph.mag().graph.pag(), pags)
    assert (pags.graph.mag().graph.n_bidirected == pags.graph.n_bidirected).all()
    assert (mags.graph.maximal() == mags).all()
    # projecting in two steps is projecting at once
    first = dags.graph.mag(latents=latents.map(lambda names: names[:1]))
    assert (first.graph.mag(latents=latents.map(lambda names: names[1:])) == mags).all()
    admgs = dags.graph.admg(latents=latents)
    assert (admgs.graph.mag() == mags).all()


def test_pags_that_another_program_gets_wrong(recorded: pd.DataFrame) -> None:
    """The 26 rows that causal-learn gets wrong, and three that depend on the order of a set, each by its mistake."""
    peer = pd.read_csv(KNOWN.with_name("latent_projections_causal_learn.csv"))
    rows = recorded.iloc[peer["line"] - 2]
    latents = rows["latents"].str.split().tolist()
    ours = ce.graph_column(rows["dag"].tolist()).graph.pag(latents=latents)
    theirs = ce.graph_column(peer["pag"].tolist(), kind="mixed")
    assert (ours.to_numpy() == ce.graph_column(rows["pag"].tolist(), kind="pag").to_numpy()).all()
    assert peer.groupby("line")["always"].first().value_counts().to_dict() == {True: 26, False: 3}
    # scored against the true PAGs, which estimates of kind mixed are compared with
    runs = pd.DataFrame({"truth": rows["dag"].tolist(), "estimate": theirs, "hidden": latents})
    metrics = ["skeleton_hd", "shd", "tail_fp", "tail_fn", "arrowhead_fp", "arrowhead_fn", "circle_fp", "circle_fn"]
    found = ce.evaluate(runs, metrics, context={"latents": "hidden"}).assign(mistake=peer["mistake"])
    assert (found["skeleton_hd"] == 0).all() and (found["shd"] > 0).all()
    changed = {
        kind: set(part[metrics[2:]].columns[(part[metrics[2:]] > 0).any()]) for kind, part in found.groupby("mistake")
    }
    assert changed["missed arrowhead"] == {"arrowhead_fn", "circle_fp"}
    assert changed["missed tail"] == {"tail_fn", "circle_fp"}
    assert changed["selection bias"] == {"tail_fp", "circle_fn"}
    assert "arrowhead_fp" in changed["false mark"]
    lines = peer.drop_duplicates("line")["mistake"].value_counts().to_dict()
    assert lines == {"missed arrowhead": 19, "false mark": 5, "selection bias": 3, "missed tail": 2}


@pytest.mark.parametrize(("mag", "pag"), RULE_8)
def test_rule_8(mag: str, pag: str) -> None:
    assert ce.graph_column([mag], kind="mag").graph.pag().graph.to_graphs()[0] == ce.as_graph(pag, kind="pag")


def random_dags(n: int, d: int, rng: np.random.Generator, density: float = 0.4) -> np.ndarray:
    """Draw DAGs as codes."""
    graphs = np.zeros((n, d, d), np.uint8)
    for graph in graphs:
        order = rng.permutation(d)
        ahead = np.triu(rng.random((d, d)) < density, 1)
        graph[order[:, None], order] = np.where(ahead, 2, np.where(ahead.T, 1, 0))
    return graphs


def test_mags_have_the_separations_of_their_dags() -> None:
    dags = random_dags(150, 6, np.random.default_rng(1))
    observed = [0, 2, 3, 5]
    planes = conversions.project(marks.planes_from_marks(dags), 6, np.tile(observed, (150, 1)))
    mags = marks.marks_from_planes(planes, 4)
    np.testing.assert_array_equal(reference.separations(mags), reference.separations(dags, observed))
    assert classes.is_mag(planes, 4).all()
    below = reference.ancestors(dags)[:, observed][:, :, observed]
    np.testing.assert_array_equal((mags == 2) & (mags.transpose(0, 2, 1) == 1), below & (mags != 0))


def test_admgs_are_those_of_paths() -> None:
    dags = random_dags(80, 7, np.random.default_rng(2))
    observed = [1, 2, 4, 6]
    planes = conversions.project(marks.planes_from_marks(dags), 7, np.tile(observed, (80, 1)), to_admg=True)
    assert classes.is_admg(planes, 4).all()
    names = [str(node) for node in observed]
    for dag, one in zip(dags, planes, strict=True):
        known = reference.project_to_admg({j: np.flatnonzero(dag[:, j] == 2).tolist() for j in range(7)}, observed)
        found = ce.graphs.Graph(names, "admg", one)
        assert set(found.edges) == {f"{i} {mark} {j}" for i, mark, j in known}


def spread(graphs: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Put small graphs onto nodes of more than two words."""
    small = graphs.shape[1]
    at = np.sort(np.random.default_rng(3).choice(d, small, replace=False))
    at[[0, -1]] = 0, d - 1
    large = np.zeros((len(graphs), d, d), graphs.dtype)
    large[:, at[:, None], at] = graphs
    return large, at


def test_many_nodes_give_what_few_do() -> None:
    d = 131
    rng = np.random.default_rng(4)
    small = random_dags(60, 12, rng)
    large, at = spread(small, d)
    kept = np.delete(np.arange(12), [2, 5, 9])
    observed = np.delete(np.arange(d), at[[2, 5, 9]])
    where = np.searchsorted(observed, at[kept])

    def placed(planes: np.ndarray) -> np.ndarray:
        found = marks.marks_from_planes(planes, d - 3)
        assert np.count_nonzero(found) == np.count_nonzero(found[:, where[:, None], where])
        return found[:, where[:, None], where]

    for to_admg in (False, True):
        few = conversions.project(marks.planes_from_marks(small), 12, np.tile(kept, (60, 1)), to_admg=to_admg)
        many = conversions.project(marks.planes_from_marks(large), d, np.tile(observed, (60, 1)), to_admg=to_admg)
        np.testing.assert_array_equal(placed(many), marks.marks_from_planes(few, 9))
        if not to_admg:
            mag_few, mag_many = few, many
    pag_few, pag_many = conversions.mag_to_pag(mag_few, 9), conversions.mag_to_pag(mag_many, d - 3)
    np.testing.assert_array_equal(placed(pag_many), marks.marks_from_planes(pag_few, 9))
    assert classes.is_pag(pag_many, d - 3).all()
    back = conversions.pag_to_mag(pag_many, d - 3)
    np.testing.assert_array_equal(placed(back), marks.marks_from_planes(conversions.pag_to_mag(pag_few, 9), 9))
    for relation in (relations.ancestors, relations.visible_edges):
        np.testing.assert_array_equal(relation(pag_many, d - 3)[:, where[:, None], where], relation(pag_few, 9))


def test_conversions_do_not_depend_on_the_order_of_nodes() -> None:
    rng = np.random.default_rng(5)
    dags = random_dags(100, 9, rng)
    observed = np.tile(np.arange(2, 9), (100, 1))
    mags = marks.marks_from_planes(conversions.project(marks.planes_from_marks(dags), 9, observed), 7)
    order = rng.permutation(7)
    pags = marks.marks_from_planes(conversions.mag_to_pag(marks.planes_from_marks(mags), 7), 7)
    turned = marks.planes_from_marks(mags[:, order[:, None], order])
    np.testing.assert_array_equal(
        marks.marks_from_planes(conversions.mag_to_pag(turned, 7), 7), pags[:, order[:, None], order]
    )


@pytest.mark.parametrize("d", [0, 1, 2])
def test_few_nodes(d: int) -> None:
    planes = marks.planes_from_marks(np.zeros((3, d, d), np.uint8))
    for convert in (conversions.mag_to_pag, conversions.pag_to_mag):
        np.testing.assert_array_equal(convert(planes, d), planes)
    assert conversions.project(planes, d, np.zeros((3, 0), int)).shape == (3, 4, 1)
    assert relations.ancestors(planes, d).shape == (3, d, d)
    assert classes.is_pag(planes, d).all()
    assert conversions.mag_to_pag(planes[:0], d).shape == (0, 4, 1)


def test_wrong_arguments_are_refused() -> None:
    planes = marks.planes_from_marks(np.zeros((2, 4, 4), np.uint8))
    for observed in ([[0, 4], [0, 1]], [[1, 0], [0, 1]], [[0, -1], [0, 1]], [[0, 1]], [0, 1]):
        with pytest.raises(ValueError, match="observed"):
            conversions.project(planes, 4, np.array(observed))
    with pytest.raises(ValueError, match="planes of the shape"):
        conversions.mag_to_pag(planes[:, :2], 4)
    with pytest.raises(ValueError, match="belong to no pair"):
        conversions.mag_to_pag(~planes, 4)
    with pytest.raises(ValueError, match="found graphs of 2001 nodes .* at most 2000 nodes"):
        conversions.mag_to_pag(planes, 2001)
    bow = marks.planes_from_marks(np.array([[[0, 2], [0, 0]]], np.uint8))
    with pytest.raises(ValueError, match="two edges between the same nodes"):
        relations.visible_edges(bow, 2)


@pytest.mark.slow
def test_a_long_cycle_is_named_by_its_ends() -> None:
    edges = [f"X{i} -> X{(i + 1) % 3000}" for i in range(3000)]
    with pytest.raises(ValueError, match=r"cycle X0 -> X1 -> .* -> \.\.\. -> .* -> X2999 -> X0; mend") as error:
        ce.graph_column(["; ".join([*edges, "X0 <-> X5"])], kind="admg")
    assert len(str(error.value)) < 500
