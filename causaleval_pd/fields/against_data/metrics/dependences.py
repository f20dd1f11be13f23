"""Dependences that a graph implies and data lack: ancestors, edges, and marginal correlations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....contract.confusion import Values
from ....contract.metric import metric
from ....contract.options import with_options
from ....graphs.pairs import GraphPairs
from ..judged import Part, by_data
from .independences import MISTAKES, OF_A_DAG, OF_ESTIMATE, OPTIONS, WITH_A_DAG, Extension

__all__ = ["correlation_f1", "correlation_mcc", "faithfulness_violations", "minimality_violations"]


@metric(
    **OF_A_DAG,
    **MISTAKES,
    long_name="ancestors independent of their descendants",
    reference="10.48550/arXiv.2305.09565",
)
@with_options(OPTIONS)
def faithfulness_violations(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Count the pairs of an ancestor and a descendant that a test does not show dependent (p > alpha).

    NaN for a graph without edges.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth()]})
    >>> cells = {"data": np.log(ce.datasets.sachs().head(853))}
    >>> ce.evaluate(runs, ["faithfulness_violations"], truth=None, context=cells).iloc[0, 1]
    np.float64(38.0)
    """

    def count(part: Part) -> Values:
        own = np.eye(part.implied.d, dtype=bool)
        found = part.implied.alone(part.implied.reached & ~own & part.implied.has_dag[:, None, None])
        return part.number(found, ~part.dependent(found))

    return by_data(pairs, count)


@metric(**OF_A_DAG, **MISTAKES, long_name="edges without dependence", reference="10.48550/arXiv.2305.09565")
@with_options(OPTIONS)
def minimality_violations(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Count the edges whose ends a test does not show dependent given the other parents (p > alpha).

    A graph without such an edge would do as well: causal minimality. NaN for a graph without edges.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth()]})
    >>> cells = {"data": np.log(ce.datasets.sachs().head(853))}
    >>> ce.evaluate(runs, ["minimality_violations"], truth=None, context=cells).iloc[0, 1]
    np.float64(12.0)
    """

    def count(part: Part) -> Values:
        found = part.implied.edges
        return part.number(found, ~part.dependent(found))

    return by_data(pairs, count)


class _Table(NamedTuple):
    """Pairs of nodes per graph: separated and independent, separated only, independent only, neither."""

    both: Values
    separated: Values
    independent: Values
    neither: Values


def _marginal(part: Part) -> _Table:
    """Compare what no set separates and what is marginally dependent; NaN without a DAG in the class."""
    reached = part.implied.reached.astype(np.float32)
    related = reached.transpose(0, 2, 1) @ reached > 0
    low, high = np.triu_indices(part.implied.d, 1)
    everything = part.implied.alone(np.triu(np.ones((1, part.implied.d, part.implied.d), bool), 1))
    dependent = part.dependent(everything)
    separated = ~related[:, low, high]
    cells = (separated & ~dependent, separated & dependent, ~separated & ~dependent, ~separated & dependent)
    return _Table(*(part.defined(cell.sum(axis=1)) for cell in cells))


@metric(
    **OF_ESTIMATE,
    kinds=WITH_A_DAG,
    direction="maximize",
    range=(0, 1),
    optimum=1,
    long_name="F1 of marginal independences",
)
def correlation_f1(pairs: GraphPairs) -> Values:
    """F1 of the pairs of nodes that are independent by a test (p > alpha) against those that the graph separates.

    Both without a conditioning set; independence is the positive class. NaN where no pair is independent and none
    separated, as for a graph that joins all pairs of dependent data.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth(17)]})
    >>> cells = {"data": np.log(ce.datasets.sachs().head(853))}
    >>> ce.evaluate(runs, ["correlation_f1"], truth=None, context=cells)["correlation_f1"].round(3).tolist()
    [0.686]
    """

    def f1(part: Part) -> Values:
        both, separated, independent, _ = _marginal(part)
        total = 2 * both + separated + independent
        return np.divide(2 * both, total, out=np.full(part.n, np.nan), where=total > 0)

    return by_data(pairs, f1)


@metric(
    **OF_ESTIMATE,
    kinds=WITH_A_DAG,
    direction="maximize",
    range=(-1, 1),
    optimum=1,
    long_name="Matthews correlation of marginal independences",
    reference="10.1016/0005-2795(75)90109-9",
)
def correlation_mcc(pairs: GraphPairs) -> Values:
    """Matthews correlation of the pairs of nodes that are independent by a test with those that the graph separates.

    As `correlation_f1`, but both classes count. NaN where all or no pairs are independent, or separated.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth(17)]})
    >>> cells = {"data": np.log(ce.datasets.sachs().head(853))}
    >>> ce.evaluate(runs, ["correlation_mcc"], truth=None, context=cells)["correlation_mcc"].round(3).tolist()
    [0.389]
    """

    def mcc(part: Part) -> Values:
        both, separated, independent, neither = _marginal(part)
        sides = (both + separated, both + independent, neither + separated, neither + independent)
        scale = np.sqrt(np.prod(sides, axis=0))
        top = both * neither - separated * independent
        return np.divide(top, scale, out=np.full(part.n, np.nan), where=scale > 0)

    return by_data(pairs, mcc)
