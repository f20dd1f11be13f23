"""Power and numbers of runs against statsmodels and against simulated studies."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats as scipy_stats
from statsmodels.stats.power import TTestPower

import causaleval_pd as ce
from causaleval_pd.inference.power import comparison_power, control_power

SHD = {"direction": "minimize", "valid_range": [0.0, np.inf], "optimum": 0.0, "long_name": "m", "role": "metric"}


def study(own, draws=None, dim="stratum"):
    """Build a cube of one metric from values over levels x runs and draws over levels x runs x draws."""
    shape = own.shape
    dims = [dim, "replicate"]
    variables = {
        "status": (dims, np.ones(shape, np.int8)),
        "truth_id": (dims, np.broadcast_to(np.arange(1, shape[1] + 1), shape)),
        "n_runs": (dims[:1], np.full(shape[0], shape[1])),
        "m": (dims, own, SHD),
    }
    attrs = {"strata": json.dumps([dim]), "metrics": '["m"]', "n_draws": 0}
    if draws is not None:
        variables["m_control"] = ([*dims, "draw"], draws)
        variables |= {f"m_control_{x}": (dims, draws.mean(axis=2)) for x in ("mean", "loss")}
        zero = (dims, np.zeros(shape))
        variables |= {"m_as_good": zero, "m_better": zero}
        attrs |= {"n_draws": draws.shape[2], "control_null": "edges"}
    return xr.Dataset(variables, {dim: np.arange(shape[0]), "replicate": np.arange(shape[1])}, attrs)


def simulated(rng, n_studies, n_runs, skill, n_draws=99):
    """Studies in which controls have mean 10 and standard deviation 3, and estimates vary by 2."""
    draws = rng.normal(10, 3, (n_studies, n_runs, n_draws))
    return study(rng.normal(10 * (1 - skill), 2, (n_studies, n_runs)), draws)


@pytest.mark.slow
def test_the_needed_number_of_runs_has_the_power_asked_for():
    rng = np.random.default_rng(1)
    pilot = control_power(simulated(rng, 3, 400, 0.15, 400), skill=0.15, power=0.8)
    np.testing.assert_allclose(pilot["sd_null"], 3, rtol=0.1)
    np.testing.assert_allclose(pilot["sd"], 2, rtol=0.15)
    needed = int(pilot["n_needed"].median())
    by_hand = ((scipy_stats.norm.ppf(0.95) * 3 + scipy_stats.norm.ppf(0.8) * 2) / 1.5) ** 2
    assert abs(needed - by_hand) <= 3
    finished = simulated(rng, 600, needed, 0.15, 199)
    reached = (ce.test_controls(finished)["p_value"] <= 0.05).mean()
    assert 0.74 < reached < 0.88
    small = (ce.test_controls(simulated(rng, 600, max(2, needed // 3), 0.15, 199))["p_value"] <= 0.05).mean()
    assert small < 0.6


def test_minimal_skill_is_the_skill_that_needs_as_many_runs():
    cube = simulated(np.random.default_rng(2), 2, 25, 0.3)
    found = control_power(cube, power=0.9, alpha=0.01)
    for i, row in found.iterrows():
        again = control_power(cube, skill=row["minimal_skill"], power=0.9, alpha=0.01).loc[i]
        assert again["n_needed"] == 25 and again["power"] == pytest.approx(0.9)


@pytest.mark.parametrize(("alternative", "theirs"), [("two-sided", "two-sided"), ("one-sided", "larger")])
def test_differences_and_pairs_are_those_of_statsmodels(alternative, theirs):
    rng = np.random.default_rng(3)
    cube = study(rng.normal([[5], [6], [5.5]], [[1.0], [2.0], [1.5]], (3, 18)), dim="algorithm")
    table = comparison_power(cube, "algorithm", difference=0.8, power=0.85, alpha=0.02, alternative=alternative)
    values = cube["m"].to_numpy()
    for row, (a, b) in zip(table.itertuples(), [(0, 1), (0, 2), (1, 2)], strict=True):
        spread = np.std(values[a] - values[b], ddof=1)
        assert row.sd == pytest.approx(spread) and row.n_pairs == 18
        given = {"alpha": 0.02, "alternative": theirs}
        assert row.minimal_difference / spread == pytest.approx(TTestPower().solve_power(None, 18, power=0.85, **given))
        assert row.n_needed == np.ceil(TTestPower().solve_power(0.8 / spread, None, power=0.85, **given))
        assert row.power == pytest.approx(TTestPower().power(0.8 / spread, 18, **given))


def test_strata_too_small_to_tell_are_missing():
    cube = study(np.array([[1.0], [2.0]]), np.full((2, 1, 19), 3.0))
    found = control_power(cube)
    assert found[["sd", "power", "minimal_skill"]].isna().all(axis=None) and found["n_needed"].isna().all()
    pairs = comparison_power(study(np.array([[1.0], [2.0]]), dim="a"), "a", difference=1.0)
    assert pairs[["sd", "minimal_difference", "power"]].isna().all(axis=None) and pairs["n_needed"].isna().all()


def test_settings_are_checked():
    cube = simulated(np.random.default_rng(2), 2, 5, 0.3)
    for settings, message in (
        ({"power": 1.0}, "power must lie between 0 and 1"),
        ({"alpha": 0}, "alpha must lie between 0 and 1"),
        ({"skill": -0.2}, "skill must lie between 0 and 1"),
        ({"metrics": "n"}, "unknown metric of this cube 'n'"),
    ):
        with pytest.raises(ValueError, match=message):
            control_power(cube, **settings)
    with pytest.raises(ValueError, match="no controls to measure skill against"):
        control_power(study(np.ones((2, 5))))
    for settings, message in (
        ({"difference": 0.0}, "difference must be a positive number in units of the metric, found 0.0 of m"),
        ({"difference": {"k": 1.0}}, r"unknown metric compared \(difference\) 'k'"),
        ({"alternative": "less"}, "unknown alternative 'less'"),
    ):
        with pytest.raises(ValueError, match=message):
            comparison_power(cube, "stratum", **settings)


def test_the_accessor_delegates():
    cube = simulated(np.random.default_rng(2), 2, 9, 0.3)
    pd.testing.assert_frame_equal(cube.ceval.control_power("m", skill=0.1), control_power(cube, "m", skill=0.1))
    pd.testing.assert_frame_equal(
        cube.ceval.comparison_power("stratum", difference=2.0), comparison_power(cube, "stratum", difference=2.0)
    )


def test_runs_that_are_equally_good_have_power_0_or_1():
    draws = np.random.default_rng(7).normal(10, 2, (1, 12, 99))
    cube = study(np.full((1, 12), 4.0), np.broadcast_to(draws[:, :1], draws.shape))
    powers = [control_power(cube, skill=skill)["power"].item() for skill in (0.01, 0.9)]
    assert powers == [0.0, 1.0]


def test_too_few_draws_for_the_level_are_refused():
    found = study(np.full((1, 20), 8.0), np.random.default_rng(1).normal(10, 3, (1, 20, 19)))
    with pytest.raises(ValueError, match=r"with n_draws=19 no p-value is below 0.05, .* alpha=0.01; .* n_draws=99 or"):
        ce.control_power(found, alpha=0.01)
    assert len(ce.control_power(found, alpha=0.05)) == 1


NODES = list("ABCDEF")
PAIRS = list(itertools.combinations(NODES, 2))


def text(edges):
    return "; ".join([*NODES, *(f"{a} -> {b}" for a, b in edges)])


def dependent(rng, n_strata, n_truths, n_estimates):
    """Estimates of one truth differ from it alike, and each from the others by one edge more."""
    rows = []
    for stratum in range(n_strata):
        for _ in range(n_truths):
            order = rng.permutation(len(PAIRS))
            truth, right = order[:6], rng.integers(1, 5)
            common = [*order[:right], *order[6 : 12 - right]]
            for one in order[11 : 11 + n_estimates]:
                rows.append((text(PAIRS[i] for i in truth), text(PAIRS[i] for i in [*common, one]), stratum))
    return pd.DataFrame(rows, columns=["truth", "estimate", "s"])


HOW = {"by": ["s"], "n_draws": 199, "rng": 5, "method": "simulate"}


@pytest.mark.slow
def test_repeats_of_an_estimate_add_nothing_to_its_cluster():
    table = dependent(np.random.default_rng(4), 2, 20, 1)
    once = control_power(ce.cube(table, ["shd"], **HOW), skill=0.1)
    four = control_power(ce.cube(pd.concat([table] * 4, ignore_index=True), ["shd"], **HOW), skill=0.1)
    single = control_power(ce.cube(pd.concat([table] * 4, ignore_index=True), ["shd"], cluster=None, **HOW), skill=0.1)
    assert four["n_clusters"].tolist() == [20, 20] and four["n_pairs"].tolist() == [80, 80]
    assert (four["n_needed"] == 4 * four["n_clusters_needed"]).all()
    assert (once["n_needed"] == once["n_clusters_needed"]).all()
    np.testing.assert_allclose(four["sd"], once["sd"], rtol=0.05)
    np.testing.assert_allclose(four["sd_null"], once["sd_null"], rtol=0.15)
    np.testing.assert_allclose(four["power"], once["power"], atol=0.1)
    assert (single["n_needed"] < 0.5 * four["n_needed"]).all() and (single["n_clusters"] == single["n_pairs"]).all()


@pytest.mark.slow
def test_power_by_clusters_does_not_depend_on_what_a_cube_keeps():
    table = dependent(np.random.default_rng(5), 2, 8, 3)
    kept, summed = (control_power(ce.cube(table, ["shd"], keep_draws=keep, **HOW)) for keep in (True, False))
    pd.testing.assert_frame_equal(kept, summed, rtol=1e-9)


@pytest.mark.slow
def test_clusters_that_cannot_be_relabelled_are_refused():
    table = dependent(np.random.default_rng(6), 2, 6, 2)
    how = HOW | {"null": "orientation"}
    with pytest.raises(ValueError, match="'shd' in s=0: runs share clusters .truth. that the null model 'orientation'"):
        control_power(ce.cube(table, ["shd"], **how))
    assert len(control_power(ce.cube(table, ["shd"], cluster=None, **how))) == 2
    assert len(control_power(ce.cube(table.drop_duplicates(["s", "truth"]), ["shd"], **how))) == 2


@pytest.mark.slow
def test_the_needed_number_of_clusters_has_the_power_asked_for():
    rng = np.random.default_rng(7)
    pilot = ce.cube(dependent(rng, 1, 2000, 3), ["shd"], **HOW)
    found = control_power(pilot).iloc[0]
    skill = 1 - pilot["shd"].mean().item() / found["control_loss"]
    needed = int(control_power(pilot, skill=skill, power=0.7)["n_clusters_needed"].item())
    finished = ce.cube(dependent(rng, 300, needed, 3), ["shd"], **HOW)
    reached = (ce.test_controls(finished, statistic="mean")["p_value"] <= 0.05).mean()
    assert 0.6 < reached < 0.8
