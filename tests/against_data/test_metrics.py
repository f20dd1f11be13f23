"""Metrics against data: DoWhy, pgmpy, formulas, and the level of tests that claim one."""

import functools
import gzip
import itertools
import json
import math
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce

RNG = np.random.default_rng(7)
NUMBERS = pd.DataFrame(RNG.normal(size=(120, 4)) @ RNG.normal(size=(4, 4)) + 3, columns=list("ABCD"))
LEVELS = pd.DataFrame({"A": RNG.integers(0, 2, 150), "B": RNG.integers(0, 3, 150)})
LEVELS["C"] = (LEVELS["A"] + LEVELS["B"] + RNG.integers(0, 2, 150)) % 4
LEVELS["D"] = (LEVELS["C"] + RNG.integers(0, 2, 150)) % 3
GRAPHS = ["A -> B; B -> C; D", "A -> C; B -> C; C -> D", "A; B; C; D", "D -> A; D -> B; A -> C; B -> C; A -> B"]
RUNS = pd.DataFrame({"estimate": GRAPHS})


def random_dag(d, m, rng):
    pairs = np.array(list(itertools.combinations(range(d), 2)))[rng.choice(d * (d - 1) // 2, m, replace=False)]
    found, order = np.zeros((d, d), bool), rng.permutation(d)
    found[order[pairs[:, 0]], order[pairs[:, 1]]] = True
    return found


def sample(arcs, n, rng):
    d = len(arcs)
    weights = np.where(arcs, rng.uniform(0.3, 1.2, (d, d)) * rng.choice([-1, 1], (d, d)), 0)
    values = rng.normal(size=(n, d)) * rng.uniform(0.5, 1.5, d) @ np.linalg.inv(np.eye(d) - weights)
    return pd.DataFrame(values, columns=[f"X{i}" for i in range(d)])


def text(arcs):
    return "; ".join([*(f"X{i}" for i in range(len(arcs))), *(f"X{i} -> X{j}" for i, j in np.argwhere(arcs))])


@pytest.mark.slow
@pytest.mark.parametrize(("data", "suffix"), [(NUMBERS, "Gauss"), (LEVELS, "")])
def test_likelihoods_are_those_of_pgmpy(data, suffix):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy import structure_score
        from pgmpy.base import DAG

        found = ce.evaluate(RUNS, ["bic", "log_likelihood"], truth=None, context={"data": data})
        shown = data if suffix else data.astype("category")
        for name, peer in (("bic", f"BIC{suffix}"), ("log_likelihood", f"LogLikelihood{suffix}")):
            for row, graph in enumerate(GRAPHS):
                dag = DAG([tuple(edge.split(" -> ")) for edge in graph.split("; ") if "->" in edge])
                dag.add_nodes_from("ABCD")
                assert found[name][row] == pytest.approx(getattr(structure_score, peer)(shown).score(dag), rel=1e-9)


@pytest.mark.slow
def test_rows_left_out_are_predicted_by_the_others():
    one, other = (ce.evaluate(RUNS, ["cv_log_likelihood"], truth=None, context={"data": NUMBERS}) for _ in range(2))
    assert one["cv_log_likelihood"].equals(other["cv_log_likelihood"])
    fit = ce.evaluate(RUNS, ["log_likelihood"], truth=None, context={"data": NUMBERS})["log_likelihood"]
    assert (one["cv_log_likelihood"] < fit).all()
    # as many folds as rows: each row by the regressions of the others
    whole = ce.tweak("cv_log_likelihood", folds=len(NUMBERS), name="one_out")
    found = ce.evaluate(RUNS, [whole], truth=None, context={"data": NUMBERS})["one_out"][0]
    wanted = 0.0
    for row in range(len(NUMBERS)):
        rest, here = NUMBERS.drop(index=row), NUMBERS.loc[row]
        for node, parents in (("A", []), ("B", ["A"]), ("C", ["B"]), ("D", [])):
            design = np.column_stack([np.ones(len(rest)), rest[parents]])
            beta, *_ = np.linalg.lstsq(design, rest[node], rcond=None)
            deviation = np.sqrt(np.mean((rest[node] - design @ beta) ** 2))
            wanted += stats.norm.logpdf(here[node], np.array([1, *here[parents]]) @ beta, deviation)
    assert found == pytest.approx(wanted, rel=1e-9)
    # levels: 1/2 is added to every count, so that no level is impossible
    rare = LEVELS.assign(A=[9, *LEVELS["A"][1:]])
    found = ce.evaluate(RUNS, ["cv_log_likelihood"], truth=None, context={"data": rare})
    assert np.isfinite(found["cv_log_likelihood"]).all()
    for folds in (1, 2.5, "all"):
        with pytest.raises(ValueError, match="folds must be an integer from 2"):
            ce.evaluate(RUNS, [ce.tweak("cv_log_likelihood", folds=folds)], truth=None, context={"data": NUMBERS})


def test_too_few_rows_for_a_fit_are_refused():
    full = pd.DataFrame({"estimate": ["A -> D; B -> D; C -> D; A -> B"]})
    with pytest.raises(ValueError, match="cv_log_likelihood: row 0.*5 rows, too few to fit a node with 3 parents"):
        ce.evaluate(full, ["cv_log_likelihood"], truth=None, context={"data": NUMBERS.head(5)})


@pytest.mark.parametrize("graph", ["A -> B; C; D", "B -> A; C; D", "A; B; C; D", "A -> B; B -> C; D"])
def test_folds_that_cannot_be_fitted_name_the_columns(graph):
    rare = NUMBERS.assign(A=[1.0, *[0.1] * (len(NUMBERS) - 1)])
    with pytest.raises(ValueError, match=r"cv_log_likelihood: row 0 .*columns \['?.*'A'.*\] are constant or linearly"):
        ce.evaluate(pd.DataFrame({"estimate": [graph]}), ["cv_log_likelihood"], truth=None, context={"data": rare})


def test_copies_in_the_rows_of_a_fold_are_refused():
    close = NUMBERS.assign(B=np.where(np.arange(len(NUMBERS)) == 3, 0.0, NUMBERS["A"]))
    runs = pd.DataFrame({"estimate": ["A -> B; C; D"]})
    with pytest.raises(ValueError, match=r"the columns \['A', 'B'\] are constant or linearly dependent in the 96 rows"):
        ce.evaluate(runs, ["cv_log_likelihood"], truth=None, context={"data": close})


def test_distances_from_uniform_are_those_of_scipy():
    rng = np.random.default_rng(1)
    arcs = random_dag(7, 9, rng)
    data = sample(arcs, 200, rng)
    given, seen = {"data": data}, []

    def noted(x, y, z):
        design = np.column_stack([np.ones(len(x)), z])
        left, right = (v - design @ np.linalg.lstsq(design, v, rcond=None)[0] for v in (x, y))
        r = np.corrcoef(left, right)[0, 1]
        seen.append(2 * stats.norm.sf(abs(np.sqrt(len(x) - z.shape[1] - 3) * np.arctanh(r))))
        return float(seen[-1])

    runs = pd.DataFrame({"estimate": [text(arcs)]})
    found = ce.evaluate(runs, ["pvalue_ks", "pvalue_ad", "lmc_distinct_share"], truth=None, context=given)
    ce.evaluate(runs, ["lmc_share"], truth=None, context=given | {"test": noted})
    p = np.sort(seen)
    assert found["pvalue_ks"][0] == pytest.approx(stats.kstest(p, "uniform").statistic)
    i, n = np.arange(1, len(p) + 1), len(p)
    assert found["pvalue_ad"][0] == pytest.approx(-n - ((2 * i - 1) * (np.log(p) + np.log(1 - p[::-1]))).mean())
    assert found["lmc_distinct_share"][0] == pytest.approx((p <= 0.05).mean())
    one_test, names = pd.DataFrame({"estimate": ["A -> B; B -> C"]}), ["pvalue_ks", "pvalue_ad"]
    assert ce.evaluate(one_test, names, truth=None, context={"data": NUMBERS})[names].isna().all(axis=None)


def test_the_deviance_is_the_difference_of_likelihoods():
    names = ["deviance", "deviance_p", "rmsea", "log_likelihood", "n_implied"]
    full = "A -> B; A -> C; A -> D; B -> C; B -> D; C -> D"
    found = ce.evaluate(pd.DataFrame({"estimate": [*GRAPHS, full]}), names, truth=None, context={"data": NUMBERS})
    wanted = 2 * (found["log_likelihood"].iloc[-1] - found["log_likelihood"])[:-1]
    np.testing.assert_allclose(found["deviance"][:-1], wanted, rtol=1e-8)
    np.testing.assert_allclose(found["deviance_p"][:-1], stats.chi2.sf(wanted, found["n_implied"][:-1]))
    excess = (wanted - found["n_implied"][:-1]) / (found["n_implied"][:-1] * (len(NUMBERS) - 1))
    np.testing.assert_allclose(found["rmsea"][:-1], np.sqrt(np.maximum(excess, 0)))
    assert found.iloc[-1][["deviance", "deviance_p", "rmsea"]].isna().all()


def test_a_faithful_law_has_its_dependences():
    rng = np.random.default_rng(2)
    arcs = random_dag(6, 7, rng)
    runs = pd.DataFrame({"estimate": [text(arcs), text(arcs.T)]})
    names = ["fraction_dependent_h1", "faithfulness_violations", "minimality_violations", "correlation_mcc"]
    found = ce.evaluate(runs, names, truth=None, context={"data": sample(arcs, 20_000, rng), "alpha": 0.001})
    assert found.loc[0, names].tolist() == [1, 0, 0, pytest.approx(found.loc[0, "correlation_mcc"])]
    assert found.loc[0, "correlation_mcc"] > 0.7


def test_without_metrics_those_of_data_are_computed():
    found = ce.evaluate(RUNS, truth=None, context={"data": NUMBERS})
    assert list(found.columns) == ["estimate", "separation_share", "bic"]
    assert "shd" in ce.evaluate(RUNS.assign(truth=GRAPHS[0]))


@pytest.mark.slow
def test_fisher_c_and_the_deviance_keep_their_level_and_random_graphs_are_not_falsified_too_seldom():
    rng, rows, frames = np.random.default_rng(5), [], {}
    for k in range(1200):
        arcs = random_dag(6, 8, rng)
        frames[k] = sample(arcs, 200, rng)
        rows.append({"data": k, "estimate": text(arcs), "random": text(random_dag(6, 8, rng))})
    runs, given = pd.DataFrame(rows), {"data": ("data", frames)}
    found = ce.evaluate(runs, ["fisher_c_p", "deviance_p"], truth=None, context=given)
    for name in ("fisher_c_p", "deviance_p"):
        assert 0.03 < (found[name] <= 0.05).mean() < 0.07
    # of graphs that know nothing of the data at most .05 are better than their relabellings
    few = runs.head(400).assign(estimate=runs["random"])
    names, how = ["lmc_share", "bic"], {"n_draws": 39, "method": "simulate", "rng": 1}
    guessed = ce.with_controls(few, names, truth=None, null="permutation", context=given, **how)
    for name in names:
        assert (guessed[f"{name}_p"] <= 0.05).mean() < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


KNOWN = Path(__file__).parent.parent / "known_answers"


@functools.cache
def known():
    return json.loads(gzip.decompress((KNOWN / "without_truth.json.gz").read_bytes()))


@functools.cache
def frames():
    table = pd.read_csv(KNOWN / "without_truth_data.csv.gz")
    return {name: part.drop(columns="dataset").dropna(axis=1) for name, part in table.groupby("dataset")}


@functools.cache
def runs():
    rows = []
    for name, graphs in known()["graphs"].items():
        for word, arcs in graphs.items():
            text = "; ".join([*(f"{a} -> {b}" for a, b in arcs), *known()["nodes"][name]])
            rows.append({"dataset": name, "graph": word, "estimate": text})
    return pd.DataFrame(rows)


def of_peer(peer, key, test=None):
    found = [known()[peer][row.dataset][row.graph] for row in runs().itertuples()]
    return pd.Series([x[key] if test is None else x[test][key] for x in found])


def scored(metrics, test="fisher_z", **context):
    given = {"data": ("dataset", frames()), "test": test, **context}
    return ce.evaluate(runs(), metrics, truth=None, context=given)


@pytest.mark.slow
def test_local_markov_violations_are_those_of_dowhy():
    found = scored(["n_lmc", "lmc_violations", "lmc_share", "faithfulness_violations", "minimality_violations"])
    np.testing.assert_array_equal(found["n_lmc"], of_peer("dowhy", "lmc_tests"))
    for name in ("lmc_violations", "faithfulness_violations", "minimality_violations"):
        np.testing.assert_array_equal(found[name], of_peer("dowhy", name))
    np.testing.assert_allclose(found["lmc_share"], found["lmc_violations"] / found["n_lmc"])


@pytest.mark.slow
def test_every_p_value_is_that_of_dowhy():
    # at a level just below and just above a p-value, other statements are violated
    parts = []
    for row, p_values in enumerate(of_peer("dowhy", "lmc_p")):
        for p in {round(p, 15) for p in p_values.values() if 1e-9 < p < 1 - 1e-9}:
            for level in (p * (1 - 1e-8), p * (1 + 1e-8)):
                wanted = sum(q <= level for q in p_values.values())
                parts.append(runs().iloc[[row]].assign(alpha=level, wanted=wanted))
    table = pd.concat(parts, ignore_index=True)
    given = {"data": ("dataset", frames()), "alpha": "alpha"}
    found = ce.evaluate(table, ["lmc_violations"], truth=None, context=given)
    assert len(table) > 200 and found["lmc_violations"].tolist() == table["wanted"].tolist()


@pytest.mark.slow
def test_permutation_p_values_are_those_of_dowhy():
    given = {"data": ("dataset", frames())}
    found = ce.with_controls(runs(), ["lmc_share"], truth=None, null="permutation", context=given, rng=1)
    assert (found["lmc_share_p_method"] == "exact").all()
    np.testing.assert_allclose(found["lmc_share_p"], of_peer("dowhy", "p_lmc"))


def test_the_smallest_p_value_is_the_share_of_equivalent_relabellings():
    np.testing.assert_allclose(scored(["p_floor"])["p_floor"], of_peer("dowhy", "p_tpa"))


@pytest.mark.parametrize("test", ["fisher_z", "pearsonr"])
def test_implied_independences_and_fisher_c_are_those_of_pgmpy(test):
    found = scored(["n_implied", "fisher_c_p", "fisher_c_rmsea", "correlation_f1", "separation_share"], test)
    np.testing.assert_array_equal(found["n_implied"], of_peer("pgmpy", "n_implied", test))
    np.testing.assert_allclose(found["correlation_f1"].fillna(0), of_peer("pgmpy", "correlation_f1", test))
    cis = of_peer("pgmpy", "cis", test)
    # the peer counts p-values below 1e-6 as that in Fisher's C
    p, wanted = found["fisher_c_p"], of_peer("pgmpy", "fisher_c_p", test)
    exact = np.array([min(x[3] for x in row) > 1e-6 for row in cis]) & (wanted > 1e-6)
    assert exact.sum() >= 8
    np.testing.assert_allclose(p[exact], wanted[exact], rtol=1e-8, atol=1e-14)
    assert (p[~exact] < 1e-4).all()
    np.testing.assert_allclose(found["fisher_c_rmsea"][exact], of_peer("pgmpy", "rmsea", test)[exact], atol=1e-9)
    # some of the peer's separators are others of the same size
    violated = of_peer("pgmpy", "n_violated", test) / of_peer("pgmpy", "n_implied", test)
    assert (np.abs(found["separation_share"] - violated) < 1e-9).mean() > 0.8


def test_no_test_and_no_edge():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4)), columns=list("ABCD"))
    graphs = ["A -> B; A -> C; A -> D; B -> C; B -> D; C -> D", "A; B; C; D", "A -> B; C; D"]
    table = pd.DataFrame({"estimate": graphs})
    undefined = ["lmc_share", "separation_share", "fisher_c_p", "deviance", "correlation_f1"]
    found = ce.evaluate(table, ["n_lmc", "n_implied", "p_floor", *undefined], truth=None, context={"data": data})
    edge = [known()["edge_cases"][name] for name in ("complete", "empty", "one edge A->B")]
    assert found["n_lmc"].tolist() == [x["dowhy"]["n_tests"] for x in edge]
    assert found["n_implied"].tolist() == [x["pgmpy"]["n_implied"] for x in edge]
    np.testing.assert_allclose(found["p_floor"], [x["dowhy"]["p_tpa"] for x in edge])
    # without an implied independence nothing is known, where peers return the best or the worst value
    assert found.loc[0, undefined].isna().all() and found.loc[1:, undefined].notna().all().all()
    judged = ce.with_controls(table, ["lmc_share"], truth=None, null="permutation", context={"data": data}, rng=1)
    assert math.isnan(judged.loc[0, "lmc_share_p"]) and judged.loc[1, "lmc_share_p"] == 1
