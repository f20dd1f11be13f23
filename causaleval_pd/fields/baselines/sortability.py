"""Sortability: how well a score of the variables, such as their variance, follows the causal order.

Its metrics describe how easily data can be sorted; they are to stratify by, without better or worse.

References
----------
Reisach, Seiler, Weichwald (2021), arXiv:2102.13647; Reisach, Tami, Seiler, Chambaz, Weichwald (2023), arXiv:2303.18211.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_choice, check_number
from ...contract.metric import metric
from ...contract.options import with_example, with_options
from ...contract.pairs import PairError
from ...graphs.kernels.planes import DAG, KINDS, a_kind, matrices_from_planes
from ...graphs.pairs import GraphPairs
from .rules import DataMatrix, complete_data, correlations, explained_share, read_data, share_of

__all__ = ["r2_sortability", "snr_sortability", "var_sortability"]

Floats = NDArray[np.float64]

MEASURES = ("paths", "adjacent_pairs")


def order_alignment(
    arcs: NDArray[np.bool_], scores: Floats, *, measure: str = "paths", tolerance: float = 0.0
) -> float:
    """Return the share of ordered pairs of a DAG, cause before effect, in which the score increases."""
    check_choice(measure, MEASURES, "measure")
    difference = scores[None, :] - scores[:, None]
    points = ((difference >= -tolerance).astype(float) + (difference > tolerance)) / 2
    reached, total, number = arcs.astype(bool), 0.0, 0
    for _ in range(max(1, len(arcs) - 1) if measure == "paths" else 1):
        if not reached.any():
            break
        total, number = total + points[reached].sum(), number + int(reached.sum())
        reached = reached @ arcs.astype(bool)
    return float(total / number) if number else float("nan")


def explained_by_parents(correlation: Floats, arcs: NDArray[np.bool_]) -> Floats:
    """Return the share of each variable's variance that a linear regression on its parents explains; 0 for roots."""
    return np.array([share_of(correlation, j, np.flatnonzero(arcs[:, j]).tolist()) for j in range(len(arcs))])


_SORTABILITY: dict[str, Any] = {
    "field": "graph",
    "kinds": KINDS,
    "truth_kinds": ("dag",),
    "direction": None,
    "range": (0, 1),
    "of_truth": True,
    "costly": True,
}
_OPTIONS = {
    "measure": """measure : {"paths", "adjacent_pairs"}
    "paths" counts a pair once for each length of the directed paths between them; "adjacent_pairs" counts edges.""",
    "tolerance": """tolerance : float
    Scores of variables that differ by at most this much are tied; a tie counts 1/2.""",
}


_EXAMPLE = """>>> import pandas as pd
>>> import causaleval_pd as ce
>>> runs = pd.DataFrame({{"truth": ["A -> B"], "estimate": ["B -> A"]}})
>>> data = pd.DataFrame({{"A": [1.0, 2.0, 3.0, 5.0], "B": [2.0, 4.5, 6.0, 9.0]}})
>>> ce.evaluate(runs, ["{name}"], context={{"data": data}})["{name}"].item()
{gives}"""


@metric(**_SORTABILITY, long_name="sortability by variance", reference="10.48550/arXiv.2102.13647")
@with_options(_OPTIONS)
@with_example(_EXAMPLE, gives=1.0)
def var_sortability(pairs: GraphPairs, *, measure: str = "paths", tolerance: float = 0.0) -> Floats:
    """Compute the share of ancestors and descendants whose variances increase along the truth.

    Near 1, `baselines.var_sort_regress` finds most of the truth; near 1/2, variances show nothing of the order. It
    depends on the scale of the variables. The data are those of the context, `{"data": frame}`.
    """
    return _aligned(pairs, "var", measure, tolerance)


@metric(**_SORTABILITY, long_name="sortability by R2", reference="10.48550/arXiv.2303.18211")
@with_options(_OPTIONS)
@with_example(_EXAMPLE, gives=0.5)
def r2_sortability(pairs: GraphPairs, *, measure: str = "paths", tolerance: float = 0.0) -> Floats:
    """Compute the share of ancestors and descendants whose R2 given all others increases along the truth.

    R2 is the share of a variable's variance that a linear regression on all other variables explains; it does not
    depend on scales. The data are those of the context, `{"data": frame}`.
    """
    return _aligned(pairs, "r2", measure, tolerance)


@metric(**_SORTABILITY, long_name="sortability by signal and noise", reference="10.48550/arXiv.2303.18211")
@with_options(_OPTIONS)
@with_example(_EXAMPLE, gives=1.0)
def snr_sortability(pairs: GraphPairs, *, measure: str = "paths", tolerance: float = 0.0) -> Floats:
    """Compute the share of ancestors and descendants whose R2 given their true parents increases along the truth.

    The R2 of a node without parents is 0. The data are those of the context, `{"data": frame}`.
    """
    return _aligned(pairs, "snr", measure, tolerance)


def _aligned(pairs: GraphPairs, score: str, measure: str, tolerance: float) -> Floats:
    """Return how well a score follows each pair's truth; a tie of R2 is one up to rounding."""
    check_number(tolerance, "tolerance", "[0, inf)")
    inputs = pairs.truth.inputs
    if inputs is None or inputs.context is None or not inputs.context.gives(["data"]):
        raise ValueError(
            f"{score}_sortability needs the data of the truths: pass context={{'data': frame}}, or "
            "{'data': (column, frames)} where the column names the data set of a row"
        )
    # the graph itself where estimates are compared with a projection of it
    graphs = pairs.truth.known_origins
    other = np.flatnonzero((graphs.kinds != DAG)[pairs.truth_index] | (graphs.n_nodes > pairs.n_nodes))
    if len(other):
        kind = graphs.kinds[pairs.truth_index[other[0]]]
        what = "has latent nodes" if kind == DAG else f"is {a_kind(kind)}"
        raise PairError(
            other, f"the truth {what}; sortability is of DAGs of which all nodes have data: pass these as truths"
        )
    truths, inverse = np.unique(pairs.truth_index, return_inverse=True)
    marks = matrices_from_planes(graphs.planes[truths], pairs.n_nodes).astype(bool)
    alignments = np.empty(len(truths))
    for i, at in enumerate(truths.tolist()):
        key = int(inputs.context.codes[at]), int(inputs.node_set[at])
        read = partial(_read, inputs.context.values[key[0]], inputs.node_sets[key[1]])
        data, matrix = inputs.context.memory.remember(("sortability", *key), read)
        if score == "var":
            alignments[i] = order_alignment(marks[i], data.values.var(axis=0), measure=measure, tolerance=tolerance)
            continue
        share = explained_share(matrix) if score == "r2" else explained_by_parents(matrix, marks[i])
        alignments[i] = order_alignment(marks[i], share, measure=measure, tolerance=max(tolerance, 1e-12))
    return alignments[inverse.reshape(-1)]


def _read(values: Mapping[str, Any], nodes: tuple[str, ...]) -> tuple[DataMatrix, Floats]:
    """Read the data of nodes, and their correlations."""
    sample = read_data(complete_data(values, nodes), nodes)
    return sample, correlations(sample)
