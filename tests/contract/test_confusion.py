"""Measures of confusions against their definitions, and the metrics that families make of them."""

import inspect
import math
import pickle

import numpy as np
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.confusion import MEASURES, Confusion, ConfusionFamily
from causaleval_pd.contract.metric import METRICS

DEFINITIONS = {
    "tp": lambda tp, fp, fn, tn: tp, "fp": lambda tp, fp, fn, tn: fp, "fn": lambda tp, fp, fn, tn: fn,
    "tn": lambda tp, fp, fn, tn: tn, "precision": lambda tp, fp, fn, tn: tp / (tp + fp),
    "recall": lambda tp, fp, fn, tn: tp / (tp + fn), "npv": lambda tp, fp, fn, tn: tn / (tn + fn),
    "specificity": lambda tp, fp, fn, tn: tn / (tn + fp), "fdr": lambda tp, fp, fn, tn: fp / (tp + fp),
    "for": lambda tp, fp, fn, tn: fn / (tn + fn), "g1": lambda tp, fp, fn, tn: 2 * tn / (2 * tn + fp + fn),
    "jaccard": lambda tp, fp, fn, tn: tp / (tp + fp + fn),
    "accuracy": lambda tp, fp, fn, tn: (tp + tn) / (tp + fp + fn + tn),
    "f1": lambda tp, fp, fn, tn: 2 * tp / (2 * tp + fp + fn),
    "f_beta": lambda tp, fp, fn, tn: 1.25 * tp / (1.25 * tp + 0.25 * fn + fp),
    "balanced_accuracy": lambda tp, fp, fn, tn: (tp / (tp + fn) + tn / (tn + fp)) / 2,
    "mcc": lambda tp, fp, fn, tn: (tp * tn - fp * fn) / math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)),
}  # fmt: skip


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


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("adjacency_f_beta", ["beta", "zero_division"]),
        ("orientation_for", ["zero_division"]),
        ("v_structure_tp", []),
        ("markov_blanket_f1", ["zero_division"]),
    ],
)
def test_a_member_is_a_metric_like_any_other(name, options):
    made = ce.get_metric(name)
    assert made.function.__module__.startswith("causaleval_pd.fields.structure.")
    assert made.function.__name__ == made.function.__qualname__ == name
    assert pickle.loads(pickle.dumps(made)) is made
    parameters = inspect.signature(made).parameters
    assert list(parameters) == [
        "pairs",
        *(["beta"] if "beta" in name else []),
        *(["zero_division"][: name[-2:] != "tp"]),
    ]
    assert parameters["pairs"].annotation == "GraphPairs"
    with pytest.raises(ValueError, match="has no option 'zero'"):
        made("A -> B", "A -> B", zero=1)


def test_unknown_measures_and_taken_names_are_refused():
    family = ConfusionFamily(
        "adjacency",
        lambda pairs: Confusion(pairs.counts.tp, 0, 0),
        label="x",
        positives="x",
        spec={"field": "graph", "kinds": ("dag",)},
    )
    with pytest.raises(ValueError, match="precison"):
        family.metric("precison", gives=1)
    with pytest.raises(ValueError, match="'adjacency_tp' is already registered"):
        family.metric("tp", gives=1, long_name="x")
    assert METRICS["adjacency_tp"] is ce.adjacency_tp
