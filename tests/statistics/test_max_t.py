"""Comparisons by the largest t: enumeration, level whatever the other treatments do, gaps and perfect differences."""

import itertools

import numpy as np
import pytest
from scipy import stats

from causaleval_pd.statistics.max_t import max_t


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_small_blocks_are_enumerated(alternative):
    blocks = np.random.default_rng(2).normal(size=(7, 4))
    first, second = np.triu_indices(4, 1)
    d = blocks[:, first] - blocks[:, second]
    side = {"two-sided": np.abs, "less": np.negative, "greater": np.positive}[alternative]
    t = side([stats.ttest_1samp(np.array(e)[:, None] * d, 0).statistic for e in itertools.product([1, -1], repeat=7)])
    own = side(stats.ttest_1samp(d, 0).statistic)
    found = max_t(blocks, first, second, alternative=alternative)
    np.testing.assert_allclose(found.statistic, stats.ttest_1samp(d, 0).statistic)
    np.testing.assert_allclose(found.p_value, (t >= own - 1e-9).mean(axis=0))
    np.testing.assert_allclose(found.p_adjusted, (t.max(axis=1)[:, None] >= own - 1e-9).mean(axis=0))


def test_other_treatments_enter_only_the_maximum():
    rng = np.random.default_rng(4)
    pair = rng.normal(size=(9, 2)) + np.array([0, 1.5])
    alone = max_t(pair, [0], [1])
    for others in (rng.normal(0, 0.1, (9, 3)), rng.normal(50, 3, (9, 3))):
        among = max_t(np.hstack([pair, others]), *np.triu_indices(5, 1))
        assert among.p_value[0] == alone.p_value[0] and among.statistic[0] == alone.statistic[0]
        assert among.p_adjusted[0] >= alone.p_adjusted[0]


@pytest.mark.slow
@pytest.mark.parametrize("design", ["one pair noisier", "all exponential", "ties"])
def test_equal_treatments_keep_the_familywise_level(design):
    rng = np.random.default_rng(6)
    first, second = np.triu_indices(6, 1)
    if design == "one pair noisier":
        # treatments 0 and 1 are exchangeable, the others differ from them and from each other
        blocks = rng.normal(size=(400, 10, 6)) * np.array([3, 3, 0.1, 0.1, 0.1, 0.1]) + np.array([0, 0, 1, 2, 3, 4])
        rejected = max_t(blocks, first, second, rng=1).p_adjusted[:, 0] <= 0.05
    else:
        blocks = rng.exponential(size=(400, 10, 6)) if design == "all exponential" else rng.poisson(1.5, (400, 10, 6))
        found = max_t(blocks, first, second, rng=1)
        rejected = found.p_adjusted.min(axis=1) <= 0.05
    assert rejected.sum() <= stats.binom.ppf(0.9999, 400, 0.05)


@pytest.mark.slow
def test_simultaneous_limits_cover_all_differences():
    rng = np.random.default_rng(8)
    first, second = np.triu_indices(5, 1)
    centre = np.array([0, 1, 2, 3, 4.0])
    found = max_t(rng.normal(size=(400, 20, 5)) + centre, first, second, rng=1)
    apart = centre[first] - centre[second]
    covered = ((found.low <= apart) & (found.high >= apart)).all(axis=1).mean()
    assert covered > 0.95 - 3.5 * np.sqrt(0.95 * 0.05 / 400)


def test_gaps_and_differences_that_do_not_vary():
    blocks = np.array(
        [[1.0, 2.0, 1.0, np.nan], [3.0, 4.0, 3.0, np.nan], [5.0, 6.0, 5.0, np.nan], [7.0, 8.0, np.nan, np.nan]]
    )
    found = max_t(blocks, [0, 0, 0], [1, 2, 3])
    assert found.statistic.tolist()[:2] == [-np.inf, 0.0] and np.isnan(found.statistic[2])
    assert found.p_value.tolist()[:2] == [0.25, 1.0] and np.isnan(found.p_adjusted[2])
    assert np.isnan(max_t(blocks * np.nan, [0], [1]).p_value).all()
    # four equal differences do not bound their mean
    assert np.isnan([found.low, found.high]).all()
    varied = max_t(blocks[:3] + np.array([0.0, 0.1, 0.3])[:, None] * np.array([1, 0, 0, 0]), [0], [1])
    assert varied.low[0] < -1.0 < varied.high[0]


def test_seeds_make_random_flips_repeatable():
    blocks = np.random.default_rng(1).normal(size=(30, 3))
    one, again, other = (max_t(blocks, [0], [1], rng=x).p_value for x in (1, 1, 2))
    assert one == again and abs(one - other) < 0.3
    with pytest.raises(ValueError, match="alternative must be"):
        max_t(blocks, [0], [1], alternative="larger")


@pytest.mark.parametrize("place", [0, 1])
def test_infinite_differences_have_no_result(place):
    blocks = np.random.default_rng(1).normal(size=(8, 3))
    blocks[0, place] = np.inf
    found = max_t(blocks, *np.triu_indices(3, 1))
    infinite = [place in pair for pair in zip(*np.triu_indices(3, 1), strict=True)]
    for part in found:
        assert np.isnan(part).tolist() == infinite
    alone = max_t(np.delete(blocks, place, axis=1), [0], [1])
    assert found.p_adjusted[~np.array(infinite)] == alone.p_adjusted
    blocks[0] = np.inf
    assert not np.isnan(max_t(blocks, [0], [1]).p_value).any(), "two equal infinite values tie"


@pytest.mark.slow
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_limits_leave_out_only_what_the_test_rejects(alternative):
    rng = np.random.default_rng(0)
    for n in (6, 8):
        blocks = rng.normal([0.8, 0.0, 0.0], size=(150, n, 3))
        found = max_t(blocks, [0, 0, 1], [1, 2, 2], alternative=alternative)
        p = max_t(blocks, [0, 0, 1], [1, 2, 2]).p_adjusted
        apart = (found.low > 0) | (found.high < 0)
        assert apart.any() and (p[apart] <= 0.05).all(), "half of the limits beside 0 had a larger p with six blocks"
