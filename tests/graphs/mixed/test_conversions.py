"""Conversions and relations of mixed graphs, against enumerations of all graphs on few nodes and of paths."""

from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from networkx.generators.atlas import graph_atlas_g
from references import mixed as reference

import causaleval_pd as ce
from causaleval_pd.graphs import classes
from causaleval_pd.graphs.kernels.planes import MAG, PAG
from causaleval_pd.graphs.mixed import marks, paths


def check_classes(mags: np.ndarray, separated: np.ndarray) -> int:
    """Compare PAGs, members, ancestors and tests of classes; return the number of classes."""
    d = mags.shape[1]
    groups = reference.classes(mags, separated)
    pags = np.stack([reference.shared_marks(mags[group]) for group in groups])
    number = np.empty(len(mags), int)
    for k, group in enumerate(groups):
        number[group] = k
    mag_planes, pag_planes = marks.planes_from_marks(mags), marks.planes_from_marks(pags)
    np.testing.assert_array_equal(paths.mag_to_pag(mag_planes, d), pag_planes[number])
    assert classes.IN_CLASS[PAG](pag_planes, d).all()

    chosen = paths.pag_to_mag(pag_planes, d)
    position = {graph.tobytes(): k for k, graph in enumerate(mag_planes)}
    assert [number[position[graph.tobytes()]] for graph in chosen] == list(range(len(groups)))
    bidirected = marks.count_bits(marks.bidirected(mag_planes))
    np.testing.assert_array_equal(
        marks.count_bits(marks.bidirected(chosen)), [bidirected[group].min() for group in groups]
    )

    above = reference.ancestors(mags)
    expected = np.stack([above[g].any(axis=0).astype(int) + above[g].all(axis=0) for g in groups])
    np.testing.assert_array_equal(paths.ancestors(pag_planes, d), expected)
    by_path = paths.ancestors(pag_planes, d, "path")
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
    found = classes.IN_CLASS[MAG](planes, d)
    np.testing.assert_array_equal(found, known_mags)
    assert found.sum() == maximal

    completed, faults = paths.convert(planes, d, "COMPLETE")
    np.testing.assert_array_equal(faults == 0, known)
    assert classes.IN_CLASS[MAG](completed[known], d).all()
    np.testing.assert_array_equal(reference.separations(marks.marks_from_planes(completed[known], d)), separated)

    mags, statements = graphs[found], separated[found[known]]
    assert check_classes(mags, statements) == n_classes
    pags = np.unique(paths.mag_to_pag(planes[found], d), axis=0)
    assert (marks.count_bits(marks.bidirected(pags)) == 0).sum() == with_dag
    visible = np.stack([reference.visible(graph) for graph in marks.marks_from_planes(pags, d)])
    np.testing.assert_array_equal(paths.visible_edges(pags, d), visible)


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
    assert classes.IN_CLASS[PAG](planes, d).tolist() == [graph.tobytes() in known for graph in graphs]


@pytest.mark.slow
def test_every_class_of_five_nodes_up_to_names() -> None:
    skeletons = [graph for graph in graph_atlas_g() if graph.number_of_nodes() == 5]
    assert len(skeletons) == 34
    total = 0
    for skeleton in skeletons:
        graphs = reference.all_directed_mixed(5, list(skeleton.edges))
        mags = graphs[classes.IN_CLASS[MAG](marks.planes_from_marks(graphs), 5)]
        copies = 120 // sum(1 for _ in nx.isomorphism.GraphMatcher(skeleton, skeleton).isomorphisms_iter())
        total += copies * check_classes(mags, reference.separations(mags))
    assert total == 24_259


@pytest.mark.slow
def test_numbers_of_graphs_of_five_nodes() -> None:
    planes = marks.planes_from_marks(reference.all_directed_mixed(5))
    _, faults = paths.convert(planes, 5, "COMPLETE")
    assert (faults == 0).sum() == 336_064
    mags = planes[classes.IN_CLASS[MAG](planes, 5)]
    assert len(mags) == 328_924
    pags = np.unique(paths.mag_to_pag(mags, 5), axis=0)
    assert len(pags) == 24_259
    assert (marks.count_bits(marks.bidirected(pags)) == 0).sum() == 8_782
    assert classes.IN_CLASS[PAG](pags, 5).all()


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
    planes = paths.project(marks.planes_from_marks(dags), 6, np.tile(observed, (150, 1)))
    mags = marks.marks_from_planes(planes, 4)
    np.testing.assert_array_equal(reference.separations(mags), reference.separations(dags, observed))
    assert classes.IN_CLASS[MAG](planes, 4).all()
    below = reference.ancestors(dags)[:, observed][:, :, observed]
    np.testing.assert_array_equal((mags == 2) & (mags.transpose(0, 2, 1) == 1), below & (mags != 0))


def test_admgs_are_those_of_paths() -> None:
    dags = random_dags(80, 7, np.random.default_rng(2))
    observed = [1, 2, 4, 6]
    planes = paths.project(marks.planes_from_marks(dags), 7, np.tile(observed, (80, 1)), to_admg=True)
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
        few = paths.project(marks.planes_from_marks(small), 12, np.tile(kept, (60, 1)), to_admg=to_admg)
        many = paths.project(marks.planes_from_marks(large), d, np.tile(observed, (60, 1)), to_admg=to_admg)
        np.testing.assert_array_equal(placed(many), marks.marks_from_planes(few, 9))
        if not to_admg:
            mag_few, mag_many = few, many
    pag_few, pag_many = paths.mag_to_pag(mag_few, 9), paths.mag_to_pag(mag_many, d - 3)
    np.testing.assert_array_equal(placed(pag_many), marks.marks_from_planes(pag_few, 9))
    assert classes.IN_CLASS[PAG](pag_many, d - 3).all()
    back = paths.pag_to_mag(pag_many, d - 3)
    np.testing.assert_array_equal(placed(back), marks.marks_from_planes(paths.pag_to_mag(pag_few, 9), 9))
    for relation in (paths.ancestors, paths.visible_edges):
        np.testing.assert_array_equal(relation(pag_many, d - 3)[:, where[:, None], where], relation(pag_few, 9))


def test_conversions_do_not_depend_on_the_order_of_nodes() -> None:
    rng = np.random.default_rng(5)
    dags = random_dags(100, 9, rng)
    observed = np.tile(np.arange(2, 9), (100, 1))
    mags = marks.marks_from_planes(paths.project(marks.planes_from_marks(dags), 9, observed), 7)
    order = rng.permutation(7)
    pags = marks.marks_from_planes(paths.mag_to_pag(marks.planes_from_marks(mags), 7), 7)
    turned = marks.planes_from_marks(mags[:, order[:, None], order])
    np.testing.assert_array_equal(
        marks.marks_from_planes(paths.mag_to_pag(turned, 7), 7), pags[:, order[:, None], order]
    )


@pytest.mark.parametrize("d", [0, 1, 2])
def test_few_nodes(d: int) -> None:
    planes = marks.planes_from_marks(np.zeros((3, d, d), np.uint8))
    for convert in (paths.mag_to_pag, paths.pag_to_mag):
        np.testing.assert_array_equal(convert(planes, d), planes)
    assert paths.project(planes, d, np.zeros((3, 0), int)).shape == (3, 4, 1)
    assert paths.ancestors(planes, d).shape == (3, d, d)
    assert classes.IN_CLASS[PAG](planes, d).all()
    assert paths.mag_to_pag(planes[:0], d).shape == (0, 4, 1)


def test_wrong_arguments_are_refused() -> None:
    planes = marks.planes_from_marks(np.zeros((2, 4, 4), np.uint8))
    for observed in ([[0, 4], [0, 1]], [[1, 0], [0, 1]], [[0, -1], [0, 1]], [[0, 1]], [0, 1]):
        with pytest.raises(ValueError, match="observed"):
            paths.project(planes, 4, np.array(observed))
    with pytest.raises(ValueError, match="must have the shape"):
        paths.mag_to_pag(planes[:, :2], 4)
    with pytest.raises(ValueError, match="belong to no pair"):
        paths.mag_to_pag(~planes, 4)
    with pytest.raises(ValueError, match="found graphs of 2001 nodes .* at most 2000 nodes"):
        paths.mag_to_pag(planes, 2001)
    bow = marks.planes_from_marks(np.array([[[0, 2], [0, 0]]], np.uint8))
    with pytest.raises(ValueError, match="two edges between the same nodes"):
        paths.visible_edges(bow, 2)


@pytest.mark.slow
def test_a_long_cycle_is_named_by_its_ends() -> None:
    edges = [f"X{i} -> X{(i + 1) % 3000}" for i in range(3000)]
    with pytest.raises(ValueError, match=r"cycle X0 -> X1 -> .* -> \.\.\. -> .* -> X2999 -> X0; mend") as error:
        ce.graph_column(["; ".join([*edges, "X0 <-> X5"])], kind="admg")
    assert len(str(error.value)) < 500
