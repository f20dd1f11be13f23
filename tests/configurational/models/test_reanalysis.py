"""Re-analysis over thresholds, robust cores and sensitivity ranges."""

from __future__ import annotations

import pandas as pd
import pytest

from causaleval_pd.configurational import (
    fit_robustness,
    ideal_data,
    reanalyse,
    robust_fit,
    sensitivity_ranges,
)

CHAIN = "(A+B<->C)*(C+D<->E)"


def test_both_relations_are_named_and_can_differ():
    def method(data, consistency, coverage):
        # the short model leaves the intermediate outcome out
        return CHAIN if coverage == 1 else "A+B+D<->E"

    data = ideal_data(CHAIN)
    found = reanalyse(data, method, consistency=[1, 0.9], coverage=[1, 0.8])
    assert found.runs["estimate"].tolist() == [CHAIN, "A+B+D<->E"] * 2
    by_model = found.models.set_index("model")
    assert by_model["score_submodel"].tolist() == [2, 2]
    assert by_model["score_causal_submodel"].tolist() == [4, 4]
    for relation in ("submodel", "causal_submodel"):
        scores = fit_robustness([CHAIN, "A+B+D<->E"] * 2, relation=relation).set_index("model")["score"]
        assert by_model[f"score_{relation}"].to_dict() == scores.to_dict()
    assert by_model[["consistency", "coverage"]].to_numpy().tolist() == [[1, 1], [1, 1]]


def test_the_method_gets_the_thresholds_and_a_copy():
    seen = []

    def method(data, consistency, coverage):
        seen.append((consistency, coverage))
        data["A"] = 0
        return "{}"

    data = ideal_data("A<->B")
    found = reanalyse(data, method, consistency=[1, 0.5], coverage=[0.75])
    assert seen == [(1.0, 0.75), (0.5, 0.75)]
    assert data["A"].tolist() == [0, 1]
    assert found.runs["n_models"].tolist() == [0, 0]
    assert found.models.empty


def test_cyclic_models_have_no_causal_scores():
    found = reanalyse(ideal_data("A<->B"), lambda *_: "(A<->B)*(B<->A); A<->B", consistency=[1], coverage=[1])
    assert found.models["score_submodel"].tolist() == [1, 1]
    assert found.models["score_causal_submodel"].isna().all()


def test_reanalysis_refusals():
    data = ideal_data("A<->B")
    with pytest.raises(ValueError, match=r"consistency must lie in \[0, 1\]"):
        reanalyse(data, lambda *_: "{}", consistency=[1.2])
    with pytest.raises(ValueError, match="names no threshold"):
        reanalyse(data, lambda *_: "{}", coverage=[])
    with pytest.raises(TypeError, match="method must be a function"):
        reanalyse(data, "A<->B")
    with pytest.raises(TypeError, match=r"what the method returned at consistency 1.0 and coverage 1.0: .*found None"):
        reanalyse(data, lambda *_: None)
    with pytest.raises(ValueError, match=r"what the method returned at .*expected"):
        reanalyse(data, lambda *_: "A*<->B")


def test_robust_core_by_hand():
    data = pd.DataFrame(
        {"A": [0.9, 0.8, 0.3, 0.1], "B": [0.2, 0.6, 0.7, 0.1], "C": [0.1, 0.2, 0.9, 0.4], "Y": [0.8, 0.9, 0.6, 0.2]}
    )
    # left-hand sides: A+B is .9 .8 .7 .1, A is .9 .8 .3 .1, A+C is .9 .8 .9 .4
    found = robust_fit("A+B<->Y", ["A<->Y", "A+C<->Y"], data)
    core = [0.9, 0.8, 0.3, 0.1]
    shared = sum(map(min, core, data["Y"]))
    assert found["core_coverage"] == pytest.approx(shared / 2.5)
    assert found["robust_coverage"] == pytest.approx(shared / sum(map(min, [0.9, 0.8, 0.7, 0.1], data["Y"])))
    assert found["coincidence_min"] == pytest.approx(2.1 / 2.5)
    assert found["coincidence_max"] == pytest.approx(2.5 / 3.0)
    same = robust_fit("A+B<->Y", ["A+B<->Y"], data)
    assert same[["robust_consistency", "robust_coverage", "coincidence_min", "coincidence_max"]].tolist() == [1] * 4


def test_three_tests_all_count():
    data = pd.DataFrame({"A": [1, 1, 1, 0], "B": [1, 1, 0, 0], "C": [1, 0, 0, 0], "Y": [1, 1, 1, 0]})
    between = robust_fit("A<->Y", ["A<->Y", "C<->Y", "B<->Y"], data)
    assert between["core_coverage"] == pytest.approx(1 / 3)
    assert between["coincidence_min"] == pytest.approx(1 / 3)


def test_robust_fit_refusals():
    data = ideal_data(CHAIN)
    with pytest.raises(ValueError, match=r"has the outcomes .*outcome="):
        robust_fit(CHAIN, [CHAIN], data)
    assert robust_fit(CHAIN, [CHAIN], data, outcome="C")["robust_coverage"] == 1
    with pytest.raises(ValueError, match="has no atom for the outcome"):
        robust_fit(CHAIN, ["A<->C"], data, outcome="E")
    with pytest.raises(ValueError, match="no test model"):
        robust_fit("A<->C", [], data)


def test_sensitivity_ranges():
    def method(data, consistency, coverage):
        return "A<->B" if consistency > 0.72 and coverage <= 0.9 else "{}"

    found = sensitivity_ranges(ideal_data("A<->B"), method, consistency=0.8, coverage=0.85, step=0.01)
    assert found.astype(object).where(found.notna(), None).to_dict("list") == {
        "threshold": ["consistency", "coverage"],
        "value": [0.8, 0.85],
        "lower": [0.73, 0.0],
        "upper": [1.0, 0.9],
        "below": ["{}", None],
        "above": [None, "{}"],
    }
    with pytest.raises(ValueError, match="step"):
        sensitivity_ranges(ideal_data("A<->B"), method, consistency=0.8, coverage=0.85, step=0)


def test_a_method_takes_data_and_two_thresholds():
    data = ideal_data("A<->B")
    with pytest.raises(TypeError, match="method must be a function of data, consistency and coverage"):
        reanalyse(data, lambda cases: "A<->B")
    with pytest.raises(TypeError, match="method must be a function of data, consistency and coverage"):
        sensitivity_ranges(data, lambda cases: "A<->B", consistency=1, coverage=1)
