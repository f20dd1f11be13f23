"""Closed-form rules of graph metrics: what a metric must be a function of, and probes that check it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ....contract.confusion import Confusion
from ....contract.law import ClosedFormRule, Value, register_closed_form
from ....graphs.edge_types import BACKWARD, FORWARD, LINE, AncestorCounts, EdgeTypes
from .additive import Counts, affine_units, misfits

#: shared edges with the same direction, the other one, a lost one, an added one, and without
_SHARED = ((FORWARD, FORWARD), (FORWARD, BACKWARD), (FORWARD, LINE), (LINE, FORWARD), (LINE, LINE))


def _edges(*shared: float) -> Counts:
    """Stand in for pairs on 12 nodes, with numbers of shared edges by type at fixed margins."""
    true, estimated = {FORWARD: 20.0, LINE: 10.0}, {FORWARD: 18.0, LINE: 7.0}
    return Counts(EdgeTypes.of_margins(12.0, true, estimated, dict(zip(_SHARED, shared, strict=True))))


def _not_affine(value: Value, at: Callable[..., Any], names: Sequence[str]) -> str | None:
    """Return where the metric is not affine in the named counts, or None."""
    none, units = affine_units(lambda *counts: value(at(*counts)), len(names))
    for numbers, actual, expected, wrong in misfits(lambda *counts: value(at(*counts)), none, units):
        if wrong.any():
            counts = ", ".join(f"{name} {k:g}" for name, k in zip(names, numbers, strict=True) if k)
            return f"at {counts} it is {actual.item():g}, where adding up its units gives {expected.item():g}"
    return None


def affine_in_edges(value: Value) -> str | None:
    """Check that a metric is affine in the types of shared edges."""
    return _not_affine(
        value, _edges, ("same direction", "reversed", "lost direction", "added direction", "both undirected")
    )


def function_of_adjacencies(value: Value) -> str | None:
    """Check that a metric depends on the shared adjacencies alone, not on directions."""
    for shared in (4, 15):
        reference = value(_edges(shared, 0, 0, 0, 0))
        for place in range(1, 5):
            numbers = [0.0] * 5
            numbers[place] = shared
            score = value(_edges(*numbers))
            if not np.allclose(score, reference, rtol=1e-9, atol=1e-9, equal_nan=True):
                return f"its value at {shared} shared adjacencies depends on their directions"
    return None


def reverses(value: Value) -> str | None:
    """Check that a metric becomes 1 minus itself when all directions of the control are reversed."""
    for right, wrong in ((1, 3), (5, 2), (4, 4)):
        score, turned = value(_edges(right, wrong, 0, 0, 0)), value(_edges(wrong, right, 0, 0, 0))
        if not np.allclose(score + turned, 1, rtol=1e-9, atol=1e-9):
            return f"with {right} right and {wrong} wrong directions it is {score.item():g}, reversed {turned.item():g}"
    return None


def affine_in_ancestors(value: Value) -> str | None:
    """Check that a metric is affine in shared ancestors, and in true edges along and against the estimate's order."""

    def at(both: float, agreed: float, opposed: float, shared: float = 0) -> Any:
        ancestors = AncestorCounts(*(np.full(1, x, float) for x in (40, 35, both, agreed, opposed)))
        return SimpleNamespace(ancestors=ancestors, counts=_edges(shared, 0, 0, 0, 0).counts)

    if not np.allclose(value(at(9, 5, 3)), value(at(9, 5, 3, shared=6)), rtol=1e-9, atol=1e-9, equal_nan=True):
        return "it depends on the number of shared edges"
    return _not_affine(value, at, ("shared ancestors", "edges along the order", "edges against it"))


def _shared(both: float) -> Confusion:
    return Confusion(*(np.full(1, x, float) for x in (both, 40, 35)))


def affine_in_blankets(value: Value) -> str | None:
    """Check that a metric is affine in the shared members of Markov blankets."""
    return _not_affine(value, lambda both: SimpleNamespace(blankets=_shared(both)), ("shared members",))


def affine_in_v_structures(value: Value) -> str | None:
    """Check that a metric is affine in the shared v-structures."""
    return _not_affine(value, lambda both: SimpleNamespace(v_structures=_shared(both)), ("shared v-structures",))


_RULES: tuple[tuple[str, Callable[[Value], str | None] | None, str], ...] = (
    (
        "hypergeometric",
        function_of_adjacencies,
        "A function of the number of shared adjacencies at fixed numbers of nodes and edges. Under random skeletons "
        "that number is hypergeometric, so the whole law is exact; under relabelling the mean and, for sums, variance.",
    ),
    (
        "linear",
        affine_in_edges,
        "Affine in the numbers of shared edges by type (same, reversed, lost, added direction, both undirected; in "
        "mixed graphs by the marks at both ends). Mean and variance are exact under random DAGs, random directions and "
        "relabelling.",
    ),
    (
        "cpdag_linear",
        affine_in_edges,
        "Affine in the numbers of shared edges by type of the CPDAGs of both graphs. Mean and variance are exact under "
        "relabelling.",
    ),
    (
        "reversal",
        reverses,
        "A share of right directions that becomes 1 minus itself when the control is reversed. A DAG and its reversal "
        "are equally likely, so the mean is 1/2 given a shared edge.",
    ),
    (
        "ancestors",
        affine_in_ancestors,
        "Affine in the numbers of shared ancestor pairs and of true edges along and against the estimate's order. Mean "
        "and variance are exact under relabelling.",
    ),
    (
        "blankets",
        affine_in_blankets,
        "Affine in the number of shared members of Markov blankets. Mean and variance are exact under relabelling.",
    ),
    (
        "v_structures",
        affine_in_v_structures,
        "Affine in the number of shared v-structures. The mean is exact under relabelling.",
    ),
    (
        "claims",
        None,
        "Affine in the numbers of right claims about true ancestors and confounders, at fixed numbers of claims. Mean "
        "and variance are exact under relabelling.",
    ),
    (
        "ancestor_classes",
        None,
        "Affine in the numbers of true ancestors that are definite, and possible, ones of the estimate, at fixed "
        "numbers of these. Mean and variance are exact under relabelling.",
    ),
    (
        "mean_over_edges",
        None,
        "The mean, over the estimate's directed edges, of a value that each ordered pair of nodes has. Its mean is "
        "exact under random DAGs and relabelling, and under random DAGs the variance (up to 32 nodes), where every "
        "pair has a value.",
    ),
)
for _name, _probe, _explanation in _RULES:
    register_closed_form(ClosedFormRule(_name, "graph", _explanation, _probe))
