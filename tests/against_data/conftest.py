"""Data of linear models, shared by the tests of this folder."""

import numpy as np
import pandas as pd


def linear(n, arcs, seed, nodes="ABCD"):
    """Draw from a linear model with normal noise; arcs in causal order of their targets."""
    rng = np.random.default_rng(seed)
    data = {name: rng.normal(size=n) for name in nodes}
    for source, target in arcs:
        data[target] = data[target] + 0.8 * data[source]
    return pd.DataFrame(data)
