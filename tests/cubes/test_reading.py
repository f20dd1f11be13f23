"""Reading cubes: the null model of each metric, and dimensions that a metric declares."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr

import causaleval_pd as ce
from causaleval_pd.cubes.reading import (
    control_sums,
    has_draws,
    metric_strata,
    null_name,
    own_dims,
    strata_columns,
    strata_dims,
    variable,
)
from causaleval_pd.cubes.schema import declared


@pytest.fixture(scope="module")
def networks() -> xr.Dataset:
    """Return a cube of two metrics whose default null models differ: one of networks, one of their graphs."""
    truths = [ce.causal_kl.random_network(4, rng=i) for i in range(3)]
    estimates = [ce.causal_kl.random_network(4, rng=10 + i) for i in range(3)]
    table = {"truth": truths, "estimate": estimates, "a": ["x"] * 3}
    return ce.cube(ce_frame(table), ["edit_distance", "shd"], by=["a"], n_draws=20, rng=7)


def ce_frame(columns):
    import pandas as pd

    return pd.DataFrame(columns)


def test_every_metric_carries_its_own_null(networks):
    assert {name: null_name(networks, name) for name in ("edit_distance", "shd")} == {
        "edit_distance": "dags",
        "shd": "edges",
    }
