"""Mass of the true law on zeros and undefined rows of the estimate: why a divergence is infinite or NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.metric import metric
from ...contract.options import with_options
from ..laws.family_laws import LAWS, laws_of
from ..networks.pairs import NetworkPairs, row_sums
from .divergence import discrete_truth, weights

__all__ = ["undefined_mass", "zero_mass"]

Floats = NDArray[np.float64]

_MASS: dict[str, Any] = {
    "field": "network",
    "kinds": ("discrete",),
    "direction": None,
    "range": (0, 1),
    "costly": True,
    "reference": "10.48550/arXiv.2111.06029",
}
_OPTIONS = {
    "of": """of : {"kl", "ckl1", "ckl2", "ckl3"}
    Law of interventions; `tweak("zero_mass", of="kl", name="kl_zero_mass")` names a column.""",
}


def _masses(pairs: NetworkPairs, of: str, hit: Any) -> Floats:
    """Return the mean over nodes of the weight on entries of the estimate's tables that are `hit`."""
    if of not in LAWS:
        raise ValueError(f"of must be one of {', '.join(LAWS)}, found {of!r}")
    values = np.empty(pairs.n)
    for group in pairs.groups():
        weight = weights(laws_of(discrete_truth(group)), of, group.structure)
        values[group.rows] = row_sums(hit(group.parameters) * weight) / max(1, len(group.structure.nodes))
    return values


@metric(**_MASS, long_name="mass on zeros of the estimate")
@with_options(_OPTIONS)
def zero_mass(pairs: Any, *, of: str = "ckl3") -> Floats:
    """Share of the true (intervened) law that falls on a zero of the estimate's tables: the cause of an infinite value.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": []}, {"A": [.3, .7]})
    >>> estimate = ce.DiscreteNetwork({"A": []}, {"A": [0, 1]})
    >>> ce.kl(truth, estimate), ce.zero_mass(truth, estimate, of="kl")
    (inf, 0.3)
    """
    return _masses(pairs, of, lambda parameters: parameters == 0)


@metric(**_MASS, long_name="mass on undefined rows of the estimate")
@with_options(_OPTIONS)
def undefined_mass(pairs: Any, *, of: str = "ckl3") -> Floats:
    """Share of the true (intervened) law that falls on undefined rows of the estimate's tables: the cause of a NaN.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [1, 0], "B": [[.9, .1], [.1, .9]]})
    >>> estimate = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [1, 0], "B": [[.9, .1], [float("nan")] * 2]})
    >>> [ce.undefined_mass(truth, estimate, of=law) for law in ("kl", "ckl1")]
    [0.0, 0.125]
    """
    return _masses(pairs, of, np.isnan)
