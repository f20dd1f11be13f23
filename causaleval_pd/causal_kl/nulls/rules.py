"""The closed-form rule of network metrics, and the probe that checks it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...contract.closed_form import ClosedFormRule, Value, register_closed_form
from ..family_fits import fits_to_joint
from ..networks.network import DiscreteNetwork, GaussianNetwork, Network
from ..networks.pairs import NetworkPairs, Networks
from .dag_spaces import Space, dags_with_arcs
from .random_networks import RandomNetworks


def additive(value: Value) -> str | None:
    """Check on all DAGs over three nodes that a metric is a sum over nodes of functions of their parents.

    Returns the contradiction, or None. A metric of one kind of network is checked on that kind: on the other it must
    raise an error.
    """
    errors = []
    for truth in _probed():
        try:
            fault = _not_additive(value, truth)
        except Exception as error:
            errors.append(f"on {truth.kind} networks it raises {type(error).__name__}: {error}")
            continue
        if fault:
            return fault
    return " and ".join(errors) if len(errors) == len(_probed()) else None


def _probed() -> tuple[Network, Network]:
    """Return a discrete and a linear-Gaussian truth, in which no two arcs are equally strong."""
    parents = {"A": [], "B": ["A"], "C": ["A", "B"]}
    tables = {
        "A": [0.3, 0.7],
        "B": [[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]],
        "C": [[[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]], [[0.7, 0.3], [0.4, 0.6], [0.1, 0.9]]],
    }
    coefficients = {"B": [0.8], "C": [-0.5, 1.1]}
    variances = {"A": 1.0, "B": 0.6, "C": 0.9}
    return DiscreteNetwork(parents, tables), GaussianNetwork(parents, coefficients, variances)


def _not_additive(value: Value, truth: Network) -> str | None:
    """Return where a metric differs from the sum of its terms, or None."""
    networks, zero = Networks.of([truth]), np.zeros(1, np.int64)
    space = Space(None, lambda key, start, count: [])
    pairs = NetworkPairs(networks, networks, zero, zero)
    controls = RandomNetworks(pairs, [space], [fits_to_joint(truth)], zero.astype(np.uint64))

    def score(some: NetworkPairs) -> NDArray[np.float64]:
        return np.asarray(value(some), np.float64)

    masks = np.concatenate([dags_with_arcs(3, n_arcs) for n_arcs in range(4)])
    found = score(controls.pairs_with([(0, tuple(parents)) for parents in masks.tolist()]))
    expected = controls.add_terms(score, 0, masks)
    wrong = ~np.isclose(found, expected, rtol=1e-9, atol=1e-9, equal_nan=True)
    if not wrong.any():
        return None
    at = int(np.argmax(wrong))
    dag = controls.pairs_with([(0, tuple(masks[at].tolist()))]).estimate.network(0)
    return f"at {dag.graph.to_string()} it is {found[at]:g}, where adding up its nodes gives {expected[at]:g}"


register_closed_form(
    ClosedFormRule(
        "additive",
        "network",
        "A sum of terms, one a node, each a function of the node's parents in the estimate. Where all DAGs of a null "
        "model are listed, their values are then sums of terms that are computed once each; the law is the same.",
        additive,
    )
)
