"""Independences that a graph implies and data violate."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from ....contract.confusion import Values
from ....contract.metric import metric
from ....contract.options import Convention, with_options
from ....graphs.pairs import GraphPairs
from ..implied import Implications
from ..judged import Part, by_data

__all__ = [
    "lmc_distinct_share",
    "lmc_share",
    "lmc_violations",
    "mean_abs_partial",
    "n_implied",
    "n_lmc",
    "separation_share",
]

#: of all metrics here
OF_ESTIMATE: dict[str, Any] = {"field": "graph", "truth_kinds": (), "costly": True}
#: of numbers that are 0 at best, without a largest one and as shares
MISTAKES: dict[str, Any] = {"direction": "minimize", "range": (0, math.inf), "optimum": 0}
SHARE_OF_MISTAKES: dict[str, Any] = {**MISTAKES, "range": (0, 1)}
#: classes with the independences of a DAG; what depends on these alone takes them all
WITH_A_DAG = ("dag", "cpdag", "pdag")
#: classes whose separations are known
SEPARATED = (*WITH_A_DAG, "mag", "pag", "admg")

#: of metrics that depend on the DAG, not on its class alone
OF_A_DAG: dict[str, Any] = {
    **OF_ESTIMATE,
    "kinds": ("dag",),
    "conventions": [
        Convention(
            "extension",
            "first",
            ("cpdag", "pdag"),
            "the first DAG of the class by the order of nodes; other DAGs of the class have other values",
        )
    ],
}
OPTIONS = {
    "extension": """extension : {None, "first"}
    None refuses classes of DAGs, whose members have other values; "first" takes the first DAG of a CPDAG or PDAG, by
    the order of nodes, NaN for graphs without one."""
}
Extension = Literal["first"] | None
_LMC = ("separation_share",)


def _implied(pairs: GraphPairs) -> Implications:
    found: Implications = pairs.remember("implied", lambda: Implications(pairs.estimate.take(pairs.estimate_index)))
    return found


@metric(
    **OF_ESTIMATE, kinds=SEPARATED, direction=None, range=(0, math.inf), long_name="pairs of nodes that are not joined"
)
def n_implied(pairs: GraphPairs) -> Values:
    """Count the pairs of nodes that the estimate does not join, each of which implies an independence.

    It needs no data.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.n_implied(None, "A -> B; B -> C; D")
    4.0
    """
    adjacent = _implied(pairs).adjacent
    return np.asarray((~adjacent).sum(axis=(1, 2)) - pairs.n_nodes, np.float64) / 2


@metric(**OF_A_DAG, instead=("n_implied",), direction=None, range=(0, math.inf), long_name="local Markov statements")
@with_options(OPTIONS)
def n_lmc(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Count the statements of the local Markov property: pairs of a node and one that it is independent of.

    Each node is independent of every node that is neither a descendant nor a parent, given its parents. Equivalent DAGs
    may have different numbers of such statements. It needs no data.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> [ce.n_lmc(None, graph) for graph in ("A -> B; B -> C", "B -> A; B -> C")]
    [1.0, 2.0]
    """
    found = _implied(pairs)
    counts = np.bincount(found.local_markov.graph, minlength=pairs.n).astype(np.float64)
    return np.where(found.has_dag, counts, np.nan)


@metric(
    **OF_A_DAG,
    instead=_LMC,
    **MISTAKES,
    long_name="violated local Markov statements",
    reference="10.48550/arXiv.2305.09565",
)
@with_options(OPTIONS)
def lmc_violations(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Count the statements of the local Markov property that the data violate, by a test with p <= alpha.

    The statement that x is independent of y given the parents of x counts beside that of y given the parents of y, also
    where both are the same. NaN for a graph without such statements.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth()]})
    >>> cells = {"data": np.log(ce.datasets.sachs().head(853))}
    >>> ce.evaluate(runs, ["n_lmc", "lmc_violations"], truth=None, context=cells).iloc[0, 1:].tolist()
    [44.0, 1.0]
    """

    def count(part: Part) -> Values:
        found = part.implied.local_markov
        return part.number(found, part.local_p <= part.alpha)

    return by_data(pairs, count)


@metric(
    **OF_A_DAG,
    instead=_LMC,
    **SHARE_OF_MISTAKES,
    long_name="share of local Markov statements violated",
    reference="10.48550/arXiv.2305.09565",
)
@with_options(OPTIONS)
def lmc_share(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Share of the statements of the local Markov property that the data violate, by a test with p <= alpha.

    `lmc_violations` / `n_lmc`; NaN for a graph without such statements.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth(), ce.datasets.sachs_truth(17)]})
    >>> cells = {"data": np.log(ce.datasets.sachs().head(853))}
    >>> ce.evaluate(runs, ["lmc_share"], truth=None, context=cells)["lmc_share"].round(3).tolist()
    [0.023, 0.014]
    """
    return by_data(pairs, lambda part: part.means(part.implied.local_markov, part.local_p <= part.alpha))


@metric(**OF_A_DAG, instead=_LMC, **SHARE_OF_MISTAKES, long_name="share of distinct local Markov statements violated")
@with_options(OPTIONS)
def lmc_distinct_share(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Share of the distinct statements of the local Markov property that the data violate, by a test with p <= alpha.

    As `lmc_share`, but two nodes with the same parents count once. NaN for a graph without such statements.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth()]})
    >>> cells = {"data": np.log(ce.datasets.sachs().head(853))}
    >>> ce.evaluate(runs, ["lmc_distinct_share"], truth=None, context=cells)["lmc_distinct_share"].round(3).tolist()
    [0.024]
    """
    return by_data(pairs, distinct_share)


def distinct_share(part: Part) -> Values:
    """Return the share of distinct local Markov statements that the data violate, per graph."""
    graph, p = part.distinct_p
    n = np.bincount(graph, minlength=part.n)
    wrong = np.bincount(graph, p <= part.alpha, part.n)
    return np.divide(wrong, n, out=np.full(part.n, np.nan), where=n > 0)


@metric(**OF_ESTIMATE, kinds=SEPARATED, **SHARE_OF_MISTAKES, long_name="share of separations violated")
def separation_share(pairs: GraphPairs) -> Values:
    """Share of the pairs of nodes that are not joined and that the data show dependent given what separates them.

    Each pair is tested once, given its smallest separating set, of several the one whose nodes come first by name. The
    value depends on the separations alone, so that it is the same for all graphs of a class: CPDAGs, MAGs, PAGs and
    ADMGs have it too. A PDAG has that of its DAGs. NaN for a graph that joins all pairs.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth()]})
    >>> cells = {"data": np.log(ce.datasets.sachs().head(853))}
    >>> ce.evaluate(runs, ["separation_share"], truth=None, context=cells)["separation_share"].round(3).tolist()
    [0.0]
    """

    def share(part: Part) -> Values:
        found = part.implied.separations
        return part.means(found, part.dependent(found))

    return by_data(pairs, share)


@metric(
    **OF_ESTIMATE,
    kinds=SEPARATED,
    **SHARE_OF_MISTAKES,
    long_name="mean absolute partial correlation of separated nodes",
)
def mean_abs_partial(pairs: GraphPairs) -> Values:
    """Mean absolute partial correlation of the pairs of nodes that are not joined, given what separates them.

    The sets are those of `separation_share`. It needs numbers. Unlike shares of rejected tests it does not grow with
    the number of rows. NaN for a graph that joins all pairs.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth()]})
    >>> cells = {"data": np.log(ce.datasets.sachs().head(853))}
    >>> ce.evaluate(runs, ["mean_abs_partial"], truth=None, context=cells)["mean_abs_partial"].round(3).tolist()
    [0.025]
    """

    def mean(part: Part) -> Values:
        found = part.implied.separations
        return part.means(found, np.abs(part.partials(found)))

    return by_data(pairs, mean)
