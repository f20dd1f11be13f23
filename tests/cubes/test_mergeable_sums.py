"""Sums of parts of a table, merged, give the summary of the whole."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.cubes.mergeable_sums import Comoments, merge_sums, sum_cube, summarise_sums
from causaleval_pd.statistics.arrays import ratio_of_means

NAMES = ["shd", "orientation_precision"]


@pytest.mark.parametrize("interval", ["quantile", "mean_ci"])
@pytest.mark.parametrize("n_draws", [None, 20])
def test_merged_sums_give_the_summary(small, interval, n_draws):
    how = {"by": ["algorithm", "n"], "n_draws": n_draws, "rng": 7, "key": ["algorithm", "n", "density", "replicate"]}
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


def test_comoments_merge_without_loss_of_digits():
    rng = np.random.default_rng(5)
    a, b = 1e6 + rng.random(60), 1e6 + rng.random(60)
    a[[3, 40]] = np.nan
    b[[3, 40]] = np.nan
    merged = Comoments.of(a[:1], b[:1]) + Comoments.of(a[1:20], b[1:20]) + Comoments.of(a[20:], b[20:])
    np.testing.assert_allclose(merged.ratio(0.9), ratio_of_means(a, b, 0.9), rtol=1e-12)
