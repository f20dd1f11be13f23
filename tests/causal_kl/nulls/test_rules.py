"""The probe of the rule `additive` catches metrics that are not sums over nodes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.metric import METRICS


def register(function, kinds=("discrete", "gaussian")):
    """Register a metric under the rule."""
    return ce.metric(
        field="network",
        kinds=kinds,
        direction="minimize",
        range=(0, math.inf),
        optimum=0,
        long_name=function.__name__,
        closed_form="additive",
    )(function)


@pytest.mark.slow
def test_the_rule_is_explained():
    assert ce.list_closed_forms().loc["additive", "explanation"].startswith("A sum of terms, one per node")


@pytest.mark.parametrize("name", ["kl", "ckl2", "edit_distance", "wed_d", "wed_p"])
def test_a_square_of_a_sum_is_refused(name):
    def squared(pairs):
        return ce.get_metric(name)(pairs) ** 2

    with pytest.raises(ValueError, match=r"squared names closed_form='additive', but at A -> B; A -> C it is "):
        register(squared)
    assert "squared" not in ce.list_metrics("network").index


def test_a_distance_of_equivalence_classes_is_refused():
    def classes(pairs):
        return ce.pattern_edit_distance(pairs)

    with pytest.raises(ValueError, match="at A -> B; A -> C; B -> C it is 0, where adding up its nodes gives 1"):
        register(classes)


def test_a_metric_that_scores_no_network_is_refused():
    def broken(pairs):
        return pairs.counts.fn

    with pytest.raises(ValueError, match="on discrete networks it raises AttributeError.*on gaussian networks"):
        register(broken)


def test_sums_are_registered():
    def distance_of_skeletons(pairs):
        values = np.empty(pairs.n)
        for group in pairs.groups():
            true, estimated = ({frozenset(arc) for arc in x.arcs} for x in (group.truth.structure, group.structure))
            values[group.rows] = len(true ^ estimated)
        return values

    made = register(distance_of_skeletons)
    try:
        assert ce.get_metric("distance_of_skeletons") is made
    finally:
        del METRICS["distance_of_skeletons"]
