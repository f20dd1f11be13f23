"""Closed-form rules of answers and quantities refuse metrics that contradict them."""

from __future__ import annotations

import numpy as np
import pytest

import causaleval_pd as ce


def register(function, field, closed_form):
    return ce.metric(
        field=field,
        kinds=("answer",) if field == "answer" else ("pns", "number"),
        direction="minimize",
        range=(0, np.inf),
        optimum=0,
        long_name=function.__name__,
        closed_form=closed_form,
    )(function)


def share_of_errors(pairs):
    return np.full(pairs.n, (pairs.truth != pairs.estimate).mean())


def mean_error(pairs):
    return np.abs(pairs.truth - pairs.estimate.mean())


def standardised_error(pairs):
    n = np.ones(pairs.n) if pairs.terms is None else pairs.terms.n1[:, 1]
    return np.abs(pairs.truth - pairs.estimate) * np.sqrt(n)


def total_error(pairs):
    return np.abs(pairs.truth - pairs.estimate).sum()


@pytest.mark.parametrize(
    ("function", "field", "closed_form", "message"),
    [
        (share_of_errors, "answer", "answer", r"share_of_errors names closed_form='answer', but where truth is False"),
        (mean_error, "quantity", "counts", r"where the quantity is a number .* alone and .* among other pairs"),
        (standardised_error, "quantity", "counts", "depends on yes-counts"),
        (total_error, "quantity", "counts", r"array of shape \(\) for 4 pairs"),
        (mean_error, "quantity", "answer", "closed form 'answer' is for field 'answer', not 'quantity'"),
    ],
)
def test_a_metric_that_contradicts_its_rule_is_refused(function, field, closed_form, message):
    with pytest.raises(ValueError, match=message):
        register(function, field, closed_form)
    assert function.__name__ not in ce.list_metrics().index


def test_every_rule_has_a_probe():
    rules = ce.list_closed_forms()
    assert set(rules.index[rules["field"].isin(["answer", "quantity"])]) == {"answer", "counts"}
