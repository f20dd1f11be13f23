"""Declared statistical tests: names, designs and options are checked."""

import numpy as np
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.statistical_test import StatisticalTest, comparing, find_test
from causaleval_pd.statistics.paired_tests import Outcome, paired_wilcoxon


def medians(values):
    return np.ma.filled(np.ma.median(np.ma.masked_invalid(values), axis=-1), np.nan)


def median_test(difference, *, alternative="two-sided"):
    """Return the median difference with the p-value of Wilcoxon's test."""
    return Outcome(medians(difference), paired_wilcoxon(difference)[1])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"design": "pairs"}, "unknown design of test 'toy' 'pairs'; did you mean 'paired'"),
        ({"options": ("seed",)}, "unknown option of test 'toy' 'seed'"),
    ],
)
def test_wrong_declarations_are_refused(wrong, message):
    given = {"design": "paired"} | wrong
    with pytest.raises(ValueError, match=message):
        StatisticalTest(name="toy", long_name="toy", function=median_test, **given)


def test_what_a_test_takes_follows_from_its_options():
    test = StatisticalTest("toy", "toy", median_test, "paired", options=("rng", "level"))
    assert test.resamples and test.effect == "mean_difference"
    assert "toy" not in ce.list_tests().index, "a declaration is not yet registered"


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
