"""Consistency-coverage optima against all left-hand sides."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causaleval_pd as ce
from causaleval_pd.configurational import con_cov_optima, fit_by_atom, simulate_data

RUNS = pd.DataFrame({"truth": ["A<->C"], "estimate": ["A<->C"]})
cases = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=14)


def by_trying(data):
    """Return the optima among all left-hand sides that vary in the data, as sets of configurations."""
    groups = [rows["Y"].to_numpy() for _, rows in data.groupby(["A", "B"])]
    found = set()
    for chosen in itertools.product([False, True], repeat=len(groups)):
        if 0 < sum(chosen) < len(groups):
            inside = np.concatenate([y for y, one in zip(groups, chosen, strict=True) if one])
            found.add((inside.mean(), inside.sum() / data["Y"].sum()))
    better = {(x, y) for x, y in found for u, v in found if u >= x and v >= y and (u, v) != (x, y)}
    return sorted((x, y) for x, y in found - better if y > 0)


@pytest.mark.slow
@settings(deadline=None)
@given(cases)
def test_no_left_hand_side_is_better(rows):
    data = pd.DataFrame(rows, columns=list("ABY"))
    if data["Y"].nunique() < 2 or len(data[["A", "B"]].drop_duplicates()) < 2:
        return
    found = con_cov_optima(data, "Y")
    expected = np.array(by_trying(data)).reshape(-1, 2)
    assert found[["consistency", "coverage"]].to_numpy()[::-1] == pytest.approx(expected)


def test_published_data():
    # the eleven cases of Giugni and Yamasaki (2009), as reprinted by Baumgartner and Ambühl (2021)
    rows = ["1010", "1101", "1000", "1000", "1110", "0100", "0100", "0011", "0001", "0001", "0000"]
    data = pd.DataFrame([[int(x) for x in row] for row in rows], columns=list("POAC"))
    found = con_cov_optima(data, "C")
    assert found.to_numpy().tolist() == [[1.0, 0.5, 2], [0.8, 1.0, 5]]


def test_observed_fit_stands_beside_what_is_possible():
    data = simulate_data("A*B+C<->D", 60, noise=0.2, rng=3)
    found = fit_by_atom("A+C<->D", data, optima=True).iloc[0]
    assert found["consistency"] <= found["best_consistency"] <= 1
    assert found["coverage"] <= found["best_coverage"] <= 1
    true = fit_by_atom("A*B+C<->D", data, optima=True).iloc[0]
    assert true["best_consistency"] == pytest.approx(true["consistency"])


def test_refusals():
    data = pd.DataFrame({"A": [0.2, 0.7], "B": [0, 1], "C": [1, 1]})
    with pytest.raises(ValueError, match=r"\['A'\] are fuzzy: .* give crisp columns"):
        con_cov_optima(data, "B")
    with pytest.raises(ValueError, match="is constant in the data"):
        con_cov_optima(data, "C", ["B"])
    with pytest.raises(ValueError, match="needs a factor besides"):
        con_cov_optima(data, "B", [])


def test_numbers_of_cases_are_no_factor():
    data = pd.DataFrame({"Case": range(1, 9), "A": [1, 0] * 4, "C": [1, 1, 0, 0] * 2})
    for call in (
        lambda: con_cov_optima(data, "C"),
        lambda: fit_by_atom("A<->C", data, optima=True),
        lambda: ce.evaluate(RUNS, ["correctness"], context={"data": data}),
        lambda: ce.with_controls(
            RUNS,
            ["correctness"],
            null=ce.null_model("search", shuffle="within"),
            context={"search_data": data, "method": lambda cases: "A<->C"},
        ),
    ):
        with pytest.raises(ValueError, match="column 'CASE' has a value of its own in each of the 8 cases"):
            call()
    for rest in (data.set_index("Case"), data.drop(columns="Case")):
        assert con_cov_optima(rest, "C").equals(con_cov_optima(data, "C", factors=["A"]))
    ce.evaluate(RUNS, ["fit_coverage"], context={"data": data, "factors": ["A"]})


def test_an_outcome_is_one_literal():
    data = pd.DataFrame({"A": [1, 0], "C": [1, 0]})
    with pytest.raises(ValueError, match="an outcome is one literal"):
        con_cov_optima(data, "A*C")
    with pytest.raises(ValueError, match="write Surv=1 at position 0 of 'Surv'$"):
        con_cov_optima(data, "Surv")
