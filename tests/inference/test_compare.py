"""Tables of tests by stratum: against controls, between levels, with failed runs, wrong pairs and odd names."""

from __future__ import annotations

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
from causaleval_pd.inference.compare import compare
from causaleval_pd.inference.control_tests import test_controls as against_controls
from causaleval_pd.statistics.friedman import rank_differences

NO_RUN, SCORED, FAILED = 0, 1, 2
COLUMNS = [
    *("metric", "comparison", "n_pairs", "n_clusters", "n_failed", "n_undefined", "null", "method", "alternative"),
    *("on", "resampling_seed", "ci_level", "p_at_floor", "note"),
    *("statistic", "effect_size", "effect", "ci_low", "ci_high", "p_value", "p_adjusted"),
]


def row_of(table, **where):
    found = table[np.logical_and.reduce([table[k] == v for k, v in where.items()])]
    assert len(found) == 1
    return found.iloc[0]


@pytest.mark.parametrize("verb", [against_controls, lambda cube, **k: compare(cube, "algorithm", **k)])
def test_cubes_are_not_changed(ragged, verb):
    before = ragged.copy(deep=True)
    verb(ragged, missing="worst")
    xr.testing.assert_identical(ragged, before)


def hodges_lehmann_by_hand(d):
    return np.median([(d[i] + d[j]) / 2 for i in range(len(d)) for j in range(i, len(d))])


@pytest.mark.parametrize(
    ("test", "theirs", "size"),
    [
        ("wilcoxon", lambda d: scipy_stats.wilcoxon(d[d != 0]) if d.any() else None, hodges_lehmann_by_hand),
        ("t", lambda d: scipy_stats.ttest_1samp(d, 0), np.mean),
        ("sign", lambda d: scipy_stats.binomtest(int((d > 0).sum()), int((d != 0).sum())), np.median),
        ("sign_flip", lambda d: scipy_stats.permutation_test((d,), np.mean, permutation_type="samples"), np.mean),
    ],
)
def test_comparisons_equal_scipy_pair_by_pair(ragged, test, theirs, size):
    table = compare(ragged, "algorithm", test=test, n_resamples=9999, rng=1)
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
        assert row.method == test and row.alternative == "two-sided" and pd.isna(row.null)


def test_adjustment_spans_all_rows_unless_families_are_named(ragged):
    table = compare(ragged, "algorithm")
    np.testing.assert_allclose(table["p_adjusted"], multipletests(table["p_value"], method="holm")[1])
    within = compare(ragged, "algorithm", family=["metric", "density"], adjust="bh")
    for _, part in within.groupby(["metric", "density"]):
        np.testing.assert_allclose(part["p_adjusted"], multipletests(part["p_value"], method="fdr_bh")[1])
    by_one = compare(ragged, "algorithm", family="metric", adjust="bonferroni")
    np.testing.assert_allclose(by_one["p_adjusted"], np.minimum(1, by_one["p_value"] * 6))


def test_reference_is_subtracted(ragged):
    table = compare(ragged, "algorithm", reference="lingam", metrics="shd")
    assert table["comparison"].unique().tolist() == ["ges - lingam", "pc - lingam"]
    all_pairs = compare(ragged, "algorithm", metrics="shd")
    mine = row_of(table, comparison="pc - lingam", density=0.5)
    theirs = row_of(all_pairs, comparison="lingam - pc", density=0.5)
    assert mine["effect"] == -theirs["effect"]
    assert (mine["ci_low"], mine["ci_high"]) == (-theirs["ci_high"], -theirs["ci_low"])
    assert mine["p_value"] == theirs["p_value"]


def test_numbers_can_be_levels_and_reference(ragged):
    table = compare(ragged, "density", reference=0.2, metrics="shd")
    assert table["comparison"].unique().tolist() == ["0.5 - 0.2"]
    assert table["algorithm"].tolist() == ["ges", "lingam", "pc"]


def test_one_sided_comparisons(ragged):
    two, less, greater = (
        compare(ragged, "algorithm", test="t", alternative=x)["p_value"] for x in ("two-sided", "less", "greater")
    )
    np.testing.assert_allclose(less + greater, 1)
    np.testing.assert_allclose(two, 2 * np.minimum(less, greater))


def test_order_of_dimensions_does_not_matter(ragged):
    turned = ragged.transpose("replicate", "density", "draw", "algorithm")
    pd.testing.assert_frame_equal(compare(ragged, "algorithm"), compare(turned, "algorithm"))
    pd.testing.assert_frame_equal(against_controls(ragged), against_controls(turned))


def test_cubes_from_files_give_the_same(ragged, tmp_path):
    ragged.to_zarr(tmp_path / "cube.zarr", zarr_format=2)
    with xr.open_zarr(tmp_path / "cube.zarr") as back:
        for verb in (against_controls, lambda cube, **k: compare(cube, "algorithm", reference="pc", **k)):
            for missing in ("drop", "worst"):
                pd.testing.assert_frame_equal(verb(ragged, missing=missing), verb(back, missing=missing).compute())


def test_infinite_values_are_ranked_but_have_no_mean(make_cube):
    values = np.array([[np.inf, 1.0, 2.0, 3.0, np.inf], [np.inf, 2.0, 4.0, 6.0, 1.0]])
    cube = make_cube({"a": ["x", "y"]}, {"m": (values, "minimize")})
    row = compare(cube, "a").iloc[0]
    assert row["n_pairs"] == 5 and np.isnan(compare(cube, "a", test="t")["effect"].iloc[0])
    assert row["effect"] == -1
    assert row["p_value"] == compare(cube.assign(m=cube["m"].clip(max=50.0)), "a")["p_value"].iloc[0]


def test_a_cube_of_one_dimension(ragged):
    table = compare(ragged.isel(density=0), "algorithm", metrics="shd")
    assert list(table.columns) == COLUMNS and len(table) == 3


def test_failed_runs_lose_comparisons_counted_as_worst(make_cube):
    a, b = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([2.0, 3.0, 4.0, 6.0, 7.0])
    status = [[SCORED, FAILED, SCORED, NO_RUN, FAILED], [SCORED, SCORED, FAILED, SCORED, FAILED]]
    cube = make_cube({"algorithm": ["x", "y"]}, {"m": (np.stack([a, b]), "minimize")}, status=status)
    dropped = compare(cube, "algorithm", test="sign").iloc[0]
    assert (dropped["n_pairs"], dropped["n_failed"], dropped["effect"]) == (1, 3, -1)
    worst = compare(cube, "algorithm", test="sign", missing="worst").iloc[0]
    # the worst value of both algorithms, 6, is what failed runs get: differences -1, 6 - 3, 3 - 6, 0
    assert (worst["n_pairs"], worst["n_failed"], worst["statistic"]) == (4, 3, 1)
    assert worst["effect"] == np.median([-1, 3, -3, 0])


def test_worst_value_is_the_end_of_a_finite_range(make_cube):
    values = np.array([[0.5, 0.6], [0.4, 0.9]])
    cube = make_cube(
        {"algorithm": ["x", "y"]}, {"f1": (values, "maximize")}, status=[[SCORED, FAILED], [SCORED, SCORED]]
    )
    row = compare(cube, "algorithm", missing="worst").iloc[0]
    assert row["effect"] == pytest.approx((0.1 - 0.9) / 2)


def test_metrics_best_at_their_optimum_are_compared_by_distance(make_cube):
    values = np.array([[2.1, 1.8, 2.2, 2.0], [0.0, 5.0, 3.5, 0.2]])
    cube = make_cube({"algorithm": ["x", "y"]}, {"m": (values, "zero")})
    row = compare(cube, "algorithm", effect="mean_difference").iloc[0]
    assert row["effect"] == pytest.approx((np.abs(values[0] - 2) - np.abs(values[1] - 2)).mean())
    assert row["p_value"] == 0.125


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
        r"so they are not pairs; give runs on one truth the same replicate .* paired=False"
    )
    with pytest.raises(ValueError, match=message):
        compare(cube, "algorithm")
    with pytest.raises(ValueError, match=r"density 0\.2 and 0\.5 have different truths"):
        compare(cube, "density")
    assert len(compare(cube, "algorithm", paired=False)) == 2


def test_missing_truths_are_failed_runs_and_no_wrong_pairs(make_cube):
    truth, status = [[1, 0, 3], [1, 2, 3]], [[SCORED, FAILED, SCORED], [SCORED] * 3]
    cube = make_cube({"a": ["x", "y"]}, {"m": (np.ones((2, 3)), "minimize")}, status=status, truth=truth)
    row = compare(cube, "a").iloc[0]
    assert (row["n_pairs"], row["n_failed"], row["p_value"]) == (2, 1, 1.0)


def test_levels_without_common_replicates_are_no_pairs(make_cube):
    status = [[SCORED, SCORED, NO_RUN, NO_RUN], [NO_RUN, NO_RUN, SCORED, SCORED]]
    cube = make_cube({"a": ["x", "y"]}, {"m": (np.ones((2, 4)), "minimize")}, status=status)
    with pytest.raises(ValueError, match=r"the levels of 'a' have no replicate in common; .* paired=False"):
        compare(cube, "a")
    row = compare(cube, "a", paired=False).iloc[0]
    assert (row["n_pairs"], row["p_value"]) == (4, 1.0)


@pytest.mark.parametrize(
    ("test", "name", "theirs"),
    [
        ("wilcoxon", "mann_whitney", scipy_stats.mannwhitneyu),
        ("t", "welch_t", lambda a, b: scipy_stats.ttest_ind(a, b, equal_var=False)),
    ],
)
def test_unpaired_comparisons_equal_scipy(ragged, test, name, theirs):
    table = compare(ragged, "density", test=test, paired=False, effect="mean_difference")
    for row in table.itertuples():
        cells = [ragged[row.metric].sel(algorithm=row.algorithm, density=x).to_numpy() for x in (0.2, 0.5)]
        a, b = (x[~np.isnan(x)] for x in cells)
        assert row.p_value == pytest.approx(theirs(a, b).pvalue, rel=1e-9)
        assert row.effect == pytest.approx(a.mean() - b.mean())
        assert row.n_pairs == len(a) + len(b)
        assert row.method == name
        interval = scipy_stats.ttest_ind(a, b, equal_var=False).confidence_interval()
        np.testing.assert_allclose([row.ci_low, row.ci_high], interval)


@pytest.mark.parametrize(
    "settings", [{"test": "sign"}, {"test": "sign_flip"}, {"test": "bootstrap"}, {"effect": "cohen_dz"}]
)
def test_what_needs_pairs_is_refused_without_them(ragged, settings):
    [(key, value)] = settings.items()
    with pytest.raises(ValueError, match=rf"{key}='{value}' needs pairs; with paired=False use test='wilcoxon'"):
        compare(ragged, "algorithm", paired=False, **settings)


def test_effect_sizes(ragged):
    dz = row_of(compare(ragged, "algorithm", effect="cohen_dz"), metric="shd", density=0.2, comparison="ges - pc")
    rb = row_of(compare(ragged, "algorithm", effect="rank_biserial"), metric="shd", density=0.2, comparison="ges - pc")
    cell = ragged["shd"].sel(density=0.2)
    difference = (cell.sel(algorithm="ges") - cell.sel(algorithm="pc")).to_numpy()
    difference = difference[~np.isnan(difference)]
    assert dz["effect"] == pytest.approx(difference.mean() / difference.std(ddof=1))
    ranks = scipy_stats.rankdata(np.abs(difference[difference != 0]))
    assert rb["effect"] == pytest.approx((ranks * np.sign(difference[difference != 0])).sum() / ranks.sum())
    for row in (dz, rb):
        assert row["ci_low"] < row["effect"] < row["ci_high"]
    delta = row_of(
        compare(ragged, "algorithm", effect="rank_biserial", paired=False),
        metric="shd",
        density=0.2,
        comparison="ges - pc",
    )
    a, b = (cell.sel(algorithm=x).dropna("replicate").to_numpy() for x in ("ges", "pc"))
    assert delta["effect"] == pytest.approx(np.sign(a[:, None] - b).mean())


def test_bootstrap_brings_its_own_interval(ragged):
    boot, t = (compare(ragged, "algorithm", test=x, rng=3, n_resamples=2000) for x in ("bootstrap", "t"))
    np.testing.assert_allclose(boot["effect"], t["effect"])
    assert (boot["ci_low"] != t["ci_low"]).all()
    known = boot["ci_low"].notna()
    assert known.sum() == 11 and (boot["ci_low"] < boot["effect"])[known].all()
    np.testing.assert_array_equal((boot["p_value"] > 0.05)[known], (boot["ci_low"] * boot["ci_high"] < 0)[known])
    assert np.abs(boot["p_value"] - t["p_value"]).max() < 0.15


@pytest.mark.parametrize("test", ["sign_flip", "bootstrap"])
def test_seeds_make_tables_repeatable(ragged, test):
    first, again, other = (compare(ragged, "algorithm", test=test, n_resamples=60, rng=x) for x in (5, 5, 6))
    pd.testing.assert_frame_equal(first, again)
    assert (first["p_value"] != other["p_value"]).any()
    part = compare(ragged.isel(density=[1]), "algorithm", test=test, n_resamples=60, rng=5)
    rows = first[first["density"] == 0.5].reset_index(drop=True)
    np.testing.assert_allclose(part["p_value"], rows["p_value"])


@pytest.mark.parametrize("test", ["wilcoxon", "t", "sign", "sign_flip", "bootstrap"])
def test_one_pair_and_no_pair_are_results(test, make_cube):
    values = np.array([[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]])
    status = [[[SCORED], [FAILED], [SCORED]], [[SCORED], [SCORED], [NO_RUN]]]
    cube = make_cube({"algorithm": ["x", "y"], "n": [10, 20, 30]}, {"m": (values, "minimize")}, status=status)
    table = compare(cube, "algorithm", test=test, n_resamples=99, rng=1)
    assert table["n"].tolist() == [10, 20]
    one = np.nan if test in ("t", "bootstrap") else 1.0
    np.testing.assert_array_equal(table["p_value"], [one, np.nan])
    np.testing.assert_array_equal(table["p_adjusted"], [one, np.nan])
    assert table["n_pairs"].tolist() == [1, 0] and table["n_failed"].tolist() == [0, 1]
    np.testing.assert_array_equal(table["effect"], [-3.0, np.nan])
    assert table["note"][1] == "no pair has both values"
    assert set(compare(cube, "algorithm", test="max_t")["note"][1:]) == {"no block has a value of every level"}
    assert "a level has no value" in set(compare(cube, "algorithm", paired=False)["note"])


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("missing", ["drop", "worst"])
def test_levels_that_always_failed_are_undefined(paired, missing, make_cube):
    cube = make_cube(
        {"algorithm": ["x", "y"]}, {"m": (np.ones((2, 3)), "minimize")}, status=[[FAILED] * 3, [FAILED] * 3]
    )
    row = compare(cube, "algorithm", paired=paired, missing=missing).iloc[0]
    assert np.isnan(row["p_value"]) and row["n_pairs"] == 0
    assert row["n_failed"] == (3 if paired else 6) and row["n_undefined"] == 0


def test_no_rows_keep_their_columns(ragged):
    table = compare(ragged.isel(density=slice(0)), "algorithm")
    assert list(table.columns) == ["density", *COLUMNS] and len(table) == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dim": "algorithms"}, "unknown dimension 'algorithms'; did you mean 'algorithm'"),
        ({"dim": "replicate"}, "unknown dimension 'replicate'; known are 'algorithm', 'density'"),
        ({"test": "wilcox"}, "unknown test 'wilcox'; did you mean 'wilcoxon'"),
        ({"metrics": ["shdd"]}, "unknown metric of this cube 'shdd'; did you mean 'shd'"),
        ({"reference": "gess"}, r"unknown level of 'algorithm' \(reference\) 'gess'; did you mean 'ges'"),
        ({"alternative": "lower"}, "unknown alternative 'lower'"),
        ({"effect": "cohen_d"}, "unknown effect 'cohen_d'; did you mean 'cohen_dz'"),
        ({"family": "metrics"}, r"unknown column \(family\) 'metrics'; did you mean 'metric'"),
        ({"adjust": "holmes"}, "unknown correction 'holmes'"),
        ({"n_resamples": 0}, "n_resamples must be a positive integer, found 0"),
        ({"level": 0}, "level must lie between 0 and 1"),
        ({"missing": "zero"}, "unknown value of missing 'zero'"),
    ],
)
def test_settings_of_comparisons_are_checked(ragged, settings, message):
    call = {"dim": "algorithm"} | settings
    with pytest.raises(ValueError, match=message):
        compare(ragged, **call)


def test_one_level_is_no_comparison(ragged):
    with pytest.raises(ValueError, match="'algorithm' has 1 level, and a comparison needs two"):
        compare(ragged.isel(algorithm=[0]), "algorithm")


def pair_of(cube, row):
    """Return the defined pairs of a row of a comparison of algorithms."""
    a, b = (cube[row.metric].sel(algorithm=x, density=row.density).to_numpy() for x in row.comparison.split(" - "))
    both = ~np.isnan(a) & ~np.isnan(b)
    return a[both], b[both]


def test_equivalence_is_two_one_sided_t_tests(ragged):
    table = compare(ragged, "algorithm", test="t", alternative="equivalent", margin={"shd": 4.0, "f1": 0.2})
    for row in table.itertuples():
        margin = 4.0 if row.metric == "shd" else 0.2
        p, _, _ = ttost_paired(*pair_of(ragged, row), -margin, margin)
        assert row.p_value == pytest.approx(p)
        assert row.alternative == "equivalent"
    narrow = compare(ragged, "algorithm", test="t", alternative="equivalent", margin=1e-6)
    assert (narrow["p_value"] >= 0.4).all()


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "sign_flip", "bootstrap"])
def test_equivalence_shifts_every_test(ragged, test):
    given = {"test": test, "metrics": "shd", "rng": 3, "n_resamples": 999}
    equal = compare(ragged, "algorithm", alternative="equivalent", margin=2.5, **given)
    up, down = (ragged.assign(shd=ragged["shd"] + s * (ragged["algorithm"] == "ges") * 2.5) for s in (1, -1))
    for cube in (up, down):
        cube["shd"].attrs = ragged["shd"].attrs
    above = compare(up, "algorithm", alternative="greater", **given)
    below = compare(down, "algorithm", alternative="less", **given)
    rows = equal["comparison"].str.startswith("ges")
    assert rows.sum() == 4
    expected = np.maximum(above["p_value"], below["p_value"])[rows]
    np.testing.assert_allclose(equal["p_value"][rows], expected, rtol=1e-9)


def test_non_inferior_follows_the_direction_of_the_metric(ragged):
    table = compare(ragged, "algorithm", test="t", alternative="non_inferior", margin={"shd": 1.0, "f1": 0.1})
    for row in table.itertuples():
        a, b = pair_of(ragged, row)
        shift, side = (-1.0, "less") if row.metric == "shd" else (0.1, "greater")
        assert row.p_value == pytest.approx(scipy_stats.ttest_1samp(a - b + shift, 0, alternative=side).pvalue)


def test_unpaired_equivalence(ragged):
    table = compare(ragged, "density", test="t", paired=False, alternative="equivalent", margin=3.0, metrics="shd")
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
    for row in compare(cube, "algorithm", test="mcnemar", alternative=alternative).itertuples():
        a, b = (cube["right"].sel(algorithm=x, n=row.n).to_numpy() for x in row.comparison.split(" - "))
        b, c = int(((a == 1) & (b == 0)).sum()), int(((a == 0) & (b == 1)).sum())
        if alternative == "two-sided":
            expected = mcnemar([[0, b], [c, 0]], exact=True).pvalue
        else:
            expected = scipy_stats.binomtest(b, b + c, alternative=alternative).pvalue
        assert row.p_value == pytest.approx(expected)
        assert row.statistic == b and row.method == "mcnemar"


def test_mcnemar_refuses_other_values(ragged):
    with pytest.raises(ValueError, match=r"test='mcnemar' compares metrics that are 0 or 1, but shd is \d+ in a run"):
        compare(ragged, "algorithm", test="mcnemar")


def test_zero_handling_is_explicit(ragged, make_cube):
    values = np.array([[0.0, 1, 0, 3, 2, 5, 4, 4], [0, 0, 0, 1, 4, 1, 1, 0]])
    cube = make_cube({"a": ["x", "y"]}, {"m": (values, "minimize")})
    for zero_method, name in (("wilcox", "wilcoxon"), ("pratt", "wilcoxon_pratt")):
        row = compare(cube, "a", zero_method=zero_method).iloc[0]
        expected = scipy_stats.wilcoxon(*values, zero_method=zero_method, method=scipy_stats.PermutationMethod())
        assert row["p_value"] == pytest.approx(expected.pvalue) and row["method"] == name
    with pytest.raises(ValueError, match="unknown zero_method 'zsplit'"):
        compare(ragged, "algorithm", zero_method="zsplit")


@pytest.mark.slow
def test_friedman_compares_mean_ranks_of_complete_blocks(ragged):
    table = compare(ragged, "algorithm", test="friedman", metrics="shd", adjust="holm")
    for density, part in table.groupby("density"):
        blocks = ragged["shd"].sel(density=density).transpose("replicate", "algorithm").to_numpy()
        kept = blocks[~np.isnan(blocks).any(axis=1)]
        ranks = scipy_stats.rankdata(kept, axis=1).mean(axis=0)
        assert part["statistic"].tolist() == pytest.approx(
            [ranks[0] - ranks[1], ranks[0] - ranks[2], ranks[1] - ranks[2]]
        )
        assert (part["n_pairs"] == len(kept)).all()
        assert part["effect"].tolist() == part["statistic"].tolist() and part["ci_low"].isna().all()
        _, p, nemenyi = rank_differences(blocks, [0, 0, 1], [1, 2, 2])
        assert part["p_value"].tolist() == p.tolist()
        within = compare(ragged, "algorithm", test="friedman", metrics="shd")
        assert within.loc[within["density"] == density, "p_adjusted"].tolist() == nemenyi.tolist()
    holm = compare(ragged, "algorithm", test="friedman", adjust="holm", family=["metric", "density"])
    for _, part in holm.groupby(["metric", "density"]):
        np.testing.assert_allclose(part["p_adjusted"], multipletests(part["p_value"], method="holm")[1])


@pytest.mark.parametrize("test", ["wilcoxon", "t", "sign", "bootstrap", "sign_flip", "max_t", "friedman"])
def test_groups_of_pairs_count_once(test, make_cube):
    rng = np.random.default_rng(8)
    apart = rng.normal(0.6, 1, (2, 8))
    # five copies of every pair add nothing
    copies = np.repeat(apart, 5, axis=1)
    truth = np.tile(np.repeat(np.arange(1, 9), 5), (2, 1))
    cube = make_cube({"a": ["x", "y"]}, {"m": (copies, "minimize")}, truth=truth)
    single = make_cube({"a": ["x", "y"]}, {"m": (apart, "minimize")})
    given = {"test": test, "rng": 1, "n_resamples": 500}
    grouped, alone, naive = (
        compare(cube, "a", **given),
        compare(single, "a", **given),
        compare(cube, "a", cluster=None, **given),
    )
    for name in ("p_value", "effect", "ci_low", "ci_high"):
        np.testing.assert_allclose(grouped[name], alone[name], rtol=1e-9)
    assert (grouped["n_pairs"].iloc[0], grouped["n_clusters"].iloc[0], naive["n_clusters"].iloc[0]) == (40, 8, 40)
    assert naive["p_value"].iloc[0] < grouped["p_value"].iloc[0]
    carried = cube.assign(batch=cube["truth_id"].astype(float) * 2)
    carried["batch"].attrs["role"] = "value"
    pd.testing.assert_frame_equal(compare(carried, "a", cluster="batch", **given), grouped)


def test_excess_over_controls_is_compared(ragged, make_cube):
    table = compare(ragged, "algorithm", test="t", on="excess")
    for row in table.itertuples():
        excess = ragged[row.metric] - ragged[f"{row.metric}_control_mean"]
        a, b = (excess.sel(algorithm=x, density=row.density).to_numpy() for x in row.comparison.split(" - "))
        expected = scipy_stats.ttest_rel(a, b, nan_policy="omit")
        assert row.p_value == pytest.approx(expected.pvalue) and row.null == "edges"
    worst = compare(ragged, "algorithm", on="excess", missing="worst")
    assert (worst["n_pairs"] >= table["n_pairs"]).all()
    bare = make_cube({"a": ["x", "y"]}, {"m": (np.ones((2, 3)), "minimize")})
    with pytest.raises(ValueError, match="no controls for on='excess'"):
        compare(bare, "a", on="excess")


def test_effect_can_be_cliffs_delta_with_and_without_pairs(ragged):
    paired = compare(ragged, "algorithm", effect="cliffs_delta", metrics="shd").iloc[0]
    a, b = pair_of(ragged, next(compare(ragged, "algorithm", metrics="shd").itertuples()))
    assert paired["effect"] == pytest.approx(np.sign(a[:, None] - b).mean())
    assert paired["ci_low"] < paired["effect"] < paired["ci_high"]
    both = [compare(ragged, "density", paired=False, effect=x) for x in ("cliffs_delta", "rank_biserial")]
    pd.testing.assert_frame_equal(*(x.drop(columns="effect_size") for x in both))


@pytest.mark.parametrize("adjust", ["by", "fdr_by"])
def test_any_dependence_is_corrected_for(ragged, adjust):
    table = compare(ragged, "algorithm", adjust=adjust)
    np.testing.assert_allclose(table["p_adjusted"], multipletests(table["p_value"], method="fdr_by")[1])
    within = against_controls(ragged, adjust="holm", family="metric")
    for _, part in within.groupby("metric"):
        np.testing.assert_allclose(part["p_adjusted"], multipletests(part["p_value"], method="holm")[1])


@pytest.mark.parametrize("test", ["sign_flip", "bootstrap"])
def test_the_seed_of_resampling_is_recorded(ragged, test):
    first = compare(ragged, "algorithm", test=test, n_resamples=99)
    assert first["resampling_seed"].nunique() == 1
    again = compare(ragged, "algorithm", test=test, n_resamples=99, rng=int(first["resampling_seed"].iloc[0]))
    pd.testing.assert_frame_equal(first, again)
    assert compare(ragged, "algorithm")["resampling_seed"].isna().all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alternative": "equivalent"}, "alternative='equivalent' needs margin=, the largest difference"),
        ({"margin": 1.0}, r"margin= goes with alternative='equivalent' or 'non_inferior', found 'two-sided'"),
        ({"alternative": "equivalent", "margin": -1.0}, "margin must be a positive number in units of the metric"),
        ({"alternative": "equivalent", "margin": {"shd": 1.0}}, "margin= names no margin for f1"),
        ({"alternative": "equivalent", "margin": {"shdd": 1.0}}, r"unknown metric compared \(margin\) 'shdd'"),
        ({"alternative": "equivalent", "margin": 1.0, "test": "friedman"}, "test='friedman' takes no margin"),
        ({"adjust": "nemenyi"}, "adjust='nemenyi' is the correction of test='friedman'; use adjust='holm'"),
        ({"adjust": "max_t"}, "adjust='max_t' is the correction of test='max_t'; use adjust='holm'"),
        ({"adjust": "nemenyi", "test": "friedman", "reference": "pc"}, "with a reference or another alternative use"),
        ({"on": "skil"}, "unknown on 'skil'; did you mean 'skill'"),
        (
            {"on": "skill", "test": "wilcoxon"},
            "on='skill' takes test='jackknife' or 'sign_flip', found test='wilcoxon'",
        ),
        ({"on": "skill", "effect": "cohen_dz"}, "on='skill' has one effect size"),
        ({"on": "skill", "paired": False}, "test='jackknife' needs pairs"),
        ({"test": "jackknife"}, "test='jackknife' compares skills; use it with on='skill'"),
        (
            {"on": "skill", "test": "sign_flip", "alternative": "equivalent", "margin": 0.1},
            "test='sign_flip' of skills takes no margin; use test='jackknife'",
        ),
        ({"cluster": "truths", "test": "bootstrap"}, r"unknown variable of this cube \(cluster\) 'truths'"),
        ({"test": "friedman", "paired": False}, "test='friedman' needs pairs"),
    ],
)
def test_contradicting_settings_are_refused(ragged, settings, message):
    with pytest.raises(ValueError, match=message):
        compare(ragged, "algorithm", **settings)


def test_accessors_have_the_parameters_of_their_functions():
    from causaleval_pd import plot
    from causaleval_pd.accessors import CubeAccessor

    for owner, functions in (
        (
            CubeAccessor,
            [
                *(ce.compare, ce.test_controls, ce.rank_test, ce.meta_analysis),
                *(ce.control_power, ce.comparison_power, ce.summary),
            ],
        ),
        (plot.CubePlots, [plot.comparisons, plot.critical_difference, plot.p_values, plot.strata]),
    ):
        for function in functions:
            mine = list(inspect.signature(getattr(owner, function.__name__)).parameters.values())[1:]
            theirs = list(inspect.signature(function).parameters.values())[1:]
            assert [(x.name, x.default, x.kind) for x in mine] == [(x.name, x.default, x.kind) for x in theirs]


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
    cube = make_cube({"a": ["x", "y"]}, {"m": (loss, "minimize")}, truth=truth)
    extra = {f"m_control_{part}": (("a", "replicate"), control) for part in ("mean", "loss")}
    cube = cube.assign(**extra, m_control=(("a", "replicate", "draw"), control[..., None]))
    return cube.assign_attrs(n_draws=1, draws_kept=1, control_null="edges")


def test_skill_is_a_ratio_of_sums_over_the_truths_that_both_have(make_cube):
    cube = studies(np.random.default_rng(3), make_cube, 8, 2, (0.4, 0.1), 3.0)
    cube["m"][0, 3] = np.nan  # an undefined run leaves its pair out of both
    row = compare(cube, "a", on="skill").iloc[0]
    kept = np.arange(16) != 3
    loss, control = (cube[x].to_numpy()[:, kept] for x in ("m", "m_control_loss"))
    skill = 1 - loss.sum(axis=1) / control.sum(axis=1)
    assert row["effect"] == pytest.approx(skill[0] - skill[1])
    assert (row["n_pairs"], row["n_clusters"], row["n_undefined"], row["effect_size"]) == (15, 8, 1, "skill_difference")
    truth = cube["truth_id"].to_numpy()[0, kept]
    left_out = []
    for one in range(1, 9):
        rest = 1 - loss[:, truth != one].sum(axis=1) / control[:, truth != one].sum(axis=1)
        left_out.append(rest[0] - rest[1])
    error = np.sqrt(7 / 8 * ((np.array(left_out) - np.mean(left_out)) ** 2).sum())
    assert row["statistic"] == pytest.approx(row["effect"] / error)
    assert row["p_value"] == pytest.approx(2 * scipy_stats.t.sf(abs(row["statistic"]), 7))
    assert row["null"] == "edges" and row["on"] == "skill" and row["method"] == "jackknife"


def test_four_right_edges_beat_thirty_by_skill_though_not_by_excess(make_cube):
    rng = np.random.default_rng(5)
    few, many = 5 - rng.binomial(4, 0.6, 40), 22 - rng.binomial(30, 0.2, 40)
    values = np.stack([few, many]).astype(float)
    cube = make_cube({"a": ["few", "many"]}, {"m": (values, "minimize")})
    control = np.stack([np.full(40, 5.0), np.full(40, 22.0)])
    extra = {f"m_control_{part}": (("a", "replicate"), control) for part in ("mean", "loss")}
    cube = cube.assign(**extra, m_control=(("a", "replicate", "draw"), control[..., None]))
    cube = cube.assign_attrs(n_draws=1, draws_kept=1, control_null="edges")
    skill, excess = (compare(cube, "a", on=x).iloc[0] for x in ("skill", "excess"))
    assert skill["effect"] > 0 and skill["p_value"] < 0.05  # "few" has more skill
    assert excess["effect"] > 0 and excess["p_value"] < 0.001  # but a smaller reduction of the metric


@pytest.mark.slow
@pytest.mark.parametrize("test", ["jackknife", "sign_flip"])
def test_equal_skill_keeps_its_level(make_cube, test):
    rng = np.random.default_rng(11)
    p = [
        compare(studies(rng, make_cube, 20, 2, (0.3, 0.3), 4.0), "a", on="skill", test=test, rng=1, n_resamples=199)[
            "p_value"
        ].iloc[0]
        for _ in range(200)
    ]
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
    assert (
        compare(disaster, "a", on="skill").iloc[0]["note"]
        == "carried by one cluster: it has more than half of the variance"
    )
    bare = make_cube({"a": ["x", "y"]}, {"m": (np.ones((2, 6)), "minimize")})
    with pytest.raises(ValueError, match="no controls for on='skill'"):
        compare(bare, "a", on="skill")


def test_the_largest_t_corrects_for_all_pairs(ragged):
    table = compare(ragged, "algorithm", test="max_t", metrics="shd", rng=1)
    assert set(table["method"]) == {"max_t"} and set(table["effect_size"]) == {"mean_difference"}
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
    holm = compare(ragged, "algorithm", test="max_t", metrics="shd", adjust="holm", rng=1)
    np.testing.assert_allclose(holm["p_adjusted"], multipletests(holm["p_value"], method="holm")[1])


def test_single_pairs_are_asked_for_by_mcnemar(make_cube):
    cube = make_cube({"a": ["x", "y"]}, {"m": (np.ones((2, 4)), "maximize")}, truth=[[1, 1, 2, 2]] * 2)
    with pytest.raises(ValueError, match="takes independent pairs, but truths .* repeat in a stratum; use test='sign'"):
        compare(cube, "a", test="mcnemar")
    assert compare(cube, "a", test="mcnemar", cluster=None)["p_value"].tolist() == [1.0]


def test_true_is_no_margin(ragged):
    with pytest.raises(TypeError, match="margin must be a number, or a number a metric, found True"):
        compare(ragged, "algorithm", test="t", alternative="equivalent", margin=True)


def test_a_note_leads_from_shifts_of_right_answers_to_their_means():
    rng = np.random.default_rng(4)
    truth = rng.random(40) < 0.5
    right = {"x": rng.random(40) < 0.9, "y": rng.random(40) < 0.6}
    runs = pd.concat(
        [
            pd.DataFrame({"model": name, "sample": range(40), "truth": truth, "estimate": truth == correct})
            for name, correct in right.items()
        ],
        ignore_index=True,
    )
    cube = runs.ceval.cube(["answer_accuracy"], by=["model"], replicate="sample", n_draws=None)
    shift, mean = (cube.ceval.compare("model", test=test).iloc[0] for test in ("wilcoxon", "sign_flip"))
    assert shift["effect"] in (0, 0.5) and "test='sign_flip' compares their means" in shift["note"]
    assert mean["effect"] == pytest.approx(right["x"].mean() - right["y"].mean()) and pd.isna(mean["note"])
    # the mean of a cluster of two answers is not 0 or 1
    pairs = runs.assign(pair=runs["sample"] // 2)
    cube = pairs.ceval.cube(["answer_accuracy"], by=["model"], replicate="sample", n_draws=None, cluster="pair")
    assert pd.isna(cube.ceval.compare("model")["note"].iloc[0])


@pytest.mark.parametrize(
    ("on", "test"), [("metric", "wilcoxon"), ("metric", "friedman"), ("excess", "t"), ("skill", "jackknife")]
)
def test_a_cube_without_replicates_has_nothing_to_compare(ragged, on, test):
    found = compare(ragged.isel(replicate=[]), "algorithm", on=on, test=test)
    assert not len(found) and "p_value" in found
