"""Fit of all implied independences together: Fisher's C, and the deviance of a linear-Gaussian model."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....contract.confusion import Values
from ....contract.metric import metric
from ....contract.options import with_options
from ....graphs.pairs import GraphPairs
from ..judged import Part, by_data
from .independences import MISTAKES, OF_A_DAG, OF_ESTIMATE, OPTIONS, WITH_A_DAG, Extension

__all__ = ["deviance", "deviance_p", "fisher_c_p", "fisher_c_rmsea", "rmsea"]

#: smaller p-values count as this
P_FLOOR = 1e-300
_SHIPLEY = "10.1207/S15328007SEM0702_4"
_SEM: dict[str, Any] = {**OF_ESTIMATE, "kinds": WITH_A_DAG}


def _fisher_c(part: Part) -> tuple[Values, Values]:
    """Return Fisher's C of Shipley's basis set and its degrees of freedom, NaN without any."""
    found = part.implied.basis
    n = part.count(found)
    total = np.bincount(found.graph, -2 * np.log(np.maximum(part.p_values(found), P_FLOOR)), part.n)
    return np.where(n > 0, total, np.nan), 2 * n


def _upper_tail(statistic: Values, df: Values) -> Values:
    from scipy.special import gammaincc

    known = ~np.isnan(statistic)
    tail = gammaincc(np.where(known, df, 1) / 2, np.where(known, np.maximum(statistic, 0), 0) / 2)
    return np.where(known, tail, np.nan)


def _error(statistic: Values, df: Values, n: int) -> Values:
    """Return the root of the excess of a statistic over its degrees of freedom, a degree and row."""
    excess = np.divide(statistic - df, df * (n - 1), out=np.full(len(df), np.nan), where=df > 0)
    return np.sqrt(np.maximum(excess, 0))


@metric(
    **OF_A_DAG,
    instead=("deviance_p",),
    direction="maximize",
    range=(0, 1),
    optimum=1,
    long_name="p-value of Fisher's C",
    log_scale=True,
    reference=_SHIPLEY,
)
@with_options(OPTIONS)
def fisher_c_p(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """P-value of Fisher's C: whether the data fit all independences that the estimate implies.

    C = -2 sum log p over Shipley's basis set (nodes that are not joined, given the parents of both) has a chi-squared
    law with two degrees of freedom a pair under the true DAG. P-values below 1e-300 count as that. NaN for a graph that
    joins all pairs. Large data reject every graph; what a guess of its structure reaches is known from its controls.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth()]})
    >>> cells = {"data": np.log(ce.datasets.sachs().sample(50, random_state=1))}
    >>> ce.evaluate(runs, ["fisher_c_p"], truth=None, context=cells)["fisher_c_p"].round(3).tolist()
    [0.003]
    """
    return by_data(pairs, lambda part: _upper_tail(*_fisher_c(part)))


@metric(**OF_A_DAG, instead=("rmsea",), **MISTAKES, long_name="root mean square excess of Fisher's C")
@with_options(OPTIONS)
def fisher_c_rmsea(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Root of the excess of Fisher's C over its degrees of freedom, a degree and row.

    sqrt(max((C - 2k) / (2k (n - 1)), 0)) of k pairs and n rows. It is built like the RMSEA of structural equation
    models, which is `rmsea`, and differs from it. NaN for a graph that joins all pairs.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth()]})
    >>> cells = {"data": np.log(ce.datasets.sachs().head(853))}
    >>> ce.evaluate(runs, ["fisher_c_rmsea"], truth=None, context=cells)["fisher_c_rmsea"].round(3).tolist()
    [0.0]
    """
    return by_data(pairs, lambda part: _error(*_fisher_c(part), part.judge.data.n))


def _deviance(part: Part) -> tuple[Values, Values]:
    """Return the deviance from the model that joins all pairs, and the number of pairs not joined; NaN without any."""
    found = part.implied
    d, judge = found.d, part.judge
    df = d * (d - 1) / 2 - found.adjacent.sum(axis=(1, 2)) / 2
    graph, node = (x.reshape(-1) for x in np.indices((part.n, d)))
    given = found.arcs.transpose(0, 2, 1).reshape(-1, d)
    logs = part.checked(lambda: judge.gaussian.log_variances(node, given))
    _, whole = np.linalg.slogdet(part.checked(lambda: judge.gaussian.correlations))
    total = judge.data.n * (np.bincount(graph, logs, part.n) - whole)
    return np.where((df > 0) & found.has_dag, total, np.nan), df


@metric(**_SEM, **MISTAKES, long_name="deviance")
def deviance(pairs: GraphPairs) -> Values:
    """Deviance of the linear-Gaussian model of the estimate from the model that joins all pairs of nodes.

    Twice the difference of log-likelihoods, the likelihood-ratio statistic of structural equation models with
    independent errors. It needs numbers, and is the same for all DAGs of a class. NaN for a graph that joins all pairs.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth()]})
    >>> cells = {"data": np.log(ce.datasets.sachs().head(853))}
    >>> ce.evaluate(runs, ["deviance"], truth=None, context=cells)["deviance"].round(1).tolist()
    [32.6]
    """
    return by_data(pairs, lambda part: np.maximum(_deviance(part)[0], 0))


@metric(**_SEM, direction="maximize", range=(0, 1), optimum=1, long_name="p-value of the deviance", log_scale=True)
def deviance_p(pairs: GraphPairs) -> Values:
    """P-value of the deviance, by a chi-squared law with a degree of freedom for each pair that is not joined.

    See `deviance`. Large data reject every graph; what a guess of its structure reaches is known from its controls.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth()]})
    >>> cells = {"data": np.log(ce.datasets.sachs().sample(50, random_state=1))}
    >>> ce.evaluate(runs, ["deviance_p"], truth=None, context=cells)["deviance_p"].round(3).tolist()
    [0.001]
    """
    return by_data(pairs, lambda part: _upper_tail(*_deviance(part)))


@metric(
    **_SEM, **MISTAKES, long_name="root mean square error of approximation", reference="10.1177/0049124192021002005"
)
def rmsea(pairs: GraphPairs) -> Values:
    """Root mean square error of approximation of the linear-Gaussian model of the estimate.

    sqrt(max((D - df) / (df (n - 1)), 0)) of the deviance D, its degrees of freedom and n rows. NaN for a graph that
    joins all pairs.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth()]})
    >>> cells = {"data": np.log(ce.datasets.sachs().head(853))}
    >>> ce.evaluate(runs, ["rmsea"], truth=None, context=cells)["rmsea"].round(3).tolist()
    [0.0]
    """
    return by_data(pairs, lambda part: _error(*_deviance(part), part.judge.data.n))
