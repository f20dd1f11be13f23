"""How the p-values of implied independences, and those of dependences, are distributed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....contract.confusion import Values
from ....contract.law import padded_sum
from ....contract.metric import metric
from ....contract.options import with_options
from ....graphs.pairs import GraphPairs
from ..judged import Part, by_data
from .fit import P_FLOOR
from .independences import MISTAKES, OF_A_DAG, OPTIONS, SHARE_OF_MISTAKES, Extension

__all__ = ["fraction_dependent_h1", "pvalue_ad", "pvalue_ks"]


class _Sorted(NamedTuple):
    """P-values in ascending order, one graph per row, and the number of each graph's; NaN beyond it."""

    p: Values
    rank: Values
    n: NDArray[np.int64]


def _sorted(part: Part) -> _Sorted:
    graph, p = part.distinct_p
    n = np.bincount(graph, minlength=part.n)
    place = np.arange(len(graph)) - np.repeat(np.cumsum(n) - n, n)
    rows = np.full((part.n, max(1, int(n.max(initial=0)))), np.nan)
    rows[graph, place] = p
    rows.sort(axis=1)
    return _Sorted(rows, np.arange(1.0, rows.shape[1] + 1)[None], n)


def _ks(part: Part) -> Values:
    p, rank, n = _sorted(part)
    size = np.maximum(n, 1)[:, None]
    above, below = rank / size - p, p - (rank - 1) / size
    largest = np.fmax.reduce(np.fmax(above, below), axis=1)
    return np.where(n >= 2, largest, np.nan)


def _ad(part: Part) -> Values:
    p, rank, n = _sorted(part)
    low, high = np.log(np.maximum(p, P_FLOOR)), np.log(np.maximum(1 - p, np.finfo(float).epsneg))
    size = np.maximum(n, 1)[:, None]
    # each p-value has its weight as the i-th smallest, and the complementary one in the other tail
    terms = (2 * rank - 1) * low + (2 * (size - rank) + 1) * high
    return np.where(n >= 2, -n - padded_sum(np.nan_to_num(terms)) / size[:, 0], np.nan)


@metric(**OF_A_DAG, **SHARE_OF_MISTAKES, long_name="Kolmogorov-Smirnov distance of p-values from uniform")
@with_options(OPTIONS)
def pvalue_ks(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Kolmogorov-Smirnov distance of the p-values of distinct local Markov statements from the uniform law.

    P-values of true independences are uniform. They depend on one another, so that a Kolmogorov-Smirnov test of them
    rejects a true DAG in 6 to 22 % of data at a nominal 5 %: this is a description, whose p-value comes from controls.
    NaN for fewer than two statements.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth()]})
    >>> cells = {"data": np.log(ce.datasets.sachs().head(853))}
    >>> ce.evaluate(runs, ["pvalue_ks"], truth=None, context=cells)["pvalue_ks"].round(3).tolist()
    [0.09]
    """
    return by_data(pairs, _ks)


@metric(
    **OF_A_DAG,
    **MISTAKES,
    long_name="Anderson-Darling distance of p-values from uniform",
    reference="10.1214/aoms/1177729437",
)
@with_options(OPTIONS)
def pvalue_ad(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Anderson-Darling distance of the p-values of distinct local Markov statements from the uniform law.

    A^2 for a fully specified law, without a factor for small samples; p-values below 1e-300 count as that, and those of
    1 as the number next to it. The p-values depend on one another, so that a test of A^2 does not keep its level: this
    is a description, and its p-value comes from controls. NaN for fewer than two statements.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth()]})
    >>> cells = {"data": np.log(ce.datasets.sachs().head(853))}
    >>> ce.evaluate(runs, ["pvalue_ad"], truth=None, context=cells)["pvalue_ad"].round(1).tolist()
    [0.2]
    """
    return by_data(pairs, _ad)


@metric(
    **OF_A_DAG,
    direction="maximize",
    range=(0, 1),
    optimum=1,
    long_name="fraction dependent where the graph implies dependence",
)
@with_options(OPTIONS)
def fraction_dependent_h1(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Share of pairs of a node and a descendant, not a child, that the data show dependent given the node's parents.

    Such nodes are connected in the graph, and a faithful law makes them dependent. A test with p <= alpha shows it. NaN
    for a graph without such pairs.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth()]})
    >>> cells = {"data": np.log(ce.datasets.sachs().head(853))}
    >>> ce.evaluate(runs, ["fraction_dependent_h1"], truth=None, context=cells).iloc[0, 1].round(3)
    np.float64(0.0)
    """

    def share(part: Part) -> Values:
        found = part.implied.dependences
        return part.means(found, part.dependent(found))

    return by_data(pairs, share)
