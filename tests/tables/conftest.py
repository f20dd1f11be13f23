"""Random estimates of random truths, shared by the tests of this folder."""

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce


@pytest.fixture
def guesses():
    """Random estimates of random truths over ten nodes."""
    rng = np.random.default_rng(3)
    names = [f"X{i}" for i in range(10)]

    def guess(m):
        marks = np.triu(np.ones((10, 10)), 1).ravel()
        chosen = np.zeros(100)
        chosen[rng.choice(np.flatnonzero(marks), m, replace=False)] = 1
        order = rng.permutation(10)
        return chosen.reshape(10, 10)[np.ix_(order, order)]

    truths, estimates = (
        ce.graph_column(np.stack([guess(m) for _ in range(300)]), encoding="row->column", nodes=names) for m in (15, 12)
    )
    return pd.DataFrame({"truth": truths, "estimate": estimates})
