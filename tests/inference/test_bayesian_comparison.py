"""Bayesian comparisons of levels: which is better, clusters, strata that are left out, bad settings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.inference.bayesian_comparison import bayesian_comparison
from causaleval_pd.statistics.bayesian import hierarchical_posterior, signed_rank_posterior

P = ["p_first_better", "p_equivalent", "p_second_better"]
COLUMNS = [
    *("metric", "comparison", "n_pairs", "n_clusters", "n_strata", "null", "on", "method", "resampling_seed"),
    *("note", "mean_difference", "rope", *P),
]

#: note of strata with the same truths, as `make_cube` makes them
SHARED = "strata share clusters: the probabilities are too certain"


@pytest.fixture
def study(make_cube):
    """Return a cube of two algorithms, four strata and ten truths, where x has smaller values."""

    def make(direction="minimize", shift=-1.0, **kwargs):
        values = np.random.default_rng(1).uniform(0.2, 0.4, (2, 4, 10))
        values[0] += shift * 0.1
        return make_cube({"algorithm": ["x", "y"], "n": [1, 2, 3, 4]}, {"m": (values, direction)}, **kwargs)

    return make


@pytest.mark.slow
@pytest.mark.parametrize("model", ["signed_rank", "hierarchical"])
def test_the_direction_decides_who_is_better(study, model):
    less, more = (
        bayesian_comparison(study(x), "algorithm", rope=0.01, model=model, rng=1) for x in ("minimize", "maximize")
    )
    assert (less["p_first_better"] > 0.9).all() and (more["p_second_better"] > 0.9).all()
    np.testing.assert_allclose(less[P], more[P[::-1]])
    np.testing.assert_allclose(less[P].sum(axis=1), 1)
    wide = bayesian_comparison(study(), "algorithm", rope=1.0, model=model, rng=1)
    assert (wide["p_equivalent"] > 0.9).all() and set(wide["note"].dropna()) <= {SHARED}


@pytest.mark.slow
def test_rows_are_those_of_the_models(study):
    cube = study(shift=-0.2)
    values = (cube["m"].sel(algorithm="x") - cube["m"].sel(algorithm="y")).to_numpy()
    by_stratum = bayesian_comparison(cube, "algorithm", rope=0.02, rng=3)
    assert list(by_stratum.columns) == ["n", *COLUMNS] and by_stratum["n"].tolist() == [1, 2, 3, 4]
    seed = by_stratum["resampling_seed"].iloc[0]
    np.testing.assert_array_equal(by_stratum[P], signed_rank_posterior(values, 0.02, rng=int(seed)))
    over = bayesian_comparison(cube, "algorithm", rope={"m": 0.02}, model="hierarchical")
    assert list(over.columns) == COLUMNS and len(over) == 1 and pd.isna(over["resampling_seed"].iloc[0])
    expected = hierarchical_posterior(values.mean(axis=1), values.std(axis=1, ddof=1), [10] * 4, 0.02)
    np.testing.assert_allclose(over[P].to_numpy()[0], expected)
    assert over[["n_pairs", "n_clusters", "n_strata"]].to_numpy().tolist() == [[40, 10, 4]]


def test_runs_on_one_truth_are_one_value(study):
    repeated = study(truth=np.broadcast_to(np.repeat(np.arange(1, 6), 2), (2, 4, 10)))
    one, each = (bayesian_comparison(repeated, "algorithm", rope=0.02, cluster=x, rng=1) for x in ("truth", None))
    assert one["n_clusters"].tolist() == [5] * 4 and each["n_clusters"].tolist() == [10] * 4
    assert (one["n_pairs"] == 10).all() and (one[P].to_numpy() != each[P].to_numpy()).any()


@pytest.mark.slow
def test_strata_with_few_truths_are_left_out_by_name(study):
    status = np.ones((2, 4, 10))
    status[:, 1, 2:] = 0
    row = bayesian_comparison(study(status=status), "algorithm", rope=0.02, model="hierarchical").iloc[0]
    assert row["n_strata"] == 3 and row["note"] == f"left out: 1 stratum with fewer than 3 clusters; {SHARED}"
    status[:, 1:, 2:] = 0
    row = bayesian_comparison(study(status=status), "algorithm", rope=0.02, model="hierarchical").iloc[0]
    assert np.isnan(row[P].astype(float)).all() and row["note"].endswith("fewer than 2 strata")


def test_levels_that_are_always_equal(make_cube):
    cube = make_cube({"algorithm": ["x", "y"], "n": [1, 2]}, {"m": (np.ones((2, 2, 6)), "minimize")})
    row = bayesian_comparison(cube, "algorithm", rope=0.5, model="hierarchical").iloc[0]
    assert row["note"] == "no variation" and np.isnan(row["p_equivalent"])
    assert bayesian_comparison(cube, "algorithm", rope=0.5, rng=1)["p_equivalent"].tolist() == [1, 1]
    no_region = bayesian_comparison(cube, "algorithm", rope=0, rng=1)
    assert no_region[P].to_numpy().tolist() == [[0.5, 0, 0.5]] * 2
    assert set(no_region["note"]) == {"all differences are 0: neither level is better"}


@pytest.mark.slow
def test_excess_reference_and_lazy_cubes(ragged):
    settings = {"rope": 0.5, "reference": "pc", "rng": 1}
    for model in ("signed_rank", "hierarchical"):
        table = bayesian_comparison(ragged, "algorithm", on="excess", model=model, **settings)
        assert set(table["comparison"]) == {"ges - pc", "lingam - pc"} and table["null"].notna().all()
        lazy = bayesian_comparison(ragged.chunk({"density": 1}), "algorithm", on="excess", model=model, **settings)
        pd.testing.assert_frame_equal(lazy.compute(), table)


def test_the_call_is_recorded(study):
    history = study().ceval.bayesian_comparison("algorithm", rope=0.1, rng=1).attrs["causaleval_pd_history"][-1]
    assert history["verb"] == "bayesian_comparison" and history["rope"] == {"m": 0.1} and history["seed"] is not None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rope": -1.0}, "rope must be 0 or a positive number in units of the metric"),
        ({"rope": np.nan}, "rope must be 0 or a positive number"),
        ({"rope": {"k": 1.0}}, "metric compared \\(rope\\)"),
        ({"model": "hierarchic"}, "hierarchical"),
        ({"on": "skill"}, "on='skill' has no value for a single truth; use compare"),
        ({"n_resamples": 0}, "n_resamples"),
        ({"dim": "m"}, "dimension"),
        ({"cluster": "site"}, "cluster"),
    ],
)
def test_bad_settings_are_refused(study, settings, message):
    given = {"dim": "algorithm", "rope": 0.1, **settings}
    with pytest.raises(ValueError, match=message):
        bayesian_comparison(study(), given.pop("dim"), **given)


def test_metrics_without_a_direction_and_levels_without_pairs_are_refused(study):
    with pytest.raises(ValueError, match="m has no direction, so neither level is better"):
        bayesian_comparison(study("none"), "algorithm", rope=0.1)
    status = np.ones((2, 4, 10))
    status[0, :, 5:] = status[1, :, :5] = 0
    with pytest.raises(ValueError, match="have no replicate in common"):
        bayesian_comparison(study(status=status), "algorithm", rope=0.1)


@pytest.mark.slow
def test_strata_with_the_same_truths_are_noted():
    cube = ce.datasets.runs().ceval.cube(["shd"], by=["algorithm", "density", "n"], n_draws=None)
    how = {"rope": 1.0, "model": "hierarchical"}
    shared = cube.ceval.bayesian_comparison("algorithm", **how)
    assert set(shared["note"]) == {SHARED}
    assert cube.sel(n=100).ceval.bayesian_comparison("algorithm", **how)["note"].isna().all()


def test_few_truths_are_noted(study):
    cube = study().isel(replicate=slice(4))
    assert set(bayesian_comparison(cube, "algorithm", rope=0.02, rng=1)["note"]) == {
        "fewer than 5 clusters: the prior counts"
    }
    assert bayesian_comparison(study(), "algorithm", rope=0.02, rng=1)["note"].isna().all()


def test_the_region_is_needed(study):
    with pytest.raises(TypeError, match="rope must be a number, or a number a metric, found None"):
        bayesian_comparison(study(), "algorithm", rope=None)


@pytest.mark.slow
def test_infinite_values_are_named(make_cube):
    values = np.random.default_rng(3).normal(size=(2, 3, 12))
    values[0, 0, 0] = np.inf
    cube = make_cube({"algorithm": ["x", "y"], "n": [1, 2, 3]}, {"m": (values, "minimize")})
    found = bayesian_comparison(cube, "algorithm", rope=0.1, rng=1)
    assert found["p_first_better"].isna().tolist() == [True, False, False]
    assert found["note"].isna().tolist() == [False, True, True] and "infinite values" in found["note"][0]
    over = bayesian_comparison(cube, "algorithm", rope=0.1, model="hierarchical")
    assert "left out: 1 stratum with infinite values" in over["note"][0] and over["n_strata"][0] == 2
