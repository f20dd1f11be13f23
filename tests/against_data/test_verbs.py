"""Verbs without a truth: tables, nulls, cubes and their tests; results do not depend on what was computed before."""

import itertools
import math

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
import causaleval_pd.dask

from .conftest import linear

ARCS = ["AB", "AC", "BD", "CD", "DE"]
FRAMES = {f"set {k}": linear(120, ARCS, k, "ABCDE") for k in range(4)}
BY = {"data": ("dataset", FRAMES)}
TRUE = "A -> B; A -> C; B -> D; C -> D; D -> E"
CELLS = {"good": TRUE, "bad": "E -> A; E -> B; A -> D; B -> C; C -> D"}
CELLS["full"] = "; ".join(f"{a} -> {b}" for a, b in itertools.combinations("ABCDE", 2))
ROWS = [(name, key, graph) for key in FRAMES for name, graph in CELLS.items()]
RUNS = pd.DataFrame(ROWS, columns=["algorithm", "dataset", "estimate"])


def test_metrics_that_need_a_truth_are_named_and_others_need_no_column():
    with pytest.raises(ValueError, match="shd compares estimates with a truth, and truth=None names none"):
        ce.evaluate(RUNS, ["lmc_share", "shd"], truth=None, context=BY)
    assert ce.evaluate(RUNS, ["lmc_share"], truth=None, context=BY)["lmc_share"].notna().sum() == 8


def test_messages_without_a_truth_name_the_estimate_alone():
    for call in (
        lambda: ce.evaluate(pd.DataFrame({"estimate": ["A -- B; C"]}), ["n_lmc"], truth=None),
        lambda: ce.n_lmc(None, "A -- B; C"),
    ):
        with pytest.raises(ValueError, match="the estimate is a cpdag") as caught:
            call()
        assert "truth is" not in str(caught.value)


def test_cases_in_which_nodes_are_perturbed_are_not_pooled():
    data = FRAMES["set 0"].assign(gene=[None] * 60 + ["A"] * 60)
    given = {"data": data, "perturbed": "gene"}
    message = "row 0 .*observational cases, and in 60 of 120 cases a node is perturbed, by perturbed='gene'"
    for metric in ("bic", "separation_share"):
        with pytest.raises(ValueError, match=message):
            ce.evaluate(RUNS.head(1), [metric], truth=None, context=given)
    assert ce.evaluate(RUNS.head(1), ["mean_wasserstein"], truth=None, context=given).notna().all().all()
    # a column that names no case leaves them all
    none = {"data": data.assign(gene=None), "perturbed": "gene"}
    plain = ce.evaluate(RUNS.head(1), ["bic"], truth=None, context={"data": data})
    assert ce.evaluate(RUNS.head(1), ["bic"], truth=None, context=none)["bic"].equals(plain["bic"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:found an estimate without a truth:UserWarning")
def test_a_missing_truth_leaves_metrics_of_data_alone():
    table = RUNS.assign(truth=[TRUE, None] * 6)
    found = ce.evaluate(table, ["shd", "separation_share", "bic"], context=BY)
    own = ce.evaluate(RUNS, ["separation_share", "bic"], truth=None, context=BY)
    assert found["shd"].isna().tolist() == [False, True] * 6
    pd.testing.assert_frame_equal(found[["separation_share", "bic"]], own[["separation_share", "bic"]])
    # and the controls of a row are the same with and without truths
    one = ce.with_controls(table, ["shd", "bic"], context=BY, null="edges", rng=1, n_draws=30, cluster=None)
    other = ce.with_controls(RUNS, ["bic"], truth=None, context=BY, null="edges", rng=1, n_draws=30, cluster=None)
    assert one["bic_control_mean"].equals(other["bic_control_mean"])
    assert one["shd_p"].isna().tolist() == [False, True] * 6


@pytest.mark.slow
def test_a_truth_over_latent_nodes_leaves_data_to_the_estimate():
    table = pd.DataFrame({"truth": ["A -> B; L -> B; L -> C"]})
    table["estimate"] = ce.graph_column(["A o-> B; B <-o C"], kind=["pag"])
    given = {"data": linear(200, ["AB"], 1, "ABC"), "latents": ["L"]}
    found = ce.evaluate(table, ["shd", "separation_share", "n_implied"], context=given)
    assert found.loc[0, ["shd", "n_implied"]].tolist() == [0, 1] and found["separation_share"].notna().all()


@pytest.mark.slow
@pytest.mark.parametrize("null", ["permutation", "edges", "degree", "orientation"])
def test_controls_are_judged_by_the_data_of_their_row(null):
    names = ["lmc_share", "separation_share", "bic"]
    how = {"truth": None, "null": null, "n_draws": 20, "rng": 5}
    found = ce.with_controls(RUNS, names, context=BY, **how)
    for key in ("set 1", "set 3"):
        alone = RUNS[RUNS["dataset"] == key].ceval.with_controls(names, context={"data": FRAMES[key]}, **how)
        mine = found.loc[alone.index]
        exact = mine["bic_p_method"] == "exact"
        columns = [f"{name}{part}" for name in names for part in ("", "_p", "_control_mean")]
        if exact.all() or null == "permutation":
            pd.testing.assert_frame_equal(mine[columns], alone[columns])
        else:
            pd.testing.assert_frame_equal(mine[names], alone[names])
    full = RUNS["algorithm"] == "full"
    # a graph that joins all pairs implies no independence
    assert found.loc[full, ["lmc_share", "lmc_share_p", "separation_share_p"]].isna().all().all()
    assert found.loc[~full, ["lmc_share_p", "separation_share_p", "bic_p"]].notna().all().all()


def test_exact_relabelling_is_the_share_of_all_orders():
    given, graph = {"data": FRAMES["set 0"]}, "A -> B; A -> C; B -> D; C -> D; D -> E"
    table = pd.DataFrame({"estimate": [graph]})
    found = ce.with_controls(table, ["lmc_share", "bic"], truth=None, null="permutation", context=given, rng=1)
    turned = []
    for order in itertools.permutations("ABCDE"):
        names = dict(zip("ABCDE", order, strict=True))
        turned.append("".join(names.get(letter, letter) for letter in graph))
    every = ce.evaluate(pd.DataFrame({"estimate": turned}), ["lmc_share", "bic"], truth=None, context=given)
    assert found.loc[0, "lmc_share_p"] == pytest.approx((every["lmc_share"] <= every["lmc_share"][0] + 1e-12).mean())
    assert found.loc[0, "bic_p"] == pytest.approx((every["bic"] >= every["bic"][0] - 1e-9).mean())
    assert found.loc[0, "bic_p"] >= ce.p_floor(None, graph) - 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("nodes", ["ABCDE", "ABCDEFGHIJKLMN"])
def test_results_do_not_depend_on_what_was_tested_before(nodes):
    data = linear(150, ["AB", "BC", "CD"], 2, nodes)
    rest = "; ".join(nodes)
    graphs = ["A -> B; B -> C; C -> D", "B -> A; B -> C; D -> C", "A -> D; C -> B; E -> C"]
    table = pd.DataFrame({"estimate": [f"{graph}; {rest}" for graph in graphs] * 2})
    names = ["lmc_share", "fisher_c_p", "deviance", "bic", "mean_abs_partial", "pvalue_ad", "faithfulness_violations"]
    given = {"data": data}
    together = ce.evaluate(table, names, truth=None, context=given)[names]
    for order in ([5, 0, 3, 1, 4, 2], [2, 4, 1, 3, 0, 5]):
        turned = ce.evaluate(table.iloc[order], names, truth=None, context=given)[names]
        assert together.iloc[order].to_numpy().tobytes() == turned.to_numpy().tobytes()
    for row in range(3):
        alone = ce.evaluate(table.iloc[[row]], names, truth=None, context=given)[names]
        assert together.iloc[[row]].to_numpy().tobytes() == alone.to_numpy().tobytes()
    with ce.set_options(engine="threads", n_jobs=2):
        by_row = ce.evaluate(table, names, truth=None, context=given)[names]
    assert together.to_numpy().tobytes() == by_row.to_numpy().tobytes()


@pytest.mark.slow
def test_cubes_pair_runs_by_their_data():
    cube = ce.cube(RUNS, ["separation_share", "bic"], by=["algorithm"], truth=None, replicate="dataset",
                   null=["permutation", "edges"], context=BY, n_draws=99, rng=3)  # fmt: skip
    assert cube.sizes["replicate"] == 4
    table = ce.summary(cube, columns="full")
    full = table[(table["algorithm"] == "full") & (table["metric"] == "separation_share")]
    assert (full["n_undefined"] == 4).all() and full["mean"].isna().all()
    tested = ce.summary(cube, columns="full")
    good = tested[(tested["algorithm"] == "good") & (tested["metric"] == "bic")]
    assert (good["p_value"] < 0.05).all()
    compared = ce.compare(cube, "algorithm", metrics="bic", columns="full")
    assert (compared["n_pairs"] == 4).all() and len(compared) == 3


@pytest.mark.slow
def test_runs_on_different_data_are_no_pairs():
    mixed = RUNS.assign(rep=np.arange(12) // 3)
    mixed.loc[mixed["algorithm"] == "bad", "rep"] = [3, 2, 1, 0]
    cube = ce.cube(mixed, ["bic"], by=["algorithm"], truth=None, replicate="rep", context=BY, n_draws=9, rng=1)
    with pytest.raises(ValueError, match="have different data sets .* give runs on one data set the same replicate"):
        ce.compare(cube, "algorithm", columns="full")


@pytest.mark.slow
@pytest.mark.parametrize("given", [BY, {"data": FRAMES["set 0"]}])
def test_one_data_set_is_one_pair_which_no_test_can_use(given):
    one = ce.cube(RUNS.head(3), ["bic"], by=["algorithm"], truth=None, context=given, n_draws=9, rng=3)
    alone = ce.compare(one, "algorithm", columns="full")
    assert (alone["n_pairs"] == 1).all() and alone["p_value"].isna().all()
    with pytest.raises(ValueError, match="test='wilcoxon' needs 7 clusters"):
        ce.compare(one, "algorithm", test="wilcoxon", columns="full")
    assert alone["note"].str.contains("too few").all()


@pytest.mark.slow
def test_runs_on_one_frame_are_one_cluster():
    """Named by a column or given for all rows, in memory and lazily."""
    one, how = FRAMES["set 0"], {"by": ["algorithm"], "truth": None, "null": "permutation", "n_draws": 49, "rng": 3}
    runs = RUNS.assign(dataset="set 0", name=range(len(RUNS)))
    named = runs.ceval.cube(["bic"], context={"data": ("dataset", {"set 0": one})}, **how)
    same = runs.ceval.cube(["bic"], context={"data": one}, **how)
    lazy = dd.from_pandas(runs, npartitions=2).ceval.cube(["bic"], context={"data": one}, replicate="name", **how)
    for table in (same.ceval.summary(columns="full"), named.ceval.summary(columns="full")):
        assert table["n_clusters"].tolist() == [1, 1, 1]
    np.testing.assert_allclose(lazy.ceval.summary()["p_value"], same.ceval.summary(columns="full")["p_value"])


@pytest.mark.slow
def test_dask_gives_the_same_results():
    names, how = ["separation_share", "bic"], {"truth": None, "context": BY, "null": "permutation", "rng": 5}
    plain = ce.with_controls(RUNS, names, n_draws=20, **how)
    lazy = dd.from_pandas(RUNS, npartitions=3).ceval.with_controls(names, n_draws=20, **how).compute()
    pd.testing.assert_frame_equal(plain[names], lazy[names])
    assert plain["bic_p"].tolist() == lazy["bic_p"].tolist()


@pytest.mark.slow
def test_descriptions_stratify_and_results_name_the_data():
    found = ce.evaluate(RUNS, ["n_implied", "p_floor"], truth=None, context=BY)
    assert found["n_implied"].tolist() == [5, 5, 0] * 4 and found["p_floor"].between(0, 1).all()
    assert all(f"{key}: DataFrame of 120 rows and 5 columns, hash" in str(found.attrs) for key in FRAMES)
    cube = ce.cube(RUNS, ["bic"], by={"p_floor": [0, 0.05, 1.1]}, truth=None, context=BY, n_draws=9, rng=1)
    assert math.prod(cube.sizes[dim] for dim in ("p_floor",)) == 2


def test_columns_of_controls_never_replace_a_metric():
    both = ["deviance_p", "deviance"]
    assert set(both) <= set(RUNS.ceval.evaluate(both, truth=None, context=BY))
    with pytest.raises(ValueError, match="deviance have a column 'deviance_p', which is also the name of a metric"):
        RUNS.ceval.with_controls(both, truth=None, null="permutation", context=BY, n_draws=5, rng=1)
    chosen = [ce.tweak("deviance_p", name="fit"), "deviance"]
    found = RUNS.ceval.with_controls(chosen, truth=None, null="permutation", context=BY, n_draws=5, rng=1)
    own = RUNS.ceval.evaluate(both, truth=None, context=BY)
    np.testing.assert_array_equal(found["fit"], own["deviance_p"])


@pytest.mark.parametrize("settings", [{}, {"method": "simulate", "n_draws": 99}])
def test_tiny_p_values_do_not_tie_with_those_of_controls(settings):
    data = linear(400, ["AB", "BC", "CD", "DE", "EF"], 3, "ABCDEF")
    data["F"] += 0.6 * data["A"]
    graph = pd.DataFrame({"estimate": ["A -> B; B -> C; C -> D; D -> E; E -> F"]})
    how = {"truth": None, "context": {"data": data}, "null": "permutation", "rng": 1, **settings}
    found = ce.with_controls(graph, [ce.tweak(name, name=name[:6]) for name in ("deviance_p", "fisher_c_p")], **how)
    same = {"devian": ("deviance", "deviance_p"), "fisher": ("fisher_c_rmsea", "fisher_c_rmsea_p")}
    for name, (metric, p) in same.items():
        assert 1e-300 < found[name][0] < 1e-12
        assert found[f"{name}_p"][0] == pytest.approx(ce.with_controls(graph, [metric], **how)[p][0])
        assert found[f"{name}_p"][0] < 0.05
