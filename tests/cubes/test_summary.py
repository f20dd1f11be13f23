"""The summary of a cube."""

import pathlib

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.causal_kl import from_data, metastatic, sample
from causaleval_pd.cubes.schema import FAILED, SCORED
from causaleval_pd.cubes.summary_columns import FURTHER, SHORT
from causaleval_pd.statistics.skill import skill_interval, skill_notes

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
    assert np.isnan(row["skill_low"])
    assert row["note"].startswith("skill: no interval: fewer than 5 clusters; p <= 1e-05")
    assert row["p_se"] == pytest.approx(np.sqrt(row["p_value"] * (1 - row["p_value"]) / 99_999))
    # runs that were cut have the draws alone
    simulated = cube.isel(replicate=[0]).ceval.summary(statistic="mean", columns="full").iloc[0]
    p = simulated["p_value"]
    assert simulated["p_method"] == "simulated" and round(p * 61, 9) == round(p * 61)
    assert simulated["p_se"] == pytest.approx(np.sqrt(p * (1 - p) / 60))
    errors = one["shd_control_mean_se"].where(one["shd"].notnull())
    assert row["control_mean_se"] == pytest.approx(float(np.sqrt((errors**2).sum()) / errors.notnull().sum()))


@pytest.mark.parametrize("by", [0, int, {"algorithm"}])
def test_strata_that_are_no_names_are_refused(cube, by):
    with pytest.raises(TypeError, match="^by must be the names of strata, or 'all', found "):
        cube.ceval.summary(by=by)


def test_failed_and_undefined_runs_are_counted():
    truths = ["A -> B; C", "A -> B; B -> C", "A; B -> C", "A; B; C", "A -> B; C"]
    estimates = ["A -> B; C", None, "A; B; C", "A -> C; B", None]
    table = pd.DataFrame({"algorithm": [*"xxxxy"], "truth": truths, "estimate": estimates})
    found, bare = (ce.cube(table, ["adjacency_precision"], by=["algorithm"], n_draws=n, rng=7) for n in (20, None))
    assert sorted(found["status"].sel(algorithm="x").to_numpy()) == [SCORED, SCORED, SCORED, FAILED]
    row, failed = found.ceval.summary(columns="full").to_dict("records")
    assert (row["n_clusters"], failed["n_clusters"], failed["n_runs"], failed["n_failed"]) == (3, 0, 1, 1)
    assert bare.ceval.summary(columns="full")["n_clusters"].isna().all()
    assert (row["n_runs"], row["n_scored"], row["n_failed"], row["n_undefined"], row["mean"]) == (4, 2, 1, 1, 0.5)


@pytest.mark.slow
def test_published_table_with_its_own_controls():
    table = pd.read_csv(KNOWN / "table5_mtrue30.csv.gz")
    nodes = [str(i) for i in range(10)]
    cells = {c: ce.graph_column(table[c], nodes=nodes) for c in ("truth", "pc", "nc")}
    runs = pd.DataFrame(cells).assign(density="dense")
    ratios = ["adjacency_precision", "adjacency_recall", "orientation_precision", "orientation_recall"]
    names = ["shd", *ratios, "v_structure_recall"]
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
    table = pd.DataFrame({"truth": [guess(m) for m in sizes], "estimate": [guess(2) for _ in sizes]})
    table["stratum"] = np.repeat(np.arange(n_strata), rows)
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
    alone = runs.ceval.cube(["shd"], by=["s"], n_draws=None, cluster=None)
    single = alone.ceval.summary(interval="mean_ci", columns="full").iloc[0]
    half = scipy.stats.t.ppf(0.975, 12) * values.std() / np.sqrt(13)
    np.testing.assert_allclose([single["low"], single["high"]], [values.mean() - half, values.mean() + half])


def test_a_mean_without_interval_has_a_reason():
    one = {"truth": ["A -> B; C"] * 3, "estimate": ["A -> B; C", "A; B; C", "B -> C; A"], "s": "one cluster"}
    same = {"truth": ["A -> B; C", "A; B -> C", "A -> C; B"], "estimate": ["A; B; C"] * 3, "s": "no variation"}
    alone = {"truth": ["A -> B; C"], "estimate": ["A; B; C"], "s": "one run"}
    runs = pd.concat([pd.DataFrame(x) for x in (one, same, alone)], ignore_index=True)
    for n_draws in (None, 20):
        cube = runs.ceval.cube(["shd"], by=["s"], n_draws=n_draws, rng=1)
        found = cube.ceval.summary(interval="mean_ci", columns="full")
        assert found[["low", "high"]].isna().all(axis=None) and len(found) == 3
        for reason, note in zip(found["s"], found["note"], strict=True):
            assert f"mean without interval: {reason}" in note


@pytest.mark.parametrize(("null", "metric"), [("edges", "shd"), ("edges", "sid"), ("permutation", "adjacency_f1")])
def test_perfect_runs_of_one_size_are_better_though_their_effect_does_not_vary(null, metric):
    """Five clusters of one sign have a chance of 1/32: less than .05, more than .01."""
    orders = [np.random.default_rng(i).permutation(list("ABCDEF")) for i in range(9)]
    truths = [f"{a} -> {b}; {b} -> {c}; {c} -> {d}; {e}; {f}" for a, b, c, d, e, f in orders]
    runs = pd.DataFrame({"truth": truths, "estimate": truths, "s": [*"aaaaabbbb"]})
    cube = runs.ceval.cube([metric], by=["s"], null=null, n_draws=199, rng=1)
    table = cube.ceval.summary()
    assert table["ci_low"].isna().all() and (table["skill"] == 1).all() and (table["p_value"] < 0.01).all()
    assert table["verdict"].tolist() == ["better", "not all guesses"]
    assert cube.ceval.summary(level=0.99)["verdict"].tolist() == ["not all guesses"] * 2


@pytest.mark.slow
def test_the_interval_of_the_mean_covers_where_clusters_have_unequal_sizes():
    """Bootstraps of data sets: 600 strata with five truths of 6, 3, 2, 1 and 1 runs."""
    rng = np.random.default_rng(2)
    runs = pd.concat([_of_data_sets(rng, [6, 3, 2, 1, 1]).assign(s=i) for i in range(600)], ignore_index=True)
    found = runs.ceval.cube(["adjacency_fp"], by=["s"], n_draws=None).ceval.summary(interval="mean_ci", columns="full")
    assert ((found["low"] <= 4.5) & (found["high"] >= 4.5)).mean() > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 600)


JOINT = {"estimator": "joint"}
TRUTH = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.2, 0.8]]})


def estimate(first, second=(0.2, 0.8)):
    return ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [0.5, 0.5], "B": [first, second]})


#: networks whose divergence is infinite, undefined or small
INFINITE, UNDEFINED, GOOD, WORSE = (estimate(x) for x in ((1, 0), (np.nan, np.nan), (0.85, 0.15), (0.6, 0.4)))


@pytest.mark.slow
def test_networks_that_exclude_what_is_true_have_infinite_means():
    truth = metastatic()
    cases = {r: sample(truth, 12, rng=r) for r in range(6)}
    runs = pd.DataFrame({"truth": [truth] * 6, "data": list(cases), "arm": "x"})
    runs["estimate"] = [from_data(truth.graph, c, "uniform rows", states=truth) for c in cases.values()]
    context = {"data": ("data", cases), "estimator": "uniform rows"}
    cube = runs.ceval.cube(["ckl1"], by=["arm"], n_draws=20, rng=1, context=context, cluster=None)
    row = cube.ceval.summary(columns="full").iloc[0]
    found = runs.ceval.evaluate(["ckl1"])["ckl1"]
    assert row["infinite_share"] == np.isinf(found).mean() > 0
    assert row["undefined_share"] == 0 and row["mean"] == np.inf
    assert not row["skill"] > -np.inf
    assert "infinite" in row["note"] and row["control_mean"] == np.inf
    limits = cube.ceval.summary(interval="mean_ci", columns="full").iloc[0]
    assert np.isnan(limits["low"]) and "mean without interval: infinite values" in limits["note"]


def test_undefined_runs_are_noted():
    runs = pd.DataFrame({"truth": [TRUTH] * 3, "estimate": [TRUTH, UNDEFINED, TRUTH], "arm": "x"})
    cube = runs.ceval.cube(["kl"], by=["arm"], n_draws=20, rng=1, context=JOINT)
    row = cube.ceval.summary(columns="full").iloc[0]
    assert row["mean"] == 0 and row["n_undefined"] == 1 and row["undefined_share"] == pytest.approx(1 / 3)
    assert row["infinite_share"] == 0 and row["note"].startswith("1 of 3 values undefined, left out")
    # the p-value rests on the two others too
    assert row["n_scored"] == 2


def test_an_infinite_run_has_skill_minus_infinity():
    runs = pd.DataFrame({"truth": [TRUTH] * 4, "estimate": [GOOD, INFINITE, WORSE, GOOD], "arm": "x"})
    cube = runs.ceval.cube(["ckl3"], by=["arm"], n_draws=20, rng=1, context=JOINT, cluster=None)
    row = cube.ceval.summary(columns="full").iloc[0]
    assert row["mean"] == np.inf and row["infinite_share"] == 0.25 and np.isfinite(row["control_mean"])
    assert row["skill"] == -np.inf and np.isnan(row["skill_low"]) and "no interval: infinite losses" in row["note"]
    assert np.isnan(row["p_value"]) and "infinite values; summary(statistic='rank')" in row["note"]
    assert 0 < cube.ceval.summary(statistic="rank", columns="full")["p_value"].item() <= 1
    assert runs.ceval.with_controls(["ckl3"], rng=1, context=JOINT)["ckl3_skill"].tolist()[1] == -np.inf


def test_skills_of_infinite_losses():
    loss, control = [1.0, np.inf, 1.0, 2.0, 1.0, 1.0], [3.0] * 6
    found = skill_interval(loss, control)
    assert found.effect == -np.inf and np.isnan(found.low) and np.isnan(found.high)
    assert skill_notes(loss, control).item() == "no interval: infinite losses"
    assert np.isnan(skill_interval(control, loss).effect)
    assert skill_notes(control, loss).item() == "no skill: the controls have infinite losses"
    assert np.isnan(skill_interval(loss, loss).effect)


@pytest.mark.slow
def test_ranks_put_infinite_values_last_and_leave_out_undefined_ones():
    low, high = [GOOD, GOOD, TRUTH, WORSE, TRUTH], [INFINITE, WORSE, INFINITE, UNDEFINED, INFINITE]
    runs = pd.DataFrame({"truth": [TRUTH] * 10, "estimate": low + high, "arm": ["a"] * 5 + ["b"] * 5})
    runs["run"] = [0, 1, 2, 3, 4] * 2
    cube = runs.ceval.cube(["kl"], by=["arm"], n_draws=None, replicate="run", cluster=None)
    summary = cube.ceval.summary(columns="full").set_index("arm")
    assert summary.loc["b", "mean"] == np.inf and 0 < summary.loc["a", "mean"] < 1
    assert summary.loc["b", "infinite_share"] == 0.75 and summary.loc["b", "undefined_share"] == 0.2
    # four pairs can have a p of .125
    found = cube.ceval.compare("arm", test="wilcoxon", level=0.8, columns="full").iloc[0]
    assert found["n_pairs"] == 4 and found["n_undefined"] == 1 and found["p_value"] == 0.125
    assert "infinite values" in found["note"]
    other = cube.ceval.compare("arm", columns="full").iloc[0]
    assert other["n_undefined"] == 1 and "infinite values" in other["note"]


@pytest.mark.slow
def test_pooled_strata_that_repeat_truths_say_how_to_test_them_with_more_power():
    """An interval that is clear of 0 beside a large p has a note, and what it proposes gives the small one."""
    runs = ce.datasets.runs().query("density < 0.5 and replicate < 10 and algorithm == 'lingam'")
    how = {"n_draws": 99, "rng": 7}
    pooled = runs.ceval.cube(["orientation_f1"], by=["algorithm", "n"], **how).ceval.summary(by=["algorithm"]).iloc[0]
    assert pooled["verdict"] == "cannot be judged" and pooled["ci_low"] > 0
    assert pooled["note"].endswith("twice the mean p has little power: make the cube by these strata")
    made = runs.ceval.cube(["orientation_f1"], by=["algorithm"], **how).ceval.summary().iloc[0]
    assert made["verdict"] == "better" and "note" not in made and made["ci_low"] == pytest.approx(pooled["ci_low"])


def test_runs_that_are_worse_than_guesses_have_a_note():
    """Reversed matrices are the usual cause; the same estimates as they are have no note."""
    rng = np.random.default_rng(7)
    truths = [np.triu(rng.random((8, 8)) < 0.4, 1).astype(int) for _ in range(8)]
    runs = pd.DataFrame({"reading": "reversed"}, index=range(8)).assign(
        truth=ce.graph_column(truths, encoding="row->column"), estimate=ce.graph_column(truths, encoding="column->row")
    )
    both = pd.concat([runs, runs.assign(reading="as meant", estimate=runs["truth"])], ignore_index=True)
    table = both.ceval.cube(["orientation_f1"], by=["reading"], n_draws=999, rng=7).ceval.summary()
    worse = table.set_index("reading")["note"].str.contains("worse than guessing: is something reversed")
    assert worse["reversed"] and not worse["as meant"]


rng = np.random.default_rng(3)
FRAMES = {}
for key in range(4):
    data = pd.DataFrame(rng.normal(size=(300, 5)), columns=list("ABCDE"))
    data["B"] += data["A"]
    data["D"] += data["A"] + data["B"]
    data["E"] += data["D"]
    FRAMES[key] = data
GRAPHS = {
    "good": "A -> B; A -> D; B -> D; D -> E; C",
    "bad": "C -> B; C -> E; B -> E; E -> A; D",
    "full": "A -> B; A -> C; A -> D; A -> E; B -> C; B -> D; B -> E; C -> D; C -> E; D -> E",
    "none": "A; B; C; D; E",
}
RUNS = pd.DataFrame([{"graph": g, "data": k, "estimate": text} for g, text in GRAPHS.items() for k in FRAMES])
HOW = {"by": ["graph"], "truth": None, "context": {"data": ("data", FRAMES)}, "n_draws": 99, "rng": 1}


def words(table, **rows):
    for name, value in rows.items():
        table = table[table[name] == value]
    return table.set_index("graph")["verdict"].to_dict()


@pytest.mark.slow
def test_verdicts_compare_p_values_and_the_smallest_that_is_possible():
    cube = ce.cube(RUNS, ["separation_share", "bic"], null=["permutation", "edges"], **HOW)
    table = ce.summary(cube, columns="full")
    wanted = {"good": "not all guesses", "bad": "not better"}
    wanted |= {"full": "uninformative", "none": "uninformative"}
    assert words(table, metric="bic", null="permutation") == wanted
    assert words(table, metric="separation_share", null="permutation") == wanted
    assert "uninformative" not in set(table.loc[table["null"] == "edges", "verdict"])
    assert "p_floor" not in set(table["metric"]) and cube["p_floor"].notnull().all()


@pytest.mark.slow
def test_dask_tables_have_the_verdicts_of_their_cube():
    """Rows of a data set stand in several partitions."""
    how = HOW | {"null": "permutation", "n_draws": 49}
    whole = ce.summary(ce.cube(RUNS, ["separation_share", "bic"], **how), columns="full")
    turned = RUNS.sample(frac=1, random_state=1).reset_index(drop=True).assign(run=range(len(RUNS)))
    lazy = dd.from_pandas(RUNS.assign(run=range(len(RUNS))), npartitions=5).ceval.cube(
        ["separation_share", "bic"], key="run", replicate="run", **how
    )
    pd.testing.assert_series_equal(lazy.ceval.summary(columns="full")["verdict"], whole["verdict"])
    by_run = how | {"key": "run", "replicate": "run"}
    parts = dd.from_pandas(turned, npartitions=3).ceval.cube(["bic"], **by_run)
    assert words(parts.ceval.summary(columns="full"), metric="bic") == words(whole, metric="bic")
    small = RUNS[RUNS["graph"] == "good"].assign(estimate="A -> B; B -> D", data=0, run=range(4))
    one = dd.from_pandas(small, npartitions=2).ceval.cube(["bic"], **by_run)
    assert one.ceval.summary(columns="full")["verdict"].tolist() == ["uninformative"], "one data set is worth one run"


@pytest.mark.slow
def test_one_run_of_few_nodes_is_uninformative_and_several_data_sets_are_not():
    chain = RUNS[RUNS["graph"] == "good"].assign(estimate="A -> B; B -> D; D -> E; C")
    small = chain.assign(estimate="A -> B; B -> D")
    one = ce.summary(ce.cube(small.head(1), ["bic"], null="permutation", **HOW), columns="full")
    four = ce.summary(ce.cube(small, ["bic"], null="permutation", **HOW), columns="full")
    assert one["verdict"].tolist() == ["uninformative"]  # 2 of 6 relabellings are equivalent
    assert four["verdict"].tolist() != ["uninformative"]  # (1 / 3)^4
    # runs on one data set are relabelled alike, and are worth one
    same = pd.concat([small.head(1)] * 4, ignore_index=True)
    alone = same.assign(run=range(4)).ceval.cube(["bic"], null="permutation", key="run", **HOW).ceval.summary()
    assert alone["verdict"].tolist() == ["uninformative"]


@pytest.mark.slow
def test_other_cubes_are_never_uninformative():
    runs = RUNS.assign(truth=GRAPHS["good"])
    context = {"data": ("data", FRAMES)}
    for table in (
        ce.summary(ce.cube(RUNS, ["bic"], null="edges", **HOW), columns="full"),
        ce.summary(ce.cube(runs, ["shd"], by=["graph"], null="permutation", n_draws=9, rng=1), columns="full"),
        ce.summary(
            ce.cube(runs, ["shd", "bic"], by=["graph"], null="permutation", context=context, n_draws=9, rng=1),
            columns="full",
        ),
    ):
        assert "uninformative" not in set(table["verdict"])


def test_pooled_strata_test_the_runs_that_they_show():
    runs = ce.datasets.runs().query("algorithm == 'pc' and density == 0.4 and replicate < 6")
    cube = runs.ceval.cube(["shd"], by=["algorithm", "n"], n_draws=19, rng=1, control_kind="kind")
    masked = cube.assign(shd=cube["shd"].where(cube["n"] > 100))
    row = masked.ceval.summary(by="n").iloc[0]
    assert np.isnan(row["mean"]) and np.isnan(row["p_value"]) and pd.isna(row["verdict"])
    assert masked.ceval.summary(by="algorithm")["p_value"][0] > cube.ceval.summary(by="algorithm")["p_value"][0]
