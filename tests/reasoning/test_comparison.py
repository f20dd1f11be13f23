"""Reasoners compared on the same questions: one implementation of each test serves answers, arrays and cubes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.reasoning import compare_answers
from causaleval_pd.statistics.paired_tests import mcnemar, paired_t, paired_wilcoxon


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
    row = ce.compare(make_cube({"model": ["a", "b"]}, {"m": (values, "maximize")}), "model").iloc[0]
    assert row["p_value"] == found["p_value"]


def test_ties_of_few_samples_are_exact():
    # five samples that all favour one reasoner: 2 / 2**5, whatever ties
    found = compare_answers(answers_of(TIED[0]), "model").iloc[0]
    assert found["p_value"] == pytest.approx(0.0625)
    assert stats.wilcoxon(TIED[0], method="asymptotic").pvalue < 0.05


@pytest.mark.parametrize(("test", "function"), [("t", paired_t), ("mcnemar", mcnemar)])
def test_other_tests_are_those_of_arrays(test, function):
    differences = [1.0, 0.25, 0.25, -0.25, 0.5, 0.75, 0.75]
    answers = answers_of(differences)
    found = compare_answers(answers, "model", test=test).iloc[0]
    if test == "mcnemar":  # single questions, not means of samples
        right = answers.assign(right=answers["answer"] == answers["truth"]).pivot(
            index=["sample", "effect"], columns="model", values="right"
        )
        differences = right["a"].astype(float) - right["b"].astype(float)
    expected = function(differences)
    assert (found["statistic"], found["p_value"]) == (expected.statistic, expected.p_value)


def test_tests_that_answers_do_not_allow_are_refused():
    with pytest.raises(ValueError, match="unknown test 'friedman'; known are 'wilcoxon', 't', 'mcnemar'"):
        compare_answers(answers_of([0.5]), "model", test="friedman")
