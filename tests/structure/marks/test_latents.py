"""Truths with latent nodes: what estimates are compared with, and metrics of true ancestors and confounders."""

import itertools
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.fields.structure.field import GRAPHS
from causaleval_pd.fields.structure.nulls.additive import additive_moments

KNOWN = Path(__file__).parents[2] / "known_answers" / "latent_projections.csv"
TRUTH = "A -> B; L -> B; L -> C; D -> C"
OF_KIND = {
    "pag": "A o-> B; B <-> C; D o-> C",
    "mag": "A -> B; B <-> C; D -> C",
    "admg": "A -> B; B <-> C; D -> C",
    "mixed": "A o-> B; B <-> C; D o-> C",
}


def table(estimates, kinds, truth=TRUTH):
    cells = ce.graph_column(list(estimates), kind=list(kinds))
    return pd.DataFrame({"truth": [truth] * len(cells), "estimate": cells})


def test_the_target_has_the_class_of_the_estimate():
    runs = table(OF_KIND.values(), OF_KIND)
    found = ce.evaluate(runs, ["shd", "arrowhead_f1", "n_nodes"], context={"latents": ["L"]})
    assert found[["shd", "arrowhead_f1", "n_nodes"]].to_numpy().tolist() == [[0, 1, 4]] * 4
    skeleton = table(["A -- B; B -- C; C -- D"], ["skeleton"])
    assert ce.evaluate(skeleton, ["adjacency_f1"], context={"latents": ["L"]})["adjacency_f1"].tolist() == [1]


@pytest.mark.parametrize("given", [[["L"], ["L"], []], [("L",), ("L",), ()], ["L", " L ;", ""]])
def test_latent_nodes_by_row(given):
    runs = table([OF_KIND["pag"], None, "A o-> B; C o-> B"], ["pag", None, "pag"])
    runs["truth"] = ce.graph_column([TRUTH, TRUTH, "A -> B; C -> B"])
    runs["hidden"] = given
    found = ce.evaluate(runs, ["shd"], context={"latents": "hidden"})["shd"]
    assert found.tolist()[::2] == [0, 0]
    assert np.isnan(found[1])
    truths = ce.evaluate(runs.iloc[[2, 0]], ["shd", "true_edges"], context={"latents": "hidden"})
    assert truths[["shd", "true_edges"]].to_numpy().tolist() == [[0, 2], [0, 3]]


def test_estimates_without_latent_confounders():
    runs = table(["A -> B; B -- C; D -> C"], ["pdag"])
    with pytest.raises(ValueError, match=r"row 0 .*is a pdag and the truth has the latent nodes \['L'\]; add 'target'"):
        ce.evaluate(runs, ["shd"], context={"latents": ["L"]})
    context = {"latents": ["L"], "target": "pag"}
    assert ce.evaluate(runs, ["tail_fp"], context=context)["tail_fp"].tolist() == [4]
    context["undirected"] = "circle"
    assert ce.evaluate(runs, ["tail_fp", "circle_tp"], context=context)[
        ["tail_fp", "circle_tp"]
    ].to_numpy().tolist() == [[2, 0]]
    plain = pd.DataFrame({"truth": ["A -> B; B -> C"], "estimate": ["A -> B; C -> B"]})
    expected = ce.evaluate(plain, ["shd", "sid"])
    pd.testing.assert_frame_equal(ce.evaluate(plain, ["shd", "sid"], context={"latents": []}), expected)


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"latents": ["Q"]}, "row 0 .*latents names 'Q', which is not a node"),
        ({"latents": []}, r"row 0 .*lacks the observed nodes \['L'\]"),
        ({"latents": ["L", "A"]}, "row 0 .*estimate has the node 'A', which is latent in the truth"),
        ({"latents": ["L"], "target": "cpdag"}, "target"), ({"latents": ["L"], "undirected": "o"}, "undirected"),
        ({"latent": ["L"]}, "did you mean 'latents'"),
        ({"latents": "['L', 'M']"}, r"found the text .*str\.join\(';'\)"),
        ({"latents": [["L"]]},
         "found a list of lists; put one list per row into a column of the table and pass its name"),
        ({"latents": pd.Series([["L"]])}, "found a Series of lists; put one list per row into a column"),
    ],
)  # fmt: skip
def test_contexts_that_do_not_fit(context, message):
    with pytest.raises(ValueError, match=message):
        ce.evaluate(table([OF_KIND["pag"]], ["pag"]), ["shd"], context=context)


def test_a_pag_is_not_compared_with_a_dag_by_accident():
    runs = pd.DataFrame({"truth": ["A -> B; C -> B"], "estimate": ["A o-> B; C o-> B"]})
    with pytest.raises(ValueError, match=r"row 0 .*truth is a dag and estimate a pag, .*context=\{'latents': \[\]\}"):
        ce.evaluate(runs, ["shd"])
    assert ce.evaluate(runs, ["shd"], invalid="nan")["shd"].isna().all()
    with pytest.raises(ValueError, match="latents"):
        ce.shd("A -> B; C -> B", "A o-> B; C o-> B")
    assert ce.evaluate(runs, ["shd"], context={"latents": []})["shd"].tolist() == [0]
    with pytest.raises(ValueError, match="estimate a cpdag, whose marks mean other things"):
        ce.shd("A o-o B; B o-o C", "A -- B; B -- C")
    with pytest.raises(ValueError, match=r"\.graph\.pag\(\) of the estimate"):
        ce.shd("A o-o B; B o-o C", "A -> B; B -> C")


def dags(n, seed):
    """Random DAGs over 5 observed nodes and 2 latent ones, and estimates of marks over the former."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        names = [*"ABCDE", "L", "M"]
        order = rng.permutation(names).tolist()
        edges = [(a, b) for a, b in itertools.combinations(order, 2) if rng.random() < 0.45]
        marks = {
            (a, b): tuple(rng.choice(["-", ">", "o"], 2))
            for a, b in itertools.combinations("ABCDE", 2)
            if rng.random() < 0.6
        }
        yield edges, marks


def written(marks):
    left, right = {"-": "-", ">": "<", "o": "o"}, {"-": "-", ">": ">", "o": "o"}
    return "; ".join([*(f"{a} {left[x]}-{right[y]} {b}" for (a, b), (x, y) in marks.items()), *"ABCDE"])


def claimed(edges, marks):
    """Counts by definition."""
    graph = nx.DiGraph(edges)
    graph.add_nodes_from([*"ABCDE", "L", "M"])
    above = {(u, v) for v in "ABCDE" for u in nx.ancestors(graph, v) if u in "ABCDE"}
    hidden = graph.subgraph(["L", "M"])

    def below(latent, through):
        """Observed nodes that a path of latent nodes, or any directed path, reaches."""
        if not through:
            return nx.descendants(graph, latent) & set("ABCDE")
        inner = {latent} | nx.descendants(hidden, latent)
        return {v for u in inner for v in graph.successors(u)} & set("ABCDE")

    confounded, common = (
        {frozenset(p) for x in "LM" for p in itertools.combinations(below(x, through), 2)} for through in (True, False)
    )
    ends = {(a, b): x for (a, b), (x, _) in marks.items()} | {(b, a): y for (a, b), (_, y) in marks.items()}
    heads, tails = ({p for p in ends if ends[p] == mark} for mark in (">", "-"))
    spouses = {frozenset(p) for p in heads if p[::-1] in heads}
    near = {frozenset(p) for p in marks}
    others = set(itertools.permutations("ABCDE", 2)) - above
    return {
        "arrow_claim_tp": len(heads & others),
        "arrow_claim_fp": len(heads & above),
        "arrow_claim_fn": len(others - heads),
        "arrow_adjacent_fn": len({p for p in others if frozenset(p) in near} - heads),
        "tail_claim_tp": len(tails & above),
        "tail_claim_fp": len(tails - above),
        "tail_claim_fn": len(above - tails),
        "tail_adjacent_fn": len({p for p in above if frozenset(p) in near} - tails),
        "latent_tp": len(spouses & confounded),
        "latent_fp": len(spouses - confounded),
        "latent_fn": len(confounded - spouses),
        "latent_adjacent_fn": len((confounded & near) - spouses),
        "latent_ancestor_tp": len(spouses & common),
        "latent_common_fn": len(common - spouses),
    }


def test_claims_are_those_of_the_definitions():
    rows = list(dags(60, 1))
    truths = ["; ".join([*(f"{a} -> {b}" for a, b in edges), *"ABCDE", "L", "M"]) for edges, _ in rows]
    runs = pd.DataFrame({"truth": truths, "estimate": ce.graph_column([written(m) for _, m in rows], kind="mixed")})
    options = {
        "arrow_adjacent_fn": ("arrow_claim_fn", {"among": "adjacent"}),
        "tail_adjacent_fn": ("tail_claim_fn", {"among": "adjacent"}),
        "latent_adjacent_fn": ("latent_fn", {"among": "adjacent"}),
        "latent_ancestor_tp": ("latent_tp", {"confounded": "ancestor"}),
        "latent_common_fn": ("latent_fn", {"confounded": "ancestor"}),
    }
    expected = pd.DataFrame([claimed(*row) for row in rows])
    metrics = [ce.tweak(options[x][0], name=x, **options[x][1]) if x in options else x for x in expected]
    found = ce.evaluate(runs, metrics, context={"latents": ["L", "M"]})[list(expected)]
    pd.testing.assert_frame_equal(found, expected.astype(float))


def test_ancestor_tables():
    rows = list(dags(30, 2))
    truths = ce.graph_column(["; ".join([*(f"{a} -> {b}" for a, b in e), *"ABCDE", "L", "M"]) for e, _ in rows])
    pags = truths.graph.pag(latents=["L", "M"])
    context = {"latents": ["L", "M"]}
    runs = pd.DataFrame({"truth": truths, "estimate": pags})
    found = ce.evaluate(
        runs, ["ancestor_confusion", "definite_ancestor_recall", "possible_ancestor_recall"], context=context
    )
    claims, order = pags.graph.ancestors(), list("ABCDE")
    for row, (edges, _) in enumerate(rows):
        graph = nx.DiGraph(edges)
        expected = np.zeros((2, 3))
        for (i, u), (j, v) in itertools.permutations(enumerate(order), 2):
            above = u in graph and v in graph and nx.has_path(graph, u, v)
            expected[int(not above), 2 - claims[row, i, j]] += 1
        names = [f"ancestor_confusion_{t}_{e}" for t in ("ancestor", "other") for e in ("definite", "possible", "none")]
        assert found.loc[row, names].tolist() == expected.ravel().tolist()
        # a PAG is right about all ancestors
        assert expected[1, 0] == expected[0, 2] == 0
        if expected[0].sum():
            assert found.loc[row, "definite_ancestor_recall"] == pytest.approx(expected[0, 0] / expected[0].sum())
            assert found.loc[row, "possible_ancestor_recall"] == 1
    visible = ce.evaluate(runs, ["visible_precision", "visible_fp", "estimated_visible"], context=context)
    assert visible["visible_fp"].eq(0).all()
    assert visible["estimated_visible"].tolist() == pags.graph.visible_edges().tolist()


CLAIMS = [
    *["arrow_claim_precision", "arrow_claim_tp", "tail_claim_fp", "latent_precision", "definite_ancestor_precision"],
    *["possible_ancestor_f1"], *["arrow_claim_recall", "tail_claim_f1"], ("latent_recall", {"confounded": "ancestor"}),
    ("tail_claim_fn", {"among": "adjacent"}), ("definite_ancestor_recall", {"definite": "path"}),
]  # fmt: skip


def test_moments_of_claims_are_those_of_all_relabellings():
    (edges, marks), *_ = dags(1, 4)
    truth = ce.graph_column(["; ".join([*(f"{a} -> {b}" for a, b in edges), *"ABCDE", "L", "M"])] * 120)
    orders = [dict(zip("ABCDE", order, strict=True)) for order in itertools.permutations("ABCDE")]
    moved = [written({(names[a], names[b]): xy for (a, b), xy in marks.items()}) for names in orders]
    runs = pd.DataFrame({"truth": truth, "estimate": ce.graph_column(moved, kind="mixed")})
    context = ce.tables.context.resolve_context(runs, {"latents": ["L", "M"]}, {"graph": GRAPHS.context})
    [(_, pairs)] = GRAPHS.batches(runs["truth"], runs["estimate"], context)
    for given in CLAIMS:
        name, options = (given, {}) if isinstance(given, str) else given
        metric = ce.tweak(name, name="found", **options)
        values, known = metric(pairs), additive_moments(metric, pairs.take(np.arange(1)))
        np.testing.assert_allclose(known.mean, values.mean(), atol=1e-12, err_msg=str(given))
        np.testing.assert_allclose(known.variance, values.var(), atol=1e-12, err_msg=str(given))


def test_projections_of_the_oracle_score_as_the_truth():
    found = pd.read_csv(KNOWN).head(60)
    hidden = found["latents"].fillna("").str.split()
    for kind in ("mag", "pag"):
        runs = pd.DataFrame({"truth": found["dag"], "estimate": ce.graph_column(found[kind].tolist(), kind=kind)})
        runs["hidden"] = hidden.tolist()
        assert ce.evaluate(runs, ["shd"], context={"latents": "hidden"})["shd"].eq(0).all()


def test_costly_metrics_tell_equal_projections_of_different_truths_apart():
    runs = pd.DataFrame({"truth": ["L -> A; L -> B", "A -> B; L"], "estimate": ce.graph_column(["A o-o B"] * 2)})
    found = ce.evaluate(runs, ["possible_ancestor_precision"], context={"latents": ["L"]})[
        "possible_ancestor_precision"
    ]
    assert found.tolist() == [0, 0.5]


def test_cubes_take_latents():
    runs = table([*OF_KIND.values()] * 2, [*OF_KIND] * 2)
    runs["algorithm"] = ["a"] * 4 + ["b"] * 4
    cube = ce.cube(
        runs, ["shd", "latent_precision"], by=["algorithm", "estimated_edges"], n_draws=None, context={"latents": ["L"]}
    )
    assert cube["shd"].sum() == 0
    assert cube.sizes["estimated_edges"] == 1


@pytest.mark.slow
def test_one_relabelling_cannot_serve_estimates_over_different_nodes():
    truth = "A -> B; L -> B; L -> C; D -> C"
    runs = pd.DataFrame({"truth": truth, "hidden": ["L", "C", "L", "C"]})
    runs["estimate"] = ["A o-> B; B <-> C; D o-> C", "A o-> B; L o-> B; D", "B o-o C; A; D", "A o-o B; L; D"]
    how = {"context": {"latents": "hidden"}, "n_draws": 20, "rng": 7}
    with pytest.raises(ValueError, match=r"row 0 .* and row 1 .* different observed nodes.* by=, or use cluster=None"):
        runs.ceval.cube(["shd"], by=[], **how)
    apart = runs.ceval.cube(["shd"], by=["hidden"], **how).ceval.summary(columns="full")
    assert apart["n_clusters"].tolist() == [1, 1]
    assert apart["p_method"].str.contains("relabelling by truth").all()
    alone = runs.ceval.cube(["shd"], by=[], cluster=None, **how).ceval.summary(columns="full")
    assert alone["n_clusters"].tolist() == [4]
