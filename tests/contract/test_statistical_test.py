"""Declared statistical tests: names, designs, verbs and options are checked."""

from __future__ import annotations

import numpy as np
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.statistical_test import StatisticalTest, find_test, offered
from causaleval_pd.statistics.paired_tests import Outcome, sign_test


def medians(values):
    return np.ma.filled(np.ma.median(np.ma.masked_invalid(values), axis=-1), np.nan)


def median_test(difference, *, alternative="two-sided"):
    """Return the median difference with the p-value of the sign test."""
    return Outcome(medians(difference), sign_test(difference)[1])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"design": "pairs"}, "unknown design of test 'toy' 'pairs'; did you mean 'paired'"),
        ({"verbs": ("rank_test",)}, "unknown verb of test 'toy' 'rank_test'"),
        ({"options": ("seed",)}, "unknown option of test 'toy' 'seed'"),
        ({"design": "draws"}, "unknown design of test 'toy' for compare 'draws'; known are 'paired', 'independent'"),
    ],
)
def test_wrong_declarations_are_refused(wrong, message):
    given = {"design": "paired", "verbs": ("compare",)} | wrong
    with pytest.raises(ValueError, match=message):
        StatisticalTest(name="toy", long_name="toy", function=median_test, **given)


def test_what_a_test_takes_follows_from_its_options():
    test = StatisticalTest("toy", "toy", median_test, "paired", ("compare",), options=("rng", "level"))
    assert test.resamples and test.effect == "mean_difference"
    assert "toy" not in ce.list_tests().index, "a declaration is not yet registered"


def test_verbs_offer_their_tests_and_name_them():
    offers = {verb: ce.list_tests(verb).index.tolist() for verb in ("compare", "test_controls")}
    assert offers["test_controls"] == ["randomisation"] and "randomisation" not in offers["compare"]
    for verb, names in offers.items():
        assert [test.name for test in offered(verb)] == names
        assert find_test(names[0], verb).name == names[0]
    with pytest.raises(ValueError, match="unknown test 'wilcoxn'; did you mean 'wilcoxon'"):
        find_test("wilcoxn", "compare")
    with pytest.raises(ValueError, match="unknown test 'randomisation'; .*known are"):
        find_test("randomisation", "compare")
    with pytest.raises(ValueError, match=r"unknown test \['t'\]; "):
        find_test(["t"], "compare")
    with pytest.raises(ValueError, match="unknown verb 'compar'"):
        ce.list_tests("compar")
