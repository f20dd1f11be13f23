"""Comparisons of pairs of levels on arrays: counts, shifted claims and the methods' names."""

import numpy as np
import pytest

import causaleval_pd as ce
from causaleval_pd.cubes.schema import FAILED, NO_RUN, SCORED
from causaleval_pd.inference.pairwise import Comparison, Levels, check_comparison, compare_levels, complete_blocks
from causaleval_pd.inference.statistical_test import TESTS
from causaleval_pd.statistics.arrays import mean_difference
from causaleval_pd.statistics.paired_tests import paired_t

FIRST, SECOND = np.array([0, 0, 1]), np.array([1, 2, 2])


def settings(name, **given):
    known = {"claim": "two-sided", "level": 0.95, "adjust": "holm"} | given
    return Comparison(TESTS.find(name), **known)


@pytest.fixture
def levels():
    """Three levels on eight replicates of two strata, with absent, failed and undefined runs."""
    rng = np.random.default_rng(2)
    status = np.full((2, 3, 8), SCORED, np.int8)
    status[0, 0, 0], status[0, 1, 1] = NO_RUN, FAILED
    scores = rng.normal(size=(2, 3, 8))
    scores[0, 2, 2] = np.nan
    return Levels(np.where(status == SCORED, scores, np.nan), status, "minimize", 0.5, None)


def test_pairs_are_counted_by_what_they_lack(levels):
    found = compare_levels(levels, FIRST, SECOND, settings("t"))
    assert found["n_pairs"].tolist() == [6, 6, 6, 8, 8, 8]
    assert found["n_failed"].tolist() == [1, 0, 1, 0, 0, 0]
    assert found["n_undefined"].tolist() == [0, 1, 1, 0, 0, 0]


def test_runs_without_a_truth_are_of_the_cluster_of_their_partner(levels):
    """As failed runs that count as the worst."""
    whole = np.broadcast_to(np.repeat([1, 2, 3, 4], 2), levels.scores.shape).copy()
    cut = whole.copy()
    cut[1, 0, 0] = cut[1, 1, 3] = 0
    found, expected = (compare_levels(levels._replace(cluster=x), FIRST, SECOND, settings("t")) for x in (cut, whole))
    for name in ("p_value", "effect", "n_truths"):
        np.testing.assert_array_equal(found[name][3:], expected[name][3:])
    assert found["n_truths"].tolist()[3:] == [4, 4, 4]


@pytest.mark.filterwarnings("ignore:found an estimate without a truth")
@pytest.mark.parametrize("algorithm", ["ges", "pc"])
def test_a_missing_truth_is_no_other_truth(algorithm):
    runs = ce.datasets.runs().query("n == 100 and density == 0.2 and algorithm != 'lingam'").reset_index(drop=True)
    runs.loc[(runs["algorithm"] == algorithm) & (runs["replicate"] == 3), "truth"] = None
    cube = runs.ceval.cube(["shd"], by=["algorithm"], replicate="replicate", n_draws=None)
    found = cube.ceval.compare("algorithm", columns="full")
    assert found["n_failed"].tolist() == [1] and found["n_pairs"].tolist() == [19]


def test_rows_are_strata_times_pairs(levels):
    found = compare_levels(levels, FIRST, SECOND, settings("t"))
    for row, (stratum, pair) in enumerate(np.ndindex(2, 3)):
        difference = levels.scores[stratum, FIRST[pair]] - levels.scores[stratum, SECOND[pair]]
        assert found["p_value"][row] == pytest.approx(float(paired_t(difference).p_value))
        assert found["effect"][row] == pytest.approx(float(mean_difference(difference).effect))


def test_blocks_are_replicates_of_all_levels(levels):
    blocks = complete_blocks(levels)
    assert np.isnan(blocks[0, 0]).all() and not np.isnan(blocks[1]).any()
    found = compare_levels(levels, FIRST, SECOND, settings("max_t", adjust="max_t"))
    assert found["n_pairs"].tolist() == [5, 5, 5, 8, 8, 8]


def test_messages_name_the_tests_that_do():
    with pytest.raises(ValueError, match="use 'wilcoxon' or 't'"):
        check_comparison(settings("mcnemar", claim="equivalent"), margin=True)
