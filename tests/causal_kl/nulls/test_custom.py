"""Controls drawn by a user's function."""

from __future__ import annotations

import pandas as pd
import pytest

import causaleval_pd as ce

#: controls with parameters from the true joint law, as those of the estimates
JOINT = {"estimator": "joint"}


def test_functions_draw_controls(metastatic, mutations):
    def reversed_arc(estimate, rng):
        return "S -> M; M -> B; S -> C; B -> C" if rng.random() < 0.5 else mutations["del.weak"]

    runs = pd.DataFrame({"truth": [metastatic] * 2, "estimate": [mutations["rev.in.strong"], metastatic]})
    scored = runs.ceval.with_controls(["ckl3"], null=reversed_arc, n_draws=60, rng=2, context=JOINT)
    two = [ce.ckl3(metastatic, mutations[name]) for name in ("rev.in.weak", "del.weak")]
    assert min(two) < scored["ckl3_control_mean"][0] < max(two)
    assert scored["ckl3_p"].tolist() == [1, 1 / 61]
    again = runs.iloc[[1]].ceval.with_controls(["ckl3"], null=reversed_arc, n_draws=60, rng=2, context=JOINT)
    pd.testing.assert_frame_equal(again, scored.iloc[[1]])


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ("A -> B", "row 0: null 'bad' returned str, which is not a DAG or network"),
        ("M -- S; B; C", "parameters need a DAG"),
        (3, "returned int"),
        (ce.DiscreteNetwork({"M": []}, {"M": [1.0]}), "does not match the estimate: estimate has 4 nodes, control 1"),
    ],
)
def test_functions_that_draw_something_else_are_named(metastatic, returned, words):
    def bad(estimate, rng):
        return returned

    with pytest.raises(ValueError, match=words):
        pd.DataFrame({"truth": [metastatic], "estimate": [metastatic]}).ceval.with_controls(
            ["kl"], null=bad, rng=1, context=JOINT
        )
