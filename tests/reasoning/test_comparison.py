"""Reasoners compared on the same questions: one implementation of each test serves answers, arrays and cubes."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.reasoning import compare_answers
from causaleval_pd.statistics.arrays import mean_difference
from causaleval_pd.statistics.paired_tests import mcnemar, paired_t, paired_wilcoxon
from causaleval_pd.statistics.resampling import bootstrap_mean, sign_flip
from causaleval_pd.statistics.walsh import hodges_lehmann


def answers_of(differences):
    """Make answers of reasoners a and b, four questions a sample, whose accuracies differ by quarters."""
    rows = []
    for sample, difference in enumerate(differences):
        quarters = round(4 * difference)
        for question in range(4):
            right = {"a": question < max(quarters, 0), "b": question < max(-quarters, 0)}
            rows += [
                {"model": m, "task": 0, "sample": sample, "cause": "X", "effect": f"Y{question}", "world": "do1"}
                | {"truth": True, "answer": right[m]}
                for m in "ab"
            ]
    return pd.DataFrame(rows).astype({"answer": "boolean", "truth": "boolean"})


TIED = [
    [0.5, 0.5, 0.5, 0.25, 0.25],
    [1.0, 0.25, 0.25, -0.25, 0.5, 0.75, 0.75],
    [0.0, 0.5, 0.5, 0.25, 0.25, 1.0],
    [0.25] * 20 + [-0.25] * 8 + [0.5] * 5,
]


@pytest.mark.parametrize("differences", TIED)
def test_wilcoxon_has_the_same_p_value_everywhere(differences, make_cube):
    found = compare_answers(answers_of(differences), "model", test="wilcoxon").iloc[0]
    expected = paired_wilcoxon(differences)
    assert (found["statistic"], found["p_value"]) == (expected.statistic, expected.p_value)
    values = np.array([differences, np.zeros(len(differences))])
    cube = make_cube({"model": ["a", "b"]}, {"m": (values, "maximize")})
    # five pairs can have a p of .0625
    row = ce.compare(cube, "model", test="wilcoxon", level=0.9).iloc[0]
    assert row["p_value"] == found["p_value"]


def test_ties_of_few_samples_are_exact():
    # five samples that all favour one reasoner: 2 / 2**5, whatever ties
    for test in ("sign_flip", "wilcoxon"):
        found = compare_answers(answers_of(TIED[0]), "model", test=test).iloc[0]
        assert found["p_value"] == pytest.approx(0.0625)
    assert stats.wilcoxon(TIED[0], method="asymptotic").pvalue < 0.05


def one_question(differences):
    """Make answers of reasoners a and b to one question a sample."""
    answers = answers_of(differences)
    return answers[answers["effect"] == "Y0"]


ARRAYS = {
    "t": (paired_t, mean_difference),
    "wilcoxon": (paired_wilcoxon, hodges_lehmann),
    "sign_flip": (partial(sign_flip, rng=5), None),
    "bootstrap": (partial(bootstrap_mean, rng=5), None),
}


@pytest.mark.parametrize("test", ARRAYS)
def test_tests_and_their_intervals_are_those_of_arrays(test):
    function, effect = ARRAYS[test]
    differences = [*TIED[1], 0.25, -0.5, 1.0, 0.0, 0.25]
    found = compare_answers(answers_of(differences), "model", test=test, rng=5).iloc[0]
    statistic, p_value, *limits = function(differences)
    assert (found["statistic"], found["p_value"]) == (statistic, p_value)
    low, high = limits or effect(differences)[1:]
    assert (found["ci_low"], found["ci_high"]) == (low, high)
    assert found["effect"] == (np.mean(differences) if effect is None else effect(differences).effect)
    assert found["effect_size"] == ("hodges_lehmann" if test == "wilcoxon" else "mean_difference")
    assert (found["resampling_seed"] is pd.NA) == (test in ("t", "wilcoxon"))


@pytest.mark.parametrize("differences", [[1.0] * 9 + [-1.0] * 2 + [0.0] * 3, [1.0] * 3 + [-1.0] * 4, [1.0] * 8])
def test_with_one_question_a_sample_the_default_is_mcnemars_test(differences):
    answers = one_question(differences)
    flips, exact = (compare_answers(answers, "model", test=test).iloc[0] for test in ("sign_flip", "mcnemar"))
    assert flips["p_value"] == pytest.approx(exact["p_value"], abs=0.01 if len(differences) > 13 else 1e-12)
    assert flips["p_value"] == compare_answers(answers, "model", rng=flips["resampling_seed"]).iloc[0]["p_value"]
    assert exact["p_value"] == mcnemar(differences).p_value
    assert (exact["ci_low"], exact["ci_high"]) == tuple(mcnemar(differences)[2:])


def test_mcnemars_test_is_refused_where_questions_share_a_sample():
    with pytest.raises(ValueError, match="asked 4 questions about one sample.*use test='sign_flip'"):
        compare_answers(answers_of(TIED[0]), "model", test="mcnemar")
    found = compare_answers(answers_of(TIED[3]), "model", by="effect", test="mcnemar")
    assert found["n_samples"].tolist() == found["n_pairs"].tolist() == [33] * 4


@pytest.mark.slow
@pytest.mark.parametrize("test", ["sign_flip", "t", "wilcoxon"])
def test_intervals_agree_with_p_values(test):
    generator = np.random.default_rng(8)
    for _ in range(40):
        differences = np.round(generator.normal(0.3, 0.5, 12).clip(-1, 1) * 4) / 4
        found = compare_answers(answers_of(differences), "model", test=test, rng=1).iloc[0]
        if found["ci_low"] > 0 or found["ci_high"] < 0:
            assert found["p_value"] <= 0.05
        elif test == "t":
            assert found["p_value"] > 0.05


@pytest.mark.slow
def test_why_there_is_no_interval_is_noted():
    few = compare_answers(answers_of([0.5, 0.25]), "model").iloc[0]
    assert (few["note"], few["p_value"]) == ("too few clusters for an interval", 0.5)
    alike = compare_answers(answers_of([0.5] * 8), "model", test="t").iloc[0]
    assert alike["note"] == "no variation" and np.isnan(alike["p_value"]) and alike["p_at_floor"] is pd.NA
    for differences, p_value in (([0.5] * 8, 2 / 2**8), ([0.0] * 8, 1.0)):
        flips = compare_answers(answers_of(differences), "model").iloc[0]
        assert flips["note"] == "no variation" and np.isnan(flips["ci_low"]) and flips["p_value"] == p_value


def test_p_at_the_floor_of_the_sign_vectors_is_marked():
    found = compare_answers(answers_of([0.5] * 20), "model", n_resamples=99).iloc[0]
    assert found["p_at_floor"] and found["p_value"] == 0.01
    assert not compare_answers(answers_of(TIED[0]), "model").iloc[0]["p_at_floor"]


def test_tests_that_answers_do_not_allow_are_refused():
    known = "known are 'wilcoxon', 't', 'bootstrap', 'sign_flip', 'mcnemar'"
    with pytest.raises(ValueError, match=f"unknown test 'friedman'; {known}"):
        compare_answers(answers_of([0.5]), "model", test="friedman")
