"""The causal KL divergence under interventions whose law the user chooses.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...contract.metric import metric
from ...contract.options import with_options
from ..laws.elimination import Scope, WidthError
from ..laws.family_laws import FamilyLaws, laws_of
from ..networks.pairs import Group
from .divergence import DIVERGENCE, OPTIONS, check_base, discrete_truth
from .intervened import IntervenedLaw
from .interventions import Intervention, single_interventions

__all__ = ["ckl"]

Floats = NDArray[np.float64]


@metric(
    **{**DIVERGENCE, "kinds": ("discrete",), "instead": ("ckl1", "ckl2", "ckl3")},
    long_name="causal KL, chosen interventions",
)
@with_options(OPTIONS)
def ckl(
    pairs: Any,
    *,
    interventions: Sequence[Intervention] | Literal["single"] = "single",
    base: float = math.e,
) -> Floats:
    """Mean KL divergence over interventions whose law the user chooses.

    CKL = sum_A w(A) sum_a v_A(a) KL(truth(.|do(A = a)) || estimate(.|do(A = a))), with the same w and v for both.

    Parameters
    ----------
    interventions : sequence of Intervention, or "single"
        The law: weights that sum to 1, over sets of nodes and their states. "single": one node at a time, uniform
        states. `tweak("ckl", interventions=..., name=...)` names a column.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[.9, .1], [.1, .9]]})
    >>> turned = ce.DiscreteNetwork({"A": ["B"], "B": []}, {"A": [[.9, .1], [.1, .9]], "B": [.5, .5]})
    >>> law = [ce.causal_kl.Intervention(("A",), {"A": "0"})]
    >>> round(ce.ckl(truth, turned, interventions=law), 4), round(ce.ckl(truth, turned), 4)
    (0.3681, 0.4394)
    """
    check_base(base)
    values = np.empty(pairs.n)
    for group in pairs.groups():
        truth = discrete_truth(group)
        law = single_interventions(truth) if isinstance(interventions, str) else tuple(interventions)
        if isinstance(interventions, str) and interventions != "single":
            raise ValueError(f"interventions must be 'single' or a sequence of Intervention, found {interventions!r}")
        if not law or abs(sum(x.weight for x in law) - 1) > 1e-8:
            raise ValueError(f"the weights of the interventions must sum to 1, found {sum(x.weight for x in law):.6g}")
        values[group.rows] = sum(
            x.weight * _divergence(laws_of(truth), x, group.structure.parents, _tables(group)) for x in law
        )
    values = np.where(np.abs(values) < 1e-12, 0.0, values)
    return np.asarray(values / math.log(base))


def _tables(group: Group) -> list[Floats]:
    """Return each node's tables (m, parents.., child)."""
    structure, stack = group.structure, group.parameters
    return [stack[:, part].reshape(-1, *shape) for part, shape in zip(structure.slices, structure.shapes, strict=True)]


def _divergence(
    truth: FamilyLaws, intervention: Intervention, parents: Sequence[Scope], tables: Sequence[Floats]
) -> Floats:
    """Return the divergence (m,) under one intervention."""
    intervened = IntervenedLaw(truth, intervention)
    total = np.zeros(len(tables[0]) if tables else 0)
    for i in range(truth.k):
        try:
            own = intervened.log_probability(i, truth.parents[i], truth.network.values_of(i)[None])
            total += own - intervened.log_probability(i, parents[i], tables[i])
        except WidthError as error:
            raise WidthError(f"node {truth.network.nodes[i]!r} needs {error}; use smaller interventions") from None
    return total
