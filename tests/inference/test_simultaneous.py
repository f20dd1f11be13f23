"""Simultaneous intervals of comparisons: what they widen, what they refuse, and that they cover together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from causaleval_pd.inference.compare import compare
from causaleval_pd.inference.simultaneous import Sample, samples
from causaleval_pd.statistics.arrays import mean_difference

KNOWN = {"test": "t", "simultaneous": True, "n_resamples": 999}


def by_stratum(cube, dim, **settings):
    return compare(cube, dim, by="all", **settings)


@pytest.fixture
def guesses(make_cube):
    """Two algorithms that do not differ, in 12 strata of 8 truths each."""

    def make(seed, spread=1.0, truth=None):
        values = np.random.default_rng(seed).normal(size=(2, 12, 8)) * spread
        strata = {"algorithm": ["x", "y"], "n": list(range(12))}
        return make_cube(strata, {"m": (values, "minimize")}, truth=truth)

    return make


def test_intervals_are_wider_and_centred_alike(guesses):
    cube = guesses(1)
    single, wide = by_stratum(cube, "algorithm", test="t"), by_stratum(cube, "algorithm", rng=2, **KNOWN)
    np.testing.assert_allclose(single["effect"], wide["effect"])
    assert (wide["ci_low"] < single["ci_low"]).all() and (wide["ci_high"] > single["ci_high"]).all()
    [level] = wide["ci_level"].unique()
    assert 0.99 < level <= 0.95 ** (1 / 12) + 0.002 and (single["ci_level"] == 0.95).all()
    values = (cube["m"].sel(algorithm="x") - cube["m"].sel(algorithm="y")).to_numpy()
    np.testing.assert_allclose(wide["ci_low"], mean_difference(values, level).low)
    np.testing.assert_allclose(single["p_value"], wide["p_value"])


def test_seeds_are_recorded_and_repeat_the_table(guesses):
    cube = guesses(1)
    first = by_stratum(cube, "algorithm", rng=2, **KNOWN)
    seed = first["resampling_seed"].iloc[0]
    pd.testing.assert_frame_equal(first, by_stratum(cube, "algorithm", rng=int(seed), **KNOWN))
    assert first.attrs["causaleval_pd_history"][-1]["simultaneous"] is True


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", [{"test": "wilcoxon"}, {"test": "sign"}, {"effect": "cohen_dz"}, {"effect": "rank_biserial"}]
)
def test_every_paired_effect_widens(guesses, settings, make_cube):
    values = np.random.default_rng(3).normal(size=(2, 3, 30))
    cube = make_cube({"algorithm": ["x", "y"], "n": [1, 2, 3]}, {"m": (values, "minimize")})
    single, wide = (by_stratum(cube, "algorithm", simultaneous=x, rng=1, **settings) for x in (False, True))
    assert (wide["ci_low"] < single["ci_low"]).all() and (wide["ci_high"] > single["ci_high"]).all()


@pytest.mark.slow
def test_skills_have_simultaneous_intervals(ragged):
    single, wide = (by_stratum(ragged, "algorithm", on="skill", simultaneous=x, rng=1) for x in (False, True))
    known = wide["ci_low"].notna()
    assert known.any() and (wide["ci_low"] < single["ci_low"])[known].all()
    np.testing.assert_allclose((wide["ci_low"] + wide["ci_high"])[known] / 2, wide["effect"][known])


def test_few_clusters_have_no_simultaneous_interval_and_do_not_count(make_cube):
    values = np.random.default_rng(3).normal(size=(2, 2, 8))
    status = np.ones((2, 2, 8))
    status[:, 1, 4:] = 0
    cube = make_cube({"algorithm": ["x", "y"], "n": [1, 2]}, {"m": (values, "minimize")}, status=status)
    enough, few = by_stratum(cube, "algorithm", rng=1, **KNOWN).to_dict("records")
    assert np.isnan(few["ci_low"]) and few["note"] == "fewer than 5 clusters: no simultaneous interval"
    assert enough["ci_level"] == 0.95


@pytest.mark.slow
def test_truths_that_strata_share_are_one_cluster(guesses):
    # each truth moves all strata alike: all intervals hold or fail together
    cube = guesses(1)
    common = cube.assign(m=cube["m"].isel(n=[0] * 12).assign_coords(n=cube["n"]) * xr_factor(cube))
    assert by_stratum(common, "algorithm", rng=1, **KNOWN)["ci_level"].iloc[0] == pytest.approx(0.95, abs=0.01)
    other = np.broadcast_to(np.arange(1, 97).reshape(12, 8), (2, 12, 8))
    apart = by_stratum(guesses(1, truth=other), "algorithm", rng=1, **KNOWN)["ci_level"].iloc[0]
    assert apart == pytest.approx(0.95 ** (1 / 12), abs=0.0015)


def xr_factor(cube):
    return 1 + cube["n"]


@pytest.mark.slow
def test_lazy_cubes_give_the_same(guesses):
    cube = guesses(4)
    lazy = by_stratum(cube.chunk({"n": 3}), "algorithm", rng=1, **KNOWN).compute()
    pd.testing.assert_frame_equal(lazy, by_stratum(cube, "algorithm", rng=1, **KNOWN))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"test": "bootstrap"}, "simultaneous=True takes test='wilcoxon', 't', 'sign'"),
        ({"test": "max_t"}, "test='max_t' has intervals that are simultaneous"),
        ({"paired": False}, "simultaneous=True takes"),
        ({"effect": "cliffs_delta"}, "effect='cliffs_delta' has no simultaneous intervals"),
        ({"on": "skill", "test": "sign_flip"}, "found 'sign_flip'"),
    ],
)
def test_what_has_no_simultaneous_interval_is_refused(ragged, settings, message):
    with pytest.raises(ValueError, match=message):
        by_stratum(ragged, "algorithm", simultaneous=True, **settings)


def test_samples_keep_the_order_of_clusters():
    values, clusters = np.array([[2.0, 5.0, np.nan]]), np.array([[9, 3, 9]])
    [one] = samples([values], np.array([[True, True, True]]), clusters)
    assert isinstance(one, Sample)
    assert one.values.tolist() == [[2.0, 5.0]] and one.clusters.tolist() == [9, 3]


@pytest.mark.slow
def test_tables_of_guesses_cover_zero_together(guesses):
    wide = [by_stratum(guesses(seed), "algorithm", rng=1, **KNOWN) for seed in range(150)]
    together = [((x["ci_low"] <= 0) & (x["ci_high"] >= 0)).all() for x in wide]
    assert np.mean(together) > 0.89


@pytest.mark.slow
@pytest.mark.parametrize("test", ["wilcoxon", "t", "sign"])
def test_infinite_values_leave_other_strata_as_they_are(make_cube, test):
    values = np.random.default_rng(3).normal(size=(2, 3, 12))
    values[0, 0, :2] = np.inf, -np.inf
    strata = {"algorithm": ["x", "y"], "n": [1, 2, 3]}
    with_them, without = (
        by_stratum(
            make_cube({**strata, "n": strata["n"][k:]}, {"m": (values[:, k:], "minimize")}), "algorithm", test=test
        )
        for k in (0, 1)
    )
    cube = make_cube(strata, {"m": (values, "minimize")})
    wide = by_stratum(cube, "algorithm", test=test, simultaneous=True, n_resamples=999, rng=1)
    assert "infinite values" in wide["note"][0]
    np.testing.assert_allclose(with_them["ci_low"][1:], without["ci_low"])
    assert (wide["ci_low"][1:] < with_them["ci_low"][1:]).all()
    assert (wide["ci_high"][1:] > with_them["ci_high"][1:]).all()
