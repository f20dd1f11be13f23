"""Which class of controls an estimate gets: digraphs are matched by random directed graphs, with cycles."""

import itertools
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

import causaleval_pd as ce
from causaleval_pd.contract.field import get_field
from causaleval_pd.contract.null import Matching
from causaleval_pd.graphs.kernels.planes import matrices_from_planes
from causaleval_pd.tables.matching import find_null

TRUTH = "A -> B; B -> C; C -> D; A -> E; D -> E"
CYCLE = "A -> B; B -> C; C -> A; D -> E"


def drawn(null, estimate, truth, n_draws, kind=None):
    """The controls of one row, and what the null model knows of them."""
    columns = [ce.graph_column([x]) for x in (truth, estimate)]
    [(rows, pairs)] = get_field("graph").batches(*columns, None)
    model = find_null(get_field("graph"), null)
    kinds = None if kind is None else np.array([kind], object)
    controls = model.match(Matching(*columns, kinds, None, model.options))(rows, pairs, np.array([7], np.uint64))
    return controls, controls.draw(0, n_draws)


def random_studies(n_studies, n_rows, n_nodes, n_edges, rng):
    """Random DAGs as truths, and as estimates directed graphs whose edges are directed by coins."""
    names = [f"X{i}" for i in range(n_nodes)]
    first, second = np.triu_indices(n_nodes, 1)
    truths, estimates = np.zeros((2, n_studies * n_rows, n_nodes, n_nodes), int)
    for truth, estimate in zip(truths, estimates, strict=True):
        chosen, order = rng.choice(len(first), n_edges, replace=False), rng.permutation(n_nodes)
        truth[order[first[chosen]], order[second[chosen]]] = 1
        chosen, turned = rng.choice(len(first), n_edges, replace=False), rng.random(n_edges) < 0.5
        low, high = first[chosen], second[chosen]
        estimate[np.where(turned, high, low), np.where(turned, low, high)] = 1
    columns = {
        side: ce.graph_column(list(stack), nodes=names, encoding="row->column")
        for side, stack in (("truth", truths), ("estimate", estimates))
    }
    return pd.DataFrame({**columns, "study": np.repeat(np.arange(n_studies), n_rows)})


@pytest.mark.slow
def test_guessing_a_directed_graph_is_no_skill():
    """300 studies of 20 random directed graphs: controls that are CPDAGs reject in .35 and .21 of them."""
    studies = random_studies(300, 20, 8, 16, np.random.default_rng(11))
    cyclic = studies["estimate"].graph.kind == "digraph"
    assert 0.9 < cyclic.mean() < 0.97
    cube = studies.ceval.cube(["shd", "directed_f1"], by="study", n_draws=199, rng=5)
    rejected = cube.ceval.summary(columns="full").set_index("metric")["p_value"].le(0.05).groupby(level=0).mean()
    # 3 standard errors of .05 in 300 studies are .038
    assert rejected.between(0.005, 0.088).all(), rejected
    scored = studies.head(40).ceval.with_controls(["shd"], n_draws=20, rng=1)
    assert scored["control_kind"].tolist() == np.where(cyclic.head(40), "digraph", "dag").tolist()


@pytest.mark.parametrize(("null", "n_edges"), [("edges", 2), ("edges", 3), ("orientation", 2), ("degree", 3)])
def test_law_of_directed_controls(null, n_edges):
    """All directed graphs with the edges (and skeleton) are equally likely, cycles included."""
    estimate = "A -> B; B -> C; C -> A" if n_edges == 3 else "A -> B; B -> C"
    _, pairs = drawn(null, estimate, "A -> B; B -> C; A -> C", 8000, kind="digraph")
    marks = matrices_from_planes(pairs.estimate.planes, 3).reshape(-1, 9)
    assert (marks.sum(axis=1) == n_edges).all()
    _, counts = np.unique(marks, axis=0, return_counts=True)
    skeletons = 1 if null == "orientation" or n_edges == 3 else 3
    assert len(counts) == skeletons * 2**n_edges
    assert chisquare(counts).pvalue > 1e-3


def test_directions_of_large_graphs_are_independent_coins():
    names = [f"X{i:02}" for i in range(20)]  # 190 pairs: three words per plane
    estimate = ce.as_graph("; ".join(f"{a} -> {b}" for a, b in itertools.combinations(names, 2)), kind="digraph")
    _, pairs = drawn("edges", estimate, ce.as_graph("; ".join(names)), 2000, kind="digraph")
    forward = matrices_from_planes(pairs.estimate.planes, 20)[:, *np.triu_indices(20, 1)].astype(float)
    assert abs(forward.mean(axis=0) - 0.5).max() < 0.06
    away = np.corrcoef(forward.T) - np.eye(190)
    assert abs(away).max() < 0.12


@pytest.mark.parametrize("null", ["edges", "orientation", "degree"])
@pytest.mark.parametrize("metric", ["shd", "directed_precision", "adjacency_f1", "orientation_precision"])
def test_closed_forms_of_directed_controls(null, metric):
    controls, pairs = drawn(null, CYCLE, TRUTH, 20_000)
    assert controls.kind.tolist() == ["digraph"]
    chosen = getattr(ce, metric)
    values = np.asarray(chosen(pairs))
    known = controls.closed_form(chosen)
    if known is None:
        return
    spread = np.nanstd(values)
    assert np.nanmean(values) == pytest.approx(known.mean[0], abs=5 * spread / np.sqrt(len(values)) + 1e-12)
    if known.variance is not None and not np.isnan(known.variance[0]):
        assert spread**2 == pytest.approx(known.variance[0], rel=0.06, abs=1e-12)


def test_variance_of_directed_controls_is_known_and_not_that_of_dags():
    tossed, ordered = (drawn("edges", CYCLE, TRUTH, 1, kind)[0].closed_form(ce.shd) for kind in (None, "dag"))
    assert tossed.mean == ordered.mean
    assert 0 < tossed.variance[0] != ordered.variance[0]


def test_draws_do_not_depend_on_how_they_are_cut():
    controls, whole = drawn("edges", CYCLE, TRUTH, 200)
    parts = [controls.draw(0, 130).estimate.planes, controls.draw(130, 70).estimate.planes]
    np.testing.assert_array_equal(np.concatenate(parts), whole.estimate.planes)


def test_a_directed_cycle_that_is_declared_a_pdag_is_matched_by_directed_graphs():
    table = pd.DataFrame({"truth": [TRUTH] * 4})
    estimates = [CYCLE, CYCLE, CYCLE + "; A -- E", TRUTH]
    table["estimate"] = ce.graph_column(estimates, kind=["pdag", "digraph", "pdag", "digraph"])
    found = table.ceval.with_controls(["shd"], n_draws=20, rng=1)
    assert found["control_kind"].tolist() == ["digraph", "digraph", "cpdag for a pdag (approximate)", "digraph"]


@pytest.mark.parametrize("kind", ["cpdag", "dag"])
def test_the_class_of_controls_names_estimates_that_no_control_can_equal(kind):
    table = pd.DataFrame({"truth": [TRUTH] * 5})
    estimates = [CYCLE, CYCLE, CYCLE + "; A -- E", TRUTH, "A -- B; B -- C; C -- D; E"]
    table["estimate"] = ce.graph_column(estimates, kind=["pdag", "digraph", "pdag", "digraph", "cpdag"])
    found = table.ceval.with_controls(["shd"], n_draws=20, rng=1, control_kind=kind)
    other = [*("pdag", "digraph", "pdag", "digraph"), None]
    words = [kind if x is None else f"{kind} for a {x} (approximate)" for x in other]
    assert found["control_kind"].tolist() == words
    cube = table.ceval.cube(["shd"], by=[], n_draws=20, rng=1, control_kind=kind)
    assert cube.attrs["control_kind"] == ", ".join(sorted(set(words)))


SQUARE = "A -- B; B -- C; C -- D; D -- A; E"


@pytest.mark.parametrize("verb", ["with_controls", "cube"])
def test_undirected_estimates_whose_controls_have_arrows_are_warned_of(verb):
    table = pd.DataFrame({"truth": [TRUTH] * 3, "estimate": [SQUARE, "A -- B; C; D; E", "A; B; C; D; E"]})
    how = {"n_draws": 20, "rng": 1} | ({"by": []} if verb == "cube" else {})
    run = getattr(table.ceval, verb)
    with pytest.warns(UserWarning, match=r"1 of the estimates are undirected .* arrows: shd of guesses.*'pdag'"):
        run(["shd", "adjacency_f1"], **how)
    # no warning, which would be an error, where controls or metrics have no arrows
    run(["shd"], control_kind="pdag", **how)
    run(["shd"], null="permutation", **how)
    run(["adjacency_f1", "skeleton_hd"], **how)


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["with_controls", "cube"])
def test_tables_without_any_direction_are_warned_of(verb):
    """Truths that are skeletons have no arrow, so that controls with arrows make random skeletons look skilful."""
    table = pd.DataFrame({"truth": ["A -- B; B -- C; D"] * 2, "estimate": ["A; B -- C; C -- D", "A; B; C; D"]})
    how = {"n_draws": 20, "rng": 1} | ({"by": []} if verb == "cube" else {})
    run = getattr(table.ceval, verb)
    with pytest.warns(UserWarning, match=r"all truths and estimates are undirected.* arrows: shd of guesses.*'pdag'"):
        run(["shd", "adjacency_f1"], **how)
    # no warning, which would be an error, where the class is stated, or where controls or metrics have no arrows
    run(["shd"], control_kind="pdag", **how)
    run(["shd"], control_kind="cpdag", **how)
    run(["shd"], null="permutation", **how)
    run(["adjacency_f1", "skeleton_hd"], **how)
    getattr(table.assign(estimate=["A -- B; C; D", "A; B; C; D"]).ceval, verb)(["shd"], **how)
    getattr(table.assign(truth="A; B; C; D").ceval, verb)(["shd"], **how)
    getattr(table.assign(truth=["A -- B; B -- C; D", "A -> B; C -> B; D"]).ceval, verb)(["shd"], **how)


@pytest.mark.parametrize("null", ["edges", "orientation", "degree", ce.null_model("knowledge", tiers=[["A"], ["B"]])])
def test_every_model_that_directs_edges_warns_of_undirected_estimates(null):
    table = pd.DataFrame({"truth": [TRUTH] * 2, "estimate": [SQUARE] * 2})
    with pytest.warns(UserWarning, match="2 of the estimates are undirected graphs"):
        found = table.ceval.with_controls(["shd"], n_draws=20, rng=1, null=null)
    assert set(found["control_kind"]) == {"cpdag for a pdag (approximate)"}


def test_undirected_estimates_beside_others_are_warned_of():
    """As those of a graphical lasso beside PC, of which one may be the class of no DAG."""
    table = pd.DataFrame({"truth": [TRUTH] * 10, "estimate": [SQUARE, TRUTH] * 5})
    with pytest.warns(UserWarning, match="5 of the estimates are undirected graphs, but the CPDAG of no DAG"):
        found = table.ceval.with_controls(["shd"], n_draws=20, rng=1)
    assert found["control_kind"].tolist() == ["cpdag for a pdag (approximate)", "dag"] * 5
    assert len(table.iloc[:8].ceval.with_controls(["shd"], n_draws=20, rng=1)) == 8


@pytest.mark.parametrize("estimates", [["A -- B; B -- C; D; E", "A -- E; B; C; D"], [SQUARE, TRUTH]])
def test_classes_without_arrows_and_single_graphs_give_no_warning(estimates):
    table = pd.DataFrame({"truth": [TRUTH] * 2, "estimate": estimates})
    found = table.ceval.with_controls(["shd"], n_draws=20, rng=1)
    assert found["shd_p"].notna().all()


@pytest.mark.parametrize(
    "null", [ce.null_model("knowledge", tiers=[["A"], ["B"]]), ce.null_model("edges", permute=False)]
)
def test_models_of_acyclic_graphs_refuse_digraphs(null):
    table = pd.DataFrame({"truth": [TRUTH] * 2, "estimate": [TRUTH, CYCLE]})
    with pytest.raises(ValueError, match=r"row 1 .*: the estimate is a digraph, .*; pass control_kind='dag'"):
        table.ceval.with_controls(["shd"], n_draws=20, rng=1, null=null)
    found = table.ceval.with_controls(["shd"], n_draws=20, rng=1, null=null, control_kind="dag")
    assert found["control_kind"].tolist() == ["dag", "dag for a digraph (approximate)"]


def test_metrics_of_acyclic_graphs_refuse_digraphs():
    table = pd.DataFrame({"truth": [TRUTH] * 2, "estimate": [TRUTH, CYCLE]})
    for name in ("sid", "parent_aid", "separation_parent", "shd_cpdag"):
        with pytest.raises(ValueError, match=rf"{name} applies to .* row 1 .*estimate a digraph"):
            table.ceval.evaluate([name])


def test_all_pdags_with_an_arrow_and_a_line_are_as_likely():
    """Over three nodes: three skeletons of two edges, either of which is the arrow, either way."""
    _, pairs = drawn("edges", "A -> B; B -- C", "A -> B; B -> C", 12_000, kind="pdag")
    _, found = np.unique(pairs.estimate.planes.reshape(12_000, -1), axis=0, return_counts=True)
    assert len(found) == 12 and chisquare(found).pvalue > 1e-3


@pytest.mark.slow
def test_undirected_guesses_need_controls_without_directions():
    """Metrics that spare undirected edges favour undirected graphs over random CPDAGs, whoever drew their edges."""
    rng = np.random.default_rng(5)
    first, second = np.triu_indices(8, 1)

    def edges(mark, number):
        order, chosen = rng.permutation(8), rng.choice(28, number, replace=False)
        pairs = [f"X{order[a]} {mark} X{order[b]}" for a, b in zip(first[chosen], second[chosen], strict=True)]
        return "; ".join([*pairs, *(f"X{i}" for i in range(8))])

    rows = [
        (s, edges("->", rng.integers(5, 14)), edges("--", rng.integers(5, 14))) for s in range(100) for _ in range(10)
    ]
    runs = pd.DataFrame(rows, columns=["s", "truth", "estimate"])
    metrics = [
        ce.tweak("shd", undirected_cost=0, name="spared"),
        ce.tweak("sid_lower", beyond="local", name="lower"),
        "adjacency_f1",
    ]
    rates = {}
    for null, kind in (("edges", None), ("permutation", None), ("edges", "pdag")):
        default = (null, kind) == ("edges", None)
        with pytest.warns(UserWarning, match="spared, lower of guesses") if default else nullcontext():
            cube = runs.ceval.cube(metrics, by=["s"], null=null, n_draws=199, rng=1, control_kind=kind)
        found = cube.ceval.summary()
        rates[null, kind] = (found["p_value"] <= 0.05).groupby(found["metric"]).mean()
    default = rates.pop(("edges", None))
    assert default["lower"] > 0.8 and default["spared"] > 0.2 and default["adjacency_f1"] < 0.13
    # three Monte Carlo errors above the level
    assert all((rate < 0.12).all() for rate in rates.values()), rates


@pytest.mark.parametrize(
    ("kind", "null"),
    [*itertools.product(["dag", "digraph"], ["edges", "permutation", "degree", "empty"]), ("mag", "edges")],
)
def test_graphs_without_nodes_are_right_and_have_controls(kind, null):
    graphs = ce.graph_column(["A -> B", "{}"], kind=kind)
    for metric in ("shd", "adjacency_f1", "sid", "separation_zl", "ancestor_f1"):
        if kind not in ce.get_metric(metric).kinds:
            continue
        for rows in (slice(None), slice(1, None)):
            runs = pd.DataFrame({"truth": graphs, "estimate": graphs})[rows]
            for method in ("auto", "simulate"):
                scored = runs.ceval.with_controls([metric], null=null, n_draws=9, rng=1, method=method, invalid="nan")
                last = scored.iloc[-1]
                value = np.nan if metric.endswith("f1") else 0.0
                assert [last[metric], last[f"{metric}_control_mean"]] == pytest.approx([value, value], nan_ok=True)
