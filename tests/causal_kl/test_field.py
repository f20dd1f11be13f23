"""Networks in tables: columns, alignment, views, verbs."""

import gzip

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.causal_kl import from_joint
from causaleval_pd.fields.causal_kl import laws
from causaleval_pd.fields.causal_kl.pairs import graphs_of_networks, is_network_column, unpack_networks

NAMES = sorted(ce.list_metrics("network").index)


def one(p=0.3, name="A", states=None):
    return ce.DiscreteNetwork({name: []}, {name: [p, 1 - p]}, states)


GAUSSIAN = ce.GaussianNetwork({"A": []}, {"A": []}, {"A": 1})


def test_columns_pack_and_come_back(metastatic, tmp_path):
    column = ce.network_column([metastatic, None, one()], index=["x", "y", "z"])
    assert column.isna().tolist() == [False, True, False]
    assert ce.as_network(column["x"]) == metastatic
    column.to_frame("net").to_parquet(tmp_path / "nets.parquet")
    back = pd.read_parquet(tmp_path / "nets.parquet", dtype_backend="pyarrow")["net"]
    networks, codes = unpack_networks(ce.network_column(back))
    assert codes.tolist() == [0, -1, 1] and networks.network(0) == metastatic
    assert column.nunique() == 2 and (column == metastatic.to_bytes()).tolist()[0] is True


def test_only_networks_look_like_networks(metastatic):
    assert is_network_column(ce.network_column([None, metastatic]))
    assert is_network_column(pd.Series([metastatic, None], dtype=object))
    for other in (
        ce.graph_column(["A -> B"]),
        pd.Series(["A -> B"]),
        pd.Series([1.5]),
        pd.Series([ce.as_graph("A -> B")]),
    ):
        assert not is_network_column(other)


def test_bad_cells_name_the_row(metastatic):
    with pytest.raises(TypeError, match="row 1 .*expected a DiscreteNetwork.*found int"):
        ce.network_column([metastatic, 3])
    with pytest.raises(ValueError, match="row 0 .*found a packed graph, expected a network"):
        ce.network_column(ce.graph_column(["A -> B"]))
    with pytest.raises(TypeError, match="wrap one in a list"):
        ce.network_column(metastatic)
    damaged = ce.network_column([one()]).map(lambda cell: cell[:-1], na_action="ignore")
    with pytest.raises(ValueError, match="row 0.*damaged"):
        ce.network_column(damaged)


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        (one(name="B"), "row 1.*only in the truth: \\['A'\\], only in the estimate: \\['B'\\]"),
        (one(states={"A": ["x", "y"]}), "row 1.*node 'A' has the states \\['0', '1'\\] in the truth"),
        (GAUSSIAN, "row 1.*node 'A' is discrete in the truth and continuous in the estimate"),
    ],
)
def test_networks_that_cannot_be_compared_name_row_and_node(estimate, words):
    runs = pd.DataFrame({"truth": [one(), one()], "estimate": [one(0.5), estimate]})
    with pytest.raises(ValueError, match=words):
        runs.ceval.evaluate(["kl"])
    with pytest.raises(ValueError, match=words.removeprefix("row 1.*")):
        ce.kl(one(), estimate)


def test_missing_estimates_stay_missing(metastatic):
    scored = pd.DataFrame({"truth": [metastatic] * 2, "estimate": [metastatic, None]}).ceval.evaluate()
    assert list(scored.columns[2:]) == ["edit_distance", "kl", "ckl1", "ckl2", "ckl3"]
    assert (scored.iloc[0, 2:] == 0).all() and scored.iloc[1, 2:].isna().all()


def test_graph_metrics_apply_to_networks(metastatic, mutations):
    runs = pd.DataFrame(
        {"truth": [metastatic] * 3, "estimate": [mutations["rev.in.weak"], mutations["del.weak"], None]}
    )
    scored = runs.ceval.evaluate(["shd", "ckl3", "adjacency_recall"])
    assert scored["shd"].tolist()[:2] == [1, 1] and scored["adjacency_recall"].tolist()[:2] == [1, 0.75]
    assert scored["ckl3"][0] == pytest.approx(0.021035, abs=1e-6) and scored.iloc[2, 2:].isna().all()
    graphs = graphs_of_networks(ce.network_column(runs["estimate"]))
    assert graphs.graph.kind.astype(str).tolist()[:2] == ["dag", "dag"] and graphs.isna().tolist() == [
        False,
        False,
        True,
    ]


def test_networks_over_different_variables_share_a_table(metastatic):
    runs = pd.DataFrame({"truth": [one(), metastatic, GAUSSIAN], "estimate": [one(0.5), metastatic, GAUSSIAN]})
    scored = runs.ceval.evaluate(["kl", "edit_distance"])
    assert scored["kl"].tolist() == pytest.approx([ce.kl(one(), one(0.5)), 0, 0])
    with pytest.raises(ValueError, match="wed_p applies to gaussian.*row 0"):
        runs.ceval.evaluate(["wed_p"])
    assert runs.ceval.evaluate(["wed_p"], invalid="nan")["wed_p"].isna().tolist() == [True, True, False]


@pytest.mark.parametrize("method", ["auto", "exact", "simulate"])
def test_controls_that_a_metric_refuses_are_missing(method):
    gaussian = ce.GaussianNetwork({"A": [], "B": ["A"]}, {"A": [], "B": [0.6]}, {"A": 1, "B": 0.64})
    discrete = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.2, 0.8]]})
    how = {"rng": 1, "context": {"estimator": "joint"}, "null": "dags", "method": method, "invalid": "nan"}
    runs = pd.DataFrame({"truth": [gaussian, discrete], "estimate": [gaussian, discrete]})
    for metric, scored in (("wed_p", [True, False]), ("wed_d", [False, True]), ("ckl", [False, True])):
        table = runs.ceval.with_controls([metric], **how)
        for column in (metric, f"{metric}_control_mean", f"{metric}_p"):
            assert table[column].notna().tolist() == scored
    graphs = pd.DataFrame({"truth": [discrete] * 2, "estimate": ce.graph_column(["A -- B", "A -> B"])})
    for metric in ("edit_distance", "ckl", "wed_d"):
        table = graphs.ceval.with_controls([metric], **how)
        assert table[f"{metric}_p"].notna().tolist() == [False, True]
        with pytest.raises(ValueError, match=rf"{metric} applies to .*row 0"):
            graphs.ceval.with_controls([metric], **how | {"invalid": "raise"})


def test_a_cube_of_networks(metastatic, mutations):
    runs = pd.DataFrame(
        {
            "truth": [metastatic] * 4,
            "estimate": [mutations["true"], mutations["rev.in.weak"]] * 2,
            "arm": ["x", "y"] * 2,
        }
    )
    cube = runs.ceval.cube(["ckl3", "kl"], by=["arm"], n_draws=20, rng=1, context={"estimator": "joint"})
    assert cube["ckl3"].sel(arm="x").values.tolist() == [0, 0]
    table = cube.ceval.summary(columns="full")
    assert table.set_index(["metric", "arm"]).loc[("ckl3", "y"), "skill"] > 0.8


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_is_public_and_optimal_for_the_truth(name, metastatic):
    metric = ce.get_metric(name)
    assert name in dir(ce.metrics) and getattr(ce, name) is metric
    truth = metastatic if "discrete" in metric.kinds else GAUSSIAN
    if metric.direction is not None:
        assert metric(truth, truth) == metric.optimum == 0
    else:
        assert metric(truth, truth) == 0


@pytest.mark.parametrize("name", NAMES)
def test_one_number_through_every_door(name):
    truth = ce.GaussianNetwork({"A": [], "B": ["A"]}, {"A": [], "B": [0.6]}, {"A": 1, "B": 0.64})
    estimate = ce.GaussianNetwork({"A": ["B"], "B": []}, {"A": [0.6], "B": []}, {"A": 1, "B": 1})
    if "discrete" in ce.get_metric(name).kinds:
        truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.2, 0.8]]})
        estimate = from_joint("B -> A", truth)
    value = ce.get_metric(name)(truth, estimate)
    runs = pd.DataFrame({"truth": [truth] * 3, "estimate": [estimate] * 3})
    for scored in (ce.evaluate(runs, [name]), runs.ceval.evaluate([name])):
        np.testing.assert_array_equal(scored[name], [value] * 3)
    low, high = ce.get_metric(name).range
    assert low <= value <= high
    back = ce.get_metric(name)(estimate, truth)
    if ce.get_metric(name).symmetric:
        assert back == value


def test_rows_that_are_too_wide_are_named(metastatic, mutations, monkeypatch):
    laws.elimination_steps.cache_clear()
    monkeypatch.setattr(laws, "WIDTH_LIMIT", 4)
    # a truth that nothing is remembered of
    cpts = {**metastatic.cpts, "M": [0.83, 0.17]}
    truth = ce.DiscreteNetwork(dict(metastatic.parents), cpts, metastatic.states)
    runs = pd.DataFrame({"truth": [one(), truth], "estimate": [one(0.5), mutations["del.weak"]]}, index=["x", "y"])
    with pytest.raises(ValueError, match=r"ckl2: row 1 .*'y'.*table over.*invalid='nan'"):
        runs.ceval.evaluate(["ckl2"])
    assert runs.ceval.evaluate(["ckl2"], invalid="nan")["ckl2"].isna().tolist() == [False, True]
    for null in ("dags", "edges"):
        with pytest.raises(ValueError, match=r"row 1 .*'y'.*a control gets no parameters: a table over.*leave the row"):
            runs.ceval.with_controls(["ckl2"], null=null, invalid="nan", rng=1, context={"estimator": "joint"})
    monkeypatch.undo()
    laws.elimination_steps.cache_clear()


def test_paths_of_bif_files_are_truths_of_networks_and_graphs(tmp_path):
    """Whatever the estimates are, a path stands for its network, as in `network_column`."""
    text = "network n {} variable A { type discrete [ 2 ] { y, n }; } variable B { type discrete [ 2 ] { y, n }; } "
    text += "probability ( A ) { table 0.3, 0.7; } probability ( B | A ) { (y) 0.9, 0.1; (n) 0.2, 0.8; }"
    (tmp_path / "net.bif").write_text(text)
    (tmp_path / "net.BIF.gz").write_bytes(gzip.compress(text.encode()))
    network = ce.as_network(tmp_path / "net.bif")
    for path in (tmp_path / "net.bif", str(tmp_path / "net.bif"), tmp_path / "net.BIF.gz"):
        for estimate in ("A -> B", "B -> A", network, network.to_bytes(), path):
            runs, packed = (pd.DataFrame({"truth": x, "estimate": [estimate]}) for x in ([path], [network]))
            for metrics in (["shd"], ["kl", "shd"]):
                fits = isinstance(estimate, str) and "kl" in metrics and "A" in estimate
                context = {"estimator": "joint"} if fits else None
                found, expected = (x.ceval.evaluate(metrics, context=context)[metrics] for x in (runs, packed))
                pd.testing.assert_frame_equal(found, expected)
    assert not is_network_column(pd.Series(["A -> B", "net.bif.csv"]))
    # estimates without an edge are graphs beside a network too
    for estimates in ([None, "A; B"], ["A; B"], [None]):
        found = pd.DataFrame({"truth": path, "estimate": estimates}).ceval.evaluate(["shd"])["shd"]
        assert found.tolist() == pytest.approx([np.nan if cell is None else 1.0 for cell in estimates], nan_ok=True)
    with pytest.raises(
        ValueError, match=r"'fitted_graph', whose metrics are those of list_metrics\('network'\), as kl"
    ):
        pd.DataFrame({"truth": [network.to_bytes()], "estimate": ["A -> B"]}).ceval.evaluate(["shd", "auroc"])
    with pytest.raises(TypeError, match=r"row 0 \(index 0\): found the path '.*', expected a graph, as ce.read_graphs"):
        ce.graph_column([tmp_path / "net.bif"])
    assert str(ce.read_graphs(tmp_path / "net.bif").graph.to_strings().iloc[0]) == "A -> B"


def test_networks_are_sampled_as_networks(metastatic):
    for other in ("net.bif", metastatic.to_bytes(), {"A": {"parents": [], "prob": [0.3, 0.7]}}):
        for call in (lambda: ce.causal_kl.sample(other, 10), lambda: from_joint("A -> B", other)):  # noqa: B023
            with pytest.raises(TypeError, match="network must be .*; as_network reads other formats, found "):
                call()
