"""Topological orders against their definition, layer by layer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from causaleval_pd.configurational import parse
from causaleval_pd.configurational.truth_table import evaluation_order, topological_order

graphs = st.dictionaries(st.sampled_from("ABCDE"), st.sets(st.sampled_from("ABCDEFG"), max_size=3), max_size=5)


def by_layers(causes: dict[str, set[str]]) -> list[str] | None:
    """Take away the names without causes among those that are left, until none is left."""
    left, order = set(causes), list[str]()
    while left:
        ready = sorted(name for name in left if not causes[name] & left)
        if not ready:
            return None
        left -= set(ready)
        order += ready
    return order


@pytest.mark.slow
@given(graphs)
def test_order_is_by_layers_and_names(causes: dict[str, set[str]]) -> None:
    assert topological_order(causes) == by_layers(causes)


def test_outcomes_of_models() -> None:
    assert evaluation_order(parse("(B<->C)*(A<->B)*(A<->D)*(C+D<->E)")) == ["B", "D", "C", "E"]
    assert evaluation_order(parse("(A*b<->C)*(a+B<->c)")) == ["C"]
    assert evaluation_order(parse("A+c<->C")) is None
    assert evaluation_order(parse("(A<->B)*(b<->a)")) is None
