"""A printed table of results with its controls."""

import pandas as pd
import pytest

import causaleval_pd as ce


@pytest.fixture(scope="session")
def from_published() -> pd.DataFrame:
    """One run of known edges, and a mean of two runs; one value was not printed."""
    runs = {"method": ["PC", "GES"], "n_nodes": 5, "true_edges": 8, "estimated_edges": [7, 6.5], "n_runs": [1, 2]}
    values = {"adjacency_precision": ["0.86", "0.71"], "adjacency_recall": [None, "0.50"]}
    return ce.from_published(pd.DataFrame(runs | values))
