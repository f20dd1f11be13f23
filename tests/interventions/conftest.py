"""Data of a linear model with perturbations."""

import numpy as np
import pandas as pd
import pytest

ARCS = {("A", "B"): 1.5, ("B", "C"): -1.0, ("A", "D"): 0.8, ("E", "D"): 1.0, ("D", "F"): 1.2}
NODES = list("ABCDEF")


def draw(n, rng, shifted=None):
    """Draw cases of the model, with a node shifted."""
    values = {}
    for node in ["A", "E", "B", "D", "C", "F"]:
        parents = sum(w * values[s] for (s, t), w in ARCS.items() if t == node)
        values[node] = parents + rng.normal(size=n) + (4.0 if node == shifted else 0.0)
    return pd.DataFrame(values)[NODES]


@pytest.fixture(scope="session")
def perturbed():
    """Return observational cases, and 60 cases under a perturbation of each node."""
    rng = np.random.default_rng(7)
    parts = [draw(200, rng).assign(gene=None)]
    parts += [draw(60, rng, node).assign(gene=node) for node in NODES]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="session")
def weights():
    """Return the coefficients as a table."""
    table = pd.DataFrame(0.0, index=NODES, columns=NODES)
    for (source, target), weight in ARCS.items():
        table.loc[source, target] = weight
    return table
