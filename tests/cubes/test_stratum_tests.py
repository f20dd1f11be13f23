"""Tests of strata whose runs depend on each other: exact by enumeration, level kept, the same for every cube."""

import itertools

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.cubes.reshaped import read_cube
from causaleval_pd.cubes.stratum_tests import described_p, guessing_limits, stratum_tests
from causaleval_pd.statistics.stratum_statistic import STATISTICS

NODES = list("ABCDEF")
COMBINED = "combinations of draws"
METRICS = ["shd", "adjacency_f1"]


def edges(text):
    return [tuple(part.split(" -> ")) for part in text.split("; ") if "->" in part]


def shd(a, b):
    """Count the pairs of nodes whose edges differ."""
    pairs = itertools.combinations(NODES[:4], 2)
    return sum(((x, y) in a, (y, x) in a) != ((x, y) in b, (y, x) in b) for x, y in pairs)


def relabelled(graph, order):
    new = dict(zip(NODES, order, strict=False))
    return [(new[a], new[b]) for a, b in graph]


@pytest.mark.parametrize("statistic", STATISTICS)
def test_relabelling_is_exact(statistic):
    """Two truths with two estimates each: all 24 x 24 relabellings of clusters, against many draws."""
    truths = ["A -> B; B -> C; D"] * 2 + ["A -> C; B -> D"] * 2
    estimates = ["A -> B; D -> C", "C -> B; A -> D", "A -> B; B -> D; A -> C", "C -> B; A -> D"]
    table = pd.DataFrame({"truth": truths, "estimate": estimates, "s": 0})
    scores = []
    for g in (0, 2):
        rows = [
            [shd(edges(t), relabelled(edges(e), order)) for order in itertools.permutations(NODES[:4])]
            for t, e in zip(table["truth"][g : g + 2], table["estimate"][g : g + 2], strict=True)
        ]
        scores.append(np.array(rows, float))
    columns = [x.sum(axis=0) for x in scores]
    if statistic == "rank":
        columns = [stats.rankdata(x) for x in columns]
    every = columns[0][:, None] + columns[1][None, :]
    exact = (every <= every[0, 0] + 1e-9).mean()
    cube = ce.cube(table, ["shd"], by=["s"], n_draws=20_000, rng=3)
    p = ce.summary(cube, statistic=statistic, columns="full")["p_value"][0]
    assert p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000))
    assert 0.01 < exact < 0.6


def guess(rng, n_edges=4):
    pairs = list(itertools.combinations(rng.permutation(NODES).tolist(), 2))
    chosen = [pairs[i] for i in rng.choice(len(pairs), n_edges, replace=False)]
    return "; ".join([*(f"{a} -> {b}" for a, b in chosen), *NODES])


def studies(rng, n_strata, design):
    """Make guesses: `design(rng)` returns the truths and estimates of one stratum."""
    rows = [(t, e, s) for s in range(n_strata) for t, e in design(rng)]
    return pd.DataFrame(rows, columns=["truth", "estimate", "s"])


def constant(truths, runs):
    return lambda rng: [pair for _ in range(truths) for pair in [(guess(rng), guess(rng))] * runs]


DESIGNS = {
    "1 x 20": constant(1, 20),
    "4 x 5": constant(4, 5),
    "3 algorithms": lambda rng: [
        (t, e) for t in [guess(rng)] for e in [guess(rng, m) for m in (2, 4, 7)] for _ in range(5)
    ],
    "8, 3, 1, 1": lambda rng: [pair for n in (8, 3, 1, 1) for pair in [(guess(rng), guess(rng))] * n],
    "independent": constant(15, 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_level_is_kept_whatever_the_dependence(name):
    table = studies(np.random.default_rng(11), 300, DESIGNS[name])
    how = {"by": ["s"], "n_draws": 99, "rng": 5}
    cube = ce.cube(table, ["shd"], **how)
    for statistic in STATISTICS:
        p = ce.summary(cube, "shd", statistic=statistic)["p_value"]
        for alpha in (0.05, 0.01):
            assert (p <= alpha + 1e-9).sum() <= stats.binom.ppf(0.999, 300, alpha)
    if name != "independent":
        single = ce.cube(table, ["shd"], cluster=None, **how)
        assert (ce.summary(single, "shd")["p_value"] <= 0.05).mean() > 0.12


def dependent_runs():
    """Strata with and without repeats, truths in several strata, a failed run, and rows in no order."""
    rng = np.random.default_rng(8)
    truths = [guess(rng) for _ in range(5)]
    rows = [(t, guess(rng, 3 + i), "a") for t in truths[:3] for i in range(3)]
    rows += [(t, guess(rng), "b") for t in truths] + [(truths[0], guess(rng, 6), "c")] * 2
    table = pd.DataFrame(rows, columns=["truth", "estimate", "s"]).sample(frac=1, random_state=2)
    table["g"] = table["truth"].map({t: i // 2 for i, t in enumerate(truths)})
    table.loc[0, "estimate"] = None
    return table


HOW = {"by": ["s"], "n_draws": 40, "rng": 6}
BY_G = "relabelling by column g"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cluster", "null", "words"),
    [
        ("truth", "edges", {f"relabelling by truth, {COMBINED}", f"simulated, {COMBINED}", "relabelling by truth"}),
        ("truth", "orientation", {"twice the mean p by truth", f"simulated, {COMBINED}"}),
        ("g", ["permutation", "degree"], {f"{BY_G}, {COMBINED}", BY_G, "twice the mean p by column g"}),
        (None, "edges", {f"simulated, {COMBINED}"}),
    ],
)
def test_the_order_of_rows_changes_no_test(cluster, null, words):
    table = dependent_runs()
    how = HOW | {"cluster": cluster, "null": null}
    kept, turned = (ce.cube(x, ["shd"], **how) for x in (table, table[::-1]))
    for statistic, missing in itertools.product(STATISTICS, ("worst", "drop")):
        how = {"statistic": statistic, "missing": missing, "columns": "full"}
        first, last = (x.ceval.summary(**how) for x in (kept, turned))
        pd.testing.assert_frame_equal(first, last, rtol=1e-9)
    assert set(kept.ceval.summary(columns="full")["p_method"]) == words


@pytest.mark.slow
def test_strata_without_repeats_are_tested_by_their_own_draws():
    table = dependent_runs()
    cubes = (ce.cube(table, METRICS, cluster=c, **HOW) for c in ("truth", None))
    clustered, single = (cube.ceval.summary(columns="full") for cube in cubes)
    same = clustered["s"] == "b"
    assert clustered.loc[same, "p_value"].tolist() == single.loc[same, "p_value"].tolist()
    assert clustered["n_clusters"].tolist() != single["n_clusters"].tolist()
    assert single["n_clusters"].tolist() == single["n_scored"].tolist()
    # control means are those of the null model, whatever the clusters
    for column in ("control_mean", "skill", "control_as_good_share"):
        np.testing.assert_allclose(clustered[column], single[column], rtol=1e-12)


def test_strata_that_their_null_model_does_not_vary_have_no_p_value():
    # an orientation has the estimate's own skeleton
    cube = ce.cube(dependent_runs(), ["adjacency_f1"], **HOW | {"null": "orientation"})
    table = cube.ceval.summary(columns="full")
    assert table["p_value"].isna().all() and (table["p_method"] == "none: no variation under the null").all()


def test_one_cluster_all_perfect_and_all_equal():
    truth = "A -> B; B -> C; C -> D; E -> F; A -> E"
    table = pd.DataFrame({"truth": truth, "estimate": [truth] * 4 + ["A; B; C; D; E; F"] * 4, "s": [0] * 4 + [1] * 4})
    found = ce.cube(table, ["adjacency_recall"], **HOW).ceval.summary(columns="full")
    assert found["n_clusters"].tolist() == [1, 1] and found["n_no_information"].tolist() == [0, 4]
    assert found["p_value"][0] <= 3 / 41 and np.isnan(found["p_value"][1])
    assert found["p_method"].tolist() == ["relabelling by truth", "none: no variation under the null"]


def test_strata_without_a_value_have_no_p_and_the_reason():
    table = pd.DataFrame({"truth": "A -> B; B -> C", "estimate": ["A -- B; B -- C", None, None], "s": [0, 1, 1]})
    cube = ce.cube(table, ["orientation_precision"], **HOW | {"null": "permutation"})
    found = cube.ceval.summary(columns="full")
    assert found["n_clusters"].tolist() == [1, 0] and found["p_value"].isna().all()
    assert (found["p_method"] == "none: no run has a value").all()
    assert found["note"][0] == "all 1 values undefined"


@pytest.mark.slow
def test_cuts_along_replicate_follow_the_draws():
    first = ce.cube(dependent_runs(), METRICS, **HOW).isel(replicate=slice(0, 5))
    found = stratum_tests(first, "shd")
    assert found.columns.n_rows.sum() == (first["status"] == 1).sum()


@pytest.mark.slow
def test_cubes_are_stored_and_put_together(tmp_path):
    table = dependent_runs()
    whole = ce.cube(table, METRICS, **HOW)
    whole.to_netcdf(tmp_path / "cube.nc")
    with xr.open_dataset(tmp_path / "cube.nc") as read:
        pd.testing.assert_frame_equal(read.load().ceval.summary(columns="full"), whole.ceval.summary(columns="full"))
    parts = [ce.cube(part, METRICS, **HOW) for _, part in table.groupby("s")]
    joined = ce.concat(parts, "s")
    pd.testing.assert_frame_equal(joined.ceval.summary(columns="full"), whole.ceval.summary(columns="full"), rtol=1e-12)
    other = ce.cube(table.iloc[:4], METRICS, cluster=None, **HOW)
    with pytest.raises(ValueError, match="control_cluster"):
        ce.concat([whole, other], "replicate")


@pytest.mark.slow
def test_further_runs_of_a_cluster_are_refused():
    table = dependent_runs().query("s == 'a'").dropna()
    halves = [ce.cube(part, ["shd"], **HOW) for part in (table.iloc[::2], table.iloc[1::2])]
    with pytest.raises(ValueError, match="further runs of a cluster"):
        ce.concat(halves, "replicate")
    by_truth = [ce.cube(part, ["shd"], **HOW) for _, part in table.groupby("truth")]
    assert ce.concat(by_truth, "replicate").ceval.summary(columns="full")["n_clusters"].tolist() == [3]


@pytest.mark.slow
def test_networks_are_relabelled_jointly():
    """Copies of an estimate meet the same draws; graph metrics of networks are relabelled with them."""
    network = ce.causal_kl.metastatic()
    turned = ce.causal_kl.metastatic_mutations()["rev.in.weak"]
    table = pd.DataFrame({"truth": [network] * 3, "estimate": [turned, turned, network], "s": 0})
    for null in ("edges", "permutation"):
        how = {**HOW, "context": {"estimator": "joint"}}
        cube = ce.cube(table, ["edit_distance", "shd"], null=null, **how)
        draws = cube["edit_distance_relabelled"].to_numpy()[0]
        np.testing.assert_array_equal(draws[0], draws[1])
        assert not np.array_equal(draws[0], draws[2])
        assert set(cube.ceval.summary(columns="full")["p_method"]) == {"relabelling by truth"}
        copies = cube["shd_relabelled"].to_numpy()[0]
        np.testing.assert_array_equal(copies[0], copies[1])


@pytest.mark.slow
def test_formulas_exchange_the_factors_of_a_cluster_alike():
    truth = "A*b+C<->E"
    estimates = ["A*b<->E", "A*b<->E", "C+D<->E", "A+D<->E"]
    table = pd.DataFrame({"truth": truth, "estimate": estimates, "s": [0, 0, 1, 1]})
    for null in ("relabel", "complexity"):
        how = HOW | {"n_draws": 199, "null": null, "context": {"domains": {"D": [0, 1]}}}
        kept = ce.cube(table, ["correctness", "completeness"], **how)
        found = kept.ceval.summary(columns="full")
        assert set(found["p_method"]) == {"relabelling by truth"} and (found["n_clusters"] == 1).all()
        draws = kept["completeness_relabelled"].to_numpy()
        # copies of one estimate are relabelled alike
        np.testing.assert_array_equal(draws[0, 0], draws[0, 1])


def test_answers_are_clustered_by_a_column():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"truth": rng.random(24) < 0.5, "estimate": rng.random(24) < 0.5})
    table = table.assign(q=np.arange(24) // 3, s=0)
    cubes = (ce.cube(table, ["answer_accuracy"], cluster=c, **HOW) for c in ("truth", "q"))
    single, by_question = (cube.ceval.summary(columns="full") for cube in cubes)
    assert single["p_method"][0] == "simulated" and single["n_clusters"][0] == 24
    assert by_question["p_method"][0] == "relabelling by column q" and by_question["n_clusters"][0] == 8
    assert by_question["p_value"][0] > single["p_value"][0] / 2


@pytest.mark.slow
def test_p_does_not_hang_on_rounding_where_the_runs_of_a_cluster_cancel():
    # of an edge that both share with a truth, either the graph or its reversal has the direction
    forward = "A -> B; C -> B; C -> D; E -> D; E -> A; F -> A"
    backward = "B -> A; B -> C; D -> C; D -> E; A -> E; A -> F"
    truths = ["A -> C; C -> E; E -> B; B -> F; A -> D; D -> E", "F -> B; D -> F; D -> B; A -> D; A -> C; E -> C"]
    table = pd.DataFrame({"truth": np.repeat(truths, 2), "estimate": [forward, backward] * 2, "s": 0})
    for seed in (1, 2, 3):
        cube = ce.cube(table, ["orientation_precision"], by=["s"], n_draws=200, rng=seed)
        assert cube.ceval.summary(columns="full")["p_value"].tolist() == [1.0]


def test_means_beyond_the_limits_of_guessing_are_those_with_a_small_p():
    """Means of many strata about the level, with ties, from combinations of draws and from draws side by side."""
    rng = np.random.default_rng(3)

    rows = []
    for stratum in range(60):
        for _ in range(1 if stratum % 7 == 0 else 5):
            truth = guess(rng)
            rows.append({"s": stratum, "truth": truth, "estimate": guess(rng, 5) if rng.random() < 0.75 else truth})
    made = pd.DataFrame(rows).ceval.cube(["shd", "adjacency_f1"], by=["s"], n_draws=99, rng=7)
    # draws of clusters combined, and draws side by side
    for cube, metric in itertools.product((made, made.assign_attrs(control_combined="[]")), ("shd", "adjacency_f1")):
        p = cube.ceval.summary(metric, columns="full")["p_value"].to_numpy()
        for alpha in (0.05, 0.2):
            low, high = guessing_limits(read_cube(cube), metric, alpha)
            np.testing.assert_array_equal(low < 0 if metric == "shd" else high > 0, p <= alpha)
        assert 5 < (p <= 0.05).sum() < 55


def test_draws_that_are_not_relabelled_jointly_show_no_worse_guesses():
    """Where truths repeat; as independent runs these are worse than guesses."""
    runs = pd.DataFrame(
        {"truth": "A -> B; B -> C; C -> D; A -> E", "estimate": "B -> A; C -> B; D -> C; E -> A"}, range(6)
    )
    for cluster, worse in ((None, True), ("truth", False)):
        cube = runs.assign(k="x").ceval.cube(["shd"], by=["k"], null="orientation", cluster=cluster, n_draws=99, rng=1)
        [note] = cube.ceval.summary(columns="full")["note"]
        assert ("worse than guessing" in note) == worse


@pytest.mark.filterwarnings("ignore:2 runs failed")
def test_draws_of_strata_whose_failed_runs_count_are_not_combined():
    runs = ce.datasets.runs().query("density == 0.2 and n == 400").reset_index(drop=True)
    runs.loc[:1, "estimate"] = None
    cube = runs.ceval.cube(["shd"], by=["algorithm"], n_draws=39, rng=1)
    for missing, combined in (("drop", [True, True, True]), ("worst", [False, True, False])):
        table = ce.summary(cube, missing=missing, columns="full")
        assert table["p_method"].str.contains(COMBINED).tolist() == combined
        assert table["n_failed"].tolist() == [1, 0, 1]


@pytest.fixture(scope="module")
def six_replicates():
    runs = ce.datasets.runs().query("density == 0.2 and n == 400 and replicate < 6")
    return ce.cube(runs, ["adjacency_tp", "shd"], by=["algorithm"], n_draws=19, rng=1)


def test_p_values_that_no_draw_reached_are_at_the_floor(six_replicates):
    tests = stratum_tests(six_replicates.assign_attrs(control_combined="[]"), "shd")
    able = np.array([True, True, False])
    found = described_p(tests, np.array([0.05, 0.1, np.nan]), "truth", able)
    assert found.at_floor.tolist() == [True, False, False]
    assert found.floor_flags.tolist() == [True, False, pd.NA]
    assert found.method.tolist() == ["simulated", "simulated", None]
    assert found.se[1] == pytest.approx((0.1 * 0.9 / 19) ** 0.5)


@pytest.mark.slow
def test_runs_that_are_joined_are_tested_as_those_of_one_cube():
    runs = ce.datasets.runs().query("density == 0.2 and n == 400 and replicate < 6")
    how = {"by": ["algorithm"], "replicate": "replicate", "n_draws": 19, "rng": 1}
    metrics = ["adjacency_tp", "shd"]
    halves = [ce.cube(runs.query(half), metrics, **how) for half in ("replicate < 3", "replicate >= 3")]
    by_xarray = xr.concat(halves, "replicate", data_vars="all", join="outer", coords="minimal", compat="override")
    whole = ce.summary(ce.cube(runs, metrics, **how), columns="full")["p_value"]
    for joined in (ce.concat(halves, "replicate"), by_xarray):
        pd.testing.assert_series_equal(ce.summary(joined, columns="full")["p_value"], whole)
