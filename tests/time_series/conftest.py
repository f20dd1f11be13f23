"""Graphs that tigramite returned, with their links and views as its documentation reads them."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

KNOWN = Path(__file__).parents[1] / "known_answers"


def known_runs() -> list[dict]:
    """Results of PCMCI+, PCMCI and LPCMCI."""
    text = gzip.decompress((KNOWN / "time_series_tigramite.json.gz").read_bytes()).decode()
    return json.loads(text)["arrays"]


@pytest.fixture(params=range(3), ids=["pcmci_plus", "pcmci", "lpcmci"])
def run(request) -> dict:
    found = known_runs()[request.param]
    return {**found, **{name: np.array(found[name]) for name in ("graph", "val_matrix", "p_matrix")}}


@pytest.fixture(scope="session")
def series() -> np.ndarray:
    """Simulate X -> X and X -> Y at lag 1, Y -> Y at lag 1, X -> Z at lag 2 and Y -> Z at lag 0, with uneven noise."""
    rng = np.random.default_rng(0)
    values = np.zeros((900, 3))
    for t in range(2, len(values)):
        noise = rng.laplace(size=3)
        values[t, 0] = 0.5 * values[t - 1, 0] + noise[0]
        values[t, 1] = 0.5 * values[t - 1, 0] + 0.4 * values[t - 1, 1] + noise[1]
        values[t, 2] = 0.6 * values[t, 1] + 0.4 * values[t - 2, 0] + noise[2]
    return values
