"""Likelihoods of data under a graph."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....contract.checks import check_whole
from ....contract.confusion import Values
from ....contract.metric import metric
from ....contract.options import with_options
from ....graphs.pairs import GraphPairs
from ..judged import Part, by_data
from .independences import OF_ESTIMATE, WITH_A_DAG

__all__ = ["bic", "cv_log_likelihood", "log_likelihood"]

_LIKELIHOOD: dict[str, Any] = {
    **OF_ESTIMATE,
    "kinds": WITH_A_DAG,
    "direction": "maximize",
    "range": (-math.inf, math.inf),
    "optimum": math.inf,
}


@metric(**_LIKELIHOOD, long_name="Bayesian information criterion", reference="10.1214/aos/1176344136")
def bic(pairs: GraphPairs) -> Values:
    """Bayesian information criterion of the estimate: log-likelihood - k / 2 log n. Higher is better.

    Floats are fitted by linear regressions of nodes on their parents with normal errors, where k counts coefficients,
    intercepts and variances; integers and categories by frequencies, where k counts free probabilities of the levels
    that the data show. Integers are numbers too where the context names the test "fisher_z" or "t". It is the same for
    all DAGs of a class.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth(), ce.datasets.sachs_truth(17)]})
    >>> cells = {"data": np.log(ce.datasets.sachs().head(853))}
    >>> ce.evaluate(runs, ["bic"], truth=None, context=cells)["bic"].round(1).tolist()
    [-9802.1, -9792.6]
    """
    return by_data(pairs, lambda part: part.log_likelihoods() - part.n_parameters() / 2 * np.log(part.judge.data.n))


@metric(**_LIKELIHOOD, long_name="log-likelihood")
def log_likelihood(pairs: GraphPairs) -> Values:
    """Largest log-likelihood of the data under the estimate, in nats. More edges never lower it: see `bic`.

    Linear-Gaussian for floats, multinomial for integers and categories; see `bic`.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth(), ce.datasets.sachs_truth(17)]})
    >>> cells = {"data": np.log(ce.datasets.sachs().head(853))}
    >>> ce.evaluate(runs, ["log_likelihood"], truth=None, context=cells)["log_likelihood"].round(1).tolist()
    [-9660.4, -9661.0]
    """
    return by_data(pairs, Part.log_likelihoods)


@metric(**_LIKELIHOOD, long_name="log-likelihood of rows left out")
@with_options(
    {
        "folds": """folds : int
    Number of parts of the rows; each is predicted by a fit to the others."""
    }
)
def cv_log_likelihood(pairs: GraphPairs, *, folds: int = 5) -> Values:
    """Log-likelihood of rows left out, summed over all rows, in nats. Higher is better.

    Each fold of the rows is predicted by a fit to the others: linear-Gaussian for floats, frequencies with 1/2 added to
    every count for integers and categories. The folds depend on the data alone, so that all graphs share them. The DAGs
    of a class have the same value for floats, and nearly the same for levels, where that of the first DAG by the order
    of nodes stands for the class.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth(), ce.datasets.sachs_truth(17)]})
    >>> cells = {"data": np.log(ce.datasets.sachs().head(853))}
    >>> ce.evaluate(runs, ["cv_log_likelihood"], truth=None, context=cells)["cv_log_likelihood"].round(0).tolist()
    [-9723.0, -9720.0]
    """
    n_folds = check_whole(folds, "folds", 2, 1000)
    return by_data(pairs, lambda part: part.log_likelihoods(folds=n_folds))
