"""Words of levels, corrections and p-values."""

import datetime

import numpy as np
import pandas as pd
import pytest

from causaleval_pd.statistics.multiplicity import CORRECTIONS as KNOWN
from causaleval_pd.statistics.words import CORRECTIONS, level_words, p_text


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        (["pc", "ges", "pc"], ["pc", "ges", "pc"]),
        (np.array([0.1 + 0.2, 1600.0]), ["0.3", "1600"]),
        (np.array([0.1 + 0.2, 0.3]), ["0.30000000000000004", "0.3"]),
        (np.array([100, 400]), ["100", "400"]),
        (np.array([True, False]), ["True", "False"]),
        (np.array(["2024-01-01", "2024-01-02"], "datetime64[ns]"), ["2024-01-01", "2024-01-02"]),
        ([pd.Timestamp("2024-01-01 12:30")], ["2024-01-01 12:30:00"]),
        ([datetime.date(2024, 1, 1)], ["2024-01-01"]),
        ([0.1 + 0.2, None, float("nan"), pd.NA, pd.NaT], ["0.3", "", "", "", ""]),
    ],
)
def test_levels_are_short_and_differ(levels, words):
    assert level_words(levels) == words


def test_every_correction_has_words():
    assert set(KNOWN) - {"none"} <= set(CORRECTIONS)


def test_p_values_at_the_floor_name_the_number_of_draws():
    assert p_text(1 / 1001, at_floor=True) == "≤ 1/1001"
    assert p_text(1e-4, at_floor=True) == "≤ 1/10000"
    # twice the mean of p-values at the floor is no 1/(R + 1)
    assert p_text(2 / 1001, at_floor=True) == "≤ 0.0020"
    assert p_text(1.0, at_floor=True) == "≤ 1.0"
    least = "1e\N{MINUS SIGN}5"
    assert p_text(1e-5, at_floor=True) == f"≤ {least}"
    assert (p_text(0.0), p_text(1e-40), p_text(1.0)) == (f"< {least}", f"< {least}", "1.0")
    assert p_text(float("nan")) == "\u2013"
