"""Weights of answers: means, effects, skill, tests and comparisons, against numpy and every order of the answers."""

import itertools

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import causaleval_pd as ce
from causaleval_pd.plot import strata

METRICS = ["answer_accuracy", "answer_false_yes"]


def answered(n=24, seed=0, models=("a", "b"), **columns):
    """Return the answers of reasoners to the same questions, each with its weight."""
    rng = np.random.default_rng(seed)
    questions = pd.DataFrame({"sample": range(n), "truth": rng.random(n) < 0.5, "weight": rng.integers(1, 9, n) / 2})
    parts = [questions.assign(model=m, p=0.9 - 0.3 * k) for k, m in enumerate(models)]
    table = pd.concat(parts, ignore_index=True).assign(row=lambda t: range(len(t)), **columns)
    return table.assign(estimate=np.where(rng.random(len(table)) < table["p"], table["truth"], ~table["truth"]))


def cube_of(table, metrics=METRICS, by=("model",), **how):
    usual = {"n_draws": 99, "rng": 1, "key": "row", "cluster": "sample", "replicate": "sample"}
    return table.ceval.cube(metrics, by=list(by), **usual | how)


def average(table, name):
    return np.average(table[name], weights=table["weight"])


def test_means_of_pairs_with_weights():
    """Cause and effect pairs, A or B, of which some come from one source and count less: 3 of 4 right, but not .75."""
    pairs = pd.DataFrame({"truth": list("ABAB"), "answer": list("ABAA"), "weight": [1, 1, 0.75, 1.25]})
    pairs = pairs.assign(**{name: pairs[name] == "A" for name in ("truth", "answer")})
    found = pairs.ceval.cube(["answer_accuracy"], by=[], estimate="answer", rng=1)
    assert found.ceval.summary()["mean"].item() == 0.6875


@pytest.mark.parametrize("metric", METRICS)
def test_columns_of_summary_are_weighted(metric):
    runs = answered()
    cube = cube_of(runs)
    table = cube.ceval.summary(metric, columns="full").set_index("model")
    rows = runs.assign(**{name: cube.ceval.runs()[name].to_numpy() for name in (metric, f"{metric}_control_mean")})
    for model, part in rows.groupby("model"):
        mean, control = average(part, metric), average(part, f"{metric}_control_mean")
        row = table.loc[model]
        optimum = 1 if metric == "answer_accuracy" else 0
        found = row[["mean", "control_mean", "effect", "skill"]].astype(float)
        expected = [mean, control, mean - control, 1 - abs(mean - optimum) / abs(control - optimum)]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert row["ci_low"] < row["effect"] < row["ci_high"]
        # quantiles of runs, of which every one counts alike
        np.testing.assert_allclose([row["low"], row["high"]], np.quantile(part[metric], [0.025, 0.975]), atol=1e-12)
    pooled = cube.ceval.summary(metric, by=None)
    assert pooled["mean"].item() == pytest.approx(average(rows, metric))


def test_p_counts_orders_of_the_answers():
    """All answers of one reasoner to five questions, in every order."""
    part = answered(5, seed=3, models=["a"])
    cube = cube_of(part, ["answer_accuracy"], by=[], n_draws=4000, cluster=None)
    right = lambda answers: np.dot(part["weight"], answers == part["truth"].to_numpy())  # noqa: E731
    orders = [right(np.array(order)) for order in itertools.permutations(part["estimate"])]
    share = np.mean(np.array(orders) >= right(part["estimate"].to_numpy()) - 1e-9)
    assert cube.ceval.summary()["p_value"].item() == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 4000))


def test_equal_weights_change_nothing():
    runs = answered().assign(weight=3.0)
    own, plain = cube_of(runs), cube_of(runs.drop(columns="weight"))
    for verb in (
        lambda c: c.ceval.summary(columns="full"),
        lambda c: c.ceval.summary(statistic="rank", by=None),
        lambda c: c.ceval.rank_test("model"),
        *(lambda c, on=on: c.ceval.compare("model", on=on, columns="full") for on in ("metric", "excess", "skill")),
        *(lambda c, test=test: c.ceval.compare("model", test=test) for test in ("wilcoxon", "max_t", "mcnemar")),
    ):
        pd.testing.assert_frame_equal(verb(own), verb(plain), rtol=1e-9, check_exact=False)


def test_comparisons_are_weighted_over_the_pairs_that_they_take():
    runs = answered()
    runs = runs[(runs["model"] == "a") | (runs["sample"] < 15)]
    cube = cube_of(runs, ["answer_accuracy"])
    scored = runs.ceval.evaluate(["answer_accuracy"]).pivot(index="sample", columns="model", values="answer_accuracy")
    weight = runs.groupby("sample")["weight"].first()
    both = scored.dropna()
    expected = np.average(both["a"] - both["b"], weights=weight[both.index])
    for test in ("t", "max_t"):
        found = cube.ceval.compare("model", test=test).iloc[0]
        assert found["effect"] == pytest.approx(expected) and found["note"] == "9 runs without a partner left out"
    skills = cube.sel(replicate=range(15)).ceval.summary().set_index("model")["skill"]
    assert cube.ceval.compare("model", on="skill")["effect"].item() == pytest.approx(skills["a"] - skills["b"])


def test_weights_stay_with_their_runs(tmp_path):
    """In files, parts, and cubes that are put together."""
    cube = cube_of(answered())
    whole = cube.ceval.summary()
    cube.to_netcdf(tmp_path / "cube.nc")
    with xr.open_dataset(tmp_path / "cube.nc") as back:
        pd.testing.assert_frame_equal(back.ceval.summary(), whole)
    parts = [cube.sel(model=[m]) for m in ("a", "b")]
    for joined in (ce.concat(parts, "model"), xr.concat(parts, "model")):
        pd.testing.assert_frame_equal(joined.ceval.summary(), whole)
    assert cube.ceval.runs()["run_weight"].tolist() == answered()["weight"].tolist()
    text = "runs count by their weights"
    assert text in " ".join(x.get_text().replace("\n", " ") for x in strata(cube, METRICS[0]).figure.texts)


def test_the_same_weights_on_dask():
    dd = pytest.importorskip("dask.dataframe")
    import causaleval_pd.dask  # noqa: F401

    runs = answered()
    lazy = cube_of(dd.from_pandas(runs, npartitions=3))
    pd.testing.assert_frame_equal(lazy.ceval.summary(), cube_of(runs).ceval.summary(), check_dtype=False)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: cube_of(t.assign(weight=0)), r"row 0 \(index 0\): found the weight 0, expected a positive number"),
        (lambda t: cube_of(t.assign(weight=[np.nan, *[1.0] * 47])), "row 0.*found the weight nan"),
        (lambda t: cube_of(t.assign(weight="x")), "weight='weight' holds .*, expected numbers"),
        (lambda t: cube_of(t, best_of="p"), "takes no cluster=|takes no column 'weight'"),
        (lambda t: cube_of(t).ceval.summary(missing="worst"), "counts all failed runs alike"),
        (lambda t: cube_of(t).ceval.compare("model", test="welch_t"), "takes no weights of runs"),
        (lambda t: cube_of(t).ceval.model("answer_accuracy ~ model"), "WLS takes the rows of cube.ceval.runs"),
    ],
)
def test_weights_that_cannot_be_followed_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(answered())


def test_a_column_that_is_named_holds_no_weights():
    runs = answered()
    for how in ({"by": ["weight"], "replicate": "row"}, {"by": ["model"], "values": ["weight"]}):
        assert "run_weight" not in cube_of(runs, ["answer_accuracy"], **how).coords
    graphs = pd.DataFrame({"truth": ["A -> B"], "estimate": ["A -> B"], "weight": [2.0]})
    assert "run_weight" not in graphs.ceval.cube(["shd"], by=[], n_draws=None).coords
