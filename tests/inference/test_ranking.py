"""Mean ranks by stratum: against scipy on each stratum, with failed runs and absent levels."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.multitest import multipletests

import causaleval_pd as ce


@pytest.fixture(scope="module")
def runs():
    table = ce.datasets.runs().query("density < 0.6 and n < 1600").reset_index(drop=True)
    failed = (table["replicate"] % 7 == 0) & (table["algorithm"] == "ges")
    return table.assign(estimate=table["estimate"].mask(failed))


@pytest.fixture(scope="module")
def cube(runs):
    return ce.cube(runs, ["shd", "adjacency_f1"], by=["algorithm", "density", "n"], n_draws=None)


@pytest.mark.slow
def test_ranks_and_tests_equal_scipy_stratum_by_stratum(cube):
    table = ce.rank_test(cube, "algorithm", by="all", adjust="holm")
    assert list(table.columns[:6]) == ["density", "n", "metric", "algorithm", "mean_rank", "statistic"]
    tests = []
    for (density, n, metric), part in table.groupby(["density", "n", "metric"], sort=False):
        values = cube[metric].sel(density=density, n=n).transpose("replicate", "algorithm").to_numpy()
        kept = values[~np.isnan(values).any(axis=1)]
        expected = scipy_stats.friedmanchisquare(*kept.T)
        np.testing.assert_allclose(part["statistic"], expected.statistic)
        np.testing.assert_allclose(part["p_value"], expected.pvalue)
        good = kept if metric == "shd" else -kept
        np.testing.assert_allclose(part["mean_rank"], scipy_stats.rankdata(good, axis=1).mean(axis=0))
        undefined = np.isnan(values).sum(axis=0) - part["n_failed"]
        assert part["n_undefined"].tolist() == undefined.tolist()
        assert part["n_failed"].tolist() == [3, 0, 0] and set(part["n_blocks"]) == {len(kept)} == {17}
        tests.append((expected.pvalue, part["p_adjusted"].iloc[0]))
    p, adjusted = np.array(tests).T
    np.testing.assert_allclose(adjusted, multipletests(p, method="holm")[1])


@pytest.mark.slow
def test_failed_runs_rank_last_when_they_count(cube):
    dropped, worst = (ce.rank_test(cube, "algorithm", "shd", by="all", missing=x) for x in ("drop", "worst"))
    assert set(worst["n_blocks"]) == {20} and set(dropped["n_blocks"]) == {17}
    ges = worst["algorithm"] == "ges"
    assert (worst["mean_rank"][ges].to_numpy() > dropped["mean_rank"][ges].to_numpy()).all()


def test_a_level_without_runs_has_no_rank_and_others_keep_theirs(runs):
    absent = (runs["algorithm"] == "ges") & (runs["density"] == 0.2)
    cube = ce.cube(runs[~absent], ["shd"], by=["algorithm", "density", "n"], n_draws=None)
    table = ce.rank_test(cube, "algorithm", by="all")
    here = table[table["density"] == 0.2]
    assert set(here["algorithm"]) == {"lingam", "pc"} and set(here["n_levels"]) == {2}
    np.testing.assert_allclose(here.groupby("n")["mean_rank"].sum(), 3.0)
    assert set(table.loc[table["density"] == 0.4, "n_levels"]) == {3}


def test_what_cannot_be_ranked_is_refused(cube, runs):
    with pytest.raises(ValueError, match="'algorithm' has 1 level, and ranks need two"):
        ce.rank_test(cube.isel(algorithm=[0]), "algorithm")
    with pytest.raises(ValueError, match="unknown dimension 'algorithms'; did you mean 'algorithm'"):
        ce.rank_test(cube, "algorithms")
    with pytest.raises(ValueError, match=r"density 0\.2 and 0\.4 have different truths"):
        pc = runs.query("algorithm == 'pc'")
        ce.rank_test(ce.cube(pc, ["shd"], by=["density", "n"], replicate="replicate", n_draws=None), "density")


@pytest.mark.slow
def test_repeats_on_a_truth_are_one_block():
    once = ce.datasets.runs().query("density == 0.2 and n == 400")
    by = {"by": ["algorithm"], "n_draws": None}
    cubes = [pd.concat([once] * k, ignore_index=True).ceval.cube(["shd"], **by) for k in (1, 3)]
    one, three = (cube.ceval.rank_test("algorithm").drop(columns="n_runs") for cube in cubes)
    pd.testing.assert_frame_equal(one, three)
    assert set(three["n_blocks"]) == {20}
    independent = pd.concat([once] * 3, ignore_index=True).ceval.cube(["shd"], **by, cluster=None)
    alone = independent.ceval.rank_test("algorithm")
    assert set(alone["n_blocks"]) == {60} and (alone["p_value"] < three["p_value"]).all()
    pairs = cubes[1].ceval.compare("algorithm", test="max_t", columns="full")
    assert set(pairs["n_truths"]) == set(three["n_blocks"])
    for cube, blocks in ((cubes[1], "over 20 truths"), (independent, "over 60 runs")):
        ax = cube.ceval.plot.critical_difference("shd", "algorithm")
        assert blocks in " ".join(text.get_text() for text in ax.figure.texts)


def test_cut_draws_matter_only_where_failed_runs_count(runs):
    cut = ce.cube(runs, ["shd"], by=["algorithm", "density", "n"], n_draws=3, rng=1).isel(draw=slice(2))
    assert set(ce.rank_test(cut, "algorithm", by="all")["n_blocks"]) == {17}
    with pytest.raises(ValueError, match="the cube has 2 of its 3 draws"):
        ce.rank_test(cut, "algorithm", missing="worst")


def test_pooled_strata_rank_the_means_of_each_truth(runs):
    cube = ce.cube(runs, ["shd"], by=["algorithm", "density", "n"], n_draws=None)
    wide = cube["shd"].mean("n").stack(truth=("density", "replicate")).to_pandas().T.dropna()
    theirs = scipy_stats.friedmanchisquare(*wide.to_numpy().T)
    table = cube.ceval.rank_test("algorithm")
    np.testing.assert_allclose(table["mean_rank"], wide.rank(axis=1).mean())
    assert table["p_value"].iloc[0] == pytest.approx(theirs.pvalue) and set(table["n_blocks"]) == {len(wide)}
    kept = cube.ceval.rank_test("algorithm", by=["density"])
    assert kept.groupby("density").size().tolist() == [3] * runs["density"].nunique()
