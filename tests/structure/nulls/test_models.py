"""The null models of graphs: what they keep, their closed forms, and what they refuse."""

import itertools
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

import causaleval_pd as ce
from causaleval_pd.contract.field import get_field
from causaleval_pd.contract.null import Matching
from causaleval_pd.graphs.kernels import kernels
from causaleval_pd.graphs.kernels.planes import matrices_from_planes, planes_from_matrices
from causaleval_pd.graphs.pairs import GraphPairs
from causaleval_pd.tables.matching import find_null

NAMES = list("ABCDEF")
TRUTH = "A -> B; B -> C; C -> D; A -> E; D -> E; F"
ESTIMATE = "A -> B; C -> B; C -> D; E -> D; F"
NULLS = ce.list_nulls("graph").index.get_level_values("name")
RANDOM = [name for name in NULLS if name not in ("knowledge", "latent_dag")]
FIXED_EDGES = ("edges", "permutation", "orientation", "degree", "knowledge")
TIERS = ce.null_model("knowledge", tiers=[["A", "B"], ["C", "D"]], forbidden=[("A", "E")], required=[("A", "C")])


def draws_of(null, estimate=ESTIMATE, truth=TRUTH, n_draws=200, kind=None):
    """The controls of one row as a batch of pairs."""
    columns = [ce.graph_column([x]) for x in (truth, estimate)]
    [(rows, pairs)] = get_field("graph").batches(*columns, None)
    model = find_null(get_field("graph"), null)
    kinds = None if kind is None else np.array([kind], object)
    controls = model.match(Matching(*columns, kinds, None, model.options))(rows, pairs, np.array([7], np.uint64))
    return controls, controls.draw(0, n_draws)


@pytest.mark.parametrize("null", [*RANDOM, TIERS])
@pytest.mark.parametrize("estimate", [ESTIMATE, "A -- B; B -- C; D -> C; E -> C; F", "A; B; C; D; E; F"])
def test_controls_are_graphs_of_the_estimates_class(null, estimate):
    if null is TIERS and "->" not in estimate:
        with pytest.raises(ValueError, match="row 0 .*: no control with the estimate's 0 edges respects the knowledge"):
            draws_of(null, estimate)
        return
    controls, pairs = draws_of(null, estimate)
    kind = str(ce.as_graph(estimate).kind)
    word = kind
    if kind == "pdag" and null != "permutation":
        kind, word = "cpdag", "cpdag for a pdag (approximate)"
    assert controls.kind.tolist() == [word]
    for planes in pairs.estimate.planes[:50]:
        graph = ce.Graph(tuple(NAMES), kind, planes)  # checks the class
        if getattr(null, "name", null) in FIXED_EDGES:
            assert graph.n_edges == ce.as_graph(estimate).n_edges
    # draws do not depend on how they are cut
    parts = np.concatenate([controls.draw(0, 130).estimate.planes, controls.draw(130, 70).estimate.planes])
    np.testing.assert_array_equal(parts, pairs.estimate.planes)


MIXED = "A -- B; B -- C; C -> D; E -> D; A -- E; F"
DRAWN_DIRECTIONS = [name for name in RANDOM if name not in ("permutation", "empty", "complete", "oracle_skeleton")]


@pytest.mark.parametrize("null", [*DRAWN_DIRECTIONS, TIERS])
@pytest.mark.parametrize("estimate", [MIXED, "A -- B; B -- C; C -- D; A -- D; F; E", ESTIMATE])
def test_pdags_have_the_estimates_share_of_undirected_edges(null, estimate):
    """`control_kind="pdag"`: acyclic arrows, and as many edges without a direction as the estimate has."""
    controls, pairs = draws_of(null, estimate, n_draws=300, kind="pdag")
    asked = ce.as_graph(estimate)
    undirected, edges = pairs.estimate.edge_counts.undirected, pairs.estimate.edge_counts.edges
    assert controls.kind.tolist() == ["pdag"]
    share = asked.n_undirected / asked.n_edges
    np.testing.assert_array_equal(undirected, np.floor(share * edges + 0.5))
    if getattr(null, "name", null) in FIXED_EDGES:
        assert (edges == asked.n_edges).all()
    arrows = matrices_from_planes(pairs.estimate.planes, 6) > 0
    arrows &= ~arrows.transpose(0, 2, 1)
    assert not np.linalg.matrix_power(arrows.astype(float), 6).any()  # no walk of six arrows: no cycle
    parts = np.concatenate([controls.draw(0, 130).estimate.planes, controls.draw(130, 170).estimate.planes])
    np.testing.assert_array_equal(parts, pairs.estimate.planes)


@pytest.mark.slow
@pytest.mark.parametrize("null", ["edges", "orientation", "degree"])
def test_rows_of_pdags_leave_other_rows_as_they_are(null):
    """What is exact for DAGs stays so beside PDAGs, whose controls are drawn."""
    estimates = ce.graph_column([MIXED, ESTIMATE, MIXED])
    table = pd.DataFrame({"truth": [TRUTH] * 3, "estimate": estimates, "kind": ["pdag", "dag", "cpdag"]})
    how = {"n_draws": 99, "rng": 1, "null": null, "control_kind": "kind", "columns": "full"}
    metrics = ["shd", "adjacency_f1", "directed_f1", "arrowhead_precision"]
    whole = table.ceval.with_controls(metrics, **how)
    assert whole["control_kind"].tolist() == ["pdag", "dag", "cpdag"]
    alone = [table.iloc[[row]].ceval.with_controls(metrics, **how) for row in range(3)]
    pd.testing.assert_frame_equal(whole, pd.concat(alone))
    assert whole["shd_mean_method"][0] == "simulated"


def test_adjacencies_of_random_pdags_are_hypergeometric():
    controls, _ = draws_of("edges", MIXED, kind="pdag")
    assert controls.closed_form(ce.get_metric("adjacency_f1")).distribution is not None
    form = controls.closed_form(ce.get_metric("shd"))
    assert form is None or np.isnan(form.mean).all()


def test_what_stays():
    own = ce.as_graph(ESTIMATE)
    skeleton = own.planes[0] | own.planes[1]
    drawn = draws_of("orientation")[1].estimate
    assert ((drawn.planes[:, 0] | drawn.planes[:, 1]) == skeleton).all()
    truth = ce.as_graph(TRUTH)
    drawn = draws_of("oracle_skeleton")[1].estimate
    assert ((drawn.planes[:, 0] | drawn.planes[:, 1]) == (truth.planes[0] | truth.planes[1])).all()
    degrees = kernels().degrees(own.planes[None], 6).sum(axis=2)
    kept = kernels().degrees(draws_of("degree")[1].estimate.planes, 6).sum(axis=2)
    assert (kept == degrees).all()
    moved = kernels().degrees(draws_of("permutation")[1].estimate.planes, 6).sum(axis=2)
    assert (np.sort(moved, axis=1) == np.sort(degrees, axis=1)).all() and not (moved == degrees).all()
    assert (draws_of("empty")[1].estimate.edge_counts.edges == 0).all()
    assert (draws_of("complete")[1].estimate.edge_counts.edges == 15).all()


def test_knowledge_is_respected_and_else_random():
    marks = matrices_from_planes(draws_of(TIERS, n_draws=3000)[1].estimate.planes, 6).astype(bool)
    a, b, c, d, e, f = range(6)
    assert marks[:, a, c].all() and not marks[:, a, e].any()
    for later, earlier in itertools.product((c, d), (a, b)):
        assert not marks[:, later, earlier].any()
    assert marks[:, e, f].mean() == pytest.approx(marks[:, f, e].mean(), abs=0.03)
    assert marks[:, c, d].mean() == pytest.approx(marks[:, d, c].mean(), abs=0.03)
    assert 0.03 < marks[:, f, a].mean() < 0.2


def test_knowledge_that_forbids_nothing_is_the_null_edges():
    known = ce.null_model("knowledge", tiers=[["A", "B"]])
    graphs = [draws_of(null, "A -> B; C; D", "A -> B; C; D", 20_000)[1].estimate.planes for null in ("edges", known)]
    counts = [np.unique(x.reshape(len(x), -1), axis=0, return_counts=True)[1] for x in graphs]
    assert [len(x) for x in counts] == [12, 12]
    for x in counts:
        assert ((x - 20_000 / 12) ** 2 / (20_000 / 12)).sum() < 31.3  # chi-square, 11 degrees of freedom, p = .001


PAIRS = list(itertools.combinations(range(4), 2))
FOUR_EDGES = "A -> B; B -> C; A -> D; B -> D"


def joined(edges, node):
    """The other ends of a node's edges."""
    return {a + b - node for a, b in edges if node in (a, b)}


def of_degrees(edges):
    """Skeletons in which every node has as many edges as in another one, equally likely."""
    every = itertools.combinations(PAIRS, len(edges))
    return Counter(x for x in every if all(len(joined(x, i)) == len(joined(edges, i)) for i in range(4)))


def along_orders(skeletons):
    """Chances of adjacency matrices: skeletons, each directed along any order of the nodes."""
    found = Counter()
    for edges, chance in skeletons.items():
        for order in itertools.permutations(range(4)):
            marks = np.zeros((4, 4), bool)
            for edge in edges:
                marks[tuple(sorted(edge, key=order.index))] = True
            found[marks.tobytes()] += chance
    return found


def chance(null, law, estimate, n_draws=10_000):
    """The p-value of the frequencies of drawn graphs under their law; rare graphs count together."""
    planes = draws_of(null, estimate, "A -> B; C; D", n_draws)[1].estimate.planes
    seen = Counter(x.tobytes() for x in matrices_from_planes(planes, 4).astype(bool))
    assert set(seen) <= set(law), "a control lies outside the support"
    observed, expected = np.array([[seen[x], weight * n_draws / law.total()] for x, weight in law.items()]).T
    rare = expected < 5
    if rare.any():
        observed, expected = (np.append(x[~rare], x[rare].sum()) for x in (observed, expected))
    return chisquare(observed, expected).pvalue


def test_degrees_have_their_law():
    assert chance("degree", along_orders(of_degrees([(0, 1), (1, 2), (0, 3), (1, 3)])), FOUR_EDGES) > 1e-3


@pytest.mark.parametrize(
    ("tiers", "forbidden", "required", "estimate"),
    [
        ([["A", "B"], ["C"]], [], ["AC"], FOUR_EDGES),
        ([["A"], ["B"]], ["CD"], ["DB"], FOUR_EDGES),
        # along orders that start with A only four edges are allowed
        ([], ["AB", "AC"], [], FOUR_EDGES + "; C -> D"),
    ],
)
def test_knowledge_has_its_law(tiers, forbidden, required, estimate):
    """Orders that suit tiers, required edges and the number of edges; along each, allowed edges at random."""
    n_edges, tier = estimate.count("->"), {name: i for i, group in enumerate(tiers) for name in group}
    law, orders = Counter(), []
    for order in itertools.permutations("ABCD"):
        along = ["".join(pair) for pair in itertools.combinations(order, 2)]
        backwards = any(tier.get(b, 9) < tier.get(a, -1) for a, b in along)
        allowed = [pair for pair in along if pair not in [*forbidden, *required]]
        if not backwards and set(required) <= set(along) and len(allowed) >= n_edges - len(required):
            orders.append(allowed)
    for allowed in orders:
        every = list(itertools.combinations(allowed, n_edges - len(required)))
        for edges in every:
            marks = np.zeros((4, 4), bool)
            for a, b in [*edges, *required]:
                marks["ABCD".index(a), "ABCD".index(b)] = True
            law[marks.tobytes()] += 1 / len(every)
    null = ce.null_model("knowledge", tiers=tiers, forbidden=map(tuple, forbidden), required=map(tuple, required))
    assert chance(null, law, estimate) > 1e-3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"null='knowledge' needs tiers=, forbidden= or required="),
        ({"tiers": [["A"], ["Z"]]}, "knowledge names 'Z', which is not a node of the estimate"),
        ({"tiers": [["A"], ["A"]]}, "tiers holds 'A' twice"),
        ({"tiers": ["AB"]}, r"tiers must hold groups of names, such as .*, found 'AB' as a group"),
        ({"forbidden": ["AB"]}, r"forbidden must hold edges such as \('A', 'B'\) or 'A -> B', found 'AB'"),
        ({"required": [("A", "B")], "forbidden": [("A", "B")]},
         "the edge A -> B is required, and forbidden by an edge or by"),
        ({"required": [("A", "B"), ("B", "A")]}, "the required edges A -> B, B -> A form a directed cycle"),
        ({"required": ["A -> B", "B -> C", "C -> B", "C -> D"]},
         "the required edges B -> C, C -> B form a directed cycle, which no DAG has; drop one of them"),
        ({"required": [(a, "F") for a in "ABCDE"]}, "row 0 .*: no control with the estimate's 4 edges respects"),
        ({"tier": [["A"]]}, "null 'knowledge' has no option 'tier'; its options: tiers, forbidden, required"),
    ],
)  # fmt: skip
def test_knowledge_is_checked(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        draws_of(ce.null_model("knowledge", **options))


@pytest.mark.parametrize("part", ["required", "forbidden", "tiers"])
def test_knowledge_as_a_whole_is_given_by_its_parts(part):
    known = ce.Knowledge(required=["A -> B"], forbidden=["D -> C"], tiers=[["A"], ["B", "C"]])
    advice = "tiers=known.tiers, forbidden=known.forbidden, required=known.required"
    with pytest.raises(TypeError, match=f"{part} must hold .*{advice}"):
        draws_of(ce.null_model("knowledge", **{part: known}))
    parts = {name: getattr(known, name) for name in ("required", "forbidden", "tiers")}
    texts = parts | {"required": ["A -> B"], "forbidden": ["D->C"]}
    drawn = [draws_of(ce.null_model("knowledge", **how))[1].estimate.planes for how in (parts, texts)]
    np.testing.assert_array_equal(*drawn)


def support(null, estimate, truth):
    """Every control of a row with its probability, for three or four nodes."""
    d = len(ce.as_graph(truth).nodes)
    m = ce.as_graph(estimate).n_edges
    if null == "edges":
        parts = []
        for pairs in itertools.combinations(itertools.combinations("ABCD", 2), m):
            skeleton = "; ".join([f"{a} -> {b}" for a, b in pairs] + list("ABCD"))
            parts.append(support("oracle_skeleton", estimate, skeleton))
        weights = np.concatenate([weight for _, weight in parts])
        return np.concatenate([planes for planes, _ in parts]), weights / weights.sum()
    skeleton = ce.as_graph(estimate if null.startswith("orientation") else truth).skeleton().planes[None]
    found = Counter()
    marks = matrices_from_planes(skeleton, d)[0].astype(bool)
    for rank in itertools.permutations(range(d)):
        keep = np.array(rank)[:, None] < np.array(rank)[None, :]
        found[(marks & keep).tobytes()] += 1
    graphs = np.array([np.frombuffer(k, bool).reshape(d, d) for k in found])
    weights = np.array(list(found.values()), float) if "uniform" not in null else np.ones(len(found))
    return planes_from_matrices(graphs, np.arange(d)), weights / weights.sum()


@pytest.mark.parametrize("zero_division", [np.nan, 1.0])
@pytest.mark.parametrize("estimate", ["A -> B; C -> B; D -> C; A -> D", "C -> A; D -> A; D -> B; B -> A; C -> B"])
@pytest.mark.parametrize("truth", ["A -> B; B -> C; D", "A -> B; C -> B; C -> D; A -> D", "A -- B; B -> C; D -> C"])
@pytest.mark.parametrize("null", ["edges", "orientation", "orientation uniform", "oracle_skeleton"])
def test_closed_forms_by_enumeration(null, truth, estimate, zero_division, monkeypatch):
    # nothing is listed, as for larger graphs
    monkeypatch.setattr("causaleval_pd.fields.structure.nulls.listed.are_listed", lambda *_, **__: False)
    monkeypatch.setattr("causaleval_pd.fields.structure.nulls.listed.MOST_ORIENTATIONS", 0)
    law = {"orientation_law": "uniform"} if "uniform" in null else {}
    controls, _ = draws_of(ce.null_model(null.split()[0], **law), estimate, truth, 1)
    planes, weights = support(null, estimate, truth)
    pairs = controls.draw(0, 1)
    graphs = type(pairs.estimate)(4, planes, np.zeros(len(planes), np.uint8))
    every = GraphPairs(pairs.truth, graphs, np.zeros(len(planes), np.int64), np.arange(len(planes)))
    means = variances = 0
    for name in ce.list_metrics("graph").index:
        metric = ce.get_metric(name)
        if metric.direction is None or metric.closed_form in (None, "mean_over_edges"):
            continue
        metric = ce.tweak(metric, zero_division=zero_division) if metric.zero_division else metric
        known = controls.closed_form(metric)
        if known is None or np.isnan(known.mean[0]):
            continue
        values = metric(every)
        defined = ~np.isnan(values)
        mean = np.average(values[defined], weights=weights[defined])
        assert known.mean[0] == pytest.approx(mean, abs=1e-12), name
        means += 1
        if known.variance is not None and not np.isnan(known.variance[0]):
            assert known.variance[0] == pytest.approx(np.average((values - mean) ** 2, weights=weights), abs=1e-12), (
                name
            )
            variances += 1
    assert means > 20
    assert variances > 15 or null == "orientation uniform"


def test_points_of_reference_have_no_p():
    runs = pd.DataFrame({"truth": [TRUTH], "estimate": [ESTIMATE]})
    for null in ("empty", "complete", "oracle_skeleton"):
        found = ce.with_controls(runs, ["shd", "adjacency_f1"], null=null, n_draws=20, rng=1, columns="full")
        assert found[["shd_p", "shd_p_se", "adjacency_f1_p", "shd_p_method"]].isna().all(axis=None)
        assert found["shd_skill"].notna().all()
    assert (
        ce.with_controls(runs, ["shd"], null="empty", n_draws=5, rng=1, columns="full")["shd_control_mean"].iloc[0] == 5
    )


def hub(estimate, rng):
    """All edges out of one random node."""
    marks = np.zeros((estimate.n_nodes, estimate.n_nodes), bool)
    marks[rng.integers(estimate.n_nodes)] = True
    np.fill_diagonal(marks, False)
    return marks


@pytest.mark.slow
def test_functions_are_null_models():
    runs = pd.DataFrame({"truth": [TRUTH] * 3, "estimate": [ESTIMATE, None, TRUTH]}, index=[5, 6, 7])
    found = ce.with_controls(runs, ["shd", "adjacency_tp"], null=hub, n_draws=60, rng=1, columns="full")
    assert found["control_null"].unique().tolist() == ["hub"]
    # the centre's degree in the truth, whose mean is 2 x 5 / 6
    error = found.loc[5, "adjacency_tp_control_mean_se"]
    assert found.loc[5, "adjacency_tp_control_mean"] == pytest.approx(10 / 6, abs=4 * error)
    again = ce.with_controls(
        runs.iloc[::-1], ["shd", "adjacency_tp"], null=hub, n_draws=60, rng=1, columns="full"
    ).sort_index()
    pd.testing.assert_frame_equal(found, again)
    named = ce.with_controls(
        runs, ["shd"], null=ce.null_model(hub, name="star"), n_draws=60, rng=1, control_kind="cpdag", columns="full"
    )
    assert named["control_null"].iloc[0] == "star" and named["control_kind"].iloc[0] == "cpdag"
    # a star with its centre first is equivalent to the undirected star
    assert named.loc[5, "shd_control_mean"] > found.loc[5, "shd_control_mean"]


def test_dags_of_functions_lose_directions_as_those_of_null_models_do():
    """`control_kind="pdag"`: of six edges of a function's DAG three are undirected, as two of four of the estimate."""
    drawn = ce.as_graph("A -> B; A -> C; A -> D; B -> C; B -> D; C -> D; E; F")
    estimate = "A -- B; B -- C; C -> D; E -> D; F"
    kept = ce.as_graph("A -- B; B -> C; D; E; F")
    null = ce.null_model(lambda estimate, rng: kept if rng.random() < 0.5 else drawn, name="some")
    columns = [ce.graph_column([x]) for x in (TRUTH, estimate)]
    [(rows, pairs)] = get_field("graph").batches(*columns, None)
    kinds = np.array(["pdag"], object)
    model = find_null(get_field("graph"), null)
    controls = model.match(Matching(*columns, kinds, None, {}))(rows, pairs, np.array([7], np.uint64))
    batch = controls.draw(0, 60).estimate
    numbers = Counter(zip(batch.edge_counts.edges.tolist(), batch.edge_counts.undirected.tolist(), strict=True))
    assert set(numbers) == {(6, 3), (2, 1)}
    assert len({planes.tobytes() for planes in batch.planes}) > 10  # different edges
    np.testing.assert_array_equal(controls.draw(20, 10).estimate.planes, batch.planes[20:30])


@pytest.mark.parametrize(
    ("null", "message"),
    [
        (lambda estimate, rng: 3, "row 0 .*: null '<lambda>' returned an object of type int, expected a graph "),
        (
            lambda estimate, rng: None,
            "row 0 .*: null '<lambda>' returned None, expected a graph over the nodes of the ",
        ),
        (lambda estimate, rng: "A -> Z", "row 0 .*: null '<lambda>' returned an object of type str, .* unknown .'Z'."),
        (lambda estimate, rng: np.eye(2), r"returned an object of type ndarray, .* a matrix of 2 nodes"),
        (lambda estimate, rng: ce.as_graph("A -> B"), r"returned a graph over \['A', 'B'\]; a control has the nodes"),
        (["edges", "degree"], r"null must be one null model here, found 2; cube\(null=\[...\]\) takes several"),
        (ce.null_model("orientation", orientation_law="random"), "orientation_law must be 'order' or 'uniform'"),
        (ce.null_model("degree", switches=0), "switches must be a positive integer, found 0"),
        (ce.null_model("edges", law="x"), "null 'edges' has no option 'law'; its options: permute"),
        ("edge", "unknown null 'edge' for field 'graph'; did you mean 'edges'. its null models: edges, permutation"),
    ],
)
def test_null_models_are_checked(null, message):
    runs = pd.DataFrame({"truth": [TRUTH], "estimate": [ESTIMATE]})
    with pytest.raises(ValueError, match=message):
        ce.with_controls(runs, ["shd"], null=null, n_draws=5, rng=1)


def test_a_function_draws_from_its_generator_alone():
    """Draws from another generator are found by drawing the first control twice."""
    runs = pd.DataFrame({"truth": ["A -> B; C"], "estimate": ["A -> B; C"]})
    other = np.random.default_rng(0)

    def by_chance(estimate, rng):
        return ce.as_graph(np.triu(other.random((3, 3)) < 0.5, 1), nodes=estimate.nodes, encoding="row->column")

    with pytest.raises(ValueError, match="null 'by_chance' drew two graphs from generators of one seed; draw from its"):
        ce.with_controls(runs, ["shd"], null=by_chance, n_draws=5, rng=1)


def test_tuples_of_a_function_keep_isolated_nodes():
    """Lists of tuples name the nodes of edges only; the others are those of the estimate."""
    runs = pd.DataFrame({"truth": ["A -> B; C"], "estimate": ["A -> B; C"]})
    found = ce.with_controls(runs, ["shd"], null=lambda estimate, rng: [("C", "B")], n_draws=5, rng=1)
    assert found["shd_control_mean"].tolist() == [2.0]


def test_only_random_orders_can_be_fixed():
    runs = pd.DataFrame({"truth": [TRUTH], "estimate": [ESTIMATE]})
    with pytest.raises(ValueError, match="null 'permutation' has no option 'permute'"):
        ce.with_controls(runs, ["shd"], null=ce.null_model("permutation", permute=False), n_draws=5, rng=1)
    with pytest.raises(TypeError, match="a function takes no options here, found switches"):
        ce.null_model(hub, switches=3)
    with pytest.raises(TypeError, match="null must be a name, a function or ce.null_model"):
        ce.with_controls(runs, ["shd"], null=3, n_draws=5, rng=1)


@pytest.mark.slow
def test_what_cannot_be_drawn_uniformly_is_refused():
    names = [f"X{i:03}" for i in range(401)]
    large = pd.DataFrame({"truth": ["; ".join(names)], "estimate": ["; ".join(["X000 -> X001", *names])]})
    null = ce.null_model("orientation", orientation_law="uniform")
    with pytest.raises(ValueError, match="orientation_law='uniform' draws over at most 64 nodes, found 401"):
        ce.with_controls(large, ["shd"], null=null, n_draws=5, rng=1)
    ce.with_controls(large, ["shd"], null="degree", n_draws=5, rng=1)
    dense = "; ".join(f"{a} -> {b}" for a, b in itertools.combinations(names[:25], 2))
    runs = pd.DataFrame({"truth": [dense], "estimate": [dense]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("causaleval_pd.fields.structure.nulls.models.MOST_TRIES", 100)
        with pytest.raises(ValueError, match="row 0 .*: no acyclic graph was found in 100 random directions"):
            ce.with_controls(runs, ["shd"], null=null, n_draws=5, rng=1)
