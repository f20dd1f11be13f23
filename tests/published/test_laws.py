"""Laws of right answers, AUROC and average precision agree with all orders of few and with their specification."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from causaleval_pd.published import laws


def shuffles(truths: tuple[int, ...], answers: tuple[int, ...]) -> np.ndarray:
    """Return the numbers of right answers of all different orders of the answers."""
    truth = np.repeat(range(len(truths)), truths)
    given = set(itertools.permutations(np.repeat(range(len(answers)), answers).tolist()))
    return np.array([(truth == order).sum() for order in given])


@pytest.mark.parametrize(
    ("n", "yes", "right", "p", "answered"),
    [
        (100, 70, 69, 1, 99), (100, 70, 70, 1, 100), (100, 70, 72, 0.08788, 98), (100, 70, 75, 0.002807, 91),
        (100, 70, 80, 5.14e-6, 84), (1160, 178, 982, 1, 0), (1160, 178, 990, 3.4e-7, 10), (100, 50, 60, 0.03567, 50),
    ],
)  # fmt: skip
def test_unbalanced_truths(n, yes, right, p, answered):
    """Cases 23 to 25: all-yes and all-no answers have the accuracy of the majority."""
    limits = laws.shuffled_range(n, yes, right)
    assert limits.high == pytest.approx(p, rel=0.02) and limits.answered_yes == answered


@pytest.mark.parametrize(("right", "p"), [(109, 0.0295), (107, 0.0551)])
def test_balanced_questions_raise_p(right, p):
    """Case 26, with 95 yes."""
    assert laws.shuffled_range(190, 95, right).high == pytest.approx(p, abs=1e-4)


@pytest.mark.parametrize(("yes", "answered"), [(2, 3), (0, 2), (5, 1)])
def test_two_classes_are_hypergeometric(yes, answered):
    listed = shuffles((yes, 5 - yes), (answered, 5 - answered))
    assert laws.shuffled_mean(5, yes, answered) == pytest.approx(listed.mean() / 5)
    for right in range(6):
        assert laws.shuffled_tail(5, yes, answered, right) == pytest.approx((listed >= right).mean())


def test_accuracies_that_no_count_gives():
    assert laws.right_answers(0.521, 0.0005, 190) == (99, 99)
    assert laws.right_answers(0.523, 0.0005, 190) is None
    assert laws.right_answers(0.5, 0.05, 10) == (5, 5)


def labels(n: int, k: int) -> np.ndarray:
    """Return all orders of k true among n candidates, best first, (orders, n)."""
    return np.array([[i in chosen for i in range(n)] for chosen in itertools.combinations(range(n), k)])


def aurocs(n: int, k: int) -> np.ndarray:
    found = labels(n, k)
    above = found.cumsum(1)
    return (above * ~found).sum(1) / (k * (n - k))


def precisions(n: int, k: int) -> np.ndarray:
    found = labels(n, k)
    return (found.cumsum(1) / np.arange(1, n + 1) * found).sum(1) / k


def test_normal_law_and_bounds_of_auroc():
    """Cases 14, 16 and 18."""
    assert laws.auroc_normal([(20, 4)] * 10, 0.615) == pytest.approx(0.01393, rel=1e-3)
    assert laws.auroc_bound([(20, 4)] * 10, 0.615) == pytest.approx(0.2413, abs=1e-4)
    assert laws.auroc_variance([(6, 2), (6, 3), (7, 2)]) == pytest.approx(0.02271091, abs=1e-8)
    assert laws.auroc_normal([(16, 13)], 0.685) == pytest.approx(0.1659, abs=2e-4)
    assert laws.auroc_bound([(20, 4)], 0.5) == 1
    tails = [laws.auroc_tail([(90, 15)] * 50, value).p for value in (0.515, 0.525)]
    assert tails == pytest.approx([0.09829, 0.01563], rel=2e-3)


@pytest.mark.parametrize(("n", "k"), [(5, 1), (6, 2), (7, 3), (8, 6)])
def test_the_law_of_auroc_is_that_of_all_orders(n, k):
    values, weights = laws.auroc_law(n, k)
    listed = aurocs(n, k)
    np.testing.assert_allclose(weights, [np.isclose(listed, x).mean() for x in values], atol=1e-14)
    assert laws.auroc_variance([(n, k)]) == pytest.approx(listed.var())


@pytest.mark.parametrize("groups", [(4, 2), (1, 1, 4), (3, 3), (5, 1)])
def test_ties_change_the_variance_and_the_bound_holds(groups):
    scores = np.repeat(np.arange(len(groups)), groups)[::-1]
    found = []
    for true in itertools.combinations(range(6), 2):
        mask = np.isin(range(6), true)
        apart = np.sign(scores[mask][:, None] - scores[~mask][None])
        found.append((apart.mean() + 1) / 2)
    assert laws.auroc_variance([(6, 2)], [groups]) == pytest.approx(np.var(found))
    for value in np.unique(found):
        assert np.mean(np.array(found) >= value - 1e-12) <= laws.auroc_bound([(6, 2)], value) + 1e-12


@pytest.mark.parametrize(
    ("n", "k", "mean", "sd", "skewness"),
    [(20, 4, 0.309379, 0.135123, 1.2293), (90, 15, 0.204893, 0.054678, 1.1788), (9, 6, 0.742874, 0.120752, 0.0510)],
)
def test_moments_of_average_precision(n, k, mean, sd, skewness):
    """Case 21, and all orders where there are few."""
    found = laws.precision_moments(n, k)
    assert (found.mean, math.sqrt(found.variance)) == pytest.approx((mean, sd), abs=1e-6)
    assert found.skewness == pytest.approx(skewness, abs=1e-4)
    if n == 9:
        assert tuple(found) == pytest.approx(
            (precisions(9, 6).mean(), precisions(9, 6).var(), stats.skew(precisions(9, 6)))
        )


@pytest.mark.parametrize(
    ("n", "k", "runs", "value", "p"),
    [(20, 4, 10, 0.385, 0.0482), (20, 4, 10, 0.455, 0.0018), (90, 15, 5, 0.245, 0.0624), (90, 9, 30, 0.165, 0.0187)],
)
def test_means_of_large_rankings_have_a_pearson_law(n, k, runs, value, p):
    """Case 22."""
    sizes = [(n, k)] * runs
    moments = laws.mean_precision_moments(sizes)
    law = stats.pearson3(moments.skewness, moments.mean, math.sqrt(moments.variance))
    assert law.sf(value) == pytest.approx(p, abs=6e-5)
    # small rankings are convolved
    assert laws.precision_tail(sizes, value).p == pytest.approx(p, rel=0.2 if n == 20 else 1e-2)


def test_one_large_ranking_is_bounded_closely():
    """Four true ones of 30: too many orders for the function, listed here."""
    listed = precisions(30, 4)
    for value in (0.2, 0.3, 0.5):
        exact = (listed >= value - 1e-9).mean()
        assert exact - 1e-12 <= laws.precision_tail([(30, 4)], value).p <= 1.03 * exact


@pytest.mark.parametrize(("n", "k", "n_runs"), [(60, 3, 2), pytest.param(200, 3, 5, marks=pytest.mark.slow)])
def test_skewed_means_of_average_precision_have_bounds_and_keep_their_level(n, k, n_runs):
    """The law of Pearson III rejects too often there: .072 at .05 for (200, 3) x 5, .023 at .01 for (900, 2) x 10."""
    rng = np.random.default_rng(11)
    ranks = np.sort(rng.random((20_000 * n_runs, n)).argpartition(k, axis=1)[:, :k] + 1, axis=1)
    means = (np.arange(1, k + 1) / ranks).mean(axis=1).reshape(-1, n_runs).mean(axis=1)
    for value in np.quantile(means, [0.9, 0.95, 0.99]):
        upper, lower = (laws.precision_tail([(n, k)] * n_runs, value, lower=x) for x in (False, True))
        share = (means >= value).mean()
        error = 4 * (share / len(means)) ** 0.5
        assert upper.method == "bound" and lower.p <= upper.p <= 1.05 * lower.p + 1e-9
        assert lower.p - error <= share <= upper.p + error


def test_bounds_of_one_average_precision_hold_the_law_of_all_orders():
    first, second = np.triu_indices(400, 1)
    law = (1 / (first + 1) + 2 / (second + 1)) / 2
    for value in (0.01, 0.05, 0.2, 0.7):
        upper, lower = (laws.precision_tail([(400, 2)], value, lower=x).p for x in (False, True))
        assert lower - 1e-12 <= (law >= value - 1e-12).mean() <= upper + 1e-12 <= 1.05 * lower
