"""Size and power of the tests of a study: against the tests themselves, run on draws in place of the estimates."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

import causaleval_pd as ce
from causaleval_pd.statistics.paired_tests import paired_t, paired_wilcoxon, sign_test

PAIRED = {"wilcoxon": paired_wilcoxon, "sign": sign_test, "t": paired_t}
METHODS = ["randomisation", "wilcoxon", "sign", "t"]


def cube_of(n_draws):
    runs = ce.datasets.runs().query("density == 0.2 and n == 100")
    return ce.cube(runs, ["shd", "adjacency_f1"], by=["algorithm"], n_draws=n_draws, rng=7, keep_draws=True)


@pytest.fixture(scope="module")
def cube():
    return cube_of(60)


@pytest.mark.parametrize("method", ["wilcoxon", "sign", "t"])
@pytest.mark.parametrize("name", ["shd", "adjacency_f1"])
def test_sizes_are_those_of_the_tests_with_draws_as_estimates(cube, method, name):
    found = cube.ceval.size_and_power(name, methods=method, alpha=0.1).set_index("algorithm")
    side = "greater" if name == "adjacency_f1" else "less"
    for algorithm in cube["algorithm"].to_numpy():
        draws = cube[f"{name}_control"].sel(algorithm=algorithm).transpose("replicate", "draw").to_numpy()
        pairs = draws - np.roll(draws, -1, axis=1)
        p = [PAIRED[method](pairs[:, [r]].T, alternative=side)[1][0] for r in range(60)]
        assert found.loc[algorithm, "size"] == pytest.approx(np.mean(np.array(p) <= 0.1))


@pytest.mark.parametrize("name", ["shd", "adjacency_f1"])
def test_randomisation_by_brute_force(cube, name):
    found = ce.size_and_power(cube, name, methods="randomisation", alpha=0.1, skill=0.1).set_index("algorithm")
    sign = 1 if name == "adjacency_f1" else -1
    for algorithm in cube["algorithm"].to_numpy():
        draws = cube[f"{name}_control"].sel(algorithm=algorithm).transpose("replicate", "draw").to_numpy()
        mean = np.nanmean(draws, axis=0)
        loss = (abs(draws - cube[name].attrs["optimum"])).mean()
        for what, shift in (("size", 0.0), ("power", 0.1 * loss)):
            p = [
                (1 + sum(sign * (mean[s] - m) >= shift - 1e-12 for s in range(60) if s != r)) / 60
                for r, m in enumerate(mean)
            ]
            # the mean distance of a run's controls is exact here and simulated there
            near = 1e-9 if what == "size" else 0.06
            assert found.loc[algorithm, what] == pytest.approx(np.mean(np.array(p) <= 0.1), abs=near)


@pytest.mark.slow
def test_power_grows_with_skill_and_runs(cube):
    powers = [ce.size_and_power(cube, "shd", skill=skill)["power"].to_numpy() for skill in (0.05, 0.2, 0.6)]
    assert (powers[0] <= powers[1]).all() and (powers[1] <= powers[2]).all()
    assert (powers[2] > 0.9).all()
    few = ce.size_and_power(cube.isel(replicate=slice(3)), "shd", methods="wilcoxon")
    assert (few["n_pairs"] == 3).all()
    # three pairs have no p-value below 1 / 8
    assert (few["power"] == 0).all() and (few["size"] == 0).all() and few["verdict"].isna().all()


@pytest.mark.slow
def test_verdicts(cube):
    # one run has no sign test at .05, and nineteen draws no p-value below it
    single = ce.size_and_power(cube.isel(replicate=[0]), "shd", methods=["sign", "t"], alpha=0.4)
    assert (single.loc[single["method"] == "sign", "size"] == 0).all()
    assert (single.loc[single["method"] == "sign", "verdict"] == "conservative").all()
    assert single.loc[single["method"] == "t", ["size", "verdict"]].isna().all(axis=None)
    few = ce.size_and_power(cube_of(n_draws=10), "shd", methods="randomisation", alpha=0.01)
    assert (few["size"] == 0).all()
    by_rows = ce.size_and_power(cube, "shd", methods="randomisation")
    assert (by_rows["verdict"] == "by construction").all()
    assert by_rows.columns.tolist() == [
        "algorithm", "metric", "method", "n_pairs", "n_clusters", "alpha", "size", "size_low", "size_high", "verdict",
        "skill", "power", "n_tables", "null",
    ]  # fmt: skip
    row = by_rows.iloc[0]
    assert (row["size_low"], row["size_high"]) == pytest.approx(
        proportion_confint(round(row["size"] * 60), 60, method="beta")
    )
    assert not by_rows.astype(str).isin(["calibrated"]).any(axis=None)


def test_references_and_several_nulls():
    runs = ce.datasets.runs().query("density == 0.2 and n == 100 and algorithm == 'pc'")
    nulls = ["edges", "empty"]
    found = ce.cube(runs, ["shd"], by=["algorithm"], n_draws=30, rng=7, keep_draws=True, null=nulls)
    table = ce.size_and_power(found, methods="randomisation").set_index("null")
    assert table["size"].notna().to_dict() == {"edges": True, "empty": False}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 1.0}, "alpha must lie between"),
        ({"skill": 0.0}, "skill must lie between"),
        ({"n_tables": 0}, "n_tables must be"),
        ({"methods": "wilcox"}, "unknown method 'wilcox'; did you mean 'wilcoxon'"),
        ({"metrics": "sid"}, "sid"),
    ],
)
def test_wrong_settings_are_refused(cube, options, message):
    with pytest.raises(ValueError, match=message):
        ce.size_and_power(cube, **options)


def test_cubes_without_draws_are_refused():
    runs = pd.DataFrame({"truth": ["A -> B"] * 3, "estimate": ["A -> B"] * 3})
    for given, message in (
        ({"n_draws": None}, "no controls"),
        ({"n_draws": 10, "keep_draws": False}, "keeps no draws of shd"),
        ({"n_draws": 10, "keep_draws": True, "share_draws": True}, "share their draws"),
    ):
        with pytest.raises(ValueError, match=message):
            ce.size_and_power(ce.cube(runs, ["shd"], by=[], rng=1, **given))


def test_columns_that_the_cube_carries_have_no_draws():
    runs = pd.DataFrame({"truth": ["A -> B"] * 3, "estimate": ["A -> B"] * 3, "seconds": [1.0, 2.0, 3.0]})
    made = ce.cube(runs, ["shd"], by=[], rng=1, n_draws=10, keep_draws=True, values=["seconds"])
    with pytest.raises(ValueError, match="'seconds' is a column that the cube carries, .* so it has no controls"):
        ce.size_and_power(made, "seconds")


def _repeats():
    """Four truths with five bootstraps each of one guess."""
    rng, nodes = np.random.default_rng(1), [f"X{i}" for i in range(6)]

    def guess():
        order = rng.permutation(6)
        pairs = [(order[i], order[j]) for i in range(6) for j in range(i)]
        return "; ".join([f"X{a} -> X{b}" for a, b in (pairs[k] for k in rng.choice(15, 5, replace=False))] + nodes)

    rows = [(guess(), guess()) for _ in range(4)]
    return pd.DataFrame([row for row in rows for _ in range(5)], columns=["truth", "estimate"]).assign(s=0)


def test_repeats_count_once_and_keep_the_level():
    runs = _repeats()
    made = runs.ceval.cube(["shd"], by=["s"], n_draws=400, rng=1, keep_draws=True)
    found = made.ceval.size_and_power(methods=["randomisation", "t", "sign"]).set_index("method")
    # of four clusters the sign test has no p-value below 1/16
    assert found.loc["sign", "size"] == found.loc["sign", "power"] == 0
    joint = made["shd_relabelled"].transpose("s", "replicate", "draw").to_numpy()[0]
    means = (joint - np.roll(joint, -1, axis=1)).reshape(4, 5, 400).mean(axis=1)
    expected = np.mean(paired_t(means.T, alternative="less")[1] <= 0.05)
    assert found.loc["t", "size"] == pytest.approx(expected)
    assert found.loc["randomisation", "verdict"] == "by construction"


def test_twice_a_mean_p_has_no_size_to_simulate():
    made = _repeats().ceval.cube(["shd"], by=["s"], null="degree", n_draws=50, rng=1, keep_draws=True)
    found = made.ceval.size_and_power(methods="randomisation").iloc[0]
    assert np.isnan(found["size"]) and np.isnan(found["power"]) and pd.isna(found["verdict"])
