"""Data sets with numbers of another program, and drawn ones."""

import gzip
import json
import pathlib

import numpy as np
import pandas as pd
import pytest

KNOWN = pathlib.Path(__file__).parents[1] / "known_answers" / "causaldisco.json.gz"


@pytest.fixture(scope="session")
def published():
    """Data, graphs, sortabilities and sort-and-regress weights of CausalDisco, by data set."""
    found = json.loads(gzip.decompress(KNOWN.read_bytes()))
    for one in found.values():
        one["data"] = pd.DataFrame(one["data"], columns=one["columns"])
    return found


@pytest.fixture
def chain():
    """Draw x -> y -> z with growing variances, and w by itself."""
    noise = np.random.default_rng(7).normal(size=(400, 4))
    x = noise[:, 0]
    y = 1.5 * x + noise[:, 1]
    return pd.DataFrame({"z": 1.5 * y + noise[:, 2], "y": y, "x": x, "w": noise[:, 3]})
