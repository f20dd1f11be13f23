"""The comparison of levels in a report: who is better in words, pooled and by stratum, and what is left out."""

import re

import numpy as np
import pytest

import causaleval_pd as ce
from causaleval_pd.inference.compare import compare
from causaleval_pd.reports.level_comparison import who_is_better

RUNS = ce.datasets.runs().query("density == 0.2").groupby(["algorithm", "n"]).head(6)


@pytest.mark.slow
def test_strata_that_cannot_differ_are_left_out(tmp_path):
    """Eight truths: p of 9 comparisons by Wilcoxon's test is at least 9 * 2 / 2^8 in the strata, pooled 3 * 2 / 2^8."""
    runs = ce.datasets.runs().query("density == 0.2 and replicate < 8")
    eight = runs.ceval.cube(["shd"], by=["algorithm", "n"], n_draws=None)
    path = eight.ceval.report(tmp_path / "r.html", test="wilcoxon", adjust="bonferroni")
    strata = path.read_text("utf-8").split("levels of algorithm, by stratum</h2>")[1].split("<h2>Figures</h2>")[0]
    assert "test=&#x27;wilcoxon&#x27; needs 9 truths for 9 tests" in strata
    assert "found 8" in strata and "<table" not in strata
    few = RUNS.drop(RUNS.index[(RUNS["n"] == 100) & (RUNS["replicate"] > 0)])
    some = few.ceval.cube(["shd"], by=["algorithm", "n"], n_draws=None)
    strata = some.ceval.report(tmp_path / "t.html").read_text("utf-8").split("algorithm, by stratum</h2>")[1]
    assert "3 comparisons without enough clusters for a p of 0.05, whatever the differences, are left out" in strata
    table = strata.split("<h2>Figures</h2>")[0]
    assert ">400</td>" in table and ">100</td>" not in table
    with pytest.raises(ValueError, match="test='wilcoxon' needs 6 truths"):
        some.isel(replicate=slice(3)).ceval.report(tmp_path / "w.html", test="wilcoxon", adjust=None)


@pytest.mark.slow
def test_the_better_levels_are_named(tmp_path):
    """The table says the same in words, pooled and by stratum, where a difference changes its sign too."""
    runs = ce.datasets.runs().query("replicate < 10")
    cube = runs.ceval.cube(["shd", "adjacency_f1"], by=["algorithm", "density", "n"], n_draws=None)
    text = cube.ceval.report(tmp_path / "r.html").read_text("utf-8")
    pooled, strata = text.split("<h2>Comparison")[1:]
    assert "lingam has a lower shd than ges and pc (adjusted p at most 0.05)." in pooled
    assert "shd: no difference is detected between ges and pc (adjusted p at most 0.05)." in pooled
    table = cube.ceval.compare("algorithm", by="all", columns="full")
    for (name, comparison), rows in table[table["p_adjusted"] <= 0.05].groupby(["metric", "comparison"]):
        first, second = comparison.split(" - ")
        better = rows["effect"] > 0 if name == "adjacency_f1" else rows["effect"] < 0
        words = "a higher adjacency_f1" if name == "adjacency_f1" else "a lower shd"
        for winner, loser, n in ((first, second, better.sum()), (second, first, (~better).sum())):
            [sentence] = re.findall(rf"{winner} has {words} than [^.]*", strata) or [""]
            assert (f"{loser} in {n} of 9 strata" in sentence) == (n > 0)
    assert "in every stratum, whatever they show of all strata together" in text
    sparse = runs["density"] == 0.2
    other = runs["algorithm"].replace({"ges": "lingam", "lingam": "ges"})
    turned = runs.assign(algorithm=runs["algorithm"].mask(sparse, other))
    turned = turned.ceval.cube(["shd"], by=["algorithm", "density", "n"], n_draws=None)
    strata = turned.ceval.report(tmp_path / "t.html", metrics="shd").read_text("utf-8").split("<h2>Comparison")[2]
    assert "lingam has a lower shd than ges in" in strata and "ges has a lower shd than lingam in" in strata


@pytest.mark.parametrize("test", ["t", "max_t"])
def test_pairs_without_a_p_value_are_not_called_equal(make_cube, test):
    """Means of infinite values do not compare, however far apart the levels are."""
    values = np.random.default_rng(1).normal(size=(3, 10))
    values[2] = np.inf
    levels = ["x", "y", "z"]
    cube = make_cube({"a": levels}, {"m": (values, "minimize")})

    def words(cube):
        table = compare(cube, "a", test=test, columns="full")
        return [one.text for one in who_is_better(table, cube["a"].to_numpy(), {"m": "minimize"}, 0.95, "p")]

    assert words(cube) == ["m: no difference is detected between x and y (p).", "m: no p-value of x and z, y and z."]
    assert words(cube.sel(a=["x", "z"])) == ["m: no p-value of x and z."]
    finite = cube.assign(m=cube["m"].clip(max=0))
    assert words(finite)[-1].startswith("m: no difference is detected between") and len(words(finite)) < 3
