"""Answers of clusters that move together: all shufflings of small strata, size and power, what cannot move."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest


def answered(truths, answers, replicates=1, **columns):
    """Return a table of samples, (samples, questions), whose answers all replicates repeat."""
    truths, answers = (np.atleast_2d(np.asarray(x, object)) for x in (truths, answers))
    rows = [
        {"sample": s, "q": q, "replicate": r, "truth": truths[s, q], "estimate": answers[s, q]}
        for s, q, r in itertools.product(range(truths.shape[0]), range(truths.shape[1]), range(replicates))
    ]
    return pd.DataFrame(rows).assign(**columns).astype({"truth": "boolean", "estimate": "boolean"})


def shuffling_test(table, by=(), cluster="sample", n_draws=999, statistic="mean", rng=1, **settings):
    cube = table.ceval.cube(
        ["answer_accuracy"], by=list(by), n_draws=n_draws, rng=rng, cluster=cluster, context={"group": "q"}, **settings
    )
    return cube.ceval.summary(statistic=statistic, adjust=None, columns="full")


@pytest.mark.slow
@pytest.mark.parametrize("replicates", [1, 4])
def test_p_is_the_share_of_all_joint_shufflings(replicates):
    truths = np.array([[1, 0], [0, 0], [1, 1], [0, 1], [1, 0]], bool)
    answers = np.array([[1, 0], [0, 1], [1, 1], [0, 1], [0, 0]], bool)
    every = [(truths == answers[list(order)]).sum() for order in itertools.permutations(range(5))]
    expected = np.mean(np.array(every) >= (truths == answers).sum())
    found = shuffling_test(answered(truths, answers, replicates), n_draws=20_000).iloc[0]
    assert found["p_value"] == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 20_000))
    assert found["n_clusters"] == 5
    assert found["p_method"] == "relabelling by column sample"


@pytest.mark.slow
def test_replicates_add_nothing():
    rng = np.random.default_rng(4)
    truths = np.arange(10)[:, None] % 2 == 0
    answers = truths ^ (rng.random((10, 1)) < 0.2)
    p = [shuffling_test(answered(truths, answers, r), n_draws=4999)["p_value"].iloc[0] for r in (2, 5)]
    assert p[0] == pytest.approx(p[1], abs=0.01)
    alone = shuffling_test(answered(truths, answers, 5), cluster=None)["p_value"].iloc[0]
    assert alone < p[1] / 10


@pytest.mark.slow
def test_clusters_with_other_questions_keep_their_answers():
    # no sample answered what another one did, so nothing can move
    table = answered(np.eye(3, dtype=bool), np.eye(3, dtype=bool), 2)
    table["q"] = table["sample"] * 10 + table["q"]
    found = shuffling_test(table).iloc[0]
    assert np.isnan(found["p_value"]) or found["p_value"] == 1
    # a missing answer sets its sample apart
    truths = np.array([[1], [0], [1], [0]], bool)
    whole = answered(truths, truths, 3)
    lost = whole.copy()
    lost.loc[0, "estimate"] = pd.NA
    assert shuffling_test(whole, n_draws=9999)["p_value"].iloc[0] == pytest.approx(1 / 6, abs=0.02)
    # only the samples 1, 2 and 3 move: the one with a yes keeps it in two of six orders
    assert shuffling_test(lost, n_draws=9999)["p_value"].iloc[0] == pytest.approx(1 / 3, abs=0.02)


@pytest.mark.slow
def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(2)
    table = answered(rng.random((12, 2)) < 0.5, rng.random((12, 2)) < 0.5, 3)
    table["run"] = np.arange(len(table))
    first, second = (shuffling_test(x, key="run") for x in (table, table.sample(frac=1, random_state=1)))
    pd.testing.assert_frame_equal(first, second)


@pytest.mark.slow
def test_only_the_null_model_that_shuffles_moves_answers():
    rng = np.random.default_rng(3)
    table = answered(rng.random((6, 1)) < 0.5, rng.random((6, 1)) < 0.5, 3)
    methods = {
        null: shuffling_test(table, null=null)["p_method"].iloc[0] for null in ("permute_answers", "random_answers")
    }
    assert methods == {
        "permute_answers": "relabelling by column sample",
        "random_answers": "twice the mean p by column sample",
    }
    both = shuffling_test(table, null=["permute_answers", "random_answers"]).set_index("null")["p_method"]
    assert both.to_dict() == methods


@pytest.mark.slow
def test_repeated_samples_are_named_where_rows_count_as_independent():
    table = answered([[1], [0]], [[1], [0]], 3).assign(g="a")
    for n_draws in (99, None):
        with pytest.warns(UserWarning, match=r"share a value of column 'sample' \(row 1.*pass cluster='sample'"):
            table.ceval.cube(["answer_accuracy"], by=["g"], n_draws=n_draws, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for settings in ({"cluster": "sample"}, {"cluster": None}, {"cluster": "sample", "n_draws": None}):
            table.ceval.cube(["answer_accuracy"], by=["g"], rng=1, **settings)
        table.assign(task=table["replicate"]).ceval.cube(["answer_accuracy"], by=["g"], n_draws=99, rng=1)
        table = table.assign(n=table["replicate"] + 0.5)
        table.ceval.cube(["answer_accuracy"], by=[{"n": [0.0, 1.0, 2.0, 3.0]}], n_draws=99, rng=1)


def coins(strata, samples, sizes, right, seed):
    """Return strata of samples with balanced truths and equal replicates."""
    rng = np.random.default_rng(seed)
    truth = np.stack([rng.permutation(np.arange(samples) % 2 == 0) for _ in range(strata)])
    answer = truth ^ (rng.random(truth.shape) >= right)
    n = np.tile(np.resize(sizes, samples), strata)
    study, sample = (np.repeat(x.ravel(), n) for x in np.indices(truth.shape))
    return pd.DataFrame(
        {"study": study, "sample": study * samples + sample, "q": 0}
        | {"truth": np.repeat(truth.ravel(), n), "estimate": np.repeat(answer.ravel(), n)}
    ).astype({"truth": "boolean", "estimate": "boolean"})


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[5], [1, 2, 5]])
@pytest.mark.parametrize("statistic", ["mean", "rank"])
def test_size_and_power_of_equal_replicates(sizes, statistic):
    how = {"by": ["study"], "n_draws": 199, "statistic": statistic}
    p = shuffling_test(coins(800, 12, sizes, 0.5, seed=5), **how)["p_value"]
    assert (p <= 0.05).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 800)
    assert (p <= 0.01).mean() <= 0.01 + 3 * np.sqrt(0.01 * 0.99 / 800)
    assert (shuffling_test(coins(200, 12, sizes, 0.95, seed=6), **how)["p_value"] <= 0.05).mean() > 0.7
    # counted as independent, coins are rejected far too often
    assert (
        shuffling_test(coins(800, 12, sizes, 0.5, seed=5), **how | {"cluster": None})["p_value"] <= 0.05
    ).mean() > 0.12


@pytest.mark.slow
def test_answers_that_move_by_sample_show_that_replicates_are_not_independent():
    # four of eight samples get a yes: a random order has three right or more in 17 of 70, which answers that count as
    # independent reject
    table = coins(3, 8, [5], 1.0, seed=1)
    answers = table["estimate"].to_numpy().reshape(3, 8, 5)
    sizes = {}
    for cluster in ("sample", None):
        p = []
        for seed in range(60):
            order = np.stack([np.random.default_rng([seed, i]).permutation(8) for i in range(3)])
            moved = np.take_along_axis(answers, order[:, :, None], axis=1)
            placebo = table.assign(estimate=pd.array(moved.ravel(), dtype="boolean"))
            p += shuffling_test(placebo, ["study"], cluster, n_draws=99)["p_value"].tolist()
        sizes[cluster] = (np.array(p) <= 0.05).mean()
    assert sizes["sample"] < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 180)
    assert sizes[None] == pytest.approx(17 / 70, abs=4 * np.sqrt(17 / 70 * 53 / 70 / 180))


@pytest.mark.slow
def test_repeated_samples_are_named_on_dask():
    dd = pytest.importorskip("dask.dataframe")
    import causaleval_pd.dask  # noqa: F401

    table = answered([[1], [0]], [[1], [0]], 3).assign(g="a").sample(frac=1, random_state=1).reset_index(drop=True)
    rows = table.assign(row=range(len(table)))
    lazy = dd.from_pandas(rows, npartitions=2)
    repeated = rows["sample"].duplicated().idxmax()
    size = len(rows) - len(rows) // 2
    place = f"partition {repeated // size}, row {repeated % size}"
    how = {"by": ["g"], "n_draws": 99, "rng": 1, "key": "row"}
    for draws in ({}, {"n_draws": None}):
        with pytest.warns(UserWarning, match=rf"share a value of column 'sample' \({place}\).*pass cluster='sample'"):
            lazy.ceval.cube(["answer_accuracy"], **(how | draws))
    for settings in ({"cluster": "sample"}, {"cluster": None}, {"cluster": "sample", "n_draws": None}):
        lazy.ceval.cube(["answer_accuracy"], **(how | settings))
