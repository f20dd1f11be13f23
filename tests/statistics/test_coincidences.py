"""The law of coincidences: all shuffles of small decks, published values, and the normal law of large decks."""

import itertools

import numpy as np
import pytest

from causaleval_pd.statistics import coincidences
from causaleval_pd.statistics.coincidences import coincidence_law, coincidence_moments, coincidence_tail


def shuffles(first, second):
    """Return the numbers of coincidences of all different orders of the second deck."""
    deck = np.repeat(range(len(first)), first)
    orders = set(itertools.permutations(np.repeat(range(len(second)), second).tolist()))
    return np.array([(deck == order).sum() for order in orders])


@pytest.mark.parametrize(
    ("first", "second", "mean", "variance"),
    [((2, 2, 3), (3, 3, 1), 15 / 7, 76 / 49), ((3, 3), (2, 4), 3, 8 / 5), ((2, 2, 1), (1, 0, 4), None, None)],
)
def test_decks_have_the_law_of_all_shuffles(first, second, mean, variance):
    listed = shuffles(first, second)
    if mean is not None:
        assert (listed.mean(), listed.var()) == pytest.approx((mean, variance))
    assert coincidence_moments(first, second) == pytest.approx((listed.mean(), listed.var()))
    law = coincidence_law(first, second)
    steps = np.arange(len(law))
    assert law.sum() == pytest.approx(1) and law @ steps == pytest.approx(listed.mean())
    assert law @ (steps - listed.mean()) ** 2 == pytest.approx(listed.var())
    np.testing.assert_allclose(law, np.bincount(listed, minlength=len(law)) / len(listed), atol=1e-15)
    for count in range(sum(first) + 1):
        assert coincidence_tail(count, [first], [second]) == pytest.approx((listed >= count).mean())


@pytest.mark.parametrize(("count", "p"), [(50, 0.083169), (55, 0.009458), (60, 0.000483)])
def test_published_tails(count, p):
    assert coincidence_tail(count, [(60, 30, 30)], [(50, 40, 30)]) == pytest.approx(p, abs=6e-7)
    law = coincidence_law((60, 30, 30), (50, 40, 30))
    assert law.sum() == pytest.approx(1) and law @ np.arange(len(law)) == pytest.approx(42.5)


def test_one_card_more_changes_the_law_to_the_normal_one():
    exact = coincidence_tail(120, [(120, 90, 90)], [(100, 100, 100)])
    near = coincidence_tail(120, [(121, 90, 90)], [(101, 100, 100)])
    assert near == pytest.approx(exact, rel=0.1)


def test_the_normal_law_of_several_decks_is_near_the_exact_one(monkeypatch):
    decks = [[60, 30, 30], [40, 50, 10]], [[50, 40, 30], [30, 30, 40]]
    exact = [coincidence_tail(count, *decks) for count in (65, 75, 85)]
    assert coincidences.MOST_EXACT == 300
    monkeypatch.setattr(coincidences, "MOST_EXACT", 10)
    near = [coincidence_tail(count, *decks) for count in (65, 75, 85)]
    np.testing.assert_allclose(near, exact, rtol=0.1, atol=1e-4)


def test_a_deck_of_one_card_or_none_beside_a_large_one():
    """One card agrees or not, whatever the shuffle; the large deck has a single label."""
    assert coincidence_moments((1, 0), (1, 0)) == (1, 0) and coincidence_moments((1, 0), (0, 1)) == (0, 0)
    assert coincidence_moments((0, 0), (0, 0)) == (0, 0)
    assert coincidence_tail(401, [(400, 0), (1, 0)], [(400, 0), (1, 0)]) == 1
    assert coincidence_tail(401, [(400, 0), (1, 0)], [(400, 0), (0, 1)]) == 0
