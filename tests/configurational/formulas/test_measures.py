"""The pair of measures by which models are evaluated relative to data."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causaleval_pd as ce
from causaleval_pd.configurational import Setting, simulate_data
from causaleval_pd.configurational.formulas.measures import MEASURES, SHORT_NAMES, read_measures
from causaleval_pd.configurational.models.exposition import exposition_table

cases = st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=4, max_size=14)


def prevalence_adjusted(left, outcome):
    """Consistency with the outcome as frequent as its absence, by counting; None for 0/0."""
    pairs = list(zip(left, outcome, strict=True))
    a, b = pairs.count((1, 1)), pairs.count((1, 0))
    if not a + b:
        return None
    share = Fraction(sum(outcome), len(outcome))
    return (a / share) / (a / share + b / (1 - share))


@pytest.mark.slow
@settings(deadline=None)
@given(cases)
def test_minimal_forms_by_prevalence_adjusted_consistency(rows):
    data = pd.DataFrame(rows, columns=list("ABY"))
    if data["Y"].nunique() < 2:
        return
    threshold = 0.75
    sufficient = {}
    for text in ("A", "B", "A*B"):
        left = data[text.split("*")].min(axis=1).tolist()
        found = prevalence_adjusted(left, data["Y"].tolist())
        sufficient[text] = found is not None and found >= Fraction(3, 4)
    minimal = {text for text in ("A", "B") if sufficient[text]} or ({"A*B"} if sufficient["A*B"] else set())
    setting = Setting(data=data, con=threshold, cov=0.0, measures=("PAcon", "cov"))
    table = exposition_table("A*B<->Y", setting)
    assert set(table.loc[table["component"] == "conjunctive", "item"]) == minimal


@pytest.mark.parametrize("measures", list(itertools.product(SHORT_NAMES[::2], SHORT_NAMES[1::2])))
def test_crisp_and_fuzzy_data_agree(measures):
    data = simulate_data("A*b+C<->D", 40, noise=0.2, rng=1)
    almost = data.assign(E=np.linspace(0.1, 0.4, len(data)))
    for model in ("A*b+C<->D", "A*B+c<->D", "A*b*C+B*C<->D"):
        how = {"con": 0.7, "cov": 0.6, "measures": measures}
        known = [exposition_table(model, Setting(data=cases, **how)) for cases in (data, almost)]
        pd.testing.assert_frame_equal(*known)


@pytest.mark.filterwarnings("ignore:.*do not reach:UserWarning")
def test_the_pair_is_chosen_in_the_context():
    # with a rare outcome, standard consistency is low though the cause matters
    data = pd.DataFrame({"A": [1] * 10 + [0] * 90, "B": [1] * 5 + [0] * 95})
    runs = pd.DataFrame({"truth": ["A<->B"], "estimate": ["A<->B"]})
    how = {"data": data, "con": 0.9, "cov": 0.9}
    assert ce.evaluate(runs, ["completeness"], context=how)["completeness"].tolist() == [0]
    chosen = how | {"measures": ("PAcon", "PACcov")}
    assert ce.evaluate(runs, ["completeness"], context=chosen)["completeness"].tolist() == [1]


def test_names():
    assert read_measures(("con", "coverage")) == ("consistency", "coverage")
    assert read_measures(["AACcon", "AAcov"]) == (MEASURES[6], MEASURES[5])
    for wrong, kind in (("PAcon", TypeError), (("con",), TypeError), (("cov", "con"), ValueError)):
        with pytest.raises(kind, match="measure"):
            read_measures(wrong)
