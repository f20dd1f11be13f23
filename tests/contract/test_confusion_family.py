"""Families of metrics made from confusion counts."""

from __future__ import annotations

import inspect
import pickle

import pytest

import causaleval_pd as ce
from causaleval_pd.contract.confusion import Confusion
from causaleval_pd.contract.confusion_family import ConfusionFamily
from causaleval_pd.contract.metric import METRICS


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
        module=__name__,
        label="x",
        positives="x",
        spec={"field": "graph", "kinds": ("dag",)},
    )
    with pytest.raises(ValueError, match="precison"):
        family.metric("precison", gives=1)
    with pytest.raises(ValueError, match="'adjacency_tp' is already registered"):
        family.metric("tp", gives=1, long_name="x")
    assert METRICS["adjacency_tp"] is ce.adjacency_tp
