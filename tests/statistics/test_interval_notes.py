"""Notes of intervals: why there is none, and where ties make it one point."""

import numpy as np

from causaleval_pd.statistics.arrays import mean_difference, welch_difference
from causaleval_pd.statistics.interval_notes import interval_notes, joined, sample_notes
from causaleval_pd.statistics.paired_tests import hodges_lehmann

NAN = np.nan
VALUES = np.array(
    [
        [1.0, 2.0, 3.0, NAN, NAN, NAN, NAN, NAN],
        [2.0] * 8,
        [0.0] * 5 + [1.0, 2.0, 3.0],
        [NAN] * 8,
        [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 9.0, 12.0],
    ]
)


def test_reasons_follow_the_values():
    few, still = "too few clusters for an interval", "no variation"
    point = "ties: the interval is one point"
    assert interval_notes(mean_difference(VALUES), VALUES, 0.95).tolist() == [None, still, None, None, None]
    assert interval_notes(hodges_lehmann(VALUES), VALUES, 0.95).tolist() == [few, point, None, None, None]


def test_reasons_of_independent_samples():
    a, b = VALUES[[1, 3, 4]], VALUES[[1, 1, 1]]
    assert sample_notes(welch_difference(a, b), a, b).tolist() == ["no variation", None, None]


def test_notes_are_joined():
    assert joined([None, "a", "a"], [None, None, "b"]) == [None, "a", "a; b"]
