"""Ranking metrics equal scikit-learn's and BEELINE's, ties included; the universe is chosen and recorded."""

import itertools
import json
import math
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.edge_scores import curve_points

CASES = pd.read_csv(Path(__file__).parents[1] / "known_answers" / "edge_scores.csv.gz")
COLUMNS = {
    "n_candidates": "n_candidates", "n_true_candidates": "n_true", "auroc": "auroc",
    "average_precision": "average_precision", "early_precision_ratio": "early_precision_ratio_beeline",
    "max_f1": "max_f1", "min_hamming": "min_hamming",
}  # fmt: skip


def case_table(case):
    """Return the pair of a case as a table, and its universe as options."""
    matrix = np.array([[np.nan if x is None else x for x in row] for row in json.loads(case["scores"])])
    sources = case["sources"].split() if isinstance(case["sources"], str) else None
    options = {"universe": None if sources else case["universe"], "sources": sources}
    column = ce.score_column([matrix], nodes=case["nodes"].split(), encoding="row->column", kind="score")
    return pd.DataFrame({"truth": [case["truth"]], "estimate": column}), options


@pytest.mark.parametrize("number", range(len(CASES)))
def test_known_answers(number):
    case = CASES.iloc[number].to_dict()
    table, options = case_table(case)
    metrics = [ce.tweak(name, **options) for name in COLUMNS]
    metrics += [ce.tweak("precision_at_k", k=int(case["k"]), **options)]
    expected = [case[column] for column in COLUMNS.values()]
    expected += [case["precision_at_k"]]
    found = table.ceval.evaluate(metrics)[[m.name for m in metrics]].iloc[0]
    np.testing.assert_allclose(found.to_numpy(float), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("number", range(len(CASES)))
def test_published_laws(number):
    case = CASES.iloc[number].to_dict()
    table, options = case_table(case)
    names = ["auroc", "average_precision"]
    null = ce.null_model("ranking", **options)
    found = table.ceval.with_controls([ce.tweak(x, **options) for x in names], null=null, rng=1, n_draws=20).iloc[0]
    if not np.isnan(case["p_auroc"]):
        assert found["auroc_p"] == pytest.approx(case["p_auroc"], rel=1e-12)
    expected = case["expected_average_precision"]
    assert found["average_precision_control_mean"] == pytest.approx(expected, rel=1e-12, nan_ok=True)


def cell(matrix, **settings):
    return ce.score_column([matrix], encoding="row->column", **settings)[0]


def line(*scores, kind=None):
    """Return scores of 0 -> 1, 0 -> 2, 1 -> 0, 1 -> 2, 2 -> 0, 2 -> 1."""
    matrix = np.zeros((3, 3))
    matrix[~np.eye(3, dtype=bool)] = scores
    return cell(matrix, kind=kind)


def test_early_precision_where_few_scores_are_positive():
    # candidates 0 -> 1, 0 -> 2, 1 -> 0 and 1 -> 2 with labels 1 0 1 1 and scores .5 0 0 0
    matrix = np.array([[0, 0.5, 0], [0, 0, 0], [0, 0, 0]])
    options = {"sources": ["0", "1"], "undirected": "both"}
    truth = "0 -- 1; 1 -> 2"
    assert ce.early_precision_ratio(truth, cell(matrix), **options) == pytest.approx(4 / 3)
    assert ce.early_precision_selected(truth, cell(matrix), **options) == 1
    assert ce.early_precision_ratio(truth, cell(0 * matrix), **options) == 1, "a cut of 0 keeps everything"
    assert ce.early_precision_selected(truth, cell(0 * matrix), **options) == 4


def test_one_class_is_undefined():
    some = line(6, 5, 4, 3, 2, 1)
    empty, complete = "0; 1; 2", "0 -- 1; 0 -- 2; 1 -- 2"
    for metric in (ce.auroc, ce.average_precision, ce.max_f1, ce.early_precision_ratio, ce.precision_at_k):
        assert math.isnan(metric(empty, some)), metric
    assert math.isnan(ce.auroc(complete, some))
    assert ce.average_precision(complete, some) == 1
    table = pd.DataFrame({"truth": [empty, complete], "estimate": [some, some]})
    found = table.ceval.with_controls(["auroc", "average_precision", "min_hamming"], null="ranking", rng=1)
    assert found["auroc_p"].isna().all()
    assert np.isnan(found["average_precision_p"][0]) and found["average_precision_p"][1] == 1
    assert found["min_hamming_p"].tolist() == [1.0, 1.0]


def test_constant_scores_and_no_scores():
    truth = "0 -> 1; 2"
    constant, unscored = line(*[2] * 6), line(*[np.nan] * 6)
    assert ce.auroc(truth, constant) == 0.5
    assert ce.average_precision(truth, constant) == pytest.approx(1 / 6)
    for metric in (ce.auroc, ce.average_precision, ce.max_f1, ce.precision_at_k):
        assert math.isnan(metric(truth, unscored))
    assert ce.n_true_unscored(truth, unscored) == 1
    assert ce.auroc(truth, unscored, unscored="last") == 0.5
    table = pd.DataFrame({"truth": [truth] * 2, "estimate": [constant, unscored]})
    names = ["auroc", "average_precision", "early_precision_ratio"]
    for null in ("by_support", "ranking"):
        found = table.ceval.with_controls(names, null=null, rng=1, n_draws=20)
        for name in names:
            assert found[f"{name}_p"][0] == 1 and np.isnan(found[f"{name}_p"][1])


def test_a_missing_score_is_not_zero():
    truth = "0 -> 1; 2"
    zero, unscored = line(0, 2, 3, 0, 0, 0), line(np.nan, 2, 3, 0, 0, 0)
    assert ce.auroc(truth, zero) == pytest.approx(1.5 / 5)
    assert math.isnan(ce.auroc(truth, unscored))
    assert ce.auroc(truth, unscored, unscored="last") == 0


def test_universes_of_directed_and_symmetric_scores():
    truth = "A -> B; B -> C; D"
    values = np.array([[0, 0.9, 0.1, 0.3], [0.9, 0, 0.5, 0.2], [0.1, 0.5, 0, 0.4], [0.3, 0.2, 0.4, 0]])
    symmetric = ce.score_column([values], nodes=list("ABCD"))[0]
    directed = ce.score_column([values], nodes=list("ABCD"), symmetric=False)[0]
    assert ce.n_candidates(truth, symmetric) == 6 and ce.n_candidates(truth, directed) == 12
    assert ce.score_universe(truth, symmetric) == 1 and ce.score_universe(truth, directed) == 0
    with pytest.warns(UserWarning, match="cannot show directions"):
        ordered = ce.auroc(truth, symmetric, universe="ordered")
    pairs, k = 6, 2
    assert ordered == pytest.approx((k / 2 + 2 * (pairs - k) * ce.auroc(truth, symmetric)) / (2 * pairs - k))
    assert ce.n_candidates(truth, directed, universe="beeline") == 6, "D has no edge"
    assert ce.n_candidates(truth, directed, universe="beeline_sources") == 4
    assert ce.n_candidates("A -> B; A -> C; D", directed, universe="beeline_sources") == 2, "A is the only source"
    assert ce.n_candidates(truth, directed, universe="ordered_with_diagonal") == 16
    table = pd.DataFrame({"truth": [truth] * 2, "estimate": [symmetric, directed]})
    assert table.ceval.evaluate(["score_universe"])["score_universe"].tolist() == ["unordered", "ordered"]


def test_sources_of_truths_of_several_sizes():
    rng = np.random.default_rng(0)
    truths = ["A -> B; B -> C", "A -> B; D -> C", "A -> C; B -> E", "A -> B; C"]
    nodes = [sorted(set(truth) - set(" ->;")) for truth in truths]
    estimates = ce.score_column([rng.random((len(x), len(x))) for x in nodes], nodes=nodes, encoding="row->column")
    table = pd.DataFrame({"truth": truths, "estimate": estimates})
    metrics = [ce.tweak("auroc", sources=["A"]), ce.tweak("n_candidates", sources=["A"])]
    found = table.ceval.evaluate(metrics)
    assert found["n_candidates"].tolist() == [2, 3, 3, 2]
    alone = pd.concat([table.iloc[[row]].ceval.evaluate(metrics) for row in range(len(table))])
    pd.testing.assert_frame_equal(found, alone)
    with pytest.raises(ValueError, match="row 1 .*sources names .*'E'.* not among the nodes .*'D'"):
        table.iloc[[2, 1]].ceval.evaluate([ce.tweak("auroc", sources=["E"])])


ASKED = {
    "evaluate": lambda table, metrics: table.ceval.evaluate(metrics),
    "with_controls": lambda table, metrics: table.ceval.with_controls(metrics, rng=1, n_draws=9),
    "cube": lambda table, metrics: table.assign(g=1).ceval.cube(metrics, by="g", rng=1, n_draws=9),
}


@pytest.mark.parametrize("verb", ASKED)
def test_rows_with_other_candidates_than_their_neighbours_are_named_once(verb):
    directed = np.array([[0, 0.5, 0], [0.4, 0, 0.9], [0, 0.9, 0]])
    symmetric = np.maximum(directed, directed.T)
    truths = ["A -> B; C", "A -> B; C", "A -> B; C; D", "A -> B; C"]
    matrices = [directed, symmetric, np.pad(symmetric, (0, 1)), symmetric]
    nodes = [list("ABCD")[: len(x)] for x in matrices]

    def warnings_of(metrics, rows=slice(None), **settings):
        estimates = ce.score_column(matrices, nodes=nodes, encoding="row->column", **settings)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            ASKED[verb](pd.DataFrame({"truth": truths, "estimate": estimates}).iloc[rows], metrics)
        return [str(x.message) for x in found if "symmetric scores" in str(x.message)]

    [message] = warnings_of(["auroc", "max_f1"])
    assert message.startswith("3 of 4 estimates have symmetric scores (row 1 (index 1), row 2 (index 2), row 3 (")
    assert "the candidates of auroc, max_f1 are unordered pairs of nodes in these rows" in message
    # what it proposes
    assert not warnings_of(["auroc"], symmetric=False)
    assert not warnings_of([ce.tweak("auroc", universe="unordered")])
    # rows that are alike, and metrics without a universe
    assert not warnings_of(["auroc"], slice(1, None)) and not warnings_of(["auroc"], slice(0, 1))
    assert not warnings_of(["best_shd"])


def test_undirected_true_edges_and_reduction():
    truth, scores = "0 -- 1; 1 -> 2", line(1, 2, 3, 4, 5, 6)
    found = {word: ce.n_true_candidates(truth, scores, undirected=word) for word in ("both", "none", "ignore")}
    assert found == {"both": 3, "none": 1, "ignore": 1}
    assert ce.n_candidates(truth, scores, undirected="ignore") == 4
    asymmetric = line(0.9, 0.5, 0, 0.2, 0.5, 0.8)  # pairs 01: .9 0, 02: .5 .5, 12: .2 .8
    assert ce.precision_at_k("0 -> 1; 2", asymmetric, universe="unordered", k=1) == 1
    assert ce.precision_at_k("0 -> 1; 2", asymmetric, universe="unordered", reduce="mean", k=1) == 0


def test_weights_rank_by_magnitude():
    signed = line(-3, 1, 0, 0, 0, 0, kind="weight")
    assert ce.precision_at_k("0 -> 1; 2", signed) == 1
    assert ce.precision_at_k("0 -> 1; 2", signed, magnitude=False) == 0
    with pytest.raises(ValueError, match="negative scores and no positive ones"):
        line(-3, -1, 0, 0, 0, 0)


@pytest.mark.slow
def test_the_best_shd_is_that_of_the_best_threshold():
    rng = np.random.default_rng(3)
    for trial in range(12):
        matrix = rng.normal(size=(5, 5)).round(trial % 3)
        if trial % 2:
            matrix += matrix.T
        column = ce.score_column([matrix], encoding="row->column", kind="weight")
        truth = ce.graph_column([np.triu(rng.random((5, 5)) < 0.4, 1).astype(int)], encoding="row->column")
        cuts = [-1.0, *np.unique(np.abs(matrix))]
        least = min(ce.shd(truth[0], column.score.threshold(x)[0]) for x in cuts)
        assert ce.best_shd(truth[0], column[0]) == least


def test_faults_name_the_row():
    table = pd.DataFrame({"truth": ["0 -> 1; 2"], "estimate": [line(1, 2, 3, 4, 5, 6)]}, index=["r"])
    latent = table.assign(truth=["0 <-> 1; 2"])
    for runs, metric, message in (
        (table, ce.tweak("precision_at_k", k=7), r"row 0 \(index 'r'\).*k is 7, but there are 6 candidates"),
        (table, ce.tweak("auroc", sources=["X"]), "sources names.*'X'"),
        (table, ce.tweak("auroc", universe="pairs"), "universe must be"),
        (table, ce.tweak("auroc", sources="0"), "sources must be a list"),
        (table, ce.tweak("auroc", sources=["0"], universe="unordered"), "restricts ordered pairs"),
        (table.assign(truth=["A -> B; C"]), "auroc", r"row 0 \(index 'r'\): truth has nodes .*score_column"),
        (latent, "auroc", "universe='unordered'"),
        (table.assign(estimate=ce.score_column([np.full((3, 3), 2.0)]).array), "brier", "applies to"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            runs.ceval.evaluate([metric])
    assert latent.ceval.evaluate([ce.tweak("auroc", universe="unordered")])["auroc"].iloc[0] == 0


def test_scores_over_other_numbers_of_nodes_are_made_anew():
    """The advice that each message gives, followed."""
    frame = pd.DataFrame([[0, 0.4], [0.1, 0]], list("AB"), list("AB"))
    edges = pd.DataFrame({"from": ["A", "B"], "to": ["B", "A"], "score": [0.4, 0.1]})

    def area(truths, cell, **settings):
        estimates = ce.score_column([cell], encoding="row->column", **settings)
        return pd.DataFrame({"truth": truths, "estimate": estimates}).ceval.evaluate(["auroc"])["auroc"].iloc[0]

    truths, nodes = ["A -> B; C"], list("ABC")
    with pytest.raises(ValueError, match=r"anew .*lists, nodes=nodes.*frame\.reindex\(index=nodes, .* not scored$"):
        area(truths, frame)
    assert area(truths, edges, nodes=nodes) == 1
    assert area(truths, frame.reindex(index=nodes, columns=nodes)) == 1
    wide = frame.reindex(index=nodes, columns=nodes)
    for runs in ({"truth": ["A -> B"]}, {"truth": ce.graph_column(["A -> B"])}):
        # truths that lack nodes without edges
        way = r"\['A', 'B', 'C'\]; make the truths over all nodes, by ce.graph_column\(runs\['truth'\], nodes=names\)"
        with pytest.raises(ValueError, match=way):
            area(runs["truth"], wide)
        texts = runs["truth"] if isinstance(runs["truth"], list) else runs["truth"].graph.to_strings()
        assert area(ce.graph_column(texts, nodes=nodes), wide) == 1
    with pytest.raises(ValueError, match=r"frame\.reindex\(.*\).*, or make the truths over all nodes, by"):
        area(["A -> D"], wide)


def test_failed_runs_stay():
    table = pd.DataFrame({"truth": ["0 -> 1; 2"] * 2, "estimate": ce.score_column([np.eye(3), None])})
    found = table.ceval.with_controls(rng=1)
    assert found["auroc"].isna().tolist() == [False, True] and len(found) == 2


def table(n=6, d=6):
    rng = np.random.default_rng(1)
    marks = np.triu(rng.random((n, d, d)) < 0.3, 1).astype(int)
    marks[:, 0, 1] = 1
    scores = rng.normal(size=(n, d, d)) + marks
    frame = pd.DataFrame({"truth": ce.graph_column(marks, encoding="row->column")})
    frame["estimate"] = ce.score_column(scores, encoding="row->column", kind="score")
    return frame.assign(algorithm=["a", "b"] * (n // 2))


def test_one_run_is_its_own_curve():
    frame = table().head(1)
    roc = curve_points(frame)
    area = (np.diff(roc["x"]) * (roc["y"].to_numpy()[1:] + roc["y"].to_numpy()[:-1]) / 2).sum()
    assert area == pytest.approx(ce.auroc(*frame.loc[0, ["truth", "estimate"]]), abs=0.02)
    points = curve_points(frame, "precision_recall")
    k = int(ce.n_true_candidates(*frame.loc[0, ["truth", "estimate"]]))
    at = points.iloc[[int(round(30 * d) == k) for d in points["depth"]].index(1)]
    assert at["y"] == pytest.approx(ce.precision_at_k(*frame.loc[0, ["truth", "estimate"]]))
    low, high = stats.hypergeom(30, k, k).ppf([0.025, 0.975])
    assert (at["low_y"], at["high_y"]) == (pytest.approx(low / k), pytest.approx(high / k))


def test_strata_have_lines_and_bands():
    axes = ce.plot.curves(table(), "roc", by="algorithm")
    assert len(axes.lines) == 2 and len(axes.patches) == 2
    legend = axes.get_legend()
    assert [x.get_text() for x in legend.get_texts()] == ["a", "b"] and legend.get_title().get_text() == "algorithm"
    points = curve_points(table(), by="algorithm")
    assert (points["low_y"] <= points["high_y"]).all() and points["stratum"].nunique() == 2


@pytest.mark.parametrize("kind", ["roc", "precision_recall"])
def test_methods_on_the_same_truths_share_a_band(kind):
    """The band is that of shuffled scores, which depends on the truths alone."""
    both = pd.concat([table().assign(method=name) for name in "ab"], ignore_index=True)
    both.loc[both["method"] == "b", "estimate"] = table()["estimate"].to_numpy()[::-1]
    axes = ce.plot.curves(both, kind, by="method")
    assert len(axes.lines) == 2 and len(axes.patches) == 1
    colours = {axes.patches[0].get_facecolor()[:3], *(mpl.colors.to_rgb(line.get_color()) for line in axes.lines)}
    assert len(colours) == 3, "the band has no line's colour"
    other = pd.concat([both, table(n=4).assign(method="c")], ignore_index=True)
    assert len(ce.plot.curves(other, kind, by="method").patches) == 2


def test_faults():
    with pytest.raises(ValueError, match="no column 'size'"):
        curve_points(table(), by="size")
    with pytest.raises(ValueError, match="kind must be"):
        curve_points(table(), "lift")
    empty = table().assign(truth="0; 1; 2; 3; 4; 5")
    with pytest.raises(ValueError, match="there is no curve"):
        curve_points(empty)
    one = table().assign(truth=["0; 1; 2; 3; 4; 5", "0 -> 1; 2; 3; 4; 5"] * 3)
    with pytest.raises(ValueError, match="no run of algorithm = 'a' has true candidates and others"):
        curve_points(one, by="algorithm")


def test_rows_without_a_stratum_are_one():
    frame = table().assign(size=[1.0, np.nan, 1.0, np.nan, np.nan, 1.0])
    assert curve_points(frame, by="size")["stratum"].unique().tolist() == [1.0, "missing"]


TRUE = np.array([[0, 2.0, 0], [0, 0, -1.0], [0, 0, 0]])
FOUND = np.array([[0, 1.0, 0], [0, 0, 0], [0, 0.5, 0]])


def weights(*matrices):
    return ce.score_column(list(matrices), nodes=list("ABC"), encoding="row->column", kind="weight")


def test_values_by_hand():
    true, found = weights(TRUE, FOUND)
    assert ce.relative_frobenius(true, found) == pytest.approx(math.sqrt((1 + 1 + 0.25) / 5))
    assert ce.mean_squared_weight_error(true, found) == pytest.approx(2.25 / 6)
    assert ce.sign_accuracy(true, found) == 0.5
    assert ce.sign_accuracy(true, found, zero="drop") == 1
    assert ce.weight_cosine(true, found) == pytest.approx(2 / math.sqrt(5 * 1.25))
    empty = weights(0 * TRUE)[0]
    for metric in (ce.relative_frobenius, ce.sign_accuracy, ce.weight_cosine):
        assert math.isnan(metric(empty, found))


def test_pairs_without_a_weight_are_no_perfect_estimates():
    part = FOUND + np.array([[0, np.nan, np.nan], [0, 0, 0], [0, 0, 0]])
    true, none, some = weights(TRUE, np.full((3, 3), np.nan), part)
    assert math.isnan(ce.mean_squared_weight_error(true, none)) and math.isnan(ce.mean_squared_weight_error(none, true))
    assert ce.mean_squared_weight_error(true, some) == pytest.approx(1.25 / 4)
    assert ce.mean_squared_weight_error(some, true) == pytest.approx(1.25 / 4)


def test_errors_of_relabelled_weights_with_gaps_are_those_of_all_relabellings():
    """A gap in both matrices: the number of pairs with two weights varies, so that no moments are exact."""
    true, found = TRUE.copy(), FOUND.copy()
    true[0, 1] = found[0, 1] = found[2, 1] = np.nan
    orders = [list(order) for order in itertools.permutations(range(3))]
    listed = np.array([np.nanmean(((found[np.ix_(o, o)] - true) ** 2)[~np.eye(3, dtype=bool)]) for o in orders])
    table = pd.DataFrame({"truth": weights(true), "estimate": weights(found)})
    drawn = table.ceval.with_controls(["mean_squared_weight_error"], rng=1, n_draws=4000, columns="full").iloc[0]
    assert drawn["mean_squared_weight_error"] == listed[0]
    assert drawn["mean_squared_weight_error_mean_method"] == "simulated"
    error = abs(drawn["mean_squared_weight_error_control_mean"] - listed.mean())
    assert error < 4 * drawn["mean_squared_weight_error_control_mean_se"]
    assert drawn["mean_squared_weight_error_p"] == pytest.approx((listed <= listed[0]).mean(), abs=0.04)


def test_tables_of_weights_take_metrics_of_graphs_and_scores():
    table = pd.DataFrame({"truth": weights(TRUE, TRUE), "estimate": weights(FOUND, TRUE)})
    found = table.ceval.evaluate(["relative_frobenius", "auroc", "shd"])
    assert found["relative_frobenius"][1] == 0 and found["auroc"][1] == 1
    assert found["shd"].tolist() == [1, 0]
    assert list(table.ceval.evaluate().columns[2:]) == ["relative_frobenius", "sign_accuracy"]
    controls = table.ceval.with_controls(["relative_frobenius", "weight_cosine"], rng=1, n_draws=200)
    assert (controls["relative_frobenius_p"] < 0.3).all(), "one of six relabellings is as good"
    assert controls["control_null"].unique().tolist() == ["permutation"]


def test_relabelled_weights_have_exact_means():
    rng = np.random.default_rng(1)
    names = ["mean_squared_weight_error", "weight_cosine"]
    table = pd.DataFrame({"truth": weights(TRUE, TRUE), "estimate": weights(FOUND, rng.normal(size=(3, 3)))})
    exact = table.ceval.with_controls(names, rng=1, columns="full", n_draws=2000)
    drawn = table.ceval.with_controls(names, rng=1, columns="full", n_draws=2000, method="simulate")
    for name in names:
        assert (exact[f"{name}_mean_method"] == "exact").all()
        error = (exact[f"{name}_control_mean"] - drawn[f"{name}_control_mean"]).abs()
        assert (error < 4 * drawn[f"{name}_control_mean_se"]).all()


def test_other_nodes_are_refused():
    other = ce.score_column([TRUE], nodes=list("ABX"), encoding="row->column", kind="weight")
    table = pd.DataFrame({"truth": weights(TRUE), "estimate": other})
    with pytest.raises(ValueError, match="truth has nodes"):
        table.ceval.evaluate(["relative_frobenius"])
