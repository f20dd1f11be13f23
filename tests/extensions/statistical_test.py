import numpy as np
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.inference.statistical_test import StatisticalTest, register_test


def van_der_waerden(difference, *, alternative="two-sided"):
    """Compare the normal scores of the signed ranks with 0.

    Differences are (rows, pairs), NaN for missing pairs.
    """
    ranks = stats.rankdata(np.abs(difference), axis=-1, nan_policy="omit")
    n = (~np.isnan(difference)).sum(axis=-1)
    scores = np.sign(difference) * stats.norm.ppf((1 + ranks / (n[..., None] + 1)) / 2)
    z = np.nansum(scores, axis=-1) / np.sqrt(np.nansum(scores**2, axis=-1))
    p = {
        "two-sided": 2 * stats.norm.sf(np.abs(z)),
        "greater": stats.norm.sf(z),
        "less": stats.norm.cdf(z),
    }
    return z, p[alternative]


register_test(
    StatisticalTest(
        name="normal_scores",
        long_name="signed normal scores",
        function=van_der_waerden,
        design="paired",
        null="The differences are symmetric about 0.",
    )
)
cube = ce.datasets.runs().ceval.cube(["shd"], by=["algorithm", "density"], n_draws=None)
cube.ceval.compare("algorithm", test="normal_scores", columns="full")
