"""Declared tests: what is listed, and a test of a third party that runs through every verb."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.inference.statistical_test import TESTS, StatisticalTest, register_test
from causaleval_pd.inference.statistical_tests import comparing, find_test
from causaleval_pd.statistics.paired_tests import Outcome, paired_wilcoxon

OURS = ["randomisation", "wilcoxon", "t", "mcnemar", "max_t", "welch_t", "jackknife"]


def medians(values):
    return np.ma.filled(np.ma.median(np.ma.masked_invalid(values), axis=-1), np.nan)


def median_test(difference, *, alternative="two-sided"):
    """Return the median difference with the p-value of Wilcoxon's test."""
    return Outcome(medians(difference), paired_wilcoxon(difference)[1])


def independent_medians(a, b, *, alternative="two-sided"):
    return Outcome(medians(a) - medians(b), np.full(len(a), 0.5))


@pytest.fixture
def toy():
    null = "The median difference is 0."
    test = StatisticalTest("toy", long_name="toy median test", function=median_test, design="paired", null=null)
    other = replace(test, name="toy_independent", function=independent_medians, design="independent")
    for each in (test, other):
        register_test(each)
    yield test
    for each in (test, other):
        del TESTS[each.name]


def test_every_test_of_ours_is_listed_and_explained():
    table = ce.list_tests()
    assert table.index.tolist() == OURS
    words = ["long_name", "null", "claim", "statistic", "assumption", "avoid", "reference"]
    assert (table[words].map(len) > 3).all(axis=None)
    assert table["reference"].str.startswith("https://doi.org/10.").all()
    assert table.index[table["resamples"]].tolist() == ["max_t"]


@pytest.mark.slow
@pytest.mark.usefixtures("toy")
def test_a_toy_test_runs_through_every_verb(ragged):
    assert ce.list_tests().loc["toy", "null"] == "The median difference is 0."
    table = ce.compare(ragged, "algorithm", by="all", test="toy", columns="full")
    assert set(table["test"]) == {"toy"}
    cell = ragged["shd"].sel(density=0.2)
    expected = (cell.sel(algorithm="ges") - cell.sel(algorithm="pc")).median("replicate")
    row = table.query("metric == 'shd' and density == 0.2 and comparison == 'ges - pc'").iloc[0]
    assert row["statistic"] == expected

    alone = ce.compare(ragged, "algorithm", test="toy_independent", columns="full")
    assert set(alone["test"]) == {"toy_independent"} and (alone["p_value"] == 0.5).all()

    pd.testing.assert_frame_equal(ragged.ceval.compare("algorithm", by="all", test="toy", columns="full"), table)


@pytest.mark.slow
@pytest.mark.usefixtures("toy")
def test_a_toy_test_runs_on_cubes_of_dask(ragged):
    for by in (None, "all"):
        lazy = ce.compare(ragged.chunk(density=1), "algorithm", by=by, test="toy", columns="full")
        wanted = ce.compare(ragged, "algorithm", by=by, test="toy", columns="full")
        pd.testing.assert_frame_equal(lazy, wanted)


def test_a_toy_test_is_gone_afterwards(ragged):
    assert "toy" not in ce.list_tests().index
    with pytest.raises(ValueError, match="unknown test 'toy'; .*known are 'wilcoxon', 't'"):
        ce.compare(ragged, "algorithm", test="toy", columns="full")


def test_a_name_is_registered_once(toy):
    with pytest.raises(ValueError, match="a test called 'toy' is already registered"):
        register_test(replace(toy, function=paired_wilcoxon))


def test_compare_offers_every_test_but_that_of_draws():
    listed = ce.list_tests()["design"]
    assert listed.index[listed == "draws"].tolist() == ["randomisation"]
    assert [test.name for test in comparing()] == listed.index[listed != "draws"].tolist()
    assert find_test("max_t").name == "max_t"
    with pytest.raises(ValueError, match="unknown test 'wilcoxn'; did you mean 'wilcoxon'"):
        find_test("wilcoxn")
    with pytest.raises(ValueError, match="unknown test 'randomisation'; .*known are"):
        find_test("randomisation")
    with pytest.raises(ValueError, match=r"unknown test \['t'\]; "):
        find_test(["t"])
