"""Tests of estimates against their controls: known answers, failed runs, draws kept or summed, and their size."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.multitest import multipletests

import causaleval_pd as ce
from causaleval_pd.cubes.summary_columns import FURTHER, SHORT

NO_RUN, SCORED, FAILED = 0, 1, 2


def against_controls(cube, metrics=None, **how):
    return ce.summary(cube, metrics, columns="full", **how)


def test_columns_are_strata_then_identifiers(ragged):
    table = against_controls(ragged)
    assert list(table.columns) == ["algorithm", "density", *SHORT, *FURTHER]
    assert len(table) == 12
    assert set(table["null"]) == {"edges"}
    short = ce.summary(ragged)
    assert [name for name in short if name != "note"] == ["algorithm", "density", *SHORT]


@pytest.mark.parametrize("direction", ["minimize", "maximize", "zero"])
def test_randomisation_compares_stratum_means(direction, make_cube):
    rng = np.random.default_rng(3)
    values, draws = rng.normal(1, 2, (4, 6)), rng.normal(1, 2, (4, 6, 99))
    values[1, 2], draws[1, 2] = np.nan, np.nan
    draws[2, :, 5] = np.nan
    cube = make_cube({"a": np.arange(4)}, {"m": (values, direction, draws)})
    table = against_controls(cube, statistic="mean")
    sign = -1 if direction == "maximize" else 1
    score = (lambda x: np.abs(x - 2.0)) if direction == "zero" else (lambda x: x)
    for i in range(4):
        rows = ~np.isnan(values[i])
        columns = score(np.concatenate([values[i, rows, None], draws[i, rows]], axis=1))
        excess = np.nan_to_num(columns - np.nanmean(columns, axis=1, keepdims=True)).sum(axis=0)
        b = sum(sign * x <= sign * excess[0] + 1e-12 for x in excess[1:])
        assert table["mean"][i] == pytest.approx(values[i, rows].mean())
        assert table["p_value"][i] == (b + 1) / 100
        assert table["n_scored"][i] == rows.sum() and table["n_undefined"][i] == (~rows).sum()


def test_effect_is_the_mean_difference_from_the_expected_control(ragged):
    table = against_controls(ragged, "shd", level=0.9)
    for row in table.itertuples():
        cell = ragged.sel(algorithm=row.algorithm, density=row.density)
        own, control = cell["shd"].to_numpy(), cell["shd_control"].to_numpy()
        rows = ~np.isnan(own)
        expected = scipy_stats.ttest_rel(own[rows], control[rows].mean(axis=1))
        assert row.effect == pytest.approx((own[rows] - control[rows].mean(axis=1)).mean())
        np.testing.assert_allclose([row.ci_low, row.ci_high], expected.confidence_interval(0.9))
        assert row.n_scored == rows.sum()
        assert row.n_failed == (cell["status"] == FAILED).sum()
        assert row.control_as_good_share == pytest.approx((control[rows] <= own[rows, None]).mean())


def test_effect_of_metrics_best_at_their_optimum_is_of_distances(make_cube):
    rng = np.random.default_rng(1)
    values, draws = rng.normal(2, 1, (1, 9)), rng.normal(2, 3, (1, 9, 50))
    row = against_controls(make_cube({"a": [0]}, {"m": (values, "zero", draws)})).iloc[0]
    assert row["effect"] == pytest.approx((np.abs(values - 2) - np.abs(draws - 2).mean(axis=-1)).mean())
    assert row["effect"] < 0 and row["p_value"] < 0.05


def test_failed_runs_count_as_the_end_of_the_range(make_cube):
    values, draws = np.array([[0.9, 0.8, 0.5, 0.0]]), np.tile([0.3, 0.4, 0.5], (1, 4, 1))
    cube = make_cube({"a": ["x"]}, {"f1": (values, "maximize", draws)}, status=[[SCORED, SCORED, FAILED, NO_RUN]])
    dropped, worst = (against_controls(cube, missing=m).iloc[0] for m in ("drop", "worst"))
    assert (dropped["n_scored"], worst["n_scored"]) == (2, 2)
    assert (dropped["n_failed"], worst["n_failed"]) == (1, 1)
    assert dropped["mean"] == pytest.approx(0.85)
    assert worst["mean"] == pytest.approx(1.7 / 3)
    assert worst["effect"] == pytest.approx((0.5 + 0.4 - 0.4) / 3)
    assert dropped["control_as_good_share"] == 0
    assert worst["control_as_good_share"] == pytest.approx(1 / 3)
    assert worst["p_value"] >= dropped["p_value"]


@pytest.mark.parametrize(("direction", "expected"), [("minimize", 9.0), ("zero", 2.0 + 7.0)])
def test_failed_runs_count_as_the_worst_of_estimates_and_controls(direction, expected, make_cube):
    values, draws = np.array([[1.0, 3.0, 0.0]]), np.full((1, 3, 4), 2.0)
    draws[0, 1, 2] = 9.0
    cube = make_cube({"a": ["x"]}, {"m": (values, direction, draws)}, status=[[SCORED, SCORED, FAILED]])
    row = against_controls(cube, missing="worst").iloc[0]
    own = np.array([1.0, 3.0, expected])
    assert row["mean"] == pytest.approx(own.mean())


def test_failing_more_never_helps(make_cube):
    rng = np.random.default_rng(2)
    values, draws = rng.normal(0, 1, (1, 10)), rng.normal(1, 1, (1, 10, 99))
    found = []
    for n_failed in (0, 4, 8):
        status = np.where(np.arange(10) < n_failed, FAILED, SCORED)[None]
        cube = make_cube({"a": ["x"]}, {"m": (np.abs(values), "minimize", np.abs(draws))}, status=status)
        found.append(against_controls(cube, missing="worst")["p_value"].iloc[0])
    assert found == sorted(found) and found[0] < found[-1]


@pytest.mark.parametrize("missing", ["drop", "worst"])
def test_strata_of_failed_runs_are_undefined_and_counted(missing, make_cube):
    shape = (2, 3)
    metrics = {"m": (np.ones(shape), "minimize", np.full((*shape, 5), 2.0))}
    cube = make_cube({"a": ["x", "y"]}, metrics, status=[[FAILED] * 3, [SCORED] * 3])
    row = against_controls(cube, missing=missing).iloc[0]
    assert np.isnan(row["p_value"]) and np.isnan(row["effect"]) and np.isnan(row["control_as_good_share"])
    assert (row["n_scored"], row["n_failed"], row["n_undefined"]) == (0, 3, 0)


def test_one_replicate_is_a_result(make_cube):
    cube = make_cube({"a": ["x"]}, {"m": (np.ones((1, 1)), "minimize", np.full((1, 1, 9), 2.0))})
    row = against_controls(cube).iloc[0]
    assert row["p_value"] == 0.1
    assert row["effect"] == -1 and np.isnan(row["ci_low"])


def test_strata_without_runs_are_left_out(ragged):
    cube = ragged.copy()
    here = (cube["algorithm"] == "pc") & (cube["density"] == 0.2)
    cube["status"] = cube["status"].where(~here, NO_RUN)
    for name in ("shd", "f1"):
        cube[name] = cube[name].where(~here).assign_attrs(ragged[name].attrs)
    assert len(against_controls(cube)) == 10


def test_no_strata_and_no_rows(ragged):
    one = ragged.isel(algorithm=0, density=0)
    table = against_controls(one, "shd")
    assert list(table.columns)[:2] == ["metric", "n_runs"] and len(table) == 1
    none = against_controls(ragged.isel(algorithm=slice(0)))
    assert len(none) == 0 and list(none.columns) == list(against_controls(ragged).columns)


@pytest.mark.slow
def test_adjustment_spans_all_rows_of_a_metric(ragged):
    for _, table in against_controls(ragged, adjust="holm").groupby("metric"):
        np.testing.assert_allclose(table["p_adjusted"], multipletests(table["p_value"], method="holm")[1])
    plain = against_controls(ragged)
    np.testing.assert_array_equal(plain["p_adjusted"], plain["p_value"])


@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_random_guessing_is_rarely_significant(n, make_cube):
    rng = np.random.default_rng([n, 5])
    found = np.round(rng.exponential(size=(600, n, 20)), 1)
    cube = make_cube({"a": np.arange(600)}, {"m": (found[..., 0], "minimize", found[..., 1:])})
    p = against_controls(cube)["p_value"]
    for size in (0.05, 0.1):
        assert (p <= size).mean() <= size + 3.5 * np.sqrt(size * (1 - size) / 600)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metrics": "shdd"}, "unknown metric of this cube 'shdd'; did you mean 'shd'"),
        ({"missing": "best"}, "unknown value of missing 'best'"),
        ({"level": 95}, "level must lie between 0 and 1"),
        ({"adjust": "sidakk"}, "unknown correction 'sidakk'"),
    ],
)
def test_settings_against_controls_are_checked(ragged, settings, message):
    with pytest.raises(ValueError, match=message):
        against_controls(ragged, **settings)


def test_cubes_without_controls_have_no_tests(make_cube):
    bare = make_cube({"a": ["x"]}, {"m": (np.ones((1, 3)), "minimize")})
    assert against_controls(bare)[["p_value", "verdict", "effect"]].isna().all(axis=None)


def perfect(n):
    """Return strata of one perfect run each, whose SHD no draw reaches."""
    rng = np.random.default_rng(1)
    names = [f"N{i}" for i in range(9)]
    pairs = np.array([(i, j) for i in range(9) for j in range(i)])
    graphs = []
    for _ in range(n):
        order = rng.permutation(9)
        chosen = pairs[rng.choice(36, 9, replace=False)]
        graphs.append("; ".join([f"N{order[a]} -> N{order[b]}" for a, b in chosen] + names))
    return pd.DataFrame({"s": range(n), "truth": graphs, "estimate": graphs})


@pytest.mark.slow
def test_a_family_that_cannot_pass_is_warned_of_with_the_draws_that_it_needs():
    cube = ce.cube(perfect(12), ["shd"], by=["s"], n_draws=199, rng=1)
    with pytest.warns(UserWarning, match=r"holm.*over 12 tests turns into 0.06.*n_draws=239"):
        table = against_controls(cube, adjust="holm")
    assert table["p_at_floor"].all() and (table["p_value"] == 1 / 200).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        against_controls(cube)
        against_controls(cube, adjust="holm", level=0.9)


@pytest.mark.slow
@pytest.mark.parametrize("found", [0, 3])
def test_a_family_that_passes_by_combinations_of_draws_is_not_warned_of(found):
    """Twelve strata of six runs, of which none or three are perfect."""
    runs = perfect(72).assign(s=np.repeat(np.arange(12), 6))
    runs["estimate"] = runs["estimate"].where(runs["s"] < found, np.roll(runs["estimate"], 7))
    how = {"by": ["s"], "null": "permutation", "n_draws": 99, "rng": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = against_controls(ce.cube(runs, ["shd"], **how), adjust="holm")
    assert (table["p_adjusted"] < 0.05).sum() == found
    alone = ce.cube(runs.groupby("s").head(1), ["shd"], **how)
    with pytest.warns(UserWarning, match=r"no test can pass .*over 12 tests turns into 0.12"):
        against_controls(alone, adjust="holm")


def test_advice_on_draws_is_what_the_cube_takes():
    runs = pd.concat([perfect(4).assign(setting=k) for k in range(2)], ignore_index=True)
    cube = ce.cube(runs, ["shd"], by=["s"], best_of="setting", n_draws=49, rng=1)
    with pytest.warns(UserWarning, match=r"with n_draws=79 or more, or n_draws='auto'$"):
        table = against_controls(cube, adjust="holm")
    words = "p <= 0.02, the least that these draws give; n_draws='auto' of the cube resolves smaller p"
    assert table["note"].str.endswith(words).all()
    # answers move by sample, not step by step
    answers = pd.DataFrame({"sample": np.repeat(range(30), 2), "truth": np.repeat([True, False], 30)})
    answers["estimate"] = answers["truth"]
    cube = ce.cube(answers, ["answer_accuracy"], by=[], cluster="sample", n_draws=49, rng=1)
    assert against_controls(cube)["note"].item().endswith(words)


@pytest.mark.slow
def test_auto_chooses_the_draws_of_the_family():
    runs = perfect(4)
    cube = ce.cube(runs, ["shd", "adjacency_f1"], by=["s"], null=["edges", "permutation"], n_draws="auto", rng=1)
    assert cube.attrs["n_draws"] == 3999 == cube.sizes["draw"]
    fixed = ce.cube(runs, ["shd", "adjacency_f1"], by=["s"], null=["edges", "permutation"], n_draws=3999, rng=1)
    assert ce.summary(cube, columns="full").equals(ce.summary(fixed, columns="full"))
    assert ce.cube(runs, ["shd"], by=["s"], n_draws="auto", rng=1).attrs["n_draws"] == 999
    assert (against_controls(cube, adjust="holm")["p_adjusted"] < 0.05).all()
    table = runs.ceval.cube(["shd"], by=["s"], n_draws="auto", rng=1).ceval.summary(columns="full")
    assert set(table["n_draws"]) == {999}


@pytest.mark.slow
def test_intervals_take_a_cluster_as_one_value():
    """300 tables of one guess per truth, repeated five times: five equal differences are no five witnesses."""
    rng, names = np.random.default_rng(1), [f"X{i}" for i in range(6)]
    first, second = np.triu_indices(6, 1)
    graphs = np.zeros((2, 300 * 6, 6, 6), np.int8)
    for graph in graphs.reshape(-1, 6, 6):
        order, chosen = rng.permutation(6), rng.choice(15, 5, replace=False)
        graph[order[first[chosen]], order[second[chosen]]] = 1
    truth, estimate = (
        ce.graph_column(np.repeat(side, 5, axis=0), encoding="row->column", nodes=names) for side in graphs
    )
    runs = pd.DataFrame({"truth": truth, "estimate": estimate, "table": np.repeat(np.arange(300), 30)})
    size = {}
    for cluster in (None, "truth"):
        found = ce.summary(ce.cube(runs, ["shd"], by=["table"], cluster=cluster, n_draws=19, rng=7), columns="full")
        size[cluster] = ((found["ci_low"] > 0) | (found["ci_high"] < 0)).mean()
    assert size[None] > 0.09 and size["truth"] < 0.09, size


def test_a_missing_interval_has_a_reason():
    runs = pd.DataFrame(
        {"truth": ["A -> B; B -> C; D"] * 3, "estimate": ["A -> B; C; D", "A; B; C -> D", "B -> C; A; D"]}
    )
    table = ce.cube(runs, ["shd"], by=[], n_draws=99, rng=1).ceval.summary(columns="full")
    assert table["n_clusters"].tolist() == [1] and table["ci_low"].isna().all() and table["p_value"].notna().all()
    assert table["note"].tolist() == ["skill: no interval: fewer than 5 clusters; too few clusters for an interval"]
    assert table["verdict"].tolist() == ["not better"]
    several = runs.assign(truth=["A -> B; B -> C; D", "A -> B; C; D", "B -> C; A -> C; D"])
    assert ce.cube(several, ["shd"], by=[], n_draws=99, rng=1).ceval.summary()["ci_low"].notna().all()


def test_names_of_metrics_may_come_from_a_generator(ragged):
    table = against_controls(ragged, (name for name in ["shd"]))
    pd.testing.assert_frame_equal(table, against_controls(ragged, ["shd"]))
