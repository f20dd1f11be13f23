"""Sums of parts of a table, merged, give the summary of the whole."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.cubes.mergeable_sums import ClusterLosses, merge_sums, sum_cube, summarise_sums
from causaleval_pd.statistics.clusters import cluster_sums
from causaleval_pd.statistics.skill import skill_interval

NAMES = ["shd", "orientation_precision"]


@pytest.mark.slow
@pytest.mark.parametrize("interval", ["quantile", "mean_ci"])
@pytest.mark.parametrize("n_draws", [None, 20])
def test_merged_sums_give_the_summary(small, interval, n_draws):
    how = {"by": ["algorithm", "n"], "n_draws": n_draws, "rng": 7, "key": ["algorithm", "n", "density", "replicate"]}
    how["tails"] = None
    rows = small.assign(estimate=small["estimate"].where(np.arange(len(small)) % 11 > 0))
    parts = [
        ce.cube(part, NAMES, keep_draws=False, **how) for part in (rows.iloc[:30], rows.iloc[30:31], rows.iloc[31:])
    ]
    found = summarise_sums(merge_sums(map(sum_cube, parts)), ["algorithm", "n"], 0.9, interval)
    wanted = ce.summary(ce.cube(rows, NAMES, **how), level=0.9, interval=interval)
    order = ["metric", "algorithm", "n"]
    found, wanted = (table.sort_values(order).reset_index(drop=True) for table in (found, wanted))
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-12, atol=1e-12, check_dtype=False)
    assert (found["p_value"].equals(wanted["p_value"])) or n_draws is None


@pytest.mark.parametrize("single", [False, True])
def test_losses_merge_by_cluster(single):
    rng = np.random.default_rng(5)
    values = np.where(rng.random(60) < 0.1, np.nan, rng.random(60))
    expected, truths = np.where(np.isnan(values), np.nan, rng.uniform(1, 2, 60)), rng.integers(1, 9, 60)
    errors = np.where(np.isnan(values), np.nan, rng.uniform(0, 0.01, 60))
    # runs that are clusters of their own are numbered anew in every part
    clusters = np.tile(np.arange(20), 3) if single else truths
    parts = [
        ClusterLosses.of(*(x[part] for x in (clusters, values, expected, errors)), single=single)
        for part in np.split(np.arange(60), 3)
    ]
    merged = parts[0].merge(parts[1]).merge(parts[2])
    *sums, noise = (x if single else cluster_sums(x, truths)[0] for x in (values, expected, errors))
    for shared in (False, True):
        wanted = skill_interval(*sums, 0.9, control_error=noise, shared=shared)
        np.testing.assert_allclose(np.ravel(merged.skill(0.9, shared=shared).estimate), wanted, rtol=1e-12)
    assert len(merged.table) == ((~np.isnan(values)).sum() if single else 8)
    assert merged.skill(0.9).note.item() == (None if single else "assumes no rare large losses: fewer than 50 clusters")
