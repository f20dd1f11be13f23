"""Paired tests and shifts against scipy, by hand and by enumeration; their size, coverage and limits."""

import itertools

import numpy as np
import pytest
import scipy
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from causaleval_pd.statistics import paired_tests
from causaleval_pd.statistics.arrays import signed_ranks


def test_the_shift_is_the_median_of_pairwise_means():
    rng = np.random.default_rng(1)
    for n in (1, 2, 3, 7, 20):
        d = rng.normal(size=n)
        walsh = [(d[i] + d[j]) / 2 for i in range(n) for j in range(i, n)]
        assert float(paired_tests.hodges_lehmann(d).effect) == pytest.approx(np.median(walsh))


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [4, 6, 9, 15])
def test_without_ties_0_lies_outside_exactly_where_the_test_rejects(level, n):
    d = np.random.default_rng(n).normal(0.6, 1, (400, n))
    found = paired_tests.hodges_lehmann(d, level)
    inside = ~((found.low > 0) | (found.high < 0))
    np.testing.assert_array_equal(inside, paired_tests.paired_wilcoxon(d).p_value > 1 - level + 1e-12)


@pytest.mark.parametrize("n", [6, 10, 20, 50])
@pytest.mark.parametrize("law", ["normal", "rounded", "wide", "zeros"])
def test_closed_limits_cover_with_ties(n, law):
    rng = np.random.default_rng(7)
    draw = rng.normal(size=(1500, n))
    d = {
        "normal": draw,
        "rounded": np.round(draw),
        "wide": np.round(3 * draw),
        "zeros": np.where(rng.random(draw.shape) < 0.7, 0.0, draw),
    }[law]
    found = paired_tests.hodges_lehmann(d)
    covered = ((found.low <= 0) & (found.high >= 0)).mean()
    assert covered > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 1500)


def test_small_samples_have_no_limits():
    assert np.isnan(paired_tests.hodges_lehmann([1.0, 2.0, 3.0, 4.0, 5.0]).low)
    assert not np.isnan(paired_tests.hodges_lehmann([1.0, 2.0, 3.0, 4.0, 5.0], 0.9).low)
    assert np.isnan(paired_tests.hodges_lehmann([np.nan, np.nan]).effect)
    # infinite differences of one sign have a shift, those of both have none, however many they are
    found = paired_tests.hodges_lehmann([[np.inf, 1, 2, 3, 4, 5, 6], [np.inf, -np.inf, 1, 2, 3, 4, 5]])
    assert found.effect[0] == pytest.approx(4) and np.isnan(found.effect[1])
    assert np.isnan(paired_tests.hodges_lehmann(np.r_[-np.inf, np.inf, np.zeros(2100)])).all()


def test_large_samples_use_the_normal_law():
    d = np.random.default_rng(3).normal(0.1, 1, (5, 260))
    found = paired_tests.hodges_lehmann(d)
    for row, low, high in zip(d, found.low, found.high, strict=True):
        beside = (low - 0.01, low + 0.01, high - 0.01, high + 0.01)
        p = [stats.wilcoxon(row - c, correction=False).pvalue for c in beside]
        assert p[0] < 0.05 < p[1] and p[3] < 0.05 < p[2]


LAWS = {
    "normal": lambda rng, n: rng.normal(0.1, 1, n),
    "ties": lambda rng, n: rng.integers(-3, 5, n) / 4,
    "one value": lambda rng, n: np.full(n, 0.1),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n) ** 3,
    "infinite": lambda rng, n: np.where(rng.random(n) < 0.1, np.inf, rng.normal(size=n)),
    "mostly minus infinite": lambda rng, n: np.where(rng.random(n) < 0.8, -np.inf, rng.normal(size=n)),
}


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_shifts_of_many_pairs_are_found_without_all_pairwise_means(law):
    rng = np.random.default_rng(4)
    # 2,100 pairs have 2.2 million pairwise means, more than are sorted
    values = LAWS[law](rng, 2100)
    first, second = np.triu_indices(len(values))
    means = np.sort((values[first] + values[second]) / 2)
    found = paired_tests.hodges_lehmann(values)
    middle = means[len(means) // 2 - 1 : len(means) // 2 + 1]
    assert found.effect == pytest.approx(middle[0] if middle[0] == middle[1] else middle.mean(), abs=1e-14)
    statistic = len(means) / 2 - 1.959964 * np.sqrt(len(means) * (2 * 2100 + 1) / 12)
    place = np.floor(statistic - 0.5).astype(int) + 1
    assert (found.low, found.high) == pytest.approx((means[place - 1], means[-place]), abs=1e-14)


#: scipy's name of the normal approximation; older releases have another
NORMAL = "approx" if scipy.__version__.startswith("1.13.") else "asymptotic"
SIDES = ["two-sided", "less", "greater"]
PAIRED = [paired_tests.paired_wilcoxon, paired_tests.paired_t, paired_tests.mcnemar]


def ragged(rows, width, seed, *, whole):
    """Make rows of every number of values, NaN in between; whole numbers have ties and zeros."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-5, 7, (rows, width)).astype(float) if whole else rng.normal(0.2, 1.0, (rows, width))
    values[rng.random(values.shape) < rng.random((rows, 1))] = np.nan
    return values


def enumerated(row, alternative):
    """Return the signed-rank p-value by listing every assignment of signs."""
    signed = signed_ranks(row)
    ranks = np.abs(signed[signed != 0])
    observed = signed[signed > 0].sum()
    sums = np.array([np.dot(ranks, signs) for signs in itertools.product([0, 1], repeat=len(ranks))])
    low, high = (sums <= observed + 1e-9).mean(), (sums >= observed - 1e-9).mean()
    return {"less": low, "greater": high, "two-sided": min(1.0, 2 * min(low, high))}[alternative]


def long_rows_with_ties():
    values = np.random.default_rng(4).integers(-6, 9, (10, 120)).astype(float)
    values[:, 100:][:5] = np.nan
    return values


@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize(
    "values",
    [ragged(40, 30, 1, whole=False), ragged(40, 90, 1, whole=False), long_rows_with_ties()],
    ids=["30", "90", "long rows with ties"],
)
def test_wilcoxon_equals_scipy(alternative, values):
    found = paired_tests.paired_wilcoxon(values, alternative=alternative)
    for row, statistic, p in zip(values, *found, strict=True):
        defined = row[~np.isnan(row)]
        if len(defined) == 0:
            assert np.isnan(statistic) and np.isnan(p)
            continue
        expected = stats.wilcoxon(defined, alternative=alternative)
        np.testing.assert_allclose([statistic, p], [expected.statistic, expected.pvalue], rtol=1e-10)


@pytest.mark.parametrize("alternative", SIDES)
def test_short_rows_with_ties_equal_enumeration(alternative):
    values = ragged(40, 11, 2, whole=True)
    found = paired_tests.paired_wilcoxon(values, alternative=alternative)
    for row, p in zip(values, found.p_value, strict=True):
        if np.isnan(row).all():
            assert np.isnan(p)
        else:
            np.testing.assert_allclose(p, enumerated(row, alternative), rtol=1e-12)


@pytest.mark.slow
def test_ties_up_to_thirteen_pairs_equal_scipys_permutation_test():
    rng = np.random.default_rng(11)
    values = rng.integers(1, 6, (3, 13)) * rng.choice([-1.0, 1.0], (3, 13))
    found = paired_tests.paired_wilcoxon(values).p_value
    every = stats.PermutationMethod()  # 2**13 sign vectors are fewer than its 9,999
    np.testing.assert_allclose(found, [stats.wilcoxon(row, method=every).pvalue for row in values], rtol=1e-10)


def test_exact_and_normal_p_values_meet():
    rng = np.random.default_rng(6)
    values = rng.integers(-6, 9, (200, 25)).astype(float)
    values[values == 0] = 1
    values[:, 0] = 1.0
    exact = paired_tests.paired_wilcoxon(values).p_value
    for row, p in zip(values, exact, strict=True):
        normal = stats.wilcoxon(row, method=NORMAL).pvalue
        assert abs(p - normal) < 0.02


def test_wilcoxon_known_answer():
    # Darwin's self- and cross-fertilised plants, in eighths of an inch (Fisher, The Design of Experiments, chapter 3)
    plants = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48], float)
    found = paired_tests.paired_wilcoxon(plants, alternative="greater")
    assert float(found.statistic) == 96
    assert float(found.p_value) == 676 / 2**15 == enumerated(plants, "greater")
    assert float(found.p_value) == pytest.approx(stats.wilcoxon(plants, alternative="greater").pvalue)


@pytest.mark.parametrize("alternative", SIDES)
def test_mcnemar_equals_the_binomial(alternative):
    values = np.sign(ragged(60, 25, 3, whole=True))
    found = paired_tests.mcnemar(values, alternative=alternative)
    for row, statistic, p in zip(values, *found[:2], strict=True):
        plus, minus = int((row > 0).sum()), int((row < 0).sum())
        if np.isnan(row).all():
            assert np.isnan(p)
        elif plus + minus == 0:
            assert p == 1
        else:
            assert statistic == plus
            expected = stats.binomtest(plus, plus + minus, alternative=alternative).pvalue
            np.testing.assert_allclose(p, expected, rtol=1e-12)


@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize("whole", [True, False])
def test_t_equals_scipy(alternative, whole):
    values = ragged(50, 20, 9, whole=whole)
    found = paired_tests.paired_t(values, alternative=alternative)
    for row, statistic, p in zip(values, *found, strict=True):
        defined = row[~np.isnan(row)]
        if len(defined) > 1 and defined.std() > 0:
            expected = stats.ttest_1samp(defined, 0, alternative=alternative)
            np.testing.assert_allclose([statistic, p], [expected.statistic, expected.pvalue], rtol=1e-10)
        elif len(defined) > 1 and not defined.any():
            assert p == 1
        else:
            assert np.isnan(p)


@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize("whole", [True, False])
def test_welch_t_equals_scipy(alternative, whole):
    a, b = ragged(40, 12, 5, whole=whole), ragged(40, 20, 6, whole=whole)
    found = paired_tests.welch_t(a, b, alternative=alternative)
    compared = 0
    for x, y, statistic, p in zip(a, b, *found, strict=True):
        x, y = x[~np.isnan(x)], y[~np.isnan(y)]
        if min(len(x), len(y)) < 2 or x.std() == 0 or y.std() == 0:
            continue
        expected = stats.ttest_ind(x, y, equal_var=False, alternative=alternative)
        np.testing.assert_allclose([statistic, p], [expected.statistic, expected.pvalue], rtol=1e-10)
        compared += 1
    assert compared > 20


@pytest.mark.parametrize("test", [paired_tests.paired_wilcoxon, paired_tests.paired_t])
def test_pairs_that_are_equal_up_to_rounding_give_one(test):
    found = test(np.array([[0.0, 0.0, 0.0], [1e-16, 0.0, -1e-16]]))
    assert found.p_value.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("test", PAIRED)
def test_nothing_is_undefined_and_one_pair_is_never_significant(test):
    assert np.isnan(test(np.full((2, 4), np.nan)).p_value).all()
    assert np.isnan(test(np.empty((2, 0))).p_value).all()
    assert [test(np.zeros((1, 6)), alternative=side).p_value.item() for side in SIDES] == [1.0] * 3
    one = float(test(np.array([1.0, np.nan])).p_value)
    assert np.isnan(one) if test is paired_tests.paired_t else one == 1.0


def test_differences_that_do_not_vary_have_no_t():
    found = paired_tests.paired_t([[2.0, 2.0, 2.0], [0.1 + 0.2, 0.3, 0.3]])
    assert np.isnan(found.statistic).all() and np.isnan(found.p_value).all()


def test_infinite_differences_are_ranked_but_have_no_mean():
    values = np.array([[np.inf, 1.0, 2.0, -0.5], [np.inf, np.inf, 1.0, 2.0]])
    np.testing.assert_allclose(
        paired_tests.paired_wilcoxon(values).p_value, paired_tests.paired_wilcoxon(np.minimum(values, 9.0)).p_value
    )
    assert np.isnan(paired_tests.paired_t(values).p_value).all()


def test_rounding_errors_make_no_ranks():
    values = np.array([0.1 + 0.2 - 0.3, 1.1 - 1.0, 0.1, -0.1])
    whole = np.array([0.0, 1.0, 1.0, -1.0])
    assert paired_tests.paired_wilcoxon(values).p_value == paired_tests.paired_wilcoxon(whole).p_value


@pytest.mark.parametrize("test", PAIRED)
def test_leading_axes_are_kept_and_inputs_not_changed(test):
    values = np.sign(ragged(12, 9, 7, whole=True))
    values.setflags(write=False)
    flat, cube = test(values), test(values.reshape(3, 4, 9))
    assert cube.p_value.shape == (3, 4)
    np.testing.assert_array_equal(cube.p_value.ravel(), flat.p_value)
    np.testing.assert_array_equal(cube.statistic.ravel(), flat.statistic)


@pytest.mark.parametrize("test", [*PAIRED, lambda x, **k: paired_tests.welch_t(x, x, **k)])
def test_unknown_sides_are_refused(test):
    with pytest.raises(ValueError, match="alternative must be 'two-sided', 'less' or 'greater', found 'upper'"):
        test(np.ones((1, 3)), alternative="upper")


@pytest.mark.parametrize("n", [2, 5, 20, 60])
@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("test", [paired_tests.paired_wilcoxon, paired_tests.mcnemar])
def test_size_is_not_exceeded(test, n, alternative, whole):
    rng = np.random.default_rng([n, whole])
    values = rng.integers(-4, 5, (4000, n)) if whole else rng.normal(size=(4000, n)) ** 3
    values = np.sign(values) if test is paired_tests.mcnemar else values
    p = test(values, alternative=alternative).p_value
    for size in (0.01, 0.05, 0.1):
        assert (p <= size).mean() <= size + 3.5 * np.sqrt(size * (1 - size) / len(p))


@pytest.mark.parametrize("level", [0.95, 0.99])
@pytest.mark.parametrize("n", [1, 4, 8, 20])
def test_mcnemars_limits_cover_the_difference_of_shares(n, level):
    # all tables of n pairs, with b pairs (1, 0) and c pairs (0, 1)
    tables = [(b, c) for b in range(n + 1) for c in range(n + 1 - b)]
    found = paired_tests.mcnemar([[1.0] * b + [-1.0] * c + [0.0] * (n - b - c) for b, c in tables], level=level)
    zero = (found.low <= 0) & (found.high >= 0)
    np.testing.assert_array_equal(zero, found.p_value > 1 - level)
    counts = np.array([(b, c, n - b - c) for b, c in tables])
    mean = (counts[:, 0] - counts[:, 1]) / n
    assert ((found.low <= mean + 1e-12) & (found.high >= mean - 1e-12)).all()
    for first, second in itertools.product([0.0, 0.01, 0.03, 0.1, 0.2, 0.45, 0.7, 0.95], repeat=2):
        if first + second <= 1:
            law = stats.multinomial.pmf(counts, n, [first, second, max(0.0, 1 - first - second)])
            covers = (found.low <= first - second + 1e-12) & (found.high >= first - second - 1e-12)
            assert law[covers].sum() >= level - 1e-9, (first, second)


def test_mcnemars_limits_are_undefined_without_pairs():
    found = paired_tests.mcnemar([[np.nan, np.nan], [0.0, np.nan]])
    assert np.isnan([found.low[0], found.high[0]]).all()
    # one pair that does not differ says little: the difference may be anything
    assert (found.low[1], found.high[1]) == pytest.approx((-0.95, 0.95))


def test_limits_of_rates_are_those_of_statsmodels():
    for n in (1, 7, 400):
        count = np.arange(n + 1)
        for level in (0.9, 0.98):
            expected = proportion_confint(count, n, alpha=1 - level, method="beta")
            np.testing.assert_allclose(paired_tests.rate_limits(count, n, level), expected, atol=1e-12)
    assert np.isnan(paired_tests.rate_limits([0], [0])).all()
