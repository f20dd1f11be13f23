"""Values where a part is undefined: constant outcomes, members of sets, F-beta of its parts, sizes."""

from __future__ import annotations

import math

import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.configurational import ideal_data

CHAIN = "(A+B<->C)*(C+D<->E)"
LARGE = "A*B*C*D+a*b*c*d+A*b*C*d+a*B*c*D+A*B*c*d<->E"
PARTS = ("", "_literal", "_conjunctive", "_disjunctive", "_sequential")


def test_a_constant_outcome_is_no_way_to_a_better_mean() -> None:
    right, wrong, half = "(A<->C)*(D<->E)", "(a*b<->C)*(d<->E)*(A+a<->F)", "(A<->C)*(D<->E)*(A+a<->F)"
    assert ce.correctness(CHAIN, right) == 1
    assert ce.correctness(CHAIN, half) < 1
    assert ce.correctness(CHAIN, wrong) == 0 == ce.f_beta(CHAIN, wrong) == ce.completeness(CHAIN, wrong)
    # what is right counts as without the atom, whose parts as written count as wrong: 2 + 2 + 2 + 2
    table = ce.configurational.quality_table(CHAIN, half).query("measure == 'correctness'")
    own = table.groupby("outcome")[["shared", "complexity"]].sum()
    assert own.loc["F"].tolist() == [0, 8]
    assert ce.correctness(CHAIN, half) == own["shared"].sum() / own["complexity"].sum()
    assert ce.completeness(CHAIN, half) == ce.completeness(CHAIN, right)
    # a constant atom of an outcome that the truth explains finds nothing, and hides nothing else
    assert ce.completeness(CHAIN, "(A+a<->C)*(D<->E)") == pytest.approx(ce.completeness(CHAIN, "D<->E"))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    ("estimate", "others"),
    [("(A<->C)*(A+a<->F)", "A<->C"), ("(A+a<->C)*(D<->E)", "D<->E"), ("(D<->E)*(A*a<->C)", "D<->E")],
)
def test_rules_for_constant_outcomes(part: str, estimate: str, others: str) -> None:
    correctness, f_beta = (ce.get_metric(name + part) for name in ("correctness", "f_beta"))
    penalised, dropped, undefined = (
        correctness(CHAIN, estimate, constant_outcome=rule) for rule in ("penalise", "drop", "nan")
    )
    assert penalised == correctness(CHAIN, estimate) < correctness(CHAIN, others) == dropped
    assert correctness(CHAIN, estimate, convention="paper") == dropped
    assert correctness(CHAIN, estimate, convention="paper", constant_outcome="penalise") == penalised
    assert math.isnan(undefined) and math.isnan(f_beta(CHAIN, estimate, constant_outcome="nan"))
    with pytest.raises(ValueError, match="unknown constant_outcome 'punish'"):
        correctness(CHAIN, estimate, constant_outcome="punish")


def test_a_truth_with_a_constant_outcome_has_nothing_to_be_found() -> None:
    truth = "(A+a<->C)*(B<->D)"
    assert ce.completeness(truth, "B<->D") == 1
    assert ce.correctness(truth, "(A<->C)*(B<->D)") == 0.5
    assert math.isnan(ce.completeness("A+a<->C", "A<->C"))
    assert ce.f_beta("A+a<->C", "A<->C") == 0


def test_outcomes_that_are_constant_in_data() -> None:
    data = ideal_data(CHAIN).query("C == 1")
    runs = pd.DataFrame({"truth": [CHAIN], "estimate": ["A<->C"]})
    for rule, value in (("penalise", 0.0), ("drop", math.nan), ("nan", math.nan)):
        metric = ce.tweak("correctness", constant_outcome=rule, name="c")
        found = ce.evaluate(runs, [metric, "f_beta"], context={"data": data})
        assert found["c"][0] == pytest.approx(value, nan_ok=True)
        assert found["f_beta"][0] == 0


def test_undefined_members_of_sets_are_skipped() -> None:
    two = "A<->C; A+a<->C"
    assert ce.correctness("A+B<->C", two) == 1
    assert ce.correctness("A+B<->C", two, models="mean") == 0.5
    for rule in ("max", "mean", "any", "all"):
        assert ce.correctness("A+B<->C", two, models=rule, constant_outcome="nan") == 1
        assert math.isnan(ce.correctness("A+B<->C", "A+a<->C", models=rule, constant_outcome="nan"))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("estimate", ["{}", "a<->C", "A+a<->C", "X<->Y", "A<->C", "A+a<->F; A<->C", CHAIN])
@pytest.mark.parametrize("convention", ["corrected", "paper", "text"])
def test_f_beta_is_that_of_its_parts(part: str, estimate: str, convention: str) -> None:
    p, r, f = (
        ce.get_metric(name + part)("A+B<->C", estimate, convention=convention)
        for name in ("correctness", "completeness", "f_beta")
    )
    if 0 in (p, r):
        assert f == 0
    elif ";" not in estimate:
        assert f == pytest.approx(2 * p * r / (p + r), nan_ok=True)


@pytest.mark.filterwarnings("ignore:.*do not reach:UserWarning")
def test_true_values_beyond_the_published_sizes() -> None:
    assert ce.correctness(LARGE, LARGE) == ce.completeness(LARGE, LARGE) == 1
    assert ce.correctness(LARGE, "A*B*C*D<->E") == 1
    assert math.isnan(ce.correctness(LARGE, LARGE, convention="paper"))
    # relative to data too
    wide = "A+B+C+D+E<->F"
    runs = pd.DataFrame({"truth": [wide, wide], "estimate": [wide, "A+B<->F"]})
    data = ideal_data(wide)
    paper = ce.tweak("completeness", convention="paper", name="paper")
    found = ce.evaluate(runs, ["correctness", "completeness", paper], context={"data": data})
    assert found.loc[0, ["correctness", "completeness", "paper"]].tolist() == [1, 1, 0]
    sized = ce.evaluate(runs, ["completeness"], context={"data": data, "max_size": (3, 4, 10)})
    assert sized["completeness"][0] == 0
    with pytest.raises(ValueError, match="max_size must be three numbers"):
        ce.evaluate(runs, ["completeness"], context={"data": data, "max_size": 3})


def test_estimates_below_their_thresholds_are_counted_and_named() -> None:
    data = ideal_data("A+B<->C")
    runs = pd.DataFrame({"truth": ["A+B<->C"] * 5, "estimate": ["A+B<->C", "A<->C", "{}", "a<->C; A+B<->C", None]})
    runs.index = pd.Index(list("vwxyz"))
    context = {"data": data, "con": 0.9, "cov": 0.9}
    message = (
        r"2 of 5 estimates have atoms that do not reach con=0\.9 and cov=0\.9 in their data "
        r"\(row 1 \(index 'w'\), row 3 \(index 'y'\)\): such atoms ascribe no causes"
    )
    for verb in (ce.evaluate, lambda *args, **options: ce.with_controls(*args, **options, n_draws=9, rng=1)):
        with pytest.warns(UserWarning, match=message) as caught:
            found = verb(runs, ["correctness", "completeness"], context=context)
        assert len([one for one in caught if "do not reach" in str(one.message)]) == 1
        assert found["completeness"].fillna(-1).tolist() == [1, 0, 0, 1, -1]
    # thresholds play no part where all are reached, without data, and in measures of fit
    ce.evaluate(runs, ["correctness"], context={"data": data, "con": 0.5, "cov": 0.3})
    ce.evaluate(runs, ["fit_coverage", "is_submodel"], context=context)
