"""Costs of pairs of nodes whose edges differ in their marks: the conventions of the structural Hamming distance."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from ....contract.checks import check_known, check_number
from ....contract.confusion import Values
from ....graphs.edge_types import EdgeTypes

Cost = Literal["any", "marks", "marks+edge", "information", "sep_distances", "bnmetrics"]

#: what an edge of one graph costs by the conventions that count the ends of shared edges
_ABSENT = {"marks": 2, "marks+edge": 3, "information": 1, "sep_distances": 1}


def check_cost(cost: str, circle_cost: float) -> None:
    """Refuse unknown conventions, and a cost of circles where ends are not counted."""
    check_known(cost, get_args(Cost), "cost")
    check_number(circle_cost, "circle_cost", "[0, inf)")
    if circle_cost != 1 and cost not in _ABSENT:
        raise ValueError(
            f"circle_cost applies where ends are counted, that is with cost {', '.join(map(repr, _ABSENT))}; found "
            f"cost={cost!r}"
        )


def mark_costs(types: EdgeTypes, cost: str, circle_cost: float = 1.0) -> Values:
    """Sum the costs of a convention other than "any"."""
    if cost == "bnmetrics":
        return np.asarray(types.different - types.unlike_circle_edges)
    total = types.other_marks + _ABSENT[cost] * (types.fn + types.fp)
    if circle_cost != 1:
        total = total + (circle_cost - 1) * types.one_circle
    if cost == "information":
        total = total + types.true_tails - types.true_tails_on_shared
        total = total + types.estimated_tails - types.estimated_tails_on_shared
        total = total + types.true_arrows - types.true_arrows_on_shared
        total = total + types.estimated_arrows - types.estimated_arrows_on_shared
    return np.asarray(total)
