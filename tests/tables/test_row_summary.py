"""Summaries of controls: means, limits, p-values by every rule, skill; from closed forms and from draws."""

import itertools

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.law import ClosedForm, Distribution
from causaleval_pd.tables.row_summary import (
    EXACT,
    NONE,
    SIMULATED,
    row_means,
    skill,
    spread,
    stack_rows,
    summarise,
    with_p_of_worse,
    without_p,
)
from causaleval_pd.tables.settings import Drawing


def test_errors_of_simulated_means(guesses):
    few = guesses.head(30)
    exact = ce.with_controls(few, ["shd"], n_draws=400, rng=7, columns="full")
    drawn = ce.with_controls(few, ["shd"], n_draws=400, rng=7, method="simulate", columns="full")
    assert (exact["shd_control_mean_se"] == 0).all()
    z = (drawn["shd_control_mean"] - exact["shd_control_mean"]) / drawn["shd_control_mean_se"]
    assert 0.6 < z.std() < 1.5 and abs(z.mean()) < 0.8


def drawn(values, observed, metric=ce.shd, **how):
    return summarise(metric, np.array(observed, float), None, np.array(values, float), Drawing(len(values[0]), **how))


def test_draws_are_counted():
    values, observed = [[1, 2, 2, 3, np.nan]], [2]
    assert drawn(values, observed).p[0] == (3 + 1) / (4 + 1)
    assert drawn(values, observed, listed=True).p[0] == 3 / 4
    found = drawn(values, observed)
    assert (found.as_good[0], found.better[0], found.n[0]) == (3 / 4, 1 / 4, 4) and found.undefined[0] == 1 - 4 / 5
    assert (found.mean[0], found.loss[0]) == (2.0, 2.0)
    assert found.p_se[0] == pytest.approx(np.sqrt(0.8 * 0.2 / 4))


def test_rows_without_value_or_draws_have_no_p():
    found = drawn([[1, 2], [np.nan] * 2, [1, np.inf]], [np.nan, 1, 1])
    assert np.isnan(found.p[:2]).all() and found.p[2] == 2 / 3
    np.testing.assert_array_equal(found.mean, [1.5, np.nan, np.inf])
    assert np.isnan(found.mean_se[2]) and found.loss[2] == np.inf
    assert found.mean_method.tolist() == [SIMULATED, NONE, SIMULATED]
    assert found.p_method.tolist() == [NONE, NONE, SIMULATED]
    assert found.undefined.tolist() == [0, 1, 0]
    one = drawn([[3]], [1])
    assert one.mean[0] == 3 and np.isnan(one.mean_se[0]), "one draw shows no error"


def test_closed_forms_come_before_draws():
    law = Distribution.of(np.zeros(2, np.int64), np.array([[1.0, 4.0]]), np.array([[0.25, 0.75]]))
    form = ClosedForm(np.full(2, 3.25), None, law)
    observed = np.array([1.0, np.nan])
    found = summarise(ce.shd, observed, form, None, Drawing(5))
    assert found.p[0] == 0.25 and np.isnan(found.p[1]) and found.mean_se.tolist() == [0, 0]
    for known, mean in ((np.nan, 1.0), (1.5, 1.5)):
        listed = ClosedForm(np.array([known, 3.25]), None, law, np.array([False, True]))
        some = summarise(ce.shd, observed, listed, np.ones((2, 4)), Drawing(4))
        assert some.p[0] == 1.0 and some.p_method.tolist() == [SIMULATED, EXACT] and some.mean.tolist() == [mean, 3.25]
    mean = summarise(ce.shd, observed, ClosedForm(np.array([2.0, np.nan])), np.ones((2, 4)), Drawing(4))
    assert mean.mean.tolist() == [2.0, 1.0] and mean.mean_method.tolist() == [EXACT, SIMULATED]
    assert mean.loss.tolist() == [2.0, 1.0], "the mean's distance, since 0 is the least value"


def test_chunks_go_back_to_their_rows():
    parts = [drawn([[1, 2]], [1]), drawn([[3, 4], [5, 6]], [3, 5])]
    found = spread(parts, np.array([3, 0, 2]), 5)
    np.testing.assert_array_equal(found.observed, [3, np.nan, 5, 1, np.nan])
    assert found.p_method.tolist() == [SIMULATED, NONE, SIMULATED, SIMULATED, NONE]
    assert np.isnan(spread([], np.empty(0, np.int64), 2).p).all()
    stacked = stack_rows(parts)
    assert stacked.observed.tolist() == [1, 3, 5] and stack_rows(parts[:1]) is parts[0]


def test_references_have_no_p():
    found = without_p(drawn([[1, 2]], [1]))
    assert np.isnan(found.p).all() and np.isnan(found.p_se).all() and found.p_method.tolist() == [NONE]
    assert found.mean[0] == 1.5


def test_skill_needs_a_finite_optimum_and_a_positive_loss():
    observed = np.array([1.0, 0.0, np.nan, 3.0])
    found = skill(0.0, observed, np.array([2.0, 0.0, 2.0, np.inf]))
    np.testing.assert_array_equal(found, [0.5, np.nan, np.nan, np.nan])
    assert np.isnan(skill(np.inf, observed, np.full(4, 2.0))).all()


def test_means_of_rows_leave_out_undefined_values_and_may_be_infinite():
    values = np.array([[1, np.nan, 3], [np.nan] * 3, [1, np.inf, 2], [1, np.inf, -np.inf]])
    np.testing.assert_array_equal(row_means(values), [2, np.nan, np.inf, np.nan])
    assert row_means(np.empty((0, 3))).shape == (0,) and np.isnan(row_means(np.empty((2, 0)))).all()


def test_p_values_that_no_draw_reached_are_marked():
    """A perfect estimate of ten nodes, a guess that some draws beat, and one whose p is exact."""
    perfect = "; ".join(f"X{i} -> X{j}" for i, j in itertools.combinations(range(10), 2) if (i + j) % 2)
    guess = "; ".join(f"X{i} -> X{j}" for i, j in itertools.combinations(range(9, -1, -1), 2) if (i + 2 * j) % 3 == 0)
    runs = pd.DataFrame({"truth": [perfect] * 3, "estimate": [perfect, guess, None]})
    found = ce.with_controls(runs, ["shd", "adjacency_f1"], n_draws=150, rng=1, columns="full")
    assert found["shd_p_at_floor"].tolist() == [True, False, pd.NA]
    assert found["adjacency_f1_p_at_floor"].tolist() == [False, False, pd.NA]
    assert found["shd_p"].iloc[0] == 1 / 151
    assert "shd_p_at_floor" not in ce.with_controls(runs, ["shd"], n_draws=5, rng=1)


def test_exact_p_values_are_not_zero():
    """A tail of 1e-700 has no logarithm as a number of 64 bits, but Fisher's combination needs one."""
    names = [f"X{i:03d}" for i in range(120)]
    chain = "; ".join(f"{a} -> {b}" for i, a in enumerate(names) for b in names[i + 1 : i + 5])
    runs = pd.DataFrame({"truth": [chain], "estimate": [chain]})
    found = runs.ceval.with_controls(["adjacency_f1"], n_draws=9, rng=1)
    assert found["adjacency_f1_p"].tolist() == [pytest.approx(np.finfo(float).tiny)]
    assert ce.skeleton_test(470, 470, 470, 120) == np.finfo(float).tiny


def test_p_of_worse_controls_counts_ties_and_the_run():
    found = with_p_of_worse(drawn([[1, 2, 2, 3]], [2]))
    # 2, 2 and 3 are at least as bad, of four controls
    assert (found.p[0], found.as_good[0]) == (4 / 5, 3 / 4) and np.isnan(found.loss[0])
    assert found.p_se[0] == pytest.approx(np.sqrt(0.8 * 0.2 / 4))
    law = Distribution.of(np.zeros(1, np.int64), np.array([[1.0, 4.0]]), np.array([[0.25, 0.75]]))
    form = ClosedForm(np.array([3.25]), None, law)
    exact = with_p_of_worse(summarise(ce.shd, np.array([4.0]), form, None, Drawing(5)))
    assert (exact.p[0], exact.p_se[0]) == (0.75, 0)
