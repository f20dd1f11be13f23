"""Measures of confusions against their definitions, and the metrics that families make of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from causaleval_pd.contract.confusion import MEASURES, Confusion

DEFINITIONS = {
    "tp": lambda tp, fp, fn, tn: tp,
    "fp": lambda tp, fp, fn, tn: fp,
    "fn": lambda tp, fp, fn, tn: fn,
    "tn": lambda tp, fp, fn, tn: tn,
    "precision": lambda tp, fp, fn, tn: tp / (tp + fp),
    "recall": lambda tp, fp, fn, tn: tp / (tp + fn),
    "npv": lambda tp, fp, fn, tn: tn / (tn + fn),
    "specificity": lambda tp, fp, fn, tn: tn / (tn + fp),
    "fdr": lambda tp, fp, fn, tn: fp / (tp + fp),
    "for": lambda tp, fp, fn, tn: fn / (tn + fn),
    "g1": lambda tp, fp, fn, tn: 2 * tn / (2 * tn + fp + fn),
    "jaccard": lambda tp, fp, fn, tn: tp / (tp + fp + fn),
    "accuracy": lambda tp, fp, fn, tn: (tp + tn) / (tp + fp + fn + tn),
    "f1": lambda tp, fp, fn, tn: 2 * tp / (2 * tp + fp + fn),
    "f_beta": lambda tp, fp, fn, tn: 1.25 * tp / (1.25 * tp + 0.25 * fn + fp),
    "balanced_accuracy": lambda tp, fp, fn, tn: (tp / (tp + fn) + tn / (tn + fp)) / 2,
    "mcc": lambda tp, fp, fn, tn: (tp * tn - fp * fn) / math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)),
}


def confusion(tp, fp, fn, tn):
    return Confusion(np.array([tp]), np.array([tp + fn]), np.array([tp + fp]), np.array([tp + fp + fn + tn]))


@pytest.mark.slow
def test_every_measure_is_its_definition():
    assert set(DEFINITIONS) == set(MEASURES)
    for counts in np.ndindex(3, 3, 3, 3):
        for name, definition in DEFINITIONS.items():
            try:
                expected = definition(*map(float, counts))
            except ZeroDivisionError:
                expected = math.nan
            found = MEASURES[name].value(confusion(*map(float, counts)))
            np.testing.assert_allclose(found, [expected], rtol=1e-14, err_msg=f"{name} at {counts}")


def test_undefined_values_are_as_asked():
    for name in MEASURES.keys() - {"tp", "fp", "fn", "tn"}:
        assert MEASURES[name].value(confusion(0.0, 0.0, 0.0, 0.0), zero_division=0.25).tolist() == [0.25]
