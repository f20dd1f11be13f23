"""Summaries of controls: means, limits, p-values by every rule, skill; from closed forms and from draws."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.contract.law import ClosedForm, Distribution
from causaleval_pd.tables.row_summary import (
    EXACT,
    NONE,
    SIMULATED,
    normal_tail,
    row_means,
    skill,
    spread,
    stack_rows,
    summarise,
    without_p,
)
from causaleval_pd.tables.settings import Drawing

FIVE = "A -> B; A -> C; A -> D; B -> C; B -> D; B -> E; C -> D; D -> E"


SEVEN = "A -> B; A -> C; A -> D; B -> C; B -> D; B -> E; C -> E"


def test_mid_p_counts_ties_half():
    runs = pd.DataFrame({"truth": [FIVE], "estimate": [SEVEN]})
    exact = ce.with_controls(runs, ["adjacency_tp"], rng=7, p_rule="mid").iloc[0]
    law = stats.hypergeom(10, 8, 7)
    assert exact["adjacency_tp_p"] == pytest.approx(law.sf(6) + law.pmf(6) / 2)
    cube = ce.cube(runs.assign(a=0), ["shd"], by=["a"], n_draws=200, rng=7)
    draws, own = cube["shd_control"].to_numpy().ravel(), float(cube["shd"].item())
    found = ce.with_controls(runs, ["shd"], rng=7, n_draws=200, p_rule="mid")["shd_p"].iloc[0]
    assert found == pytest.approx(((draws < own).sum() + ((draws == own).sum() + 1) / 2) / 201)
    with pytest.raises(ValueError, match="p_rule='mid' does not go with stop_after="):
        ce.with_controls(runs, ["shd"], rng=7, p_rule="mid", stop_after=5)


def test_moments_are_named_and_close(guesses):
    few = guesses.head(40)
    names = ["shd", "directed_recall", "adjacency_f1", "skeleton_hd"]
    for null in ("edges", "permutation"):
        found = ce.with_controls(few, names, null=null, method="moments", rng=1, columns="full")
        drawn = ce.with_controls(few, names, null=null, method="simulate", n_draws=2000, rng=1, columns="full")
        assert (found["shd_p_method"] == "moments").all() and (found["shd_mean_method"] == "exact").all()
        assert (found["n_draws"] == 0).all() and found["shd_p_se"].isna().all()
        assert (found["shd_p"] - drawn["shd_p"]).abs().max() < 0.15  # no continuity correction
        assert np.corrcoef(found["shd_p"], drawn["shd_p"])[0, 1] > 0.98
        assert (found["shd_control_low"] - drawn["shd_control_low"]).abs().max() < 1.6
    assert (
        ce.with_controls(few, names, method="moments", rng=1, columns="full")["adjacency_f1_p_method"] == "exact"
    ).all()
    with pytest.raises(ValueError, match="v_structure_f1 has no closed form under null='edges'"):
        ce.with_controls(few, ["v_structure_f1"], method="moments", rng=1, columns="full")
    only_mean = ce.with_controls(few, ["v_structure_f1"], null="permutation", method="moments", rng=1, columns="full")
    assert only_mean["v_structure_f1_p"].isna().all() and only_mean["v_structure_f1_p_method"].isna().all()


def test_normal_tails_in_every_direction():
    metrics = {m.direction: m for m in (ce.get_metric("shd"), ce.get_metric("adjacency_f1"))}
    x, mean, sd = np.array([1.0, 2.0, 2.0, np.nan]), np.array([2.0, 2.0, 2.0, 2.0]), np.array([2.0, 1.0, 0.0, 1.0])
    np.testing.assert_allclose(normal_tail(x, mean, sd, metrics["minimize"]), [stats.norm.cdf(-0.5), 0.5, 1, np.nan])
    np.testing.assert_allclose(normal_tail(x, mean, sd, metrics["maximize"]), [stats.norm.cdf(0.5), 0.5, 1, np.nan])
    from dataclasses import replace

    zero = replace(metrics["minimize"], direction="zero", optimum=0.5)
    expected = stats.norm.cdf(1, 2, 2) - stats.norm.cdf(0, 2, 2)
    assert normal_tail(x, mean, sd, zero)[0] == pytest.approx(expected)


def test_errors_of_simulated_means(guesses):
    few = guesses.head(30)
    exact = ce.with_controls(few, ["shd"], n_draws=400, rng=7, columns="full")
    drawn = ce.with_controls(few, ["shd"], n_draws=400, rng=7, method="simulate", columns="full")
    assert (exact["shd_control_mean_se"] == 0).all()
    z = (drawn["shd_control_mean"] - exact["shd_control_mean"]) / drawn["shd_control_mean_se"]
    assert 0.6 < z.std() < 1.5 and abs(z.mean()) < 0.8


def drawn(values, observed, metric=ce.shd, **how):
    return summarise(metric, np.array(observed, float), None, np.array(values, float), Drawing(len(values[0]), **how))


def test_draws_are_counted_by_every_rule():
    values, observed = [[1, 2, 2, 3, np.nan]], [2]
    assert drawn(values, observed).p[0] == (3 + 1) / (4 + 1)
    assert drawn(values, observed, p_rule="share").p[0] == 3 / 4
    assert drawn(values, observed, p_rule="mid").p[0] == (1 + 3 + 1) / 2 / (4 + 1)
    found = drawn(values, observed)
    assert (found.as_good[0], found.better[0], found.n[0]) == (3 / 4, 1 / 4, 4) and found.undefined[0] == 1 - 4 / 5
    assert (found.mean[0], found.loss[0]) == (2.0, 2.0)
    assert found.p_se[0] == pytest.approx(np.sqrt(0.8 * 0.2 / 4))


def test_rows_without_value_or_draws_have_no_p():
    found = drawn([[1, 2], [np.nan] * 2, [1, np.inf]], [np.nan, 1, 1])
    assert np.isnan(found.p[:2]).all() and found.p[2] == 2 / 3
    np.testing.assert_array_equal(found.mean, [1.5, np.nan, np.nan])
    assert found.mean_method.tolist() == [SIMULATED, NONE, NONE] and found.p_method.tolist() == [NONE, NONE, SIMULATED]
    assert found.undefined.tolist() == [0, 1, 0]
    one = drawn([[3]], [1])
    assert one.mean[0] == 3 and np.isnan(one.mean_se[0]), "one draw shows no error"


def test_closed_forms_come_before_draws():
    law = Distribution.of(np.zeros(2, np.int64), np.array([[1.0, 4.0]]), np.array([[0.25, 0.75]]))
    form = ClosedForm(np.full(2, 3.25), None, law)
    observed = np.array([1.0, np.nan])
    found = summarise(ce.shd, observed, form, None, Drawing(5))
    assert found.p[0] == 0.25 and np.isnan(found.p[1]) and found.mean_se.tolist() == [0, 0]
    assert summarise(ce.shd, observed, form, None, Drawing(5, p_rule="mid")).p[0] == 0.125
    some = summarise(
        ce.shd, observed, ClosedForm(form.mean, None, law, np.array([False, True])), np.ones((2, 4)), Drawing(4)
    )
    assert some.p[0] == 1.0 and some.p_method.tolist() == [SIMULATED, EXACT] and some.mean.tolist() == [1.0, 3.25]
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
    np.testing.assert_array_equal(
        skill(ce.shd, observed, np.array([2.0, 0.0, 2.0, np.inf])), [0.5, np.nan, np.nan, np.nan]
    )
    assert np.isnan(skill(ce.adjacency_tp, observed, np.full(4, 2.0))).all()


def test_means_of_rows_leave_out_undefined_and_refuse_infinite_values():
    values = np.array([[1, np.nan, 3], [np.nan] * 3, [1, np.inf, 2]])
    np.testing.assert_array_equal(row_means(values), [2, np.nan, np.nan])
    assert row_means(np.empty((0, 3))).shape == (0,) and np.isnan(row_means(np.empty((2, 0)))).all()
