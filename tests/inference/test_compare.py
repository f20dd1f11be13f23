"""Tables of tests by stratum: against controls, between levels, with failed runs, wrong pairs and odd names."""

import inspect
import itertools

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_ind, ttost_paired

import causaleval_pd as ce
from causaleval_pd.inference import compare as comparison
from causaleval_pd.statistics.max_t import joint_max_t
from causaleval_pd.statistics.multiplicity import adjust as adjusted
from causaleval_pd.statistics.paired_tests import paired_t

NO_RUN, SCORED, FAILED = 0, 1, 2
COLUMNS = [*comparison.SHORT, *comparison.FURTHER]


def compare(cube, dim, metrics=None, **how):
    return comparison.compare(cube, dim, metrics, **{"columns": "full"} | how)


def by_stratum(cube, dim, **settings):
    return compare(cube, dim, by="all", **settings)


def row_of(table, **where):
    found = table[np.logical_and.reduce([table[k] == v for k, v in where.items()])]
    assert len(found) == 1
    return found.iloc[0]


@pytest.mark.parametrize("verb", [ce.summary, lambda cube, **k: compare(cube, "algorithm", **k)])
def test_cubes_are_not_changed(ragged, verb):
    before = ragged.copy(deep=True)
    verb(ragged, missing="worst")
    xr.testing.assert_identical(ragged, before)


def hodges_lehmann_by_hand(d):
    return np.median([(d[i] + d[j]) / 2 for i in range(len(d)) for j in range(i, len(d))])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "theirs", "size"),
    [
        ("wilcoxon", lambda d: scipy_stats.wilcoxon(d[d != 0]) if d.any() else None, hodges_lehmann_by_hand),
        ("t", lambda d: scipy_stats.ttest_1samp(d, 0), np.mean),
    ],
)
def test_comparisons_equal_scipy_pair_by_pair(ragged, test, theirs, size):
    table = by_stratum(ragged, "algorithm", test=test)
    assert list(table.columns) == ["density", *COLUMNS]
    assert len(table) == 12
    for row in table.itertuples():
        a, b = (ragged.sel(algorithm=x, density=row.density) for x in row.comparison.split(" - "))
        difference = (a[row.metric] - b[row.metric]).to_numpy()
        shared = ((a["status"] != NO_RUN) & (b["status"] != NO_RUN)).to_numpy()
        failed = shared & ((a["status"] == FAILED) | (b["status"] == FAILED)).to_numpy()
        defined = difference[~np.isnan(difference)]
        assert row.n_pairs == len(defined)
        assert row.n_failed == failed.sum()
        assert row.n_pairs + row.n_failed + row.n_undefined == shared.sum()
        assert row.effect == pytest.approx(size(defined), abs=1e-12)
        if test == "t":
            interval = scipy_stats.ttest_1samp(defined, 0).confidence_interval()
            np.testing.assert_allclose([row.ci_low, row.ci_high], interval, atol=1e-12)
        elif len(set(np.abs(defined[defined != 0]))) == len(defined):
            # without ties and zeros, 0 lies outside the interval where the test rejects
            assert (row.p_value <= 0.05) == (not row.ci_low <= 0 <= row.ci_high)
        assert row.p_value == pytest.approx(theirs(defined).pvalue, rel=1e-9)
        assert row.test == test and row.alternative == "two-sided" and pd.isna(row.null)


@pytest.mark.slow
def test_each_metric_is_corrected_by_itself(ragged):
    for by in (None, "all"):
        usual = compare(ragged, "algorithm", by=by)
        for _, part in usual.groupby("metric"):
            np.testing.assert_allclose(part["p_adjusted"], multipletests(part["p_value"], method="holm")[1])
    within = by_stratum(ragged, "algorithm", adjust="bh")
    for _, part in within.groupby("metric"):
        np.testing.assert_allclose(part["p_adjusted"], multipletests(part["p_value"], method="fdr_bh")[1])
    by_one = by_stratum(ragged, "algorithm", adjust="bonferroni")
    np.testing.assert_allclose(by_one["p_adjusted"], np.minimum(1, by_one["p_value"] * 6))


def test_reference_is_subtracted(ragged):
    table = by_stratum(ragged, "algorithm", reference="lingam", metrics="shd")
    assert table["comparison"].unique().tolist() == ["ges - lingam", "pc - lingam"]
    all_pairs = by_stratum(ragged, "algorithm", metrics="shd")
    mine = row_of(table, comparison="pc - lingam", density=0.5)
    theirs = row_of(all_pairs, comparison="lingam - pc", density=0.5)
    assert mine["effect"] == -theirs["effect"]
    assert (mine["ci_low"], mine["ci_high"]) == (-theirs["ci_high"], -theirs["ci_low"])
    assert mine["p_value"] == theirs["p_value"]


def test_numbers_can_be_levels_and_reference(ragged):
    table = by_stratum(ragged, "density", reference=0.2, metrics="shd")
    assert table["comparison"].unique().tolist() == ["0.5 - 0.2"]
    assert table["algorithm"].tolist() == ["ges", "lingam", "pc"]


def test_one_sided_comparisons(ragged):
    two, less, greater = (
        by_stratum(ragged, "algorithm", test="t", alternative=x)["p_value"] for x in ("two-sided", "less", "greater")
    )
    np.testing.assert_allclose(less + greater, 1)
    np.testing.assert_allclose(two, 2 * np.minimum(less, greater))


@pytest.mark.slow
def test_order_of_dimensions_does_not_matter(ragged):
    turned = ragged.transpose("replicate", "density", "draw", "algorithm")
    for by in (None, "all"):
        expected = compare(ragged, "algorithm", by=by)
        pd.testing.assert_frame_equal(compare(turned, "algorithm", by=by), expected, rtol=1e-12)
    pd.testing.assert_frame_equal(ce.summary(ragged, columns="full"), ce.summary(turned, columns="full"))


@pytest.mark.slow
def test_cubes_from_files_give_the_same(ragged, tmp_path):
    ragged.to_zarr(tmp_path / "cube.zarr", zarr_format=2)
    with xr.open_zarr(tmp_path / "cube.zarr") as back:
        for verb in (ce.summary, lambda cube, **k: compare(cube, "algorithm", reference="pc", **k)):
            for missing in ("drop", "worst"):
                pd.testing.assert_frame_equal(verb(ragged, missing=missing), verb(back, missing=missing))


def test_infinite_values_are_ranked_but_have_no_mean(make_cube):
    values = np.array([[np.inf, 1.0, 2.0, 3.0, np.inf, 1, 2], [np.inf, 2.0, 4.0, 6.0, 1.0, 6, 8]])
    cube = make_cube({"a": ["x", "y"]}, {"m": (values, "minimize")})
    row = compare(cube, "a", test="wilcoxon", level=0.5).iloc[0]
    assert row["n_pairs"] == 7 and np.isnan(compare(cube, "a")["effect"].iloc[0])
    assert compare(cube, "a")["note"].item() == (
        "no interval: infinite values; test='wilcoxon' ranks them beyond all others"
    )
    clipped = compare(cube.assign(m=cube["m"].clip(max=50.0)), "a", test="wilcoxon", level=0.5)
    assert row["p_value"] == clipped["p_value"].iloc[0]


def test_a_cube_of_one_dimension(ragged):
    table = by_stratum(ragged.isel(density=0), "algorithm", metrics="shd")
    assert list(table.columns) == COLUMNS and len(table) == 3


def test_failed_runs_lose_comparisons_counted_as_worst(make_cube):
    a, b = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([2.0, 3.0, 4.0, 6.0, 7.0])
    status = [[SCORED, FAILED, SCORED, NO_RUN, FAILED], [SCORED, SCORED, FAILED, SCORED, FAILED]]
    cube = make_cube({"algorithm": ["x", "y"]}, {"m": (np.stack([a, b]), "minimize")}, status=status)
    dropped = compare(cube, "algorithm").iloc[0]
    assert (dropped["n_pairs"], dropped["n_failed"], dropped["effect"]) == (1, 3, -1)
    worst = compare(cube, "algorithm", missing="worst").iloc[0]
    # the worst value of both algorithms, 6, is what failed runs get: differences -1, 6 - 3, 3 - 6, 0
    assert (worst["n_pairs"], worst["n_failed"]) == (4, 3)
    assert worst["effect"] == np.mean([-1, 3, -3, 0])


def test_worst_value_is_the_end_of_a_finite_range(make_cube):
    values, status = np.array([[0.5, 0.6], [0.4, 0.9]]), [[SCORED, FAILED], [SCORED, SCORED]]
    cube = make_cube({"algorithm": ["x", "y"]}, {"f1": (values, "maximize")}, status=status)
    row = compare(cube, "algorithm", missing="worst").iloc[0]
    assert row["effect"] == pytest.approx((0.1 - 0.9) / 2)


def test_metrics_best_at_their_optimum_are_compared_by_distance(make_cube):
    values = np.array([[2.1, 1.8, 2.2, 2.0], [0.0, 5.0, 3.5, 0.2]])
    cube = make_cube({"algorithm": ["x", "y"]}, {"m": (values, "zero")})
    row = compare(cube, "algorithm").iloc[0]
    distances = np.abs(values - 2)
    assert row["effect"] == pytest.approx((distances[0] - distances[1]).mean())
    assert row["p_value"] == pytest.approx(scipy_stats.ttest_rel(*distances).pvalue)


def test_descriptions_can_be_compared_but_have_no_worst_value(make_cube):
    cube = make_cube({"algorithm": ["x", "y"]}, {"m": (np.array([[0.1, 0.2], [0.3, 0.5]]), "none")})
    assert compare(cube, "algorithm")["effect"].iloc[0] == pytest.approx(-0.25)
    with pytest.raises(ValueError, match=r"m has no direction, so failed runs have no worst value"):
        compare(cube, "algorithm", missing="worst")


def test_wrong_pairs_are_an_error(make_cube):
    truth = np.array([[[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [4, 9, 6]]])
    strata = {"algorithm": ["pc", "ges"], "density": [0.2, 0.5]}
    cube = make_cube(strata, {"m": (np.ones((2, 2, 3)), "minimize")}, truth=truth)
    message = (
        r"at density 0\.5, replicate 1, algorithm pc and ges have different truths \(1 such pairs\), "
        r"so they are not pairs; give runs on one truth the same replicate .* test='welch_t'"
    )
    with pytest.raises(ValueError, match=message):
        compare(cube, "algorithm")
    with pytest.raises(ValueError, match=r"density 0\.2 and 0\.5 have different truths"):
        compare(cube, "density")
    assert len(by_stratum(cube, "algorithm", test="welch_t")) == 2


def test_missing_truths_are_failed_runs_and_no_wrong_pairs(make_cube):
    truth, status = [[1, 0, 3], [1, 2, 3]], [[SCORED, FAILED, SCORED], [SCORED] * 3]
    cube = make_cube({"a": ["x", "y"]}, {"m": (np.ones((2, 3)), "minimize")}, status=status, truth=truth)
    row = compare(cube, "a").iloc[0]
    assert (row["n_pairs"], row["n_failed"], row["p_value"]) == (2, 1, 1.0)


def test_levels_without_common_replicates_are_no_pairs(make_cube):
    status = [[SCORED, SCORED, NO_RUN, NO_RUN], [NO_RUN, NO_RUN, SCORED, SCORED]]
    cube = make_cube({"a": ["x", "y"]}, {"m": (np.ones((2, 4)), "minimize")}, status=status)
    with pytest.raises(ValueError, match=r"the levels of 'a' have no replicate in common; .* test='welch_t'"):
        compare(cube, "a")
    row = compare(cube, "a", test="welch_t").iloc[0]
    assert (row["n_pairs"], row["p_value"]) == (4, 1.0)


@pytest.mark.parametrize("on", ["metric", "excess", "skill"])
def test_runs_without_a_partner_are_named(on):
    """In rows that have pairs; these runs are no part of the result."""
    runs = ce.datasets.runs().query("density == 0.2 and n == 400 and algorithm != 'ges'")
    fewer = runs[(runs["algorithm"] == "pc") | (runs["replicate"] < 12)]
    tables = []
    for part in (fewer, runs[runs["replicate"] < 12]):
        cube = part.ceval.cube(["shd"], by=["algorithm"], replicate="replicate", n_draws=30, rng=1)
        tables.append(compare(cube, "algorithm", on=on))
    assert tables[0]["note"].tolist() == ["8 runs without a partner left out"] and tables[1]["note"].isna().all()
    pd.testing.assert_frame_equal(*(table.drop(columns="note") for table in tables))


def test_days_are_named_without_the_time(make_cube):
    days = pd.to_datetime(["2024-01-01", "2024-01-02"])
    cube = make_cube({"day": days}, {"m": (np.arange(12.0).reshape(2, 6), "minimize")})
    assert compare(cube, "day")["comparison"].tolist() == ["2024-01-01 - 2024-01-02"]
    assert compare(cube, "day", reference="2024-01-01")["comparison"].tolist() == ["2024-01-02 - 2024-01-01"]


def test_unpaired_comparisons_equal_scipy(ragged):
    table = by_stratum(ragged, "density", test="welch_t")
    for row in table.itertuples():
        cells = [ragged[row.metric].sel(algorithm=row.algorithm, density=x).to_numpy() for x in (0.2, 0.5)]
        a, b = (x[~np.isnan(x)] for x in cells)
        theirs = scipy_stats.ttest_ind(a, b, equal_var=False)
        assert row.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
        assert row.effect == pytest.approx(a.mean() - b.mean())
        assert row.n_pairs == len(a) + len(b)
        np.testing.assert_allclose([row.ci_low, row.ci_high], theirs.confidence_interval())


def test_sign_vectors_are_the_same_in_every_call(make_cube):
    """Sign vectors of more than 12 truths are drawn."""
    values = np.random.default_rng(1).normal(size=(3, 14)) + np.array([[0], [0.5], [0.6]])
    cube = make_cube({"algorithm": ["x", "y", "z"]}, {"m": (values, "minimize")})
    first, again = (compare(cube, "algorithm", test="max_t") for _ in range(2))
    pd.testing.assert_frame_equal(first, again, check_exact=True)


def test_one_pair_and_no_pair_are_results(make_cube):
    values = np.array([[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]])
    status = [[[SCORED], [FAILED], [SCORED]], [[SCORED], [SCORED], [NO_RUN]]]
    cube = make_cube({"algorithm": ["x", "y"], "n": [10, 20, 30]}, {"m": (values, "minimize")}, status=status)
    table = by_stratum(cube, "algorithm")
    assert table["n"].tolist() == [10, 20] and table["test"].tolist() == ["t", "t"]
    assert table[["p_value", "p_adjusted"]].isna().all(axis=None)
    assert table["n_pairs"].tolist() == [1, 0] and table["n_failed"].tolist() == [0, 1]
    np.testing.assert_array_equal(table["effect"], [-3.0, np.nan])
    assert table["note"][1] == "no pair has both values"
    assert set(by_stratum(cube, "algorithm", test="max_t")["note"][1:]) == {"no block has a value of every level"}
    assert "a level has no value" in set(by_stratum(cube, "algorithm", test="welch_t")["note"])


@pytest.mark.parametrize("test", ["t", "welch_t"])
@pytest.mark.parametrize("missing", ["drop", "worst"])
def test_levels_that_always_failed_are_undefined(test, missing, make_cube):
    cube = make_cube({"algorithm": ["x", "y"]}, {"m": (np.ones((2, 3)), "minimize")}, status=[[FAILED] * 3] * 2)
    row = compare(cube, "algorithm", test=test, missing=missing).iloc[0]
    assert np.isnan(row["p_value"]) and row["n_pairs"] == 0
    assert row["n_failed"] == (3 if test == "t" else 6) and row["n_undefined"] == 0


def test_no_rows_keep_their_columns(ragged):
    table = by_stratum(ragged.isel(density=slice(0)), "algorithm")
    assert list(table.columns) == ["density", *COLUMNS] and len(table) == 0


def test_one_level_is_no_comparison_and_true_no_margin(ragged):
    with pytest.raises(ValueError, match="'algorithm' has 1 level, and a comparison needs two"):
        by_stratum(ragged.isel(algorithm=[0]), "algorithm")
    with pytest.raises(TypeError, match="margin must be a number, or one number per metric, found True"):
        by_stratum(ragged, "algorithm", test="t", alternative="equivalent", margin=True)


def pair_of(cube, row):
    """Return the defined pairs of a row of a comparison of algorithms."""
    a, b = (cube[row.metric].sel(algorithm=x, density=row.density).to_numpy() for x in row.comparison.split(" - "))
    both = ~np.isnan(a) & ~np.isnan(b)
    return a[both], b[both]


def test_equivalence_is_two_one_sided_t_tests(ragged):
    table = by_stratum(ragged, "algorithm", test="t", alternative="equivalent", margin={"shd": 4.0, "f1": 0.2})
    for row in table.itertuples():
        margin = 4.0 if row.metric == "shd" else 0.2
        p, _, _ = ttost_paired(*pair_of(ragged, row), -margin, margin)
        assert row.p_value == pytest.approx(p)
        assert row.alternative == "equivalent"
    narrow = by_stratum(ragged, "algorithm", test="t", alternative="equivalent", margin=1e-6)
    assert (narrow["p_value"] >= 0.4).all()


@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_equivalence_shifts_every_test(ragged, test):
    given = {"test": test, "metrics": "shd"}
    equal = by_stratum(ragged, "algorithm", alternative="equivalent", margin=2.5, **given)
    up, down = (ragged.assign(shd=ragged["shd"] + s * (ragged["algorithm"] == "ges") * 2.5) for s in (1, -1))
    for cube in (up, down):
        cube["shd"].attrs = ragged["shd"].attrs
    above = by_stratum(up, "algorithm", alternative="greater", **given)
    below = by_stratum(down, "algorithm", alternative="less", **given)
    rows = equal["comparison"].str.startswith("ges")
    assert rows.sum() == 4
    expected = np.maximum(above["p_value"], below["p_value"])[rows]
    np.testing.assert_allclose(equal["p_value"][rows], expected, rtol=1e-9)


def test_unpaired_equivalence(ragged):
    table = by_stratum(ragged, "density", test="welch_t", alternative="equivalent", margin=3.0, metrics="shd")
    for row in table.itertuples():
        a, b = (ragged["shd"].sel(algorithm=row.algorithm, density=x).to_numpy() for x in (0.2, 0.5))
        p, _, _ = ttost_ind(a[~np.isnan(a)], b[~np.isnan(b)], -3.0, 3.0, usevar="unequal")
        assert row.p_value == pytest.approx(p)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_mcnemar_is_the_exact_test_of_statsmodels(alternative, make_cube):
    rng = np.random.default_rng(4)
    values = (rng.random((3, 5, 30)) < np.array([0.3, 0.5, 0.8])[:, None, None]).astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    cube = make_cube({"algorithm": ["x", "y", "z"], "n": np.arange(5)}, {"right": (values, "maximize")})
    for row in by_stratum(cube, "algorithm", test="mcnemar", alternative=alternative).itertuples():
        a, b = (cube["right"].sel(algorithm=x, n=row.n).to_numpy() for x in row.comparison.split(" - "))
        b, c = int(((a == 1) & (b == 0)).sum()), int(((a == 0) & (b == 1)).sum())
        if alternative == "two-sided":
            expected = mcnemar([[0, b], [c, 0]], exact=True).pvalue
        else:
            expected = scipy_stats.binomtest(b, b + c, alternative=alternative).pvalue
        assert row.p_value == pytest.approx(expected)
        assert row.statistic == b and row.test == "mcnemar"


@pytest.mark.parametrize("test", ["wilcoxon", "t", "max_t"])
def test_groups_of_pairs_count_once(test, make_cube):
    rng = np.random.default_rng(8)
    apart = rng.normal(0.6, 1, (2, 8))
    # five copies of every pair add nothing
    copies = np.repeat(apart, 5, axis=1)
    truth = np.tile(np.repeat(np.arange(1, 9), 5), (2, 1))
    cube = make_cube({"a": ["x", "y"]}, {"m": (copies, "minimize")}, truth=truth)
    single = make_cube({"a": ["x", "y"]}, {"m": (apart, "minimize")})
    every_run = cube.assign_attrs(control_cluster="none")
    grouped, alone, naive = (compare(x, "a", test=test) for x in (cube, single, every_run))
    for name in ("p_value", "effect", "ci_low", "ci_high"):
        np.testing.assert_allclose(grouped[name], alone[name], rtol=1e-9)
    assert (grouped["n_pairs"].iloc[0], grouped["n_truths"].iloc[0], naive["n_truths"].iloc[0]) == (40, 8, 40)
    assert naive["p_value"].iloc[0] < grouped["p_value"].iloc[0]


@pytest.mark.slow
def test_excess_over_controls_is_compared(ragged, make_cube):
    table = by_stratum(ragged, "algorithm", test="t", on="excess")
    for row in table.itertuples():
        excess = ragged[row.metric] - ragged[f"{row.metric}_control_mean"]
        a, b = (excess.sel(algorithm=x, density=row.density).to_numpy() for x in row.comparison.split(" - "))
        expected = scipy_stats.ttest_rel(a, b, nan_policy="omit")
        assert row.p_value == pytest.approx(expected.pvalue) and row.null == "edges"
    worst = by_stratum(ragged, "algorithm", on="excess", missing="worst")
    assert (worst["n_pairs"] >= table["n_pairs"]).all()
    bare = make_cube({"a": ["x", "y"]}, {"m": (np.ones((2, 3)), "minimize")})
    with pytest.raises(ValueError, match="no controls for on='excess'"):
        compare(bare, "a", on="excess")


@pytest.mark.slow
@pytest.mark.parametrize("adjust", ["by", "fdr_by"])
def test_any_dependence_is_corrected_for(ragged, adjust):
    for _, part in by_stratum(ragged, "algorithm", adjust=adjust).groupby("metric"):
        np.testing.assert_allclose(part["p_adjusted"], multipletests(part["p_value"], method="fdr_by")[1])
    within = ce.summary(ragged, adjust="holm")
    for _, part in within.groupby("metric"):
        np.testing.assert_allclose(part["p_adjusted"], multipletests(part["p_value"], method="holm")[1])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dim": "algorithms"}, "unknown dimension 'algorithms'; did you mean 'algorithm'"),
        ({"dim": "replicate"}, "unknown dimension 'replicate'; known are 'algorithm', 'density'"),
        ({"test": "wilcox"}, "unknown test 'wilcox'; did you mean 'wilcoxon'"),
        ({"test": "mcnemar"}, r"test='mcnemar' compares metrics that are 0 or 1, but shd is \d+ in a run"),
        ({"metrics": ["shdd"]}, "unknown metric of this cube 'shdd'; did you mean 'shd'"),
        ({"reference": "gess"}, r"unknown level of 'algorithm' \(reference\) 'gess'; did you mean 'ges'"),
        ({"adjust": "holmes"}, "unknown correction 'holmes'"),
        ({"level": 0}, "level must lie between 0 and 1"),
        ({"missing": "zero"}, "unknown value of missing 'zero'"),
        ({"alternative": "inferior"}, "unknown alternative 'inferior'; known are 'two-sided', 'less', 'greater'"),
        ({"alternative": "equivalent"}, "alternative='equivalent' needs margin=, the largest difference"),
        ({"margin": 1.0}, r"margin= goes with alternative='equivalent', found 'two-sided'"),
        ({"alternative": "equivalent", "margin": -1.0}, "margin must be a positive number in units of the metric"),
        ({"alternative": "equivalent", "margin": {"shd": 1.0}}, "margin= names no margin for f1"),
        ({"alternative": "equivalent", "margin": {"shdd": 1.0}}, r"unknown metric compared \(margin\) 'shdd'"),
        ({"alternative": "equivalent", "margin": 1.0, "test": "max_t"}, "test='max_t' takes no margin"),
        ({"adjust": "max_t"}, "adjust='max_t' is the correction of test='max_t'; use adjust='holm'"),
        ({"on": "skil"}, "unknown on 'skil'; did you mean 'skill'"),
        ({"on": "skill", "test": "wilcoxon"}, "on='skill' takes test='jackknife', found test='wilcoxon'"),
        ({"on": "skill", "test": "welch_t"}, "on='skill' takes test='jackknife', found test='welch_t'"),
        ({"test": "jackknife"}, "test='jackknife' compares skills; use it with on='skill'"),
    ],
)
def test_wrong_and_contradicting_settings_are_refused(ragged, settings, message):
    with pytest.raises(ValueError, match=message):
        by_stratum(ragged, **{"dim": "algorithm"} | settings)


def test_accessors_have_the_parameters_of_their_functions():
    from causaleval_pd import plot
    from causaleval_pd.accessors import CubeAccessor

    for owner, functions in (
        (CubeAccessor, [ce.compare, ce.rank_test, ce.summary]),
        (plot.CubePlots, [plot.critical_difference, plot.heat_map, plot.strata]),
    ):
        for function in functions:
            mine = list(inspect.signature(getattr(owner, function.__name__)).parameters.values())[1:]
            theirs = list(inspect.signature(function).parameters.values())[1:]
            assert [(x.name, x.default, x.kind) for x in mine] == [(x.name, x.default, x.kind) for x in theirs]


@pytest.mark.slow
def test_excess_is_compared_under_every_null_model():
    runs = ce.datasets.runs().query("n == 100 and density == 0.2")
    nulls = ["edges", "permutation"]
    both = ce.cube(runs, ["shd"], by=["algorithm"], null=nulls, n_draws=50, rng=1)
    table = compare(both, "algorithm", on="excess")
    assert table["null"].tolist() == ["edges"] * 3 + ["permutation"] * 3
    for null in nulls:
        one = ce.cube(runs, ["shd"], by=["algorithm"], null=null, n_draws=50, rng=1)
        expected = compare(one, "algorithm", on="excess")["effect"]
        np.testing.assert_allclose(table.loc[table["null"] == null, "effect"], expected)
    assert compare(both, "algorithm")["null"].isna().all()


def studies(rng, make_cube, n_truths, n_runs, skill, scale):
    """Two algorithms with the same number of runs on each truth; losses are multiples of those of their controls."""
    n = n_truths * n_runs
    control = rng.uniform(4, 20, (2, n)) * np.array([[1.0], [scale]])
    loss = control * (1 - np.array(skill)[:, None]) * rng.gamma(4, 1 / 4, (2, n))
    truth = np.tile(np.repeat(np.arange(1, n_truths + 1), n_runs), (2, 1))
    return make_cube({"a": ["x", "y"]}, {"m": (loss, "minimize", control[..., None])}, truth=truth)


def test_skill_is_a_ratio_of_sums_over_the_truths_that_both_have(make_cube):
    cube = studies(np.random.default_rng(3), make_cube, 8, 2, (0.4, 0.1), 3.0)
    cube["m"][0, 3] = np.nan  # an undefined run leaves its pair out of both
    row = compare(cube, "a", on="skill").iloc[0]
    kept = np.arange(16) != 3
    loss, control = (cube[x].to_numpy()[:, kept] for x in ("m", "m_control_loss"))
    skill = 1 - loss.sum(axis=1) / control.sum(axis=1)
    assert row["effect"] == pytest.approx(skill[0] - skill[1])
    assert (row["n_pairs"], row["n_truths"], row["n_undefined"], row["effect_size"]) == (15, 8, 1, "skill_difference")
    truth = cube["truth_id"].to_numpy()[0, kept]
    left_out = []
    for one in range(1, 9):
        rest = 1 - loss[:, truth != one].sum(axis=1) / control[:, truth != one].sum(axis=1)
        left_out.append(rest[0] - rest[1])
    error = np.sqrt(7 / 8 * ((np.array(left_out) - np.mean(left_out)) ** 2).sum())
    assert row["statistic"] == pytest.approx(row["effect"] / error)
    assert row["p_value"] == pytest.approx(2 * scipy_stats.t.sf(abs(row["statistic"]), 7))
    assert row["null"] == "edges" and row["on"] == "skill" and row["test"] == "jackknife"


def test_four_right_edges_beat_thirty_by_skill_though_not_by_excess(make_cube):
    rng = np.random.default_rng(5)
    few, many = 5 - rng.binomial(4, 0.6, 40), 22 - rng.binomial(30, 0.2, 40)
    values = np.stack([few, many]).astype(float)
    control = np.stack([np.full(40, 5.0), np.full(40, 22.0)])
    cube = make_cube({"a": ["few", "many"]}, {"m": (values, "minimize", control[..., None])})
    skill, excess = (compare(cube, "a", on=x).iloc[0] for x in ("skill", "excess"))
    assert skill["effect"] > 0 and skill["p_value"] < 0.05  # "few" has more skill
    assert excess["effect"] > 0 and excess["p_value"] < 0.001  # but a smaller reduction of the metric


@pytest.mark.slow
def test_equal_skill_keeps_its_level(make_cube):
    rng = np.random.default_rng(11)
    cubes = (studies(rng, make_cube, 20, 2, (0.3, 0.3), 4.0) for _ in range(200))
    p = [compare(cube, "a", on="skill", test="jackknife")["p_value"].iloc[0] for cube in cubes]
    # 200 valid tests reject at .05 more than 22 times once in 3,000
    assert 1 <= (np.array(p) <= 0.05).sum() <= 22


def test_skill_is_refused_with_reasons(make_cube):
    rng = np.random.default_rng(2)
    row = compare(studies(rng, make_cube, 4, 3, (0.4, 0.1), 1.0), "a", on="skill").iloc[0]
    assert np.isnan([row["p_value"], row["ci_low"]]).all() and row["note"] == "fewer than 5 clusters"
    assert not np.isnan(row["effect"])
    same = studies(rng, make_cube, 6, 1, (0.4, 0.4), 1.0)
    perfect = same.assign(m=same["m"] * 0).assign(m=lambda c: c["m"].assign_attrs(same["m"].attrs))
    row = compare(perfect, "a", on="skill").iloc[0]
    assert (row["effect"], row["p_value"], row["note"]) == (0, 1, "no variation")
    assert np.isnan([row["ci_low"], row["ci_high"]]).all()  # equal so far does not mean equal for sure
    lucky = perfect.copy(deep=True)
    lucky["m"][1] = lucky["m_control_loss"][1] / 2
    row = compare(lucky, "a", on="skill").iloc[0]
    assert row["effect"] == pytest.approx(0.5) and np.isnan(row["p_value"]) and row["note"] == "no variation"
    disaster = same.copy(deep=True)
    disaster["m"][0, 2] = 500.0
    note = "carried by one cluster: it has more than half of the variance"
    assert compare(disaster, "a", on="skill")["note"].tolist() == [note]
    bare = make_cube({"a": ["x", "y"]}, {"m": (np.ones((2, 6)), "minimize")})
    with pytest.raises(ValueError, match="no controls for on='skill'"):
        compare(bare, "a", on="skill")


@pytest.mark.slow
def test_the_largest_t_corrects_for_all_pairs(ragged):
    settings = {"test": "max_t", "metrics": "shd"}
    table = pd.concat([by_stratum(ragged.isel(density=[i]), "algorithm", **settings) for i in (0, 1)])
    assert set(table["test"]) == {"max_t"} and set(table["effect_size"]) == {"mean_difference"}
    assert (table["p_adjusted"] >= table["p_value"]).all()
    for density, part in table.groupby("density"):
        blocks = ragged["shd"].sel(density=density).transpose("replicate", "algorithm").to_numpy()
        kept = blocks[~np.isnan(blocks).any(axis=1)]
        differences = np.stack([kept[:, 0] - kept[:, 1], kept[:, 0] - kept[:, 2], kept[:, 1] - kept[:, 2]], axis=1)
        assert (part["n_pairs"] == len(kept)).all()
        np.testing.assert_allclose(part["statistic"], scipy_stats.ttest_1samp(differences, 0).statistic)
        np.testing.assert_allclose(part["effect"], differences.mean(axis=0))
        signs = np.array(list(itertools.product([1, -1], repeat=len(kept))))
        t = np.array([scipy_stats.ttest_1samp(e[:, None] * differences, 0).statistic for e in signs])
        own = np.abs(part["statistic"].to_numpy())
        expected = (np.abs(t).max(axis=1)[:, None] >= own - 1e-9).mean(axis=0)
        np.testing.assert_allclose(part["p_adjusted"], expected)
    holm = by_stratum(ragged, "algorithm", adjust="holm", **settings)
    np.testing.assert_allclose(holm["p_adjusted"], multipletests(holm["p_value"], method="holm")[1])


@pytest.mark.slow
def test_the_largest_t_corrects_for_all_strata_by_signs_of_truths(ragged):
    table = by_stratum(ragged, "algorithm", test="max_t")
    for name, part in table.groupby("metric"):
        columns = []
        for density in (0.2, 0.5):
            blocks = ragged[name].sel(density=density).transpose("replicate", "algorithm").to_numpy()
            blocks = np.where(np.isnan(blocks).any(axis=1, keepdims=True), 0.0, blocks)
            columns += [blocks[:, i] - blocks[:, j] for i, j in ((0, 1), (0, 2), (1, 2))]
        differences = np.stack(columns, axis=1)
        # a truth that a stratum lacks adds nothing; sums of n differences in units of their deviation
        signs = np.array(list(itertools.product([1, -1], repeat=12)))
        scaled = np.abs(signs @ differences) / np.sqrt((differences**2).sum(axis=0))
        expected = (scaled.max(axis=1)[:, None] >= scaled[0] - 1e-9).mean(axis=0)
        np.testing.assert_allclose(part["p_adjusted"], expected)
        bounded = part["ci_low"].notna()
        assert ((part["ci_low"] < part["effect"]) & (part["effect"] < part["ci_high"]))[bounded].all()
        assert (part["p_adjusted"][~bounded] > 0.05).all() and bounded.any()


def test_pooled_differences_are_means_of_truths(ragged):
    """By hand: each truth is the mean over the strata in which both levels have a value."""
    table = compare(ragged, "algorithm")
    assert list(table.columns) == COLUMNS and len(table) == 6
    for row in table.itertuples():
        a, b = (ragged[row.metric].sel(algorithm=x) for x in row.comparison.split(" - "))
        apart = (a - b).mean("density").to_numpy()
        expected = scipy_stats.ttest_1samp(apart[~np.isnan(apart)], 0)
        assert row.effect == pytest.approx(np.nanmean(apart)) and row.p_value == pytest.approx(expected.pvalue)
        np.testing.assert_allclose([row.ci_low, row.ci_high], expected.confidence_interval())
        assert row.n_truths == (~np.isnan(apart)).sum() and row.n_pairs == (a - b).notnull().sum()
    assert compare(ragged, "density", "shd", test="welch_t")["n_truths"].tolist() == [24]


@pytest.mark.slow
def test_strata_are_kept_by_name(make_cube):
    rng = np.random.default_rng(3)
    strata = {"algorithm": ["x", "y"], "density": [0.2, 0.5], "n": [10, 20, 30]}
    cube = make_cube(strata, {"m": (rng.normal(size=(2, 2, 3, 7)), "minimize")})
    every, kept = compare(cube, "algorithm", by="all"), compare(cube, "algorithm", by=["n"])
    pd.testing.assert_frame_equal(every, compare(cube, "algorithm", by=["n", "density"]))
    assert list(every.columns[:2]) == ["density", "n"] and len(every) == 6
    assert kept["n"].tolist() == [10, 20, 30] and "density" not in kept
    for n, row in zip(strata["n"], kept.itertuples(), strict=True):
        one = compare(cube.sel(n=[n]), "algorithm").iloc[0]
        assert (row.effect, row.p_value) == pytest.approx((one["effect"], one["p_value"]))
    pd.testing.assert_frame_equal(kept, compare(cube, "algorithm", "m", by="n"))
    assert kept["effect"].mean() == pytest.approx(compare(cube, "algorithm")["effect"].iloc[0])
    for settings, message in (
        ({"by": ["algorithm", "n"]}, "by= names 'algorithm', whose levels are compared; name the other strata"),
        ({"by": ["n", "n"]}, "by= names 'n' twice"),
        ({"by": "densty"}, r"unknown stratum \(by\) 'densty'; did you mean 'density'"),
    ):
        with pytest.raises(ValueError, match=message):
            compare(cube, "algorithm", **settings)
    with pytest.raises(TypeError, match=r"name it first, then the metrics, as in compare\('algorithm', \['shd'\]\)"):
        compare(cube, ["m"], "algorithm")


@pytest.mark.parametrize("on", ["metric", "excess", "skill"])
def test_pooled_strata_are_those_of_a_cube_without_them(on):
    runs = ce.datasets.runs().query("density == 0.2 and replicate < 12")
    fine, coarse = (
        ce.cube(runs, ["shd"], by=by, n_draws=20, rng=1, key=["algorithm", "n", "replicate"])
        for by in (["algorithm", "n"], ["algorithm"])
    )
    pooled, alone = (compare(x, "algorithm", on=on) for x in (fine, coarse))
    pd.testing.assert_frame_equal(pooled, alone, rtol=1e-10, check_exact=False)


def test_independent_levels_are_pooled_where_both_have_runs(make_cube):
    values = np.array([[[1.0, 2, 3, 4]] * 2, [[2.0, 4, 6, 9], [50.0, 60, 70, 80]]])
    status = np.ones((2, 2, 4))
    status[0, 1] = NO_RUN  # the first level has no run in the second stratum
    cube = make_cube({"a": ["x", "y"], "n": [10, 20]}, {"m": (values, "minimize")}, status=status)
    row = compare(cube, "a", test="welch_t").iloc[0]
    assert row["effect"] == pytest.approx(2.5 - 5.25) and (row["n_pairs"], row["n_truths"]) == (8, 8)
    nowhere = cube.assign(status=cube["status"].where(np.array([[[1], [0]], [[0], [1]]]) == 1, NO_RUN))
    row = compare(nowhere, "a", test="welch_t").iloc[0]
    assert np.isnan(row["p_value"]) and row["note"] == "no stratum has a value of both levels"


@pytest.mark.slow
def test_a_usual_study_finds_its_differences():
    """Three algorithms on ten, and on twenty, truths of each density, at three sample sizes."""
    cube = ce.datasets.runs().ceval.cube(["shd"], by=["algorithm", "density", "n"], n_draws=None)
    for n_truths, least in ((10, 8), (20, 12)):
        part = cube.isel(replicate=slice(n_truths))
        strata, pooled = compare(part, "algorithm", by="all"), compare(part, "algorithm")
        assert len(strata) == 27 and (strata["p_adjusted"] <= 0.05).sum() >= least
        assert (pooled["p_adjusted"] <= 0.05).tolist() == [True, False, True]
    few = cube.isel(replicate=slice(10))
    # 27 times 2 / 2^n is at most .05 from 11 truths on
    message = r"needs 11 truths for 27 tests with adjust='holm', found 10: .* use test='t', or pool strata"
    with pytest.raises(ValueError, match=message):
        compare(few, "algorithm", by="all", test="wilcoxon")
    assert len(compare(cube.isel(replicate=slice(11)), "algorithm", by="all", test="wilcoxon")) == 27
    assert len(compare(few, "algorithm", test="wilcoxon")) == 3


def normal_studies(rng, n_studies, delta=0.0, crossing=0.0):
    """Return studies, a metric each, of four algorithms on ten truths of two densities at three sample sizes.

    Paired differences have a standard deviation of 1, 60 % of whose variance is that of the truth. The first algorithm
    is better by delta, and by `crossing` at the first density, where it is worse by that at the second.
    """
    shape = (n_studies, 4, 2, 3, 20)
    noise = rng.normal(size=(n_studies, 4, 1, 1, 20)) * np.sqrt(0.3) + rng.normal(size=shape) * np.sqrt(0.2)
    noise[:, 0] -= delta + crossing * np.array([1.0, -1.0])[:, None, None]
    status = np.zeros(shape[1:], np.int8)
    status[:, 0, :, :10] = status[:, 1, :, 10:] = SCORED  # each density has truths of its own
    strata = {"algorithm": list("abcd"), "density": [0.2, 0.5], "n": [100, 400, 1600]}
    return strata, {f"m{i}": (values, "minimize") for i, values in enumerate(noise)}, status


@pytest.mark.slow
@pytest.mark.parametrize("rounded", [False, True])
def test_equal_algorithms_keep_the_familywise_level(rounded):
    """On arrays: t with Holm's correction, pooled and by stratum, and the largest t over pairs and strata."""
    n_studies, first, second = 400, *np.triu_indices(4, 1)
    _, metrics, _ = normal_studies(np.random.default_rng(21), n_studies)
    values = np.stack([one for one, _ in metrics.values()])
    values = np.round(1.5 * values) if rounded else values
    apart = values[:, first] - values[:, second]
    apart = np.stack([apart[:, :, 0, :, :10], apart[:, :, 1, :, 10:]], axis=2)
    # studies x rows x truths
    strata = apart.reshape(n_studies, 36, 10)
    pooled = apart.mean(axis=3).reshape(n_studies, 6, 20)
    wrong = {}
    for name, rows in (("t, pooled", pooled), ("t, by stratum", strata)):
        study = np.repeat(np.arange(n_studies), rows.shape[1])
        p = adjusted(paired_t(rows.reshape(-1, rows.shape[2]))[1], "holm", study)
        wrong[name] = p.reshape(n_studies, -1).min(axis=1) <= 0.05
    truths = np.repeat(np.tile(np.repeat([0, 10], 3), 6), 10).reshape(36, 10) + np.arange(10)
    joint = [joint_max_t(rows, truths, rng=i).p_adjusted.min() for i, rows in enumerate(strata)]
    wrong["max_t, by stratum"] = np.array(joint) <= 0.05
    for name, found in wrong.items():
        assert found.mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_studies), name


@pytest.mark.slow
def test_pooling_finds_what_strata_share_and_strata_what_crosses(make_cube):
    rng = np.random.default_rng(5)
    strata, metrics, status = normal_studies(rng, 25, delta=1.0)
    table = compare(make_cube(strata, metrics, status=status), "algorithm")
    with_first = table["comparison"].str.startswith("a - ")
    assert (table["p_adjusted"][with_first] <= 0.05).mean() >= 0.95
    assert (table["effect"][with_first] < 0).mean() >= 0.99
    strata, metrics, status = normal_studies(rng, 25, crossing=1.5)
    crossing = make_cube(strata, metrics, status=status)
    pooled, apart = (
        compare(crossing, "algorithm", by=by).groupby("metric")["p_adjusted"].min() for by in (None, "all")
    )
    assert (pooled <= 0.05).mean() <= 0.1 and (apart <= 0.05).mean() >= 0.8


def test_single_pairs_are_asked_for_by_mcnemar(make_cube):
    cube = make_cube({"a": ["x", "y"]}, {"m": (np.ones((2, 4)), "maximize")}, truth=[[1, 1, 2, 2]] * 2)
    with pytest.raises(ValueError, match="takes independent pairs, but truths repeat in a stratum; use test='t'"):
        compare(cube, "a", test="mcnemar")
    single = cube.assign_attrs(control_cluster="none")
    assert compare(single, "a", test="mcnemar")["p_value"].tolist() == [1.0]


def test_a_note_leads_from_shifts_of_right_answers_to_their_means():
    rng = np.random.default_rng(4)
    truth = rng.random(40) < 0.5
    right = {"x": rng.random(40) < 0.9, "y": rng.random(40) < 0.6}
    columns = {"sample": range(40), "truth": truth}
    both = [pd.DataFrame(columns | {"model": name, "estimate": truth == x}) for name, x in right.items()]
    runs = pd.concat(both, ignore_index=True)
    cube = runs.ceval.cube(["answer_accuracy"], by=["model"], replicate="sample", n_draws=None)
    shift, mean = (cube.ceval.compare("model", test=test, columns="full").iloc[0] for test in ("wilcoxon", "t"))
    assert shift["effect"] in (0, 0.5) and "test='t' compares their means" in shift["note"]
    assert mean["effect"] == pytest.approx(right["x"].mean() - right["y"].mean()) and pd.isna(mean["note"])
    # the mean of a cluster of two answers is not 0 or 1
    pairs = runs.assign(pair=runs["sample"] // 2)
    cube = pairs.ceval.cube(["answer_accuracy"], by=["model"], replicate="sample", n_draws=None, cluster="pair")
    assert pd.isna(cube.ceval.compare("model", columns="full")["note"].iloc[0])


@pytest.mark.parametrize(("on", "test"), [("metric", "wilcoxon"), ("excess", "t"), ("skill", "jackknife")])
def test_a_cube_without_replicates_has_nothing_to_compare(ragged, on, test):
    found = by_stratum(ragged.isel(replicate=[]), "algorithm", on=on, test=test)
    assert not len(found) and "p_value" in found


@pytest.fixture(scope="module", params=[19, 200])
def cube(request):
    """One CPDAG estimated ten times alike by each of two algorithms, whose controls are drawn by run."""
    truth, one, other = (
        ce.graph_column([text]).graph.cpdag().iloc[0]
        for text in (
            "A -> B; B -> C; C -> D; D -> E; E -> F; B -> F; G -> H",
            "A -> C; C -> D; B -> D; E -> F; A -> G; F -> H; C -> H",
            "A -> E; E -> D; C -> B; F -> G; G -> H; D -> H; A -> H",
        )
    )
    rows = [(truth, estimate, a, run) for a, estimate in (("x", one), ("y", other)) for run in range(10)]
    runs = pd.DataFrame(rows, columns=["truth", "estimate", "a", "run"])
    how = {"cluster": None, "replicate": "run", "key": ["a", "run"]}
    return runs.ceval.cube(["shd"], by=["a"], n_draws=request.param, rng=5, **how)


def test_controls_are_simulated(cube):
    errors = cube["shd_control_mean_se"]
    assert (errors > 0).all() and cube["shd_control_mean"].std() > 0


@pytest.mark.slow
def test_summary_and_test_have_no_interval(cube):
    found = cube.ceval.summary(columns="full")
    assert found[["skill_low", "skill_high", "ci_low", "ci_high"]].isna().all(axis=None)
    assert found["note"].str.contains("no variation beyond the controls' Monte Carlo error").all()
    assert found[["skill", "effect"]].notna().all(axis=None)


@pytest.mark.slow
def test_comparisons_have_no_interval(cube):
    skill = cube.ceval.compare("a", on="skill", columns="full").iloc[0]
    assert np.isnan(skill["ci_low"]) and (np.isnan(skill["p_value"]) or skill["p_value"] == 1)
    assert skill["note"] == "no variation beyond the controls' Monte Carlo error"
    means = (cube["shd"] - cube["shd_control_mean"]).mean("replicate").to_numpy()
    for test in ("t", "wilcoxon"):
        excess = cube.ceval.compare("a", on="excess", test=test, columns="full").iloc[0]
        assert np.isnan([excess["ci_low"], excess["ci_high"]]).all() and skill["note"] in excess["note"]
        assert excess["effect"] == pytest.approx(means[0] - means[1], abs=0.5)


@pytest.mark.slow
def test_a_level_compared_with_itself_is_no_better(cube):
    twice = cube.sel(a=["x", "x"]).assign_coords(a=["x", "z"])
    # controls of their own
    mean = twice["shd_control_mean"].copy()
    mean[dict(a=1)] = mean.isel(a=1).to_numpy()[::-1]
    twice = twice.assign(shd_control_mean=mean, shd_control_loss=mean)
    for on, test in (("skill", "jackknife"), ("excess", "wilcoxon"), ("excess", "t")):
        assert twice.ceval.compare("a", on=on, test=test, columns="full")["p_value"].tolist() == [1.0]


def test_a_model_of_such_runs_is_refused(cube):
    for response in ("skill", "excess"):
        with pytest.raises(ValueError, match="but for the Monte Carlo error of the controls"):
            cube.ceval.model(f"{response} ~ a")
