"""A printed table of results with its controls."""

from __future__ import annotations

import pandas as pd
import pytest

import causaleval_pd as ce


@pytest.fixture(scope="session")
def from_published() -> pd.DataFrame:
    """One run of known edges, and a mean of two runs; one value was not printed."""
    printed = pd.DataFrame(
        {
            "method": ["PC", "GES"],
            "n_nodes": [5, 5],
            "true_edges": [8, 8],
            "estimated_edges": [7, 6.5],
            "n_runs": [1, 2],
            "adjacency_precision": ["0.86", "0.71"],
            "adjacency_recall": [None, "0.50"],
        }
    )
    return ce.from_published(printed)
