"""The summary of a cube."""

from __future__ import annotations

import pathlib

import numpy as np
import pandas as pd
import pytest
import scipy

import causaleval_pd as ce
from causaleval_pd.cubes.schema import FAILED, SCORED
from causaleval_pd.cubes.summary_columns import FURTHER, SHORT

KNOWN = pathlib.Path(__file__).parents[1] / "known_answers"

BY = ["algorithm", "density", "n"]
NAMES = ["shd", "adjacency_f1"]


@pytest.mark.slow
def test_summary_is_what_pandas_gives(cube, small):
    scored = ce.evaluate(small, NAMES)
    table = cube.ceval.summary(statistic="mean", columns="full")
    assert list(table.columns) == [*BY, *SHORT, *FURTHER]
    by_hand = scored.groupby(BY)["shd"].agg(["mean", lambda x: x.quantile(0.025), lambda x: x.quantile(0.975)])
    mine = table[table["metric"] == "shd"].set_index(BY)[["mean", "low", "high"]]
    np.testing.assert_allclose(mine.sort_index(), by_hand.sort_index(), atol=1e-12)
    one = cube.sel(algorithm="pc", density=cube["density"][0], n=cube["n"][0])
    row = table[(table["metric"] == "shd") & (table["algorithm"] == "pc")].iloc[0]
    pooled = one["shd_control"].to_numpy()
    pooled = pooled[~np.isnan(one["shd"].to_numpy())].ravel()
    np.testing.assert_allclose([row["control_low"], row["control_high"]], np.quantile(pooled, [0.025, 0.975]))
    means = one["shd_control"].where(one["shd"].notnull()).mean("replicate")
    b = int((means <= float(one["shd"].mean()) + 1e-12).sum())
    assert b == 0 and row["p_value"] < 1 / 61 and row["p_method"] == "simulated, combinations of draws"
    assert row["skill"] == pytest.approx(1 - row["mean"] / row["control_mean"])
    assert np.isnan(row["skill_low"]) and row["note"].startswith(
        "skill: no interval: fewer than 5 clusters; p <= 1e-05"
    )
    assert row["p_se"] == pytest.approx(np.sqrt(row["p_value"] * (1 - row["p_value"]) / 99_999))
    # runs that were cut have the draws alone
    simulated = cube.isel(replicate=[0]).ceval.summary(statistic="mean", columns="full").iloc[0]
    p = simulated["p_value"]
    assert simulated["p_method"] == "simulated" and round(p * 61, 9) == round(p * 61)
    assert simulated["p_se"] == pytest.approx(np.sqrt(p * (1 - p) / 60))
    errors = one["shd_control_mean_se"].where(one["shd"].notnull())
    assert row["control_mean_se"] == pytest.approx(float(np.sqrt((errors**2).sum()) / errors.notnull().sum()))


def test_failed_and_undefined_runs_are_counted():
    table = pd.DataFrame(
        {
            "algorithm": [*"xxxxy"],
            "truth": ["A -> B; C", "A -> B; B -> C", "A; B -> C", "A; B; C", "A -> B; C"],
            "estimate": ["A -> B; C", None, "A; B; C", "A -> C; B", None],
        }
    )
    found = ce.cube(table, ["adjacency_precision"], by=["algorithm"], n_draws=20, rng=7)
    assert sorted(found["status"].sel(algorithm="x").to_numpy()) == [SCORED, SCORED, SCORED, FAILED]
    row, failed = found.ceval.summary(columns="full").to_dict("records")
    assert (row["n_clusters"], failed["n_clusters"], failed["n_runs"], failed["n_failed"]) == (3, 0, 1, 1)
    assert (
        ce.cube(table, ["adjacency_precision"], by=["algorithm"], n_draws=None)
        .ceval.summary(columns="full")["n_clusters"]
        .isna()
        .all()
    )
    assert (row["n_runs"], row["n_scored"], row["n_failed"], row["n_undefined"], row["mean"]) == (4, 2, 1, 1, 0.5)


@pytest.mark.slow
def test_published_table_with_its_own_controls():
    table = pd.read_csv(KNOWN / "table5_mtrue30.csv.gz")
    nodes = [str(i) for i in range(10)]
    cells = {c: ce.graph_column(table[c], nodes=nodes) for c in ("truth", "pc", "nc")}
    runs = pd.DataFrame(cells).assign(density="dense")
    names = [
        "shd",
        "adjacency_precision",
        "adjacency_recall",
        "orientation_precision",
        "orientation_recall",
        "v_structure_recall",
    ]
    with ce.set_options(zero_division=1):
        pc, nc = (ce.evaluate(runs, names, estimate=column)[names] for column in ("pc", "nc"))
    as_good = (nc >= pc).assign(shd=nc["shd"] <= pc["shd"]).mean()
    assert as_good.round(3).tolist() == [0.202, 0.122, 0.245, 0.360, 0.464, 0.563]
    np.testing.assert_allclose(pc.mean(), [27.333, 0.849, 0.378, 0.650, 0.403, 0.049], atol=5.1e-4)
    np.testing.assert_allclose(nc.mean(), [31.226, 0.661, 0.294, 0.505, 0.369, 0.023], atol=5.1e-4)
    assert nc["shd"].quantile([0.025, 0.975]).tolist() == [26, 36]


@pytest.mark.slow
def test_the_randomisation_test_is_valid_where_metrics_are_undefined():
    """Random guessing on truths whose orientation precision is often 0/0 and differs between rows."""
    rng = np.random.default_rng(3)
    nodes = [f"X{i}" for i in range(5)]

    def guess(m):
        rank = rng.permutation(5)
        pairs = [(i, j) for i in range(5) for j in range(5) if rank[i] < rank[j]]
        chosen = rng.choice(10, m, replace=False)
        return "; ".join([f"X{pairs[k][0]} -> X{pairs[k][1]}" for k in chosen] + nodes)

    n_strata, rows = 300, 6
    sizes = np.tile([1, 2, 8] * 2, n_strata)
    table = pd.DataFrame(
        {
            "stratum": np.repeat(np.arange(n_strata), rows),
            "truth": [guess(m) for m in sizes],
            "estimate": [guess(2) for _ in sizes],
        }
    )
    names = ["orientation_precision", "v_structure_precision"]
    table = ce.cube(table, names, by=["stratum"], n_draws=99, rng=7).ceval.summary(columns="full")
    assert table["n_undefined"].sum() > 300
    for _, part in table.groupby("metric"):
        p = part["p_value"].dropna()
        for alpha in (0.05, 0.1, 0.2):
            assert (p <= alpha).mean() <= alpha + 4 * np.sqrt(alpha * (1 - alpha) / len(p))


def _of_data_sets(rng, sizes):
    """Runs of one stratum; those on one truth get the same number of wrong edges, plus noise of each run."""
    nodes = [f"X{i}" for i in range(12)]
    rows = []
    for i, size in enumerate(sizes):
        truth = "; ".join([f"X{k} -> X{k + 1}" for k in range(11) if k != i] + nodes)
        extra = int(rng.integers(0, 9))
        for _ in range(size):
            wrong = [f"X{k} -> X{k + 2}" for k in range(extra + int(rng.integers(0, 2)))]
            rows.append({"truth": truth, "estimate": "; ".join([*wrong, *nodes])})
    return pd.DataFrame(rows)


@pytest.mark.slow
def test_the_interval_of_the_mean_leaves_out_one_cluster_at_a_time():
    runs = _of_data_sets(np.random.default_rng(1), [6, 3, 2, 1, 1]).assign(s=0, lab=[0] * 9 + [1, 1, 2, 3])
    for settings, groups in (({}, "truth"), ({"cluster": "lab"}, "lab")):
        for n_draws in (None, 20):
            made = runs.ceval.cube(["shd"], by=["s"], n_draws=n_draws, rng=1, **settings)
            row = made.ceval.summary(interval="mean_ci", columns="full").iloc[0]
            values = ce.evaluate(runs, ["shd"])["shd"]
            without = [values[runs[groups] != g].mean() for g in runs[groups].unique()]
            n, sizes = len(without), runs[groups].value_counts()
            error = np.sqrt((n - 1) / n * np.square(without - np.mean(without)).sum())
            half = scipy.stats.t.ppf(0.975, max(1, sizes.sum() ** 2 / (sizes**2).sum() - 1)) * error
            np.testing.assert_allclose([row["low"], row["high"]], [values.mean() - half, values.mean() + half])
    single = (
        runs.ceval.cube(["shd"], by=["s"], n_draws=None, cluster=None)
        .ceval.summary(interval="mean_ci", columns="full")
        .iloc[0]
    )
    half = scipy.stats.t.ppf(0.975, 12) * values.std() / np.sqrt(13)
    np.testing.assert_allclose([single["low"], single["high"]], [values.mean() - half, values.mean() + half])


def test_a_mean_without_interval_has_a_reason():
    one = {"truth": ["A -> B; C"] * 3, "estimate": ["A -> B; C", "A; B; C", "B -> C; A"], "s": "one cluster"}
    same = {"truth": ["A -> B; C", "A; B -> C", "A -> C; B"], "estimate": ["A; B; C"] * 3, "s": "no variation"}
    alone = {"truth": ["A -> B; C"], "estimate": ["A; B; C"], "s": "one run"}
    runs = pd.concat([pd.DataFrame(x) for x in (one, same, alone)], ignore_index=True)
    for n_draws in (None, 20):
        found = runs.ceval.cube(["shd"], by=["s"], n_draws=n_draws, rng=1).ceval.summary(
            interval="mean_ci", columns="full"
        )
        assert found[["low", "high"]].isna().all(axis=None)
        assert [f"mean without interval: {s}" in note for s, note in zip(found["s"], found["note"], strict=True)] == [
            True
        ] * 3


@pytest.mark.slow
def test_the_interval_of_the_mean_covers_where_clusters_have_unequal_sizes():
    """Bootstraps of data sets: 600 strata with five truths of 6, 3, 2, 1 and 1 runs."""
    rng = np.random.default_rng(2)
    runs = pd.concat([_of_data_sets(rng, [6, 3, 2, 1, 1]).assign(s=i) for i in range(600)], ignore_index=True)
    found = runs.ceval.cube(["adjacency_fp"], by=["s"], n_draws=None).ceval.summary(interval="mean_ci", columns="full")
    assert ((found["low"] <= 4.5) & (found["high"] >= 4.5)).mean() > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 600)
