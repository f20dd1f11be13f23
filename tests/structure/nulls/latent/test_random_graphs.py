"""Laws of random MAGs, PAGs, ADMGs, skeletons and DAGs with latent nodes, against enumerations."""

import itertools
from collections import Counter
from functools import cache

import numpy as np
import pandas as pd
import pytest
from references import mixed as reference
from scipy.stats import chisquare

import causaleval_pd as ce
from causaleval_pd.contract.field import get_field
from causaleval_pd.contract.null import Matching
from causaleval_pd.fields.structure.nulls.latent import Cell, best_proposal, free_proposal
from causaleval_pd.graphs import classes
from causaleval_pd.graphs.kernels.planes import PAG
from causaleval_pd.graphs.mixed import marks
from causaleval_pd.tables.matching import find_null


def controls_of(null, estimate, control_kind=None, truth=None, key=7):
    """The controls of one row; cells are edge strings with their classes."""
    columns = [ce.graph_column([text], kind=kind) for text, kind in (truth or estimate, estimate)]
    [(rows, pairs)] = get_field("graph").batches(*columns, None)
    model = find_null(get_field("graph"), null)
    kinds = None if control_kind is None else np.array([control_kind], object)
    matching = Matching(*columns, kinds, None, model.options)
    return model.match(matching)(rows, pairs, np.array([key], np.uint64))


def codes_of(controls, n_draws):
    """Draw controls as matrices of codes, and return those that were found."""
    pairs = controls.draw(0, n_draws)
    codes = marks.marks_from_planes(pairs.estimate.planes, pairs.n_nodes)
    return codes if pairs.lacking is None else codes[~pairs.lacking]


ARROW = reference.ARROW


def text_of(codes):
    """An edge string of a graph of four nodes at most."""
    tails, heads = {1: "-", 2: "<", 3: "o"}, {1: "-", 2: ">", 3: "o"}
    edges = [
        f"{'ABCD'[i]} {tails[codes[j, i]]}-{heads[codes[i, j]]} {'ABCD'[j]}"
        for i, j in reference.pairs_of(len(codes))
        if codes[i, j]
    ]
    return "; ".join([*edges, *"ABCD"[: len(codes)]])


def bidirected(graphs):
    return ((graphs == ARROW) & (graphs.transpose(0, 2, 1) == ARROW)).sum(axis=(1, 2)) // 2


def orders_that_suit(graph):
    """The number of orders of the nodes along which all directed edges point."""
    arcs = np.argwhere(reference.directed(graph[None])[0])
    return sum(all(order[a] < order[b] for a, b in arcs) for order in itertools.permutations(range(len(graph))))


@cache
def every_mag(d):
    """All MAGs, their PAGs by definition, and the weight of each in the law of proposals."""
    graphs = reference.all_directed_mixed(d)
    graphs = graphs[reference.is_ancestral(graphs)]
    separated = reference.separations(graphs)
    maximal = reference.is_maximal(graphs, separated)
    mags, separated = graphs[maximal], separated[maximal]
    pags = np.zeros_like(mags)
    for group in reference.classes(mags, separated):
        pags[group] = reference.shared_marks(mags[group])
    return mags, pags, np.array([orders_that_suit(mag) for mag in mags], float)


def chance(drawn, law):
    """Return the p-value of drawn graphs under a law by bytes; a graph outside its support is an error."""
    seen = Counter(graph.tobytes() for graph in drawn)
    assert set(seen) <= set(law), "a control lies outside the support"
    total = sum(law.values())
    expected = np.array([len(drawn) * x / total for x in law.values()])
    observed = np.array([seen[key] for key in law], float)
    few = expected < 5
    if few.any():  # cells that are rarely met are joined
        expected, observed = ([*x[~few], x[few].sum()] for x in (expected, observed))
    return 1.0 if len(observed) < 2 else chisquare(observed, expected).pvalue


def law_of(d, m, proposed, shown, kind, skeleton=None):
    """Weigh the graphs of a class that show `shown` bidirected edges, from MAGs with `proposed` of them."""
    mags, pags, weights = every_mag(d)
    graphs = mags if kind == "mag" else pags
    near = mags != 0
    fits = (near.sum(axis=(1, 2)) == 2 * m) & (bidirected(mags) == proposed) & (bidirected(graphs) == shown)
    if skeleton is not None:
        fits &= (near == skeleton).all(axis=(1, 2))
    law = Counter()
    for graph, weight in zip(graphs[fits], weights[fits], strict=True):
        law[graph.tobytes()] += weight
    return law


def cells(d, kind):
    """The numbers of edges and of bidirected edges that graphs of a class show, with a graph each."""
    mags, pags, _ = every_mag(d)
    graphs = mags if kind == "mag" else pags
    found = {}
    for graph, m, b in zip(graphs, (graphs != 0).sum(axis=(1, 2)) // 2, bidirected(graphs), strict=True):
        found.setdefault((int(m), int(b)), graph)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["mag", "pag"])
@pytest.mark.parametrize("d", [3, 4])
def test_law_of_edges(d, kind):
    found = {}
    for (m, b), graph in cells(d, kind).items():
        drawn = codes_of(controls_of("edges", (text_of(graph), kind)), 4000)
        assert len(drawn) == 4000
        proposed = best_proposal(Cell(d, m), b, to_pag=True).n_bidirected if kind == "pag" else b
        found[m, b] = chance(drawn, law_of(d, m, proposed, b, kind))
    assert len(found) >= (11 if kind == "pag" and d == 4 else 4)
    assert min(found.values()) > 0.01 / len(found), found


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["mag", "pag"])
def test_law_of_orientation(kind):
    """Every skeleton of four nodes up to names, with each number of bidirected edges that it can show."""
    mags, pags, _ = every_mag(4)
    graphs = mags if kind == "mag" else pags
    seen, found = set(), {}
    for graph, b in zip(graphs, bidirected(graphs).tolist(), strict=True):
        near = graph != 0
        shape = (tuple(sorted(near.sum(axis=0))), b)
        if shape in seen or not near.any():
            continue
        seen.add(shape)
        controls = controls_of("orientation", (text_of(graph), kind))
        drawn = codes_of(controls, 2000)
        assert len(drawn) == 2000
        proposed = b
        if kind == "pag":
            half = marks.adjacencies(marks.planes_from_marks(graph[None]))
            cell = Cell(4, int(near.sum()) // 2, np.stack([half, half], axis=1).tobytes())
            proposed = best_proposal(cell, b, to_pag=True).n_bidirected
        found[shape] = chance(drawn, law_of(4, int(near.sum()) // 2, proposed, b, kind, near))
    assert len(found) >= 10
    assert min(found.values()) > 0.01 / len(found), found


@pytest.mark.slow
def test_free_numbers_of_bidirected_edges():
    """The number is uniform up to half of the edges; given it, graphs follow the law of MAGs with it."""
    null = ce.null_model("edges", bidirected="free")
    most = -1 - free_proposal(Cell(4, 4)).n_bidirected
    assert most == 2
    law = Counter()
    for b in range(most + 1):
        part = law_of(4, 4, b, b, "mag")
        law.update({key: weight / sum(part.values()) for key, weight in part.items()})
    assert chance(codes_of(controls_of(null, ("A -> B; B -> C; C -> D; A -> D", "mag")), 8000), law) > 1e-3
    # numbers that no PAG shows are drawn as others are
    controls = controls_of(null, ("A o-> B; B <-> C; C -- D; A -> D; A -> C", "mixed"), "pag")
    drawn = codes_of(controls, 500)
    assert len(drawn) == 500 and controls.kind.tolist() == ["pag"]
    assert classes.IN_CLASS[PAG](marks.planes_from_marks(drawn), 4).all()


@pytest.mark.parametrize("null", ["edges", "orientation"])
def test_law_of_admgs(null):
    """Directed and bidirected edges are independent, or lie on the adjacent pairs at random."""
    d, pairs = 3, [(0, 1), (0, 2), (1, 2)]
    law = Counter()
    near = pairs if null == "orientation" else None
    for skeleton, both in itertools.product(itertools.combinations(pairs, 2), itertools.combinations(pairs, 2)):
        if near and set(skeleton) | set(both) != set(near):
            continue
        for order in itertools.permutations(range(d)):
            codes = np.zeros((d, d), np.uint8)
            for i, j in both:
                codes[i, j] = codes[j, i] = ARROW
            for i, j in skeleton:
                a, b = (i, j) if order[i] < order[j] else (j, i)
                codes[a, b], codes[b, a] = ARROW, 0 if (i, j) in both else 1
            law[codes.tobytes()] += 1
    drawn = codes_of(controls_of(null, ("A -> B; A <-> B; B -> C; A <-> C", "admg")), 6000)
    assert chance(drawn, law) > 1e-3


def test_law_of_skeletons():
    drawn = codes_of(controls_of("edges", ("A -- B; B -- C; D", "skeleton")), 3000)
    law = Counter()
    for chosen in itertools.combinations(itertools.combinations(range(4), 2), 2):
        codes = np.zeros((4, 4), np.uint8)
        for i, j in chosen:
            codes[i, j] = codes[j, i] = 1
        law[codes.tobytes()] += 1
    assert chance(drawn, law) > 1e-3
    with pytest.raises(ValueError, match="row 0 .*: the estimate is a skeleton, whose edges have no direction"):
        controls_of("orientation", ("A -- B; C", "skeleton"))


def test_oracle_keeps_the_skeleton_and_the_number_of_the_truth():
    truth = "A o-> B; C o-> B; B -> D; E"
    drawn = codes_of(controls_of("oracle_skeleton", ("A o-o C; B; D; E", "pag"), truth=(truth, "pag")), 200)
    near = marks.marks_from_planes(ce.as_graph(truth, kind="pag").planes[None], 5)[0] != 0
    assert ((drawn != 0) == near).all() and (bidirected(drawn) == 0).all()
    assert len(np.unique(drawn.reshape(200, -1), axis=0)) > 2


def random_pag(d, m, b, key=1):
    """A PAG with m edges that shows b bidirected ones, and its controls."""
    names = [f"X{i:02}" for i in range(d)]
    pairs = list(itertools.combinations(names, 2))[:m]
    text = "; ".join([f"{x} {'<->' if i < b else 'o-o'} {y}" for i, (x, y) in enumerate(pairs)] + names)
    return controls_of("edges", (text, "mixed"), "pag", key=key)


@pytest.mark.parametrize(("d", "m", "b"), [(10, 15, 4), (20, 25, 5), (70, 70, 6)])
def test_larger_graphs_show_what_the_cell_shows(d, m, b):
    pairs = random_pag(d, m, b).draw(0, 60)
    planes = pairs.estimate.planes
    assert pairs.lacking is None and classes.IN_CLASS[PAG](planes, d).all()
    assert (marks.count_edges(planes) == m).all() and (marks.count_bits(marks.bidirected(planes)) == b).all()
    assert len(np.unique(planes.reshape(60, -1), axis=0)) == 60


@pytest.mark.parametrize("null", ["edges", "orientation", ce.null_model("edges", bidirected="free")])
@pytest.mark.parametrize("kind", ["mag", "admg", "pag"])
def test_draws_do_not_depend_on_how_they_are_cut(null, kind):
    text = {"pag": "A o-> B; C o-> B; B -> D"}.get(kind, "A -> B; C <-> B; B -> D")
    controls = controls_of(null, (text, kind))
    parts = [controls.draw(first, n).estimate.planes for first, n in ((0, 13), (13, 27))]
    np.testing.assert_array_equal(np.concatenate(parts), controls.draw(0, 40).estimate.planes)
    other = controls_of(null, (text, kind), key=8).draw(0, 40).estimate.planes
    assert (other != controls.draw(0, 40).estimate.planes).any()


@pytest.mark.parametrize(
    ("null", "estimate", "kind", "message"),
    [
        ("edges", ("A o-- B; B o-> C", "mixed"), None, r"row 0 .*: the estimate is a mixed graph.*control_kind='pag'"),
        ("edges", ("A -> B; C", "mag"), "dag", "row 0 .* is a mag, and control_kind is 'dag'; controls of mag"),
        ("edges", ("A -> B; C", "admg"), "pag", "controls of admg estimates are admg"),
        (ce.null_model("edges", permute=False), ("A -> B; C", "mag"), None, "permute=False directs the edges of DAGs"),
        (ce.null_model("edges", bidirected="all"), ("A -> B; C", "mag"), None, "bidirected must be 'matched' or"),
        (ce.null_model("orientation", bidirected=1), ("A -> B; C", "mag"), None, "bidirected must be 'matched' or"),
        (ce.null_model("orientation", orientation_law="uniform"), ("A -> B; C", "mag"), None, "'uniform' directs the"),
        ("degree", ("A -> B; C", "mag"), None, "row 0 .*: the .* is a mag, and this null model draws controls for dag"),
    ],
)
def test_refusals(null, estimate, kind, message):
    with pytest.raises(ValueError, match=message):
        controls_of(null, estimate, kind)


def test_classes_of_controls():
    assert controls_of("edges", ("A -> B; B <-> C", "mag")).kind.tolist() == ["mag"]
    assert controls_of("edges", ("A -> B; B <-> C", "mag"), "pag").kind.tolist() == [
        "pag: none with 2 edges, 1 of them <->, over 3 nodes among 100,000 proposals; take null='permutation', or "
        "bidirected='free'"
    ]
    assert controls_of("edges", ("A o-o B; C", "pag"), "mag").kind.tolist() == ["mag"]
    controls = controls_of("permutation", ("A o-- B; B o-> C; D", "mixed"))
    assert controls.kind.tolist() == ["mixed"]
    near = codes_of(controls, 300)
    assert len(np.unique(near.reshape(300, -1), axis=0)) == 24
    assert (np.sort(near.reshape(300, -1), axis=1) == np.sort(near[0].reshape(-1))).all()


def test_a_cell_that_no_pag_shows_has_no_controls_and_the_reason():
    runs = pd.DataFrame(
        {
            "truth": ce.graph_column(["A o-> B; C o-> B; D", "A o-> B; C o-> B; D"], kind="pag"),
            "estimate": ce.graph_column(
                ["A <-> B; B -> C; C -> D; A -> C; A -> D", "A o-> B; C o-> B; D"], kind=["mixed", "pag"]
            ),
        }
    )
    found = ce.with_controls(runs, ["shd"], control_kind="pag", n_draws=50, rng=1, columns="full")
    assert found["shd_control_undefined"].tolist() == [1, 0] and found["shd_p"].isna().tolist() == [True, False]
    assert found["control_kind"].tolist() == [
        "pag: none with 5 edges, 1 of them <->, over 4 nodes among 100,000 proposals; take null='permutation', or "
        "bidirected='free'",
        "pag",
    ]
    free = ce.null_model("edges", bidirected="free")
    for null in ("permutation", free):
        found = ce.with_controls(runs, ["shd"], null=null, control_kind="pag", n_draws=50, rng=1, columns="full")
        assert found["shd_p"].notna().all() and found["control_kind"].iloc[0] == ("pag" if null is free else "mixed")
    cube = runs.assign(a=["x", "x"]).ceval.cube(["shd"], by="a", control_kind="pag", n_draws=50, rng=1)
    assert cube.ceval.summary(columns="full")["p_value"].notna().all()


@pytest.mark.parametrize("null", ["edges", "orientation", "permutation"])
def test_laws_of_functions_of_the_skeleton(null):
    """Exact where the skeleton is kept or uniform; bidirected edges make dense skeletons rarer under `edges`."""
    names = [f"X{i}" for i in range(9)]
    kinds = {"pag": "X0 o-> X1; X2 o-> X1; X1 -> X3", "skeleton": "X0 -- X1; X1 -- X2; X4 -- X5; X6 -- X7"}
    kinds["mag"] = "X0 <-> X1; X1 -> X2; X0 <-> X3"
    estimates = ce.graph_column(list(kinds.values()), nodes=names, kind=list(kinds))
    truths = ce.graph_column(
        ["X0 o-o X1; X1 o-o X2; X4 o-o X6"] * 2 + ["X0 <-> X1; X2 -> X3"], nodes=names, kind=["pag", "pag", "mag"]
    )
    runs = pd.DataFrame({"truth": truths, "estimate": estimates})
    runs = runs if null != "orientation" else runs[estimates.graph.kind != "skeleton"]
    exact = ce.with_controls(runs, ["adjacency_tp"], null=null, n_draws=99, rng=1, columns="full")
    drawn = ce.with_controls(runs, ["adjacency_tp"], null=null, n_draws=2000, rng=1, columns="full", method="simulate")
    methods = {"edges": ["exact", "exact", "simulated"], "orientation": ["exact"] * 2, "permutation": ["exact"] * 3}
    assert exact["adjacency_tp_mean_method"].tolist() == methods[null]
    error = 4 * np.hypot(drawn["adjacency_tp_control_mean_se"], exact["adjacency_tp_control_mean_se"]) + 1e-9
    assert ((exact["adjacency_tp_control_mean"] - drawn["adjacency_tp_control_mean"]).abs() <= error).all()


def test_memory_is_bounded_by_what_a_control_takes():
    controls = controls_of("edges", ("; ".join(["X0 <-> X1", *(f"X{i}" for i in range(60))]), "admg"))
    for count in (1, 3):
        assert controls.cost * count >= 2 * controls.draw(0, count).estimate.planes.nbytes


TEXTS = {
    "mag": "A -> B; B <-> C; D",
    "pag": "A o-> B; C o-> B; B -> D",
    "admg": "A -> B; A <-> B; C; D",
    "skeleton": "A -- B; B -- C; D",
}


def projected(n, n_edges, kind):
    """Count the projections of all skeletons and orders of n nodes onto the first three."""
    cells = []
    for skeleton in itertools.combinations(itertools.combinations("ABCL", 2), n_edges):
        for order in itertools.permutations("ABCL"[:n]):
            edges = [(a, b) if order.index(a) < order.index(b) else (b, a) for a, b in skeleton]
            cells.append("; ".join([f"{a} -> {b}" for a, b in edges] + list("ABCL"[:n])))
    column = ce.graph_column(cells, kind="dag")
    made = column.graph.pag(latents=["L"]) if kind == "pag" else column.graph.mag(latents=["L"])
    return Counter(made.graph.to_strings())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["mag", "pag"])
def test_law_of_projections(kind):
    null = ce.null_model("latent_dag", n_latents=1, density=0.5)
    controls = controls_of(null, ("A -> B; B -> C" if kind == "mag" else "A o-o B; B o-o C", kind))
    pairs = controls.draw(0, 4000)
    graphs = [ce.graphs.Graph(("A", "B", "C"), kind, planes) for planes in pairs.estimate.planes]
    seen = Counter(ce.graph_column(graphs).graph.to_strings())
    law = projected(4, 3, kind)
    assert set(seen) <= set(law)
    expected = np.array(list(law.values())) * 4000 / sum(law.values())
    assert chisquare([seen[text] for text in law], expected).pvalue > 1e-3


@pytest.mark.parametrize("kind", TEXTS)
def test_edges_are_those_of_the_estimate_in_the_mean(kind):
    controls = controls_of(ce.null_model("latent_dag", n_latents=2), (TEXTS[kind], kind))
    assert controls.kind.tolist() == [kind]
    drawn = codes_of(controls, 3000)
    wanted = 3 if kind == "pag" else 2
    n_edges = np.array([ce.graph_column([TEXTS[kind]], kind=kind).graph.n_edges.iloc[0]])
    assert n_edges == [wanted]
    near = (drawn != 0) | (drawn.transpose(0, 2, 1) != 0)
    double = (drawn != 0) ^ (drawn.transpose(0, 2, 1) != 0)
    assert (near.sum(axis=(1, 2)) / 2 + double.sum(axis=(1, 2)) / 2).mean() == pytest.approx(wanted, abs=0.6)
    parts = [controls.draw(first, n).estimate.planes for first, n in ((0, 13), (13, 27))]
    np.testing.assert_array_equal(np.concatenate(parts), controls.draw(0, 40).estimate.planes)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({}, "mag", "null='latent_dag' needs the number of latent nodes"),
        ({"n_latents": -1}, "mag", "n_latents"),
        ({"n_latents": 1, "density": 2}, "mag", "density"),
        ({"n_latents": 1}, "dag", "row 0 .*: the estimate is a dag, and null='latent_dag' draws mag, pag, admg"),
        ({"n_latents": 3000}, "mag", "at most 2000 nodes"),
    ],
)
def test_dags_with_latent_nodes_that_cannot_be_drawn(options, kind, message):
    with pytest.raises(ValueError, match=message):
        controls_of(ce.null_model("latent_dag", **options), (TEXTS.get(kind, "A -> B"), kind))
