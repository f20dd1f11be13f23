"""Metrics of estimates against what is known of the truth."""

from __future__ import annotations

import math
from typing import Any, Literal

from ...contract.checks import check_choice
from ...contract.closed_form import ClosedFormRule, register_closed_form
from ...contract.confusion import Values, ratio
from ...contract.metric import metric
from .pairs import AGREES, Counts, KnowledgePairs

__all__ = ["forbidden_violated", "known_accuracy", "required_recall"]

#: how an undirected edge at a known arc counts
Undirected = Literal["half", "match", "miss"]

register_closed_form(
    ClosedFormRule(
        "known_arcs",
        "knowledge",
        "Affine in the numbers of required and of forbidden arcs that the estimate has. The mean is exact under random "
        "DAGs and relabelling, where every ordered pair of nodes is equally likely to be an arc.",
    )
)
_KNOWN: dict[str, Any] = {
    "field": "knowledge",
    "kinds": ("dag", "cpdag", "pdag", "digraph"),
    "truth_kinds": ("knowledge",),
    "range": (0, 1),
    "closed_form": "known_arcs",
}


@metric(**_KNOWN, direction="maximize", optimum=1, long_name="share of required edges")
def required_recall(
    pairs: KnowledgePairs, *, undirected: Undirected = "half", zero_division: float = math.nan
) -> Values:
    """Divide the required edges that the estimate has by the required edges.

    Parameters
    ----------
    undirected : {"half", "match", "miss"}
        How an undirected edge at a required one counts: as half of it, as it, or not.
    zero_division : float
        Value where no edge is required.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.required_recall(ce.Knowledge(required=["A -> B", "B -> C"]), "A -> B; B -- C")
    0.75
    """
    counts = _counts(pairs, undirected)
    return ratio(counts.present, counts.required, zero_division)


@metric(**_KNOWN, direction="minimize", optimum=0, long_name="share of forbidden edges")
def forbidden_violated(
    pairs: KnowledgePairs, *, undirected: Undirected = "half", zero_division: float = math.nan
) -> Values:
    """Divide the forbidden edges that the estimate has by the forbidden edges, those that tiers forbid among them.

    Parameters
    ----------
    undirected : {"half", "match", "miss"}
        How an undirected edge at a forbidden one counts: as half of it, as agreeing with the knowledge, or as it.
    zero_division : float
        Value where no edge is forbidden.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.forbidden_violated(ce.Knowledge(tiers=[["A"], ["B", "C"]]), "A -> B; C -> A")
    0.5
    """
    counts = _counts(pairs, undirected)
    return ratio(counts.violated, counts.forbidden, zero_division)


@metric(**_KNOWN, direction="maximize", optimum=1, long_name="accuracy on known edges")
def known_accuracy(
    pairs: KnowledgePairs, *, undirected: Undirected = "half", zero_division: float = math.nan
) -> Values:
    """Divide the required edges that the estimate has, and the forbidden ones that it has not, by the number of both.

    Parameters
    ----------
    undirected : {"half", "match", "miss"}
        How an undirected edge at a known one counts: as half right, as right, or as wrong.
    zero_division : float
        Value where nothing is known.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> known = ce.Knowledge(required=["A -> B"], forbidden=["B -> C", "C -> A"])
    >>> ce.known_accuracy(known, "A -> B; C -> A")
    0.6666666666666666
    """
    counts = _counts(pairs, undirected)
    right = counts.present + counts.forbidden - counts.violated
    return ratio(right, counts.required + counts.forbidden, zero_division)


def _counts(pairs: KnowledgePairs, undirected: str) -> Counts:
    check_choice(undirected, tuple(AGREES), "undirected")
    return pairs.counts(undirected)
