"""Sums of strata: counts of runs by their fate, and columns of summaries against the runs themselves."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.cubes.reshaped import read_cube
from causaleval_pd.cubes.summary_columns import COUNTS, Settings, summary_columns
from causaleval_pd.statistics.skill import skill_interval


def columns(cube, metric, *, interval="quantile", level=0.9):
    return summary_columns(read_cube(cube), metric, Settings(level=level, interval=interval))


@pytest.fixture
def errors(ragged):
    """A cube whose simulated means have Monte Carlo errors."""
    return ragged.assign({f"{m}_control_mean_se": ragged[f"{m}_control"].std("draw") / 6 for m in ("shd", "f1")})


def test_runs_are_counted_by_their_fate(errors):
    found = columns(errors, "f1")
    status, values = (errors[x].to_numpy().reshape(6, 12) for x in ("status", "f1"))
    assert {name: found[name].tolist() for name in COUNTS} == {
        "n_runs": (status != 0).sum(1).tolist(),
        "n_scored": (~np.isnan(values)).sum(1).tolist(),
        "n_failed": (status == 2).sum(1).tolist(),
        "n_undefined": ((status == 1) & np.isnan(values)).sum(1).tolist(),
        "n_without_controls": [0] * 6,
    }
    without = errors.assign(f1_control_mean=errors["f1_control_mean"] * np.nan)
    assert (columns(without, "f1")["n_without_controls"] == (~np.isnan(values)).sum(1)).all()


@pytest.mark.parametrize("metric", ["shd", "f1"])
@pytest.mark.parametrize("interval", ["quantile", "mean_ci"])
def test_columns_equal_those_of_the_runs(errors, metric, interval):
    found = columns(errors, metric, interval=interval)
    for i, (a, d) in enumerate(np.ndindex(3, 2)):
        one = errors.isel(algorithm=a, density=d)
        values = one[metric].to_numpy()
        values = values[~np.isnan(values)]
        assert found["mean"][i] == pytest.approx(values.mean())
        limits = np.quantile(values, [0.05, 0.95])
        if interval == "mean_ci":
            limits = stats.t.interval(0.9, len(values) - 1, values.mean(), stats.sem(values))
        np.testing.assert_allclose([found["low"][i], found["high"][i]], limits)
        drawn = one[f"{metric}_control"].mean("replicate").to_numpy()
        pool = one[f"{metric}_control"].to_numpy()
        limits = np.nanquantile(drawn if interval == "mean_ci" else pool, [0.05, 0.95])
        np.testing.assert_allclose([found["control_low"][i], found["control_high"][i]], limits)
        # the excess of each run over the mean of its value and its draws, 0 where undefined
        scores = np.c_[one[metric], one[f"{metric}_control"]][(one["status"] == 1).to_numpy()]
        excess = np.nansum(scores - np.nanmean(scores, axis=1, keepdims=True), axis=0)
        good = excess <= excess[0] + 1e-9 if metric == "shd" else excess >= excess[0] - 1e-9
        assert found["p_value"][i] == pytest.approx(good.mean())
        loss, expected = (
            abs(one[x].to_numpy() - y) for x, y in ((metric, float(metric == "f1")), (f"{metric}_control_loss", 0))
        )
        both = ~np.isnan(loss) & ~np.isnan(expected)
        assert found["skill"][i] == pytest.approx(1 - loss[both].mean() / expected[both].mean())
        wanted = skill_interval(loss[both], expected[both], 0.9)
        np.testing.assert_allclose([found["skill_low"][i], found["skill_high"][i]], wanted[1:])


def test_references_have_no_test(errors):
    assert "control_mean_se" in columns(errors, "shd") and not np.isnan(columns(errors, "shd")["control_mean_se"]).any()
    reference = errors.assign_attrs(control_reference='["edges"]')
    assert np.isnan(columns(reference, "shd")["p_value"]).all()


def test_strata_without_runs_and_cubes_without_controls(errors, make_cube):
    empty = columns(errors.where(errors["algorithm"] != "pc").fillna({"status": 0}), "shd")
    assert np.isnan(empty["mean"][4:]).all() and not np.isnan(empty["mean"][:4]).any()
    bare = make_cube({"a": np.array([1, 2])}, {"m": (np.array([[1.0, 2.0], [3.0, np.nan]]), "minimize")})
    found = columns(bare, "m")
    assert found["mean"].tolist() == [1.5, 3.0] and np.isnan(found["p_value"]).all() and np.isnan(found["skill"]).all()


def test_one_run_and_infinite_values(make_cube):
    cube = make_cube({"a": np.array([1, 2])}, {"m": (np.array([[4.0, np.nan], [1.0, np.inf]]), "minimize")})
    found = columns(cube, "m", interval="mean_ci")
    assert found["mean"].tolist() == [4, np.inf] and np.isnan(found["low"]).all()
    assert found["infinite_share"].tolist() == [0, 0.5] and found["undefined_share"].tolist() == [0.5, 0]
    assert columns(cube, "m")["high"][1] == np.inf, "quantiles may be infinite"


def test_runs_of_a_cluster_count_once(make_cube):
    rng = np.random.default_rng(1)
    values, controls = rng.gamma(2, 2, (2, 24)), rng.uniform(5, 9, (2, 24, 30))
    values[1, 3] = np.nan
    truth = np.stack([np.repeat(np.arange(1, 7), 4), np.repeat(np.arange(1, 4), 8)])
    cube = make_cube({"a": np.arange(2)}, {"m": (values, "minimize", controls)}, truth=truth)
    cube = cube.assign(m_control_mean_se=cube["m_control_mean"] * 0).assign_attrs(control_cluster="truth")
    found = columns(cube, "m")
    assert found["n_clusters"].tolist() == [6, 3]
    sums = [x.reshape(6, 4).sum(axis=1) for x in (values[0], controls[0].mean(axis=1))]
    np.testing.assert_allclose([found["skill_low"][0], found["skill_high"][0]], skill_interval(*sums, 0.9)[1:])
    assert found["note"].tolist() == [
        "skill: assumes no rare large losses: fewer than 50 clusters",
        "1 of 24 values undefined, left out; skill: no interval: fewer than 5 clusters",
    ]
    assert np.isnan(found["skill_low"][1]) and found["skill"][1] < 1


def repeated_estimates(n_strata=40):
    """Strata of 5 truths, each with 6 copies of one estimate: the mean of a stratum is one of 5 independent runs."""
    rng = np.random.default_rng(3)

    def graph():
        pairs = list(itertools.combinations(rng.permutation(list("ABCDEF")), 2))
        return "; ".join(["A; B; C; D; E; F", *(f"{pairs[i][0]} -> {pairs[i][1]}" for i in rng.permutation(15)[:4])])

    rows = [row for s in range(n_strata) for _ in range(5) for row in [(graph(), graph(), s)] * 6]
    return pd.DataFrame(rows, columns=["truth", "estimate", "s"])


@pytest.mark.slow
def test_the_interval_of_the_mean_control_takes_a_cluster_as_one():
    how = {"by": ["s"], "n_draws": 200, "rng": 2}
    table = repeated_estimates(6)
    bands = {}
    for cluster in ("truth", None):
        found = ce.summary(ce.cube(table, ["shd"], cluster=cluster, **how), interval="mean_ci", columns="full")
        bands[cluster] = (found["control_high"] - found["control_low"]).to_numpy()
    assert (bands["truth"] > 1.7 * bands[None]).all()  # sqrt(6) = 2.4
    draws = ce.cube(table, ["shd"], **how)["shd_relabelled"].mean("replicate")
    found = ce.summary(ce.cube(table, ["shd"], **how), interval="mean_ci", statistic="rank", columns="full")
    np.testing.assert_allclose(found["control_low"], draws.quantile(0.025, "draw"), atol=0.2)


@pytest.mark.slow
def test_the_interval_of_the_mean_control_is_the_same_on_dask():
    dd = pytest.importorskip("dask.dataframe")
    table = repeated_estimates(3).sample(frac=1, random_state=1).assign(run=range(90))
    how = {"by": ["s"], "n_draws": 30, "rng": 2, "key": "run"}
    wanted = ce.summary(ce.cube(table, ["shd"], **how), interval="mean_ci", columns="full")
    cube = dd.from_pandas(table, npartitions=3, sort=False).ceval.cube(["shd"], **how)
    found = cube.ceval.summary(interval="mean_ci", columns="full")
    names = ["s", "control_mean", "control_low", "control_high", "p_value", "p_method"]
    pd.testing.assert_frame_equal(found[names], wanted[names], rtol=1e-9)


@pytest.mark.slow
def test_the_mean_of_repeated_guesses_lies_in_the_interval_of_the_mean_control():
    table = repeated_estimates(200)
    how = {"by": ["s"], "n_draws": 200, "rng": 2}
    inside = []
    for cluster in ("truth", None):
        found = ce.summary(ce.cube(table, ["shd"], cluster=cluster, **how), interval="mean_ci", columns="full")
        inside.append(found["mean"].between(found["control_low"], found["control_high"]).mean())
    assert 0.92 < inside[0] < 0.98 and inside[1] < 0.75


@pytest.mark.parametrize(
    ("direction", "bad"), [("minimize", np.inf), ("maximize", -np.inf), ("zero", np.inf), ("zero", -np.inf)]
)
@pytest.mark.parametrize("n_infinite", [0, 1, 6])
def test_runs_with_infinite_losses_are_not_suspected_of_reversal(make_cube, direction, bad, n_infinite):
    draws = np.random.default_rng(1).normal(size=(1, 10, 200))
    values = np.where(np.arange(10) < n_infinite, bad, np.sign(bad) * 9)
    cube = make_cube({"a": ["x"]}, {"m": (values[None], direction, draws)})
    [note] = ce.summary(cube, statistic="rank")["note"]
    assert ("is something reversed" in note) == (n_infinite == 0)
    assert (f"worse than guessing: {n_infinite} of 10 values are infinite" in note) == (n_infinite > 0)


def test_infinite_gains_explain_no_loss(make_cube):
    draws = np.random.default_rng(1).normal(size=(1, 10, 200))
    cube = make_cube({"a": ["x"]}, {"m": (np.r_[-np.inf, np.full(9, 9.0)][None], "minimize", draws)})
    assert "is something reversed" in ce.summary(cube, statistic="rank")["note"].item()
