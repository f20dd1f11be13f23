"""Closed-form rules: named, explained, and probed where a metric names one."""

import numpy as np
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.law import CLOSED_FORMS
from causaleval_pd.contract.metric import METRICS, probe_closed_form


@pytest.mark.slow
def test_every_metric_keeps_its_closed_form_rule():
    named = [m for m in METRICS.values() if m.closed_form is not None]
    assert len(named) > 40
    for m in named:
        probe_closed_form(m)


@pytest.fixture
def register(declare):
    """Register a metric of graphs with a closed form; it is forgotten after the test."""
    return lambda function, name: declare(range=(0, np.inf), closed_form=name)(function)


def test_a_metric_that_contradicts_its_closed_form_is_refused(register):
    def squared(pairs):
        return pairs.counts.fn**2

    with pytest.raises(ValueError, match=r"squared names closed_form='linear', but at same direction 2 it is .* units"):
        register(squared, "linear")
    message = r"names closed_form='ancestors', but it depends on the number of shared edges"
    with pytest.raises(ValueError, match=message):
        register(squared, "ancestors")
    with pytest.raises(ValueError, match=r"names closed_form='blankets', but its function reads 'counts', which"):
        register(squared, "blankets")
    with pytest.raises(ValueError, match=r"unknown closed form 'liner'; did you mean 'linear'"):
        register(squared, "liner")
    with pytest.raises(ValueError, match=r"closed form 'additive' is for field 'network', not 'graph'"):
        register(squared, "additive")
    assert "squared" not in METRICS

    def turned(pairs):
        return pairs.counts.reversed

    for name, fault in (("hypergeometric", "depends on their directions"), ("reversal", "with 1 right and 3 wrong")):
        with pytest.raises(ValueError, match=fault):
            register(turned, name)
    assert register(squared, None).closed_form is None

    def apart(pairs):
        return pairs.v_structures.tp

    with pytest.raises(ValueError, match="closed_form='hypergeometric', but its function reads 'v_structures', which"):
        register(apart, "hypergeometric")


def test_rules_are_listed_with_what_must_hold():
    table = ce.list_closed_forms()
    assert table["explanation"].str.len().gt(20).all() and set(table["field"]) == set(ce.list_metrics()["field"])
    used = ce.list_metrics()["closed_form"].dropna()
    assert set(used) <= set(table.index)
    fields = ce.list_metrics().loc[used.index, "field"]
    assert (table.loc[used, "field"].to_numpy() == fields.to_numpy()).all()


def test_a_rule_is_registered_once_and_its_probe_sees_the_metric(register):
    seen = []

    def probe(value):
        seen.append(value(5.0))
        return None if seen[-1] == 10.0 else f"5 gives {seen[-1]}"

    ce.register_closed_form(ce.ClosedFormRule("doubles", "graph", "Twice the count.", probe))
    try:
        with pytest.raises(ValueError, match="a closed form called 'doubles' is already registered"):
            ce.register_closed_form(ce.ClosedFormRule("doubles", "graph", "Twice the count.", lambda value: None))

        def twice(x):
            return 2 * x

        def thrice(x):
            return 3 * x

        assert register(twice, "doubles").closed_form == "doubles"
        message = r"thrice names closed_form='doubles', but 5 gives 15.0; leave closed_form out, so that its null dist"
        with pytest.raises(ValueError, match=message):
            register(thrice, "doubles")
        assert seen == [10.0, 15.0] and "thrice" not in METRICS
    finally:
        CLOSED_FORMS.pop("doubles", None)


def test_a_rule_without_a_probe_is_taken_at_its_word(register):
    ce.register_closed_form(ce.ClosedFormRule("believed", "graph", "Nothing can be checked."))
    try:
        assert register(anything, "believed").closed_form == "believed"
    finally:
        del CLOSED_FORMS["believed"]


def anything(pairs):
    return pairs.counts.fn**3
