"""Metrics against data agree with DoWhy 0.14 and pgmpy 1.1.2 on thirty graphs; see known_answers/README.md."""

from __future__ import annotations

import functools
import gzip
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

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
    names = [
        "n_lmc",
        "n_implied",
        "p_floor",
        "lmc_share",
        "separation_share",
        "fisher_c_p",
        "deviance",
        "correlation_f1",
    ]
    found = ce.evaluate(table, names, truth=None, context={"data": data})
    edge = [known()["edge_cases"][name] for name in ("complete", "empty", "one edge A->B")]
    assert found["n_lmc"].tolist() == [x["dowhy"]["n_tests"] for x in edge]
    assert found["n_implied"].tolist() == [x["pgmpy"]["n_implied"] for x in edge]
    np.testing.assert_allclose(found["p_floor"], [x["dowhy"]["p_tpa"] for x in edge])
    # without an implied independence nothing is known, where peers return the best or the worst value
    undefined = ["lmc_share", "separation_share", "fisher_c_p", "deviance", "correlation_f1"]
    assert found.loc[0, undefined].isna().all() and found.loc[1:, undefined].notna().all().all()
    judged = ce.with_controls(table, ["lmc_share"], truth=None, null="permutation", context={"data": data}, rng=1)
    assert math.isnan(judged.loc[0, "lmc_share_p"]) and judged.loc[1, "lmc_share_p"] == 1
