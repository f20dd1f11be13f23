"""Combined strata against scipy and statsmodels, coverage of the mean skill, and what must not be combined."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.meta_analysis import combine_effects

import causaleval_pd as ce


@pytest.fixture(scope="module")
def cube():
    runs = ce.datasets.runs().query("n == 100")
    # the estimates of other truths: no better than guessing
    guess = runs.assign(algorithm="shuffled", estimate=runs["estimate"].sample(frac=1, random_state=3).array)
    both = pd.concat([runs[runs["algorithm"] == "pc"], guess[runs["algorithm"] == "ges"]], ignore_index=True)
    return ce.cube(both, ["shd", "adjacency_f1"], by=["algorithm", "density"], n_draws=199, rng=7)


@pytest.mark.slow
@pytest.mark.parametrize("combine", ["fisher", "stouffer"])
def test_p_values_are_combined_by_scipy(cube, combine):
    table = ce.meta_analysis(cube, "density", combine=combine)
    tests = ce.test_controls(cube)
    for row in table.itertuples():
        part = tests[(tests["algorithm"] == row.algorithm) & (tests["metric"] == row.metric)]
        weights = {"weights": np.sqrt(part["n_pairs"])} if combine == "stouffer" else {}
        expected = scipy_stats.combine_pvalues(part["p_value"], combine, **weights)
        assert (row.statistic, row.p_value) == pytest.approx(tuple(expected))
        assert row.n_strata == 3 and row.method == combine and row.null == "edges"
    found = table.set_index(["algorithm", "metric"])["p_value"]
    assert found["pc"].max() < 1e-3 < 0.01 < found["shuffled"].min()


@pytest.mark.slow
@pytest.mark.parametrize("combine", ["fisher", "stouffer"])
def test_p_of_many_perfect_strata_is_never_zero(combine):
    # each stratum has p of at least 1e-5; those of 100 combine to less than the smallest float
    runs = pd.DataFrame({"s": np.repeat(np.arange(100), 8), "truth": "A -> B -> C; C -> D; E; F; G"})
    runs["estimate"] = runs["truth"]
    how = {"by": ["s"], "cluster": None, "null": "permutation", "method": "simulate", "n_draws": 199, "rng": 1}
    table = ce.meta_analysis(ce.cube(runs, ["shd"], **how), "s", combine=combine)
    assert 0 < table["p_value"].item() < 1e-300 and 0 < table["p_adjusted"].item() < 1e-300


@pytest.mark.slow
def test_skill_is_pooled_with_the_variance_of_the_controls(cube):
    table = ce.meta_analysis(cube, "density", level=0.9)
    summary = ce.summary(cube)
    for row in table.itertuples():
        one = cube.sel(algorithm=row.algorithm)
        part = summary[(summary["algorithm"] == row.algorithm) & (summary["metric"] == row.metric)]
        # distances from the optimum vary as the metric does
        draws = one[f"{row.metric}_control"].sum("replicate").std("draw", ddof=1)
        variance = (draws / one[f"{row.metric}_control_loss"].sum("replicate")).to_numpy() ** 2
        found = combine_effects(part["skill"].to_numpy(), variance, method_re="iterated", use_t=True)
        assert row.tau2 == pytest.approx(max(found.tau2, 0), abs=1e-6) and row.n_effects == 3
        weights = 1 / (variance + row.tau2)
        assert row.skill == pytest.approx(np.average(part["skill"], weights=weights))
        scale = max(1, (weights * (part["skill"] - row.skill) ** 2).sum() / 2)
        half = scipy_stats.t.ppf(0.95, 2) * np.sqrt(scale / weights.sum())
        assert (row.ci_low, row.ci_high) == pytest.approx((row.skill - half, min(1, row.skill + half)))
        assert row.note == "approximate: fewer than 5 strata"


def study(make_cube, values, controls):
    """Strata by runs, and strata by runs by draws."""
    n_strata, n = values.shape
    truth = np.arange(1, n_strata * n + 1).reshape(n_strata, n)
    return make_cube({"density": np.arange(n_strata) / 10}, {"m": (values, "minimize", controls)}, truth=truth)


def test_perfect_strata_count(make_cube):
    rng = np.random.default_rng(1)
    controls = rng.normal(10, 2, (4, 5, 400))
    values = np.zeros((4, 5))
    values[3] = controls[3].mean(axis=1) * 1.03
    row = ce.meta_analysis(study(make_cube, values, controls), "density").iloc[0]
    assert 0.6 < row["skill"] < 0.8 and row["n_effects"] == 4 and row["ci_high"] == 1
    perfect = ce.meta_analysis(study(make_cube, values * 0, controls), "density").iloc[0]
    assert perfect["skill"] == 1 and perfect["ci_low"] < 1 == perfect["ci_high"]
    assert np.isnan(perfect["heterogeneity_p"])


def test_strata_without_information_and_small_numbers_of_strata(make_cube):
    rng = np.random.default_rng(2)
    controls = rng.normal(10, 2, (4, 8, 99))
    values = rng.normal(6, 1, (4, 8))
    controls[0] = 10.0
    three = ce.meta_analysis(study(make_cube, values, controls), "density").iloc[0]
    assert three["n_effects"] == 3 and three["note"].startswith("left out: 1 stratum whose controls are all alike")
    two = ce.meta_analysis(study(make_cube, values[:3], controls[:3]), "density").iloc[0]
    assert two["n_effects"] == 2 and np.isnan(two["ci_low"]) and "no interval: 2 strata" in two["note"]
    one = ce.meta_analysis(study(make_cube, values[:2], controls[:2]), "density").iloc[0]
    assert one["n_effects"] == 1 and one["ci_low"] < one["skill"] < one["ci_high"]


def test_a_stratum_that_every_draw_beats_has_a_finite_statistic(make_cube):
    controls = np.random.default_rng(3).normal(10, 1, (3, 6, 99))
    values = np.full((3, 6), 5.0)
    values[1] = 50.0
    row = ce.meta_analysis(study(make_cube, values, controls), "density", combine="stouffer").iloc[0]
    assert np.isfinite(row["statistic"]) and row["p_value"] < 0.2


@pytest.mark.slow
def test_several_null_models_have_rows_of_their_own():
    runs = ce.datasets.runs().query("n == 100 and algorithm == 'pc'")
    found = ce.cube(runs, ["shd"], by=["density"], null=["edges", "permutation"], n_draws=99, rng=1)
    table = ce.meta_analysis(found, "density")
    assert table["null"].tolist() == ["edges", "permutation"]
    one = ce.cube(runs, ["shd"], by=["density"], null="permutation", n_draws=99, rng=1)
    assert table["p_value"].iloc[1] == ce.meta_analysis(one, "density")["p_value"].iloc[0]


@pytest.mark.slow
def test_strata_that_share_truths_are_combined_by_truth():
    runs = ce.datasets.runs().query("density == 0.2 and algorithm == 'pc'")
    found = ce.cube(runs, ["shd"], by=["n"], n_draws=99, rng=1)
    row, strata = found.ceval.meta_analysis("n").iloc[0], found.ceval.test_controls()
    assert (row["method"], row["p_value"]) == ("twice the mean", pytest.approx(2 * strata["p_value"].mean()))
    assert row["note"] == "assumes no rare large losses: fewer than 50 clusters" and np.isnan(row["heterogeneity_p"])
    # the same runs again are no further evidence
    twice = pd.concat([runs.assign(copy=i) for i in range(3)], ignore_index=True)
    copied = ce.cube(twice[twice["n"] == 100], ["shd"], by=["copy"], n_draws=99, rng=1)
    pooled, one = copied.ceval.meta_analysis("copy").iloc[0], found.sel(n=[100]).ceval.summary().iloc[0]
    # up to the noise of simulated controls
    assert [pooled[x] for x in ("skill", "ci_low", "ci_high")] == pytest.approx(
        [one[x] for x in ("skill", "skill_low", "skill_high")], abs=0.01
    )


@pytest.mark.slow
def test_strata_that_share_truths_name_the_test_of_all_their_runs():
    # two algorithms are far better than guessing; the third one guesses
    runs = ce.datasets.runs().query("density == 0.2 and n == 1600 and algorithm != 'lingam'")
    guess = runs.query("algorithm == 'pc'").assign(algorithm="guess")
    guess["estimate"] = np.roll(guess["estimate"], 3)
    found = ce.cube(pd.concat([runs, guess], ignore_index=True), ["shd"], by=["algorithm"], n_draws=99, rng=1)
    row = found.ceval.meta_analysis("algorithm").iloc[0]
    assert row["p_value"] > 0.05 > 3 * found.ceval.test_controls()["p_value"].min()
    assert row["note"].startswith("twice the mean has little power: a cube without algorithm tests all runs together")


def test_settings_are_checked(cube):
    for settings, message in (
        ({"over": "densities"}, r"unknown dimension \(over\) 'densities'; did you mean 'density'"),
        ({"over": []}, "over= names no dimension"),
        ({"over": "density", "combine": "tippett"}, r"unknown method \(combine\) 'tippett'"),
        ({"over": "density", "metrics": "shdd"}, "unknown metric of this cube 'shdd'"),
    ):
        with pytest.raises(ValueError, match=message):
            ce.meta_analysis(cube, **settings)
    for over in (pd.NA, np.int64(-7), np.array([1.5, 2.0]), pd.DataFrame()):
        with pytest.raises(TypeError, match="over must be the name of a stratum or a list of them, found"):
            ce.meta_analysis(cube, over)
    bare = ce.cube(ce.datasets.runs().query("n == 100"), ["shd"], by=["density", "algorithm"], n_draws=None)
    with pytest.raises(ValueError, match="no controls to measure skill against"):
        ce.meta_analysis(bare, "density")


@pytest.mark.slow
def test_the_accessor_delegates(cube):
    pd.testing.assert_frame_equal(
        cube.ceval.meta_analysis("density", adjust="holm"), ce.meta_analysis(cube, "density", adjust="holm")
    )


@pytest.mark.slow
def test_composite_null_models_are_combined_by_their_members():
    runs = ce.datasets.runs().query("n == 100 and algorithm == 'pc'").ceval.placebo(rng=2)
    how = {"by": ["density"], "n_draws": 99, "rng": 1}
    null = ce.worst_of("edges", "dags")
    found = runs.ceval.cube(["shd", "directed_f1"], null=null, **how).ceval.meta_analysis("density", adjust="holm")
    single = runs.ceval.cube(["shd", "directed_f1"], null=["edges", "dags"], **how).ceval.meta_analysis("density")
    assert found["null"].tolist() == [null.name] * 2
    assert found.columns.get_loc("control_null") == found.columns.get_loc("null") + 1
    for row in found.itertuples():
        members = single[single["metric"] == row.metric].set_index("null")
        assert row.p_value == members["p_value"].max() and members["p_value"].nunique() == 2
        assert row.control_null == members["p_value"].idxmax()
        assert row.skill == members.loc[row.control_null, "skill"]
    assert (found["p_adjusted"] >= found["p_value"]).all()


@pytest.mark.slow
def test_strata_on_the_same_truths_that_are_taken_as_independent_are_noted():
    runs = ce.datasets.runs().query("density == 0.2 and algorithm == 'pc'")
    how = {"by": ["n"], "n_draws": 19, "rng": 1, "cluster": None}
    found = runs.ceval.cube(["shd"], **how).ceval.meta_analysis("n").iloc[0]
    words = "strata have runs on the same truths, taken as independent (cluster=None)"
    assert found["method"] == "fisher" and found["note"] == f"approximate: fewer than 5 strata; {words}"
    apart = runs[(runs["replicate"] % 3) == runs["n"].rank(method="dense").astype(int) - 1]
    assert apart.ceval.cube(["shd"], **how).ceval.meta_analysis("n")["note"][0] == "approximate: fewer than 5 strata"


def test_infinite_losses_are_named(make_cube):
    rng = np.random.default_rng(2)
    values = rng.normal(6, 1, (5, 8))
    values[0, 0] = np.inf
    row = ce.meta_analysis(study(make_cube, values, rng.normal(10, 2, (5, 8, 99))), "density").iloc[0]
    assert row["n_effects"] == 4 and "left out: 1 stratum with infinite losses" in row["note"]


@pytest.mark.parametrize("dim", ["algorithm", "density"])
def test_a_cube_without_levels_is_refused(cube, dim):
    with pytest.raises(ValueError, match=f"the cube has no levels of '{dim}', so that there is nothing to combine"):
        ce.meta_analysis(cube.isel({dim: []}), "density")
