"""Better and worse: direction, ties and undefined values."""

import numpy as np
import pytest

from causaleval_pd.statistics.direction import as_good, better, better_side, merit, score


@pytest.mark.parametrize(
    ("direction", "expected_good", "expected_better"),
    [
        ("minimize", [True, True, False, False], [True, False, False, False]),
        ("maximize", [False, True, True, False], [False, False, True, False]),
        ("zero", [True, True, False, False], [True, False, False, False]),
    ],
)
def test_order_follows_the_direction(direction, expected_good, expected_better):
    controls = [1.0, 2.0 + 1e-13, 3.0, np.nan]
    assert as_good(controls, 2.0, direction=direction, optimum=0.0).tolist() == expected_good
    assert better(controls, 2.0, direction=direction, optimum=0.0).tolist() == expected_better


def test_zero_measures_the_distance_from_the_optimum():
    controls = [0.4, 1.7, 1.0]
    assert as_good(controls, 1.5, direction="zero", optimum=1.0).tolist() == [False, False, True]
    assert score([0.4, 1.7], direction="zero", optimum=1.0).tolist() == pytest.approx([0.6, 0.7])
    assert score([0.4, 1.7], direction="maximize", optimum=1.0).tolist() == [0.4, 1.7]


@pytest.mark.parametrize("direction", ["minimize", "maximize", "zero"])
def test_merit_and_side_follow_the_direction(direction):
    values, how = [0.2, 1.5, 3.0, np.nan], {"direction": direction, "optimum": 1.0}
    merits, scores = merit(values, **how), score(values, **how)
    for i in range(3):
        assert (merits > merits[i]).tolist() == better(values, values[i], **how).tolist()
    assert np.isnan(merits[3])
    best = scores[int(np.nanargmax(merits))]
    assert best == (np.nanmax(scores) if better_side(direction) == "greater" else np.nanmin(scores))


def test_tolerance_of_ties_grows_with_the_observed_value():
    assert as_good(1e6 + 1e-7, 1e6, direction="minimize", optimum=0)
    assert not as_good(1e6 + 1e-5, 1e6, direction="minimize", optimum=0)
    assert not as_good(1 + 1e-11, 1.0, direction="minimize", optimum=0)
    assert not better(0.3, 0.1 + 0.2, direction="minimize", optimum=0)


def test_infinite_values_tie_with_themselves_only():
    values = [1.0, np.inf, np.nan]
    assert as_good(values, np.inf, direction="minimize", optimum=0).tolist() == [True, True, False]
    assert better(values, np.inf, direction="minimize", optimum=0).tolist() == [True, False, False]
    assert as_good(values, np.inf, direction="maximize", optimum=0).tolist() == [False, True, False]
    # undefined observations are beaten by nothing
    assert not as_good([0.0, np.nan], np.nan, direction="minimize", optimum=0).any()
    assert not better([0.0, np.nan], np.nan, direction="maximize", optimum=0).any()


def test_values_without_direction_have_no_order():
    message = "direction must be 'minimize', 'maximize' or 'zero' to order values, found None"
    with pytest.raises(ValueError, match=message):
        as_good(1.0, 1.0, direction=None, optimum=0)
