"""Null models of formulas from a user's function."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.configurational import Model

RUNS = pd.DataFrame(
    {"truth": ["A+B<->E", "A*b<->E", "C<->E"], "estimate": ["A<->E", "A*b<->E", "A<->E; B<->E"]}, index=["x", "y", "z"]
)


def one_cause(estimate: Model | tuple[Model, ...], rng: np.random.Generator) -> str:
    """Return a single cause, two for a set."""
    names = rng.choice(list("ABCD"), 1 if isinstance(estimate, Model) else len(estimate), replace=False)
    return "; ".join(f"{name}<->E" for name in names)


@pytest.mark.slow
def test_controls_are_those_of_the_function() -> None:
    found = ce.with_controls(RUNS, ["correctness"], null=one_cause, n_draws=400, rng=1, columns="full")
    assert found["correctness_control_mean"].tolist() == pytest.approx([0.5, 0.25, 0.5], abs=0.08)
    assert found["control_null"].unique().tolist() == ["one_cause"]
    again = ce.with_controls(RUNS[::-1], ["correctness"], null=one_cause, n_draws=400, rng=1, columns="full")
    pd.testing.assert_frame_equal(again[::-1], found)


@pytest.mark.parametrize(
    ("control", "message"),
    [
        ("A", "row 0: null 'bad' returned no model that can be scored: expected"),
        (None, "row 0: null 'bad' returned no model .*found None"),
        ("A=2<->E=1", "row 0: null 'bad' .*A=2 occurs, but factor A"),
    ],
)
def test_what_is_no_control(control: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ce.with_controls(RUNS, ["correctness"], null=ce.null_model(lambda e, rng: control, name="bad"), n_draws=2)
