"""Edit distances between the DAGs of two networks, plain and weighted by the strength of the arcs in the truth.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....contract.checks import check_number
from ....contract.metric import metric
from ....contract.options import with_options
from ....graphs.column import as_graph
from ....graphs.kernels.planes import KINDS as KINDS_OF_GRAPH
from ....graphs.kernels.planes import marks_from_planes
from ....graphs.pairs import GraphBatch
from ..laws.family_laws import FamilyLaws, laws_of
from ..laws.gaussian_moments import GaussianMoments, moments_of, path_coefficients
from ..networks.network import GaussianNetwork
from ..networks.structure import Structure
from .divergence import DIVERGENCE, OPTIONS, check_base, discrete_truth

__all__ = ["edit_distance", "pattern_edit_distance", "wed_d", "wed_p"]

Floats = NDArray[np.float64]


@metric(**{**DIVERGENCE, "costly": False}, long_name="edit distance", symmetric=True)
def edit_distance(pairs: Any) -> Floats:
    """Count the arcs to delete and to add; an arc to reverse counts twice.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[.9, .1], [.1, .9]]})
    >>> turned = ce.DiscreteNetwork({"A": ["B"], "B": []}, {"A": [[.9, .1], [.1, .9]], "B": [.5, .5]})
    >>> ce.edit_distance(truth, turned)
    2.0
    """
    values = np.empty(pairs.n)
    for group in pairs.groups():
        values[group.rows] = len(group.truth.structure.arcs ^ group.structure.arcs)
    return values


def mutual_information(truth: FamilyLaws, a: int, b: int) -> float:
    """Return the mutual information of two nodes under the true law, in nats."""
    joint = truth.joint((a, b))
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    some = joint > 0
    return float((joint[some] * np.log(joint[some] / apart[some])).sum())


@metric(
    **{**DIVERGENCE, "kinds": ("discrete",), "instead": ("wed_3", "wed_p")},
    long_name="weighted edit distance, dependence",
)
@with_options(OPTIONS)
def wed_d(pairs: Any, *, base: float = math.e) -> Floats:
    """Edit distance whose arcs weigh the mutual information of their ends under the true law.

    WED_D = sum over arcs of one network alone of I(X_i; X_j). An arc to reverse counts twice, and an arc between ends
    that are independent in pairs (exclusive or) costs nothing.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[1, 0], [0, 1]]})
    >>> empty = ce.DiscreteNetwork({"A": [], "B": []}, {"A": [.5, .5], "B": [.5, .5]})
    >>> round(ce.wed_d(truth, empty), 4)
    0.6931
    """
    check_base(base)
    values = np.empty(pairs.n)
    for group in pairs.groups():
        truth = laws_of(discrete_truth(group))
        arcs = sorted(truth.network.structure.arcs ^ group.structure.arcs)
        values[group.rows] = sum(mutual_information(truth, min(arc), max(arc)) for arc in arcs)
    return values / math.log(base)


@metric(
    **{**DIVERGENCE, "kinds": ("gaussian",), "instead": ("wed_3", "wed_d")}, long_name="weighted edit distance, paths"
)
def wed_p(pairs: Any, *, own: bool = False) -> Floats:
    """Edit distance of linear-Gaussian networks whose arcs weigh their squared standardised coefficient.

    WED_P = sum over arcs of one network alone of p_ij^2. A deleted arc has the coefficient of the truth. An added arc
    has none there; it gets the one that it has when the estimate's DAG is fitted to the true covariance (our choice,
    the definition being silent), so that the estimate's own parameters never matter, unless `own` is True.

    Parameters
    ----------
    own : bool
        Take an added arc's coefficient, standardised by the estimate's own law, from the estimate.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.GaussianNetwork({"A": [], "B": ["A"]}, {"A": [], "B": [.6]}, {"A": 1, "B": .64})
    >>> empty = ce.GaussianNetwork({"A": [], "B": []}, {"A": [], "B": []}, {"A": 1, "B": 1})
    >>> round(ce.wed_p(truth, empty), 4)
    0.36
    """
    values = np.empty(pairs.n)
    for group in pairs.groups():
        if not isinstance(group.truth, GaussianNetwork):
            raise TypeError(f"expected a linear-Gaussian network, found {group.truth!r}")
        truth, structure = moments_of(group.truth), group.truth.structure
        deleted = path_coefficients(truth, structure)
        new = sorted(group.structure.arcs - structure.arcs)
        values[group.rows] = sum(deleted[arc] ** 2 for arc in sorted(structure.arcs - group.structure.arcs))
        if not own:
            added = path_coefficients(truth, group.structure)
            values[group.rows] += sum(added[arc] ** 2 for arc in new)
        elif new:
            for row, parameters in zip(group.rows, group.parameters, strict=True):
                estimate = GaussianMoments(GaussianNetwork._of_checked(group.structure, parameters))
                added = path_coefficients(estimate, group.structure)
                values[row] += sum(added[arc] ** 2 for arc in new)
    return values


@lru_cache(maxsize=4096)
def _pattern(structure: Structure) -> NDArray[np.int8]:
    """Return the marks (k, k) of the CPDAG of a structure's DAG: both cells of an undirected edge are set."""
    k = len(structure.nodes)
    graph = as_graph(
        [(structure.nodes[a], structure.nodes[b]) for a, b in sorted(structure.arcs)], nodes=structure.nodes
    )
    batch = GraphBatch(k, graph.planes[None], np.array([KINDS_OF_GRAPH.index(graph.kind)], np.uint8))
    return marks_from_planes(batch.cpdag.planes, k)[0]


@metric(**{**DIVERGENCE, "closed_form": None}, long_name="edit distance of patterns", symmetric=True)
def pattern_edit_distance(pairs: Any, *, undirected_cost: float = 0.5) -> Floats:
    """Edit distance between the patterns (CPDAGs) of the two DAGs: 0 for every member of the true equivalence class.

    An edge to delete or to add costs 1, an arc to reverse 2, an arc that the other pattern leaves undirected a part.

    Parameters
    ----------
    undirected_cost : float
        Cost of an edge that is directed in one pattern and undirected in the other.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[.9, .1], [.1, .9]]})
    >>> turned = ce.DiscreteNetwork({"A": ["B"], "B": []}, {"A": [[.9, .1], [.1, .9]], "B": [.5, .5]})
    >>> ce.edit_distance(truth, turned), ce.pattern_edit_distance(truth, turned)
    (2.0, 0.0)
    """
    check_number(undirected_cost, "undirected_cost", "[0, 2]")
    values = np.empty(pairs.n)
    for group in pairs.groups():
        true, estimated = _pattern(group.truth.structure), _pattern(group.structure)
        adjacent = [(marks | marks.T).astype(bool) for marks in (true, estimated)]
        changed = np.triu(adjacent[0] != adjacent[1]).sum()
        shared = np.triu(adjacent[0] & adjacent[1])
        undirected = [(marks & marks.T).astype(bool) for marks in (true, estimated)]
        half = (shared & (undirected[0] != undirected[1])).sum()
        reversed_ = (shared & ~undirected[0] & ~undirected[1] & (true != estimated)).sum()
        values[group.rows] = changed + 2 * reversed_ + undirected_cost * half
    return values
