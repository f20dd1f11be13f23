"""Rules for p-values: ties, moments, early stopping, shared draws; several null models at once."""

from __future__ import annotations

import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.statistics.arrays import ratio_of_means
from causaleval_pd.tables.row_summary import normal_tail

matplotlib.use("agg")

FIVE = "A -> B; A -> C; A -> D; B -> C; B -> D; B -> E; C -> D; D -> E"
SEVEN = "A -> B; A -> C; A -> D; B -> C; B -> D; B -> E; C -> E"
SIX = "A -> B; B -> C; C -> D; A -> E; D -> E; F"


@pytest.fixture
def guesses():
    """Random estimates of random truths over ten nodes."""
    rng = np.random.default_rng(3)
    names = [f"X{i}" for i in range(10)]

    def guess(m):
        marks = np.triu(np.ones((10, 10)), 1).ravel()
        chosen = np.zeros(100)
        chosen[rng.choice(np.flatnonzero(marks), m, replace=False)] = 1
        order = rng.permutation(10)
        return chosen.reshape(10, 10)[np.ix_(order, order)]

    truths, estimates = (
        ce.graph_column(np.stack([guess(m) for _ in range(300)]), encoding="row->column", nodes=names) for m in (15, 12)
    )
    return pd.DataFrame({"truth": truths, "estimate": estimates})


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
        found = ce.with_controls(few, names, null=null, method="moments", rng=1)
        drawn = ce.with_controls(few, names, null=null, method="simulate", n_draws=2000, rng=1)
        assert (found["shd_p_method"] == "moments").all() and (found["shd_mean_method"] == "exact").all()
        assert (found["n_draws"] == 0).all() and found["shd_p_se"].isna().all()
        assert (found["shd_p"] - drawn["shd_p"]).abs().max() < 0.15  # no continuity correction
        assert np.corrcoef(found["shd_p"], drawn["shd_p"])[0, 1] > 0.98
        assert (found["shd_control_low"] - drawn["shd_control_low"]).abs().max() < 1.6
    assert (ce.with_controls(few, names, method="moments", rng=1)["adjacency_f1_p_method"] == "exact").all()
    with pytest.raises(ValueError, match="v_structure_f1 has no closed form under null='edges'"):
        ce.with_controls(few, ["v_structure_f1"], method="moments", rng=1)
    only_mean = ce.with_controls(few, ["v_structure_f1"], null="permutation", method="moments", rng=1)
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


def test_sequential_p_values_follow_the_rule(guesses):
    few = guesses.head(60)
    n, h = 2000, 10
    cube = ce.cube(few.assign(a=0), ["shd"], by=["a"], n_draws=n, rng=7, keep_draws=True)
    draws = cube["shd_control"].isel(a=0).to_numpy()
    hits = np.cumsum(draws <= cube["shd"].isel(a=0).to_numpy()[:, None], axis=1)
    expected, used = [], []
    for row in hits:
        stopped = row[-1] >= h
        length = int(np.argmax(row >= h)) + 1 if stopped else n
        used.append(length)
        expected.append(h / length if stopped else (row[-1] + 1) / (n + 1))
    by_truth = cube["truth_id"].isel(a=0).to_numpy()
    found = ce.with_controls(few, ["shd", "adjacency_f1"], n_draws=n, stop_after=h, rng=7)
    order = np.argsort(by_truth)
    mine = np.argsort(ce.cube(few.assign(a=0), ["shd"], by=["a"], n_draws=None)["truth_id"].isel(a=0).to_numpy())
    np.testing.assert_array_equal(order, mine)
    np.testing.assert_allclose(np.sort(found["shd_p"]), np.sort(expected))
    np.testing.assert_allclose(np.sort(found["shd_p_draws"]), np.sort(used))
    assert (found["adjacency_f1_p_method"] == "exact").all() and found["adjacency_f1_p_draws"].isna().all()
    assert found["shd_p_draws"].min() < 40 and found["shd_p_se"].notna().all()
    shuffled = ce.with_controls(few.sample(frac=1, random_state=1), ["shd"], n_draws=n, stop_after=h, rng=7)
    pd.testing.assert_series_equal(shuffled["shd_p"].sort_index(), found["shd_p"])


def test_stopping_needs_few_draws_and_failed_runs_stay_missing(monkeypatch):
    runs = pd.DataFrame({"truth": [SIX] * 3, "estimate": [SIX, None, "A; B; C; D; E; F"]})
    found = ce.with_controls(runs, ["shd", "v_structure_f1"], n_draws=5000, stop_after=20, rng=7)
    assert found["shd_p_draws"].tolist()[::2] == [5000, 20] and found["shd_p"].iloc[2] == 1
    assert np.isnan(found["shd_p"].iloc[1]) and found["v_structure_f1_p"].iloc[2] == 1
    monkeypatch.setattr("causaleval_pd.tables.simulate.CHUNK_BYTES", 3000)
    pd.testing.assert_frame_equal(
        found, ce.with_controls(runs, ["shd", "v_structure_f1"], n_draws=5000, stop_after=20, rng=7)
    )
    with pytest.raises(ValueError, match="stop_after must be a positive integer, found 0"):
        ce.with_controls(runs, ["shd"], stop_after=0, rng=7)


def test_sequential_p_values_keep_their_level(guesses):
    found = ce.with_controls(guesses, ["shd"], n_draws=500, stop_after=8, rng=7)["shd_p"]
    for alpha in (0.01, 0.05, 0.1, 0.3):
        assert (found <= alpha).sum() <= stats.binom.ppf(0.9999, len(found), alpha)
    assert (found <= 0.3).mean() > 0.15


def test_shared_draws_are_shared_and_valid_by_row(guesses):
    own = ce.with_controls(guesses, ["shd"], n_draws=199, rng=7)
    shared = ce.with_controls(guesses, ["shd"], n_draws=199, rng=7, share_draws=True)
    assert not own["shd_p"].equals(shared["shd_p"])
    for alpha in (0.05, 0.1, 0.3):
        assert (shared["shd_p"] <= alpha).sum() <= stats.binom.ppf(0.9999, len(shared), alpha)
    cube = ce.cube(guesses.head(5).assign(a=0), ["shd", "adjacency_tp"], by=["a"], n_draws=50, rng=7, share_draws=True)
    same_truth = guesses.head(5).assign(truth=guesses["truth"].iloc[[0] * 5].array, a=0, r=range(5))
    alike = ce.cube(same_truth, ["shd"], by=["a"], n_draws=50, rng=7, share_draws=True, replicate="r")["shd_control"]
    assert (alike.isel(a=0) == alike.isel(a=0, replicate=0)).all()
    assert cube.ceval.summary()["p_value"].isna().all() and cube["shd_p"].notnull().all()
    with pytest.raises(ValueError, match="the rows of this cube share their draws"):
        cube.ceval.test_controls()
    with pytest.raises(ValueError, match="share their draws, so method='wilcoxon' has no independent pairs"):
        cube.ceval.test_controls(method="wilcoxon")


def test_errors_of_simulated_means(guesses):
    few = guesses.head(30)
    exact = ce.with_controls(few, ["shd"], n_draws=400, rng=7)
    drawn = ce.with_controls(few, ["shd"], n_draws=400, rng=7, method="simulate")
    assert (exact["shd_control_mean_se"] == 0).all()
    z = (drawn["shd_control_mean"] - exact["shd_control_mean"]) / drawn["shd_control_mean_se"]
    assert 0.6 < z.std() < 1.5 and abs(z.mean()) < 0.8


def test_ratio_of_means_and_its_interval():
    rng = np.random.default_rng(0)
    b = rng.uniform(1, 3, (2000, 40))
    a = 0.6 * b + rng.normal(0, 0.3, b.shape)
    found = ratio_of_means(a, b, 0.9)
    np.testing.assert_allclose(found.effect, a.mean(axis=1) / b.mean(axis=1))
    covered = ((found.low <= 0.6) & (found.high >= 0.6)).mean()
    assert covered == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / 2000))
    none = np.nan
    nothing = ratio_of_means([[none] * 2, [1, none], [1, 2]], [[none] * 2, [2, none], [0, 0]], 0.9)
    np.testing.assert_array_equal(np.isnan(nothing.effect), [True, False, True])
    assert np.isnan(nothing.low).all()


@pytest.fixture
def many_nulls():
    runs = ce.datasets.runs().query("density == 0.2 and n == 100 and replicate < 6")
    nulls = ["edges", "permutation", "oracle_skeleton", ce.null_model("degree", switches=5)]
    return runs, nulls, ce.cube(runs, ["shd", "adjacency_f1"], by=["algorithm"], n_draws=60, rng=7, null=nulls)


def test_several_null_models_are_a_dimension(many_nulls):
    runs, nulls, cube = many_nulls
    assert cube["null"].to_numpy().tolist() == ["edges", "permutation", "oracle_skeleton", "degree"]
    assert cube["shd"].dims == ("algorithm", "replicate")
    assert cube["shd_control"].dims == ("null", "algorithm", "replicate", "draw")
    assert "permutation: exact; oracle_skeleton: " in cube["shd_control_mean"].attrs["method"]
    assert "edges: exact; permutation: simulated; oracle_skeleton: none" in cube["adjacency_f1_p"].attrs["method"]
    for null in nulls:
        one = ce.cube(runs, ["shd", "adjacency_f1"], by=["algorithm"], n_draws=60, rng=7, null=null)
        name = one.attrs["control_null"]
        cut = cube.sel(null=name)
        for variable in one.data_vars:
            np.testing.assert_array_equal(cut[variable], one[variable], err_msg=variable)
        table = one.ceval.test_controls()
        mine = cube.ceval.test_controls().query("null == @name").reset_index(drop=True)
        pd.testing.assert_frame_equal(mine, table)
        pd.testing.assert_frame_equal(cut.ceval.test_controls(), table)
        pd.testing.assert_frame_equal(
            cube.ceval.summary().query("null == @name").drop(columns="null").reset_index(drop=True), one.ceval.summary()
        )
    for method in ("randomisation", "wilcoxon"):
        tested = cube.ceval.test_controls(method=method)
        assert (tested["p_value"].isna() == (tested["null"] == "oracle_skeleton")).all()
    references = cube.ceval.summary().query("null == 'oracle_skeleton'")
    assert references["p_value"].isna().all() and references.query("metric == 'shd'")["skill"].notna().all()


def test_accumulators_of_several_null_models(many_nulls):
    runs, nulls, cube = many_nulls
    settings = {"by": ["algorithm"], "n_draws": 60, "rng": 7, "null": nulls, "keep_draws": False}
    streamed = ce.cube(runs, ["shd", "adjacency_f1"], **settings)
    pd.testing.assert_frame_equal(streamed.ceval.summary(), cube.ceval.summary(), rtol=1e-12)
    pd.testing.assert_frame_equal(streamed.ceval.test_controls(), cube.ceval.test_controls(), rtol=1e-12)


def test_comparisons_do_not_depend_on_the_null_models(many_nulls):
    runs, _, cube = many_nulls
    failed = runs.assign(estimate=runs["estimate"].mask(runs["replicate"] == 2))
    several = ce.cube(failed, ["shd"], by=["algorithm"], n_draws=60, rng=7, null=["edges", "permutation"])
    assert len(cube.ceval.compare("algorithm", metrics="shd")) == 3
    assert several.ceval.compare("algorithm", missing="worst")["p_value"].notna().all()
    assert several.ceval.test_controls(missing="worst")["p_value"].notna().all()


def test_figures_of_several_null_models(many_nulls):
    import matplotlib.pyplot as plt

    _, _, cube = many_nulls
    with pytest.raises(ValueError, match=r"null \(4 levels\); choose one by cube.sel\(null='edges'\)"):
        cube.ceval.plot.strata("shd", x="algorithm")
    assert cube.ceval.plot.strata("shd", x="algorithm", col="null").axes.shape == (1, 4)
    assert cube.ceval.plot.distributions("shd", hue="algorithm", col="null").axes.shape == (1, 4)
    cube.ceval.plot.p_values("shd", x="algorithm", y="null")
    grid = cube.sel(null="degree").ceval.plot.strata("shd", x="algorithm")
    labels = [text.get_text() for text in grid.figure.legends[0].get_texts()]
    assert "runs, p above .05" in labels
    assert "Null model: degree" in " ".join(text.get_text() for text in grid.figure.texts)
    plt.close("all")


def test_lists_of_null_models_are_checked(many_nulls):
    runs, _, _ = many_nulls
    for null, message in (
        ([], "null is an empty list"),
        (["edges", "edges"], "null has edges twice"),
        (["edges", "edge"], "unknown null 'edge'"),
    ):
        with pytest.raises(ValueError, match=message):
            ce.cube(runs, ["shd"], by=["algorithm"], n_draws=5, rng=7, null=null)


def test_cubes_of_several_null_models_are_saved(many_nulls, tmp_path):
    import xarray as xr

    _, _, cube = many_nulls
    cube.to_netcdf(tmp_path / "cube.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "cube.nc", engine="h5netcdf") as read:
        pd.testing.assert_frame_equal(read.load().ceval.test_controls(), cube.ceval.test_controls())
