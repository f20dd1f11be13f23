"""Declared statistical tests: names, designs and options are checked."""

import pytest

import causaleval_pd as ce
from causaleval_pd.inference.statistical_test import StatisticalTest
from causaleval_pd.statistics.paired_tests import paired_wilcoxon


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
        StatisticalTest(name="toy", long_name="toy", function=paired_wilcoxon, **given)


def test_what_a_test_takes_follows_from_its_options():
    test = StatisticalTest("toy", "toy", paired_wilcoxon, "paired", options=("rng", "level"))
    assert test.resamples and test.effect == "mean_difference"
    assert "toy" not in ce.list_tests().index, "a declaration is not yet registered"
